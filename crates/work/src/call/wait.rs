//! Questions that wait: too long, or because a person puts them off.
//! Owns: saying so. Must not: pass a question over.

use super::{Refusal, open};
use crate::desk::{Desk, Error, after};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::types::added::stopping::{HardCallPendingEvent, PendingAction, PendingCause};
use countersign_govern::types::basic::V10;
use countersign_govern::types::hard_call::{HardCallPendingPolicyOnTimeout as OnTimeout, HardRevisionCall};
use countersign_record::time::Timestamp;

/// When the time for an answer is over.
#[must_use]
pub fn until(call: &HardRevisionCall) -> Option<Timestamp> {
    let raised = Timestamp::try_from(call.created_at.as_str()).ok()?;
    after(&raised, call.pending_policy.timeout_ms?)
}

/// When a question ends its run that nobody answers; nothing where its policy is another.
#[must_use]
pub fn ends_at(call: &HardRevisionCall) -> Option<Timestamp> {
    match call.pending_policy.on_timeout {
        OnTimeout::Abort => until(call),
        OnTimeout::Escalate | OnTimeout::ContinueWithWarning => None,
    }
}

/// When an open question ends the run that waits for it, if its policy does that.
#[must_use]
pub fn ending(desk: &Desk, id: &str) -> Option<Timestamp> {
    open(desk).iter().find(|call| call.hard_call_id == id).and_then(ends_at)
}

/// The open questions that have waited too long at a time, and of which nobody has said so yet.
fn over(desk: &Desk, now: &Timestamp) -> Vec<HardRevisionCall> {
    let is_over = |call: &HardRevisionCall| until(call).is_some_and(|until| now.instant() >= until.instant());
    let is_new =
        |id: &str| matches!(desk.says("hard_revision_call", id, "state"), Some("pending" | "deferred"));
    open(desk).into_iter().filter(|one| is_over(one) && is_new(&one.hard_call_id)).collect()
}

/// Whether something has become of an open question by a time that nobody has put down yet.
#[must_use]
pub fn lapses(desk: &Desk, now: &Timestamp) -> bool {
    !over(desk, now).is_empty()
}

/// What becomes of questions that waited too long, as the policy of each has it: they go to somebody else or are given up; each once.
///
/// # Errors
/// Something can't be written.
pub fn lapse(desk: &mut Desk) -> Result<Vec<String>, Error> {
    let now = desk.clock().clone();
    let mut lapsed = Vec::new();
    for call in over(desk, &now) {
        let action = call.pending_policy.on_timeout.into();
        pend(desk, &call.hard_call_id, PendingCause::TimedOut, action)?;
        lapsed.push(call.hard_call_id);
    }
    Ok(lapsed)
}

/// A person puts a question off.
///
/// # Errors
/// Nobody asked it or it is answered, or it can't be written.
pub fn defer(desk: &mut Desk, id: &str) -> Result<(), Refusal> {
    let call = open(desk).into_iter().find(|call| call.hard_call_id == id);
    let call = call.ok_or_else(|| Refusal::Unasked(id.to_string()))?;
    Ok(pend(desk, id, PendingCause::Deferred, call.pending_policy.on_defer.into())?)
}

fn pend(desk: &mut Desk, id: &str, cause: PendingCause, action: PendingAction) -> Result<(), Error> {
    desk.put(&HardCallPendingEvent {
        event_id: desk.id("pending"),
        hard_call_id: id.to_string(),
        cause,
        action,
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    Ok(())
}
