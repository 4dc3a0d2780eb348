//! How a run begins: what all go by, what is asked for, what there is.
//! Owns: these scenes. Must not: evaluate anything.

use super::builder::{Builder, Run, hash_of};
use super::formula::registered;
use super::known::Outcome;
use super::making;
use super::workspace::{self, NewSource};
use countersign_govern::derive::text;
use countersign_govern::table::emission;
use countersign_govern::table::outcome::Verdict;
use serde_json::json;

/// What all runs go by: who owns which type, and the policies. Written once.
pub(super) fn contract(b: &mut Builder, _run: &mut Run) {
    if !b.is_first("contract") {
        return;
    }
    type_owners(b);
    b.share(
        "EvaluationChainResolutionPolicy",
        json!({"policy_id": "pattern-c", "chain_kind": "pattern_c_evaluator_then_judge",
            "qualitative_blockers_survive_numeric_pass": true, "judge_can_override_evaluator": false,
            "override_allowed_only_for_finding_states": [], "route_precedence": "blocking_qualitative_first",
            "disagreement_route": "human_review", "schema_version": "1.0"}),
    );
    b.register(&registered("claim_support_v1"));
    b.share(
        "ClaimSupportDerivationPolicy",
        json!({"policy_id": "claim-support", "required_for_supported": {"min_direct_supporting_anchors": 1,
            "require_verified_source": true, "allow_stale_source": false, "allow_contradicting_anchor": false},
            "partial_support_rule": "any_indirect_or_contextual_anchor",
            "contradiction_rule": "any_direct_contradiction_controls",
            "formula_ref": "formula_spec:claim_support_v1", "schema_version": "1.0"}),
    );
    b.share(
        "TaintAggregationPolicy",
        json!({"policy_id": "taint", "workspace_taint_rule": "max_taint",
            "any_privileged_record_marks_workspace_privileged": true,
            "matter_scope_rule": "max_scope_within_matter_only", "schema_version": "1.0"}),
    );
    routing(b);
    for producer in [emission::Producer::OutcomeEvaluator, emission::Producer::Judge] {
        for verdict in [Verdict::Passed, Verdict::Failed, Verdict::Indeterminate] {
            let row = emission::entry(producer, verdict);
            b.share_named(
                "FeedbackEmissionMatrixEntry",
                &matrix_id(producer.as_str(), verdict.as_str()),
                json!({"producer_kind": producer.as_str(), "verdict": verdict.as_str(),
                    "emits_envelope": row.emits_envelope, "emits_feedback_bundle": row.bundle.as_str()}),
            );
        }
    }
}

/// What a row of the emission matrix is called.
pub(super) fn matrix_id(producer: &str, verdict: &str) -> String {
    format!("{producer}-{verdict}")
}

fn type_owners(b: &mut Builder) {
    let schema = hash_of("the schema of a finding event");
    b.share(
        "TypeOwnerRegistryEntry",
        json!({"type_name": "EvaluationFindingEvent", "canonical_owner_doc": "DOC23_OER",
            "canonical_section_anchor": "findings", "status": "canonical",
            "imported_by_docs": ["DOC23_FEEDBACK_DELIVERY"], "schema_version": "1.0"}),
    );
    for (doc, how) in [("DOC23_OER", "canonical"), ("DOC23_FEEDBACK_DELIVERY", "imported")] {
        let id = b.id("declaration");
        let now = b.now();
        b.share(
            "TypeDeclaration",
            json!({"declaration_id": id, "type_name": "EvaluationFindingEvent", "declared_in_doc": doc,
                "declared_as": how, "schema_hash": schema, "created_at": now}),
        );
    }
    b.share(
        "TypeOwnerRegistryEntry",
        json!({"type_name": "EvaluationAffirmation", "canonical_owner_doc": "DOC23_OER",
            "canonical_section_anchor": "observations", "status": "retired", "imported_by_docs": [],
            "replacement_type_name": "PositiveEvaluationObservation", "schema_version": "1.0"}),
    );
}

fn routing(b: &mut Builder) {
    let order = [
        "on_blocked_by_policy",
        "on_unrecoverable",
        "on_repeated_failure",
        "on_upstream_failure",
        "on_needs_human_judgment",
        "on_needs_more_sources",
        "on_needs_source_verification",
        "on_needs_revision",
        "on_satisfied",
    ];
    let handlers: serde_json::Map<String, serde_json::Value> =
        order.iter().map(|branch| ((*branch).to_owned(), json!(["module:revisor"]))).collect();
    b.share(
        "FeedbackRoutingResolutionPolicy",
        json!({"policy_id": "routing", "branch_order": order, "branch_handlers": handlers,
            "fire_policy": "all_matching_with_idempotency", "duplicate_suppression_window_ms": 60_000,
            "schema_version": "1.0"}),
    );
}

/// What is asked for: the outcomes with their criteria, the first version of the artifact.
pub(super) fn task(b: &mut Builder, run: &mut Run) {
    run.known.policy_evaluation_id = b.id("policy-evaluation");
    let now = b.now();
    b.add(
        "PolicyEvaluation",
        json!({"policy_evaluation_id": run.known.policy_evaluation_id, "policy_id": "matter-access",
            "policy_version": "3", "decision": "allow", "user_alterable": false, "decided_at": now}),
    );
    snapshots(b, run);
    let count = b.random.index(1..3);
    for number in 0..count {
        outcome(b, run, number);
    }
    run.known.artifact_id = b.id("artifact");
    version(b, run);
}

