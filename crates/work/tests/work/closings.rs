//! What is learned from a run, and what is shown when it ends or waits.

use crate::stage::Stage;
use countersign_govern::types::added::criterion::LatencyDistribution;
use countersign_govern::types::added::criterion::TemplateMatchEvaluation;
use countersign_govern::types::added::learned::LearningSignal;
use countersign_govern::types::calibration::CalibrationMetricResult;
use countersign_govern::types::chain::EvaluationChainResolutionReceipt as Resolution;
use countersign_govern::types::cost::{CostDimension as Dimension, TaskCostRecordCostClass as Class};
use countersign_govern::types::formula::{MetricObservation, MetricRollup};
use countersign_govern::types::novelty::{NoveltyAssessmentNoNeighbor, NoveltyAssessmentWithNeighbor};
use countersign_govern::types::outcome::OutcomeEvaluationState as State;
use countersign_govern::types::quality::{
    OutcomeCycleTerminalClass as Ended, RevisionCycleEfficiencyRollup, RevisionCycleOutcomeObservation,
    SeverityWeightedRegressionRate, SubAgentReputationScore, SubAgentReputationScoreScoreStatus as Score,
};
use countersign_govern::types::reliance::{
    DecisionAuditView, TaskHealthCard, TaskHealthCardHealthStatus as Health, UnifiedEvaluationChainView,
};
use countersign_work::cost::{self, Amounts, Grounds, Model, Piece, UNIT};
use countersign_work::learning::{self, Pattern};
use countersign_work::{attention, board, closing, contract, outcome};

fn last<T: countersign_govern::types::wire::Wire>(stage: &Stage, kind: &str) -> T {
    stage.desk.each::<T>(kind).next_back().unwrap().record
}

fn worked(stage: &mut Stage, activation: u64, millis: u64) {
    let amounts =
        Amounts::from([(Dimension::WallClockMs, millis * UNIT), (Dimension::OutputTokens, 10 * UNIT)]);
    let piece = Piece {
        module: "draft".to_owned(),
        activation,
        class: Class::LogicalLlmWork,
        planned: None,
        amounts,
    };
    cost::record(&mut stage.desk, &piece).unwrap();
}

