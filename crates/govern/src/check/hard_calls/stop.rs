//! What is cancelled or skipped, and what can't be undone.
//! Owns: what a cancel reaches, what stands for a skip. Must not: decide whether to stop.

use super::id_of;
use crate::check::Found;
use crate::member::Member;
use crate::path::Path;
use crate::reference::{Reference, bare};
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use countersign_record::json::Json;

pub(super) fn cancel_ignores_executed_side_effect(world: &World, found: &mut Found<'_>) {
    let executed: Vec<Record<'_>> =
        world.of("SideEffectLedgerEntry").filter(|effect| effect.is("state", "executed")).collect();
    let mut first: BTreeMap<&str, u64> = BTreeMap::new();
    let mut of_run: BTreeMap<&str, Vec<Record<'_>>> = BTreeMap::new();
    let mut reached: BTreeMap<Target<'_>, Vec<Record<'_>>> = BTreeMap::new();
    for effect in executed {
        first.entry(effect.id()).or_insert(effect.seq());
        if let Some(run) = effect.json().text("run_id") {
            of_run.entry(run).or_default().push(effect);
        }
        for (kind, id) in targets(effect) {
            reached.entry((kind, id)).or_default().push(effect);
            reached.entry((ANY, id)).or_default().push(effect);
        }
    }
    for receipt in world.of("TaskCancelReceipt") {
        claims(receipt, &first, found);
        let request = receipt.json().id_at("cancel_request_id");
        let Some(request) = request.and_then(|id| world.find("TaskCancelProtocol", id)) else { continue };
        let listed = listed(receipt);
        // The first that is left out is told: what a receipt lists bounds the search.
        let missing = |effects: &Vec<Record<'_>>| {
            let mut before = effects.iter().take_while(|effect| effect.seq() < receipt.seq());
            before.find(|effect| !listed.contains(effect.id())).map(|effect| effect.seq())
        };
        let json = request.json();
        let run = json.text("run_id").filter(|_| json.is("cancel_scope", "entire_run"));
        let targets = json.texts("target_refs").into_iter();
        let aimed = targets.filter_map(|target| {
            let named = Reference::read(target).and_then(|named| reached.get(&(named.kind, named.id)));
            named.or_else(|| reached.get(&(ANY, target)))
        });
        let all = run.and_then(|run| of_run.get(run)).into_iter().chain(aimed);
        if let Some(row) = all.filter_map(missing).min() {
            let message = format!("leaves out the side effect of row {row}, which was executed before");
            found.add(receipt, "executed_side_effects", message);
        }
    }
}

/// What a cancel may aim at: the kind and the id.
type Target<'w> = (&'w str, &'w str);

/// Stands for the kind of what is named by its id alone.
const ANY: &str = "";

