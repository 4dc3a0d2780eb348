//! Questions to sources that nobody could answer yet.
//! Owns: raising them, once for each thing they are about; who holds one, answers, hands on. Must not: find an answer, or decide who
//! may give one; `govern::decide::lease` does.

use crate::attention;
use crate::claims::Claimed;
use crate::desk::{Desk, Error, Found, reference, text_of};
use crate::names::{DRAFTER, ENGINE};
use crate::show::person;
use crate::workspace::{self, Act};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::decide::lease::{self, By, Emitted, Question, Refusal, Settled};
use countersign_govern::types::added::outcome::LifecycleTransitionReceipt;
use countersign_govern::types::basic::{
    ArtifactScopeRef, ClaimRef, ResearchTarget, ScopeAnchor, StorageRef, V11,
};
use countersign_govern::types::reliance::AttentionLedgerItem;
use countersign_govern::types::research::{
    ResearchNeed, ResearchNeedLease, ResearchNeedLeaseOnExpiry as OnExpiry, ResearchNeedScope,
    ResearchNeedStatus as Status,
};
use countersign_govern::types::wire::Wire;
use countersign_govern::types::workspace::SourceWorkspaceOperationKind as Kind;
use countersign_record::json::Json;

/// All needs of the run, in the order in which they were raised.
#[must_use]
pub fn all(desk: &Desk) -> Vec<ResearchNeed> {
    standing(desk, desk.each::<Json>("ResearchNeed"))
}

/// The needs about a target, in that order.
fn about(desk: &Desk, target: &ResearchTarget) -> Vec<ResearchNeed> {
    let targets = Vec::from([target.clone()]).write().unwrap_or(Json::Null);
    standing(desk, desk.linked::<Json>("ResearchNeed", "target_refs", &text_of(&targets)))
}

fn standing(desk: &Desk, rows: impl Iterator<Item = Found<Json>>) -> Vec<ResearchNeed> {
    let mut seen = BTreeSet::new();
    let first = rows.filter(|found| seen.insert(found.id.clone()));
    first.filter_map(|found| desk.standing::<ResearchNeed>("ResearchNeed", &found.id)).collect()
}

/// Whether a need is still open.
#[must_use]
pub fn is_open(status: Status) -> bool {
    match status {
        Status::Open | Status::Leased | Status::HumanNeeded | Status::Unresolved => true,
        Status::Answered | Status::Cancelled => false,
    }
}

/// Asks for a source that says what a claim says; gives what the need is called.
///
/// # Errors
/// Something can't be written.
pub fn for_claim(desk: &mut Desk, claim: &ClaimRef) -> Result<String, Error> {
    raise(
        desk,
        ResearchTarget::Claim(claim.clone()),
        "Which source says what this sentence of the work says?",
    )
}

/// Asks for a source that answers what an outcome is about; gives what the need is called.
///
/// # Errors
/// Something can't be written.
pub fn for_outcome(desk: &mut Desk, artifact: &str, question: &str) -> Result<String, Error> {
    let scope = ArtifactScopeRef { artifact_stable_id: desk.own(artifact), anchor: ScopeAnchor::Whole };
    raise(desk, ResearchTarget::Scope(scope), question)
}

fn raise(desk: &mut Desk, target: ResearchTarget, question: &str) -> Result<String, Error> {
    let is_same = |one: &ResearchNeed| one.question == question && is_open(one.status);
    if let Some(same) = about(desk, &target).into_iter().find(is_same) {
        return Ok(same.need_id);
    }
    let need_id = desk.id("need");
    let need = ResearchNeed {
        need_id: need_id.clone(),
        need_scope: ResearchNeedScope::Run,
        task_id: desk.task().id.clone(),
        run_id: Some(desk.run().to_string()),
        workspace_id: desk.workspace_id(),
        target_refs: Vec::from([target]),
        question: question.to_string(),
        status: Status::Open,
        answer_ref: None,
        human_needed_reason: None,
        unresolved_reason: None,
        created_at: desk.now(),
        updated_at: desk.now(),
        schema_version: V11,
    };
    desk.open("ResearchNeed", &need)?;
    Ok(need_id)
}

