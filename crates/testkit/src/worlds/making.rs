//! What many scenes write: receipts of formulas, outcomes, versions of artifacts, results, moves.
//! Owns: how these look. Must not: tell a story of its own.
//!
//! What a scene opens it closes: a question is answered, a side effect has its receipt.

use super::builder::{Builder, Run};
use super::formula::{From, input, json_of, plain, status};
use countersign_govern::formula::spec::{Shape, Spec, Vector};
use countersign_govern::formula::{self, registry};
use countersign_govern::types::formula::MetricValueKind;
use serde_json::{Value, json};

/// Something that a formula gave.
pub(super) struct Derived<'a> {
    /// The formula.
    pub(super) formula: &'a str,
    /// Its inputs.
    pub(super) inputs: Value,
    /// The records that they were taken from.
    pub(super) from: Vec<String>,
    /// The record that has the value.
    pub(super) output: String,
}

/// Formulas that only these logs have.
const OWN: [Spec; 1] = [Spec {
    inputs: &[
        input("usd", Shape::Numbers, "dollars of each part"),
        input("input_tokens", Shape::Numbers, "tokens of each part"),
    ],
    value_kind: MetricValueKind::CostVector,
    vectors: &[
        vector(
            "two",
            r#"{"usd":[1,2],"input_tokens":[10,20]}"#,
            r#"{"usd":{"expected":3,"p90":6,"unit":"usd"},"input_tokens":{"expected":30,"p90":60,"unit":"input_tokens"}}"#,
        ),
        vector("missing_tokens", r#"{"usd":[1]}"#, "\"the input input_tokens is missing\""),
    ],
    ..status(
        "cost_sum_v1",
        "What parts cost together, if all that is dear comes together.",
        "{ usd: { expected: sum(usd), p90: 2 * sum(usd), unit: 'usd' }, input_tokens: { expected: sum(input_tokens), p90: 2 * sum(input_tokens), unit: 'input_tokens' } }",
    )
}];

const fn vector(name: &'static str, inputs: &'static str, expected: &'static str) -> Vector {
    Vector { name, inputs, expected, codes: &[] }
}

/// A formula by its id: one that is registered, or one of these logs.
fn spec(id: &str) -> Spec {
    let own = || OWN.into_iter().find(|spec| spec.id == id);
    registry::find(id).copied().or_else(own).expect("a formula")
}

/// Registers a formula that is named before it is computed.
pub(super) fn register(b: &mut Builder, id: &str) {
    b.register(&spec(id));
}

/// What a formula gives.
pub(super) fn value_of(formula: &str, inputs: &Value) -> Value {
    let ready = spec(formula).read().expect("a formula that can be read");
    let inputs = json_of(inputs);
    let evaluated =
        formula::evaluate(&ready, inputs.as_object().expect("inputs")).expect("inputs that fit the formula");
    plain(&evaluated.value)
}

/// Writes the receipt of a value, which is what the formula gives or a part of it; the reference to the receipt.
pub(super) fn receipt(b: &mut Builder, run: &Run, of: &Derived<'_>, given: &Value) -> String {
    let from = From { inputs: of.inputs.clone(), input_refs: &of.from, output_ref: of.output.clone() };
    b.derive(run, &spec(of.formula), from, |_| json_of(given)).receipt_ref
}

/// Writes a record together with the receipts of those of its members that a formula gave.
pub(super) fn proven(
    b: &mut Builder,
    run: &Run,
    kind: &str,
    record: Value,
    of: &Derived<'_>,
    members: &[&Value],
) {
    register(b, of.formula);
    let id = of.output.split_once(':').map(|(_, id)| id).expect("a reference");
    b.together(|b| {
        b.add_named(kind, id, record);
        for value in members {
            receipt(b, run, of, value);
        }
    });
}

/// A version of an artifact, made by a step of a plan or at the beginning; the reference to it.
pub(super) fn version(b: &mut Builder, run: &Run, artifact: &str, step: Option<&str>, class: &str) -> String {
    let id = b.id(&format!("{artifact}-v"));
    let hash = b.some_hash();
    let mut record = json!({
        "artifact_version_id": id, "artifact_stable_id": artifact, "task_id": run.task_id, "run_id": run.run_id,
        "content_hash": hash, "safety_class": class, "created_at": b.now()
    });
    if let Some(step) = step {
        record["produced_by_step_id"] = step.into();
    }
    b.add("ArtifactVersion", record);
    format!("artifact_version:{id}")
}

/// A version goes from one state to another.
pub(super) fn version_goes(b: &mut Builder, run: &Run, version: &str, from: Option<&str>, to: &str) {
    let mut event = json!({
        "event_id": b.id("version-event"), "artifact_version_ref": version, "to_state": to, "run_id": run.run_id,
        "created_at": b.now()
    });
    if let Some(from) = from {
        event["from_state"] = from.into();
    }
    b.add("ArtifactVersionTransitionEvent", event);
}

/// Something of a family without receipts of its own goes from one state to another.
pub(super) fn moves(b: &mut Builder, subject: &str, from: &str, to: &str, actor: &str) {
    let receipt = json!({
        "receipt_id": b.id("move"), "subject_ref": subject, "from_state": from, "to_state": to, "actor_ref": actor,
        "reason": format!("It went from {from} to {to}."), "created_at": b.now()
    });
    b.add("LifecycleTransitionReceipt", receipt);
}

/// A decision of a policy; the reference to it.
pub(super) fn decision(b: &mut Builder, policy: &str, decision: &str, user_alterable: bool) -> String {
    let id = b.id("policy-evaluation");
    b.add(
        "PolicyEvaluation",
        json!({
            "policy_evaluation_id": id, "policy_id": policy, "policy_version": "1", "decision": decision,
            "user_alterable": user_alterable, "decided_at": b.now()
        }),
    );
    format!("policy_evaluation:{id}")
}

/// Policies and capabilities as they stand since the run began: the references to both snapshots.
pub(super) fn snapshots(run: &Run) -> (String, String) {
    let known = &run.known;
    let policies = format!("policy_snapshot:{}", known.policy_snapshot_id);
    (policies, format!("capability_snapshot:{}", known.capability_snapshot_id))
}

/// An outcome, as it stands.
pub(super) struct Outcome {
    pub(super) id: String,
    upstream: Vec<String>,
    state: &'static str,
}

impl Outcome {
    /// A new one that rests on others.
    pub(super) fn new(b: &mut Builder, run: &Run, upstream: &[&Outcome]) -> Self {
        let upstream = upstream.iter().map(|one| one.id.clone()).collect();
        let outcome = Outcome { id: b.id("outcome"), upstream, state: "pending" };
        outcome.show(b, run);
        outcome
    }

    fn show(&self, b: &mut Builder, run: &Run) {
        b.add(
            "OutcomeRecord",
            json!({
                "outcome_id": self.id, "run_id": run.run_id, "task_id": run.task_id,
                "depends_on_outcome_ids": self.upstream, "state": self.state
            }),
        );
    }

    /// It goes to another state, by a result or by itself.
    pub(super) fn goes(&mut self, b: &mut Builder, run: &Run, to: &'static str, result: Option<&str>) {
        let mut event = json!({
            "event_id": b.id("outcome-event"), "outcome_id": self.id, "run_id": run.run_id, "from_state": self.state,
            "to_state": to, "cause": format!("It is {to} now."), "created_at": b.now()
        });
        if let Some(result) = result {
            event["result_id"] = result.into();
        }
        b.add("OutcomeStateTransitionEvent", event);
        self.state = to;
        self.show(b, run);
    }

    pub(super) fn reference(&self) -> String {
        format!("outcome_record:{}", self.id)
    }

    /// Itself with each that it rests on.
    pub(super) fn edges(&self) -> Vec<(String, String)> {
        self.upstream.iter().map(|upstream| (self.id.clone(), upstream.clone())).collect()
    }
}

/// What an evaluator says.
pub(super) struct Verdict {
    pub(super) disposition: &'static str,
    pub(super) verdict: &'static str,
    pub(super) causes: &'static [&'static str],
    pub(super) branch: &'static str,
}

