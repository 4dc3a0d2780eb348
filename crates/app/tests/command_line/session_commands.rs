//! `session`, `capability`, `trace` and `tools`: sessions seen and governed from outside.

use crate::binary::{BINARY, DATA, Running, Work};
use crate::talks::{
    Answer, PATIENCE, Server, call, calling, chat, file, noting, playing, plays, policy, rows, turn,
    verified, write,
};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::sync::mpsc::channel;

/// A script whose one turn writes `a.txt`.
fn writing() -> Work {
    playing(&[calling("I write.", &[write("t1", "a.txt", "hi")]), "So it is.".to_owned()])
}

fn capabilities(work: &Work) -> Value {
    work.run(&["capability", "list", "--json"]).good().json()
}

#[test]
fn sessions_are_listed_and_shown() {
    let work = playing(&[noting("Hello.", json!({ "set_goals": ["greet"], "add_open_loops": ["why?"] }))]);
    assert_eq!(
        work.run(&["session", "list"]).good().text(),
        "No sessions yet: countersign chat begins one.\n"
    );
    assert_eq!(work.run(&["session", "list", "--json"]).good().json(), json!([]));
    for name in ["b", "a.1", "main"] {
        turn(&work, 0, &["--session", name]);
    }
    turn(&work, 0, &["--session", "b"]);
    assert_eq!(work.run(&["session", "list", "--json"]).good().json(), json!(["a.1", "b", "main"]));
    let listed = work.run(&["session", "list"]).good();
    assert_eq!(listed.text(), "a.1  revision 1\nb  revision 2\nmain  revision 1\n");
    let shown = work.run(&["session", "show", "b"]).good();
    assert!(
        shown.text().starts_with("b  revision 2, turn 2, internal\n       goals  greet\n"),
        "{}",
        shown.text()
    );
    assert!(shown.text().contains("     user  Go on.\nassistant  Hello."), "{}", shown.text());
    for args in [
        &["session", "show", "nobody"][..],
        &["session", "undo", "nobody"],
        &["capability", "list", "-s", "nobody"],
        &["session", "show", "main", "--matter", "other"],
    ] {
        work.run(args).refused_silently(1, "session.missing");
    }
    work.run(&["session", "show", "../b"]).refused_silently(2, "id.invalid");
    assert!(!work.path(DATA).join("matters/other/sessions").exists(), "looking begins no session");
}

#[test]
fn a_turn_is_taken_back_and_what_it_did_stands() {
    let work = writing();
    turn(&work, 3, &[]);
    work.run(&["capability", "grant", "fs:write"]).good();
    assert_eq!(turn(&work, 0, &[])["calls"][0]["ok"], true);
    let undone = work.run(&["session", "undo", "main", "--json"]).good().json();
    let standing = "write 2 bytes to a.txt, if there is nothing yet";
    assert_eq!(undone, json!({ "turn": 2, "revision": 3, "standing": [standing] }));
    assert_eq!(file(&work, "a.txt").unwrap(), "hi");
    assert_eq!(work.run(&["session", "undo", "main"]).good().text(), "turn 1 was taken back\n");
    work.run(&["session", "undo", "main"]).refused_silently(1, "session.nothing");
    let shown = work.run(&["session", "show", "main", "--json"]).good().json();
    assert_eq!((&shown["recent_messages"], &shown["revision"]), (&json!([]), &json!(4)));
    assert_eq!(shown["state"]["capabilities_granted"], json!(["fs:write"]), "a grant is no part of a turn");
    verified(&work);
}

