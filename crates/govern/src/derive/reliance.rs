//! Whether somebody may rely on a work product, and how a task is doing.
//! Owns: limitations, reliance status, health. Must not: find the facts; a rule gathers them.
//!
//! Invariant: each fact says how far reliance goes at best, and the worst of them counts, so one more fact never improves a
//! status or a health.

use alloc::collections::BTreeSet;

/// How far somebody may rely on it, the furthest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Within its scope.
    SafeToRelyWithinScope,
    /// With what is known to be missing.
    RelyWithLimitations,
    /// After somebody has looked.
    HumanReviewRequired,
    /// Not at all.
    NotSafeToRely,
}

impl Status {
    /// All of them.
    pub const ALL: [Status; 4] = [
        Status::SafeToRelyWithinScope,
        Status::RelyWithLimitations,
        Status::HumanReviewRequired,
        Status::NotSafeToRely,
    ];

    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Status::SafeToRelyWithinScope => "safe_to_rely_within_scope",
            Status::RelyWithLimitations => "rely_with_limitations",
            Status::HumanReviewRequired => "human_review_required",
            Status::NotSafeToRely => "not_safe_to_rely",
        }
    }

    /// The status of a word.
    #[must_use]
    pub fn read(word: &str) -> Option<Self> {
        Status::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// Whether a certification may be issued on it.
    #[must_use]
    pub fn may_be_issued(self) -> bool {
        match self {
            Status::SafeToRelyWithinScope | Status::RelyWithLimitations => true,
            Status::HumanReviewRequired | Status::NotSafeToRely => false,
        }
    }
}

/// What is missing or unsure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the words of the contract say what they mean")]
pub enum Limitation {
    InsufficientEvidence,
    HumanJudgmentNeeded,
    MissingCapability,
    SourceUnavailable,
    PolicyBlocked,
    StaleEvidence,
    UnableToGroundClaim,
    UncheckedClaimsPresent,
    UnreviewedCandidateRevision,
    ExternalSideEffectUnverified,
    StaleSourcePresent,
    UnresolvedResearchNeed,
    PolicyWarning,
    PatternCChainUnresolved,
    EvidencePackageMissing,
}

impl Limitation {
    /// All of them.
    pub const ALL: [Limitation; 15] = [
        Limitation::InsufficientEvidence,
        Limitation::HumanJudgmentNeeded,
        Limitation::MissingCapability,
        Limitation::SourceUnavailable,
        Limitation::PolicyBlocked,
        Limitation::StaleEvidence,
        Limitation::UnableToGroundClaim,
        Limitation::UncheckedClaimsPresent,
        Limitation::UnreviewedCandidateRevision,
        Limitation::ExternalSideEffectUnverified,
        Limitation::StaleSourcePresent,
        Limitation::UnresolvedResearchNeed,
        Limitation::PolicyWarning,
        Limitation::PatternCChainUnresolved,
        Limitation::EvidencePackageMissing,
    ];

    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Limitation::InsufficientEvidence => "insufficient_evidence",
            Limitation::HumanJudgmentNeeded => "human_judgment_needed",
            Limitation::MissingCapability => "missing_capability",
            Limitation::SourceUnavailable => "source_unavailable",
            Limitation::PolicyBlocked => "policy_blocked",
            Limitation::StaleEvidence => "stale_evidence",
            Limitation::UnableToGroundClaim => "unable_to_ground_claim",
            Limitation::UncheckedClaimsPresent => "unchecked_claims_present",
            Limitation::UnreviewedCandidateRevision => "unreviewed_candidate_revision",
            Limitation::ExternalSideEffectUnverified => "external_side_effect_unverified",
            Limitation::StaleSourcePresent => "stale_source_present",
            Limitation::UnresolvedResearchNeed => "unresolved_research_need",
            Limitation::PolicyWarning => "policy_warning",
            Limitation::PatternCChainUnresolved => "pattern_c_chain_unresolved",
            Limitation::EvidencePackageMissing => "evidence_package_missing",
        }
    }

    /// The limitation of a word.
    #[must_use]
    pub fn read(word: &str) -> Option<Self> {
        Limitation::ALL.into_iter().find(|limitation| limitation.as_str() == word)
    }

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
            | Fact::HardCallOpen => None,
            Fact::ChainUnresolved => Some(Limitation::PatternCChainUnresolved),
            Fact::ClaimUnsupported => Some(Limitation::UnableToGroundClaim),
            Fact::ClaimPartlySupported => Some(Limitation::InsufficientEvidence),
            Fact::ClaimUnchecked => Some(Limitation::UncheckedClaimsPresent),
            Fact::EvidenceMissing => Some(Limitation::EvidencePackageMissing),
            Fact::SourceStale => Some(Limitation::StaleSourcePresent),
            Fact::NeedUnresolved => Some(Limitation::UnresolvedResearchNeed),
            Fact::CandidateUnreviewed => Some(Limitation::UnreviewedCandidateRevision),
            Fact::PolicyWarned => Some(Limitation::PolicyWarning),
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
            Fact::ChainFailed | Fact::LiveBlocker | Fact::ClaimContradicted => Status::NotSafeToRely,
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
    facts.iter().map(|fact| fact.status()).max().unwrap_or(Status::SafeToRelyWithinScope)
}

/// How a task is doing, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    /// Nothing to look at.
    Healthy,
    /// Something to know.
    Warning,
    /// Somebody must look.
    ReviewRequired,
    /// It can't go on.
    Blocked,
    /// It won't succeed.
    Failed,
}

impl Health {
    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Health::Healthy => "healthy",
            Health::Warning => "warning",
            Health::ReviewRequired => "review_required",
            Health::Blocked => "blocked",
            Health::Failed => "failed",
        }
    }
}

/// What a health is derived from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sign<'a> {
    /// An outcome stands so, by the word of its state.
    Outcome(&'a str),
    /// A finding that may block is live.
    LiveBlocker,
    /// A question to a person is open.
    HardCallOpen,
    /// An item of attention is open, by the word of its priority.
    Attention(&'a str),
    /// The work product is limited.
    Limited(Limitation),
}

impl Sign<'_> {
    /// How well a task can do with it at best. A word that is not known can't make it worse than something to know.
    #[must_use]
    pub fn health(self) -> Health {
        match self {
            Sign::Outcome(state) => match state {
                "pending" | "pending_dependency" | "evaluating" | "dirty" | "satisfied" | "superseded" => {
                    Health::Healthy
                }
                "needs_human_judgment" => Health::ReviewRequired,
                "blocked_by_policy" | "upstream_failure" | "unable_to_evaluate" => Health::Blocked,
                "unrecoverable" | "max_iterations_reached" => Health::Failed,
                _other => Health::Warning,
            },
            Sign::LiveBlocker => Health::Blocked,
            Sign::HardCallOpen => Health::ReviewRequired,
            Sign::Attention(priority) => match priority {
                "blocking" => Health::Blocked,
                "high" => Health::ReviewRequired,
                _other => Health::Warning,
            },
            Sign::Limited(limitation) => match limitation.status() {
                Status::SafeToRelyWithinScope | Status::RelyWithLimitations => Health::Warning,
                Status::HumanReviewRequired | Status::NotSafeToRely => Health::ReviewRequired,
            },
        }
    }
}

/// How a task is doing: as well as the worst sign lets.
pub fn health<'a>(signs: impl IntoIterator<Item = Sign<'a>>) -> Health {
    signs.into_iter().map(Sign::health).max().unwrap_or(Health::Healthy)
}

#[cfg(test)]
#[path = "reliance_tests.rs"]
mod tests;
