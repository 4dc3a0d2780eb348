//! What a run costs.
//! Owns: which costs follow from others, and what those must be. Must not: measure; what a piece of work cost is told by who did it.

mod foreseen;

use crate::case::{Case, bare};
use crate::formula::{Gathered, Ungathered, missing, receipt_of};
use crate::found::{Found, texts};
use crate::handed::{self, Which};
use crate::report::Check;
use crate::task::{Outcome, decimal};
use crate::walk::Walk;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_govern::types::cost::CostDimension as Dimension;
use countersign_govern::types::wire::Wire;
use countersign_govern::world::Record;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};

const CHECK: Check = Check::Costs;
/// What is said of a cost that nobody saw.
const LOST: &str = "nobody saw what was asked, so what was foreseen counts as spent";
/// Calls that may be made outside where the task says nothing.
const CALLS_MAX: &str = "1000";

/// What a sum is made of: of what is foreseen, every question; of what was spent, every piece of work.
fn parts(case: &Case<'_>, id: &str, place: u64) -> Vec<String> {
    if id != case.own("planned.total") {
        let spent = case.until("TaskCostRecord", place);
        return spent.filter_map(|one| one.json().text("actual_cost_vector_ref").map(String::from)).collect();
    }
    let mut words = Vec::new();
    for artifact in case.task.artifacts().filter(|one| one.0.at("from").is_none()) {
        let sections: Vec<&str> =
            artifact.0.list("sections").iter().filter_map(|one| one.text("id")).collect();
        let sections = if sections.is_empty() { Vec::from(["whole"]) } else { sections };
        words.extend(sections.into_iter().map(|section| format!("draft.{}.{section}", artifact.id())));
    }
    words.extend(
        case.task.outcomes().filter(|one| judged(case, *one) > 0).map(|one| format!("judge.{}", one.id())),
    );
    if words.is_empty() {
        words.push("nothing".to_string());
    }
    words.into_iter().map(|word| format!("cost_vector:{}", case.own(&format!("planned.{word}")))).collect()
}

/// How many criteria of an outcome a model judges.
fn judged(case: &Case<'_>, outcome: Outcome<'_>) -> usize {
    let has_judge = case.task.0.text("work.judge") == Some("model");
    outcome.criteria().filter(|one| has_judge && one.has_rubric()).count()
}

/// What several costs come to is derived from all that there are.
pub(crate) fn inputs_of(walk: &Walk<'_, '_>, id: &str, receipt: Record<'_>) -> Result<Gathered, Ungathered> {
    let named = parts(walk.case, id, receipt.seq());
    let sum = walk.case.world.versions("CostVector", id).next();
    if sum.is_none_or(|sum| sum.seq() != receipt.seq() + 1) {
        return missing(format!("the sum {id} does not stand behind its receipt"));
    }
    let mut vectors = Vec::new();
    for part in &named {
        let Some(vector) = walk.case.before("CostVector", bare(part), receipt.seq()) else {
            return missing(format!("{part}, which {id} is made of, is not there"));
        };
        vectors.push(vector.json().clone());
    }
    let inputs = Object::from([("vectors", Json::Array(vectors))]);
    Ok(Gathered { inputs, input_refs: named })
}

/// A cost is a cap of the task, a sum of others, or what somebody measured or thinks.
pub(crate) fn vector<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let case = walk.case;
    if record.id() == case.own("leave.cap") {
        return found.must_be(CHECK, record, &cap(walk, record), &[]);
    }
    let Some(receipt) = receipt_of(walk, &format!("cost_vector:{}", record.id()), record.seq()) else {
        found.must(CHECK, record, "formula_eval_receipt_ref", None);
        return foreseen::single(walk, record, found);
    };
    let evaluated = case.before("FormulaEvaluationReceipt", bare(&receipt), record.seq());
    let gathered = evaluated.map(|one| inputs_of(walk, record.id(), one));
    let value = match gathered {
        Some(Ok(gathered)) => walk.formulas.value("cost_vector_sum_v1", &gathered.inputs),
        Some(Err(_)) | None => None,
    };
    let mut expected = value.as_ref().and_then(Json::as_object).cloned().unwrap_or_default();
    expected.insert("formula_eval_receipt_ref", receipt.to_string());
    expected.insert("schema_version", "1.0");
    found.must_be(CHECK, record, &expected, &["cost_vector_id"]);
}

