//! Cuts a turn into pieces that can be compared.
//! Owns: where a piece begins and ends. Must not: lose a word, or cut a character.

/// Bytes of a piece at most, and how many of them it shares with the one before, so that what stands across a cut is
/// whole in one of the two.
pub const BYTES_MAX: usize = 1_200;
const OVERLAP_BYTES: usize = 120;
/// How far back from the end of a piece white space is looked for.
const LOOK_BACK_BYTES: usize = 200;

/// The pieces of a text, in order; none of a blank one.
pub fn chunks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = (!text.trim().is_empty()).then_some(text.trim());
    core::iter::from_fn(move || {
        let text = rest?;
        if text.len() <= BYTES_MAX {
            rest = None;
            return Some(text);
        }
        let end = end_of(text);
        let next = boundary(text, end - OVERLAP_BYTES);
        rest = text.get(next..);
        text.get(..end)
    })
}

/// Where the first piece ends: after white space if there is some near, else between two characters.
fn end_of(text: &str) -> usize {
    let hard = boundary(text, BYTES_MAX);
    let soft = boundary(text, BYTES_MAX - LOOK_BACK_BYTES);
    let near = text.get(soft..hard).unwrap_or_default();
    match near.char_indices().rev().find(|(_, letter)| letter.is_whitespace()) {
        Some((at, letter)) => soft + at + letter.len_utf8(),
        None => hard,
    }
}

/// The last place between two characters that is not behind `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;
    use std::string::String;

    #[test]
    fn a_short_text_is_one_piece_and_a_blank_one_none() {
        assert_eq!(chunks("  a b\n").collect::<Vec<_>>(), ["a b"]);
        assert_eq!(chunks(" \n\t").count(), 0);
    }

    proptest! {
        #[test]
        fn every_piece_is_short_and_every_byte_stands_in_one(text in "(a|\u{e9}|\u{65e5}|\u{1f600}| |word ){0,2000}") {
            let text = text.trim();
            let mut whole = String::new();
            let mut covered = 0;
            for piece in chunks(text) {
                prop_assert!(!piece.is_empty() && piece.len() <= BYTES_MAX);
                let start = piece.as_ptr() as usize - text.as_ptr() as usize;
                prop_assert!(start <= covered && start + piece.len() > covered);
                whole.push_str(&piece[covered - start..]);
                covered = start + piece.len();
            }
            prop_assert_eq!(whole, text);
        }
    }
}
