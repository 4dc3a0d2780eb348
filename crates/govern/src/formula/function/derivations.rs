//! The derivations of the contract as functions of values, for formulas to be held to.
//! Owns: how values become what a derivation takes, and back. Must not: derive, or ship.

use super::Found;
use super::cost::{micros as counted, units};
use super::derived::{Members, members};
use crate::derive::cost::{
    Basis, Cases, Confidence, Correlation, Dimension, Distribution, Drawing, Micros, Policy, Timing, Vector,
    total,
};
use crate::derive::{chain, quality, template, weights};
use crate::derive::{is_finite_and_not_negative, is_score};
use crate::formula::compute::{Refused, Stop, items, number, text};
use crate::formula::function::whole_number;
use crate::formula::value::Value;
use crate::member;
use countersign_record::json::Json;
use std::boxed::Box;
use std::collections::BTreeMap;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// The members of a record of the inputs.
pub(super) fn given<'v>(value: &Value<'v>) -> Result<Members<'v>, Stop> {
    if let Value::Given(json) = value {
        members(json)
    } else {
        Err(Stop::Kind(format!("{} is no record of the inputs", value.kind())))
    }
}

impl<'v> Members<'v> {
    pub(super) fn number(&self, name: &str) -> Result<f64, Stop> {
        self.maybe_number(name).ok_or_else(|| Stop::Kind(format!("{name} must be a number")))
    }

    /// The items of a list; what is missing has none.
    pub(super) fn list(&self, name: &str) -> Result<&'v [Json], Stop> {
        match self.get(name) {
            Json::Null => Ok(&[]),
            Json::Array(items) => Ok(items),
            Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Object(_) => {
                Err(Stop::Kind(format!("{name} must be a list")))
            }
        }
    }

    /// A count; nothing where it is missing.
    pub(super) fn count(&self, name: &str) -> Result<Option<u64>, Stop> {
        self.maybe_number(name).map(|number| whole_number(&number.into())).transpose()
    }

    /// A word of a closed list.
    pub(super) fn word<T>(&self, name: &str, read: impl Fn(&str) -> Option<T>) -> Result<T, Stop> {
        word(self.get(name), name, read)
    }

    /// Words of a closed list.
    pub(super) fn words<T>(&self, name: &str, read: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, Stop> {
        self.list(name)?.iter().map(|value| word(value, name, &read)).collect()
    }
}

pub(super) fn word<T>(json: &Json, name: &str, read: impl Fn(&str) -> Option<T>) -> Result<T, Stop> {
    let found = json.as_str().and_then(read);
    found.ok_or_else(|| Stop::Kind(format!("{name} has a value that is none of its words")))
}

/// A word of a closed list that is an input of its own.
pub(super) fn chosen<T>(value: &Value<'_>, read: impl Fn(&str) -> Option<T>) -> Result<T, Stop> {
    let word = text(value)?;
    read(word).ok_or_else(|| Stop::Kind(format!("{word} is none of the words")))
}

/// Refuses something in one of the inputs.
pub(super) fn refused<T>(
    code: Option<&'static str>,
    path: &[&str],
    message: impl Into<String>,
) -> Result<T, Stop> {
    let inside = path.iter().map(ToString::to_string).collect();
    Err(Stop::Input(Box::new(Refused { code, inside, message: message.into() })))
}

/// The same, by an error that is printed as its code.
fn code_of<T>(error: &impl ToString, path: &[&str], message: &str) -> Result<T, Stop> {
    let text = error.to_string();
    let code = text.strip_prefix("validation.").unwrap();
    let (_, rule) = crate::check::rules().find(|(_, rule)| rule.code == code).unwrap();
    refused(Some(rule.code), path, message)
}

