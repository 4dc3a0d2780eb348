//! Validation codes: chains.
//! Owns: the rules of this area. Must not: decide by names.

mod considered;
mod findings;
mod heard;
mod pattern_c;

use super::{Area, Found, Rule, Severity, within};
use crate::member::Member;
use crate::path::Path;
use crate::world::{Mark, World};
use alloc::collections::BTreeMap;
use countersign_record::json::{Json, Object};

pub(super) use findings::Findings;

pub(super) const AREA: Area = Area { name: "chains", rules: RULES, kinds: &[] };

const RULES: &[Rule] = &[
    Rule {
        code: "envelope_target_projection_drift",
        severity: Severity::Error,
        section: "A-02/A-03/A-04/A-25",
        fires: "An EvaluationResultEnvelope's migration fields target_artifact_ref, target_artifact_version_ref or target_scope_ref differ from the values derived from evaluated_target (or a feedback bundle's copy differs from its envelope).",
        legal: "evaluated_target is a non-artifact target (run/process) and all three migration fields are null.",
        why: "Old readers look at the copied target fields, new ones at evaluated_target. If the two differ, one verdict is told about two different things.",
        fix: "Derive the three target fields from evaluated_target: its refs for an artifact, null for anything else.",
        check: envelope_target_projection_drift,
    },
    Rule {
        code: "envelope_basis_missing",
        severity: Severity::Error,
        section: "A-02/A-03/A-04/A-25",
        fires: "An EvaluationResultEnvelope has no evaluation_basis, or an evaluation_basis with no basis ref at all, or the basis is present only in the feedback bundle.",
        legal: "evaluation_basis states a human-judgment basis with a human feedback ref and no workspace snapshot.",
        why: "A verdict that does not say what it was reached on can't be checked, repeated or relied on.",
        fix: "Give evaluation_basis at least one ref: a snapshot, a workspace snapshot, criteria or human feedback.",
        check: envelope_basis_missing,
    },
    Rule {
        code: "chain_id_name_drift",
        severity: Severity::Warning,
        section: "A-02/A-03/A-04/A-25",
        fires: "A record carries a chain identity under a name other than the canonical ones (chain_id on chain records/receipts/views, target_evaluation_chain_id on EvaluationResultEnvelope, evaluation_chain_ids on RelianceInputManifest), e.g. evaluation_chain_id, pattern_c_chain_id or chain_ref.",
        legal: "EvaluationResultEnvelope.target_evaluation_chain_id holding the value of EvaluationChainRegistryRecord.chain_id.",
        why: "A chain whose id stands under another name is not found by those who look for it, and its results count as stand-alone ones.",
        fix: "Use chain_id on chain records, receipts and views, target_evaluation_chain_id on envelopes, evaluation_chain_ids on reliance manifests.",
        check: chain_id_name_drift,
    },
    Rule {
        code: "pattern_c_chain_id_mismatch",
        severity: Severity::Error,
        section: "A-02/A-03/A-04/A-25",
        fires: "A result in received_result_ids of a pattern_c_evaluator_then_judge EvaluationChainRegistryRecord belongs to an envelope whose target_evaluation_chain_id is absent or differs from chain_id, whose run_id or evaluated target differs from the chain's, or an envelope names a chain_id that has no registry record.",
        legal: "A stand-alone evaluation (no Pattern C wiring) whose envelope omits target_evaluation_chain_id.",
        why: "A result of another chain, run or target would be weighed here as if it were about this work.",
        fix: "Let the envelope name this chain and its target, or take the result out of received_result_ids.",
        check: pattern_c::chain_id_mismatch,
    },
    Rule {
        code: "pattern_c_chain_without_resolution_receipt",
        severity: Severity::Error,
        section: "A-02/A-03/A-04/A-25",
        fires: "A pattern C EvaluationChainRegistryRecord is complete or timed_out and no EvaluationChainResolutionReceipt with its chain_id exists, or a FeedbackDeliveryRecord or terminal state consumed one of its results at a seq before that receipt, or a RevisionPlan for its run and outcome was made on nothing else.",
        legal: "A chain still open/partial before timeout_at, or superseded/invalidated before it completed.",
        why: "Between an evaluator and a judge it is the receipt that says what holds. Without it, or before it, each reader takes the result he likes.",
        fix: "Resolve the chain and append its EvaluationChainResolutionReceipt before anything uses one of its results.",
        check: pattern_c::chain_without_resolution_receipt,
    },
    Rule {
        code: "pattern_c_route_conflict_unresolved",
        severity: Severity::Error,
        section: "A-02/A-03/A-04/A-25",
        fires: "The verdicts and live authorised blockers of result_ids_considered (and of these with what the chain had received by then) yield a conflict_type other than none under the policy in policy_ref that the EvaluationChainResolutionReceipt does not state, or its resolved_verdict, resolved_route, qualitative_blockers_preserved or quantitative_pass_overridden_by_blocker differs from what that policy yields (e.g. pass_path beside a live blocking finding), one of result_ids_considered is no result of the chain that was there, or decisive_result_id is none of them that could decide so.",
        legal: "qualitative_fail_quantitative_pass recorded with qualitative_blockers_preserved, quantitative_pass_overridden_by_blocker = true and fail_path.",
        why: "Evaluator and judge disagree, or a blocker stands, and the receipt does not say so. Who signs would take the work for undisputed.",
        fix: "Resolve the chain again under its policy and record the conflict, the verdict and the route that it yields.",
        check: pattern_c::route_conflict_unresolved,
    },
    Rule {
        code: "pattern_c_snapshot_mismatch",
        severity: Severity::Error,
        section: "A-02/A-03/A-04/A-25",
        fires: "A received result of a pattern C chain that is neither superseded nor invalidated has an envelope evaluation_snapshot_ref different from the chain's (returned when the result arrives or is resolved); on audit, such a chain has no EvaluationChainResolutionReceipt with conflict_type snapshot_mismatch.",
        legal: "Evaluator and judge cite the same snapshot; on audit, a mismatch recorded as snapshot_mismatch with retry_path, or a chain already superseded by one on the new snapshot.",
        why: "Evaluator and judge did not look at the same thing, so their results say nothing about each other.",
        fix: "Record the resolution as snapshot_mismatch with retry_path, or supersede the chain by one on the new snapshot.",
        check: pattern_c::snapshot_mismatch,
    },
    Rule {
        code: "pattern_c_missing_expected_producer",
        severity: Severity::Error,
        section: "A-02/A-03/A-04/A-25 (A-14)",
        fires: "A pattern C chain is resolved as complete, or passes timeout_at in log time, while a participant with required = true (equivalently a kind in expected_producers) has no envelope in received_result_ids (returned at that moment); on audit, such a chain has status complete, or its receipt's conflict_type is not missing_expected_producer.",
        legal: "The absent participant is an observer with required = false, the chain is still partial before timeout_at, or (on audit) the timed-out chain's receipt says missing_expected_producer.",
        why: "Somebody who had to be heard was not. A chain that counts as complete without him claims a review that did not take place.",
        fix: "Wait for the result until timeout_at, then resolve the chain as missing_expected_producer.",
        check: pattern_c::missing_expected_producer,
    },
];

