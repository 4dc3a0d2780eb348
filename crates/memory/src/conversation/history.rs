//! What a prompt gets from the conversation: the last turns, and pointers to earlier ones.
//! Owns: reading both, checking the snapshot behind the reader's back, telling what is wrong while going on with the
//! rest. Must not: embed anything but the query, or give out a text of an earlier turn.

use super::clear::cleared_before;
use super::lines::{self, Line};
use super::published::{self, Published};
use super::tail::{self, Located, Tail};
use super::{Conversation, Error};
use crate::embed::Embedder;
use crate::search;
use crate::snapshot;
use countersign_kernel::history::{At, BadLine, BadLines, Candidate, Decision, Item, Lexicon, Scope, select};
use countersign_record::canonical::Score;
use countersign_record::digest::Digest;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::thread::JoinHandle;

/// How much of the log that is not indexed yet is read whole; of the rest only the lines are counted.
const LAG_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What a prompt asks of the conversation.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// What it is about.
    pub query: String,
    /// How many of the last turns it wants word for word.
    pub turns: usize,
    /// Tokens that what is pointed to may take.
    pub tokens_max: u64,
    /// Pieces that may be pointed to.
    pub items_max: u64,
    /// Files that are OFF.
    pub off: BTreeSet<String>,
    /// Files that stand in the prompt as ❖FILES.
    pub injected: BTreeSet<String>,
    /// Whether the prompt is locked to its files.
    pub is_locked: bool,
    /// Words that mean the same.
    pub lexicon: Lexicon,
}

/// What the conversation gives.
#[derive(Clone, Debug)]
pub struct Recalled {
    /// The last turns, the oldest first.
    pub turns: Vec<Located>,
    /// Every piece of the index: those that may be pointed to first.
    pub pieces: Vec<Piece>,
    /// The generation they are from; `None` if there is no index.
    pub generation: Option<u64>,
    /// Lines in the log.
    pub lines: u64,
    /// Bytes of the log that are not in the index yet.
    pub pending_bytes: u64,
    /// What a person must know.
    pub escalations: Vec<Escalation>,
}

/// A piece, and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// The piece.
    pub item: Item,
    /// Its score, and the parts of it.
    pub score: Score,
    /// How well it fits.
    pub similarity: Score,
    /// How new it is.
    pub recency: Score,
    /// What became of it.
    pub decision: Decision,
}

/// Something that a person must know. What is whole is used all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Escalation {
    /// A short code, with the line and byte where there is one.
    pub reason: String,
    /// The same in words.
    pub message: String,
}

/// A conversation, open for reading.
#[derive(Debug)]
pub struct History {
    conversation: Conversation,
    cleared: u64,
    published: Option<Published>,
    troubles: Vec<String>,
    /// Generations whose bytes were found to be others.
    distrusted: BTreeSet<Digest>,
    check: Option<JoinHandle<Result<(), snapshot::Refusal>>>,
}

impl History {
    /// Opens the newest whole generation. Its head is checked now; all of its bytes are checked in the background.
    ///
    /// # Errors
    /// It is not known what was cleared.
    pub fn open(conversation: Conversation) -> Result<Self, Error> {
        let cleared = cleared_before(&conversation)?;
        let (published, troubles, distrusted) = (None, Vec::new(), BTreeSet::new());
        let mut history = History { conversation, cleared, published, troubles, distrusted, check: None };
        history.look_up();
        Ok(history)
    }

    /// Takes the newest generation that is not distrusted, and begins to check it.
    fn look_up(&mut self) {
        let found = published::open(&self.conversation, &self.distrusted);
        (self.published, self.troubles) = (found.published, found.troubles);
        self.check = self.published.as_ref().and_then(|published| {
            let (snapshot, expected) = (published.snapshot.clone(), published.index.sha256);
            let check = move || snapshot.verify(expected);
            // Without a thread it is not checked here; whoever indexes next checks it.
            std::thread::Builder::new().name("history check".into()).spawn(check).ok()
        });
    }

    /// Waits for the check. `true` if another generation is used from here on, or none.
    pub fn settle(&mut self) -> bool {
        let mut is_exchanged = false;
        while let (Some(published), Some(check)) = (&self.published, self.check.take()) {
            let checked = check.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            if checked.is_ok() {
                break;
            }
            self.distrusted.insert(published.index.sha256);
            self.look_up();
            is_exchanged = true;
        }
        is_exchanged
    }

    /// Recalls. A check that has ended meanwhile is heeded; one that has not is not waited for.
    ///
    /// # Errors
    /// The log can't be read.
    pub fn recall(&mut self, ask: &Ask, embedder: &dyn Embedder) -> Result<Recalled, Error> {
        if self.check.as_ref().is_some_and(JoinHandle::is_finished) {
            self.settle();
        }
        let unreadable = |error: io::Error| Error::unreadable(&self.conversation.log(), &error);
        let opened = self.conversation.open_log()?;
        let (tail, seen) = match &opened {
            Some((log, length)) => {
                let tail = tail::read(log, *length, ask.turns, self.cleared).map_err(unreadable)?;
                let seen = self.look(log, &tail).map_err(unreadable)?;
                (tail, seen)
            }
            None => (Tail::default(), Seen::default()),
        };
        let (mut escalations, items) = (self.escalations(&seen), self.items(embedder));
        let (items, is_usable) = match items {
            Ok(items) => (items, true),
            Err(why) => {
                escalations.push(Escalation { reason: "snapshot_unusable".to_owned(), message: why });
                (Vec::new(), false)
            }
        };
        let recent_from = tail.turns.first().map_or(u64::MAX, |located| located.offset);
        let scope = Scope {
            lines: seen.lines,
            recent_from,
            tokens_max: ask.tokens_max,
            items_max: ask.items_max,
            off: ask.off.clone(),
            injected: ask.injected.clone(),
            is_locked: ask.is_locked,
        };
        let pieces = self.choose(ask, &scope, &items, embedder);
        Ok(Recalled {
            turns: tail.turns,
            pieces,
            generation: self
                .published
                .as_ref()
                .filter(|_| is_usable)
                .map(|published| published.index.generation),
            lines: seen.lines,
            pending_bytes: seen.pending_bytes,
            escalations,
        })
    }