#[test]
fn a_grant_is_for_a_time_a_person_or_a_call() {
    let work = writing();
    assert_eq!(turn(&work, 3, &[])["calls"][0]["ok"], false);
    let mut asked = capabilities(&work);
    let call = asked["pending"][0]["call"].take();
    assert_eq!(call.as_str().unwrap().len(), 8);
    let summary = "write 2 bytes to a.txt, if there is nothing yet";
    let pending = json!([{ "capability": "fs:write", "call": null, "turn": 1, "summary": summary }]);
    assert_eq!(asked, json!({ "granted": [], "pending": pending }));
    for time in [
        "0s",
        "31d",
        "1y",
        "1",
        "s",
        "-1s",
        "+1s",
        "1.5h",
        "",
        "99999999999999999999d",
        "18446744073709551615d",
        "ü",
    ] {
        let arg = format!("--for={time}");
        work.run(&["capability", "grant", "fs:write", &arg]).refused_silently(2, "capability.expiry");
    }
    for word in ["FS", "fs write", "net:", "net:a b", "", "net:http://a.example", "\u{1b}[2J"] {
        let refusal = work.run(&["capability", "grant", word]).refused_silently(2, "capability.invalid");
        assert!(!refusal.message.contains('\u{1b}'));
    }
    work.run(&["capability", "grant", "shell", "--once"]).refused_silently(1, "session.nothing");
    work.run(&["capability", "grant", "fs:write", "--acting", "a b"]).refused_silently(2, "id.invalid");
    // Somebody else's grant is of no use here.
    let fixed = ["--now", "2025-12-10T10:00:00Z"];
    let granted = work
        .run(
            &[
                &["capability", "grant", "fs:write", "--acting", "ben", "--for", "90s", "--as", "ana"],
                &fixed[..],
            ]
            .concat(),
        )
        .good();
    assert!(
        granted.text().starts_with("fs:write is granted to ben until 2025-12-10T10:01:30"),
        "{}",
        granted.text()
    );
    assert_eq!(turn(&work, 3, &[])["calls"][0]["ok"], false);
    // The one call that asked, and no other.
    let once = work.run(&["capability", "grant", "fs:write", "--once", "--json"]).good().json();
    assert!(once["arguments_hash"].is_string() && once["acting"] == "local", "{once}");
    plays(&work, &[calling("", &[write("t1", "b.txt", "other")]), "No.".to_owned()]);
    let refused = turn(&work, 3, &[]);
    assert!(refused["calls"][0]["error"].as_str().unwrap().contains("a grant was given, but"), "{refused}");
    plays(&work, &[calling("", &[write("t1", "a.txt", "hi")]), "Yes.".to_owned()]);
    assert_eq!(turn(&work, 0, &[])["calls"][0]["ok"], true);
    assert_eq!(turn(&work, 3, &[])["calls"][0]["ok"], false, "it is used up");
    assert_eq!((file(&work, "a.txt").unwrap().as_str(), file(&work, "b.txt")), ("hi", None));
    let listed = work.run(&["capability", "list"]).good();
    assert!(
        listed.text().contains(", once  VOID: it was given for one call, which was made\n"),
        "{}",
        listed.text()
    );
    assert!(listed.text().contains("  to ben by ana until 2025-12-10T10:01:30"), "{}", listed.text());
}

#[test]
fn what_was_asked_for_is_denied_and_taken_back() {
    let work = writing();
    turn(&work, 3, &[]);
    work.run(&["capability", "deny", "shell"]).refused_silently(1, "session.nothing");
    work.run(&["capability", "revoke", "fs:write"]).refused_silently(1, "session.nothing");
    let denied =
        work.run(&["capability", "deny", "fs:write", "--reason", "not now", "--as", "ana", "--json"]).good();
    assert_eq!(denied.json(), json!({ "capability": "fs:write", "decision": "denied" }));
    assert_eq!(capabilities(&work), json!({ "granted": [], "pending": [] }));
    let row = &rows(&work, "capability.denied")[0];
    assert_eq!((&row["actor"], &row["payload"]["reason"]), (&json!("ana"), &json!("not now")));
    work.run(&["capability", "grant", "fs:write"]).good();
    assert_eq!(work.run(&["capability", "revoke", "fs:write"]).good().text(), "fs:write is revoked\n");
    assert_eq!(turn(&work, 3, &[])["calls"][0]["ok"], false);
    assert_eq!(file(&work, "a.txt"), None);
    let nothing = "Nothing is granted, and nothing waits for an answer.\n";
    work.run(&["capability", "deny", "fs:write"]).good();
    assert_eq!(work.run(&["capability", "list"]).good().text(), nothing);
}

