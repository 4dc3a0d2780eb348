//! Mending what falls short: plans with their steps, and what moved a plan.
//! Owns: what these records must be, given the ways that the revisor chose. Must not: choose a way.

mod attempt;
mod cascade;
mod ending;
pub(crate) mod review;
mod step;

pub(crate) use attempt::{consumed, coverage, coverage_inputs, cycles, signal, signal_inputs, tried};
pub(crate) use cascade::{cascade, rested};
pub(crate) use ending::{
    all_given_up, detected, detection_inputs, ended, gap, given_up, shown_of_detection, to_be_verified,
    uninformed,
};
pub(crate) use review::{decided, packet};
pub(crate) use step::{anew, asked_anew, lock, operated, skipped, verified};

use crate::case::{Case, bare};
use crate::claims;
use crate::formula::{Gathered, Ungathered, missing};
use crate::found::{Found, texts};
use crate::report::Check;
use crate::task::{Artifact, Outcome, decimal};
use crate::walk::Walk;
use crate::workspace;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::machine::REVISION;
use countersign_govern::member::Member;
use countersign_govern::reference::Reference;
use countersign_govern::types::wire::Wire;
use countersign_govern::world::Record;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};

const CHECK: Check = Check::Revision;
/// Why a plan has its outcomes looked at again.
const RATIONALE: &str = "They are about this artifact, and others depend on them.";

/// A plan.
pub(crate) struct Plan<'c> {
    pub(crate) record: Record<'c>,
    pub(crate) artifact: Artifact<'c>,
}

impl<'c> Plan<'c> {
    fn of(case: &'c Case<'_>, record: Record<'c>) -> Option<Self> {
        let first = record.json().list("steps").first()?;
        let target = first.list("target_refs").first()?.as_str()?;
        let artifact = case.task.artifact(case.local(bare(target)))?;
        Some(Plan { record, artifact })
    }

    /// The plan of an id.
    pub(crate) fn find(case: &'c Case<'_>, id: &str) -> Option<Self> {
        let record = case.world.versions("RevisionPlan", id).next()?;
        Plan::of(case, record)
    }

    /// The plan that has a step.
    pub(crate) fn of_step(case: &'c Case<'_>, step: &str) -> Option<Self> {
        let mut plans = case.world.of("RevisionPlan");
        let own = plans.find(|one| one.json().list("steps").iter().any(|one| one.is("step_id", step)))?;
        Plan::of(case, own)
    }

    pub(crate) fn steps(&self) -> &'c [Json] {
        self.record.json().list("steps")
    }

    fn step(&self, id: &str) -> Option<&'c Json> {
        self.steps().iter().find(|one| one.is("step_id", id))
    }

    fn reference(&self) -> String {
        format!("revision_plan:{}", self.record.id())
    }

    /// The outcomes that it is for.
    fn outcomes(&self, case: &'c Case<'_>) -> Vec<Outcome<'c>> {
        let ids = self.record.json().texts("outcome_ids");
        ids.into_iter().filter_map(|id| case.task.outcome(case.local(id))).collect()
    }

    /// The versions that its steps made before a place.
    fn products(&self, case: &'c Case<'_>, place: u64) -> Vec<Record<'c>> {
        let own = |one: &Record<'_>| {
            one.json().text("produced_by_step_id").is_some_and(|step| self.step(step).is_some())
        };
        case.until("ArtifactVersion", place).filter(own).collect()
    }

    /// What its next step builds on: what the one before left, or the head.
    fn base(&self, case: &'c Case<'_>, place: u64) -> Option<Record<'c>> {
        self.products(case, place).pop().or_else(|| head(case, self.artifact, place))
    }

    /// The version that a step builds on, and the claim of it that it only cites otherwise, if that is what it does.
    pub(crate) fn cites(&self, case: &'c Case<'_>, step: &str, place: u64) -> Option<(Record<'c>, &'c str)> {
        let step = self.step(step).filter(|one| one.is("step_kind", "format_repair"))?;
        let claim = Some(target(step)).filter(|one| one.starts_with("claim:"))?;
        Some((self.base(case, place)?, claim))
    }

    /// How far it is, before the row that is looked at.
    fn state<'w>(&self, walk: &'w Walk<'_, '_>) -> Option<&'w str> {
        walk.says("revision_plan", self.record.id(), "state")
    }
}

