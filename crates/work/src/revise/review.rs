//! What a reviewer sees of a change, and what is decided on it.
//! Owns: the packet with its diff, whether a person is asked, what a decision makes of the candidate. Must not: decide.

use super::cascade;
use super::dispatch::give_up;
use super::plans::{self, Plan};
use super::way::Way;
use super::{Asked, Refusal, Stepped, attempt, expect};
use crate::artifact::{self, Version};
use crate::call;
use crate::desk::{Desk, Error, reference};
use crate::diff;
use crate::finding::Known;
use crate::life;
use crate::names::{DISPATCHER, ENGINE};
use crate::task::RevisionApproval;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::reference::Reference;
use countersign_govern::types::basic::{
    ArtifactVersionState as VersionState, ClaimRef, PolicyEvaluationRef, Severity, StorageRef, V10, V11,
};
use countersign_govern::types::hard_call::HardRevisionCall;
use countersign_govern::types::reliance::{
    AttentionKind, AttentionLedgerItem, AttentionLedgerItemLifecycleState as ItemState,
};
use countersign_govern::types::review::{
    RevisionReviewDecisionReceipt, RevisionReviewDecisionReceiptAction as Action, RevisionReviewPacket,
    RevisionReviewPacketState as PacketState,
};
use countersign_govern::types::revision::{
    RevisionExecutionLifecycleState as State,
    RevisionExecutionLifecycleTransitionTriggeredByReceiptKind as By, RevisionOperationKind as Operation,
};
use countersign_govern::types::sufficiency::{
    CandidateRepairProcedureSafetyClass as Safety, ProcedureAttemptRecordTerminalStatus as Status,
};
use countersign_record::digest::Digest;

countersign_govern::words! {
    /// What a person says of a change.
    Decision { Accept = "accept", Reject = "reject", RequestChanges = "request_changes" }
}

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reviewed {
    /// It is the work now: what rests on it is to be looked at again.
    Accepted,
    /// A person must say.
    Asked(Asked),
}

/// Who must see a change.
enum Needs {
    /// Nobody: it says nothing else.
    Nobody,
    /// Nobody: the task waives it.
    Waiver,
    /// A person.
    Person,
}

fn needs(desk: &Desk, safety: Safety) -> Needs {
    let is_mechanical = safety == Safety::Mechanical;
    match (desk.task().policies().revision_approval(), is_mechanical) {
        (RevisionApproval::Required, _) | (RevisionApproval::MechanicalWaived, false) => Needs::Person,
        (RevisionApproval::Waived, false) => Needs::Waiver,
        (RevisionApproval::Waived | RevisionApproval::MechanicalWaived, true) => Needs::Nobody,
    }
}

/// Has what the steps of a plan made reviewed. `before` is the text of the head, `after` what the last step left.
///
/// # Errors
/// A text is not what it must be, the plan is elsewhere, or something can't be written.
pub fn review(desk: &mut Desk, stepped: Stepped, before: &str, after: &str) -> Result<Reviewed, Refusal> {
    let mut plan = plans::find(desk, &stepped.plan)?;
    expect(&plan, &[State::Dispatched, State::StepReceiptReceived])?;
    let Some(candidate) = plan.products(desk).pop() else {
        cascade::begin(desk, &mut plan)?;
        return Ok(Reviewed::Accepted);
    };
    let head = artifact::head(desk, &plan.artifact).ok_or_else(|| Error::Missing(plan.artifact.clone()))?;
    if head.content != Digest::of(before.as_bytes()) || candidate.content != Digest::of(after.as_bytes()) {
        return Err(Refusal::Changed { artifact: plan.artifact });
    }
    match needs(desk, plan.safety) {
        Needs::Nobody => accept(desk, &mut plan, &candidate)?,
        Needs::Waiver => {
            let packet = packet(desk, &plan, &head, &candidate, (before, after))?;
            let leave = desk.leave()?;
            let words = format!("the task asks for no review of revisions ({})", leave.as_str());
            receipt(desk, &packet, Action::NoUserReviewRequired, ENGINE, (Some(&words), None, Some(leave)))?;
            accept(desk, &mut plan, &candidate)?;
        }
        Needs::Person => {
            let packet = packet(desk, &plan, &head, &candidate, (before, after))?;
            return Ok(Reviewed::Asked(ask(desk, &mut plan, &packet, &candidate, (before, after))?));
        }
    }
    Ok(Reviewed::Accepted)
}

