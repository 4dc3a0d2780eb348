//! Writes any of our types as JSON: canonical for hashing, or in declared order for people and peers.
//! Owns: the serde side of canonical JSON. Must not: build a tree of what it writes.
//!
//! Canonical JSON sorts members and serde hands them over as declared, so an object is asked twice: first for
//! its names ([`Shape`]), then for its values. A struct that is declared out of order is asked once per member,
//! which costs a comparison of names and no copy. A map that is out of order (so also a struct with flattened
//! members, which serde shows as a map) is asked as often as its names turn back; what is held is its names.
//! Only a map that turns back more than [`PASSES_MAX`] times is buffered: its own canonical bytes, once. A
//! [`crate::json::Object`] is in order, and a flattened one turns back at most once for each declared member.

mod leaf;
mod walk;

use super::sink::{Hasher, Sink};
use super::text::write_string;
use crate::digest::Digest;
use crate::json::{Number, canonical_order};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;
use serde::ser::{self, Serialize};
use walk::{Visit, walk};

/// Why a value of ours can't be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unwritable {
    /// A number without a canonical form.
    #[error("the number {literal} has no canonical form: as a double it would be another number")]
    Inexact {
        /// The number.
        literal: String,
    },
    /// A member's name that is no string.
    #[error("a member's name must be a string")]
    NameNotString,
    /// Two members of one name.
    #[error("the name {name:?} stands twice in one object")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// What the type itself says.
    #[error("{message}")]
    Custom {
        /// The type's words.
        message: String,
    },
}

impl ser::Error for Unwritable {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Unwritable::Custom { message: message.to_string() }
    }
}

/// Room for most of what is written, made at once.
pub(crate) const BYTES_LIKELY: usize = 512;
const FIELDS_LIKELY: usize = 16;

/// The canonical bytes of a value of ours.
///
/// # Errors
/// Where the value holds something that canonical JSON can't say.
pub fn to_bytes_of<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Unwritable> {
    let mut bytes = Vec::with_capacity(BYTES_LIKELY);
    emit(value, &mut Pen { sink: &mut bytes, form: Form::Canonical })?;
    Ok(bytes)
}

/// SHA-256 over the canonical form of a value of ours.
///
/// # Errors
/// As [`to_bytes_of`].
pub fn hash_of<T: Serialize + ?Sized>(value: &T) -> Result<Digest, Unwritable> {
    let mut hasher = Hasher::new();
    emit(value, &mut Pen { sink: &mut hasher, form: Form::Canonical })?;
    Ok(hasher.finish())
}

/// SHA-256 over a value of ours that holds foreign numbers: one without a canonical form stands in it with the
/// digits it came with (see [`super::hash_as_written`]).
pub(crate) fn hash_as_written_of<T: Serialize + ?Sized>(value: &T) -> Result<Digest, Unwritable> {
    let mut hasher = Hasher::new();
    emit(value, &mut Pen { sink: &mut hasher, form: Form::Foreign })?;
    Ok(hasher.finish())
}

/// Which of the prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// RFC 8785.
    Canonical,
    /// RFC 8785, but a number that it can't say keeps its digits.
    Foreign,
    /// Members as declared, numbers with the digits they came with.
    Written,
}

/// A sink and the form to write in.
pub(crate) struct Pen<'s, S> {
    pub(crate) sink: &'s mut S,
    pub(crate) form: Form,
}

impl<S: Sink> Pen<'_, S> {
    fn put(&mut self, bytes: &[u8]) {
        self.sink.put(bytes);
    }

    fn comma(&mut self, first: &mut bool) {
        if !core::mem::replace(first, false) {
            self.put(b",");
        }
    }

    fn name(&mut self, name: &str, first: &mut bool) {
        self.comma(first);
        write_string(name, self.sink);
        self.put(b":");
    }

    fn number(&mut self, number: &Number) -> Result<(), Unwritable> {
        let sink = &mut *self.sink;
        match self.form {
            Form::Written => number.written(|text| sink.put(text.as_bytes())),
            Form::Canonical | Form::Foreign => {
                if number.canonical(|text| sink.put(text.as_bytes())) {
                    return Ok(());
                }
                if self.form == Form::Canonical {
                    return Err(Unwritable::Inexact { literal: number.literal() });
                }
                number.written(|text| sink.put(text.as_bytes()));
            }
        }
        Ok(())
    }
}

