//! Which rules look at which rows in a pass, and what is done where that is too much.
//! Owns: making a pass smaller. Must not: look at a row's members.

use super::names::{By, Name};
use crate::check::{self, Rule};
use crate::kind::Number;
use crate::world::{Held, Looked, Marks};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

/// Rows that a rule has to look at together and that are more than fit: of the rows from `first` to `last` so many, in so many
/// streams, were not looked at by it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Apart {
    /// The code of the rule, behind `validation.`; or [`WHOLE`].
    pub code: &'static str,
    /// The place of the first row.
    pub first: u64,
    /// The place of the last row.
    pub last: u64,
    /// How many rows of the types that the rule asks for.
    pub rows: u64,
    /// In how many streams.
    pub streams: u64,
}

/// In place of a rule's code: what a whole log must agree on with itself.
pub const WHOLE: &str = "whole";

/// The place of that: behind all rules.
fn whole() -> usize {
    check::rules().count()
}

/// What is known of a log: which types its rows are of, what rules asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Learned {
    asked: Vec<Looked>,
    kinds: Vec<OfKind>,
}

/// The rows of a type.
#[derive(Clone, Copy, Debug, Default)]
struct OfKind {
    is_there: bool,
    marks: Marks,
}

impl Learned {
    /// There is a row.
    pub(super) fn row(&mut self, row: &Held) {
        let Some(known) = row.number() else { return };
        if self.kinds.is_empty() {
            self.kinds = vec![OfKind::default(); Number::count()];
        }
        if let Some(kind) = self.kinds.get_mut(known.index) {
            kind.is_there = true;
            kind.marks.add_all(row.marks());
        }
    }

    /// A rule asked for something.
    pub(super) fn asked(&mut self, rule: usize, asked: &Looked) {
        if self.asked.len() <= rule {
            self.asked.resize(rule + 1, Looked::default());
        }
        self.asked.get_mut(rule).into_iter().for_each(|own| own.join(asked));
    }

    /// Adds what another pass learned.
    pub(super) fn add(&mut self, other: &Learned) {
        other.asked.iter().enumerate().for_each(|(rule, asked)| self.asked(rule, asked));
        if self.kinds.len() < other.kinds.len() {
            self.kinds.resize(other.kinds.len(), OfKind::default());
        }
        for (own, more) in self.kinds.iter_mut().zip(&other.kinds) {
            own.is_there |= more.is_there;
            own.marks.add_all(more.marks);
        }
    }

    /// All types of rows that some rules asked for.
    fn shown(&self, rules: &[usize]) -> Looked {
        let mut shown = Looked::default();
        for asked in rules.iter().filter_map(|rule| self.asked.get(*rule)) {
            self.kinds_of(asked).for_each(|known| shown.add_kind(known));
        }
        shown
    }

    /// The types that are asked for and there.
    fn kinds_of(&self, asked: &Looked) -> impl Iterator<Item = Number> {
        let known = (0..Number::count()).filter_map(Number::at);
        known.filter(|known| {
            let kind = self.kinds.get(known.index).copied().unwrap_or_default();
            kind.is_there && asked.wants(*known, kind.marks)
        })
    }
}

/// What a pass looks at.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    /// Rules by their places among all.
    rules: Vec<usize>,
    streams: Streams,
    /// The types; all without it.
    shown: Option<Looked>,
}

/// The streams that a pass looks at.
#[derive(Clone, Debug)]
enum Streams {
    /// All.
    All,
    /// Those that are too large together for a wider pass.
    Large(Arc<Large>),
    /// All, and all of them together: what is told of a row that all go by may hang on any of them.
    Together,
}

/// Groups of streams that are too large to be looked at together.
#[derive(Clone, Debug, Default)]
pub(super) struct Large {
    /// The streams of all of them, sorted.
    pub(super) streams: Vec<Name>,
    pub(super) groups: Vec<Extent>,
}

/// How large a group is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) rows: u64,
    pub(super) streams: u64,
}

/// What a pass did not look at.
pub(super) enum Within {
    /// Nothing: rules asked for more than they were shown.
    Again,
    /// Some parts, which are too large.
    Parts(Large),
}

/// Smaller passes in place of one, and what can't be made smaller.
pub(super) struct Smaller {
    pub(super) scopes: Vec<Scope>,
    pub(super) apart: Vec<Apart>,
}

