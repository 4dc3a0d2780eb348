//! For each machine and all pairs of states: a thing moves exactly if the table has the pair, by what the table asks for.

use super::decided::*;
use super::folded;
use super::rows::*;
use countersign_govern::fold::Folds;
use countersign_govern::fold::family::{FAMILIES, Family};
use countersign_govern::world::Draft;
use std::collections::{BTreeMap, BTreeSet};

/// What one of a family begins with; a chain in three forms, a type with three owners, a finding raised in two states, a contract that
/// a user must approve and one that nobody must.
pub(super) fn openings(family: &Family) -> Vec<Vec<Draft>> {
    let one = |draft: Draft| vec![vec![draft]];
    match family.kind {
        "EvaluationFindingRecord" => {
            ["proposed", "active"].map(|state| vec![finding(1, "x", state, "high")]).to_vec()
        }
        "ResearchNeed" => one(need(1, "x")),
        "LibraryPromotionCandidate" => one(candidate(1, "x")),
        "AttentionLedgerItem" => one(attention(1, "x", "blocked_item", "outcome_record:o", "high")),
        "TaskReliancePacket" => one(packet(1, "x")),
        "WorkProductCertification" => one(certification(1, "x")),
        // What a user must approve no policy approves.
        "EvaluationContractReview" => {
            let mut waivable = contract(1, "x");
            let mut members = waivable.record.as_object().unwrap().clone();
            members.insert("user_approval_required", false);
            waivable.record = members.into();
            vec![vec![contract(1, "x")], vec![waivable]]
        }
        "EvaluationChainRegistryRecord" => {
            let expected =
                ["'judge'", "'judge','outcome_evaluator'", "'judge','outcome_evaluator','sub_agent'"];
            expected.map(|expected| vec![chain(1, "x", expected)]).to_vec()
        }
        "OutcomeRecord" => one(outcome(1, "x")),
        "RevalidationCascadeRun" => one(cascade(1, "x")),
        "RunBoardVisiblePost" => vec![vec![board_event(1, "e"), post(1, "x", "e")]],
        "RunGuidanceItemCurrent" => one(guidance(1, "x")),
        "RevisionReviewPacket" => one(review(1, "x")),
        "RevisionPlan" => one(plan(1, "x")),
        "HardRevisionCall" => one(call(1, "x")),
        "TypeOwnerRegistryEntry" => {
            ["pending_absorption", "canonical", "imported"].map(|status| vec![owner(1, "x", status)]).to_vec()
        }
        other => panic!("{other} has no opening"),
    }
}

const REASONS: [&str; 11] = [
    "router_admitted",
    "user_contested",
    "user_confirmed",
    "tool_verified",
    "revision_resolved",
    "source_changed",
    "target_version_changed",
    "expired_by_policy",
    "dismissed_duplicate",
    "rejected_by_user",
    "marked_unrecoverable",
];
const ACTIONS: [&str; 6] =
    ["accept", "reject", "fork", "request_changes", "restore_known_good_state", "no_user_review_required"];
/// Receipts that may move a plan, and what they may say.
const RECEIPTS: [(&str, &str, &[&str]); 7] = [
    (
        "RevisionOperationReceipt",
        "operation_kind",
        &["plan_admitted", "plan_rejected", "step_failed", "revalidation_done"],
    ),
    ("HardCallResolutionReceipt", "operation_kind", &["hard_call_resolved"]),
    ("FeedbackConsumptionReceipt", "consumption", &["used"]),
    ("SourceWorkspaceOperationReceipt", "status", &["applied", "rejected_by_policy"]),
    ("TaskCancelReceipt", "candidate_disposition", &["discard"]),
    ("TaskSkipReceipt", "reason", &["not_applicable"]),
    (
        "RevalidationCascadeReceipt",
        "status",
        &["quiescent", "cycle_detected", "max_depth_exceeded", "aborted"],
    ),
];

/// A way of telling that something moved: what the table would have to name for it, and the rows.
type Attempt = (String, Vec<Draft>);

