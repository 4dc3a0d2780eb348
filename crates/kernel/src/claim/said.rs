//! Whether a sentence of a source says what a claim says.
//! Owns: what may differ: a "the", whose something is, the number of a clause, the mark of a note. Must not: know what is true.
//!
//! This is no proof: it compares words and marks, one behind the other. Whatever else differs counts, be it a preposition, a sign, a
//! comma, the case of a short word or a word in between: another word for the same is not known, so a paraphrase is not said, nor is a
//! part of a sentence, for what it leaves out may be the condition of the rest.

use super::taken_back::takes_back;
use crate::relevance::counted;
use crate::sift::is_unit;
use crate::words::folded;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use icu_normalizer::ComposingNormalizer;

/// What may stand or not: no other article, for "a few" are not few, nor in other languages, where they say who does what to whom.
const ARTICLE: &str = "the";
/// Words before which it counts: the few are not few.
const COUNTED: [&str; 5] = ["few", "fewest", "least", "little", "most"];
/// Marks between words: what stands on one side of them says nothing on the other.
const MARKS: &str = ",;:()[]{}–—";
/// Signs that say something beside a word or alone.
const SIGNS: &str = "<>≤≥=≈~±+%‰°€$£¥§&/×^";
/// Words up to so many letters are told apart by their case too: MW and mW, May and may.
const SHORT_CHARS: usize = 3;

/// What a clause may be called before its number.
const CLAUSES: [&str; 10] =
    ["§", "§§", "art.", "article", "artikel", "clause", "section", "ziffer", "klausel", "absatz"];
/// Marks with which speech begins, and those with which it ends.
const SPEECH: [&str; 2] = ["“„«»\"", "”“»«\""];
/// Letters of a word behind which a small raised number is the mark of a note, and no power of a unit.
const NOTED_CHARS_MIN: usize = 4;
const RAISED: &str = "¹²³⁰⁴⁵⁶⁷⁸⁹";

/// A text as it is held against others: read once, compared often.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    text: String,
    words: Vec<Word>,
    /// The same without the number of the clause, and without the marks of notes, which a claim need not have.
    bare: Vec<Vec<Word>>,
    takes_back: Vec<String>,
    /// Whether all of it is somebody's speech.
    is_speech: bool,
}

#[derive(Clone, Debug)]
struct Word {
    key: String,
    /// The marks between it and the word before it.
    marks: String,
}

impl Reading {
    pub(super) fn of(text: &str) -> Self {
        let text = ComposingNormalizer::new_nfc().normalize(text.trim()).into_owned();
        let mut takes_back: Vec<String> = lowered(&text).filter(|word| takes_back(word)).collect();
        takes_back.extend(contracted(&text));
        takes_back.sort_unstable();
        let noted = without_notes(&text).filter(|bare| *bare != text);
        let forms = [without_label(&text), noted.as_deref(), noted.as_deref().and_then(without_label)];
        let bare = forms.into_iter().flatten().map(words).collect();
        Reading { words: words(&text), bare, takes_back, is_speech: is_speech(&text), text }
    }

    /// Whether this sentence of a source says what a claim says.
    pub(super) fn says(&self, claim: &Reading) -> bool {
        if self.text == claim.text {
            return true;
        }
        // What is asked is not said, and what somebody says is said by them.
        if self.text.ends_with('?') || claim.words.is_empty() || self.is_speech != claim.is_speech {
            return false;
        }
        let mut forms = core::iter::once(&self.words).chain(&self.bare);
        self.takes_back == claim.takes_back && forms.any(|own| is_same(own, &claim.words))
    }

    /// Whether a part of this sentence says what a claim says: what stands before or behind an "and". That is no support, for the
    /// rest may be its condition; but it is where to look.
    pub(super) fn says_in_part(&self, claim: &Reading) -> bool {
        let all = self.words.as_slice();
        let many = claim.words.len();
        let is_cut = |at: usize| {
            let is_join = |at: Option<usize>| {
                at.and_then(|at| all.get(at)).is_some_and(|word| CUTS.contains(&word.key.as_str()))
            };
            let is_parted = all.get(at).is_some_and(|word| word.marks.contains(';'));
            at == 0 || at == all.len() || is_parted || is_join(Some(at)) || is_join(at.checked_sub(1))
        };
        let Some(last) = all.len().checked_sub(many).filter(|_| many > 0) else { return false };
        (0..=last)
            .filter(|at| is_cut(*at) && is_cut(*at + many))
            .filter_map(|at| all.get(at..at + many))
            .any(|part| is_same(part, &claim.words))
    }
}

