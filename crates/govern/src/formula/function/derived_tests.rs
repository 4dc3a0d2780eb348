//! Formulas that are written out say what the derivations do that rules use.

use super::*;
use crate::derive::draw::Draw;
use crate::derive::{chain, claim_support, novelty, reliance, taint, tie_break};
use crate::formula::compute::{number, text};
use crate::formula::function::derivations::{
    chosen, cost_sum, criterion_weights, given, pattern_c, quality_index, refused, template_score, word,
};
use crate::formula::function::{optional, whole_number};
use crate::formula::policy::rounded;
use crate::formula::refusal::{How, NotEvaluated, stopped};
use crate::formula::{evaluate, generated, registry};
use countersign_record::json::Number;
use std::collections::BTreeSet;
use std::string::{String, ToString};

/// Sets of inputs for each formula.
const CASES: usize = 3_000;

type Derived = for<'a, 'v> fn(&'a [Value<'v>]) -> Found<'v>;

#[test]
fn texts_say_what_the_derivations_do() {
    let pairs: [(&str, Derived); 18] = [
        ("quality_index_v1", quality_index),
        ("criterion_weights_v1", criterion_weights),
        ("template_match_score_v1", template_score),
        ("cost_vector_sum_v1", cost_sum),
        ("claim_support_v1", claim_supported),
        ("taint_join_v1", taint_join),
        ("novelty_v1", novelty_of),
        ("concurrency_tie_break_v1", tie_broken),
        ("reliance_status_v1", reliance_of),
        ("sufficiency_route_v1", sufficiency_of),
        ("health_status_v1", health_of),
        ("capability_coverage_v1", coverage_of),
        ("pattern_c_resolution_v1", chain_of),
        ("pattern_distance_v1", distance_of),
        ("nearest_pattern_v1", nearest_of),
        ("improvement_v1", improvement_of),
        ("source_taint_v1", source_taint_of),
        ("workspace_holding_v1", holding_of),
    ];
    for (id, derived) in pairs {
        let ready = registry::ready(id).unwrap().unwrap();
        let mut draw = Draw::new(7);
        let (mut values, mut refusals) = (BTreeSet::new(), BTreeSet::new());
        let (mut compared, mut drawn) = (0, 0);
        while compared < CASES {
            drawn += 1;
            assert!(drawn < CASES * 20, "{id} takes only {compared} of {drawn}");
            let inputs = fitted(id, generated::inputs(&mut draw, ready.spec.inputs));
            let found = evaluate(ready, &inputs);
            if found.as_ref().is_err_and(is_before_the_text) {
                continue;
            }
            compared += 1;
            let default = |input: &'static str| {
                let own = ready.spec.inputs.iter().find(|one| one.name == input)?.default?;
                countersign_record::json::parse(own.as_bytes()).ok()
            };
            let given: Vec<Json> = ready
                .spec
                .inputs
                .iter()
                .map(|input| {
                    inputs.get(input.name).cloned().or_else(|| default(input.name)).unwrap_or(Json::Null)
                })
                .collect();
            let given: Vec<Value<'_>> = given.iter().map(Value::from).collect();
            let told = |number: f64| rounded(ready.spec.rounding, number);
            let expected = derived(&given).map_err(stopped).map(|value| value.json(&told).unwrap());
            match (&found, &expected) {
                (Ok(found), Ok(expected)) => {
                    assert_eq!(found.value, *expected, "{id} {inputs:?}");
                    values.insert(countersign_record::json::to_text(expected).unwrap());
                }
                (Err(found), Err(expected)) => {
                    assert_eq!(said(id, found), said(id, expected), "{id} {inputs:?}");
                    refusals.insert(said(id, found));
                }
                (found, expected) => panic!("{id} {inputs:?}: {found:?} and not {expected:?}"),
            }
        }
        assert!(values.len() > 2, "{id}: {values:?}");
        let least = REFUSALS.iter().find(|(one, _)| *one == id).map_or(0, |(_, least)| *least);
        assert!(refusals.len() >= least, "{id}: {refusals:?}");
    }
}

