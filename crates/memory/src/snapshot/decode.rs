//! The labels of a file in our own layout.
//! Owns: a closed decoder of exactly what `encode` writes. Must not: know an opcode more, or take a second form of a
//! value for the first.

use super::encode::SHORT_MAX;
use super::refusal::Odd;
use super::{DEPTH_MAX, Labels, VALUES_MAX, layout, numbers};
use countersign_record::json::{Json, Object, canonical_order};
use std::cmp::Ordering;

/// Reads the lists of ids and meta from `at` to the end of the file.
pub(super) fn labels(bytes: &[u8], at: usize, rows: usize) -> Result<Labels, Odd> {
    let mut decoder = Decoder { bytes, at, values_left: VALUES_MAX };
    let ids = decoder.list(rows, Decoder::text)?;
    decoder.expect(layout::BETWEEN, "meta does not follow the ids")?;
    let meta = decoder.list(rows, |decoder| {
        if decoder.peek() != Some(b'}') {
            return decoder.odd("meta is no dict");
        }
        decoder.value(DEPTH_MAX)
    })?;
    decoder.expect(layout::END, "the file does not end with its labels")?;
    if decoder.at != bytes.len() {
        return decoder.odd("something follows the end");
    }
    Ok(Labels { ids, meta })
}

struct Decoder<'b> {
    bytes: &'b [u8],
    at: usize,
    values_left: usize,
}

impl<'b> Decoder<'b> {
    fn odd<T>(&self, why: &'static str) -> Result<T, Odd> {
        Err(Odd { at: self.at, why })
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self, length: usize) -> Result<&'b [u8], Odd> {
        let end = self.at.saturating_add(length);
        let Some(taken) = self.bytes.get(self.at..end) else { return self.odd("the file ends in a label") };
        self.at = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Odd> {
        let at = self.at;
        let taken = self.take(N)?;
        taken.try_into().map_err(|_| Odd { at, why: "the file ends in a label" })
    }

    fn expect(&mut self, bytes: &[u8], why: &'static str) -> Result<(), Odd> {
        if self.bytes.get(self.at..self.at.saturating_add(bytes.len())) != Some(bytes) {
            return self.odd(why);
        }
        self.at += bytes.len();
        Ok(())
    }

    /// Whether the next byte is this one; if so, goes past it.
    fn passes(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn count(&mut self) -> Result<(), Odd> {
        match self.values_left.checked_sub(1) {
            Some(left) => self.values_left = left,
            None => return self.odd("there are more values than labels may hold"),
        }
        Ok(())
    }

    /// A list of the table itself.
    fn list<T>(
        &mut self,
        rows: usize,
        mut item: impl FnMut(&mut Self) -> Result<T, Odd>,
    ) -> Result<Vec<T>, Odd> {
        self.expect(b"]", "there is no list")?;
        if rows == 0 {
            return Ok(Vec::new());
        }
        self.expect(b"(", "the list is empty")?;
        // An item takes a byte at least, so a count that lies takes no more room than the file.
        let mut items = Vec::with_capacity(rows.min(self.bytes.len() - self.at));
        for _ in 0..rows {
            items.push(item(self)?);
        }
        self.expect(b"e", "the list has not as many items as there are rows")?;
        Ok(items)
    }

    fn text(&mut self) -> Result<String, Odd> {
        self.count()?;
        let at = self.at;
        let length = match self.take(1)? {
            [0x8c] => usize::from(u8::from_le_bytes(self.array()?)),
            b"X" => {
                let length = usize::try_from(u32::from_le_bytes(self.array()?)).unwrap_or(usize::MAX);
                if length <= SHORT_MAX {
                    return Err(Odd { at, why: "a short text is written as a long one" });
                }
                length
            }
            _ => return Err(Odd { at, why: "there is no text" }),
        };
        match std::str::from_utf8(self.take(length)?) {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err(Odd { at, why: "a text is not UTF-8" }),
        }
    }

    fn value(&mut self, depth_left: usize) -> Result<Json, Odd> {
        if matches!(self.peek(), Some(0x8c | b'X')) {
            return self.text().map(Json::String);
        }
        self.count()?;
        let at = self.at;
        let odd = |why| Err(Odd { at, why });
        match self.take(1)? {
            b"N" => Ok(Json::Null),
            [0x88] => Ok(Json::Bool(true)),
            [0x89] => Ok(Json::Bool(false)),
            b"J" => Ok(Json::Number(numbers::integer(i32::from_le_bytes(self.array()?).into()))),
            [0x8a] => match (self.take(1)?, i64::from_le_bytes(self.array()?)) {
                ([8], value) if i32::try_from(value).is_err() => Ok(Json::Number(numbers::integer(value))),
                _ => odd("an integer is not in its only form"),
            },
            b"G" => match numbers::double(f64::from_be_bytes(self.array()?)) {
                Some(number) => Ok(Json::Number(number)),
                None => odd("a number is a NaN or an infinity"),
            },
            b"]" | b"}" if depth_left == 0 => odd("the labels are nested too deep"),
            b"]" => self.items(depth_left - 1),
            b"}" => self.members(depth_left - 1),
            _ => odd("an opcode that labels do not have"),
        }
    }

    fn items(&mut self, depth_left: usize) -> Result<Json, Odd> {
        let mut items = Vec::new();
        if self.passes(b'(') {
            loop {
                items.push(self.value(depth_left)?);
                if self.passes(b'e') {
                    break;
                }
            }
        }
        Ok(Json::Array(items))
    }

    fn members(&mut self, depth_left: usize) -> Result<Json, Odd> {
        let mut object = Object::new();
        let mut last: Option<String> = None;
        if self.passes(b'(') {
            loop {
                let at = self.at;
                let name = self.text()?;
                if last.is_some_and(|last| canonical_order(&last, &name) != Ordering::Less) {
                    return Err(Odd { at, why: "the names of a dict are out of order" });
                }
                object.insert(name.as_str(), self.value(depth_left)?);
                last = Some(name);
                if self.passes(b'u') {
                    break;
                }
            }
        }
        Ok(Json::Object(object))
    }
}
