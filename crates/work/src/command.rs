//! Commands: the only way in which people change what is governed.
//! Owns: taking one in, its checks, its receipt, the order of its records. Must not: append a row, or decide what
//! `govern::decide::command` decides.
//!
//! Everything that a command writes lies between its invocation and its receipt, and is durable with both or not at all. The same key
//! with the same request gives the same receipt and writes nothing.

mod act;
mod besides;
mod checks;
mod export;
mod packet;
mod request;
mod review;
mod source;
mod standing;
mod stop;

pub use request::Command;

use crate::attention;
use crate::call;
use crate::desk::{Desk, Error, Found, hash_of, reference};
use crate::names::ENGINE;
use crate::rely;
use crate::score::Seen;
use crate::show::person;
use crate::texts::{Contents, Head};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::decide::command::{
    self, Circumstances, Given as Before, Outcome, Refusal as Unheard, Registry, Standing,
};
use countersign_govern::decide::replay::Step;
use countersign_govern::table::commands;
use countersign_govern::types::added::policy::{PolicyDecision, PolicyEvaluation};
use countersign_govern::types::added::showing::{
    ActorKind, CommandInvocation, CommandReceipt, ReplayPreview,
};
use countersign_govern::types::basic::{StorageRef, V10};
use countersign_govern::types::checkpoint::TaskRunFork;
use countersign_govern::types::read_models::DerivedReadModelRecordReadModelKind as ReadModel;
use countersign_govern::types::wire::Trouble;
use countersign_record::digest::Digest;
use countersign_record::json::{self, Json};

/// Who gives a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct By<'a> {
    /// Their name.
    pub name: &'a str,
    /// What they are.
    pub kind: ActorKind,
    /// The matter that they act in.
    pub matter: &'a str,
    /// Whether they began the run.
    pub is_proposer: bool,
    /// Whether whoever began a run may not decide on it.
    pub needs_another: bool,
}

impl By<'_> {
    /// The reference to them.
    ///
    /// # Errors
    /// They can't be named.
    pub fn reference(&self) -> Result<StorageRef, Error> {
        match self.kind {
            ActorKind::User => person(self.name),
            ActorKind::Engine => {
                StorageRef::try_from(ENGINE).map_err(|_| Error::Unnameable(ENGINE.to_string()))
            }
            ActorKind::TaskAgent => reference("Agent", self.name),
        }
    }
}

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The command.
    pub command: &'a str,
    /// By which a second try is known.
    pub key: &'a str,
    /// What it is asked with.
    pub request: &'a Json,
    /// Who asks.
    pub by: By<'a>,
}

/// What only the outside can tell.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    /// Texts, by their hashes.
    pub contents: Contents<'a>,
    /// What schemas, commands and judges say of texts.
    pub seen: &'a dyn Fn(&[Head]) -> Seen,
    /// The name that a new run would have.
    pub new_run: &'a str,
    /// The steps of the run so far, as a replay would take them.
    pub steps: &'a [Step],
    /// Whether the run has ended.
    pub is_over: bool,
}

/// What became of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// What is answered.
    pub receipt: CommandReceipt,
    /// What was decided.
    pub outcome: Outcome,
    /// Whether it was answered before, so that nothing was done now.
    pub is_repeated: bool,
    /// What it wrote, in order.
    pub records: Vec<StorageRef>,
    /// What is shown and old now.
    pub made_old: Vec<ReadModel>,
    /// What to tell where it could not simply be carried out.
    pub shown: Option<String>,
    /// Why it was refused, each reason in a sentence.
    pub reasons: Vec<String>,
    /// What follows outside of the records.
    pub effect: Effect,
}

/// What follows from a command outside of the governed records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Nothing,
    /// A question was answered that the run may wait for.
    Answered {
        /// Which.
        question: String,
        /// By which option.
        option: String,
    },
    /// A new run begins, and the question that is answered with that.
    Forked {
        /// What the record of it says.
        fork: TaskRunFork,
        /// The versions that it begins with: the hashes of their bytes, by the artifacts' names in the task.
        heads: BTreeMap<String, Digest>,
        /// The question and the option, where one waited for this.
        answered: Option<(String, String)>,
    },
    /// Evidence is to be written out. That it is about to be is on record; what became of it is told with `finished`.
    Export {
        /// Where to.
        destination: String,
        /// What.
        document: Json,
    },
    /// What a replay would do.
    Previewed(ReplayPreview),
    /// The run is to end.
    Cancelled,
}

/// Why a command gets no receipt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no such command.
    #[error("there is no command {0}")]
    Unknown(String),
    /// The request is not as the command has it.
    #[error("the request does not fit the command{}", told(.0))]
    Request(Vec<Trouble>),
    /// It has no key, or one that stands for something else.
    #[error("{0}")]
    Unheard(Unheard),
    /// It can't be written.
    #[error(transparent)]
    Unwritten(#[from] Error),
}

/// What is wrong with a request first, and where, if it is not the whole of it.
fn told(troubles: &[Trouble]) -> String {
    match troubles.first() {
        None => String::new(),
        Some(one) if one.path.is_empty() => alloc::format!(": it {}", one.message),
        Some(one) => alloc::format!(": {} {}", one.path, one.message),
    }
}

