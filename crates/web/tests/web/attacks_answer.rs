//! Attacks with an answer: sizes, times, encodings, and what becomes text.

use crate::world::{Names, Say, Server, get, page, reach, say, told, tool_with};
use countersign_record::code::Code;
use countersign_runtime::ports::tool::{Done, NotDone};
use countersign_web::Config;
use std::time::Duration;

/// What the tool makes of an answer.
async fn answered(config: Config, answer: Vec<Say>) -> Result<Done, NotDone> {
    let server = Server::start(move |_| answer.clone()).await;
    let names = Names::new();
    names.set("a.example", &[&["127.0.0.1"]]);
    let granted = format!("net:a.example:{}", server.port());
    get(&tool_with(&names, config), &format!("http://a.example:{}/", server.port()), reach(&[&granted])).await
}

/// With a deadline that a busy machine does not reach.
async fn patiently(answer: Vec<Say>) -> Result<Done, NotDone> {
    answered(Config { deadline: Duration::from_secs(60), ..Config::default() }, answer).await
}

async fn hastily(answer: Vec<Say>) -> Result<Done, NotDone> {
    answered(Config { deadline: Duration::from_millis(300), ..Config::default() }, answer).await
}

fn bytes(text: impl AsRef<[u8]>) -> Say {
    Say::Bytes(text.as_ref().to_vec())
}

const PLAIN: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";

#[tokio::test]
async fn a_body_is_taken_up_to_its_bound() {
    let config =
        |body_bytes_max| Config { body_bytes_max, deadline: Duration::from_secs(60), ..Config::default() };
    for (size, is_truncated) in
        [(0, false), (9_999, false), (10_000, false), (10_001, true), (2_000_000, true)]
    {
        let done = answered(config(10_000), page(&"a".repeat(size))).await.unwrap();
        assert_eq!(told(&done, "truncated"), is_truncated.to_string(), "{size}");
        assert_eq!(told(&done, "text").len(), size.min(10_000));
        assert_eq!(
            done.output.get("sha256").is_none(),
            is_truncated,
            "the hash of a part is no hash of the whole"
        );
    }
    // The bound falls into a letter.
    let done = answered(config(10), page("aaaaaaaaa\u{E4}\u{E4}")).await.unwrap();
    assert_eq!((told(&done, "text"), told(&done, "lossy")), ("aaaaaaaaa".into(), "false".into()));
}

#[tokio::test]
async fn an_endless_body_ends() {
    let head = format!("{PLAIN}\r\n");
    let done = patiently(vec![bytes(head), Say::Endless(vec![b'a'; 65_536])]).await.unwrap();
    assert_eq!((told(&done, "text").len(), told(&done, "truncated")), (1024 * 1024, "true".into()));
    let head = format!("{PLAIN}Transfer-Encoding: chunked\r\n\r\n");
    let done = patiently(vec![bytes(head), Say::Endless(b"4\r\naaaa\r\n".repeat(1_000))]).await.unwrap();
    assert_eq!((told(&done, "text").len(), told(&done, "truncated")), (1024 * 1024, "true".into()));
}

#[tokio::test]
async fn a_body_that_claims_to_be_huge_takes_no_memory_for_the_claim() {
    let head = format!("{PLAIN}Content-Length: 18446744073709551614\r\n\r\nabc");
    assert_eq!(patiently(say(head)).await.unwrap_err().code, Code::WebUnreachable);
}

#[tokio::test]
async fn what_drips_ends_at_the_deadline() {
    for answer in [
        vec![bytes(format!("{PLAIN}\r\n")), Say::Drip(b"a".to_vec())],
        vec![bytes(format!("{PLAIN}Transfer-Encoding: chunked\r\n\r\n")), Say::Drip(b"1\r\na\r\n".to_vec())],
        vec![bytes(format!("{PLAIN}Content-Length: 9\r\n\r\nabc")), Say::Hang],
        vec![bytes("HTTP/1.1 200 OK\r\n"), Say::Drip(b"A".to_vec())],
        vec![Say::Drip(b"H".to_vec())],
        vec![Say::Hang],
        vec![bytes("HTTP/1.1 200 OK\r\nA: b"), Say::Hang],
        vec![Say::Drip(b"HTTP/1.1 100 Continue\r\n\r\n".to_vec())],
    ] {
        let refused = hastily(answer.clone()).await.unwrap_err();
        // A word that is no HTTP is noticed before the time is up.
        assert!(matches!(refused.code, Code::ToolTimeout | Code::WebUnreachable), "{answer:?}: {refused}");
    }
    let refused = hastily(vec![bytes(format!("{PLAIN}\r\n")), Say::Drip(b"a".to_vec())]).await.unwrap_err();
    assert_eq!(refused.code, Code::ToolTimeout);
}

#[tokio::test]
async fn a_flood_of_fields_is_refused() {
    for answer in [
        vec![bytes("HTTP/1.1 200 OK\r\n"), Say::Endless(b"A: b\r\n".repeat(100))],
        vec![bytes("HTTP/1.1 200 OK\r\nA: "), Say::Endless(vec![b'a'; 4_096])],
        vec![bytes("HTTP/1.1 200 "), Say::Endless(vec![b'a'; 4_096])],
        say(format!("HTTP/1.1 200 OK\r\n{}Content-Length: 0\r\n\r\n", "A: b\r\n".repeat(101))),
        say(format!("HTTP/1.1 200 OK\r\nA: {}\r\nContent-Length: 0\r\n\r\n", "a".repeat(70_000))),
    ] {
        assert_eq!(patiently(answer).await.unwrap_err().code, Code::WebUnreachable);
    }
}

