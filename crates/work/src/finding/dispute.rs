//! Findings that people dispute or stand by.
//! Owns: the records of that, and who counts as whom. Must not: let an agent of the task decide.

use super::{Known, find, go};
use crate::desk::{Desk, Error, reference};
use alloc::string::ToString;
use alloc::vec::Vec;
use countersign_govern::types::added::outcome::ContestationRequest;
use countersign_govern::types::basic::{StorageRef, V10};
use countersign_govern::types::finding::{
    FindingLifecycleTransitionReceiptTransitionReason as Reason, FindingState as State,
};

fn known(desk: &Desk, id: &str) -> Result<Known, Error> {
    find(desk, id).ok_or_else(|| Error::Missing(id.to_string()))
}

/// The event that a finding is known by.
fn event(known: &Known) -> Result<StorageRef, Error> {
    reference("EvaluationFindingEvent", &known.event.finding_event_id)
}

/// Who disputed a finding last.
#[must_use]
pub fn contested_by(desk: &Desk, id: &str) -> Option<StorageRef> {
    let subject = event(&find(desk, id)?).ok()?;
    let last = desk.all::<ContestationRequest>().rfind(|one| one.subject_ref == subject);
    last.map(|one| one.user_ref)
}

/// Disputes a finding.
///
/// # Errors
/// Something can't be written.
pub fn contest(
    desk: &mut Desk,
    id: &str,
    by: &StorageRef,
    grounds: &str,
    evidence_refs: Vec<StorageRef>,
) -> Result<(), Error> {
    let known = known(desk, id)?;
    let request = said(desk, &known, by, grounds, evidence_refs)?;
    go(desk, &known, State::Contested, Reason::UserContested, by.as_str(), Vec::from([request]))
}

fn said(
    desk: &mut Desk,
    known: &Known,
    by: &StorageRef,
    grounds: &str,
    evidence_refs: Vec<StorageRef>,
) -> Result<StorageRef, Error> {
    desk.put(&ContestationRequest {
        request_id: desk.id("contested"),
        subject_ref: event(known)?,
        user_ref: by.clone(),
        grounds: grounds.to_string(),
        evidence_refs,
        created_at: desk.now(),
        schema_version: Some(V10),
    })
}

/// Stands by a finding. Who shows evidence, and neither began the run nor disputed the finding, does so as a reviewer; everybody else
/// as a user.
///
/// # Errors
/// Something can't be written.
pub fn confirm(
    desk: &mut Desk,
    id: &str,
    by: &StorageRef,
    is_proposer: bool,
    evidence: Vec<StorageRef>,
) -> Result<(), Error> {
    let known = known(desk, id)?;
    let is_party = is_proposer || contested_by(desk, id).as_ref() == Some(by);
    let to = if is_party || evidence.is_empty() { State::UserApproved } else { State::HumanVerified };
    go(desk, &known, to, Reason::UserConfirmed, by.as_str(), evidence)
}

/// A dispute is taken back.
///
/// # Errors
/// Something can't be written.
pub fn withdraw(desk: &mut Desk, id: &str, by: &StorageRef) -> Result<(), Error> {
    let known = known(desk, id)?;
    go(desk, &known, State::Active, Reason::UserConfirmed, by.as_str(), Vec::new())
}

/// A finding is none.
///
/// # Errors
/// Something can't be written.
pub fn reject(desk: &mut Desk, id: &str, by: &StorageRef, grounds: &str) -> Result<(), Error> {
    let known = known(desk, id)?;
    let request = said(desk, &known, by, grounds, Vec::new())?;
    go(desk, &known, State::RejectedByUser, Reason::RejectedByUser, by.as_str(), Vec::from([request]))
}
