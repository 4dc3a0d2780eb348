//! Questions to people, what was answered, and what follows from that; questions to sources.
//! Owns: what these records must be, given the answers. Must not: answer.

mod label;
mod wait;

pub(crate) use label::{acknowledged, label};
pub(crate) use wait::waited;

use crate::case::{Case, bare};
use crate::cause;
use crate::claims;
use crate::command;
use crate::formula::Ungathered;
use crate::found::{Found, texts};
use crate::look::Round;
use crate::report::Check;
use crate::revise::{
    self,
    review::{self, Withheld},
};
use crate::score::{self, Lacks};
use crate::task::Criterion;
use crate::walk::Walk;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::derive::text;
use countersign_govern::member::Member;
use countersign_govern::world::Record;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};
use countersign_record::time::{Instant, Timestamp};

const CHECK: Check = Check::Questions;
/// An option that lets one source count where it and another disagree.
const PREFER: &str = "prefer-";

/// The source that a person said counts where sources disagree, by a place.
pub(crate) fn preferred<'c>(case: &'c Case<'_>, place: u64) -> Option<&'c str> {
    let answers = case.until("HardCallResolutionReceipt", place);
    answers.filter_map(|one| one.json().text("selected_option_id")?.strip_prefix(PREFER)).last()
}

/// A question as a person reads it, and what waits for the answer.
pub(crate) struct Asked {
    pub(crate) kind: &'static str,
    pub(crate) prompt: String,
    pub(crate) options: Vec<Json>,
    pub(crate) source: String,
    pub(crate) scope: &'static str,
    pub(crate) blocked: String,
}

pub(crate) fn option(id: &str, label: &str, effect: &str, consequence: &str) -> Json {
    Object::from([
        ("option_id", Json::from(id)),
        ("label", label.into()),
        ("effect", effect.into()),
        ("consequence_text", consequence.into()),
    ])
    .into()
}

fn stop() -> Json {
    option("stop", "Stop here", "abort_scope", "The outcome is given up.")
}

/// What a person is asked who decides between evaluator and judge.
fn dispute(round: &Round<'_>) -> (String, Vec<Json>) {
    let statement = round.outcome.statement();
    let is_wrong = round.evaluator.is_some_and(|one| one.json().is("decision.verdict", "failed"));
    let prompt = match is_wrong {
        true => format!("The score of “{statement}” is high enough, but something in it is wrong. What now?"),
        false => format!(
            "Nothing that must be there is missing for “{statement}”, but the score is too low. What now?"
        ),
    };
    let mended = option("revise", "Have it mended", "replan", "What is not met is worked on again.");
    let taken =
        option("accept", "Take it as it is", "accept_as_is", "The score does not count for this version.");
    // A score outweighs no finding: what is wrong can't be taken as it is.
    let taken = Some(taken).filter(|_| !is_wrong);
    (prompt, [mended].into_iter().chain(taken).chain([stop()]).collect())
}

/// The question that a look leads to.
fn asked(walk: &Walk<'_, '_>, record: Record<'_>) -> Option<Asked> {
    let round = walk.round.as_ref()?;
    let blocked = format!("outcome_record:{}", walk.case.own(round.outcome.id()));
    let resolution = round.resolution.map(|one| format!("evaluation_chain_resolution_receipt:{}", one.id()));
    let contradictory = |prompt: String, options: Vec<Json>| Asked {
        kind: "contradictory_requirements",
        prompt,
        options,
        source: resolution.clone().unwrap_or_default(),
        scope: "outcome",
        blocked: blocked.clone(),
    };
    if round.is_for_a_person() {
        let (prompt, options) = dispute(round);
        return Some(contradictory(prompt, options));
    }
    let (criterion, lacks) = round.lacking()?;
    let of_criterion = |prompt: String, options: Vec<Json>| Asked {
        kind: "meaning_change_approval",
        prompt,
        options,
        source: format!("criterion:{}", walk.case.own(criterion.id())),
        scope: "outcome",
        blocked: blocked.clone(),
    };
    match lacks {
        Lacks::Label => Some(of_criterion(criterion.question().to_string(), labels(criterion))),
        Lacks::Anchor => {
            let prompt = format!("“{}” rests on nothing that can be checked. Is it met?", criterion.text());
            Some(of_criterion(prompt, by_word()))
        }
        Lacks::Judge | Lacks::Tool => {
            let none = if lacks == Lacks::Judge {
                "there is no judge"
            } else {
                "what would look at it is not there"
            };
            let why = score::why(walk, record, criterion).unwrap_or(none);
            let prompt = format!("“{}” could not be looked at: {why}. Is it met?", criterion.text());
            Some(of_criterion(prompt, by_word()))
        }
        Lacks::Choice => {
            let source = |id: &String| {
                let title = walk.case.task.source(id).and_then(|one| one.0.text("title")).unwrap_or(id);
                let words = format!("“{title}” counts; what rests on the others is taken out.");
                option(&format!("{PREFER}{id}"), &format!("Go by “{title}”"), "continue", &words)
            };
            let sources = disagreeing(walk, record.seq());
            let options = sources.iter().map(source).chain([stop()]).collect();
            Some(contradictory(
                "Sources say different things of the same. Which one counts?".to_string(),
                options,
            ))
        }
        Lacks::Information => None,
    }
}

