//! Research: a workspace of sources, questions that are leased and answered, what leaves the workspace, what enters the library.
//! Owns: how a workspace is operated on. Must not: evaluate.

use super::builder::{Builder, Run, hash_of};
use super::making::{attended, attention, decision, moves};
use serde_json::{Value, json};

/// A workspace as it stands.
pub(super) struct Workspace {
    pub(super) id: String,
    head: String,
    seq: u64,
    sources: Vec<Value>,
}

impl Workspace {
    /// An empty one.
    pub(super) fn new(b: &mut Builder, run: &Run) -> Self {
        let id = b.id("workspace");
        let head = hash_of(&json!({"workspace": id, "task": run.task_id}));
        Workspace { id, head, seq: 0, sources: Vec::new() }
    }

    /// Something is done to it; `write` writes what the operation is about. The reference to the operation.
    fn operate(
        &mut self,
        b: &mut Builder,
        run: &Run,
        kind: &str,
        payload: &str,
        more: &Value,
        write: impl FnOnce(&mut Builder, &mut Self),
    ) -> String {
        let (id, receipt) = (b.id("operation"), b.id("operated"));
        let mut precondition = json!({
            "workspace_id": self.id, "expected_workspace_head_hash": self.head, "expected_event_seq": self.seq,
            "lock_mode": "optimistic_event_seq", "on_conflict": "abort_and_reevaluate", "schema_version": "1.0"
        });
        for (name, value) in more.as_object().into_iter().flatten() {
            precondition[name] = value.clone();
        }
        let held =
            self.sources.iter().find(|one| payload.ends_with(one["source_id"].as_str().unwrap_or("-")));
        let class = |member: &str, usual: &str| held.map_or(usual.into(), |held| held[member].clone());
        let operation = json!({
            "operation_id": id, "operation_kind": kind, "task_id": run.task_id, "run_id": run.run_id,
            "workspace_id": self.id, "actor_ref": "module:research", "idempotency_key": hash_of(&id),
            "policy_decision_refs": [], "data_class": class("data_class", "internal"),
            "taint_class": class("taint_class", "user_trusted_bounded"),
            "privileged": held.is_some_and(|held| held["privileged"] == true), "matter_id": run.matter_id, "precondition": precondition, "payload_ref": payload,
            "created_at": b.now(), "schema_version": "1.0"
        });
        b.add("SourceWorkspaceOperation", operation.clone());
        write(b, self);
        let head = hash_of(&json!({"prev": self.head, "op": hash_of(&operation), "seq": self.seq + 1}));
        b.add(
            "SourceWorkspaceOperationReceipt",
            json!({
                "receipt_id": receipt, "operation_id": id, "operation_kind": kind, "workspace_id": self.id,
                "prior_workspace_head_hash": self.head, "new_workspace_head_hash": head,
                "prior_event_seq": self.seq, "new_event_seq": self.seq + 1, "status": "applied",
                "created_at": b.now(), "schema_version": "1.0"
            }),
        );
        (self.head, self.seq) = (head, self.seq + 1);
        self.show(b, run, &id);
        format!("source_workspace_operation:{id}")
    }

    /// How it stands now, after an operation.
    fn show(&self, b: &mut Builder, run: &Run, operation: &str) {
        b.share_once(
            "TaintAggregationPolicy",
            "whole",
            json!({
                "policy_id": "whole", "workspace_taint_rule": "max_taint",
                "any_privileged_record_marks_workspace_privileged": true,
                "matter_scope_rule": "max_scope_within_matter_only", "schema_version": "1.0"
            }),
        );
        let worst = |member: &str, order: &[&str]| {
            let of = |one: &Value| order.iter().position(|word| one[member] == *word).unwrap_or_default();
            order[self.sources.iter().map(of).max().unwrap_or_default()].to_owned()
        };
        let refs =
            self.sources.iter().map(|one| format!("src:{}", one["source_id"].as_str().unwrap_or_default()));
        let state = json!({
            "workspace_id": self.id, "task_id": run.task_id, "head_hash": self.head, "stream_seq": self.seq,
            "record_refs": refs.collect::<Vec<_>>(), "taint_class": worst("taint_class", &TAINTS),
            "data_class": worst("data_class", &CLASSES),
            "privileged": self.sources.iter().any(|one| one["privileged"] == true), "matter_id": run.matter_id,
            "aggregation_policy_ref": "taint_aggregation_policy:whole",
            "canonical_event_ref": format!("source_workspace_operation:{operation}"), "updated_at": b.now()
        });
        b.add("SourceWorkspaceCurrentState", state);
    }

