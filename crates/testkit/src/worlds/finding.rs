//! Findings: how they are raised, how they stand, and what speaks for the work.
//! Owns: these rows. Must not: decide what a round comes to.

use super::builder::{Builder, Run};
use super::evaluation::Round;
use super::formula::{From, registered};
use super::known::{Finding, Source};
use countersign_govern::derive::text;
use serde_json::json;

/// The taint, the class and the privilege of some sources together.
pub(super) fn whole(sources: &[Source]) -> (&'static str, &'static str, bool) {
    let order = [
        "internal_corpus_trusted",
        "user_trusted_bounded",
        "external_authority_trusted",
        "external_untrusted",
    ];
    let classes = ["public", "internal", "privileged"];
    let worst = |all: &[&'static str], of: &dyn Fn(&Source) -> &'static str| {
        let place = |one| all.iter().position(|word| *word == of(one)).unwrap_or_default();
        sources.iter().max_by_key(|one| place(one)).map_or(all[0], of)
    };
    (
        worst(&order, &|one| one.taint),
        worst(&classes, &|one| one.data_class),
        sources.iter().any(|one| one.privileged),
    )
}

/// An evaluator finds something.
pub(super) fn raise(b: &mut Builder, run: &mut Run, round: &Round, result: &str, severity: &'static str) {
    let (finding_id, event_id) = (b.id("finding"), b.id("finding-event"));
    let basis = *b.random.pick(&["deterministic_check", "tool_verification", "source_reference"]);
    let inputs = json!({"checkable_basis_count": 1, "is_permitted": false});
    let result_ref = format!("evaluation_result_envelope:{result}");
    let from = From {
        inputs,
        input_refs: &[result_ref],
        output_ref: format!("evaluation_finding_event:{event_id}"),
    };
    b.derive(run, &registered("blocking_authority_v1"), from, Clone::clone);
    let state = if b.random.once_in(2) { "proposed" } else { "active" };
    event(b, run, round, (&finding_id, &event_id, result), (severity, state, basis));
    let workspace = format!("source_workspace_current_state:{}", run.known.workspace.id);
    let now = b.now();
    b.add(
        "DerivationEdge",
        json!({"output_ref": format!("evaluation_finding_event:{event_id}"), "input_refs": [workspace],
            "created_at": now}),
    );
    let result_id = result.to_owned();
    run.known.findings.push(Finding {
        id: finding_id,
        event_id,
        result_id,
        severity,
        state,
        moves: Vec::new(),
    });
    let at = run.known.findings.len() - 1;
    fold(b, run, at);
    if state == "proposed" {
        shift(b, run, at, ("active", "router_admitted", "engine:router"), &[]);
    }
}

fn event(
    b: &mut Builder,
    run: &Run,
    round: &Round,
    (finding_id, event_id, result): (&str, &str, &str),
    (severity, state, basis): (&str, &str, &str),
) {
    b.later(5);
    let words = *b.random.pick(&["The term is wrong.", "A party is not named.", "A page is not cited."]);
    let criterion = &run.known.outcomes[round.outcome].criteria[0];
    let (taint, data_class, privileged) = whole(&run.known.workspace.sources);
    let evidence = vec![format!("source_workspace_operation_receipt:{}", round.read_receipt_id)];
    let version = format!("artifact_version:{}", run.known.head_version_id);
    let claims: Vec<&String> = run.known.claims.first().map(|one| &one.claim_ref).into_iter().collect();
    let (hash, summary, signature) = (String::from(text::hash(words)), b.some_hash(), b.some_hash());
    let (now, confidence) = (b.now(), 0.5 + 0.1 * b.random.index(0..5) as f64);
    b.add(
        "EvaluationFindingEvent",
        json!({"finding_event_id": event_id, "finding_id": finding_id, "result_id": result,
            "producer_kind": "outcome_evaluator", "producer_module_id": "module-evaluator",
            "producer_activation_seq": run.known.findings.len() + 1, "finding_kind": "defect",
            "finding_text": words, "explanation": "The source says otherwise.", "severity": severity,
            "emitted_state": state, "assurance_basis": [basis],
            "blocking_authority": {"satisfied": true, "basis": [basis],
                "subjective_blocking_permission": "not_allowed",
                "evaluated_policy_ref": format!("policy_evaluation:{}", run.known.policy_evaluation_id),
                "explanation": "it can be checked", "schema_version": "1.0"},
            "confidence_score": confidence, "confidence_basis": ["tool_result"],
            "confidence_explanation": "looked up", "target_artifact_ref": format!("artifact:{}", run.known.artifact_id),
            "target_artifact_version_ref": version, "target_criterion_id": criterion,
            "affected_claim_refs": claims, "evidence_refs": evidence, "verification_record_refs": [],
            "supporting_material_snapshot_refs": [], "based_on_artifact_version_ref": version,
            "based_on_source_workspace_snapshot_ref": evidence[0],
            "evaluation_snapshot_ref": format!("evaluation_snapshot:{}", round.snapshot_id),
            "match_key": {"failure_kind": "criterion_unmet", "artifact_stable_id": run.known.artifact_id,
                "target_scope_ref": null, "criterion_id": criterion, "finding_summary_hash": summary,
                "normalized_finding_text_hash": hash, "evidence_signature_hash": signature,
                "source_workspace_snapshot_hash": run.known.workspace.head, "schema_version": "1.0"},
            "taint_class": taint, "data_class": data_class, "matter_id": run.matter_id,
            "privileged": privileged,
            "policy_decision_refs": [format!("policy_evaluation:{}", run.known.policy_evaluation_id)],
            "created_at": now, "schema_version": "2.0"}),
    );
}

/// The row of a finding as it stands now.
fn fold(b: &mut Builder, run: &Run, at: usize) {
    let (finding, now) = (&run.known.findings[at], b.now());
    let moves: Vec<String> =
        finding.moves.iter().map(|id| format!("finding_lifecycle_transition_receipt:{id}")).collect();
    b.add(
        "EvaluationFindingRecord",
        json!({"finding_id": finding.id,
            "canonical_event_ref": format!("evaluation_finding_event:{}", finding.event_id),
            "current_state": finding.state, "current_severity": finding.severity,
            "lifecycle_transition_refs": moves,
            "last_validated_against_artifact_version_ref":
                format!("artifact_version:{}", run.known.head_version_id),
            "updated_at": now, "schema_version": "1.0"}),
    );
}

/// A finding moves on.
fn shift(
    b: &mut Builder,
    run: &mut Run,
    at: usize,
    (to, reason, actor): (&'static str, &str, &str),
    evidence: &[String],
) {
    let (id, now) = (b.id("finding-receipt"), b.now());
    let finding = &mut run.known.findings[at];
    b.add(
        "FindingLifecycleTransitionReceipt",
        json!({"receipt_id": id, "finding_id": finding.id, "from_state": finding.state, "to_state": to,
            "transition_reason": reason, "actor_ref": actor, "evidence_refs": evidence, "created_at": now,
            "schema_version": "1.0"}),
    );
    finding.state = to;
    finding.moves.push(id);
    fold(b, run, at);
}

/// A person disputes a finding, and stands by that or not.
pub(super) fn dispute(b: &mut Builder, run: &mut Run) {
    let Some(at) = run.known.findings.iter().position(|one| one.state == "active") else { return };
    let (request, now) = (b.id("contestation"), b.now());
    let event = format!("evaluation_finding_event:{}", run.known.findings[at].event_id);
    b.add(
        "ContestationRequest",
        json!({"request_id": request, "subject_ref": event, "user_ref": "user:lead",
            "grounds": "The clause was read wrongly.", "evidence_refs": [], "created_at": now}),
    );
    let grounds = [format!("contestation_request:{request}")];
    shift(b, run, at, ("contested", "user_contested", "user:lead"), &grounds);
    match b.random.index(0..3) {
        0 => shift(b, run, at, ("active", "user_confirmed", "user:lead"), &[]),
        1 => shift(b, run, at, ("human_verified", "user_confirmed", "user:reviewer"), &[event]),
        _rest => shift(b, run, at, ("rejected_by_user", "rejected_by_user", "user:lead"), &grounds),
    }
}

/// A later round does not find it any more.
pub(super) fn mended(b: &mut Builder, run: &mut Run, result: &str) {
    let evidence = [format!("evaluation_result_envelope:{result}")];
    for at in 0..run.known.findings.len() {
        let state = run.known.findings[at].state;
        if ["active", "human_verified"].contains(&state) {
            shift(b, run, at, ("resolved", "revision_resolved", "engine:router"), &evidence);
        } else if state == "contested" {
            let to = ("superseded_by_revision", "target_version_changed", "engine:router");
            shift(b, run, at, to, &evidence);
        }
    }
}

/// What speaks for a result.
pub(super) fn observe(b: &mut Builder, run: &Run, round: &Round, result: &str) {
    let (id, now) = (b.id("observation"), b.now());
    let outcome = &run.known.outcomes[round.outcome];
    b.add(
        "PositiveEvaluationObservation",
        json!({"observation_id": id, "result_id": result, "outcome_id": outcome.id,
            "observed_passed_criterion_ids": outcome.criteria, "positive_summary": "Everything is there.",
            "evidence_refs": [format!("evaluation_snapshot:{}", round.snapshot_id)], "created_at": now,
            "schema_version": "1.0"}),
    );
}
