//! What stays in the index when it is full.
//! Owns: who goes first. Must not: look at a query; what is gone is gone for all of them.

use super::item::Item;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// What an index may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Items.
    pub count: usize,
    /// Bytes of all labels, as [`Item::bytes`] estimates them.
    pub bytes: usize,
    /// Values in all labels, as [`Item::values`] estimates them.
    pub values: usize,
}

impl Room {
    /// Whether there is room for all of them.
    #[must_use]
    pub fn holds(&self, items: &[Item]) -> bool {
        items.len() <= self.count
            && items.iter().map(Item::bytes).sum::<usize>() <= self.bytes
            && items.iter().map(Item::values).sum::<usize>() <= self.values
    }
}

/// The places of the items that go so that the rest has room: the least important first, and of equally important ones
/// the oldest.
#[must_use]
pub fn over(items: &[Item], room: Room) -> BTreeSet<usize> {
    let mut order: Vec<(usize, &Item)> = items.iter().enumerate().collect();
    order.sort_unstable_by_key(|(at, item)| (item.importance, item.offset, item.chunk, *at));
    let (mut bytes, mut values) = (0_usize, 0_usize);
    let kept = order.iter().rev().take(room.count).take_while(|(_, item)| {
        (bytes, values) = (bytes.saturating_add(item.bytes()), values.saturating_add(item.values()));
        bytes <= room.bytes && values <= room.values
    });
    let gone = order.len() - kept.count();
    order.into_iter().take(gone).map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::item::tests::item;
    use std::vec;

    #[test]
    fn the_least_important_go_first_then_the_oldest() {
        let items = vec![item(1, 0.5), item(2, 0.1), item(3, 0.5), item(4, 0.9)];
        let room = |count| Room { count, bytes: 1 << 20, values: 1 << 20 };
        assert_eq!(over(&items, room(4)), BTreeSet::new());
        assert_eq!(over(&items, room(3)), BTreeSet::from([1]));
        assert_eq!(over(&items, room(2)), BTreeSet::from([0, 1]));
        assert_eq!(over(&items, room(0)), BTreeSet::from([0, 1, 2, 3]));
        assert!(room(4).holds(&items) && !room(3).holds(&items));
    }

    #[test]
    fn labels_have_room_too() {
        let items = vec![item(1, 0.5), item(2, 0.9), item(3, 0.1)];
        let two = Room { count: 9, bytes: 2 * items[0].bytes(), values: 1 << 20 };
        assert_eq!(over(&items, two), BTreeSet::from([2]));
        let one = Room { count: 9, bytes: 1 << 20, values: items[0].values() };
        assert_eq!(over(&items, one), BTreeSet::from([0, 2]));
    }
}
