//! `countersign chat` in a pipe: what goes where, what each end means, and what is never let through.

use crate::binary::{self, BINARY, DATA, Done, Running, Work};
use crate::talks::{
    self, Answer, Server, asides, call, calling, chat, file, noting, playing, plays, policy, rows, turn,
    write,
};
use serde_json::{Value, json};
use std::io::Read;
use std::net::TcpListener;
use std::process::Stdio;

#[test]
fn the_answer_alone_is_on_standard_output() {
    let work = playing(&[
        calling("I look. ", &[call("t1", "system.time", json!({})), write("t2", "a.txt", "hi")]),
        noting(
            "It is late.",
            json!({ "set_goals": ["rest"], "actions": ["request_permission:net:a.example"] }),
        ),
        "And later.".to_owned(),
    ]);
    let done = work.feed(&chat(&[]), "What time is it?\n\n  \nAnd now?");
    assert_eq!((done.exit, done.text()), (Some(3), "I look. \nIt is late.\nAnd later.\n"));
    let asides = asides(&done);
    assert_eq!(asides.len(), 4, "{asides:#?}");
    assert_eq!(asides[0], "  ▸ system.time  tell the time");
    assert!(asides[1].starts_with("  ✓ system.time  ") && asides[1].ends_with(" ms"), "{asides:#?}");
    assert_eq!(
        asides[2],
        "  ✗ fs.write_text  tool.denied: fs:write is not granted; an operator can grant it"
    );
    assert_eq!(asides[3], "note: the model asks for net:a.example");
    assert_eq!(file(&work, "a.txt"), None);
}

#[test]
fn a_document_for_each_turn() {
    let work = playing(&[
        calling("I look.", &[call("t1", "system.time", json!({})), call("t2", "no.tool", json!({}))]),
        noting("It is [mem:0007] late.", json!({ "actions": ["request_permission:shell"] })),
        "Later.".to_owned(),
    ]);
    let done = work.feed(&chat(&["--json", "--session", "s-1"]), "What time is it?\nAnd now?\n").good();
    let documents = done.lines();
    let [first, second] = documents.as_slice() else { panic!("{}", done.text()) };
    let calls = json!([
        { "tool": "system.time", "summary": "tell the time", "ok": true, "error": null },
        { "tool": "no.tool", "summary": "", "ok": false, "error": first["calls"][1]["error"] },
    ]);
    assert!(first["calls"][1]["error"].as_str().unwrap().starts_with("tool.unknown: "), "{first}");
    let usage = |attempts: u64| json!({ "input_tokens": 0, "cached_tokens": 0, "output_tokens": 0, "cost_micros": null, "attempts": attempts });
    let expected = json!({
        "session": "s-1", "turn": 1, "revision": 1, "outcome": "completed",
        "text": "I look.\nIt is [mem:0007] late.", "calls": calls,
        "notes": ["the answer cites [mem:0007], which was not retrieved", "the model asks for shell"],
        "unknown_citations": ["0007"], "usage": usage(2), "error": null, "trace": "s-1__turn-1",
    });
    assert_eq!(first, &expected);
    let expected = json!({
        "session": "s-1", "turn": 2, "revision": 2, "outcome": "completed", "text": "Later.", "calls": [],
        "notes": [], "unknown_citations": [], "usage": usage(1), "error": null, "trace": "s-1__turn-2",
    });
    assert_eq!(second, &expected);
}

#[test]
fn a_session_goes_on_in_another_process() {
    let work = playing(&[noting("Hello.", json!({ "set_goals": ["greet"] }))]);
    let said = work.run(&chat(&["-m", "Hello?"])).good();
    assert_eq!(said.text(), "Hello.\n");
    assert_eq!(turn(&work, 0, &[])["turn"], 2);
    let shown = work.run(&["session", "show", "main", "--json"]).good().json();
    assert_eq!((&shown["turn"], &shown["state"]["goals"]), (&json!(2), &json!(["greet"])));
    let roles: Vec<&str> = shown["recent_messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant"]);
    assert_eq!(shown["recent_messages"][0]["content"], "Hello?");
}

