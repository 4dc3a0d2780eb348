//! What evaluator and judge must say.
//! Owns: these derivations. Must not: put the two together.

use super::{Round, person};
use crate::finding;
use crate::found::Found;
use crate::quality;
use crate::report::Check;
use crate::score::Lacks;
use crate::walk::Walk;
use crate::workspace;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_govern::table::outcome::{State, entry};
use countersign_govern::types::outcome::EvaluationLimitationKind as Limitation;
use countersign_govern::world::Record;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};

/// What one of the two must say.
struct Says {
    verdict: &'static str,
    state: &'static str,
    causes: Vec<&'static str>,
    limitations: Vec<&'static str>,
    passed: Vec<String>,
}

/// What the evaluator must say: whether something that must be there is wrong or lacking.
fn evaluator_says(walk: &Walk<'_, '_>, round: &Round<'_>) -> Says {
    let is_bad = round.wrongs.iter().any(|one| matches!(one.severity, "high" | "blocking"));
    let first = round.lacks.first().map(|(_, lacks)| *lacks);
    let ended = round.ended.map(entry);
    let of_lacks = || first.map(Lacks::cause).into_iter().collect();
    let (verdict, state, causes) = match (ended.and_then(|row| row.verdict.zip(Some(row))), is_bad, first) {
        (Some((verdict, row)), ..) => {
            let cause = row.causes.first().map(|cause| cause.as_str());
            (verdict.as_str(), row.state.as_str(), cause.into_iter().collect())
        }
        (None, true, _) => ("failed", short(walk, round), Vec::new()),
        (None, false, Some(lacks)) => ("indeterminate", lacks.state(), of_lacks()),
        (None, false, None) => ("passed", "satisfied", Vec::new()),
    };
    let limits = round.lacks.iter().map(|(_, lacks)| lacks.limitation());
    let limits = limits.chain(round.left.iter().copied());
    let limits: BTreeSet<&str> = limits.chain(round.ended.and_then(limited)).collect();
    let order = Limitation::ALL.iter().map(|one| one.as_str());
    let limitations = order.filter(|one| limits.contains(one)).collect();
    Says { verdict, state, causes, limitations, passed: round.passed_criteria.clone() }
}

/// Where an outcome stands that falls short: worse than before, if it was met before.
pub(super) fn short(walk: &Walk<'_, '_>, round: &Round<'_>) -> &'static str {
    let own = walk.case.own(round.outcome.id());
    let was_met = walk
        .case
        .until("OutcomeStateTransitionEvent", round.chain.seq())
        .any(|one| one.json().is("to_state", "satisfied") && one.json().is("outcome_id", &own));
    if was_met { "regressed" } else { "needs_revision" }
}

/// What limits an outcome that nothing will mend.
fn limited(state: State) -> Option<&'static str> {
    match state {
        State::NeedsInformation => Some("insufficient_evidence"),
        State::NeedsVerification => Some("stale_evidence"),
        State::NeedsHumanJudgment => Some("human_judgment_needed"),
        State::UnableToEvaluate => Some("missing_capability"),
        State::BlockedByPolicy => Some("policy_blocked"),
        State::Pending
        | State::PendingDependency
        | State::Evaluating
        | State::Dirty
        | State::Satisfied
        | State::NeedsRevision
        | State::Regressed
        | State::UpstreamFailure
        | State::Unrecoverable
        | State::Superseded
        | State::MaxIterationsReached => None,
    }
}

/// What the judge must say: whether the index is enough.
fn judge_says(walk: &Walk<'_, '_>, round: &Round<'_>) -> Says {
    let (verdict, state) = match round.passed.as_deref() {
        Some("passed") => ("passed", "satisfied"),
        Some("failed_threshold" | "failed_required_gate") => ("failed", short(walk, round)),
        Some(_) | None => ("indeterminate", "needs_information"),
    };
    let is_open = verdict == "indeterminate";
    let valued = round.valued().filter_map(|at| round.criteria.get(at)).map(|one| walk.case.own(one.id()));
    Says {
        verdict,
        state,
        causes: if is_open { Vec::from(["missing_information"]) } else { Vec::new() },
        limitations: if is_open { Vec::from(["insufficient_evidence"]) } else { Vec::new() },
        passed: if verdict == "passed" { valued.collect() } else { Vec::new() },
    }
}

/// What an evaluator or a judge says is what follows from the scores.
pub(crate) fn envelope<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let check = Check::Verdicts;
    let Some(round) = walk.round.take() else {
        return walk.underivable(check, record, "it belongs to no look at an outcome", found);
    };
    // Who speaks follows from who has spoken; that the record says so is checked with what it is about.
    let speaker = match (round.evaluator, round.judge) {
        (None, _) => Speaker::Evaluator,
        (Some(_), None) => Speaker::Judge,
        (Some(_), Some(_)) => Speaker::Person,
    };
    if speaker == Speaker::Judge {
        let message = "the look lacks the index of its scores";
        match quality::is_owed(&round) && round.passed.is_none() {
            true => found.about(Code::VerifyIncomplete, Check::Completeness, record, "", message),
            false => found.right(Check::Completeness),
        }
    }
    let round = speaks(walk, round, record, speaker, found);
    walk.round = Some(round);
}

