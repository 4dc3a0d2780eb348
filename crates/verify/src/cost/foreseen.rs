//! Costs that are no sums: what was foreseen of a question, what was missing for a step, what was measured.
//! Owns: what these must be, given the task, the sources and who was to be asked. Must not: measure.

use super::{CHECK, judged, literal};
use crate::case::{Case, Text, bare};
use crate::claims;
use crate::found::{Found, texts};
use crate::task::decimal;
use crate::walk::Walk;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_govern::world::Record;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};

/// Tokens around the sources in a question to a model, of a quote with its citation, of a judgment, of a piece of code.
const PROMPT_TOKENS: u64 = 400;
const QUOTE_TOKENS: u64 = 60;
const JUDGMENT_TOKENS: u64 = 40;
const CODE_TOKENS: u64 = 800;
/// The most tokens that a judge may say.
const VERDICT_TOKENS_MAX: u64 = 256;
/// Bytes of a token, roughly.
const TOKEN_BYTES: usize = 4;
/// Quotes of a section where the task says nothing, and the most that there are.
const QUOTES_DEFAULT: u64 = 3;
const QUOTES_MAX: u64 = 20;
/// A unit, in millionths.
const UNIT: u64 = 1_000_000;

/// Tokens that go in and come out.
type Tokens = (u64, u64);

/// A cost that is no sum: foreseen, missing or measured, each by its name.
pub(super) fn single<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, id) = (walk.case, record.id());
    if let Some(word) = id.strip_prefix(&case.own("planned.")) {
        thought(record, "each question is asked once, with all sources", found);
        return foreseen(walk, record, word, found);
    }
    if id.starts_with(&case.own("short.")) {
        thought(record, "what the next step would cost beyond the caps", found);
        let mut calls = case.world.of("HardRevisionCall").filter(|one| one.seq() > record.seq());
        let own = format!("cost_vector:{id}");
        let is_asked = calls.next().is_some_and(|one| one.json().is("source_ref", &own));
        return found.holds(
            CHECK,
            record,
            "cost_vector_id",
            is_asked,
            "nobody was asked what becomes of that",
        );
    }
    // What was measured stands right before the record of the work.
    let mut records = case.world.of("TaskCostRecord");
    let named = records.any(|one| {
        one.seq() == record.seq() + 1 && one.json().text("actual_cost_vector_ref").map(bare) == Some(id)
    });
    found.holds(CHECK, record, "cost_vector_id", named, "it is of no work");
}

pub(super) fn thought(record: Record<'_>, words: &str, found: &mut Found) {
    found.must_say(CHECK, record, "basis", "heuristic");
    found.must_say(CHECK, record, "estimator_confidence", "uncalibrated");
    found.must(CHECK, record, "assumptions", Some(texts(&[words])));
}

/// Tokens of all sources; nothing where a text is not here.
fn of_sources(case: &Case<'_>, place: u64) -> Option<u64> {
    let mut all = 0_u64;
    for source in case.task.sources().filter(|one| one.tier() > 0) {
        match claims::source_text(case, &case.own(source.id()), place) {
            Text::Here(text) => all = all.saturating_add(text.len().div_ceil(TOKEN_BYTES) as u64),
            Text::Withheld | Text::Missing => return None,
        }
    }
    Some(all)
}

/// What each question for a first draft takes, by its word.
fn drafts(case: &Case<'_>, sources: u64) -> BTreeMap<String, Tokens> {
    let input = sources.saturating_add(PROMPT_TOKENS);
    let mut all = BTreeMap::new();
    for artifact in case.task.artifacts().filter(|one| one.0.at("from").is_none()) {
        let sections = artifact.0.list("sections");
        for one in sections {
            let quotes = one.count("quotes").unwrap_or(QUOTES_DEFAULT).clamp(1, QUOTES_MAX);
            let word = format!("draft.{}.{}", artifact.id(), one.text("id").unwrap_or_default());
            all.insert(word, (input, quotes.saturating_mul(QUOTE_TOKENS)));
        }
        if sections.is_empty() {
            all.insert(format!("draft.{}.whole", artifact.id()), (input, CODE_TOKENS));
        }
    }
    all
}

