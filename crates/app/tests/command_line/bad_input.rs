//! Whatever is not what was asked gets one JSON error and exit 2, in bounded time and memory, and leaves nothing.

use crate::binary::{BINARY, DATA, Done, Work};
use std::io::{ErrorKind, Write};
use std::process::Stdio;

/// Every command that reads JSON; FILE stands for the input.
const COMMANDS: [&[&str]; 13] = [
    &["envelope", "validate", "FILE"],
    &["envelope", "validate", "FILE", "--kind", "sr2", "--files", "."],
    &["envelope", "validate", "FILE", "--kind", "generic", "--json"],
    &["envelope", "canonical", "FILE"],
    &["envelope", "hash", "FILE"],
    &["envelope", "hash", "FILE", "--kind", "generic"],
    &["ledger", "append", "FILE"],
    &["ledger", "append", "FILE", "--atomic", "--json"],
    &["ledger", "verify", "--anchor", "FILE"],
    &["formula", "eval", "wilson_interval_v1", "FILE"],
    &["derive", "cost", "FILE"],
    &["memory", "read", "FILE"],
    &["memory", "read", "FILE", "--receipt", "--json"],
];

fn with_file<'a>(command: &[&'a str], file: &'a str) -> Vec<&'a str> {
    command.iter().map(|arg| if *arg == "FILE" { file } else { arg }).collect()
}

/// Runs every command on one input, from a file and from standard input.
fn check(what: &str, input: &[u8], code: &str) {
    let work = Work::new();
    work.write("input", input);
    for command in COMMANDS {
        check_one(what, &work, work.run(&with_file(command, "input")), input, code);
        check_one(what, &work, work.feed(&with_file(command, "-"), input), input, code);
    }
}

fn check_one(what: &str, work: &Work, done: Done, input: &[u8], code: &str) {
    let refusal = done.refused_silently(2, code);
    assert!(!work.path(DATA).exists(), "{what}: {} made the data directory", done.args);
    let echo: String = String::from_utf8_lossy(input).chars().take(310).collect();
    assert!(echo.chars().count() < 310 || !done.err.contains(&echo), "{what}: {refusal:?}");
}

#[test]
fn nothing_and_the_wrong_encoding() {
    check("empty", b"", "json.empty");
    check("white space", b" \n\t\r\n  ", "json.empty");
    check("a byte order mark", b"\xEF\xBB\xBF{}", "json.byte_order_mark");
    check("a byte order mark alone", b"\xEF\xBB\xBF", "json.byte_order_mark");
    check("UTF-16", b"\xFF\xFE{\0}\0", "json.not_utf8");
    check("a stray byte", b"{\"a\":\"\xFF\"}", "json.not_utf8");
    check("an overlong form", b"{\"a\":\"\xC0\xAF\"}", "json.not_utf8");
    check("an encoded surrogate", b"{\"a\":\"\xED\xA0\x80\"}", "json.not_utf8");
    check("UTF-8 cut in a character", b"{\"a\":\"\xC3", "json.not_utf8");
}

#[test]
fn deep_and_long() {
    let deep = 100_000;
    check("arrays", &b"[".repeat(deep), "json.too_deep");
    check("whole arrays", &[b"[".repeat(deep), b"]".repeat(deep)].concat(), "json.too_deep");
    check("objects", &b"{\"a\":".repeat(deep), "json.too_deep");
    check("both", &b"[{\"a\":".repeat(deep / 2), "json.too_deep");
    check("beneath a member", &[b"{\"payload\":".to_vec(), b"[".repeat(deep)].concat(), "json.too_deep");
    check(
        "an integer",
        &[b"{\"a\":".to_vec(), b"7".repeat(5_000), b"}".to_vec()].concat(),
        "json.number_too_long",
    );
    check(
        "a fraction",
        &[b"{\"a\":0.".to_vec(), b"7".repeat(5_000), b"}".to_vec()].concat(),
        "json.number_too_long",
    );
    check(
        "an exponent",
        &[b"{\"a\":1e".to_vec(), b"7".repeat(5_000), b"}".to_vec()].concat(),
        "json.number_too_long",
    );
}