/// `criterion_weights(criteria, config)`
pub(super) fn criterion_weights<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [criteria, config] = of else { return Ok(Value::Absent) };
    let config = given(config)?;
    let priorities = match config.get("priority_weight_map") {
        Json::Null => BTreeMap::new(),
        map => by_name(&members(map)?)?,
    };
    let config = weights::Config {
        unanchored: config.word("unanchored_llm_judgment_policy", weights::Unanchored::find)?,
        origin: config.word("default_weight_policy", weights::Origin::find)?,
        priority_weights: priorities,
    };
    let mut all = Vec::new();
    for one in items(criteria)? {
        let one = members(one)?;
        all.push(weights::Criterion {
            id: one.text("criterion_id")?,
            is_unanchored: one.text("scoring_basis")? == "unanchored_llm_judgment",
            weight: one.maybe_number("weight"),
            priority: one.maybe_text("priority"),
        });
    }
    match weights::normalize(&all, &config) {
        Ok(found) => Ok(Value::Record(found.into_iter().map(|(id, weight)| (id, weight.into())).collect())),
        Err(error) => {
            let at = criterion_of(error, &all, &config).map(|at| at.to_string());
            let path: Vec<&str> = ["criteria"].into_iter().chain(at.as_deref()).collect();
            code_of(&error, &path, not_weighed(error))
        }
    }
}

/// Which criterion it is that can't be weighed; none where it is all of them together.
fn criterion_of(
    error: weights::Error,
    all: &[weights::Criterion<'_>],
    config: &weights::Config<'_>,
) -> Option<usize> {
    let is_again = |at: usize, id: &str| {
        all.iter().take(at).any(|one| one.id == id && weights::is_eligible(one, config))
    };
    match error {
        weights::Error::UnanchoredIndeterminate => all.iter().position(|one| one.is_unanchored),
        weights::Error::WeightMissing
        | weights::Error::PriorityWeightMissing
        | weights::Error::WeightInvalid => {
            let is_it = |(at, one): &(usize, &weights::Criterion<'_>)| {
                weights::is_eligible(one, config)
                    && (weights::raw(one, config) == Err(error) || is_again(*at, one.id))
            };
            all.iter().enumerate().find(is_it).map(|(at, _)| at)
        }
        weights::Error::NoneEligible | weights::Error::SumZero => None,
    }
}

fn not_weighed(error: weights::Error) -> &'static str {
    match error {
        weights::Error::UnanchoredIndeterminate => "is judged by a model without anything to hold on to",
        weights::Error::NoneEligible => "has none that counts",
        weights::Error::WeightMissing => "has no weight of its own",
        weights::Error::PriorityWeightMissing => "has a priority that nobody gave a weight",
        weights::Error::WeightInvalid => "stands twice, or weighs what is no number from zero up",
        weights::Error::SumZero => "weigh nothing together, or more than a number holds",
    }
}

/// Numbers by name.
fn by_name<'v>(of: &Members<'v>) -> Result<BTreeMap<&'v str, f64>, Stop> {
    let number = |(name, value): (&'v str, &Json)| {
        let number = member::number(value).ok_or_else(|| Stop::Kind(format!("{name} must be a number")))?;
        Ok((name, number))
    };
    of.0.iter().map(number).collect()
}

