//! How things move that have no receipt of their own, and what waits for people.
//! Owns: what these records must be. Must not: know who waits why beyond the records.

use crate::case::bare;
use crate::certified;
use crate::claims;
use crate::command;
use crate::formula::Ungathered;
use crate::found::Found;
use crate::rely;
use crate::report::Check;
use crate::waiting;
use crate::walk::Walk;
use alloc::format;
use alloc::string::{String, ToString};
use countersign_govern::member::Member;
use countersign_govern::world::Record;
use countersign_record::code::Code;
use countersign_record::json::Json;

const CHECK: Check = Check::Record;
const ENGINE: &str = "engine:work";
/// Who searches for a source.
const DRAFTER: &str = "module:drafter";

/// A move begins where its subject stands.
pub(crate) fn moved<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let json = record.json();
    let Some((kind, id)) = json.text("subject_ref").and_then(|text| text.split_once(':')) else { return };
    let (member, words) = match kind {
        "task_reliance_packet" => return rely::moved(walk, record, found),
        "revision_review_packet" => ("state", ("review_pending", "shown for review")),
        "attention_ledger_item" => ("lifecycle_state", ("resolved", "it waits no more")),
        "evaluation_contract_review" => return contract(walk, record, found),
        "work_product_certification" => return certified::moved(walk, record, found),
        "research_need" => return need(walk, record, found),
        _other => return,
    };
    let from = walk.says(kind, id, member).map(Json::from);
    found.must(CHECK, record, "from_state", from);
    let Some(last) = walk.case.world.versions(type_of(kind), id).next() else {
        return found.about(Code::VerifyDerivation, CHECK, record, "subject_ref", "there is no such thing");
    };
    let actor = json.text("actor_ref").unwrap_or_default();
    // What a person dealt with or put aside is theirs to say; it must have been a command or an answer of theirs.
    if kind == "attention_ledger_item" && actor != ENGINE {
        let answer = walk.case.last("HardCallResolutionReceipt", record.seq());
        let answer = answer.filter(|one| walk.at(*one) == walk.at(record));
        let by = match command::open(walk.case, record.seq()) {
            Some(asked) => asked.json().at("actor_ref"),
            None => answer.and_then(|one| one.json().at("resolved_by_user_ref")),
        };
        found.must(CHECK, record, "actor_ref", by.cloned());
        let is_review = last.json().is("attention_kind", "revision_review_pending");
        let is_decided = walk.case.last("RevisionReviewDecisionReceipt", record.seq()).is_some_and(|one| {
            last.json().text("source_ref").map(bare) == one.json().text("packet_id")
                && walk.at(one) == walk.at(record)
        });
        if is_review && is_decided {
            found.must_say(CHECK, record, "to_state", "resolved");
            found.must_say(CHECK, record, "reason", "it was decided");
        }
        return attended(walk, record, found);
    }
    found.must_say(CHECK, record, "actor_ref", ENGINE);
    found.must_say(CHECK, record, "reason", words.1);
    if kind == "attention_ledger_item" {
        waiting::closed(walk, last, record, found);
    }
    let is_edited =
        last.json().is("attention_kind", "approval_required") && json.is("to_state", "superseded");
    if !is_edited {
        found.must_say(CHECK, record, "to_state", words.0);
    }
}

/// What a person deals with or puts aside by a command is what the command names, for the reason that it gives.
fn attended(walk: &Walk<'_, '_>, record: Record<'_>, found: &mut Found) {
    let asked = command::open(walk.case, record.seq());
    let way = asked.and_then(|one| match one.json().text("command_id")? {
        "attention.resolve_item" => Some((one, "resolved", "dealt with by a person")),
        "attention.dismiss_item" => Some((one, "dismissed", "put aside by a person")),
        _other => None,
    });
    let Some((asked, to, words)) = way else { return };
    found.must_say(CHECK, record, "to_state", to);
    let Some(request) = command::request(walk.case, asked) else { return found.withheld(CHECK) };
    let item = request.text("item_id").map(|id| format!("attention_ledger_item:{id}").into());
    found.must(CHECK, record, "subject_ref", item);
    found.must_say(CHECK, record, "reason", request.text("note").unwrap_or(words));
}

