//! What is looked at again after the work has changed.
//! Owns: what cascades and their receipts must be. Must not: look.

use super::{CHECK, Plan};
use crate::case::{Case, bare};
use crate::found::{Found, texts};
use crate::task::Artifact;
use crate::walk::Walk;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_govern::derive::cascade::Cascade;
use countersign_govern::derive::graph::Graph;
use countersign_govern::member::Member;
use countersign_govern::types::wire::Wire;
use countersign_govern::world::Record;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};

/// Outcomes that may rest on each other in a row.
const DEPTH_MAX: u64 = 200;

/// Each outcome with each that it rests on.
fn edges<'p>(case: &Case<'p>) -> Vec<(&'p str, &'p str)> {
    let all = case.task.outcomes();
    all.flat_map(|one| one.depends_on().into_iter().map(move |other| (one.id(), other))).collect()
}

/// The outcomes of an artifact, and all that rests on them.
pub(super) fn touched<'p>(case: &Case<'p>, artifact: Artifact<'_>) -> Vec<&'p str> {
    let is_own = |id: &&str| {
        let outcome = case.task.outcome(id);
        outcome.and_then(|one| case.task.artifact_of(one)).is_some_and(|one| one.id() == artifact.id())
    };
    let ids: Vec<&str> = case.task.outcomes().map(|one| one.id()).collect();
    let own: BTreeSet<&str> = ids.iter().copied().filter(is_own).collect();
    let upwards = Graph::new(own.iter().copied(), edges(case).into_iter().map(|(one, other)| (other, one)));
    let reached: BTreeSet<&str> = own.iter().flat_map(|one| upwards.reachable(one)).collect();
    ids.into_iter().filter(|one| own.contains(one) || reached.contains(one)).collect()
}

/// Whether an outcome was met when a plan was made, and is not any more.
pub(super) fn regressed(walk: &Walk<'_, '_>, plan: &Plan<'_>) -> bool {
    let case = walk.case;
    touched(case, plan.artifact).into_iter().any(|id| {
        let own = case.own(id);
        let moves = case.until("OutcomeStateTransitionEvent", plan.record.seq());
        let before = moves.filter(|one| one.json().is("outcome_id", &own)).last();
        walk.says("outcome_record", &own, "state") == Some("regressed")
            && before.is_some_and(|one| one.json().is("to_state", "satisfied"))
    })
}

/// The plan whose last step a receipt is of.
fn plan_of<'c>(case: &'c Case<'_>, receipt: Record<'_>) -> Option<Plan<'c>> {
    let plan = Plan::find(case, receipt.json().text("plan_id")?)?;
    let step = plan.step(receipt.json().text("step_id")?)?;
    let is_end = step.is("step_kind", "revalidate") && receipt.json().is("operation_kind", "step_finished");
    is_end.then_some(plan)
}

/// A cascade begins with an outcome of the plan whose last step was taken, and ends with all that rests on it.
pub(crate) fn cascade<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, place) = (walk.case, record.seq());
    let none: [&str; 0] = [];
    if let Some(first) = case.before("RevalidationCascadeRun", record.id(), place) {
        let mut expected = first.json().as_object().cloned().unwrap_or_default();
        let origin = first.json().text("origin_outcome_id").unwrap_or_default();
        let run = Cascade::run(edges(case), case.local(origin), DEPTH_MAX);
        let visited: Vec<String> = run.visited().iter().map(|id| case.own(id)).collect();
        expected.insert("visited_outcome_ids", texts(&visited));
        expected.insert("active_outcome_ids", texts(&none));
        expected.insert("depth", run.depth().write().unwrap_or(Json::Null));
        return found.must_be(CHECK, record, &expected, &[]);
    }
    let receipts = case.until("RevisionOperationReceipt", place);
    let ends = receipts.filter_map(|one| Some((one, plan_of(case, one)?)));
    let Some((receipt, plan)) = ends.last() else {
        return walk.underivable(CHECK, record, "no plan has anything looked at again", found);
    };
    let receipt_ref = format!("revision_operation_receipt:{}", receipt.id());
    let before: BTreeSet<&str> = case
        .until("RevalidationCascadeRun", place)
        .filter(|one| one.json().is("originating_receipt_ref", &receipt_ref))
        .map(Record::id)
        .collect();
    let ids = plan.record.json().texts("outcome_ids");
    let Some(origin) = ids.get(before.len()) else {
        let message = "every outcome of the plan has its cascade";
        return found.about(Code::VerifyDerivation, CHECK, record, "", message);
    };
    let at = case.row(record).map_or(Json::Null, |row| Json::from(row.at.as_str()));
    let expected = Object::from([
        ("originating_receipt_ref", Json::from(receipt_ref)),
        ("task_id", case.task.id().into()),
        ("run_id", case.run.as_str().into()),
        ("origin_outcome_id", (*origin).into()),
        ("visited_outcome_ids", texts(&none)),
        ("active_outcome_ids", texts(&[origin])),
        ("depth", 0_u64.write().unwrap_or(Json::Null)),
        ("max_depth", DEPTH_MAX.write().unwrap_or(Json::Null)),
        ("status", "running".into()),
        ("created_at", at),
        ("schema_version", "1.0".into()),
    ]);
    found.must_be(CHECK, record, &expected, &["cascade_run_id"]);
}

/// A cascade rests when all that it reached was looked at.
pub(crate) fn rested<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, place) = (walk.case, record.seq());
    // The cascade that came to rest is told right before, unless it was cut off.
    let id = record.json().text("cascade_run_id").unwrap_or_default();
    let last = case.last("RevalidationCascadeRun", place);
    let told = last.filter(|one| one.seq() + 1 == place);
    let Some(run) = told.or_else(|| case.before("RevalidationCascadeRun", id, place)) else {
        return walk.underivable(CHECK, record, "there is no such cascade", found);
    };
    found.must_say(CHECK, record, "cascade_run_id", bare(run.id()));
    let status = if told.is_some() { "quiescent" } else { "aborted" };
    found.must_say(CHECK, record, "status", status);
    let visited: Vec<String> =
        run.json().texts("visited_outcome_ids").into_iter().map(String::from).collect();
    found.must_list(CHECK, record, "affected_outcome_ids", &visited);
}
