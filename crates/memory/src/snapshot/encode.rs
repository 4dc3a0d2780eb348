//! Labels as pickle: one way to say each value, so that bytes and labels belong to each other.
//! Owns: the form and its limits. Must not: write what `decode` would refuse.

use super::refusal::{Flaw, WriteError};
use super::{DEPTH_MAX, LABELS_BYTES_MAX, VALUES_MAX, layout};
use countersign_record::json::{Json, Number};
use std::io::Write;

/// Texts up to this length have a length of one byte.
pub(super) const SHORT_MAX: usize = 255;

/// Writes the lists of ids and meta, and the end of the file.
pub(super) fn labels(ids: &[String], meta: &[Json], out: &mut impl Write) -> Result<(), WriteError> {
    let mut encoder = Encoder { out, values: 0, bytes: 0, row: 0 };
    encoder.list(ids, |encoder, id| encoder.text(id))?;
    encoder.put(layout::BETWEEN)?;
    encoder.list(meta, |encoder, meta| match meta {
        Json::Object(_) => encoder.value(meta, DEPTH_MAX),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => {
            Err(Flaw::NotAnObject { row: encoder.row }.into())
        }
    })?;
    encoder.put(layout::END)
}

struct Encoder<'o, W> {
    out: &'o mut W,
    values: usize,
    bytes: usize,
    /// Which row is written; for messages.
    row: usize,
}

impl<W: Write> Encoder<'_, W> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.bytes += bytes.len();
        if self.bytes > LABELS_BYTES_MAX {
            return Err(Flaw::Bytes.into());
        }
        Ok(self.out.write_all(bytes)?)
    }

    /// A list of the table itself.
    fn list<T>(
        &mut self,
        items: &[T],
        mut put: impl FnMut(&mut Self, &T) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        self.put(if items.is_empty() { b"]" } else { b"](" })?;
        for (row, item) in items.iter().enumerate() {
            self.row = row;
            put(self, item)?;
        }
        self.put(if items.is_empty() { b"" } else { b"e" })
    }

    fn text(&mut self, text: &str) -> Result<(), WriteError> {
        self.count()?;
        match u8::try_from(text.len()) {
            Ok(length) => self.put(&[0x8c, length])?,
            Err(_) => {
                let length = u32::try_from(text.len()).map_err(|_| Flaw::Bytes)?;
                self.put(b"X")?;
                self.put(&length.to_le_bytes())?;
            }
        }
        self.put(text.as_bytes())
    }

    fn count(&mut self) -> Result<(), WriteError> {
        self.values += 1;
        if self.values > VALUES_MAX { Err(Flaw::Values.into()) } else { Ok(()) }
    }

    fn value(&mut self, value: &Json, depth_left: usize) -> Result<(), WriteError> {
        let deeper = || depth_left.checked_sub(1).ok_or(Flaw::Depth { row: self.row });
        match value {
            Json::String(text) => return self.text(text),
            Json::Null => self.put(b"N")?,
            Json::Bool(value) => self.put(if *value { b"\x88" } else { b"\x89" })?,
            Json::Number(number) => self.number(number)?,
            Json::Array(items) => {
                let depth_left = deeper()?;
                self.put(if items.is_empty() { b"]" } else { b"](" })?;
                for item in items {
                    self.value(item, depth_left)?;
                }
                self.put(if items.is_empty() { b"" } else { b"e" })?;
            }
            Json::Object(object) => {
                let depth_left = deeper()?;
                let is_empty = object.iter().next().is_none();
                self.put(if is_empty { b"}" } else { b"}(" })?;
                for (name, member) in object.iter() {
                    self.text(name)?;
                    self.value(member, depth_left)?;
                }
                self.put(if is_empty { b"" } else { b"u" })?;
            }
        }
        self.count()
    }

    /// An integer is one in Python; what is written with a point or a power is a double, as `json.loads` has it.
    fn number(&mut self, number: &Number) -> Result<(), WriteError> {
        let literal = number.literal();
        if literal.contains(['.', 'e', 'E']) {
            let value = number.as_f64();
            if !number.is_exact() || !value.is_finite() {
                return Err(Flaw::Number { row: self.row }.into());
            }
            self.put(b"G")?;
            return self.put(&value.to_be_bytes());
        }
        let value: i64 = literal.parse().map_err(|_| Flaw::Number { row: self.row })?;
        match i32::try_from(value) {
            Ok(value) => {
                self.put(b"J")?;
                self.put(&value.to_le_bytes())
            }
            Err(_) => {
                self.put(b"\x8a\x08")?;
                self.put(&value.to_le_bytes())
            }
        }
    }
}
