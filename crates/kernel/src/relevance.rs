//! How much a text says about a question.
//! Owns: the question's terms, what they weigh, and how much of them a text covers, in whole numbers. Must not: keep or
//! drop anything.
//!
//! The same question and the same texts give the same numbers everywhere: there is no float in it.

mod everyday;
mod kind;
pub mod stem;
mod thesaurus;

pub use kind::Kind;

use crate::history::Lexicon;
use crate::words::{folded, place, spaced};
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use stem::stem;

/// Terms of a question that are looked at.
const TERMS_MAX: usize = 100;
/// Questions in one that are looked at.
const PARTS_MAX: usize = 8;
/// Fractions of a weight are kept.
const FINE: u64 = 1_024;
/// What everything is of.
pub const WHOLE: u64 = 1_000;
/// What part of its weight a word of everyday has.
const LIGHT_PART: u64 = 3;
/// What a term is worth that is there in another word.
const ANOTHER_WORD: u64 = 800;
/// Other ways of saying a question that an alias file gives.
const VARIANTS_MAX: usize = 32;

/// Words that say nothing of what a question is about.
#[rustfmt::skip] // words in rows, not one to a line
const STOP_WORDS: &[&str] = &[
    "a", "aber", "able", "about", "above", "according", "actually", "again", "ahead", "all", "als", "also",
    "am", "an", "and", "any", "anyone", "anything", "are", "as", "at", "auf", "aus", "back", "be", "been",
    "bei", "being", "below", "between", "both", "but", "by", "can", "cannot", "could", "current",
    "currently", "das", "dem", "den", "der", "des", "describe", "did", "die", "do", "document", "documents",
    "does", "doing", "done", "during", "each", "ein", "eine", "einen", "einer", "either", "else", "enough",
    "es", "ever", "everybody", "everyone", "exactly", "explain", "far", "find", "for", "from", "für", "get",
    "gets", "give", "given", "go", "got", "had", "happen", "happened", "happens", "has", "hat", "have",
    "having", "he", "her", "here", "hers", "him", "his", "how", "i", "ich", "if", "im", "in", "into", "is",
    "ist", "it", "its", "itself", "just", "kind", "list", "long", "many", "may", "me", "might", "mit",
    "more", "most", "much", "must", "my", "need", "needs", "nicht", "no", "not", "of", "off", "often", "on",
    "once", "one", "only", "or", "other", "our", "ours", "out", "over", "own", "per", "please", "point",
    "put", "really", "same", "say", "says", "shall", "she", "should", "sich", "sie", "sind", "so", "some",
    "someone", "something", "soon", "sort", "specific", "still", "such", "tell", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "thing", "things", "this", "those", "through", "to",
    "together", "too", "type", "und", "under", "uns", "until", "up", "us", "very", "von", "want", "wants",
    "was", "we", "wer", "were", "what", "when", "where", "whether", "which", "while", "who", "whom",
    "whose", "why", "wie", "will", "wir", "with", "wo", "would", "you", "your", "zu",
];

/// A question, ready to be held against texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// What is asked, one question each.
    pub parts: Vec<Part>,
}

/// One question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// As it was asked.
    pub text: String,
    /// What kind of answer it wants.
    pub kind: Kind,
    terms: Vec<Term>,
    /// What all terms weigh.
    total: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    /// As the question writes it.
    word: String,
    stem: String,
    /// Words that mean much the same, and their stems.
    also: BTreeSet<String>,
    others: BTreeSet<String>,
    /// Whether a text may do without it.
    is_light: bool,
    weight: u64,
}

/// The stems of a text.
pub type Stems = BTreeSet<String>;

/// The stems of a text, in order: words in one form, without endings; a sign that is a word is one.
#[must_use]
pub fn stems(text: &str) -> Vec<String> {
    words(text).iter().map(|word| stem(word)).collect()
}

/// Numbers as words, and as digits.
#[rustfmt::skip] // pairs in rows
const NUMBERS: [(&str, &str); 14] = [
    ("one", "1"), ("two", "2"), ("three", "3"), ("four", "4"), ("five", "5"), ("six", "6"), ("seven", "7"), ("eight", "8"),
    ("nine", "9"), ("ten", "10"), ("eleven", "11"), ("twelve", "12"), ("twenty", "20"), ("thirty", "30"),
];

