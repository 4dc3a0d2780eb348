//! `countersign scope`: A0 on a document and on a folder, as a user runs it.

use crate::binary::{self, FIXED, Reachable, Work};
use countersign_record::digest::Digest;
use serde_json::{Value, json};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

fn sha256(bytes: &[u8]) -> String {
    Digest::of(bytes).to_string()
}

fn file(path: &str, mtime: u64, tags: &[&str]) -> Value {
    json!({"path": path, "sha256": sha256(path.as_bytes()), "mtime": mtime, "tags": tags})
}

fn input() -> Value {
    json!({
        "prompt": "What does the lease say about vehicle acoustics?",
        "manifest": [
            file("docs/Lease.md", 1_694_000_000, &[]),
            file("notes/NVH.md", 1_694_000_001, &[]),
            file("legacy/old.md", 1_694_000_002, &["lease"]),
            file("other.md", 5, &[]),
        ],
        "toggles": {"legacy/old.md": "OFF"},
        "aliases": {"NVH": ["vehicle acoustics"]},
        "request_id": "r-1",
        "turn_id": 42,
    })
}

fn with(name: &str, value: Value) -> Value {
    let mut document = input();
    document[name] = value;
    document
}

/// Runs A0; the envelope is valid whatever it says.
fn scope(work: &Work, document: &Value, exit: i32) -> Value {
    let done = work.feed(&[&["scope", "-"], &FIXED[..]].concat(), document.to_string()).exits(exit);
    let text = done.text().to_owned();
    work.feed(&["envelope", "validate", "-", "--kind", "sr2"], &text).good();
    done.json()
}

fn kept(envelope: &Value) -> Vec<String> {
    let files = envelope["payload"]["eligible_files"].as_array().unwrap();
    files
        .iter()
        .map(|file| format!("{} {}", file["path"].as_str().unwrap(), file["reason"][0].as_str().unwrap()))
        .collect()
}

#[test]
fn an_envelope_goes_out() {
    let work = Work::new();
    let envelope = scope(&work, &input(), 0);
    let hash = |path: &str| sha256(path.as_bytes());
    let names: Vec<&String> = envelope.as_object().unwrap().keys().collect();
    assert_eq!(names.len(), 11);
    assert_eq!(
        envelope["provenance"],
        json!({
            "files": [
                {"path": "docs/Lease.md", "sha256": hash("docs/Lease.md"), "mtime": 1_694_000_000},
                {"path": "notes/NVH.md", "sha256": hash("notes/NVH.md"), "mtime": 1_694_000_001},
            ],
            "history_refs": [],
            "eligibility": ["docs/Lease.md", "notes/NVH.md"],
        })
    );
    for (name, expected) in [
        ("agent", json!("A0_FileScopeSelector")),
        ("goal", json!("select_eligible_files")),
        ("timestamp", json!("2025-12-10T10:00:00Z")),
        ("request_id", json!("r-1")),
        ("turn_id", json!(42)),
        ("source", json!("internal")),
        ("version", json!("1.0")),
        ("escalate", json!(false)),
        ("reason", Value::Null),
    ] {
        assert_eq!(envelope[name], expected, "{name}");
    }
    assert_eq!(kept(&envelope), ["docs/Lease.md KEPT:title-regex", "notes/NVH.md KEPT:alias"]);
    assert_eq!(
        envelope["payload"]["candidate_files_block"],
        json!({"files": ["docs/Lease.md", "notes/NVH.md"]})
    );
    let trace = envelope["payload"]["trace"].as_array().unwrap();
    assert_eq!(trace.len(), 4);
    assert_eq!(
        trace[1],
        json!({"path": "legacy/old.md", "decision": "DROPPED", "reason": ["DROPPED:OFF", "it is switched off"]})
    );
    assert!(!work.path(binary::DATA).exists(), "a document needs no data directory");
}

#[test]
fn what_is_missing_is_minted_and_repeats() {
    let work = Work::new();
    let mut document = input();
    document.as_object_mut().unwrap().remove("request_id");
    document.as_object_mut().unwrap().remove("turn_id");
    let first = scope(&work, &document, 0);
    assert!(first["request_id"].as_str().unwrap().starts_with("r-"));
    assert_eq!(first["turn_id"], 1);
    assert_eq!(scope(&work, &document, 0), first);
}

#[test]
fn nothing_eligible_and_a_lock_that_misses() {
    let work = Work::new();
    let empty = scope(&work, &with("prompt", json!("the weather")), 1);
    assert_eq!((&empty["payload"]["code"], &empty["escalate"]), (&json!("EMPTY_ELIGIBILITY"), &json!(false)));
    let lock = json!({"enabled": true, "files": ["notes/NVH.md", "gone.md"]});
    let miss = scope(&work, &with("lock", lock), 3);
    assert_eq!(miss["payload"]["code"], "LOCK_MISS");
    assert_eq!((&miss["escalate"], &miss["reason"]), (&json!(true), &json!("LOCK_MISS")));
    assert_eq!(miss["payload"]["missing"], json!(["gone.md"]));
    // A file that is off is never eligible, and is injected all the same.
    let lock = json!({"enabled": true, "files": ["legacy/old.md"]});
    let off = scope(&work, &with("lock", lock), 0);
    assert_eq!(kept(&off), [""; 0]);
    assert_eq!(off["payload"]["candidate_files_block"]["files"], json!(["legacy/old.md"]));
    assert_eq!(off["provenance"]["files"][0]["path"], "legacy/old.md");
}

