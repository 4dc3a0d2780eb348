//! The protocol of Anthropic's messages.
//! Owns: what is sent, and what each event means. Must not: send it.

use crate::key::Key;
use crate::limits::DOCUMENT;
use crate::openai::Temperature;
use crate::prices::Counted;
use crate::remote::protocol::{Fault, Heard, Listen, Protocol, Tally, count};
use crate::remote::sse::Event;
use crate::remote::words::message_in;
use crate::turns::{ToolRole, turns};
use countersign_record::canonical::Unwritable;
use countersign_record::json::{self, Json};
use countersign_record::session::Role;
use countersign_runtime::ports::model::{Finish, Request};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, InvalidHeaderValue};
use serde::Serialize;

const VERSION: (HeaderName, HeaderValue) =
    (HeaderName::from_static("anthropic-version"), HeaderValue::from_static("2023-06-01"));
const KEY: HeaderName = HeaderName::from_static("x-api-key");
/// The most chance that may be asked for, in thousandths.
const TEMPERATURE_MILLI_MAX: u32 = 1_000;
/// The user begins; where somebody else did, the beginning was cut off.
const EARLIER: &str = "[What was said before is left out.]";

/// The protocol.
#[derive(Debug)]
pub(crate) struct Anthropic {
    model: String,
    sends_temperature: bool,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "String::is_empty")]
    system: String,
    messages: Vec<Message>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    stream: bool,
}

#[derive(Serialize)]
struct Message {
    role: Role,
    content: String,
}

impl Anthropic {
    pub(crate) fn new(model: &str, temperature: Temperature) -> Self {
        Anthropic { model: model.to_owned(), sends_temperature: temperature == Temperature::Sent }
    }
}

/// The rules, and the messages in turn. What is blank is left out, and so is space at the end of what the model said
/// last: the server refuses either.
fn parted(request: &Request) -> (String, Vec<Message>) {
    let said = |message: &&countersign_record::session::ChatMessage| !message.content.trim().is_empty();
    let (rules, others): (Vec<_>, Vec<_>) =
        request.messages.iter().filter(said).cloned().partition(|message| message.role == Role::System);
    let rules = turns(&rules, ToolRole::User).into_iter().next().map(|turn| turn.content);
    let others = turns(&others, ToolRole::User).into_iter();
    let mut messages: Vec<Message> =
        others.map(|turn| Message { role: turn.role, content: turn.content }).collect();
    if messages.first().is_some_and(|first| first.role == Role::Assistant) {
        messages.insert(0, Message { role: Role::User, content: EARLIER.to_owned() });
    }
    if let Some(last) = messages.last_mut().filter(|last| last.role == Role::Assistant) {
        last.content.truncate(last.content.trim_end().len());
    }
    (rules.unwrap_or_default(), messages)
}

impl Protocol for Anthropic {
    fn headers(&self, key: Option<&Key>) -> Result<HeaderMap, InvalidHeaderValue> {
        let mut headers = HeaderMap::from_iter([VERSION]);
        if let Some(key) = key {
            let mut value = HeaderValue::from_str(key.expose())?;
            value.set_sensitive(true);
            headers.insert(KEY, value);
        }
        Ok(headers)
    }

    fn body(&self, request: &Request) -> Result<String, Unwritable> {
        let (system, messages) = parted(request);
        let milli = request.temperature_milli.min(TEMPERATURE_MILLI_MAX);
        json::to_text(&Body {
            model: &self.model,
            max_tokens: request.max_tokens,
            system,
            messages,
            temperature: self.sends_temperature.then(|| f64::from(milli) / 1_000.0),
            stream: true,
        })
    }

    fn adapts(&self, _: u16, _: &str) -> bool {
        false
    }

    fn listen(&self) -> Box<dyn Listen> {
        Box::new(Listener::default())
    }
}

#[derive(Debug, Default)]
struct Listener {
    tally: Tally,
    /// What was told of the question, in the four counts of the protocol.
    told: Told,
}

