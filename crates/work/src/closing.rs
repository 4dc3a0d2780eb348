//! How a run ends, or waits: everything that is shown of it, derived from its records.
//! Owns: the health card, the pages on chains and decisions, the inbox, what waits for a person. Must not: change what is shown; deriving
//! it again from the same records gives the same.

use crate::attention;
use crate::board;
use crate::call;
use crate::cost;
use crate::desk::{Desk, Error, From, reference};
use crate::feedback;
use crate::finding;
use crate::guidance;
use crate::learning::{self, Nearest};
use crate::library;
use crate::names::references;
use crate::outcome;
use crate::rely;
use crate::show;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::reference::{Reference, snake};
use countersign_govern::types::added::outcome::{Consumption, RelianceScopeNote};
use countersign_govern::types::added::policy::{PolicyFreshnessRecord, PolicySnapshot};
use countersign_govern::types::basic::{False, PolicyEvaluationRef, ProducerKind, Severity, StorageRef, V10};
use countersign_govern::types::chain::{
    EvaluationChainResolutionReceipt as Resolution, EvaluationResultEnvelope as Envelope,
};
use countersign_govern::types::read_models::DerivedReadModelRecordReadModelKind as ReadModel;
use countersign_govern::types::reliance::{
    DecisionAuditView, TaskHealthCard, TaskHealthCardHealthStatus as Health, UnifiedEvaluationChainView,
};
use countersign_govern::types::replay::{
    ExplanationTrace, ExplanationTraceCausalStep as CausalStep, ExplanationTraceTraceKind as TraceKind,
};
use countersign_govern::world::Draft;
use countersign_record::json::{Json, Number, Object};

/// Everything that is shown, as it stands now. It is derived when a run ends and whenever it waits for a person.
///
/// # Errors
/// Something can't be written.
pub fn show(desk: &mut Desk) -> Result<(), Error> {
    board::tell(desk)?;
    attention::refresh(desk)?;
    ledger(desk)?;
    for resolution in last_chains(desk) {
        chain(desk, &resolution)?;
        decision(desk, &resolution)?;
    }
    health(desk)
}

/// The run is over: it is measured, what it taught ends with it, and everything is shown.
///
/// # Errors
/// Something can't be written.
pub fn end(desk: &mut Desk, near: Option<&Nearest>) -> Result<(), Error> {
    for delivery in feedback::owed(desk) {
        feedback::consume(desk, &delivery, Consumption::NotUsed, Some("the run is over"))?;
    }
    guidance::expire(desk)?;
    library::cancel(desk)?;
    fresh(desk)?;
    learning::measure(desk, near)?;
    note(desk)?;
    show(desk)
}

/// Whether the policies that the run went by are still the latest of their names.
fn fresh(desk: &mut Desk) -> Result<(), Error> {
    let last = desk.each::<PolicySnapshot>("PolicySnapshot").next_back();
    let Some(last) = last else { return Ok(()) };
    for policy_ref in last.record.policy_refs {
        let read = Reference::read(policy_ref.as_str());
        let is_newer =
            |row: &Draft| read.is_some_and(|read| snake(&row.kind) == read.kind && row.name(0) == read.id);
        let is_fresh = !desk.rows_after(last.seq).any(is_newer);
        desk.put(&PolicyFreshnessRecord {
            record_id: desk.id("fresh"),
            policy_ref,
            checked_at: desk.now(),
            fresh_until: None,
            is_fresh,
            schema_version: Some(V10),
        })?;
    }
    Ok(())
}

