//! Sources and the workspace that holds them: every change on a known state, with a receipt.
//! Owns: these scenes, and writing operations for others. Must not: evaluate anything.

use super::builder::{Builder, Run, hash_of};
use super::known::Source;
use serde_json::{Value, json};

/// What is taken in.
#[derive(Clone, Copy, Debug)]
pub(super) enum NewSource {
    Contract,
    Mail,
    Page,
    Decision,
    Memo,
}

impl NewSource {
    pub(super) const ALL: [NewSource; 5] =
        [NewSource::Contract, NewSource::Mail, NewSource::Page, NewSource::Decision, NewSource::Memo];

    fn source(self, id: String) -> Source {
        let (kind, taint, trust_basis, data_class, privileged) = match self {
            NewSource::Contract => ("document", "user_trusted_bounded", "user_supplied", "internal", false),
            NewSource::Mail => ("email", "user_trusted_bounded", "user_supplied", "privileged", true),
            NewSource::Page => ("web_source", "external_untrusted", "web_unverified", "public", false),
            NewSource::Decision => {
                ("case_law", "external_authority_trusted", "verified_authority_database", "public", false)
            }
            NewSource::Memo => {
                ("library_entry", "internal_corpus_trusted", "internal_library", "internal", false)
            }
        };
        let (tier, verified, fresh_until, hash) = (1, false, None, String::new());
        Source { id, kind, taint, trust_basis, data_class, privileged, tier, verified, fresh_until, hash }
    }
}

/// An operation that is asked for.
pub(super) struct Operation {
    pub(super) kind: &'static str,
    pub(super) payload_ref: Option<String>,
    pub(super) source: Option<Source>,
    pub(super) lease: Option<String>,
}

impl Operation {
    pub(super) fn on(kind: &'static str, source: &Source) -> Self {
        let payload_ref = Some(format!("src:{}", source.id));
        Operation { kind, payload_ref, source: Some(source.clone()), lease: None }
    }
}

/// Writes an operation on the state that the workspace is in; gives its id and its hash.
fn ask(b: &mut Builder, run: &Run, operation: &Operation, expected: Option<(&str, u64)>) -> (String, String) {
    let workspace = &run.known.workspace;
    let (id, now) = (b.id("operation"), b.now());
    let holds = |source: &Source| (source.data_class, source.taint, source.privileged);
    let (data_class, taint, privileged) =
        operation.source.as_ref().map_or(("public", "internal_corpus_trusted", false), holds);
    // Reading is not asked for; what changes something is.
    let decision = format!("policy_evaluation:{}", run.known.policy_evaluation_id);
    let decisions: Vec<String> = expected.map(|_| decision).into_iter().collect();
    let mut record = json!({"operation_id": id, "operation_kind": operation.kind, "task_id": run.task_id,
        "run_id": run.run_id, "workspace_id": workspace.id, "actor_ref": "engine:worker",
        "idempotency_key": hash_of(&json!([workspace.id, id])),
        "policy_decision_refs": decisions,
        "data_class": data_class, "taint_class": taint, "matter_id": run.matter_id, "privileged": privileged,
        "created_at": now, "schema_version": "1.0"});
    if let Some(payload) = &operation.payload_ref {
        record["payload_ref"] = json!(payload);
    }
    if let Some((head, seq)) = expected {
        let mut precondition = json!({"workspace_id": workspace.id, "expected_workspace_head_hash": head,
            "expected_event_seq": seq, "lock_mode": "optimistic_event_seq",
            "on_conflict": "abort_and_reevaluate", "schema_version": "1.0"});
        if let Some(source) = operation.source.as_ref().filter(|source| !source.hash.is_empty()) {
            precondition["target_record_ref"] = json!(format!("src:{}", source.id));
            precondition["expected_target_record_hash"] = json!(source.hash);
        }
        if let Some(lease) = &operation.lease {
            precondition["lock_mode"] = json!("pessimistic_write_lock");
            precondition["lock_lease_ref"] = json!(lease);
            precondition["on_conflict"] = json!("queue_behind_lock");
        }
        record["precondition"] = precondition;
    }
    let hash = hash_of(&record);
    b.add("SourceWorkspaceOperation", record);
    (id, hash)
}

