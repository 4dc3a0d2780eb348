//! Whether the work may be relied on: the evidence, the packet, and what becomes of it.
//! Owns: these scenes. Must not: find facts that the log does not have.

use super::builder::{Builder, Run, hash_of};
use super::formula::{From, member, registered};
use super::known::Source;
use super::{finding, opening, workspace};
use countersign_govern::derive::reliance::{self, Fact, Limitation};
use countersign_record::json::Json;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A packet is made, the work changes under it, and it falls.
pub(super) fn too_early(b: &mut Builder, run: &mut Run) {
    package(b, run);
    let facts = packet(b, run);
    move_packet(b, run, &facts, ("draft", "ready_for_review"));
    let shown = format!("task_reliance_packet:{}", run.known.packet_id);
    let inputs = [shown.clone(), format!("policy_evaluation:{}", run.known.policy_evaluation_id)];
    let manifest = manifest(b, &inputs);
    header(b, run, "TaskReliancePacket", &manifest, &shown);
    opening::candidate(b, run);
    let record = b.together(|b| {
        opening::accept(b, run);
        let (id, now) = (b.id("invalidation"), b.now());
        b.add(
            "RelianceInvalidationEvent",
            json!({"event_id": id, "packet_id": run.known.packet_id,
                "invalidation_kind": "artifact_version_changed",
                "triggering_ref": format!("artifact_version:{}", run.known.head_version_id),
                "created_at": now, "schema_version": "1.0"}),
        );
        let mut record = facts.record;
        record["lifecycle_state"] = json!("invalidated");
        record["invalidated_by_event_ref"] = json!(format!("reliance_invalidation_event:{id}"));
        record
    });
    b.add("TaskReliancePacket", record);
}

/// A manifest of inputs; gives its id.
pub(super) fn manifest(b: &mut Builder, inputs: &[String]) -> String {
    let (id, now) = (b.id("manifest"), b.now());
    let mut record = json!({"manifest_id": id, "input_refs": inputs, "created_from_event_seq": b.end(),
        "created_at": now});
    record["input_manifest_hash"] = json!(hash_of(&record));
    b.add("ReadModelInputManifest", record);
    id
}

/// The header of something that is shown.
fn header(b: &mut Builder, run: &Run, kind: &str, manifest: &str, shown: &str) {
    let (id, now) = (b.id("read-model"), b.now());
    b.add(
        "DerivedReadModelRecord",
        json!({"read_model_id": id, "read_model_kind": kind,
            "input_manifest_ref": format!("read_model_input_manifest:{manifest}"),
            "derivation_policy_ref": format!("policy_snapshot:{}", run.known.policy_snapshot_id),
            "formula_eval_receipt_refs": [], "valid_from_event_seq": b.end(), "payload_ref": shown,
            "created_at": now, "schema_version": "1.0", "run_id": run.run_id, "task_id": run.task_id,
            "matter_id": run.matter_id}),
    );
}

/// The sources that nobody verified, or that are no longer fresh.
fn doubtful(b: &Builder, sources: &[Source]) -> Vec<String> {
    let now = b.now();
    let is_stale = |one: &Source| one.fresh_until.as_ref().is_some_and(|until| *until <= now);
    let all = sources.iter().filter(|one| !one.verified || is_stale(one));
    all.map(|one| format!("src:{}", one.id)).collect()
}

/// The sources that places of claims are in.
fn cited(run: &Run) -> Vec<Source> {
    let all = run.known.workspace.sources.iter();
    all.filter(|one| run.known.anchor_sources.contains(&one.id)).cloned().collect()
}