/// How many refusals by a text are seen at least.
const REFUSALS: [(&str, usize); 4] = [
    ("quality_index_v1", 2),
    ("criterion_weights_v1", 6),
    ("template_match_score_v1", 5),
    ("cost_vector_sum_v1", 2),
];

/// The components that count for nothing where one counts for all.
const REST: &str = r#""semantic_intent_match":0,"input_contract_match":0,"output_contract_match":0,"capability_availability_match":0,"entity_context_match":0,"user_preference_match":0,"prior_assessment_score":0,"recency_or_staleness_score":0"#;

/// Whether inputs are refused by their shape, or because they do not go together.
fn is_before_the_text(refused: &NotEvaluated) -> bool {
    match refused {
        NotEvaluated::Missing { .. } => true,
        NotEvaluated::Input(wrong) => {
            wrong.how != How::Together || wrong.message.starts_with("must be so that")
        }
        NotEvaluated::ZeroDenominator | NotEvaluated::Output(_) | NotEvaluated::Kind(_) => false,
    }
}

/// What is said of inputs that are refused. Of several costs in another unit a text may name another one.
fn said(id: &str, refused: &NotEvaluated) -> String {
    let text = if id == "cost_vector_sum_v1" { String::new() } else { refused.to_string() };
    format!("{:?} {text}", refused.code())
}

/// What belongs together fits in most cases: else nearly all would be refused.
fn fitted(id: &str, mut inputs: Object) -> Object {
    match id {
        "template_match_score_v1" => return fitting_template(inputs),
        "cost_vector_sum_v1" => return fitting_costs(inputs),
        _other => {}
    }
    let length = |inputs: &Object, name: &str| inputs.get(name).and_then(Json::as_array).map(<[Json]>::len);
    if let (Some(one), Some(other)) = (length(&inputs, "vector"), length(&inputs, "other_vector")) {
        for name in ["vector", "other_vector"] {
            let items = inputs.get(name).and_then(Json::as_array).unwrap();
            let items = items[..one.min(other)].to_vec();
            inputs.insert(name, Json::Array(items));
        }
    }
    for name in ["features", "other_features"] {
        if let Some(Json::Array(items)) = inputs.get(name) {
            let items: BTreeSet<&str> = items.iter().filter_map(Json::as_str).collect();
            let items = Json::Array(items.into_iter().map(Json::from).collect());
            inputs.insert(name, items);
        }
    }
    if let Some(Json::Array(parts)) = inputs.get("parts") {
        let share = Number::try_from(1.0 / parts.len().max(1) as f64).unwrap();
        let mut parts = parts.clone();
        for part in &mut parts {
            let Json::Object(part) = part else { continue };
            part.insert("share", Json::Number(share.clone()));
        }
        inputs.insert("parts", Json::Array(parts));
    }
    inputs
}

fn number_of(json: &Json) -> f64 {
    crate::member::number(json).unwrap()
}

/// Whether two counts are the same.
fn is(one: f64, other: f64) -> bool {
    one.total_cmp(&other).is_eq()
}

fn json_of(number: f64) -> Json {
    Json::Number(Number::try_from(number).unwrap())
}

