//! Rows by what they belong to, found by place.
//! Owns: the indexes, so that no rule looks at all rows for each. Must not: judge.

use crate::member::Member;
use crate::world::{Record, World};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use countersign_record::json::Json;

/// Rows of a type by a key, in order.
pub(super) struct By<'w, K>(BTreeMap<K, Vec<Record<'w>>>);

impl<'w, K: Ord> By<'w, K> {
    /// By what `keys` says of each.
    pub(super) fn new<I: IntoIterator<Item = K>>(
        world: &'w World,
        kind: &str,
        keys: impl Fn(Record<'w>) -> I,
    ) -> Self {
        let mut rows: BTreeMap<K, Vec<Record<'w>>> = BTreeMap::new();
        for record in world.of(kind) {
            for key in keys(record) {
                rows.entry(key).or_default().push(record);
            }
        }
        By(rows)
    }

    /// Those of a key.
    pub(super) fn all(&self, key: &K) -> &[Record<'w>] {
        self.0.get(key).map(Vec::as_slice).unwrap_or_default()
    }

    /// Those of a key up to a place.
    pub(super) fn until(&self, key: &K, seq: u64) -> &[Record<'w>] {
        let all = self.all(key);
        all.get(..all.partition_point(|one| one.seq() <= seq)).unwrap_or_default()
    }

    /// Those of a key after a place.
    pub(super) fn after(&self, key: &K, seq: u64) -> &[Record<'w>] {
        let all = self.all(key);
        all.get(all.partition_point(|one| one.seq() <= seq)..).unwrap_or_default()
    }
}

impl<'w> By<'w, &'w str> {
    /// By a member.
    pub(super) fn member(world: &'w World, kind: &str, path: &str) -> Self {
        By::new(world, kind, |record| record.json().id_at(path))
    }

    /// By their ids: the versions of each.
    pub(super) fn id(world: &'w World, kind: &str) -> Self {
        By::new(world, kind, |record| Some(record.id()))
    }
}

/// From where to where things are open, by what they belong to.
pub(super) struct Open<K>(BTreeMap<K, Vec<(u64, i64)>>);

impl<K: Ord> Open<K> {
    /// From the places where something begins and, maybe, ends.
    pub(super) fn new(spans: impl IntoIterator<Item = (K, u64, Option<u64>)>) -> Self {
        let mut all: BTreeMap<K, Vec<(u64, i64)>> = BTreeMap::new();
        for (of, from, to) in spans {
            let steps = all.entry(of).or_default();
            steps.push((from, 1));
            steps.extend(to.map(|to| (to.max(from), -1)));
        }
        for steps in all.values_mut() {
            steps.sort_unstable();
            let mut open = 0;
            for (_, step) in steps.iter_mut() {
                open += *step;
                *step = open;
            }
        }
        Open(all)
    }

    /// Whether something is open at a place.
    pub(super) fn is_at(&self, of: &K, seq: u64) -> bool {
        self.0.get(of).is_some_and(|steps| is_open(steps, seq))
    }

    /// Of what something is open at a place.
    pub(super) fn at(&self, seq: u64) -> impl Iterator<Item = &K> {
        self.0.iter().filter(move |(_, steps)| is_open(steps, seq)).map(|(of, _)| of)
    }
}

fn is_open(steps: &[(u64, i64)], seq: u64) -> bool {
    let passed = steps.partition_point(|(at, _)| *at <= seq);
    passed.checked_sub(1).and_then(|last| steps.get(last)).is_some_and(|(_, open)| *open > 0)
}

/// The member of a row that is a text.
pub(super) fn text<'w>(record: Record<'w>, path: &str) -> Option<&'w str> {
    let json: &'w Json = record.json();
    json.text(path)
}
