//! What the chain of an evaluator and a judge comes to, and where the outcome goes.
//! Owns: these derivations. Must not: say what one of the two must.

use super::{Round, person};
use crate::case::bare;
use crate::finding;
use crate::formula::{Gathered, Ungathered, missing};
use crate::found::Found;
use crate::question;
use crate::report::Check;
use crate::task::Outcome;
use crate::walk::Walk;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::machine::OUTCOME;
use countersign_govern::member::Member;
use countersign_govern::table::outcome::{State, entry};
use countersign_govern::world::Record;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};

/// What a chain is resolved from: what the two said, the findings that block, the policy.
pub(crate) fn resolution_inputs(walk: &Walk<'_, '_>, at: Record<'_>) -> Result<Gathered, Ungathered> {
    let Some(round) = &walk.round else { return missing("it belongs to no look at an outcome") };
    if round.evaluator.is_none() || round.judge.is_none() || round.person.is_some() != round.decided.is_some()
    {
        return missing("somebody who must has not spoken");
    }
    let policy_id = walk.case.own("policy.chain");
    let Some(policy) = walk.case.before("EvaluationChainResolutionPolicy", &policy_id, at.seq()) else {
        return missing("there is no policy of chains");
    };
    let result = |record: Record<'_>, role: &str| -> Json {
        Object::from([
            ("result_id", Json::from(record.id())),
            ("role", role.into()),
            (
                "verdict",
                crate::formula::member(record.json().get("decision").unwrap_or(&Json::Null), "verdict"),
            ),
            (
                "indeterminate_causes",
                Json::Array(record.json().list("decision.indeterminate_causes").to_vec()),
            ),
            ("other_snapshot", false.into()),
            ("live_blocker_states", crate::found::texts(&finding::blockers(walk, record.id()))),
        ])
        .into()
    };
    let roles = person::roles(round.person);
    let results = round.voices().zip(&roles).map(|(voice, (.., role))| result(voice, role)).collect();
    let inputs = Object::from([
        ("results", Json::Array(results)),
        ("policy", policy.json().clone()),
        ("timed_out", false.into()),
        ("missing", "nobody".into()),
    ]);
    let mut input_refs: Vec<String> =
        round.voices().map(|one| format!("evaluation_result_envelope:{}", one.id())).collect();
    input_refs.push(format!("evaluation_chain_resolution_policy:{policy_id}"));
    Ok(Gathered { inputs, input_refs })
}

/// What a chain came to is what the formula makes of the two.
pub(crate) fn resolution<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let check = Check::Chains;
    let gathered = match resolution_inputs(walk, record) {
        Ok(gathered) => gathered,
        Err(Ungathered::Withheld) => return found.withheld(check),
        Err(Ungathered::Missing(why)) => return walk.underivable(check, record, why, found),
    };
    let value = walk.formulas.value("pattern_c_resolution_v1", &gathered.inputs).unwrap_or(Json::Null);
    let Some(round) = &mut walk.round else { return };
    for name in ["resolved_verdict", "resolved_route"] {
        found.must(check, record, name, value.at(name).cloned());
    }
    for name in ["qualitative_blockers_preserved", "quantitative_pass_overridden_by_blocker"] {
        found.must(check, record, name, Some(value.flag(name).unwrap_or(false).into()));
    }
    found.must(check, record, "conflict_type", value.at("conflict_type").cloned());
    let decisive = value.at("decisive_result_id").filter(|one| **one != Json::Null);
    found.must(check, record, "decisive_result_id", decisive.cloned());
    let ids: Vec<String> = round.voices().map(|one| one.id().to_string()).collect();
    found.must_list(check, record, "result_ids_considered", &ids);
    found.must_say(check, record, "chain_id", round.chain.id());
    found.must_say(check, record, "chain_kind", "pattern_c_evaluator_then_judge");
    found.must_say(check, record, "policy_ref", &walk.case.own("policy.chain"));
    found.must_say(check, record, "explanation", "put together under the policy of the run");
    round.resolution = Some(record);
}

