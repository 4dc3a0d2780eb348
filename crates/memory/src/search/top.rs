//! The best few of many.
//! Owns: keeping them in bounded memory. Must not: depend on the order in which they are offered.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The `k` greatest of what was offered.
pub(super) struct Top<T> {
    k: usize,
    /// The least of those kept is on top.
    kept: BinaryHeap<Reverse<T>>,
}

impl<T: Ord + Copy> Top<T> {
    pub(super) fn new(k: usize) -> Self {
        Top { k, kept: BinaryHeap::new() }
    }

    #[inline]
    pub(super) fn offer(&mut self, one: T) {
        if self.kept.len() < self.k {
            self.kept.push(Reverse(one));
        } else if let Some(mut least) = self.kept.peek_mut()
            && least.0 < one
        {
            *least = Reverse(one);
        }
    }

    /// What must be reached to be among the `k`; `None` while there is room for anything.
    #[inline]
    pub(super) fn floor(&self) -> Option<T> {
        self.kept.peek().filter(|_| self.kept.len() >= self.k).map(|least| least.0)
    }

    /// The best of all parts.
    pub(super) fn merged(k: usize, parts: Vec<Top<T>>) -> Self {
        let mut all = Top::new(k);
        for Reverse(one) in parts.into_iter().flat_map(|part| part.kept) {
            all.offer(one);
        }
        all
    }

    /// The greatest first.
    pub(super) fn into_sorted(self) -> Vec<T> {
        self.kept.into_sorted_vec().into_iter().map(|one| one.0).collect()
    }
}
