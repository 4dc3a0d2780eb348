//! Rows by type, by mark and by name.
//! Owns: finding them. Must not: hold a row, or take time by what somebody calls his rows: many names of one number only share
//! a place in which they are told apart.

use super::look::{Look, Looked};
use super::mark::{Mark, Marks};
use super::row::{Held, Type};
use crate::kind::Number;
use crate::mix;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// The places of rows in the list of all.
#[derive(Debug)]
pub(super) struct Index {
    /// By the number of their type.
    kinds: Vec<OfKind>,
    by_mark: [Vec<u32>; Mark::ALL.len()],
    /// Types that nobody knows, by name and in snake case.
    strange: BTreeMap<String, Vec<u32>>,
    strange_snakes: BTreeMap<String, String>,
}

/// The rows of one type.
#[derive(Clone, Debug, Default)]
struct OfKind {
    in_order: Vec<u32>,
    /// The numbers of names, sorted, and the rows that have them, those of one name in order.
    names: Vec<u64>,
    by_name: Vec<u32>,
}

/// As many rows as there may be.
fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl Default for Index {
    fn default() -> Self {
        Index {
            kinds: vec![OfKind::default(); Number::count()],
            by_mark: Default::default(),
            strange: BTreeMap::new(),
            strange_snakes: BTreeMap::new(),
        }
    }
}

impl Index {
    /// Takes in rows from one on; what they touch.
    pub(super) fn add(&mut self, rows: &[Held], from: usize) -> Looked {
        let mut touched = Looked::default();
        for (at, row) in rows.iter().enumerate().skip(from) {
            touched.add(Look::Rows);
            touched.add(Look::Ends);
            touched.add(Look::kind(row.number()));
            match &row.kind {
                Type::Known(known) => {
                    let kind = self.kinds.get_mut(known.index);
                    kind.into_iter().for_each(|kind| kind.in_order.push(place(at)));
                }
                Type::Strange { name, snake } => {
                    self.strange.entry(String::from(&**name)).or_default().push(place(at));
                    self.strange_snakes.insert(String::from(&**snake), String::from(&**name));
                }
            }
            if row.marks != Marks::default() {
                for (mark, places) in Mark::ALL.iter().zip(&mut self.by_mark) {
                    if row.marks.has(*mark) {
                        touched.add(Look::Mark(*mark));
                        places.push(place(at));
                    }
                }
            }
        }
        self.kinds.iter_mut().for_each(|kind| kind.sort(rows));
        touched
    }

    /// Takes out the last rows: so many stay.
    pub(super) fn cut(&mut self, rows: usize) {
        let stay = |places: &mut Vec<u32>| places.truncate(places.partition_point(|at| *at < place(rows)));
        self.kinds.iter_mut().for_each(|kind| kind.cut(place(rows)));
        self.by_mark.iter_mut().for_each(stay);
        self.strange.values_mut().for_each(stay);
    }

    /// The rows of a type.
    pub(super) fn of(&self, known: Number) -> &[u32] {
        self.kinds.get(known.index).map(|kind| kind.in_order.as_slice()).unwrap_or_default()
    }

    /// The rows of types that nobody knows, by type.
    pub(super) fn strange(&self) -> impl Iterator<Item = &[u32]> {
        self.strange.values().map(Vec::as_slice)
    }

    /// The rows of a type that nobody knows, by its name.
    pub(super) fn of_strange(&self, name: &str) -> &[u32] {
        self.strange.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// The same by its name in snake case.
    pub(super) fn of_strange_snake(&self, snake: &str) -> &[u32] {
        self.strange_snakes.get(snake).map(|name| self.of_strange(name)).unwrap_or_default()
    }

    /// The rows that have a mark.
    pub(super) fn marked(&self, mark: Mark) -> &[u32] {
        self.by_mark.get(mark as usize).map(Vec::as_slice).unwrap_or_default()
    }

    /// The rows of a type that may have a name: all that do, in order, and rarely one that does not.
    pub(super) fn named(&self, known: Number, id: &str) -> &[u32] {
        let Some(kind) = self.kinds.get(known.index).filter(|kind| !kind.names.is_empty()) else {
            return &[];
        };
        let wanted = mix::number(id);
        let first = kind.names.partition_point(|name| *name < wanted);
        let near = kind.names.get(first..).unwrap_or_default();
        let count = near.iter().take_while(|name| **name == wanted).count();
        kind.by_name.get(first..first + count).unwrap_or_default()
    }
}

impl OfKind {
    /// Sorts in what is new.
    fn sort(&mut self, rows: &[Held]) {
        let sorted = self.by_name.len();
        if sorted == self.in_order.len() {
            return;
        }
        let key = |at: u32| rows.get(at as usize).map_or(0, |row| row.key);
        let new = self.in_order.get(sorted..).unwrap_or_default();
        self.by_name.extend_from_slice(new);
        if sorted == 0 {
            self.by_name.sort_unstable_by_key(|at| (key(*at), *at));
        } else {
            // Stable, and quick where only the last few are out of order.
            self.by_name.sort_by_key(|at| key(*at));
        }
        self.names.clear();
        self.names.extend(self.by_name.iter().map(|at| key(*at)));
    }

    fn cut(&mut self, rows: u32) {
        let stay = self.in_order.partition_point(|at| *at < rows);
        if stay == self.in_order.len() {
            return;
        }
        self.in_order.truncate(stay);
        let mut stays = self.by_name.iter().map(|at| *at < rows);
        self.names.retain(|_| stays.next() == Some(true));
        self.by_name.retain(|at| *at < rows);
    }
}
