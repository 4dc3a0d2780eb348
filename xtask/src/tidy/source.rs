//! One Rust file, read once for all rules.
//! Owns: what is test code and what is product code. Must not: judge either.

use proc_macro2::{LineColumn, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Arm, Attribute, Field, ImplItem, Item, ItemMod, Local, Meta, TraitItem, Variant};

use super::place;
use super::problem::{Problem, Rule};
use super::tokens;

/// A parsed Rust file.
pub(crate) struct Source<'a> {
    pub(crate) path: &'a str,
    pub(crate) text: &'a str,
    pub(crate) syntax: syn::File,
    pub(crate) tokens: TokenStream,
    tests: Tests,
}

/// Which part of a file only tests see.
enum Tests {
    Whole,
    Parts(Vec<(LineColumn, LineColumn)>),
}

impl<'a> Source<'a> {
    /// Reads `text`; a file that is no Rust is itself a problem.
    pub(crate) fn parse(path: &'a str, text: &'a str) -> Result<Self, Problem> {
        let problem = |span: Span, error: &dyn std::fmt::Display| {
            let at = (path, span.start().line);
            Problem::new(Rule::Parse, at, format!("cannot be read as Rust: {error}"), "make it compile")
        };
        let tokens: TokenStream = text.parse().map_err(|e: proc_macro2::LexError| problem(e.span(), &e))?;
        let syntax: syn::File = syn::parse2(tokens.clone()).map_err(|e| problem(e.span(), &e))?;
        let tests = if place::is_test_target(path) || syntax.attrs.iter().any(marks_test) {
            Tests::Whole
        } else {
            let mut finder = TestParts(Vec::new());
            finder.visit_file(&syntax);
            Tests::Parts(finder.0)
        };
        Ok(Source { path, text, syntax, tokens, tests })
    }

    /// Says that this file is compiled for tests only.
    pub(crate) fn mark_test_file(&mut self) {
        self.tests = Tests::Whole;
    }

    /// Whether the whole file is compiled for tests only.
    pub(crate) fn is_test_file(&self) -> bool {
        matches!(self.tests, Tests::Whole)
    }

    /// Whether the token at `span` is compiled for tests only.
    pub(crate) fn is_test(&self, span: Span) -> bool {
        match &self.tests {
            Tests::Whole => true,
            Tests::Parts(parts) => {
                parts.iter().any(|(start, end)| *start <= span.start() && span.end() <= *end)
            }
        }
    }

    /// A problem of this file at `span`.
    pub(crate) fn problem(
        &self,
        rule: Rule,
        span: Span,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) -> Problem {
        Problem::new(rule, (self.path, span.start().line), message, fix)
    }
}

/// Whether an attribute limits what it stands on to tests: `#[cfg(test)]`, `#[test]`, `#[x::test]`.
pub(crate) fn marks_test(attribute: &Attribute) -> bool {
    limits_to_tests(&attribute.meta)
}

fn limits_to_tests(meta: &Meta) -> bool {
    if meta.path().is_ident("cfg") {
        return matches!(tokens::arguments(meta).as_slice(), [condition] if tokens::needs_test(condition));
    }
    meta.path().segments.last().is_some_and(|segment| segment.ident == "test")
}

/// Finds the outermost nodes that carry a test attribute. A place it does not know counts as product
/// code, which is the stricter reading.
struct TestParts(Vec<(LineColumn, LineColumn)>);

impl TestParts {
    fn take(&mut self, node: &(impl ToTokens + Spanned)) -> bool {
        let found = outer_attributes(node).iter().any(limits_to_tests);
        if found {
            self.take_whole(node);
        }
        found
    }

    fn take_whole(&mut self, node: &impl Spanned) {
        let span = node.span();
        self.0.push((span.start(), span.end()));
    }
}

/// The attributes in front of a node. Read from its tokens because `syn` has no way to ask an `Item`
/// for its attributes without naming each of its kinds.
fn outer_attributes(node: &impl ToTokens) -> Vec<Meta> {
    let mut found = Vec::new();
    let mut trees = node.to_token_stream().into_iter();
    while tokens::is_punct(trees.next().as_ref(), '#') {
        if let Some(TokenTree::Group(group)) = trees.next()
            && let Ok(meta) = syn::parse2::<Meta>(group.stream())
        {
            found.push(meta);
        }
    }
    found
}

impl<'ast> Visit<'ast> for TestParts {
    fn visit_item(&mut self, node: &'ast Item) {
        if !self.take(node) {
            visit::visit_item(self, node);
        }
    }

    fn visit_item_mod(&mut self, node: &'ast ItemMod) {
        // An inner `#![cfg(test)]` stands inside the braces, where `take` does not look.
        if node.attrs.iter().any(marks_test) {
            self.take_whole(node);
        } else {
            visit::visit_item_mod(self, node);
        }
    }

    fn visit_impl_item(&mut self, node: &'ast ImplItem) {
        if !self.take(node) {
            visit::visit_impl_item(self, node);
        }
    }

    fn visit_trait_item(&mut self, node: &'ast TraitItem) {
        if !self.take(node) {
            visit::visit_trait_item(self, node);
        }
    }

    fn visit_local(&mut self, node: &'ast Local) {
        if !self.take(node) {
            visit::visit_local(self, node);
        }
    }

    fn visit_field(&mut self, node: &'ast Field) {
        if !self.take(node) {
            visit::visit_field(self, node);
        }
    }

    fn visit_variant(&mut self, node: &'ast Variant) {
        if !self.take(node) {
            visit::visit_variant(self, node);
        }
    }

    fn visit_arm(&mut self, node: &'ast Arm) {
        if !self.take(node) {
            visit::visit_arm(self, node);
        }
    }
}

/// Runs one rule over one file and compares the report lines without their fixes.
#[cfg(test)]
pub(crate) fn check_rule(rule: fn(&Source) -> Vec<Problem>, path: &str, text: &str, expected: &[&str]) {
    let found: Vec<String> = rule(&Source::parse(path, text).unwrap())
        .iter()
        .map(|p| p.head()[path.len() + 1..].to_owned())
        .collect();
    assert_eq!(found, expected, "{path}:\n{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines on which the identifier `x` is test code.
    fn check(path: &str, text: &str, expected: &[usize]) {
        let source = Source::parse(path, text).unwrap();
        let mut found = Vec::new();
        tokens::paths(source.tokens.clone(), &mut |path, span| {
            if path == ["x"] && source.is_test(span) {
                found.push(span.start().line);
            }
        });
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn test_code_is_what_only_tests_compile() {
        let path = "crates/store/src/a.rs";
        check(path, "fn f() { x }\n#[cfg(test)]\nmod tests { fn g() { x } }\nfn h() { x }", &[3]);
        check(path, "#[cfg(any(test, feature = \"y\"))]\nfn f() { x }", &[]);
        check(path, "#[cfg(not(test))]\nfn f() { x }", &[]);
        check(path, "#[tokio::test]\nfn f() { x }", &[2]);
        check(path, "mod tests {\n#![cfg(test)]\nfn f() { x } }", &[3]);
        check(path, "#![cfg(test)]\nfn f() { x }", &[2]);
        check(path, "impl A {\n#[cfg(test)]\nfn f() { x }\nfn g() { x } }", &[3]);
        check(path, "fn f() {\n#[cfg(test)]\nlet a = x;\nlet b = x; }", &[3]);
        check(path, "fn f() { m!(\n#[cfg(test)]\nx) }", &[]);
        check("crates/store/tests/a.rs", "fn f() { x }", &[1]);
    }
}
