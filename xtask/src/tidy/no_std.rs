//! The pure crates are `no_std`, so that the clock, the disk and the environment do not exist there.
//! Owns: that one promise. Must not: list what else is banned (see `purity`).

use syn::Meta;

use super::edges;
use super::files::File;
use super::place;
use super::problem::{Problem, Rule};
use super::source::Source;
use super::tokens;

/// Checks one file of a pure crate.
pub(crate) fn check(source: &Source) -> Vec<Problem> {
    let Some((package, rest)) = place::package(source.path) else { return Vec::new() };
    if !edges::is_pure(package) || !place::is_below_src(source.path) {
        return Vec::new();
    }
    let mut problems = Vec::new();
    let is_declared =
        |attribute: &syn::Attribute| matches!(&attribute.meta, Meta::Path(path) if path.is_ident("no_std"));
    if rest == "src/lib.rs" && !source.syntax.attrs.iter().any(is_declared) {
        let message = format!("the pure crate `{package}` is not `#![no_std]`");
        let fix = "write it below the doc comment, without a condition, and `extern crate alloc`";
        problems.push(Problem::new(Rule::NoStd, (source.path, 1), message, fix));
    }
    // Read from tokens, because a macro can expand to it.
    tokens::levels(source.tokens.clone(), &mut |level| {
        for window in level.windows(3) {
            let is_found =
                ["extern", "crate", "std"].iter().zip(window).all(|(w, t)| tokens::is_word(Some(t), w));
            if is_found && !source.is_test(window[2].span()) {
                let message = "`extern crate std` in a pure crate";
                problems.push(source.problem(
                    Rule::NoStd,
                    window[2].span(),
                    message,
                    "put it under `#[cfg(test)]`",
                ));
            }
        }
    });
    problems
}

/// Every pure crate has the `lib.rs` that `check` looks at; `manifests` sees to it that it is the root.
pub(crate) fn check_roots(files: &[File]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in files {
        let Some((package, "Cargo.toml")) = place::package(&file.path) else { continue };
        let root = format!("crates/{package}/src/lib.rs");
        if edges::is_pure(package) && !files.iter().any(|other| other.path == root) {
            let message = format!("the pure crate `{package}` has no src/lib.rs");
            problems.push(Problem::new(Rule::NoStd, (&file.path, 1), message, "keep its root there"));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::source::check_rule;

    #[test]
    fn lib_rs_is_no_std_without_a_condition() {
        let lib = "crates/record/src/lib.rs";
        let missing = &["1: no_std: the pure crate `record` is not `#![no_std]`"];
        check_rule(check, lib, "//! Doc.\n#![no_std]\nextern crate alloc;\n", &[]);
        check_rule(check, lib, "//! Doc. #![no_std]\n", missing);
        check_rule(check, lib, "#![cfg_attr(not(test), no_std)]\n", missing);
        check_rule(check, "crates/record/src/id.rs", "//! Doc.\n", &[]);
        check_rule(check, "crates/store/src/lib.rs", "//! Doc.\n", &[]);
    }

    #[test]
    fn only_tests_bring_std_back() {
        let found = &["3: no_std: `extern crate std` in a pure crate"];
        check_rule(check, "crates/record/src/lib.rs", "#![no_std]\n#[cfg(test)]\nextern crate std;\n", &[]);
        check_rule(check, "crates/record/src/lib.rs", "#![no_std]\n\nextern crate std;\n", found);
        check_rule(
            check,
            "crates/record/src/a.rs",
            "#[cfg(feature = \"x\")]\nmod a {\nextern crate std as s; }",
            found,
        );
        check_rule(
            check,
            "crates/record/src/a.rs",
            "macro_rules! m { () => {\n\nextern crate std; } }",
            found,
        );
        check_rule(check, "crates/record/src/a.rs", "extern crate alloc; // extern crate std;\n", &[]);
        check_rule(check, "crates/store/src/lib.rs", "extern crate std;\n", &[]);
    }

    #[test]
    fn the_root_is_where_it_is_looked_for() {
        let manifest = File::new("crates/kernel/Cargo.toml", "");
        let lib = File::new("crates/kernel/src/lib.rs", "");
        let heads: Vec<String> = check_roots(&[manifest]).iter().map(Problem::head).collect();
        assert_eq!(heads, ["crates/kernel/Cargo.toml:1: no_std: the pure crate `kernel` has no src/lib.rs"]);
        assert_eq!(check_roots(&[File::new("crates/kernel/Cargo.toml", ""), lib]), []);
        assert_eq!(check_roots(&[File::new("crates/store/Cargo.toml", "")]), []);
    }
}
