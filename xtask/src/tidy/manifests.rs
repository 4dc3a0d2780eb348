//! Holds every `Cargo.toml` against the map in `edges`.
//! Owns: reading manifests, renames included. Must not: ask cargo, which refuses a half-written tree.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::edges::{self, Kind, Row};
use super::files::File;
use super::place;
use super::problem::{Problem, Rule, line_at};
use super::purity;

const PREFIX: &str = "countersign-";
const TABLE_FILE: &str = "xtask/src/tidy/edges.rs";

/// Checks the manifests among `files`.
pub(crate) fn check(files: &[File]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut inherited = Inherited::default();
    if let Some(root) = files.iter().find(|file| file.path == "Cargo.toml") {
        match DeTable::parse(&root.text) {
            Ok(table) => {
                inherited =
                    Inherited { renames: workspace_renames(table.get_ref()), lints: lints_with_unsafe(root) };
            }
            Err(error) => problems.push(unreadable(root, &error)),
        }
    }
    for file in files {
        let is_manifest = place::split_name(&file.path).1 == "Cargo.toml" && !place::is_fixture(&file.path);
        if let (true, Some((dir, rest))) = (is_manifest, place::package(&file.path)) {
            match DeTable::parse(&file.text) {
                Ok(table) => problems.extend(check_member(file, dir, rest, table.get_ref(), &inherited)),
                Err(error) => problems.push(unreadable(file, &error)),
            }
        }
    }
    problems
}

/// What members take over from the workspace.
#[derive(Default)]
struct Inherited {
    /// The renamed packages, by the name members use.
    renames: BTreeMap<String, String>,
    /// The lints of a member that may ask for `unsafe`.
    lints: Option<toml::Value>,
}

fn unreadable(file: &File, error: &toml::de::Error) -> Problem {
    let line = line_at(&file.text, error.span().map_or(0, |span| span.start));
    let message = format!("cannot be read as TOML: {}", error.message());
    Problem::new(Rule::Parse, (&file.path, line), message, "make it a manifest cargo can read")
}

fn check_member(file: &File, dir: &str, rest: &str, table: &DeTable, inherited: &Inherited) -> Vec<Problem> {
    let path = file.path.as_str();
    let (name, name_line) = package_name(file, table);
    let Some(row) = edges::row(dir).filter(|_| rest == "Cargo.toml") else {
        let message = format!("package `{name}` has no row in the map");
        let fix = format!("say what it may use and what it may not do in {TABLE_FILE}");
        return vec![Problem::new(Rule::Edges, (path, name_line), message, fix)];
    };
    let mut problems = Vec::new();
    let expected = format!("{PREFIX}{dir}");
    if name != expected && (name != dir || path.starts_with("crates/")) {
        let message = format!("package `{name}` lies in the directory of `{expected}`");
        problems.push(Problem::new(Rule::Edges, (path, name_line), message, format!("call it `{expected}`")));
    }
    problems.extend(check_lints(file, dir, table, inherited));
    if let (Kind::Pure { .. }, Some(lib)) =
        (row.kind, table.get("lib").and_then(|lib| lib.get_ref().get("path")))
    {
        let line = line_at(&file.text, lib.span().start);
        let message = format!("the pure crate `{dir}` moves its root away from src/lib.rs");
        problems.push(Problem::new(Rule::NoStd, (path, line), message, "keep its root there"));
    }
    problems.extend(declared_script(file, row, table));
    for dependency in dependencies(table, &inherited.renames) {
        let line = line_at(&file.text, dependency.offset);
        problems.extend(
            check_dependency(row, &dependency)
                .map(|(rule, message, fix)| Problem::new(rule, (path, line), message, fix)),
        );
    }
    problems.sort();
    problems
}

/// Every package has the workspace's lints; those that may ask for `unsafe` have a copy that differs in that alone.
fn check_lints(file: &File, dir: &str, table: &DeTable, inherited: &Inherited) -> Option<Problem> {
    let (is_so, message, fix) = if edges::UNSAFE.contains(&dir) {
        let lints =
            toml::from_str::<toml::Table>(&file.text).ok().and_then(|table| table.get("lints").cloned());
        let message = "the lints are not the workspace's with `unsafe_code = \"deny\"`";
        (lints.is_some() && lints == inherited.lints, message, "copy them from the workspace")
    } else {
        let message = "the workspace lints do not apply here";
        (inherits_lints(table), message, "add `[lints] workspace = true`")
    };
    (!is_so).then(|| Problem::new(Rule::Lints, (&file.path, 1), message, fix))
}

/// The workspace's lints, but that `unsafe_code` is denied and not forbidden.
fn lints_with_unsafe(root: &File) -> Option<toml::Value> {
    let root: toml::Table = toml::from_str(&root.text).ok()?;
    let mut lints = root.get("workspace")?.get("lints")?.clone();
    lints.get_mut("rust")?.as_table_mut()?.insert("unsafe_code".to_owned(), "deny".into());
    Some(lints)
}

