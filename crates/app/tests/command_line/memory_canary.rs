//! Nothing of what memory says leaves a read but in its package: canaries in every corner of stores and snapshots, a
//! whole run of commands, and a search of everything that was kept or told.

use crate::binary::{DATA, Done, FIXED, Running, Work, contents};
use crate::canaries::{Canaries, canary};
use serde_json::{Value, json};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};

/// One store whose every text, tag, reference and broken line holds a canary of its own; only the ids are harmless.
fn store() -> Vec<u8> {
    let escaped: String = canary("escaped").encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    let wide: Vec<u8> = canary("utf16").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let record = |id: &str, text: &str| {
        json!({"memory_id": id, "text": format!("the roof {text}"), "tags": ["roof", canary(&format!("tag {id}"))],
            "refs": [{canary(&format!("name {id}")): canary(&format!("ref {id}")), "n": [1.5, {}]}]})
    };
    let mut noted = record("m4", &canary("noted"));
    noted[canary("extra name")] = json!(canary("extra"));
    let mut no_list = record("m5", &canary("no list"));
    no_list["tags"] = json!(canary("tag that is no list"));
    let mut no_time = record("m6", &canary("no time"));
    no_time["ts_utc"] = json!(canary("time"));
    let twice = canary("twice");
    let mut bytes = Vec::new();
    for line in [
        record("m1", &canary("plain")).to_string().into_bytes(),
        format!("{{\"memory_id\":\"m2\",\"text\":\"{escaped}\"}}\r").into_bytes(),
        record("m3", &format!("{}\u{0}\u{1f600}\"\\\n", canary("ünïcödé 日本"))).to_string().into_bytes(),
        noted.to_string().into_bytes(),
        no_list.to_string().into_bytes(),
        no_time.to_string().into_bytes(),
        format!("{{\"memory_id\":\"m7\",\"text\":\"{}", canary("cut")).into_bytes(),
        [b"{\"memory_id\":\"m8\",\"text\":\"\xff", canary("stray").as_bytes(), b"\"}"].concat(),
        format!("{{\"memory_id\":\"m9\",\"{twice}\":1,\"{twice}\":2,\"text\":\"\"}}").into_bytes(),
        format!(
            "{{\"memory_id\":\"m10\",\"text\":\"{}\",\"refs\":[{{\"n\":9007199254740993}}]}}",
            canary("inexact")
        )
        .into_bytes(),
        [b"\xef\xbb\xbf", canary("mark").as_bytes()].concat(),
        canary("no JSON").into_bytes(),
        wide,
        format!("{{\"{}\":1,\"text\":\"{}\"}}", canary("member"), canary("no id")).into_bytes(),
        record("denied", &canary("denied")).to_string().into_bytes(),
    ] {
        bytes.extend(line);
        bytes.push(b'\n');
    }
    bytes
}

/// The snapshot that denies one record, and those that can't be used.
fn write_snapshots(work: &Work) -> Vec<String> {
    let entry = |entry: Value| json!({"entries": [entry]}).to_string().into_bytes();
    let good = json!({"memory_id": "denied", "classification": "malicious", "why": canary("why")});
    work.write("trust.json", entry(good));
    let word = canary("classified");
    let twice = canary("snapshot twice");
    let bad = [
        canary("snapshot").into_bytes(),
        format!("{{\"entries\":[\"{}", canary("snapshot cut")).into_bytes(),
        [b"{\"entries\":\"\xff", canary("snapshot stray").as_bytes()].concat(),
        format!("{{\"{twice}\":1,\"{twice}\":2}}").into_bytes(),
        format!("{{\"entries\":[]}} {}", canary("snapshot trailing")).into_bytes(),
        json!({"entries": canary("no entries"), canary("snapshot name"): 1}).to_string().into_bytes(),
        entry(json!(canary("no entry"))),
        entry(json!({"memory_id": [canary("no id of it")], "classification": word})),
        entry(json!({"record_hash": canary("no hash"), "classification": word})),
        entry(json!({"memory_id": "m1", "classification": {canary("class"): 1}})),
        entry(json!({canary("unnamed"): "m1", "classification": word})),
    ];
    let name = |at: usize| format!("trust-{at}.json");
    for (at, bytes) in bad.iter().enumerate() {
        work.write(&name(at), bytes);
    }
    std::fs::create_dir(work.path("dir")).unwrap();
    (0..bad.len()).map(name).chain(["dir".into(), "nowhere.json".into()]).collect()
}

