//! Plans that contend: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{StorageRef, V10};
use super::wire::record;
use alloc::string::String;
use countersign_record::json::Number;

record! {
    /// Sort key of a plan.
    RevisionPlanConcurrencyProfile: value {
        plan_id: String,
        required_for_overall_pass: bool,
        high_stakes: bool,
        outcome_priority: u64,
        plan_risk_score: Number,
        estimated_lock_duration_ms: u64,
        cost_vector_ref: Option<StorageRef>,
        deterministic_final_key: String,
        schema_version: V10,
    }
}
