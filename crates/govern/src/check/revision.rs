//! Validation codes: revision.
//! Owns: the rules of this area. Must not: decide by names.

mod dependency;
mod idempotency;
mod lifecycle;
mod locks;
pub(super) mod plan;
mod revalidation;
mod rolling;

use super::{Area, Rule, Severity};

pub(super) use plan::Owners;

pub(super) const AREA: Area = Area { name: "revision", rules: RULES, kinds: &[] };

const RULES: &[Rule] = &[
    Rule {
        code: "revision_lifecycle_illegal_transition",
        severity: Severity::Error,
        section: "B-01",
        fires: "A RevisionLifecycleTransitionEvent of a plan has a (from_state, to_state) pair that is not in the RevisionExecutionLifecycleTransition table, a triggered_by_receipt_kind not listed for that pair when to_state is not terminal, or a from_state that is not the plan's folded state.",
        legal: "regression_detected -> dispatch_pending after a re-plan, which the table lists.",
        why: "Whoever signs must be able to follow how a revision was carried out. A jump that the table does not know hides what was left out, such as a revalidation.",
        fix: "Write the transitions that really happened, each from the state the plan was in, or add the way to the table if it is meant.",
        check: lifecycle::revision_lifecycle_illegal_transition,
    },
    Rule {
        code: "revision_lifecycle_missing_receipt",
        severity: Severity::Error,
        section: "B-01",
        fires: "A RevisionLifecycleTransitionEvent has no receipt_ref, or it resolves to no receipt, to a receipt of another kind than triggered_by_receipt_kind, or to one persisted at a later seq.",
        legal: "The creation of the plan in state plan_compiled, which is not a transition.",
        why: "A state that nothing recorded stands behind is a claim. The receipt is what shows that the step, the answer or the cascade took place.",
        fix: "Write the receipt first, then the transition with its receipt_ref and the kind of that receipt.",
        check: lifecycle::revision_lifecycle_missing_receipt,
    },
    Rule {
        code: "terminal_state_without_terminal_receipt",
        severity: Severity::Error,
        section: "B-01",
        fires: "A plan's state becomes terminal_satisfied, terminal_failed, terminal_blocked or cancelled and the triggering receipt is not the kind that may end it: a quiescent RevalidationCascadeReceipt for terminal_satisfied, a TaskCancelReceipt for cancelled, a failing RevisionOperationReceipt or non-quiescent RevalidationCascadeReceipt for terminal_failed, a HardCallResolutionReceipt, TaskSkipReceipt, policy-rejected operation receipt or RevalidationCascadeReceipt with a cycle for terminal_blocked.",
        legal: "cancelled reached by a TaskCancelReceipt while a step was running.",
        why: "How a plan ended is what people rely on. If it ended as satisfied without a quiescent cascade, or as cancelled without a cancel, the end is not the one that is told.",
        fix: "End the plan with the receipt that may end it so, or with the end that the receipt shows.",
        check: lifecycle::terminal_state_without_terminal_receipt,
    },
    Rule {
        code: "step_idempotency_key_missing",
        severity: Severity::Error,
        section: "B-02",
        fires: "A step of a RevisionPlan ran (step_started, or its first RevisionOperationReceipt) and no StepIdempotencyKey for (run_id, plan_id, step_id) with that attempt exists, or attempt_class is retry/regenerate without previous_attempt_hash.",
        legal: "attempt_class first without previous_attempt_hash.",
        why: "Without a key for each attempt a step that was asked for twice runs twice, and nobody can tell which result came from which attempt.",
        fix: "Write a StepIdempotencyKey for the attempt before the step runs; where it repeats one, give the hash of that attempt.",
        check: idempotency::step_idempotency_key_missing,
    },
    Rule {
        code: "step_idempotency_kind_unregistered",
        severity: Severity::Error,
        section: "B-02",
        fires: "StepIdempotencyKey.step_kind is not a registered RevisionPlanStepKind value.",
        legal: "A registered step kind that no plan in this run uses.",
        why: "A key of a kind that nobody registered can't be matched with the step it stands for, so it protects nothing.",
        fix: "Use one of the kinds of RevisionPlanStepKind, or register the new kind there.",
        check: idempotency::step_idempotency_kind_unregistered,
    },
    Rule {
        code: "step_idempotency_parallel_enum_drift",
        severity: Severity::Error,
        section: "B-02",
        fires: "A type StepKind is registered as a second step-kind enum for idempotency, or a registered StepIdempotencyKey.step_kind differs from RevisionPlanStepBase.step_kind of the same step_id.",
        legal: "Both fields use RevisionPlanStepKind and hold the same value.",
        why: "Two lists of kinds drift apart, and then one step has two keys: what should run once runs twice.",
        fix: "Give the key the step_kind of its step and drop the second list.",
        check: idempotency::step_idempotency_parallel_enum_drift,
    },
    Rule {
        code: "revision_plan_contains_predicted_post_hash",
        severity: Severity::Error,
        section: "B-04/C-03",
        fires: "A RevisionPlan, its steps or in_place_mutation_locks contain a predicted_post_hash (or any post-hash field) written before execution.",
        legal: "RevisionOperationReceipt.produced_post_hash written by the dispatcher after execution.",
        why: "A hash told before the work is done was made up. If it were taken as the result, a document could be signed that nobody produced.",
        fix: "Leave the hash out of the plan; the dispatcher writes produced_post_hash into the receipt after the step ran.",
        check: rolling::revision_plan_contains_predicted_post_hash,
    },
    Rule {
        code: "in_place_lock_missing_expected_pre_hash",
        severity: Severity::Error,
        section: "B-04/C-03",
        fires: "A step of a plan in mutation_mode rolling_hash_in_place that may change an artifact runs with no InPlaceMutationLock for its step_id (one that fits its plan, run and artifact, and that no other plan holds) or with an empty expected_pre_hash, or the receipt's expected_pre_hash differs from the lock's.",
        legal: "A planned lock without expected_pre_hash before its acquisition at run time, or any plan in mode candidate_only.",
        why: "A step that changes a document in place must know what it found there. Otherwise it writes over changes that nobody saw.",
        fix: "Acquire the lock at run time, read the hash into expected_pre_hash, and repeat the same hash in the receipt.",
        check: locks::in_place_lock_missing_expected_pre_hash,
    },
    Rule {
        code: "rolling_hash_parallel_steps_same_artifact",
        severity: Severity::Error,
        section: "B-04/C-03",
        fires: "Two steps of a rolling_hash_in_place plan that mutate the same artifact (stable id of target_refs) overlap in execution or are placed in one parallel batch, even if their target_section_anchor_hash differ.",
        legal: "Parallel steps on disjoint artifacts, or parallel candidate_only steps on one artifact.",
        why: "Two steps that change one document at once overwrite each other, and the chain of hashes no longer tells what happened.",
        fix: "Run the steps one after the other, or as candidates that are joined later.",
        check: rolling::rolling_hash_parallel_steps_same_artifact,
    },
    Rule {
        code: "rolling_hash_same_artifact_dependency_missing",
        severity: Severity::Error,
        section: "B-04/C-03",
        fires: "In a rolling_hash_in_place plan two steps mutate the same artifact and neither is reachable from the other through depends_on_step_ids.",
        legal: "The steps are ordered transitively (c depends on b, b depends on a) without a direct edge c -> a.",
        why: "Steps on one document that don't wait for each other run in any order, so the same plan can give two different documents.",
        fix: "Let one of the steps wait for the other, directly or over steps between them.",
        check: rolling::rolling_hash_same_artifact_dependency_missing,
    },
    Rule {
        code: "revision_plan_dependency_edge_drift",
        severity: Severity::Error,
        section: "B-25",
        fires: "RevisionPlan.dependency_edges is present and its set of (from_step_id, to_step_id) pairs differs from the set of (step_id, d) for every d in depends_on_step_ids.",
        legal: "dependency_edges absent, or the same pairs in another order with several edge_kinds per pair.",
        why: "What people see drawn is not what is carried out. A reviewer would approve another order than the one that runs.",
        fix: "Derive dependency_edges from depends_on_step_ids again, or leave them out.",
        check: dependency::revision_plan_dependency_edge_drift,
    },
    Rule {
        code: "revision_plan_step_dependency_undefined",
        severity: Severity::Error,
        section: "B-25",
        fires: "A RevisionPlanStepBase has no depends_on_step_ids array (null/undefined), so its dependencies are unknown.",
        legal: "depends_on_step_ids is an empty array.",
        why: "A step that does not say what it waits for may run too early, on a state that nobody reviewed.",
        fix: "Give the step a list depends_on_step_ids; an empty one if it waits for nothing.",
        check: dependency::revision_plan_step_dependency_undefined,
    },
    Rule {
        code: "revision_plan_cycle",
        severity: Severity::Error,
        section: "B-25",
        fires: "The graph of depends_on_step_ids over one RevisionPlan has a directed cycle (a self-dependency included).",
        legal: "step_order disagrees with the topological order but the graph is acyclic.",
        why: "Steps that wait for each other never run, and the defect that the plan should mend stays.",
        fix: "Take out the dependency that closes the ring.",
        check: dependency::revision_plan_cycle,
    },
    Rule {
        code: "revision_plan_dependency_targets_missing_step",
        severity: Severity::Error,
        section: "B-25",
        fires: "A depends_on_step_ids (or DependencyEdge endpoint) names a step_id that is not in the plan.",
        legal: "A dependency on a step of the same plan that was skipped with a TaskSkipReceipt.",
        why: "A step that waits for one that does not exist waits forever, or runs without what it needs.",
        fix: "Name a step of the same plan, or take the dependency out.",
        check: dependency::revision_plan_dependency_targets_missing_step,
    },
    Rule {
        code: "revalidation_policy_ambiguous",
        severity: Severity::Error,
        section: "B-26",
        fires: "A step has more than one revalidation statement that disagree (revalidation_policy versus an instruction's revalidation_policy_ref or a legacy field), or policy_kind contradicts its data: none with non-empty outcomes_to_recheck, revalidate_targeted_outcomes with none, or revalidate_full_closure without closure_policy_ref.",
        legal: "policy_kind none with an empty outcomes_to_recheck, or revalidate_full_task with an empty list.",
        why: "If two statements say what is looked at again, something may be looked at by neither, and an outcome counts as checked that is not.",
        fix: "Keep one statement: the step's revalidation_policy, with data that fit its kind.",
        check: revalidation::revalidation_policy_ambiguous,
    },
    Rule {
        code: "revalidation_policy_ref_missing",
        severity: Severity::Error,
        section: "B-26",
        fires: "A TypedRevisionInstruction has an empty revalidation_policy_ref, or one that does not resolve to the RevisionStepRevalidationPolicy of its step.",
        legal: "Two instructions of one step that point to the same base policy.",
        why: "An instruction that leads to no policy leaves open what is looked at again after it, so its effect may stay unchecked.",
        fix: "Let revalidation_policy_ref name the policy of the step: its row, or the step that holds it.",
        check: revalidation::revalidation_policy_ref_missing,
    },
    Rule {
        code: "revalidation_trigger_legacy_field_present",
        severity: Severity::Warning,
        section: "B-26",
        fires: "A plan step or instruction still carries the legacy field revalidation_trigger.",
        legal: "A step with revalidation_policy only.",
        why: "The old field is no longer read. Who fills it in believes that something is looked at again, and it is not.",
        fix: "Move what it says into revalidation_policy and remove the field.",
        check: revalidation::revalidation_trigger_legacy_field_present,
    },
    Rule {
        code: "revalidation_expectation_legacy_field_present",
        severity: Severity::Warning,
        section: "B-26",
        fires: "A plan step or instruction still carries the legacy field revalidation_expectation.",
        legal: "A step whose policy has success_hint.",
        why: "The old field is no longer read. What it expects is checked by nobody.",
        fix: "Move what it says into success_hint of the revalidation_policy and remove the field.",
        check: revalidation::revalidation_expectation_legacy_field_present,
    },
];

#[cfg(test)]
#[path = "revision_tests.rs"]
mod tests;
