//! What was tried for an outcome, and what came of it.
//! Owns: the records of attempts with the scores before and after, whether something failed again for the same reason, how many cycles
//! an outcome took. Must not: say what follows; sufficiency does.

use super::plans::{self, Plan};
use super::way::{Way, procedure};
use crate::desk::{Desk, Error, From, hash_of, reference};
use crate::finding::{self, Known};
use crate::outcome;
use crate::task::{Outcome, decimal, micros};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;
use countersign_govern::reference::Reference;
use countersign_govern::types::added::outcome::OutcomeStateTransitionEvent;
use countersign_govern::types::added::repair::OutcomeRepairInstruction;
use countersign_govern::types::basic::{
    CalibratedScore, Calibration, DateRange, DecisionEffect, ProducerKind, StorageRef, V10,
};
use countersign_govern::types::chain::EvaluationResultEnvelope;
use countersign_govern::types::hard_call::{HardCallResolutionReceipt, HardRevisionCall};
use countersign_govern::types::outcome::{EvaluationVerdict as Verdict, OutcomeEvaluationState as State};
use countersign_govern::types::progress::ProgressSignalRecord;
use countersign_govern::types::quality::{
    OutcomeCycleTerminalClass as Class, QualityIndex, RevisionCycleOutcomeObservation,
};
use countersign_govern::types::revision::{
    RevisionExecutionLifecycleState as PlanState, RevisionOperationKind as Operation,
};
use countersign_govern::types::sufficiency::{
    ProcedureAttemptRecord, ProcedureAttemptRecordTerminalStatus as Status, SufficiencyDetectionResult,
};
use countersign_govern::types::wire::Wire;
use countersign_govern::types::workspace::{
    SourceWorkspaceOperation, SourceWorkspaceOperationKind as WorkspaceKind, SourceWorkspaceOperationReceipt,
    SourceWorkspaceOperationReceiptStatus as Applied,
};
use countersign_record::json::{Json, Number, Object};

/// The formula that says how good the work is.
pub(crate) const METRIC: &str = "formula_spec:quality_index_v1";
/// Attempts by one strategy that fail for the same reason, before another one is advised.
const SAME_MAX: usize = 2;

/// What was tried for an outcome, in order, with the places.
pub(crate) fn attempts(desk: &Desk, outcome: &str) -> Vec<(u64, ProcedureAttemptRecord)> {
    let own = desk.own(outcome);
    let all = desk.each::<ProcedureAttemptRecord>("ProcedureAttemptRecord");
    all.filter(|found| found.record.outcome_id.as_ref() == Some(&own))
        .map(|found| (found.seq, found.record))
        .collect()
}

/// The place from which on attempts count: a person let it be tried anew, or a question to the sources was answered.
pub(crate) fn since(desk: &Desk, outcome: &str) -> u64 {
    let own = desk.own(outcome);
    let calls: Vec<HardRevisionCall> = desk.all().collect();
    let is_detected = |call: &HardRevisionCall| {
        let source = call.source_ref.as_ref().and_then(|one| Reference::read(one.as_str()));
        source.filter(|one| one.kind == "sufficiency_detection_result").is_some_and(|one| {
            let detection: Option<SufficiencyDetectionResult> =
                desk.find("SufficiencyDetectionResult", one.id);
            detection.is_some_and(|detection| detection.outcome_id == own)
        })
    };
    let lets_on = |answer: &HardCallResolutionReceipt| {
        let call = calls.iter().find(|call| call.hard_call_id == answer.hard_call_id && is_detected(call));
        let chosen = call.and_then(|call| {
            call.options.iter().find(|one| Some(&one.option_id) == answer.selected_option_id.as_ref())
        });
        chosen.is_some_and(|option| option.effect != DecisionEffect::AbortScope)
    };
    let answers = desk.each::<HardCallResolutionReceipt>("HardCallResolutionReceipt");
    let answered = answers.filter(|found| lets_on(&found.record)).map(|found| found.seq);
    let sourced = desk.each::<SourceWorkspaceOperationReceipt>("SourceWorkspaceOperationReceipt");
    let sourced = sourced.filter(|found| {
        found.record.operation_kind == WorkspaceKind::AnswerResearchNeed
            && found.record.status == Applied::Applied
            && is_by_a_person(desk, &found.record.operation_id)
    });
    answered.chain(sourced.map(|found| found.seq)).max().unwrap_or(0)
}

