//! How much a text says about a question.
//! Owns: the question's terms, what they weigh, and how much of them a text covers, in whole numbers. Must not: keep or
//! drop anything.
//!
//! The same question and the same texts give the same numbers everywhere: there is no float in it.

mod everyday;
mod german;
mod kind;
mod number;
pub mod stem;
mod thesaurus;
mod tongue;
mod word;

pub use kind::Kind;

use crate::history::Lexicon;
use crate::words::{folded, place, spaced};
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Bound;
use german::Kin;
use stem::stem;
use tongue::Tongue;
use word::words;

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
    "a", "able", "about", "above", "according", "actually", "again", "ahead", "all", "also", "am", "an",
    "and", "any", "anyone", "anything", "are", "as", "at", "back", "be", "been", "being", "below", "between",
    "both", "but", "by", "can", "cannot", "could", "current", "currently", "d", "describe", "did", "do",
    "document", "documents", "does", "doing", "done", "during", "each", "either", "else", "enough", "ever",
    "everybody", "everyone", "exactly", "explain", "far", "find", "for", "from", "get", "gets", "give",
    "given", "go", "got", "had", "happen", "happened", "happens", "has", "have", "having", "he", "her",
    "here", "hers", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "itself", "just", "kind",
    "list", "ll", "long", "many", "may", "me", "might", "more", "most", "much", "must", "my", "need", "needs",
    "no", "not", "now", "of", "off", "often", "on", "once", "one", "ones", "only", "or", "other", "our", "ours",
    "out", "over", "own", "per", "please", "point", "put", "re", "really", "s", "same", "say", "says",
    "shall", "she", "should", "so", "some", "someone", "something", "soon", "sort", "specific", "still",
    "such", "t", "tell", "than", "that", "the", "their", "them", "then", "there", "these", "they", "thing",
    "things", "this", "those", "through", "to", "together", "too", "type", "under", "until", "up", "us", "ve",
    "very", "want", "wants", "was", "we", "were", "what", "when", "where", "whether", "which", "while", "who",
    "whom", "whose", "why", "will", "with", "would", "you", "your",
];

/// Words that stand for what was named before.
const POINTERS: &[&str] =
    &["it", "its", "one", "ones", "they", "them", "their", "that", "those", "so", "er", "sie", "es", "ihn"];

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
    tongue: Tongue,
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
    import: Import,
    weight: u64,
}

/// Whether a text is nothing but a date or numbers, which say nothing alone.
#[must_use]
pub fn is_bare(text: &str) -> bool {
    kind::is_bare(text)
}

/// Whether two words without their endings are forms of one, or one is made with the other.
#[must_use]
pub fn is_kin(one: &str, other: &str) -> bool {
    german::kin(one, other).is_some()
}

/// What it means for a text that it does not have a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Import {
    /// A text may do without it.
    Light,
    /// What is done, or how something is: a text may well say it otherwise.
    Soft,
    /// A thing: a text without it speaks of others.
    Heavy,
}

impl Import {
    /// What is missed where it is missing.
    fn count(self) -> usize {
        match self {
            Import::Light => 0,
            Import::Soft => 1,
            Import::Heavy => 2,
        }
    }
}

/// The stems of a text.
pub type Stems = BTreeSet<String>;

/// The stems of a text, in order: words in one form, without endings; a sign that is a word is one.
#[must_use]
pub fn stems(text: &str) -> Vec<String> {
    words(text).iter().map(|word| stem(word)).collect()
}

/// The same, with every number in digits that is said in words.
#[must_use]
pub fn counted(text: &str) -> Vec<String> {
    let said = word::as_said(text);
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(rest) = said.get(at..).filter(|rest| !rest.is_empty()) {
        let (one, taken) = match number::leading(rest) {
            Some((number, taken)) => (number.to_string(), taken),
            None => (stem(&word::in_digits(rest[0].clone())), 1),
        };
        found.push(one);
        at += taken;
    }
    found
}