#[test]
fn bad_inputs_are_told_with_their_place() {
    let work = Work::new();
    let paths = |document: &Value| {
        let done = work.feed(&["scope", "-"], document.to_string());
        let errors = done.refused_silently(2, "field.invalid").details["errors"].clone();
        let path = |error: &Value| error["path"].as_str().unwrap().to_owned();
        errors.as_array().unwrap().iter().map(path).collect::<Vec<_>>().join(" ")
    };
    let named = |path: &str| with("manifest", json!([file("a.md", 1, &[]), file(path, 1, &[])]));
    for path in ["/etc/passwd", "../x", "a/../../x", "a\nb", " "] {
        assert_eq!(paths(&named(path)), "/manifest/1/path", "{path:?}");
    }
    assert_eq!(paths(&with("patterns", json!(["("]))), "/patterns/0");
    assert_eq!(paths(&with("prompts", json!("x"))), "/prompts");
    let inexact = input().to_string().replace("1694000000,", "1694000000.123456789,");
    let errors = work.feed(&["scope", "-"], &inexact).refused_silently(2, "field.invalid").details;
    assert_eq!(errors["errors"][0]["path"], "/manifest/0/mtime");
    work.feed(&["scope", "-"], "{").refused_silently(2, "json.truncated");
    work.run(&["scope"]).refused_silently(2, "usage.invalid");
    work.run(&["scope", "--dir", "."]).refused_silently(2, "usage.invalid");
    work.run(&["scope", "x.json", "--prompt", "y"]).refused_silently(2, "usage.invalid");
    work.run(&["scope", "--dir", "nowhere", "--prompt", "y"]).refused_silently(2, "file.unreadable");
    work.run(&["scope", "--dir", ".", "--prompt", "y", "--pattern", "("])
        .refused_silently(2, "field.invalid");
    work.run(&["scope", "--dir", ".", "--prompt", "y", "--alias", "x"]).refused_silently(2, "usage.invalid");
}

/// Runs A0 on the folder `files`.
fn folder(work: &Work, prompt: &str, more: &[&str], exit: i32) -> Value {
    let args = [&["scope", "--dir", "files", "--prompt", prompt], more, &FIXED[..]].concat();
    let done = work.run(&args).exits(exit);
    let text = done.text().to_owned();
    let whole = ["envelope", "validate", "-", "--kind", "sr2", "--files", "files"];
    work.feed(&whole, &text).good();
    done.json()
}

