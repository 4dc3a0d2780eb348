//! What waits for a person.
//! Owns: what does, as it follows from the records, and the items that say so. Must not: deal with anything by itself.

use crate::assist;
use crate::call;
use crate::contract;
use crate::desk::{Desk, Error, Found, reference};
use crate::finding;
use crate::life;
use crate::names::ENGINE;
use crate::outcome;
use crate::rely;
use crate::research;
use crate::task::Approval;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::reference::Reference;
use countersign_govern::types::added::outcome::LifecycleTransitionReceipt;
use countersign_govern::types::basic::{Severity, StorageRef, V10};
use countersign_govern::types::finding::FindingState;
use countersign_govern::types::outcome::OutcomeEvaluationState;
use countersign_govern::types::reliance::{
    AttentionKind as Kind, AttentionLedgerItem as Item, AttentionLedgerItemLifecycleState as State,
    EvaluationContractReviewApprovalStatus as Approved, RelianceArtifactLifecycleState as Life,
};
use countersign_govern::types::research::ResearchNeedStatus;
use countersign_record::json::Json;

/// The command that closes an item.
const COMMAND: &str = "attention.resolve_item";

/// Something that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    /// Why.
    pub kind: Kind,
    /// What it is about.
    pub source: StorageRef,
    /// What is wanted, in a sentence.
    pub summary: String,
    /// How much it matters.
    pub priority: Severity,
}

/// Everything that waits, as the records are.
///
/// # Errors
/// Something can't be named.
pub fn due(desk: &Desk) -> Result<Vec<Due>, Error> {
    let mut all = Vec::new();
    let mut add = |kind, type_name: &str, id: &str, summary: String, priority| -> Result<(), Error> {
        all.push(Due { kind, source: reference(type_name, id)?, summary, priority });
        Ok(())
    };
    for one in call::open(desk) {
        let id = &one.hard_call_id;
        add(Kind::HardCallPending, "HardRevisionCall", id, one.prompt_text.clone(), Severity::High)?;
    }
    if let Some(review) = contract::last(desk)
        && review.user_approval_required
        && matches!(review.approval_status, Approved::Pending | Approved::Edited)
        && review.lifecycle_state != Life::Superseded
    {
        let words = "Is this what you want done?".to_string();
        add(Kind::ApprovalRequired, "EvaluationContractReview", &review.review_id, words, Severity::High)?;
    }
    for one in research::all(desk).into_iter().filter(|one| one.status == ResearchNeedStatus::HumanNeeded) {
        add(Kind::ResearchNeedHuman, "ResearchNeed", &one.need_id, one.question.clone(), Severity::High)?;
    }
    for one in finding::all(desk).into_iter().filter(|one| one.state == FindingState::Contested) {
        let (id, words) = (&one.event.finding_id, format!("It is disputed: {}", one.event.finding_text));
        add(Kind::ContestedFinding, "EvaluationFindingRecord", id, words, Severity::Medium)?;
    }
    for found in desk.each::<Json>("RevisionReviewPacket") {
        if desk.says("revision_review_packet", &found.id, "state") == Some("review_pending") {
            let words = "A revision that changes the meaning waits for you.".to_string();
            add(Kind::RevisionReviewPending, "RevisionReviewPacket", &found.id, words, Severity::High)?;
        }
    }
    for one in assist::escalated(desk) {
        let words = "Nobody answered a part of the run that asked for help.".to_string();
        add(Kind::BlockedItem, "ModuleAssistanceRequest", &one.request_id, words, Severity::High)?;
    }
    for one in &desk.task().outcomes {
        if outcome::state(desk, &one.id) == OutcomeEvaluationState::BlockedByPolicy {
            let words = format!("A policy stands in the way of: {}", one.statement);
            add(Kind::BlockedItem, "OutcomeRecord", &desk.own(&one.id), words, Severity::High)?;
        }
    }
    if let Some(packet) = rely::last(desk)
        && packet.lifecycle_state == Life::ReadyForReview
        && desk.task().policies().reliance_approval() == Approval::Required
    {
        let (id, words) = (&packet.packet_id, "Read the reliance packet before it is issued.".to_string());
        add(Kind::RelianceReviewRequired, "TaskReliancePacket", id, words, Severity::Medium)?;
    }
    Ok(all)
}

/// The items that are open, in order.
#[must_use]
pub fn open(desk: &Desk) -> Vec<Item> {
    still_open(desk, desk.each::<Json>("AttentionLedgerItem"))
}

/// The first item that is open about something.
pub(crate) fn open_about(desk: &Desk, source: &StorageRef) -> Option<Item> {
    let about = desk.linked::<Json>("AttentionLedgerItem", "source_ref", source.as_str());
    still_open(desk, about).into_iter().next()
}

