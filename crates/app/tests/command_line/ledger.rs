//! `countersign ledger`: rows go in, come out, and move as a whole.

use crate::binary::{self, BINARY, DATA, FIXED, Work, contents};
use serde_json::{Value, json};
use std::path::Path;

fn row(stream: &str, payload: impl Into<Value>) -> String {
    format!("{}\n", json!({"stream": stream, "kind": "external.note", "payload": payload.into()}))
}

#[test]
fn a_whole_ledger() {
    let work = Work::new();
    work.write("lease.txt", b"a scanned lease");
    work.write(
        "row.json",
        json!({"stream": "files", "kind": "external.file", "payload": {"name": "lease.txt"}}).to_string(),
    );
    let args = [&["ledger", "append", "-"], &FIXED[..]].concat();
    let done =
        work.feed(&args, row("notes", 1) + "\n \r\n" + &row("notes", json!({"b": 1.0, "a": "é"}))).good();
    insta::assert_snapshot!(done.text(), @r#"
    1  notes/1  576df3612ba1b03eb57e6bddeab98739cfe71499d00bb93036e67bea75c5b851
    2  notes/2  44411fb8c2cf754ac6371078b8c7384a4eb74cabbe272ea13107ca5959fe82ee
    "#);
    let args = [&["ledger", "append", "row.json", "--blob", "lease.txt", "--json"], &FIXED[..]].concat();
    insta::assert_snapshot!(work.run(&args).good().text(), @r#"{"seq":3,"stream":"files","stream_seq":1,"hash":"055a34682e3fdde57cd00a632137424505fc80d10399109bb8500056aec7bf09","repeated":false}"#);
    let rows = work.run(&["ledger", "rows"]).good();
    insta::assert_snapshot!(rows.text(), @r#"
    {"actor":"local","at":"2025-12-10T10:00:00Z","blobs":[],"cause":null,"data_class":"internal","hash":"576df3612ba1b03eb57e6bddeab98739cfe71499d00bb93036e67bea75c5b851","idem_key":null,"kind":"external.note","payload":1,"payload_hash":"6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b","prev_hash":"672b027017cacb81ff0a3bf276bd9793dd526ba3fdb110907d169af177c1a5a2","proof":{"kind":"none"},"seq":1,"stream":"notes","stream_seq":1,"taint":"unclassified","version":1}
    {"actor":"local","at":"2025-12-10T10:00:00.001Z","blobs":[],"cause":null,"data_class":"internal","hash":"44411fb8c2cf754ac6371078b8c7384a4eb74cabbe272ea13107ca5959fe82ee","idem_key":null,"kind":"external.note","payload":{"a":"é","b":1},"payload_hash":"aa58fba8483623bed37c1b02edfccbdd9a53123837c20bfa4cb4049993a2872e","prev_hash":"576df3612ba1b03eb57e6bddeab98739cfe71499d00bb93036e67bea75c5b851","proof":{"kind":"none"},"seq":2,"stream":"notes","stream_seq":2,"taint":"unclassified","version":1}
    {"actor":"local","at":"2025-12-10T10:00:00Z","blobs":[{"digest":"89d2d94d8700f33426e731ecb98f74f0b3fe716ed2cc30afc2decc8db005e09d","size":15}],"cause":null,"data_class":"internal","hash":"055a34682e3fdde57cd00a632137424505fc80d10399109bb8500056aec7bf09","idem_key":null,"kind":"external.file","payload":{"name":"lease.txt"},"payload_hash":"61272010b399cb22da6c4dea5ed887641dc75e049b572e3c2e4e938933660169","prev_hash":"44411fb8c2cf754ac6371078b8c7384a4eb74cabbe272ea13107ca5959fe82ee","proof":{"kind":"none"},"seq":3,"stream":"files","stream_seq":1,"taint":"unclassified","version":1}
    "#);
    let summary = work.run(&["ledger", "summary"]).good();
    insta::assert_snapshot!(summary.text(), @r#"
    3 rows in 2 streams, 2025-12-10T10:00:00Z to 2025-12-10T10:00:00Z
    1 blob named; 0 decisions signed, 0 self-asserted
             1  external.file
             2  external.note
    "#);
    let summary = work.run(&["ledger", "summary", "--json"]).good().json();
    let kinds = json!({"external.file": 1, "external.note": 2});
    let expected = json!({
        "rows": 3, "streams": 2, "blobs": 1, "signed": 0, "self_asserted": 0,
        "first_at": "2025-12-10T10:00:00Z", "last_at": "2025-12-10T10:00:00Z", "kinds": kinds,
    });
    assert_eq!(summary, expected);
    let verified = work.run(&["ledger", "verify"]).good();
    insta::assert_snapshot!(verified.text(), @r#"
    3 rows, 1361 bytes: sound; no anchor was given, so rows cut off at the end or a chain written anew can't be seen
    "#);
    let verified = work.run(&["ledger", "verify", "--json"]).good().json();
    assert_eq!(
        (&verified["sound"], &verified["rows"], &verified["anchors"]),
        (&json!(true), &json!(3), &json!(0))
    );
    assert_eq!(verified["findings"], json!([]));
    assert_eq!(work.run(&["ledger", "tail", "--no-follow"]).good().bytes, rows.bytes);
    assert_eq!(work.run(&["ledger", "tail", "--count", "3"]).good().bytes, rows.bytes);
    assert_eq!(work.run(&["ledger", "tail", "--after", "0", "--count", "0"]).good().text(), "");
    let digest = rows.lines()[2]["blobs"][0]["digest"].as_str().unwrap().to_owned();
    assert_eq!(work.run(&["ledger", "blob", &digest]).good().bytes, b"a scanned lease");
}

#[test]
fn rows_are_selected() {
    let work = Work::new();
    work.append(&(1..=6).map(|n| row(if n % 2 == 0 { "even" } else { "odd" }, n)).collect::<String>());
    let other = json!({"stream": "even", "kind": "external.other", "payload": 7});
    work.append(&other.to_string());
    let check = |args: &[&str], expected: &[u64]| {
        let args = [&["ledger"], args].concat();
        let found: Vec<u64> =
            work.run(&args).good().lines().iter().map(|row| row["payload"].as_u64().unwrap()).collect();
        assert_eq!(found, expected, "{args:?}");
    };
    check(&["rows"], &[1, 2, 3, 4, 5, 6, 7]);
    check(&["rows", "--stream", "even"], &[2, 4, 6, 7]);
    check(&["rows", "--kind", "external.other"], &[7]);
    check(&["rows", "--stream", "none"], &[]);
    check(&["rows", "--after", "2", "--up-to", "5"], &[3, 4, 5]);
    check(&["rows", "--stream", "odd", "--after", "1", "--limit", "1"], &[3]);
    check(&["rows", "--limit", "0"], &[]);
    check(&["rows", "--after", "18446744073709551615"], &[]);
    check(
        &["rows", "--up-to", "18446744073709551615", "--limit", "18446744073709551615", "--after", "6"],
        &[7],
    );
    check(&["tail", "--no-follow", "-n", "2"], &[6, 7]);
    check(&["tail", "--no-follow", "-n", "18446744073709551615"], &[1, 2, 3, 4, 5, 6, 7]);
    check(&["tail", "--no-follow", "--after", "0", "--stream", "even", "--kind", "external.other"], &[7]);
    check(&["tail", "--after", "0", "--stream", "even", "--count", "3"], &[2, 4, 6]);
    check(&["tail", "--no-follow", "--after", "18446744073709551615"], &[]);
    work.run(&["ledger", "rows", "--stream", "even", "--kind", "external.other"])
        .refused_silently(2, "usage.invalid");
}

#[test]
fn a_request_is_appended_once() {
    let work = Work::new();
    let request = json!({"stream": "s", "kind": "external.a", "payload": 1, "idem_key": "k-1"});
    let first = work.append(&request.to_string()).remove(0);
    assert_eq!(first["repeated"], false);
    let again = work.append(&request.to_string()).remove(0);
    let mut expected = first.clone();
    expected["repeated"] = json!(true);
    assert_eq!(again, expected);
    let text = work.feed(&["ledger", "append", "-"], request.to_string()).good();
    assert!(text.text().ends_with("  (appended before)\n"));
    let mut other = request.clone();
    other["payload"] = json!(2);
    let refusal =
        work.feed(&["ledger", "append", "-"], other.to_string()).refused_silently(1, "ledger.idem_mismatch");
    assert_eq!(refusal.details["line"], 1);
    assert_eq!(work.run(&["ledger", "rows"]).good().lines().len(), 1);
}

#[test]
fn a_stream_that_moved_on_is_a_conflict() {
    let work = Work::new();
    let request = |expected: u64| {
        json!({"stream": "s", "kind": "external.a", "payload": 1, "expected": expected}).to_string()
    };
    work.append(&request(0));
    let refusal = work.feed(&["ledger", "append", "-"], request(0)).refused_silently(1, "ledger.conflict");
    assert_eq!(refusal.details, json!({"stream": "s", "expected": 0, "found": 1, "line": 1, "appended": 0}));
    work.feed(&["ledger", "append", "-"], request(5)).refused_silently(1, "ledger.conflict");
    work.append(&request(1));
    // What stood before the conflict was acknowledged and stays.
    let done = work.feed(&["ledger", "append", "-", "--json"], [request(2), request(2)].join("\n"));
    assert_eq!(done.lines().len(), 1);
    let refusal = done.refused(1, "ledger.conflict");
    assert_eq!((&refusal.details["line"], &refusal.details["appended"]), (&json!(2), &json!(1)));
    assert_eq!(work.run(&["ledger", "rows"]).good().lines().len(), 3);
}

#[test]
fn lines_before_a_bad_one_stay_and_the_place_is_named() {
    let work = Work::new();
    let input = row("s", 1) + "\n" + &row("s", 2) + "{\"stream\":NaN}\n" + &row("s", 3);
    let done = work.feed(&["ledger", "append", "-", "--json"], &input);
    assert_eq!(done.lines().len(), 2);
    let refusal = done.refused(2, "json.not_finite");
    let offset = input.find("NaN").unwrap();
    assert_eq!(refusal.details, json!({"line": 4, "column": 11, "offset": offset, "appended": 2}));
    assert_eq!(
        refusal.message,
        format!("line 4, column 11 (byte {offset}): NaN and infinities are not JSON")
    );
    assert_eq!(work.run(&["ledger", "rows"]).good().lines().len(), 2);
}

#[test]
fn together_or_not_at_all() {
    let work = Work::new();
    let atomic = ["ledger", "append", "-", "--atomic", "--json"];
    work.feed(&atomic, row("a", 1) + &row("b", 2) + "{\"x\":1}").refused_silently(2, "row.invalid");
    assert!(!work.path(DATA).exists());
    let stamps = work.feed(&atomic, row("a", 1) + &row("b", 2)).good().lines();
    assert_eq!(stamps.len(), 2);
    let expecting = |payload: u64, expected: u64| {
        json!({"stream": "a", "kind": "external.a", "payload": payload, "expected": expected}).to_string()
            + "\n"
    };
    work.feed(&atomic, row("b", 3) + &expecting(4, 0)).refused_silently(1, "ledger.conflict");
    work.feed(&atomic, expecting(3, 1) + &expecting(4, 2)).refused_silently(2, "field.conflict");
    work.feed(&atomic, expecting(3, 1) + &expecting(4, 1)).good();
    let keyed = |payload: u64, key: &str| {
        json!({"stream": "k", "kind": "external.a", "payload": payload, "idem_key": key}).to_string() + "\n"
    };
    work.feed(&atomic, keyed(5, "one") + &keyed(6, "two")).refused_silently(2, "field.conflict");
    let first = work.feed(&atomic, keyed(5, "one") + &row("k", 6)).good().lines();
    let again = work.feed(&atomic, keyed(5, "one") + &row("k", 6)).good().lines();
    assert_eq!(first[1]["hash"], again[1]["hash"]);
    assert_eq!((&first[1]["repeated"], &again[1]["repeated"]), (&json!(false), &json!(true)));
    let cause =
        |cause: u64| json!({"stream": "a", "kind": "external.a", "payload": 7, "cause": cause}).to_string();
    work.feed(&atomic, cause(99)).refused_silently(1, "ledger.batch");
    work.feed(&atomic, cause(6)).good();
    assert_eq!(work.run(&["ledger", "rows"]).good().lines().len(), 7);
    work.feed(&atomic, row("many", 0).repeat(50_001)).refused_silently(1, "ledger.batch");
    assert_eq!(work.run(&["ledger", "rows"]).good().lines().len(), 7);
    assert_eq!(work.feed(&atomic, row("many", 0).repeat(50_000)).good().lines().len(), 50_000);
    work.run(&["ledger", "verify"]).good();
}

#[test]
fn the_products_own_kinds_are_reserved() {
    let work = Work::new();
    for kind in
        ["hold.placed", "hold.released", "blob.erased", "external", "externally", "note", "tool.denied"]
    {
        let text = json!({"stream": "ledger", "kind": kind, "payload": {"hold_id": "x"}}).to_string();
        work.feed(&["ledger", "append", "-"], &text).refused_silently(2, "row.kind_reserved");
    }
    assert!(!work.path(DATA).exists());
}

#[test]
fn export_and_import_round_trip() {
    let work = Work::new();
    work.write("lease.txt", b"a scanned lease");
    work.append(&(row("notes", 1) + &row("notes", json!({"number": 1.5, "text": "é\u{2028}"}))));
    work.write(
        "row",
        json!({"stream": "f", "kind": "external.file", "payload": null, "idem_key": "k"}).to_string(),
    );
    work.run(&["ledger", "append", "row", "--blob", "lease.txt"]).good();
    let rows = work.run(&["ledger", "rows", "--stream", "f"]).good().json();
    let digest = rows["blobs"][0]["digest"].as_str().unwrap();
    work.run(&["ledger", "hold", "place", "case", "--reason", "r", "--digest", digest, "--as", "ana"]).good();
    let exported = work.run(&["ledger", "export", "archive", "--json"]).good().json();
    assert_eq!((&exported["matter"], &exported["rows"]), (&json!("default"), &json!(4)));
    let files: Vec<String> =
        contents(&work.path("archive")).iter().map(|(name, _)| name.display().to_string()).collect();
    assert_eq!(files.len(), 3);
    assert_eq!((files[1].as_str(), files[2].as_str()), ("manifest.json", "rows.jsonl"));
    let imported = work.run(&["ledger", "import", "archive", "--data", "restored", "--json"]).good().json();
    assert_eq!(imported, exported);
    work.run(&["ledger", "export", "again", "--data", "restored"]).good();
    assert_eq!(contents(&work.path("archive")), contents(&work.path("again")));
    let rows = |data: &str| work.run(&["ledger", "rows", "--data", data]).good().bytes;
    assert_eq!(rows("restored"), rows(DATA));
    work.run(&["ledger", "verify", "--data", "restored"]).good();
    // The restored ledger goes on, and remembers requests.
    let again = work.run(&["ledger", "append", "row", "--blob", "lease.txt", "--data", "restored"]).good();
    assert!(again.text().ends_with("(appended before)\n"), "{}", again.text());
    work.run(&["ledger", "import", "archive", "--data", "restored"]).refused_silently(1, "ledger.not_empty");
    work.run(&["ledger", "import", "archive", "--matter", "other", "--data", "r2"])
        .refused_silently(1, "ledger.foreign");
    assert!(!work.path("r2").exists());
}

#[test]
fn an_export_overwrites_nothing() {
    let work = Work::new();
    work.append(&row("s", 1));
    work.write("file", b"mine");
    std::fs::create_dir(work.path("directory")).unwrap();
    std::os::unix::fs::symlink("nowhere", work.path("dangling")).unwrap();
    for target in ["file", "directory", "dangling", ".", "..", DATA] {
        work.run(&["ledger", "export", target]).refused_silently(1, "archive.exists");
    }
    assert_eq!(std::fs::read(work.path("file")).unwrap(), b"mine");
    work.run(&["ledger", "export", "no/such/parent"]).refused(1, "output.failed");
    work.run(&["ledger", "export", "a", "--matter", "none"]).refused_silently(1, "ledger.missing");
    assert!(!work.path("a").exists());
    let left: Vec<_> =
        std::fs::read_dir(work.path(".")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 4, "{left:?}");
}

/// Changes one file of an archive.
fn edit(archive: &Path, file: &str, change: impl FnOnce(String) -> String) {
    let place = archive.join(file);
    let text = std::fs::read_to_string(&place).unwrap();
    let changed = change(text.clone());
    assert_ne!(text, changed);
    std::fs::write(place, changed).unwrap();
}

#[test]
fn a_broken_archive_leaves_nothing() {
    let work = Work::new();
    work.write("lease.txt", b"a scanned lease");
    work.append(&(row("notes", 1) + &row("notes", 2)));
    work.write("row", row("notes", "with a blob"));
    work.run(&["ledger", "append", "row", "--blob", "lease.txt"]).good();
    let blob = format!("blobs/{}", {
        let digest = work.run(&["ledger", "rows", "--after", "2"]).good().json()["blobs"][0]["digest"]
            .as_str()
            .unwrap()
            .to_owned();
        format!("{}/{digest}", &digest[..2])
    });
    type Break<'a> = (&'a str, i32, &'a str, Box<dyn Fn(&Path) + 'a>);
    let breaks: Vec<Break<'_>> = vec![
        (
            "payload",
            1,
            "chain.changed",
            Box::new(|dir| edit(dir, "rows.jsonl", |text| text.replace("\"payload\":2", "\"payload\":3"))),
        ),
        (
            "actor",
            1,
            "chain.changed",
            Box::new(|dir| edit(dir, "rows.jsonl", |text| text.replacen("\"local\"", "\"other\"", 1))),
        ),
        (
            "last line",
            2,
            "archive.invalid",
            Box::new(|dir| {
                edit(dir, "rows.jsonl", |text| text.lines().take(2).map(|line| format!("{line}\n")).collect())
            }),
        ),
        (
            "half a line",
            2,
            "archive.invalid",
            Box::new(|dir| edit(dir, "rows.jsonl", |text| text[..text.len() - 40].to_owned())),
        ),
        ("no rows", 2, "archive.invalid", Box::new(|dir| edit(dir, "rows.jsonl", |_| String::new()))),
        (
            "an extra line",
            2,
            "archive.invalid",
            Box::new(|dir| {
                edit(dir, "rows.jsonl", |text| text.clone() + text.lines().last().unwrap() + "\n")
            }),
        ),
        (
            "spaces",
            2,
            "archive.invalid",
            Box::new(|dir| edit(dir, "rows.jsonl", |text| text.replacen(":", ": ", 1))),
        ),
        (
            "manifest",
            2,
            "archive.invalid",
            Box::new(|dir| std::fs::remove_file(dir.join("manifest.json")).unwrap()),
        ),
        ("rows", 2, "archive.invalid", Box::new(|dir| std::fs::remove_file(dir.join("rows.jsonl")).unwrap())),
        (
            "a stranger",
            2,
            "archive.invalid",
            Box::new(|dir| std::fs::write(dir.join("notes.txt"), "x").unwrap()),
        ),
        (
            "a count",
            2,
            "archive.invalid",
            Box::new(|dir| edit(dir, "manifest.json", |text| text.replace("\"rows\":3", "\"rows\":2"))),
        ),
        (
            "its version",
            2,
            "archive.invalid",
            Box::new(|dir| edit(dir, "manifest.json", |text| text.replace("\"version\":1", "\"version\":9"))),
        ),
        ("a blob changed", 1, "blob.changed", Box::new(|dir| edit(dir, &blob, |_| "a forged lease".into()))),
        (
            "a blob gone",
            2,
            "archive.invalid",
            Box::new(|dir| std::fs::remove_dir_all(dir.join("blobs")).unwrap()),
        ),
        (
            "a link",
            2,
            "archive.invalid",
            Box::new(|dir| {
                std::fs::remove_file(dir.join("rows.jsonl")).unwrap();
                std::os::unix::fs::symlink("/etc/passwd", dir.join("rows.jsonl")).unwrap();
            }),
        ),
    ];
    for (at, (what, exit, code, change)) in breaks.iter().enumerate() {
        let archive = format!("archive-{at}");
        work.run(&["ledger", "export", &archive]).good();
        change(&work.path(&archive));
        let done = work.run(&["ledger", "import", &archive, "--data", "restored"]);
        assert_eq!(
            (done.exit, done.err.contains(&format!("\"{code}\""))),
            (Some(*exit), true),
            "{what}: {}",
            done.err
        );
        done.refused_silently(*exit, code);
        assert!(!work.path("restored").exists(), "{what}: {:?}", binary::files(&work.path("restored")));
    }
}

#[test]
fn one_seed_gives_one_ledger() {
    let make = || {
        let work = Work::new();
        work.write("lease.txt", b"a scanned lease");
        work.write("row", row("files", 3));
        let fixed = |args: &[&str]| work.run(&[args, &FIXED].concat()).good();
        work.append(&(row("a", 1) + &row("b", 2)));
        fixed(&["ledger", "append", "row", "--blob", "lease.txt"]);
        fixed(&["ledger", "hold", "place", "case", "--reason", "r", "--as", "ana"]);
        fixed(&["ledger", "hold", "release", "case", "--reason", "over", "--as", "ana"]);
        fixed(&[
            "ledger",
            "erase",
            &countersign_record::digest::Digest::of(b"a scanned lease").to_string(),
            "--reason",
            "r",
        ]);
        fixed(&["ledger", "export", "archive"]);
        contents(&work.path("archive"))
    };
    let first = make();
    assert_eq!(first, make());
    let rows = first.iter().find(|(name, _)| name == Path::new("rows.jsonl")).unwrap();
    // A ledger that was written must read the same for ever: if this changes, old ledgers no longer verify.
    assert_eq!(
        countersign_record::digest::Digest::of(&rows.1).to_string(),
        "f04db857ea3d4d0efcd62562dcfaaaa1e220a51e64ee320a2c677baf5d5130bf"
    );
}

#[test]
fn matters_are_apart() {
    let work = Work::new();
    for matter in ["a", "b"] {
        let text = json!({"stream": "s", "kind": "external.a", "payload": format!("of {matter}"), "blobs": [{"text": format!("blob {matter}")}]});
        work.feed(&["ledger", "append", "-", "--matter", matter], text.to_string()).good();
    }
    let rows = |matter: &str| work.run(&["ledger", "rows", "--matter", matter]).good().lines();
    assert_eq!((rows("a").len(), rows("b").len()), (1, 1));
    assert_eq!((&rows("a")[0]["payload"], &rows("b")[0]["payload"]), (&json!("of a"), &json!("of b")));
    let digest = rows("a")[0]["blobs"][0]["digest"].as_str().unwrap().to_owned();
    work.run(&["ledger", "blob", &digest, "--matter", "a"]).good();
    work.run(&["ledger", "blob", &digest, "--matter", "b"]).refused_silently(1, "blob.unknown");
    work.run(&["ledger", "erase", &digest, "--reason", "r", "--matter", "b"])
        .refused_silently(1, "blob.unknown");
    work.run(&["ledger", "rows", "--matter", "c"]).refused_silently(1, "ledger.missing");
    work.run(&["ledger", "rows"]).refused_silently(1, "ledger.missing");
    let long = "x".repeat(65);
    for bad in ["..", ".", "A", "", "a/b", "a/../b", "-a", "a b", "a\n", "é", long.as_str()] {
        let arg = format!("--matter={bad}");
        work.run(&["ledger", "rows", &arg]).refused_silently(2, "id.invalid");
        work.feed(&["ledger", "append", "-", &arg], row("s", 1)).refused_silently(2, "id.invalid");
    }
    let names: Vec<_> = std::fs::read_dir(work.path(DATA).join("matters"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn a_ledger_may_stand_elsewhere() {
    let work = Work::new();
    work.feed(&["ledger", "append", "-", "--store", "sqlite:elsewhere"], row("s", 1)).good();
    assert!(work.path("elsewhere/matters/default/ledger.sqlite").exists());
    assert!(!work.path(DATA).exists());
    assert_eq!(work.run(&["ledger", "rows", "--store", "sqlite:elsewhere"]).good().lines().len(), 1);
    work.run(&["ledger", "rows"]).refused_silently(1, "ledger.missing");
}

#[test]
fn options_come_from_the_environment_too() {
    let work = Work::new();
    work.feed(&["ledger", "append", "-", "--matter", "m"], row("s", 1)).good();
    let mut command = work.command(BINARY, &["ledger", "summary", "--json"]);
    let output = command.env("COUNTERSIGN_MATTER", "m").output().unwrap();
    assert_eq!(binary::Done::new(&[], output).good().json()["rows"], 1);
    let output =
        work.command(BINARY, &["ledger", "summary"]).env("COUNTERSIGN_MATTER", "..").output().unwrap();
    binary::Done::new(&[], output).refused_silently(2, "id.invalid");
}

#[test]
fn reading_what_is_not_there_makes_nothing() {
    let work = Work::new();
    for args in [
        &["rows"][..],
        &["tail"],
        &["summary"],
        &["verify"],
        &["anchor"],
        &["export", "x"],
        &["blob", &"0".repeat(64)],
        &["hold", "list"],
        &["hold", "release", "x", "--reason", "r"],
    ] {
        work.run(&[&["ledger"], args].concat()).refused_silently(1, "ledger.missing");
    }
    work.run(&["principal", "list"]).good();
    assert!(!work.path(DATA).exists());
}

#[test]
fn the_tail_of_a_stream_is_its_own() {
    let work = Work::new();
    let rows: Vec<String> = (1..=9).map(|number| row(if number < 4 { "a" } else { "b" }, number)).collect();
    work.feed(&["ledger", "append", "-"], rows.join("\n")).good();
    let tail = |args: &[&str]| {
        let shown = work.run(&[&["ledger", "tail", "--no-follow"], args].concat()).good().lines();
        shown.iter().map(|row| row["seq"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(tail(&["-n", "2", "--stream", "a"]), [2, 3]);
    assert_eq!(tail(&["-n", "2"]), [8, 9]);
    assert_eq!(tail(&["-n", "99", "--stream", "a"]), [1, 2, 3]);
    assert_eq!(tail(&["-n", "0", "--stream", "a"]), [0_u64; 0]);
    assert_eq!(tail(&["-n", "2", "--stream", "c"]), [0_u64; 0]);
}
