//! Formulas: what revisions brought, and what sub-agents are worth.
//! Owns: their texts. Must not: compute.

use super::WINDOW;
use crate::formula::input::{COUNT_MAX, item, part_of, record, word};
use crate::formula::spec::{
    Below, Input, Interval, IntervalLevel, IntervalMethod, Sample, Shape, Spec, may, needs, requires, vector,
};
use crate::types::basic::{ArtifactScopeRef, FailureKind};
use crate::types::finding::FindingMatchKey;
use crate::types::formula::{MetricValueKind, NumericUnit, ZeroDenominatorPolicy};
use crate::types::quality::{
    OutcomeCycleTerminalClass, RevisionCycleOutcomeObservation,
    SubAgentReputationFormulaConfigConfidenceIntervalMethod as Method, SubAgentReputationScoreScoreStatus,
};

/// What a failure is known by across attempts. Where it is in an artifact is compared whole.
const KEY: Shape = part_of!(
    FindingMatchKey,
    &[
        needs("failure_kind", word!(FailureKind), ""),
        may("artifact_stable_id", Shape::Text, ""),
        may(
            "target_scope_ref",
            part_of!(ArtifactScopeRef, &[needs("artifact_stable_id", Shape::Text, "")]),
            ""
        ),
        may("criterion_id", Shape::Text, ""),
        may("normalized_finding_text_hash", Shape::Text, ""),
        may("evidence_signature_hash", Shape::Text, ""),
        // On other sources, or told in other words, it is the same failure.
        may("finding_summary_hash", Shape::Text, ""),
        may("source_workspace_snapshot_hash", Shape::Text, ""),
    ]
);

/// A rate.
const RATE: Spec = Spec {
    value_kind: MetricValueKind::Ratio,
    unit: NumericUnit::Ratio,
    range: Some((0.0, 1.0)),
    gives: Some(Shape::Number),
    zero: Some(ZeroDenominatorPolicy::ReturnIndeterminateInsufficientData),
    ..Spec::PLAIN
};

const ACCEPTED: Input =
    needs("accepted_count", Shape::Count, "revisions that were accepted").within(0.0, COUNT_MAX);
const INTRODUCED: Input =
    needs("regression_introduced_count", Shape::Count, "revisions that made something worse")
        .within(0.0, COUNT_MAX);

/// What a part of a reputation weighs, or a regression of one severity.
const fn weight(name: &'static str, most: f64) -> Input {
    needs(name, Shape::Number, "").within(0.0, most)
}

/// How many regressions are of a severity.
const fn regressions(name: &'static str) -> Input {
    needs(name, Shape::Count, "").within(0.0, COUNT_MAX)
}

/// A part of a reputation; its interval; a rate.
const fn score(name: &'static str) -> Input {
    may(name, Shape::Number, "")
}

/// How many there are of something, where somebody counted: that nobody did does not mean that there is none.
const fn counted(name: &'static str, about: &'static str) -> Input {
    may(name, Shape::Count, about).within(0.0, COUNT_MAX)
}

/// The weight of the worst regressions, and so the worst penalty.
const PENALTY_MAX: f64 = 5.0;
const WEIGHT_MAX: f64 = 1e6;

