//! What of a sentence's words can be held against another one's.
//! Owns: telling what it speaks of from what it says of that: amounts, days, a "not". Must not: know which of two is right.

use crate::relevance::{counted, is_kin};
use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

/// Terms that both must have.
const SHARED_MIN: usize = 4;
/// Terms that do where both count the same and have hardly another word.
pub(super) const FEW_SHARED_MIN: usize = 2;

/// Words that turn a sentence into its opposite; these and the words below are stems.
#[rustfmt::skip] // words in rows
const NEGATIONS: [&str; 24] = [
    "not", "no", "never", "neither", "nor", "without", "cannot", "nicht", "kein", "keinem", "keinen", "keiner", "nie", "niemal", "ohn", "pa", "jamai",
    "aucun", "san", "non", "niet", "geen", "nunca", "nao",
];
/// Numbers as words; those up to twelve come as digits already.
#[rustfmt::skip] // words in rows
pub(crate) const NUMBERS: [&str; 14] = [
    "fifteen", "twenti", "thirti", "forti", "fifti", "sixti", "nineti", "hundr", "fourteen", "eighteen", "sechzig", "vierzig", "funfzig",
    "hundert",
];
/// What numbers count that are a day or a time.
const DATE: &str = "date";
/// Words that every sentence may have.
#[rustfmt::skip] // words in rows
const FREQUENT: &[&str] = &[
    "a", "all", "an", "and", "ani", "ar", "as", "everi", "at", "be", "been", "by", "for", "from", "ha", "had", "have", "in",
    "is", "it", "its", "of", "on", "or", "shall", "than", "that", "the", "thei", "thi", "to", "wa", "were",
    "which", "will", "with", "must", "mai", "within", "after", "befor", "each",
    "der", "die", "da", "den", "dem", "de", "und", "ist", "sind", "ein", "im", "am", "zu", "zum", "zur", "von", "vom", "mit",
    "auf", "fur", "wird", "werden", "nach", "bei", "oder", "sich", "can", "could", "did", "do", "doe", "n", "ne",
];

/// Words after which a number says which one is meant, wherever they stand. Behind other words it does where a thing is named: behind
/// one of [`NAMING`], or where the sentence begins.
#[rustfmt::skip] // words in rows
const ITEMS: [&str; 9] = [
    "invoic", "item", "jahr", "no", "nr", "number", "nummer", "station", "year",
];
/// Words before the name of a thing.
#[rustfmt::skip] // words in rows
const NAMING: &[&str] = &[
    "a", "an", "and", "at", "by", "each", "for", "from", "in", "of", "on", "or", "the", "thi", "to", "under", "with",
    "am", "an", "auf", "bei", "da", "dem", "den", "der", "de", "die", "ein", "fur", "im", "mit", "nach", "oder", "und", "vom", "von", "zu", "zum", "zur",
    "au", "del", "du", "el", "la", "le", "lo", "het",
];
/// Words that say that something happened another time.
const ONCE_MORE: [&str; 3] = ["again", "anoth", "erneut"];
/// Words that say what a number counts, wherever they stand.
#[rustfmt::skip] // words in rows
const UNITS: [&str; 49] = [
    "bar", "cent", "chf", "cm", "dai", "degre", "dollar", "eur", "euro", "gbp", "gram", "hour", "kg", "km", "litr", "metr", "mg", "milligram",
    "million", "minut", "mm", "monat", "month", "mw", "percent", "pound", "prozent", "second", "stund", "stunden", "tag", "tage", "time", "ton",
    "tonn", "usd", "woch", "wochen", "week", "liter", "meter", "milliard", "milliarden", "millionen", "tonnen", "k", "kn", "kw", "mwh",
];
/// Words before a number with which a sentence begins that says when or where.
#[rustfmt::skip] // words in rows
const PREPOSITIONS: [&str; 10] = [
    "ab", "am", "at", "bei", "by", "for", "im", "in", "on", "um",
];
#[rustfmt::skip] // words in rows
const OF_YEARS: [&str; 11] = [
    "ab", "bi", "dure", "for", "from", "im", "in", "seit", "sinc", "until", "von",
];
#[rustfmt::skip] // words in rows
const MONTHS: [&str; 19] = [
    "januari", "februari", "march", "april", "mai", "june", "juli", "august", "septemb", "octob", "novemb", "decemb", "januar", "februar", "marz",
    "juni", "oktob", "dezemb", "sept",
];

/// What of a sentence's words can be held against another one's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// What it speaks of.
    pub terms: BTreeSet<String>,
    /// The same and the numbers, in the order in which they are said.
    order: Vec<String>,
    numbers: BTreeSet<String>,
    /// The same without what may be only a way to write them.
    plain: BTreeSet<String>,
    /// What stands beside the numbers: what they count.
    units: BTreeSet<String>,
    /// Those of the numbers that say which one is meant, or when: a year, the number of an item.
    which: BTreeSet<String>,
    /// Those of them that name a thing.
    items: BTreeSet<String>,
    is_negated: bool,
    /// Whether it tells of another time than a sentence before it.
    is_once_more: bool,
}

