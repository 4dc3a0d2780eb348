//! Validation codes: outcome states.
//! Owns: the rules of this area. Must not: decide by names.

use super::{Area, Found, Rule, Severity};
use crate::derive::chain::FindingState;
use crate::member::Member;
use crate::table::outcome::{self, Cause, Class, State, Verdict};
use crate::world::{Record, Settings, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use countersign_record::json::Json;

pub(super) const AREA: Area = Area { name: "outcome_states", rules: RULES, kinds: &[] };

const RULES: &[Rule] = &[
    Rule {
        code: "runtime_state_emitted_to_envelope",
        severity: Severity::Error,
        section: "A-06/A-07",
        fires: "An EvaluationResultEnvelope decision carries a state in {pending, pending_dependency, evaluating, dirty}, or an OutcomeStateMatrixEntry with state_class runtime has emitted_to_envelope = true.",
        legal: "The outcome projection shows dirty while the last emitted envelope still says satisfied.",
        why: "An envelope is a result. One that says that something is still pending or dirty is none, and would be kept as one for good.",
        fix: "Emit the envelope only once there is a disposition; a state on the way stays in the outcome's projection.",
        check: runtime_state_emitted_to_envelope,
    },
    Rule {
        code: "disposition_without_verdict_mapping",
        severity: Severity::Error,
        section: "A-06/A-07",
        fires: "An OutcomeStateMatrixEntry with state_class disposition has no verdict_mapping, a disposition has no (or more than one) matrix entry, or an envelope's verdict differs from the mapping of its disposition. The built-in matrix counts where there is no row.",
        legal: "A runtime-state row (pending, evaluating, ...) without verdict_mapping.",
        why: "Disposition and verdict are read by different people. If nothing, or more than one thing, ties them together, the same result passes for one and fails for the other.",
        fix: "Give each disposition exactly one matrix entry with a verdict_mapping, and let envelopes carry that verdict.",
        check: disposition_without_verdict_mapping,
    },
    Rule {
        code: "indeterminate_without_cause",
        severity: Severity::Error,
        section: "A-06/A-07",
        fires: "An EvaluationResultEnvelope decision or EvaluationChainResolutionReceipt has verdict indeterminate and no IndeterminateCause (for the receipt: conflict_type none, no considered result with a cause and no contested blocker that leaves it to a person).",
        legal: "verdict not_applicable or passed with an empty cause list; or indeterminate with cause timeout.",
        why: "'We could not tell' is only worth something with the reason: it decides whether to wait, to look for sources or to ask somebody.",
        fix: "Name at least one IndeterminateCause, or the conflict that left the chain open.",
        check: indeterminate_without_cause,
    },
    Rule {
        code: "evaluation_decision_boolean_pass_legacy",
        severity: Severity::Error,
        section: "A-06/A-07",
        fires: "An evaluation decision, envelope or bundle carries a boolean pass/passed field instead of (or beside) an EvaluationVerdict.",
        legal: "BlockingAuthorityEvaluation.satisfied or QualityIndex.derived_pass_status, which are not the evaluation verdict.",
        why: "Yes or no has no room for 'could not tell' or 'does not apply': both would end up as a pass or a fail that nobody reached.",
        fix: "Drop the boolean and state the verdict.",
        check: evaluation_decision_boolean_pass_legacy,
    },
];

/// Members of a decision that say where an outcome stands.
const STANDING: [&str; 5] = [
    "decision.disposition",
    "decision.verdict",
    "decision.state",
    "decision.outcome_state",
    "decision.current_state",
];

fn is_runtime(word: &str) -> bool {
    State::find(word).is_some_and(|state| outcome::entry(state).class == Class::Runtime)
}

fn runtime_state_emitted_to_envelope(world: &World, found: &mut Found<'_>) {
    for envelope in world.of("EvaluationResultEnvelope") {
        for path in STANDING {
            if let Some(state) = envelope.text(path).filter(|word| is_runtime(word)) {
                found.add(envelope, path, format!("{state} is a state on the way, not a result"));
            }
        }
    }
    for entry in world.of("OutcomeStateMatrixEntry") {
        let is_on_the_way = entry.is("state_class", "runtime") || entry.text("state").is_some_and(is_runtime);
        if is_on_the_way && entry.flag("emitted_to_envelope") == Some(true) {
            found.add(entry, "emitted_to_envelope", "a state on the way is never told in an envelope");
        }
    }
}

fn disposition_without_verdict_mapping(world: &World, found: &mut Found<'_>) {
    let verdict_of = |entry: Record<'_>| entry.text("verdict_mapping").and_then(Verdict::find);
    let mut given: BTreeSet<&str> = BTreeSet::new();
    for entry in world.of("OutcomeStateMatrixEntry") {
        let Some(state) = entry.json().text("state") else { continue };
        if !entry.is("state_class", "disposition") {
            continue;
        }
        if verdict_of(entry).is_none() {
            found.add(entry, "verdict_mapping", format!("disposition {state} stands for no verdict"));
        }
        if !given.insert(state) {
            found.add(entry, "state", format!("disposition {state} has more than one matrix entry"));
        }
    }
    // The rows that are given stand in the place of those that are built in.
    let built_in: BTreeMap<&str, Option<Verdict>> =
        outcome::MATRIX.iter().map(|entry| (entry.state.as_str(), entry.verdict)).collect();
    let entries = Settings::of(world, "OutcomeStateMatrixEntry", |entry| entry.json().text("state"));
    for envelope in world.of("EvaluationResultEnvelope") {
        let Some(disposition) = envelope.json().text("decision.disposition") else { continue };
        let entry = entries.at(&disposition, envelope.seq());
        let verdict = entry.map(verdict_of).or_else(|| built_in.get(disposition).copied());
        match verdict.map(|verdict| verdict.map(Verdict::as_str)) {
            None => {
                let message = format!("disposition {disposition} has no matrix entry");
                found.add(envelope, "decision.disposition", message);
            }
            Some(Some(verdict)) if envelope.text("decision.verdict").is_some_and(|own| own != verdict) => {
                let message = format!("disposition {disposition} stands for {verdict}");
                found.add(envelope, "decision.verdict", message);
            }
            // A row without a mapping, or a state on the way, is told where it stands.
            Some(Some(_) | None) => {}
        }
    }
}

fn has_cause(envelope: &Json) -> bool {
    envelope.texts("decision.indeterminate_causes").into_iter().any(|word| Cause::find(word).is_some())
}

fn indeterminate_without_cause(world: &World, found: &mut Found<'_>) {
    let mut explained: BTreeSet<&str> = BTreeSet::new();
    for envelope in world.of("EvaluationResultEnvelope") {
        if has_cause(envelope.json()) {
            explained.extend(envelope.json().id_at("result_id"));
        } else if envelope.is("decision.verdict", "indeterminate") {
            found.add(envelope, "decision.indeterminate_causes", "does not say why it could not be told");
        }
    }
    let mut open =
        world.of("EvaluationChainResolutionReceipt").filter(|receipt| is_open(*receipt)).peekable();
    if open.peek().is_none() {
        return;
    }
    let findings = super::chains::Findings::of(world);
    for receipt in open {
        let considered = receipt.json().ids_at("result_ids_considered");
        let is_explained = considered.iter().any(|result| {
            let contested = || findings.blockers(result, receipt.seq()).contains(&FindingState::Contested);
            explained.contains(result) || contested()
        });
        if !is_explained {
            let message = "the chain came to no verdict, without a conflict and without a cause";
            found.add(receipt, "resolved_verdict", message);
        }
    }
}

/// Whether a receipt says that it could not be told, and names no conflict.
fn is_open(receipt: Record<'_>) -> bool {
    let conflict = receipt.text("conflict_type");
    receipt.is("resolved_verdict", "indeterminate") && conflict.is_none_or(|conflict| conflict == "none")
}

fn evaluation_decision_boolean_pass_legacy(world: &World, found: &mut Found<'_>) {
    for kind in ["EvaluationResultEnvelope", "EvaluationFeedbackBundle"] {
        for record in world.of(kind) {
            for path in
                ["pass", "passed", "is_passed", "decision.pass", "decision.passed", "decision.is_passed"]
            {
                if record.flag(path).is_some() {
                    found.add(record, path, "a boolean stands where a verdict belongs");
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "outcome_states_tests.rs"]
mod tests;
