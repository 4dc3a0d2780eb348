//! Which events make which read models out of date, and how far that reaches.
//! Owns: the ten read models, the four scopes, the built-in specs. Must not: look at a world; rows of a bundle replace
//! these specs for the event kinds that they name.
//!
//! What a command invalidates is this table applied to the events that the command writes.

use crate::member::Member;
use ReadModel::{
    AttentionLedger, BudgetNarrative, DecisionAuditView, EvaluationChainView, EvidencePackage, FindingsInbox,
    RunDiff, TaskHealthCard, TaskReliancePacket, WorkProductCertification,
};
use Scope::{SameMatter, SameRun, SameTask, SpecificRefs};
use alloc::vec::Vec;
use countersign_record::json::Json;

pub use crate::types::read_models::{
    DerivedReadModelRecordReadModelKind as ReadModel, ReadModelInvalidationSpecInvalidationScope as Scope,
};

/// Which rows of a type are the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// All.
    Always,
    /// Those that say something there.
    Has(&'static str),
    /// Those that say this word there.
    Is(&'static str, &'static str),
    /// Those whose reference there is of this kind.
    Names(&'static str, &'static str),
}

/// What an event makes out of date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The name of the event's type.
    pub event: &'static str,
    /// Which rows of that type.
    pub when: When,
    /// The read models, and how far it reaches for each.
    pub invalidates: &'static [(ReadModel, Scope)],
}

const fn spec(event: &'static str, when: When, invalidates: &'static [(ReadModel, Scope)]) -> Spec {
    Spec { event, when, invalidates }
}

const MOVED: &str = "LifecycleTransitionReceipt";

/// What follows from a reliance packet or a certification that moved.
const PACKET_MOVED: &[(ReadModel, Scope)] = &[
    (TaskReliancePacket, SameRun),
    (WorkProductCertification, SameRun),
    (TaskHealthCard, SameRun),
    (AttentionLedger, SameRun),
    (RunDiff, SameRun),
];

/// What follows from a research need that moved.
const NEED_MOVED: &[(ReadModel, Scope)] = &[
    (TaskReliancePacket, SameTask),
    (WorkProductCertification, SameTask),
    (EvidencePackage, SameTask),
    (AttentionLedger, SameTask),
];

/// The state of an outcome that nothing could evaluate: a run goes on without that, and the story of its costs says so.
const UNABLE: &str = "unable_to_evaluate";

/// What follows from a degraded mode that a run begins to use, or uses no more.
const DEGRADED: &[(ReadModel, Scope)] =
    &[(TaskHealthCard, SameRun), (RunDiff, SameRun), (BudgetNarrative, SameRun)];

