//! How a revision plan is carried out: its states.
//! Owns: the table. Must not: decide.

use super::{Machine, Transition};

/// How a revision plan is carried out.
pub const REVISION: Machine = Machine {
    name: "revision",
    about: "How a revision plan is carried out",
    initial: &["plan_compiled"],
    terminal: &["terminal_satisfied", "terminal_failed", "terminal_blocked", "cancelled"],
    transitions: TRANSITIONS,
};

const fn way(from: &'static str, to: &'static str, by: &'static str, guard: &'static str) -> Transition {
    Transition { from, to, by, guard }
}

#[rustfmt::skip] // one to a line
const TRANSITIONS: &[Transition] = &[
    way("plan_compiled", "dispatch_pending", "RevisionOperationReceipt", "operation_kind plan_admitted (plan valid: acyclic, no post hash, verifier if required)"),
    way("plan_compiled", "terminal_failed", "RevisionOperationReceipt", "plan_rejected"),
    way("dispatch_pending", "dispatched", "RevisionOperationReceipt", "dispatched, all locks acquired with runtime pre-hash"),
    way("dispatch_pending", "waiting_dependency", "RevisionOperationReceipt", "dependency open"),
    way("dispatch_pending", "waiting_hard_call", "RevisionOperationReceipt", "hard_call_raised"),
    way("step_running", "waiting_hard_call", "RevisionOperationReceipt", "hard_call_raised"),
    way("step_receipt_received", "waiting_hard_call", "RevisionOperationReceipt", "hard_call_raised"),
    way("regression_detected", "waiting_hard_call", "RevisionOperationReceipt", "hard_call_raised"),
    way("dispatched", "step_running", "RevisionOperationReceipt", "step_started"),
    way("step_running", "step_receipt_received", "RevisionOperationReceipt", "step_finished (produced_post_hash written)"),
    way("step_running", "terminal_failed", "RevisionOperationReceipt", "step_failed, no retry left"),
    way("step_receipt_received", "step_running", "RevisionOperationReceipt", "step_started (next step in order)"),
    way("step_receipt_received", "waiting_dependency", "RevisionOperationReceipt", "next step waits"),
    way("step_receipt_received", "revalidating", "RevisionOperationReceipt", "last step done"),
    way("waiting_dependency", "dispatched", "RevisionOperationReceipt", "dependency step done"),
    way("waiting_dependency", "dispatched", "SourceWorkspaceOperationReceipt", "source answer/verification applied"),
    way("waiting_dependency", "dispatched", "TaskSkipReceipt", "dependency skipped, downstream_effect none"),
    way("waiting_dependency", "dispatched", "FeedbackConsumptionReceipt", "consumer answered"),
    way("waiting_dependency", "terminal_blocked", "TaskSkipReceipt", "dependency_unavailable or policy_blocked"),
    way("waiting_dependency", "terminal_blocked", "SourceWorkspaceOperationReceipt", "status rejected_by_policy"),
    way("waiting_hard_call", "dispatch_pending", "HardCallResolutionReceipt", "decision allows going on"),
    way("waiting_hard_call", "terminal_blocked", "HardCallResolutionReceipt", "decision stops the scope"),
    way("revalidating", "cascade_running", "RevisionOperationReceipt", "revalidation_done, no regression (a cascade run always opens, possibly trivial)"),
    way("revalidating", "regression_detected", "RevisionOperationReceipt", "revalidation_done with regressed outcome"),
    way("cascade_running", "terminal_satisfied", "RevalidationCascadeReceipt", "status quiescent and every required outcome satisfied"),
    way("cascade_running", "regression_detected", "RevalidationCascadeReceipt", "status quiescent, some outcome regressed or unsatisfied"),
    way("cascade_running", "waiting_hard_call", "RevalidationCascadeReceipt", "cycle_detected and on_cycle_detected = hard_call"),
    way("cascade_running", "terminal_blocked", "RevalidationCascadeReceipt", "cycle_detected and reject_graph"),
    way("cascade_running", "terminal_failed", "RevalidationCascadeReceipt", "max_depth_exceeded or aborted"),
    way("regression_detected", "dispatch_pending", "RevisionOperationReceipt", "re-plan admitted"),
    way("regression_detected", "terminal_failed", "RevisionOperationReceipt", "attempts exhausted"),
    way("plan_compiled", "cancelled", "TaskCancelReceipt", ""),
    way("dispatch_pending", "cancelled", "TaskCancelReceipt", ""),
    way("dispatched", "cancelled", "TaskCancelReceipt", ""),
    way("step_running", "cancelled", "TaskCancelReceipt", ""),
    way("step_receipt_received", "cancelled", "TaskCancelReceipt", ""),
    way("waiting_dependency", "cancelled", "TaskCancelReceipt", ""),
    way("waiting_hard_call", "cancelled", "TaskCancelReceipt", ""),
    way("revalidating", "cancelled", "TaskCancelReceipt", ""),
    way("cascade_running", "cancelled", "TaskCancelReceipt", ""),
    way("regression_detected", "cancelled", "TaskCancelReceipt", ""),
];
