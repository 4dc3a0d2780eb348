//! Validation codes: findings.
//! Owns: the rules of this area. Must not: decide by names.

use super::stood::Stood;
use super::{Area, Found, Rule, Severity, within};
use crate::derive::chain::FindingState;
use crate::fold::family::FINDING;
use crate::member::Member;
use crate::world::{Record, Settings, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::Json;

pub(super) const AREA: Area = Area { name: "findings", rules: RULES, kinds: &[] };

const RULES: &[Rule] = &[
    Rule {
        code: "finding_state_mutated_inside_immutable_envelope",
        severity: Severity::Error,
        section: "A-01/A-05",
        fires: "An EvaluationFindingEvent, EvaluationResultEnvelope or feedback bundle contains a finding state other than emitted_state in {proposed, active} (e.g. current_state/lifecycle_state/resolved), or the stored EvaluationFindingEvent differs from the bytes appended for that finding_event_id.",
        legal: "A finding becomes contested by a FindingLifecycleTransitionReceipt and EvaluationFindingRecord.current_state changes while the event stays byte-identical.",
        why: "A finding is evidence: who signs must see it as it was raised. If its event says how it stands today, nobody can tell any more what was known when.",
        fix: "Leave the event as it was appended and move the finding by a FindingLifecycleTransitionReceipt; its EvaluationFindingRecord then shows the state.",
        check: finding_state_mutated_inside_immutable_envelope,
    },
    Rule {
        code: "finding_current_projection_without_event",
        severity: Severity::Error,
        section: "A-01/A-05",
        fires: "An EvaluationFindingRecord has a canonical_event_ref that does not resolve to an EvaluationFindingEvent with the same finding_id, or no such event exists in the log.",
        legal: "Several EvaluationFindingEvents share one finding_id and canonical_event_ref names the latest of them.",
        why: "A finding on a list that nobody ever raised can be neither checked nor answered for.",
        fix: "Append the EvaluationFindingEvent, or let canonical_event_ref name the latest event with this finding_id.",
        check: finding_current_projection_without_event,
    },
    Rule {
        code: "blocking_finding_without_authority",
        severity: Severity::Error,
        section: "A-01/A-05",
        fires: "An EvaluationFindingEvent has severity blocking and blocking_authority.satisfied = false, or satisfied = true with an empty basis array.",
        legal: "severity high with blocking_authority.satisfied = false, or severity blocking with basis [deterministic_check] and satisfied = true.",
        why: "A blocker stops the work of others. One that says of itself that it may not block, or not why it may, stops it for no reason that could be given.",
        fix: "State the basis and derive satisfied from it, or lower the severity to high.",
        check: blocking_finding_without_authority,
    },
    Rule {
        code: "model_judgment_only_blocker_without_permission",
        severity: Severity::Error,
        section: "A-01/A-05",
        fires: "An EvaluationFindingEvent has severity blocking, every assurance_basis is model_judgment (or blocking_authority.basis is a subset of {subjective_blocking_allowed, rubric_criterion without anchor}), and subjective_blocking_permission = not_allowed.",
        legal: "The same model-only blocker with subjective_blocking_permission = allowed_by_outcome_definition, or one that also has a tool_verification basis.",
        why: "Here nothing but a model's opinion stops the work, and nobody has allowed that an opinion does.",
        fix: "Let the outcome definition, the user or a reviewer permit subjective blocking, add a basis that can be checked, or lower the severity.",
        check: model_judgment_only_blocker_without_permission,
    },
    Rule {
        code: "feedback_finding_view_authority_drift",
        severity: Severity::Error,
        section: "A-01/A-05",
        fires: "A FeedbackFindingView has blocking_authority_satisfied or blocking_authority_basis (as a set) different from blocking_authority of the EvaluationFindingEvent in source_finding_event_ref, or severity/lifecycle_state different from current_finding_record_ref.",
        legal: "The view shortens display_summary/display_explanation, or lists the same basis members in another order.",
        why: "People act on what the view shows. If it shows another severity, state or right to block than the finding has, they decide on something that is not so.",
        fix: "Derive the view anew from its finding event and finding record; only its display texts are its own.",
        check: feedback_finding_view_authority_drift,
    },
    Rule {
        code: "artifact_targeted_finding_missing_version_ref",
        severity: Severity::Error,
        section: "A-01/A-05 (A-21)",
        fires: "An EvaluationFindingEvent has target_artifact_ref but neither target_artifact_version_ref nor based_on_artifact_version_ref, and based_on_artifact_version_absent_reason is absent or is non_artifact_target (which contradicts an artifact target).",
        legal: "No target_artifact_ref and based_on_artifact_version_absent_reason = process_observation, or an artifact target with human_review_no_artifact recorded.",
        why: "A finding about a text that does not say which version of it was read can be neither confirmed nor closed.",
        fix: "Set target_artifact_version_ref or based_on_artifact_version_ref, or record why there is none.",
        check: artifact_targeted_finding_missing_version_ref,
    },
    Rule {
        code: "positive_observation_missing_for_passed_criteria_when_required",
        severity: Severity::Warning,
        section: "A-09/A-15/A-22",
        fires: "An envelope has passed criteria (its passed_criterion_ids, or with verdict passed the criteria of its basis), the outcome's scoring config sets positive_observation_required, and no PositiveEvaluationObservation with that result_id lists those criterion ids in observed_passed_criterion_ids.",
        legal: "Passed criteria where the config does not require positive observations.",
        why: "The scoring config asks for what speaks in favour of a pass. Without it a pass only says that nobody found anything.",
        fix: "Record a PositiveEvaluationObservation for this result that lists the passed criteria, or do not require one.",
        check: positive_observation_missing_for_passed_criteria_when_required,
    },
];

fn finding_state_mutated_inside_immutable_envelope(world: &World, found: &mut Found<'_>) {
    for kind in ["EvaluationFindingEvent", "EvaluationResultEnvelope", "EvaluationFeedbackBundle"] {
        for record in world.of(kind) {
            for path in within::places(record.json(), is_moved_state) {
                found.add(record, path, "says how the finding stands now; that belongs into its projection");
            }
        }
    }
    let mut appended: BTreeMap<&str, Record<'_>> = BTreeMap::new();
    for event in world.of("EvaluationFindingEvent") {
        let Some(id) = event.json().id_at("finding_event_id") else { continue };
        let first = *appended.entry(id).or_insert(event);
        if first.json() != event.json() {
            let message = format!("is not what was appended as event {id} in row {}", first.seq());
            found.add(event, "", message);
        }
    }
}

/// Whether a member says how a finding stands now. `emitted_state` may only say how it was raised.
fn is_moved_state(inside: &Json, name: &str, value: &Json) -> bool {
    match name {
        // Beside the name of a finding a mere state is its own.
        "state" | "status" if inside.text("finding_id").is_some() => value
            .as_str()
            .and_then(FindingState::find)
            .is_some_and(|state| !matches!(state, FindingState::Proposed | FindingState::Active)),
        "emitted_state" => value.as_str().is_some_and(|word| word != "proposed" && word != "active"),
        "current_state" | "lifecycle_state" | "finding_state" | "current_finding_state" => {
            value.as_str().is_some_and(|word| FindingState::find(word).is_some())
        }
        "resolved" => matches!(value, Json::Bool(_)),
        _other => false,
    }
}

fn finding_current_projection_without_event(world: &World, found: &mut Found<'_>) {
    for record in world.of("EvaluationFindingRecord") {
        let Some(finding) = record.json().id_at("finding_id") else { continue };
        let event = record.follow("canonical_event_ref");
        let is_its_own = event.is_some_and(|event| {
            event.kind() == "EvaluationFindingEvent" && event.id_at("finding_id") == Some(finding)
        });
        if !is_its_own {
            let message = format!("names no event that raised finding {finding}");
            found.add(record, "canonical_event_ref", message);
        }
    }
}

/// Findings that stop the work.
fn blocking(world: &World) -> impl Iterator<Item = Record<'_>> {
    world.of("EvaluationFindingEvent").filter(|event| event.is("severity", "blocking"))
}

