//! What models replied, played back; models whose weights are taken in.

use crate::binary::{DATA, FIXED, Work};
use std::os::unix::fs::PermissionsExt;

const CALL: &str = r#"{"text":"I look.<<<TOOL_CALLS_JSON>>>[{\"id\":\"t1\",\"tool\":\"fs.read_text\",\"args\":{\"path\":\"a.txt\"}}]<<<END_TOOL_CALLS_JSON>>>"}"#;

fn work() -> Work {
    let work = Work::new();
    std::fs::create_dir(work.path("root")).unwrap();
    work.write("root/a.txt", "The roof leaks.\n");
    work
}

#[test]
fn a_session_is_played_back_by_what_was_asked() {
    let work = work();
    work.write("script.jsonl", format!("{CALL}\n{{\"text\":\"It leaks.\"}}\n"));
    work.run(&["models", "add", "m", "--provider", "scripted", "--file", "script.jsonl"]).good();
    let talk = |model: &str, data: &str, text: &str| {
        let args = ["chat", "--model", model, "--root", "root", "--json", "-m", text, "--data", data];
        work.run(&[&args[..], &FIXED].concat())
    };
    let first = talk("m", DATA, "What about the roof?").good().json();
    let tape = work.run(&["session", "replies", "main"]).good().lines();
    assert_eq!(tape.len(), 2, "{tape:?}");
    let lines: Vec<String> = tape.iter().map(ToString::to_string).collect();
    work.write("tape.jsonl", lines.join("\n"));
    work.run(&["models", "add", "tape", "--provider", "recorded", "--file", "tape.jsonl", "--data", "again"])
        .good();
    let again = talk("tape", "again", "What about the roof?").good().json();
    assert_eq!((&again["text"], &again["calls"]), (&first["text"], &first["calls"]));
    // Another question was never answered, and another file gives another question.
    assert_eq!(talk("tape", "again", "And the rent?").exits(1).json()["error"]["code"], "model.unrecorded");
    work.write("root/a.txt", "The roof is new.\n");
    std::fs::remove_dir_all(work.path("again/matters")).unwrap();
    assert_eq!(
        talk("tape", "again", "What about the roof?").exits(1).json()["error"]["code"],
        "model.unrecorded"
    );
}

#[test]
fn a_damaged_session_is_told_again_from_the_ledger() {
    let work = work();
    work.write(
        "script.jsonl",
        "{\"text\":\"Yes.<<<NOTES_JSON>>>{\\\"set_goals\\\":[\\\"sign\\\"]}<<<END_NOTES_JSON>>>\"}\n",
    );
    work.run(&["models", "add", "m", "--provider", "scripted", "--file", "script.jsonl"]).good();
    for text in ["one", "two"] {
        work.run(&["chat", "--model", "m", "-m", text]).good();
    }
    let before = work.run(&["session", "show", "main", "--json"]).good().json();
    for name in ["main.json", "main~previous.json"] {
        work.write(&format!("data/matters/default/sessions/{name}"), b"{");
    }
    let after = work.run(&["session", "show", "main", "--json"]).good().json();
    assert!(!after["notes"].as_array().unwrap().is_empty(), "{after}");
    for member in ["revision", "turn", "state", "recent_messages"] {
        assert_eq!(after[member], before[member], "{member}");
    }
    let third = work.run(&["chat", "--model", "m", "--json", "-m", "three"]).good().json();
    assert_eq!((third["turn"].as_u64(), third["notes"].as_array().unwrap().len()), (Some(3), 2), "{third}");
}

#[test]
fn a_model_in_a_wheel_is_taken_in() {
    let wheel = std::env::var("COUNTERSIGN_TEST_SMOLLM2").expect("./test sets COUNTERSIGN_TEST_SMOLLM2");
    let work = Work::new();
    let add = ["models", "add", "smol", "--provider", "local", "--file", &wheel];
    work.run(&add).good();
    let file = work.path("data/models/smol.gguf");
    let about = std::fs::metadata(&file).unwrap();
    assert_eq!((about.len(), about.permissions().mode() & 0o777), (98_362_432, 0o600));
    assert_eq!(
        work.run(&["models", "show", "smol", "--json"]).good().json()["settings"]["provider"],
        "local"
    );
    work.run(&add).refused(1, "model.config");
    // What is no model, and what is another one now, are refused.
    work.write("broken.gguf", b"GGUF");
    let broken = ["models", "add", "broken", "--provider", "local", "--file", "broken.gguf"];
    work.run(&broken).refused(1, "model.config");
    assert!(!work.path("data/models/broken.gguf").exists());
    std::fs::write(&file, b"GGUF").unwrap();
    work.run(&["chat", "--model", "smol", "-m", "hi"]).refused(1, "model.config");
}
