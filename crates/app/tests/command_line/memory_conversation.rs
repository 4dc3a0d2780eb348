//! `memory append|recall|index|clear|status`, as a user runs them.
//! Owns: what they print, how they end, that acknowledged means durable. Must not: repeat the rules' own tests.

use crate::binary::{FIXED, Work};
use serde_json::{Value, json};

const LOGS: &str = "data/matters/default/logs";

fn say(work: &Work, text: &str, more: &[&str]) -> Value {
    let args = [&["memory", "append", "-", "--role", "user", "--json"], more, &FIXED[..]].concat();
    work.feed(&args, format!("{text}\n")).good().json()
}

fn talk(work: &Work) {
    say(work, "The lease of the warehouse ends in March.", &["--about", "lease.md", "--tag", "lease"]);
    say(work, "The vehicle acoustics report names three resonances.", &["--importance", "0.9"]);
    say(work, "Lunch on Thursday moved.", &[]);
    say(work, "Who has the key of the archive?", &[]);
}

fn recall(work: &Work, query: &str, more: &[&str]) -> Value {
    let args = [&["memory", "recall", query, "--json"], more, &FIXED[..]].concat();
    work.run(&args).good().json()
}

/// The kept ids, or the dropped ones with their first reason.
fn ids(envelope: &Value, list: &str) -> Vec<String> {
    let one =
        |piece: &Value| format!("{} {}", piece["id"].as_str().unwrap(), piece["reason"][0].as_str().unwrap());
    envelope["payload"]["episodic"][list].as_array().unwrap().iter().map(one).collect()
}

#[test]
fn a_recall_is_an_envelope_that_points_and_never_quotes() {
    let work = Work::new();
    talk(&work);
    let envelope = recall(&work, "when does the warehouse lease end", &["-k", "1"]);
    work.write("recalled.json", envelope.to_string());
    work.run(&["envelope", "validate", "recalled.json", "--kind", "sr2"]).good();
    assert_eq!(envelope["payload"]["recency"][0]["turn"]["text"], "Who has the key of the archive?");
    let kept = &envelope["payload"]["episodic"]["kept"];
    assert_eq!(kept[0]["id"], "0::chunk_0");
    assert_eq!(kept[0]["tags"], json!(["lease"]));
    assert_eq!(envelope["provenance"]["history_refs"][1]["id"], "E:0::chunk_0");
    assert!(!envelope["payload"]["episodic"].to_string().contains("warehouse"), "Layer E gives out no text");
    assert_eq!((&envelope["escalate"], &envelope["reason"]), (&json!(false), &Value::Null));
    // The same again gives the same bytes.
    assert_eq!(envelope, recall(&work, "when does the warehouse lease end", &["-k", "1"]));
}

#[test]
fn every_guardrail_can_be_asked_for() {
    let work = Work::new();
    talk(&work);
    work.write("terms.txt", "NVH = vehicle acoustics\n");
    let aliased = recall(&work, "NVH report", &["-k", "0", "--aliases", "terms.txt", "--items", "1"]);
    let kept = &aliased["payload"]["episodic"]["kept"];
    assert_eq!(kept[0]["reason"][0], "KEPT:alias");
    let off = ids(&recall(&work, "warehouse lease", &["-k", "1", "--off", "lease.md"]), "dropped");
    assert!(off.contains(&"0::chunk_0 DROPPED:OFF".to_owned()), "{off:?}");
    let injected = &["-k", "1", "--off", "lease.md", "--inject", "lease.md"];
    assert_eq!(ids(&recall(&work, "warehouse lease", injected), "kept")[0], "0::chunk_0 KEPT:semantic");
    let locked = recall(&work, "warehouse lease", &["--lock"]);
    assert!(ids(&locked, "dropped").iter().all(|one| one.ends_with("DROPPED:LOCK")));
    let counts = &locked["payload"]["episodic"];
    assert_eq!(
        (&counts["dropped_count"], &counts["dropped_by_reason"]),
        (&json!(4), &json!({"DROPPED:LOCK": 4}))
    );
    let poor = recall(&work, "warehouse lease", &["-k", "0", "--tokens", "0"]);
    assert!(ids(&poor, "dropped").iter().all(|one| one.ends_with("DROPPED:token-budget")));
    let done = work.run(&["memory", "recall", "warehouse lease", "-k", "1"]).good();
    assert!(
        done.text().contains("KEPT:semantic") && done.text().contains("DROPPED:recent"),
        "{}",
        done.text()
    );
}

