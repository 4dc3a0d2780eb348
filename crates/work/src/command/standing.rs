//! Whether there is what a command is for, and in a state for it.
//! Owns: finding what a command names. Must not: change it.

use super::request::{Command, RecheckSourcesRequest};
use super::{By, Given, Stands, besides, stop};
use crate::artifact;
use crate::attention;
use crate::call;
use crate::contract;
use crate::desk::Desk;
use crate::finding;
use crate::library;
use crate::rely;
use crate::travel::{checkpoint, replay};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::audit::kind_of;
use countersign_govern::decide::command::Standing;
use countersign_govern::machine;
use countersign_govern::reference::Reference;
use countersign_govern::types::basic::StorageRef;
use countersign_govern::types::checkpoint::KnownGoodCheckpoint;
use countersign_govern::types::hard_call::HardRevisionCall;
use countersign_govern::types::reliance::{
    AttentionLedgerItem, AttentionLedgerItemLifecycleState as ItemState,
    EvaluationContractReviewApprovalStatus as Approved, RelianceArtifactLifecycleState as Life,
    RelianceStatus as Status,
};
use countersign_govern::types::replay::TaskReplayMode;
use countersign_govern::types::review::RevisionReviewPacket;
use countersign_record::json::Json;

pub(super) const READY: Stands = (Standing::Ready, None);

/// There is nothing to do it to.
pub(super) fn empty(why: impl Into<String>) -> Stands {
    (Standing::Empty, Some(why.into()))
}

/// It is not in a state for it.
pub(super) fn blocked(why: impl Into<String>) -> Stands {
    (Standing::Blocked, Some(why.into()))
}

/// Ready if something holds, else blocked.
pub(super) fn ready_if(is_ready: bool, why: impl Into<String>) -> Stands {
    if is_ready { READY } else { blocked(why) }
}

/// Whether there is what a command is for, and why not.
pub(super) fn standing(desk: &Desk, command: &Command, by: &By<'_>, given: &Given<'_>) -> Stands {
    match command {
        Command::Issue(asked) => of_packet(desk, asked.packet_id.as_deref(), issuable),
        Command::Review(asked) => {
            of_packet(desk, asked.packet_id.as_deref(), |life, _| life == Life::ReadyForReview)
        }
        Command::Archive(asked) => of_packet(desk, asked.packet_id.as_deref(), |life, _| {
            machine::RELIANCE.allows(life.as_str(), Life::Archived.as_str())
        }),
        Command::Invalidate(asked) if named(desk, &asked.triggering_ref) != Some(true) => {
            blocked(format!("{} is not there", asked.triggering_ref.as_str()))
        }
        Command::Invalidate(asked) => {
            of_packet(desk, asked.packet_id.as_deref(), |life, _| rely::is_standing(life))
        }
        Command::Renew(_) => renewable(desk),
        Command::Contest(asked) => unknown(desk, asked.evidence_refs.as_deref())
            .unwrap_or_else(|| of_finding(desk, &asked.finding_id, "contested")),
        Command::Confirm(asked) => unknown(desk, asked.evidence_refs.as_deref())
            .unwrap_or_else(|| of_finding(desk, &asked.finding_id, "user_approved")),
        Command::RejectFinding(asked) => of_finding(desk, &asked.finding_id, "rejected_by_user"),
        Command::Withdraw(asked) => withdrawable(desk, &asked.finding_id, by),
        Command::Preview(asked) => previewable(desk, asked.replay_mode, given),
        Command::Fork(_) | Command::Restore(_) | Command::ForkCandidate(_)
            if checkpoint_of(desk, command).is_none() =>
        {
            empty("there is no such checkpoint")
        }
        Command::Fork(_) => READY,
        Command::Accept(_) | Command::Reject(_) | Command::RequestChanges(_) => {
            of_review(desk, command, &["review_pending"])
        }
        Command::Restore(_) => of_review(desk, command, &["review_pending", "rejected", "accepted"]),
        Command::ForkCandidate(_) => of_review(desk, command, &["review_pending"]),
        Command::Cancel(asked) => stop::cancellable(desk, asked, given),
        Command::Skip(asked) => stop::skippable(desk, asked, given),
        Command::Keep(_) => keepable(desk),
        Command::Answer(asked) => answerable(desk, &asked.hard_call_id, &asked.option_id),
        Command::Defer(asked) => deferrable(desk, &asked.hard_call_id),
        Command::Recheck(asked) => recheckable(desk, asked),
        Command::Attend(_) | Command::Dismiss(_) => waiting(desk, command),
        Command::Approve(asked) => of_contract(desk, asked.review_id.as_deref()),
        Command::Refuse(asked) => of_contract(desk, asked.review_id.as_deref()),
        Command::Edit(asked) => match of_contract(desk, asked.review_id.as_deref()) {
            (Standing::Ready, _) => editable(desk, &asked.task, by),
            stands => stands,
        },
        Command::Promote(asked) => match desk.task().source(&asked.source) {
            None => empty(format!("there is no source {}", asked.source)),
            Some(_) => ready_if(!library::is_in(desk, &asked.source), "it is in the library"),
        },
        Command::Export(_) => match desk.each::<Json>("EvidencePackage").next() {
            None => empty("no evidence package has been made"),
            Some(_) => READY,
        },
        Command::Besides(one) => besides::standing(desk, one),
    }
}

