//! A page from the cache, through the whole tool, against a bare look by primary key.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench fails by panicking")]

use countersign_kernel::gate::{Capability, Need, Permitted, Reach, permit};
use countersign_record::json::{Json, Object};
use countersign_record::time::Timestamp;
use countersign_runtime::clock::Clock;
use countersign_runtime::ports::tool::Tool;
use countersign_testkit::bench::{Bar, Bench, Side};
use countersign_testkit::scratch::Scratch;
use countersign_web::{Config, HttpGet};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// A page of usual length.
const TEXT_BYTES: usize = 16 * 1024;
/// Pages that are kept beside it.
const OTHERS: u32 = 500;
/// What a page from the cache may take.
const HIT_MAX: Duration = Duration::from_micros(200);

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let scratch = Scratch::new();
    let mut bench = Bench::default();
    let port = runtime.block_on(serve());
    let tool = tool(&scratch);
    let cancel = CancellationToken::new();
    let url = |at: u32| format!("http://127.0.0.1:{port}/{at}");
    let run = |call: Permitted| runtime.block_on(tool.run(call, &cancel)).unwrap().output;
    for at in 0..=OTHERS {
        run(call(&url(at), port));
    }

    let asked = call(&url(7), port);
    let hit = || {
        let output = run(asked.clone());
        assert_eq!(output.get("cached"), Some(&Json::Bool(true)));
        black_box(output);
    };
    // The bar is a time and no peer: whoever waits for a page waits for one call.
    let median = median(hit);
    let ratio = HIT_MAX.as_secs_f64() / median.as_secs_f64();
    bench.print(
        "a page of 16 KiB from the cache, against the time it may take",
        &format!("countersign {:.1} \u{B5}s", median.as_secs_f64() * 1e6),
        &format!("{} \u{B5}s", HIT_MAX.as_micros()),
        ratio,
        Bar::AtLeast(1.0),
    );

    let bare = bare(&scratch);
    let key = url(7);
    let look = || {
        let mut statement = bare.prepare_cached("SELECT text FROM pages WHERE url = ?1").unwrap();
        black_box(statement.query_row([&key], |row| row.get::<_, String>(0)).unwrap());
    };
    let (hit, look) = (Side::new("countersign", hit), Side::new("bare SQLite", look));
    bench.compare("a page of 16 KiB from the cache (pages)", hit, look, Bar::None);
    bench.finish();
}

/// The median of single calls, as a caller meets them.
fn median(mut work: impl FnMut()) -> Duration {
    let mut took: Vec<Duration> = (0..10_000)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    took.sort_unstable();
    took[took.len() / 2]
}

fn tool(scratch: &Scratch) -> HttpGet {
    let now = Timestamp::try_from("2026-01-01T12:00:00Z").unwrap();
    // A clock of its own, which moves on by a millisecond with each call, so that no page is given up on the way.
    let clock = Arc::new(Clock::new(Some(&now), Some(1), [0; 32]));
    let cache = Some(scratch.path().join("http-cache.sqlite"));
    let ttl = Duration::from_secs(1_000_000_000);
    HttpGet::new(Config { cache, ttl, ..Config::default() }, clock).unwrap()
}

fn call(url: &str, port: u16) -> Permitted {
    let granted = vec![Capability::try_from(&*format!("net:127.0.0.1:{port}")).unwrap()];
    permit(Object::from([("url", url.into())]), &Need::Nothing, Reach { granted, hosts: None }).unwrap()
}

/// A server that gives every request the same text.
async fn serve() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {TEXT_BYTES}\r\n\r\n{}",
                "a".repeat(TEXT_BYTES)
            );
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    port
}

/// The same file, read by nobody who checks anything.
fn bare(scratch: &Scratch) -> rusqlite::Connection {
    rusqlite::Connection::open(scratch.path().join("http-cache.sqlite")).unwrap()
}