#[test]
fn surrogates_and_duplicates() {
    check("a high half", br#"{"a":"\ud800"}"#, "json.lone_surrogate");
    check("a low half", br#"{"a":"\udc00"}"#, "json.lone_surrogate");
    check("two high halves", br#"{"a":"\ud800\ud800"}"#, "json.lone_surrogate");
    check("a half before a letter", br#"{"a":"\ud800\u0041"}"#, "json.lone_surrogate");
    check("a half as a name", br#"{"\udfff":1}"#, "json.lone_surrogate");
    check("a name twice", br#"{"a":1,"a":1}"#, "json.duplicate_name");
    check("a name twice, once escaped", br#"{"a":1,"\u0061":2}"#, "json.duplicate_name");
    check("a name twice, deep inside", br#"{"payload":[{"x":{"":1,"":2}}]}"#, "json.duplicate_name");
    let long = "n".repeat(100_000);
    let twice = format!("{{\"{long}\":1,\"{long}\":2}}");
    check("a long name twice", twice.as_bytes(), "json.duplicate_name");
}

#[test]
fn after_and_before_the_end() {
    check("a second value", b"{} {}", "json.trailing");
    check("a letter", b"{}x", "json.trailing");
    check("a closing brace", b"{}}", "json.trailing");
    check("a zero byte", b"{}\0", "json.trailing");
    for cut in [
        "{",
        "[1,",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":\"b",
        "{\"a\":\"\\",
        "{\"a\":\"\\u00",
        "{\"a\":1,",
        "-",
        "{\"a\":1.",
        "{\"a\":1e+",
    ] {
        check("cut", cut.as_bytes(), "json.truncated");
    }
}

#[test]
fn other_grammars() {
    for text in ["{\"a\":NaN}", "NaN", "nan", "[-inf]", "{\"a\":Infinity}", "{\"a\":-Infinity}"] {
        check("not finite", text.as_bytes(), "json.not_finite");
    }
    for text in [
        "{'a':1}",
        "{\"a\":1,}",
        "[1,]",
        "// c",
        "{\"a\":01}",
        "{\"a\":+1}",
        "{\"a\":.5}",
        "{\"a\":tru}",
        "{a:1}",
        "\u{c}{}",
        "{\"a\":\"\t\"}",
        "\0",
    ] {
        check(text, text.as_bytes(), "json.syntax");
    }
}

#[test]
fn a_value_of_another_shape() {
    let work = Work::new();
    let anchor = ["ledger", "verify", "--anchor", "-"];
    for text in ["null", "true", "7", "\"text\"", "[]", "[{}]"] {
        work.feed(&["envelope", "validate", "-"], text).refused_silently(2, "envelope.unknown");
        work.feed(&["ledger", "append", "-"], text).refused_silently(2, "row.invalid");
        work.feed(&["ledger", "append", "-", "--atomic"], text).refused_silently(2, "row.invalid");
        work.feed(&anchor, text).refused_silently(2, "anchor.invalid");
        // Told what it should be, it is a well-formed document that fails the check.
        for kind in ["sr2", "generic"] {
            let report =
                work.feed(&["envelope", "validate", "-", "--json", "--kind", kind], text).exits(1).json();
            assert_eq!(report["errors"][0]["code"], "field.wrong_type");
            assert_eq!(report["errors"][0]["path"], "");
        }
    }
    work.feed(&["envelope", "validate", "-"], "{}").refused_silently(2, "envelope.unknown");
    work.feed(&anchor, "{}").refused_silently(2, "anchor.invalid");
    work.feed(&anchor, "{\"anchor\":2}").refused_silently(2, "anchor.invalid");
    assert!(!work.path(DATA).exists());
}

#[test]
fn no_file() {
    let work = Work::new();
    std::fs::create_dir(work.path("directory")).unwrap();
    let long = "x".repeat(5_000);
    for command in COMMANDS {
        for file in ["missing", "directory", "missing/deeper", "", long.as_str()] {
            work.run(&with_file(command, file)).refused_silently(2, "file.unreadable");
        }
        let args = with_file(command, "/dev/zero");
        work.run(&args).refused_silently(2, "json.too_long");
    }
    for args in [["ledger", "import", "missing"], ["ledger", "import", "directory"]] {
        work.run(&args).refused_silently(2, "archive.invalid");
    }
    work.write("row", "{\"stream\":\"s\",\"kind\":\"external.a\",\"payload\":1}");
    work.run(&["ledger", "append", "row", "--blob", "missing"]).refused_silently(2, "file.unreadable");
    work.run(&["ledger", "append", "row", "--blob", "directory"]).refused_silently(2, "file.unreadable");
    assert!(!work.path(DATA).exists());
}

#[test]
fn rows_that_are_none() {
    let work = Work::new();
    let check = |row: &str, code: &str, path: &str| {
        let refusal = work.feed(&["ledger", "append", "-"], row).refused_silently(2, code);
        assert_eq!(refusal.details["line"], 1, "{row}");
        assert_eq!(refusal.details["appended"], 0, "{row}");
        let paths: Vec<&str> = match refusal.details["errors"].as_array() {
            Some(errors) => errors.iter().map(|error| error["path"].as_str().unwrap()).collect(),
            None => Vec::new(),
        };
        assert_eq!(paths.join(" "), path, "{row}: {refusal:?}");
    };
    check("{}", "row.invalid", "/stream /kind /payload");
    let with =
        |members: &str| format!("{{\"stream\":\"s\",\"kind\":\"external.a\",\"payload\":1,{members}}}");
    for (members, path) in [
        ("\"x\":1", "/x"),
        ("\"a/b~c\":1", "/a~1b~0c"),
        ("\"version\":\"1\"", "/version"),
        ("\"version\":1.5", "/version"),
        ("\"version\":-1", "/version"),
        ("\"data_class\":\"secret\"", "/data_class"),
        ("\"data_class\":null", "/data_class"),
        ("\"taint\":7", "/taint"),
        ("\"cause\":\"1\"", "/cause"),
        ("\"expected\":-1", "/expected"),
        ("\"idem_key\":\"a b\"", "/idem_key"),
        ("\"blobs\":[{\"text\":1}]", "/blobs/0/text"),
        ("\"blobs\":[{\"path\":\"/etc/passwd\"}]", "/blobs/0/text /blobs/0/path"),
        ("\"blobs\":\"x\"", "/blobs"),
        ("\"seq\":1,\"hash\":\"\"", "/hash /seq"),
        ("\"at\":\"2020-01-01T00:00:00Z\",\"actor\":\"ana\",\"proof\":{}", "/actor /at /proof"),
    ] {
        check(&with(members), "row.invalid", path);
    }
    check(&with("\"version\":0"), "row.invalid", "");
    check(&with("\"version\":4294967296"), "row.invalid", "");
    check("{\"stream\":\"..\",\"kind\":\"external.A\",\"payload\":1}", "row.invalid", "/stream /kind");
    check("{\"stream\":\"s\",\"kind\":\"external.a\",\"payload\":9007199254740993}", "number.inexact", "");
    check("{\"stream\":\"s\",\"kind\":\"external.a\",\"payload\":0.1e-400}", "number.inexact", "");
    let large =
        format!("{{\"stream\":\"s\",\"kind\":\"external.a\",\"payload\":\"{}\"}}", "x".repeat(1 << 22));
    check(&large, "row.too_large", "");
    assert!(!work.path(DATA).exists());
}

/// Feeds up to 1 GiB of `piece` after `start`, in little memory, and says how much was taken.
fn feed_giant(work: &Work, args: &[&str], start: &[u8], piece: u8) -> (Done, usize) {
    const PIECE: usize = 1 << 20;
    let script = "ulimit -v 600000; exec \"$0\" \"$@\"";
    let args = [&["-c", script, BINARY], args].concat();
    let mut child = work.command("sh", &args).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let start = start.to_vec();
    let writer = std::thread::spawn(move || {
        let buffer = vec![piece; PIECE];
        let mut taken = 0;
        stdin.write_all(&start).unwrap();
        while taken < 1 << 30 {
            match stdin.write_all(&buffer) {
                Ok(()) => taken += PIECE,
                Err(error) if error.kind() == ErrorKind::BrokenPipe => break,
                Err(error) => panic!("{error}"),
            }
        }
        taken
    });
    let output = child.wait_with_output().unwrap();
    (Done::new(&args[2..], output), writer.join().unwrap())
}

#[test]
fn a_line_of_a_gibibyte() {
    let work = Work::new();
    let inputs: [(&[u8], u8); 6] =
        [(b"\"", b'a'), (b"", b' '), (b"", b'['), (b"", b'7'), (b"{\"a\":\"", b'\\'), (b"", 0)];
    for (start, piece) in inputs {
        for command in COMMANDS {
            let (done, taken) = feed_giant(&work, &with_file(command, "-"), start, piece);
            done.refused_silently(2, "json.too_long");
            assert!(taken < 64 << 20, "{} went on reading: {taken} bytes", done.args);
        }
    }
    assert!(!work.path(DATA).exists());
}

#[test]
fn rows_that_go_together_are_held_in_bounded_memory() {
    let work = Work::new();
    let row =
        format!("{{\"stream\":\"s\",\"kind\":\"external.a\",\"payload\":\"{}\"}}\n", "x".repeat(1_000_000));
    let done = work.feed(&["ledger", "append", "-", "--atomic"], row.repeat(80));
    let refusal = done.refused_silently(1, "ledger.batch");
    assert_eq!(refusal.details["line"], 68);
    assert!(!work.path(DATA).exists());
}

#[test]
fn arguments_may_be_hostile_too() {
    let work = Work::new();
    let long = "x".repeat(100_000);
    let digest = "0".repeat(64);
    let check = |args: &[&str], exit: i32, code: &str| drop(work.run(args).refused_silently(exit, code));
    check(&[&long], 2, "usage.invalid");
    check(&["ledger", "summary", &format!("--{long}")], 2, "usage.invalid");
    check(&["ledger", "summary", "--matter", &long], 2, "id.invalid");
    check(&["ledger", "summary", "--as", &long], 2, "id.invalid");
    check(&["ledger", "summary", "--as", "../ana"], 2, "id.invalid");
    check(&["ledger", "summary", "--store", &long], 2, "ledger.unknown_store");
    check(&["ledger", "summary", "--store", "postgres://host/db"], 2, "ledger.unknown_store");
    check(&["ledger", "summary", "--now", &long], 2, "time.invalid");
    check(&["ledger", "rows", "--stream", &long], 2, "id.invalid");
    check(&["ledger", "rows", "--kind", "A B"], 2, "id.invalid");
    check(&["ledger", "tail", "--stream", ""], 2, "id.invalid");
    check(&["ledger", "blob", &long], 2, "field.invalid");
    check(&["ledger", "blob", &digest.replace('0', "A")], 2, "field.invalid");
    check(&["ledger", "erase", "", "--reason", "x"], 2, "field.invalid");
    check(&["ledger", "hold", "place", "..", "--reason", "x"], 2, "id.invalid");
    check(&["ledger", "verify", "--trusted-key", &long], 2, "field.invalid");
    check(&["ledger", "verify", "--trusted-key", &digest], 2, "field.invalid");
    check(&["principal", "add", "../../etc/cron.d/x"], 2, "id.invalid");
    check(&["principal", "add", &long], 2, "id.invalid");
    check(&["principal", "trust", "ben", &long], 2, "field.invalid");
    check(&["principal", "trust", "ben", &digest], 2, "field.invalid");
    check(&["explain", &long], 2, "usage.invalid");
    assert!(!work.path(DATA).exists());
}

#[test]
fn arguments_that_are_no_text() {
    use std::os::unix::ffi::OsStrExt;
    let work = Work::new();
    let bytes = std::ffi::OsStr::from_bytes(b"\xFF\xFE");
    let done = |args: &[&str]| Done::new(args, work.command(BINARY, args).arg(bytes).output().unwrap());
    done(&["envelope", "validate"]).refused_silently(2, "usage.invalid");
    done(&["ledger", "summary", "--matter"]).refused_silently(2, "usage.invalid");
    done(&[]).refused_silently(2, "usage.invalid");
    assert!(!work.path(DATA).exists());
}

/// A short text of very many values must not fill the machine, valid as it is.
#[test]
fn a_document_of_very_many_values() {
    let work = Work::new();
    let text = format!("[{}]", vec!["[[[-0]]]"; 1_500_000].join(","));
    for command in ["canonical", "hash", "validate"] {
        work.write("many.json", text.as_bytes());
        let line = format!("ulimit -v 700000; exec '{BINARY}' envelope {command} many.json");
        let output = work.command("sh", &["-c", &line]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("json.too_many_values"), "{output:?}");
    }
}

/// A name of any length is not repeated as the place of what is wrong beneath it.
#[test]
fn a_very_long_name() {
    let work = Work::new();
    let long = "x".repeat(15 << 20);
    let check = |member: &str, value: &str, path: &str, message: &str| {
        let text = format!("{{\"{member}\":{{\"{long}\":{value}}}}}");
        let done = work.feed(&["envelope", "validate", "-", "--json", "--kind", "generic"], text).exits(1);
        assert!(done.bytes.len() < 10_000, "{member}: {} bytes", done.bytes.len());
        let report = done.json();
        let errors = report["errors"].as_array().unwrap();
        let found = errors.iter().find(|error| error["path"] == path).expect(path);
        let message = message.replace('X', &"x".repeat(64));
        assert_eq!(found["message"], message, "{member}");
    };
    check("outputs", "1", "/outputs", "in \"X\"…: an object is needed, not a number");
    check(
        "goal_completion_status",
        "1",
        "/goal_completion_status",
        "in \"X\"…: a string is needed, not a number",
    );
    // A goal is a sentence, and is named whole as long as that is within reason.
    let goal = "find out when the lease ends, and who may end it before that; ".repeat(3);
    let text = format!("{{\"goal_completion_status\":{{\"{goal}\":1}}}}");
    let done = work.feed(&["envelope", "validate", "-", "--json", "--kind", "generic"], text).exits(1);
    let path = format!("/goal_completion_status/{goal}");
    assert!(done.json()["errors"].as_array().unwrap().iter().any(|error| error["path"] == path.as_str()));
}
