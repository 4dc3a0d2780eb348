//! What a person says of something: a label, a word on a version, a comment on the board.
//! Owns: what these records must be, given the answer or the command that they come from. Must not: say what a label counts for.

use super::{CHECK, call, is_dispute};
use crate::case::bare;
use crate::cause;
use crate::command;
use crate::found::Found;
use crate::look;
use crate::walk::Walk;
use alloc::format;
use alloc::string::{String, ToString};
use countersign_govern::member::Member;
use countersign_govern::world::Record;
use countersign_record::code::Code;

/// The command by which a person says something on the board.
const COMMENT: &str = "run_board.comment";

/// A label is what a person chose for the criterion that they were asked about.
pub(crate) fn label<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let asked = command::open(walk.case, record.seq());
    if let Some(asked) = asked.filter(|one| one.json().is("command_id", COMMENT)) {
        found.must_say(CHECK, record, "subject_ref", &format!("task:{}", walk.case.task.id()));
        found.must_say(CHECK, record, "label", "comment");
        found.must(CHECK, record, "user_ref", asked.json().at("actor_ref").cloned());
        match command::request(walk.case, asked) {
            Some(request) => found.must(CHECK, record, "comment", request.at("text").cloned()),
            None => found.withheld(CHECK),
        }
        return;
    }
    // That somebody answered is held where it is asked who brought it about.
    let Some(answer) = cause::answer(walk, record) else { return };
    let subject = call(walk, answer).and_then(|call| subject(walk, call, record));
    let Some(subject) = subject else {
        let message = "nobody asked about that";
        return found.about(Code::VerifyDerivation, CHECK, record, "subject_ref", message);
    };
    found.must_say(CHECK, record, "subject_ref", &subject);
    found.must(CHECK, record, "label", answer.json().at("selected_option_id").cloned());
    found.must(CHECK, record, "user_ref", answer.json().at("resolved_by_user_ref").cloned());
    found.must(CHECK, record, "comment", None);
}

/// What an answer to a question is a label of: the criterion that it asks about, or the look at which evaluator and judge parted.
fn subject(walk: &Walk<'_, '_>, call: Record<'_>, record: Record<'_>) -> Option<String> {
    let source = call.json().text("source_ref")?;
    if source.starts_with("criterion:") {
        return Some(source.to_string());
    }
    let blocked = call.json().texts("pending_policy.blocked_refs");
    let outcome = blocked.first().filter(|_| is_dispute(call)).map(|text| bare(text))?;
    look::last_chain(walk.case, outcome, record.seq())
        .map(|id| format!("evaluation_chain_registry_record:{id}"))
}

/// Who answers for a criterion that rests on nothing knows that it does: it is the one that they were asked about.
pub(crate) fn acknowledged<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let case = walk.case;
    let Some(answer) = cause::answer(walk, record) else { return };
    let call = call(walk, answer);
    let id = call.and_then(|one| one.json().text("source_ref")?.strip_prefix("criterion:"));
    let criterion = id.and_then(|id| case.task.criterion(case.local(id)));
    let Some((id, _)) = id.zip(criterion.filter(|one| one.basis() == "unanchored_llm_judgment")) else {
        let message = "nobody was asked about a criterion that rests on nothing";
        return walk.underivable(CHECK, record, message, found);
    };
    let is_own =
        |outcome: &crate::task::Outcome<'_>| outcome.criteria().any(|one| one.id() == case.local(id));
    let outcome = case.task.outcomes().find(is_own);
    found.must_say(CHECK, record, "criterion_id", id);
    found.must(CHECK, record, "outcome_id", outcome.map(|one| case.own(one.id()).into()));
    found.must(CHECK, record, "user_ref", answer.json().at("resolved_by_user_ref").cloned());
}
