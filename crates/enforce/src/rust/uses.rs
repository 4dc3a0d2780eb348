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
/// Attributes that reach past the language.
const UNSAFE_ATTRIBUTES: [&str; 4] = ["export_name", "link_section", "no_mangle", "global_allocator"];
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
                let judged = match one.is_star {
                    true => self.libs.judge_star(path),
                    false => self.libs.judge_import(path),
                };
                if !self.forbidden(path, one.line, "imports")
                    && let Some((rule, why)) = judged
                {
                    self.findings.in_code(rule, one.line, why, "use what the task allows");
                }
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
            Kind::Mark('$', _) => {
                self.variable(at, token.line);
                at + 1
            }
            Kind::Mark(..) if is_path => self.name(at, token.line),
            Kind::Mark(':', _) if is_double_colon(self.tokens, at) => {
                self.loose(at, token.line);
                at + 2
            }
            Kind::Mark(..) | Kind::Literal | Kind::Open(_) | Kind::Close(_) => at + 1,
        }
    }

    fn keyword(&mut self, keyword: &str, at: usize, line: usize) -> Option<usize> {
        match keyword {
            // Looked at as a whole.
            "use" if !is_mark(self.tokens, at + 1, '<') => {
                Some(self.names.ends.get(&at).copied().unwrap_or(at + 1))
            }
            _ if UNSAFE_ATTRIBUTES.contains(&keyword) => {
                self.unsafe_code(&format!("the attribute {}", shown(keyword)), line);
                Some(at + 1)
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

    /// A variable of a macro, where it makes a part of a name: what it is put together to is not known here.
    fn variable(&mut self, at: usize, line: usize) {
        let is_own = word(self.tokens, at + 1) == Some("crate");
        let end = match self.kind(at + 1) {
            Some(Kind::Word(_)) => at + 2,
            Some(Kind::Open(_)) => self.after_repetition(at + 1),
            Some(Kind::Mark(..) | Kind::Literal | Kind::Close(_)) | None => return,
        };
        let is_after = at > 1 && is_double_colon(self.tokens, at - 2);
        let is_before = is_double_colon(self.tokens, end) || self.is_bang(end);
        let is_tree = word(self.tokens, at + 3) == Some("tt") && is_mark(self.tokens, at + 2, ':');
        if is_after || is_before && !is_own || is_tree && !self.is_passed_on(at) {
            self.glued(line);
        }
    }

    /// `($($name:tt)*) => { … ($($name)*) }`: what is handed on as it stands is looked at where it stands.
    fn is_passed_on(&self, at: usize) -> bool {
        let Some(name) = word(self.tokens, at + 1) else { return false };
        let is_whole = |start: usize, length: usize| {
            let opens = |back: usize| {
                start.checked_sub(back).is_some_and(|at| matches!(self.kind(at), Some(Kind::Open(_))))
            };
            let repeats = is_mark(self.tokens, start + length + 1, '*');
            let closes = matches!(self.kind(start + length + 2), Some(Kind::Close(_)));
            opens(1) && opens(3) && start > 1 && is_mark(self.tokens, start - 2, '$') && repeats && closes
        };
        let is_it = |at: &usize| is_mark(self.tokens, *at, '$') && word(self.tokens, at + 1) == Some(name);
        let places: Vec<usize> = (0..self.tokens.len()).filter(is_it).collect();
        places.iter().all(|place| {
            let is_declared =
                is_mark(self.tokens, place + 2, ':') && !is_double_colon(self.tokens, place + 2);
            is_whole(*place, if is_declared { 4 } else { 2 })
        })
    }

    /// The token after `$( … )*`, which begins at its bracket.
    fn after_repetition(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        for (at, token) in self.tokens.iter().enumerate().skip(open) {
            match token.kind {
                Kind::Open(_) => depth += 1,
                Kind::Close(_) => depth = depth.saturating_sub(1),
                Kind::Word(_) | Kind::Mark(..) | Kind::Literal => {}
            }
            if depth == 0 {
                let repeats = |mark: char| is_mark(self.tokens, at + 1, mark);
                return if ['*', '+', '?'].into_iter().any(repeats) { at + 2 } else { at + 1 };
            }
        }
        self.tokens.len()
    }

    /// `::` that joins nothing where it stands joins something elsewhere.
    fn loose(&mut self, at: usize, line: usize) {
        let joins = matches!(
            self.kind(at + 2),
            Some(Kind::Word(_) | Kind::Mark('<' | '*' | '$', _) | Kind::Open(Delimiter::Brace))
        );
        if !joins {
            self.glued(line);
        }
    }

    fn glued(&mut self, line: usize) {
        if !self.forbids.is_empty() || self.libs.has_limits() {
            let evidence = "a macro puts a name together from pieces";
            self.findings.in_code(Rule::ForbiddenCode, line, evidence, "write the name out");
        }
    }

    /// Whether a macro is called here: `!`, but not `!=`.
    fn is_bang(&self, at: usize) -> bool {
        let is_unequal =
            self.kind(at) == Some(&Kind::Mark('!', Spacing::Joint)) && is_mark(self.tokens, at + 1, '=');
        is_mark(self.tokens, at, '!') && !is_unequal
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
        let is_macro = self.is_bang(end);
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
            if !self.forbidden(&meaning, line, "uses")
                && is_library(&meaning)
                && let Some((rule, why)) = self.libs.judge_use(&meaning)
            {
                self.findings.in_code(rule, line, why, "use what the task allows");
            }
        }
        self.as_path(&path, is_absolute, line);
        end
    }

    /// A method as a path, `Path::exists`; and the end of a path that a macro may put behind `std`.
    fn as_path(&mut self, path: &[String], is_absolute: bool, line: usize) {
        let is_here = path.first().is_some_and(|first| self.names.declares(first));
        if let Some(name) = path.last().filter(|_| (path.len() > 1 || is_absolute) && !is_here) {
            self.told(self.forbids.method(name), &format!("::{name}"), line);
        }
        if is_absolute {
            let whole: Vec<String> = ["std".to_owned()].into_iter().chain(path.iter().cloned()).collect();
            self.forbidden(&whole, line, "uses");
        }
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

    fn forbidden(&mut self, path: &[String], line: usize, how: &str) -> bool {
        let Some(rule) = self.forbids.path(path) else { return false };
        let evidence = format!("{how} {}", shown(&path.join("::")));
        self.findings.in_code(rule, line, evidence, ELSEWHERE);
        true
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
