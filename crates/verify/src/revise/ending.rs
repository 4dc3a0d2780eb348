//! Outcomes for which nothing that may be tried will do.
//! Owns: what the detection of that must be, given what triggered it, and where it sends an outcome. Must not: try anything.

use super::CHECK;
use super::attempt::{attempts, findings, outcome_of};
use crate::case::{Case, bare};
use crate::formula::{Gathered, Ungathered, missing};
use crate::found::Found;
use crate::report::Check;
use crate::task::{Artifact, Outcome};
use crate::walk::Walk;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_govern::derive::sufficiency::{Known, OnCycle, Trigger, route};
use countersign_govern::member::Member;
use countersign_govern::table::outcome::State;
use countersign_govern::types::wire::Wire;
use countersign_govern::world::Record;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};

/// The place from which on attempts count: a person let it be tried anew, or a question to the sources was answered.
fn since(case: &Case<'_>, outcome: Outcome<'_>, place: u64) -> u64 {
    let own = case.own(outcome.id());
    let is_detected = |call: Record<'_>| {
        let source = call
            .json()
            .text("source_ref")
            .and_then(|text| text.strip_prefix("sufficiency_detection_result:"));
        let detection = source.and_then(|id| case.before("SufficiencyDetectionResult", id, place));
        detection.is_some_and(|one| one.json().is("outcome_id", &own))
    };
    let lets_on = |answer: &Record<'_>| {
        let id = answer.json().text("hard_call_id").unwrap_or_default();
        let call = case.before("HardRevisionCall", id, place).filter(|one| is_detected(*one));
        let chosen = answer.json().text("selected_option_id");
        let option = call
            .and_then(|one| one.json().list("options").iter().find(|one| one.text("option_id") == chosen));
        option.is_some_and(|one| !one.is("effect", "abort_scope"))
    };
    let answered = case.until("HardCallResolutionReceipt", place).filter(lets_on);
    let is_by_a_person = |one: &Record<'_>| {
        let id = one.json().text("operation_id").unwrap_or_default();
        let operation = case.before("SourceWorkspaceOperation", id, place);
        operation.and_then(|one| one.json().text("actor_ref")).is_some_and(|by| by.starts_with("user:"))
    };
    let sourced = case.until("SourceWorkspaceOperationReceipt", place).filter(|one| {
        one.json().is("operation_kind", "answer_research_need")
            && one.json().is("status", "applied")
            && is_by_a_person(one)
    });
    answered.chain(sourced).map(Record::seq).max().unwrap_or(0)
}

fn triggers(detection: Record<'_>) -> Vec<Trigger> {
    detection.json().texts("triggered_by").into_iter().filter_map(Trigger::find).collect()
}