/// What a side effect belongs to, besides its run: itself, and what its receipt is of.
fn targets(effect: Record<'_>) -> Vec<Target<'_>> {
    let mut targets: Vec<Target<'_>> = Vec::from([("side_effect_ledger_entry", effect.id())]);
    if let Some(receipt) = effect.follow("receipt_ref") {
        let json = receipt.json();
        let parts = [
            ("revision_plan", "plan_id"),
            ("revision_plan_step_base", "step_id"),
            ("module", "module_id"),
            ("module_activation_event", "activation_id"),
            ("segment", "segment_id"),
        ];
        targets.extend(parts.into_iter().filter_map(|(kind, path)| json.id_at(path).map(|id| (kind, id))));
    }
    targets
}

/// The executed side effects that a receipt says stay.
fn listed(receipt: Record<'_>) -> BTreeSet<&str> {
    let effects = receipt.json().list("executed_side_effects").iter();
    effects
        .filter_map(|effect| effect.text("ref").map(|text| id_of("side_effect_ledger_entry", text)))
        .collect()
}

/// What a receipt says is undone, though it was executed.
fn claims(receipt: Record<'_>, executed: &BTreeMap<&str, u64>, found: &mut Found<'_>) {
    let is_undone = |effect: &Json| match effect.text("disposition") {
        Some("left") | None => false,
        Some("corrective_artifact" | "corrective_artifact_ref") => effect.is_blank("corrective_artifact_ref"),
        // The artifact itself may stand where the word does.
        Some(other) => {
            !Reference::read(other).is_some_and(|to| matches!(to.kind, "artifact" | "artifact_version"))
        }
    };
    let effects = receipt.list("executed_side_effects").iter().enumerate();
    for (at, _) in effects.filter(|(_, effect)| is_undone(effect)) {
        let path = Path::from("executed_side_effects").item(at);
        found.add(receipt, path, "was executed and is not left, and no corrective artifact is named");
    }
    for (at, intent) in receipt.list("cancelled_intent_refs").iter().enumerate() {
        let intent = intent.as_str().map(bare);
        if intent.and_then(|intent| executed.get(intent)).is_some_and(|at| *at < receipt.seq()) {
            let path = Path::from("cancelled_intent_refs").item(at);
            found.add(receipt, path, "was executed before; only an intent can be cancelled");
        }
    }
}

pub(super) fn skip_without_receipt(world: &World, found: &mut Found<'_>) {
    let mut receipts: BTreeMap<Target<'_>, u64> = BTreeMap::new();
    for receipt in world.of("TaskSkipReceipt") {
        if let Some(target) = receipt.json().text("target_ref") {
            let named = Reference::read(target).map(|target| (target.kind, target.id));
            for target in named.into_iter().chain([(ANY, target)]) {
                receipts.entry(target).or_insert(receipt.seq());
            }
        }
    }
    let stopped = stopped(world);
    let is_told = |skipped: &Skipped<'_>, seq: u64| {
        let mut kinds = skipped.kinds.iter().copied().chain([ANY]);
        kinds.any(|kind| receipts.get(&(kind, skipped.id)).is_some_and(|at| *at <= seq))
    };
    let is_stopped = |skipped: &Skipped<'_>, seq: u64| {
        let own = skipped.kinds.iter().map(|kind| (*kind, skipped.id));
        let mut all = own.chain(skipped.parents.iter().flatten().copied());
        all.any(|(kind, id)| {
            [(kind, id), (ANY, id)].iter().any(|target| stopped.get(target).is_some_and(|at| *at <= seq))
        })
    };
    for row in SKIPPABLE.iter().flat_map(|kind| world.of(kind)) {
        let Some(skipped) = skipped(row) else { continue };
        if !is_told(&skipped, row.seq()) && !is_stopped(&skipped, row.seq()) {
            found.add(row, skipped.path, "is recorded as skipped and no skip receipt stands before");
        }
    }
}

/// Records of something that may have been skipped.
const SKIPPABLE: [&str; 3] =
    ["RevisionOperationReceipt", "ModuleActivationEvent", "OutcomeStateTransitionEvent"];

/// Something that was skipped.
struct Skipped<'w> {
    /// The kinds that a reference to it may have.
    kinds: &'static [&'static str],
    id: &'w str,
    /// What it is a part of: if that was cancelled, it was never due.
    parents: [Option<Target<'w>>; 2],
    path: &'static str,
}

fn skipped(row: Record<'_>) -> Option<Skipped<'_>> {
    let json = row.json();
    let run = json.text("run_id").map(|run| ("run", run));
    match row.kind() {
        "RevisionOperationReceipt" if json.is("operation_kind", "step_skipped") => Some(Skipped {
            kinds: &["revision_plan_step_base", "revision_plan_step", "step"],
            id: json.text("step_id")?,
            parents: [json.id_at("plan_id").map(|plan| ("revision_plan", plan)), run],
            path: "operation_kind",
        }),
        "ModuleActivationEvent" if json.is("state", "skipped") => Some(Skipped {
            kinds: &["module_activation_event", "activation"],
            id: json.text("activation_id")?,
            parents: [json.text("module_id").map(|module| ("module", module)), run],
            path: "state",
        }),
        "OutcomeStateTransitionEvent" if json.is("cause", "skipped") => Some(Skipped {
            kinds: &["outcome_record", "outcome"],
            id: json.id_at("outcome_id")?,
            parents: [None, run],
            path: "cause",
        }),
        _kind => None,
    }
}

/// What was cancelled, and where first: what receipts say was stopped, and the whole of a run.
fn stopped(world: &World) -> BTreeMap<Target<'_>, u64> {
    let mut stopped = BTreeMap::new();
    for receipt in world.of("TaskCancelReceipt") {
        for target in receipt.json().texts("stopped_refs") {
            let named = Reference::read(target).map_or((ANY, target), |named| (named.kind, named.id));
            stopped.entry(named).or_insert(receipt.seq());
        }
        let request = receipt.json().id_at("cancel_request_id");
        let request = request.and_then(|id| world.find("TaskCancelProtocol", id));
        if let Some(request) = request.filter(|request| request.is("cancel_scope", "entire_run"))
            && let Some(run) = request.json().text("run_id")
        {
            stopped.entry(("run", run)).or_insert(receipt.seq());
        }
    }
    stopped
}
