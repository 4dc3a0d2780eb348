//! What a fork or a restore can't undo, and the records that say so.
//! Owns: which effects of a run are done and stay done. Must not: undo one, or start the new run.

use super::named;
use crate::types::added::repair::{SideEffectLedgerEntry, SideEffectState};
use crate::types::basic::{Instant as At, StorageRef, V10};
use crate::types::checkpoint::{
    IrrevocableSideEffectAtFork, IrrevocableSideEffectAtForkNote as Note, KnownGoodCheckpoint, TaskRunFork,
};
use crate::types::review::{
    RevisionReviewDecisionReceipt, RevisionReviewDecisionReceiptAction as Action, RevisionReviewPacket,
};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::time::Timestamp;

/// The irreversible effects that were carried out, by run and by what each is called, with the place of the first row that says
/// so and what else is known of it. What is said later of an effect does not undo it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done<'a, T>(BTreeMap<&'a str, BTreeMap<&'a str, (u64, T)>>);

impl<T> Default for Done<'_, T> {
    fn default() -> Self {
        Done(BTreeMap::new())
    }
}

impl<'a, T> Done<'a, T> {
    /// An effect that can't be undone was carried out.
    pub fn add(&mut self, run: &'a str, effect: &'a str, seq: u64, what: T) {
        let effects = self.0.entry(run).or_default();
        if effects.get(effect).is_none_or(|(first, _)| seq < *first) {
            effects.insert(effect, (seq, what));
        }
    }

    /// The effects of a run that were carried out before a place, by what they are called.
    pub fn before(&self, run: &str, seq: u64) -> impl Iterator<Item = (&'a str, &T)> {
        let effects = self.0.get(run).into_iter().flatten();
        effects.filter(move |(_, (first, _))| *first < seq).map(|(effect, (_, what))| (*effect, what))
    }
}

/// The ledger: what was carried out and can't be undone, of entries with their places in the log.
#[must_use]
pub fn ledger<'a>(
    entries: impl IntoIterator<Item = (u64, &'a SideEffectLedgerEntry)>,
) -> Done<'a, &'a SideEffectLedgerEntry> {
    let mut done = Done::default();
    for (seq, entry) in entries {
        let is_executed = match entry.state {
            SideEffectState::Executed => true,
            SideEffectState::Intent | SideEffectState::Cancelled => false,
        };
        if entry.irreversible && is_executed {
            done.add(&entry.run_id, &entry.side_effect_id, seq, entry);
        }
    }
    done
}

/// Why a run is not forked or restored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The checkpoint is of another run.
    #[error("the checkpoint is of another run")]
    OtherRun,
    /// The checkpoint lies behind the place of the fork.
    #[error("the checkpoint comes later")]
    NotYet,
    /// The new run has no name, or that of its parent.
    #[error("the new run or the fork has no name of its own")]
    Unnamed,
    /// An effect that can't be undone has no name to list it by.
    #[error("an effect that can't be undone has no name")]
    NamelessEffect,
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// What the fork is called.
    pub fork_id: &'a str,
    /// What the new run is called.
    pub new_run_id: &'a str,
    /// Why.
    pub reason: &'a str,
    /// Its place in the log.
    pub seq: u64,
    /// When.
    pub at: &'a Timestamp,
}

/// The effects of a run that a fork or a restore at a place can't undo.
///
/// # Errors
/// One of them has no name to list it by.
pub fn irreversible(
    run: &str,
    seq: u64,
    done: &Done<'_, &SideEffectLedgerEntry>,
) -> Result<Vec<IrrevocableSideEffectAtFork>, Refusal> {
    let list = |(id, entry): (&str, &&SideEffectLedgerEntry)| {
        let own = named("side_effect_ledger_entry", id).ok_or(Refusal::NamelessEffect)?;
        Ok(IrrevocableSideEffectAtFork {
            side_effect_id: id.to_string(),
            kind: entry.kind.clone(),
            executed_at: entry.created_at.clone(),
            note: Note::NotReversibleInFork,
            receipt_ref: entry.receipt_ref.clone().unwrap_or(own),
        })
    };
    done.before(run, seq).map(list).collect()
}

/// A new run from a checkpoint.
///
/// # Errors
/// The checkpoint does not fit, or something has no name.
pub fn fork(
    checkpoint: &KnownGoodCheckpoint,
    ask: &Ask<'_>,
    done: &Done<'_, &SideEffectLedgerEntry>,
) -> Result<TaskRunFork, Refusal> {
    let checkpoint_ref = named("known_good_checkpoint", &checkpoint.checkpoint_id).ok_or(Refusal::Unnamed)?;
    let is_named = [ask.fork_id, ask.new_run_id].iter().all(|name| !name.trim().is_empty());
    if !is_named || ask.new_run_id == checkpoint.run_id {
        return Err(Refusal::Unnamed);
    }
    if checkpoint.event_seq >= ask.seq {
        return Err(Refusal::NotYet);
    }
    Ok(TaskRunFork {
        fork_id: ask.fork_id.to_string(),
        parent_run_id: checkpoint.run_id.clone(),
        forked_from_checkpoint_ref: checkpoint_ref.as_str().to_string(),
        new_run_id: ask.new_run_id.to_string(),
        fork_reason: ask.reason.to_string(),
        irrevocable_side_effects_at_fork: irreversible(&checkpoint.run_id, ask.seq, done)?,
        created_at: At::from(ask.at),
        schema_version: V10,
    })
}

/// Who restores a known good state, and where in the log.
#[derive(Clone, Copy, Debug)]
pub struct Restoring<'a> {
    /// What the receipt is called.
    pub receipt_id: &'a str,
    /// Who.
    pub actor: &'a StorageRef,
    /// Why.
    pub rationale: &'a str,
    /// Its place in the log.
    pub seq: u64,
    /// When.
    pub at: &'a Timestamp,
}

/// The decision on a review to go back to a checkpoint.
///
/// # Errors
/// The checkpoint is of another run or comes later, or an effect has no name.
pub fn restore(
    packet: &RevisionReviewPacket,
    checkpoint: &KnownGoodCheckpoint,
    by: &Restoring<'_>,
    done: &Done<'_, &SideEffectLedgerEntry>,
) -> Result<RevisionReviewDecisionReceipt, Refusal> {
    if packet.run_id != checkpoint.run_id {
        return Err(Refusal::OtherRun);
    }
    if checkpoint.event_seq >= by.seq {
        return Err(Refusal::NotYet);
    }
    Ok(RevisionReviewDecisionReceipt {
        receipt_id: by.receipt_id.to_string(),
        packet_id: packet.packet_id.clone(),
        action: Action::RestoreKnownGoodState,
        actor_ref: by.actor.as_str().to_string(),
        rationale: Some(String::from(by.rationale)),
        resulting_candidate_state: None,
        command_ref: Some("revision_review.restore_known_good".to_string()),
        created_at: At::from(by.at),
        schema_version: V10,
        irrevocable_side_effects_at_fork: Some(irreversible(&packet.run_id, by.seq, done)?),
        policy_decision_refs: None,
    })
}
