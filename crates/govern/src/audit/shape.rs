//! A row of a ledger as a governed record.
//! Owns: how one is written down there, what is told of one that is not so. Must not: judge what it says.
//!
//! Engines write rows of the kind `govern.KIND`, what comes from outside is `external.govern.KIND`, the kind in snake case. The payload is
//! `{"record": {…}, "id"?: "…"}`, as a row of a bundle has it.

use crate::kind::{self, Class, Number};
use crate::types;
use crate::types::wire::{How, Trouble};
use crate::world::{Draft, Held};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::json::{self, Json, Names};
use countersign_record::time::Instant;

/// A row as a ledger holds it.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'r> {
    /// Its place.
    pub seq: u64,
    /// Its stream.
    pub stream: &'r str,
    /// Its place there.
    pub place: u64,
    /// What the ledger says that it is.
    pub kind: &'r str,
    /// When it was written.
    pub at: Option<Instant>,
    /// Its payload, as canonical JSON.
    pub payload: &'r [u8],
}

/// Something of a row that is not as its type has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Misshapen {
    /// The place of the row.
    pub row: u64,
    /// How.
    pub how: How,
    /// The name of its type.
    pub kind: String,
    /// Where, as a JSON pointer: in the record, or in the payload of a row that holds none.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

/// The type that a row of a ledger says it is of, by its name in snake case.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind<'r> {
    Known(Number),
    Strange(&'r str),
}

impl<'r> Kind<'r> {
    /// That of a row; `None` if it is no governed record.
    pub(super) fn of(kind: &'r str) -> Option<Self> {
        let snake = snake_of(kind)?;
        Some(Number::of_snake(snake).map_or(Kind::Strange(snake), Kind::Known))
    }

    pub(super) fn known(self) -> Option<Number> {
        match self {
            Kind::Known(known) => Some(known),
            Kind::Strange(_) => None,
        }
    }

    /// Whether its rows may be settings.
    pub(super) fn is_setting(self) -> bool {
        self.known().is_some_and(|known| known.kind.class == Class::Policy)
    }

    fn name(self) -> String {
        match self {
            Kind::Known(known) => known.kind.name.to_string(),
            Kind::Strange(snake) => camel(snake),
        }
    }
}

/// The name in snake case of the type that a row says it is of, if it is a governed record.
fn snake_of(kind: &str) -> Option<&str> {
    kind.strip_prefix("external.").unwrap_or(kind).strip_prefix("govern.")
}

/// Whether a row of a ledger is a governed record.
#[must_use]
pub fn is_governed(kind: &str) -> bool {
    snake_of(kind).is_some()
}

/// The type of a governed record that a row of a ledger holds, if it is one that is known.
#[must_use]
pub fn kind_of(row_kind: &str) -> Option<&'static kind::Kind> {
    Kind::of(row_kind).and_then(Kind::known).map(|known| known.kind)
}

/// The record that a row holds.
///
/// # Errors
/// It holds none.
pub fn read(row: Raw<'_>, names: &mut Names) -> Result<Held, Misshapen> {
    held(row, Kind::of(row.kind).unwrap_or(Kind::Strange("")), names)
}

pub(super) fn held(row: Raw<'_>, kind: Kind<'_>, names: &mut Names) -> Result<Held, Misshapen> {
    let wrong = |path: &str, message: &str| {
        let (path, message) = (path.to_string(), message.to_string());
        Misshapen { row: row.seq, how: How::Type, kind: kind.name(), path, message }
    };
    let payload = json::parse_again(row.payload, names)
        .map_err(|error| wrong("", &alloc::format!("the payload is no JSON: {error}")))?;
    let Json::Object(mut members) = payload else {
        return Err(wrong("", "the payload must be an object with a record"));
    };
    let id = match members.take("id") {
        None => None,
        Some(Json::String(id)) if !id.is_empty() => Some(id),
        Some(_) => return Err(wrong("/id", "must be a text that is not empty")),
    };
    let Some(record @ Json::Object(_)) = members.take("record") else {
        return Err(wrong("/record", "must be an object: the row holds no record"));
    };
    Ok(match kind {
        Kind::Known(known) => Held::known((row.seq, row.place), known, id, row.at, record),
        Kind::Strange(snake) => {
            let draft = Draft { kind: camel(snake), id, at: row.at, record };
            Held::new(row.seq, draft, None).at_place(row.place)
        }
    })
}

/// What of a record is not of its type or missing; where that is asked, also what no type has.
pub(super) fn troubles(row: &Held, is_strict: bool) -> Vec<Misshapen> {
    let Some(known) = row.number() else { return Vec::new() };
    let Some(kind) = types::numbered(known) else { return Vec::new() };
    if !is_strict && kind.fits(row.json()) {
        return Vec::new();
    }
    let (troubles, kind) = (kind.troubles(row.json()), known.kind.name);
    let told = |trouble: Trouble| Misshapen {
        row: row.seq(),
        how: trouble.how,
        kind: kind.to_string(),
        path: trouble.path,
        message: trouble.message,
    };
    troubles.into_iter().filter(|one| is_strict || one.how.is_error()).map(told).collect()
}

/// A name in snake case as the name of a type.
fn camel(snake: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    snake.split('_').map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind;
    use crate::reference::snake;

    #[test]
    fn every_type_is_found_by_its_name_in_a_ledger() {
        for kind in kind::all() {
            assert_eq!(camel(&snake(kind.name)), kind.name);
        }
        for kind in ["govern.cost_vector", "external.govern.cost_vector"] {
            assert_eq!(Kind::of(kind).unwrap().name(), "CostVector");
        }
        assert!(!is_governed("governed.cost_vector"));
        assert!(!is_governed("external.note"));
    }

    #[test]
    fn what_holds_no_record_is_told() {
        for (payload, path) in [
            ("1", ""),
            ("[", ""),
            ("{}", "/record"),
            (r#"{"record":null}"#, "/record"),
            (r#"{"record":[]}"#, "/record"),
            (r#"{"id":1,"record":{}}"#, "/id"),
            (r#"{"id":"","record":{}}"#, "/id"),
        ] {
            let row = Raw {
                seq: 7,
                stream: "run/1",
                place: 1,
                kind: "govern.some_thing",
                at: None,
                payload: payload.as_bytes(),
            };
            let told = read(row, &mut Names::default()).unwrap_err();
            assert_eq!(
                (told.row, told.kind.as_str(), told.path.as_str()),
                (7, "SomeThing", path),
                "{payload}"
            );
        }
    }
}