#[tokio::test]
async fn endless_interim_answers_and_trailers_end() {
    let interim = vec![Say::Endless(b"HTTP/1.1 100 Continue\r\n\r\n".to_vec())];
    let refused = hastily(interim).await.unwrap_err();
    assert!(matches!(refused.code, Code::ToolTimeout | Code::WebUnreachable), "{refused}");
    let head = format!("{PLAIN}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n");
    let refused = patiently(vec![bytes(head), Say::Endless(b"A: b\r\n".repeat(100))]).await.unwrap_err();
    assert_eq!(refused.code, Code::WebUnreachable);
    let head = format!("{PLAIN}Transfer-Encoding: chunked\r\n\r\n1;");
    let refused = patiently(vec![bytes(head), Say::Endless(vec![b'a'; 4_096])]).await.unwrap_err();
    assert_eq!(refused.code, Code::WebUnreachable);
}

#[tokio::test]
async fn a_compressed_body_is_refused() {
    for field in [
        "Content-Encoding: gzip",
        "Content-Encoding: br",
        "content-encoding: DEFLATE",
        "Content-Encoding: identity, gzip",
        "Content-Encoding: zstd",
        "Content-Encoding: \u{1}",
    ] {
        let refused = patiently(say(format!("{PLAIN}{field}\r\nContent-Length: 3\r\n\r\n\x1F\u{8B}")))
            .await
            .unwrap_err();
        assert!(matches!(refused.code, Code::ToolFailed | Code::WebUnreachable), "{field}: {refused}");
    }
    let answer = format!("{PLAIN}Transfer-Encoding: gzip, chunked\r\n\r\n1\r\na\r\n0\r\n\r\n");
    assert_eq!(patiently(say(answer)).await.unwrap_err().code, Code::ToolFailed);
    let answer = format!("{PLAIN}Content-Encoding: identity\r\nContent-Length: 1\r\n\r\na");
    assert_eq!(told(&patiently(say(answer)).await.unwrap(), "text"), "a");
}

#[tokio::test]
async fn a_garbled_or_cut_body_is_no_page() {
    for rest in [
        "Transfer-Encoding: chunked\r\n\r\nZZ\r\na\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n-1\r\na\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\na",
        "Transfer-Encoding: chunked\r\n\r\n5\r\nab",
        "Transfer-Encoding: chunked\r\n\r\n1\r\naXX0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n",
        "Content-Length: 10\r\n\r\nabc",
        "Content-Length: 1, 2\r\n\r\nabc",
        "Content-Length: 1\r\nContent-Length: 2\r\n\r\nabc",
        "Content-Length: -1\r\n\r\nabc",
        "Content-Length: 99999999999999999999\r\n\r\nabc",
        "Content-Length: +3\r\n\r\nabc",
    ] {
        let refused = patiently(say(format!("{PLAIN}{rest}"))).await.unwrap_err();
        assert_eq!(refused.code, Code::WebUnreachable, "{rest:?}: {refused}");
    }
}

#[tokio::test]
async fn what_is_no_http_is_refused() {
    for answer in [
        "",
        "\r\n",
        "<html>secret</html>",
        "secret",
        "HTTP/0.9 200 OK\r\n\r\na",
        "HTTP/1.1\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/9.9 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA\u{0}: b\r\n\r\n",
        "HTTP/1.1 200 OK\r\n : b\r\n\r\n",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/2 200 OK\r\n\r\n",
        "220 mail.example ESMTP\r\n",
        "SSH-2.0-OpenSSH_9.9\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let refused = patiently(say(answer)).await.unwrap_err();
        assert_eq!(refused.code, Code::WebUnreachable, "{answer:?}: {refused}");
        assert!(!refused.message.contains("secret"));
    }
}

#[tokio::test]
async fn scripts_are_no_text() {
    let html =
        "<title>T</title><script>steal()</script><p>a<style>b{}</style><!-- hidden --><p onclick='x()'>b</p>";
    let done =
        patiently(say(format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{html}"))).await.unwrap();
    assert_eq!(told(&done, "text"), "T\n\na\n\nb");
    assert_eq!((told(&done, "bytes"), told(&done, "status")), (html.len().to_string(), "200".into()));
}

#[tokio::test]
async fn what_is_no_text_is_described() {
    for kind in ["image/png", "application/pdf", "application/octet-stream", "application/x-executable"] {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: 3\r\n\r\n");
        let done = patiently(vec![bytes(head), bytes(b"\x7FEL")]).await.unwrap();
        assert_eq!((told(&done, "text"), told(&done, "bytes")), ("null".into(), "3".into()));
        assert_eq!(told(&done, "sha256").len(), 64);
    }
}

#[tokio::test]
async fn letters_that_are_none_are_told() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n";
    let done = patiently(vec![bytes(head), bytes(b"a\xFFb\xED\xA0\x80")]).await.unwrap();
    assert_eq!(told(&done, "lossy"), "true");
    assert!(told(&done, "text").starts_with("a\u{FFFD}b"));
}

#[tokio::test]
async fn a_type_that_is_garbled_or_long_harms_nobody() {
    let long = "a".repeat(1_000);
    for kind in
        ["\u{FF}\u{FE}", ";;;;", "text", "text/html;charset", long.as_str(), "text/html; charset=utf-7", ""]
    {
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: 1\r\n\r\na");
        patiently(say(answer)).await.unwrap();
    }
}
