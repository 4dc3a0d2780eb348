//! A0: each of its rules, and that the order of a manifest changes nothing.
//! Owns: small manifests. Must not: read a file.

use super::*;
use countersign_record::json;
use proptest::prelude::*;
use std::string::String;
use std::vec::Vec;
use std::{format, vec};

const HASH: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

fn quoted(text: &str) -> String {
    json::to_text(&text).unwrap()
}

fn file(path: &str, mtime: u64, tags: &[&str]) -> String {
    let tags: Vec<String> = tags.iter().map(|tag| quoted(tag)).collect();
    format!(r#"{{"path":{},"sha256":"{HASH}","mtime":{mtime},"tags":[{}]}}"#, quoted(path), tags.join(","))
}

fn input(prompt: &str, files: &[String], more: &str) -> Input {
    let text = format!(r#"{{"prompt":{},"manifest":[{}]{more}}}"#, quoted(prompt), files.join(","));
    Input::read(json::parse(text.as_bytes()).unwrap()).unwrap_or_else(|troubles| panic!("{troubles:?}"))
}

fn selected(prompt: &str, files: &[String], more: &str) -> Payload {
    select(&input(prompt, files, more))
}

fn kept(payload: &Payload) -> Vec<(&str, &str)> {
    payload.eligible_files.iter().map(|file| (file.path.as_str(), file.reason[0].as_str())).collect()
}

fn traced<'a>(payload: &'a Payload, path: &str) -> &'a str {
    payload.trace.iter().find(|traced| traced.path == path).unwrap().reason[0].as_str()
}

#[test]
fn a_title_a_pattern_a_tag_and_an_alias_in_this_order() {
    let files = [
        file("notes/NVH.md", 1, &[]),
        file("docs/Lease_2024.md", 2, &[]),
        file("src/main.rs", 3, &["harbour"]),
        file("legacy/old.md", 4, &["archive"]),
    ];
    let payload = selected(
        "What does the lease 2024 say about vehicle acoustics at the Harbour?",
        &files,
        r#","patterns":["^src/"],"aliases":{"NVH":["vehicle acoustics"]}"#,
    );
    let expected = [
        ("src/main.rs", "KEPT:title-regex"),
        ("docs/Lease_2024.md", "KEPT:title-regex"),
        ("notes/NVH.md", "KEPT:alias"),
    ];
    assert_eq!(kept(&payload), expected);
    assert_eq!(traced(&payload, "legacy/old.md"), "DROPPED:no-match");
    assert_eq!(payload.eligible_files[2].reason[1], "alias: vehicle acoustics = nvh, title: NVH");
    let tagged = selected("the HARBOUR", &files, "");
    assert_eq!(kept(&tagged), [("src/main.rs", "KEPT:tag")]);
}

#[test]
fn whole_words_whatever_their_case() {
    for (prompt, path, is_found) in [
        ("read Req.md", "docs/Req.md", true),
        ("REQ", "docs/req.md", true),
        ("the requirements", "docs/Req.md", false),
        ("the prereq list", "docs/Req.md", false),
        ("see docs/Req.md, please", "docs/Req.md", true),
        ("Stra\u{df}e", "STRASSE.txt", true),
        ("\u{9a6c}\u{8fbe}\u{566a}\u{97f3}", "\u{566a}\u{97f3}.md", true),
        ("cafe\u{301} prices", "caf\u{e9}.md", true),
        ("quarterly report-final", "Quarterly_Report.final.md", true),
        ("ignore .gitignore", ".gitignore", true),
        ("what is +++ for", "+++", true),
        ("nothing", "+++", false),
    ] {
        let payload = selected(prompt, &[file(path, 1, &[])], "");
        assert_eq!(payload.eligible_files.len() == 1, is_found, "{prompt} {path}");
    }
}

#[test]
fn off_goes_before_exclude_before_include_before_any_match() {
    let files = ["a.md", "b.md", "c.md", "d.md"].map(|path| file(path, 1, &[]));
    let more =
        r#","toggles":{"a.md":"OFF","b.md":"ON"},"include":["a.md","b.md","c.md"],"exclude":["a.md","b.md"]"#;
    let payload = selected("a b c d", &files, more);
    assert_eq!(kept(&payload), [("c.md", "KEPT:include"), ("d.md", "KEPT:title-regex")]);
    assert_eq!((traced(&payload, "a.md"), traced(&payload, "b.md")), ("DROPPED:OFF", "DROPPED:exclude"));
}

#[test]
fn ties_go_by_priority_tag_then_the_newer_one_then_the_path() {
    let files = [
        file("d.md", 5, &["x"]),
        file("c.md", 5, &["x"]),
        file("b.md", 9, &["x"]),
        file("a.md", 1, &["x", "law"]),
        file("e.md", 1, &["x", "first"]),
    ];
    let payload = selected("x", &files, r#","priority_tags":["First","LAW"],"max_files":4"#);
    let paths: Vec<&str> = kept(&payload).into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["e.md", "a.md", "b.md", "c.md"]);
    let over = payload.trace.iter().find(|traced| traced.path == "d.md").unwrap();
    assert_eq!(over.reason, ["DROPPED:max-files", "4 of 5 files stay; tag: x"]);
    assert_eq!(payload.trace.len(), files.len());
}

