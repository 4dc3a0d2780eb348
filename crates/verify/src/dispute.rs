//! What people say in a command: who they are and why are theirs, as the command has it.
//! Owns: disputes of findings and of guidance, how people and tools move a finding, and what other commands write down of what was
//! asked. Must not: judge whether somebody is right.

use crate::command;
use crate::found::Found;
use crate::report::Check;
use crate::walk::Walk;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_govern::world::Record;
use countersign_record::code::Code;
use countersign_record::json::Json;

const ENGINE: &str = "engine:work";
/// Why a finding gives way to another source.
const CHANGED: &str = "source_changed";

/// The command that is being carried out, and its name.
fn asked<'c>(walk: &Walk<'c, '_>, record: Record<'_>) -> Option<(Record<'c>, &'c str)> {
    let asked = command::open(walk.case, record.seq())?;
    Some((asked, asked.json().text("command_id")?))
}

fn unasked(check: Check, record: Record<'_>, path: &str, found: &mut Found) {
    found.about(Code::VerifyDerivation, check, record, path, "nobody gave the command for that");
}

/// What is disputed is what the command is about, by who gave it and for their reasons.
pub(crate) fn contested<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let check = Check::Record;
    let Some((asked, command)) = asked(walk, record) else {
        return unasked(check, record, "subject_ref", found);
    };
    found.must(check, record, "user_ref", asked.json().at("actor_ref").cloned());
    let Some(request) = command::request(walk.case, asked) else { return found.withheld(check) };
    let subject = match command {
        "finding.contest" | "finding.reject" => {
            let id = request.text("finding_id").unwrap_or_default();
            let events = walk.case.until("EvaluationFindingEvent", record.seq());
            let event = events.filter(|one| one.json().is("finding_id", id)).last();
            event.map(|one| format!("evaluation_finding_event:{}", one.id()))
        }
        "run_guidance.contest" => {
            let id = request.text("guidance_id").unwrap_or_default();
            let events = walk.case.until("RunGuidanceCreationEvent", record.seq());
            let event = events.filter(|one| one.json().is("guidance_id", id)).last();
            event.map(|one| format!("run_guidance_creation_event:{}", one.id()))
        }
        _other => return unasked(check, record, "subject_ref", found),
    };
    found.must(check, record, "subject_ref", subject.map(Json::from));
    found.must(check, record, "grounds", request.at("grounds").cloned());
    let evidence = request.at("evidence_refs").cloned().filter(|_| command == "finding.contest");
    found.must(check, record, "evidence_refs", Some(evidence.unwrap_or_else(|| Json::Array(Vec::new()))));
}

/// Where a finding goes by a command: to which states, why, and on what.
struct Way {
    to: &'static [&'static str],
    reason: &'static str,
    evidence: Option<Json>,
}

/// A finding that people or tools move is moved by who gave the command, to where that leads and for what they said.
pub(crate) fn moved<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let check = Check::Findings;
    let Some((asked, command)) = asked(walk, record) else {
        return unasked(check, record, "to_state", found);
    };
    if command == "source.recheck" {
        return given_way(walk, asked, record, found);
    }
    let Some(request) = command::request(walk.case, asked) else { return found.withheld(check) };
    let said =
        walk.case.last("ContestationRequest", record.seq()).filter(|one| one.seq() + 1 == record.seq());
    let said = said.map(|one| Json::Array(Vec::from([format!("contestation_request:{}", one.id()).into()])));
    let shown = request.at("evidence_refs").cloned().unwrap_or_else(|| Json::Array(Vec::new()));
    let is_shown = shown.as_array().is_some_and(|all| !all.is_empty());
    let way = match command {
        "finding.contest" => Way { to: &["contested"], reason: "user_contested", evidence: said },
        "finding.reject" => Way { to: &["rejected_by_user"], reason: "rejected_by_user", evidence: said },
        // Who shows something and is no party to it confirms as a reviewer; who is one only the matter tells.
        "finding.confirm" if is_shown => {
            Way { to: &["user_approved", "human_verified"], reason: "user_confirmed", evidence: Some(shown) }
        }
        "finding.confirm" => Way { to: &["user_approved"], reason: "user_confirmed", evidence: Some(shown) },
        "finding.withdraw_contest" => {
            let none = Json::Array(Vec::new());
            Way { to: &["active"], reason: "user_confirmed", evidence: Some(none) }
        }
        _other => return unasked(check, record, "to_state", found),
    };
    found.must(check, record, "finding_id", request.at("finding_id").cloned());
    found.must(check, record, "actor_ref", asked.json().at("actor_ref").cloned());
    let is_there = record.json().is_one_of("to_state", way.to);
    found.holds(check, record, "to_state", is_there, "the command leads elsewhere");
    found.must_say(check, record, "transition_reason", way.reason);
    found.must(check, record, "evidence_refs", way.evidence);
}