/// A question to sources moves: a person takes it up and answers it, who searched finds a source or none, or the work does not say it any
/// more.
fn need<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, json) = (walk.case, record.json());
    let id = json.text("subject_ref").map(bare).unwrap_or_default();
    // An answer closes it in the workspace, right before that is said of it.
    let from = match walk.says("research_need", id, "status").unwrap_or_default() {
        "answered" if json.is("actor_ref", DRAFTER) => "leased",
        "answered" => "human_needed",
        other => other,
    };
    let from = from.to_string();
    found.must_say(CHECK, record, "from_state", &from);
    let asked = command::open(case, record.seq());
    let asked = asked.filter(|one| one.json().is("command_id", ANSWER_NEED));
    let leased = case.last("ResearchNeedLease", record.seq());
    let is_leased = leased.is_some_and(|one| one.seq() + 1 == record.seq() && one.json().is("need_id", id));
    let by = asked.and_then(|one| one.json().text("actor_ref"));
    let (to, by, reason) = match (from.as_str(), by) {
        ("open" | "leased", Some(by)) => ("human_needed", by, "a person takes it up"),
        ("unresolved", Some(by)) => ("open", by, "a person takes it up"),
        (_human_needed, Some(by)) => ("answered", by, "answered"),
        // How a lease begins and runs out is held to the contract.
        (_, None) if is_leased || json.is("actor_ref", "engine:research") => return,
        ("leased", None) if json.is_one_of("to_state", &["unresolved", "answered"]) => {
            match claims::searched(walk, id, record) {
                Ok((to, reason, _)) => (to, DRAFTER, reason),
                Err(Ungathered::Withheld) => return found.withheld(CHECK),
                Err(Ungathered::Missing(why)) => return walk.underivable(CHECK, record, why, found),
            }
        }
        (_, None) => ("cancelled", ENGINE, "the work does not say it any more"),
    };
    found.must_say(CHECK, record, "to_state", to);
    found.must_say(CHECK, record, "actor_ref", by);
    found.must_say(CHECK, record, "reason", reason);
}

/// Who searches for a source has a question alone for a while.
pub(crate) fn lease<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let need = record.json().text("need_id").unwrap_or_default();
    let is_asked = walk.case.before("ResearchNeed", need, record.seq()).is_some();
    found.holds(CHECK, record, "need_id", is_asked, "nobody asked that");
    found.must_say(CHECK, record, "leased_by_module_id", "drafter");
}

/// The command by which a person answers a question to sources.
const ANSWER_NEED: &str = "research.answer_need";

/// A contract is shown once it is complete; where the task needs nobody for it, it is waived, else a person decides.
fn contract<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let is_first = walk
        .case
        .last("EvaluationContractReview", record.seq())
        .is_some_and(|one| one.seq() + 1 == record.seq());
    let last = walk.case.last("EvaluationContractReview", record.seq());
    let subject = last.map(|one| format!("evaluation_contract_review:{}", one.id()));
    found.must(CHECK, record, "subject_ref", subject.map(Json::from));
    let is_waived = !walk.case.needs_agreement();
    let (from, to, reason) = match (is_first, is_waived) {
        (true, _) => ("draft", "ready_for_review", "it is complete"),
        (false, true) => ("pending", "waived_by_policy", "the task needs nobody for it"),
        (false, false) => return decided(walk, record, found),
    };
    found.must_say(CHECK, record, "from_state", from);
    found.must_say(CHECK, record, "to_state", to);
    found.must_say(CHECK, record, "actor_ref", ENGINE);
    found.must_say(CHECK, record, "reason", reason);
}

/// A person agrees to a contract, refuses it, or wants another: who gave the command for that. What is wanted instead takes its place.
fn decided<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let asked = command::open(walk.case, record.seq());
    let Some((command, asked)) = asked.and_then(|one| Some((one.json().text("command_id")?, one))) else {
        return found.about(Code::VerifyDerivation, CHECK, record, "to_state", "nobody decided that");
    };
    let by = asked.json().text("actor_ref").unwrap_or_default();
    let request = command::request(walk.case, asked);
    let (from, to, by, reason) = match command {
        "contract_review.approve" => ("pending", "approved", by, Some("approved")),
        "contract_review.reject" => {
            ("pending", "rejected", by, request.as_ref().and_then(|one| one.text("reason")))
        }
        "contract_review.edit" if record.json().is("from_state", "ready_for_review") => {
            ("ready_for_review", "superseded", ENGINE, Some("there is a newer contract"))
        }
        "contract_review.edit" => ("pending", "edited", by, Some("the contract is to be another")),
        _other => {
            let message = "that is no command on a contract";
            return found.about(Code::VerifyDerivation, CHECK, record, "to_state", message);
        }
    };
    found.must_say(CHECK, record, "from_state", from);
    found.must_say(CHECK, record, "to_state", to);
    found.must_say(CHECK, record, "actor_ref", by);
    match reason {
        Some(reason) => found.must_say(CHECK, record, "reason", reason),
        None => found.withheld(CHECK),
    }
}

fn type_of(kind: &str) -> &'static str {
    match kind {
        "revision_review_packet" => "RevisionReviewPacket",
        _item => "AttentionLedgerItem",
    }
}

