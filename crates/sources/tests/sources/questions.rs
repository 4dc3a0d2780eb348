//! The set of questions: how much of what is expected is quoted, and that nothing is invented.

#[path = "../questions/measure.rs"]
mod measure;

use measure::{Asking, Count, FIRST, Half, documents, embedder, questions};

/// What the whole set must reach.
const RECALL_MIN: f64 = 0.85;
/// What the half must reach that nothing was fitted to: what it did reach, less a little.
const CHECK_RECALL_MIN: f64 = 0.75;
/// How many of the questions without an answer must be said to have none.
const HONESTY_MIN: f64 = 0.7;

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
    let (all, documents) = (questions(FIRST), documents(FIRST));
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
    for asking in [Asking::new(FIRST, None), Asking::new(FIRST, Some(embedder()))] {
        let (tune, check) = (asking.count(Some(Half::Tune)), asking.count(Some(Half::Check)));
        // What was missed of the other half is not shown: whoever reads it would fit something to it.
        let shown = format!("{}\n{:.3} and {:.3}", shown("tuned on", &tune), tune.recall(), check.recall());
        assert_eq!(tune.invented + check.invented, 0, "{shown}");
        let whole = (tune.quoted + check.quoted) as f64 / (tune.spans + check.spans) as f64;
        assert!(
            whole >= RECALL_MIN && tune.recall() >= RECALL_MIN && check.recall() >= CHECK_RECALL_MIN,
            "{shown}"
        );
        let honesty = (tune.said_so + check.said_so) as f64 / (tune.unanswerable + check.unanswerable) as f64;
        assert!(honesty >= HONESTY_MIN, "{shown}");
    }
}

#[test]
fn the_same_question_has_the_same_answer() {
    let (one, other) = (Asking::new(FIRST, None), Asking::new(FIRST, None));
    for question in questions(FIRST) {
        assert_eq!(one.ask(&question.ask), other.ask(&question.ask), "{}", question.ask);
    }
}
