//! The rows that a run is kept in: one for each event.
//! Owns: both directions between an event and its row. Must not: keep what was said in a payload; that is the row's
//! content, bytes of their own that can be erased while the row stays.

use super::event::{Answer, Event, Stop, StopKind};
use super::outcome::Outcome;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::canonical::{self, Unwritable};
use countersign_record::code::Code;
use countersign_record::envelope::Envelope;
use countersign_record::fields::{Fields, Trouble};
use countersign_record::json::{Json, Number, Object};
use countersign_record::run_kind::{
    ADVANCED, AIMED, ANSWERED, CALLED, ENDED, GIVEN_UP, HEARD, MOVED, REACHED, REFUSED, RETURNED, STOPPED,
};
use countersign_record::state::TerminalReason;
use countersign_record::time::Timestamp;
use serde::Serialize;

/// What a row holds of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The row's kind.
    pub kind: &'static str,
    /// The row's payload.
    pub payload: Object,
    /// What was said: the row's first blob, canonical JSON.
    pub content: Option<Vec<u8>>,
}

/// Whether rows of a kind have content.
#[must_use]
pub fn has_content(kind: &str) -> bool {
    ![CALLED, MOVED].contains(&kind)
}

impl Event {
    /// As a row keeps it.
    ///
    /// # Errors
    /// It holds something without a canonical form.
    pub fn kept(&self) -> Result<Kept, Unwritable> {
        let text = |text: &str| Json::from(text);
        Ok(match self {
            Event::Called { stage, at: _ } => {
                Kept { kind: CALLED, payload: Object::from([("stage", text(stage))]), content: None }
            }
            Event::Returned { stage, output_key, handoff, llm_calls, next, at: _ } => {
                let mut payload = returned(stage, output_key, handoff, *llm_calls)?;
                if let Some(next) = next {
                    payload.insert("next", next.as_str());
                }
                Kept { kind: RETURNED, payload, content: Some(canonical::to_bytes_of(handoff)?) }
            }
            Event::Aimed { goals } => said(AIMED, &Goals { goals })?,
            Event::GivenUp { goals } => said(GIVEN_UP, &Goals { goals })?,
            Event::Reached { goals } => said(REACHED, &Goals { goals })?,
            Event::Refused { feedback, plan_key, cleared } => {
                let mut kept = said(REFUSED, &Feedback { feedback })?;
                kept.payload.insert("plan_key", plan_key.as_str());
                kept.payload.insert("cleared", list(cleared));
                kept
            }
            Event::Heard { feedback } => said(HEARD, &Feedback { feedback })?,
            Event::Advanced { satisfied, summary, plan_id, cleared, number } => {
                let mut kept = said(ADVANCED, &Advance { satisfied, summary, plan_id: plan_id.as_deref() })?;
                kept.payload.insert("cleared", list(cleared));
                kept.payload.insert("number", self::number(*number)?);
                kept
            }
            Event::Moved { to } => {
                Kept { kind: MOVED, payload: Object::from([("to", text(to))]), content: None }
            }
            Event::Stopped(stop) => {
                let mut kept =
                    said(STOPPED, &Asked { message: &stop.message, next_steps: &stop.next_steps })?;
                kept.payload = stop.to_object();
                drop((kept.payload.remove("message"), kept.payload.remove("next_steps")));
                kept
            }
            Event::Answered { id, by, answer } => {
                let value = match answer {
                    Answer::Text(text) | Answer::Choose(text) => Some(text.as_str()),
                    Answer::Approve | Answer::Deny | Answer::Retry | Answer::GiveUp => None,
                };
                let mut kept = said(ANSWERED, &Value { value })?;
                kept.payload =
                    Object::from([("id", text(id)), ("by", text(by)), ("answer", text(answer.word()))]);
                kept
            }
            Event::Ended { reason, words, at: _ } => {
                let mut kept = said(ENDED, &Words { words })?;
                kept.payload.insert("reason", reason.as_str());
                kept
            }
        })
    }

    /// Reads it again. `at` is the row's own time.
    ///
    /// # Errors
    /// No such event has such a row.
    pub fn read(
        kind: &str,
        payload: Json,
        content: Option<Json>,
        at: &Timestamp,
    ) -> Result<Self, Vec<Trouble>> {
        let mut row = Fields::taking(payload).map_err(|trouble| Vec::from([trouble]))?;
        let content = content.unwrap_or(Json::Object(Object::new()));
        let at = at.clone();
        if kind == RETURNED {
            let handoff = Box::new(Envelope::read(content)?);
            let (stage, output_key, llm_calls) =
                (row.text("stage"), row.text("output_key"), row.integer("llm_calls"));
            let next = row.optional("next", Fields::text);
            row.finish()?;
            return match (stage, output_key, llm_calls) {
                (Some(stage), Some(output_key), Some(llm_calls)) => {
                    Ok(Event::Returned { stage, output_key, handoff, llm_calls, next, at })
                }
                _ => Err(Vec::new()),
            };
        }
        let mut said = Fields::taking(content).map_err(|trouble| Vec::from([trouble]))?;
        let event = other(kind, &mut row, &mut said, at);
        if event.is_none() {
            row.trouble("kind", Code::FieldInvalid, "no event of a run has such a row");
        }
        said.finish()?;
        row.finish()?;
        event.ok_or_else(Vec::new)
    }
}