/// The evidence behind the artifact.
pub(super) fn package(b: &mut Builder, run: &mut Run) {
    let read = format!("source_workspace_operation_receipt:{}", workspace::read(b, run));
    run.known.package_id = b.id("package");
    let head = format!("artifact_version:{}", run.known.head_version_id);
    let all = |wanted: Option<bool>, anchors: &[(String, &str)]| -> Vec<String> {
        let is_wanted = |strength: &str| wanted.is_none_or(|wanted| (strength == "contradicts") == wanted);
        let own = anchors.iter().filter(|(_, strength)| is_wanted(strength));
        own.map(|(id, _)| format!("source_evidence_anchor:{id}")).collect()
    };
    let entries: Vec<Value> = run
        .known
        .claims
        .iter()
        .map(|claim| {
            json!({"claim_ref": claim.claim_ref, "supporting_anchor_refs": all(Some(false), &claim.anchors),
                "contradicting_anchor_refs": all(Some(true), &claim.anchors),
                "support_status": claim.status, "support_derivation_receipt_ref":
                    format!("claim_support_derivation_receipt:{}", claim.receipt_id)})
        })
        .collect();
    let anchors: Vec<String> = run.known.claims.iter().flat_map(|claim| all(None, &claim.anchors)).collect();
    let sources = cited(run);
    let (taint, data_class, privileged) = finding::whole(&sources);
    let (stale, now) = (doubtful(b, &sources), b.now());
    let refs: Vec<String> = sources.iter().map(|one| format!("src:{}", one.id)).collect();
    let needs = open_needs(b, run);
    b.add(
        "EvidencePackage",
        json!({"evidence_package_id": run.known.package_id, "task_id": run.task_id, "run_id": run.run_id,
            "final_artifact_refs": [head], "source_workspace_snapshot_ref": read, "source_record_refs": refs,
            "evidence_anchor_refs": anchors, "claim_support_map": entries,
            "unresolved_research_need_refs": needs, "stale_or_unverified_source_refs": stale,
            "data_class": data_class, "matter_id": run.matter_id, "taint_class": taint,
            "privileged": privileged, "created_at": now, "schema_version": "1.1"}),
    );
    let mut inputs = vec![head, read];
    inputs.extend(anchors);
    inputs.extend(refs);
    let manifest = manifest(b, &inputs);
    let shown = format!("evidence_package:{}", run.known.package_id);
    header(b, run, "EvidencePackage", &manifest, &shown);
}

/// The questions to sources of this run that nobody answered.
fn open_needs(b: &Builder, run: &Run) -> Vec<String> {
    let mut last: BTreeMap<String, String> = BTreeMap::new();
    let text = |row: &super::Written, name: &str| {
        row.draft.record.get(name).and_then(Json::as_str).unwrap_or_default().to_owned()
    };
    for (_, row) in b.own().filter(|(_, row)| row.draft.kind == "ResearchNeed") {
        if text(row, "run_id") == run.run_id {
            last.insert(text(row, "need_id"), text(row, "status"));
        }
    }
    let is_open = |status: &str| ["open", "leased"].contains(&status);
    let open = last.into_iter().filter(|(_, status)| is_open(status));
    open.map(|(id, _)| format!("research_need:{id}")).collect()
}

/// A packet as it was written last, and what stands against relying on it.
pub(super) struct Packet {
    record: Value,
    pub(super) facts: BTreeSet<Fact>,
}

