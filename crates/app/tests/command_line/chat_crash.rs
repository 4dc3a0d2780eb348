//! A chat that is ended with SIGKILL: nothing is done twice, and what nobody saw is asked about.

use crate::binary::{BINARY, Work};
use crate::talks::{
    Answer, PATIENCE, Server, call, calling, chat, file, playing, plays, rows, turn, verified, write,
};
use countersign_testkit::random::Random;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::process::{Child, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// A chat that gets no further than so many bytes of standard error: it waits for a reader there.
struct Held {
    child: Child,
    /// Keeps the pipe open.
    _reader: std::io::PipeReader,
}

impl Held {
    fn start(work: &Work, room: usize) -> Self {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let size = rustix::pipe::fcntl_getpipe_size(&writer).unwrap();
        writer.write_all(&vec![b'-'; size - room]).unwrap();
        let child =
            work.command(BINARY, &chat(&["-m", "Write."])).stderr(Stdio::from(writer)).spawn().unwrap();
        Held { child, _reader: reader }
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Waits for the first row of a kind.
fn comes(work: &Work, kind: &str) {
    work.run(&["ledger", "tail", "--kind", kind, "--count", "1", "--json"]).good();
}

fn writing() -> Work {
    let work = playing(&[calling("I write.", &[write("t1", "a.txt", "hi")]), "Written.".to_owned()]);
    // There is a ledger, and a grant.
    work.run(&["capability", "grant", "fs:write"]).good();
    work
}

/// The session waits for a word about `t1`.
fn unsettled(work: &Work) {
    for args in [&chat(&["-m", "Go on."])[..], &chat(&[])] {
        let done = work.run(args);
        assert_eq!((done.exit, done.text()), (Some(3), ""), "{}", done.err);
        let last: Value = serde_json::from_str(done.err.lines().last().unwrap()).unwrap();
        assert_eq!(last["error"]["code"], "session.unsettled", "{}", done.err);
        assert_eq!(last["error"]["details"]["calls"], "t1");
        assert!(done.err.contains("countersign session settle main --call t1"), "{}", done.err);
    }
    let shown = work.run(&["session", "show", "main", "--json"]).exits(3).json();
    let summary = "write 2 bytes to a.txt, if there is nothing yet";
    assert_eq!(shown["unsettled"], json!([{ "call": "t1", "tool": "fs.write_text", "summary": summary }]));
    work.run(&["session", "undo", "main"]).refused_silently(3, "session.unsettled");
    let settle = ["session", "settle", "main", "--found", "happened", "--call"];
    work.run(&[&settle[..], &["t2"]].concat()).refused_silently(1, "session.nothing");
}

#[test]
fn a_write_that_was_not_begun_is_asked_about() {
    let work = writing();
    // The intent is durable, and the card that says so waits for a reader: the file is not there yet.
    let held = Held::start(&work, 1);
    comes(&work, "session.tool_started");
    held.kill();
    assert_eq!(file(&work, "a.txt"), None);
    unsettled(&work);
    assert_eq!(file(&work, "a.txt"), None, "nothing is done again");
    let settle = ["session", "settle", "main", "--call", "t1", "--found", "did-not-happen"];
    assert_eq!(work.run(&settle).good().text(), "t1: did_not_happen\n");
    work.run(&settle).refused_silently(1, "session.nothing");
    plays(&work, &["Then I leave it."]);
    assert_eq!(turn(&work, 0, &[])["text"], "Then I leave it.");
    assert_eq!(file(&work, "a.txt"), None);
    verified(&work);
}

#[test]
fn a_write_whose_end_was_not_recorded_is_asked_about() {
    let work = writing();
    // There is room for the card before the call, and not for the one after it.
    let card = "  ▸ fs.write_text  write 2 bytes to a.txt, if there is nothing yet\n";
    let held = Held::start(&work, card.len() + 1);
    comes(&work, "session.tool_started");
    // The file is there before anybody says so: looking for it is all that is left.
    let (sender, there) = channel();
    let path = work.path("root").join("a.txt");
    std::thread::spawn(move || {
        while !path.exists() {
            std::thread::yield_now();
        }
        sender.send(()).unwrap();
    });
    there.recv_timeout(PATIENCE).unwrap();
    held.kill();
    unsettled(&work);
    let settle = ["session", "settle", "main", "--call", "t1", "--found", "happened", "--json"];
    let settled = work.run(&[&settle[..], &["--as", "ana"]].concat()).good().json();
    assert_eq!(settled, json!({ "call": "t1", "fate": "happened", "left": 0 }));
    assert_eq!(rows(&work, "session.effect_settled")[0]["actor"], "ana");
    plays(&work, &["Good."]);
    assert_eq!(turn(&work, 0, &[])["text"], "Good.");
    assert_eq!(file(&work, "a.txt").unwrap(), "hi");
    assert_eq!(rows(&work, "session.tool_started").len(), 1);
    verified(&work);
}

#[test]
fn a_call_that_may_be_made_again_needs_no_word() {
    let server = Server::start(vec![Answer::Silent]);
    let url = format!("http://127.0.0.1:{}/page", server.port);
    let work = playing(&[calling("", &[call("t1", "http.get", json!({ "url": url }))]), "Read.".to_owned()]);
    work.run(&["capability", "grant", &format!("net:127.0.0.1:{}", server.port)]).good();
    let mut child = work.command(BINARY, &chat(&["-m", "Read."])).spawn().unwrap();
    server.heard.recv_timeout(PATIENCE).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    plays(&work, &["Then without it."]);
    let done = work.run(&chat(&["-m", "And?"]));
    assert_eq!((done.exit, done.text()), (Some(0), "Then without it.\n"), "{}", done.err);
    assert!(
        done.err.contains("note: turn 1 was interrupted; what is known of it was kept\n"),
        "{}",
        done.err
    );
    let settled = rows(&work, "session.effect_settled");
    assert_eq!(settled[0]["payload"]["fate"], "unknown", "{settled:?}");
    verified(&work);
}

/// What there is of one call after a crash.
fn check_call(work: &Work, id: &str, name: &str) {
    let of = |kind: &str| {
        let rows = rows(work, kind);
        rows.iter().filter(|row| row["payload"]["call"] == id).count()
    };
    let (begun, ended, settled) =
        (of("session.tool_started"), of("session.tool_ended"), of("session.effect_settled"));
    assert!(begun <= 1, "{id} was made {begun} times");
    assert!(ended + settled <= begun, "{id}: {begun} {ended} {settled}");
    assert!(begun == 1 || file(work, name).is_none(), "{id} was done without an intent");
    assert!(ended == 0 || file(work, name).is_some(), "{id} is said to be done");
}

#[test]
fn killed_at_any_moment_nothing_is_lost_or_done_twice() {
    const ROUNDS: usize = 8;
    const CALLS: usize = 6;
    let work = playing(&["x"]);
    work.run(&["capability", "grant", "fs:write"]).good();
    let mut random = Random::new(7);
    let (mut asked, mut names) = (0, Vec::new());
    for round in 0..ROUNDS {
        let one = |call: usize| (format!("r{round}c{call}"), format!("{round}-{call}.txt"));
        let mut replies: Vec<String> = Vec::new();
        for (id, name) in (0..CALLS).map(one) {
            replies.push(calling("", &[write(&id, &name, &id)]));
            names.push((id, name));
        }
        replies.push("Done.".to_owned());
        plays(&work, &replies);
        let mut child = work.command(BINARY, &chat(&["-m", "Write."])).spawn().unwrap();
        // From before the first row to about the end; a line of standard error is a call that begins or ends.
        let mut error = child.stderr.take().unwrap();
        let (sender, lines) = channel();
        let reading = std::thread::spawn(move || {
            let mut byte = [0];
            while let Ok(1) = error.read(&mut byte) {
                if byte[0] == b'\n' && sender.send(()).is_err() {
                    return;
                }
            }
        });
        let stop = random.within(0..2 * CALLS as u64 + 1);
        for _ in 0..stop {
            if lines.recv_timeout(PATIENCE).is_err() {
                break;
            }
        }
        // A moment more: what comes next may be under way. It does not matter whether it is.
        lines.recv_timeout(Duration::from_micros(random.within(0..3_000))).ok();
        child.kill().unwrap();
        child.wait().unwrap();
        drop(lines);
        reading.join().unwrap();
        let done = work.run(&["session", "show", "main", "--json"]);
        assert!(matches!(done.exit, Some(0 | 3)), "{}", done.err);
        for open in done.json()["unsettled"].as_array().unwrap() {
            let call = open["call"].as_str().unwrap();
            let (_, name) = names.iter().find(|(id, _)| id == call).unwrap();
            let found = if file(&work, name).is_some() { "happened" } else { "did-not-happen" };
            work.run(&["session", "settle", "main", "--call", call, "--found", found]).good();
            asked += 1;
        }
        work.run(&["session", "show", "main"]).good();
    }
    for (id, name) in &names {
        check_call(&work, id, name);
        assert!(file(&work, name).is_none_or(|text| text == *id), "{name} is whole or not there");
    }
    plays(&work, &["The end."]);
    assert_eq!(turn(&work, 0, &[])["text"], "The end.");
    verified(&work);
    assert_eq!(rows(&work, "session.effect_settled").len(), asked);
}
