//! The model port: who answers.
//! Owns: the trait, what is asked and what comes back. Must not: know a vendor.

use super::Answer;
use countersign_record::canonical;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::session::ChatMessage;
use futures_core::Stream;
use serde::Serialize;
use std::pin::Pin;
use tokio_util::sync::CancellationToken;

/// What a model is asked. Its hash names it: a recorded reply is found by it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Request {
    /// The whole conversation, the rules first.
    pub messages: Vec<ChatMessage>,
    /// The most tokens of an answer.
    pub max_tokens: u32,
    /// In thousandths: how much chance is in the answer.
    pub temperature_milli: u32,
    /// Makes chance repeatable, where the model can.
    pub seed: Option<u64>,
}

impl Request {
    /// Its hash.
    ///
    /// # Errors
    /// It has no canonical form.
    pub fn hash(&self) -> Result<Digest, canonical::Unwritable> {
        canonical::hash_of(self)
    }
}

/// Who answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct About {
    /// The kind of provider: `extractive`, `openai`, `anthropic`, `local`, `recorded`, `scripted`.
    pub provider: String,
    /// The model, in the provider's words.
    pub model: String,
    /// Where what is asked goes.
    pub site: Site,
}

/// Where what is asked goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "host")]
pub enum Site {
    /// Nowhere: it is answered in this process, at once.
    Here,
    /// Nowhere, and it takes its time.
    HereSlowly,
    /// To this host: an externalization, also if the host is this machine.
    Remote(String),
}

/// What was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Tokens of the question that were read anew.
    pub input_tokens: u64,
    /// Tokens of the question that were found in a cache; not among `input_tokens`.
    pub cached_tokens: u64,
    /// Tokens of the answer.
    pub output_tokens: u64,
    /// What it cost, in millionths of a dollar, if prices are set.
    pub cost_micros: Option<u64>,
    /// How often it was asked, failures included.
    pub attempts: u32,
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// It was complete.
    Stop,
    /// It was as long as it may be.
    Length,
    /// For a reason of the provider's: a filter.
    Other,
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    /// More text.
    Text(String),
    /// The end. Nothing comes after it.
    End(Ended),
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Ended {
    /// Why.
    pub finish: Finish,
    /// What was used.
    pub usage: Usage,
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Its text.
    pub text: String,
    /// How it ended.
    pub ended: Ended,
}

/// Why there is no answer. Holds no key and nothing of what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct NoAnswer {
    /// The stable code.
    pub code: Code,
    /// The words, at most a line.
    pub message: String,
    /// How often it was asked.
    pub attempts: u32,
}

/// An answer as it comes: text, then one end, or an error at any time. A stream that just ends was cancelled.
pub type Deltas<'a> = Pin<Box<dyn Stream<Item = Result<Delta, NoAnswer>> + Send + 'a>>;

/// Who answers.
pub trait Model: Send + Sync {
    /// Who it is.
    fn about(&self) -> &About;

    /// What so many tokens cost that go in and come out, in millionths of a dollar, if prices are set.
    fn cost_micros(&self, input: u64, output: u64) -> Option<u64> {
        let _without_prices = (input, output);
        None
    }

    /// Answers, piece by piece. Retries are made only before the first piece. When `cancel` is called, what is open is
    /// closed and the stream ends.
    fn stream_chat<'a>(&'a self, request: &'a Request, cancel: &'a CancellationToken) -> Deltas<'a>;

    /// Answers at once.
    fn chat<'a>(
        &'a self,
        request: &'a Request,
        cancel: &'a CancellationToken,
    ) -> Answer<'a, Result<Reply, NoAnswer>> {
        Box::pin(whole(self.stream_chat(request, cancel)))
    }
}

async fn whole(mut deltas: Deltas<'_>) -> Result<Reply, NoAnswer> {
    let mut text = String::new();
    loop {
        match std::future::poll_fn(|context| deltas.as_mut().poll_next(context)).await {
            Some(Ok(Delta::Text(more))) => text.push_str(&more),
            Some(Ok(Delta::End(ended))) => return Ok(Reply { text, ended }),
            Some(Err(error)) => return Err(error),
            None => {
                let message = "it was cancelled".to_owned();
                return Err(NoAnswer { code: Code::ModelCancelled, message, attempts: 1 });
            }
        }
    }
}