#[test]
fn a_turn_may_be_a_document() {
    let work = Work::new();
    let draft = json!({"role": "external", "text": "From elsewhere.", "tags": ["reply"], "x-own": 1});
    let args = [&["memory", "append", "-", "--json"], &FIXED[..]].concat();
    let told = work.feed(&args, draft.to_string()).good().json();
    assert_eq!(told["offset"], 0);
    let log = std::fs::read_to_string(work.path(LOGS).join("conversation.jsonl")).unwrap();
    let turn: Value = serde_json::from_str(&log).unwrap();
    assert_eq!(turn["provenance"]["source"], "external");
    assert_eq!(turn["timestamp"], "2025-12-10T10:00:00Z");
    assert_eq!((&turn["goal"], &turn["x-own"]), (&json!("store_recency_turn"), &json!(1)));
    for (bad, code) in [
        (json!({"role": "robot", "text": "x"}), "field.invalid"),
        (json!({"role": "user"}), "field.missing"),
        (json!({"role": "user", "text": "x", "importance": 2}), "field.invalid"),
        (json!([1]), "field.wrong_type"),
    ] {
        work.feed(&args, bad.to_string()).refused(2, code);
    }
    assert_eq!(std::fs::read_to_string(work.path(LOGS).join("conversation.jsonl")).unwrap(), log);
}

#[test]
fn trouble_is_told_with_its_place_and_exit_3() {
    let work = Work::new();
    talk(&work);
    let path = work.path(LOGS).join("conversation.jsonl");
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, [whole.as_slice(), b"{\"canary\":\n"].concat()).unwrap();
    let offset = whole.len();
    let args = [&["memory", "recall", "lease", "--json"], &FIXED[..]].concat();
    let envelope = work.run(&args).exits(3).json();
    assert_eq!(envelope["reason"], format!("validation_fail_line_5_byte_{offset}"));
    assert_eq!(envelope["payload"]["recency"].as_array().unwrap().len(), 4);
    assert!(!envelope.to_string().contains("canary"));
    assert_eq!(work.run(&["memory", "index", "--json"]).exits(3).json()["bad_lines"][0]["line"], 5);
    std::fs::write(work.path(LOGS).join("history_store.pkl"), b"no pickle").unwrap();
    assert_eq!(work.run(&["memory", "status", "--json"]).exits(3).json()["is_previous"], true);
}

#[test]
fn clearing_needs_a_yes_and_is_for_good() {
    let work = Work::new();
    talk(&work);
    work.run(&["memory", "clear"]).refused(2, "usage.invalid");
    work.run(&["memory", "clear", "--yes"]).good();
    work.run(&["memory", "index"]).good();
    let after = recall(&work, "warehouse lease", &["-k", "9"]);
    assert_eq!(after["payload"]["recency"], json!([]));
    assert_eq!((ids(&after, "kept").len(), ids(&after, "dropped").len()), (0, 0));
    let status = work.run(&["memory", "status", "--json"]).good().json();
    assert_eq!((&status["log"]["lines"], &status["index"]["count"]), (&json!(4), &json!(0)));
}

