//! Validation codes: sufficiency.
//! Owns: the rules of this area. Must not: decide by names.

mod choice;
mod retry;
mod route;

use super::hard_calls::{named, named_at};
use super::{Area, Found, Rule, Severity};
use crate::derive::sufficiency::Trigger;
use crate::member::Member;
use crate::path::Path;
use crate::world::{Record, World};
use alloc::collections::BTreeMap;
use alloc::format;
use choice::hard_call_raised_when_no_human_choice_available;
use countersign_record::json::Json;
use retry::sufficiency_retry_after_terminal_detection;
use route::insufficiency_marker_not_mapped_to_outcome_state;

pub(super) const AREA: Area = Area { name: "sufficiency", rules: RULES, kinds: &[] };

const RULES: &[Rule] = &[
    Rule {
        code: "sufficiency_protocol_without_detection",
        severity: Severity::Error,
        section: "B-24",
        fires: "An outcome is ended for insufficiency (disposition unable_to_evaluate, unrecoverable or max_iterations_reached, a hard call of kind no_sufficient_procedure, or a TaskProcessGapSignal) and no SufficiencyDetectionResult for that outcome_id and run_id exists at an earlier seq.",
        legal: "needs_revision on a first failed evaluation, which requires no detection.",
        why: "An outcome was given up and nothing shows that the ways to save it were looked at. The signer can't tell a dead end from a shortcut.",
        fix: "Write a SufficiencyDetectionResult for the outcome and run before it is ended.",
        check: sufficiency_protocol_without_detection,
    },
    Rule {
        code: "no_improvement_without_metric",
        severity: Severity::Error,
        section: "B-24",
        fires: "A SufficiencyDetectionResult is triggered by max_attempts_without_material_score_improvement while its policy's improvement_metric_ref is empty or names no FormulaSpec, or an attempt in the no_improvement_window lacks score_before/score_after.",
        legal: "Another trigger (e.g. no_capability_covers_outcome) with attempts that have no scores.",
        why: "That it got no better is a claim about numbers. Without a registered metric and scores before and after, it is an opinion.",
        fix: "Name a registered FormulaSpec in the policy's improvement_metric_ref, and record both scores of each attempt in the window.",
        check: no_improvement_without_metric,
    },
    Rule {
        code: "no_improvement_without_epsilon",
        severity: Severity::Error,
        section: "B-24",
        fires: "The same trigger is used while SufficiencyDetectionPolicy.epsilon is absent, non-finite or not in (0, 1].",
        legal: "epsilon = 0.03 (the default) given explicitly.",
        why: "Without a least step that counts, any change can be called none, and work can be stopped at will.",
        fix: "Set epsilon in the policy above 0 and up to 1; 0.03 is the default.",
        check: no_improvement_without_epsilon,
    },
    Rule {
        code: "procedure_exhaustion_without_candidate_universe",
        severity: Severity::Error,
        section: "B-24",
        fires: "A SufficiencyDetectionResult is triggered by all_policy_allowed_procedures_exhausted while candidate_procedures is empty, or some candidate with policy_allowed = true is neither exhausted nor given an inapplicable_reason.",
        legal: "Every policy-allowed candidate is exhausted and the policy-blocked ones carry inapplicable_reason policy_blocked.",
        why: "Everything was tried only means something if it is known what everything was.",
        fix: "List all candidate procedures; each that policy allows must be exhausted or say why it does not apply.",
        check: procedure_exhaustion_without_candidate_universe,
    },
    Rule {
        code: "hard_call_raised_when_no_human_choice_available",
        severity: Severity::Error,
        section: "B-24",
        fires: "A SufficiencyDetectionResult has hard_call_required = true (or a HardRevisionCall cites it) although a person cannot change the result: terminal_route is unrecoverable, unable_to_evaluate or process_gap_out, is needs_information/needs_verification with a research, user-information or verification route still open, or is blocked_by_policy under a policy the user cannot alter.",
        legal: "terminal_route needs_human_judgment, or blocked_by_policy under a user-alterable policy boundary.",
        why: "A person is asked who can't change anything. That costs attention and makes it look as if a person had decided what was settled.",
        fix: "Take the route without a hard call; ask only where the answer can change the result.",
        check: hard_call_raised_when_no_human_choice_available,
    },
    Rule {
        code: "sufficiency_retry_after_terminal_detection",
        severity: Severity::Error,
        section: "B-24",
        fires: "A ProcedureAttemptRecord or plan dispatch for the same outcome_id and run_id appears after a SufficiencyDetectionResult with no_sufficient_procedure = true, with no unlocking event in between (HardCallResolutionReceipt, answered ResearchNeed, changed capability or policy snapshot, user edit of the contract).",
        legal: "A new attempt after the blocking ResearchNeed became answered.",
        why: "It was established that no procedure can do it, and nothing changed since. Another try is spent for nothing, or hopes that a failure goes away unseen.",
        fix: "Wait for what unlocks it: an answered hard call or research need, a changed capability or policy, an edited contract.",
        check: sufficiency_retry_after_terminal_detection,
    },
    Rule {
        code: "insufficiency_marker_not_mapped_to_outcome_state",
        severity: Severity::Error,
        section: "B-24",
        fires: "A SufficiencyDetectionResult has no_sufficient_procedure = true and the outcome's next emitted disposition or its companion record is missing or is not what its terminal_route maps to (needs_information + ResearchNeed, needs_verification + VerificationRequestStep, blocked_by_policy + policy ref, process_gap_out -> unable_to_evaluate + TaskProcessGapSignal, needs_human_judgment + HardRevisionCall, unrecoverable -> unrecoverable or max_iterations_reached).",
        legal: "A detection with no_sufficient_procedure = false, after which the revision simply goes on.",
        why: "The detector says one thing and the outcome another, or what the route calls for was never asked. The reader of the outcome is told the wrong reason.",
        fix: "Emit the disposition that the route maps to, with its record: a ResearchNeed, a VerificationRequestStep, the policy decision, a TaskProcessGapSignal or a HardRevisionCall.",
        check: insufficiency_marker_not_mapped_to_outcome_state,
    },
];