#[test]
fn a_session_has_one_writer() {
    let work = playing(&["One.", "Two."]);
    let mut first = Running::start(&work, &chat(&[]));
    first.send("Hello?");
    assert_eq!(first.line(), "One.\n");
    for args in [&chat(&["-m", "Me too."])[..], &["session", "undo", "main"]] {
        work.run(args).refused_silently(1, "session.locked");
    }
    // Looking takes nothing from anybody.
    let shown = work.run(&["session", "show", "main", "--json"]).good().json();
    assert_eq!((&shown["revision"], &shown["recent_messages"][1]["content"]), (&json!(1), &json!("One.")));
    let note = shown["notes"][0].as_str().unwrap();
    assert_eq!(note, format!("another process ({}) has the session main", first.id()));
    assert_eq!(work.run(&["session", "list"]).good().text(), "main  revision 1\n");
    // Another session is nobody else's, and people decide while somebody talks.
    work.run(&chat(&["-m", "Hello?", "--session", "other"])).good();
    work.run(&["capability", "grant", "fs:write"]).good();
    first.send("Still there?");
    assert_eq!(first.line(), "Two.\n");
    first.finish().good();
    work.run(&chat(&["-m", "Me too."])).good();
}

#[test]
fn commands_of_the_chat_are_not_said_to_the_model() {
    let work = playing(&[calling("", &[write("t1", "a.txt", "hi")]), "Done.".to_owned()]);
    work.run(&["capability", "grant", "fs:write"]).good();
    let done = work.feed(&chat(&[]), "/help\nWrite.\n/state\n/exit\nNobody hears this.\n");
    assert_eq!(done.exit, Some(0), "{}", done.err);
    let text = done.text();
    for part in ["/undo           take back", "\nDone.\n    revision  1, internal\n     granted  fs:write\n"]
    {
        assert!(text.contains(part), "{part:?}: {text}");
    }
    assert_eq!(rows(&work, "session.turn_begun").len(), 1);
    assert_eq!(file(&work, "a.txt").unwrap(), "hi");
    let done = work.feed(&chat(&["--json"]), "/help\n/state\n/tools\n").good();
    let documents = done.lines();
    assert_eq!(documents.len(), 3, "{}", done.text());
    assert_eq!(documents[1]["revision"], 1);
    // What is piped in may be anybody's: it decides nothing.
    for line in ["/grant net", "/revoke fs:write", "/undo"] {
        let refusal = work.feed(&chat(&[]), format!("{line}\nNobody hears this.\n"));
        refusal.refused_silently(2, "usage.invalid");
    }
    assert_eq!(rows(&work, "session.turn_begun").len(), 1);
    assert_eq!(rows(&work, "capability.granted").len(), 1);
}

#[test]
fn each_end_has_its_exit_code() {
    let work = playing(&["Fine."]);
    let check = |exit: i32, code: &str, args: &[&str]| {
        work.run(&[&["chat", "-m", "x"], args].concat()).refused_silently(exit, code);
    };
    check(2, "id.invalid", &["--session", "../x"]);
    check(2, "id.invalid", &["--session", ""]);
    check(2, "id.invalid", &["--model", "../x"]);
    check(2, "id.invalid", &["--matter", "../x"]);
    check(2, "id.invalid", &["--as", "a b"]);
    check(2, "usage.invalid", &["--class", "secret"]);
    check(2, "model.unknown", &["--model", "nobody"]);
    for nothing in ["", " ", "\n\t"] {
        check(2, "usage.invalid", &["-m", nothing]);
    }
    check(1, "tool.sandbox", &["--root", "nowhere"]);
    check(1, "tool.sandbox", &["--root", "script.jsonl"]);
    check(2, "file.unreadable", &["--policy", "nowhere.toml"]);
    assert!(!work.path(DATA).join("matters/default/sessions").exists(), "no session was begun");
    // The script is at its end: the model fails, and the question is not kept.
    let done = work.feed(&chat(&["--json"]), "One?\nTwo?\nThree?\n");
    assert_eq!((done.exit, done.err.as_str()), (Some(1), ""));
    let outcomes: Vec<Value> = done.lines().iter().map(|one| one["outcome"].clone()).collect();
    assert_eq!(outcomes, ["completed", "failed", "failed"]);
    assert!(done.lines()[1]["error"]["code"].as_str().unwrap().starts_with("model."), "{}", done.text());
    let shown = work.run(&["session", "show", "main", "--json"]).good().json();
    assert_eq!(shown["recent_messages"].as_array().unwrap().len(), 2, "{shown}");
    let failed = work.feed(&chat(&[]), "Fine?\nAnd?\n");
    assert_eq!((failed.exit, failed.text()), (Some(1), "Fine.\n"));
    assert!(failed.err.starts_with("model.") && failed.err.matches('\n').count() == 1, "{}", failed.err);
}

