//! One step of a plan: begun under a key and a lock, ended with what it made.
//! Owns: these receipts, and what a failure means for the plan. Must not: choose the step.

use super::waiting;
use crate::artifact::{self, Made, Version};
use crate::claims::is_said;
use crate::desk::{Desk, Error, hash_of, reference};
use crate::names::DRAFTER;
use crate::research;
use crate::revise::anew::Anew;
use crate::revise::attempt::{self, Came};
use crate::revise::plans::{self, Plan, Progress, Step, Told};
use crate::revise::way::Way;
use crate::revise::{Dispatched, Refusal, edit, expect};
use crate::stop;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::derive::keys;
use countersign_govern::types::added::repair::{ParallelBatch, ParallelBatchFinalizationReceipt};
use countersign_govern::types::basic::{ArtifactVersionState, ClaimRef, StorageRef, V10};
use countersign_govern::types::hard_call::TaskSkipReceiptReason as Skipped;
use countersign_govern::types::regeneration::RegenerateAttemptReceiptActionTaken as Action;
use countersign_govern::types::research::{
    ResearchNeedLeaseOnExpiry as OnExpiry, ResearchNeedStatus as NeedStatus,
};
use countersign_govern::types::revision::{
    InPlaceMutationLock, RevisionExecutionLifecycleState as State,
    RevisionExecutionLifecycleTransitionTriggeredByReceiptKind as By, RevisionOperationKind as Operation,
    StepIdempotencyKey, StepIdempotencyKeyAttemptClass as AttemptClass,
};
use countersign_govern::types::sufficiency::ProcedureAttemptRecordTerminalStatus as Status;
use countersign_govern::types::wire::Wire;
use countersign_record::digest::Digest;
use countersign_record::json::{Json, Object};

/// Times that a step is taken again after it failed.
const RETRIES_MAX: usize = 1;

/// A step that is begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    plan: String,
    step: String,
    artifact: String,
    work: Work,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// A section is to be drafted anew.
    Section {
        /// Which, as the task calls it.
        section: String,
        /// How many quotes it may take.
        quotes: u64,
    },
    /// The sentence of a claim is to cite the places that say it: `claims::to_cite` finds them, `edit::recited` does it.
    Cite(ClaimRef),
    /// The sentence of a claim is to be taken out: `edit::without` does it.
    Without(ClaimRef),
    /// Sources are to be searched for what a claim says.
    Search(ClaimRef),
    /// The whole of it is to be put right, as the findings say.
    Repair,
    /// The whole of it is to be rewritten, as the findings say.
    Rewrite,
}

/// What came of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Produced<'a> {
    /// The text of the whole artifact, as it is to be.
    Text(&'a str),
    /// A source that says what was searched for, as the task calls it.
    Source(&'a str),
    /// There is nothing to be had: no source says it, or none says more.
    Nothing,
}

/// What is next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum After {
    /// It is to be done again, in another way.
    Again(Started),
    /// Others that were begun with it are not over yet.
    Others,
    /// The plan goes on.
    On(Dispatched),
    /// The plan is given up.
    Over,
}

impl Started {
    /// The text that it builds on.
    #[must_use]
    pub fn base(&self, desk: &Desk) -> Option<Digest> {
        super::super::base(desk, &self.plan)
    }

    /// What is to be done.
    #[must_use]
    pub fn work(&self) -> &Work {
        &self.work
    }

    /// The artifact, as the task calls it.
    #[must_use]
    pub fn artifact(&self) -> &str {
        &self.artifact
    }

    /// The step.
    #[must_use]
    pub fn step(&self) -> &str {
        &self.step
    }

    /// What can be done without anybody, from the text that the step builds on.
    #[must_use]
    pub fn alone(&self, base: &str) -> Option<String> {
        match &self.work {
            Work::Without(claim) => edit::without(base, claim),
            Work::Section { .. } | Work::Search(_) | Work::Cite(_) | Work::Repair | Work::Rewrite => None,
        }
    }
}

/// Which attempt at a step it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    First,
    Retry,
    Anew,
}

/// Begins a step: says what must not come back, takes the lock, writes the receipt with its key.
pub(super) fn start(
    desk: &mut Desk,
    plan: &mut Plan,
    step: &Step,
    base: &str,
    class: Class,
) -> Result<Started, Error> {
    let version = plan.base(desk).ok_or_else(|| Error::Missing(plan.artifact.clone()))?;
    let pre = plans::is_mutating(step.kind).then(|| String::from(version.content));
    if let Some(anew) = Anew::of(desk, &plan.artifact, step)? {
        anew.ask(desk, base)?;
    }
    if let Some(Way::Search(claim)) = Way::of(step) {
        search(desk, &claim)?;
    }
    let key = key(desk, plan, step, &version, class)?;
    if let Some(pre) = &pre {
        desk.put(&InPlaceMutationLock {
            step_id: step.id.clone(),
            target_section_anchor_hash: key.target_ref_hash.clone(),
            expected_base_version_id: version.id.clone(),
            expected_pre_hash: pre.clone(),
        })?;
    }
    begin(desk, plan, step, pre, key)?;
    started(desk, plan, step)
}

