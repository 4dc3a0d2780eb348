//! Scores of criteria, their weights, and the index that is made of them.
//! Owns: what these records must be. Must not: count; `score` does.

use crate::case::bare;
use crate::formula::{Gathered, Ungathered, missing, receipt_of};
use crate::found::Found;
use crate::look::Round;
use crate::report::Check;
use crate::score::Scored;
use crate::task::Criterion;
use crate::walk::Walk;
use crate::workspace;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_govern::types::wire::Wire;
use countersign_govern::world::Record;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};

/// The members of an index that its outcome fixes.
fn fixed(round: &Round<'_>) -> [(&'static str, String); 4] {
    [
        ("aggregation_method", round.outcome.aggregation().into()),
        ("missing_dimension_policy", round.outcome.missing().into()),
        ("metric_semantics_version", "1.0.0".into()),
        ("schema_version", "1.1".into()),
    ]
}

/// What is published of an index: the value of the formula, with how it was made.
pub(crate) fn shown(walk: &Walk<'_, '_>, value: Json) -> Json {
    let mut members = value.as_object().cloned().unwrap_or_default();
    for (name, value) in walk.round.iter().flat_map(fixed) {
        members.insert(name, value);
    }
    members.into()
}

const NO_ROUND: &str = "it belongs to no look at an outcome";

/// The count that the next value of a look is the share of.
pub(crate) fn share_inputs(walk: &Walk<'_, '_>) -> Result<Gathered, Ungathered> {
    let Some(round) = &walk.round else { return missing(NO_ROUND) };
    let Some(scores) = &round.scores else { return Err(Ungathered::Withheld) };
    let next = round.valued().nth(round.observed);
    let Some((criterion, Scored::Value { met, of, .. })) =
        next.and_then(|at| Some((round.criteria.get(at)?, scores.get(at)?)))
    else {
        return missing("no criterion of the look has a value here");
    };
    let number = |count: &u64| count.write().unwrap_or(Json::Null);
    let inputs = Object::from([("met", number(met)), ("wanted", number(of))]);
    let input_refs = Vec::from([format!("criterion:{}", walk.case.own(criterion.id())), round.version_ref()]);
    Ok(Gathered { inputs, input_refs })
}

/// A value is the share of what was counted.
pub(crate) fn value<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    match share_inputs(walk) {
        Ok(gathered) => {
            let value = walk.formulas.value("met_share_v1", &gathered.inputs);
            found.must(Check::Criteria, record, "value", value);
            found.must_say(Check::Criteria, record, "unit", "ratio");
        }
        Err(Ungathered::Withheld) => found.withheld(Check::Criteria),
        Err(Ungathered::Missing(why)) => walk.underivable(Check::Criteria, record, why, found),
    }
}

/// An observation names the criterion, the value and its receipt.
pub(crate) fn observation<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let check = Check::Criteria;
    let (_, class, _) = workspace::label(walk.case, record.seq());
    let value = walk.case.last("MetricValue", record.seq()).map(|one| format!("metric_value:{}", one.id()));
    let receipt = value.as_ref().and_then(|value| receipt_of(walk, value, record.seq()));
    let own = walk.case.own("");
    let Some(round) = &mut walk.round else { return walk.underivable(check, record, NO_ROUND, found) };
    let criterion = match &round.scores {
        Some(_) => {
            round.valued().nth(round.observed).and_then(|at| round.criteria.get(at)).map(|one| one.id())
        }
        None => record.json().text("subject_ref").and_then(|text| bare(text).strip_prefix(own.as_str())),
    };
    let Some(criterion) = criterion else {
        let message = "no criterion of the look has a value here";
        return found.about(Code::VerifyDerivation, check, record, "", message);
    };
    let subject = format!("criterion:{own}{criterion}");
    round.observed += 1;
    found.must_say(check, record, "subject_ref", &subject);
    found.must(check, record, "value_ref", value.map(Json::from));
    found.must(check, record, "formula_eval_receipt_ref", receipt.map(Json::from));
    found.must_say(check, record, "metric_id", "met_share_v1");
    found.must_say(check, record, "data_class", class);
}

