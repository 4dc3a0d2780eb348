//! Lists that other records make up.
//! Owns: what belongs into which. Must not: judge what is in it.

use super::{Found, What};
use crate::derive::reliance::is_doubtful;
use crate::member::Member;
use crate::path::Path;
use crate::reference::Reference;
use crate::types::source::LegalTreatmentStatus;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
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
    /// Whether a later record about the same may leave out what an earlier one could list: a claim that cites another place rests on
    /// that, and no longer on the one before.
    may_leave: bool,
}

#[rustfmt::skip] // one to a line
const MADE: &[Made] = &[
    Made { kind: "EvaluationFindingRecord", lists: &["lifecycle_transition_refs"], key: None, of: "FindingLifecycleTransitionReceipt", by: "finding_id", may_leave: false },
    Made { kind: "EvaluationChainRegistryRecord", lists: &["received_result_ids"], key: None, of: "EvaluationResultEnvelope", by: "target_evaluation_chain_id", may_leave: false },
    Made { kind: "ClaimSupportDerivationReceipt", lists: &["supporting_anchor_refs", "contradicting_anchor_refs"], key: Some("claim_ref"), of: "SourceEvidenceAnchor", by: "supports_claim_refs", may_leave: true },
    Made { kind: "OutcomeComplianceScoringConfig", lists: &["criterion_refs"], key: None, of: "Criterion", by: "config_id", may_leave: false },
    Made { kind: "SourceWorkspaceCurrentState", lists: &["record_refs"], key: None, of: "SourceRecord", by: "workspace_id", may_leave: false },
    Made { kind: "EvaluationFeedbackBundle", lists: &["finding_view_refs"], key: Some("result_id"), of: "EvaluationFindingEvent", by: "result_id", may_leave: false },
];

pub(super) fn find(world: &World, found: &mut Found) {
    for made in MADE {
        made_up(world, made, found);
    }
    claims(world, found);
    doubts(world, found);
    parts(world, found);
    shown(world, found);
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
    let mut before: BTreeMap<&str, u64> = BTreeMap::new();
    for record in world.of(made.kind) {
        let key = made.key.map_or(Some(record.id()), |member| record.json().text(member));
        if made.lists.iter().all(|list| record.json().at(list).is_none()) {
            continue;
        }
        let all = key.and_then(|key| rows.get(key)).map(Vec::as_slice).unwrap_or_default();
        let there = || all.iter().take_while(|(seq, _)| *seq < record.seq());
        let since = key.and_then(|key| before.insert(key, record.seq())).filter(|_| made.may_leave);
        let known: BTreeSet<&str> = there().map(|(_, id)| *id).collect();
        let listed = made.lists.iter().flat_map(|list| record.json().texts(list));
        let listed: BTreeSet<&str> = listed.map(bare).collect();
        let mut left = there().filter(|(seq, _)| since.is_none_or(|since| since < *seq)).map(|(_, id)| *id);
        let left = left.find(|one| !listed.contains(one)).map(|one| (one, "belongs into it"));
        let strange = || listed.difference(&known).next().map(|one| (*one, "does not belong into it"));
        if let Some((one, how)) = left.or_else(strange) {
            found.add(record, made.lists[0], What::List, format!("{one} {how}"));
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
                    let path = Path::from("claim_support_map").item(at).then(list);
                    found.add(package, path, What::List, "is not what the receipt says");
                }
            }
        }
        let listed: BTreeSet<&str> = package.json().texts("evidence_anchor_refs").into_iter().collect();
        if places != listed {
            let message = "is not what its claims rest on";
            found.add(package, "evidence_anchor_refs", What::List, message);
        }
        let sources: BTreeSet<&str> =
            package.json().texts("source_record_refs").into_iter().map(bare).collect();
        let anchors = places.into_iter().filter_map(|place| world.resolve_text(place));
        let missed = anchors
            .filter_map(|one| one.json().text("source_record_ref").map(bare))
            .find(|source| !sources.contains(source));
        if let Some(source) = missed {
            let message = format!("{source} is cited and not listed");
            found.add(package, "source_record_refs", What::List, message);
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
                source.is_some_and(|one| {
                    let treatment = one.json().text("legal_payload.treatment_status");
                    let treatment = treatment.and_then(LegalTreatmentStatus::find);
                    is_doubtful(one.is("verification_state", "verified"), is_stale(one), treatment)
                })
            })
            .collect();
        let listed = package.json().texts("stale_or_unverified_source_refs").into_iter().map(bare);
        if let Some(one) = listed.collect::<BTreeSet<_>>().symmetric_difference(&doubtful).next() {
            let message = format!("{one} is not as its source says");
            found.add(package, "stale_or_unverified_source_refs", What::List, message);
        }
    }
}