/// Whether a finding says that it may block, and on what basis.
fn has_authority(event: Record<'_>) -> bool {
    event.flag("blocking_authority.satisfied") == Some(true) && !event.is_blank("blocking_authority.basis")
}

fn blocking_finding_without_authority(world: &World, found: &mut Found<'_>) {
    for event in blocking(world).filter(|event| !has_authority(*event)) {
        let path = if event.flag("blocking_authority.satisfied") == Some(true) {
            "blocking_authority.basis"
        } else {
            "blocking_authority.satisfied"
        };
        found.add(event, path, "the finding blocks without authority to do so");
    }
}

fn model_judgment_only_blocker_without_permission(world: &World, found: &mut Found<'_>) {
    for event in blocking(world).filter(|event| has_authority(*event)) {
        let assurance = event.texts("assurance_basis");
        let is_opinion = !assurance.is_empty() && assurance.iter().all(|basis| *basis == "model_judgment");
        let is_anchored = || {
            let criterion = event.id_at("target_criterion_id");
            let criterion = criterion.and_then(|id| world.policy("Criterion", id, event.seq()));
            let is_unanchored = |one: Record<'_>| one.is("scoring_basis", "unanchored_llm_judgment");
            assurance.contains(&"rubric_anchored_judgment")
                || criterion.is_some_and(|one| !one.is_blank("scoring_basis") && !is_unanchored(one))
        };
        let is_subjective = event.texts("blocking_authority.basis").iter().all(|basis| match *basis {
            "subjective_blocking_allowed" => true,
            "rubric_criterion" => !is_anchored(),
            _checkable => false,
        });
        let permission = "blocking_authority.subjective_blocking_permission";
        if (is_opinion || is_subjective) && event.is(permission, "not_allowed") {
            found.add(event, permission, "only a model's judgment blocks, and nobody has allowed that");
        }
    }
}

