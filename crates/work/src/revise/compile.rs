//! Plans from what is to be mended: one for each artifact, its steps in their order.
//! Owns: which steps there are, what waits for what, how risky a plan is, which of several goes first. Must not: carry one out.

use super::plans;
use super::verify::threshold;
use super::way::Way;
use crate::desk::{Desk, Error, From, reference};
use crate::names::DRAFTER;
use crate::task::{Outcome, decimal};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::types::added::repair::{OutcomeRepairInstruction, RepairExecution, TieBreakDecision};
use countersign_govern::types::basic::{
    OutcomeId, PortRef, RevisionPlanStep, RevisionPlanStepKind as StepKind, StorageRef, V10, V11,
};
use countersign_govern::types::concurrency::RevisionPlanConcurrencyProfile;
use countersign_govern::types::revision::{
    DependencyEdge, DependencyEdgeEdgeKind as Edge, MutationMode, RevisionPlan, RevisionPlanStepBase,
    RevisionStepRevalidationPolicy, RevisionStepRevalidationPolicyKind as PolicyKind,
    TypedRevisionInstruction,
};
use countersign_govern::types::sufficiency::CandidateRepairProcedureSafetyClass as Safety;
use countersign_govern::types::wire::Wire;
use countersign_record::json::{Json, Number, Object};

/// Steps of a plan that change something; what is left over is for the next plan.
const STEPS_MAX: usize = 40;
/// Steps of a plan that search.
const SEARCHES_MAX: usize = 200;
/// Milliseconds that a step is thought to hold its artifact.
const STEP_MS: u64 = 1_000;
/// What each further step that changes something adds to the risk, in hundredths.
const RISK_STEP: u64 = 5;
/// What an outcome adds of which much depends.
const RISK_STAKES: u64 = 20;
/// All of it.
const RISK_WHOLE: u64 = 100;

/// Where a module takes revisions in.
const REVISION_PORT: &str = "revision_in";

/// What is to be mended of an artifact: the outcomes, and the ways for each.
pub(crate) type Wanted = BTreeMap<String, Vec<(Outcome, Vec<Way>)>>;

/// Makes a plan for each artifact; gives their ids, those first that go first.
pub(crate) fn compile(desk: &mut Desk, wanted: &Wanted) -> Result<Vec<String>, Error> {
    let mut profiles = Vec::new();
    for (artifact, outcomes) in wanted {
        profiles.push(plan(desk, artifact, outcomes)?);
    }
    match profiles.len() {
        0 | 1 => Ok(profiles.into_iter().map(|one| one.plan_id).collect()),
        _several => order(desk, profiles),
    }
}

/// A step that is to be.
struct Draft {
    id: String,
    way: Option<Way>,
    after: Vec<(String, Edge)>,
}

fn plan(
    desk: &mut Desk,
    artifact: &str,
    outcomes: &[(Outcome, Vec<Way>)],
) -> Result<RevisionPlanConcurrencyProfile, Error> {
    let plan_id = desk.id("plan");
    let drafts = drafts(&plan_id, outcomes);
    let outcome_ids: Vec<String> = outcomes.iter().map(|(one, _)| desk.own(&one.id)).collect();
    let mut steps = Vec::new();
    for (at, draft) in drafts.iter().enumerate() {
        steps.push(step(desk, artifact, &outcome_ids, at as u64 + 1, draft)?);
    }
    for step in &steps {
        desk.put(&based(step))?;
    }
    let ways = || drafts.iter().filter_map(|draft| draft.way.as_ref());
    let safety = ways().map(|way| way.safety(desk)).max().unwrap_or(Safety::Mechanical);
    let changing = ways().filter(|way| plans::is_mutating(way.kind())).count() as u64;
    let is_stake = outcomes.iter().any(|(one, _)| one.high_stakes.unwrap_or(false));
    let risk = risk(safety, changing, is_stake);
    let edges = drafts.iter().flat_map(|draft| {
        draft.after.iter().map(|(to, kind)| DependencyEdge {
            from_step_id: draft.id.clone(),
            to_step_id: to.clone(),
            edge_kind: *kind,
            schema_version: V10,
        })
    });
    desk.put(&RevisionPlan {
        plan_id: plan_id.clone(),
        mutation_mode: MutationMode::RollingHashInPlace,
        in_place_mutation_locks: None,
        dependency_edges: Some(edges.collect()),
        steps,
        run_id: Some(desk.run().to_string()),
        task_id: Some(desk.task().id.clone()),
        outcome_ids: Some(outcome_ids),
        safety_class: Some(safety),
        plan_risk_score: Some(risk.clone()),
    })?;
    instruct(desk, artifact, &plan_id, outcomes, &drafts)?;
    Ok(RevisionPlanConcurrencyProfile {
        required_for_overall_pass: outcomes.iter().any(|(one, _)| one.is_required()),
        high_stakes: is_stake,
        outcome_priority: outcomes.iter().filter_map(|(one, _)| one.priority).min().unwrap_or(0),
        plan_risk_score: risk,
        estimated_lock_duration_ms: changing.saturating_mul(STEP_MS),
        cost_vector_ref: None,
        deterministic_final_key: plan_id.clone(),
        plan_id,
        schema_version: V10,
    })
}

