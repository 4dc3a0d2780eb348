//! The words of `countersign lint`, `conformance` and `formula`.
//! Owns: their options and their help. Must not: act.

use clap::{Args, Subcommand, ValueEnum};
use countersign_record::time::{Instant, NotATimestamp, Timestamp};
use std::path::PathBuf;

fn instant(text: &str) -> Result<Instant, NotATimestamp> {
    Timestamp::try_from(text).map(|time| time.instant())
}

#[derive(Args, Debug)]
pub(crate) struct Lint {
    /// The bundle, or - for standard input
    #[arg(value_name = "BUNDLE|-", required_unless_present = "ledger", conflicts_with = "ledger")]
    pub(crate) bundle: Option<String>,
    /// The governed records of the matter's ledger instead of a bundle
    #[arg(long)]
    pub(crate) ledger: bool,
    /// It is a whole log: also fail where it contradicts itself
    #[arg(long)]
    pub(crate) whole: bool,
    /// Also fail where a member that no type has is there
    #[arg(long)]
    pub(crate) strict: bool,
    /// The time up to which is looked, instead of what the bundle says or the latest time of a row: rows that were written later
    /// are not there yet
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub(crate) as_of: Option<Instant>,
}

#[derive(Args, Debug)]
pub(crate) struct Conformance {
    /// Fixtures of this folder instead of those that come with the program
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Only this area, or kinds; may be given several times
    #[arg(long, value_name = "AREA")]
    pub(crate) area: Vec<String>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Formula {
    /// All formulas
    #[command(after_help = "Example:\n  countersign formula list --json")]
    List,
    /// One formula: its text, inputs, policies and test vectors
    #[command(after_help = "Example:\n  countersign formula show claim_support_v1")]
    Show {
        /// Which one
        #[arg(value_name = "ID")]
        id: String,
    },
    /// A value, with its receipt
    #[command(after_help = "Example:\n  countersign formula eval wilson_interval_v1 inputs.json")]
    Eval {
        /// Which formula
        #[arg(value_name = "ID")]
        id: String,
        /// The inputs, a JSON object, or - for standard input
        #[arg(value_name = "FILE|-")]
        inputs: String,
        /// The record of the value
        #[arg(long, value_name = "KIND:ID", default_value = "value:1")]
        output_ref: String,
    },
}

#[derive(Args, Debug)]
pub(crate) struct Derive {
    /// What is derived
    #[arg(value_enum, value_name = "KIND")]
    pub(crate) kind: Derivation,
    /// The inputs, a JSON object, or - for standard input
    #[arg(value_name = "FILE|-")]
    pub(crate) inputs: String,
    /// The record of the value
    #[arg(long, value_name = "KIND:ID", default_value = "value:1")]
    pub(crate) output_ref: String,
}

/// What can be derived; each is a registered formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Derivation {
    Chain,
    ClaimSupport,
    Sufficiency,
    Coverage,
    Improvement,
    SameReason,
    MetShare,
    Quality,
    Weights,
    BlockingAuthority,
    Reliance,
    Health,
    Taint,
    SourceTaint,
    Holding,
    Reputation,
    Regression,
    RegressionPenalty,
    CycleEfficiency,
    Novelty,
    Distance,
    Nearest,
    Template,
    TieBreak,
    Cost,
    Latency,
    #[value(alias = "calibration")]
    Brier,
    CalibrationError,
    Auc,
    Spearman,
    PrecisionRecall,
    Wilson,
    Normal,
    Bootstrap,
    Beta,
}

impl Derivation {
    /// The formula that it is.
    pub(crate) fn formula(self) -> &'static str {
        match self {
            Derivation::Chain => "pattern_c_resolution_v1",
            Derivation::ClaimSupport => "claim_support_v1",
            Derivation::Sufficiency => "sufficiency_route_v1",
            Derivation::Coverage => "capability_coverage_v1",
            Derivation::Improvement => "improvement_v1",
            Derivation::SameReason => "same_reason_v1",
            Derivation::MetShare => "met_share_v1",
            Derivation::Quality => "quality_index_v1",
            Derivation::Weights => "criterion_weights_v1",
            Derivation::BlockingAuthority => "blocking_authority_v1",
            Derivation::Reliance => "reliance_status_v1",
            Derivation::Health => "health_status_v1",
            Derivation::Taint => "taint_join_v1",
            Derivation::SourceTaint => "source_taint_v1",
            Derivation::Holding => "workspace_holding_v1",
            Derivation::Reputation => "sub_agent_reputation_score_v1",
            Derivation::Regression => "regression_rate_v1",
            Derivation::RegressionPenalty => "severity_weighted_penalty_rate_v1",
            Derivation::CycleEfficiency => "cycle_efficiency_v1",
            Derivation::Novelty => "novelty_v1",
            Derivation::Distance => "pattern_distance_v1",
            Derivation::Nearest => "nearest_pattern_v1",
            Derivation::Template => "template_match_score_v1",
            Derivation::TieBreak => "concurrency_tie_break_v1",
            Derivation::Cost => "cost_vector_sum_v1",
            Derivation::Latency => "latency_distribution_v1",
            Derivation::Brier => "planner_confidence_brier_score",
            Derivation::CalibrationError => "planner_confidence_expected_calibration_error",
            Derivation::Auc => "novelty_threshold_auc",
            Derivation::Spearman => "confidence_convergence_spearman",
            Derivation::PrecisionRecall => "novelty_threshold_precision_recall",
            Derivation::Wilson => "wilson_interval_v1",
            Derivation::Normal => "normal_interval_v1",
            Derivation::Bootstrap => "bootstrap_mean_interval_v1",
            Derivation::Beta => "beta_interval_v1",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_govern::formula::registry;

    /// Each kind is a formula of its own, and each formula has a kind.
    #[test]
    fn every_formula_has_its_kind() {
        let kinds: std::collections::BTreeSet<&str> =
            Derivation::value_variants().iter().map(|kind| kind.formula()).collect();
        assert_eq!(kinds.len(), Derivation::value_variants().len());
        let all: std::collections::BTreeSet<&str> = registry::all().map(|spec| spec.id).collect();
        assert_eq!(kinds, all);
    }
}
