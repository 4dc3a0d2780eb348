//! Layer E: brings the index up to the end of the log.
//! Owns: what is new, that only that is embedded, and what the next generation holds. Must not: run where a prompt
//! waits, or change the log.

use super::clear::cleared_before;
use super::lines::{self, Line};
use super::published::{self, Place, Published};
use super::{Conversation, Error, tail};
use crate::embed::Embedder;
use crate::snapshot::Table;
use countersign_durable::{self as durable, Lock};
use countersign_kernel::history::{At, BadLine, BadLines, Caps, Index, Indexed, Item, capacity};
use countersign_record::digest::Digest;
use countersign_record::json::Json;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// How long another indexer is waited for.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// Beyond the cap by this many, the least important go at once, so that a long log fits into memory.
const SLACK: usize = 8_192;

/// What one update did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// The generation that is published now; 0 if there is none.
    pub generation: u64,
    /// Vectors in it.
    pub count: u64,
    /// Pieces that were embedded.
    pub embedded: u64,
    /// Names of those that had to go because the index was full: `DROPPED:capacity`.
    pub evicted: Vec<String>,
    /// Lines that were found to be no turns.
    pub bad: Vec<BadLine>,
    /// Why the index was made anew, if it was.
    pub rebuilt: Option<String>,
}

/// Embeds what is new in the log and publishes the next generation; nothing is published if nothing is new.
///
/// # Errors
/// Another process does so and does not end, or a file can't be read or written; the generation before stays.
pub fn update(conversation: &Conversation, embedder: &dyn Embedder, caps: Caps) -> Result<Update, Error> {
    let lock = lock(conversation)?;
    update_under(&lock, conversation, embedder, caps)
}

/// The same for who has the lock already.
pub(super) fn update_under(
    _lock: &Lock,
    conversation: &Conversation,
    embedder: &dyn Embedder,
    caps: Caps,
) -> Result<Update, Error> {
    published::settle(conversation)?;
    let cleared = cleared_before(conversation)?;
    let Some((log, length)) = conversation.open_log()? else {
        return Ok(Update {
            generation: 0,
            count: 0,
            embedded: 0,
            evicted: Vec::new(),
            bad: Vec::new(),
            rebuilt: None,
        });
    };
    let work = Work { conversation, embedder, caps, log: &log, length, cleared };
    work.run()
}

/// Keeps other indexers out.
pub(super) fn lock(conversation: &Conversation) -> Result<Lock, Error> {
    let dir = conversation.dir();
    durable::make_dirs(dir, 0o700).map_err(|error| Error::unwritable(dir, &error))?;
    let path = conversation.file("history_index.lock");
    let lock = Lock::take(&path, WAIT_MAX).map_err(|refused| Error::not_taken(&path, refused))?;
    lock.sign().map_err(|error| Error::unwritable(&path, &error))?;
    Ok(lock)
}

struct Work<'a> {
    conversation: &'a Conversation,
    embedder: &'a dyn Embedder,
    caps: Caps,
    log: &'a File,
    length: u64,
    cleared: u64,
}

/// The next generation while it is made.
struct Next {
    items: Vec<Item>,
    vectors: Vec<f32>,
    indexed: Indexed,
    bad_lines: BadLines,
    generation: u64,
    evicted: u64,
}

