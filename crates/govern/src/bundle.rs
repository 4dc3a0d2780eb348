//! A bundle of records to be checked: what `lint` reads and what the fixtures are.
//! Owns: its form. Must not: judge what the records say.

use crate::member::Member;
use crate::types::conformance::AddendaBConformanceFixture;
use crate::types::wire::{Reading, Wire};
use crate::world::{Draft, World};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::json::{Json, escaped};
use countersign_record::time::Instant;

/// Rows that are read at most.
pub const ROWS_MAX: usize = 4_000_000;

/// Why something is no bundle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}{}{message}", if path.is_empty() { "" } else { ": " })]
pub struct NotABundle {
    /// Where, as a JSON pointer; nothing for the whole of it.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

/// A bundle.
#[derive(Clone, Debug, PartialEq)]
pub struct Bundle {
    /// The time up to which is looked: what was written later is not there yet.
    pub as_of: Option<Instant>,
    /// The rows, in their order.
    pub rows: Vec<Draft>,
    /// Codes that come along in a fixture, behind the one it stands for.
    pub also: Vec<String>,
    /// What the rows must give, where they are a fixture of a kind.
    pub fixture: Option<AddendaBConformanceFixture>,
}

/// The members of a bundle and of a row.
const MEMBERS: [&str; 6] = ["schema_version", "as_of", "rows", "about", "also", "fixture"];
const ROW_MEMBERS: [&str; 4] = ["kind", "id", "at", "record"];

impl Bundle {
    /// Reads a bundle.
    ///
    /// # Errors
    /// It is none; the first thing that is wrong.
    pub fn read(document: Json) -> Result<Self, NotABundle> {
        known(&document, "", &MEMBERS)?;
        if !document.is("schema_version", "1.0") {
            return Err(wrong("/schema_version", "must be \"1.0\""));
        }
        let as_of = time(&document, "as_of", "")?;
        if document.at("also").is_some_and(|also| !is_texts(also)) {
            return Err(wrong("/also", "must be a list of codes"));
        }
        let also = document.texts("also").into_iter().map(ToString::to_string).collect();
        let fixture = document.at("fixture").map(read_fixture).transpose()?;
        let Json::Object(mut members) = document else { return Err(wrong("", "must be an object")) };
        let Some(Json::Array(rows)) = members.remove("rows") else {
            return Err(wrong("/rows", "must be a list of rows"));
        };
        if rows.len() > ROWS_MAX {
            return Err(wrong("/rows", "has too many rows"));
        }
        let rows = rows.into_iter().enumerate().map(|(at, row)| read_row(at, row));
        Ok(Bundle { as_of, rows: rows.collect::<Result<_, _>>()?, also, fixture })
    }

    /// The rows that are there at the time up to which is looked, with their places. One that does not say when it was written is.
    pub fn rows(&self) -> impl Iterator<Item = (u64, &Draft)> {
        (1..).zip(&self.rows).filter(|(_, row)| is_there(row, self.as_of))
    }

    /// What is checked.
    #[must_use]
    pub fn world(self) -> World {
        let as_of = self.as_of;
        World::placed((1..).zip(self.rows).filter(|(_, row)| is_there(row, as_of)), as_of)
    }
}

fn is_there(row: &Draft, as_of: Option<Instant>) -> bool {
    row.at.zip(as_of).is_none_or(|(at, as_of)| at <= as_of)
}

fn read_fixture(value: &Json) -> Result<AddendaBConformanceFixture, NotABundle> {
    let mut reading = Reading::default();
    let read = AddendaBConformanceFixture::read(value, &mut reading);
    match (read, reading.troubles().first()) {
        (Some(fixture), None) => Ok(fixture),
        (_read, trouble) => {
            let (path, message) = trouble.map_or(("", "is no fixture"), |one| (&one.path, &one.message));
            Err(wrong(&alloc::format!("/fixture{path}"), message))
        }
    }
}

fn read_row(at: usize, row: Json) -> Result<Draft, NotABundle> {
    let place = alloc::format!("/rows/{at}");
    known(&row, &place, &ROW_MEMBERS)?;
    let kind = row
        .text("kind")
        .ok_or_else(|| wrong(&alloc::format!("{place}/kind"), "must be the name of a type"))?;
    if row.at("id").is_some_and(|id| id.as_str().is_none_or(str::is_empty)) {
        return Err(wrong(&alloc::format!("{place}/id"), "must be a text that is not empty"));
    }
    let (kind, id) = (kind.to_string(), row.text("id").map(ToString::to_string));
    let at = time(&row, "at", &place)?;
    let Json::Object(mut members) = row else { return Err(wrong(&place, "must be an object")) };
    match members.remove("record") {
        Some(record @ Json::Object(_)) => Ok(Draft { kind, id, at, record }),
        Some(Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_)) | None => {
            Err(wrong(&alloc::format!("{place}/record"), "must be an object"))
        }
    }
}

fn is_texts(value: &Json) -> bool {
    value.as_array().is_some_and(|items| items.iter().all(|item| item.as_str().is_some()))
}

fn known(value: &Json, place: &str, members: &[&str]) -> Result<(), NotABundle> {
    let object = value.as_object().ok_or_else(|| wrong(place, "must be an object"))?;
    match object.iter().find(|(name, _)| !members.contains(name)) {
        Some((name, _)) => Err(wrong(&alloc::format!("{place}/{}", escaped(name)), "is not known here")),
        None => Ok(()),
    }
}

fn time(value: &Json, name: &str, place: &str) -> Result<Option<Instant>, NotABundle> {
    match value.at(name) {
        None => Ok(None),
        Some(_) => {
            let bad = || wrong(&alloc::format!("{place}/{name}"), "must be a time like 2026-01-31T08:00:00Z");
            // Times of a log are in UTC, so that two of them can be compared by eye.
            let is_utc = value.text(name).is_some_and(|text| text.ends_with('Z'));
            value.time(name).filter(|_| is_utc).map(Some).ok_or_else(bad)
        }
    }
}

fn wrong(path: &str, message: &str) -> NotABundle {
    NotABundle { path: path.to_string(), message: message.to_string() }
}
