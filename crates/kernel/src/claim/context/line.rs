//! What kind of line a piece of a text stands on, and whether it goes on in what follows.
//! Owns: telling items, titles, fields and cells apart, and what ends a sentence. Must not: keep what was read before.

use super::super::cite;
use super::super::taken_back::{is_void, takes_back};
use crate::sentences::begins_something;

/// Words of a title, at most.
const TITLE_WORDS_MAX: usize = 6;
/// Words of what names a field, at most.
const FIELD_WORDS_MAX: usize = 3;
/// Letters of a word that need no capital in a title.
const SMALL_CHARS_MAX: usize = 3;
/// Words that a sentence has and a title has not: a line with one of them is a sentence that is not over.
#[rustfmt::skip] // words in rows
const SENTENCE: &[&str] = &[
    "agreed", "agrees", "are", "assume", "assumes", "can", "could", "darf", "dass", "daß", "dat", "debe", "did", "do", "does", "doit", "dürfen", "er",
    "es", "est", "had", "has", "hat", "have", "he", "heißt", "i", "is", "ist", "it", "kan", "kann", "können", "may", "meint", "might", "moet", "muss",
    "must", "peut", "puede", "que", "reported", "reports", "said", "sagt", "sagte", "say", "says", "shall", "she", "should", "sie", "sind", "sollen",
    "soll", "sont", "states", "stated", "suppose", "that", "they", "told", "was", "we", "were", "will", "wir", "wird", "would", "wrote",
];
/// Words of a greeting, which have no capital.
const GREETING: [&str; 3] = ["geehrte", "geehrter", "geehrten"];

/// The mark that an item begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    indent: usize,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bullet(char),
    /// How many numbers: two of 4.2.
    Digits(usize),
    Letter,
    Roman,
}

impl Mark {
    /// The mark of a line, if it begins an item. `last` is that of the item before it: behind (h) comes the letter (i).
    pub(super) fn of(line: &str, last: Option<Mark>) -> Option<Self> {
        let bare = line.trim_start();
        let indent = line.len() - bare.len();
        let first = bare.chars().next().filter(|_| begins_something(bare))?;
        if matches!(first, '-' | '*' | '+' | '•') && bare.chars().nth(1) == Some(' ') {
            return Some(Mark { indent, kind: Kind::Bullet(first) });
        }
        let head = bare.trim_start_matches('(');
        let word = head.split([')', ' ', '\t']).next().unwrap_or_default();
        if word.starts_with(|letter: char| letter.is_ascii_digit()) {
            let parts = word.split('.').filter(|part| !part.is_empty()).count();
            return Some(Mark { indent, kind: Kind::Digits(parts) });
        }
        let is_roman = !word.is_empty() && word.chars().all(|letter| "ivxIVX".contains(letter));
        let is_letter = last.is_some_and(|last| last.kind == Kind::Letter) && word.len() == 1;
        match first {
            '(' | 'a'..='z' | 'A'..='Z' => {
                let kind = if is_roman && !is_letter { Kind::Roman } else { Kind::Letter };
                Some(Mark { indent, kind })
            }
            _ => None,
        }
    }

    /// Whether what it marks can be no part of an item with another mark.
    fn is_above(self, other: Mark) -> bool {
        let is_shorter =
            matches!((self.kind, other.kind), (Kind::Digits(own), Kind::Digits(theirs)) if own < theirs);
        self.indent < other.indent || is_shorter
    }
}

/// What follows a piece of a text.
pub(super) struct Next<'t> {
    /// Its first line.
    line: &'t str,
    mark: Option<Mark>,
    /// Whether a line is empty between the two.
    is_apart: bool,
}

impl<'t> Next<'t> {
    /// What follows, `behind` the piece; nothing does where a heading, a table, a rule or code comes next.
    pub(super) fn of(behind: &'t str, last: Option<Mark>) -> Option<Self> {
        let next = behind.trim_start();
        let gap = behind.get(..behind.len() - next.len()).unwrap_or_default();
        let start = gap.rfind('\n')? + 1;
        let line = behind.get(start..)?.split('\n').next().unwrap_or_default();
        let is_other = ["#", "|", "```", "~~~", "<!--"].iter().any(|mark| next.starts_with(mark));
        let says = line.contains(char::is_alphanumeric);
        (says && !is_other).then(|| Next {
            line,
            mark: Mark::of(line, last),
            is_apart: gap.matches('\n').count() > 1,
        })
    }

    /// Whether it is a line of the same paragraph.
    pub(super) fn is_line(&self) -> bool {
        !self.is_apart && self.mark.is_none()
    }

    /// Whether it begins as no sentence does, or with what limits the line before it.
    fn goes_on(&self) -> bool {
        let said = unmarked(self.line);
        let first = said.split(|letter: char| !letter.is_alphanumeric()).find(|word| !word.is_empty());
        let first = first.unwrap_or_default();
        first.starts_with(char::is_lowercase) || takes_back(&first.to_lowercase())
    }
}

