//! What reaches over several runs: what happened in any of them, and what that makes out of date.
//! Owns: how a rule tells that of some rows, so that others may be looked at apart. Must not: know a rule's records.

use crate::mix;
use alloc::string::String;
use alloc::vec::Vec;

/// What some rows tell of others that are not looked at with them.
#[derive(Default)]
pub(crate) struct Across<'w> {
    pub(crate) events: Vec<Event<'w>>,
    pub(crate) open: Vec<Open>,
}

/// Something that happened.
pub(crate) struct Event<'w> {
    pub(crate) topic: Topic,
    pub(crate) seq: u64,
    pub(crate) kind: &'w str,
}

/// A row that an event makes out of date, if it stands between two places.
pub(crate) struct Open {
    pub(crate) row: u64,
    pub(crate) topics: Vec<Topic>,
    pub(crate) from: u64,
    pub(crate) until: u64,
    /// The first such event among the rows that were looked at.
    pub(crate) first: Option<u64>,
}

/// Where an event and a row meet, as a number. Two may rarely have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Topic {
    pub(crate) number: u64,
    pub(crate) reach: Reach,
}

/// How far an event reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    Task,
    Matter,
}

impl Topic {
    /// What concerns something within a task or a matter.
    pub(crate) fn of(reach: Reach, concerns: &str, id: &str) -> Self {
        let within = match reach {
            Reach::Task => 1,
            Reach::Matter => 2,
        };
        let number = mix::join(mix::join(mix::number(concerns), mix::number(id)), within);
        Topic { number, reach }
    }
}

/// A rule on what reaches over several runs.
pub(super) struct Wide {
    pub(super) code: &'static str,
    /// What it finds in some rows, and what of them reaches further.
    pub(super) check: for<'w> fn(&'w super::World, &mut super::Found<'_>) -> Across<'w>,
    /// Where it is told, and how: the place of the event and its type.
    pub(super) path: &'static str,
    pub(super) message: fn(u64, &str) -> String,
}
