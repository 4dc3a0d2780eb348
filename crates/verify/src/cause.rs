//! Who was at work where a record was written: a stage of the run, a command, or an answer; and what only these bring about.
//! Owns: finding that, the table of what only people bring about, what is written once. Must not: say what a record must be.

use crate::case::Case;
use crate::command;
use crate::found::Found;
use crate::report::Check;
use crate::walk::Walk;
use countersign_govern::kind;
use countersign_govern::member::Member;
use countersign_govern::world::Record;
use countersign_record::code::Code;
use countersign_record::run_kind;

const CHECK: Check = Check::Record;
/// The command that stands for an answer.
pub(crate) const ANSWER: &str = "hard_call.resolve";

/// What only people bring about, and by which commands: once with each.
const BROUGHT: [(&str, &[&str]); 16] = [
    ("ContestationRequest", &["finding.contest", "finding.reject", "run_guidance.contest"]),
    ("DigestSelection", &["run_board.digest"]),
    ("HardCallResolution", &[ANSWER]),
    ("HardCallResolutionReceipt", &[ANSWER, ACCEPT, REJECT, CHANGES, RESTORE, FORK]),
    ("HumanFeedbackEvent", &[ANSWER, "run_board.comment"]),
    ("LibraryPromotionCandidate", &["library.promote_source"]),
    ("LibraryPromotionGate", &["library.promote_source"]),
    ("LibraryPromotionReceipt", &["library.promote_source"]),
    ("MetricObservationInvalidationEvent", &["metric.withdraw_observation"]),
    ("RunBoardDigest", &["run_board.digest"]),
    ("SanitizationNode", &["source.clear"]),
    ("SourceTierTransitionReceipt", &["source.move_tier"]),
    ("TaskCancelProtocol", &["task.cancel"]),
    ("TaskCancelReceipt", &["task.cancel"]),
    ("TaskRunFork", &[FORK, "task_replay.create_fork"]),
    ("UnanchoredAcknowledgment", &[ANSWER]),
];
const ACCEPT: &str = "revision_review.accept_candidate";
const REJECT: &str = "revision_review.reject_candidate";
const CHANGES: &str = "revision_review.request_changes";
const RESTORE: &str = "revision_review.restore_known_good";
const FORK: &str = "revision_review.fork_candidate";

/// What is written again under the name that it has, because it has moved or is seen again. Everything else that has a name is written
/// once.
const AGAIN: [&str; 12] = [
    "AttentionLedgerItem",
    "ClaimSupportDerivationPolicy",
    "CriterionIdentityFields",
    "DerivedReadModelRecord",
    "FeedbackFindingView",
    LOCK,
    "ResearchNeed",
    "RevalidationCascadeRun",
    "RevisionReviewPacket",
    "SideEffectLedgerEntry",
    "SourceRecord",
    "TaskHealthCard",
];
const LOCK: &str = "InPlaceMutationLock";
const PENDING: &str = "HardCallPendingEvent";
/// What is written anew when a person changes what is asked, or answers for it, whether or not it is another one then.
const ANEW: [&str; 2] = ["Criterion", "OutcomeComplianceScoringConfig"];

/// How many of the run's own rows stand before a record.
fn rows_before(case: &Case<'_>, record: Record<'_>) -> usize {
    let row = case.row(record).map_or(0, |row| row.seq);
    case.events.partition_point(|event| event.seq < row)
}

/// Whether a stage of the run was at work where a record was written, or the run was being begun.
pub(crate) fn is_at_work(case: &Case<'_>, record: Record<'_>) -> bool {
    let before = case.events.get(..rows_before(case, record)).unwrap_or_default();
    let last = before.iter().rev().find(|event| {
        matches!(
            event.kind.as_str(),
            run_kind::BEGAN | run_kind::CALLED | run_kind::RETURNED | run_kind::ENDED
        )
    });
    last.is_some_and(|event| matches!(event.kind.as_str(), run_kind::BEGAN | run_kind::CALLED))
}

