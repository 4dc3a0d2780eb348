//! `serve`: who is let in, and what is refused.
//! Owns: hosts, origins, tokens, roles, bodies that are none, clients that are slow. Must not: try the work itself.

use crate::binary::{self, DATA, Running, Work};
use crate::served::{PROGRAMS, Reply, Served, desk, token, token_file};
use serde_json::{Value, json};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

const PROCESS: &str = "/api/v1/process";

/// What a document may have, in bytes.
const BYTES_MAX: usize = 16 * 1024 * 1024;

fn envelope() -> Value {
    json!({"raw_input": "x"})
}

/// Nothing was written down.
fn nothing_ran(work: &Work) {
    assert_eq!(work.run(&["runs", "list", "--json"]).good().json()["runs"].clone(), json!([]));
}

#[test]
fn only_its_own_host_and_origin_are_let_in() {
    let work = desk(&[("one", "do")]);
    let server = Served::start(&work, &PROGRAMS);
    let token = server.token.as_deref().unwrap();
    let port = server.host.rsplit_once(':').unwrap().1;
    let body = envelope().to_string();
    let ask = |headers: &str, path: &str| {
        let length = body.len();
        let head = format!(
            "Authorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n{headers}"
        );
        server.raw("POST", path, &head, body.as_bytes())
    };
    for host in ["evil.example", &format!("evil.example:{port}"), "127.0.0.1:1", "localhost"] {
        ask(&format!("Host: {host}\r\n"), PROCESS).refused(421, "http.host");
        server.raw("GET", "/healthz", &format!("Host: {host}\r\n"), b"").refused(421, "http.host");
    }
    ask("", PROCESS).refused(421, "http.host");
    let own = format!("Host: {}\r\n", server.host);
    ask(&format!("{own}Host: evil.example\r\n"), PROCESS).refused(421, "http.host");
    ask(&own, &format!("http://evil.example{PROCESS}")).refused(421, "http.host");
    for origin in ["http://evil.example", "null", "https://127.0.0.1", &format!("http://localhost:{port}")] {
        ask(&format!("{own}Origin: {origin}\r\n"), PROCESS).refused(403, "http.origin");
    }
    nothing_ran(&work);
    ask(&format!("{own}Origin: http://{}\r\n", server.host), PROCESS).good();
    let named = format!("Host: localhost:{port}\r\n");
    ask(&format!("{named}Origin: http://localhost:{port}\r\n"), PROCESS).good();
    // No page of another site is told that it may ask.
    let before = server.raw("OPTIONS", PROCESS, &format!("{own}Origin: http://{}\r\n", server.host), b"");
    before.refused(401, "token.missing");
    assert!(!before.headers.keys().any(|name| name.starts_with("access-control")), "{before:?}");
}

/// The same but for its last digit.
fn other(token: &str) -> String {
    let (kept, last) = token.split_at(token.len() - 1);
    format!("{kept}{}", if last == "0" { '1' } else { '0' })
}

