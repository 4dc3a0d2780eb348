//! Replies that were recorded, found by the hash of what was asked.
//! Owns: finding and giving them. Must not: answer anything else.

use crate::scripted::{finish_of, given};
use countersign_durable::{Links, open_regular};
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::fields::{Fields, Trouble};
use countersign_record::json;
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::model::{
    About, Delta, Deltas, Ended, Finish, Model, NoAnswer, Reply, Request, Site, Usage,
};
use futures_util::{FutureExt, StreamExt};
use std::collections::{BTreeMap, VecDeque};
use std::io::Read;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Knows what was answered.
pub trait Recordings: Send + Sync {
    /// The reply to the request of this hash; `None` if there was none.
    fn find<'a>(&'a self, request: &'a Digest) -> Answer<'a, Result<Option<Reply>, NoAnswer>>;
}

impl<F> Recordings for F
where
    F: Fn(&Digest) -> Result<Option<Reply>, NoAnswer> + Send + Sync,
{
    fn find<'a>(&'a self, request: &'a Digest) -> Answer<'a, Result<Option<Reply>, NoAnswer>> {
        Box::pin(std::future::ready(self(request)))
    }
}

/// Why recorded replies can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The file can't be read.
    #[error("the recorded replies {path} can't be read: {why}")]
    Unreadable {
        /// Which.
        path: String,
        /// Why.
        why: String,
    },
    /// A line is no reply.
    #[error("line {line} is no recorded reply: {why}")]
    Line {
        /// Which, from 1.
        line: usize,
        /// Why.
        why: String,
    },
}

impl Error {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        Code::ModelConfig
    }
}

/// Replies of a file. What was asked several times was answered several times: the replies come in that order, and the
/// last one again and again.
#[derive(Debug, Default)]
pub struct Tape {
    replies: Mutex<BTreeMap<Digest, VecDeque<Reply>>>,
}

impl Tape {
    /// Reads a file of JSON lines: `{"request_hash", "text", "finish", "usage"}` each.
    ///
    /// # Errors
    /// It can't be read, or a line is no reply.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let unreadable = |error: std::io::Error| Error::Unreadable {
            path: path.display().to_string(),
            why: error.to_string(),
        };
        let (file, length) = open_regular(path, Links::Followed).map_err(unreadable)?;
        if length > FILE_BYTES_MAX {
            return Err(unreadable(std::io::Error::other("it is too long")));
        }
        let mut text = String::new();
        file.take(FILE_BYTES_MAX).read_to_string(&mut text).map_err(unreadable)?;
        Tape::parse(&text)
    }

    /// Reads JSON lines. Blank ones are nothing.
    ///
    /// # Errors
    /// A line is no reply.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut replies: BTreeMap<Digest, VecDeque<Reply>> = BTreeMap::new();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let wrong = |why: String| Error::Line { line: at + 1, why };
            let value = json::parse(line.as_bytes()).map_err(|error| wrong(error.without_text()))?;
            let first =
                |troubles: Vec<Trouble>| troubles.first().map(ToString::to_string).unwrap_or_default();
            let (hash, reply) = recorded(&value).map_err(|troubles| wrong(first(troubles)))?;
            replies.entry(hash).or_default().push_back(reply);
        }
        Ok(Tape { replies: Mutex::new(replies) })
    }
}

fn recorded(value: &json::Json) -> Result<(Digest, Reply), Vec<Trouble>> {
    let mut fields = Fields::of(value).map_err(|trouble| vec![trouble])?;
    let hash = fields.parse("request_hash", |text| Digest::try_from(text));
    let text = fields.text("text");
    let finish = fields.absent_or("finish", |fields, name| fields.parse(name, finish_of));
    let usage = fields.absent_or("usage", |fields, name| {
        fields.object(name, |usage| {
            let [input_tokens, cached_tokens, output_tokens] =
                ["input_tokens", "cached_tokens", "output_tokens"]
                    .map(|name| usage.absent_or(name, Fields::integer).unwrap_or_default());
            let cost_micros = usage.optional("cost_micros", Fields::integer);
            let attempts = usage.absent_or("attempts", Fields::integer);
            usage.deny_unknown();
            let attempts = attempts.and_then(|count| u32::try_from(count).ok()).unwrap_or(1);
            Some(Usage { input_tokens, cached_tokens, output_tokens, cost_micros, attempts })
        })
    });
    fields.deny_unknown();
    fields.finish()?;
    let usage = usage.unwrap_or(Usage { attempts: 1, ..Usage::default() });
    let ended = Ended { finish: finish.unwrap_or(Finish::Stop), usage };
    hash.zip(text).map(|(hash, text)| (hash, Reply { text, ended })).ok_or_else(Vec::new)
}

impl Recordings for Tape {
    fn find<'a>(&'a self, request: &'a Digest) -> Answer<'a, Result<Option<Reply>, NoAnswer>> {
        let mut replies = self.replies.lock().unwrap_or_else(PoisonError::into_inner);
        let reply = replies.get_mut(request).and_then(|queue| match queue.len() {
            0 | 1 => queue.front().cloned(),
            _ => queue.pop_front(),
        });
        Box::pin(std::future::ready(Ok(reply)))
    }
}

/// A model that says what was said before.
#[derive(Debug)]
pub struct Recorded<R> {
    about: About,
    recordings: R,
}

impl<R: Recordings> Recorded<R> {
    /// Says what is in these.
    pub fn new(recordings: R) -> Self {
        let about = About { provider: "recorded".into(), model: "recorded".into(), site: Site::Here };
        Recorded { about, recordings }
    }

    /// Says what is in these, for a model whose name stays.
    pub fn of(model: &str, recordings: R) -> Self {
        let about = About { provider: "recorded".into(), model: model.to_owned(), site: Site::Here };
        Recorded { about, recordings }
    }

    async fn found(&self, request: &Request) -> VecDeque<Result<Delta, NoAnswer>> {
        let failed = |code, message: &str| NoAnswer { code, message: message.into(), attempts: 1 };
        let found = match request.hash() {
            Ok(hash) => match self.recordings.find(&hash).await {
                Ok(Some(reply)) => Ok(reply),
                Ok(None) => {
                    let message = format!("no reply to the request {hash} was recorded");
                    Err(failed(Code::ModelUnrecorded, &message))
                }
                Err(error) => Err(error),
            },
            Err(_) => Err(failed(Code::ModelUnrecorded, "the request has no hash")),
        };
        match found {
            Ok(reply) => {
                let text = (!reply.text.is_empty()).then_some(Ok(Delta::Text(reply.text)));
                text.into_iter().chain([Ok(Delta::End(reply.ended))]).collect()
            }
            Err(error) => VecDeque::from([Err(error)]),
        }
    }
}

impl<R: Recordings> Model for Recorded<R> {
    fn about(&self) -> &About {
        &self.about
    }

    fn stream_chat<'a>(&'a self, request: &'a Request, cancel: &'a CancellationToken) -> Deltas<'a> {
        let found = async move {
            tokio::select! {
                biased;
                () = cancel.cancelled() => VecDeque::new(),
                items = self.found(request) => items,
            }
        };
        Box::pin(found.map(move |items| given(items, cancel)).into_stream().flatten())
    }
}
