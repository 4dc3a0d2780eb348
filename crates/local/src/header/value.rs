//! The values of a header.
//! Owns: reading one, and what is kept of it. Must not: keep a list that nobody asks for.

use super::bytes::Bytes;
use super::{ELEMENTS_MAX, Error, TEXT_BYTES_MAX};
use std::io::Read;

/// What a key has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// A whole number.
    Integer(i128),
    /// Another number.
    Float(f64),
    /// Yes or no.
    Flag(bool),
    /// A text.
    Text(String),
    /// A list of texts.
    Texts(Vec<String>),
    /// A list of whole numbers of 32 bits, which is what kept lists of numbers are made of.
    Integers(Vec<i32>),
    /// A list that is not kept.
    Passed,
}

/// What becomes of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lists {
    Kept,
    Passed,
}

/// The types, by their numbers in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    F32,
    Flag,
    Text,
    List,
    U64,
    I64,
    F64,
}

impl Type {
    fn of(number: u32) -> Option<Self> {
        Some(match number {
            0 => Type::U8,
            1 => Type::I8,
            2 => Type::U16,
            3 => Type::I16,
            4 => Type::U32,
            5 => Type::I32,
            6 => Type::F32,
            7 => Type::Flag,
            8 => Type::Text,
            9 => Type::List,
            10 => Type::U64,
            11 => Type::I64,
            12 => Type::F64,
            _ => return None,
        })
    }
}

/// Reads a value with its type before it.
pub(super) fn read<R: Read>(bytes: &mut Bytes<'_, R>, lists: Lists) -> Result<Value, Error> {
    match read_type(bytes)? {
        Type::List => list(bytes, lists),
        single => one(bytes, single),
    }
}

fn read_type<R: Read>(bytes: &mut Bytes<'_, R>) -> Result<Type, Error> {
    let number = bytes.u32()?;
    Type::of(number).ok_or_else(|| bytes.odd("a value has no type that is known"))
}

fn one<R: Read>(bytes: &mut Bytes<'_, R>, kind: Type) -> Result<Value, Error> {
    Ok(match kind {
        Type::U8 => Value::Integer(bytes.byte()?.into()),
        Type::I8 => Value::Integer(i8::from_le_bytes(bytes.array()?).into()),
        Type::U16 => Value::Integer(u16::from_le_bytes(bytes.array()?).into()),
        Type::I16 => Value::Integer(i16::from_le_bytes(bytes.array()?).into()),
        Type::U32 => Value::Integer(bytes.u32()?.into()),
        Type::I32 => Value::Integer(i32::from_le_bytes(bytes.array()?).into()),
        Type::U64 => Value::Integer(bytes.u64()?.into()),
        Type::I64 => Value::Integer(i64::from_le_bytes(bytes.array()?).into()),
        Type::F32 => Value::Float(f32::from_le_bytes(bytes.array()?).into()),
        Type::F64 => Value::Float(f64::from_le_bytes(bytes.array()?)),
        Type::Flag => match bytes.byte()? {
            0 => Value::Flag(false),
            1 => Value::Flag(true),
            _ => return Err(bytes.odd("a flag is neither 0 nor 1")),
        },
        Type::Text => Value::Text(bytes.text(TEXT_BYTES_MAX)?),
        // No model has one, and without it nothing here calls itself.
        Type::List => return Err(bytes.odd("a list is in a list")),
    })
}

fn list<R: Read>(bytes: &mut Bytes<'_, R>, lists: Lists) -> Result<Value, Error> {
    let kind = read_type(bytes)?;
    let count = bytes.u64()?;
    if count > ELEMENTS_MAX {
        return Err(bytes.odd("a list is too long"));
    }
    let size = match kind {
        Type::U8 | Type::I8 | Type::Flag => 1,
        Type::U16 | Type::I16 => 2,
        Type::U32 | Type::I32 | Type::F32 => 4,
        Type::U64 | Type::I64 | Type::F64 => 8,
        Type::Text => return texts(bytes, count, lists),
        Type::List => return Err(bytes.odd("a list is in a list")),
    };
    if lists == Lists::Passed || kind != Type::I32 {
        return bytes.skip(count, size).map(|()| Value::Passed);
    }
    let mut integers = Vec::new();
    for _ in 0..count {
        integers.push(i32::from_le_bytes(bytes.array()?));
    }
    Ok(Value::Integers(integers))
}

fn texts<R: Read>(bytes: &mut Bytes<'_, R>, count: u64, lists: Lists) -> Result<Value, Error> {
    let mut texts = Vec::new();
    for _ in 0..count {
        let text = bytes.text(TEXT_BYTES_MAX)?;
        if lists == Lists::Kept {
            texts.push(text);
        }
    }
    Ok(match lists {
        Lists::Kept => Value::Texts(texts),
        Lists::Passed => Value::Passed,
    })
}
