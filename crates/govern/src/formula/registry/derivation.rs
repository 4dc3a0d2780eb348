//! Formulas: the statuses that the contract derives.
//! Owns: their texts. Must not: compute.

use super::{flag, many, words};
use crate::derive::{chain, claim_support, reliance, sufficiency, taint};
use crate::formula::input::{item, one_of, part_of, record, word};
use crate::formula::spec::{Shape, Spec, may, needs, requires, vector};
use crate::types::chain::EvaluationChainResolutionPolicy;
use crate::types::claim::{
    ClaimSupportDerivationPolicy, ClaimSupportDerivationPolicyRequiredForSupported, ClaimSupportStatus,
};

pub(super) const FORMULAS: &[Spec] = &[
    Spec {
        id: "pattern_c_resolution_v1",
        version: "1.1.0",
        purpose: "What a chain of an evaluator and a judge comes to.",
        expression: "pattern_c(results, missing, timed_out, policy)",
        inputs: &[
            needs(
                "results",
                Shape::List(&item(record(&[
                    needs("role", word!(chain::Role), ""),
                    needs("verdict", word!(chain::Verdict), ""),
                    may("indeterminate_causes", words!(chain::Cause), ""),
                    flag("other_snapshot"),
                    may("live_blocker_states", words!(chain::FindingState), ""),
                ]))),
                "what was said, and of what",
            ),
            may("missing", one_of(&["nobody", "judge", "evaluator"]), "who has not answered"),
            may("timed_out", Shape::Truth, "whether time is up"),
            may(
                "policy",
                part_of!(
                    EvaluationChainResolutionPolicy,
                    &[
                        needs("qualitative_blockers_survive_numeric_pass", Shape::Truth, ""),
                        needs("judge_can_override_evaluator", Shape::Truth, ""),
                        may("override_allowed_only_for_finding_states", words!(chain::FindingState), ""),
                        needs("route_precedence", word!(chain::Precedence), ""),
                        needs("disagreement_route", word!(chain::Disagreement), ""),
                    ]
                ),
                "how conflicts are resolved; else as the contract does",
            ),
        ],
        // Observers decide nothing: of nobody else's word nothing follows, least of all that work passes.
        requires: &[requires(
            "results",
            "count(results) > count(where(results, 'role', 'observer')) or or_else(missing, 'nobody') != 'nobody'",
        )],
        gives: Some(record(&[
            needs("status", one_of(&["waiting", "resolved"]), ""),
            may("resolved_verdict", word!(chain::Verdict), ""),
            may("resolved_route", word!(chain::Route), ""),
            may("conflict_type", word!(chain::Conflict), ""),
            flag("qualitative_blockers_preserved"),
            flag("quantitative_pass_overridden_by_blocker"),
        ])),
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
            vector(
                "nobody_said_anything",
                r#"{"results":[]}"#,
                "\"the input results must be so that count(results) > count(where(results, 'role', 'observer')) or or_else(missing, 'nobody') != 'nobody'\"",
            ),
        ],
        ..Spec::PLAIN
    },
    Spec {
        id: "claim_support_v1",
        version: "1.1.0",
        purpose: "Whether a claim is supported by the places in sources that bear on it.",
        expression: "claim_support(policy, anchors)",
        inputs: &[
            needs(
                "policy",
                part_of!(
                    ClaimSupportDerivationPolicy,
                    &[
                        needs(
                            "required_for_supported",
                            part_of!(
                                ClaimSupportDerivationPolicyRequiredForSupported,
                                &[
                                    needs("min_direct_supporting_anchors", Shape::Count, ""),
                                    needs("require_verified_source", Shape::Truth, ""),
                                    flag("allow_stale_source"),
                                    flag("allow_contradicting_anchor"),
                                ]
                            ),
                            "",
                        ),
                        needs("partial_support_rule", word!(claim_support::PartialRule), ""),
                        needs("contradiction_rule", word!(claim_support::ContradictionRule), ""),
                    ]
                ),
                "what counts as support",
            ),
            needs(
                "anchors",
                Shape::List(&item(record(&[
                    needs("support_strength", word!(claim_support::Strength), ""),
                    may("authority_level", word!(claim_support::Authority), ""),
                    flag("verified"),
                    flag("stale"),
                    flag("tier0"),
                ]))),
                "the places in sources that bear on it",
            ),
        ],
        gives: Some(record(&[
            needs("derived_support_status", word!(ClaimSupportStatus), ""),
            needs("needs_review", Shape::Truth, ""),
        ])),
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
        version: "1.1.0",
        purpose: "Where work goes that no procedure can bring to a good end.",
        expression: "sufficiency(triggered_by, known)",
        inputs: &[
            needs("triggered_by", words!(sufficiency::Trigger), "the triggers"),
            needs(
                "known",
                record(&[
                    flag("policy_is_alterable"),
                    flag("has_information_route"),
                    flag("has_other_verifier"),
                    flag("precondition_is_information"),
                    may("on_cycle_detected", word!(sufficiency::OnCycle), ""),
                    flag("has_variation_left"),
                    flag("has_unlockable_candidate"),
                    may("attempts", Shape::Count, ""),
                    may("max_total_attempts", Shape::Count, ""),
                ]),
                "what is known besides: routes, verifiers, attempts",
            )
            .or("{}"),
        ],
        gives: Some(record(&[
            needs("no_sufficient_procedure", Shape::Truth, ""),
            may("decisive_trigger", word!(sufficiency::Trigger), ""),
            may("terminal_route", word!(sufficiency::Route), ""),
            may("disposition", word!(sufficiency::Disposition), ""),
            flag("hard_call_required"),
            may("hard_call_kind", word!(sufficiency::Question), ""),
        ])),
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
        id: "taint_join_v1",
        version: "1.1.0",
        purpose: "How far something may be trusted that was made of others.",
        expression: "taint_join(inputs)",
        inputs: &[needs("inputs", words!(taint::Taint), "the taint of each")],
        gives: Some(word!(taint::Taint)),
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
        id: "reliance_status_v1",
        version: "1.1.0",
        purpose: "How far a work product may be relied on.",
        expression: "reliance(limitations, failed_chains, live_blockers, contradicted_claims, open_hard_calls)",
        inputs: &[
            needs("limitations", words!(reliance::Limitation), "what limits it"),
            many("failed_chains", "chains that came to failed"),
            many("live_blockers", "findings that still block"),
            many("contradicted_claims", "claims that a source contradicts"),
            many("open_hard_calls", "questions that nobody answered"),
        ],
        gives: Some(record(&[
            needs("status", word!(reliance::Status), ""),
            needs("unresolved_limitations", words!(reliance::Limitation), ""),
        ])),
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
        version: "1.1.0",
        purpose: "How a task is doing: as well as the worst sign lets.",
        expression: "health(outcome_states, live_blockers, open_hard_calls, attention_priorities, limitations)",
        inputs: &[
            needs("outcome_states", words!(reliance::State), "how each outcome stands"),
            many("live_blockers", "findings that still block"),
            many("open_hard_calls", "questions that nobody answered"),
            needs(
                "attention_priorities",
                words!(reliance::Severity),
                "the priority of each open item of attention",
            )
            .or("[]"),
            needs("limitations", words!(reliance::Limitation), "what limits the work product").or("[]"),
        ],
        gives: Some(record(&[needs("health_status", word!(reliance::Health), "")])),
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
        version: "1.1.0",
        purpose: "Whether the capabilities that are there cover an outcome.",
        expression: "coverage(required_capabilities, available_capabilities)",
        inputs: &[
            needs(
                "required_capabilities",
                Shape::List(&item(record(&[
                    needs("capability_id", Shape::Text, ""),
                    may("min_version", Shape::Version, ""),
                ]))),
                "what is needed",
            ),
            needs(
                "available_capabilities",
                Shape::List(&item(record(&[
                    needs("capability_id", Shape::Text, ""),
                    may("version", Shape::Version, ""),
                    flag("healthy"),
                ]))),
                "what is there; what nobody says is well is not",
            ),
        ],
        gives: Some(record(&[needs("coverage_state", word!(sufficiency::Coverage), "")])),
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
