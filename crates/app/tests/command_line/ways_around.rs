//! Ways around the rules, each closed.

use crate::binary::{DATA, Work};
use crate::talks::{
    Answer, Server, call, calling, chat, noting, playing, policy, rows, turn, verified, write,
};
use serde_json::{Value, json};

const CANARY: &str = "salary-77c0de";
const RECORD: &str = "{\"memory_id\":\"m1\",\"text\":\"What is known: salary-77c0de\"}\n";

fn far(work: &Work) -> Server {
    let server = Server::start((0..20).map(|_| Answer::Says(vec!["Hi."])).collect());
    server.added(work, "far", &[]);
    server
}

/// Asks the far model with a store; the canary does not get there.
fn stays(work: &Work, server: &Server, exit: i32, args: &[&str]) {
    let asked = ["chat", "--model", "far", "-m", "What is known of the salary?"];
    let done = work.run(&[&asked[..], args].concat());
    assert_eq!(done.exit, Some(exit), "{args:?}: {}", done.err);
    for heard in server.heard.try_iter() {
        assert!(!heard.contains(CANARY), "{args:?}: {heard}");
    }
}

/// What tools can write, what sessions keep, and what another matter writes is no store of memory.
#[test]
fn a_store_is_apart_from_tools_and_data() {
    let work = playing(&[calling("", &[write("t1", "notes.jsonl", RECORD)]), "Done.".to_owned()]);
    let server = far(&work);
    work.run(&["capability", "grant", "fs:write"]).good();
    assert_eq!(turn(&work, 0, &["--class", "local_only"])["calls"][0]["ok"], true);
    std::fs::create_dir(work.path("root/hr")).unwrap();
    work.write("root/hr/mem.jsonl", RECORD);
    std::os::unix::fs::symlink("root/notes.jsonl", work.path("link.jsonl")).unwrap();
    std::fs::create_dir_all(work.path("data/matters/default/memory")).unwrap();
    work.write("data/matters/default/memory/sessions.local_only.jsonl", RECORD);
    let summaries = "data/matters/default/memory/sessions.local_only.jsonl";
    for store in ["root/notes.jsonl", "./root/../root/notes.jsonl", "link.jsonl", "root/hr/mem.jsonl"] {
        stays(&work, &server, 2, &["--session", "b", "--root", "root", "--memory", store]);
        stays(&work, &server, 2, &["--session", "b", "--matter", "other", "--memory", store]);
    }
    stays(&work, &server, 2, &["--session", "b", "--memory", summaries]);
    stays(&work, &server, 2, &["--session", "b", "--matter", "other", "--memory", summaries]);
    // Without that root the store can be named, and has the class of the session that wrote it.
    stays(&work, &server, 1, &["--session", "c", "--memory", "root/notes.jsonl"]);
    policy(&work, "files = { \"hr\" = \"local_only\" }");
    stays(&work, &server, 0, &["--session", "d", "--memory", "root/hr/mem.jsonl"]);
}

/// What has nothing to do with a question does not narrow where a session may go.
#[test]
fn a_new_session_starts_clean_beside_local_summaries() {
    let reply = noting("Noted.", json!({ "actions": ["condense_smart"] }));
    let work = playing(&vec![reply; 40]);
    let said: String = (0..36).map(|number| format!("{CANARY} is {number}\n")).collect();
    assert_eq!(work.feed(&chat(&["--class", "local_only", "--session", "local"]), said).exit, Some(0));
    let class =
        |session: &str| work.run(&["session", "show", session, "--json"]).good().json()["data_class"].clone();
    work.run(&["chat", "--session", "new", "-m", "zebra xylophone"]);
    assert_eq!(class("new"), "internal");
    work.run(&["chat", "--session", "old", "-m", CANARY]);
    assert_eq!(class("old"), "local_only", "what is shown counts");
}

/// Decisions count however busy the session is: none is refused because a turn came first.
#[test]
fn decisions_do_not_lose_to_a_busy_session() {
    let work = playing(&["Yes."; 60]);
    turn(&work, 0, &[]);
    let said: String = (0..60).map(|number| format!("line {number}\n")).collect();
    std::thread::scope(|scope| {
        let talk = scope.spawn(|| work.feed(&chat(&[]), said));
        for _ in 0..15 {
            work.run(&["capability", "grant", "fs:write"]).good();
            work.run(&["capability", "revoke", "fs:write"]).good();
        }
        assert_eq!(talk.join().unwrap().exit, Some(0));
    });
    assert_eq!(rows(&work, "capability.revoked").len(), 15);
    verified(&work);
}

