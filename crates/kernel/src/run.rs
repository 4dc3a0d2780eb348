//! One run: what happens next, and what has happened.
//! Owns: every rule of a run. Must not: do anything; whoever drives it makes the call, asks the person, keeps the rows.
//!
//! `decide` takes a state and something that came in, and gives events, or says why nothing changes. `apply` is the only
//! way that a state changes. So the events are the run: applied again, they give the same state, byte for byte.

mod apply;
mod decide;
mod event;
mod next_step;
mod outcome;
pub mod outputs;
pub mod row;

pub use decide::{HARD_CALL, LAPSED, Refusal, UNKNOWN_EFFECT, decide};
pub use event::{Answer, Came, Event, Stop, StopKind};
pub use next_step::NextStep;
pub use outcome::{Fault, Outcome};

use crate::pipeline::{END, Pipeline, START, Stage};
use alloc::string::{String, ToString};
use countersign_record::envelope::{Envelope, Provenance, Source, VERSION};
use countersign_record::state::{GenericEnvelope, Reading, TerminalReason};
use countersign_record::time::Timestamp;

/// A run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// What the contract exchanges of it.
    pub envelope: GenericEnvelope,
    /// What it is doing.
    pub doing: Doing,
}

/// What a run is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Nothing: it can go on.
    Ready,
    /// An agent was called, and has not answered.
    Called {
        /// The stage.
        stage: String,
        /// Since when.
        since: Timestamp,
    },
    /// It waits for a person.
    Waiting(Stop),
    /// It has ended.
    Over,
}

impl Run {
    /// A run as its envelope tells it, if nothing else is known.
    #[must_use]
    pub fn of(envelope: GenericEnvelope) -> Self {
        let doing = match (envelope.ending.terminated, Stop::of(&envelope)) {
            (true, _) => Doing::Over,
            (false, Some(stop)) => Doing::Waiting(stop),
            (false, None) => Doing::Ready,
        };
        Run { envelope, doing }
    }

    /// A run that begins with a document, under a pipeline: what the document does not say of how far it may go, the
    /// pipeline says.
    #[must_use]
    pub fn begun(pipeline: &Pipeline, reading: Reading) -> Self {
        let Reading { mut envelope, defaulted, .. } = reading;
        let limits = &pipeline.limits;
        for (name, limit, most) in [
            ("max_iterations", &mut envelope.bounds.max_iterations, limits.max_iterations),
            ("max_llm_calls", &mut envelope.bounds.max_llm_calls, limits.max_llm_calls),
            ("max_agent_hops", &mut envelope.bounds.max_agent_hops, limits.max_agent_hops),
            ("max_stages", &mut envelope.goals.max_stages, limits.max_stages),
        ] {
            if defaulted.contains(&name) {
                *limit = most;
            }
        }
        if envelope.progress.stage_order.is_empty() {
            envelope.progress.stage_order = pipeline.stages.iter().map(|stage| stage.name.clone()).collect();
        }
        Run::of(envelope)
    }

    /// What an agent hands over, as an SR2 envelope.
    #[must_use]
    pub fn handoff(&self, stage: &Stage, outcome: Outcome, rests_on: Provenance, at: &Timestamp) -> Envelope {
        handoff(&self.envelope, stage, stage.agent_name(), outcome, rests_on, at)
    }

    /// The turn that it is in: each iteration is one.
    #[must_use]
    pub fn turn(&self) -> u64 {
        turn(&self.envelope)
    }

    /// Which bound is hit, if one is: the first one counts.
    #[must_use]
    pub fn bound(&self) -> Option<TerminalReason> {
        let bounds = &self.envelope.bounds;
        match () {
            () if bounds.iteration > bounds.max_iterations => Some(TerminalReason::MaxIterationsExceeded),
            () if bounds.llm_call_count >= bounds.max_llm_calls => Some(TerminalReason::MaxLlmCallsExceeded),
            () if bounds.agent_hop_count >= bounds.max_agent_hops => {
                Some(TerminalReason::MaxAgentHopsExceeded)
            }
            () => None,
        }
    }

    /// How often a model may still be called.
    #[must_use]
    pub fn llm_calls_left(&self) -> u64 {
        let bounds = &self.envelope.bounds;
        bounds.max_llm_calls.saturating_sub(bounds.llm_call_count)
    }

    /// Whether it stands at a stage of a pipeline, or at the end of all.
    ///
    /// # Errors
    /// It stands at another.
    pub fn stands_in(&self, pipeline: &Pipeline) -> Result<(), String> {
        match self.standing(pipeline) {
            END => Ok(()),
            stage => pipeline.stage(stage).map(drop).ok_or_else(|| stage.to_string()),
        }
    }

    /// The stage that it stands at; the first one of a run that has not begun.
    fn standing<'a>(&'a self, pipeline: &'a Pipeline) -> &'a str {
        match self.envelope.progress.current_stage.as_str() {
            "" | START => pipeline.stages.first().map_or(END, |stage| stage.name.as_str()),
            stage => stage,
        }
    }
}

fn turn(state: &GenericEnvelope) -> u64 {
    state.bounds.iteration.saturating_add(1)
}

/// What somebody hands over in a stage of a run, as an SR2 envelope.
#[must_use]
pub fn handoff(
    state: &GenericEnvelope,
    stage: &Stage,
    agent: &str,
    outcome: Outcome,
    rests_on: Provenance,
    at: &Timestamp,
) -> Envelope {
    let (reason, payload) = outcome.said();
    let goal = state.goals.remaining_goals.first().unwrap_or(&state.identity.raw_input);
    let goal = if goal.trim().is_empty() { &stage.name } else { goal };
    Envelope {
        agent: agent.to_string(),
        goal: goal.clone(),
        timestamp: at.clone(),
        request_id: state.identity.request_id.to_string(),
        turn_id: turn(state),
        source: Source::Internal,
        version: VERSION.to_string(),
        escalate: reason.is_some(),
        reason,
        provenance: rests_on,
        payload,
    }
}

#[cfg(test)]
#[path = "run/run_tests.rs"]
mod tests;
