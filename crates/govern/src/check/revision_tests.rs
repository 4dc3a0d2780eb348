//! The other ways in which the codes of revision fire, and what comes close.

use crate::bundle::Bundle;
use crate::check::check;
use crate::check::trial::has_codes_owned;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::{self, Json};
use std::format;
use std::path::Path;

type Row = (&'static str, String);

fn op(id: &str, kind: &str, step: &str) -> Row {
    let key = "'run_id':'r','plan_id':'p','attempt_class':'first','step_kind':'edit_artifact'";
    let key = format!("'idempotency_key':{{{key},'step_id':'{step}'}}");
    let text =
        format!("{{'receipt_id':'{id}','plan_id':'p','step_id':'{step}','operation_kind':'{kind}',{key}}}");
    ("RevisionOperationReceipt", text)
}

fn bare(kind: &str, more: &str) -> Row {
    let text = format!("{{'plan_id':'p','step_id':'s','operation_kind':'{kind}'{more}}}");
    ("RevisionOperationReceipt", text)
}

fn cascade(status: &str) -> Row {
    ("RevalidationCascadeReceipt", format!("{{'receipt_id':'c','cascade_run_id':'x','status':'{status}'}}"))
}

fn event(from: &str, to: &str, kind: &str, receipt: &str) -> Row {
    let states = format!("'plan_id':'p','from_state':'{from}','to_state':'{to}'");
    let by = format!("'triggered_by_receipt_kind':'{kind}','receipt_ref':'{receipt}'");
    ("RevisionLifecycleTransitionEvent", format!("{{{states},{by}}}"))
}

fn by_op(from: &str, to: &str) -> Row {
    event(from, to, "RevisionOperationReceipt", "revision_operation_receipt:o")
}

/// A plan on its way until its cascade runs; its receipt `o` stands in for all.
fn until_cascade() -> Vec<Row> {
    let way = [
        "plan_compiled",
        "dispatch_pending",
        "dispatched",
        "step_running",
        "step_receipt_received",
        "revalidating",
        "cascade_running",
    ];
    let moves = way.windows(2).map(|pair| by_op(pair[0], pair[1]));
    [op("o", "revalidation_done", "s")].into_iter().chain(moves).collect()
}

const ILLEGAL: &[&str] = &["revision_lifecycle_illegal_transition"];
const NO_RECEIPT: &[&str] = &["revision_lifecycle_missing_receipt"];
const WRONG_END: &[&str] = &["terminal_state_without_terminal_receipt"];

#[test]
fn a_transition_has_one_flaw_at_most() {
    let admitted = || op("o", "plan_admitted", "s");
    let first = |kind, receipt| event("plan_compiled", "dispatch_pending", kind, receipt);
    has_codes_owned(&super::AREA, &[admitted(), by_op("plan_compiled", "dispatch_pending")], &[]);
    has_codes_owned(&super::AREA, &[admitted(), by_op("dispatched", "step_running")], ILLEGAL);
    has_codes_owned(&super::AREA, &[admitted(), by_op("plan_compiled", "dispatched")], ILLEGAL);
    let skip = || ("TaskSkipReceipt", String::from("{'skip_id':'k'}"));
    has_codes_owned(&super::AREA, &[skip(), first("TaskSkipReceipt", "task_skip_receipt:k")], ILLEGAL);
    has_codes_owned(
        &super::AREA,
        &[skip(), first("RevisionOperationReceipt", "task_skip_receipt:k")],
        NO_RECEIPT,
    );
    has_codes_owned(
        &super::AREA,
        &[admitted(), first("RevisionOperationReceipt", "revision_operation_receipt:x")],
        NO_RECEIPT,
    );
    has_codes_owned(&super::AREA, &[admitted(), first("RevisionOperationReceipt", "")], NO_RECEIPT);
    has_codes_owned(&super::AREA, &[by_op("plan_compiled", "dispatch_pending"), admitted()], NO_RECEIPT);
    // What is over stays over, and one fault is told once.
    let over = [op("o", "plan_rejected", "s"), by_op("plan_compiled", "terminal_failed")];
    has_codes_owned(&super::AREA, &over, &[]);
    has_codes_owned(
        &super::AREA,
        &[&over[..], &[by_op("terminal_failed", "dispatch_pending")]].concat(),
        ILLEGAL,
    );
}

#[test]
fn a_plan_ends_by_the_receipt_that_may_end_it() {
    let by_cascade = |status, to| {
        let end =
            event("cascade_running", to, "RevalidationCascadeReceipt", "revalidation_cascade_receipt:c");
        [until_cascade(), Vec::from([cascade(status), end])].concat()
    };
    has_codes_owned(&super::AREA, &by_cascade("quiescent", "terminal_satisfied"), &[]);
    has_codes_owned(&super::AREA, &by_cascade("cycle_detected", "terminal_blocked"), &[]);
    has_codes_owned(&super::AREA, &by_cascade("aborted", "terminal_failed"), &[]);
    has_codes_owned(&super::AREA, &by_cascade("cycle_detected", "terminal_satisfied"), WRONG_END);
    has_codes_owned(&super::AREA, &by_cascade("running", "terminal_satisfied"), WRONG_END);
    has_codes_owned(&super::AREA, &by_cascade("quiescent", "terminal_failed"), WRONG_END);
    has_codes_owned(&super::AREA, &by_cascade("aborted", "cancelled"), WRONG_END);
    let by_op = |end| [until_cascade(), Vec::from([by_op("cascade_running", end)])].concat();
    has_codes_owned(&super::AREA, &by_op("terminal_satisfied"), WRONG_END);
    let rejected = [op("o", "plan_admitted", "s"), super::tests::by_op("plan_compiled", "terminal_failed")];
    has_codes_owned(&super::AREA, &rejected, WRONG_END);
}

/// A plan with these steps: id, kind, artifact, what it waits for, more members.
fn plan(mode: &str, steps: &[(&str, &str, &str, &str, &str)], more: &str) -> Row {
    let step = |(id, kind, on, waits, more): &(&str, &str, &str, &str, &str)| {
        let waits = waits.split_whitespace().map(|id| format!("'{id}'")).collect::<Vec<_>>().join(",");
        let head = format!("'step_id':'{id}','step_kind':'{kind}','target_refs':['{on}']");
        format!("{{{head},'depends_on_step_ids':[{waits}]{more}}}")
    };
    let steps = steps.iter().map(step).collect::<Vec<_>>().join(",");
    let text = format!("{{'plan_id':'p','run_id':'r','mutation_mode':'{mode}','steps':[{steps}]{more}}}");
    ("RevisionPlan", text)
}

fn one_step() -> Row {
    plan("candidate_only", &[("s", "edit_artifact", "artifact:a", "", "")], "")
}

fn key(kind: &str, class: &str, more: &str) -> Row {
    let text = "'run_id':'r','plan_id':'p','step_id':'s'";
    ("StepIdempotencyKey", format!("{{{text},'step_kind':'{kind}','attempt_class':'{class}'{more}}}"))
}

#[test]
fn each_attempt_has_a_key() {
    let missing = &["step_idempotency_key_missing"];
    let first = || key("edit_artifact", "first", "");
    let again = || key("edit_artifact", "retry", ",'previous_attempt_hash':'h'");
    let start = || bare("step_started", "");
    has_codes_owned(&super::AREA, &[one_step(), first(), start(), bare("step_finished", "")], &[]);
    has_codes_owned(&super::AREA, &[one_step(), bare("plan_admitted", "")], &[]);
    has_codes_owned(&super::AREA, &[start()], &[]);
    has_codes_owned(&super::AREA, &[one_step(), start(), first()], missing);
    has_codes_owned(&super::AREA, &[one_step(), first(), start(), start()], missing);
    has_codes_owned(&super::AREA, &[one_step(), first(), first(), start(), start()], missing);
    has_codes_owned(&super::AREA, &[one_step(), first(), start(), again(), start()], &[]);
    has_codes_owned(&super::AREA, &[one_step(), op("o", "step_started", "s"), again(), start()], &[]);
    has_codes_owned(&super::AREA, &[key("edit_artifact", "retry", "")], missing);
    let elsewhere = ("StepIdempotencyKey", String::from("{'run_id':'r2','plan_id':'p','step_id':'s'}"));
    has_codes_owned(&super::AREA, &[one_step(), elsewhere, start()], missing);
}

#[test]
fn keys_are_of_the_kind_of_their_step() {
    let drift = &["step_idempotency_parallel_enum_drift"];
    has_codes_owned(&super::AREA, &[one_step(), key("restructure", "first", "")], drift);
    // A kind that nobody knows is told as that, and not twice.
    has_codes_owned(
        &super::AREA,
        &[one_step(), key("polish", "first", "")],
        &["step_idempotency_kind_unregistered"],
    );
    let own =
        ("RevisionPlanStepBase", "{'step_id':'s','step_kind':'revalidate','depends_on_step_ids':[]}".into());
    has_codes_owned(&super::AREA, &[own, key("restructure", "first", "")], drift);
    let list = |status| ("TypeOwnerRegistryEntry", format!("{{'type_name':'StepKind','status':'{status}'}}"));
    has_codes_owned(&super::AREA, &[list("canonical")], drift);
    has_codes_owned(&super::AREA, &[list("retired")], &[]);
}

const ROLLING: &str = "rolling_hash_in_place";

#[test]
fn steps_in_place_hold_a_lock_that_says_what_they_found() {
    let missing = &["in_place_lock_missing_expected_pre_hash"];
    let rolling = |kind, more| plan(ROLLING, &[("s", kind, "artifact:a", "", "")], more);
    let lock = |hash| ("InPlaceMutationLock", format!("{{'step_id':'s','expected_pre_hash':'{hash}'}}"));
    let start = || op("o", "step_started", "s");
    has_codes_owned(&super::AREA, &[rolling("edit_artifact", ""), lock("h"), start()], &[]);
    has_codes_owned(&super::AREA, &[rolling("edit_artifact", ""), start()], missing);
    has_codes_owned(&super::AREA, &[rolling("edit_artifact", ""), start(), lock("h")], missing);
    has_codes_owned(&super::AREA, &[rolling("edit_artifact", "")], &[]);
    has_codes_owned(&super::AREA, &[one_step(), start()], &[]);
    let asks = plan(ROLLING, &[("s", "hard_call", "artifact:a", "", "")], "");
    has_codes_owned(&super::AREA, &[asks, bare("hard_call_raised", "")], &[]);
    let planned = ",'in_place_mutation_locks':[{'step_id':'s','expected_pre_hash':'h'}]";
    has_codes_owned(&super::AREA, &[rolling("edit_artifact", planned), start()], &[]);
    let other = bare("step_failed", ",'expected_pre_hash':'x'");
    has_codes_owned(&super::AREA, &[rolling("edit_artifact", planned), start(), other], missing);
}

#[test]
fn steps_in_place_run_one_after_the_other() {
    let parallel = &["rolling_hash_parallel_steps_same_artifact"];
    let locks = ",'in_place_mutation_locks':[{'step_id':'s','expected_pre_hash':'h'},{'step_id':'t','expected_pre_hash':'h'}]";
    let two = |mode, on| {
        plan(
            mode,
            &[("s", "edit_artifact", "artifact:a", "", ""), ("t", "edit_artifact", on, "s", "")],
            locks,
        )
    };
    let version = || ("ArtifactVersion", "{'artifact_version_id':'v','artifact_stable_id':'a'}".into());
    let start = |step| op("o", "step_started", step);
    has_codes_owned(&super::AREA, &[two(ROLLING, "artifact:a"), start("s"), start("t")], parallel);
    has_codes_owned(
        &super::AREA,
        &[version(), two(ROLLING, "artifact_version:v"), start("s"), start("t")],
        parallel,
    );
    has_codes_owned(
        &super::AREA,
        &[two(ROLLING, "artifact:a"), start("s"), op("o", "step_finished", "s"), start("t")],
        &[],
    );
    has_codes_owned(
        &super::AREA,
        &[two(ROLLING, "artifact:a"), start("s"), op("o", "hard_call_raised", "s"), start("t")],
        &[],
    );
    // A receipt that names neither its plan nor what it is for is of a step that ran, and of the one plan that has the step.
    let untold = |step: &str| {
        let (kind, text) = op("o", "step_started", step);
        (kind, text.replacen("'plan_id':'p',", "", 1).replace("'operation_kind':'step_started',", ""))
    };
    has_codes_owned(&super::AREA, &[two(ROLLING, "artifact:a"), start("s"), untold("t")], parallel);
    has_codes_owned(&super::AREA, &[two(ROLLING, "artifact:a"), untold("s"), untold("t")], &[]);
    has_codes_owned(&super::AREA, &[two(ROLLING, "artifact:b"), start("s"), start("t")], &[]);
    has_codes_owned(&super::AREA, &[two("candidate_only", "artifact:a"), start("s"), start("t")], &[]);
}

#[test]
fn steps_on_one_artifact_stand_in_a_row() {
    let missing = &["rolling_hash_same_artifact_dependency_missing"];
    let on = |waits: [&'static str; 4]| {
        let steps = ["a", "b", "c", "d"].map(|id| (id, "edit_artifact", "artifact:x"));
        let steps: Vec<_> =
            steps.iter().zip(waits).map(|((id, kind, on), waits)| (*id, *kind, *on, waits, "")).collect();
        [plan(ROLLING, &steps, "")]
    };
    has_codes_owned(&super::AREA, &on(["", "a", "b", "c"]), &[]);
    has_codes_owned(&super::AREA, &on(["d", "a", "b", ""]), &[]);
    has_codes_owned(&super::AREA, &on(["", "a", "a", "b c"]), missing);
    // Those that wait for each other are in a row of their own kind; that is told as a ring.
    has_codes_owned(&super::AREA, &on(["b", "a", "b", "c"]), &["revision_plan_cycle"]);
    has_codes_owned(&super::AREA, &on(["b", "a", "b", "b"]), &["revision_plan_cycle", missing[0]]);
}

#[test]
fn plans_do_not_tell_what_comes_out() {
    let predicted = &["revision_plan_contains_predicted_post_hash"];
    let locks = ",'in_place_mutation_locks':[{'step_id':'s','expected_post_hash':'h'}]";
    has_codes_owned(&super::AREA, &[plan("candidate_only", &[], locks)], predicted);
    has_codes_owned(&super::AREA, &[plan("candidate_only", &[], ",'predicted_post_hash':'h'")], predicted);
    has_codes_owned(&super::AREA, &[plan("candidate_only", &[], ",'predicted_post_hash':null")], &[]);
    let deep = ",'payload':{'edits':[{'post_hash':'h'}]}";
    has_codes_owned(
        &super::AREA,
        &[plan("candidate_only", &[("s", "restructure", "artifact:a", "", deep)], "")],
        predicted,
    );
    has_codes_owned(&super::AREA, &[one_step(), bare("step_skipped", ",'produced_post_hash':'h'")], &[]);
}

#[test]
fn dependencies_are_said_once_and_lead_somewhere() {
    let (drift, missing) =
        ("revision_plan_dependency_edge_drift", "revision_plan_dependency_targets_missing_step");
    let step = |id, waits| (id, "revalidate", "artifact:a", waits, "");
    let two = |edges| plan("candidate_only", &[step("s", ""), step("t", "s")], edges);
    has_codes_owned(&super::AREA, &[two(",'dependency_edges':[]")], &[drift]);
    has_codes_owned(
        &super::AREA,
        &[two(",'dependency_edges':[{'from_step_id':'s','to_step_id':'t'}]")],
        &[drift],
    );
    has_codes_owned(&super::AREA, &[two(",'dependency_edges':[{'from_step_id':'t','to_step_id':'s'}]")], &[]);
    let ghost =
        ",'dependency_edges':[{'from_step_id':'t','to_step_id':'s'},{'from_step_id':'t','to_step_id':'x'}]";
    has_codes_owned(&super::AREA, &[two(ghost)], &[drift, missing]);
    has_codes_owned(&super::AREA, &[plan("candidate_only", &[step("s", "s")], "")], &["revision_plan_cycle"]);
    let own = |waits| ("RevisionPlanStepBase", format!("{{'step_id':'s','depends_on_step_ids':{waits}}}"));
    has_codes_owned(&super::AREA, &[own("null")], &["revision_plan_step_dependency_undefined"]);
    has_codes_owned(&super::AREA, &[own("[]")], &[]);
}

#[test]
fn what_is_looked_at_again_is_said_once() {
    let ambiguous = "revalidation_policy_ambiguous";
    let missing = &["revalidation_policy_ref_missing"];
    let policy = |text| ("RevisionStepRevalidationPolicy", format!("{{{text}}}"));
    has_codes_owned(
        &super::AREA,
        &[policy("'policy_kind':'revalidate_targeted_outcomes','outcomes_to_recheck':[]")],
        &[ambiguous],
    );
    has_codes_owned(
        &super::AREA,
        &[policy("'policy_kind':'revalidate_full_closure','outcomes_to_recheck':[]")],
        &[ambiguous],
    );
    has_codes_owned(
        &super::AREA,
        &[policy("'policy_kind':'revalidate_full_task','outcomes_to_recheck':[]")],
        &[],
    );
    let step = |more| plan("candidate_only", &[("s", "revalidate", "artifact:a", "", more)], "");
    let none = ",'revalidation_policy':{'policy_kind':'none','outcomes_to_recheck':[]}";
    let both = format!("{none},'revalidation_trigger':'revalidate_full_task'");
    has_codes_owned(&super::AREA, &[step(&both)], &[ambiguous, "revalidation_trigger_legacy_field_present"]);
    let to = |policy| {
        ("TypedRevisionInstruction", format!("{{'step_id':'s','revalidation_policy_ref':'{policy}'}}"))
    };
    // The id of a policy that has none is its place.
    let row = "revision_step_revalidation_policy:1";
    has_codes_owned(&super::AREA, &[policy("'policy_kind':'none'"), step(none), to(row)], &[]);
    has_codes_owned(
        &super::AREA,
        &[policy("'policy_kind':'revalidate_full_task'"), step(none), to(row)],
        &[ambiguous],
    );
    has_codes_owned(&super::AREA, &[step(none), to("revision_plan_step_base:s")], &[]);
    has_codes_owned(&super::AREA, &[step(none), to("revision_plan_step_base:t")], missing);
    has_codes_owned(&super::AREA, &[step(""), to("revision_plan_step_base:s")], missing);
    has_codes_owned(&super::AREA, &[step(none), to("revision_plan:p")], missing);
    has_codes_owned(&super::AREA, &[step(none), to("anything")], missing);
    let old = ("OutcomeRepairInstruction", "{'revalidation_expectation':'better'}".into());
    has_codes_owned(&super::AREA, &[old], &["revalidation_expectation_legacy_field_present"]);
}

/// Every member of every row of the fixtures, as something else.
#[test]
fn whatever_a_member_is_nothing_breaks() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    for area in ["revision", "cascade", "regeneration", "concurrency"] {
        for code in std::fs::read_dir(folder.join(area)).unwrap() {
            let bytes = std::fs::read(code.unwrap().path().join("fires.json")).unwrap();
            let bundle = Bundle::read(json::parse(&bytes).unwrap()).unwrap();
            for (at, row) in bundle.rows.iter().enumerate() {
                let names = row.record.as_object().unwrap().iter().map(|(name, _)| String::from(name));
                for name in names {
                    for odd in
                        ["null", "-1", "1e300", "\"\"", "[[[]],{},null]", "{\"x\":[]}", "[\"s1\",\"s1\"]"]
                    {
                        let mut other = bundle.clone();
                        if let Json::Object(members) = &mut other.rows[at].record {
                            members.insert(name.as_str(), json::parse(odd.as_bytes()).unwrap());
                        }
                        let found = check(&other.world());
                        assert!(found.iter().all(|one| one.row <= bundle.rows.len() as u64));
                    }
                }
            }
        }
    }
}