/// What something speaks of is in the list that it speaks of.
fn parts(world: &World, found: &mut Found) {
    let mut add =
        |record: Record<'_>, path: &'static str, message: &str| found.add(record, path, What::List, message);
    for envelope in world.of("EvaluationResultEnvelope") {
        let json = envelope.json();
        let criteria: BTreeSet<&str> =
            json.texts("evaluation_basis.criteria_refs").into_iter().map(bare).collect();
        let passed = json.texts("decision.passed_criterion_ids");
        if passed.iter().any(|one| !criteria.contains(one)) {
            add(envelope, "evaluation_basis.criteria_refs", "a criterion passed that it does not rest on");
        }
        let snapshot = envelope.follow("evaluation_snapshot_ref");
        let version = json.reference("target_artifact_version_ref");
        let holds = |snapshot: Record<'_>| {
            let held = snapshot.json().references("artifact_state_refs");
            version.is_none_or(|version| held.iter().any(|one| one.is_same(&version)))
        };
        if snapshot.is_some_and(|snapshot| !holds(snapshot)) {
            add(envelope, "target_artifact_version_ref", "is not what its snapshot holds");
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
            add(finding, "target_criterion_id", "its result does not rest on this criterion");
        }
    }
    bases(world, &mut add);
    chains(world, &mut add);
    packets(world, &mut add);
    grounds(world, &mut add);
    deliveries(world, &mut add);
}

/// What a record rests on stands in its own lists.
fn grounds(world: &World, add: &mut impl FnMut(Record<'_>, &'static str, &str)) {
    for edge in world.of("DerivationEdge").filter(|edge| edge.is_blank("input_refs")) {
        add(edge, "input_refs", "something was made of nothing");
    }
    for finding in world.of("EvaluationFindingEvent") {
        let policy = finding.json().text("blocking_authority.evaluated_policy_ref");
        let all = finding.json().texts("policy_decision_refs");
        if policy.is_some_and(|policy| !all.contains(&policy)) {
            add(finding, "policy_decision_refs", "leaves out the decision that lets it block");
        }
    }
    for observation in world.of("PositiveEvaluationObservation") {
        if observation.is_blank("evidence_refs") {
            add(observation, "evidence_refs", "does not name what shows it");
        }
    }
    dispositions(world, add);
    for view in world.of("DecisionAuditView") {
        let target = view.json().reference("target_decision_ref");
        let target = target.filter(|one| one.kind == "evaluation_chain_resolution_receipt");
        let all = view.json().references("chain_resolution_receipt_refs");
        if target.is_some_and(|target| !all.iter().any(|one| one.is_same(&target))) {
            add(view, "chain_resolution_receipt_refs", "leaves out the decision that it is about");
        }
    }
    for receipt in world.of("FindingLifecycleTransitionReceipt") {
        let needed = match (receipt.text("transition_reason"), receipt.text("to_state")) {
            (Some("revision_resolved"), _) => Some("evaluation_result_envelope"),
            (_, Some("human_verified" | "tool_verified")) => Some(""),
            (_, _) => None,
        };
        let evidence = receipt.json().references("evidence_refs");
        let is_there = |kind: &str| evidence.iter().any(|one| kind.is_empty() || one.kind == kind);
        if needed.is_some_and(|kind| !is_there(kind)) {
            add(receipt, "evidence_refs", "does not name what shows it");
        }
    }
    for envelope in world.of("EvaluationResultEnvelope") {
        let is_blocked =
            envelope.is("decision.substantive_verdict_status", "blocked_before_substantive_verdict");
        if is_blocked && envelope.is_one_of("decision.verdict", &["passed", "failed"]) {
            let path = "decision.substantive_verdict_status";
            add(envelope, path, "there is a verdict that was never reached");
        }
    }
}

