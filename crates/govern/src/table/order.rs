//! Orders of trust, secrecy, severity and confidence: joining takes the greater.
//! Owns: the ranks. Must not: know whose they are.

/// Taint, the most trusted first.
pub const TAINT: [&str; 5] = [
    "internal_corpus_trusted",
    "user_trusted_bounded",
    "external_authority_trusted",
    "external_untrusted",
    "unclassified",
];
/// Data classes, the least secret first.
pub const DATA_CLASS: [&str; 4] = ["public", "internal", "privileged", "local_only"];
/// Severities, the mildest first.
pub const SEVERITY: [&str; 4] = ["low", "medium", "high", "blocking"];
/// How sure an estimate is, the least first; joining takes the lesser.
pub const CONFIDENCE: [&str; 3] = ["experimental", "uncalibrated", "calibrated"];

/// The place of a word in an order.
#[must_use]
pub fn rank(order: &[&str], word: &str) -> Option<usize> {
    order.iter().position(|one| *one == word)
}
