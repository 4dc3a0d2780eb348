//! Sessions at the binary: a model that plays a script, and a server that answers as one does.
//! Owns: the script's lines, the server's side of the wire. Must not: know what a test expects.

use crate::binary::{DATA, Done, Work};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How long something may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A call as the model writes it.
pub(crate) fn call(id: &str, tool: &str, args: Value) -> Value {
    json!({ "id": id, "tool": tool, "args": args })
}

/// A call that writes a file.
pub(crate) fn write(id: &str, path: &str, text: &str) -> Value {
    call(id, "fs.write_text", json!({ "path": path, "text": text }))
}

/// A reply that makes calls.
pub(crate) fn calling(text: &str, calls: &[Value]) -> String {
    format!("{text}<<<TOOL_CALLS_JSON>>>{}<<<END_TOOL_CALLS_JSON>>>", json!(calls))
}

/// A reply with notes.
pub(crate) fn noting(text: &str, notes: Value) -> String {
    format!("{text}<<<NOTES_JSON>>>{notes}<<<END_NOTES_JSON>>>")
}

/// A directory with a root for tools and the model `script`, which says these things.
pub(crate) fn playing<T: AsRef<str>>(replies: &[T]) -> Work {
    let work = Work::new();
    std::fs::create_dir(work.path("root")).unwrap();
    plays(&work, replies);
    work.run(&["models", "add", "script", "--provider", "scripted", "--file", "script.jsonl"]).good();
    work
}

/// Gives the model another script. Each process begins it at its first line.
pub(crate) fn plays<T: AsRef<str>>(work: &Work, replies: &[T]) {
    let line = |reply: &T| format!("{}\n", json!({ "text": reply.as_ref() }));
    work.write("script.jsonl", replies.iter().map(line).collect::<String>());
}

/// What every chat with the script is started with.
pub(crate) const CHAT: [&str; 5] = ["chat", "--model", "script", "--root", "root"];

/// The arguments of a chat with the script.
pub(crate) fn chat<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&CHAT[..], more].concat()
}

/// One turn with the script, as its document.
pub(crate) fn turn(work: &Work, exit: i32, more: &[&str]) -> Value {
    work.run(&chat(&[&["--json", "-m", "Go on."], more].concat())).exits(exit).json()
}

/// The rows of a kind.
pub(crate) fn rows(work: &Work, kind: &str) -> Vec<Value> {
    work.run(&["ledger", "rows", "--kind", kind, "--json"]).good().lines()
}

/// The ledger holds together.
pub(crate) fn verified(work: &Work) {
    let done = work.run(&["ledger", "verify", "--json"]).good().json();
    assert_eq!(done["sound"], true, "{done}");
}

/// A file beneath the root.
pub(crate) fn file(work: &Work, name: &str) -> Option<String> {
    std::fs::read_to_string(work.path("root").join(name)).ok()
}

/// The policy of the matter.
pub(crate) fn policy(work: &Work, text: &str) {
    let dir = work.path(DATA).join("matters/default");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("policy.toml"), text).unwrap();
}

/// Its lines of standard error.
pub(crate) fn asides(done: &Done) -> Vec<&str> {
    done.err.lines().collect()
}

/// How a server answers one request.
pub(crate) enum Answer {
    /// With these pieces, to the end.
    Says(Vec<&'static str>),
    /// With these pieces, and then with nothing.
    Stalls(Vec<&'static str>),
    /// With nothing at all.
    Silent,
    /// With these bytes, which need not be a model's.
    Raw(String),
}

/// A server on this machine that speaks as OpenAI's does.
pub(crate) struct Server {
    pub(crate) port: u16,
    /// Every request as it came.
    pub(crate) heard: Receiver<String>,
}

impl Server {
    pub(crate) fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, heard) = channel();
        std::thread::spawn(move || {
            // What stalls stays open to the end of the test.
            let mut open = Vec::new();
            for answer in answers {
                let Ok((mut stream, _)) = listener.accept() else { return };
                let Some(request) = request(&stream) else { return };
                if sender.send(request).is_err() {
                    return;
                }
                match answer {
                    Answer::Says(pieces) => say(&mut stream, &pieces, "data: [DONE]\n\n"),
                    Answer::Stalls(pieces) => {
                        say(&mut stream, &pieces, "");
                        open.push(stream);
                    }
                    Answer::Silent => open.push(stream),
                    Answer::Raw(text) => drop(stream.write_all(text.as_bytes())),
                }
            }
            while let Ok((stream, _)) = listener.accept() {
                open.push(stream);
            }
        });
        Server { port, heard }
    }

    /// Sets it up as a model.
    pub(crate) fn added(&self, work: &Work, name: &str, more: &[&str]) {
        let url = format!("http://127.0.0.1:{}/v1", self.port);
        let add = ["models", "add", name, "--provider", "openai", "--model", "x", "--base-url", &url];
        work.run(&[&add[..], more].concat()).good();
    }
}

fn request(stream: &TcpStream) -> Option<String> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let from = head.len();
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
        let line = head[from..].trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(format!("{head}{}", String::from_utf8(body).ok()?))
}

fn say(stream: &mut TcpStream, pieces: &[&str], end: &str) {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let mut all = head.to_owned();
    for piece in pieces {
        let event = json!({ "choices": [{ "index": 0, "delta": { "content": piece } }] });
        all.push_str(&format!("data: {event}\n\n"));
    }
    if !end.is_empty() {
        let stop = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
        all.push_str(&format!("data: {stop}\n\n{end}"));
    }
    // Whoever asked may be gone.
    drop(stream.write_all(all.as_bytes()).and_then(|()| stream.flush()));
}