/// `template_score(components, weights, soft_penalty_sum, hard_veto_count, formula)`
pub(super) fn template_score<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [components, weights, penalty, vetoes, formula] = of else { return Ok(Value::Absent) };
    let formula = given(formula)?;
    let formula = template::Formula {
        component_weights: by_name(&members(formula.get("component_weights"))?)?,
        hard_veto_cap: formula.number("hard_veto_cap")?,
        soft_penalty_max_total: formula.number("soft_penalty_max_total")?,
    };
    let found = template::Match {
        components: by_name(&given(components)?)?,
        weights: by_name(&given(weights)?)?,
        soft_penalty_sum: number(penalty)?,
        hard_veto_count: whole_number(vetoes)?,
    };
    template::overall_score(&found, &formula).map(Value::from).or_else(|error| {
        let is_bad = |numbers: &BTreeMap<&str, f64>, name: &str, fits: fn(f64) -> bool| {
            !numbers.get(name).copied().is_some_and(fits)
        };
        let mut parts = formula.component_weights.keys();
        let (argument, part, message) = match error {
            template::Error::ComponentOutOfRange => {
                let part = parts.find(|part| is_bad(&found.components, part, is_score));
                ("components", part.copied(), "must be a number from 0 to 1")
            }
            template::Error::WeightInvalid => {
                let part = parts.find(|part| is_bad(&found.weights, part, is_finite_and_not_negative));
                ("weights", part.copied(), "must be a number from zero up")
            }
            template::Error::TotalWeightZero => ("weights", None, "weigh nothing together"),
            template::Error::SoftPenaltyInvalid => {
                ("soft_penalty_sum", None, "must be from 0 to soft_penalty_max_total, which is from 0 to 1")
            }
            template::Error::HardVetoCapInvalid => {
                ("formula", Some("hard_veto_cap"), "must be a number from 0 to 1")
            }
        };
        code_of(&error, &[argument].into_iter().chain(part).collect::<Vec<_>>(), message)
    })
}

/// `quality(dimensions, method, missing_policy, threshold)`
pub(super) fn quality_index<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [dimensions, method, policy, threshold] = of else { return Ok(Value::Absent) };
    let method = chosen(method, quality::Method::find)?;
    let policy = chosen(policy, quality::Missing::find)?;
    let mut all = Vec::new();
    for one in items(dimensions)? {
        let one = members(one)?;
        all.push(quality::Dimension {
            id: one.text("criterion_id")?,
            weight: one.number("weight")?,
            need: if one.flag("required")? { quality::Need::Required } else { quality::Need::Optional },
            threshold: one.maybe_number("threshold"),
            score: one.maybe_number("score"),
        });
    }
    let threshold = number(threshold)?;
    let index = quality::aggregate(&all, method, policy).and_then(|aggregate| {
        let standing = quality::Standing {
            score: aggregate.score,
            threshold,
            gate_failure_count: aggregate.gate_failures.len(),
            missing_count: aggregate.missing.len(),
            policy,
        };
        quality::status(&standing).map(|status| (aggregate, status))
    });
    match index {
        Ok((aggregate, status)) => Ok(Value::from([
            ("aggregate_score", aggregate.score.into()),
            ("pass_threshold", threshold.into()),
            (
                "required_gate_failures",
                Value::List(aggregate.gate_failures.into_iter().map(Value::from).collect()),
            ),
            ("derived_pass_status", status.as_str().into()),
        ])),
        Err(error) => {
            let message = match error {
                quality::Error::OutOfRange => "has a number that is not from 0 to 1",
                quality::Error::NoneEligible => "has none that counts",
                quality::Error::SumZero => "has none that weighs something",
            };
            code_of(&error, &["dimensions"], message)
        }
    }
}

/// How conflicts are resolved, as a policy says.
fn resolution_policy(policy: &Value<'_>) -> Result<chain::Policy, Stop> {
    if *policy == Value::Absent {
        return Ok(chain::Policy::DEFAULT);
    }
    let policy = given(policy)?;
    let states = policy.words("override_allowed_only_for_finding_states", chain::FindingState::find)?;
    Ok(chain::Policy {
        blockers_survive_pass: policy.flag("qualitative_blockers_survive_numeric_pass")?,
        judge_can_override: policy.flag("judge_can_override_evaluator")?,
        override_states: chain::FindingStates::of(&states),
        precedence: policy.word("route_precedence", chain::Precedence::find)?,
        disagreement: policy.word("disagreement_route", chain::Disagreement::find)?,
    })
}

