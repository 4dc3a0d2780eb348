//! The tool port: something that an agent can have done.
//! Owns: the trait. Must not: permit a call (`countersign-kernel` does), or know a tool.

use super::Answer;
use countersign_kernel::gate::{Permitted, Place};
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};
use countersign_record::label::Label;
use countersign_record::tool::Definition;
use tokio_util::sync::CancellationToken;

/// How the name of a file begins that a tool has not put in its place yet. One that a crash left may hold whatever was to
/// be written in its directory.
pub const STAGED: &str = ".countersign-";

/// What a call would do, said before it is permitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// In one line, with everything that a person who approves it must see.
    pub summary: String,
    /// What it would read.
    pub reads: Reads,
    /// The file that it would write, beneath the sandbox's root.
    pub writes: Option<String>,
    /// Where it would send something.
    pub sends_to: Option<Place>,
}

/// What a call reads: its label is that of what it gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Nothing that has a label.
    Nothing,
    /// A file or directory, beneath the sandbox's root, without `.` and `..`.
    Path(String),
    /// Whatever is beneath the sandbox's root.
    Sandbox,
    /// Something from outside.
    Outside,
    /// Something that says itself what its label is ([`Done::label`]).
    Labelled,
}

/// What a call gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// For the model.
    pub output: Json,
    /// The same as it may be kept, if not all of it may (excerpts of memory).
    pub kept: Option<Json>,
    /// What holds for it, beside what its plan says.
    pub label: Label,
}

impl Done {
    /// What can be kept as it is and has no label of its own.
    #[must_use]
    pub fn plain(output: Json) -> Self {
        Done { output, kept: None, label: Label::NOTHING }
    }
}

/// Why a call was not done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct NotDone {
    /// The stable code.
    pub code: Code,
    /// The words: nothing that is secret, at most a line.
    pub message: String,
}

impl NotDone {
    /// Why, with its words.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        NotDone { code, message: message.into() }
    }
}

/// Something that an agent can have done. Arguments that reach it fit its schema.
pub trait Tool: Send + Sync {
    /// What it is.
    fn definition(&self) -> &Definition;

    /// What a call would do. Does nothing, and looks at nothing but the arguments.
    ///
    /// # Errors
    /// It could not be done in any case.
    fn plan(&self, args: &Object) -> Result<Plan, NotDone>;

    /// Does it. The call ends by itself, within the tool's own bounds of time and size; `cancel` ends it earlier.
    fn run<'a>(&'a self, call: Permitted, cancel: &'a CancellationToken)
    -> Answer<'a, Result<Done, NotDone>>;
}
