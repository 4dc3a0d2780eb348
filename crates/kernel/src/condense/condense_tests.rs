//! What is condensed: quotes that stand where they say, and what is open.

use super::*;
use crate::chunk::{self, chunks};
use crate::history::Lexicon;
use crate::sift::{self, sift, weigh};
use proptest::prelude::*;
use std::format;

const LEASE: &str = "# Lease\n\n## Term\n\nThe lease begins on 1 May 2024. It ends on 30 April 2029.\n\n## Rent\n\n\
                     The rent is 2,400 euros a month. The tenant must pay it by the third working day.\n\n## Pets\n\nNot allowed are:\n\n- dogs heavier than ten kilograms\n- cats\n";

fn run(question: &str, files: &[(&str, &str)]) -> Condensed {
    let all: Vec<Chunk> =
        files.iter().flat_map(|(path, text)| chunks(path, text, chunk::Limits::default())).collect();
    let mut asked = Asked::new(question, &Lexicon::default());
    weigh(&mut asked, &all);
    let refs: Vec<&Chunk> = all.iter().collect();
    let sifted = sift(&asked, &refs, &[], &sift::Limits::default());
    let kept: Vec<&Chunk> = sifted.kept().map(|at| refs[at]).collect();
    condense(&asked, &kept, &sifted.contradictions, &Limits::default())
}

fn texts(condensed: &Condensed) -> Vec<&str> {
    condensed.quotes().into_iter().map(|fact| fact.text.as_str()).collect()
}

#[test]
fn quotes_answer_and_say_where_they_stand() {
    let condensed = run("When does the lease end?", &[("lease.md", LEASE)]);
    // With what "it" points back to.
    let quote = "The lease begins on 1 May 2024. It ends on 30 April 2029.";
    assert_eq!(texts(&condensed)[0], quote);
    let citation = &condensed.quotes()[0].citation;
    assert_eq!((citation.path.as_str(), citation.first_line, citation.last_line), ("lease.md", 5, 5));
    assert_eq!(&LEASE[citation.bytes.clone()], quote);
    let rent = run("By when does the tenant have to pay the rent?", &[("lease.md", LEASE)]);
    assert!(rent.constraints[0].text.ends_with("The tenant must pay it by the third working day."));
}

#[test]
fn what_is_not_there_is_open() {
    let condensed = run("Who insures the helicopter?", &[("lease.md", LEASE)]);
    assert_eq!(texts(&condensed), [""; 0]);
    assert_eq!(
        condensed.open_issues,
        [OpenIssue::Nothing { question: "Who insures the helicopter?".into() }]
    );
    let empty = run("", &[("lease.md", LEASE)]);
    assert_eq!(empty.open_issues.len(), 1);
}

#[test]
fn sources_that_disagree_are_an_open_issue() {
    let files = [
        ("a.md", "The deposit for the flat is returned within 30 days after the lease ends."),
        ("b.md", "The deposit for the flat is returned within 60 days after the lease ends."),
    ];
    let condensed = run("When is the deposit returned?", &files);
    assert_eq!(texts(&condensed).len(), 2);
    assert!(condensed.open_issues.iter().any(|issue| matches!(issue, OpenIssue::Contradiction { .. })));
}

#[test]
fn nothing_is_quoted_twice() {
    let text = "# Pump\n\nThe pump was tested on 3 May 2024. The pump was tested by Ana Silva. The pump test took two hours.\n";
    let condensed = run("When was the pump tested and who tested the pump?", &[("log.md", text)]);
    let mut places: Vec<Range<usize>> =
        condensed.quotes().iter().map(|fact| fact.citation.bytes.clone()).collect();
    places.sort_by_key(|place| place.start);
    assert!(!places.is_empty() && places.windows(2).all(|two| two[0].end <= two[1].start), "{places:?}");
}

#[test]
fn a_date_alone_is_no_fact_and_a_mark_no_text() {
    let text = "\u{feff}LOG 2025\n\n14 January 2025. Generator 3 tripped. The cause was a cracked pipe.\n";
    let condensed = run("When did generator 3 trip?", &[("log.txt", text)]);
    assert_eq!(texts(&condensed), ["14 January 2025. Generator 3 tripped. The cause was a cracked pipe."]);
    let marked = run("When does the lease end?", &[("a.txt", "\u{feff}The lease ends on 3 May 2026.")]);
    assert_eq!(texts(&marked), ["The lease ends on 3 May 2026."]);
}

#[test]
fn german_questions_are_answered() {
    let text = "# Satzung\n\nErwachsene zahlen eine Jahresgebühr von 22 Euro.\n\nDer Austritt ist nur zum 30. November möglich.\n\nÜber Anträge entscheidet der Vorstand.\n";
    let check = |question: &str, expected: &[&str]| {
        assert_eq!(texts(&run(question, &[("satzung.md", text)])), expected, "{question}");
    };
    check("Wie hoch ist die Gebühr für Erwachsene?", &["Erwachsene zahlen eine Jahresgebühr von 22 Euro."]);
    check("Wann kann man austreten?", &["Der Austritt ist nur zum 30. November möglich."]);
    check("Wer entscheidet über einen Antrag?", &["Über Anträge entscheidet der Vorstand."]);
    check("Wie viele Hunde gibt es?", &[]);
}

proptest! {
    #[test]
    fn every_fact_is_a_quote_that_stands_where_it_says(
        texts in proptest::collection::vec("(lease|rent|The |ends|must|not|30|\\. |\n|\n\n|# |- |:|é| ){0,60}", 0..5),
        question in "(lease|rent|end|When|\\?| and who | ){0,8}",
    ) {
        let names: Vec<String> = (0..texts.len()).map(|at| format!("{at}.md")).collect();
        let files: Vec<(&str, &str)> = names.iter().map(String::as_str).zip(texts.iter().map(String::as_str)).collect();
        let condensed = run(&question, &files);
        for (rank, fact) in condensed.quotes().into_iter().enumerate() {
            prop_assert_eq!(fact.rank, rank);
            let (_, text) = files.iter().find(|(path, _)| *path == fact.citation.path).unwrap();
            prop_assert_eq!(&text[fact.citation.bytes.clone()], fact.text.as_str());
            let lines: Vec<&str> = text.split('\n').collect();
            let cited = lines[fact.citation.first_line - 1..fact.citation.last_line].join("\n");
            prop_assert!(cited.contains(&fact.text));
            let piece = chunks(&fact.citation.path, text, chunk::Limits::default());
            prop_assert!(piece.iter().any(|piece| piece.sha256 == fact.citation.sha256 && piece.text.contains(&fact.text)));
        }
        prop_assert_eq!(&condensed, &run(&question, &files));
    }
}
