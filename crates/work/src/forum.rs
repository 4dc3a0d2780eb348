//! A room in which those who evaluate talk over what they see differently, before a person is asked.
//! Owns: rooms, ticks, what follows where nobody agrees. Must not: decide; what a room comes to is advice to the person.

use crate::assist::{self, Ask, Form};
use crate::call::{self, Dispute, Question};
use crate::desk::{Desk, Error, reference};
use crate::evaluate::Round;
use crate::names::ENGINE;
use crate::task::ForumPolicy;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::types::added::forum::{
    ForumPauseEvent, ForumProposalSelection, ForumRoomRecord, ForumTick, ModeratorFailureEvent, RoomPurpose,
};
use countersign_govern::types::assistance::{
    ModuleAssistanceRequest, ModuleAssistanceRequestOnTimeout as OnTimeout,
    ModuleAssistanceRequestRequestKind as RequestKind,
    ModuleAssistanceRequestResponsePolicy as ResponsePolicy, ModuleAssistanceRequestTarget as Target,
};
use countersign_govern::types::basic::{HardRevisionCallKind, SchemaRef, StorageRef, V10};
use countersign_govern::types::forum::{
    ForumDeliberationPolicy, ForumDeliberationPolicyOnNoConsensus as Exit,
};
use countersign_govern::types::hard_call::HardCallBlockingScope;
use countersign_govern::types::outcome::EvaluationVerdict as Verdict;

/// What is proposed for work that two see differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Proposal {
    /// Have it mended. Of all proposals this is the safest: nothing is taken that somebody found wanting.
    Revise,
    /// Take it as it is.
    Accept,
}

impl Proposal {
    /// The proposal of a word.
    #[must_use]
    pub fn find(word: &str) -> Option<Self> {
        [Proposal::Revise, Proposal::Accept].into_iter().find(|one| one.word() == word)
    }

    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Proposal::Revise => "revise",
            Proposal::Accept => "accept",
        }
    }

    fn told(self) -> &'static str {
        match self {
            Proposal::Revise => "have it mended",
            Proposal::Accept => "take it as it is",
        }
    }
}

/// Who may speak in a room. The task agent may not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Voter {
    /// Who says what is wrong.
    Evaluator,
    /// Who scores.
    Judge,
    /// Who leads the talk.
    Moderator,
}

/// Who leads a talk, and what they bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moderator {
    /// They propose something.
    Proposes(Proposal),
    /// They said something that is no proposal.
    Unreadable,
    /// They said nothing.
    Silent,
}

/// What somebody proposes in a tick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vote {
    /// Who.
    pub by: Voter,
    /// What.
    pub proposal: Proposal,
}

impl Vote {
    /// What somebody proposes by what they found.
    #[must_use]
    pub fn of(by: Voter, verdict: Verdict) -> Self {
        let proposal = match verdict {
            Verdict::Passed | Verdict::NotApplicable => Proposal::Accept,
            Verdict::Failed | Verdict::Indeterminate => Proposal::Revise,
        };
        Vote { by, proposal }
    }
}

/// Where a deliberation is after a tick.
enum Tick {
    /// They agree.
    Agreed(Proposal),
    /// They go on.
    Open,
    /// They did not agree in time.
    Parted(Exit),
}

