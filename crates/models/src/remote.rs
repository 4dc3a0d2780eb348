//! A model that is asked over the network.
//! Owns: attempts, times and bounds, whatever the protocol. Must not: follow a redirect, use a proxy that nobody set
//! up, or ask again once something was said.

mod client;
pub mod heard;
mod hearing;
pub(crate) mod patience;
pub(crate) mod protocol;
pub mod sse;
pub(crate) mod words;

pub use client::NoClient;
pub use patience::{OwnPace, Pace, Timeouts};

use crate::key::Key;
use crate::limits::{ATTEMPTS_MAX, REFUSAL_BYTES_MAX};
use crate::prices::{Counted, Prices};
use countersign_record::code::Code;
use countersign_record::session::ChatMessage;
use countersign_runtime::ports::model::{About, Delta, Deltas, Ended, Model, NoAnswer, Request, Usage};
use futures_util::stream;
use hearing::{Hearing, Next};
use patience::{Again, retry_after};
use protocol::{Fault, Protocol, Tally};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Response, StatusCode, Url};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

/// A remote model.
pub struct Remote {
    about: About,
    url: Url,
    key: Option<Key>,
    client: reqwest::Client,
    protocol: Box<dyn Protocol>,
    timeouts: Timeouts,
    prices: Option<Prices>,
    max_tokens: u32,
    pace: Arc<dyn Pace>,
}

/// What a remote model is made of.
pub(crate) struct Parts {
    pub(crate) about: About,
    pub(crate) url: Url,
    pub(crate) key: Option<Key>,
    pub(crate) protocol: Box<dyn Protocol>,
    pub(crate) timeouts: Timeouts,
    pub(crate) prices: Option<Prices>,
    pub(crate) max_tokens: u32,
    pub(crate) pace: Arc<dyn Pace>,
}

impl Remote {
    pub(crate) fn new(parts: Parts) -> Result<Self, NoClient> {
        let Parts { about, url, key, protocol, timeouts, prices, max_tokens, pace } = parts;
        let client = client::client(timeouts.connect)?;
        Ok(Remote { about, url, key, client, protocol, timeouts, prices, max_tokens, pace })
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("about", &self.about).finish_non_exhaustive()
    }
}

impl Model for Remote {
    fn about(&self) -> &About {
        &self.about
    }

    fn cost_micros(&self, input: u64, output: u64) -> Option<u64> {
        self.prices.map(|prices| prices.of(Counted { input, cached: 0, output }))
    }

    fn stream_chat<'a>(&'a self, request: &'a Request, cancel: &'a CancellationToken) -> Deltas<'a> {
        let asked =
            Asked { model: self, request, attempts: 0, until: None, has_spoken: false, stage: Stage::Asking };
        Box::pin(stream::unfold(asked, move |mut asked| async move {
            let item = tokio::select! {
                biased;
                () = cancel.cancelled() => None,
                item = asked.next() => item,
            };
            // Whatever is open is closed when `asked` goes.
            item.map(|item| (item, asked))
        }))
    }
}

/// What went wrong with one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    code: Code,
    message: String,
    again: Again,
}

impl Trouble {
    fn new(code: Code, message: impl Into<String>, again: Again) -> Self {
        Trouble { code, message: message.into(), again }
    }

    fn timeout(what: &str, time: Duration) -> Self {
        let message = format!("{what} did not come within {} ms", time.as_millis());
        Trouble::new(Code::ModelTimeout, message, Again::Never)
    }

    fn broken(what: impl fmt::Display) -> Self {
        Trouble::new(Code::ModelReply, format!("the server's answer is none: {what}"), Again::Never)
    }
}

/// A question on its way.
struct Asked<'a> {
    model: &'a Remote,
    request: &'a Request,
    attempts: u32,
    /// When all of it must be over; it is known when it begins.
    until: Option<Instant>,
    has_spoken: bool,
    stage: Stage,
}

