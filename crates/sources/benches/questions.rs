//! The set of questions: recall of the expected spans on both halves, what is said to have no answer, quotes that no
//! document has, and how long a question takes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench fails by panicking")]

#[path = "../tests/questions/measure.rs"]
mod measure;

use countersign_testkit::bench::{Bar, Bench};
use measure::{Asking, Half, embedder, questions};
use std::time::Instant;

fn main() {
    let mut bench = Bench::default();
    let embedder = embedder();
    for (name, asking) in
        [("words", Asking::new(None)), ("words and hashed vectors", Asking::new(Some(&embedder)))]
    {
        for half in [Half::Tune, Half::Check] {
            let start = Instant::now();
            let count = asking.count(Some(half));
            let each = start.elapsed().as_secs_f64() * 1e3
                / questions().iter().filter(|one| one.half == half).count() as f64;
            let half = match half {
                Half::Tune => "tuned on",
                Half::Check => "kept aside",
            };
            bench.print(
                &format!("recall of expected spans, {name}, questions {half}"),
                &format!(
                    "{} of {} spans, {} of {} without an answer said so",
                    count.quoted, count.spans, count.said_so, count.unanswerable
                ),
                &format!("{each:.1} ms a question; invented: {} of {} quotes", count.invented, count.quotes),
                if count.invented == 0 { count.recall() } else { 0.0 },
                Bar::AtLeast(0.85),
            );
            if std::env::args().any(|argument| argument == "--misses") {
                count.misses.iter().for_each(|miss| println!("  {miss}"));
            }
        }
    }
    bench.finish();
}
