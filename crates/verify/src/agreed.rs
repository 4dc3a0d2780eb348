//! What a run understood it has to do, as it was shown before it did it.
//! Owns: what the review of the contract must be. Must not: agree.

use crate::case::{Bytes, Case};
use crate::found::{Found, texts};
use crate::report::Check;
use crate::task::{Outcome, decimal};
use crate::walk::Walk;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_govern::derive::text;
use countersign_govern::member::{Member, number};
use countersign_govern::types::basic::HardRevisionCallKind as Call;
use countersign_govern::world::Record;
use countersign_record::canonical;
use countersign_record::code::Code;
use countersign_record::json::{self, Json, Object};

const CHECK: Check = Check::Task;

/// The contracts that people asked for instead, each with the place of the command that says so: what follows is held to it.
///
/// # Errors
/// The command that has one which is not in the packet: nothing that follows can be derived.
pub(crate) fn edits<'c>(case: &'c Case<'_>) -> Result<Vec<(u64, Json)>, Record<'c>> {
    let accepted: BTreeSet<&str> = case
        .world
        .of("CommandReceipt")
        .filter(|one| one.json().is("status", "accepted"))
        .filter_map(|one| one.json().text("invocation_id"))
        .collect();
    let asked = case.world.of("CommandInvocation").filter(|one| one.json().is("command_id", EDIT));
    // The run takes the task in as it takes in every other: a number has one form.
    let task = |bytes: &[u8]| {
        let task = canonical::to_bytes(json::parse(bytes).ok()?.get("task")?).ok()?;
        json::parse(&task).ok()
    };
    let edit = |one: Record<'c>| match case.content(one) {
        Bytes::Here(bytes) => Ok((one.seq(), task(bytes).ok_or(one)?)),
        Bytes::Withheld | Bytes::Missing => Err(one),
    };
    asked.filter(|one| accepted.contains(one.id())).map(edit).collect()
}

/// The command that changes a contract.
const EDIT: &str = "contract_review.edit";

/// What a criterion asks for is said in other words: those that it had, and those that it has.
pub(crate) fn reworded<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, json) = (walk.case, record.json());
    let id = json.text("criterion_id").unwrap_or_default();
    let was = case.before("CriterionIdentityFields", id, record.seq());
    found.must(
        CHECK,
        record,
        "from_text_hash",
        was.and_then(|one| one.json().at("criterion_text_hash").cloned()),
    );
    let now = case.task.criterion(case.local(id)).map(|one| String::from(text::hash(one.text())));
    found.must(CHECK, record, "to_text_hash", now.map(Json::from));
    found.must_say(CHECK, record, "conclusion", "meaning_changed");
    let asked = case.last("CommandInvocation", record.seq());
    found.must(CHECK, record, "reviewer_ref", asked.and_then(|one| one.json().at("actor_ref").cloned()));
}

