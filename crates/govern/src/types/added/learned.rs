//! Learning, replays, readiness: types that the contract needs and does not declare.
//! Owns: their members and words. Must not: judge.

use crate::types::basic::{Instant, OwnerDoc, ReplayPolicy, StorageRef, V10};
use crate::types::conformance::AddendaBConformanceFixtureKind;
use crate::types::learning::LearningMode;
use crate::types::owner::AddendaBPatchPhase;
use crate::types::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;

words! {
    /// What a step depends on.
    StepDependence { Model = "model", Tool = "tool", Web = "web", Provider = "provider", None = "none" }
}

words! {
    /// What was decided about a row.
    PatchOutcome { Accepted = "accepted", Cut = "cut", AlreadyPresent = "already_present" }
}

record! {
    /// Something to be learned from, once its receipts are there (B-21).
    LearningSignal: event {
        signal_id: String,
        learning_mode: LearningMode,
        receipt_refs: Vec<StorageRef>,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// A document declares a type.
    TypeDeclaration: policy {
        declaration_id: Option<String>,
        type_name: String,
        declared_in_doc: Option<OwnerDoc>,
        declared_as: Option<String>,
        schema_hash: Option<String>,
        values: Option<Vec<String>>,
        created_at: Option<Instant>,
        schema_version: Option<V10>,
    }
}

record! {
    /// What a step gave when it was replayed.
    ReplayStepResult: receipt {
        step_result_id: String,
        replay_request_id: String,
        source_step_ref: StorageRef,
        depends_on: StepDependence,
        replay_policy: Option<ReplayPolicy>,
        original_output_hash: Option<String>,
        replay_output_hash: Option<String>,
        created_at: Option<Instant>,
        schema_version: Option<V10>,
    }
}

record! {
    /// Whether a row of the contract was taken.
    PatchDecision: event {
        row_id: String,
        decision: PatchOutcome,
        phase: AddendaBPatchPhase,
        fixture_kinds: Vec<AddendaBConformanceFixtureKind>,
        schema_version: Option<V10>,
    }
}

record! {
    /// Somebody says that it is ready.
    BuildReadyClaim: event {
        claim_id: String,
        gate_ref: StorageRef,
        target_doc_family: String,
        claimed_by_ref: StorageRef,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// A suite was run.
    ValidationSuiteRun: receipt {
        suite_run_id: String,
        suite_ref: StorageRef,
        passed: bool,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

words! {
    /// Whether another document took something in.
    ObligationState { Open = "open", Absorbed = "absorbed", Stubbed = "stubbed" }
}

record! {
    /// What another document must take in.
    CrossDocInsertObligation: projection {
        obligation_id: String,
        state: ObligationState,
        schema_version: Option<V10>,
    }
}

record! {
    /// A fixture was run.
    ConformanceFixtureRun: receipt {
        fixture_run_id: String,
        fixture_id: String,
        observed_codes: Vec<String>,
        passed: bool,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}
