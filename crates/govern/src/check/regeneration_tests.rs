//! The other ways in which the codes of regeneration fire, and what comes close.

use crate::check::trial::{has_codes_owned, rows_with, world};
use alloc::string::String;
use std::format;

type Row = (&'static str, String);

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
    has_codes_owned(&super::AREA, &[payload("artifact:a", "")], code);
    has_codes_owned(&super::AREA, &[first(), payload("artifact:a", "'x'")], &[]);
    has_codes_owned(&super::AREA, &[first(), payload("artifact:a@2", "'y'")], code);
    has_codes_owned(&super::AREA, &[first(), payload("artifact:b", "'y'")], &[]);
    has_codes_owned(&super::AREA, &[payload("artifact:a", "'y'"), first()], &[]);
    let tried = "{'step_id':'s','target_ref':'artifact:a','output_signature_hash':'x'}";
    has_codes_owned(
        &super::AREA,
        &[("ProcedureAttemptRecord", tried.into()), payload("artifact:a", "'y'")],
        code,
    );
    let plan = |hashes: &str| {
        let payload = format!("{{'revision_intent':'regenerate','previous_attempt_hashes':[{hashes}]}}");
        let step = format!("{{'step_id':'s','target_refs':['artifact:a'],'payload':{payload}}}");
        ("RevisionPlan", format!("{{'plan_id':'p','steps':[{step}]}}"))
    };
    has_codes_owned(&super::AREA, &[plan("")], code);
    has_codes_owned(&super::AREA, &[first(), plan("'y'")], code);
    has_codes_owned(&super::AREA, &[plan("'x'"), first()], &["regenerate_identical_output"]);
    has_codes_owned(&super::AREA, &[plan("'X'"), first()], &["regenerate_identical_output"]);
}

#[test]
fn what_was_there_before_is_not_new() {
    let code = &["regenerate_identical_output"];
    let before = || payload("artifact:a", "'x'");
    has_codes_owned(&super::AREA, &[before(), attempt("artifact:a", "i", "x", SAME, true)], &[]);
    has_codes_owned(&super::AREA, &[before(), attempt("artifact:a", "i", "x", SAME, false)], code);
    has_codes_owned(&super::AREA, &[before(), attempt("artifact:a", "i", "y", NEW, false)], &[]);
    has_codes_owned(&super::AREA, &[before(), attempt("artifact:b", "i", "x", NEW, false)], &[]);
    has_codes_owned(&super::AREA, &[attempt("artifact:a", "i", "x", NEW, false), before()], &[]);
    // The latest payload counts.
    let rows = [before(), payload("artifact:a", "'x','y'"), attempt("artifact:a", "i", "y", NEW, true)];
    has_codes_owned(&super::AREA, &rows, code);
}

#[test]
fn an_engine_is_told_before_it_writes() {
    let rows = [payload("artifact:a", "'x'"), attempt("artifact:a", "i", "x", SAME, true)];
    assert_eq!(rows_with("regenerate_identical_output", &world(&rows).at_admission()), [2]);
}

#[test]
fn the_same_is_not_tried_again() {
    let code = &["regenerate_loop_after_identical_rejection"];
    let rejected = || attempt("artifact:a", "i", "x", SAME, true);
    has_codes_owned(&super::AREA, &[rejected(), attempt("artifact:a", "i", "y", NEW, false)], code);
    has_codes_owned(&super::AREA, &[rejected(), rejected()], code);
    has_codes_owned(&super::AREA, &[rejected(), attempt("artifact:a", "j", "y", NEW, false)], &[]);
    has_codes_owned(&super::AREA, &[rejected(), attempt("artifact:b", "i", "y", NEW, false)], &[]);
    has_codes_owned(&super::AREA, &[rejected(), attempt("artifact:a", "i", "x", "escalated", true)], &[]);
    let changed = attempt("artifact:a", "i", "x", "changed_generation_policy", true);
    has_codes_owned(&super::AREA, &[rejected(), changed, attempt("artifact:a", "i", "y", NEW, false)], code);
}
