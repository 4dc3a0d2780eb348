//! What is found while a packet is looked at.
//! Owns: counting, comparing what is with what follows. Must not: derive.

use crate::report::{Check, Counted, Failure, Place};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_govern::world::Record;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};

/// Failures beyond this are counted, not listed.
const LISTED_MAX: usize = 1_000;

/// What was found so far.
#[derive(Debug, Default)]
pub(crate) struct Found {
    counts: BTreeMap<Check, Counted>,
    failures: Vec<Failure>,
    unlisted: u64,
    /// The ledger's place of each governed record.
    rows: BTreeMap<u64, u64>,
}

impl Found {
    /// From now on the places of records are told as rows of the ledger.
    pub(crate) fn placed(&mut self, rows: BTreeMap<u64, u64>) {
        self.rows = rows;
    }

    fn count(&mut self, check: Check) -> &mut Counted {
        self.counts.entry(check).or_insert(Counted { check, checked: 0, told: 0, withheld: 0, failed: 0 })
    }

    /// Something was looked at, and is right.
    pub(crate) fn right(&mut self, check: Check) {
        self.count(check).checked += 1;
    }

    /// Something is taken as it is told.
    pub(crate) fn told(&mut self, check: Check) {
        self.count(check).told += 1;
    }

    /// Something can't be looked at, because bytes are withheld.
    pub(crate) fn withheld(&mut self, check: Check) {
        self.count(check).withheld += 1;
    }

    /// Something is wrong.
    pub(crate) fn wrong(&mut self, code: Code, check: Check, place: Place, message: impl Into<String>) {
        self.fail(Failure { code, check, place, expected: None, found: None, message: message.into() });
    }

    pub(crate) fn fail(&mut self, failure: Failure) {
        let count = self.count(failure.check);
        (count.checked, count.failed) = (count.checked + 1, count.failed + 1);
        if self.failures.len() < LISTED_MAX {
            self.failures.push(failure);
        } else {
            self.unlisted += 1;
        }
    }

    /// Where a member of a record stands; the path is names with dots between.
    pub(crate) fn place(&self, record: Record<'_>, path: &str) -> Place {
        let pointer = if path.is_empty() { String::new() } else { format!("/{}", path.replace('.', "/")) };
        self.pointed(record, pointer)
    }

    /// Where something in a record stands, by a JSON pointer.
    pub(crate) fn pointed(&self, record: Record<'_>, pointer: String) -> Place {
        Place {
            row: Some(self.rows.get(&record.seq()).copied().unwrap_or(record.seq())),
            record: Some(format!("{} {}", record.kind(), record.id())),
            path: (!pointer.is_empty()).then_some(pointer),
            blob: None,
        }
    }

    /// A member of a record must be this; nothing where it is `None`.
    pub(crate) fn must(&mut self, check: Check, record: Record<'_>, path: &str, expected: Option<Json>) {
        let found = record.json().at(path).cloned();
        self.same(Code::VerifyDerivation, check, record, path, expected, found);
    }

    /// A member of a record must be this text.
    pub(crate) fn must_say(&mut self, check: Check, record: Record<'_>, path: &str, expected: &str) {
        self.must(check, record, path, Some(expected.into()));
    }

    /// A member of a record must be these texts, in this order.
    pub(crate) fn must_list(&mut self, check: Check, record: Record<'_>, path: &str, expected: &[String]) {
        self.must(check, record, path, Some(texts(expected)));
    }

    /// Members of a record must be those of an object; one that is null there must not be here.
    pub(crate) fn must_have(&mut self, check: Check, record: Record<'_>, expected: &Object) {
        for (name, value) in expected.iter() {
            self.must(check, record, name, (*value != Json::Null).then(|| value.clone()));
        }
    }

    /// A record must be what an object is, but for some members.
    pub(crate) fn must_be(&mut self, check: Check, record: Record<'_>, expected: &Object, but: &[&str]) {
        let members = record.json().as_object().into_iter().flat_map(Object::iter);
        let names: BTreeSet<&str> = members.chain(expected.iter()).map(|(name, _)| name).collect();
        for name in names.into_iter().filter(|name| !but.contains(name)) {
            let value = expected.get(name).filter(|value| **value != Json::Null);
            self.must(check, record, name, value.cloned());
        }
    }

    /// Two values must be the same.
    pub(crate) fn same(
        &mut self,
        code: Code,
        check: Check,
        record: Record<'_>,
        path: &str,
        expected: Option<Json>,
        found: Option<Json>,
    ) {
        if expected == found {
            return self.right(check);
        }
        let place = self.place(record, path);
        let message = match (&expected, &found) {
            (Some(_), Some(_)) => "is not what follows",
            (Some(_), None) => "is missing, and follows",
            (None, _) => "does not follow",
        };
        self.fail(Failure { code, check, place, expected, found, message: message.to_string() });
    }

    /// Something must be so for a member of a record to follow; else it is wrong, and why.
    pub(crate) fn holds(
        &mut self,
        check: Check,
        record: Record<'_>,
        path: &str,
        is_so: bool,
        else_why: &str,
    ) {
        match is_so {
            true => self.right(check),
            false => self.about(Code::VerifyDerivation, check, record, path, else_why),
        }
    }

    /// Something about a record is wrong.
    pub(crate) fn about(
        &mut self,
        code: Code,
        check: Check,
        record: Record<'_>,
        path: &str,
        message: impl Into<String>,
    ) {
        let place = self.place(record, path);
        self.wrong(code, check, place, message);
    }

    /// The codes of what failed. The signatures are looked at first, so theirs are always listed.
    pub(crate) fn codes(&self) -> impl Iterator<Item = Code> {
        self.failures.iter().map(|one| one.code)
    }

    /// Whether something can't be looked at, because bytes are withheld.
    pub(crate) fn is_partial(&self) -> bool {
        self.counts.values().any(|one| one.withheld > 0)
    }

    /// The counts of every check, the failures, and how many of those are not listed.
    pub(crate) fn finish(mut self) -> (Vec<Counted>, Vec<Failure>, u64) {
        let counts = Check::ALL.iter().map(|check| *self.count(*check)).collect();
        (counts, self.failures, self.unlisted)
    }
}

/// A list of texts.
pub(crate) fn texts<T: AsRef<str>>(all: &[T]) -> Json {
    Json::Array(all.iter().map(|one| one.as_ref().into()).collect())
}
