//! Lists that other records make up.
//! Owns: what belongs into which. Must not: judge what is in it.

use super::{Found, What};
use crate::member::Member;
use crate::reference::Reference;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use countersign_record::json::Json;

/// A list of a record that is made up of all rows of another type that name the record, up to it.
struct Made {
    kind: &'static str,
    /// The lists, together.
    lists: &'static [&'static str],
    /// What of the record the rows name; its id where there is none.
    key: Option<&'static str>,
    of: &'static str,
    /// The member of a row that names the record; a text, a reference or a list of them.
    by: &'static str,
}

#[rustfmt::skip] // one to a line
const MADE: &[Made] = &[
    Made { kind: "EvaluationFindingRecord", lists: &["lifecycle_transition_refs"], key: None, of: "FindingLifecycleTransitionReceipt", by: "finding_id" },
    Made { kind: "EvaluationChainRegistryRecord", lists: &["received_result_ids"], key: None, of: "EvaluationResultEnvelope", by: "target_evaluation_chain_id" },
    Made { kind: "ClaimSupportDerivationReceipt", lists: &["supporting_anchor_refs", "contradicting_anchor_refs"], key: Some("claim_ref"), of: "SourceEvidenceAnchor", by: "supports_claim_refs" },
    Made { kind: "OutcomeComplianceScoringConfig", lists: &["criterion_refs"], key: None, of: "Criterion", by: "config_id" },
    Made { kind: "SourceWorkspaceCurrentState", lists: &["record_refs"], key: None, of: "SourceRecord", by: "workspace_id" },
    Made { kind: "EvaluationFeedbackBundle", lists: &["finding_view_refs"], key: Some("result_id"), of: "EvaluationFindingEvent", by: "result_id" },
];

pub(super) fn find(world: &World, found: &mut Found) {
    for made in MADE {
        made_up(world, made, found);
    }
    claims(world, found);
    doubts(world, found);
    parts(world, found);
}

/// What a row is called where others name it: a finding by the finding, not by its event.
fn called<'w>(row: Record<'w>) -> &'w str {
    let finding = row.json().text("finding_id").filter(|_| row.kind() == "EvaluationFindingEvent");
    finding.unwrap_or(row.id())
}

/// The id in a text that is one or a reference.
fn bare(text: &str) -> &str {
    Reference::read(text).map_or(text, |one| one.id)
}

fn texts<'w>(json: &'w Json, member: &str) -> Vec<&'w str> {
    match json.at(member) {
        Some(Json::String(text)) => [text.as_str()].into(),
        Some(_) | None => json.texts(member),
    }
}

fn made_up(world: &World, made: &Made, found: &mut Found) {
    let mut rows: BTreeMap<&str, Vec<(u64, &str)>> = BTreeMap::new();
    for row in world.of(made.of) {
        for of in texts(row.json(), made.by) {
            rows.entry(of).or_default().push((row.seq(), called(row)));
        }
    }
    for record in world.of(made.kind) {
        let key = made.key.map_or(Some(record.id()), |member| record.json().text(member));
        if made.lists.iter().all(|list| record.json().at(list).is_none()) {
            continue;
        }
        let all = key.and_then(|key| rows.get(key)).map(Vec::as_slice).unwrap_or_default();
        let there = all.iter().take_while(|(seq, _)| *seq < record.seq());
        let there: BTreeSet<&str> = there.map(|(_, id)| *id).collect();
        let listed = made.lists.iter().flat_map(|list| record.json().texts(list));
        let listed: BTreeSet<&str> = listed.map(bare).collect();
        if let Some(one) = there.symmetric_difference(&listed).next() {
            let how = if there.contains(one) { "belongs into it" } else { "does not belong into it" };
            found.add(record, &format!("/{}", made.lists[0]), What::List, format!("{one} {how}"));
        }
    }
}

/// A package repeats what the receipts of its claims say, and lists all of their places and sources.
fn claims(world: &World, found: &mut Found) {
    for package in world.of("EvidencePackage") {
        let mut places: BTreeSet<&str> = BTreeSet::new();
        for (at, entry) in package.json().list("claim_support_map").iter().enumerate() {
            let receipt =
                entry.reference("support_derivation_receipt_ref").and_then(|one| world.resolve(one));
            for list in ["supporting_anchor_refs", "contradicting_anchor_refs"] {
                let own: BTreeSet<&str> = entry.texts(list).into_iter().collect();
                places.extend(&own);
                let told = receipt.map(|one| one.json().texts(list).into_iter().collect::<BTreeSet<_>>());
                if told.is_some_and(|told| told != own) {
                    let path = format!("/claim_support_map/{at}/{list}");
                    found.add(package, &path, What::List, "is not what the receipt says");
                }
            }
        }
        let listed: BTreeSet<&str> = package.json().texts("evidence_anchor_refs").into_iter().collect();
        if places != listed {
            let message = "is not what its claims rest on";
            found.add(package, "/evidence_anchor_refs", What::List, message);
        }
        let sources: BTreeSet<&str> =
            package.json().texts("source_record_refs").into_iter().map(bare).collect();
        let anchors = places.into_iter().filter_map(|place| world.resolve_text(place));
        let missed = anchors
            .filter_map(|one| one.json().text("source_record_ref").map(bare))
            .find(|source| !sources.contains(source));
        if let Some(source) = missed {
            let message = format!("{source} is cited and not listed");
            found.add(package, "/source_record_refs", What::List, message);
        }
    }
}

