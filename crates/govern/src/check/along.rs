//! What goes along the rows of a log, for rules that would else go through all of it again for every row that comes.
//! Owns: which rules do. Must not: find anything itself.

use super::events::drift::Drift;
use super::{Diagnostic, Found, Rule, rules};
use crate::world::{Record, World};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Judges rows in their order. What is wrong with one follows from itself and from those before it, and stays so whatever comes.
pub(crate) trait Along: Send {
    /// The types of rows that it looks at.
    fn kinds(&self) -> Vec<&'static str>;

    /// The next row.
    fn row(&mut self, record: Record<'_>, found: &mut Found<'_>);
}

/// Whether the rows of a world are all that will be gone along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rows {
    AllThere,
    MoreCome,
}

/// A rule that has a part of this kind.
pub(crate) struct Walk {
    rule: &'static Rule,
    along: Box<dyn Along>,
}

/// How one begins, before the first row.
type Begin = fn(Rows) -> Box<dyn Along>;

/// The codes of those rules, and how each begins.
const WALKS: &[(&str, Begin)] = &[("current_projection_without_source_event", Drift::begin)];

/// All of them, before the first row.
pub(crate) fn walks(rows: Rows) -> impl Iterator<Item = Walk> {
    rules().filter_map(move |(_, rule)| walk(rule, rows))
}

/// That of a rule, if it has one.
pub(crate) fn walk(rule: &'static Rule, rows: Rows) -> Option<Walk> {
    let (_, begin) = WALKS.iter().find(|(code, _)| *code == rule.code)?;
    Some(Walk { rule, along: begin(rows) })
}

impl Walk {
    /// Goes on along the rows from one on, by its number in the world; what is wrong with them.
    pub(crate) fn go(&mut self, world: &World, from: usize) -> Vec<Diagnostic> {
        let mut all = Vec::new();
        let rows: Vec<Record<'_>> = match from {
            0 => world.of_any(&self.along.kinds()),
            _ => world.all().skip(from).collect(),
        };
        for record in rows {
            self.along.row(record, &mut Found { rule: self.rule, all: &mut all });
        }
        all
    }
}
