//! What a prompt gets from the conversation: the last turns, and pointers to earlier ones.
//! Owns: reading both, checking the snapshot behind the reader's back, telling what is wrong while going on with the
//! rest. Must not: embed anything but the query, or give out a text of an earlier turn.

use super::clear::opened;
use super::lines::{self, Line};
use super::published::{self, Published};
use super::tail::{self, Located, Tail};
use super::{Conversation, Error};
use crate::embed::Embedder;
use crate::search;
use crate::snapshot::{self, Snapshot};
use countersign_kernel::history::{At, BadLine, BadLines, Candidate, Decision, Item, Lexicon, Scope, select};
use countersign_kernel::recall::path;
use countersign_record::canonical::Score;
use countersign_record::digest::Digest;
use countersign_record::json::Json;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::thread::JoinHandle;

/// Other ways to say a query that are tried: each costs a search.
const VARIANTS_MAX: usize = 16;
/// How much of the log that is not indexed yet is read whole; of the rest only the lines are counted.
const LAG_BYTES_MAX: u64 = 4 * 1024 * 1024;

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
    published: Option<Published>,
    troubles: Vec<String>,
    /// Generations whose bytes were found to be others.
    distrusted: BTreeSet<Digest>,
    check: Option<JoinHandle<Result<(), snapshot::Refusal>>>,
    /// The pieces of a generation by its SHA-256: read once, and not for every prompt.
    known: Option<(Digest, Vec<Item>)>,
}

impl History {
    /// Opens the newest whole generation. Its head is checked now; all of its bytes are checked in the background.
    ///
    /// # Errors
    /// It is not known what was cleared.
    pub fn open(conversation: Conversation) -> Result<Self, Error> {
        opened(&conversation)?;
        let (published, troubles, distrusted) = (None, Vec::new(), BTreeSet::new());
        let mut history = History { conversation, published, troubles, distrusted, check: None, known: None };
        history.look_up();
        Ok(history)
    }