pub(super) const FORMULAS: &[Spec] = &[
    Spec {
        id: "regression_rate_v1",
        version: "1.2.0",
        purpose: "How many of the accepted revisions made something worse.",
        expression: "regression_introduced_count / accepted_count",
        interval: Some(Interval {
            required: false,
            level: IntervalLevel::P95,
            method: IntervalMethod::Wilson,
            ends: "wilson(regression_introduced_count, accepted_count, level)",
        }),
        inputs: &[INTRODUCED, ACCEPTED],
        requires: &[requires("regression_introduced_count", "regression_introduced_count <= accepted_count")],
        vectors: &[
            vector("two_of_eight", r#"{"regression_introduced_count":2,"accepted_count":8}"#, "0.25"),
            vector("zero_accepted", r#"{"regression_introduced_count":0,"accepted_count":0}"#, "null"),
            vector(
                "more_than_accepted",
                r#"{"regression_introduced_count":9,"accepted_count":8}"#,
                "\"the input regression_introduced_count must be so that regression_introduced_count <= accepted_count\"",
            ),
            vector("missing_count", r#"{"accepted_count":8}"#, "\"the input regression_introduced_count is missing\""),
        ],
        ..RATE
    },
    Spec {
        id: "severity_weighted_penalty_rate_v1",
        version: "1.1.0",
        purpose: "The same, with how bad each regression was.",
        expression: "(severity_weights.minor * severity_breakdown.minor
 + severity_weights.major * severity_breakdown.major
 + severity_weights.critical * severity_breakdown.critical) / accepted_count",
        inputs: &[
            needs(
                "severity_breakdown",
                record(&[regressions("minor"), regressions("major"), regressions("critical")]),
                "how many regressions are of each severity",
            ),
            needs(
                "severity_weights",
                record(&[
                    weight("minor", PENALTY_MAX),
                    weight("major", PENALTY_MAX),
                    weight("critical", PENALTY_MAX),
                ]),
                "what each weighs",
            )
            .or(r#"{"minor":1,"major":2,"critical":5}"#),
            ACCEPTED,
            Input { is_required: false, ..INTRODUCED },
        ],
        requires: &[
            requires(
                "severity_breakdown",
                "severity_breakdown.minor + severity_breakdown.major + severity_breakdown.critical <= accepted_count",
            ),
            requires(
                "regression_introduced_count",
                "not present(regression_introduced_count) or regression_introduced_count == severity_breakdown.minor + severity_breakdown.major + severity_breakdown.critical",
            ),
        ],
        range: Some((0.0, PENALTY_MAX)),
        vectors: &[
            vector(
                "three_of_ten",
                r#"{"severity_breakdown":{"minor":1,"major":1,"critical":1},"accepted_count":10}"#,
                "0.8",
            ),
            vector(
                "zero_accepted",
                r#"{"severity_breakdown":{"minor":0,"major":0,"critical":0},"accepted_count":0}"#,
                "null",
            ),
            vector("missing_breakdown", r#"{"accepted_count":8}"#, "\"the input severity_breakdown is missing\""),
            vector(
                "more_than_accepted",
                r#"{"severity_breakdown":{"minor":0,"major":0,"critical":9},"accepted_count":1}"#,
                "\"the input severity_breakdown must be so that severity_breakdown.minor + severity_breakdown.major + severity_breakdown.critical <= accepted_count\"",
            ),
        ],
        ..RATE
    },
    Spec {
        id: "sub_agent_reputation_score_v1",
        version: "1.5.0",
        purpose: "What a sub-agent was worth, from 0 to 1; nothing from too few invocations.",
        expression: "let hit = if invocations == 0 then nothing else hits / invocations;
let lift = if present(attribution_lift) then (clamp(attribution_lift, -1, 1) + 1) / 2 else nothing;
let regression = if present(penalty_rate) then 1 - min(1, penalty_rate / critical_severity_weight) else nothing;
let cost = if not present(mean_cost) then nothing
  else if is_zero(mean_cost) then 1 else min(1, cohort_median_cost / mean_cost);
let negatives = if or_else(false_negatives, 0) + or_else(true_positives, 0) == 0 then nothing
  else 1 - false_negatives / (false_negatives + true_positives);
let positives = if or_else(false_positives, 0) + or_else(true_negatives, 0) == 0 then nothing
  else 1 - false_positives / (false_positives + true_negatives);
let scores = [hit, lift, regression, cost, negatives, positives];
let w = lifted([weights.hit_rate, weights.attribution_lift, weights.inverse_regression_penalty, weights.inverse_cost_penalty,
  weights.false_negative_penalty * false_negative_weight_multiplier, weights.false_positive_penalty]);
let components = { hit_rate_score: hit, attribution_lift_score: lift, regression_penalty_score: regression,
  cost_penalty_score: cost, false_negative_penalty_score: negatives, false_positive_penalty_score: positives };
if quarantined then { current_score: nothing, score_status: 'quarantined_by_policy', component_scores: components }
else { current_score: weighted_mean(scores, w), score_status: 'computed', component_scores: components }",
        sample: Some(Sample {
            min: 10,
            least: Some("min_invocation_count"),
            size: "invocations",
            below: Below::Indeterminate(
                "{ current_score: nothing, component_scores: {},
  score_status: if quarantined then 'quarantined_by_policy' else 'insufficient_sample' }",
            ),
            window_required: false,
        }),
        interval: Some(Interval {
            required: false,
            level: IntervalLevel::P95,
            method: IntervalMethod::Wilson,
            ends: "let c = value.component_scores;
let share = weighted_mean(
  mark_first([c.hit_rate_score, c.attribution_lift_score, c.regression_penalty_score, c.cost_penalty_score,
   c.false_negative_penalty_score, c.false_positive_penalty_score]),
  lifted([weights.hit_rate, weights.attribution_lift, weights.inverse_regression_penalty, weights.inverse_cost_penalty,
   weights.false_negative_penalty * false_negative_weight_multiplier, weights.false_positive_penalty]));
let hits_between = if confidence_interval_method == 'bayesian_beta' then beta_interval(hits, invocations, level)
  else if confidence_interval_method == 'wilson' then wilson(hits, invocations, level)
  else bootstrap_ratio(hits, invocations, level);
if not present(value.current_score) or not present(hits_between) then nothing
else [value.current_score - share * (c.hit_rate_score - least(hits_between)),
  value.current_score + share * (greatest(hits_between) - c.hit_rate_score)]",
        }),
        inputs: &[
            needs("invocations", Shape::Count, "how often it worked").within(0.0, COUNT_MAX),
            needs("hits", Shape::Count, "how often well").within(0.0, COUNT_MAX),
            may("attribution_lift", Shape::Number, "how much better with it; what is beyond -1 and 1 counts as these").within(-COUNT_MAX, COUNT_MAX),
            may("penalty_rate", Shape::Number, "the severity weighted penalty rate").within(0.0, WEIGHT_MAX),
            needs("critical_severity_weight", Shape::Number, "the worst penalty rate").within(1e-6, WEIGHT_MAX).or("5"),
            may("mean_cost", Shape::Number, "what it costs on average").within(0.0, COUNT_MAX),
            may("cohort_median_cost", Shape::Number, "what its like cost").within(0.0, COUNT_MAX),
            counted("true_positives", "found, and there"),
            counted("false_positives", "found, and not there"),
            counted("true_negatives", "not found, and not there"),
            counted("false_negatives", "not found, and there"),
            needs("quarantined", Shape::Truth, "whether a policy shut it out").or("false"),
            needs("weights", record(&[
                weight("hit_rate", WEIGHT_MAX),
                weight("attribution_lift", WEIGHT_MAX),
                weight("inverse_regression_penalty", WEIGHT_MAX),
                weight("inverse_cost_penalty", WEIGHT_MAX),
                weight("false_negative_penalty", WEIGHT_MAX),
                weight("false_positive_penalty", WEIGHT_MAX),
            ]), "what each part weighs").or(
                r#"{"hit_rate":1,"attribution_lift":1,"inverse_regression_penalty":1,"inverse_cost_penalty":1,"false_negative_penalty":1,"false_positive_penalty":1}"#,
            ),
            needs("false_negative_weight_multiplier", Shape::Number, "how much worse it is not to find").within(0.0, WEIGHT_MAX).or("2"),
            needs("min_invocation_count", Shape::Count, "how many it takes").within(0.0, COUNT_MAX).or("10"),
            needs("confidence_interval_method", word!(Method), "how the interval is found").or("\"wilson\""),
        ],
        requires: &[
            requires("hits", "hits <= invocations"),
            requires("cohort_median_cost", "present(mean_cost) == present(cohort_median_cost)"),
            requires("true_positives", "present(true_positives) == present(false_negatives)"),
            requires("true_negatives", "present(true_negatives) == present(false_positives)"),
            requires("confidence_interval_method", "confidence_interval_method == 'wilson' or invocations <= 100000000"),
        ],
        // A part that would be divided by zero is left out, and named.
        omits: Some(
            "let negatives = or_else(false_negatives, 0) + or_else(true_positives, 0);
let positives = or_else(false_positives, 0) + or_else(true_negatives, 0);
[if invocations == 0 then 'hits' else nothing,
 if negatives == 0 then 'false_negatives' else nothing, if negatives == 0 then 'true_positives' else nothing,
 if positives == 0 then 'false_positives' else nothing, if positives == 0 then 'true_negatives' else nothing]",
        ),
        gives: Some(record(&[
            score("current_score"),
            needs("score_status", word!(SubAgentReputationScoreScoreStatus), ""),
            needs("component_scores", record(&[
                score("hit_rate_score"),
                score("attribution_lift_score"),
                score("regression_penalty_score"),
                score("cost_penalty_score"),
                score("false_negative_penalty_score"),
                score("false_positive_penalty_score"),
            ]), ""),
            may("confidence_interval", Shape::Numbers, ""),
            score("confidence_interval_level"),
        ])),
        value_kind: MetricValueKind::CalibratedScore,
        unit: NumericUnit::Score01,
        vectors: &[
            vector(
                "hits_only",
                r#"{"invocations":20,"hits":15}"#,
                r#"{"current_score":0.75,"score_status":"computed","component_scores":{"hit_rate_score":0.75,"attribution_lift_score":null,"regression_penalty_score":null,"cost_penalty_score":null,"false_negative_penalty_score":null,"false_positive_penalty_score":null},"confidence_interval":[0.531299,0.888138],"confidence_interval_level":0.95}"#,
            ),
            vector(
                "weights_of_almost_nothing",
                r#"{"invocations":20,"hits":15,"weights":{"hit_rate":1e-308,"attribution_lift":0,"inverse_regression_penalty":0,"inverse_cost_penalty":0,"false_negative_penalty":0,"false_positive_penalty":0}}"#,
                r#"{"current_score":0.75,"score_status":"computed","component_scores":{"hit_rate_score":0.75,"attribution_lift_score":null,"regression_penalty_score":null,"cost_penalty_score":null,"false_negative_penalty_score":null,"false_positive_penalty_score":null},"confidence_interval":[0.531299,0.888138],"confidence_interval_level":0.95}"#,
            ),
            vector(
                "hits_are_one_part_of_two",
                r#"{"invocations":20,"hits":15,"attribution_lift":0}"#,
                r#"{"current_score":0.625,"score_status":"computed","component_scores":{"hit_rate_score":0.75,"attribution_lift_score":0.5,"regression_penalty_score":null,"cost_penalty_score":null,"false_negative_penalty_score":null,"false_positive_penalty_score":null},"confidence_interval":[0.51565,0.694069],"confidence_interval_level":0.95}"#,
            ),
            vector(
                "shut_out",
                r#"{"invocations":4,"hits":4,"quarantined":true}"#,
                r#"{"current_score":null,"score_status":"quarantined_by_policy","component_scores":{}}"#,
            ),
            vector(
                "too_few",
                r#"{"invocations":4,"hits":4}"#,
                r#"{"current_score":null,"score_status":"insufficient_sample","component_scores":{}}"#,
            ),
            vector(
                "zero_weights",
                r#"{"invocations":20,"hits":15,"weights":{"hit_rate":0,"attribution_lift":0,"inverse_regression_penalty":0,"inverse_cost_penalty":0,"false_negative_penalty":0,"false_positive_penalty":0}}"#,
                "null",
            ),
            vector(
                "drawn_anew",
                r#"{"invocations":20,"hits":15,"confidence_interval_method":"bootstrap"}"#,
                r#"{"current_score":0.75,"score_status":"computed","component_scores":{"hit_rate_score":0.75,"attribution_lift_score":null,"regression_penalty_score":null,"cost_penalty_score":null,"false_negative_penalty_score":null,"false_positive_penalty_score":null},"confidence_interval":[0.55,0.9],"confidence_interval_level":0.95}"#,
            ),
            vector(
                "all_that_is_there_was_found",
                r#"{"invocations":20,"hits":15,"true_positives":3,"false_negatives":0}"#,
                r#"{"current_score":0.916667,"score_status":"computed","component_scores":{"hit_rate_score":0.75,"attribution_lift_score":null,"regression_penalty_score":null,"cost_penalty_score":null,"false_negative_penalty_score":1,"false_positive_penalty_score":null},"confidence_interval":[0.843766,0.962713],"confidence_interval_level":0.95}"#,
            ),
            vector(
                "nobody_counted_what_was_found",
                r#"{"invocations":20,"hits":15,"false_negatives":3}"#,
                "\"the input true_positives must be so that present(true_positives) == present(false_negatives)\"",
            ),
            vector("missing_hits", r#"{"invocations":20}"#, "\"the input hits is missing\""),
            vector(
                "more_hits_than_invocations",
                r#"{"invocations":20,"hits":21}"#,
                "\"the input hits must be so that hits <= invocations\"",
            ),
            vector(
                "a_cost_next_to_nothing",
                r#"{"invocations":20,"hits":15,"mean_cost":1e-310,"cohort_median_cost":1}"#,
                r#"{"current_score":0.875,"score_status":"computed","component_scores":{"hit_rate_score":0.75,"attribution_lift_score":null,"regression_penalty_score":null,"cost_penalty_score":1,"false_negative_penalty_score":null,"false_positive_penalty_score":null},"confidence_interval":[0.76565,0.944069],"confidence_interval_level":0.95}"#,
            ),
            vector(
                "a_cost_beside_nothing",
                r#"{"invocations":20,"hits":15,"mean_cost":3}"#,
                "\"the input cohort_median_cost must be so that present(mean_cost) == present(cohort_median_cost)\"",
            ),
        ],
        ..RATE
    },
    Spec {
        id: "cycle_efficiency_v1",
        version: "1.4.0",
        purpose: "How many cycles revisions took, and how many were for nothing.",
        expression: "let open = where(observations, 'terminal_class', 'still_open_right_censored');
let won = where(observations, 'terminal_class', 'succeeded');
let worn = where(observations, 'terminal_class', 'max_iterations_reached');
let all = count(observations);
let closed = all - count(open);
let cycles = sum(column(observations, 'cycle_count')) - sum(column(open, 'cycle_count'));
let won_cycles = sum(column(won, 'cycle_count'));
{
  avg_cycles_to_success: if count(won) == 0 then nothing else won_cycles / count(won),
  wasted_cycle_burn_rate: if cycles == 0 then nothing else (cycles - won_cycles) / cycles,
  right_censored_rate: count(open) / all,
  max_iterations_rate: if closed == 0 then nothing else count(worn) / closed
}",
        inputs: &[
            needs(
                "observations",
                Shape::List(&item(part_of!(
                    RevisionCycleOutcomeObservation,
                    &[
                        needs("cycle_count", Shape::Count, "how many cycles it took").within(0.0, COUNT_MAX),
                        needs("terminal_class", word!(OutcomeCycleTerminalClass), "how they ended"),
                        may("observation_id", Shape::Text, "which one it is"),
                    ]
                ))),
                "outcomes and their cycles",
            ),
            WINDOW,
        ],
        requires: &[
            requires(
                "window",
                "earlier(window.start, window.end) or not earlier(window.end, window.start) and count(observations) <= 1",
            ),
            requires("observations", "distinct(column(observations, 'observation_id'))"),
        ],
        gives: Some(record(&[
            score("avg_cycles_to_success").within(0.0, COUNT_MAX),
            score("wasted_cycle_burn_rate"),
            needs("right_censored_rate", Shape::Number, ""),
            score("max_iterations_rate"),
            needs("low_confidence", Shape::Truth, ""),
        ])),
        sample: Some(Sample {
            min: 10,
            least: None,
            size: "count(observations)",
            below: Below::LowConfidence,
            window_required: true,
        }),
        vectors: &[
            vector(
                "four_outcomes",
                r#"{"observations":[{"cycle_count":2,"terminal_class":"succeeded"},{"cycle_count":4,"terminal_class":"succeeded"},{"cycle_count":6,"terminal_class":"max_iterations_reached"},{"cycle_count":1,"terminal_class":"still_open_right_censored"}],"window":{"start":"2026-03-01T00:00:00Z","end":"2026-04-01T00:00:00Z"}}"#,
                r#"{"avg_cycles_to_success":3,"wasted_cycle_burn_rate":0.5,"right_censored_rate":0.25,"max_iterations_rate":0.333333,"low_confidence":true}"#,
            ),
            vector(
                "ten_outcomes",
                r#"{"observations":[{"cycle_count":2,"terminal_class":"succeeded"},{"cycle_count":2,"terminal_class":"succeeded"},{"cycle_count":2,"terminal_class":"succeeded"},{"cycle_count":2,"terminal_class":"succeeded"},{"cycle_count":2,"terminal_class":"succeeded"},{"cycle_count":2,"terminal_class":"succeeded"},{"cycle_count":2,"terminal_class":"succeeded"},{"cycle_count":2,"terminal_class":"succeeded"},{"cycle_count":4,"terminal_class":"max_iterations_reached"},{"cycle_count":1,"terminal_class":"still_open_right_censored"}],"window":{"start":"2026-03-01T00:00:00Z","end":"2026-04-01T00:00:00Z"}}"#,
                r#"{"avg_cycles_to_success":2,"wasted_cycle_burn_rate":0.2,"right_censored_rate":0.1,"max_iterations_rate":0.111111,"low_confidence":false}"#,
            ),
            vector(
                "nothing_is_closed",
                r#"{"observations":[{"cycle_count":1,"terminal_class":"still_open_right_censored"}],"window":{"start":"2026-03-01T00:00:00Z","end":"2026-04-01T00:00:00Z"}}"#,
                r#"{"avg_cycles_to_success":null,"wasted_cycle_burn_rate":null,"right_censored_rate":1,"max_iterations_rate":null,"low_confidence":true}"#,
            ),
            vector(
                "one_outcome_at_one_instant",
                r#"{"observations":[{"cycle_count":2,"terminal_class":"succeeded"}],"window":{"start":"2026-03-01T00:00:00Z","end":"2026-03-01T00:00:00Z"}}"#,
                r#"{"avg_cycles_to_success":2,"wasted_cycle_burn_rate":0,"right_censored_rate":0,"max_iterations_rate":0,"low_confidence":true}"#,
            ),
            vector("zero_outcomes", r#"{"observations":[],"window":{"start":"2026-03-01T00:00:00Z","end":"2026-04-01T00:00:00Z"}}"#, "null"),
            vector("missing_outcomes", "{}", "\"the input observations is missing\""),
        ],
        ..RATE
    },
    Spec {
        id: "same_reason_v1",
        purpose: "Whether something failed again for the same reason.",
        expression: "present(previous)
and current.failure_kind == previous.failure_kind
and current.artifact_stable_id == previous.artifact_stable_id
and current.target_scope_ref == previous.target_scope_ref
and current.criterion_id == previous.criterion_id
and current.normalized_finding_text_hash == previous.normalized_finding_text_hash
and (not present(current.evidence_signature_hash) or not present(previous.evidence_signature_hash)
  or current.evidence_signature_hash == previous.evidence_signature_hash)",
        inputs: &[
            needs("current", KEY, "what the failure is known by"),
            may("previous", KEY, "the same of the failure before, if there was one"),
        ],
        value_kind: MetricValueKind::BooleanDerived,
        gives: Some(Shape::Truth),
        vectors: &[
            vector(
                "again_on_other_sources",
                r#"{"current":{"failure_kind":"criterion_unmet","criterion_id":"a","normalized_finding_text_hash":"h","source_workspace_snapshot_hash":"1"},"previous":{"failure_kind":"criterion_unmet","criterion_id":"a","normalized_finding_text_hash":"h","source_workspace_snapshot_hash":"2"}}"#,
                "true",
            ),
            vector(
                "again_in_other_words",
                r#"{"current":{"failure_kind":"criterion_unmet","normalized_finding_text_hash":"h","finding_summary_hash":"1"},"previous":{"failure_kind":"criterion_unmet","normalized_finding_text_hash":"h","finding_summary_hash":"2"}}"#,
                "true",
            ),
            vector(
                "another_evidence",
                r#"{"current":{"failure_kind":"claim_unsupported","evidence_signature_hash":"1"},"previous":{"failure_kind":"claim_unsupported","evidence_signature_hash":"2"}}"#,
                "false",
            ),
            vector("for_the_first_time", r#"{"current":{"failure_kind":"criterion_unmet"}}"#, "false"),
            vector("missing_failure", "{}", "\"the input current is missing\""),
        ],
        ..Spec::PLAIN
    },
];
