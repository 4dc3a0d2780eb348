//! Feedback: what is handed to those who mend, and what they do with it.
//! Owns: these rows. Must not: find anything.

use super::builder::{Builder, Run};
use super::opening::matrix_id;
use countersign_govern::derive::keys::Delivery;
use countersign_govern::table::emission::{self, Producer};
use countersign_govern::table::outcome::Verdict;
use serde_json::json;

/// What a result sends out, by the matrix; what is wanted by somebody goes to him.
pub(super) fn emit(
    b: &mut Builder,
    run: &mut Run,
    result: &str,
    (producer, verdict): (&str, &str),
    route: &str,
) {
    let (of, said) = (Producer::find(producer), Verdict::find(verdict));
    let (of, said) = (of.expect("a producer"), said.expect("a verdict"));
    let is_wanted = emission::entry(of, said).bundle.wants_bundle(said);
    let bundle = is_wanted.then(|| bundle(b, run, result));
    let now = b.now();
    let mut record = json!({"result_id": result, "envelope_ref": format!("evaluation_result_envelope:{result}"),
        "emission_matrix_entry_ref":
            format!("feedback_emission_matrix_entry:{}", matrix_id(producer, verdict)),
        "created_at": now, "schema_version": "1.0"});
    match &bundle {
        Some(bundle) => {
            record["feedback_bundle_ref"] = json!(format!("evaluation_feedback_bundle:{bundle}"));
        }
        None => record["feedback_bundle_absent_reason"] = json!("not_emitted_by_design"),
    }
    b.add("EvaluationResultEmissionRecord", record);
    if let Some(bundle) = bundle.filter(|_| route == "fail_path") {
        deliver(b, run, result, &bundle);
    }
}

fn bundle(b: &mut Builder, run: &Run, result: &str) -> String {
    let own: Vec<_> = run.known.findings.iter().filter(|one| one.result_id == result).cloned().collect();
    let mut views = Vec::new();
    for finding in &own {
        let basis = basis_of(b, &finding.event_id);
        b.add(
            "FeedbackFindingView",
            json!({"finding_id": finding.id,
                "source_finding_event_ref": format!("evaluation_finding_event:{}", finding.event_id),
                "current_finding_record_ref": format!("evaluation_finding_record:{}", finding.id),
                "display_summary": "Something is wrong.", "display_explanation": "See the finding.",
                "finding_kind": "defect", "severity": finding.severity, "lifecycle_state": finding.state,
                "blocking_authority_satisfied": true, "blocking_authority_basis": basis,
                "routed_action_refs": [], "schema_version": "1.1"}),
        );
        views.push(format!("feedback_finding_view:{}", finding.id));
    }
    let (id, now) = (b.id("bundle"), b.now());
    b.add(
        "EvaluationFeedbackBundle",
        json!({"feedback_bundle_id": id, "result_id": result, "run_id": run.run_id,
            "finding_view_refs": views, "repair_instruction_refs": [],
            "governance": {"matter_id": run.matter_id}, "created_at": now}),
    );
    id
}

/// On what a finding may block, as its event says.
fn basis_of(b: &Builder, event_id: &str) -> serde_json::Value {
    let is_own = |row: &super::Written| {
        let own = row.draft.record.get("finding_event_id").and_then(|own| own.as_str());
        row.draft.kind == "EvaluationFindingEvent" && own == Some(event_id)
    };
    let (_, row) = b.own().rfind(|(_, row)| is_own(row)).expect("the event of a finding");
    let authority = row.draft.record.get("blocking_authority").expect("its authority");
    super::formula::plain(authority.get("basis").expect("its basis"))
}

fn deliver(b: &mut Builder, run: &mut Run, result: &str, bundle: &str) {
    let (branch, consumer) = ("on_needs_revision", "revisor");
    let delivery = Delivery { run_id: &run.run_id, result_id: result, branch, consumer_module_id: consumer };
    let key = String::from(delivery.key());
    run.known.activations += 1;
    let seq = run.known.activations;
    let is_repeated = b.random.once_in(3);
    for suppressed in if is_repeated { vec![false, true] } else { vec![false] } {
        let (id, now) = (b.id("delivery"), b.now());
        b.add(
            "FeedbackDeliveryRecord",
            json!({"delivery_id": id, "feedback_bundle_id": bundle, "result_id": result, "branch": branch,
                "consumer_module_id": consumer, "consumer_activation_seq": seq,
                "delivery_idempotency_key": key,
                "payload_ref": format!("evaluation_feedback_bundle:{bundle}"), "created_at": now,
                "schema_version": "1.0", "suppressed": suppressed}),
        );
    }
    let (id, now) = (b.id("expectation"), b.now());
    b.add(
        "FeedbackDispatchExpectation",
        json!({"expectation_id": id, "feedback_bundle_id": bundle, "consumer_module_id": consumer,
            "consumer_activation_seq": seq, "expected_receipt_kind": "FeedbackConsumptionReceipt",
            "grace_period_ms": 600_000, "created_at": now, "schema_version": "1.0"}),
    );
    let consumption = *b.random.pick(&["used", "partly_used", "not_used", "rejected"]);
    let (id, now) = (b.id("consumption"), b.now());
    let mut record = json!({"receipt_id": id, "feedback_bundle_id": bundle, "consumer_module_id": consumer,
        "consumer_activation_seq": seq, "consumption": consumption, "created_at": now});
    if consumption != "used" {
        record["reason"] = json!("a part of it was mended before");
    }
    b.add("FeedbackConsumptionReceipt", record);
}