/// The most that asking providers may cost.
fn cap(walk: &Walk<'_, '_>, record: Record<'_>) -> Object {
    let calls = walk.case.task.0.at("budget.external_api_calls").cloned();
    let calls = match calls {
        Some(Json::String(text)) => decimal(&text),
        Some(other) => other,
        None => decimal(CALLS_MAX),
    };
    let amount = Object::from([
        ("expected", decimal("0")),
        ("hard_cap", calls),
        ("unit", "external_api_calls".into()),
    ]);
    let components = Object::from([("external_api_calls", Json::from(amount))]);
    Object::from([
        ("cost_vector_id", record.id().into()),
        ("components", components.into()),
        ("basis", "heuristic".into()),
        ("estimator_confidence", "uncalibrated".into()),
        ("assumptions", texts(&["the cap of the task, or a fixed one where it has none"])),
        ("schema_version", "1.0".into()),
    ])
}

/// What was foreseen: the sum of what each question would cost, and a revision of everything besides.
pub(crate) fn forecast<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let case = walk.case;
    let named = |word: &str| format!("cost_vector:{}", case.own(&format!("planned.{word}")));
    found.must_say(CHECK, record, "planned_run_id", case.run.as_str());
    found.must_say(CHECK, record, "planned_cost_vector_ref", &named("total"));
    found.must_list(CHECK, record, "optional_helper_cost_vector_refs", &[named("revision")]);
    let is_judged = |one: &Outcome<'_>| judged(case, *one) > 0;
    let judged = case.task.outcomes().filter(is_judged).map(|one| named(&format!("judge.{}", one.id())));
    let judged: Vec<String> =
        judged.filter(|one| case.before("CostVector", bare(one), record.seq()).is_some()).collect();
    found.must_list(CHECK, record, "non_degradable_mode_cost_vector_refs", &judged);
    found.must_list(CHECK, record, "skipped_if_budget_constrained", &["revision".to_string()]);
    found.must_say(CHECK, record, "forecast_confidence", "uncalibrated");
}

/// What a piece of work cost stands right before it; which time its module works is counted.
pub(crate) fn record<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, json, place) = (walk.case, record.json(), record.seq());
    let before = case.last("CostVector", place).filter(|one| one.seq() + 1 == place);
    let actual = before.map(|one| format!("cost_vector:{}", one.id()).into());
    found.must(CHECK, record, "actual_cost_vector_ref", actual);
    let module = json.text("module_id").unwrap_or_default();
    let times = case.until("TaskCostRecord", place).filter(|one| one.json().is("module_id", module)).count();
    found.must(CHECK, record, "activation_seq", (times as u64 + 1).write());
    let which = handed::piece(case, walk.told, record);
    let is_lost = matches!(&which, Which::Piece(piece) if piece.is_lost);
    match before {
        Some(before) if is_lost => foreseen::thought(before, LOST, found),
        Some(before) => {
            found.must_say(CHECK, before, "basis", "measured_actual");
            found.must_say(CHECK, before, "estimator_confidence", "calibrated");
            found.must_list(CHECK, before, "assumptions", &[]);
        }
        None => {}
    }
    match which {
        Which::Piece(piece) => {
            let planned = piece.planned.map(|word| case.own(&format!("planned.{word}")));
            let planned = planned.filter(|id| case.before("CostVector", id, place).is_some());
            let planned = planned.map(|id| format!("cost_vector:{id}").into());
            found.must_say(CHECK, record, "module_id", &piece.module);
            found.must_say(CHECK, record, "cost_class", piece.class);
            found.must(CHECK, record, "planned_cost_vector_ref", planned);
            if let Some(before) = before {
                found.must(CHECK, before, "components", Some(piece.components));
            }
        }
        Which::None => {
            let message = "what the stage handed over does not tell of this work";
            found.about(Code::VerifyDerivation, CHECK, record, "actual_cost_vector_ref", message);
        }
        Which::Withheld => found.withheld(CHECK),
        Which::Foreign => found.told(CHECK),
    }
}

/// Amounts by dimension, in millionths, in the order of the contract.
pub(crate) type Amounts = BTreeMap<Dimension, u64>;

/// A number in millionths.
fn micros(number: &Json) -> Option<u64> {
    let Json::Number(number) = number else { return None };
    let literal = number.literal();
    let (whole, rest) = literal.split_once('.').unwrap_or((&literal, ""));
    let padded = format!("{rest:0<6}");
    whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(padded.parse().ok()?)
}

