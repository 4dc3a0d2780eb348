//! Directed graphs over ids: what lies on a cycle, what is reached from where, what comes before what.
//! Owns: the answers, the same for the same edges in whatever order they are given. Must not: know what an edge means.
//!
//! Nothing here recurses: a chain of a hundred thousand steps must not be deeper than the stack.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;

/// So many questions are answered in one pass: the bits of a word.
const BATCH: usize = 64;

/// A directed graph. An edge goes from what depends to what it depends on, wherever that matters.
#[derive(Clone, Debug)]
pub struct Graph<'a> {
    /// The ids, sorted.
    names: Vec<&'a str>,
    /// Where the edges of each node lead, sorted, each once.
    edges: Vec<Vec<usize>>,
    /// The nodes that reach each other share a component. An edge never leads to a component of a higher number.
    component: Vec<usize>,
    /// The nodes, those of a lower component first.
    order: Vec<usize>,
}

impl<'a> Graph<'a> {
    /// A graph of nodes and edges; the ends of an edge are nodes too.
    pub fn new(
        nodes: impl IntoIterator<Item = &'a str>,
        edges: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let pairs: BTreeSet<(&str, &str)> = edges.into_iter().collect();
        let ends = pairs.iter().flat_map(|(from, to)| [*from, *to]);
        let names: BTreeSet<&str> = nodes.into_iter().chain(ends).collect();
        let place: BTreeMap<&str, usize> = names.iter().enumerate().map(|(at, name)| (*name, at)).collect();
        let mut edges: Vec<Vec<usize>> = vec![Vec::new(); names.len()];
        for (from, to) in &pairs {
            let out = place.get(from).and_then(|from| edges.get_mut(*from));
            if let Some((out, to)) = out.zip(place.get(to)) {
                out.push(*to);
            }
        }
        let component = Search::components(&edges);
        let mut order: Vec<(usize, usize)> = component.iter().copied().zip(0..).collect();
        order.sort_unstable();
        let order = order.into_iter().map(|(_, at)| at).collect();
        Graph { names: names.into_iter().collect(), edges, component, order }
    }

    /// The nodes that lie on a cycle; one that leads to itself does.
    #[must_use]
    pub fn on_cycle(&self) -> BTreeSet<&'a str> {
        // In a component of several nodes, and only there or at a loop, an edge stays inside.
        let stays = |from: usize, to: &usize| self.component.get(from) == self.component.get(*to);
        let ends = self.edges.iter().enumerate();
        let inner = ends.flat_map(|(from, out)| {
            out.iter().filter(move |to| stays(from, to)).flat_map(move |to| [from, *to])
        });
        inner.filter_map(|at| self.names.get(at).copied()).collect()
    }

    /// All nodes, what an edge leads to before what it comes from; `None` if there is a cycle.
    #[must_use]
    pub fn order(&self) -> Option<Vec<&'a str>> {
        self.on_cycle().is_empty().then(|| self.order.iter().filter_map(|at| self.name(*at)).collect())
    }

    /// The number of the component of a node: it is higher than those of all that is reached from it, unless these reach it too.
    #[must_use]
    pub fn component(&self, node: &str) -> Option<usize> {
        self.place(node).and_then(|at| self.component.get(at)).copied()
    }

    /// What is reached from a node by at least one edge.
    #[must_use]
    pub fn reachable(&self, from: &str) -> BTreeSet<&'a str> {
        let mut seen = BTreeSet::new();
        let mut open: Vec<usize> = self.place(from).into_iter().collect();
        while let Some(at) = open.pop() {
            let out = self.edges.get(at).map(Vec::as_slice).unwrap_or_default();
            open.extend(out.iter().copied().filter(|to| seen.insert(*to)));
        }
        seen.into_iter().filter_map(|at| self.name(at)).collect()
    }

    /// Whether the second of each pair is reached from the first by at least one edge. Sixty-four pairs take one pass over what lies
    /// between them, so that the many pairs of a long plan don't take one each.
    #[must_use]
    pub fn reaches(&self, pairs: &[(&str, &str)]) -> Vec<bool> {
        let mut found = vec![false; pairs.len()];
        // What a pair is about, by where it starts, so that those of one pass lie close to each other.
        let mut open = Vec::new();
        for (at, (from, to)) in pairs.iter().enumerate() {
            if let (Some(from), Some(to)) = (self.component(from), self.component(to)) {
                open.push(Question { from, to, at });
            }
        }
        open.sort_unstable();
        for batch in open.chunks(BATCH) {
            for (question, is_reached) in batch.iter().zip(self.answers(batch)) {
                if let Some(slot) = found.get_mut(question.at) {
                    *slot = is_reached;
                }
            }
        }
        found
    }

    fn answers(&self, batch: &[Question]) -> Vec<bool> {
        let bits = || (0..).map_while(|at| 1_u64.checked_shl(at));
        let lowest = batch.iter().map(|question| question.to).min().unwrap_or_default();
        let highest = batch.iter().map(|question| question.from).max().unwrap_or_default();
        let mut wanted = vec![0_u64; self.names.len()];
        for (question, bit) in batch.iter().zip(bits()) {
            if let Some(slot) = wanted.get_mut(question.to) {
                *slot |= bit;
            }
        }
        let mut reached = vec![0_u64; self.names.len()];
        let part = |node: &usize| self.component.get(*node).copied().unwrap_or_default();
        let first = self.order.partition_point(|node| part(node) < lowest);
        for node in self.order.iter().skip(first).take_while(|node| part(node) <= highest) {
            let out = self.edges.get(*node).map(Vec::as_slice).unwrap_or_default();
            let sum = out.iter().map(part).fold(0, |sum, to| sum | word(&reached, to) | word(&wanted, to));
            if let Some(slot) = reached.get_mut(part(node)) {
                *slot |= sum;
            }
        }
        batch.iter().zip(bits()).map(|(question, bit)| word(&reached, question.from) & bit != 0).collect()
    }

    fn place(&self, node: &str) -> Option<usize> {
        self.names.binary_search(&node).ok()
    }

    fn name(&self, at: usize) -> Option<&'a str> {
        self.names.get(at).copied()
    }
}