/// Whether a person did something to the sources, and not a step of a plan.
fn is_by_a_person(desk: &Desk, operation: &str) -> bool {
    let operation: Option<SourceWorkspaceOperation> = desk.find("SourceWorkspaceOperation", operation);
    operation.is_some_and(|one| one.actor_ref.starts_with("user:"))
}

/// The scores of an outcome: what the judge put together at each look, with the place of that. A look at what nobody could score has none.
pub(crate) fn scores(desk: &Desk, outcome: &str) -> Vec<(u64, Number)> {
    let own = desk.own(outcome);
    let indexes: Vec<(u64, Number)> = desk
        .each::<QualityIndex>("QualityIndex")
        .map(|found| (found.seq, found.record.aggregate_score))
        .collect();
    let said: Vec<(u64, EvaluationResultEnvelope)> = desk
        .each::<EvaluationResultEnvelope>("EvaluationResultEnvelope")
        .map(|found| (found.seq, found.record))
        .collect();
    let is_judge =
        |one: &EvaluationResultEnvelope| one.producer_kind == ProducerKind::Judge && one.outcome_id == own;
    // What was put together for a judge stands behind the evaluator, who spoke right before.
    let score = |(at, (seq, one)): (usize, &(u64, EvaluationResultEnvelope))| {
        let from = at.checked_sub(1).and_then(|before| said.get(before)).map_or(0, |(seq, _)| *seq);
        let own = indexes.iter().rfind(|(index, _)| (from..*seq).contains(index));
        own.filter(|_| is_judge(one)).map(|(_, score)| (*seq, score.clone()))
    };
    said.iter().enumerate().filter_map(score).collect()
}

/// The strategy that an outcome is mended by in a plan: that of the first step that changes something for it.
fn leading(desk: &Desk, plan: &Plan, outcome: &str) -> Option<Way> {
    let own = desk.own(outcome);
    let asked = desk.each::<OutcomeRepairInstruction>("OutcomeRepairInstruction");
    let asked: Vec<OutcomeRepairInstruction> = asked
        .filter(|found| found.seq > plan.seq && found.record.outcome_id == own)
        .map(|found| found.record)
        .collect();
    let is_asked = |step: &&plans::Step| {
        Way::of(step).is_some_and(|way| {
            asked.iter().any(|one| one.target_ref == step.target && one.strategy_kind == way.strategy())
        })
    };
    let changes = plan.steps().iter().filter(|step| plans::is_mutating(step.kind)).find(is_asked);
    changes.or_else(|| plan.steps().iter().find(is_asked)).or_else(|| plan.steps().first()).and_then(Way::of)
}

/// How an attempt came out.
pub(crate) enum Came {
    /// The outcome was looked at again.
    Looked(Verdict),
    /// Nothing changed: why.
    Nowhere(Status),
}

/// Writes down that a plan was tried for an outcome, once.
pub(crate) fn tried(desk: &mut Desk, plan: &Plan, outcome: &str, came: &Came) -> Result<(), Error> {
    let plan_ref = plan.reference()?;
    let is_known =
        attempts(desk, outcome).iter().any(|(_, one)| one.revision_plan_ref.as_ref() == Some(&plan_ref));
    let Some(way) = leading(desk, plan, outcome).filter(|_| !is_known) else { return Ok(()) };
    let all = scores(desk, outcome);
    let before = all.iter().rfind(|(seq, _)| *seq < plan.seq).map(|(_, score)| score.clone());
    let after = match came {
        Came::Looked(_) => all.last().filter(|(seq, _)| *seq > plan.seq).map(|(_, score)| score.clone()),
        // Where nothing changed, the work is worth what it was worth.
        Came::Nowhere(_) => before.clone(),
    };
    let delta = before.as_ref().zip(after.as_ref()).and_then(|(before, after)| between(before, after));
    let least = signed(&desk.task().policies().sufficiency().epsilon()).unwrap_or_default();
    let status = match (came, delta) {
        (Came::Nowhere(status), _) => *status,
        (Came::Looked(Verdict::Passed | Verdict::NotApplicable), _) => Status::Succeeded,
        (Came::Looked(Verdict::Failed | Verdict::Indeterminate), Some(delta)) if delta < 0 => {
            Status::Regressed
        }
        (Came::Looked(Verdict::Failed | Verdict::Indeterminate), Some(delta)) if delta < least => {
            Status::NoMaterialImprovement
        }
        (Came::Looked(Verdict::Failed | Verdict::Indeterminate), Some(_) | None) => Status::Failed,
    };
    let (input, output) = signatures(desk, plan, &way)?;
    let score = |value: Option<Number>| {
        value.map(|value| CalibratedScore {
            value,
            calibration: Calibration::Uncalibrated,
            metric_ref: METRIC.to_string(),
            interval: None,
        })
    };
    let receipt_refs = finished(desk, plan)?;
    desk.put(&ProcedureAttemptRecord {
        attempt_id: desk.id("attempt"),
        procedure_id: procedure(desk, outcome, &way, &plan.artifact)?,
        revision_plan_ref: Some(plan_ref),
        strategy_kind: way.strategy(),
        input_signature_hash: input,
        output_signature_hash: output,
        score_before: score(before),
        score_after: score(after),
        score_delta: delta.map(written),
        terminal_status: status,
        receipt_refs,
        schema_version: V10,
        outcome_id: Some(desk.own(outcome)),
        run_id: Some(desk.run().to_string()),
    })?;
    Ok(())
}

