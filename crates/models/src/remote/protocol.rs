//! What a protocol must say, so that a model can be asked through it.
//! Owns: the traits and what is heard. Must not: send anything.

use super::sse::Event;
use crate::key::Key;
use crate::prices::Counted;
use countersign_record::canonical::Unwritable;
use countersign_record::json::{Json, Number};
use countersign_runtime::ports::model::{Finish, Request};
use reqwest::header::{HeaderMap, InvalidHeaderValue};

/// A protocol.
pub(crate) trait Protocol: Send + Sync {
    /// The headers of a request.
    fn headers(&self, key: Option<&Key>) -> Result<HeaderMap, InvalidHeaderValue>;

    /// The body of a request.
    fn body(&self, request: &Request) -> Result<String, Unwritable>;

    /// Whether a refusal was about the form of the request, which is another from now on.
    fn adapts(&self, status: u16, words: &str) -> bool;

    /// Begins to listen to an answer.
    fn listen(&self) -> Box<dyn Listen>;
}

/// Listens to an answer.
pub(crate) trait Listen: Send + Sync {
    /// Takes an event.
    fn event(&mut self, event: &Event) -> Result<Heard, Fault>;

    /// Takes an answer that came as one document; gives its text.
    fn whole(&mut self, body: &Json) -> Result<String, Fault>;

    /// What is known of the end.
    fn tally(&self) -> Tally;
}

/// What an event said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Nothing that concerns us.
    Nothing,
    /// More text.
    Text(String),
    /// That the answer is over.
    Over,
}

/// What is known of the end of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Why it ended, if it has.
    pub(crate) finish: Option<Finish>,
    /// What was used, if it was told.
    pub(crate) counted: Option<Counted>,
}

/// Why an event is no part of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It breaks the protocol.
    Broken(&'static str),
    /// The server has no time.
    Busy(Option<String>),
    /// The server will not answer.
    Refused(Option<String>),
}

/// A count. What is none counts for nothing: a wrong count is no reason to lose an answer.
pub(crate) fn count(value: Option<&Json>) -> u64 {
    match value {
        Some(Json::Number(number)) => Number::as_u64(number).unwrap_or_default(),
        _ => 0,
    }
}
