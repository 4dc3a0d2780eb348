//! The gate: each reason, and that nothing is lost.

use super::*;
use crate::chunk::{self, chunks};
use crate::history::Lexicon;
use proptest::prelude::*;

fn pieces(files: &[(&str, &str)]) -> Vec<Chunk> {
    files.iter().flat_map(|(path, text)| chunks(path, text, chunk::Limits::default())).collect()
}

fn asked(question: &str, all: &[Chunk]) -> Asked {
    let mut asked = Asked::new(question, &Lexicon::default());
    weigh(&mut asked, all);
    asked
}

fn words(sifted: &Sifted) -> Vec<&str> {
    sifted.decided.iter().map(|one| one.reason[0].as_str()).collect()
}

#[test]
fn every_piece_has_its_reason() {
    let all = pieces(&[
        ("a.md", "The lease ends in May 2027, unless it is extended."),
        ("b.md", "THE LEASE ends in May 2027 (unless it is extended)!"),
        ("c.md", "Dogs bark at night."),
        ("d.md", "The lease ends early if both sign."),
        ("e.md", "When the lease ends, keys are returned."),
        ("f.md", "- - -"),
    ]);
    let refs: Vec<&Chunk> = all.iter().collect();
    let asked = asked("When does the lease end?", &all);
    let limits = Limits { strictness: 400, kept_max: 2 };
    let sifted = sift(&asked, &refs, &["Here: the lease ends early if both sign."], &limits);
    assert_eq!(
        words(&sifted),
        [
            "KEPT:relevant",
            "DROPPED:duplicate",
            "DROPPED:strictness",
            "DROPPED:in-files",
            "KEPT:relevant",
            "DROPPED:empty"
        ]
    );
    let one = sift(&asked, &refs, &[], &Limits { kept_max: 1, ..limits });
    assert_eq!(sifted.quotable().collect::<Vec<_>>(), [0, 3, 4]);
    assert_eq!(words(&one)[4], "DROPPED:max-chunks");
    assert_eq!(one.kept().collect::<Vec<_>>(), [0]);
}

#[test]
fn those_that_disagree_stay_and_are_flagged() {
    let all = pieces(&[
        ("policy.md", "Personal data of applicants is deleted 90 days after the decision."),
        ("notice.md", "Personal data of applicants is deleted 180 days after the decision."),
        ("same.md", "Personal data of applicants is deleted 90 days after the final decision."),
        ("not.md", "The supplier may assign this agreement to an affiliate."),
        ("yes.md", "The supplier may not assign this agreement to an affiliate."),
    ]);
    let refs: Vec<&Chunk> = all.iter().collect();
    let limits = Limits { strictness: 0, ..Limits::default() };
    let sifted = sift(&asked("When is data deleted?", &all), &refs, &[], &limits);
    assert_eq!(sifted.kept().count(), 5);
    let pairs: Vec<[usize; 2]> =
        sifted.contradictions.iter().map(|one| [one.sides[0].at, one.sides[1].at]).collect();
    assert_eq!(pairs, [[0, 1], [1, 2], [3, 4]]);
    assert_eq!(sifted.decided[0].reason[2], "FLAGGED:contradiction notice.md:1 says otherwise");
}

#[test]
fn few_words_do_where_the_rest_agrees() {
    let check = |one: &str, other: &str, expected: usize| {
        let all = pieces(&[("a.md", one), ("b.md", other)]);
        let refs: Vec<&Chunk> = all.iter().collect();
        assert_eq!(contradictions(&refs, &[0, 1]).len(), expected, "{one} {other}");
    };
    check("The warranty period is 24 months.", "The warranty period is 12 months.", 1);
    check("The pump runs at 40 bar.", "The pump runs at 60 bar.", 1);
    check("Die Frist beträgt 14 Tage.", "Die Frist beträgt 30 Tage.", 1);
    check("The warranty period is 24 months.", "The warranty period is 24 months.", 0);
    check("The warranty period is 24 months.", "The notice period is 12 weeks.", 0);
    check("5.1 The fee is due.", "6.2 The fee is due.", 0);
    check("See section 4 of the lease.", "The lease ends in 4 years.", 0);
}

proptest! {
    #[test]
    fn every_piece_is_decided_once(
        texts in proptest::collection::vec("(lease|rent|roof|the|not|30|60|\\.|\n| ){0,20}", 0..8),
        question in "(lease|rent|roof|when| ){0,6}",
        strictness in 0_u64..1_001,
        kept_max in 0_usize..6,
    ) {
        let names: Vec<String> = (0..texts.len()).map(|at| std::format!("{at}.txt")).collect();
        let files: Vec<(&str, &str)> = names.iter().map(String::as_str).zip(texts.iter().map(String::as_str)).collect();
        let all = pieces(&files);
        let refs: Vec<&Chunk> = all.iter().collect();
        let asked = asked(&question, &all);
        let limits = Limits { strictness, kept_max };
        let sifted = sift(&asked, &refs, &[], &limits);
        prop_assert_eq!(sifted.decided.iter().map(|one| one.at).collect::<Vec<_>>(), (0..all.len()).collect::<Vec<_>>());
        prop_assert!(sifted.kept().count() <= kept_max);
        for one in &sifted.decided {
            prop_assert!(one.coverage <= WHOLE);
            let stays = one.decision == Decision::Kept;
            prop_assert_eq!(stays, one.reason[0].starts_with("KEPT"));
            prop_assert!(!stays || one.coverage >= strictness);
        }
        for Contradiction { sides } in &sifted.contradictions {
            for side in sides {
                prop_assert!(refs[side.at].text.contains(&side.quote));
                prop_assert_eq!(sifted.decided[side.at].decision, Decision::Kept);
            }
        }
        prop_assert_eq!(sifted, sift(&asked, &refs, &[], &limits));
    }
}