#[test]
fn only_a_token_that_counts_is_let_in() {
    let work = desk(&[("one", "do")]);
    let server = Served::start(&work, &PROGRAMS);
    let first = server.token.clone().unwrap();
    let own = format!("Host: {}\r\n", server.host);
    assert_eq!(server.raw("GET", "/healthz", &own, b"").good(), json!({"status": "ok"}));
    for path in ["/api/v1/runs", "/openapi.json", "/", "/api/v1/nothing", "/healthz/"] {
        let refused = server.raw("GET", path, &own, b"");
        refused.refused(401, "token.missing");
        assert_eq!(refused.headers["www-authenticate"], "Bearer");
    }
    server.raw("POST", "/healthz", &format!("{own}Content-Length: 0\r\n"), b"").refused(401, "token.missing");
    let wrong = [
        "Bearer wrong".to_owned(),
        format!("Bearer {}", other(&first)),
        format!("Bearer {}", &first[..first.len() - 1]),
        format!("Bearer  {first}"),
        format!("Bearer {first}x"),
        format!("Basic {first}"),
        first.clone(),
        "Bearer".to_owned(),
        format!("Bearer {}", "x".repeat(500)),
    ];
    for header in wrong {
        let head = format!("{own}Authorization: {header}\r\n");
        server.raw("GET", "/api/v1/runs", &head, b"").refused(401, "token.unknown");
    }
    let twice = format!("{own}Authorization: Bearer {first}\r\nAuthorization: Bearer {first}\r\n");
    server.raw("GET", "/api/v1/runs", &twice, b"").refused(401, "token.unknown");
    server.raw("GET", &format!("/api/v1/runs?token={first}"), &own, b"").refused(401, "token.missing");
    // One that has expired, and one that is revoked while the server is at work.
    let (_, old) = token(&work, "ana", "admin", &["--for", "1h", "--now", "2020-01-01T00:00:00Z"]);
    server.ask(&old, "GET", "/api/v1/runs", None).refused(401, "token.expired");
    let (id, ends) = token(&work, "ana", "viewer", &["--for", "1h"]);
    server.ask(&ends, "GET", "/api/v1/runs", None).good();
    work.run(&["token", "revoke", &id]).good();
    server.ask(&ends, "GET", "/api/v1/runs", None).refused(401, "token.revoked");
    work.run(&["token", "revoke", &id]).good();
    work.run(&["token", "revoke", "tok_000000000000"]).refused_silently(1, "token.unknown");
    work.run(&["token", "add", "ana", "--role", "viewer", "--for", "soon"])
        .refused_silently(2, "usage.invalid");
    work.run(&["token", "add", "ana", "--role", "king"]).refused_silently(2, "usage.invalid");
    // What is kept is no token.
    for token in [&first, &old, &ends] {
        assert!(!work.holds(DATA, token.as_bytes()));
    }
    let mode = std::fs::metadata(token_file(&work)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let listed = work.run(&["token", "list", "--json"]).good().json();
    let roles: Vec<&Value> = listed.as_array().unwrap().iter().map(|token| &token["role"]).collect();
    assert_eq!(roles, ["admin", "admin", "viewer"]);
    assert!(!work.run(&["token", "list"]).good().text().contains("cst_"));
}

#[test]
fn a_file_of_tokens_that_others_see_lets_nobody_in() {
    let work = desk(&[("one", "do")]);
    let server = Served::start(&work, &PROGRAMS);
    let kept = std::fs::read(token_file(&work)).unwrap();
    let mode = |mode| std::fs::set_permissions(token_file(&work), PermissionsExt::from_mode(mode)).unwrap();
    mode(0o644);
    let error = server.as_admin("GET", "/api/v1/runs", None).refused(500, "token.file");
    assert!(!error.to_string().contains("tokens.json"), "nobody is told where it is: {error}");
    mode(0o600);
    server.as_admin("GET", "/api/v1/runs", None).good();
    for bad in ["", "{}", r#"{"version":2,"tokens":[]}"#, r#"{"version":1,"tokens":[{}]}"#] {
        std::fs::write(token_file(&work), bad).unwrap();
        server.as_admin("GET", "/api/v1/runs", None).refused(500, "token.file");
        work.run(&["token", "list"]).refused_silently(1, "token.file");
        work.run(&["token", "add", "ana", "--role", "admin"]).refused_silently(1, "token.file");
        work.run(&["serve", "--listen", "127.0.0.1:0"]).refused_silently(1, "token.file");
        assert_eq!(std::fs::read(token_file(&work)).unwrap(), bad.as_bytes(), "it is not written over");
    }
    std::fs::write(token_file(&work), kept).unwrap();
    server.as_admin("GET", "/api/v1/runs", None).good();
}

#[test]
fn a_role_does_what_it_may_in_its_matter() {
    let work = desk(&[("intent", "ask")]);
    let server = Served::start(&work, &PROGRAMS);
    let made = |role: &str, more: &[&str]| token(&work, &format!("the-{role}"), role, more).1;
    let (viewer, operator, approver) = (made("viewer", &[]), made("operator", &[]), made("approver", &[]));
    let (run, id, _) = server.waiting();
    let (show, answer) = (format!("/api/v1/runs/{run}"), format!("/api/v1/runs/{run}/answer"));
    let said = json!({"id": id, "value": "the harbour's"});
    for token in [&viewer, &operator, &approver] {
        for path in ["/api/v1/runs", &show, "/openapi.json"] {
            server.ask(token, "GET", path, None).good();
        }
    }
    server.ask(&viewer, "POST", PROCESS, Some(&envelope())).refused(403, "access.role");
    for token in [&viewer, &operator] {
        server.ask(token, "POST", &answer, Some(&said)).refused(403, "access.role");
    }
    let begun = server.ask(&operator, "POST", PROCESS, Some(&envelope()));
    assert_eq!((begun.status, begun.code()), (200, Some("run.waiting")));
    // An admin of another matter is nobody here.
    let other = made("admin", &["--matter", "other"]);
    assert_eq!(server.ask(&other, "GET", "/api/v1/runs", None).good(), json!([]));
    server.ask(&other, "GET", &show, None).refused(404, "run.missing");
    server.ask(&other, "POST", &answer, Some(&said)).refused(404, "run.missing");
    let theirs = server.ask(&other, "POST", PROCESS, Some(&envelope())).json();
    let theirs = theirs["metadata"]["run_id"].as_str().unwrap();
    server.as_admin("GET", &format!("/api/v1/runs/{theirs}"), None).refused(404, "run.missing");
    let listed = work.run(&["runs", "list", "--json", "--matter", "other"]).good().json()["runs"].clone();
    assert_eq!(listed[0]["run"], theirs);
    server.ask(&approver, "POST", &answer, Some(&said)).good();
    server.ask(&operator, "POST", &answer, Some(&said)).refused(403, "access.role");
}

#[test]
fn what_is_no_request_of_ours_is_refused() {
    let work = desk(&[("one", "do")]);
    let server = Served::start(&work, &PROGRAMS);
    let token = server.token.as_deref().unwrap();
    let own = format!("Host: {}\r\nAuthorization: Bearer {token}\r\n", server.host);
    let post = |more: &str, body: &[u8]| {
        let length = body.len();
        server.raw("POST", PROCESS, &format!("{own}{more}Content-Length: {length}\r\n"), body)
    };
    let json_type = "Content-Type: application/json\r\n";
    for (body, status, code) in [
        (&b""[..], 400, "json.empty"),
        (b"{", 400, "json.truncated"),
        (b"\xff", 400, "json.not_utf8"),
        (b"{\"a\":1,\"a\":2}", 400, "json.duplicate_name"),
        (b"{}{}", 400, "json.trailing"),
        (b"[]", 422, "envelope.invalid"),
        (b"{\"terminated\":\"true\"}", 422, "envelope.invalid"),
        (b"{\"iteration\":-1}", 422, "envelope.invalid"),
    ] {
        let error = post(json_type, body).refused(status, code);
        let by_command = work.feed(&["process"], body);
        let by_command: Value = serde_json::from_str(&by_command.err).unwrap();
        assert_eq!(error, by_command["error"], "the command says the same");
    }
    for media in ["", "Content-Type: text/plain\r\n", "Content-Type: application/x-www-form-urlencoded\r\n"] {
        post(media, b"{}").refused(415, "http.media");
    }
    post(&format!("{json_type}Content-Encoding: gzip\r\n"), b"{}").refused(415, "http.media");
    server.as_admin("GET", "/api/v1/nothing", None).refused(404, "http.path");
    server.as_admin("GET", "/", None).refused(404, "http.path");
    server.as_admin("GET", PROCESS, None).refused(405, "http.method");
    server.as_admin("DELETE", "/api/v1/runs", None).refused(405, "http.method");
    server.as_admin("GET", "/api/v1/runs/..%2f..%2fetc", None).refused(400, "id.invalid");
    server.as_admin("GET", "/api/v1/runs/%ff", None).refused(400, "id.invalid");
    server.as_admin("GET", "/api/v1/runs/run_0000000000000000", None).refused(404, "run.missing");
    // One that says that it is too long is not waited for; one that does not say so is cut off.
    let too_long = format!("{own}{json_type}Content-Length: {}\r\n", BYTES_MAX + 1);
    server.raw("POST", PROCESS, &too_long, b"").refused(413, "json.too_long");
    let chunk = [format!("{:x}\r\n", BYTES_MAX + 1).as_bytes(), &vec![b' '; BYTES_MAX + 1]].concat();
    let chunked = format!("{own}{json_type}Transfer-Encoding: chunked\r\n");
    server.raw("POST", PROCESS, &chunked, &chunk).refused(413, "json.too_long");
    nothing_ran(&work);
    // What is no HTTP is no concern of the server's.
    for headers in
        ["X: y\r\n".repeat(100), format!("X: {}\r\n", "y".repeat(100_000)), "no header\r\n".to_owned()]
    {
        let mut stream = server.connect();
        let head = format!("GET /healthz HTTP/1.1\r\n{own}{headers}\r\n");
        drop(stream.write_all(head.as_bytes()));
        let said = closed(&mut stream);
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 4"), "{said}");
    }
    server.as_admin("POST", PROCESS, Some(&envelope())).good();
}

#[test]
fn who_is_slow_is_not_waited_for() {
    let work = desk(&[("one", "do")]);
    let server = Served::start(&work, &[&PROGRAMS[..], &["--timeout", "1"]].concat());
    let token = server.token.as_deref().unwrap();
    let begun = format!("POST {PROCESS} HTTP/1.1\r\nHost: {}\r\n", server.host);
    let head = format!(
        "{begun}Authorization: Bearer {token}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: 1000\r\n\r\n"
    );
    let mut silent = server.connect();
    silent.write_all(head.as_bytes()).unwrap();
    // Each byte comes soon after the one before it; only the whole takes too long.
    let mut drips = server.connect();
    drips.write_all(head.as_bytes()).unwrap();
    assert_eq!(dripped(&mut drips).status, 408);
    Reply::read(&mut silent).refused(408, "http.slow");
    // A head that never ends, and a connection on which nothing is said, are closed.
    for start in [begun.as_str(), ""] {
        let mut stream = server.connect();
        stream.write_all(start.as_bytes()).unwrap();
        let said = closed(&mut stream);
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 408"), "{said}");
    }
    // So is one whose client has had an answer and says nothing more.
    let mut kept = server.connect();
    let health = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", server.host);
    kept.write_all(health.as_bytes()).unwrap();
    assert_eq!(Reply::read(&mut kept).good(), json!({"status": "ok"}));
    nothing_ran(&work);
    server.as_admin("POST", PROCESS, Some(&envelope())).good();
}

/// What the server says before it closes the connection; nothing, if it does so while we still write.
fn closed(stream: &mut TcpStream) -> String {
    let mut said = String::new();
    match stream.read_to_string(&mut said) {
        Ok(_) => said,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::ConnectionReset);
            String::new()
        }
    }
}

