//! Revisions: plans for an outcome that fell short, plans that contend, sections that are made anew, reviews.
//! Owns: what may happen to a plan. Must not: know how a plan is written.

use super::builder::{Builder, Run};
use super::making::{
    Derived, Outcome, Question, Verdict, answer, ask, attended, attention, decision, evaluate, moves,
    receipt, value_of, version, version_goes,
};
use super::plan::{End, Plan, Step};
use serde_json::{Value, json};

const SATISFIED: Verdict =
    Verdict { disposition: "satisfied", verdict: "passed", causes: &[], branch: "on_satisfied" };
const SHORT: Verdict =
    Verdict { disposition: "needs_revision", verdict: "failed", causes: &[], branch: "on_needs_revision" };
const MUTATING: [&str; 4] = ["edit_artifact", "restructure", "format_repair", "regenerate_section"];

/// Steps one after the other, of one artifact or of several.
fn steps(b: &mut Builder, count: usize, artifacts: &[String]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for at in 0..count {
        let artifact = artifacts[at % artifacts.len()].clone();
        let kind = *b.random.pick(&MUTATING);
        let mut after: Vec<usize> = (0..at).filter(|one| steps[*one].artifact == artifact).collect();
        if at + 1 == count && count > 2 {
            after = (0..at).collect();
        }
        steps.push(Step { id: b.id("step"), kind, artifact, after });
    }
    steps
}

/// An outcome falls short, is revised step by step, and what rests on it is looked at again.
pub(super) fn revise(b: &mut Builder, run: &mut Run) {
    graph_policy(b);
    let artifacts = vec![b.id("draft"), b.id("annex")];
    let mut outcomes = vec![Outcome::new(b, run, &[])];
    for _ in 0..b.random.index(1..3) {
        let first = Outcome::new(b, run, &[&outcomes[0]]);
        outcomes.push(first);
    }
    let first = version(b, run, &artifacts[0], None, "mechanical");
    evaluate(b, run, &mut outcomes[0], (&artifacts[0], &first), &SHORT);
    let count = b.random.index(2..4);
    let steps = steps(b, count, &artifacts);
    let plan = Plan::new(b, steps);
    let mut plan = Plan::compile(b, run, &outcomes[0], plan);
    instruct(b, &plan);
    plan.dispatch(b, run);
    if !plan.is_rolling && b.random.once_in(2) {
        batch(b, run, &mut plan);
    } else {
        for at in 0..count {
            plan.start(b, run, at);
            let done = plan.finish(b, run, at);
            if at + 1 == count {
                plan.goes(b, "revalidating", "RevisionOperationReceipt", &done);
            }
        }
    }
    if b.random.once_in(2) {
        once_more(b, run, &mut plan);
    }
    outcomes[0].goes(b, run, "dirty", None);
    let receipt = plan.cascade(b, run, &mut outcomes, End::AtRest, look_again);
    plan.goes(b, "terminal_satisfied", "RevalidationCascadeReceipt", &receipt);
}

fn graph_policy(b: &mut Builder) {
    b.share_once(
        "OutcomeDependencyGraphPolicy",
        "outcome-graph",
        json!({
            "policy_id": "outcome-graph", "reject_declared_cycles": true, "on_cycle_detected": "hard_call",
            "terminal_upstream_failure_cascades_immediately": true,
            "pending_dependency_state_entry_rechecks_upstream_failure": true, "schema_version": "1.0"
        }),
    );
}

/// An outcome that rests on what was revised still holds.
fn look_again(b: &mut Builder, run: &Run, outcome: &mut Outcome, plan: &Plan) {
    let artifact = plan.steps[0].artifact.clone();
    let head = plan.head(&artifact);
    evaluate(b, run, outcome, (&artifact, &head), &SATISFIED);
}

