//! What items of a packet name, however they are written.
//! Owns: when two texts name the same. Must not: say what must be in a packet.

use crate::reference::Reference;
use crate::world::World;
use alloc::collections::BTreeSet;

/// What a text names, however it is written: the kind and id of a record, and the version if it names one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Named<'w> {
    kind: &'w str,
    id: &'w str,
    version: Option<Version<'w>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Version<'w> {
    /// One that is there.
    Row(u64),
    Number(Option<u32>, Option<&'w str>),
}

impl<'w> Named<'w> {
    pub(super) fn read(world: &World, text: &'w str) -> Self {
        let Some(to) = Reference::read(text) else { return Named { kind: "", id: text, version: None } };
        let kind = match to.kind {
            "src" => "source_record",
            "srcset" => "source_set",
            other => other,
        };
        let is_pinned = to.version.is_some() || to.hash.is_some();
        let version = is_pinned.then(|| match world.resolve(Reference { kind, ..to }) {
            Some(row) => Version::Row(row.seq()),
            None => Version::Number(to.version, to.hash),
        });
        Named { kind, id: to.id, version }
    }

    /// The same, whatever version.
    fn any(self) -> Self {
        Named { version: None, ..self }
    }
}

/// Names of items.
#[derive(Default)]
pub(super) struct Items<'w> {
    exact: BTreeSet<Named<'w>>,
    /// The same without versions.
    any: BTreeSet<Named<'w>>,
}

impl<'w> Items<'w> {
    pub(super) fn of(names: impl Iterator<Item = Named<'w>>) -> Self {
        let exact: BTreeSet<Named<'w>> = names.collect();
        let any = exact.iter().map(|one| one.any()).collect();
        Items { exact, any }
    }

    /// Whether an item is among them: one of which no version is asked for or named may be any.
    pub(super) fn have(&self, item: Named<'w>) -> bool {
        match item.version {
            Some(_) => self.exact.contains(&item) || self.exact.contains(&item.any()),
            None => self.any.contains(&item),
        }
    }
}
