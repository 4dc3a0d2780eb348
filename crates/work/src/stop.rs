//! Stopping: a step or an outcome is left out, a plan or the whole run is cancelled.
//! Owns: the receipts of that, and saying honestly what was done before and stays done. Must not: undo an effect.

use crate::artifact;
use crate::call;
use crate::desk::{Desk, Error, reference};
use crate::life;
use crate::names::DISPATCHER;
use crate::outcome;
use crate::revise::attempt::{self, Came};
use crate::revise::plans::{self, Plan, Progress, Told};
use crate::revise::{cascade, dispatch, review};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::reference::Reference;
use countersign_govern::types::added::repair::{SideEffectLedgerEntry, SideEffectState};
use countersign_govern::types::added::stopping::TaskCancelReceipt;
use countersign_govern::types::basic::{ArtifactVersionState as VersionState, StorageRef, V10};
use countersign_govern::types::cascade::RevalidationCascadeRunStatus as CascadeStatus;
use countersign_govern::types::hard_call::{
    TaskCancelProtocol, TaskCancelProtocolCancelScope as CancelScope,
    TaskCancelProtocolCandidateDisposition as Candidates, TaskCancelProtocolInFlightHandling as InFlight,
    TaskCancelProtocolLearningSignalPolicy as Learning, TaskCancelProtocolSideEffectPolicy as Effects,
    TaskCancelProtocolSourceWorkspaceDisposition as Sources, TaskSkipReceipt,
    TaskSkipReceiptDownstreamEffect as Downstream, TaskSkipReceiptReason as Reason,
};
use countersign_govern::types::outcome::OutcomeEvaluationState as State;
use countersign_govern::types::review::{RevisionReviewPacket, RevisionReviewPacketState as PacketState};
use countersign_govern::types::revision::{
    RevisionExecutionLifecycleState as PlanState,
    RevisionExecutionLifecycleTransitionTriggeredByReceiptKind as By, RevisionOperationKind as Operation,
    RevisionOperationReceipt,
};
use countersign_govern::types::sufficiency::ProcedureAttemptRecordTerminalStatus as Status;
use countersign_record::json::{Json, Object};

/// What is cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope<'a> {
    /// A plan of revisions, by its id.
    Plan(&'a str),
    /// The whole run.
    Run,
}

/// Why something is not stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no such plan or outcome.
    #[error("there is no {0}")]
    Unknown(String),
    /// It has come to its end.
    #[error("{0} is over")]
    Over(String),
    /// It can't be written.
    #[error(transparent)]
    Unwritten(#[from] Error),
}

/// Whether there is a plan that is not over.
#[must_use]
pub fn is_live(desk: &Desk, plan: &str) -> bool {
    plans::live(desk).iter().any(|one| one.id == plan)
}

/// Whether a step of a plan waits, so that it can be left out.
#[must_use]
pub fn is_skippable(desk: &Desk, step: &str) -> bool {
    let is_live = plans::live(desk).iter().any(|plan| plan.step(step).is_some());
    is_live && plans::progress(desk, step) == Progress::Waiting
}

/// Leaves a step of a plan out, as a person wants it.
///
/// # Errors
/// There is none that waits, or something can't be written.
pub fn skip_waiting(desk: &mut Desk, step: &str, by: &str, reason: Reason) -> Result<(), Refusal> {
    let plan = plans::live(desk).into_iter().find(|plan| plan.step(step).is_some());
    let plan = plan.ok_or_else(|| Refusal::Unknown(step.to_string()))?;
    if plans::progress(desk, step) != Progress::Waiting {
        return Err(Refusal::Over(step.to_string()));
    }
    skip_step(desk, &plan, step, &format!("user:{by}"), reason)?;
    Ok(())
}

/// Leaves a step of a plan out; gives the receipt that the plan has of it.
pub(crate) fn skip_step(
    desk: &mut Desk,
    plan: &Plan,
    step: &str,
    by: &str,
    reason: Reason,
) -> Result<StorageRef, Error> {
    let target = reference("RevisionPlanStepBase", step)?;
    skipped(desk, &target, by, reason)?;
    plans::operated(desk, plan, step, Operation::StepSkipped, Told::default())
}

/// Writes that something is left out. What depends on it is carried out and looked at all the same.
fn skipped(desk: &mut Desk, target: &StorageRef, by: &str, reason: Reason) -> Result<(), Error> {
    desk.put(&TaskSkipReceipt {
        skip_id: desk.id("skipped"),
        target_ref: target.as_str().to_string(),
        skipped_by_ref: by.to_string(),
        reason,
        downstream_effect: Downstream::None,
        created_at: desk.now(),
        schema_version: V10,
    })?;
    Ok(())
}

