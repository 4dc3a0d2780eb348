//! Remote models behind servers that mean no good, byte for byte.

use crate::support::{
    self, Act, DONE, KEY, LONG, STOP, Server, answer, ask, data, events, good, opened, pieces, question,
    refusal, says,
};
use countersign_models::prices::Prices;
use countersign_models::remote::Timeouts;
use countersign_models::settings::Wire;
use countersign_record::code::Code;
use countersign_runtime::ports::model::{Delta, Finish, Site};
use futures_util::StreamExt;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const SHORT: Duration = Duration::from_millis(150);

/// What comes of one connection each: the text, or the code; and how often it was asked.
async fn check(connections: Vec<Vec<Act>>, expected: Result<&str, Code>, attempts: u32) -> String {
    let shown = format!("{connections:?}").chars().take(300).collect::<String>();
    let server = Server::new(connections).await;
    let (model, _) = opened(server.settings(Wire::OpenAi));
    match (ask(&model).await, expected) {
        (Ok(reply), Ok(text)) => {
            assert_eq!((reply.text.as_str(), reply.ended.usage.attempts), (text, attempts), "{shown}");
            String::new()
        }
        (Err(error), Err(code)) => {
            assert_eq!((error.code, error.attempts), (code, attempts), "{shown}: {error}");
            assert_eq!(server.served(), usize::try_from(attempts).unwrap(), "{shown}");
            error.message
        }
        (found, _) => panic!("{shown}: {found:?}, not {expected:?}"),
    }
}

#[tokio::test]
async fn a_request_is_what_the_protocol_has() {
    let mut server = Server::new(vec![good("hi")]).await;
    let (model, _) = opened(server.settings(Wire::OpenAi));
    assert_eq!(ask(&model).await.unwrap().text, "hi");
    let request = server.request().await;
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /chat/completions HTTP/1.1\r\n"), "{head}");
    let head = head.to_ascii_lowercase();
    assert!(head.contains(&format!("authorization: bearer {KEY}")), "{head}");
    assert!(head.contains("content-type: application/json") && !head.contains("accept-encoding"), "{head}");
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(
        (&body["model"], &body["stream"], &body["max_tokens"]),
        (&"m".into(), &true.into(), &100.into())
    );
    assert_eq!(body["messages"][1]["content"], "Question of the canary?");
    let address = server.address.strip_prefix("http://").unwrap().to_owned();
    assert_eq!(model.model.about().site, Site::Remote(address));
    assert_eq!(model.secrets().iter().map(|key| key.expose()).collect::<Vec<_>>(), [KEY]);
    assert!(!format!("{model:?}").contains(KEY));
}

