//! `countersign memory`: what a prompt may read, and what is remembered for it.
//! Owns: reading the input, printing the package. Must not: select.

mod conversation;
mod recalled;
mod snapshot;

use crate::cli::Global;
use crate::cli::memory::Memory;
use crate::failure::{Exit, Failure};
use crate::input;
use crate::output;
use crate::place::Place;
use countersign_kernel::recall::Input;
use countersign_memory::recall::{self, Stores};
use countersign_runtime::memory_read::Tool;

pub(super) async fn run(global: &Global, command: &Memory) -> Result<Exit, Failure> {
    match command {
        Memory::Read { file, receipt: false } => read(file),
        Memory::Read { file, receipt: true } => record(global, file).await,
        Memory::Append(append) => conversation::append(global, append),
        Memory::Recall(recall) => conversation::recall(global, recall),
        Memory::Index(conversing) => conversation::index(global, conversing),
        Memory::Clear { yes, dir } => conversation::clear(global, dir, *yes),
        Memory::Status(dir) => conversation::status(global, dir),
        Memory::Snapshot(command) => snapshot::run(global, command),
    }
}

fn read(file: &str) -> Result<Exit, Failure> {
    let input = Input::read(&input::discreet_document(file)?)?;
    let package = recall::read(&input)?;
    output::streamed(|out| package.write(out)).map(|()| Exit::Success)
}

/// The tool `memory.read`: the receipt is durable before a byte of the package is printed.
async fn record(global: &Global, file: &str) -> Result<Exit, Failure> {
    let place = Place::open(global)?;
    let memory = Stores::default();
    let tool = Tool { memory: &memory, ledger: &place.ledger, access: &place.access, clock: &place.clock };
    let recorded = tool.call(&input::discreet_document(file)?).await?;
    output::streamed(|out| recorded.package.write(out)).map(|()| Exit::Success)
}