/// An outcome in a run.
type Place<'w> = (&'w str, &'w str);

fn place(record: Record<'_>) -> Option<Place<'_>> {
    let json = record.json();
    Some((json.id_at("outcome_id")?, json.text("run_id")?))
}

/// Dispositions that give an outcome up.
const GIVEN_UP: [&str; 3] = ["unable_to_evaluate", "unrecoverable", "max_iterations_reached"];

fn sufficiency_protocol_without_detection(world: &World, found: &mut Found<'_>) {
    let mut of_place: BTreeMap<Place<'_>, u64> = BTreeMap::new();
    let mut of_run: BTreeMap<&str, u64> = BTreeMap::new();
    for detection in world.of("SufficiencyDetectionResult") {
        if let Some((outcome, run)) = place(detection) {
            of_place.entry((outcome, run)).or_insert(detection.seq());
            of_run.entry(run).or_insert(detection.seq());
        }
    }
    let first = of_run.values().min();
    let is_after = |record: Record<'_>, at: Option<&u64>| at.is_some_and(|at| *at < record.seq());
    let endings = [
        ("EvaluationResultEnvelope", "decision.disposition"),
        ("OutcomeStateTransitionEvent", "to_state"),
        ("TaskProcessGapSignal", ""),
    ];
    for (kind, path) in endings {
        for record in world.of(kind).filter(|one| path.is_empty() || one.is_one_of(path, &GIVEN_UP)) {
            if place(record).is_some_and(|place| !is_after(record, of_place.get(&place))) {
                found.add(record, path, "the outcome is given up and no detection stands before");
            }
        }
    }
    for call in world.of("HardRevisionCall").filter(|one| one.is("hard_call_kind", "no_sufficient_procedure"))
    {
        let source = call.follow("source_ref").filter(|one| one.kind() == "SufficiencyDetectionResult");
        let run = call.json().text("run_id");
        let outcome = call.json().reference("source_ref").filter(|one| one.kind == "outcome_record");
        let is_detected = match (source, outcome, run) {
            (Some(source), _, _) => source.seq() < call.seq(),
            (None, Some(outcome), Some(run)) => is_after(call, of_place.get(&(outcome.id, run))),
            (None, None, Some(run)) => is_after(call, of_run.get(run)),
            (None, Some(_) | None, None) => is_after(call, first),
        };
        if !is_detected {
            found.add(
                call,
                "hard_call_kind",
                "says that no procedure is left and no detection stands before",
            );
        }
    }
}

/// The detections that a trigger fired.
fn triggered(world: &World, trigger: Trigger) -> impl Iterator<Item = Record<'_>> {
    let is_fired = move |record: &Record<'_>| record.texts("triggered_by").contains(&trigger.as_str());
    world.of("SufficiencyDetectionResult").filter(is_fired)
}