impl Asked {
    /// Takes a question apart. `aliases` are words that mean the same to those who ask.
    #[must_use]
    pub fn new(question: &str, aliases: &Lexicon) -> Self {
        let tongue = Tongue::of(question);
        let parts = kind::parts(question).into_iter().take(PARTS_MAX);
        let parts = parts.map(|part| Part::new(part, tongue, aliases));
        let mut parts: Vec<Part> =
            parts.filter(|part| !part.terms.is_empty() || part.kind != Kind::Any).collect();
        // "… and by when?" has no subject of its own: it has that of the question before.
        for at in 1..parts.len() {
            let (before, rest) = parts.split_at_mut(at);
            if let (Some(last), Some(part)) = (before.last(), rest.first_mut())
                && (part.terms.len() < 2 || part.weighty_count() == 0 || part.points_back())
            {
                let known: BTreeSet<String> = part.terms.iter().map(|term| term.stem.clone()).collect();
                part.terms.extend(last.terms.iter().filter(|term| !known.contains(&term.stem)).cloned());
            }
        }
        parts.retain(|part| !part.terms.is_empty());
        parts.iter_mut().for_each(Part::sum);
        Asked { parts }
    }

    /// Whether it is in a language that joins words, so that a word is also looked for in others ([`is_kin`]).
    #[must_use]
    pub fn joins_words(&self) -> bool {
        self.parts.iter().any(|part| part.tongue != Tongue::English)
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
        self.weight = rarity(all, count) / if self.import == Import::Light { LIGHT_PART } else { 1 };
    }
}

impl Part {
    fn new(text: &str, tongue: Tongue, aliases: &Lexicon) -> Self {
        let kind = Kind::of(text);
        let mut seen = BTreeSet::new();
        let mut terms: Vec<Term> = Vec::new();
        let nouns = capitals(text);
        for word in words(&plain(text)) {
            let stem = stem(&word);
            let is_filler = kind.is_about(&word) || is_small(&word, tongue);
            if !is_filler && seen.insert(stem.clone()) && terms.len() < TERMS_MAX {
                let mut also = others(&word, &stem, tongue);
                if kind == Kind::Who && tongue == Tongue::English {
                    also.extend(doers(&word));
                }
                let mut others: BTreeSet<String> = also.iter().map(|word| self::stem::stem(word)).collect();
                others.remove(&stem);
                let import = import(&word, &stem, tongue, &nouns);
                terms.push(Term { word, stem, also, others, import, weight: FINE });
            }
        }
        for variant in aliases.variants(&folded(text), VARIANTS_MAX) {
            let (said, means) = (stems(&variant.alias.0), words(&variant.alias.1));
            for term in terms.iter_mut().filter(|term| said.contains(&term.stem)) {
                term.others.extend(means.iter().map(|word| self::stem::stem(word)));
                term.also.extend(means.iter().cloned());
            }
        }
        Part { text: text.trim().to_string(), kind, tongue, terms, total: 0 }
    }

    /// Whether it says of one thing only, and of something that was named before: "and which ones break?"
    fn points_back(&self) -> bool {
        let mut said = words(&self.text).into_iter();
        self.weighty_count() < 2 && said.any(|word| POINTERS.contains(&word.as_str()))
    }

    fn sum(&mut self) {
        self.total = self.terms.iter().map(|term| term.weight).sum();
    }

    /// The words of the question that a text does not have, also not in another word.
    pub fn missing<'a>(&'a self, text: &'a Stems) -> impl Iterator<Item = &'a str> {
        let is_there = |term: &&Term| {
            self.nearness(&term.stem, text) > 0 || term.others.iter().any(|other| self.has_other(other, text))
        };
        self.terms.iter().filter(move |term| !is_there(term)).map(|term| term.word.as_str())
    }

    /// Whether a text looks as if it could hold the kind of answer that is asked for.
    #[must_use]
    pub fn is_answered_in_kind(&self, text: &str) -> bool {
        self.kind.is_in(text, &self.text)
    }

    /// How many of its terms are no words of everyday.
    #[must_use]
    pub fn weighty_count(&self) -> usize {
        self.terms.iter().filter(|term| term.import != Import::Light).count()
    }

    /// How near a text comes to a term, of [`WHOLE`].
    fn nearness(&self, stem: &str, text: &Stems) -> u64 {
        if text.contains(stem) {
            return WHOLE;
        }
        if self.tongue == Tongue::English {
            return 0;
        }
        let worth = |word: &String| match german::kin(stem, word) {
            Some(Kin::Form) => WHOLE,
            Some(Kin::Part) => ANOTHER_WORD,
            None => 0,
        };
        text.iter().map(worth).max().unwrap_or(0)
    }