#[tokio::test]
async fn a_character_in_two_pieces_is_one() {
    let body = data(&[&says("Größe 🦀"), &says("\u{10348}é"), STOP, DONE]);
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let bytes = [&head[..], body.as_bytes()].concat();
    // Byte by byte, and in chunks of HTTP that cut characters.
    let single: Vec<Act> = bytes.iter().map(|byte| Act::Send(vec![*byte])).collect();
    check(vec![single], Ok("Größe 🦀\u{10348}é"), 1).await;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut acts = vec![Act::Send(head.into())];
    for piece in body.as_bytes().chunks(3) {
        acts.push(Act::Send([format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat()));
    }
    acts.push(Act::Send(b"0\r\n\r\n".to_vec()));
    check(vec![acts], Ok("Größe 🦀\u{10348}é"), 1).await;
    // A character of which each event has a half is none.
    let halves =
        [b"data: {\"choices\":[{\"delta\":{\"content\":\"\xc3\"}}]}\n\n".as_slice(), b"data: \xa9\n\n"]
            .concat();
    check(vec![events(halves)], Err(Code::ModelReply), 1).await;
    let escapes = "data: {\"choices\":[{\"delta\":{\"content\":\"\\ud83e\"}}]}\n\n";
    check(vec![events(escapes)], Err(Code::ModelReply), 1).await;
}

#[tokio::test]
async fn what_is_no_answer_is_refused() {
    for (acts, what) in [
        (events("data: {\"choices\"\n\n"), "JSON"),
        (events("data: 7\n\n"), "object"),
        (events(format!("data: {}{}\n\n", "[".repeat(10_000), "]".repeat(10_000))), "JSON"),
        (events(format!("data: {}\n\n", "x".repeat(2_000_000))), "event is longer"),
        (events("x".repeat(2_000_000)), "event is longer"),
        (answer("200 OK", &["content-type: text/html"], "<html>Log in</html>"), "its type is neither"),
        (answer("200 OK", &["content-type: application/json"], "<html>"), "JSON"),
        (answer("200 OK", &["content-type: application/json"], "{}"), "choice"),
        (events(data(&[&says("a"), STOP, &says("b")])), "after the end"),
    ] {
        let message = check(vec![acts], Err(Code::ModelReply), 1).await;
        assert!(message.contains(what), "{message}");
    }
}

#[tokio::test]
async fn an_endless_answer_ends() {
    let head = answer("200 OK", &["content-type: text/event-stream"], "");
    let more = |bytes: String| [head.clone(), vec![Act::Forever(bytes.into_bytes())]].concat();
    let message = check(vec![more(data(&[&says(&"x".repeat(100_000))]))], Err(Code::ModelReply), 1).await;
    assert!(message.contains("longer than 4194304 bytes"), "{message}");
    // Comments say nothing, and no event ends.
    let message = check(vec![more(": comment\n".repeat(1_000))], Err(Code::ModelReply), 1).await;
    assert!(message.contains("event is longer"), "{message}");
    // Events say nothing: all of it has a bound.
    let message = check(vec![more(": comment\n\n".repeat(10_000))], Err(Code::ModelReply), 1).await;
    assert!(message.contains("longer than 268435456 bytes"), "{message}");
    let json = answer("200 OK", &["content-type: application/json"], "[");
    let acts = [json, vec![Act::Forever(b"1,".repeat(10_000))]].concat();
    let message = check(vec![acts], Err(Code::ModelReply), 1).await;
    assert!(message.contains("longer than 16777216 bytes"), "{message}");
}

#[tokio::test]
async fn headers_without_an_end_end() {
    let acts = vec![Act::Send(b"HTTP/1.1 200 OK\r\n".to_vec()), Act::Forever(b"x-more: of it\r\n".to_vec())];
    check(vec![acts.clone(), acts.clone(), acts], Err(Code::ModelUnreachable), 3).await;
    check(vec![vec![Act::Send(b"garbage\r\n\r\n".to_vec())]; 3], Err(Code::ModelUnreachable), 3).await;
    check(vec![vec![]; 3], Err(Code::ModelUnreachable), 3).await;
}

#[tokio::test]
async fn a_cut_answer_is_asked_for_again_until_something_was_said() {
    let nothing = || events(data(&["{\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}"]));
    check(vec![nothing(), good("x")], Ok("x"), 2).await;
    check(vec![nothing(), events(""), good("x")], Ok("x"), 3).await;
    check(vec![nothing(), nothing(), nothing(), good("x")], Err(Code::ModelUnreachable), 3).await;
    let chunked = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    check(vec![vec![Act::Send(format!("{chunked}5\r\ndat").into())], good("x")], Ok("x"), 2).await;
    // Something was said: it is not asked again, and what was said has no end.
    let server = Server::new(vec![events(data(&[&says("a"), &says("b")])), good("x")]).await;
    let (model, pauses) = opened(server.settings(Wire::OpenAi));
    let (texts, last) = pieces(&model).await;
    assert_eq!(texts, ["a", "b"]);
    let error = last.unwrap().unwrap_err();
    assert_eq!((error.code, error.attempts), (Code::ModelUnreachable, 1), "{error}");
    assert_eq!((pauses.millis(), server.served()), (vec![], 1));
}

#[tokio::test]
async fn an_answer_that_has_ended_is_whole() {
    check(vec![events(data(&[&says("a"), STOP]))], Ok("a"), 1).await;
    check(vec![events(data(&[&says("a"), DONE]))], Ok("a"), 1).await;
    check(vec![events(data(&[&says("a"), STOP, STOP, STOP, DONE, "garbage"]))], Ok("a"), 1).await;
    let open = [events(data(&[&says("a"), STOP, DONE])), vec![Act::Hold]].concat();
    check(vec![open], Ok("a"), 1).await;
    let head = "content-type: application/json";
    let body = "{\"choices\":[{\"message\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}";
    check(vec![answer("200 OK", &[head], body)], Ok("a"), 1).await;
    let untold = answer("200 OK", &[], data(&[&says("a"), STOP]));
    check(vec![untold], Ok("a"), 1).await;
    // It says nothing more, and does not close: what was used is not waited for much longer.
    let open = [events(data(&[&says("a"), STOP])), vec![Act::Hold]].concat();
    let server = Server::new(vec![open]).await;
    let mut settings = server.settings(Wire::OpenAi);
    settings.timeouts.piece = SHORT;
    assert_eq!(ask(&opened(settings).0).await.unwrap().ended.finish, Finish::Stop);
}

#[tokio::test]
async fn what_was_used_is_counted_once() {
    let usage = "{\"choices\":[],\"usage\":{\"prompt_tokens\":1000,\"completion_tokens\":10,\
                 \"prompt_tokens_details\":{\"cached_tokens\":400}}}";
    let server = Server::new(vec![events(data(&[&says("a"), STOP, usage, usage, DONE]))]).await;
    let mut settings = server.settings(Wire::OpenAi);
    settings.prices = Some(Prices { input: 3_000_000, cached: 300_000, output: 15_000_000 });
    let ended = ask(&opened(settings).0).await.unwrap().ended;
    let used = ended.usage;
    assert_eq!((used.input_tokens, used.cached_tokens, used.output_tokens), (600, 400, 10));
    assert_eq!((used.cost_micros, used.attempts), (Some(1_800 + 120 + 150), 1));
}

#[tokio::test]
async fn busy_servers_are_asked_again_a_few_times() {
    for status in [
        "408 Request Timeout",
        "409 Conflict",
        "429 Too Many Requests",
        "500 Internal Server Error",
        "502 Bad Gateway",
        "503 Service Unavailable",
        "504 Gateway Timeout",
        "529 Overloaded",
    ] {
        check(vec![refusal(status, &[]), good("x")], Ok("x"), 2).await;
        let refusals = vec![refusal(status, &[]); 4];
        let message = check(refusals, Err(Code::ModelBusy), 3).await;
        assert!(message.contains(&status[..3]) && message.contains("go away"), "{message}");
    }
    let error = data(&["{\"error\":{\"message\":\"too many\",\"type\":\"overloaded_error\"}}"]);
    check(vec![events(&error), good("x")], Ok("x"), 2).await;
    let spoken = [data(&[&says("a")]), error].concat();
    let message = check(vec![events(spoken), good("x")], Err(Code::ModelBusy), 1).await;
    assert!(message.contains("too many"), "{message}");
}

#[tokio::test]
async fn a_server_is_left_alone_as_long_as_it_says() {
    let pauses = |headers: Vec<&'static str>, rounds: usize| async move {
        let mut connections = vec![refusal("429 Too Many Requests", &headers); rounds];
        connections.push(good("x"));
        let server = Server::new(connections).await;
        let (model, pauses) = opened(server.settings(Wire::OpenAi));
        (ask(&model).await.map(|reply| reply.text).map_err(|error| error.code), pauses.millis())
    };
    let good = Ok("x".to_owned());
    assert_eq!(pauses(vec![], 2).await, (good.clone(), vec![250, 500]));
    assert_eq!(pauses(vec!["retry-after: 7"], 1).await, (good.clone(), vec![7_000]));
    let date = "date: Mon, 16 Nov 2026 12:00:00 GMT";
    let later = "retry-after: Mon, 16 Nov 2026 12:00:09 GMT";
    assert_eq!(pauses(vec![date, later], 1).await, (good.clone(), vec![9_000]));
    for nonsense in ["retry-after: soon", "retry-after: -5", "retry-after: 1e9", later] {
        assert_eq!(pauses(vec![nonsense], 1).await, (good.clone(), vec![250]), "{nonsense}");
    }
    for absurd in ["retry-after: 31", "retry-after: 999999999999999999999999"] {
        assert_eq!(pauses(vec![absurd], 1).await, (Err(Code::ModelBusy), vec![]), "{absurd}");
    }
}

