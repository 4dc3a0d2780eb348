//! What a run costs: how much was spent, how much may be, and the question where that is not enough.
//! Owns: the records of costs, the caps of a run. Must not: price anything, or let a step go beyond a cap.
//!
//! Amounts are whole millionths of a unit, so that sums are exact.

mod forecast;
mod lost;
mod narrative;

use forecast::piece;
pub use forecast::{Grounds, Model, Price, forecast, planned};
pub use lost::lost;
pub use narrative::{last, narrative};

use crate::call::{self, ACCEPT, Question, STOP};
use crate::desk::{Desk, Error, From, reference};
use crate::outcome;
use crate::revise::Budget;
use crate::task::{decimal, micros};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::reference::Reference;
use countersign_govern::types::added::policy::{PolicyDecision, PolicyEvaluation};
use countersign_govern::types::basic::{
    DecisionEffect as Effect, EstimatorConfidence as Confidence, HardRevisionCallKind, PolicyEvaluationRef,
    StorageRef, V10,
};
use countersign_govern::types::cost::{
    CostDimension as Dimension, CostDistribution, CostVector, CostVectorBasis as Basis, TaskCostRecord,
    TaskCostRecordCostClass as Class,
};
use countersign_govern::types::hard_call::HardCallBlockingScope;
use countersign_govern::types::outcome::OutcomeEvaluationState as State;
use countersign_govern::types::wire::{Reading, Wire};
use countersign_record::json::{Json, Number, Object};

/// Amounts by dimension, in millionths.
pub type Amounts = BTreeMap<Dimension, u64>;

/// The caps of a task, as a policy.
const BUDGET: &str = "task.budget";

/// A unit, in millionths.
pub const UNIT: u64 = 1_000_000;

/// A piece of work that was done, and what it cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The module that did it.
    pub module: String,
    /// Which time it was, from 1.
    pub activation: u64,
    /// What kind of work.
    pub class: Class,
    /// What it was to cost.
    pub planned: Option<StorageRef>,
    /// What it cost.
    pub amounts: Amounts,
}

/// A step would cost more than is left.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the next step would go beyond the budget by {}", told(.short))]
pub struct OverBudget {
    /// How much is missing.
    pub short: Amounts,
}

/// Amounts in words.
#[must_use]
pub fn told(amounts: &Amounts) -> String {
    let one = |(dimension, amount): (&Dimension, &u64)| {
        let words = words(*dimension);
        let words = match (*amount, words.strip_suffix('s')) {
            // Milliseconds stay that.
            (UNIT, Some(singular)) if *dimension != Dimension::WallClockMs => singular,
            _many => words.as_str(),
        };
        format!("{} {words}", number(*amount).literal())
    };
    let all: Vec<String> = amounts.iter().map(one).collect();
    if all.is_empty() { "nothing".to_string() } else { all.join(", ") }
}

/// A dimension in words.
fn words(dimension: Dimension) -> String {
    dimension.as_str().replace('_', " ")
}

/// An amount as a number.
pub fn number(amount: u64) -> Number {
    let (whole, rest) = (amount / UNIT, amount % UNIT);
    if rest == 0 {
        return decimal(&whole.to_string());
    }
    decimal(format!("{whole}.{rest:06}").trim_end_matches('0'))
}

/// Adds amounts to others. What is more than can be counted stays the most that can.
pub fn add(all: &mut Amounts, more: &Amounts) {
    for (dimension, amount) in more {
        let sum = all.entry(*dimension).or_default();
        *sum = sum.saturating_add(*amount);
    }
}

/// Writes a cost.
///
/// # Errors
/// It can't be written.
pub(crate) fn vector(
    desk: &mut Desk,
    id: &str,
    amounts: &Amounts,
    (basis, confidence): (Basis, Confidence),
    assumptions: &[&str],
) -> Result<StorageRef, Error> {
    bounded_vector(desk, id, (amounts, &Amounts::new()), (basis, confidence), assumptions)
}

/// The same, with the most that it can be where that is known.
fn bounded_vector(
    desk: &mut Desk,
    id: &str,
    (amounts, most): (&Amounts, &Amounts),
    (basis, confidence): (Basis, Confidence),
    assumptions: &[&str],
) -> Result<StorageRef, Error> {
    let part = |(unit, amount): (&Dimension, &u64)| {
        let (expected, hard_cap) = (number(*amount), most.get(unit).map(|most| number(*most)));
        (*unit, CostDistribution { expected, p50: None, p90: None, p99: None, hard_cap, unit: *unit })
    };
    desk.put(&CostVector {
        cost_vector_id: id.to_string(),
        components: amounts.iter().map(part).collect(),
        basis,
        estimator_confidence: confidence,
        sample_size: None,
        measurement_window: None,
        assumptions: assumptions.iter().map(ToString::to_string).collect(),
        formula_eval_receipt_ref: None,
        schema_version: V10,
        correlation_policy: None,
    })
}

