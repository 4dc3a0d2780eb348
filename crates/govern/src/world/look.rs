//! What of a world was looked at: which types, which marks, the time.
//! Owns: remembering it. Must not: know who looked, or why.
//!
//! What a rule finds follows from what it looked at. So if nothing of that changed, it finds the same again.

use super::{Mark, Marks};
use crate::kind::Number;
use alloc::vec;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};

/// Something to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Which rows there are at all.
    Rows,
    /// The time up to which is looked.
    Now,
    /// Which rows ask to be let in.
    Asking,
    /// The rows of all types that nobody knows.
    Unknown,
    /// Where the log begins and ends.
    Ends,
    /// The rows that have a mark.
    Mark(Mark),
    /// The rows of a known type.
    Kind(Number),
}

/// The places before those of marks.
const FIRST_MARK: usize = 5;
const FIRST_KIND: usize = FIRST_MARK + Mark::ALL.len();

impl Look {
    /// The rows of a type, or of one that nobody knows.
    pub(super) fn kind(number: Option<Number>) -> Self {
        number.map_or(Look::Unknown, Look::Kind)
    }

    fn place(self) -> usize {
        match self {
            Look::Rows => 0,
            Look::Now => 1,
            Look::Asking => 2,
            Look::Unknown => 3,
            Look::Ends => 4,
            Look::Mark(mark) => FIRST_MARK + mark as usize,
            Look::Kind(known) => FIRST_KIND + known.index,
        }
    }

    fn word_and_bit(self) -> (usize, u64) {
        (self.place() / 64, 1 << (self.place() % 64))
    }
}

/// Words that have a bit for everything.
fn words() -> usize {
    (FIRST_KIND + Number::count()).div_ceil(64)
}

/// What is being looked at.
#[derive(Debug)]
pub(super) struct Looking(Vec<AtomicU64>);

impl Default for Looking {
    fn default() -> Self {
        Looking((0..words()).map(|_| AtomicU64::new(0)).collect())
    }
}

impl Looking {
    /// Something is looked at.
    pub(super) fn at(&self, look: Look) {
        let (word, bit) = look.word_and_bit();
        if let Some(word) = self.0.get(word).filter(|word| word.load(Ordering::Relaxed) & bit == 0) {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// What was looked at, which is forgotten here.
    pub(super) fn take(&self) -> Looked {
        Looked(self.0.iter().map(|word| word.swap(0, Ordering::Relaxed)).collect())
    }
}

/// What was looked at, or what changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looked(Vec<u64>);

impl Default for Looked {
    fn default() -> Self {
        Looked(vec![0; words()])
    }
}

impl Looked {
    pub(super) fn add(&mut self, look: Look) {
        let (word, bit) = look.word_and_bit();
        if let Some(word) = self.0.get_mut(word) {
            *word |= bit;
        }
    }

    fn has(&self, look: Look) -> bool {
        let (word, bit) = look.word_and_bit();
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Whether something of it is also in the other.
    #[must_use]
    pub fn meets(&self, other: &Looked) -> bool {
        self.0.iter().zip(&other.0).any(|(own, other)| own & other != 0)
    }

    /// Adds what another one has.
    pub(crate) fn join(&mut self, other: &Looked) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, more)| *own |= more);
    }

    /// Adds a type.
    pub(crate) fn add_kind(&mut self, known: Number) {
        self.add(Look::Kind(known));
    }

    /// Whether a type is among it, by itself.
    pub(crate) fn has_kind(&self, known: Number) -> bool {
        self.has(Look::Kind(known))
    }

    /// Whether rows of a type are among it that may have these marks.
    pub(crate) fn wants(&self, known: Number, marks: Marks) -> bool {
        let is_marked = |mark: &Mark| marks.has(*mark) && self.has(Look::Mark(*mark));
        self.has(Look::Rows) || self.has_kind(known) || Mark::ALL.iter().any(is_marked)
    }

    /// Whether the time was looked at.
    #[must_use]
    pub fn has_time(&self) -> bool {
        self.has(Look::Now)
    }

    /// Whether it was asked which rows ask to be let in.
    #[must_use]
    pub fn has_asking(&self) -> bool {
        self.has(Look::Asking)
    }
}