/// The build script a manifest of a pure crate names; `purity` finds the one it need not name.
fn declared_script(file: &File, row: &Row, table: &DeTable) -> Option<Problem> {
    let build = table.get("package").and_then(|package| package.get_ref().get("build"))?;
    if !matches!(row.kind, Kind::Pure { .. }) || build.get_ref().as_bool() == Some(false) {
        return None;
    }
    let line = line_at(&file.text, build.span().start);
    let message = format!("the pure crate `{}` has a build script", row.name);
    Some(Problem::new(Rule::Purity, (&file.path, line), message, purity::NO_SCRIPT_FIX))
}

fn check_dependency(row: &Row, dependency: &Dependency) -> Option<(Rule, String, String)> {
    let package = &dependency.package;
    let Some(used) = short_name(package) else {
        return match row.kind {
            Kind::Pure { externals }
                if dependency.section != Section::Dev && !externals.contains(&package.as_str()) =>
            {
                let message =
                    format!("`{package}` is not on the allow-list of the pure crate `{}`", row.name);
                Some((Rule::Externals, message, format!("do without, or decide it in {TABLE_FILE}")))
            }
            Kind::Pure { .. } | Kind::Edge | Kind::Dev => None,
        };
    };
    let is_dev = dependency.section == Section::Dev;
    // A test sees what the package is built on, all the way down; that adds no edge.
    let is_tested_with = edges::TESTED_WITH.contains(&(row.name, used));
    let is_kit = used == "testkit" && row.name != "testkit";
    let excused = is_dev && (is_kit || is_tested_with || edges::is_built_on(row, used));
    if excused || row.may_use.contains(&used) {
        return None;
    }
    let message = format!("`{}` may not use `{used}`", row.name);
    let fix = match (used, row.may_use) {
        ("testkit", _) => "use it under [dev-dependencies]".to_owned(),
        (_, []) => format!("it may use no other, and may not {}", row.may_not),
        (_, uses) => format!("it may use {}, and may not {}", uses.join(", "), row.may_not),
    };
    Some((Rule::Edges, message, fix))
}

/// The directory name of one of our packages; `None` for a foreign one.
fn short_name(package: &str) -> Option<&str> {
    let name = package.strip_prefix(PREFIX);
    name.or_else(|| edges::row(package).filter(|row| row.kind == Kind::Dev).map(|row| row.name))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    /// What the product is built from or with.
    Product,
    Dev,
}

struct Dependency {
    section: Section,
    /// The real name of the package, whatever the manifest calls it.
    package: String,
    /// Where its key stands.
    offset: usize,
}

/// Every dependency of a manifest, those of targets included. An optional one counts: some build has it.
fn dependencies(table: &DeTable, inherited: &BTreeMap<String, String>) -> Vec<Dependency> {
    let mut found = section_dependencies(table, inherited);
    let targets = table.get("target").and_then(|value| value.get_ref().as_table());
    for target in targets.into_iter().flat_map(DeTable::values) {
        if let Some(target) = target.get_ref().as_table() {
            found.extend(section_dependencies(target, inherited));
        }
    }
    found
}

fn section_dependencies(table: &DeTable, inherited: &BTreeMap<String, String>) -> Vec<Dependency> {
    // A build dependency shapes the product as much as a linked one.
    let sections = [
        ("dependencies", Section::Product),
        ("build-dependencies", Section::Product),
        ("dev-dependencies", Section::Dev),
    ];
    let mut found = Vec::new();
    for (name, section) in sections {
        let entries = table.get(name).and_then(|value| value.get_ref().as_table());
        for (key, value) in entries.into_iter().flat_map(DeTable::iter) {
            let own = text_of(value.get_ref(), "package");
            let is_inherited = value.get_ref().get("workspace").is_some();
            let shared = inherited.get(key.get_ref().as_ref()).filter(|_| is_inherited);
            let package = own.or_else(|| shared.cloned()).unwrap_or_else(|| key.get_ref().to_string());
            found.push(Dependency { section, package, offset: key.span().start });
        }
    }
    found
}

/// The renamed packages of `[workspace.dependencies]`, by the name members use.
fn workspace_renames(root: &DeTable) -> BTreeMap<String, String> {
    let shared = root.get("workspace").and_then(|value| value.get_ref().get("dependencies"));
    let entries = shared.and_then(|value| value.get_ref().as_table());
    entries
        .into_iter()
        .flat_map(DeTable::iter)
        .filter_map(|(key, value)| Some((key.get_ref().to_string(), text_of(value.get_ref(), "package")?)))
        .collect()
}

fn package_name(file: &File, table: &DeTable) -> (String, usize) {
    let name = table.get("package").and_then(|value| value.get_ref().get("name"));
    match name.and_then(|name| Some((name.get_ref().as_str()?, name.span().start))) {
        Some((text, offset)) => (text.to_owned(), line_at(&file.text, offset)),
        None => (file.path.clone(), 1),
    }
}

fn inherits_lints(table: &DeTable) -> bool {
    let workspace = table.get("lints").and_then(|value| value.get_ref().get("workspace"));
    workspace.is_some_and(|value| value.get_ref().as_bool() == Some(true))
}

fn text_of(value: &DeValue, key: &str) -> Option<String> {
    value.get(key).map(Spanned::get_ref).and_then(DeValue::as_str).map(str::to_owned)
}

#[cfg(test)]
#[path = "manifests_tests.rs"]
mod tests;