/// `pattern_c(results, missing, timed_out, policy)`
pub(super) fn pattern_c<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [results, missing, timed_out, policy] = of else { return Ok(Value::Absent) };
    let policy = resolution_policy(policy)?;
    let mut blockers = Vec::new();
    for one in items(results)? {
        blockers.push(members(one)?.words("live_blocker_states", chain::FindingState::find)?);
    }
    let (mut received, mut ids) = (Vec::new(), Vec::new());
    for (one, blockers) in items(results)?.iter().zip(&blockers) {
        let one = members(one)?;
        ids.push(one.maybe_text("result_id"));
        received.push(chain::Received {
            role: one.word("role", chain::Role::find)?,
            verdict: one.word("verdict", chain::Verdict::find)?,
            causes: chain::Causes::of(&one.words("indeterminate_causes", chain::Cause::find)?),
            snapshot: if one.flag("other_snapshot")? {
                chain::Snapshot::Another
            } else {
                chain::Snapshot::OfTheChain
            },
            blockers,
        });
    }
    let missing = match missing {
        Value::Absent => chain::Missing::Nobody,
        value => chosen(value, |word| {
            Some(match word {
                "nobody" => chain::Missing::Nobody,
                "judge" => chain::Missing::Judge,
                "evaluator" => chain::Missing::Evaluator,
                _other => return None,
            })
        })?,
    };
    let term = if *timed_out == Value::Truth(true) { chain::Term::Over } else { chain::Term::Running };
    Ok(match chain::resolve(&chain::Chain { received: &received, missing, term }, &policy) {
        chain::Outcome::Waiting => Value::from([("status", "waiting".into())]),
        chain::Outcome::Resolved(found) => {
            // Of several that may be it, the smallest id: who came first must not matter.
            let may_be = |(one, _): &(&chain::Received<'_>, _)| found.decisive.may_be(one, found.verdict);
            let decisive = received.iter().zip(ids).filter(may_be).filter_map(|(_, id)| id).min();
            Value::from([
                ("status", "resolved".into()),
                ("resolved_verdict", found.verdict.as_str().into()),
                ("resolved_route", found.route.as_str().into()),
                ("conflict_type", found.conflict.as_str().into()),
                ("qualitative_blockers_preserved", found.blockers_preserved.into()),
                ("quantitative_pass_overridden_by_blocker", found.pass_overridden.into()),
                ("decisive_result_id", decisive.map_or(Value::Absent, Value::from)),
            ])
        }
    })
}

/// `cost_sum(vectors, correlation_policy, timing, samples, draws, seed)`
pub(super) fn cost_sum<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [vectors, policy, timing, samples, draws, seed] = of else { return Ok(Value::Absent) };
    let parts: Vec<Vector> = items(vectors)?.iter().map(vector).collect::<Result<_, _>>()?;
    let timing = chosen(timing, |word| match word {
        "sequential" => Some(Timing::Sequential),
        "parallel" => Some(Timing::Parallel),
        _other => None,
    })?;
    let declared = match policy {
        Value::Absent => None,
        given => Some(chosen(given, Correlation::find)?),
    };
    let samples: Vec<Cases> = match samples {
        Value::Absent => Vec::new(),
        given => items(given)?.iter().map(cases).collect::<Result<_, _>>()?,
    };
    let drawing =
        Drawing { seed: whole_number(seed)?, draws: u32::try_from(whole_number(draws)?).unwrap_or(u32::MAX) };
    let policy = match declared {
        None => Policy::Undeclared,
        Some(Correlation::AssumePerfectCorrelationUpperBound) => Policy::Comonotone,
        Some(Correlation::AssumeIndependentMonteCarlo) => Policy::Independent(&samples, drawing),
        Some(Correlation::EmpiricalJointDistribution) => Policy::Joint(&samples),
    };
    let mut sum = match total(&parts, policy, timing) {
        Ok(sum) => sum,
        Err(error) => return refused(None, &["samples"], error.to_string()),
    };
    sum.assumptions.extend(assumed(policy));
    Ok(written(sum, declared))
}

