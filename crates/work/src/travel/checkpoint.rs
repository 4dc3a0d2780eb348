//! Known good states: what a run can be taken back to.
//! Owns: making and finding them. Must not: take a run back.

use crate::artifact::{self, Version};
use crate::desk::{Desk, Error, hash_of, reference};
use crate::names::{ENGINE, references};
use crate::outcome;
use crate::task::Artifact;
use crate::workspace;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::types::added::outcome::OutcomeRecord;
use countersign_govern::types::added::repair::{SideEffectLedgerEntry, SideEffectState};
use countersign_govern::types::basic::{StorageRef, V10};
use countersign_govern::types::checkpoint::KnownGoodCheckpoint;
use countersign_govern::types::outcome::OutcomeEvaluationState as State;
use countersign_record::json::Json;

/// What an automatic checkpoint is called by people.
const AUTOMATIC: &str = "every outcome of it is satisfied";

/// All checkpoints of the run, in order.
#[must_use]
pub fn all(desk: &Desk) -> Vec<KnownGoodCheckpoint> {
    desk.all::<KnownGoodCheckpoint>().collect()
}

/// A checkpoint by its id or its label, the newest first; the last one where none is named.
#[must_use]
pub fn find(desk: &Desk, name: Option<&str>) -> Option<KnownGoodCheckpoint> {
    let is_it =
        |one: &KnownGoodCheckpoint| name.is_none_or(|name| one.checkpoint_id == name || one.label == name);
    desk.all::<KnownGoodCheckpoint>().rfind(is_it)
}

/// Keeps the versions that count now, of all artifacts.
///
/// # Errors
/// There are none, or something can't be written.
pub fn keep(desk: &mut Desk, label: &str, by: &str) -> Result<StorageRef, Error> {
    let artifacts: Vec<Artifact> = desk.task().artifacts.clone();
    write(desk, &artifacts, label, by)
}

/// Keeps the versions that count of every artifact whose outcomes are all satisfied, unless they are kept already.
///
/// # Errors
/// Something can't be written.
pub fn keep_good(desk: &mut Desk) -> Result<Option<StorageRef>, Error> {
    let good: Vec<Artifact> =
        desk.task().artifacts.iter().filter(|one| is_good(desk, one)).cloned().collect();
    let heads = heads(desk, &good)?;
    let is_kept = all(desk).iter().any(|one| heads.iter().all(|head| one.artifact_head_refs.contains(head)));
    if heads.is_empty() || is_kept {
        return Ok(None);
    }
    write(desk, &good, AUTOMATIC, ENGINE).map(Some)
}

/// Whether every outcome of an artifact is satisfied, and there is one.
fn is_good(desk: &Desk, artifact: &Artifact) -> bool {
    let task = desk.task();
    let own = task.outcomes.iter().filter(|one| task.artifact_of(one).is_some_and(|of| of.id == artifact.id));
    let mut states = own.map(|one| outcome::state(desk, &one.id)).peekable();
    states.peek().is_some() && states.all(|state| state == State::Satisfied)
}

fn heads(desk: &Desk, artifacts: &[Artifact]) -> Result<Vec<StorageRef>, Error> {
    let heads = artifacts.iter().filter_map(|one| artifact::head(desk, &one.id));
    heads.map(|one: Version| one.reference()).collect()
}

fn write(desk: &mut Desk, artifacts: &[Artifact], label: &str, by: &str) -> Result<StorageRef, Error> {
    let head_refs = heads(desk, artifacts)?;
    if head_refs.is_empty() {
        return Err(Error::Missing("version that could be kept".to_string()));
    }
    let read = workspace::read(desk)?;
    let versions = artifacts.iter().flat_map(|one| artifact::versions(desk, &one.id)).map(|one| one.id);
    let versions: Vec<String> = versions.collect();
    let effects = effects(desk);
    desk.put(&KnownGoodCheckpoint {
        checkpoint_id: desk.id("checkpoint"),
        task_id: desk.task().id.clone(),
        run_id: desk.run().to_string(),
        label: label.to_string(),
        artifact_head_refs: head_refs,
        artifact_version_refs: references("ArtifactVersion", versions.iter().map(String::as_str))?,
        source_workspace_snapshot_refs: Vec::from([read]),
        run_workspace_snapshot_ref: None,
        graph_topology_snapshot_ref: graph(desk)?,
        policy_snapshot_ref: desk.policy_snapshot()?,
        capability_snapshot_ref: desk.capability_snapshot()?,
        event_seq: desk.end(),
        irreversible_side_effect_refs: references(
            "SideEffectLedgerEntry",
            effects.iter().map(String::as_str),
        )?,
        created_by_ref: by.to_string(),
        created_at: desk.now(),
        schema_version: V10,
    })
}

/// What the run has done outside, by what each is called.
fn effects(desk: &Desk) -> Vec<String> {
    let done = desk.all::<SideEffectLedgerEntry>().filter(|one| one.state == SideEffectState::Executed);
    let mut ids: Vec<String> = done.map(|one| one.side_effect_id).collect();
    ids.sort();
    ids.dedup();
    ids
}

/// How the outcomes depend on each other, by the hash of that.
fn graph(desk: &Desk) -> Result<StorageRef, Error> {
    let edges = desk.each::<OutcomeRecord>("OutcomeRecord").map(|found| {
        let upstream = found.record.depends_on_outcome_ids.iter().map(|id| id.as_str().into()).collect();
        Json::Array(Vec::from([Json::from(found.id), Json::Array(upstream)]))
    });
    let hash = hash_of(&Json::Array(edges.collect()))?;
    let text = format!("graph:{}#{hash}", desk.own("outcomes"));
    StorageRef::try_from(text.as_str()).map_err(|_| Error::Unnameable(text))
}

/// Whether everything that a checkpoint rests on is there: the policies and the capabilities of its time.
#[must_use]
pub fn is_complete(desk: &Desk, checkpoint: &KnownGoodCheckpoint) -> bool {
    let is_there = |kind: &str, wanted: &StorageRef| {
        desk.each::<Json>(kind).any(|found| reference(kind, &found.id).is_ok_and(|own| own == *wanted))
    };
    is_there("PolicySnapshot", &checkpoint.policy_snapshot_ref)
        && is_there("CapabilitySnapshot", &checkpoint.capability_snapshot_ref)
}
