//! What a reviewer is shown of a change, and what was decided on it.
//! Owns: what these records must be, the change held against both texts. Must not: decide.

use super::attempt::findings;
use super::step::finished;
use super::{CHECK, Plan, head, strategy, target};
use crate::case::{Text, bare};
use crate::cause;
use crate::command;
use crate::found::{Found, texts};
use crate::question;
use crate::task::Artifact;
use crate::walk::Walk;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::decide::fork::{irreversible, ledger};
use countersign_govern::member::Member;
use countersign_govern::types::added::repair::SideEffectLedgerEntry;
use countersign_govern::types::wire::{Reading, Wire};
use countersign_govern::world::Record;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};

/// A change as it is shown: from the head to what the last step left.
pub(crate) fn packet<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, place) = (walk.case, record.seq());
    let plan = record.json().text("revision_plan_ref").and_then(|text| Plan::find(case, bare(text)));
    let Some(plan) = plan else {
        return walk.underivable(CHECK, record, "there is no such plan", found);
    };
    let is_done = plan.state(walk) == Some("step_receipt_received");
    if !is_done {
        found.about(Code::VerifyDerivation, CHECK, record, "revision_plan_ref", "its steps are not over");
    }
    let (before, after) = (head(case, plan.artifact, place), plan.products(case, place).pop());
    let version =
        |one: Option<Record<'_>>| one.map(|one| Json::from(format!("artifact_version:{}", one.id())));
    let looked = case
        .task
        .outcomes()
        .filter(|one| case.task.artifact_of(*one).map(Artifact::id) == Some(plan.artifact.id()));
    let summary = format!("Of this artifact {} outcomes are looked at again.", looked.count());
    let none: [&str; 0] = [];
    let diff = case.digest(record).map(|digest| format!("diff:{digest}"));
    let at = case.row(record).map_or(Json::Null, |row| Json::from(row.at.to_string()));
    let expected = Object::from([
        ("task_id", Json::from(case.task.id())),
        ("run_id", case.run.as_str().into()),
        ("revision_plan_ref", plan.reference().into()),
        ("before_artifact_version_ref", version(before).unwrap_or(Json::Null)),
        ("candidate_artifact_version_ref", version(after).unwrap_or(Json::Null)),
        ("semantic_diff_ref", diff.map_or(Json::Null, Json::from)),
        ("finding_to_change_map", changes(walk, &plan, place).into()),
        ("preservation_constraint_result_refs", texts(&none)),
        ("source_changes", texts(&none)),
        ("revalidation_result_refs", texts(&finished(case, &plan, place))),
        ("regression_risk_summary", summary.into()),
        ("state", "generated".into()),
        ("decision_receipt_refs", texts(&none)),
        ("created_at", at),
        ("schema_version", "1.1".into()),
    ]);
    found.must_be(CHECK, record, &expected, &["packet_id"]);
    let text = |one: Option<Record<'c>>| one.map_or(Text::Missing, |one| case.content(one).text());
    match (text(before), text(after), case.content(record).text()) {
        (Text::Here(before), Text::Here(after), Text::Here(diff)) => {
            let path = plan.artifact.path().unwrap_or_default();
            let is_headed = diff.is_empty() || diff.starts_with(&format!("--- a/{path}\n+++ b/{path}\n@@ "));
            match is_headed && applied(before, diff).as_deref() == Some(after) {
                true => found.right(CHECK),
                false => {
                    let message = "the change that is shown does not make the candidate of the work";
                    found.about(Code::VerifyDerivation, CHECK, record, "semantic_diff_ref", message);
                }
            }
        }
        (Text::Missing, ..) | (_, Text::Missing, _) | (.., Text::Missing) => {
            walk.underivable(CHECK, record, "a text of the change is not in the packet", found);
        }
        (Text::Withheld, ..) | (_, Text::Withheld, _) | (.., Text::Withheld) => found.withheld(CHECK),
    }
}

/// Which steps each live finding led to.
fn changes(walk: &Walk<'_, '_>, plan: &Plan<'_>, place: u64) -> Object {
    let outcomes = plan.outcomes(walk.case);
    let known = outcomes.into_iter().flat_map(|outcome| findings(walk, outcome, place));
    let steps = |event: Record<'_>| {
        let claims = event.json().texts("affected_claim_refs");
        let is_for = |step: &&Json| match strategy(step) {
            Some("add_evidence" | "remove_claim") => claims.contains(&target(step)),
            Some("mechanical_format_fix") if target(step).starts_with("claim:") => {
                claims.contains(&target(step))
            }
            Some("regenerate" | "targeted_edit" | "mechanical_format_fix") => claims.is_empty(),
            Some(_) | None => false,
        };
        let own = plan.steps().iter().filter(is_for).filter_map(|step| step.text("step_id"));
        texts(&own.collect::<Vec<_>>())
    };
    known.filter_map(|event| Some((event.json().text("finding_id")?, steps(event)))).collect()
}

