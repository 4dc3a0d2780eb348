//! A server on this machine that says exactly the bytes it is told to, and settings that lead to it.
//! Owns: connections, in the order they come. Must not: know HTTP beyond where a request ends.

use countersign_models::remote::{Pace, Timeouts};
use countersign_models::settings::{BaseUrl, PlainHttp, RemoteSettings, Wire};
use countersign_models::{Means, Opened, Settings, open};
use countersign_record::session::{ChatMessage, Role};
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::model::{Delta, NoAnswer, Reply, Request};
use futures_util::StreamExt;
use std::ffi::OsString;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The key of every test; it must be in nothing that is told.
pub(crate) const KEY: &str = "sk-canary-0123456789abcdef";
/// Longer than anything here takes, however busy the machine is.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// What the server does on one connection, once it has the request.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends these bytes again and again until nobody listens.
    Forever(Vec<u8>),
    /// Waits until the other side has closed the connection.
    Hold,
}

/// A server that knows what to do on each connection, one after the other; it then closes it.
pub(crate) struct Server {
    pub(crate) address: String,
    requests: mpsc::UnboundedReceiver<String>,
    closed: mpsc::UnboundedReceiver<()>,
    served: Arc<Mutex<usize>>,
}

impl Server {
    pub(crate) async fn new(connections: Vec<Vec<Act>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (tell_request, requests) = mpsc::unbounded_channel();
        let (tell_closed, closed) = mpsc::unbounded_channel();
        let served = Arc::new(Mutex::new(0));
        let counter = Arc::clone(&served);
        tokio::spawn(async move {
            for acts in connections {
                let (mut stream, _) = listener.accept().await.unwrap();
                stream.set_nodelay(true).unwrap();
                *counter.lock().unwrap() += 1;
                tell_request.send(request(&mut stream).await).ok();
                perform(&mut stream, acts, &tell_closed).await;
            }
        });
        Server { address, requests, closed, served }
    }

    /// How many connections there were.
    pub(crate) fn served(&self) -> usize {
        *self.served.lock().unwrap()
    }

    /// The next request, head and body.
    pub(crate) async fn request(&mut self) -> String {
        tokio::time::timeout(LONG, self.requests.recv()).await.unwrap().unwrap()
    }

    /// Waits until a connection that was held is closed by the other side.
    pub(crate) async fn is_closed(&mut self) {
        tokio::time::timeout(LONG, self.closed.recv()).await.expect("it is closed in time").unwrap();
    }

    pub(crate) fn settings(&self, wire: Wire) -> RemoteSettings {
        settings(&self.address, wire)
    }
}

async fn request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4_096];
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.to_ascii_lowercase();
            let length = length.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return text.into_owned();
            }
        }
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return text.into_owned(),
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

async fn perform(stream: &mut TcpStream, acts: Vec<Act>, closed: &mpsc::UnboundedSender<()>) {
    for act in acts {
        match act {
            Act::Send(bytes) => {
                // Whoever hangs up in the middle is the test's business.
                stream.write_all(&bytes).await.ok();
                stream.flush().await.ok();
                // What was sent goes out as a piece of its own, as far as a network has any.
                tokio::task::yield_now().await;
            }
            Act::Forever(bytes) => while stream.write_all(&bytes).await.is_ok() {},
            Act::Hold => {
                let mut buffer = [0; 64];
                while stream.read(&mut buffer).await.is_ok_and(|count| count > 0) {}
                closed.send(()).ok();
            }
        }
    }
}

/// An answer of a server: status, headers, body; it ends where the connection does.
pub(crate) fn answer(status: &str, headers: &[&str], body: impl AsRef<[u8]>) -> Vec<Act> {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\n{headers}\r\n");
    vec![Act::Send([head.as_bytes(), body.as_ref()].concat())]
}

/// A good answer in events.
pub(crate) fn events(body: impl AsRef<[u8]>) -> Vec<Act> {
    answer("200 OK", &["content-type: text/event-stream; charset=utf-8"], body)
}

