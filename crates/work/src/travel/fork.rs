//! A run that begins from what another one kept.
//! Owns: the record of the fork, and what the new run begins with. Must not: begin it.
//!
//! What people decided in the parent is not carried over: a decision is one of its run, and where it is needed they are asked again.

use crate::desk::{Desk, Error};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::decide::fork::{self, Ask, Refusal, Restoring, ledger};
use countersign_govern::reference::Reference;
use countersign_govern::types::added::artifact::ArtifactVersion;
use countersign_govern::types::added::repair::SideEffectLedgerEntry;
use countersign_govern::types::checkpoint::{IrrevocableSideEffectAtFork, KnownGoodCheckpoint, TaskRunFork};
use countersign_govern::types::review::{RevisionReviewDecisionReceipt, RevisionReviewPacket};
use countersign_record::digest::Digest;

/// What was done outside in this run and can't be undone, as of now.
///
/// # Errors
/// Something has no name to list it by.
pub fn irreversible(desk: &Desk) -> Result<Vec<IrrevocableSideEffectAtFork>, Error> {
    let entries = entries(desk);
    let done = ledger(entries.iter().map(|(seq, entry)| (*seq, entry)));
    fork::irreversible(desk.run(), desk.end() + 1, &done).map_err(refused)
}

fn entries(desk: &Desk) -> Vec<(u64, SideEffectLedgerEntry)> {
    let all = desk.each::<SideEffectLedgerEntry>("SideEffectLedgerEntry");
    all.map(|found| (found.seq, found.record)).collect()
}

fn refused(refusal: Refusal) -> Error {
    Error::Missing(refusal.to_string())
}

/// Writes that a new run begins from a checkpoint of this one.
///
/// # Errors
/// The checkpoint does not fit, or something can't be written.
pub fn write(
    desk: &mut Desk,
    checkpoint: &KnownGoodCheckpoint,
    new_run: &str,
    reason: &str,
) -> Result<TaskRunFork, Error> {
    let entries = entries(desk);
    let done = ledger(entries.iter().map(|(seq, entry)| (*seq, entry)));
    let (fork_id, at) = (desk.id("fork"), desk.clock().clone());
    let ask = Ask { fork_id: &fork_id, new_run_id: new_run, reason, seq: desk.end() + 1, at: &at };
    let fork = fork::fork(checkpoint, &ask, &done).map_err(refused)?;
    desk.put(&fork)?;
    Ok(fork)
}

/// The decision on a review to go back to a checkpoint, with what can't be undone.
///
/// # Errors
/// The checkpoint does not fit.
pub fn restored(
    desk: &Desk,
    packet: &RevisionReviewPacket,
    checkpoint: &KnownGoodCheckpoint,
    by: &Restoring<'_>,
) -> Result<RevisionReviewDecisionReceipt, Error> {
    let entries = entries(desk);
    let done = ledger(entries.iter().map(|(seq, entry)| (*seq, entry)));
    fork::restore(packet, checkpoint, by, &done).map_err(refused)
}

/// The versions that a checkpoint keeps as heads: the hashes of their bytes, by the artifacts' names in the task.
#[must_use]
pub fn kept(desk: &Desk, checkpoint: &KnownGoodCheckpoint) -> BTreeMap<String, Digest> {
    let ids = checkpoint.artifact_head_refs.iter().filter_map(|one| Reference::read(one.as_str()));
    let ids: Vec<&str> = ids.map(|read| read.id).collect();
    let own = desk.all::<ArtifactVersion>().filter(|one| ids.contains(&one.artifact_version_id.as_str()));
    let kept = own.filter_map(|one| {
        let content = Digest::try_from(one.content_hash.as_str()).ok()?;
        Some((desk.local(&one.artifact_stable_id).to_string(), content))
    });
    kept.collect()
}
