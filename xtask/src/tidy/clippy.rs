//! The configuration of clippy can't be used to lift a ban.
//! Owns: where a `clippy.toml` may lie, what it may leave out, and the clock that is left open by it.
//! Must not: repeat the bans (the file at the root holds them).

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::files::File;
use super::place;
use super::problem::{Problem, Rule, line_at};
use super::source::Source;
use super::tokens;

/// Clippy reads the nearest one of these, and no other.
const FILE_NAMES: [&str; 2] = ["clippy.toml", ".clippy.toml"];
const ROOT: &str = "clippy.toml";

/// The files that replace the one at the root, with the bans they may leave out.
const REPLACEMENTS: [(&str, &[&str]); 1] = [("crates/runtime/clippy.toml", &["std::time::SystemTime::now"])];

/// Keys that begin so hold bans; any other key is a setting.
const BANS: &str = "disallowed-";

/// The package that may read the machine's clock, and the one file that does.
const CLOCK_PACKAGE: &str = "crates/runtime/";
const CLOCK_FILE: &str = "crates/runtime/src/clock.rs";
const CLOCK_TYPE: &str = "SystemTime";

/// Checks the configurations among `files`.
pub(crate) fn check(files: &[File]) -> Vec<Problem> {
    let root = files.iter().find(|file| file.path == ROOT);
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| FILE_NAMES.contains(&place::split_name(&file.path).1)) {
        let replacement = REPLACEMENTS.iter().find(|(path, _)| *path == file.path);
        match (replacement, root) {
            (Some((_, excused)), Some(root)) => problems.extend(compare(root, file, excused)),
            (Some(_), None) => {}
            (None, _) if file.path == ROOT => problems.extend(read(file).err()),
            (None, _) => {
                let message = "a clippy configuration that replaces the bans of the root";
                problems.push(Problem::new(Rule::Lints, (&file.path, 1), message, "remove it"));
            }
        }
    }
    problems
}

/// One ban or setting: its key, the path it bans or else its value as written, and where it stands.
struct Line {
    key: String,
    value: String,
    line: usize,
}

fn compare(root: &File, file: &File, excused: &[&str]) -> Vec<Problem> {
    // A root that can't be read is reported on its own.
    let Ok(expected) = read(root) else { return Vec::new() };
    let found = match read(file) {
        Ok(found) => found,
        Err(problem) => return vec![problem],
    };
    let is_in = |lines: &[Line], one: &Line| lines.iter().any(|l| l.key == one.key && l.value == one.value);
    let mut problems = Vec::new();
    for line in expected.iter().filter(|line| !is_in(&found, line)) {
        if !(line.key.starts_with(BANS) && excused.contains(&line.value.as_str())) {
            let message = format!("`{}` of the root is left out: `{}`", line.key, line.value);
            problems.push(Problem::new(Rule::Lints, (&file.path, 1), message, "repeat it here"));
        }
    }
    for line in found.iter().filter(|line| !is_in(&expected, line)) {
        let message = format!("`{}` is not in the root: `{}`", line.key, line.value);
        problems.push(Problem::new(Rule::Lints, (&file.path, line.line), message, "say it there, for all"));
    }
    problems
}

fn read(file: &File) -> Result<Vec<Line>, Problem> {
    let table = DeTable::parse(&file.text).map_err(|error| {
        let line = line_at(&file.text, error.span().map_or(0, |span| span.start));
        let message = format!("cannot be read as TOML: {}", error.message());
        Problem::new(Rule::Parse, (&file.path, line), message, "make it what clippy can read")
    })?;
    let mut lines = Vec::new();
    for (key, value) in table.get_ref() {
        // Clippy takes `_` for `-`.
        let key = key.get_ref().replace('_', "-");
        match value.get_ref().as_array().filter(|_| key.starts_with(BANS)) {
            Some(bans) => lines.extend(bans.iter().map(|ban| line_of(file, &key, ban))),
            None => lines.push(line_of(file, &key, value)),
        }
    }
    Ok(lines)
}

fn line_of(file: &File, key: &str, value: &Spanned<DeValue>) -> Line {
    let path = value.get_ref().as_str().or_else(|| value.get_ref().get("path")?.get_ref().as_str());
    let written = file.text.get(value.span()).unwrap_or_default();
    Line {
        key: key.to_owned(),
        value: path.unwrap_or(written).to_owned(),
        line: line_at(&file.text, value.span().start),
    }
}

