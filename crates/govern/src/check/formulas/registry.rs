//! Which formula was in force when.
//! Owns: the versions of formulas by time. Must not: evaluate one.

use crate::member::Member;
use crate::reference::Reference;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use countersign_record::time::Instant;

/// The formulas that are registered.
pub(in crate::check) struct Specs<'w> {
    /// The versions of each, the oldest first.
    by_id: BTreeMap<&'w str, Vec<Record<'w>>>,
    /// Those whose versions were not written in the order of their times.
    astray: BTreeSet<&'w str>,
}

impl<'w> Specs<'w> {
    /// Those of a world.
    pub(in crate::check) fn of(world: &'w World) -> Self {
        let mut by_id: BTreeMap<&str, Vec<Record<'_>>> = BTreeMap::new();
        for spec in world.of("FormulaSpec") {
            by_id.entry(spec.id()).or_default().push(spec);
        }
        let mut astray = BTreeSet::new();
        for (id, versions) in &mut by_id {
            if !versions.is_sorted_by_key(|spec| spec.written_at()) {
                astray.insert(*id);
                versions.sort_by_key(|spec| (spec.written_at(), spec.seq()));
            }
        }
        Specs { by_id, astray }
    }

    /// Whether a row registers a formula.
    pub(in crate::check) fn has(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    /// The version in force at a time for a row: the last one written by then and before the row, unless it was deprecated by then;
    /// the first one where all come behind the row. Where versions were not written in the order of their times, the time counts.
    pub(in crate::check) fn in_force(
        &self,
        id: &str,
        at: Option<Instant>,
        row: Record<'_>,
    ) -> Option<Record<'w>> {
        let versions = self.by_id.get(id)?;
        let before = match self.astray.contains(id) {
            true => versions.len(),
            false => versions.partition_point(|spec| spec.seq() < row.seq()).max(1),
        };
        let before = versions.get(..before)?;
        let Some(at) = at else { return before.last().copied() };
        let later = before.partition_point(|spec| spec.written_at() <= Some(at));
        let spec = later.checked_sub(1).and_then(|last| before.get(last))?;
        let is_over = spec.time("deprecated_at").is_some_and(|end| end <= at);
        (!is_over).then_some(*spec)
    }

    /// All of them, the versions of each together.
    pub(in crate::check) fn versions(&self) -> impl Iterator<Item = &[Record<'w>]> {
        self.by_id.values().map(Vec::as_slice)
    }
}

/// What a text names: the id of a reference of that kind, or the text itself, where the contract has a name and no reference.
pub(in crate::check) fn id_of<'a>(text: &'a str, kind: &str) -> &'a str {
    match Reference::read(text) {
        Some(reference) if reference.kind == kind => reference.id,
        Some(_) | None => text,
    }
}

/// Whether a version is another one or an earlier one of the same major.
pub(super) fn is_up_to(version: &str, last: &str) -> bool {
    let read = |text: &str| -> Option<Vec<u32>> { text.split('.').map(|part| part.parse().ok()).collect() };
    match (read(version).as_deref(), read(last).as_deref()) {
        (Some([major, minor, patch]), Some([last, minor_max, patch_max])) => {
            major == last && (minor, patch) <= (minor_max, patch_max)
        }
        (Some(_) | None, _) => false,
    }
}
