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

/// The values of letters by their bytes; `NONE` for what is no letter.
const VALUES: [u8; 256] = {
    let mut values = [NONE; 256];
    let mut value = 0_u8;
    while (value as usize) < LETTERS.len() {
        values[LETTERS[value as usize] as usize] = value;
        value += 1;
    }
    values
};
const NONE: u8 = 0x80;

/// The text of some bytes.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let mut text = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    let (groups, rest) = bytes.as_chunks::<3>();
    for group in groups {
        text.extend_from_slice(&letters(*group));
    }
    match *rest {
        [one] => {
            let [first, second, _, _] = letters([one, 0, 0]);
            text.extend_from_slice(&[first, second, b'=', b'=']);
        }
        [one, two] => {
            let [first, second, third, _] = letters([one, two, 0]);
            text.extend_from_slice(&[first, second, third, b'=']);
        }
        _ => {}
    }
    String::from_utf8(text).unwrap_or_default()
}

fn letters([one, two, three]: [u8; 3]) -> [u8; 4] {
    let letter = |value: u8| LETTERS[usize::from(value & 0x3F)];
    [letter(one >> 2), letter(one << 4 | two >> 4), letter(two << 2 | three >> 6), letter(three)]
}

/// The bytes of a text.
///
/// # Errors
/// It is not what [`encode`] writes.
pub fn decode(text: &[u8]) -> Result<Vec<u8>, NotBase64> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (groups, _) = text.as_chunks::<4>();
    for group in groups {
        let [one, two, three, four] = group.map(|letter| VALUES[usize::from(letter)]);
        if (one | two | three | four) & NONE != 0 {
            break;
        }
        bytes.extend_from_slice(&[one << 2 | two >> 4, two << 4 | three >> 2, three << 6 | four]);
    }
    let start = bytes.len() / 3 * 4;
    end(text.get(start..).unwrap_or_default(), start, bytes)
}

/// The last group, where it is padded. Anything else that is left is no Base64.
fn end(group: &[u8], start: usize, mut bytes: Vec<u8>) -> Result<Vec<u8>, NotBase64> {
    if group.is_empty() {
        return Ok(bytes);
    }
    let is_last = group.len() <= 4;
    let group = group.get(..4).unwrap_or(group);
    let letters = group.iter().take_while(|letter| **letter != b'=').count();
    let is_whole = group.len() == 4 && (letters == 4 || (is_last && letters >= 2));
    let is_padded = group.iter().skip(letters).all(|letter| *letter == b'=');
    if !is_whole || !is_padded {
        return Err(NotBase64 { at: start + letters.min(group.len()) });
    }
    let mut bits = 0_u32;
    for (place, letter) in group.iter().take(letters).enumerate() {
        let value = VALUES[usize::from(*letter)];
        if value == NONE {
            return Err(NotBase64 { at: start + place });
        }
        bits |= u32::from(value) << (18 - 6 * place);
    }
    let [_, one, two, three] = bits.to_be_bytes();
    let decoded = [one, two, three];
    let (said, cut) = decoded.split_at(letters - 1);
    // What the padding cuts off must be nothing, or two texts would be the same bytes.
    if cut.iter().any(|rest| *rest != 0) {
        return Err(NotBase64 { at: start + letters - 1 });
    }
    bytes.extend_from_slice(said);
    Ok(bytes)
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
