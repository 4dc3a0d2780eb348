//! Feedback: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{Instant, StorageRef, V10};
use super::outcome::EvaluationVerdict;
use super::wire::{record, words};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

words! {
    /// Routing branch.
    FeedbackBranch {
        OnSatisfied = "on_satisfied", OnNeedsRevision = "on_needs_revision",
        OnNeedsMoreSources = "on_needs_more_sources",
        OnNeedsSourceVerification = "on_needs_source_verification",
        OnNeedsHumanJudgment = "on_needs_human_judgment", OnBlockedByPolicy = "on_blocked_by_policy",
        OnUpstreamFailure = "on_upstream_failure", OnUnrecoverable = "on_unrecoverable",
        OnRepeatedFailure = "on_repeated_failure", None = "none",
    }
}

words! {
    /// First match or all with idempotency.
    RoutingFirePolicy {
        FirstMatchOnly = "first_match_only", AllMatchingWithIdempotency = "all_matching_with_idempotency",
    }
}

record! {
    /// Branch order, handlers, duplicate window.
    FeedbackRoutingResolutionPolicy: policy {
        policy_id: String,
        branch_order: Vec<FeedbackBranch>,
        branch_handlers: BTreeMap<FeedbackBranch, Vec<StorageRef>>,
        fire_policy: RoutingFirePolicy,
        duplicate_suppression_window_ms: u64,
        schema_version: V10,
    }
}

record! {
    /// One delivery of a bundle to a consumer.
    FeedbackDeliveryRecord: receipt {
        delivery_id: String,
        feedback_bundle_id: String,
        result_id: String,
        branch: FeedbackBranch,
        consumer_module_id: String,
        consumer_activation_seq: u64,
        delivery_idempotency_key: String,
        payload_ref: StorageRef,
        created_at: Instant,
        schema_version: V10,
        suppressed: Option<bool>,
    }
}

words! {
    /// The only expected receipt kind of FeedbackDispatchExpectation.
    FeedbackDispatchExpectationExpectedReceiptKind {
        FeedbackConsumptionReceipt = "FeedbackConsumptionReceipt",
    }
}

record! {
    /// A consumption receipt is owed within the grace period.
    FeedbackDispatchExpectation: event {
        expectation_id: String,
        feedback_bundle_id: String,
        consumer_module_id: String,
        consumer_activation_seq: u64,
        expected_receipt_kind: FeedbackDispatchExpectationExpectedReceiptKind,
        grace_period_ms: u64,
        created_at: Instant,
        schema_version: V10,
    }
}

words! {
    /// Always / on_failure_only / never.
    FeedbackBundleEmissionRule {
        Always = "always", OnFailureOnly = "on_failure_only", Never = "never",
    }
}

words! {
    /// Why there is no bundle.
    FeedbackBundleAbsentReason {
        NotEmittedByDesign = "not_emitted_by_design", NotApplicable = "not_applicable",
        PolicyFiltered = "policy_filtered",
    }
}

words! {
    /// Producer kind of FeedbackEmissionMatrixEntry.
    FeedbackEmissionMatrixEntryProducerKind {
        OutcomeEvaluator = "outcome_evaluator", Judge = "judge",
        DeterministicScorer = "deterministic_scorer",
    }
}

record! {
    /// What a producer emits per verdict.
    FeedbackEmissionMatrixEntry: policy {
        producer_kind: FeedbackEmissionMatrixEntryProducerKind,
        verdict: EvaluationVerdict,
        emits_envelope: bool,
        emits_feedback_bundle: FeedbackBundleEmissionRule,
    }
}

record! {
    /// What was emitted for a result.
    EvaluationResultEmissionRecord: receipt {
        result_id: String,
        envelope_ref: StorageRef,
        feedback_bundle_ref: Option<StorageRef>,
        feedback_bundle_absent_reason: Option<FeedbackBundleAbsentReason>,
        emission_matrix_entry_ref: StorageRef,
        created_at: Instant,
        schema_version: V10,
    }
}
