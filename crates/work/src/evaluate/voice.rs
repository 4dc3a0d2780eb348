//! The two who look at the work, and what each says.
//! Owns: their envelopes, and the quality index of the judge. Must not: put them together; the chain does.

use super::Round;
use super::lacking::Lacking;
use crate::desk::{Desk, Error, From, reference};
use crate::finding;
use crate::names::references;
use crate::outcome;
use crate::score::{Found, Lacks, Scored};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::formula::NotEvaluated;
use countersign_govern::table::outcome::entry;
use countersign_govern::types::basic::{
    AssuranceBasis, Criterion, EvaluatedTarget, EvaluationBasis, EvaluationRouteRecommendation,
    OutcomeComplianceScoringConfig, ProducerKind, ScoringBasis, StorageRef, TargetKind,
};
use countersign_govern::types::chain::EvaluationResultEnvelope;
use countersign_govern::types::outcome::{
    EvaluationDecision, EvaluationLimitationKind as Limitation, EvaluationVerdict as Verdict,
    IndeterminateCause as Cause, OutcomeEvaluationDisposition as Disposition,
    OutcomeEvaluationState as State, SubstantiveVerdictStatus,
};
use countersign_govern::types::quality::{QualityIndex, QualityIndexDerivedPassStatus as Pass};
use countersign_govern::types::wire::{OrNull, Reading, Wire};
use countersign_record::json::{Json, Object};

/// What one of the two said.
pub(super) struct Voice {
    pub(super) result_id: String,
    pub(super) producer: ProducerKind,
    pub(super) verdict: Verdict,
    pub(super) state: State,
    pub(super) causes: Vec<Cause>,
}

/// Those who speak in a chain.
pub(super) struct Voices<'a> {
    pub(super) evaluator: &'a Voice,
    pub(super) judge: &'a Voice,
    pub(super) person: Option<&'a Voice>,
}

impl<'a> Voices<'a> {
    /// All, in the order in which they speak.
    pub(super) fn all(&self) -> impl Iterator<Item = &'a Voice> + use<'a> {
        [self.evaluator, self.judge].into_iter().chain(self.person)
    }

    /// The one that decides: of those who say what the chain came to the person, else the first.
    pub(super) fn decisive(&self, verdict: Verdict) -> Option<&'a Voice> {
        let mut all = self.person.into_iter().chain([self.evaluator, self.judge]);
        all.find(|voice| voice.verdict == verdict)
    }
}

/// What the evaluator says.
pub(super) fn evaluator(
    desk: &mut Desk,
    round: &Round<'_>,
    verdict: Verdict,
    lacking: &Lacking<'_>,
    passed: &[String],
) -> Result<Voice, Error> {
    let open = lacking.first().map(|(_, lacks)| lacks).filter(|_| verdict == Verdict::Indeterminate);
    let state = match (round.ended, verdict, open) {
        (Some(state), ..) => state,
        (None, Verdict::Indeterminate, Some(lacks)) => state_of(lacks),
        (None, Verdict::Failed, _) => short(desk, round),
        (None, Verdict::Passed | Verdict::NotApplicable | Verdict::Indeterminate, _) => State::Satisfied,
    };
    let causes: Vec<Cause> = match round.ended {
        Some(state) => entry(state).causes.first().copied().into_iter().collect(),
        None => open.map(cause).into_iter().collect(),
    };
    let mut limitations: Vec<Limitation> = lacking.limitations().collect();
    limitations.extend(round.ended.and_then(limited));
    limitations.sort_unstable();
    limitations.dedup();
    speak(desk, round, ProducerKind::OutcomeEvaluator, verdict, (state, causes, limitations), passed)
}

/// Why a verdict is open, by what is lacking.
fn cause(lacks: Lacks) -> Cause {
    match lacks {
        Lacks::Label | Lacks::Anchor | Lacks::Choice | Lacks::Judge | Lacks::Tool => {
            Cause::HumanJudgmentRequired
        }
        Lacks::Information => Cause::MissingInformation,
    }
}