#[tokio::test]
async fn refusals_are_told_and_not_repeated() {
    for status in
        ["400 Bad Request", "401 Unauthorized", "404 Not Found", "413 Too Large", "501 Not Implemented"]
    {
        let message = check(vec![refusal(status, &[]), good("x")], Err(Code::ModelRefused), 1).await;
        assert!(message.contains(&status[..3]) && message.contains("go away"), "{message}");
    }
    let page = answer("403 Forbidden", &["content-type: text/html"], "<html>secret page</html>");
    let message = check(vec![page], Err(Code::ModelRefused), 1).await;
    assert!(message.contains("403") && !message.contains("secret"), "{message}");
    let elsewhere = Server::new(vec![good("elsewhere")]).await;
    let location = format!("location: {}/x", elsewhere.address);
    for status in ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let acts = answer(status, &[&location], "");
        let message = check(vec![acts], Err(Code::ModelRefused), 1).await;
        assert!(message.contains("not followed") && !message.contains("127.0.0.1"), "{message}");
    }
    assert_eq!(elsewhere.served(), 0);
    let endless = [answer("400 Bad Request", &[], ""), vec![Act::Forever(b"x".repeat(1_000))]].concat();
    check(vec![endless], Err(Code::ModelRefused), 1).await;
}

#[tokio::test]
async fn neither_key_nor_question_come_back_in_an_error() {
    for words in [
        format!("Incorrect API key provided: {KEY}."),
        format!("half of it: {}", &KEY[..14]),
        "can't parse 'Question of the canary?'".to_owned(),
        "Rules of the   canary. are long".to_owned(),
    ] {
        let body = serde_json::json!({ "error": { "message": words } }).to_string();
        // `ask` looks for the canaries.
        let acts = answer("401 Unauthorized", &["content-type: application/json"], &body);
        check(vec![acts], Err(Code::ModelRefused), 1).await;
        check(vec![events(data(&[&body]))], Err(Code::ModelRefused), 1).await;
        let media = format!("content-type: {KEY}");
        check(vec![answer("200 OK", &[&media], "")], Err(Code::ModelReply), 1).await;
    }
}

