//! The other ways in which the codes of concurrency fire, and what comes close.

use crate::check::trial::has_codes_owned;
use alloc::string::String;
use std::format;

type Row = (&'static str, String);

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
    for key in [
        "created_at",
        "created_at asc",
        "received_at",
        "arrival_time",
        "now",
        "queue_position",
        "submitted_ms",
    ] {
        has_codes_owned(&super::AREA, &[by(key)], code);
    }
    for key in ["estimated_lock_duration_ms", "outcome_priority", "deterministic_final_key"] {
        has_codes_owned(&super::AREA, &[by(key)], &[]);
    }
    let own = |key: &str| ("RevisionPlanConcurrencyProfile", profile("p", 1, "0", key));
    has_codes_owned(&super::AREA, &[own("2026-03-02T08:00:00Z")], code);
    has_codes_owned(&super::AREA, &[own("01ARZ3NDEKTSV4RRFFQ69G5FAV")], &[]);
    // Digits are a time if they are as long as one; a number that counts plans is none.
    for (key, expected) in
        [("1772438400", code as &[&str]), ("1772438400000", code), ("17", &[]), ("0000000017", &[])]
    {
        has_codes_owned(&super::AREA, &[own(key)], expected);
    }
    let called = ("RevisionPlanConcurrencyProfile", profile("1772438400", 1, "0", "1772438400"));
    has_codes_owned(&super::AREA, &[called], &[]);
    has_codes_owned(&super::AREA, &[own("k"), decision(&[profile("p", 1, "0", "k")], "'p'", "")], &[]);
    has_codes_owned(&super::AREA, &[own("k"), decision(&[profile("p", 1, "0", "l")], "'p'", "")], code);
}

#[test]
fn the_safer_plan_goes_first() {
    let code = &["concurrency_tie_breaker_risk_sort_inverted"];
    let three = |order: &str, priority: u8| {
        let plans =
            [profile("p", 1, "0.1", "p"), profile("q", priority, "0.5", "q"), profile("r", 1, "0.9", "r")];
        [decision(&plans, order, "")]
    };
    has_codes_owned(&super::AREA, &three("'p','q','r'", 1), &[]);
    has_codes_owned(&super::AREA, &three("'p','r','q'", 1), code);
    has_codes_owned(&super::AREA, &three("'p','r','q'", 2), &[]);
    // Also where another stands between them.
    has_codes_owned(&super::AREA, &three("'r','q','p'", 2), code);
    has_codes_owned(
        &super::AREA,
        &[decision(&[profile("p", 1, "'NaN'", "p"), profile("q", 1, "0", "q")], "'p','q'", "")],
        &[],
    );
}

#[test]
fn every_plan_has_a_key_of_its_own() {
    let code = &["concurrency_tie_breaker_missing_final_key"];
    has_codes_owned(&super::AREA, &[("RevisionPlanConcurrencyProfile", profile("p", 1, "0", " "))], code);
    let two = |key| [decision(&[profile("p", 1, "0", "k"), profile("q", 2, "0", key)], "'p','q'", "")];
    has_codes_owned(&super::AREA, &two("k"), code);
    has_codes_owned(&super::AREA, &two("l"), &[]);
}
