//! Inputs of every registered formula as they are met.

use std::fmt::Write as _;

/// Inputs, and what they are.
pub(super) struct Case {
    pub(super) formula: &'static str,
    /// How many of what.
    pub(super) of: &'static str,
    pub(super) inputs: String,
    /// Numbers that are looked at for each value, where it is drawn anew.
    pub(super) looks: Option<f64>,
}

fn case(formula: &'static str, of: &'static str, inputs: impl Into<String>) -> Case {
    Case { formula, of, inputs: inputs.into(), looks: None }
}

fn drawn(formula: &'static str, of: &'static str, inputs: impl Into<String>, looks: f64) -> Case {
    Case { looks: Some(looks), ..case(formula, of, inputs) }
}

/// Items with commas between, each made from its number.
fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for at in 0..count {
        let comma = if at == 0 { "" } else { "," };
        write!(text, "{comma}{}", item(at)).unwrap();
    }
    format!("[{text}]")
}

/// Predictions of two decimals, and what came.
fn predictions(count: usize) -> String {
    let predicted = list(count, |at| format!("0.{:02}", (at * 37) % 100));
    let observed = list(count, |at| ((at * 7) % 3 % 2).to_string());
    format!(r#""predicted":{predicted},"observed":{observed}"#)
}

/// A cost in three dimensions.
fn cost(at: usize) -> String {
    format!(
        r#"{{"components":{{"usd":{{"expected":0.{at}2,"p50":0.{at}2,"p90":0.{at}9,"unit":"usd"}},"output_tokens":{{"expected":1{at}00,"p50":1{at}00,"p90":2{at}00,"unit":"output_tokens"}},"wall_clock_ms":{{"expected":1{at}50,"unit":"wall_clock_ms"}}}},"basis":"historical","estimator_confidence":"calibrated","sample_size":40,"assumptions":["a{at}"]}}"#
    )
}

fn template() -> String {
    let parts = [
        "semantic_intent_match",
        "task_type_match",
        "input_contract_match",
        "output_contract_match",
        "capability_availability_match",
        "entity_context_match",
        "user_preference_match",
        "prior_assessment_score",
        "recency_or_staleness_score",
    ];
    let all = |value: &str| {
        let members: Vec<String> = parts.iter().map(|part| format!(r#""{part}":{value}"#)).collect();
        format!("{{{}}}", members.join(","))
    };
    let (components, weights) = (all("0.7"), all("1"));
    format!(
        r#"{{"components":{components},"weights":{weights},"soft_penalty_sum":0.1,"hard_veto_count":0,"formula":{{"component_weights":{weights},"hard_veto_cap":0.25,"soft_penalty_max_total":0.5}}}}"#
    )
}

const WINDOW: &str = r#""window":{"start":"2026-03-02T08:00:00Z","end":"2026-03-02T12:00:00Z"}"#;

pub(super) fn cases() -> Vec<Case> {
    [statuses(), scores(), rates(), metrics(), intervals()].into_iter().flatten().collect()
}

fn statuses() -> Vec<Case> {
    let anchors = list(8, |at| {
        let strength = if at % 2 == 0 { "direct" } else { "contextual" };
        format!(
            r#"{{"support_strength":"{strength}","authority_level":"persuasive","verified":true,"stale":false,"tier0":false}}"#
        )
    });
    let key = |sources: &str| {
        format!(
            r#"{{"failure_kind":"criterion_unmet","artifact_stable_id":"memo","criterion_id":"grounded","normalized_finding_text_hash":"{a}","evidence_signature_hash":"{a}","source_workspace_snapshot_hash":"{sources}"}}"#,
            a = "5f".repeat(32)
        )
    };
    vec![
        case("met_share_v1", "2 numbers", r#"{"met":2,"wanted":3}"#),
        case(
            "blocking_authority_v1",
            "a number and a word",
            r#"{"checkable_basis_count":1,"is_permitted":false}"#,
        ),
        case(
            "same_reason_v1",
            "2 keys",
            format!(r#"{{"current":{},"previous":{}}}"#, key(&"1".repeat(64)), key(&"2".repeat(64))),
        ),
        case(
            "pattern_c_resolution_v1",
            "2 results and a policy",
            r#"{"results":[{"role":"upstream_evaluator","verdict":"failed","other_snapshot":false,"live_blocker_states":["active"]},{"role":"downstream_judge","verdict":"passed","other_snapshot":false,"live_blocker_states":[]}],"missing":"nobody","timed_out":false,"policy":{"qualitative_blockers_survive_numeric_pass":true,"judge_can_override_evaluator":false,"override_allowed_only_for_finding_states":["contested","dismissed"],"route_precedence":"blocking_qualitative_first","disagreement_route":"human_review"}}"#,
        ),
        case(
            "claim_support_v1",
            "8 places",
            format!(
                r#"{{"policy":{{"required_for_supported":{{"min_direct_supporting_anchors":1,"require_verified_source":true,"allow_stale_source":false,"allow_contradicting_anchor":false}},"partial_support_rule":"domain_specific","contradiction_rule":"weighted_by_authority"}},"anchors":{anchors}}}"#
            ),
        ),
        case(
            "sufficiency_route_v1",
            "2 triggers",
            r#"{"triggered_by":["verification_unresolvable","max_attempts_without_material_score_improvement"],"known":{"has_other_verifier":false,"attempts":2,"max_total_attempts":3}}"#,
        ),
        case(
            "taint_join_v1",
            "8 taints",
            format!(
                r#"{{"inputs":{}}}"#,
                list(8, |at| format!(
                    "\"{}\"",
                    if at == 5 { "external_untrusted" } else { "user_trusted_bounded" }
                ))
            ),
        ),
        case(
            "reliance_status_v1",
            "2 limitations",
            r#"{"limitations":["stale_source_present","policy_warning"],"evidence_packages":1,"failed_chains":0,"live_blockers":0,"contradicted_claims":0,"open_hard_calls":1}"#,
        ),
        case(
            "health_status_v1",
            "5 outcomes",
            r#"{"outcome_states":["satisfied","satisfied","needs_revision","evaluating","superseded"],"live_blockers":0,"open_hard_calls":1,"attention_priorities":["high","low"],"limitations":["stale_source_present"]}"#,
        ),
        case(
            "improvement_v1",
            "4 attempts",
            r#"{"attempts":[{"score_before":0.2,"score_after":0.6},{"score_before":0.6,"score_after":0.5},{"score_before":0.5,"score_after":0.61},{"score_before":0.61,"score_after":0.6}],"min_attempts_before_no_improvement":3,"no_improvement_window":2,"epsilon":0.05}"#,
        ),
        case(
            "source_taint_v1",
            "4 words",
            r#"{"default_taint_class":"external_authority_trusted","required_trust_basis":["official_api"],"trust_basis":"official_api","lineage_taint":"external_untrusted"}"#,
        ),
        case(
            "workspace_holding_v1",
            "8 sources",
            format!(
                r#"{{"holdings":{}}}"#,
                list(8, |_| {
                    r#"{"taint_class":"user_trusted_bounded","data_class":"internal","privileged":false,"matter_id":"m1"}"#.to_string()
                })
            ),
        ),
        case(
            "capability_coverage_v1",
            "3 needed, 4 there",
            r#"{"required_capabilities":[{"capability_id":"edit","min_version":"1.9"},{"capability_id":"cite"},{"capability_id":"draw","min_version":"2.0.1"}],"available_capabilities":[{"capability_id":"edit","version":"1.10","healthy":true},{"capability_id":"cite","version":"1.0","healthy":true},{"capability_id":"draw","version":"2.1","healthy":false},{"capability_id":"draw","version":"2.2","healthy":true}]}"#,
        ),
    ]
}

fn scores() -> Vec<Case> {
    let dimensions = list(5, |at| {
        format!(r#"{{"criterion_id":"c{at}","weight":0.2,"required":true,"threshold":0.5,"score":0.8}}"#)
    });
    let criteria = list(5, |at| {
        format!(
            r#"{{"criterion_id":"c{at}","scoring_basis":"deterministic_check","weight":1.5,"priority":"must_have","required":true}}"#
        )
    });
    let profiles = list(4, |at| {
        format!(
            r#"{{"plan_id":"p{at}","required_for_overall_pass":true,"high_stakes":false,"outcome_priority":1,"plan_risk_score":0.{at},"estimated_lock_duration_ms":1000,"deterministic_final_key":"p{at}"}}"#
        )
    });
    vec![
        case(
            "quality_index_v1",
            "5 criteria",
            format!(
                r#"{{"dimensions":{dimensions},"aggregation_method":"all_required_then_weighted_mean","missing_dimension_policy":"fail_required","pass_threshold":0.7}}"#
            ),
        ),
        case(
            "criterion_weights_v1",
            "5 criteria",
            format!(
                r#"{{"criteria":{criteria},"config":{{"unanchored_llm_judgment_policy":"exclude","default_weight_policy":"from_criterion_weight","priority_weight_map":{{}}}}}}"#
            ),
        ),
        case("template_match_score_v1", "9 parts", template()),
        case(
            "novelty_v1",
            "a pattern nearby",
            r#"{"closest_pattern_distance":0.3,"no_pattern_fallback":"novelty_one","threshold":0.5}"#,
        ),
        case(
            "pattern_distance_v1",
            "2 vectors of 8",
            r#"{"distance_metric":"cosine_distance","vector":[1,0,2,0,3,0,4,0],"other_vector":[1,1,2,1,3,1,4,1]}"#,
        ),
        case(
            "nearest_pattern_v1",
            "8 patterns",
            format!(
                r#"{{"patterns":{}}}"#,
                list(8, |at| format!(r#"{{"pattern_id":"p{at}","distance":0.{at}}}"#))
            ),
        ),
        case("concurrency_tie_break_v1", "4 plans", format!(r#"{{"profiles":{profiles}}}"#)),
    ]
}

fn rates() -> Vec<Case> {
    let observations = list(10, |at| {
        let class = if at % 3 == 0 { "max_iterations_reached" } else { "succeeded" };
        format!(r#"{{"cycle_count":{},"terminal_class":"{class}"}}"#, at + 1)
    });
    vec![
        case("regression_rate_v1", "two counts", r#"{"regression_introduced_count":2,"accepted_count":8}"#),
        case(
            "severity_weighted_penalty_rate_v1",
            "three severities",
            r#"{"severity_breakdown":{"minor":1,"major":1,"critical":1},"accepted_count":10}"#,
        ),
        case(
            "sub_agent_reputation_score_v1",
            "two parts and an interval",
            r#"{"invocations":20,"hits":15,"attribution_lift":0.2}"#,
        ),
        case(
            "sub_agent_reputation_score_v1",
            "all parts and an interval",
            r#"{"invocations":200,"hits":150,"attribution_lift":0.2,"penalty_rate":0.4,"mean_cost":1.5,"cohort_median_cost":1.2,"true_positives":90,"false_positives":10,"true_negatives":60,"false_negatives":40}"#,
        ),
        case("cycle_efficiency_v1", "10 outcomes", format!(r#"{{"observations":{observations},{WINDOW}}}"#)),
    ]
}

fn metrics() -> Vec<Case> {
    let (thirty, scored) = (predictions(30), format!(r#"{{{},"threshold":0.4}}"#, predictions(30)));
    let plain = format!("{{{thirty}}}");
    let sums = format!(r#"{{"vectors":{}}}"#, list(3, cost));
    let dear = format!(
        r#"{{"vectors":{},"correlation_policy":"assume_perfect_correlation_upper_bound"}}"#,
        list(3, cost)
    );
    let cases = list(3, |at| format!(r#"{{"usd":{}}}"#, list(20, |case| format!("0.{at}{case}"))));
    let independent = format!(
        r#"{{"vectors":{},"correlation_policy":"assume_independent_monte_carlo","samples":{cases},"draws":1000,"seed":7}}"#,
        list(3, cost)
    );
    vec![
        case("planner_confidence_brier_score", "30 predictions", &*plain),
        case("planner_confidence_expected_calibration_error", "30 predictions, 10 bins", &*plain),
        case("novelty_threshold_auc", "30 predictions", &*plain),
        case("novelty_threshold_precision_recall", "30 predictions", scored),
        case("confidence_convergence_spearman", "30 pairs", &*plain),
        drawn(
            "planner_confidence_brier_score",
            "30 predictions and an interval of 1,000 draws",
            format!(r#"{{{thirty},"draws":1000}}"#),
            30_000.0,
        ),
        case("cost_vector_sum_v1", "3 costs in 3 dimensions, without quantiles", sums),
        case("cost_vector_sum_v1", "3 costs in 3 dimensions, all dear at once", dear),
        drawn("cost_vector_sum_v1", "3 costs, 1,000 draws of 3 in one dimension", independent, 3_000.0),
    ]
}

fn intervals() -> Vec<Case> {
    let latencies = list(100, |at| (10 + (at * 37) % 90).to_string());
    let measured = list(10, |at| format!("{}.5", (at * 7) % 10));
    vec![
        case("wilson_interval_v1", "two counts", r#"{"hits":8,"trials":10,"level":0.95}"#),
        case("beta_interval_v1", "two counts", r#"{"hits":8,"trials":10,"level":0.95}"#),
        case("normal_interval_v1", "two counts", r#"{"hits":8,"trials":10,"level":0.95}"#),
        drawn(
            "bootstrap_mean_interval_v1",
            "1,000 draws of 10 values",
            format!(r#"{{"values":{measured},"seed":7}}"#),
            10_000.0,
        ),
        case("latency_distribution_v1", "100 values", format!(r#"{{"values":{latencies},{WINDOW}}}"#)),
    ]
}
