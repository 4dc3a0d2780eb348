//! Blobs, holds, erasure and principals: what is kept, and who said so.

use crate::binary::{self, DATA, Work};
use countersign_record::digest::Digest;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

/// Bytes that stand nowhere else, long enough to need pages of their own.
fn secret() -> Vec<u8> {
    b"the name of the data subject is Ottilie; ".repeat(500)
}

/// A ledger with one row that names the secret.
fn with_secret(work: &Work) -> String {
    work.write("secret", secret());
    work.write(
        "row",
        json!({"stream": "s", "kind": "external.file", "payload": {"name": "secret"}}).to_string(),
    );
    work.run(&["ledger", "append", "row", "--blob", "secret"]).good();
    Digest::of(&secret()).to_string()
}

#[test]
fn a_blob_is_erased_with_a_receipt() {
    let work = Work::new();
    let digest = with_secret(&work);
    work.append(
        &json!({"stream": "s", "kind": "external.a", "payload": 1, "blobs": [{"text": "another"}]})
            .to_string(),
    );
    assert_eq!(work.run(&["ledger", "blob", &digest]).good().bytes, secret());
    assert!(work.holds(DATA, b"Ottilie"));
    let done = work.run(&["ledger", "erase", &digest, "--reason", "request of the data subject"]).good();
    assert_eq!(done.text(), "row 3: blob.erased (self-asserted)\n");
    assert!(!work.holds(DATA, b"Ottilie"), "the bytes are in a file");
    let refusal = work.run(&["ledger", "blob", &digest]).refused_silently(1, "blob.erased");
    assert!(refusal.message.contains('3'), "{}", refusal.message);
    work.run(&["ledger", "erase", &digest, "--reason", "again"]).refused_silently(1, "blob.erased");
    work.run(&["ledger", "erase", &"0".repeat(64), "--reason", "r"]).refused_silently(1, "blob.unknown");
    let rows = work.run(&["ledger", "rows"]).good().lines();
    assert_eq!(rows[0]["blobs"][0]["digest"], digest);
    assert_eq!(rows[2]["payload"], json!({"digest": digest, "reason": "request of the data subject"}));
    assert_eq!(rows[2]["proof"], json!({"kind": "self_asserted"}));
    work.run(&["ledger", "verify"]).good();
    let other = Digest::of(b"another").to_string();
    assert_eq!(work.run(&["ledger", "blob", &other]).good().bytes, b"another");
    // Nor does an export bring them back, and the receipt survives the way.
    work.run(&["ledger", "export", "archive"]).good();
    assert!(!work.holds("archive", b"Ottilie"));
    work.run(&["ledger", "import", "archive", "--data", "restored"]).good();
    work.run(&["ledger", "blob", &digest, "--data", "restored"]).refused_silently(1, "blob.erased");
    work.run(&["ledger", "verify", "--data", "restored"]).good();
}

#[test]
fn a_blob_is_told_as_json() {
    let work = Work::new();
    let check = |bytes: &[u8], encoding: &str, data: &str| {
        work.write("blob", bytes);
        work.write("row", json!({"stream": "s", "kind": "external.file", "payload": 1}).to_string());
        work.run(&["ledger", "append", "row", "--blob", "blob"]).good();
        let digest = Digest::of(bytes).to_string();
        let told = work.run(&["ledger", "blob", &digest, "--json"]).good().json();
        let expected = json!({"digest": digest, "size": bytes.len(), "encoding": encoding, "data": data});
        assert_eq!(told, expected);
        assert_eq!(work.run(&["ledger", "blob", &digest]).good().bytes, bytes);
    };
    check("Miete: 900 €\n\u{0}\"".as_bytes(), "utf-8", "Miete: 900 €\n\u{0}\"");
    check(b"", "utf-8", "");
    check(b"%PDF\xff", "base64", "JVBERv8=");
    let unknown = "0".repeat(64);
    work.run(&["ledger", "blob", &unknown, "--json"]).refused_silently(1, "blob.unknown");
}

