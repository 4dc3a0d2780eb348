//! What stands on each page.
//! Owns: the members in JSON, and the lines of text made of them. Must not: look at anything but the records.

use super::Page;
use countersign_govern::decide::board::Entry;
use countersign_govern::reference::Reference;
use countersign_govern::table::outcome::entry;
use countersign_govern::types::chain::{
    EvaluationChainResolutionReceipt as Resolution, EvaluationResultEnvelope as Envelope,
};
use countersign_govern::types::cost::{BudgetNarrative, TaskRunCostForecast};
use countersign_govern::types::reliance::{TaskHealthCard, UnifiedEvaluationChainView};
use countersign_govern::types::wire::Wire;
use countersign_record::json::{Json, Object};
use countersign_runtime::work::Work;
use countersign_work::desk::Desk;
use countersign_work::{attention, board, cost, finding, outcome, rely};

/// Whether there is nothing on a page.
pub(super) fn is_empty(page: Page, desk: &Desk) -> bool {
    match page {
        Page::Attention => attention::open(desk).is_empty(),
        Page::Findings => finding::all(desk).is_empty(),
        Page::Board => board::entries(desk).is_empty(),
        Page::Health | Page::Evidence | Page::Chain | Page::Budget => false,
    }
}

/// The body of a page.
pub(super) fn body(page: Page, desk: &Desk, work: &Work) -> Json {
    match page {
        Page::Health => health(desk),
        Page::Findings => Json::Array(finding::all(desk).iter().map(finding_told).collect()),
        Page::Attention => Json::Array(attention::open(desk).iter().map(written).collect()),
        Page::Evidence => work.evidence().unwrap_or(Json::Null),
        Page::Chain => Json::Array(desk.task().outcomes.iter().map(|one| chain(desk, &one.id)).collect()),
        Page::Board => Json::Array(board::entries(desk).iter().map(|one| entry_told(desk, one)).collect()),
        Page::Budget => budget(desk),
    }
}

fn written<T: Wire>(record: &T) -> Json {
    record.write().unwrap_or(Json::Null)
}

fn health(desk: &Desk) -> Json {
    let card = desk.each::<TaskHealthCard>("TaskHealthCard").next_back();
    let outcomes = desk.task().outcomes.iter().map(|one| {
        let state = outcome::state(desk, &one.id);
        Json::from(Object::from([
            ("outcome", Json::from(one.id.as_str())),
            ("statement", one.statement.as_str().into()),
            ("state", state.as_str().into()),
            ("in_words", entry(state).label.into()),
        ]))
    });
    let packet = rely::last(desk).map(|packet| Json::from(packet.reliance_derivation.status.as_str()));
    Object::from([
        ("card", card.map_or(Json::Null, |found| written(&found.record))),
        ("outcomes", Json::Array(outcomes.collect())),
        ("reliance_status", packet.unwrap_or(Json::Null)),
    ])
    .into()
}

fn finding_told(one: &finding::Known) -> Json {
    Object::from([
        ("finding", Json::from(one.event.finding_id.as_str())),
        ("state", one.state.as_str().into()),
        ("severity", one.event.severity.as_str().into()),
        ("criterion", one.event.target_criterion_id.as_deref().map_or(Json::Null, Json::from)),
        ("text", one.event.finding_text.as_str().into()),
        ("explanation", one.event.explanation.as_str().into()),
    ])
    .into()
}

/// The chain of an outcome: what was found, what each evaluator said, what it came to.
fn chain(desk: &Desk, id: &str) -> Json {
    let own = desk.own(id);
    let results: Vec<Envelope> = desk.all::<Envelope>().filter(|one| one.outcome_id == own).collect();
    let last = desk
        .all::<Resolution>()
        .rfind(|one| results.iter().any(|result| one.result_ids_considered.contains(&result.result_id)));
    let view = last.as_ref().and_then(|last| {
        let views = desk.each::<UnifiedEvaluationChainView>("UnifiedEvaluationChainView");
        let is_own = |one: &UnifiedEvaluationChainView| {
            let receipt = one.chain_resolution_receipt_ref.as_ref();
            let receipt = receipt.and_then(|receipt| Reference::read(receipt.as_str()));
            receipt.is_some_and(|read| read.id == last.receipt_id)
        };
        views.map(|found| found.record).rfind(is_own)
    });
    let said = |last: &Resolution| {
        let own = results.iter().filter(|one| last.result_ids_considered.contains(&one.result_id));
        Json::Array(own.map(written).collect())
    };
    Object::from([
        ("outcome", Json::from(id)),
        ("results", last.as_ref().map_or(Json::Null, said)),
        ("resolution", last.as_ref().map_or(Json::Null, written)),
        ("view", view.as_ref().map_or(Json::Null, written)),
    ])
    .into()
}

fn entry_told(desk: &Desk, one: &Entry) -> Json {
    let words = board::said(desk, one);
    Object::from([
        ("event", written(&one.event)),
        ("post", one.post.as_ref().map_or(Json::Null, written)),
        ("words", words.map_or(Json::Null, |words| words.as_str().into())),
    ])
    .into()
}

