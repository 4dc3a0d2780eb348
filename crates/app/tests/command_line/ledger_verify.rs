//! `ledger verify` against somebody who can write the file.

use crate::binary::{DATA, Work};
use rusqlite::Connection;
use serde_json::{Value, json};

const ROWS: u64 = 6;

/// A ledger of six rows, one with a blob, one signed, one with an idempotency key.
fn ledger() -> Work {
    let work = Work::new();
    work.run(&["principal", "add", "ana"]).good();
    let row = |members: Value| {
        let mut row = json!({"stream": "s", "kind": "external.a", "payload": {"amount": "100"}});
        row.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        row.to_string()
    };
    let rows = [
        row(json!({})),
        row(json!({"blobs": [{"text": "a lease of a few words"}]})),
        row(json!({"idem_key": "k"})),
        row(json!({"stream": "t"})),
    ];
    work.feed(&["ledger", "append", "-"], rows.join("\n")).good();
    work.run(&["ledger", "hold", "place", "h", "--reason", "r", "--as", "ana"]).good();
    work.feed(&["ledger", "append", "-"], row(json!({}))).good();
    work
}

fn tamper(work: &Work, sql: &str) {
    let connection = Connection::open(work.database("default")).unwrap();
    connection.execute_batch(sql).unwrap();
    connection.close().unwrap();
}

/// The findings of `verify`, which must not be sound, as `code seq`.
fn findings(work: &Work, args: &[&str]) -> Vec<String> {
    let done = work.run(&[&["ledger", "verify", "--json"], args].concat()).exits(1);
    let report = done.json();
    assert_eq!(report["sound"], false);
    let text = work.run(&[&["ledger", "verify"], args].concat()).exits(1);
    assert!(text.text().contains(": NOT sound; "), "{}", text.text());
    let findings = report["findings"].as_array().unwrap();
    for finding in findings {
        let line =
            format!("{}: {}\n", finding["code"].as_str().unwrap(), finding["message"].as_str().unwrap());
        assert!(text.text().contains(&line), "{} lacks {line}", text.text());
    }
    findings.iter().map(|one| format!("{} {}", one["code"].as_str().unwrap(), one["seq"])).collect()
}

#[test]
fn every_change_is_found_and_named() {
    let check = |sql: &str, expected: &[&str]| {
        let work = ledger();
        tamper(&work, sql);
        assert_eq!(findings(&work, &[]), expected, "{sql}");
        // What does not verify is not carried on under a new name.
        let done = work.run(&["ledger", "export", "archive"]);
        assert_eq!(done.exit, Some(1), "{sql}: {}", done.err);
        assert!(!work.path("archive").exists(), "{sql}");
    };
    check(
        "UPDATE rows SET payload = CAST('{\"amount\":\"900\"}' AS BLOB) WHERE seq = 3",
        &["chain.changed 3"],
    );
    check("UPDATE rows SET at = '2020-01-01T00:00:00Z' WHERE seq = 1", &["chain.changed 1"]);
    check("UPDATE rows SET actor = 'ben' WHERE seq = 4", &["chain.changed 4"]);
    check("UPDATE rows SET idem_key = NULL WHERE seq = 3", &["chain.changed 3", "chain.changed 3"]);
    check("DELETE FROM rows WHERE seq = 4", &["chain.removed 4"]);
    check("DELETE FROM rows WHERE seq IN (1, 2)", &["chain.removed 1"]);
    // The request of row 3 is remembered for a row that is gone.
    check("DELETE FROM rows WHERE seq = 3", &["chain.removed 3", "chain.changed 3"]);
    check("DELETE FROM rows WHERE seq = 6", &["chain.truncated 6"]);
    check("UPDATE blobs SET bytes = CAST('a lease of other words' AS BLOB)", &["blob.changed 2"]);
    check("DELETE FROM blobs", &["blob.missing 2"]);
    check("UPDATE blobs SET bytes = NULL", &["blob.missing 2"]);
    check(
        "UPDATE rows SET hash = zeroblob(32) WHERE seq = 6; UPDATE head SET hash = zeroblob(32)",
        &["chain.changed 6"],
    );
}

#[test]
fn places_that_were_exchanged() {
    let work = ledger();
    tamper(
        &work,
        "UPDATE rows SET seq = -1, stream_seq = -1 WHERE seq = 1;
         UPDATE rows SET seq = 1, stream_seq = 1 WHERE seq = 2;
         UPDATE rows SET seq = 2, stream_seq = 2 WHERE seq = -1;",
    );
    let found = findings(&work, &[]);
    assert!(found.iter().all(|one| one.starts_with("chain.")) && !found.is_empty(), "{found:?}");
    assert!(found.iter().any(|one| one.ends_with(" 1") || one.ends_with(" 2")), "{found:?}");
}