/// The words of a text in small letters. A number is one word with what parts its digits, without commas.
fn words(text: &str) -> Vec<String> {
    let folded = folded(text);
    let mut found = Vec::new();
    let mut word = String::new();
    let mut letters = folded.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_between = matches!(letter, ',' | '.')
            && word.chars().next_back().is_some_and(|last| last.is_ascii_digit())
            && letters.peek().is_some_and(char::is_ascii_digit);
        if is_ideograph(letter) {
            push(&mut found, &mut word);
            found.push(letter.to_string());
        } else if letter.is_alphanumeric() || (is_between && letter == '.') {
            word.push(letter);
        } else if !is_between {
            push(&mut found, &mut word);
        }
    }
    push(&mut found, &mut word);
    found
}

fn push(found: &mut Vec<String>, word: &mut String) {
    let word = core::mem::take(word);
    match NUMBERS.iter().find(|(name, _)| *name == word) {
        Some((_, digits)) => found.push((*digits).to_string()),
        None if word.is_empty() => {}
        None => found.push(word),
    }
}

fn is_ideograph(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}')
}

impl Asked {
    /// Takes a question apart. `aliases` are words that mean the same to those who ask.
    #[must_use]
    pub fn new(question: &str, aliases: &Lexicon) -> Self {
        let parts = kind::parts(question).into_iter().take(PARTS_MAX).map(|part| Part::new(part, aliases));
        let mut parts: Vec<Part> = parts.filter(|part| !part.terms.is_empty()).collect();
        // "… and by when?" has no subject of its own: it has that of the question before.
        for at in 1..parts.len() {
            let (before, rest) = parts.split_at_mut(at);
            if let (Some(last), Some(part)) = (before.last(), rest.first_mut())
                && part.terms.len() < 2
            {
                let known: BTreeSet<String> = part.terms.iter().map(|term| term.stem.clone()).collect();
                part.terms.extend(last.terms.iter().filter(|term| !known.contains(&term.stem)).cloned());
            }
        }
        parts.iter_mut().for_each(Part::sum);
        Asked { parts }
    }

    /// As [`Asked::weigh_by`], with the texts themselves.
    #[cfg(test)]
    pub(crate) fn weigh(&mut self, texts: &[Stems]) {
        let count = |word: &str| {
            let stem = stem(word);
            let having = texts.iter().filter(|text| text.contains(&stem)).count();
            Ok::<_, core::convert::Infallible>(having as u64)
        };
        match self.weigh_by(texts.len() as u64, count) {
            Ok(()) => {}
            Err(never) => match never {},
        }
    }

    /// Weighs the terms: one weighs more the fewer of `all` texts have it. `count` says how many have a word, in whatever
    /// form.
    ///
    /// # Errors
    /// They can't say.
    pub fn weigh_by<E>(&mut self, all: u64, mut count: impl FnMut(&str) -> Result<u64, E>) -> Result<(), E> {
        for part in &mut self.parts {
            for term in &mut part.terms {
                let own = count(&term.word)?;
                let mut others = 0;
                for other in term.also.iter().filter(|_| own == 0) {
                    others = others.max(count(other)?);
                }
                term.weigh(all, own, others);
            }
            part.sum();
        }
        Ok(())
    }
}

impl Term {
    /// Where nobody uses the word itself, its other words say how rare it is.
    fn weigh(&mut self, all: u64, own: u64, others: u64) {
        let count = if own == 0 { others } else { own };
        self.weight = rarity(all, count) / if self.is_light { LIGHT_PART } else { 1 };
    }
}

impl Part {
    fn new(text: &str, aliases: &Lexicon) -> Self {
        let kind = Kind::of(text);
        let mut seen = BTreeSet::new();
        let mut terms: Vec<Term> = Vec::new();
        for word in words(&plain(text)) {
            let stem = stem(&word);
            let is_filler = STOP_WORDS.contains(&word.as_str()) || kind.is_about(&word);
            if !is_filler && seen.insert(stem.clone()) && terms.len() < TERMS_MAX {
                let also = others(&word, &stem);
                let mut others: BTreeSet<String> = also.iter().map(|word| self::stem::stem(word)).collect();
                others.remove(&stem);
                let is_light = everyday::LIGHT.contains(&word.as_str());
                terms.push(Term { word, stem, also, others, is_light, weight: FINE });
            }
        }
        for variant in aliases.variants(&folded(text), VARIANTS_MAX) {
            let (said, means) = (stems(&variant.alias.0), words(&variant.alias.1));
            for term in terms.iter_mut().filter(|term| said.contains(&term.stem)) {
                term.others.extend(means.iter().map(|word| self::stem::stem(word)));
                term.also.extend(means.iter().cloned());
            }
        }
        Part { text: text.trim().to_string(), kind, terms, total: 0 }
    }

    fn sum(&mut self) {
        self.total = self.terms.iter().map(|term| term.weight).sum();
    }

