//! Decisions explained from receipts, and runs put side by side.

use crate::commands::handed_over;
use crate::revisions::under_review;
use crate::stage::{GOOD, Stage};
use countersign_govern::types::wire::Wire;
use countersign_record::json::{self, Json};
use countersign_work::compare::{Compared, Side, compare};
use countersign_work::desk::Desk;
use countersign_work::explain::{decisions, explain};
use countersign_work::texts::{self, Head};

/// A memo with a sentence that no source says.
const BOAT: &str = "# Memo\n\n## Term\n\nThe landlord owns a boat.\n";

fn of_kind(desk: &Desk, kind: &str) -> String {
    let all = decisions(desk);
    let found = all.iter().find(|one| one.decision.as_str().starts_with(kind));
    found.unwrap_or_else(|| panic!("no {kind} in {all:?}")).decision.as_str().to_owned()
}

#[test]
fn a_status_is_explained_by_its_formula_and_what_went_in() {
    let stage = handed_over(GOOD);
    let packet = of_kind(&stage.desk, "task_reliance_packet:");
    let explained = explain(&stage.desk, &packet).unwrap().unwrap();
    assert!(explained.decided.what.starts_with("safe to rely within scope: "), "{explained:?}");
    let formulas: Vec<&str> =
        explained.formulas.iter().filter_map(|one| one.formula.split(' ').next()).collect();
    assert_eq!(formulas, ["reliance_status_v1"]);
    let inputs: Vec<&str> = explained.inputs.iter().map(|one| one.record.as_str()).collect();
    for kind in ["evidence_package:", "evaluation_chain_resolution_receipt:", "policy_evaluation:"] {
        assert!(inputs.iter().any(|one| one.starts_with(kind)), "{kind} {inputs:?}");
    }
    let package = explained.inputs.iter().find(|one| one.what.ends_with("claims stand in the sources"));
    assert!(package.is_some_and(|one| one.seq < explained.decided.seq), "{explained:?}");
    assert_eq!(explained.why.as_deref(), Some("Nothing in the records blocks relying on it."));
    assert_eq!(explained.view.target_decision_ref.as_str(), packet);
    assert_eq!(explained.trace.trace_kind.as_str(), "reliance");
    assert!(explained.checks.iter().any(|one| one.decision == "allow"), "{explained:?}");
    assert_eq!(explain(&stage.desk, "task_reliance_packet:none").unwrap(), None);
    assert_eq!(explain(&stage.desk, "nothing:at all").unwrap(), None);
}

#[test]
fn a_verdict_names_its_outcome_and_what_each_voice_said() {
    let stage = handed_over(BOAT);
    let resolution = of_kind(&stage.desk, "evaluation_chain_resolution_receipt:");
    let explained = explain(&stage.desk, &resolution).unwrap().unwrap();
    assert!(explained.decided.what.starts_with("term-stated: failed"), "{}", explained.decided.what);
    assert_eq!(explained.formulas[0].formula.split(' ').next(), Some("pattern_c_resolution_v1"));
    assert!(!explained.view.finding_refs.is_empty());
    assert!(explained.trace.causal_steps.len() >= 2, "{:?}", explained.trace);
    assert!(explained.checks.iter().any(|one| one.decision == "allow"), "the leave that the run has");
}

#[test]
fn a_command_is_explained_by_who_gave_it_and_what_was_checked() {
    let mut stage = handed_over(GOOD);
    stage.command("reliance.review_packet", "{}", "k1", "ben").unwrap();
    stage.command("reliance.review_packet", "{}", "k2", "ben").unwrap();
    let all = decisions(&stage.desk);
    let [first, second] = [all.len() - 2, all.len() - 1].map(|place| all[place].clone());
    assert_eq!((first.by.as_str(), first.what.as_str()), ("user:ben", "reliance.review_packet: accepted"));
    assert_eq!(second.what, "reliance.review_packet: wrong state");
    let explained = explain(&stage.desk, first.decision.as_str()).unwrap().unwrap();
    let checks: Vec<&str> = explained.checks.iter().map(|one| one.policy.as_str()).collect();
    assert_eq!(checks, ["same_matter", "reviewer_may_decide", "packet_not_stale"]);
    assert!(
        explained.wrote[0].as_str().starts_with("lifecycle_transition_receipt:"),
        "{:?}",
        explained.wrote
    );
    let refused = explain(&stage.desk, second.decision.as_str()).unwrap().unwrap();
    assert_eq!(refused.wrote, []);
    let said = json::to_text(&explained.trace.write().unwrap_or(Json::Null)).unwrap();
    assert!(said.contains("\"hidden_reasoning_included\":false"), "{said}");
}

#[test]
fn an_answer_is_told_with_the_question() {
    let mut stage = under_review();
    let question = stage.question();
    stage.answer(&question, "accept").unwrap();
    let answered = of_kind(&stage.desk, "hard_call_resolution_receipt:");
    let explained = explain(&stage.desk, &answered).unwrap().unwrap();
    assert!(explained.decided.what.ends_with("Accept"), "{}", explained.decided.what);
    assert!(
        explained.inputs.iter().any(|one| one.record.as_str().ends_with(&question)),
        "{:?}",
        explained.inputs
    );
}

fn compared(left: &Stage, right: &Stage) -> Compared {
    let heads = |stage: &Stage| -> Vec<Head> {
        texts::heads(&stage.desk, &|_| Some(stage.text("memo").into_bytes()))
    };
    let (ours, theirs) = (heads(left), heads(right));
    compare(&Side { desk: &left.desk, heads: &ours }, &Side { desk: &right.desk, heads: &theirs }).unwrap()
}

#[test]
fn two_runs_are_compared_part_by_part() {
    let (good, bad) = (handed_over(GOOD), handed_over(BOAT));
    let same = compared(&good, &good);
    assert!(same.is_same());
    assert_eq!((same.diff.artifact_diff_refs.len(), same.diff.reliance_diff_ref), (0, None));
    let differs = compared(&good, &bad);
    assert!(!differs.is_same());
    assert!(differs.artifacts[0].unified.contains("+The landlord owns a boat.\n"), "{:?}", differs.artifacts);
    let changed = |pairs: &[countersign_work::compare::Pair]| {
        pairs.iter().filter(|one| !one.is_same()).map(|one| one.what.clone()).collect::<Vec<_>>()
    };
    assert_eq!(changed(&differs.outcomes), ["term-stated"]);
    assert_eq!(changed(&differs.reliance), ["limitations", "status"]);
    assert!(!changed(&differs.findings).is_empty());
    assert_eq!(differs.diff.artifact_diff_refs.len(), 1);
    assert!(differs.diff.reliance_diff_ref.is_some());
    assert_eq!(differs, compared(&good, &bad), "the same runs give the same names");
}
