//! Sufficiency: attempts that do not help, what is left to try, and where the work goes then.
//! Owns: the ways in which an outcome is found to be stuck. Must not: choose a route; the formula does.

use super::builder::{Builder, Run};
use super::making::{
    Derived, Outcome, Question, Verdict, answer, call, decision, look, proven, register, settle, snapshots,
    tell, value_of, version, waits,
};
use super::researching::{Need, Workspace};
use serde_json::{Value, json};

/// Something that an outcome may be stuck by, and what is known besides.
struct Stuck {
    trigger: &'static str,
    known: Value,
}

/// An outcome is stuck: that is detected, and what the route asks for follows.
pub(super) fn stuck(b: &mut Builder, run: &mut Run) {
    let stuck = pick(b);
    let mut outcome = Outcome::new(b, run, &[]);
    let artifact = b.id("paper");
    let head = version(b, run, &artifact, None, "mechanical");
    let attempts = attempts(b, run, &outcome);
    let coverage = coverage(b, run, &outcome, stuck.trigger == "no_capability_covers_outcome");
    let policy = policy(b);
    let ending =
        value_of("sufficiency_route_v1", &json!({"triggered_by": [stuck.trigger], "known": stuck.known}));
    let refused = (stuck.trigger == "policy_prohibits_required_step")
        .then(|| decision(b, "boundary", "deny", ending["hard_call_required"] == true));
    let need = (stuck.trigger == "evidence_insufficient_to_proceed").then(|| {
        let workspace = Workspace::new(b, run);
        Need::new(b, run, workspace, &format!("claim:{artifact}/term"))
    });
    let id = b.id("detection");
    let candidates = candidates(b, &artifact, attempts.as_slice());
    let mut result = json!({
        "detection_id": id, "outcome_id": outcome.id, "run_id": run.run_id, "evaluated_at": b.now(),
        "policy_ref": format!("sufficiency_detection_policy:{policy}"),
        "no_sufficient_procedure": ending["no_sufficient_procedure"], "triggered_by": [stuck.trigger],
        "coverage_assessment_ref": coverage, "candidate_procedures": candidates, "attempts": attempts,
        "blocking_research_need_refs": need.iter().map(|need| need.id.clone()).collect::<Vec<_>>(),
        "decisive_policy_decision_refs": refused.iter().collect::<Vec<_>>(),
        "terminal_route": ending["terminal_route"], "hard_call_required": ending["hard_call_required"],
        "rationale": "By the trigger and what was tried.", "schema_version": "1.0"
    });
    if ending["hard_call_required"] == true {
        result["hard_call_kind"] = ending["hard_call_kind"].clone();
    }
    let reference = format!("sufficiency_detection_result:{id}");
    let of = Derived {
        formula: "sufficiency_route_v1",
        inputs: json!({"triggered_by": [stuck.trigger], "known": stuck.known}),
        from: vec![coverage, outcome.reference()],
        output: reference.clone(),
    };
    let members =
        ["no_sufficient_procedure", "hard_call_required", "terminal_route"].map(|name| &result[name]);
    register(b, of.formula);
    let verdict = verdict(&ending["disposition"]);
    let on = (artifact.as_str(), head.as_str());
    let snapshot = look(b, run, &mut outcome, &head);
    // A detection without what its route asks for would lead nowhere.
    let (asked, told) = b.together(|b| {
        proven(b, run, "SufficiencyDetectionResult", result.clone(), &of, &members);
        let asked = follow(b, run, &outcome, &ending, &reference);
        (asked, tell(b, run, &outcome, on, &snapshot, &verdict))
    });
    settle(b, run, &mut outcome, (snapshot, told), &verdict);
    if let Some(call) = asked {
        let item = waits(b, run, &call);
        answer(b, &call, item, "go-on");
        outcome.goes(b, run, "dirty", None);
    }
    if let Some(mut need) = need {
        need.answered(b, run);
        outcome.goes(b, run, "dirty", None);
    }
}

fn pick(b: &mut Builder) -> Stuck {
    let is_alterable = b.random.once_in(2);
    let all = [
        ("no_capability_covers_outcome", json!({})),
        ("policy_prohibits_required_step", json!({"policy_is_alterable": is_alterable})),
        ("evidence_insufficient_to_proceed", json!({"has_information_route": true})),
        ("verification_unresolvable", json!({"has_other_verifier": is_alterable})),
        ("contradictory_requirements", json!({})),
        ("all_policy_allowed_procedures_exhausted", json!({})),
        ("max_attempts_without_material_score_improvement", json!({"attempts": 2, "max_total_attempts": 2})),
    ];
    let (trigger, known) = b.random.pick(&all).clone();
    Stuck { trigger, known }
}

fn policy(b: &mut Builder) -> String {
    let id = "stuck";
    b.share_once(
        "SufficiencyDetectionPolicy",
        id,
        json!({
            "policy_id": id, "min_attempts_before_no_improvement": 2, "no_improvement_window": 2,
            "improvement_metric_ref": "quality_index_v1", "epsilon": 0.03, "max_total_attempts": 2,
            "procedure_universe_scope": "policy_allowed_only", "require_capability_snapshot": true,
            "require_policy_snapshot": true, "require_attempt_signature_hash": true, "schema_version": "1.0"
        }),
    );
    id.to_owned()
}

