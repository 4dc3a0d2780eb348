//! Where something stands in a text of JSON.
//! Owns: the way to a byte. Must not: judge the text.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::json::escaped;

/// A list or an object that is open, and where in it one is.
enum Level {
    List(u64),
    Object(String),
}

/// The first byte in which two texts differ.
pub(crate) fn first_other(one: &[u8], other: &[u8]) -> usize {
    let same = one.iter().zip(other).take_while(|(one, other)| one == other);
    same.count()
}

/// The way to what stands at a byte of a text: names of members and places in lists, as a JSON pointer.
pub(crate) fn pointer(text: &[u8], byte: usize) -> String {
    let (mut levels, mut at): (Vec<Level>, usize) = (Vec::new(), 0);
    while at <= byte
        && let Some(letter) = text.get(at)
    {
        match letter {
            b'{' => levels.push(Level::Object(String::new())),
            b'[' => levels.push(Level::List(0)),
            b'}' | b']' => drop(levels.pop()),
            b',' => {
                if let Some(Level::List(place)) = levels.last_mut() {
                    *place += 1;
                }
            }
            b'"' => {
                let end = end_of(text, at);
                let is_name = text.get(end + 1) == Some(&b':');
                if let (Some(Level::Object(name)), true) = (levels.last_mut(), is_name) {
                    *name = String::from_utf8_lossy(text.get(at + 1..end).unwrap_or_default()).into_owned();
                }
                at = end;
            }
            _within => {}
        }
        at += 1;
    }
    let step = |level: &Level| match level {
        Level::List(place) => place.to_string(),
        Level::Object(name) => escaped(name),
    };
    levels.iter().fold(String::new(), |path, level| path + "/" + &step(level))
}

/// Where the text that begins at a byte ends: at its second quotation mark.
fn end_of(text: &[u8], begin: usize) -> usize {
    let mut at = begin + 1;
    while let Some(letter) = text.get(at) {
        match letter {
            b'"' => return at,
            b'\\' => at += 2,
            _within => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_has_a_place() {
        let text = br#"{"a":[1,{"b\"/":"x"}],"c":{"d":2}}"#;
        for (part, expected) in [("1,", "/a/0"), ("x", "/a/1/b\\\"~1"), ("2", "/c/d"), ("c\"", "/c")] {
            let byte = text.windows(part.len()).position(|one| one == part.as_bytes()).unwrap();
            assert_eq!(pointer(text, byte), expected, "{part}");
        }
        assert_eq!(first_other(b"abc", b"abd"), 2);
    }
}