    /// A source comes in; the reference to it.
    pub(super) fn source(&mut self, b: &mut Builder, run: &Run, kind: &Kind) -> String {
        let id = b.id("source");
        let record = json!({
            "source_id": id, "tier": b.random.within(2..4), "source_kind": kind.kind, "workspace_id": self.id,
            "task_id": run.task_id, "trust_basis": kind.basis, "taint_class": kind.taint, "data_class": kind.class,
            "privileged": kind.class == "privileged", "matter_id": run.matter_id, "verification_state": "verified"
        });
        let payload = format!("source_record:{id}");
        self.sources.push(record);
        self.operate(b, run, "add_source_record", &payload, &json!({}), |b, own| {
            let record = own.sources.last_mut().expect("the new one");
            record["updated_at"] = b.now().into();
            b.add("SourceRecord", record.clone());
        });
        format!("src:{id}")
    }

    /// A source is told to be something else; the members that change.
    fn update(&mut self, b: &mut Builder, run: &Run, source: &str, change: &Value) {
        let id = source.trim_start_matches("src:");
        let at = self.sources.iter().position(|one| one["source_id"] == id).expect("one of its sources");
        let precondition = json!({
            "target_record_ref": format!("source_record:{id}"), "expected_target_record_hash": hash_of(&self.sources[at])
        });
        let payload = format!("source_record:{id}");
        self.operate(b, run, "update_source_record", &payload, &precondition, |b, own| {
            for (name, value) in change.as_object().into_iter().flatten() {
                own.sources[at][name] = value.clone();
            }
            own.sources[at]["updated_at"] = b.now().into();
            b.add("SourceRecord", own.sources[at].clone());
        });
    }
}

const TAINTS: [&str; 5] = [
    "internal_corpus_trusted",
    "user_trusted_bounded",
    "external_authority_trusted",
    "external_untrusted",
    "unclassified",
];
const CLASSES: [&str; 4] = ["public", "internal", "privileged", "local_only"];

/// What kind of source something is.
pub(super) struct Kind {
    kind: &'static str,
    basis: &'static str,
    taint: &'static str,
    class: &'static str,
}

pub(super) const LETTER: Kind =
    Kind { kind: "document", basis: "user_supplied", taint: "user_trusted_bounded", class: "internal" };
pub(super) const SECRET: Kind =
    Kind { kind: "document", basis: "user_supplied", taint: "user_trusted_bounded", class: "privileged" };
const PAGE: Kind =
    Kind { kind: "web_source", basis: "web_unverified", taint: "external_untrusted", class: "public" };
const SUMMARY: Kind = Kind {
    kind: "prior_task_output",
    basis: "internal_library",
    taint: "external_untrusted",
    class: "internal",
};

/// A question, as it stands.
pub(super) struct Need {
    pub(super) id: String,
    workspace: Workspace,
    record: Value,
}

impl Need {
    /// A new one of a run.
    pub(super) fn new(b: &mut Builder, run: &Run, workspace: Workspace, target: &str) -> Self {
        let id = b.id("need");
        let scope = *b.random.pick(&["run", "task", "workspace"]);
        let mut record = json!({
            "need_id": id, "need_scope": scope, "task_id": run.task_id, "workspace_id": workspace.id,
            "target_refs": [target], "question": "Which notice period applies?", "status": "open",
            "created_at": b.now(), "updated_at": b.now(), "schema_version": "1.1"
        });
        if scope == "run" {
            record["run_id"] = run.run_id.as_str().into();
        }
        b.add("ResearchNeed", record.clone());
        Need { id, workspace, record }
    }

    fn goes(&mut self, b: &mut Builder, to: &str, more: &Value) {
        self.record["status"] = to.into();
        self.record["updated_at"] = b.now().into();
        for (name, value) in more.as_object().into_iter().flatten() {
            self.record[name] = value.clone();
        }
        b.add("ResearchNeed", self.record.clone());
    }

    fn reference(&self) -> String {
        format!("research_need:{}", self.id)
    }

    /// A module holds it for a while; the token of the lease.
    fn lease(&mut self, b: &mut Builder, seconds: i64) -> String {
        let token = b.id("lease");
        b.add(
            "ResearchNeedLease",
            json!({
                "need_id": self.id, "leased_by_module_id": "research", "lease_token": token, "acquired_at": b.now(),
                "expires_at": b.time(seconds), "on_expiry": "release_for_reclaim", "schema_version": "1.0"
            }),
        );
        self.goes(b, "leased", &json!({}));
        token
    }

