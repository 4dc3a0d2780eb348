//! Validation codes: sub agents.
//! Owns: the rules of this area. Must not: decide by names.

use super::hard_calls::id_of;
use super::revision::Owners;
use super::{Area, Found, Rule, Severity};
use crate::kind::{Class, Kind};
use crate::member::Member;
use crate::path::Path;
use crate::types::sub_agent::PlanVerifierRequirementPolicyOnUnavailable as Unavailable;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

pub(super) const AREA: Area = Area { name: "sub_agents", rules: RULES, kinds: KINDS };

/// What a verifier says of a plan, and that there is none to say it.
const KINDS: &[Kind] = &[
    Kind::new("PlanVerifierResult", Class::Receipt, Some("result_id")),
    Kind::new("PlanVerifierUnavailableEvent", Class::Event, Some("event_id")),
];

const RULES: &[Rule] = &[
    Rule {
        code: "sub_agent_point_without_fallback",
        severity: Severity::Error,
        section: "D-15",
        fires: "A SubAgentCoordinationProfile allows a coordination point for which fallback_policies has no entry.",
        legal: "A fallback entry for a point that is not allowed (harmless surplus).",
        why: "If no sub-agent can be had at such a point, nobody has said what happens, and work may go on without the look that was promised.",
        fix: "Add a fallback policy for each allowed coordination point.",
        check: sub_agent_point_without_fallback,
    },
    Rule {
        code: "output_contract_singular_legacy_field_present",
        severity: Severity::Warning,
        section: "D-15",
        fires: "A sub-agent profile carries the singular output_contract_ref instead of output_contract_refs.",
        legal: "output_contract_refs with one element.",
        why: "A profile may have several contracts for what a sub-agent gives back. The old field holds one, and the others are not checked.",
        fix: "Write output_contract_refs, also for one contract.",
        check: output_contract_singular_legacy_field_present,
    },
    Rule {
        code: "plan_verifier_required_but_missing",
        severity: Severity::Error,
        section: "D-15",
        fires: "A RevisionPlan that meets PlanVerifierRequirementPolicy (plan_risk_score absent or >= threshold, an external side effect, or a privileged meaning-bearing revision) is dispatched without a plan-verifier result and without the on_unavailable action recorded.",
        legal: "plan_risk_score just below the threshold and no side effect; or verifier unavailable and the hard call raised.",
        why: "A risky plan was carried out without the second look that the policy asks for, and nobody decided to do without it.",
        fix: "Record a PlanVerifierResult before the plan is dispatched or, if no verifier can be had, what on_unavailable says.",
        check: plan_verifier_required_but_missing,
    },
];

fn sub_agent_point_without_fallback(world: &World, found: &mut Found<'_>) {
    for profile in world.of("SubAgentCoordinationProfile") {
        let policies = profile.list("fallback_policies").iter();
        let covered: BTreeSet<&str> =
            policies.filter_map(|policy| policy.text("coordination_point")).collect();
        for (at, point) in profile.list("allowed_coordination_points").iter().enumerate() {
            if point.as_str().is_some_and(|point| !covered.contains(point)) {
                let path = Path::from("allowed_coordination_points").item(at);
                found.add(profile, path, "has no fallback");
            }
        }
    }
}

fn output_contract_singular_legacy_field_present(world: &World, found: &mut Found<'_>) {
    let name = "output_contract_ref";
    for profile in world.of("SubAgentCoordinationProfile").filter(|profile| profile.at(name).is_some()) {
        found.add(profile, name, "is now the list output_contract_refs");
    }
}

/// When a plan must be verified, over all policies that say the same of a verifier who can't be had.
#[derive(Default)]
struct Requirement {
    /// The least risks at which it must, by the order of their numbers, each with how many say so.
    risks: BTreeMap<u64, usize>,
    for_side_effects: usize,
    for_privileged: usize,
}

/// What a policy does to a requirement that its version before did not.
#[derive(Clone, Copy)]
enum Turn {
    Begins,
    Ends,
}

impl Turn {
    fn count(self, count: &mut usize) {
        match self {
            Turn::Begins => *count += 1,
            Turn::Ends => *count = count.saturating_sub(1),
        }
    }
}

/// A number whose order is that of the other.
fn rank(number: f64) -> u64 {
    let bits = number.to_bits();
    if number.is_sign_negative() { !bits } else { bits | 1 << 63 }
}

impl Requirement {
    fn turn(&mut self, policy: Record<'_>, turn: Turn) {
        if let Some(risk) = policy.number("required_when_plan_risk_score_gte") {
            let count = self.risks.entry(rank(risk)).or_default();
            turn.count(count);
            if *count == 0 {
                self.risks.remove(&rank(risk));
            }
        }
        let flag = |path| policy.flag(path) == Some(true);
        if flag("required_for_external_side_effects") {
            turn.count(&mut self.for_side_effects);
        }
        if flag("required_for_privileged_meaning_bearing_revisions") {
            turn.count(&mut self.for_privileged);
        }
    }

