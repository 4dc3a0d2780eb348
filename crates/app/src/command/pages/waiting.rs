//! What waits for a person that is no item of the records: a run that stopped, a packet that fell.
//! Owns: finding these, as items of the page. Must not: doubt what the records list.

use super::super::run::waits::Waits;
use super::super::run::{standing, steps};
use super::Read;
use crate::output;
use countersign_govern::types::basic::ResearchTarget;
use countersign_govern::types::hard_call::HardRevisionCall;
use countersign_govern::types::reliance::AttentionKind as Kind;
use countersign_govern::types::research::{ResearchNeed, ResearchNeedStatus};
use countersign_govern::types::wire::Wire;
use countersign_kernel::run::{Doing, HARD_CALL, Stop, StopKind};
use countersign_record::json::{Json, Object};
use countersign_work::desk::Desk;
use countersign_work::{attention, call, rely, research};

/// What waits: what the records list, and what they do not.
pub(super) fn all(desk: &Desk, read: &Read) -> Vec<Json> {
    let calls = call::open(desk);
    let mut items: Vec<Json> = attention::open(desk)
        .iter()
        .map(|one| {
            let mut item = one.write().unwrap_or(Json::Null);
            let about = one.source_ref.as_str().strip_prefix("hard_revision_call:");
            let call = calls.iter().find(|call| about == Some(call.hard_call_id.as_str()));
            if let (Some(call), Json::Object(item)) = (call, &mut item) {
                asked(call, read, item);
            }
            item
        })
        .collect();
    match &read.told.run.doing {
        // A question with options is in the records.
        Doing::Waiting(stop) if stop.reason == HARD_CALL => {}
        Doing::Waiting(stop) => {
            let approval = Json::from(Kind::ApprovalRequired.as_str());
            let is_same = |item: &&mut Json| {
                stop.kind == StopKind::Confirmation && item.get("attention_kind") == Some(&approval)
            };
            // What is to be agreed to is in the records, and is answered where the run stopped for it.
            match items.iter_mut().find(is_same) {
                Some(Json::Object(item)) => {
                    item.insert("question", stop.id.as_str());
                    item.insert("asked", stop.message.as_str());
                    item.insert("answers", answers(stop));
                }
                Some(_) | None => items.push(stopped(read, stop)),
            }
        }
        Doing::Ready | Doing::Called { .. } => {}
        Doing::Over => {
            items.extend(fallen(desk));
            items.extend(needs(desk));
        }
    }
    items
}

/// How a question is answered, until when, and what waits for it. After its time nobody can answer it.
fn asked(call: &HardRevisionCall, read: &Read, item: &mut Object) {
    let waits = Waits::of(call, read.now.as_ref());
    waits.put_on(item);
    let is_over = waits.is_over(read.now.as_ref());
    item.insert("expired", is_over);
    if !is_over {
        let options = call.options.iter().map(|one| Json::from(one.option_id.as_str()));
        item.insert("options", Json::Array(options.collect()));
    }
}

/// Questions to the sources that nobody has answered, and that were put to nobody: the work is limited by them.
fn needs(desk: &Desk) -> Vec<Json> {
    let open = research::all(desk).into_iter().filter(|one| research::is_open(one.status));
    let unasked = open.filter(|one| one.status != ResearchNeedStatus::HumanNeeded);
    let item = |need: ResearchNeed| {
        let mut item = Object::from([
            ("attention_kind", Json::from(Kind::ResearchNeedHuman.as_str())),
            ("source_ref", format!("research_need:{}", need.need_id).into()),
            ("summary", need.question.as_str().into()),
            ("priority", "medium".into()),
            ("command", "research.answer_need".into()),
        ]);
        if let Some(ResearchTarget::Claim(claim)) = need.target_refs.first() {
            item.insert("claim", claim.as_str());
        }
        Json::from(item)
    };
    unasked.map(item).collect()
}

/// What can be said to a run that stopped, as it is typed.
fn answers(stop: &Stop) -> Json {
    let all = match stop.kind {
        StopKind::Confirmation => vec!["--approve".to_owned(), "--deny".to_owned()],
        StopKind::Clarification => vec!["--value TEXT".to_owned()],
        StopKind::Escalation => {
            let chosen = |step: &str| format!("--choose {}", output::quoted(&step.replace(' ', "-")));
            steps::fitting(stop).into_iter().map(|(step, _)| chosen(step)).collect()
        }
    };
    Json::Array(all.into_iter().map(Json::from).collect())
}

/// A run that stopped.
fn stopped(read: &Read, stop: &Stop) -> Json {
    let (kind, words) = match stop.kind {
        StopKind::Confirmation => {
            (Kind::ApprovalRequired, format!("Your leave is needed to {}", stop.message))
        }
        StopKind::Clarification => (Kind::HardCallPending, stop.message.clone()),
        StopKind::Escalation => (Kind::BlockedItem, stop.message.clone()),
    };
    let mut item = Object::from([
        ("attention_kind", Json::from(kind.as_str())),
        ("source_ref", format!("stop:{}", stop.id).into()),
        ("summary", words.into()),
        ("priority", "high".into()),
        ("question", stop.id.as_str().into()),
        ("answers", answers(stop)),
    ]);
    if let Some(first) = steps::first(&read.global, stop) {
        item.insert("first", first);
    }
    item.into()
}

/// The last packet, if it does not hold any more: a new one is to be made.
fn fallen(desk: &Desk) -> Option<Json> {
    let (why, packet) = (standing::to_renew(desk)?, rely::last(desk)?);
    let item = Object::from([
        ("attention_kind", Json::from(Kind::RelianceReviewRequired.as_str())),
        ("source_ref", format!("task_reliance_packet:{}", packet.packet_id).into()),
        ("summary", format!("The packet no longer holds: {why}.").into()),
        ("priority", "high".into()),
        ("command", "reliance.renew_packet".into()),
    ]);
    Some(item.into())
}
