//! Validation codes: replay.
//! Owns: the rules of this area. Must not: decide by names.

use super::{Area, Found, Rule, Severity};
use crate::decide::replay;
use crate::kind::{Class, Kind};
use crate::member::Member;
use crate::types::added::learned::StepDependence;
use crate::types::basic::ReplayPolicy;
use crate::types::externalization::WorkspaceExternalizationKind;
use crate::types::replay::TaskReplayMode as Mode;
use crate::world::{Record, World};
use alloc::collections::BTreeSet;

/// `ReplayStepResult {step_result_id, replay_request_id, source_step_ref, depends_on, replay_policy?, original_output_hash?,
/// replay_output_hash?}`: what became of one step of a replay.
const KINDS: &[Kind] = &[Kind::new("ReplayStepResult", Class::Receipt, Some("step_result_id"))];

pub(super) const AREA: Area = Area { name: "replay", rules: RULES, kinds: KINDS };

const RULES: &[Rule] = &[
    Rule {
        code: "replay_attempts_external_side_effect",
        severity: Severity::Error,
        section: "G-19",
        fires: "A side effect or a completed externalization that names the replay_request_id of a TaskReplayRequest is of a disclosing kind, or of a query kind while allow_external_queries is false or the mode is not best_effort_rerun, or the request sets allow_external_side_effects to anything but false.",
        legal: "A best_effort_rerun with allow_external_queries = true that performs a receipted read-only query.",
        why: "A replay is there to look at what happened. If it sends, saves or asks outside, looking changes the world a second time.",
        fix: "Set allow_external_side_effects to false; allow queries only in a best_effort_rerun, with receipts.",
        check: replay_attempts_external_side_effect,
    },
    Rule {
        code: "deterministic_replay_with_nondeterministic_step",
        severity: Severity::Error,
        section: "G-19",
        fires: "A TaskReplayRequest with replay_mode deterministic_reexecution covers a step that depends on a model, tool, web or provider (no deterministic ReplayPolicy) or sets model_reexecution_policy other than reuse_recorded_outputs.",
        legal: "audit_reconstruction or simulation_from_recorded_outputs over the same steps.",
        why: "A model or a website does not answer the same twice. To call such a replay deterministic promises a proof that it can't give.",
        fix: "Use simulation_from_recorded_outputs or audit_reconstruction, or reuse the recorded outputs of these steps under a deterministic policy.",
        check: deterministic_replay_with_nondeterministic_step,
    },
    Rule {
        code: "replay_divergence_unrecorded",
        severity: Severity::Error,
        section: "G-19",
        fires: "A replayed step's output hash differs from the recorded one (or it could not be replayed) and no ReplayDivergenceRecord with that replay_request_id and source_step_ref exists.",
        legal: "Identical hashes, or a difference with its divergence record.",
        why: "A replay that came out differently and does not say so would be taken as confirmation.",
        fix: "Record a ReplayDivergenceRecord for the step, with both hashes and the reason.",
        check: replay_divergence_unrecorded,
    },
];

/// The replay that a row says it is part of.
fn request_of<'w>(record: Record<'w>) -> Option<Record<'w>> {
    let id = record.json().id_at("replay_request_id")?;
    record.world.find("TaskReplayRequest", id)
}

fn mode_of(request: Record<'_>) -> Option<Mode> {
    request.text("replay_mode").and_then(Mode::find)
}

fn replay_attempts_external_side_effect(world: &World, found: &mut Found<'_>) {
    for request in world.of("TaskReplayRequest") {
        if request.flag("allow_external_side_effects") != Some(false) {
            let message = "a replay that may act outside is no replay";
            found.add(request, "allow_external_side_effects", message);
        }
    }
    let left = world.of("WorkspaceExternalizationReceipt").filter(|one| one.is("status", "completed"));
    let left = left.map(|one| (one, "externalization_kind"));
    let done = world.of("SideEffectLedgerEntry").filter(|one| one.is("state", "executed"));
    for (effect, field) in left.chain(done.map(|one| (one, "kind"))) {
        let Some(request) = request_of(effect) else { continue };
        let allows_queries = request.flag("allow_external_queries") == Some(true);
        let kind = effect.text(field).and_then(WorkspaceExternalizationKind::find);
        if !replay::may_leave(mode_of(request), allows_queries, kind) {
            found.add(effect, field, "it was carried out in a replay that must not do that");
        }
    }
}

fn deterministic_replay_with_nondeterministic_step(world: &World, found: &mut Found<'_>) {
    let mut covers: BTreeSet<&str> = BTreeSet::new();
    for step in world.of("ReplayStepResult") {
        let depends_on = step.text("depends_on").and_then(StepDependence::find);
        let policy = step.text("replay_policy").and_then(ReplayPolicy::find);
        if !replay::is_deterministic(depends_on, policy) {
            covers.extend(step.json().id_at("replay_request_id"));
        }
    }
    for request in
        world.of("TaskReplayRequest").filter(|one| one.is("replay_mode", "deterministic_reexecution"))
    {
        if covers.contains(request.id()) {
            let message =
                "a step depends on a model, a tool, the web or a provider, and none answers the same twice";
            found.add(request, "replay_mode", message);
        }
        if request.text("model_reexecution_policy").is_some_and(|policy| policy != "reuse_recorded_outputs") {
            let message = "a model that runs again does not answer the same twice";
            found.add(request, "model_reexecution_policy", message);
        }
    }
}

fn replay_divergence_unrecorded(world: &World, found: &mut Found<'_>) {
    let mut recorded: BTreeSet<(&str, &str)> = BTreeSet::new();
    for record in world.of("ReplayDivergenceRecord") {
        let record = record.json();
        recorded.extend(record.id_at("replay_request_id").zip(record.text("source_step_ref")));
    }
    for step in world.of("ReplayStepResult") {
        let (original, replayed) = (step.text("original_output_hash"), step.text("replay_output_hash"));
        let diverges = replay::diverges(request_of(step).and_then(mode_of), original, replayed);
        let place = step.id_at("replay_request_id").zip(step.text("source_step_ref"));
        if diverges && !place.is_some_and(|place| recorded.contains(&place)) {
            found.add(step, "replay_output_hash", "the step came out differently and nothing records that");
        }
    }
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
