//! What waits for a person: that each thing that does has its item, and none that does not.
//! Owns: what does, as the records stand. Must not: know what an item must say; `life` does.

use crate::case::bare;
use crate::found::Found;
use crate::report::Check;
use crate::walk::Walk;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_govern::world::Record;
use countersign_record::code::Code;
use countersign_record::json::Json;

const CHECK: Check = Check::Record;
/// What is asked of parts of a run is told, and so is what waits for that.
const ASSISTANCE: &str = "module_assistance_request";

/// Everything that waits at a place.
fn due(walk: &Walk<'_, '_>, place: u64) -> BTreeSet<String> {
    let case = walk.case;
    let mut all = BTreeSet::new();
    let mut add = |type_name: &str, kind: &str, member: &str, states: &[&str]| {
        let waits =
            |one: &Record<'_>| walk.says(kind, one.id(), member).is_some_and(|it| states.contains(&it));
        let waiting = case.until(type_name, place).filter(waits);
        all.extend(waiting.map(|one| format!("{kind}:{}", one.id())));
    };
    add("HardRevisionCall", "hard_revision_call", "state", &["pending", "deferred", "escalated"]);
    add("ResearchNeed", "research_need", "status", &["human_needed"]);
    add("RevisionReviewPacket", "revision_review_packet", "state", &["review_pending"]);
    add("OutcomeRecord", "outcome_record", "state", &["blocked_by_policy"]);
    for event in case.until("EvaluationFindingEvent", place) {
        let id = event.json().text("finding_id").unwrap_or_default();
        if walk.says("evaluation_finding_record", id, "current_state") == Some("contested") {
            all.insert(format!("evaluation_finding_record:{id}"));
        }
    }
    let review = case.last("EvaluationContractReview", place).filter(|_| case.needs_agreement());
    all.extend(
        review
            .map(|one| one.id())
            .filter(|id| is_undecided(walk, id))
            .map(|id| format!("evaluation_contract_review:{id}")),
    );
    let packet = case.last("TaskReliancePacket", place).map(|one| one.id());
    let is_unread = |id: &&str| {
        walk.says("task_reliance_packet", id, "lifecycle_state") == Some("ready_for_review")
            && case.task.policy_word("approval.reliance", "required") == "required"
    };
    all.extend(packet.filter(is_unread).map(|id| format!("task_reliance_packet:{id}")));
    all
}

fn is_undecided(walk: &Walk<'_, '_>, review: &str) -> bool {
    let status = walk.says("evaluation_contract_review", review, "approval_status");
    let state = walk.says("evaluation_contract_review", review, "lifecycle_state");
    matches!(status, Some("pending" | "edited")) && state != Some("superseded")
}

/// The items that are open at a place, each with what it is about.
fn open<'c>(walk: &Walk<'c, '_>, place: u64) -> Vec<(&'c str, String)> {
    let mut all = Vec::new();
    for item in walk.case.until("AttentionLedgerItem", place) {
        let source = item.json().text("source_ref").unwrap_or_default();
        let state = walk.says("attention_ledger_item", item.id(), "lifecycle_state");
        if state == Some("open") && !all.iter().any(|(id, _)| *id == item.id()) {
            all.push((item.id(), source.to_string()));
        }
    }
    all
}

/// Whether a person put something aside that waited.
fn is_put_aside(walk: &Walk<'_, '_>, source: &str, place: u64) -> bool {
    let items =
        walk.case.until("AttentionLedgerItem", place).filter(|one| one.json().is("source_ref", source));
    let last = items.last().map(|one| format!("attention_ledger_item:{}", one.id()));
    let moves = walk.case.until("LifecycleTransitionReceipt", place);
    let closed = moves.filter(|one| one.json().text("subject_ref") == last.as_deref()).last();
    let by = closed.and_then(|one| one.json().text("actor_ref"));
    by.is_some_and(|by| by.starts_with("user:"))
}

/// Once a command is carried out and once everything is shown, what waits has an item, and nothing else has one that is open.
pub(crate) fn complete<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let place = record.seq();
    let (due, open) = (due(walk, place), open(walk, place));
    for source in &due {
        let has_item = open.iter().any(|(_, about)| about == source) || is_put_aside(walk, source, place);
        let message = format!("{source} waits for a person, and that is not said");
        is_so(record, has_item, message, found);
    }
    for (item, about) in open.iter().filter(|(_, about)| !about.starts_with(ASSISTANCE)) {
        let message = format!("{item} is open, and {about} does not wait any more");
        is_so(record, due.contains(about), message, found);
    }
}

fn is_so(record: Record<'_>, is_so: bool, message: String, found: &mut Found) {
    match is_so {
        true => found.right(Check::Completeness),
        false => found.about(Code::VerifyIncomplete, Check::Completeness, record, "", message),
    }
}

/// An item is closed by the engine only where what it is about waits no more.
pub(crate) fn closed<'c>(walk: &Walk<'c, '_>, item: Record<'c>, record: Record<'c>, found: &mut Found) {
    let source = item.json().text("source_ref").unwrap_or_default();
    let is_over = !due(walk, record.seq()).contains(source);
    found.holds(CHECK, record, "subject_ref", is_over, "what it is about still waits");
}

/// A new item is about something that has none yet.
pub(crate) fn is_new<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let source = record.json().text("source_ref").map(bare).map(ToString::to_string);
    let is_first = !open(walk, record.seq()).iter().any(|(_, about)| Some(bare(about)) == source.as_deref());
    found.holds(CHECK, record, "source_ref", is_first, "an item about it is open already");
    let at = walk.case.row(record).map(|row| Json::from(row.at.as_str()));
    found.must(CHECK, record, "created_at", at);
}