/// What a reviewer is shown: the change, and which finding each part of it is for.
fn packet(
    desk: &mut Desk,
    plan: &Plan,
    head: &Version,
    candidate: &Version,
    (before, after): (&str, &str),
) -> Result<String, Error> {
    let path = desk.task().artifact(&plan.artifact).map(|one| one.path.clone()).unwrap_or_default();
    let shown = diff::unified(&path, before, after).into_bytes();
    let looked = desk
        .task()
        .outcomes
        .iter()
        .filter(|one| desk.task().artifact_of(one).is_some_and(|artifact| artifact.id == plan.artifact));
    let looked = looked.count();
    let packet_id = desk.id("review");
    let packet = RevisionReviewPacket {
        packet_id: packet_id.clone(),
        task_id: desk.task().id.clone(),
        run_id: desk.run().to_string(),
        revision_plan_ref: plan.reference()?,
        before_artifact_version_ref: head.reference()?,
        candidate_artifact_version_ref: candidate.reference()?,
        semantic_diff_ref: reference("Diff", &String::from(Digest::of(&shown)))?,
        finding_to_change_map: changes(desk, plan),
        preservation_constraint_result_refs: Vec::new(),
        source_changes: Vec::new(),
        revalidation_result_refs: attempt::finished(desk, plan)?,
        regression_risk_summary: format!("Of this artifact {looked} outcomes are looked at again."),
        state: PacketState::Generated,
        decision_receipt_refs: Vec::new(),
        created_at: desk.now(),
        schema_version: V11,
    };
    desk.put_with(&packet, shown)?;
    Ok(packet_id)
}

/// Which steps each finding led to.
pub(super) fn changes(desk: &Desk, plan: &Plan) -> BTreeMap<String, Vec<String>> {
    let task = desk.task();
    let outcomes = plan.outcomes.iter().filter_map(|id| task.outcome(id));
    let known: Vec<Known> = outcomes.flat_map(|outcome| attempt::findings(desk, outcome)).collect();
    // The steps for each claim, and those that are for no claim, by their order.
    let (mut of_claims, mut others): (BTreeMap<ClaimRef, Vec<usize>>, Vec<usize>) = Default::default();
    for (at, step) in plan.steps().iter().enumerate() {
        match Way::of(step) {
            Some(Way::Search(claim) | Way::Cite(claim) | Way::Without(claim)) => {
                of_claims.entry(claim).or_default().push(at);
            }
            Some(Way::Section { .. } | Way::Repair | Way::Rewrite) => others.push(at),
            Some(Way::Verify(_)) | None => {}
        }
    }
    let steps = |known: &Known| -> Vec<String> {
        let claims = &known.event.affected_claim_refs;
        let own: BTreeSet<usize> = match claims.is_empty() {
            true => others.iter().copied().collect(),
            false => claims.iter().filter_map(|claim| of_claims.get(claim)).flatten().copied().collect(),
        };
        own.into_iter().filter_map(|at| plan.steps().get(at)).map(|step| step.id.clone()).collect()
    };
    known.iter().map(|one| (one.event.finding_id.clone(), steps(one))).collect()
}

/// Puts a change before a person.
fn ask(
    desk: &mut Desk,
    plan: &mut Plan,
    packet: &str,
    candidate: &Version,
    (before, after): (&str, &str),
) -> Result<Asked, Error> {
    let packet_ref = reference("RevisionReviewPacket", packet)?;
    let title = desk.task().artifact(&plan.artifact).map(|one| one.title.clone().unwrap_or(one.path.clone()));
    let title = title.unwrap_or_else(|| plan.artifact.clone());
    let (gone, new) = diff::count(&diff::lines(before, after));
    let item = AttentionLedgerItem {
        item_id: desk.id("attention"),
        task_id: desk.task().id.clone(),
        run_id: Some(desk.run().to_string()),
        matter_id: Some(desk.matter().to_string()),
        attention_kind: AttentionKind::RevisionReviewPending,
        source_ref: packet_ref.clone(),
        summary: format!("A change of “{title}” waits for your review."),
        priority: Severity::High,
        command_ref: Some("command:attention.resolve_item".to_string()),
        lifecycle_state: ItemState::Open,
        created_at: desk.now(),
        resolved_at: None,
        schema_version: V10,
    };
    desk.open("AttentionLedgerItem", &item)?;
    let way = (PacketState::Generated.as_str(), PacketState::ReviewPending.as_str());
    life::go(desk, &packet_ref, way, ENGINE, "shown for review")?;
    artifact::moved(desk, &candidate.id, candidate.state, VersionState::UnderReview)?;
    let lines = if gone == 1 { "line" } else { "lines" };
    let prompt = format!(
        "“{title}” was changed to mend what was found: {gone} {lines} went, {new} came. Is this the work now?"
    );
    let question = call::review(desk, &prompt, &packet_ref, &plan.reference()?)?;
    let receipt = plans::governed(desk, plan, Operation::HardCallRaised)?;
    plans::go(desk, plan, State::WaitingHardCall, By::RevisionOperationReceipt, &receipt)?;
    Ok(Asked { plan: plan.id.clone(), packet: packet.to_string(), question })
}