/// A text with a change applied; nothing if it does not fit.
fn applied(before: &str, diff: &str) -> Option<String> {
    let mut old = before.split_inclusive('\n');
    let (mut after, mut at) = (String::new(), 0_usize);
    let mut lines = body(diff).peekable();
    while let Some(line) = lines.next() {
        if let Some(hunk) = line.strip_prefix("@@ -") {
            let (place, _) = hunk.split_once(' ')?;
            let (start, count) = place.split_once(',').unwrap_or((place, "1"));
            let start: usize = start.parse().ok()?;
            // A hunk that takes nothing out stands behind the line that it names.
            let start = if count == "0" { start } else { start.checked_sub(1)? };
            while at < start {
                after.push_str(old.next()?);
                at += 1;
            }
            continue;
        }
        let is_cut = lines.peek().is_some_and(|next| next.starts_with('\\'));
        let (mark, rest) = line.split_at_checked(1)?;
        let rest = if is_cut { rest.strip_suffix('\n').unwrap_or(rest) } else { rest };
        match mark {
            " " | "-" => {
                at += 1;
                if old.next()? != rest {
                    return None;
                }
                if mark == " " {
                    after.push_str(rest);
                }
            }
            "+" => after.push_str(rest),
            "\\" => {}
            _other => return None,
        }
    }
    old.for_each(|line| after.push_str(line));
    Some(after)
}

/// The lines of a change behind its head.
fn body(diff: &str) -> impl Iterator<Item = &str> + Clone {
    diff.split_inclusive('\n').skip_while(|line| !line.starts_with("@@"))
}

/// How many lines a change takes out, and how many it brings.
fn counted(diff: &str) -> (usize, usize) {
    let count = |mark: char| body(diff).filter(|line| line.starts_with(mark)).count();
    (count('-'), count('+'))
}

/// That the change is withheld.
pub(crate) struct Withheld;

/// The question whether a change becomes the work.
pub(crate) fn asked<'c>(walk: &Walk<'c, '_>, record: Record<'c>) -> Option<Result<Object, Withheld>> {
    let case = walk.case;
    let packet = record.json().text("source_ref")?.strip_prefix("revision_review_packet:")?;
    let packet = case.before("RevisionReviewPacket", packet, record.seq())?;
    let plan = Plan::find(case, bare(packet.json().text("revision_plan_ref")?))?;
    let diff = match case.content(packet).text() {
        Text::Here(diff) => diff,
        Text::Withheld => return Some(Err(Withheld)),
        Text::Missing => return None,
    };
    let (gone, new) = counted(diff);
    let title = plan.artifact.0.text("title").or_else(|| plan.artifact.path()).unwrap_or_default();
    let lines = if gone == 1 { "line" } else { "lines" };
    let prompt = format!(
        "“{title}” was changed to mend what was found: {gone} {lines} went, {new} came. Is this the work now?"
    );
    let options = [
        ("accept", "Accept", "continue", "The change becomes the work, and is looked at again."),
        ("reject", "Reject", "replan", "The work stays as it was; the run may end with that."),
        ("request_changes", "Ask for another", "replan", "Another change is tried; the run may end."),
    ];
    let options = options.map(|(id, label, effect, words)| question::option(id, label, effect, words));
    Some(Ok(question::expected(
        case,
        record,
        question::Asked {
            kind: "meaning_change_approval",
            prompt,
            options: options.into(),
            source: format!("revision_review_packet:{}", packet.id()),
            scope: "artifact",
            blocked: plan.reference(),
        },
    )))
}

/// What a command does by which a change is set aside: the run goes back, or another one tries it.
fn set_aside_by(asked: Record<'_>) -> Option<(&'static str, Option<&'static str>)> {
    match asked.json().text("command_id")? {
        "revision_review.restore_known_good" => Some(("restore_known_good_state", None)),
        "revision_review.fork_candidate" => Some(("fork", Some("forked"))),
        _other => None,
    }
}

/// A change is set aside by a command: the one that it names, or that waits, or the last one where the run goes back long after.
fn set_aside<'c>(
    walk: &Walk<'c, '_>,
    record: Record<'c>,
    asked: Record<'c>,
    (action, state): (&str, Option<&str>),
    found: &mut Found,
) {
    let (case, place) = (walk.case, record.seq());
    let Some(request) = command::request(case, asked) else { return found.withheld(CHECK) };
    let all: Vec<Record<'c>> = case.until("RevisionReviewPacket", place).collect();
    // Whether it waited is said by how it stands before the question to it was answered.
    let is_it = |one: &&Record<'_>| match request.text("packet_id") {
        Some(id) => one.id() == id,
        None => state.is_none() || waited(walk, one.id(), asked.seq()),
    };
    let shown = all.iter().rfind(is_it).map(|one| Json::from(one.id()));
    found.must(CHECK, record, "packet_id", shown);
    found.must_say(CHECK, record, "action", action);
    found.must(CHECK, record, "actor_ref", asked.json().at("actor_ref").cloned());
    found.must(CHECK, record, "rationale", request.at("rationale").cloned());
    found.must(CHECK, record, "resulting_candidate_state", state.map(Json::from));
    found.must(CHECK, record, "command_ref", asked.json().at("command_id").cloned());
    found.must(CHECK, record, "policy_decision_refs", None);
    let entries = case.until("SideEffectLedgerEntry", place);
    let entries: Vec<(u64, SideEffectLedgerEntry)> = entries
        .filter_map(|one| {
            Some((one.seq(), SideEffectLedgerEntry::read(one.json(), &mut Reading::default())?))
        })
        .collect();
    let done = ledger(entries.iter().map(|(seq, entry)| (*seq, entry)));
    let done = irreversible(case.run.as_str(), place, &done).ok().and_then(|all| all.write());
    found.must(CHECK, record, "irrevocable_side_effects_at_fork", done);
}

