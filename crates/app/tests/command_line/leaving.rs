//! What must not leave does not, however its path is spelt and wherever it is found again.

use crate::binary::{BINARY, DATA, Work};
use crate::talks::{
    self, Answer, Server, call, calling, chat, noting, playing, plays, policy, rows, turn, verified, write,
};
use serde_json::json;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

const CANARY: &str = "salary-9f3c1e";

/// Asks the far model, which is told nothing of the canary: neither now nor before.
fn stays(work: &Work, server: &Server, exit: i32, args: &[&str]) {
    let done = work.run(&[&["chat", "--model", "far", "-m", "What is known of the salary?"], args].concat());
    assert_eq!(done.exit, Some(exit), "{args:?}: {}", done.err);
    for heard in server.heard.try_iter() {
        assert!(!heard.contains(CANARY), "{args:?}: {heard}");
    }
}

fn far(work: &Work) -> Server {
    let server = Server::start((0..40).map(|_| Answer::Says(vec!["Hi."])).collect());
    server.added(work, "far", &[]);
    server
}

#[test]
fn a_summary_of_something_local_stays_here_however_the_data_directory_is_spelt() {
    let reply = noting("Noted.", json!({ "actions": ["condense_smart"] }));
    let work = playing(&vec![reply; 40]);
    let server = far(&work);
    let said: String = (0..36).map(|number| format!("{CANARY} is {number}\n")).collect();
    let talk = chat(&["--class", "local_only", "--session", "local"]);
    assert_eq!(work.feed(&talk, said).exit, Some(0));
    assert!(work.path(DATA).join("matters/default/memory/sessions.local_only.jsonl").exists());
    for (at, data) in ["data", "./data", "data/../data", "data//"].into_iter().enumerate() {
        stays(&work, &server, 0, &["--session", &format!("s{at}"), "--data", data]);
    }
}

#[test]
fn a_store_has_its_class_however_it_is_spelt() {
    let work = playing(&["x"]);
    let server = far(&work);
    work.write("secret.jsonl", format!("{{\"memory_id\":\"m1\",\"text\":\"What is known: {CANARY}\"}}\n"));
    std::os::unix::fs::symlink("secret.jsonl", work.path("link.jsonl")).unwrap();
    for rule in ["secret.jsonl", "./secret.jsonl", work.path("secret.jsonl").to_str().unwrap()] {
        policy(&work, &format!("stores = {{ \"{rule}\" = \"local_only\" }}"));
        for store in ["secret.jsonl", "./secret.jsonl", "root/../secret.jsonl", "link.jsonl"] {
            stays(&work, &server, 0, &["--memory", store]);
        }
    }
}

#[test]
fn a_rule_for_files_counts_however_it_is_spelt_or_is_refused() {
    let work = playing(&[
        calling("I look.", &[call("t1", "fs.read_text", json!({ "path": "hr/pay.txt" }))]),
        "Done.".into(),
    ]);
    std::fs::create_dir(work.path("root/hr")).unwrap();
    work.write("root/hr/pay.txt", CANARY);
    let server = far(&work);
    for (at, rule) in
        ["hr", "hr/", "/hr", "./hr", "hr/.", "hr//pay.txt", "/sandbox/hr"].into_iter().enumerate()
    {
        policy(&work, &format!("files = {{ \"{rule}\" = \"local_only\" }}"));
        let name = format!("s{at}");
        work.run(&chat(&["--json", "-m", "Read.", "--session", &name])).good();
        stays(&work, &server, 1, &["--session", &name]);
    }
    for rule in ["hr/*", " hr", "hr/../hr"] {
        policy(&work, &format!("files = {{ \"{rule}\" = \"local_only\" }}"));
        work.run(&chat(&["-m", "Read."])).refused_silently(2, "policy.invalid");
    }
    // The directory seen by itself is what it was.
    policy(&work, "files = { \"hr\" = \"local_only\" }");
    plays(&work, &[calling("", &[call("t1", "fs.read_text", json!({ "path": "pay.txt" }))]), "Done.".into()]);
    let inner =
        ["chat", "--model", "script", "--root", "root/hr", "--session", "inner", "--json", "-m", "Read."];
    work.run(&inner).good();
    stays(&work, &server, 1, &["--session", "inner"]);
}

#[test]
fn a_copy_keeps_its_class_under_another_root() {
    let work = playing(&[calling("", &[write("t1", "out/copy.txt", CANARY)]), "Done.".into()]);
    std::fs::create_dir(work.path("root/out")).unwrap();
    let server = far(&work);
    work.run(&["capability", "grant", "fs:write", "--session", "a"]).good();
    work.run(&chat(&["--session", "a", "--class", "local_only", "--json", "-m", "Copy."])).good();
    plays(
        &work,
        &[calling("", &[call("t1", "fs.read_text", json!({ "path": "copy.txt" }))]), "Done.".into()],
    );
    let read = ["chat", "--model", "script", "--root", "root/out", "--session", "b", "--json", "-m", "Read."];
    work.run(&read).good();
    stays(&work, &server, 1, &["--session", "b"]);
}

