//! A model of two layers whose weights mean nothing, run for real.
//! Owns: the port's promises: repeatable, bounded, one at a time, cancelled at once. Must not: expect sense.

use crate::synthetic::{CONTEXT, Entry, Gguf};
use countersign_local::engine::{Error, Local};
use countersign_local::header;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::session::{ChatMessage, Role};
use countersign_runtime::ports::model::{Delta, Finish, Model, NoAnswer, Reply, Request};
use countersign_testkit::scratch::Scratch;
use futures_util::{FutureExt, StreamExt};
use std::fs;
use tokio_util::sync::CancellationToken;

fn open(gguf: &Gguf) -> Local {
    let scratch = Scratch::new();
    let path = scratch.path().join("tiny.gguf");
    fs::write(&path, gguf.bytes()).unwrap();
    let local = Local::open(&path, "tiny").unwrap();
    assert_eq!(local.digest(), Digest::of(&gguf.bytes()));
    local
}

fn request(content: &str, max_tokens: u32, temperature_milli: u32, seed: Option<u64>) -> Request {
    let messages = vec![ChatMessage { role: Role::User, content: content.to_owned() }];
    Request { messages, max_tokens, temperature_milli, seed }
}

async fn ask(local: &Local, request: &Request) -> Result<Reply, NoAnswer> {
    local.chat(request, &CancellationToken::new()).await
}

/// Answers of a model without sense end where they like; this one comes in at least so many pieces.
async fn long(local: &Local, pieces_min: usize) -> Request {
    for seed in 0..1000 {
        let request = request("hello", 200, 1000, Some(seed));
        if local.stream_chat(&request, &CancellationToken::new()).count().await > pieces_min {
            return request;
        }
    }
    panic!("no answer is long");
}

#[tokio::test]
async fn the_same_request_gives_the_same_bytes() {
    let (once, again, other) = (open(&Gguf::tiny(1)), open(&Gguf::tiny(1)), open(&Gguf::tiny(2)));
    for request in [
        request("hello", 20, 0, None),
        request("hello", 20, 900, Some(7)),
        request("hello", 20, 900, None),
        request("a world of 12 letters, § and more than sixteen tokens", 10, 2000, Some(u64::MAX)),
    ] {
        let reply = ask(&once, &request).await.unwrap();
        assert_eq!(ask(&once, &request).await.unwrap(), reply);
        assert_eq!(ask(&again, &request).await.unwrap(), reply);
        assert_ne!(ask(&other, &request).await.unwrap().text, reply.text);
    }
    let replies = [1, 2].map(|seed| request("hello", 20, 900, Some(seed)));
    assert_ne!(ask(&once, &replies[0]).await.unwrap(), ask(&once, &replies[1]).await.unwrap());
}

#[tokio::test]
async fn an_answer_is_as_long_as_it_may_be() {
    let local = open(&Gguf::tiny(1));
    let long = long(&local, 40).await;
    for max_tokens in [0, 1, 7, 40] {
        let reply = ask(&local, &Request { max_tokens, ..long.clone() }).await.unwrap();
        assert_eq!(reply.ended.usage.output_tokens, u64::from(max_tokens));
        assert_eq!(reply.ended.finish, Finish::Length);
        assert_eq!(reply.text.is_empty(), max_tokens == 0);
    }
}

#[tokio::test]
async fn a_window_is_not_left() {
    let local = open(&Gguf::tiny(1));
    assert_eq!(local.context(), CONTEXT as usize);
    let error = ask(&local, &request(&"x".repeat(100), 5, 0, None)).await.unwrap_err();
    assert_eq!(error.code, Code::ModelRefused);
    assert!(error.message.contains("can look at 96"), "{error}");
    assert!(!error.message.contains("xx"));
    let error = ask(&local, &request(&"x".repeat(2 << 20), 5, 0, None)).await.unwrap_err();
    assert_eq!(error.code, Code::ModelRefused);
    // Of an answer only as much as still fits.
    for letters in 50..90 {
        match ask(&local, &request(&"x".repeat(letters), 1000, 0, None)).await {
            Ok(reply) => {
                let usage = reply.ended.usage;
                assert!(usage.input_tokens + usage.output_tokens <= u64::from(CONTEXT));
                assert!(usage.output_tokens > 0 || reply.ended.finish == Finish::Stop);
            }
            Err(error) => assert_eq!(error.code, Code::ModelRefused),
        }
    }
}