/// Where an outcome stands for which something is lacking.
fn state_of(lacks: Lacks) -> State {
    match lacks {
        Lacks::Label | Lacks::Anchor | Lacks::Choice | Lacks::Judge | Lacks::Tool => {
            State::NeedsHumanJudgment
        }
        Lacks::Information => State::NeedsInformation,
    }
}

/// Where an outcome stands that falls short: worse than before, if it was met before.
pub(super) fn short(desk: &Desk, round: &Round<'_>) -> State {
    if outcome::was_satisfied(desk, &round.outcome.id) { State::Regressed } else { State::NeedsRevision }
}

/// What limits an outcome that nothing will mend.
fn limited(state: State) -> Option<Limitation> {
    match state {
        State::NeedsInformation => Some(Limitation::InsufficientEvidence),
        State::NeedsVerification => Some(Limitation::StaleEvidence),
        State::NeedsHumanJudgment => Some(Limitation::HumanJudgmentNeeded),
        State::UnableToEvaluate => Some(Limitation::MissingCapability),
        State::BlockedByPolicy => Some(Limitation::PolicyBlocked),
        State::Pending
        | State::PendingDependency
        | State::Evaluating
        | State::Dirty
        | State::Satisfied
        | State::NeedsRevision
        | State::Regressed
        | State::UpstreamFailure
        | State::Unrecoverable
        | State::Superseded
        | State::MaxIterationsReached => None,
    }
}

/// What the judge says: the scores in one number, and whether that is enough.
pub(super) fn judge(desk: &mut Desk, round: &Round<'_>, scores: &[Scored]) -> Result<Voice, Error> {
    let index = index(desk, round, scores)?;
    let (verdict, state) = match index {
        Some(Pass::Passed) => (Verdict::Passed, State::Satisfied),
        Some(Pass::FailedThreshold | Pass::FailedRequiredGate) => (Verdict::Failed, short(desk, round)),
        Some(Pass::Indeterminate) | None => (Verdict::Indeterminate, State::NeedsInformation),
    };
    let causes =
        if verdict == Verdict::Indeterminate { Vec::from([Cause::MissingInformation]) } else { Vec::new() };
    let limitations = causes.iter().map(|_| Limitation::InsufficientEvidence).collect();
    let passed: Vec<String> = match verdict {
        Verdict::Passed => met(scores),
        Verdict::Failed | Verdict::Indeterminate | Verdict::NotApplicable => Vec::new(),
    };
    let voice = speak(desk, round, ProducerKind::Judge, verdict, (state, causes, limitations), &passed)?;
    finding::observe(desk, round, &voice.result_id, &passed)?;
    Ok(voice)
}

/// What a person says whom the two made decide.
pub(super) fn human(
    desk: &mut Desk,
    round: &Round<'_>,
    verdict: Verdict,
    state: State,
    said: Vec<StorageRef>,
) -> Result<Voice, Error> {
    let basis = (Vec::from([AssuranceBasis::HumanReview]), said);
    let stands = (state, Vec::new(), Vec::new());
    spoken(desk, round, ProducerKind::HumanReviewer, verdict, stands, &[], basis)
}

/// The criteria that have a value.
fn met(scores: &[Scored]) -> Vec<String> {
    let has_value = |one: &&Scored| matches!(one.found, Found::Value { .. });
    scores.iter().filter(has_value).map(|one| one.criterion.clone()).collect()
}

/// Why the formula has no index: nothing that was scored counts, or what counts weighs nothing. An index of nothing would say that all is
/// well, or that nothing is.
const NOTHING_COUNTS: [&str; 2] = ["no_aggregation_eligible_criteria", "criterion_weight_sum_zero"];

