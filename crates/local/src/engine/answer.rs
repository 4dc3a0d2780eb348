//! One answer: reading the question, then a token at a time.
//! Owns: when an answer ends and what is given out of it. Must not: give out a token of control, or run on when it was
//! stopped.

use super::llama::Trouble;
use super::{Whole, no_answer};
use crate::chance::Choice;
use crate::characters::Characters;
use crate::chat;
use countersign_record::code::Code;
use countersign_runtime::ports::model::{Delta, Ended, Finish, NoAnswer, Request, Usage};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The tokens of a question that are read at once; between them it is looked whether anybody still waits.
const READ_TOKENS: usize = 16;

/// What is to be answered.
pub(super) struct Answering {
    pub(super) whole: Arc<Whole>,
    pub(super) request: Request,
    pub(super) stop: CancellationToken,
}

impl Answering {
    /// Answers. `give` takes each piece and says whether anybody listens; if nobody does, it ends early.
    pub(super) fn answer(&self, give: &mut dyn FnMut(Delta) -> bool) -> Result<(), NoAnswer> {
        let Whole { llama, words } = &*self.whole;
        let context = llama.shape().context;
        let prompt =
            chat::prompt(words, &self.request.messages, context).map_err(|error| too_long(&error))?;
        let mut usage = Usage { input_tokens: prompt.len() as u64, attempts: 1, ..Usage::default() };
        // What does not fit the window is cut off, as what is longer than was asked for.
        let most = (context - prompt.len()).min(self.request.max_tokens as usize);
        if most == 0 {
            give(Delta::End(Ended { finish: Finish::Length, usage }));
            return Ok(());
        }
        let mut choice = Choice::new(self.request.temperature_milli, self.seed()?);
        let mut memory = llama.memory();
        let mut logits = Vec::new();
        for piece in prompt.chunks(READ_TOKENS) {
            if self.stop.is_cancelled() {
                return Ok(());
            }
            logits = llama.read(piece, &mut memory).map_err(broken)?;
        }
        let mut characters = Characters::default();
        let mut finish = Finish::Length;
        while usage.output_tokens < most as u64 {
            let token =
                choice.next(&logits).map_err(|error| no_answer(Code::ModelReply, &error.to_string()))?;
            // A token of control is no text: the message is over, whichever it is.
            let Some(bytes) = words.bytes(token) else {
                finish = Finish::Stop;
                break;
            };
            usage.output_tokens += 1;
            let text = characters.push(bytes);
            if !text.is_empty() && !give(Delta::Text(text)) || self.stop.is_cancelled() {
                return Ok(());
            }
            if usage.output_tokens < most as u64 {
                logits = llama.read(&[token], &mut memory).map_err(broken)?;
            }
        }
        let rest = characters.end();
        if !rest.is_empty() && !give(Delta::Text(rest)) {
            return Ok(());
        }
        give(Delta::End(Ended { finish, usage }));
        Ok(())
    }

    /// The seed that was given, or one that the request itself makes.
    fn seed(&self) -> Result<u64, NoAnswer> {
        if let Some(seed) = self.request.seed {
            return Ok(seed);
        }
        let unwritable = |_| no_answer(Code::ModelRefused, "the request has no hash, and so no seed");
        let digest = self.request.hash().map_err(unwritable)?;
        let bytes = digest.as_bytes().first_chunk().copied().unwrap_or_default();
        Ok(u64::from_le_bytes(bytes))
    }
}

fn too_long(error: &chat::Error) -> NoAnswer {
    no_answer(Code::ModelRefused, &error.to_string())
}

fn broken(trouble: Trouble) -> NoAnswer {
    let Trouble = trouble;
    no_answer(Code::ModelReply, "the model could not be run to the end")
}
