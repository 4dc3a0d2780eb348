//! Shows a visitor the members of a value.
//! Owns: finding them, through options and newtypes. Must not: write.

use super::Unwritable;
use alloc::string::String;
use serde::ser::{self, Impossible, Serialize, SerializeMap, SerializeStruct, Serializer};

/// Sees each member of one object, in the order of declaration.
pub(super) trait Visit {
    /// Whether it looks at the names of a map's entries; to make one is most of the work of a visit.
    fn wants_name(&self) -> bool {
        true
    }
    /// A struct's field.
    fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Unwritable>;
    /// A map's entry.
    fn entry<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Unwritable>;
}

/// Visits the members of `value`; a value that is no object has none.
pub(super) fn walk<T: Serialize + ?Sized>(value: &T, visitor: &mut impl Visit) -> Result<(), Unwritable> {
    value.serialize(Walk { visitor, name: String::new(), is_named: false })
}

struct Walk<'v, V> {
    visitor: &'v mut V,
    /// The name of the entry whose value is next: one piece of memory for all of them.
    name: String,
    is_named: bool,
}

/// A scalar has no members.
macro_rules! no_members {
    ($($method:ident($($argument:ty),*))*) => {
        $(fn $method(self, $(_: $argument),*) -> Result<(), Unwritable> { Ok(()) })*
    };
}

impl<V: Visit> Serializer for Walk<'_, V> {
    type Ok = ();
    type Error = Unwritable;
    type SerializeSeq = Silent;
    type SerializeTuple = Silent;
    type SerializeTupleStruct = Silent;
    type SerializeTupleVariant = Impossible<(), Unwritable>;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Impossible<(), Unwritable>;

    no_members! {
        serialize_bool(bool) serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_f32(f32)
        serialize_f64(f64) serialize_char(char) serialize_str(&str) serialize_bytes(&[u8]) serialize_none()
        serialize_unit() serialize_unit_struct(&'static str)
        serialize_unit_variant(&'static str, u32, &'static str)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Unwritable> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Unwritable> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Unwritable> {
        self.visitor.field(variant, value)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Silent, Unwritable> {
        Ok(Silent)
    }

    fn serialize_tuple(self, _: usize) -> Result<Silent, Unwritable> {
        Ok(Silent)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Silent, Unwritable> {
        Ok(Silent)
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

    fn serialize_map(self, _: Option<usize>) -> Result<Self, Unwritable> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Unwritable> {
        Ok(self)
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

/// Our wire types tag their variants inside the object; the other form would be a second one to keep.
pub(super) fn unsupported(name: &str, variant: &str) -> Unwritable {
    ser::Error::custom(format_args!("{name}::{variant} must be tagged inside its object"))
}

impl<V: Visit> SerializeStruct for Walk<'_, V> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Unwritable> {
        self.visitor.field(name, value)
    }

    fn end(self) -> Result<(), Unwritable> {
        Ok(())
    }
}

impl<V: Visit> SerializeMap for Walk<'_, V> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, name: &T) -> Result<(), Unwritable> {
        self.name.clear();
        self.is_named = true;
        if self.visitor.wants_name() {
            name.serialize(NameTo(|name: &str| self.name.push_str(name)))
        } else {
            Ok(())
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritable> {
        match core::mem::take(&mut self.is_named) {
            true => self.visitor.entry(&self.name, value),
            false => Err(Unwritable::NameNotString),
        }
    }

    fn end(self) -> Result<(), Unwritable> {
        Ok(())
    }
}

/// The items of a list are not members.
pub(super) struct Silent;

macro_rules! silent {
    ($($compound:ident::$method:ident)*) => {
        $(impl ser::$compound for Silent {
            type Ok = ();
            type Error = Unwritable;
            fn $method<T: Serialize + ?Sized>(&mut self, _: &T) -> Result<(), Unwritable> { Ok(()) }
            fn end(self) -> Result<(), Unwritable> { Ok(()) }
        })*
    };
}
silent! { SerializeSeq::serialize_element SerializeTuple::serialize_element SerializeTupleStruct::serialize_field }

/// Shows a map's key, which must be a string.
pub(super) struct NameTo<F>(pub(super) F);

macro_rules! not_a_name {
    ($($method:ident($($argument:ty),*))*) => {
        $(fn $method(self, $(_: $argument),*) -> Result<(), Unwritable> { Err(Unwritable::NameNotString) })*
    };
}

impl<F: FnOnce(&str)> Serializer for NameTo<F> {
    type Ok = ();
    type Error = Unwritable;
    type SerializeSeq = Impossible<(), Unwritable>;
    type SerializeTuple = Impossible<(), Unwritable>;
    type SerializeTupleStruct = Impossible<(), Unwritable>;
    type SerializeTupleVariant = Impossible<(), Unwritable>;
    type SerializeMap = Impossible<(), Unwritable>;
    type SerializeStruct = Impossible<(), Unwritable>;
    type SerializeStructVariant = Impossible<(), Unwritable>;

    not_a_name! {
        serialize_bool(bool) serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_f32(f32)
        serialize_f64(f64) serialize_bytes(&[u8]) serialize_none() serialize_unit()
        serialize_unit_struct(&'static str)
    }

    fn serialize_char(self, name: char) -> Result<(), Unwritable> {
        self.serialize_str(name.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, name: &str) -> Result<(), Unwritable> {
        self.0(name);
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Unwritable> {
        self.serialize_str(variant)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Unwritable> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Unwritable> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), Unwritable> {
        Err(Unwritable::NameNotString)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Unwritable> {
        Err(Unwritable::NameNotString)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Unwritable> {
        Err(Unwritable::NameNotString)
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, Unwritable> {
        Err(Unwritable::NameNotString)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Unwritable> {
        Err(Unwritable::NameNotString)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Unwritable> {
        Err(Unwritable::NameNotString)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct, Unwritable> {
        Err(Unwritable::NameNotString)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Unwritable> {
        Err(Unwritable::NameNotString)
    }
}
