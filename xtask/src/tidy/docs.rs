//! Every file says what it owns and what it must not do.
//! Owns: the opening doc comment. Must not: judge prose beyond that.

use super::place;
use super::problem::{Problem, Rule};
use super::source::Source;

/// What the doc comment must hold, and what it means when it does not.
const WORDS: [(&str, &str); 2] = [
    ("Owns", "the file does not say what it owns"),
    ("Must not", "the file does not say what it must not do"),
];

/// Checks one file.
pub(crate) fn check(source: &Source) -> Vec<Problem> {
    let Some((package, _)) = place::package(source.path) else { return Vec::new() };
    if !place::is_below_src(source.path) && package != "fuzz" {
        return Vec::new();
    }
    let doc = opening_doc(source.text);
    if doc.is_empty() {
        let message = "the file does not open with a `//!` doc comment";
        let fix = "say what it owns, then what it must not do";
        return vec![Problem::new(Rule::Docs, (source.path, 1), message, fix)];
    }
    if source.is_test_file() || !place::is_below_src(source.path) {
        return Vec::new();
    }
    let missing = WORDS.iter().filter(|(word, _)| !doc.contains(word));
    missing
        .map(|(word, message)| {
            let fix = format!("add a sentence with \"{word}\" to the doc comment it opens with");
            Problem::new(Rule::Docs, (source.path, 1), *message, fix)
        })
        .collect()
}

/// The words of the `//!` lines a file begins with, on one line so that a wrapped phrase is found.
fn opening_doc(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::source::check_rule;

    #[test]
    fn files_open_with_a_doc_comment() {
        let missing = &["1: docs: the file does not open with a `//!` doc comment"];
        for path in ["crates/store/src/a.rs", "xtask/src/main.rs", "fuzz/fuzz_targets/a.rs"] {
            check_rule(check, path, "//! Owns rows. Must not: read.\n", &[]);
            check_rule(check, path, "//!\n//! Owns rows. Must not: read.\n", &[]);
            check_rule(check, path, "// Owns rows.\n", missing);
            check_rule(check, path, "use a::b;\n//! Late.\n".split_at(9).0, missing);
            check_rule(check, path, "//!\nuse a::b;\n", missing);
            check_rule(check, path, "", missing);
        }
        check_rule(check, "crates/store/tests/a.rs", "use a::b;\n", &[]);
        check_rule(check, "crates/store/build.rs", "use a::b;\n", &[]);
    }

    #[test]
    fn files_say_what_they_own_and_must_not_do() {
        let no_owner = "1: docs: the file does not say what it owns";
        let no_bound = "1: docs: the file does not say what it must not do";
        for path in ["crates/store/src/lib.rs", "crates/store/src/a/b.rs", "crates/store/src/a_tests.rs"] {
            check_rule(check, path, "//! Rows.\n//! Owns: them. Must\n//! not: read.\n", &[]);
            check_rule(check, path, "//! Owns: rows. It must do nothing.\n", &[no_bound]);
            check_rule(check, path, "//! Must not: read.\n\n/// Owns: rows.\nfn f() {}\n", &[no_owner]);
            check_rule(check, path, "//! Rows.\n// Owns: rows. Must not: read.\n", &[no_owner, no_bound]);
            check_rule(check, path, "//! Rows.\n#![cfg(test)]\n", &[]);
        }
        check_rule(check, "crates/store/tests/a.rs", "//! Rows.\n", &[]);
        check_rule(check, "crates/store/benches/a.rs", "//! Rows.\n", &[]);
    }
}
