//! `countersign memory`: what a prompt may read, and what is remembered for it.
//! Owns: reading the input, printing the package. Must not: select.

mod snapshot;

use crate::cli::{Global, Memory};
use crate::failure::{Exit, Failure};
use crate::input;
use crate::output;
use countersign_kernel::recall::Input;
use countersign_memory::recall;

pub(super) fn run(global: &Global, command: &Memory) -> Result<Exit, Failure> {
    match command {
        Memory::Read { file } => read(file),
        Memory::Snapshot(command) => snapshot::run(global, command),
    }
}

fn read(file: &str) -> Result<Exit, Failure> {
    let input = Input::read(&input::document(file)?)?;
    let package = recall::read(&input)?;
    output::streamed(|out| package.write(out).map(drop)).map(|()| Exit::Success)
}
