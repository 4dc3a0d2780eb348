//! Which files are test code because the module that declares them is.
//! Owns: following `#[cfg(test)] mod name;` to a file. Must not: trust a file's name.

use std::collections::BTreeSet;

use syn::{Expr, Item, ItemMod, Lit, Meta};

use super::place::split_name;
use super::source::{Source, marks_test};

/// Marks every file that test modules declare and no product module does, and what such files
/// declare in turn.
pub(crate) fn mark_test_files(sources: &mut [Source]) {
    // Each round marks a file or is the last, so there are at most as many rounds as files.
    loop {
        let mut declared = Declared::default();
        for source in sources.iter() {
            declared.collect_source(source);
        }
        let mut marked = false;
        for source in sources.iter_mut().filter(|source| !source.is_test_file()) {
            if declared.by_tests.contains(source.path) && !declared.by_product.contains(source.path) {
                source.mark_test_file();
                marked = true;
            }
        }
        if !marked {
            return;
        }
    }
}

/// Where the files of declared modules may be.
#[derive(Default)]
struct Declared {
    by_tests: BTreeSet<String>,
    by_product: BTreeSet<String>,
}

impl Declared {
    fn collect_source(&mut self, source: &Source) {
        let (dir, name) = split_name(source.path);
        let stem = name.strip_suffix(".rs").unwrap_or(name);
        let is_root = matches!(stem, "lib" | "main" | "mod");
        let children = if is_root { dir.to_owned() } else { format!("{dir}/{stem}") };
        self.collect(&source.syntax.items, dir, &children, source.is_test_file());
    }

    fn collect(&mut self, items: &[Item], dir: &str, children: &str, in_test: bool) {
        for item in items {
            let Item::Mod(module) = item else { continue };
            let in_test = in_test || module.attrs.iter().any(marks_test);
            let name = module.ident.to_string();
            if let Some((_, items)) = &module.content {
                let below = format!("{children}/{name}");
                // A `#[path]` below an inline module starts from that module's own directory.
                self.collect(items, &below, &below, in_test);
                continue;
            }
            let files = if in_test { &mut self.by_tests } else { &mut self.by_product };
            match path_attribute(module) {
                Some(path) => files.extend([normal(&format!("{dir}/{path}"))]),
                None => files.extend([format!("{children}/{name}.rs"), format!("{children}/{name}/mod.rs")]),
            }
        }
    }
}

/// The value of `#[path = "…"]` on a module.
pub(crate) fn path_attribute(module: &ItemMod) -> Option<String> {
    module.attrs.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(value) => match &value.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    })
}

/// The path with its `.` and `..` steps taken.
fn normal(path: &str) -> String {
    let mut steps = Vec::new();
    for step in path.split('/') {
        match step {
            "." => {}
            ".." => {
                steps.pop();
            }
            step => steps.push(step),
        }
    }
    steps.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let mut sources: Vec<Source> =
            files.iter().map(|(path, text)| Source::parse(path, text).unwrap()).collect();
        mark_test_files(&mut sources);
        let found: Vec<&str> = sources.iter().filter(|s| s.is_test_file()).map(|s| s.path).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn declarations_decide_and_are_followed() {
        check(
            &[
                ("crates/a/src/lib.rs", "#[cfg(test)] mod x_tests; mod evil_tests; mod b; mod both;"),
                ("crates/a/src/other.rs", "#[cfg(test)] #[path = \"both.rs\"] mod tests;"),
                ("crates/a/src/both.rs", ""),
                ("crates/a/src/x_tests.rs", "mod deep;"),
                ("crates/a/src/x_tests/deep.rs", "mod deeper;"),
                ("crates/a/src/x_tests/deep/deeper/mod.rs", ""),
                ("crates/a/src/evil_tests.rs", ""),
                ("crates/a/src/b.rs", "mod inline { #[cfg(test)] mod c; mod d; }"),
                ("crates/a/src/b/inline/c.rs", ""),
                ("crates/a/src/b/inline/d.rs", ""),
                ("crates/a/src/e.rs", "#[cfg(test)] #[path = \"./../src/e_tests.rs\"] mod tests;"),
                ("crates/a/src/e_tests.rs", ""),
            ],
            &[
                "crates/a/src/x_tests.rs",
                "crates/a/src/x_tests/deep.rs",
                "crates/a/src/x_tests/deep/deeper/mod.rs",
                "crates/a/src/b/inline/c.rs",
                "crates/a/src/e_tests.rs",
            ],
        );
    }
}
