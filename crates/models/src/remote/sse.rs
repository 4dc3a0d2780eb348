//! Events that a server sends (text/event-stream, as the HTML standard has it), in bounded memory.
//! Owns: where a line and an event end, however the bytes are cut. Must not: know what an event says.
//!
//! Each byte is looked at once, and what is held has a bound. The reader that others have published panics at a byte
//! order mark, holds whatever comes, and goes through a long line again with each chunk; it is the judge in the tests.

use memchr::memchr2;
use std::collections::VecDeque;

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Its kind; empty if the server gives it none.
    pub kind: String,
    /// What it says.
    pub data: String,
}

/// Why a stream is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// A line is no text.
    #[error("it is not UTF-8")]
    Utf8,
    /// An event is too long.
    #[error("an event is longer than {bytes_max} bytes")]
    TooLong {
        /// What it may have.
        bytes_max: usize,
    },
}

/// Reads events out of bytes.
#[derive(Debug)]
pub struct Events {
    bytes_max: usize,
    /// The line that has not ended.
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    /// Bytes of the event's lines that have ended.
    held: usize,
    after_return: bool,
    at_start: bool,
    ready: VecDeque<Event>,
}

const BYTE_ORDER_MARK: &str = "\u{feff}";

impl Events {
    /// Reads events of at most so many bytes.
    #[must_use]
    pub fn new(bytes_max: usize) -> Self {
        Events {
            bytes_max,
            line: Vec::new(),
            event: Event::default(),
            has_data: false,
            held: 0,
            after_return: false,
            at_start: true,
            ready: VecDeque::new(),
        }
    }

    /// Takes more bytes. The events that are whole can be had from [`Events::take`], also after an error.
    ///
    /// # Errors
    /// They are no events; nothing may come after them.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<(), Broken> {
        while let Some(first) = bytes.first() {
            if std::mem::take(&mut self.after_return) && *first == b'\n' {
                bytes = bytes.get(1..).unwrap_or_default();
                continue;
            }
            let end = memchr2(b'\n', b'\r', bytes);
            let (more, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            if self.held + self.line.len() + more.len() > self.bytes_max {
                return Err(Broken::TooLong { bytes_max: self.bytes_max });
            }
            self.line.extend_from_slice(more);
            let Some((stop, rest)) = rest.split_first() else { break };
            self.after_return = *stop == b'\r';
            self.end_line()?;
            bytes = rest;
        }
        Ok(())
    }

    /// The next event that is whole.
    pub fn take(&mut self) -> Option<Event> {
        self.ready.pop_front()
    }

    fn end_line(&mut self) -> Result<(), Broken> {
        let mut bytes = std::mem::take(&mut self.line);
        let line = std::str::from_utf8(&bytes).map_err(|_| Broken::Utf8)?;
        let line = match std::mem::take(&mut self.at_start) {
            true => line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line),
            false => line,
        };
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            self.held = 0;
            if std::mem::take(&mut self.has_data) {
                self.ready.push_back(event);
            }
        } else {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match name {
                "event" => value.clone_into(&mut self.event.kind),
                "data" => {
                    if std::mem::replace(&mut self.has_data, true) {
                        self.event.data.push('\n');
                    }
                    self.event.data.push_str(value);
                }
                // A comment has an empty name; an id and a time to come back after are for browsers.
                _ => {}
            }
            self.held += line.len() + 1;
        }
        bytes.clear();
        self.line = bytes;
        Ok(())
    }
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
