//! Logs in which revisions, packets and what is computed contradict themselves: one of each kind, beside the same without.

use super::*;
use crate::world::Draft;
use countersign_record::json;
use std::string::ToString;
use std::vec::Vec;

fn world(rows: &[(&str, &str)]) -> World {
    let draft = |(kind, record): &(&str, &str)| Draft {
        kind: kind.to_string(),
        id: None,
        at: None,
        record: json::parse(record.as_bytes()).unwrap(),
    };
    World::new(rows.iter().map(draft).collect(), None)
}

/// What is found of one kind at one place.
fn told(rows: &[(&str, &str)], what: What, path: &str) -> usize {
    let all = contradictions(&world(rows));
    all.iter().filter(|one| one.what == what && one.path == path).count()
}

/// The second row is right where it says `right`, and contradicts the others where it says `wrong`.
fn check(
    others: &[(&str, &str)],
    (kind, record): (&str, &str),
    right: &str,
    wrong: &str,
    found: (What, &str),
) {
    for (word, count) in [(right, 0), (wrong, 1)] {
        let record = record.replace("WORD", word);
        let rows: Vec<(&str, &str)> = others.iter().copied().chain([(kind, record.as_str())]).collect();
        assert_eq!(told(&rows, found.0, found.1), count, "{kind} {word}");
    }
}

