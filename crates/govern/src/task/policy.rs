//! What a task allows, and how its results are put together.
//! Owns: the members of `[policies]` and their defaults. Must not: decide.

use crate::types::chain::EvaluationChainResolutionPolicyDisagreementRoute as Disagreement;
use crate::types::claim::{
    ClaimSupportDerivationPolicyContradictionRule as Contradiction,
    ClaimSupportDerivationPolicyPartialSupportRule as Partial,
};
use crate::types::externalization::WorkspaceExternalizationKind;
use crate::types::forum::ForumDeliberationPolicyOnNoConsensus as NoConsensus;
use crate::{record, words};
use alloc::collections::BTreeMap;
use alloc::string::String;
use countersign_record::json::Number;

words! {
    /// Whether a person must approve.
    Approval { Waived = "waived", Required = "required" }
}

words! {
    /// Whether a person must approve a revision.
    RevisionApproval { Waived = "waived", MechanicalWaived = "mechanical_waived", Required = "required" }
}

words! {
    /// Whether something may leave.
    Leave { Never = "never", Confirm = "confirm", Free = "free" }
}

/// What may leave, by how.
pub type Externalizations = BTreeMap<WorkspaceExternalizationKind, Leave>;

record! {
    /// What a task allows.
    Policies: value {
        claim_support: Option<ClaimPolicy>,
        chain: Option<ChainPolicy>,
        sufficiency: Option<SufficiencyPolicy>,
        approval: Option<Approvals>,
        externalization: Option<Externalizations>,
        forum: Option<ForumPolicy>,
        questions: Option<QuestionPolicy>,
        library: Option<LibraryPolicy>,
    }
}

record! {
    /// How an evaluator and a judge who disagree talk it over before a person is asked.
    ForumPolicy: value {
        ticks_max: Option<u64>,
        consensus_pct: Option<u64>,
        no_consensus: Option<NoConsensus>,
    }
}

words! {
    /// What becomes of a question that nobody answers in time.
    Unanswered { Escalate = "escalate", Abort = "abort" }
}

record! {
    /// How long questions to people stand.
    QuestionPolicy: value {
        timeout_hours: Option<u64>,
        on_timeout: Option<Unanswered>,
    }
}

record! {
    /// What a source must be to enter the library.
    LibraryPolicy: value {
        tier_min: Option<u64>,
        require_verified: Option<bool>,
        access_tier: Option<String>,
    }
}

record! {
    /// What counts as support of a claim.
    ClaimPolicy: value {
        direct_min: Option<u64>,
        require_verified: Option<bool>,
        allow_stale: Option<bool>,
        allow_contradicting: Option<bool>,
        partial: Option<Partial>,
        contradiction: Option<Contradiction>,
    }
}

record! {
    /// What becomes of an evaluator and a judge who disagree.
    ChainPolicy: value { disagreement: Option<Disagreement> }
}

record! {
    /// When trying on makes no sense.
    SufficiencyPolicy: value {
        attempts_min: Option<u64>,
        window: Option<u64>,
        epsilon: Option<Number>,
        attempts_max: Option<u64>,
    }
}

record! {
    /// Where a person must approve.
    Approvals: value {
        contract: Option<Approval>,
        revision: Option<RevisionApproval>,
        reliance: Option<Approval>,
    }
}

impl Policies {
    /// Those that hold where nothing is said.
    pub(super) const USUAL: Policies = Policies {
        claim_support: None,
        chain: None,
        sufficiency: None,
        approval: None,
        externalization: None,
        forum: None,
        questions: None,
        library: None,
    };

    /// What counts as support.
    #[must_use]
    pub fn claims(&self) -> ClaimPolicy {
        let none = ClaimPolicy {
            direct_min: None,
            require_verified: None,
            allow_stale: None,
            allow_contradicting: None,
            partial: None,
            contradiction: None,
        };
        self.claim_support.clone().unwrap_or(none)
    }

    /// Who wins where evaluator and judge disagree.
    #[must_use]
    pub fn disagreement(&self) -> Disagreement {
        self.chain.as_ref().and_then(|chain| chain.disagreement).unwrap_or(Disagreement::HumanReview)
    }

    /// When trying on makes no sense.
    #[must_use]
    pub fn sufficiency(&self) -> SufficiencyPolicy {
        let none = SufficiencyPolicy { attempts_min: None, window: None, epsilon: None, attempts_max: None };
        self.sufficiency.clone().unwrap_or(none)
    }