/// A whole run: the contract, a draft that fails, one that passes, the packet, the end.
fn whole() -> Stage {
    let mut stage = Stage::with(r#""audience": "the director", "purpose": "deciding""#);
    cost::forecast(&mut stage.desk, &Grounds { source_tokens: 100, model: Model::Local }).unwrap();
    contract::open(&mut stage.desk).unwrap();
    worked(&mut stage, 1, 40);
    stage.failing();
    closing::show(&mut stage.desk).unwrap();
    stage.is_clean();
    worked(&mut stage, 2, 60);
    outcome::go(&mut stage.desk, "term-stated", State::Dirty, "revision step done", None).unwrap();
    let claims = stage.passing();
    stage.is_clean();
    stage.later();
    cost::narrative(&mut stage.desk).unwrap();
    assert_eq!(stage.hand_over(&claims), "safe_to_rely_within_scope");
    stage.is_clean();
    stage
}

#[test]
fn a_run_is_measured_when_it_is_over() {
    let mut stage = whole();
    stage.later();
    closing::end(&mut stage.desk, None).unwrap();
    stage.is_clean();
    let cycles: Vec<(u64, Ended)> = stage
        .desk
        .all::<RevisionCycleOutcomeObservation>()
        .map(|one| (one.cycle_count, one.terminal_class))
        .collect();
    assert_eq!(cycles, [(2, Ended::Succeeded)]);
    let efficiency: RevisionCycleEfficiencyRollup = last(&stage, "RevisionCycleEfficiencyRollup");
    assert_eq!(efficiency.avg_cycles_to_success.map(|one| one.literal()).as_deref(), Some("2"));
    let rollup: MetricRollup = last(&stage, "MetricRollup");
    assert_eq!(rollup.sample_size, 1);
    let regressions: SeverityWeightedRegressionRate = last(&stage, "SeverityWeightedRegressionRate");
    assert_eq!((regressions.accepted_count, regressions.regression_introduced_count), (2, 0));
    let latency: LatencyDistribution = last(&stage, "LatencyDistribution");
    assert_eq!(latency.sample_size, 2);
    // Too few cases to say more, and so it is said.
    let calibration: CalibrationMetricResult = last(&stage, "CalibrationMetricResult");
    assert_eq!((calibration.metric_value.0, calibration.sample_size), (None, 0));
    let worth: SubAgentReputationScore = last(&stage, "SubAgentReputationScore");
    assert_eq!((worth.score_status, worth.sample_size), (Score::InsufficientSample, 2));
    let alone: NoveltyAssessmentNoNeighbor = last(&stage, "NoveltyAssessmentNoNeighbor");
    assert!(alone.novelty_score.0.is_none() && alone.forces_fresh_reasoning);
    assert_eq!(last::<LearningSignal>(&stage, "LearningSignal").receipt_refs.len(), 2);
}

#[test]
fn the_nearest_task_is_found() {
    let mut stage = whole();
    let own = learning::features(stage.desk.task());
    let mut other = own.clone();
    other.insert("source:email".to_owned());
    let pattern = |id: &str, features| Pattern { id: id.to_owned(), features };
    let patterns = [pattern("far", [].into()), pattern("near", other.clone()), pattern("also-near", other)];
    stage.later();
    let near = learning::nearest(stage.desk.task(), &patterns);
    learning::measure(&mut stage.desk, near.as_ref()).unwrap();
    stage.is_clean();
    let near: NoveltyAssessmentWithNeighbor = last(&stage, "NoveltyAssessmentWithNeighbor");
    assert_eq!(near.closest_pattern_id, "also-near");
    assert!(!near.forces_fresh_reasoning);
    let fit: TemplateMatchEvaluation = last(&stage, "TemplateMatchEvaluation");
    assert_eq!(fit.overall_score.literal(), "0.9");
}

#[test]
fn an_observation_that_was_withdrawn_does_not_count() {
    let mut stage = whole();
    stage.later();
    learning::measure(&mut stage.desk, None).unwrap();
    let observation = stage.desk.all::<MetricObservation>().find(|one| one.metric_id == "regression_rate_v1");
    let observation = format!("metric_observation:{}", observation.unwrap().observation_id);
    let observation = observation.as_str().try_into().unwrap();
    learning::withdraw(&mut stage.desk, &observation, "it was counted twice").unwrap();
    stage.is_clean();
    stage.later();
    learning::measure(&mut stage.desk, None).unwrap();
    stage.is_clean();
    let rollup: MetricRollup = last(&stage, "MetricRollup");
    assert_eq!((rollup.sample_size, rollup.excluded_observation_refs.len()), (1, 1));
}

#[test]
fn a_regression_is_counted() {
    let mut stage = whole();
    outcome::go(&mut stage.desk, "term-stated", State::Dirty, "artifact/source/upstream changed", None)
        .unwrap();
    stage.failing();
    assert_eq!(outcome::state(&stage.desk, "term-stated"), State::Regressed);
    stage.later();
    learning::measure(&mut stage.desk, None).unwrap();
    let rate: SeverityWeightedRegressionRate = last(&stage, "SeverityWeightedRegressionRate");
    assert_eq!((rate.accepted_count, rate.regression_introduced_count), (3, 1));
}

#[test]
fn what_is_shown_follows_from_the_records() {
    let mut stage = whole();
    stage.later();
    closing::end(&mut stage.desk, None).unwrap();
    let card: TaskHealthCard = last(&stage, "TaskHealthCard");
    // The packet waits to be read.
    assert_eq!(card.health_status, Health::Warning);
    assert!(card.budget_status_ref.is_some() && card.reliance_packet_ref.is_some());
    let resolution = stage.desk.all::<Resolution>().next_back().unwrap();
    let shown: UnifiedEvaluationChainView = last(&stage, "UnifiedEvaluationChainView");
    let fresh = closing::chain_view(&stage.desk, &resolution).unwrap();
    let same = UnifiedEvaluationChainView {
        view_id: shown.view_id.clone(),
        derived_read_model_ref: shown.derived_read_model_ref.clone(),
        ..fresh
    };
    assert_eq!(shown, same);
    let shown: DecisionAuditView = last(&stage, "DecisionAuditView");
    let trace = shown.explanation_trace_ref.clone().unwrap();
    let fresh = closing::decision_view(&stage.desk, &resolution, &trace).unwrap();
    let same = DecisionAuditView {
        audit_view_id: shown.audit_view_id.clone(),
        derived_read_model_ref: shown.derived_read_model_ref.clone(),
        ..fresh
    };
    assert_eq!(shown, same);
    waits_as_due(&stage);
}

/// The open items are what is due.
fn waits_as_due(stage: &Stage) {
    let due: Vec<_> =
        attention::due(&stage.desk).unwrap().into_iter().map(|one| (one.kind, one.source)).collect();
    let open: Vec<_> =
        attention::open(&stage.desk).into_iter().map(|one| (one.attention_kind, one.source_ref)).collect();
    assert_eq!(open, due);
}

#[test]
fn what_waits_is_shown_until_it_is_answered() {
    let mut stage = Stage::with(r#""budget": {"output_tokens": 5}"#);
    stage.failing();
    closing::show(&mut stage.desk).unwrap();
    stage.is_clean();
    assert_eq!(last::<TaskHealthCard>(&stage, "TaskHealthCard").health_status, Health::Blocked);
    let next = Amounts::from([(Dimension::OutputTokens, 9 * UNIT)]);
    let over = cost::may(&stage.desk, &next).unwrap_err();
    let question = cost::raise(&mut stage.desk, &over).unwrap();
    closing::show(&mut stage.desk).unwrap();
    stage.is_clean();
    waits_as_due(&stage);
    assert_eq!(attention::open(&stage.desk).len(), 1);
    stage.answer(&question, "grant").unwrap();
    closing::show(&mut stage.desk).unwrap();
    stage.is_clean();
    waits_as_due(&stage);
    assert!(attention::open(&stage.desk).is_empty());
    // What was shown before is closed, and nothing is told twice.
    let before = stage.desk.end();
    board::tell(&mut stage.desk).unwrap();
    assert_eq!(stage.desk.end(), before);
}

#[test]
fn the_same_steps_give_the_same_records() {
    let rows = || {
        let mut stage = whole();
        stage.later();
        closing::end(&mut stage.desk, None).unwrap();
        stage.desk.rows().cloned().collect::<Vec<_>>()
    };
    assert_eq!(rows(), rows());
}
