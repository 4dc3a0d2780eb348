//! Which pieces of earlier turns a prompt may point to (SR2-CM-03).
//! Owns: the score, the guardrails, their order, and a reason for every piece. Must not: give out a text.
//!
//! The guardrails, in the order in which they are asked: the file lock, files that are OFF, the turns that stand in the
//! prompt anyway, content that stands twice, then by score the number of items and the token budget. Where two say the
//! same, or weigh the same, the injected files win over the newer turn, and the newer over the older.

use super::item::Item;
use crate::recall::path;
use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;
use countersign_record::canonical::Score;
use countersign_record::digest::Digest;
use serde::{Serialize, Serializer};

/// How a score is made up: what a piece says counts three times as much as how long ago it was said. The second part
/// halves every ten turns and never reaches zero, so an old piece that fits well still comes through.
const SEMANTIC_WEIGHT: f64 = 0.75;
const RECENCY_WEIGHT: f64 = 0.25;
const HALF_LIFE_TURNS: f64 = 10.0;

/// What a prompt's situation allows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Lines in the log.
    pub lines: u64,
    /// Where the turns begin that stand in the prompt word for word: a byte of the log, past its end if there are none.
    pub recent_from: u64,
    /// Tokens that all selected pieces may take together.
    pub tokens_max: u64,
    /// Pieces that may be selected.
    pub items_max: u64,
    /// Files that are OFF, their paths cleaned.
    pub off: BTreeSet<String>,
    /// Files that stand in the prompt as ❖FILES, their paths cleaned.
    pub injected: BTreeSet<String>,
    /// Whether the prompt is locked to its files: then no history is selected.
    pub is_locked: bool,
}

/// A piece, and how well it fits.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The piece.
    pub item: &'a Item,
    /// The cosine with the query, or with the best of its variants.
    pub similarity: f32,
    /// The alias of that variant: what stood in the query, and what it was replaced by.
    pub alias: Option<&'a (String, String)>,
}

/// What becomes of a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The prompt may point to it.
    Kept {
        /// What brought it in.
        by: By,
        /// The numbers behind it.
        detail: String,
    },
    /// It may not.
    Dropped(Reason),
}

/// What brought a piece in: the larger part of its score, or an alias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// What it says.
    Semantic,
    /// What it says, in other words.
    Alias,
    /// How new it is.
    Recency,
}

/// Why a piece is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The prompt is locked to its files.
    Lock,
    /// It speaks of a file that is OFF.
    Off {
        /// Which.
        file: String,
    },
    /// Its turn stands in the prompt anyway.
    Recent,
    /// Another piece says the same and comes first.
    Duplicate {
        /// Which.
        of: String,
    },
    /// There are as many as there may be.
    MaxItems,
    /// It, or one before it, does not fit.
    TokenBudget,
}

/// A piece with its score and what becomes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice<'a> {
    /// The piece.
    pub item: &'a Item,
    /// Its score.
    pub score: Score,
    /// How well it fits.
    pub similarity: Score,
    /// How new it is.
    pub recency: Score,
    /// What becomes of it.
    pub decision: Decision,
}

/// Decides on every piece. Those that are kept come first, the best first; then the rest, in the same order.
#[must_use]
pub fn select<'a>(scope: &Scope, candidates: &[Candidate<'a>]) -> Vec<Choice<'a>> {
    let mut ranked: Vec<Ranked<'a>> =
        candidates.iter().map(|candidate| Ranked::new(scope, *candidate)).collect();
    // The name ends the order, so no two pieces are equal.
    ranked.sort_by_key(|one| {
        (Reverse(one.score), !one.is_injected, Reverse(one.item.line), one.item.chunk, one.item.offset)
    });
    let winners = winners(scope, &ranked);
    let (mut used, mut count, mut is_full) = (0_u64, 0_u64, false);
    let mut choices: Vec<Choice<'a>> = ranked
        .into_iter()
        .map(|one| {
            let barred = barred(scope, &one).or_else(|| duplicate(&winners, &one));
            let decision = match barred {
                Some(reason) => Decision::Dropped(reason),
                None if count >= scope.items_max => Decision::Dropped(Reason::MaxItems),
                None if is_full || used.saturating_add(one.item.tokens) > scope.tokens_max => {
                    // The weakest go first: nothing smaller takes the place of what did not fit.
                    is_full = true;
                    Decision::Dropped(Reason::TokenBudget)
                }
                None => {
                    (used, count) = (used + one.item.tokens, count + 1);
                    one.kept()
                }
            };
            let Ranked { item, score, similarity, recency, .. } = one;
            Choice { item, score, similarity, recency, decision }
        })
        .collect();
    choices.sort_by_key(|choice| matches!(choice.decision, Decision::Dropped(_)));
    choices
}

struct Ranked<'a> {
    item: &'a Item,
    score: Score,
    similarity: Score,
    recency: Score,
    alias: Option<&'a (String, String)>,
    distance: u64,
    is_injected: bool,
}