/// The classes of what a matter wrote are known in that matter only: another one does not even read beneath its root.
#[test]
fn what_one_matter_wrote_is_no_root_for_another() {
    let look = calling("", &[call("t1", "fs.read_text", json!({ "path": "a.txt" }))]);
    let work = playing(&[look.clone(), "Read.".to_owned()]);
    work.write("root/a.txt", "theirs");
    // Reading claims nothing.
    for matter in ["one", "two"] {
        assert_eq!(turn(&work, 0, &["--matter", matter])["calls"][0]["ok"], true);
    }
    plays(&work, &[calling("", &[write("t1", "copy.txt", CANARY)]), "Written.".to_owned()]);
    work.run(&["capability", "grant", "fs:write", "--matter", "one"]).good();
    work.run(&["capability", "grant", "fs:write", "--matter", "two"]).good();
    let local = ["--matter", "one", "--class", "local_only"];
    assert_eq!(turn(&work, 0, &local)["calls"][0]["ok"], true);
    let refused = |root: &str, args: &[&str]| {
        let args = [&["chat", "--model", "script", "--json", "-m", "Go on.", "--root", root], args].concat();
        let done = work.run(&args).exits(0).json();
        let why = "tool.root: sessions of the matter one write beneath this root";
        assert_eq!(done["calls"][0]["error"], why, "{args:?}");
    };
    std::fs::create_dir(work.path("root/below")).unwrap();
    std::os::unix::fs::symlink("root", work.path("link")).unwrap();
    let above = work.path("above");
    std::fs::create_dir_all(above.join("inner")).unwrap();
    let command = calling("", &[call("t1", "shell.exec", json!({ "cmd": "cat copy.txt" }))]);
    let list = calling("", &[call("t1", "fs.list_dir", json!({}))]);
    work.run(&["capability", "grant", "shell", "--matter", "two"]).good();
    for reply in [look, list, command, calling("", &[write("t1", "b.txt", "x")])] {
        plays(&work, &[reply, "Done.".to_owned()]);
        for root in ["root", "root/below", "link"] {
            refused(root, &["--matter", "two"]);
        }
    }
    // The matter itself goes on, and so does another with a root of its own, or with the one that it always has.
    plays(&work, &[calling("", &[write("t1", "c.txt", "x")]), "Done.".to_owned()]);
    assert_eq!(turn(&work, 0, &["--matter", "one"])["calls"][0]["ok"], true);
    for root in [&["--root", "above/inner"][..], &[]] {
        let args = [&["chat", "--model", "script", "--json", "-m", "x", "--matter", "two"], root].concat();
        assert_eq!(work.run(&args).exits(0).json()["calls"][0]["ok"], true);
    }
    // What holds another's root is no root either.
    plays(&work, &[calling("", &[call("t1", "fs.list_dir", json!({}))]), "Done.".to_owned()]);
    let args = ["chat", "--model", "script", "--json", "-m", "x", "--matter", "one", "--root", "above"];
    let why = "tool.root: sessions of the matter two write beneath this root";
    assert_eq!(work.run(&args).exits(0).json()["calls"][0]["error"], why);
}

/// A checkpoint is a copy: what somebody wrote into it is not believed.
#[test]
fn a_changed_checkpoint_is_told_again_from_the_ledger() {
    let work = playing(&[noting("Noted.", json!({ "set_goals": ["win"] }))]);
    turn(&work, 0, &[]);
    let path = work.path(DATA).join("matters/default/sessions/main.json");
    let kept = std::fs::read_to_string(&path).unwrap();
    let told = |note: bool| {
        let shown = work.run(&["session", "show", "main", "--json"]).good().json();
        assert_eq!(shown["state"]["goals"], json!(["win"]));
        assert_eq!(shown["recent_messages"][0]["content"], "Go on.");
        let notes = shown["notes"].as_array().unwrap();
        assert_eq!(notes.iter().any(|note| note.as_str().unwrap().contains("told again")), note, "{notes:?}");
    };
    told(false);
    for (from, to) in [("\"win\"", "\"lose\""), ("Go on.", "Give up."), ("\"win\"", "\"win\",\"net\"")] {
        assert!(kept.contains(from));
        std::fs::write(&path, kept.replace(from, to)).unwrap();
        told(true);
    }
    plays(&work, &["Later."]);
    assert_eq!(turn(&work, 0, &[])["text"], "Later.");
    told(false);
    verified(&work);
}

/// The files of the data directory that hold the canary.
fn holding(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holding(&path));
        } else if std::fs::read(&path).unwrap().windows(CANARY.len()).any(|part| part == CANARY.as_bytes()) {
            found.push(path);
        }
    }
    found
}