/// Writes `value`.
pub(crate) fn emit<T, S>(value: &T, pen: &mut Pen<'_, S>) -> Result<(), Unwritable>
where
    T: Serialize + ?Sized,
    S: Sink,
{
    if pen.form == Form::Written {
        return value.serialize(leaf::Leaf { pen });
    }
    let mut shape = Shape::default();
    walk(value, &mut shape)?;
    if shape.in_order {
        return value.serialize(leaf::Leaf { pen });
    }
    if shape.is_map { emit_sorted_map(value, pen) } else { emit_sorted_struct(value, &mut shape.names, pen) }
}

/// Sorts members by name. It knows nothing of the value that they belong to: else every type that is written would bring
/// a sort of its own.
fn sort<M>(members: &mut [M], name: fn(&M) -> &str) {
    members.sort_by(|a, b| canonical_order(name(a), name(b)));
}

fn emit_sorted_struct<T, S>(
    value: &T,
    names: &mut [&'static str],
    pen: &mut Pen<'_, S>,
) -> Result<(), Unwritable>
where
    T: Serialize + ?Sized,
    S: Sink,
{
    sort(names, |name| name);
    let mut first = true;
    pen.put(b"{");
    for name in names {
        pen.name(name, &mut first);
        walk(value, &mut Pick { name, pen })?;
    }
    pen.put(b"}");
    Ok(())
}

/// How often a map may be asked for its members. Each time costs a step for every member.
const PASSES_MAX: usize = 64;

fn emit_sorted_map<T, S>(value: &T, pen: &mut Pen<'_, S>) -> Result<(), Unwritable>
where
    T: Serialize + ?Sized,
    S: Sink,
{
    let mut names = Names(Vec::new());
    walk(value, &mut names)?;
    let mut names: Vec<(String, usize)> = names.0.into_iter().zip(0..).collect();
    sort(&mut names, |(name, _)| name);
    if let Some(twice) = names.windows(2).position(|pair| pair[0].0 == pair[1].0) {
        return Err(Unwritable::DuplicateName { name: names.swap_remove(twice).0 });
    }
    let turns = names.windows(2).filter(|pair| pair[0].1 > pair[1].1).count();
    if turns >= PASSES_MAX {
        return emit_buffered(value, pen);
    }
    pen.put(b"{");
    let mut run = Run { order: &names, next: 0, at: 0, pen };
    for _ in 0..=turns {
        run.at = 0;
        walk(value, &mut run)?;
    }
    if run.next < names.len() {
        return Err(ser::Error::custom("the members of a map change while it is written"));
    }
    pen.put(b"}");
    Ok(())
}

fn emit_buffered<T, S>(value: &T, pen: &mut Pen<'_, S>) -> Result<(), Unwritable>
where
    T: Serialize + ?Sized,
    S: Sink,
{
    let mut members = Buffered { members: Vec::new(), form: pen.form };
    walk(value, &mut members)?;
    sort(&mut members.members, |(name, _)| name);
    let mut first = true;
    pen.put(b"{");
    for (name, bytes) in &members.members {
        pen.name(name, &mut first);
        pen.put(bytes);
    }
    pen.put(b"}");
    Ok(())
}

/// What a value's members are called, and whether they come in canonical order. A value without members is
/// in order.
struct Shape {
    names: Vec<&'static str>,
    /// The name of the last entry, if there was one.
    last: String,
    in_order: bool,
    is_map: bool,
}

impl Default for Shape {
    fn default() -> Self {
        Shape { names: Vec::new(), last: String::new(), in_order: true, is_map: false }
    }
}

impl Visit for Shape {
    fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, _: &T) -> Result<(), Unwritable> {
        let after = self.names.last().is_none_or(|last| canonical_order(last, name) == Ordering::Less);
        self.in_order &= after;
        if self.names.is_empty() {
            self.names.reserve(FIELDS_LIKELY);
        }
        self.names.push(name);
        Ok(())
    }

    fn entry<T: Serialize + ?Sized>(&mut self, name: &str, _: &T) -> Result<(), Unwritable> {
        let is_first = !core::mem::replace(&mut self.is_map, true);
        self.in_order &= is_first || canonical_order(&self.last, name) == Ordering::Less;
        self.last.clear();
        self.last.push_str(name);
        Ok(())
    }
}

/// Writes the value of one member.
struct Pick<'p, 's, S> {
    name: &'static str,
    pen: &'p mut Pen<'s, S>,
}

impl<S: Sink> Visit for Pick<'_, '_, S> {
    fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Unwritable> {
        if name == self.name { emit(value, self.pen) } else { Ok(()) }
    }

    fn entry<T: Serialize + ?Sized>(&mut self, _: &str, _: &T) -> Result<(), Unwritable> {
        Ok(())
    }
}

/// Every member's name.
struct Names(Vec<String>);

impl Visit for Names {
    fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Unwritable> {
        self.entry(name, value)
    }

    fn entry<T: Serialize + ?Sized>(&mut self, name: &str, _: &T) -> Result<(), Unwritable> {
        self.0.push(name.into());
        Ok(())
    }
}

/// Writes the members that come in the order they must have, from the one that is next.
struct Run<'p, 's, S> {
    /// The members' places in the order they must have.
    order: &'p [(String, usize)],
    next: usize,
    at: usize,
    pen: &'p mut Pen<'s, S>,
}

impl<S: Sink> Visit for Run<'_, '_, S> {
    fn wants_name(&self) -> bool {
        false
    }

    fn field<T: Serialize + ?Sized>(&mut self, _: &'static str, value: &T) -> Result<(), Unwritable> {
        self.entry("", value)
    }

    fn entry<T: Serialize + ?Sized>(&mut self, _: &str, value: &T) -> Result<(), Unwritable> {
        if let Some((name, at)) = self.order.get(self.next)
            && *at == self.at
        {
            self.pen.name(name, &mut (self.next == 0));
            emit(value, self.pen)?;
            self.next += 1;
        }
        self.at += 1;
        Ok(())
    }
}

/// Every member's name and bytes, for a map that is too far out of order.
struct Buffered {
    members: Vec<(String, Vec<u8>)>,
    form: Form,
}

impl Visit for Buffered {
    fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Unwritable> {
        self.entry(name, value)
    }

    fn entry<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Unwritable> {
        let mut bytes = Vec::new();
        emit(value, &mut Pen { sink: &mut bytes, form: self.form })?;
        self.members.push((name.into(), bytes));
        Ok(())
    }
}