/// Rules that look at one row after the other, with what all go by: they need no others beside it, however many belong together.
pub(super) const ALONE: [&str; 5] = [
    "chain_id_name_drift",
    "learning_mode_value_drift",
    "phantom_type_reference",
    "requires_background_progress_legacy_field_present",
    "scalar_cost_estimate_legacy_field_present",
];

impl Scope {
    /// All rules on all rows.
    pub(super) fn everything(by: By) -> Self {
        let rules = match by {
            By::Rules => (0..whole()).collect(),
            By::Whole => (0..=whole()).collect(),
        };
        Scope { rules, streams: Streams::All, shown: None }
    }

    /// One rule on all rows together; without one, what a whole log must agree on.
    pub(super) fn together(code: &str) -> Self {
        let rule = check::rules().position(|(_, rule)| rule.code == code).unwrap_or_else(whole);
        Scope { rules: vec![rule], streams: Streams::Together, shown: None }
    }

    /// Whether the log must agree with itself, and the place that this has among the rules.
    pub(super) fn whole(&self) -> Option<usize> {
        self.rules.last().copied().filter(|last| *last == whole())
    }

    pub(super) fn is_everything(&self) -> bool {
        matches!(self.streams, Streams::All)
    }

    pub(super) fn is_together(&self) -> bool {
        matches!(self.streams, Streams::Together)
    }

    /// The rules, with their places among all.
    pub(super) fn rules(&self) -> impl Iterator<Item = (usize, &'static Rule)> + use<> {
        let wanted = self.rules.clone();
        let all = check::rules().map(|(_, rule)| rule).enumerate();
        all.filter(move |(at, _)| wanted.binary_search(at).is_ok())
    }

    /// Whether rows of a stream are looked at.
    pub(super) fn has_stream(&self, stream: &str) -> bool {
        match &self.streams {
            Streams::All | Streams::Together => true,
            Streams::Large(large) => large.streams.binary_search(&Name::of_stream(stream)).is_ok(),
        }
    }

    /// Whether rows of a type are looked at; those of one that nobody knows always are.
    pub(super) fn has_kind(&self, known: Option<Number>) -> bool {
        self.shown.as_ref().zip(known).is_none_or(|(shown, known)| shown.has_kind(known))
    }

    /// Whether what was asked for was shown.
    pub(super) fn showed(&self, asked: &Looked, learned: &Learned) -> bool {
        let Some(shown) = &self.shown else { return true };
        learned.kinds_of(asked).all(|known| shown.has_kind(known))
    }

    /// The same with what was learned.
    pub(super) fn ready(self, learned: &Learned) -> Self {
        let shown = (!self.is_everything()).then(|| learned.shown(&self.rules));
        Scope { shown, ..self }
    }

    /// Smaller passes over groups that are too large for this one: its areas, or its rules.
    pub(super) fn split(self, large: Arc<Large>) -> Smaller {
        let mut smaller = Smaller { scopes: Vec::new(), apart: Vec::new() };
        let mut areas: Vec<(&str, Vec<usize>)> = Vec::new();
        let all = check::rules().map(|(area, rule)| (area.name, rule.code));
        for (at, (area, code)) in all.chain([(WHOLE, WHOLE)]).enumerate() {
            if self.rules.binary_search(&at).is_err() || ALONE.contains(&code) {
                continue;
            }
            match areas.last_mut().filter(|(name, _)| *name == area) {
                Some((_, rules)) => rules.push(at),
                None => areas.push((area, vec![at])),
            }
        }
        let scope =
            |rules: Vec<usize>| Scope { rules, streams: Streams::Large(Arc::clone(&large)), shown: None };
        match areas.as_slice() {
            [(_, rules)] if rules.len() == 1 => {
                let code = self.rules().map(|(_, rule)| rule.code).next().unwrap_or(WHOLE);
                let apart = |group: &Extent| {
                    let Extent { first, last, rows, streams } = *group;
                    Apart { code, first, last, rows, streams }
                };
                smaller.apart.extend(large.groups.iter().map(apart));
            }
            [(_, rules)] => smaller.scopes.extend(rules.iter().map(|rule| scope(vec![*rule]))),
            areas => smaller.scopes.extend(areas.iter().map(|(_, rules)| scope(rules.clone()))),
        }
        smaller
    }
}
