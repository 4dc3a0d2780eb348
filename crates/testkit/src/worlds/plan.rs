//! A revision plan that is carried out: its steps, its receipts, its states.
//! Owns: what is written for each thing that happens to a plan. Must not: choose what happens.

use super::asking::Cancel;
use super::builder::{Builder, Run, hash_of};
use super::making::Outcome;
use countersign_govern::derive::cascade::{Cascade, Status};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A step of a plan.
pub(super) struct Step {
    pub(super) id: String,
    pub(super) kind: &'static str,
    pub(super) artifact: String,
    pub(super) after: Vec<usize>,
}

/// A plan as it stands.
pub(super) struct Plan {
    pub(super) id: String,
    pub(super) is_rolling: bool,
    pub(super) class: &'static str,
    pub(super) risk: f64,
    pub(super) steps: Vec<Step>,
    outcome: String,
    state: &'static str,
    /// The hash that each artifact has, and the version that it was last told to be.
    heads: BTreeMap<String, (String, String)>,
    /// The key of each step's last attempt.
    tried: BTreeMap<usize, String>,
}

impl Plan {
    /// A plan for an outcome, as it is compiled. Each artifact has a first version.
    pub(super) fn compile(b: &mut Builder, run: &Run, outcome: &Outcome, mut plan: Plan) -> Plan {
        plan.outcome.clone_from(&outcome.id);
        for artifact in plan.steps.iter().map(|step| step.artifact.clone()).collect::<Vec<_>>() {
            if !plan.heads.contains_key(&artifact) {
                plan.version(b, run, &artifact, None);
            }
        }
        let steps: Vec<Value> = (0..plan.steps.len()).map(|at| plan.step(at)).collect();
        for step in &steps {
            b.add("RevisionPlanStepBase", step.clone());
        }
        let edges: Vec<Value> = (plan.steps.iter())
            .flat_map(|step| step.after.iter().map(|at| (step.id.clone(), plan.steps[*at].id.clone())))
            .map(|(from, to)| {
                json!({"from_step_id": from, "to_step_id": to, "edge_kind": "requires_output", "schema_version": "1.0"})
            })
            .collect();
        b.add(
            "RevisionPlan",
            json!({
                "plan_id": plan.id, "run_id": run.run_id, "task_id": run.task_id, "outcome_ids": [plan.outcome],
                "mutation_mode": if plan.is_rolling { "rolling_hash_in_place" } else { "candidate_only" },
                "safety_class": plan.class, "plan_risk_score": plan.risk, "steps": steps, "dependency_edges": edges
            }),
        );
        plan
    }

    /// A plan that is not compiled yet.
    pub(super) fn new(b: &mut Builder, steps: Vec<Step>) -> Plan {
        let class = *b.random.pick(&["mechanical", "meaning_bearing"]);
        Plan {
            id: b.id("plan"),
            is_rolling: b.random.once_in(2),
            class,
            risk: b.random.within(1..10) as f64 / 10.0,
            steps,
            outcome: String::new(),
            state: "plan_compiled",
            heads: BTreeMap::new(),
            tried: BTreeMap::new(),
        }
    }

    fn step(&self, at: usize) -> Value {
        let step = &self.steps[at];
        let after: Vec<&String> = step.after.iter().map(|at| &self.steps[*at].id).collect();
        json!({
            "step_id": step.id, "step_order": at + 1, "step_kind": step.kind, "depends_on_step_ids": after,
            "target_refs": [format!("artifact:{}", step.artifact)],
            "revalidation_policy": {
                "policy_kind": "revalidate_targeted_outcomes", "outcomes_to_recheck": [self.outcome],
                "rationale": "The outcome rests on this text.", "schema_version": "1.0"
            },
            "revalidation_rationale": "The outcome rests on this text.", "schema_version": "1.0"
        })
    }

    /// A version of an artifact with a hash of its own.
    fn version(&mut self, b: &mut Builder, run: &Run, artifact: &str, step: Option<&str>) -> String {
        let (id, hash) = (b.id(&format!("{artifact}-v")), b.some_hash());
        let mut record = json!({
            "artifact_version_id": id, "artifact_stable_id": artifact, "task_id": run.task_id, "run_id": run.run_id,
            "content_hash": hash, "safety_class": self.class, "created_at": b.now()
        });
        if let Some(step) = step {
            record["produced_by_step_id"] = step.into();
        }
        b.add("ArtifactVersion", record);
        self.heads.insert(artifact.to_owned(), (id, hash.clone()));
        hash
    }

