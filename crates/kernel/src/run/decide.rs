//! What comes of something that came in.
//! Owns: bounds, verdicts, where a run goes, what stops it. Must not: change a state but by events.

use super::event::{Answer, Came, Event, Stop, StopKind};
use super::outcome::{Fault, Outcome};
use super::{Doing, Run};
use crate::pipeline::{END, Pipeline, Stage};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::code::Code;
use countersign_record::envelope::Envelope;
use countersign_record::json::{Json, Object};
use countersign_record::state::TerminalReason;
use countersign_record::time::Timestamp;

/// The output keys that a critic's refusal gives up, in the contract's names.
const AGAIN: [&str; 4] = ["plan", "execution", "draft", "critic"];
/// Where the plan stands.
const PLAN: &str = "plan";
/// Why a run waits where an agent was called and nobody saw what became of that.
pub const UNKNOWN_EFFECT: &str = "unknown_effect";
/// Why a run waits where a person must choose one of several options.
pub const HARD_CALL: &str = "hard_call";
/// Who stops a run whose question nobody answered in time. No person can be called that.
pub const LAPSED: &str = "engine:timeout";
const INTENT: &str = "intent";
const CRITIC: &str = "critic";

/// Why nothing changes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It has ended.
    #[error("the run has ended")]
    Over,
    /// It waits for a person.
    #[error("the run waits for an answer to {id}")]
    Waiting {
        /// What was asked.
        id: String,
    },
    /// An agent was called and has not answered.
    #[error("the agent of {stage} was called and has not answered")]
    Called {
        /// The stage.
        stage: String,
    },
    /// No such agent was called.
    #[error("the agent of {stage} was not called")]
    NotCalled {
        /// The stage.
        stage: String,
    },
    /// Nothing was asked.
    #[error("the run waits for no answer")]
    NothingAsked,
    /// Something else was asked.
    #[error("the run waits for an answer to {asked}, not to {id}")]
    OtherQuestion {
        /// What was asked.
        asked: String,
        /// What was answered.
        id: String,
    },
    /// It was asked too long ago.
    #[error("the question expired at {at}")]
    Expired {
        /// When.
        at: Timestamp,
    },
    /// Another kind of answer is needed.
    #[error("{needed}")]
    OtherAnswer {
        /// Which.
        needed: &'static str,
    },
}

impl Refusal {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Refusal::Over => Code::RunOver,
            Refusal::Waiting { .. } => Code::RunWaiting,
            Refusal::Called { .. } | Refusal::NotCalled { .. } => Code::RunBusy,
            Refusal::NothingAsked | Refusal::OtherQuestion { .. } => Code::AnswerUnasked,
            Refusal::Expired { .. } => Code::AnswerExpired,
            Refusal::OtherAnswer { .. } => Code::AnswerKind,
        }
    }
}

/// What happens.
///
/// # Errors
/// Nothing does, and why.
pub fn decide(pipeline: &Pipeline, run: &Run, came: Came, at: &Timestamp) -> Result<Vec<Event>, Refusal> {
    let mut deciding = Deciding { pipeline, run, at, events: Vec::new(), after: None };
    match came {
        Came::Go => deciding.go()?,
        Came::Returned { stage, handoff, llm_calls, stop_id } => {
            deciding.returned(&stage, handoff, llm_calls, stop_id)?;
        }
        Came::Answered { id, by, answer } => deciding.answered(&id, by, answer)?,
        Came::Cancelled { by } => deciding.cancelled(&by)?,
    }
    Ok(deciding.events)
}

/// A decision while it is made: each event counts for what is decided after it.
struct Deciding<'a> {
    pipeline: &'a Pipeline,
    /// As it was before.
    run: &'a Run,
    at: &'a Timestamp,
    events: Vec<Event>,
    /// As it is after the events, once anybody has asked: most decisions need no copy of all that was said.
    after: Option<Run>,
}