    /// It is leased and answered from a source.
    pub(super) fn answered(&mut self, b: &mut Builder, run: &Run) {
        let token = self.lease(b, 3_600);
        let source = self.workspace.source(b, run, &LETTER);
        let answer = format!("source_record:{}", source.trim_start_matches("src:"));
        let (subject, more) = (
            self.reference(),
            json!({
                "target_record_ref": self.reference(), "lock_mode": "pessimistic_write_lock",
                "lock_lease_ref": format!("research_need_lease:{token}")
            }),
        );
        self.workspace.operate(b, run, "answer_research_need", &answer, &more, |b, _| {
            moves(b, &subject, "leased", "answered", "module:research");
        });
        self.goes(b, "answered", &json!({"answer_ref": answer}));
    }
}

/// A question: a lease may run out first, and it may take a person.
pub(super) fn research(b: &mut Builder, run: &mut Run) {
    let workspace = Workspace::new(b, run);
    let artifact = b.id("brief");
    let mut need = Need::new(b, run, workspace, &format!("claim:{artifact}/notice"));
    if b.random.once_in(2) {
        need.lease(b, 300);
        b.later(600);
        moves(b, &need.reference(), "leased", "open", "engine:leases");
        need.goes(b, "open", &json!({}));
    }
    if b.random.once_in(2) {
        let subject = need.reference();
        // Whoever is needed is told at once.
        let item = b.together(|b| {
            moves(b, &subject, "open", "human_needed", "module:research");
            attention(b, run, "research_need_human", &subject, "Only the client knows what was agreed.")
        });
        need.goes(b, "human_needed", &json!({"human_needed_reason": "It went from open to human_needed."}));
        b.later(900);
        moves(b, &subject, "human_needed", "open", "user:client");
        need.goes(b, "open", &json!({}));
        attended(b, item, "user:client");
    }
    need.answered(b, run);
}

/// A source from the web, what is summed up from it, and a person who clears it.
pub(super) fn taint(b: &mut Builder, run: &mut Run) {
    let mut workspace = Workspace::new(b, run);
    let page = workspace.source(b, run, &PAGE);
    let letter = workspace.source(b, run, &LETTER);
    let summary = workspace.source(b, run, &SUMMARY);
    let edge = json!({"output_ref": summary, "input_refs": [page, letter], "created_at": b.now()});
    b.add("DerivationEdge", edge);
    let (confirmation, node) = (b.id("confirmation"), b.id("sanitized"));
    b.add(
        "UserConfirmation",
        json!({
            "confirmation_id": confirmation, "user_ref": "user:reviewer", "subject_ref": summary, "created_at": b.now()
        }),
    );
    b.add(
        "SanitizationNode",
        json!({
            "node_id": node, "input_taint": "external_untrusted", "output_taint": "user_trusted_bounded",
            "method": "human_review", "evidence_ref": format!("user_confirmation:{confirmation}"),
            "input_ref": summary, "output_ref": summary, "created_at": b.now(), "schema_version": "1.0"
        }),
    );
    workspace.update(b, run, &summary, &json!({"taint_class": "user_trusted_bounded"}));
}

/// A query goes out, and a bundle; the bundle only after a person agreed.
pub(super) fn externalize(b: &mut Builder, run: &mut Run) {
    let mut workspace = Workspace::new(b, run);
    let secret = workspace.source(b, run, &SECRET);
    let (cap, spent) = (cost(b, 5.0, true), cost(b, 0.4, false));
    let asking = policy(b, "external_source_query", Some(&cap));
    let (query, queried) = (b.id("query"), b.id("left"));
    b.add(
        "SourceQueryRecord",
        json!({
            "query_id": query, "workspace_id": workspace.id, "task_id": run.task_id, "run_id": run.run_id,
            "query_text": "term of notice", "route": "external_source_query", "created_at": b.now()
        }),
    );
    let asked = format!("source_query_record:{query}");
    workspace.operate(b, run, "append_source_query_record", &asked, &json!({}), |b, own| {
        let went_out = json!({
            "receipt_id": queried, "externalization_kind": "external_source_query", "workspace_id": own.id,
            "source_record_refs": [], "policy_ref": format!("workspace_externalization_policy:{asking}"),
            "query_ref": asked, "cost_vector_ref": spent, "status": "completed",
            "irreversible_disclosure_possible": true, "created_at": b.now(), "schema_version": "1.0"
        });
        b.add("WorkspaceExternalizationReceipt", went_out);
    });
    let exporting = policy(b, "export_bundle", None);
    let confirmation = b.id("confirmation");
    let subject = format!("source_workspace_current_state:{}", workspace.id);
    b.add(
        "UserConfirmation",
        json!({
            "confirmation_id": confirmation, "user_ref": "user:reviewer", "subject_ref": subject, "created_at": b.now()
        }),
    );
    let status = *b.random.pick(&["completed", "completed", "cancelled"]);
    let exported = json!({
        "receipt_id": b.id("left"), "externalization_kind": "export_bundle", "workspace_id": workspace.id,
        "source_record_refs": [secret], "policy_ref": format!("workspace_externalization_policy:{exporting}"),
        "user_confirmation_ref": format!("user_confirmation:{confirmation}"),
        "redaction_preview_ref": format!("preview:{}", workspace.id), "status": status,
        "irreversible_disclosure_possible": true, "created_at": b.now(), "schema_version": "1.0"
    });
    b.add("WorkspaceExternalizationReceipt", exported);
}