    /// The version that an artifact has now: the reference to it.
    pub(super) fn head(&self, artifact: &str) -> String {
        format!("artifact_version:{}", self.heads[artifact].0)
    }

    pub(super) fn reference(&self) -> String {
        format!("revision_plan:{}", self.id)
    }

    /// The receipt of something that is done with a step; the reference to it.
    pub(super) fn operates(&self, b: &mut Builder, run: &Run, at: usize, kind: &str, more: Value) -> String {
        let id = b.id("operation");
        let mut receipt = json!({
            "receipt_id": id, "plan_id": self.id, "run_id": run.run_id, "step_id": self.steps[at].id,
            "operation_kind": kind, "created_at": b.now(), "schema_version": "1.0"
        });
        for (name, value) in more.as_object().into_iter().flatten() {
            receipt[name] = value.clone();
        }
        b.add("RevisionOperationReceipt", receipt);
        format!("revision_operation_receipt:{id}")
    }

    /// The plan goes to another state, by a receipt.
    pub(super) fn goes(&mut self, b: &mut Builder, to: &'static str, by: &str, receipt: &str) {
        let event = json!({
            "event_id": b.id("plan-event"), "plan_id": self.id, "from_state": self.state, "to_state": to,
            "triggered_by_receipt_kind": by, "receipt_ref": receipt, "created_at": b.now()
        });
        b.add("RevisionLifecycleTransitionEvent", event);
        self.state = to;
    }

    /// An operation on a step, and the state that it leads to.
    pub(super) fn does(
        &mut self,
        b: &mut Builder,
        run: &Run,
        at: usize,
        kind: &str,
        to: &'static str,
    ) -> String {
        let receipt = self.operates(b, run, at, kind, json!({}));
        self.goes(b, to, "RevisionOperationReceipt", &receipt);
        receipt
    }

    /// A risky one is verified before it goes out.
    pub(super) fn verify(&self, b: &mut Builder) {
        b.share_once(
            "PlanVerifierRequirementPolicy",
            "plan-verifier",
            json!({
                "policy_id": "plan-verifier", "required_when_plan_risk_score_gte": 0.7,
                "required_for_external_side_effects": true,
                "required_for_privileged_meaning_bearing_revisions": true, "on_unavailable": "hard_call",
                "schema_version": "1.0"
            }),
        );
        if self.risk >= 0.7 {
            let result = json!({"result_id": b.id("verified"), "plan_id": self.id, "passed": true, "created_at": b.now()});
            b.add("PlanVerifierResult", result);
        }
    }

    /// It is let in and goes out.
    pub(super) fn dispatch(&mut self, b: &mut Builder, run: &Run) {
        self.does(b, run, 0, "plan_admitted", "dispatch_pending");
        self.verify(b);
        self.does(b, run, 0, "dispatched", "dispatched");
    }

    /// A step begins; the first time, or again.
    pub(super) fn start(&mut self, b: &mut Builder, run: &Run, at: usize) {
        let step = &self.steps[at];
        let (base, hash) = self.heads[&step.artifact].clone();
        let (target, payload) = (hash_of(&format!("artifact:{}", step.artifact)), b.some_hash());
        let mut key = json!({
            "run_id": run.run_id, "plan_id": self.id, "step_id": step.id, "step_kind": step.kind,
            "target_ref_hash": target, "input_payload_hash": payload, "attempt_class": "first", "schema_version": "1.0"
        });
        if let Some(before) = self.tried.get(&at) {
            key["attempt_class"] = "retry".into();
            key["previous_attempt_hash"] = before.as_str().into();
        }
        let mut more = json!({"idempotency_key": key});
        if self.is_rolling {
            let anchor = b.some_hash();
            b.add(
                "InPlaceMutationLock",
                json!({
                    "step_id": step.id, "target_section_anchor_hash": anchor, "expected_base_version_id": base,
                    "expected_pre_hash": hash
                }),
            );
            more["expected_pre_hash"] = hash.into();
        }
        let receipt = self.operates(b, run, at, "step_started", more);
        self.tried.insert(at, hash_of(&key));
        self.goes(b, "step_running", "RevisionOperationReceipt", &receipt);
    }

