//! Background: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::V10;
use super::wire::record;

record! {
    /// Does the run need background execution.
    RunExecutionRequirements: policy {
        requires_background_execution: bool,
        schema_version: V10,
    }
}

record! {
    /// Does the module emit heartbeats.
    ModuleProgressBehavior: policy {
        emits_progress_heartbeat: bool,
        heartbeat_interval_ms: Option<u64>,
        schema_version: V10,
    }
}
