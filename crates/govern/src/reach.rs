//! What a log says twice and not alike: names of nothing, places and times that can't be, repeats that differ.
//! Owns: what a whole log must agree on with itself. Must not: judge what a record says by the contract; `check` does.
//!
//! A bundle may be a part of a log, so this is asked for apart from the rules. Nothing here looks at what a row is called: what
//! is compared follows from types and members alone.

mod computed;
mod fold;
mod hashes;
mod holding;
mod lists;
mod lives;
mod moves;
mod names;
mod places;
mod repeats;
mod signals;
#[cfg(test)]
#[path = "reach_tests.rs"]
mod tests;
mod times;
mod told;
mod work;
#[cfg(test)]
mod work_tests;

pub(crate) use signals::unwritten;

use crate::path::Path;
use crate::world::{Record, World};
use alloc::string::String;
use alloc::vec::Vec;

/// How a log contradicts itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A reference or an id names no record of the log.
    NamesNothing,
    /// It names something that was written only later.
    NamesLater,
    /// A place in the log is not that of what is meant.
    Place,
    /// A time is before what must have been first, or after what must have been last.
    Time,
    /// Two records say of one thing what can't both be.
    Repeat,
    /// How something stands is not what its events make it.
    Fold,
    /// A list leaves out what belongs to it, or has what does not.
    List,
    /// A hash is not that of what it is of.
    Hash,
    /// Something is less tainted, less secret or less privileged than what it holds.
    Holding,
}

impl What {
    /// All of them.
    pub const ALL: [What; 9] = [
        What::NamesNothing,
        What::NamesLater,
        What::Place,
        What::Time,
        What::Repeat,
        What::Fold,
        What::List,
        What::Hash,
        What::Holding,
    ];

    /// The one of a word.
    #[must_use]
    pub fn find(word: &str) -> Option<Self> {
        What::ALL.into_iter().find(|what| what.as_str() == word)
    }

    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            What::NamesNothing => "names_nothing",
            What::NamesLater => "names_later",
            What::Place => "place",
            What::Time => "time",
            What::Repeat => "repeat",
            What::Fold => "fold",
            What::List => "list",
            What::Hash => "hash",
            What::Holding => "holding",
        }
    }
}

/// Something that a log says and that something else in it contradicts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Contradiction {
    /// The place of the row.
    pub row: u64,
    /// Where in the record, as a JSON pointer; empty for the whole.
    pub path: String,
    /// How.
    pub what: What,
    /// What is wrong, for people.
    pub message: String,
}

/// What is found so far.
struct Found(Vec<Contradiction>);

impl Found {
    fn add(&mut self, record: Record<'_>, path: impl Into<Path>, what: What, message: impl Into<String>) {
        let (row, path) = (record.seq(), String::from(path.into()));
        self.0.push(Contradiction { row, path, what, message: message.into() });
    }
}

/// Everything in a log that something else in it contradicts, in order.
#[must_use]
pub fn contradictions(world: &World) -> Vec<Contradiction> {
    let mut found = Found(Vec::new());
    let ties = names::find(world, &mut found);
    signals::find(world, &mut found);
    places::find(world, &mut found);
    times::find(world, &ties, &mut found);
    repeats::find(world, &ties, &mut found);
    fold::find(world, &mut found);
    lists::find(world, &mut found);
    hashes::find(world, &mut found);
    holding::find(world, &mut found);
    work::find(world, &mut found);
    computed::find(world, &mut found);
    told::find(world, &mut found);
    lives::find(world, &mut found);
    moves::find(world, &mut found);
    found.0.sort();
    found.0.dedup();
    found.0
}
