//! A small world for hostile tests: servers that say what they like, and a network whose names lead where a test wants.
//! Owns: both, on loopback addresses. Must not: reach anything outside of this machine.

pub(crate) mod kept;

use countersign_kernel::gate::{Capability, Need, Place, Reach, permit};
use countersign_record::json::{Json, Object};
use countersign_record::time::Timestamp;
use countersign_runtime::clock::Clock;
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::tool::{Done, NotDone, Tool};
use countersign_web::{Config, HttpGet, Network};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

/// An address that looks public; nothing is ever sent there.
pub(crate) const PUBLIC: &str = "93.184.216.34";

/// Every public address.
pub(crate) const NET: &[&str] = &["net"];

/// What a server does, one after the other, when it has read a request.
#[derive(Clone, Debug)]
pub(crate) enum Say {
    /// Sends these bytes.
    Bytes(Vec<u8>),
    /// Sends these bytes for ever.
    Endless(Vec<u8>),
    /// Sends these bytes for ever, one every few milliseconds.
    Drip(Vec<u8>),
    /// Says nothing more and keeps the connection.
    Hang,
    /// Ends the connection without a word of farewell.
    Cut,
}

/// An answer of one piece.
pub(crate) fn say(text: impl AsRef<[u8]>) -> Vec<Say> {
    vec![Say::Bytes(text.as_ref().to_vec())]
}

/// A whole answer of text.
pub(crate) fn page(body: &str) -> Vec<Say> {
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n", body.len());
    say(head + body)
}

/// A redirect.
pub(crate) fn moved(to: &str) -> Vec<Say> {
    say(format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n"))
}

type Answering = dyn Fn(&str) -> Vec<Say> + Send + Sync;

/// A server on a loopback address. It ends with the test's runtime.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicUsize>,
}

impl Server {
    /// A server that gives each request, by its head, an answer.
    pub(crate) async fn start(answer: impl Fn(&str) -> Vec<Say> + Send + Sync + 'static) -> Self {
        Server::start_with(Arc::new(answer), None, "127.0.0.1:0").await
    }

    /// The same on the loopback address of IPv6.
    pub(crate) async fn on_six(answer: impl Fn(&str) -> Vec<Say> + Send + Sync + 'static) -> Self {
        Server::start_with(Arc::new(answer), None, "[::1]:0").await
    }

    /// The same behind TLS.
    pub(crate) async fn secure(
        tls: tokio_rustls::TlsAcceptor,
        answer: impl Fn(&str) -> Vec<Say> + Send + Sync + 'static,
    ) -> Self {
        Server::start_with(Arc::new(answer), Some(tls), "127.0.0.1:0").await
    }

    async fn start_with(answer: Arc<Answering>, tls: Option<tokio_rustls::TlsAcceptor>, at: &str) -> Self {
        let listener = TcpListener::bind(at).await.unwrap();
        let server = Server {
            address: listener.local_addr().unwrap(),
            requests: Arc::default(),
            connections: Arc::default(),
        };
        let serving = server.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                serving.connections.fetch_add(1, Ordering::SeqCst);
                let (serving, answer, tls) = (serving.clone(), Arc::clone(&answer), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                serving.serve(stream, &*answer).await;
                            }
                        }
                        None => serving.serve(stream, &*answer).await,
                    }
                });
            }
        });
        server
    }

    async fn serve(&self, mut stream: impl AsyncRead + AsyncWrite + Unpin, answer: &Answering) {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => return,
            }
        }
        let head = String::from_utf8(head).unwrap();
        self.requests.lock().unwrap().push(head.clone());
        for say in answer(&head) {
            let sent = match say {
                Say::Bytes(bytes) => stream.write_all(&bytes).await,
                Say::Endless(bytes) => loop {
                    if let Err(error) = stream.write_all(&bytes).await {
                        break Err(error);
                    }
                },
                Say::Drip(bytes) => {
                    let mut ticks = tokio::time::interval(Duration::from_millis(5));
                    loop {
                        ticks.tick().await;
                        if let Err(error) = stream.write_all(&bytes).await {
                            break Err(error);
                        }
                    }
                }
                Say::Hang => std::future::pending().await,
                Say::Cut => return,
            };
            if sent.is_err() {
                return;
            }
        }
        drop(stream.shutdown().await);
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// The heads of all requests so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// A server that is `a.example` for everybody, its address, and the exact grant for it.
pub(crate) async fn exact(
    answer: impl Fn(&str) -> Vec<Say> + Send + Sync + 'static,
) -> (Server, Arc<Names>, String, String) {
    let server = Server::start(answer).await;
    let names = Names::new();
    names.set("a.example", &[&["127.0.0.1"]]);
    let (url, granted) =
        (format!("http://a.example:{}/", server.port()), format!("net:a.example:{}", server.port()));
    (server, names, url, granted)
}

