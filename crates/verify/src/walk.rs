//! The walk through governed records: each is held against what follows from those before it.
//! Owns: the order, what is known at each place. Must not: derive; the modules of each part do.

use crate::case::Case;
use crate::claims::Texts;
use crate::computed::Computed;
use crate::formula::Formulas;
use crate::found::Found;
use crate::look::Round;
use crate::measure::{ALONG, TOLD};
use crate::report::Check;
use crate::run::Told;
use crate::{
    agreed, board, cancel, cause, certified, checkpoint, claims, command, cost, dispute, evidence, finding,
    fork, formula, given, handed, handed_on, leaving, library, life, look, made, measure, opening, quality,
    question, rely, revise, shown, waiting, workspace,
};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use countersign_govern::decide::workspace::Workspace;
use countersign_govern::fold::{Fold, Folds};
use countersign_govern::member::Member;
use countersign_govern::world::Record;
use countersign_record::code::Code;
use countersign_record::json::Json;
use countersign_record::time::Instant;

/// What is known at a place of the walk.
pub(crate) struct Walk<'c, 'p> {
    pub(crate) case: &'c Case<'p>,
    pub(crate) formulas: &'c Formulas,
    pub(crate) told: &'c Told,
    /// How everything stands before the row that is looked at.
    pub(crate) folds: Folds,
    pub(crate) texts: Texts<'c>,
    /// The look at an outcome that the row belongs to.
    pub(crate) round: Option<Round<'c>>,
    pub(crate) workspace: Workspace,
    pub(crate) board: board::Wall,
    /// What formulas were found to have been computed from, by the names of their receipts.
    pub(crate) computed: BTreeMap<String, Computed>,
}

/// Goes through all records, and tells what their formulas were computed from. What was asked instead on the way holds from its place
/// on.
pub(crate) fn walk<'c, 'p>(
    case: &'c Case<'p>,
    edited: &'c [(u64, Case<'p>)],
    formulas: &'c Formulas,
    told: &'c Told,
    found: &mut Found,
) -> BTreeMap<String, Computed> {
    let workspace = Workspace::new(&case.own("workspace"), case.task.id(), Some(case.matter.as_str()));
    let mut walk = Walk {
        case,
        formulas,
        told,
        folds: Folds::default(),
        texts: Texts::default(),
        round: None,
        workspace,
        board: board::Wall::default(),
        computed: BTreeMap::new(),
    };
    for record in case.world.all() {
        let asked = edited.iter().rfind(|(place, _)| *place < record.seq());
        walk.case = asked.map_or(case, |(_, case)| case);
        walk.common(record, found);
        cause::check(&walk, record, found);
        walk.look_at(record, found);
        walk.folds.apply(&record.into());
    }
    walk.end_round(found);
    opening::complete(case, found);
    command::complete(case, found);
    made::complete(case, told, found);
    made::handed_over(case, told, found);
    handed::complete(case, told, found);
    walk.computed
}

/// Members that say when an event, a receipt or a request was written: when its row was.
const TIMES: [&str; 5] = ["created_at", "computed_at", "observed_at", "decided_at", "issued_at"];

