//! What a server says of its trouble, as much of it as may be told.
//! Owns: cleaning and cutting it, and taking keys and questions out of it. Must not: tell what is no message.

use crate::key::Key;
use crate::limits::DOCUMENT;
use countersign_record::json::{self, Json};
use countersign_record::session::ChatMessage;

/// Characters of a server's words that are told.
const SHOWN_CHARS_MAX: usize = 200;
/// A piece of a key as long as this is taken out; servers tell shorter ones to help their users.
const KEY_PIECE_MIN: usize = 8;
/// Words that have as much as this in common with what was asked are not told.
const SHARED_CHARS_MIN: usize = 16;
/// A message as short as this may stand in any words.
const SAID_CHARS_MIN: usize = 4;
const TAKEN_OUT: &str = "[key]";

/// The message of an error document: `{"error": {"message": …}}` and its relatives.
pub(crate) fn message_of(body: &[u8]) -> Option<String> {
    message_in(&json::parse_with(body, DOCUMENT).ok()?)
}

/// The message of an error that was parsed.
pub(crate) fn message_in(body: &Json) -> Option<String> {
    let error = body.get("error").unwrap_or(body);
    let places = [error.get("message"), Some(error), body.get("message"), body.get("detail")];
    places.into_iter().flatten().find_map(Json::as_str).map(ToOwned::to_owned)
}

/// Words that may be told: on one line, short, without a key or anything of what was asked.
pub(crate) fn told(words: &str, key: Option<&Key>, asked: &[ChatMessage]) -> Option<String> {
    let words = key.map_or_else(|| words.to_owned(), |key| without(words, key.expose()));
    let line: String = words.chars().map(|letter| if is_plain(letter) { letter } else { ' ' }).collect();
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() || asked.iter().any(|message| shares(&line, &message.content)) {
        return None;
    }
    Some(match line.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    })
}

fn is_plain(letter: char) -> bool {
    !letter.is_control() && !matches!(letter, '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// The words without any longer piece of the key.
pub(crate) fn without(words: &str, key: &str) -> String {
    let mut kept = String::new();
    let mut rest = words;
    while let Some(letter) = rest.chars().next() {
        let length = piece(rest, key);
        if length >= KEY_PIECE_MIN.min(key.len()) {
            kept.push_str(TAKEN_OUT);
            rest = rest.get(length..).unwrap_or_default();
        } else {
            kept.push(letter);
            rest = rest.get(letter.len_utf8()..).unwrap_or_default();
        }
    }
    kept
}

/// How many bytes at the beginning of `text` stand together in the key, which is ASCII.
fn piece(text: &str, key: &str) -> usize {
    let longest = |at: usize| {
        let there = key.as_bytes().get(at..).unwrap_or_default();
        text.bytes().zip(there).take_while(|(one, other)| one == *other).count()
    };
    (0..key.len()).map(longest).max().unwrap_or(0)
}

/// Whether the line repeats something that was asked. Space is compared as a line shows it.
fn shares(line: &str, asked: &str) -> bool {
    let asked = asked.split_whitespace().collect::<Vec<_>>().join(" ");
    if asked.chars().count() < SHARED_CHARS_MIN {
        return asked.chars().count() >= SAID_CHARS_MIN && line.contains(&asked);
    }
    let starts: Vec<usize> = line.char_indices().map(|(at, _)| at).chain([line.len()]).collect();
    let mut windows = starts.windows(SHARED_CHARS_MIN + 1);
    windows.any(|window| match window {
        [start, .., end] => line.get(*start..*end).is_some_and(|piece| asked.contains(piece)),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_record::session::Role;

    fn asked(content: &str) -> [ChatMessage; 1] {
        [ChatMessage { role: Role::User, content: content.into() }]
    }

    #[test]
    fn messages_are_found_where_servers_put_them() {
        let check = |body: &str, message: Option<&str>| {
            assert_eq!(message_of(body.as_bytes()).as_deref(), message, "{body}");
        };
        check("{\"error\":{\"message\":\"m\",\"type\":\"t\"}}", Some("m"));
        check("{\"error\":\"m\"}", Some("m"));
        check("{\"message\":\"m\"}", Some("m"));
        check("{\"detail\":\"m\"}", Some("m"));
        check("{\"type\":\"error\",\"error\":{\"type\":\"t\",\"message\":\"m\"}}", Some("m"));
        check("{\"error\":{}}", None);
        check("<html>m</html>", None);
        check("[]", None);
    }

    #[test]
    fn keys_are_taken_out_whole_or_in_pieces() {
        let key = Key::new("sk-canary-0123456789").unwrap();
        let check = |words: &str, shown: &str| {
            assert_eq!(told(words, Some(&key), &[]).as_deref(), Some(shown), "{words}");
        };
        check("bad key sk-canary-0123456789!", "bad key [key]!");
        check("bad key sk-canary-0**** and ********23456789", "bad key [key]**** and ********[key]");
        check("sk-", "sk-");
        check("é sk-canary-0123456789é\u{1b}[31m\nx", "é [key]é [31m x");
        let short = Key::new("abc").unwrap();
        assert_eq!(told("x abc", Some(&short), &[]).as_deref(), Some("x [key]"));
    }

    #[test]
    fn what_was_asked_is_not_told() {
        let question = "Who pays for the roof of the house?";
        let check = |words: &str, is_told: bool| {
            assert_eq!(told(words, None, &asked(question)).is_some(), is_told, "{words}");
        };
        check("the context is too long", true);
        check("can't parse: pays for  the\nroof of", false);
        check("the roof", true);
        assert_eq!(told("no 4711 here", None, &asked("4711")), None);
        assert_eq!(told(" \n\u{7}", None, &[]), None);
        let long = told(&"é".repeat(500), None, &[]).unwrap();
        assert_eq!(long.chars().count(), 201);
    }
}