/// Under four eyes an approval that is not signed is refused, and what was asked for still waits.
#[test]
fn an_unsigned_approval_uses_nothing_up() {
    let work = playing(&[calling("", &[write("t1", "a.txt", "x")]), "Done.".to_owned()]);
    policy(&work, "approver = \"somebody_else\"");
    turn(&work, 3, &[]);
    let grant = ["--as", "ana", "capability", "grant", "fs:write"];
    work.run(&grant).refused_silently(1, "capability.unsigned");
    assert_eq!(rows(&work, "capability.granted"), Vec::<Value>::new());
    work.run(&["principal", "add", "ana"]).good();
    work.run(&grant).good();
    assert_eq!(turn(&work, 0, &[])["calls"][0]["ok"], true);
}

/// What opening the session had to say is in the first document; a line that only looks like a command is said.
#[test]
fn notes_and_lines_are_not_lost() {
    let work = playing(&["One.", "Two.", "Three."]);
    turn(&work, 0, &[]);
    std::fs::remove_file(work.path(DATA).join("matters/default/sessions/main.json")).unwrap();
    let notes = turn(&work, 0, &[])["notes"].clone();
    assert!(notes[0].as_str().unwrap().contains("told again"), "{notes}");
    let done = work.feed(&chat(&["--json"]), "hi\n/etc/hosts: what is it?\nafter\n");
    let turns: Vec<Value> = done.lines();
    assert_eq!((done.exit, turns.len()), (Some(0), 3));
    let said = rows(&work, "session.turn_begun").len();
    assert_eq!(said, 5);
    // Looking writes nothing.
    let before = work.run(&["ledger", "summary", "--json"]).good().json()["rows"].clone();
    work.run(&["session", "show", "main", "--as", "eve"]).good();
    assert_eq!(work.run(&["ledger", "summary", "--json"]).good().json()["rows"], before);
}

/// A page and what was typed are gone with what is erased.
#[test]
fn spare_copies_are_erased_too() {
    let work = playing(&["Noted."]);
    work.run(&chat(&["-m", CANARY])).good();
    work.write("data/matters/default/chat-history", CANARY);
    work.write("data/matters/default/http-cache.sqlite", CANARY);
    work.write("data/matters/default/http-cache.sqlite.damaged-1", CANARY);
    let digest = rows(&work, "session.turn_begun")[0]["payload"]["message"].as_str().unwrap().to_owned();
    work.run(&["ledger", "erase", &digest, "--reason", "r"]).good();
    for name in ["chat-history", "http-cache.sqlite", "http-cache.sqlite.damaged-1"] {
        assert!(!work.path(DATA).join("matters/default").join(name).exists(), "{name}");
    }
}

/// A call that reads while another matter begins to write gives nothing.
#[test]
fn a_claim_that_comes_during_a_call_counts() {
    let work = playing(&[
        calling("", &[call("t1", "shell.exec", json!({ "cmd": "cat fifo" }))]),
        "Done.".to_owned(),
    ]);
    let fifo = work.path("root/fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    work.run(&["capability", "grant", "shell", "--matter", "two"]).good();
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| turn(&work, 0, &["--matter", "two"]));
        // Opened as soon as the program has opened it too: the call is under way.
        let mut end = std::fs::OpenOptions::new().write(true).open(&fifo).unwrap();
        let root = work.path("root").canonicalize().unwrap();
        std::fs::create_dir_all(work.path(DATA).join("roots")).unwrap();
        let claim = format!("one\n{}", root.display());
        std::fs::write(work.path(DATA).join("roots/x.claim"), claim).unwrap();
        std::io::Write::write_all(&mut end, CANARY.as_bytes()).unwrap();
        drop(end);
        let done = reading.join().unwrap();
        assert_eq!(
            done["calls"][0]["error"],
            "tool.root: sessions of the matter one write beneath this root"
        );
    });
}