fn write(work: &Work, path: &str, bytes: &[u8]) {
    let path = work.path("files").join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn traced(envelope: &Value) -> Vec<&str> {
    let trace = envelope["payload"]["trace"].as_array().unwrap();
    trace.iter().map(|one| one["path"].as_str().unwrap()).collect()
}

fn skipped(envelope: &Value) -> Vec<String> {
    let all = envelope["payload"]["skipped"].as_array().cloned().unwrap_or_default();
    let one =
        |one: &Value| format!("{} {}", one["path"].as_str().unwrap(), one["reason"][0].as_str().unwrap());
    all.iter().map(one).collect()
}

#[test]
fn a_folder_is_read_as_git_reads_it() {
    let work = Work::new();
    for (path, text) in [
        (".gitignore", "*.log\n/build/\n!keep.log\n"),
        (".github/ci.yml", "on: push"),
        ("docs/Lease.md", "The lease."),
        ("docs/.gitignore", "draft*\n"),
        ("docs/draft.md", "no"),
        ("a.log", "no"),
        ("keep.log", "yes"),
        ("build/x", "no"),
        ("deep/build/x", "yes"),
        (".git/config", "no"),
        (".ignore", "Lease.md\n"),
    ] {
        write(&work, path, text.as_bytes());
    }
    let all = folder(&work, "nothing", &["--fallback", "all_on"], 0);
    assert_eq!(
        traced(&all),
        [
            ".github/ci.yml",
            ".gitignore",
            ".ignore",
            "deep/build/x",
            "docs/.gitignore",
            "docs/Lease.md",
            "keep.log"
        ]
    );
    let lease = folder(&work, "the lease", &[], 0);
    assert_eq!(kept(&lease), ["docs/Lease.md KEPT:title-regex"]);
    assert_eq!(lease["payload"]["eligible_files"][0]["sha256"], sha256(b"The lease."));
    let options =
        ["--include", "keep.log", "--off", "docs/Lease.md", "--pattern", "^deep/", "--max-files", "1"];
    assert_eq!(kept(&folder(&work, "the lease", &options, 0)), ["keep.log KEPT:include"]);
    assert_eq!(
        kept(&folder(&work, "tenancy", &["--alias", "tenancy = lease"], 0)),
        ["docs/Lease.md KEPT:alias"]
    );
    assert_eq!(kept(&folder(&work, "x", &["--lock", "keep.log"], 0)), ["keep.log KEPT:lock"]);
    assert_eq!(folder(&work, "x", &["--lock", "a.log"], 3)["payload"]["missing"], json!(["a.log"]));
    assert_eq!(
        folder(&work, "the lease", &["--exclude", "docs/Lease.md"], 1)["payload"]["code"],
        "EMPTY_ELIGIBILITY"
    );
}

#[test]
fn our_own_data_is_no_part_of_a_folder() {
    let work = Work::new();
    work.write("a.md", "a");
    let args = ["scope", "--dir", ".", "--prompt", "x", "--fallback", "all_on"];
    for _ in 0..2 {
        assert_eq!(traced(&work.run(&args).good().json()), ["a.md"]);
    }
}

#[test]
fn what_is_no_plain_file_is_told_and_harms_nobody() {
    let work = Work::new();
    write(&work, "a.md", b"a");
    write(&work, "new\nline.md", b"x");
    let files = work.path("files");
    std::fs::write(files.join(std::ffi::OsStr::from_bytes(b"bad\xff.md")), "x").unwrap();
    symlink("/etc/passwd", files.join("link.md")).unwrap();
    symlink("..", files.join("up")).unwrap();
    symlink("nowhere", files.join("dangling")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        files.join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(files.join("socket")).unwrap();
    // A file of a terabyte that takes no room.
    std::fs::File::create(files.join("huge.bin")).unwrap().set_len(1 << 40).unwrap();
    let all = folder(&work, "x", &["--fallback", "all_on"], 0);
    assert_eq!(traced(&all), ["a.md"]);
    let expected = [
        "bad\u{fffd}.md SKIPPED:not-utf8",
        "dangling SKIPPED:link",
        "huge.bin SKIPPED:too-large",
        "link.md SKIPPED:link",
        "new\nline.md SKIPPED:control-character",
        "pipe SKIPPED:not-regular",
        "socket SKIPPED:not-regular",
        "up SKIPPED:link",
    ];
    assert_eq!(skipped(&all), expected);
    assert_eq!(all["payload"]["skipped_count"], 8);
}

#[test]
fn what_may_not_be_read_is_told() {
    let work = Work::new();
    write(&work, "a.md", b"a");
    write(&work, "secret.md", b"s");
    write(&work, "closed/b.md", b"b");
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let files = work.path("files");
    mode(&work.path("."), 0o755);
    mode(&files, 0o755);
    mode(&files.join("secret.md"), 0);
    mode(&files.join("closed"), 0);
    let args = ["scope", "--dir", "files", "--prompt", "x", "--fallback", "all_on", "--no-cache"];
    let output = work.as_nobody(&Reachable::new(), &args).output().unwrap();
    let envelope: Value = serde_json::from_slice(&output.stdout).unwrap();
    mode(&files.join("closed"), 0o755);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(traced(&envelope), ["a.md"]);
    assert_eq!(skipped(&envelope), ["closed SKIPPED:unreadable", "secret.md SKIPPED:unreadable"]);
}

#[test]
fn a_change_is_seen_though_size_and_time_are_the_same() {
    let work = Work::new();
    let hash = |envelope: &Value| envelope["payload"]["eligible_files"][0]["sha256"].clone();
    write(&work, "a.md", b"one");
    let path = work.path("files").join("a.md");
    let time = std::fs::metadata(&path).unwrap().modified().unwrap();
    for text in ["one", "two", "six"] {
        std::fs::write(&path, text).unwrap();
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        for _ in 0..2 {
            assert_eq!(hash(&folder(&work, "a", &[], 0)), sha256(text.as_bytes()));
        }
    }
}

#[test]
fn matters_keep_hashes_apart_and_a_damaged_cache_changes_nothing() {
    let work = Work::new();
    // Files of this checkout were left alone for a while, so their hashes are kept.
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let args = |matter: &'static str| {
        [
            &[
                "scope",
                "--dir",
                src.to_str().unwrap(),
                "--prompt",
                "x",
                "--fallback",
                "all_on",
                "--matter",
                matter,
            ],
            &FIXED[..],
        ]
        .concat()
        .into_iter()
        .map(str::to_owned)
        .collect::<Vec<String>>()
    };
    let run = |matter| {
        let args = args(matter);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        work.run(&args).good().text().to_owned()
    };
    let first = run("default");
    let caches =
        |matter: &str| binary::files(&work.path(binary::DATA).join("matters").join(matter).join("cache"));
    assert_eq!(caches("default").len(), 1);
    assert!(caches("other").is_empty());
    assert_eq!(run("default"), first);
    let cache = caches("default").remove(0);
    let mut bytes = std::fs::read(&cache).unwrap();
    let at = bytes.len() - 1;
    bytes[at] ^= 1;
    std::fs::write(&cache, bytes).unwrap();
    assert_eq!(run("default"), first);
    assert_eq!(run("other"), first);
    assert_eq!(caches("other").len(), 1);
}