/// The version of an artifact that is the work at a place.
fn head<'c>(case: &'c Case<'_>, artifact: Artifact<'_>, place: u64) -> Option<Record<'c>> {
    claims::current(case, &case.own(artifact.id()), place)
}

/// Whether a step of a kind may change the artifact.
fn is_mutating(step: &Json) -> bool {
    step.is_one_of("step_kind", &["edit_artifact", "regenerate_section", "restructure", "format_repair"])
}

/// What exactly a step is about: the last of what it names.
fn target(step: &Json) -> &str {
    step.list("target_refs").last().and_then(Json::as_str).unwrap_or_default()
}

/// The strategy that a step takes; nothing for one that only has something looked at.
fn strategy(step: &Json) -> Option<&'static str> {
    let is_claim = target(step).starts_with("claim:");
    match (step.text("step_kind")?, is_claim) {
        ("source_research", _) => Some("add_evidence"),
        ("regenerate_section", _) => Some("regenerate"),
        ("edit_artifact", true) => Some("remove_claim"),
        ("edit_artifact", false) => Some("targeted_edit"),
        ("format_repair", _) => Some("mechanical_format_fix"),
        ("verification_request", _) => Some("request_verification"),
        _other => None,
    }
}

/// How much a step may do: all that changes a text may change what it says, and more is at stake where sources are privileged.
fn safety(case: &Case<'_>, step: &Json) -> &'static str {
    let (_, _, is_privileged) = workspace::label(case, 0);
    match (is_mutating(step), is_privileged) {
        (false, _) => "mechanical",
        (true, true) => "privileged",
        (true, false) => "meaning_bearing",
    }
}

/// The worst that the steps of a plan may do.
pub(crate) fn worst(case: &Case<'_>, steps: &[Json]) -> &'static str {
    let all: Vec<&str> = steps.iter().map(|one| safety(case, one)).collect();
    ["privileged", "meaning_bearing"].into_iter().find(|one| all.contains(one)).unwrap_or("mechanical")
}

/// How risky a plan is, in hundredths: by what its worst step may do, how many change something, and what depends on it.
fn risk(case: &Case<'_>, plan: &Plan<'_>) -> Json {
    let steps = plan.steps();
    let base = match worst(case, steps) {
        "mechanical" => 10,
        "meaning_bearing" => 40,
        _privileged => 80,
    };
    let changing = steps.iter().filter(|one| is_mutating(one)).count() as u64;
    let is_stake = plan.outcomes(case).iter().any(|one| one.0.flag("high_stakes").unwrap_or(false));
    let whole = base + changing.saturating_sub(1) * 5 + if is_stake { 20 } else { 0 };
    let digits = format!("{}.{:02}", whole.min(100) / 100, whole.min(100) % 100);
    decimal(digits.trim_end_matches('0').trim_end_matches('.'))
}

/// The steps that a step waits for, and why.
fn waits<'c>(steps: &'c [Json], at: usize) -> Vec<(&'c str, &'static str)> {
    let id = |step: &'c Json| step.text("step_id").unwrap_or_default();
    let (Some(step), Some(before)) = (steps.get(at), steps.get(..at)) else { return Vec::new() };
    if step.is("step_kind", "revalidate") {
        return before.iter().map(|one| (id(one), "requires_output")).collect();
    }
    if !is_mutating(step) {
        return Vec::new();
    }
    let last = before.iter().rfind(|one| is_mutating(one)).map(|one| (id(one), "requires_artifact_version"));
    let is_search = |one: &&Json| one.is("step_kind", "source_research") && target(one) == target(step);
    let is_of_claim = target(step).starts_with("claim:");
    let search = before.iter().find(is_search).filter(|_| is_of_claim);
    last.into_iter().chain(search.map(|one| (id(one), "requires_source_answer"))).collect()
}

/// A step of a plan, with the kind and the target that are given.
fn expected_step(case: &Case<'_>, plan: &Plan<'_>, at: usize, given: &Json) -> Object {
    let artifact = format!("artifact:{}", case.own(plan.artifact.id()));
    let mut targets = Vec::from([artifact]);
    let own = target(given).to_string();
    if !targets.contains(&own) {
        targets.push(own);
    }
    let waits: Vec<&str> = waits(plan.steps(), at).into_iter().map(|(id, _)| id).collect();
    let policy = Object::from([
        ("policy_kind", Json::from("revalidate_declared_dependents")),
        ("outcomes_to_recheck", plan.record.json().at("outcome_ids").cloned().unwrap_or(Json::Null)),
        ("rationale", RATIONALE.into()),
        ("schema_version", "1.0".into()),
    ]);
    Object::from([
        ("step_id", format!("{}.s{}", plan.record.id(), at + 1).into()),
        ("step_order", (at as u64 + 1).write().unwrap_or(Json::Null)),
        ("step_kind", given.at("step_kind").cloned().unwrap_or(Json::Null)),
        ("depends_on_step_ids", texts(&waits)),
        ("target_refs", texts(&targets)),
        ("revalidation_policy", policy.into()),
        ("revalidation_rationale", RATIONALE.into()),
        ("schema_version", "1.0".into()),
    ])
}

/// A step as a row of its own is the step of its plan.
pub(crate) fn step_base<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let Some(plan) = Plan::of_step(walk.case, record.id()) else {
        return walk.underivable(CHECK, record, "no plan has this step", found);
    };
    let at = plan.steps().iter().position(|one| one.is("step_id", record.id())).unwrap_or_default();
    let Some(step) = plan.steps().get(at) else { return };
    found.must_be(CHECK, record, &expected_step(walk.case, &plan, at, step), &[]);
}

