//! What the names of a Rust file mean.
//! Owns: what `use`, `extern crate` and `type` call by another name, and what is declared here. Must not: judge.

use super::tokens::{Kind, Token};
use crate::codespec::{Language, plain};
use proc_macro2::{Delimiter, Spacing};
use std::collections::{BTreeMap, BTreeSet};

/// How far a name is followed from alias to alias.
const HOPS_MAX: usize = 16;
/// So many meanings of one name are kept.
const MEANINGS_MAX: usize = 64;

/// What begins a declaration.
const DECLARING: [&str; 8] = ["use", "extern", "type", "mod", "struct", "enum", "union", "trait"];

/// What the file calls by another name, and what it declares.
#[derive(Debug, Default)]
pub(super) struct Names {
    aliases: BTreeMap<String, BTreeSet<Vec<String>>>,
    declared: BTreeSet<String>,
    /// Of both, those that hold for the whole file.
    outermost: BTreeSet<String>,
    /// What must not be hidden behind a name that holds in some corner only.
    watched: BTreeSet<String>,
    /// How many braces are open.
    braces: usize,
    /// Whether what is declared may be left out by the compiler.
    is_conditional: bool,
    /// Everything that `use` names.
    pub(super) uses: Vec<Use>,
    /// Where what each `use` names ends, by where it begins.
    pub(super) ends: BTreeMap<usize, usize>,
}

/// One name of a `use`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Use {
    /// The whole name.
    pub(super) path: Vec<String>,
    /// Whether it is everything beneath that name.
    pub(super) is_star: bool,
    /// Whether it begins with `::`.
    pub(super) is_absolute: bool,
    /// Its line, from 1.
    pub(super) line: usize,
}

/// A name, where it stands in the list of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) path: Vec<String>,
    /// Whether it begins with `::`.
    pub(super) is_absolute: bool,
    /// The first token after it.
    pub(super) end: usize,
}