/// All ways of telling that something went from one state to another.
pub(super) fn attempts(family: &Family, from: &str, to: &str, minute: u64) -> Vec<Attempt> {
    let general = (String::from("receipt"), vec![general(minute, &format!("{}:x", family.snake), from, to)]);
    let one = |by: &str, draft: Draft| (by.to_owned(), vec![draft]);
    let mut all = match family.kind {
        "EvaluationFindingRecord" => {
            REASONS.iter().map(|by| one(by, finding_moved(minute, "x", from, to, by))).collect()
        }
        "ResearchNeed" => match to {
            "leased" => vec![one("lease", lease(minute, "x", "tok", minute + 500, "release_for_reclaim"))],
            "answered" => ["user:u1", "module:m1"]
                .map(|actor| ("answer".to_owned(), answer(minute, "x", "tok", actor)))
                .to_vec(),
            _other => Vec::new(),
        },
        "LibraryPromotionCandidate" => match to {
            "promoted" => vec![one("promotion", promoted(minute, "x", "promoted"))],
            "rejected" => vec![one("promotion", promoted(minute, "x", "blocked_by_policy"))],
            _other => Vec::new(),
        },
        "TaskReliancePacket" if to == "invalidated" => vec![one("event", invalidated(minute, "x"))],
        "EvaluationChainRegistryRecord" if ["partial", "complete"].contains(&to) => {
            let producers = ["judge", "outcome_evaluator", "sub_agent"];
            producers.map(|producer| one("result", result(minute, "x", producer))).to_vec()
        }
        "OutcomeRecord" => vec![one("event", outcome_moved(minute, "x", from, to))],
        "RevalidationCascadeRun" => vec![one("end", cascade_ended(minute, "x", to))],
        "RunGuidanceItemCurrent" => vec![one("receipt", guidance_moved(minute, "x", from, to))],
        "RevisionReviewPacket" => ACTIONS.iter().map(|by| one(by, decided(minute, "x", by))).collect(),
        "RevisionPlan" => {
            let all = RECEIPTS
                .iter()
                .flat_map(|(kind, member, words)| words.iter().map(move |word| (*kind, *member, *word)));
            all.map(|by| (by.0.to_owned(), plan_moved(minute, "x", (from, to), by))).collect()
        }
        "HardRevisionCall" => match to {
            "resolved" => vec![one("answer", resolved(minute, "x", "a"))],
            "deferred" => vec![one("wait", waited(minute, "x", "deferred", "pause_scope"))],
            "escalated" => vec![one("wait", waited(minute, "x", "timed_out", "escalate"))],
            "aborted" => vec![one("wait", waited(minute, "x", "timed_out", "abort"))],
            "cancelled" => vec![one("cancel", cancelled(minute, "hard_revision_call:x"))],
            _other => Vec::new(),
        },
        _other => Vec::new(),
    };
    all.push(general);
    all
}

pub(super) fn state(family: &Family, folds: &Folds) -> Option<String> {
    folds.board.find(family.snake, "x").and_then(|one| one.word(family.member)).map(str::to_owned)
}

/// A log that leads to each state, for each opening.
pub(super) fn logs(family: &Family) -> BTreeMap<String, Vec<Vec<Draft>>> {
    let mut logs: BTreeMap<String, Vec<Vec<Draft>>> = BTreeMap::new();
    for opening in openings(family) {
        let mut reached = BTreeSet::new();
        let mut open = vec![opening];
        while let Some(log) = open.pop() {
            let at = state(family, &folded(&log)).unwrap();
            if !reached.insert(at.clone()) {
                continue;
            }
            for way in family.machine.transitions.iter().filter(|way| way.from == at) {
                for (_, rows) in attempts(family, way.from, way.to, log.len() as u64 + 1) {
                    let longer = [log.clone(), rows].concat();
                    if state(family, &folded(&longer)).as_deref() == Some(way.to) {
                        open.push(longer);
                    }
                }
            }
            logs.entry(at).or_default().push(log);
        }
    }
    logs
}

/// Whether the table has a way for what an attempt rests on.
fn is_named(family: &Family, from: &str, to: &str, by: &str) -> bool {
    let mut ways = family.machine.ways(from, to);
    match family.kind {
        // The contract names the reason, the action or the receipt.
        "EvaluationFindingRecord" => ways.any(|way| way.by.split(' ').next() == Some(by)),
        "RevisionPlan" => ways.any(|way| way.by == by),
        "RevisionReviewPacket" if by != "receipt" => ways.any(|way| way.by == by),
        _other => ways.next().is_some(),
    }
}