/// The quality index of an outcome, with its receipt; none where nothing of it counts.
fn index(desk: &mut Desk, round: &Round<'_>, scores: &[Scored]) -> Result<Option<Pass>, Error> {
    let weights = weights(desk, round)?;
    let (mut dimensions, mut refs) = (Vec::new(), Vec::new());
    for (criterion, scored) in round.outcome.criteria.iter().zip(scores) {
        let id = desk.own(&criterion.id);
        refs.push(reference("Criterion", &id)?);
        let Some(weight) = weights.get(&id) else { continue };
        let mut dimension = Object::from([
            ("criterion_id", Json::from(id.as_str())),
            ("weight", weight.clone()),
            ("required", criterion.is_required().into()),
            ("threshold", Json::Number(criterion.threshold())),
        ]);
        if let Found::Value { value, receipt, .. } = &scored.found {
            dimension.insert("score", value.clone());
            refs.push(receipt.clone());
        }
        dimensions.push(Json::Object(dimension));
    }
    let inputs = Object::from([
        ("dimensions", Json::Array(dimensions)),
        ("aggregation_method", round.outcome.aggregation().as_str().into()),
        ("missing_dimension_policy", round.outcome.missing().as_str().into()),
        ("pass_threshold", Json::Number(round.outcome.threshold())),
    ]);
    let id = desk.id("quality");
    let from = From {
        formula: "quality_index_v1",
        inputs,
        input_refs: refs,
        output_ref: reference("QualityIndex", &id)?,
    };
    match desk.value(&from) {
        Err(Error::NoValue { why: NotEvaluated::Input(wrong), .. })
            if wrong.code.is_some_and(|code| NOTHING_COUNTS.contains(&code)) =>
        {
            return Ok(None);
        }
        Ok(_) | Err(_) => {}
    }
    let whole = |value: &Json| {
        let mut members = value.as_object().cloned().unwrap_or_default();
        members.insert("aggregation_method", round.outcome.aggregation().as_str());
        members.insert("missing_dimension_policy", round.outcome.missing().as_str());
        members.insert("metric_semantics_version", "1.0.0");
        members.insert("schema_version", "1.1");
        members
    };
    let derived = desk.derive(from, |value| whole(value).into())?;
    let mut members = whole(&derived.value);
    members.insert("formula_eval_receipt_ref", derived.receipt.as_str());
    let index = QualityIndex::read(&members.into(), &mut Reading::default())
        .ok_or_else(|| Error::Missing("quality index".to_string()))?;
    desk.open_named("QualityIndex", &id, &index)?;
    Ok(Some(index.derived_pass_status))
}

fn config_id(desk: &Desk, round: &Round<'_>) -> String {
    desk.own(&alloc::format!("{}.scoring", round.outcome.id))
}

/// How the outcome is scored now.
fn config(desk: &Desk, round: &Round<'_>) -> Result<OutcomeComplianceScoringConfig, Error> {
    let id = config_id(desk, round);
    desk.find("OutcomeComplianceScoringConfig", &id).ok_or(Error::Missing(id))
}

/// What each criterion weighs, by the formula.
fn weights(desk: &mut Desk, round: &Round<'_>) -> Result<Object, Error> {
    let config = config(desk, round)?;
    let mut criteria = Vec::new();
    let ids: Vec<String> = round.outcome.criteria.iter().map(|one| desk.own(&one.id)).collect();
    for id in &ids {
        let criterion: Criterion = desk.find("Criterion", id).ok_or_else(|| Error::Missing(id.clone()))?;
        criteria.push(criterion.write().unwrap_or(Json::Null));
    }
    let inputs =
        Object::from([("criteria", Json::Array(criteria)), ("config", config.write().unwrap_or(Json::Null))]);
    let from = From {
        formula: "criterion_weights_v1",
        inputs,
        input_refs: references("Criterion", ids.iter().map(String::as_str))?,
        output_ref: reference("OutcomeComplianceScoringConfig", &config_id(desk, round))?,
    };
    Ok(desk.derive_whole(from)?.value.as_object().cloned().unwrap_or_default())
}

