//! What must not be merged, whichever crate it is in.
//! Owns: unfinished code, switched-off tests and switched-off lints. Must not: repeat what clippy holds.

use proc_macro2::{Ident, TokenTree};
use syn::Meta;

use super::place;
use super::problem::{Problem, Rule, line_at};
use super::source::Source;
use super::tokens;

/// Macros that mean "not finished".
const MACROS: [&str; 3] = ["todo", "unimplemented", "dbg"];

/// The comment that says the code is wrong; put together so that this file does not hold it.
const WRONG: &str = concat!("FIX", "ME");

/// Lints that hold the edge of the system, and the groups that contain them.
const LINTS: [&str; 4] =
    ["clippy::disallowed_methods", "clippy::disallowed_types", "clippy::style", "clippy::all"];

/// Ways to take a lint below `deny`.
const LEVELS: [&str; 3] = ["allow", "expect", "warn"];

/// Lints that keep panics out of the product, and the group that contains them.
const PANIC_LINTS: [&str; 7] = [
    "clippy::dbg_macro",
    "clippy::expect_used",
    "clippy::panic",
    "clippy::restriction",
    "clippy::todo",
    "clippy::unimplemented",
    "clippy::unwrap_used",
];

/// The files a generator writes. A marker in the file excuses nothing: anybody can write one.
const GENERATED: [&str; 0] = [];

/// Checks one file.
pub(crate) fn check(source: &Source) -> Vec<Problem> {
    check_except(source, &GENERATED)
}

fn check_except(source: &Source, generated: &[&str]) -> Vec<Problem> {
    let Some((package, _)) = place::package(source.path) else { return Vec::new() };
    match package {
        "fuzz" => Vec::new(),
        "xtask" => silenced(source, &PANIC_LINTS, PANIC_WORDS),
        package => {
            let mut problems = unmerged(source);
            if !generated.contains(&source.path) {
                problems.extend(silenced(source, &LINTS, DOOR_WORDS));
            }
            if package != "testkit" {
                problems.extend(silenced(source, &PANIC_LINTS, PANIC_WORDS));
            }
            problems
        }
    }
}

/// What is not finished, or not run.
fn unmerged(source: &Source) -> Vec<Problem> {
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

/// What a silenced lint means, and what to do instead.
#[derive(Clone, Copy)]
struct Words {
    meaning: &'static str,
    fix: &'static str,
}

const DOOR_WORDS: Words =
    Words { meaning: "opens a door that is shut on purpose", fix: "go through the port that owns it" };
const PANIC_WORDS: Words = Words {
    meaning: "lets more than tests panic",
    fix: "return an error, or put it under `cfg_attr(test, …)`",
};

/// Lints of the list that attributes take back outside tests.
fn silenced(source: &Source, lints: &[&str], words: Words) -> Vec<Problem> {
    let mut problems = Vec::new();
    tokens::levels(source.tokens.clone(), &mut |level| {
        for applied in tokens::attributes(level) {
            let attribute = written_path(&applied.meta);
            if !LEVELS.contains(&attribute.as_str()) || applied.only_in_tests || source.is_test(applied.span)
            {
                continue;
            }
            let names = tokens::arguments(&applied.meta).into_iter().map(|lint| written_path(&lint));
            for name in names.filter(|name| lints.contains(&name.as_str())) {
                let message = format!("`#[{attribute}({name})]` {}", words.meaning);
                problems.push(source.problem(Rule::Bans, applied.span, message, words.fix));
            }
        }
    });
    problems
}

/// The path as clippy knows it: without the `r#` that it does not mind.
fn written_path(meta: &Meta) -> String {
    let name = |ident: &Ident| ident.to_string().trim_start_matches("r#").to_owned();
    let segments: Vec<String> = meta.path().segments.iter().map(|segment| name(&segment.ident)).collect();
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
            let marked = format!("#![{attribute}] // {}\n", concat!("@gene", "rated"));
            check_rule(check, SRC, &marked, &[&found(attribute)]);
            check_rule(|source| check_except(source, &[SRC]), SRC, &marked, &[]);
            check_rule(check, TEST, &format!("#![{attribute}]"), &[]);
        }
        check_rule(check, SRC, "#![allow(clippy::too_many_arguments)]\n#![deny(clippy::all)]", &[]);
    }
    #[test]
    fn switched_off_panics() {
        let found = |attribute: &str| format!("1: bans: `#[{attribute}]` lets more than tests panic");
        for attribute in ["allow(clippy::unwrap_used)", "expect(clippy::expect_used)", "warn(clippy::panic)"]
        {
            let inner = format!("#![{attribute}]");
            for path in [SRC, "crates/store/build.rs", "xtask/src/a.rs"] {
                check_rule(check, path, &inner, &[&found(attribute)]);
                check_rule(check, path, &format!("fn f() {{ #[{attribute}] g() }}"), &[&found(attribute)]);
                let for_some = format!("#![cfg_attr(any(test, unix), {attribute})]");
                check_rule(check, path, &for_some, &[&found(attribute)]);
                check_rule(check, path, &format!("#![cfg_attr(test, {attribute})]"), &[]);
                check_rule(check, path, &format!("#[cfg(test)]\nmod tests {{ {inner} }}"), &[]);
            }
            let exempt = [
                TEST,
                "crates/store/benches/a.rs",
                "crates/testkit/src/a.rs",
                "fuzz/src/lib.rs",
                "xtask/tests/a.rs",
            ];
            for path in exempt {
                check_rule(check, path, &inner, &[]);
            }
        }
        check_rule(check, SRC, "#![r#allow(clippy::r#panic)]", &[&found("allow(clippy::panic)")]);
        check_rule(check, SRC, "#![deny(clippy::panic)] #![allow(clippy::panic_in_result_fn)]", &[]);
    }
}