    /// Takes the newest generation that is not distrusted, and begins to check it if it is another one.
    fn look_up(&mut self) {
        let found = published::open(&self.conversation, &self.distrusted);
        let hash = |published: &Option<Published>| published.as_ref().map(|published| published.index.sha256);
        let is_same = hash(&self.published) == hash(&found.published);
        self.troubles = found.troubles;
        if is_same {
            return;
        }
        self.published = found.published;
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
        self.look_up();
        let (opened, cleared) = opened(&self.conversation)?;
        let unreadable = |error: io::Error| Error::unreadable(&self.conversation.log(), &error);
        let (tail, seen) = match &opened {
            Some((log, length)) => {
                let tail = tail::read(log, *length, ask.turns, cleared).map_err(unreadable)?;
                let seen = self.look(log, *length, cleared, &tail).map_err(unreadable)?;
                (tail, seen)
            }
            None => (Tail::default(), Seen::default()),
        };
        let mut escalations = self.escalations(&seen);
        let learnt = self.learn(embedder, seen.is_same_log);
        let is_usable = learnt.is_ok();
        if let Err(why) = learnt {
            escalations.push(Escalation { reason: "snapshot_unusable".to_owned(), message: why });
        }
        let items = self.items(cleared);
        let recent_from = tail.turns.first().map_or(u64::MAX, |located| located.offset);
        let scope = Scope {
            lines: seen.lines,
            recent_from,
            tokens_max: ask.tokens_max,
            items_max: ask.items_max,
            off: ask.off.iter().map(|file| path::cleaned(file)).collect(),
            injected: ask.injected.iter().map(|file| path::cleaned(file)).collect(),
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

    /// Reads the pieces of the generation that is used, if they are not known already.
    ///
    /// # Errors
    /// Why there are none that could be compared with the query.
    fn learn(&mut self, embedder: &dyn Embedder, is_same_log: bool) -> Result<(), String> {
        let known = self.known.take();
        let Some(Published { index, snapshot, .. }) = &self.published else { return Ok(()) };
        if index.count == 0 {
            return Ok(());
        }
        if !is_same_log {
            return Err(
                "the log is not the one that the index was made from; it is made anew with the next update"
                    .to_owned(),
            );
        }
        if index.embedder != embedder.name() {
            return Err(format!(
                "the index was made by {}: name that model, or make the index anew",
                index.embedder
            ));
        }
        if snapshot.dimension() != embedder.dimension() {
            return Err("the vectors have another dimension than the query's".to_owned());
        }
        let items = match known {
            Some((hash, items)) if hash == index.sha256 => items,
            Some(_) | None => read_items(snapshot)?,
        };
        self.known = Some((index.sha256, items));
        Ok(())
    }

    /// The pieces that were not cleared, with their rows.
    fn items(&self, cleared: u64) -> Vec<(usize, &Item)> {
        let all = self.known.iter().flat_map(|(_, items)| items.iter().enumerate());
        all.filter(|(_, item)| item.offset >= cleared).collect()
    }

    fn choose(
        &self,
        ask: &Ask,
        scope: &Scope,
        items: &[(usize, &Item)],
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
        let variants = ask.lexicon.variants(&ask.query, VARIANTS_MAX);
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
    fn look(&self, log: &File, length: u64, cleared: u64, tail: &Tail) -> io::Result<Seen> {
        let index = self.published.as_ref().map(|published| &published.index);
        let is_same_log = match index {
            Some(index) => lines::has_landmark(log, length, index.indexed.bytes, index.indexed.landmark)?,
            None => true,
        };
        let known = index.filter(|index| is_same_log && index.indexed.bytes >= cleared);
        let from = match known {
            Some(index) => At { offset: index.indexed.bytes, line: index.indexed.lines + 1 },
            None => At { offset: cleared, line: lines::count(log, 0, cleared)? + 1 },
        };
        let mut bad = known.map(|index| index.bad_lines.clone()).unwrap_or_default();
        let read_to = tail.end.min(from.offset.saturating_add(LAG_BYTES_MAX));
        let mut next = from;
        lines::each(log, from, read_to, |placed| {
            next = At { offset: placed.at.offset + placed.length, line: placed.at.line + 1 };
            if let Line::Bad(why) = placed.line {
                let At { offset, line } = placed.at;
                bad.note(BadLine { line, offset, why });
            }
            Ok(())
        })?;
        // Those of a lag that is too long are numbered on the way.
        let seen_to = next.offset;
        for (offset, why) in tail.bad.iter().filter(|(offset, _)| *offset >= seen_to) {
            next = At { offset: *offset, line: next.line + lines::count(log, next.offset, *offset)? };
            bad.note(BadLine { line: next.line, offset: *offset, why: why.clone() });
        }
        // A line that was a turn when the index saw it was changed since. Where there are more than are listed, it may
        // be one of those, which are escalated anyway.
        let is_all = bad.count == bad.first.len() as u64;
        for (offset, why) in tail.bad.iter().filter(|(offset, _)| *offset < seen_to && is_all) {
            if bad.first.iter().all(|known| known.offset != *offset) {
                let line = lines::count(log, 0, *offset)? + 1;
                bad.note(BadLine { line, offset: *offset, why: why.clone() });
            }
        }
        let lines = next.line - 1 + lines::count(log, next.offset, tail.end)?;
        Ok(Seen { lines, pending_bytes: tail.end.saturating_sub(from.offset), bad, is_same_log })
    }

    fn escalations(&self, seen: &Seen) -> Vec<Escalation> {
        let bad = seen.bad.first.iter().map(|BadLine { line, offset, why }| Escalation {
            reason: format!("validation_fail_line_{line}_byte_{offset}"),
            message: format!("line {line} of the conversation, at byte {offset}, is no turn: {why}"),
        });
        let more = seen.bad.count.saturating_sub(seen.bad.first.len() as u64);
        let more = (more > 0).then(|| Escalation {
            reason: format!("validation_fail_{}_lines", seen.bad.count),
            message: format!("{more} more lines are no turns"),
        });
        let reason = if self.published.is_some() { "snapshot_fallback" } else { "snapshot_lost" };
        let troubles =
            self.troubles.iter().map(|why| Escalation { reason: reason.to_owned(), message: why.clone() });
        bad.chain(more).chain(troubles).collect()
    }
}

/// The pieces of a snapshot, in the order of its rows.
fn read_items(snapshot: &Snapshot) -> Result<Vec<Item>, String> {
    let labels = snapshot.labels().map_err(|refusal| refusal.to_string())?;
    let named = labels.ids.iter().zip(labels.meta).enumerate();
    let read = |(row, (id, meta)): (usize, (&String, Json))| {
        let item = Item::read(id, meta);
        item.map_err(|_| format!("row {row} of the snapshot is no piece of a turn"))
    };
    named.map(read).collect()
}

/// What was seen of the log.
#[derive(Debug, Default)]
struct Seen {
    lines: u64,
    pending_bytes: u64,
    bad: BadLines,
    is_same_log: bool,
}