/// Checks that the clock is read in one file of the package that may. The type is looked for, not the
/// call: another name for it would hide every call.
pub(crate) fn check_clock(source: &Source) -> Vec<Problem> {
    if !source.path.starts_with(CLOCK_PACKAGE) || source.path == CLOCK_FILE {
        return Vec::new();
    }
    let mut problems = Vec::new();
    tokens::levels(source.tokens.clone(), &mut |level| {
        for tree in level.iter().filter(|tree| tokens::is_word(Some(tree), CLOCK_TYPE)) {
            let message = format!("`{CLOCK_TYPE}` outside {CLOCK_FILE}");
            problems.push(source.problem(Rule::Bans, tree.span(), message, "take the time from `clock`"));
        }
    });
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::source::check_rule;

    const RUNTIME: &str = "crates/runtime/clippy.toml";
    const BOTH: &str =
        "disallowed-methods = [\n{ path = \"std::time::SystemTime::now\", reason = \"r\" },\n\"a::b\",\n]\n";

    fn check_files(files: &[(&str, &str)], expected: &[&str]) {
        let files: Vec<File> = files.iter().map(|(path, text)| File::new(path, text)).collect();
        let found: Vec<String> = check(&files).iter().map(Problem::head).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_configuration_lies_where_the_table_says() {
        check_files(&[(ROOT, BOTH), ("docs/clippy.md", ""), ("crates/store/src/clippy.rs", "")], &[]);
        for path in [
            "crates/store/clippy.toml",
            "crates/.clippy.toml",
            ".clippy.toml",
            "crates/runtime/src/clippy.toml",
        ] {
            let found = format!("{path}:1: lints: a clippy configuration that replaces the bans of the root");
            check_files(&[(ROOT, BOTH), (path, BOTH)], &[&found]);
        }
    }

    #[test]
    fn a_replacement_leaves_out_what_it_may_and_no_more() {
        let without = |left_out: &str| BOTH.replace(left_out, "");
        let clock = "{ path = \"std::time::SystemTime::now\", reason = \"r\" },\n";
        check_files(&[(ROOT, BOTH), (RUNTIME, BOTH)], &[]);
        check_files(&[(ROOT, BOTH), (RUNTIME, &without(clock))], &[]);
        let left_out =
            "crates/runtime/clippy.toml:1: lints: `disallowed-methods` of the root is left out: `a::b`";
        check_files(&[(ROOT, BOTH), (RUNTIME, &without("\"a::b\",\n"))], &[left_out]);
        check_files(&[(ROOT, BOTH), (RUNTIME, "")], &[left_out]);
        check_files(
            &[(ROOT, BOTH), (RUNTIME, "disallowed-types = [\n\"a::b\"]\n")],
            &[left_out, "crates/runtime/clippy.toml:2: lints: `disallowed-types` is not in the root: `a::b`"],
        );
        check_files(
            &[(ROOT, BOTH), (RUNTIME, &format!("{BOTH}allow-unwrap-in-tests = true\n"))],
            &["crates/runtime/clippy.toml:5: lints: `allow-unwrap-in-tests` is not in the root: `true`"],
        );
        let setting = format!("{BOTH}avoid-breaking-exported-api = true\n");
        check_files(&[(ROOT, &setting), (RUNTIME, &setting.replace('-', "_"))], &[]);
        check_files(
            &[(ROOT, &setting), (RUNTIME, BOTH)],
            &[
                "crates/runtime/clippy.toml:1: lints: `avoid-breaking-exported-api` of the root is left out: `true`",
            ],
        );
    }

    #[test]
    fn a_configuration_that_is_no_toml_is_named_with_its_line() {
        let found = |path: &str| {
            format!(
                "{path}:2: parse: cannot be read as TOML: string values must be quoted, expected literal string"
            )
        };
        check_files(&[(ROOT, "\na = b\n"), (RUNTIME, BOTH)], &[&found(ROOT)]);
        check_files(&[(ROOT, BOTH), (RUNTIME, "\na = b\n")], &[&found(RUNTIME)]);
    }

    #[test]
    fn one_file_reads_the_clock() {
        let found = &["2: bans: `SystemTime` outside crates/runtime/src/clock.rs"];
        for path in ["crates/runtime/src/a.rs", "crates/runtime/src/a/clock.rs", "crates/runtime/tests/a.rs"]
        {
            check_rule(check_clock, path, "fn f() {\n std::time::SystemTime::now(); }", found);
            check_rule(check_clock, path, "use std::time::{\n SystemTime as T};", found);
            check_rule(check_clock, path, "m!(\n SystemTime::now());", found);
            check_rule(check_clock, path, "struct SystemTimes; // SystemTime::now()", &[]);
        }
        check_rule(check_clock, CLOCK_FILE, "fn f() { SystemTime::now(); }", &[]);
        check_rule(check_clock, "crates/store/src/a.rs", "fn f() { SystemTime::now(); }", &[]);
    }
}
