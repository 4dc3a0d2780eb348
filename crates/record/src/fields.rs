//! Reads the members of a JSON object, noting everything that is wrong and where.
//! Owns: the checks that every contract shares. Must not: stop at the first trouble, or default a bad value.
//!
//! A document is lent ([`Fields::of`]) or given ([`Fields::taking`]). What is kept of a lent one is copied; of a
//! given one it is taken out, and null is left where it stood.

mod maps;

use crate::canonical::Inexact;
use crate::code::Code;
use crate::id::NotAnId;
use crate::json::number::INTEGER_MAX;
use crate::json::pointer::{escaped, inexact_members};
use crate::json::{Json, Number, Object};
use crate::time::Timestamp;
use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use serde::Serialize;

/// One thing that is wrong with a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Trouble {
    /// The stable code.
    pub code: Code,
    /// Where: a JSON Pointer (RFC 6901), empty for the document itself.
    pub path: String,
    /// What is wrong, in a sentence without the place.
    pub message: String,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "the document" } else { &self.path };
        write!(f, "{place}: {}", self.message)
    }
}

/// More troubles than this are not listed: the document is hostile or something else altogether.
pub const TROUBLES_MAX: usize = 100;

/// Room for the names of most objects, made at once.
const SEEN_LIKELY: usize = 16;

/// A name longer than this is cut in a message.
const NAME_SHOWN_MAX: usize = 64;

/// An object that is being read.
pub struct Fields<'a> {
    object: Cow<'a, Object>,
    path: String,
    seen: Vec<&'static str>,
    troubles: Vec<Trouble>,
}

impl<'a> Fields<'a> {
    /// Starts on a document that its owner still needs.
    ///
    /// # Errors
    /// It is no object.
    pub fn of(value: &'a Json) -> Result<Self, Trouble> {
        Fields::on(Cow::Borrowed(value))
    }

    /// Starts on a document that nobody needs afterwards.
    ///
    /// # Errors
    /// It is no object.
    pub fn taking(value: Json) -> Result<Self, Trouble> {
        Fields::on(Cow::Owned(value))
    }

    fn on(value: Cow<'a, Json>) -> Result<Self, Trouble> {
        match into_object(value) {
            Ok(object) => Ok(Fields::at(object, String::new())),
            Err(value) => Err(Trouble {
                code: Code::FieldWrongType,
                path: String::new(),
                message: format!("an object is needed, not {}", with_article(value.kind())),
            }),
        }
    }

    fn at(object: Cow<'a, Object>, path: String) -> Self {
        Fields { object, path, seen: Vec::with_capacity(SEEN_LIKELY), troubles: Vec::new() }
    }

    /// Everything that was wrong.
    ///
    /// # Errors
    /// The troubles, in the order they were found.
    pub fn finish(self) -> Result<(), Vec<Trouble>> {
        if self.troubles.is_empty() { Ok(()) } else { Err(self.troubles) }
    }

    /// Notes a trouble at the member `name`.
    pub fn trouble(&mut self, name: &str, code: Code, message: impl Into<String>) {
        let path = self.pointer(name);
        self.push(path, code, message.into());
    }

    fn push(&mut self, path: String, code: Code, message: String) {
        if self.troubles.len() < TROUBLES_MAX {
            self.troubles.push(Trouble { code, path, message });
        }
    }

    fn pointer(&self, name: &str) -> String {
        format!("{}/{}", self.path, escaped(name))
    }

    /// The member `name`, which must be there.
    pub fn value(&mut self, name: &'static str) -> Option<&Json> {
        if self.peek(name).is_none() {
            self.missing(name);
        }
        self.object.get(name)
    }

    /// The member `name`, if it is there; null if it was there and was kept.
    pub fn peek(&mut self, name: &'static str) -> Option<&Json> {
        self.seen.push(name);
        self.object.get(name)
    }

    /// The member `name`, which must be there, to be kept.
    pub(crate) fn keep(&mut self, name: &'static str) -> Option<Cow<'a, Json>> {
        self.seen.push(name);
        let value = match &mut self.object {
            Cow::Borrowed(object) => object.get(name).map(Cow::Borrowed),
            Cow::Owned(object) => object.take(name).map(Cow::Owned),
        };
        if value.is_none() {
            self.missing(name);
        }
        value
    }

    fn missing(&mut self, name: &str) {
        self.trouble(name, Code::FieldMissing, "this field is required");
    }

    /// Reads `name` only if it is there and not null.
    pub fn optional<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Self, &'static str) -> Option<T>,
    ) -> Option<T> {
        match self.peek(name) {
            None | Some(Json::Null) => None,
            Some(_) => read(self, name),
        }
    }