/// What costs come to, at most as far as that is said.
pub(crate) fn most<'c>(all: impl Iterator<Item = Record<'c>>) -> Amounts {
    let mut sums = Amounts::new();
    for (unit, part) in all.flat_map(|one| one.json().members("components")).flat_map(Object::iter) {
        let most = part.at("hard_cap").or_else(|| part.at("expected")).and_then(micros);
        if let Some((unit, most)) = Dimension::find(unit).zip(most) {
            let sum = sums.entry(unit).or_default();
            *sum = sum.saturating_add(most);
        }
    }
    sums
}

pub(crate) fn literal(amount: u64) -> String {
    let digits = format!("{}.{:06}", amount / 1_000_000, amount % 1_000_000);
    digits.trim_end_matches('0').trim_end_matches('.').to_string()
}

fn add(all: &mut Amounts, vector: Record<'_>) {
    let parts = vector.json().members("components").into_iter().flat_map(Object::iter);
    for (unit, part) in parts {
        if let Some((unit, amount)) = Dimension::find(unit).zip(part.at("expected").and_then(micros)) {
            let sum = all.entry(unit).or_default();
            *sum = sum.saturating_add(amount);
        }
    }
}

fn words(dimension: Dimension) -> String {
    dimension.as_str().replace('_', " ")
}

/// What was spent before a place.
fn spent(case: &Case<'_>, place: u64) -> Amounts {
    let mut spent = Amounts::new();
    for one in case.until("TaskCostRecord", place) {
        let vector = one.json().text("actual_cost_vector_ref").map(bare);
        if let Some(vector) = vector.and_then(|id| case.before("CostVector", id, place)) {
            add(&mut spent, vector);
        }
    }
    spent
}

/// How often over the options of a question grant what was missing.
fn times(option: &str) -> u64 {
    match option {
        "grant" => 1,
        "grant-twice" => 2,
        "grant-tenfold" => 10,
        _nothing => 0,
    }
}

/// What was spent before a place beyond what the task allows and people granted.
pub(crate) fn overspent(case: &Case<'_>, place: u64) -> BTreeMap<Dimension, u64> {
    let said = case.task.0.members("budget").into_iter().flat_map(Object::iter);
    let amount = |value: &Json| match value {
        Json::String(text) => micros(&decimal(text)),
        other => micros(other),
    };
    let mut caps: Amounts =
        said.filter_map(|(unit, value)| Dimension::find(unit).zip(amount(value))).collect();
    for answer in case.until("HardCallResolutionReceipt", place) {
        let id = answer.json().text("hard_call_id").unwrap_or_default();
        let call = case.before("HardRevisionCall", id, answer.seq());
        let call = call.filter(|one| one.json().is("hard_call_kind", "budget_scope_decision"));
        let short = call.and_then(|one| one.json().text("source_ref")).map(bare);
        let short = short.and_then(|id| case.before("CostVector", id, place));
        let mut granted = Amounts::new();
        short.into_iter().for_each(|short| add(&mut granted, short));
        let times = times(answer.json().text("selected_option_id").unwrap_or_default());
        for (unit, amount) in granted {
            if let Some(cap) = caps.get_mut(&unit) {
                *cap = cap.saturating_add(amount.saturating_mul(times));
            }
        }
    }
    let spent = spent(case, place);
    let over = |(unit, cap): (Dimension, u64)| {
        let over = spent.get(&unit).copied().unwrap_or_default().saturating_sub(cap);
        (over > 0).then_some((unit, over))
    };
    caps.into_iter().filter_map(over).collect()
}

/// Whether a policy evaluation is the one that warns of what was spent beyond the caps.
pub(crate) fn is_warning(case: &Case<'_>, record: Record<'_>) -> bool {
    record.id() == case.own("budget")
}

/// The caps warn where more was spent than they allow.
pub(crate) fn warned<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let is_over = !overspent(walk.case, record.seq()).is_empty();
    found.holds(CHECK, record, "decision", is_over, "nothing was spent beyond the caps");
}

fn in_words(amounts: &Amounts) -> String {
    let one = |(unit, sum): (&Dimension, &u64)| {
        let words = words(*unit);
        let words = match (*sum, words.strip_suffix('s')) {
            (1_000_000, Some(singular)) if *unit != Dimension::WallClockMs => singular,
            _many => words.as_str(),
        };
        format!("{} {words}", literal(*sum))
    };
    let all: Vec<String> = amounts.iter().map(one).collect();
    if all.is_empty() { "nothing".to_string() } else { all.join(", ") }
}

