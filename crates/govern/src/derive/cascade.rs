//! What must be looked at again after an outcome was revised: its dependents, theirs, and so on until nothing moves.
//! Owns: who is due, how deep it went, how it ended. Must not: judge an outcome.
//!
//! An outcome is due once all that it rests on, as far as the cascade touches it, was looked at; so none is looked at twice. Where
//! outcomes rest on each other there is no such moment: the cascade says so before it starts.

use super::graph::Graph;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

pub use crate::types::cascade::RevalidationCascadeRunStatus as Status;

/// A cascade.
#[derive(Clone, Debug)]
pub struct Cascade<'a> {
    status: Status,
    depth: u64,
    depth_max: u64,
    visited: Vec<&'a str>,
    active: BTreeSet<&'a str>,
    /// What rests on what, of all that the cascade touches.
    dependents: BTreeMap<&'a str, Vec<&'a str>>,
    waiting: BTreeMap<&'a str, Waiting>,
}

/// An outcome that is not due yet.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    /// How many that it rests on were not looked at.
    left: usize,
    /// How deep it will be: one deeper than the deepest of them.
    depth: u64,
}

impl<'a> Cascade<'a> {
    /// Begins after `origin` was revised and looked at. An edge is an outcome and one that it rests on.
    pub fn begin(
        edges: impl IntoIterator<Item = (&'a str, &'a str)>,
        origin: &'a str,
        depth_max: u64,
    ) -> Self {
        let edges: BTreeSet<(&str, &str)> = edges.into_iter().collect();
        let upwards = Graph::new([origin], edges.iter().map(|(dependent, upstream)| (*upstream, *dependent)));
        let mut touched = upwards.reachable(origin);
        touched.insert(origin);
        let inner =
            |(dependent, upstream): &&(&str, &str)| touched.contains(dependent) && touched.contains(upstream);
        let inner: Vec<(&str, &str)> = edges.iter().filter(inner).copied().collect();
        let mut cascade = Cascade {
            status: Status::Running,
            depth: 0,
            depth_max,
            visited: Vec::new(),
            active: BTreeSet::new(),
            dependents: BTreeMap::new(),
            waiting: BTreeMap::new(),
        };
        if !Graph::new([origin], inner.iter().copied()).on_cycle().is_empty() {
            cascade.status = Status::CycleDetected;
            return cascade;
        }
        for (dependent, upstream) in inner {
            cascade.dependents.entry(upstream).or_default().push(dependent);
            cascade.waiting.entry(dependent).or_default().left += 1;
        }
        cascade.active.insert(origin);
        cascade.looked_at(origin, 0);
        cascade
    }

    /// Begins and looks at everything that becomes due.
    pub fn run(edges: impl IntoIterator<Item = (&'a str, &'a str)>, origin: &'a str, depth_max: u64) -> Self {
        let mut cascade = Cascade::begin(edges, origin, depth_max);
        while let Some(outcome) = cascade.active.first().copied() {
            cascade.settle(outcome);
        }
        cascade
    }

    /// An outcome that was due was looked at. One that was not due is no news: nothing happens.
    pub fn settle(&mut self, outcome: &str) {
        if let Some(outcome) = self.active.get(outcome).copied() {
            let depth = self.waiting.get(outcome).map_or(0, |waiting| waiting.depth);
            self.looked_at(outcome, depth);
        }
    }

    fn looked_at(&mut self, outcome: &'a str, depth: u64) {
        self.active.remove(outcome);
        self.visited.push(outcome);
        for dependent in self.dependents.remove(outcome).unwrap_or_default() {
            let waiting = self.waiting.entry(dependent).or_default();
            waiting.left = waiting.left.saturating_sub(1);
            waiting.depth = waiting.depth.max(depth + 1);
            let Waiting { left, depth } = *waiting;
            if left > 0 {
                continue;
            }
            if depth > self.depth_max {
                self.status = Status::MaxDepthExceeded;
                self.active.clear();
                return;
            }
            self.depth = self.depth.max(depth);
            self.active.insert(dependent);
        }
        if self.active.is_empty() {
            self.status = Status::Quiescent;
        }
    }

    /// How it stands.
    #[must_use]
    pub fn status(&self) -> Status {
        self.status
    }

    /// How many outcomes rested on each other in a row so far, without the first.
    #[must_use]
    pub fn depth(&self) -> u64 {
        self.depth
    }

    /// What was looked at, in this order; the origin first.
    #[must_use]
    pub fn visited(&self) -> &[&'a str] {
        &self.visited
    }

    /// What is due.
    pub fn active(&self) -> impl Iterator<Item = &'a str> {
        self.active.iter().copied()
    }
}

#[cfg(test)]
#[path = "cascade_tests.rs"]
mod tests;
