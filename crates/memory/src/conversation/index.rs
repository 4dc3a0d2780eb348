//! Layer E: brings the index up to the end of the log.
//! Owns: what is new, that only that is embedded, and what the next generation holds. Must not: run where a prompt
//! waits, or change the log.

use super::clear::opened;
use super::lines::{self, Line};
use super::published::{self, Place, Published};
use super::{Conversation, Error, tail};
use crate::embed::Embedder;
use crate::snapshot::{self, Table};
use countersign_durable::{self as durable, Lock};
use countersign_kernel::history::capacity::{self, Room};
use countersign_kernel::history::{At, BadLine, BadLines, Caps, Index, Indexed, Item};
use countersign_record::digest::Digest;
use countersign_record::json::Json;
use std::fs::File;
use std::io;
use std::time::Duration;

/// How long another indexer is waited for.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// After so many new items the least important go at once, so that a long log fits into memory.
const SLACK: usize = 8_192;

/// What the labels of a snapshot may take: a little less than its format can hold.
const LABEL_BYTES_MAX: usize = snapshot::LABELS_BYTES_MAX / 10 * 9;
const LABEL_VALUES_MAX: usize = snapshot::VALUES_MAX / 10 * 9;

/// What one update did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    pub bad: BadLines,
    /// Why the index was made anew, if it was.
    pub rebuilt: Option<String>,
    /// Why the newest generation could not be built on: a person must know.
    pub troubles: Vec<String>,
}