/// What a person may say whose word counts.
fn by_word() -> Vec<Json> {
    let yes = option("yes", "Yes", "waive", "It counts as met, on your word.");
    Vec::from([yes, option("no", "No", "continue", "It counts as not met.")])
}

/// The labels of a criterion, and what each means.
fn labels(criterion: Criterion<'_>) -> Vec<Json> {
    let passing = criterion.passing();
    let label = |label: &str| {
        let words =
            if passing.contains(&label) { "The criterion is met." } else { "The criterion is not met." };
        option(label, label, "continue", words)
    };
    criterion.labels().into_iter().map(label).collect()
}

/// The sources that say different things of what the work claims, as the task calls them.
fn disagreeing(walk: &Walk<'_, '_>, place: u64) -> BTreeSet<String> {
    let claims = walk.round.iter().flat_map(|round| &round.claims).filter(|one| one.status == "contradicted");
    let anchors: BTreeSet<&str> = claims
        .flat_map(|one| one.supporting.iter().chain(&one.contradicting))
        .map(|text| bare(text))
        .collect();
    let own = walk.case.until("SourceEvidenceAnchor", place).filter(|one| anchors.contains(one.id()));
    own.filter_map(|one| {
        one.json().text("source_record_ref").map(|text| walk.case.local(bare(text)).to_string())
    })
    .collect()
}

/// A question follows from a look that nobody but a person can settle, or from a change that a person must see.
pub(crate) fn raised<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    match review::asked(walk, record) {
        Some(Ok(expected)) => return found.must_be(CHECK, record, &expected, &NAMES),
        Some(Err(Withheld)) => return found.withheld(CHECK),
        None => {}
    }
    let open = walk.round.as_ref().filter(|round| round.resolution.is_some() && !round.is_settled);
    let Some(round) = open else {
        // Questions of budgets and of outcomes that nothing will mend are held to the contract.
        return;
    };
    if round.scores.is_none() {
        return found.withheld(CHECK);
    }
    let is_talked_over = round.is_for_a_person() && walk.case.task.0.at("policies.forum").is_some();
    let Some(asked) = asked(walk, record) else {
        return found.about(Code::VerifyDerivation, CHECK, record, "", "nothing has to be asked here");
    };
    // Those who talk an outcome over have their say in the question.
    let but: &[&str] = if is_talked_over { &TALKED_OVER } else { &NAMES };
    found.must_be(CHECK, record, &expected(walk.case, record, asked), but);
}

/// Members of a question that are names and times.
const NAMES: [&str; 2] = ["hard_call_id", "created_at"];
/// Those that the others had a say in.
const TALKED_OVER: [&str; 5] = ["hard_call_id", "created_at", "prompt_text", "source_ref", "hard_call_kind"];