/// What is erased from the ledger is gone from the copies that sessions keep, too.
#[test]
fn what_is_erased_is_nowhere() {
    let work = playing(&["Noted.", "Later."]);
    for name in ["main", "other"] {
        work.run(&chat(&["--session", name, "--json", "-m", "Hello."])).exits(0);
        work.run(&chat(&["--session", name, "--json", "-m", CANARY])).exits(0);
    }
    let begun = rows(&work, "session.turn_begun");
    let digest = begun[1]["payload"]["message"].as_str().unwrap();
    let erase = ["ledger", "erase", digest, "--reason", "request of the data subject"];
    assert!(holding(&work.path(DATA)).len() > 2);
    // Whoever is in the middle of a session would write it again.
    let mut open =
        work.command(BINARY, &chat(&[])).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    writeln!(open.stdin.as_mut().unwrap(), "Go on.").unwrap();
    let mut said = String::new();
    BufReader::new(open.stdout.as_mut().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, "Noted.\n");
    work.run(&erase).refused_silently(1, "session.locked");
    drop(open.stdin.take());
    open.wait().unwrap();
    let done = work.run(&[&erase[..], &["--json"]].concat()).good().json();
    assert_eq!(done["sessions"], json!(["main", "other"]));
    assert_eq!(holding(&work.path(DATA)), Vec::<std::path::PathBuf>::new());
    work.run(&erase).refused_silently(1, "blob.erased");
    assert_eq!(work.run(&["session", "list", "--json"]).good().json(), json!(["main", "other"]));
    let shown = work.run(&["session", "show", "other", "--json"]).good().json();
    let said =
        shown["recent_messages"].as_array().unwrap().iter().map(|one| one["content"].as_str().unwrap());
    assert_eq!(said.collect::<Vec<_>>(), ["Hello.", "Noted.", "[erased]", "Noted."]);
    assert_eq!(turn(&work, 0, &["--session", "other"])["turn"], 3);
    verified(&work);
}

/// What a killed write left behind may be any file of its directory.
#[test]
fn what_a_write_left_behind_has_the_class_of_what_was_written_there() {
    let work = playing(&[calling("", &[write("t1", "a.txt", "x")]), "Done.".to_owned()]);
    let server = far(&work);
    work.run(&["capability", "grant", "fs:write", "--session", "local"]).good();
    let local = ["--session", "local", "--class", "local_only"];
    assert_eq!(turn(&work, 0, &local)["calls"][0]["ok"], true);
    let name = ".countersign-0123456789abcdef";
    work.write(&format!("root/{name}"), CANARY);
    plays(&work, &[calling("", &[call("t1", "fs.read_text", json!({ "path": name }))]), "Done.".into()]);
    assert_eq!(turn(&work, 0, &["--session", "s1"])["calls"][0]["ok"], true);
    stays(&work, &server, 1, &["--session", "s1"]);
}

#[test]
fn a_checkpoint_that_the_ledger_does_not_know_is_put_aside() {
    let work = playing(&["Yes."]);
    let server = far(&work);
    work.run(&chat(&["--class", "local_only", "-m", CANARY])).good();
    // Another ledger, and another name.
    let file = |name: &str| work.path(DATA).join("matters/default/sessions").join(name);
    let text = std::fs::read_to_string(file("main.json")).unwrap();
    std::fs::write(file("other.json"), text.replace("\"main\"", "\"other\"")).unwrap();
    stays(&work, &server, 0, &["--session", "other"]);
    stays(&work, &server, 0, &["--store", "sqlite:elsewhere"]);
    assert!(file("main.damaged").exists(), "somebody may want to look at it");
}

#[test]
fn what_is_said_is_never_wider_than_the_policy_has_it() {
    let work = playing(&["Yes."]);
    let server = far(&work);
    policy(&work, "user_class = \"local_only\"");
    stays(&work, &server, 1, &["--class", "public"]);
    assert_eq!(rows(&work, "workspace.externalized")[0]["payload"]["status"], "blocked_by_policy");
    // Nor is the matter's own policy exchanged.
    work.write("lax.toml", "allow = [\"fs:write\"]");
    work.run(&chat(&["-m", "x", "--policy", "lax.toml"])).refused_silently(2, "policy.invalid");
    std::fs::remove_file(work.path(DATA).join("matters/default/policy.toml")).unwrap();
    std::os::unix::fs::symlink("nowhere", work.path(DATA).join("matters/default/policy.toml")).unwrap();
    work.run(&chat(&["-m", "x"])).refused_silently(2, "file.unreadable");
}

#[test]
fn people_decide_while_a_model_is_waited_for() {
    let work = playing(&["Yes."]);
    let server = Server::start(vec![Answer::Stalls(vec!["Wait"])]);
    server.added(&work, "far", &[]);
    work.run(&chat(&["-m", "Begin."])).good();
    let mut child = work.command(BINARY, &["chat", "--model", "far", "-m", "Slowly."]).spawn().unwrap();
    server.heard.recv_timeout(talks::PATIENCE).unwrap();
    work.run(&["capability", "grant", "fs:write"]).good();
    work.run(&["capability", "revoke", "fs:write"]).good();
    work.run(&chat(&["-m", "Meanwhile.", "--session", "other"])).good();
    child.kill().unwrap();
    child.wait().unwrap();
    talks::verified(&work);
}
