//! Whether a sentence of a source says what a claim says.
//! Owns: what may differ: English articles, which of two stretches comes first, whose something is, and a part behind or before an
//! "and". Must not: know what is true.
//!
//! This is no proof: it compares words, one behind the other. Whatever else differs counts, be it a preposition, a sign, the case of a
//! short word or a word in between: another word for the same is not known, so a paraphrase is not said.

use crate::relevance::counted;
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
/// English articles. Those of other languages say who does what to whom.
const ARTICLES: [&str; 3] = ["a", "an", "the"];
/// Words that join two sentences to one.
const JOINS: [&str; 2] = ["and", "und"];
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
    /// Whether a sentence of its own may begin here, and one end before.
    is_joint: bool,
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
        let (own, all) = (claim.words.as_slice(), self.words.as_slice());
        let Some(last) = all.len().checked_sub(own.len()) else { return false };
        let is_joint =
            |at: usize| at == 0 || at == all.len() || all.get(at).is_some_and(|word| word.is_joint);
        let cuts = (0..=last).filter(|at| is_joint(*at) && is_joint(*at + own.len()));
        cuts.filter_map(|at| all.get(at..at + own.len()))
            .any(|part| is_same(part, own) || is_turned(part, own))
    }
}

fn is_same(one: &[Word], other: &[Word]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.key == other.key)
}

/// Whether one is the other with its two stretches in the other order.
fn is_turned(one: &[Word], other: &[Word]) -> bool {
    let turns = STRETCH_MIN..one.len().saturating_sub(STRETCH_MIN - 1);
    turns.into_iter().any(|at| {
        let ((head, tail), (first, then)) = (one.split_at(at), other.split_at(other.len() - at));
        is_same(tail, first) && is_same(head, then)
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

/// The words of a text in one form, without articles; what is somebody's stands behind it.
fn words(text: &str) -> Vec<Word> {
    let raw: Vec<&str> = text.split_whitespace().collect();
    let mut all: Vec<Word> = Vec::new();
    let (mut owner, mut is_joint): (Option<Word>, bool) = (None, false);
    for (at, word) in raw.iter().enumerate() {
        let core = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        let lower = core.to_lowercase();
        let is_join = JOINS.contains(&lower.as_str());
        let next = raw.get(at + 1).copied().unwrap_or_default();
        if !is_article(&lower, next) {
            let key = key(word, core, at == 0);
            let stands = |key: String| Word { key, is_joint: is_joint || is_join };
            match (owner.take(), owned(core)) {
                (Some(before), _) => {
                    all.extend([stands(key), Word { key: "of".to_string(), is_joint: false }, before])
                }
                (None, Some(whose)) if !next.is_empty() => {
                    owner = Some(Word { key: self::key(whose, whose, at == 0), is_joint: false });
                }
                (None, _) if key.is_empty() => {}
                (None, _) => all.push(stands(key)),
            }
            is_joint = false;
        }
        is_joint |= is_join || word.ends_with(';') || (at == 0 && is_label(word));
    }
    all
}

fn is_article(word: &str, next: &str) -> bool {
    // "an" is another word in German.
    let is_before_vowel = || next.to_lowercase().starts_with(['a', 'e', 'i', 'o', 'u', 'h', '8']);
    ARTICLES.contains(&word) && (word != "an" || is_before_vowel())
}

/// Whether a word is the number of a clause or an item: 7.1, A-1. or (b).
fn is_label(word: &str) -> bool {
    let is_plain =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '(' | ')' | '§');
    let letters = word.chars().filter(|letter| letter.is_alphabetic()).count();
    let has_mark =
        word.contains(['.', ')', '-']) && word.contains(|letter: char| letter.is_ascii_alphanumeric());
    word.chars().all(is_plain) && letters <= 1 && has_mark
}

/// Whose something is that stands behind.
fn owned(word: &str) -> Option<&str> {
    word.strip_suffix("'s").or_else(|| word.strip_suffix("’s"))
}

/// What a word is known by: its forms are one, its signs are a part of it.
fn key(word: &str, core: &str, is_first: bool) -> String {
    let (before, behind) = word.split_once(core).filter(|_| !core.is_empty()).unwrap_or((word, ""));
    let is_number = core.starts_with(|letter: char| letter.is_ascii_digit());
    let is_sign = |letter: &char| SIGNS.contains(*letter) || (is_number && matches!(letter, '-' | '−' | '–'));
    let mut signs: String = before.chars().filter(is_sign).collect();
    signs.extend(behind.chars().filter(|letter| SIGNS.contains(*letter)));
    let is_short = core.chars().count() <= SHORT_CHARS && !is_first;
    // Numbers are one whether in digits or in words; of other words the ending counts too: what ended does not end.
    let stems = counted(core).join(" ");
    let letters = match stems.contains(|letter: char| letter.is_ascii_digit()) {
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