#[test]
fn a_plan_moves_by_what_was_done() {
    let step = r#"{"step_id":"s1","step_order":1,"target_refs":["artifact:a1"]}"#;
    let plan = std::format!(r#"{{"plan_id":"p1","steps":[{step}]}}"#);
    let done = r#"{"receipt_id":"r1","plan_id":"p1","step_id":"s1","operation_kind":"plan_admitted"}"#;
    let others =
        [("RevisionPlanStepBase", step), ("RevisionPlan", &plan), ("RevisionOperationReceipt", done)];
    let event = r#"{"event_id":"e1","plan_id":"p1","from_state":"plan_compiled","to_state":"WORD","receipt_ref":"revision_operation_receipt:r1"}"#;
    let moved = ("RevisionLifecycleTransitionEvent", event);
    check(&others, moved, "dispatch_pending", "terminal_failed", (What::Fold, "/to_state"));
    let receipt = r#"{"receipt_id":"r2","plan_id":"p1","step_id":"WORD","operation_kind":"dispatched"}"#;
    check(&others, ("RevisionOperationReceipt", receipt), "s1", "s2", (What::NamesNothing, "/step_id"));
    let other = r#"{"step_id":"s1","step_order":WORD,"target_refs":["artifact:a1"]}"#;
    check(&others[1..], ("RevisionPlanStepBase", other), "1", "2", (What::Repeat, ""));
}

/// Also where no receipt shows how the order came about.
#[test]
fn plans_go_in_the_order_of_their_profiles() {
    let profile = |plan: &str, risk: &str| {
        std::format!(
            r#"{{"plan_id":"{plan}","required_for_overall_pass":false,"high_stakes":false,"outcome_priority":1,"plan_risk_score":{risk},"estimated_lock_duration_ms":1,"deterministic_final_key":"{plan}"}}"#
        )
    };
    let (risky, safe) = (profile("a", "0.9"), profile("b", "0.1"));
    let decision = std::format!(r#"{{"decision_id":"d1","profiles":[{risky},{safe}],"order":[WORD]}}"#);
    let decided = ("TieBreakDecision", decision.as_str());
    check(&[], decided, r#""b","a""#, r#""a","b""#, (What::Repeat, "/order"));
    check(&[], decided, r#""b","a""#, r#""b""#, (What::Repeat, "/order"));
}

#[test]
fn what_is_held_back_repeats_something() {
    let went = r#"{"delivery_id":"d1","delivery_idempotency_key":"k","suppressed":false}"#;
    let held = r#"{"delivery_id":"d2","delivery_idempotency_key":"WORD","suppressed":true}"#;
    let others = [("FeedbackDeliveryRecord", went)];
    check(&others, ("FeedbackDeliveryRecord", held), "k", "other", (What::Repeat, "/suppressed"));
}

#[test]
fn what_is_not_allowed_says_why() {
    let detection = r#"{"detection_id":"d","candidate_procedures":[{"procedure_id":"p",WORD}]}"#;
    let detection = ("SufficiencyDetectionResult", detection);
    let at = (What::Repeat, "/candidate_procedures/0/policy_allowed");
    let blocked = r#""policy_allowed":false,"inapplicable_reason":"policy_blocked""#;
    check(&[], detection, blocked, r#""policy_allowed":false"#, at);
    check(&[], detection, r#""policy_allowed":true"#, &blocked.replace("false", "true"), at);
}

#[test]
fn a_switch_is_for_a_failure_that_comes_again() {
    let signal = r#"{"signal_id":"s","same_reason_as_previous":WORD,"strategy_switch_recommended":true}"#;
    let at = (What::Repeat, "/strategy_switch_recommended");
    check(&[], ("ProgressSignalRecord", signal), "true", "false", at);
}

#[test]
fn what_left_cannot_be_called_back() {
    let receipt = r#"{"receipt_id":"x","externalization_kind":"export_bundle","status":"completed","irreversible_disclosure_possible":WORD}"#;
    let at = (What::Repeat, "/irreversible_disclosure_possible");
    check(&[], ("WorkspaceExternalizationReceipt", receipt), "true", "false", at);
}

#[test]
fn an_effect_stays_what_it_is() {
    let intent = r#"{"side_effect_id":"e","kind":"send_mail","irreversible":true,"state":"intent"}"#;
    let done = r#"{"side_effect_id":"e","kind":"send_mail","irreversible":WORD,"state":"executed"}"#;
    let others = [("SideEffectLedgerEntry", intent)];
    check(&others, ("SideEffectLedgerEntry", done), "true", "false", (What::Repeat, "/irreversible"));
}

#[test]
fn hashes_go_from_version_to_version() {
    let version = r#"{"artifact_version_id":"v1","artifact_stable_id":"a1","content_hash":"aa"}"#;
    let lock = r#"{"step_id":"s1","expected_base_version_id":"v1","expected_pre_hash":"WORD"}"#;
    let others = [("ArtifactVersion", version)];
    check(&others, ("InPlaceMutationLock", lock), "aa", "bb", (What::Hash, "/expected_pre_hash"));
}

#[test]
fn what_is_asked_anew_is_new() {
    let payload = r#"{"step_id":"s1","target_ref":"artifact:a1","previous_attempt_hashes":["aa"]}"#;
    let receipt = r#"{"receipt_id":"r1","step_id":"s1","target_ref":"artifact:a1","output_hash":"WORD","matched_previous_attempt":false}"#;
    let others = [("RegenerateRevisionPayload", payload)];
    check(&others, ("RegenerateAttemptReceipt", receipt), "bb", "aa", (What::Repeat, "/output_hash"));
}

#[test]
fn what_is_counted_goes_on_by_one() {
    let tick = r#"{"room_id":"r1","tick":1}"#;
    let next = r#"{"room_id":"r1","tick":WORD}"#;
    check(&[("ForumTick", tick)], ("ForumTick", next), "2", "3", (What::Place, "/tick"));
}

#[test]
fn what_was_stopped_is_what_was_aimed_at() {
    let request = r#"{"cancel_request_id":"c1","cancel_scope":"revision_plan","target_refs":["revision_plan:p1"],"candidate_disposition":"discard"}"#;
    let receipt = r#"{"receipt_id":"r1","cancel_request_id":"c1","stopped_refs":["revision_plan:WORD"],"candidate_disposition":"discard"}"#;
    let others = [("TaskCancelProtocol", request)];
    check(&others, ("TaskCancelReceipt", receipt), "p1", "p2", (What::List, "/stopped_refs"));
}

#[test]
fn a_sum_is_one() {
    let part = |id: &str| {
        std::format!(r#"{{"cost_vector_id":"{id}","components":{{"usd":{{"expected":2,"unit":"usd"}}}}}}"#)
    };
    let (one, other) = (part("c1"), part("c2"));
    let receipt = r#"{"receipt_id":"f1","formula_id":"x","input_refs":["cost_vector:c1","cost_vector:c2"]}"#;
    let sum = r#"{"cost_vector_id":"c3","formula_eval_receipt_ref":"formula_evaluation_receipt:f1","components":{"usd":{"expected":WORD,"unit":"usd"}}}"#;
    let others =
        [("CostVector", one.as_str()), ("CostVector", &other), ("FormulaEvaluationReceipt", receipt)];
    check(&others, ("CostVector", sum), "4", "5", (What::Repeat, "/components/usd/expected"));
}

#[test]
fn a_candidate_stands_where_its_receipts_led() {
    let moved = r#"{"receipt_id":"m1","subject_ref":"library_promotion_candidate:c1","from_state":"queued","to_state":"approved"}"#;
    let candidate = r#"{"candidate_id":"c1","status":"WORD"}"#;
    let first = candidate.replace("WORD", "queued");
    let others = [("LibraryPromotionCandidate", first.as_str()), ("LifecycleTransitionReceipt", moved)];
    check(&others, ("LibraryPromotionCandidate", candidate), "approved", "queued", (What::Fold, "/status"));
}

#[test]
fn a_value_is_what_its_formula_gives() {
    let formula = r#"{"formula_id":"template_match_score_v1","component_weights":{"semantic_intent_match":0,"task_type_match":1,"input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0},"hard_veto_cap":0.25,"soft_penalty_max_total":0.5}"#;
    let inputs = std::format!(
        r#"{{"components":{{"semantic_intent_match":0,"task_type_match":0.5,"input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0}},"weights":{{"semantic_intent_match":0,"task_type_match":1,"input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0}},"soft_penalty_sum":0,"hard_veto_count":0,"formula":{formula}}}"#
    );
    let hash = |text: &str| {
        std::string::String::from(crate::world::hash(&json::parse(text.as_bytes()).unwrap()).unwrap())
    };
    let receipt = std::format!(
        r#"{{"receipt_id":"f1","formula_id":"template_match_score_v1","output_ref":"template_match_evaluation:e1","input_value_hash":"{}","output_value_hash":"{}"}}"#,
        hash(&inputs),
        hash("0.5")
    );
    let match_of = r#"{"evaluation_id":"e1","formula_ref":"template_match_formula:template_match_score_v1","components":{"semantic_intent_match":0,"task_type_match":0.5,"input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0},"weights":{"semantic_intent_match":0,"task_type_match":1,"input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0},"soft_penalty_sum":0,"hard_veto_count":0,"overall_score":WORD}"#;
    let others = [("TemplateMatchFormula", formula), ("FormulaEvaluationReceipt", receipt.as_str())];
    check(&others, ("TemplateMatchEvaluation", match_of), "0.5", "0.75", (What::Repeat, "/overall_score"));
}
