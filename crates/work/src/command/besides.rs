//! Commands about what goes along with the work: its board, guidance, measures and sources.
//! Owns: finding what one is about, and leading it to what carries it out. Must not: judge whether it may be.

use super::request::{AnswerNeedRequest, Besides, MoveTierRequest};
use super::standing::{READY, blocked, empty, ready_if};
use super::{By, Stands};
use crate::board;
use crate::desk::{Desk, Error, reference};
use crate::guidance::{self, Settled};
use crate::learning;
use crate::research;
use crate::workspace;
use alloc::format;
use alloc::string::ToString;
use countersign_govern::decide::board::{Reader, Role};
use countersign_govern::types::formula::MetricObservation;
use countersign_govern::types::guidance::RunGuidanceLifecycleState as State;
use countersign_govern::types::source::SourceRecord;

/// Whether there is what a command is about, and in a state for it.
pub(super) fn standing(desk: &Desk, command: &Besides) -> Stands {
    match command {
        Besides::Comment(asked) => match asked.text.trim() {
            "" => empty("nothing is said"),
            _something => READY,
        },
        Besides::Retract(asked) => {
            match desk.says("run_board_visible_post", &asked.post_id, "lifecycle_state") {
                None => empty(format!("there is no post {}", asked.post_id)),
                Some(state) => ready_if(state == "active", format!("the post is {state}")),
            }
        }
        Besides::Digest(_) => match board::entries(desk).is_empty() {
            true => empty("nothing is on the board yet"),
            false => READY,
        },
        Besides::ContestGuidance(asked) => of_guidance(desk, &asked.guidance_id, State::Active),
        Besides::SettleGuidance(asked) => of_guidance(desk, &asked.guidance_id, State::Contested),
        Besides::WithdrawObservation(asked) => of_observation(desk, &asked.observation_id),
        Besides::AnswerNeed(asked) => answerable(desk, asked),
        Besides::Clear(asked) => match record_of(desk, &asked.source) {
            None => empty(format!("there is no source {}", asked.source)),
            Some(record) => ready_if(workspace::is_doubted(&record), "it is trusted as much already"),
        },
        Besides::MoveTier(asked) => movable(desk, asked),
    }
}

fn of_guidance(desk: &Desk, id: &str, state: State) -> Stands {
    match guidance::all(desk).into_iter().find(|one| one.id == id) {
        None => empty(format!("there is no guidance {id}")),
        Some(known) => ready_if(known.state == state, format!("the guidance is {}", known.state.as_str())),
    }
}

fn of_observation(desk: &Desk, id: &str) -> Stands {
    match desk.find::<MetricObservation>("MetricObservation", id) {
        None => empty(format!("there is no observation {id}")),
        Some(_) => ready_if(!learning::is_withdrawn(desk, id), "it was withdrawn before"),
    }
}

fn answerable(desk: &Desk, asked: &AnswerNeedRequest) -> Stands {
    let need = research::all(desk).into_iter().find(|one| one.need_id == asked.need_id);
    match (need, record_of(desk, &asked.source)) {
        (None, _) => empty(format!("there is no need {}", asked.need_id)),
        (Some(_), None) => empty(format!("there is no source {}", asked.source)),
        (Some(need), Some(_)) => {
            ready_if(research::is_open(need.status), format!("the need is {}", need.status.as_str()))
        }
    }
}

fn movable(desk: &Desk, asked: &MoveTierRequest) -> Stands {
    match record_of(desk, &asked.source) {
        None => empty(format!("there is no source {}", asked.source)),
        Some(record) if workspace::number(record.tier) == asked.tier => {
            blocked(format!("the source is of tier {}", asked.tier))
        }
        Some(_) => ready_if((1..=3).contains(&asked.tier), "a record is of tier 1, 2 or 3"),
    }
}

/// A source that is a record of the run, by the task's name for it.
fn record_of(desk: &Desk, source: &str) -> Option<SourceRecord> {
    desk.task().source(source)?;
    desk.standing("SourceRecord", &desk.own(source))
}

/// Carries a command out.
pub(super) fn act(desk: &mut Desk, command: &Besides, by: &By<'_>) -> Result<(), Error> {
    let actor = by.reference()?;
    match command {
        Besides::Comment(asked) => board::say(desk, &asked.text, by.name).map(drop),
        Besides::Retract(asked) => board::retract(desk, &asked.post_id, &actor, &asked.reason),
        Besides::Digest(_) => {
            board::tell(desk)?;
            let matter = desk.matter().to_string();
            let reader = Reader {
                reader_ref: &actor,
                matter_id: Some(&matter),
                role: Role::User,
                module_id: None,
                segment_id: None,
            };
            board::digest(desk, &reader).map(drop)
        }
        Besides::ContestGuidance(asked) => {
            guidance::contest(desk, &asked.guidance_id, by.name, &asked.grounds)
        }
        Besides::SettleGuidance(asked) => {
            let how = if asked.upheld { Settled::Upheld } else { Settled::Withdrawn };
            guidance::settle(desk, &asked.guidance_id, how, by.name)
        }
        Besides::WithdrawObservation(asked) => {
            let observation = reference("MetricObservation", &asked.observation_id)?;
            learning::withdraw(desk, &observation, &asked.reason)
        }
        Besides::AnswerNeed(asked) => Ok(research::answer(desk, &asked.need_id, &asked.source, by.name)?),
        Besides::Clear(asked) => workspace::clear(desk, &asked.source, by.name),
        Besides::MoveTier(asked) => {
            let cleared = desk.task().policies().library().access_tier().to_string();
            workspace::move_tier(desk, &asked.source, asked.tier, &actor, &cleared)
        }
    }
}
