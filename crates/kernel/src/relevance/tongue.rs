//! The language of a question or a sentence.
//! Owns: telling German from English by their small words. Must not: know any other word.

use crate::words::spaced;

/// A language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tongue {
    /// English.
    English,
    /// German.
    German,
    /// Another, or too short to tell.
    Other,
}

/// Words that hardly an English text is without, and German ones do not have.
#[rustfmt::skip] // words in rows
const ENGLISH: [&str; 40] = [
    "the", "is", "are", "of", "and", "what", "who", "when", "where", "which", "why", "how", "does", "do", "did", "a", "an", "to",
    "for", "by", "with", "from", "it", "its", "that", "this", "be", "has", "have", "can", "may", "must", "shall", "should", "we", "you",
    "at", "on", "or", "not",
];
/// Words that hardly a German text is without, and English ones do not have; as `spaced` gives them.
#[rustfmt::skip] // words in rows
const GERMAN: [&str; 54] = [
    "der", "das", "und", "ist", "sind", "wer", "wann", "wie", "wo", "warum", "welche", "welcher", "welches", "welchen", "ein", "eine",
    "einen", "einem", "einer", "nicht", "wird", "werden", "wurde", "wurden", "für", "von", "vom", "mit", "auf", "aus", "bei", "beim", "zum", "zur",
    "nach", "über", "durch", "im", "dem", "den", "des", "sich", "darf", "dürfen", "muss", "müssen", "kann", "können", "ich", "wir",
    "man", "gibt", "hat", "haben",
];

impl Tongue {
    /// By the small words: the language that has more of them.
    pub(super) fn of(text: &str) -> Self {
        let words = spaced(text);
        let count = |small: &[&str]| words.split(' ').filter(|word| small.contains(word)).count();
        match (count(&ENGLISH), count(&GERMAN)) {
            (english, german) if german > english => Tongue::German,
            (0, _) => Tongue::Other,
            _ => Tongue::English,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages() {
        for (text, expected) in [
            ("Who owns the hat?", Tongue::English),
            ("Wie hoch ist die Gebühr?", Tongue::German),
            ("Was kostet der Ausweis?", Tongue::German),
            ("What was it?", Tongue::English),
            ("pump seal price", Tongue::Other),
            ("", Tongue::Other),
        ] {
            assert_eq!(Tongue::of(text), expected, "{text}");
        }
    }
}