/// Scores, penalties and caps are drawn up to 3: three times out of four all of them are made to fit, else one kind is not.
fn fitting_template(mut inputs: Object) -> Object {
    let kept = number_of(inputs.get("hard_veto_count").unwrap());
    let third = |json: &Json| json_of(number_of(json) / 3.0);
    if !is(kept, 1.0) {
        let Some(Json::Object(components)) = inputs.get("components") else { panic!("no components") };
        let components: Object = components.iter().map(|(name, score)| (name, third(score))).collect();
        inputs.insert("components", components);
    }
    if !is(kept, 2.0) {
        let penalty = json_of(number_of(inputs.get("soft_penalty_sum").unwrap()) / 30.0);
        inputs.insert("soft_penalty_sum", penalty);
    }
    let Some(Json::Object(formula)) = inputs.get("formula") else { panic!("no formula") };
    let mut formula = formula.clone();
    for (name, count) in [("hard_veto_cap", 3.0), ("soft_penalty_max_total", 4.0)] {
        if !is(kept, count) {
            let fitting = third(formula.get(name).unwrap());
            formula.insert(name, fitting);
        }
    }
    if is(kept, 5.0) {
        let Some(Json::Object(weights)) = inputs.get("weights") else { panic!("no weights") };
        let none: Object = weights.iter().map(|(name, _)| (name, json_of(0.0))).collect();
        inputs.insert("weights", none);
    } else if !is(kept, 6.0) {
        // The formula's own weights, which are all there are.
        let own = formula.get("component_weights").unwrap().clone();
        let Json::Object(own_parts) = &own else { panic!("no weights") };
        let Some(Json::Object(components)) = inputs.get("components") else { panic!("no components") };
        let all: Object = own_parts
            .iter()
            .map(|(name, _)| (name, components.get(name).cloned().unwrap_or(json_of(0.5))))
            .collect();
        inputs.insert("components", all);
        inputs.insert("weights", own);
    }
    inputs.insert("formula", formula);
    inputs
}

/// Quantiles in order, amounts in their own unit, cases of each part: but for what the seed leaves as it is.
fn fitting_costs(mut inputs: Object) -> Object {
    let kept = inputs.get("seed").map_or(0.0, number_of);
    let Some(Json::Array(vectors)) = inputs.get("vectors") else { panic!("no vectors") };
    let mut vectors = vectors.clone();
    for vector in &mut vectors {
        let Json::Object(vector) = vector else { continue };
        let Some(Json::Object(components)) = vector.get("components") else { panic!("no components") };
        // Not all have all, so that some stand alone.
        let components: Object = components
            .iter()
            .zip(0_u32..)
            .filter(|(_, at)| !(*at + vectors_mark(vector)).is_multiple_of(3))
            .map(|((name, amount), _)| (name, fitting_amount(name, amount, kept)))
            .collect();
        vector.insert("components", components);
    }
    if let Some(Json::Array(samples)) = inputs.get("samples") {
        let mut samples = samples.clone();
        samples.resize(vectors.len(), samples.first().cloned().unwrap_or(Json::Object(Object::new())));
        let length = |json: &Json| json.as_array().map_or(0, <[Json]>::len);
        let least = samples
            .iter()
            .filter_map(Json::as_object)
            .flat_map(Object::iter)
            .map(|(_, one)| length(one))
            .min();
        for sample in &mut samples {
            let Json::Object(sample) = sample else { continue };
            if !is(kept, 3.0) {
                *sample = sample
                    .iter()
                    .map(|(name, cases)| {
                        (name, Json::Array(cases.as_array().unwrap()[..least.unwrap_or(0)].to_vec()))
                    })
                    .collect();
            }
        }
        inputs.insert("samples", Json::Array(samples));
    }
    inputs.insert("vectors", Json::Array(vectors));
    inputs
}

/// A number that differs between vectors.
fn vectors_mark(vector: &Object) -> u32 {
    let text = countersign_record::json::to_text(&Json::Object(vector.clone())).unwrap();
    text.bytes().map(u32::from).sum()
}

fn fitting_amount(name: &str, amount: &Json, kept: f64) -> Json {
    let Json::Object(amount) = amount else { panic!("no amount") };
    let mut amount = amount.clone();
    let names: Vec<&str> = ["expected", "p50", "p90", "p99", "hard_cap"]
        .into_iter()
        .filter(|name| amount.get(name).is_some())
        .collect();
    let mut numbers: Vec<f64> = names.iter().map(|name| number_of(amount.get(name).unwrap())).collect();
    numbers.sort_by(f64::total_cmp);
    for (name, number) in names.into_iter().zip(numbers) {
        amount.insert(name, json_of(number));
    }
    if !is(kept, 2.0) {
        amount.insert("unit", name);
    }
    Json::Object(amount)
}

