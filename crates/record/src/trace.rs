//! What a turn leaves for whoever looks at it later: one event per line.
//! Owns: the kinds of events, their form, and that no secret is in one. Must not: decide anything; a trace is no record.

use crate::canonical;
use crate::json::{self, Json, Object};
use crate::session::UnixTime;
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;

/// What an event is about. The contract's kinds come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A model is asked.
    LlmReq,
    /// It has said something.
    LlmStream,
    /// It has ended.
    LlmDone,
    /// The state is changed, or not, by its notes.
    NotesPatch,
    /// What it wanted done.
    Actions,
    /// Memory was read for the prompt.
    Retrieval,
    /// Tools are to be called.
    ToolPlan,
    /// One is called.
    ToolStart,
    /// It has ended.
    ToolDone,
    /// Something of a reply was left out.
    Fault,
    /// The session was made shorter.
    Condense,
    /// The turn has begun.
    TurnStart,
    /// The turn has ended.
    TurnDone,
    /// Something was sent away, or was not.
    Externalize,
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Event {
    /// When.
    pub ts: UnixTime,
    /// About what.
    pub kind: Kind,
    /// What there is to say.
    pub data: Object,
}

/// What stands in the place of a secret.
pub const REDACTED: &str = "[redacted]";

/// A secret shorter than this is none: it would redact half of every text.
const SECRET_BYTES_MIN: usize = 6;

/// Members whose texts are secrets whatever they hold, by a part of their names.
const SECRET_NAMES: [&str; 8] =
    ["authorization", "api_key", "api-key", "apikey", "password", "secret", "cookie", "private_key"];

/// Takes secrets out of events.
#[derive(Clone, Default)]
pub struct Redactor {
    /// The longest first: one may begin with another.
    secrets: Vec<String>,
}

impl core::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Redactor({} secrets)", self.secrets.len())
    }
}

impl Redactor {
    /// Takes out these, wherever they stand.
    #[must_use]
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut secrets: Vec<String> =
            secrets.into_iter().filter(|secret| secret.len() >= SECRET_BYTES_MIN).collect();
        secrets.sort_by_key(|secret| core::cmp::Reverse(secret.len()));
        secrets.dedup();
        Redactor { secrets }
    }

    /// A text without them.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        let mut text = String::from(text);
        for secret in self.secrets.iter().filter(|secret| text.contains(secret.as_str())).collect::<Vec<_>>()
        {
            text = text.replace(secret.as_str(), REDACTED);
        }
        text
    }

    fn value(&self, value: Json) -> Json {
        match value {
            Json::String(text) => Json::String(self.text(&text)),
            Json::Array(items) => Json::Array(items.into_iter().map(|item| self.value(item)).collect()),
            Json::Object(object) => Json::Object(self.object(&object)),
            other @ (Json::Null | Json::Bool(_) | Json::Number(_)) => other,
        }
    }

    fn object(&self, object: &Object) -> Object {
        let mut redacted = Object::new();
        for (name, value) in object.iter() {
            let lower = name.to_lowercase();
            let is_secret = SECRET_NAMES.iter().any(|part| lower.contains(part));
            let value = match (is_secret, value) {
                (true, Json::Null) => Json::Null,
                (true, _) => Json::from(REDACTED),
                (false, value) => self.value(value.clone()),
            };
            redacted.insert(self.text(name), value);
        }
        redacted
    }

    /// An event as a line, without secrets and with its end.
    ///
    /// # Errors
    /// Something in it has no text.
    pub fn line(&self, event: &Event) -> Result<String, canonical::Unwritable> {
        let event = Event { data: self.object(&event.data), ..event.clone() };
        let mut line = json::to_text(&event)?;
        line.push('\n');
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    fn line(redactor: &Redactor, data: &str) -> String {
        let Ok(Json::Object(data)) = json::parse(data.as_bytes()) else { panic!("no object: {data}") };
        let ts = UnixTime::from_micros(1_500_000).unwrap();
        redactor.line(&Event { ts, kind: Kind::ToolStart, data }).unwrap()
    }

    #[test]
    fn an_event_is_one_line() {
        let line = line(&Redactor::default(), r#"{"args":{"text":"a\nb\u2028","n":1.50}}"#);
        assert_eq!(line.matches('\n').count(), 1);
        assert!(line.starts_with(r#"{"ts":1.5,"kind":"tool_start","data":{"args":{"#), "{line}");
        assert!(line.contains("1.50") && line.ends_with("}\n"), "{line}");
    }

    #[test]
    fn no_secret_is_in_an_event() {
        let redactor = Redactor::new(["sk-12345".into(), "sk-12345-long".into(), "ab".into(), String::new()]);
        let line = line(
            &redactor,
            r#"{"sk-12345":1,"url":"https://a.example/?k=sk-12345-long&ab","list":[["x sk-12345"]],
                "Authorization":"Bearer whatever","headers":{"X-Api-Key":["k"],"cookie":null},"tokens":12}"#,
        );
        assert!(
            !line.contains("sk-12345") && !line.contains("-long") && !line.contains("whatever"),
            "{line}"
        );
        assert!(!line.contains("[\"k\"]"), "{line}");
        for kept in ["&ab", "\"tokens\":12", "\"cookie\":null", "a.example"] {
            assert!(line.contains(kept), "{kept}: {line}");
        }
        assert_eq!(format!("{redactor:?}"), "Redactor(2 secrets)");
    }
}
