//! The last five turns of a conversation of 1 GB, from its end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench fails by panicking")]

use countersign_memory::conversation::Conversation;
use countersign_record::digest::Digest;
use countersign_testkit::bench::{Bar, Bench};
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

const LOG_BYTES: u64 = 1_000_000_000;
const ROUNDS: u32 = 50;
/// What one read may take, in milliseconds.
const TOOK_MAX_MS: f64 = 5.0;

fn main() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("conversation-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let conversation = Conversation::at(&dir);
    let text = "The lease of the warehouse ends in March, and the landlord wants a higher rent. ".repeat(3);
    let line = format!(
        "{{\"role\":\"user\",\"text\":\"{text}\",\"timestamp\":\"2025-09-07T12:00:01Z\",\"goal\":\"g\",\
         \"provenance\":{{\"source\":\"user\",\"hash\":\"{}\",\"file_refs\":[]}}}}\n",
        Digest::of(text.as_bytes())
    );
    let mut log =
        std::io::BufWriter::with_capacity(1 << 20, std::fs::File::create(conversation.log()).unwrap());
    for _ in 0..LOG_BYTES / line.len() as u64 {
        log.write_all(line.as_bytes()).unwrap();
    }
    log.into_inner().unwrap().sync_all().unwrap();

    let start = Instant::now();
    for _ in 0..ROUNDS {
        assert_eq!(black_box(conversation.tail(5, 0).unwrap()).turns.len(), 5);
    }
    let took = start.elapsed().as_secs_f64() * 1_000.0 / f64::from(ROUNDS);
    let mut bench = Bench::default();
    bench.print(
        "the last 5 turns of a conversation of 1 GB",
        &format!("countersign {took:.3} ms"),
        &format!("{TOOK_MAX_MS} ms"),
        TOOK_MAX_MS / took,
        Bar::AtLeast(1.0),
    );
    std::fs::remove_dir_all(dir).unwrap();
    bench.finish();
}