impl<'a> Ranked<'a> {
    fn new(scope: &Scope, candidate: Candidate<'a>) -> Self {
        let Candidate { item, similarity, alias } = candidate;
        let distance = scope.lines.saturating_sub(item.line);
        // What points away from the query fits it as little as what has nothing to do with it.
        let similarity = f64::from(similarity).clamp(0.0, 1.0);
        // A distance beyond 2^53 turns is rounded, and is worth nothing either way.
        let recency = libm::exp2(-(distance as f64) / HALF_LIFE_TURNS);
        let score = SEMANTIC_WEIGHT * similarity + RECENCY_WEIGHT * recency;
        let rounded = |value| Score::try_from(value).unwrap_or(Score::of_halves(0));
        Ranked {
            item,
            score: rounded(score),
            similarity: rounded(similarity),
            recency: rounded(recency),
            alias,
            distance,
            is_injected: !scope.injected.is_empty()
                && item.file_refs.iter().any(|file| scope.injected.contains(&path::cleaned(file))),
        }
    }

    fn kept(&self) -> Decision {
        let is_recent = RECENCY_WEIGHT * self.recency.value() > SEMANTIC_WEIGHT * self.similarity.value();
        let turns = if self.distance == 1 { "turn" } else { "turns" };
        let numbers = format!("similarity {}, {} {turns} ago", self.similarity.value(), self.distance);
        match self.alias {
            Some((term, other)) if !is_recent => {
                Decision::Kept { by: By::Alias, detail: format!("{term} = {other}, {numbers}") }
            }
            Some(_) | None => {
                Decision::Kept { by: if is_recent { By::Recency } else { By::Semantic }, detail: numbers }
            }
        }
    }
}

fn barred(scope: &Scope, one: &Ranked<'_>) -> Option<Reason> {
    if scope.is_locked {
        return Some(Reason::Lock);
    }
    let is_off = |file: &&String| {
        let file = path::cleaned(file);
        scope.off.contains(&file) && !scope.injected.contains(&file)
    };
    if !scope.off.is_empty()
        && let Some(file) = one.item.file_refs.iter().find(is_off)
    {
        return Some(Reason::Off { file: file.clone() });
    }
    (one.item.offset >= scope.recent_from).then_some(Reason::Recent)
}

/// Who speaks for a content that several pieces hold: of those that nothing bars, one of an injected file, else the
/// newest. A piece whose turn stands in the prompt anyway speaks for it too.
fn winners<'a>(scope: &Scope, ranked: &[Ranked<'a>]) -> BTreeMap<Digest, &'a Item> {
    let mut winners: BTreeMap<Digest, (bool, &'a Item)> = BTreeMap::new();
    for one in ranked {
        if !matches!(barred(scope, one), None | Some(Reason::Recent)) {
            continue;
        }
        let rank = |is_injected: bool, item: &Item| (is_injected, item.line, Reverse(item.chunk));
        let best = winners.entry(one.item.chunk_hash).or_insert((one.is_injected, one.item));
        if rank(one.is_injected, one.item) > rank(best.0, best.1) {
            *best = (one.is_injected, one.item);
        }
    }
    winners.into_iter().map(|(hash, (_, item))| (hash, item)).collect()
}

fn duplicate(winners: &BTreeMap<Digest, &Item>, one: &Ranked<'_>) -> Option<Reason> {
    let winner = winners.get(&one.item.chunk_hash)?;
    let is_same = (winner.offset, winner.chunk) == (one.item.offset, one.item.chunk);
    (!is_same).then(|| Reason::Duplicate { of: winner.id() })
}

impl Decision {
    /// The contract's words, and a second element that says the detail.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let words = |word: &str, detail: String| Vec::from([word.to_owned(), detail]);
        match self {
            Decision::Kept { by: By::Semantic, detail } => words("KEPT:semantic", detail.clone()),
            Decision::Kept { by: By::Alias, detail } => words("KEPT:alias", detail.clone()),
            Decision::Kept { by: By::Recency, detail } => words("KEPT:recency", detail.clone()),
            Decision::Dropped(Reason::Lock) => {
                words("DROPPED:LOCK", "the prompt is locked to its files".to_string())
            }
            Decision::Dropped(Reason::Off { file }) => words("DROPPED:OFF", file.clone()),
            Decision::Dropped(Reason::Recent) => {
                words("DROPPED:recent", "its turn stands in the prompt".to_string())
            }
            Decision::Dropped(Reason::Duplicate { of }) => words("DROPPED:duplicate", of.clone()),
            Decision::Dropped(Reason::MaxItems) => {
                words("DROPPED:max-items", "as many as there may be are better".to_string())
            }
            Decision::Dropped(Reason::TokenBudget) => {
                words("DROPPED:token-budget", "it, or a better one, does not fit".to_string())
            }
        }
    }
}

impl Serialize for Decision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.words().serialize(serializer)
    }
}

#[cfg(test)]
#[path = "select_tests.rs"]
mod tests;
