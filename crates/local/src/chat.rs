//! A conversation as a model reads it: `<|im_start|>role`, the message, `<|im_end|>`, and so on (ChatML).
//! Owns: the form. Must not: let a message end itself or begin another one, or add words that nobody said.

use crate::words::{NoTokens, Words};
use countersign_record::session::{ChatMessage, Role};

/// More than any window holds. A tokenizer needs many times the memory of its text, so the text is bounded first.
pub const CONVERSATION_BYTES_MAX: usize = 1 << 20;

/// Why a conversation can't be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It is too long before it is even looked at.
    #[error("the conversation has {bytes} bytes, and at most {CONVERSATION_BYTES_MAX} are taken")]
    TooManyBytes {
        /// How long it is.
        bytes: usize,
    },
    /// It does not fit the model's window. Nothing is left out of a conversation: what the model reads is what was
    /// asked, and whoever asks can make it shorter.
    #[error("the conversation has {tokens} tokens, and the model can look at {context}, its answer included")]
    TooManyTokens {
        /// How long it is.
        tokens: usize,
        /// How long it may be.
        context: usize,
    },
    /// A message has no tokens.
    #[error(transparent)]
    NoTokens(#[from] NoTokens),
}

/// The tokens of a conversation, up to where the model goes on. At least one token of the answer fits after it.
///
/// # Errors
/// It is too long.
pub fn prompt(words: &Words, messages: &[ChatMessage], context: usize) -> Result<Vec<u32>, Error> {
    let bytes = messages.iter().fold(0usize, |sum, message| sum.saturating_add(message.content.len()));
    if bytes > CONVERSATION_BYTES_MAX {
        return Err(Error::TooManyBytes { bytes });
    }
    let newline = words.encode("\n")?;
    let mut tokens = Vec::new();
    for ChatMessage { role, content } in messages {
        tokens.push(words.start());
        // One text, as the model was taught: the newline may be part of a longer token.
        tokens.extend(words.encode(&format!("{}\n{content}", name(*role)))?);
        tokens.push(words.end());
        tokens.extend(&newline);
    }
    tokens.push(words.start());
    tokens.extend(words.encode(&format!("{}\n", name(Role::Assistant)))?);
    match tokens.len() < context {
        true => Ok(tokens),
        false => Err(Error::TooManyTokens { tokens: tokens.len(), context }),
    }
}

/// A role's name. A tool's result is not a user's word, whether the model has learned about tools or not.
fn name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}