#[test]
fn what_is_no_text_or_too_long_is_refused() {
    let work = playing(&["Long.", "Short."]);
    let long = "x".repeat(500_000);
    let done = work.feed(&chat(&[]), format!("{long}\r\n")).good();
    assert_eq!(done.text(), "Long.\n");
    // More than a turn may hold, and more than a line may have.
    let most = "x".repeat(1024 * 1024);
    work.feed(&chat(&[]), format!("{most}\r\n")).refused_silently(2, "history.too_long");
    work.feed(&chat(&[]), format!("{most}x\n")).refused_silently(2, "json.too_long");
    work.feed(&chat(&[]), format!("{most}x")).refused_silently(2, "json.too_long");
    work.feed(&chat(&[]), format!("{}\n", "ü".repeat(1024 * 1024))).refused_silently(2, "json.too_long");
    let done = work.feed(&chat(&[]), b"One.\nTw\xFFo.\nThree.\n");
    assert_eq!(done.text(), "Long.\n", "what came before it was said");
    done.refused(2, "json.not_utf8");
    for nothing in ["", "\n", " \n\t\n\n"] {
        assert_eq!(work.feed(&chat(&[]), nothing).good().text(), "");
    }
    assert_eq!(rows(&work, "session.turn_begun").len(), 2);
}

