//! Sentences that speak of the same and say something else.
//! Owns: seeing other numbers and a "not" more. Must not: say who is right.

use crate::chunk::Chunk;
use crate::relevance::{counted, is_kin, stem};
use crate::sentences::visible;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::Serialize;

/// Terms that both must have.
const SHARED_MIN: usize = 4;
/// Terms that do where both count the same and have hardly another word.
const FEW_SHARED_MIN: usize = 2;

/// Sentences that are told for one with which they disagree.
const TOLD_MAX: usize = 4;

/// Words that turn a sentence into its opposite.
#[rustfmt::skip] // words in rows
const NEGATIONS: [&str; 13] = [
    "not", "no", "never", "neither", "nor", "without", "cannot", "nicht", "kein", "keinen", "keiner", "nie", "ohn",
];
/// Numbers as words; those up to twelve come as digits already.
#[rustfmt::skip] // words in rows
pub(crate) const NUMBERS: [&str; 14] = [
    "fifteen", "twenti", "thirti", "forti", "fifti", "sixti", "nineti", "hundr", "fourteen", "eighteen", "sechzig", "vierzig", "funfzig",
    "hundert",
];
/// Words that every sentence may have.
#[rustfmt::skip] // words in rows
const FREQUENT: &[&str] = &[
    "a", "an", "and", "ani", "ar", "as", "at", "be", "been", "by", "for", "from", "ha", "had", "have", "in",
    "is", "it", "its", "of", "on", "or", "shall", "than", "that", "the", "thei", "thi", "to", "wa", "were",
    "which", "will", "with", "must", "mai", "within", "after", "befor", "each",
    "der", "die", "da", "den", "dem", "de", "und", "ist", "sind", "ein", "im", "am", "zu", "zum", "zur", "von", "vom", "mit",
    "auf", "fur", "wird", "werden", "nach", "bei", "oder", "sich",
];

/// Two sentences that disagree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Contradiction {
    /// The two, in the order in which their pieces came.
    pub sides: [Side; 2],
}

/// One of two sentences that disagree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Side {
    /// Which piece, from 0.
    pub at: usize,
    /// Its file.
    pub path: String,
    /// The sentence's first line.
    pub first_line: usize,
    /// Its last line.
    pub last_line: usize,
    /// The sentence, word for word.
    pub quote: String,
}

/// Words after which a number says which one is meant.
#[rustfmt::skip] // words in rows
const ITEMS: [&str; 24] = [
    "abschnitt", "annex", "article", "artikel", "batch", "clause", "entry", "instalment", "item", "jahr", "lot", "no", "nr", "nummer", "number",
    "phase", "position", "posten", "rate", "schedule", "section", "unit", "year", "ziffer",
];
#[rustfmt::skip] // words in rows
const OF_YEARS: [&str; 11] = ["ab", "bis", "during", "for", "from", "im", "in", "seit", "since", "until", "von"];
#[rustfmt::skip] // words in rows
const MONTHS: [&str; 21] = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december", "januar", "februar",
    "marz", "mai", "juni", "juli", "oktober", "dezember", "sept",
];

struct Sentence<'a> {
    at: usize,
    chunk: &'a Chunk,
    span: core::ops::Range<usize>,
    words: Words,
}

/// What of a sentence's words can be held against another one's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// What it speaks of.
    pub terms: BTreeSet<String>,
    /// The same and the numbers, in the order in which they are said.
    order: Vec<String>,
    numbers: BTreeSet<String>,
    /// What stands beside the numbers: what they count.
    units: BTreeSet<String>,
    /// Those of the numbers that say which one is meant: a year, the number of an item.
    which: BTreeSet<String>,
    /// Those that are a day of a month.
    days: BTreeSet<String>,
    is_negated: bool,
}

/// The pairs of sentences of different pieces that disagree. Only those are held against each other that share terms, so
/// all may be: there are as many as the pieces that may be quoted have.
pub(super) fn find(chunks: &[(usize, &Chunk)]) -> Vec<Contradiction> {
    let all =
        chunks.iter().flat_map(|(at, chunk)| visible(&chunk.text).map(move |span| read(*at, chunk, span)));
    let all: Vec<Sentence<'_>> = all.filter(|one| one.words.terms.len() >= FEW_SHARED_MIN).collect();
    let mut having: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (number, one) in all.iter().enumerate() {
        let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
        for term in &one.words.terms {
            let those = having.entry(term).or_default();
            for other in those.iter() {
                *shared.entry(*other).or_default() += 1;
            }
            those.push(number);
        }
        let disagrees = |(other, shared): &(usize, usize)| {
            all.get(*other)
                .is_some_and(|other| other.at != one.at && disagree(&other.words, &one.words, *shared))
        };
        pairs.extend(shared.into_iter().filter(disagrees).map(|(other, _)| (other, number)));
    }
    pairs.sort_unstable();
    // A sentence with which very many disagree is told with a few of them; whoever disagrees is told.
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    pairs.retain(|(one, other)| {
        let mut count = |at: usize| {
            let count = counts.entry(at).or_default();
            *count += 1;
            *count
        };
        count(*one).min(count(*other)) <= TOLD_MAX
    });
    let told = |(one, other): (usize, usize)| {
        Some(Contradiction { sides: [side(all.get(one)?), side(all.get(other)?)] })
    };
    pairs.into_iter().filter_map(told).collect()
}

