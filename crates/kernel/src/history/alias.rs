//! Words that mean the same (NVH and vehicle acoustics).
//! Owns: which words stand for which, in both directions, and the other ways to say a query. Must not: read a file.

use crate::words::{folded, place};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// What a lexicon may hold.
pub const TERMS_MAX: usize = 20_000;
/// Bytes of one term at most.
pub const TERM_BYTES_MAX: usize = 200;
/// Groups of words that mean the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lexicon {
    /// The group of each term, folded.
    groups_of: BTreeMap<String, usize>,
    groups: Vec<Vec<String>>,
}

/// Why there is no lexicon.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Too many terms.
    #[error("there are more than {TERMS_MAX} terms")]
    TooMany,
    /// A term is too long.
    #[error("a term has more than {TERM_BYTES_MAX} bytes")]
    TooLong,
    /// A group says nothing.
    #[error("group {number} has fewer than two different terms")]
    Alone {
        /// Which, from 1.
        number: usize,
    },
}

/// Another way to say a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// What it says, folded.
    pub text: String,
    /// The term that was found, and what it was replaced by.
    pub alias: (String, String),
}

impl Lexicon {
    /// Joins the groups: each term of one stands for each other, in both directions, and groups that share a term are
    /// one group, so a cycle is nothing special.
    ///
    /// # Errors
    /// A group says nothing, or there is too much.
    pub fn new(groups: impl IntoIterator<Item = Vec<String>>) -> Result<Self, Refusal> {
        let mut lexicon = Lexicon::default();
        for (number, group) in (1..).zip(groups) {
            let mut terms: Vec<String> = group.iter().map(|term| folded(term.trim())).collect();
            terms.retain(|term| !term.is_empty());
            terms.sort_unstable();
            terms.dedup();
            if terms.len() < 2 {
                return Err(Refusal::Alone { number });
            }
            if terms.iter().any(|term| term.len() > TERM_BYTES_MAX) {
                return Err(Refusal::TooLong);
            }
            lexicon.join(terms);
            if lexicon.groups_of.len() > TERMS_MAX {
                return Err(Refusal::TooMany);
            }
        }
        for group in &mut lexicon.groups {
            group.sort_unstable();
        }
        Ok(lexicon)
    }

    fn join(&mut self, terms: Vec<String>) {
        let mut known: Vec<usize> =
            terms.iter().filter_map(|term| self.groups_of.get(term).copied()).collect();
        known.sort_unstable();
        known.dedup();
        // The largest takes the others in, so that a term moves a few times at most, however the groups come.
        let size = |at: &usize| self.groups.get(*at).map_or(0, Vec::len);
        let home = known.iter().copied().max_by_key(|at| (size(at), *at)).unwrap_or_else(|| {
            self.groups.push(Vec::new());
            self.groups.len() - 1
        });
        let mut moved = terms;
        moved.retain(|term| !self.groups_of.contains_key(term));
        for other in known.into_iter().filter(|other| *other != home) {
            moved.extend(self.groups.get_mut(other).map(core::mem::take).unwrap_or_default());
        }
        for term in moved {
            self.groups_of.insert(term.clone(), home);
            if let Some(group) = self.groups.get_mut(home) {
                group.push(term);
            }
        }
    }

    /// How many terms there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.groups_of.len()
    }

    /// Whether it says nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups_of.is_empty()
    }

    /// The other ways to say a query, up to so many: each term that stands in it as a word replaced by each that means the
    /// same. The longest terms come first.
    #[must_use]
    pub fn variants(&self, query: &str, most: usize) -> Vec<Variant> {
        let query = folded(query);
        let mut found: Vec<(&String, usize)> = self
            .groups_of
            .iter()
            .filter(|(term, _)| place(&query, term).is_some())
            .map(|(term, group)| (term, *group))
            .collect();
        found.sort_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        let others = found.into_iter().flat_map(|(term, group)| {
            let group = self.groups.get(group).map_or(&[][..], Vec::as_slice);
            group.iter().filter(move |other| *other != term).map(move |other| (term, other))
        });
        let variant = |(term, other): (&String, &String)| Variant {
            text: replaced(&query, term, other),
            alias: (term.clone(), other.clone()),
        };
        others.take(most).map(variant).collect()
    }
}

fn replaced(text: &str, term: &str, other: &str) -> String {
    let mut said = String::with_capacity(text.len() + other.len());
    let mut rest = text;
    while let Some(at) = place(rest, term) {
        said.push_str(rest.get(..at).unwrap_or_default());
        said.push_str(other);
        rest = rest.get(at + term.len()..).unwrap_or_default();
    }
    said.push_str(rest);
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{string::ToString, vec};

    fn lexicon(groups: &[&[&str]]) -> Lexicon {
        Lexicon::new(groups.iter().map(|group| group.iter().map(ToString::to_string).collect())).unwrap()
    }

    fn check(groups: &[&[&str]], query: &str, expected: &[&str]) {
        let said: Vec<String> =
            lexicon(groups).variants(query, 16).into_iter().map(|variant| variant.text).collect();
        assert_eq!(said, expected, "{query}");
    }

    #[test]
    fn aliases_go_both_ways_and_cycles_end() {
        let groups: &[&[&str]] = &[&["NVH", "vehicle acoustics"]];
        check(groups, "open NVH issues", &["open vehicle acoustics issues"]);
        check(groups, "Vehicle Acoustics, please", &["nvh, please"]);
        check(groups, "the envhint", &[]);
        let cycle: &[&[&str]] = &[&["a", "b"], &["b", "c"], &["c", "a"]];
        check(cycle, "x a", &["x b", "x c"]);
        check(cycle, "x c", &["x a", "x b"]);
        check(
            &[&["\u{9a6c}\u{8fbe}", "motor"]],
            "\u{9a6c}\u{8fbe}\u{566a}\u{97f3}",
            &["motor\u{566a}\u{97f3}"],
        );
    }

    #[test]
    fn a_group_of_one_says_nothing() {
        assert_eq!(Lexicon::new([vec!["a".into(), " A ".into()]]), Err(Refusal::Alone { number: 1 }));
    }

    #[test]
    fn the_order_of_the_groups_does_not_matter() {
        let forward: &[&[&str]] = &[&["a", "b"], &["c", "d"], &["b", "c"], &["e", "f"]];
        let mut backward = forward.to_vec();
        backward.reverse();
        for query in ["a", "d", "e f"] {
            assert_eq!(lexicon(forward).variants(query, 16), lexicon(&backward).variants(query, 16));
        }
    }
}