/// Words of a closed list that are an input of their own.
fn chosen_all<T>(value: &Value<'_>, read: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, Stop> {
    items(value)?.iter().map(|one| word(one, "the list", &read)).collect()
}

fn claim_supported<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [policy, anchors] = of else { return Ok(Value::Absent) };
    let supported = |support: claim_support::Support| {
        Value::from([
            ("derived_support_status", support.status.as_str().into()),
            ("decisive_reason", support.status.reason().into()),
            ("needs_review", support.needs_review.into()),
        ])
    };
    if *anchors == Value::Absent {
        return Ok(supported(claim_support::NOT_CHECKED));
    }
    let policy = given(policy)?;
    let required = members(policy.get("required_for_supported"))?;
    let policy = claim_support::Policy {
        direct_min: required.count("min_direct_supporting_anchors")?.unwrap_or_default(),
        require_verified: required.flag("require_verified_source")?,
        allow_stale: required.flag("allow_stale_source")?,
        allow_contradicting: required.flag("allow_contradicting_anchor")?,
        partial: policy.word("partial_support_rule", claim_support::PartialRule::find)?,
        contradiction: policy.word("contradiction_rule", claim_support::ContradictionRule::find)?,
    };
    let mut all = Vec::new();
    for one in items(anchors)? {
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
    Ok(supported(claim_support::derive(&policy, all)))
}

fn taint_join<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [inputs, sanitization] = of else { return Ok(Value::Absent) };
    let sanitization = match sanitization {
        Value::Absent => None,
        one => Some(taint::Sanitization {
            input: given(one)?.word("input_taint", taint::Taint::find)?,
            output: given(one)?.word("output_taint", taint::Taint::find)?,
        }),
    };
    Ok(taint::derived(chosen_all(inputs, taint::Taint::find)?, sanitization).as_str().into())
}

fn novelty_of<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [distance, fallback, baseline, threshold] = of else { return Ok(Value::Absent) };
    let fallback = chosen(fallback, novelty::Fallback::find)?;
    let (distance, baseline) = (number(distance).ok(), number(baseline).ok());
    let found = novelty::assess(distance, fallback, baseline, number(threshold)?);
    Ok(Value::from([
        ("novelty_score", optional(found.score)),
        ("similarity_score", optional(found.similarity)),
        ("forces_fresh_reasoning", found.forces_fresh_reasoning.into()),
        ("triggers_task_agent", found.triggers_task_agent.into()),
    ]))
}

fn tie_broken<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [profiles] = of else { return Ok(Value::Absent) };
    let mut all = Vec::new();
    for one in items(profiles)? {
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
            refused(Some("concurrency_tie_breaker_missing_final_key"), &["profiles"], error.to_string())
        }
    }
}

fn reliance_of<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [limitations, packages, failed, blockers, contradicted, open_calls] = of else {
        return Ok(Value::Absent);
    };
    let limitations = chosen_all(limitations, reliance::Limitation::find)?.into_iter();
    let mut facts: BTreeSet<reliance::Fact> = limitations.map(reliance::Fact::Limited).collect();
    if whole_number(packages)? == 0 {
        facts.insert(reliance::Fact::EvidenceMissing);
    }
    let counted = [
        (failed, reliance::Fact::ChainFailed),
        (blockers, reliance::Fact::LiveBlocker),
        (contradicted, reliance::Fact::ClaimContradicted),
        (open_calls, reliance::Fact::HardCallOpen),
    ];
    for (count, fact) in counted {
        if whole_number(count)? > 0 {
            facts.insert(fact);
        }
    }
    let limitations = reliance::limitations(&facts).into_iter().map(|one| one.as_str().into()).collect();
    let status = reliance::status(&facts).as_str();
    Ok(Value::from([("status", status.into()), ("unresolved_limitations", Value::List(limitations))]))
}

