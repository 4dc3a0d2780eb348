//! The other ways in which the codes of regeneration fire, and what comes close.

use super::super::revision::tests::told;
use crate::bundle::Bundle;
use crate::check::check;
use alloc::string::String;
use countersign_record::json;
use std::format;

type Row = (&'static str, String);

fn check_rows(rows: &[Row], expected: &[&str]) {
    assert_eq!(told(&super::AREA, rows), expected, "{rows:#?}");
}

fn payload(on: &str, hashes: &str) -> Row {
    let text = format!("'step_id':'s','target_ref':'{on}','previous_attempt_hashes':[{hashes}]");
    ("RegenerateRevisionPayload", format!("{{{text}}}"))
}

fn attempt(on: &str, input: &str, output: &str, action: &str, matched: bool) -> Row {
    let text = format!("'step_id':'s','target_ref':'{on}','input_hash':'{input}','output_hash':'{output}'");
    let text = format!("{{{text},'action_taken':'{action}','matched_previous_attempt':{matched}}}");
    ("RegenerateAttemptReceipt", text)
}

const NEW: &str = "accepted_new_output";
const SAME: &str = "rejected_identical_output";

#[test]
fn payloads_name_all_that_came_before() {
    let code = &["regenerate_missing_previous_attempt_hashes"];
    let first = || attempt("artifact:a", "i", "x", NEW, false);
    check_rows(&[payload("artifact:a", "")], code);
    check_rows(&[first(), payload("artifact:a", "'x'")], &[]);
    check_rows(&[first(), payload("artifact:a@2", "'y'")], code);
    check_rows(&[first(), payload("artifact:b", "'y'")], &[]);
    check_rows(&[payload("artifact:a", "'y'"), first()], &[]);
    let tried = "{'step_id':'s','target_ref':'artifact:a','output_signature_hash':'x'}";
    check_rows(&[("ProcedureAttemptRecord", tried.into()), payload("artifact:a", "'y'")], code);
    let plan = |hashes: &str| {
        let payload = format!("{{'revision_intent':'regenerate','previous_attempt_hashes':[{hashes}]}}");
        let step = format!("{{'step_id':'s','target_refs':['artifact:a'],'payload':{payload}}}");
        ("RevisionPlan", format!("{{'plan_id':'p','steps':[{step}]}}"))
    };
    check_rows(&[plan("")], code);
    check_rows(&[first(), plan("'y'")], code);
    check_rows(&[plan("'x'"), first()], &["regenerate_identical_output"]);
}

#[test]
fn what_was_there_before_is_not_new() {
    let code = &["regenerate_identical_output"];
    let before = || payload("artifact:a", "'x'");
    check_rows(&[before(), attempt("artifact:a", "i", "x", SAME, true)], &[]);
    check_rows(&[before(), attempt("artifact:a", "i", "x", SAME, false)], code);
    check_rows(&[before(), attempt("artifact:a", "i", "y", NEW, false)], &[]);
    check_rows(&[before(), attempt("artifact:b", "i", "x", NEW, false)], &[]);
    check_rows(&[attempt("artifact:a", "i", "x", NEW, false), before()], &[]);
    // The latest payload counts.
    let rows = [before(), payload("artifact:a", "'x','y'"), attempt("artifact:a", "i", "y", NEW, true)];
    check_rows(&rows, code);
}

#[test]
fn an_engine_is_told_before_it_writes() {
    let rows = [payload("artifact:a", "'x'"), attempt("artifact:a", "i", "x", SAME, true)];
    let rows = rows.map(|(kind, record)| format!("{{'kind':'{kind}','record':{record}}}")).join(",");
    let text = format!("{{'schema_version':'1.0','rows':[{rows}]}}").replace('\'', "\"");
    let world = Bundle::read(json::parse(text.as_bytes()).unwrap()).unwrap().world();
    let found = check(&world.at_admission());
    assert!(found.iter().any(|one| one.code == "regenerate_identical_output"));
}

#[test]
fn the_same_is_not_tried_again() {
    let code = &["regenerate_loop_after_identical_rejection"];
    let rejected = || attempt("artifact:a", "i", "x", SAME, true);
    check_rows(&[rejected(), attempt("artifact:a", "i", "y", NEW, false)], code);
    check_rows(&[rejected(), rejected()], code);
    check_rows(&[rejected(), attempt("artifact:a", "j", "y", NEW, false)], &[]);
    check_rows(&[rejected(), attempt("artifact:b", "i", "y", NEW, false)], &[]);
    check_rows(&[rejected(), attempt("artifact:a", "i", "x", "escalated", true)], &[]);
    let changed = attempt("artifact:a", "i", "x", "changed_generation_policy", true);
    check_rows(&[rejected(), changed, attempt("artifact:a", "i", "y", NEW, false)], code);
}
