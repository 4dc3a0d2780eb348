//! What the pure crates must not name outside their tests.
//! Owns: the list of bans and their reasons. Must not: excuse a crate (the map in `edges` says who is pure).
//!
//! Names are read from tokens, so macros are seen and comments and strings are not.

use proc_macro2::TokenTree;

use super::edges;
use super::files::File;
use super::place;
use super::problem::{Problem, Rule};
use super::source::Source;
use super::tokens;

/// Why something is banned, as the end of a sentence, and what to do instead.
#[derive(Clone, Copy)]
struct Why {
    reason: &'static str,
    fix: &'static str,
}

const NO_CLOCK: Why =
    Why { reason: "reads the clock", fix: "take `at` from the input; `Duration` is in `core::time`" };
const NO_CHANCE: Why =
    Why { reason: "is random", fix: "take the id from the input or derive it from content" };
const NO_WORLD: Why =
    Why { reason: "reaches outside", fix: "take a value, or return an effect for the runtime" };
const NO_BUILD: Why =
    Why { reason: "reads the environment of the build", fix: "take the value from the input" };
const NO_ORDER: Why =
    Why { reason: "iterates in no fixed order", fix: "use a `BTreeMap`, `BTreeSet` or `Vec`" };
const NO_ASYNC: Why =
    Why { reason: "waits for the world", fix: "return an effect; its outcome comes back as an input" };

/// Names that are banned wherever they stand.
const WORDS: [(&str, Why); 7] = [
    ("SystemTime", NO_CLOCK),
    ("rand", NO_CHANCE),
    ("getrandom", NO_CHANCE),
    ("HashMap", NO_ORDER),
    ("HashSet", NO_ORDER),
    ("async", NO_ASYNC),
    ("await", NO_ASYNC),
];

/// Names that are banned after another one: a trailing `*` stands for any ending. `Instant` alone is
/// not banned, because an instant that arrives as data is a value like any other; the one that ticks
/// comes from `std::time`.
const PAIRS: [(&str, &str, Why); 15] = [
    ("std", "time", NO_CLOCK),
    ("Instant", "now", NO_CLOCK),
    ("Timestamp", "now", NO_CLOCK),
    ("Utc", "now", NO_CLOCK),
    ("Zoned", "now", NO_CLOCK),
    ("Uuid", "new*", NO_CHANCE),
    ("Uuid", "now*", NO_CHANCE),
    ("core", "env", NO_BUILD),
    ("core", "option_env", NO_BUILD),
    ("std", "env", NO_WORLD),
    ("std", "option_env", NO_BUILD),
    ("std", "fs", NO_WORLD),
    ("std", "net", NO_WORLD),
    ("std", "process", NO_WORLD),
    ("std", "thread", NO_WORLD),
];

/// Macros that are banned wherever they are called.
const MACROS: [(&str, Why); 3] = [
    ("env", NO_BUILD),
    ("option_env", NO_BUILD),
    ("include", Why { reason: "could bring code these rules do not see", fix: "make it a module" }),
];

pub(crate) const NO_SCRIPT_FIX: &str = "write down what it would compute";

/// No pure crate has the build script that cargo runs without being told.
pub(crate) fn check_script(file: &File) -> Option<Problem> {
    let Some((package, "build.rs")) = place::package(&file.path) else { return None };
    let message = format!("the pure crate `{package}` has a build script");
    edges::is_pure(package).then(|| Problem::new(Rule::Purity, (&file.path, 1), message, NO_SCRIPT_FIX))
}

/// Checks one file of a pure crate.
pub(crate) fn check(source: &Source) -> Vec<Problem> {
    let is_pure = place::package(source.path).is_some_and(|(package, _)| edges::is_pure(package));
    if !is_pure || !place::is_below_src(source.path) {
        return Vec::new();
    }
    let mut problems = Vec::new();
    tokens::paths(source.tokens.clone(), &mut |path, span| {
        if let Some((name, why)) = banned(path)
            && !source.is_test(span)
        {
            problems.push(source.problem(Rule::Purity, span, format!("`{name}` {}", why.reason), why.fix));
        }
    });
    tokens::levels(source.tokens.clone(), &mut |level| {
        for applied in tokens::attributes(level) {
            if applied.meta.path().is_ident("path") && !source.is_test(applied.span) {
                let message = "`#[path]` could lead to a file these rules do not see";
                let fix = "put the file where its name says";
                problems.push(source.problem(Rule::Purity, applied.span, message, fix));
            }
        }
        for window in level.windows(3) {
            if let [TokenTree::Ident(name), bang, TokenTree::Group(_)] = window
                && tokens::is_punct(Some(bang), '!')
                && let Some((called, why)) =
                    MACROS.iter().find(|(called, _)| plain(&name.to_string()) == *called)
                && !source.is_test(name.span())
            {
                let message = format!("`{called}!` {}", why.reason);
                problems.push(source.problem(Rule::Purity, name.span(), message, why.fix));
            }
        }
    });
    problems
}

/// The ban a path ends in, with the name to print.
fn banned(path: &[String]) -> Option<(String, Why)> {
    let (last, before) = path.split_last()?;
    let last = plain(last);
    if let Some((word, why)) = WORDS.iter().find(|(word, _)| *word == last) {
        return Some(((*word).to_owned(), *why));
    }
    let owner = plain(before.last()?);
    let is_second = |pattern: &str| match pattern.strip_suffix('*') {
        Some(start) => last.starts_with(start),
        None => last == pattern,
    };
    let (_, _, why) = PAIRS.iter().find(|(first, second, _)| *first == owner && is_second(second))?;
    Some((format!("{owner}::{last}"), *why))
}

