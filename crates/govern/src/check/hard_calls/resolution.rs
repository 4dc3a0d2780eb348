//! When a hard call counts as answered, and what goes on before.
//! Owns: the answers, the time in which a call holds its scope. Must not: judge an answer.

use super::holding::{Held, Holding, Of, Scope, outcome};
use crate::check::Found;
use crate::check::revision::Owners;
use crate::check::stood::Stood;
use crate::fold::family::ATTENTION;
use crate::fold::hard_call::unanswered;
use crate::member::Member;
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
    let call = receipt.id_at("hard_call_id").and_then(|id| receipt.world.find("HardRevisionCall", id));
    let is_known = call.is_some();
    let flaw = unanswered(receipt.json(), call.and_then(|call| call.json().at("options")))?;
    (is_known || flaw.0 != "selected_option_id").then_some(flaw)
}

/// Where the waiting of each call ends: the places of answers and of cancels that stop it.
fn ends(world: &World) -> BTreeMap<&str, BTreeSet<u64>> {
    let mut ends: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for receipt in world.of("HardCallResolutionReceipt").filter(|receipt| flaw(*receipt).is_none()) {
        if let Some(call) = receipt.json().id_at("hard_call_id") {
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

/// Items about a call that were closed, by what they say or by a receipt, while the call was open.
fn closed_items(world: &World, ends: &BTreeMap<&str, BTreeSet<u64>>, found: &mut Found<'_>) {
    let (pending, resolved) = ("hard_call_pending", "resolved");
    let mut items: BTreeMap<&str, Record<'_>> = BTreeMap::new();
    let mut closed: Vec<(Record<'_>, Record<'_>, &str)> = Vec::new();
    for item in world.of("AttentionLedgerItem").filter(|item| item.is("attention_kind", pending)) {
        items.entry(item.id()).or_insert(item);
        closed.extend(item.is("lifecycle_state", resolved).then_some((item, item, "lifecycle_state")));
    }
    if items.is_empty() {
        return;
    }
    // The fold does not let such a receipt count, and still it says that somebody takes the call for answered.
    let stood = Stood::of(world, &ATTENTION);
    for item in items.into_values() {
        closed.extend(stood.led(item, resolved).map(|receipt| (receipt, item, "to_state")));
    }
    let given_up = given_up(world);
    for (row, item, path) in closed {
        let call = item.follow("source_ref").filter(|call| call.kind() == "HardRevisionCall");
        let is_over = |places: Option<&BTreeSet<u64>>| {
            places.is_some_and(|places| places.range(..row.seq()).next().is_some())
        };
        let is_open = |call: &Record<'_>| !is_over(ends.get(call.id())) && !is_over(given_up.get(call.id()));
        if call.as_ref().is_some_and(is_open) {
            found.add(row, path, "the item is closed and its hard call has no answer");
        }
    }
}

/// Where the time of a call was over and its scope was given up, as its policy says: nobody is asked any more.
fn given_up(world: &World) -> BTreeMap<&str, BTreeSet<u64>> {
    let mut given_up: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for event in world.of("HardCallPendingEvent") {
        let is_end = event.is("cause", "timed_out") && event.is("action", "abort");
        if let Some(call) = event.json().id_at("hard_call_id").filter(|_| is_end) {
            given_up.entry(call).or_default().insert(event.seq());
        }
    }
    given_up
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

/// Looks at the rows in order, with the calls that hold each scope at that place.
fn resumed_scopes(world: &World, ends: &BTreeMap<&str, BTreeSet<u64>>, found: &mut Found<'_>) {
    let calls: Vec<Record<'_>> = world.of("HardRevisionCall").collect();
    if calls.is_empty() {
        return;
    }
    let warned = warned(world);
    let mut holding = Holding::of(calls.iter().copied());
    let mut going = Going::of(world);
    let mut rows: Vec<(Record<'_>, Goes)> = Vec::new();
    for row in world.of_any(&GOES_ON) {
        rows.extend(going.on_with(row, &mut holding).map(|goes| (row, goes)));
    }
    holding.complete();
    let mut turns: BTreeMap<u64, Vec<(u64, bool)>> = BTreeMap::new();
    for call in &calls {
        let from = call.seq();
        let after = |places: Option<&BTreeSet<u64>>| places?.range(from..).next().copied();
        let until = [after(ends.get(call.id())), after(warned.get(call.id()))].into_iter().flatten().min();
        turns.entry(from).or_default().push((from, true));
        if let Some(until) = until {
            turns.entry(until).or_default().push((from, false));
        }
    }
    let turns = turns.into_iter().flat_map(|(at, all)| all.into_iter().map(move |turn| (at, turn)));
    let mut turns = turns.peekable();
    for (row, goes) in &rows {
        while let Some((_, (call, is_begun))) = turns.next_if(|(at, _)| *at <= row.seq()) {
            holding.turn(call, is_begun);
        }
        let held = match goes {
            Goes::OnWithAnything => holding.held_at_all(),
            Goes::OnWith(list) => holding.held(*list),
        };
        match held {
            Held::By(call) => {
                found.add(*row, "", format!("goes on while the hard call of row {call} has no answer"));
            }
            Held::BySome => found.add(*row, "", "goes on while a hard call that holds it has no answer"),
            Held::No => {}
        }
    }
}

/// Where a call that nobody answered lets its scope go on with a warning, as its policy says.
fn warned(world: &World) -> BTreeMap<&str, BTreeSet<u64>> {
    let mut warned: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for event in world.of("HardCallPendingEvent") {
        let call = event.json().id_at("hard_call_id").and_then(|id| world.find("HardRevisionCall", id));
        let rule = match event.text("cause") {
            Some("timed_out") => "pending_policy.on_timeout",
            Some("deferred") => "pending_policy.on_defer",
            Some(_) | None => continue,
        };
        let goes_on = "continue_with_warning";
        let goes_on = |call: &Record<'_>| {
            let is_early = event.is("cause", "timed_out") && is_before_its_end(*call, event);
            event.is("action", goes_on) && call.is(rule, goes_on) && !is_early
        };
        if let Some(call) = call.filter(goes_on) {
            warned.entry(call.id()).or_default().insert(event.seq());
        }
    }
    warned
}

/// Whether a call had more time when something was written that says that it had none.
fn is_before_its_end(call: Record<'_>, event: Record<'_>) -> bool {
    let since = call.written_at().zip(event.written_at()).map(|(asked, over)| asked.millis_until(over));
    since.zip(call.json().count("pending_policy.timeout_ms")).is_some_and(|(since, time)| since < time)
}

/// Records by which work goes on.
const GOES_ON: [&str; 5] = [
    "RevisionOperationReceipt",
    ATTEMPT,
    "SideEffectLedgerEntry",
    "ModuleActivationEvent",
    "OutcomeStateTransitionEvent",
];
const ATTEMPT: &str = "ProcedureAttemptRecord";

/// What a row goes on with.
#[derive(Clone, Copy)]
enum Goes {
    /// It does not say with what.
    OnWithAnything,
    /// Where the list of it stands.
    OnWith(usize),
}

/// What rows go on with. A receipt is of the run of its plan, whether or not it says so.
struct Going<'w> {
    world: &'w World,
    owners: Owners<'w>,
    /// Where the list of a plan's receipts stands, by the plan, the step and the run: what a plan is about is gone through once.
    of_plans: BTreeMap<[Option<&'w str>; 3], usize>,
    about: BTreeMap<&'w str, Vec<Scope<'w>>>,
}

impl<'w> Going<'w> {
    fn of(world: &'w World) -> Self {
        Going { world, owners: Owners::of(world), of_plans: BTreeMap::new(), about: BTreeMap::new() }
    }

    /// Nothing if the row does not go on with anything.
    fn on_with(&mut self, row: Record<'w>, holding: &mut Holding<'w>) -> Option<Goes> {
        let json = row.json();
        if row.kind() == "RevisionOperationReceipt" {
            // A receipt that does not say what it is for is of a step that ran.
            let runs = json.is_one_of("operation_kind", &["dispatched", "step_started"])
                || json.is_blank("operation_kind");
            return runs.then(|| self.of_plan(row, holding)).flatten();
        }
        let named = |kind, path| json.id_at(path).map(|id| (kind, id, Of::Any));
        let of_run =
            |run: Option<&'w str>| json.id_at("outcome_id").into_iter().flat_map(move |id| outcome(id, run));
        let scopes: Vec<Scope<'w>> = match row.kind() {
            ATTEMPT => {
                let plan = json.reference("revision_plan_ref").filter(|one| one.kind == "revision_plan");
                let of_plan = || self.world.resolve(plan?)?.json().text("run_id");
                let run = json.text("run_id").or_else(of_plan);
                let own = [
                    run.map(|run| ("run", run, Of::Any)),
                    plan.map(|plan| ("revision_plan", plan.id, Of::Any)),
                ];
                of_run(run).chain(own.into_iter().flatten()).collect()
            }
            "SideEffectLedgerEntry" if json.is("state", "executed") => {
                let own = Some(("side_effect_ledger_entry", row.id(), Of::Any));
                let of_run = ["run", "side_effects_of_run"].map(|kind| named(kind, "run_id"));
                own.into_iter().chain(of_run.into_iter().flatten()).collect()
            }
            "ModuleActivationEvent" if json.is_one_of("state", &["started", "running"]) => {
                [named("module", "module_id"), named("run", "run_id")].into_iter().flatten().collect()
            }
            // An outcome that waits for a person goes on when it leaves that.
            "OutcomeStateTransitionEvent" if json.is("from_state", "needs_human_judgment") => {
                of_run(json.text("run_id")).collect()
            }
            _kind => Vec::new(),
        };
        match (scopes.is_empty(), row.kind() == ATTEMPT) {
            (true, false) => None,
            (true, true) => Some(Goes::OnWithAnything),
            (false, _) => Some(Goes::OnWith(holding.expect(scopes.into_iter()))),
        }
    }

    /// What a plan is about, gone through once.
    fn about(&mut self, plan: Record<'w>, holding: &mut Holding<'w>) -> Vec<Scope<'w>> {
        self.about.entry(plan.id()).or_insert_with(|| holding.gather(plan.id(), about(plan))).clone()
    }

    /// What a receipt of a plan goes on with.
    fn of_plan(&mut self, row: Record<'w>, holding: &mut Holding<'w>) -> Option<Goes> {
        let plan = self.owners.plan(row);
        let record = plan.and_then(|plan| self.world.find("RevisionPlan", plan));
        let run = row.json().text("run_id").or_else(|| record?.json().text("run_id"));
        let step = row.json().id_at("step_id").filter(|step| holding.names((STEP, step, Of::Any)));
        let key = [plan, step, run];
        if let Some(list) = self.of_plans.get(&key) {
            return Some(Goes::OnWith(*list));
        }
        let kinds = ["revision_plan", STEP, "run"];
        let own = kinds.into_iter().zip(key).filter_map(|(kind, id)| Some((kind, id?, Of::Any)));
        let about = record.map(|record| self.about(record, holding)).unwrap_or_default();
        let list = holding.expect(own.chain(about));
        self.of_plans.insert(key, list);
        Some(Goes::OnWith(list))
    }
}

const STEP: &str = "revision_plan_step_base";

/// The outcomes and artifacts that a plan is about.
fn about(plan: Record<'_>) -> Vec<Scope<'_>> {
    let json = plan.json();
    let run = json.text("run_id");
    let outcomes = json.ids_at("outcome_ids").into_iter().flat_map(|id| outcome(id, run));
    let targets = json.list("steps").iter().flat_map(|step| step.references("target_refs"));
    let artifacts = targets.filter(|one| one.kind == "artifact").map(|one| (one.kind, one.id, Of::Any));
    let all: BTreeSet<Scope<'_>> = outcomes.chain(artifacts).collect();
    all.into_iter().collect()
}
