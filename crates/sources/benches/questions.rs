//! The set of questions: recall of the expected spans on both halves, what is said to have no answer, quotes that no
//! document has, and how long a question takes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench fails by panicking")]

#[path = "../tests/questions/measure.rs"]
mod measure;

use countersign_testkit::bench::{Bar, Bench};
use measure::{Asking, Count, FIRST, FOURTH, Half, SECOND, THIRD, embedder, questions};
use std::time::Instant;

fn main() {
    let mut bench = Bench::default();
    for (name, asking) in [
        ("words", Asking::new(FIRST, None)),
        ("words and hashed vectors", Asking::new(FIRST, Some(embedder()))),
    ] {
        let halves = [
            ("tuned on", Some(Half::Tune), Bar::AtLeast(0.85)),
            ("kept aside", Some(Half::Check), Bar::None),
            ("all", None, Bar::AtLeast(0.85)),
        ];
        for (half, which, bar) in halves {
            let asked =
                questions(FIRST).iter().filter(|one| which.is_none_or(|half| one.half == half)).count();
            let start = Instant::now();
            let count = asking.count(which);
            let each = start.elapsed().as_secs_f64() * 1e3 / asked as f64;
            let Count { quoted, spans, said_so, unanswerable, invented, quotes, .. } = count;
            bench.print(
                &format!("recall of the spans that answer {asked} questions, by {name} ({half})"),
                &format!("{quoted} of {spans} quoted, {said_so} of {unanswerable} said to have no answer"),
                &format!("{each:.1} ms a question; invented: {invented} of {quotes} quotes"),
                if invented == 0 { count.recall() } else { 0.0 },
                bar,
            );
        }
    }
    for (name, set) in [("second", SECOND), ("third", THIRD), ("fourth", FOURTH)] {
        let count = Asking::new(set, Some(embedder())).count(None);
        let Count { quoted, close, spans, said_so, unanswerable, invented, quotes, .. } = count;
        bench.print(
            &format!("recall of the spans that answer the {name} set of questions"),
            &format!("{quoted} of {spans} quoted, {close} more shown as close, {said_so} of {unanswerable} said to have no answer"),
            &format!("invented: {invented} of {quotes} quotes"),
            if invented == 0 { count.recall() } else { 0.0 },
            Bar::None,
        );
    }
    bench.finish();
}