impl Words {
    /// Those of a sentence.
    #[must_use]
    pub fn of(text: &str) -> Self {
        // The number of an item counts nothing.
        let said = text.trim_start_matches(|letter: char| !letter.is_alphabetic() && !letter.is_whitespace());
        let text = if said.starts_with(char::is_whitespace) { said } else { text };
        let said = counted(&spelled(text));
        let mut words = Words { items: lettered(text), ..Words::default() };
        words.is_once_more = said.iter().any(|stem| is_one_of(stem, &ONCE_MORE));
        let mut at = 0;
        while let Some(stem) = said.get(at) {
            let before = at.checked_sub(1).and_then(|at| said.get(at));
            let run = run(before, said.get(at..).unwrap_or_default());
            if run > 0 {
                words.number(text, &said, at..at + run);
            } else if NEGATIONS.contains(&stem.as_str()) {
                words.is_negated = !words.is_negated;
            } else if !is_small(stem) {
                words.terms.insert(stem.clone());
                words.order.push(stem.clone());
            }
            at += run.max(1);
        }
        words
    }

    /// Takes in numbers that stand together: an amount, a day, a time, the number of an item.
    fn number(&mut self, text: &str, said: &[String], run: Range<usize>) {
        let parts = said.get(run.clone()).unwrap_or_default();
        let before = run.start.checked_sub(1).and_then(|place| said.get(place));
        let next = said.get(run.end);
        let beside = [before, next].into_iter().flatten().filter(|one| !is_small(one));
        self.units.extend(beside.cloned());
        let is_date = parts.len() > 1 || parts.iter().any(|part| is_year(part) || is_one_of(part, &MONTHS));
        if is_date {
            self.units.insert(DATE.to_string());
        }
        let is_counted = [before, next].into_iter().flatten().any(|one| is_one_of(one, &UNITS));
        let is_named = |one: &String| {
            let naming = run.start.checked_sub(2).and_then(|place| said.get(place));
            let is_thing = !is_date && naming.is_none_or(|naming| is_one_of(naming, NAMING));
            !is_counted && !is_small(one) && (is_thing || is_name(text, one))
        };
        let is_item = before.is_some_and(|one| is_one_of(one, &ITEMS) || is_named(one));
        // What a sentence begins with says when, as does "from": what is said of it follows.
        let is_when = before.is_some_and(|one| {
            (self.order.is_empty() && is_one_of(one, &PREPOSITIONS)) || (is_date && is_one_of(one, &OF_YEARS))
        });
        // A day is told by all its parts together: ten past ten has one number.
        let all = || parts.iter().cloned().chain((parts.len() > 1).then(|| parts.join(" ")));
        self.which.extend(all().filter(|_| is_item || is_when));
        self.items.extend(all().filter(|_| is_item));
        self.plain.extend(all().map(|number| plain(&number)));
        self.numbers.extend(all());
        self.order.extend(parts.iter().cloned());
    }

    /// The numbers that say how much or when, and not of which.
    fn amounts(&self) -> impl Iterator<Item = &String> {
        self.numbers.iter().filter(|number| !self.which.contains(*number))
    }

    /// What it speaks of before it says something that the other does not say, and that the other does not speak of.
    fn subject<'w>(&'w self, other: &'w Words) -> impl Iterator<Item = &'w String> {
        let is_said = |word: &&String| !self.numbers.contains(*word) || other.numbers.contains(*word);
        let subject = self.order.iter().take_while(is_said);
        subject.filter(|word| self.terms.contains(*word) && !other.terms.contains(*word))
    }

    /// Whether each of two sentences is about something that the other is not about: the notice of one contract, and that of
    /// another. Words that are made of one another are about the same.
    fn has_another_subject(&self, other: &Words) -> bool {
        let has_own = |one: &Words, other: &Words| {
            one.subject(other).any(|word| !other.subject(one).any(|theirs| is_kin(word, theirs)))
        };
        has_own(self, other) && has_own(other, self)
    }

    /// Whether another sentence says an amount of another item, or another amount of another time.
    fn is_of_another(&self, other: &Words) -> bool {
        // Whether one has an amount that the other has not.
        let has_more =
            |one: &Words, other: &Words| one.amounts().any(|one| other.amounts().all(|other| other != one));
        let both_say = self.amounts().next().is_some() && other.amounts().next().is_some();
        let is_another_time =
            both_say && differ(&self.which, &other.which) && has_more(self, other) && has_more(other, self);
        self.is_once_more != other.is_once_more || differ(&self.items, &other.items) || is_another_time
    }

    /// Whether another sentence speaks of the same and says something else.
    #[must_use]
    pub fn contradict(&self, other: &Words) -> bool {
        disagree(self, other, self.terms.intersection(&other.terms).count())
    }
}

fn is_small(stem: &str) -> bool {
    FREQUENT.contains(&stem)
}

/// Whether each of two sets has something that the other has not.
fn differ(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    !one.is_subset(other) && !other.is_subset(one)
}