fn sufficiency_of<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [triggers, known] = of else { return Ok(Value::Absent) };
    let triggers = chosen_all(triggers, sufficiency::Trigger::find)?;
    let known = given(known)?;
    let known = sufficiency::Known {
        policy_is_alterable: known.flag("policy_is_alterable")?,
        has_information_route: known.flag("has_information_route")?,
        has_other_verifier: known.flag("has_other_verifier")?,
        precondition_is_information: known.flag("precondition_is_information")?,
        on_cycle: match known.get("on_cycle_detected") {
            Json::Null => sufficiency::OnCycle::HardCall,
            value => word(value, "on_cycle_detected", sufficiency::OnCycle::find)?,
        },
        has_variation_left: known.flag("has_variation_left")?,
        has_unlockable_candidate: known.flag("has_unlockable_candidate")?,
        attempts: known.count("attempts")?.unwrap_or_default(),
        attempts_max: known.count("max_total_attempts")?.unwrap_or(u64::MAX),
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

fn health_of<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [outcomes, blockers, open_calls, attention, limitations] = of else { return Ok(Value::Absent) };
    let mut signs: Vec<reliance::Sign> = Vec::new();
    signs.extend(chosen_all(outcomes, reliance::State::find)?.into_iter().map(reliance::Sign::Outcome));
    signs.extend(chosen_all(attention, reliance::Severity::find)?.into_iter().map(reliance::Sign::Attention));
    signs.extend(
        chosen_all(limitations, reliance::Limitation::find)?.into_iter().map(reliance::Sign::Limited),
    );
    let counted = [(blockers, reliance::Sign::LiveBlocker), (open_calls, reliance::Sign::HardCallOpen)];
    for (count, sign) in counted {
        if whole_number(count)? > 0 {
            signs.push(sign);
        }
    }
    Ok(Value::from([("health_status", reliance::health(signs).as_str().into())]))
}

fn coverage_of<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [required, available] = of else { return Ok(Value::Absent) };
    let mut offers: BTreeMap<&str, Vec<(sufficiency::Version<'_>, bool)>> = BTreeMap::new();
    for one in items(available)? {
        let one = members(one)?;
        let version = sufficiency::Version(one.maybe_text("version").unwrap_or_default());
        offers.entry(one.text("capability_id")?).or_default().push((version, one.flag("healthy")?));
    }
    let mut standings = Vec::new();
    for one in items(required)? {
        let one = members(one)?;
        let least = one.maybe_text("min_version").map(sufficiency::Version);
        let offers = offers.get(one.text("capability_id")?).map(Vec::as_slice).unwrap_or_default();
        standings.push(sufficiency::standing(least.as_ref(), offers));
    }
    Ok(Value::from([("coverage_state", sufficiency::coverage(&standings).as_str().into())]))
}

/// Whose result decided is told by another way than the function's: by the laws of the contract.
fn chain_of<'v>(of: &[Value<'v>]) -> Found<'v> {
    let found = pattern_c(of)?;
    let word = |name: &str| match found.member(name) {
        Some(Value::Text(word)) => word.into_owned(),
        _other => String::new(),
    };
    let Some(Value::Text(decisive)) = found.member("decisive_result_id") else { return Ok(found) };
    let results: Vec<&Json> = items(&of[0])?.iter().collect();
    let result = results.iter().find(|one| one.get("result_id") == Some(&Json::from(&*decisive))).unwrap();
    let is_evaluator = result.get("role") == Some(&"upstream_evaluator".into());
    let has_blocker =
        result.get("live_blocker_states").and_then(Json::as_array).unwrap().iter().any(|state| {
            let state = chain::FindingState::find(state.as_str().unwrap()).unwrap();
            state.is_live() && state != chain::FindingState::Contested
        });
    assert_ne!(result.get("role"), Some(&"observer".into()));
    match word("resolved_verdict").as_str() {
        "passed" => assert_eq!(result.get("verdict"), Some(&"passed".into())),
        "failed" => assert!(has_blocker || result.get("verdict") == Some(&"failed".into())),
        other => panic!("nobody decides for {other}"),
    }
    let both_pass = results.iter().all(|one| one.get("verdict") == Some(&"passed".into()));
    let roles: BTreeSet<&str> = results.iter().filter_map(|one| one.get("role")?.as_str()).collect();
    if both_pass && word("resolved_verdict") == "passed" && roles.contains("downstream_judge") {
        assert!(!is_evaluator, "on two passes the judge decides");
    }
    Ok(found)
}

