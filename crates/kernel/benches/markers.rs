//! Taking a model's reply apart, whatever it says.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench fails by panicking")]

use countersign_kernel::says::Listener;
use countersign_testkit::bench::{Bar, Bench};
use std::hint::black_box;
use std::time::Instant;

const STREAM_BYTES: usize = 10_000_000;
const CHUNK_BYTES: usize = 512;
const ROUNDS: usize = 5;
/// What the slowest of the streams must reach.
const MB_PER_SECOND_MIN: f64 = 200.0;

fn main() {
    let block = "text <<<NOTES_JSON>>>{\"add_decisions\":[\"sign \\\"it\\\"\"]}<<<END_NOTES_JSON>>> ";
    let mut bench = Bench::default();
    for (what, word) in [
        ("text", "The lease of the warehouse ends in March. "),
        ("blocks", block),
        ("beginnings of markers", "<<<TOOL_CALLS_JSO <<<NOTES_<<<END_NOTES_JSON>> "),
        ("leads", "<"),
        ("a block without an end", "<<<NOTES_JSON>>>{\"a\":[\"\\\\\\\"<<<END_NOTES_JSON>>>"),
        ("brackets", "<<<TOOL_CALLS_JSON>>>[[{}{}[][[[[[["),
        ("blocks that are none", "<<<NOTES_JSON>>>no <<<END_TOOL <<<<END_NOTES_JSON>>>"),
        ("bytes that are no text", "\u{20ac}<"),
    ] {
        let mut stream = word.repeat(STREAM_BYTES / word.len()).into_bytes();
        let is_text = what != "bytes that are no text";
        if !is_text {
            stream.iter_mut().filter(|byte| **byte == 0x82).for_each(|byte| *byte = 0xFF);
        }
        let rate = (0..ROUNDS).map(|_| rate(&stream)).fold(0.0, f64::max);
        bench.print(
            &format!("a reply of 10 MB: {what}"),
            &format!("{rate:.0} MB/s at best"),
            &format!("{MB_PER_SECOND_MIN} MB/s"),
            rate / MB_PER_SECOND_MIN,
            // A provider's text is text; whoever sends other bytes has no claim to speed.
            if is_text { Bar::AtLeast(1.0) } else { Bar::None },
        );
    }
    bench.finish();
}

fn rate(stream: &[u8]) -> f64 {
    let start = Instant::now();
    let mut listener = Listener::default();
    let mut shown = 0;
    for chunk in stream.chunks(CHUNK_BYTES) {
        listener.hear(chunk, &mut |text| shown += text.len());
    }
    black_box((listener.finish(&mut |text| shown += text.len()), shown));
    stream.len() as f64 / 1e6 / start.elapsed().as_secs_f64()
}