/// A network whose names lead where a test wants, and which says afterwards what was asked of it.
#[derive(Default)]
pub(crate) struct Names {
    answers: Mutex<BTreeMap<String, VecDeque<Vec<IpAddr>>>>,
    routes: Mutex<BTreeMap<SocketAddr, SocketAddr>>,
    asked: Mutex<Vec<String>>,
    dialled: Mutex<Vec<SocketAddr>>,
}

impl Names {
    /// A network without names.
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// What the name leads to from now on, each answer once and the last for ever.
    pub(crate) fn set(&self, name: &str, answers: &[&[&str]]) {
        let read = |addresses: &&[&str]| addresses.iter().map(|address| address.parse().unwrap()).collect();
        self.answers.lock().unwrap().insert(name.to_owned(), answers.iter().map(read).collect());
    }

    /// Where a connection to an address that is not on this machine ends.
    pub(crate) fn route(&self, address: &str, server: &Server) {
        self.route_port(address, server.port(), server);
    }

    /// The same for one port.
    pub(crate) fn route_port(&self, address: &str, port: u16, server: &Server) {
        let address = SocketAddr::new(address.parse().unwrap(), port);
        self.routes.lock().unwrap().insert(address, server.address);
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn dialled(&self) -> Vec<String> {
        self.dialled.lock().unwrap().iter().map(SocketAddr::to_string).collect()
    }
}

impl Network for Names {
    fn addresses_of<'a>(&'a self, name: &'a str) -> Answer<'a, io::Result<Vec<IpAddr>>> {
        self.asked.lock().unwrap().push(name.to_owned());
        let mut answers = self.answers.lock().unwrap();
        let found = answers.get_mut(name).map(|answers| match answers.len() {
            1 => answers[0].clone(),
            _ => answers.pop_front().unwrap(),
        });
        Box::pin(async move { found.ok_or_else(|| io::ErrorKind::NotFound.into()) })
    }

    fn connect(&self, address: SocketAddr) -> Answer<'_, io::Result<TcpStream>> {
        self.dialled.lock().unwrap().push(address);
        let route = self.routes.lock().unwrap().get(&address).copied();
        let to = route.or(address.ip().is_loopback().then_some(address));
        Box::pin(async move {
            match to {
                Some(to) => TcpStream::connect(to).await,
                None => Err(io::ErrorKind::ConnectionRefused.into()),
            }
        })
    }
}

/// A clock that starts at this time of the first of January.
pub(crate) fn clock(time: &str) -> Arc<Clock> {
    let now = Timestamp::try_from(format!("2026-01-01T{time}Z")).unwrap();
    Arc::new(Clock::new(Some(&now), Some(1), [0; 32]))
}

/// The tool on a network, without a cache, with a deadline that a busy machine does not reach.
pub(crate) fn tool(names: &Arc<Names>) -> HttpGet {
    tool_with(names, Config { deadline: Duration::from_secs(60), ..Config::default() })
}

pub(crate) fn tool_with(names: &Arc<Names>, config: Config) -> HttpGet {
    let network: Arc<dyn Network> = Arc::<Names>::clone(names);
    HttpGet::on(network, config, clock("12:00:00")).unwrap()
}

/// What these words grant.
pub(crate) fn reach(granted: &[&str]) -> Reach {
    let granted = granted.iter().map(|word| Capability::try_from(*word).unwrap()).collect();
    Reach { granted, hosts: None }
}

pub(crate) fn listed(granted: &[&str], hosts: &[&str]) -> Reach {
    let hosts = hosts.iter().map(|host| Place::try_from(*host).unwrap()).collect();
    Reach { hosts: Some(hosts), ..reach(granted) }
}

/// Runs a call past every check that others make before.
pub(crate) async fn get(tool: &HttpGet, url: &str, reach: Reach) -> Result<Done, NotDone> {
    run(tool, Object::from([("url", url.into())]), reach, &CancellationToken::new()).await
}

pub(crate) async fn run(
    tool: &HttpGet,
    args: Object,
    reach: Reach,
    cancel: &CancellationToken,
) -> Result<Done, NotDone> {
    tool.run(permit(args, &Need::Nothing, reach).unwrap(), cancel).await
}

/// A member of what a call gave, as text.
pub(crate) fn told(done: &Done, member: &str) -> String {
    match done.output.get(member) {
        Some(Json::String(text)) => text.clone(),
        Some(Json::Bool(value)) => value.to_string(),
        Some(Json::Number(number)) => number.literal(),
        Some(Json::Null) => "null".to_owned(),
        Some(Json::Array(_) | Json::Object(_)) | None => panic!("{member} is no text"),
    }
}
