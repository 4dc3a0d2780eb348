//! Many things with a course of their own, looked at from many places of a log.
//! Owns: looking so that neither many things nor many places cost more than going through all of it. Must not: know what they are.

use crate::world::Record;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// What a thing is from each place on, in order; `None` while it is nothing that counts.
pub(super) type Course<K> = Vec<(u64, Option<K>)>;

/// A thing: from where on it is there, and what it is from place to place.
pub(super) type Thing<'c, K> = (u64, &'c [(u64, Option<K>)]);

/// Tells for each place what the things are then, and how many of them: each as its course has it up to there.
///
/// Few places ask each thing, many are met on one way along all courses.
pub(super) fn at_places<K: Ord + Copy>(
    things: &[Thing<'_, K>],
    places: &[u64],
    mut tell: impl FnMut(usize, &BTreeMap<K, usize>),
) {
    let mut order: Vec<(usize, u64)> = places.iter().copied().enumerate().collect();
    order.sort_by_key(|(_, place)| *place);
    let moves: usize = things.iter().map(|(_, course)| course.len()).sum();
    if things.len().saturating_mul(places.len()) <= moves {
        for (asked, place) in order {
            let mut counts = BTreeMap::new();
            let there = things.iter().filter(|(from, _)| *from <= place);
            for what in there.filter_map(|(_, course)| stands(course, place)) {
                *counts.entry(what).or_default() += 1;
            }
            tell(asked, &counts);
        }
        return;
    }
    let mut turns: Vec<(u64, usize, Option<K>, Option<K>)> = Vec::with_capacity(moves);
    for (thing, (from, course)) in things.iter().enumerate() {
        let mut before = stands(course, *from);
        turns.push((*from, thing, None, before));
        let rest = course.get(course.partition_point(|(at, _)| at <= from)..).unwrap_or_default();
        for (at, after) in rest {
            turns.push((*at, thing, before, *after));
            before = *after;
        }
    }
    // The turns of one thing at one place stay in their order.
    turns.sort_by_key(|(from, thing, _, _)| (*from, *thing));
    let (mut counts, mut turns) = (BTreeMap::new(), turns.into_iter().peekable());
    for (asked, place) in order {
        while let Some((_, _, before, after)) = turns.next_if(|(from, ..)| *from <= place) {
            leave(&mut counts, before);
            after.into_iter().for_each(|what| *counts.entry(what).or_default() += 1);
        }
        tell(asked, &counts);
    }
}

/// What a course has at a place.
pub(super) fn stands<K: Copy>(course: &[(u64, Option<K>)], place: u64) -> Option<K> {
    let passed = course.partition_point(|(from, _)| *from <= place);
    passed.checked_sub(1).and_then(|last| course.get(last)).and_then(|(_, what)| *what)
}

fn leave<K: Ord>(counts: &mut BTreeMap<K, usize>, what: Option<K>) {
    let Some(what) = what else { return };
    if let Some(count) = counts.get_mut(&what) {
        *count = count.saturating_sub(1);
        if *count == 0 {
            counts.remove(&what);
        }
    }
}

/// For each place the first of all things behind it; each list is in order.
pub(super) fn firsts_behind<T: Copy>(lists: &[&[(u64, T)]], places: &[u64]) -> Vec<Option<(u64, T)>> {
    let next =
        |list: &[(u64, T)], place: u64| list.get(list.partition_point(|(at, _)| *at <= place)).copied();
    if lists.len().saturating_mul(places.len()) <= lists.iter().map(|list| list.len()).sum() {
        let first =
            |place: &u64| lists.iter().filter_map(|list| next(list, *place)).min_by_key(|(at, _)| *at);
        return places.iter().map(first).collect();
    }
    let mut all: Vec<(u64, T)> = lists.iter().flat_map(|list| list.iter().copied()).collect();
    all.sort_by_key(|(at, _)| *at);
    places.iter().map(|place| next(&all, *place)).collect()
}

/// Rows by the row that they rest on, each of those once.
pub(super) fn by_row<'w>(
    rows: impl Iterator<Item = (Record<'w>, Record<'w>)>,
) -> Vec<(Record<'w>, Vec<Record<'w>>)> {
    let mut all: BTreeMap<u64, (Record<'w>, Vec<Record<'w>>)> = BTreeMap::new();
    for (on, row) in rows {
        all.entry(on.seq()).or_insert_with(|| (on, Vec::new())).1.push(row);
    }
    all.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;
    use std::vec;

    /// What is told of some places.
    fn told(courses: &[Course<char>], places: &[u64]) -> Vec<String> {
        let courses: Vec<Thing<'_, char>> =
            (0..).step_by(3).zip(courses).map(|(from, course)| (from, course.as_slice())).collect();
        let mut all = vec![String::new(); places.len()];
        at_places(&courses, places, |asked, counts| {
            for (what, count) in counts {
                (0..*count).for_each(|_| all[asked].push(*what));
            }
        });
        all
    }

    #[test]
    fn few_places_and_many_are_told_the_same() {
        let courses: Vec<Course<char>> = vec![
            vec![(2, Some('a')), (5, None), (5, Some('b')), (9, Some('a'))],
            // It is there from the third place on.
            vec![(1, Some('b')), (4, Some('a'))],
            vec![],
        ];
        let expected = ["", "", "a", "ab", "aa", "ab", "ab", "ab", "ab", "aa", "aa"];
        let places: Vec<u64> = (0..11).collect();
        assert_eq!(told(&courses, &places), expected);
        let backwards: Vec<u64> = (0..11).rev().collect();
        assert!(told(&courses, &backwards).iter().eq(expected.iter().rev()));
        for place in places {
            let index = usize::try_from(place).unwrap();
            assert_eq!(told(&courses, &[place]), [expected[index]], "{place}");
        }
    }

    #[test]
    fn the_first_thing_behind_a_place_is_found_among_few_and_many() {
        let lists: [&[(u64, char)]; 3] = [&[(2, 'a'), (7, 'b')], &[(3, 'c')], &[]];
        let expected = [Some((2, 'a')), Some((2, 'a')), Some((3, 'c')), Some((7, 'b')), Some((7, 'b'))];
        assert_eq!(firsts_behind(&lists, &[0, 1, 2, 3, 6]), expected);
        for (place, one) in [0, 1, 2, 3, 6].into_iter().zip(expected) {
            assert_eq!(firsts_behind(&lists, &[place]), [one]);
        }
        assert_eq!(firsts_behind(&lists, &[7]), [None]);
    }
}