/// Whether a component is reached from another, and which pair asks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Question {
    from: usize,
    to: usize,
    at: usize,
}

fn word(words: &[u64], at: usize) -> u64 {
    words.get(at).copied().unwrap_or_default()
}

/// What is known of a node while components are looked for.
#[derive(Clone, Copy, Default)]
struct Mark {
    /// When it was first seen.
    seen: Option<usize>,
    /// The first seen node that it is known to reach, of those whose component is open.
    low: usize,
    component: Option<usize>,
}

/// Tarjan's search for components, with a stack of its own.
struct Search<'e> {
    edges: &'e [Vec<usize>],
    marks: Vec<Mark>,
    /// Nodes whose component is not known yet.
    open: Vec<usize>,
    seen: usize,
    components: usize,
}

impl Search<'_> {
    fn components(edges: &[Vec<usize>]) -> Vec<usize> {
        let marks = vec![Mark::default(); edges.len()];
        let mut search = Search { edges, marks, open: Vec::new(), seen: 0, components: 0 };
        for root in 0..edges.len() {
            if search.mark(root).seen.is_none() {
                search.walk(root);
            }
        }
        search.marks.into_iter().map(|mark| mark.component.unwrap_or_default()).collect()
    }

    fn walk(&mut self, root: usize) {
        let mut path = vec![(root, 0)];
        self.enter(root);
        while let Some((node, next)) = path.pop() {
            match self.edges.get(node).and_then(|out| out.get(next)).copied() {
                Some(to) => {
                    path.push((node, next + 1));
                    match self.mark(to) {
                        Mark { seen: None, .. } => {
                            self.enter(to);
                            path.push((to, 0));
                        }
                        Mark { seen: Some(seen), component: None, .. } => self.lower(node, seen),
                        Mark { seen: Some(_), component: Some(_), .. } => {}
                    }
                }
                None => {
                    self.leave(node);
                    if let Some((parent, _)) = path.last() {
                        self.lower(*parent, self.mark(node).low);
                    }
                }
            }
        }
    }

    fn mark(&self, node: usize) -> Mark {
        self.marks.get(node).copied().unwrap_or_default()
    }

    fn enter(&mut self, node: usize) {
        if let Some(mark) = self.marks.get_mut(node) {
            *mark = Mark { seen: Some(self.seen), low: self.seen, component: None };
        }
        self.seen += 1;
        self.open.push(node);
    }

    fn lower(&mut self, node: usize, to: usize) {
        if let Some(mark) = self.marks.get_mut(node) {
            mark.low = mark.low.min(to);
        }
    }

    /// A node that reaches no earlier one closes a component: itself and all that was opened after it.
    fn leave(&mut self, node: usize) {
        let mark = self.mark(node);
        if mark.seen != Some(mark.low) {
            return;
        }
        while let Some(member) = self.open.pop() {
            if let Some(mark) = self.marks.get_mut(member) {
                mark.component = Some(self.components);
            }
            if member == node {
                break;
            }
        }
        self.components += 1;
    }
}

#[cfg(test)]
#[path = "graph_tests.rs"]
mod tests;