enum Stage {
    Asking,
    Hearing(Box<Hearing>),
    Over,
}

impl Asked<'_> {
    /// The next piece, or the end, or why there is none; nothing after either.
    async fn next(&mut self) -> Option<Result<Delta, NoAnswer>> {
        let until = *self.until.get_or_insert_with(|| Instant::now() + self.model.timeouts.total);
        loop {
            let trouble = match &mut self.stage {
                Stage::Over => return None,
                Stage::Asking => match self.ask(until).await {
                    Ok(hearing) => {
                        self.stage = Stage::Hearing(Box::new(hearing));
                        continue;
                    }
                    Err(trouble) => trouble,
                },
                Stage::Hearing(hearing) => match hearing.next(&self.model.timeouts, until).await {
                    Ok(Next::Text(text)) => {
                        self.has_spoken = true;
                        return Some(Ok(Delta::Text(text)));
                    }
                    Ok(Next::End(tally)) => {
                        self.stage = Stage::Over;
                        return Some(Ok(Delta::End(self.ended(tally))));
                    }
                    Err(fault) => self.of_fault(fault),
                },
            };
            // The connection is closed before the pause, not after it.
            self.stage = Stage::Over;
            if !self.goes_on(&trouble, until).await {
                let Trouble { code, message, .. } = trouble;
                // A server may have put it where nobody looks: into a certificate, for one.
                let message = self
                    .model
                    .key
                    .as_ref()
                    .map_or_else(|| message.clone(), |key| words::without(&message, key.expose()));
                return Some(Err(NoAnswer { code, message, attempts: self.attempts }));
            }
            self.stage = Stage::Asking;
        }
    }

    /// Waits for the next attempt, if there is one.
    async fn goes_on(&self, trouble: &Trouble, until: Instant) -> bool {
        if self.has_spoken || self.attempts >= ATTEMPTS_MAX {
            return false;
        }
        let Some(pause) = trouble.again.pause(self.attempts, &*self.model.pace) else { return false };
        if Instant::now() + pause >= until {
            return false;
        }
        if !pause.is_zero() {
            self.model.pace.pause(pause).await;
        }
        true
    }

    async fn ask(&mut self, until: Instant) -> Result<Hearing, Trouble> {
        self.attempts += 1;
        let model = self.model;
        let first_until = (Instant::now() + model.timeouts.first).min(until);
        let request =
            Request { max_tokens: self.request.max_tokens.min(model.max_tokens), ..self.request.clone() };
        let unwritable =
            |_| Trouble::new(Code::ModelRefused, "the question can't be written as JSON", Again::Never);
        let body = model.protocol.body(&request).map_err(unwritable)?;
        let mut headers = model
            .protocol
            .headers(model.key.as_ref())
            .map_err(|_| Trouble::new(Code::ModelKey, "the key can't stand in a header", Again::Never))?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
        let sent = model.client.post(model.url.clone()).headers(headers).body(body).send();
        let response = match timeout_at(first_until, sent).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(unreachable(&error)),
            Err(_) => return Err(Trouble::timeout("an answer", model.timeouts.first)),
        };
        match response.status().is_success() {
            true => Hearing::new(response, model.protocol.listen(), first_until),
            false => Err(self.refusal(response, first_until).await),
        }
    }

    async fn refusal(&self, mut response: Response, until: Instant) -> Trouble {
        let status = response.status();
        let after = retry_after(response.headers());
        let mut body = Vec::new();
        // What can't be read of it is not needed: the status says enough.
        while let Ok(Ok(Some(more))) = timeout_at(until, response.chunk()).await {
            body.extend_from_slice(&more);
            if body.len() > REFUSAL_BYTES_MAX {
                break;
            }
        }
        body.truncate(REFUSAL_BYTES_MAX);
        let words = words::message_of(&body);
        if words.as_deref().is_some_and(|words| self.model.protocol.adapts(status.as_u16(), words)) {
            return Trouble::new(
                Code::ModelRefused,
                "the server wants to be asked otherwise",
                Again::Otherwise,
            );
        }
        let told = words.and_then(|words| self.told(&words));
        let message = match told {
            Some(words) => format!("the server answered {}: {words}", status.as_u16()),
            None => format!("the server answered {}", status.as_u16()),
        };
        match status {
            StatusCode::REQUEST_TIMEOUT
            | StatusCode::CONFLICT
            | StatusCode::TOO_MANY_REQUESTS
            | StatusCode::INTERNAL_SERVER_ERROR
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT => Trouble::new(Code::ModelBusy, message, Again::Later(after)),
            _ if status.as_u16() == OVERLOADED => Trouble::new(Code::ModelBusy, message, Again::Later(after)),
            _ if status.is_redirection() => {
                let message = format!("{message}, which leads elsewhere; that is not followed");
                Trouble::new(Code::ModelRefused, message, Again::Never)
            }
            _ => Trouble::new(Code::ModelRefused, message, Again::Never),
        }
    }

    fn told(&self, words: &str) -> Option<String> {
        let asked: &[ChatMessage] = &self.request.messages;
        words::told(words, self.model.key.as_ref(), asked)
    }

    fn of_fault(&self, fault: Lost) -> Trouble {
        let said = |what: &str, words: Option<String>| match words.and_then(|words| self.told(&words)) {
            Some(words) => format!("{what}: {words}"),
            None => what.to_owned(),
        };
        match fault {
            Lost::Trouble(trouble) => trouble,
            Lost::Fault(Fault::Broken(what)) => Trouble::broken(what),
            Lost::Fault(Fault::Busy(words)) => {
                Trouble::new(Code::ModelBusy, said("the server has no time", words), Again::Later(None))
            }
            Lost::Fault(Fault::Refused(words)) => {
                Trouble::new(Code::ModelRefused, said("the server will not answer", words), Again::Never)
            }
        }
    }

    fn ended(&self, tally: Tally) -> Ended {
        let counted = tally.counted.unwrap_or_default();
        // Without a count there is nothing to multiply, and no cost is not the same as none.
        let cost = tally.counted.and_then(|counted| self.model.prices.map(|prices| prices.of(counted)));
        Ended {
            finish: tally.finish.unwrap_or(countersign_runtime::ports::model::Finish::Other),
            usage: Usage {
                input_tokens: counted.input,
                cached_tokens: counted.cached,
                output_tokens: counted.output,
                cost_micros: cost,
                attempts: self.attempts,
            },
        }
    }
}

