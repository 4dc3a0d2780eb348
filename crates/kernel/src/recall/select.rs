//! Which candidates are taken.
//! Owns: their order, and the budget. Must not: look at a text.

use super::input::Budget;
use core::cmp::Ordering;
use countersign_record::canonical::Score;
use countersign_record::digest::Digest;
use countersign_record::time::Instant;

/// What a candidate is ordered by, as numbers: a lesser one comes first. It holds the score (higher first), the time
/// (later first, none last), the store and the beginning of the id, and so decides nearly every comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key([u64; 4]);

/// Bytes of an id that are part of the key.
const ID_BYTES: usize = 8;

impl Key {
    /// The key of a candidate. Stores are numbered in the order of their paths.
    #[must_use]
    pub fn new(score: Score, at: Option<Instant>, store: u32, memory_id: &str) -> Self {
        // A score is not negative, so its bits are in its order.
        let score = !score.value().to_bits();
        let (second, nano) = match at {
            Some(at) => (!(at.seconds.cast_unsigned() ^ (1 << 63)), !at.nanos),
            // After every time there is.
            None => (u64::MAX, u32::MAX),
        };
        let mut id = [0; ID_BYTES];
        for (room, byte) in id.iter_mut().zip(memory_id.bytes()) {
            *room = byte;
        }
        Key([score, second, u64::from(nano) << 32 | u64::from(store), u64::from_be_bytes(id)])
    }

    /// What decides first: the higher the score, the lower this is.
    #[must_use]
    pub fn score(self) -> u64 {
        self.0[0]
    }

    /// The seed's order. Those that are equal in all of it keep the order of their lines.
    #[must_use]
    pub fn order(self, named: (&str, Digest), other: Self, other_named: (&str, Digest)) -> Ordering {
        self.cmp(&other).then_with(|| named.cmp(&other_named))
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::String;

    type Candidate = (u8, Option<(i64, u32)>, u32, String, u8);

    fn candidate() -> impl Strategy<Value = Candidate> {
        let at = prop::option::of((-2_i64..2, 0_u32..3));
        (0_u8..3, at, 0_u32..3, "[ab\u{e9}\u{0}]{0,10}", 0_u8..2)
    }

    /// The contract's words, one after the other.
    fn slowly(a: &Candidate, b: &Candidate) -> Ordering {
        (b.0.cmp(&a.0)) // score descending
            .then(b.1.cmp(&a.1)) // time descending, none last
            .then(a.2.cmp(&b.2)) // store path ascending
            .then(a.3.as_bytes().cmp(b.3.as_bytes())) // id ascending
            .then(a.4.cmp(&b.4)) // hash ascending
    }

    fn key((score, at, store, id, hash): &Candidate) -> (Key, &str, Digest) {
        let at = at.map(|(seconds, nanos)| Instant { seconds, nanos });
        (Key::new(Score::of_halves(u32::from(*score)), at, *store, id), id, Digest::from_bytes([*hash; 32]))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5_000))]
        #[test]
        fn keys_are_in_the_order_of_the_contract(a in candidate(), b in candidate()) {
            let ((a_key, a_id, a_hash), (b_key, b_id, b_hash)) = (key(&a), key(&b));
            prop_assert_eq!(a_key.order((a_id, a_hash), b_key, (b_id, b_hash)), slowly(&a, &b));
        }
    }
}