/// The need that asks for a source of a claim.
#[must_use]
pub fn of_claim(desk: &Desk, claim: &ClaimRef) -> Option<ResearchNeed> {
    about(desk, &ResearchTarget::Claim(claim.clone())).pop()
}

/// What asks for sources of claims that an artifact does not make any more is dropped.
///
/// # Errors
/// Something can't be written.
pub fn drop_moot(desk: &mut Desk, artifact: &str, claims: &[Claimed]) -> Result<(), Unmoved> {
    let own = alloc::format!("claim:{}/", desk.own(artifact));
    let made: BTreeSet<&str> = claims.iter().map(|one| one.claim_ref.as_str()).collect();
    let is_moot = |target: &ResearchTarget| match target {
        ResearchTarget::Claim(claim) => claim.as_str().starts_with(&own) && !made.contains(claim.as_str()),
        ResearchTarget::Source(_) | ResearchTarget::Scope(_) => false,
    };
    let open = all(desk).into_iter().filter(|one| is_open(one.status) && one.target_refs.iter().all(is_moot));
    for need in open.collect::<Vec<_>>() {
        hand(desk, &need.need_id, Status::Cancelled, &engine()?, "the work does not say it any more")?;
    }
    Ok(())
}

/// The references to the needs that are still open.
///
/// # Errors
/// One can't be named.
pub fn open_refs(desk: &Desk) -> Result<Vec<StorageRef>, Error> {
    let open = all(desk).into_iter().filter(|one| is_open(one.status));
    open.map(|one| reference("ResearchNeed", &one.need_id)).collect()
}

/// Why nothing becomes of a question.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unmoved {
    /// There is no such question.
    #[error("there is no question {0} to the sources")]
    Unasked(String),
    /// It is not for them, or not now.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// It can't be written.
    #[error(transparent)]
    Unwritten(#[from] Error),
}

/// A question as it stands now; a lease that has run out is over.
fn settled(desk: &Desk, need: &str) -> Result<Settled, Unmoved> {
    let standing = desk.standing::<ResearchNeed>("ResearchNeed", need);
    let standing = standing.ok_or_else(|| Unmoved::Unasked(need.to_string()))?;
    let leases = desk.linked::<ResearchNeedLease>("ResearchNeedLease", "need_id", need);
    let leases: Vec<ResearchNeedLease> = leases.map(|found| found.record).collect();
    let subject = reference("ResearchNeed", need)?;
    let moves = desk.linked::<LifecycleTransitionReceipt>(
        "LifecycleTransitionReceipt",
        "subject_ref",
        subject.as_str(),
    );
    let moves = moves.count();
    let item = attention::open_about(desk, &subject);
    let at = desk.clock().clone();
    let question = Question::again(standing, &leases, moves as u64, item, &at);
    Ok(lease::settle(question, &at)?)
}

/// Writes what was decided. Receipts and items are called as everything of the run is.
fn write(desk: &mut Desk, settled: Settled) -> Result<(), Error> {
    let (_, emitted) = settled.done();
    for one in emitted {
        match one {
            Emitted::Lease(lease) => desk.put(&lease)?,
            Emitted::Moved(receipt) => {
                desk.put(&LifecycleTransitionReceipt { receipt_id: desk.id("moved"), ..receipt })?
            }
            Emitted::Need(need) => desk.open("ResearchNeed", &need)?,
            Emitted::Attention(item) => {
                let matter_id = Some(desk.matter().to_string());
                desk.open("AttentionLedgerItem", &AttentionLedgerItem { matter_id, ..item })?
            }
        };
    }
    Ok(())
}

impl From<Unmoved> for Error {
    fn from(unmoved: Unmoved) -> Self {
        match unmoved {
            Unmoved::Unasked(_) | Unmoved::Refused(_) => Error::Missing(format!("way on: {unmoved}")),
            Unmoved::Unwritten(error) => error,
        }
    }
}