/// The answer that a record follows from, if it follows from one: that of the command that is being carried out, or one that the run
/// goes on by right behind.
pub(crate) fn answer<'c>(walk: &Walk<'c, '_>, record: Record<'_>) -> Option<Record<'c>> {
    let case = walk.case;
    let answer = case.last("HardCallResolutionReceipt", record.seq() + 1)?;
    if let Some(asked) = command::open(case, record.seq()) {
        return (asked.seq() < answer.seq()).then_some(answer);
    }
    let behind = rows_before(case, record);
    let goes_on = case.events.get(behind).is_some_and(|event| {
        event.kind.as_str() == run_kind::ANSWERED
            && event.payload.text("id") == answer.json().text("hard_call_id")
    });
    (goes_on && rows_before(case, answer) == behind && !is_at_work(case, answer)).then_some(answer)
}

/// Whether a record says that nobody answered in time, or is what was shown of that and is over with it: whoever looks next puts that
/// down.
fn is_lapse(case: &Case<'_>, record: Record<'_>) -> bool {
    let is_one = |one: &Record<'_>| one.kind() == PENDING && one.json().is("cause", "timed_out");
    let with = || case.until(PENDING, record.seq()).filter(is_one).last();
    let is_with = |one: Record<'_>| {
        case.row(one).map(|row| &row.at) == case.row(record).map(|row| &row.at)
            && rows_before(case, one) == rows_before(case, record)
    };
    is_one(&record) || (record.kind() == "DerivedReadModelRecord" && with().is_some_and(is_with))
}

/// Somebody was at work where a record was written; and what only people bring about was brought about, once.
pub(crate) fn check<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let case = walk.case;
    let asked = command::open(case, record.seq());
    let is_asked = match record.kind() {
        "CommandInvocation" | "CommandReceipt" => true,
        "PolicyEvaluation" => asked.is_some() || command::of_check(case, record).is_some(),
        _other => asked.is_some(),
    };
    let is_told = is_asked || is_at_work(case, record) || is_lapse(case, record);
    if !is_told && answer(walk, record).is_none() {
        let message = "nobody was at work there, and no command was being carried out";
        return walk.underivable(CHECK, record, message, found);
    }
    found.right(CHECK);
    brought(walk, record, found);
    once(walk, record, found);
}

/// What only people bring about has its command or its answer, and is the only one of that.
fn brought<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let Some((_, commands)) = BROUGHT.iter().find(|(kind, _)| *kind == record.kind()) else { return };
    let answer = answer(walk, record).filter(|_| commands.contains(&ANSWER));
    let asked = command::open(walk.case, record.seq());
    let asked = asked.filter(|one| one.json().is_one_of("command_id", commands));
    let Some(cause) = asked.or(answer) else {
        return walk.underivable(
            CHECK,
            record,
            "nobody was asked that, and nobody gave the command for it",
            found,
        );
    };
    let mut before = walk.case.until(record.kind(), record.seq());
    let is_first = !before.any(|one| one.seq() > cause.seq());
    found.holds(CHECK, record, "", is_first, "it was brought about before, by the same command or answer");
}

/// What has a name is written once, and again only where it has moved.
fn once<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let is_named = walk.case.row(record).is_some_and(|row| row.payload.get("id").is_some());
    if !is_named && kind::find(record.kind()).is_none_or(|one| one.id.is_none()) {
        return;
    }
    let Some(before) = walk.case.before(record.kind(), record.id(), record.seq()) else {
        return found.right(CHECK);
    };
    let cause = command::open(walk.case, record.seq()).or_else(|| answer(walk, record));
    let is_anew = ANEW.contains(&record.kind()) && cause.is_some_and(|one| before.seq() < one.seq());
    let mut tried = walk.case.until("RevisionOperationReceipt", record.seq());
    // A step that is tried again locks what it locked before.
    let is_tried = record.kind() == LOCK && tried.any(|one| one.seq() > before.seq());
    let is_other = AGAIN.contains(&record.kind()) && (before.json() != record.json() || is_tried);
    if !is_other && !is_anew {
        found.about(Code::VerifyDerivation, CHECK, record, "", "one of this name was written before");
    }
}
