//! When a hard call counts as answered, and what goes on before.
//! Owns: the answers, the time in which a call holds its scope. Must not: judge an answer.

use crate::check::Found;
use crate::fold::hard_call::unanswered;
use crate::member::Member;
use crate::reference::Reference;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;

pub(super) fn hard_call_resolved_without_dispatcher_receipt(world: &World, found: &mut Found<'_>) {
    for receipt in world.of("HardCallResolutionReceipt") {
        if let Some((path, message)) = flaw(receipt) {
            found.add(receipt, path, message);
        }
    }
    let ends = ends(world);
    closed_items(world, &ends, found);
    left_waits(world, found);
    resumed_scopes(world, &ends, found);
}

/// Why a receipt does not answer its call. Of a call that is not there nothing is known.
fn flaw(receipt: Record<'_>) -> Option<(&'static str, &'static str)> {
    let call = receipt.text("hard_call_id").and_then(|id| receipt.world.find("HardRevisionCall", id));
    let is_known = call.is_some();
    let flaw = unanswered(receipt.json(), call.and_then(|call| call.json().at("options")))?;
    (is_known || flaw.0 != "selected_option_id").then_some(flaw)
}

/// Where the waiting of each call ends: the places of answers and of cancels that stop it.
fn ends(world: &World) -> BTreeMap<&str, BTreeSet<u64>> {
    let mut ends: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for receipt in world.of("HardCallResolutionReceipt").filter(|receipt| flaw(*receipt).is_none()) {
        if let Some(call) = receipt.json().text("hard_call_id") {
            ends.entry(call_text(world, call)).or_default().insert(receipt.seq());
        }
    }
    for cancel in world.of("TaskCancelReceipt") {
        for stopped in cancel.json().references("stopped_refs") {
            if let Some(call) = world.resolve(stopped).filter(|call| call.kind() == "HardRevisionCall") {
                ends.entry(call.id()).or_default().insert(cancel.seq());
            }
        }
    }
    ends
}

/// The id that the world keeps for a call, so that it lives as long as the world does.
fn call_text<'w>(world: &'w World, id: &'w str) -> &'w str {
    world.find("HardRevisionCall", id).map_or(id, Record::id)
}

fn closed_items(world: &World, ends: &BTreeMap<&str, BTreeSet<u64>>, found: &mut Found<'_>) {
    let items = world.of("AttentionLedgerItem").filter(|item| {
        item.is("attention_kind", "hard_call_pending") && item.is("lifecycle_state", "resolved")
    });
    for item in items {
        let call = item.follow("source_ref").filter(|call| call.kind() == "HardRevisionCall");
        let is_open = |call: &Record<'_>| {
            ends.get(call.id()).is_none_or(|ends| ends.range(..item.seq()).next().is_none())
        };
        if call.as_ref().is_some_and(is_open) {
            found.add(item, "lifecycle_state", "the item is closed and its hard call has no answer");
        }
    }
}

/// Plans that stop to wait, as they say by an answer.
fn left_waits(world: &World, found: &mut Found<'_>) {
    let by = "triggered_by_receipt_kind";
    for event in world.of("RevisionLifecycleTransitionEvent") {
        if !event.is("from_state", "waiting_hard_call") || !event.is(by, "HardCallResolutionReceipt") {
            continue;
        }
        let answer = event.follow("receipt_ref").filter(|one| one.kind() == "HardCallResolutionReceipt");
        if !answer.is_some_and(|answer| answer.seq() < event.seq() && flaw(answer).is_none()) {
            found.add(event, "receipt_ref", "the plan goes on by an answer that no receipt shows");
        }
    }
}

/// What a call holds, or what a row goes on with: the kind and the id.
type Scope<'w> = (&'w str, &'w str);

