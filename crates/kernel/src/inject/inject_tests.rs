//! Which files are shown, and that their bytes are those of the manifest.

use super::*;
use crate::scope::{Input, select};
use countersign_record::json;
use proptest::prelude::*;

fn scoped(prompt: &str, files: &[(&str, &str)], more: &str) -> (Vec<File>, Payload) {
    let line = |(path, text): &(&str, &str)| {
        let sha256 = Digest::of(text.as_bytes());
        format!(r#"{{"path":{},"sha256":"{sha256}","mtime":1}}"#, json::to_text(path).unwrap())
    };
    let manifest: Vec<String> = files.iter().map(line).collect();
    let text = format!(
        r#"{{"prompt":{},"manifest":[{}]{more}}}"#,
        json::to_text(prompt).unwrap(),
        manifest.join(",")
    );
    let input = Input::read(json::parse(text.as_bytes()).unwrap()).unwrap();
    let payload = select(&input);
    (input.manifest, payload)
}

fn names(prompt: &str, files: &[(&str, &str)], more: &str) -> Vec<String> {
    let (manifest, payload) = scoped(prompt, files, more);
    wanted(prompt, &manifest, &payload)
        .into_iter()
        .map(|one| format!("{} {}", one.path, one.reason.join(" ")))
        .collect()
}

#[test]
fn named_code_and_locked_files_are_shown() {
    let files =
        [("src/main.rs", "fn main() {}"), ("deploy.yaml", "a: 1"), ("main.md", "# Main"), ("old.md", "x")];
    assert_eq!(names("What does main.rs do?", &files, ""), ["src/main.rs named main.rs"]);
    assert_eq!(names("see SRC/main.rs", &files, ""), ["src/main.rs named src/main.rs"]);
    assert_eq!(
        names("the deploy of main", &files, ""),
        ["deploy.yaml title deploy", "src/main.rs title main"]
    );
    let lock = r#","lock":{"enabled":true,"files":["old.md","main.md"]},"toggles":{"old.md":"OFF"}"#;
    assert_eq!(names("x", &files, lock), ["old.md lock the lock names it", "main.md lock the lock names it"]);
    assert_eq!(names("main.rs", &files, r#","fallback":"all_on","toggles":{"src/main.rs":"OFF"}"#), [""; 0]);
}

fn given<'a>(path: &str, of: &str, text: Option<&'a str>) -> Given<'a> {
    let wanted =
        Wanted { path: path.into(), sha256: Digest::of(of.as_bytes()), reason: reason("named", path) };
    Given { wanted, text }
}

#[test]
fn what_is_not_the_files_bytes_is_not_shown() {
    let block = inject(
        &[
            given("a.rs", "fn a() {}", Some("fn a() {}")),
            given("b.rs", "fn b() {}", Some("fn b() { }")),
            given("c.bin", "", None),
            given("d.rs", "", Some("")),
        ],
        &Limits { files_max: 1, ..Limits::default() },
    );
    let left: Vec<&str> = block.left_out.iter().map(|one| one.reason[0].as_str()).collect();
    assert_eq!((block.files.len(), left), (1, Vec::from(["max-files"; 3])));
    let all = inject(&[given("b.rs", "x", Some("y")), given("c.bin", "", None)], &Limits::default());
    let left: Vec<&str> = all.left_out.iter().map(|one| one.reason[0].as_str()).collect();
    assert_eq!(left, ["changed", "no-text"]);
    assert_eq!(all.shown(), "");
}

#[test]
fn a_long_file_is_packed() {
    let code = "use x;\n\npub fn one(a: u8) -> u8 {\n    let b = 1;\n    b\n}\n\nimpl Two {\n    fn three(&self) {}\n}\n";
    let limits = Limits { full_bytes_max: 20, ..Limits::default() };
    let packed = |path: &str, text: &str| inject(&[given(path, text, Some(text))], &limits).files.remove(0);
    let rust = packed("a.rs", code);
    assert_eq!(rust.mode, Mode::Pack);
    assert_eq!(
        rust.text,
        "3: pub fn one(a: u8) -> u8 {\n8: impl Two {\n9:     fn three(&self) {}\n(10 lines; 0 more that declare something)\n"
    );
    let yaml = packed("a.yaml", "name: x\n# no: key\njobs:\n  build:\n    deep: 1\n");
    assert_eq!(yaml.text, "1: name: x\n3: jobs:\n4:   build:\n(5 lines; 0 more that declare something)\n");
    let markdown = packed("a.md", "# One\ntext that is long\n## Two\n");
    assert_eq!(markdown.text, "1: # One\n3: ## Two\n(3 lines; 0 more that declare something)\n");
    let short = Limits { pack_bytes_max: 40, ..limits };
    let cut = inject(&[given("a.rs", code, Some(code))], &short).files.remove(0);
    assert_eq!(cut.text, "3: pub fn one(a: u8) -> u8 {\n(10 lines; 2 more that declare something)\n");
}

proptest! {
    #[test]
    fn no_text_ends_its_own_fence(text in "(`|a|\n|```\n|## x){0,40}") {
        let block = inject(&[given("a.rs", &text, Some(&text))], &Limits::default());
        let shown = block.shown();
        let lines: Vec<&str> = shown.lines().collect();
        prop_assert_eq!(lines[0], HEADER);
        let fence = lines[2];
        prop_assert!(fence.len() >= 3 && fence.bytes().all(|byte| byte == b'`'));
        prop_assert_eq!(lines.iter().filter(|line| **line == fence).count(), 2);
        prop_assert_eq!(*lines.last().unwrap(), fence);
        prop_assert!(shown.contains(&text));
        prop_assert_eq!(&block.files[0].text, &text);
    }
}