impl Work<'_> {
    fn run(&self) -> Result<Update, Error> {
        let unreadable = |error: io::Error| Error::unreadable(&self.conversation.log(), &error);
        let found = published::open_sound(self.conversation).published;
        // What was cleared since must not stay on disk as the generation before.
        let is_kept = |published: &&Published| published.index.cleared_before_offset == self.cleared;
        let whole = found.as_ref().filter(is_kept).map(|published| published.place);
        let before = found.as_ref().map(|published| published.index.clone());
        let (mut next, rebuilt) = match found.as_ref().map(|published| self.base(published)) {
            Some(Ok(next)) => (next, None),
            Some(Err(why)) => (self.nothing().map_err(unreadable)?, Some(why)),
            None => (self.nothing().map_err(unreadable)?, None),
        };
        let (embedded, mut evicted, bad) = self.extend(&mut next).map_err(unreadable)?;
        self.trim(&mut next, 0, &mut evicted);
        let index = self.index_of(&next);
        let is_same = before.as_ref().is_some_and(|before| {
            rebuilt.is_none()
                && embedded == 0
                && Index { sha256: before.sha256, generation: before.generation, ..index.clone() } == *before
        });
        let index = match before {
            Some(before) if is_same => before,
            Some(_) | None => self.publish(index, &next, whole)?,
        };
        Ok(Update { generation: index.generation, count: index.count, embedded, evicted, bad, rebuilt })
    }

    /// Begins with the generation before.
    ///
    /// # Errors
    /// Why it can't be built on.
    fn base(&self, published: &Published) -> Result<Next, String> {
        let Published { index, snapshot, .. } = published;
        if index.embedder != self.embedder.name() {
            return Err(format!("it was made by {}", index.embedder));
        }
        if snapshot.dimension() != self.embedder.dimension() {
            return Err("its vectors have another dimension".to_owned());
        }
        if !self.is_same_log(&index.indexed) {
            return Err("the log is not the one it was made from".to_owned());
        }
        let labels = snapshot.labels().map_err(|refusal| refusal.to_string())?;
        let dimension = self.embedder.dimension();
        let mut next = Next {
            items: Vec::new(),
            vectors: Vec::with_capacity(snapshot.vectors().len()),
            indexed: index.indexed,
            bad_lines: index.bad_lines.clone(),
            generation: index.generation,
            evicted: index.evicted,
        };
        let rows = snapshot.vectors().chunks_exact(dimension);
        for ((id, meta), vector) in labels.ids.iter().zip(labels.meta).zip(rows) {
            let item = Item::read(id, meta).map_err(|_| "it holds an item that is none".to_owned())?;
            if item.offset >= self.cleared {
                next.items.push(item);
                next.vectors.extend_from_slice(vector);
            }
        }
        if self.cleared > index.cleared_before_offset {
            next.bad_lines = BadLines::default();
        }
        Ok(next)
    }

    /// Whether the last line that was seen is still there.
    fn is_same_log(&self, indexed: &Indexed) -> bool {
        let Some(bytes) = indexed.bytes.checked_sub(indexed.last_line_offset) else { return false };
        let Ok(bytes) = usize::try_from(bytes) else { return false };
        if indexed.bytes > self.length || bytes > super::LINE_BYTES_MAX {
            // A line that is too long is taken for the same: nothing of it is in the index.
            return indexed.bytes <= self.length;
        }
        let mut line = vec![0; bytes];
        self.log.read_exact_at(&mut line, indexed.last_line_offset).is_ok()
            && Digest::of(&line) == indexed.last_line_sha256
    }

    /// Begins at what was cleared.
    fn nothing(&self) -> io::Result<Next> {
        // A log that is shorter than what was cleared of it is another one, of which nothing was cleared: but what was
        // asked to be forgotten stays so.
        let bytes = self.cleared.min(self.length);
        let lines = lines::count(self.log, 0, bytes)?;
        Ok(Next {
            items: Vec::new(),
            vectors: Vec::new(),
            indexed: Indexed { bytes, lines, last_line_offset: bytes, ..Indexed::nothing() },
            bad_lines: BadLines::default(),
            generation: published::newest_generation(self.conversation),
            evicted: 0,
        })
    }

    fn extend(&self, next: &mut Next) -> io::Result<(u64, Vec<String>, Vec<BadLine>)> {
        let end = tail::end_of_lines(self.log, self.length)?;
        let from = At { offset: next.indexed.bytes, line: next.indexed.lines + 1 };
        let (mut embedded, mut evicted, mut bad) = (0, Vec::new(), Vec::new());
        lines::each(self.log, from, end, |placed| {
            let at = placed.at;
            // Only a line that can be read again is a landmark.
            let end = at.offset + placed.length;
            let last_line_sha256 = placed.landmark();
            next.indexed =
                Indexed { bytes: end, lines: at.line, last_line_sha256, last_line_offset: at.offset };
            match placed.line {
                Line::Blank => {}
                Line::Bad(why) => {
                    let one = BadLine { line: at.line, offset: at.offset, why };
                    next.bad_lines.note(one.clone());
                    bad.push(one);
                }
                Line::Turn(turn) => {
                    for (item, text) in Item::of(&turn, at) {
                        next.vectors.extend(self.embedder.embed(text));
                        next.items.push(item);
                        embedded += 1;
                    }
                    self.trim(next, SLACK, &mut evicted);
                }
            }
            Ok(())
        })?;
        Ok((embedded, evicted, bad))
    }

    /// Keeps to the cap, once it is passed by more than `slack`.
    fn trim(&self, next: &mut Next, slack: usize, evicted: &mut Vec<String>) {
        let cap = usize::try_from(self.caps.vectors_max).unwrap_or(usize::MAX);
        if next.items.len() <= cap.saturating_add(slack) {
            return;
        }
        let gone = capacity::over(&next.items, cap);
        let dimension = self.embedder.dimension();
        let mut kept = Vec::with_capacity((next.items.len() - gone.len()) * dimension);
        for (_, vector) in
            next.vectors.chunks_exact(dimension).enumerate().filter(|(at, _)| !gone.contains(at))
        {
            kept.extend_from_slice(vector);
        }
        next.vectors = kept;
        let mut at = 0;
        next.items.retain(|item| {
            let stays = !gone.contains(&at);
            at += 1;
            if !stays {
                evicted.push(item.id());
            }
            stays
        });
        next.evicted += gone.len() as u64;
    }

    fn index_of(&self, next: &Next) -> Index {
        Index {
            version: Index::version(),
            generation: next.generation + 1,
            count: next.items.len() as u64,
            dimension: self.embedder.dimension() as u64,
            embedder: self.embedder.name().to_owned(),
            sha256: Digest::of(b""),
            caps: self.caps,
            indexed: next.indexed,
            cleared_before_offset: self.cleared,
            evicted: next.evicted,
            bad_lines: next.bad_lines.clone(),
        }
    }

    fn publish(&self, index: Index, next: &Next, whole: Option<Place>) -> Result<Index, Error> {
        let ids: Vec<String> = next.items.iter().map(Item::id).collect();
        let meta: Vec<Json> = next.items.iter().map(Item::meta).collect();
        let table =
            Table { ids: &ids, meta: &meta, vectors: &next.vectors, dimension: self.embedder.dimension() };
        published::publish(self.conversation, index, &table, whole)
    }
}
