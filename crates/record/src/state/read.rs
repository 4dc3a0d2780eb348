//! Reads the run's state.
//! Owns: which dialect a document is, which members may be missing or null, what is noted about it. Must not: stop at
//! the first trouble, default a bad value, or take a document that contradicts itself.

use super::interrupt::{self, Interrupt};
use super::parts::{
    Bounds, Clarification, CompletedStage, Confirmation, Ending, Extra, Goals, Identity, ProcessingRecord,
    Progress,
};
use super::words::{Dialect, GoalStatus, TerminalReason, Vocabulary, alias_of, seed_word};
use super::{GenericEnvelope, Minted, Reading, Renamed};
use crate::code::Code;
use crate::fields::{Fields, Trouble};
use crate::json::{Json, Object};
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A document that is being read, and what is noted about it on the way.
pub(super) struct Reader<'a> {
    pub(super) fields: Fields<'a>,
    dialect: Dialect,
    minted: Vec<&'static str>,
    defaulted: Vec<&'static str>,
    renamed: Vec<Renamed>,
}

pub(super) fn read(value: Json, minted: Minted) -> Result<Reading, Vec<Trouble>> {
    let dialect = dialect_of(&value);
    let mut reader = Reader {
        fields: Fields::taking(value).map_err(|trouble| Vec::from([trouble]))?,
        dialect,
        minted: Vec::new(),
        defaulted: Vec::new(),
        renamed: Vec::new(),
    };
    let envelope = reader.envelope(minted);
    let Reader { fields, dialect, minted, defaulted, renamed } = reader;
    fields.finish()?;
    match envelope {
        Some(envelope) => Ok(Reading { envelope, dialect, minted, defaulted, renamed }),
        // Not reached: what could not be read has left a trouble.
        None => Err(Vec::new()),
    }
}

/// The newest dialect that the document has a mark of. Reading a document is the same in all of them but for nulls.
fn dialect_of(value: &Json) -> Dialect {
    let has_mark = |dialect: &Dialect| dialect.marks().iter().any(|mark| value.get(mark).is_some());
    [Dialect::C, Dialect::B].into_iter().find(has_mark).unwrap_or(Dialect::A)
}

impl<'a> Reader<'a> {
    fn envelope(&mut self, minted: Minted) -> Option<GenericEnvelope> {
        let identity = self.identity(minted);
        let progress = self.progress();
        let bounds = self.bounds();
        let ending = self.ending();
        let (clarification, confirmation, interrupt) = interrupt::read(self);
        let goals = self.goals();
        let errors = self.list("errors", free_objects);
        self.note_default("completed_at");
        let completed_at = self.fields.optional("completed_at", Fields::timestamp);
        let metadata = self.list("metadata", Fields::free_object);
        let processing_history =
            self.list("processing_history", |fields, name| fields.objects(name, read_record));
        if let Some(ending) = &ending {
            self.contradictions(ending, &clarification, &confirmation, interrupt.as_ref());
        }
        let extra = Extra(self.fields.rest());
        Some(GenericEnvelope {
            identity: identity?,
            progress: progress?,
            bounds: bounds?,
            ending: ending?,
            clarification,
            confirmation,
            goals: goals?,
            errors: errors?,
            completed_at,
            metadata: metadata?,
            processing_history: processing_history?,
            interrupt,
            extra,
        })
    }

    /// Notes what can't be true together.
    fn contradictions(
        &mut self,
        ending: &Ending,
        clarification: &Clarification,
        confirmation: &Confirmation,
        interrupt: Option<&Interrupt>,
    ) {
        // Where an interrupt says its kind, it has told which of the two contradicts it.
        let is_told = interrupt.is_some_and(|interrupt| interrupt.kind().is_some());
        if !is_told && clarification.pending && confirmation.pending {
            let message = "a run waits for one thing at a time, and clarification_pending is true too";
            self.fields.trouble("confirmation_pending", Code::FieldConflict, message);
        }
        let waits = interrupt.is_some_and(Interrupt::waits);
        if ending.terminated && (clarification.pending || confirmation.pending || waits) {
            self.fields.trouble("terminated", Code::FieldConflict, "a run that has ended waits for nothing");
        }
        if let Ending { terminal_reason: Some(reason), terminated: false, .. } = ending {
            let waits = match reason {
                TerminalReason::ClarificationRequired => clarification.pending,
                TerminalReason::ConfirmationRequired => confirmation.pending,
                TerminalReason::CompletedSuccessfully
                | TerminalReason::DeniedByPolicy
                | TerminalReason::ToolFailedRecoverably
                | TerminalReason::ToolFailedFatally
                | TerminalReason::MaxIterationsExceeded
                | TerminalReason::MaxLlmCallsExceeded
                | TerminalReason::MaxAgentHopsExceeded
                | TerminalReason::MaxCriticFiresExceeded => false,
            };
            if !waits {
                let message = format!("{reason}, but the run is neither terminated nor waiting for that");
                self.fields.trouble("terminal_reason", Code::FieldConflict, message);
            }
        }
    }

