//! Objects whose members are alike.
//! Owns: reading each of them, with its place. Must not: know what they are.

use super::{Fields, cut, into_object};
use crate::code::Code;
use crate::json::Json;
use crate::json::pointer::{self, escaped};
use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

impl<'a> Fields<'a> {
    /// An object of like members, each read by `read` with its pointer.
    pub(crate) fn members<T>(
        &mut self,
        name: &'static str,
        mut read: impl FnMut(&mut Self, Cow<'a, Json>, &str) -> Option<T>,
    ) -> Option<BTreeMap<String, T>> {
        let members: Box<dyn Iterator<Item = (String, Cow<'a, Json>)> + 'a> =
            match into_object(self.keep(name)?) {
                Ok(Cow::Borrowed(object)) => {
                    Box::new(object.iter().map(|(name, value)| (name.to_owned(), Cow::Borrowed(value))))
                }
                Ok(Cow::Owned(object)) => {
                    Box::new(object.into_members().map(|(name, value)| (name, Cow::Owned(value))))
                }
                Err(other) => return self.wrong_type(name, "an object", other.kind()),
            };
        let (mut values, mut count) = (BTreeMap::new(), 0);
        for (key, member) in members {
            count += 1;
            // An escape makes a name longer, never shorter.
            let place = (key.len() < pointer::BYTES_MAX).then(|| format!("{name}/{}", escaped(&key)));
            let value = match place.filter(|place| self.path.len() + 1 + place.len() <= pointer::BYTES_MAX) {
                Some(place) => read(self, member, &place),
                None => {
                    let noted = self.troubles.len();
                    let value = read(self, member, name);
                    for trouble in self.troubles.iter_mut().skip(noted) {
                        trouble.message = format!("in {}: {}", cut(&key), trouble.message);
                    }
                    value
                }
            };
            if let Some(value) = value {
                values.insert(key, value);
            }
        }
        (values.len() == count).then_some(values)
    }

    /// An object whose members are strings, each through the door `read`.
    pub fn words<T, E: fmt::Display>(
        &mut self,
        name: &'static str,
        read: impl Fn(&str) -> Result<T, E>,
    ) -> Option<BTreeMap<String, T>> {
        self.members(name, |fields, member, place| {
            let text = fields.text_at(member, place)?;
            match read(&text) {
                Ok(value) => Some(value),
                Err(error) => {
                    fields.trouble_at(place, Code::FieldInvalid, error.to_string());
                    None
                }
            }
        })
    }

    /// An object whose members are lists of strings.
    pub fn text_lists(&mut self, name: &'static str) -> Option<BTreeMap<String, Vec<String>>> {
        self.members(name, |fields, member, place| {
            let items: Vec<Cow<'a, Json>> = match member {
                Cow::Borrowed(Json::Array(items)) => items.iter().map(Cow::Borrowed).collect(),
                Cow::Owned(Json::Array(items)) => items.into_iter().map(Cow::Owned).collect(),
                other => return fields.wrong_type(place, "an array", other.kind()),
            };
            let count = items.len();
            let texts: Vec<String> = items
                .into_iter()
                .enumerate()
                .filter_map(|(at, item)| fields.text_at(item, &format!("{place}/{at}")))
                .collect();
            (texts.len() == count).then_some(texts)
        })
    }
}
