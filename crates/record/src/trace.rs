//! What a turn leaves for whoever looks at it later: one event per line.
//! Owns: the kinds of events, their form, and that no secret is in one. Must not: decide anything; a trace is no record.

mod secret;

use crate::canonical;
use crate::json::{self, Json, Number, Object};
use crate::session::UnixTime;
use alloc::string::String;
use alloc::vec::Vec;
use secret::{Named, named, without};
use serde::Serialize;

/// What an event is about. The contract's kinds come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Events are missing here: the trace is full, or could not be written.
    Lost,
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TraceEvent"))]
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

    /// Whether one of them stands in a text.
    #[must_use]
    pub fn finds(&self, text: &str) -> bool {
        self.secrets.iter().any(|secret| text.contains(secret.as_str()))
    }

    /// A text without them, and without what looks like a secret.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        let mut text = String::from(text);
        for secret in self.secrets.iter().filter(|secret| text.contains(secret.as_str())).collect::<Vec<_>>()
        {
            text = text.replace(secret.as_str(), REDACTED);
        }
        without(&text)
    }

    /// A value, as its name allows.
    fn value(&self, named: Named, value: &Json) -> Json {
        match (named, value) {
            (Named::Secret, Json::Null) => Json::Null,
            (Named::Secret, _) | (Named::Texts, Json::String(_)) => Json::from(REDACTED),
            (Named::Plain, Json::String(text)) => Json::String(self.text(text)),
            (_, Json::Array(items)) => {
                Json::Array(items.iter().map(|item| self.value(named, item)).collect())
            }
            (_, Json::Object(object)) => Json::Object(self.object(named, object)),
            (_, other @ (Json::Null | Json::Bool(_) | Json::Number(_))) => other.clone(),
        }
    }

    /// An object; what holds for it holds for all that is in it.
    fn object(&self, above: Named, object: &Object) -> Object {
        let mut redacted = Object::new();
        for (name, value) in object.iter() {
            let named = match (above, named(name)) {
                (Named::Texts, Named::Plain) => Named::Texts,
                (_, named) => named,
            };
            redacted.insert(self.text(name), self.value(named, value));
        }
        redacted
    }

    /// An event as a line, without secrets and with its end.
    ///
    /// # Errors
    /// Something in it has no text.
    pub fn line(&self, event: &Event) -> Result<String, canonical::Unwritable> {
        let event = Event { data: self.object(Named::Plain, &event.data), ..event.clone() };
        let mut line = json::to_text(&event)?;
        line.push('\n');
        Ok(line)
    }
}

/// The line that says how many events are missing here, and why; how many may not be known yet.
#[must_use]
pub fn lost_line(ts: UnixTime, events: Option<u64>, why: &str) -> Option<String> {
    let events = events.and_then(|events| Number::try_from(events).ok());
    let data = Object::from([("events", events.map_or(Json::Null, Json::Number)), ("why", why.into())]);
    Redactor::default().line(&Event { ts, kind: Kind::Lost, data }).ok()
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
