//! The tools `fs.*`.
//! Owns: what they have in common, and running them beside what must not wait. Must not: reach a file but through
//! `beneath`.

mod list_dir;
mod read_text;
mod write_text;

pub(crate) use read_text::whole_letters;

/// Lists a directory.
pub type ListDir = OfFiles<list_dir::Call>;
/// Reads a text file.
pub type ReadText = OfFiles<read_text::Call>;
/// Writes a text file.
pub type WriteText = OfFiles<write_text::Call>;

use crate::args::Saying;
use crate::sandbox::{Error, Sandbox};
use countersign_kernel::gate::Permitted;
use countersign_record::code::Code;
use countersign_record::json::Object;
use countersign_record::tool::Definition;
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::tool::{Done, NotDone, Plan, Tool};
use rustix::fd::OwnedFd;
use std::marker::PhantomData;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// One call of such a tool, its arguments read.
pub trait Call: Sized + Send + Sync + 'static {
    /// What is said of the tool.
    fn saying() -> Saying;

    /// Reads the arguments.
    ///
    /// # Errors
    /// They are wrong.
    fn read(args: &Object) -> Result<Self, NotDone>;

    /// What exactly would be done.
    fn plan(&self) -> Plan;

    /// Does it beneath a root. May wait for a disk.
    ///
    /// # Errors
    /// It can't be done.
    fn run(&self, root: &OwnedFd) -> Result<Done, NotDone>;
}

/// A tool of files beneath a root.
pub struct OfFiles<C> {
    definition: Definition,
    root: Arc<OwnedFd>,
    call: PhantomData<fn() -> C>,
}

impl<C: Call> OfFiles<C> {
    /// The tool, beneath a root.
    ///
    /// # Errors
    /// What it says of itself is wrong.
    pub fn new(sandbox: &Sandbox) -> Result<Self, Error> {
        let definition = C::saying().definition()?;
        Ok(OfFiles { definition, root: Arc::clone(sandbox.dir()), call: PhantomData })
    }
}

impl<C: Call> Tool for OfFiles<C> {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn plan(&self, args: &Object) -> Result<Plan, NotDone> {
        Ok(C::read(args)?.plan())
    }

    fn run<'a>(
        &'a self,
        call: Permitted,
        cancel: &'a CancellationToken,
    ) -> Answer<'a, Result<Done, NotDone>> {
        Box::pin(async move {
            let call = C::read(call.args())?;
            let root = Arc::clone(&self.root);
            // It is short, so only what has not begun is cancelled.
            if cancel.is_cancelled() {
                return Err(NotDone::new(Code::ToolTimeout, "it was cancelled before it began"));
            }
            match tokio::task::spawn_blocking(move || call.run(&root)).await {
                Ok(result) => result,
                Err(_) => Err(NotDone::new(Code::ToolFailed, "it broke off")),
            }
        })
    }
}
