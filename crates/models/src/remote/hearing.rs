//! An answer that is being heard.
//! Owns: reading it in bounded memory and time. Must not: ask again.

use super::patience::{TAIL_MAX, Timeouts};
use super::protocol::{Heard, Listen, Tally};
use super::sse::Events;
use super::{Again, Lost, Trouble, media_type, unreachable};
use crate::limits::{DOCUMENT, EVENT_BYTES_MAX, REPLY_BYTES_MAX, STREAM_BYTES_MAX, WHOLE_BYTES_MAX};
use countersign_record::code::Code;
use countersign_record::json;
use reqwest::Response;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

const EVENTS: &str = "text/event-stream";
const DOCUMENT_TYPE: &str = "application/json";

/// An answer whose headers were good.
pub(crate) struct Hearing {
    response: Response,
    listener: Box<dyn Listen>,
    form: Form,
    /// When the next event must be there.
    due: Instant,
    /// How long was given until then, for the message.
    given: Duration,
    received: u64,
    said: usize,
}

enum Form {
    Events(Events),
    Document,
    /// The document was read and its text given.
    Read,
}

/// What comes next.
#[derive(Debug)]
pub(crate) enum Next {
    Text(String),
    End(Tally),
}

impl Hearing {
    pub(crate) fn new(
        response: Response,
        listener: Box<dyn Listen>,
        first_until: Instant,
    ) -> Result<Self, Trouble> {
        let form = match media_type(response.headers()).as_deref() {
            // Some servers forget to say it; what is no event is found out soon.
            Some(EVENTS) | None => Form::Events(Events::new(EVENT_BYTES_MAX)),
            Some(DOCUMENT_TYPE) => Form::Document,
            // What else it says of itself is the server's own words.
            Some(_) => {
                return Err(Trouble::broken(format_args!(
                    "its type is neither {EVENTS} nor {DOCUMENT_TYPE}"
                )));
            }
        };
        let given = first_until.saturating_duration_since(Instant::now());
        Ok(Hearing { response, listener, form, due: first_until, given, received: 0, said: 0 })
    }

    pub(crate) async fn next(&mut self, timeouts: &Timeouts, until: Instant) -> Result<Next, Lost> {
        match self.form {
            Form::Read => Ok(Next::End(self.listener.tally())),
            Form::Document => self.document().await,
            Form::Events(_) => self.event(timeouts, until).await,
        }
    }

    async fn event(&mut self, timeouts: &Timeouts, until: Instant) -> Result<Next, Lost> {
        loop {
            while let Form::Events(events) = &mut self.form
                && let Some(event) = events.take()
            {
                let heard = self.listener.event(&event)?;
                if self.said > 0 || matches!(heard, Heard::Text(_)) {
                    self.wait(timeouts.piece, until);
                }
                match heard {
                    Heard::Nothing => {}
                    Heard::Text(text) => return self.text(text),
                    Heard::Over => return Ok(Next::End(self.listener.tally())),
                }
            }
            let has_ended = self.listener.tally().finish.is_some();
            if has_ended {
                self.wait(TAIL_MAX.min(timeouts.piece), self.due);
            }
            match self.chunk(STREAM_BYTES_MAX).await {
                Ok(Some(bytes)) => {
                    let Form::Events(events) = &mut self.form else { continue };
                    events.push(bytes.as_ref()).map_err(Trouble::broken)?;
                }
                // All that is missing is what was used.
                Ok(None) | Err(_) if has_ended => return Ok(Next::End(self.listener.tally())),
                Ok(None) => return Err(cut().into()),
                Err(trouble) => return Err(trouble.into()),
            }
        }
    }

    /// All of a document is its first piece.
    async fn document(&mut self) -> Result<Next, Lost> {
        let mut body = Vec::new();
        while let Some(bytes) = self.chunk(WHOLE_BYTES_MAX as u64).await? {
            body.extend_from_slice(bytes.as_ref());
        }
        let body = json::parse_with(&body, DOCUMENT)
            .map_err(|_| Trouble::broken("it is no JSON that can be used"))?;
        let text = self.listener.whole(&body)?;
        self.form = Form::Read;
        match text.is_empty() {
            true => Ok(Next::End(self.listener.tally())),
            false => self.text(text),
        }
    }

    fn text(&mut self, text: String) -> Result<Next, Lost> {
        self.said = self.said.saturating_add(text.len());
        if self.said > REPLY_BYTES_MAX {
            return Err(Trouble::broken(format_args!("it is longer than {REPLY_BYTES_MAX} bytes")).into());
        }
        Ok(Next::Text(text))
    }

    fn wait(&mut self, time: Duration, until: Instant) {
        self.due = (Instant::now() + time).min(until);
        self.given = time;
    }

    async fn chunk(&mut self, bytes_max: u64) -> Result<Option<impl AsRef<[u8]> + use<>>, Trouble> {
        let chunk = match timeout_at(self.due, self.response.chunk()).await {
            Ok(Ok(chunk)) => chunk,
            Ok(Err(error)) => return Err(unreachable(&error)),
            Err(_) => return Err(Trouble::timeout("more of the answer", self.given)),
        };
        let length = chunk.as_ref().map_or(0, |bytes| bytes.len() as u64);
        self.received = self.received.saturating_add(length);
        match self.received > bytes_max {
            true => Err(Trouble::broken(format_args!("it is longer than {bytes_max} bytes"))),
            false => Ok(chunk),
        }
    }
}

fn cut() -> Trouble {
    Trouble::new(Code::ModelUnreachable, "the answer was cut off before its end", Again::Later(None))
}
