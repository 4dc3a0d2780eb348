//! The parts of a log, and which of them belong together.
//! Owns: their names. Must not: hold a row.

use crate::audit::links::Links;
use crate::audit::names::{Name, Names};
use crate::audit::run_of;
use crate::audit::scope::{Extent, Large};
use crate::audit::shared::{At, Has, Shared};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

/// Which part, by the order in which they came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::audit) struct Part(pub(in crate::audit) u32);

/// Streams that are looked at together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Their names.
    pub streams: BTreeSet<String>,
    pub(super) parts: Vec<Part>,
}

/// What is known of a part but for its names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) rows: usize,
    pub(super) bytes: usize,
    pub(super) ends: (u64, u64),
    /// Shared rows that were known when it was looked at.
    pub(super) shared: usize,
    /// Among which ones it was looked at.
    pub(super) batch: u32,
}

/// The parts so far.
#[derive(Default)]
pub(super) struct Parts {
    streams: Vec<Box<str>>,
    sizes: Vec<Size>,
    /// What they are called and belong to.
    own: Vec<(Name, Part)>,
    heads: Vec<(Name, Part)>,
    /// What they name that they do not have.
    wanted: Vec<(Name, Part)>,
    links: Links,
}

/// Which parts are looked at again.
pub(super) struct Together {
    pub(super) groups: Vec<Group>,
    /// Those that are too large, and how large.
    pub(super) large: Large,
    pub(super) too_large: Vec<Part>,
}

impl Parts {
    pub(super) fn add(&mut self, stream: &str, names: Names, size: Size) -> Part {
        let part = Part(u32::try_from(self.streams.len()).unwrap_or(u32::MAX));
        self.streams.push(stream.into());
        self.sizes.push(size);
        let own = names.own.into_iter().chain([Name::of_stream(&run_of(stream))]);
        self.own.extend(own.map(|name| (name, part)));
        self.heads.extend(names.heads.into_iter().map(|name| (name, part)));
        self.wanted.extend(names.wanted.into_iter().map(|name| (name, part)));
        part
    }

    /// All are in: joins those that belong together, and tells which must be looked at again. `disputed` are shared rows on which
    /// parts do not agree; with `is_one` all are.
    pub(super) fn together(
        &mut self,
        shared: &Shared,
        disputed: impl Fn(At) -> bool,
        is_one: bool,
        together_bytes: usize,
    ) -> Together {
        for names in [&mut self.own, &mut self.heads, &mut self.wanted] {
            names.sort_unstable();
        }
        if is_one {
            (1..self.streams.len())
                .filter_map(|at| u32::try_from(at).ok())
                .for_each(|at| self.links.join(Part(0), Part(at)));
        }
        self.join();
        let again = self.join_shared(shared, disputed);
        self.own = Vec::new();
        self.heads = Vec::new();
        self.wanted = Vec::new();
        self.groups(&again, together_bytes)
    }

    fn join(&mut self) {
        for pair in self.own.windows(2) {
            if let [(name, one), (same, other)] = pair
                && name == same
            {
                self.links.join(*one, *other);
            }
        }
        for (name, part) in &self.wanted {
            let owner = having(&self.own, *name).first().or_else(|| having(&self.heads, *name).first());
            if let Some((_, owner)) = owner {
                self.links.join(*part, *owner);
            }
        }
    }

    /// Who goes by a shared row goes by what that one names, and by what those name that it names. Gives the parts that must be looked
    /// at again: those that did not know a row that they go by, and those that do not agree on one.
    fn join_shared(&mut self, shared: &Shared, disputed: impl Fn(At) -> bool) -> BTreeSet<Part> {
        let mut chains = Links::default();
        for (name, at, _) in shared.names().filter(|(_, _, has)| *has == Has::Wanted) {
            shared.owners(name).for_each(|owner| chains.join(Part(at.0), Part(owner.0)));
        }
        let (mut behind, mut users) = (BTreeMap::new(), Vec::new());
        let mut again: BTreeSet<Part> = BTreeSet::new();
        for (name, at, has) in shared.names() {
            let own = having(&self.own, name).iter().chain(having(&self.heads, name));
            let wanted = having(&self.wanted, name).iter().filter(|_| has == Has::Own);
            for (_, part) in own.chain(wanted) {
                let size = self.sizes.get(part.0 as usize);
                if size.is_some_and(|size| size.shared <= at.0 as usize) {
                    again.insert(*part);
                }
                users.push((at, *part));
            }
            if has == Has::Wanted {
                for (_, part) in having(&self.own, name) {
                    let first = *behind.entry(chains.root(Part(at.0))).or_insert(*part);
                    self.links.join(first, *part);
                }
            }
        }
        let mut disputing: BTreeMap<At, Part> = BTreeMap::new();
        for (at, part) in users {
            if let Some(other) = behind.get(&chains.root(Part(at.0))) {
                self.links.join(part, *other);
            }
            if disputed(at) {
                again.insert(part);
                let first = *disputing.entry(at).or_insert(part);
                self.links.join(first, part);
            }
        }
        again
    }

    fn groups(&mut self, again: &BTreeSet<Part>, together_bytes: usize) -> Together {
        let mut all: BTreeMap<Part, Vec<Part>> = BTreeMap::new();
        for part in (0..self.streams.len()).filter_map(|at| u32::try_from(at).ok()).map(Part) {
            all.entry(self.links.root(part)).or_default().push(part);
        }
        let mut together = Together { groups: Vec::new(), large: Large::default(), too_large: Vec::new() };
        for parts in all.into_values() {
            let size = |part: &Part| self.sizes.get(part.0 as usize);
            let bytes: usize = parts.iter().filter_map(size).map(|size| size.bytes).sum();
            let streams = || parts.iter().filter_map(|part| self.streams.get(part.0 as usize));
            if bytes > together_bytes {
                together.large.streams.extend(streams().map(|stream| Name::of_stream(stream)));
                let sizes: Vec<&Size> = parts.iter().filter_map(size).collect();
                let extent = Extent {
                    first: sizes.iter().map(|size| size.ends.0).min().unwrap_or(0),
                    last: sizes.iter().map(|size| size.ends.1).max().unwrap_or(0),
                    rows: sizes.iter().map(|size| size.rows as u64).sum(),
                    streams: streams().collect::<BTreeSet<_>>().len() as u64,
                };
                together.large.groups.push(extent);
                together.too_large.extend(parts);
            } else if !self.was_one_batch(&parts) || parts.iter().any(|part| again.contains(part)) {
                let streams = streams().map(|stream| String::from(&**stream)).collect();
                together.groups.push(Group { streams, parts });
            }
        }
        together.large.streams.sort_unstable();
        together.large.streams.dedup();
        together
    }
}

impl Parts {
    /// Whether parts were looked at together already.
    fn was_one_batch(&self, parts: &[Part]) -> bool {
        let mut batches = parts.iter().map(|part| self.sizes.get(part.0 as usize).map(|size| size.batch));
        let first = batches.next();
        batches.all(|batch| Some(batch) == first)
    }
}

/// Those of a sorted list that have a name.
fn having(all: &[(Name, Part)], name: Name) -> &[(Name, Part)] {
    let rest = all.get(all.partition_point(|(own, _)| *own < name)..).unwrap_or_default();
    rest.get(..rest.partition_point(|(own, _)| *own == name)).unwrap_or_default()
}