type Grounds<'a> = (Option<&'a str>, Option<VersionState>, Option<PolicyEvaluationRef>);

fn receipt(
    desk: &mut Desk,
    packet: &str,
    action: Action,
    by: &str,
    (rationale, state, policy): Grounds<'_>,
) -> Result<StorageRef, Error> {
    let command = match action {
        Action::Accept => Some("command:revision_review.accept_candidate"),
        Action::Reject => Some("command:revision_review.reject_candidate"),
        Action::RequestChanges => Some("command:revision_review.request_changes"),
        Action::Fork | Action::RestoreKnownGoodState | Action::NoUserReviewRequired => None,
    };
    desk.put(&RevisionReviewDecisionReceipt {
        receipt_id: desk.id("decided"),
        packet_id: packet.to_string(),
        action,
        actor_ref: by.to_string(),
        rationale: rationale.map(ToString::to_string),
        resulting_candidate_state: state,
        command_ref: command.map(ToString::to_string),
        created_at: desk.now(),
        schema_version: V10,
        irrevocable_side_effects_at_fork: None,
        policy_decision_refs: policy.map(|policy| Vec::from([policy])),
    })
}

/// A candidate becomes the head, and what rests on it is to be looked at again.
fn accept(desk: &mut Desk, plan: &mut Plan, candidate: &Version) -> Result<(), Error> {
    artifact::accept(desk, &plan.artifact, candidate)?;
    cascade::begin(desk, plan)
}

/// Takes in what a person decided on a change.
///
/// # Errors
/// Nobody asked that, it was decided, the work has changed since, or something can't be written.
pub fn decided(
    desk: &mut Desk,
    packet: &str,
    decision: Decision,
    by: &str,
    rationale: Option<&str>,
) -> Result<(), call::Refusal> {
    let unasked = || call::Refusal::Unasked(packet.to_string());
    let shown: RevisionReviewPacket = desk.find("RevisionReviewPacket", packet).ok_or_else(unasked)?;
    let packet_ref = reference("RevisionReviewPacket", packet)?;
    let question = call::open_about(desk, &packet_ref).map(|call| call.hard_call_id);
    let question = question.ok_or_else(|| call::Refusal::Answered(packet.to_string()))?;
    let plan = plans::all(desk)
        .into_iter()
        .find(|plan| plan.reference().ok().as_ref() == Some(&shown.revision_plan_ref));
    let mut plan = plan.ok_or_else(unasked)?;
    let head = artifact::head(desk, &plan.artifact);
    let is_head = head.is_some_and(|head| head.reference().ok() == Some(shown.before_artifact_version_ref));
    let (action, state) = match decision {
        Decision::Accept if !is_head => return Err(call::Refusal::Changed(plan.artifact)),
        Decision::Accept => (Action::Accept, VersionState::AcceptedHead),
        Decision::Reject => (Action::Reject, VersionState::Rejected),
        Decision::RequestChanges => (Action::RequestChanges, VersionState::Superseded),
    };
    let candidate = plan.products(desk).pop().ok_or_else(unasked)?;
    let (answer, person) = (call::resolve(desk, &question, decision.as_str(), by)?, format!("user:{by}"));
    receipt(desk, packet, action, &person, (rationale, Some(state), None))?;
    match decision {
        Decision::Accept => {
            artifact::accept(desk, &plan.artifact, &candidate)?;
            attended(desk, &packet_ref, &person)?;
            plans::go(desk, &mut plan, State::DispatchPending, By::HardCallResolutionReceipt, &answer)?;
            let receipt = plans::governed(desk, &plan, Operation::Dispatched)?;
            plans::go(desk, &mut plan, State::Dispatched, By::RevisionOperationReceipt, &receipt)?;
            cascade::begin(desk, &mut plan)?;
        }
        Decision::Reject | Decision::RequestChanges => {
            artifact::moved(desk, &candidate.id, candidate.state, state)?;
            attended(desk, &packet_ref, &person)?;
            plans::go(desk, &mut plan, State::TerminalBlocked, By::HardCallResolutionReceipt, &answer)?;
            give_up(desk, &plan, DISPATCHER, Status::Failed)?;
        }
    }
    Ok(())
}