fn reals(value: &Value<'_>) -> Result<Vec<f64>, Stop> {
    items(value)?.iter().map(|one| number(&Value::from(one))).collect()
}

fn distance_of<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [metric, one, other, features, other_features, parts] = of else { return Ok(Value::Absent) };
    let set = |value: &Value<'v>| -> BTreeSet<&'v str> {
        items(value).unwrap().iter().filter_map(Json::as_str).collect()
    };
    let found = match text(metric)? {
        "cosine_distance" => novelty::cosine(&reals(one)?, &reals(other)?),
        "euclidean_normalized" => novelty::euclidean_normalized(&reals(one)?, &reals(other)?),
        "jaccard" => Ok(novelty::jaccard(&set(features), &set(other_features))),
        _hybrid => {
            let part = |one: &Json| Ok((members(one)?.number("share")?, members(one)?.number("distance")?));
            novelty::hybrid(&items(parts)?.iter().map(part).collect::<Result<Vec<_>, Stop>>()?)
        }
    };
    Ok(found.unwrap().into())
}

fn nearest_of<'v>(of: &[Value<'v>]) -> Found<'v> {
    let pattern = |one: &'v Json| Ok((members(one)?.text("pattern_id")?, members(one)?.number("distance")?));
    let nearest = novelty::closest(&items(&of[0])?.iter().map(pattern).collect::<Result<Vec<_>, Stop>>()?);
    let state = if nearest.is_some() { "nearest_pattern_found" } else { "no_pattern_found" };
    Ok(Value::from([
        ("neighbor_state", state.into()),
        ("closest_pattern_id", nearest.map_or(Value::Absent, |(id, _)| id.into())),
        ("closest_pattern_distance", optional(nearest.map(|(_, distance)| distance))),
    ]))
}

fn improvement_of<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [attempts, least, window, epsilon] = of else { return Ok(Value::Absent) };
    let scored = |one: &Json| {
        let one = members(one)?;
        Ok(sufficiency::Scored {
            before: one.maybe_number("score_before"),
            after: one.maybe_number("score_after"),
        })
    };
    let attempts = items(attempts)?.iter().map(scored).collect::<Result<Vec<_>, Stop>>()?;
    let whole = |value| whole_number(value).map(|count| usize::try_from(count).unwrap());
    let (least, window) = (whole(least)?, whole(window)?);
    let word = match sufficiency::improvement(&attempts, least, window, number(epsilon)?) {
        sufficiency::Improvement::NotYetKnown => "not_yet_known",
        sufficiency::Improvement::Material => "material",
        sufficiency::Improvement::NoneMaterial => "none_material",
    };
    Ok(Value::from([("improvement", word.into())]))
}

fn source_taint_of<'v>(of: &[Value<'v>]) -> Found<'v> {
    let [default, required, basis, lineage] = of else { return Ok(Value::Absent) };
    let required = chosen_all(required, taint::TrustBasis::find)?;
    let default = taint::KindDefault {
        source_kind: "",
        taint: chosen(default, taint::Taint::find)?,
        required: &required,
        allow_override: false,
    };
    let basis = text(basis).ok().and_then(taint::TrustBasis::find);
    let lineage = text(lineage).ok().and_then(taint::Taint::find);
    Ok(taint::effective(&default, basis, lineage).as_str().into())
}

