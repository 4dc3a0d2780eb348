//! Writes a value whose members already come in the order they must have.
//! Owns: the JSON of each serde kind. Must not: sort.

use super::walk::{NameTo, unsupported};
use super::{Pen, Unwritable, emit};
use crate::canonical::sink::Sink;
use crate::canonical::text::write_string;
use crate::json::Number;
use crate::json::number::{INTEGER_MAX, LITERAL_TOKEN, canonical_f64};
use alloc::string::ToString;
use serde::ser::{self, Impossible, Serialize, SerializeMap, SerializeStruct, Serializer};

pub(super) struct Leaf<'p, 's, S> {
    pub(super) pen: &'p mut Pen<'s, S>,
}

impl<S: Sink> Leaf<'_, '_, S> {
    fn integer(self, digits: &str, magnitude: u64) -> Result<(), Unwritable> {
        if magnitude > INTEGER_MAX {
            return Err(Unwritable::Inexact { literal: digits.into() });
        }
        self.pen.put(digits.as_bytes());
        Ok(())
    }
}

impl<'p, 's, S: Sink> Serializer for Leaf<'p, 's, S> {
    type Ok = ();
    type Error = Unwritable;
    type SerializeSeq = Open<'p, 's, S>;
    type SerializeTuple = Open<'p, 's, S>;
    type SerializeTupleStruct = Open<'p, 's, S>;
    type SerializeTupleVariant = Impossible<(), Unwritable>;
    type SerializeMap = Open<'p, 's, S>;
    type SerializeStruct = Open<'p, 's, S>;
    type SerializeStructVariant = Impossible<(), Unwritable>;

    fn serialize_bool(self, value: bool) -> Result<(), Unwritable> {
        self.pen.put(if value { b"true" } else { b"false" });
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Result<(), Unwritable> {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<(), Unwritable> {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<(), Unwritable> {
        self.serialize_i64(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<(), Unwritable> {
        self.integer(itoa::Buffer::new().format(value), value.unsigned_abs())
    }

    fn serialize_u8(self, value: u8) -> Result<(), Unwritable> {
        self.serialize_u64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<(), Unwritable> {
        self.serialize_u64(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<(), Unwritable> {
        self.serialize_u64(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<(), Unwritable> {
        self.integer(itoa::Buffer::new().format(value), value)
    }

    fn serialize_f32(self, value: f32) -> Result<(), Unwritable> {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Unwritable> {
        let Some(mut print) = canonical_f64(value) else {
            return Err(Unwritable::Inexact { literal: value.to_string() });
        };
        self.pen.put(print.text().as_bytes());
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), Unwritable> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Unwritable> {
        write_string(value, self.pen.sink);
        Ok(())
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<(), Unwritable> {
        Err(ser::Error::custom("bytes have no JSON form; name them by digest"))
    }

    fn serialize_none(self) -> Result<(), Unwritable> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Unwritable> {
        emit(value, self.pen)
    }

    fn serialize_unit(self) -> Result<(), Unwritable> {
        self.pen.put(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Unwritable> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Unwritable> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Unwritable> {
        if name == LITERAL_TOKEN {
            let mut literal = None;
            value.serialize(NameTo(|text: &str| literal = Some(Number::from_literal(text))))?;
            return literal.map_or(Err(Unwritable::NameNotString), |literal| self.pen.number(&literal));
        }
        emit(value, self.pen)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Unwritable> {
        self.pen.put(b"{");
        self.pen.name(variant, &mut true);
        emit(value, self.pen)?;
        self.pen.put(b"}");
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Open<'p, 's, S>, Unwritable> {
        Ok(Open::new(self.pen, Bracket::Array))
    }

    fn serialize_tuple(self, _: usize) -> Result<Open<'p, 's, S>, Unwritable> {
        Ok(Open::new(self.pen, Bracket::Array))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Open<'p, 's, S>, Unwritable> {
        Ok(Open::new(self.pen, Bracket::Array))
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Unwritable> {
        Err(unsupported(name, variant))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Open<'p, 's, S>, Unwritable> {
        Ok(Open::new(self.pen, Bracket::Object))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Open<'p, 's, S>, Unwritable> {
        Ok(Open::new(self.pen, Bracket::Object))
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Unwritable> {
        Err(unsupported(name, variant))
    }
}

#[derive(Clone, Copy)]
enum Bracket {
    Array,
    Object,
}

/// A list or an object that is being written.
pub(super) struct Open<'p, 's, S> {
    pen: &'p mut Pen<'s, S>,
    bracket: Bracket,
    first: bool,
}

impl<'p, 's, S: Sink> Open<'p, 's, S> {
    fn new(pen: &'p mut Pen<'s, S>, bracket: Bracket) -> Self {
        pen.put(match bracket {
            Bracket::Array => b"[",
            Bracket::Object => b"{",
        });
        Open { pen, bracket, first: true }
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritable> {
        self.pen.comma(&mut self.first);
        emit(value, self.pen)
    }

    fn close(self) {
        self.pen.put(match self.bracket {
            Bracket::Array => b"]",
            Bracket::Object => b"}",
        });
    }
}

macro_rules! items {
    ($($compound:ident::$method:ident)*) => {
        $(impl<S: Sink> ser::$compound for Open<'_, '_, S> {
            type Ok = ();
            type Error = Unwritable;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritable> { self.item(value) }
            fn end(self) -> Result<(), Unwritable> { self.close(); Ok(()) }
        })*
    };
}
items! { SerializeSeq::serialize_element SerializeTuple::serialize_element SerializeTupleStruct::serialize_field }

impl<S: Sink> SerializeStruct for Open<'_, '_, S> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Unwritable> {
        self.pen.name(name, &mut self.first);
        emit(value, self.pen)
    }

    fn end(self) -> Result<(), Unwritable> {
        self.close();
        Ok(())
    }
}

impl<S: Sink> SerializeMap for Open<'_, '_, S> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, name: &T) -> Result<(), Unwritable> {
        name.serialize(NameTo(|name: &str| self.pen.name(name, &mut self.first)))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritable> {
        emit(value, self.pen)
    }

    fn end(self) -> Result<(), Unwritable> {
        self.close();
        Ok(())
    }
}
