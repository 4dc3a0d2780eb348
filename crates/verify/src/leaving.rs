//! What left the run: that a person let it, what was meant to be done, and what became of it.
//! Owns: what these records must be, given the task and the commands. Must not: let anything leave.

use crate::case::{Case, bare};
use crate::command;
use crate::found::{Found, texts};
use crate::report::Check;
use crate::walk::Walk;
use crate::workspace;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::decide::replay::is_query;
use countersign_govern::member::Member;
use countersign_govern::types::externalization::WorkspaceExternalizationKind as Kind;
use countersign_govern::world::Record;
use countersign_record::canonical;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};

const CHECK: Check = Check::Record;
const EXPORT: &str = "evidence.export_package";

/// The sources that can leave, as the task calls them: those that were only looked up are no records.
fn sources<'p>(case: &Case<'p>) -> Vec<&'p str> {
    case.task.sources().filter(|one| one.tier() > 0).map(|one| one.id()).collect()
}

/// What is shown to the person who lets something leave.
fn subject(case: &Case<'_>, kind: &str, sources: &[&str], destination: Option<&str>) -> String {
    let mut shown = Object::from([("kind", Json::from(kind)), ("sources", texts(sources))]);
    if let Some(destination) = destination {
        shown.insert("destination", destination);
    }
    let hash = canonical::hash_as_written(&shown.into());
    format!("externalization:{}#{hash}", case.own(&format!("leave.{kind}")))
}

/// What a command has leave.
struct Exported<'c> {
    to: String,
    /// The sources that go along.
    sources: Vec<&'c str>,
}

/// What leaves by a command; whether it says so is withheld if nothing is given.
fn exported<'c>(case: &'c Case<'_>, place: u64) -> Option<Option<Exported<'c>>> {
    let asked = command::open(case, place).filter(|one| one.json().is("command_id", EXPORT))?;
    Some(command::request(case, asked).and_then(|request| {
        let named = request.at("sources").map(|_| request.texts("sources"));
        let goes = |id: &&str| named.as_ref().is_none_or(|named| named.contains(id));
        let to = request.text("destination").map(|to| format!("file:{to}"))?;
        Some(Exported { to, sources: sources(case).into_iter().filter(goes).collect() })
    }))
}

/// What a person says yes to by giving a command.
fn meant(case: &Case<'_>, asked: Record<'_>, place: u64) -> Option<Option<String>> {
    let last = |kind: &str, snake: &str| case.last(kind, place).map(|one| format!("{snake}:{}", one.id()));
    match asked.json().text("command_id")? {
        EXPORT => {
            let going = exported(case, place)?;
            let kind = Kind::ExportBundle.as_str();
            Some(going.map(|going| subject(case, kind, &going.sources, Some(&going.to))))
        }
        "source.clear" => {
            let request = command::request(case, asked);
            Some(request.and_then(|one| one.text("source").map(|id| format!("src:{}", case.own(id)))))
        }
        "library.promote_source" => Some(last("LibraryPromotionCandidate", "library_promotion_candidate")),
        "contract_review.approve" => Some(last("EvaluationContractReview", "evaluation_contract_review")),
        _other => None,
    }
}

/// A person says yes to what they were asked, or to what they gave the command for.
pub(crate) fn confirmed<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, place) = (walk.case, record.seq());
    let asked = command::open(case, place);
    if let Some((asked, subject)) = asked.and_then(|one| Some((one, meant(case, one, place)?))) {
        let is_kept = command::request(case, asked).is_some_and(|one| one.flag("confirmed") != Some(true));
        if asked.json().is("command_id", EXPORT) && is_kept {
            let message = "the command does not say yes to it";
            found.about(Code::VerifyDerivation, CHECK, record, "subject_ref", message);
        }
        match subject {
            Some(subject) => found.must_say(CHECK, record, "subject_ref", &subject),
            None => found.withheld(CHECK),
        }
        return found.must(CHECK, record, "user_ref", asked.json().at("actor_ref").cloned());
    }
    let answer = case.last("HardCallResolutionReceipt", place);
    let answer = answer.filter(|one| walk.at(*one) == walk.at(record));
    let call = answer.and_then(|one| {
        let id = one.json().text("hard_call_id")?;
        case.before("HardRevisionCall", id, place)
    });
    let Some((answer, call)) = answer.zip(call) else {
        return found.about(Code::VerifyDerivation, CHECK, record, "subject_ref", "nobody was asked that");
    };
    found.must(CHECK, record, "subject_ref", call.json().at("source_ref").cloned());
    found.must(CHECK, record, "user_ref", answer.json().at("resolved_by_user_ref").cloned());
}

