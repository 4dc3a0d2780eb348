//! Questions to models: whether they may be asked, and everything that is put down of those that were.
//! Owns: budget, leave, context and cost of a question, in one place. Must not: ask, or render what is asked.
//!
//! All questions of a stage are cleared before the first is asked, so that a stage that has to wait for a person has spent nothing.

use crate::context::{self, Ask, Packet, Room};
use crate::cost::{self, Amounts, Model, Piece};
use crate::desk::{Desk, Error, reference};
use crate::outside::{self, Going, Held, Left};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::reference::Reference;
use countersign_govern::types::basic::StorageRef;
use countersign_govern::types::context::{
    TaskContextAudience as Audience, TaskRunContextPacketRequestStalenessPolicy as Staleness,
};
use countersign_govern::types::cost::{
    CostDimension as Dimension, TaskCostRecord, TaskCostRecordCostClass as Class,
};
use countersign_govern::types::externalization::{
    WorkspaceExternalizationKind as Kind, WorkspaceExternalizationReceiptStatus as Status,
};
use countersign_govern::{record, words};

/// Tokens that a model is given at most: what does not fit is left out, and the receipt says so.
pub const CONTEXT_TOKENS_MAX: u64 = 24_000;
/// The most tokens that a judge may say.
pub const VERDICT_TOKENS_MAX: u32 = 256;
/// Bytes of a token, roughly.
const TOKEN_BYTES: usize = 4;

/// Tokens of a text, roughly.
#[must_use]
pub fn tokens(text: &str) -> u64 {
    text.len().div_ceil(TOKEN_BYTES) as u64
}

/// What a stage is about to ask, all questions together and at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Next<'a> {
    /// Where the model is, if not here.
    pub host: Option<&'a str>,
    /// What it may come to.
    pub amounts: Amounts,
}

/// Why nothing is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A person must answer a question first, which stands on the desk now.
    Asked,
    /// A person said that nothing more is to be spent.
    Over,
    /// It may not leave, and why.
    Held(String),
}

words! {
    /// How a question ended.
    Ended { Completed = "completed", Failed = "failed", Cancelled = "cancelled" }
}

record! {
    /// A question that was asked. With this and the records before, everything that is put down of it is put down again.
    Call: value {
        module: String,
        planned: Option<String>,
        shown: BTreeMap<String, u64>,
        host: Option<String>,
        input_tokens: u64,
        output_tokens: u64,
        usd_micros: Option<u64>,
        ended: Ended,
    }
}

record! {
    /// What a stage took: its questions, and its time.
    Took: value { calls: Vec<Call>, wall_clock_ms: u64 }
}

record! {
    /// What a stage was about to ask where a person decides first. With this the question to them is put down again.
    Wanted: value { host: Option<String>, amounts: BTreeMap<Dimension, u64> }
}

fn going(host: &str) -> Result<Going<'static>, Error> {
    Ok(Going { kind: Kind::ApiCall, sources: None, destination: Some(reference("Host", host)?) })
}

/// Whether the questions of a stage may be asked. Where a person must be asked first, they are.
///
/// # Errors
/// Something can't be written.
pub fn may(desk: &mut Desk, next: &Next<'_>) -> Result<Result<(), Refusal>, Error> {
    if cost::is_over(desk) {
        return Ok(Err(Refusal::Over));
    }
    if let Err(over) = cost::may(desk, &next.amounts) {
        cost::raise(desk, &over)?;
        return Ok(Err(Refusal::Asked));
    }
    let Some(host) = next.host else { return Ok(Ok(())) };
    let going = going(host)?;
    match outside::may(desk, &going) {
        Ok(_) => Ok(Ok(())),
        Err(Held::Unconfirmed) => {
            outside::ask(desk, &going)?;
            Ok(Err(Refusal::Asked))
        }
        Err(why @ (Held::Never(_) | Held::Class { .. } | Held::Unknown(_) | Held::Kept)) => {
            outside::held(desk, &going, &why)?;
            Ok(Err(Refusal::Held(why.to_string())))
        }
    }
}

/// Whether a question may be asked as things stand, without asking anybody; `unwritten` is what the stage spent before it.
#[must_use]
pub fn is_let(desk: &Desk, unwritten: &Amounts, next: &Next<'_>) -> bool {
    let may_leave = |host: &str| going(host).is_ok_and(|going| outside::may(desk, &going).is_ok());
    let is_paid = cost::may_besides(desk, unwritten, &next.amounts).is_ok();
    !cost::is_over(desk) && is_paid && next.host.is_none_or(may_leave)
}