/// The target fields of an envelope, and the members of `evaluated_target` that they copy.
const TARGET: [(&str, &str); 3] = [
    ("target_artifact_ref", "evaluated_target.artifact_ref"),
    ("target_artifact_version_ref", "evaluated_target.artifact_version_ref"),
    ("target_scope_ref", "evaluated_target.scope_ref"),
];

/// What a target field of an envelope must be: nothing, unless an artifact was evaluated.
fn derived<'a>(envelope: &'a Json, source: &str) -> Option<&'a Json> {
    envelope.at(source).filter(|_| envelope.is("evaluated_target.target_kind", "artifact"))
}

fn envelope_target_projection_drift(world: &World, found: &mut Found<'_>) {
    let mut envelopes: BTreeMap<&str, &Json> = BTreeMap::new();
    for envelope in world.of("EvaluationResultEnvelope") {
        let json = envelope.json();
        envelopes.extend(json.text("result_id").map(|result| (result, json)));
        if json.text("evaluated_target.target_kind").is_none() {
            continue;
        }
        for (field, source) in TARGET {
            if json.at(field) != derived(json, source) {
                found.add(envelope, field, "is not what evaluated_target says");
            }
        }
    }
    for bundle in world.of("EvaluationFeedbackBundle") {
        let envelope = bundle.json().text("result_id").and_then(|result| envelopes.get(result));
        for (field, _) in TARGET {
            let copy = bundle.json().at(field);
            if copy.is_some() && envelope.is_some_and(|envelope| envelope.at(field) != copy) {
                found.add(bundle, field, "is not what the envelope says");
            }
        }
        let (path, own) = ("evaluated_target", bundle.json().at("evaluated_target"));
        if own.is_some() && envelope.is_some_and(|envelope| envelope.at(path) != own) {
            found.add(bundle, path, "is not what the envelope says");
        }
    }
}