/// Whether an item still waits for somebody.
fn waiting(desk: &Desk, command: &Command) -> Stands {
    let Some(item) = item_of(desk, command) else { return empty("there is no such item") };
    let asks = |call: &HardRevisionCall| {
        Reference::read(item.source_ref.as_str()).is_some_and(|source| source.id == call.hard_call_id)
    };
    // A question that is put aside would be asked of nobody any more, while the run waits for it.
    if matches!(command, Command::Dismiss(_)) && call::open(desk).iter().any(asks) {
        return blocked("it is a question that the run waits for: answer or defer it".to_string());
    }
    let state = item.lifecycle_state;
    ready_if(state == ItemState::Open, format!("the item is {}", state.as_str()))
}

fn previewable(desk: &Desk, mode: TaskReplayMode, given: &Given<'_>) -> Stands {
    match given.steps {
        [] => empty("the run has no steps yet"),
        steps => match replay::refusal(desk, mode, steps) {
            None => READY,
            Some(refusal) => blocked(refusal.to_string()),
        },
    }
}

fn keepable(desk: &Desk) -> Stands {
    match desk.task().artifacts.iter().any(|one| artifact::head(desk, &one.id).is_some()) {
        true => READY,
        false => empty("no version counts yet"),
    }
}

fn deferrable(desk: &Desk, id: &str) -> Stands {
    match question(desk, id) {
        None => empty(format!("there is no question {id}")),
        Some(_) => {
            let state = desk.says("hard_revision_call", id, "state");
            ready_if(state == Some("pending"), "the question is not pending")
        }
    }
}

fn recheckable(desk: &Desk, asked: &RecheckSourcesRequest) -> Stands {
    let named = asked.found.keys().chain(asked.gone.iter().flatten());
    let unknown = named.filter(|id| desk.task().source(id).is_none());
    let unknown: Vec<&str> = unknown.map(String::as_str).collect();
    match desk.task().sources.is_empty() {
        true => empty("the run has no sources"),
        false => ready_if(unknown.is_empty(), format!("no sources: {}", unknown.join(", "))),
    }
}

/// A contract that waits for a person.
fn of_contract(desk: &Desk, named: Option<&str>) -> Stands {
    let last = contract::last(desk).filter(|one| named.is_none_or(|id| id == one.review_id));
    let Some(review) = last else { return empty("no contract waits for a decision") };
    let status = review.approval_status;
    ready_if(status == Approved::Pending, format!("the contract is {}", status.as_str()))
}

/// Whether a contract may be changed so: tried on a copy.
fn editable(desk: &Desk, task: &Json, by: &By<'_>) -> Stands {
    let task = match crate::task::read_whole(task) {
        Ok(task) => task,
        Err(troubles) => {
            let first = troubles.first().map(|one| format!("{} {}", one.path, one.message));
            return blocked(format!("it is no task: {}", first.unwrap_or_default()));
        }
    };
    match contract::decide(&mut desk.clone(), &contract::Decision::Edit(&task), by.name) {
        Ok(()) => READY,
        Err(refusal) => blocked(refusal.to_string()),
    }
}

/// The item that a command is about.
pub(super) fn item_of(desk: &Desk, command: &Command) -> Option<AttentionLedgerItem> {
    match command {
        Command::Attend(asked) => attention::find(desk, &asked.item_id),
        Command::Dismiss(asked) => attention::find(desk, &asked.item_id),
        _about_something_else => None,
    }
}

fn of_packet(desk: &Desk, packet: Option<&str>, may: impl FnOnce(Life, Status) -> bool) -> Stands {
    let Some(packet) = rely::find(desk, packet) else { return empty("there is no such packet") };
    let (life, status) = (packet.lifecycle_state, packet.reliance_derivation.status);
    ready_if(may(life, status), format!("the packet is {}, its status {}", life.as_str(), status.as_str()))
}

