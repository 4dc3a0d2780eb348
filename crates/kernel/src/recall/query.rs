//! The query: what is looked for.
//! Owns: its normal form and its terms. Must not: know what is searched.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

/// Derived terms shorter than this, in characters, are left out.
const TERM_CHARS_MIN: usize = 2;

/// Trimmed, lowercased, each run of white space one space.
pub(super) fn normal(query: &str) -> String {
    let words: Vec<&str> = query.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

/// The terms of a query in its normal form, in order, each once.
pub(super) fn derived(normal: &str) -> Vec<String> {
    unique(
        normal
            .split_whitespace()
            .filter(|term| term.chars().count() >= TERM_CHARS_MIN)
            .map(ToOwned::to_owned),
    )
}

/// The terms that a caller names: trimmed, lowercased, none empty, in order, each once.
pub(super) fn given(terms: &[String]) -> Vec<String> {
    unique(terms.iter().map(|term| term.trim().to_lowercase()).filter(|term| !term.is_empty()))
}

fn unique(terms: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = alloc::collections::BTreeSet::new();
    terms.filter(|term| seen.insert(term.clone())).collect()
}
