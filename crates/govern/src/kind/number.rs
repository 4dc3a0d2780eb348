//! Types by number: what is asked for each row of a log is found without writing a name.
//! Owns: the numbers, the names in snake case. Must not: give the same type another number within a run of the program.

use super::Kind;
use crate::mix::Slots;
use crate::reference::snake;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use once_cell::race::OnceBox;

/// A type, with its number and its name as references write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// The place in a list of all.
    pub index: usize,
    /// The type.
    pub kind: &'static Kind,
    /// Its name in snake case.
    pub snake: &'static str,
}

/// All types sorted by name, and where they are found by both names.
struct Table {
    entries: Vec<(&'static Kind, String)>,
    by_name: Slots,
    by_snake: Slots,
}

fn table() -> &'static Table {
    static TABLE: OnceBox<Table> = OnceBox::new();
    TABLE.get_or_init(|| {
        let mut entries: Vec<(&'static Kind, String)> =
            super::all().map(|kind| (kind, snake(kind.name))).collect();
        // Of two of one name the first is kept; the sort is stable.
        entries.sort_by_key(|(kind, _)| kind.name);
        entries.dedup_by_key(|(kind, _)| kind.name);
        let by_name = Slots::of(entries.iter().map(|(kind, _)| kind.name));
        let by_snake = Slots::of(entries.iter().map(|(_, snake)| snake.as_str()));
        Box::new(Table { entries, by_name, by_snake })
    })
}

impl Number {
    /// How many there are.
    #[must_use]
    pub fn count() -> usize {
        table().entries.len()
    }

    /// That of a name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        let table = table();
        let is_it = |at: usize| table.entries.get(at).is_some_and(|(kind, _)| kind.name == name);
        table.by_name.find(name, is_it).and_then(Number::at)
    }

    /// That of a name in snake case.
    #[must_use]
    pub fn of_snake(name: &str) -> Option<Self> {
        let table = table();
        let is_it = |at: usize| table.entries.get(at).is_some_and(|(_, snake)| snake == name);
        table.by_snake.find(name, is_it).and_then(Number::at)
    }

    /// That of a place in the list of all.
    #[must_use]
    pub fn at(index: usize) -> Option<Self> {
        table().entries.get(index).map(|(kind, snake)| Number { index, kind, snake })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_a_number_of_its_own() {
        for kind in crate::kind::all() {
            let number = Number::of(kind.name).unwrap();
            assert_eq!(number.kind.name, kind.name);
            assert_eq!(number.snake, snake(kind.name));
            assert_eq!(Number::of_snake(&snake(kind.name)), Some(number));
            assert!(number.index < Number::count());
        }
        assert_eq!(Number::of("Nothing"), None);
        assert_eq!(Number::of_snake("nothing"), None);
    }
}
