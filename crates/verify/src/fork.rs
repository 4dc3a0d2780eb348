//! Runs that begin from what this one kept.
//! Owns: what the record of a fork must be, given the command. Must not: follow the new run; its name is told.

use crate::command;
use crate::dispute;
use crate::found::Found;
use crate::report::Check;
use crate::walk::Walk;
use alloc::format;
use alloc::vec::Vec;
use countersign_govern::decide::fork;
use countersign_govern::member::Member;
use countersign_govern::types::added::repair::SideEffectLedgerEntry;
use countersign_govern::types::wire::{Reading, Wire};
use countersign_govern::world::Record;
use countersign_record::json::Json;

const CHECK: Check = Check::Record;

/// A fork is one of this run, from the checkpoint that the command names, or the last; it lists what can't be undone.
pub(crate) fn forked<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, json, place) = (walk.case, record.json(), record.seq());
    dispute::noted(walk, record, found);
    found.must_say(CHECK, record, "parent_run_id", case.run.as_str());
    let is_another = json.text("new_run_id").is_some_and(|id| id != case.run.as_str());
    found.holds(CHECK, record, "new_run_id", is_another, "it is this run");
    found.must(CHECK, record, "irrevocable_side_effects_at_fork", done(walk, place));
    let Some(asked) = command::open(case, place) else { return };
    let Some(request) = command::request(case, asked) else { return found.withheld(CHECK) };
    let named = request.text("checkpoint_id");
    let kept = case.until("KnownGoodCheckpoint", place);
    let is_it = |one: &Record<'_>| named.is_none_or(|name| one.id() == name || one.json().is("label", name));
    let kept = kept.filter(is_it).last().map(|one| format!("known_good_checkpoint:{}", one.id()).into());
    found.must(CHECK, record, "forked_from_checkpoint_ref", kept);
}

/// What was done outside before a place and can't be undone.
fn done(walk: &Walk<'_, '_>, place: u64) -> Option<Json> {
    let effects = walk.case.until("SideEffectLedgerEntry", place);
    let read = |one: Record<'_>| {
        Some((one.seq(), SideEffectLedgerEntry::read(one.json(), &mut Reading::default())?))
    };
    let entries: Vec<(u64, SideEffectLedgerEntry)> = effects.filter_map(read).collect();
    let done = fork::ledger(entries.iter().map(|(place, entry)| (*place, entry)));
    fork::irreversible(walk.case.run.as_str(), place, &done).ok()?.write()
}