/// What an evaluation gave.
pub(super) struct Evaluated {
    /// The id of the result.
    pub(super) result: String,
    /// The reference to what was looked at.
    pub(super) snapshot: String,
    /// The reference to the feedback, if there is some.
    pub(super) feedback: Option<String>,
}

/// Evaluates a version of an artifact for an outcome, which must be about to be evaluated.
pub(super) fn evaluate(
    b: &mut Builder,
    run: &Run,
    outcome: &mut Outcome,
    on: (&str, &str),
    verdict: &Verdict,
) -> Evaluated {
    let snapshot = look(b, run, outcome, on.1);
    let result = tell(b, run, outcome, on, &snapshot, verdict);
    settle(b, run, outcome, (snapshot, result), verdict)
}

/// The evaluation begins; the reference to what is looked at.
pub(super) fn look(b: &mut Builder, run: &Run, outcome: &mut Outcome, version: &str) -> String {
    outcome.goes(b, run, "evaluating", None);
    let (policies, capabilities) = snapshots(run);
    let snapshot = b.id("snapshot");
    b.add(
        "EvaluationSnapshot",
        json!({
            "snapshot_id": snapshot, "artifact_state_refs": [version], "source_workspace_snapshot_hashes": [],
            "policy_snapshot_ref": policies, "capability_snapshot_ref": capabilities, "created_at": b.now(),
            "schema_version": "1.1"
        }),
    );
    format!("evaluation_snapshot:{snapshot}")
}