fn policy_of(detection: Record<'_>) -> Option<Record<'_>> {
    let named = detection.json().text("policy_ref")?;
    named_at(detection.world, "SufficiencyDetectionPolicy", named, detection.seq())
}

/// The attempts that are looked at where the policy does not say how many.
const WINDOW: usize = 2;

fn no_improvement_without_metric(world: &World, found: &mut Found<'_>) {
    for detection in triggered(world, Trigger::MaxAttemptsWithoutMaterialScoreImprovement) {
        let Some(policy) = policy_of(detection) else {
            found.add(detection, "policy_ref", "no policy says by what improvement is measured");
            continue;
        };
        let metric = policy.text("improvement_metric_ref");
        if metric.and_then(|metric| named(world, "FormulaSpec", metric)).is_none() {
            found.add(policy, "improvement_metric_ref", "names no registered formula");
        }
        let window = policy.count("no_improvement_window").map(usize::try_from);
        let window = window.map_or(WINDOW, |window| window.unwrap_or(usize::MAX));
        let attempts = detection.list("attempts").iter().enumerate();
        let is_unscored = |attempt: &Json| {
            ["score_before", "score_after"]
                .iter()
                .any(|path| attempt.number(&format!("{path}.value")).is_none())
        };
        for (at, attempt) in attempts.rev().take(window) {
            if is_unscored(attempt) {
                found.add(
                    detection,
                    Path::from("attempts").item(at),
                    "is in the window and has no two scores",
                );
            }
        }
    }
}

fn no_improvement_without_epsilon(world: &World, found: &mut Found<'_>) {
    for detection in triggered(world, Trigger::MaxAttemptsWithoutMaterialScoreImprovement) {
        let Some(policy) = policy_of(detection) else { continue };
        if !policy.number("epsilon").is_some_and(|epsilon| epsilon > 0.0 && epsilon <= 1.0) {
            found.add(policy, "epsilon", "must be above 0 and at most 1");
        }
    }
}

fn procedure_exhaustion_without_candidate_universe(world: &World, found: &mut Found<'_>) {
    for detection in triggered(world, Trigger::AllPolicyAllowedProceduresExhausted) {
        let candidates = detection.list("candidate_procedures");
        if candidates.is_empty() {
            found.add(detection, "candidate_procedures", "all are exhausted, and none is listed");
        }
        let is_left = |candidate: &Json| {
            candidate.flag("policy_allowed") == Some(true)
                && candidate.flag("exhausted") != Some(true)
                && candidate.is_blank("inapplicable_reason")
        };
        for (at, _) in candidates.iter().enumerate().filter(|(_, candidate)| is_left(candidate)) {
            let path = Path::from("candidate_procedures").item(at).then("exhausted");
            found.add(
                detection,
                path,
                "is allowed and not exhausted, and nothing says why it does not apply",
            );
        }
    }
}

#[cfg(test)]
#[path = "sufficiency_tests.rs"]
mod tests;