    /// Reads `name` only if it is there; null is a wrong type like any other.
    pub fn absent_or<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Self, &'static str) -> Option<T>,
    ) -> Option<T> {
        self.peek(name)?;
        read(self, name)
    }

    /// A string.
    pub fn text(&mut self, name: &'static str) -> Option<String> {
        let value = self.keep(name)?;
        self.text_at(value, name)
    }

    /// A string that says something.
    pub fn filled(&mut self, name: &'static str) -> Option<String> {
        let text = self.text(name)?;
        if text.trim().is_empty() {
            self.trouble(name, Code::FieldInvalid, "the text is empty");
            return None;
        }
        Some(text)
    }

    /// A boolean.
    pub fn boolean(&mut self, name: &'static str) -> Option<bool> {
        match *self.value(name)? {
            Json::Bool(value) => Some(value),
            ref other => {
                let kind = other.kind();
                self.wrong_type(name, "a boolean", kind)
            }
        }
    }

    /// An integer from 0 to 2^53.
    pub fn integer(&mut self, name: &'static str) -> Option<u64> {
        let needed = "an integer from 0 to 2^53 is needed";
        self.whole(name, needed, |number| number.as_u64().filter(|value| *value <= INTEGER_MAX))
    }

    /// An integer from -2^53 to 2^53.
    pub fn signed(&mut self, name: &'static str) -> Option<i64> {
        let needed = "an integer from -2^53 to 2^53 is needed";
        self.whole(name, needed, |number| number.as_i64().filter(|value| value.unsigned_abs() <= INTEGER_MAX))
    }

    fn whole<T>(
        &mut self,
        name: &'static str,
        needed: &str,
        read: impl FnOnce(&Number) -> Option<T>,
    ) -> Option<T> {
        let value = match self.value(name)? {
            Json::Number(number) => read(number),
            other => {
                let kind = other.kind();
                return self.wrong_type(name, "an integer", kind);
            }
        };
        if value.is_none() {
            self.trouble(name, Code::FieldInvalid, needed);
        }
        value
    }

    /// A string through the door `read`.
    pub fn parse<T, E: fmt::Display>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        let result = match self.value(name)? {
            Json::String(text) => read(text),
            other => {
                let kind = other.kind();
                return self.wrong_type(name, "a string", kind);
            }
        };
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.trouble(name, Code::FieldInvalid, error.to_string());
                None
            }
        }
    }

    /// The string at `name` where it is not `word`.
    pub(crate) fn other_word(&mut self, name: &'static str, word: &str) -> Option<String> {
        self.peek(name).and_then(Json::as_str).filter(|held| *held != word).map(ToOwned::to_owned)
    }

    /// An id.
    pub fn id<T: TryFrom<String, Error = NotAnId>>(&mut self, name: &'static str) -> Option<T> {
        self.parse(name, |text| T::try_from(text.to_owned()))
    }

    /// A timestamp.
    pub fn timestamp(&mut self, name: &'static str) -> Option<Timestamp> {
        self.parse(name, |text| Timestamp::try_from(text))
    }

    /// An object, kept as it is.
    pub fn free_object(&mut self, name: &'static str) -> Option<Object> {
        let value = self.keep(name)?;
        self.object_at(value, name)
    }

    /// An object, read by `read`.
    pub fn object<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Fields<'a>) -> Option<T>,
    ) -> Option<T> {
        let value = self.keep(name)?;
        self.read_at(value, name, read)
    }

    /// An object that is read by `read` and kept as well.
    pub(crate) fn whole_object<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Fields<'_>) -> Option<T>,
    ) -> Option<(T, Object)> {
        let object = self.free_object(name)?;
        let value = self.inside(Cow::Borrowed(&object), self.pointer(name), read)?;
        Some((value, object))
    }

    /// A list, each item read by `read` with its pointer.
    pub(crate) fn items<T>(
        &mut self,
        name: &'static str,
        mut read: impl FnMut(&mut Self, Cow<'a, Json>, &str) -> Option<T>,
    ) -> Option<Vec<T>> {
        let items: Box<dyn ExactSizeIterator<Item = Cow<'a, Json>> + 'a> = match self.keep(name)? {
            Cow::Borrowed(Json::Array(items)) => Box::new(items.iter().map(Cow::Borrowed)),
            Cow::Owned(Json::Array(items)) => Box::new(items.into_iter().map(Cow::Owned)),
            other => return self.wrong_type(name, "an array", other.kind()),
        };
        let count = items.len();
        let mut values = Vec::new();
        for (at, item) in items.enumerate() {
            values.extend(read(self, item, &format!("{name}/{at}")));
        }
        (values.len() == count).then_some(values)
    }

    /// A list of objects, each read by `read`.
    pub fn objects<T>(
        &mut self,
        name: &'static str,
        mut read: impl FnMut(&mut Fields<'a>) -> Option<T>,
    ) -> Option<Vec<T>> {
        self.items(name, |fields, item, place| fields.read_at(item, place, &mut read))
    }

    /// A list of strings.
    pub fn texts(&mut self, name: &'static str) -> Option<Vec<String>> {
        self.items(name, Fields::text_at)
    }

    /// The string at the pointer `place`.
    fn text_at(&mut self, value: Cow<'a, Json>, place: &str) -> Option<String> {
        match value {
            Cow::Borrowed(Json::String(text)) => Some(text.clone()),
            Cow::Owned(Json::String(text)) => Some(text),
            other => self.wrong_type(place, "a string", other.kind()),
        }
    }

    /// The object at the pointer `place`, kept as it is.
    pub(crate) fn object_at(&mut self, value: Cow<'a, Json>, place: &str) -> Option<Object> {
        match into_object(value) {
            Ok(object) => Some(object.into_owned()),
            Err(other) => self.wrong_type(place, "an object", other.kind()),
        }
    }

    /// The object at the pointer `place`, read by `read`.
    fn read_at<T>(
        &mut self,
        value: Cow<'a, Json>,
        place: &str,
        read: impl FnOnce(&mut Fields<'a>) -> Option<T>,
    ) -> Option<T> {
        match into_object(value) {
            Ok(object) => self.inside(object, format!("{}/{place}", self.path), read),
            Err(other) => self.wrong_type(place, "an object", other.kind()),
        }
    }

    /// Notes each number in the member `name` that has no canonical form.
    pub(crate) fn deny_inexact(&mut self, name: &str, member: &Object) {
        for (place, number) in inexact_members(member, TROUBLES_MAX) {
            let message = Inexact { literal: number.literal() }.to_string();
            self.push(format!("{}{place}", self.pointer(name)), Code::NumberInexact, message);
        }
    }

    /// Like a trouble at a member, but `place` is a pointer already.
    pub fn trouble_at(&mut self, place: &str, code: Code, message: impl Into<String>) {
        let path = format!("{}/{place}", self.path);
        self.push(path, code, message.into());
    }

    /// Notes at the pointer `place` that a `found` is not what is needed.
    pub(crate) fn wrong_type<T>(&mut self, place: &str, needed: &str, found: &str) -> Option<T> {
        self.trouble_at(
            place,
            Code::FieldWrongType,
            format!("{needed} is needed, not {}", with_article(found)),
        );
        None
    }

    fn inside<'b, T>(
        &mut self,
        object: Cow<'b, Object>,
        path: String,
        read: impl FnOnce(&mut Fields<'b>) -> Option<T>,
    ) -> Option<T> {
        let mut fields = Fields::at(object, path);
        let value = read(&mut fields);
        let room = TROUBLES_MAX - self.troubles.len();
        let clean = fields.troubles.is_empty();
        self.troubles.extend(fields.troubles.into_iter().take(room));
        value.filter(|_| clean)
    }

    /// Notes every member that was not read.
    pub fn deny_unknown(&mut self) {
        for name in self.unread() {
            if name.chars().count() <= NAME_SHOWN_MAX {
                self.trouble(&name, Code::FieldUnknown, "there is no such field");
                continue;
            }
            // A pointer with a cut name would point nowhere, so it points at the object.
            let (path, message) = (self.path.clone(), format!("there is no field {}", cut(&name)));
            self.push(path, Code::FieldUnknown, message);
        }
    }

    /// Keeps the members that were not read.
    pub fn rest(&mut self) -> Object {
        match &mut self.object {
            Cow::Borrowed(object) => {
                let unread = object.iter().filter(|(name, _)| !self.seen.contains(name));
                unread.map(|(name, value)| (name, value.clone())).collect()
            }
            Cow::Owned(object) => {
                let mut rest = core::mem::take(object);
                rest.retain(|name| !self.seen.contains(&name));
                rest
            }
        }
    }

    fn unread(&self) -> Vec<String> {
        let unread = self.object.iter().filter(|(name, _)| !self.seen.contains(name));
        unread.map(|(name, _)| name.to_owned()).collect()
    }
}

/// The object that a value is; the value itself where it is none.
fn into_object(value: Cow<'_, Json>) -> Result<Cow<'_, Object>, Cow<'_, Json>> {
    match value {
        Cow::Borrowed(Json::Object(object)) => Ok(Cow::Borrowed(object)),
        Cow::Owned(Json::Object(object)) => Ok(Cow::Owned(object)),
        other => Err(other),
    }
}

/// The beginning of a name that is too long to show.
fn cut(name: &str) -> String {
    let shown: String = name.chars().take(NAME_SHOWN_MAX).collect();
    format!("{shown:?}…")
}

fn with_article(kind: &str) -> String {
    match kind {
        "null" => "null".into(),
        "array" | "object" => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}
