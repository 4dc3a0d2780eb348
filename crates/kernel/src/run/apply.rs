//! What an event changes.
//! Owns: the only way that a run's state changes. Must not: decide, or fail.

use super::event::{Answer, Event, STOP, Stop, StopKind};
use super::outcome::{Fault, Outcome};
use super::{Doing, Run};
use crate::pipeline::END;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::envelope::Envelope;
use countersign_record::json::{Json, Number, Object};
use countersign_record::state::{CompletedStage, Extra, GoalStatus, ProcessingRecord, TerminalReason};
use countersign_record::time::Timestamp;

/// Where an envelope keeps how often the critic has refused since there was progress: the contract has no member for it.
const REFUSED: &str = "critic_fires";

impl Run {
    /// How often the critic has refused since there was progress.
    pub(super) fn refused(&self) -> u64 {
        match self.envelope.metadata.get(REFUSED) {
            Some(Json::Number(number)) => number.as_u64().unwrap_or(0),
            Some(_) | None => 0,
        }
    }

    fn set_refused(&mut self, refused: u64) {
        match Number::try_from(refused) {
            Ok(number) if refused > 0 => drop(self.envelope.metadata.insert(REFUSED, Json::Number(number))),
            Ok(_) | Err(_) => drop(self.envelope.metadata.remove(REFUSED)),
        }
    }