/// The receipt of an operation.
fn receipt(b: &mut Builder, run: &Run, operation: (&str, &str), status: &str, members: Value) -> String {
    let (id, now) = (b.id("operation-receipt"), b.now());
    let mut record = json!({"receipt_id": id, "operation_id": operation.0, "operation_kind": operation.1,
        "workspace_id": run.known.workspace.id, "status": status, "created_at": now, "schema_version": "1.0"});
    for (name, value) in members.as_object().into_iter().flatten() {
        record[name] = value.clone();
    }
    b.add("SourceWorkspaceOperationReceipt", record);
    id
}

/// Carries out an operation that changes the workspace: the head after it is that of the chain.
pub(super) fn apply(b: &mut Builder, run: &mut Run, operation: &Operation) {
    let (head, seq) = (run.known.workspace.head.clone(), run.known.workspace.seq);
    let (id, hash) = ask(b, run, operation, Some((&head, seq)));
    let new_head = hash_of(&json!({"prev": head, "op": hash, "seq": seq + 1}));
    let members = json!({"prior_workspace_head_hash": head, "new_workspace_head_hash": new_head,
        "prior_event_seq": seq, "new_event_seq": seq + 1});
    receipt(b, run, (&id, operation.kind), "applied", members);
    let workspace = &mut run.known.workspace;
    (workspace.head, workspace.seq, workspace.last_operation) = (new_head, seq + 1, id);
}

/// Reads the workspace; gives the id of the receipt.
pub(super) fn read(b: &mut Builder, run: &Run) -> String {
    let kind = "read_workspace_snapshot";
    let operation = Operation { kind, payload_ref: None, source: None, lease: None };
    let (id, _) = ask(b, run, &operation, None);
    let members = json!({"prior_workspace_head_hash": run.known.workspace.head,
        "prior_event_seq": run.known.workspace.seq});
    receipt(b, run, (&id, kind), "read_completed", members)
}

/// The row of a source as it stands now.
pub(super) fn fold_source(b: &mut Builder, run: &mut Run, at: usize) {
    let now = b.now();
    let source = &run.known.workspace.sources[at];
    let mut record = json!({"source_id": source.id, "tier": source.tier, "source_kind": source.kind,
        "workspace_id": run.known.workspace.id, "task_id": run.task_id, "trust_basis": source.trust_basis,
        "taint_class": source.taint, "data_class": source.data_class, "matter_id": run.matter_id,
        "privileged": source.privileged, "updated_at": now,
        "verification_state": if source.verified { "verified" } else { "unverified" }});
    if let Some(until) = &source.fresh_until {
        record["fresh_until"] = json!(until);
    }
    if source.kind == "case_law" {
        record["legal_payload"] = json!({"court": "Court of Appeal", "jurisdiction": "UT",
            "source_authority_level": "binding", "treatment_status": "current", "schema_version": "1.1"});
        record["applicability_scopes"] = json!([{"scope_kind": "legal_jurisdiction", "scope_value": "UT",
            "authority_level": "binding", "schema_version": "1.1"}]);
    }
    run.known.workspace.sources[at].hash = hash_of(&record);
    b.add("SourceRecord", record);
    fold(b, run);
}

/// The row of the workspace as it stands now.
fn fold(b: &mut Builder, run: &Run) {
    let (workspace, now) = (&run.known.workspace, b.now());
    let order = [
        "internal_corpus_trusted",
        "user_trusted_bounded",
        "external_authority_trusted",
        "external_untrusted",
    ];
    let classes = ["public", "internal", "privileged"];
    let place = |all: &[&str], one: &str| all.iter().position(|word| *word == one).unwrap_or_default();
    let taint = workspace.sources.iter().map(|one| place(&order, one.taint)).max().unwrap_or_default();
    let class = workspace.sources.iter().map(|one| place(&classes, one.data_class)).max().unwrap_or_default();
    let refs: Vec<String> = workspace.sources.iter().map(|one| format!("src:{}", one.id)).collect();
    b.add(
        "SourceWorkspaceCurrentState",
        json!({"workspace_id": workspace.id, "task_id": run.task_id, "matter_id": run.matter_id,
            "head_hash": workspace.head, "stream_seq": workspace.seq, "record_refs": refs,
            "taint_class": order[taint], "data_class": classes[class],
            "privileged": workspace.sources.iter().any(|one| one.privileged),
            "aggregation_policy_ref": "taint_aggregation_policy:taint",
            "canonical_event_ref": format!("source_workspace_operation:{}", workspace.last_operation),
            "updated_at": now}),
    );
}

