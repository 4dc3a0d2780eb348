//! Questions are held by one, answered by who holds them, and a person is told where one is needed.

use crate::check::trial::{has_places as check, places, world};
use proptest::prelude::*;
use std::format;
use std::string::String;
use std::vec::Vec;

fn time(minute: u32) -> String {
    format!("2026-03-02T{:02}:{:02}:00Z", 8 + minute / 60, minute % 60)
}

fn lease(token: u8, start: u32, end: u32) -> String {
    let (start, end) = (time(start), time(end));
    format!(r#"{{"need_id":"n","lease_token":"t{token}","acquired_at":"{start}","expires_at":"{end}"}}"#)
}

fn need(status: &str, minute: u32) -> String {
    format!(r#"{{"need_id":"n","status":"{status}","updated_at":"{}"}}"#, time(minute))
}

#[test]
fn a_scope_names_what_it_is_of() {
    let code = "research_need_scope_missing";
    check(code, &[("ResearchNeed", r#"{"task_id":"t"}"#)], &[(1, "/need_scope")]);
    check(code, &[("ResearchNeed", r#"{"need_scope":"galaxy"}"#)], &[(1, "/need_scope")]);
    check(code, &[("ResearchNeed", r#"{"need_scope":"workspace"}"#)], &[(1, "/workspace_id")]);
    check(code, &[("ResearchNeed", r#"{"need_scope":"task","task_id":"t"}"#)], &[]);
    let code = "research_need_run_id_on_task_scope_conflict";
    check(code, &[("ResearchNeed", r#"{"need_scope":"workspace","run_id":"r"}"#)], &[(1, "/run_id")]);
    check(code, &[("ResearchNeed", r#"{"need_scope":"workspace","run_id":null}"#)], &[]);
}

#[test]
fn one_lease_at_a_time() {
    let code = "research_need_double_leased";
    let (first, second) = (lease(1, 0, 30), lease(2, 20, 40));
    let (first, second) = (("ResearchNeedLease", &*first), ("ResearchNeedLease", &*second));
    check(code, &[first, second], &[(2, "/acquired_at")]);
    check(code, &[second, first], &[(1, "/acquired_at")]);
    check(code, &[first, ("ResearchNeedLease", &lease(1, 20, 40))], &[]);
    // Who gives up lets go at once.
    check(code, &[first, ("ResearchNeed", &need("human_needed", 10)), second], &[]);
    check(code, &[first, ("ResearchNeed", &need("human_needed", 25)), second], &[(3, "/acquired_at")]);
    check(code, &[first, ("ResearchNeed", &need("leased", 10)), second], &[(3, "/acquired_at")]);
}

#[test]
fn answers_come_under_the_live_lease() {
    let code = "research_need_double_leased";
    let held = lease(1, 0, 30);
    let held = ("ResearchNeedLease", &*held);
    let answer = |token: u8, minute: u32, need: &str| {
        format!(
            r#"{{"operation_id":"o","operation_kind":"answer_research_need","payload_ref":"research_need:{need}",
                "precondition":{{"lock_lease_ref":"research_need_lease:t{token}"}},"created_at":"{}"}}"#,
            time(minute)
        )
    };
    let check = |answer: &str, more: &[(&str, &str)], expected: &[(u64, &str)]| {
        let mut rows = std::vec![held, ("SourceWorkspaceOperation", answer)];
        rows.extend(more);
        check(code, &rows, expected);
    };
    let dead = &[(2, "/precondition/lock_lease_ref")];
    check(&answer(1, 29, "n"), &[], &[]);
    check(&answer(1, 30, "n"), &[], dead);
    check(&answer(2, 10, "n"), &[], dead);
    check(&answer(1, 10, "m"), &[], dead);
    let refused = ("SourceWorkspaceOperationReceipt", r#"{"operation_id":"o","status":"conflict"}"#);
    check(&answer(2, 10, "n"), &[refused], &[]);
    // Who names no lease answers where nobody holds the question.
    let bare = |minute| answer(1, minute, "n").replace("research_need_lease:t1", "");
    check(&bare(10), &[], dead);
    check(&bare(30), &[], &[]);
    // A lease that ended early is over, and another one is live.
    let (gone, second) = (need("human_needed", 10), lease(2, 15, 40));
    let asked = r#"{"subject_ref":"research_need:n","from_state":"leased","to_state":"human_needed"}"#;
    for gone in [("ResearchNeed", &*gone), ("LifecycleTransitionReceipt", asked)] {
        for (answer, expected) in [
            (answer(1, 20, "n"), &[(4_u64, "/precondition/lock_lease_ref")] as &[(u64, &str)]),
            (answer(2, 20, "n"), &[]),
            (bare(20), &[(4, "/precondition/lock_lease_ref")]),
            (answer(2, 45, "n"), &[(4, "/precondition/lock_lease_ref")]),
        ] {
            let rows = [held, gone, ("ResearchNeedLease", &*second), ("SourceWorkspaceOperation", &*answer)];
            let found = places(code, &world(&rows));
            let expected: std::vec::Vec<String> =
                expected.iter().map(|(row, path)| format!("{row}{path}")).collect();
            let found: std::vec::Vec<String> = found.into_iter().filter(|one| one.starts_with('4')).collect();
            assert_eq!(found, expected, "{rows:?}");
        }
    }
    // What asks to be let in is told.
    let late = answer(1, 30, "n");
    let world = world(&[held, refused, ("SourceWorkspaceOperation", &late)]);
    assert!(places(code, &world).is_empty());
    assert_eq!(places(code, &world.at_admission()).len(), 1);
}

#[test]
fn who_is_needed_is_told() {
    let code = "research_need_human_needed_without_exit";
    let waiting = r#"{"need_id":"n","status":"human_needed","human_needed_reason":"only she knows"}"#;
    let waiting = ("ResearchNeed", waiting);
    let item = |state: &str| {
        format!(
            r#"{{"item_id":"i","attention_kind":"research_need_human","source_ref":"research_need:n","lifecycle_state":"{state}"}}"#
        )
    };
    let (open, closed) = (item("open"), item("resolved"));
    let (open, closed) = (("AttentionLedgerItem", &*open), ("AttentionLedgerItem", &*closed));
    let call = ("HardRevisionCall", r#"{"hard_call_id":"h","source_ref":"research_need:n"}"#);
    let resolved = ("HardCallResolutionReceipt", r#"{"hard_call_id":"h"}"#);
    let request = ("ModuleAssistanceRequest", r#"{"target":"user","subject_ref":"research_need:n"}"#);
    let wrong = &[(1, "/status")];
    check(code, &[waiting], wrong);
    check(code, &[waiting, open], &[]);
    check(code, &[waiting, open, closed], wrong);
    check(code, &[waiting, call], &[]);
    check(code, &[waiting, call, resolved], wrong);
    check(code, &[waiting, request], &[]);
    check(code, &[waiting, ("ResearchNeed", r#"{"need_id":"n","status":"answered"}"#)], &[]);
    let mute = ("ResearchNeed", r#"{"need_id":"n","status":"human_needed"}"#);
    check(code, &[mute, open], &[(1, "/human_needed_reason")]);
}

proptest! {
    /// No two leases of one question are live at any time, exactly if the rule finds nothing.
    #[test]
    fn leases_exclude_each_other(leases in prop::collection::vec((0_u8..3, 0_u32..20, 1_u32..8), 0..8)) {
        let rows: Vec<String> =
            leases.iter().map(|(token, start, length)| lease(*token, *start, start + length)).collect();
        let rows: Vec<(&str, &str)> = rows.iter().map(|row| ("ResearchNeedLease", row.as_str())).collect();
        let live = |minute: u32| {
            let held = leases.iter().filter(|(_, start, length)| (*start..start + length).contains(&minute));
            held.map(|(token, ..)| *token).collect::<std::collections::BTreeSet<u8>>()
        };
        let is_shared = (0..30).any(|minute| live(minute).len() > 1);
        prop_assert_eq!(!places("research_need_double_leased", &world(&rows)).is_empty(), is_shared);
    }
}
