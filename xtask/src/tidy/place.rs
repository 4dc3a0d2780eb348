//! What a path says about a file.
//! Owns: the layout of the repository as tidy sees it. Must not: look into a file.

/// Directories whose files are somebody's data, odd on purpose or written by a tool, where they lie
/// below a directory that says whose.
const FIXTURE_DIRS: [&str; 4] = ["golden", "corpus", "data", "fixtures"];
const FIXTURE_OWNERS: [&str; 2] = ["tests", "fuzz"];

/// The package a path belongs to, by its directory name, and the path inside that package.
pub(crate) fn package(path: &str) -> Option<(&str, &str)> {
    let (top, rest) = path.split_once('/')?;
    match top {
        "crates" => rest.split_once('/'),
        "xtask" | "fuzz" => Some((top, rest)),
        _ => None,
    }
}

/// Whether the file is below `src/` of its package.
pub(crate) fn is_below_src(path: &str) -> bool {
    package(path).is_some_and(|(_, rest)| rest.starts_with("src/"))
}

/// Whether the file lies in a test or bench target of its package. Below `src/` no path makes a
/// file a test: there only `#[cfg(test)]` does, see `modules`.
pub(crate) fn is_test_target(path: &str) -> bool {
    package(path).is_some_and(|(_, rest)| rest.starts_with("tests/") || rest.starts_with("benches/"))
}

/// Whether the file is data for tests. Rust below `src/` never is: a module may be called `data`
/// and must not escape the rules by it.
pub(crate) fn is_fixture(path: &str) -> bool {
    let mut dirs: Vec<&str> = path.split('/').collect();
    dirs.pop();
    let owned = dirs.iter().skip_while(|dir| !FIXTURE_OWNERS.contains(dir));
    let in_fixture_dir = owned.skip(1).any(|dir| FIXTURE_DIRS.contains(dir));
    in_fixture_dir && !(is_below_src(path) && path.ends_with(".rs"))
}

/// Whether the file is Rust that the house rules hold for.
pub(crate) fn is_code(path: &str) -> bool {
    path.ends_with(".rs") && package(path).is_some() && !is_fixture(path)
}

/// The directory part and the last part of a path.
pub(crate) fn split_name(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_its_package() {
        let check =
            |path: &str, expected: Option<(&str, &str)>| assert_eq!(package(path), expected, "{path}");
        check("crates/record/src/lib.rs", Some(("record", "src/lib.rs")));
        check("xtask/src/main.rs", Some(("xtask", "src/main.rs")));
        check("fuzz/Cargo.toml", Some(("fuzz", "Cargo.toml")));
        check("crates/README.md", None);
        check("examples/crates/a/src/lib.rs", None);
        check("Cargo.toml", None);
    }

    #[test]
    fn fixtures_are_no_code_but_a_module_called_data_is() {
        let check = |path: &str, expected: bool| assert_eq!(is_code(path), expected, "{path}");
        check("crates/enforce/src/rust.rs", true);
        check("crates/enforce/src/data/tables.rs", true);
        check("crates/enforce/tests/fixtures/bad.rs", false);
        check("crates/enforce/tests/fixtures.rs", true);
        check("fuzz/corpus/seed.rs", false);
        check("crates/kernel/data/code.rs", true);
        check("crates/kernel/golden/tests/code.rs", true);
        check("crates/kernel/tests/golden/deep/code.rs", false);
        check("examples/task/code.rs", false);
        check("crates/enforce/README.md", false);
    }

    #[test]
    fn only_targets_are_tests_by_their_path() {
        let check = |path: &str, expected: bool| assert_eq!(is_test_target(path), expected, "{path}");
        check("crates/store/tests/crash.rs", true);
        check("crates/store/benches/append.rs", true);
        check("crates/store/src/tests/crash.rs", false);
        check("crates/store/src/crash_tests.rs", false);
    }
}
