//! The verifier of plans: a second look at what is about to be done.
//! Owns: when one is asked for, and what is looked at. Must not: mend a plan.

use super::compile::is_risky;
use super::plans::{Plan, is_mutating};
use super::way::Way;
use crate::desk::{Desk, Error};
use crate::task::decimal;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_govern::derive::graph::Graph;
use countersign_govern::types::added::repair::PlanVerifierResult;
use countersign_govern::types::basic::V10;
use countersign_govern::types::revision::RevisionPlan;
use countersign_govern::types::sufficiency::CandidateRepairProcedureSafetyClass as Safety;
use countersign_record::json::Number;

/// The risk from which on a plan must be verified.
const RISK_MIN: &str = "0.7";

/// The risk from which on a plan must be verified.
pub(crate) fn threshold() -> Number {
    decimal(RISK_MIN)
}

/// What is wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// Steps wait for each other.
    Cycle,
    /// A step waits for one that is not there.
    NoSuchStep(String),
    /// A step is about something that is not there.
    NoTarget(String),
    /// Two steps change the artifact, and none waits for the other.
    Unordered(String),
    /// It says what a result will be before there is one.
    Predicts(String),
}

/// Has a plan verified, if it must be; gives what is wrong with it.
pub(super) fn verify(desk: &mut Desk, plan: &Plan) -> Result<Vec<Flaw>, Error> {
    let record: RevisionPlan =
        desk.find("RevisionPlan", &plan.id).ok_or_else(|| Error::Missing(plan.id.clone()))?;
    let flaws = flaws(desk, plan, &record);
    let is_needed = record.plan_risk_score.as_ref().is_some_and(is_risky)
        || matches!(plan.safety, Safety::Privileged | Safety::ExternalSideEffect);
    if is_needed || !flaws.is_empty() {
        desk.put(&PlanVerifierResult {
            result_id: desk.id("verified"),
            plan_id: plan.id.clone(),
            passed: Some(flaws.is_empty()),
            created_at: desk.now(),
            schema_version: Some(V10),
        })?;
    }
    Ok(flaws)
}

fn flaws(desk: &Desk, plan: &Plan, record: &RevisionPlan) -> Vec<Flaw> {
    let ids: BTreeSet<&str> = plan.steps().iter().map(|step| step.id.as_str()).collect();
    let edges = || {
        plan.steps().iter().flat_map(|step| step.after.iter().map(move |to| (step.id.as_str(), to.as_str())))
    };
    let mut flaws: Vec<Flaw> = edges()
        .filter(|(_, to)| !ids.contains(to))
        .map(|(_, to)| Flaw::NoSuchStep(String::from(to)))
        .collect();
    let graph = Graph::new(ids.iter().copied(), edges());
    if !graph.on_cycle().is_empty() {
        flaws.push(Flaw::Cycle);
    }
    let changing: Vec<&str> =
        plan.steps().iter().filter(|step| is_mutating(step.kind)).map(|step| step.id.as_str()).collect();
    let pairs: Vec<(&str, &str)> =
        changing.iter().zip(changing.iter().skip(1)).map(|(one, next)| (*next, *one)).collect();
    for ((next, _), is_after) in pairs.iter().zip(graph.reaches(&pairs)) {
        if !is_after {
            flaws.push(Flaw::Unordered(String::from(*next)));
        }
    }
    for step in plan.steps().iter().filter(|step| !is_there(desk, plan, step)) {
        flaws.push(Flaw::NoTarget(step.id.clone()));
    }
    for lock in
        record.in_place_mutation_locks.iter().flatten().filter(|lock| !lock.expected_pre_hash.is_empty())
    {
        flaws.push(Flaw::Predicts(lock.step_id.clone()));
    }
    flaws
}

/// Whether what a step is about is there.
fn is_there(desk: &Desk, plan: &Plan, step: &super::plans::Step) -> bool {
    let Some(artifact) = desk.task().artifact(&plan.artifact) else { return false };
    match Way::of(step) {
        Some(Way::Section { section, .. }) => artifact.section(&section).is_some(),
        Some(Way::Search(claim) | Way::Cite(claim) | Way::Without(claim)) => {
            claim.as_str().starts_with(&alloc::format!("claim:{}/", desk.own(&plan.artifact)))
        }
        Some(Way::Repair | Way::Rewrite) | None => true,
        Some(Way::Verify(source)) => desk.task().source(&source).is_some(),
    }
}