    fn asks_for(&self, plan: Record<'_>) -> bool {
        let is_external = || {
            let mut steps = plan.list("steps").iter();
            plan.is("safety_class", "external_side_effect")
                || steps.any(|step| step.is("step_kind", "external_side_effect"))
        };
        let is_privileged = || {
            plan.is("safety_class", "privileged")
                || plan.is("safety_class", "meaning_bearing") && plan.flag("privileged") == Some(true)
        };
        let least = self.risks.keys().next();
        // A risk that nobody states may be any.
        let risk = plan.number("plan_risk_score").map_or(u64::MAX, |risk| rank(risk + 0.0));
        least.is_some_and(|least| risk >= *least)
            || self.for_side_effects > 0 && is_external()
            || self.for_privileged > 0 && is_privileged()
    }
}

/// What receipts of a plan that is being carried out are for.
const DISPATCHED: [&str; 4] = ["dispatched", "step_started", "step_finished", "step_failed"];

fn plan_verifier_required_but_missing(world: &World, found: &mut Found<'_>) {
    let mut policies = world.of("PlanVerifierRequirementPolicy").peekable();
    if policies.peek().is_none() {
        return;
    }
    let mut told: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for (plan, action, seq) in verified(world) {
        told.entry((plan, action)).or_insert(seq);
    }
    let owners = Owners::of(world);
    let mut missed: BTreeSet<&str> = BTreeSet::new();
    let mut requirements = Requirements::default();
    // What comes first holds from the beginning.
    policies.next().into_iter().for_each(|first| requirements.add(first));
    for dispatch in world.of_any(&["RevisionOperationReceipt", "RevisionLifecycleTransitionEvent"]) {
        while let Some(policy) = policies.next_if(|policy| policy.seq() < dispatch.seq()) {
            requirements.add(policy);
        }
        // A receipt of a step that ran, or that does not say what it is for, is of work on the plan, which was dispatched then.
        let is_dispatch = match dispatch.kind() {
            "RevisionOperationReceipt" => {
                dispatch.is_one_of("operation_kind", &DISPATCHED) || dispatch.is_blank("operation_kind")
            }
            _transition => dispatch.is("to_state", "dispatched"),
        };
        if !is_dispatch {
            continue;
        }
        let Some(plan) = owners.plan(dispatch).and_then(|id| world.find("RevisionPlan", id)) else {
            continue;
        };
        let is_told = |action| told.get(&(plan.id(), action)).is_some_and(|at| *at < dispatch.seq());
        let mut open =
            requirements.by_action.iter().filter(|(action, _)| !is_told(VERIFIED) && !is_told(action));
        // Steps of a plan of which it is told say nothing new.
        let is_step = dispatch.text("operation_kind").is_some_and(|kind| kind.starts_with("step_"));
        let is_told = is_step && missed.contains(plan.id());
        if !is_told && open.any(|(_, requirement)| requirement.asks_for(plan)) {
            missed.insert(plan.id());
            found.add(dispatch, "plan_id", "the plan must be verified and was not");
        }
    }
}

/// The policies in force, by what they say of a verifier who can't be had.
#[derive(Default)]
struct Requirements<'w> {
    by_action: BTreeMap<&'w str, Requirement>,
    in_force: BTreeMap<&'w str, Record<'w>>,
}

impl<'w> Requirements<'w> {
    /// A policy, or another version of one.
    fn add(&mut self, policy: Record<'w>) {
        // Nothing that is recorded carries out another word.
        let action = |policy: Record<'w>| {
            policy
                .json()
                .text("on_unavailable")
                .filter(|word| Unavailable::find(word).is_some())
                .unwrap_or_default()
        };
        if let Some(over) = self.in_force.insert(policy.id(), policy) {
            self.by_action.entry(action(over)).or_default().turn(over, Turn::Ends);
        }
        self.by_action.entry(action(policy)).or_default().turn(policy, Turn::Begins);
    }
}

/// What stands for a plan that was verified.
const VERIFIED: &str = "verified";

/// What was done so that a plan may be dispatched: the plan, what, and where.
fn verified(world: &World) -> Vec<(&str, &str, u64)> {
    let mut all = Vec::new();
    for result in world.of("PlanVerifierResult") {
        all.extend(result.json().id_at("plan_id").map(|plan| (plan, VERIFIED, result.seq())));
    }
    for event in world.of("PlanVerifierUnavailableEvent") {
        let json = event.json();
        let is_silent = json.is("action", "degrade_with_user_notice") && json.is_blank("user_notice_ref");
        if let (Some(plan), Some(action), false) = (json.id_at("plan_id"), json.text("action"), is_silent) {
            all.push((plan, action, event.seq()));
        }
    }
    let calls = world.of("HardRevisionCall");
    for call in calls.filter(|call| call.is("hard_call_kind", "plan_verifier_unavailable")) {
        all.extend(
            call.json()
                .text("source_ref")
                .map(|plan| (id_of("revision_plan", plan), "hard_call", call.seq())),
        );
    }
    all
}

#[cfg(test)]
#[path = "sub_agents_tests.rs"]
mod tests;