/// A review shows the task as it is run.
pub(crate) fn review<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, task) = (walk.case, walk.case.task);
    let criteria: Vec<&str> =
        task.outcomes().flat_map(|one| one.criteria().map(|one| one.text()).collect::<Vec<_>>()).collect();
    let sources: Vec<&str> = task
        .sources()
        .map(|one| one.0.text("title").or_else(|| one.0.text("path")).unwrap_or_default())
        .collect();
    let granted = task.0.texts("capabilities");
    let own: BTreeSet<&str> = task
        .outcomes()
        .flat_map(|one| one.0.texts("capabilities"))
        .chain(granted)
        .chain(["evaluate"])
        .collect();
    let needed = own.into_iter().map(|id| Json::from(Object::from([("capability_id", Json::from(id))])));
    let is_required = case.needs_agreement();
    let forecast = case.last("TaskRunCostForecast", record.seq());
    let forecast = forecast.and_then(|one| one.json().at("planned_cost_vector_ref").cloned());
    let expected = Object::from([
        ("interpreted_goal", task.0.at("goal").cloned().unwrap_or(Json::Null)),
        ("criteria_summary", texts(&criteria)),
        ("source_requirements", texts(&sources)),
        ("required_capabilities", Json::Array(needed.collect())),
        ("hard_call_triggers", texts(&triggers(walk))),
        ("estimated_cost_vector_ref", forecast.unwrap_or(Json::Null)),
        ("user_approval_required", is_required.into()),
        ("approval_status", "pending".into()),
        ("lifecycle_state", "draft".into()),
        ("command_ref", "contract_review.decide".into()),
        ("approval_ref", Json::Null),
    ]);
    found.must_have(CHECK, record, &expected);
    thresholds(walk, record, found);
    // The task is in the packet, whatever bytes are not; one that a person asked for instead may be withheld.
    let hash = canonical::hash(case.task.0).ok();
    let plan = hash.map(|hash| format!("compiled_plan:{}#{hash}", case.own("contract")));
    if !is_hidden(case, record) {
        found.must(CHECK, record, "compiled_plan_ref", plan.map(Json::from));
    }
    match case.content(record) {
        Bytes::Here(bytes) => {
            let hash = json::parse(bytes).ok().map(|one| canonical::hash_as_written(&one));
            let plan = hash.map(|hash| format!("compiled_plan:{}#{hash}", case.own("contract")));
            found.must(CHECK, record, "compiled_plan_ref", plan.map(Json::from));
        }
        Bytes::Withheld => found.withheld(CHECK),
        Bytes::Missing => walk.underivable(CHECK, record, "the contract is not in the packet", found),
    }
}

/// Whether the contract was changed before by a command of which nobody can see what it asked for.
fn is_hidden(case: &Case<'_>, record: Record<'_>) -> bool {
    let mut asked = case.until("CommandInvocation", record.seq());
    asked.any(|one| one.json().is("command_id", EDIT) && case.content(one) == Bytes::Withheld)
}

/// What each outcome must reach; a number may be written in more than one way.
fn thresholds<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let stated = record.json().texts("threshold_summary");
    let outcomes: Vec<Outcome<'_>> = walk.case.task.outcomes().collect();
    let is_said = |(one, text): (&Outcome<'_>, &&str)| {
        let rest = text.strip_prefix(one.statement()).and_then(|rest| rest.strip_prefix(": "));
        rest.is_some_and(|digits| number(&decimal(digits)) == number(&one.threshold()))
    };
    match stated.len() == outcomes.len() && outcomes.iter().zip(&stated).all(is_said) {
        true => found.right(CHECK),
        false => {
            found.about(
                Code::VerifyDerivation,
                CHECK,
                record,
                "threshold_summary",
                "the task says otherwise",
            );
        }
    }
}

/// What a person may be asked on the way.
fn triggers(walk: &Walk<'_, '_>) -> Vec<&'static str> {
    let task = walk.case.task;
    let bases: Vec<&str> =
        task.outcomes().flat_map(|one| one.criteria().map(|one| one.basis()).collect::<Vec<_>>()).collect();
    let is_labelled = bases.iter().any(|one| matches!(*one, "human_label" | "unanchored_llm_judgment"));
    let is_reviewed = task.policy_word("approval.revision", "mechanical_waived") != "waived";
    let is_asked = task.policy_word("claim_support.contradiction", "any_direct_contradiction_controls")
        == "human_review_required";
    let has_budget = task.0.members("budget").is_some_and(|caps| caps.iter().next().is_some());
    let forum = task.0.at("policies.forum");
    let is_deadlocked = forum.is_some_and(|forum| {
        forum.text("no_consensus").unwrap_or("forum_deadlock_hard_call") == "forum_deadlock_hard_call"
    });
    let mut all = BTreeSet::from([
        "contradictory_requirements",
        "no_sufficient_procedure",
        "external_side_effect_approval",
    ]);
    all.extend((is_labelled || is_reviewed).then_some("meaning_change_approval"));
    all.extend(is_asked.then_some("policy_boundary"));
    all.extend(has_budget.then_some("budget_scope_decision"));
    all.extend(is_deadlocked.then_some("forum_deadlock"));
    Call::ALL.iter().map(|one| one.as_str()).filter(|one| all.contains(one)).collect()
}
