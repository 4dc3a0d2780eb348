//! Rows that many parts of a log go by: settings, and what stands outside of runs.
//! Owns: which of them a part needs, how often each was looked at. Must not: judge.
//!
//! Two parts that go by the same row do not belong together for that; each is looked at with the row beside it.

use super::names::{By, Name, Names, Stands};
use crate::world::Held;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;

/// Which shared row, in the order of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At(pub(super) u32);

/// How a row has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Has {
    Own,
    Wanted,
}

/// The shared rows so far.
pub(super) struct Shared {
    by: By,
    pub(super) rows: Vec<Held>,
    names: BTreeMap<Name, Vec<(At, Has)>>,
    /// A bit for each name, so that nearly all names that no shared row has are soon known to be none.
    filter: Vec<u64>,
    /// In how many batches each was.
    pub(super) looked_at: Vec<u32>,
}

/// Bits of the filter.
const BITS: u64 = 1 << 20;

fn bit(name: Name) -> (usize, u64) {
    let at = name.0 % BITS;
    (usize::try_from(at / 64).unwrap_or(0), 1 << (at % 64))
}

impl Shared {
    pub(super) fn new(by: By) -> Self {
        let (rows, names, filter, looked_at) = (Vec::new(), BTreeMap::new(), Vec::new(), Vec::new());
        Shared { by, rows, names, filter, looked_at }
    }

    /// The next one.
    pub(super) fn add(&mut self, row: Held) {
        let at = At(u32::try_from(self.rows.len()).unwrap_or(u32::MAX));
        let mut names = Names::new(self.by);
        names.add(&row, Stands::Anywhere);
        names.sort();
        if self.filter.is_empty() {
            self.filter = vec![0; usize::try_from(BITS / 64).unwrap_or(0)];
        }
        let own = names.own.into_iter().chain(names.heads).map(|name| (name, Has::Own));
        for (name, has) in own.chain(names.wanted.into_iter().map(|name| (name, Has::Wanted))) {
            self.names.entry(name).or_default().push((at, has));
            let (word, bit) = bit(name);
            self.filter.get_mut(word).into_iter().for_each(|bits| *bits |= bit);
        }
        self.rows.push(row);
        self.looked_at.push(0);
    }

    /// The shared rows that have a name.
    fn having(&self, name: Name) -> &[(At, Has)] {
        let (word, bit) = bit(name);
        let may_be = self.filter.get(word).is_some_and(|bits| bits & bit != 0);
        let found = if may_be { self.names.get(&name) } else { None };
        found.map(Vec::as_slice).unwrap_or_default()
    }

    /// Adds those that a part needs: what it names, what names it, and what those go by.
    pub(super) fn needed(&self, part: &Names, needed: &mut BTreeSet<At>) {
        let mut open: Vec<At> = Vec::new();
        let own = part.own.iter().chain(&part.heads).flat_map(|name| self.having(*name));
        let wanted = part.wanted.iter().flat_map(|name| self.having(*name));
        let wanted = wanted.filter(|(_, has)| *has == Has::Own);
        open.extend(own.chain(wanted).map(|(at, _)| *at).filter(|at| needed.insert(*at)));
        while let Some(next) = open.pop() {
            let Some(row) = self.rows.get(next.0 as usize) else { continue };
            let mut names = Names::new(self.by);
            names.add(row, Stands::Anywhere);
            let named = names.own.iter().chain(&names.wanted).flat_map(|name| self.having(*name));
            let named = named.filter(|(_, has)| *has == Has::Own).map(|(at, _)| *at);
            open.extend(named.filter(|at| needed.insert(*at)));
        }
    }

    /// The shared rows that are called so, or say that they belong to it.
    pub(super) fn owners(&self, name: Name) -> impl Iterator<Item = At> {
        self.having(name).iter().filter(|(_, has)| *has == Has::Own).map(|(at, _)| *at)
    }

    /// Which shared row stands at a place.
    pub(super) fn at(&self, seq: u64) -> Option<At> {
        let found = self.rows.binary_search_by_key(&seq, Held::seq).ok()?;
        u32::try_from(found).ok().map(At)
    }

    /// Every name of every shared row.
    pub(super) fn names(&self) -> impl Iterator<Item = (Name, At, Has)> {
        self.names.iter().flat_map(|(name, rows)| rows.iter().map(|(at, has)| (*name, *at, *has)))
    }
}
