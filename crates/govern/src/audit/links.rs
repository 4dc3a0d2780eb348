//! Which parts belong together.
//! Owns: joining them. Must not: know why.

use super::Part;
use alloc::collections::BTreeMap;

/// Which part each belongs to, where some belong together.
#[derive(Default)]
pub(super) struct Links(BTreeMap<Part, Part>);

impl Links {
    /// The first of those that belong together with a part.
    pub(super) fn root(&self, mut part: Part) -> Part {
        while let Some(next) = self.0.get(&part) {
            part = *next;
        }
        part
    }

    /// These two belong together.
    pub(super) fn join(&mut self, one: Part, other: Part) {
        let (one, other) = (self.root(one), self.root(other));
        if one != other {
            self.0.insert(one.max(other), one.min(other));
        }
    }
}
