//! The members of a JSON object, always in canonical order.
//! Owns: RFC 8785's order of names, uniqueness of names. Must not: remember the order of arrival.

use super::Json;
use super::name::{Name, tag};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;
use core::mem::{replace, take};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// Members sorted by name as RFC 8785 sorts them, each name once.
#[derive(Clone, Default)]
pub struct Object {
    /// What the members are called; nothing where there are none.
    shape: Option<Arc<Shape>>,
    values: Box<[Json]>,
}

/// The names of an object, in canonical order, each once. Objects of one kind share theirs: a name that many rows have is looked for in
/// the same few bytes for all of them, and what a row does not have is known without looking at the row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shape {
    names: Vec<Name>,
}

/// So many members are looked through one by one.
const FEW: usize = 32;

impl Shape {
    /// The shape of names that are in order.
    pub(super) fn of(names: Vec<Name>) -> Self {
        Shape { names }
    }

    /// Where `name` stands. Among a few members the one that is equal is found sooner than the order of names is.
    fn place(&self, name: &str) -> Option<usize> {
        match self.names.len() {
            0..=FEW => {
                let tag = tag(name);
                self.names.iter().position(|held| held.is(name, tag))
            }
            _ => self.find(name).ok(),
        }
    }

    fn find(&self, name: &str) -> Result<usize, usize> {
        self.names.binary_search_by(|held| canonical_order(held, name))
    }
}

impl Object {
    /// An object without members.
    #[must_use]
    pub fn new() -> Self {
        Object::default()
    }

    /// Values by the names of a shape, which are as many.
    pub(super) fn of_shape(shape: Arc<Shape>, values: Box<[Json]>) -> Self {
        Object { shape: Some(shape), values }
    }

    /// Sorts what was read; nothing where a name stands twice.
    pub(super) fn from_members(mut members: Vec<(Name, Json)>) -> Option<Self> {
        let in_order = |pair: &[(Name, Json)]| canonical_order(&pair[0].0, &pair[1].0) == Ordering::Less;
        if !members.windows(2).all(in_order) {
            members.sort_by(|a, b| canonical_order(&a.0, &b.0));
            if members.windows(2).any(|pair| pair[0].0 == pair[1].0) {
                return None;
            }
        }
        Some(Object::from_sorted(members))
    }

    fn from_sorted(members: Vec<(Name, Json)>) -> Self {
        if members.is_empty() {
            return Object::default();
        }
        let (mut names, mut values) = (Vec::with_capacity(members.len()), Vec::with_capacity(members.len()));
        for (name, value) in members {
            names.push(name);
            values.push(value);
        }
        Object::of_shape(Arc::new(Shape::of(names)), values.into_boxed_slice())
    }

    /// A few members, each put in its place as it comes.
    fn of_few<'a>(members: impl Iterator<Item = (&'a str, Json)>, count: usize) -> Self {
        let mut shape = Shape::of(Vec::with_capacity(count));
        let mut values = Vec::with_capacity(count);
        for (name, value) in members {
            match shape.find(name) {
                Ok(at) => {
                    if let Some(slot) = values.get_mut(at) {
                        *slot = value;
                    }
                }
                Err(at) => {
                    shape.names.insert(at, Name::from(name));
                    values.insert(at, value);
                }
            }
        }
        match values.is_empty() {
            true => Object::default(),
            false => Object::of_shape(Arc::new(shape), values.into_boxed_slice()),
        }
    }

    /// The member `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.place(name).and_then(|at| self.values.get(at))
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
        let shape = self.shape.get_or_insert_default();
        match shape.find(&name) {
            Ok(at) => self.values.get_mut(at).map(|slot| replace(slot, value)),
            Err(at) => {
                Arc::make_mut(shape).names.insert(at, Name::from(name));
                let before = take(&mut self.values).into_vec();
                let mut values = Vec::with_capacity(before.len() + 1);
                values.extend(before);
                values.insert(at, value);
                self.values = values.into_boxed_slice();
                None
            }
        }
    }

    /// Takes the member `name` out.
    pub fn remove(&mut self, name: &str) -> Option<Json> {
        let at = self.place(name)?;
        Arc::make_mut(self.shape.as_mut()?).names.remove(at);
        let mut values = take(&mut self.values).into_vec();
        let taken = values.remove(at);
        self.values = values.into_boxed_slice();
        self.shape.take_if(|shape| shape.names.is_empty());
        Some(taken)
    }

    /// The members in canonical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.names().iter().map(|name| &**name).zip(&self.values)
    }

    fn names(&self) -> &[Name] {
        self.shape.as_ref().map(|shape| shape.names.as_slice()).unwrap_or_default()
    }

    /// The members by value, in canonical order.
    pub(crate) fn into_members(self) -> impl ExactSizeIterator<Item = (String, Json)> {
        let names: Vec<String> = self.names().iter().map(|name| String::from(&**name)).collect();
        names.into_iter().zip(self.values.into_vec())
    }

    /// Drops the members whose name does not pass.
    pub(crate) fn retain(&mut self, keeps: impl Fn(&str) -> bool) {
        let Object { shape, values } = take(self);
        let names = shape.map(|shape| Arc::unwrap_or_clone(shape).names).unwrap_or_default();
        let members = names.into_iter().zip(values.into_vec());
        *self = Object::from_sorted(members.filter(|(name, _)| keeps(name)).collect());
    }

    /// Takes the value of `name` out and leaves null in its place, which moves no other member.
    pub fn take(&mut self, name: &str) -> Option<Json> {
        let at = self.place(name)?;
        self.values.get_mut(at).map(|slot| replace(slot, Json::Null))
    }

    /// How many members there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.shape.as_ref()?.place(name)
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Object) -> bool {
        let is_one = |(one, other): (&Arc<Shape>, &Arc<Shape>)| Arc::ptr_eq(one, other);
        let is_shared = self.shape.as_ref().zip(other.shape.as_ref()).is_some_and(is_one);
        (is_shared || self.names() == other.names()) && self.values == other.values
    }
}

impl Eq for Object {}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
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
        if let (_, Some(count @ 0..=FEW)) = members.size_hint() {
            return Object::of_few(members, count);
        }
        let members = members.map(|(name, value)| (Name::from(name), value));
        let mut members: Vec<(Name, Json)> = members.collect();
        members.sort_by(|a, b| canonical_order(&a.0, &b.0));
        members.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                core::mem::swap(next, kept);
            }
            is_same
        });
        Object::from_sorted(members)
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
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