#[test]
fn a_hold_keeps_what_it_covers() {
    let work = Work::new();
    let digest = with_secret(&work);
    assert_eq!(work.run(&["ledger", "hold", "list"]).good().text(), "No hold is in force.\n");
    assert_eq!(work.run(&["ledger", "hold", "list", "--json"]).good().json(), json!([]));
    let place = work.run(&["ledger", "hold", "place", "case-17", "--reason", "litigation", "--json"]).good();
    assert_eq!(place.json(), json!({"seq": 2, "kind": "hold.placed", "proof": "self-asserted"}));
    work.run(&["ledger", "hold", "place", "one", "--reason", "r", "--digest", &digest]).good();
    work.run(&["ledger", "hold", "place", "case-17", "--reason", "r"]).refused_silently(1, "hold.exists");
    let listed = json!([
        {"hold_id": "case-17", "digest": null, "reason": "litigation"},
        {"hold_id": "one", "digest": digest, "reason": "r"},
    ]);
    assert_eq!(work.run(&["ledger", "hold", "list", "--json"]).good().json(), listed);
    let text = format!("case-17  every blob  litigation\none  {digest}  r\n");
    assert_eq!(work.run(&["ledger", "hold", "list"]).good().text(), text);
    let erase = ["ledger", "erase", digest.as_str(), "--reason", "r"];
    let refusal = work.run(&erase).refused_silently(1, "blob.held");
    assert!(refusal.message.contains("case-17"), "{}", refusal.message);
    work.run(&["ledger", "hold", "release", "nothing", "--reason", "r"]).refused_silently(1, "hold.unknown");
    work.run(&["ledger", "hold", "release", "case-17", "--reason", "closed"]).good();
    work.run(&["ledger", "hold", "release", "case-17", "--reason", "closed"])
        .refused_silently(1, "hold.unknown");
    work.run(&erase).refused_silently(1, "blob.held");
    assert_eq!(work.run(&["ledger", "blob", &digest]).good().bytes, secret());
    work.run(&["ledger", "hold", "release", "one", "--reason", "closed"]).good();
    work.run(&erase).good();
    assert!(!work.holds(DATA, b"Ottilie"), "the bytes are in a file");
    for reason in ["", " \t"] {
        work.run(&["ledger", "hold", "place", "x", "--reason", reason]).refused_silently(2, "field.invalid");
        work.run(&["ledger", "erase", &digest, "--reason", reason]).refused_silently(2, "field.invalid");
    }
    // A name may come back after it was released, and a reason forges no line.
    work.run(&["ledger", "hold", "place", "case-17", "--reason", "a\nb\u{1b}[2J"]).good();
    let list = work.run(&["ledger", "hold", "list"]).good();
    assert_eq!(list.text(), "case-17  every blob  a\\nb\\u{1b}[2J\n");
    work.run(&["ledger", "verify"]).good();
}

#[test]
fn a_hold_survives_the_archive() {
    let work = Work::new();
    let digest = with_secret(&work);
    work.run(&["ledger", "hold", "place", "h", "--reason", "r"]).good();
    work.run(&["ledger", "export", "archive"]).good();
    work.run(&["ledger", "import", "archive", "--data", "restored"]).good();
    work.run(&["ledger", "erase", &digest, "--reason", "r", "--data", "restored"])
        .refused_silently(1, "blob.held");
}

#[test]
fn a_blob_goes_with_one_row() {
    let work = Work::new();
    work.write("file", b"bytes");
    let rows = "{\"stream\":\"s\",\"kind\":\"external.a\",\"payload\":1}\n".repeat(2);
    let done = work.feed(&["ledger", "append", "-", "--blob", "file", "--atomic"], &rows);
    done.refused_silently(2, "usage.invalid");
    work.feed(&["ledger", "append", "-", "--blob", "file"], "").refused_silently(2, "json.empty");
    assert!(!work.path(DATA).exists());
    let args = ["ledger", "append", "-", "--blob", "file", "--blob", "file"];
    work.feed(&args, rows.lines().next().unwrap()).good();
    work.run(&["ledger", "verify"]).good();
}

#[test]
fn decisions_are_signed_where_there_is_a_key() {
    let work = Work::new();
    work.append("{\"stream\":\"s\",\"kind\":\"external.a\",\"payload\":1}");
    let ana = work.run(&["principal", "add", "ana", "--json"]).good().json();
    assert_eq!((&ana["name"], &ana["own"]), (&json!("ana"), &json!(true)));
    let place = |name: &str, who: &str| {
        work.run(&["ledger", "hold", "place", name, "--reason", "r", "--as", who, "--json"]).good().json()["proof"].clone()
    };
    assert_eq!(place("one", "ana"), "signed");
    assert_eq!(place("two", "ben"), "self-asserted");
    let rows = work.run(&["ledger", "rows", "--stream", "ledger"]).good().lines();
    assert_eq!(
        (&rows[0]["actor"], &rows[0]["proof"]["kind"], &rows[0]["proof"]["key"]),
        (&json!("ana"), &json!("signed"), &ana["key"])
    );
    assert_eq!(rows[0]["proof"]["signature"].as_str().unwrap().len(), 128);
    assert_eq!((&rows[1]["actor"], &rows[1]["proof"]), (&json!("ben"), &json!({"kind": "self_asserted"})));
    // A plain row is no decision, whoever appends it.
    let text = json!({"stream": "s", "kind": "external.a", "payload": 1}).to_string();
    work.feed(&["ledger", "append", "-", "--as", "ana"], text).good();
    let row = work.run(&["ledger", "rows", "--after", "3"]).good().json();
    assert_eq!((&row["actor"], &row["proof"]), (&json!("ana"), &json!({"kind": "none"})));
    let summary = work.run(&["ledger", "summary", "--json"]).good().json();
    assert_eq!((&summary["signed"], &summary["self_asserted"]), (&json!(1), &json!(1)));
    let report = work.run(&["ledger", "verify", "--json"]).good().json();
    assert_eq!(report["strangers"], json!([]));
    assert_eq!(report["signers"], json!([{"actor": "ana", "key": ana["key"], "rows": 1}]));
    // Without her key she is a stranger; with another one, somebody contradicts the ledger.
    std::fs::rename(work.path("data/keys"), work.path("kept")).unwrap();
    let report = work.run(&["ledger", "verify", "--json"]).good().json();
    assert_eq!((&report["sound"], &report["strangers"][0]["contradicts"]), (&json!(true), &json!(false)));
    work.run(&["principal", "add", "ana"]).good();
    let report = work.run(&["ledger", "verify", "--json"]).exits(1).json();
    assert_eq!((&report["sound"], &report["strangers"][0]["contradicts"]), (&json!(false), &json!(true)));
    let text = work.run(&["ledger", "verify"]).exits(1);
    assert!(text.text().contains("ana is known with another key"), "{}", text.text());
}