    fn identity(&mut self, minted: Minted) -> Option<Identity> {
        let envelope_id = self.mint("envelope_id", minted.envelope_id, Fields::id);
        let request_id = self.mint("request_id", minted.request_id, Fields::id);
        let user_id = self.or("user_id", "anonymous".to_owned(), Fields::text);
        let session_id = self.mint("session_id", minted.session_id, Fields::id);
        let raw_input = self.or("raw_input", String::new(), Fields::text);
        let is_null = matches!(self.fields.peek("received_at"), Some(Json::Null));
        let received_at = if is_null && self.dialect.writes_null_for_empty() {
            self.minted.push("received_at");
            Some(minted.received_at)
        } else {
            self.mint("received_at", minted.received_at, Fields::timestamp)
        };
        Some(Identity {
            envelope_id: envelope_id?,
            request_id: request_id?,
            user_id: user_id?,
            session_id: session_id?,
            raw_input: raw_input?,
            received_at: received_at?,
        })
    }

    fn progress(&mut self) -> Option<Progress> {
        let outputs = self.list("outputs", |fields, name| fields.members(name, Fields::object_at));
        let current_stage = self.or("current_stage", "start".to_owned(), Fields::text);
        let stage_order = self.list("stage_order", Fields::texts);
        Some(Progress { outputs: outputs?, current_stage: current_stage?, stage_order: stage_order? })
    }

    fn bounds(&mut self) -> Option<Bounds> {
        let iteration = self.or("iteration", 0, Fields::integer);
        let max_iterations = self.or("max_iterations", 3, positive);
        let llm_call_count = self.or("llm_call_count", 0, Fields::integer);
        let max_llm_calls = self.or("max_llm_calls", 10, positive);
        let agent_hop_count = self.or("agent_hop_count", 0, Fields::integer);
        let max_agent_hops = self.or("max_agent_hops", 21, positive);
        Some(Bounds {
            iteration: iteration?,
            max_iterations: max_iterations?,
            llm_call_count: llm_call_count?,
            max_llm_calls: max_llm_calls?,
            agent_hop_count: agent_hop_count?,
            max_agent_hops: max_agent_hops?,
        })
    }

    fn ending(&mut self) -> Option<Ending> {
        self.note_default("terminal_reason");
        let terminal_reason = self.fields.optional("terminal_reason", |fields, name| {
            fields.parse(name, |word| TerminalReason::try_from(word))
        });
        if let Some(reason) = terminal_reason
            && let Some(word) = self.fields.other_word("terminal_reason", reason.as_str())
        {
            self.note_renamed("/terminal_reason".into(), &word, reason.as_str());
        }
        let terminated = self.or("terminated", false, Fields::boolean);
        self.note_default("termination_reason");
        let termination_reason = self.fields.optional("termination_reason", Fields::text);
        Some(Ending { terminal_reason, terminated: terminated?, termination_reason })
    }

    fn goals(&mut self) -> Option<Goals> {
        let dialect = self.dialect;
        let completed_stages = self.list("completed_stages", |fields, name| {
            fields.objects(name, |stage| read_stage(stage, dialect))
        });
        let current_stage_number = self.or("current_stage_number", 1, positive);
        let max_stages = self.or("max_stages", 5, positive);
        let all_goals = self.list("all_goals", Fields::texts);
        let remaining_goals = self.list("remaining_goals", Fields::texts);
        let goal_completion_status = self.goal_statuses();
        let prior_plans = self.list("prior_plans", free_objects);
        let critic_feedback = self.feedback();
        Some(Goals {
            completed_stages: completed_stages?,
            current_stage_number: current_stage_number?,
            max_stages: max_stages?,
            all_goals: all_goals?,
            remaining_goals: remaining_goals?,
            goal_completion_status: goal_completion_status?,
            prior_plans: prior_plans?,
            critic_feedback: critic_feedback?,
        })
    }

    fn goal_statuses(&mut self) -> Option<BTreeMap<String, GoalStatus>> {
        let mut renamed = Vec::new();
        let statuses = self.list("goal_completion_status", |fields, name| {
            fields.members(name, |fields, member, place| match &*member {
                Json::String(word) => match GoalStatus::try_from(word.as_str()) {
                    Ok(status) => {
                        if seed_word(GoalStatus::VOCABULARY, word) != word {
                            renamed.push((place.to_owned(), word.clone(), status.as_str()));
                        }
                        Some(status)
                    }
                    Err(unknown) => {
                        fields.trouble_at(place, Code::FieldInvalid, unknown.to_string());
                        None
                    }
                },
                other => fields.wrong_type(place, "a string", other.kind()),
            })
        });
        for (place, from, to) in renamed {
            self.note_renamed(format!("/{place}"), &from, to);
        }
        statuses
    }

