//! What a workspace or a package counts for, by its records.
//! Owns: the whole of them as it was then. Must not: judge a record.

use super::super::Found;
use super::super::sources::{History, source_id};
use super::{effective, stated};
use crate::derive::taint::{DataClass, Taint};
use crate::member::Member;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;

/// Records, counted by what they are.
#[derive(Default)]
struct Sum<'w> {
    taints: BTreeMap<Taint, usize>,
    classes: BTreeMap<DataClass, usize>,
    matters: BTreeMap<&'w str, usize>,
    privileged: usize,
    /// Those of which nobody can say how far they are trusted.
    untold: usize,
}

fn count<K: Ord>(counts: &mut BTreeMap<K, usize>, key: Option<K>, is_added: bool) {
    let Some(key) = key else { return };
    if is_added {
        *counts.entry(key).or_default() += 1;
    } else if let Some(count) = counts.get_mut(&key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(&key);
        }
    }
}

impl<'w> Sum<'w> {
    fn count(&mut self, source: Record<'w>, is_added: bool) {
        let json = source.json();
        let taint = effective(source);
        let step = |all: usize, is_one: bool| {
            if is_added { all + usize::from(is_one) } else { all - usize::from(is_one) }
        };
        self.untold = step(self.untold, taint.is_none());
        self.privileged = step(self.privileged, json.flag("privileged") == Some(true));
        count(&mut self.taints, taint, is_added);
        count(&mut self.classes, json.text("data_class").and_then(DataClass::find), is_added);
        count(&mut self.matters, json.text("matter_id"), is_added);
    }

    fn is_empty(&self) -> bool {
        self.taints.is_empty() && self.untold == 0
    }
}

pub(in crate::check) fn workspace_taint_missing_aggregation_policy(world: &World, found: &mut Found<'_>) {
    let sources = History::of(world, "SourceRecord");
    let has_policy = world.of("TaintAggregationPolicy").next().is_some();
    // What stands in a workspace at each place, whether or not it is listed.
    let mut within: BTreeMap<&str, Sum<'_>> = BTreeMap::new();
    let mut last: BTreeMap<&str, Record<'_>> = BTreeMap::new();
    let nothing = Sum::default();
    for row in world.of_any(&["SourceRecord", "SourceWorkspaceCurrentState", "EvidencePackage"]) {
        match row.kind() {
            "SourceRecord" => {
                let before = last.insert(row.id(), row);
                for (source, is_added) in before.map(|one| (one, false)).into_iter().chain([(row, true)]) {
                    if let Some(workspace) = source.json().id_at("workspace_id") {
                        within.entry(workspace).or_default().count(source, is_added);
                    }
                }
            }
            "SourceWorkspaceCurrentState" => {
                let held = within.get(row.id()).unwrap_or(&nothing);
                let is_policy = match row.text("aggregation_policy_ref") {
                    Some(_) => row
                        .follow("aggregation_policy_ref")
                        .is_some_and(|one| one.kind() == "TaintAggregationPolicy"),
                    None => has_policy,
                };
                let path = (!is_policy).then_some("aggregation_policy_ref");
                look(row, Listed::of(row, "record_refs", &sources), held, path, found);
            }
            _package => {
                let path = (!has_policy).then_some("taint_class");
                look(row, Listed::of(row, "source_record_refs", &sources), &nothing, path, found);
            }
        }
    }
}

/// The records that a whole lists, and whether all of them are known.
struct Listed<'w> {
    sum: Sum<'w>,
    is_empty: bool,
    is_whole: bool,
}

impl<'w> Listed<'w> {
    fn of(record: Record<'w>, member: &str, sources: &History<'w>) -> Self {
        let refs = record.json().texts(member);
        let mut sum = Sum::default();
        let known =
            refs.iter().filter_map(|text| source_id(text).and_then(|id| sources.before(id, record.seq())));
        let known = known.map(|source| sum.count(source, true)).count();
        let is_whole = known == refs.len() && sum.untold == 0;
        Listed { sum, is_empty: record.list(member).is_empty(), is_whole }
    }
}

/// What is stated of a whole: by a policy, and what its records make it.
fn look<'w>(
    record: Record<'w>,
    listed: Listed<'w>,
    held: &Sum<'w>,
    unruled: Option<&'static str>,
    found: &mut Found<'_>,
) {
    let (taint, privileged) = (stated(record.json()), record.flag("privileged"));
    let is_bare = listed.is_empty
        && held.is_empty()
        && taint.is_none_or(|taint| taint == Taint::LOWEST)
        && privileged != Some(true);
    if let Some(path) = unruled.filter(|_| (taint.is_some() || privileged.is_some()) && !is_bare) {
        let message = "no policy says how the taint of its records makes that of the whole";
        return found.add(record, path, message);
    }
    compare(record, &listed, held, found);
}

/// What is stated of the whole must be what its records make it; where not all of them are known, no less than those.
fn compare<'w>(record: Record<'w>, listed: &Listed<'w>, held: &Sum<'w>, found: &mut Found<'_>) {
    let both = [&listed.sum, held];
    let is_whole = listed.is_whole && held.untold == 0;
    // Two of each are enough to tell that there are two.
    let matters = both.iter().flat_map(|sum| sum.matters.keys().take(2).copied());
    let matters: BTreeSet<&str> = matters.chain(record.json().text("matter_id")).collect();
    if matters.len() > 1 {
        return found.add(
            record,
            "matter_id",
            "its records belong to two matters, so that they have no whole",
        );
    }
    let whole = both.iter().filter_map(|sum| sum.taints.keys().next_back()).max().copied();
    let whole = whole.unwrap_or(Taint::LOWEST);
    if let Some(taint) = stated(record.json())
        && (taint < whole || is_whole && taint != whole)
    {
        let message = format!("is {} where its records make it {}", taint.as_str(), whole.as_str());
        found.add(record, "taint_class", message);
    }
    let whole = both.iter().any(|sum| sum.privileged > 0);
    if let Some(privileged) = record.flag("privileged")
        && (!privileged && whole || is_whole && privileged != whole)
    {
        found.add(record, "privileged", format!("is {privileged} where its records make it {whole}"));
    }
    // It may be kept more secret than its records are.
    let whole = both.iter().filter_map(|sum| sum.classes.keys().next_back()).max();
    let own = record.text("data_class").and_then(DataClass::find);
    if let Some((own, whole)) = own.zip(whole.copied()).filter(|(own, whole)| own < whole) {
        let message = format!("is {} where its records make it {}", own.as_str(), whole.as_str());
        found.add(record, "data_class", message);
    }
}