fn asked() -> Value {
    json!({"query": "roof repair", "store_paths": ["./notes.jsonl"], "budget": {"max_excerpt_tokens": 4000},
        "trust_filter": {"trust_snapshot_path": "trust.json"}})
}

/// Runs `memory read`, once for each way of asking for it.
fn reads(work: &Work, input: &[u8]) -> Vec<Done> {
    let ways: [&[&str]; 4] = [&[], &["--json"], &["--receipt"], &["--receipt", "--json"]];
    ways.iter().map(|way| work.feed(&[&["memory", "read", "-"], *way, &FIXED[..]].concat(), input)).collect()
}

/// Every way in which a read can fail, but for a store that is changed meanwhile.
fn failures(work: &Work, snapshots: &[String]) -> Vec<Done> {
    let mut changes: Vec<(&str, Value)> = vec![
        ("/query", json!(" ")),
        ("/store_paths", json!([])),
        ("/store_paths", json!(["notes.jsonl", "nowhere.jsonl"])),
        ("/store_paths", json!(["dir", "notes.jsonl"])),
        ("/budget/max_excerpt_tokens", json!(0)),
        ("/budget", json!({"max_excerpt_tokens": 1, "max": 1})),
        ("/trust_filter", json!({"deny": []})),
    ];
    changes.extend(snapshots.iter().map(|path| ("/trust_filter/trust_snapshot_path", json!(path))));
    let mut done = Vec::new();
    for (place, value) in changes {
        let mut asked = asked();
        *asked.pointer_mut(place).unwrap() = value;
        done.extend(reads(work, asked.to_string().as_bytes()));
    }
    // A store, a line of one and a snapshot, given where the input should be.
    for line in store().split(|byte| *byte == b'\n') {
        done.extend(reads(work, line));
    }
    for file in ["notes.jsonl", "dir", "nowhere.json", "trust.json", "trust-3.json"] {
        done.push(work.run(&["memory", "read", file, "--receipt"]));
    }
    let good = asked().to_string();
    done.push(work.feed(&["memory", "read", "-", "--receipt", "--matter", "No Matter"], &good));
    done.push(work.feed(&["memory", "read", "-", "--receipt", "--store", "what:ever"], &good));
    // The ledger can't take the receipt: the data directory is a file.
    done.push(work.feed(&["memory", "read", "-", "--receipt", "--data", "notes.jsonl"], &good));
    for one in &done {
        assert!(matches!(one.exit, Some(1 | 2)) && one.text().is_empty(), "{}: {}", one.args, one.err);
    }
    done
}

/// The texts of a record that changes.
const TURNING: [&str; 2] = ["turned", "turned back"];

/// A read that saw a store change: the writer turns one record into another and back until that happens.
fn changed(work: &Work) -> Done {
    let line = |name: &str| json!({"memory_id": "m1", "text": canary(name)}).to_string();
    let [one, other] = TURNING.map(line);
    assert_eq!(one.len(), other.len());
    work.write("turning.jsonl", &one);
    let asked =
        json!({"query": "roof", "store_paths": ["turning.jsonl"], "budget": {"max_excerpt_tokens": 99}});
    let file = std::fs::OpenOptions::new().write(true).open(work.path("turning.jsonl")).unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                file.write_all_at(other.as_bytes(), 0).unwrap();
                file.write_all_at(one.as_bytes(), 0).unwrap();
            }
        });
        let attempt = |_| work.feed(&["memory", "read", "-", "--receipt"], asked.to_string());
        let found = (0..10_000).map(attempt).find(|done| done.err.contains("memory.store_changed"));
        is_done.store(true, Ordering::Relaxed);
        found.expect("a change is noticed")
    })
}

