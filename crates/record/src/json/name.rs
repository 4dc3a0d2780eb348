//! The names of members, as objects hold them.
//! Owns: telling two of them apart soon, holding one once that many objects have. Must not: know what a name means.

use super::Json;
use super::object::{Shape, canonical_order};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;
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
        // The tag says all of a short name but how long it is.
        self.tag == tag && self.text.len() == text.len() && (text.len() <= 8 || *self.text == *text)
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
/// So many ways to begin an object are held; what begins otherwise has a shape of its own.
const NODES: usize = 32_768;
/// Longer names and objects of more members are not held: what nobody has twice would take the room of what many have.
const LETTERS_MAX: usize = 64;
const MEMBERS_MAX: u32 = 64;
/// Places for them.
const STEPS: usize = 2 * NODES;

/// What many documents are read with: their names and the shapes of their objects, held once, for documents of one kind have the same;
/// and room for what is not read to its end.
#[derive(Debug)]
pub struct Names {
    held: Vec<Option<Name>>,
    nodes: Vec<Node>,
    /// The nodes by what they follow and are called; 0 where there is none.
    steps: Vec<u32>,
    pub(super) loose: Vec<Name>,
    pub(super) items: Vec<Json>,
}

/// The first names of an object so far, by the last of them and what is before it.
#[derive(Debug)]
struct Node {
    name: Name,
    before: Begun,
    /// How many names this is.
    count: u32,
    /// What followed last: documents of one kind come after each other, and their members stand in one order.
    next: u32,
    /// The shape of an object that ends here, once there was one.
    shape: Option<Arc<Shape>>,
}

/// How an object begins: a number that `Names` knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Begun(u32);

impl Begun {
    /// No member yet.
    pub(super) const NOT: Begun = Begun(0);
}

impl Default for Names {
    fn default() -> Self {
        let none = Node { name: Name::from(""), before: Begun::NOT, count: 0, next: 0, shape: None };
        Names {
            held: vec![None; HELD],
            nodes: vec![none],
            steps: vec![0; STEPS],
            loose: Vec::new(),
            items: Vec::new(),
        }
    }
}

fn slot(number: u64, count: usize) -> usize {
    usize::try_from(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32).unwrap_or(0) % count
}

impl Names {
    /// The name of a text: the one that is held, or a new one.
    pub(super) fn name(&mut self, text: &str) -> Name {
        let tag = tag(text);
        let first = slot(tag, HELD);
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

    fn node(&self, at: u32) -> Option<&Node> {
        self.nodes.get(at as usize)
    }

    /// How an object begins that goes on with a name; nothing where that is not held, or not in canonical order.
    pub(super) fn step(&mut self, from: Begun, text: &str) -> Option<Begun> {
        let tag = tag(text);
        let is_it = |node: &Node| node.before == from && node.name.is(text, tag);
        let last = self.node(from.0)?.next;
        if last != 0 && self.node(last).is_some_and(is_it) {
            return Some(Begun(last));
        }
        let first = slot(tag.wrapping_add(u64::from(from.0) << 17), STEPS);
        for at in first..first + NEAR {
            let found = *self.steps.get(at % STEPS)?;
            let to = match self.node(found) {
                _ if found == 0 => self.new_step(from, text, at % STEPS)?,
                Some(node) if is_it(node) => found,
                Some(_) | None => continue,
            };
            self.nodes.get_mut(from.0 as usize).into_iter().for_each(|node| node.next = to);
            return Some(Begun(to));
        }
        None
    }

    fn new_step(&mut self, from: Begun, text: &str, at: usize) -> Option<u32> {
        let last = self.node(from.0)?;
        let count = last.count + 1;
        let is_kept = self.nodes.len() < NODES && text.len() <= LETTERS_MAX && count <= MEMBERS_MAX;
        let in_order = from == Begun::NOT || canonical_order(&last.name, text) == Ordering::Less;
        if !is_kept || !in_order {
            return None;
        }
        let to = u32::try_from(self.nodes.len()).ok()?;
        let name = self.name(text);
        self.nodes.push(Node { name, before: from, count, next: 0, shape: None });
        self.steps.get_mut(at).into_iter().for_each(|slot| *slot = to);
        Some(to)
    }

    /// The names that an object begins with.
    pub(super) fn names(&self, begun: Begun) -> Vec<Name> {
        let (mut names, mut at) = (Vec::new(), begun);
        while let Some(node) = self.node(at.0).filter(|_| at != Begun::NOT) {
            names.push(node.name.clone());
            at = node.before;
        }
        names.reverse();
        names
    }

    /// The shape of an object that has these names and no more.
    pub(super) fn shape(&mut self, begun: Begun) -> Arc<Shape> {
        if let Some(shape) = self.node(begun.0).and_then(|node| node.shape.as_ref()) {
            return Arc::clone(shape);
        }
        let shape = Arc::new(Shape::of(self.names(begun)));
        let node = self.nodes.get_mut(begun.0 as usize);
        node.into_iter().for_each(|node| node.shape = Some(Arc::clone(&shape)));
        shape
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