fn anchor(work: &Work, file: &str) -> Value {
    let done = work.run(&["ledger", "anchor"]).good();
    work.write(file, &done.bytes);
    done.json()
}

#[test]
fn what_was_cut_off_shows_against_an_anchor() {
    let work = ledger();
    let kept = anchor(&work, "anchor.json");
    assert_eq!(
        (&kept["anchor"], &kept["matter"], &kept["seq"]),
        (&json!(1), &json!("default"), &json!(ROWS))
    );
    let sound = work.run(&["ledger", "verify", "--anchor", "anchor.json"]).good();
    assert!(sound.text().contains("sound; checked against 1 anchor"), "{}", sound.text());
    // The ledger may grow.
    work.append("{\"stream\":\"s\",\"kind\":\"external.a\",\"payload\":7}");
    work.run(&["ledger", "verify", "--anchor", "anchor.json"]).good();
    anchor(&work, "later.json");
    let both = ["--anchor", "anchor.json", "--anchor", "later.json"];
    work.run(&[&["ledger", "verify"], &both[..]].concat()).good();
    // Cut off so that the ledger itself does not know.
    tamper(
        &work,
        "DELETE FROM rows WHERE seq > 5; DELETE FROM idem WHERE first_seq > 5; UPDATE head SET seq = 5, hash = (SELECT hash FROM rows WHERE seq = 5)",
    );
    work.run(&["ledger", "verify"]).good();
    assert_eq!(findings(&work, &["--anchor", "anchor.json"]), ["chain.truncated 6"]);
    let found = findings(&work, &both);
    assert!(found.contains(&"chain.truncated 6".to_owned()), "{found:?}");
}

#[test]
fn a_ledger_written_anew_shows_against_an_anchor() {
    let work = ledger();
    anchor(&work, "anchor.json");
    let rows = work.run(&["ledger", "rows"]).good().lines();
    let place = work.path(DATA).join("matters");
    std::fs::remove_dir_all(place).unwrap();
    let forged: Vec<String> = rows
        .iter()
        .map(|_| json!({"stream": "forged", "kind": "external.a", "payload": "forged"}).to_string())
        .collect();
    work.feed(&["ledger", "append", "-"], forged.join("\n")).good();
    work.run(&["ledger", "verify"]).good();
    assert_eq!(findings(&work, &["--anchor", "anchor.json"]), [format!("chain.rewritten {ROWS}")]);
}

#[test]
fn an_anchor_of_a_strangers_key() {
    let work = ledger();
    let kept = anchor(&work, "anchor.json");
    let key = kept["key"].as_str().unwrap();
    // The same ledger under another data directory: the anchor is good, but nobody there knows its key.
    work.run(&["ledger", "export", "archive"]).good();
    work.run(&["ledger", "import", "archive", "--data", "restored"]).good();
    let verify = ["ledger", "verify", "--data", "restored", "--anchor", "anchor.json"];
    let refusal = work.run(&verify).refused_silently(1, "anchor.untrusted");
    assert_eq!(refusal.details["key"], key);
    work.run(&["ledger", "anchor", "--data", "restored"]).good();
    work.run(&verify).refused_silently(1, "anchor.untrusted");
    work.run(&[&verify[..], &["--trusted-key", key]].concat()).good();
    work.run(&[&verify[..], &["--trusted-key", &key.to_uppercase()]].concat())
        .refused_silently(2, "field.invalid");
}

#[test]
fn an_anchor_that_was_changed() {
    let work = ledger();
    let kept = anchor(&work, "anchor.json");
    let verify = ["ledger", "verify", "--anchor", "changed.json"];
    let check = |name: &str, value: Value, exit: i32, code: &str| {
        let mut changed = kept.clone();
        changed[name] = value;
        work.write("changed.json", changed.to_string());
        work.run(&verify).refused_silently(exit, code);
    };
    check("seq", json!(3), 1, "anchor.forged");
    check("hash", json!("0".repeat(64)), 1, "anchor.forged");
    check("at", json!("2030-01-01T00:00:00Z"), 1, "anchor.forged");
    check("matter", json!("other"), 1, "anchor.forged");
    check("signature", json!("0".repeat(128)), 1, "anchor.forged");
    check("signature", json!(""), 2, "anchor.invalid");
    check("anchor", json!(2), 2, "anchor.invalid");
    check("note", json!("x"), 2, "anchor.invalid");
    let other = work.run(&["ledger", "anchor", "--data", "elsewhere"]);
    other.refused_silently(1, "ledger.missing");
    work.feed(
        &["ledger", "append", "-", "--matter", "other"],
        "{\"stream\":\"s\",\"kind\":\"external.a\",\"payload\":7}",
    )
    .good();
    let foreign = work.run(&["ledger", "anchor", "--matter", "other"]).good();
    work.write("changed.json", &foreign.bytes);
    work.run(&verify).refused_silently(1, "ledger.foreign");
}

