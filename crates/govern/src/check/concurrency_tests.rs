//! The other ways in which the codes of concurrency fire, and what comes close.

use super::super::revision::tests::told;
use alloc::string::String;
use std::format;

type Row = (&'static str, String);

fn check_rows(rows: &[Row], expected: &[&str]) {
    assert_eq!(told(&super::AREA, rows), expected, "{rows:#?}");
}

fn profile(plan: &str, priority: u8, risk: &str, key: &str) -> String {
    let head = format!("'plan_id':'{plan}','required_for_overall_pass':false,'high_stakes':false");
    let numbers = format!("'outcome_priority':{priority},'plan_risk_score':{risk}");
    format!("{{{head},{numbers},'estimated_lock_duration_ms':1,'deterministic_final_key':'{key}'}}")
}

fn decision(profiles: &[String], order: &str, more: &str) -> Row {
    let profiles = profiles.join(",");
    ("TieBreakDecision", format!("{{'profiles':[{profiles}],'order':[{order}]{more}}}"))
}

#[test]
fn no_clock_decides() {
    let code = &["concurrency_tie_breaker_uses_wall_clock"];
    let by = |key: &str| decision(&[], "", &format!(",'keys_used':['plan_risk_score','{key}']"));
    for key in ["created_at", "created_at asc", "received_at", "arrival_time", "now"] {
        check_rows(&[by(key)], code);
    }
    for key in ["estimated_lock_duration_ms", "outcome_priority", "deterministic_final_key"] {
        check_rows(&[by(key)], &[]);
    }
    let own = |key: &str| ("RevisionPlanConcurrencyProfile", profile("p", 1, "0", key));
    check_rows(&[own("2026-03-02T08:00:00Z")], code);
    check_rows(&[own("01ARZ3NDEKTSV4RRFFQ69G5FAV")], &[]);
    check_rows(&[own("k"), decision(&[profile("p", 1, "0", "k")], "'p'", "")], &[]);
    check_rows(&[own("k"), decision(&[profile("p", 1, "0", "l")], "'p'", "")], code);
}

#[test]
fn the_safer_plan_goes_first() {
    let code = &["concurrency_tie_breaker_risk_sort_inverted"];
    let three = |order: &str, priority: u8| {
        let plans =
            [profile("p", 1, "0.1", "p"), profile("q", priority, "0.5", "q"), profile("r", 1, "0.9", "r")];
        [decision(&plans, order, "")]
    };
    check_rows(&three("'p','q','r'", 1), &[]);
    check_rows(&three("'p','r','q'", 1), code);
    check_rows(&three("'p','r','q'", 2), &[]);
    // Also where another stands between them.
    check_rows(&three("'r','q','p'", 2), code);
    check_rows(&[decision(&[profile("p", 1, "'NaN'", "p"), profile("q", 1, "0", "q")], "'p','q'", "")], &[]);
}

#[test]
fn every_plan_has_a_key_of_its_own() {
    let code = &["concurrency_tie_breaker_missing_final_key"];
    check_rows(&[("RevisionPlanConcurrencyProfile", profile("p", 1, "0", " "))], code);
    let two = |key| [decision(&[profile("p", 1, "0", "k"), profile("q", 2, "0", key)], "'p','q'", "")];
    check_rows(&two("k"), code);
    check_rows(&two("l"), &[]);
}
