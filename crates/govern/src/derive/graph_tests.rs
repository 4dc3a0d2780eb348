//! Cycles, order and reachability, against their definitions.

use super::*;
use proptest::prelude::*;
use std::string::String;

fn names(count: usize) -> Vec<String> {
    (0..count).map(|at| std::format!("n{at}")).collect()
}

fn graph<'a>(names: &'a [String], edges: &[(usize, usize)]) -> Graph<'a> {
    let at = |at: usize| names[at % names.len()].as_str();
    Graph::new(names.iter().map(String::as_str), edges.iter().map(|(from, to)| (at(*from), at(*to))))
}

#[test]
fn cycles_are_found_and_only_they() {
    let check = |edges: &[(&str, &str)], expected: &[&str]| {
        let found = Graph::new([], edges.iter().copied()).on_cycle();
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected, "{edges:?}");
    };
    check(&[], &[]);
    check(&[("a", "a")], &["a"]);
    check(&[("b", "a"), ("c", "a"), ("d", "b"), ("d", "c")], &[]);
    check(&[("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")], &["b", "c"]);
}

#[test]
fn a_long_chain_is_no_deep_stack() {
    let names = names(200_000);
    let pairs = names.windows(2).map(|pair| (pair[1].as_str(), pair[0].as_str()));
    let graph = Graph::new([], pairs);
    assert_eq!(graph.order().map(|order| order.len()), Some(200_000));
    assert_eq!(graph.reaches(&[("n199999", "n0"), ("n0", "n199999")]), [true, false]);
}

fn edges() -> impl Strategy<Value = Vec<(usize, usize)>> {
    prop::collection::vec((0..9_usize, 0..9_usize), 0..20)
}

proptest! {
    #[test]
    fn an_order_puts_first_what_is_depended_on(edges in edges()) {
        let names = names(9);
        let graph = graph(&names, &edges);
        match graph.order() {
            Some(order) => {
                prop_assert_eq!(order.len(), 9);
                let place = |name: &str| order.iter().position(|one| *one == name);
                for (from, to) in &edges {
                    prop_assert!(place(&names[*to]) < place(&names[*from]));
                }
            }
            None => prop_assert!(names.iter().any(|name| graph.reachable(name).contains(name.as_str()))),
        }
    }

    #[test]
    fn a_node_is_on_a_cycle_if_it_reaches_itself(edges in edges()) {
        let names = names(9);
        let graph = graph(&names, &edges);
        let own: BTreeSet<&str> =
            names.iter().map(String::as_str).filter(|name| graph.reachable(name).contains(name)).collect();
        prop_assert_eq!(graph.on_cycle(), own);
    }

    #[test]
    fn many_questions_have_the_answers_of_one_each(edges in edges()) {
        let names = names(9);
        let graph = graph(&names, &edges);
        let pairs: Vec<(&str, &str)> =
            names.iter().flat_map(|from| names.iter().map(move |to| (from.as_str(), to.as_str()))).collect();
        let single: Vec<bool> = pairs.iter().map(|(from, to)| graph.reachable(from).contains(to)).collect();
        prop_assert_eq!(graph.reaches(&pairs), single);
    }

    #[test]
    fn the_order_of_edges_does_not_matter(
        (edges, mixed) in edges().prop_flat_map(|edges| (Just(edges.clone()), Just(edges).prop_shuffle())),
    ) {
        let names = names(9);
        let (one, other) = (graph(&names, &edges), graph(&names, &mixed));
        prop_assert_eq!((one.order(), one.on_cycle()), (other.order(), other.on_cycle()));
    }
}
