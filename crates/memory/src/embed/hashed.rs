//! Vectors without a model: words and pieces of words, hashed.
//! Owns: what counts as a feature of a text and how much it weighs. Must not: keep anything between two texts, or use a
//! hash, a logarithm or an order of additions that differs between machines.
//!
//! Features are words, pairs of neighbouring words, and pieces of three to five characters of each word; in writing
//! without spaces one to three neighbouring characters. So a text with a few changed characters or words keeps most of
//! its features, in any language.
//!
//! A search engine weighs a feature by how few documents hold it. There are no documents here, and a weight that
//! changed with what was embedded before would make vectors that can't be compared. Two things are known without
//! documents. The few hundred most frequent words of a language make up half of its texts and say nothing about a
//! text's subject: they are in a table (`frequent`), weigh little and have no pieces. Of the others, short ones are more
//! frequent than long ones (Zipf). A feature that is repeated counts with the logarithm of how often.
//!
//! Every feature falls into one of 65,536 slots. Slots are counted in integers, so the order of the features is
//! irrelevant, and memory does not grow with the text. A slot then adds to four of the 384 numbers, each with a sign, so
//! that unrelated texts meet as often with equal signs as with opposite ones and stay near zero.

use super::words::{self, Writing};
use super::{Embedder, frequent, unit};

const DIMENSION: usize = 384;
const SLOTS: usize = 1 << 16;
/// Numbers of the vector that a slot adds to.
const SPREAD: u32 = 4;
/// Lengths of the pieces of a word.
const PIECES: std::ops::RangeInclusive<usize> = 3..=5;
/// Stand around a word, so that its beginning and end are pieces of their own. No run holds a control character.
const BEGIN: char = '\u{2}';
const END: char = '\u{3}';

/// The weight of a rare word; others are parts of it.
const FULL: u32 = 1_024;
/// A word that says nothing about the subject.
const FREQUENT: u32 = FULL / 10;
/// Two neighbouring words, against one: enough to tell orders apart.
const PAIR_PERCENT: u32 = 25;
/// One, two and three neighbouring characters in dense writing. One is a syllable or half a word, two are most often a
/// word.
const DENSE: [u32; 3] = [FULL / 2, FULL, FULL * 6 / 10];
const SYMBOL: u32 = FULL / 2;

/// The offline embedder: hashed words and pieces of words.
#[derive(Clone, Debug, Default)]
pub struct Hashed(());

impl Embedder for Hashed {
    fn name(&self) -> &str {
        "hashed:1"
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn embed(&self, text: &str) -> Vec<f32> {
        let mut features = Features::default();
        words::each(text, |run, writing| match writing {
            Writing::Spaced => features.word(run),
            Writing::Dense => features.dense(run),
            Writing::Symbol => run.iter().for_each(|sign| features.add(hash(Kind::Symbol, [*sign]), SYMBOL)),
        });
        features.vector()
    }
}

/// Features of different kinds are different, even of the same characters.
#[derive(Clone, Copy)]
enum Kind {
    Word = 1,
    Pair = 2,
    Piece = 3,
    Dense = 4,
    Symbol = 5,
}

/// What was seen of a text.
struct Features {
    /// How often each slot was met.
    counts: Vec<u32>,
    /// The sum of the weights it was met with.
    weights: Vec<u64>,
    /// The word before; punctuation between two words does not part them.
    before: Option<(u64, u32)>,
    /// Room for a word with its ends, and as a text.
    padded: Vec<char>,
    text: String,
}

impl Default for Features {
    fn default() -> Self {
        let (counts, weights) = (vec![0; SLOTS], vec![0; SLOTS]);
        Features { counts, weights, before: None, padded: Vec::new(), text: String::new() }
    }
}

impl Features {
    fn word(&mut self, word: &[char]) {
        let is_frequent = self.is_frequent(word);
        let weight = if is_frequent { FREQUENT } else { by_length(word.len()) };
        let hashed = hash(Kind::Word, word.iter().copied());
        self.add(hashed, weight);
        if let Some((before, weight_before)) = self.before {
            let pair = mix(mix(Kind::Pair as u64, before), hashed);
            self.add(pair, (weight * weight_before).isqrt() * PAIR_PERCENT / 100);
        }
        self.before = Some((hashed, weight));
        if !is_frequent {
            self.pieces(word, weight);
        }
    }

