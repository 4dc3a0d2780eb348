//! Ways to read a token stream that the syntax tree does not offer: inside macros, and comments.
//! Owns: walking tokens. Must not: know a rule.

use std::ops::Range;

use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::{Meta, Token};

/// Calls `see` with the tokens of every nesting level, outermost first. A rule matches neighbours
/// within a level, so it reaches into macros, where the syntax tree ends.
pub(crate) fn levels(stream: TokenStream, see: &mut dyn FnMut(&[TokenTree])) {
    let level: Vec<TokenTree> = stream.into_iter().collect();
    see(&level);
    for tree in level {
        if let TokenTree::Group(group) = tree {
            levels(group.stream(), see);
        }
    }
}

/// Calls `see` at every identifier with the path that ends in it: `use std::{fs, env}` gives `std`,
/// `std::fs` and `std::env`.
pub(crate) fn paths(stream: TokenStream, see: &mut dyn FnMut(&[String], Span)) {
    walk_paths(stream, &[], see);
}

fn walk_paths(stream: TokenStream, prefix: &[String], see: &mut dyn FnMut(&[String], Span)) {
    let mut path = prefix.to_vec();
    let mut joined = false;
    let mut trees = stream.into_iter().peekable();
    while let Some(tree) = trees.next() {
        match tree {
            TokenTree::Ident(ident) => {
                if !joined {
                    path = prefix.to_vec();
                }
                path.push(ident.to_string());
                see(&path, ident.span());
                joined = false;
            }
            TokenTree::Punct(first)
                if first.as_char() == ':'
                    && first.spacing() == Spacing::Joint
                    && is_punct(trees.peek(), ':') =>
            {
                trees.next();
                joined = true;
            }
            TokenTree::Group(group) => {
                let is_use_group = joined && group.delimiter() == Delimiter::Brace;
                walk_paths(group.stream(), if is_use_group { &path } else { &[] }, see);
                path = prefix.to_vec();
                joined = false;
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {
                path = prefix.to_vec();
                joined = false;
            }
        }
    }
}

/// Whether the token is the punctuation `sign`.
pub(crate) fn is_punct(tree: Option<&TokenTree>, sign: char) -> bool {
    matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

/// Whether the token is the identifier or keyword `word`.
pub(crate) fn is_word(tree: Option<&TokenTree>, word: &str) -> bool {
    matches!(tree, Some(TokenTree::Ident(ident)) if ident == word)
}

/// An attribute as it takes effect.
pub(crate) struct Applied {
    pub(crate) meta: Meta,
    pub(crate) span: Span,
    /// A `cfg_attr` gives it to tests only.
    pub(crate) only_in_tests: bool,
}

/// The attributes, outer and inner, among the tokens of one level. `cfg_attr` is replaced by what it
/// applies, so that no rule can be passed by wrapping.
pub(crate) fn attributes(level: &[TokenTree]) -> Vec<Applied> {
    let mut found = Vec::new();
    for (at, tree) in level.iter().enumerate() {
        let body = if is_punct(level.get(at + 1), '!') { at + 2 } else { at + 1 };
        if is_punct(Some(tree), '#')
            && let Some(TokenTree::Group(group)) = level.get(body)
            && group.delimiter() == Delimiter::Bracket
            && let Ok(meta) = syn::parse2::<Meta>(group.stream())
        {
            apply(meta, group.span_open(), false, &mut found);
        }
    }
    found
}

fn apply(meta: Meta, span: Span, only_in_tests: bool, found: &mut Vec<Applied>) {
    if !meta.path().is_ident("cfg_attr") {
        found.push(Applied { meta, span, only_in_tests });
        return;
    }
    let mut parts = arguments(&meta).into_iter();
    let only_in_tests = only_in_tests || parts.next().is_some_and(|condition| needs_test(&condition));
    for part in parts {
        apply(part, span, only_in_tests, found);
    }
}

/// The comma-separated arguments of an attribute; none when it has another form.
pub(crate) fn arguments(meta: &Meta) -> Vec<Meta> {
    let Meta::List(list) = meta else { return Vec::new() };
    list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
        .map_or_else(|_| Vec::new(), |parts| parts.into_iter().collect())
}

/// Whether a `cfg` condition can hold only in a test build. `any(test, feature = "x")` can hold in a
/// product build, so it does not count.
pub(crate) fn needs_test(condition: &Meta) -> bool {
    let parts = arguments(condition);
    match condition {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => parts.iter().any(needs_test),
        Meta::List(list) if list.path.is_ident("any") => !parts.is_empty() && parts.iter().all(needs_test),
        Meta::List(_) | Meta::NameValue(_) => false,
    }
}

/// The byte ranges of `text` that no token covers, plus the doc comments: comments, with the
/// whitespace and brackets between them. `tokens` must have been read from `text`.
pub(crate) fn comments(text: &str, tokens: &TokenStream) -> Vec<Range<usize>> {
    let mut code = Vec::new();
    levels(tokens.clone(), &mut |level| {
        for tree in level {
            let range = tree.span().byte_range();
            let is_doc = text.get(range.clone()).is_some_and(|t| t.starts_with("//") || t.starts_with("/*"));
            if !matches!(tree, TokenTree::Group(_)) && !is_doc {
                code.push(range);
            }
        }
    });
    code.sort_by_key(|range| (range.start, range.end));
    let mut gaps = Vec::new();
    let mut from = 0;
    for range in code {
        if from < range.start {
            gaps.push(from..range.start);
        }
        from = from.max(range.end);
    }
    gaps.push(from..text.len());
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn use_groups_and_turbofish_give_whole_paths() {
        let check = |text: &str, expected: &[&str]| {
            let mut found = Vec::new();
            paths(text.parse().unwrap(), &mut |path, _| found.push(path.join("::")));
            assert_eq!(found, expected, "{text}");
        };
        check(
            "use std::{fs, io::{self, Read}};",
            &["use", "std", "std::fs", "std::io", "std::io::self", "std::io::Read"],
        );
        check("a::b(c::d)", &["a", "a::b", "c", "c::d"]);
        check("Vec::<Item>::new", &["Vec", "Item", "new"]);
        check("x: ::std::fs", &["x", "std", "std::fs"]);
        check("match a { b::C => d }", &["match", "a", "b", "b::C", "d"]);
    }

    #[test]
    fn a_condition_needs_test_only_when_nothing_else_satisfies_it() {
        let check = |text: &str, expected: bool| {
            assert_eq!(needs_test(&syn::parse_str::<Meta>(text).unwrap()), expected, "{text}");
        };
        check("test", true);
        check("all(unix, test)", true);
        check("any(test, all(test, unix))", true);
        check("any(test, feature = \"x\")", false);
        check("any()", false);
        check("not(test)", false);
        check("feature = \"test\"", false);
    }

    #[test]
    fn comments_are_what_is_not_code() {
        let text = "//! doc é\nfn f() { \"// no\"; } // yes\n/* block */";
        let found: Vec<&str> =
            comments(text, &text.parse().unwrap()).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found.concat().replace(' ', ""), "//!docé\n(){}//yes\n/*block*/");
    }
}
