//! `serve`: runs over HTTP, as the commands do them, many at once, across restarts.
//! Owns: what is done for whoever may ask. Must not: try who may (`serve_guard.rs` does).

use crate::binary::Work;
use crate::served::{PROGRAMS, QUESTION, SOURCES, Served, desk, library, token};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::net::TcpStream;
use std::process::Command;

fn keys(value: &Value) -> BTreeSet<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

/// The rows of a kind, as the command line tells them.
fn rows(work: &Work, kind: &str) -> Vec<Value> {
    work.run(&["ledger", "rows", "--kind", kind]).good().lines()
}

#[test]
fn an_envelope_is_processed_as_the_command_does_it() {
    let work = library();
    let server = Served::start(&work, &SOURCES);
    let given = json!({"raw_input": QUESTION, "metadata": {"large": 9007199254740993_u64}, "unknown": [1, {"k": null}]});
    let text = given.to_string().replace("[1,", "[1.50,");
    let head = format!(
        "Host: {}\r\nAuthorization: bearer {}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: {}\r\n",
        server.host,
        server.token.as_ref().unwrap(),
        text.len()
    );
    let reply = server.raw("POST", "/api/v1/process", &head, text.as_bytes());
    assert!(reply.text().contains("1.50") && reply.text().contains("9007199254740993"), "{}", reply.text());
    let envelope = reply.good();
    assert_eq!(envelope["terminal_reason"], "completed_successfully");
    let answer = envelope["outputs"]["integration"]["final_response"].as_str().unwrap();
    assert!(answer.contains("31 May 2027"), "{answer}");
    let by_command = work.feed(&[&["process", "--data", "other"], &SOURCES[..]].concat(), &text).good();
    let by_command: Value = serde_json::from_slice(&by_command.bytes).unwrap();
    assert_eq!(keys(&envelope), keys(&by_command));
    assert_eq!(keys(&envelope["outputs"]), keys(&by_command["outputs"]));
    // But for how long a step took.
    for stage in ["intent", "draft", "critic", "integration"] {
        assert_eq!(envelope["outputs"][stage], by_command["outputs"][stage], "{stage}");
    }
    for member in ["unknown", "stage_order", "all_goals", "completed_stages", "llm_call_count"] {
        assert_eq!(envelope[member], by_command[member], "{member}");
    }
    // The runs, as the command line tells them.
    let run = envelope["metadata"]["run_id"].as_str().unwrap();
    let listed = server.as_admin("GET", "/api/v1/runs", None).good();
    assert_eq!(listed, work.run(&["runs", "list", "--json"]).good().json()["runs"].clone());
    let shown = server.as_admin("GET", &format!("/api/v1/runs/{run}"), None).good();
    assert_eq!(shown, work.run(&["runs", "show", run, "--json"]).good().json());
    assert_eq!((&shown["envelope"], &shown["standing"]), (&envelope, &json!("over")));
    // What has ended is handed back as it is.
    let again = server.as_admin("POST", "/api/v1/process", Some(&envelope));
    assert_eq!((again.status, again.code(), again.json()), (200, Some("run.over"), envelope));
    // And what stands elsewhere is not begun.
    let elsewhere = json!({"raw_input": "x", "current_stage": "elsewhere"});
    server.as_admin("POST", "/api/v1/process", Some(&elsewhere)).refused(422, "run.stage");
    server.stop();
    work.run(&["ledger", "verify"]).good();
}

#[test]
fn one_stage_at_a_time_is_one_run() {
    let work = desk(&[("one", "do"), ("two", "do")]);
    let server = Served::start(&work, &PROGRAMS);
    let step = |envelope: &Value| server.as_admin("POST", "/api/v1/process?step=true", Some(envelope)).good();
    let one = step(&json!({"raw_input": "x"}));
    assert_eq!((&one["terminated"], one["agent_hop_count"].as_u64()), (&json!(false), Some(1)));
    let two = step(&one);
    assert_eq!(two["terminal_reason"], "completed_successfully");
    assert_eq!(server.as_admin("GET", "/api/v1/runs", None).good().as_array().unwrap().len(), 1);
    for query in ["step=yes", "step", "pace=1", "step=true&step=false"] {
        let path = format!("/api/v1/process?{query}");
        server.as_admin("POST", &path, Some(&one)).refused(400, "http.query");
    }
}

