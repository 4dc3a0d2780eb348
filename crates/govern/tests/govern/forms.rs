//! The forms of records: what fixtures hold, and what types say of themselves.

use super::{Fixture, fixtures};
use countersign_govern::kind;
use countersign_govern::machine::MACHINES;
use countersign_govern::types;
use countersign_govern::types::wire::How;
use countersign_record::json::{self, Json};
use std::collections::BTreeSet;

fn rows(fixture: &Fixture) -> &[Json] {
    fixture.document.get("rows").and_then(Json::as_array).unwrap()
}

/// What is legal is also of its form: every record of a legal bundle has the members of its type and no others.
#[test]
fn legal_records_are_of_their_form() {
    let mut troubles = Vec::new();
    for fixture in fixtures("legal") {
        for (at, row) in rows(&fixture).iter().enumerate() {
            let name = row.get("kind").and_then(Json::as_str).unwrap();
            let found = types::find(name).unwrap_or_else(|| panic!("{name} has no type"));
            for trouble in found.troubles(row.get("record").unwrap()) {
                troubles.push(format!(
                    "{} row {at} {name} {}: {}",
                    fixture.path.display(),
                    trouble.path,
                    trouble.message
                ));
            }
        }
    }
    assert!(troubles.is_empty(), "{}", troubles.join("\n"));
}

/// What is soon known to be of its type is what reading finds nothing wrong with, also where a member is changed.
#[test]
fn what_fits_is_of_its_type() {
    let others = ["null", "true", "7", r#""x""#, r#""src:1""#, "[]", "[0, 1]", "{}", r#"{"x": 1}"#];
    let others: Vec<Json> = others.iter().map(|text| json::parse(text.as_bytes()).unwrap()).collect();
    let mut seen = BTreeSet::new();
    for fixture in fixtures("legal").into_iter().chain(fixtures("fires")) {
        for row in rows(&fixture) {
            let name = row.get("kind").and_then(Json::as_str).unwrap();
            let Some((found, record)) = types::find(name).zip(row.get("record")) else { continue };
            let members: Vec<&str> = record.as_object().unwrap().iter().map(|(member, _)| member).collect();
            let changed = members.iter().flat_map(|member| {
                let change = |other: &Json| with(record, member, other);
                others.iter().map(change).collect::<Vec<Json>>()
            });
            for record in changed.chain([record.clone()]) {
                let is_of_type = found.troubles(&record).iter().all(|trouble| trouble.how != How::Type);
                assert_eq!(found.fits(&record), is_of_type, "{name} {record:?}");
                seen.insert((name.to_owned(), is_of_type));
            }
        }
    }
    let names: BTreeSet<&str> = seen.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(seen.len(), 2 * names.len(), "each type is seen with what fits and with what does not");
    assert!(names.len() >= 150, "only {} types", names.len());
}

fn with(record: &Json, member: &str, value: &Json) -> Json {
    let mut object = record.as_object().unwrap().clone();
    object.insert(member, value.clone());
    object.into()
}

/// Every type that a row may have is a kind, and every kind has a type.
#[test]
fn kinds_and_types_are_the_same() {
    let typed: BTreeSet<&str> = types::all().map(|one| one.name).collect();
    let kinds: Vec<&str> = kind::all().map(|one| one.name).collect();
    assert_eq!(kinds.iter().collect::<BTreeSet<_>>().len(), kinds.len(), "a kind stands twice");
    for name in kinds {
        assert!(typed.contains(name), "{name} has no type");
    }
}

/// Reading what was written gives the same, for every record of every legal bundle.
#[test]
fn records_survive_reading_and_writing() {
    for fixture in fixtures("legal") {
        for row in rows(&fixture) {
            let name = row.get("kind").and_then(Json::as_str).unwrap();
            let record = row.get("record").unwrap();
            assert_eq!(
                types::find(name).unwrap().again(record).as_ref(),
                Some(record),
                "{}",
                fixture.path.display()
            );
        }
    }
}

/// Each pair of states of each machine is allowed exactly if the table has it; nothing leaves a state that ends a life, every
/// state is reached from a beginning, and every one leads to an end.
#[test]
fn machines_are_what_their_tables_say() {
    assert_eq!(MACHINES.len(), 15);
    for machine in MACHINES {
        let states: Vec<&str> = machine.states().collect();
        for from in &states {
            for to in &states {
                let is_listed = machine.transitions.iter().any(|way| way.from == *from && way.to == *to);
                assert_eq!(machine.allows(from, to), is_listed, "{} {from} {to}", machine.name);
                assert!(!(machine.is_terminal(from) && is_listed), "{} leaves {from}", machine.name);
            }
        }
        let reached = spread(machine.initial, |state| {
            machine.transitions.iter().filter(move |way| way.from == state).map(|way| way.to)
        });
        let ending = spread(machine.terminal, |state| {
            machine.transitions.iter().filter(move |way| way.to == state).map(|way| way.from)
        });
        for state in states {
            assert!(reached.contains(state), "{}: {state} is never reached", machine.name);
            assert!(ending.contains(state), "{}: {state} never ends", machine.name);
        }
    }
}

/// Everything that is reached by steps from some states.
fn spread<I: Iterator<Item = &'static str>>(
    from: &[&'static str],
    next: impl Fn(&'static str) -> I,
) -> BTreeSet<&'static str> {
    let mut found: BTreeSet<&str> = from.iter().copied().collect();
    let mut open: Vec<&'static str> = from.to_vec();
    while let Some(state) = open.pop() {
        for state in next(state) {
            if found.insert(state) {
                open.push(state);
            }
        }
    }
    found
}