fn snapshots(b: &mut Builder, run: &mut Run) {
    run.known.policy_snapshot_id = b.id("policy-snapshot");
    let now = b.now();
    let policies = ["evaluation_chain_resolution_policy:pattern-c"];
    b.add(
        "PolicySnapshot",
        json!({"snapshot_id": run.known.policy_snapshot_id, "policy_refs": policies, "created_at": now}),
    );
    run.known.capability_snapshot_id = b.id("capability-snapshot");
    let now = b.now();
    b.add(
        "CapabilitySnapshot",
        json!({"snapshot_id": run.known.capability_snapshot_id, "created_at": now,
            "capabilities": [{"capability_id": "evaluate", "version": "2.1.0", "healthy": true}]}),
    );
}

/// An outcome with its criteria and how they are scored. The second one depends on the first.
fn outcome(b: &mut Builder, run: &mut Run, number: usize) {
    let (id, config_id) = (b.id("outcome"), b.id("scoring"));
    let count = b.random.index(1..4);
    let mut criteria = Vec::new();
    for at in 0..count {
        let criterion_id = b.id("criterion");
        let words = ["states the term", "names both parties", "cites its sources"][at];
        let basis = ["deterministic_check", "anchored_rubric", "source_grounded"][at];
        b.add(
            "Criterion",
            json!({"criterion_id": criterion_id, "scoring_basis": basis, "weight": at + 1, "required": at == 0,
                "threshold": 0.5, "priority": "must_have", "config_id": config_id}),
        );
        criterion_text(b, &criterion_id, &format!("{words} ({criterion_id})"));
        criteria.push(criterion_id);
    }
    let refs: Vec<String> = criteria.iter().map(|id| format!("criterion:{id}")).collect();
    b.add(
        "OutcomeComplianceScoringConfig",
        json!({"config_id": config_id, "unanchored_llm_judgment_policy": "exclude",
            "default_weight_policy": "from_criterion_weight", "priority_weight_map": {"must_have": 1},
            "positive_observation_required": true, "criterion_refs": refs, "outcome_id": id}),
    );
    let depends_on: Vec<String> =
        run.known.outcomes.first().map(|first| first.id.clone()).filter(|_| number > 0).into_iter().collect();
    b.add(
        "OutcomeRecord",
        json!({"outcome_id": id, "run_id": run.run_id, "task_id": run.task_id,
            "depends_on_outcome_ids": depends_on, "state": "pending"}),
    );
    run.known.outcomes.push(Outcome { id, depends_on, state: "pending", criteria, config_id });
}

/// What a criterion asks for; sometimes somebody mends the wording, and somebody looks at that.
fn criterion_text(b: &mut Builder, criterion_id: &str, words: &str) {
    let first = String::from(text::hash(words));
    b.add(
        "CriterionIdentityFields",
        json!({"criterion_id": criterion_id, "criterion_text_hash": first, "criterion_semantics_version": "1",
            "schema_version": "1.0"}),
    );
    if !b.random.once_in(3) {
        return;
    }
    let (second, is_other) = (String::from(text::hash(&format!("{words} in full"))), b.random.once_in(2));
    let (review, now) = (b.id("semantic-review"), b.now());
    let conclusion = if is_other { "meaning_changed" } else { "wording_only" };
    b.add(
        "CriterionSemanticReviewReceipt",
        json!({"receipt_id": review, "criterion_id": criterion_id, "from_text_hash": first,
            "to_text_hash": second, "conclusion": conclusion, "reviewer_ref": "user:reviewer",
            "created_at": now}),
    );
    b.add(
        "CriterionIdentityFields",
        json!({"criterion_id": criterion_id, "criterion_text_hash": second,
            "criterion_semantics_version": if is_other { "2" } else { "1" },
            "semantic_review_receipt_ref": format!("criterion_semantic_review_receipt:{review}"),
            "schema_version": "1.0"}),
    );
}

/// A new version of the artifact, by a mechanical step, that becomes its head.
pub(super) fn version(b: &mut Builder, run: &mut Run) {
    candidate(b, run);
    accept(b, run);
}

/// A new version of the artifact, as a candidate.
pub(super) fn candidate(b: &mut Builder, run: &mut Run) {
    run.known.versions += 1;
    let id = format!("{}-v{}", run.known.artifact_id, run.known.versions);
    let (content, now) = (b.some_hash(), b.now());
    b.add(
        "ArtifactVersion",
        json!({"artifact_version_id": id, "artifact_stable_id": run.known.artifact_id, "task_id": run.task_id,
            "run_id": run.run_id, "content_hash": content, "safety_class": "mechanical", "created_at": now}),
    );
    making::version_goes(b, run, &format!("artifact_version:{id}"), None, "candidate");
    run.known.head_version_id = id;
}

/// The last version of the artifact becomes its head.
pub(super) fn accept(b: &mut Builder, run: &Run) {
    let version = format!("artifact_version:{}", run.known.head_version_id);
    making::version_goes(b, run, &version, Some("candidate"), "accepted_head");
}

/// What there is to work with: a workspace, and some sources in it.
pub(super) fn sources(b: &mut Builder, run: &mut Run) {
    run.known.workspace.id = b.id("workspace");
    run.known.workspace.head = hash_of(&json!({"workspace_id": run.known.workspace.id}));
    let count = b.random.index(2..5);
    for _ in 0..count {
        let kind = *b.random.pick(&NewSource::ALL);
        workspace::add_source(b, run, kind);
    }
}
