//! Which candidates are taken.
//! Owns: their order, and the budget. Must not: look at a text.

use super::input::Budget;
use core::cmp::Ordering;
use countersign_record::canonical::Score;
use countersign_record::digest::Digest;
use countersign_record::time::Instant;

/// What a candidate is ordered by. Those that are equal in all of it keep the order of their lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key<'a> {
    /// Higher first.
    pub score: Score,
    /// Later first, none last.
    pub at: Option<Instant>,
    /// Ascending by bytes.
    pub store_path: &'a str,
    /// Ascending by bytes.
    pub memory_id: &'a str,
    /// Ascending.
    pub record_hash: Digest,
}

impl Key<'_> {
    /// The seed's order.
    #[must_use]
    pub fn order(&self, other: &Self) -> Ordering {
        let score = other.score.value().total_cmp(&self.score.value());
        // `None` is less than any instant, so the same reversal puts it last.
        score
            .then_with(|| other.at.cmp(&self.at))
            .then_with(|| self.store_path.cmp(other.store_path))
            .then_with(|| self.memory_id.cmp(other.memory_id))
            .then_with(|| self.record_hash.cmp(&other.record_hash))
    }
}

/// What becomes of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is part of the package.
    Selected,
    /// It does not fit, or one before it did not.
    BudgetExhausted,
    /// There are as many as there may be.
    MaxItemsReached,
}

/// Goes through the candidates in order.
#[derive(Clone, Debug)]
pub struct Selection {
    budget: Budget,
    used: u64,
    count: u64,
    is_exhausted: bool,
}

impl Selection {
    /// Before the first.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        Selection { budget, used: 0, count: 0, is_exhausted: false }
    }

    /// The next candidate. Selection *stops* at the first that does not fit, as the contract's MUST has it: a smaller
    /// one after it is not taken in its place.
    pub fn next(&mut self, tokens: u64) -> Verdict {
        if self.is_exhausted {
            return Verdict::BudgetExhausted;
        }
        if self.count >= self.budget.max_items {
            return Verdict::MaxItemsReached;
        }
        match self.used.checked_add(tokens) {
            Some(used) if used <= self.budget.max_excerpt_tokens => {
                (self.used, self.count) = (used, self.count + 1);
                Verdict::Selected
            }
            Some(_) | None => {
                self.is_exhausted = true;
                Verdict::BudgetExhausted
            }
        }
    }

    /// The tokens of those selected.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.used
    }
}
