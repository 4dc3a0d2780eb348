//! Every target on its corpus and on a bounded number of mutations, the same ones each time.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use countersign_fuzz::session::{self, SEED, Until};
use countersign_fuzz::{TARGETS, Target};

fn number(variable: &str, default: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable} is a number, not {text}")),
        Err(_) => default,
    }
}

/// `cases` is what a target gets through in about a second.
fn bounded(name: &str, cases: u64) {
    let target = Target::named(name).expect("a test names a target");
    let until = Until::Cases(number("FUZZ_CASES", cases));
    if let Err(failure) = session::run(target, number("FUZZ_SEED", SEED), until).expect("the corpus is there")
    {
        panic!("{failure}");
    }
}

macro_rules! targets {
    ($($name:ident: $cases:literal,)*) => {
        $(#[test] fn $name() { bounded(stringify!($name), $cases); })*

        #[test]
        fn every_target_has_a_test_and_seeds_of_its_own() {
            let tested = [$(stringify!($name)),*];
            assert_eq!(tested.as_slice(), TARGETS.iter().map(|target| target.name).collect::<Vec<_>>());
            for target in TARGETS {
                let seeds = session::corpus(target).expect("the corpus is there");
                let own = seeds.iter().filter(|(path, _)| path.parent().is_some_and(|dir| dir.ends_with(target.name)));
                assert!(own.count() >= 3, "{} has too few seeds", target.name);
            }
        }
    };
}
targets! {
    json: 10_000,
    canonical: 10_000,
    timestamp: 10_000,
    ids: 10_000,
    digest_key_signature: 10_000,
    words: 10_000,
    score: 10_000,
    envelope: 10_000,
    memory_turn: 10_000,
    state: 10_000,
    anchor: 10_000,
    row_line: 10_000,
    packed_blobs: 10_000,
    chain: 2_000,
}