/// The record of a question.
pub(crate) fn expected(case: &Case<'_>, record: Record<'_>, asked: Asked) -> Object {
    let none: [&str; 0] = [];
    let pending = Object::from([
        ("hard_call_id", Json::from(record.id())),
        ("blocking_scope", asked.scope.into()),
        ("blocked_refs", texts(&[asked.blocked])),
        ("allowed_to_continue_refs", texts(&none)),
        ("context_visible_to_continuing_modules", "hard_call_pending_summary".into()),
        ("on_defer", "pause_scope".into()),
        ("on_timeout", case.task.policy_word("questions.on_timeout", "escalate").into()),
        ("timeout_ms", wait::timeout_ms(case).unwrap_or(Json::Null)),
        ("schema_version", "1.0".into()),
    ]);
    Object::from([
        ("response_mode", Json::from("closed_choice")),
        ("options", Json::Array(asked.options)),
        ("prompt_text", asked.prompt.into()),
        ("pending_policy", pending.into()),
        ("schema_version", "1.1".into()),
        ("hard_call_kind", asked.kind.into()),
        ("source_ref", asked.source.into()),
        ("run_id", case.run.as_str().into()),
    ])
}

/// The question that an answer is to.
fn call<'c>(walk: &Walk<'c, '_>, answer: Record<'_>) -> Option<Record<'c>> {
    let id = answer.json().text("hard_call_id")?;
    walk.case.until("HardRevisionCall", answer.seq()).filter(|one| one.id() == id).last()
}

/// Whether a question comes from what evaluator and judge came to, or from the room in which they talked it over.
fn is_dispute(call: Record<'_>) -> bool {
    let kind = call.json().text("source_ref").and_then(|text| text.split(':').next());
    matches!(kind, Some("evaluation_chain_resolution_receipt" | "forum_room_record"))
}

/// An answer is one of the options, and a person gave it in the run.
pub(crate) fn answered<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let chosen = walk.told.chosen.iter().find(|one| record.json().is("hard_call_id", &one.question));
    match chosen {
        Some(chosen) => {
            found.must_say(CHECK, record, "selected_option_id", &chosen.option);
            found.must_say(CHECK, record, "resolved_by_user_ref", &format!("user:{}", chosen.by));
        }
        None if walk.told.is_partial => found.withheld(CHECK),
        None => {
            let message = "nobody chose that in the run";
            found.about(Code::VerifyIncomplete, Check::Completeness, record, "hard_call_id", message);
        }
    }
    by_command(walk, record, found);
    found.must_say(CHECK, record, "operation_kind", "hard_call_resolved");
    found.must_say(CHECK, record, "dispatcher_actor_ref", "engine:dispatcher");
    found.must(CHECK, record, "freeform_response_ref", None);
    let Some(call) = call(walk, record) else {
        return found.about(Code::VerifyDerivation, CHECK, record, "hard_call_id", "nobody asked that");
    };
    let state = walk.says("hard_revision_call", call.id(), "state");
    let is_open = matches!(state, Some("pending" | "deferred" | "escalated"));
    found.holds(CHECK, record, "hard_call_id", is_open, "it waits for no answer");
    let chosen = record.json().text("selected_option_id");
    let is_offered = call.json().list("options").iter().any(|one| one.text("option_id") == chosen);
    found.holds(CHECK, record, "selected_option_id", chosen.is_none() || is_offered, "is no option");
}

/// An answer that is given by a command is the one that the command asks for.
fn by_command(walk: &Walk<'_, '_>, record: Record<'_>, found: &mut Found) {
    let asked = command::open(walk.case, record.seq());
    let Some(asked) = asked.filter(|one| one.json().is("command_id", cause::ANSWER)) else { return };
    found.must(CHECK, record, "resolved_by_user_ref", asked.json().at("actor_ref").cloned());
    let Some(request) = command::request(walk.case, asked) else { return found.withheld(CHECK) };
    found.must(CHECK, record, "hard_call_id", request.at("hard_call_id").cloned());
    found.must(CHECK, record, "selected_option_id", request.at("option_id").cloned());
}

/// Seconds for which an answer is kept.
const KEPT_SECONDS: i64 = 30 * 24 * 3_600;