/// Sends a byte again and again, until there is an answer.
fn dripped(stream: &mut TcpStream) -> Reply {
    let patience = stream.read_timeout().unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    for _ in 0..900 {
        drop(stream.write_all(b" "));
        match stream.peek(&mut [0]) {
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Ok(_) | Err(_) => break,
        }
    }
    stream.set_read_timeout(patience).unwrap();
    Reply::read(stream)
}

#[test]
fn what_a_server_says_when_it_begins() {
    let work = desk(&[("one", "do")]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    work.run(&["serve", "--listen", &address]).refused_silently(1, "http.listen");
    work.run(&["serve", "--listen", "nowhere"]).refused_silently(2, "usage.invalid");
    work.run(&["serve", "--pipeline", "no.toml"]).refused_silently(2, "file.unreadable");
    work.run(&["serve", "--model", "nobody", "--listen", "127.0.0.1:0"]).refused_silently(2, "model.unknown");
    assert!(!token_file(&work).exists());
    // For people: the address and the first token, on standard error. An address that others reach has a warning.
    let open = Running::start(&work, &["serve", "--listen", "0.0.0.0:0", "--json"]);
    let (id, mut open) = (open.id(), open);
    let began: Value = serde_json::from_str(&open.line()).unwrap();
    assert!(began["token"].as_str().unwrap().starts_with("cst_"), "{began}");
    ended(id);
    let open = open.ended();
    assert!(open.exit == Some(0) && open.err.starts_with("warning: "), "{}", open.err);
    std::fs::remove_file(token_file(&work)).unwrap();
    let mut person =
        work.command(binary::BINARY, &["serve", "--listen", "127.0.0.1:0", "--as", "ana"]).spawn().unwrap();
    let mut said = String::new();
    let mut err = std::io::BufReader::new(person.stderr.take().unwrap());
    for _ in 0..3 {
        std::io::BufRead::read_line(&mut err, &mut said).unwrap();
    }
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("listening on http://127.0.0.1:"), "{said}");
    assert_eq!(lines[1], "token of ana, admin in default, shown this once:");
    assert!(lines[2].starts_with("cst_") && lines[2].len() == 68, "{said}");
    ended(person.id());
    assert!(person.wait().unwrap().success());
}

/// Ends a process of ours well.
fn ended(id: u32) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
}