    /// The words of the question that a text does not have, also not in another word.
    pub fn missing<'a>(&'a self, text: &'a Stems) -> impl Iterator<Item = &'a str> {
        let is_there =
            |term: &&Term| text.contains(&term.stem) || term.others.iter().any(|other| text.contains(other));
        self.terms.iter().filter(move |term| !is_there(term)).map(|term| term.word.as_str())
    }

    /// How much of the question these texts cover, of [`WHOLE`]: each term counts where it is worth most. A text stands
    /// with what it is worth, of [`WHOLE`] too.
    #[must_use]
    pub fn coverage(&self, texts: &[(&Stems, u64)]) -> u64 {
        let credits = self.credits(texts);
        let weighed = self.terms.iter().zip(credits).map(|(term, credit)| term.weight * credit);
        weighed.sum::<u64>() / self.total.max(1)
    }

    /// What each term is worth in these texts. A word that only means much the same stands for one term: "manager" is not
    /// both the chief and the executive.
    fn credits(&self, texts: &[(&Stems, u64)]) -> Vec<u64> {
        let worth = |stem: &String| {
            texts.iter().filter(|(text, _)| text.contains(stem)).map(|(_, worth)| *worth).max()
        };
        let own: BTreeSet<&String> = self.terms.iter().map(|term| &term.stem).collect();
        let mut used: BTreeSet<&String> = BTreeSet::new();
        let mut credits = Vec::with_capacity(self.terms.len());
        for term in &self.terms {
            let free = term.others.iter().filter(|other| !used.contains(other) && !own.contains(other));
            let found =
                free.filter_map(|other| worth(other).map(|worth| (worth * ANOTHER_WORD / WHOLE, other)));
            let exact = worth(&term.stem).unwrap_or(0);
            match found.max_by_key(|(worth, other)| (*worth, core::cmp::Reverse(*other))) {
                Some((worth, other)) if worth > exact => {
                    used.insert(other);
                    credits.push(worth);
                }
                Some(_) | None => credits.push(exact),
            }
        }
        credits
    }

    /// Its words.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().map(|term| term.word.as_str())
    }

    /// Words that mean much the same as its own.
    pub fn other_words(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().flat_map(|term| &term.also).map(String::as_str)
    }

    /// How many of its terms these texts do not have, in whatever words, and how many there are; words of everyday do not
    /// count, unless there are no others.
    #[must_use]
    pub fn missing_count(&self, texts: &[&Stems]) -> (usize, usize) {
        let texts: Vec<(&Stems, u64)> = texts.iter().map(|text| (*text, WHOLE)).collect();
        let found: Vec<(bool, u64)> =
            self.terms.iter().map(|term| term.is_light).zip(self.credits(&texts)).collect();
        let is_any_heavy = found.iter().any(|(is_light, _)| !is_light);
        let counted = found.iter().filter(|(is_light, _)| !(is_any_heavy && *is_light));
        (counted.clone().filter(|(_, credit)| *credit == 0).count(), counted.count())
    }
}

/// The question with one word where several mean one.
fn plain(text: &str) -> String {
    let mut text = spaced(text);
    for (phrase, word) in everyday::PHRASES {
        if let Some(at) = place(&text, phrase) {
            text.replace_range(at..at + phrase.len(), word);
        }
    }
    text
}

/// The words that mean much the same.
fn others(word: &str, own: &str) -> BTreeSet<String> {
    let is_in = |group: &&&[&str]| group.iter().any(|other| *other == word || stem(other) == own);
    let groups = thesaurus::GROUPS.iter().filter(is_in);
    if everyday::COUNTRIES.contains(&word) {
        return ["abroad", "country"].map(String::from).into();
    }
    groups
        .flat_map(|group| group.iter())
        .filter(|other| **other != word)
        .map(|other| (*other).to_string())
        .collect()
}

/// What a term weighs that `count` of `all` texts have: the logarithm of how rare it is.
fn rarity(all: u64, count: u64) -> u64 {
    // One that nobody has weighs as one that a single text has: it is missing, and that is enough.
    let count = count.max(1);
    log2((2 * all + 1) * FINE / (2 * count).max(1)).max(FINE / 8)
}

/// The logarithm to the base 2 of `value / FINE`, times `FINE`; between powers of two it is a line. 0 below 1.
fn log2(value: u64) -> u64 {
    let Some(whole) = (value / FINE).checked_ilog2() else { return 0 };
    let base = FINE << whole;
    u64::from(whole) * FINE + (value - base) * FINE / base
}

#[cfg(test)]
#[path = "relevance/relevance_tests.rs"]
mod tests;