/// Why no more of an answer is heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// For a reason of the connection.
    Trouble(Trouble),
    /// For what the server said.
    Fault(Fault),
}

impl From<Trouble> for Lost {
    fn from(trouble: Trouble) -> Self {
        Lost::Trouble(trouble)
    }
}

impl From<Fault> for Lost {
    fn from(fault: Fault) -> Self {
        Lost::Fault(fault)
    }
}

/// A status that some servers have for being overloaded.
const OVERLOADED: u16 = 529;
const CAUSE_CHARS_MAX: usize = 120;
/// Errors inside each other that are looked at.
const CAUSES_MAX: usize = 16;

/// There is no connection, or no more.
fn unreachable(error: &reqwest::Error) -> Trouble {
    let what = if error.is_connect() { "the server can't be reached" } else { "the connection was cut" };
    let mut cause: &dyn std::error::Error = error;
    for _ in 0..CAUSES_MAX {
        let Some(inner) = cause.source() else { break };
        cause = inner;
    }
    // The innermost one is of the system or of the protocol and names neither address nor question.
    let cause: String =
        cause.to_string().chars().filter(|letter| !letter.is_control()).take(CAUSE_CHARS_MAX).collect();
    let message = format!("{what}: {cause}");
    Trouble::new(Code::ModelUnreachable, message, Again::Later(None))
}

/// The media type that a server says its answer has, in small letters.
fn media_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    Some(value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
}