/// Opens a room for a decision; gives what it is called.
fn open(desk: &mut Desk, policy: &ForumPolicy) -> Result<String, Error> {
    let room_id = desk.id("room");
    desk.put(&ForumDeliberationPolicy {
        room_id: room_id.clone(),
        max_deliberation_ticks: policy.ticks_max(),
        consensus_threshold_pct: policy.consensus_pct(),
        on_no_consensus: policy.no_consensus(),
        schema_version: V10,
    })?;
    desk.put(&ForumRoomRecord {
        room_id: room_id.clone(),
        run_id: desk.run().to_string(),
        purpose: RoomPurpose::Decision,
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    Ok(room_id)
}

/// Counts what is proposed. Of votes of one speaker the last counts.
fn tick(desk: &mut Desk, room: &str, votes: &[Vote]) -> Result<Tick, Error> {
    let policy: ForumDeliberationPolicy =
        desk.find("ForumDeliberationPolicy", room).ok_or_else(|| Error::Missing(room.to_string()))?;
    let tick = desk.all::<ForumTick>().filter(|one| one.room_id == room).count() as u64 + 1;
    let (agreement_pct, best) = agreement(votes);
    let id = desk.id("tick");
    desk.put_named(
        &id,
        &ForumTick {
            room_id: room.to_string(),
            tick,
            agreement_pct,
            created_at: desk.now(),
            schema_version: Some(V10),
        },
    )?;
    Ok(match best.filter(|_| agreement_pct >= policy.consensus_threshold_pct) {
        Some(proposal) => Tick::Agreed(proposal),
        None if tick < policy.max_deliberation_ticks => Tick::Open,
        None => Tick::Parted(policy.on_no_consensus),
    })
}

/// How many of a hundred propose what most do; of two that as many propose the safer one.
fn agreement(votes: &[Vote]) -> (u64, Option<Proposal>) {
    let last: BTreeMap<&Voter, Proposal> = votes.iter().map(|vote| (&vote.by, vote.proposal)).collect();
    let count = |wanted: Proposal| last.values().filter(|one| **one == wanted).count() as u64;
    let (revise, accept) = (count(Proposal::Revise), count(Proposal::Accept));
    let (most, best) = if accept > revise { (accept, Proposal::Accept) } else { (revise, Proposal::Revise) };
    match revise + accept {
        0 => (0, None),
        all => (most * 100 / all, Some(best)),
    }
}

/// Talks an outcome over that two see differently, and asks a person; gives what the question is called. Where the task has no
/// room for that, the person is asked at once. Who leads the talk has a vote from the second tick on; where they fail, nobody talks.
///
/// # Errors
/// Something can't be written.
pub fn deliberate(
    desk: &mut Desk,
    round: &Round<'_>,
    dispute: Dispute<'_>,
    first: &[Vote],
    moderator: Option<Moderator>,
) -> Result<String, Error> {
    let Some(policy) = desk.task().policies().forum else {
        return call::disagreement(desk, round, dispute, None);
    };
    let room = open(desk, &policy)?;
    let led = match moderator {
        None => None,
        Some(moderator) => match consulted(desk, round, &room, moderator)? {
            Some(led) => Some(led),
            None => {
                let words = "They could not talk it over: who was to lead the talk failed.";
                return call::disagreement(desk, round, dispute, Some(words));
            }
        },
    };
    let mut votes = first.to_vec();
    // A room has as many ticks as its policy says.
    let end = loop {
        match tick(desk, &room, &votes)? {
            Tick::Open => {
                votes.extend(led.as_ref().map(|led| Vote { by: Voter::Moderator, proposal: led.proposal }));
            }
            Tick::Agreed(proposal) => break Ok(proposal),
            Tick::Parted(exit) => break Err(exit),
        }
    };
    if let Some(led) = led {
        assist::answer(desk, &led.request, Form::Fits).map_err(unasked)?;
    }
    match end {
        Ok(proposal) => {
            let words = format!("Those who looked at it agree: {}.", proposal.told());
            call::disagreement(desk, round, dispute, Some(&words))
        }
        Err(Exit::ForumDeadlockHardCall) => {
            let source = reference("ForumRoomRecord", &room)?;
            let blocked = Vec::from([reference("OutcomeRecord", &desk.own(&round.outcome.id))?]);
            let prompt = format!("Those who looked at “{}” do not agree. What now?", round.outcome.statement);
            let (kind, scope) = (HardRevisionCallKind::ForumDeadlock, HardCallBlockingScope::Outcome);
            let options = call::ways_on(dispute);
            call::ask(desk, Question { kind, prompt, options, source, scope, blocked })
        }
        Err(Exit::PreferSafestPolicyAllowedProposal) => {
            select(desk, &room, Proposal::Revise)?;
            let words = format!("They do not agree; the safest is to {}.", Proposal::Revise.told());
            call::disagreement(desk, round, dispute, Some(&words))
        }
        Err(Exit::PauseAndRequestUser) => {
            desk.put(&ForumPauseEvent {
                event_id: desk.id("paused"),
                room_id: room,
                created_at: desk.now(),
                schema_version: Some(V10),
            })?;
            call::disagreement(desk, round, dispute, Some("They do not agree, and wait for you."))
        }
    }
}

fn select(desk: &mut Desk, room: &str, proposal: Proposal) -> Result<(), Error> {
    desk.put(&ForumProposalSelection {
        selection_id: desk.id("selection"),
        room_id: room.to_string(),
        proposal_ref: reference("Proposal", proposal.word())?,
        selected_by_ref: StorageRef::try_from(ENGINE).map_err(|_| Error::Unnameable(ENGINE.to_string()))?,
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    Ok(())
}

/// A talk that somebody leads.
struct Led {
    request: String,
    proposal: Proposal,
}

/// Asks the room of whoever leads it; nothing, where they fail: then what was said for that is done.
fn consulted(
    desk: &mut Desk,
    round: &Round<'_>,
    room: &str,
    moderator: Moderator,
) -> Result<Option<Led>, Error> {
    let ask = Ask {
        module: EVALUATOR.to_string(),
        target: Target::ForumRoom,
        owner: reference("ForumRoomRecord", room)?,
        kind: RequestKind::Clarification,
        policy: ResponsePolicy::OptionalUntilTimeout,
        subject: Some(reference("OutcomeRecord", &desk.own(&round.outcome.id))?),
        schema: SchemaRef { schema_id: PROPOSAL.to_string(), semantic_version: "1.0.0".to_string() },
        timeout_ms: TIMEOUT_MS,
        on_timeout: OnTimeout::EscalateHuman,
    };
    let request = assist::ask(desk, ask).map_err(unasked)?;
    match moderator {
        Moderator::Proposes(proposal) => return Ok(Some(Led { request, proposal })),
        Moderator::Unreadable => assist::answer(desk, &request, Form::Differs).map_err(unasked)?,
        Moderator::Silent => {}
    }
    moderator_failed(desk, room)?;
    Ok(None)
}

/// Who asks a room.
const EVALUATOR: &str = "evaluator";
/// The form of what a room answers.
const PROPOSAL: &str = "forum.proposal";
/// Milliseconds that a room has.
const TIMEOUT_MS: u64 = 60_000;

fn unasked(refusal: assist::Refusal) -> Error {
    match refusal {
        assist::Refusal::Unwritten(error) => error,
        other => Error::Missing(other.to_string()),
    }
}

/// Who leads a room failed: what was said for that is done for everything that was asked of it.
fn moderator_failed(desk: &mut Desk, room: &str) -> Result<(), Error> {
    let room_ref = reference("ForumRoomRecord", room)?;
    let open: Vec<ModuleAssistanceRequest> =
        assist::open(desk).into_iter().filter(|one| one.target_endpoint_ref == room_ref).collect();
    for request in open {
        desk.put(&ModeratorFailureEvent {
            event_id: desk.id("failed"),
            request_id: Some(request.request_id.clone()),
            room_id: room.to_string(),
            created_at: desk.now(),
            schema_version: Some(V10),
        })?;
        assist::fall_back(desk, &request, room)?;
    }
    Ok(())
}