/// A plan is for the outcomes of its artifact that fall short, and has its steps in the order in which they wait for each other.
pub(crate) fn plan<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let case = walk.case;
    let Some(plan) = Plan::of(case, record) else {
        return walk.underivable(CHECK, record, "it is about no work product of the task", found);
    };
    let is_own = |one: &Outcome<'_>| {
        let short = walk.says("outcome_record", &case.own(one.id()), "state");
        let artifact = case.task.artifact_of(*one).map(Artifact::id);
        artifact == Some(plan.artifact.id()) && matches!(short, Some("needs_revision" | "regressed"))
    };
    let outcomes: Vec<String> = case.task.outcomes().filter(is_own).map(|one| case.own(one.id())).collect();
    found.must_list(CHECK, record, "outcome_ids", &outcomes);
    found.must_say(CHECK, record, "mutation_mode", "rolling_hash_in_place");
    found.must_say(CHECK, record, "safety_class", worst(case, plan.steps()));
    found.must(CHECK, record, "plan_risk_score", Some(risk(case, &plan)));
    let mut edges = Vec::new();
    for (at, step) in plan.steps().iter().enumerate() {
        let id = step.text("step_id").unwrap_or_default();
        let base = case.before("RevisionPlanStepBase", id, record.seq());
        let expected = base.map(|base| expected_step(case, &plan, at, base.json()).into());
        let path = format!("steps.{at}");
        found.same(Code::VerifyDerivation, CHECK, record, &path, expected, Some(step.clone()));
        for (to, kind) in waits(plan.steps(), at) {
            let edge = Object::from([
                ("from_step_id", Json::from(id)),
                ("to_step_id", to.into()),
                ("edge_kind", kind.into()),
                ("schema_version", "1.0".into()),
            ]);
            edges.push(Json::from(edge));
        }
    }
    found.must(CHECK, record, "dependency_edges", Some(Json::Array(edges)));
    found.must(CHECK, record, "in_place_mutation_locks", None);
}

/// The plan that was made last before a place.
fn last_plan<'c>(walk: &Walk<'c, '_>, place: u64) -> Option<Plan<'c>> {
    walk.case.last("RevisionPlan", place).and_then(|record| Plan::of(walk.case, record))
}