#[test]
fn what_a_run_asks_is_answered_once() {
    let work = desk(&[("intent", "ask"), ("execution", "leave")]);
    work.run(&["principal", "add", "ana"]).good();
    let server = Served::start(&work, &PROGRAMS);
    let (_, ana) = token(&work, "ana", "approver", &[]);
    let (run, id, envelope) = server.waiting();
    let path = format!("/api/v1/runs/{run}/answer");
    let answer = |body: Value| server.ask(&ana, "POST", &path, Some(&body));
    let pending = server.as_admin("POST", "/api/v1/process", Some(&envelope));
    assert_eq!((pending.status, pending.code(), pending.json()), (200, Some("run.waiting"), envelope));
    // What does not count changes nothing.
    answer(json!({"id": "stop_0000000000000000", "value": "x"})).refused(409, "answer.unasked");
    answer(json!({"id": id, "approve": true})).refused(400, "answer.kind");
    answer(json!({"id": id})).refused(400, "field.invalid");
    answer(json!({"id": id, "value": "x", "deny": true})).refused(400, "field.invalid");
    let missing = "/api/v1/runs/run_0000000000000000/answer";
    server.ask(&ana, "POST", missing, Some(&json!({"id": id, "value": "x"}))).refused(404, "run.missing");
    assert!(rows(&work, "run.answered").is_empty());
    // Words, and then leave, which is asked for under another name.
    let asks = answer(json!({"id": id, "value": "the harbour's"}));
    assert_eq!((asks.status, asks.code()), (200, Some("run.waiting")), "{}", asks.text());
    let leave = asks.json()["confirmation_id"].as_str().unwrap().to_owned();
    answer(json!({"id": id, "value": "again"})).refused(409, "answer.unasked");
    let done = answer(json!({"id": leave, "choose": "approve"})).good();
    assert_eq!(done["terminal_reason"], "completed_successfully");
    answer(json!({"id": leave, "deny": true})).refused(409, "run.over");
    // Whoever bears the token has answered, and signed.
    let answered = rows(&work, "run.answered");
    assert_eq!(answered.len(), 2);
    for row in &answered {
        assert_eq!((&row["actor"], &row["payload"]["by"]), (&json!("ana"), &json!("ana")), "{row}");
        assert_eq!(row["proof"]["kind"], "signed", "{row}");
    }
    server.stop();
    work.run(&["ledger", "verify"]).good();
}

#[test]
fn leave_that_is_denied_ends_the_run_and_late_leave_is_none() {
    let work = desk(&[("execution", "leave")]);
    let server = Served::start(&work, &PROGRAMS);
    let (run, id, _) = server.waiting();
    let body = json!({"id": id, "deny": true});
    let denied = server.as_admin("POST", &format!("/api/v1/runs/{run}/answer"), Some(&body));
    assert_eq!((denied.status, denied.code()), (200, Some("run.denied")), "{}", denied.text());
    assert_eq!(denied.json()["terminal_reason"], "denied_by_policy");
    let late = desk(&[("execution", "late")]);
    let server = Served::start(&late, &PROGRAMS);
    let (run, id, _) = server.waiting();
    let body = json!({"id": id, "approve": true});
    let answer = server.as_admin("POST", &format!("/api/v1/runs/{run}/answer"), Some(&body));
    answer.refused(410, "answer.expired");
    assert!(rows(&late, "run.answered").is_empty());
}

