//! Which parts belong together.
//! Owns: joining them. Must not: know why.

use super::pass::Part;
use alloc::vec::Vec;

/// For each part one that it belongs together with, itself if it is the first of them.
#[derive(Default)]
pub(super) struct Links(Vec<u32>);

impl Links {
    /// The first of those that belong together with a part. Ways are halved as they are gone, so that none stays long.
    pub(super) fn root(&mut self, part: Part) -> Part {
        let mut at = part.0;
        loop {
            let next = self.next(at);
            if next == at {
                return Part(at);
            }
            let further = self.next(next);
            if let Some(slot) = self.0.get_mut(at as usize) {
                *slot = further;
            }
            at = further;
        }
    }

    /// These two belong together.
    pub(super) fn join(&mut self, one: Part, other: Part) {
        let (one, other) = (self.root(one), self.root(other));
        let (first, second) = (one.min(other), one.max(other));
        while self.0.len() <= second.0 as usize {
            self.0.push(u32::try_from(self.0.len()).unwrap_or(u32::MAX));
        }
        if let Some(slot) = self.0.get_mut(second.0 as usize) {
            *slot = first.0;
        }
    }

    fn next(&self, at: u32) -> u32 {
        self.0.get(at as usize).copied().unwrap_or(at)
    }
}
