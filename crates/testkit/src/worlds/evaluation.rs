//! An evaluator and a judge look at the work, and what they say is put together.
//! Owns: one round of that, and what becomes of the outcome. Must not: hand feedback on; `feedback` does.

use super::builder::{Builder, Run};
use super::feedback;
use super::finding;
use super::formula::{From, plain, registered};
use super::known::{Chain, Finding};
use super::{opening, workspace};
use countersign_record::json::Json;
use serde_json::{Value, json};

/// What a round comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// Both are content.
    Passes,
    /// The evaluator has a blocker, the judge is content.
    IsBlocked,
    /// Both find something.
    Fails,
    /// The evaluator has a blocker, the judge never answers.
    TimesOut,
    /// The evaluator is content, the judge can't tell.
    IsUnsure,
}

/// One of the two who look.
struct Voice {
    producer: &'static str,
    role: &'static str,
    module: &'static str,
    verdict: &'static str,
    disposition: &'static str,
    branch: &'static str,
    causes: &'static [&'static str],
    limitations: &'static [&'static str],
}

impl Voice {
    fn of(is_judge: bool, verdict: &'static str) -> Self {
        let (producer, role, module) = match is_judge {
            true => ("judge", "downstream_judge", "module-judge"),
            false => ("outcome_evaluator", "upstream_evaluator", "module-evaluator"),
        };
        let (disposition, branch, causes, limitations): (_, _, &[&str], &[&str]) = match verdict {
            "passed" => ("satisfied", "on_satisfied", &[], &[]),
            "failed" => ("needs_revision", "on_needs_revision", &[], &[]),
            _open => (
                "needs_information",
                "on_needs_more_sources",
                &["missing_information"],
                &["insufficient_evidence"],
            ),
        };
        Voice { producer, role, module, verdict, disposition, branch, causes, limitations }
    }
}

/// What a round is on.
pub(super) struct Round {
    pub(super) outcome: usize,
    pub(super) snapshot_id: String,
    pub(super) read_receipt_id: String,
    pub(super) chain_id: String,
    timeout_at: String,
    opened_at: String,
    received: Vec<String>,
}

/// A round with whatever comes of it.
pub(super) fn any(b: &mut Builder, run: &mut Run) {
    let plans = [Plan::Passes, Plan::IsBlocked, Plan::Fails, Plan::TimesOut, Plan::IsUnsure];
    let plan = *b.random.pick(&plans);
    round(b, run, plan);
}

/// Another one, of another kind.
pub(super) fn blocked(b: &mut Builder, run: &mut Run) {
    let plan = if b.random.once_in(3) { Plan::TimesOut } else { Plan::IsBlocked };
    round(b, run, plan);
}

/// The last one before the work is handed over: mostly content.
pub(super) fn last(b: &mut Builder, run: &mut Run) {
    let plan = if b.random.once_in(4) { Plan::Fails } else { Plan::Passes };
    round(b, run, plan);
}

pub(super) fn round(b: &mut Builder, run: &mut Run, plan: Plan) {
    let outcome = ready(b, run);
    let mut round = begin(b, run, outcome);
    let (qualitative, quantitative) = match plan {
        Plan::Passes => ("passed", Some("passed")),
        Plan::IsBlocked => ("failed", Some("passed")),
        Plan::Fails => ("failed", Some("failed")),
        Plan::TimesOut => ("failed", None),
        Plan::IsUnsure => ("passed", Some("indeterminate")),
    };
    let mut voices = Vec::new();
    let evaluator = Voice::of(false, qualitative);
    let result = speak(b, run, &mut round, &evaluator);
    if qualitative == "failed" {
        let severity = if plan == Plan::Fails { "high" } else { "blocking" };
        finding::raise(b, run, &round, &result, severity);
    }
    voices.push((evaluator, result));
    move_chain(b, run, &round, ("open", "partial"));
    b.register(&registered("pattern_c_resolution_v1"));
    let resolved = if let Some(verdict) = quantitative {
        // Who speaks last completes the chain, and one that is complete is resolved at once.
        b.together(|b| {
            let judge = Voice::of(true, verdict);
            let result = speak(b, run, &mut round, &judge);
            voices.push((judge, result));
            chain_moved(b, &round, ("partial", "complete"));
            resolve(b, run, &round, &voices, false)
        })
    } else {
        // What comes first after the time is over says so.
        b.later(1_200);
        b.together(|b| resolve(b, run, &round, &voices, true))
    };
    settle(b, run, &round, &voices, &resolved);
}

