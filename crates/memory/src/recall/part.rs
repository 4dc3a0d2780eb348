//! What one piece of a store gives.
//! Owns: a compact entry for each line. Must not: hold a text.

use super::lines::{Line, Range, Store};
use countersign_kernel::recall::package::Reason;
use countersign_kernel::recall::{self, Plan, Refusal, Scratch};
use countersign_record::canonical::Score;
use countersign_record::digest::Digest;
use countersign_record::time::Instant;

/// A stretch of a part's ids.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    start: usize,
    length: u32,
}

/// A record that may be selected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) score: Score,
    pub(super) at: Option<Instant>,
    pub(super) record_hash: Digest,
    pub(super) id: Span,
    pub(super) tokens: u64,
    /// Where its line is.
    pub(super) offset: u64,
    pub(super) length: u32,
    pub(super) store: u32,
    /// The part that it is of; set when the parts are put together.
    pub(super) part: u32,
}

/// A line that can't be selected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refused {
    pub(super) record_hash: Digest,
    pub(super) id: Span,
    pub(super) reason: Reason,
}

/// What one piece of a store gives.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) store: u32,
    ids: String,
    /// In the contract's order.
    pub(super) candidates: Vec<Candidate>,
    /// In reading order.
    pub(super) refused: Vec<Refused>,
}

impl Part {
    /// Reads the lines of a piece.
    pub(super) fn read(plan: &Plan, stores: &[Store], range: &Range) -> Result<Self, Refusal> {
        let mut part = Part { store: u32::try_from(range.store).unwrap_or(u32::MAX), ..Part::default() };
        let Some(store) = stores.get(range.store) else { return Ok(part) };
        let mut scratch = Scratch::default();
        let lines = store.lines(range, |offset, line| part.take(plan, &mut scratch, offset, &line));
        lines.map_err(|error| Refusal::StoreUnreadable {
            path: store.path.clone(),
            why: error.kind().to_string(),
        })?;
        part.sort(stores);
        Ok(part)
    }

    fn take(&mut self, plan: &Plan, scratch: &mut Scratch, offset: u64, line: &Line<'_>) {
        let bytes = match line {
            Line::Whole(bytes) => bytes,
            Line::TooLong(record_hash) => {
                return self.refuse("", *record_hash, Reason::InvalidRecordSchema);
            }
        };
        match plan.see(bytes, scratch) {
            recall::Line::Blank => {}
            recall::Line::Invalid { memory_id, record_hash } => {
                self.refuse(memory_id, record_hash, Reason::InvalidRecordSchema);
            }
            recall::Line::Denied { memory_id, record_hash } => {
                self.refuse(memory_id, record_hash, Reason::TrustDenied);
            }
            recall::Line::Candidate { memory_id, record_hash, score, at, tokens } => {
                let id = self.note(memory_id);
                let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                let store = self.store;
                let candidate =
                    Candidate { score, at, record_hash, id, tokens, offset, length, store, part: 0 };
                self.candidates.push(candidate);
            }
        }
    }

    fn refuse(&mut self, memory_id: &str, record_hash: Digest, reason: Reason) {
        let id = self.note(memory_id);
        self.refused.push(Refused { record_hash, id, reason });
    }

    fn note(&mut self, id: &str) -> Span {
        let start = self.ids.len();
        self.ids.push_str(id);
        Span { start, length: u32::try_from(id.len()).unwrap_or(u32::MAX) }
    }

    /// The id that a span stands for.
    pub(super) fn text(&self, span: Span) -> &str {
        self.ids.get(span.start..span.start + span.length as usize).unwrap_or_default()
    }

    fn sort(&mut self, stores: &[Store]) {
        let mut candidates = std::mem::take(&mut self.candidates);
        let key = |one: &Candidate| super::key(one, self.text(one.id), stores);
        candidates.sort_by(|a, b| key(a).order(&key(b)));
        self.candidates = candidates;
    }
}