fn begin(
    desk: &mut Desk,
    plan: &mut Plan,
    step: &Step,
    pre: Option<String>,
    key: StepIdempotencyKey,
) -> Result<(), Error> {
    let told = Told { pre, post: None, key: Some(key) };
    let receipt = plans::operated(desk, plan, &step.id, Operation::StepStarted, told)?;
    plans::go(desk, plan, State::StepRunning, By::RevisionOperationReceipt, &receipt)
}

/// Takes the last step of a plan: what is to be looked at again is told by whoever calls. Gives the receipt.
pub(in crate::revise) fn revalidate(desk: &mut Desk, plan: &mut Plan) -> Result<StorageRef, Error> {
    let step = plan.revalidation().cloned().ok_or_else(|| Error::Missing(plan.id.clone()))?;
    let head = artifact::head(desk, &plan.artifact).ok_or_else(|| Error::Missing(plan.artifact.clone()))?;
    let key = key(desk, plan, &step, &head, Class::First)?;
    begin(desk, plan, &step, None, key)?;
    let receipt = finish(desk, plan, &step, None)?;
    plans::go(desk, plan, State::StepReceiptReceived, By::RevisionOperationReceipt, &receipt)?;
    plans::go(desk, plan, State::Revalidating, By::RevisionOperationReceipt, &receipt)?;
    Ok(receipt)
}

/// A step that was begun, as its rows have it.
pub(super) fn started(desk: &Desk, plan: &Plan, step: &Step) -> Result<Started, Error> {
    let work = match Way::of(step) {
        Some(Way::Section { section, quotes }) => {
            let anew = Anew::of(desk, &plan.artifact, step)?;
            let now = anew.and_then(|anew| anew.quotes(desk));
            Work::Section { section, quotes: now.unwrap_or(quotes) }
        }
        Some(Way::Cite(claim)) => Work::Cite(claim),
        Some(Way::Without(claim)) => Work::Without(claim),
        Some(Way::Search(claim)) => Work::Search(claim),
        Some(Way::Repair) => Work::Repair,
        Some(Way::Rewrite) => Work::Rewrite,
        Some(Way::Verify(_)) | None => return Err(Error::Missing(step.id.clone())),
    };
    let (plan, artifact) = (plan.id.clone(), plan.artifact.clone());
    Ok(Started { plan, step: step.id.clone(), artifact, work })
}

/// Somebody searches for a source of a claim, if nobody did yet.
fn search(desk: &mut Desk, claim: &ClaimRef) -> Result<(), Error> {
    let need = research::for_claim(desk, claim)?;
    let is_free = desk.says("research_need", &need, "status") == Some(NeedStatus::Open.as_str());
    if is_free {
        research::lease(desk, &need, DRAFTER, (SEARCH_MS, OnExpiry::MarkAbandoned))?;
    }
    Ok(())
}

/// Milliseconds for which one who searches has a question alone.
const SEARCH_MS: u64 = 3_600 * 1_000;

/// The key of an attempt: what it works on, what it is given, which attempt it repeats.
fn key(
    desk: &Desk,
    plan: &Plan,
    step: &Step,
    base: &Version,
    class: Class,
) -> Result<StepIdempotencyKey, Error> {
    let quotes = Anew::of(desk, &plan.artifact, step)?.and_then(|anew| anew.quotes(desk));
    let payload = Object::from([
        ("base", Json::from(String::from(base.content))),
        ("target", step.target.as_str().into()),
        ("quotes", quotes.write().unwrap_or(Json::Null)),
    ]);
    let before = match class {
        Class::First => None,
        Class::Retry | Class::Anew => {
            last_key(desk, &step.id).map(|key| String::from(keys::step(&key.write().unwrap_or(Json::Null))))
        }
    };
    Ok(StepIdempotencyKey {
        run_id: desk.run().to_string(),
        plan_id: plan.id.clone(),
        step_id: step.id.clone(),
        step_kind: step.kind,
        target_ref_hash: String::from(hash_of(&step.target.as_str().into())?),
        input_payload_hash: String::from(hash_of(&payload.into())?),
        attempt_class: match class {
            Class::First => AttemptClass::First,
            Class::Retry => AttemptClass::Retry,
            Class::Anew => AttemptClass::Regenerate,
        },
        previous_attempt_hash: before,
        schema_version: V10,
    })
}