/// The built-in specs. An empty list says that nothing shown depends on the event, which is not the same as no spec.
#[rustfmt::skip] // one to a line
pub const SPECS: &[Spec] = &[
    spec("ArtifactVersionTransitionEvent", When::Is("to_state", "accepted_head"), &[(TaskReliancePacket, SameRun), (WorkProductCertification, SameRun), (EvidencePackage, SameRun), (RunDiff, SameRun)]),
    spec("SourceWorkspaceOperationReceipt", When::Is("status", "applied"), &[(TaskReliancePacket, SameTask), (WorkProductCertification, SameTask), (EvidencePackage, SameTask)]),
    spec("EvaluationFindingEvent", When::Always, &[(TaskReliancePacket, SameRun), (WorkProductCertification, SameRun), (FindingsInbox, SameMatter)]),
    spec("FindingLifecycleTransitionReceipt", When::Always, &[(FindingsInbox, SameMatter), (AttentionLedger, SameRun), (TaskHealthCard, SameRun), (EvaluationChainView, SameRun), (TaskReliancePacket, SameRun), (WorkProductCertification, SameRun), (DecisionAuditView, SameRun)]),
    spec("PolicyEvaluation", When::Has("superseded_by"), &[(TaskReliancePacket, SpecificRefs), (WorkProductCertification, SpecificRefs), (DecisionAuditView, SpecificRefs)]),
    spec("HardRevisionCall", When::Always, &[(TaskReliancePacket, SameRun), (WorkProductCertification, SameRun), (TaskHealthCard, SameRun), (AttentionLedger, SameRun)]),
    spec("HardCallResolutionReceipt", When::Always, &[(TaskReliancePacket, SameRun), (WorkProductCertification, SameRun), (TaskHealthCard, SameRun), (AttentionLedger, SameRun), (DecisionAuditView, SameRun)]),
    spec("HardCallPendingEvent", When::Is("cause", "timed_out"), &[(TaskReliancePacket, SameRun), (WorkProductCertification, SameRun), (TaskHealthCard, SameRun), (AttentionLedger, SameRun)]),
    spec("HardCallPendingEvent", When::Always, &[(TaskHealthCard, SameRun), (AttentionLedger, SameRun)]),
    spec("EvidencePackage", When::Always, &[(TaskReliancePacket, SameRun), (WorkProductCertification, SameRun)]),
    spec("EvaluationChainResolutionReceipt", When::Always, &[(TaskReliancePacket, SameRun), (WorkProductCertification, SameRun), (TaskHealthCard, SameRun), (DecisionAuditView, SameRun), (EvaluationChainView, SameRun)]),
    spec("EvaluationResultEnvelope", When::Has("target_evaluation_chain_id"), &[(EvaluationChainView, SameRun)]),
    spec("RevisionReviewPacket", When::Always, &[(AttentionLedger, SameRun)]),
    spec("RevisionReviewDecisionReceipt", When::Always, &[(TaskReliancePacket, SameRun), (WorkProductCertification, SameRun), (TaskHealthCard, SameRun), (AttentionLedger, SameRun), (DecisionAuditView, SameRun)]),
    spec("RelianceInvalidationEvent", When::Always, PACKET_MOVED),
    spec("TaskRunFork", When::Always, &[(RunDiff, SameRun)]),
    spec("OutcomeStateTransitionEvent", When::Is("to_state", UNABLE), DEGRADED),
    spec("OutcomeStateTransitionEvent", When::Is("from_state", UNABLE), DEGRADED),
    spec("OutcomeStateTransitionEvent", When::Always, &[(TaskHealthCard, SameRun), (RunDiff, SameRun)]),
    spec("TaskCostRecord", When::Always, &[(TaskHealthCard, SameRun), (RunDiff, SameRun), (BudgetNarrative, SameRun)]),
    spec("TaskRunCostForecast", When::Always, &[(BudgetNarrative, SameRun)]),
    spec("WorkspaceExternalizationReceipt", When::Always, &[(DecisionAuditView, SameTask)]),
    spec("ClaimSupportDerivationReceipt", When::Always, &[(EvidencePackage, SpecificRefs)]),
    spec("SourceTierTransitionReceipt", When::Always, &[(EvidencePackage, SameTask)]),
    spec("ResearchNeedLease", When::Always, NEED_MOVED),
    spec(MOVED, When::Names("subject_ref", "research_need"), NEED_MOVED),
    spec(MOVED, When::Names("subject_ref", "task_reliance_packet"), PACKET_MOVED),
    spec(MOVED, When::Names("subject_ref", "work_product_certification"), PACKET_MOVED),
    spec(MOVED, When::Names("subject_ref", "attention_ledger_item"), &[(AttentionLedger, SameRun), (TaskHealthCard, SameRun)]),
    spec(MOVED, When::Names("subject_ref", "evaluation_contract_review"), &[(AttentionLedger, SameRun)]),
    spec(MOVED, When::Names("subject_ref", "revision_review_packet"), &[(AttentionLedger, SameRun)]),
    spec(MOVED, When::Names("subject_ref", "evaluation_chain_registry_record"), &[(EvaluationChainView, SameRun)]),
    spec(MOVED, When::Always, &[]),
    spec("KnownGoodCheckpoint", When::Always, &[(TaskReliancePacket, SameRun), (WorkProductCertification, SameRun)]),
    spec("LibraryPromotionReceipt", When::Always, &[(DecisionAuditView, SameTask)]),
    spec("TaskCancelReceipt", When::Always, &[(TaskHealthCard, SameRun), (AttentionLedger, SameRun), (RunDiff, SameRun)]),
    spec("TaskSkipReceipt", When::Always, &[(TaskHealthCard, SameRun), (RunDiff, SameRun)]),
    spec("RunGuidanceLifecycleReceipt", When::Always, &[]),
    spec("RevisionLifecycleTransitionEvent", When::Always, &[]),
];

/// The built-in specs of an event kind; there may be several, for different rows of it.
pub fn specs(event: &str) -> impl Iterator<Item = &'static Spec> {
    SPECS.iter().filter(move |spec| spec.event == event)
}

/// What a row of a kind makes out of date; `None` if rows like it change nothing. The first spec that fits counts.
#[must_use]
pub fn invalidated_by(kind: &str, row: &Json) -> Option<&'static [(ReadModel, Scope)]> {
    let fits = |when: When| match when {
        When::Always => true,
        When::Has(member) => !row.is_blank(member),
        When::Is(member, word) => row.is(member, word),
        When::Names(member, kind) => row.reference(member).is_some_and(|to| to.kind == kind),
    };
    let mut specs = specs(kind).peekable();
    match specs.peek() {
        Some(_) => specs.find(|spec| fits(spec.when)).map(|spec| spec.invalidates),
        None => Some(&[]),
    }
}

