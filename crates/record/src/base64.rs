//! Bytes as a text (RFC 4648 §4, padded).
//! Owns: both directions, with one text for each row of bytes. Must not: be lenient: a second spelling would be a second file.

use alloc::string::String;
use alloc::vec::Vec;

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A text that is no Base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no Base64 (RFC 4648, padded) from byte {at} on")]
pub struct NotBase64 {
    /// The first byte that can't stand where it is.
    pub at: usize,
}

/// The text of some bytes.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| chunk.get(at).map_or(0, |byte| u32::from(*byte));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for (at, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            let letter = LETTERS[(group >> shift & 0x3F) as usize];
            text.push(if at <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

/// The bytes of a text.
///
/// # Errors
/// It is not what [`encode`] writes.
pub fn decode(text: &[u8]) -> Result<Vec<u8>, NotBase64> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let groups = text.chunks(4);
    let last = text.len().div_ceil(4).saturating_sub(1);
    for (at, group) in groups.enumerate() {
        let start = at * 4;
        let letters = group.iter().take_while(|letter| **letter != b'=').count();
        let is_whole = group.len() == 4 && (letters == 4 || (at == last && letters >= 2));
        let is_padded = group.iter().skip(letters).all(|letter| *letter == b'=');
        if !is_whole || !is_padded {
            return Err(NotBase64 { at: start + letters.min(group.len()) });
        }
        let mut bits = 0_u32;
        for (place, letter) in group.iter().take(letters).enumerate() {
            let value = value(*letter).ok_or(NotBase64 { at: start + place })?;
            bits |= value << (18 - 6 * place);
        }
        let [_, one, two, three] = bits.to_be_bytes();
        bytes.extend_from_slice([one, two, three].get(..letters - 1).unwrap_or_default());
        // What the padding cuts off must be nothing, or two texts would be the same bytes.
        if [one, two, three].iter().skip(letters - 1).any(|rest| *rest != 0) {
            return Err(NotBase64 { at: start + letters - 1 });
        }
    }
    Ok(bytes)
}

fn value(letter: u8) -> Option<u32> {
    let value = match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_that_of_rfc_4648() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (b"foob", "Zm9vYg=="),
            (b"fooba", "Zm9vYmE="),
            (b"foobar", "Zm9vYmFy"),
            (&[0xFB, 0xFF, 0xFE], "+//+"),
        ] {
            assert_eq!(encode(bytes), text);
            assert_eq!(decode(text.as_bytes()).as_deref(), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn each_row_of_bytes_has_one_text() {
        for (text, at) in [
            ("Zg=", 2),
            ("Zg", 2),
            ("Z===", 1),
            ("Zh==", 1),
            ("Zm9=", 2),
            ("Zm9v\n", 5),
            ("Zg==Zg==", 2),
            ("Zm v", 2),
            ("Zm=v", 2),
            ("====", 0),
            ("Zm9-", 3),
        ] {
            assert_eq!(decode(text.as_bytes()), Err(NotBase64 { at }), "{text}");
        }
    }
}
