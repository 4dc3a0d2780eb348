//! Which libraries may be used.
//! Owns: the lists of the CodeSpec and of the task, taken together. Must not: know how a language imports.

use crate::check::Setting;
use crate::codespec::{Language, Pattern};
use crate::report::shown;
use crate::rule::Rule;
use std::collections::BTreeSet;

/// The lists, and what was told already.
#[derive(Debug)]
pub(crate) struct Libs<'s> {
    /// What the CodeSpec allows.
    allowed: Option<&'s [Pattern]>,
    /// What the task allows: nothing else, and also what the CodeSpec does not name.
    asked: Option<&'s [Pattern]>,
    denied: Vec<&'s Pattern>,
    /// Always allowed: what the CodeSpec itself asks for.
    needed: &'s [Pattern],
    language: Language,
    told: BTreeSet<String>,
}

impl<'s> Libs<'s> {
    pub(crate) fn new(setting: &'s Setting<'s>) -> Self {
        let (rules, task) = (setting.rules, setting.task);
        Libs {
            allowed: rules.imports.allow.as_deref(),
            asked: task.allowed_libs.as_deref(),
            denied: rules.imports.deny.iter().chain(&task.denied_libs).collect(),
            needed: &rules.logging.modules,
            language: task.language,
            told: BTreeSet::new(),
        }
    }

    pub(crate) fn has_limits(&self) -> bool {
        self.allowed.is_some() || self.asked.is_some() || !self.denied.is_empty()
    }

    /// What is wrong with importing this. A package on the way to what is allowed is no use of anything else in it.
    pub(crate) fn judge_import(&mut self, path: &[String]) -> Option<(Rule, String)> {
        let found = self.judge(path, "imports", Extent::OnTheWay);
        if found.is_some() {
            self.told.extend(path.first().cloned());
        }
        found
    }

    /// What is wrong with importing everything of this, where its import was well.
    pub(crate) fn judge_star(&mut self, path: &[String]) -> Option<(Rule, String)> {
        let is_told = path.first().is_some_and(|first| self.told.contains(first));
        if is_told { None } else { self.judge(path, "imports everything of", Extent::Whole) }
    }

    /// What is wrong with using this, where its import was well: `import os.path` brings `os`.
    pub(crate) fn judge_use(&mut self, path: &[String]) -> Option<(Rule, String)> {
        let is_told = path.first().is_some_and(|first| self.told.contains(first));
        if is_told { None } else { self.judge(path, "uses", Extent::OnTheWay) }
    }

    fn judge(&self, path: &[String], how: &str, extent: Extent) -> Option<(Rule, String)> {
        let name = shown(&path.join(self.language.separator()));
        if self.denied.iter().any(|pattern| pattern.covers(path)) {
            return Some((Rule::ImportDenied, format!("{how} {name}, which is denied")));
        }
        if self.needed.iter().any(|pattern| pattern.covers(path)) {
            return None;
        }
        let has = |list: &[Pattern]| {
            list.iter().any(|pattern| {
                let is_on_the_way = || matches!(pattern, Pattern::Path(parts) if parts.starts_with(path));
                pattern.covers(path) || extent == Extent::OnTheWay && is_on_the_way()
            })
        };
        let is_free =
            |list: Option<&[Pattern]>| list.is_none_or(|list| self.is_language(path, list) || has(list));
        if is_free(self.asked) && (self.asked.is_some_and(has) || is_free(self.allowed)) {
            return None;
        }
        Some((Rule::ImportNotAllowed, format!("{how} {name}, which is not on the list of what is allowed")))
    }

    /// What is a part of the language itself, and no list speaks of: one that names a part of `std` means that part alone.
    fn is_language(&self, path: &[String], list: &[Pattern]) -> bool {
        let own: &[&str] = match self.language {
            Language::Python => &["__future__"],
            Language::Rust => {
                &["crate", "self", "super", "Self", "clippy", "diagnostic", "rustdoc", "rustfmt"]
            }
        };
        let Some(first) = path.first().map(String::as_str) else { return true };
        let is_named = || {
            list.iter().any(
                |one| matches!(one, Pattern::Path(parts) if parts.first().is_some_and(|part| part == first)),
            )
        };
        own.contains(&first) || self.language == Language::Rust && first == "std" && !is_named()
    }
}

/// How much of what is named is meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// All of it.
    Whole,
    /// Perhaps only what is beneath.
    OnTheWay,
}
