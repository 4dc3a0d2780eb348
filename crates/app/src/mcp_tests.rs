//! A tool's answer, a line of nonsense, a server that never answers.
//! Owns: what needs no server of flesh and blood. Must not: wait for one.

use super::*;
use countersign_runtime::clock::Clock;
use proptest::prelude::*;
use rmcp::transport::Transport;

const QUESTION: &str = r#"{"agent":"controller","goal":"g","timestamp":"2026-01-02T03:04:05Z","request_id":"req_1",
    "turn_id":1,"source":"internal","version":"1.0","escalate":false,"reason":null,"provenance":{},"payload":{}}"#;

fn json(text: &str) -> Json {
    json::parse(text.as_bytes()).unwrap()
}

#[test]
fn an_envelope_is_found_where_servers_put_it() {
    for result in [
        r#"{"structuredContent":{"agent":"a","n":1.50},"content":[{"type":"text","text":"other"}]}"#,
        r#"{"structuredContent":{"result":{"agent":"a","n":1.50}}}"#,
        r#"{"structuredContent":{"result":"{\"agent\":\"a\",\"n\":1.50}"}}"#,
        r#"{"structuredContent":null,"content":[{"type":"text","text":"{\"agent\":\"a\",\"n\":1.50}"}]}"#,
        r#"{"content":[{"type":"text","text":"{\"agent\":\"a\",\"n\":1.50}"}],"isError":false}"#,
    ] {
        assert_eq!(handed_over(&json(result)), Ok(json(r#"{"agent":"a","n":1.50}"#)), "{result}");
    }
    for result in [
        "null",
        "[]",
        r#"{"content":[]}"#,
        r#"{"content":{"text":"{}"}}"#,
        r#"{"content":[{"type":"text","text":"{}"},{"type":"text","text":"{}"}]}"#,
        r#"{"content":[{"type":"text","text":"{}"},{"type":"image","data":"","mimeType":"a/b"}]}"#,
        r#"{"content":[{"type":"text","text":"Fine."}]}"#,
        r#"{"content":[{"type":"text","text":"{\"a\":1,\"a\":2}"}]}"#,
        r#"{"structuredContent":{"result":"Fine."}}"#,
    ] {
        let refused = handed_over(&json(result)).unwrap_err();
        let is_escalated =
            matches!(&refused, Outcome::Escalate { reason, .. } if reason == "validation_fail");
        assert!(is_escalated, "{result}: {refused:?}");
    }
    let long = "n".repeat(9_000);
    let result = format!(r#"{{"isError":true,"structuredContent":{{}},"content":[{{"text":"{long}"}}]}}"#);
    let Outcome::Failed(fault) = handed_over(&json(&result)).unwrap_err() else { panic!("it has failed") };
    assert!(
        fault.recoverable && fault.error_type == "McpToolError" && fault.message.len() < 400,
        "{fault:?}"
    );
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let command = ["sh", "-c", "cat >/dev/null"].map(str::to_owned).to_vec();
    let clock = Arc::new(Clock::new(None, None, [0; 32]));
    let mut agent = Mcp::new(Launch::new(command, ".".into(), clock), "review".to_owned(), None);
    assert_eq!(agent.timeout, TIMEOUT);
    agent.timeout = Duration::from_millis(1);
    let question = Envelope::read(json(QUESTION)).unwrap();
    let error_type = |outcome: Outcome| match outcome {
        Outcome::Failed(fault) => (fault.error_type, fault.message, fault.recoverable),
        outcome => panic!("{outcome:?}"),
    };
    let late = agent.talk(&question, &CancellationToken::new()).await.map_err(error_type);
    assert_eq!(late, Err(("McpTimeout".to_owned(), "it was ended after 0 s".to_owned(), true)));
    agent.timeout = TIMEOUT;
    let cancel = CancellationToken::new();
    cancel.cancel();
    let cancelled = agent.talk(&question, &cancel).await.map_err(error_type);
    assert_eq!(cancelled, Err(("McpTimeout".to_owned(), "it was cancelled".to_owned(), true)));
}

/// How many messages are heard, and why no more are.
fn heard(said: &[u8]) -> (usize, Option<String>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let heard = Arc::new(Heard::default());
    let mut line = Line::new(said, tokio::io::sink(), Arc::clone(&heard));
    let count = runtime.block_on(async {
        let mut count = 0;
        while line.receive().await.is_some() {
            count += 1;
        }
        count
    });
    (count, heard.trouble())
}

#[test]
fn a_line_is_heard_as_far_as_it_is_one() {
    let notice = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let check = |said: &str, count: usize, why: &str| {
        let (heard, trouble) = heard(said.as_bytes());
        assert_eq!(heard, count, "{said:.200}");
        assert!(trouble.as_deref().unwrap_or("nothing").contains(why), "{said:.200}: {trouble:?}");
    };
    check("", 0, "nothing");
    check(&format!("{notice}\r\n\n{ping}\n"), 2, "nothing");
    check(&format!("{ping}\n{ping}"), 1, "nothing");
    check(&format!("{ping}\nReady.\n{ping}\n"), 1, "no JSON");
    check("{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}\n", 0, "no JSON");
    check(&format!("{}{}\n", "[".repeat(500), "]".repeat(500)), 0, "no JSON");
    check("[1]\n", 0, "no message of MCP");
    check("{\"foo\":\"bar\"}\n", 0, "no message of MCP");
    check(&"x".repeat(8 * 1024 * 1024 + 1), 0, "more than 8 MiB");
    check(&format!("{}\n", " ".repeat(1 << 20)).repeat(9), 0, "more than 8 MiB");
}

proptest! {
    #[test]
    fn whatever_a_server_says_is_heard_to_its_end(
        lines in prop::collection::vec(
            prop_oneof![
                "[ -~]{0,40}",
                r#"\{"jsonrpc":"2.0","(id|method|result|error|params)":("x"|1|null|\{\}),"(id|method|result)":("ping"|2|\{\})\}"#,
            ],
            0..8,
        ),
        bytes in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let said = [lines.join("\n").as_bytes(), b"\n", &bytes].concat();
        let (count, _) = heard(&said);
        prop_assert!(count <= lines.len() + bytes.len());
    }
}
