//! Validation codes: progress.
//! Owns: the rules of this area. Must not: decide by names.

use super::{Area, Found, Rule, Severity};
use crate::derive::same_reason::{MatchKey, same_reason};
use crate::member::Member;
use crate::reference::Reference;
use crate::world::{Record, World, hash};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use countersign_record::json::Json;

pub(super) const AREA: Area = Area { name: "progress", rules: RULES, kinds: &[] };

const RULES: &[Rule] = &[
    Rule {
        code: "progress_signal_match_key_drift",
        severity: Severity::Error,
        section: "A-01/A-05; A-26",
        fires: "A ProgressSignalRecord.current_finding_match_key equals the match_key of no EvaluationFindingEvent whose envelope has the signal's run_id and outcome_id, or same_reason_as_previous differs from the recomputed same-reason relation between current_ and previous_finding_match_key.",
        legal: "Two keys differ only in source_workspace_snapshot_hash or finding_summary_hash, which the same-reason relation ignores, and same_reason_as_previous = true.",
        why: "Whether a strategy is changed or tried once more hangs on whether it failed again for the same reason. A signal that compares something else hides a loop, or sees one where there is none.",
        fix: "Take the key from the finding event of this run and outcome, and derive same_reason_as_previous from the two keys.",
        check: progress_signal_match_key_drift,
    },
    Rule {
        code: "repeated_failure_key_missing_artifact_stable_id",
        severity: Severity::Error,
        section: "A-26 (D-18)",
        fires: "A ProgressSignalRecord with same_reason_as_previous = true, or a match_key of an EvaluationFindingEvent with target_artifact_ref, has no artifact_stable_id (or uses a versioned ref as the stable id); or a RepeatedFailureRecord is by no such id.",
        legal: "A process observation with target_scope_ref null and no target artifact.",
        why: "Without the artifact's lasting id every new version looks like a new failure, and a repeated one is never noticed.",
        fix: "Put the id that all versions of the artifact share into artifact_stable_id.",
        check: repeated_failure_key_missing_artifact_stable_id,
    },
    Rule {
        code: "evidence_signature_hash_missing_for_source_bound_finding",
        severity: Severity::Error,
        section: "A-26",
        fires: "An EvaluationFindingEvent has non-empty evidence_refs or based_on_source_workspace_snapshot_ref (source-bound) and match_key.evidence_signature_hash is absent.",
        legal: "A finding with no evidence refs and no workspace basis (e.g. format check) without the hash.",
        why: "A finding that rests on sources is another one when they say something else. Without a hash of the evidence the two can't be told apart.",
        fix: "Hash the cited evidence into match_key.evidence_signature_hash.",
        check: evidence_signature_hash_missing_for_source_bound_finding,
    },
];

/// The key that a member is.
fn match_key<'a>(record: &'a Json, path: &str) -> Option<MatchKey<'a>> {
    let key = record.at(path).filter(|key| key.as_object().is_some())?;
    Some(MatchKey {
        failure_kind: key.text("failure_kind"),
        artifact_stable_id: key.text("artifact_stable_id"),
        target_scope: key.at("target_scope_ref").and_then(hash),
        criterion_id: key.id_at("criterion_id"),
        finding_summary_hash: key.text("finding_summary_hash"),
        normalized_finding_text_hash: key.text("normalized_finding_text_hash"),
        evidence_signature_hash: key.text("evidence_signature_hash"),
        source_workspace_snapshot_hash: key.text("source_workspace_snapshot_hash"),
    })
}

