//! What evaluations hand on: bundles of findings, deliveries, what is expected of who gets them.
//! Owns: what these records must be. Must not: judge what becomes of them.

use crate::finding::last_events;
use crate::found::{Found, texts};
use crate::report::Check;
use crate::walk::Walk;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::derive::keys::Delivery;
use countersign_govern::member::Member;
use countersign_govern::table::emission::{Producer, entry};
use countersign_govern::table::outcome::{self, Verdict};
use countersign_govern::types::wire::Wire;
use countersign_govern::world::Record;
use countersign_record::json::{Json, Object};

const CHECK: Check = Check::Feedback;
/// Who mends.
const REVISOR: &str = "revisor";
/// Milliseconds within which whoever gets feedback must say what became of it.
const GRACE_MS: u64 = 600_000;

/// A record that hands on what an evaluation found.
pub(crate) fn check<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    match record.kind() {
        "EvaluationResultEmissionRecord" => emission(walk, record, found),
        "FeedbackFindingView" => view(walk, record, found),
        "EvaluationFeedbackBundle" => bundle(walk, record, found),
        "FeedbackDeliveryRecord" => delivery(walk, record, found),
        _expectation => expectation(walk, record, found),
    }
}

/// The result that is handed on: of the last look.
fn result<'c>(walk: &Walk<'c, '_>, record: Record<'_>) -> Option<Record<'c>> {
    let id = record.json().text("result_id")?;
    walk.case.until("EvaluationResultEnvelope", record.seq()).filter(|one| one.id() == id).last()
}

/// What a result sends out follows from the matrix.
fn emission<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let Some(result) = result(walk, record) else {
        return walk.underivable(CHECK, record, "there is no such result", found);
    };
    let (producer, verdict) = (result.json().text("producer_kind"), result.json().text("decision.verdict"));
    let (Some(producer), Some(verdict)) =
        (producer.and_then(Producer::find), verdict.and_then(Verdict::find))
    else {
        return walk.underivable(CHECK, record, "the result says nothing", found);
    };
    let wants = entry(producer, verdict).bundle.wants_bundle(verdict);
    let bundle = walk.case.until("EvaluationFeedbackBundle", record.seq());
    let bundle = bundle.filter(|one| one.json().text("result_id") == Some(result.id())).last();
    let bundle = bundle.filter(|_| wants).map(|one| format!("evaluation_feedback_bundle:{}", one.id()));
    let absent = (!wants).then_some("not_emitted_by_design");
    let mut before = walk.case.until("EvaluationResultEmissionRecord", record.seq());
    let is_first = !before.any(|one| one.json().is("result_id", result.id()));
    found.holds(CHECK, record, "result_id", is_first, "it was handed on before");
    let matrix = walk.case.own(&format!("emits.{}.{}", producer.as_str(), verdict.as_str()));
    found.must_say(CHECK, record, "envelope_ref", &format!("evaluation_result_envelope:{}", result.id()));
    found.must(CHECK, record, "feedback_bundle_ref", bundle.map(Json::from));
    found.must(CHECK, record, "feedback_bundle_absent_reason", absent.map(Json::from));
    found.must_say(
        CHECK,
        record,
        "emission_matrix_entry_ref",
        &format!("feedback_emission_matrix_entry:{matrix}"),
    );
}

