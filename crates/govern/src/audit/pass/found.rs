//! What a pass found so far.
//! Owns: keeping it by part, so that what a part had alone can be forgotten. Must not: decide what counts.

use super::Part;
use crate::audit::CODES_MAX;
use crate::audit::scope::Within;
use crate::audit::wide::{Header, Wide};
use crate::check::Diagnostic;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

/// What was found so far.
#[derive(Default)]
pub(super) struct Found {
    /// In the rows of each part.
    pub(super) codes: BTreeMap<Part, Vec<Diagnostic>>,
    pub(super) headers: BTreeMap<Part, Vec<Header>>,
    pub(super) count: usize,
    pub(super) is_cut: bool,
    /// In shared rows, and in how many batches.
    pub(super) of_shared: BTreeMap<Diagnostic, u32>,
    pub(super) batches: u32,
    /// In shared rows that parts did not agree on, with all of those together.
    pub(super) decided: Vec<Diagnostic>,
    pub(super) disputed: BTreeSet<u64>,
    /// Rules on rows that all go by, where parts did not agree.
    pub(super) unsettled: BTreeSet<&'static str>,
    pub(super) wide: Wide,
    /// Rules asked for more than they were shown.
    pub(super) is_short: bool,
    pub(super) left: Option<Within>,
}

impl Found {
    pub(super) fn add(&mut self, part: Part, one: Diagnostic) {
        if self.count >= CODES_MAX {
            self.is_cut = true;
            return;
        }
        self.count += 1;
        self.codes.entry(part).or_default().push(one);
    }

    /// Forgets what a part had alone, but for what stays.
    pub(super) fn forget(&mut self, part: Part, stays: impl Fn(&Diagnostic) -> bool) {
        self.headers.remove(&part);
        let codes = self.codes.remove(&part).unwrap_or_default();
        self.count -= codes.len();
        codes.into_iter().filter(stays).for_each(|one| self.add(part, one));
    }
}