/// What is looked at again, as far as plans made it so: they were tried.
pub(crate) fn looked(desk: &mut Desk, outcome: &str, verdict: Verdict) -> Result<(), Error> {
    let of_outcome =
        |plan: &Plan| plan.state == PlanState::Revalidating && plan.outcomes.iter().any(|one| one == outcome);
    for plan in plans::live(desk).iter().filter(|plan| of_outcome(plan)) {
        tried(desk, plan, outcome, &Came::Looked(verdict))?;
    }
    Ok(())
}

/// What went into a plan and what came out of it.
fn signatures(desk: &Desk, plan: &Plan, way: &Way) -> Result<(String, Option<String>), Error> {
    let products = plan.products(desk);
    let base = crate::artifact::versions(desk, &plan.artifact)
        .take_while(|one| products.first().is_none_or(|first| one.number < first.number))
        .last();
    let target = way.target(desk, &plan.artifact)?;
    let input = Object::from([
        ("strategy", Json::from(way.strategy().as_str())),
        ("target", target.as_str().into()),
        ("base", base.map_or(Json::Null, |one| String::from(one.content).as_str().into())),
    ]);
    let output = products.last().map(|one| String::from(one.content));
    Ok((String::from(hash_of(&input.into())?), output))
}

/// The receipts of the steps that were finished.
pub(crate) fn finished(desk: &Desk, plan: &Plan) -> Result<Vec<StorageRef>, Error> {
    let receipts = plan.steps().iter().flat_map(|step| plans::receipts(desk, &step.id));
    let ends = receipts.filter(|(_, one)| one.operation_kind == Some(Operation::StepFinished));
    ends.map(|(_, one)| reference("RevisionOperationReceipt", &one.receipt_id)).collect()
}

/// A number in millionths.
fn signed(number: &Number) -> Option<i64> {
    i64::try_from(micros(&Json::Number(number.clone()))?).ok()
}

/// What is between two scores, in millionths.
fn between(before: &Number, after: &Number) -> Option<i64> {
    signed(after)?.checked_sub(signed(before)?)
}

/// A number of millionths, as few digits as say it.
fn written(micros: i64) -> Number {
    let (sign, size) = (if micros < 0 { "-" } else { "" }, micros.unsigned_abs());
    let digits = format!("{sign}{}.{:06}", size / 1_000_000, size % 1_000_000);
    decimal(digits.trim_end_matches('0').trim_end_matches('.'))
}

/// The live findings of an outcome, the worst first.
pub(crate) fn findings(desk: &Desk, outcome: &Outcome) -> Vec<Known> {
    let own: Vec<String> = outcome.criteria.iter().map(|one| desk.own(&one.id)).collect();
    let is_own = |one: &Known| one.event.target_criterion_id.as_ref().is_some_and(|id| own.contains(id));
    let mut all: Vec<Known> =
        finding::all(desk).into_iter().filter(|one| finding::is_live(one.state) && is_own(one)).collect();
    // The order of those that are equally bad stays: the first one was found first.
    all.sort_by_key(|one| Reverse(one.event.severity));
    all
}