/// Lets a module hold a question for a while, and says what becomes of it then; gives the token of the lease.
///
/// # Errors
/// Somebody holds it, it is closed, or it can't be written.
pub fn lease(
    desk: &mut Desk,
    need: &str,
    module: &str,
    (millis, on_expiry): (u64, OnExpiry),
) -> Result<String, Unmoved> {
    let mut settled = settled(desk, need)?;
    let token = desk.id("lease");
    let until = desk.until(millis).ok_or_else(|| Error::Missing("end of the lease".to_string()))?;
    let ask = lease::Ask { module_id: module, token: &token, until: &until, on_expiry };
    settled.grant(&ask)?;
    write(desk, settled)?;
    Ok(token)
}

/// A person answers a question from a source that the run has. One that was not put to a person is handed to them first.
///
/// # Errors
/// It is closed, the source is not there, or it can't be written.
pub fn answer(desk: &mut Desk, need: &str, source: &str, by: &str) -> Result<(), Unmoved> {
    let source = desk.task().source(source).cloned().ok_or_else(|| Error::Missing(source.to_string()))?;
    let who = person(by)?;
    for to in to_a_person(settled(desk, need)?.question().need().status) {
        hand(desk, need, *to, &who, "a person takes it up")?;
    }
    let mut settled = settled(desk, need)?;
    let answer = StorageRef::try_from(desk.source_ref(&source.id)?.as_str())
        .map_err(|_| Error::Unnameable(source.id.clone()))?;
    let before = settled.question().clone();
    settled.answer(By::Person(&who), &answer)?;
    let act = Act {
        payload: Some(answer),
        on: Some(reference("ResearchNeed", need)?),
        by: who.as_str(),
        question: Some(&before),
        ..Act::plain(Kind::AnswerResearchNeed)
    };
    let act = act.of(desk, &source);
    workspace::operate(desk, &act)?;
    Ok(write(desk, settled)?)
}

/// Who searches for a source of a question, and holds it, has found one that the run has.
///
/// # Errors
/// Nobody holds it, the source is not there, or it can't be written.
pub(crate) fn found(desk: &mut Desk, need: &str, source: &str) -> Result<(), Unmoved> {
    let source = desk.task().source(source).cloned().ok_or_else(|| Error::Missing(source.to_string()))?;
    let answer = StorageRef::try_from(desk.source_ref(&source.id)?.as_str())
        .map_err(|_| Error::Unnameable(source.id.clone()))?;
    let lease = desk.linked::<ResearchNeedLease>("ResearchNeedLease", "need_id", need).next_back();
    let token = lease.map(|found| found.record.lease_token).unwrap_or_default();
    let mut settled = settled(desk, need)?;
    let before = settled.question().clone();
    settled.answer(By::Lease(&token), &answer)?;
    let by = reference("Module", DRAFTER)?;
    let act = Act {
        payload: Some(answer),
        on: Some(reference("ResearchNeed", need)?),
        lease: Some(reference("ResearchNeedLease", &token)?),
        by: by.as_str(),
        question: Some(&before),
        ..Act::plain(Kind::AnswerResearchNeed)
    };
    workspace::operate(desk, &act.of(desk, &source))?;
    Ok(write(desk, settled)?)
}

/// How a question comes to a person from where it stands.
fn to_a_person(status: Status) -> &'static [Status] {
    match status {
        Status::Open | Status::Leased => &[Status::HumanNeeded],
        Status::Unresolved => &[Status::Open, Status::HumanNeeded],
        Status::HumanNeeded | Status::Answered | Status::Cancelled => &[],
    }
}

/// Hands a question on: to a person, back to research, or gives it up.
///
/// # Errors
/// It is not to be moved there, or it can't be written.
pub fn hand(desk: &mut Desk, need: &str, to: Status, by: &StorageRef, why: &str) -> Result<(), Unmoved> {
    let mut settled = settled(desk, need)?;
    settled.hand(to, by, why)?;
    Ok(write(desk, settled)?)
}

fn engine() -> Result<StorageRef, Error> {
    StorageRef::try_from(ENGINE).map_err(|_| Error::Unnameable(ENGINE.to_string()))
}