/// For whom and for what the packet is meant, where the task says so.
fn note(desk: &mut Desk) -> Result<(), Error> {
    let (audience, purpose) = (desk.task().audience.clone(), desk.task().purpose.clone());
    let (Some(packet), Some(audience), Some(purpose)) = (rely::last(desk), audience, purpose) else {
        return Ok(());
    };
    let packet_ref = reference("TaskReliancePacket", &packet.packet_id)?;
    if desk.all::<RelianceScopeNote>().any(|one| one.packet_ref == packet_ref) {
        return Ok(());
    }
    desk.put(&RelianceScopeNote {
        note_id: desk.id("note"),
        packet_ref,
        audience,
        purpose,
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    Ok(())
}

/// The header of what waits for a person.
fn ledger(desk: &mut Desk) -> Result<(), Error> {
    let mut inputs = Vec::new();
    for item in attention::open(desk) {
        inputs.push(item.source_ref.clone());
        inputs.push(reference("AttentionLedgerItem", &item.item_id)?);
    }
    show::header(desk, ReadModel::AttentionLedger, inputs, None, Vec::new())?;
    Ok(())
}

/// The header of the findings. An inbox is a matter's: what any of its runs finds makes it out of date, so no run puts one down, and it is
/// derived whenever somebody asks.
///
/// # Errors
/// Something can't be written.
pub fn inbox(desk: &mut Desk) -> Result<(), Error> {
    let ids: Vec<String> = finding::all(desk).into_iter().map(|one| one.event.finding_event_id).collect();
    let inputs = references("EvaluationFindingEvent", ids.iter().map(String::as_str))?;
    show::header(desk, ReadModel::FindingsInbox, inputs, None, Vec::new())?;
    Ok(())
}

/// The last resolution of each outcome, in the order of the task.
fn last_chains(desk: &Desk) -> Vec<Resolution> {
    let results: BTreeMap<String, Envelope> =
        desk.all::<Envelope>().map(|one| (one.result_id.clone(), one)).collect();
    let mut last: BTreeMap<String, Resolution> = BTreeMap::new();
    for receipt in desk.all::<Resolution>() {
        let outcome = receipt.result_ids_considered.first().and_then(|id| results.get(id));
        if let Some(outcome) = outcome.map(|one| one.outcome_id.clone()) {
            last.insert(outcome, receipt);
        }
    }
    let outcomes = desk.task().outcomes.iter();
    outcomes.filter_map(|one| last.remove(&desk.own(&one.id))).collect()
}

/// The findings of a resolution's results.
fn findings(desk: &Desk, resolution: &Resolution) -> Vec<finding::Known> {
    let is_own = |one: &finding::Known| resolution.result_ids_considered.contains(&one.event.result_id);
    finding::all(desk).into_iter().filter(is_own).collect()
}

/// A chain on one page, under its header.
fn chain(desk: &mut Desk, resolution: &Resolution) -> Result<(), Error> {
    let view = chain_view(desk, resolution)?;
    let mut inputs = Vec::from([view.chain_registry_record_ref.clone()]);
    inputs.extend(view.chain_resolution_receipt_ref.clone());
    inputs.extend(view.qualitative_finding_refs.iter().cloned());
    inputs.extend(view.quantitative_result_refs.iter().cloned());
    let header = show::header(desk, ReadModel::EvaluationChainView, inputs, None, Vec::new())?;
    let view_id = desk.id("chain-view");
    desk.open(
        "UnifiedEvaluationChainView",
        &UnifiedEvaluationChainView { view_id, derived_read_model_ref: header, ..view },
    )?;
    Ok(())
}

/// A chain on one page, as it follows from the records.
///
/// # Errors
/// Something can't be named.
pub fn chain_view(desk: &Desk, resolution: &Resolution) -> Result<UnifiedEvaluationChainView, Error> {
    let mut qualitative = Vec::new();
    for known in findings(desk, resolution) {
        qualitative.push(reference("EvaluationFindingEvent", &known.event.finding_event_id)?);
    }
    let mut quantitative = Vec::new();
    for result in desk.all::<Envelope>() {
        let is_own = resolution.result_ids_considered.contains(&result.result_id);
        if is_own && result.producer_kind == ProducerKind::Judge {
            quantitative.push(reference("EvaluationResultEnvelope", &result.result_id)?);
        }
    }
    let summary = resolution.resolved_route.as_str().replace('_', " ");
    Ok(UnifiedEvaluationChainView {
        view_id: String::new(),
        chain_id: resolution.chain_id.clone(),
        chain_registry_record_ref: reference("EvaluationChainRegistryRecord", &resolution.chain_id)?,
        chain_resolution_receipt_ref: Some(reference(
            "EvaluationChainResolutionReceipt",
            &resolution.receipt_id,
        )?),
        qualitative_finding_refs: qualitative,
        quantitative_result_refs: quantitative,
        final_route_summary: format!("{}: {summary}", resolution.resolved_verdict.as_str()),
        derived_read_model_ref: reference("DerivedReadModelRecord", "unwritten")?,
        schema_version: V10,
    })
}

/// What led to a decision, with the steps to it.
fn decision(desk: &mut Desk, resolution: &Resolution) -> Result<(), Error> {
    let trace = trace(desk, resolution)?;
    let trace_ref = desk.open("ExplanationTrace", &trace)?;
    let view = decision_view(desk, resolution, &trace_ref)?;
    let mut inputs = view.chain_resolution_receipt_refs.clone();
    inputs.extend(view.finding_refs.iter().cloned());
    for policy in &view.policy_decision_refs {
        let text = policy.as_str();
        inputs.push(StorageRef::try_from(text).map_err(|_| Error::Unnameable(text.to_string()))?);
    }
    inputs.extend(view.hard_call_resolution_refs.iter().cloned());
    inputs.push(trace_ref);
    let header = show::header(desk, ReadModel::DecisionAuditView, inputs, None, Vec::new())?;
    let audit_view_id = desk.id("decision-view");
    desk.open(
        "DecisionAuditView",
        &DecisionAuditView { audit_view_id, derived_read_model_ref: header, ..view },
    )?;
    Ok(())
}

/// What led to a decision, as it follows from the records.
///
/// # Errors
/// Something can't be named.
pub fn decision_view(
    desk: &Desk,
    resolution: &Resolution,
    trace: &StorageRef,
) -> Result<DecisionAuditView, Error> {
    let target = reference("EvaluationChainResolutionReceipt", &resolution.receipt_id)?;
    let mut finding_refs = Vec::new();
    for known in findings(desk, resolution) {
        finding_refs.push(reference("EvaluationFindingEvent", &known.event.finding_event_id)?);
    }
    let outcome = outcome_of(desk, resolution);
    let outcome = outcome.map(|id| format!("outcome_record:{id}")).unwrap_or_default();
    let is_own = |blocked: &[String]| blocked.contains(&outcome);
    let mut answers = Vec::new();
    for (call, answer) in call::answered(desk) {
        if is_own(&call.pending_policy.blocked_refs) {
            answers.push(reference("HardCallResolutionReceipt", &answer.receipt_id)?);
        }
    }
    let leave: PolicyEvaluationRef = desk.leave()?;
    Ok(DecisionAuditView {
        audit_view_id: String::new(),
        target_decision_ref: target.clone(),
        chain_resolution_receipt_refs: Vec::from([target]),
        finding_refs,
        policy_decision_refs: Vec::from([leave]),
        hard_call_resolution_refs: answers,
        explanation_trace_ref: Some(trace.clone()),
        derived_read_model_ref: reference("DerivedReadModelRecord", "unwritten")?,
        schema_version: V10,
    })
}

/// The outcome that a resolution is of.
fn outcome_of(desk: &Desk, resolution: &Resolution) -> Option<String> {
    let first = resolution.result_ids_considered.first()?;
    desk.all::<Envelope>().find(|one| one.result_id == *first).map(|one| one.outcome_id)
}

/// How it came to a decision: what was looked at, what each found, how that was put together.
///
/// # Errors
/// Something can't be named.
pub fn trace(desk: &Desk, resolution: &Resolution) -> Result<ExplanationTrace, Error> {
    let receipt = reference("EvaluationChainResolutionReceipt", &resolution.receipt_id)?;
    let results: Vec<Envelope> = desk
        .all::<Envelope>()
        .filter(|one| resolution.result_ids_considered.contains(&one.result_id))
        .collect();
    let mut steps = Vec::new();
    let mut said = Vec::new();
    for result in &results {
        let output = reference("EvaluationResultEnvelope", &result.result_id)?;
        let verdict = result.decision.as_ref().map(|one| one.verdict.as_str()).unwrap_or_default();
        let mut evidence = Vec::new();
        for known in finding::all(desk).iter().filter(|one| one.event.result_id == result.result_id) {
            evidence.push(reference("EvaluationFindingEvent", &known.event.finding_event_id)?);
        }
        steps.push(CausalStep {
            step_id: result.producer_kind.as_str().to_string(),
            input_refs: Vec::from([result.evaluation_snapshot_ref.clone()]),
            operation_receipt_ref: None,
            output_refs: Vec::from([output.clone()]),
            rationale_summary: format!("{verdict}: {}", result.route_recommendation.rationale),
            evidence_refs: evidence,
        });
        said.push(output);
    }
    steps.push(CausalStep {
        step_id: "resolution".to_string(),
        input_refs: said,
        operation_receipt_ref: None,
        output_refs: Vec::from([receipt]),
        rationale_summary: format!(
            "{}, {}",
            resolution.resolved_verdict.as_str(),
            resolution.resolved_route.as_str().replace('_', " ")
        ),
        evidence_refs: Vec::new(),
    });
    Ok(ExplanationTrace {
        trace_id: desk.id("trace"),
        trace_kind: TraceKind::Evaluation,
        causal_steps: steps,
        hidden_reasoning_included: False,
        schema_version: V10,
    })
}

/// What the health of a run follows from.
///
/// # Errors
/// Something can't be named.
fn signs(desk: &Desk) -> Result<(Object, Vec<StorageRef>), Error> {
    let live = |one: &finding::Known| {
        finding::is_live(one.state)
            && one.event.severity == Severity::Blocking
            && one.event.blocking_authority.satisfied
    };
    let blockers: Vec<String> =
        finding::all(desk).into_iter().filter(live).map(|one| one.event.finding_id).collect();
    let limits =
        rely::last(desk).map(|one| one.reliance_derivation.unresolved_limitations).unwrap_or_default();
    let words = |all: Vec<&str>| Json::Array(all.into_iter().map(Json::from).collect());
    let count = |count: usize| Json::Number(Number::from(u32::try_from(count).unwrap_or(u32::MAX)));
    let states = desk.task().outcomes.iter().map(|one| outcome::state(desk, &one.id).as_str());
    let items = attention::open(desk);
    let inputs = Object::from([
        ("outcome_states", words(states.collect())),
        ("live_blockers", count(blockers.len())),
        ("open_hard_calls", count(call::open(desk).len())),
        ("attention_priorities", words(items.iter().map(|one| one.priority.as_str()).collect())),
        ("limitations", words(limits.iter().map(|one| one.as_str()).collect())),
    ]);
    Ok((inputs, references("EvaluationFindingRecord", blockers.iter().map(String::as_str))?))
}

/// How the run is doing, under its header.
fn health(desk: &mut Desk) -> Result<(), Error> {
    let (inputs, blockers) = signs(desk)?;
    let ids: BTreeSet<String> = last_chains(desk).into_iter().map(|one| one.receipt_id).collect();
    let verdicts = references("EvaluationChainResolutionReceipt", ids.iter().map(String::as_str))?;
    let packet = rely::last(desk).map(|one| reference("TaskReliancePacket", &one.packet_id)).transpose()?;
    let budget = cost::last(desk)?;
    let mut input_refs = [blockers.clone(), verdicts.clone()].concat();
    input_refs.extend(packet.clone());
    input_refs.extend(budget.clone());
    let output_ref = reference("TaskHealthCard", &desk.task().id)?;
    let from = From { formula: "health_status_v1", inputs, input_refs: input_refs.clone(), output_ref };
    let derived = desk.derive_member(from, "health_status")?;
    let word = derived.value.get("health_status").and_then(Json::as_str).unwrap_or_default();
    let health_status = Health::find(word).ok_or_else(|| Error::Missing("health".to_string()))?;
    let header =
        show::header(desk, ReadModel::TaskHealthCard, input_refs, None, Vec::from([derived.receipt]))?;
    let card = TaskHealthCard {
        task_id: desk.task().id.clone(),
        run_id: Some(desk.run().to_string()),
        health_status,
        active_blocker_refs: blockers,
        latest_verdict_refs: verdicts,
        budget_status_ref: budget,
        reliance_packet_ref: packet,
        derived_read_model_ref: header,
        schema_version: V10,
    };
    desk.open("TaskHealthCard", &card)?;
    Ok(())
}
