//! The tour in the README, run as it is written.
//!
//! In a `console` block, a line that begins with `$` is a command for a shell, `? N` the exit code it must have (0
//! where there is none), and the rest is what it prints on both streams; `[..]` stands for anything.

use std::path::Path;
use std::process::Command;

struct Step {
    command: String,
    exit: i32,
    output: String,
}

fn steps(readme: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let blocks = readme.split("```console\n").skip(1);
    for block in blocks.map(|block| block.split("```").next().unwrap()) {
        for line in block.lines() {
            if let Some(command) = line.strip_prefix("$ ") {
                steps.push(Step { command: command.to_owned(), exit: 0, output: String::new() });
                continue;
            }
            let step = steps.last_mut().expect("a block begins with a command");
            match line.strip_prefix("? ") {
                Some(exit) => step.exit = exit.parse().unwrap(),
                None => step.output += &format!("{line}\n"),
            }
        }
    }
    steps
}

/// Whether `text` is `pattern`, in which `[..]` stands for anything on a line.
fn matches(pattern: &str, text: &str) -> bool {
    let trim = |text: &str| text.trim_end().lines().map(str::to_owned).collect::<Vec<_>>();
    let (patterns, lines) = (trim(pattern), trim(text));
    patterns.len() == lines.len()
        && patterns.iter().zip(&lines).all(|(pattern, line)| line_matches(pattern, line))
}

fn line_matches(pattern: &str, line: &str) -> bool {
    match pattern.split_once("[..]") {
        None => pattern == line,
        Some((before, after)) => {
            line.len() >= before.len() + after.len() && line.starts_with(before) && line.ends_with(after)
        }
    }
}

#[test]
fn the_tour_is_as_the_readme_says() {
    let readme = include_str!("../../../../README.md");
    let steps = steps(readme);
    assert!(steps.len() >= 10, "the README has a tour");
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("readme-{}", std::process::id()));
    std::fs::create_dir_all(&place).unwrap();
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    std::os::unix::fs::symlink(examples, place.join("examples")).unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_countersign")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    for step in &steps {
        let shell = Command::new("sh")
            .args(["-c", &format!("{{ {} ; }} 2>&1", step.command)])
            .current_dir(&place)
            .env("PATH", &path)
            .output()
            .unwrap();
        let output = String::from_utf8(shell.stdout).unwrap();
        assert_eq!(shell.status.code(), Some(step.exit), "$ {}\n{output}", step.command);
        assert!(
            matches(&step.output, &output),
            "$ {}\nexpected:\n{}\nfound:\n{output}",
            step.command,
            step.output
        );
    }
    std::fs::remove_dir_all(&place).unwrap();
}

/// The first of the two commands works on a fresh clone.
#[test]
fn the_main_job_is_as_the_readme_says() {
    let readme = include_str!("../../../../README.md");
    let line = readme.lines().find(|line| line.starts_with("cargo run --release -- ")).unwrap();
    let command = line.split('#').next().unwrap().trim_start_matches("cargo run --release -- ");
    let data = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("main-job-{}", std::process::id()));
    let done = Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(command.split_whitespace())
        .arg("--data")
        .arg(&data)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let said = String::from_utf8(done.stdout).unwrap();
    assert_eq!(said.lines().next(), Some("Safe to rely on within its scope."), "{said}");
    std::fs::remove_dir_all(&data).unwrap();
}

#[test]
fn a_pattern_is_no_blank_cheque() {
    assert!(matches("a [..] c\n", "a bb c\n"));
    assert!(!matches("a [..] c\n", "a bb d\n"));
    assert!(!matches("a\n", "a\nb\n"));
    assert!(!matches("aa[..]aa", "aaa"));
}