    /// All pieces of a word together are worth twice the word, however long it is (a vector's length goes by
    /// squares): another ending or a wrong letter changes the word as a whole, but few of its pieces.
    fn pieces(&mut self, word: &[char], weight: u32) {
        let mut padded = std::mem::take(&mut self.padded);
        padded.clear();
        padded.push(BEGIN);
        padded.extend(word);
        padded.push(END);
        let count: usize = PIECES.map(|length| (padded.len() + 1).saturating_sub(length)).sum();
        let count = u32::try_from(count).unwrap_or(u32::MAX).max(1);
        let each = (weight * weight * 2 / count).isqrt();
        for length in PIECES {
            for piece in padded.windows(length) {
                self.add(hash(Kind::Piece, piece.iter().copied()), each);
            }
        }
        self.padded = padded;
    }

    fn dense(&mut self, run: &[char]) {
        self.before = None;
        let frequent: Vec<bool> = run.iter().map(|char| self.is_frequent(&[*char])).collect();
        for (length, full) in (1..).zip(DENSE) {
            for (piece, frequent) in run.windows(length as usize).zip(frequent.windows(length as usize)) {
                let said = frequent.iter().filter(|is_frequent| !**is_frequent).count();
                let said = u32::try_from(said).unwrap_or(0);
                // From a tenth, where every character is a frequent one, to the whole.
                let weight = full / 10 + full * 9 / 10 * said / length;
                self.add(hash(Kind::Dense, piece.iter().copied()), weight);
            }
        }
    }

    fn is_frequent(&mut self, word: &[char]) -> bool {
        self.text.clear();
        self.text.extend(word);
        frequent::is(&self.text)
    }

    fn add(&mut self, feature: u64, weight: u32) {
        let slot = (feature >> 48) as usize;
        if let (Some(count), Some(sum)) = (self.counts.get_mut(slot), self.weights.get_mut(slot)) {
            *count = count.saturating_add(1);
            *sum = sum.saturating_add(u64::from(weight));
        }
    }

    fn vector(&self) -> Vec<f32> {
        let mut numbers = [0.0_f64; DIMENSION];
        for (slot, (count, sum)) in (0_u64..).zip(self.counts.iter().zip(&self.weights)) {
            if *count == 0 {
                continue;
            }
            let count = f64::from(*count);
            let value = *sum as f64 / count * (1.0 + libm::log(count));
            let (mut places, signs) = (mix(0x51_07, slot), mix(0x5_16_25, slot));
            for at in 0..SPREAD {
                let place = ((places & 0xffff) as usize * DIMENSION) >> 16;
                places >>= 16;
                if let Some(number) = numbers.get_mut(place) {
                    *number += if signs >> (40 + at) & 1 == 1 { value } else { -value };
                }
            }
        }
        unit(&numbers)
    }
}

/// Long words are rare words.
fn by_length(chars: usize) -> u32 {
    match chars {
        0 | 1 => FULL * 4 / 10,
        2 => FULL * 6 / 10,
        3 => FULL * 8 / 10,
        _ => FULL,
    }
}

fn hash(kind: Kind, chars: impl IntoIterator<Item = char>) -> u64 {
    chars.into_iter().fold(mix(0, kind as u64), |hash, char| mix(hash, u64::from(u32::from(char))))
}

/// One step of a hash that is the same everywhere (the finish of SplitMix64).
fn mix(hash: u64, next: u64) -> u64 {
    let mixed = (hash ^ next).wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
#[path = "hashed_tests.rs"]
mod tests;