/// Words at which a sentence may be cut into parts.
const CUTS: [&str; 2] = ["and", "und"];

/// Whether two stretches have the same words and marks; what parts them from what stands before them is no part of either.
fn is_same(one: &[Word], other: &[Word]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).all(|(one, other)| one.key == other.key)
        && one.iter().zip(other).skip(1).all(|(one, other)| one.marks == other.marks)
}

fn lowered(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase)
}

/// A "not" for each word that ends with one.
fn contracted(text: &str) -> impl Iterator<Item = String> {
    let words =
        text.split_whitespace().map(|word| word.trim_end_matches(|letter: char| !letter.is_alphanumeric()));
    let own =
        words.filter(|word| word.to_lowercase().ends_with("n't") || word.to_lowercase().ends_with("n’t"));
    own.map(|_| "not".to_string())
}

/// The words of a text in one form; what is somebody's stands behind it.
fn words(text: &str) -> Vec<Word> {
    let raw: Vec<&str> = text.split_whitespace().collect();
    let mut all: Vec<Word> = Vec::new();
    let (mut owner, mut marks): (Option<Word>, String) = (None, String::new());
    for (at, word) in raw.iter().enumerate() {
        let core = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        let (before, behind) = around(word, core);
        marks.extend(before.chars().filter(|letter| MARKS.contains(*letter)));
        let next = raw.get(at + 1).copied().unwrap_or_default();
        if !is_article(core, next) {
            let key = key(word, core, at == 0);
            let mut stands = |key: String| Word { key, marks: core::mem::take(&mut marks) };
            let plain = |key: &str| Word { key: key.to_string(), marks: String::new() };
            match (owner.take(), owned(core)) {
                (Some(before), _) => all.extend([stands(key), plain("of"), before]),
                (None, Some(whose)) if !next.is_empty() => {
                    owner = Some(plain(&self::key(whose, whose, at == 0)));
                }
                (None, _) if key.is_empty() => {}
                (None, _) => all.push(stands(key)),
            }
        }
        marks.extend(behind.chars().filter(|letter| MARKS.contains(*letter)));
    }
    all
}

/// What stands before and behind the letters of a word. One without letters is all before.
fn around<'w>(word: &'w str, core: &str) -> (&'w str, &'w str) {
    word.split_once(core).filter(|_| !core.is_empty()).unwrap_or((word, ""))
}

fn is_article(word: &str, next: &str) -> bool {
    let next = next.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
    word.to_lowercase() == ARTICLE && !COUNTED.contains(&next.as_str())
}

/// A text without the number of the clause that it begins with: 7.1., (b), § 5, "Clause 7:".
fn without_label(text: &str) -> Option<&str> {
    let (first, behind) = text.split_once(char::is_whitespace)?;
    let behind = behind.trim_start();
    let next = behind.split(char::is_whitespace).next().unwrap_or_default();
    if CLAUSES.contains(&first.to_lowercase().as_str()) {
        let rest = behind.strip_prefix(next)?.trim_start();
        let is_number = next.starts_with(|letter: char| letter.is_ascii_digit());
        let begins = next.ends_with([':', '.']) || first.starts_with('§');
        return (is_number && begins && rest.starts_with(char::is_uppercase)).then_some(rest);
    }
    is_label(first, next).then_some(behind)
}

/// Whether a word is the number of a clause or an item: 7.1., A-1, (b) or (iv). 7.1 may also be an amount of something.
fn is_label(word: &str, next: &str) -> bool {
    let is_plain =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '(' | ')' | '§');
    let letters = word.chars().filter(|letter| letter.is_alphabetic()).count();
    let inside = word.strip_prefix('(').and_then(|word| word.strip_suffix(')'));
    let is_roman = inside.is_some_and(|word| word.chars().all(|letter| "ivx".contains(letter)));
    let has_mark =
        word.contains(['.', ')', '-']) && word.contains(|letter: char| letter.is_ascii_alphanumeric());
    let is_amount = word.parse::<f64>().is_ok() && !word.ends_with('.');
    let begins = next.starts_with(char::is_uppercase) && !is_unit(next);
    word.chars().all(is_plain) && (letters <= 1 || is_roman) && has_mark && (!is_amount || begins)
}