/// An outcome moves from where it stands to where its look, what it depends on or an answer sends it.
pub(crate) fn outcome_moved<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let check = Check::Outcomes;
    let json = record.json();
    let id = json.text("outcome_id").unwrap_or_default();
    let from = walk.says("outcome_record", id, "state").map(String::from);
    found.must(check, record, "from_state", from.map(Json::from));
    let Some(outcome) = walk.case.task.outcome(walk.case.local(id)) else {
        return found.about(
            Code::VerifyDerivation,
            check,
            record,
            "outcome_id",
            "the task has no such outcome",
        );
    };
    let (is_clear, is_lost) = upstream(walk, outcome);
    let must_be = |found: &mut Found, cause: &str, is_right: bool| {
        found.must_say(check, record, "cause", cause);
        found.must(check, record, "result_id", None);
        found.holds(check, record, "to_state", is_right, "what it depends on says otherwise");
    };
    let to = json.text("to_state").unwrap_or_default();
    found.holds(
        check,
        record,
        "to_state",
        walk.says("outcome_record", id, "state").is_some_and(|from| OUTCOME.allows(from, to)),
        "it can't go there from where it stands",
    );
    if walk.round.as_ref().is_some_and(|round| round.is_owed(walk.case, id)) {
        return settled(walk, record, found);
    }
    match State::find(to) {
        Some(State::Evaluating) => must_be(found, "evaluation started", is_clear),
        Some(State::PendingDependency) => must_be(found, "dependency not settled", !is_clear && !is_lost),
        Some(State::UpstreamFailure) => must_be(found, "upstream terminal failure", is_lost),
        Some(State::Pending | State::Dirty | State::Superseded) | None => {
            question::moved(walk, record, found)
        }
        Some(
            State::Satisfied
            | State::NeedsRevision
            | State::NeedsInformation
            | State::NeedsVerification
            | State::NeedsHumanJudgment
            | State::UnableToEvaluate
            | State::BlockedByPolicy
            | State::Regressed
            | State::Unrecoverable
            | State::MaxIterationsReached,
        ) => settled(walk, record, found),
    }
}

/// Whether everything that an outcome depends on is settled, and whether something of it can't be any more.
fn upstream(walk: &Walk<'_, '_>, outcome: Outcome<'_>) -> (bool, bool) {
    let upstream: Vec<Option<State>> = outcome
        .depends_on()
        .iter()
        .map(|other| walk.says("outcome_record", &walk.case.own(other), "state").and_then(State::find))
        .collect();
    let is_settled = |state: &Option<State>| {
        let verdict = state.and_then(|state| entry(state).verdict);
        verdict.is_some_and(|verdict| matches!(verdict.as_str(), "passed" | "not_applicable"))
    };
    let has_failed =
        |state: &Option<State>| state.is_some_and(|state| entry(state).is_terminal) && !is_settled(state);
    (upstream.iter().all(is_settled), upstream.iter().any(has_failed))
}

/// An outcome moves to where its chain sends it.
fn settled<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let check = Check::Outcomes;
    let own = walk.round.as_ref().filter(|round| {
        record.json().text("outcome_id") == Some(walk.case.own(round.outcome.id()).as_str())
            && !round.is_settled
    });
    let Some((resolution, round)) = own.and_then(|round| round.resolution.zip(Some(round))) else {
        return found.about(
            Code::VerifyDerivation,
            check,
            record,
            "cause",
            "no look at the outcome was resolved",
        );
    };
    let verdict = resolution.json().text("resolved_verdict").unwrap_or_default();
    let decisive = decisive(round, verdict);
    // Where the two see it differently, none of them decides: a person does.
    let to = match decisive {
        Some(one) => one.json().text("decision.disposition").unwrap_or_default(),
        None => "needs_human_judgment",
    };
    found.must_say(check, record, "to_state", to);
    found.must_say(check, record, "cause", "envelope emitted");
    found.must(check, record, "result_id", decisive.map(|one| bare(one.id()).into()));
    if let Some(round) = &mut walk.round {
        round.is_settled = true;
    }
}

/// The voice that decides: the first that says what they came to; the evaluator's, where nothing will do.
fn decisive<'c>(round: &Round<'c>, verdict: &str) -> Option<Record<'c>> {
    match round.ended {
        Some(_) => round.evaluator,
        None => who_says(round, verdict),
    }
}

/// Who says what they came to: the person, else the first of the two.
fn who_says<'c>(round: &Round<'c>, verdict: &str) -> Option<Record<'c>> {
    let mut all = round.decided.into_iter().chain(round.evaluator).chain(round.judge);
    all.find(|one| one.json().is("decision.verdict", verdict))
}
