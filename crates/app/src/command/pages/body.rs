//! What stands on each page, as a document.
//! Owns: the members in JSON. Must not: look at anything but the records.

use super::super::run::{ClaimTexts, standing};
use super::{Page, Read, waiting};
use countersign_govern::decide::board::Entry;
use countersign_govern::reference::Reference;
use countersign_govern::types::chain::{
    EvaluationChainResolutionReceipt as Resolution, EvaluationResultEnvelope as Envelope,
};
use countersign_govern::types::claim::ClaimSupportDerivationReceipt;
use countersign_govern::types::cost::{BudgetNarrative, TaskRunCostForecast};
use countersign_govern::types::reliance::{DecisionAuditView, TaskHealthCard, UnifiedEvaluationChainView};
use countersign_govern::types::research::ResearchNeed;
use countersign_govern::types::review::RevisionReviewPacket;
use countersign_govern::types::wire::Wire;
use countersign_kernel::run::Doing;
use countersign_record::json::{Json, Object};
use countersign_runtime::work::Work;
use countersign_work::desk::Desk;
use countersign_work::purse::Purse;
use countersign_work::{board, cost, evaluate, explain, finding, outcome, page, rely, research};
use std::collections::{BTreeMap, BTreeSet};

/// The body of a page.
pub(super) fn body(page: Page, desk: &Desk, read: &Read) -> Json {
    let work = &*read.work;
    match page {
        Page::Health => health(desk, read),
        Page::Findings => findings(desk, work),
        Page::Review => review(desk, work),
        Page::Attention => Json::Array(waiting::all(desk, read)),
        Page::Evidence => evidence(desk, work),
        Page::Chain => Json::Array(desk.task().outcomes.iter().map(|one| chain(desk, &one.id)).collect()),
        Page::Board => Json::Array(board::entries(desk).iter().map(|one| entry_told(desk, one)).collect()),
        Page::Budget => budget(desk, read),
    }
}

fn written<T: Wire>(record: &T) -> Json {
    record.write().unwrap_or(Json::Null)
}