/// The sources of a package that were not verified or no longer fresh are those that it lists as such.
fn doubts(world: &World, found: &mut Found) {
    let mut versions: BTreeMap<&str, Vec<Record<'_>>> = BTreeMap::new();
    for source in world.of("SourceRecord") {
        versions.entry(source.id()).or_default().push(source);
    }
    for package in world.of("EvidencePackage") {
        let own = package.json().texts("source_record_refs").into_iter().map(bare);
        let doubtful: BTreeSet<&str> = own
            .filter(|id| {
                let all = versions.get(id).map(Vec::as_slice).unwrap_or_default();
                let before = all.partition_point(|one| one.seq() < package.seq());
                let source = before.checked_sub(1).and_then(|at| all.get(at));
                let is_stale = |one: &Record<'_>| {
                    let ended = one.time("fresh_until").zip(package.written_at());
                    ended.is_some_and(|(end, now)| end <= now)
                };
                source.is_some_and(|one| !one.is("verification_state", "verified") || is_stale(one))
            })
            .collect();
        let listed = package.json().texts("stale_or_unverified_source_refs").into_iter().map(bare);
        if let Some(one) = listed.collect::<BTreeSet<_>>().symmetric_difference(&doubtful).next() {
            let message = format!("{one} is not as its source says");
            found.add(package, "/stale_or_unverified_source_refs", What::List, message);
        }
    }
}

/// What something speaks of is in the list that it speaks of.
fn parts(world: &World, found: &mut Found) {
    let mut add =
        |record: Record<'_>, path: &str, message: &str| found.add(record, path, What::List, message);
    for envelope in world.of("EvaluationResultEnvelope") {
        let json = envelope.json();
        let criteria: BTreeSet<&str> =
            json.texts("evaluation_basis.criteria_refs").into_iter().map(bare).collect();
        let passed = json.texts("decision.passed_criterion_ids");
        if passed.iter().any(|one| !criteria.contains(one)) {
            add(envelope, "/evaluation_basis/criteria_refs", "a criterion passed that it does not rest on");
        }
        let snapshot = envelope.follow("evaluation_snapshot_ref");
        let version = json.reference("target_artifact_version_ref");
        let holds = |snapshot: Record<'_>| {
            let held = snapshot.json().references("artifact_state_refs");
            version.is_none_or(|version| held.iter().any(|one| one.is_same(&version)))
        };
        if snapshot.is_some_and(|snapshot| !holds(snapshot)) {
            add(envelope, "/target_artifact_version_ref", "is not what its snapshot holds");
        }
    }
    for finding in world.of("EvaluationFindingEvent") {
        let result = finding.json().text("result_id");
        let result = result.and_then(|id| world.find("EvaluationResultEnvelope", id));
        let criteria = result.map(|one| one.json().texts("evaluation_basis.criteria_refs"));
        let own = finding.json().text("target_criterion_id");
        let is_asked = |own: &str| {
            let named = criteria.iter().flatten().map(|text| bare(text));
            criteria.as_ref().is_none_or(Vec::is_empty) || named.into_iter().any(|one| one == own)
        };
        if own.is_some_and(|own| !is_asked(own)) {
            add(finding, "/target_criterion_id", "its result does not rest on this criterion");
        }
    }
    packets(world, &mut add);
}

/// The evidence of a packet is about its artifacts, and these are heads.
fn packets(world: &World, add: &mut impl FnMut(Record<'_>, &str, &str)) {
    let mut states: BTreeMap<&str, Vec<(u64, &str)>> = BTreeMap::new();
    for event in world.of("ArtifactVersionTransitionEvent") {
        let version = event.json().reference("artifact_version_ref").map(|one| one.id);
        if let (Some(version), Some(state)) = (version, event.json().text("to_state")) {
            states.entry(version).or_default().push((event.seq(), state));
        }
    }
    for packet in world.of("TaskReliancePacket") {
        let Some(manifest) = packet.json().at("input_manifest") else { continue };
        let made = manifest.count("created_from_event_seq").unwrap_or(u64::MAX);
        let path = "/input_manifest/final_artifact_refs";
        for artifact in manifest.references("final_artifact_refs") {
            let all = states.get(artifact.id).map(Vec::as_slice).unwrap_or_default();
            let before = all.partition_point(|(seq, _)| *seq <= made);
            let state = before.checked_sub(1).and_then(|at| all.get(at)).map(|(_, state)| *state);
            if state.is_some_and(|state| state != "accepted_head") {
                add(packet, path, "was not the head of its artifact");
            }
        }
        let packages = manifest.references("evidence_package_refs").into_iter();
        let about: BTreeSet<&str> = packages
            .filter_map(|one| world.resolve(one))
            .flat_map(|one| one.json().texts("final_artifact_refs"))
            .collect();
        let own = manifest.texts("final_artifact_refs");
        if !manifest.is_blank("evidence_package_refs") && own.iter().any(|one| !about.contains(one)) {
            add(packet, path, "its evidence is not about this artifact");
        }
    }
}
