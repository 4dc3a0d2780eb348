//! How a revision plan is carried out: which transitions there may be, and which receipt each takes.
//! Owns: what is wrong with a transition. Must not: know the table; it stands with the machines.

use super::family::PLAN;
use super::life::{Board, Life, Opens, record_of};
use super::row::{Row, number};
use super::standing::Standing;
use crate::machine::REVISION;
use crate::member::Member;
use crate::types::basic::{Instant, StorageRef, V10};
use crate::types::revision::RevisionExecutionLifecycleState;
use crate::types::wire::record;
use alloc::format;
use alloc::string::{String, ToString};
use countersign_record::json::{Json, Object};

record! {
    /// How a revision plan stands.
    RevisionPlanCurrent: projection {
        plan_id: String,
        canonical_event_ref: StorageRef,
        state: RevisionExecutionLifecycleState,
        last_receipt_ref: Option<StorageRef>,
        event_seq: u64,
        updated_at: Instant,
        schema_version: V10,
    }
}

pub(super) const LIFE: Life = Life {
    kind: PLAN.kind,
    snake: PLAN.snake,
    projects: "RevisionPlanCurrent",
    families: &[&PLAN],
    hears: &RECEIPTS,
    opens: Opens::Row,
    live: &["updated_at", "last_receipt_ref", "canonical_event_ref"],
    free: &[],
    grows: &[],
    apply,
    record,
};

/// The receipts that move plans.
const RECEIPTS: [&str; 7] = [
    "RevisionOperationReceipt",
    "HardCallResolutionReceipt",
    "FeedbackConsumptionReceipt",
    "SourceWorkspaceOperationReceipt",
    "TaskCancelReceipt",
    "TaskSkipReceipt",
    "RevalidationCascadeReceipt",
];
/// The member of each that says what became of it.
const SAYS: [&str; 7] = [
    "operation_kind",
    "operation_kind",
    "consumption",
    "status",
    "candidate_disposition",
    "reason",
    "status",
];

/// What is wrong with a transition: one thing at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// There is no such way, or not from here.
    Illegal,
    /// Nothing recorded stands behind it.
    NoReceipt,
    /// What stands behind it may not end a plan so.
    WrongEnd,
}

/// A transition of a plan, as it is told.
#[derive(Clone, Copy, Debug)]
pub struct Told<'r> {
    /// Where the plan is.
    pub state: &'r str,
    /// Where it is said to come from.
    pub from: &'r str,
    /// Where it goes.
    pub to: &'r str,
    /// The type of the receipt that it is said to rest on.
    pub by: Option<&'r str>,
    /// The receipt that was there before: its type, and what it says.
    pub receipt: Option<(&'r str, &'r Json)>,
}

/// What is wrong with a transition: what, in which member, why.
#[must_use]
pub fn flaw(told: Told<'_>) -> Option<(Flaw, &'static str, String)> {
    let Told { state, from, to, by, receipt } = told;
    if from != state {
        let message = format!("the plan is in {state}, not in {from}");
        return Some((Flaw::Illegal, "from_state", message));
    }
    if !REVISION.allows(from, to) {
        return Some((Flaw::Illegal, "to_state", format!("there is no way from {from} to {to}")));
    }
    let Some((kind, receipt)) = receipt.filter(|(kind, _)| by == Some(kind)) else {
        let message = format!("no earlier {} stands behind {from} -> {to}", by.unwrap_or("receipt"));
        return Some((Flaw::NoReceipt, "receipt_ref", message));
    };
    let is_listed = REVISION.ways(from, to).any(|way| way.by == kind);
    if !REVISION.is_terminal(to) {
        let message = format!("{from} -> {to} is not made by a {kind}");
        return (!is_listed).then_some((Flaw::Illegal, "triggered_by_receipt_kind", message));
    }
    let message = format!("this {kind} may not end a plan as {to}");
    (!is_listed || !may_end(kind, receipt, from, to)).then_some((Flaw::WrongEnd, "receipt_ref", message))
}

/// Whether what a receipt says may end a plan so. What it does not say is not held against it.
fn may_end(kind: &str, receipt: &Json, from: &str, to: &str) -> bool {
    let (member, words): (&str, &[&str]) = match (kind, to) {
        ("RevalidationCascadeReceipt", "terminal_satisfied") => ("status", &["quiescent"]),
        ("RevalidationCascadeReceipt", "terminal_blocked") => ("status", &["cycle_detected"]),
        ("RevalidationCascadeReceipt", "terminal_failed") => {
            ("status", &["cycle_detected", "max_depth_exceeded", "aborted"])
        }
        // A revalidation that found a regression is a failure where nothing is left to try.
        ("RevisionOperationReceipt", "terminal_failed") if from == "regression_detected" => {
            ("operation_kind", &["plan_rejected", "step_failed", "revalidation_done"])
        }
        ("RevisionOperationReceipt", "terminal_failed") => {
            ("operation_kind", &["plan_rejected", "step_failed"])
        }
        ("SourceWorkspaceOperationReceipt", "terminal_blocked") => ("status", &["rejected_by_policy"]),
        _other => return true,
    };
    receipt.at(member).is_none() || receipt.is_one_of(member, words)
}

fn apply(row: &Row<'_>, board: &mut Board) {
    if let Some((kind, member)) = RECEIPTS.into_iter().zip(SAYS).find(|(kind, _)| *kind == row.kind) {
        let mut kept = Object::from([("kind", Json::from(kind))]);
        if let Some(value) = row.json.at(member) {
            kept.insert(member, value.clone());
        }
        board.remember(key(&row.reference()), kept.into());
    } else if row.kind == PLAN.kind {
        let opened = board.find_mut(PLAN.snake, row.id).filter(|plan| plan.opened == row.seq);
        if let Some(standing) = opened {
            standing.put("canonical_event_ref", Some(row.reference().into()));
            standing.event = Some(row.reference());
            standing.touch(row);
        }
    } else if let Some((id, step)) = PLAN.read(row.kind, row.json) {
        let Some(state) = board.find(PLAN.snake, id).and_then(|plan| plan.word(PLAN.member)) else { return };
        let reference = row.json.reference("receipt_ref");
        let named = reference.map(|to| key(&format!("{}:{}", to.kind, to.id)));
        let receipt = named.and_then(|named| board.recall(&named));
        let receipt = receipt.and_then(|receipt| Some((receipt.text("kind")?, receipt)));
        let by = row.json.text("triggered_by_receipt_kind");
        let told = Told { state, from: step.from.unwrap_or(state), to: step.to, by, receipt };
        let is_right = flaw(told).is_none();
        let Some(plan) = board.find_mut(PLAN.snake, id) else { return };
        plan.hear(row);
        if is_right && plan.step(&PLAN, &step, row) {
            plan.put("last_receipt_ref", reference.map(|to| to.to_string().into()));
            plan.touch(row);
        }
    }
}

/// How a receipt is kept. Others keep the same row for themselves.
fn key(reference: &str) -> String {
    format!("receipt:{reference}")
}

fn record(standing: &Standing, _: &Board) -> Option<Json> {
    let members = ["plan_id", "canonical_event_ref", "state", "last_receipt_ref", "updated_at"];
    let said = |member: &'static str| standing.says(member).map(|value| (member, value.clone()));
    let mut object: Object = members.into_iter().filter_map(said).collect();
    object.insert("event_seq", number(standing.heard));
    object.insert("schema_version", "1.0");
    record_of::<RevisionPlanCurrent>(object)
}
