//! Validation codes: replay.
//! Owns: the rules of this area. Must not: decide by names.

use super::{Area, Found, Rule, Severity};
use crate::kind::{Class, Kind};
use crate::member::Member;
use crate::world::{Record, World};
use alloc::collections::BTreeSet;

/// `ReplayStepResult {step_result_id, replay_request_id, source_step_ref, depends_on, replay_policy?, original_output_hash?,
/// replay_output_hash?}`: what became of one step of a replay.
const KINDS: &[Kind] = &[Kind::new("ReplayStepResult", Class::Receipt, Some("step_result_id"))];

/// Ways out that only ask; the others disclose.
const QUERIES: [&str; 5] =
    ["external_source_query", "connector_fetch", "api_call", "email_source_fetch", "browser_session_read"];

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
    let id = record.json().text("replay_request_id")?;
    record.world.find("TaskReplayRequest", id)
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
        let may_ask = request.flag("allow_external_queries") == Some(true)
            && request.is("replay_mode", "best_effort_rerun");
        if !(may_ask && effect.is_one_of(field, &QUERIES)) {
            found.add(effect, field, "it was carried out in a replay that must not do that");
        }
    }
}

fn deterministic_replay_with_nondeterministic_step(world: &World, found: &mut Found<'_>) {
    let mut covers: BTreeSet<&str> = BTreeSet::new();
    for step in world.of("ReplayStepResult") {
        let depends = step.is_one_of("depends_on", &["model", "tool", "web", "provider"]);
        if depends && !step.is("replay_policy", "deterministic") {
            covers.extend(step.json().text("replay_request_id"));
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
        recorded.extend(record.text("replay_request_id").zip(record.text("source_step_ref")));
    }
    for step in world.of("ReplayStepResult") {
        let Some(original) = step.text("original_output_hash") else { continue };
        let diverges = match step.text("replay_output_hash") {
            Some(replayed) => replayed != original,
            // An audit only puts together what was recorded: it runs no step.
            None => !request_of(step).is_some_and(|one| one.is("replay_mode", "audit_reconstruction")),
        };
        let place = step.text("replay_request_id").zip(step.text("source_step_ref"));
        if diverges && !place.is_some_and(|place| recorded.contains(&place)) {
            found.add(step, "replay_output_hash", "the step came out differently and nothing records that");
        }
    }
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
