//! Outcomes and feedback: types that the contract needs and does not declare.
//! Owns: their members and words. Must not: judge.

use crate::member::Member;
use crate::types::basic::{
    DataClass, FailureKind, Instant, PolicyEvaluationRef, PortRef, SchemaRef, StorageRef, TaintClass, V10,
};
use crate::types::board::RunBoardGovernanceEnvelopeVisibilityScope;
use crate::types::feedback::FeedbackBranch;
use crate::types::outcome::OutcomeEvaluationState;
use crate::types::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;

words! {
    /// What a consumer did with feedback.
    Consumption { Used = "used", PartlyUsed = "partly_used", NotUsed = "not_used", Rejected = "rejected" }
}

record! {
    /// Where an outcome stands.
    OutcomeRecord: projection {
        outcome_id: String,
        run_id: String,
        task_id: String,
        depends_on_outcome_ids: Vec<String>,
        required: Option<bool>,
        state: OutcomeEvaluationState,
        schema_version: Option<V10>,
    }
}

record! {
    /// An outcome moved on.
    OutcomeStateTransitionEvent: event {
        event_id: String,
        outcome_id: String,
        run_id: String,
        from_state: OutcomeEvaluationState,
        to_state: OutcomeEvaluationState,
        cause: String,
        result_id: Option<String>,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// Whom feedback is for.
    FeedbackGovernance: value {
        matter_id: Option<String>,
        data_class: Option<DataClass>,
        taint_class: Option<TaintClass>,
        privileged: Option<bool>,
        policy_decision_refs: Option<Vec<PolicyEvaluationRef>>,
        visibility_scope: Option<RunBoardGovernanceEnvelopeVisibilityScope>,
        redaction_required: Option<bool>,
        schema_version: Option<V10>,
    }
}

record! {
    /// What an evaluation hands to those who mend.
    EvaluationFeedbackBundle: event {
        feedback_bundle_id: String,
        result_id: String,
        run_id: String,
        finding_view_refs: Vec<StorageRef>,
        repair_instruction_refs: Vec<StorageRef>,
        governance: FeedbackGovernance,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// What became of feedback.
    FeedbackConsumptionReceipt: receipt {
        receipt_id: String,
        feedback_bundle_id: String,
        consumer_module_id: String,
        consumer_activation_seq: u64,
        consumption: Consumption,
        reason: Option<String>,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// Something moved on that has no receipt of its own.
    LifecycleTransitionReceipt: receipt {
        receipt_id: String,
        subject_ref: StorageRef,
        from_state: String,
        to_state: String,
        actor_ref: StorageRef,
        reason: String,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// A field that is derived, and by which formula.
    DerivedFieldRegistry: policy {
        record_kind: String,
        field: String,
        formula_id: String,
        schema_version: Option<V10>,
    }
}

record! {
    /// What a person thinks of a result.
    HumanFeedbackEvent: event {
        event_id: String,
        run_id: String,
        subject_ref: StorageRef,
        user_ref: StorageRef,
        label: String,
        comment: Option<String>,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// A person knows that a judgment has no anchor.
    UnanchoredAcknowledgment: event {
        acknowledgment_id: String,
        criterion_id: String,
        outcome_id: String,
        user_ref: StorageRef,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// How soon a judge may be called again: after so many rounds, after so long.
    JudgeCadence: value {
        rounds_between_min: Option<u64>,
        interval_ms_min: Option<u64>,
    }
    holds |cadence| ["rounds_between_min", "interval_ms_min"].iter().any(|one| cadence.at(one).is_some()),
    "must say how many rounds or how long"
}

record! {
    /// What judging may cost, and how often it may be asked for, whatever the evaluator may (B-22).
    JudgeBudget: policy {
        budget_id: String,
        run_id: String,
        max_cost_vector_ref: StorageRef,
        max_invocations: u64,
        cadence: Option<JudgeCadence>,
        schema_version: Option<V10>,
    }
}

record! {
    /// Which port takes which feedback (B-17).
    FeedbackPortBinding: policy {
        binding_id: String,
        port: PortRef,
        branch: FeedbackBranch,
        payload_schema_ref: SchemaRef,
        schema_version: Option<V10>,
    }
}

record! {
    /// A person disputes a result (G-11).
    ContestationRequest: request {
        request_id: String,
        subject_ref: StorageRef,
        user_ref: StorageRef,
        grounds: String,
        evidence_refs: Vec<StorageRef>,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// For whom and for what a result is meant.
    RelianceScopeNote: event {
        note_id: String,
        packet_ref: StorageRef,
        audience: String,
        purpose: String,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}

record! {
    /// The same failed again, known by the id that all versions of an artifact share (D-18).
    RepeatedFailureRecord: event {
        repeated_failure_id: String,
        run_id: String,
        outcome_id: String,
        artifact_stable_id: String,
        failure_kind: FailureKind,
        progress_signal_refs: Vec<StorageRef>,
        repeat_count: u64,
        created_at: Instant,
        schema_version: Option<V10>,
    }
}