/// Looks at the rows in order, with the calls that hold each scope at that place.
fn resumed_scopes(world: &World, ends: &BTreeMap<&str, BTreeSet<u64>>, found: &mut Found<'_>) {
    let warned = warned(world);
    let mut turns: BTreeMap<u64, Vec<(u64, bool)>> = BTreeMap::new();
    let mut calls: BTreeMap<u64, Record<'_>> = BTreeMap::new();
    for call in world.of("HardRevisionCall") {
        let from = call.seq();
        let after = |places: Option<&BTreeSet<u64>>| places?.range(from..).next().copied();
        let until = [after(ends.get(call.id())), after(warned.get(call.id()))].into_iter().flatten().min();
        turns.entry(from).or_default().push((from, true));
        if let Some(until) = until {
            turns.entry(until).or_default().push((from, false));
        }
        calls.insert(from, call);
    }
    if calls.is_empty() {
        return;
    }
    let mut held: BTreeMap<Scope<'_>, BTreeSet<u64>> = BTreeMap::new();
    let mut rows: Vec<Record<'_>> = GOES_ON.iter().flat_map(|kind| world.of(kind)).collect();
    rows.sort_by_key(|row| row.seq());
    let turns = turns.into_iter().flat_map(|(at, all)| all.into_iter().map(move |turn| (at, turn)));
    let mut turns = turns.peekable();
    for row in rows {
        while let Some((_, (call, is_begun))) = turns.next_if(|(at, _)| *at <= row.seq()) {
            for scope in calls.get(&call).map(|call| blocked(*call)).unwrap_or_default() {
                let holders = held.entry(scope).or_default();
                if is_begun {
                    holders.insert(call);
                } else {
                    holders.remove(&call);
                }
            }
        }
        let scopes = continued(row);
        let holders = scopes.iter().filter_map(|scope| held.get(scope)).flatten();
        let mut holders = holders.filter_map(|call| calls.get(call));
        if let Some(call) = holders.find(|call| !lets_on(**call, &scopes)) {
            let message = format!("goes on while the hard call of row {} has no answer", call.seq());
            found.add(row, "", message);
        }
    }
}

/// Where a call that nobody answered lets its scope go on with a warning, as its policy says.
fn warned(world: &World) -> BTreeMap<&str, BTreeSet<u64>> {
    let mut warned: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for event in world.of("HardCallPendingEvent") {
        let call = event.json().text("hard_call_id").and_then(|id| world.find("HardRevisionCall", id));
        let rule = match event.text("cause") {
            Some("timed_out") => "pending_policy.on_timeout",
            Some("deferred") => "pending_policy.on_defer",
            Some(_) | None => continue,
        };
        let goes_on = "continue_with_warning";
        if let Some(call) = call.filter(|call| event.is("action", goes_on) && call.is(rule, goes_on)) {
            warned.entry(call.id()).or_default().insert(event.seq());
        }
    }
    warned
}

/// What a call holds until it is answered.
fn blocked(call: Record<'_>) -> Vec<Scope<'_>> {
    let json = call.json();
    let refs = json.references("pending_policy.blocked_refs").into_iter();
    let mut scopes: Vec<Scope<'_>> = refs.map(|one| scope(&one)).collect();
    let run = json.text("run_id");
    match json.text("pending_policy.blocking_scope") {
        Some("entire_run") => scopes.extend(run.map(|run| ("run", run))),
        Some("side_effect_only") => scopes.extend(run.map(|run| ("side_effects_of_run", run))),
        Some(_) | None => {}
    }
    scopes
}

fn scope<'w>(reference: &Reference<'w>) -> Scope<'w> {
    let kind = match reference.kind {
        "outcome" => "outcome_record",
        "step" | "revision_plan_step" => "revision_plan_step_base",
        kind => kind,
    };
    (kind, reference.id)
}

/// What a row goes on with.
/// Records by which work goes on.
const GOES_ON: [&str; 3] = ["RevisionOperationReceipt", "ProcedureAttemptRecord", "SideEffectLedgerEntry"];

fn continued(row: Record<'_>) -> Vec<Scope<'_>> {
    let json = row.json();
    let named = |kind, path| json.text(path).map(|id| (kind, id));
    let scopes = match row.kind() {
        // A receipt that does not say what it is for is of a step that ran.
        "RevisionOperationReceipt"
            if json.is_one_of("operation_kind", &["dispatched", "step_started"])
                || json.is_blank("operation_kind") =>
        {
            [
                named("revision_plan", "plan_id"),
                named("revision_plan_step_base", "step_id"),
                named("run", "run_id"),
            ]
        }
        "ProcedureAttemptRecord" => [named("outcome_record", "outcome_id"), named("run", "run_id"), None],
        "SideEffectLedgerEntry" if json.is("state", "executed") => [
            Some(("side_effect_ledger_entry", row.id())),
            named("run", "run_id"),
            named("side_effects_of_run", "run_id"),
        ],
        _kind => [None, None, None],
    };
    scopes.into_iter().flatten().collect()
}

/// Whether a call names something that may go on meanwhile.
fn lets_on(call: Record<'_>, scopes: &[Scope<'_>]) -> bool {
    let allowed = call.json().texts("pending_policy.allowed_to_continue_refs");
    let names = |text: &&str| {
        let named = Reference::read(text).map(|reference| scope(&reference));
        scopes.iter().any(|one| Some(*one) == named || one.1 == *text)
    };
    allowed.iter().any(names)
}
