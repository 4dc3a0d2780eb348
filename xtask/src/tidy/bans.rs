//! What must not be merged, whichever crate it is in.
//! Owns: unfinished code, switched-off tests and switched-off lints. Must not: repeat what clippy holds.

use proc_macro2::TokenTree;
use syn::Meta;

use super::problem::{Problem, Rule, line_at};
use super::source::Source;
use super::tokens::{self, Applied};

/// Macros that mean "not finished".
const MACROS: [&str; 3] = ["todo", "unimplemented", "dbg"];

/// The comment that says the code is wrong; put together so that this file does not hold it.
const WRONG: &str = concat!("FIX", "ME");

/// Lints that hold the edge of the system, and the groups that contain them.
const LINTS: [&str; 4] =
    ["clippy::disallowed_methods", "clippy::disallowed_types", "clippy::style", "clippy::all"];

/// Ways to take a lint below `deny`.
const LEVELS: [&str; 3] = ["allow", "expect", "warn"];

/// How a generator marks its output, within the first lines of a file.
const GENERATED: &str = concat!("@gene", "rated");
const GENERATED_WITHIN_LINES: usize = 5;

/// Checks one file of `crates/`.
pub(crate) fn check(source: &Source) -> Vec<Problem> {
    if !source.path.starts_with("crates/") {
        return Vec::new();
    }
    let is_generated = source.text.lines().take(GENERATED_WITHIN_LINES).any(|line| line.contains(GENERATED));
    let mut problems = wrong_comments(source);
    tokens::levels(source.tokens.clone(), &mut |level| {
        problems.extend(level.windows(3).filter_map(|window| unfinished(source, window)));
        for applied in tokens::attributes(level) {
            if applied.meta.path().is_ident("ignore") {
                let fix = "assert today's wrong answer and say why it is wrong";
                problems.push(source.problem(
                    Rule::Bans,
                    applied.span,
                    "`#[ignore]` switches a test off",
                    fix,
                ));
            }
            if !is_generated {
                problems.extend(silenced(source, &applied));
            }
        }
    });
    problems
}

fn wrong_comments(source: &Source) -> Vec<Problem> {
    let mut problems = Vec::new();
    for range in tokens::comments(source.text, &source.tokens) {
        let start = range.start;
        for (at, _) in source.text.get(range).unwrap_or_default().match_indices(WRONG) {
            let line = line_at(source.text, start + at);
            let fix = "put it right, or open an issue and write `TODO(#n)`";
            problems.push(Problem::new(
                Rule::Bans,
                (source.path, line),
                format!("`{WRONG}` in a comment"),
                fix,
            ));
        }
    }
    problems
}

/// A call of an unfinished-code macro: its name, `!` and a group, so `todo != (a)` is none.
fn unfinished(source: &Source, window: &[TokenTree]) -> Option<Problem> {
    let [TokenTree::Ident(name), bang, TokenTree::Group(_)] = window else { return None };
    let is_call = tokens::is_punct(Some(bang), '!') && MACROS.iter().any(|banned| name == banned);
    if !is_call || source.is_test(name.span()) {
        return None;
    }
    let message = format!("`{name}!` in product code");
    Some(source.problem(Rule::Bans, name.span(), message, "finish it or leave it out"))
}

/// Lints of the list that an attribute takes back in product code.
fn silenced(source: &Source, applied: &Applied) -> Vec<Problem> {
    let Some(level) = LEVELS.iter().find(|level| applied.meta.path().is_ident(level)) else {
        return Vec::new();
    };
    if applied.only_in_tests || source.is_test(applied.span) {
        return Vec::new();
    }
    let mut problems = Vec::new();
    for lint in tokens::arguments(&applied.meta) {
        let name = written_path(&lint);
        if LINTS.contains(&name.as_str()) {
            let message = format!("`#[{level}({name})]` opens a door that is shut on purpose");
            problems.push(source.problem(
                Rule::Bans,
                applied.span,
                message,
                "go through the port that owns it",
            ));
        }
    }
    problems
}

fn written_path(meta: &Meta) -> String {
    let segments: Vec<String> =
        meta.path().segments.iter().map(|segment| segment.ident.to_string()).collect();
    segments.join("::")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::source::check_rule;

    const SRC: &str = "crates/store/src/a.rs";
    const TEST: &str = "crates/store/tests/a.rs";

    #[test]
    fn unfinished_code() {
        check_rule(check, SRC, "fn f() {\n  todo!(\"later\") }", &["2: bans: `todo!` in product code"]);
        check_rule(check, SRC, "fn f() { unimplemented![] }", &["1: bans: `unimplemented!` in product code"]);
        check_rule(check, SRC, "fn f() { vec![std::dbg!(1)]; }", &["1: bans: `dbg!` in product code"]);
        check_rule(check, SRC, "fn f(todo: u8) -> bool { todo != (1) && g(\"todo!()\") } // todo!()", &[]);
        check_rule(check, SRC, "#[cfg(test)] mod tests { fn f() { todo!() } }", &[]);
        check_rule(check, TEST, "fn f() { todo!() }", &[]);
        check_rule(check, "xtask/src/a.rs", "fn f() { todo!() }", &[]);
    }

    #[test]
    fn comments_that_say_the_code_is_wrong() {
        let found = &[&*format!("2: bans: `{WRONG}` in a comment")];
        check_rule(check, SRC, &format!("fn f() {{}}\n// {WRONG}: é\n"), found);
        check_rule(check, SRC, &format!("/*\n {WRONG} */ fn f() {{}}\n"), found);
        check_rule(check, SRC, &format!("\n/// é {WRONG}\nfn f() {{}}\n"), found);
        check_rule(check, TEST, &format!("\n// {WRONG}\n"), found);
        check_rule(check, SRC, &format!("const A: &str = \"{WRONG}\"; fn {WRONG}() {{}} // TODO(#1)\n"), &[]);
    }

    #[test]
    fn switched_off_tests() {
        let found = &["2: bans: `#[ignore]` switches a test off"];
        check_rule(check, TEST, "#[test]\n#[ignore]\nfn f() {}", found);
        check_rule(check, SRC, "#[cfg(test)] mod t { #[test]\n#[ignore = \"slow\"] fn f() {} }", found);
        check_rule(check, TEST, "proptest! { #[test]\n#[cfg_attr(unix, ignore)] fn f() {} }", found);
        check_rule(check, TEST, "#[serde(ignore)]\nstruct A; // #[ignore]", &[]);
    }

    #[test]
    fn switched_off_lints() {
        let found =
            |attribute: &str| format!("1: bans: `#[{attribute}]` opens a door that is shut on purpose");
        for attribute in [
            "allow(clippy::disallowed_methods)",
            "expect(clippy::disallowed_types)",
            "warn(clippy::style)",
            "allow(clippy::all)",
        ] {
            let with_reason = attribute.replace(')', ", reason = \"r\")");
            check_rule(check, SRC, &format!("#[{with_reason}]\nfn f() {{}}"), &[&found(attribute)]);
            check_rule(check, SRC, &format!("#![cfg_attr(unix, {attribute})]"), &[&found(attribute)]);
            check_rule(check, SRC, &format!("#![cfg_attr(test, {attribute})]"), &[]);
            check_rule(check, SRC, &format!("// {GENERATED} by x\n#![{attribute}]"), &[]);
            check_rule(check, TEST, &format!("#![{attribute}]"), &[]);
        }
        check_rule(check, SRC, "#![allow(clippy::too_many_arguments)]\n#![deny(clippy::all)]", &[]);
    }
}