/// An answer that is kept is the one that was given, to the question that was asked.
pub(crate) fn kept<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let answer = walk.case.last("HardCallResolutionReceipt", record.seq());
    let Some((call, answer)) = answer.and_then(|answer| call(walk, answer).zip(Some(answer))) else {
        return walk.underivable(CHECK, record, "nobody has answered", found);
    };
    for name in ["hard_call_kind", "prompt_text", "options"] {
        found.must(CHECK, record, name, call.json().at(name).cloned());
    }
    found.must(CHECK, record, "selected_option_id", answer.json().at("selected_option_id").cloned());
    let prompt = text::hash(call.json().text("prompt_text").unwrap_or_default());
    let options = call.json().at("options").and_then(text::value_hash);
    found.must_say(CHECK, record, "normalized_prompt_hash", &String::from(prompt));
    found.must(CHECK, record, "normalized_options_hash", options.map(|hash| String::from(hash).into()));
    let at = walk.at(record).map(|at| Instant { seconds: at.seconds + KEPT_SECONDS, ..at });
    let at = at.and_then(|at| Timestamp::try_from(at).ok());
    found.must(CHECK, record, "expires_at", at.map(|at| at.to_string().into()));
}

/// An outcome that waited for an answer moves on it.
pub(crate) fn moved<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let json = record.json();
    let from = walk.says("outcome_record", json.text("outcome_id").unwrap_or_default(), "state");
    let is_asked = matches!(from, Some("needs_human_judgment" | "max_iterations_reached"));
    let Some(cause @ ("HardCallResolutionReceipt" | "newer contract/outcome version")) = json.text("cause")
    else {
        if json.is("to_state", "dirty") && !is_asked {
            reopened(walk, record, from.unwrap_or_default(), found);
        }
        if json.is("to_state", "superseded") && is_skipped(walk, record) {
            // Whoever leaves an outcome out need not answer what was asked about it.
            found.must_say(CHECK, record, "cause", "skipped");
        } else if is_asked {
            found.must_say(CHECK, record, "cause", "HardCallResolutionReceipt");
        } else if json.is("to_state", "superseded") {
            found.must_say(CHECK, record, "cause", "newer contract/outcome version");
        }
        return;
    };
    let answer = walk.case.last("HardCallResolutionReceipt", record.seq());
    let asked = answer.and_then(|answer| call(walk, answer).zip(Some(answer)));
    let Some((call, answer)) = asked else {
        return found.about(Code::VerifyDerivation, CHECK, record, "cause", "nobody has answered");
    };
    let chosen = answer.json().text("selected_option_id");
    let option = call.json().list("options").iter().find(|one| one.text("option_id") == chosen);
    let to = match option.and_then(|one| one.text("effect")) {
        Some("abort_scope") => "superseded",
        Some(_) | None => "dirty",
    };
    let is_ended = cause != "HardCallResolutionReceipt";
    let outcome = format!("outcome_record:{}", json.text("outcome_id").unwrap_or_default());
    let is_blocked = call.json().texts("pending_policy.blocked_refs").contains(&outcome.as_str());
    // What ends an outcome for another reason than an answer is held to the contract.
    if is_ended && to == "dirty" {
        return;
    }
    found.must_say(CHECK, record, "to_state", to);
    let is_word = to == "dirty" && is_dispute(call) && matches!(chosen, Some("accept" | "revise"));
    if is_word
        && walk.case.last("HumanFeedbackEvent", record.seq()).is_none_or(|one| one.seq() < answer.seq())
    {
        let message = "what the person wants of the version is not kept";
        found.about(Code::VerifyIncomplete, Check::Completeness, answer, "selected_option_id", message);
    }
    found.holds(CHECK, record, "outcome_id", is_blocked, "it did not wait for this answer");
}

/// An outcome is looked at again because the work, a source or what it rests on is another one now, or because nothing will mend it.
fn reopened(walk: &Walk<'_, '_>, record: Record<'_>, from: &str, found: &mut Found) {
    let own = record.json().text("outcome_id").unwrap_or_default();
    let detection = walk.case.last("SufficiencyDetectionResult", record.seq());
    let detection =
        detection.filter(|one| one.json().is("outcome_id", own) && walk.at(*one) == walk.at(record));
    if let Some(detection) = detection {
        revise::all_given_up(walk, detection, record.seq(), found);
    }
    let cause = match from {
        "needs_revision" | "regressed" if detection.is_some() => "nothing that may be tried will do",
        "needs_revision" | "regressed" => "revision step done",
        "upstream_failure" => "upstream re-run",
        _other => "artifact/source/upstream changed",
    };
    // A source that somebody changed opens what falls short as well.
    let is_sourced = record.json().is("cause", "artifact/source/upstream changed")
        && walk
            .case
            .last("CommandInvocation", record.seq())
            .is_some_and(|one| walk.at(one) == walk.at(record));
    if !is_sourced {
        found.must_say(CHECK, record, "cause", cause);
    }
    found.must(CHECK, record, "result_id", None);
}