fn envelope_basis_missing(world: &World, found: &mut Found<'_>) {
    let refs = ["snapshot_ref", "source_workspace_snapshot_refs", "human_feedback_refs", "criteria_refs"];
    for envelope in world.of("EvaluationResultEnvelope") {
        let basis = envelope.at("evaluation_basis");
        let has_ref = basis.is_some_and(|basis| refs.iter().any(|field| !basis.is_blank(field)));
        if !has_ref {
            found.add(envelope, "evaluation_basis", "does not say what the evaluation rests on");
        }
    }
}

fn chain_id_name_drift(world: &World, found: &mut Found<'_>) {
    let message = "the id of a chain stands under another name";
    for record in world.marked(Mark::Chain) {
        for (name, value) in record.json().as_object().into_iter().flat_map(Object::iter) {
            let path = Path::whole().name(name);
            if is_drifted(record.kind(), name) && *value != Json::Null {
                found.add(record, path, message);
                continue;
            }
            // A manifest that stands in another record is one all the same; of others inside nobody says what they are.
            let own = value.as_object().filter(|_| name == MANIFEST).into_iter().flat_map(Object::iter);
            for (name, _) in own.filter(|(_, value)| **value != Json::Null) {
                if is_drifted("RelianceInputManifest", name) && is_canonical(name) {
                    found.add(record, path.clone().name(name), message);
                }
            }
            let is_one = |name: &str, value: &Json| is_of_none(name) && *value != Json::Null;
            for (inside, _) in within::declared(value, is_one).into_iter().filter(|_| !within::is_open(name))
            {
                found.add(record, path.clone().join(inside), message);
            }
        }
    }
}

const MANIFEST: &str = "input_manifest";

/// Whether a name is one for the id of a chain, and not the one that this type has for it.
fn is_drifted(kind: &str, name: &str) -> bool {
    match name {
        "chain_id" => ["EvaluationResultEnvelope", "RelianceInputManifest"].contains(&kind),
        "target_evaluation_chain_id" => kind != "EvaluationResultEnvelope",
        "evaluation_chain_ids" => kind != "RelianceInputManifest",
        other => is_of_none(other),
    }
}

/// Whether some type has this name for the id of a chain.
fn is_canonical(name: &str) -> bool {
    ["chain_id", "target_evaluation_chain_id", "evaluation_chain_ids"].contains(&name)
}

/// Whether a name is one for the id of a chain that no type has for it.
fn is_of_none(name: &str) -> bool {
    !is_canonical(name) && Mark::of(name) == Some(Mark::Chain)
}

#[cfg(test)]
#[path = "chains_tests.rs"]
mod tests;
