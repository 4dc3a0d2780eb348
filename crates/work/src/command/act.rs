//! What each command does.
//! Owns: leading a command to what carries it out. Must not: judge whether it may be.

use super::request::Command;
use super::{By, Effect, Given, besides, export, packet, review, source, stop};
use crate::attention;
use crate::call;
use crate::contract;
use crate::desk::{Desk, Error};
use crate::finding;
use crate::rely;
use crate::revise::Decision;
use crate::travel::{checkpoint, fork};
use alloc::string::{String, ToString};
use countersign_govern::types::basic::StorageRef;
use countersign_govern::types::reliance::{
    AttentionLedgerItemLifecycleState as ItemState, RelianceArtifactLifecycleState as Life,
};
use countersign_record::json::Json;

/// What a checkpoint of a person is called, where they do not say.
const LABEL: &str = "kept by a person";

/// Carries a command out.
pub(super) fn act(
    desk: &mut Desk,
    command: &Command,
    by: &By<'_>,
    given: &Given<'_>,
) -> Result<Effect, Error> {
    let actor = by.reference()?;
    match command {
        Command::Issue(asked) => packet::issue(desk, asked.packet_id.as_deref(), &actor)?,
        Command::Invalidate(asked) => {
            rely::invalidate(desk, asked.invalidation_kind, &asked.triggering_ref, actor.as_str())?;
        }
        Command::Review(asked) => {
            let (id, why) = (asked.packet_id.as_deref(), asked.note.as_deref());
            packet::go(desk, id, Life::UserReviewed, &actor, why.unwrap_or("read by a person"))?;
        }
        Command::Archive(asked) => {
            packet::go(desk, asked.packet_id.as_deref(), Life::Archived, &actor, "put away by a person")?;
        }
        Command::Renew(_) => packet::renew(desk, given)?,
        Command::Contest(asked) => {
            let evidence = asked.evidence_refs.clone().unwrap_or_default();
            finding::contest(desk, &asked.finding_id, &actor, &asked.grounds, evidence)?;
        }
        Command::Confirm(asked) => {
            let evidence = asked.evidence_refs.clone().unwrap_or_default();
            finding::confirm(desk, &asked.finding_id, &actor, by.is_proposer, evidence)?;
        }
        Command::Withdraw(asked) => finding::withdraw(desk, &asked.finding_id, &actor)?,
        Command::RejectFinding(asked) => finding::reject(desk, &asked.finding_id, &actor, &asked.grounds)?,
        Command::Preview(_) => {}
        Command::Fork(asked) => return forked(desk, asked.checkpoint_id.as_deref(), &asked.reason, given),
        Command::Accept(asked) => {
            return review::decide(desk, command, Decision::Accept, by, asked.rationale.as_deref());
        }
        Command::Reject(asked) => {
            return review::decide(desk, command, Decision::Reject, by, asked.rationale.as_deref());
        }
        Command::RequestChanges(asked) => {
            return review::decide(desk, command, Decision::RequestChanges, by, Some(&asked.rationale));
        }
        Command::Restore(asked) => return review::restore(desk, command, asked, by),
        Command::ForkCandidate(asked) => return review::fork(desk, command, asked, by, given),
        Command::Cancel(asked) => return stop::cancel(desk, asked, by),
        Command::Skip(asked) => stop::skip(desk, asked, by)?,
        Command::Keep(asked) => kept(desk, asked.label.as_deref(), &actor)?,
        Command::Answer(asked) => return answered(desk, &asked.hard_call_id, &asked.option_id, by),
        Command::Defer(asked) => call::defer(desk, &asked.hard_call_id).map_err(unasked)?,
        Command::Recheck(asked) => source::recheck(desk, asked, given)?,
        Command::Promote(asked) => source::promote(desk, &asked.source, by)?,
        Command::Export(asked) => return export::begin(desk, asked, by, given),
        Command::Attend(one) => attended(desk, (&one.item_id, &one.note), ItemState::Resolved, &actor)?,
        Command::Dismiss(one) => attended(desk, (&one.item_id, &one.note), ItemState::Dismissed, &actor)?,
        Command::Approve(_) => decide(desk, &contract::Decision::Approve, by)?,
        Command::Refuse(asked) => decide(desk, &contract::Decision::Reject { reason: &asked.reason }, by)?,
        Command::Edit(asked) => edit(desk, &asked.task, by)?,
        Command::Besides(one) => besides::act(desk, one, by)?,
    }
    Ok(Effect::Nothing)
}

/// A run begins anew from a checkpoint.
fn forked(
    desk: &mut Desk,
    checkpoint: Option<&str>,
    reason: &str,
    given: &Given<'_>,
) -> Result<Effect, Error> {
    let kept = review::checkpoint(desk, checkpoint)?;
    let fork = fork::write(desk, &kept, given.new_run, reason)?;
    Ok(Effect::Forked { fork, heads: fork::kept(desk, &kept), answered: None })
}

/// A person answers a question.
fn answered(desk: &mut Desk, question: &str, option: &str, by: &By<'_>) -> Result<Effect, Error> {
    call::answer(desk, question, option, by.name).map_err(unasked)?;
    Ok(Effect::Answered { question: question.to_string(), option: option.to_string() })
}

fn kept(desk: &mut Desk, label: Option<&str>, by: &StorageRef) -> Result<(), Error> {
    checkpoint::keep(desk, label.unwrap_or(LABEL), by.as_str()).map(drop)
}

/// A person has dealt with something that waited, or puts it aside.
fn attended(
    desk: &mut Desk,
    (item, note): (&str, &Option<String>),
    to: ItemState,
    by: &StorageRef,
) -> Result<(), Error> {
    let words = if to == ItemState::Resolved { "dealt with by a person" } else { "put aside by a person" };
    attention::close(desk, item, to, by, note.as_deref().unwrap_or(words))
}

fn edit(desk: &mut Desk, task: &Json, by: &By<'_>) -> Result<(), Error> {
    let task = crate::task::read_whole(task).map_err(|_| Error::Missing("task".to_string()))?;
    decide(desk, &contract::Decision::Edit(&task), by)
}

/// Why a question can't be answered; what is only now found out leaves nothing behind.
fn unasked(refusal: call::Refusal) -> Error {
    match refusal {
        call::Refusal::Unwritten(error) => error,
        other => Error::Missing(other.to_string()),
    }
}

fn decide(desk: &mut Desk, decision: &contract::Decision<'_>, by: &By<'_>) -> Result<(), Error> {
    contract::decide(desk, decision, by.name).map_err(|refusal| match refusal {
        contract::Refusal::Unwritten(error) => error,
        other => Error::Missing(other.to_string()),
    })
}
