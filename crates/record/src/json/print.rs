//! JSON text for people and peers.
//! Owns: the print in declared order. Must not: be hashed.

use crate::canonical::{Form, Pen, Unwritable, emit};
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;

/// One line of JSON: members as the type declares them, numbers with the digits they came with.
///
/// # Errors
/// Where the value holds something that JSON can't say.
pub fn to_text<T: Serialize + ?Sized>(value: &T) -> Result<String, Unwritable> {
    let mut bytes = Vec::new();
    emit(value, &mut Pen { sink: &mut bytes, form: Form::Written })?;
    String::from_utf8(bytes).map_err(|_| serde::ser::Error::custom("a string was not UTF-8"))
}