/// The evidence behind the work, each claim as it is supported now; and the questions to sources that nobody has answered.
fn evidence(desk: &Desk, work: &Work) -> Json {
    let mut all = match work.evidence() {
        Some(Json::Object(members)) => members,
        // Nothing is put together yet: what was looked at so far.
        Some(_) | None => Object::from([("claims", Json::Array(looked_at(desk, work)))]),
    };
    let claims = all.get("claims").and_then(Json::as_array).unwrap_or_default().to_vec();
    let name = |claim: &Json| claim.get("claim").and_then(Json::as_str).unwrap_or_default().to_owned();
    let names: Vec<String> = claims.iter().map(name).collect();
    let last = work.claims(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let last: BTreeMap<String, &Json> =
        last.iter().filter_map(|claim| Some((name(claim), claim.get("support")?))).collect();
    let now = |mut claim: Json| {
        let support = last.get(&name(&claim)).copied();
        if let (Some(support), Json::Object(members)) = (support, &mut claim)
            && let Some(before) = members.get("support").cloned().filter(|before| before != support)
        {
            members.insert("support", support.clone());
            members.insert("support_in_package", before);
        }
        claim
    };
    all.insert("claims", Json::Array(claims.into_iter().map(now).collect()));
    all.insert("needs", Json::Array(needs(desk)));
    all.into()
}

/// Claims that somebody has looked at, in order.
fn looked_at(desk: &Desk, work: &Work) -> Vec<Json> {
    let (mut names, mut seen) = (Vec::new(), BTreeSet::new());
    for one in desk.all::<ClaimSupportDerivationReceipt>() {
        let name = one.claim_ref.as_str().to_owned();
        if seen.insert(name.clone()) {
            names.push(name);
        }
    }
    work.claims(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The questions to sources that are open.
fn needs(desk: &Desk) -> Vec<Json> {
    let one = |need: &ResearchNeed| {
        let pairs = [
            ("need", Json::from(need.need_id.as_str())),
            ("question", need.question.as_str().into()),
            ("status", need.status.as_str().into()),
        ];
        Json::from(Object::from(pairs))
    };
    research::all(desk).iter().filter(|need| research::is_open(need.status)).map(one).collect()
}

fn health(desk: &Desk, read: &Read) -> Json {
    let card = desk.each::<TaskHealthCard>("TaskHealthCard").next_back();
    let unscored = evaluate::unscored(desk);
    let outcomes = desk.task().outcomes.iter().map(|one| {
        let state = outcome::state(desk, &one.id);
        let own = unscored.iter().filter(|open| open.outcome == one.id).map(|open| {
            let members = [("criterion", &*open.criterion), ("text", &*open.text), ("why", open.why)];
            members.into_iter().map(|(name, word)| (name, Json::from(word))).collect::<Object>().into()
        });
        Json::from(Object::from([
            ("outcome", Json::from(one.id.as_str())),
            ("statement", one.statement.as_str().into()),
            ("state", state.as_str().into()),
            ("in_words", standing::told(desk, one).into()),
            ("not_looked_at", Json::Array(own.collect())),
        ]))
    });
    let packet = rely::last(desk).map(|packet| Json::from(packet.reliance_derivation.status.as_str()));
    Object::from([
        ("card", card.map_or(Json::Null, |found| written(&found.record))),
        ("outcomes", Json::Array(outcomes.collect())),
        ("reliance_status", packet.unwrap_or(Json::Null)),
        ("no_longer_holds", standing::fallen(desk).map_or(Json::Null, Json::from)),
        ("run", stands(read)),
    ])
    .into()
}

/// Where the run stands, and why.
fn stands(read: &Read) -> Json {
    let (standing, why) = match &read.told.run.doing {
        Doing::Ready | Doing::Called { .. } => ("open", Json::Null),
        Doing::Waiting(stop) => ("waiting", stop.message.as_str().into()),
        Doing::Over => {
            let ending = &read.told.run.envelope.ending;
            let reason = ending.terminal_reason.map(|reason| reason.as_str()).unwrap_or_default();
            let words = ending.termination_reason.as_deref().unwrap_or_default();
            match reason {
                "completed_successfully" => ("done", Json::Null),
                _otherwise => ("ended", standing::ended(reason, words).into()),
            }
        }
    };
    Object::from([("standing", Json::from(standing)), ("why", why)]).into()
}

fn findings(desk: &Desk, work: &Work) -> Json {
    let all = finding::all(desk);
    let claims = ClaimTexts::of_findings(work, &all);
    Json::Array(all.iter().map(|one| finding_told(one, &claims)).collect())
}

fn finding_told(one: &finding::Known, claims: &ClaimTexts) -> Json {
    Object::from([
        ("finding", Json::from(one.event.finding_id.as_str())),
        ("state", one.state.as_str().into()),
        ("severity", one.event.severity.as_str().into()),
        ("criterion", one.event.target_criterion_id.as_deref().map_or(Json::Null, Json::from)),
        ("text", one.event.finding_text.as_str().into()),
        ("explanation", one.event.explanation.as_str().into()),
        ("claims", Json::Array(claims.about(one))),
    ])
    .into()
}

/// All that can be looked over: the records as they were put down, so that whoever looks can open each.
fn review(desk: &Desk, work: &Work) -> Json {
    let Ok((view, _)) = page::reviewable(desk) else { return Json::Null };
    let packets = desk.each::<RevisionReviewPacket>("RevisionReviewPacket").map(|one| {
        let id = one.record.packet_id;
        let state = desk.says("revision_review_packet", &id, "state").map(Json::from);
        Json::from(Object::from([
            ("packet", Json::from(id)),
            ("state", state.unwrap_or_else(|| one.record.state.as_str().into())),
            ("risk", one.record.regression_risk_summary.into()),
        ]))
    });
    let decided = explain::decisions(desk);
    let decisions = view.decision_audit_view_refs.iter().filter_map(|one| {
        let view: DecisionAuditView = desk.find("DecisionAuditView", Reference::read(one.as_str())?.id)?;
        let decision = view.target_decision_ref.as_str();
        let what = decided.iter().find(|one| one.decision.as_str() == decision);
        Some(Json::from(Object::from([
            ("view", Json::from(one.as_str())),
            ("decision", decision.into()),
            ("what", what.map_or(Json::Null, |one| one.what.as_str().into())),
        ])))
    });
    Json::from(Object::from([
        ("view", written(&view)),
        ("findings", findings(desk, work)),
        ("revisions", Json::Array(packets.collect())),
        ("decisions", Json::Array(decisions.collect())),
    ]))
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

fn budget(desk: &Desk, read: &Read) -> Json {
    let forecast = desk.all::<TaskRunCostForecast>().next_back();
    let told = desk.each::<BudgetNarrative>("BudgetNarrative").next_back();
    Object::from([
        ("forecast", forecast.as_ref().map_or(Json::Null, written)),
        ("spent", amounts(&cost::spent(desk))),
        ("caps", amounts(&cost::caps(desk))),
        ("matter", of_matter(&read.purse)),
        ("narrative", told.map_or(Json::Null, |found| written(&found.record))),
    ])
    .into()
}

/// What all runs of the matter may spend together, have spent and hold.
fn of_matter(purse: &Purse) -> Json {
    let amounts = [("caps", purse.caps()), ("spent", purse.spent()), ("held", &purse.held())];
    amounts.map(|(name, all)| (name, self::amounts(all))).into_iter().collect::<Object>().into()
}

/// Amounts by their names, in units.
pub(super) fn amounts(amounts: &cost::Amounts) -> Json {
    let one = |(dimension, amount): (&countersign_govern::types::cost::CostDimension, &u64)| {
        (dimension.as_str(), Json::Number(cost::number(*amount)))
    };
    amounts.iter().map(one).collect::<Object>().into()
}