#[test]
fn hostile_words_move_no_cursor() {
    let evil = "\u{1b}[2J\u{1b}]0;owned\u{7}\r\u{8}\u{9b}31m\u{202e}\u{2066}\u{0}end";
    let path = "a\u{1b}[31m\u{202e}.txt";
    let work = playing(&[
        calling(&format!("{evil}\n"), &[write("t\u{1b}[1m", path, "x"), call("t2", "\u{1b}[5m", json!({}))]),
        noting(evil, json!({ "actions": [format!("request_permission:{evil}")], "set_goals": [evil] })),
    ]);
    work.run(&["capability", "grant", "fs:write"]).good();
    let clean = |done: &Done| {
        let bad = |letter: char| {
            letter.is_control() && letter != '\n'
                || matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        for text in [done.text(), &done.err] {
            assert!(!text.contains(bad), "{}: {text:?}", done.args);
        }
    };
    let done = work.feed(&chat(&[]), format!("{evil}\n"));
    assert!(done.text().contains("\\u{1b}[2J") && done.text().contains("end\n"), "{}", done.text());
    clean(&done);
    for args in
        [&["session", "show", "main"][..], &["capability", "list"], &["trace", "show", "main__turn-1"]]
    {
        let done = work.run(args).good();
        clean(&done);
    }
    let json = work.run(&["session", "show", "main", "--json"]).good().json();
    assert_eq!(json["recent_messages"][0]["content"], evil, "JSON says it as it was");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let long = "word ".repeat(100_000);
    let work = playing(&[calling(&long, &[write("t1", "a.txt", "hi")]), "Done.".to_owned()]);
    work.run(&["capability", "grant", "fs:write"]).good();
    let mut child = work.command(BINARY, &chat(&["-m", "Go."])).stdin(Stdio::null()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut first = [0; 5];
    out.read_exact(&mut first).unwrap();
    drop(out);
    let done = Done::new(&[], child.wait_with_output().unwrap());
    assert_eq!(done.exit, Some(0), "{}", done.err);
    assert_eq!(file(&work, "a.txt").unwrap(), "hi", "the turn is taken to its end");
    assert_eq!(rows(&work, "session.turn_ended").len(), 1);
}

#[test]
fn tools_never_see_the_data_directory() {
    let work = Work::new();
    std::fs::create_dir(work.path("elsewhere")).unwrap();
    let check = |args: &[&str]| {
        let refusal = work.run(&[&["chat", "-m", "x"], args].concat()).refused_silently(1, "tool.sandbox");
        assert!(refusal.message.contains("data directory"), "{}", refusal.message);
    };
    // Also before it is there.
    check(&["--root", "."]);
    check(&["--root", "/"]);
    check(&["--root", "elsewhere", "--data", "elsewhere/not/yet"]);
    check(&["--root", "elsewhere", "--store", "sqlite:elsewhere/not/yet"]);
    work.run(&["principal", "add", "ana"]).good();
    work.run(&["chat", "-m", "x"]).good();
    check(&["--root", "."]);
    for within in
        ["data", "data/keys", "data/matters", "data/matters/default", "data/matters/default/sessions"]
    {
        if work.path(within).is_dir() {
            check(&["--root", within]);
        }
    }
    std::os::unix::fs::symlink(work.path(DATA), work.path("link")).unwrap();
    check(&["--root", "link"]);
    check(&["--root", "elsewhere/../link/matters"]);
    work.run(&["chat", "-m", "x", "--root", "data/matters/default/sandbox"]).good();
    work.run(&["chat", "-m", "x", "--root", "elsewhere"]).good();
}

#[test]
fn a_policy_that_is_wrong_is_refused() {
    let work = playing(&["Hello."]);
    let check = |text: &str, word: &str| {
        work.write("policy.toml", text);
        let refusal =
            work.run(&chat(&["-m", "x", "--policy", "policy.toml"])).refused_silently(2, "policy.invalid");
        assert!(refusal.message.contains(word), "{text}: {}", refusal.message);
    };
    check("allow = [", "policy.toml");
    check("allow = 1", "allow");
    check("allow = [\"NO\"]", "allow");
    check("alow = []", "alow");
    check("user_class = \"secret\"", "user_class");
    check("files = { \"a\" = \"secret\" }", "files");
    check("rounds = 0", "rounds");
    check("rounds = 1.5", "an integer");
    check("grant_seconds = 99999999", "grant_seconds");
    check("approver = \"me\"", "approver");
    check("rounds = 1\nrounds = 2", "duplicate");
    check("since = 2025-12-10", "written as a text");
    // That of the matter counts for everything, also for looking.
    policy(&work, "approver = 7");
    for args in [&chat(&["-m", "x"])[..], &["capability", "list"], &["tools"]] {
        work.run(args).refused_silently(2, "policy.invalid");
    }
    policy(&work, "allow = [\"fs:write\"]\nuser_class = \"privileged\"");
    plays(&work, &[calling("", &[write("t1", "a.txt", "hi")]), "Done.".to_owned()]);
    assert_eq!(turn(&work, 0, &[])["calls"][0]["ok"], true);
    let shown = work.run(&["session", "show", "main", "--json"]).good().json();
    assert_eq!(shown["data_class"], "privileged");
}

#[test]
fn what_is_for_this_machine_stays_on_it() {
    let work = playing(&["Hello."]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://127.0.0.1:{}/v1", listener.local_addr().unwrap().port());
    work.run(&["models", "add", "far", "--provider", "openai", "--model", "x", "--base-url", &url]).good();
    let far = ["chat", "--model", "far", "--json", "-m", "My secret."];
    let refused = |args: &[&str], exit: i32, code: &str| {
        let document = work.run(&[&far[..], args].concat()).exits(exit).json();
        assert_eq!((&document["outcome"], &document["error"]["code"]), (&json!("failed"), &json!(code)));
    };
    refused(&["--class", "local_only"], 1, "leaving.local_only");
    // What was said once is part of the session.
    refused(&["--class", "public"], 1, "leaving.local_only");
    refused(&["--class", "privileged", "--session", "other"], 3, "leaving.unconfirmed");
    let asked = work.run(&["capability", "list", "--session", "other", "--json"]).good().json();
    let port = listener.local_addr().unwrap().port();
    assert_eq!(asked["pending"][0]["capability"], format!("leave:127.0.0.1:{port}"), "{asked}");
    let receipts = work.run(&["ledger", "rows", "--json"]).good().lines();
    let blocked = |row: &&Value| row["payload"]["status"] == "blocked_by_policy";
    assert_eq!(receipts.iter().filter(blocked).count(), 3);
    assert!(listener.accept().is_err(), "nobody was reached");
    // A model on this machine may hear it.
    assert_eq!(turn(&work, 0, &["--class", "local_only", "--session", "here"])["outcome"], "completed");
}

#[test]
fn what_is_privileged_leaves_with_a_persons_word() {
    let server = Server::start(vec![Answer::Says(vec!["I ", "see."])]);
    let work = Work::new();
    server.added(&work, "far", &[]);
    let far = ["chat", "--model", "far", "--json", "-m", "In confidence.", "--class", "privileged"];
    assert_eq!(work.run(&far).exits(3).json()["error"]["code"], "leaving.unconfirmed");
    let leave = format!("leave:127.0.0.1:{}", server.port);
    let grant = ["capability", "grant", &leave, "--model", "far", "--as", "ana"];
    assert!(work.run(&grant).good().text().starts_with(&format!("{leave} is granted to local until ")));
    assert_eq!(work.run(&far).good().json()["text"], "I see.");
    assert!(server.heard.recv_timeout(talks::PATIENCE).unwrap().contains("In confidence."));
    let rows = work.run(&["ledger", "rows", "--json"]).good().lines();
    let statuses: Vec<&str> = rows.iter().filter_map(|row| row["payload"]["status"].as_str()).collect();
    assert_eq!(statuses, ["blocked_by_policy", "completed"]);
    work.run(&["capability", "revoke", &leave]).good();
    work.run(&far).exits(3);
}

#[test]
fn a_key_that_the_model_repeats_is_nowhere() {
    let key = "sk-canary-6c7bd9f2";
    let says = || Answer::Says(vec!["My key is ", "sk-canary-6c7bd9f2", "."]);
    let server = Server::start(vec![says(), says()]);
    let work = Work::new();
    server.added(&work, "far", &["--key-env", "THE_KEY"]);
    let ask = |args: &[&str]| {
        let args = [&["chat", "--model", "far", "-m", "Which key?"], args].concat();
        let output = work.command(BINARY, &args).env("THE_KEY", key).output().unwrap();
        Done::new(&args, output)
    };
    assert_eq!(ask(&["--json"]).exits(1).json()["error"]["code"], "model.reply");
    assert!(server.heard.recv_timeout(talks::PATIENCE).unwrap().contains(&format!("Bearer {key}")));
    assert_eq!(ask(&[]).exit, Some(1));
    assert!(binary::files(&work.path(DATA)).len() >= 3);
    assert!(!work.holds(DATA, key.as_bytes()));
    // Without the key nothing is asked.
    let refusal = work.run(&["chat", "--model", "far", "-m", "x"]);
    assert_eq!(refusal.exit, Some(1), "{}", refusal.err);
    assert!(refusal.err.contains("THE_KEY"), "{}", refusal.err);
}

#[test]
fn a_key_that_the_model_does_not_know_is_nowhere() {
    let key = "sk-canary-0b51aa73";
    let server = Server::start(vec![Answer::Says(vec!["Hello."])]);
    let work = Work::new();
    server.added(&work, "far", &["--key-env", "THE_KEY"]);
    let args = ["chat", "--model", "far", "-m", "Hello?"];
    let output = work.command(BINARY, &args).env("THE_KEY", key).output().unwrap();
    assert_eq!(Done::new(&args, output).good().text(), "Hello.\n");
    assert!(!work.holds(DATA, key.as_bytes()));
}
