//! Which of two codes counts where both fit one place of one record.
//! Owns: the pairs. Must not: find anything.

use super::Diagnostic;
use alloc::collections::BTreeSet;
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

/// Leaves out the general ones where the specific one was found in the same row.
pub(super) fn settle(all: &mut Vec<Diagnostic>) {
    let mut replaced: BTreeSet<(u64, &str)> = BTreeSet::new();
    for (specific, general) in PAIRS {
        let rows = all.iter().filter(|one| one.code == *specific).map(|one| (one.row, *general));
        replaced.extend(rows.collect::<Vec<_>>());
    }
    all.retain(|one| !replaced.contains(&(one.row, one.code)));
}