/// Who says something in a look.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaker {
    Evaluator,
    Judge,
    Person,
}

impl Speaker {
    fn producer(self) -> &'static str {
        match self {
            Speaker::Evaluator => "outcome_evaluator",
            Speaker::Judge => "judge",
            Speaker::Person => "human_reviewer",
        }
    }
}

/// What somebody decides is what follows, and leads where that leads.
pub(super) fn decided(record: Record<'_>, decision: &Object, state: &str, found: &mut Found) {
    let check = Check::Verdicts;
    for (name, value) in decision.iter() {
        found.must(check, record, &format!("decision.{name}"), Some(value.clone()));
    }
    let row = State::find(state).map(entry);
    let branch = row.map(|row| row.branch.as_str().into());
    found.must(check, record, "route_recommendation.recommended_branch", branch);
    found.must(check, record, "route_recommendation.rationale", row.map(|row| row.label.into()));
    found.must_list(check, record, "route_recommendation.repair_instruction_refs", &[]);
}

fn speaks<'c>(
    walk: &Walk<'c, '_>,
    mut round: Round<'c>,
    record: Record<'c>,
    speaker: Speaker,
    found: &mut Found,
) -> Round<'c> {
    let check = Check::Verdicts;
    let says = match speaker {
        Speaker::Evaluator if round.scores.is_some() => Some(evaluator_says(walk, &round)),
        Speaker::Judge if round.scores.is_some() => Some(judge_says(walk, &round)),
        Speaker::Evaluator | Speaker::Judge => {
            found.withheld(check);
            None
        }
        Speaker::Person => {
            person::speaks(walk, &round, record, found);
            None
        }
    };
    if let Some(says) = says {
        let decision = Object::from([
            ("verdict", Json::from(says.verdict)),
            ("disposition", says.state.into()),
            ("substantive_verdict_status", "substantive_verdict_reached".into()),
            ("indeterminate_causes", crate::found::texts(&says.causes)),
            ("limitations", crate::found::texts(&says.limitations)),
            ("passed_criterion_ids", crate::found::texts(&says.passed)),
        ]);
        decided(record, &decision, says.state, found);
    }
    targets(walk, &round, record, speaker, found);
    match speaker {
        Speaker::Evaluator => {
            finding::begin(walk, &mut round);
            round.evaluator = Some(record);
        }
        Speaker::Judge => {
            finding::all_raised(walk, &round, record, found);
            round.judge = Some(record);
        }
        Speaker::Person => round.decided = Some(record),
    }
    round
}

/// What a result says that it is about, and rests on.
fn targets(walk: &Walk<'_, '_>, round: &Round<'_>, record: Record<'_>, speaker: Speaker, found: &mut Found) {
    let check = Check::Verdicts;
    let case = walk.case;
    let (artifact, version) = (format!("artifact:{}", case.own(round.artifact.id())), round.version_ref());
    found.must_say(check, record, "producer_kind", speaker.producer());
    found.must_say(check, record, "outcome_id", &case.own(round.outcome.id()));
    for (path, expected) in [
        ("target_artifact_ref", artifact.as_str()),
        ("target_artifact_version_ref", &version),
        ("target_evaluation_chain_id", round.chain.id()),
        ("evaluation_snapshot_ref", round.snapshot_ref()),
        ("evaluated_target.target_kind", "artifact"),
        ("evaluated_target.artifact_ref", &artifact),
        ("evaluated_target.artifact_version_ref", &version),
        ("evaluation_basis.snapshot_ref", round.snapshot_ref()),
        ("schema_version", "1.0"),
    ] {
        found.must_say(check, record, path, expected);
    }
    let criteria: Vec<String> =
        round.criteria.iter().map(|one| format!("criterion:{}", case.own(one.id()))).collect();
    found.must_list(check, record, "evaluation_basis.criteria_refs", &criteria);
    let read: Vec<String> = workspace::last_read(case, round.chain.seq()).into_iter().collect();
    found.must_list(check, record, "evaluation_basis.source_workspace_snapshot_refs", &read);
    if speaker == Speaker::Person {
        return;
    }
    let bases: BTreeSet<&str> = round.criteria.iter().map(|one| finding::basis(one.basis())).collect();
    let order = countersign_govern::types::basic::AssuranceBasis::ALL.iter().map(|one| one.as_str());
    let bases: Vec<String> = order.filter(|one| bases.contains(one)).map(String::from).collect();
    found.must_list(check, record, "evaluation_basis.basis_kinds", &bases);
    found.must_list(check, record, "evaluation_basis.human_feedback_refs", &[]);
}
