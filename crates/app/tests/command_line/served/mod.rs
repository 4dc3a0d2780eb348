//! A server, run as a user runs it, and a client of a few lines that can also misbehave.
//! Owns: starting and ending it, requests as they are on the wire. Must not: know what an endpoint does.

use super::binary::{DATA, Done, Running, Work};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Longer than anything here takes; without it a server that says nothing would hold the tests for ever.
const PATIENCE: Duration = Duration::from_secs(120);

/// Agents in Python: `ask` wants an answer in words first, `leave` wants leave first, `late` wants it by a time that is
/// over, `gate` waits until the test opens the
/// gate, anything else just hands over.
const AGENT: &str = r#"
import json, sys
question = json.load(sys.stdin)
state, kind = question["payload"]["state"], sys.argv[1]
answer = {"agent": "tester", "goal": question["goal"], "timestamp": question["timestamp"],
          "request_id": question["request_id"], "turn_id": question["turn_id"], "source": "external",
          "version": "1.0", "escalate": False, "reason": None, "provenance": {}, "payload": {"status": "success"}}
def escalate(reason, payload):
    answer.update(escalate=True, reason=reason, payload=payload)
if kind == "ask" and state["clarification_response"] is None:
    escalate("clarification_required", {"question": "Which lease?"})
if kind == "leave" and state["confirmation_response"] is None:
    escalate("confirmation_required", {"message": "publish it"})
if kind == "late":
    escalate("confirmation_required", {"message": "publish it", "expires_at": "2020-01-01T00:00:00Z"})
if kind == "gate":
    open("gate").read()
json.dump(answer, sys.stdout)
"#;

/// A directory with a pipeline of these stages, each with what its agent does.
pub(crate) fn desk(stages: &[(&str, &str)]) -> Work {
    let work = Work::new();
    work.write("agent.py", AGENT);
    let mut pipeline = "name = \"test\"\n".to_owned();
    for (at, (name, kind)) in stages.iter().enumerate() {
        let next = stages.get(at + 1).map(|(next, _)| format!("default_next = \"{next}\"\n"));
        pipeline.push_str(&format!(
            "[[stages]]\nname = \"{name}\"\noutput_key = \"{name}_done\"\n{}agent = {{ kind = \"process\", command = [\"python3\", \"agent.py\", \"{kind}\"] }}\n",
            next.unwrap_or_default()
        ));
    }
    work.write("pipeline.toml", pipeline);
    work
}

/// The options that have a server use the pipeline of [`desk`].
pub(crate) const PROGRAMS: [&str; 3] = ["--pipeline", "pipeline.toml", "--allow-programs"];

/// A directory with a document that can be asked about.
pub(crate) fn library() -> Work {
    let work = Work::new();
    std::fs::create_dir(work.path("docs")).unwrap();
    work.write(
        "docs/lease.md",
        "# Lease\n\nThe lease of the harbour ends on 31 May 2027.\n\nThe rent is 900 euros.\n",
    );
    work
}

pub(crate) const SOURCES: [&str; 2] = ["--sources", "docs"];
pub(crate) const QUESTION: &str = "When does the lease of the harbour end?";

/// A server at work.
pub(crate) struct Served {
    running: Option<Running>,
    pub(crate) host: String,
    /// The token of the first start, if this was it.
    pub(crate) token: Option<String>,
}

