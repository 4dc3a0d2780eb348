//! Who sees what on a board, what is withheld, and how much is shown.

use super::*;
use crate::check::trial::{has_places as check, places, world};
use proptest::prelude::*;
use std::string::String;

fn event(id: &str, class: &str, governance: &str) -> String {
    format!(r#"{{"event_id":"{id}","run_id":"r","event_class":"{class}","governance":{{{governance}}}}}"#)
}

fn post(id: &str, event: &str, second: u32, more: &str) -> String {
    let at = format!("2026-03-02T08:{:02}:{:02}Z", second / 60, second % 60);
    format!(
        r#"{{"post_id":"{id}","source_event_id":"{event}","lifecycle_state":"active","created_at":"{at}"{more}}}"#
    )
}

fn policy(classes: &str, most: u32, rate: u32) -> String {
    format!(
        r#"{{"policy_id":"p","auto_publish_event_classes":[{classes}],"suppress_data_classes":["privileged"],
            "publish_redacted_stub_when_suppressed":true,"max_visible_posts_per_run":{most},"rate_limit_per_minute":{rate}}}"#
    )
}

const EVENT: &str = "RunBoardAuditEvent";
const POST: &str = "RunBoardVisiblePost";
const POLICY: &str = "RunBoardPublicationPolicy";
const STUB: &str = r#","redacted":true,"withheld_reason":"privileged""#;