/// What a policy assumes, in words: the name of one of them says what is not so.
fn assumed(policy: Policy<'_>) -> Option<String> {
    match policy {
        Policy::Undeclared => None,
        Policy::Comonotone => {
            Some("quantiles: all parts are dear at once; this is no upper bound".to_string())
        }
        Policy::Independent(_, Drawing { seed, draws }) => {
            Some(format!("quantiles: {draws} draws of independent parts with the seed {seed}"))
        }
        Policy::Joint(_) => Some("quantiles: parts as they were seen together".to_string()),
    }
}

fn micros(json: &Json) -> Result<Micros, Stop> {
    counted(member::number(json).unwrap_or(f64::NAN), "vectors")
}

fn vector(json: &Json) -> Result<Vector, Stop> {
    let given = members(json)?;
    let mut components = BTreeMap::new();
    for (name, amount) in members(given.get("components"))?.0.iter() {
        components.insert(dimension(name)?, distribution(name, &members(amount)?)?);
    }
    let assumptions = given.list("assumptions")?.iter();
    Ok(Vector {
        components,
        basis: given.word("basis", Basis::find)?,
        confidence: given.word("estimator_confidence", Confidence::find)?,
        sample_size: given.count("sample_size")?,
        assumptions: assumptions.filter_map(Json::as_str).map(ToString::to_string).collect(),
    })
}

fn dimension(name: &str) -> Result<Dimension, Stop> {
    Dimension::find(name).ok_or_else(|| Stop::Kind(format!("there is no dimension {name}")))
}

fn distribution(name: &str, amount: &Members<'_>) -> Result<Distribution, Stop> {
    if amount.maybe_text("unit").is_some_and(|unit| unit != name) {
        return refused(
            Some("cost_vector_unit_mismatch"),
            &["vectors"],
            format!("has {name} in another unit"),
        );
    }
    let maybe = |of: &str| match amount.get(of) {
        Json::Null => Ok(None),
        value => micros(value).map(Some),
    };
    Ok(Distribution {
        expected: micros(amount.get("expected"))?,
        p50: maybe("p50")?,
        p90: maybe("p90")?,
        p99: maybe("p99")?,
        hard_cap: maybe("hard_cap")?,
    })
}

/// Cases by dimension.
fn cases(json: &Json) -> Result<Cases, Stop> {
    let mut all = Cases::new();
    for (name, seen) in members(json)?.0.iter() {
        let seen = seen.as_array().unwrap_or_default().iter();
        all.insert(dimension(name)?, seen.map(micros).collect::<Result<_, _>>()?);
    }
    Ok(all)
}

/// A cost as a record; what is not there is left out.
fn written<'v>(sum: Vector, declared: Option<Correlation>) -> Value<'v> {
    let units = |micros: Micros| Value::Number(units(micros));
    let amount = |(dimension, one): (&Dimension, &Distribution)| {
        let all = [
            ("expected", Some(units(one.expected))),
            ("p50", one.p50.map(units)),
            ("p90", one.p90.map(units)),
            ("p99", one.p99.map(units)),
            ("hard_cap", one.hard_cap.map(units)),
            ("unit", Some(dimension.as_str().into())),
        ];
        (dimension.as_str(), record(all))
    };
    #[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^53")]
    let sample_size = sum.sample_size.map(|size| Value::Number(size as f64));
    record([
        ("components", Some(Value::Record(sum.components.iter().map(amount).collect()))),
        ("basis", Some(sum.basis.as_str().into())),
        ("estimator_confidence", Some(sum.confidence.as_str().into())),
        ("sample_size", sample_size),
        ("assumptions", Some(Value::List(sum.assumptions.into_iter().map(Value::from).collect()))),
        ("correlation_policy", declared.map(|policy| policy.as_str().into())),
    ])
}

fn record<'v, const N: usize>(all: [(&'v str, Option<Value<'v>>); N]) -> Value<'v> {
    Value::Record(all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect())
}
