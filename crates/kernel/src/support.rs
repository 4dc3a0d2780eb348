//! Whether a sentence says no more than the words that it cites.
//! Owns: what must agree: most of the words, every number and name, whether it is denied; for a claim also their order and whatever
//! widens, narrows or times it. Must not: know what is true.
//!
//! This is no proof: it compares words. Another word for the same is not known, so a paraphrase is not said; and what a sentence leaves
//! out of its source may have mattered. Who signs reads the places that are named.

use crate::relevance::{stem, stems};
use crate::sentences::sentences;
use crate::sift::NUMBERS;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

/// The part of a sentence's words that must be its source's too, in thousandths.
const SHARED_MIN: usize = 600;
/// Words that turn a sentence into its opposite.
const DENIALS: [&str; 16] = [
    "cannot", "kein", "keine", "keinem", "keinen", "keiner", "neither", "never", "nicht", "nie", "no",
    "nobody", "none", "nor", "not", "without",
];

/// Whether a source says what a sentence says.
#[must_use]
pub fn supports(source: &str, sentence: &str) -> bool {
    if source.trim() == sentence.trim() {
        return true;
    }
    let (said, held) = (set(sentence), set(source));
    let shared = said.intersection(&held).count();
    let is_shared = !said.is_empty() && shared * 1_000 >= said.len() * SHARED_MIN;
    // A source may be several sentences, and only one of them is denied.
    let nearest = sentences(source).max_by_key(|one| set(one).intersection(&said).count()).unwrap_or(source);
    is_shared && particulars(sentence).is_subset(&held) && is_denied(sentence) == is_denied(nearest)
}

/// Words that widen, narrow, oblige or time what is said: a claim has none that its source has not.
const TURNS: [&str; 117] = [
    "after",
    "all",
    "alle",
    "allen",
    "aller",
    "alles",
    "always",
    "annual",
    "annually",
    "any",
    "before",
    "bevor",
    "bis",
    "both",
    "can",
    "could",
    "daily",
    "darf",
    "day",
    "days",
    "during",
    "dürfen",
    "each",
    "einige",
    "every",
    "everybody",
    "everything",
    "few",
    "fewer",
    "first",
    "former",
    "frühestens",
    "höchstens",
    "hour",
    "hourly",
    "hours",
    "immer",
    "jahr",
    "jahre",
    "jahren",
    "jede",
    "jedem",
    "jeden",
    "jeder",
    "jedes",
    "kann",
    "last",
    "later",
    "latest",
    "least",
    "less",
    "many",
    "may",
    "mehr",
    "might",
    "mindestens",
    "minute",
    "minutes",
    "monat",
    "monate",
    "monaten",
    "month",
    "monthly",
    "months",
    "more",
    "most",
    "muss",
    "must",
    "müssen",
    "nach",
    "nacht",
    "night",
    "nightly",
    "nights",
    "nobody",
    "none",
    "nothing",
    "nichts",
    "niemand",
    "nur",
    "often",
    "once",
    "one",
    "only",
    "other",
    "others",
    "quarter",
    "quarterly",
    "quarters",
    "rarely",
    "seit",
    "several",
    "shall",
    "should",
    "since",
    "solely",
    "soll",
    "some",
    "sometimes",
    "spätestens",
    "stunde",
    "stunden",
    "tag",
    "tage",
    "tagen",
    "twice",
    "until",
    "vor",
    "week",
    "weekly",
    "weeks",
    "weniger",
    "woche",
    "wochen",
    "year",
    "yearly",
    "years",
];
/// Words that take something back: a claim that leaves one out says more than its source.
const LIMITS: [&str; 15] = [
    "apart",
    "ausgenommen",
    "außer",
    "except",
    "excluding",
    "falls",
    "if",
    "nur",
    "only",
    "provided",
    "sofern",
    "solely",
    "subject",
    "unless",
    "wenn",
];
/// Words after which those that are named are all.
const CLOSED: [&str; 3] = ["nur", "only", "solely"];
/// Stretches of a source that a claim may have in another order.
const MOVED_MAX: usize = 3;
/// Words that a claim may have and its source not.
#[rustfmt::skip] // words in rows
const ARTICLES: [&str; 23] = [
    "a", "an", "and", "das", "dem", "den", "der", "des", "die", "ein", "eine", "einem", "einen", "einer", "eines", "of", "s", "that", "the",
    "these", "this", "those", "und",
];
/// Words that may stand anywhere.
const LIGHT: [&str; 38] = [
    "and", "are", "auf", "bei", "das", "dem", "den", "der", "des", "die", "ein", "eine", "einem", "einen",
    "einer", "for", "from", "für", "has", "have", "into", "ist", "its", "mit", "sind", "that", "the",
    "their", "this", "und", "von", "was", "were", "which", "with", "within", "zum", "zur",
];

