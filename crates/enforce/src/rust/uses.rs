//! What a Rust file uses.
//! Owns: the rules of imports, calls and logging. Must not: know what a name is called by (see `names`).

use super::names::{Named, Names, is_after_dot, is_double_colon, is_mark, named, word};
use super::tokens::{Kind, Token};
use crate::check::Setting;
use crate::codespec::{Pattern, Permission};
use crate::forbids::Forbids;
use crate::libs::Libs;
use crate::report::{Findings, shown};
use crate::rule::Rule;
use proc_macro2::{Delimiter, Spacing};

/// Macros that print.
const PRINTS: [&str; 5] = ["print", "println", "eprint", "eprintln", "dbg"];
/// Types that are there without being named anywhere: their functions are no library's.
const PRIMITIVE: [&str; 17] = [
    "bool", "char", "str", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128",
    "isize", "f32", "f64",
];
const ELSEWHERE: &str = "leave it to the caller, and take what it gives";

/// Looks at everything that is used.
pub(super) struct Uses<'f> {
    setting: &'f Setting<'f>,
    tokens: &'f [Token],
    names: &'f Names,
    libs: Libs<'f>,
    forbids: Forbids<'f>,
    findings: &'f mut Findings,
    /// Whether something of a logging library was used.
    pub(super) logs: bool,
}

impl<'f> Uses<'f> {
    pub(super) fn new(
        setting: &'f Setting<'f>,
        tokens: &'f [Token],
        names: &'f Names,
        findings: &'f mut Findings,
    ) -> Self {
        let (libs, forbids) = (Libs::new(setting), Forbids::new(&setting.rules.forbidden));
        Uses { setting, tokens, names, libs, forbids, findings, logs: false }
    }

    pub(super) fn look(&mut self) {
        self.imports();
        let mut at = 0;
        while at < self.tokens.len() {
            at = self.token(at).max(at + 1);
        }
    }

    fn imports(&mut self) {
        for one in &self.names.uses {
            let meanings = self.names.meanings(&one.path, one.is_absolute);
            for path in &meanings {
                if let Some((rule, why)) = self.libs.judge_import(path) {
                    self.findings.in_code(rule, one.line, why, "use what the task allows");
                }
                self.forbidden(path, one.line, "imports");
            }
            if one.is_star && !meanings.is_empty() && self.setting.rules.imports.star == Permission::Forbidden
            {
                let evidence = format!("imports everything of {}", shown(&one.path.join("::")));
                self.findings.in_code(Rule::ImportStar, one.line, evidence, "name what is imported");
            }
        }
    }

    /// Looks at what begins at a token; gives the token to go on with.
    fn token(&mut self, at: usize) -> usize {
        let Some(token) = self.tokens.get(at) else { return at + 1 };
        let is_path = is_double_colon(self.tokens, at) && word(self.tokens, at + 2).is_some();
        match &token.kind {
            Kind::Word(word) if is_after_dot(self.tokens, at) => {
                self.method(word, at, token.line);
                at + 1
            }
            Kind::Word(_) if at > 0 && is_mark(self.tokens, at - 1, '\'') => at + 1,
            Kind::Word(word) => match self.keyword(word, at, token.line) {
                Some(end) => end,
                None => self.name(at, token.line),
            },
            Kind::Mark(..) if is_path => self.name(at, token.line),
            Kind::Mark(..) | Kind::Literal | Kind::Open(_) | Kind::Close(_) => at + 1,
        }
    }

