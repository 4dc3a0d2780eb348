//! The paths of stores.
//! Owns: one spelling for each path. Must not: ask the file system; what a link leads to is not the name of a store.

use alloc::string::String;
use alloc::vec::Vec;

/// The path without empty parts, `.` and, as far as the text alone tells, `..`.
#[must_use]
pub fn cleaned(path: &str) -> String {
    let is_absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match (part, parts.last()) {
            ("" | ".", _) => {}
            ("..", None) if is_absolute => {}
            ("..", Some(last)) if *last != ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (is_absolute, joined.is_empty()) {
        (true, _) => alloc::format!("/{joined}"),
        (false, true) => String::from("."),
        (false, false) => joined,
    }
}

/// Every path once, cleaned, in the order of their bytes.
#[must_use]
pub fn stores(paths: &[String]) -> Vec<String> {
    let mut stores: Vec<String> = paths.iter().map(|path| cleaned(path)).collect();
    stores.sort_unstable();
    stores.dedup();
    stores
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_one_spelling() {
        for (path, clean) in [
            ("a/b", "a/b"),
            ("./a//b/", "a/b"),
            ("a/../b", "b"),
            ("a/./../..", ".."),
            ("../../a", "../../a"),
            ("a/..", "."),
            (".", "."),
            ("/", "/"),
            ("//a", "/a"),
            ("/../a", "/a"),
            ("/a/..", "/"),
            ("..a/b..", "..a/b.."),
        ] {
            assert_eq!(cleaned(path), clean, "{path}");
            assert_eq!(cleaned(clean), clean, "{clean}");
        }
    }

    #[test]
    fn stores_are_sorted_by_bytes_and_each_is_named_once() {
        let paths = ["é", "b/a", "p", "./p", "b.jsonl", "a/z", "Z", "b/Z"].map(String::from);
        assert_eq!(stores(&paths), ["Z", "a/z", "b.jsonl", "b/Z", "b/a", "p", "é"]);
    }
}