    /// Takes an event in.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Called { stage, at } => {
                self.envelope.bounds.agent_hop_count += 1;
                self.envelope.progress.current_stage.clone_from(stage);
                self.doing = Doing::Called { stage: stage.clone(), since: at.clone() };
            }
            Event::Returned { stage, output_key, handoff, llm_calls, next, at } => {
                self.returned(stage, output_key, handoff, *llm_calls, at);
                if let Some(next) = next {
                    self.lead(next);
                }
            }
            Event::Aimed { goals } => self.aim(goals),
            Event::GivenUp { goals } => self.close(goals, GoalStatus::Failed),
            Event::Reached { goals } => self.reach(goals),
            Event::Refused { feedback, plan_key, cleared } => {
                self.envelope.bounds.iteration += 1;
                self.envelope.goals.critic_feedback.push(feedback.clone());
                let plan = self.envelope.progress.outputs.get(plan_key).cloned();
                self.envelope.goals.prior_plans.extend(plan);
                self.clear(cleared);
                self.set_refused(self.refused() + 1);
            }
            Event::Heard { feedback } => self.envelope.goals.critic_feedback.push(feedback.clone()),
            Event::Advanced { satisfied, summary, plan_id, cleared, number } => {
                self.reach(satisfied);
                let goals = &mut self.envelope.goals;
                goals.completed_stages.push(CompletedStage {
                    stage_number: i64::try_from(goals.current_stage_number).ok(),
                    satisfied_goals: satisfied.clone(),
                    summary: summary.clone(),
                    plan_id: plan_id.clone(),
                    extra: Extra::default(),
                });
                goals.current_stage_number = *number;
                self.clear(cleared);
            }
            Event::Moved { to } => self.lead(to),
            Event::Stopped(stop) => self.stop(stop),
            Event::Answered { answer, .. } => self.answered(answer),
            Event::Ended { reason, words, at } => self.end(*reason, words, at),
        }
    }

    /// Stands at another stage.
    fn lead(&mut self, to: &str) {
        self.envelope.progress.current_stage = to.to_string();
        self.doing = Doing::Ready;
    }

    fn returned(
        &mut self,
        stage: &str,
        output_key: &str,
        handoff: &Envelope,
        llm_calls: u64,
        at: &Timestamp,
    ) {
        let since = match &self.doing {
            Doing::Called { since, .. } => Some(since.clone()),
            Doing::Ready | Doing::Waiting(_) | Doing::Over => None,
        };
        let outcome = Outcome::of(handoff);
        let status = outcome.status();
        let fault = match outcome {
            Outcome::Done(output) => {
                self.envelope.progress.outputs.insert(output_key.to_string(), output);
                None
            }
            Outcome::Failed(fault) => Some(fault),
            Outcome::Denied { .. }
            | Outcome::Clarify { .. }
            | Outcome::Confirm { .. }
            | Outcome::Escalate { .. } => None,
        };
        let envelope = &mut self.envelope;
        envelope.bounds.llm_call_count += llm_calls;
        let duration_ms = since.as_ref().map_or(0, |since| since.instant().millis_until(at.instant()));
        envelope.processing_history.push(ProcessingRecord {
            agent: stage.to_string(),
            stage_order: envelope.processing_history.len() as u64 + 1,
            started_at: since,
            completed_at: Some(at.clone()),
            duration_ms,
            status: status.to_string(),
            error: fault.as_ref().map(|fault| fault.message.clone()),
            llm_calls,
            extra: Extra::default(),
        });
        envelope.errors.extend(fault.map(|fault| error_of(stage, &fault, at)));
        self.doing = Doing::Ready;
    }

    fn aim(&mut self, aims: &[String]) {
        let goals = &mut self.envelope.goals;
        for goal in aims.iter().filter(|goal| !goals.all_goals.contains(goal)).cloned().collect::<Vec<_>>() {
            goals.goal_completion_status.insert(goal.clone(), GoalStatus::Pending);
            goals.remaining_goals.push(goal.clone());
            goals.all_goals.push(goal);
        }
    }

    fn reach(&mut self, reached: &[String]) {
        self.close(reached, GoalStatus::Satisfied);
        if !reached.is_empty() {
            self.set_refused(0);
        }
    }

    fn close(&mut self, closed: &[String], status: GoalStatus) {
        let goals = &mut self.envelope.goals;
        goals.remaining_goals.retain(|goal| !closed.contains(goal));
        for goal in closed {
            goals.goal_completion_status.insert(goal.clone(), status);
        }
    }

    fn clear(&mut self, keys: &[String]) {
        for key in keys {
            self.envelope.progress.outputs.remove(key);
        }
    }

    fn stop(&mut self, stop: &Stop) {
        let envelope = &mut self.envelope;
        // The question of another dialect belongs to what it came with.
        envelope.interrupt = None;
        let reason = match stop.kind {
            StopKind::Clarification | StopKind::Escalation => {
                envelope.clarification.pending = true;
                envelope.clarification.question = Some(stop.message.clone());
                envelope.clarification.response = None;
                TerminalReason::ClarificationRequired
            }
            StopKind::Confirmation => {
                envelope.confirmation.pending = true;
                envelope.confirmation.id = Some(stop.id.clone());
                envelope.confirmation.message = Some(stop.message.clone());
                envelope.confirmation.response = None;
                TerminalReason::ConfirmationRequired
            }
        };
        envelope.ending.terminal_reason = Some(reason);
        envelope.metadata.insert(STOP, stop.to_object());
        self.doing = Doing::Waiting(stop.clone());
    }

    fn answered(&mut self, answer: &Answer) {
        let envelope = &mut self.envelope;
        envelope.interrupt = None;
        drop(envelope.metadata.remove(STOP));
        if envelope.clarification.pending {
            envelope.clarification.pending = false;
            envelope.clarification.response = match answer {
                Answer::Text(text) => Some(text.clone()),
                Answer::Approve | Answer::Deny | Answer::Retry | Answer::GiveUp | Answer::Choose(_) => None,
            };
        }
        if envelope.confirmation.pending {
            envelope.confirmation.pending = false;
            envelope.confirmation.response = Some(*answer == Answer::Approve);
        }
        envelope.ending.terminal_reason = None;
        self.doing = Doing::Ready;
    }

    fn end(&mut self, reason: TerminalReason, words: &str, at: &Timestamp) {
        let envelope = &mut self.envelope;
        envelope.ending.terminal_reason = Some(reason);
        envelope.ending.terminated = true;
        envelope.ending.termination_reason = Some(words.to_string());
        envelope.completed_at = Some(at.clone());
        if reason == TerminalReason::CompletedSuccessfully {
            envelope.progress.current_stage = END.to_string();
        }
        self.doing = Doing::Over;
    }
}

/// An error, with exactly the contract's keys.
fn error_of(stage: &str, fault: &Fault, at: &Timestamp) -> Object {
    Object::from([
        ("agent", Json::from(stage)),
        ("error_type", Json::from(fault.error_type.as_str())),
        ("message", Json::from(fault.message.as_str())),
        ("timestamp", Json::from(at.to_string())),
        ("recoverable", Json::from(fault.recoverable)),
        ("details", Json::from(fault.details.clone())),
    ])
}