impl Names {
    pub(super) fn of(tokens: &[Token], watched: BTreeSet<String>) -> Self {
        let mut names = Names { watched, ..Names::default() };
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            match token.kind {
                Kind::Open(Delimiter::Brace) => names.braces += 1,
                Kind::Close(Delimiter::Brace) => names.braces = names.braces.saturating_sub(1),
                Kind::Open(_) | Kind::Close(_) | Kind::Word(_) | Kind::Mark(..) | Kind::Literal => {}
            }
            at = names.declaration(tokens, at).max(at + 1);
        }
        names
    }

    fn declare(&mut self, name: &str) {
        self.declared.insert(name.to_owned());
        if self.braces == 0 && !self.is_conditional {
            self.outermost.insert(name.to_owned());
        }
    }

    fn alias(&mut self, alias: &str, path: Vec<String>) {
        self.aliases.entry(alias.to_owned()).or_default().insert(path);
        if self.braces == 0 && !self.is_conditional {
            self.outermost.insert(alias.to_owned());
        }
    }

    /// Whether a word means something else here than the library of that name, as far as anybody can tell.
    fn hides(&self, word: &str) -> bool {
        !is_std(word) && (self.outermost.contains(word) || !self.watched.contains(word))
    }

    /// Takes in what begins at a token; gives the token to go on with.
    fn declaration(&mut self, tokens: &[Token], at: usize) -> usize {
        let Some(keyword) = word(tokens, at).filter(|_| !is_after_dot(tokens, at)) else { return at };
        if DECLARING.contains(&keyword) {
            self.is_conditional = is_conditional(tokens, at);
        }
        match (keyword, word(tokens, at + 1)) {
            ("use", _) if !is_mark(tokens, at + 1, '<') => self.use_tree(tokens, at),
            ("extern", Some("crate")) => {
                let Some(name) = word(tokens, at + 2) else { return at };
                let alias = match word(tokens, at + 3) {
                    Some("as") => word(tokens, at + 4),
                    Some(_) | None => None,
                };
                let line = tokens.get(at).map_or(1, |token| token.line);
                let path = vec![name.to_owned()];
                self.uses.push(Use { path: path.clone(), is_star: false, is_absolute: true, line });
                if let Some(alias) = alias {
                    self.alias(alias, path);
                }
                at + 3
            }
            ("type", Some(name)) => {
                self.declare(name);
                if let Some(named) = after_equals(tokens, at + 2).and_then(|start| named(tokens, start))
                    && named.path != [name]
                {
                    self.alias(name, named.path);
                }
                at + 2
            }
            // Functions and constants are no names that others stand beneath.
            ("mod" | "struct" | "enum" | "union" | "trait", Some(name)) => {
                self.declare(name);
                at + 1
            }
            _ => at,
        }
    }

    fn use_tree(&mut self, tokens: &[Token], at: usize) -> usize {
        let line = tokens.get(at).map_or(1, |token| token.line);
        let is_absolute = is_double_colon(tokens, at + 1);
        let start = if is_absolute { at + 3 } else { at + 1 };
        let mut tree = Tree { names: self, tokens, is_absolute, line };
        let end = tree.read(start, &[]);
        self.ends.insert(at, end);
        end
    }

    /// What a name means; nothing, where it is declared here.
    pub(super) fn meanings(&self, path: &[String], is_absolute: bool) -> Vec<Vec<String>> {
        let mut found = BTreeSet::new();
        self.follow(path.to_vec(), is_absolute, HOPS_MAX, &mut found);
        found.into_iter().map(|path| plain(path, Language::Rust)).collect()
    }

    fn follow(&self, path: Vec<String>, is_absolute: bool, hops: usize, found: &mut BTreeSet<Vec<String>>) {
        let is_here = |part: &&String| ["crate", "self", "super"].contains(&part.as_str());
        let own = path.iter().take_while(is_here).count();
        let rest = path.get(own..).unwrap_or_default();
        let Some((first, beneath)) = rest.split_first().filter(|_| found.len() < MEANINGS_MAX) else {
            return;
        };
        let aliases = self.aliases.get(first).filter(|_| !is_absolute && hops > 0);
        for alias in aliases.into_iter().flatten() {
            // `use serde; use serde::x as serde;`: what leads back to itself is what it says.
            if alias.first() == Some(first) {
                found.insert(alias.iter().chain(beneath).cloned().collect());
            } else {
                let whole: Vec<String> = alias.iter().chain(beneath).cloned().collect();
                self.follow(whole, false, hops - 1, found);
            }
        }
        // A module of this file may call others by a name of its own: `a::b::fs`, where `a` has `pub use std as b`.
        for (at, part) in beneath.iter().enumerate().filter(|_| !is_absolute && hops > 0) {
            let after = beneath.get(at + 1..).unwrap_or_default();
            let is_language = is_std(part) && !is_std(first);
            if is_language {
                found.insert([part].into_iter().chain(after).cloned().collect());
            }
            for alias in self.aliases.get(part).into_iter().flatten().filter(|_| !is_std(first)) {
                if !alias.contains(part) {
                    let whole: Vec<String> = alias.iter().chain(after).cloned().collect();
                    self.follow(whole, false, hops - 1, found);
                }
            }
        }
        let is_other = !is_absolute && (aliases.is_some() || self.declared.contains(first));
        if own == 0 && !(is_other && self.hides(first)) {
            found.insert(path);
        }
    }

    /// Whether a word is declared here, and means nothing else.
    pub(super) fn declares(&self, word: &str) -> bool {
        self.outermost.contains(word) && self.declared.contains(word) && !self.aliases.contains_key(word)
            || ["crate", "self", "super"].contains(&word)
    }

    /// Whether a word is declared here, or called so here.
    pub(super) fn knows(&self, word: &str) -> bool {
        self.declared.contains(word) || self.aliases.contains_key(word)
    }
}

/// Whether an attribute with a condition stands before a declaration.
fn is_conditional(tokens: &[Token], at: usize) -> bool {
    let before = tokens.get(..at).unwrap_or_default().iter().rev();
    let ends = |token: &&Token| {
        matches!(
            token.kind,
            Kind::Mark(';', _) | Kind::Open(Delimiter::Brace) | Kind::Close(Delimiter::Brace)
        )
    };
    let is_condition = |token: &Token| matches!(&token.kind, Kind::Word(word) if ["cfg", "cfg_attr"].contains(&word.as_str()));
    before.take_while(|token| !ends(token)).any(is_condition)
}

fn is_std(word: &str) -> bool {
    ["std", "core", "alloc"].contains(&word)
}

/// What a `use` names, with its braces.
struct Tree<'n, 't> {
    names: &'n mut Names,
    tokens: &'t [Token],
    is_absolute: bool,
    line: usize,
}

impl Tree<'_, '_> {
    /// Reads one tree beneath a name; gives the token after it.
    fn read(&mut self, start: usize, above: &[String]) -> usize {
        let mut path = above.to_vec();
        let mut at = start;
        loop {
            match self.tokens.get(at).map(|token| &token.kind) {
                Some(Kind::Word(part)) => {
                    path.push(part.clone());
                    at += 1;
                    if !is_double_colon(self.tokens, at) {
                        return self.leaf(path, at);
                    }
                    at += 2;
                }
                Some(Kind::Mark('*', _)) => {
                    let (is_absolute, line) = (self.is_absolute, self.line);
                    self.names.uses.push(Use { path, is_star: true, is_absolute, line });
                    return at + 1;
                }
                Some(Kind::Open(Delimiter::Brace)) => return self.group(at + 1, &path),
                Some(Kind::Mark(..) | Kind::Literal | Kind::Open(_) | Kind::Close(_)) | None => return at,
            }
        }
    }