#[tokio::test]
async fn a_server_that_knows_less_is_asked_for_less() {
    let unknown = |words: &str| {
        let body = serde_json::json!({ "error": { "message": words } }).to_string();
        answer("400 Bad Request", &["content-type: application/json"], body)
    };
    let mut server = Server::new(vec![unknown("unknown field stream_options"), good("x"), good("y")]).await;
    let (model, pauses) = opened(server.settings(Wire::OpenAi));
    assert_eq!(ask(&model).await.unwrap().ended.usage.attempts, 2);
    assert_eq!(ask(&model).await.unwrap().ended.usage.attempts, 1, "it is remembered");
    assert_eq!(pauses.millis(), Vec::<u128>::new());
    let asks = [server.request().await, server.request().await, server.request().await];
    assert_eq!(asks.map(|request| request.contains("stream_options")), [true, false, false]);
    let stubborn = vec![unknown("stream_options"); 3];
    check(stubborn, Err(Code::ModelRefused), 2).await;
}

#[tokio::test]
async fn nothing_is_waited_for_without_an_end() {
    let check = |acts: Vec<Act>, set: fn(&mut Timeouts), spoken: usize| async move {
        let mut server = Server::new(vec![[acts, vec![Act::Hold]].concat()]).await;
        let mut settings = server.settings(Wire::OpenAi);
        set(&mut settings.timeouts);
        let (texts, last) = pieces(&opened(settings).0).await;
        let error = last.unwrap().unwrap_err();
        assert_eq!((error.code, error.attempts, texts.len()), (Code::ModelTimeout, 1, spoken), "{error}");
        server.is_closed().await;
    };
    check(vec![], |times| times.first = SHORT, 0).await;
    check(vec![Act::Send(b"HTTP/1.1 200 OK\r\n".to_vec())], |times| times.first = SHORT, 0).await;
    check(events(": still here\n\n"), |times| times.first = SHORT, 0).await;
    check(events(data(&["{\"choices\":[]}"])), |times| times.first = SHORT, 0).await;
    check(events(data(&[&says("a")])), |times| times.piece = SHORT, 1).await;
    check(events(data(&[&says("a")])), |times| times.total = SHORT * 4, 1).await;
    check(events(data(&[&says("a")]) + "data: half"), |times| times.piece = SHORT, 1).await;
    let json = answer("200 OK", &["content-type: application/json"], "{");
    check(json, |times| times.first = SHORT, 0).await;
}