fn feedback_finding_view_authority_drift(world: &World, found: &mut Found<'_>) {
    if world.of("FeedbackFindingView").next().is_none() {
        return;
    }
    let stood = Stood::of(world, &FINDING);
    for view in world.of("FeedbackFindingView") {
        let event = view.follow("source_finding_event_ref");
        if let Some(event) = event.filter(|event| event.kind() == "EvaluationFindingEvent") {
            let (own, shown) =
                (event.flag("blocking_authority.satisfied"), view.flag("blocking_authority_satisfied"));
            if own.is_some() && own != shown {
                found.add(view, "blocking_authority_satisfied", "is not what the finding event says");
            }
            let as_set = |texts: Vec<&str>| texts.into_iter().map(String::from).collect::<BTreeSet<_>>();
            let own = as_set(event.texts("blocking_authority.basis"));
            if own != as_set(view.texts("blocking_authority_basis")) {
                found.add(view, "blocking_authority_basis", "is not the basis of the finding event");
            }
        }
        let Some(record) = shown_record(view) else { continue };
        let severity = record.json().text("current_severity");
        let state = stood.told_at(record, view.seq()).filter(|_| record.text("current_state").is_some());
        for (shown, own) in [("severity", severity), ("lifecycle_state", state)] {
            if own.is_some() && own != view.text(shown) {
                found.add(view, shown, "is not how the finding stands");
            }
        }
    }
}

/// The record that a view was made from: as it stood then, for it may have moved since.
fn shown_record(view: Record<'_>) -> Option<Record<'_>> {
    let last = view.follow("current_finding_record_ref")?;
    if last.kind() != "EvaluationFindingRecord" || last.seq() < view.seq() {
        return (last.kind() == "EvaluationFindingRecord").then_some(last);
    }
    let mut versions = view.world.versions("EvaluationFindingRecord", last.id());
    versions.rfind(|version| version.seq() < view.seq()).or(Some(last))
}

fn artifact_targeted_finding_missing_version_ref(world: &World, found: &mut Found<'_>) {
    for event in world.of("EvaluationFindingEvent") {
        let has_version = ["target_artifact_version_ref", "based_on_artifact_version_ref"]
            .iter()
            .any(|field| !event.is_blank(field));
        let reason = event.text("based_on_artifact_version_absent_reason");
        let is_explained = reason.is_some_and(|reason| reason != "non_artifact_target");
        if !event.is_blank("target_artifact_ref") && !has_version && !is_explained {
            let message = "the finding is about an artifact and does not say which version was read";
            found.add(event, "target_artifact_version_ref", message);
        }
    }
}

fn positive_observation_missing_for_passed_criteria_when_required(world: &World, found: &mut Found<'_>) {
    let kind = "OutcomeComplianceScoringConfig";
    let is_required = |config: Record<'_>| config.flag("positive_observation_required") == Some(true);
    if !world.of(kind).any(is_required) {
        return;
    }
    // A config without an outcome is that of all outcomes that have none of their own.
    let configs = Settings::of(world, kind, |config| Some(config.json().id_at("outcome_id")));
    let mut observed: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for observation in world.of("PositiveEvaluationObservation") {
        let Some(result) = observation.json().id_at("result_id") else { continue };
        observed
            .entry(result)
            .or_default()
            .extend(observation.json().ids_at("observed_passed_criterion_ids"));
    }
    for envelope in world.of("EvaluationResultEnvelope") {
        let Some(result) = envelope.json().id_at("result_id") else { continue };
        let config = configs.at_or(&envelope.json().id_at("outcome_id"), &None, envelope.seq());
        let seen = observed.get(result);
        let missed: Vec<&str> = passed_criteria(envelope.json())
            .into_iter()
            .filter(|criterion| !seen.is_some_and(|seen| seen.contains(criterion)))
            .collect();
        if config.is_some_and(is_required) && !missed.is_empty() {
            let message = format!("no positive observation for passed criteria: {}", missed.join(", "));
            found.add(envelope, "decision.verdict", message);
        }
    }
}

/// The criteria that an envelope says were passed; where it does not name them, a pass is one of all that it rests on.
fn passed_criteria(envelope: &Json) -> Vec<&str> {
    for path in ["decision.passed_criterion_ids", "passed_criterion_ids"] {
        if envelope.at(path).is_some() {
            return envelope.texts(path);
        }
    }
    if envelope.is("decision.verdict", "passed") {
        let criteria = envelope.references("evaluation_basis.criteria_refs").into_iter();
        return criteria.map(|criterion| criterion.id).collect();
    }
    Vec::new()
}

#[cfg(test)]
#[path = "findings_tests.rs"]
mod tests;
