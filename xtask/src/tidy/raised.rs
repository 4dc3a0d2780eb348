//! Every code a user could look up can happen.
//! Owns: that one promise. Must not: judge where a code is raised.

use std::collections::{BTreeMap, BTreeSet};

use countersign_record::code::Code;

use super::place;
use super::problem::{Problem, Rule};
use super::source::Source;
use super::tokens;

/// The file that declares the codes; a tree without it has none.
const TABLE: &str = "crates/record/src/code/table.rs";

/// The names of the codes, as Rust spells them.
pub(crate) fn names() -> Vec<String> {
    Code::ALL.iter().map(|code| format!("{code:?}")).collect()
}

/// Checks that product code other than the table names `Code::X` for each of `names`.
pub(crate) fn check(sources: &[Source], names: &[String]) -> Vec<Problem> {
    let Some(table) = sources.iter().find(|source| source.path == TABLE) else { return Vec::new() };
    let mut lines = BTreeMap::new();
    tokens::paths(table.tokens.clone(), &mut |path, span| {
        if let Some(name) = path.last() {
            lines.entry(name.clone()).or_insert(span.start().line);
        }
    });
    let mut raised = BTreeSet::new();
    for source in sources.iter().filter(|source| is_product(source.path)) {
        tokens::paths(source.tokens.clone(), &mut |path, span| {
            if let [.., owner, name] = path
                && owner == "Code"
                && !source.is_test(span)
            {
                raised.insert(name.clone());
            }
        });
    }
    let silent = names.iter().filter(|name| !raised.contains(*name));
    silent
        .map(|name| {
            // A name the table does not spell belongs to the table this program was built with.
            let line = lines.get(name).copied().unwrap_or(1);
            let message = format!("a code that nothing raises: `{name}`");
            Problem::new(Rule::Codes, (TABLE, line), message, "raise it, or take it out of the table")
        })
        .collect()
}

fn is_product(path: &str) -> bool {
    path != TABLE
        && path.starts_with("crates/")
        && !path.starts_with("crates/testkit/")
        && place::is_below_src(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_sources(files: &[(&str, &str)], expected: &[&str]) {
        let sources: Vec<Source> =
            files.iter().map(|(path, text)| Source::parse(path, text).unwrap()).collect();
        let problems = check(&sources, &["Lost".to_owned(), "Torn".to_owned()]);
        let found: Vec<String> = problems.iter().map(Problem::head).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn codes_are_raised_by_product_code() {
        let table = (TABLE, "codes! {\n  Lost \"a\";\n  Torn \"b\";\n} fn f() { Code::Lost; Code::Torn }");
        let lost = "crates/record/src/code/table.rs:2: codes: a code that nothing raises: `Lost`";
        let torn = "crates/record/src/code/table.rs:3: codes: a code that nothing raises: `Torn`";
        let path = "crates/store/src/a.rs";
        check_sources(&[table, (path, "fn f() { m!(record::code::Code::Lost) } use Code::{Torn};")], &[]);
        check_sources(
            &[table, (path, "fn f() { Code::Lost; Code::Torn_; Node::Torn } // Code::Torn")],
            &[torn],
        );
        check_sources(&[table, (path, "fn f() { Code::Torn } #[test] fn g() { Code::Lost }")], &[lost]);
        for path in ["crates/store/tests/a.rs", "crates/testkit/src/a.rs", "fuzz/src/a.rs"] {
            check_sources(&[table, (path, "fn f() { Code::Lost; Code::Torn }")], &[lost, torn]);
        }
        check_sources(&[(path, "fn f() {}")], &[]);
    }

    #[test]
    fn the_names_are_those_of_the_table() {
        assert_eq!(names().len(), Code::ALL.len());
        assert!(names().contains(&"JsonEmpty".to_owned()));
    }
}
