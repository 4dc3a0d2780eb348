//! How a run stands, before anything that its records say of the work.
//! Owns: what has become of its packet, and the words for how it ended. Must not: look at the work.

use countersign_govern::reference::Reference;
use countersign_govern::table::outcome::State;
use countersign_govern::types::hard_call::{
    TaskCancelProtocol, TaskCancelProtocolCancelScope as CancelScope, TaskSkipReceipt,
};
use countersign_govern::types::reliance::{
    RelianceArtifactLifecycleState as Life, RelianceInvalidationEvent as Fallen, TaskReliancePacket,
};
use countersign_govern::types::source::SourceRecord;
use countersign_verify::summary::{given_up, state, why, without_others};
use countersign_work::desk::Desk;
use countersign_work::task::Outcome;
use countersign_work::{outcome, rely};
use std::collections::BTreeSet;

/// Why the last packet of a run can't be relied on any more; nothing while it can, and where there is none.
pub(in crate::command) fn fallen(desk: &Desk) -> Option<String> {
    let packet = rely::last(desk)?;
    match packet.lifecycle_state {
        Life::Draft | Life::ReadyForReview | Life::UserReviewed | Life::Issued => None,
        Life::Superseded => Some("a newer one has taken its place".to_owned()),
        Life::Archived => Some("it was put away into the archive".to_owned()),
        Life::Invalidated => {
            let event = desk.all::<Fallen>().rfind(|one| one.packet_id == packet.packet_id);
            let files = changed(desk);
            let files: BTreeSet<&str> = files.iter().map(String::as_str).collect();
            Some(event.map_or_else(
                || "something that it rests on has changed since".to_owned(),
                |event| why(event.invalidation_kind, files),
            ))
        }
    }
}

/// The same, where a new packet can take its place.
pub(in crate::command) fn to_renew(desk: &Desk) -> Option<String> {
    let is_invalid = |packet: &TaskReliancePacket| packet.lifecycle_state == Life::Invalidated;
    rely::last(desk).filter(is_invalid).and_then(|_| fallen(desk))
}

/// The files of the sources that were found to be others than those that were taken in.
pub(in crate::command) fn changed(desk: &Desk) -> BTreeSet<String> {
    let is_changed = |id: &str| {
        let record: Option<SourceRecord> = desk.find("SourceRecord", &desk.own(id));
        record.is_some_and(|one| one.fresh_until.is_some() && one.fresh_until == one.updated_at)
    };
    let sources = desk.task().sources.iter().filter(|one| is_changed(&one.id));
    sources.map(|one| one.path.clone()).collect()
}

/// Whether an outcome is met: what was given up is not.
pub(in crate::command) fn is_met(state: State) -> bool {
    outcome::is_settled(state) && !given_up(state)
}

/// Whether an outcome has come to an end that is no success.
pub(in crate::command) fn has_failed(state: State) -> bool {
    outcome::has_failed(state) || given_up(state)
}

/// The words for how an outcome stands, with what it depends on that was given up.
pub(in crate::command) fn told(desk: &Desk, one: &Outcome) -> String {
    let own = outcome::state(desk, &one.id);
    let mut cancelled = desk.all::<TaskCancelProtocol>();
    let cancelled = cancelled.rfind(|one| one.cancel_scope == CancelScope::EntireRun);
    if let Some(cancelled) = cancelled.filter(|_| !outcome::is_settled(own) && !has_failed(own)) {
        // Nobody but a person cancels a run, unless nobody answered in time.
        return match cancelled.requested_by_ref.strip_prefix("user:") {
            Some(_) => "Left open when the run was cancelled",
            None => "Left open when nobody answered in time",
        }
        .to_owned();
    }
    let is_left_out = given_up(own)
        && desk
            .all::<TaskSkipReceipt>()
            .any(|skip| Reference::read(&skip.target_ref).is_some_and(|read| read.id == desk.own(&one.id)));
    let own_words = if is_left_out { "Left out" } else { state(own) };
    let words = match one.is_required() || is_met(own) {
        true => own_words.to_owned(),
        false => format!("{own_words}; it need not be met"),
    };
    let is_given_up = |id: &&String| given_up(outcome::state(desk, id));
    let without: Vec<&str> = one.depends_on().iter().filter(is_given_up).map(String::as_str).collect();
    without_others(own, words, &without)
}

/// The words for why a run is over, where its work does not say it.
pub(in crate::command) fn ended(reason: &str, words: &str) -> String {
    match (reason, words.is_empty()) {
        ("completed_successfully", _) => "it came to its end".to_owned(),
        (_, false) => words.to_owned(),
        (_, true) => reason.replace('_', " "),
    }
}