/// What rests on a revised outcome, over others, changes what that one rests on: a person says whether to go on.
pub(super) fn circle(b: &mut Builder, run: &mut Run) {
    graph_policy(b);
    let artifact = b.id("schedule");
    let mut outcomes = vec![Outcome::new(b, run, &[])];
    for _ in 0..b.random.index(1..4) {
        let next = Outcome::new(b, run, &[&outcomes[outcomes.len() - 1]]);
        outcomes.push(next);
    }
    let first = version(b, run, &artifact, None, "mechanical");
    evaluate(b, run, &mut outcomes[0], (&artifact, &first), &SHORT);
    let steps = steps(b, 1, std::slice::from_ref(&artifact));
    let plan = Plan::new(b, steps);
    let mut plan = Plan::compile(b, run, &outcomes[0], plan);
    plan.dispatch(b, run);
    plan.start(b, run, 0);
    let done = plan.finish(b, run, 0);
    plan.goes(b, "revalidating", "RevisionOperationReceipt", &done);
    outcomes[0].goes(b, run, "dirty", None);
    let receipt = plan.cascade(b, run, &mut outcomes, End::InACircle, look_again);
    plan.goes(b, "waiting_hard_call", "RevalidationCascadeReceipt", &receipt);
    let blocked = [outcomes[0].reference(), plan.reference()];
    let question =
        Question { kind: "cascade_cycle", source: &receipt, blocked: &blocked, on_timeout: "escalate" };
    let (call, item) = ask(b, run, &question);
    let option = *b.random.pick(&["go-on", "stop"]);
    let answer = answer(b, &call, item, option);
    if option == "stop" {
        plan.goes(b, "terminal_blocked", "HardCallResolutionReceipt", &answer);
    } else {
        plan.goes(b, "dispatch_pending", "HardCallResolutionReceipt", &answer);
        plan.cancel(b, run);
    }
}

/// Instructions that point to the policy of their step.
fn instruct(b: &mut Builder, plan: &Plan) {
    for step in &plan.steps {
        let instruction = json!({
            "instruction_id": b.id("instruction"), "plan_id": plan.id, "step_id": step.id,
            "revalidation_policy_ref": format!("revision_plan_step_base:{}", step.id), "schema_version": "1.1"
        });
        b.add("TypedRevisionInstruction", instruction);
    }
}

/// The first two steps are taken together, then the others.
fn batch(b: &mut Builder, run: &Run, plan: &mut Plan) {
    let id = b.id("batch");
    let together: Vec<String> = plan.steps[..2].iter().map(|step| step.id.clone()).collect();
    b.add(
        "ParallelBatch",
        json!({"batch_id": id, "plan_id": plan.id, "step_ids": together, "created_at": b.now()}),
    );
    let mut done = Vec::new();
    for at in 0..plan.steps.len() {
        plan.start(b, run, at);
        done.push(plan.finish(b, run, at));
        if at == 1 {
            let receipt = json!({
                "receipt_id": b.id("batch-done"), "batch_id": id, "step_receipt_refs": done, "created_at": b.now()
            });
            b.add("ParallelBatchFinalizationReceipt", receipt);
        }
    }
    let last = done.pop().expect("a plan has steps");
    plan.goes(b, "revalidating", "RevisionOperationReceipt", &last);
}

/// Something got worse: the last step is taken again.
fn once_more(b: &mut Builder, run: &Run, plan: &mut Plan) {
    let last = plan.steps.len() - 1;
    plan.does(b, run, last, "revalidation_done", "regression_detected");
    plan.does(b, run, last, "replan_admitted", "dispatch_pending");
    plan.does(b, run, last, "dispatched", "dispatched");
    plan.start(b, run, last);
    let done = plan.finish(b, run, last);
    plan.goes(b, "revalidating", "RevisionOperationReceipt", &done);
}

/// A plan that does not come to its end: it is turned down, a step fails, or somebody stops it.
pub(super) fn give_up(b: &mut Builder, run: &mut Run) {
    let outcome = Outcome::new(b, run, &[]);
    let artifact = b.id("memo");
    let steps = steps(b, 2, &[artifact]);
    let plan = Plan::new(b, steps);
    let mut plan = Plan::compile(b, run, &outcome, plan);
    match b.random.index(0..3) {
        0 => drop(plan.does(b, run, 0, "plan_rejected", "terminal_failed")),
        1 => {
            plan.dispatch(b, run);
            plan.start(b, run, 0);
            plan.does(b, run, 0, "step_failed", "terminal_failed");
        }
        _last => {
            plan.dispatch(b, run);
            plan.start(b, run, 0);
            plan.cancel(b, run);
            plan.operates(b, run, 1, "step_skipped", json!({}));
        }
    }
}

