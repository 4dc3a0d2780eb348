//! What things of a run are called.
//! Owns: the names that follow from the run and the task. Must not: mint one by chance.
//!
//! Ids of a task hold within the task only; in a ledger many runs stand beside each other, so each id begins with its run.

use crate::desk::{Desk, Error, reference};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_govern::types::basic::{ClaimRef, PolicyEvaluationRef, SourceRecordRef, StorageRef};
use countersign_record::json::Json;

/// The engine, where a step is its own.
pub const ENGINE: &str = "engine:work";
/// Who finds where a finding goes.
pub const ROUTER: &str = "engine:router";
/// Who carries out plans.
pub const DISPATCHER: &str = "engine:dispatcher";
/// The module that looks at the work.
pub const EVALUATOR: &str = "evaluator";
/// The module that scores it.
pub const JUDGE: &str = "judge";
/// Whom the two make decide.
pub const PERSON: &str = "person";
/// The module that plans repairs.
pub const REVISOR: &str = "revisor";
/// The module that writes what a plan asks for.
pub const DRAFTER: &str = "drafter";

/// The policies that a run goes by, by what each is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Policy {
    /// How an evaluator and a judge are put together.
    Chain,
    /// What counts as support of a claim.
    ClaimSupport,
    /// How taint is put together.
    Taint,
    /// Who gets feedback.
    Routing,
    /// When trying on makes no sense.
    Sufficiency,
    /// What outcomes may depend on.
    Graph,
    /// When a plan must be verified.
    PlanVerifier,
    /// What is published.
    Board,
}

impl Policy {
    /// The name of its type, and the word in its id.
    #[must_use]
    pub fn kind(self) -> (&'static str, &'static str) {
        match self {
            Policy::Chain => ("EvaluationChainResolutionPolicy", "chain"),
            Policy::ClaimSupport => ("ClaimSupportDerivationPolicy", "claim-support"),
            Policy::Taint => ("TaintAggregationPolicy", "taint"),
            Policy::Routing => ("FeedbackRoutingResolutionPolicy", "routing"),
            Policy::Sufficiency => ("SufficiencyDetectionPolicy", "sufficiency"),
            Policy::Graph => ("OutcomeDependencyGraphPolicy", "graph"),
            Policy::PlanVerifier => ("PlanVerifierRequirementPolicy", "plan-verifier"),
            Policy::Board => ("RunBoardPublicationPolicy", "board"),
        }
    }
}

impl Desk {
    /// What something of the task is called in this run.
    #[must_use]
    pub fn own(&self, id: &str) -> String {
        format!("{}.{id}", self.run())
    }

    /// What something of this run is called in the task.
    #[must_use]
    pub fn local<'a>(&self, id: &'a str) -> &'a str {
        id.strip_prefix(self.run()).and_then(|rest| rest.strip_prefix('.')).unwrap_or(id)
    }

    /// What a policy of this run is called.
    #[must_use]
    pub fn policy(&self, policy: Policy) -> String {
        self.own(&format!("policy.{}", policy.kind().1))
    }

    /// The reference to a policy of this run.
    ///
    /// # Errors
    /// It can't be named.
    pub fn policy_ref(&self, policy: Policy) -> Result<StorageRef, Error> {
        reference(policy.kind().0, &self.policy(policy))
    }

    /// The decision that lets the run go on.
    ///
    /// # Errors
    /// It can't be named.
    pub fn leave(&self) -> Result<PolicyEvaluationRef, Error> {
        let text = format!("policy_evaluation:{}", self.own("leave"));
        PolicyEvaluationRef::try_from(text.as_str()).map_err(|_| Error::Unnameable(text))
    }

    /// The policies as they are.
    ///
    /// # Errors
    /// Nobody has written them down.
    pub fn policy_snapshot(&self) -> Result<StorageRef, Error> {
        let last = self.each::<Json>("PolicySnapshot").next_back();
        let last = last.ok_or_else(|| Error::Missing("policy snapshot".into()))?;
        reference("PolicySnapshot", &last.id)
    }

    /// The capabilities as they were when the run began.
    ///
    /// # Errors
    /// It can't be named.
    pub fn capability_snapshot(&self) -> Result<StorageRef, Error> {
        reference("CapabilitySnapshot", &self.own("capabilities"))
    }

    /// The workspace of the run's sources.
    #[must_use]
    pub fn workspace_id(&self) -> String {
        self.own("workspace")
    }

    /// The reference to a source of the task.
    ///
    /// # Errors
    /// It can't be named.
    pub fn source_ref(&self, source: &str) -> Result<SourceRecordRef, Error> {
        let text = format!("src:{}", self.own(source));
        SourceRecordRef::try_from(text.as_str()).map_err(|_| Error::Unnameable(text))
    }

    /// The reference to an artifact of the task.
    ///
    /// # Errors
    /// It can't be named.
    pub fn artifact_ref(&self, artifact: &str) -> Result<StorageRef, Error> {
        reference("Artifact", &self.own(artifact))
    }

    /// The reference to a claim of an artifact.
    ///
    /// # Errors
    /// It can't be named.
    pub fn claim_ref(&self, artifact: &str, claim: &str) -> Result<ClaimRef, Error> {
        let text = format!("claim:{}/{claim}", self.own(artifact));
        ClaimRef::try_from(text.as_str()).map_err(|_| Error::Unnameable(text))
    }
}

/// References of one kind to several ids.
///
/// # Errors
/// One can't be named.
pub fn references<'a>(kind: &str, ids: impl IntoIterator<Item = &'a str>) -> Result<Vec<StorageRef>, Error> {
    ids.into_iter().map(|id| reference(kind, id)).collect()
}