    fn group(&mut self, start: usize, path: &[String]) -> usize {
        let mut at = start;
        while let Some(token) = self.tokens.get(at) {
            if token.kind == Kind::Close(Delimiter::Brace) {
                return at + 1;
            }
            self.line = token.line;
            let end = self.read(at, path);
            // What is no tree is stepped over: a comma, or nothing that a compiler takes.
            at = if end == at { at + 1 } else { end };
        }
        at
    }

    fn leaf(&mut self, mut path: Vec<String>, at: usize) -> usize {
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let renamed = match word(self.tokens, at) {
            Some("as") => word(self.tokens, at + 1),
            Some(_) | None => None,
        };
        let alias = renamed.map(str::to_owned).or_else(|| path.last().cloned());
        let (is_absolute, line) = (self.is_absolute, self.line);
        self.names.uses.push(Use { path: path.clone(), is_star: false, is_absolute, line });
        if let Some(alias) = alias.filter(|alias| path != [alias.as_str()] && alias != "_") {
            self.names.alias(&alias, path);
        }
        if renamed.is_some() { at + 2 } else { at }
    }
}

/// The name that begins at a token.
pub(super) fn named(tokens: &[Token], start: usize) -> Option<Named> {
    let is_absolute = is_double_colon(tokens, start);
    let mut at = if is_absolute { start + 2 } else { start };
    let mut path = vec![word(tokens, at)?.to_owned()];
    at += 1;
    while is_double_colon(tokens, at) {
        if let Some(part) = word(tokens, at + 2) {
            path.push(part.to_owned());
            at += 3;
        } else if let Some(end) = after_generics(tokens, at + 2) {
            at = end;
        } else {
            break;
        }
    }
    Some(Named { path, is_absolute, end: at })
}

/// The token after `<…>`.
fn after_generics(tokens: &[Token], start: usize) -> Option<usize> {
    let mut open = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match token.kind {
            Kind::Mark('<', _) => open += 1,
            Kind::Mark('>', _) => {
                let is_arrow = at.checked_sub(1).is_some_and(|before| {
                    tokens.get(before).is_some_and(|token| token.kind == Kind::Mark('-', Spacing::Joint))
                });
                open = if is_arrow { open } else { open.checked_sub(1)? };
            }
            Kind::Mark(';', _) => return None,
            Kind::Mark(..) | Kind::Word(_) | Kind::Literal | Kind::Open(_) | Kind::Close(_) => {}
        }
        if open == 0 {
            return (at > start).then_some(at + 1);
        }
    }
    None
}

/// The token after the next `=`, before the next `;`.
fn after_equals(tokens: &[Token], start: usize) -> Option<usize> {
    let ends = |token: &&Token| matches!(token.kind, Kind::Mark(';', _) | Kind::Open(Delimiter::Brace));
    let before = tokens.iter().skip(start).take_while(|token| !ends(token));
    let found = before.enumerate().find(|(_, token)| matches!(token.kind, Kind::Mark('=', Spacing::Alone)));
    found.map(|(at, _)| start + at + 1)
}

/// The word at a place.
pub(super) fn word(tokens: &[Token], at: usize) -> Option<&str> {
    match &tokens.get(at)?.kind {
        Kind::Word(word) => Some(word),
        Kind::Mark(..) | Kind::Literal | Kind::Open(_) | Kind::Close(_) => None,
    }
}

/// Whether a mark stands at a place.
pub(super) fn is_mark(tokens: &[Token], at: usize, mark: char) -> bool {
    matches!(tokens.get(at).map(|token| &token.kind), Some(Kind::Mark(held, _)) if *held == mark)
}

/// Whether `::` stands at a place.
pub(super) fn is_double_colon(tokens: &[Token], at: usize) -> bool {
    let is_joint = matches!(tokens.get(at).map(|token| &token.kind), Some(Kind::Mark(':', Spacing::Joint)));
    is_joint && is_mark(tokens, at + 1, ':')
}

/// Whether a word is a field or a method: after one dot, not after two.
pub(super) fn is_after_dot(tokens: &[Token], at: usize) -> bool {
    let is_dot = |back: usize| at.checked_sub(back).is_some_and(|before| is_mark(tokens, before, '.'));
    is_dot(1) && !is_dot(2)
}