/// Every step of a plan has its instruction, in order.
pub(crate) fn instruction<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let Some(plan) = last_plan(walk, record.seq()) else {
        return walk.underivable(CHECK, record, "there is no plan", found);
    };
    let before = walk.case.until("TypedRevisionInstruction", record.seq());
    let at = before.filter(|one| one.seq() > plan.record.seq()).count();
    let step = plan.steps().get(at).and_then(|one| one.text("step_id"));
    found.must_say(CHECK, record, "plan_id", plan.record.id());
    found.must(CHECK, record, "step_id", step.map(Json::from));
    let base = step.map(|step| format!("revision_plan_step_base:{step}"));
    found.must(CHECK, record, "revalidation_policy_ref", base.map(Json::from));
}

/// What an outcome is mended by is what the step does whose instruction stands before.
pub(crate) fn repair<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let case = walk.case;
    let instruction = case.last("TypedRevisionInstruction", record.seq());
    let step = instruction.and_then(|one| one.json().text("step_id"));
    let plan = last_plan(walk, record.seq());
    let Some((plan, step)) = plan.and_then(|plan| step.and_then(|id| plan.step(id)).map(|step| (plan, step)))
    else {
        return walk.underivable(CHECK, record, "no step of a plan does that", found);
    };
    let port = Object::from([("module_id", Json::from("drafter")), ("port_id", Json::from("revision_in"))]);
    found.must(CHECK, record, "strategy_kind", strategy(step).map(Json::from));
    found.must_say(CHECK, record, "safety_class", safety(case, step));
    found.must_say(CHECK, record, "target_ref", target(step));
    found.must(CHECK, record, "target_port", Some(port.into()));
    found.must_say(CHECK, record, "execution", "executes");
    found.must(CHECK, record, "artifact_kind", plan.artifact.0.at("kind").cloned());
    let outcome = record.json().text("outcome_id").unwrap_or_default();
    found.holds(
        CHECK,
        record,
        "outcome_id",
        plan.record.json().texts("outcome_ids").contains(&outcome),
        "the plan is not for this outcome",
    );
}

/// The last receipt of what was done with a plan, before a place.
fn last_operation<'c>(walk: &Walk<'c, '_>, plan: &str, place: u64) -> Option<Record<'c>> {
    walk.case.until("RevisionOperationReceipt", place).filter(|one| one.json().is("plan_id", plan)).last()
}

/// A plan moves by the receipt that was written last, to where that sends it.
pub(crate) fn moved<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let json = record.json();
    let Some(plan) = json.text("plan_id").and_then(|id| Plan::find(walk.case, id)) else {
        return walk.underivable(CHECK, record, "there is no such plan", found);
    };
    let from = plan.state(walk).unwrap_or_default().to_string();
    let to = json.text("to_state").unwrap_or_default();
    found.must_say(CHECK, record, "from_state", &from);
    if !REVISION.allows(&from, to) {
        let message = "it can't go there from where it stands";
        found.about(Code::VerifyDerivation, CHECK, record, "to_state", message);
    }
    let receipt = match from.as_str() {
        "waiting_hard_call" => walk.case.last("HardCallResolutionReceipt", record.seq()),
        "cascade_running" => walk.case.last("RevalidationCascadeReceipt", record.seq()),
        _operated => last_operation(walk, plan.record.id(), record.seq()),
    };
    let Some(receipt) = receipt else {
        return walk.underivable(CHECK, record, "no receipt moves the plan", found);
    };
    let snake = Reference::read(json.text("receipt_ref").unwrap_or_default()).map(|one| one.kind);
    found.must_say(CHECK, record, "receipt_ref", &format!("{}:{}", receipt.snake(), receipt.id()));
    found.must_say(CHECK, record, "triggered_by_receipt_kind", receipt.kind());
    if let Some(expected) = sent(walk, &plan, receipt, &from).filter(|_| snake == Some(receipt.snake())) {
        found.must_say(CHECK, record, "to_state", expected);
    }
}