#[test]
fn four_eyes() {
    let work = writing();
    policy(&work, "approver = \"somebody_else\"");
    turn(&work, 3, &["--as", "ben"]);
    let refusal = work
        .run(&["capability", "grant", "fs:write", "--as", "ben"])
        .refused_silently(1, "capability.proposer");
    assert!(refusal.message.contains("ben"), "{}", refusal.message);
    work.run(&["capability", "grant", "fs:write", "--acting", "ana", "--as", "ana"])
        .refused_silently(1, "capability.proposer");
    // A name is quickly typed: somebody else's word counts if it is signed.
    work.run(&["capability", "grant", "fs:write", "--as", "ana"]).refused_silently(1, "capability.unsigned");
    assert_eq!(capabilities(&work)["pending"][0]["capability"], "fs:write", "it still waits");
    work.run(&["principal", "add", "ana"]).good();
    // It goes to whoever asked.
    work.run(&["capability", "grant", "fs:write", "--as", "ana"]).good();
    assert_eq!(turn(&work, 0, &["--as", "ben"])["calls"][0]["ok"], true);
    let granted = &capabilities(&work)["granted"][0];
    assert_eq!(
        (&granted["by"], &granted["acting"], &granted["void"]),
        (&json!("ana"), &json!("ben"), &Value::Null)
    );
    // What was granted under one policy is void under another.
    policy(&work, "approver = \"somebody_else\"\nrounds = 7");
    let listed = work.run(&["capability", "list"]).good();
    assert!(listed.text().contains("  VOID: the policy has changed"), "{}", listed.text());
    let refused = turn(&work, 3, &["--as", "ben"]);
    assert!(refused["calls"][0]["error"].as_str().unwrap().contains("a grant was given, but"), "{refused}");
}

#[test]
fn whoever_has_a_key_signs_what_they_decide() {
    let work = writing();
    work.run(&["principal", "add", "ana"]).good();
    turn(&work, 3, &[]);
    work.run(&["capability", "grant", "fs:write", "--acting", "local", "--as", "ana"]).good();
    work.run(&["capability", "grant", "shell"]).good();
    work.run(&["capability", "revoke", "shell", "--as", "ana"]).good();
    let proof = |row: &Value| row["proof"]["kind"].as_str().unwrap().to_owned();
    let granted = rows(&work, "capability.granted");
    assert_eq!((proof(&granted[0]), granted[0]["actor"].as_str()), ("signed".to_owned(), Some("ana")));
    assert_ne!(proof(&granted[1]), "signed", "nobody signs for who has no key");
    assert_eq!(proof(&rows(&work, "capability.revoked")[0]), "signed");
    assert_eq!(turn(&work, 0, &[])["calls"][0]["ok"], true);
    verified(&work);
}

