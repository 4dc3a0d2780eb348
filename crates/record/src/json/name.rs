//! The names of members, as objects hold them.
//! Owns: telling two of them apart soon, holding one once that many objects have. Must not: know what a name means.

use super::Json;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Deref;

/// A name, and some of its letters and its length as a number: names of different numbers are different.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    tag: u64,
    text: Arc<str>,
}

/// Letters of a name and its length.
#[inline]
pub(super) fn tag(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let ends = match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32
        }
        (_, _) => bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
    };
    ends ^ (bytes.len() as u64) << 56
}

impl Name {
    /// Whether it is this text, whose tag is known.
    #[inline]
    pub(super) fn is(&self, text: &str, tag: u64) -> bool {
        self.tag == tag && *self.text == *text
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        other.is(&self.text, self.tag)
    }
}

impl Eq for Name {}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Name { tag: tag(text), text: text.into() }
    }
}

impl From<String> for Name {
    fn from(text: String) -> Self {
        Name { tag: tag(&text), text: text.into() }
    }
}

/// So many names are held; others stand only in their objects.
const HELD: usize = 4_096;
/// A name is looked for at so many places: by chance few have the same.
const NEAR: usize = 8;

/// What many documents are read with: their names, held once, for documents of one kind have the same; and room for what is not
/// read to its end.
#[derive(Debug)]
pub struct Names {
    held: Vec<Option<Name>>,
    pub(super) members: Vec<(Name, Json)>,
    pub(super) items: Vec<Json>,
}

impl Default for Names {
    fn default() -> Self {
        Names { held: vec![None; HELD], members: Vec::new(), items: Vec::new() }
    }
}

impl Names {
    /// The name of a text: the one that is held, or a new one.
    pub(super) fn name(&mut self, text: &str) -> Name {
        let tag = tag(text);
        let first = usize::try_from(tag.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 52).unwrap_or(0);
        for at in first..first + NEAR {
            match self.held.get_mut(at % HELD) {
                Some(Some(held)) if held.is(text, tag) => return held.clone(),
                Some(slot @ None) => {
                    let name = Name { tag, text: text.into() };
                    *slot = Some(name.clone());
                    return name;
                }
                Some(Some(_)) | None => {}
            }
        }
        Name { tag, text: text.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn a_name_is_its_text() {
        let texts =
            ["", "a", "aa", "ab", "abc", "abcd", "abce", "abcde", "aXcde", "abXde", "abcdefgh", "abcdXfgh"];
        let mut names = Names::default();
        for one in texts {
            for other in texts {
                let (left, right) = (names.name(one), Name::from(other));
                assert_eq!(left == right, one == other, "{one} {other}");
                assert_eq!(left.is(other, tag(other)), one == other, "{one} {other}");
            }
        }
    }

    #[test]
    fn more_names_than_are_held_are_still_names() {
        let mut names = Names::default();
        for at in 0..3 * HELD {
            let text = format!("name-{at}");
            assert_eq!(&*names.name(&text), text);
            assert_eq!(names.name(&text), Name::from(text));
        }
    }
}