#[test]
fn events_say_who_may_see_them() {
    let check = |governance: &str, expected: &[(u64, &str)]| {
        let record = event("e", "gate_decision", governance);
        check("run_board_event_without_governance", &[(EVENT, &record)], expected);
    };
    let most = r#""data_class":"public","taint_class":"unclassified","visibility_scope":"user_only""#;
    check(&format!(r#"{most},"privileged":false"#), &[]);
    check(&format!(r#"{most},"privileged":true"#), &[(1, "/governance/matter_id")]);
    check(&format!(r#"{most},"privileged":true,"matter_id":"x""#), &[]);
    check(most, &[(1, "/governance/privileged")]);
    let none = ["data_class", "privileged", "taint_class", "visibility_scope"];
    let none: Vec<String> = none.iter().map(|field| format!("/governance/{field}")).collect();
    let none: Vec<(u64, &str)> = none.iter().map(|path| (1, path.as_str())).collect();
    check("", &none);
    crate::check::trial::has_places(
        "run_board_event_without_governance",
        &[(EVENT, "{}")],
        &[(1, "/governance")],
    );
}

#[test]
fn matters_are_walls() {
    let code = "visible_post_cross_matter_leak";
    let bound = event("e", "gate_decision", r#""matter_id":"x""#);
    let (full, stub) = (post("p", "e", 0, ""), post("p", "e", 0, STUB));
    let digest = |matter: &str| format!(r#"{{"post_refs":["run_board_visible_post:p"]{matter}}}"#);
    let check_digest = |post: &str, matter: &str, expected: &[(u64, &str)]| {
        check(code, &[(EVENT, &bound), (POST, post), ("RunBoardDigest", &digest(matter))], expected);
    };
    check_digest(&full, r#","matter_id":"x""#, &[]);
    check_digest(&full, r#","matter_id":"y""#, &[(3, "/post_refs/0")]);
    check_digest(&full, "", &[(3, "/post_refs/0")]);
    check_digest(&stub, r#","matter_id":"y""#, &[]);
    let packet = |matter: &str| {
        format!(
            r#"{{"packet_id":"k","matter_id":"{matter}","items":[{{"item_ref":"run_board_audit_event:e"}}]}}"#
        )
    };
    let packet = |matter: &str| ("TaskRunContextPacket", packet(matter));
    let reading =
        |matter: &str| format!(r#"{{"packet_ref":"task_run_context_packet:k","matter_id":"{matter}"}}"#);
    let check_packet = |made_for: &str, reader: &str, expected: &[(u64, &str)]| {
        let (kind, packet) = packet(made_for);
        let reading = reading(reader);
        check(code, &[(EVENT, &bound), (kind, &packet), ("ContextPacketConsumption", &reading)], expected);
    };
    let stated = |item: &str| {
        format!(
            r#"{{"packet_id":"k","matter_id":"x","items":[{{"item_ref":"artifact_version:v","matter_id":"{item}"}}]}}"#
        )
    };
    check(code, &[("TaskRunContextPacket", &stated("x"))], &[]);
    check(code, &[("TaskRunContextPacket", &stated("y"))], &[(1, "/items/0")]);
    check_packet("x", "x", &[]);
    check_packet("y", "x", &[(2, "/items/0")]);
    check_packet("x", "y", &[(3, "/matter_id")]);
}

#[test]
fn what_is_withheld_is_said_to_be() {
    let code = "suppressed_event_without_audit_stub";
    let rule = policy(r#""gate_decision""#, 9, 9);
    let secret = event("e", "gate_decision", r#""data_class":"privileged""#);
    let open = event("e", "gate_decision", r#""data_class":"public""#);
    let private = event("e", "gate_decision", r#""visibility_scope":"private_audit_only""#);
    let other = event("e", "cost_duration", r#""data_class":"privileged""#);
    let (full, stub) = (post("p", "e", 0, ""), post("p", "e", 0, STUB));
    let rule = (POLICY, rule.as_str());
    check(code, &[rule, (EVENT, &secret)], &[(2, "")]);
    check(code, &[(EVENT, &secret), rule], &[(1, "")]);
    check(code, &[rule, (EVENT, &secret), (POST, &full)], &[(2, "")]);
    check(code, &[rule, (EVENT, &secret), (POST, &stub)], &[]);
    check(code, &[rule, (EVENT, &open)], &[(2, "")]);
    check(code, &[rule, (EVENT, &open), (POST, &full)], &[]);
    check(code, &[rule, (EVENT, &private)], &[]);
    check(code, &[rule, (EVENT, &other)], &[]);
    check(code, &[(EVENT, &secret)], &[]);
    check(code, &[(POST, &stub)], &[(1, "/source_event_id")]);
}

#[test]
fn nothing_is_published_by_itself_without_a_policy() {
    let code = "passive_board_autopublish_without_policy";
    let (gate, comment) = (event("e", "gate_decision", ""), event("e", "user_comment", ""));
    let full = post("p", "e", 0, "");
    let (listed, unlisted) = (policy(r#""gate_decision""#, 9, 9), policy("", 9, 9));
    check(code, &[(EVENT, &gate), (POST, &full)], &[(2, "")]);
    check(code, &[(POLICY, &unlisted), (EVENT, &gate), (POST, &full)], &[(3, "")]);
    check(code, &[(POLICY, &listed), (EVENT, &gate), (POST, &full)], &[]);
    check(code, &[(EVENT, &comment), (POST, &full)], &[]);
    let by = |kind: &str| format!(r#"{{"invocation_id":"i","actor_kind":"{kind}"}}"#);
    let posted = post("p", "e", 0, r#","author_action_ref":"command_invocation:i""#);
    check(code, &[("CommandInvocation", &by("user")), (EVENT, &gate), (POST, &posted)], &[]);
    check(code, &[("CommandInvocation", &by("engine")), (EVENT, &comment), (POST, &posted)], &[(3, "")]);
    // An action that is named and not there is nobody's.
    check(code, &[(EVENT, &comment), (POST, &posted)], &[(2, "")]);
    let with = |payload: &str| {
        comment.replace("{\"event_id\"", &format!(r#"{{"payload_ref":"{payload}","event_id""#))
    };
    let (nowhere, text) = (with("command_invocation:nowhere"), with("comment:c"));
    check(code, &[(EVENT, &nowhere), (POST, &full)], &[(2, "")]);
    check(code, &[(EVENT, &text), (POST, &full)], &[]);
    let own = with("command_invocation:i");
    check(code, &[("CommandInvocation", &by("user")), (EVENT, &own), (POST, &full)], &[]);
}

#[test]
fn a_run_shows_only_so_much() {
    let code = "passive_board_autopublish_without_policy";
    let gate = event("e", "gate_decision", "");
    let check = |most: u32, rate: u32, posts: &[(&str, u32, &str)], expected: &[(u64, &str)]| {
        let rule = policy(r#""gate_decision""#, most, rate);
        let posts: Vec<String> =
            posts.iter().map(|(id, second, more)| post(id, "e", *second, more)).collect();
        let mut rows = std::vec![(POLICY, rule.as_str()), (EVENT, gate.as_str())];
        rows.extend(posts.iter().map(|post| (POST, post.as_str())));
        check(code, &rows, expected);
    };
    check(2, 9, &[("a", 0, ""), ("b", 1, "")], &[]);
    check(2, 9, &[("a", 0, ""), ("b", 1, ""), ("c", 2, "")], &[(5, "")]);
    check(2, 9, &[("a", 0, ""), ("b", 1, ""), ("c", 2, STUB)], &[]);
    check(2, 9, &[("a", 0, ""), ("b", 1, ""), ("b", 2, "")], &[]);
    check(9, 2, &[("a", 0, ""), ("b", 1, ""), ("c", 60, "")], &[]);
    check(9, 2, &[("a", 0, ""), ("b", 1, ""), ("c", 59, "")], &[(5, "")]);
}

proptest! {
    /// A reader is shown nothing of another matter, exactly if the rule finds nothing; and what it finds does not depend on
    /// what those events say.
    #[test]
    fn boards_keep_matters_apart(
        board in prop::collection::vec((0_u8..3, any::<bool>()), 0..8),
        reader in 0_u8..3,
        payload in "[a-z]{1,4}",
    ) {
        let matter = |matter: u8| match matter {
            0 => String::new(),
            matter => format!(r#","matter_id":"m{matter}""#),
        };
        let found = |payload: &str| {
            let mut rows = Vec::new();
            let mut shown = Vec::new();
            for (at, (own, is_shown)) in board.iter().enumerate() {
                let said = format!(r#""redaction_required":false,"note":"{payload}"{}"#, matter(*own));
                rows.push((EVENT, event(&format!("e{at}"), "gate_decision", &said)));
                rows.push((POST, post(&format!("p{at}"), &format!("e{at}"), 0, "")));
                if *is_shown {
                    shown.push(format!(r#""run_board_visible_post:p{at}""#));
                }
            }
            rows.push(("RunBoardDigest", format!(r#"{{"post_refs":[{}]{}}}"#, shown.join(","), matter(reader))));
            let rows: Vec<(&str, &str)> = rows.iter().map(|(kind, row)| (*kind, row.as_str())).collect();
            places("visible_post_cross_matter_leak", &world(&rows))
        };
        let leaks = board.iter().filter(|(own, is_shown)| *is_shown && *own != 0 && *own != reader).count();
        prop_assert_eq!(found("said").len(), leaks);
        prop_assert_eq!(found("said"), found(&payload));
    }
}

/// What a post is of may be told by the id of the event or by a reference to it; a wall stands either way.
#[test]
fn events_are_named_in_either_way() {
    let hash = "a".repeat(64);
    for named in ["e", "run_board_audit_event:e", &format!("run_board_audit_event:e@1#{hash}")] {
        let bound = event("e", "gate_decision", r#""matter_id":"x","data_class":"privileged""#);
        let (full, stub) = (post("p", named, 0, ""), post("p", named, 0, STUB));
        let rules = policy(r#""gate_decision""#, 9, 9);
        for reference in ["p", "run_board_visible_post:p", "run_board_visible_post:p@1"] {
            let digest = format!(r#"{{"matter_id":"y","post_refs":["{reference}"]}}"#);
            let rows = [(EVENT, &*bound), (POST, &*full), ("RunBoardDigest", &*digest)];
            check("visible_post_cross_matter_leak", &rows, &[(3, "/post_refs/0")]);
            let rows = [(EVENT, &*bound), (POST, &*stub), ("RunBoardDigest", &*digest)];
            check("visible_post_cross_matter_leak", &rows, &[]);
        }
        let code = "passive_board_autopublish_without_policy";
        check(code, &[(EVENT, &*bound), (POST, &*full)], &[(2, "")]);
        let code = "suppressed_event_without_audit_stub";
        check(code, &[(POLICY, &*rules), (EVENT, &*bound), (POST, &*stub)], &[]);
        check(code, &[(POLICY, &*rules), (EVENT, &*bound), (POST, &*full)], &[(2, "")]);
    }
}

/// A packet shows what a digest in it shows.
#[test]
fn a_digest_in_a_packet_is_behind_the_wall_too() {
    let code = "visible_post_cross_matter_leak";
    let check_packet = |reader: &str, posts: &str, expected: &[(u64, &str)]| {
        let rows = [
            (EVENT, event("e", "gate_decision", r#""matter_id":"x""#)),
            (EVENT, event("f", "gate_decision", "")),
            (POST, post("p", "e", 0, "")),
            (POST, post("q", "f", 0, "")),
            ("RunBoardDigest", format!(r#"{{"digest_id":"d","matter_id":"x","post_refs":[{posts}]}}"#)),
            (
                "TaskRunContextPacket",
                format!(
                    r#"{{"packet_id":"k","matter_id":"{reader}","items":[{{"item_ref":"run_board_digest:d"}}]}}"#
                ),
            ),
            (
                "ContextPacketConsumption",
                format!(r#"{{"packet_ref":"task_run_context_packet:k","matter_id":"{reader}"}}"#),
            ),
        ];
        let rows: Vec<(&str, &str)> = rows.iter().map(|(kind, record)| (*kind, record.as_str())).collect();
        check(code, &rows, expected);
    };
    let (bound, free) = (r#""run_board_visible_post:p""#, r#""run_board_visible_post:q""#);
    check_packet("y", bound, &[(6, "/items/0"), (7, "/matter_id")]);
    check_packet("x", bound, &[]);
    check_packet("y", free, &[]);
    check_packet("y", &format!("{free},{bound}"), &[(6, "/items/0"), (7, "/matter_id")]);
}