/// The steps: searches first, then what changes the text, one after the other, then the look at what came of it.
fn drafts(plan: &str, outcomes: &[(Outcome, Vec<Way>)]) -> Vec<Draft> {
    let (mut ways, mut seen): (Vec<Way>, BTreeSet<Way>) = (Vec::new(), BTreeSet::new());
    for way in outcomes.iter().flat_map(|(_, ways)| ways) {
        if seen.insert(whatever(way)) {
            ways.push(way.clone());
        }
    }
    // The order of those of one kind stays.
    ways.sort_by_key(rank);
    let searches = ways.iter().take_while(|way| matches!(way, Way::Search(_))).count();
    ways.drain(searches.min(SEARCHES_MAX)..searches);
    ways.truncate(searches.min(SEARCHES_MAX) + STEPS_MAX);
    let mut drafts: Vec<Draft> = Vec::new();
    let mut last: Option<String> = None;
    for way in ways {
        let id = format!("{plan}.s{}", drafts.len() + 1);
        let mut after = Vec::new();
        if plans::is_mutating(way.kind()) {
            after.extend(last.take().map(|before| (before, Edge::RequiresArtifactVersion)));
            after.extend(searched(&drafts, &way).map(|search| (search, Edge::RequiresSourceAnswer)));
            last = Some(id.clone());
        }
        drafts.push(Draft { id, way: Some(way), after });
    }
    let after = drafts.iter().map(|draft| (draft.id.clone(), Edge::RequiresOutput)).collect();
    drafts.push(Draft { id: format!("{plan}.s{}", drafts.len() + 1), way: None, after });
    drafts
}

/// What a way does, however much of it: two that are equal do the same.
fn whatever(way: &Way) -> Way {
    match way {
        Way::Section { section, .. } => Way::Section { section: section.clone(), quotes: 0 },
        Way::Search(_) | Way::Cite(_) | Way::Without(_) | Way::Repair | Way::Rewrite | Way::Verify(_) => {
            way.clone()
        }
    }
}

fn rank(way: &Way) -> u8 {
    match way {
        Way::Search(_) => 0,
        Way::Section { .. } => 1,
        Way::Cite(_) | Way::Without(_) => 2,
        Way::Repair | Way::Rewrite => 3,
        Way::Verify(_) => 4,
    }
}

/// The step that searches for what another one would cite or take out.
fn searched(drafts: &[Draft], way: &Way) -> Option<String> {
    let (Way::Cite(claim) | Way::Without(claim)) = way else { return None };
    drafts.iter().find(|draft| draft.way == Some(Way::Search(claim.clone()))).map(|draft| draft.id.clone())
}

fn step(
    desk: &Desk,
    artifact: &str,
    outcomes: &[String],
    order: u64,
    draft: &Draft,
) -> Result<RevisionPlanStep, Error> {
    let mut target_refs = Vec::from([desk.artifact_ref(artifact)?]);
    let target = draft.way.as_ref().map(|way| way.target(desk, artifact)).transpose()?;
    target_refs.extend(target.filter(|target| !target_refs.contains(target)));
    let recheck = outcomes.iter().filter_map(|id| OutcomeId::try_from(id.as_str()).ok());
    let rationale = "They are about this artifact, and others depend on them.";
    Ok(RevisionPlanStep {
        step_id: draft.id.clone(),
        step_order: order,
        step_kind: draft.way.as_ref().map_or(StepKind::Revalidate, Way::kind),
        depends_on_step_ids: draft.after.iter().map(|(id, _)| id.clone()).collect(),
        target_refs,
        revalidation_policy: RevisionStepRevalidationPolicy {
            policy_kind: PolicyKind::RevalidateDeclaredDependents,
            outcomes_to_recheck: recheck.collect(),
            closure_policy_ref: None,
            success_hint: None,
            rationale: rationale.to_string(),
            schema_version: V10,
        },
        revalidation_rationale: Some(rationale.to_string()),
        payload: None,
        schema_version: V10,
    })
}

