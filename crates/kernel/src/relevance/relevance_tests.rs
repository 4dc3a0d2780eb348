//! What a question asks, and how much of it a text says.

use super::*;
use proptest::prelude::*;
use std::vec;

fn set(text: &str) -> Stems {
    stems(text).into_iter().collect()
}

fn asked(question: &str) -> Asked {
    Asked::new(question, &Lexicon::default())
}

#[test]
fn words_come_in_one_form() {
    let check = |text: &str, expected: &[&str]| assert_eq!(stems(text), expected, "{text}");
    check("The LEASES end; a glass-house's gas.", &["the", "leas", "end", "a", "glass", "hous", "s", "ga"]);
    check("EUR 1,200.50 at 10:30, v2.1.", &["eur", "1200.50", "at", "10", "30", "v2.1"]);
    check("屋根 x", &["屋", "根", "x"]);
    check("", &[]);
}

#[test]
fn questions_in_one_are_found() {
    let parts = |text: &str| kind::parts(text).len();
    assert_eq!(parts("Who approved the budget and when does the audit start?"), 2);
    assert_eq!(parts("What are rights and duties of the tenant?"), 1);
    assert_eq!(parts("When? Where? Why?"), 3);
    assert_eq!(parts(""), 0);
    let two = asked("Who pays the rent and by when?");
    assert_eq!(two.parts.len(), 2, "what has no word of its own has the subject of the one before");
    assert!(two.parts.iter().all(|part| part.words().any(|word| word == "rent")));
    assert_eq!(asked("Who pays the rent and what?").parts.len(), 1, "what wants nothing is no question");
    let kinds: Vec<Kind> =
        asked("How long is the term, and what is the price?").parts.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [Kind::HowLong, Kind::Price]);
}

#[test]
fn other_words_count_for_less() {
    let mut asked = asked("When does the lease end?");
    let texts =
        ["The lease ends in May.", "The contract expires in May.", "Dogs bark.", "The lease is long."]
            .map(set);
    asked.weigh(&texts);
    let coverage: Vec<u64> = texts.iter().map(|text| asked.parts[0].coverage(&[(text, WHOLE)])).collect();
    assert_eq!(coverage[0], WHOLE);
    assert_eq!(coverage[1], ANOTHER_WORD);
    assert_eq!(coverage[2], 0);
    assert!(coverage[3] > 0 && coverage[3] < coverage[1]);
    assert_eq!(asked.parts[0].missing(&texts[3]).collect::<Vec<_>>(), ["end"]);
    assert_eq!(asked.parts[0].missing_count(&[&texts[1]]), (0, 4));
    assert_eq!(asked.parts[0].missing_count(&[&texts[2]]), (3, 4));
}

#[test]
fn aliases_are_other_words() {
    let aliases = Lexicon::new([vec!["nvh".into(), "vehicle acoustics".into()]]).unwrap();
    let asked = Asked::new("What was the NVH result?", &aliases);
    let text = set("The acoustics of the vehicle were good.");
    assert!(asked.parts[0].coverage(&[(&text, WHOLE)]) > 0);
}

#[test]
fn logarithms_in_whole_numbers() {
    for (value, expected) in [(0, 0), (1_023, 0), (1_024, 0), (1_536, 512), (2_048, 1_024), (8_192, 3_072)] {
        assert_eq!(log2(value), expected, "{value}");
    }
}

proptest! {
    #[test]
    fn coverage_is_a_part_of_the_whole(question in "[a-z ?]{0,60}|\\PC{0,40}", text in "[a-z .]{0,60}|\\PC{0,40}") {
        let mut asked = asked(&question);
        let text = set(&text);
        asked.weigh(core::slice::from_ref(&text));
        for part in &asked.parts {
            let coverage = part.coverage(&[(&text, WHOLE)]);
            prop_assert!(coverage <= WHOLE);
            let (missing, all) = part.missing_count(&[&text]);
            prop_assert!(missing <= all && all > 0);
        }
    }
}
