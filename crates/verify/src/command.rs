//! Commands: what was asked, by whom, and what was answered.
//! Owns: what these records must be, given what was asked. Must not: carry one out.

use crate::asked;
use crate::case::{Bytes, Case};
use crate::cost;
use crate::found::Found;
use crate::report::Check;
use crate::walk::Walk;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_govern::reference::snake;
use countersign_govern::table::commands::{self, Write};
use countersign_govern::world::Record;
use countersign_record::canonical;
use countersign_record::code::Code;
use countersign_record::json::{self, Json};

const CHECK: Check = Check::Record;

/// What was asked is what the bytes of it say, and its checks stand before it.
pub(crate) fn invocation<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, json) = (walk.case, record.json());
    match case.content(record) {
        Bytes::Here(bytes) => {
            let request = json::parse(bytes).ok();
            let hash = request.as_ref().and_then(|request| canonical::hash(request).ok());
            found.must(CHECK, record, "request_hash", hash.map(|hash| String::from(hash).into()));
            let command = json.text("command_id").unwrap_or_default();
            asked::form(record, command, &request.unwrap_or(Json::Null), found);
        }
        Bytes::Withheld => found.withheld(CHECK),
        Bytes::Missing => walk.underivable(CHECK, record, "what was asked is not in the packet", found),
    }
    let Some(entry) = json.text("command_id").and_then(commands::find) else {
        return found.about(Code::VerifyDerivation, CHECK, record, "command_id", "there is no such command");
    };
    let expected: Vec<&str> = entry.policy_checks.to_vec();
    let stated: Vec<&str> =
        checks(case, record).iter().filter_map(|one| one.json().text("policy_id")).collect();
    found.holds(CHECK, record, "command_id", expected == stated, "other checks belong to this command");
    let actor = json.text("actor_ref").and_then(|text| text.split_once(':')).map(|(kind, _)| kind);
    let kind = match actor {
        Some("user") => Some("user"),
        Some("engine") => Some("engine"),
        Some("agent") => Some("task_agent"),
        Some(_) | None => None,
    };
    found.must(CHECK, record, "actor_kind", kind.map(Json::from));
    answered(walk, record, found);
}

/// Where a command answers a question, the person, the question and the choice are those of the run.
fn answered<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let mut answers = walk.case.world.of("HardCallResolutionReceipt");
    let Some(answer) = answers.find(|one| one.seq() > record.seq()) else { return };
    let receipt = receipt_of(walk.case, record);
    if receipt.is_some_and(|receipt| answer.seq() < receipt.seq()) {
        found.must(CHECK, record, "actor_ref", answer.json().at("resolved_by_user_ref").cloned());
    }
}

/// The command that is being carried out at a place.
pub(crate) fn open<'c>(case: &'c Case<'_>, place: u64) -> Option<Record<'c>> {
    let last = case.last("CommandInvocation", place)?;
    let mut answered = case.until("CommandReceipt", place);
    (!answered.any(|one| one.json().is("invocation_id", last.id()))).then_some(last)
}

/// What was asked with a command; nothing where that is not here.
pub(crate) fn request(case: &Case<'_>, invocation: Record<'_>) -> Option<Json> {
    match case.content(invocation) {
        Bytes::Here(bytes) => json::parse(bytes).ok(),
        Bytes::Withheld | Bytes::Missing => None,
    }
}

/// Whether a row follows from any command, whatever became of it: what fell, what waits, what is shown of that.
fn is_aftermath(record: Record<'_>) -> bool {
    match record.kind() {
        "AttentionLedgerItem"
        | "DerivedReadModelRecord"
        | "ReadModelInputManifest"
        | "RelianceInvalidationEvent" => true,
        "LifecycleTransitionReceipt" => record.json().is("actor_ref", "engine:work"),
        _other => false,
    }
}

/// Each command that was given has its receipt; only one that has something leave may have none, where nobody saw the end of that.
pub(crate) fn complete(case: &Case<'_>, found: &mut Found) {
    for asked in case.world.of("CommandInvocation") {
        let mut left = case.world.of("WorkspaceExternalizationReceipt");
        let mut next = case.world.of("CommandInvocation").filter(|one| one.seq() > asked.seq());
        let end = next.next().map_or(u64::MAX, Record::seq);
        let is_going =
            asked.json().is("command_id", EXPORT) && !left.any(|one| (asked.seq()..end).contains(&one.seq()));
        let is_there = is_going || receipt_of(case, asked).is_some();
        let check = Check::Completeness;
        match is_there {
            true => found.right(check),
            false => found.about(Code::VerifyIncomplete, check, asked, "", "nobody said what became of it"),
        }
    }
}

/// The command that has something leave.
const EXPORT: &str = "evidence.export_package";

/// The checks that stand right before a command.
fn checks<'c>(case: &'c Case<'_>, invocation: Record<'_>) -> Vec<Record<'c>> {
    let mut all = Vec::new();
    let mut place = invocation.seq();
    let before: Vec<Record<'c>> = case.until("PolicyEvaluation", invocation.seq()).collect();
    for one in before.into_iter().rev() {
        if one.seq() + 1 != place || one.id() == case.own("leave") {
            break;
        }
        place = one.seq();
        all.push(one);
    }
    all.reverse();
    all
}

