//! What policies say of a command, check by check.
//! Owns: the checks. Must not: look whether there is anything to do it to; what is not there is held against nobody.

use super::request::Command;
use super::{By, export, standing};
use crate::artifact;
use crate::attention;
use crate::desk::Desk;
use crate::library::{self, Gate};
use crate::outside::{self, Held};
use crate::rely;
use crate::travel::{checkpoint, fork};
use alloc::string::{String, ToString};
use countersign_govern::types::added::policy::PolicyDecision as Decision;
use countersign_govern::types::added::showing::ActorKind;
use countersign_govern::types::basic::Severity;

/// What a check said.
pub(super) struct Said {
    /// What it is called.
    pub(super) name: &'static str,
    /// What it decided.
    pub(super) decision: Decision,
    /// Why it forbids.
    pub(super) why: Option<String>,
}

/// What a check says of a command. One that nobody knows forbids.
pub(super) fn check(desk: &Desk, command: &Command, by: &By<'_>, name: &'static str) -> Said {
    let forbidden = forbidden(desk, command, by, name);
    let decision = if forbidden.is_none() { Decision::Allow } else { Decision::Deny };
    Said { name, decision, why: forbidden }
}

/// Why a check forbids a command.
fn forbidden(desk: &Desk, command: &Command, by: &By<'_>, name: &str) -> Option<String> {
    let when = |is_forbidden: bool, why: &str| is_forbidden.then(|| why.to_string());
    match name {
        "same_matter" => when(by.matter != desk.matter(), "it is of another matter"),
        "actor_is_a_person" | "actor_may_contest" => {
            when(by.kind != ActorKind::User, "only a person may do that")
        }
        "reviewer_may_issue" | "reviewer_may_decide" | "user_may_approve" => when(
            by.kind != ActorKind::User || (by.needs_another && by.is_proposer),
            "only a person may decide, and where the policy says so not who began the run",
        ),
        "actor_may_invalidate" | "actor_may_cancel" | "actor_may_skip" | "actor_may_renew" => {
            when(by.kind == ActorKind::TaskAgent, "an agent of the task may not do that")
        }
        "packet_not_stale" => {
            let is_stale = rely::due(desk).map_or(true, |due| due.is_some());
            when(is_stale, "something that the packet rests on has changed")
        }
        "head_unchanged" => {
            when(!is_head_unchanged(desk, command), "another version counts by now than was compared")
        }
        "checkpoint_complete" => {
            let chosen = standing::checkpoint_of(desk, command);
            let is_broken = chosen.is_some_and(|one| !checkpoint::is_complete(desk, &one));
            when(is_broken, "the checkpoint lacks the policies or the capabilities of its time")
        }
        "irreversible_effects_listed" => {
            when(fork::irreversible(desk).is_err(), "an effect that can't be undone has no name")
        }
        "snapshots_complete" => {
            let is_there = desk.policy_snapshot().is_ok() && desk.capability_snapshot().is_ok();
            when(!is_there, "nobody has written down the policies or the capabilities")
        }
        "source_closed" => {
            let is_waiting =
                standing::item_of(desk, command).is_some_and(|item| attention::is_waiting(desk, &item));
            when(is_waiting, "what asks for attention is still open: it must be answered")
        }
        "not_blocking" => {
            let item = standing::item_of(desk, command);
            let is_blocking = item.is_some_and(|item| item.priority == Severity::Blocking);
            when(is_blocking, "what blocks can't be put aside: it must be answered")
        }
        "library_gate" | "approver_if_privileged" => shelved(desk, command, by, name),
        "externalization_policy" | "data_class_allowed" | "taint_allowed" | "confirmation_if_privileged" => {
            held(desk, command, name)
        }
        _nobody_knows => Some("nobody knows this check".to_string()),
    }
}

/// Why a source does not enter the library.
fn shelved(desk: &Desk, command: &Command, by: &By<'_>, check: &str) -> Option<String> {
    let Command::Promote(asked) = command else { return None };
    let source = desk.task().source(&asked.source)?;
    let is_barred = by.kind != ActorKind::User || (by.needs_another && by.is_proposer);
    match check {
        "approver_if_privileged" => (source.is_privileged() && is_barred)
            .then(|| "a person must let a privileged source in".to_string()),
        _gate => match library::would(desk, &asked.source, desk.task().policies().library().access_tier()) {
            Gate::Open => None,
            Gate::Shut(why) => Some(why),
        },
    }
}

/// Why evidence does not leave: each reason belongs to one check.
fn held(desk: &Desk, command: &Command, check: &str) -> Option<String> {
    let Command::Export(asked) = command else { return None };
    let going = export::going(asked).ok()?;
    let held = outside::may(desk, &going).err()?;
    let is_of = match (&held, check) {
        (Held::Never(_), "externalization_policy")
        | (Held::Class { .. } | Held::Unknown(_), "data_class_allowed") => true,
        (Held::Unconfirmed, "confirmation_if_privileged") => asked.confirmed != Some(true),
        (Held::Kept, "confirmation_if_privileged") => true,
        (Held::Never(_) | Held::Class { .. } | Held::Unknown(_) | Held::Unconfirmed | Held::Kept, _) => false,
    };
    is_of.then(|| held.to_string())
}

/// Whether the version that a candidate was compared with still counts.
fn is_head_unchanged(desk: &Desk, command: &Command) -> bool {
    let Some(packet) = standing::review_of(desk, command) else { return true };
    let heads = desk.task().artifacts.iter().filter_map(|one| artifact::head(desk, &one.id));
    heads.filter_map(|head| head.reference().ok()).any(|head| head == packet.before_artifact_version_ref)
}
