//! Formulas: the statuses that the contract derives.
//! Owns: their texts. Must not: compute.

use super::{flag, many, words};
use crate::derive::{chain, claim_support, reliance};
use crate::formula::input::{item, one_of, part_of, record, word};
use crate::formula::spec::{Shape, Spec, may, needs, requires, vector};
use crate::types::chain::EvaluationChainResolutionPolicy;
use crate::types::claim::{
    ClaimSupportDerivationPolicy, ClaimSupportDerivationPolicyRequiredForSupported, ClaimSupportStatus,
};

pub(super) const FORMULAS: &[Spec] = &[
    Spec {
        id: "pattern_c_resolution_v1",
        version: "1.3.0",
        purpose: "What a chain of an evaluator and a judge comes to, and whose result decided.",
        expression: "pattern_c(results, missing, timed_out, policy)",
        inputs: &[
            needs(
                "results",
                Shape::List(&item(record(&[
                    may("result_id", Shape::Text, ""),
                    needs("role", word!(chain::Role), ""),
                    needs("verdict", word!(chain::Verdict), ""),
                    may("indeterminate_causes", words!(chain::Cause), ""),
                    needs("other_snapshot", Shape::Truth, ""),
                    needs("live_blocker_states", words!(chain::FindingState), ""),
                ]))),
                "what was said, and of what",
            ),
            needs("missing", one_of(&["nobody", "judge", "evaluator"]), "who has not answered"),
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
        requires: &[
            requires(
                "results",
                "count(results) > count(where(results, 'role', 'observer')) or missing != 'nobody'",
            ),
            requires("results", "distinct(column(results, 'result_id'))"),
        ],
        gives: Some(record(&[
            needs("status", one_of(&["waiting", "resolved"]), ""),
            may("resolved_verdict", word!(chain::Verdict), ""),
            may("resolved_route", word!(chain::Route), ""),
            may("conflict_type", word!(chain::Conflict), ""),
            flag("qualitative_blockers_preserved"),
            flag("quantitative_pass_overridden_by_blocker"),
            may("decisive_result_id", Shape::Text, ""),
        ])),
        vectors: &[
            vector(
                "blocker_beside_a_pass",
                r#"{"results":[{"role":"upstream_evaluator","verdict":"failed","other_snapshot":false,"live_blocker_states":["active"]},{"role":"downstream_judge","verdict":"passed","other_snapshot":false,"live_blocker_states":[]}],"missing":"nobody"}"#,
                r#"{"status":"resolved","resolved_verdict":"failed","resolved_route":"fail_path","conflict_type":"qualitative_fail_quantitative_pass","qualitative_blockers_preserved":true,"quantitative_pass_overridden_by_blocker":true,"decisive_result_id":null}"#,
            ),
            vector(
                "both_pass_and_the_judge_decides",
                r#"{"results":[{"result_id":"r1","role":"upstream_evaluator","verdict":"passed","other_snapshot":false,"live_blocker_states":[]},{"result_id":"r2","role":"downstream_judge","verdict":"passed","other_snapshot":false,"live_blocker_states":[]}],"missing":"nobody"}"#,
                r#"{"status":"resolved","resolved_verdict":"passed","resolved_route":"pass_path","conflict_type":"none","qualitative_blockers_preserved":false,"quantitative_pass_overridden_by_blocker":false,"decisive_result_id":"r2"}"#,
            ),
            vector(
                "they_disagree_and_nobody_decides",
                r#"{"results":[{"result_id":"r1","role":"upstream_evaluator","verdict":"passed","other_snapshot":false,"live_blocker_states":[]},{"result_id":"r2","role":"downstream_judge","verdict":"failed","other_snapshot":false,"live_blocker_states":[]}],"missing":"nobody"}"#,
                r#"{"status":"resolved","resolved_verdict":"indeterminate","resolved_route":"human_review_path","conflict_type":"qualitative_pass_quantitative_fail","qualitative_blockers_preserved":false,"quantitative_pass_overridden_by_blocker":false,"decisive_result_id":null}"#,
            ),
            vector(
                "judge_is_awaited",
                r#"{"results":[{"role":"upstream_evaluator","verdict":"passed","other_snapshot":false,"live_blocker_states":[]}],"missing":"judge"}"#,
                r#"{"status":"waiting"}"#,
            ),
            vector("missing_results", r#"{"missing":"nobody"}"#, "\"the input results is missing\""),
            vector(
                "nobody_says_who_is_missing",
                r#"{"results":[{"role":"upstream_evaluator","verdict":"passed","other_snapshot":false,"live_blocker_states":[]}]}"#,
                "\"the input missing is missing\"",
            ),
            vector(
                "nobody_says_what_blocks",
                r#"{"results":[{"role":"upstream_evaluator","verdict":"passed","other_snapshot":false}],"missing":"nobody"}"#,
                "\"the input results/0/live_blocker_states is missing\"",
            ),
            vector(
                "nobody_said_anything",
                r#"{"results":[],"missing":"nobody"}"#,
                "\"the input results must be so that count(results) > count(where(results, 'role', 'observer')) or missing != 'nobody'\"",
            ),
        ],
        ..Spec::PLAIN
    },
    Spec {
        id: "claim_support_v1",
        version: "1.3.0",
        purpose: "Whether a claim is supported by the places in sources that bear on it, and what decided that.",
        expression: "let counted = where(or_else(anchors, []), 'tier0', false);
let direct = where(counted, 'support_strength', 'direct');
let against = where(counted, 'support_strength', 'contradicts');
let aside = count(where(counted, 'support_strength', 'indirect')) + count(where(counted, 'support_strength', 'contextual'));
let need = policy.required_for_supported;
let known = if need.require_verified_source then where(direct, 'verified', true) else direct;
let good = count(if need.allow_stale_source == true then known else where(known, 'stale', false));
let weights = {binding: 3, persuasive: 2, advisory: 1, unknown: 0.5};
let weight_for = sum(mapped(column(direct, 'authority_level'), weights, 0.5));
let weight_against = sum(mapped(column(against, 'authority_level'), weights, 0.5));
let is_against = count(against) > 0;
let contradicts = is_against
  and (policy.contradiction_rule != 'weighted_by_authority' or weight_against >= weight_for);
let status =
  if not present(anchors) then 'not_checked'
  else if contradicts then 'contradicted'
  else if good > 0 and good >= need.min_direct_supporting_anchors
    and (not is_against or need.allow_contradicting_anchor == true) then 'supported'
  else if good > 0
    or policy.partial_support_rule == 'any_indirect_or_contextual_anchor' and aside > 0
    or policy.partial_support_rule == 'direct_anchor_unverified' and count(direct) > 0 then 'partially_supported'
  else if count(direct) > 0 then 'indeterminate_stale_or_unverified'
  else 'unsupported';
{derived_support_status: status,
 decisive_reason: first(mapped([status], {supported: 'direct_verified_support',
  partially_supported: 'partial_indirect_support', unsupported: 'no_supporting_anchor',
  contradicted: 'direct_contradiction', indeterminate_stale_or_unverified: 'stale_or_unverified_source'}, 'not_checked')),
 needs_review: is_against and policy.contradiction_rule == 'human_review_required'}",
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
            may(
                "anchors",
                Shape::List(&item(record(&[
                    needs("support_strength", word!(claim_support::Strength), ""),
                    may("authority_level", word!(claim_support::Authority), ""),
                    needs("verified", Shape::Truth, ""),
                    needs("stale", Shape::Truth, ""),
                    needs("tier0", Shape::Truth, ""),
                ]))),
                "the places in sources that bear on it; where there is no list, nobody looked for any",
            ),
        ],
        gives: Some(record(&[
            needs("derived_support_status", word!(ClaimSupportStatus), ""),
            needs("decisive_reason", word!(claim_support::Reason), ""),
            needs("needs_review", Shape::Truth, ""),
        ])),
        vectors: &[
            vector(
                "one_verified_place",
                r#"{"policy":{"required_for_supported":{"min_direct_supporting_anchors":1,"require_verified_source":true},"partial_support_rule":"domain_specific","contradiction_rule":"any_direct_contradiction_controls"},"anchors":[{"support_strength":"direct","verified":true,"stale":false,"tier0":false}]}"#,
                r#"{"derived_support_status":"supported","decisive_reason":"direct_verified_support","needs_review":false}"#,
            ),
            vector(
                "a_lookup_counts_for_nothing",
                r#"{"policy":{"required_for_supported":{"min_direct_supporting_anchors":1,"require_verified_source":true},"partial_support_rule":"domain_specific","contradiction_rule":"any_direct_contradiction_controls"},"anchors":[{"support_strength":"direct","verified":true,"stale":false,"tier0":true}]}"#,
                r#"{"derived_support_status":"unsupported","decisive_reason":"no_supporting_anchor","needs_review":false}"#,
            ),
            vector(
                "nobody_says_whether_it_is_stale",
                r#"{"policy":{"required_for_supported":{"min_direct_supporting_anchors":1,"require_verified_source":true},"partial_support_rule":"domain_specific","contradiction_rule":"any_direct_contradiction_controls"},"anchors":[{"support_strength":"direct","verified":true,"tier0":false}]}"#,
                "\"the input anchors/0/stale is missing\"",
            ),
            vector(
                "nobody_looked",
                r#"{"policy":{"required_for_supported":{"min_direct_supporting_anchors":1,"require_verified_source":true},"partial_support_rule":"domain_specific","contradiction_rule":"any_direct_contradiction_controls"}}"#,
                r#"{"derived_support_status":"not_checked","decisive_reason":"not_checked","needs_review":false}"#,
            ),
            vector("missing_policy", r#"{"anchors":[]}"#, "\"the input policy is missing\""),
        ],
        ..Spec::PLAIN
    },
    Spec {
        id: "reliance_status_v1",
        version: "1.2.0",
        purpose: "How far a work product may be relied on.",
        expression: "let limits = in_order(both(limitations, if evidence_packages == 0 then ['evidence_package_missing'] else []),
  ['insufficient_evidence', 'human_judgment_needed', 'missing_capability', 'source_unavailable', 'policy_blocked',
  'stale_evidence', 'unable_to_ground_claim', 'unchecked_claims_present', 'unreviewed_candidate_revision',
  'external_side_effect_unverified', 'stale_source_present', 'unresolved_research_need', 'policy_warning',
  'pattern_c_chain_unresolved', 'evidence_package_missing']);
let by_limits = mapped(limits, {evidence_package_missing: 'not_safe_to_rely',
  human_judgment_needed: 'human_review_required', unreviewed_candidate_revision: 'human_review_required',
  pattern_c_chain_unresolved: 'human_review_required'}, 'rely_with_limitations');
let by_counts =
  [if failed_chains > 0 or live_blockers > 0 or contradicted_claims > 0 then 'not_safe_to_rely'
  else if open_hard_calls > 0 then 'human_review_required' else 'safe_to_rely_within_scope'];
{status: first(in_order(both(by_limits, by_counts),
  ['not_safe_to_rely', 'human_review_required', 'rely_with_limitations', 'safe_to_rely_within_scope'])),
 unresolved_limitations: limits}",
        inputs: &[
            needs("limitations", words!(reliance::Limitation), "what limits it"),
            many("evidence_packages", "packages of evidence that it rests on; without one nobody may rely on it"),
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
                r#"{"limitations":[],"evidence_packages":1,"failed_chains":0,"live_blockers":0,"contradicted_claims":0,"open_hard_calls":0}"#,
                r#"{"status":"safe_to_rely_within_scope","unresolved_limitations":[]}"#,
            ),
            vector(
                "a_stale_source",
                r#"{"limitations":["stale_source_present"],"evidence_packages":1,"failed_chains":0,"live_blockers":0,"contradicted_claims":0,"open_hard_calls":0}"#,
                r#"{"status":"rely_with_limitations","unresolved_limitations":["stale_source_present"]}"#,
            ),
            vector(
                "a_blocker",
                r#"{"limitations":[],"evidence_packages":1,"failed_chains":0,"live_blockers":1,"contradicted_claims":0,"open_hard_calls":0}"#,
                r#"{"status":"not_safe_to_rely","unresolved_limitations":[]}"#,
            ),
            vector(
                "no_evidence",
                r#"{"limitations":["policy_warning"],"evidence_packages":0,"failed_chains":0,"live_blockers":0,"contradicted_claims":0,"open_hard_calls":0}"#,
                r#"{"status":"not_safe_to_rely","unresolved_limitations":["policy_warning","evidence_package_missing"]}"#,
            ),
            vector(
                "nobody_counted",
                r#"{"limitations":[]}"#,
                "\"the input evidence_packages is missing\"",
            ),
            vector("missing_limitations", "{}", "\"the input limitations is missing\""),
        ],
        ..Spec::PLAIN
    },
    Spec {
        id: "health_status_v1",
        version: "1.2.0",
        purpose: "How a task is doing: as well as the worst sign lets.",
        expression: "let by_outcomes = mapped(outcome_states, {pending: 'healthy', pending_dependency: 'healthy',
  evaluating: 'healthy', dirty: 'healthy', satisfied: 'healthy', superseded: 'healthy',
  needs_revision: 'warning', needs_information: 'warning', needs_verification: 'warning', regressed: 'warning',
  needs_human_judgment: 'review_required', blocked_by_policy: 'blocked', upstream_failure: 'blocked',
  unable_to_evaluate: 'blocked'}, 'failed');
