//! How a question to the sources stands, and who holds it.
//! Owns: which lease is live, which answers count. Must not: answer.

use super::family::{By, Move, NEED};
use super::life::{Board, Life, Opens, typed};
use super::row::Row;
use super::standing::Standing;
use crate::member::Member;
use crate::types::research::ResearchNeed;
use alloc::format;
use alloc::string::String;
use countersign_record::json::{Json, Object};
use countersign_record::time::Instant;

pub(super) const LIFE: Life = Life {
    kind: NEED.kind,
    snake: NEED.snake,
    projects: NEED.kind,
    families: &[&NEED],
    hears: &["SourceWorkspaceOperation", "SourceWorkspaceOperationReceipt"],
    opens: Opens::Row,
    live: &["answer_ref", "human_needed_reason", "unresolved_reason"],
    free: &[],
    grows: &[],
    apply,
    record: typed::<ResearchNeed>,
};

const LEASE: &str = "lease";

/// Who holds a question, from when until when, without the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease<'b> {
    /// What the holder answers under.
    pub token: &'b str,
    /// From when.
    pub start: Instant,
    /// Until when.
    pub end: Instant,
}

impl Board {
    /// The lease that a question is held under at a time.
    #[must_use]
    pub fn lease(&self, need: &str, at: Instant) -> Option<Lease<'_>> {
        let lease = self.find(NEED.snake, need).and_then(lease)?;
        (lease.start <= at && at < lease.end).then_some(lease)
    }
}

fn lease(standing: &Standing) -> Option<Lease<'_>> {
    read(standing.kept.get(LEASE)?)
}

fn read(json: &Json) -> Option<Lease<'_>> {
    let (start, end) = (json.time("acquired_at")?, json.time("expires_at")?);
    Some(Lease { token: json.text("lease_token")?, start, end })
}

fn apply(row: &Row<'_>, board: &mut Board) {
    match row.kind {
        "ResearchNeedLease" => {
            let need = row.json.id_at("need_id");
            if let Some(standing) = need.and_then(|id| board.find_mut(NEED.snake, id)) {
                leased(row, standing);
            }
        }
        "SourceWorkspaceOperation" => {
            if let Some(kept) = asked(row) {
                board.remember(key(row.id), kept.into());
            }
        }
        "SourceWorkspaceOperationReceipt" => answered(row, board),
        _other => {
            if let Some((id, step)) = NEED.read(row.kind, row.json)
                && let Some(standing) = board.find_mut(NEED.snake, id)
            {
                moved(row, standing, &step);
            }
        }
    }
}

/// Whether a question in a state may be leased so: it is open, or its lease is over and left it to others; its holder may prolong it.
pub(crate) fn is_free(state: Option<&str>, held: Option<&Json>, new: &Json) -> bool {
    let Some(new) = read(new).filter(|new| new.start < new.end) else { return false };
    match (state, held.and_then(read)) {
        (Some("open"), _) => true,
        (Some("leased"), Some(old)) if new.start < old.end => new.token == old.token && old.end <= new.end,
        (Some("leased"), Some(_)) => held.is_some_and(|old| old.is("on_expiry", "release_for_reclaim")),
        (Some(_) | None, _) => false,
    }
}

fn leased(row: &Row<'_>, standing: &mut Standing) {
    if is_free(standing.word(NEED.member), standing.kept.get(LEASE), row.json) {
        standing.put(NEED.member, Some("leased".into()));
        standing.kept.insert(String::from(LEASE), row.json.clone());
        standing.touch(row);
    }
}

/// The question that an operation answers, and the member that names it.
pub(crate) fn need_answered(operation: &Json) -> Option<(&'static str, &str)> {
    let is_answer = operation.is("operation_kind", "answer_research_need");
    let need = |field: &'static str| {
        let to = operation.reference(field).filter(|to| is_answer && to.kind == NEED.snake)?;
        Some((field, to.id))
    };
    ["precondition.target_record_ref", "payload_ref"].into_iter().find_map(need)
}

/// What is kept of an answer until its receipt comes: which question, under which lease, by whom.
pub(crate) fn asked(row: &Row<'_>) -> Option<Object> {
    let json = row.json;
    let (named, need) = need_answered(json)?;
    let mut kept = Object::new();
    kept.insert("need", need);
    let answer = json.text("payload_ref").filter(|_| named != "payload_ref");
    kept.insert("answer", answer.map_or_else(|| row.reference(), String::from));
    if let Some(token) = json.reference("precondition.lock_lease_ref") {
        kept.insert("token", token.id);
    }
    if let Some(at) = row.time() {
        kept.insert("at", at);
    }
    let is_person = json.reference("actor_ref").is_some_and(|actor| actor.kind == "user");
    kept.insert("is_person", is_person);
    Some(kept)
}

/// How an answer is kept. The workspace keeps the operation under its own reference.
fn key(operation: &str) -> String {
    format!("answer:{operation}")
}

/// Whether an answer to a question in a state counts: it came under the live lease, or from the person who was asked.
pub(crate) fn is_answer(state: Option<&str>, held: Option<&Json>, answer: &Json) -> bool {
    let is_held = || {
        let lease = held.and_then(read).zip(answer.time("at"));
        lease
            .is_some_and(|(lease, at)| answer.is("token", lease.token) && lease.start <= at && at < lease.end)
    };
    match state {
        Some("leased") => is_held(),
        Some("human_needed") => answer.flag("is_person") == Some(true),
        Some(_) | None => false,
    }
}

/// An answer that was applied.
fn answered(row: &Row<'_>, board: &mut Board) {
    let Some(answer) = row.json.id_at("operation_id").and_then(|id| board.take(&key(id))) else { return };
    let standing = answer.text("need").and_then(|id| board.find_mut(NEED.snake, id));
    let Some(standing) = standing.filter(|_| row.json.is("status", "applied")) else { return };
    let may = is_answer(standing.word(NEED.member), standing.kept.get(LEASE), &answer);
    if may && standing.step(&NEED, &Move { from: None, to: "answered", by: By::Pair }, row) {
        standing.kept.remove(LEASE);
        standing.put("answer_ref", answer.text("answer").map(Json::from));
        standing.touch(row);
        standing.hear(row);
    }
}

/// All other moves are told by receipts. That there is an answer may be told so as well; what it is, the workspace has to have.
fn moved(row: &Row<'_>, standing: &mut Standing, step: &Move<'_>) {
    if step.to == "answered" || !standing.step(&NEED, step, row) {
        return;
    }
    standing.kept.remove(LEASE);
    let reason = |state: &str| row.json.text("reason").filter(|_| step.to == state).map(Json::from);
    standing.put("human_needed_reason", reason("human_needed"));
    standing.put("unresolved_reason", reason("unresolved"));
    standing.touch(row);
}