/// What waits for a person follows from what it is about.
pub(crate) fn attention<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, json) = (walk.case, record.json());
    if let Some(before) = case.before("AttentionLedgerItem", record.id(), record.seq()) {
        return again(walk, record, before, found);
    }
    waiting::is_new(walk, record, found);
    let source = json.text("source_ref").unwrap_or_default();
    let (kind, id) = source.split_once(':').unwrap_or_default();
    let words = |kind: &str| case.before(kind, id, record.seq());
    let expected: Option<(&str, String, &str)> = match kind {
        "hard_revision_call" => words("HardRevisionCall").and_then(|one| {
            Some(("hard_call_pending", String::from(one.json().text("prompt_text")?), "high"))
        }),
        "evaluation_contract_review" => {
            Some(("approval_required", String::from("Is this what you want done?"), "high"))
        }
        "research_need" => words("ResearchNeed").and_then(|one| {
            Some(("research_need_human", String::from(one.json().text("question")?), "high"))
        }),
        "evaluation_finding_record" => {
            let events = case.until("EvaluationFindingEvent", record.seq());
            let event = events.filter(|one| one.json().is("finding_id", id)).last();
            let text = event.and_then(|one| one.json().text("finding_text"));
            text.map(|text| ("contested_finding", format!("It is disputed: {text}"), "medium"))
        }
        "revision_review_packet" => Some(("revision_review_pending", changed(walk, record, id), "high")),
        "module_assistance_request" => {
            let words = "Nobody answered a part of the run that asked for help.";
            Some(("blocked_item", String::from(words), "high"))
        }
        "outcome_record" => case.task.outcome(case.local(id)).map(|one| {
            ("blocked_item", format!("A policy stands in the way of: {}", one.statement()), "high")
        }),
        "task_reliance_packet" => {
            let last = case.last("TaskReliancePacket", record.seq()).filter(|one| one.id() == id);
            let words = "Read the reliance packet before it is issued.";
            last.map(|_| ("reliance_review_required", String::from(words), "medium"))
        }
        _other => None,
    };
    let there = case.world.resolve_text(source);
    let is_there = there.is_some_and(|one| case.before(one.kind(), one.id(), record.seq()).is_some());
    let Some((kind, summary, priority)) =
        expected.filter(|_| is_there || kind == "evaluation_finding_record")
    else {
        return found.about(
            Code::VerifyDerivation,
            CHECK,
            record,
            "source_ref",
            "nothing waits for a person there",
        );
    };
    let is_asked_of_change =
        case.last("RevisionReviewPacket", record.seq()).is_some_and(|one| one.seq() + 1 == record.seq());
    let command =
        if is_asked_of_change { "command:attention.resolve_item" } else { "attention.resolve_item" };
    found.must_say(CHECK, record, "attention_kind", kind);
    found.must_say(CHECK, record, "summary", &summary);
    found.must_say(CHECK, record, "priority", priority);
    found.must_say(CHECK, record, "command_ref", command);
    found.must_say(CHECK, record, "lifecycle_state", "open");
    found.must(CHECK, record, "resolved_at", None);
}

/// An item is written again only once it waits no more.
fn again<'c>(walk: &Walk<'c, '_>, record: Record<'c>, before: Record<'c>, found: &mut Found) {
    let mut expected = before.json().as_object().cloned().unwrap_or_default();
    let state = walk.says("attention_ledger_item", record.id(), "lifecycle_state").unwrap_or_default();
    expected.insert("lifecycle_state", state);
    if state != "open" {
        let at = walk.case.row(record).map_or(Json::Null, |row| Json::from(row.at.as_str()));
        expected.insert("resolved_at", at);
    }
    found.must_be(CHECK, record, &expected, &[]);
}

/// How a change that waits is told: by what it changes when it is shown, else that it waits.
fn changed(walk: &Walk<'_, '_>, record: Record<'_>, packet: &str) -> String {
    let case = walk.case;
    let shown = case.before("RevisionReviewPacket", packet, record.seq());
    let is_new = shown.is_some_and(|one| one.seq() + 1 == record.seq());
    let version = shown.and_then(|one| one.json().text("candidate_artifact_version_ref")).map(bare);
    let version = version.and_then(|id| case.before("ArtifactVersion", id, record.seq()));
    let artifact = version.and_then(|one| one.json().text("artifact_stable_id"));
    let artifact = artifact.and_then(|id| case.task.artifact(case.local(id)));
    let title = artifact.and_then(|one| one.0.text("title").or_else(|| one.path()));
    match title.filter(|_| is_new) {
        Some(title) => format!("A change of “{title}” waits for your review."),
        None => String::from("A revision that changes the meaning waits for you."),
    }
}
