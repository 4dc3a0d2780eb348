//! Nothing in the repository may be hidden from the other rules by what kind of entry it is.
//! Owns: links, and text that is none. Must not: touch the disk (see `files`).

use super::files::{Oddity, OddityKind};
use super::problem::{Problem, Rule};

/// Files that are read by a rule or by a person, and therefore must be text.
const TEXTS: [&str; 3] = [".md", ".rs", ".toml"];

/// Judges one entry that gave no text. Other files may be binary: a ledger, a seed of the corpus.
pub(crate) fn check(oddity: &Oddity) -> Option<Problem> {
    let is_text = TEXTS.iter().any(|end| oddity.path.ends_with(end));
    let (line, message, fix) = match &oddity.kind {
        OddityKind::Link => (1, "a symbolic link".to_owned(), "put the file itself here"),
        OddityKind::Nameless => (1, "a name that is not UTF-8".to_owned(), "rename it"),
        OddityKind::Unreadable { error } => (1, format!("cannot be read: {error}"), "let it be read"),
        OddityKind::Binary { line } if is_text => {
            (*line, "a NUL or a byte that is not UTF-8".to_owned(), "write it as an escape, or save as UTF-8")
        }
        OddityKind::Binary { .. } => return None,
    };
    Some(Problem::new(Rule::Files, (&oddity.path, line), message, fix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_entry(path: &str, kind: OddityKind, expected: Option<&str>) {
        let found = check(&Oddity { path: path.to_owned(), kind }).map(|problem| problem.head());
        assert_eq!(found.as_deref(), expected);
    }

    #[test]
    fn text_that_is_none() {
        let binary = || OddityKind::Binary { line: 7 };
        for path in ["crates/kernel/src/a.rs", "clippy.toml", "docs/a.md", "crates/store/tests/data/a.rs"] {
            let found = format!("{path}:7: files: a NUL or a byte that is not UTF-8");
            check_entry(path, binary(), Some(&found));
        }
        check_entry("crates/store/tests/golden/a.sqlite", binary(), None);
        check_entry("fuzz/corpus/ids/dot", binary(), None);
    }

    #[test]
    fn what_is_no_file_or_cannot_be_read() {
        check_entry("docs/a", OddityKind::Link, Some("docs/a:1: files: a symbolic link"));
        let denied = OddityKind::Unreadable { error: "denied".to_owned() };
        check_entry("a.json", denied, Some("a.json:1: files: cannot be read: denied"));
        check_entry(
            "\u{fffd}.rs",
            OddityKind::Nameless,
            Some("\u{fffd}.rs:1: files: a name that is not UTF-8"),
        );
    }
}