impl<'c> Walk<'c, '_> {
    /// What holds for every record: whose it is, and when it was written.
    fn common(&self, record: Record<'c>, found: &mut Found) {
        let json = record.json();
        let own = [
            ("run_id", self.case.run.as_str()),
            ("task_id", self.case.task.id()),
            ("matter_id", self.case.matter.as_str()),
        ];
        for (name, expected) in own.into_iter().filter(|(name, _)| json.at(name).is_some()) {
            found.must_say(Check::Task, record, name, expected);
        }
        let is_immutable =
            countersign_govern::kind::find(record.kind()).is_some_and(|one| one.class.is_immutable());
        let at = self.case.row(record).map(|row| Json::from(row.at.to_string()));
        for name in TIMES.into_iter().filter(|name| is_immutable && json.at(name).is_some()) {
            found.must(Check::Task, record, name, at.clone());
        }
    }

    fn look_at(&mut self, record: Record<'c>, found: &mut Found) {
        match record.kind() {
            "PolicyEvaluation"
            | "PolicySnapshot"
            | "Criterion"
            | "CriterionIdentityFields"
            | "OutcomeComplianceScoringConfig"
            | "OutcomeRecord"
            | "DomainPayloadRegistryRef"
            | "EvaluationChainResolutionPolicy"
            | "ClaimSupportDerivationPolicy"
            | "TaintAggregationPolicy"
            | "SufficiencyDetectionPolicy"
            | "OutcomeDependencyGraphPolicy"
            | "FeedbackRoutingResolutionPolicy"
            | "FeedbackEmissionMatrixEntry"
            | "PlanVerifierRequirementPolicy"
            | "SubAgentCoordinationProfile"
            | "RunBoardPublicationPolicy"
            | "ForumDeliberationPolicy"
            | "WorkspaceExternalizationPolicy"
            | "FormulaSpec" => {
                opening::check(self, record, found);
                if record.kind() == "PolicyEvaluation" {
                    command::checked(self, record, found);
                }
            }
            "CriterionSemanticReviewReceipt" => agreed::reworded(self, record, found),
            "SourceRecord" => workspace::source(self, record, found),
            "EphemeralSourceLookupReceipt" => workspace::lookup(self, record, found),
            "SanitizationNode" => workspace::sanitized(self, record, found),
            "SourceTierTransitionReceipt" => workspace::tier_moved(self, record, found),
            "SourceWorkspaceOperation" => workspace::operation(self, record, found),
            "SourceWorkspaceOperationReceipt" => workspace::receipt(self, record, found),
            "ArtifactVersion" => workspace::version(self, record, found),
            "ArtifactVersionTransitionEvent" => workspace::version_moved(self, record, found),
            "SourceEvidenceAnchor" => claims::anchor(self, record, found),
            "TextAnchorResolutionReceipt" => claims::resolved(self, record, found),
            "ClaimSupportDerivationReceipt" => claims::support(self, record, found),
            "FormulaEvaluationReceipt" => formula::receipt(self, record, found),
            "EvaluationSnapshot" => look::snapshot(self, record, found),
            "EvaluationChainRegistryRecord" => look::chain(self, record, found),
            "MetricValue" | "MetricObservation" if measure::is_told(self.case, record) => {
                found.told(Check::Measures)
            }
            "MetricValue" => quality::value(self, record, found),
            "MetricObservation" => quality::observation(self, record, found),
            "QualityIndex" => quality::index(self, record, found),
            "EvaluationResultEnvelope" => look::envelope(self, record, found),
            "EvaluationFindingEvent" => finding::event(self, record, found),
            "FindingLifecycleTransitionReceipt" => finding::moved(self, record, found),
            "PositiveEvaluationObservation" => finding::observation(self, record, found),
            "EvaluationChainResolutionReceipt" => look::resolution(self, record, found),
            "OutcomeStateTransitionEvent" => look::outcome_moved(self, record, found),
            "EvaluationResultEmissionRecord"
            | "FeedbackFindingView"
            | "EvaluationFeedbackBundle"
            | "FeedbackDeliveryRecord"
            | "FeedbackDispatchExpectation" => {
                handed_on::check(self, record, found);
            }
            _other => self.look_around(record, found),
        }
    }

    /// What people decide, and what the work is handed over with.
    fn look_around(&mut self, record: Record<'c>, found: &mut Found) {
        match record.kind() {
            "LifecycleTransitionReceipt" => life::moved(self, record, found),
            "AttentionLedgerItem" => life::attention(self, record, found),
            "KnownGoodCheckpoint" => checkpoint::check(self, record, found),
            "CommandInvocation" => command::invocation(self, record, found),
            "CommandReceipt" => {
                command::receipt(self, record, found);
                waiting::complete(self, record, found);
            }
            "HardCallResolution" => question::kept(self, record, found),
            "CostVector" => cost::vector(self, record, found),
            "TaskRunCostForecast" => cost::forecast(self, record, found),
            "TaskCostRecord" => cost::record(self, record, found),
            "BudgetNarrative" => cost::narrative(self, record, found),
            "EvaluationContractReview" => agreed::review(self, record, found),
            "UnifiedEvaluationChainView" | "ExplanationTrace" | "DecisionAuditView" => {
                shown::page(self, record, found);
            }
            "TaskRunContextPacketRequest"
            | "TaskRunContextPacket"
            | "TaskRunContextPacketAssemblyReceipt"
            | "ModuleActivationEvent"
            | "ContextPacketConsumption"
            | "PerActivationContextBudget" => given::check(self, record, found),
            "TaskHealthCard" => {
                shown::health(self, record, found);
                waiting::complete(self, record, found);
            }
            "PolicyFreshnessRecord" => shown::fresh(self, record, found),
            "RelianceScopeNote" => shown::note(self, record, found),
            "RunGuidanceCreationEvent" => shown::guidance(self, record, found),
            "RunGuidanceLifecycleReceipt" => shown::guidance_moved(self, record, found),
            "RunBoardAuditEvent" => board::event(self, record, found),
            "RunBoardVisiblePost" => board::post(self, record, found),
            kind if TOLD.contains(&kind) => found.told(Check::Measures),
            "HardRevisionCall" => question::raised(self, record, found),
            "HardCallPendingEvent" => question::waited(self, record, found),
            "HardCallResolutionReceipt" => question::answered(self, record, found),
            "HumanFeedbackEvent" => question::label(self, record, found),
            "ResearchNeed" => question::need(self, record, found),
            "ResearchNeedLease" => life::lease(self, record, found),
            "ContestationRequest" => dispute::contested(self, record, found),
            "UnanchoredAcknowledgment" => question::acknowledged(self, record, found),
            "LibraryPromotionCandidate" | "LibraryPromotionGate" | "LibraryPromotionReceipt" => {
                library::check(self, record, found);
            }
            "MetricObservationInvalidationEvent" => dispute::withdrawn(self, record, found),
            "TaskCancelProtocol" => cancel::asked(self, record, found),
            "TaskCancelReceipt" => cancel::done(self, record, found),
            "TaskRunFork" => fork::forked(self, record, found),
            "EvidencePackage" => evidence::package(self, record, found),
            "TaskReliancePacket" => rely::packet(self, record, found),
            "WorkProductCertification" => certified::certification(self, record, found),
            "RelianceInvalidationEvent" => certified::fallen(self, record, found),
            "WorkspaceExternalizationReceipt" => leaving::left(self, record, found),
            "SideEffectLedgerEntry" => leaving::effect(self, record, found),
            "UserConfirmation" => leaving::confirmed(self, record, found),
            "DerivationEdge" | "ReadModelInputManifest" | "DerivedReadModelRecord" => {
                rely::shown(self, record, found);
            }
            _other => self.look_at_revision(record, found),
        }
    }

    /// What is done to mend the work.
    fn look_at_revision(&mut self, record: Record<'c>, found: &mut Found) {
        match record.kind() {
            "FeedbackConsumptionReceipt" => revise::consumed(self, record, found),
            "ProgressSignalRecord" => revise::signal(self, record, found),
            "CapabilityCoverageAssessment" => revise::coverage(self, record, found),
            "SufficiencyDetectionResult" => revise::detected(self, record, found),
            "VerificationRequestStep" => revise::to_be_verified(self, record, found),
            "RevisionPlanStepBase" => revise::step_base(self, record, found),
            "RevisionPlan" => revise::plan(self, record, found),
            "PlanVerifierResult" => revise::verified(self, record, found),
            "TieBreakDecision" => revise::order(self, record, found),
            "TypedRevisionInstruction" => revise::instruction(self, record, found),
            "OutcomeRepairInstruction" => revise::repair(self, record, found),
            "RevisionOperationReceipt" => revise::operated(self, record, found),
            "RevisionLifecycleTransitionEvent" => revise::moved(self, record, found),
            "TaskSkipReceipt" => revise::skipped(self, record, found),
            "InPlaceMutationLock" => revise::lock(self, record, found),
            "RegenerateRevisionPayload" => revise::asked_anew(self, record, found),
            "RegenerateAttemptReceipt" => revise::anew(self, record, found),
            "RevisionReviewPacket" => revise::packet(self, record, found),
            "RevisionReviewDecisionReceipt" => revise::decided(self, record, found),
            "ProcedureAttemptRecord" => revise::tried(self, record, found),
            "RevisionCycleOutcomeObservation" => revise::cycles(self, record, found),
            "RevalidationCascadeRun" => revise::cascade(self, record, found),
            "RevalidationCascadeReceipt" => revise::rested(self, record, found),
            "TaskProcessGapSignal" => revise::gap(self, record, found),
            kind if ALONG.contains(&kind) => found.told(Check::Record),
            _other => self.underivable(Check::Record, record, "a run writes no such record", found),
        }
    }

    /// How something stands now, by the name of its type.
    pub(crate) fn standing(&self, kind: &str, id: &str) -> Option<Json> {
        self.folds.projection(kind, id)
    }

    /// What a standing thing says in a member, by its kind in snake case.
    pub(crate) fn says(&self, kind: &str, id: &str, member: &str) -> Option<&str> {
        self.folds.board.find(kind, id).and_then(|standing| standing.word(member))
    }

    /// Ends the look that is open: what it had to leave must be there.
    pub(crate) fn end_round(&mut self, found: &mut Found) {
        if let Some(round) = self.round.take() {
            round.complete(found);
        }
    }

    /// When a record was written.
    pub(crate) fn at(&self, record: Record<'_>) -> Option<Instant> {
        self.case.row(record).map(|row| row.at.instant())
    }

    /// Something that can't be derived again.
    pub(crate) fn underivable(
        &self,
        check: Check,
        record: Record<'_>,
        why: impl Into<String>,
        found: &mut Found,
    ) {
        found.about(Code::VerifyUnderivable, check, record, "", why);
    }
}
