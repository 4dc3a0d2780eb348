//! How long files, functions and inline test modules may be.
//! Owns: the limits. Must not: count what only tests see against a product file.

use proc_macro2::{Span, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{ExprClosure, ImplItemFn, ItemFn, ItemMod, Signature, TraitItemFn};

use super::problem::{Problem, Rule};
use super::source::{Source, marks_test};
use super::tokens;

const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;
/// A macro is a function per arm, and none of them is seen as one.
const MACRO_LINES_MAX: usize = 120;
const INLINE_TESTS_LINES_MAX: usize = 150;
const TEST_FILE_LINES_MAX: usize = 800;
const TEST_FUNCTION_LINES_MAX: usize = 120;

/// Checks one file.
pub(crate) fn check(source: &Source) -> Vec<Problem> {
    let mut sizes = Sizes::default();
    sizes.visit_file(&source.syntax);
    let mut problems = Vec::from_iter(check_file(source, &sizes));
    for (span, lines) in &sizes.test_modules {
        if *lines > INLINE_TESTS_LINES_MAX && !source.is_test_file() {
            let stem = source.path.strip_suffix(".rs").unwrap_or(source.path);
            let message = format!("inline tests of {lines} lines, at most {INLINE_TESTS_LINES_MAX}");
            problems.push(source.problem(
                Rule::Sizes,
                *span,
                message,
                format!("move them to {stem}_tests.rs"),
            ));
        }
    }
    for function in &sizes.functions {
        let max = if source.is_test(function.at) { TEST_FUNCTION_LINES_MAX } else { FUNCTION_LINES_MAX };
        if function.lines > max {
            let message = format!("{} of {} lines, at most {max}", function.name, function.lines);
            problems.push(source.problem(
                Rule::Sizes,
                function.at,
                message,
                "split it where it changes its subject",
            ));
        }
    }
    problems.extend(long_macros(source));
    problems
}

/// Definitions only: what a macro is called with may be a table. Read from tokens, so that a macro
/// inside another is seen.
fn long_macros(source: &Source) -> Vec<Problem> {
    let mut problems = Vec::new();
    tokens::levels(source.tokens.clone(), &mut |level| {
        for window in level.windows(4) {
            if let [TokenTree::Ident(word), bang, TokenTree::Ident(name), TokenTree::Group(body)] = window
                && word == "macro_rules"
                && tokens::is_punct(Some(bang), '!')
            {
                let lines = lines_between(word.span(), body.span());
                if lines > MACRO_LINES_MAX {
                    let message = format!("macro `{name}` of {lines} lines, at most {MACRO_LINES_MAX}");
                    let fix = "let it expand to calls of functions";
                    problems.push(source.problem(Rule::Sizes, word.span(), message, fix));
                }
            }
        }
    });
    problems
}

fn check_file(source: &Source, sizes: &Sizes) -> Option<Problem> {
    let all = source.text.lines().count();
    let (lines, max, without) = if source.is_test_file() {
        (all, TEST_FILE_LINES_MAX, "")
    } else {
        let tests: usize = sizes.test_modules.iter().map(|(_, lines)| lines).sum();
        (all.saturating_sub(tests), FILE_LINES_MAX, " without its tests")
    };
    let message = format!("file of {lines} lines{without}, at most {max}");
    (lines > max).then(|| Problem::new(Rule::Sizes, (source.path, 1), message, "split it by what it owns"))
}

struct Function {
    /// As printed, with its kind.
    name: String,
    at: Span,
    lines: usize,
}

#[derive(Default)]
struct Sizes {
    functions: Vec<Function>,
    /// Outermost inline `#[cfg(test)]` modules: where they stand and their lines, attributes included.
    test_modules: Vec<(Span, usize)>,
    in_tests: bool,
}

impl Sizes {
    /// From the `fn` line to the closing brace: a long doc comment is no fault of the function.
    fn measure(&mut self, signature: &Signature, body: Span) {
        let at = signature.fn_token.span;
        self.functions.push(Function {
            name: format!("function `{}`", signature.ident),
            at,
            lines: lines_between(at, body),
        });
    }
}

fn lines_between(first: Span, last: Span) -> usize {
    last.end().line - first.start().line + 1
}

impl<'ast> Visit<'ast> for Sizes {
    fn visit_item_mod(&mut self, node: &'ast ItemMod) {
        let was_in_tests = self.in_tests;
        if node.content.is_some() && !was_in_tests && node.attrs.iter().any(marks_test) {
            self.test_modules.push((node.mod_token.span, lines_between(node.span(), node.span())));
            self.in_tests = true;
        }
        visit::visit_item_mod(self, node);
        self.in_tests = was_in_tests;
    }

    fn visit_expr_closure(&mut self, node: &'ast ExprClosure) {
        let at = node.inputs_begin.span;
        let lines = lines_between(at, node.body.span());
        self.functions.push(Function { name: "closure".to_owned(), at, lines });
        visit::visit_expr_closure(self, node);
    }

    fn visit_item_fn(&mut self, node: &'ast ItemFn) {
        self.measure(&node.sig, node.block.span());
        visit::visit_item_fn(self, node);
    }

    fn visit_impl_item_fn(&mut self, node: &'ast ImplItemFn) {
        self.measure(&node.sig, node.block.span());
        visit::visit_impl_item_fn(self, node);
    }

    fn visit_trait_item_fn(&mut self, node: &'ast TraitItemFn) {
        if let Some(body) = &node.default {
            self.measure(&node.sig, body.span());
        }
        visit::visit_trait_item_fn(self, node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::source::check_rule;

    const SRC: &str = "crates/store/src/a.rs";
    const TEST: &str = "crates/store/tests/a.rs";

    /// A text of `lines` lines, the last of which closes what `open` opens.
    fn block(open: &str, lines: usize) -> String {
        format!("{open} {{{}}}\n", "\n".repeat(lines - 1))
    }

    #[test]
    fn files() {
        check_rule(check, SRC, &"//\n".repeat(500), &[]);
        check_rule(
            check,
            SRC,
            &"//\n".repeat(501),
            &["1: sizes: file of 501 lines without its tests, at most 500"],
        );
        check_rule(check, TEST, &"//\n".repeat(800), &[]);
        check_rule(check, TEST, &"//\n".repeat(801), &["1: sizes: file of 801 lines, at most 800"]);
        let with_tests = "//\n".repeat(450) + &block("#[cfg(test)] mod tests", 140);
        check_rule(check, SRC, &with_tests, &[]);
        let with_module = "//\n".repeat(450) + &block("mod a", 140);
        check_rule(check, SRC, &with_module, &["1: sizes: file of 590 lines without its tests, at most 500"]);
    }

    #[test]
    fn functions() {
        let long = &["2: sizes: function `f` of 71 lines, at most 70"];
        check_rule(check, SRC, &block("fn f()", 70), &[]);
        check_rule(check, SRC, &format!("\n{}", block("fn f()", 71)), long);
        check_rule(check, SRC, &format!("impl A {{\n{} }}", block("pub fn f()", 71)), long);
        check_rule(check, SRC, &format!("trait A {{\n{} }}", block("fn f()", 71)), long);
        check_rule(check, SRC, &format!("{}{}", "/// Doc.\n".repeat(30), block("fn f()", 70)), &[]);
        check_rule(check, SRC, &format!("#[test]\n{}", block("fn f()", 120)), &[]);
        check_rule(check, TEST, &block("fn f()", 121), &["1: sizes: function `f` of 121 lines, at most 120"]);
    }

    #[test]
    fn closures() {
        let long = &["2: sizes: closure of 71 lines, at most 70"];
        for (open, close) in [("const F: fn() =\n ||", ";"), ("static F: L = L::new(\nmove |a|", ");")] {
            check_rule(check, SRC, &(block(open, 70) + close), &[]);
            check_rule(check, SRC, &(block(open, 71) + close), long);
            check_rule(check, TEST, &(block(open, 120) + close), &[]);
        }
        let rows = "1,\n".repeat(80);
        check_rule(check, SRC, &format!("const A: &[u8] = &[{rows}];\nconst F: fn() = || ();"), &[]);
    }

    #[test]
    fn macros() {
        let long = &["2: sizes: macro `m` of 121 lines, at most 120"];
        check_rule(check, SRC, &block("macro_rules! m", 120), &[]);
        check_rule(check, SRC, &format!("\n{}", block("macro_rules! m", 121)), long);
        check_rule(check, TEST, &format!("\n{}", block("macro_rules! m", 121)), long);
        check_rule(check, SRC, &format!("hidden! {{\n{} }}", block("macro_rules! m", 121)), long);
        check_rule(check, SRC, &block("m!", 200), &[]);
    }

    #[test]
    fn inline_tests() {
        check_rule(check, SRC, &block("#[cfg(test)] mod tests", 150), &[]);
        check_rule(check, SRC, &block("mod tests", 151), &[]);
        let found = &["2: sizes: inline tests of 152 lines, at most 150"];
        check_rule(check, SRC, &format!("#[cfg(test)]\n{}", block("mod tests", 151)), found);
        check_rule(check, TEST, &block("#[cfg(test)] mod tests", 151), &[]);
    }
}