fn read<'a>(at: usize, chunk: &'a Chunk, span: core::ops::Range<usize>) -> Sentence<'a> {
    let words = Words::of(chunk.text.get(span.clone()).unwrap_or_default());
    Sentence { at, chunk, span, words }
}

impl Words {
    /// Those of a sentence.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let (mut terms, mut numbers, mut is_negated) = (BTreeSet::new(), BTreeSet::new(), false);
        let (mut units, mut which, mut days) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut order = Vec::new();
        // The number of an item counts nothing.
        let said = text.trim_start_matches(|letter: char| !letter.is_alphabetic() && !letter.is_whitespace());
        let said = counted(if said.starts_with(char::is_whitespace) { said } else { text });
        let is_number =
            |stem: &str| stem.starts_with(|letter: char| letter.is_ascii_digit()) || NUMBERS.contains(&stem);
        for (place, stem) in said.iter().enumerate() {
            if NEGATIONS.contains(&stem.as_str()) {
                is_negated = !is_negated;
            } else if is_number(stem) {
                let beside = [place.checked_sub(1), Some(place + 1)].into_iter().flatten();
                let beside = beside
                    .filter_map(|place| said.get(place))
                    .filter(|one| !is_small(one) && !is_number(one));
                units.extend(beside.cloned());
                let before = place.checked_sub(1).and_then(|place| said.get(place));
                let is_which = before.is_some_and(|one| {
                    is_one_of(one, &ITEMS)
                        || (is_year(stem) && (is_one_of(one, &OF_YEARS) || is_one_of(one, &MONTHS)))
                });
                if is_which {
                    which.insert(stem.clone());
                } else if [before, said.get(place + 1)]
                    .into_iter()
                    .flatten()
                    .any(|one| is_one_of(one, &MONTHS))
                {
                    days.insert(stem.clone());
                }
                numbers.insert(stem.clone());
                order.push(stem.clone());
            } else if !is_small(stem) {
                terms.insert(stem.clone());
                order.push(stem.clone());
            }
        }
        Words { terms, order, numbers, units, which, days, is_negated }
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