/// A finding gives way where sources are compared with what they are now: it rests on what was marked as out of date.
fn given_way<'c>(walk: &Walk<'c, '_>, asked: Record<'c>, record: Record<'c>, found: &mut Found) {
    let check = Check::Findings;
    found.must_say(check, record, "actor_ref", ENGINE);
    found.must_say(check, record, "to_state", "superseded_by_source_change");
    found.must_say(check, record, "transition_reason", CHANGED);
    let receipts = walk.case.until("SourceWorkspaceOperationReceipt", record.seq());
    let marked = receipts
        .filter(|one| one.seq() > asked.seq() && one.json().is("operation_kind", "mark_source_stale"))
        .map(|one| format!("source_workspace_operation_receipt:{}", one.id()));
    found.must_list(check, record, "evidence_refs", &marked.collect::<Vec<String>>());
}

/// Guidance that people move: they dispute it, or say how a dispute ends.
pub(crate) fn guided<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let check = Check::Shown;
    let Some((asked, command)) = asked(walk, record) else {
        return unasked(check, record, "to_state", found);
    };
    let Some(request) = command::request(walk.case, asked) else { return found.withheld(check) };
    let (to, reason) = match (command, request.flag("upheld")) {
        ("run_guidance.contest", _) => ("contested", request.text("grounds")),
        ("run_guidance.settle_contest", Some(true)) => ("rejected", Some("the dispute was upheld")),
        ("run_guidance.settle_contest", _) => ("active", Some("the dispute was withdrawn")),
        _other => return unasked(check, record, "to_state", found),
    };
    found.must(check, record, "guidance_id", request.at("guidance_id").cloned());
    found.must(check, record, "actor_ref", asked.json().at("actor_ref").cloned());
    found.must_say(check, record, "to_state", to);
    found.must(check, record, "reason", reason.map(Json::from));
}

/// What a command writes down of who asked and why: the member, and the member of the request; whoever asked where there is none.
const NOTED: [(&str, &str, &str, Option<&str>); 5] = [
    ("LibraryPromotionCandidate", "library.promote_source", "requested_by_ref", None),
    ("MetricObservationInvalidationEvent", "metric.withdraw_observation", "reason", Some("reason")),
    ("TaskCancelProtocol", "task.cancel", "requested_by_ref", None),
    ("TaskRunFork", "revision_review.fork_candidate", "fork_reason", Some("rationale")),
    ("TaskRunFork", "task_replay.create_fork", "fork_reason", Some("reason")),
];

/// What a command writes down is what was asked. That there is a command is held where it is asked who brought it about.
pub(crate) fn noted<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let Some((asked, command)) = asked(walk, record) else { return };
    for (_, _, member, from) in NOTED.iter().filter(|(kind, of, ..)| *kind == record.kind() && *of == command)
    {
        let expected = match from {
            None => asked.json().at("actor_ref").cloned(),
            Some(name) => match command::request(walk.case, asked) {
                Some(request) => request.at(name).cloned(),
                None => {
                    found.withheld(Check::Record);
                    continue;
                }
            },
        };
        found.must(Check::Record, record, member, expected);
    }
}

/// An observation that does not count any more is the one that the command names.
pub(crate) fn withdrawn<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    noted(walk, record, found);
    let Some((asked, _)) = asked(walk, record) else { return };
    let Some(request) = command::request(walk.case, asked) else { return found.withheld(Check::Record) };
    let observation = request.text("observation_id").map(|id| format!("metric_observation:{id}").into());
    found.must(Check::Record, record, "observation_ref", observation);
}