fn receipts(work: &Work) -> Vec<Value> {
    let rows = work.run(&["ledger", "rows", "--kind", "memory.read"]);
    if rows.exit == Some(1) {
        rows.refused_silently(1, "ledger.missing");
        return Vec::new();
    }
    rows.good().lines()
}

#[test]
fn nothing_that_memory_says_is_kept_or_told() {
    let work = Work::new();
    work.write("notes.jsonl", store());
    let snapshots = write_snapshots(&work);
    for place in TURNING {
        canary(place);
    }
    let canaries = Canaries::all();
    assert!(canaries.found_in(&store()).is_some(), "a search that finds nothing says nothing");

    // Failures leave no trace, before there is a ledger and after.
    let failed = failures(&work, &snapshots);
    assert!(!work.path(DATA).exists(), "a read that failed made a data directory");
    let packages = reads(&work, asked().to_string().as_bytes());
    let expected = packages[0].json();
    assert_eq!(expected["selection"]["selected"].as_array().unwrap().len(), 5);
    for package in &packages {
        assert_eq!((package.exit, package.err.as_str()), (Some(0), ""));
        assert_eq!(package.json(), expected, "the package is the same, recorded or not");
        assert!(canaries.found_in(&package.bytes).is_some());
    }
    let follower = Running::start(&work, &["ledger", "tail", "--after", "0"]);
    let failed_again = failures(&work, &snapshots);
    let rows = receipts(&work);
    assert_eq!(rows.len(), 2, "one row for each read with a receipt, and none for a failure");
    for row in &rows {
        let receipt = json!({
            "query_hash": expected["query"]["query_hash"],
            "store_paths": ["notes.jsonl"],
            "selected_count": 5,
            "package_hash": expected["package_hash"],
        });
        assert_eq!(
            (&row["payload"], &row["blobs"], &row["stream"]),
            (&receipt, &json!([]), &json!("memory"))
        );
    }

    // While somebody follows, the log is there; after a kill, it stays.
    work.feed(&["memory", "read", "-", "--receipt"], asked().to_string()).good();
    let kept = |when: &str| {
        for (file, bytes) in contents(&work.path(DATA)) {
            assert_eq!(canaries.found_in(&bytes), None, "{when}: {}", file.display());
        }
    };
    assert!(contents(&work.path(DATA)).iter().any(|(file, _)| file.to_string_lossy().ends_with("-wal")));
    kept("while it is followed");
    follower.kill();
    kept("after a kill");

    let mut told = [failed, failed_again, vec![changed(&work)]].concat();
    let package_hash = expected["package_hash"].as_str().unwrap();
    for (command, exit) in [
        (&["ledger", "rows"][..], 0),
        (&["ledger", "tail", "--no-follow"], 0),
        (&["ledger", "summary"], 0),
        (&["ledger", "verify"], 0),
        (&["ledger", "anchor"], 0),
        (&["ledger", "blob", package_hash], 1),
        (&["ledger", "hold", "list"], 0),
        (&["explain", "memory.trust_snapshot"], 0),
    ] {
        for form in [&[][..], &["--json"]] {
            let done = work.run(&[command, form].concat());
            assert_eq!(done.exit, Some(exit), "{}: {}", done.args, done.err);
            told.push(done);
        }
    }
    told.push(work.run(&["ledger", "export", "archive"]).good());
    told.push(work.run(&["ledger", "import", "archive", "--data", "restored"]).good());
    for done in &told {
        assert_eq!(canaries.found_in(done.err.as_bytes()), None, "{}: {}", done.args, done.err);
        assert_eq!(canaries.found_in(&done.bytes), None, "{}: {}", done.args, done.text());
    }
    kept("at the end");
    for dir in ["archive", "restored"] {
        for (file, bytes) in contents(&work.path(dir)) {
            assert_eq!(canaries.found_in(&bytes), None, "{dir}/{}", file.display());
        }
    }
}