/// Carries out a command, whole or not at all.
///
/// # Errors
/// It gets no receipt, and why.
pub fn run(desk: &mut Desk, asked: &Asked<'_>, given: &Given<'_>) -> Result<Ruling, Refusal> {
    let command = Command::read(asked.command, asked.request)
        .ok_or_else(|| Refusal::Unknown(asked.command.to_string()))?
        .map_err(Refusal::Request)?;
    let mut trial = desk.clone();
    let ruling = taken_in(&mut trial, &command, asked, given)?;
    *desk = trial;
    Ok(ruling)
}

fn taken_in(
    desk: &mut Desk,
    command: &Command,
    asked: &Asked<'_>,
    given: &Given<'_>,
) -> Result<Ruling, Refusal> {
    let invocation = invocation(desk, command, asked)?;
    if let Some(begun) = unfinished(desk, asked.key) {
        return taken_up(desk, command, &invocation, begun, given);
    }
    let entry = commands::find(command.id()).ok_or_else(|| Refusal::Unknown(command.id().to_string()))?;
    let names = entry.policy_checks.iter();
    let said: Vec<checks::Said> = names.map(|name| checks::check(desk, command, &asked.by, name)).collect();
    let decisions: BTreeMap<&str, PolicyDecision> = said.iter().map(|one| (one.name, one.decision)).collect();
    let (standing, why) = standing::standing(desk, command, &asked.by, given);
    let at = desk.clock().clone();
    let circumstances = Circumstances { at: &at, checks: &decisions, standing };
    let decided = command::decide(&Registry::default(), &before(desk), &invocation, &circumstances)
        .map_err(Refusal::Unheard)?;
    if decided.is_repeated {
        return Ok(repeated(desk, decided.receipt));
    }
    let outcome = decided.receipt.status;
    if let Command::Preview(request) = command {
        // A preview leaves nothing behind, not even that it was asked for.
        let effect = match outcome {
            Outcome::Accepted => {
                Effect::Previewed(crate::travel::replay::preview(desk, request.replay_mode, given.steps))
            }
            Outcome::PolicyDenied | Outcome::NotFound | Outcome::WrongState => Effect::Nothing,
        };
        let reasons = why.into_iter().collect();
        let (receipt, shown) = (decided.receipt, decided.shown);
        let (records, made_old) = (Vec::new(), Vec::new());
        return Ok(Ruling {
            receipt,
            outcome,
            is_repeated: false,
            records,
            made_old,
            shown,
            reasons,
            effect,
        });
    }
    written(desk, &said)?;
    let begun = taken_down(desk, &invocation, asked)?;
    let effect = match outcome {
        Outcome::Accepted => act::act(desk, command, &asked.by, given)?,
        Outcome::PolicyDenied | Outcome::NotFound | Outcome::WrongState => Effect::Nothing,
    };
    let receipt = CommandReceipt { receipt_id: desk.id("command-receipt"), ..decided.receipt };
    // What is to be done outside has its receipt once it was.
    let is_open = matches!(effect, Effect::Export { .. });
    if !is_open {
        close(desk, &receipt)?;
    }
    let records = records(desk, begun, desk.end() - u64::from(!is_open));
    let reasons = match outcome {
        Outcome::Accepted => Vec::new(),
        Outcome::PolicyDenied => said.into_iter().filter_map(|one| one.why).collect(),
        Outcome::NotFound | Outcome::WrongState => why.into_iter().collect(),
    };
    let made_old = decided.made_old.into_iter().collect();
    let shown = decided.shown;
    Ok(Ruling { receipt, outcome, is_repeated: false, records, made_old, shown, reasons, effect })
}

/// Puts a command down, and gives its place. What nobody answered in time is told before an answer that comes all the same.
fn taken_down(desk: &mut Desk, invocation: &CommandInvocation, asked: &Asked<'_>) -> Result<u64, Error> {
    let request = json::to_text(asked.request).unwrap_or_default().into_bytes();
    desk.put_with(invocation, request)?;
    let begun = desk.end();
    call::lapse(desk)?;
    Ok(begun)
}

/// Everything that a command wrote is behind it: what fell with that is told, what waits for a person is, and it has its receipt.
fn close(desk: &mut Desk, receipt: &CommandReceipt) -> Result<(), Error> {
    rely::react(desk)?;
    attention::refresh(desk)?;
    desk.put(receipt)?;
    Ok(())
}

/// A command of this key that has no receipt yet: something is being done outside for it, or nobody saw the end of that.
fn unfinished(desk: &Desk, key: &str) -> Option<Found<CommandInvocation>> {
    let receipts: Vec<CommandReceipt> = desk.all().collect();
    let is_open = |one: &CommandInvocation| {
        one.idempotency_key.as_deref() == Some(key)
            && !receipts.iter().any(|receipt| receipt.invocation_id == one.invocation_id)
    };
    desk.each::<CommandInvocation>("CommandInvocation").find(|found| is_open(&found.record))
}

