//! Policies as they stood.
//! Owns: which version of a setting a row goes by. Must not: know what a setting says.
//!
//! What was done is judged by what held then: a setting that comes later does not reach back. Rows may be told before the
//! settings that they went by; then the first of those counts.

use super::{Record, World};
use crate::kind::Class;
use crate::reference::Reference;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Of some settings in their order the one that a place of the log goes by: the last one before it, else the first.
pub(crate) fn in_force<'w>(settings: &[Record<'w>], seq: u64) -> Option<Record<'w>> {
    before(settings, seq).or(settings.first().copied())
}

fn before<'w>(settings: &[Record<'w>], seq: u64) -> Option<Record<'w>> {
    let count = settings.partition_point(|one| one.seq() < seq);
    count.checked_sub(1).and_then(|last| settings.get(last)).copied()
}

impl World {
    /// The version of a setting that a place of the log goes by.
    pub(crate) fn policy(&self, kind: &str, id: &str, seq: u64) -> Option<Record<'_>> {
        self.standing(self.named(kind, id), seq)
    }

    /// The record that a reference in a row at this place names: of a policy the version that the place goes by.
    pub(crate) fn resolve_at(&self, reference: Reference<'_>, seq: u64) -> Option<Record<'_>> {
        let (number, versions) = self.referred(reference);
        if let Some(pinned) = self.pinned(reference, versions) {
            return pinned.and_then(|at| self.at(at));
        }
        if number.is_some_and(|known| known.kind.class == Class::Policy) {
            return self.standing(versions, seq);
        }
        versions.last().and_then(|at| self.at(*at))
    }

    fn standing(&self, versions: &[u32], seq: u64) -> Option<Record<'_>> {
        let count = versions.partition_point(|at| self.at(*at).is_some_and(|one| one.seq() < seq));
        versions.get(count.saturating_sub(1)).and_then(|at| self.at(*at))
    }
}

/// Settings of one type by what they are for, in order.
pub(crate) struct Settings<'w, K>(BTreeMap<K, Vec<Record<'w>>>);

impl<'w, K: Ord> Settings<'w, K> {
    /// Those of a world; one that is for nothing is passed over.
    pub(crate) fn of(world: &'w World, kind: &str, what: impl Fn(Record<'w>) -> Option<K>) -> Self {
        let mut all: BTreeMap<K, Vec<Record<'w>>> = BTreeMap::new();
        for row in world.of(kind) {
            if let Some(what) = what(row) {
                all.entry(what).or_default().push(row);
            }
        }
        Settings(all)
    }

    /// The setting for something that a place of the log goes by.
    pub(crate) fn at(&self, what: &K, seq: u64) -> Option<Record<'w>> {
        self.0.get(what).and_then(|settings| in_force(settings, seq))
    }

    /// The same, and where nothing is for this, the one for all.
    pub(crate) fn at_or(&self, what: &K, all: &K, seq: u64) -> Option<Record<'w>> {
        let [own, common] = [what, all].map(|what| self.0.get(what).map(Vec::as_slice).unwrap_or_default());
        let stood = before(own, seq).or_else(|| before(common, seq));
        stood.or_else(|| own.first().or(common.first()).copied())
    }
}

/// Words that settings of one type say, and where in the log any of them does.
pub(crate) struct Said<'w> {
    /// From where to where each word is said, sorted; each end is the latest of those so far.
    spans: BTreeMap<&'w str, Vec<(u64, u64)>>,
}

impl<'w> Said<'w> {
    /// Those of a world: each setting says its words until its next version. The first setting holds from the beginning.
    pub(crate) fn of(world: &'w World, kind: &str, words: impl Fn(Record<'w>) -> Vec<&'w str>) -> Self {
        let rows: Vec<Record<'w>> = world.of(kind).collect();
        let mut spans: BTreeMap<&str, Vec<(u64, u64)>> = BTreeMap::new();
        let mut next: BTreeMap<&str, u64> = BTreeMap::new();
        for (at, row) in rows.iter().enumerate().rev() {
            let end = next.insert(row.id(), row.seq()).unwrap_or(u64::MAX);
            let begin = if at == 0 { 0 } else { row.seq() };
            words(*row).into_iter().for_each(|word| spans.entry(word).or_default().push((begin, end)));
        }
        for spans in spans.values_mut() {
            spans.sort_unstable();
            let mut latest = 0;
            for (_, end) in spans {
                latest = latest.max(*end);
                *end = latest;
            }
        }
        Said { spans }
    }

    /// Whether a setting that a place of the log goes by says a word.
    pub(crate) fn is_said(&self, word: &str, seq: u64) -> bool {
        let spans = self.spans.get(word).map(Vec::as_slice).unwrap_or_default();
        let begun = spans.partition_point(|(begin, _)| *begin < seq);
        begun.checked_sub(1).and_then(|last| spans.get(last)).is_some_and(|(_, end)| seq <= *end)
    }
}
