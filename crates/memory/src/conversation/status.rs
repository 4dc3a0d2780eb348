//! How a conversation stands.
//! Owns: putting the figures together. Must not: change anything.

use super::clear::opened;
use super::published::{self, Place};
use super::{Conversation, Error, lines, tail};
use countersign_kernel::history::Index;

/// How a conversation stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Bytes of the log's whole lines.
    pub log_bytes: u64,
    /// Its whole lines.
    pub log_lines: u64,
    /// Bytes after them: a line that is being written, or that a crash cut short.
    pub torn_bytes: u64,
    /// What stands before this byte is forgotten.
    pub cleared_before_offset: u64,
    /// The newest generation whose bytes are those that were published, if there is one.
    pub index: Option<Index>,
    /// Whether it is the one before the newest.
    pub is_previous: bool,
    /// Bytes of the log that are not in it yet.
    pub pending_bytes: u64,
    /// Why a newer generation can't be used.
    pub troubles: Vec<String>,
}

/// Looks at a conversation, and reads all of its snapshot.
///
/// # Errors
/// A file can't be read.
pub fn status(conversation: &Conversation) -> Result<Status, Error> {
    let unreadable = |error| Error::unreadable(&conversation.log(), &error);
    let (log, cleared) = opened(conversation)?;
    let found = published::open_sound(conversation);
    let (mut log_bytes, mut log_lines, mut torn_bytes) = (0, 0, 0);
    if let Some((log, length)) = log {
        log_bytes = tail::end_of_lines(&log, length).map_err(unreadable)?;
        torn_bytes = length - log_bytes;
        log_lines = lines::count(&log, 0, log_bytes).map_err(unreadable)?;
    }
    let published = found.published;
    let indexed = published.as_ref().map_or(cleared, |published| published.index.indexed.bytes);
    Ok(Status {
        log_bytes,
        log_lines,
        torn_bytes,
        cleared_before_offset: cleared,
        is_previous: published.as_ref().is_some_and(|published| published.place == Place::Previous),
        index: published.map(|published| published.index),
        pending_bytes: log_bytes.saturating_sub(indexed),
        troubles: found.troubles,
    })
}
