//! Looking through the letters of a text eight at a time: every text of every row is asked several times.
//! Owns: finding letters. Must not: know what they mean.

const ONES: u64 = u64::MAX / 255;
const HIGH: u64 = ONES << 7;

/// Where the first letter stands that one of these is; `HIGH` bits say for each of eight whether it is.
#[inline]
fn first(bytes: &[u8], which: impl Fn(u64) -> u64) -> Option<usize> {
    let (words, rest) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let found = which(u64::from_le_bytes(*word));
        if found != 0 {
            return Some(at * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    // What is left is filled up; what it is filled up with is not looked at.
    let mut word = [0; 8];
    word.get_mut(..rest.len())?.copy_from_slice(rest);
    let found = which(u64::from_le_bytes(word)).trailing_zeros() as usize / 8;
    (found < rest.len()).then_some(words.len() * 8 + found)
}

/// The letters of a word that are this byte. Behind the first of them others may seem to be.
#[inline]
fn same(word: u64, byte: u8) -> u64 {
    let other = word ^ (ONES * byte as u64);
    other.wrapping_sub(ONES) & !other & HIGH
}

/// Where a byte stands first.
#[inline]
pub(crate) fn find(text: &[u8], byte: u8) -> Option<usize> {
    first(text, |word| same(word, byte))
}

/// Where one of two bytes stands first.
#[inline]
pub(crate) fn find_any(text: &[u8], [one, other]: [u8; 2]) -> Option<usize> {
    first(text, |word| same(word, one) | same(word, other))
}

/// Where the first letter stands that is neither a small one of ASCII, nor a digit, nor `_`.
#[inline]
pub(crate) fn find_no_word(text: &[u8]) -> Option<usize> {
    first(text, |word| {
        let low = word & !HIGH;
        let from = |byte: u8| low.wrapping_add(ONES * (0x80 - byte as u64));
        let is_small = from(b'a') & !from(b'z' + 1);
        let is_digit = from(b'0') & !from(b'9' + 1);
        let is_line = !(low ^ (ONES * b'_' as u64)).wrapping_add(ONES * 0x7f);
        (!(is_small | is_digit | is_line) | word) & HIGH
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    #[test]
    fn letters_are_found_where_they_stand() {
        for length in 0..20 {
            for at in 0..length {
                for byte in 0..=255_u8 {
                    let mut text = "x".repeat(length).into_bytes();
                    text[at] = byte;
                    let is_word = byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
                    assert_eq!(find_no_word(&text), (!is_word).then_some(at), "{byte} at {at} of {length}");
                    let expected = text.iter().position(|one| *one == b'"');
                    assert_eq!(find(&text, b'"'), expected, "{byte} at {at} of {length}");
                    let expected = text.iter().position(|one| matches!(one, b'#' | b'@'));
                    assert_eq!(find_any(&text, *b"#@"), expected, "{byte} at {at} of {length}");
                }
            }
        }
        let all = String::from("##\"\"@@!!!\"#@");
        assert_eq!([find(all.as_bytes(), b'"'), find(all.as_bytes(), b'!')], [Some(2), Some(6)]);
        assert_eq!([find(b"", b'"'), find(b"\0", b'\0'), find(b"a", b'\0')], [None, Some(0), None]);
    }
}