#[test]
fn traces_tell_a_turn() {
    let work = writing();
    assert_eq!(
        work.run(&["trace", "show"]).good().text(),
        "No traces yet: each turn of a chat leaves one.\n"
    );
    work.run(&["trace", "tail"]).refused_silently(1, "trace.missing");
    turn(&work, 3, &[]);
    turn(&work, 3, &["--session", "other"]);
    assert_eq!(work.run(&["trace", "show"]).good().text(), "main__turn-1\nother__turn-1\n");
    for name in ["nothing", "../../keys", "", ".", "main__turn-1.jsonl"] {
        work.run(&["trace", "show", name]).refused_silently(1, "trace.missing");
        work.run(&["trace", "tail", name]).refused_silently(1, "trace.missing");
    }
    let turn = work.run(&["trace", "show", "main__turn-1", "--json"]).good().json();
    assert_eq!(
        (&turn["session"], &turn["turn"], &turn["unreadable"]),
        (&json!("main"), &json!(1), &json!(0))
    );
    let kinds: Vec<&str> =
        turn["events"].as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap()).collect();
    let expected = [
        "turn_start",
        "llm_req",
        "llm_stream",
        "llm_done",
        "tool_plan",
        "tool_done",
        "llm_req",
        "llm_stream",
        "llm_done",
        "turn_done",
    ];
    assert_eq!(kinds, expected);
    let tail = work.run(&["trace", "tail", "main__turn-1", "--json"]).good();
    assert_eq!(json!(tail.lines()), turn["events"], "a line for each event");
    let text = work.run(&["trace", "show", "main__turn-1"]).good();
    assert_eq!(text.text(), work.run(&["trace", "tail", "main__turn-1"]).good().text());
    assert!(
        text.text().lines().nth(5).unwrap().contains(" tool_done    duration_ms=0 error=tool.denied"),
        "{}",
        text.text()
    );
}