/// A refusal.
pub(crate) fn refusal(status: &str, headers: &[&str]) -> Vec<Act> {
    let headers = [&["content-type: application/json"], headers].concat();
    answer(status, &headers, "{\"error\":{\"message\":\"go away\"}}")
}

/// Events with these data, each.
pub(crate) fn data(events: &[&str]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

/// An event of the OpenAI protocol that says a text.
pub(crate) fn says(text: &str) -> String {
    serde_json::json!({ "choices": [{ "index": 0, "delta": { "content": text } }] }).to_string()
}

pub(crate) const STOP: &str = "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}";
pub(crate) const DONE: &str = "[DONE]";

/// A whole answer of the OpenAI protocol.
pub(crate) fn good(text: &str) -> Vec<Act> {
    events(data(&[&says(text), STOP, DONE]))
}

pub(crate) fn settings(address: &str, wire: Wire) -> RemoteSettings {
    RemoteSettings {
        wire,
        base_url: BaseUrl::try_from(address).unwrap(),
        model: "m".into(),
        key: Some(countersign_models::key::KeyPlace::Variable("THE_KEY".into())),
        plain_http: PlainHttp::WithoutKey,
        tool_role: countersign_models::settings::ToolRole::User,
        temperature: countersign_models::settings::Temperature::Sent,
        max_tokens: 1_000,
        prices: None,
        timeouts: Timeouts { connect: LONG, first: LONG, piece: LONG, total: LONG * 3 },
    }
}

/// Waits for nothing, and remembers how long it should have waited.
#[derive(Debug, Default)]
pub(crate) struct Pauses(Mutex<Vec<u128>>);

impl Pauses {
    pub(crate) fn millis(&self) -> Vec<u128> {
        self.0.lock().unwrap().clone()
    }
}

impl Pace for Pauses {
    fn chance(&self) -> u64 {
        0
    }

    fn pause(&self, time: Duration) -> Answer<'_, ()> {
        self.0.lock().unwrap().push(time.as_millis());
        Box::pin(std::future::ready(()))
    }
}

/// A model with these settings, and the pauses it makes.
pub(crate) fn opened(settings: RemoteSettings) -> (Opened, Arc<Pauses>) {
    let pauses = Arc::new(Pauses::default());
    let means = Means {
        variable: Box::new(|name| (name == "THE_KEY").then(|| OsString::from(KEY))),
        pace: Arc::clone(&pauses) as Arc<dyn Pace>,
    };
    (open(&Settings::Remote(Box::new(settings)), &means).unwrap(), pauses)
}

/// What is asked; its words must be in nothing that is told.
pub(crate) fn question() -> Request {
    let said = |role, content: &str| ChatMessage { role, content: content.into() };
    Request {
        messages: vec![
            said(Role::System, "Rules of the canary."),
            said(Role::User, "Question of the canary?"),
        ],
        max_tokens: 100,
        temperature_milli: 0,
        seed: None,
    }
}

/// The whole answer.
pub(crate) async fn ask(opened: &Opened) -> Result<Reply, NoAnswer> {
    let (request, cancel) = (question(), CancellationToken::new());
    let reply = tokio::time::timeout(LONG * 4, opened.model.chat(&request, &cancel)).await.expect("it ends");
    if let Err(error) = &reply {
        let told = format!("{error} {error:?}");
        assert!(!told.contains("canary"), "{told}");
        assert!(error.message.chars().count() <= 400 && !error.message.contains('\n'), "{told}");
    }
    reply
}

/// The pieces of an answer, and how it went out.
pub(crate) async fn pieces(opened: &Opened) -> (Vec<String>, Option<Result<Delta, NoAnswer>>) {
    let (request, cancel) = (question(), CancellationToken::new());
    let mut deltas = opened.model.stream_chat(&request, &cancel);
    let mut texts = Vec::new();
    loop {
        match tokio::time::timeout(LONG, deltas.next()).await.expect("it goes on") {
            Some(Ok(Delta::Text(text))) => texts.push(text),
            last => {
                assert!(deltas.next().await.is_none(), "nothing comes after the end");
                return (texts, last);
            }
        }
    }
}