/// What the weights of an outcome's criteria are derived from.
pub(crate) fn weight_inputs(
    walk: &Walk<'_, '_>,
    config: &str,
    receipt: Record<'_>,
) -> Result<Gathered, Ungathered> {
    let Some(round) = &walk.round else { return missing(NO_ROUND) };
    if config != walk.case.own(&format!("{}.scoring", round.outcome.id())) {
        return missing(format!("{config} is not of the outcome that is looked at"));
    }
    let find = |kind: &str, id: &str| walk.case.before(kind, id, receipt.seq()).map(|one| one.json().clone());
    let Some(config) = find("OutcomeComplianceScoringConfig", config) else {
        return missing(format!("there is no {config}"));
    };
    let ids: Vec<String> = round.criteria.iter().map(|one| walk.case.own(one.id())).collect();
    let criteria: Option<Vec<Json>> = ids.iter().map(|id| find("Criterion", id)).collect();
    let Some(criteria) = criteria else { return missing("a criterion is not there") };
    let inputs = Object::from([("criteria", Json::Array(criteria)), ("config", config)]);
    Ok(Gathered { inputs, input_refs: ids.iter().map(|id| format!("criterion:{id}")).collect() })
}

/// What the index of a look is derived from.
pub(crate) fn index_inputs(walk: &Walk<'_, '_>, at: Record<'_>) -> Result<Gathered, Ungathered> {
    let Some(round) = &walk.round else { return missing(NO_ROUND) };
    let Some(scores) = &round.scores else { return Err(Ungathered::Withheld) };
    let config = walk.case.own(&format!("{}.scoring", round.outcome.id()));
    let weights = weight_inputs(walk, &config, at)?;
    let weights = walk.formulas.value("criterion_weights_v1", &weights.inputs).unwrap_or(Json::Null);
    let mut observed =
        walk.case.until("MetricObservation", at.seq()).filter(|one| one.seq() > round.chain.seq());
    let (mut dimensions, mut input_refs) = (Vec::new(), Vec::new());
    for (criterion, score) in round.criteria.iter().zip(scores) {
        let id = walk.case.own(criterion.id());
        input_refs.push(format!("criterion:{id}"));
        let observation = match score {
            Scored::Value { .. } => observed.next(),
            Scored::Nothing(_) | Scored::Excluded => None,
        };
        let Some(weight) = weights.get(&id) else { continue };
        let mut dimension = Object::from([
            ("criterion_id", Json::from(id.as_str())),
            ("weight", weight.clone()),
            ("required", criterion.is_required().into()),
            ("threshold", criterion.threshold()),
        ]);
        if let Scored::Value { met, of, .. } = score {
            let number = |count: &u64| count.write().unwrap_or(Json::Null);
            let share = Object::from([("met", number(met)), ("wanted", number(of))]);
            dimension.insert("score", walk.formulas.value("met_share_v1", &share).unwrap_or(Json::Null));
            let receipt = observation.and_then(|one| one.json().text("formula_eval_receipt_ref"));
            input_refs.extend(receipt.map(String::from));
        }
        dimensions.push(Json::Object(dimension));
    }
    let inputs = Object::from([
        ("dimensions", Json::Array(dimensions)),
        ("aggregation_method", round.outcome.aggregation().into()),
        ("missing_dimension_policy", round.outcome.missing().into()),
        ("pass_threshold", round.outcome.threshold()),
    ]);
    Ok(Gathered { inputs, input_refs })
}

/// Whether the scores of a look come to an index for sure. Told without the formula: a packet that leaves the index out may leave that
/// out, too.
pub(crate) fn is_owed(round: &Round<'_>) -> bool {
    let Some(scores) = &round.scores else { return false };
    let counts = |(criterion, score): (&Criterion<'_>, &Scored)| match score {
        Scored::Value { .. } => round.outcome.counts(*criterion),
        Scored::Nothing(_) | Scored::Excluded if criterion.basis() == "unanchored_llm_judgment" => false,
        Scored::Nothing(_) | Scored::Excluded => match round.outcome.missing() {
            "fail_required" => criterion.is_required() && round.outcome.counts(*criterion),
            _kept => round.outcome.counts(*criterion),
        },
    };
    round.criteria.iter().zip(scores).any(counts)
}

/// An index is what the formula makes of the scores.
pub(crate) fn index<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let check = Check::Quality;
    let gathered = match index_inputs(walk, record) {
        Ok(gathered) => gathered,
        Err(Ungathered::Withheld) => return found.withheld(check),
        Err(Ungathered::Missing(why)) => return walk.underivable(check, record, why, found),
    };
    let value = walk.formulas.value("quality_index_v1", &gathered.inputs).unwrap_or(Json::Null);
    let mut expected = shown(walk, value).as_object().cloned().unwrap_or_default();
    let receipt = receipt_of(walk, &format!("quality_index:{}", record.id()), record.seq());
    expected.insert("formula_eval_receipt_ref", receipt.map_or(Json::Null, Json::from));
    found.must_be(check, record, &expected, &[]);
    if let Some(round) = &mut walk.round {
        round.passed = record.json().text("derived_pass_status").map(String::from);
    }
}