fn holding_of<'v>(of: &[Value<'v>]) -> Found<'v> {
    let part = |one: &'v Json| {
        let one = members(one)?;
        Ok(taint::Holding {
            taint: one.word("taint_class", taint::Taint::find)?,
            data_class: one.word("data_class", taint::DataClass::find)?,
            privileged: one.flag("privileged")?,
            matter: one.maybe_text("matter_id"),
        })
    };
    let whole = taint::aggregate(items(&of[0])?.iter().map(part).collect::<Result<Vec<_>, Stop>>()?).unwrap();
    Ok(Value::from([
        ("taint_class", whole.taint.as_str().into()),
        ("data_class", whole.data_class.as_str().into()),
        ("privileged", whole.privileged.into()),
        ("matter_id", whole.matter.map_or(Value::Absent, Value::from)),
    ]))
}

/// A refusal names the part that is wrong, and says what it must be.
#[test]
fn a_refusal_is_of_the_part_that_is_wrong() {
    let refused = |id: &str, inputs: &str| {
        let inputs = countersign_record::json::parse(inputs.as_bytes()).unwrap();
        let error = evaluate(registry::ready(id).unwrap().unwrap(), inputs.as_object().unwrap()).unwrap_err();
        (error.to_string(), error.code())
    };
    let template = |part: &str, weight: &str, cap: &str| {
        let formula = format!(
            r#"{{"component_weights":{{"task_type_match":2,{REST}}},"hard_veto_cap":{cap},"soft_penalty_max_total":0.5}}"#
        );
        refused(
            "template_match_score_v1",
            &format!(
                r#"{{"components":{{"task_type_match":{part},{REST}}},"weights":{{{weight},{REST}}},"soft_penalty_sum":0,"hard_veto_count":0,"formula":{formula}}}"#
            ),
        )
    };
    let weights = |criteria: &str| {
        refused(
            "criterion_weights_v1",
            &format!(
                r#"{{"criteria":[{criteria}],"config":{{"unanchored_llm_judgment_policy":"indeterminate","default_weight_policy":"from_criterion_weight"}}}}"#
            ),
        )
    };
    let good = r#"{"criterion_id":"a","scoring_basis":"human_label","weight":1}"#;
    let cases = [
        (
            template("7", r#""task_type_match":2"#, "0.3"),
            "the input components/task_type_match must be a number from 0 to 1",
            "template_match_component_out_of_range",
        ),
        (
            template("1", r#""task_type_match":-2"#, "0.3"),
            "the input weights/task_type_match must be a number from zero up",
            "template_match_weight_invalid",
        ),
        (
            template("1", r#""task_type_match":0"#, "0.3"),
            "the input weights weigh nothing together",
            "template_match_total_weight_zero",
        ),
        (
            template("1", r#""task_type_match":2"#, "3"),
            "the input formula/hard_veto_cap must be a number from 0 to 1",
            "template_match_hard_veto_cap_invalid",
        ),
        (
            weights(&format!(r#"{good},{{"criterion_id":"b","scoring_basis":"human_label"}}"#)),
            "the input criteria/1 has no weight of its own",
            "criterion_weight_missing_under_from_criterion_weight",
        ),
        (
            weights(&format!("{good},{good}")),
            "the input criteria/1 stands twice, or weighs what is no number from zero up",
            "criterion_weight_invalid",
        ),
        (
            weights(&format!(r#"{good},{{"criterion_id":"b","scoring_basis":"unanchored_llm_judgment"}}"#)),
            "the input criteria/1 is judged by a model without anything to hold on to",
            "unanchored_required_criterion_indeterminate",
        ),
    ];
    for ((message, code), expected, expected_code) in cases {
        assert_eq!((message.as_str(), code), (expected, Some(expected_code)));
    }
}