let by_attention = mapped(attention_priorities, {blocking: 'blocked', high: 'review_required'}, 'warning');
let by_limits = mapped(limitations, {evidence_package_missing: 'review_required',
  human_judgment_needed: 'review_required', unreviewed_candidate_revision: 'review_required',
  pattern_c_chain_unresolved: 'review_required'}, 'warning');
let by_counts = [if live_blockers > 0 then 'blocked' else if open_hard_calls > 0 then 'review_required' else 'healthy'];
{health_status: first(in_order(both(both(by_outcomes, by_attention), both(by_limits, by_counts)),
  ['failed', 'blocked', 'review_required', 'warning', 'healthy']))}",
        inputs: &[
            needs("outcome_states", words!(reliance::State), "how each outcome stands"),
            many("live_blockers", "findings that still block"),
            many("open_hard_calls", "questions that nobody answered"),
            needs(
                "attention_priorities",
                words!(reliance::Severity),
                "the priority of each open item of attention",
            ),
            needs("limitations", words!(reliance::Limitation), "what limits the work product"),
        ],
        // Of a task without an outcome nobody can say how it is doing.
        requires: &[requires("outcome_states", "count(outcome_states) > 0")],
        gives: Some(record(&[needs("health_status", word!(reliance::Health), "")])),
        vectors: &[
            vector(
                "all_met",
                r#"{"outcome_states":["satisfied","superseded"],"live_blockers":0,"open_hard_calls":0,"attention_priorities":[],"limitations":[]}"#,
                r#"{"health_status":"healthy"}"#,
            ),
            vector(
                "a_stale_source",
                r#"{"outcome_states":["satisfied"],"live_blockers":0,"open_hard_calls":0,"attention_priorities":[],"limitations":["stale_source_present"]}"#,
                r#"{"health_status":"warning"}"#,
            ),
            vector(
                "a_question_is_open",
                r#"{"outcome_states":["needs_revision"],"live_blockers":0,"open_hard_calls":1,"attention_priorities":[],"limitations":[]}"#,
                r#"{"health_status":"review_required"}"#,
            ),
            vector(
                "a_blocker_is_live",
                r#"{"outcome_states":["satisfied"],"live_blockers":1,"open_hard_calls":0,"attention_priorities":["high"],"limitations":[]}"#,
                r#"{"health_status":"blocked"}"#,
            ),
            vector(
                "it_cannot_be_mended",
                r#"{"outcome_states":["satisfied","unrecoverable"],"live_blockers":1,"open_hard_calls":0,"attention_priorities":[],"limitations":[]}"#,
                r#"{"health_status":"failed"}"#,
            ),
            vector(
                "nothing_to_look_at",
                r#"{"outcome_states":[],"live_blockers":0,"open_hard_calls":0,"attention_priorities":[],"limitations":[]}"#,
                "\"the input outcome_states must be so that count(outcome_states) > 0\"",
            ),
            vector(
                "nobody_counted",
                r#"{"outcome_states":["satisfied"]}"#,
                "\"the input live_blockers is missing\"",
            ),
            vector("missing_states", "{}", "\"the input outcome_states is missing\""),
        ],
        ..Spec::PLAIN
    },
];
