//! Formulas: whether there is a procedure that will do, and where work goes without one.
//! Owns: their texts. Must not: compute.

use super::{flag, many, words};
use crate::derive::sufficiency;
use crate::formula::input::{COUNT_MAX, item, one_of, record, word};
use crate::formula::spec::{Shape, Spec, may, needs, vector};

pub(super) const FORMULAS: &[Spec] = &[
    Spec {
        id: "sufficiency_route_v1",
        version: "1.2.0",
        purpose: "Where work goes that no procedure can bring to a good end.",
        expression: "let by = first(in_order(triggered_by, ['policy_prohibits_required_step', 'contradictory_requirements',
  'no_capability_covers_outcome', 'capability_unavailable_or_unhealthy', 'evidence_insufficient_to_proceed',
  'verification_unresolvable', 'precondition_unresolvable', 'external_side_effect_requires_ungranted_approval',
  'budget_cap_prevents_minimal_sufficient_attempt', 'cascade_cycle_detected', 'identical_output_loop_detected',
  'all_policy_allowed_procedures_exhausted', 'max_attempts_without_material_score_improvement']));
let stuck = {route: 'needs_human_judgment', asks: 'no_sufficient_procedure'};
let inform = {route: 'needs_information',
  asks: if known.has_information_route == true then nothing else 'no_sufficient_procedure'};
let on_cycle = or_else(known.on_cycle_detected, 'hard_call');
let end =
  if by == 'policy_prohibits_required_step' then {route: 'blocked_by_policy',
    asks: if known.policy_is_alterable == true then 'policy_boundary' else nothing}
  else if by == 'contradictory_requirements' then {route: 'needs_human_judgment', asks: 'contradictory_requirements'}
  else if by == 'no_capability_covers_outcome' then {route: 'process_gap_out'}
  else if by == 'capability_unavailable_or_unhealthy' then {route: 'unable_to_evaluate'}
  else if by == 'evidence_insufficient_to_proceed' then inform
  else if by == 'verification_unresolvable' then
    (if known.has_other_verifier == true then {route: 'needs_verification'} else stuck)
  else if by == 'precondition_unresolvable' then
    (if known.precondition_is_information == true then inform else {route: 'unable_to_evaluate'})
  else if by == 'external_side_effect_requires_ungranted_approval' then
    {route: 'needs_human_judgment', asks: 'external_side_effect_approval'}
  else if by == 'budget_cap_prevents_minimal_sufficient_attempt' then
    {route: 'needs_human_judgment', asks: 'budget_scope_decision'}
  else if by == 'cascade_cycle_detected' then
    (if on_cycle == 'hard_call' then {route: 'needs_human_judgment', asks: 'cascade_cycle'}
    else if on_cycle == 'reject_graph' then {route: 'process_gap_out'} else nothing)
  else if by == 'identical_output_loop_detected' then
    (if known.has_variation_left == true then nothing else stuck)
  else if by == 'all_policy_allowed_procedures_exhausted' and known.has_unlockable_candidate == true then stuck
  else if present(by) then {route: 'unrecoverable'}
  else nothing;
let is_at_cap = by == 'max_attempts_without_material_score_improvement' and present(known.max_total_attempts)
  and or_else(known.attempts, 0) >= known.max_total_attempts;