fn budget(desk: &Desk) -> Json {
    let forecast = desk.all::<TaskRunCostForecast>().next_back();
    let told = desk.each::<BudgetNarrative>("BudgetNarrative").next_back();
    Object::from([
        ("forecast", forecast.as_ref().map_or(Json::Null, written)),
        ("spent", amounts(&cost::spent(desk))),
        ("caps", amounts(&cost::caps(desk))),
        ("narrative", told.map_or(Json::Null, |found| written(&found.record))),
    ])
    .into()
}

/// Amounts by their names, in units.
pub(super) fn amounts(amounts: &cost::Amounts) -> Json {
    let one = |(dimension, amount): (&countersign_govern::types::cost::CostDimension, &u64)| {
        (dimension.as_str(), Json::Number(cost::number(*amount)))
    };
    amounts.iter().map(one).collect::<Object>().into()
}

/// The lines of a page.
pub(super) fn lines(page: Page, desk: &Desk, body: &Json) -> Vec<String> {
    match page {
        Page::Health => health_lines(body),
        Page::Findings => list(body, "Nothing was found.", |one| {
            format!(
                "{} [{}] {} {}",
                word(one, "state"),
                word(one, "severity"),
                word(one, "text"),
                word(one, "explanation")
            )
        }),
        Page::Attention => list(body, "Nothing waits for a person.", |one| {
            format!(
                "{} [{}] {}",
                word(one, "attention_kind").replace('_', " "),
                word(one, "priority"),
                word(one, "summary")
            )
        }),
        Page::Evidence => evidence_lines(body),
        Page::Chain => chain_lines(desk, body),
        Page::Board => list(body, "Nothing is on the board.", |one| {
            let event = one.get("event").cloned().unwrap_or(Json::Null);
            format!("{}  {}", word(&event, "created_at"), word(one, "words"))
        }),
        Page::Budget => budget_lines(desk),
    }
}

fn word<'j>(json: &'j Json, name: &str) -> &'j str {
    json.get(name).and_then(Json::as_str).unwrap_or_default()
}

fn list(body: &Json, nothing: &str, line: impl Fn(&Json) -> String) -> Vec<String> {
    let all = body.as_array().unwrap_or_default();
    if all.is_empty() { vec![nothing.to_owned()] } else { all.iter().map(line).collect() }
}

fn health_lines(body: &Json) -> Vec<String> {
    let card = body.get("card").cloned().unwrap_or(Json::Null);
    let mut lines = vec![format!("health  {}", word(&card, "health_status").replace('_', " "))];
    let status = word(body, "reliance_status").replace('_', " ");
    lines.extend((!status.is_empty()).then(|| format!("packet  {status}")));
    let blockers = card.get("active_blocker_refs").and_then(Json::as_array).map_or(0, <[Json]>::len);
    lines.push(format!("blocked {blockers}"));
    for one in body.get("outcomes").and_then(Json::as_array).unwrap_or_default() {
        lines.push(format!(
            "  {}: {} ({})",
            word(one, "outcome"),
            word(one, "statement"),
            word(one, "in_words")
        ));
    }
    lines
}

fn evidence_lines(body: &Json) -> Vec<String> {
    let mut lines = Vec::new();
    for claim in body.get("claims").and_then(Json::as_array).unwrap_or_default() {
        lines.push(format!("{}  {}", word(claim, "support"), word(claim, "text")));
        for name in ["supporting", "contradicting"] {
            for place in claim.get(name).and_then(Json::as_array).unwrap_or_default() {
                lines.push(format!("  {name} {}: “{}”", word(place, "source"), word(place, "text")));
            }
        }
    }
    if lines.is_empty() { vec!["There is no evidence yet.".to_owned()] } else { lines }
}

fn chain_lines(desk: &Desk, body: &Json) -> Vec<String> {
    let mut lines = Vec::new();
    for one in body.as_array().unwrap_or_default() {
        let state = outcome::state(desk, word(one, "outcome"));
        lines.push(format!("{}  {}", word(one, "outcome"), entry(state).label));
        for result in one.get("results").and_then(Json::as_array).unwrap_or_default() {
            let decision = result.get("decision").cloned().unwrap_or(Json::Null);
            let who = word(result, "producer_kind").replace('_', " ");
            lines.push(format!("  {who} says {}", word(&decision, "verdict")));
        }
        if let Some(resolution) = one.get("resolution").filter(|one| **one != Json::Null) {
            let (verdict, route) = (word(resolution, "resolved_verdict"), word(resolution, "resolved_route"));
            lines.push(format!("  together: {verdict}, {}", route.replace('_', " ")));
        }
    }
    lines
}

fn budget_lines(desk: &Desk) -> Vec<String> {
    let told = desk.each::<BudgetNarrative>("BudgetNarrative").next_back();
    let mut lines = vec![
        format!("spent    {}", cost::told(&cost::spent(desk))),
        format!("may      {}", caps(&cost::caps(desk))),
    ];
    if let Some(told) = told {
        lines.push(format!("foreseen {}", told.record.forecast_vs_actual_summary));
        lines.push(format!("impact   {}", told.record.quality_impact_summary));
    }
    lines
}

/// Caps in words.
pub(super) fn caps(caps: &cost::Amounts) -> String {
    if caps.is_empty() { "as much as it takes: there is no cap".to_owned() } else { cost::told(caps) }
}
