//! Type owners and gates: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{OwnerDoc, StorageRef, True, V10};
use super::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;

words! {
    /// Canonical, imported, pending_absorption, deprecated, retired.
    TypeOwnerStatus {
        Canonical = "canonical", Imported = "imported", PendingAbsorption = "pending_absorption",
        Deprecated = "deprecated", Retired = "retired",
    }
}

words! {
    /// What a consumer does while the owner is pending.
    PendingConsumerDegradedBehavior {
        PersistOnly = "persist_only", SuppressPromotion = "suppress_promotion",
        DisableUiAffordance = "disable_ui_affordance", EmitValidationWarning = "emit_validation_warning",
        BlockRoute = "block_route",
    }
}

record! {
    /// Who owns a type.
    TypeOwnerRegistryEntry: policy {
        type_name: String,
        canonical_owner_doc: OwnerDoc,
        canonical_section_anchor: String,
        status: TypeOwnerStatus,
        imported_by_docs: Vec<OwnerDoc>,
        replacement_type_name: Option<String>,
        pending_consumer_behavior: Option<PendingConsumerDegradedBehavior>,
        schema_version: V10,
    }
}

words! {
    /// The only target doc family of BuildReadyGate.
    BuildReadyGateTargetDocFamily {
        DOC23ADDENDAB = "DOC23_ADDENDA_B",
    }
}

record! {
    /// Conditions of a build-ready claim.
    BuildReadyGate: policy {
        gate_id: String,
        target_doc_family: BuildReadyGateTargetDocFamily,
        required_type_owner_registry_clean: True,
        required_pending_absorption_rows_closed_or_degraded: True,
        required_command_registry_entries_complete: True,
        required_cross_doc_insert_obligations_absorbed_or_stubbed: True,
        required_validation_suite_refs: Vec<StorageRef>,
        schema_version: V10,
    }
}

words! {
    /// Six phases.
    AddendaBPatchPhase {
        Phase1SharedContracts = "phase_1_shared_contracts",
        Phase2MathAndDerivation = "phase_2_math_and_derivation",
        Phase3RuntimeStateMachines = "phase_3_runtime_state_machines",
        Phase4SourceForumFeedbackGovernance = "phase_4_source_forum_feedback_governance",
        Phase5RelianceUiSurfaces = "phase_5_reliance_ui_surfaces",
        Phase6ConformanceFixtures = "phase_6_conformance_fixtures",
    }
}

record! {
    /// A phase needs earlier phases and validation passes.
    AddendaBPatchSequencingGate: policy {
        phase: AddendaBPatchPhase,
        required_prior_phases: Vec<AddendaBPatchPhase>,
        required_validation_passes: Vec<String>,
        blocks_if_failed: bool,
        schema_version: V10,
    }
}
