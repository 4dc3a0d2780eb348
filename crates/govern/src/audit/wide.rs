//! What reaches over several runs: rows that something in any of them made out of date.
//! Owns: bringing the two together across parts. Must not: know which event reaches how far; the rules do.

use crate::check::{self, Across, Diagnostic, Reach};
use crate::mix;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What happened, and what is still valid.
#[derive(Clone, Debug, Default)]
pub(super) struct Wide {
    events: Vec<Event>,
    /// So many events are each there once.
    sorted: usize,
    headers: Vec<Header>,
    /// The types of events.
    kinds: Vec<String>,
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    topic: u64,
    seq: u64,
    kind: u32,
}

/// A row that an event between two places makes out of date, by a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) row: u64,
    code: &'static str,
    topic: u64,
    from: u64,
    until: u64,
    first: Option<u64>,
}

/// More events than this are now and then looked through for those that are there twice.
const EVENTS_MIN: usize = 4_096;

impl Wide {
    /// Adds what a rule says happened in some rows, as far as it reaches; gives what may be out of date.
    pub(super) fn add(
        &mut self,
        code: &'static str,
        across: &Across<'_>,
        reaches: impl Fn(Reach) -> bool,
    ) -> Vec<Header> {
        let rule = mix::number(code);
        for event in across.events.iter().filter(|event| reaches(event.topic.reach)) {
            let kind = self.kind(event.kind);
            self.events.push(Event { topic: mix::join(rule, event.topic.number), seq: event.seq, kind });
        }
        if self.events.len() > 2 * self.sorted + EVENTS_MIN {
            self.sort();
        }
        let mut headers = Vec::new();
        for one in &across.open {
            let check::Open { row, from, until, first, .. } = *one;
            for topic in one.topics.iter().filter(|topic| reaches(topic.reach)) {
                headers.push(Header { row, code, topic: mix::join(rule, topic.number), from, until, first });
            }
        }
        headers
    }

    fn sort(&mut self) {
        self.events.sort_unstable();
        self.events.dedup();
        self.sorted = self.events.len();
    }

    fn kind(&mut self, kind: &str) -> u32 {
        let at = self.kinds.iter().position(|own| own == kind).unwrap_or_else(|| {
            self.kinds.push(kind.to_string());
            self.kinds.len() - 1
        });
        u32::try_from(at).unwrap_or(0)
    }

    /// These are as they were looked at last.
    pub(super) fn stand(&mut self, headers: impl Iterator<Item = Header>) {
        self.headers.extend(headers);
    }

    /// Adds what another pass has.
    pub(super) fn join(&mut self, other: Wide) {
        for event in other.events {
            let kind = other.kinds.get(event.kind as usize).map(String::as_str).unwrap_or_default();
            let kind = self.kind(kind);
            self.events.push(Event { kind, ..event });
        }
        self.headers.extend(other.headers);
    }

    /// Adds what is out of date by something that its own part does not have, or has later.
    pub(super) fn settle(mut self, codes: &mut Vec<Diagnostic>) {
        self.sort();
        let mut first: BTreeMap<(u64, &'static str), Event> = BTreeMap::new();
        for header in &self.headers {
            let is_before = |one: &Event| (one.topic, one.seq) <= (header.topic, header.from);
            let event = self.events.get(self.events.partition_point(is_before)).copied();
            let event = event.filter(|one| one.topic == header.topic && one.seq < header.until);
            if let Some(event) = event.filter(|one| header.first.is_none_or(|own| one.seq < own)) {
                let own = first.entry((header.row, header.code)).or_insert(event);
                if event.seq < own.seq {
                    *own = event;
                }
            }
        }
        let mut told: BTreeMap<(u64, &'static str), Diagnostic> = BTreeMap::new();
        for ((row, code), event) in first {
            let kind = self.kinds.get(event.kind as usize).map(String::as_str).unwrap_or_default();
            told.extend(check::out_of_date(code, row, event.seq, kind).map(|one| ((row, code), one)));
        }
        codes.retain(|one| told.get(&(one.row, one.code)).is_none_or(|told| told.path != one.path));
        codes.extend(told.into_values());
    }
}