/// Plans that want the same artifact: one goes first, the others are turned down.
pub(super) fn contend(b: &mut Builder, run: &mut Run) {
    let outcome = Outcome::new(b, run, &[]);
    let artifact = b.id("contract");
    let mut plans = Vec::new();
    for _ in 0..b.random.index(2..4) {
        let steps = steps(b, 1, std::slice::from_ref(&artifact));
        let plan = Plan::new(b, steps);
        plans.push(Plan::compile(b, run, &outcome, plan));
    }
    let profiles: Vec<Value> = (plans.iter())
        .map(|plan| {
            json!({
                "plan_id": plan.id, "required_for_overall_pass": b.random.once_in(2), "high_stakes": b.random.once_in(3),
                "outcome_priority": b.random.within(1..3), "plan_risk_score": plan.risk,
                "estimated_lock_duration_ms": b.random.within(1..9) * 1_000, "deterministic_final_key": plan.id,
                "schema_version": "1.0"
            })
        })
        .collect();
    let order = value_of("concurrency_tie_break_v1", &json!({"profiles": profiles}));
    let id = b.id("tie-break");
    b.add(
        "TieBreakDecision",
        json!({
            "decision_id": id, "profiles": profiles, "order": order, "created_at": b.now(),
            "keys_used": [
                "required_for_overall_pass", "high_stakes", "outcome_priority", "plan_risk_score",
                "estimated_lock_duration_ms", "deterministic_final_key"
            ]
        }),
    );
    let of = Derived {
        formula: "concurrency_tie_break_v1",
        inputs: json!({"profiles": profiles}),
        from: plans.iter().map(Plan::reference).collect(),
        output: format!("tie_break_decision:{id}"),
    };
    receipt(b, run, &of, &order);
    let first = plans.iter().position(|plan| plan.id == order[0]).expect("one of the plans");
    for (at, plan) in plans.iter_mut().enumerate() {
        if at == first {
            plan.dispatch(b, run);
            plan.start(b, run, 0);
            plan.does(b, run, 0, "step_failed", "terminal_failed");
        } else {
            plan.does(b, run, 0, "plan_rejected", "terminal_failed");
        }
    }
}

/// A section is made anew until something new comes: what came before is named, and is not taken again.
pub(super) fn regenerate(b: &mut Builder, run: &mut Run) {
    let outcome = Outcome::new(b, run, &[]);
    let artifact = b.id("section");
    let steps = vec![Step {
        id: b.id("step"),
        kind: "regenerate_section",
        artifact: artifact.clone(),
        after: vec![],
    }];
    let plan = Plan::new(b, steps);
    let mut plan = Plan::compile(b, run, &outcome, plan);
    plan.dispatch(b, run);
    plan.start(b, run, 0);
    let (step, target) = (plan.steps[0].id.clone(), format!("artifact:{artifact}"));
    let mut hashes = vec![b.some_hash()];
    let same = b.random.index(0..3);
    for _ in 0..same {
        let input = b.some_hash();
        ask_anew(b, &step, &target, &hashes);
        let output = b.random.pick(&hashes).clone();
        attempted(b, (&step, &target), (&input, &output), "rejected_identical_output");
        attempted(b, (&step, &target), (&input, &output), "changed_generation_policy");
    }
    ask_anew(b, &step, &target, &hashes);
    let (input, output) = (b.some_hash(), b.some_hash());
    attempted(b, (&step, &target), (&input, &output), "accepted_new_output");
    hashes.push(output);
    plan.finish(b, run, 0);
    plan.cancel(b, run);
}

fn ask_anew(b: &mut Builder, step: &str, target: &str, hashes: &[String]) {
    let how = ["change_sampling_parameters", "change_prompt_strategy", "change_module_or_escalate"];
    let payload = json!({
        "revision_intent": "regenerate", "previous_attempt_hashes": hashes,
        "required_variation_policy": b.random.pick(&how), "step_id": step, "target_ref": target,
        "attempt_id": b.id("attempt"), "schema_version": "1.0"
    });
    b.add("RegenerateRevisionPayload", payload);
}

fn attempted(b: &mut Builder, (step, target): (&str, &str), (input, output): (&str, &str), action: &str) {
    let receipt = json!({
        "receipt_id": b.id("attempted"), "step_id": step, "target_ref": target, "input_hash": input,
        "output_hash": output, "matched_previous_attempt": action != "accepted_new_output", "action_taken": action,
        "created_at": b.now(), "schema_version": "1.0"
    });
    b.add("RegenerateAttemptReceipt", receipt);
}