/// How a piece goes on in what follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goes {
    /// It does not: it is whole.
    Nowhere,
    /// It is not whole, and nothing says that what follows belongs to it.
    Off,
    /// It leads in to what follows.
    On,
}

/// How a piece goes on. `marks` are those of the items that it stands in, the innermost last; none where it stands in no item.
pub(super) fn goes(said: &str, marks: &[Mark], next: Option<&Next<'_>>) -> Goes {
    if leads(said) {
        return Goes::On;
    }
    let Some(next) = next else { return Goes::Nowhere };
    if is_ended(said) || is_cell(said) || is_field(said) {
        return Goes::Nowhere;
    }
    let is_title = is_title(unmarked(said));
    match (marks.last(), next.mark) {
        // One item of a list does not lead in to the next one, nor to one that it stands in.
        (Some(own), Some(other)) if marks.contains(&other) || other.is_above(*own) => Goes::Nowhere,
        (Some(_), None) if next.is_apart && !next.goes_on() => Goes::Nowhere,
        _ if is_title && (!next.goes_on() || said.ends_with(',')) => Goes::Off,
        _ => Goes::On,
    }
}

/// Whether a line announces what follows, whatever that is.
pub(super) fn leads(said: &str) -> bool {
    let mut said = said;
    loop {
        said = said.trim_end_matches(['*', '_', ' ']);
        match said.strip_suffix(']').and_then(|inside| inside.rsplit_once('[')) {
            Some((before, inside)) if cite(inside).is_some() || is_note(inside) => said = before,
            _ => return said.ends_with([':', '：']),
        }
    }
}

/// Whether a piece ends with a mark that ends a sentence, quotation marks, brackets, citations and notes aside.
fn is_ended(said: &str) -> bool {
    let mut said = said;
    loop {
        said = said.trim_end_matches(|letter: char| {
            letter.is_whitespace() || "\"'“”’«»)*_~".contains(letter) || "¹²³⁰⁴⁵⁶⁷⁸⁹".contains(letter)
        });
        let cited = said.strip_suffix(']').and_then(|inside| inside.rsplit_once('['));
        match cited {
            Some((_, inside)) if cite(inside).is_some() => return true,
            Some((before, inside)) if is_note(inside) => said = before,
            _ => return said.ends_with(['.', '!', '?', '…', '。', '！', '？', '>', '।']),
        }
    }
}

/// Whether what stands in square brackets is the number of a note.
fn is_note(inside: &str) -> bool {
    inside.starts_with('^')
        || (!inside.is_empty() && inside.len() <= 3 && inside.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a line has columns.
fn is_cell(said: &str) -> bool {
    said.contains('\t') || unmarked(said).contains("  ") || said.starts_with('|')
}

/// Whether a line is a field with what stands in it: "Rent: 900 euros".
fn is_field(said: &str) -> bool {
    unmarked(said).split_once(": ").is_some_and(|(name, _)| {
        name.split_whitespace().count() <= FIELD_WORDS_MAX && !says_something(name) && !is_void(name)
    })
}

/// Whether a line looks like a title: all its words have capitals, or it is short and no sentence has words like it.
fn is_title(said: &str) -> bool {
    let said = said.trim_matches(['*', '_']);
    let words = || said.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let has_capital = |word: &str| {
        !word.starts_with(char::is_lowercase)
            || word.chars().count() <= SMALL_CHARS_MAX
            || GREETING.contains(&word)
    };
    let is_short = words().count() <= TITLE_WORDS_MAX && !said.ends_with([',', ';', '–', '—', '-']);
    (is_short || words().all(has_capital))
        && words().next().is_some_and(|first| !first.starts_with(char::is_lowercase))
        && !says_something(said)
        && !is_void(said)
}

/// Whether a line that is not over says something of all that follows: "Anna said", "It is not the case that". Another one was only
/// broken too early.
pub(super) fn is_of_all(said: &str) -> bool {
    let mut words = said.split(|letter: char| !letter.is_alphanumeric()).map(str::to_lowercase);
    let last = words.clone().rfind(|word| !word.is_empty()).unwrap_or_default();
    SENTENCE.contains(&last.as_str()) || words.any(|word| takes_back(&word))
}

/// Whether there is a word that a sentence has.
fn says_something(said: &str) -> bool {
    let mut words = said.split(|letter: char| !letter.is_alphanumeric()).map(str::to_lowercase);
    words.any(|word| SENTENCE.contains(&word.as_str()) || takes_back(&word))
}

/// A line without the mark of its item.
pub(super) fn unmarked(line: &str) -> &str {
    let bare = line.trim();
    match Mark::of(bare, None) {
        Some(_) => bare.split_once([' ', '\t']).map_or("", |(_, behind)| behind.trim_start()),
        None => bare,
    }
}