/// The name without its `r#`, which hides `std` as well as any other; only a keyword is made
/// something else by it.
fn plain(name: &str) -> &str {
    match name.strip_prefix("r#") {
        None | Some("async" | "await") => name,
        Some(plain) => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::source::check_rule;

    fn check_pure(text: &str, expected: &[&str]) {
        check_rule(check, "crates/kernel/src/run.rs", text, expected);
        check_rule(check, "crates/runtime/src/run.rs", text, &[]);
        check_rule(check, "crates/kernel/tests/run.rs", text, &[]);
        check_rule(check, "crates/kernel/src/run.rs", &format!("#[cfg(test)] mod tests {{ {text} }}"), &[]);
    }

    #[test]
    fn clocks() {
        check_pure("fn f() {\n  let a: SystemTime; }", &["2: purity: `SystemTime` reads the clock"]);
        check_pure("use std::{fmt,\n  time::Instant as I};", &["2: purity: `std::time` reads the clock"]);
        check_pure("fn f() { time::Instant::now() }", &["1: purity: `Instant::now` reads the clock"]);
        check_pure("use core::time::Duration; struct Instant; fn f(at: crate::time::Instant) {}", &[]);
        check_pure("fn f() { jiff::Timestamp::now() }", &["1: purity: `Timestamp::now` reads the clock"]);
        check_pure(
            "fn f() { Utc::now(); Zoned::now() }",
            &["1: purity: `Utc::now` reads the clock", "1: purity: `Zoned::now` reads the clock"],
        );
        check_pure("fn f(now: Timestamp) -> Timestamp { Timestamp::parse(now) }", &[]);
    }

    #[test]
    fn chance() {
        check_pure("use rand::Rng;", &["1: purity: `rand` is random"]);
        check_pure("fn f() { getrandom::fill(b) }", &["1: purity: `getrandom` is random"]);
        check_pure("fn f() { Uuid::new_v4() }", &["1: purity: `Uuid::new_v4` is random"]);
        check_pure("fn operand() { Uuid::parse(random) }", &[]);
    }

    #[test]
    fn the_world() {
        check_pure(
            "use std::{fs,\n  env as e, io::{self}};",
            &["1: purity: `std::fs` reaches outside", "2: purity: `std::env` reaches outside"],
        );
        check_pure(
            "fn f() { ::std::net::lookup(); std::process::exit(1) }",
            &["1: purity: `std::net` reaches outside", "1: purity: `std::process` reaches outside"],
        );
        check_pure("use r#std::r#fs;", &["1: purity: `std::fs` reaches outside"]);
        check_pure("fn f() { m!(std::thread::spawn) }", &["1: purity: `std::thread` reaches outside"]);
        check_pure("use crate::{env, fs}; use std::fmt; // std::fs\nconst A: &str = \"std::fs\";", &[]);
        check_pure("/// Not `std::env`.\nfn process(net: u8) {}", &[]);
    }

    #[test]
    fn the_environment_of_the_build() {
        let reads = |name: &str| format!("2: purity: `{name}` reads the environment of the build");
        for name in ["env!", "option_env!"] {
            check_pure(&format!("const A: &str =\n {name}(\"A\");"), &[&reads(name)]);
            let path = format!("core::{}", name.trim_end_matches('!'));
            check_pure(&format!("const A: &str =\n core::{name}(\"A\");"), &[&reads(&path), &reads(name)]);
            check_pure(&format!("use\n {path} as e;"), &[&reads(&path)]);
        }
        check_pure("const A: &str =\n r#env![\"A\"];", &[&reads("env!")]);
        check_pure("fn f(env: bool) -> bool { env != (true) || my_env!() } /* env!() */", &[]);
    }

    #[test]
    fn build_scripts() {
        let check = |path: &str, expected: Option<&str>| {
            let found = check_script(&File::new(path, "fn main() {}\n")).map(|problem| problem.head());
            assert_eq!(found.as_deref(), expected);
        };
        let found = "crates/kernel/build.rs:1: purity: the pure crate `kernel` has a build script";
        check("crates/kernel/build.rs", Some(found));
        check("crates/kernel/src/build.rs", None);
        check("crates/store/build.rs", None);
    }

    #[test]
    fn order() {
        check_pure(
            "type A = std::collections::HashMap<u8, u8>;",
            &["1: purity: `HashMap` iterates in no fixed order"],
        );
        check_pure(
            "macro_rules! m { () => {\n HashSet::new() } }",
            &["2: purity: `HashSet` iterates in no fixed order"],
        );
        check_pure("use alloc::collections::BTreeMap; struct HashMapped;", &[]);
    }

    #[test]
    fn waiting() {
        check_pure("async fn f() {}", &["1: purity: `async` waits for the world"]);
        check_pure("fn f() {\n let a = async {}; }", &["2: purity: `async` waits for the world"]);
        check_pure(
            "macro_rules! m { ($a:expr) => {\n $a.await } }",
            &["2: purity: `await` waits for the world"],
        );
        check_pure("fn awaiting(r#async: u8) {}", &[]);
    }

    #[test]
    fn no_code_hides() {
        check_pure(
            "#[path = \"x.rs\"]\nmod a;",
            &["1: purity: `#[path]` could lead to a file these rules do not see"],
        );
        check_pure("include!(\"x.in\");", &["1: purity: `include!` could bring code these rules do not see"]);
        check_pure("const A: &str = include_str!(\"x.in\");", &[]);
    }
}
