//! `countersign models`: setting models up, and that no key is ever shown or kept.

use crate::binary::{BINARY, DATA, Done, Work};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

fn names(work: &Work) -> Vec<String> {
    let list = work.run(&["models", "list", "--json"]).json();
    list.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_embedded_model_is_always_there() {
    let work = Work::new();
    assert_eq!(names(&work), ["extractive"]);
    let line = work.run(&["models", "list"]).good();
    assert_eq!(line.text(), "extractive  extractive  built in, quotes its sources\n");
    let shown = work.run(&["models", "show", "extractive", "--json"]).good().json();
    assert_eq!((&shown["ready"], &shown["built_in"]), (&json!(true), &json!(true)));
    work.run(&["models", "remove", "extractive"]).refused_silently(1, "model.config");
    let add = ["models", "add", "extractive", "--provider", "scripted", "--file", "x", "--replace"];
    work.run(&add).refused_silently(1, "model.config");
    assert!(!work.path(DATA).exists());
}

#[test]
fn models_come_and_go() {
    let work = Work::new();
    let add = ["models", "add", "gpt", "--provider", "openai", "--model", "m 1", "--key-env", "THE_KEY"];
    let added = work.run(&add).good();
    assert_eq!(added.text(), "gpt  openai  m 1  https://api.openai.com/v1  key in $THE_KEY\n");
    let path = work.path(DATA).join("models/gpt.json");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    work.run(&add).refused_silently(1, "model.config");
    let more =
        ["--replace", "--base-url", "http://localhost:1/v1/", "--max-tokens", "9", "--input-price", "3"];
    let more = [&add[..], &more[..], &["--output-price", "5", "--first-ms", "7", "--json"]].concat();
    let settings = &work.run(&more).good().json()["settings"];
    assert_eq!(settings["base_url"], "http://localhost:1/v1");
    assert_eq!(settings["prices"], json!({ "input": 3, "cached": 3, "output": 5 }));
    assert_eq!((&settings["max_tokens"], &settings["timeouts"]["first_ms"]), (&json!(9), &json!(7)));
    let file: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(&file, settings);
    work.run(&["models", "add", "claude", "--provider", "anthropic", "--model", "m"]).good();
    assert_eq!(names(&work), ["claude", "extractive", "gpt"]);
    assert_eq!(work.run(&["models", "remove", "gpt"]).good().text(), "removed gpt\n");
    work.run(&["models", "remove", "gpt"]).refused_silently(2, "model.unknown");
    work.run(&["models", "show", "gpt"]).refused_silently(2, "model.unknown");
    assert_eq!(
        work.run(&["models", "remove", "claude", "--json"]).good().json(),
        json!({ "removed": "claude" })
    );
    assert_eq!(names(&work), ["extractive"]);
}

#[test]
fn what_is_wrong_is_refused() {
    let work = Work::new();
    let check = |args: &[&str], code: &str| {
        work.run(&[&["models", "add", "m", "--provider"], args].concat()).refused_silently(2, code);
    };
    check(&["openai"], "field.missing");
    check(&["openai", "--model", "m", "--base-url", "ftp://x"], "field.invalid");
    check(&["openai", "--model", "m", "--base-url", "https://a:b@x.example"], "field.invalid");
    check(&["openai", "--model", "m", "--base-url", "http://x.example", "--key-env", "A"], "field.conflict");
    check(&["openai", "--model", "m", "--key-env", "sk-canary"], "field.invalid");
    check(&["openai", "--model", "m", "--max-tokens", "0"], "field.invalid");
    check(&["openai", "--model", "m", "--max-tokens", "18446744073709551615"], "field.wrong_type");
    check(&["openai", "--model", "m", "--tool-role", "system"], "field.invalid");
    check(&["openai", "--model", "m", "--input-price", "1"], "usage.invalid");
    check(&["openai", "--model", "m", "--key-env", "A", "--key-file", "b"], "usage.invalid");
    check(&["scripted"], "field.missing");
    check(&["scripted", "--file", "x", "--model", "m"], "usage.invalid");
    check(&["scripted", "--key-env", "A"], "field.missing");
    check(&["closedai"], "usage.invalid");
    work.run(&["models", "add", "../m", "--provider", "scripted", "--file", "x"])
        .refused_silently(2, "id.invalid");
    work.run(&["models", "show", "../m"]).refused_silently(2, "id.invalid");
    assert!(!work.path(DATA).exists(), "nothing was made");
}

#[test]
fn a_model_says_whether_it_could_be_asked() {
    let work = Work::new();
    work.run(&["models", "add", "script", "--provider", "scripted", "--file", "s.jsonl"]).good();
    let ready = |exit: i32, args: &[&str]| -> Value {
        let done = work.run(&[&["models", "show"], args, &["--json"]].concat()).exits(exit).json();
        done["trouble"].clone()
    };
    assert!(ready(1, &["script"]).as_str().unwrap().contains("s.jsonl"));
    work.write("s.jsonl", "\"hello\"\n");
    assert_eq!(ready(0, &["script"]), Value::Null);
    let text = work.run(&["models", "show", "script"]).good();
    assert!(
        text.text().contains("provider          scripted\n") && text.text().ends_with("yes\n"),
        "{}",
        text.text()
    );

    work.write("key", "sk-canary-1\n");
    let file = ["models", "add", "f", "--provider", "anthropic", "--model", "m", "--key-file", "key"];
    work.run(&file).good();
    std::fs::set_permissions(work.path("key"), std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(ready(1, &["f"]).as_str().unwrap().contains("mode 644"));
    std::fs::set_permissions(work.path("key"), std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(ready(0, &["f"]), Value::Null);

    work.run(&["models", "add", "v", "--provider", "openai", "--model", "m", "--key-env", "CANARY_KEY"])
        .good();
    assert!(ready(1, &["v"]).as_str().unwrap().contains("CANARY_KEY"));
    for args in [["models", "show", "v"], ["models", "list", "--json"], ["models", "show", "f"]] {
        let output = work.command(BINARY, &args).env("CANARY_KEY", "sk-canary-2").output().unwrap();
        let done = Done::new(&args, output).good();
        assert!(!done.text().contains("sk-canary"), "{}", done.text());
    }
    assert!(!work.holds(DATA, b"sk-canary"));
}

#[test]
fn broken_settings_hide_no_others() {
    let work = Work::new();
    work.run(&["models", "add", "good", "--provider", "openai", "--model", "m"]).good();
    let path = work.path(DATA).join("models/bad.json");
    std::fs::write(&path, "{\"provider\":\"openai\",\"api_key\":\"sk-canary\"}").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let list = work.run(&["models", "list"]).exits(1);
    assert_eq!(list.text().lines().count(), 3, "{}", list.text());
    assert!(!list.text().contains("canary") && list.text().contains("bad  can't be used"), "{}", list.text());
    let refusal = work.run(&["models", "show", "bad"]).refused_silently(1, "model.config");
    assert!(!refusal.message.contains("canary"), "{}", refusal.message);
    assert!(refusal.details["errors"].as_array().unwrap().len() >= 2, "{}", refusal.details);
}

#[test]
fn a_list_marks_what_could_not_be_asked() {
    let work = Work::new();
    work.write("key", "sk-canary-3\n");
    std::fs::set_permissions(work.path("key"), std::fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink("key", work.path("link")).unwrap();
    let add = |name: &str, args: &[&str]| {
        work.run(&[&["models", "add", name, "--provider"], args].concat()).good();
    };
    add("linked", &["anthropic", "--model", "m", "--key-file", "link"]);
    add("tape", &["recorded", "--file", "tape.jsonl"]);
    add("unset", &["openai", "--model", "m", "--key-env", "CANARY_KEY"]);
    add("well", &["openai", "--model", "m", "--key-file", "key"]);
    let weights = work.path("data/models/here.json");
    let sha256 = "0".repeat(64);
    let settings = json!({ "provider": "local", "file": work.path("gone.gguf"), "sha256": sha256 });
    std::fs::write(&weights, settings.to_string()).unwrap();
    std::fs::set_permissions(&weights, std::fs::Permissions::from_mode(0o600)).unwrap();
    let list = work.run(&["models", "list", "--json"]).exits(1).json();
    let marked: Vec<(&str, bool, bool)> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (one["name"].as_str().unwrap(), one["ready"].as_bool().unwrap(), one["trouble"].is_string())
        })
        .collect();
    let expected = [
        ("extractive", true, false),
        ("here", false, true),
        ("linked", false, true),
        ("tape", false, true),
        ("unset", false, true),
        ("well", true, false),
    ];
    assert_eq!(marked, expected);
    for one in list.as_array().unwrap() {
        let name = one["name"].as_str().unwrap();
        let shown = work.run(&["models", "show", name, "--json"]).json();
        assert_eq!(&shown, one, "show says the same");
    }
    let text = work.run(&["models", "list"]).exits(1);
    let lines: Vec<&str> = text.text().lines().collect();
    for (line, (name, is_ready, _)) in lines.iter().zip(expected) {
        assert!(line.starts_with(name) && line.contains("  can't be asked: ") != is_ready, "{line}");
    }
    assert!(lines[4].contains("key in $CANARY_KEY  can't be asked: the environment variable CANARY_KEY"));
    assert!(!text.text().contains("sk-canary"), "{}", text.text());
    // What is mended is no longer marked.
    work.write("tape.jsonl", "");
    work.run(&["models", "remove", "linked"]).good();
    work.run(&["models", "remove", "here"]).good();
    let mut command = work.command(BINARY, &["models", "list"]);
    let done = Done::new(&[], command.env("CANARY_KEY", "sk-canary-4").output().unwrap()).good();
    assert!(!done.text().contains("can't") && !done.text().contains("sk-canary"), "{}", done.text());
}