fn last_key(desk: &Desk, step: &str) -> Option<StepIdempotencyKey> {
    plans::receipts(desk, step).into_iter().rev().find_map(|(_, receipt)| receipt.idempotency_key)
}

/// Finds a step that runs, and its plan.
fn taken(desk: &Desk, started: &Started) -> Result<(Plan, Step), Refusal> {
    let plan = plans::find(desk, &started.plan)?;
    expect(&plan, &[State::StepRunning])?;
    let step = plan.step(&started.step).cloned().ok_or_else(|| Error::Missing(started.step.clone()))?;
    match plans::progress(desk, &step.id) {
        Progress::Running => Ok((plan, step)),
        Progress::Waiting | Progress::Finished | Progress::Failed | Progress::Skipped => {
            Err(Refusal::NotRunning { step: step.id })
        }
    }
}

/// Ends a step with what came of it. `base` is the text that it was begun on.
///
/// # Errors
/// The step does not run, or something can't be written.
pub fn done(desk: &mut Desk, started: Started, base: &str, produced: Produced<'_>) -> Result<After, Refusal> {
    let (mut plan, step) = taken(desk, &started)?;
    match (&started.work, produced) {
        (Work::Search(claim), found) => {
            searched(desk, claim, found)?;
            let receipt = finish(desk, &plan, &step, None)?;
            Ok(after(desk, &mut plan, &receipt)?)
        }
        (_, Produced::Source(_) | Produced::Nothing) => {
            if let Some(anew) = Anew::of(desk, &plan.artifact, &step)? {
                anew.goes_on(desk, base, &input(desk, &step.id), Action::Escalated)?;
            }
            Ok(fruitless(desk, &mut plan, &step, Status::NotAttemptedMissingEvidence)?)
        }
        (Work::Section { .. }, Produced::Text(text)) => {
            let Some(anew) = Anew::of(desk, &plan.artifact, &step)? else {
                return Err(Error::Missing(step.id).into());
            };
            let given = input(desk, &step.id);
            if anew.is_new(desk, base, text, &given)? {
                return Ok(made(desk, &mut plan, &step, text)?);
            }
            if anew.quotes(desk).is_some() {
                anew.goes_on(desk, text, &given, Action::ChangedGenerationPolicy)?;
                return Ok(After::Again(start(desk, &mut plan, &step, base, Class::Anew)?));
            }
            anew.goes_on(desk, text, &given, Action::Escalated)?;
            Ok(fruitless(desk, &mut plan, &step, Status::IdenticalOutputRejected)?)
        }
        (Work::Cite(_) | Work::Without(_) | Work::Repair | Work::Rewrite, Produced::Text(text)) => {
            if text == base {
                return Ok(fruitless(desk, &mut plan, &step, Status::IdenticalOutputRejected)?);
            }
            Ok(made(desk, &mut plan, &step, text)?)
        }
    }
}

/// Ends a step that could not be done: it is taken once more, then left.
///
/// # Errors
/// The step does not run, or something can't be written.
pub fn failed(desk: &mut Desk, started: Started, base: &str) -> Result<After, Refusal> {
    let (mut plan, step) = taken(desk, &started)?;
    let failures = plans::receipts(desk, &step.id);
    let failures =
        failures.iter().filter(|(_, one)| one.operation_kind == Some(Operation::StepFailed)).count();
    if failures < RETRIES_MAX {
        let told = Told { pre: locked(desk, &step.id), ..Told::default() };
        plans::operated(desk, &plan, &step.id, Operation::StepFailed, told)?;
        return Ok(After::Again(start(desk, &mut plan, &step, base, Class::Retry)?));
    }
    Ok(fruitless(desk, &mut plan, &step, Status::CapabilityFailed)?)
}

/// The hash of what the running attempt was given.
fn input(desk: &Desk, step: &str) -> String {
    last_key(desk, step).map(|key| key.input_payload_hash).unwrap_or_default()
}

/// The hash that the lock of a step found.
fn locked(desk: &Desk, step: &str) -> Option<String> {
    let lock: Option<InPlaceMutationLock> = desk.find("InPlaceMutationLock", step);
    lock.map(|lock| lock.expected_pre_hash)
}

/// Ends a search for a source of a claim with what was found.
fn searched(desk: &mut Desk, claim: &ClaimRef, found: Produced<'_>) -> Result<(), Error> {
    let need = research::of_claim(desk, claim).filter(|need| need.status == NeedStatus::Leased);
    match (need, found) {
        (None, _) => Ok(()),
        (Some(need), Produced::Source(source)) => Ok(research::found(desk, &need.need_id, source)?),
        (Some(need), Produced::Text(_) | Produced::Nothing) => {
            let by = reference("Module", DRAFTER)?;
            let reason = match is_said(desk, claim) {
                true => "no other place in the sources of this run says it",
                false => "no source of this run says it",
            };
            Ok(research::hand(desk, &need.need_id, NeedStatus::Unresolved, &by, reason)?)
        }
    }
}