/// Whether somebody let an outcome be skipped.
fn is_skipped(walk: &Walk<'_, '_>, record: Record<'_>) -> bool {
    let outcome = format!("outcome_record:{}", record.json().text("outcome_id").unwrap_or_default());
    walk.case.until("TaskSkipReceipt", record.seq()).any(|one| one.json().is("target_ref", &outcome))
}

/// What is asked of sources: of a claim that nothing supports, or of an outcome that claims nothing.
const OF_CLAIM: &str = "Which source says what this sentence of the work says?";

/// A question to sources follows from a claim without support, or from an outcome about which nothing is claimed.
pub(crate) fn need<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    if let Some(before) = walk.case.before("ResearchNeed", record.id(), record.seq()) {
        return need_again(walk, record, before, found);
    }
    found.must_say(CHECK, record, "workspace_id", &walk.case.own("workspace"));
    found.must_say(CHECK, record, "status", "open");
    if let Some((outcome, artifact)) = revise::uninformed(walk, record) {
        let scope = Object::from([
            ("artifact_stable_id", Json::from(walk.case.own(artifact.id()))),
            ("anchor", "whole".into()),
        ]);
        found.must_say(CHECK, record, "question", outcome.ask(artifact));
        return found.must(CHECK, record, "target_refs", Some(Json::Array(Vec::from([scope.into()]))));
    }
    let Some(round) = &walk.round else { return };
    if round.scores.is_none() {
        return found.withheld(CHECK);
    }
    let targets = record.json().list("target_refs");
    let claims: Vec<&str> = round.wrongs.iter().flat_map(|one| one.unsupported()).collect();
    let is_of_claim = matches!(targets, [Json::String(text)] if claims.contains(&text.as_str()));
    let is_of_outcome = round.lacking().is_some_and(|(_, lacks)| lacks == Lacks::Information);
    let question = match (is_of_claim, is_of_outcome) {
        (true, _) => Some(OF_CLAIM),
        (false, true) => Some(round.outcome.ask(round.artifact)),
        (false, false) => None,
    };
    match question {
        Some(question) => found.must_say(CHECK, record, "question", question),
        None => found.about(
            Code::VerifyDerivation,
            CHECK,
            record,
            "target_refs",
            "nothing has to be asked of sources here",
        ),
    }
}

/// A need is written again where it has moved: as it stands now, with why, or with what answers it.
fn need_again<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, before: Record<'c>, found: &mut Found) {
    let (case, place) = (walk.case, record.seq());
    let mut expected = before.json().as_object().cloned().unwrap_or_default();
    let status = walk.says("research_need", record.id(), "status").unwrap_or_default().to_string();
    let own = format!("research_need:{}", record.id());
    let moves = case.until("LifecycleTransitionReceipt", place);
    let moved = moves.filter(|one| one.json().is("subject_ref", &own)).last();
    let why = moved.and_then(|one| one.json().at("reason").cloned()).unwrap_or(Json::Null);
    match status.as_str() {
        "human_needed" => drop(expected.insert("human_needed_reason", why)),
        "unresolved" => drop(expected.insert("unresolved_reason", why)),
        "answered" => {
            let done = case.until("SourceWorkspaceOperation", place);
            let done = done.filter(|one| one.json().is("precondition.target_record_ref", &own)).last();
            let by = done.and_then(|one| one.json().text("actor_ref"));
            let answer = match done.filter(|_| by != Some("module:drafter")) {
                Some(done) => done.json().at("payload_ref").cloned().unwrap_or(Json::Null),
                None => match claims::searched(walk, record.id(), record) {
                    Ok((_, _, answer)) => answer.map_or(Json::Null, Json::from),
                    Err(Ungathered::Withheld) => return found.withheld(CHECK),
                    Err(Ungathered::Missing(why)) => return walk.underivable(CHECK, record, why, found),
                },
            };
            expected.insert("answer_ref", answer);
        }
        _other => {}
    }
    expected.insert("status", status);
    let at = case.row(record).map_or(Json::Null, |row| Json::from(row.at.as_str()));
    expected.insert("updated_at", at);
    found.must_be(CHECK, record, &expected, &[]);
}