/// An outcome moves to where the result that moves it says that it stands, and nothing gets worse that was never good.
fn dispositions(world: &World, add: &mut impl FnMut(Record<'_>, &'static str, &str)) {
    let mut met: BTreeMap<&str, u64> = BTreeMap::new();
    for event in world.of("OutcomeStateTransitionEvent") {
        let json = event.json();
        if let Some(outcome) = json.text("outcome_id").filter(|_| json.is("to_state", "satisfied")) {
            met.entry(outcome).or_insert(event.seq());
        }
        let result = json.text("result_id").and_then(|id| world.find("EvaluationResultEnvelope", id));
        let found = result.and_then(|one| one.json().text("decision.disposition"));
        if found.zip(json.text("to_state")).is_some_and(|(found, to)| found != to) {
            add(event, "to_state", "is not where its result says that the outcome stands");
        }
    }
    for envelope in
        world.of("EvaluationResultEnvelope").filter(|one| one.is("decision.disposition", "regressed"))
    {
        let first = envelope.json().text("outcome_id").and_then(|outcome| met.get(outcome));
        if first.is_none_or(|first| *first > envelope.seq()) {
            add(envelope, "decision.disposition", "it was never met before");
        }
    }
}

/// A chain that has heard all whom it waits for waits no longer, and it is resolved by a policy that its snapshot holds.
fn chains(world: &World, add: &mut impl FnMut(Record<'_>, &'static str, &str)) {
    for chain in world.of("EvaluationChainRegistryRecord") {
        let results = chain.json().texts("received_result_ids").into_iter();
        let heard: BTreeSet<&str> = results
            .filter_map(|id| world.find("EvaluationResultEnvelope", id)?.json().text("producer_kind"))
            .collect();
        let expected = chain.json().texts("expected_producers");
        let is_whole = !expected.is_empty() && expected.iter().all(|one| heard.contains(one));
        if is_whole && chain.is_one_of("status", &["open", "partial", "timed_out"]) {
            add(chain, "status", "it waits, though all have answered");
        }
    }
    for receipt in world.of("EvaluationChainResolutionReceipt") {
        let Some(policy) = receipt.json().text("policy_ref").map(bare) else { continue };
        let chain = receipt.json().text("chain_id");
        let chain = chain.and_then(|id| world.find("EvaluationChainRegistryRecord", id));
        let snapshot = chain.and_then(|chain| chain.follow("evaluation_snapshot_ref"));
        let policies = snapshot.and_then(|snapshot| snapshot.follow("policy_snapshot_ref"));
        let is_row = world.find("EvaluationChainResolutionPolicy", policy).is_some();
        let holds = |policies: Record<'_>| {
            policies.json().references("policy_refs").iter().any(|one| one.id == policy)
        };
        if is_row && policies.is_some_and(|policies| !holds(policies)) {
            add(receipt, "policy_ref", "is not among the policies of its snapshot");
        }
    }
}

/// What is shown only as a list of what it is derived from leaves nothing of that out, and its header names the receipts of
/// what it states.
fn shown(world: &World, found: &mut Found) {
    let mut receipts: BTreeMap<(&str, &str), Vec<Record<'_>>> = BTreeMap::new();
    for receipt in world.of("FormulaEvaluationReceipt") {
        if let Some(output) = receipt.json().reference("output_ref") {
            receipts.entry((output.kind, output.id)).or_default().push(receipt);
        }
    }
    // A task has one card, and each of its runs may write it: what counts are the receipts of its own run.
    let is_of = |receipt: &Record<'_>, view: Record<'_>| {
        let runs = receipt.text("run_id").zip(view.text("run_id"));
        receipt.seq() < view.seq() && runs.is_none_or(|(one, other)| one == other)
    };
    for kind in ["TaskHealthCard", "DecisionAuditView", "UnifiedEvaluationChainView"] {
        // What is shown again is derived again: the receipts before it are those of the version before.
        let mut shown: BTreeMap<(&str, Option<&str>), u64> = BTreeMap::new();
        for view in world.of(kind) {
            let since = shown.insert((view.id(), view.json().text("run_id")), view.seq()).unwrap_or_default();
            let Some(header) = view.follow("derived_read_model_ref") else { continue };
            let manifest = header.follow("input_manifest_ref");
            let mut cited = Vec::new();
            gather(view.json(), &mut cited);
            let inputs = manifest.map(|one| one.json().references("input_refs")).unwrap_or_default();
            if let Some(one) = inputs.iter().find(|one| !cited.iter().any(|cited| cited.is_same(one))) {
                found.add(view, "", What::List, format!("does not show {one}, which it is derived from"));
            }
            let name = crate::reference::snake(kind);
            let own = receipts.get(&(name.as_str(), view.id())).map(Vec::as_slice).unwrap_or_default();
            let listed: BTreeSet<&str> =
                header.json().texts("formula_eval_receipt_refs").into_iter().map(bare).collect();
            let is_its = |receipt: &Record<'_>| since < receipt.seq() && is_of(receipt, view);
            if own.iter().any(|receipt| is_its(receipt) && !listed.contains(receipt.id())) {
                let message = "leaves out the receipt of what is shown";
                found.add(header, "formula_eval_receipt_refs", What::List, message);
            }
        }
    }
}