/// A step made a text: it is a candidate, and takes the place of what the step before made.
fn made(desk: &mut Desk, plan: &mut Plan, step: &Step, text: &str) -> Result<After, Error> {
    let before = plan.product(desk);
    let safety = Way::of(step).map_or(plan.safety, |way| way.safety(desk)).max(plan.safety);
    let made =
        Made { artifact: &plan.artifact, bytes: text.as_bytes(), step_id: Some(step.id.clone()), safety };
    let version = artifact::candidate(desk, &made)?;
    if let Some(before) = before {
        artifact::moved(desk, &before.id, before.state, ArtifactVersionState::Superseded)?;
    }
    let receipt = finish(desk, plan, step, Some(&version))?;
    after(desk, plan, &receipt)
}

fn finish(desk: &mut Desk, plan: &Plan, step: &Step, made: Option<&Version>) -> Result<StorageRef, Error> {
    let told = Told {
        pre: locked(desk, &step.id),
        post: made.map(|version| String::from(version.content)),
        key: None,
    };
    plans::operated(desk, plan, &step.id, Operation::StepFinished, told)
}

/// The plan goes on after a step, unless others that were begun with it are not over.
fn after(desk: &mut Desk, plan: &mut Plan, receipt: &StorageRef) -> Result<After, Error> {
    if plan.is_running(desk) {
        return Ok(After::Others);
    }
    finalize(desk, plan)?;
    plans::go(desk, plan, State::StepReceiptReceived, By::RevisionOperationReceipt, receipt)?;
    Ok(After::On(Dispatched { plan: plan.id.clone() }))
}

/// The steps of a batch are over.
fn finalize(desk: &mut Desk, plan: &Plan) -> Result<(), Error> {
    let ended: Vec<String> = desk.all::<ParallelBatchFinalizationReceipt>().map(|one| one.batch_id).collect();
    let open =
        desk.all::<ParallelBatch>().filter(|one| one.plan_id == plan.id && !ended.contains(&one.batch_id));
    for batch in open.collect::<Vec<_>>() {
        let last = |step: &String| plans::receipts(desk, step).pop().map(|(_, receipt)| receipt.receipt_id);
        let receipts = batch.step_ids.iter().filter_map(last);
        let refs =
            receipts.map(|id| reference("RevisionOperationReceipt", &id)).collect::<Result<Vec<_>, _>>()?;
        desk.put(&ParallelBatchFinalizationReceipt {
            receipt_id: desk.id("batch-over"),
            batch_id: batch.batch_id,
            step_receipt_refs: refs,
            created_at: desk.now(),
            schema_version: Some(V10),
        })?;
    }
    Ok(())
}

/// A step gave nothing that can be taken. The others of its plan are taken all the same; where there is nothing of them either, the
/// plan is given up.
fn fruitless(desk: &mut Desk, plan: &mut Plan, step: &Step, status: Status) -> Result<After, Error> {
    let told = Told { pre: locked(desk, &step.id), ..Told::default() };
    let failed = plans::operated(desk, plan, &step.id, Operation::StepFailed, told)?;
    let is_work = |id: &String| plan.step(id).is_some_and(|one| plans::is_mutating(one.kind));
    let goes_on =
        plan.product(desk).is_some() || waiting(desk, plan).iter().any(is_work) || plan.is_running(desk);
    if goes_on {
        let skipped = stop::skip_step(desk, plan, &step.id, DRAFTER_REF, Skipped::DependencyUnavailable)?;
        return after(desk, plan, &skipped);
    }
    plans::go(desk, plan, State::TerminalFailed, By::RevisionOperationReceipt, &failed)?;
    give_up(desk, plan, DRAFTER_REF, status)?;
    Ok(After::Over)
}

/// Who leaves a step out that could not be done.
const DRAFTER_REF: &str = "module:drafter";

/// A plan that is over without anything to show: what is left of it is skipped, and it was an attempt.
pub(in crate::revise) fn give_up(
    desk: &mut Desk,
    plan: &Plan,
    by: &str,
    status: Status,
) -> Result<(), Error> {
    for step in waiting(desk, plan) {
        stop::skip_step(desk, plan, &step, by, Skipped::DependencyUnavailable)?;
    }
    for outcome in &plan.outcomes {
        attempt::tried(desk, plan, outcome, &Came::Nowhere(status))?;
    }
    Ok(())
}