/// Whether nobody has looked at an outcome yet, so that it can be left out.
#[must_use]
pub fn is_untouched(desk: &Desk, id: &str) -> bool {
    matches!(outcome::state(desk, id), State::Pending | State::PendingDependency)
}

/// Leaves an outcome out, as a person wants it: nothing waits for it any more. Where the work must meet it, nobody may rely on the work.
///
/// # Errors
/// There is none, it is left out already or has begun, or something can't be written.
pub fn skip(desk: &mut Desk, id: &str, by: &str, reason: Reason) -> Result<(), Refusal> {
    if desk.task().outcome(id).is_none() {
        return Err(Refusal::Unknown(id.to_string()));
    }
    if !is_untouched(desk, id) {
        return Err(Refusal::Over(id.to_string()));
    }
    let target = reference("OutcomeRecord", &desk.own(id))?;
    skipped(desk, &target, &format!("user:{by}"), reason)?;
    outcome::go(desk, id, State::Superseded, "skipped", None)?;
    Ok(())
}

/// Cancels a plan or the whole run, for a person or the engine. What was done outside stays done, and is listed.
///
/// # Errors
/// There is none, it is over, or something can't be written.
pub fn cancel(desk: &mut Desk, scope: Scope<'_>, by: &str) -> Result<(), Refusal> {
    let plans = match scope {
        Scope::Plan(id) => {
            let plan = plans::all(desk).into_iter().find(|plan| plan.id == id);
            let plan = plan.ok_or_else(|| Refusal::Unknown(id.to_string()))?;
            if plan.is_over() {
                return Err(Refusal::Over(id.to_string()));
            }
            Vec::from([plan])
        }
        Scope::Run => plans::live(desk),
    };
    let calls = calls(desk, scope, &plans)?;
    let effects = Done::of(desk, scope, &plans);
    let mut stopped = plans.iter().map(Plan::reference).collect::<Result<Vec<_>, _>>()?;
    stopped.extend(calls);
    let request = request(desk, scope, by, &stopped, &effects)?;
    let cancelled = effects.cancel(desk)?;
    let receipt = desk.put(&TaskCancelReceipt {
        receipt_id: desk.id("cancelled"),
        cancel_request_id: request,
        stopped_refs: stopped,
        executed_side_effects: effects.left()?,
        cancelled_intent_refs: cancelled,
        candidate_disposition: Candidates::Discard,
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    for mut plan in plans {
        end(desk, &mut plan, by, &receipt)?;
    }
    if scope == Scope::Run {
        observe(desk)?;
    }
    Ok(())
}

/// The questions that nobody need answer any more.
fn calls(desk: &Desk, scope: Scope<'_>, plans: &[Plan]) -> Result<Vec<StorageRef>, Error> {
    let own = plans.iter().map(Plan::reference).collect::<Result<Vec<_>, _>>()?;
    let is_own = |blocked: &String| own.iter().any(|plan| plan.as_str() == blocked);
    let open = call::unanswered(desk).into_iter().filter(|call| match scope {
        Scope::Plan(_) => call.pending_policy.blocked_refs.iter().any(is_own),
        Scope::Run => true,
    });
    open.map(|call| reference("HardRevisionCall", &call.hard_call_id)).collect()
}

/// Effects outside, as they stand when something is cancelled.
struct Done {
    executed: Vec<SideEffectLedgerEntry>,
    intended: Vec<SideEffectLedgerEntry>,
}

impl Done {
    fn of(desk: &Desk, scope: Scope<'_>, plans: &[Plan]) -> Self {
        let mut last: BTreeMap<String, SideEffectLedgerEntry> = BTreeMap::new();
        for entry in desk.all::<SideEffectLedgerEntry>() {
            last.insert(entry.side_effect_id.clone(), entry);
        }
        let is_own = |entry: &SideEffectLedgerEntry| match scope {
            Scope::Run => true,
            Scope::Plan(_) => plan_of(desk, entry).is_some_and(|id| plans.iter().any(|plan| plan.id == id)),
        };
        let (mut executed, mut intended) = (Vec::new(), Vec::new());
        for entry in last.into_values().filter(is_own) {
            match entry.state {
                SideEffectState::Executed => executed.push(entry),
                SideEffectState::Intent => intended.push(entry),
                SideEffectState::Cancelled => {}
            }
        }
        Done { executed, intended }
    }

    fn refs(all: &[SideEffectLedgerEntry]) -> Result<Vec<StorageRef>, Error> {
        all.iter().map(|one| reference("SideEffectLedgerEntry", &one.side_effect_id)).collect()
    }

    /// What was done stays done.
    fn left(&self) -> Result<Vec<Json>, Error> {
        let refs = Self::refs(&self.executed)?;
        let one = |to: &StorageRef| {
            Object::from([("ref", Json::from(to.as_str())), ("disposition", "left".into())]).into()
        };
        Ok(refs.iter().map(one).collect())
    }

    /// What was only meant to be done is not.
    fn cancel(&self, desk: &mut Desk) -> Result<Vec<StorageRef>, Error> {
        for entry in &self.intended {
            let (state, created_at) = (SideEffectState::Cancelled, desk.now());
            desk.put(&SideEffectLedgerEntry { state, created_at, ..entry.clone() })?;
        }
        Self::refs(&self.intended)
    }
}

/// The plan that an effect belongs to, by its receipt.
fn plan_of(desk: &Desk, entry: &SideEffectLedgerEntry) -> Option<String> {
    let receipt = entry.receipt_ref.as_ref().and_then(|one| Reference::read(one.as_str()))?;
    let receipt: RevisionOperationReceipt = desk.find("RevisionOperationReceipt", receipt.id)?;
    receipt.plan_id
}

/// Writes what is asked for, with what becomes of everything.
fn request(
    desk: &mut Desk,
    scope: Scope<'_>,
    by: &str,
    stopped: &[StorageRef],
    effects: &Done,
) -> Result<String, Error> {
    let (cancel_scope, target_refs) = match scope {
        Scope::Plan(_) => {
            let mut all = stopped.to_vec();
            all.extend(Done::refs(&effects.executed)?);
            all.extend(Done::refs(&effects.intended)?);
            (CancelScope::RevisionPlan, all.iter().map(|one| one.as_str().to_string()).collect())
        }
        Scope::Run => (CancelScope::EntireRun, Vec::new()),
    };
    let cancel_request_id = desk.id("cancel");
    desk.put(&TaskCancelProtocol {
        cancel_request_id: cancel_request_id.clone(),
        task_id: desk.task().id.clone(),
        run_id: desk.run().to_string(),
        requested_by_ref: by.to_string(),
        cancel_scope,
        target_refs,
        in_flight_handling: InFlight::PreemptImmediately,
        side_effect_policy: Effects::CancelUnexecutedIntents,
        candidate_disposition: Candidates::Discard,
        source_workspace_disposition: Sources::RetainRecords,
        learning_signal_policy: Learning::SuppressSuccessSignals,
        user_receipt_ref: None,
        created_at: desk.now(),
        schema_version: V10,
    })?;
    Ok(cancel_request_id)
}

/// A plan is over: its candidates are nobody's, what is left of it is skipped, and it was an attempt.
fn end(desk: &mut Desk, plan: &mut Plan, by: &str, receipt: &StorageRef) -> Result<(), Error> {
    plans::go(desk, plan, PlanState::Cancelled, By::TaskCancelReceipt, receipt)?;
    cascade::rest(desk, plan, CascadeStatus::Aborted)?;
    for version in plan.products(desk) {
        match version.state {
            Some(VersionState::Candidate | VersionState::UnderReview) | None => {
                artifact::moved(desk, &version.id, version.state, VersionState::Orphaned)?;
            }
            Some(
                VersionState::AcceptedHead
                | VersionState::Rejected
                | VersionState::Superseded
                | VersionState::Orphaned
                | VersionState::Forked,
            ) => {}
        }
    }
    let plan_ref = plan.reference()?;
    let shown = desk.all::<RevisionReviewPacket>().filter(|one| one.revision_plan_ref == plan_ref);
    for packet in shown.collect::<Vec<_>>() {
        let packet_ref = reference("RevisionReviewPacket", &packet.packet_id)?;
        let pending = PacketState::ReviewPending.as_str();
        if desk.says("revision_review_packet", &packet.packet_id, "state") == Some(pending) {
            let way = (pending, PacketState::Superseded.as_str());
            life::go(desk, &packet_ref, way, by, "its plan was cancelled")?;
            review::attended(desk, &packet_ref, by)?;
        }
    }
    for step in dispatch::waiting(desk, plan) {
        skip_step(desk, plan, &step, DISPATCHER, Reason::UserDirected)?;
    }
    for outcome in plan.outcomes.clone() {
        attempt::tried(desk, plan, &outcome, &Came::Nowhere(Status::Failed))?;
    }
    Ok(())
}

/// The cycles of outcomes that were still being mended are over.
fn observe(desk: &mut Desk) -> Result<(), Error> {
    for outcome in desk.task().outcomes.clone() {
        match outcome::state(desk, &outcome.id) {
            State::NeedsRevision | State::Regressed | State::Dirty => {
                attempt::observe_cancelled(desk, &outcome.id)?;
            }
            State::Pending
            | State::PendingDependency
            | State::Evaluating
            | State::Satisfied
            | State::NeedsInformation
            | State::NeedsVerification
            | State::NeedsHumanJudgment
            | State::UnableToEvaluate
            | State::BlockedByPolicy
            | State::UpstreamFailure
            | State::Unrecoverable
            | State::Superseded
            | State::MaxIterationsReached => {}
        }
    }
    Ok(())
}