/// An outcome that can be looked at now; what was found before is mended first.
fn ready(b: &mut Builder, run: &mut Run) -> usize {
    let is_first_met = run.known.outcomes[0].state == "satisfied";
    let at = if is_first_met { run.known.outcomes.len() - 1 } else { 0 };
    if !is_first_met && run.known.outcomes.len() > 1 && run.known.outcomes[1].state == "pending" {
        move_outcome(b, run, 1, "pending_dependency", "dependency not settled", None);
    }
    if ["satisfied", "needs_revision"].contains(&run.known.outcomes[at].state) {
        opening::version(b, run);
        move_outcome(b, run, at, "dirty", "artifact changed", None);
    }
    at
}

/// Reads the sources, freezes what is looked at, opens the chain.
fn begin(b: &mut Builder, run: &mut Run, outcome: usize) -> Round {
    let read_receipt_id = workspace::read(b, run);
    let (snapshot_id, now) = (b.id("snapshot"), b.now());
    let workspace = &run.known.workspace;
    let hashes: serde_json::Map<String, Value> =
        workspace.sources.iter().map(|one| (format!("src:{}", one.id), json!(one.hash))).collect();
    b.add(
        "EvaluationSnapshot",
        json!({"snapshot_id": snapshot_id,
            "artifact_state_refs": [format!("artifact_version:{}", run.known.head_version_id)],
            "source_workspace_state_ref": format!("source_workspace_current_state:{}", workspace.id),
            "source_workspace_snapshot_hashes": [{"source_workspace_ref": workspace.id,
                "source_workspace_head_hash": workspace.head, "source_record_hashes": hashes,
                "schema_version": "1.0"}],
            "policy_snapshot_ref": format!("policy_snapshot:{}", run.known.policy_snapshot_id),
            "capability_snapshot_ref": format!("capability_snapshot:{}", run.known.capability_snapshot_id),
            "created_at": now, "schema_version": "1.1"}),
    );
    if run.known.outcomes[outcome].state != "evaluating" {
        move_outcome(b, run, outcome, "evaluating", "evaluation started", None);
    }
    let round = Round {
        outcome,
        snapshot_id,
        read_receipt_id,
        chain_id: b.id("chain"),
        timeout_at: b.time(900),
        opened_at: b.now(),
        received: Vec::new(),
    };
    chain(b, run, &round, "open");
    round
}

/// The row of the chain as it stands now.
fn chain(b: &mut Builder, run: &Run, round: &Round, status: &str) {
    let voices = [Voice::of(false, "passed"), Voice::of(true, "passed")];
    let roles: Vec<Value> = voices
        .iter()
        .map(|voice| {
            json!({"producer_kind": voice.producer, "producer_module_id": voice.module, "role": voice.role,
                "required": true})
        })
        .collect();
    let version = format!("artifact_version:{}", run.known.head_version_id);
    let mut record = json!({"chain_id": round.chain_id, "chain_kind": "pattern_c_evaluator_then_judge",
        "task_id": run.task_id, "run_id": run.run_id,
        "target_artifact_ref": format!("artifact:{}", run.known.artifact_id),
        "target_artifact_version_ref": version, "target_scope_ref": null,
        "evaluation_snapshot_ref": format!("evaluation_snapshot:{}", round.snapshot_id),
        "expected_producers": ["outcome_evaluator", "judge"], "received_result_ids": round.received,
        "participant_roles": roles, "status": status, "timeout_at": round.timeout_at,
        "created_at": round.opened_at, "validation_failures": [], "schema_version": "1.0"});
    if status == "complete" {
        record["completed_at"] = json!(b.now());
    }
    if status == "timed_out" {
        record["validation_failures"] = json!(["missing_expected_producer"]);
    }
    b.add("EvaluationChainRegistryRecord", record);
}