/// Two plans may both have a step of one name: each holds its own lock.
#[test]
fn a_lock_is_of_one_plan() {
    let missing = &["in_place_lock_missing_expected_pre_hash"] as &[&str];
    let plan = |id: &str, artifact: &str, more: &str| {
        let step = format!(
            "{{'step_id':'s','step_kind':'edit_artifact','depends_on_step_ids':[],'target_refs':['artifact:{artifact}']}}"
        );
        (
            "RevisionPlan",
            format!("{{'plan_id':'{id}','run_id':'r','mutation_mode':'{ROLLING}','steps':[{step}]{more}}}"),
        )
    };
    let lock = |hash: &str, more: &str| {
        ("InPlaceMutationLock", format!("{{'step_id':'s','expected_pre_hash':'{hash}'{more}}}"))
    };
    let ran = |plan: &str, hash: &str| {
        let key = format!(
            "{{'run_id':'r','plan_id':'{plan}','step_id':'s','attempt_class':'first','step_kind':'edit_artifact'}}"
        );
        let own = format!(
            "'plan_id':'{plan}','step_id':'s','operation_kind':'step_finished','idempotency_key':{key}"
        );
        let hash = if hash.is_empty() { String::new() } else { format!(",'expected_pre_hash':'{hash}'") };
        ("RevisionOperationReceipt", format!("{{'receipt_id':'{plan}-{}',{own}{hash}}}", hash.len()))
    };
    let version = |id: &str, artifact: &str| {
        (
            "ArtifactVersion",
            format!("{{'artifact_version_id':'{id}','artifact_stable_id':'{artifact}','run_id':'r'}}"),
        )
    };
    let check = |rows: &[Row], expected: &[&str]| {
        let all = [&[plan("p", "a", ""), plan("q", "b", "")], rows].concat();
        has_codes_owned(&super::AREA, &all, expected);
    };
    check(&[lock("h", ""), ran("p", "h"), ran("q", "h")], missing);
    check(&[lock("h", ""), ran("p", "h"), ran("q", "")], missing);
    check(&[lock("h", ""), lock("i", ""), ran("p", "h"), ran("q", "i")], &[]);
    check(&[lock("h", ""), lock("i", ""), ran("p", "i"), ran("q", "h")], &[]);
    check(&[lock("h", ""), lock("i", ""), ran("p", "h"), ran("q", "j")], missing);
    check(&[lock("h", ""), lock("h", ""), ran("p", "h"), ran("p", "h"), ran("q", "h")], &[]);
    check(&[lock("h", ",'plan_id':'p'"), ran("q", "h")], missing);
    check(&[lock("h", ",'plan_id':'revision_plan:q'"), ran("q", "h")], &[]);
    check(&[lock("h", ",'run_id':'r2'"), ran("q", "h")], missing);
    let based = ",'expected_base_version_id':'v'";
    check(&[version("v", "a"), lock("h", based), ran("q", "h")], missing);
    check(&[version("v", "b"), lock("h", based), ran("q", "h")], &[]);
    let planned = ",'in_place_mutation_locks':[{'step_id':'s','expected_pre_hash':'i'}]";
    let rows = [plan("p", "a", ""), plan("q", "b", planned), lock("h", ""), ran("p", "h"), ran("q", "i")];
    has_codes_owned(&super::AREA, &rows, &[]);
}