/// A candidate is shown to a reviewer, who decides; or a policy waives that.
pub(super) fn review(b: &mut Builder, run: &mut Run) {
    let outcome = Outcome::new(b, run, &[]);
    let artifact = b.id("opinion");
    let steps = steps(b, 1, std::slice::from_ref(&artifact));
    let mut plan = Plan::new(b, steps);
    plan.class = "meaning_bearing";
    let mut plan = Plan::compile(b, run, &outcome, plan);
    let before = plan.head(&artifact);
    version_goes(b, run, &before, Some("candidate"), "accepted_head");
    plan.dispatch(b, run);
    plan.start(b, run, 0);
    let done = plan.finish(b, run, 0);
    plan.goes(b, "revalidating", "RevisionOperationReceipt", &done);
    let candidate = plan.head(&artifact);
    version_goes(b, run, &candidate, None, "candidate");
    let mut packet = json!({
        "packet_id": b.id("review"), "task_id": run.task_id, "run_id": run.run_id,
        "revision_plan_ref": plan.reference(), "before_artifact_version_ref": before,
        "candidate_artifact_version_ref": candidate, "semantic_diff_ref": format!("diff:{}", plan.id),
        "finding_to_change_map": {}, "preservation_constraint_result_refs": [], "source_changes": [],
        "revalidation_result_refs": [done], "regression_risk_summary": "Only one clause is touched.",
        "state": "generated", "decision_receipt_refs": [], "created_at": b.now(), "schema_version": "1.1"
    });
    b.add("RevisionReviewPacket", packet.clone());
    match b.random.index(0..4) {
        0 => waive(b, run, &mut packet, &candidate),
        _chosen => decide(b, run, &mut packet, &candidate),
    }
    plan.cancel(b, run);
}

/// A policy lets the candidate pass without a reviewer.
fn waive(b: &mut Builder, run: &Run, packet: &mut Value, candidate: &str) {
    let policy = decision(b, "review", "allow", false);
    let more = json!({"policy_decision_refs": [policy], "rationale": "The policy asks for no review."});
    decided(b, packet, ("no_user_review_required", "accepted"), "engine:policy", more);
    version_goes(b, run, candidate, Some("candidate"), "accepted_head");
}

/// A reviewer looks at the candidate.
fn decide(b: &mut Builder, run: &Run, packet: &mut Value, candidate: &str) {
    let subject = format!("revision_review_packet:{}", packet["packet_id"].as_str().unwrap_or_default());
    let item = attention(b, run, "revision_review_pending", &subject, "A revision waits for your review.");
    moves(b, &subject, "generated", "review_pending", "engine:review");
    packet["state"] = "review_pending".into();
    b.add("RevisionReviewPacket", packet.clone());
    version_goes(b, run, candidate, Some("candidate"), "under_review");
    let (action, state, version) = *b.random.pick(&[
        ("accept", "accepted", "accepted_head"),
        ("reject", "rejected", "rejected"),
        ("request_changes", "changes_requested", "superseded"),
    ]);
    let command = match action {
        "accept" => "command:revision_review.accept_candidate",
        "reject" => "command:revision_review.reject_candidate",
        _changes => "command:revision_review.request_changes",
    };
    let more = json!({"command_ref": command, "rationale": "Read side by side.", "resulting_candidate_state": version});
    decided(b, packet, (action, state), "user:reviewer", more);
    version_goes(b, run, candidate, Some("under_review"), version);
    attended(b, item, "user:reviewer");
}

/// A decision on a packet, and the packet as it stands then.
fn decided(b: &mut Builder, packet: &mut Value, (action, state): (&str, &str), actor: &str, more: Value) {
    let id = b.id("review-decision");
    let mut receipt = json!({
        "receipt_id": id, "packet_id": packet["packet_id"], "action": action, "actor_ref": actor,
        "created_at": b.now(), "schema_version": "1.0"
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        receipt[name] = value.clone();
    }
    b.add("RevisionReviewDecisionReceipt", receipt);
    packet["state"] = state.into();
    packet["decision_receipt_refs"] = json!([format!("revision_review_decision_receipt:{id}")]);
    b.add("RevisionReviewPacket", packet.clone());
}
