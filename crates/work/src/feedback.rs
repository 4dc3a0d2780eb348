//! Feedback: what an evaluation hands to those who mend, and that they took it.
//! Owns: bundles, deliveries, receipts of use. Must not: mend anything.

use crate::desk::{Desk, Error, reference};
use crate::finding;
use crate::names::{REVISOR, references};
use crate::opening::emission_id;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::derive::keys::Delivery;
use countersign_govern::table::emission;
use countersign_govern::types::added::outcome::{
    Consumption, EvaluationFeedbackBundle, FeedbackConsumptionReceipt, FeedbackGovernance,
};
use countersign_govern::types::basic::{V10, V11};
use countersign_govern::types::feedback::{
    EvaluationResultEmissionRecord, FeedbackBranch, FeedbackBundleAbsentReason, FeedbackDeliveryRecord,
    FeedbackDispatchExpectation, FeedbackDispatchExpectationExpectedReceiptKind,
    FeedbackEmissionMatrixEntryProducerKind as Producer,
};
use countersign_govern::types::finding::FeedbackFindingView;
use countersign_govern::types::outcome::EvaluationVerdict;

/// Milliseconds within which whoever gets feedback must say what became of it.
const GRACE_MS: u64 = 600_000;

/// What a result sends out, by the matrix; gives the bundle, if there is one.
///
/// # Errors
/// Something can't be written.
pub fn emit(
    desk: &mut Desk,
    result: &str,
    producer: Producer,
    verdict: EvaluationVerdict,
) -> Result<Option<String>, Error> {
    let wants = emission::entry(producer, verdict).bundle.wants_bundle(verdict);
    let bundle = if wants { Some(bundle(desk, result)?) } else { None };
    let feedback_bundle_ref =
        bundle.as_deref().map(|id| reference("EvaluationFeedbackBundle", id)).transpose()?;
    let absent = match &bundle {
        Some(_) => None,
        None => Some(FeedbackBundleAbsentReason::NotEmittedByDesign),
    };
    let entry = emission_id(desk, producer.as_str(), verdict.as_str());
    desk.put(&EvaluationResultEmissionRecord {
        result_id: result.to_string(),
        envelope_ref: reference("EvaluationResultEnvelope", result)?,
        feedback_bundle_ref,
        feedback_bundle_absent_reason: absent,
        emission_matrix_entry_ref: reference("FeedbackEmissionMatrixEntry", &entry)?,
        created_at: desk.now(),
        schema_version: V10,
    })?;
    Ok(bundle)
}

fn bundle(desk: &mut Desk, result: &str) -> Result<String, Error> {
    let own: Vec<finding::Known> =
        finding::all(desk).into_iter().filter(|one| one.event.result_id == result).collect();
    for known in &own {
        let event = &known.event;
        let view = FeedbackFindingView {
            finding_id: event.finding_id.clone(),
            source_finding_event_ref: reference("EvaluationFindingEvent", &event.finding_event_id)?,
            current_finding_record_ref: reference("EvaluationFindingRecord", &event.finding_id)?,
            display_summary: event.finding_text.clone(),
            display_explanation: event.explanation.clone(),
            finding_kind: event.finding_kind,
            severity: event.severity,
            lifecycle_state: known.state,
            blocking_authority_satisfied: event.blocking_authority.satisfied,
            blocking_authority_basis: event.blocking_authority.basis.clone(),
            routed_action_refs: Vec::new(),
            schema_version: V11,
        };
        desk.open("FeedbackFindingView", &view)?;
    }
    let feedback_bundle_id = desk.id("bundle");
    let matter_id = Some(desk.matter().to_string());
    desk.put(&EvaluationFeedbackBundle {
        feedback_bundle_id: feedback_bundle_id.clone(),
        result_id: result.to_string(),
        run_id: desk.run().to_string(),
        finding_view_refs: references(
            "FeedbackFindingView",
            own.iter().map(|one| one.event.finding_id.as_str()),
        )?,
        repair_instruction_refs: Vec::new(),
        governance: FeedbackGovernance {
            matter_id,
            data_class: None,
            taint_class: None,
            privileged: None,
            policy_decision_refs: None,
            visibility_scope: None,
            redaction_required: None,
            schema_version: None,
        },
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    Ok(feedback_bundle_id)
}

/// Hands a bundle to whoever mends, once.
///
/// # Errors
/// Something can't be written.
pub fn deliver(desk: &mut Desk, result: &str, bundle: &str, branch: FeedbackBranch) -> Result<(), Error> {
    let run = desk.run().to_string();
    let delivery =
        Delivery { run_id: &run, result_id: result, branch: branch.as_str(), consumer_module_id: REVISOR };
    let key = String::from(delivery.key());
    let before: Vec<FeedbackDeliveryRecord> = desk.all().collect();
    if before.iter().any(|one| one.delivery_idempotency_key == key) {
        return Ok(());
    }
    let activation = before.len() as u64 + 1;
    desk.put(&FeedbackDeliveryRecord {
        delivery_id: desk.id("delivery"),
        feedback_bundle_id: bundle.to_string(),
        result_id: result.to_string(),
        branch,
        consumer_module_id: REVISOR.to_string(),
        consumer_activation_seq: activation,
        delivery_idempotency_key: key,
        payload_ref: reference("EvaluationFeedbackBundle", bundle)?,
        created_at: desk.now(),
        schema_version: V10,
        suppressed: Some(false),
    })?;
    desk.put(&FeedbackDispatchExpectation {
        expectation_id: desk.id("expected"),
        feedback_bundle_id: bundle.to_string(),
        consumer_module_id: REVISOR.to_string(),
        consumer_activation_seq: activation,
        expected_receipt_kind: FeedbackDispatchExpectationExpectedReceiptKind::FeedbackConsumptionReceipt,
        grace_period_ms: GRACE_MS,
        created_at: desk.now(),
        schema_version: V10,
    })?;
    Ok(())
}

/// The bundles that were delivered and of which nobody has said what became of them.
#[must_use]
pub fn owed(desk: &Desk) -> Vec<FeedbackDeliveryRecord> {
    let used: Vec<FeedbackConsumptionReceipt> = desk.all().collect();
    let is_used = |one: &FeedbackDeliveryRecord| {
        used.iter().any(|receipt| {
            receipt.feedback_bundle_id == one.feedback_bundle_id
                && receipt.consumer_activation_seq == one.consumer_activation_seq
        })
    };
    desk.all::<FeedbackDeliveryRecord>().filter(|one| !is_used(one)).collect()
}

/// Says what became of a bundle that was delivered.
///
/// # Errors
/// Something can't be written.
pub fn consume(
    desk: &mut Desk,
    delivery: &FeedbackDeliveryRecord,
    consumption: Consumption,
    reason: Option<&str>,
) -> Result<(), Error> {
    desk.put(&FeedbackConsumptionReceipt {
        receipt_id: desk.id("consumed"),
        feedback_bundle_id: delivery.feedback_bundle_id.clone(),
        consumer_module_id: delivery.consumer_module_id.clone(),
        consumer_activation_seq: delivery.consumer_activation_seq,
        consumption,
        reason: reason.map(ToString::to_string),
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    Ok(())
}
