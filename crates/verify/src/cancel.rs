//! Work that a person stops: what is asked for, and what became of everything.
//! Owns: what these records must be, given the command and what was going on. Must not: stop anything.

use crate::case::bare;
use crate::command;
use crate::dispute;
use crate::found::{Found, texts};
use crate::report::Check;
use crate::walk::Walk;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_govern::machine::REVISION;
use countersign_govern::member::Member;
use countersign_govern::world::Record;
use countersign_record::json::{Json, Object};

const CHECK: Check = Check::Record;
/// What is asked for is what the command asks for: the whole run, or one plan of it.
pub(crate) fn asked<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let case = walk.case;
    dispute::noted(walk, record, found);
    let constants = Object::from([
        ("in_flight_handling", Json::from("preempt_immediately")),
        ("side_effect_policy", "cancel_unexecuted_intents".into()),
        ("candidate_disposition", "discard".into()),
        ("source_workspace_disposition", "retain_records".into()),
        ("learning_signal_policy", "suppress_success_signals".into()),
        ("user_receipt_ref", Json::Null),
    ]);
    found.must_have(CHECK, record, &constants);
    let Some(command) = command::open(case, record.seq()) else { return };
    let Some(request) = command::request(case, command) else { return found.withheld(CHECK) };
    let scope = request.text("cancel_scope").unwrap_or("entire_run");
    found.must_say(CHECK, record, "cancel_scope", scope);
    if scope == "entire_run" {
        return found.must_list(CHECK, record, "target_refs", &[]);
    }
    let named = request.texts("target_refs");
    let is_named = named.first().is_some_and(|plan| record.json().texts("target_refs").contains(plan));
    found.holds(CHECK, record, "target_refs", is_named, "it is not what the command names");
}

/// How the last rows of effects have them, by state.
fn effects<'c>(walk: &Walk<'c, '_>, place: u64, state: &str) -> Vec<Record<'c>> {
    let mut last: BTreeMap<&str, Record<'c>> = BTreeMap::new();
    for one in walk.case.until("SideEffectLedgerEntry", place) {
        last.insert(one.id(), one);
    }
    last.into_values().filter(|one| one.json().is("state", state)).collect()
}

/// The receipt of it is of what was just asked for: what was stopped, what stays done, what is not done any more.
pub(crate) fn done<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, json) = (walk.case, record.json());
    let asked = case.last("TaskCancelProtocol", record.seq());
    found.must(CHECK, record, "cancel_request_id", asked.map(|one| one.id().into()));
    found.must_say(CHECK, record, "candidate_disposition", "discard");
    let Some(asked) = asked else { return };
    let stated = json.texts("stopped_refs");
    let is_whole = asked.json().is("cancel_scope", "entire_run");
    let stopped: Vec<String> = match is_whole {
        true => stopped(walk, record),
        // A plan is stopped with the questions that wait for it, which it names first of what it is about.
        false => asked.json().texts("target_refs").into_iter().take(stated.len()).map(String::from).collect(),
    };
    found.must_list(CHECK, record, "stopped_refs", &stopped);
    if !is_whole {
        return;
    }
    let left = |one: &Record<'_>| -> Json {
        let name = format!("side_effect_ledger_entry:{}", one.id());
        Object::from([("ref", Json::from(name)), ("disposition", "left".into())]).into()
    };
    let executed: Vec<Json> = effects(walk, asked.seq(), "executed").iter().map(left).collect();
    found.must(CHECK, record, "executed_side_effects", Some(Json::Array(executed)));
    let name = |one: &Record<'_>| format!("side_effect_ledger_entry:{}", one.id());
    let intended: Vec<String> = effects(walk, asked.seq(), "intent").iter().map(name).collect();
    found.must(CHECK, record, "cancelled_intent_refs", Some(texts(&intended)));
}

/// What goes on when a run is stopped: its plans, and the questions that nobody has answered.
fn stopped(walk: &Walk<'_, '_>, record: Record<'_>) -> Vec<String> {
    let case = walk.case;
    let is_live = |one: &Record<'_>| {
        walk.says("revision_plan", one.id(), "state").is_none_or(|state| !REVISION.is_terminal(state))
    };
    let plans = case.until("RevisionPlan", record.seq()).filter(is_live);
    let plans = plans.map(|one| format!("revision_plan:{}", bare(one.id())));
    let is_open = |one: &Record<'_>| {
        let state = walk.says("hard_revision_call", one.id(), "state");
        matches!(state, Some("pending" | "deferred" | "escalated" | "aborted"))
    };
    let calls = case.until("HardRevisionCall", record.seq()).filter(is_open);
    plans.chain(calls.map(|one| format!("hard_revision_call:{}", one.id()))).collect()
}