/// The evaluator says what was found; the id of the result.
pub(super) fn tell(
    b: &mut Builder,
    run: &Run,
    outcome: &Outcome,
    (artifact, version): (&str, &str),
    snapshot: &str,
    verdict: &Verdict,
) -> String {
    let result = b.id("result");
    let reached = match verdict.verdict {
        "indeterminate" => "blocked_before_substantive_verdict",
        _word => "substantive_verdict_reached",
    };
    b.add(
        "EvaluationResultEnvelope",
        json!({
            "result_id": result, "producer_kind": "outcome_evaluator", "outcome_id": outcome.id, "run_id": run.run_id,
            "evaluated_target": {
                "target_kind": "artifact", "artifact_ref": format!("artifact:{artifact}"), "artifact_version_ref": version
            },
            "evaluation_basis": {
                "snapshot_ref": snapshot, "basis_kinds": ["deterministic_check"], "source_workspace_snapshot_refs": [],
                "human_feedback_refs": [], "criteria_refs": []
            },
            "target_artifact_ref": format!("artifact:{artifact}"), "target_artifact_version_ref": version,
            "target_scope_ref": null, "evaluation_snapshot_ref": snapshot,
            "route_recommendation": {
                "recommended_branch": verdict.branch, "repair_instruction_refs": [], "rationale": "By what was found."
            },
            "decision": {
                "verdict": verdict.verdict, "disposition": verdict.disposition, "substantive_verdict_status": reached,
                "indeterminate_causes": verdict.causes, "limitations": []
            },
            "schema_version": "1.0"
        }),
    );
    result
}

/// What follows on a result: what goes out, and where the outcome stands.
pub(super) fn settle(
    b: &mut Builder,
    run: &Run,
    outcome: &mut Outcome,
    (snapshot, result): (String, String),
    verdict: &Verdict,
) -> Evaluated {
    let feedback = emission(b, run, &result, verdict.verdict);
    outcome.goes(b, run, verdict.disposition, Some(&result));
    Evaluated { result, snapshot, feedback }
}

/// What goes out with a result of an evaluator, by the matrix; the reference to the feedback.
fn emission(b: &mut Builder, run: &Run, result: &str, verdict: &str) -> Option<String> {
    let (rule, has_bundle) = match verdict {
        "failed" | "indeterminate" => ("always", true),
        "not_applicable" => ("never", false),
        _word => ("on_failure_only", false),
    };
    let entry = format!("outcome-evaluator-{verdict}");
    b.share_once(
        "FeedbackEmissionMatrixEntry",
        &entry,
        json!({
            "producer_kind": "outcome_evaluator", "verdict": verdict, "emits_envelope": true,
            "emits_feedback_bundle": rule
        }),
    );
    let bundle = has_bundle.then(|| bundle(b, run, result));
    let mut record = json!({
        "result_id": result, "envelope_ref": format!("evaluation_result_envelope:{result}"),
        "emission_matrix_entry_ref": format!("feedback_emission_matrix_entry:{entry}"), "created_at": b.now(),
        "schema_version": "1.0"
    });
    match &bundle {
        Some(bundle) => record["feedback_bundle_ref"] = bundle.as_str().into(),
        None => record["feedback_bundle_absent_reason"] = "not_emitted_by_design".into(),
    }
    b.add("EvaluationResultEmissionRecord", record);
    bundle
}

/// The feedback of a result; the reference to it.
fn bundle(b: &mut Builder, run: &Run, result: &str) -> String {
    let id = b.id("feedback");
    b.add(
        "EvaluationFeedbackBundle",
        json!({
            "feedback_bundle_id": id, "result_id": result, "run_id": run.run_id, "finding_view_refs": [],
            "repair_instruction_refs": [], "governance": governance(run, "internal"), "created_at": b.now()
        }),
    );
    format!("evaluation_feedback_bundle:{id}")
}

