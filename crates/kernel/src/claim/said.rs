//! Whether a sentence of a source says what a claim says.
//! Owns: what may differ: a "the", which of two stretches comes first, whose something is, the number of a clause. Must not: know what is
//! true.
//!
//! This is no proof: it compares words and marks, one behind the other. Whatever else differs counts, be it a preposition, a sign, a
//! comma, the case of a short word or a word in between: another word for the same is not known, so a paraphrase is not said, nor is a
//! part of a sentence, for what it leaves out may be the condition of the rest.

use crate::relevance::counted;
use crate::sift::is_unit;
use crate::words::folded;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Words that deny, limit, doubt or only report what stands beside them: a claim has as many of each as its source, so that none is
/// lost with what a claim leaves out.
#[rustfmt::skip] // words in rows
const TAKES_BACK: &[&str] = &[
    "alleged", "allegedly", "alleges", "allein", "although", "angeblich", "apart", "argues", "asserts", "assuming", "aucun", "ausgenommen", "außer",
    "barely", "behauptet", "believes", "bestreitet", "bestritten", "but", "cannot", "claimed", "claims", "contends", "denied", "denies", "deny", "doubt",
    "doubts", "either", "except", "excluding", "excluded", "exclusive", "failed", "fails", "falls", "false", "falsch", "geen", "hardly", "however", "if", "jamais",
    "kaum", "kein", "keine", "keinem", "keinen", "keiner", "keinerlei", "keines", "lehnt", "mais", "mits", "ne", "nein", "neither", "never", "ni",
    "nicht", "nichts", "nie", "niemals", "niemand", "niet", "no", "nobody", "noch", "non", "none", "nooit", "nor", "not", "nothing", "nunca", "nur", "obwohl", "oder", "ohne",
    "only", "or", "otherwise", "ou", "pas", "provided", "refused", "refuses", "reject", "rejected", "rejects", "sans", "sauf", "save", "scarcely", "seldom",
    "si", "sin", "sofern", "solange", "solely", "sondern", "subject", "supposedly", "tenzij", "though", "unless", "unlikely", "until", "unwahr", "unter", "untrue", "verweigert",
    "vorbehaltlich", "weder", "wenn", "when", "whenever", "whether", "while", "without", "wrong", "zonder",
];
/// What may stand or not: no other article, for "a few" are not few, nor in other languages, where they say who does what to whom.
const ARTICLE: &str = "the";
/// Words before which it counts: the few are not few.
const COUNTED: [&str; 5] = ["few", "fewest", "least", "little", "most"];
/// Words that join two sentences to one, in which a stretch belongs to one of them.
const JOINS: [&str; 10] = ["and", "e", "en", "et", "oder", "or", "ou", "u", "und", "y"];
/// Marks between words: what stands on one side of them says nothing on the other.
const MARKS: &str = ",;:()[]{}–—";
/// Signs that say something beside a word or alone.
const SIGNS: &str = "<>≤≥=≈~±+%‰°€$£¥§&/×^";
/// Words up to so many letters are told apart by their case too: MW and mW, May and may.
const SHORT_CHARS: usize = 3;
/// Words that a stretch has at least which stands elsewhere.
const STRETCH_MIN: usize = 2;

/// A text as it is held against others: read once, compared often.
#[derive(Clone, Debug)]
pub(super) struct Reading<'t> {
    text: &'t str,
    words: Vec<Word>,
    takes_back: Vec<String>,
}

#[derive(Clone, Debug)]
struct Word {
    key: String,
    /// The marks between it and the word before it.
    marks: String,
    /// Whether it is the number of the clause that follows, which a claim need not have.
    is_label: bool,
}

impl<'t> Reading<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let mut takes_back: Vec<String> =
            lowered(text).filter(|word| TAKES_BACK.contains(&word.as_str())).collect();
        takes_back.extend(contracted(text));
        takes_back.sort_unstable();
        Reading { text: text.trim(), words: words(text), takes_back }
    }

    /// Whether this sentence of a source says what a claim says.
    pub(super) fn says(&self, claim: &Reading<'_>) -> bool {
        if self.text == claim.text {
            return true;
        }
        // What is asked is not said.
        if self.text.ends_with('?') || claim.words.is_empty() || self.takes_back != claim.takes_back {
            return false;
        }
        let all = self.words.as_slice();
        let behind = all.split_first().filter(|(first, _)| first.is_label).map(|(_, behind)| behind);
        [Some(all), behind]
            .into_iter()
            .flatten()
            .any(|own| is_same(own, &claim.words) || is_turned(own, &claim.words))
    }

    /// Whether a part of this sentence says what a claim says: what stands before or behind an "and". That is no support, for the
    /// rest may be its condition; but it is where to look.
    pub(super) fn says_in_part(&self, claim: &Reading<'_>) -> bool {
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

/// Whether one is the other with its two stretches in the other order. A sentence of several parts is none, for a stretch would go
/// from one to another: a mark stands between the two stretches at most.
fn is_turned(one: &[Word], other: &[Word]) -> bool {
    let is_of_parts = |words: &[Word], seam: usize| {
        words.iter().enumerate().skip(1).any(|(at, word)| at != seam && !word.marks.is_empty())
    };
    if one.len() != other.len() || one.iter().any(|word| JOINS.contains(&word.key.as_str())) {
        return false;
    }
    let turns = STRETCH_MIN..one.len().saturating_sub(STRETCH_MIN - 1);
    turns.into_iter().any(|at| {
        let seam = other.len() - at;
        let ((head, tail), (first, then)) = (one.split_at(at), other.split_at(seam));
        is_same(tail, first) && is_same(head, then) && !is_of_parts(one, at) && !is_of_parts(other, seam)
    })
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
            let (key, is_label) = (key(word, core, at == 0), at == 0 && is_label(word, next));
            let mut stands = |key: String| Word { key, marks: core::mem::take(&mut marks), is_label };
            let plain = |key: &str| Word { key: key.to_string(), marks: String::new(), is_label: false };
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

/// Whether a word is the number of a clause or an item: 7.1., A-1 or (b). 7.1 may also be an amount of something.
fn is_label(word: &str, next: &str) -> bool {
    let is_plain =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '(' | ')' | '§');
    let letters = word.chars().filter(|letter| letter.is_alphabetic()).count();
    let has_mark =
        word.contains(['.', ')', '-']) && word.contains(|letter: char| letter.is_ascii_alphanumeric());
    let is_amount = word.parse::<f64>().is_ok() && !word.ends_with('.');
    let begins = next.starts_with(char::is_uppercase) && !is_unit(next);
    word.chars().all(is_plain) && letters <= 1 && has_mark && (!is_amount || begins)
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
    let is_short = core.chars().count() <= SHORT_CHARS && !is_first;
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
