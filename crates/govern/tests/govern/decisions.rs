//! What is decided, over histories that nobody wrote by hand: the properties of the contract, and that the records of every
//! decision have no codes.

mod board;
mod command;
mod fork;
mod issue;
mod lease;
mod replay;
mod workspace;

use countersign_govern::check::check;
use countersign_govern::types;
use countersign_govern::types::basic::StorageRef;
use countersign_govern::types::wire::{Reading, Wire};
use countersign_govern::world::{Draft, World};
use countersign_record::json;
use countersign_record::time::{Instant, Timestamp};

/// So many seconds after eight o'clock.
fn at(seconds: i64) -> Timestamp {
    let start = Instant::read("2026-03-02T08:00:00Z").unwrap();
    Timestamp::try_from(Instant { seconds: start.seconds + seconds, nanos: 0 }).unwrap()
}

/// A record by its JSON.
fn typed<T: Wire>(text: &str) -> T {
    let value = json::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut reading = Reading::default();
    let read = T::read(&value, &mut reading);
    read.unwrap_or_else(|| panic!("{text}: {:?}", reading.troubles()))
}

fn reference(text: &str) -> StorageRef {
    StorageRef::try_from(text).unwrap()
}

/// A row by its JSON.
fn raw(kind: &str, text: &str, seconds: i64) -> Draft {
    let record = json::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
    Draft { kind: kind.to_string(), id: None, at: Some(at(seconds).instant()), record }
}

/// The codes of some rows, and what of them is not of its form.
fn wrong(rows: &[Draft]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        let troubles = types::find(&row.kind).unwrap().troubles(&row.record);
        wrong.extend(troubles.into_iter().map(|one| format!("{place} {}: {one:?}", row.kind)));
    }
    let codes = check(&World::new(rows.to_vec(), None));
    wrong.extend(
        codes.into_iter().map(|one| format!("{} {}{}: {}", one.code, one.row, one.path, one.message)),
    );
    wrong
}

/// The codes of some rows.
fn codes_of(rows: &[Draft]) -> Vec<&'static str> {
    check(&World::new(rows.to_vec(), None)).into_iter().map(|one| one.code).collect()
}
