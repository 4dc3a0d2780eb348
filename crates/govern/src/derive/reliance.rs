//! Whether somebody may rely on a work product, and how a task is doing.
//! Owns: limitations, reliance status, health. Must not: find the facts; a rule gathers them.
//!
//! Invariant: each fact says how far reliance goes at best, and the worst of them counts, so one more fact never improves a
//! status or a health.

use crate::table::order;
use crate::types::source::LegalTreatmentStatus;
use alloc::collections::BTreeSet;

pub use crate::types::basic::Severity;
pub use crate::types::outcome::OutcomeEvaluationState as State;
pub use crate::types::reliance::{
    RelianceLimitationKind as Limitation, RelianceStatus as Status, TaskHealthCardHealthStatus as Health,
};

impl Status {
    /// Whether a certification may be issued on it.
    #[must_use]
    pub fn may_be_issued(self) -> bool {
        match self {
            Status::SafeToRelyWithinScope | Status::RelyWithLimitations => true,
            Status::HumanReviewRequired | Status::NotSafeToRely => false,
        }
    }
}

impl Limitation {
    /// How far one may rely with it at best.
    #[must_use]
    pub fn status(self) -> Status {
        match self {
            Limitation::EvidencePackageMissing => Status::NotSafeToRely,
            Limitation::HumanJudgmentNeeded
            | Limitation::UnreviewedCandidateRevision
            | Limitation::PatternCChainUnresolved => Status::HumanReviewRequired,
            Limitation::InsufficientEvidence
            | Limitation::MissingCapability
            | Limitation::SourceUnavailable
            | Limitation::PolicyBlocked
            | Limitation::StaleEvidence
            | Limitation::UnableToGroundClaim
            | Limitation::UncheckedClaimsPresent
            | Limitation::ExternalSideEffectUnverified
            | Limitation::StaleSourcePresent
            | Limitation::UnresolvedResearchNeed
            | Limitation::PolicyWarning => Status::RelyWithLimitations,
        }
    }
}

/// Whether nobody can be sure of a source: it is out of date, nobody verified it, or it is law that is not current.
#[must_use]
pub fn is_doubtful(is_verified: bool, is_stale: bool, treatment: Option<LegalTreatmentStatus>) -> bool {
    is_stale || !is_verified || treatment.is_some_and(|treatment| treatment != LegalTreatmentStatus::Current)
}

/// Something that stands between a work product and somebody who would rely on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fact {
    /// A chain of evaluations came to failed.
    ChainFailed,
    /// A chain has no resolution, or one that says to wait or to try again.
    ChainUnresolved,
    /// A chain was sent to a person.
    ChainForAPerson,
    /// A finding that may block is still live.
    LiveBlocker,
    /// A claim is contradicted.
    ClaimContradicted,
    /// Nothing supports a claim.
    ClaimUnsupported,
    /// A claim is supported in part.
    ClaimPartlySupported,
    /// Nobody looked at a claim.
    ClaimUnchecked,
    /// There is no evidence package.
    EvidenceMissing,
    /// A source is stale or unverified.
    SourceStale,
    /// A question to the sources is open.
    NeedUnresolved,
    /// A candidate was not decided on.
    CandidateUnreviewed,
    /// A question to a person is open.
    HardCallOpen,
    /// A policy let it pass with a warning.
    PolicyWarned,
    /// A policy denied a part of it.
    PolicyDenied,
    /// A policy asks for a person.
    PolicyAsksForAPerson,
    /// An effect outside was done and nothing proves how.
    SideEffectUnverified,
    /// An outcome that must be met was given up, or could not be looked at because of another.
    OutcomeGivenUp,
    /// An outcome that need not be met is not.
    OptionUnmet,
    /// An evaluation said that it is limited.
    Limited(Limitation),
}

