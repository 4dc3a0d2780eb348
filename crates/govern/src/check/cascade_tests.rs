//! The other ways in which the codes of cascade fire, and what comes close.

use crate::check::trial::{has_codes_owned, rows_with, world};
use alloc::string::String;
use std::format;
use std::vec;
use std::vec::Vec;

type Row = (&'static str, String);

fn run(status: &str, visited: &str, active: &str, depth: &str) -> Row {
    let lists = format!("'visited_outcome_ids':[{visited}],'active_outcome_ids':[{active}]");
    let head = "'cascade_run_id':'c','run_id':'r','origin_outcome_id':'a','max_depth':2";
    let from = "'originating_receipt_ref':'revision_operation_receipt:o'";
    ("RevalidationCascadeRun", format!("{{{head},{from},{lists},'depth':{depth},'status':'{status}'}}"))
}

fn receipt(status: &str) -> Row {
    ("RevalidationCascadeReceipt", format!("{{'receipt_id':'e','cascade_run_id':'c','status':'{status}'}}"))
}

fn outcome(id: &str, rests_on: &str, state: &str) -> Row {
    let text =
        format!("'outcome_id':'{id}','run_id':'r','depends_on_outcome_ids':[{rests_on}],'state':'{state}'");
    ("OutcomeRecord", format!("{{{text}}}"))
}

fn policy(rejects: bool, on_cycle: &str, rechecks: bool) -> Row {
    let text = format!("'reject_declared_cycles':{rejects},'on_cycle_detected':'{on_cycle}'");
    let recheck = format!("'pending_dependency_state_entry_rechecks_upstream_failure':{rechecks}");
    ("OutcomeDependencyGraphPolicy", format!("{{{text},{recheck}}}"))
}

#[test]
fn declared_rings_are_told_where_the_policy_minds() {
    let ring = || [outcome("a", "'b'", "pending"), outcome("b", "'a'", "pending")];
    let code = &["outcome_dependency_cycle"];
    has_codes_owned(&super::AREA, &[&ring()[..], &[policy(true, "hard_call", false)]].concat(), code);
    has_codes_owned(&super::AREA, &[&ring()[..], &[policy(false, "reject_graph", false)]].concat(), code);
    has_codes_owned(&super::AREA, &[&ring()[..], &[policy(false, "hard_call", false)]].concat(), &[]);
    has_codes_owned(&super::AREA, &ring(), &[]);
    has_codes_owned(&super::AREA, &[outcome("a", "'a'", "pending"), policy(true, "hard_call", false)], code);
    // In another run the outcome of the same name is another one.
    let other = outcome("b", "'a'", "pending").1.replace("'run_id':'r'", "'run_id':'r2'");
    let apart = [outcome("a", "'b'", "pending"), ("OutcomeRecord", other), policy(true, "hard_call", false)];
    has_codes_owned(&super::AREA, &apart, &[]);
}

/// A ring is judged by the policy that was in force when it was closed, whatever that is called.
#[test]
fn a_policy_does_not_judge_what_was_declared_before_it() {
    let named = |id: &str, rejects: bool| {
        let (kind, text) = policy(rejects, "hard_call", false);
        (kind, text.replace("{'reject", &format!("{{'policy_id':'{id}','reject")))
    };
    let own = || outcome("a", "'a'", "pending");
    let [first, last] = [outcome("a", "'b'", "pending"), outcome("b", "'a'", "pending")];
    let joins = outcome("c", "'a'", "pending");
    let towards = outcome("b", "'a','c'", "pending");
    let cases: &[(&[Row], &[u64])] = &[
        (&[named("p", true), own(), named("p", false)], &[2]),
        (&[named("p", true), own(), named("q", false)], &[2]),
        (&[named("p", false), own(), named("p", true)], &[]),
        (&[named("p", false), own(), named("q", true)], &[]),
        (&[named("p", true), first.clone(), named("p", false), last.clone()], &[]),
        (&[named("p", false), first.clone(), named("p", true), last.clone()], &[2, 4]),
        // The ring of two was rejected; that a third one joined it was not.
        (&[named("p", true), first.clone(), towards, named("p", false), joins], &[2, 3]),
        (&[named("p", false), first.clone(), last, named("p", true), first], &[3, 5]),
    ];
    for (rows, expected) in cases {
        assert_eq!(rows_with("outcome_dependency_cycle", &world(rows)), *expected, "{rows:?}");
    }
}

#[test]
fn coming_back_is_told_unless_the_run_says_so() {
    let code = &["revalidation_cascade_loop"];
    let back = [run("running", "'a','b'", "'c'", "1"), run("running", "'a','b','c'", "'a'", "2")];
    has_codes_owned(&super::AREA, &back, code);
    has_codes_owned(&super::AREA, &[&back[..], &[receipt("cycle_detected")]].concat(), &[]);
    has_codes_owned(
        &super::AREA,
        &[&back[..], &[run("cycle_detected", "'a','b','c'", "", "2")]].concat(),
        &[],
    );
    // One that is still being looked at has not been left.
    has_codes_owned(
        &super::AREA,
        &[run("running", "'a'", "'a'", "0"), run("running", "'a','b'", "'a','b'", "1")],
        &[],
    );
    has_codes_owned(&super::AREA, &[run("running", "'a'", "'b','b'", "1")], code);
    // The origin lies on every path, also where it is not told as visited.
    let origin = [run("running", "", "'b'", "1"), run("running", "'b'", "'a'", "2")];
    has_codes_owned(&super::AREA, &origin, code);
    has_codes_owned(&super::AREA, &[run("running", "", "'a'", "0"), run("running", "'a'", "'b'", "1")], &[]);
}

#[test]
fn an_engine_is_told_before_it_writes() {
    let code = "revalidation_cascade_loop";
    let world = world(&[run("cycle_detected", "'a','b','a'", "", "3")]);
    assert!(rows_with(code, &world).is_empty());
    assert_eq!(rows_with(code, &world.at_admission()), [1]);
}

#[test]
fn depth_is_bounded_unless_the_run_says_so() {
    let code = &["revalidation_cascade_max_depth_exceeded"];
    has_codes_owned(&super::AREA, &[run("quiescent", "'a'", "", "2")], &[]);
    has_codes_owned(&super::AREA, &[run("quiescent", "'a'", "", "3")], code);
    has_codes_owned(&super::AREA, &[run("running", "'a'", "", "3"), run("quiescent", "'a'", "", "1")], code);
    has_codes_owned(&super::AREA, &[run("running", "'a'", "", "3"), receipt("max_depth_exceeded")], &[]);
}

#[test]
fn success_waits_for_the_cascade() {
    let code = &["success_marked_before_cascade_quiescent"];
    let done = || ("RevisionOperationReceipt", String::from("{'receipt_id':'o','plan_id':'p'}"));
    let end = |by: &str| {
        let text = format!("'plan_id':'p','to_state':'terminal_satisfied','receipt_ref':'{by}'");
        ("RevisionLifecycleTransitionEvent", format!("{{{text}}}"))
    };
    has_codes_owned(&super::AREA, &[done(), end("revision_operation_receipt:o")], code);
    has_codes_owned(&super::AREA, &[receipt("quiescent"), end("revalidation_cascade_receipt:e")], &[]);
    has_codes_owned(&super::AREA, &[receipt("aborted"), end("revalidation_cascade_receipt:e")], code);
    has_codes_owned(
        &super::AREA,
        &[done(), run("running", "'a'", "", "0"), end(""), receipt("quiescent")],
        code,
    );
    has_codes_owned(
        &super::AREA,
        &[done(), run("running", "'a'", "", "0"), receipt("quiescent"), end("")],
        &[],
    );
    // The last word on the plan's cascades counts.
    let again = |status: &str| {
        let text = receipt(status).1.replace("'receipt_id':'e'", "'receipt_id':'f'");
        ("RevalidationCascadeReceipt", text)
    };
    for (first, then, expected) in
        [("quiescent", "aborted", &code[..]), ("aborted", "quiescent", &[]), ("quiescent", "quiescent", &[])]
    {
        let rows = [done(), run("running", "'a'", "", "0"), receipt(first), again(then), end("")];
        has_codes_owned(&super::AREA, &rows, expected);
    }
    let seen = (
        "RevisionCycleOutcomeObservation",
        String::from("{'outcome_id':'a','run_id':'r','terminal_class':'succeeded'}"),
    );
    has_codes_owned(&super::AREA, &[run("running", "'a'", "", "0"), seen.clone()], code);
    has_codes_owned(&super::AREA, &[run("quiescent", "'a'", "", "0"), seen], &[]);
    let moved = |outcome: &str, to: &str| {
        let text =
            format!("'outcome_id':'{outcome}','run_id':'r','from_state':'evaluating','to_state':'{to}'");
        ("OutcomeStateTransitionEvent", format!("{{{text}}}"))
    };
    let running = || run("running", "'a'", "'b'", "0");
    // It rests only when each has been looked at again.
    has_codes_owned(&super::AREA, &[running(), moved("a", "satisfied")], &[]);
    has_codes_owned(&super::AREA, &[running(), moved("b", "satisfied")], &[]);
}

#[test]
fn nobody_waits_for_what_has_failed() {
    let code = &["pending_dependency_not_rechecked_after_upstream_failure"];
    let step = |id: &str, from: &str, to: &str| {
        let text = format!("{{'outcome_id':'{id}','run_id':'r','from_state':'{from}','to_state':'{to}'}}");
        ("OutcomeStateTransitionEvent", text)
    };
    let steps = |id: &str, way: &[&str]| -> Vec<Row> {
        way.windows(2).map(|pair| step(id, pair[0], pair[1])).collect()
    };
    let rechecks = || policy(false, "hard_call", true);
    let waits = || [rechecks(), outcome("a", "", "evaluating"), outcome("b", "'a'", "pending_dependency")];
    let after = |more: &[Row]| [&waits()[..], more].concat();
    let fails = |failed: &str| match failed {
        "upstream_failure" => steps("a", &["evaluating", "needs_revision", "dirty", failed]),
        failed => steps("a", &["evaluating", failed]),
    };
    has_codes_owned(&super::AREA, &waits(), &[]);
    for failed in super::FAILED {
        has_codes_owned(&super::AREA, &after(&fails(failed)), code);
        // What no way leads to, or from where it is not, has not happened.
        let hidden = [fails(failed), vec![step("b", "pending_dependency", "satisfied")]].concat();
        has_codes_owned(&super::AREA, &after(&hidden), code);
        let hidden = [fails(failed), vec![step("b", "satisfied", "superseded")]].concat();
        has_codes_owned(&super::AREA, &after(&hidden), code);
    }
    has_codes_owned(&super::AREA, &after(&fails("regressed")), &[]);
    // What the last look at it came to says so too.
    let look = |to: &str| {
        let text =
            format!("{{'result_id':'x','outcome_id':'a','run_id':'r','decision':{{'disposition':'{to}'}}}}");
        ("EvaluationResultEnvelope", text)
    };
    has_codes_owned(&super::AREA, &after(&[look("unrecoverable")]), code);
    has_codes_owned(&super::AREA, &after(&[look("needs_revision")]), &[]);
    let again = steps("a", &["evaluating", "needs_revision", "dirty"]);
    has_codes_owned(&super::AREA, &after(&[vec![look("unrecoverable")], again].concat()), &[]);
    let both = [fails("upstream_failure"), vec![step("b", "pending_dependency", "upstream_failure")]];
    has_codes_owned(&super::AREA, &after(&both.concat()), &[]);
    let again = steps("a", &["evaluating", "blocked_by_policy", "dirty"]);
    has_codes_owned(&super::AREA, &after(&again), &[]);
    let blocked = || fails("blocked_by_policy");
    let lifted = || vec![policy(false, "hard_call", false)];
    has_codes_owned(&super::AREA, &after(&[lifted(), blocked()].concat()), &[]);
    // A policy that comes later does not make it right.
    has_codes_owned(&super::AREA, &after(&[blocked(), lifted()].concat()), code);
    // The cascade may still get there.
    has_codes_owned(&super::AREA, &after(&[blocked(), vec![run("running", "'a'", "", "0")]].concat()), &[]);
}