fn still_open(desk: &Desk, rows: impl Iterator<Item = Found<Json>>) -> Vec<Item> {
    let mut seen = BTreeSet::new();
    let first = rows.filter(|found| seen.insert(found.id.clone()));
    let standing = first.filter_map(|found| desk.standing::<Item>("AttentionLedgerItem", &found.id));
    standing.filter(|item| item.lifecycle_state == State::Open).collect()
}

/// Brings the items to what is due: what waits has one, and what waits no longer has none that is open.
///
/// # Errors
/// Something can't be written.
pub fn refresh(desk: &mut Desk) -> Result<(), Error> {
    let (due, open) = (due(desk)?, open(desk));
    let is_same = |due: &Due, item: &Item| due.kind == item.attention_kind && due.source == item.source_ref;
    for item in open.iter().filter(|item| !due.iter().any(|due| is_same(due, item))) {
        let (subject, to) = (reference("AttentionLedgerItem", &item.item_id)?, end(desk, item));
        life::go(desk, &subject, (State::Open.as_str(), to.as_str()), ENGINE, "it waits no more")?;
    }
    for due in due.iter().filter(|due| !open.iter().any(|item| is_same(due, item))) {
        if !is_put_aside(desk, due) {
            raise(desk, due)?;
        }
    }
    Ok(())
}

/// Whether a person has put aside what is due, and it has not moved since.
fn is_put_aside(desk: &Desk, due: &Due) -> bool {
    let same = desk
        .each::<Item>("AttentionLedgerItem")
        .rfind(|found| found.record.attention_kind == due.kind && found.record.source_ref == due.source);
    let Some(subject) = same.and_then(|found| reference("AttentionLedgerItem", &found.id).ok()) else {
        return false;
    };
    let mut moves = desk.each::<LifecycleTransitionReceipt>("LifecycleTransitionReceipt");
    let closed = moves.rfind(|found| found.record.subject_ref == subject);
    let by_person = closed.filter(|found| found.record.actor_ref.as_str().starts_with("user:"));
    let source = Reference::read(due.source.as_str()).map(|read| read.id);
    by_person.is_some_and(|closed| {
        !desk.rows_after(closed.seq).any(|row| {
            let named = ["finding_id", "outcome_id"].iter().filter_map(|name| row.record.get(name)?.as_str());
            row.kind.contains("Transition") && named.into_iter().any(|id| Some(id) == source)
        })
    })
}

/// An item by its id, as it stands.
#[must_use]
pub fn find(desk: &Desk, id: &str) -> Option<Item> {
    desk.standing("AttentionLedgerItem", id)
}

/// Whether what an item is about is still open, where it can only be closed there.
#[must_use]
pub fn is_waiting(desk: &Desk, item: &Item) -> bool {
    let needs_answer = match item.attention_kind {
        Kind::HardCallPending | Kind::ApprovalRequired | Kind::ResearchNeedHuman => true,
        Kind::BlockedItem
        | Kind::ContestedFinding
        | Kind::RelianceReviewRequired
        | Kind::RevisionReviewPending => false,
    };
    let is_due = |due: &Due| due.kind == item.attention_kind && due.source == item.source_ref;
    needs_answer && due(desk).map_or(true, |all| all.iter().any(is_due))
}

/// A person has dealt with an item, or puts it aside.
///
/// # Errors
/// It can't be written.
pub fn close(desk: &mut Desk, item: &str, to: State, by: &StorageRef, note: &str) -> Result<(), Error> {
    let subject = reference("AttentionLedgerItem", item)?;
    life::go(desk, &subject, (State::Open.as_str(), to.as_str()), by.as_str(), note)
}

/// How an item ends: a contract that was edited was not decided on, and its item gives way to that of the new one.
fn end(desk: &Desk, item: &Item) -> State {
    let source =
        Reference::read(item.source_ref.as_str()).filter(|_| item.attention_kind == Kind::ApprovalRequired);
    let status = source.and_then(|read| desk.says(read.kind, read.id, "approval_status"));
    match status.and_then(Approved::find) {
        Some(Approved::Edited) => State::Superseded,
        Some(Approved::Pending | Approved::Approved | Approved::Rejected | Approved::WaivedByPolicy)
        | None => State::Resolved,
    }
}

/// Writes an item for something that is due; gives what it is called.
///
/// # Errors
/// Something can't be written.
pub fn raise(desk: &mut Desk, due: &Due) -> Result<StorageRef, Error> {
    let item = Item {
        item_id: desk.id("attention"),
        task_id: desk.task().id.clone(),
        run_id: Some(desk.run().to_string()),
        matter_id: Some(desk.matter().to_string()),
        attention_kind: due.kind,
        source_ref: due.source.clone(),
        summary: due.summary.clone(),
        priority: due.priority,
        command_ref: Some(COMMAND.to_string()),
        lifecycle_state: State::Open,
        created_at: desk.now(),
        resolved_at: None,
        schema_version: V10,
    };
    desk.open("AttentionLedgerItem", &item)
}