    /// The pieces that were not cleared, with their rows.
    fn items(&self, embedder: &dyn Embedder) -> Result<Vec<(usize, Item)>, String> {
        let Some(Published { index, snapshot, .. }) = &self.published else { return Ok(Vec::new()) };
        if index.count == 0 {
            return Ok(Vec::new());
        }
        if index.embedder != embedder.name() {
            return Err(format!(
                "the index was made by {}; it is made anew with the next update",
                index.embedder
            ));
        }
        if snapshot.dimension() != embedder.dimension() {
            return Err("the vectors have another dimension than the query's".to_owned());
        }
        let labels = snapshot.labels().map_err(|refusal| refusal.to_string())?;
        let mut items = Vec::with_capacity(labels.ids.len());
        for (row, (id, meta)) in labels.ids.iter().zip(labels.meta).enumerate() {
            let item = Item::read(id, meta)
                .map_err(|_| format!("row {row} of the snapshot is no piece of a turn"))?;
            if item.offset >= self.cleared {
                items.push((row, item));
            }
        }
        Ok(items)
    }

    fn choose(
        &self,
        ask: &Ask,
        scope: &Scope,
        items: &[(usize, Item)],
        embedder: &dyn Embedder,
    ) -> Vec<Piece> {
        let Some(Published { snapshot, .. }) = &self.published else { return Vec::new() };
        let similar = |text: &str| {
            search::similarities(snapshot.vectors(), snapshot.dimension(), &embedder.embed(text))
        };
        if items.is_empty() {
            return Vec::new();
        }
        let mut best: Vec<(f32, Option<usize>)> =
            similar(&ask.query).into_iter().map(|similarity| (similarity, None)).collect();
        let variants = ask.lexicon.variants(&ask.query);
        for (number, variant) in variants.iter().enumerate() {
            for (best, similarity) in best.iter_mut().zip(similar(&variant.text)) {
                if similarity > best.0 {
                    *best = (similarity, Some(number));
                }
            }
        }
        let candidates: Vec<Candidate<'_>> = items
            .iter()
            .filter_map(|(row, item)| {
                let (similarity, variant) = *best.get(*row)?;
                let alias = variant.and_then(|number| variants.get(number)).map(|variant| &variant.alias);
                Some(Candidate { item, similarity, alias })
            })
            .collect();
        let piece = |choice: select::Choice<'_>| Piece {
            item: choice.item.clone(),
            score: choice.score,
            similarity: choice.similarity,
            recency: choice.recency,
            decision: choice.decision,
        };
        select::select(scope, &candidates).into_iter().map(piece).collect()
    }

    /// Looks at what the index has not seen, and numbers the bad lines.
    fn look(&self, log: &File, tail: &Tail) -> io::Result<Seen> {
        let from = match &self.published {
            Some(Published { index, .. })
                if index.indexed.bytes <= tail.end && index.indexed.bytes >= self.cleared =>
            {
                At { offset: index.indexed.bytes, line: index.indexed.lines + 1 }
            }
            Some(_) | None => {
                let offset = self.cleared.min(tail.end);
                At { offset, line: lines::count(log, 0, offset)? + 1 }
            }
        };
        let mut bad: BTreeMap<u64, BadLine> = BTreeMap::new();
        let known =
            self.published.as_ref().map(|published| published.index.bad_lines.clone()).unwrap_or_default();
        bad.extend(
            known.first.iter().filter(|bad| bad.offset >= self.cleared).map(|bad| (bad.offset, bad.clone())),
        );
        let read_to = tail.end.min(from.offset.saturating_add(LAG_BYTES_MAX));
        let mut next = from;
        lines::each(log, from, read_to, |placed| {
            next = At { offset: placed.at.offset + placed.length, line: placed.at.line + 1 };
            if let Line::Bad(why) = placed.line {
                let At { offset, line } = placed.at;
                bad.insert(offset, BadLine { line, offset, why });
            }
            Ok(())
        })?;
        let lines = next.line - 1 + lines::count(log, next.offset, tail.end)?;
        for (offset, why) in &tail.bad {
            if !bad.contains_key(offset) {
                let line = lines::count(log, 0, *offset)? + 1;
                bad.insert(*offset, BadLine { line, offset: *offset, why: why.clone() });
            }
        }
        let count = (bad.len() as u64).max(known.count);
        let bad = BadLines { count, first: bad.into_values().collect() };
        Ok(Seen { lines, pending_bytes: tail.end - from.offset, bad })
    }

    fn escalations(&self, seen: &Seen) -> Vec<Escalation> {
        let bad = seen.bad.first.iter().map(|BadLine { line, offset, why }| Escalation {
            reason: format!("validation_fail_line_{line}_byte_{offset}"),
            message: format!("line {line} of the conversation, at byte {offset}, is no turn: {why}"),
        });
        let reason = if self.published.is_some() { "snapshot_fallback" } else { "snapshot_lost" };
        let troubles =
            self.troubles.iter().map(|why| Escalation { reason: reason.to_owned(), message: why.clone() });
        bad.chain(troubles).collect()
    }
}

/// What was seen of the log.
#[derive(Debug, Default)]
struct Seen {
    lines: u64,
    pending_bytes: u64,
    bad: BadLines,
}