/// What became of something that was to leave: what it was, where it went, who let it.
pub(crate) fn left<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, json, place) = (walk.case, record.json(), record.seq());
    let Some(kind) = json.text("externalization_kind").and_then(Kind::find) else { return };
    let exported = exported(case, place);
    if let Some(going) = &exported {
        found.must_say(CHECK, record, "externalization_kind", Kind::ExportBundle.as_str());
        match going {
            Some(going) => found.must_say(CHECK, record, "destination_ref", &going.to),
            None => found.withheld(CHECK),
        }
    }
    found.must_say(CHECK, record, "policy_ref", &case.own(&format!("leave.{}", kind.as_str())));
    found.must_say(CHECK, record, "workspace_id", &case.own("workspace"));
    let named = json.texts("source_record_refs");
    let named: Vec<&str> = named.iter().map(|text| case.local(bare(text))).collect();
    let own: Vec<&str> = match exported.flatten() {
        Some(going) => going.sources,
        // What a question takes along only it says.
        None => sources(case).into_iter().filter(|id| named.contains(id)).collect(),
    };
    let refs: Vec<String> = own.iter().map(|id| format!("src:{}", case.own(id))).collect();
    found.must_list(CHECK, record, "source_record_refs", &refs);
    let shown = subject(case, kind.as_str(), &own, json.text("destination_ref"));
    let whole = subject(case, kind.as_str(), &sources(case), json.text("destination_ref"));
    // A question that was cancelled on its way was let leave, and has its cost; what a person kept here has none.
    let is_broken_off = json.is("status", "cancelled") && json.at("cost_vector_ref").is_some();
    let is_through = is_broken_off || json.is_one_of("status", &["completed", "failed"]);
    let leave = case.task.policy_word(&format!("externalization.{}", kind.as_str()), "confirm");
    let (_, class, privileged) = workspace::label(case, place);
    let is_free = leave == "free" && !privileged && !matches!(class, "privileged" | "local_only");
    let mut said = case.until("UserConfirmation", place);
    let said = said.find(|one| one.json().is("subject_ref", &shown) || one.json().is("subject_ref", &whole));
    let said = said.filter(|_| is_through && !is_free);
    let is_let = leave != "never" && (is_free || said.is_some());
    if is_through && !is_let {
        found.about(Code::VerifyDerivation, CHECK, record, "status", "nobody let it leave");
    }
    let confirmation = said.map(|one| format!("user_confirmation:{}", one.id()).into());
    found.must(CHECK, record, "user_confirmation_ref", confirmation);
    let preview = said.filter(|_| !is_query(kind)).and_then(|one| one.json().at("subject_ref").cloned());
    found.must(CHECK, record, "redaction_preview_ref", preview);
    let has_left = json.is("status", "completed");
    found.must(CHECK, record, "irreversible_disclosure_possible", Some(has_left.into()));
}

/// What discloses is meant to be done before it is, and done or not once that is told.
pub(crate) fn effect<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, place) = (walk.case, record.seq());
    let at = case.row(record).map_or(Json::Null, |row| Json::from(row.at.to_string()));
    let Some(before) = case.before("SideEffectLedgerEntry", record.id(), place) else {
        let kind = exported(case, place).map(|_| Kind::ExportBundle.as_str());
        let kind = kind.map(Json::from).or_else(|| record.json().at("kind").cloned());
        let expected = Object::from([
            ("run_id", Json::from(case.run.as_str())),
            ("kind", kind.unwrap_or(Json::Null)),
            ("irreversible", true.into()),
            ("state", "intent".into()),
            ("created_at", at),
            ("schema_version", "1.0".into()),
        ]);
        return found.must_be(CHECK, record, &expected, &["side_effect_id"]);
    };
    let left = case.last("WorkspaceExternalizationReceipt", place).filter(|one| one.seq() > before.seq());
    let Some(left) = left else {
        return found.about(Code::VerifyDerivation, CHECK, record, "state", "nobody said what became of it");
    };
    let has_left = left.json().is("status", "completed");
    let mut expected = before.json().as_object().cloned().unwrap_or_default();
    expected.insert("state", if has_left { "executed" } else { "cancelled" });
    expected.insert("created_at", at);
    if has_left {
        expected.insert("receipt_ref", format!("workspace_externalization_receipt:{}", left.id()));
    }
    found.must_be(CHECK, record, &expected, &[]);
}
