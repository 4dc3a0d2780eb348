//! What the run understood it has to do, shown before it does it; a person agrees, refuses or changes it, or a policy needs nobody.
//! Owns: the review of the contract. Must not: begin the work, or agree for a person.
//!
//! The task as it is reviewed lies beside the review as bytes: after an edit a run goes by the last of them.

use crate::attention;
use crate::desk::{Desk, Error, reference};
use crate::life;
use crate::names::ENGINE;
use crate::opening;
use crate::show::person;
use crate::task::{Approval, RevisionApproval, Task};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::types::added::policy::UserConfirmation;
use countersign_govern::types::basic::{
    CapabilityRef, HardRevisionCallKind as Call, ScoringBasis, StorageRef, V10, V11,
};
use countersign_govern::types::claim::ClaimSupportDerivationPolicyContradictionRule as Contradiction;
use countersign_govern::types::cost::TaskRunCostForecast;
use countersign_govern::types::forum::ForumDeliberationPolicyOnNoConsensus as Exit;
use countersign_govern::types::reliance::{
    EvaluationContractReview as Review, EvaluationContractReviewApprovalStatus as Status,
    RelianceArtifactLifecycleState as Life,
};
use countersign_govern::types::wire::Wire;
use countersign_record::canonical;
use countersign_record::json::{Json, Number};

/// The command by which a person decides.
const COMMAND: &str = "contract_review.decide";
/// What every run needs somebody for.
const EVALUATE: &str = "evaluate";

/// What a person says of a contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision<'a> {
    /// It is what they want.
    Approve,
    /// It is not.
    Reject {
        /// Why.
        reason: &'a str,
    },
    /// It is nearly: so it should be.
    Edit(&'a Task),
}

/// Why a decision changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Nothing waits for one.
    #[error("no contract waits for a decision")]
    NotAsked,
    /// The change would make another task of it.
    #[error("an edit may change words, weights and thresholds; for anything else begin a new run")]
    AnotherTask,
    /// The work has begun.
    #[error("the work has begun, so what is asked can't be changed")]
    TooLate,
    /// It can't be written.
    #[error(transparent)]
    Unwritten(#[from] Error),
}

/// The last review, as it stands.
#[must_use]
pub fn last(desk: &Desk) -> Option<Review> {
    let id = desk.each::<Json>("EvaluationContractReview").next_back()?.id;
    desk.standing("EvaluationContractReview", &id)
}

/// Shows the contract. Where policy needs nobody it is waived at once, else it waits.
///
/// # Errors
/// Something can't be written.
pub fn open(desk: &mut Desk) -> Result<StorageRef, Error> {
    let document = desk.task().write().unwrap_or(Json::Null);
    let review = review(desk, &document)?;
    // In canonical form, so that a task is the same bytes wherever it was read from.
    let bytes = canonical::to_bytes(&document)?;
    let subject = desk.open_with("EvaluationContractReview", &review, bytes)?;
    life::go(
        desk,
        &subject,
        (Life::Draft.as_str(), Life::ReadyForReview.as_str()),
        ENGINE,
        "it is complete",
    )?;
    match desk.task().policies().contract_approval() {
        Approval::Waived => {
            let to = Status::WaivedByPolicy.as_str();
            life::go(desk, &subject, (Status::Pending.as_str(), to), ENGINE, "the task needs nobody for it")?;
        }
        Approval::Required => attention::refresh(desk)?,
    }
    Ok(subject)
}

fn review(desk: &Desk, document: &Json) -> Result<Review, Error> {
    let task = desk.task();
    let hash = canonical::hash(document)?;
    let plan = format!("compiled_plan:{}#{hash}", desk.own("contract"));
    let forecast = desk.all::<TaskRunCostForecast>().next_back();
    let criteria = || task.outcomes.iter().flat_map(|one| &one.criteria);
    Ok(Review {
        review_id: desk.id("contract"),
        task_id: task.id.clone(),
        run_id: Some(desk.run().to_string()),
        compiled_plan_ref: StorageRef::try_from(plan.as_str()).map_err(|_| Error::Unnameable(plan))?,
        interpreted_goal: task.goal.clone(),
        criteria_summary: criteria().map(|one| one.text.clone()).collect(),
        threshold_summary: task
            .outcomes
            .iter()
            .map(|one| format!("{}: {}", one.statement, plain(&one.threshold())))
            .collect(),
        source_requirements: task
            .sources
            .iter()
            .map(|one| one.title.clone().unwrap_or_else(|| one.path.clone()))
            .collect(),
        required_capabilities: capabilities(task),
        hard_call_triggers: triggers(task),
        estimated_cost_vector_ref: forecast.map(|one| one.planned_cost_vector_ref),
        material_differences_from_preview: None,
        user_approval_required: task.policies().contract_approval() == Approval::Required,
        approval_status: Status::Pending,
        approval_ref: None,
        lifecycle_state: Life::Draft,
        command_ref: Some(COMMAND.to_string()),
        created_at: desk.now(),
        schema_version: V11,
    })
}