    /// A step is done; the reference to its receipt.
    pub(super) fn finish(&mut self, b: &mut Builder, run: &Run, at: usize) -> String {
        let (artifact, step) = (self.steps[at].artifact.clone(), self.steps[at].id.clone());
        let before = self.heads[&artifact].1.clone();
        let after = self.version(b, run, &artifact, Some(&step));
        let mut more = json!({"produced_post_hash": after, "artifact_stable_id": artifact});
        if self.is_rolling {
            more["expected_pre_hash"] = before.into();
        }
        let receipt = self.operates(b, run, at, "step_finished", more);
        self.goes(b, "step_receipt_received", "RevisionOperationReceipt", &receipt);
        receipt
    }

    /// It is cancelled: nothing that was sent or filed was part of it.
    pub(super) fn cancel(&mut self, b: &mut Builder, run: &Run) {
        let disposition = *b.random.pick(&["discard", "retain_for_manual_review", "orphan_until_reconciled"]);
        let plan = [self.reference()];
        let cancel = Cancel {
            scope: "revision_plan",
            targets: &plan,
            handling: "finish_current_step_then_stop",
            side_effects: "do_not_cancel_executed_side_effects",
            candidates: disposition,
            learning: "suppress_success_signals",
            stopped: &plan,
            executed: Vec::new(),
            intents: Vec::new(),
        };
        let receipt = cancel.write(b, run);
        self.goes(b, "cancelled", "TaskCancelReceipt", &receipt);
    }

    /// All that rests on its outcome is looked at again by `look`, until nothing moves or it leads back; the reference to the
    /// receipt of that.
    pub(super) fn cascade(
        &mut self,
        b: &mut Builder,
        run: &Run,
        outcomes: &mut [Outcome],
        end: End,
        look: fn(&mut Builder, &Run, &mut Outcome, &Plan),
    ) -> String {
        let done = self.does(b, run, 0, "revalidation_done", "cascade_running");
        let ids: Vec<String> = outcomes.iter().map(|one| one.id.clone()).collect();
        let edges: Vec<(String, String)> = outcomes.iter().flat_map(Outcome::edges).collect();
        let edges = edges.iter().map(|(one, other)| (one.as_str(), other.as_str()));
        let origin = self.outcome.clone();
        let mut cascade = Cascade::begin(edges, &origin, 8);
        let (id, created) = (b.id("cascade"), b.now());
        loop {
            let mut record = json!({
                "cascade_run_id": id, "originating_receipt_ref": done, "task_id": run.task_id, "run_id": run.run_id,
                "origin_outcome_id": origin, "visited_outcome_ids": cascade.visited(),
                "active_outcome_ids": cascade.active().collect::<Vec<_>>(), "depth": cascade.depth(), "max_depth": 8,
                "status": cascade.status().as_str(), "created_at": created, "schema_version": "1.0"
            });
            if cascade.status() != Status::Running {
                let (status, reason) = match end {
                    End::AtRest => ("quiescent", "all_dependents_revalidated"),
                    End::InACircle => ("cycle_detected", "cycle_detected"),
                };
                let receipt = ended(b, &id, status, cascade.visited());
                record["status"] = status.into();
                record["terminal_reason"] = reason.into();
                record["completed_at"] = b.now().into();
                if end == End::InACircle {
                    record["active_outcome_ids"] = json!([origin]);
                }
                b.add("RevalidationCascadeRun", record);
                return receipt;
            }
            b.add("RevalidationCascadeRun", record);
            let next = cascade.active().next().and_then(|id| ids.iter().position(|one| one == id));
            let next = next.expect("something is due while it runs");
            look(b, run, &mut outcomes[next], self);
            cascade.settle(&ids[next]);
        }
    }
}

/// How a cascade ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Nothing moves any more.
    AtRest,
    /// What was looked at last changed what the first rests on: nobody had declared that.
    InACircle,
}

/// The receipt of the end of a cascade; the reference to it.
fn ended(b: &mut Builder, cascade: &str, status: &str, affected: &[&str]) -> String {
    let id = b.id("cascade-receipt");
    b.add(
        "RevalidationCascadeReceipt",
        json!({
            "receipt_id": id, "cascade_run_id": cascade, "status": status, "affected_outcome_ids": affected,
            "created_at": b.now(), "schema_version": "1.0"
        }),
    );
    format!("revalidation_cascade_receipt:{id}")
}
