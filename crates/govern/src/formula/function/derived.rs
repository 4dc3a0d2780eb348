//! The derivations of the contract as functions of formulas.
//! Owns: how values become what a derivation takes, and back. Must not: derive.

use crate::derive::{
    chain, claim_support, novelty, quality, reliance, sufficiency, taint, template, tie_break, weights,
};
use crate::formula::compute::{Stop, coded, list, number, text};
use crate::formula::value::Value;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

type Found = Result<Value, Stop>;

/// The members of a record, by name.
pub(super) struct Members<'a>(pub(super) &'a BTreeMap<String, Value>);

pub(super) fn members(value: &Value) -> Result<Members<'_>, Stop> {
    match value {
        Value::Record(members) => Ok(Members(members)),
        Value::Absent | Value::Truth(_) | Value::Number(_) | Value::Text(_) | Value::List(_) => {
            Err(Stop::Kind(format!("{} is no record", value.kind())))
        }
    }
}

impl<'a> Members<'a> {
    pub(super) fn get(&self, name: &str) -> &'a Value {
        self.0.get(name).unwrap_or(&Value::Absent)
    }

    fn text(&self, name: &str) -> Result<&'a str, Stop> {
        text(self.get(name)).map_err(|_| Stop::Kind(format!("{name} must be a text")))
    }

    pub(super) fn maybe_text(&self, name: &str) -> Option<&'a str> {
        text(self.get(name)).ok()
    }

    pub(super) fn number(&self, name: &str) -> Result<f64, Stop> {
        number(self.get(name)).map_err(|_| Stop::Kind(format!("{name} must be a number")))
    }

    fn maybe_number(&self, name: &str) -> Option<f64> {
        number(self.get(name)).ok()
    }

    /// A truth; what is missing is false.
    fn flag(&self, name: &str) -> Result<bool, Stop> {
        match self.get(name) {
            Value::Truth(truth) => Ok(*truth),
            Value::Absent => Ok(false),
            Value::Number(_) | Value::Text(_) | Value::List(_) | Value::Record(_) => {
                Err(Stop::Kind(format!("{name} must be true or false")))
            }
        }
    }

    pub(super) fn list(&self, name: &str) -> Result<&'a [Value], Stop> {
        match self.get(name) {
            Value::Absent => Ok(&[]),
            value => list(value),
        }
    }

    fn count(&self, name: &str) -> Result<u64, Stop> {
        super::whole_number(self.get(name)).map_err(|_| Stop::Kind(format!("{name} must count something")))
    }

    /// A word of a closed list.
    pub(super) fn word<T>(&self, name: &str, read: impl Fn(&str) -> Option<T>) -> Result<T, Stop> {
        word(self.get(name), name, read)
    }

    /// Words of a closed list.
    fn words<T>(&self, name: &str, read: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, Stop> {
        self.list(name)?.iter().map(|value| word(value, name, &read)).collect()
    }
}

pub(super) fn word<T>(value: &Value, name: &str, read: impl Fn(&str) -> Option<T>) -> Result<T, Stop> {
    let found = text(value).ok().and_then(read);
    found.ok_or_else(|| Stop::Kind(format!("{name} has a value that is none of its words")))
}

/// The code of an error that is printed as one.
fn code_of<T>(error: &impl ToString) -> Result<T, Stop> {
    let text = error.to_string();
    let code = text.strip_prefix("validation.").unwrap_or_default();
    match crate::check::rules().find(|(_, rule)| rule.code == code) {
        Some((_, rule)) => coded(rule.code, rule.fires),
        None => Err(Stop::Kind(text)),
    }
}

/// `criterion_weights(criteria, config)`
pub(super) fn criterion_weights(of: &[Value]) -> Found {
    let [criteria, config] = of else { return Ok(Value::Absent) };
    let config = members(config)?;
    let priorities = match config.get("priority_weight_map") {
        Value::Absent => BTreeMap::new(),
        map => members(map)?
            .0
            .iter()
            .map(|(name, value)| Ok((name.as_str(), number(value)?)))
            .collect::<Result<_, Stop>>()?,
    };
    let config = weights::Config {
        unanchored: config.word("unanchored_llm_judgment_policy", weights::Unanchored::find)?,
        origin: config.word("default_weight_policy", weights::Origin::find)?,
        priority_weights: priorities,
    };
    let mut all = Vec::new();
    for one in list(criteria)? {
        let one = members(one)?;
        all.push(weights::Criterion {
            id: one.text("criterion_id")?,
            is_unanchored: one.text("scoring_basis")? == "unanchored_llm_judgment",
            weight: one.maybe_number("weight"),
            priority: one.maybe_text("priority"),
        });
    }
    match weights::normalize(&all, &config) {
        Ok(found) => {
            Ok(Value::Record(found.into_iter().map(|(id, weight)| (id.to_string(), weight.into())).collect()))
        }
        Err(error) => code_of(&error),
    }
}

