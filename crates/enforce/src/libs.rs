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
    allowed: Vec<&'s [Pattern]>,
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
            allowed: [rules.imports.allow.as_deref(), task.allowed_libs.as_deref()]
                .into_iter()
                .flatten()
                .collect(),
            denied: rules.imports.deny.iter().chain(&task.denied_libs).collect(),
            needed: &rules.logging.modules,
            language: task.language,
            told: BTreeSet::new(),
        }
    }

    pub(crate) fn has_limits(&self) -> bool {
        !self.allowed.is_empty() || !self.denied.is_empty()
    }

    /// What is wrong with importing this.
    pub(crate) fn judge_import(&mut self, path: &[String]) -> Option<(Rule, String)> {
        let found = self.judge(path, "imports");
        if found.is_some() {
            self.told.extend(path.first().cloned());
        }
        found
    }

    /// What is wrong with using this, where its import was well: `import os.path` brings `os`.
    pub(crate) fn judge_use(&mut self, path: &[String]) -> Option<(Rule, String)> {
        let is_told = path.first().is_some_and(|first| self.told.contains(first));
        if is_told { None } else { self.judge(path, "uses") }
    }

    fn judge(&self, path: &[String], how: &str) -> Option<(Rule, String)> {
        let name = shown(&path.join(self.language.separator()));
        if self.denied.iter().any(|pattern| pattern.covers(path)) {
            return Some((Rule::ImportDenied, format!("{how} {name}, which is denied")));
        }
        if self.is_language(path) || self.needed.iter().any(|pattern| pattern.covers(path)) {
            return None;
        }
        // The name of a package on the way to an allowed module is no use of anything else in it.
        let is_on = |list: &&[Pattern]| {
            list.iter().any(|pattern| {
                pattern.covers(path)
                    || how == "uses" && matches!(pattern, Pattern::Path(parts) if parts.starts_with(path))
            })
        };
        if self.allowed.iter().all(is_on) {
            return None;
        }
        Some((Rule::ImportNotAllowed, format!("{how} {name}, which is not on the list of what is allowed")))
    }

    /// What is a part of the language itself.
    fn is_language(&self, path: &[String]) -> bool {
        let own: &[&str] = match self.language {
            Language::Python => &["__future__"],
            Language::Rust => &["std", "crate", "self", "super", "Self"],
        };
        path.first().is_some_and(|first| own.contains(&first.as_str()))
    }
}
