//! The protocol of OpenAI's chat completions, which llama.cpp, vLLM, Ollama and many others speak too.
//! Owns: what is sent, and what each event means. Must not: send it.

use crate::key::Key;
use crate::limits::DOCUMENT;
use crate::prices::Counted;
use crate::remote::protocol::{Fault, Heard, Listen, Protocol, Tally, count};
use crate::remote::sse::Event;
use crate::remote::words::message_in;
use crate::turns::{ToolRole, turns};
use countersign_record::canonical::Unwritable;
use countersign_record::json::{self, Json};
use countersign_record::session::Role;
use countersign_runtime::ports::model::{Finish, Request};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, InvalidHeaderValue};
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering};

/// The last event.
const DONE: &str = "[DONE]";
/// What a server that does not know a part of a request answers.
const UNKNOWN_PART: [u16; 2] = [400, 422];

/// The protocol, in the form that a server takes.
#[derive(Debug)]
pub(crate) struct OpenAi {
    model: String,
    tools: ToolRole,
    sends_temperature: bool,
    /// Old servers refuse to be asked for what was used.
    asks_usage: AtomicBool,
    /// New ones have another name for the most tokens of an answer.
    newer_max: AtomicBool,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Message>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct Message {
    role: Role,
    content: String,
}

impl OpenAi {
    pub(crate) fn new(model: &str, tools: ToolRole, temperature: Temperature) -> Self {
        OpenAi {
            model: model.to_owned(),
            tools,
            sends_temperature: temperature == Temperature::Sent,
            asks_usage: AtomicBool::new(true),
            newer_max: AtomicBool::new(false),
        }
    }
}

/// Whether a server is told how much chance should be in an answer. Some models refuse to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Temperature {
    /// It is.
    #[default]
    Sent,
    /// It is not.
    Omitted,
}

impl Protocol for OpenAi {
    fn headers(&self, key: Option<&Key>) -> Result<HeaderMap, InvalidHeaderValue> {
        let mut headers = HeaderMap::new();
        if let Some(key) = key {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", key.expose()))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Ok(headers)
    }

    fn body(&self, request: &Request) -> Result<String, Unwritable> {
        let messages = turns(&request.messages, self.tools).into_iter();
        let is_newer = self.newer_max.load(Ordering::Relaxed);
        let asks_usage = self.asks_usage.load(Ordering::Relaxed);
        json::to_text(&Body {
            model: &self.model,
            messages: messages.map(|turn| Message { role: turn.role, content: turn.content }).collect(),
            stream: true,
            stream_options: asks_usage.then_some(StreamOptions { include_usage: true }),
            max_tokens: (!is_newer).then_some(request.max_tokens),
            max_completion_tokens: is_newer.then_some(request.max_tokens),
            temperature: self.sends_temperature.then(|| f64::from(request.temperature_milli) / 1_000.0),
            seed: request.seed,
        })
    }

    fn adapts(&self, status: u16, words: &str) -> bool {
        if !UNKNOWN_PART.contains(&status) {
            return false;
        }
        // Only the first refusal changes anything, so it can't go on for ever.
        (words.contains("stream_options") && self.asks_usage.swap(false, Ordering::Relaxed))
            || (words.contains("max_completion_tokens") && !self.newer_max.swap(true, Ordering::Relaxed))
    }

    fn listen(&self) -> Box<dyn Listen> {
        Box::new(Listener::default())
    }
}

#[derive(Debug, Default)]
struct Listener {
    tally: Tally,
}

impl Listener {
    fn note(&mut self, body: &Json, choice: Option<&Json>) {
        if let Some(usage @ Json::Object(_)) = body.get("usage") {
            // Some servers tell it with each event, always for all so far: the last one counts.
            self.tally.counted = Some(counted(usage));
        }
        let reason = choice.and_then(|choice| choice.get("finish_reason")).and_then(Json::as_str);
        if let (Some(reason), None) = (reason, self.tally.finish) {
            self.tally.finish = Some(match reason {
                "stop" | "eos" => Finish::Stop,
                "length" => Finish::Length,
                _ => Finish::Other,
            });
        }
    }
}

/// What was found in a cache stands among the tokens of the question.
fn counted(usage: &Json) -> Counted {
    let question = count(usage.get("prompt_tokens"));
    let details = usage.get("prompt_tokens_details");
    let cached = count(details.and_then(|details| details.get("cached_tokens"))).min(question);
    Counted { input: question - cached, cached, output: count(usage.get("completion_tokens")) }
}

/// The first choice: only one is asked for.
fn first(body: &Json) -> Result<Option<&Json>, Fault> {
    match body.get("choices") {
        Some(Json::Array(choices)) => Ok(choices.iter().find(|choice| count(choice.get("index")) == 0)),
        None | Some(Json::Null) => Ok(None),
        Some(_) => Err(Fault::Broken("choices should be a list")),
    }
}

/// What a choice says; a refusal is said to the user like everything else.
fn text_of(said: Option<&Json>) -> Result<String, Fault> {
    let mut text = String::new();
    for name in ["content", "refusal"] {
        match said.and_then(|said| said.get(name)) {
            None | Some(Json::Null) => {}
            Some(Json::String(more)) => text.push_str(more),
            Some(_) => return Err(Fault::Broken("what is said should be a text")),
        }
    }
    Ok(text)
}

fn refused(body: &Json) -> Option<Fault> {
    let error = body.get("error").filter(|error| **error != Json::Null)?;
    let words = message_in(body);
    let kind = [error.get("type"), error.get("code")].into_iter().flatten().find_map(Json::as_str);
    let is_busy = count(error.get("code")) >= 500
        || count(error.get("code")) == 429
        || kind.is_some_and(|kind| {
            ["overload", "rate_limit", "server_error", "unavailable"].iter().any(|word| kind.contains(word))
        });
    Some(if is_busy { Fault::Busy(words) } else { Fault::Refused(words) })
}

impl Listen for Listener {
    fn event(&mut self, event: &Event) -> Result<Heard, Fault> {
        let data = event.data.trim();
        if data == DONE {
            return Ok(Heard::Over);
        }
        if data.is_empty() {
            return Ok(Heard::Nothing);
        }
        let body = json::parse_with(data.as_bytes(), DOCUMENT)
            .map_err(|_| Fault::Broken("an event is no JSON that can be used"))?;
        if let Some(fault) = refused(&body) {
            return Err(fault);
        }
        if body.as_object().is_none() {
            return Err(Fault::Broken("an event should be an object"));
        }
        let choice = first(&body)?;
        let text = text_of(choice.and_then(|choice| choice.get("delta")))?;
        if !text.is_empty() && self.tally.finish.is_some() {
            return Err(Fault::Broken("text stands after the end"));
        }
        self.note(&body, choice);
        Ok(if text.is_empty() { Heard::Nothing } else { Heard::Text(text) })
    }

    fn whole(&mut self, body: &Json) -> Result<String, Fault> {
        if let Some(fault) = refused(body) {
            return Err(fault);
        }
        let choice = first(body)?.ok_or(Fault::Broken("there is no choice"))?;
        let message = choice.get("message").ok_or(Fault::Broken("there is no message"))?;
        let text = text_of(Some(message))?;
        self.note(body, Some(choice));
        self.tally.finish.get_or_insert(Finish::Other);
        Ok(text)
    }

    fn tally(&self) -> Tally {
        self.tally
    }
}

#[cfg(test)]
#[path = "openai_tests.rs"]
mod tests;
