//! Orders of trust, secrecy, severity, confidence and of statuses: joining takes the greater, or the lesser of confidences.
//! Owns: the ranks. Must not: know whose they are.
//!
//! Taint classes, data classes and severities stand in their order already where the contract lists them, so they compare as
//! they are; the words here do not.

use crate::types::basic::EstimatorConfidence;
use crate::types::cost::CostVectorBasis as Basis;
use crate::types::reliance::{RelianceStatus, TaskHealthCardHealthStatus as Health};
use crate::types::sufficiency::{CapabilityCoverageAssessmentCoverageState as Coverage, SufficiencyTrigger};

/// What has a place in an order that is not the one in which the contract lists the words.
pub trait Ranked: Copy {
    /// Its place, from 0.
    fn rank(self) -> u8;
}

/// The one of the highest place.
pub fn highest<T: Ranked>(all: impl IntoIterator<Item = T>) -> Option<T> {
    all.into_iter().max_by_key(|one| one.rank())
}

/// The one of two of the lower place.
pub fn lower<T: Ranked>(one: T, other: T) -> T {
    if other.rank() < one.rank() { other } else { one }
}

/// The one of the lowest place.
pub fn lowest<T: Ranked>(all: impl IntoIterator<Item = T>) -> Option<T> {
    all.into_iter().reduce(lower)
}

/// The furthest that somebody may rely on something first.
impl Ranked for RelianceStatus {
    fn rank(self) -> u8 {
        match self {
            RelianceStatus::SafeToRelyWithinScope => 0,
            RelianceStatus::RelyWithLimitations => 1,
            RelianceStatus::HumanReviewRequired => 2,
            RelianceStatus::NotSafeToRely => 3,
        }
    }
}

/// The best first.
impl Ranked for Health {
    fn rank(self) -> u8 {
        match self {
            Health::Healthy => 0,
            Health::Warning => 1,
            Health::ReviewRequired => 2,
            Health::Blocked => 3,
            Health::Failed => 4,
        }
    }
}

/// The least covered first.
impl Ranked for Coverage {
    fn rank(self) -> u8 {
        match self {
            Coverage::NotCovered => 0,
            Coverage::PartiallyCovered => 1,
            Coverage::CoveredButUnhealthy => 2,
            Coverage::Covered => 3,
        }
    }
}

/// The least sure first; a sum has the lowest of its parts.
impl Ranked for EstimatorConfidence {
    fn rank(self) -> u8 {
        match self {
            EstimatorConfidence::Experimental => 0,
            EstimatorConfidence::Uncalibrated => 1,
            EstimatorConfidence::Calibrated => 2,
        }
    }
}

/// The weakest first; a sum has the lowest of its parts.
impl Ranked for Basis {
    fn rank(self) -> u8 {
        match self {
            Basis::Heuristic => 0,
            Basis::ModelPriced => 1,
            Basis::Historical => 2,
            Basis::ProviderQuote => 3,
            Basis::MeasuredActual => 4,
        }
    }
}

/// The one that decides first.
impl Ranked for SufficiencyTrigger {
    fn rank(self) -> u8 {
        match self {
            SufficiencyTrigger::PolicyProhibitsRequiredStep => 0,
            SufficiencyTrigger::ContradictoryRequirements => 1,
            SufficiencyTrigger::NoCapabilityCoversOutcome => 2,
            SufficiencyTrigger::CapabilityUnavailableOrUnhealthy => 3,
            SufficiencyTrigger::EvidenceInsufficientToProceed => 4,
            SufficiencyTrigger::VerificationUnresolvable => 5,
            SufficiencyTrigger::PreconditionUnresolvable => 6,
            SufficiencyTrigger::ExternalSideEffectRequiresUngrantedApproval => 7,
            SufficiencyTrigger::BudgetCapPreventsMinimalSufficientAttempt => 8,
            SufficiencyTrigger::CascadeCycleDetected => 9,
            SufficiencyTrigger::IdenticalOutputLoopDetected => 10,
            SufficiencyTrigger::AllPolicyAllowedProceduresExhausted => 11,
            SufficiencyTrigger::MaxAttemptsWithoutMaterialScoreImprovement => 12,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::basic::{DataClass, Severity, TaintClass};
    use std::vec::Vec;

    fn check<T: Copy>(all: &[T], word: fn(T) -> &'static str, rank: impl Fn(T) -> u8, expected: &[&str]) {
        let mut sorted: Vec<T> = all.to_vec();
        sorted.sort_by_key(|one| rank(*one));
        assert_eq!(sorted.iter().map(|one| word(*one)).collect::<Vec<_>>(), expected);
        assert!(sorted.iter().zip(0_u8..).all(|(one, at)| rank(*one) == at), "{expected:?}");
    }

    #[test]
    #[rustfmt::skip] // one to a line
    fn the_orders_are_those_of_the_contract() {
        check(TaintClass::ALL, TaintClass::as_str, |one| one as u8, &["internal_corpus_trusted", "user_trusted_bounded", "external_authority_trusted", "external_untrusted", "unclassified"]);
        check(DataClass::ALL, DataClass::as_str, |one| one as u8, &["public", "internal", "privileged", "local_only"]);
        check(Severity::ALL, Severity::as_str, |one| one as u8, &["low", "medium", "high", "blocking"]);
        check(EstimatorConfidence::ALL, EstimatorConfidence::as_str, Ranked::rank, &["experimental", "uncalibrated", "calibrated"]);
        check(Basis::ALL, Basis::as_str, Ranked::rank, &["heuristic", "model_priced", "historical", "provider_quote", "measured_actual"]);
        check(RelianceStatus::ALL, RelianceStatus::as_str, Ranked::rank, &["safe_to_rely_within_scope", "rely_with_limitations", "human_review_required", "not_safe_to_rely"]);
        check(Health::ALL, Health::as_str, Ranked::rank, &["healthy", "warning", "review_required", "blocked", "failed"]);
        check(Coverage::ALL, Coverage::as_str, Ranked::rank, &["not_covered", "partially_covered", "covered_but_unhealthy", "covered"]);
        check(SufficiencyTrigger::ALL, SufficiencyTrigger::as_str, Ranked::rank, &["policy_prohibits_required_step", "contradictory_requirements", "no_capability_covers_outcome", "capability_unavailable_or_unhealthy", "evidence_insufficient_to_proceed", "verification_unresolvable", "precondition_unresolvable", "external_side_effect_requires_ungranted_approval", "budget_cap_prevents_minimal_sufficient_attempt", "cascade_cycle_detected", "identical_output_loop_detected", "all_policy_allowed_procedures_exhausted", "max_attempts_without_material_score_improvement"]);
    }
}