    /// Whether a person must approve what the run understood it has to do.
    #[must_use]
    pub fn contract_approval(&self) -> Approval {
        self.approval.as_ref().and_then(|approval| approval.contract).unwrap_or(Approval::Waived)
    }

    /// Whether a person must approve a revision.
    #[must_use]
    pub fn revision_approval(&self) -> RevisionApproval {
        self.approval
            .as_ref()
            .and_then(|approval| approval.revision)
            .unwrap_or(RevisionApproval::MechanicalWaived)
    }

    /// Whether a person must look at a packet before it is issued.
    #[must_use]
    pub fn reliance_approval(&self) -> Approval {
        self.approval.as_ref().and_then(|approval| approval.reliance).unwrap_or(Approval::Required)
    }

    /// How long questions to people stand.
    #[must_use]
    pub fn questions(&self) -> QuestionPolicy {
        self.questions.clone().unwrap_or(QuestionPolicy { timeout_hours: None, on_timeout: None })
    }

    /// What a source must be to enter the library.
    #[must_use]
    pub fn library(&self) -> LibraryPolicy {
        let none = LibraryPolicy { tier_min: None, require_verified: None, access_tier: None };
        self.library.clone().unwrap_or(none)
    }

    /// Whether something may leave in some way.
    #[must_use]
    pub fn leave(&self, kind: WorkspaceExternalizationKind) -> Leave {
        let said = self.externalization.as_ref().and_then(|said| said.get(&kind)).copied();
        said.unwrap_or(Leave::Confirm)
    }
}

impl ForumPolicy {
    /// Ticks at most.
    #[must_use]
    pub fn ticks_max(&self) -> u64 {
        self.ticks_max.unwrap_or(3)
    }

    /// From how many of a hundred on they agree.
    #[must_use]
    pub fn consensus_pct(&self) -> u64 {
        self.consensus_pct.unwrap_or(67)
    }

    /// What becomes of it where they don't.
    #[must_use]
    pub fn no_consensus(&self) -> NoConsensus {
        self.no_consensus.unwrap_or(NoConsensus::ForumDeadlockHardCall)
    }
}

impl QuestionPolicy {
    /// Hours in which a question is to be answered.
    #[must_use]
    pub fn timeout_hours(&self) -> u64 {
        self.timeout_hours.unwrap_or(7 * 24)
    }

    /// What becomes of one that is not.
    #[must_use]
    pub fn on_timeout(&self) -> Unanswered {
        self.on_timeout.unwrap_or(Unanswered::Escalate)
    }
}

impl LibraryPolicy {
    /// How well a source must be documented.
    #[must_use]
    pub fn tier_min(&self) -> u64 {
        self.tier_min.unwrap_or(2)
    }

    /// Whether somebody must have verified it.
    #[must_use]
    pub fn requires_verified(&self) -> bool {
        self.require_verified.unwrap_or(true)
    }

    /// Who may let it in.
    #[must_use]
    pub fn access_tier(&self) -> &str {
        self.access_tier.as_deref().unwrap_or("librarian")
    }
}

impl ClaimPolicy {
    /// Direct places that it takes.
    #[must_use]
    pub fn direct_min(&self) -> u64 {
        self.direct_min.unwrap_or(1)
    }

    /// Whether only sources count that somebody verified.
    #[must_use]
    pub fn requires_verified(&self) -> bool {
        self.require_verified.unwrap_or(true)
    }

    /// What counts as a part of support.
    #[must_use]
    pub fn partial(&self) -> Partial {
        self.partial.unwrap_or(Partial::AnyIndirectOrContextualAnchor)
    }

    /// What becomes of a contradiction.
    #[must_use]
    pub fn contradiction(&self) -> Contradiction {
        self.contradiction.unwrap_or(Contradiction::AnyDirectContradictionControls)
    }
}

impl SufficiencyPolicy {
    /// Attempts before it can be said that nothing improves.
    #[must_use]
    pub fn attempts_min(&self) -> u64 {
        self.attempts_min.unwrap_or(2)
    }

    /// The last attempts that are looked at.
    #[must_use]
    pub fn window(&self) -> u64 {
        self.window.unwrap_or(2)
    }

    /// The least that counts as better.
    #[must_use]
    pub fn epsilon(&self) -> Number {
        self.epsilon.clone().unwrap_or_else(|| super::outcome::decimal("0.01"))
    }

    /// Attempts at most.
    #[must_use]
    pub fn attempts_max(&self) -> u64 {
        self.attempts_max.unwrap_or(4)
    }
}