/// The parts of a question that fit, by the names of sources and artifacts; nothing is put down.
///
/// # Errors
/// Something that is needed does not fit.
pub fn fits(desk: &Desk, shown: &BTreeMap<String, u64>) -> Result<Vec<String>, Error> {
    let mut trial = desk.clone();
    let packet = assemble(&mut trial, shown)?;
    if packet.omitted.iter().any(|one| one.required) {
        return Err(Error::Missing("room for what a question needs".to_string()));
    }
    Ok(packet.held.iter().filter_map(|item| name(desk, item)).collect())
}

/// What an item of a packet is called in the task.
fn name(desk: &Desk, item: &StorageRef) -> Option<String> {
    let read = Reference::read(item.as_str())?;
    match read.kind {
        "src" => Some(desk.local(read.id).to_string()),
        "artifact_version" => {
            let own = desk.task().artifacts.iter();
            let is_head = |id: &str| crate::artifact::head(desk, id).is_some_and(|head| head.id == read.id);
            own.map(|one| one.id.clone()).find(|id| is_head(id))
        }
        _ => None,
    }
}

fn assemble(desk: &mut Desk, shown: &BTreeMap<String, u64>) -> Result<Packet, Error> {
    let guidance: BTreeMap<StorageRef, u64> =
        crate::guidance::active(desk).into_iter().map(|one| (one.event_ref, tokens(&one.text))).collect();
    let count = |item: &StorageRef| match guidance.get(item) {
        Some(tokens) => *tokens,
        None => name(desk, item).and_then(|name| shown.get(&name).copied()).unwrap_or_default(),
    };
    let items: Vec<context::Item> =
        context::items(desk, count)?.into_iter().filter(|item| item.tokens > 0).collect();
    let (audience, staleness) = (Audience::Module, Staleness::AllowStaleWithWarning);
    context::assemble(desk, &Ask { audience, tokens_max: CONTEXT_TOKENS_MAX, items: &items, staleness })
}

/// Puts down what a stage took.
///
/// # Errors
/// Something can't be written.
pub fn record(desk: &mut Desk, module: &str, took: &Took) -> Result<(), Error> {
    for call in &took.calls {
        record_call(desk, call)?;
    }
    let amounts = Amounts::from([(Dimension::WallClockMs, took.wall_clock_ms.saturating_mul(cost::UNIT))]);
    let activation = activation(desk, module);
    let piece =
        Piece { module: module.to_string(), activation, class: Class::LocalCompute, planned: None, amounts };
    cost::record(desk, &piece)?;
    Ok(())
}

/// Which time a module works, from 1.
pub(crate) fn activation(desk: &Desk, module: &str) -> u64 {
    let is_own = |one: &TaskCostRecord| one.module_id.as_deref() == Some(module);
    desk.all::<TaskCostRecord>().filter(is_own).count() as u64 + 1
}

/// What a question cost.
#[must_use]
pub fn amounts(call: &Call) -> Amounts {
    let model = if call.host.is_some() { Model::Remote(None) } else { Model::Local };
    let mut amounts = model.cost(call.input_tokens, call.output_tokens);
    amounts.extend(call.usd_micros.map(|usd| (Dimension::Usd, usd)));
    amounts
}

fn record_call(desk: &mut Desk, call: &Call) -> Result<(), Error> {
    let packet = assemble(desk, &call.shown)?;
    let room = Room { tokens_max: CONTEXT_TOKENS_MAX, digest_tokens: 0, feedback_tokens: 0 };
    context::activate(desk, &call.module, &packet, room)
        .map_err(|why| Error::Missing(format!("context that can be used: {why}")))?;
    let amounts = amounts(call);
    let planned = call.planned.as_deref().and_then(|word| cost::planned(desk, word));
    let activation = activation(desk, &call.module);
    let class = Class::LogicalLlmWork;
    let piece = Piece { module: call.module.clone(), activation, class, planned, amounts };
    let cost = cost::record(desk, &piece)?;
    let Some(host) = &call.host else { return Ok(()) };
    let going = going(host)?;
    // Whoever asked was let; what is let can't be taken back in between, as a stage is alone with its desk.
    let cleared = outside::begin(desk, &going)?.map_err(|held| Error::Missing(format!("leave: {held}")))?;
    let status = match call.ended {
        Ended::Completed => Status::Completed,
        Ended::Failed => Status::Failed,
        Ended::Cancelled => Status::Cancelled,
    };
    let cost = desk
        .find::<TaskCostRecord>("TaskCostRecord", reading(&cost))
        .and_then(|one| one.actual_cost_vector_ref);
    outside::done(desk, &going, cleared, &Left { status, cost })?;
    Ok(())
}

fn reading(one: &StorageRef) -> &str {
    Reference::read(one.as_str()).map_or("", |read| read.id)
}