/// Several costs as one, by the formula; gives the whole and the receipt of it.
///
/// # Errors
/// One of them is not there, or it can't be written.
pub(crate) fn sum(
    desk: &mut Desk,
    id: &str,
    parts: &[StorageRef],
) -> Result<(StorageRef, StorageRef), Error> {
    let mut vectors = Vec::new();
    for part in parts {
        vectors.push(find(desk, part)?.write().unwrap_or(Json::Null));
    }
    let output_ref = reference("CostVector", id)?;
    let from = From {
        formula: "cost_vector_sum_v1",
        inputs: Object::from([("vectors", Json::Array(vectors))]),
        input_refs: parts.to_vec(),
        output_ref,
    };
    let derived = desk.derive_member(from, "components")?;
    let mut members = derived.value.as_object().cloned().unwrap_or_default();
    members.insert("cost_vector_id", id);
    members.insert("formula_eval_receipt_ref", derived.receipt.as_str());
    members.insert("schema_version", "1.0");
    let vector = CostVector::read(&members.into(), &mut Reading::default());
    let vector = vector.ok_or_else(|| Error::Missing("sum of costs".to_string()))?;
    Ok((desk.put(&vector)?, derived.receipt))
}

fn find(desk: &Desk, vector: &StorageRef) -> Result<CostVector, Error> {
    let id = Reference::read(vector.as_str()).map(|read| read.id.to_string());
    let found = id.and_then(|id| desk.find::<CostVector>("CostVector", &id));
    found.ok_or_else(|| Error::Missing(vector.as_str().to_string()))
}

/// The amounts that a cost expects.
fn expected(vector: &CostVector) -> Amounts {
    let part = |(unit, part): (&Dimension, &CostDistribution)| {
        Some((*unit, micros(&Json::Number(part.expected.clone()))?))
    };
    vector.components.iter().filter_map(part).collect()
}

/// Writes what a piece of work cost.
///
/// # Errors
/// It can't be written.
pub fn record(desk: &mut Desk, piece: &Piece) -> Result<StorageRef, Error> {
    let id = desk.id("cost");
    let basis = (Basis::MeasuredActual, Confidence::Calibrated);
    let actual = vector(desk, &id, &piece.amounts, basis, &[])?;
    desk.put(&TaskCostRecord {
        cost_record_id: desk.id("spent"),
        task_id: desk.task().id.clone(),
        run_id: Some(desk.run().to_string()),
        module_id: Some(piece.module.clone()),
        activation_seq: Some(piece.activation),
        planned_cost_vector_ref: piece.planned.clone(),
        actual_cost_vector_ref: Some(actual),
        cost_class: piece.class,
        created_at: desk.now(),
        schema_version: V10,
    })
}

/// The costs of the pieces so far, as they came.
#[must_use]
pub(crate) fn actual(desk: &Desk) -> Vec<(TaskCostRecord, CostVector)> {
    desk.all::<TaskCostRecord>()
        .filter_map(|record| {
            let vector = find(desk, record.actual_cost_vector_ref.as_ref()?).ok()?;
            Some((record, vector))
        })
        .collect()
}

/// What was spent so far.
#[must_use]
pub fn spent(desk: &Desk) -> Amounts {
    let mut all = Amounts::new();
    for (_, vector) in actual(desk) {
        add(&mut all, &expected(&vector));
    }
    all
}

/// The options that grant more, and how often over they grant what was missing.
const GRANTS: [(&str, u64); 3] = [("grant", 1), ("grant-twice", 2), ("grant-tenfold", 10)];

/// The most that may be spent: what the task says, and what people granted since.
#[must_use]
pub fn caps(desk: &Desk) -> Amounts {
    let mut caps: Amounts = Dimension::ALL
        .iter()
        .filter_map(|dimension| Some((*dimension, desk.task().cap(*dimension)?)))
        .collect();
    for (call, answer) in call::answered(desk) {
        if call.hard_call_kind != Some(HardRevisionCallKind::BudgetScopeDecision) {
            continue;
        }
        let chosen = answer.selected_option_id.as_deref();
        let times = GRANTS.iter().find(|(id, _)| chosen == Some(id)).map_or(0, |(_, times)| *times);
        let short = call.source_ref.as_ref().and_then(|source| find(desk, source).ok());
        for (dimension, amount) in short.iter().flat_map(expected) {
            if let Some(cap) = caps.get_mut(&dimension) {
                *cap = cap.saturating_add(amount.saturating_mul(times));
            }
        }
    }
    caps
}

/// Whether a step of at most these costs may be taken.
///
/// # Errors
/// It would go beyond a cap, by how much.
pub fn may(desk: &Desk, next: &Amounts) -> Result<(), OverBudget> {
    may_besides(desk, &Amounts::new(), next)
}

/// The same, where something was spent that is not put down yet.
///
/// # Errors
/// It would go beyond a cap, by how much.
pub fn may_besides(desk: &Desk, unwritten: &Amounts, next: &Amounts) -> Result<(), OverBudget> {
    let (mut spent, caps) = (spent(desk), caps(desk));
    add(&mut spent, unwritten);
    let over = |(dimension, cap): (&Dimension, &u64)| {
        let next = next.get(dimension).copied().filter(|next| *next > 0)?;
        let all = spent.get(dimension).copied().unwrap_or_default().saturating_add(next);
        let short = all.checked_sub(*cap).filter(|short| *short > 0)?;
        Some((*dimension, short))
    };
    let short: Amounts = caps.iter().filter_map(over).collect();
    if short.is_empty() { Ok(()) } else { Err(OverBudget { short }) }
}

