//! Formulas: the statuses that the contract derives.
//! Owns: their texts. Must not: compute.

use crate::formula::spec::{Shape, Spec, Vector, may, needs};
use crate::types::formula::{MetricValueKind, NumericUnit};

const fn vector(name: &'static str, inputs: &'static str, expected: &'static str) -> Vector {
    Vector { name, inputs, expected, codes: &[] }
}

pub(super) const FORMULAS: &[Spec] = &[
    Spec {
        id: "pattern_c_resolution_v1",
        purpose: "What a chain of an evaluator and a judge comes to.",
        expression: "pattern_c(results, missing, timed_out, policy)",
        inputs: &[
            needs(
                "results",
                Shape::Records,
                "role, verdict, indeterminate_causes, other_snapshot, live_blocker_states of each",
            ),
            may("missing", Shape::Text, "nobody, judge or evaluator"),
            may("timed_out", Shape::Truth, "whether time is up"),
            may("policy", Shape::Record, "an EvaluationChainResolutionPolicy; else the contract's default"),
        ],
        vectors: &[
            vector(
                "blocker_beside_a_pass",
                r#"{"results":[{"role":"upstream_evaluator","verdict":"failed","live_blocker_states":["active"]},{"role":"downstream_judge","verdict":"passed"}]}"#,
                r#"{"status":"resolved","resolved_verdict":"failed","resolved_route":"fail_path","conflict_type":"qualitative_fail_quantitative_pass","qualitative_blockers_preserved":true,"quantitative_pass_overridden_by_blocker":true}"#,
            ),
            vector(
                "judge_is_awaited",
                r#"{"results":[{"role":"upstream_evaluator","verdict":"passed"}],"missing":"judge"}"#,
                r#"{"status":"waiting"}"#,
            ),
            vector("missing_results", "{}", "\"the input results is missing\""),
        ],
        ..Spec::PLAIN
    },
    Spec {
        id: "claim_support_v1",
        purpose: "Whether a claim is supported by the places in sources that bear on it.",
        expression: "claim_support(policy, anchors)",
        inputs: &[
            needs("policy", Shape::Record, "a ClaimSupportDerivationPolicy"),
            needs(
                "anchors",
                Shape::Records,
                "support_strength, authority_level, verified, stale, tier0 of each",
            ),
        ],
        vectors: &[
            vector(
                "one_verified_place",
                r#"{"policy":{"required_for_supported":{"min_direct_supporting_anchors":1,"require_verified_source":true},"partial_support_rule":"domain_specific","contradiction_rule":"any_direct_contradiction_controls"},"anchors":[{"support_strength":"direct","verified":true}]}"#,
                r#"{"derived_support_status":"supported","needs_review":false}"#,
            ),
            vector(
                "a_lookup_counts_for_nothing",
                r#"{"policy":{"required_for_supported":{"min_direct_supporting_anchors":1,"require_verified_source":true},"partial_support_rule":"domain_specific","contradiction_rule":"any_direct_contradiction_controls"},"anchors":[{"support_strength":"direct","verified":true,"tier0":true}]}"#,
                r#"{"derived_support_status":"unsupported","needs_review":false}"#,
            ),
            vector("missing_policy", r#"{"anchors":[]}"#, "\"the input policy is missing\""),
        ],
        ..Spec::PLAIN
    },
    Spec {
        id: "sufficiency_route_v1",
        purpose: "Where work goes that no procedure can bring to a good end.",
        expression: "sufficiency(triggered_by, known)",
        inputs: &[
            needs("triggered_by", Shape::Texts, "the triggers"),
            needs("known", Shape::Record, "what is known besides: routes, verifiers, attempts").or("{}"),
        ],
        vectors: &[
            vector(
                "nobody_can_do_it",
                r#"{"triggered_by":["no_capability_covers_outcome"]}"#,
                r#"{"no_sufficient_procedure":true,"decisive_trigger":"no_capability_covers_outcome","terminal_route":"process_gap_out","disposition":"unable_to_evaluate","hard_call_required":false,"hard_call_kind":null}"#,
            ),
            vector("nothing_triggered", r#"{"triggered_by":[]}"#, r#"{"no_sufficient_procedure":false}"#),
            vector("missing_triggers", "{}", "\"the input triggered_by is missing\""),
        ],
        ..Spec::PLAIN
    },
    Spec {
        id: "quality_index_v1",
        purpose: "One score for a piece of work, and whether it is enough.",
        expression: "quality_index(dimensions, aggregation_method, missing_dimension_policy, pass_threshold)",
        inputs: &[
            needs("dimensions", Shape::Records, "criterion_id, weight, required, threshold, score of each"),
            needs("aggregation_method", Shape::Text, "how scores become one"),
            needs("missing_dimension_policy", Shape::Text, "what a missing score means"),
            needs("pass_threshold", Shape::Number, "what is enough").within(0.0, 1.0),
        ],
        vectors: &[
            vector(
                "two_criteria",
                r#"{"dimensions":[{"criterion_id":"a","weight":0.25,"required":true,"threshold":0.5,"score":1},{"criterion_id":"b","weight":0.75,"score":0.6}],"aggregation_method":"all_required_then_weighted_mean","missing_dimension_policy":"fail_required","pass_threshold":0.7}"#,
                r#"{"aggregate_score":0.7,"pass_threshold":0.7,"required_gate_failures":[],"derived_pass_status":"passed"}"#,
            ),
            vector(
                "missing_threshold",
                r#"{"dimensions":[],"aggregation_method":"weighted_mean","missing_dimension_policy":"fail_required"}"#,
                "\"the input pass_threshold is missing\"",
            ),
        ],
        ..Spec::PLAIN
    },
    Spec {
        id: "criterion_weights_v1",
        purpose: "What each criterion counts for; all together one.",
        expression: "criterion_weights(criteria, config)",
        inputs: &[
            needs("criteria", Shape::Records, "Criterion records"),
            needs("config", Shape::Record, "an OutcomeComplianceScoringConfig"),
        ],
        value_kind: MetricValueKind::Distribution,
        vectors: &[
            vector(
                "one_and_three",
                r#"{"criteria":[{"criterion_id":"a","scoring_basis":"deterministic_check","weight":1},{"criterion_id":"b","scoring_basis":"human_label","weight":3}],"config":{"unanchored_llm_judgment_policy":"exclude","default_weight_policy":"from_criterion_weight"}}"#,
                r#"{"a":0.25,"b":0.75}"#,
            ),
            Vector {
                name: "nothing_to_weigh",
                inputs: r#"{"criteria":[],"config":{"unanchored_llm_judgment_policy":"exclude","default_weight_policy":"uniform"}}"#,
                expected: "null",
                codes: &["no_aggregation_eligible_criteria"],
            },
            vector("missing_config", r#"{"criteria":[]}"#, "\"the input config is missing\""),
        ],
        ..Spec::PLAIN
    },
    Spec {
        id: "template_match_score_v1",
        purpose: "How well a template fits.",
        expression: "template_score(components, weights, soft_penalty_sum, hard_veto_count, formula)",
        inputs: &[
            needs("components", Shape::Record, "a score for each part"),
            needs("weights", Shape::Record, "a weight for each part"),
            needs("soft_penalty_sum", Shape::Number, "what is taken off").or("0"),
            needs("hard_veto_count", Shape::Count, "how many vetoes").or("0"),
            needs("formula", Shape::Record, "a TemplateMatchFormula"),
        ],
        value_kind: MetricValueKind::CalibratedScore,
        unit: NumericUnit::Score01,
        range: Some((0.0, 1.0)),
        vectors: &[
            vector(
                "vetoed",
                r#"{"components":{"task_type_match":1},"weights":{"task_type_match":2},"hard_veto_count":1,"formula":{"component_weights":{"task_type_match":2},"hard_veto_cap":0.3,"soft_penalty_max_total":0.5}}"#,
                "0.3",
            ),
            vector(
                "missing_formula",
                r#"{"components":{},"weights":{}}"#,
                "\"the input formula is missing\"",
            ),
        ],
        ..Spec::PLAIN
    },
    Spec {
        id: "taint_join_v1",
        purpose: "How far something may be trusted that was made of others.",
        expression: "taint_join(inputs)",
        inputs: &[needs("inputs", Shape::Texts, "the taint of each")],
        vectors: &[
            vector(
                "two",
                r#"{"inputs":["user_trusted_bounded","external_untrusted"]}"#,
                "\"external_untrusted\"",
            ),
            vector("none", r#"{"inputs":[]}"#, "\"internal_corpus_trusted\""),
            vector("missing_inputs", "{}", "\"the input inputs is missing\""),
        ],
        ..Spec::PLAIN
    },
    Spec {
        id: "novelty_v1",
        purpose: "How new something is, by its distance from the nearest pattern.",
        expression: "novelty(closest_pattern_distance, no_pattern_fallback, domain_baseline, threshold)",
        inputs: &[
            may("closest_pattern_distance", Shape::Number, "from 0 to 1, if there is a pattern")
                .within(0.0, 1.0),
            needs("no_pattern_fallback", Shape::Text, "what is said where there is none"),
            may("domain_baseline", Shape::Number, "what is usual in the domain").within(0.0, 1.0),
            needs("threshold", Shape::Number, "from where on it is new").within(0.0, 1.0),
        ],
        vectors: &[
            vector(
                "no_pattern",
                r#"{"no_pattern_fallback":"indeterminate","threshold":0.5}"#,
                r#"{"novelty_score":null,"similarity_score":null,"forces_fresh_reasoning":true,"triggers_task_agent":true}"#,
            ),
            vector(
                "missing_threshold",
                r#"{"no_pattern_fallback":"novelty_one"}"#,
                "\"the input threshold is missing\"",
            ),
        ],
        ..Spec::PLAIN
    },
    Spec {
        id: "concurrency_tie_break_v1",
        purpose: "Which of several plans goes first.",
        expression: "tie_break(profiles)",
        inputs: &[needs("profiles", Shape::Records, "RevisionPlanConcurrencyProfile records")],
        value_kind: MetricValueKind::Distribution,
        vectors: &[
            vector(
                "the_safer_first",
                r#"{"profiles":[{"plan_id":"a","outcome_priority":1,"plan_risk_score":0.9,"estimated_lock_duration_ms":1,"deterministic_final_key":"a"},{"plan_id":"b","outcome_priority":1,"plan_risk_score":0.1,"estimated_lock_duration_ms":1,"deterministic_final_key":"b"}]}"#,
                r#"["b","a"]"#,
            ),
            vector("missing_profiles", "{}", "\"the input profiles is missing\""),
        ],
        ..Spec::PLAIN
    },
    Spec {
        id: "reliance_status_v1",
        purpose: "How far a work product may be relied on.",
        expression: "reliance(limitations, failed_chains, live_blockers, contradicted_claims, open_hard_calls)",
        inputs: &[
            needs("limitations", Shape::Texts, "what limits it"),
            needs("failed_chains", Shape::Count, "chains that came to failed").within(0.0, 9e15).or("0"),
            needs("live_blockers", Shape::Count, "findings that still block").within(0.0, 9e15).or("0"),
            needs("contradicted_claims", Shape::Count, "claims that a source contradicts")
                .within(0.0, 9e15)
                .or("0"),
            needs("open_hard_calls", Shape::Count, "questions that nobody answered")
                .within(0.0, 9e15)
                .or("0"),
        ],
        vectors: &[
            vector(
                "nothing_speaks_against",
                r#"{"limitations":[]}"#,
                r#"{"status":"safe_to_rely_within_scope","unresolved_limitations":[]}"#,
            ),
            vector(
                "a_stale_source",
                r#"{"limitations":["stale_source_present"]}"#,
                r#"{"status":"rely_with_limitations","unresolved_limitations":["stale_source_present"]}"#,
            ),
            vector(
                "a_blocker",
                r#"{"limitations":[],"live_blockers":1}"#,
                r#"{"status":"not_safe_to_rely","unresolved_limitations":[]}"#,
            ),
            vector("missing_limitations", "{}", "\"the input limitations is missing\""),
        ],
        ..Spec::PLAIN
    },
    Spec {
        id: "health_status_v1",
        purpose: "How a task is doing: as well as the worst sign lets.",
        expression: "health(outcome_states, live_blockers, open_hard_calls, attention_priorities, limitations)",
        inputs: &[
            needs("outcome_states", Shape::Texts, "how each outcome stands"),
            needs("live_blockers", Shape::Count, "findings that still block").or("0"),
            needs("open_hard_calls", Shape::Count, "questions that nobody answered").or("0"),
            needs("attention_priorities", Shape::Texts, "the priority of each open item of attention")
                .or("[]"),
            needs("limitations", Shape::Texts, "what limits the work product").or("[]"),
        ],
        vectors: &[
            vector(
                "all_met",
                r#"{"outcome_states":["satisfied","superseded"]}"#,
                r#"{"health_status":"healthy"}"#,
            ),
            vector(
                "a_stale_source",
                r#"{"outcome_states":["satisfied"],"limitations":["stale_source_present"]}"#,
                r#"{"health_status":"warning"}"#,
            ),
            vector(
                "a_question_is_open",
                r#"{"outcome_states":["needs_revision"],"open_hard_calls":1}"#,
                r#"{"health_status":"review_required"}"#,
            ),
            vector(
                "a_blocker_is_live",
                r#"{"outcome_states":["satisfied"],"live_blockers":1,"attention_priorities":["high"]}"#,
                r#"{"health_status":"blocked"}"#,
            ),
            vector(
                "it_cannot_be_mended",
                r#"{"outcome_states":["satisfied","unrecoverable"],"live_blockers":1}"#,
                r#"{"health_status":"failed"}"#,
            ),
            vector("missing_states", "{}", "\"the input outcome_states is missing\""),
        ],
        ..Spec::PLAIN
    },
    Spec {
        id: "capability_coverage_v1",
        purpose: "Whether the capabilities that are there cover an outcome.",
        expression: "coverage(required_capabilities, available_capabilities)",
        inputs: &[
            needs(
                "required_capabilities",
                Shape::Records,
                "capability_id and min_version of each that is needed",
            ),
            needs(
                "available_capabilities",
                Shape::Records,
                "capability_id, version, healthy of each that is there",
            ),
        ],
        vectors: &[
            vector(
                "all_there",
                r#"{"required_capabilities":[{"capability_id":"edit","min_version":"1.9"}],"available_capabilities":[{"capability_id":"edit","version":"1.10","healthy":true}]}"#,
                r#"{"coverage_state":"covered"}"#,
            ),
            vector(
                "one_is_ill",
                r#"{"required_capabilities":[{"capability_id":"edit"}],"available_capabilities":[{"capability_id":"edit","version":"1.0","healthy":false}]}"#,
                r#"{"coverage_state":"covered_but_unhealthy"}"#,
            ),
            vector(
                "one_is_too_old",
                r#"{"required_capabilities":[{"capability_id":"edit","min_version":"2"},{"capability_id":"cite"}],"available_capabilities":[{"capability_id":"edit","version":"1.0","healthy":true},{"capability_id":"cite","version":"1","healthy":true}]}"#,
                r#"{"coverage_state":"partially_covered"}"#,
            ),
            vector(
                "none_is_there",
                r#"{"required_capabilities":[{"capability_id":"edit"}],"available_capabilities":[]}"#,
                r#"{"coverage_state":"not_covered"}"#,
            ),
            vector(
                "missing_requirements",
                r#"{"available_capabilities":[]}"#,
                "\"the input required_capabilities is missing\"",
            ),
        ],
        ..Spec::PLAIN
    },
];