#[test]
fn files_that_are_no_ledger() {
    let check = |what: &str, code: &str, change: &dyn Fn(&Work)| {
        let work = ledger();
        change(&work);
        let before = std::fs::read(work.database("default")).unwrap();
        for args in [&["rows"][..], &["verify"], &["summary"], &["tail", "--no-follow"], &["anchor"]] {
            work.run(&[&["ledger"], args].concat()).refused_silently(1, code);
        }
        let row = "{\"stream\":\"s\",\"kind\":\"external.a\",\"payload\":7}";
        work.feed(&["ledger", "append", "-"], row).refused_silently(1, code);
        assert_eq!(std::fs::read(work.database("default")).unwrap(), before, "{what}: the file was touched");
        let doctor = work.run(&["doctor", "--json"]).exits(1).json();
        assert_eq!(doctor["ok"], false, "{what}");
    };
    let write = |work: &Work, bytes: &[u8]| std::fs::write(work.database("default"), bytes).unwrap();
    check("empty", "ledger.corrupt", &|work| write(work, b""));
    check("text", "ledger.corrupt", &|work| write(work, &b"this is no database".repeat(50)));
    check("cut", "ledger.corrupt", &|work| {
        let bytes = std::fs::read(work.database("default")).unwrap();
        write(work, &bytes[..bytes.len() / 2]);
    });
    check("another application", "ledger.corrupt", &|work| tamper(work, "PRAGMA application_id = 7"));
    check("a newer format", "ledger.too_new", &|work| tamper(work, "PRAGMA user_version = 2"));
}

#[test]
fn whoever_reads_the_ledger_can_check_it_without_the_keys() {
    let work = Work::new();
    work.append("{\"stream\":\"s\",\"kind\":\"external.a\",\"payload\":1}");
    work.run(&["principal", "add", "ana"]).good();
    work.run(&["ledger", "hold", "place", "h", "--reason", "r", "--as", "ana"]).good();
    work.write(&format!("{DATA}/keys/principals/ana.key"), b"garbage");
    assert_eq!(work.run(&["ledger", "verify", "--json"]).good().json()["notes"], json!([]));
    work.write(&format!("{DATA}/keys/principals/ana.pub"), b"garbage");
    let verdict = work.run(&["ledger", "verify", "--json"]).good().json();
    assert!(verdict["notes"][0].as_str().unwrap().starts_with("signers could not be judged"), "{verdict}");
}

#[test]
fn what_is_no_damage_is_still_told() {
    let work = Work::new();
    work.write("row.jsonl", b"{\"stream\":\"s\",\"kind\":\"external.a\",\"payload\":1}");
    for now in ["2030-01-01T00:00:00Z", "2020-01-01T00:00:00Z", "2020-01-01T02:00:00+01:00"] {
        work.run(&["ledger", "append", "row.jsonl", "--now", now]).good();
    }
    work.run(&["ledger", "hold", "place", "h", "--reason", "r", "--as", "ana"]).good();
    work.run(&["principal", "add", "ana"]).good();
    let verdict = work.run(&["ledger", "verify", "--json"]).good().json();
    assert_eq!(verdict["backwards"], json!({"rows": 1, "first": 2}));
    let notes = [
        "1 decision of ana self-asserted, though a key is known",
        "time goes back in 1 row, first at row 2: within a stream, or by more than an hour",
    ];
    assert_eq!(verdict["notes"], json!(notes));
}

/// A view's state is kept beside the chain, so the chain can't show that it was changed.
#[test]
fn a_forged_state_of_a_view_is_found() {
    let work = Work::new();
    let row = "{\"stream\":\"s\",\"kind\":\"external.a\",\"payload\":1}\n";
    work.feed(&["ledger", "append", "-"], row.repeat(1_200)).good();
    work.run(&["ledger", "summary"]).good();
    work.run(&["ledger", "verify"]).good();
    tamper(&work, "UPDATE snapshots SET bytes = cast(replace(bytes, '1200', '1300') as blob)");
    assert_eq!(work.run(&["ledger", "summary", "--json"]).good().json()["rows"], json!(1_300));
    assert_eq!(findings(&work, &[]), ["ledger.state 1200"]);
}