    /// Whether a text has a word that only means much the same, in any of its forms.
    fn has_other(&self, other: &String, text: &Stems) -> bool {
        let is_form = || {
            let begin = other.get(..3).unwrap_or(other);
            let from = (Bound::Included(begin), Bound::Unbounded);
            let mut near = text.range::<str, _>(from).take_while(|word| word.starts_with(begin));
            near.any(|word| german::kin(other, word) == Some(Kin::Form))
        };
        text.contains(other) || (self.tongue == Tongue::German && is_form())
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
        let worth = |other: &String| {
            texts.iter().filter(|(text, _)| self.has_other(other, text)).map(|(_, worth)| *worth).max()
        };
        let exact = |stem: &str| {
            let near = texts.iter().map(|(text, worth)| worth * self.nearness(stem, text) / WHOLE);
            near.max().unwrap_or(0)
        };
        let own: BTreeSet<&String> = self.terms.iter().map(|term| &term.stem).collect();
        let mut used: BTreeSet<&String> = BTreeSet::new();
        let mut credits = Vec::with_capacity(self.terms.len());
        for term in &self.terms {
            let free = term.others.iter().filter(|other| !used.contains(other) && !own.contains(other));
            let found =
                free.filter_map(|other| worth(other).map(|worth| (worth * ANOTHER_WORD / WHOLE, other)));
            let exact = exact(&term.stem);
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

    /// How much of it these texts do not have, in whatever words, and how much could be missing: a term counts two, but where
    /// it is missing what is done with a thing counts one; words of everyday none, unless there are no others.
    #[must_use]
    pub fn missing_count(&self, texts: &[&Stems]) -> (usize, usize) {
        let texts: Vec<(&Stems, u64)> = texts.iter().map(|text| (*text, WHOLE)).collect();
        let is_any_weighty = self.weighty_count() > 0;
        let mut counts = (0, 0);
        for (term, credit) in self.terms.iter().zip(self.credits(&texts)) {
            let import = if is_any_weighty { term.import } else { Import::Heavy };
            counts.0 += if credit == 0 { import.count() } else { 0 };
            counts.1 += if import == Import::Light { 0 } else { Import::Heavy.count() };
        }
        counts
    }
}

/// Whether a word says nothing of what a question is about.
fn is_small(word: &str, tongue: Tongue) -> bool {
    match tongue {
        Tongue::English => STOP_WORDS.contains(&word),
        Tongue::German => german::STOP_WORDS.contains(&word),
        Tongue::Other => STOP_WORDS.contains(&word) || german::STOP_WORDS.contains(&word),
    }
}

/// What it means that a text does not have a word. German writes its nouns with a capital.
fn import(word: &str, own: &str, tongue: Tongue, nouns: &BTreeSet<String>) -> Import {
    let has = |table: &[&str]| table.iter().any(|other| *other == word || stem(other) == own);
    match tongue {
        Tongue::German if german::LIGHT.contains(&word) => Import::Light,
        Tongue::German if !nouns.contains(word) => Import::Soft,
        Tongue::English if everyday::LIGHT.contains(&word) => Import::Light,
        Tongue::English if word.ends_with("ed") || word.ends_with("ing") || has(everyday::VERBS) => {
            Import::Soft
        }
        Tongue::English | Tongue::German | Tongue::Other => Import::Heavy,
    }
}

/// The words that are written with a capital or hold a digit.
fn capitals(text: &str) -> BTreeSet<String> {
    let is_capital = |word: &&str| word.contains(|letter: char| letter.is_uppercase() || letter.is_numeric());
    text.split(|letter: char| !letter.is_alphanumeric()).filter(is_capital).flat_map(words).collect()
}

/// Who does what a word says: whoever owns is an owner.
fn doers(word: &str) -> [String; 2] {
    let base = word.strip_suffix('s').unwrap_or(word);
    let base = base.strip_suffix('e').unwrap_or(base);
    [alloc::format!("{base}er"), alloc::format!("{base}or")]
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
fn others(word: &str, own: &str, tongue: Tongue) -> BTreeSet<String> {
    if tongue == Tongue::German {
        let is_in = |group: &&&[&str]| {
            group.iter().any(|other| *other == word || german::kin(word, other) == Some(Kin::Form))
        };
        let groups = german::GROUPS.iter().filter(is_in).copied().flatten();
        let mut also: BTreeSet<String> = groups.map(|other| (*other).to_string()).collect();
        also.extend(german::without_e(word));
        also.remove(word);
        return also;
    }
    if everyday::COUNTRIES.contains(&word) {
        return ["abroad", "country"].map(String::from).into();
    }
    let is_in = |group: &&&[&str]| group.iter().any(|other| *other == word || stem(other) == own);
    let groups = thesaurus::GROUPS.iter().filter(is_in).copied().flatten();
    groups.filter(|other| **other != word).map(|other| (*other).to_string()).collect()
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
