//! `tidy` through its binary: the report, the exit codes, the two ways to list files, and this repository.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn tidy(root: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask")).arg("tidy").arg("--root").arg(root).output().unwrap()
}

fn check(root: &Path, expected_stdout: &str, expected_code: i32) {
    let output = tidy(root);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected_stdout);
    assert_eq!(output.status.code(), Some(expected_code));
}

/// A fresh directory that holds `files`.
fn tree(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if root.exists() {
        std::fs::remove_dir_all(&root).unwrap();
    }
    for (path, text) in files {
        let full = root.join(path);
        std::fs::create_dir_all(full.parent().unwrap()).unwrap();
        std::fs::write(full, text).unwrap();
    }
    root
}

fn git(root: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    // A commit hook that runs the tests has these set for its own repository.
    command.env_remove("GIT_DIR").env_remove("GIT_WORK_TREE").env_remove("GIT_INDEX_FILE");
    assert!(command.arg("-C").arg(root).args(arguments).status().unwrap().success());
}

#[test]
fn a_clean_tree_is_one_line_and_a_walk_skips_what_is_built_or_hidden() {
    let files = [
        ("README.md", "Clean.\n"),
        ("target/README.md", "dirty "),
        ("crates/store/target/a.md", "dirty "),
        (".hidden/README.md", "dirty "),
        ("blob.bin", "binary \0 "),
    ];
    check(&tree("walk", &files), "tidy: 1 files listed by a directory walk, no problems\n", 0);
}

#[test]
fn each_problem_is_one_line_with_its_fix() {
    let files = [
        ("b.md", "x"),
        ("a/c.toml", "x = 1 \n"),
        ("crates/kernel/Cargo.toml", "[package]\nname = \"countersign-kernel\"\nlints.workspace = true\n"),
    ];
    check(
        &tree("problems", &files),
        "a/c.toml:1: text: whitespace at the end of the line (remove it)\n\
         b.md:1: text: no newline at the end of the file (add one)\n\
         crates/kernel/Cargo.toml:1: lints: the workspace lints do not apply here (add `[lints] workspace = true`)\n\
         crates/kernel/Cargo.toml:1: no_std: the pure crate `kernel` has no src/lib.rs (keep its root there)\n",
        1,
    );
}

#[test]
fn git_lists_tracked_and_new_files_but_no_ignored_or_deleted_ones() {
    let files = [(".gitignore", "ignored.md\n"), ("ignored.md", "dirty "), ("new.md", "x"), ("gone.md", "x")];
    let root = tree("git", &files);
    git(&root, &["init", "--quiet"]);
    git(&root, &["add", "gone.md"]);
    std::fs::remove_file(root.join("gone.md")).unwrap();
    check(&root, "new.md:1: text: no newline at the end of the file (add one)\n", 1);
}

#[test]
fn nothing_hides_from_either_list() {
    let root = tree("hidden", &[("crates/a/src/a.rs", "//! A.\n// \0\n"), ("outside/b.rs", "")]);
    std::os::unix::fs::symlink("../../../outside/b.rs", root.join("crates/a/src/b.rs")).unwrap();
    std::os::unix::fs::symlink("nowhere", root.join("docs")).unwrap();
    std::os::unix::fs::symlink("outside", root.join("target")).unwrap();
    let link = "files: a symbolic link (put the file itself here)";
    let expected = format!(
        "crates/a/src/a.rs:2: files: a NUL or a byte that is not UTF-8 (write it as an escape, or save as UTF-8)\n\
         crates/a/src/b.rs:1: {link}\n\
         docs:1: {link}\n"
    );
    check(&root, &expected, 1);
    std::fs::write(root.join(".gitignore"), "/target\n").unwrap();
    git(&root, &["init", "--quiet"]);
    check(&root, &expected, 1);
}

#[test]
fn a_root_that_is_not_there_is_no_clean_root() {
    let output = tidy(Path::new("no/such/directory"));
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
}

#[test]
fn this_repository_is_tidy() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let output = tidy(root);
    let report = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "\n{report}");
}