fn move_chain(b: &mut Builder, run: &Run, round: &Round, (from, to): (&str, &str)) {
    chain_moved(b, round, (from, to));
    chain(b, run, round, to);
}

/// The receipt of that.
fn chain_moved(b: &mut Builder, round: &Round, (from, to): (&str, &str)) {
    let (id, now) = (b.id("moved"), b.now());
    let reason = if to == "timed_out" { "time is over" } else { "result received" };
    b.add(
        "LifecycleTransitionReceipt",
        json!({"receipt_id": id,
            "subject_ref": format!("evaluation_chain_registry_record:{}", round.chain_id),
            "from_state": from, "to_state": to, "actor_ref": "engine:router", "reason": reason,
            "created_at": now}),
    );
}

/// One of the two says what it found; gives the id of the result.
fn speak(b: &mut Builder, run: &mut Run, round: &mut Round, voice: &Voice) -> String {
    let outcome = &run.known.outcomes[round.outcome];
    let id = b.id("result");
    let (artifact, version) = (
        format!("artifact:{}", run.known.artifact_id),
        format!("artifact_version:{}", run.known.head_version_id),
    );
    let snapshot = format!("evaluation_snapshot:{}", round.snapshot_id);
    let criteria: Vec<String> = outcome.criteria.iter().map(|one| format!("criterion:{one}")).collect();
    let passed: &[String] = if voice.verdict == "passed" { &outcome.criteria } else { &[] };
    let read = format!("source_workspace_operation_receipt:{}", round.read_receipt_id);
    let envelope = json!({"result_id": id, "producer_kind": voice.producer, "outcome_id": outcome.id,
            "run_id": run.run_id,
            "evaluated_target": {"target_kind": "artifact", "artifact_ref": artifact,
                "artifact_version_ref": version},
            "evaluation_basis": {"snapshot_ref": snapshot, "basis_kinds": ["rubric_anchored_judgment"],
                "source_workspace_snapshot_refs": [read], "human_feedback_refs": [],
                "criteria_refs": criteria},
            "target_artifact_ref": artifact, "target_artifact_version_ref": version,
            "target_scope_ref": null, "target_evaluation_chain_id": round.chain_id,
            "evaluation_snapshot_ref": snapshot,
            "route_recommendation": {"recommended_branch": voice.branch, "repair_instruction_refs": [],
                "rationale": "as found"},
            "decision": {"verdict": voice.verdict, "disposition": voice.disposition,
                "substantive_verdict_status": "substantive_verdict_reached",
                "indeterminate_causes": voice.causes, "limitations": voice.limitations,
                "passed_criterion_ids": passed},
            "schema_version": "1.0"});
    b.together(|b| {
        b.add("EvaluationResultEnvelope", envelope);
        if voice.verdict == "passed" {
            finding::observe(b, run, round, &id);
        }
    });
    round.received.push(id.clone());
    id
}

/// What a chain came to.
pub(super) struct Resolved {
    pub(super) verdict: String,
    pub(super) route: String,
}

/// What was said, as the formula takes it.
fn said(run: &Run, voices: &[(Voice, String)]) -> Vec<Value> {
    let one = |(voice, result): &(Voice, String)| {
        let blocks = |one: &&Finding| one.result_id == *result && one.severity == "blocking";
        let blockers: Vec<&str> = run.known.findings.iter().filter(blocks).map(|one| one.state).collect();
        json!({"role": voice.role, "verdict": voice.verdict, "indeterminate_causes": voice.causes,
            "other_snapshot": false, "live_blocker_states": blockers})
    };
    voices.iter().map(one).collect()
}

