//! Stretches of a log: from a place on, up to another one without it.
//! Owns: taking them together and apart. Must not: know what holds there.

use alloc::vec::Vec;

/// From a place on, and before another one.
pub(super) type Span = (u64, u64);

/// Where a course is in a state that counts.
pub(super) fn spans<K: Copy>(course: &[(u64, Option<K>)], counts: impl Fn(K) -> bool) -> Vec<Span> {
    let ends = course.iter().skip(1).map(|(at, _)| *at).chain([u64::MAX]);
    let own = course.iter().zip(ends).filter(|((_, state), _)| state.is_some_and(&counts));
    joined(own.map(|((from, _), to)| (*from, to)).collect())
}

/// What of a stretch lies in another one.
pub(super) fn within(span: Span, time: Span) -> Option<Span> {
    let (from, to) = (span.0.max(time.0), span.1.min(time.1));
    (from < to).then_some((from, to))
}

/// Stretches in order, those that meet as one.
pub(super) fn joined(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut all: Vec<Span> = Vec::new();
    for (from, to) in spans.into_iter().filter(|(from, to)| from < to) {
        match all.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            Some(_) | None => all.push((from, to)),
        }
    }
    all
}

/// What of some stretches lies in none of others; both are in order and do not meet.
pub(super) fn minus(spans: &[Span], others: &[Span]) -> Vec<Span> {
    let (mut all, mut others) = (Vec::new(), others.iter().peekable());
    for (from, to) in spans {
        let mut from = *from;
        while from < *to {
            while others.next_if(|(_, end)| *end <= from).is_some() {}
            match others.peek() {
                Some((begin, end)) if begin < to => {
                    all.extend(within((from, *begin), (from, *to)));
                    from = *end;
                }
                Some(_) | None => {
                    all.push((from, *to));
                    from = *to;
                }
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::course::{Course, stands};
    use proptest::prelude::*;

    /// The places that stretches cover.
    fn covered(spans: &[Span]) -> Vec<u64> {
        (0..24).filter(|at| spans.iter().any(|(from, to)| from <= at && at < to)).collect()
    }

    fn any() -> impl Strategy<Value = Vec<Span>> {
        proptest::collection::vec((0_u64..20, 0_u64..20), 0..6)
    }

    proptest! {
        #[test]
        fn stretches_cover_what_they_should(one in any(), other in any()) {
            let (first, second) = (joined(one.clone()), joined(other));
            prop_assert_eq!(covered(&first), covered(&one));
            prop_assert!(first.windows(2).all(|pair| pair[0].1 < pair[1].0));
            let mut expected = covered(&first);
            expected.retain(|at| !covered(&second).contains(at));
            prop_assert_eq!(covered(&minus(&first, &second)), expected);
        }

        #[test]
        fn a_course_counts_where_it_stands_so(
            turns in proptest::collection::btree_map(0_u64..20, proptest::option::of(0_u8..3), 0..8)
        ) {
            let course: Course<u8> = turns.into_iter().collect();
            let expected: Vec<u64> =
                (0..24).filter(|at| stands(&course, *at) == Some(1)).collect();
            prop_assert_eq!(covered(&spans(&course, |state| state == 1)), expected);
        }
    }
}
