//! Validation codes: sub agents.
//! Owns: the rules of this area. Must not: decide by names.

use super::hard_calls::id_of;
use super::{Area, Found, Rule, Severity};
use crate::kind::{Class, Kind};
use crate::member::Member;
use crate::path::Path;
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
        fires: "A RevisionPlan that meets PlanVerifierRequirementPolicy (plan_risk_score >= threshold, an external side effect, or a privileged meaning-bearing revision) is dispatched without a plan-verifier result and without the on_unavailable action recorded.",
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
    for profile in world.of("SubAgentCoordinationProfile").filter(|profile| profile.get(name).is_some()) {
        found.add(profile, name, "is now the list output_contract_refs");
    }
}

/// When a plan must be verified, over all policies that say the same of a verifier who can't be had.
struct Requirement {
    risk_min: f64,
    is_for_side_effects: bool,
    is_for_privileged: bool,
}

impl Requirement {
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
        plan.number("plan_risk_score").is_some_and(|risk| risk >= self.risk_min)
            || self.is_for_side_effects && is_external()
            || self.is_for_privileged && is_privileged()
    }
}

fn plan_verifier_required_but_missing(world: &World, found: &mut Found<'_>) {
    let requirements = requirements(world);
    if requirements.is_empty() {
        return;
    }
    let mut told: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for (plan, action, seq) in verified(world) {
        told.entry((plan, action)).or_insert(seq);
    }
    let dispatches = ["RevisionOperationReceipt", "RevisionLifecycleTransitionEvent"];
    for dispatch in dispatches.into_iter().flat_map(|kind| world.of(kind)) {
        if !dispatch.is("operation_kind", "dispatched") && !dispatch.is("to_state", "dispatched") {
            continue;
        }
        let Some(plan) = dispatch.text("plan_id").and_then(|id| world.find("RevisionPlan", id)) else {
            continue;
        };
        let is_told = |action| told.get(&(plan.id(), action)).is_some_and(|at| *at < dispatch.seq());
        let mut open = requirements.iter().filter(|(action, _)| !is_told(VERIFIED) && !is_told(action));
        if open.any(|(_, requirement)| requirement.asks_for(plan)) {
            found.add(dispatch, "plan_id", "the plan must be verified and was not");
        }
    }
}

fn requirements(world: &World) -> BTreeMap<&str, Requirement> {
    let mut requirements: BTreeMap<&str, Requirement> = BTreeMap::new();
    for policy in world.of("PlanVerifierRequirementPolicy") {
        let is_last = world.find("PlanVerifierRequirementPolicy", policy.id());
        if is_last.is_none_or(|last| last.seq() != policy.seq()) {
            continue;
        }
        let action = policy.json().text("on_unavailable").unwrap_or_default();
        let none =
            Requirement { risk_min: f64::INFINITY, is_for_side_effects: false, is_for_privileged: false };
        let all = requirements.entry(action).or_insert(none);
        let flag = |path| policy.flag(path) == Some(true);
        if let Some(risk) = policy.number("required_when_plan_risk_score_gte") {
            all.risk_min = all.risk_min.min(risk);
        }
        all.is_for_side_effects |= flag("required_for_external_side_effects");
        all.is_for_privileged |= flag("required_for_privileged_meaning_bearing_revisions");
    }
    requirements
}

/// What stands for a plan that was verified.
const VERIFIED: &str = "verified";

/// What was done so that a plan may be dispatched: the plan, what, and where.
fn verified(world: &World) -> Vec<(&str, &str, u64)> {
    let mut all = Vec::new();
    for result in world.of("PlanVerifierResult") {
        all.extend(result.json().text("plan_id").map(|plan| (plan, VERIFIED, result.seq())));
    }
    for event in world.of("PlanVerifierUnavailableEvent") {
        let json = event.json();
        let is_silent = json.is("action", "degrade_with_user_notice") && json.is_blank("user_notice_ref");
        if let (Some(plan), Some(action), false) = (json.text("plan_id"), json.text("action"), is_silent) {
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
