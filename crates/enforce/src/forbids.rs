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
                Pattern::Macro(name) => {
                    forbids.macros.entry(name).or_insert(*rule);
                }
            }
        }
        forbids
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.methods.is_empty() && self.macros.is_empty()
    }

    fn alike(&self, path: &[String]) -> &[(&'r [String], Rule)] {
        path.first().and_then(|first| self.paths.get(first.as_str())).map_or(&[], Vec::as_slice)
    }

    /// The rule that a name breaks.
    pub(crate) fn path(&self, path: &[String]) -> Option<Rule> {
        self.alike(path).iter().find(|(parts, _)| path.starts_with(parts)).map(|(_, rule)| *rule)
    }

    /// Whether something beneath a name is forbidden.
    pub(crate) fn is_beneath(&self, path: &[String]) -> bool {
        self.alike(path).iter().any(|(parts, _)| parts.len() > path.len() && parts.starts_with(path))
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