/// Who may see something of a run.
pub(super) fn governance(run: &Run, data_class: &str) -> Value {
    let is_privileged = data_class == "privileged";
    json!({
        "data_class": data_class, "taint_class": "user_trusted_bounded", "privileged": is_privileged,
        "matter_id": run.matter_id, "policy_decision_refs": [], "visibility_scope": "same_matter_modules",
        "redaction_required": is_privileged, "schema_version": "1.0"
    })
}

/// Something waits for a person; the item as it stands.
pub(super) fn attention(b: &mut Builder, run: &Run, kind: &str, source: &str, summary: &str) -> Value {
    let item = json!({
        "item_id": b.id("attention"), "task_id": run.task_id, "run_id": run.run_id, "matter_id": run.matter_id,
        "attention_kind": kind, "source_ref": source, "summary": summary,
        "priority": b.random.pick(&["low", "medium", "high"]), "command_ref": "command:attention.resolve_item",
        "lifecycle_state": "open", "created_at": b.now(), "schema_version": "1.0"
    });
    b.add("AttentionLedgerItem", item.clone());
    item
}

/// It waits no more.
pub(super) fn attended(b: &mut Builder, mut item: Value, actor: &str) {
    let subject = format!("attention_ledger_item:{}", item["item_id"].as_str().unwrap_or_default());
    moves(b, &subject, "open", "resolved", actor);
    item["lifecycle_state"] = "resolved".into();
    item["resolved_at"] = b.now().into();
    b.add("AttentionLedgerItem", item);
}

/// A question to a person, with what it holds until it is answered.
pub(super) struct Question<'a> {
    pub(super) kind: &'a str,
    pub(super) source: &'a str,
    pub(super) blocked: &'a [String],
    pub(super) on_timeout: &'a str,
}

/// Asks and shows it; the id of the call, and the item.
pub(super) fn ask(b: &mut Builder, run: &Run, question: &Question<'_>) -> (String, Value) {
    let call = call(b, run, question);
    let item = waits(b, run, &call);
    (call, item)
}

/// A question is shown to who shall answer it; the item.
pub(super) fn waits(b: &mut Builder, run: &Run, call: &str) -> Value {
    let source = format!("hard_revision_call:{call}");
    attention(b, run, "hard_call_pending", &source, "A question waits for you.")
}

/// Asks; the id of the call.
pub(super) fn call(b: &mut Builder, run: &Run, question: &Question<'_>) -> String {
    let id = b.id("hard-call");
    let mode = *b.random.pick(&["closed_choice", "closed_choice_with_other"]);
    let mut call = json!({
        "hard_call_id": id, "response_mode": mode, "options": options(), "run_id": run.run_id,
        "prompt_text": "Clause 3 and clause 9 can't both hold. Which one counts?",
        "pending_policy": {
            "hard_call_id": id, "blocking_scope": "outcome", "blocked_refs": question.blocked,
            "allowed_to_continue_refs": [], "context_visible_to_continuing_modules": "hard_call_pending_summary",
            "on_defer": "pause_scope", "on_timeout": question.on_timeout, "timeout_ms": 3_600_000, "schema_version": "1.0"
        },
        "hard_call_kind": question.kind, "source_ref": question.source, "created_at": b.now(), "schema_version": "1.1"
    });
    if mode == "closed_choice_with_other" {
        call["freeform_response_schema_ref"] =
            json!({"schema_id": "answer.text", "semantic_version": "1.0.0"});
    }
    b.add("HardRevisionCall", call);
    id
}

/// What may be chosen.
pub(super) fn options() -> Value {
    json!([
        {"option_id": "go-on", "label": "Go on", "effect": "continue", "consequence_text": "Clause 9 counts."},
        {"option_id": "stop", "label": "Stop here", "effect": "abort_scope", "consequence_text": "Nothing is done."}
    ])
}

/// A person answers; the reference to the receipt.
pub(super) fn answer(b: &mut Builder, call: &str, item: Value, option: &str) -> String {
    b.later(600);
    let id = b.id("answer");
    b.add(
        "HardCallResolutionReceipt",
        json!({
            "receipt_id": id, "hard_call_id": call, "operation_kind": "hard_call_resolved",
            "dispatcher_actor_ref": "engine:dispatcher", "resolved_by_user_ref": "user:reviewer",
            "selected_option_id": option, "created_at": b.now(), "schema_version": "1.0"
        }),
    );
    attended(b, item, "user:reviewer");
    format!("hard_call_resolution_receipt:{id}")
}