/// `template_score(components, weights, soft_penalty_sum, hard_veto_count, formula)`
pub(super) fn template_score(of: &[Value]) -> Found {
    let [components, given, penalty, vetoes, formula] = of else { return Ok(Value::Absent) };
    fn by_name(value: &Value) -> Result<BTreeMap<&str, f64>, Stop> {
        Ok(members(value)?
            .0
            .iter()
            .filter_map(|(name, value)| Some((name.as_str(), number(value).ok()?)))
            .collect())
    }
    let formula = members(formula)?;
    let formula = template::Formula {
        component_weights: by_name(formula.get("component_weights"))?,
        hard_veto_cap: formula.number("hard_veto_cap")?,
        soft_penalty_max_total: formula.number("soft_penalty_max_total")?,
    };
    let found = template::Match {
        components: by_name(components)?,
        weights: by_name(given)?,
        soft_penalty_sum: number(penalty)?,
        hard_veto_count: super::whole_number(vetoes)?,
    };
    template::overall_score(&found, &formula).map(Value::from).or_else(|error| code_of(&error))
}

/// `quality(dimensions, method, missing_policy, threshold)`
pub(super) fn quality_index(of: &[Value]) -> Found {
    let [dimensions, method, policy, threshold] = of else { return Ok(Value::Absent) };
    let method = word(method, "aggregation_method", quality::Method::find)?;
    let policy = word(policy, "missing_dimension_policy", quality::Missing::find)?;
    let mut all = Vec::new();
    for one in list(dimensions)? {
        let one = members(one)?;
        all.push(quality::Dimension {
            id: one.text("criterion_id")?,
            weight: one.number("weight")?,
            need: if one.flag("required")? { quality::Need::Required } else { quality::Need::Optional },
            threshold: one.maybe_number("threshold"),
            score: one.maybe_number("score"),
        });
    }
    let threshold = quality::told(number(threshold)?);
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
        Err(error) => code_of(&error),
    }
}

/// `claim_support(policy, anchors)`
pub(super) fn claim_supported(of: &[Value]) -> Found {
    let [policy, anchors] = of else { return Ok(Value::Absent) };
    let policy = members(policy)?;
    let required = members(policy.get("required_for_supported"))?;
    let policy = claim_support::Policy {
        direct_min: required.count("min_direct_supporting_anchors")?,
        require_verified: required.flag("require_verified_source")?,
        allow_stale: required.flag("allow_stale_source")?,
        allow_contradicting: required.flag("allow_contradicting_anchor")?,
        partial: policy.word("partial_support_rule", claim_support::PartialRule::find)?,
        contradiction: policy.word("contradiction_rule", claim_support::ContradictionRule::find)?,
    };
    let mut all = Vec::new();
    for one in list(anchors)? {
        let one = members(one)?;
        let authority =
            one.maybe_text("authority_level").map_or(Ok(claim_support::Authority::Unknown), |_| {
                one.word("authority_level", claim_support::Authority::find)
            })?;
        all.push(claim_support::Anchor {
            strength: one.word("support_strength", claim_support::Strength::find)?,
            authority,
            verified: one.flag("verified")?,
            fresh: !one.flag("stale")?,
            tier0: one.flag("tier0")?,
        });
    }
    let support = claim_support::derive(&policy, all);
    Ok(Value::from([
        ("derived_support_status", support.status.as_str().into()),
        ("needs_review", support.needs_review.into()),
    ]))
}

/// `taint_join(inputs)`
pub(super) fn taint_join(of: &[Value]) -> Found {
    let [inputs] = of else { return Ok(Value::Absent) };
    let inputs: Vec<taint::Taint> = list(inputs)?
        .iter()
        .map(|value| word(value, "a taint", taint::Taint::find))
        .collect::<Result<_, _>>()?;
    Ok(taint::derived(inputs, None).as_str().into())
}

