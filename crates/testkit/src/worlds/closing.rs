//! How a run ends: the work is handed over, and what is shown of it.
//! Owns: these scenes. Must not: change the work.

use super::builder::{Builder, Run};
use super::formula::{From, member, registered};
use super::reliance::{self, manifest, moved};
use countersign_govern::derive::reliance::{Fact, Limitation, State, limitations, status};
use countersign_record::json::Json;
use serde_json::json;

/// The evidence, the packet, and a person who looks at it; issued where that may be.
pub(super) fn hand_over(b: &mut Builder, run: &mut Run) {
    reliance::package(b, run);
    let packet = reliance::packet(b, run);
    run.known.limitations = limitations(&packet.facts).into_iter().map(Limitation::as_str).collect();
    run.known.has_live_blocker = packet.facts.contains(&Fact::LiveBlocker);
    run.known.has_open_call = packet.facts.contains(&Fact::HardCallOpen);
    reliance::move_packet(b, run, &packet, ("draft", "ready_for_review"));
    reliance::move_packet(b, run, &packet, ("ready_for_review", "user_reviewed"));
    if status(&packet.facts).may_be_issued() {
        reliance::move_packet(b, run, &packet, ("user_reviewed", "issued"));
        run.known.is_issued = true;
        certify(b, run);
    }
}

/// The certification of an issued packet.
fn certify(b: &mut Builder, run: &mut Run) {
    let (id, now) = (b.id("certification"), b.now());
    let mut record = json!({"certification_id": id,
        "task_reliance_packet_ref": format!("task_reliance_packet:{}", run.known.packet_id),
        "rendered_certification_ref": format!("rendered:{id}"), "issued_by_ref": "user:lead",
        "issue_command_ref": "reliance.issue_work_product_certification", "lifecycle_state": "draft",
        "created_at": now, "schema_version": "1.0"});
    b.add("WorkProductCertification", record.clone());
    let states = ["draft", "ready_for_review", "user_reviewed", "issued"];
    for step in states.windows(2) {
        moved(b, &format!("work_product_certification:{id}"), (step[0], step[1]));
        record["lifecycle_state"] = json!(step[1]);
        b.add("WorkProductCertification", record.clone());
    }
    run.known.certification_id = Some(id);
}

/// What is shown in the end: the packet, the certification, the health, the chain, the decision.
pub(super) fn show(b: &mut Builder, run: &mut Run) {
    let packet = format!("task_reliance_packet:{}", run.known.packet_id);
    let manifest_id = manifest(b, std::slice::from_ref(&packet));
    header(b, run, ("TaskReliancePacket", &manifest_id), Some(&packet), &[]);
    if let Some(id) = run.known.certification_id.clone() {
        let shown = format!("work_product_certification:{id}");
        let manifest_id = manifest(b, &[packet.clone(), shown.clone()]);
        header(b, run, ("WorkProductCertification", &manifest_id), Some(&shown), &[]);
    }
    health(b, run, &packet);
    if run.known.chains.last().is_some() {
        chain_view(b, run);
        decision_view(b, run);
    }
}

fn header(
    b: &mut Builder,
    run: &Run,
    (kind, manifest_id): (&str, &str),
    shown: Option<&str>,
    receipts: &[String],
) -> String {
    let (id, now) = (b.id("read-model"), b.now());
    let mut record = json!({"read_model_id": id, "read_model_kind": kind,
        "input_manifest_ref": format!("read_model_input_manifest:{manifest_id}"),
        "derivation_policy_ref": format!("policy_snapshot:{}", run.known.policy_snapshot_id),
        "formula_eval_receipt_refs": receipts, "valid_from_event_seq": b.end(), "created_at": now,
        "schema_version": "1.0", "run_id": run.run_id, "task_id": run.task_id, "matter_id": run.matter_id});
    if let Some(shown) = shown {
        record["payload_ref"] = json!(shown);
    }
    b.add("DerivedReadModelRecord", record);
    format!("derived_read_model_record:{id}")
}

