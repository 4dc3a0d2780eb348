//! How something moves that has no receipt of its own.
//! Owns: the general receipt. Must not: know which moves are allowed; machines do.

use crate::desk::{Desk, Error};
use alloc::string::ToString;
use countersign_govern::types::added::outcome::LifecycleTransitionReceipt;
use countersign_govern::types::basic::{StorageRef, V10};

/// Something moves from one state to another, by somebody and for a reason.
///
/// # Errors
/// It can't be written.
pub(crate) fn go(
    desk: &mut Desk,
    subject: &StorageRef,
    (from, to): (&str, &str),
    by: &str,
    reason: &str,
) -> Result<(), Error> {
    desk.put(&LifecycleTransitionReceipt {
        receipt_id: desk.id("moved"),
        subject_ref: subject.clone(),
        from_state: from.to_string(),
        to_state: to.to_string(),
        actor_ref: StorageRef::try_from(by).map_err(|_| Error::Unnameable(by.to_string()))?,
        reason: reason.to_string(),
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    Ok(())
}