#[test]
fn a_model_can_be_named_and_another_one_makes_the_index_anew() {
    let work = Work::new();
    talk(&work);
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../memory/tests/models/tiny");
    let told = work.run(&["memory", "index", "--model", model, "--json"]).good().json();
    assert_eq!(told["embedded"], 4);
    assert!(told["rebuilt"].as_str().unwrap().contains("hashed"), "{told}");
    work.run(&["memory", "index", "--model", "nowhere"]).refused(2, "embed.model");
    // A turn is added with the same model or not at all; nothing of the index is thrown away for it.
    let log = || std::fs::read(work.path(LOGS).join("conversation.jsonl")).unwrap();
    let before = log();
    let add = ["memory", "append", "-", "--role", "user"];
    work.feed(&add, "One more.").refused(1, "history.model");
    assert_eq!(log(), before);
    work.feed(&[&add[..], &["--no-index"]].concat(), "One more.").good();
    let with_model = [&add[..], &["--model", model]].concat();
    work.feed(&with_model, "And another.").good();
    assert_eq!(work.run(&["memory", "status", "--json"]).good().json()["index"]["count"], 6);
}

#[test]
fn a_cap_stays_until_another_is_given() {
    let work = Work::new();
    let cap =
        || work.run(&["memory", "status", "--json"]).good().json()["index"]["caps"]["vectors_max"].clone();
    talk(&work);
    assert_eq!(cap(), 100_000);
    let told = say(&work, "With a cap.", &["--cap", "3"]);
    assert_eq!(told["evicted"].as_array().unwrap().len(), 2, "{told}");
    say(&work, "Without one.", &[]);
    assert_eq!(cap(), 3);
    work.run(&["memory", "clear", "--yes"]).good();
    say(&work, "After clearing.", &[]);
    assert_eq!(cap(), 3);
    work.run(&["memory", "index", "--cap", "9"]).good();
    assert_eq!(cap(), 9);
    // Cleared before there was an index.
    let fresh = Work::new();
    fresh.run(&["memory", "clear", "--yes"]).good();
    say(&fresh, "Now.", &[]);
    assert_eq!(fresh.run(&["memory", "status", "--json"]).good().json()["index"]["count"], 1);
}

/// How it was made is not known any more: it is not made anew in some other way behind its owner's back.
#[test]
fn an_index_that_nothing_is_known_of_is_left_alone() {
    let work = Work::new();
    talk(&work);
    let names = ["history_index_meta.json", "history_index_meta_previous.json"];
    for name in names {
        std::fs::write(work.path(LOGS).join(name), "x").unwrap();
    }
    let done = work.feed(&["memory", "append", "-", "--role", "user"], "One more.");
    assert_eq!(done.exit, Some(1), "{}", done.err);
    assert!(done.err.contains("history.damaged") && done.err.contains("appended_at"), "{}", done.err);
    assert_eq!(std::fs::read(work.path(LOGS).join(names[0])).unwrap(), b"x");
    assert_eq!(work.run(&["memory", "index", "--json"]).exits(3).json()["count"], 5);
    work.feed(&["memory", "append", "-", "--role", "user"], "And another.").good();
}

#[test]
fn a_directory_that_is_named_is_there() {
    let work = Work::new();
    work.write("file", "");
    for dir in ["nowhere", "file"] {
        for command in [&["index"][..], &["recall", "x"], &["status"], &["clear", "--yes"]] {
            let args = [&["memory"], command, &["--dir", dir]].concat();
            work.run(&args).refused(1, "history.unreadable");
        }
    }
    assert!(!work.path("nowhere").exists());
    work.feed(&["memory", "append", "-", "--role", "user", "--dir", "begun"], "Hello.").good();
    work.run(&["memory", "recall", "hello", "--dir", "begun"]).good();
}

#[test]
fn the_snapshot_of_a_conversation_is_one_that_snapshot_shows() {
    let work = Work::new();
    talk(&work);
    let store = format!("{LOGS}/history_store.pkl");
    let shown = work.run(&["memory", "snapshot", "show", &store, "--json"]).good().json();
    assert_eq!((&shown["count"], &shown["dimension"]), (&json!(4), &json!(384)));
    let meta: Value =
        serde_json::from_slice(&std::fs::read(work.path(LOGS).join("history_index_meta.json")).unwrap())
            .unwrap();
    assert_eq!(meta["sha256"], shown["sha256"]);
    assert_eq!((&meta["generation"], &meta["caps"]["vectors_max"]), (&json!(4), &json!(100_000)));
}