if not present(end) then {no_sufficient_procedure: false}
else {no_sufficient_procedure: true, decisive_trigger: by, terminal_route: end.route,
  disposition: if is_at_cap then 'max_iterations_reached'
    else if end.route == 'process_gap_out' then 'unable_to_evaluate' else end.route,
  hard_call_required: present(end.asks), hard_call_kind: end.asks}",
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
        id: "capability_coverage_v1",
        version: "1.2.0",
        purpose: "Whether the capabilities that are there cover an outcome.",
        expression: "let standings = in_order(capability_standings(required_capabilities, available_capabilities),
  ['missing', 'unhealthy', 'healthy']);
{coverage_state:
  if first(standings) == 'missing' then (if count(standings) == 1 then 'not_covered' else 'partially_covered')
  else if first(standings) == 'unhealthy' then 'covered_but_unhealthy'
  else 'covered'}",
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
    Spec {
        id: "improvement_v1",
        version: "1.1.0",
        purpose: "Whether the last attempts made it better than it ever was before them.",
        expression: "let recent = last(attempts, no_improvement_window);
let earlier = before_last(attempts, no_improvement_window);
let not_before = where(attempts, 'score_before', nothing);
let scored = count(attempts) - count(not_before) - count(where(attempts, 'score_after', nothing))
  + count(where(not_before, 'score_after', nothing));
let is_known = count(attempts) >= no_improvement_window and scored >= min_attempts_before_no_improvement
  and count(where(recent, 'score_before', nothing)) + count(where(recent, 'score_after', nothing)) == 0;
let best_before = greatest(both(both(column(earlier, 'score_before'), column(earlier, 'score_after')),
  column([first(recent)], 'score_before')));
{improvement:
  if not is_known then 'not_yet_known'
  # A part this small is no difference: what differs by epsilon can seem a few bits less.
  else if greatest(column(recent, 'score_after')) * 1.000000000000001 < best_before + epsilon then 'none_material'
  else 'material'}",
        inputs: &[
            needs(
                "attempts",
                Shape::List(&item(record(&[
                    may("score_before", Shape::Number, "").within(0.0, 1.0),
                    may("score_after", Shape::Number, "").within(0.0, 1.0),
                ]))),
                "the scores around each attempt, in their order",
            ),
            many("min_attempts_before_no_improvement", "attempts with both scores that it takes to tell"),
            needs("no_improvement_window", Shape::Count, "how many of the last are looked at")
                .within(1.0, COUNT_MAX),
            needs("epsilon", Shape::Number, "from here on it is better").within(0.0, 1.0),
        ],
        gives: Some(record(&[needs(
            "improvement",
            one_of(&["not_yet_known", "material", "none_material"]),
            "",
        )])),
        vectors: &[
            vector(
                "the_last_two_did_nothing",
                r#"{"attempts":[{"score_before":0.2,"score_after":0.6},{"score_before":0.6,"score_after":0.5},{"score_before":0.5,"score_after":0.61}],"min_attempts_before_no_improvement":3,"no_improvement_window":2,"epsilon":0.05}"#,
                r#"{"improvement":"none_material"}"#,
            ),
            vector(
                "the_least_epsilon_counts",
                r#"{"attempts":[{"score_before":0.5,"score_after":0.5},{"score_before":0.5,"score_after":0.5}],"min_attempts_before_no_improvement":1,"no_improvement_window":1,"epsilon":1e-10}"#,
                r#"{"improvement":"none_material"}"#,
            ),
            vector(
                "just_enough_is_better",
                r#"{"attempts":[{"score_before":0.25,"score_after":0.5},{"score_before":0.5,"score_after":0.75}],"min_attempts_before_no_improvement":1,"no_improvement_window":1,"epsilon":0.25}"#,
                r#"{"improvement":"material"}"#,
            ),
            vector(
                "just_enough_as_numbers_are_kept",
                r#"{"attempts":[{"score_before":0.1,"score_after":0.2},{"score_before":0.2,"score_after":0.3}],"min_attempts_before_no_improvement":1,"no_improvement_window":1,"epsilon":0.1}"#,
                r#"{"improvement":"material"}"#,
            ),
            vector(
                "one_was_not_scored",
                r#"{"attempts":[{"score_before":0.25,"score_after":0.5},{"score_before":0.5}],"min_attempts_before_no_improvement":1,"no_improvement_window":1,"epsilon":0.25}"#,
                r#"{"improvement":"not_yet_known"}"#,
            ),
            vector(
                "missing_window",
                r#"{"attempts":[],"min_attempts_before_no_improvement":1,"epsilon":0.25}"#,
                "\"the input no_improvement_window is missing\"",
            ),
        ],
        ..Spec::PLAIN
    },
];
