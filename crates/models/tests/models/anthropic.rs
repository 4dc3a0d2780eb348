//! The Anthropic protocol behind servers that mean no good.

use crate::support::{Act, KEY, Server, answer, ask, events, opened, pieces};
use countersign_models::settings::Wire;
use countersign_record::code::Code;
use countersign_runtime::ports::model::Finish;

const START: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":5,\
    \"cache_creation_input_tokens\":3,\"cache_read_input_tokens\":20,\"output_tokens\":1}}}\n\n";
const PING: &str = "event: ping\ndata: {\"type\":\"ping\"}\n\n";
const TEXT: &str = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\
    \"delta\":{\"type\":\"text_delta\",\"text\":\"é\"}}\n\n";
const END: &str = "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"},\
    \"usage\":{\"output_tokens\":9}}\n\n";
const STOP: &str = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
const BUSY: &str = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\
    \"message\":\"Overloaded\"}}\n\n";

fn good() -> Vec<Act> {
    events([START, PING, TEXT, TEXT, END, STOP].concat())
}

async fn check(connections: Vec<Vec<Act>>, expected: Result<&str, Code>, attempts: u32) {
    let shown = format!("{connections:?}").chars().take(300).collect::<String>();
    let server = Server::new(connections).await;
    let (model, _) = opened(server.settings(Wire::Anthropic));
    let found = ask(&model).await;
    let asked = found.as_ref().map_or_else(|error| error.attempts, |reply| reply.ended.usage.attempts);
    let found = found.map(|reply| reply.text).map_err(|error| error.code);
    assert_eq!((found.as_deref().map_err(|code| *code), asked), (expected, attempts), "{shown}");
}

#[tokio::test]
async fn a_request_and_its_answer() {
    let mut server = Server::new(vec![good()]).await;
    let (model, _) = opened(server.settings(Wire::Anthropic));
    let reply = ask(&model).await.unwrap();
    let used = reply.ended.usage;
    assert_eq!((reply.text.as_str(), reply.ended.finish), ("éé", Finish::Length));
    assert_eq!((used.input_tokens, used.cached_tokens, used.output_tokens), (8, 20, 9));
    let request = server.request().await;
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let head = head.to_ascii_lowercase();
    assert!(head.starts_with("post /v1/messages http/1.1\r\n"), "{head}");
    assert!(
        head.contains(&format!("x-api-key: {KEY}")) && head.contains("anthropic-version: 2023-06-01"),
        "{head}"
    );
    assert!(!head.contains("authorization"), "{head}");
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["system"], "Rules of the canary.");
    assert_eq!(
        body["messages"],
        serde_json::json!([{ "role": "user", "content": "Question of the canary?" }])
    );
}

#[tokio::test]
async fn trouble() {
    check(vec![events([START, TEXT, END].concat())], Ok("é"), 1).await;
    check(vec![events([START, TEXT].concat())], Err(Code::ModelUnreachable), 1).await;
    check(vec![events([START, PING].concat()), good()], Ok("éé"), 2).await;
    check(vec![events([START, BUSY].concat()), good()], Ok("éé"), 2).await;
    check(vec![events([START, TEXT, BUSY].concat()), good()], Err(Code::ModelBusy), 1).await;
    check(
        vec![events([START, &BUSY.replace("overloaded", "invalid_request")].concat())],
        Err(Code::ModelRefused),
        1,
    )
    .await;
    check(vec![events([START, "data: {}\n\n"].concat())], Err(Code::ModelReply), 1).await;
    let status =
        |status| answer(status, &["content-type: application/json"], "{\"type\":\"error\",\"error\":{}}");
    check(vec![status("529 Overloaded"), good()], Ok("éé"), 2).await;
    check(vec![status("401 Unauthorized"), good()], Err(Code::ModelRefused), 1).await;
    let whole = "{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"a\"}],\"stop_reason\":\"end_turn\"}";
    check(vec![answer("200 OK", &["content-type: application/json"], whole)], Ok("a"), 1).await;
}

#[tokio::test]
async fn any_cut_gives_the_same_text() {
    let bytes = [START, TEXT, PING, TEXT, END, STOP].concat().into_bytes();
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n".to_vec();
    for size in [1, 2, 7, 64] {
        let mut acts = vec![Act::Send(head.clone())];
        acts.extend(bytes.chunks(size).map(|piece| Act::Send(piece.to_vec())));
        let server = Server::new(vec![acts]).await;
        let (texts, last) = pieces(&opened(server.settings(Wire::Anthropic)).0).await;
        assert_eq!(texts, ["é", "é"], "{size}");
        assert!(last.unwrap().is_ok());
    }
}