#[test]
fn old_fields_are_found_wherever_they_stand() {
    let plan = |more: &str, step: &str| {
        let step = format!("{{'step_id':'s','step_kind':'edit_artifact','depends_on_step_ids':[]{step}}}");
        ("RevisionPlan", format!("{{'plan_id':'p','mutation_mode':'candidate_only','steps':[{step}]{more}}}"))
    };
    for field in ["revalidation_trigger", "revalidation_expectation"] {
        let code = &[&*format!("{field}_legacy_field_present")];
        has_codes_owned(&super::AREA, &[plan(&format!(",'{field}':'x'"), "")], code);
        has_codes_owned(
            &super::AREA,
            &[plan("", &format!(",'payload':{{'parts':[{{'{field}':'x'}}]}}"))],
            code,
        );
        has_codes_owned(&super::AREA, &[plan("", &format!(",'{field}':null"))], &[]);
    }
    let predicted = &["revision_plan_contains_predicted_post_hash"];
    has_codes_owned(&super::AREA, &[plan("", ",'predicted_post_hashes':['h']")], predicted);
    has_codes_owned(&super::AREA, &[plan("", ",'predicted_post_hashes':[]")], &[]);
    has_codes_owned(&super::AREA, &[plan("", ",'compost_hash':'h'")], &[]);
}