/// Whether a number can be that of a year.
fn is_year(stem: &str) -> bool {
    stem.len() == 4
        && (stem.starts_with("19") || stem.starts_with("20"))
        && stem.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_one_of(found: &str, words: &[&str]) -> bool {
    words.contains(&found)
}

/// How many of the words that follow are numbers that stand together, with the names of months between them.
fn run(before: Option<&String>, said: &[String]) -> usize {
    let is_number =
        |stem: &str| stem.starts_with(|letter: char| letter.is_ascii_digit()) || NUMBERS.contains(&stem);
    let first = said.first().is_some_and(|one| is_number(one) || is_one_of(one, &MONTHS));
    let many = if first {
        said.iter().take_while(|one| is_number(one) || is_one_of(one, &MONTHS)).count()
    } else {
        0
    };
    // A month alone says when behind "in"; "may" alone is no month.
    if before.is_some_and(|before| is_one_of(before, &OF_YEARS)) {
        return many;
    }
    if said.iter().take(many).any(|one| is_number(one)) { many } else { 0 }
}

/// Whether a word says what a number before it counts.
pub(crate) fn is_unit(word: &str) -> bool {
    counted(word).first().is_some_and(|stem| is_one_of(stem, &UNITS))
}

/// A text with the words in full that end with a "not".
fn spelled(text: &str) -> Cow<'_, str> {
    if !text.contains("n't") && !text.contains("n’t") {
        return Cow::Borrowed(text);
    }
    let text = text.replace('’', "'").replace("can't", "can not").replace("won't", "will not");
    Cow::Owned(text.replace("n't", " not"))
}

/// Whether a word is written as a name right before a number within a sentence, so that the number is a part of the name.
fn is_name(text: &str, stem: &str) -> bool {
    let raw: Vec<&str> = text.split_whitespace().collect();
    raw.windows(2).skip(1).any(|pair| {
        let [word, number] = pair else { return false };
        word.starts_with(char::is_uppercase)
            && number.starts_with(|letter: char| letter.is_ascii_digit())
            && counted(word).last().is_some_and(|last| last == stem)
    })
}

/// The letters that name things: flat A, Schedule B.
fn lettered(text: &str) -> BTreeSet<String> {
    let raw: Vec<&str> =
        text.split_whitespace().map(|word| word.trim_end_matches([',', ';', ':', ')', '.'])).collect();
    let named = raw.windows(2).filter_map(|pair| {
        let [word, letter] = pair else { return None };
        let is_letter = letter.len() == 1 && letter.starts_with(|one: char| one.is_ascii_uppercase());
        let is_thing = counted(word).last().is_some_and(|stem| !is_small(stem) && !is_one_of(stem, &UNITS));
        (is_letter && is_thing).then(|| (*letter).to_string())
    });
    named.collect()
}

/// They share most of their words, and differ in a number or a "not". A few words do where they are nearly all, and where
/// the numbers count the same.
pub(super) fn disagree(one: &Words, other: &Words, shared: usize) -> bool {
    let all = one.terms.len() + other.terms.len() - shared;
    // Other numbers, and not only written in another way: 0.5 and 0.50, 1200 and 1.200, which is one of two things.
    let numbers_differ = differ(&one.plain, &other.plain) && !one.is_of_another(other);
    if shared >= FEW_SHARED_MIN && have_other_units(one, other) {
        return true;
    }
    if shared < SHARED_MIN {
        let is_turned = shared == all && one.is_negated != other.is_negated && one.numbers == other.numbers;
        let is_other = shared * 4 >= all * 3
            && numbers_differ
            && !one.has_another_subject(other)
            && one.is_negated == other.is_negated
            && !one.units.is_disjoint(&other.units);
        return shared >= FEW_SHARED_MIN && (is_turned || is_other);
    }
    // A "not" more or less, and else nearly the same words.
    let turned = one.is_negated != other.is_negated && one.numbers == other.numbers && shared * 10 >= all * 8;
    shared * 10 >= all * 6 && (numbers_differ || turned) && !one.has_another_subject(other)
}

/// Whether two say the same of the same, but that the numbers count something else: three months, three weeks.
fn have_other_units(one: &Words, other: &Words) -> bool {
    let only = |one: &Words, other: &Words| {
        let mut own = one.terms.difference(&other.terms).peekable();
        own.peek().is_some() && own.all(|term| is_one_of(term, &UNITS) && one.units.contains(term))
    };
    !one.numbers.is_empty()
        && one.numbers == other.numbers
        && one.is_negated == other.is_negated
        && only(one, other)
        && only(other, one)
}

/// A number without what may be only a way to write it.
fn plain(number: &str) -> String {
    let mut parts = number.split('.');
    let is_group = |part: &str| part.len() == 3 && part.bytes().all(|byte| byte.is_ascii_digit());
    let head = parts.next().unwrap_or_default();
    if number.contains('.') && (1..=3).contains(&head.len()) && head != "0" && parts.all(is_group) {
        return number.replace('.', "");
    }
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => number.to_string(),
    }
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