    /// `critic_feedback`, or what dialect C calls it. Of the two, either may be missing; they may not differ.
    fn feedback(&mut self) -> Option<Vec<String>> {
        let Some(alias) = alias_of(Vocabulary::Member, "critic_feedback") else {
            return self.list("critic_feedback", Fields::texts);
        };
        if self.fields.peek(alias).is_none() {
            return self.list("critic_feedback", Fields::texts);
        }
        let loops = self.list(alias, Fields::texts);
        self.note_renamed(format!("/{alias}"), alias, "critic_feedback");
        if self.fields.peek("critic_feedback").is_none() {
            return loops;
        }
        let critics = self.list("critic_feedback", Fields::texts);
        if let (Some(loops), Some(critics)) = (&loops, &critics)
            && loops != critics
        {
            self.fields.trouble(alias, Code::FieldConflict, "critic_feedback says something else");
        }
        critics
    }

    /// A member with a default; null is a wrong type like any other.
    fn or<T>(
        &mut self,
        name: &'static str,
        default: T,
        read: impl FnOnce(&mut Fields<'a>, &'static str) -> Option<T>,
    ) -> Option<T> {
        if self.fields.peek(name).is_none() {
            self.defaulted.push(name);
            return Some(default);
        }
        read(&mut self.fields, name)
    }

    /// A list or an object, empty by default, and empty where the dialect's writers say null for that.
    fn list<T: Default>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Fields<'a>, &'static str) -> Option<T>,
    ) -> Option<T> {
        if matches!(self.fields.peek(name), Some(Json::Null)) && self.dialect.writes_null_for_empty() {
            self.defaulted.push(name);
            return Some(T::default());
        }
        self.or(name, T::default(), read)
    }

    fn mint<T>(
        &mut self,
        name: &'static str,
        minted: T,
        read: impl FnOnce(&mut Fields<'a>, &'static str) -> Option<T>,
    ) -> Option<T> {
        if self.fields.peek(name).is_none() {
            self.minted.push(name);
            return Some(minted);
        }
        read(&mut self.fields, name)
    }

    fn note_default(&mut self, name: &'static str) {
        if self.fields.peek(name).is_none() {
            self.defaulted.push(name);
        }
    }

    /// Notes the missing ones of `names`, unless another member speaks for them.
    pub(super) fn note_defaults(&mut self, names: &[&'static str], is_said_elsewhere: bool) {
        for name in names {
            if !is_said_elsewhere {
                self.note_default(name);
            }
        }
    }

    pub(super) fn note_renamed(&mut self, path: String, from: &str, to: &'static str) {
        self.renamed.push(Renamed { path, from: from.to_owned(), to });
    }
}

fn positive(fields: &mut Fields<'_>, name: &'static str) -> Option<u64> {
    let value = fields.integer(name)?;
    if value == 0 {
        fields.trouble(name, Code::FieldInvalid, "an integer from 1 to 2^53 is needed");
        return None;
    }
    Some(value)
}

fn free_objects(fields: &mut Fields<'_>, name: &'static str) -> Option<Vec<Object>> {
    fields.items(name, Fields::object_at)
}

fn read_stage(stage: &mut Fields<'_>, dialect: Dialect) -> Option<CompletedStage> {
    let is_given = |stage: &mut Fields<'_>, name| match stage.peek(name) {
        None => false,
        Some(Json::Null) => !dialect.writes_null_for_empty(),
        Some(_) => true,
    };
    let stage_number = stage.absent_or("stage_number", Fields::signed);
    let satisfied_goals =
        if is_given(stage, "satisfied_goals") { stage.texts("satisfied_goals") } else { Some(Vec::new()) };
    let summary = if is_given(stage, "summary") { stage.free_object("summary") } else { Some(Object::new()) };
    let plan_id = stage.optional("plan_id", Fields::text);
    let extra = Extra(stage.rest());
    Some(CompletedStage {
        stage_number,
        satisfied_goals: satisfied_goals?,
        summary: summary?,
        plan_id,
        extra,
    })
}

fn read_record(record: &mut Fields<'_>) -> Option<ProcessingRecord> {
    let agent = record.text("agent");
    let stage_order = record.integer("stage_order");
    let started_at = record.optional("started_at", Fields::timestamp);
    let completed_at = record.optional("completed_at", Fields::timestamp);
    let duration_ms = record.absent_or("duration_ms", Fields::integer).unwrap_or(0);
    let status = record.text("status");
    let error = record.optional("error", Fields::text);
    let llm_calls = record.absent_or("llm_calls", Fields::integer).unwrap_or(0);
    let extra = Extra(record.rest());
    Some(ProcessingRecord {
        agent: agent?,
        stage_order: stage_order?,
        started_at,
        completed_at,
        duration_ms,
        status: status?,
        error,
        llm_calls,
        extra,
    })
}