/// What a conversation says stands in its log, in the turns that a recall shows word for word, and nowhere else.
#[test]
fn nothing_that_was_said_is_kept_beside_the_log_or_told() {
    let work = Work::new();
    let mut told = Vec::new();
    let mut say = |input: Vec<u8>, more: &[&str], exit: &[i32]| {
        let done = work.feed(&[&["memory", "append", "-"], more, &FIXED[..]].concat(), input);
        assert!(done.exit.is_some_and(|found| exit.contains(&found)), "{}: {}", done.args, done.err);
        told.push(done);
    };
    for place in ["said first", "said 日本", "said last"] {
        say(format!("the roof {}", canary(place)).into_bytes(), &["--role", "user"], &[0]);
    }
    // Ways in which a turn is refused; the names of members that it should not have are told, what they hold is not.
    let stamp = canary("timestamp");
    for bad in [
        json!({"role": canary("role"), "text": canary("text of no role")}),
        json!({"role": "user", "text": [canary("no text")]}),
        json!({"role": "user", "text": canary("importance"), "importance": canary("no number")}),
        json!({"role": "user", "text": canary("text of no time"), "timestamp": stamp}),
        json!({"role": "user", "text": "x", "tags": canary("no tags")}),
        json!({"role": "user", "text": "x", "provenance": {"hash": canary("no hash"), "source": canary("source")}}),
        json!([canary("no turn")]),
    ] {
        say(bad.to_string().into_bytes(), &["--json"], &[2]);
    }
    say(canary("no JSON at all").into_bytes(), &[], &[2]);
    say([b"\xff", canary("no UTF-8").as_bytes()].concat(), &["--role", "user"], &[2]);
    // Lines that somebody else put into the log, the last of them torn.
    let log = work.path(DATA).join("matters/default/logs/conversation.jsonl");
    let mut lines = std::fs::read(&log).unwrap();
    let strange =
        format!("{{\"{}\":1,\"role\":\"user\"}}\n{{\"text\":\"{}\"", canary("a name"), canary("torn"));
    lines.extend_from_slice(strange.as_bytes());
    std::fs::write(&log, lines).unwrap();
    let query = canary("query");
    for args in [
        &["memory", "recall", &query, "-k", "0"][..],
        &["memory", "recall", "the roof", "-k", "0", "--json"],
        &["memory", "index"],
        &["memory", "index", "--json"],
        &["memory", "status"],
        &["memory", "status", "--json"],
        &["memory", "snapshot", "show", "data/matters/default/logs/history_store.pkl", "--json"],
        &["memory", "snapshot", "export", "data/matters/default/logs/history_store.pkl", "--to", "out.npz"],
        &["memory", "clear", "--yes", "--json"],
    ] {
        let done = work.run(args);
        assert!(matches!(done.exit, Some(0 | 3)), "{}: {}", done.args, done.err);
        told.push(done);
    }
    let canaries = Canaries::all();
    for done in &told {
        assert_eq!(canaries.found_in(done.err.as_bytes()), None, "{}: {}", done.args, done.err);
        assert_eq!(canaries.found_in(&done.bytes), None, "{}: {}", done.args, done.text());
    }
    let mut holding: Vec<String> = Vec::new();
    for (file, bytes) in contents(&work.path("")) {
        if canaries.found_in(&bytes).is_some() {
            holding.push(file.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    holding.sort();
    // What a crash had torn is put aside when the log is next written, and is not thrown away.
    assert_eq!(holding.first().map(String::as_str), Some("conversation.jsonl"));
    assert!(holding.iter().all(|name| name.starts_with("conversation.jsonl")), "{holding:?}");
}
