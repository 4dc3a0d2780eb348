//! Regeneration: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{Instant, StorageRef, V10};
use super::wire::{record, words};
use alloc::string::String;
use alloc::vec::Vec;

words! {
    /// The only revision intent of RegenerateRevisionPayload.
    RegenerateRevisionPayloadRevisionIntent {
        Regenerate = "regenerate",
    }
}

words! {
    /// Required variation policy of RegenerateRevisionPayload.
    RegenerateRevisionPayloadRequiredVariationPolicy {
        ChangeSamplingParameters = "change_sampling_parameters",
        ChangePromptStrategy = "change_prompt_strategy",
        ChangeModuleOrEscalate = "change_module_or_escalate",
        HumanReviewRequired = "human_review_required",
    }
}

record! {
    /// Regenerate with the hashes of earlier outputs.
    RegenerateRevisionPayload: request {
        revision_intent: RegenerateRevisionPayloadRevisionIntent,
        previous_attempt_hashes: Vec<String>,
        required_variation_policy: RegenerateRevisionPayloadRequiredVariationPolicy,
        schema_version: V10,
        step_id: Option<String>,
        target_ref: Option<StorageRef>,
        attempt_id: Option<String>,
    }
}

words! {
    /// Action taken of RegenerateAttemptReceipt.
    RegenerateAttemptReceiptActionTaken {
        AcceptedNewOutput = "accepted_new_output", RejectedIdenticalOutput = "rejected_identical_output",
        Escalated = "escalated", ChangedGenerationPolicy = "changed_generation_policy",
    }
}

record! {
    /// Was the output new.
    RegenerateAttemptReceipt: receipt {
        receipt_id: String,
        input_hash: String,
        output_hash: String,
        matched_previous_attempt: bool,
        action_taken: RegenerateAttemptReceiptActionTaken,
        created_at: Instant,
        schema_version: V10,
        step_id: Option<String>,
        target_ref: Option<StorageRef>,
    }
}