#[test]
fn of_two_answers_at_once_one_counts() {
    let work = desk(&[("intent", "ask")]);
    let server = Served::start(&work, &PROGRAMS);
    for _ in 0..5 {
        let (run, id, _) = server.waiting();
        let path = format!("/api/v1/runs/{run}/answer");
        let replies: Vec<_> = std::thread::scope(|scope| {
            let one = |words: &'static str| {
                let (server, path, id) = (&server, &path, &id);
                scope.spawn(move || server.as_admin("POST", path, Some(&json!({"id": id, "value": words}))))
            };
            let both = [one("this"), one("that")];
            both.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let statuses: BTreeSet<u16> = replies.iter().map(|reply| reply.status).collect();
        assert_eq!(statuses, BTreeSet::from([200, 409]), "{replies:?}");
        let lost = replies.iter().find(|reply| reply.status == 409).unwrap();
        assert!(["run.busy", "run.over", "answer.unasked"].contains(&lost.code().unwrap()), "{lost:?}");
    }
    assert_eq!(rows(&work, "run.answered").len(), 5);
}

#[test]
fn fifty_at_once_lose_no_run() {
    let work = library();
    let server = Served::start(&work, &SOURCES);
    let runs: BTreeSet<String> = std::thread::scope(|scope| {
        let one = |at: usize| {
            let server = &server;
            scope.spawn(move || {
                let envelope = json!({"raw_input": QUESTION, "user_id": format!("user-{at}")});
                let done = server.as_admin("POST", "/api/v1/process", Some(&envelope)).good();
                assert_eq!(done["user_id"], format!("user-{at}"), "everybody gets their own");
                assert_eq!(done["terminal_reason"], "completed_successfully");
                done["metadata"]["run_id"].as_str().unwrap().to_owned()
            })
        };
        let all: Vec<_> = (0..50).map(one).collect();
        all.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(runs.len(), 50);
    let listed = server.as_admin("GET", "/api/v1/runs", None).good();
    let over = listed.as_array().unwrap().iter().filter(|run| run["standing"] == "over");
    assert_eq!(over.map(|run| run["run"].as_str().unwrap().to_owned()).collect::<BTreeSet<_>>(), runs);
    server.stop();
    work.run(&["ledger", "verify"]).good();
}

#[test]
fn a_run_that_waits_still_waits_after_a_restart() {
    for ends_well in [true, false] {
        let work = desk(&[("intent", "ask")]);
        let server = Served::start(&work, &PROGRAMS);
        let (run, id, envelope) = server.waiting();
        let token = server.token.clone();
        if ends_well {
            server.stop();
        } else {
            // The drop ends it with SIGKILL.
            drop(server);
        }
        let mut again = Served::start(&work, &PROGRAMS);
        assert_eq!(again.token, None, "a token is made at the first start alone");
        again.token = token;
        let shown = again.as_admin("GET", &format!("/api/v1/runs/{run}"), None).good();
        assert_eq!((&shown["standing"], &shown["envelope"]), (&json!("waiting"), &envelope));
        let pending = again.as_admin("POST", "/api/v1/process", Some(&envelope));
        assert_eq!(pending.code(), Some("run.waiting"));
        let body = json!({"id": id, "value": "the harbour's"});
        let done = again.as_admin("POST", &format!("/api/v1/runs/{run}/answer"), Some(&body)).good();
        assert_eq!(done["terminal_reason"], "completed_successfully");
    }
}

/// A desk whose agent waits at a gate.
fn gated() -> Work {
    let work = desk(&[("work", "gate")]);
    assert!(Command::new("mkfifo").arg(work.path("gate")).status().unwrap().success());
    work
}

/// Waits until the agent stands at the gate; it goes on when what this gives is dropped.
fn at_the_gate(work: &Work) -> std::fs::File {
    OpenOptions::new().write(true).open(work.path("gate")).unwrap()
}

#[test]
fn what_is_at_work_is_finished_before_the_end() {
    let work = gated();
    let server = Served::start(&work, &PROGRAMS);
    std::thread::scope(|scope| {
        let asking =
            scope.spawn(|| server.as_admin("POST", "/api/v1/process", Some(&json!({"raw_input": "x"}))));
        let gate = at_the_gate(&work);
        server.terminate();
        // Nobody else is let in from now on.
        while TcpStream::connect(&server.host).is_ok() {}
        drop(gate);
        assert_eq!(asking.join().unwrap().good()["terminal_reason"], "completed_successfully");
    });
    let done = server.ended();
    assert_eq!(done.exit, Some(0), "{}", done.err);
    assert!(done.err.contains("1 request at work"), "{}", done.err);
}

#[test]
fn whoever_asks_twice_for_the_end_gets_it() {
    let work = gated();
    let server = Served::start(&work, &PROGRAMS);
    let reply = std::thread::scope(|scope| {
        let asking =
            scope.spawn(|| server.as_admin("POST", "/api/v1/process", Some(&json!({"raw_input": "x"}))));
        let _gate = at_the_gate(&work);
        server.terminate();
        while TcpStream::connect(&server.host).is_ok() {}
        server.terminate();
        asking.join().unwrap()
    });
    // The agent was ended in the middle; what became of it is for a person to say.
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert!(["run.waiting", "run.failed"].contains(&reply.code().unwrap()), "{reply:?}");
    let done = server.ended();
    assert_eq!(done.exit, Some(0), "{}", done.err);
    let runs = work.run(&["runs", "list", "--json"]).good().json()["runs"].clone();
    assert_eq!(runs[0]["run"], reply.json()["metadata"]["run_id"]);
    work.run(&["ledger", "verify"]).good();
}

#[test]
fn a_run_goes_on_without_whoever_asked() {
    let work = gated();
    let server = Served::start(&work, &PROGRAMS);
    let body = json!({"raw_input": "x"}).to_string();
    let mut stream = server.connect();
    let head = format!(
        "POST /api/v1/process HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        server.host,
        server.token.as_ref().unwrap(),
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let gate = at_the_gate(&work);
    let open = server.as_admin("GET", "/api/v1/runs", None).good();
    assert_eq!(open[0]["standing"], "open");
    drop(stream);
    drop(gate);
    server.terminate();
    assert_eq!(server.ended().exit, Some(0));
    let runs = work.run(&["runs", "list", "--json"]).good().json()["runs"].clone();
    assert_eq!(
        (&runs[0]["standing"], &runs[0]["reason"]),
        (&json!("over"), &json!("completed_successfully"))
    );
}

#[test]
fn two_requests_do_not_share_a_run() {
    let work = desk(&[("one", "do"), ("work", "gate")]);
    assert!(Command::new("mkfifo").arg(work.path("gate")).status().unwrap().success());
    let server = Served::start(&work, &PROGRAMS);
    let one = server.as_admin("POST", "/api/v1/process?step=true", Some(&json!({"raw_input": "x"}))).good();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| server.as_admin("POST", "/api/v1/process", Some(&one)));
        let gate = at_the_gate(&work);
        server.as_admin("POST", "/api/v1/process", Some(&one)).refused(409, "run.busy");
        drop(gate);
        assert_eq!(first.join().unwrap().good()["terminal_reason"], "completed_successfully");
    });
    assert_eq!(rows(&work, "run.called").len(), 2, "each stage once");
}

#[test]
fn the_description_is_what_is_answered() {
    let work = library();
    let server = Served::start(&work, &SOURCES);
    let described = server.as_admin("GET", "/openapi.json", None);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");
    assert_eq!(described.text(), std::fs::read_to_string(path).unwrap());
    assert_eq!(described.text(), work.run(&["serve", "--openapi"]).good().text());
    let described = described.good();
    assert!(described["openapi"].as_str().unwrap().starts_with("3.1"), "{}", described["openapi"]);
    let paths: Vec<&String> = described["paths"].as_object().unwrap().keys().collect();
    let expected = [
        "/api/v1/process",
        "/api/v1/runs",
        "/api/v1/runs/{id}",
        "/api/v1/runs/{id}/answer",
        "/healthz",
        "/openapi.json",
    ];
    assert_eq!(paths, expected);
    // Every form that is named is there, and has the members that are really answered.
    let form = |name: &str| described["components"]["schemas"][name].clone();
    for part in described.to_string().split("\"#/components/schemas/").skip(1) {
        assert!(form(part.split('"').next().unwrap()).is_object(), "{part:.40}");
    }
    let members = |name: &str| keys(&form(name)["properties"]);
    let envelope = server.as_admin("POST", "/api/v1/process", Some(&json!({"raw_input": QUESTION}))).good();
    assert!(members("GenericEnvelope").is_subset(&keys(&envelope)));
    let listed = server.as_admin("GET", "/api/v1/runs", None).good();
    assert_eq!(members("ListedRun"), keys(&listed[0]));
    let run = listed[0]["run"].as_str().unwrap();
    let shown = server.as_admin("GET", &format!("/api/v1/runs/{run}"), None).good();
    assert_eq!(members("ShownRun"), keys(&shown));
    assert_eq!(members("TimelineRow"), keys(&shown["timeline"][0]));
    let health = server.raw("GET", "/healthz", &format!("Host: {}\r\n", server.host), b"");
    assert_eq!(members("Health"), keys(&health.good()));
    assert_eq!(members("Error"), BTreeSet::from(["error".to_owned()]));
}
