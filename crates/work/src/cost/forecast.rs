//! What a run is going to cost, before it begins.
//! Owns: the heuristic, and the forecast. Must not: measure.

use super::{Amounts, UNIT, add, bounded_vector, sum};
use crate::asking::VERDICT_TOKENS_MAX;
use crate::desk::{Desk, Error, reference};
use crate::task::{Outcome, Section};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::types::basic::{EstimatorConfidence as Confidence, StorageRef, V10};
use countersign_govern::types::cost::{
    CostDimension as Dimension, CostVector, CostVectorBasis as Basis, TaskRunCostForecast,
};

/// Tokens around the sources in a question to a model.
const PROMPT_TOKENS: u64 = 400;
/// Tokens of a quote with its citation.
const QUOTE_TOKENS: u64 = 60;
/// Tokens of a judgment by a rubric.
const JUDGMENT_TOKENS: u64 = 40;
/// Tokens of a piece of code that is asked for.
const CODE_TOKENS: u64 = 800;

/// What a model costs, in millionths of a dollar for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// Tokens that go in.
    pub input: u64,
    /// Tokens that come out.
    pub output: u64,
}

impl Price {
    /// What so many tokens cost, in millionths of a dollar, rounded up.
    #[must_use]
    pub fn of(self, input: u64, output: u64) -> u64 {
        let cost = u128::from(input) * u128::from(self.input) + u128::from(output) * u128::from(self.output);
        u64::try_from(cost.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// Where a model is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// It only quotes: nothing is asked.
    Quotes,
    /// Here: asking it costs no call to anybody.
    Local,
    /// Elsewhere, at a price if that is known.
    Remote(Option<Price>),
}

/// What is known before a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grounds {
    /// Tokens of all sources.
    pub source_tokens: u64,
    /// Who is asked.
    pub model: Model,
}

impl Model {
    /// What one question to it costs.
    #[must_use]
    pub fn cost(self, input: u64, output: u64) -> Amounts {
        if self == Model::Quotes {
            return Amounts::new();
        }
        let mut amounts = Amounts::from([
            (Dimension::InputTokens, input.saturating_mul(UNIT)),
            (Dimension::OutputTokens, output.saturating_mul(UNIT)),
        ]);
        match self {
            Model::Quotes | Model::Local => {}
            Model::Remote(price) => {
                amounts.insert(Dimension::ExternalApiCalls, UNIT);
                if let Some(price) = price {
                    amounts.insert(Dimension::Usd, price.of(input, output));
                }
            }
        }
        amounts
    }
}

/// What a piece of work is called where it was planned.
pub(super) fn piece(desk: &Desk, word: &str) -> String {
    desk.own(&format!("planned.{word}"))
}

/// What a piece of work was to cost, if it was planned: `draft.ARTIFACT.SECTION`, `judge.OUTCOME` or `revision`.
#[must_use]
pub fn planned(desk: &Desk, word: &str) -> Option<StorageRef> {
    let id = piece(desk, word);
    desk.find::<CostVector>("CostVector", &id)?;
    reference("CostVector", &id).ok()
}

/// Foresees what a run costs: a question for each section, one for each criterion that a model judges, and one revision of
/// everything where there is one.
///
/// # Errors
/// Something can't be written.
pub fn forecast(desk: &mut Desk, grounds: &Grounds) -> Result<StorageRef, Error> {
    let mut drafts = Vec::new();
    let mut once = Amounts::new();
    for artifact in desk.task().artifacts.clone() {
        let sections = artifact.sections().iter().map(|one| (one.id.clone(), drafted(one)));
        let pieces: Vec<(String, u64)> = match (artifact.from.is_some(), artifact.sections().is_empty()) {
            (true, _) => Vec::new(),
            (false, false) => sections.collect(),
            (false, true) => Vec::from([("whole".to_string(), CODE_TOKENS)]),
        };
        for (section, output) in pieces {
            let cost = grounds.model.cost(grounds.source_tokens.saturating_add(PROMPT_TOKENS), output);
            add(&mut once, &cost);
            drafts.push(plan(desk, &format!("draft.{}.{section}", artifact.id), &cost)?);
        }
    }
    let mut judgments = Vec::new();
    for outcome in desk.task().outcomes.clone() {
        let count = judged(desk, &outcome);
        if count > 0 {
            let input = PROMPT_TOKENS.saturating_add(grounds.source_tokens);
            let one = grounds.model.cost(input, JUDGMENT_TOKENS);
            let cost: Amounts =
                one.iter().map(|(unit, amount)| (*unit, amount.saturating_mul(count))).collect();
            let judged = format!("judge.{}", outcome.id);
            judgments.push(plan_within(desk, &judged, &cost, &most(&cost, count))?);
        }
    }
    let revision = plan(desk, "revision", &once)?;
    let mut parts = drafts;
    parts.extend(judgments.iter().cloned());
    if parts.is_empty() {
        parts.push(plan(desk, "nothing", &Amounts::new())?);
    }
    let (total, _) = sum(desk, &piece(desk, "total"), &parts)?;
    desk.put(&TaskRunCostForecast {
        forecast_id: desk.id("forecast"),
        task_id: desk.task().id.clone(),
        planned_run_id: Some(desk.run().to_string()),
        planned_cost_vector_ref: total,
        optional_helper_cost_vector_refs: Vec::from([revision]),
        non_degradable_mode_cost_vector_refs: judgments,
        skipped_if_budget_constrained: Vec::from(["revision".to_string()]),
        forecast_confidence: Confidence::Uncalibrated,
        created_at: desk.now(),
        schema_version: V10,
    })
}

fn plan(desk: &mut Desk, word: &str, amounts: &Amounts) -> Result<StorageRef, Error> {
    plan_within(desk, word, amounts, &Amounts::new())
}

fn plan_within(desk: &mut Desk, word: &str, amounts: &Amounts, most: &Amounts) -> Result<StorageRef, Error> {
    let id = piece(desk, word);
    let basis = (Basis::Heuristic, Confidence::Uncalibrated);
    let assumptions = ["each question is asked once, with all sources"];
    bounded_vector(desk, &id, (amounts, most), basis, &assumptions)
}

/// The most that so many judgments can say, as their requests allow. What goes in is only guessed.
fn most(cost: &Amounts, count: u64) -> Amounts {
    let most = u64::from(VERDICT_TOKENS_MAX).saturating_mul(count).saturating_mul(UNIT);
    cost.get(&Dimension::OutputTokens).map(|_| (Dimension::OutputTokens, most)).into_iter().collect()
}

fn drafted(section: &Section) -> u64 {
    section.quotes().saturating_mul(QUOTE_TOKENS)
}

/// How many criteria of an outcome a model judges: it is asked about each that has a rubric.
fn judged(desk: &Desk, outcome: &Outcome) -> u64 {
    let has_judge = desk.task().has_judge();
    outcome.criteria.iter().filter(|one| has_judge && one.rubric.is_some()).count() as u64
}