/// How the task is doing, by the worst sign.
fn health(b: &mut Builder, run: &mut Run, packet: &str) {
    let states = run.known.outcomes.iter().filter_map(|one| State::find(one.state));
    let states: Vec<&str> = states.map(State::as_str).collect();
    // Of a task without an outcome nobody can say how it is doing.
    if states.is_empty() {
        return;
    }
    let inputs = json!({"outcome_states": states, "live_blockers": u8::from(run.known.has_live_blocker),
        "open_hard_calls": u8::from(run.known.has_open_call), "attention_priorities": [],
        "limitations": run.known.limitations});
    let is_live = |state: &str| ["active", "contested", "human_verified"].contains(&state);
    let last = run.known.chains.last();
    let is_of_last = |result: &String| last.is_some_and(|chain| chain.result_ids.contains(result));
    let blockers: Vec<String> = run
        .known
        .findings
        .iter()
        .filter(|one| one.severity == "blocking" && is_live(one.state) && is_of_last(&one.result_id))
        .map(|one| format!("evaluation_finding_record:{}", one.id))
        .collect();
    let verdicts: Vec<String> = last
        .map(|one| format!("evaluation_chain_resolution_receipt:{}", one.receipt_id))
        .into_iter()
        .collect();
    let mut refs: Vec<String> = [blockers.clone(), verdicts.clone()].concat();
    refs.push(packet.to_owned());
    let from = From { inputs, input_refs: &refs, output_ref: format!("task_health_card:{}", run.task_id) };
    let derived = b.derive(run, &registered("health_status_v1"), from, member("health_status"));
    let manifest_id = manifest(b, &refs);
    let receipts = [derived.receipt_ref];
    let header = header(b, run, ("TaskHealthCard", &manifest_id), None, &receipts);
    b.add(
        "TaskHealthCard",
        json!({"task_id": run.task_id, "run_id": run.run_id,
            "health_status": super::formula::plain(&derived.value), "active_blocker_refs": blockers,
            "latest_verdict_refs": verdicts, "reliance_packet_ref": packet,
            "derived_read_model_ref": header, "schema_version": "1.0"}),
    );
}

/// The last chain on one page.
fn chain_view(b: &mut Builder, run: &Run) {
    let Some(chain) = run.known.chains.last() else { return };
    let record = format!("evaluation_chain_registry_record:{}", chain.id);
    let receipt = format!("evaluation_chain_resolution_receipt:{}", chain.receipt_id);
    let findings: Vec<String> = run
        .known
        .findings
        .iter()
        .filter(|one| chain.result_ids.contains(&one.result_id))
        .map(|one| format!("evaluation_finding_event:{}", one.event_id))
        .collect();
    let judged = chain.result_ids.iter().skip(1);
    let results: Vec<String> = judged.map(|id| format!("evaluation_result_envelope:{id}")).collect();
    let mut inputs = vec![record.clone(), receipt.clone()];
    inputs.extend(findings.clone());
    inputs.extend(results.clone());
    let manifest_id = manifest(b, &inputs);
    let header = header(b, run, ("EvaluationChainView", &manifest_id), None, &[]);
    let id = b.id("chain-view");
    b.add(
        "UnifiedEvaluationChainView",
        json!({"view_id": id, "chain_id": chain.id, "chain_registry_record_ref": record,
            "chain_resolution_receipt_ref": receipt, "qualitative_finding_refs": findings,
            "quantitative_result_refs": results, "final_route_summary": "as resolved",
            "derived_read_model_ref": header, "schema_version": "1.0"}),
    );
}

