//! Bytes as text, as they come.
//! Owns: what is held back. Must not: give out a part of a character.

/// Bytes that came and are no whole character yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Characters {
    held: Vec<u8>,
}

impl Characters {
    /// Takes more bytes and gives the text that is whole now. What can't become a character is U+FFFD.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.held.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.held) {
            Ok(text) => text.len(),
            Err(_) => self.held.len() - unfinished(&self.held),
        };
        let rest = self.held.split_off(whole);
        let text = String::from_utf8_lossy(&self.held).into_owned();
        self.held = rest;
        text
    }

    /// What is left at the end.
    #[must_use]
    pub fn end(self) -> String {
        String::from_utf8_lossy(&self.held).into_owned()
    }
}

/// How many bytes at the end may be the beginning of a character.
fn unfinished(bytes: &[u8]) -> usize {
    let last = bytes.utf8_chunks().last();
    let broken = last.map_or(&[][..], |chunk| chunk.invalid());
    match std::str::from_utf8(broken) {
        // No length: more bytes could still make it whole.
        Err(error) if error.error_len().is_none() => broken.len(),
        Ok(_) | Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_character_comes_whole() {
        let mut characters = Characters::default();
        let pieces: Vec<String> = "a§€😀".bytes().map(|byte| characters.push(&[byte])).collect();
        assert_eq!(pieces, ["a", "", "§", "", "", "€", "", "", "", "😀"]);
        assert_eq!(characters.end(), "");
    }

    #[test]
    fn what_is_none_is_told_and_what_is_cut_off_too() {
        let mut characters = Characters::default();
        assert_eq!(characters.push(b"a\xFFb\xE2\x82"), "a\u{FFFD}b");
        assert_eq!(characters.push(b"c"), "\u{FFFD}c");
        assert_eq!(characters.push(b"\xF0\x9F"), "");
        assert_eq!(characters.end(), "\u{FFFD}");
    }

    proptest! {
        #[test]
        fn pieces_make_the_same_text(bytes in prop::collection::vec(any::<u8>(), 0..64), cut in 1usize..8) {
            let mut characters = Characters::default();
            let mut text: String = bytes.chunks(cut).map(|piece| characters.push(piece)).collect();
            prop_assert!(characters.held.len() < 4);
            text.push_str(&characters.end());
            prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
        }
    }
}