/// What is known besides what triggered it.
fn known(case: &Case<'_>, outcome: Outcome<'_>, is_unlockable: bool, place: u64) -> Known {
    let from = since(case, outcome, place);
    let tried = attempts(case, outcome, place).iter().filter(|one| one.seq() > from).count() as u64;
    let max = case.task.policy_number("sufficiency.attempts_max", "4");
    Known {
        policy_is_alterable: false,
        has_information_route: true,
        has_other_verifier: false,
        precondition_is_information: false,
        on_cycle: OnCycle::HardCall,
        has_variation_left: false,
        has_unlockable_candidate: is_unlockable,
        attempts: tried,
        attempts_max: match max {
            Json::Number(max) => max.as_u64().unwrap_or(0),
            Json::Null | Json::Bool(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => 0,
        },
    }
}

/// Whether a person could let one of the ways be taken.
fn is_unlockable(detection: Record<'_>) -> bool {
    let ways = detection.json().list("candidate_procedures");
    ways.iter().any(|one| one.is("inapplicable_reason", "unsafe_without_human"))
}

/// Where an outcome goes for which it was detected that nothing will do, and that nobody has looked at since.
pub(crate) fn ended(walk: &Walk<'_, '_>, outcome: Outcome<'_>, place: u64) -> Option<State> {
    let case = walk.case;
    let own = case.own(outcome.id());
    let looked = case.until("EvaluationResultEnvelope", place);
    let looked = looked.filter(|one| one.json().is("outcome_id", &own)).last().map_or(0, Record::seq);
    let detected = case.until("SufficiencyDetectionResult", place);
    let last = detected.filter(|one| one.json().is("outcome_id", &own)).last()?;
    let is_open = last.seq() > looked && last.json().flag("no_sufficient_procedure") == Some(true);
    let known = known(case, outcome, last.json().is("terminal_route", "needs_human_judgment"), place);
    let ending = route(&triggers(last), &known).filter(|_| is_open)?;
    State::find(ending.disposition.as_str())
}

/// The detection by which a finding stays as it is for good: nothing will mend the outcome of its criterion.
pub(crate) fn given_up(walk: &Walk<'_, '_>, event: Record<'_>, record: Record<'_>) -> Option<String> {
    let case = walk.case;
    let detection = case.last("SufficiencyDetectionResult", record.seq())?;
    let is_own = outcome_of(case, detection)?
        .criteria()
        .any(|one| event.json().is("target_criterion_id", &case.own(one.id())));
    let is_right = is_own && walk.at(detection) == walk.at(record) && is_for_good(detection);
    is_right.then(|| format!("sufficiency_detection_result:{}", detection.id()))
}

/// The outcome for which the sources are asked right before it is written down that nothing else will do.
pub(crate) fn uninformed<'c>(walk: &Walk<'c, '_>, record: Record<'_>) -> Option<(Outcome<'c>, Artifact<'c>)> {
    let case = walk.case;
    let coverage = case.last("CapabilityCoverageAssessment", record.seq())?;
    let outcome = outcome_of(case, coverage).filter(|_| coverage.seq() + 1 == record.seq())?;
    let detection = case.world.of("SufficiencyDetectionResult").find(|one| one.seq() > record.seq())?;
    let is_right = walk.at(detection) == walk.at(record)
        && detection.json().text("outcome_id") == coverage.json().text("outcome_id")
        && detection.json().is("terminal_route", "needs_information");
    case.task.artifact_of(outcome).filter(|_| is_right).map(|artifact| (outcome, artifact))
}

fn is_for_good(detection: Record<'_>) -> bool {
    detection.json().is("terminal_route", "unrecoverable")
}

/// Where nothing will mend an outcome, nothing that is wrong with it is left as if it could be mended.
pub(crate) fn all_given_up(walk: &Walk<'_, '_>, detection: Record<'_>, place: u64, found: &mut Found) {
    let Some(outcome) = outcome_of(walk.case, detection).filter(|_| is_for_good(detection)) else { return };
    for event in findings(walk, outcome, place) {
        let id = event.json().text("finding_id").unwrap_or_default();
        match walk.says("evaluation_finding_record", id, "current_state") {
            Some("active") => {
                let message = "nothing will mend it, and that is not said of the finding";
                found.about(Code::VerifyIncomplete, Check::Completeness, event, "", message);
            }
            Some(_) | None => found.right(Check::Completeness),
        }
    }
}

/// What a detection is derived from.
pub(crate) fn detection_inputs(
    walk: &Walk<'_, '_>,
    id: &str,
    receipt: Record<'_>,
) -> Result<Gathered, Ungathered> {
    let case = walk.case;
    let Some(detection) = case.world.versions("SufficiencyDetectionResult", id).next() else {
        return missing("there is no such detection");
    };
    let Some(outcome) = outcome_of(case, detection) else { return missing("the task has no such outcome") };
    let known = known(case, outcome, is_unlockable(detection), receipt.seq());
    let besides = Object::from([
        ("has_information_route", Json::from(known.has_information_route)),
        ("has_other_verifier", known.has_other_verifier.into()),
        ("has_variation_left", known.has_variation_left.into()),
        ("has_unlockable_candidate", known.has_unlockable_candidate.into()),
        ("on_cycle_detected", known.on_cycle.as_str().into()),
        ("attempts", known.attempts.write().unwrap_or(Json::Null)),
        ("max_total_attempts", known.attempts_max.write().unwrap_or(Json::Null)),
    ]);
    let inputs = Object::from([
        ("triggered_by", detection.json().at("triggered_by").cloned().unwrap_or(Json::Null)),
        ("known", besides.into()),
    ]);
    let coverage = case.last("CapabilityCoverageAssessment", receipt.seq()).map(|one| one.id());
    let input_refs = Vec::from([
        format!("capability_coverage_assessment:{}", coverage.unwrap_or_default()),
        format!("outcome_record:{}", case.own(outcome.id())),
        format!("sufficiency_detection_policy:{}", case.own("policy.sufficiency")),
    ]);
    Ok(Gathered { inputs, input_refs })
}