fn progress_signal_match_key_drift(world: &World, found: &mut Found<'_>) {
    let places: BTreeMap<&str, (Option<&str>, Option<&str>)> = world
        .of("EvaluationResultEnvelope")
        .map(Record::json)
        .filter_map(|one| Some((one.id_at("result_id")?, (one.text("run_id"), one.id_at("outcome_id")))))
        .collect();
    let raised: BTreeSet<_> = world
        .of("EvaluationFindingEvent")
        .map(Record::json)
        .filter_map(|one| Some((places.get(one.id_at("result_id")?)?, match_key(one, "match_key")?)))
        .collect();
    for signal in world.of("ProgressSignalRecord") {
        let Some(current) = match_key(signal.json(), "current_finding_match_key") else { continue };
        let place = (signal.json().text("run_id"), signal.json().id_at("outcome_id"));
        if !raised.contains(&(&place, current)) {
            let message = "is the key of no finding of this run and outcome";
            found.add(signal, "current_finding_match_key", message);
        }
        let previous = match_key(signal.json(), "previous_finding_match_key");
        let is_same = previous.is_some_and(|previous| same_reason(&current, &previous));
        if signal.flag("same_reason_as_previous").is_some_and(|stated| stated != is_same) {
            found.add(signal, "same_reason_as_previous", "is not what the two keys yield");
        }
    }
}

fn repeated_failure_key_missing_artifact_stable_id(world: &World, found: &mut Found<'_>) {
    let message = "the key has no id that all versions of the artifact share";
    // Keys of what has no artifact: a process that was observed fails again without one.
    let mut without_artifact: BTreeSet<MatchKey<'_>> = BTreeSet::new();
    for event in world.of("EvaluationFindingEvent") {
        let Some(key) = match_key(event.json(), "match_key") else { continue };
        if event.is_blank("target_artifact_ref") {
            if key.artifact_stable_id.is_none() && key.target_scope.is_none() {
                without_artifact.insert(key);
            }
        } else if key.artifact_stable_id.is_none_or(|id| is_versioned(id, Some(event.json()))) {
            found.add(event, "match_key.artifact_stable_id", message);
        }
    }
    for signal in world.of("ProgressSignalRecord") {
        if signal.flag("same_reason_as_previous") != Some(true) {
            continue;
        }
        let Some(key) = match_key(signal.json(), "current_finding_match_key") else { continue };
        let is_missing = key.artifact_stable_id.is_none_or(|id| is_versioned(id, None));
        if is_missing && !without_artifact.contains(&key) {
            found.add(signal, "current_finding_match_key.artifact_stable_id", message);
        }
    }
    for repeated in world.of("RepeatedFailureRecord") {
        let id = repeated.json().text("artifact_stable_id");
        if id.is_none_or(|id| is_versioned(id, None)) {
            found.add(repeated, "artifact_stable_id", message);
        }
    }
}

/// Whether an id is that of a version: a reference to one, or the one that a finding was made on.
fn is_versioned(id: &str, event: Option<&Json>) -> bool {
    let is_reference = Reference::read(id).is_some_and(|reference| {
        reference.kind == "artifact_version" || reference.version.is_some() || reference.hash.is_some()
    });
    let names = |event: &Json| {
        let refs = ["target_artifact_version_ref", "based_on_artifact_version_ref"];
        let versions: Vec<_> = refs.iter().filter_map(|path| event.reference(path)).collect();
        let is_artifact = event.reference("target_artifact_ref").is_some_and(|artifact| artifact.id == id);
        !is_artifact && versions.iter().any(|version| version.id == id)
    };
    is_reference || event.is_some_and(names)
}

fn evidence_signature_hash_missing_for_source_bound_finding(world: &World, found: &mut Found<'_>) {
    for event in world.of("EvaluationFindingEvent") {
        let is_bound = ["evidence_refs", "based_on_source_workspace_snapshot_ref"]
            .iter()
            .any(|field| !event.is_blank(field));
        if is_bound && event.is_blank("match_key.evidence_signature_hash") {
            let message = "the finding rests on evidence and its key has no hash of it";
            found.add(event, "match_key.evidence_signature_hash", message);
        }
    }
}

#[cfg(test)]
#[path = "progress_tests.rs"]
mod tests;