/// A number in canonical form: a task is told the same wherever it was read from.
fn plain(number: &Number) -> String {
    let bytes = canonical::to_bytes(&Json::Number(number.clone())).ok();
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_else(|| number.literal().to_string())
}

fn capabilities(task: &Task) -> Vec<CapabilityRef> {
    let own = task.outcomes.iter().flat_map(|one| one.capabilities.iter().flatten());
    let granted = task.capabilities.iter().flatten();
    let all: BTreeSet<&str> = own.chain(granted).map(String::as_str).chain([EVALUATE]).collect();
    all.into_iter().map(|id| CapabilityRef { capability_id: id.to_string(), min_version: None }).collect()
}

/// What a person may be asked on the way.
fn triggers(task: &Task) -> Vec<Call> {
    let policies = task.policies();
    let is_labelled =
        |one: &ScoringBasis| matches!(one, ScoringBasis::HumanLabel | ScoringBasis::UnanchoredLlmJudgment);
    let bases = task.outcomes.iter().flat_map(|one| &one.criteria).map(|one| one.basis);
    let mut all = BTreeSet::from([Call::ContradictoryRequirements, Call::NoSufficientProcedure]);
    if bases.clone().any(|one| is_labelled(&one)) || policies.revision_approval() != RevisionApproval::Waived
    {
        all.insert(Call::MeaningChangeApproval);
    }
    if policies.claims().contradiction() == Contradiction::HumanReviewRequired {
        all.insert(Call::PolicyBoundary);
    }
    if task.budget.as_ref().is_some_and(|caps| !caps.is_empty()) {
        all.insert(Call::BudgetScopeDecision);
    }
    if policies.forum.as_ref().is_some_and(|forum| forum.no_consensus() == Exit::ForumDeadlockHardCall) {
        all.insert(Call::ForumDeadlock);
    }
    all.insert(Call::ExternalSideEffectApproval);
    all.into_iter().collect()
}

/// Takes a decision in.
///
/// # Errors
/// It changes nothing, and why.
pub fn decide(desk: &mut Desk, decision: &Decision<'_>, by: &str) -> Result<(), Refusal> {
    let review = last(desk).filter(|one| one.approval_status == Status::Pending).ok_or(Refusal::NotAsked)?;
    let subject = reference("EvaluationContractReview", &review.review_id)?;
    let user = person(by)?;
    let pending = Status::Pending.as_str();
    match decision {
        Decision::Approve => {
            desk.put(&UserConfirmation {
                confirmation_id: desk.id("confirmed"),
                user_ref: user.clone(),
                subject_ref: subject.clone(),
                created_at: desk.now(),
                schema_version: Some(V10),
            })?;
            life::go(desk, &subject, (pending, Status::Approved.as_str()), user.as_str(), "approved")?;
        }
        Decision::Reject { reason } => {
            life::go(desk, &subject, (pending, Status::Rejected.as_str()), user.as_str(), reason)?;
        }
        Decision::Edit(task) => edit(desk, task, &subject, &user)?,
    }
    Ok(attention::refresh(desk)?)
}

/// The contract is changed: the review gives way to one of the new contract, which waits in turn.
fn edit(desk: &mut Desk, task: &Task, subject: &StorageRef, user: &StorageRef) -> Result<(), Refusal> {
    if desk.each::<Json>("EvaluationSnapshot").next().is_some() {
        return Err(Refusal::TooLate);
    }
    if !is_same(desk.task(), task) {
        return Err(Refusal::AnotherTask);
    }
    let (pending, edited) = (Status::Pending.as_str(), Status::Edited.as_str());
    life::go(desk, subject, (pending, edited), user.as_str(), "the contract is to be another")?;
    let (ready, old) = (Life::ReadyForReview.as_str(), Life::Superseded.as_str());
    life::go(desk, subject, (ready, old), ENGINE, "there is a newer contract")?;
    let before = desk.replace_task(task.clone());
    opening::amend(desk, &before, user)?;
    open(desk)?;
    Ok(())
}

/// Whether two tasks are the same but for words, weights and thresholds.
fn is_same(one: &Task, other: &Task) -> bool {
    let mut plain = other.clone();
    plain.title = one.title.clone();
    plain.goal = one.goal.clone();
    plain.audience = one.audience.clone();
    plain.purpose = one.purpose.clone();
    plain.scope = one.scope.clone();
    for (outcome, own) in plain.outcomes.iter_mut().zip(&one.outcomes) {
        outcome.statement = own.statement.clone();
        outcome.threshold = own.threshold.clone();
        for (criterion, own) in outcome.criteria.iter_mut().zip(&own.criteria) {
            criterion.text = own.text.clone();
            criterion.weight = own.weight.clone();
            criterion.threshold = own.threshold.clone();
            criterion.priority = own.priority;
            criterion.required = own.required;
        }
    }
    plain == *one
}