/// The packet: what it rests on, and what follows from that.
pub(super) fn packet(b: &mut Builder, run: &mut Run) -> Packet {
    run.known.packet_id = b.id("packet");
    let as_of = b.end();
    let facts = facts(b, run);
    let status = reliance::status(&facts).as_str();
    let limits: Vec<&str> = reliance::limitations(&facts).into_iter().map(Limitation::as_str).collect();
    let count = |fact: Fact| u64::from(facts.contains(&fact));
    let people = count(Fact::HardCallOpen) + count(Fact::ChainForAPerson);
    let inputs = json!({"limitations": limits, "evidence_packages": 1 - count(Fact::EvidenceMissing),
        "failed_chains": count(Fact::ChainFailed),
        "live_blockers": count(Fact::LiveBlocker), "contradicted_claims": count(Fact::ClaimContradicted),
        "open_hard_calls": people});
    let package = format!("evidence_package:{}", run.known.package_id);
    let from = From {
        inputs,
        input_refs: std::slice::from_ref(&package),
        output_ref: format!("task_reliance_packet:{}", run.known.packet_id),
    };
    let derived = b.derive(run, &registered("reliance_status_v1"), from, member("status"));
    assert_eq!(derived.value.as_str(), Some(status), "the formula and the facts come to the same");
    let (taint, data_class, privileged) = finding::whole(&cited(run));
    let record = json!({"packet_id": run.known.packet_id, "task_id": run.task_id, "run_id": run.run_id,
        "input_manifest": inputs_of(run, as_of),
        "reliance_derivation": {"status": status, "decisive_input_refs": [package],
            "unresolved_limitations": limits, "required_human_review_refs": [],
            "scope_statement": "This version, for this matter.", "derivation_policy_ref": "reliance.default.v1",
            "formula_eval_receipt_ref": derived.receipt_ref, "explanation": "by the facts of the manifest",
            "schema_version": "1.0"},
        "lifecycle_state": "draft", "generated_by_ref": "engine:reliance", "matter_id": run.matter_id,
        "data_class": data_class, "taint_class": taint, "privileged": privileged,
        "user_visible_summary": "See the limitations.", "schema_version": "1.1"});
    b.add("TaskReliancePacket", record.clone());
    let now = b.now();
    b.add(
        "DerivationEdge",
        json!({"output_ref": format!("task_reliance_packet:{}", run.known.packet_id),
            "input_refs": [package], "created_at": now}),
    );
    Packet { record, facts }
}

/// The frozen list of what a packet rests on: the last chain, if there is one.
fn inputs_of(run: &Run, as_of: u64) -> Value {
    let chain = run.known.chains.last();
    let list = |text: Option<String>| -> Vec<String> { text.into_iter().collect() };
    let mut manifest = json!({
        "final_artifact_refs": [format!("artifact_version:{}", run.known.head_version_id)],
        "evaluation_chain_ids": list(chain.map(|one| one.id.clone())),
        "evaluation_chain_resolution_receipt_refs":
            list(chain.map(|one| format!("evaluation_chain_resolution_receipt:{}", one.receipt_id))),
        "evaluation_snapshot_refs": list(chain.map(|one| format!("evaluation_snapshot:{}", one.snapshot_id))),
        "source_workspace_snapshot_refs": [],
        "evidence_package_refs": [format!("evidence_package:{}", run.known.package_id)],
        "revision_review_packet_refs": [], "hard_call_resolution_refs": [],
        "policy_decision_refs": [format!("policy_evaluation:{}", run.known.policy_evaluation_id)],
        "known_good_checkpoint_refs": [], "created_from_event_seq": as_of, "schema_version": "1.0"});
    manifest["input_manifest_hash"] = json!(hash_of(&manifest));
    manifest
}