/// Whether a sentence of a source says what a claim says: it has what `supports` asks for, every word of the claim but articles, in the
/// same order, and nothing that turns it into something wider, narrower, earlier or later is another one.
#[must_use]
pub fn says(source: &str, claim: &str) -> bool {
    if source.trim() == claim.trim() {
        return true;
    }
    if !supports(source, claim) {
        return false;
    }
    let (said, held) = (stems(claim), stems(source));
    let (own, theirs) = (lowered(claim), lowered(source));
    let is_held = |word: &&String| stems(word).iter().all(|stem| held.contains(stem));
    let is_turned = own.iter().filter(|word| TURNS.contains(&word.as_str())).any(|word| !is_held(&word));
    let is_widened = theirs.iter().any(|word| LIMITS.contains(&word.as_str()) && !own.contains(word));
    let is_closed = own.iter().any(|word| CLOSED.contains(&word.as_str()));
    let known = particulars(source);
    // The number of a clause names nothing.
    let has_digit = |stem: &String| stem.contains(|letter: char| letter.is_ascii_digit());
    let is_whole = !is_closed || known.iter().all(|stem| has_digit(stem) || said.contains(stem));
    let is_article = |stem: &String| ARTICLES.iter().any(|word| stem::stem(word) == *stem);
    let is_said = |stem: &String| held.contains(stem) || is_article(stem);
    said.iter().all(is_said) && !is_turned && !is_widened && is_whole && is_ordered(claim, source)
}

fn lowered(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// The words of a sentence that say something, in order, of those that both have.
fn shared<'s>(all: &'s [String], others: &[String]) -> Vec<&'s String> {
    let has_digit = |stem: &str| stem.contains(|letter: char| letter.is_ascii_digit());
    let says = |stem: &&String| has_digit(stem) || (stem.len() > 2 && !LIGHT.contains(&stem.as_str()));
    all.iter().filter(says).filter(|stem| others.contains(*stem)).collect()
}

/// Whether a claim has its words in the order of its source. Stretches of two words and more may stand elsewhere; who does what to
/// whom may not, so neither a single word nor the order of names changes.
fn is_ordered(claim: &str, source: &str) -> bool {
    let (said, held) = (stems(claim), stems(source));
    let (mut one, other) = (shared(&said, &held), shared(&held, &said));
    let next: BTreeSet<(&String, &String)> =
        other.iter().copied().zip(other.iter().copied().skip(1)).collect();
    // What belongs to somebody is said in two ways: "the lease of the harbour", "the harbour's lease".
    let owners = owners(claim);
    for at in 1..one.len() {
        if let [owner, owned] = one.get(at - 1..=at).unwrap_or_default()
            && owners.contains(*owner)
            && next.contains(&(*owned, *owner))
        {
            one.swap(at - 1, at);
        }
    }
    let mut stretches: Vec<usize> = Vec::new();
    let mut before: Option<&String> = None;
    for stem in &one {
        match (before.is_some_and(|before| next.contains(&(before, *stem))), stretches.last_mut()) {
            (true, Some(last)) => *last += 1,
            (true | false, _) => stretches.push(1),
        }
        before = Some(*stem);
    }
    let is_moved = stretches.len() <= MOVED_MAX && stretches.iter().all(|words| *words > 1);
    let names: BTreeSet<String> = named(claim).union(&named(source)).cloned().collect();
    (stretches.len() <= 1 || is_moved) && first_of(&one, &names) == first_of(&other, &names)
}

/// The words that something is said to belong to.
fn owners(text: &str) -> BTreeSet<String> {
    let marked = |word: &&str| {
        let word = word.trim_end_matches(|letter: char| letter.is_ascii_punctuation() && letter != '\'');
        word.ends_with("'s") || word.ends_with("’s") || word.ends_with("s'") || word.ends_with("s’")
    };
    text.split_whitespace().filter(marked).flat_map(|word| stems(word).into_iter().take(1)).collect()
}

/// The names of a sentence: capitals that no sentence begins with.
fn named(text: &str) -> BTreeSet<String> {
    let is_name = |word: &&str| {
        let letters = word.trim_start_matches(|letter: char| !letter.is_alphanumeric());
        letters.starts_with(char::is_uppercase)
    };
    text.split_whitespace().skip(1).filter(is_name).flat_map(stems).collect()
}

/// Some words in the order in which each comes first.
fn first_of<'s>(all: &[&'s String], wanted: &BTreeSet<String>) -> Vec<&'s String> {
    let mut seen = BTreeSet::new();
    all.iter().copied().filter(|stem| wanted.contains(*stem) && seen.insert(*stem)).collect()
}

fn set(text: &str) -> BTreeSet<String> {
    stems(text).into_iter().collect()
}

/// What a sentence can't have from anywhere but its source: numbers, also in words, and names (capitals that no sentence begins
/// with).
fn particulars(sentence: &str) -> BTreeSet<String> {
    let mut words = sentence.split_whitespace();
    let first = words.next().filter(|word| is_number(word));
    let is_one = |word: &&str| {
        let letters = word.trim_start_matches(|letter: char| !letter.is_alphanumeric());
        letters.starts_with(char::is_uppercase) || is_number(word)
    };
    first.into_iter().chain(words.filter(is_one)).flat_map(stems).collect()
}

/// Whether a word has a digit, or is a number itself: small ones have the stem of their digits.
fn is_number(word: &str) -> bool {
    let has_digit = |text: &str| text.contains(|letter: char| letter.is_ascii_digit());
    has_digit(word) || stems(word).iter().any(|stem| has_digit(stem) || NUMBERS.contains(&stem.as_str()))
}

fn is_denied(sentence: &str) -> bool {
    let words = sentence.split(|letter: char| !letter.is_alphanumeric() && letter != '\'' && letter != '’');
    let is_one = |word: &str| {
        let word = word.to_lowercase();
        DENIALS.contains(&word.as_str()) || word.ends_with("n't") || word.ends_with("n’t")
    };
    words.filter(|word| is_one(word)).count() % 2 == 1
}

#[cfg(test)]
#[path = "support_tests.rs"]
mod tests;