/// Whether a packet may be issued: a person has read it, and its status lets it be relied on at all.
fn issuable(life: Life, status: Status) -> bool {
    let may = match status {
        Status::SafeToRelyWithinScope | Status::RelyWithLimitations => true,
        Status::NotSafeToRely | Status::HumanReviewRequired => false,
    };
    life == Life::UserReviewed && may
}

fn renewable(desk: &Desk) -> Stands {
    if !desk.task().artifacts.iter().any(|one| artifact::head(desk, &one.id).is_some()) {
        return empty("no version counts yet");
    }
    let is_standing = rely::last(desk).is_some_and(|packet| rely::is_standing(packet.lifecycle_state));
    ready_if(!is_standing, "the last packet still stands")
}

fn of_finding(desk: &Desk, id: &str, to: &str) -> Stands {
    match finding::find(desk, id) {
        None => empty(format!("there is no finding {id}")),
        Some(known) => {
            let is_ready = machine::FINDING.allows(known.state.as_str(), to);
            ready_if(is_ready, format!("the finding is {}", known.state.as_str()))
        }
    }
}

/// A dispute is taken back by whoever began it.
fn withdrawable(desk: &Desk, id: &str, by: &By<'_>) -> Stands {
    let stands = of_finding(desk, id, "active");
    let is_own = by.reference().is_ok_and(|own| finding::contested_by(desk, id) == Some(own));
    match stands {
        (Standing::Ready, _) => ready_if(is_own, "somebody else contested it"),
        (Standing::Degraded | Standing::Empty | Standing::Blocked, _) => stands,
    }
}

fn question(desk: &Desk, id: &str) -> Option<HardRevisionCall> {
    desk.find("HardRevisionCall", id)
}

fn answerable(desk: &Desk, id: &str, option: &str) -> Stands {
    let Some(asked) = question(desk, id) else { return empty(format!("there is no question {id}")) };
    if !call::open(desk).iter().any(|one| one.hard_call_id == id) {
        return blocked(format!("the question {id} is answered"));
    }
    let options: Vec<&str> = asked.options.iter().map(|one| one.option_id.as_str()).collect();
    ready_if(options.contains(&option), format!("{option} is no option; there are {}", options.join(", ")))
}

/// Whether a reference names something of this run; `None` if it is to nothing that a run has records of.
fn named(desk: &Desk, text: &StorageRef) -> Option<bool> {
    let read = Reference::read(text.as_str())?;
    let kind = if read.kind == "src" { "source_record" } else { read.kind };
    let kind = kind_of(&format!("govern.{kind}"))?;
    Some(desk.each::<Json>(kind.name).any(|found| found.id == read.id))
}

/// Evidence of the run that is not there.
fn unknown(desk: &Desk, evidence: Option<&[StorageRef]>) -> Option<Stands> {
    let missing = evidence.unwrap_or_default().iter().find(|one| named(desk, one) == Some(false))?;
    Some(blocked(format!("{} is not there", missing.as_str())))
}

fn of_review(desk: &Desk, command: &Command, states: &[&str]) -> Stands {
    let Some(packet) = review_of(desk, command) else { return empty("no such revision waits for a review") };
    let state = desk.says("revision_review_packet", &packet.packet_id, "state").unwrap_or_default();
    ready_if(states.contains(&state), format!("the review is {state}"))
}

/// The checkpoint that a command is about.
pub(super) fn checkpoint_of(desk: &Desk, command: &Command) -> Option<KnownGoodCheckpoint> {
    let named = match command {
        Command::Fork(asked) => asked.checkpoint_id.as_deref(),
        Command::ForkCandidate(asked) => asked.checkpoint_id.as_deref(),
        Command::Restore(asked) => asked.checkpoint_id.as_deref(),
        _about_something_else => return None,
    };
    checkpoint::find(desk, named)
}

/// The review that a command decides.
pub(super) fn review_of(desk: &Desk, command: &Command) -> Option<RevisionReviewPacket> {
    let named = match command {
        Command::Accept(asked) => asked.packet_id.as_deref(),
        Command::Reject(asked) => asked.packet_id.as_deref(),
        Command::RequestChanges(asked) => asked.packet_id.as_deref(),
        Command::Restore(asked) => asked.packet_id.as_deref(),
        Command::ForkCandidate(asked) => asked.packet_id.as_deref(),
        _about_something_else => return None,
    };
    // One may go back long after it was decided.
    let is_any = matches!(command, Command::Restore(_));
    let is_it = |one: &RevisionReviewPacket| match named {
        Some(id) => one.packet_id == id,
        None if is_any => true,
        None => desk.says("revision_review_packet", &one.packet_id, "state") == Some("review_pending"),
    };
    desk.all::<RevisionReviewPacket>().rfind(is_it)
}
