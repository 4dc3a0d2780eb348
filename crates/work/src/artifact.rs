//! Versions of the work: how each comes to be, and which one counts.
//! Owns: the records of versions. Must not: write a text.

use crate::desk::{Desk, Error, reference};
use alloc::format;
use alloc::string::{String, ToString};
use countersign_govern::types::added::artifact::{ArtifactVersion, ArtifactVersionTransitionEvent};
use countersign_govern::types::basic::{ArtifactVersionState as State, StorageRef, V10};
use countersign_govern::types::sufficiency::CandidateRepairProcedureSafetyClass as Safety;
use countersign_record::digest::Digest;

/// A version of an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// What it is called.
    pub id: String,
    /// Which one, from 1.
    pub number: u64,
    /// SHA-256 of its bytes.
    pub content: Digest,
    /// How it stands.
    pub state: Option<State>,
    /// The step of a plan that made it.
    pub step: Option<String>,
}

impl Version {
    /// The reference to it.
    ///
    /// # Errors
    /// It can't be named.
    pub fn reference(&self) -> Result<StorageRef, Error> {
        reference("ArtifactVersion", &self.id)
    }
}

/// How a version was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made<'a> {
    /// The artifact, as the task calls it.
    pub artifact: &'a str,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// The step of a plan that made it.
    pub step_id: Option<String>,
    /// Whether it says something else than the one before.
    pub safety: Safety,
}

/// Writes a version, as a candidate.
///
/// # Errors
/// Something can't be written.
pub fn candidate(desk: &mut Desk, made: &Made<'_>) -> Result<Version, Error> {
    let number = versions(desk, made.artifact).count() as u64 + 1;
    let id = desk.own(&format!("{}.v{number}", made.artifact));
    let content = Digest::of(made.bytes);
    let version = ArtifactVersion {
        artifact_version_id: id.clone(),
        artifact_stable_id: desk.own(made.artifact),
        task_id: desk.task().id.clone(),
        run_id: desk.run().to_string(),
        content_hash: String::from(content),
        produced_by_step_id: made.step_id.clone(),
        safety_class: Some(made.safety),
        created_at: desk.now(),
        schema_version: Some(V10),
    };
    desk.put_with(&version, made.bytes.to_vec())?;
    moved(desk, &id, None, State::Candidate)?;
    Ok(Version { id, number, content, state: Some(State::Candidate), step: made.step_id.clone() })
}

/// A candidate becomes the head, and what was the head before is replaced.
///
/// # Errors
/// Something can't be written.
pub fn accept(desk: &mut Desk, artifact: &str, version: &Version) -> Result<(), Error> {
    let before = head(desk, artifact);
    moved(desk, &version.id, version.state, State::AcceptedHead)?;
    match before {
        Some(before) if before.id != version.id => moved(desk, &before.id, before.state, State::Superseded),
        Some(_) | None => Ok(()),
    }
}

/// A version moves on.
///
/// # Errors
/// Something can't be written.
pub fn moved(desk: &mut Desk, version: &str, from: Option<State>, to: State) -> Result<(), Error> {
    desk.put(&ArtifactVersionTransitionEvent {
        event_id: desk.id("version-moved"),
        artifact_version_ref: reference("ArtifactVersion", version)?,
        from_state: from,
        to_state: to,
        run_id: desk.run().to_string(),
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    Ok(())
}

/// The versions of an artifact, in order.
pub fn versions<'d>(desk: &'d Desk, artifact: &str) -> impl DoubleEndedIterator<Item = Version> + use<'d> {
    let own = desk.linked::<ArtifactVersion>("ArtifactVersion", "artifact_stable_id", &desk.own(artifact));
    let all: alloc::vec::Vec<ArtifactVersion> = own.map(|found| found.record).collect();
    all.into_iter().enumerate().filter_map(move |(at, one)| {
        Some(Version {
            state: state(desk, &one.artifact_version_id),
            id: one.artifact_version_id,
            number: at as u64 + 1,
            content: Digest::try_from(one.content_hash.as_str()).ok()?,
            step: one.produced_by_step_id,
        })
    })
}

/// Where a version stands.
fn state(desk: &Desk, version: &str) -> Option<State> {
    let named = format!("artifact_version:{version}");
    let mut moves = desk.linked::<ArtifactVersionTransitionEvent>(
        "ArtifactVersionTransitionEvent",
        "artifact_version_ref",
        &named,
    );
    moves.next_back().map(|found| found.record.to_state)
}

/// The version that counts.
#[must_use]
pub fn head(desk: &Desk, artifact: &str) -> Option<Version> {
    versions(desk, artifact).rfind(|one| one.state == Some(State::AcceptedHead))
}
