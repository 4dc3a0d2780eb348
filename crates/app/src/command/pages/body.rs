//! What stands on each page, as a document.
//! Owns: the members in JSON. Must not: look at anything but the records.

use super::super::run::claimed;
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
        Page::Findings => Json::Array(finding::all(desk).iter().map(|one| finding_told(one, work)).collect()),
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

fn finding_told(one: &finding::Known, work: &Work) -> Json {
    Object::from([
        ("finding", Json::from(one.event.finding_id.as_str())),
        ("state", one.state.as_str().into()),
        ("severity", one.event.severity.as_str().into()),
        ("criterion", one.event.target_criterion_id.as_deref().map_or(Json::Null, Json::from)),
        ("text", one.event.finding_text.as_str().into()),
        ("explanation", one.event.explanation.as_str().into()),
        ("claims", Json::Array(claimed(work, one))),
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