/// A finding as it is shown to who mends is the finding.
fn view<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let id = record.json().text("finding_id").unwrap_or_default();
    let event = walk
        .case
        .until("EvaluationFindingEvent", record.seq())
        .filter(|one| one.json().is("finding_id", id))
        .last();
    let Some(event) = event else {
        return walk.underivable(CHECK, record, "there is no such finding", found);
    };
    let json = event.json();
    let state = walk.says("evaluation_finding_record", id, "current_state").map_or(Json::Null, Json::from);
    let none: [&str; 0] = [];
    let copy = |path: &str| json.at(path).cloned().unwrap_or(Json::Null);
    let expected = Object::from([
        ("finding_id", id.into()),
        ("source_finding_event_ref", format!("evaluation_finding_event:{}", event.id()).into()),
        ("current_finding_record_ref", format!("evaluation_finding_record:{id}").into()),
        ("display_summary", copy("finding_text")),
        ("display_explanation", copy("explanation")),
        ("finding_kind", copy("finding_kind")),
        ("severity", copy("severity")),
        ("lifecycle_state", state),
        ("blocking_authority_satisfied", copy("blocking_authority.satisfied")),
        ("blocking_authority_basis", copy("blocking_authority.basis")),
        ("routed_action_refs", texts(&none)),
        ("schema_version", "1.1".into()),
    ]);
    found.must_be(CHECK, record, &expected, &[]);
    let bundle = walk.case.world.of("EvaluationFeedbackBundle").find(|one| one.seq() > record.seq());
    let own = format!("feedback_finding_view:{id}");
    let views = bundle.map(|one| one.json().texts("finding_view_refs")).unwrap_or_default();
    // The views of a bundle stand right before it, in its order.
    let behind = views.iter().position(|view| *view == own).map(|at| (views.len() - at) as u64);
    let is_own = bundle.zip(behind).is_some_and(|(bundle, behind)| record.seq() + behind == bundle.seq());
    found.holds(CHECK, record, "finding_id", is_own, "no bundle shows it there");
}

/// A bundle holds every finding of its result.
fn bundle<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let result = record.json().text("result_id").unwrap_or_default();
    let own = last_events(walk.case, record.seq());
    let own = own.into_iter().filter(|one| one.json().is("result_id", result));
    let views: Vec<String> = own
        .filter_map(|one| one.json().text("finding_id").map(|id| format!("feedback_finding_view:{id}")))
        .collect();
    found.must_list(CHECK, record, "finding_view_refs", &views);
    found.must_list(CHECK, record, "repair_instruction_refs", &[]);
    let emitted = walk.case.world.of("EvaluationResultEmissionRecord").find(|one| one.seq() > record.seq());
    let own = format!("evaluation_feedback_bundle:{}", record.id());
    let is_emitted = emitted.is_some_and(|one| one.json().is("feedback_bundle_ref", &own));
    found.holds(CHECK, record, "result_id", is_emitted, "nothing hands it on");
    let governance = Object::from([("matter_id", Json::from(walk.case.matter.as_str()))]);
    found.must(CHECK, record, "governance", Some(governance.into()));
}

/// A delivery is of a bundle, and has the key of what it delivers.
fn delivery<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let json = record.json();
    let (result, branch) =
        (json.text("result_id").unwrap_or_default(), json.text("branch").unwrap_or_default());
    let own =
        Delivery { run_id: walk.case.run.as_str(), result_id: result, branch, consumer_module_id: REVISOR };
    let bundle = walk.case.until("EvaluationFeedbackBundle", record.seq());
    let bundle =
        bundle.filter(|one| one.json().is("result_id", result)).last().map(|one| one.id().to_string());
    let before = walk.case.until("FeedbackDeliveryRecord", record.seq()).count() as u64;
    found.must_say(CHECK, record, "consumer_module_id", REVISOR);
    found.must_say(CHECK, record, "delivery_idempotency_key", &String::from(own.key()));
    found.must(CHECK, record, "consumer_activation_seq", (before + 1).write());
    let payload = bundle.as_ref().map(|id| format!("evaluation_feedback_bundle:{id}").into());
    found.must(CHECK, record, "payload_ref", payload);
    found.must(CHECK, record, "feedback_bundle_id", bundle.map(Json::from));
    let ended = walk.round.as_ref().and_then(|round| round.ended);
    let branch = ended.map_or("on_needs_revision", |state| outcome::entry(state).branch.as_str());
    found.must_say(CHECK, record, "branch", branch);
    found.must(CHECK, record, "suppressed", Some(false.into()));
}

/// What is expected of who gets a delivery.
fn expectation<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let Some(delivery) = walk.case.last("FeedbackDeliveryRecord", record.seq()) else {
        return walk.underivable(CHECK, record, "nothing was delivered", found);
    };
    for name in ["feedback_bundle_id", "consumer_module_id", "consumer_activation_seq"] {
        found.must(CHECK, record, name, delivery.json().at(name).cloned());
    }
    found.must_say(CHECK, record, "expected_receipt_kind", "FeedbackConsumptionReceipt");
    found.must(CHECK, record, "grace_period_ms", GRACE_MS.write());
}