/// The receipt of a command.
fn receipt_of<'c>(case: &'c Case<'_>, invocation: Record<'_>) -> Option<Record<'c>> {
    let mut receipts = case.world.of("CommandReceipt");
    receipts.find(|one| one.json().is("invocation_id", invocation.id()))
}

/// The command that a check is for: the next one.
pub(crate) fn of_check<'c>(case: &'c Case<'_>, check: Record<'_>) -> Option<Record<'c>> {
    let next = case.world.of("CommandInvocation").find(|one| one.seq() > check.seq())?;
    checks(case, next).iter().any(|one| one.seq() == check.seq()).then_some(next)
}

/// A check of a command says what its receipt says.
pub(crate) fn checked<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let case = walk.case;
    if record.id() == case.own("leave") {
        return;
    }
    if cost::is_warning(case, record) {
        return cost::warned(walk, record, found);
    }
    if record.id() == case.own(LIBRARY) {
        return library(walk, record, found);
    }
    let Some(invocation) = of_check(case, record) else {
        return walk.underivable(CHECK, record, "no command was checked there", found);
    };
    let names = invocation.json().text("command_id").and_then(commands::find).map(|one| one.policy_checks);
    let at = checks(case, invocation).iter().position(|one| one.seq() == record.seq());
    let name = names.zip(at).and_then(|(names, at)| names.get(at));
    found.must(CHECK, record, "policy_id", name.map(|name| Json::from(*name)));
    found.must_say(CHECK, record, "policy_version", "1.0");
    found.must(CHECK, record, "user_alterable", Some(false.into()));
    let is_let = receipt_of(case, invocation).is_some_and(|one| one.json().is("status", "accepted"));
    found.must(CHECK, record, "superseded_by", None);
    if is_let {
        found.must_say(CHECK, record, "decision", "allow");
    }
}

/// What the leave to let sources into the library is called.
const LIBRARY: &str = "library-leave";

/// Sources enter the library only if a person lets them; that is said with the first that shall.
fn library<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let asked = open(walk.case, record.seq());
    if asked.is_none_or(|one| !one.json().is("command_id", "library.promote_source")) {
        return walk.underivable(CHECK, record, "nobody gave the command for that", found);
    }
    found.must_say(CHECK, record, "policy_id", "library");
    found.must_say(CHECK, record, "policy_version", "1.0");
    found.must_say(CHECK, record, "decision", "require_human");
    found.must(CHECK, record, "user_alterable", Some(false.into()));
    found.must(CHECK, record, "superseded_by", None);
}

/// A command that was given, and of which nobody had said what became of it, is answered.
pub(crate) fn receipt<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let case = walk.case;
    let answered: Vec<&str> = case
        .until("CommandReceipt", record.seq())
        .filter_map(|one| one.json().text("invocation_id"))
        .collect();
    let open = case.until("CommandInvocation", record.seq()).filter(|one| !answered.contains(&one.id()));
    let Some(open) = open.last() else {
        return walk.underivable(CHECK, record, "no command waits for an answer", found);
    };
    found.must_say(CHECK, record, "invocation_id", open.id());
    let is_denied = checks(case, open).iter().any(|one| !one.json().is("decision", "allow"));
    let mut between = case.world.all().filter(|one| (open.seq() + 1..record.seq()).contains(&one.seq()));
    let is_done = between.any(|one| !is_aftermath(one));
    match (is_denied, is_done) {
        (true, _) => found.must_say(CHECK, record, "status", "policy_denied"),
        (false, true) => found.must_say(CHECK, record, "status", "accepted"),
        // Where nothing was written there was nothing to be done, or it could not be.
        (false, false) => {}
    }
    if record.json().is("status", "accepted") {
        left(walk, open, record, found);
    }
}

/// Commands that may find nothing to do of what they write first.
const LOOSE: [&str; 2] = ["reliance.renew_packet", "source.recheck"];

/// Commands that write all that they may.
const WHOLE: [&str; 9] = [
    "library.promote_source",
    "metric.withdraw_observation",
    "run_board.comment",
    "run_board.digest",
    "run_guidance.contest",
    "run_guidance.settle_contest",
    "source.clear",
    "source.move_tier",
    "task.cancel",
];

/// A command that was accepted has left what it writes: the first of its rows, or any where it may find nothing to do of that.
fn left<'c>(walk: &Walk<'c, '_>, asked: Record<'c>, record: Record<'c>, found: &mut Found) {
    let Some(entry) = asked.json().text("command_id").and_then(commands::find) else { return };
    let between: Vec<Record<'c>> =
        walk.case.world.all().filter(|one| (asked.seq() + 1..record.seq()).contains(&one.seq())).collect();
    let is_left = |write: &Write| between.iter().any(|one| is_written(*one, *write));
    let is_done = match (LOOSE.contains(&entry.id), WHOLE.contains(&entry.id)) {
        (true, _) => entry.writes.iter().any(is_left),
        (false, true) => entry.writes.iter().all(is_left),
        (false, false) => entry.writes.first().is_none_or(is_left),
    };
    found.holds(CHECK, record, "status", is_done, "what the command writes is not there");
    asked::left(walk, asked, &between, found);
}

fn is_written(record: Record<'_>, write: Write) -> bool {
    let subject = record.json().text("subject_ref").and_then(|text| text.split_once(':'));
    match write {
        Write::Record(kind) => record.kind() == kind,
        Write::Transition(kind) => {
            record.kind() == write.kind() && subject.is_some_and(|(named, _)| named == snake(kind))
        }
    }
}