/// The events whose content is a small object.
fn other(kind: &str, row: &mut Fields<'_>, said: &mut Fields<'_>, at: Timestamp) -> Option<Event> {
    Some(match kind {
        CALLED => Event::Called { stage: row.text("stage")?, at },
        AIMED => Event::Aimed { goals: said.texts("goals")? },
        GIVEN_UP => Event::GivenUp { goals: said.texts("goals")? },
        REACHED => Event::Reached { goals: said.texts("goals")? },
        REFUSED => Event::Refused {
            feedback: said.text("feedback")?,
            plan_key: row.text("plan_key")?,
            cleared: row.texts("cleared")?,
        },
        HEARD => Event::Heard { feedback: said.text("feedback")? },
        ADVANCED => Event::Advanced {
            satisfied: said.texts("satisfied")?,
            summary: said.free_object("summary")?,
            plan_id: said.optional("plan_id", Fields::text),
            cleared: row.texts("cleared")?,
            number: row.integer("number")?,
        },
        MOVED => Event::Moved { to: row.text("to")? },
        STOPPED => Event::Stopped(Stop {
            id: row.text("id")?,
            kind: row.parse("kind", |word| StopKind::try_from(word))?,
            stage: row.text("stage")?,
            agent: row.text("agent")?,
            request_id: row.text("request_id")?,
            reason: row.text("reason")?,
            message: said.text("message")?,
            next_steps: said.texts("next_steps")?,
            expires_at: row.optional("expires_at", Fields::timestamp),
        }),
        ANSWERED => {
            let value = said.optional("value", Fields::text).unwrap_or_default();
            let answer = row.parse("answer", |word| Answer::read(word, value))?;
            Event::Answered { id: row.text("id")?, by: row.text("by")?, answer }
        }
        ENDED => Event::Ended {
            reason: row.parse("reason", |word| TerminalReason::try_from(word))?,
            words: said.text("words")?,
            at,
        },
        _ => return None,
    })
}

/// What may be known of a handoff when its content is gone.
fn returned(stage: &str, output_key: &str, handoff: &Envelope, llm_calls: u64) -> Result<Object, Unwritable> {
    let mut payload = Object::from([
        ("stage", Json::from(stage)),
        ("agent", Json::from(handoff.agent.as_str())),
        ("output_key", Json::from(output_key)),
        ("status", Json::from(Outcome::status_of(handoff))),
        ("payload_hash", Json::from(String::from(canonical::hash_of(&handoff.payload)?))),
        ("llm_calls", number(llm_calls)?),
    ]);
    if let Some(reason) = &handoff.reason {
        payload.insert("reason", reason.as_str());
    }
    Ok(payload)
}

#[derive(Serialize)]
struct Goals<'a> {
    goals: &'a [String],
}

#[derive(Serialize)]
struct Feedback<'a> {
    feedback: &'a str,
}

#[derive(Serialize)]
struct Advance<'a> {
    satisfied: &'a [String],
    summary: &'a Object,
    plan_id: Option<&'a str>,
}

#[derive(Serialize)]
struct Asked<'a> {
    message: &'a str,
    next_steps: &'a [String],
}

#[derive(Serialize)]
struct Value<'a> {
    value: Option<&'a str>,
}

#[derive(Serialize)]
struct Words<'a> {
    words: &'a str,
}

fn said<T: Serialize>(kind: &'static str, content: &T) -> Result<Kept, Unwritable> {
    Ok(Kept { kind, payload: Object::new(), content: Some(canonical::to_bytes_of(content)?) })
}

fn number(number: u64) -> Result<Json, Unwritable> {
    Number::try_from(number).map(Json::Number).map_err(serde::ser::Error::custom)
}

fn list(texts: &[String]) -> Json {
    Json::Array(texts.iter().map(|text| Json::from(text.as_str())).collect())
}

impl Answer {
    /// The word for it.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Answer::Text(_) => "text",
            Answer::Approve => "approve",
            Answer::Deny => "deny",
            Answer::Retry => "retry",
            Answer::GiveUp => "give_up",
            Answer::Choose(_) => "choose",
        }
    }

    fn read(word: &str, value: String) -> Result<Self, &'static str> {
        match word {
            "text" => Ok(Answer::Text(value)),
            "approve" => Ok(Answer::Approve),
            "deny" => Ok(Answer::Deny),
            "retry" => Ok(Answer::Retry),
            "give_up" => Ok(Answer::GiveUp),
            "choose" => Ok(Answer::Choose(value)),
            _ => Err("text, approve, deny, retry, give_up or choose is needed"),
        }
    }
}

impl TryFrom<&str> for StopKind {
    type Error = &'static str;

    fn try_from(word: &str) -> Result<Self, &'static str> {
        match word {
            "clarification" => Ok(StopKind::Clarification),
            "confirmation" => Ok(StopKind::Confirmation),
            "escalation" => Ok(StopKind::Escalation),
            _ => Err("clarification, confirmation or escalation is needed"),
        }
    }
}