#[tokio::test]
async fn pieces_make_the_whole_and_nothing_comes_after_the_end() {
    let local = open(&Gguf::tiny(3));
    let cancel = CancellationToken::new();
    for seed in 0..10 {
        let request = request("hello", 30, 1500, Some(seed));
        let whole = ask(&local, &request).await.unwrap();
        let deltas: Vec<_> = local.stream_chat(&request, &cancel).map(Result::unwrap).collect().await;
        let (end, texts) = deltas.split_last().unwrap();
        assert_eq!(*end, Delta::End(whole.ended));
        let texts: Vec<&str> = texts
            .iter()
            .map(|delta| match delta {
                Delta::Text(text) => text.as_str(),
                Delta::End(_) => panic!("an end is not the end"),
            })
            .collect();
        assert!(texts.iter().all(|text| !text.is_empty()));
        assert_eq!(texts.concat(), whole.text);
    }
}

#[tokio::test]
async fn a_cancelled_answer_ends_and_the_next_one_is_given() {
    let local = open(&Gguf::tiny(1));
    let long = long(&local, 40).await;
    let cancel = CancellationToken::new();
    let mut deltas = local.stream_chat(&long, &cancel);
    assert!(matches!(deltas.next().await, Some(Ok(Delta::Text(_)))));
    cancel.cancel();
    assert_eq!(deltas.next().await, None);
    drop(deltas);
    assert_eq!(local.stream_chat(&long, &cancel).next().await, None);
    let error = local.chat(&long, &cancel).await.unwrap_err();
    assert_eq!(error.code, Code::ModelCancelled);
    assert!(ask(&local, &long).await.is_ok());
}

#[tokio::test]
async fn one_is_answered_at_a_time_and_few_wait() {
    let local = open(&Gguf::tiny(1).with("llama.context_length", Entry::U32(1000)));
    // More than may lie unread, so that whoever reads one piece only has the model for as long as they like.
    let long = long(&local, 100).await;
    let cancel = CancellationToken::new();
    let mut first = local.stream_chat(&long, &cancel);
    assert!(matches!(first.next().await, Some(Ok(Delta::Text(_)))));
    let mut waiting: Vec<_> = (0..16).map(|_| local.stream_chat(&long, &cancel)).collect();
    // A stream that is polled by `next` alone forgets that it waited, so all of them are polled together.
    let mut all = futures_util::future::join_all(waiting.iter_mut().map(StreamExt::next));
    assert!((&mut all).now_or_never().is_none());
    let error = ask(&local, &long).await.unwrap_err();
    assert_eq!(error.code, Code::ModelBusy);
    // Whoever goes makes room, waiting or not.
    drop(all);
    drop(waiting);
    drop(first);
    assert_eq!(ask(&local, &long).await.unwrap().ended.usage.attempts, 1);
}

#[tokio::test]
async fn numbers_that_are_none_are_no_answer() {
    let mut gguf = Gguf::tiny(1);
    gguf.tensor("output_norm.weight").data = f32::NAN.to_le_bytes().repeat(32);
    let error = ask(&open(&gguf), &request("hello", 5, 0, None)).await.unwrap_err();
    assert_eq!(error.code, Code::ModelReply);
    let error = ask(&open(&gguf), &request("hello", 5, 1000, None)).await.unwrap_err();
    assert_eq!(error.code, Code::ModelReply);
}

#[test]
fn what_is_no_model_is_not_opened() {
    let scratch = Scratch::new();
    let path = scratch.path().join("x.gguf");
    let refused = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        Local::open(&path, "x").unwrap_err()
    };
    assert_eq!(refused(b""), Error::File(header::Error::NotGguf));
    let whole = Gguf::tiny(1).bytes();
    assert_eq!(refused(&whole[..whole.len() - 1]), Error::File(header::Error::Cut));
    let missing = Local::open(&scratch.path().join("none"), "x").unwrap_err();
    assert_eq!(missing.code(), Code::ModelConfig);
}