/// A change is set aside by a decision on something else: the run goes back, or another run tries it. Gives the question that is
/// answered with that, if one waited.
///
/// # Errors
/// There is no such change, or something can't be written.
pub fn set_aside(
    desk: &mut Desk,
    decision: &RevisionReviewDecisionReceipt,
    state: VersionState,
    by: &str,
) -> Result<Option<String>, Error> {
    let missing = || Error::Missing(decision.packet_id.clone());
    let shown: RevisionReviewPacket =
        desk.find("RevisionReviewPacket", &decision.packet_id).ok_or_else(missing)?;
    let packet_ref = reference("RevisionReviewPacket", &decision.packet_id)?;
    let question = call::open_about(desk, &packet_ref).map(|call| call.hard_call_id);
    let Some(question) = question else {
        desk.put(decision)?;
        return Ok(None);
    };
    let of_packet = |plan: &Plan| plan.reference().ok().as_ref() == Some(&shown.revision_plan_ref);
    let mut plan = plans::all(desk).into_iter().find(of_packet).ok_or_else(missing)?;
    let answer = call::resolve(desk, &question, Decision::Reject.as_str(), by)?;
    desk.put(decision)?;
    if let Some(candidate) = plan.products(desk).pop() {
        artifact::moved(desk, &candidate.id, candidate.state, state)?;
    }
    attended(desk, &packet_ref, &format!("user:{by}"))?;
    plans::go(desk, &mut plan, State::TerminalBlocked, By::HardCallResolutionReceipt, &answer)?;
    give_up(desk, &plan, DISPATCHER, Status::Failed)?;
    Ok(Some(question))
}

/// The diff of a change, as its reviewer is shown it: the digest of its bytes, which stand beside the review's packet. `about` is the
/// packet, or the question about it; anything else has no diff.
#[must_use]
pub fn diff(desk: &Desk, about: &StorageRef) -> Option<Digest> {
    let about = Reference::read(about.as_str())?;
    let packet: RevisionReviewPacket = match about.kind {
        "revision_review_packet" => desk.find("RevisionReviewPacket", about.id)?,
        "hard_revision_call" => {
            let call: HardRevisionCall = desk.find("HardRevisionCall", about.id)?;
            let packet = call.source_ref?;
            let packet =
                Reference::read(packet.as_str()).filter(|one| one.kind == "revision_review_packet")?;
            desk.find("RevisionReviewPacket", packet.id)?
        }
        _nothing_to_review => return None,
    };
    let shown = Reference::read(packet.semantic_diff_ref.as_str())?;
    Digest::try_from(shown.id).ok()
}

/// The packet of a plan that a person must decide on, and the question.
pub(super) fn pending(desk: &Desk, plan: &Plan) -> Result<(String, String), Error> {
    let plan_ref = plan.reference()?;
    let shown = desk.all::<RevisionReviewPacket>().rfind(|one| one.revision_plan_ref == plan_ref);
    let packet = shown.ok_or_else(|| Error::Missing(plan.id.clone()))?.packet_id;
    let question = call::open_about(desk, &reference("RevisionReviewPacket", &packet)?);
    let question = question.ok_or_else(|| Error::Missing(packet.clone()))?.hard_call_id;
    Ok((packet, question))
}

/// What waited for a person waits no more.
pub(crate) fn attended(desk: &mut Desk, source: &StorageRef, by: &str) -> Result<(), Error> {
    let items = desk.each::<AttentionLedgerItem>("AttentionLedgerItem");
    let is_open = |id: &str| desk.says("attention_ledger_item", id, "lifecycle_state") == Some("open");
    let own: Vec<String> = items
        .filter(|found| found.record.source_ref == *source && is_open(&found.id))
        .map(|found| found.id)
        .collect();
    for id in own {
        let subject = reference("AttentionLedgerItem", &id)?;
        let way = (ItemState::Open.as_str(), ItemState::Resolved.as_str());
        life::go(desk, &subject, way, by, "it was decided")?;
    }
    Ok(())
}