/// Everything that events of a kind can make out of date, each once; `None` if there is no spec for the kind.
#[must_use]
pub fn invalidates(event: &str) -> Option<Vec<(ReadModel, Scope)>> {
    let mut all: Vec<(ReadModel, Scope)> =
        specs(event).flat_map(|spec| spec.invalidates.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    specs(event).next().is_some().then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind;
    use countersign_record::json;
    use std::collections::BTreeSet;

    fn models(events: &[&str]) -> BTreeSet<ReadModel> {
        events.iter().flat_map(|event| invalidates(event).unwrap()).map(|(model, _)| model).collect()
    }

    #[test]
    fn every_event_is_a_type_and_every_model_has_one() {
        for spec in SPECS {
            assert!(kind::find(spec.event).is_some(), "{}", spec.event);
        }
        let all: Vec<&str> = SPECS.iter().map(|spec| spec.event).collect();
        assert_eq!(models(&all), ReadModel::ALL.iter().copied().collect());
    }

    /// The commands of the reliance layer invalidate what the events that they write do.
    #[test]
    fn commands_invalidate_what_their_events_do() {
        let decided = "RevisionReviewDecisionReceipt";
        let review = [
            TaskReliancePacket,
            WorkProductCertification,
            TaskHealthCard,
            AttentionLedger,
            DecisionAuditView,
        ];
        assert_eq!(models(&[decided]), review.into_iter().collect());
        let accepted = review.into_iter().chain([EvidencePackage, RunDiff]).collect();
        assert_eq!(models(&[decided, "ArtifactVersionTransitionEvent"]), accepted);
        let contested = review.into_iter().chain([FindingsInbox, EvaluationChainView]).collect();
        assert_eq!(models(&["FindingLifecycleTransitionReceipt"]), contested);
        assert_eq!(models(&["TaskRunFork"]), [RunDiff].into_iter().collect());
        assert_eq!(models(&["WorkspaceExternalizationReceipt"]), [DecisionAuditView].into_iter().collect());
        let issued = [TaskReliancePacket, WorkProductCertification, TaskHealthCard, AttentionLedger, RunDiff];
        assert_eq!(models(&["RelianceInvalidationEvent"]), issued.into_iter().collect());
    }

    /// A call that ran out of time changes what may be relied on; one that was put off does not.
    #[test]
    fn a_call_that_expired_is_not_one_that_waits() {
        let after = |cause: &str| {
            let event =
                json::parse(std::format!(r#"{{"hard_call_id":"h","cause":"{cause}"}}"#).as_bytes()).unwrap();
            let models = invalidated_by("HardCallPendingEvent", &event).unwrap();
            models.iter().map(|(model, _)| *model).collect::<Vec<_>>()
        };
        let waits = [TaskHealthCard, AttentionLedger];
        assert_eq!(
            after("timed_out"),
            [TaskReliancePacket, WorkProductCertification].into_iter().chain(waits).collect::<Vec<_>>()
        );
        assert_eq!(after("deferred"), waits);
    }

    /// A degraded mode shows in the story of the costs.
    #[test]
    fn what_could_not_be_evaluated_changes_the_story_of_the_costs() {
        for (from, to, tells) in [
            ("evaluating", "unable_to_evaluate", true),
            ("unable_to_evaluate", "dirty", true),
            ("evaluating", "satisfied", false),
        ] {
            let event = std::format!(r#"{{"from_state":"{from}","to_state":"{to}"}}"#);
            let event = json::parse(event.as_bytes()).unwrap();
            let models = invalidated_by("OutcomeStateTransitionEvent", &event).unwrap();
            assert_eq!(models.iter().any(|(model, _)| *model == BudgetNarrative), tells, "{from} {to}");
        }
    }

    /// Whatever moves a need is seen wherever a need that moved is.
    #[test]
    fn a_lease_moves_its_need() {
        let moved = json::parse(br#"{"subject_ref":"research_need:n"}"#).unwrap();
        assert_eq!(invalidated_by("ResearchNeedLease", &moved), invalidated_by(MOVED, &moved));
    }

    #[test]
    fn no_spec_is_not_an_empty_one() {
        assert_eq!(invalidates("RunGuidanceLifecycleReceipt"), Some(Vec::new()));
        assert_eq!(invalidates("CommandReceipt"), None);
    }

    #[test]
    fn an_event_reaches_one_scope_for_each_model() {
        for spec in SPECS {
            let models: BTreeSet<ReadModel> = spec.invalidates.iter().map(|(model, _)| *model).collect();
            assert_eq!(models.len(), spec.invalidates.len(), "{}", spec.event);
        }
    }
}
