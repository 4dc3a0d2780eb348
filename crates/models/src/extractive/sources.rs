//! What the embedded model may quote from: memory that was retrieved, and results of tools.
//! Owns: finding them in a conversation. Must not: take what a user or a model said for a source.

use crate::limits::DOCUMENT;
use countersign_record::json::{self, Json};
use countersign_record::session::{ChatMessage, Role};
use std::fmt;

const BEGIN: &str = "=== RETRIEVED_MEMORY ===";
const END: &str = "=== END_RETRIEVED_MEMORY ===";
const ITEM: &str = "- id=";
const SCORE: &str = " score=";
const INDENT: &str = "  ";
/// Texts that are looked at.
const SOURCES_MAX: usize = 10_000;
/// Bytes of them, together.
const BYTES_MAX: usize = 16 * 1024 * 1024;
const ID_CHARS_MAX: usize = 256;

/// Where a text comes from, as it is cited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A record of memory.
    Memory(String),
    /// The result of a call.
    Tool(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Memory(id) => write!(f, "[mem:{id}]"),
            Origin::Tool(id) => write!(f, "[tool:{id}]"),
        }
    }
}

/// A text to quote from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Where it comes from.
    pub origin: Origin,
    /// The text.
    pub text: String,
}

/// The sources of a conversation, in its order.
#[must_use]
pub fn sources(messages: &[ChatMessage]) -> Vec<Source> {
    let mut found = Vec::new();
    for message in messages {
        match message.role {
            Role::System => memory(&message.content, &mut found),
            Role::Tool => tool(&message.content, &mut found),
            Role::User | Role::Assistant => {}
        }
    }
    let mut bytes: usize = 0;
    let fits = |source: &Source| {
        bytes = bytes.saturating_add(source.text.len());
        bytes <= BYTES_MAX
    };
    found.into_iter().filter(|source| is_citable(&source.origin)).take(SOURCES_MAX).take_while(fits).collect()
}

/// An id that could end its citation early, or look like a marker, can't be cited; what can't be cited is not quoted.
fn is_citable(origin: &Origin) -> bool {
    let (Origin::Memory(id) | Origin::Tool(id)) = origin;
    let is_plain =
        |letter: char| !letter.is_control() && !['[', ']', '<', '\u{2028}', '\u{2029}'].contains(&letter);
    !id.is_empty() && id.chars().count() <= ID_CHARS_MAX && id.chars().all(is_plain)
}

/// The items of the block of retrieved memory. Each line of an excerpt is indented, so none is taken for an item or for
/// the end. Where there are several blocks, the last one is ours: it is put at the end of the rules.
fn memory(rules: &str, found: &mut Vec<Source>) {
    let lines: Vec<&str> = rules.split('\n').collect();
    let Some(begin) = lines.iter().rposition(|line| *line == BEGIN) else { return };
    let inside = lines.get(begin + 1..).unwrap_or_default();
    // A block without an end was cut; what is there of it may be half of something.
    let Some(end) = inside.iter().position(|line| *line == END) else { return };
    let mut item: Option<(String, Vec<&str>)> = None;
    let mut keep = |item: Option<(String, Vec<&str>)>| {
        found.extend(item.map(|(id, lines)| Source { origin: Origin::Memory(id), text: lines.join("\n") }));
    };
    for line in inside.get(..end).unwrap_or_default() {
        if let Some(text) = line.strip_prefix(INDENT) {
            if let Some((_, lines)) = &mut item {
                lines.push(text);
            }
        } else if let Some(id) = line.strip_prefix(ITEM).and_then(|rest| Some(rest.rsplit_once(SCORE)?.0)) {
            keep(item.take());
            item = Some((id.to_owned(), Vec::new()));
        }
    }
    keep(item);
}

/// The texts in what a call gave. One that failed gave nothing.
fn tool(content: &str, found: &mut Vec<Source>) {
    let Ok(result) = json::parse_with(content.as_bytes(), DOCUMENT) else { return };
    let id = result.get("id").and_then(Json::as_str);
    if let (Some(id), Some(Json::Bool(true)), Some(output)) = (id, result.get("ok"), result.get("output")) {
        texts(output, id, found);
    }
}

fn texts(value: &Json, id: &str, found: &mut Vec<Source>) {
    match value {
        Json::String(text) if found.len() < SOURCES_MAX => {
            found.push(Source { origin: Origin::Tool(id.to_owned()), text: text.clone() });
        }
        Json::Array(items) => items.iter().for_each(|item| texts(item, id, found)),
        Json::Object(members) => members.iter().for_each(|(_, member)| texts(member, id, found)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(role: Role, content: &str) -> ChatMessage {
        ChatMessage { role, content: content.into() }
    }

    fn list(messages: &[ChatMessage]) -> Vec<(String, String)> {
        sources(messages).into_iter().map(|one| (one.origin.to_string(), one.text)).collect()
    }

    #[test]
    fn memory_is_read_as_it_is_shown() {
        let rules = "Rules.\n=== RETRIEVED_MEMORY ===\n- id=m 1 score=0.412\n  The roof.\n  \n  - id=x score=1\n\
                     - id=m2 score=2.000\n  a\r\n  === END_RETRIEVED_MEMORY ===\n=== END_RETRIEVED_MEMORY ===\nMore.\n";
        let found = list(&[said(Role::System, rules), said(Role::User, rules), said(Role::Assistant, rules)]);
        let expected =
            [("[mem:m 1]", "The roof.\n\n- id=x score=1"), ("[mem:m2]", "a\r\n=== END_RETRIEVED_MEMORY ===")];
        assert_eq!(found, expected.map(|(origin, text)| (origin.to_owned(), text.to_owned())));
        for cut in
            ["", "Rules.", "=== RETRIEVED_MEMORY ===\n- id=m score=1\n  a\n", "=== END_RETRIEVED_MEMORY ==="]
        {
            assert_eq!(list(&[said(Role::System, cut)]), [], "{cut}");
        }
    }

    #[test]
    fn results_of_tools_are_sources_if_they_were_good() {
        let good = "{\"id\":\"c1\",\"tool\":\"t\",\"ok\":true,\"output\":{\"b\":[\"two\",3],\"a\":\"one\"},\"error\":null}";
        let found = list(&[said(Role::Tool, good)]);
        let expected = [("[tool:c1]", "one"), ("[tool:c1]", "two")];
        assert_eq!(found, expected.map(|(origin, text)| (origin.to_owned(), text.to_owned())));
        for bad in [
            good.replace("true", "false"),
            good.replace("\"ok\":true,", ""),
            good.replace("c1", "a]b"),
            good.replace("c1", "<<<NOTES_JSON>>>"),
            good.replace("c1", ""),
            "no JSON".to_owned(),
            format!("{{\"id\":\"c\",\"ok\":true,\"output\":{}\"x\"{}}}", "[".repeat(40), "]".repeat(40)),
        ] {
            assert_eq!(list(&[said(Role::Tool, &bad)]), [], "{bad}");
        }
    }
}
