//! Members of records by their path.
//! Owns: looking into JSON that may be of any shape: what is missing or of another type is not there. Must not: judge.

use crate::letters;
use crate::reference::{Reference, bare};
use alloc::vec::Vec;
use countersign_record::json::{Json, Number, Object};
use countersign_record::time::Instant;

/// Looks at members. A path is names with dots between: `governance.matter_id`.
pub trait Member {
    /// The member, unless it is null.
    fn at(&self, path: &str) -> Option<&Json>;

    /// Its text, unless that is blank.
    fn text(&self, path: &str) -> Option<&str> {
        self.at(path).and_then(Json::as_str).filter(|text| !is_blank_text(text))
    }

    /// Whether it is this word.
    fn is(&self, path: &str, word: &str) -> bool {
        self.text(path) == Some(word)
    }

    /// Whether it is one of these words.
    fn is_one_of(&self, path: &str, words: &[&str]) -> bool {
        self.text(path).is_some_and(|text| words.contains(&text))
    }

    /// Its truth.
    fn flag(&self, path: &str) -> Option<bool> {
        match self.at(path) {
            Some(Json::Bool(value)) => Some(*value),
            Some(Json::Null | Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_))
            | None => None,
        }
    }

    /// Its number. JSON has no word for what is not finite: `"NaN"`, `"Infinity"` and `"-Infinity"` are read as such.
    fn number(&self, path: &str) -> Option<f64> {
        self.at(path).and_then(number)
    }

    /// Its number, if it is a whole one that is not negative.
    fn count(&self, path: &str) -> Option<u64> {
        match self.at(path) {
            Some(Json::Number(number)) => number.as_u64(),
            Some(Json::Null | Json::Bool(_) | Json::String(_) | Json::Array(_) | Json::Object(_)) | None => {
                None
            }
        }
    }

    /// Its items; none if it is no list.
    fn list(&self, path: &str) -> &[Json] {
        let items = self.at(path).and_then(Json::as_array).unwrap_or_default();
        #[cfg(test)]
        looked::at(items.len());
        items
    }

    /// Its items that are texts.
    fn texts(&self, path: &str) -> Vec<&str> {
        self.list(path).iter().filter_map(Json::as_str).collect()
    }

    /// Its members; `None` if it is no object.
    fn members(&self, path: &str) -> Option<&Object> {
        self.at(path).and_then(Json::as_object)
    }

    /// The id that it says, bare or as a reference.
    fn id_at(&self, path: &str) -> Option<&str> {
        self.text(path).map(bare)
    }

    /// The ids that its items say, bare or as references.
    fn ids_at(&self, path: &str) -> Vec<&str> {
        self.list(path).iter().filter_map(Json::as_str).map(bare).collect()
    }

    /// The reference that it is.
    fn reference(&self, path: &str) -> Option<Reference<'_>> {
        self.text(path).and_then(Reference::read)
    }

    /// The references that its items are.
    fn references(&self, path: &str) -> Vec<Reference<'_>> {
        self.texts(path).into_iter().filter_map(Reference::read).collect()
    }

    /// The time that it is.
    fn time(&self, path: &str) -> Option<Instant> {
        self.text(path).and_then(Instant::read)
    }

    /// Whether there is nothing: it is missing, null, a blank text, an empty list or object.
    fn is_blank(&self, path: &str) -> bool {
        self.at(path).is_none_or(is_blank)
    }
}

impl Member for Json {
    fn at(&self, path: &str) -> Option<&Json> {
        #[cfg(test)]
        looked::at(1);
        let found = if letters::find(path.as_bytes(), b'.').is_some() {
            path.split('.').try_fold(self, |value, name| value.get(name))?
        } else {
            self.get(path)?
        };
        match found {
            Json::Null => None,
            Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => {
                Some(found)
            }
        }
    }
}

/// Whether a text says nothing.
pub(crate) fn is_blank_text(text: &str) -> bool {
    let begins = text.bytes().next().is_some_and(|first| first.is_ascii_graphic());
    !begins && text.trim().is_empty()
}

/// All texts in a value. Values are as deep as the reader of JSON lets them be.
pub fn every_text<'j>(value: &'j Json, all: &mut Vec<&'j str>) {
    match value {
        Json::String(text) => {
            #[cfg(test)]
            looked::at(1);
            all.push(text);
        }
        Json::Array(items) => items.iter().for_each(|item| every_text(item, all)),
        Json::Object(members) => members.iter().for_each(|(_, member)| every_text(member, all)),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// The nearest double. Zero has no sign: canonical JSON writes it without one, so nothing may follow from it.
#[must_use]
pub fn double(number: &Number) -> f64 {
    number.as_f64() + 0.0
}

/// A number, or the word for one that is not finite.
#[must_use]
pub fn number(value: &Json) -> Option<f64> {
    match value {
        Json::Number(number) => Some(double(number)),
        Json::String(word) => match word.as_str() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _text => None,
        },
        Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_) => None,
    }
}

/// Whether a value says nothing.
#[must_use]
pub fn is_blank(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::String(text) => is_blank_text(text),
        Json::Array(items) => items.is_empty(),
        Json::Object(object) => object.is_empty(),
        Json::Bool(_) | Json::Number(_) => false,
    }
}

/// Counts members and items that are looked at, so that tests can hold rules to how many those are.
#[cfg(test)]
pub(crate) mod looked {
    use core::cell::Cell;

    std::thread_local! {
        static COUNT: Cell<usize> = const { Cell::new(0) };
    }

    /// So many more were.
    pub(crate) fn at(count: usize) {
        COUNT.with(|all| all.set(all.get() + count));
    }

    /// How many were since this was asked last.
    pub(crate) fn count() -> usize {
        COUNT.with(Cell::take)
    }
}