/// Takes a command up again whose end nobody saw. To write the same bytes to the same place a second time changes nothing.
fn taken_up(
    desk: &Desk,
    command: &Command,
    now: &CommandInvocation,
    begun: Found<CommandInvocation>,
    given: &Given<'_>,
) -> Result<Ruling, Refusal> {
    let then = &begun.record;
    let is_same = then.command_id == now.command_id
        && then.request_hash == now.request_hash
        && then.actor_ref == now.actor_ref;
    let (Command::Export(request), true) = (command, is_same) else {
        return Err(Refusal::Unheard(Unheard::KeyReused));
    };
    let receipt = CommandReceipt {
        receipt_id: desk.id("command-receipt"),
        invocation_id: then.invocation_id.clone(),
        status: Outcome::Accepted,
        created_at: desk.now(),
        schema_version: Some(V10),
    };
    Ok(Ruling {
        receipt,
        outcome: Outcome::Accepted,
        is_repeated: false,
        records: records(desk, begun.seq, desk.end()),
        made_old: Vec::new(),
        shown: None,
        reasons: Vec::new(),
        effect: export::again(desk, request, given)?,
    })
}

/// Says what became of what a command had done outside, and gives it its receipt.
///
/// # Errors
/// There is no such command, or it can't be written.
pub fn finished(desk: &mut Desk, asked: &Asked<'_>, has_left: bool) -> Result<CommandReceipt, Refusal> {
    let unknown = || Refusal::Unknown(asked.command.to_string());
    let command =
        Command::read(asked.command, asked.request).ok_or_else(unknown)?.map_err(Refusal::Request)?;
    let begun = unfinished(desk, asked.key);
    let (Command::Export(request), Some(begun)) = (&command, begun) else { return Err(unknown()) };
    let mut trial = desk.clone();
    export::done(&mut trial, request, has_left)?;
    let receipt = CommandReceipt {
        receipt_id: trial.id("command-receipt"),
        invocation_id: begun.record.invocation_id,
        status: Outcome::Accepted,
        created_at: trial.now(),
        schema_version: Some(V10),
    };
    close(&mut trial, &receipt)?;
    *desk = trial;
    Ok(receipt)
}

fn invocation(desk: &Desk, command: &Command, asked: &Asked<'_>) -> Result<CommandInvocation, Error> {
    Ok(CommandInvocation {
        invocation_id: desk.id("command"),
        command_id: command.id().to_string(),
        actor_ref: asked.by.reference()?,
        actor_kind: asked.by.kind,
        idempotency_key: Some(asked.key.to_string()),
        request_hash: String::from(hash_of(asked.request)?),
        created_at: desk.now(),
        schema_version: Some(V10),
    })
}

/// What the policy checks said, as rows.
fn written(desk: &mut Desk, said: &[checks::Said]) -> Result<(), Error> {
    for one in said {
        desk.put(&PolicyEvaluation {
            policy_evaluation_id: desk.id("check"),
            policy_id: one.name.to_string(),
            policy_version: "1.0".to_string(),
            decision: one.decision,
            user_alterable: false,
            decided_at: desk.now(),
            superseded_by: None,
            schema_version: Some(V10),
        })?;
    }
    Ok(())
}

/// The commands that were given before.
fn before(desk: &Desk) -> Before {
    let mut before = Before::default();
    let receipts: Vec<CommandReceipt> = desk.all().collect();
    for invocation in desk.all::<CommandInvocation>() {
        let receipt = receipts.iter().find(|one| one.invocation_id == invocation.invocation_id);
        if let Some(receipt) = receipt {
            before.apply(&invocation, receipt);
        }
    }
    before
}

/// What was answered before, with what was written then.
fn repeated(desk: &Desk, receipt: CommandReceipt) -> Ruling {
    let mut invocations = desk.each::<CommandInvocation>("CommandInvocation");
    let begun = invocations.find(|found| found.record.invocation_id == receipt.invocation_id);
    let ended = desk
        .each::<CommandReceipt>("CommandReceipt")
        .find(|found| found.record.receipt_id == receipt.receipt_id);
    let records = match begun.zip(ended) {
        Some((begun, ended)) => records(desk, begun.seq, ended.seq.saturating_sub(1)),
        None => Vec::new(),
    };
    // What was to leave and could not has its receipt, and still did not leave.
    let outcome = match records.iter().any(|one| export::has_failed(desk, one)) {
        true => Outcome::WrongState,
        false => receipt.status,
    };
    let failed = "it was tried under this key and could not be written: give it another key";
    let reasons = (outcome != receipt.status).then(|| failed.to_string()).into_iter().collect();
    Ruling {
        outcome,
        receipt,
        is_repeated: true,
        records,
        made_old: Vec::new(),
        shown: None,
        reasons,
        effect: Effect::Nothing,
    }
}

/// The references to the rows behind a place, up to another.
fn records(desk: &Desk, after: u64, until: u64) -> Vec<StorageRef> {
    let rows = (after + 1..=until).zip(desk.rows_after(after));
    rows.filter_map(|(seq, row)| reference(&row.kind, &row.name(seq)).ok()).collect()
}

/// What there is to do it to, and why not.
type Stands = (Standing, Option<String>);