/// A step as a row of its own: the same.
fn based(step: &RevisionPlanStep) -> RevisionPlanStepBase {
    RevisionPlanStepBase {
        step_id: step.step_id.clone(),
        step_order: step.step_order,
        step_kind: step.step_kind,
        depends_on_step_ids: step.depends_on_step_ids.clone(),
        target_refs: step.target_refs.clone(),
        revalidation_policy: step.revalidation_policy.clone(),
        revalidation_rationale: step.revalidation_rationale.clone().unwrap_or_default(),
        schema_version: V10,
    }
}

/// How risky a plan is: by what its worst step may do, how many change something, and what depends on it.
fn risk(safety: Safety, changing: u64, is_stake: bool) -> Number {
    let base = match safety {
        Safety::Mechanical => 10,
        Safety::MeaningBearing => 40,
        Safety::Privileged => 80,
        Safety::ExternalSideEffect => 90,
    };
    let more = changing.saturating_sub(1).saturating_mul(RISK_STEP);
    let whole = base + more + if is_stake { RISK_STAKES } else { 0 };
    hundredths(whole.min(RISK_WHOLE))
}

/// A number of hundredths, as few digits as say it.
fn hundredths(count: u64) -> Number {
    let digits = format!("{}.{:02}", count / RISK_WHOLE, count % RISK_WHOLE);
    decimal(digits.trim_end_matches('0').trim_end_matches('.'))
}

/// Whether a plan of a risk must be verified.
pub(crate) fn is_risky(risk: &Number) -> bool {
    risk.as_f64() >= threshold().as_f64()
}

/// What each step is for.
fn instruct(
    desk: &mut Desk,
    artifact: &str,
    plan: &str,
    outcomes: &[(Outcome, Vec<Way>)],
    drafts: &[Draft],
) -> Result<(), Error> {
    let kind = desk.task().artifact(artifact).map(|one| one.kind.as_str().to_string());
    let wanted: Vec<(&Outcome, BTreeSet<Way>)> =
        outcomes.iter().map(|(one, ways)| (one, ways.iter().map(whatever).collect())).collect();
    for draft in drafts {
        desk.put(&TypedRevisionInstruction {
            instruction_id: desk.id("instruction"),
            revalidation_policy_ref: reference("RevisionPlanStepBase", &draft.id)?,
            schema_version: V11,
            step_id: Some(draft.id.clone()),
            plan_id: Some(plan.to_string()),
        })?;
        let Some(way) = &draft.way else { continue };
        for (outcome, _) in wanted.iter().filter(|(_, ways)| ways.contains(&whatever(way))) {
            desk.put(&OutcomeRepairInstruction {
                instruction_id: desk.id("repair"),
                outcome_id: desk.own(&outcome.id),
                run_id: desk.run().to_string(),
                strategy_kind: way.strategy(),
                safety_class: way.safety(desk),
                target_ref: way.target(desk, artifact)?,
                target_port: Some(PortRef {
                    module_id: DRAFTER.to_string(),
                    port_id: REVISION_PORT.to_string(),
                }),
                execution: RepairExecution::Executes,
                artifact_kind: kind.clone(),
                created_at: desk.now(),
                schema_version: Some(V10),
            })?;
        }
    }
    Ok(())
}

/// The keys that plans are put in order by.
const KEYS: [&str; 6] = [
    "required_for_overall_pass",
    "high_stakes",
    "outcome_priority",
    "plan_risk_score",
    "estimated_lock_duration_ms",
    "deterministic_final_key",
];

/// Which of several plans goes first.
fn order(desk: &mut Desk, profiles: Vec<RevisionPlanConcurrencyProfile>) -> Result<Vec<String>, Error> {
    let decision_id = desk.id("order");
    let input_refs: Vec<StorageRef> =
        profiles.iter().map(|one| reference("RevisionPlan", &one.plan_id)).collect::<Result<_, _>>()?;
    let from = From {
        formula: "concurrency_tie_break_v1",
        inputs: Object::from([("profiles", profiles.write().unwrap_or(Json::Null))]),
        input_refs,
        output_ref: reference("TieBreakDecision", &decision_id)?,
    };
    let derived = desk.derive_whole(from)?.value;
    let order: Vec<String> = derived
        .as_array()
        .unwrap_or_default()
        .iter()
        .filter_map(|one| one.as_str().map(ToString::to_string))
        .collect();
    desk.put(&TieBreakDecision {
        decision_id,
        profiles,
        order: order.clone(),
        keys_used: Some(KEYS.iter().map(ToString::to_string).collect()),
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    Ok(order)
}