/// A text without the marks of notes: `[^2]`, `[3]` where a part of the sentence ends, a small raised number behind a word.
pub(super) fn without_notes(text: &str) -> Option<String> {
    if !text.contains(|letter| letter == '[' || RAISED.contains(letter)) {
        return None;
    }
    let (mut bare, mut rest) = (String::new(), text);
    while let Some(letter) = rest.chars().next() {
        let behind = rest.get(letter.len_utf8()..).unwrap_or_default();
        if let Some(behind) = note(rest) {
            bare.truncate(bare.trim_end().len());
            rest = behind;
            continue;
        }
        if !RAISED.contains(letter) || !takes_note(&bare) {
            bare.push(letter);
        }
        rest = behind;
    }
    Some(bare)
}

/// What is behind the mark of a note in square brackets that a text begins with.
fn note(text: &str) -> Option<&str> {
    let (inside, behind) = text.strip_prefix('[')?.split_once(']')?;
    let is_number =
        !inside.is_empty() && inside.len() <= 3 && inside.bytes().all(|byte| byte.is_ascii_digit());
    let is_end = behind.is_empty() || behind.starts_with(['.', ',', ';', ':', '!', '?']);
    (inside.starts_with('^') || (is_number && is_end)).then_some(behind)
}

/// Whether a small raised number behind a text is the mark of a note.
fn takes_note(before: &str) -> bool {
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let letters = word.chars().rev().take_while(|letter| letter.is_alphabetic()).count();
    word.ends_with(['.', '!', '?', '”', '"', ')']) || (letters >= NOTED_CHARS_MIN && !is_unit(word))
}

/// Whether all of a text stands in quotation marks, or what is left of it where speech goes on.
fn is_speech(text: &str) -> bool {
    let [begins, ends] = SPEECH;
    let text = without_label(text).unwrap_or(text);
    let Some(inside) = text.strip_prefix(|letter| begins.contains(letter)) else { return false };
    let behind = inside.split_once(|letter| ends.contains(letter)).map_or("", |(_, behind)| behind);
    !behind.contains(char::is_alphanumeric)
}

/// Whose something is that stands behind.
fn owned(word: &str) -> Option<&str> {
    word.strip_suffix("'s").or_else(|| word.strip_suffix("’s"))
}

/// What a word is known by: its forms are one, its signs are a part of it.
fn key(word: &str, core: &str, is_first: bool) -> String {
    let (before, behind) = around(word, core);
    let is_number = core.starts_with(|letter: char| letter.is_ascii_digit());
    // An asterisk beside letters only marks them.
    if word == "*" {
        return word.to_string();
    }
    let is_sign = |letter: &char| SIGNS.contains(*letter) || (is_number && matches!(letter, '-' | '−' | '–'));
    let mut signs: String = before.chars().filter(is_sign).collect();
    signs.extend(behind.chars().filter(|letter| SIGNS.contains(*letter)));
    // Who keeps accounts writes what is below zero in brackets.
    if is_number && before.ends_with('(') && behind.starts_with(')') {
        signs.push('-');
    }
    // A sentence begins with a capital, and not with two.
    let is_plain = is_first && (core.chars().count() < 2 || core.contains(char::is_lowercase));
    let is_short = core.chars().count() <= SHORT_CHARS && !is_plain;
    // Numbers are one whether in digits or in words; of other words the ending counts too: what ended does not end.
    let stems = counted(core).join(" ");
    let letters = match stems.contains(|letter: char| letter.is_ascii_digit()) {
        // Where a comma may part thousands or begin a fraction, only the same is the same.
        true if core.contains([',', '.']) => core.to_string(),
        true => stems,
        false if is_short && core.contains(char::is_uppercase) => core.to_string(),
        false => folded(core).replace('’', "'"),
    };
    let inner: String = core.chars().filter(|letter| SIGNS.contains(*letter)).collect();
    format!("{letters}{inner}{signs}")
}

#[cfg(test)]
#[path = "said_tests.rs"]
mod tests;
