//! Every file says what it owns, every library what it must not do.
//! Owns: the opening doc comment. Must not: judge prose beyond that.

use super::place;
use super::problem::{Problem, Rule};
use super::source::Source;

/// Checks one file.
pub(crate) fn check(source: &Source) -> Vec<Problem> {
    let Some((package, rest)) = place::package(source.path) else { return Vec::new() };
    if !place::is_below_src(source.path) && package != "fuzz" {
        return Vec::new();
    }
    let doc = opening_doc(source.text);
    if doc.is_empty() {
        let message = "the file does not open with a `//!` doc comment";
        let fix = "say what it owns, then what it must not do";
        return vec![Problem::new(Rule::Docs, (source.path, 1), message, fix)];
    }
    let doc = doc.to_lowercase();
    if rest == "src/lib.rs" && !doc.contains("must not") && !doc.contains("may not") {
        let message = "the crate does not say what it must not do";
        return vec![Problem::new(Rule::Docs, (source.path, 1), message, "add a sentence with \"Must not\"")];
    }
    Vec::new()
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
            check_rule(check, path, "//! Owns rows.\n", &[]);
            check_rule(check, path, "//!\n//! Owns rows.\n", &[]);
            check_rule(check, path, "// Owns rows.\n", missing);
            check_rule(check, path, "use a::b;\n//! Late.\n".split_at(9).0, missing);
            check_rule(check, path, "//!\nuse a::b;\n", missing);
            check_rule(check, path, "", missing);
        }
        check_rule(check, "crates/store/tests/a.rs", "use a::b;\n", &[]);
        check_rule(check, "crates/store/build.rs", "use a::b;\n", &[]);
    }

    #[test]
    fn a_library_says_what_it_must_not_do() {
        let missing = &["1: docs: the crate does not say what it must not do"];
        check_rule(check, "crates/store/src/lib.rs", "//! Rows. Must not: read them.\n", &[]);
        check_rule(check, "crates/store/src/lib.rs", "//! Rows. This crate may\n//! not read them.\n", &[]);
        check_rule(check, "crates/store/src/lib.rs", "//! Rows.\n\n/// It must not.\nfn f() {}\n", missing);
        check_rule(check, "crates/store/src/a.rs", "//! Rows.\n", &[]);
    }
}
