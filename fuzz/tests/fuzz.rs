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

/// `cases` is what a target gets through in a second or two.
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
                let seeds = session::corpus(target.name).expect("the corpus is there");
                assert!(seeds.len() >= 3, "{} has too few seeds", target.name);
            }
        }
    };
}
targets! {
    json: 40_000,
    canonical: 50_000,
    timestamp: 150_000,
    ids: 80_000,
    digest_key_signature: 80_000,
    words: 150_000,
    score: 80_000,
    envelope: 60_000,
    memory_turn: 25_000,
    state: 60_000,
    anchor: 30_000,
    manifest: 60_000,
    row_line: 50_000,
    packed_blobs: 60_000,
    chain: 4_000,
    memory_input: 40_000,
    memory_line: 40_000,
    trust_snapshot: 60_000,
    history_index: 20_000,
    lexicon: 20_000,
    snapshot: 40_000,
    snapshot_arrays: 20_000,
    embed_tensors: 20_000,
    embed_tokenizer: 4_000,
    embed_text: 4_000,
    reply: 40_000,
    capability: 60_000,
    checkpoint: 30_000,
    model_stream: 10_000,
    model_file: 20_000,
    policy: 40_000,
    codespec: 4_000,
    draft_python: 2_000,
    draft_rust: 3_000,
}