/// Where a receipt sends a plan.
fn sent(walk: &Walk<'_, '_>, plan: &Plan<'_>, receipt: Record<'_>, from: &str) -> Option<&'static str> {
    let case = walk.case;
    let json = receipt.json();
    match (receipt.kind(), json.text("operation_kind").unwrap_or_default(), from) {
        ("HardCallResolutionReceipt", ..) => Some(if json.is("selected_option_id", "accept") {
            "dispatch_pending"
        } else {
            "terminal_blocked"
        }),
        ("RevalidationCascadeReceipt", ..) => {
            let is_met = |one: &Outcome<'_>| {
                walk.says("outcome_record", &case.own(one.id()), "state") == Some("satisfied")
            };
            let all = plan.outcomes(case).iter().all(is_met);
            Some(if all { "terminal_satisfied" } else { "regression_detected" })
        }
        (_, "plan_admitted", _) => Some("dispatch_pending"),
        (_, "dispatched", _) => Some("dispatched"),
        (_, "step_started", _) => Some("step_running"),
        (_, "step_finished", "step_receipt_received") => Some("revalidating"),
        (_, "step_finished" | "step_skipped", _) => Some("step_receipt_received"),
        (_, "step_failed", _) => Some("terminal_failed"),
        (_, "hard_call_raised", _) => Some("waiting_hard_call"),
        (_, "revalidation_done", "regression_detected") => Some("terminal_failed"),
        (_, "revalidation_done", _) => {
            Some(if cascade::regressed(walk, plan) { "regression_detected" } else { "cascade_running" })
        }
        _other => None,
    }
}

/// What several plans are put in order by: each as the contract sees it.
pub(crate) fn order_inputs(
    walk: &Walk<'_, '_>,
    id: &str,
    receipt: Record<'_>,
) -> Result<Gathered, Ungathered> {
    let case = walk.case;
    let at = case.row(receipt).map(|row| &row.at);
    let plans = case.until("RevisionPlan", receipt.seq());
    let plans: Vec<Plan<'_>> = plans
        .filter(|one| case.row(*one).map(|row| &row.at) == at)
        .filter_map(|one| Plan::of(case, one))
        .collect();
    if plans.len() < 2 {
        return missing(format!("there are no plans that {id} could put in order"));
    }
    let profile = |plan: &Plan<'_>| {
        let outcomes = plan.outcomes(case);
        let flag = |name: &str| outcomes.iter().any(|one| one.0.flag(name).unwrap_or(false));
        let is_required = outcomes.iter().any(|one| one.0.flag("required").unwrap_or(true));
        let priority = outcomes.iter().filter_map(|one| one.0.count("priority")).min().unwrap_or(0);
        let changing = plan.steps().iter().filter(|one| is_mutating(one)).count() as u64;
        let id = plan.record.id();
        Json::from(Object::from([
            ("plan_id", Json::from(id)),
            ("required_for_overall_pass", is_required.into()),
            ("high_stakes", flag("high_stakes").into()),
            ("outcome_priority", priority.write().unwrap_or(Json::Null)),
            ("plan_risk_score", risk(case, plan)),
            ("estimated_lock_duration_ms", (changing * STEP_MS).write().unwrap_or(Json::Null)),
            ("deterministic_final_key", id.into()),
            ("schema_version", "1.0".into()),
        ]))
    };
    let inputs = Object::from([("profiles", Json::Array(plans.iter().map(profile).collect()))]);
    let input_refs = plans.iter().map(Plan::reference).collect();
    Ok(Gathered { inputs, input_refs })
}

/// Milliseconds that a step is thought to hold its artifact.
const STEP_MS: u64 = 1_000;
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
pub(crate) fn order<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let gathered = match order_inputs(walk, record.id(), record) {
        Ok(gathered) => gathered,
        Err(Ungathered::Withheld) => return found.withheld(CHECK),
        Err(Ungathered::Missing(why)) => return walk.underivable(CHECK, record, why, found),
    };
    found.must(CHECK, record, "order", walk.formulas.value("concurrency_tie_break_v1", &gathered.inputs));
    found.must(CHECK, record, "profiles", gathered.inputs.get("profiles").cloned());
    found.must(CHECK, record, "keys_used", Some(texts(&KEYS)));
}