/// Says whether an outcome fails for the same reason as before, by its worst finding.
pub(crate) fn signal(desk: &mut Desk, outcome: &Outcome) -> Result<(), Error> {
    let Some(worst) = findings(desk, outcome).into_iter().next() else { return Ok(()) };
    let own = desk.own(&outcome.id);
    let last = desk.all::<ProgressSignalRecord>().rfind(|one| one.outcome_id == own);
    let (current, previous) = (worst.event.match_key, last.map(|one| one.current_finding_match_key));
    let signal_id = desk.id("progress");
    let mut inputs = Object::from([("current", current.write().unwrap_or(Json::Null))]);
    if let Some(previous) = &previous {
        inputs.insert("previous", previous.write().unwrap_or(Json::Null));
    }
    let from = From {
        formula: "same_reason_v1",
        inputs,
        input_refs: Vec::from([reference("EvaluationFindingEvent", &worst.event.finding_event_id)?]),
        output_ref: reference("ProgressSignalRecord", &signal_id)?,
    };
    let is_same = desk.derive_whole(from)?.value == Json::Bool(true);
    let tried = attempts(desk, &outcome.id);
    let last = tried.last().map(|(_, one)| one.strategy_kind);
    let in_a_row = tried.iter().rev().take_while(|(_, one)| Some(one.strategy_kind) == last).count();
    desk.put(&ProgressSignalRecord {
        signal_id,
        outcome_id: own,
        run_id: desk.run().to_string(),
        current_finding_match_key: current,
        previous_finding_match_key: previous,
        same_reason_as_previous: is_same,
        strategy_switch_recommended: is_same && in_a_row >= SAME_MAX,
        created_at: desk.now(),
        schema_version: V10,
    })?;
    Ok(())
}

/// How the cycles of an outcome ended; `None` if they go on, or end in no way that is counted.
fn class(state: State) -> Option<Class> {
    match state {
        State::Satisfied => Some(Class::Succeeded),
        State::Unrecoverable => Some(Class::FailedUnrecoverable),
        State::MaxIterationsReached => Some(Class::MaxIterationsReached),
        State::BlockedByPolicy => Some(Class::BlockedByPolicy),
        State::NeedsHumanJudgment => Some(Class::NeedsHumanJudgment),
        State::NeedsInformation => Some(Class::NeedsInformation),
        State::Pending
        | State::PendingDependency
        | State::Evaluating
        | State::Dirty
        | State::NeedsRevision
        | State::NeedsVerification
        | State::UnableToEvaluate
        | State::Regressed
        | State::UpstreamFailure
        | State::Superseded => None,
    }
}

/// Counts the cycles of an outcome that came to an end, if there were any since they were counted last.
pub(crate) fn observe(desk: &mut Desk, outcome: &str) -> Result<(), Error> {
    match class(outcome::state(desk, outcome)) {
        Some(class) => counted(desk, outcome, class),
        None => Ok(()),
    }
}

/// Counts the cycles of an outcome that somebody stopped.
pub(crate) fn observe_cancelled(desk: &mut Desk, outcome: &str) -> Result<(), Error> {
    counted(desk, outcome, Class::CancelledByUser)
}

fn counted(desk: &mut Desk, outcome: &str, class: Class) -> Result<(), Error> {
    let own = desk.own(outcome);
    let before = desk
        .each::<RevisionCycleOutcomeObservation>("RevisionCycleOutcomeObservation")
        .rfind(|found| found.record.outcome_id == own)
        .map_or(0, |found| found.seq);
    let cycle_count = attempts(desk, outcome).iter().filter(|(seq, _)| *seq > before).count() as u64;
    let moves = desk.each::<OutcomeStateTransitionEvent>("OutcomeStateTransitionEvent");
    let moves: Vec<_> = moves.filter(|found| found.record.outcome_id == own && found.seq > before).collect();
    let fell = |state: State| matches!(state, State::NeedsRevision | State::Regressed);
    let begun =
        moves.iter().find(|found| fell(found.record.to_state)).map(|found| found.record.created_at.clone());
    let (Some(start), true) = (begun, cycle_count > 0) else { return Ok(()) };
    let last = moves.last().map(|found| reference("OutcomeStateTransitionEvent", &found.id)).transpose()?;
    desk.put(&RevisionCycleOutcomeObservation {
        observation_id: desk.id("cycles"),
        outcome_id: own,
        run_id: desk.run().to_string(),
        cycle_count,
        terminal_class: class,
        terminal_state_ref: last,
        right_censored_at: None,
        observation_window: DateRange { start, end: desk.now() },
        cost_vector_ref: None,
        formula_eval_receipt_ref: None,
        schema_version: V10,
    })?;
    Ok(())
}
