//! How an outcome is evaluated: its states.
//! Owns: the table. Must not: decide.

use super::{Machine, Transition};

/// How an outcome is evaluated.
pub const OUTCOME: Machine = Machine {
    name: "outcome",
    about: "How an outcome is evaluated",
    initial: &["pending"],
    terminal: &["superseded"],
    transitions: TRANSITIONS,
};

const fn way(from: &'static str, to: &'static str, by: &'static str, guard: &'static str) -> Transition {
    Transition { from, to, by, guard }
}

#[rustfmt::skip] // one to a line
const TRANSITIONS: &[Transition] = &[
    way("pending", "pending_dependency", "dependency not settled", ""),
    way("pending", "evaluating", "evaluation started", ""),
    way("pending", "upstream_failure", "upstream terminal failure", ""),
    way("dirty", "upstream_failure", "upstream terminal failure", ""),
    way("pending_dependency", "evaluating", "all upstream satisfied/not_applicable", ""),
    way("pending_dependency", "upstream_failure", "upstream terminal failure", "re-checked on entry"),
    way("dirty", "evaluating", "revalidation started", ""),
    way("dirty", "pending_dependency", "upstream is dirty too", ""),
    way("evaluating", "satisfied", "envelope emitted", ""),
    way("evaluating", "needs_revision", "envelope emitted", ""),
    way("evaluating", "needs_information", "envelope emitted", "ResearchNeed emitted"),
    way("evaluating", "needs_verification", "envelope emitted", "VerificationRequestStep emitted"),
    way("evaluating", "needs_human_judgment", "envelope emitted", "HardRevisionCall raised"),
    way("evaluating", "unable_to_evaluate", "envelope emitted", "after SufficiencyDetectionResult"),
    way("evaluating", "blocked_by_policy", "envelope emitted", "policy ref"),
    way("evaluating", "regressed", "envelope emitted", "only if an earlier disposition was satisfied"),
    way("evaluating", "unrecoverable", "envelope emitted", "after SufficiencyDetectionResult"),
    way("evaluating", "max_iterations_reached", "envelope emitted", "after SufficiencyDetectionResult"),
    way("satisfied", "dirty", "artifact/source/upstream changed", ""),
    way("needs_revision", "dirty", "revision step done", ""),
    way("regressed", "dirty", "revision step done", ""),
    way("needs_information", "dirty", "ResearchNeed answered", ""),
    way("needs_verification", "dirty", "verification recorded", ""),
    way("needs_human_judgment", "dirty", "HardCallResolutionReceipt", ""),
    way("unable_to_evaluate", "dirty", "capability snapshot changed", ""),
    way("blocked_by_policy", "dirty", "policy decision superseded", ""),
    way("upstream_failure", "dirty", "upstream re-run", ""),
    way("max_iterations_reached", "dirty", "HardCallResolutionReceipt grants more attempts", ""),
    way("unrecoverable", "dirty", "contract edited by user", ""),
    way("pending", "superseded", "newer contract/outcome version", ""),
    way("pending_dependency", "superseded", "newer contract/outcome version", ""),
    way("evaluating", "superseded", "newer contract/outcome version", ""),
    way("dirty", "superseded", "newer contract/outcome version", ""),
    way("satisfied", "superseded", "newer contract/outcome version", ""),
    way("needs_revision", "superseded", "newer contract/outcome version", ""),
    way("needs_information", "superseded", "newer contract/outcome version", ""),
    way("needs_verification", "superseded", "newer contract/outcome version", ""),
    way("needs_human_judgment", "superseded", "newer contract/outcome version", ""),
    way("unable_to_evaluate", "superseded", "newer contract/outcome version", ""),
    way("blocked_by_policy", "superseded", "newer contract/outcome version", ""),
    way("regressed", "superseded", "newer contract/outcome version", ""),
    way("upstream_failure", "superseded", "newer contract/outcome version", ""),
    way("unrecoverable", "superseded", "newer contract/outcome version", ""),
    way("max_iterations_reached", "superseded", "newer contract/outcome version", ""),
];