/// What the receipts of a detection show, in their order.
pub(crate) fn shown_of_detection(walk: &Walk<'_, '_>, receipt: Record<'_>) -> &'static str {
    let output = receipt.json().text("output_ref").unwrap_or_default();
    let before = walk.case.until("FormulaEvaluationReceipt", receipt.seq());
    match before.filter(|one| one.json().is("output_ref", output)).count() {
        0 => "no_sufficient_procedure",
        1 => "hard_call_required",
        _last => "terminal_route",
    }
}

/// A detection says what follows from what triggered it.
pub(crate) fn detected<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let case = walk.case;
    let Some(outcome) = outcome_of(case, record) else {
        return walk.underivable(CHECK, record, "the task has no such outcome", found);
    };
    let Some(ending) = route(&triggers(record), &known(case, outcome, is_unlockable(record), record.seq()))
    else {
        return walk.underivable(CHECK, record, "what triggered it leads nowhere", found);
    };
    let question = ending.question.map(|kind| Json::from(kind.as_str()));
    found.must(CHECK, record, "no_sufficient_procedure", Some(true.into()));
    found.must_say(CHECK, record, "rationale", ending.by.why());
    found.must_say(CHECK, record, "terminal_route", ending.route.as_str());
    found.must(CHECK, record, "hard_call_required", Some(question.is_some().into()));
    found.must(CHECK, record, "hard_call_kind", question);
    let policy = format!("sufficiency_detection_policy:{}", case.own("policy.sufficiency"));
    found.must_say(CHECK, record, "policy_ref", &policy);
    let coverage = case.last("CapabilityCoverageAssessment", record.seq());
    let coverage = coverage.map(|one| format!("capability_coverage_assessment:{}", bare(one.id())));
    found.must(CHECK, record, "coverage_assessment_ref", coverage.map(Json::from));
    let tried: Vec<Json> =
        attempts(case, outcome, record.seq()).iter().map(|one| one.json().clone()).collect();
    let scores = tried.iter().flat_map(|one| [one.at("score_before"), one.at("score_after")]).flatten();
    let best = scores.reduce(|best, one| if one.number("value") > best.number("value") { one } else { best });
    found.must(CHECK, record, "best_score_seen", best.cloned());
    found.must(CHECK, record, "attempts", Some(Json::Array(tried.clone())));
    let at = case.row(record).map(|row| Json::from(row.at.as_str()));
    found.must(CHECK, record, "evaluated_at", at);
}

/// Sources are to be verified for the outcome of which it was just found that it rests on them.
pub(crate) fn to_be_verified<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let detection = walk.case.last("SufficiencyDetectionResult", record.seq());
    let is_so = |one: &Record<'_>| one.json().texts("triggered_by").contains(&"verification_unresolvable");
    let outcome = detection.filter(is_so).and_then(|one| one.json().at("outcome_id").cloned());
    found.must(CHECK, record, "outcome_id", outcome);
    let capability = Object::from([("capability_id", Json::from("verify_source"))]);
    found.must(CHECK, record, "verifier_capability_ref", Some(capability.into()));
}

/// What nobody here can do is signalled for the outcome of which that was just found: all that it lacks.
pub(crate) fn gap<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let detection = walk.case.last("SufficiencyDetectionResult", record.seq());
    let is_so = |one: &Record<'_>| {
        one.json().is("terminal_route", "process_gap_out") && walk.at(*one) == walk.at(record)
    };
    let Some(detection) = detection.filter(is_so) else {
        return walk.underivable(CHECK, record, "nobody found that anything is lacking", found);
    };
    found.must(CHECK, record, "outcome_id", detection.json().at("outcome_id").cloned());
    let own = detection.json().text("outcome_id");
    let coverage = walk.case.until("CapabilityCoverageAssessment", detection.seq());
    let coverage = coverage.filter(|one| one.json().text("outcome_id") == own).last();
    let gaps = coverage.map(|one| one.json().list("gaps")).unwrap_or_default();
    let lacking = gaps.iter().filter_map(|one| one.at("required_capability_ref").cloned()).collect();
    found.must(CHECK, record, "missing_capability_refs", Some(Json::Array(lacking)));
    found.must(CHECK, record, "proposed_graph_patch_ref", None);
    let mut signals = walk.case.until("TaskProcessGapSignal", record.seq());
    let is_first = !signals.any(|one| one.seq() > detection.seq());
    found.holds(CHECK, record, "", is_first, "it was signalled before");
}
