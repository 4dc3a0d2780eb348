//! The command port: programs that look at the work.
//! Owns: the trait. Must not: know a program, or grant one.

use super::Answer;
use super::tool::{NotDone, Tool};
use countersign_record::id::RunId;
use countersign_record::json::Object;

/// A file that a program finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Where, beneath the folder that it is run in.
    pub path: String,
    /// What it says.
    pub text: String,
}

/// Gives programs something to look at.
pub trait Commands: Send + Sync {
    /// The arguments that the tool takes for a command.
    ///
    /// # Errors
    /// It is none that may be run.
    fn arguments(&self, argv: &[String]) -> Result<Object, NotDone>;

    /// A tool that runs programs in a folder of its own, which holds these files and nothing else and goes with the tool.
    fn over<'a>(&'a self, run: &'a RunId, files: Vec<File>) -> Answer<'a, Result<Box<dyn Tool>, NotDone>>;
}