#[derive(Clone, Copy, Debug, Default)]
struct Told {
    input: u64,
    created: u64,
    read: u64,
    output: u64,
}

impl Listener {
    /// Counts are told for all so far, the question's at the beginning and maybe again: each is the newest.
    fn count(&mut self, usage: Option<&Json>) {
        let Some(usage @ Json::Object(_)) = usage else { return };
        let told = &mut self.told;
        for (name, place) in [
            ("input_tokens", &mut told.input),
            ("cache_creation_input_tokens", &mut told.created),
            ("cache_read_input_tokens", &mut told.read),
            ("output_tokens", &mut told.output),
        ] {
            if let Some(Json::Number(_)) = usage.get(name) {
                *place = count(usage.get(name));
            }
        }
        // What is put into the cache is read anew; what is read from it is not among the other two.
        let input = told.input.saturating_add(told.created);
        self.tally.counted = Some(Counted { input, cached: told.read, output: told.output });
    }

    fn end(&mut self, reason: Option<&Json>) {
        if let (Some(reason), None) = (reason.and_then(Json::as_str), self.tally.finish) {
            self.tally.finish = Some(match reason {
                "end_turn" | "stop_sequence" => Finish::Stop,
                "max_tokens" | "model_context_window_exceeded" => Finish::Length,
                _ => Finish::Other,
            });
        }
    }
}

fn refused(body: &Json) -> Fault {
    let kind = body.get("error").and_then(|error| error.get("type")).and_then(Json::as_str);
    let words = message_in(body);
    match kind {
        Some("overloaded_error" | "rate_limit_error" | "api_error" | "timeout_error") => Fault::Busy(words),
        Some(_) | None => Fault::Refused(words),
    }
}

impl Listen for Listener {
    fn event(&mut self, event: &Event) -> Result<Heard, Fault> {
        let body = json::parse_with(event.data.as_bytes(), DOCUMENT)
            .map_err(|_| Fault::Broken("an event is no JSON that can be used"))?;
        let kind = body.get("type").and_then(Json::as_str).ok_or(Fault::Broken("an event has no type"))?;
        match kind {
            "message_start" => self.count(body.get("message").and_then(|message| message.get("usage"))),
            "content_block_delta" => {
                let delta = body.get("delta").ok_or(Fault::Broken("there is no delta"))?;
                if delta.get("type").and_then(Json::as_str) == Some("text_delta") {
                    let text = delta.get("text").and_then(Json::as_str);
                    let text = text.ok_or(Fault::Broken("what is said should be a text"))?;
                    if !text.is_empty() && self.tally.finish.is_some() {
                        return Err(Fault::Broken("text stands after the end"));
                    }
                    if !text.is_empty() {
                        return Ok(Heard::Text(text.to_owned()));
                    }
                }
            }
            "message_delta" => {
                self.count(body.get("usage"));
                self.end(body.get("delta").and_then(|delta| delta.get("stop_reason")));
            }
            "message_stop" => return Ok(Heard::Over),
            "error" => return Err(refused(&body)),
            // The protocol says that there will be others, and that they may be left alone.
            _ => {}
        }
        Ok(Heard::Nothing)
    }

    fn whole(&mut self, body: &Json) -> Result<String, Fault> {
        if body.get("type").and_then(Json::as_str) == Some("error") {
            return Err(refused(body));
        }
        let Some(Json::Array(blocks)) = body.get("content") else {
            return Err(Fault::Broken("there is no content"));
        };
        let is_text = |block: &&Json| block.get("type").and_then(Json::as_str) == Some("text");
        let texts = blocks.iter().filter(is_text).filter_map(|block| block.get("text")?.as_str());
        let text = texts.collect();
        self.count(body.get("usage"));
        self.end(body.get("stop_reason"));
        self.tally.finish.get_or_insert(Finish::Other);
        Ok(text)
    }

    fn tally(&self) -> Tally {
        self.tally
    }
}

#[cfg(test)]
#[path = "anthropic_tests.rs"]
mod tests;