/// What was spent beyond the caps: a step may come to more than was held for it.
#[must_use]
pub fn overspent(desk: &Desk) -> Amounts {
    beyond(&spent(desk), &caps(desk))
}

/// How far what was spent goes beyond some caps.
#[must_use]
pub fn beyond(spent: &Amounts, caps: &Amounts) -> Amounts {
    let over = |(dimension, cap): (&Dimension, &u64)| {
        let over = spent.get(dimension).copied().unwrap_or_default().saturating_sub(*cap);
        (over > 0).then_some((*dimension, over))
    };
    caps.iter().filter_map(over).collect()
}

/// The policy that warns of what was spent beyond the caps; nothing where nothing was.
///
/// # Errors
/// It can't be written.
pub(crate) fn warned(desk: &mut Desk) -> Result<Option<PolicyEvaluationRef>, Error> {
    if overspent(desk).is_empty() {
        return Ok(None);
    }
    let id = desk.own("budget");
    if desk.find::<PolicyEvaluation>("PolicyEvaluation", &id).is_none() {
        desk.put(&PolicyEvaluation {
            policy_evaluation_id: id.clone(),
            policy_id: BUDGET.to_string(),
            policy_version: "1.0".to_string(),
            decision: PolicyDecision::Warn,
            user_alterable: false,
            decided_at: desk.now(),
            superseded_by: None,
            schema_version: Some(V10),
        })?;
    }
    let text = format!("policy_evaluation:{id}");
    PolicyEvaluationRef::try_from(text.as_str()).map(Some).map_err(|_| Error::Unnameable(text))
}

/// Asks a person what becomes of a step that would go beyond the budget; gives what the question is called.
///
/// # Errors
/// Something can't be written.
pub fn raise(desk: &mut Desk, over: &OverBudget) -> Result<String, Error> {
    let id = desk.id("short");
    let basis = (Basis::Heuristic, Confidence::Uncalibrated);
    let source = vector(desk, &id, &over.short, basis, &["what the next step would cost beyond the caps"])?;
    let mut options = Vec::new();
    for (grant, times) in GRANTS {
        let more = over.short.iter().map(|(unit, short)| (*unit, short.saturating_mul(times))).collect();
        let more = told(&more);
        let words = format!("The budget grows by {more}, and the run goes on.");
        options.push(call::option(grant, &format!("Grant {more} more"), Effect::GrantBudget, &words));
    }
    options.push(call::option(
        ACCEPT,
        "Take it as it is",
        Effect::AcceptAsIs,
        "Nothing more is spent; what is not met stays so.",
    ));
    options.push(call::option(STOP, "Stop here", Effect::AbortScope, "What is not met is given up."));
    let blocked = waiting(desk)?;
    call::ask(
        desk,
        Question {
            kind: HardRevisionCallKind::BudgetScopeDecision,
            prompt: format!("The next step would go beyond the budget by {}. What now?", told(&over.short)),
            options,
            source,
            scope: HardCallBlockingScope::EntireRun,
            blocked,
        },
    )
}

/// The outcomes that more work could move. One that waits for a person waits for its own question.
fn waiting(desk: &Desk) -> Result<Vec<StorageRef>, Error> {
    let is_waiting = |state: State| match state {
        State::Pending
        | State::PendingDependency
        | State::Evaluating
        | State::Dirty
        | State::NeedsRevision
        | State::NeedsInformation
        | State::NeedsVerification
        | State::Regressed => true,
        State::Satisfied
        | State::NeedsHumanJudgment
        | State::UnableToEvaluate
        | State::BlockedByPolicy
        | State::UpstreamFailure
        | State::Unrecoverable
        | State::Superseded
        | State::MaxIterationsReached => false,
    };
    let outcomes = desk.task().outcomes.iter();
    let open = outcomes.filter(|one| is_waiting(outcome::state(desk, &one.id)));
    open.map(|one| reference("OutcomeRecord", &desk.own(&one.id))).collect()
}

/// Whether a person said that nothing more is to be spent.
#[must_use]
pub fn is_over(desk: &Desk) -> bool {
    call::answered(desk).iter().any(|(call, answer)| {
        let effect =
            call.options.iter().find(|one| Some(&one.option_id) == answer.selected_option_id.as_ref());
        call.hard_call_kind == Some(HardRevisionCallKind::BudgetScopeDecision)
            && effect.is_some_and(|one| matches!(one.effect, Effect::AcceptAsIs | Effect::AbortScope))
    })
}

/// Whether another revision can be paid for.
#[must_use]
pub fn left(desk: &Desk) -> Budget {
    let planned = planned(desk, "revision").and_then(|planned| find(desk, &planned).ok());
    let next = planned.map(|vector| expected(&vector)).unwrap_or_default();
    if is_over(desk) || may(desk, &next).is_err() { Budget::Spent } else { Budget::Left }
}