/// What stands against relying on the work now.
fn facts(b: &Builder, run: &Run) -> BTreeSet<Fact> {
    let mut facts = BTreeSet::new();
    if let Some(chain) = run.known.chains.last() {
        if chain.verdict == "failed" {
            facts.insert(Fact::ChainFailed);
        }
        match chain.route.as_str() {
            "human_review_path" => facts.insert(Fact::ChainForAPerson),
            "retry_path" | "block_until_resolved" => facts.insert(Fact::ChainUnresolved),
            _on => false,
        };
        let is_live = |state: &str| ["active", "contested", "human_verified"].contains(&state);
        let own = run.known.findings.iter().filter(|one| chain.result_ids.contains(&one.result_id));
        if own.into_iter().any(|one| one.severity == "blocking" && is_live(one.state)) {
            facts.insert(Fact::LiveBlocker);
        }
        for (_, row) in b.own().filter(|(_, row)| row.draft.kind == "EvaluationResultEnvelope") {
            let record = super::formula::plain(&row.draft.record);
            if chain.result_ids.iter().any(|id| record["result_id"] == json!(id)) {
                let words = record["decision"]["limitations"].as_array().cloned().unwrap_or_default();
                facts.extend(
                    words.iter().filter_map(|word| Limitation::find(word.as_str()?)).map(Fact::Limited),
                );
            }
        }
    }
    if !doubtful(b, &cited(run)).is_empty() {
        facts.insert(Fact::SourceStale);
    }
    if !open_needs(b, run).is_empty() {
        facts.insert(Fact::NeedUnresolved);
    }
    facts.extend(run.known.claims.iter().filter_map(|claim| match claim.status.as_str() {
        "contradicted" => Some(Fact::ClaimContradicted),
        "unsupported" => Some(Fact::ClaimUnsupported),
        "partially_supported" => Some(Fact::ClaimPartlySupported),
        "indeterminate_stale_or_unverified" => Some(Fact::SourceStale),
        _supported => None,
    }));
    facts.extend(open_calls(b, run).then_some(Fact::HardCallOpen));
    facts.extend(unproved(b, run).then_some(Fact::SideEffectUnverified));
    facts
}

/// Whether a question to a person of this run is open.
fn open_calls(b: &Builder, run: &Run) -> bool {
    let mut open: BTreeSet<String> = BTreeSet::new();
    for (_, row) in b.own() {
        let record = &row.draft.record;
        let text = |name: &str| record.get(name).and_then(Json::as_str).unwrap_or_default();
        match row.draft.kind.as_str() {
            "HardRevisionCall" if text("run_id") == run.run_id => {
                open.insert(text("hard_call_id").to_owned());
            }
            "HardCallResolutionReceipt" => {
                open.remove(text("hard_call_id"));
            }
            "TaskCancelReceipt" => {
                for stopped in record.get("stopped_refs").and_then(Json::as_array).unwrap_or_default() {
                    let stopped = stopped.as_str().and_then(|one| one.strip_prefix("hard_revision_call:"));
                    open.remove(stopped.unwrap_or_default());
                }
            }
            _other => {}
        }
    }
    !open.is_empty()
}

/// Whether something was done outside that no receipt proves.
fn unproved(b: &Builder, run: &Run) -> bool {
    let mut open: BTreeSet<String> = BTreeSet::new();
    for (_, row) in b.own().filter(|(_, row)| row.draft.kind == "SideEffectLedgerEntry") {
        let text = |name: &str| row.draft.record.get(name).and_then(Json::as_str).unwrap_or_default();
        let id = text("side_effect_id").to_owned();
        if !text("receipt_ref").is_empty() {
            open.remove(&id);
        } else if text("state") == "executed" && text("run_id") == run.run_id {
            open.insert(id);
        }
    }
    !open.is_empty()
}

/// The packet moves on.
pub(super) fn move_packet(b: &mut Builder, run: &Run, packet: &Packet, (from, to): (&str, &str)) -> Value {
    moved(b, &format!("task_reliance_packet:{}", run.known.packet_id), (from, to));
    let mut record = packet.record.clone();
    record["lifecycle_state"] = json!(to);
    if to == "user_reviewed" || to == "issued" {
        record["reviewed_by_user_ref"] = json!("user:lead");
    }
    if to == "issued" {
        record["issued_at"] = json!(b.now());
    }
    b.add("TaskReliancePacket", record.clone());
    record
}

/// The receipt of something that moved on.
pub(super) fn moved(b: &mut Builder, subject: &str, (from, to): (&str, &str)) {
    let (id, now) = (b.id("moved"), b.now());
    b.add(
        "LifecycleTransitionReceipt",
        json!({"receipt_id": id, "subject_ref": subject, "from_state": from, "to_state": to,
            "actor_ref": "user:lead", "reason": "as the table allows", "created_at": now}),
    );
}