#[test]
fn things_move_exactly_as_their_tables_say() {
    for family in FAMILIES {
        let logs = logs(family);
        let states: BTreeSet<String> = family.machine.states().map(str::to_owned).collect();
        let reached: BTreeSet<String> = logs.keys().cloned().collect();
        assert_eq!(reached, states, "{} {}", family.kind, family.member);
        for (from, logs) in &logs {
            for to in states.iter().filter(|to| *to != from) {
                let mut is_moved = false;
                for log in logs {
                    for (by, rows) in attempts(family, from, to, log.len() as u64 + 1) {
                        let after = state(family, &folded(&[log.clone(), rows].concat())).unwrap();
                        let place = format!("{} {} {from} {to} by {by}", family.kind, family.member);
                        // A row that leads elsewhere than it was meant to leads where the table has a way.
                        assert!(after == *from || family.machine.allows(from, &after), "{place}: {after}");
                        if after == *to {
                            is_moved = true;
                            assert!(is_named(family, from, to, &by), "{place}");
                        }
                    }
                }
                assert_eq!(is_moved, family.machine.allows(from, to), "{} {from} {to}", family.kind);
                assert!(!is_moved || !family.machine.is_terminal(from), "{} leaves {from}", family.kind);
            }
        }
    }
}

/// What comes from another state than the one a thing is in does not move it.
#[test]
fn a_move_begins_where_the_thing_is() {
    for family in FAMILIES {
        let logs = logs(family);
        for way in family.machine.transitions {
            for (at, logs) in logs.iter().filter(|(at, _)| *at != way.from) {
                let log = &logs[0];
                for (_, rows) in attempts(family, way.from, way.to, log.len() as u64 + 1) {
                    if rows.iter().any(|row| row.record.get("from_state").is_some()) {
                        let after = state(family, &folded(&[log.clone(), rows].concat()));
                        assert_eq!(after.as_ref(), Some(at), "{} {} {}", family.kind, way.from, way.to);
                    }
                }
            }
        }
    }
}

/// What blocks neither runs out nor is waved away, and what still waits is not closed.
#[test]
fn guards_hold() {
    let blocking = [
        finding(1, "x", "active", "blocking"),
        finding_moved(2, "x", "active", "expired", "expired_by_policy"),
    ];
    let item = |kind: &str, source: &str, priority: &str| attention(2, "x", kind, source, priority);
    let closed = |to: &str| general(3, "attention_ledger_item:x", "open", to);
    let late = |at: u64| {
        let mut opened = chain(1, "x", "'judge'");
        let mut members = opened.record.as_object().unwrap().clone();
        members.insert("timeout_at", time(10));
        opened.record = members.into();
        vec![opened, general(at, "evaluation_chain_registry_record:x", "open", "timed_out")]
    };
    let waiting = |more: &[Draft]| {
        [
            &[call(1, "h"), item("hard_call_pending", "hard_revision_call:h", "high")],
            more,
            &[closed("resolved")],
        ]
        .concat()
    };
    let written = |draft: Draft| {
        let mut members = draft.record.as_object().unwrap().clone();
        members.remove("durable_library_write_ref");
        Draft { record: members.into(), ..draft }
    };
    let approved = [candidate(1, "x"), general(2, "library_promotion_candidate:x", "queued", "approved")];
    for (name, log, expected) in [
        ("evaluation_finding_record", blocking.to_vec(), "active"),
        (
            "attention_ledger_item",
            vec![item("blocked_item", "outcome_record:o", "blocking"), closed("dismissed")],
            "open",
        ),
        ("attention_ledger_item", waiting(&[]), "open"),
        ("attention_ledger_item", waiting(&[resolved(2, "h", "a")]), "resolved"),
        ("attention_ledger_item", waiting(&[resolved(2, "h", "z")]), "open"),
        ("evaluation_chain_registry_record", late(9), "open"),
        ("evaluation_chain_registry_record", late(10), "timed_out"),
        (
            "library_promotion_candidate",
            [&approved[..], &[written(promoted(3, "x", "promoted"))]].concat(),
            "approved",
        ),
    ] {
        let folds = folded(&log);
        let family = FAMILIES.iter().find(|family| family.snake == name).unwrap();
        assert_eq!(state(family, &folds).as_deref(), Some(expected), "{name} {log:?}");
    }
}
