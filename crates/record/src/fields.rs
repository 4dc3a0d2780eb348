//! Reads the members of a JSON object, noting everything that is wrong and where.
//! Owns: the checks that every contract shares. Must not: stop at the first trouble, or default a bad value.

use crate::code::Code;
use crate::id::NotAnId;
use crate::json::{Json, Object};
use crate::time::Timestamp;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
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

/// A name longer than this is cut in a message.
const NAME_SHOWN_MAX: usize = 64;

/// An object that is being read.
pub struct Fields<'a> {
    object: &'a Object,
    path: String,
    seen: Vec<&'static str>,
    troubles: Vec<Trouble>,
}

impl<'a> Fields<'a> {
    /// Starts on a document.
    ///
    /// # Errors
    /// It is no object.
    pub fn of(value: &'a Json) -> Result<Self, Trouble> {
        match value {
            Json::Object(object) => Ok(Fields::at(object, String::new())),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => Err(Trouble {
                code: Code::FieldWrongType,
                path: String::new(),
                message: format!("an object is needed, not {}", with_article(value.kind())),
            }),
        }
    }

    fn at(object: &'a Object, path: String) -> Self {
        Fields { object, path, seen: Vec::new(), troubles: Vec::new() }
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
    pub fn value(&mut self, name: &'static str) -> Option<&'a Json> {
        let value = self.peek(name);
        if value.is_none() {
            self.trouble(name, Code::FieldMissing, "this field is required");
        }
        value
    }

    /// The member `name`, if it is there.
    pub fn peek(&mut self, name: &'static str) -> Option<&'a Json> {
        self.seen.push(name);
        self.object.get(name)
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

    fn wrong_type<T>(&mut self, name: &str, needed: &str, found: &Json) -> Option<T> {
        let message = format!("{needed} is needed, not {}", with_article(found.kind()));
        self.trouble(name, Code::FieldWrongType, message);
        None
    }

    /// A string.
    pub fn text(&mut self, name: &'static str) -> Option<String> {
        match self.value(name)? {
            Json::String(text) => Some(text.clone()),
            other => self.wrong_type(name, "a string", other),
        }
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
        match self.value(name)? {
            Json::Bool(value) => Some(*value),
            other => self.wrong_type(name, "a boolean", other),
        }
    }

    /// An integer from 0 to 2^53.
    pub fn integer(&mut self, name: &'static str) -> Option<u64> {
        match self.value(name)? {
            Json::Number(number) => {
                match number.as_u64().filter(|value| *value <= crate::json::number::INTEGER_MAX) {
                    Some(value) => Some(value),
                    None => {
                        self.trouble(name, Code::FieldInvalid, "an integer from 0 to 2^53 is needed");
                        None
                    }
                }
            }
            other => self.wrong_type(name, "an integer", other),
        }
    }

    /// An integer from -2^53 to 2^53.
    pub fn signed(&mut self, name: &'static str) -> Option<i64> {
        match self.value(name)? {
            Json::Number(number) => {
                let value =
                    number.as_i64().filter(|value| value.unsigned_abs() <= crate::json::number::INTEGER_MAX);
                if value.is_none() {
                    self.trouble(name, Code::FieldInvalid, "an integer from -2^53 to 2^53 is needed");
                }
                value
            }
            other => self.wrong_type(name, "an integer", other),
        }
    }

    /// A string through the door `read`.
    pub fn parse<T, E: fmt::Display>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        let text = self.text(name)?;
        match read(&text) {
            Ok(value) => Some(value),
            Err(error) => {
                self.trouble(name, Code::FieldInvalid, error.to_string());
                None
            }
        }
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
        match self.value(name)? {
            Json::Object(object) => Some(object.clone()),
            other => self.wrong_type(name, "an object", other),
        }
    }

    /// An object, read by `read`.
    pub fn object<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Fields<'a>) -> Option<T>,
    ) -> Option<T> {
        match self.value(name)? {
            Json::Object(object) => {
                let path = self.pointer(name);
                self.inside(object, path, read)
            }
            other => self.wrong_type(name, "an object", other),
        }
    }

    /// A list, each item read by `read` with its pointer.
    pub fn items<T>(
        &mut self,
        name: &'static str,
        mut read: impl FnMut(&mut Self, &'a Json, String) -> Option<T>,
    ) -> Option<Vec<T>> {
        match self.value(name)? {
            Json::Array(items) => {
                let mut values = Vec::new();
                for (at, item) in items.iter().enumerate() {
                    let path = format!("{name}/{at}");
                    values.extend(read(self, item, path));
                }
                (values.len() == items.len()).then_some(values)
            }
            other => self.wrong_type(name, "an array", other),
        }
    }

    /// A list of objects, each read by `read`.
    pub fn objects<T>(
        &mut self,
        name: &'static str,
        mut read: impl FnMut(&mut Fields<'a>) -> Option<T>,
    ) -> Option<Vec<T>> {
        self.items(name, |fields, item, place| match item {
            Json::Object(object) => {
                let path = format!("{}/{place}", fields.path);
                fields.inside(object, path, &mut read)
            }
            other => fields.wrong_type_at(&place, "an object", other),
        })
    }

    /// A list of strings.
    pub fn texts(&mut self, name: &'static str) -> Option<Vec<String>> {
        self.items(name, |fields, item, place| match item {
            Json::String(text) => Some(text.clone()),
            other => fields.wrong_type_at(&place, "a string", other),
        })
    }

    /// An object of like members, each read by `read` with its pointer.
    pub fn members<T>(
        &mut self,
        name: &'static str,
        mut read: impl FnMut(&mut Self, &'a Json, String) -> Option<T>,
    ) -> Option<BTreeMap<String, T>> {
        match self.value(name)? {
            Json::Object(object) => {
                let mut members = BTreeMap::new();
                for (key, member) in object.iter() {
                    let place = format!("{name}/{}", escaped(key));
                    if let Some(value) = read(self, member, place) {
                        members.insert(key.to_owned(), value);
                    }
                }
                (members.len() == object.len()).then_some(members)
            }
            other => self.wrong_type(name, "an object", other),
        }
    }

    /// Like a trouble at a member, but `place` is a pointer already.
    pub fn trouble_at(&mut self, place: &str, code: Code, message: impl Into<String>) {
        let path = format!("{}/{place}", self.path);
        self.push(path, code, message.into());
    }

    /// Notes at the pointer `place` that `found` is not what is needed.
    pub(crate) fn wrong_type_at<T>(&mut self, place: &str, needed: &str, found: &Json) -> Option<T> {
        self.trouble_at(
            place,
            Code::FieldWrongType,
            format!("{needed} is needed, not {}", with_article(found.kind())),
        );
        None
    }

    fn inside<T>(
        &mut self,
        object: &'a Object,
        path: String,
        read: impl FnOnce(&mut Fields<'a>) -> Option<T>,
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
            let shown: String = name.chars().take(NAME_SHOWN_MAX).collect();
            let (path, message) = (self.path.clone(), format!("there is no field {shown:?}…"));
            self.push(path, Code::FieldUnknown, message);
        }
    }

    /// The members that were not read.
    #[must_use]
    pub fn rest(&self) -> Object {
        let mut rest = Object::new();
        for name in self.unread() {
            if let Some(value) = self.object.get(&name) {
                rest.insert(name, value.clone());
            }
        }
        rest
    }

    fn unread(&self) -> Vec<String> {
        let unread = self.object.iter().filter(|(name, _)| !self.seen.contains(name));
        unread.map(|(name, _)| name.to_owned()).collect()
    }
}

/// A name as a part of a JSON Pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn with_article(kind: &str) -> String {
    match kind {
        "null" => "null".into(),
        "array" | "object" => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}