impl Served {
    pub(crate) fn start(work: &Work, more: &[&str]) -> Self {
        let args = [&["serve", "--listen", "127.0.0.1:0", "--json"], more].concat();
        let mut running = Running::start(work, &args);
        let began: Value = serde_json::from_str(&running.line()).unwrap();
        let host = began["address"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
        Served { running: Some(running), host, token: began["token"].as_str().map(str::to_owned) }
    }

    /// Tells it to end.
    pub(crate) fn terminate(&self) {
        let id = i32::try_from(self.running.as_ref().unwrap().id()).unwrap();
        kill_process(Pid::from_raw(id).unwrap(), Signal::TERM).unwrap();
    }

    /// Waits for its end.
    pub(crate) fn ended(mut self) -> Done {
        self.running.take().unwrap().ended()
    }

    /// Ends it well.
    pub(crate) fn stop(self) {
        self.terminate();
        self.ended().good();
    }

    /// A request as whoever has the first token.
    pub(crate) fn as_admin(&self, method: &str, path: &str, body: Option<&Value>) -> Reply {
        self.ask(self.token.as_deref().expect("a first start"), method, path, body)
    }

    /// A request as the bearer of a token.
    pub(crate) fn ask(&self, token: &str, method: &str, path: &str, body: Option<&Value>) -> Reply {
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut head = format!("Authorization: Bearer {token}\r\n");
        if method == "POST" {
            head.push_str(&format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()));
        }
        self.raw(method, path, &format!("Host: {}\r\n{head}", self.host), body.as_bytes())
    }

    /// A request with exactly these headers.
    pub(crate) fn raw(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Reply {
        let mut stream = self.connect();
        let head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        // It may have been answered before all of it was read.
        drop(stream.write_all(body));
        Reply::read(&mut stream)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Has an envelope with this input processed, and it waits: the run, what it asks, the envelope.
    pub(crate) fn waiting(&self) -> (String, String, Value) {
        let reply = self.as_admin("POST", "/api/v1/process", Some(&json!({"raw_input": "End it."})));
        assert_eq!((reply.status, reply.code()), (200, Some("run.waiting")), "{}", reply.text());
        let envelope = reply.json();
        let run = envelope["metadata"]["run_id"].as_str().unwrap().to_owned();
        let shown = self.as_admin("GET", &format!("/api/v1/runs/{run}"), None).json();
        assert_eq!(shown["standing"], "waiting");
        let stopped =
            shown["timeline"].as_array().unwrap().iter().rev().find(|line| line["kind"] == "run.stopped");
        let id = stopped.unwrap()["payload"]["id"].as_str().unwrap().to_owned();
        (run, id, envelope)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.kill();
        }
    }
}

/// What a server answers.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn read(stream: &mut TcpStream) -> Self {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("a head");
        let head = std::str::from_utf8(&bytes[..end]).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let header = |line: &str| {
            let (name, value) = line.split_once(": ").unwrap();
            (name.to_ascii_lowercase(), value.to_owned())
        };
        Reply { status, headers: lines.map(header).collect(), body: bytes[end + 4..].to_vec() }
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.headers["content-type"], "application/json");
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{}", self.text()))
    }

    /// What the header says of the run, or of the error.
    pub(crate) fn code(&self) -> Option<&str> {
        self.headers.get("countersign-code").map(String::as_str)
    }

    /// It went well.
    pub(crate) fn good(self) -> Value {
        assert_eq!((self.status, self.code()), (200, None), "{}", self.text());
        self.json()
    }

    /// It is an error in our form, and says nothing that it should not.
    pub(crate) fn refused(&self, status: u16, code: &str) -> Value {
        assert_eq!((self.status, self.code()), (status, Some(code)), "{}", self.text());
        let error = self.json();
        let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&error), ["error"]);
        assert_eq!(names(&error["error"]), ["code", "details", "message"]);
        assert_eq!(error["error"]["code"], code);
        assert!(!self.text().contains("cst_") && !self.text().contains("panicked"), "{}", self.text());
        assert_eq!(self.headers["cache-control"], "no-store");
        error["error"].clone()
    }
}

/// A token for somebody, made as a user makes it.
pub(crate) fn token(work: &Work, name: &str, role: &str, more: &[&str]) -> (String, String) {
    let made = work.run(&[&["token", "add", name, "--role", role, "--json"], more].concat()).good().json();
    (made["id"].as_str().unwrap().to_owned(), made["token"].as_str().unwrap().to_owned())
}

/// Where the file of tokens is.
pub(crate) fn token_file(work: &Work) -> std::path::PathBuf {
    work.path(DATA).join("tokens.json")
}