/// Takes a source in.
pub(super) fn add_source(b: &mut Builder, run: &mut Run, kind: NewSource) {
    let source = kind.source(b.id("source"));
    apply(b, run, &Operation::on("add_source_record", &source));
    run.known.workspace.sources.push(source);
    let last = run.known.workspace.sources.len() - 1;
    fold_source(b, run, last);
}

fn any_source(b: &mut Builder, run: &Run) -> usize {
    b.random.index(0..run.known.workspace.sources.len())
}

/// Somebody verifies a source, and it is fresh for a while.
pub(super) fn verify(b: &mut Builder, run: &mut Run) {
    let at = any_source(b, run);
    let source = run.known.workspace.sources[at].clone();
    apply(b, run, &Operation::on("add_verification_record", &source));
    run.known.workspace.sources[at].verified = true;
    run.known.workspace.sources[at].fresh_until = Some(b.time(30 * 86_400));
    fold_source(b, run, at);
}

/// A source is documented better, or less by leave of somebody who may give it.
pub(super) fn move_tier(b: &mut Builder, run: &mut Run) {
    let at = any_source(b, run);
    let source = run.known.workspace.sources[at].clone();
    let to = if source.tier == 1 { 2 } else { source.tier - 1 };
    apply(b, run, &Operation::on("record_tier_transition", &source));
    let (id, now) = (b.id("tier-receipt"), b.now());
    let mut record = json!({"receipt_id": id, "source_id": source.id, "from_tier": source.tier, "to_tier": to,
        "transition_reason": "documentation reviewed", "actor_ref": "user:librarian", "created_at": now,
        "schema_version": "1.0"});
    if to < source.tier {
        record["cleared_by_access_tier"] = json!("matter_lead");
    }
    b.add("SourceTierTransitionReceipt", record);
    run.known.workspace.sources[at].tier = to;
    fold_source(b, run, at);
}

/// Two write on the same state: one is applied, the other told so, and it tries again on what it reads then.
pub(super) fn conflict(b: &mut Builder, run: &mut Run) {
    let (one, other) = (any_source(b, run), any_source(b, run));
    let (head, seq) = (run.known.workspace.head.clone(), run.known.workspace.seq);
    let source = run.known.workspace.sources[other].clone();
    let late = Operation::on("update_source_record", &source);
    let (id, _) = ask(b, run, &late, Some((&head, seq)));
    let first = run.known.workspace.sources[one].clone();
    apply(b, run, &Operation::on("update_source_record", &first));
    fold_source(b, run, one);
    let members = json!({"conflict_reason": "event_seq_mismatch", "prior_event_seq": run.known.workspace.seq,
        "prior_workspace_head_hash": run.known.workspace.head});
    receipt(b, run, (&id, late.kind), "conflict", members);
    read(b, run);
    let again = run.known.workspace.sources[other].clone();
    apply(b, run, &Operation::on("update_source_record", &again));
    fold_source(b, run, other);
}

/// A writer that holds the lock marks a source as stale.
pub(super) fn locked(b: &mut Builder, run: &mut Run) {
    let at = any_source(b, run);
    let source = run.known.workspace.sources[at].clone();
    let lease = Some(format!("lease:{}", b.id("lease")));
    apply(b, run, &Operation { lease, ..Operation::on("mark_source_stale", &source) });
    run.known.workspace.sources[at].fresh_until = Some(b.now());
    fold_source(b, run, at);
}

/// Something is looked up in passing, and a policy refuses an operation: neither changes the workspace.
pub(super) fn in_passing(b: &mut Builder, run: &mut Run) {
    let (id, now) = (b.id("lookup"), b.now());
    b.add(
        "EphemeralSourceLookupReceipt",
        json!({"receipt_id": id, "tool_receipt_ref": format!("tool_receipt:{id}"),
            "source_title_or_label": "a dictionary", "lookup_purpose": "spelling of a name",
            "may_support_downstream_claims": false, "created_at": now, "schema_version": "1.0"}),
    );
    let at = any_source(b, run);
    let source = run.known.workspace.sources[at].clone();
    let (head, seq) = (run.known.workspace.head.clone(), run.known.workspace.seq);
    let refused = Operation::on("promote_library_candidate", &source);
    let (id, _) = ask(b, run, &refused, Some((&head, seq)));
    receipt(b, run, (&id, refused.kind), "rejected_by_policy", json!({}));
}