#[test]
fn a_trace_is_followed_to_its_end() {
    let server = Server::start(vec![Answer::Stalls(vec!["One moment"])]);
    let work = playing(&["x"]);
    server.added(&work, "slow", &[]);
    let args = ["chat", "--model", "slow", "--root", "root"];
    let mut talking = Running::start(&work, &args);
    talking.send("Are you there?");
    server.heard.recv_timeout(PATIENCE).unwrap();
    // The turn is under way: its trace is there and has no end.
    let mut tail = work.command(BINARY, &["trace", "tail", "main__turn-1", "--json"]).spawn().unwrap();
    let mut lines = BufReader::new(tail.stdout.take().unwrap()).lines().map(|line| {
        serde_json::from_str::<Value>(&line.unwrap()).unwrap()["kind"].as_str().unwrap().to_owned()
    });
    let seen: Vec<String> = lines.by_ref().take(3).collect();
    assert_eq!(seen, ["turn_start", "llm_req", "llm_stream"]);
    let without = work.run(&["trace", "tail", "main__turn-1", "--no-follow"]).good();
    assert!(!without.text().contains("turn_done"), "{}", without.text());
    let process = rustix::process::Pid::from_raw(i32::try_from(talking.id()).unwrap()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    let rest: Vec<String> = lines.collect();
    assert_eq!(rest.last().map(String::as_str), Some("turn_done"), "{rest:?}");
    assert!(tail.wait().unwrap().success());
    // Nobody waits for more input after that.
    let done = talking.finish();
    assert_eq!((done.exit, done.err.as_str()), (Some(1), "cancelled; nothing of that answer counts\n"));
    assert_eq!(rows(&work, "session.turn_ended")[0]["payload"]["outcome"], "cancelled");
}

#[test]
fn a_trace_whose_writer_was_killed_has_an_end_too() {
    let server = Server::start(vec![Answer::Stalls(vec!["One moment"])]);
    // The words of an end among a call's arguments are none.
    let told =
        calling("", &[call("t1", "system.time", json!({ "kind": "turn_done", "password": "hunter2" }))]);
    let work = playing(&[told.as_str(), "Late."]);
    server.added(&work, "slow", &[]);
    let mut talking = Running::start(&work, &["chat", "--model", "slow", "--root", "root"]);
    talking.send("Are you there?");
    server.heard.recv_timeout(PATIENCE).unwrap();
    let mut tail = work.command(BINARY, &["trace", "tail", "main__turn-1"]).spawn().unwrap();
    let mut seen = BufReader::new(tail.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(seen.any(|line| line.contains("llm_stream")), "it ended before the turn");
    talking.kill();
    let (sender, ended) = channel();
    let mut told = tail.stderr.take().unwrap();
    std::thread::spawn(move || {
        let mut text = String::new();
        told.read_to_string(&mut text).map(|_| sender.send(text))
    });
    let told = ended.recv_timeout(PATIENCE).unwrap_or_else(|_| "it waits for ever".to_owned());
    tail.kill().unwrap();
    assert_eq!(tail.wait().unwrap().code(), Some(1), "{told}");
    assert!(told.starts_with("{\"error\":{\"code\":\"trace.cut\""), "{told}");
    // Also for who comes later, and when somebody else goes on with the session.
    let mut other = Running::start(&work, &chat(&[]));
    other.send("Hello?");
    assert_eq!(other.line(), "Late.\n");
    work.run(&["trace", "tail", "main__turn-1", "--json"]).refused(1, "trace.cut");
    work.run(&["trace", "tail", "main__turn-1", "--no-follow"]).good();
    let whole = work.run(&["trace", "tail", "main__turn-2", "--json"]).good();
    assert_eq!(whole.lines().last().unwrap()["kind"], "turn_done", "{}", whole.text());
    assert!(!whole.text().contains("hunter2"), "{}", whole.text());
    assert_eq!(other.finish().exit, Some(0));
}

#[test]
fn a_session_is_shown_while_a_turn_is_under_way() {
    let server = Server::start(vec![Answer::Says(vec!["Hi."]), Answer::Stalls(vec!["One moment"])]);
    let work = playing(&["x"]);
    server.added(&work, "slow", &[]);
    let mut talking = Running::start(&work, &["chat", "--model", "slow", "--root", "root"]);
    talking.send("Hello?");
    assert_eq!(talking.line(), "Hi.\n");
    server.heard.recv_timeout(PATIENCE).unwrap();
    talking.send("Are you there?");
    server.heard.recv_timeout(PATIENCE).unwrap();
    let shown = work.run(&["session", "show", "main", "--json"]).good().json();
    assert_eq!((&shown["revision"], &shown["turn"]), (&json!(1), &json!(2)), "{shown}");
    assert_eq!(shown["unsettled"], json!([]), "a call that is being made is no question");
    assert!(shown["notes"][0].as_str().unwrap().contains("has the session main"), "{shown}");
    let text = work.run(&["session", "show", "main"]).good();
    assert!(text.text().contains("assistant  Hi."), "{}", text.text());
    assert_eq!(work.run(&["session", "list", "--json"]).good().json(), json!(["main"]));
    talking.kill();
}

#[test]
fn whether_a_grant_counts_is_shown_under_the_policy_of_the_session() {
    let work = writing();
    work.write("p.toml", "rounds = 3\n");
    turn(&work, 3, &["--policy", "p.toml"]);
    work.run(&["capability", "grant", "fs:write", "--policy", "p.toml"]).good();
    let void = |args: &[&str]| {
        let list = [&["capability", "list", "--json"], args].concat();
        work.run(&list).good().json()["granted"][0]["void"].clone()
    };
    assert_eq!(void(&["--policy", "p.toml"]), Value::Null);
    assert_eq!(void(&[]), "the policy has changed since");
    let shown = work.run(&["session", "show", "main", "--json", "--policy", "p.toml"]).good().json();
    assert_eq!(shown["state"]["capabilities_granted"], json!(["fs:write"]));
    assert_eq!(turn(&work, 0, &["--policy", "p.toml"])["calls"][0]["ok"], true);
    work.run(&["capability", "revoke", "fs:write", "--policy", "p.toml"]).good();
    turn(&work, 3, &["--policy", "p.toml"]);
    work.run(&["capability", "deny", "fs:write", "--policy", "p.toml"]).good();
    // One that is no policy is told everywhere.
    work.write("p.toml", "rounds = 0\n");
    for args in [&["list"][..], &["deny", "fs:write"], &["revoke", "fs:write"], &["grant", "fs:write"]] {
        let args = [&["capability"], args, &["--policy", "p.toml"]].concat();
        work.run(&args).refused_silently(2, "policy.invalid");
    }
    policy(&work, "rounds = 3\n");
    work.write("p.toml", "rounds = 3\n");
    work.run(&["capability", "list", "--policy", "p.toml"]).refused_silently(2, "policy.invalid");
}

#[test]
fn what_is_asked_for_a_turn_is_granted_for_a_time() {
    let server = Server::start(vec![Answer::Says(vec!["Hi."])]);
    let work = playing(&["x"]);
    server.added(&work, "far", &[]);
    let ask = ["chat", "--model", "far", "--root", "root", "--class", "privileged", "--json", "-m", "Hello?"];
    assert_eq!(work.run(&ask).exits(3).json()["error"]["code"], "leaving.unconfirmed");
    let pending = &capabilities(&work)["pending"][0];
    let leave = pending["capability"].as_str().unwrap().to_owned();
    assert_eq!((leave.starts_with("leave:127.0.0.1"), &pending["call"]), (true, &Value::Null), "{pending}");
    let once = ["capability", "grant", &leave, "--once", "--model", "far"];
    let refusal = work.run(&once).refused_silently(1, "capability.turn");
    assert!(refusal.message.contains("--for"), "{}", refusal.message);
    assert_eq!(rows(&work, "capability.granted").len(), 0);
    work.run(&["capability", "grant", &leave, "--for", "10m", "--model", "far"]).good();
    assert_eq!(work.run(&ask).good().json()["text"], "Hi.");
}

#[test]
fn a_chat_that_waits_for_input_ends_with_an_interrupt() {
    let work = playing(&["One."]);
    let mut talking = Running::start(&work, &chat(&[]));
    talking.send("Hello?");
    assert_eq!(talking.line(), "One.\n");
    let process = rustix::process::Pid::from_raw(i32::try_from(talking.id()).unwrap()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    let done = talking.ended();
    assert_eq!((done.exit, done.err.as_str()), (Some(1), ""));
}

#[test]
fn tools_say_what_they_are() {
    let work = Work::new();
    let tools = work.run(&["tools", "--json"]).good().json();
    let names: Vec<&str> =
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["fs.list_dir", "fs.read_text", "fs.write_text", "http.get", "shell.exec", "system.time"]
    );
    for tool in tools.as_array().unwrap() {
        let mut definition = tool.clone();
        let hash = definition.as_object_mut().unwrap().remove("definition_hash").unwrap();
        work.write("definition.json", definition.to_string());
        let expected = work.run(&["envelope", "hash", "definition.json"]).good();
        assert_eq!(hash.as_str().unwrap(), expected.text().trim_end(), "{definition}");
        assert_eq!(tool["parameters"]["additionalProperties"], false, "{tool}");
    }
    let text = work.run(&["tools"]).good();
    assert!(
        text.text().contains("shell.exec     needs shell, changes nothing\n    Runs one program"),
        "{}",
        text.text()
    );
}

#[test]
fn doctor_shows_what_holds_tools() {
    let work = Work::new();
    let diagnosis = work.run(&["doctor", "--json"]).good().json();
    let names: Vec<&str> =
        diagnosis["checks"].as_array().unwrap().iter().map(|check| check["name"].as_str().unwrap()).collect();
    for name in ["openat2", "landlock", "seccomp", "resource limits", "commands", "models"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let models =
        diagnosis["checks"].as_array().unwrap().iter().find(|check| check["name"] == "models").unwrap();
    assert_eq!(models["found"], "extractive, and 0 more set up");
}

#[test]
fn a_tool_that_reads_needs_no_word() {
    let work = playing(&[
        calling("", &[call("t1", "fs.read_text", json!({ "path": "in.txt" }))]),
        "Read.".to_owned(),
    ]);
    std::fs::write(work.path("root").join("in.txt"), "inside").unwrap();
    assert_eq!(turn(&work, 0, &[])["calls"][0]["ok"], true);
    let shown = work.run(&["session", "show", "main", "--json"]).good().json();
    let told: Value = serde_json::from_str(shown["recent_messages"][2]["content"].as_str().unwrap()).unwrap();
    assert_eq!(told["output"]["text"], "inside", "{told}");
}
