//! What is measured of a run when it is over: for other runs, not for the work.
//! Owns: which records these are. Must not: let anything pass as a measure that the reliance on the work rests on.

use crate::case::Case;
use countersign_govern::member::Member;
use countersign_govern::world::Record;
use countersign_record::json::Json;

/// Records that are taken as they are told: the contract holds them, their rows and receipts are whole, and nothing in a packet rests
/// on them. How often a run regressed, how fast it was, how new it is and how good its parts are is counted over more than one run.
pub const TOLD: [&str; 16] = [
    "CalibrationMetricResult",
    "CalibrationMetricSpec",
    "LatencyDistribution",
    "LearningSignal",
    "MetricRollup",
    "NoveltyAssessmentMeasured",
    "NoveltyAssessmentNoNeighbor",
    "NoveltyAssessmentWithNeighbor",
    "NoveltyMetricSpec",
    "RevisionCycleEfficiencyRollup",
    "SeverityWeightedRegressionRate",
    "SubAgentReputationFormulaConfig",
    "SubAgentReputationScore",
    "TemplateMatchEvaluation",
    "TemplateMatchFormula",
    "TemplateMatchScore",
];

/// Records of what goes along with the work, which are taken as they are told: what a run found that can be done there, what its parts asked
/// each other, what was read off the board, what was done at once, what was gone through again. The contract holds them, somebody was at
/// work where they stand, and no status rests on them beyond what other records say.
pub const ALONG: [&str; 16] = [
    "AssistanceFallbackEvent",
    "CapabilitySnapshot",
    "DigestSelection",
    "ForumPauseEvent",
    "ForumProposalSelection",
    "ForumRoomRecord",
    "ForumTick",
    "ModeratorFailureEvent",
    "ModuleAssistanceAnswer",
    "ModuleAssistanceRequest",
    "ParallelBatch",
    "ParallelBatchFinalizationReceipt",
    "ReplayDivergenceRecord",
    "ReplayStepResult",
    "RunBoardDigest",
    "TaskReplayRequest",
];

/// The formulas of measures.
pub const FORMULAS: [&str; 8] = [
    "cycle_efficiency_v1",
    "latency_distribution_v1",
    "novelty_v1",
    "planner_confidence_brier_score",
    "regression_rate_v1",
    "severity_weighted_penalty_rate_v1",
    "sub_agent_reputation_score_v1",
    "template_match_score_v1",
];

/// Whether a record was written when the run was over: behind its packet, with the look at its policies. A packet that was renewed
/// later comes behind it.
pub(crate) fn is_at_the_end(case: &Case<'_>, record: Record<'_>) -> bool {
    let at = |one: Record<'_>| case.row(one).map(|row| &row.at);
    let packet = case.world.of("TaskReliancePacket").next();
    let fresh = case.last("PolicyFreshnessRecord", record.seq());
    packet.is_some_and(|one| one.seq() < record.seq()) && fresh.is_some_and(|one| at(one) == at(record))
}

/// Whether a value or its receipt is a measure.
pub(crate) fn is_told(case: &Case<'_>, record: Record<'_>) -> bool {
    let json = record.json();
    let is_measure = match record.kind() {
        "FormulaEvaluationReceipt" => json.is_one_of("formula_id", &FORMULAS),
        "MetricObservation" => json.is_one_of("metric_id", &FORMULAS),
        _value => {
            let receipts = case.until("FormulaEvaluationReceipt", record.seq());
            let before = receipts.last().filter(|one| one.seq() + 1 == record.seq());
            before.is_some_and(|one| one.json().is_one_of("formula_id", &FORMULAS))
        }
    };
    is_measure && is_at_the_end(case, record)
}

/// From when the run began until a record was written.
pub(crate) fn window(case: &Case<'_>, record: Record<'_>) -> (Option<Json>, Option<Json>) {
    let began = case.before("PolicyEvaluation", &case.own("leave"), record.seq());
    let end = case.row(record).map(|row| Json::from(row.at.as_str()));
    (began.and_then(|one| one.json().at("decided_at").cloned()), end)
}