impl Fact {
    /// What it is called in the list of limitations, if it has a place there.
    #[must_use]
    pub fn limitation(self) -> Option<Limitation> {
        match self {
            Fact::ChainFailed
            | Fact::ChainForAPerson
            | Fact::LiveBlocker
            | Fact::ClaimContradicted
            | Fact::HardCallOpen
            | Fact::OutcomeGivenUp => None,
            Fact::ChainUnresolved => Some(Limitation::PatternCChainUnresolved),
            Fact::ClaimUnsupported => Some(Limitation::UnableToGroundClaim),
            Fact::ClaimPartlySupported => Some(Limitation::InsufficientEvidence),
            Fact::ClaimUnchecked => Some(Limitation::UncheckedClaimsPresent),
            Fact::EvidenceMissing => Some(Limitation::EvidencePackageMissing),
            Fact::SourceStale => Some(Limitation::StaleSourcePresent),
            Fact::NeedUnresolved => Some(Limitation::UnresolvedResearchNeed),
            Fact::CandidateUnreviewed => Some(Limitation::UnreviewedCandidateRevision),
            Fact::PolicyWarned | Fact::OptionUnmet => Some(Limitation::PolicyWarning),
            Fact::PolicyDenied => Some(Limitation::PolicyBlocked),
            Fact::PolicyAsksForAPerson => Some(Limitation::HumanJudgmentNeeded),
            Fact::SideEffectUnverified => Some(Limitation::ExternalSideEffectUnverified),
            Fact::Limited(limitation) => Some(limitation),
        }
    }

    /// How far one may rely with it at best.
    #[must_use]
    pub fn status(self) -> Status {
        match self {
            Fact::ChainFailed | Fact::LiveBlocker | Fact::ClaimContradicted | Fact::OutcomeGivenUp => {
                Status::NotSafeToRely
            }
            Fact::ChainForAPerson | Fact::HardCallOpen => Status::HumanReviewRequired,
            Fact::ChainUnresolved
            | Fact::ClaimUnsupported
            | Fact::ClaimPartlySupported
            | Fact::ClaimUnchecked
            | Fact::EvidenceMissing
            | Fact::SourceStale
            | Fact::NeedUnresolved
            | Fact::CandidateUnreviewed
            | Fact::PolicyWarned
            | Fact::PolicyDenied
            | Fact::PolicyAsksForAPerson
            | Fact::SideEffectUnverified
            | Fact::OptionUnmet
            | Fact::Limited(_) => self.limitation().map_or(Status::SafeToRelyWithinScope, Limitation::status),
        }
    }
}

/// What is missing or unsure, each thing once.
#[must_use]
pub fn limitations(facts: &BTreeSet<Fact>) -> BTreeSet<Limitation> {
    facts.iter().filter_map(|fact| fact.limitation()).collect()
}

/// How far one may rely: as far as the worst fact lets.
#[must_use]
pub fn status(facts: &BTreeSet<Fact>) -> Status {
    order::highest(facts.iter().map(|fact| fact.status())).unwrap_or(Status::SafeToRelyWithinScope)
}

/// What a health is derived from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sign {
    /// An outcome stands so.
    Outcome(State),
    /// A finding that may block is live.
    LiveBlocker,
    /// A question to a person is open.
    HardCallOpen,
    /// An item of attention is open, of this priority.
    Attention(Severity),
    /// The work product is limited.
    Limited(Limitation),
}

impl Sign {
    /// How well a task can do with it at best.
    #[must_use]
    pub fn health(self) -> Health {
        match self {
            Sign::Outcome(state) => match state {
                State::Pending
                | State::PendingDependency
                | State::Evaluating
                | State::Dirty
                | State::Satisfied
                | State::Superseded => Health::Healthy,
                State::NeedsRevision
                | State::NeedsInformation
                | State::NeedsVerification
                | State::Regressed => Health::Warning,
                State::NeedsHumanJudgment => Health::ReviewRequired,
                State::BlockedByPolicy | State::UpstreamFailure | State::UnableToEvaluate => Health::Blocked,
                State::Unrecoverable | State::MaxIterationsReached => Health::Failed,
            },
            Sign::LiveBlocker => Health::Blocked,
            Sign::HardCallOpen => Health::ReviewRequired,
            Sign::Attention(priority) => match priority {
                Severity::Blocking => Health::Blocked,
                Severity::High => Health::ReviewRequired,
                Severity::Low | Severity::Medium => Health::Warning,
            },
            Sign::Limited(limitation) => match limitation.status() {
                Status::SafeToRelyWithinScope | Status::RelyWithLimitations => Health::Warning,
                Status::HumanReviewRequired | Status::NotSafeToRely => Health::ReviewRequired,
            },
        }
    }
}

/// How a task is doing: as well as the worst sign lets.
pub fn health(signs: impl IntoIterator<Item = Sign>) -> Health {
    order::highest(signs.into_iter().map(Sign::health)).unwrap_or(Health::Healthy)
}

#[cfg(test)]
#[path = "reliance_tests.rs"]
mod tests;