/// What led to the decision of the last chain.
fn decision_view(b: &mut Builder, run: &Run) {
    let Some(chain) = run.known.chains.last() else { return };
    let receipt = format!("evaluation_chain_resolution_receipt:{}", chain.receipt_id);
    let policy = format!("policy_evaluation:{}", run.known.policy_evaluation_id);
    let manifest_id = manifest(b, &[receipt.clone(), policy.clone()]);
    let header = header(b, run, ("DecisionAuditView", &manifest_id), None, &[]);
    let id = b.id("audit-view");
    b.add(
        "DecisionAuditView",
        json!({"audit_view_id": id, "target_decision_ref": receipt,
            "chain_resolution_receipt_refs": [receipt], "finding_refs": [],
            "policy_decision_refs": [policy], "hard_call_resolution_refs": [],
            "derived_read_model_ref": header, "schema_version": "1.0"}),
    );
}

/// An event type, the member that says what it is about, and the projection of that.
const STREAMS: [(&str, &str, &str); 6] = [
    ("EvaluationFindingEvent", "finding_id", "evaluation_finding_record"),
    ("FindingLifecycleTransitionReceipt", "finding_id", "evaluation_finding_record"),
    ("SourceWorkspaceOperationReceipt", "workspace_id", "source_workspace_current_state"),
    ("OutcomeStateTransitionEvent", "outcome_id", "outcome_record"),
    ("SourceTierTransitionReceipt", "source_id", "source_record"),
    ("EvaluationResultEnvelope", "target_evaluation_chain_id", "evaluation_chain_registry_record"),
];

/// What everything that moves is folded up to.
pub(super) fn link(b: &mut Builder, run: &mut Run) {
    let mut all: Vec<(&str, String, String)> = Vec::new();
    for one in &run.known.findings {
        let event = format!("evaluation_finding_event:{}", one.event_id);
        all.push(("evaluation_finding_record", one.id.clone(), event));
    }
    let operation = format!("source_workspace_operation:{}", run.known.workspace.last_operation);
    all.push(("source_workspace_current_state", run.known.workspace.id.clone(), operation));
    for one in &run.known.outcomes {
        if let Some(event) = first(b, "OutcomeStateTransitionEvent", "outcome_id", &one.id) {
            let event = format!("outcome_state_transition_event:{event}");
            all.push(("outcome_record", one.id.clone(), event));
        }
    }
    for one in &run.known.chains {
        let event = format!("evaluation_result_envelope:{}", one.result_ids[0]);
        all.push(("evaluation_chain_registry_record", one.id.clone(), event));
    }
    for (kind, id, event) in all {
        let (seq, now) = (last_event(b, kind, &id), b.now());
        b.add(
            "EventProjectionLink",
            json!({"canonical_event_ref": event, "current_projection_ref": format!("{kind}:{id}"),
                "projection_event_seq": seq, "projection_valid_at": now, "schema_version": "1.0"}),
        );
    }
}

fn text<'r>(row: &'r super::Written, name: &str) -> Option<&'r str> {
    row.draft.record.get(name).and_then(Json::as_str)
}

/// The id of the first event about something.
fn first(b: &Builder, kind: &str, member: &str, id: &str) -> Option<String> {
    let (_, row) = b.own().find(|(_, row)| row.draft.kind == kind && text(row, member) == Some(id))?;
    text(row, "event_id").map(str::to_owned)
}

/// The place of the last event about something.
fn last_event(b: &Builder, kind: &str, id: &str) -> u64 {
    let subject = format!("{kind}:{id}");
    let is_own = |row: &super::Written| {
        let is_done =
            row.draft.kind != "SourceWorkspaceOperationReceipt" || text(row, "status") == Some("applied");
        let is_moved = row.draft.kind == "LifecycleTransitionReceipt"
            && text(row, "subject_ref") == Some(subject.as_str());
        let of = STREAMS.iter().find(|(event, _, to)| *event == row.draft.kind && *to == kind);
        is_moved || is_done && of.is_some_and(|(_, member, _)| text(row, member) == Some(id))
    };
    b.own().rfind(|(_, row)| is_own(row)).map_or(0, |(place, _)| place)
}