fn policy(b: &mut Builder, kind: &str, cap: Option<&str>) -> String {
    let id = b.id("leaving");
    let mut policy = json!({
        "policy_id": id, "externalization_kind": kind, "requires_user_confirmation": cap.is_none(),
        "requires_redaction_preview": cap.is_none(), "allowed_data_classes": ["public", "internal", "privileged"],
        "allowed_taint_classes": ["internal_corpus_trusted", "user_trusted_bounded", "external_untrusted"],
        "provider_logging_warning_required": cap.is_some(), "receipt_required": true, "replay_policy": "never",
        "warning_text": "This leaves the workspace.", "schema_version": "1.0"
    });
    if let Some(cap) = cap {
        policy["max_cost_vector_ref"] = cap.into();
    }
    b.share("WorkspaceExternalizationPolicy", policy);
    id
}

/// A cost in dollars, as a cap or as it came; the reference to it.
fn cost(b: &mut Builder, usd: f64, is_cap: bool) -> String {
    let id = b.id("cost");
    let mut amount = json!({"expected": usd, "unit": "usd"});
    if is_cap {
        amount["hard_cap"] = (usd * 2.0).into();
    }
    b.add(
        "CostVector",
        json!({
            "cost_vector_id": id, "components": {"usd": amount},
            "basis": if is_cap { "provider_quote" } else { "measured_actual" }, "estimator_confidence": "calibrated",
            "assumptions": [], "schema_version": "1.0"
        }),
    );
    format!("cost_vector:{id}")
}

/// A source shall enter the library: a person lets it, or the gate does not.
pub(super) fn promote(b: &mut Builder, run: &mut Run) {
    let mut workspace = Workspace::new(b, run);
    let is_secret = b.random.once_in(2);
    let source = workspace.source(b, run, if is_secret { &SECRET } else { &LETTER });
    let policy = decision(b, "library", "allow", false);
    let gate = b.id("gate");
    b.share(
        "LibraryPromotionGate",
        json!({
            "gate_id": gate, "min_tier": 2, "requires_verification_state": "verified",
            "ec_policy_decision_ref": policy, "requires_access_tier": "librarian",
            "privileged_sources_auto_promote_allowed": false, "schema_version": "1.0"
        }),
    );
    let id = b.id("candidate");
    let mut candidate = json!({
        "candidate_id": id, "source_record_ref": source, "workspace_id": workspace.id,
        "requested_by_ref": "module:research", "status": "queued", "created_at": b.now(), "schema_version": "1.0"
    });
    let subject = format!("library_promotion_candidate:{id}");
    workspace.operate(b, run, "promote_library_candidate", &subject, &json!({}), |b, _| {
        b.add("LibraryPromotionCandidate", candidate.clone());
    });
    moves(b, &subject, "queued", "approved", "user:librarian");
    candidate["status"] = "approved".into();
    b.add("LibraryPromotionCandidate", candidate.clone());
    let is_promoted = !b.random.once_in(3);
    let mut receipt = json!({
        "receipt_id": b.id("promotion"), "candidate_id": id, "gate_ref": format!("library_promotion_gate:{gate}"),
        "status": if is_promoted { "promoted" } else { "blocked_by_policy" }, "created_at": b.now(),
        "schema_version": "1.0"
    });
    if is_promoted {
        receipt["durable_library_write_ref"] = format!("library_entry:{id}").into();
        receipt["cleared_by_access_tier"] = "librarian".into();
    }
    b.add("LibraryPromotionReceipt", receipt);
    candidate["status"] = if is_promoted { "promoted" } else { "rejected" }.into();
    b.add("LibraryPromotionCandidate", candidate);
}