#[test]
fn principals_have_one_key_each() {
    let work = Work::new();
    let none = work.run(&["principal", "list"]).good();
    assert_eq!(none.text(), "No principals yet: countersign principal add NAME makes one.\n");
    assert_eq!(work.run(&["principal", "list", "--json"]).good().json(), json!([]));
    let added = work.run(&["principal", "add", "ana"]).good();
    let before = binary::contents(&work.path(DATA));
    work.run(&["principal", "add", "ana"]).refused_silently(1, "principal.exists");
    let elsewhere = work.run(&["principal", "add", "ben", "--data", "other", "--json"]).good().json();
    let key = elsewhere["key"].as_str().unwrap();
    work.run(&["principal", "trust", "ana", key]).refused_silently(1, "principal.exists");
    assert_eq!(binary::contents(&work.path(DATA)), before);
    let trusted = work.run(&["principal", "trust", "ben", key]).good();
    assert_eq!(trusted.text(), format!("ben  {key}  trusted\n"));
    work.run(&["principal", "trust", "ben", key]).refused_silently(1, "principal.exists");
    work.run(&["principal", "add", "ben"]).refused_silently(1, "principal.exists");
    let list = work.run(&["principal", "list"]).good();
    assert_eq!(list.text(), format!("{}{}", added.text(), trusted.text()));
    let list = work.run(&["principal", "list", "--json"]).good().json();
    assert_eq!(
        (&list[1]["name"], &list[1]["key"], &list[1]["own"]),
        (&json!("ben"), &json!(key), &json!(false))
    );
    // Trusting a key is not having it.
    work.append("{\"stream\":\"s\",\"kind\":\"external.a\",\"payload\":1}");
    let place = ["ledger", "hold", "place", "h", "--reason", "r", "--as", "ben"];
    work.run(&place).refused_silently(1, "principal.key");
}

#[test]
fn private_keys_are_private() {
    let work = Work::new();
    work.run(&["principal", "add", "ana"]).good();
    work.append(&json!({"stream": "s", "kind": "external.a", "payload": 1}).to_string());
    work.run(&["ledger", "anchor"]).good();
    let mode = |name: &str| std::fs::metadata(work.path(name)).unwrap().permissions().mode() & 0o777;
    for key in ["data/keys/principals/ana.key", "data/keys/node.key"] {
        assert_eq!(mode(key), 0o600, "{key}");
    }
    for dir in ["data/keys", "data/keys/principals"] {
        assert_eq!(mode(dir) & 0o077, 0, "{dir}");
    }
    for key in ["data/keys/principals/ana.key", "data/keys/node.key"] {
        let private = std::fs::read_to_string(work.path(key)).unwrap();
        for args in [&["principal", "list", "--json"][..], &["ledger", "anchor"], &["doctor", "--json"]] {
            let done = work.run(args);
            assert!(!done.text().contains(private.trim_end()) && !done.err.contains(private.trim_end()));
        }
    }
    std::fs::set_permissions(work.path("data/keys/principals/ana.key"), PermissionsExt::from_mode(0o644))
        .unwrap();
    let hold = ["ledger", "hold", "place", "h", "--reason", "r", "--as", "ana"];
    let refusal = work.run(&hold).refused_silently(1, "principal.key");
    assert!(refusal.message.contains("644"), "{}", refusal.message);
    work.run(&["principal", "list"]).refused_silently(1, "principal.key");
    std::fs::set_permissions(work.path("data/keys/principals/ana.key"), PermissionsExt::from_mode(0o600))
        .unwrap();
    work.run(&hold).good();
    work.write("data/keys/principals/ana.key", "not a key\n");
    work.run(&["ledger", "hold", "release", "h", "--reason", "r", "--as", "ana"])
        .refused_silently(1, "principal.key");
}

#[test]
fn a_hold_on_nothing_is_refused() {
    let work = Work::new();
    let place = ["ledger", "hold", "place", "h", "--reason", "r"];
    work.run(&place).refused_silently(1, "ledger.missing");
    work.run(&["ledger", "hold", "list"]).refused_silently(1, "ledger.missing");
    work.append("{\"stream\":\"s\",\"kind\":\"external.a\",\"payload\":1}");
    let digest = "1".repeat(64);
    work.run(&[&place[..], &["--digest", &digest]].concat()).refused_silently(1, "blob.unknown");
    work.run(&["ledger", "hold", "list", "--matter", "defualt"]).refused_silently(1, "ledger.missing");
    work.run(&place).good();
}
