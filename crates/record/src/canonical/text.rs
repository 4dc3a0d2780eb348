//! Strings of canonical JSON.
//! Owns: RFC 8785 §3.2.2.2, the escapes. Must not: normalise Unicode.

use super::sink::Sink;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// How many bytes from the start need no escape: up to a quote, a backslash or a control character.
///
/// Eight at a time: this loop is most of the work of reading and of hashing an envelope.
pub(crate) fn plain_length(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut length = 0;
    for word in words {
        let marks = special_marks(u64::from_le_bytes(*word));
        if marks != 0 {
            return length + (marks.trailing_zeros() / 8) as usize;
        }
        length += 8;
    }
    length + rest.iter().position(|byte| is_special(*byte)).unwrap_or(rest.len())
}

/// The high bit of each byte that is special. A borrow can mark a byte *above* a special one, so only the
/// lowest mark is exact, and only that one is used.
fn special_marks(word: u64) -> u64 {
    let below_space = word.wrapping_sub(ONES * 0x20) & !word;
    let quote = word ^ (ONES * b'"' as u64);
    let backslash = word ^ (ONES * b'\\' as u64);
    let zero = |x: u64| x.wrapping_sub(ONES) & !x;
    (below_space | zero(quote) | zero(backslash)) & HIGHS
}

fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Writes `text` in quotes.
pub fn write_string(text: &str, sink: &mut impl Sink) {
    sink.put(b"\"");
    let mut rest = text.as_bytes();
    loop {
        let plain = plain_length(rest);
        let (run, after) = rest.split_at(plain);
        if !run.is_empty() {
            sink.put(run);
        }
        let Some((special, tail)) = after.split_first() else { break };
        write_escape(*special, sink);
        rest = tail;
    }
    sink.put(b"\"");
}

fn write_escape(byte: u8, sink: &mut impl Sink) {
    match byte {
        b'"' => sink.put(b"\\\""),
        b'\\' => sink.put(b"\\\\"),
        0x08 => sink.put(b"\\b"),
        0x09 => sink.put(b"\\t"),
        0x0A => sink.put(b"\\n"),
        0x0C => sink.put(b"\\f"),
        0x0D => sink.put(b"\\r"),
        _ => {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            let digit = |nibble: u8| HEX.get(usize::from(nibble)).copied().unwrap_or(b'0');
            sink.put(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 0xF)]);
        }
    }
}
