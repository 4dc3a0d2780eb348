//! Which of two codes counts where both fit one place of one record.
//! Owns: the pairs. Must not: find anything.

use super::Diagnostic;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

/// The specific code, and the general one that it stands for.
const PAIRS: &[(&str, &str)] = &[
    ("finding_current_projection_without_event", "current_projection_without_source_event"),
    ("finding_state_mutated_inside_immutable_envelope", "mutable_state_inside_immutable_snapshot"),
    ("revision_review_packet_contains_current_action", "mutable_state_inside_immutable_snapshot"),
    ("run_guidance_lifecycle_transition_without_receipt", "lifecycle_transition_without_receipt"),
    ("revision_lifecycle_missing_receipt", "lifecycle_transition_without_receipt"),
    ("review_decision_without_receipt", "lifecycle_transition_without_receipt"),
    ("source_tier_transition_not_persisted", "lifecycle_transition_without_receipt"),
    ("quality_index_without_formula_receipt", "derived_enum_without_derivation_receipt"),
    ("claim_support_status_without_derivation", "derived_enum_without_derivation_receipt"),
    ("reliance_status_not_derivable", "derived_enum_without_derivation_receipt"),
    ("hard_call_options_empty", "hard_call_closed_choice_needs_two_options"),
];

/// A live field in a frozen record: other fields of it may still be told, whatever one of them is.
const BY_FIELD: &str = "mutable_state_inside_immutable_snapshot";

/// Leaves out the general ones where the specific one was found in the same row, or in the same field of it.
pub(super) fn settle(all: &mut Vec<Diagnostic>) {
    let mut replaced: BTreeSet<(u64, &str, String)> = BTreeSet::new();
    let field = |code: &str, path: &str| if code == BY_FIELD { String::from(path) } else { String::new() };
    for (specific, general) in PAIRS {
        let found = all.iter().filter(|one| one.code == *specific);
        replaced.extend(found.map(|one| (one.row, *general, field(general, &one.path))));
    }
    all.retain(|one| !replaced.contains(&(one.row, one.code, field(one.code, &one.path))));
}