/// `novelty(distance, fallback, baseline, threshold)`
pub(super) fn novelty_of(of: &[Value]) -> Found {
    let [distance, fallback, baseline, threshold] = of else { return Ok(Value::Absent) };
    let fallback = word(fallback, "no_pattern_fallback", novelty::Fallback::find)?;
    let (distance, baseline) = (number(distance).ok(), number(baseline).ok());
    let found = novelty::assess(distance, fallback, baseline, number(threshold)?);
    Ok(Value::from([
        ("novelty_score", super::optional(found.score)),
        ("similarity_score", super::optional(found.similarity)),
        ("forces_fresh_reasoning", found.forces_fresh_reasoning.into()),
        ("triggers_task_agent", found.triggers_task_agent.into()),
    ]))
}

/// `tie_break(profiles)`
pub(super) fn tie_broken(of: &[Value]) -> Found {
    let [profiles] = of else { return Ok(Value::Absent) };
    let mut all = Vec::new();
    for one in list(profiles)? {
        let one = members(one)?;
        all.push(tie_break::Profile {
            plan_id: one.text("plan_id")?,
            required_for_overall_pass: one.flag("required_for_overall_pass")?,
            high_stakes: one.flag("high_stakes")?,
            outcome_priority: one.number("outcome_priority")?,
            plan_risk_score: one.number("plan_risk_score")?,
            estimated_lock_duration_ms: one.number("estimated_lock_duration_ms")?,
            deterministic_final_key: one.maybe_text("deterministic_final_key").unwrap_or_default(),
        });
    }
    match tie_break::order(&all) {
        Ok(order) => Ok(Value::List(order.into_iter().map(Value::from).collect())),
        Err(error @ tie_break::Error::NotFinite) => Err(Stop::Kind(error.to_string())),
        Err(error @ (tie_break::Error::NoFinalKey | tie_break::Error::SameFinalKey)) => {
            coded("concurrency_tie_breaker_missing_final_key", error.to_string())
        }
    }
}

/// `reliance(limitations)`
pub(super) fn reliance_of(of: &[Value]) -> Found {
    let [limitations, failed, blockers, contradicted, open_calls] = of else { return Ok(Value::Absent) };
    let mut facts: BTreeSet<reliance::Fact> = BTreeSet::new();
    for one in list(limitations)? {
        facts.insert(reliance::Fact::Limited(word(one, "limitations", reliance::Limitation::find)?));
    }
    let counted = [
        (failed, reliance::Fact::ChainFailed),
        (blockers, reliance::Fact::LiveBlocker),
        (contradicted, reliance::Fact::ClaimContradicted),
        (open_calls, reliance::Fact::HardCallOpen),
    ];
    for (count, fact) in counted {
        if super::whole_number(count)? > 0 {
            facts.insert(fact);
        }
    }
    let limitations = reliance::limitations(&facts).into_iter().map(|one| one.as_str().into()).collect();
    let status = reliance::status(&facts).as_str();
    Ok(Value::from([("status", status.into()), ("unresolved_limitations", Value::List(limitations))]))
}

/// `sufficiency(triggers, known)`
pub(super) fn sufficiency_of(of: &[Value]) -> Found {
    let [triggers, known] = of else { return Ok(Value::Absent) };
    let triggers: Vec<_> = list(triggers)?
        .iter()
        .map(|value| word(value, "triggered_by", sufficiency::Trigger::find))
        .collect::<Result<_, _>>()?;
    let known = members(known)?;
    let known = sufficiency::Known {
        policy_is_alterable: known.flag("policy_is_alterable")?,
        has_information_route: known.flag("has_information_route")?,
        has_other_verifier: known.flag("has_other_verifier")?,
        precondition_is_information: known.flag("precondition_is_information")?,
        on_cycle: match known.get("on_cycle_detected") {
            Value::Absent => sufficiency::OnCycle::HardCall,
            value => word(value, "on_cycle_detected", sufficiency::OnCycle::find)?,
        },
        has_variation_left: known.flag("has_variation_left")?,
        has_unlockable_candidate: known.flag("has_unlockable_candidate")?,
        attempts: known.maybe_number("attempts").map_or(Ok(0), |_| known.count("attempts"))?,
        attempts_max: known
            .maybe_number("max_total_attempts")
            .map_or(Ok(u64::MAX), |_| known.count("max_total_attempts"))?,
    };
    Ok(match sufficiency::route(&triggers, &known) {
        None => Value::from([("no_sufficient_procedure", false.into())]),
        Some(ending) => Value::from([
            ("no_sufficient_procedure", true.into()),
            ("decisive_trigger", ending.by.as_str().into()),
            ("terminal_route", ending.route.as_str().into()),
            ("disposition", ending.disposition.as_str().into()),
            ("hard_call_required", ending.question.is_some().into()),
            ("hard_call_kind", ending.question.map_or(Value::Absent, |question| question.as_str().into())),
        ]),
    })
}

