//! The address that is listened at, and the connections there.
//! Owns: how many there are, how long each part of them may take, and ending them well. Must not: look at a request.

use super::{Server, router};
use crate::failure::Failure;
use crate::output;
use crate::signals::Signals;
use axum::Router;
use countersign_record::code::Code;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many connections there are at once; more wait in the system's own queue.
const CONNECTIONS_MAX: usize = 256;
/// How long a client may take to say what it wants: whoever says nothing keeps others out.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
const HEADERS_MAX: usize = 64;
const HEADER_BYTES_MAX: usize = 16 * 1024;
const BUFFER_BYTES_MAX: usize = 64 * 1024;
/// How long nothing is accepted after the system has refused to.
const PAUSE: Duration = Duration::from_millis(100);
/// How long what was cancelled may take to end.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// Listens at an address, and says which one it is.
pub(crate) async fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Failure> {
    let refused = |error: std::io::Error| Failure::new(Code::HttpListen, format!("{address}: {error}"));
    let listener = TcpListener::bind(address).await.map_err(refused)?;
    let bound = listener.local_addr().map_err(refused)?;
    Ok((listener, bound))
}

/// Answers until a signal comes, then finishes what is at work. Another signal cancels that.
pub(crate) async fn serve(server: Arc<Server>, listener: TcpListener, mut signals: Signals) {
    let graceful = GracefulShutdown::new();
    tokio::select! {
        () = accept(&server, &listener, &graceful) => {}
        () = signals.next() => {}
    }
    drop(listener);
    let count = server.tasks.len() as u64;
    if count > 0 {
        let what = output::count(count, "request");
        output::aside(&format!("ending; {what} at work will be finished (again to cancel)"));
    }
    let mut ended = pin!(async {
        graceful.shutdown().await;
        server.tasks.close();
        server.tasks.wait().await;
    });
    tokio::select! {
        () = &mut ended => return,
        () = signals.next() => server.cancel.cancel(),
    }
    tokio::select! {
        () = ended => {}
        () = signals.next() => {}
        () = tokio::time::sleep(LAST_WORDS) => {}
    }
}

async fn accept(server: &Arc<Server>, listener: &TcpListener, graceful: &GracefulShutdown) {
    let router = router(server);
    let connections = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(permit) = Arc::clone(&connections).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let connection =
                    connection(stream, router.clone(), server.timeout, graceful.watcher(), permit);
                drop(tokio::spawn(connection));
            }
            // The client has left, or there are no more descriptors; neither gets better by asking at once.
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

fn connection(
    stream: TcpStream,
    router: Router,
    timeout: Duration,
    watcher: Watcher,
    permit: OwnedSemaphorePermit,
) -> impl Future<Output = ()> {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(timeout.min(HEAD_TIMEOUT))
        .max_headers(HEADERS_MAX)
        .max_header_size(HEADER_BYTES_MAX)
        .max_buf_size(BUFFER_BYTES_MAX);
    let served = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let watched = watcher.watch(served);
    async move {
        // A connection that ends badly is its client's trouble: whatever was asked goes on by itself.
        drop(watched.await);
        drop(permit);
    }
}