/// Embeds what is new in the log and publishes the next generation; nothing is published if nothing is new.
///
/// # Errors
/// Another process does so and does not end, or a file can't be read or written; the generation before stays.
pub fn update(conversation: &Conversation, embedder: &dyn Embedder, caps: Caps) -> Result<Update, Error> {
    if !conversation.dir().exists() {
        // Nothing was ever said, and a directory is made for what is said.
        return Ok(Update::default());
    }
    let _lock = lock(conversation)?;
    published::settle(conversation)?;
    let (log, cleared) = opened(conversation)?;
    let Some((log, length)) = log else {
        // Nothing was ever said, or the log is gone: of that nothing is known, and nothing is changed.
        return Ok(Update::default());
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
    evicted: u64,
    /// How many items there were when it was last looked whether they have room.
    trimmed_to: usize,
}

impl Next {
    /// What follows a generation, before anything is in it.
    fn of(index: &Index) -> Self {
        let Index { indexed, bad_lines, evicted, .. } = index.clone();
        Next { items: Vec::new(), vectors: Vec::new(), indexed, bad_lines, evicted, trimmed_to: 0 }
    }
}

impl Work<'_> {
    fn run(&self) -> Result<Update, Error> {
        let unreadable = |error: io::Error| Error::unreadable(&self.conversation.log(), &error);
        let published::Found { published, troubles } = published::open_sound(self.conversation);
        let before = published.as_ref().map(|published| published.index.clone());
        // What was cleared since must not stay on disk as the generation before.
        let is_kept = before.as_ref().is_none_or(|before| before.cleared_before_offset == self.cleared);
        if !is_kept {
            published::forget_previous(self.conversation)?;
        }
        let (mut next, rebuilt) = match published.as_ref().map(|published| self.base(published)) {
            Some(Ok(next)) => (next, None),
            Some(Err(why)) => (self.nothing().map_err(unreadable)?, Some(why)),
            None => (self.nothing().map_err(unreadable)?, troubles.first().cloned()),
        };
        let (embedded, mut evicted, bad) = self.extend(&mut next).map_err(unreadable)?;
        self.trim(&mut next, 0, &mut evicted);
        let index = self.index_of(&next);
        let is_same = |before: &Index| {
            let Index { sha256, generation, .. } = *before;
            let is_sound = troubles.is_empty() && rebuilt.is_none();
            is_sound && Index { sha256, generation, ..index.clone() } == *before
        };
        let whole = published.as_ref().filter(|_| is_kept).map(|published| published.place);
        let index = match before {
            Some(before) if is_same(&before) => before,
            Some(_) | None => self.publish(index, &next, whole)?,
        };
        let (generation, count) = (index.generation, index.count);
        Ok(Update { generation, count, embedded, evicted, bad, rebuilt, troubles })
    }

    /// Begins with the generation before.
    ///
    /// # Errors
    /// Why it can't be built on.
    fn base(&self, published: &Published) -> Result<Next, String> {
        let Published { index, snapshot, .. } = published;
        if !self.is_same_log(&index.indexed) {
            return Err("the log is not the one it was made from".to_owned());
        }
        if index.indexed.bytes < self.cleared {
            return Err("the history was cleared since".to_owned());
        }
        if index.count == 0 {
            return Ok(Next { vectors: Vec::new(), ..Next::of(index) });
        }
        if index.evicted > 0 && self.caps.vectors_max > index.caps.vectors_max {
            return Err("there is room again for what had to go".to_owned());
        }
        if index.embedder != self.embedder.name() {
            return Err(format!("it was made by {}", index.embedder));
        }
        if snapshot.dimension() != self.embedder.dimension() {
            return Err("its vectors have another dimension".to_owned());
        }
        let labels = snapshot.labels().map_err(|refusal| refusal.to_string())?;
        let dimension = self.embedder.dimension();
        let mut next = Next { vectors: Vec::with_capacity(snapshot.vectors().len()), ..Next::of(index) };
        let rows = snapshot.vectors().chunks_exact(dimension);
        for ((id, meta), vector) in labels.ids.iter().zip(labels.meta).zip(rows) {
            let item = Item::read(id, meta).map_err(|_| "it holds an item that is none".to_owned())?;
            if item.offset >= self.cleared {
                next.items.push(item);
                next.vectors.extend_from_slice(vector);
            }
        }
        next.bad_lines.first.retain(|bad| bad.offset >= self.cleared);
        if next.bad_lines.first.is_empty() {
            next.bad_lines.count = 0;
        }
        Ok(next)
    }

    fn is_same_log(&self, indexed: &Indexed) -> bool {
        lines::has_landmark(self.log, self.length, indexed.bytes, indexed.landmark).unwrap_or(false)
    }

    /// Begins at what was cleared.
    fn nothing(&self) -> io::Result<Next> {
        let (bytes, lines) = (self.cleared, lines::count(self.log, 0, self.cleared)?);
        let landmark = lines::landmark(self.log, bytes)?;
        Ok(Next {
            items: Vec::new(),
            vectors: Vec::new(),
            indexed: Indexed { bytes, lines, landmark },
            bad_lines: BadLines::default(),
            evicted: 0,
            trimmed_to: 0,
        })
    }

    fn extend(&self, next: &mut Next) -> io::Result<(u64, Vec<String>, BadLines)> {
        let end = tail::end_of_lines(self.log, self.length)?;
        let from = At { offset: next.indexed.bytes, line: next.indexed.lines + 1 };
        let (mut embedded, mut evicted, mut bad) = (0, Vec::new(), BadLines::default());
        lines::each(self.log, from, end, |placed| {
            let at = placed.at;
            (next.indexed.bytes, next.indexed.lines) = (at.offset + placed.length, at.line);
            match placed.line {
                Line::Blank => {}
                Line::Bad(why) => {
                    let one = BadLine { line: at.line, offset: at.offset, why };
                    next.bad_lines.note(one.clone());
                    bad.note(one);
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
        next.indexed.landmark = lines::landmark(self.log, next.indexed.bytes)?;
        Ok((embedded, evicted, bad))
    }

    /// Keeps to the caps. It is looked whether they are kept when `slack` more items are there than the last time.
    fn trim(&self, next: &mut Next, slack: usize, evicted: &mut Vec<String>) {
        let count = usize::try_from(self.caps.vectors_max).unwrap_or(usize::MAX);
        let room = Room { count, bytes: LABEL_BYTES_MAX, values: LABEL_VALUES_MAX };
        if next.items.len() < next.trimmed_to.saturating_add(slack) || room.holds(&next.items) {
            return;
        }
        let gone = capacity::over(&next.items, room);
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
        next.trimmed_to = next.items.len();
    }

    fn index_of(&self, next: &Next) -> Index {
        Index {
            version: Index::version(),
            generation: published::newest_generation(self.conversation).saturating_add(1),
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