/// Two attempts that hardly help.
fn attempts(b: &mut Builder, run: &Run, outcome: &Outcome) -> Vec<Value> {
    register(b, "quality_index_v1");
    let score = |hundredths: u64| {
        json!({
            "value": hundredths as f64 / 100.0, "calibration": "calibrated", "metric_ref": "formula_spec:quality_index_v1"
        })
    };
    let mut attempts = Vec::new();
    let mut before = b.random.within(40..60);
    for strategy in ["targeted_edit", "restructure"] {
        let after = before + 1;
        let (input, output) = (b.some_hash(), b.some_hash());
        let attempt = json!({
            "attempt_id": b.id("attempt"), "procedure_id": b.id("procedure"), "strategy_kind": strategy,
            "input_signature_hash": input, "output_signature_hash": output, "score_before": score(before),
            "score_after": score(after), "score_delta": 0.01, "terminal_status": "no_material_improvement",
            "receipt_refs": [], "outcome_id": outcome.id, "run_id": run.run_id, "schema_version": "1.0"
        });
        b.add("ProcedureAttemptRecord", attempt.clone());
        attempts.push(attempt);
        before = after;
    }
    attempts
}

/// What could still be tried: what was, is exhausted; one more is not allowed.
fn candidates(b: &mut Builder, artifact: &str, attempts: &[Value]) -> Vec<Value> {
    let procedure = |id: &Value, strategy: &Value, is_tried: bool| {
        let mut procedure = json!({
            "procedure_id": id, "strategy_kind": strategy,
            "repair_target": {
                "target_kind": "artifact_scope",
                "artifact_scope_ref": {"artifact_stable_id": artifact, "anchor": {"section_id": "3", "schema_version": "1.0"}}
            },
            "required_capabilities": [{"capability_id": "evaluate", "min_version": "2.0.0"}],
            "policy_allowed": is_tried, "safety_class": "meaning_bearing", "tried": is_tried, "exhausted": is_tried,
            "schema_version": "1.0"
        });
        if !is_tried {
            procedure["inapplicable_reason"] = "policy_blocked".into();
        }
        procedure
    };
    let tried = attempts.iter().map(|one| procedure(&one["procedure_id"], &one["strategy_kind"], true));
    let mut all: Vec<Value> = tried.collect();
    all.push(procedure(&b.id("procedure").into(), &"regenerate".into(), false));
    all
}

/// Whether anybody can do it; the reference to the assessment.
fn coverage(b: &mut Builder, run: &Run, outcome: &Outcome, is_missing: bool) -> String {
    let (_, capabilities) = snapshots(run);
    let id = b.id("coverage");
    let needed = if is_missing { "draw-map" } else { "evaluate" };
    let (state, available, gaps) = if is_missing {
        let gap = json!({"required_capability_ref": {"capability_id": needed}, "gap_kind": "missing"});
        ("not_covered", json!([]), json!([gap]))
    } else {
        ("covered", json!([{"capability_id": needed, "min_version": "2.1.0"}]), json!([]))
    };
    let listed = if is_missing {
        json!([])
    } else {
        json!([{"capability_id": needed, "version": "2.1.0", "healthy": true}])
    };
    let record = json!({
        "assessment_id": id, "outcome_id": outcome.id, "capability_snapshot_ref": capabilities,
        "required_capabilities": [{"capability_id": needed}], "available_capabilities": available,
        "coverage_state": state, "gaps": gaps, "schema_version": "1.0"
    });
    let reference = format!("capability_coverage_assessment:{id}");
    let of = Derived {
        formula: "capability_coverage_v1",
        inputs: json!({"required_capabilities": [{"capability_id": needed}], "available_capabilities": listed}),
        from: vec![capabilities],
        output: reference.clone(),
    };
    proven(b, run, "CapabilityCoverageAssessment", record, &of, &[&state.into()]);
    reference
}

/// What goes with the route; the question to a person, if it is that.
fn follow(b: &mut Builder, run: &Run, outcome: &Outcome, ending: &Value, detection: &str) -> Option<String> {
    match ending["terminal_route"].as_str().unwrap_or_default() {
        "process_gap_out" => {
            let signal = json!({
                "signal_id": b.id("gap"), "outcome_id": outcome.id, "run_id": run.run_id,
                "missing_capability_refs": [{"capability_id": "draw-map"}], "created_at": b.now()
            });
            b.add("TaskProcessGapSignal", signal);
        }
        "needs_verification" => {
            let step = json!({
                "step_id": b.id("verify"), "outcome_id": outcome.id, "run_id": run.run_id, "claim_refs": [],
                "source_record_refs": [], "verifier_capability_ref": {"capability_id": "verify-source"}
            });
            b.add("VerificationRequestStep", step);
        }
        _other => {}
    }
    (ending["hard_call_required"] == true).then(|| {
        let question = Question {
            kind: ending["hard_call_kind"].as_str().expect("a kind of question"),
            source: detection,
            blocked: &[outcome.reference()],
            on_timeout: "escalate",
        };
        call(b, run, &question)
    })
}

fn verdict(disposition: &Value) -> Verdict {
    let of = |disposition, verdict, causes, branch| Verdict { disposition, verdict, causes, branch };
    match disposition.as_str().unwrap_or_default() {
        "needs_information" => {
            of("needs_information", "indeterminate", &["missing_information"], "on_needs_more_sources")
        }
        "needs_verification" => {
            of("needs_verification", "indeterminate", &["missing_source"], "on_needs_source_verification")
        }
        "needs_human_judgment" => of(
            "needs_human_judgment",
            "indeterminate",
            &["human_judgment_required"],
            "on_needs_human_judgment",
        ),
        "blocked_by_policy" => {
            of("blocked_by_policy", "indeterminate", &["policy_block"], "on_blocked_by_policy")
        }
        "unable_to_evaluate" => of("unable_to_evaluate", "indeterminate", &["missing_capability"], "none"),
        "max_iterations_reached" => of("max_iterations_reached", "failed", &[], "on_repeated_failure"),
        _unrecoverable => of("unrecoverable", "failed", &[], "on_unrecoverable"),
    }
}
