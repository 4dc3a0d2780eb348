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

/// What a chain comes to: the cases of the contract, from the first to the last.
const PATTERN_C: &str = "let rules = or_else(policy, {qualitative_blockers_survive_numeric_pass: true,
  judge_can_override_evaluator: false, override_allowed_only_for_finding_states: ['contested', 'dismissed', 'rejected_by_user'],
  route_precedence: 'blocking_qualitative_first', disagreement_route: 'human_review'});
# What was heard. Observers decide nothing; of several results of one side the worst counts.
let heard = [for one in results if one.role != 'observer': one];
let worst_first = ['failed', 'indeterminate', 'passed', 'not_applicable'];
let evaluator = or_else(first(in_order(
  [for one in heard if one.role == 'upstream_evaluator': one.verdict], worst_first)), 'not_applicable');
let judge = or_else(first(in_order(
  [for one in heard if one.role != 'upstream_evaluator': one.verdict], worst_first)), 'not_applicable');
let causes = joined(column(heard, 'indeterminate_causes'));
let may_pass_by = count(causes) > 0
  and count([for cause in causes if not has(['tool_failure', 'timeout', 'stale_source'], cause): cause]) == 0;
# The findings that block and still count, and those of them that nobody disputes.
let states = joined(column(heard, 'live_blocker_states'));
let undisputed = ['active', 'user_approved', 'tool_verified', 'human_verified', 'unrecoverable'];
let blocks = count(in_order(states, undisputed)) > 0;
let is_blocked = blocks or has(states, 'contested');
# What the policy makes of it.
let survives = rules.qualitative_blockers_survive_numeric_pass or judge != 'passed';
let blocker_first = survives and rules.route_precedence == 'blocking_qualitative_first';
let may_override = rules.judge_can_override_evaluator and count([for state in states
  if not has(or_else(rules.override_allowed_only_for_finding_states, []), state): state]) == 0;
let is_failed = is_blocked or evaluator == 'failed' or judge == 'failed';
let open = {route: at({human_review: 'human_review_path', prefer_blocking: 'fail_path'}, rules.disagreement_route),
  verdict: if rules.disagreement_route == 'prefer_blocking' and is_failed then 'failed' else 'indeterminate'};
# With a live blocker the evaluator counts as one that failed it.
let says = if is_blocked then 'failed' else evaluator;
let conflict = if says == 'failed' and judge == 'passed' then 'qualitative_fail_quantitative_pass'
  else if says == 'passed' and judge == 'failed' then 'qualitative_pass_quantitative_fail'
  else if judge == 'indeterminate' and says != 'indeterminate' or says == 'indeterminate' and judge != 'indeterminate'
    then 'indeterminate_mismatch'
  else 'none';
let to_a_person = {conflict: conflict, verdict: 'indeterminate', route: 'human_review_path'};
let disagreed = {conflict: conflict, verdict: open.verdict, route: or_else(open.route, 'block_until_resolved')};
let failed_by_blocker = {conflict: conflict, verdict: 'failed', route: 'fail_path', by: 'blocker'};
let passed_by_judge = {conflict: 'none', verdict: 'passed', route: 'pass_path', by: 'judge'};
let found =
  if count(where(heard, 'other_snapshot', true)) > 0 then
    {conflict: 'snapshot_mismatch', verdict: 'indeterminate', route: 'retry_path'}
  # Somebody is missing.
  else if missing != 'nobody' and timed_out != true then nothing
  else if missing != 'nobody' and blocks and blocker_first then
    {conflict: 'missing_expected_producer', verdict: 'failed', route: 'fail_path', by: 'blocker'}
  else if missing == 'evaluator' then
    {conflict: 'missing_expected_producer', verdict: 'indeterminate', route: 'block_until_resolved'}
  else if missing == 'judge' then
    {conflict: 'missing_expected_producer', verdict: 'indeterminate', route: 'human_review_path'}
  # A live blocker stands.
  else if blocks and (blocker_first or conflict == 'none') then failed_by_blocker
  else if blocks and rules.route_precedence == 'human_if_disagreement' then to_a_person
  else if is_blocked then disagreed
  # The verdicts alone.
  else if evaluator == 'passed' and judge == 'passed' then passed_by_judge
  else if evaluator == 'failed' and judge == 'failed' then
    {conflict: 'none', verdict: 'failed', route: 'fail_path', by: 'evaluator'}
  else if evaluator == 'failed' and judge == 'passed' and may_override then passed_by_judge
  else if conflict != 'none' then disagreed
  else if evaluator == 'indeterminate' then
    {conflict: 'none', verdict: 'indeterminate', route: if may_pass_by then 'retry_path' else 'human_review_path'}
  else if judge == 'not_applicable' and evaluator == 'not_applicable' then
    {conflict: 'none', verdict: 'not_applicable', route: 'pass_path'}
  # One of the two has nothing to say.
  else (let only = if judge == 'not_applicable' then evaluator else judge;
    {conflict: 'none', verdict: only, route: if only == 'passed' then 'pass_path' else 'fail_path',
     by: if judge == 'not_applicable' then 'evaluator' else 'judge'});
# Whose result decided. Of several that may be it, the smallest id: who came first must not matter.
let decided = [for one in heard
  if found.by == 'blocker' and count(in_order(one.live_blocker_states, undisputed)) > 0
    or found.by == 'evaluator' and one.role == 'upstream_evaluator' and one.verdict == found.verdict
    or found.by == 'judge' and one.role != 'upstream_evaluator' and one.verdict == found.verdict:
  one];
let preserved = survives and is_blocked;
if not present(found) then {status: 'waiting'}
else {status: 'resolved', resolved_verdict: found.verdict, resolved_route: found.route, conflict_type: found.conflict,
  qualitative_blockers_preserved: preserved,
  quantitative_pass_overridden_by_blocker: preserved and judge == 'passed' and found.by == 'blocker',
  decisive_result_id: first(column(sorted([for one in decided if present(one.result_id): one], ['result_id']), 'result_id'))}";

pub(super) const FORMULAS: &[Spec] = &[
    Spec {
        id: "pattern_c_resolution_v1",
        version: "1.4.0",
        purpose: "What a chain of an evaluator and a judge comes to, and whose result decided.",
        expression: PATTERN_C,
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