#[test]
fn runs_are_narrowed_by_names_and_not_by_titles() {
    let files = || {
        ["agreement.md", "amendment.md", "notes/2024.md"].map(|path| super::File {
            path: path.into(),
            sha256: countersign_record::digest::Digest::of(path.as_bytes()),
            mtime: countersign_record::json::Number::try_from(1_u64).unwrap(),
            tags: Vec::new(),
        })
    };
    let check = |prompt: &str, expected: &[(&str, &str)]| {
        let input = Input {
            prompt: prompt.into(),
            manifest: files().into(),
            fallback: Fallback::AllOnUnlessNamed,
            ..Input::default()
        };
        assert_eq!(kept(&select(&input)), expected, "{prompt}");
    };
    let (title, other) = ("KEPT:title-regex", "KEPT:fallback");
    let all = [("agreement.md", title), ("amendment.md", other), ("notes/2024.md", other)];
    check("What is the monthly fee in the agreement?", &all);
    check("What is the fee in agreement.md?", &all[..1]);
    check("What does notes/2024.md say?", &[("notes/2024.md", title)]);
    check("What is the fee?", &all.map(|(path, _)| (path, other)));
}

#[test]
fn a_lock_passes_its_files_and_looks_for_no_others() {
    let files = ["a.md", "b.md", "c.md"].map(|path| file(path, 1, &[]));
    let lock =
        |files: &str| format!(r#","lock":{{"enabled":true,"files":{files}}},"toggles":{{"b.md":"OFF"}}"#);
    let payload = selected("c", &files, &lock(r#"["b.md","a.md","b.md"]"#));
    assert_eq!(kept(&payload), [("a.md", "KEPT:lock")]);
    assert_eq!(payload.candidate_files_block.files, ["b.md", "a.md"]);
    assert_eq!((traced(&payload, "b.md"), traced(&payload, "c.md")), ("DROPPED:OFF", "DROPPED:no-match"));
    assert_eq!(payload.code, None);
    for (files_named, missing) in [("[]", vec![]), (r#"["z.md","a.md","y.md"]"#, vec!["y.md", "z.md"])] {
        let payload = selected("c", &files, &lock(files_named));
        assert_eq!(
            (payload.code, payload.missing),
            (Some(Failure::LockMiss), missing.into_iter().map(String::from).collect())
        );
    }
    let off = selected("c", &files, r#","lock":{"enabled":false,"files":["z.md"]}"#);
    assert_eq!(kept(&off), [("c.md", "KEPT:title-regex")]);
}

#[test]
fn nothing_that_matches_is_empty_unless_all_may_be_used() {
    let files = ["a.md", "b.md"].map(|path| file(path, 1, &[]));
    let empty = selected("nothing of that", &files, "");
    assert_eq!((empty.eligible_files.len(), empty.code), (0, Some(Failure::EmptyEligibility)));
    let all = selected("nothing of that", &files, r#","fallback":"all_on","toggles":{"a.md":"OFF"}"#);
    assert_eq!((kept(&all), all.code), (vec![("b.md", "KEPT:fallback")], None));
    let some = selected("b", &files, r#","fallback":"all_on""#);
    assert_eq!(kept(&some), [("b.md", "KEPT:title-regex")]);
    assert_eq!(selected("b", &files, r#","max_files":0"#).code, Some(Failure::EmptyEligibility));
}

#[test]
fn what_is_wrong_is_named() {
    let bad = |text: &str| {
        let troubles = Input::read(json::parse(text.as_bytes()).unwrap()).unwrap_err();
        troubles.iter().map(|trouble| trouble.path.clone()).collect::<Vec<_>>().join(" ")
    };
    let twice = format!(r#"{{"prompt":"p","manifest":[{0},{0}]}}"#, file("a", 1, &[]));
    assert_eq!(bad(&twice), "/manifest/1/path");
    assert_eq!(bad(r#"{"manifest":[],"prompt":"p","patterns":["a","("]}"#), "/patterns/1");
    assert_eq!(bad(r#"{"manifest":[],"prompt":"p","patterns":["(a{1000}){1000}"]}"#), "/patterns/0");
    assert_eq!(bad(r#"{"manifest":[],"prompt":"p","toggles":{"a":"off"}}"#), "/toggles/a");
    assert_eq!(bad(r#"{"manifest":[],"prompt":"p","excludes":[]}"#), "/excludes");
    assert_eq!(
        bad(r#"{"manifest":[{"path":"a","mtime":"x"}]}"#),
        "/prompt /manifest/0/sha256 /manifest/0/mtime"
    );
    assert_eq!(
        bad(r#"{"manifest":[],"prompt":"p","fallback":"all","max_files":-1}"#),
        "/max_files /fallback"
    );
}

proptest! {
    /// However the manifest is ordered, the payload is the same, and tells of every file once.
    #[test]
    fn the_order_of_the_manifest_changes_nothing(
        files in proptest::collection::btree_map("[ab]{1,3}(/[ab]{1,2})?(\\.md)?", (0_u64..3, proptest::sample::subsequence(vec!["x", "y"], 0..=2)), 1..12),
        prompt in "[abxyz .]{0,20}",
        turn in 0_usize..12,
        max in 0_usize..12,
    ) {
        let mut lines: Vec<String> = files.iter().map(|(path, (mtime, tags))| file(path, *mtime, tags)).collect();
        let more = format!(r#","max_files":{max},"aliases":{{"z":["y"]}},"priority_tags":["y"]"#);
        let first = selected(&prompt, &lines, &more);
        let at = turn % lines.len();
        lines.rotate_left(at);
        prop_assert_eq!(&first, &selected(&prompt, &lines, &more));
        let traced: Vec<&String> = first.trace.iter().map(|traced| &traced.path).collect();
        prop_assert_eq!(traced, files.keys().collect::<Vec<_>>());
        let kept = first.trace.iter().filter(|traced| traced.decision == Decision::Kept).count();
        prop_assert_eq!(kept, first.eligible_files.len());
        prop_assert!(kept <= max);
        prop_assert_eq!(kept == 0, first.code == Some(Failure::EmptyEligibility));
    }
}
