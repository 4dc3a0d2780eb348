//! How one thing stands: what its projection says, and what it said before.
//! Owns: moving along a machine, remembering. Must not: know which rows move what.

use super::family::{Family, Move};
use super::guard;
use super::row::Row;
use crate::types::wire::record;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::json::Json;

record! {
    /// How one thing stands after the rows so far.
    Standing: value {
        // What its projection says.
        members: BTreeMap<String, Json>,
        // What is kept besides, to decide what may come next.
        kept: BTreeMap<String, Json>,
        // What members said before: the texts of their values.
        past: BTreeMap<String, BTreeMap<String, bool>>,
        // The row that its projection comes from.
        event: Option<String>,
        // The place and time of the row that it began with.
        opened: u64,
        opened_at: Option<String>,
        // The place and time of the last row that belongs to it.
        heard: u64,
        heard_at: Option<String>,
    }
}

impl Standing {
    /// One that begins with a row.
    pub(super) fn opened_by(row: &Row<'_>) -> Self {
        let at = row.time().and_then(|time| time.as_str().map(ToString::to_string));
        Standing {
            members: BTreeMap::new(),
            kept: BTreeMap::new(),
            past: BTreeMap::new(),
            event: None,
            opened: row.seq,
            opened_at: at.clone(),
            heard: row.seq,
            heard_at: at,
        }
    }

    /// A row belongs to it, whether or not it changes anything.
    pub(super) fn hear(&mut self, row: &Row<'_>) {
        self.heard = row.seq;
        self.heard_at = row.time().and_then(|time| time.as_str().map(ToString::to_string));
    }

    /// What a member says.
    #[must_use]
    pub fn says(&self, member: &str) -> Option<&Json> {
        self.members.get(member)
    }

    /// The text that a member says.
    #[must_use]
    pub fn word(&self, member: &str) -> Option<&str> {
        self.members.get(member).and_then(Json::as_str)
    }

    /// Lets a member say something; `None` lets it say nothing.
    pub(super) fn put(&mut self, member: &str, value: Option<Json>) {
        if self.members.get(member) == value.as_ref() {
            return;
        }
        let before = match value {
            Some(value) => self.members.insert(member.to_string(), value),
            None => self.members.remove(member),
        };
        if let Some(before) = before {
            self.said(member, &before);
        }
    }

    /// Remembers that a member once said this.
    pub(super) fn said(&mut self, member: &str, value: &Json) {
        if let Some(text) = text(value) {
            self.past.entry(member.to_string()).or_default().insert(text, true);
        }
    }

    /// The time of the row that changed it last.
    pub(super) fn touch(&mut self, row: &Row<'_>) {
        if let Some(time) = row.time() {
            self.members.insert("updated_at".to_string(), time);
        }
    }

    /// Adds to a list.
    pub(super) fn push(&mut self, member: &str, value: Json) {
        let list = self.members.entry(member.to_string()).or_insert_with(|| Json::Array(Vec::new()));
        if let Json::Array(items) = list {
            items.push(value);
        }
    }

    /// Whether a member says this or once said it.
    #[must_use]
    pub fn ever_said(&self, member: &str, value: &Json) -> bool {
        let is_past = || {
            let texts = self.past.get(member);
            texts.zip(text(value)).is_some_and(|(texts, text)| texts.contains_key(&text))
        };
        self.members.get(member) == Some(value) || is_past()
    }

    /// Whether a list that grows was once this.
    #[must_use]
    pub fn began_with(&self, member: &str, value: &Json) -> bool {
        match (self.members.get(member), value) {
            (Some(Json::Array(now)), Json::Array(then)) => now.starts_with(then),
            (now, then) => now == Some(then),
        }
    }

    /// Moves on, if the table has the way and the row that tells of it shows what the table asks for.
    pub(super) fn step(&mut self, family: &Family, step: &Move<'_>, row: &Row<'_>) -> bool {
        let Some(at) = self.word(family.member) else { return false };
        let may = || guard::holds(family, at, step, row, &|member| self.members.get(member));
        if !family.has_way(at, step) || !may() {
            return false;
        }
        self.put(family.member, Some(step.to.into()));
        true
    }

    /// Begins a life: where the row says, if lives may begin there.
    pub(super) fn begin(&mut self, family: &Family, stated: Option<&str>) {
        let initial = family.machine.initial;
        let first =
            stated.and_then(|stated| initial.iter().find(|state| **state == stated)).or(initial.first());
        self.put(family.member, first.map(|state| Json::from(*state)));
    }
}

/// A value as a text, the same for equal values. Long lists are looked at as they grow and not remembered.
fn text(value: &Json) -> Option<String> {
    match value {
        Json::Array(_) => None,
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Object(_) => {
            countersign_record::json::to_text(value).ok()
        }
    }
}