/// `pattern_c(results, missing, timed_out, policy)`
pub(super) fn pattern_c(of: &[Value]) -> Found {
    let [results, missing, timed_out, policy] = of else { return Ok(Value::Absent) };
    let policy = match policy {
        Value::Absent => chain::Policy::DEFAULT,
        policy => {
            let policy = members(policy)?;
            chain::Policy {
                blockers_survive_pass: policy.flag("qualitative_blockers_survive_numeric_pass")?,
                judge_can_override: policy.flag("judge_can_override_evaluator")?,
                override_states: chain::FindingStates::of(
                    &policy.words("override_allowed_only_for_finding_states", chain::FindingState::find)?,
                ),
                precedence: policy.word("route_precedence", chain::Precedence::find)?,
                disagreement: policy.word("disagreement_route", chain::Disagreement::find)?,
            }
        }
    };
    let mut blockers = Vec::new();
    for one in list(results)? {
        blockers.push(members(one)?.words("live_blocker_states", chain::FindingState::find)?);
    }
    let mut received = Vec::new();
    for (one, blockers) in list(results)?.iter().zip(&blockers) {
        let one = members(one)?;
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
        value => word(value, "missing", |word| {
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
        chain::Outcome::Resolved(found) => Value::from([
            ("status", "resolved".into()),
            ("resolved_verdict", found.verdict.as_str().into()),
            ("resolved_route", found.route.as_str().into()),
            ("conflict_type", found.conflict.as_str().into()),
            ("qualitative_blockers_preserved", found.blockers_preserved.into()),
            ("quantitative_pass_overridden_by_blocker", found.pass_overridden.into()),
        ]),
    })
}

/// `health(outcome_states, live_blockers, open_hard_calls, attention_priorities, limitations)`
pub(super) fn health_of(of: &[Value]) -> Found {
    let [outcomes, blockers, open_calls, attention, limitations] = of else { return Ok(Value::Absent) };
    let mut signs = Vec::new();
    for one in list(outcomes)? {
        signs.push(reliance::Sign::Outcome(word(one, "outcome_states", reliance::State::find)?));
    }
    for one in list(attention)? {
        signs.push(reliance::Sign::Attention(word(one, "attention_priorities", reliance::Severity::find)?));
    }
    for one in list(limitations)? {
        signs.push(reliance::Sign::Limited(word(one, "limitations", reliance::Limitation::find)?));
    }
    let counted = [(blockers, reliance::Sign::LiveBlocker), (open_calls, reliance::Sign::HardCallOpen)];
    for (count, sign) in counted {
        if super::whole_number(count)? > 0 {
            signs.push(sign);
        }
    }
    Ok(Value::from([("health_status", reliance::health(signs).as_str().into())]))
}

/// `coverage(required, available)`
pub(super) fn coverage_of(of: &[Value]) -> Found {
    let [required, available] = of else { return Ok(Value::Absent) };
    let mut offers: BTreeMap<&str, Vec<(sufficiency::Version<'_>, bool)>> = BTreeMap::new();
    for one in list(available)? {
        let one = members(one)?;
        let version = sufficiency::Version(one.maybe_text("version").unwrap_or_default());
        offers.entry(one.text("capability_id")?).or_default().push((version, one.flag("healthy")?));
    }
    let mut standings = Vec::new();
    for one in list(required)? {
        let one = members(one)?;
        let least = one.maybe_text("min_version").map(sufficiency::Version);
        let offers = offers.get(one.text("capability_id")?).map(Vec::as_slice).unwrap_or_default();
        standings.push(sufficiency::standing(least.as_ref(), offers));
    }
    Ok(Value::from([("coverage_state", sufficiency::coverage(&standings).as_str().into())]))
}