impl Deciding<'_> {
    fn happen(&mut self, event: Event) {
        if let Some(after) = &mut self.after {
            after.apply(&event);
        }
        self.events.push(event);
    }

    /// The run as it is after what has happened so far.
    fn now(&mut self) -> &Run {
        let (before, events) = (self.run, &self.events);
        self.after.get_or_insert_with(|| {
            let mut after = before.clone();
            events.iter().for_each(|event| after.apply(event));
            after
        })
    }

    /// Another stage is next. What an agent's answer leads to is told with the answer, which is the first that happened.
    fn lead(&mut self, to: &str) {
        let moved = Event::Moved { to: to.to_string() };
        if let Some(after) = &mut self.after {
            after.apply(&moved);
        }
        match self.events.first_mut() {
            Some(Event::Returned { next, .. }) => *next = Some(to.to_string()),
            Some(_) | None => self.events.push(moved),
        }
    }

    fn end(&mut self, reason: TerminalReason, words: impl Into<String>) {
        self.happen(Event::Ended { reason, words: words.into(), at: self.at.clone() });
    }

    /// Calls the agent of the stage that it stands at, or ends.
    fn go(&mut self) -> Result<(), Refusal> {
        match &self.run.doing {
            Doing::Ready => {}
            Doing::Called { stage, .. } => return Err(Refusal::Called { stage: stage.clone() }),
            Doing::Waiting(stop) => return Err(Refusal::Waiting { id: stop.id.clone() }),
            Doing::Over => return Err(Refusal::Over),
        }
        let stage = self.run.standing(self.pipeline).to_string();
        if stage == END {
            self.end(TerminalReason::CompletedSuccessfully, "every stage is done");
        } else if let Some(bound) = self.run.bound() {
            self.end(bound, words_of(bound));
        } else if self.pipeline.stage(&stage).is_none() {
            self.end(TerminalReason::ToolFailedFatally, format!("the pipeline has no stage {stage}"));
        } else {
            self.happen(Event::Called { stage, at: self.at.clone() });
        }
        Ok(())
    }

    fn returned(
        &mut self,
        name: &str,
        handoff: Box<Envelope>,
        llm_calls: u64,
        stop_id: String,
    ) -> Result<(), Refusal> {
        let is_called = matches!(&self.run.doing, Doing::Called { stage, .. } if stage == name);
        let pipeline = self.pipeline;
        let (true, Some(stage)) = (is_called, pipeline.stage(name)) else {
            return Err(Refusal::NotCalled { stage: name.to_string() });
        };
        // Whoever calls a model more often than it may has had its last call.
        let left = self.run.llm_calls_left();
        let outcome = Outcome::of(&handoff);
        self.happen(Event::Returned {
            stage: name.to_string(),
            output_key: stage.output_key.clone(),
            handoff,
            llm_calls: llm_calls.min(left),
            next: None,
            at: self.at.clone(),
        });
        if llm_calls > left {
            let bound = TerminalReason::MaxLlmCallsExceeded;
            self.end(bound, words_of(bound));
            return Ok(());
        }
        self.follow(stage, outcome, stop_id);
        Ok(())
    }

    /// What an agent's answer leads to.
    fn follow(&mut self, stage: &Stage, outcome: Outcome, id: String) {
        let request_id = self.run.envelope.identity.request_id.to_string();
        let stop = |kind: StopKind, message: String| Stop {
            id,
            kind,
            stage: stage.name.clone(),
            agent: stage.agent_name().to_string(),
            request_id,
            reason: kind.reason().to_string(),
            message,
            next_steps: kind.next_steps(),
            expires_at: None,
        };
        match outcome {
            Outcome::Done(output) => self.done(stage, &output, stop),
            Outcome::Clarify { question } => {
                self.happen(Event::Stopped(stop(StopKind::Clarification, question)));
            }
            Outcome::Confirm { message, expires_at } => {
                let stop = Stop { expires_at, ..stop(StopKind::Confirmation, message) };
                self.happen(Event::Stopped(stop));
            }
            Outcome::Escalate { reason, payload } => {
                let message = payload.get("message").and_then(Json::as_str).unwrap_or(&reason).to_string();
                let mut stop = Stop { reason, ..stop(StopKind::Escalation, message) };
                let next_steps = payload.texts("next_steps");
                if !next_steps.is_empty() {
                    stop.next_steps = next_steps;
                }
                self.happen(Event::Stopped(stop));
            }
            Outcome::Denied { message, .. } => self.end(TerminalReason::DeniedByPolicy, message),
            Outcome::Failed(fault) => self.failed(stage, &fault),
        }
    }

    fn failed(&mut self, stage: &Stage, fault: &Fault) {
        match &stage.error_next {
            Some(to) => self.lead(to),
            None => {
                let reason = match fault.recoverable {
                    true => TerminalReason::ToolFailedRecoverably,
                    false => TerminalReason::ToolFailedFatally,
                };
                self.end(reason, format!("{} failed: {}", stage.name, fault.message));
            }
        }
    }

    /// Takes in what an agent's output says of goals, and goes where it leads.
    fn done(&mut self, stage: &Stage, output: &Object, stop: impl FnOnce(StopKind, String) -> Stop) {
        match stage.output_key.as_str() {
            INTENT => {
                if output.get("clarification_needed") == Some(&Json::Bool(true)) {
                    let question = output.get("clarification_question").and_then(Json::as_str);
                    let question = question.unwrap_or("What exactly is asked for?").to_string();
                    self.happen(Event::Stopped(stop(StopKind::Clarification, question)));
                    return;
                }
                self.aim(output.texts("goals"));
                self.move_on(stage, output);
            }
            CRITIC => self.judged(stage, output),
            _ => self.move_on(stage, output),
        }
    }

    /// Takes in what is aimed at. Goals that came with the document stay as they are; those of an earlier intent that a
    /// later one does not name any more were wrong.
    fn aim(&mut self, aims: Vec<String>) {
        let goals = &self.run.envelope.goals;
        let before = self.run.envelope.progress.outputs.get(INTENT);
        let before = before.map(|output| output.texts("goals")).unwrap_or_default();
        let are_ours = !before.is_empty() && before.iter().all(|goal| goals.all_goals.contains(goal));
        if aims.is_empty() || !(goals.all_goals.is_empty() || are_ours) {
            return;
        }
        let is_given_up = |goal: &&String| before.contains(goal) && !aims.contains(goal);
        let given_up: Vec<String> = goals.remaining_goals.iter().filter(is_given_up).cloned().collect();
        if aims.iter().any(|goal| !goals.all_goals.contains(goal)) {
            self.happen(Event::Aimed { goals: aims });
        }
        if !given_up.is_empty() {
            self.happen(Event::GivenUp { goals: given_up });
        }
    }

    fn move_on(&mut self, stage: &Stage, output: &Object) {
        match stage.next(output) {
            END => self.end(TerminalReason::CompletedSuccessfully, "every stage is done"),
            to => self.lead(to),
        }
    }

    /// What the critic says decides whether it is done again, goes on to the goals that are left, or is good.
    fn judged(&mut self, stage: &Stage, output: &Object) {
        let satisfied = self.newly(&output.texts("satisfied_goals"));
        let feedback = output.get("feedback").and_then(Json::as_str).unwrap_or_default().to_string();
        match output.get("verdict").and_then(Json::as_str) {
            Some("reintent") => {
                if !satisfied.is_empty() {
                    self.happen(Event::Reached { goals: satisfied });
                }
                self.again(stage, output, feedback);
            }
            Some("next_stage") => self.advance(stage, output, satisfied),
            Some(_) | None => {
                if !satisfied.is_empty() {
                    self.happen(Event::Reached { goals: satisfied });
                }
                self.move_on(stage, output);
            }
        }
    }

    fn again(&mut self, stage: &Stage, output: &Object, feedback: String) {
        let refused = self.now().refused() + 1;
        let bounds = &self.now().envelope.bounds;
        let is_last = bounds.iteration >= bounds.max_iterations;
        if refused >= self.pipeline.limits.max_critic_fires {
            let words = format!("the critic refused {refused} times without progress");
            self.happen(Event::Heard { feedback });
            self.end(TerminalReason::MaxCriticFiresExceeded, words);
        } else if is_last {
            let bound = TerminalReason::MaxIterationsExceeded;
            self.happen(Event::Heard { feedback });
            self.end(bound, words_of(bound));
        } else {
            let (plan_key, cleared) = (PLAN.to_string(), self.cleared());
            self.happen(Event::Refused { feedback, plan_key, cleared });
            self.move_on(stage, output);
        }
    }

    fn advance(&mut self, stage: &Stage, output: &Object, satisfied: Vec<String>) {
        let plan = self.now().envelope.progress.outputs.get(PLAN);
        let plan_id =
            plan.and_then(|plan| plan.get("plan_id")).and_then(Json::as_str).map(ToString::to_string);
        let summary = Object::from([("feedback", output.get("feedback").cloned().unwrap_or(Json::Null))]);
        let cleared = self.cleared();
        let goals = &self.now().envelope.goals;
        let (now, most) = (goals.current_stage_number, goals.max_stages);
        let is_done = goals.remaining_goals.iter().all(|goal| satisfied.contains(goal));
        let number = if is_done { now } else { now.saturating_add(1).min(most.max(now)) };
        self.happen(Event::Advanced { satisfied, summary, plan_id, cleared, number });
        if is_done {
            // Nothing is left to be done, whatever the critic says: it is put together.
            self.move_to_integration(stage, output);
        } else if number == now {
            let words = format!("{most} stages were not enough for every goal");
            self.end(TerminalReason::MaxIterationsExceeded, words);
        } else {
            self.move_on(stage, output);
        }
    }

    fn move_to_integration(&mut self, stage: &Stage, output: &Object) {
        match self.pipeline.writing("integration") {
            Some(integration) => self.lead(&integration.name),
            None => self.move_on(stage, output),
        }
    }

    /// Goals that were not reached before, of those that there are.
    fn newly(&mut self, satisfied: &[String]) -> Vec<String> {
        let left = &self.now().envelope.goals.remaining_goals;
        left.iter().filter(|goal| satisfied.contains(goal)).cloned().collect()
    }

    /// The outputs that are made anew.
    fn cleared(&mut self) -> Vec<String> {
        let outputs = &self.now().envelope.progress.outputs;
        AGAIN.into_iter().filter(|key| outputs.contains_key(*key)).map(ToString::to_string).collect()
    }

    /// Ends, wherever it is: what an agent says that was called is not taken in any more, and what was asked is answered with that.
    fn cancelled(&mut self, by: &str) -> Result<(), Refusal> {
        match &self.run.doing {
            Doing::Over => return Err(Refusal::Over),
            Doing::Ready | Doing::Called { .. } => {}
            Doing::Waiting(stop) => {
                let (id, by) = (stop.id.clone(), by.to_string());
                self.happen(Event::Answered { id, by, answer: Answer::GiveUp });
            }
        }
        let words = match by {
            LAPSED => "nobody answered in time".to_string(),
            person => format!("{person} cancelled the run"),
        };
        self.end(TerminalReason::DeniedByPolicy, words);
        Ok(())
    }

    fn answered(&mut self, id: &str, by: String, answer: Answer) -> Result<(), Refusal> {
        let stop = match &self.run.doing {
            Doing::Waiting(stop) => stop.clone(),
            Doing::Over => return Err(Refusal::Over),
            Doing::Ready | Doing::Called { .. } => return Err(Refusal::NothingAsked),
        };
        if stop.id != id {
            return Err(Refusal::OtherQuestion { asked: stop.id, id: id.to_string() });
        }
        if let Some(at) = stop.expires_at.clone().filter(|until| self.at.instant() >= until.instant()) {
            return Err(Refusal::Expired { at });
        }
        let to = match (stop.kind, &answer) {
            (StopKind::Clarification, Answer::Text(_)) => Some(self.clarified(&stop)),
            // What was asked for is done where it was asked: nothing that is done already is done again.
            (StopKind::Confirmation, Answer::Approve) => Some(stop.stage.clone()),
            // A question with options is answered by one of them, and by nothing else.
            (StopKind::Escalation, Answer::Choose(option)) if is_offered(&stop, option) => {
                Some(stop.stage.clone())
            }
            (StopKind::Escalation, Answer::Retry | Answer::Text(_)) if stop.reason == HARD_CALL => {
                return Err(Refusal::OtherAnswer { needed: "one of the options is needed" });
            }
            (StopKind::Escalation, Answer::Retry) => Some(stop.stage.clone()),
            // Words may help whoever is stuck. Where nobody knows what was done, only the word itself has it done again.
            (StopKind::Escalation, Answer::Text(_)) if stop.reason != UNKNOWN_EFFECT => {
                Some(stop.stage.clone())
            }
            (StopKind::Confirmation, Answer::Deny) | (_, Answer::GiveUp) => None,
            (StopKind::Clarification, _) => {
                return Err(Refusal::OtherAnswer { needed: "an answer in words is needed" });
            }
            (StopKind::Confirmation, _) => {
                return Err(Refusal::OtherAnswer { needed: "approve or deny is needed" });
            }
            (StopKind::Escalation, _) if stop.reason == HARD_CALL => {
                return Err(Refusal::OtherAnswer { needed: "one of the options is needed" });
            }
            (StopKind::Escalation, _) => {
                return Err(Refusal::OtherAnswer { needed: "retry or give up is needed" });
            }
        };
        let gave_up = format!("{by} said no to: {}", stop.message);
        self.happen(Event::Answered { id: stop.id, by, answer });
        match to {
            Some(to) => self.lead(&to),
            None => self.end(TerminalReason::DeniedByPolicy, gave_up),
        }
        Ok(())
    }

    /// Where an answered question leads: to the intent, as the contract says, unless whoever asked comes before it.
    fn clarified(&self, stop: &Stop) -> String {
        let place = |name: &str| self.pipeline.stages.iter().position(|stage| stage.name == name);
        match self.pipeline.writing(INTENT) {
            Some(intent) if place(&intent.name) <= place(&stop.stage) => intent.name.clone(),
            Some(_) | None => stop.stage.clone(),
        }
    }
}

/// Whether an answer is one of the options of a question.
fn is_offered(stop: &Stop, option: &str) -> bool {
    stop.reason == HARD_CALL && stop.next_steps.iter().any(|one| one == option)
}

fn words_of(bound: TerminalReason) -> &'static str {
    match bound {
        TerminalReason::MaxIterationsExceeded => "it has begun again as often as it may",
        TerminalReason::MaxLlmCallsExceeded => "models were called as often as they may be",
        TerminalReason::MaxAgentHopsExceeded => "agents handed over as often as they may",
        TerminalReason::MaxCriticFiresExceeded => "the critic refused as often as it may",
        TerminalReason::CompletedSuccessfully
        | TerminalReason::ClarificationRequired
        | TerminalReason::ConfirmationRequired
        | TerminalReason::DeniedByPolicy
        | TerminalReason::ToolFailedRecoverably
        | TerminalReason::ToolFailedFatally => "it is over",
    }
}
