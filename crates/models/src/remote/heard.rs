//! What an answer says, without a connection.
//! Owns: reading bytes that are there, as a connection's are read. Must not: do it another way.

use super::protocol::{Heard, Listen, Protocol};
use super::sse::Events;
use crate::anthropic::Anthropic;
use crate::limits::{EVENT_BYTES_MAX, REPLY_BYTES_MAX};
use crate::openai::OpenAi;
use crate::settings::{Temperature, ToolRole, Wire};
use countersign_runtime::ports::model::Finish;

/// An answer, as far as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Its text.
    pub text: String,
    /// Why it ended, if it did.
    pub finish: Option<Finish>,
}

/// Reads the events of an answer. However the bytes are cut, the same is heard.
///
/// # Errors
/// What is there is no answer; why, in the words of the protocol.
pub fn heard<'a>(wire: Wire, chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<Said, String> {
    let mut listener: Box<dyn Listen> = match wire {
        Wire::OpenAi => OpenAi::new("", ToolRole::User, Temperature::Sent).listen(),
        Wire::Anthropic => Anthropic::new("", Temperature::Sent).listen(),
    };
    let mut events = Events::new(EVENT_BYTES_MAX);
    let mut text = String::new();
    for chunk in chunks {
        let pushed = events.push(chunk);
        while let Some(event) = events.take() {
            match listener.event(&event).map_err(|fault| format!("{fault:?}"))? {
                Heard::Nothing => {}
                Heard::Text(more) => text.push_str(&more),
                Heard::Over => return Ok(Said { text, finish: listener.tally().finish }),
            }
            if text.len() > REPLY_BYTES_MAX {
                return Err("it is too long".to_owned());
            }
        }
        pushed.map_err(|broken| broken.to_string())?;
    }
    Ok(Said { text, finish: listener.tally().finish })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn events(wire: Wire, texts: &[String], line: &str) -> String {
        let mut all = String::new();
        for text in texts {
            let text = serde_json::Value::from(text.as_str());
            let event = match wire {
                Wire::OpenAi => serde_json::json!({ "choices": [{ "delta": { "content": text } }] }),
                Wire::Anthropic => serde_json::json!({
                    "type": "content_block_delta",
                    "delta": { "type": "text_delta", "text": text },
                }),
            };
            all.push_str(&format!("event: x{line}data: {event}{line}{line}"));
        }
        all
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_text(
            texts in prop::collection::vec("\\PC{0,8}|[é🦀\u{2028}\n\"\\\\<]{1,6}", 0..8),
            cuts in prop::collection::vec(0_usize..600, 0..12),
            wire in prop_oneof![Just(Wire::OpenAi), Just(Wire::Anthropic)],
            line in prop_oneof![Just("\n"), Just("\r\n"), Just("\r")],
        ) {
            let all = events(wire, &texts, line);
            let bytes = all.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.push(bytes.len());
            cuts.sort_unstable();
            let mut start = 0;
            let chunks = cuts.into_iter().map(|cut| &bytes[std::mem::replace(&mut start, cut)..cut]);
            let expected = Said { text: texts.concat(), finish: None };
            prop_assert_eq!(heard(wire, chunks), Ok(expected.clone()));
            prop_assert_eq!(heard(wire, bytes.chunks(1)), Ok(expected));
        }

        #[test]
        fn any_bytes_are_taken_or_refused(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            wire in prop_oneof![Just(Wire::OpenAi), Just(Wire::Anthropic)],
        ) {
            let whole = heard(wire, [bytes.as_slice()]);
            prop_assert_eq!(heard(wire, bytes.chunks(1)).is_ok(), whole.is_ok());
        }
    }
}