/// The questions that something that is foreseen takes.
fn questions(case: &Case<'_>, word: &str, sources: u64) -> Option<Vec<Tokens>> {
    let drafts = drafts(case, sources);
    if let Some(outcome) = word.strip_prefix("judge.") {
        let count = judged(case, case.task.outcome(outcome)?) as u64;
        let one = (PROMPT_TOKENS.saturating_add(sources), JUDGMENT_TOKENS);
        return (count > 0).then(|| (0..count).map(|_| one).collect());
    }
    match word {
        "revision" => Some(drafts.into_values().collect()),
        "nothing" => Some(Vec::new()),
        _draft => drafts.get(word).map(|one| Vec::from([*one])),
    }
}

/// What was foreseen follows from the task, the sources, and who was to be asked: who only quotes is asked nothing.
fn foreseen<'c>(walk: &Walk<'c, '_>, record: Record<'c>, word: &str, found: &mut Found) {
    let case = walk.case;
    // What is said of the model is said with the contract.
    let said = walk.told.handed.iter().find(|one| one.payload.flag("is_quoting").is_some());
    let (Some(said), Some(sources)) = (said.map(|one| &one.payload), of_sources(case, record.seq())) else {
        return if walk.told.is_partial || said.is_some() {
            found.withheld(CHECK)
        } else {
            found.told(CHECK)
        };
    };
    let Some(questions) = questions(case, word, sources) else {
        let message = "the task asks for nothing of that name";
        return found.about(Code::VerifyDerivation, CHECK, record, "cost_vector_id", message);
    };
    let prices: Vec<u64> = said.list("prices").iter().filter_map(whole).collect();
    let mut sums: Vec<(&str, u64)> = Vec::new();
    if said.flag("is_quoting") == Some(false) && !questions.is_empty() {
        let sum = |of: fn(&Tokens) -> u64| questions.iter().map(of).fold(0, u64::saturating_add);
        sums.push(("input_tokens", sum(|one| one.0).saturating_mul(UNIT)));
        sums.push(("output_tokens", sum(|one| one.1).saturating_mul(UNIT)));
        if said.text("host").is_some() {
            sums.push(("external_api_calls", (questions.len() as u64).saturating_mul(UNIT)));
            if let [input, output] = prices.as_slice() {
                sums.push(("usd", questions.iter().map(|one| dollars(*one, (*input, *output))).sum()));
            }
        }
    }
    // A judgment is given no more than this to say.
    let most = |unit: &str| {
        let is_capped = unit == "output_tokens" && word.starts_with("judge.");
        is_capped.then(|| decimal(&VERDICT_TOKENS_MAX.saturating_mul(questions.len() as u64).to_string()))
    };
    let part = |(unit, amount): (&str, u64)| {
        let mut part = Object::from([("expected", decimal(&literal(amount)))]);
        if let Some(most) = most(unit) {
            part.insert("hard_cap", most);
        }
        part.insert("unit", unit);
        (unit.to_string(), Json::from(part))
    };
    let mut components = Object::new();
    for (unit, part) in sums.into_iter().map(part) {
        components.insert(unit, part);
    }
    found.must(CHECK, record, "components", Some(components.into()));
}

/// What tokens cost at prices for a million, in millionths of a dollar, rounded up.
fn dollars((input, output): Tokens, prices: (u64, u64)) -> u64 {
    let cost = u128::from(input) * u128::from(prices.0) + u128::from(output) * u128::from(prices.1);
    u64::try_from(cost.div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

fn whole(number: &Json) -> Option<u64> {
    if let Json::Number(number) = number { number.as_u64() } else { None }
}