/// All references in a value.
fn gather<'j>(value: &'j Json, all: &mut Vec<Reference<'j>>) {
    match value {
        Json::String(text) => all.extend(Reference::read(text)),
        Json::Array(items) => items.iter().for_each(|item| gather(item, all)),
        Json::Object(members) => members.iter().for_each(|(_, one)| gather(one, all)),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// What is waited for was sent.
fn deliveries(world: &World, add: &mut impl FnMut(Record<'_>, &'static str, &str)) {
    let key = |one: &Record<'_>| {
        let json = one.json();
        let (bundle, consumer) = (json.text("feedback_bundle_id")?, json.text("consumer_module_id")?);
        Some((String::from(bundle), String::from(consumer), json.count("consumer_activation_seq")?))
    };
    let sent: BTreeSet<_> = world.of("FeedbackDeliveryRecord").filter_map(|one| key(&one)).collect();
    let awaited: BTreeSet<_> = world.of("FeedbackDispatchExpectation").filter_map(|one| key(&one)).collect();
    for kind in ["FeedbackDispatchExpectation", "FeedbackConsumptionReceipt"] {
        for record in world.of(kind).filter(|one| key(one).is_some_and(|key| !sent.contains(&key))) {
            add(record, "consumer_activation_seq", "nothing was sent to this activation");
        }
    }
    if !awaited.is_empty() {
        for record in world.of("FeedbackDeliveryRecord") {
            if key(&record).is_some_and(|key| !awaited.contains(&key)) {
                add(record, "consumer_activation_seq", "nobody waits for what this activation does with it");
            }
        }
    }
}

/// The reads of workspaces that an envelope names are of the states that its snapshot holds, and none is left out; so are the
/// criteria of its outcome.
fn bases(world: &World, add: &mut impl FnMut(Record<'_>, &'static str, &str)) {
    let mut asked: BTreeMap<&str, Record<'_>> = BTreeMap::new();
    for config in world.of("OutcomeComplianceScoringConfig") {
        asked.extend(config.json().text("outcome_id").map(|outcome| (outcome, config)));
    }
    for envelope in world.of("EvaluationResultEnvelope") {
        let json = envelope.json();
        let basis = json.texts("evaluation_basis.criteria_refs");
        let config = json.text("outcome_id").and_then(|outcome| asked.get(outcome));
        let mut wanted = config.into_iter().flat_map(|config| config.json().texts("criterion_refs"));
        if !basis.is_empty() && wanted.any(|one| !basis.contains(&one)) {
            add(envelope, "evaluation_basis.criteria_refs", "leaves out a criterion of its outcome");
        }
        let reads = json.references("evaluation_basis.source_workspace_snapshot_refs");
        let heads: Vec<&str> = reads
            .into_iter()
            .filter_map(|one| world.resolve(one)?.json().text("prior_workspace_head_hash"))
            .collect();
        let snapshot = envelope.follow("evaluation_snapshot_ref");
        let sets = snapshot.map(|one| one.json().list("source_workspace_snapshot_hashes"));
        let mut held = sets.into_iter().flatten().filter_map(|set| set.text("source_workspace_head_hash"));
        if held.any(|head| !heads.contains(&head)) {
            let path = "evaluation_basis.source_workspace_snapshot_refs";
            add(envelope, path, "leaves out a read of what its snapshot holds");
        }
    }
}

/// The evidence of a packet is about its artifacts, and these are heads.
fn packets(world: &World, add: &mut impl FnMut(Record<'_>, &'static str, &str)) {
    let mut states: BTreeMap<&str, Vec<(u64, &str)>> = BTreeMap::new();
    for event in world.of("ArtifactVersionTransitionEvent") {
        let version = event.json().reference("artifact_version_ref").map(|one| one.id);
        if let (Some(version), Some(state)) = (version, event.json().text("to_state")) {
            states.entry(version).or_default().push((event.seq(), state));
        }
    }
    for packet in world.of("TaskReliancePacket") {
        let Some(manifest) = packet.json().at("input_manifest") else { continue };
        let made = packet.place("input_manifest.created_from_event_seq").unwrap_or(u64::MAX);
        let path = "input_manifest.final_artifact_refs";
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
