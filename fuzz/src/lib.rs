//! Hostile input for every parser: what each must hold to, whatever it is given.
//! Owns: the table of targets, their laws, the mutator, running cases. Must not: be used by another package, or
//! repeat a parser's code as the law it is checked against.
//!
//! A target is a function from bytes to nothing. It panics where a law is broken, and only there.
#![allow(clippy::expect_used, clippy::panic, reason = "a target fails by panicking")]

#[rustfmt::skip] // words in rows, not one to a line
mod dictionary;
mod laws;
pub mod mutate;
pub mod session;
mod spans;
mod targets;

use std::time::{Duration, Instant};
use targets::{documents, embed, enforce, ledger, models, names, recall, says, snapshot, text};

/// No input is longer.
pub const INPUT_BYTES_MAX: usize = 64 * 1024;

/// No input may take longer. Generous: the machine may be busy, and what is not linear is far beyond it.
const CASE_TIME_MAX: Duration = Duration::from_secs(5);

/// One parser and its laws.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name: that of its directory in the corpus.
    pub name: &'static str,
    /// Panics where the parser breaks a law on this input.
    pub run: fn(&[u8]),
    /// Words that the parser looks for.
    pub dictionary: &'static [&'static str],
}

/// Every target.
#[rustfmt::skip] // one row per line reads as the table it is
pub const TARGETS: &[Target] = &[
    Target { name: "json",                 run: text::json,                  dictionary: &[] },
    Target { name: "canonical",            run: text::canonical,             dictionary: &[] },
    Target { name: "timestamp",            run: names::timestamp,            dictionary: dictionary::TIMESTAMP },
    Target { name: "ids",                  run: names::ids,                  dictionary: dictionary::IDS },
    Target { name: "digest_key_signature", run: names::digest_key_signature, dictionary: dictionary::HEX },
    Target { name: "words",                run: names::words,                dictionary: dictionary::WORDS },
    Target { name: "score",                run: names::score,                dictionary: dictionary::SCORE },
    Target { name: "envelope",             run: documents::envelope,         dictionary: dictionary::ENVELOPE },
    Target { name: "memory_turn",          run: documents::memory_turn,      dictionary: dictionary::MEMORY_TURN },
    Target { name: "state",                run: documents::state,            dictionary: dictionary::STATE },
    Target { name: "anchor",               run: documents::anchor,           dictionary: dictionary::ANCHOR },
    Target { name: "manifest",             run: ledger::manifest,            dictionary: dictionary::MANIFEST },
    Target { name: "row_line",             run: ledger::row_line,            dictionary: dictionary::ROW },
    Target { name: "packed_blobs",         run: ledger::packed_blobs,        dictionary: &[] },
    Target { name: "chain",                run: ledger::chain,               dictionary: dictionary::ROW },
    Target { name: "memory_input",         run: recall::memory_input,        dictionary: dictionary::RECALL },
    Target { name: "memory_line",          run: recall::memory_line,         dictionary: dictionary::RECALL },
    Target { name: "trust_snapshot",       run: recall::trust_snapshot,      dictionary: dictionary::RECALL },
    Target { name: "history_index",        run: recall::history_index,       dictionary: dictionary::HISTORY },
    Target { name: "lexicon",              run: recall::lexicon,             dictionary: dictionary::LEXICON },
    Target { name: "snapshot",             run: snapshot::snapshot,          dictionary: dictionary::SNAPSHOT },
    Target { name: "snapshot_arrays",      run: snapshot::snapshot_arrays,   dictionary: dictionary::ARRAYS },
    Target { name: "embed_tensors",        run: embed::tensors,              dictionary: dictionary::TENSORS },
    Target { name: "embed_tokenizer",      run: embed::tokenizer,            dictionary: dictionary::TOKENIZER },
    Target { name: "embed_text",           run: embed::text,                 dictionary: &[] },
    Target { name: "reply",                run: says::reply,                 dictionary: dictionary::REPLY },
    Target { name: "capability",           run: says::capability,            dictionary: dictionary::CAPABILITY },
    Target { name: "checkpoint",           run: says::checkpoint,            dictionary: dictionary::CHECKPOINT },
    Target { name: "model_stream",         run: models::stream,              dictionary: dictionary::STREAM },
    Target { name: "model_file",           run: models::gguf,                dictionary: dictionary::GGUF },
    Target { name: "policy",               run: models::policy,              dictionary: dictionary::POLICY },
    Target { name: "codespec",             run: enforce::codespec,           dictionary: dictionary::CODESPEC },
    Target { name: "draft_python",         run: enforce::python,             dictionary: dictionary::PYTHON },
    Target { name: "draft_rust",           run: enforce::rust,               dictionary: dictionary::RUST },
];

impl Target {
    /// The target of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Target> {
        TARGETS.iter().find(|target| target.name == name)
    }

    /// Runs one input; panics where a law is broken or it takes too long.
    pub fn check(&self, input: &[u8]) {
        let start = Instant::now();
        (self.run)(input);
        let took = start.elapsed();
        assert!(took < CASE_TIME_MAX, "{} bytes took {took:?}", input.len());
    }
}