type Stands = (State, Vec<Cause>, Vec<Limitation>);

/// What something rests on, and where a person said so.
type Basis = (Vec<AssuranceBasis>, Vec<StorageRef>);

/// Writes what one of the two says.
fn speak(
    desk: &mut Desk,
    round: &Round<'_>,
    producer: ProducerKind,
    verdict: Verdict,
    stands: Stands,
    passed: &[String],
) -> Result<Voice, Error> {
    spoken(desk, round, producer, verdict, stands, passed, (bases(round), Vec::new()))
}

/// Writes what somebody says.
fn spoken(
    desk: &mut Desk,
    round: &Round<'_>,
    producer: ProducerKind,
    verdict: Verdict,
    (state, causes, limitations): Stands,
    passed: &[String],
    (basis_kinds, human_feedback_refs): Basis,
) -> Result<Voice, Error> {
    let result_id = desk.id("result");
    let disposition = Disposition::find(state.as_str()).unwrap_or(Disposition::NeedsRevision);
    let ids: Vec<String> = round.outcome.criteria.iter().map(|one| desk.own(&one.id)).collect();
    desk.put(&EvaluationResultEnvelope {
        result_id: result_id.clone(),
        producer_kind: producer,
        outcome_id: desk.own(&round.outcome.id),
        run_id: desk.run().to_string(),
        evaluated_target: EvaluatedTarget {
            target_kind: TargetKind::Artifact,
            artifact_ref: Some(round.artifact_ref.clone()),
            artifact_version_ref: Some(round.version_ref.clone()),
            scope_ref: None,
            claim_ref: None,
            plan_ref: None,
            run_id: None,
            process_ref: None,
        },
        evaluation_basis: EvaluationBasis {
            snapshot_ref: Some(round.snapshot_ref.clone()),
            basis_kinds,
            source_workspace_snapshot_refs: Vec::from([round.read_ref.clone()]),
            human_feedback_refs,
            criteria_refs: references("Criterion", ids.iter().map(String::as_str))?,
        },
        target_artifact_ref: OrNull(Some(round.artifact_ref.clone())),
        target_artifact_version_ref: OrNull(Some(round.version_ref.clone())),
        target_scope_ref: OrNull(None),
        target_evaluation_chain_id: Some(round.chain_id.clone()),
        evaluation_snapshot_ref: round.snapshot_ref.clone(),
        route_recommendation: EvaluationRouteRecommendation {
            recommended_branch: entry(state).branch,
            repair_instruction_refs: Vec::new(),
            rationale: entry(state).label.to_string(),
        },
        schema_version: "1.0".to_string(),
        decision: Some(EvaluationDecision {
            verdict,
            disposition,
            substantive_verdict_status: SubstantiveVerdictStatus::SubstantiveVerdictReached,
            indeterminate_causes: causes.clone(),
            limitations,
            missing_source_refs: None,
            passed_criterion_ids: Some(passed.iter().map(|id| desk.own(id)).collect()),
        }),
    })?;
    Ok(Voice { result_id, producer, verdict, state, causes })
}

fn bases(round: &Round<'_>) -> Vec<AssuranceBasis> {
    let mut all: Vec<AssuranceBasis> = round
        .outcome
        .criteria
        .iter()
        .map(|one| match one.basis {
            ScoringBasis::DeterministicCheck => AssuranceBasis::DeterministicCheck,
            ScoringBasis::SourceGrounded => AssuranceBasis::SourceReference,
            ScoringBasis::AnchoredRubric => AssuranceBasis::RubricAnchoredJudgment,
            ScoringBasis::HumanLabel => AssuranceBasis::HumanReview,
            ScoringBasis::UnanchoredLlmJudgment => AssuranceBasis::ModelJudgment,
        })
        .collect();
    all.sort();
    all.dedup();
    all
}
