//! Names that say nothing about their subject.
//! Owns: the list. Must not: judge types or functions.

use syn::ItemMod;
use syn::visit::{self, Visit};

use super::modules::path_attribute;
use super::place::{package, split_name};
use super::problem::{Problem, Rule};
use super::source::Source;

const EMPTY_NAMES: [&str; 7] = ["core", "common", "utils", "util", "helpers", "manager", "misc"];
const FIX: &str = "name it for the one thing it owns";

/// Checks the modules of one file: itself, by its path, and those written inside it. A module in a
/// file of its own is reported there and not where it is declared; a crate is reported at its root.
pub(crate) fn check(source: &Source) -> Vec<Problem> {
    let mut problems = Vec::new();
    let name = file_module(source.path);
    if EMPTY_NAMES.contains(&name) {
        problems.push(Problem::new(Rule::Names, (source.path, 1), format!("a module called `{name}`"), FIX));
    }
    if let Some((package, "src/lib.rs" | "src/main.rs")) = package(source.path)
        && EMPTY_NAMES.contains(&package)
    {
        problems.push(Problem::new(
            Rule::Names,
            (source.path, 1),
            format!("a crate called `{package}`"),
            FIX,
        ));
    }
    let mut finder = Finder(Vec::new());
    finder.visit_file(&source.syntax);
    for module in finder.0 {
        let message = format!("a module called `{}`", module.ident);
        problems.push(source.problem(Rule::Names, module.mod_token.span, message, FIX));
    }
    problems
}

/// The name of the module a file holds.
fn file_module(path: &str) -> &str {
    let (dir, name) = split_name(path);
    match name {
        "mod.rs" => split_name(dir).1,
        name => name.strip_suffix(".rs").unwrap_or(name),
    }
}

struct Finder<'ast>(Vec<&'ast ItemMod>);

impl<'ast> Visit<'ast> for Finder<'ast> {
    fn visit_item_mod(&mut self, node: &'ast ItemMod) {
        let is_written_here = node.content.is_some() || path_attribute(node).is_some();
        if is_written_here && EMPTY_NAMES.iter().any(|name| node.ident == name) {
            self.0.push(node);
        }
        visit::visit_item_mod(self, node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::source::check_rule;

    #[test]
    fn empty_names_are_found_once_each() {
        check_rule(check, "crates/store/src/utils.rs", "", &["1: names: a module called `utils`"]);
        check_rule(check, "crates/store/tests/common/mod.rs", "", &["1: names: a module called `common`"]);
        check_rule(check, "crates/misc/src/lib.rs", "", &["1: names: a crate called `misc`"]);
        check_rule(
            check,
            "crates/store/src/a.rs",
            "mod b {\nmod helpers {} }",
            &["2: names: a module called `helpers`"],
        );
        check_rule(
            check,
            "crates/store/src/a.rs",
            "#[path = \"b.rs\"]\nmod core;",
            &["2: names: a module called `core`"],
        );
        check_rule(check, "crates/store/src/lib.rs", "mod utils; use core::fmt; fn util() {}", &[]);
        check_rule(check, "crates/store/src/core_dump.rs", "mod manager_of_none {}", &[]);
    }
}
