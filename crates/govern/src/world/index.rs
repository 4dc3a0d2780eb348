//! Rows by type, by mark, by name and by hash.
//! Owns: finding them. Must not: hold a row, or take time by what somebody calls his rows, by how many versions one has, or by
//! hashes that none has.

use super::look::{Look, Looked};
use super::mark::{Mark, Marks};
use super::row::{Held, Type};
use crate::kind::Number;
use crate::mix;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use countersign_record::digest::Digest;
use once_cell::race::OnceBox;

/// Versions of one name that are looked through one by one for a hash; of more there is a list.
const FEW: usize = 8;

/// The places of rows in the list of all.
#[derive(Debug)]
pub(super) struct Index {
    /// By the number of their type.
    kinds: Vec<OfKind>,
    by_mark: [Vec<u32>; Mark::ALL.len()],
    /// Types that nobody knows, by name and in snake case.
    strange: BTreeMap<String, OfKind>,
    strange_snakes: BTreeMap<String, String>,
    /// The last version of a hash, by the first row of its name; made when it is asked for.
    by_hash: OnceBox<BTreeMap<(u32, Digest), u32>>,
}

/// The rows of one type.
#[derive(Clone, Debug, Default)]
struct OfKind {
    in_order: Vec<u32>,
    /// The numbers of names, sorted, and the rows that have them, those of one name together and in order.
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
            by_hash: OnceBox::new(),
        }
    }
}

impl Index {
    /// Takes in rows from one on; what they touch.
    pub(super) fn add(&mut self, rows: &[Held], from: usize) -> Looked {
        let mut touched = Looked::default();
        self.by_hash = OnceBox::new();
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
                    let kind = self.strange.entry(String::from(&**name)).or_default();
                    kind.in_order.push(place(at));
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
        self.kinds.iter_mut().chain(self.strange.values_mut()).for_each(|kind| kind.sort(rows));
        touched
    }

    /// Takes out the last rows: so many stay.
    pub(super) fn cut(&mut self, rows: usize) {
        let stay = |places: &mut Vec<u32>| places.truncate(places.partition_point(|at| *at < place(rows)));
        self.by_hash = OnceBox::new();
        self.kinds.iter_mut().chain(self.strange.values_mut()).for_each(|kind| kind.cut(place(rows)));
        self.by_mark.iter_mut().for_each(stay);
    }

    /// The rows of a type.
    pub(super) fn of(&self, known: Number) -> &[u32] {
        self.kinds.get(known.index).map(|kind| kind.in_order.as_slice()).unwrap_or_default()
    }

    /// The rows of types that nobody knows, by type.
    pub(super) fn strange(&self) -> impl Iterator<Item = &[u32]> {
        self.strange.values().map(|kind| kind.in_order.as_slice())
    }

    /// The rows of a type that nobody knows, by its name.
    pub(super) fn of_strange(&self, name: &str) -> &[u32] {
        self.strange.get(name).map(|kind| kind.in_order.as_slice()).unwrap_or_default()
    }

    /// The rows that have a mark.
    pub(super) fn marked(&self, mark: Mark) -> &[u32] {
        self.by_mark.get(mark as usize).map(Vec::as_slice).unwrap_or_default()
    }

    /// The rows of a type and name, in order.
    pub(super) fn named(&self, rows: &[Held], known: Number, id: &str) -> &[u32] {
        self.kinds.get(known.index).map(|kind| kind.named(rows, id)).unwrap_or_default()
    }

    /// The same of a type that nobody knows, by its name.
    pub(super) fn named_strange(&self, rows: &[Held], kind: &str, id: &str) -> &[u32] {
        self.strange.get(kind).map(|kind| kind.named(rows, id)).unwrap_or_default()
    }

    /// The same by its name in snake case.
    pub(super) fn named_strange_snake(&self, rows: &[Held], snake: &str, id: &str) -> &[u32] {
        let name = self.strange_snakes.get(snake);
        name.map(|name| self.named_strange(rows, name, id)).unwrap_or_default()
    }

    /// The last of the rows of one name that has a hash.
    pub(super) fn hashed(&self, rows: &[Held], named: &[u32], wanted: Digest) -> Option<u32> {
        let has = |at: &u32| rows.get(*at as usize).and_then(|row| row.hash()) == Some(wanted);
        if named.len() <= FEW {
            return named.iter().copied().rfind(has);
        }
        let all = self.by_hash.get_or_init(|| {
            let kinds = self.kinds.iter().chain(self.strange.values());
            let names = kinds.flat_map(|kind| kind.names_of_many(rows));
            let hashes = names.flat_map(|named| {
                let first = named.first().copied().unwrap_or_default();
                let hash = move |at: &u32| Some(((first, rows.get(*at as usize)?.hash()?), *at));
                named.iter().filter_map(hash)
            });
            Box::new(hashes.collect())
        });
        all.get(&(*named.first()?, wanted)).copied()
    }
}

fn id_at(rows: &[Held], at: u32) -> &str {
    rows.get(at as usize).map_or("", |row| &row.id)
}

impl OfKind {
    /// The rows of a name, in order.
    fn named(&self, rows: &[Held], id: &str) -> &[u32] {
        let wanted = mix::number(id);
        let first = self.names.partition_point(|name| *name < wanted);
        if self.names.get(first) != Some(&wanted) {
            return &[];
        }
        let near = self.names.get(first..).unwrap_or_default();
        // Nearly all names have one version.
        let count =
            if near.get(1) == Some(&wanted) { near.partition_point(|name| *name == wanted) } else { 1 };
        let near = self.by_name.get(first..first + count).unwrap_or_default();
        let begin = near.partition_point(|at| id_at(rows, *at) < id);
        let near = near.get(begin..).unwrap_or_default();
        near.get(..near.partition_point(|at| id_at(rows, *at) == id)).unwrap_or_default()
    }

    /// The rows of each name that has more than a few.
    fn names_of_many<'i>(&'i self, rows: &'i [Held]) -> impl Iterator<Item = &'i [u32]> {
        let names = self.by_name.chunk_by(|one, other| id_at(rows, *one) == id_at(rows, *other));
        names.filter(|named| named.len() > FEW)
    }

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
            self.by_name.sort_unstable_by(|one, other| {
                let ids = || id_at(rows, *one).cmp(id_at(rows, *other)).then(one.cmp(other));
                key(*one).cmp(&key(*other)).then_with(ids)
            });
        } else {
            // Stable, and quick where only the last few are out of order.
            self.by_name.sort_by(|one, other| {
                let ids = || id_at(rows, *one).cmp(id_at(rows, *other));
                key(*one).cmp(&key(*other)).then_with(ids)
            });
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