/// Puts together what was said, by the formula.
fn resolve(
    b: &mut Builder,
    run: &mut Run,
    round: &Round,
    voices: &[(Voice, String)],
    is_late: bool,
) -> Resolved {
    let spec = registered("pattern_c_resolution_v1");
    let policy = b.of_all().find(|row| row.draft.kind == "EvaluationChainResolutionPolicy");
    let policy = plain(&policy.expect("the opening writes it").draft.record);
    let inputs = json!({"results": said(run, voices), "policy": policy, "timed_out": is_late,
        "missing": if is_late { "judge" } else { "nobody" }});
    let receipt_id = b.id("resolution");
    let mut input_refs: Vec<String> =
        voices.iter().map(|(_, result)| format!("evaluation_result_envelope:{result}")).collect();
    input_refs.push("evaluation_chain_resolution_policy:pattern-c".to_owned());
    let output_ref = format!("evaluation_chain_resolution_receipt:{receipt_id}");
    let mut whole = Json::Null;
    let from = From { inputs, input_refs: &input_refs, output_ref };
    b.derive(run, &spec, from, |value| {
        whole = value.clone();
        value.get("resolved_verdict").cloned().unwrap_or(Json::Null)
    });
    let whole = plain(&whole);
    let word = |name: &str| whole[name].as_str().unwrap_or_default().to_owned();
    let result_ids: Vec<String> = voices.iter().map(|(_, result)| result.clone()).collect();
    let decisive = voices.iter().find(|(voice, _)| voice.verdict == word("resolved_verdict"));
    let now = b.now();
    let mut record = json!({"receipt_id": receipt_id, "chain_id": round.chain_id,
        "chain_kind": "pattern_c_evaluator_then_judge", "result_ids_considered": result_ids,
        "resolved_verdict": whole["resolved_verdict"], "resolved_route": whole["resolved_route"],
        "qualitative_blockers_preserved": whole["qualitative_blockers_preserved"],
        "quantitative_pass_overridden_by_blocker": whole["quantitative_pass_overridden_by_blocker"],
        "conflict_type": whole["conflict_type"], "policy_ref": "pattern-c",
        "explanation": "put together under the policy", "created_at": now, "schema_version": "1.0"});
    if let Some((_, result)) = decisive {
        record["decisive_result_id"] = json!(result);
    }
    // A chain that is over is resolved at once.
    b.together(|b| {
        match is_late {
            true => move_chain(b, run, round, ("partial", "timed_out")),
            false => chain(b, run, round, "complete"),
        }
        b.add("EvaluationChainResolutionReceipt", record);
    });
    let resolved = Resolved { verdict: word("resolved_verdict"), route: word("resolved_route") };
    run.known.chains.push(Chain {
        id: round.chain_id.clone(),
        receipt_id,
        verdict: resolved.verdict.clone(),
        route: resolved.route.clone(),
        result_ids,
        snapshot_id: round.snapshot_id.clone(),
    });
    resolved
}

/// Feedback goes out, and the outcome moves to where it was found to stand.
fn settle(b: &mut Builder, run: &mut Run, round: &Round, voices: &[(Voice, String)], resolved: &Resolved) {
    for (voice, result) in voices {
        feedback::emit(b, run, result, (voice.producer, voice.verdict), &resolved.route);
    }
    let result =
        voices.iter().find(|(voice, _)| voice.verdict == resolved.verdict).map(|(_, one)| one.as_str());
    match resolved.verdict.as_str() {
        "passed" => {
            finding::mended(b, run, result.unwrap_or_default());
            move_outcome(b, run, round.outcome, "satisfied", "envelope emitted", result);
        }
        "failed" => move_outcome(b, run, round.outcome, "needs_revision", "envelope emitted", result),
        _open => {}
    }
}

fn move_outcome(
    b: &mut Builder,
    run: &mut Run,
    at: usize,
    to: &'static str,
    cause: &str,
    result: Option<&str>,
) {
    let (id, now) = (b.id("outcome-event"), b.now());
    let outcome = &mut run.known.outcomes[at];
    let mut record = json!({"event_id": id, "outcome_id": outcome.id, "run_id": run.run_id,
        "from_state": outcome.state, "to_state": to, "cause": cause, "created_at": now});
    if let Some(result) = result {
        record["result_id"] = json!(result);
    }
    b.add("OutcomeStateTransitionEvent", record);
    outcome.state = to;
    b.add(
        "OutcomeRecord",
        json!({"outcome_id": outcome.id, "run_id": run.run_id, "task_id": run.task_id,
            "depends_on_outcome_ids": outcome.depends_on, "state": to}),
    );
}