#[tokio::test]
async fn a_cancel_closes_the_connection() {
    for acts in [vec![], events(""), events(data(&[&says("a")]))] {
        let speaks = acts.len() == 1 && format!("{acts:?}").len() > 600;
        let mut server = Server::new(vec![[acts, vec![Act::Hold]].concat()]).await;
        let (model, _) = opened(server.settings(Wire::OpenAi));
        let (request, cancel) = (question(), CancellationToken::new());
        let mut deltas = model.model.stream_chat(&request, &cancel);
        if speaks {
            assert_eq!(deltas.next().await, Some(Ok(Delta::Text("a".into()))));
        }
        let rest = async {
            server.request().await;
            cancel.cancel();
        };
        let (next, ()) =
            tokio::time::timeout(LONG, async { tokio::join!(deltas.next(), rest) }).await.unwrap();
        assert_eq!(next, None);
        server.is_closed().await;
    }
    // What was cancelled before it began asks nobody.
    let server = Server::new(vec![good("x")]).await;
    let (model, _) = opened(server.settings(Wire::OpenAi));
    let cancel = CancellationToken::new();
    cancel.cancel();
    let error = model.model.chat(&question(), &cancel).await.unwrap_err();
    assert_eq!((error.code, server.served()), (Code::ModelCancelled, 0));
}

#[tokio::test]
async fn a_stream_that_is_dropped_closes_the_connection() {
    let mut server = Server::new(vec![[events(data(&[&says("a")])), vec![Act::Hold]].concat()]).await;
    let (model, _) = opened(server.settings(Wire::OpenAi));
    let (request, cancel) = (question(), CancellationToken::new());
    let mut deltas = model.model.stream_chat(&request, &cancel);
    assert_eq!(deltas.next().await, Some(Ok(Delta::Text("a".into()))));
    drop(deltas);
    server.is_closed().await;
}

#[tokio::test]
async fn nobody_is_there() {
    // A port that was given back: nobody listens, and the system says so at once.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let (model, pauses) = opened(support::settings(&address, Wire::OpenAi));
    let error = ask(&model).await.unwrap_err();
    assert_eq!((error.code, error.attempts), (Code::ModelUnreachable, 3));
    assert_eq!(pauses.millis(), [250, 500]);
    assert!(error.message.contains("can't be reached"), "{error}");
}
