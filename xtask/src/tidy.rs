//! `tidy`: the house rules as checks, one file per rule family.
//! Owns: which rule sees which file, and the order of the report. Must not: change a file, or build one.
//!
//! Every rule is a pure function from a path and its text to problems; only `files` touches the disk.

mod bans;
mod clippy;
mod docs;
mod edges;
mod entries;
mod files;
mod manifests;
mod modules;
mod names;
mod no_std;
mod place;
mod problem;
mod purity;
mod raised;
mod sizes;
mod sleep;
mod source;
mod text;
mod tokens;

use std::path::Path;

use anyhow::Result;

use files::{ListedBy, Listing};
use problem::Problem;
use source::Source;

/// What one run of tidy saw.
pub(crate) struct Report {
    /// How many text files were read.
    pub(crate) files: usize,
    /// Where the list of files came from.
    pub(crate) listed_by: ListedBy,
    /// Sorted by path and line, without repeats.
    pub(crate) problems: Vec<Problem>,
}

/// Checks the repository at `root`.
pub(crate) fn run(root: &Path) -> Result<Report> {
    let listing = files::read(root)?;
    Ok(Report { files: listing.files.len(), listed_by: listing.listed_by, problems: check(&listing) })
}

/// The rules over one parsed Rust file.
const SOURCE_RULES: [fn(&Source) -> Vec<Problem>; 8] = [
    bans::check,
    clippy::check_clock,
    docs::check,
    names::check,
    no_std::check,
    purity::check,
    sizes::check,
    sleep::check,
];

fn check(listing: &Listing) -> Vec<Problem> {
    let files = listing.files.as_slice();
    let mut problems: Vec<Problem> = listing.oddities.iter().filter_map(entries::check).collect();
    problems.extend(manifests::check(files));
    problems.extend(clippy::check(files));
    problems.extend(no_std::check_roots(files));
    problems.extend(files.iter().filter_map(purity::check_script));
    problems.extend(files.iter().flat_map(text::check));

    let mut sources = Vec::new();
    for file in files.iter().filter(|file| place::is_code(&file.path)) {
        match Source::parse(&file.path, &file.text) {
            Ok(source) => sources.push(source),
            Err(problem) => problems.push(problem),
        }
    }
    modules::mark_test_files(&mut sources);
    for source in &sources {
        problems.extend(SOURCE_RULES.iter().flat_map(|rule| rule(source)));
    }
    problems.extend(raised::check(&sources, &raised::names()));

    problems.sort();
    problems.dedup();
    problems
}

#[cfg(test)]
mod tests {
    use super::files::File;
    use super::*;

    fn check_all(files: &[(&str, &str)], expected: &[&str]) {
        let files = files.iter().map(|(path, text)| File::new(path, text)).collect();
        let listing = Listing { files, oddities: Vec::new(), listed_by: ListedBy::Walk };
        let found: Vec<String> = check(&listing).iter().map(Problem::head).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_test_file_is_one_by_its_declaration_and_not_by_its_name() {
        let sleeping = "//! Tests.\nfn waits() { sleep(1) }\n";
        let hashing = "//! Tests. Owns: a. Must not: b.\ntype Seen = HashSet<u8>;\n";
        check_all(
            &[
                (
                    "crates/kernel/src/run.rs",
                    "//! Run. Owns: a. Must not: b.\n#[cfg(test)]\n#[path = \"run_tests.rs\"]\nmod tests;\n",
                ),
                ("crates/kernel/src/run_tests.rs", sleeping),
                ("crates/kernel/src/gate.rs", "//! Gate. Owns: a. Must not: b.\nmod gate_tests;\n"),
                ("crates/kernel/src/gate/gate_tests.rs", hashing),
            ],
            &[
                "crates/kernel/src/gate/gate_tests.rs:2: purity: `HashSet` iterates in no fixed order",
                "crates/kernel/src/run_tests.rs:2: sleep: a test sleeps",
            ],
        );
    }

    #[test]
    fn problems_come_sorted_and_once() {
        check_all(
            &[
                ("crates/store/src/b.rs", "//! Owns: B. Must not: b.\nfn f() { todo!(); todo!() }\n"),
                ("crates/store/src/a.rs", "fn f() {}\nfn g() { dbg!(1); }\n"),
            ],
            &[
                "crates/store/src/a.rs:1: docs: the file does not open with a `//!` doc comment",
                "crates/store/src/a.rs:2: bans: `dbg!` in product code",
                "crates/store/src/b.rs:2: bans: `todo!` in product code",
            ],
        );
    }

    #[test]
    fn a_file_that_is_no_rust_is_named_with_its_line() {
        check_all(
            &[("crates/store/src/a.rs", "//! A.\n\nfn f( {}\n")],
            &[
                "crates/store/src/a.rs:3: parse: cannot be read as Rust: cannot parse string into token stream",
            ],
        );
    }
}
