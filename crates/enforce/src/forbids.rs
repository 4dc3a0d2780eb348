//! What must not be used, found by its first word.
//! Owns: the index over the rules' patterns. Must not: know how a language names things.

use crate::codespec::{Forbidden, Pattern};
use crate::rule::Rule;
use std::collections::BTreeMap;

/// The patterns of a CodeSpec.
#[derive(Debug, Default)]
pub(crate) struct Forbids<'r> {
    paths: BTreeMap<&'r str, Vec<(&'r [String], Rule)>>,
    methods: BTreeMap<&'r str, Rule>,
    macros: BTreeMap<&'r str, Rule>,
    arguments: Vec<(&'r [String], &'r str, Rule)>,
}

impl<'r> Forbids<'r> {
    pub(crate) fn new(forbidden: &'r [Forbidden]) -> Self {
        let mut forbids = Forbids::default();
        for Forbidden { pattern, rule } in forbidden {
            match pattern {
                Pattern::Path(parts) => {
                    let first = parts.first().map_or("", String::as_str);
                    forbids.paths.entry(first).or_default().push((parts, *rule));
                }
                Pattern::Method(name) => {
                    forbids.methods.entry(name).or_insert(*rule);
                }
                Pattern::Argument(parts, name) => forbids.arguments.push((parts, name, *rule)),
                Pattern::Macro(name) => {
                    forbids.macros.entry(name).or_insert(*rule);
                }
            }
        }
        forbids
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.paths.is_empty()
            && self.methods.is_empty()
            && self.macros.is_empty()
            && self.arguments.is_empty()
    }

    fn alike(&self, path: &[String]) -> &[(&'r [String], Rule)] {
        path.first().and_then(|first| self.paths.get(first.as_str())).map_or(&[], Vec::as_slice)
    }

    /// The rule that a name breaks.
    pub(crate) fn path(&self, path: &[String]) -> Option<Rule> {
        self.alike(path).iter().find(|(parts, _)| path.starts_with(parts)).map(|(_, rule)| *rule)
    }

    /// The rule that a member of a kind of thing breaks, whatever stands between: `Path.parent.open` is `Path.open`.
    pub(crate) fn of_kind(&self, path: &[String]) -> Option<Rule> {
        let last = path.last()?;
        let is_so = |parts: &[String]| {
            let kind = parts.split_last().filter(|(member, kind)| *member == last && kind.len() > 1);
            kind.is_some_and(|(_, kind)| path.len() > kind.len() && path.starts_with(kind))
        };
        self.alike(path).iter().find(|(parts, _)| is_so(parts)).map(|(_, rule)| *rule)
    }

    /// The rule that a call with an argument breaks; `None` is an argument whose name is not known.
    pub(crate) fn called_with(&self, path: &[String], argument: Option<&str>) -> Option<Rule> {
        let is_so = |name: &str| argument.is_none_or(|argument| argument == name);
        let found = self.arguments.iter().find(|(parts, name, _)| *parts == path && is_so(name));
        found.map(|(.., rule)| *rule)
    }

    /// The rule that a function can break by one of its arguments, and how many parts its name has.
    pub(crate) fn argument(&self, path: &[String]) -> Option<(Rule, usize)> {
        let found = self.arguments.iter().find(|(parts, ..)| path.starts_with(parts));
        found.map(|(parts, _, rule)| (*rule, parts.len()))
    }

    /// The rule that a method of this name breaks.
    pub(crate) fn method(&self, name: &str) -> Option<Rule> {
        self.methods.get(name).copied()
    }

    /// The rule that a macro of this name breaks.
    pub(crate) fn called_macro(&self, name: &str) -> Option<Rule> {
        self.macros.get(name).copied()
    }
}