    /// Whether another sentence speaks of another year or item, and says another amount of it.
    fn is_of_another(&self, other: &Words) -> bool {
        let is_amount =
            |one: &Words, number: &String| !one.which.contains(number) && !one.days.contains(number);
        // Whether one has an amount that the other has not.
        let has_more = |one: &Words, other: &Words| {
            let mut own = one.numbers.iter().filter(|number| is_amount(one, number));
            own.any(|number| !other.numbers.contains(number) || !is_amount(other, number))
        };
        differ(&self.which, &other.which) && has_more(self, other) && has_more(other, self)
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
    words.iter().any(|word| stem::stem(word) == found)
}

/// They share most of their words, and differ in a number or a "not". A few words do where they are nearly all, and where
/// the numbers count the same.
fn disagree(one: &Words, other: &Words, shared: usize) -> bool {
    let all = one.terms.len() + other.terms.len() - shared;
    let numbers_differ =
        differ(&one.numbers, &other.numbers) && are_others(one, other) && !one.is_of_another(other);
    if shared < SHARED_MIN {
        return shared >= FEW_SHARED_MIN
            && shared * 4 >= all * 3
            && numbers_differ
            && !one.has_another_subject(other)
            && one.is_negated == other.is_negated
            && !one.units.is_disjoint(&other.units);
    }
    // A "not" more or less, and else nearly the same words.
    let turned = one.is_negated != other.is_negated && one.numbers == other.numbers && shared * 10 >= all * 8;
    shared * 10 >= all * 6 && (numbers_differ || turned) && !one.has_another_subject(other)
}

/// Whether the numbers are others, and not only written in another way: 0.5 and 0.50, 1200 and 1.200, which is one of two things.
fn are_others(one: &Words, other: &Words) -> bool {
    let plain =
        |words: &Words| words.numbers.iter().map(|number| plain(number)).collect::<BTreeSet<String>>();
    differ(&plain(one), &plain(other))
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

fn side(sentence: &Sentence<'_>) -> Side {
    let (first_line, last_line) = sentence.chunk.lines_of(&sentence.span);
    Side {
        at: sentence.at,
        path: sentence.chunk.path.clone(),
        first_line,
        last_line,
        quote: sentence.chunk.text.get(sentence.span.clone()).unwrap_or_default().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_of_different_years_or_items_are_about_different_things() {
        for (one, other, expected) in [
            (
                "The rent of the warehouse for the year 2024 is 900 euros a month.",
                "The rent of the warehouse for the year 2025 is 950 euros a month.",
                false,
            ),
            (
                "The rent of the warehouse from 1 January 2024 is 900 euros a month.",
                "The rent of the warehouse from 1 January 2025 is 950 euros a month.",
                false,
            ),
            (
                "The rent of the warehouse for the year 2024 is 900 euros a month.",
                "The rent of the warehouse for the year 2024 is 950 euros a month.",
                true,
            ),
            (
                "The deposit for 3 rooms of the warehouse is 2000 euros.",
                "The deposit for 4 rooms of the warehouse is 1900 euros.",
                true,
            ),
            (
                "The price of the crane under item 4 is 30 euros.",
                "The price of the crane under item 5 is 40 euros.",
                false,
            ),
            (
                "The lease of the warehouse ends on 31 March 2027.",
                "The lease of the warehouse ends on 30 March 2028.",
                true,
            ),
        ] {
            check(one, other, expected);
        }
    }

    fn check(one: &str, other: &str, expected: bool) {
        assert_eq!(Words::of(one).contradict(&Words::of(other)), expected, "{one} {other}");
        assert_eq!(Words::of(other).contradict(&Words::of(one)), expected, "{other} {one}");
    }

    #[test]
    fn sentences_about_different_things_do_not_contradict_each_other() {
        for (one, other) in [
            (
                "The notice period of the Alpha contract is 90 days.",
                "The notice period of the Beta contract is 30 days.",
            ),
            (
                "The rent of the Hamburg office is 4,000 euros a month.",
                "The rent of the Bremen office is 2,500 euros a month.",
            ),
            (
                "Employees in Berlin have 30 days of annual leave in a year.",
                "Employees in Munich have 28 days of annual leave in a year.",
            ),
            (
                "The limit for lead in drinking water is 5 micrograms.",
                "The limit for arsenic in drinking water is 10 micrograms.",
            ),
            (
                "The supplier pays a penalty of 500 euros for each late day.",
                "The customer pays a penalty of 100 euros for each late day.",
            ),
            (
                "Die Miete für das Büro in Hamburg beträgt 4.000 Euro im Monat.",
                "Die Miete für das Büro in Bremen beträgt 2.500 Euro im Monat.",
            ),
            ("The pump of line A runs at 40 bar.", "The pump of station Altona runs at 60 bar."),
        ] {
            check(one, other, false);
        }
        // What only one of the two says may be a word more about the same.
        check(
            "The notice period of the contract is 90 days.",
            "The notice period of the Beta contract is 30 days.",
            true,
        );
        check(
            "Die Frist für die ordentliche Kündigung des Mietvertrags durch den Mieter beträgt sechs Monate.",
            "Die Frist für die ordentliche Kündigung des Vertrags durch den Mieter beträgt drei Monate.",
            true,
        );
    }

    #[test]
    fn a_number_written_otherwise_is_no_other() {
        for (one, other) in [
            (
                "The tenant pays the deposit within fourteen days.",
                "The tenant pays the deposit within 14 days.",
            ),
            (
                "The warranty of the pump runs for 18 months.",
                "The warranty of the pump runs for eighteen months.",
            ),
            ("The fee for a late return is 21 euros.", "The fee for a late return is twenty-one euros."),
            ("The hotel on the hill has 300 rooms.", "The hotel on the hill has three hundred rooms."),
            (
                "The cap on the contract is 2,000,000 euros a year.",
                "The cap on the contract is two million euros a year.",
            ),
            ("The discount for early payment is 0.50 %.", "The discount for early payment is 0.5 %."),
            ("Die Kaution der Wohnung beträgt 1200 Euro.", "Die Kaution der Wohnung beträgt 1.200 Euro."),
            ("Die Kaution der Wohnung beträgt 70 Euro.", "Die Kaution der Wohnung beträgt siebzig Euro."),
        ] {
            check(one, other, false);
        }
        check("The discount for early payment is 0.5 %.", "The discount for early payment is 5 %.", true);
        check(
            "The fee for a late return is 20 euros.",
            "The fee for a late return is twenty-one euros.",
            true,
        );
    }
}
