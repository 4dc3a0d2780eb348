//! Texts as they are hashed: `sha256_canonical_text_v1`.
//! Owns: the canonical form of a text, of the two texts around a place, of a value with texts in it. Must not: fold case, or
//! drop a letter.

use alloc::string::String;
use countersign_record::canonical;
use countersign_record::digest::Digest;
use countersign_record::json::{Json, Object};
use icu_normalizer::ComposingNormalizer;

/// What this way of hashing is called in records.
pub const ALGORITHM: &str = "sha256_canonical_text_v1";

/// A text in its canonical form: composed (NFC), lines end on LF, blanks and tabs in a row are one space, none at the ends
/// of a line, nothing blank at the ends of the text.
#[must_use]
pub fn canonical(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut lines, mut is_spaced, mut is_after_cr) = (0_usize, false, false);
    for letter in ComposingNormalizer::new_nfc().normalize(text).chars() {
        let is_second_half = is_after_cr && letter == '\n';
        is_after_cr = letter == '\r';
        match letter {
            '\n' if is_second_half => {}
            '\n' | '\r' => (lines, is_spaced) = (lines + 1, false),
            ' ' | '\t' => is_spaced = true,
            letter => {
                if !out.is_empty() && lines > 0 {
                    out.extend(core::iter::repeat_n('\n', lines));
                } else if !out.is_empty() && is_spaced {
                    out.push(' ');
                }
                (lines, is_spaced) = (0, false);
                out.push(letter);
            }
        }
    }
    out
}

/// SHA-256 of the canonical form of a text.
#[must_use]
pub fn hash(text: &str) -> Digest {
    Digest::of(canonical(text).as_bytes())
}

/// The hash of the text around a place: of the list of both in canonical form, since one after the other would not say
/// where the place is.
#[must_use]
pub fn context_hash(before: &str, after: &str) -> Option<Digest> {
    let both = [before, after].into_iter().map(|text| Json::from(canonical(text))).collect();
    canonical::hash(&Json::Array(both)).ok()
}

/// The hash of a value with every text in it in canonical form, and its members in canonical order.
#[must_use]
pub fn value_hash(value: &Json) -> Option<Digest> {
    canonical::hash(&canonical_value(value)).ok()
}

fn canonical_value(value: &Json) -> Json {
    match value {
        Json::String(text) => Json::from(canonical(text)),
        Json::Array(items) => Json::Array(items.iter().map(canonical_value).collect()),
        Json::Object(members) => {
            let mut out = Object::new();
            for (name, member) in members.iter() {
                out.insert(name, canonical_value(member));
            }
            Json::Object(out)
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    #[test]
    fn texts_have_one_form() {
        let check = |text: &str, expected: &str| assert_eq!(canonical(text), expected, "{text:?}");
        check("", "");
        check(" \t\r\n ", "");
        check("a  b\t c", "a b c");
        check("  a \r\n\r b\r\n", "a\n\nb");
        check("e\u{301}", "é");
        check("a\u{a0}b", "a\u{a0}b");
        check("A b", "A b");
        assert_eq!(hash("a  b"), hash("a b "));
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash("abc").to_string(), abc);
    }

    #[test]
    fn where_a_place_is_counts() {
        assert_eq!(context_hash("a  b", "c"), context_hash("a b", "c"));
        assert_ne!(context_hash("a\nb", "c"), context_hash("a", "b\nc"));
    }

    proptest! {
        #[test]
        fn the_form_is_its_own(letters in prop::collection::vec(prop::sample::select(
            std::vec![' ', '\t', '\r', '\n', 'a', 'é', 'e', '\u{301}', '\u{327}']), 0..24),
        ) {
            let text: String = letters.into_iter().collect();
            let once = canonical(&text);
            prop_assert_eq!(&canonical(&once), &once);
            prop_assert_eq!(hash(&text), hash(&once));
            let windows = text.replace("\r\n", "\n").replace('\r', "\n").replace('\n', "\r\n");
            prop_assert_eq!(canonical(&windows), once);
        }
    }
}