    fn keyword(&mut self, keyword: &str, at: usize, line: usize) -> Option<usize> {
        match keyword {
            // Looked at as a whole.
            "use" if !is_mark(self.tokens, at + 1, '<') => {
                let mut end = at;
                while end < self.tokens.len() && !is_mark(self.tokens, end, ';') {
                    end += 1;
                }
                Some(end)
            }
            "unsafe" => {
                self.unsafe_code("an unsafe block or function", line);
                Some(at + 1)
            }
            "extern" => {
                let after = at + usize::from(matches!(self.kind(at + 1), Some(Kind::Literal))) + 1;
                if self.kind(after) == Some(&Kind::Open(Delimiter::Brace)) {
                    self.unsafe_code("foreign functions", line);
                }
                Some(at + 1)
            }
            "mod" if is_mark(self.tokens, at + 2, ';') => {
                let name = word(self.tokens, at + 1).unwrap_or_default();
                let evidence = format!("the module {} is in another file", shown(name));
                self.findings.in_code(Rule::OtherFile, line, evidence, "put what is needed into this file");
                Some(at + 2)
            }
            "fn" | "struct" | "enum" | "union" | "trait" | "mod" | "const" | "static" | "let" | "type" => {
                Some(at + 1)
            }
            _ => None,
        }
    }

    fn kind(&self, at: usize) -> Option<&Kind> {
        self.tokens.get(at).map(|token| &token.kind)
    }

    fn unsafe_code(&mut self, what: &str, line: usize) {
        if self.setting.rules.unsafe_code == Permission::Forbidden {
            self.findings.in_code(Rule::ForbiddenCode, line, format!("has {what}"), "use safe Rust");
        }
    }

    fn name(&mut self, at: usize, line: usize) -> usize {
        let Some(Named { path, is_absolute, end }) = named(self.tokens, at) else { return at + 1 };
        let is_macro = is_mark(self.tokens, end, '!')
            && !(self.kind(end) == Some(&Kind::Mark('!', Spacing::Joint))
                && is_mark(self.tokens, end + 1, '='));
        let is_known = path.first().is_some_and(|first| self.names.knows(first));
        for meaning in self.names.meanings(&path, is_absolute) {
            if is_macro {
                self.called(&meaning, line);
            }
            // A word alone that nobody gave a meaning is a variable, or from the prelude.
            if meaning.len() < 2 && !is_known {
                continue;
            }
            self.logs |= self.setting.rules.logging.modules.iter().any(|module| is_within(module, &meaning));
            if is_library(&meaning)
                && let Some((rule, why)) = self.libs.judge_use(&meaning)
            {
                self.findings.in_code(rule, line, why, "use what the task allows");
            }
            self.forbidden(&meaning, line, "uses");
        }
        end
    }

    fn called(&mut self, path: &[String], line: usize) {
        let Some(name) = path.last() else { return };
        if PRINTS.contains(&name.as_str()) && self.setting.rules.logging.print == Permission::Forbidden {
            let evidence = format!("{} prints", shown(&format!("{name}!")));
            self.findings.in_code(Rule::PrintLogging, line, evidence, "log it: log::info!(…)");
        }
        self.told(self.forbids.called_macro(name), &format!("{name}!"), line);
    }

    fn method(&mut self, name: &str, at: usize, line: usize) {
        let is_called = matches!(self.kind(at + 1), Some(Kind::Open(Delimiter::Parenthesis)))
            || is_double_colon(self.tokens, at + 1);
        if is_called {
            self.told(self.forbids.method(name), &format!(".{name}"), line);
        }
    }

    fn told(&mut self, rule: Option<Rule>, name: &str, line: usize) {
        if let Some(rule) = rule {
            self.findings.in_code(rule, line, format!("uses {}", shown(name)), ELSEWHERE);
        }
    }

    fn forbidden(&mut self, path: &[String], line: usize, how: &str) {
        if let Some(rule) = self.forbids.path(path) {
            let evidence = format!("{how} {}", shown(&path.join("::")));
            self.findings.in_code(rule, line, evidence, ELSEWHERE);
        }
    }
}

/// Whether a name begins with the name of a library.
fn is_library(path: &[String]) -> bool {
    let Some(first) = path.first() else { return false };
    path.len() > 1 && !first.starts_with(char::is_uppercase) && !PRIMITIVE.contains(&first.as_str())
}

fn is_within(module: &Pattern, path: &[String]) -> bool {
    module.covers(path) && matches!(module, Pattern::Path(parts) if parts.len() < path.len())
}