/// Whether a change waited for a decision at a place.
fn waited(walk: &Walk<'_, '_>, packet: &str, place: u64) -> bool {
    let own = format!("revision_review_packet:{packet}");
    let calls = walk.case.until("HardRevisionCall", place);
    let call = calls.filter(|one| one.json().is("source_ref", &own)).last();
    let mut answers = walk.case.until("HardCallResolutionReceipt", place);
    call.is_some_and(|call| !answers.any(|one| one.json().is("hard_call_id", call.id())))
}

/// What was decided on a change: what a person answered, or that nobody had to.
pub(crate) fn decided<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, json) = (walk.case, record.json());
    let asked = command::open(case, record.seq());
    if let Some((asked, action)) = asked.and_then(|one| Some((one, set_aside_by(one)?))) {
        return set_aside(walk, record, asked, action, found);
    }
    let packet = json.text("packet_id").unwrap_or_default();
    let Some(shown) = case.last("RevisionReviewPacket", record.seq()).filter(|one| one.id() == packet) else {
        return found.about(Code::VerifyDerivation, CHECK, record, "packet_id", "it was not shown last");
    };
    let about = format!("revision_review_packet:{}", shown.id());
    let answers = case.until("HardCallResolutionReceipt", record.seq());
    let answer = answers.filter(|one| one.seq() > shown.seq()).last();
    let call = answer.and_then(|one| {
        let id = one.json().text("hard_call_id")?;
        case.before("HardRevisionCall", id, one.seq())
    });
    let answer = answer.filter(|_| call.is_some_and(|one| one.json().is("source_ref", &about)));
    let leave = format!("policy_evaluation:{}", case.own("leave"));
    let mut before = case.until("RevisionReviewDecisionReceipt", record.seq());
    let is_first = !before.any(|one| one.json().is("packet_id", packet));
    found.holds(CHECK, record, "packet_id", is_first, "it was decided before");
    match answer {
        Some(answer) => {
            let is_by_it = cause::answer(walk, record).is_some_and(|one| one.id() == answer.id());
            found.holds(CHECK, record, "packet_id", is_by_it, "nobody was asked that now");
            let chosen = answer.json().text("selected_option_id").unwrap_or_default();
            let (state, command) = match chosen {
                "accept" => ("accepted_head", "accept_candidate"),
                "reject" => ("rejected", "reject_candidate"),
                _changes => ("superseded", "request_changes"),
            };
            found.must_say(CHECK, record, "action", chosen);
            found.must(CHECK, record, "actor_ref", answer.json().at("resolved_by_user_ref").cloned());
            found.must_say(CHECK, record, "resulting_candidate_state", state);
            found.must_say(CHECK, record, "command_ref", &format!("command:revision_review.{command}"));
        }
        None => {
            let approval = case.task.policy_word("approval.revision", "mechanical_waived");
            if approval != "waived" {
                found.about(Code::VerifyDerivation, CHECK, record, "action", "a person must decide on it");
            }
            found.must_say(CHECK, record, "action", "no_user_review_required");
            found.must_say(CHECK, record, "actor_ref", "engine:work");
            let words = format!("the task asks for no review of revisions ({leave})");
            found.must_say(CHECK, record, "rationale", &words);
            found.must(CHECK, record, "policy_decision_refs", Some(texts(&[leave])));
            found.must(CHECK, record, "resulting_candidate_state", None);
            found.must(CHECK, record, "command_ref", None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, diff: &str, after: Option<&str>) {
        assert_eq!(applied(before, diff).as_deref(), after, "{diff}");
    }

    #[test]
    fn a_change_makes_one_text_of_another() {
        let head = "--- a\n+++ b\n";
        check(
            "one\ntwo\nthree\n",
            &format!("{head}@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n"),
            Some("one\nzwei\nthree\n"),
        );
        check("one\n", &format!("{head}@@ -1,0 +2,1 @@\n+two\n"), Some("one\ntwo\n"));
        check(
            "one\ntwo",
            &format!("{head}@@ -2,1 +2,1 @@\n-two\n\\ No newline at end of file\n+three\n"),
            Some("one\nthree\n"),
        );
        check("one\ntwo\n", &format!("{head}@@ -1,2 +1,1 @@\n one\n-drei\n"), None);
        check("one\n", "", Some("one\n"));
    }

    #[test]
    fn lines_are_counted() {
        assert_eq!(counted("--- a\n+++ b\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n+four\n"), (1, 2));
    }
}
