//! Ports for repairs: the types of the contract.
//! Owns: their members and words. Must not: judge.

use super::basic::{PortRef, StorageRef};
use super::wire::record;
use alloc::string::String;

record! {
    /// May a meaning-bearing repair execute through this port.
    PortRevisionEligibility: policy {
        port_id: String,
        module_id: String,
        revision_compatible: bool,
        module_revision_capability_ref: Option<StorageRef>,
    }
}

record! {
    /// The only input ports of a revisor.
    RevisorPlannerInputPorts: policy {
        feedback_bundle_in: PortRef,
        repair_instruction_in: PortRef,
        evaluation_result_in: PortRef,
    }
}
