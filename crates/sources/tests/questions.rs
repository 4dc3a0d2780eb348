//! The set of questions: how much of what is expected is quoted, and that nothing is invented.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

#[path = "questions/measure.rs"]
mod measure;

use measure::{Asking, Count, Half, documents, embedder, questions};

/// What the set must reach.
const RECALL_MIN: f64 = 0.85;

fn shown(name: &str, count: &Count) -> String {
    format!(
        "{name}: {} of {} spans quoted, {} of {} said to have no answer, {} of {} quotes invented\n  {}",
        count.quoted,
        count.spans,
        count.said_so,
        count.unanswerable,
        count.invented,
        count.quotes,
        count.misses.join("\n  ")
    )
}

#[test]
fn the_set_is_what_it_says() {
    let (all, documents) = (questions(), documents());
    assert!(documents.len() >= 12 && all.len() >= 40);
    assert!(all.iter().filter(|one| one.spans.is_empty()).count() >= 8);
    let of = |half| all.iter().filter(move |one| one.half == half).count();
    assert!(of(Half::Tune).abs_diff(of(Half::Check)) <= 2);
    for span in all.iter().flat_map(|one| &one.spans) {
        assert_eq!(documents[&span.path].matches(&span.text).count(), 1, "{} in {}", span.text, span.path);
    }
}

#[test]
fn what_is_expected_is_quoted_and_nothing_is_invented() {
    let embedder = embedder();
    for asking in [Asking::new(None), Asking::new(Some(&embedder))] {
        for half in [Half::Tune, Half::Check] {
            let count = asking.count(Some(half));
            let shown = shown(&format!("{half:?}"), &count);
            assert_eq!(count.invented, 0, "{shown}");
            assert!(count.recall() >= RECALL_MIN, "{shown}");
            assert!(count.honesty() >= RECALL_MIN, "{shown}");
        }
    }
}

#[test]
fn the_same_question_has_the_same_answer() {
    let (one, other) = (Asking::new(None), Asking::new(None));
    for question in questions() {
        assert_eq!(one.ask(&question.ask), other.ask(&question.ask), "{}", question.ask);
    }
}
