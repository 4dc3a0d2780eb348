//! Cascades settle, look at each outcome once, tell rings, and keep their bound.

use super::*;
use proptest::prelude::*;

const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

fn named(edges: &[(usize, usize)]) -> Vec<(&'static str, &'static str)> {
    edges.iter().map(|(from, to)| (NAMES[*from], NAMES[*to])).collect()
}

/// The most outcomes in a row from the first one on, where there is no cycle.
fn longest(edges: &[(usize, usize)]) -> u64 {
    let mut depth = [None; 8];
    depth[0] = Some(0);
    for _ in NAMES {
        for (dependent, upstream) in edges {
            if let Some(above) = depth[*upstream] {
                depth[*dependent] = depth[*dependent].max(Some(above + 1));
            }
        }
    }
    depth.into_iter().flatten().max().unwrap_or(0)
}

#[test]
fn a_diamond_is_looked_at_once() {
    let edges = [("b", "a"), ("c", "a"), ("d", "b"), ("d", "c")];
    let cascade = Cascade::run(edges, "a", 2);
    assert_eq!((cascade.status(), cascade.depth()), (Status::Quiescent, 2));
    assert_eq!(cascade.visited(), ["a", "b", "c", "d"]);
    let shallow = Cascade::run(edges, "a", 1);
    assert_eq!((shallow.status(), shallow.depth()), (Status::MaxDepthExceeded, 1));
}

#[test]
fn without_dependents_it_is_quiescent_at_once() {
    let cascade = Cascade::begin([("b", "c")], "a", 0);
    assert_eq!((cascade.status(), cascade.depth()), (Status::Quiescent, 0));
    assert_eq!(cascade.visited(), ["a"]);
}

#[test]
fn what_was_not_due_changes_nothing() {
    let mut cascade = Cascade::begin([("b", "a"), ("c", "b")], "a", 9);
    cascade.settle("c");
    cascade.settle("a");
    cascade.settle("nobody");
    assert_eq!(cascade.active().collect::<Vec<_>>(), ["b"]);
    assert_eq!((cascade.status(), cascade.visited()), (Status::Running, &["a"][..]));
}

/// Each rests only on those before it: no cycle.
fn acyclic() -> impl Strategy<Value = Vec<(usize, usize)>> {
    let edge = (1..8_usize).prop_flat_map(|dependent| (Just(dependent), 0..dependent));
    prop::collection::vec(edge, 0..20)
}

proptest! {
    #[test]
    fn without_a_cycle_it_ends_quiescent_and_each_is_looked_at_once(edges in acyclic()) {
        let cascade = Cascade::run(named(&edges), "a", 8);
        prop_assert_eq!(cascade.status(), Status::Quiescent);
        let once: BTreeSet<&str> = cascade.visited().iter().copied().collect();
        prop_assert_eq!(once.len(), cascade.visited().len());
        let down = named(&edges).into_iter().map(|(dependent, upstream)| (upstream, dependent));
        let mut touched = Graph::new(["a"], down).reachable("a");
        touched.insert("a");
        prop_assert_eq!(&once, &touched);
        // What an outcome rests on was looked at before it.
        let place = |name: &str| cascade.visited().iter().position(|one| *one == name);
        for (dependent, upstream) in named(&edges) {
            if let (Some(dependent), Some(upstream)) = (place(dependent), place(upstream)) {
                prop_assert!(upstream < dependent);
            }
        }
    }

    #[test]
    fn the_bound_of_depth_is_exact(edges in acyclic(), depth_max in 0..8_u64) {
        let cascade = Cascade::run(named(&edges), "a", depth_max);
        let is_within = longest(&edges) <= depth_max;
        let expected = if is_within { Status::Quiescent } else { Status::MaxDepthExceeded };
        prop_assert_eq!(cascade.status(), expected);
        prop_assert_eq!(cascade.depth(), longest(&edges).min(depth_max));
    }

    #[test]
    fn a_cycle_is_told(edges in acyclic(), depth_max in 0..8_u64, tail in 0..8_usize) {
        let mut edges = named(&edges);
        // A ring that the origin leads to.
        edges.extend([("x", NAMES[tail]), ("y", "x"), ("x", "y"), (NAMES[tail], "a")]);
        let cascade = Cascade::run(edges, "a", depth_max);
        prop_assert_eq!(cascade.status(), Status::CycleDetected);
        prop_assert!(cascade.visited().is_empty());
    }

    #[test]
    fn success_comes_last_in_whatever_order_they_are_looked_at(edges in acyclic(), picks in prop::collection::vec(0..8_usize, 0..40)) {
        let mut cascade = Cascade::begin(named(&edges), "a", 8);
        for pick in picks {
            let active: Vec<&str> = cascade.active().collect();
            prop_assert_eq!(cascade.status() == Status::Quiescent, active.is_empty());
            match active.get(pick % active.len().max(1)) {
                Some(outcome) => cascade.settle(outcome),
                None => break,
            }
        }
        let whole = Cascade::run(named(&edges), "a", 8);
        if cascade.status() == Status::Quiescent {
            prop_assert_eq!((cascade.visited().len(), cascade.depth()), (whole.visited().len(), whole.depth()));
        }
    }
}
