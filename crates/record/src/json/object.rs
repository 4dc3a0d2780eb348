//! The members of a JSON object, always in canonical order.
//! Owns: RFC 8785's order of names, uniqueness of names. Must not: remember the order of arrival.

use super::Json;
use super::name::{Name, tag};
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// Members sorted by name as RFC 8785 sorts them, each name once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Object {
    members: Vec<(Name, Json)>,
}

/// So many members are looked through one by one.
const FEW: usize = 24;

impl Object {
    /// An object without members.
    #[must_use]
    pub fn new() -> Self {
        Object::default()
    }

    /// Sorts what was read; nothing where a name stands twice.
    pub(crate) fn from_members(mut members: Vec<(Name, Json)>) -> Option<Self> {
        let in_order = |pair: &[(Name, Json)]| canonical_order(&pair[0].0, &pair[1].0) == Ordering::Less;
        if !members.windows(2).all(in_order) {
            members.sort_by(|a, b| canonical_order(&a.0, &b.0));
            if members.windows(2).any(|pair| pair[0].0 == pair[1].0) {
                return None;
            }
        }
        Some(Object { members })
    }

    /// The member `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.place(name).and_then(|at| self.members.get(at)).map(|(_, value)| value)
    }

    /// The texts of the list `name`; what is no text is left out, and what is no list has none.
    #[must_use]
    pub fn texts(&self, name: &str) -> Vec<String> {
        match self.get(name) {
            Some(Json::Array(items)) => items.iter().filter_map(Json::as_str).map(String::from).collect(),
            Some(_) | None => Vec::new(),
        }
    }

    /// Puts `value` at `name`; gives back what stood there.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Json>) -> Option<Json> {
        let (name, value) = (name.into(), value.into());
        match self.find(&name) {
            Ok(at) => self.members.get_mut(at).map(|slot| core::mem::replace(&mut slot.1, value)),
            Err(at) => {
                self.members.insert(at, (Name::from(name), value));
                None
            }
        }
    }

    /// Takes the member `name` out.
    pub fn remove(&mut self, name: &str) -> Option<Json> {
        self.place(name).map(|at| self.members.remove(at).1)
    }

    /// The members in canonical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.members.iter().map(|(name, value)| (&**name, value))
    }

    /// The members by value, in canonical order.
    pub(crate) fn into_members(self) -> impl ExactSizeIterator<Item = (String, Json)> {
        self.members.into_iter().map(|(name, value)| (String::from(&*name), value))
    }

    /// Drops the members whose name does not pass.
    pub(crate) fn retain(&mut self, keeps: impl Fn(&str) -> bool) {
        self.members.retain(|(name, _)| keeps(name));
    }

    /// Takes the value of `name` out and leaves null in its place, which moves no other member.
    pub(crate) fn take(&mut self, name: &str) -> Option<Json> {
        let at = self.place(name)?;
        self.members.get_mut(at).map(|slot| core::mem::replace(&mut slot.1, Json::Null))
    }

    /// How many members there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Where `name` stands. Among a few members the one that is equal is found sooner than the order of names is.
    fn place(&self, name: &str) -> Option<usize> {
        match self.members.len() {
            0..=FEW => {
                let tag = tag(name);
                self.members.iter().position(|(held, _)| held.is(name, tag))
            }
            _ => self.find(name).ok(),
        }
    }

    fn find(&self, name: &str) -> Result<usize, usize> {
        self.members.binary_search_by(|(held, _)| canonical_order(held, name))
    }
}

impl<const N: usize> From<[(&str, Json); N]> for Object {
    fn from(members: [(&str, Json); N]) -> Self {
        members.into_iter().collect()
    }
}

/// Of two members of one name the last is kept.
impl<'a> FromIterator<(&'a str, Json)> for Object {
    fn from_iter<I: IntoIterator<Item = (&'a str, Json)>>(members: I) -> Self {
        let members = members.into_iter();
        let mut object = Object { members: Vec::with_capacity(members.size_hint().0) };
        for (name, value) in members {
            object.insert(name, value);
        }
        object
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.members.len()))?;
        for (name, value) in self.iter() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// RFC 8785 §3.2.3: names compare as sequences of UTF-16 code units.
///
/// That is the order of the UTF-8 bytes but for one case: a character above U+FFFF (lead byte F0 to F4) is a
/// surrogate pair and sorts before U+E000 to U+FFFF (lead byte EE or EF).
#[must_use]
pub fn canonical_order(left: &str, right: &str) -> Ordering {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    for (a, b) in left.iter().zip(right) {
        if a != b {
            return rank(*a).cmp(&rank(*b));
        }
    }
    left.len().cmp(&right.len())
}

fn rank(byte: u8) -> u8 {
    match byte {
        0xEE | 0xEF => byte + 0x10,
        _ => byte,
    }
}
