//! What stays in the index when it is full.
//! Owns: who goes first. Must not: look at a query; what is gone is gone for all of them.

use super::item::Item;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// The places of the items that go so that at most `count_max` stay: the least important first, and of equally
/// important ones the oldest.
#[must_use]
pub fn over(items: &[Item], count_max: usize) -> BTreeSet<usize> {
    let mut order: Vec<(usize, &Item)> = items.iter().enumerate().collect();
    order.sort_unstable_by_key(|(at, item)| (item.importance, item.offset, item.chunk, *at));
    order.truncate(items.len().saturating_sub(count_max));
    order.into_iter().map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::item::tests::item;
    use std::vec;

    #[test]
    fn the_least_important_go_first_then_the_oldest() {
        let items = vec![item(1, 0.5), item(2, 0.1), item(3, 0.5), item(4, 0.9)];
        assert_eq!(over(&items, 4), BTreeSet::new());
        assert_eq!(over(&items, 3), BTreeSet::from([1]));
        assert_eq!(over(&items, 2), BTreeSet::from([0, 1]));
        assert_eq!(over(&items, 0), BTreeSet::from([0, 1, 2, 3]));
    }
}