/// What a run cost in the end, against what was foreseen.
pub(crate) fn narrative<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, place) = (walk.case, record.seq());
    let (spent, mut planned) = (spent(case, place), Amounts::new());
    let records = case.until("TaskCostRecord", place);
    let refs: Vec<String> = records.map(|one| format!("task_cost_record:{}", one.id())).collect();
    let forecast = case.last("TaskRunCostForecast", place);
    let foreseen = forecast.and_then(|one| one.json().text("planned_cost_vector_ref")).map(bare);
    if let Some(vector) = foreseen.and_then(|id| case.before("CostVector", id, place)) {
        add(&mut planned, vector);
    }
    let over = overspent(case, place);
    let beyond = match over.is_empty() {
        true => String::new(),
        false => format!(" That is beyond the budget by {}.", in_words(&over)),
    };
    let units: BTreeSet<Dimension> = planned.keys().chain(spent.keys()).copied().collect();
    let of = |all: &Amounts, unit: Dimension| literal(all.get(&unit).copied().unwrap_or_default());
    let compared: Vec<String> = units
        .into_iter()
        .map(|unit| format!("{}: {} of {} foreseen", words(unit), of(&spent, unit), of(&planned, unit)))
        .collect();
    let compared = match compared.is_empty() {
        true => "Nothing was foreseen and nothing was spent.".to_string(),
        false => compared.join("; "),
    };
    found.must_list(CHECK, record, "actual_cost_record_refs", &refs);
    found.must_say(
        CHECK,
        record,
        "summary",
        &format!("{} pieces of work: {}.{beyond}", refs.len(), in_words(&spent)),
    );
    found.must_say(CHECK, record, "forecast_vs_actual_summary", &compared);
    let forecast = forecast.map(|one| format!("task_run_cost_forecast:{}", one.id()).into());
    found.must(CHECK, record, "planned_forecast_ref", forecast);
    let total =
        case.last("CostVector", place).and_then(|one| one.json().at("formula_eval_receipt_ref").cloned());
    let total = total.filter(|_| !refs.is_empty());
    found.must(CHECK, record, "formula_eval_receipt_refs", Some(Json::Array(total.into_iter().collect())));
    quality(walk, record, found);
}

/// What was left out, and what that means.
fn quality<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, place) = (walk.case, record.seq());
    let mut skipped: Vec<String> = case
        .until("TaskSkipReceipt", place)
        .filter_map(|one| one.json().text("target_ref").map(String::from))
        .collect();
    if is_over(walk, place) {
        skipped.push("revision".to_string());
    }
    let is_unable = |one: &Outcome<'_>| {
        walk.says("outcome_record", &case.own(one.id()), "state") == Some("unable_to_evaluate")
    };
    let degraded: Vec<String> = case
        .task
        .outcomes()
        .filter(is_unable)
        .map(|one| format!("{} could not be evaluated", one.id()))
        .collect();
    let impact = match (skipped.is_empty(), degraded.is_empty()) {
        (true, true) => "None.",
        (false, true) => "Work that could have made it better was left out.",
        (true, false) => "A part could not be evaluated.",
        (false, false) => {
            "Work that could have made it better was left out, and a part could not be evaluated."
        }
    };
    found.must_say(CHECK, record, "quality_impact_summary", impact);
    found.must_list(CHECK, record, "skipped_optional_helpers", &skipped);
    found.must_list(CHECK, record, "degraded_modes_used", &degraded);
    let kept = ["claims are checked against sources", "outcomes are evaluated"];
    found.must(CHECK, record, "preserved_non_degradable_modes", Some(texts(&kept)));
}

/// Whether a person said that nothing more is to be spent.
fn is_over(walk: &Walk<'_, '_>, place: u64) -> bool {
    let case = walk.case;
    case.until("HardCallResolutionReceipt", place).any(|answer| {
        let id = answer.json().text("hard_call_id").unwrap_or_default();
        let call = case.before("HardRevisionCall", id, answer.seq());
        let call = call.filter(|one| one.json().is("hard_call_kind", "budget_scope_decision"));
        let chosen = answer.json().text("selected_option_id");
        let option = call
            .and_then(|one| one.json().list("options").iter().find(|one| one.text("option_id") == chosen));
        option.is_some_and(|one| one.is_one_of("effect", &["accept_as_is", "abort_scope"]))
    })
}
