//! Operations on a workspace: contention, repetition, what is refused.

use super::{at, raw, reference, typed, wrong};
use countersign_govern::decide::workspace::{self, Given, Lock, Query, Refusal, Workspace};
use countersign_govern::decide::{Span, folded, row};
use countersign_govern::types::added::policy::PolicyEvaluation;
use countersign_govern::types::taint::SanitizationNode;
use countersign_govern::types::wire::Wire;
use countersign_govern::types::workspace::{
    SourceWorkspaceOperation as Operation, SourceWorkspaceOperationKind as Kind,
    SourceWorkspaceOperationReceipt as Receipt, SourceWorkspaceOperationReceiptConflictReason as Conflict,
    SourceWorkspaceOperationReceiptStatus as Status,
};
use countersign_govern::world::Draft;
use countersign_record::canonical;
use countersign_record::json::{Json, Object};
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeMap;

const AGGREGATION: &str = r#"{"policy_id":"ta1","workspace_taint_rule":"max_taint","any_privileged_record_marks_workspace_privileged":true,"matter_scope_rule":"max_scope_within_matter_only","schema_version":"1.0"}"#;

fn given(at: &countersign_record::time::Timestamp) -> Given<'_> {
    Given { at, decisions: &[], sanitizations: &[], question: None, query: Query::Local }
}

/// A write of a new source, made on a state.
fn write(id: &str, key: &str, source: &str, (seq, head): (u64, &str), second: i64) -> Operation {
    typed(&format!(
        r#"{{"operation_id":"{id}","operation_kind":"add_source_record","task_id":"t1","run_id":"run1","workspace_id":"ws1",
        "actor_ref":"module:m1","idempotency_key":"{key}","policy_decision_refs":[],"data_class":"internal",
        "taint_class":"user_trusted_bounded","privileged":false,"created_at":"{}","schema_version":"1.0","payload_ref":"src:{source}",
        "precondition":{{"workspace_id":"ws1","expected_workspace_head_hash":"{head}","expected_event_seq":{seq},
        "lock_mode":"optimistic_event_seq","on_conflict":"abort_and_reevaluate","schema_version":"1.0"}}}}"#,
        at(second).as_str()
    ))
}

fn source(id: &str) -> String {
    format!(
        r#"{{"source_id":"{id}","tier":2,"source_kind":"document","workspace_id":"ws1","task_id":"t1","trust_basis":"user_supplied",
        "taint_class":"user_trusted_bounded","data_class":"internal","privileged":false,"verification_state":"verified"}}"#
    )
}

/// Decides, and takes the decision into account.
fn submit(
    workspace: &mut Workspace,
    operation: &Operation,
    given: &Given<'_>,
) -> Result<(Receipt, bool), Refusal> {
    let ruling = workspace::decide(workspace, operation, given)?;
    if !ruling.is_repeated {
        workspace.apply(operation, &ruling.receipt);
    }
    Ok((ruling.receipt, ruling.is_repeated))
}

/// The chain, worked out from the operations that were applied.
fn chained(first: &str, applied: &[(Operation, Receipt)]) -> String {
    let mut head = first.to_string();
    for (place, (operation, receipt)) in applied.iter().enumerate() {
        let seq = place as u64 + 1;
        assert_eq!((receipt.prior_event_seq, receipt.new_event_seq), (Some(seq - 1), Some(seq)), "dense");
        assert_eq!(receipt.prior_workspace_head_hash.as_deref(), Some(head.as_str()), "chained");
        let payload = canonical::hash_as_written(&operation.write().unwrap()).to_string();
        let mut link = Object::from([("op", Json::from(payload)), ("prev", Json::from(head))]);
        link.insert("seq", seq.write().unwrap());
        head = canonical::hash_as_written(&link.into()).to_string();
        assert_eq!(receipt.new_workspace_head_hash.as_deref(), Some(head.as_str()), "the link");
    }
    head
}

#[test]
fn of_two_on_one_state_the_first_is_applied() {
    let mut workspace = Workspace::new("ws1", "t1", None);
    let first = workspace.head().to_string();
    let now = at(9);
    let (one, _) = submit(&mut workspace, &write("o1", "k1", "s1", (0, &first), 1), &given(&now)).unwrap();
    let (two, _) = submit(&mut workspace, &write("o2", "k2", "s2", (0, &first), 2), &given(&now)).unwrap();
    assert_eq!((one.status, one.new_event_seq), (Status::Applied, Some(1)));
    assert_eq!((two.status, two.conflict_reason), (Status::Conflict, Some(Conflict::EventSeqMismatch)));
    assert_eq!(
        (workspace::code_of(&one), workspace::code_of(&two)),
        (None, Some("workspace_event_seq_conflict"))
    );
    let head = workspace.head().to_string();
    let (three, _) = submit(&mut workspace, &write("o3", "k3", "s2", (1, &first), 3), &given(&now)).unwrap();
    assert_eq!(three.conflict_reason, Some(Conflict::WorkspaceHeadHashMismatch));
    let (again, _) = submit(&mut workspace, &write("o4", "k4", "s2", (1, &head), 4), &given(&now)).unwrap();
    assert_eq!((again.status, again.new_event_seq), (Status::Applied, Some(2)));
    let head = workspace.head().to_string();
    let (there, _) = submit(&mut workspace, &write("o5", "k5", "s2", (2, &head), 5), &given(&now)).unwrap();
    assert_eq!(there.status, Status::Failed, "what is there can't be added");
}

#[test]
fn a_lock_keeps_others_out_until_it_ends() {
    let mut workspace = Workspace::new("ws1", "t1", None);
    let lock = |lease: &str, start: i64, end: i64| Lock {
        lease_ref: reference(lease),
        span: Span { start: at(start).instant(), end: at(end).instant() },
    };
    workspace.lock(lock("lease:a", 0, 10)).unwrap();
    assert_eq!(workspace.lock(lock("lease:b", 9, 20)), Err(lock("lease:a", 0, 10)));
    let head = workspace.head().to_string();
    let held = |lease: &str| {
        let mut operation = write(lease, lease, "s1", (0, &head), 1);
        let precondition = operation.precondition.as_mut().unwrap();
        precondition.lock_mode = typed(r#""pessimistic_write_lock""#);
        precondition.lock_lease_ref = Some(reference(&format!("lease:{lease}")));
        operation
    };
    let reason = |workspace: &Workspace, operation: &Operation, second: i64| {
        workspace::decide(workspace, operation, &given(&at(second))).unwrap().receipt.conflict_reason
    };
    let free = write("o1", "k1", "s1", (0, &head), 1);
    assert_eq!(reason(&workspace, &free, 9), Some(Conflict::LockUnavailable));
    assert_eq!(reason(&workspace, &free, 10), None);
    assert_eq!(reason(&workspace, &held("a"), 9), None);
    assert_eq!(reason(&workspace, &held("a"), 10), Some(Conflict::LockUnavailable));
    assert_eq!(reason(&workspace, &held("b"), 9), Some(Conflict::LockUnavailable));
    let mut bare = held("a");
    bare.precondition.as_mut().unwrap().lock_lease_ref = None;
    let refused = workspace::decide(&workspace, &bare, &given(&at(1))).unwrap_err();
    assert_eq!(refused.code(), Some("workspace_mutation_without_precondition"));
    workspace.lock(lock("lease:b", 10, 20)).unwrap();
}

#[test]
fn a_source_is_not_trusted_more_by_being_written_again() {
    let mut workspace = Workspace::new("ws1", "t1", None);
    let now = at(9);
    let first = workspace.head().to_string();
    let mut tainted = write("o1", "k1", "s1", (0, &first), 1);
    tainted.taint_class = typed(r#""external_untrusted""#);
    submit(&mut workspace, &tainted, &given(&now)).unwrap();
    let mut clean = write("o2", "k2", "s1", (1, workspace.head()), 2);
    clean.operation_kind = Kind::UpdateSourceRecord;
    let status = |given: &Given<'_>| workspace::decide(&workspace, &clean, given).unwrap().receipt;
    let refused = status(&given(&now));
    assert_eq!((refused.status, refused.prior_workspace_head_hash), (Status::RejectedByPolicy, None));
    let node: SanitizationNode = typed(
        r#"{"node_id":"n1","input_taint":"external_untrusted","output_taint":"user_trusted_bounded","method":"human_review",
        "evidence_ref":"user_confirmation:uc1","input_ref":"src:s1","created_at":"2026-03-02T08:02:00Z","schema_version":"1.0"}"#,
    );
    let other = SanitizationNode { input_ref: Some(reference("src:s2")), ..node.clone() };
    assert_eq!(status(&Given { sanitizations: &[other], ..given(&now) }).status, Status::RejectedByPolicy);
    assert_eq!(status(&Given { sanitizations: &[node], ..given(&now) }).status, Status::Applied);
}

/// What a writer does in its turn.
#[derive(Clone, Copy, Debug)]
enum Turn {
    Read,
    Write,
    /// The last write once more, with the id and time of a new try.
    Retry,
}

proptest! {
    /// Random interleavings of writers. Of those who wrote on one state exactly one is applied, the numbers have no gaps, the
    /// heads are a chain, a second try with one key changes nothing, the log gives the same state, and it has no codes.
    #[test]
    fn exactly_one_of_each_contending_group_is_applied(
        turns in prop::collection::vec((0_usize..5, select(vec![Turn::Read, Turn::Write, Turn::Write, Turn::Retry])), 1..40),
    ) {
        let mut workspace = Workspace::new("ws1", "t1", None);
        let first = workspace.head().to_string();
        let mut seen = vec![(0_u64, first.clone()); 5];
        let mut last: Vec<Option<(Operation, Receipt)>> = vec![None; 5];
        let mut log: Vec<(Operation, Receipt)> = Vec::new();
        let mut rows: Vec<Draft> = vec![raw("TaintAggregationPolicy", AGGREGATION, 0)];
        for (place, (writer, turn)) in turns.iter().enumerate() {
            let second = place as i64;
            match turn {
                Turn::Read => seen[*writer] = (workspace.seq(), workspace.head().to_string()),
                Turn::Write => {
                    let (seq, head) = &seen[*writer];
                    let operation =
                        write(&format!("o{place}"), &format!("k{place}"), &format!("s{place}"), (*seq, head), second);
                    let (receipt, is_repeated) = submit(&mut workspace, &operation, &given(&at(second))).unwrap();
                    prop_assert!(!is_repeated);
                    rows.push(row(&operation, &at(second)));
                    rows.push(row(&receipt, &at(second)));
                    if receipt.status == Status::Applied {
                        rows.push(raw("SourceRecord", &source(&format!("s{place}")), second));
                        rows.push(folded("SourceWorkspaceCurrentState", &workspace.current(None).unwrap(), &at(second)));
                    }
                    log.push((operation.clone(), receipt.clone()));
                    last[*writer] = Some((operation, receipt));
                }
                Turn::Retry => {
                    let Some((operation, receipt)) = &last[*writer] else { continue };
                    let before = workspace.clone();
                    let mut again = operation.clone();
                    again.operation_id = format!("again{place}");
                    again.created_at = (&at(second)).into();
                    prop_assert_eq!(submit(&mut workspace, &again, &given(&at(second))), Ok((receipt.clone(), true)));
                    again.payload_ref = Some(reference("src:other"));
                    prop_assert_eq!(submit(&mut workspace, &again, &given(&at(second))), Err(Refusal::KeyReused));
                    prop_assert_eq!(&workspace, &before);
                }
            }
        }
        let mut groups: BTreeMap<u64, usize> = BTreeMap::new();
        for (operation, receipt) in &log {
            let expected = operation.precondition.as_ref().unwrap().expected_event_seq;
            *groups.entry(expected).or_default() += usize::from(receipt.status == Status::Applied);
        }
        prop_assert!(groups.values().all(|applied| *applied == 1), "{groups:?}");
        let applied: Vec<(Operation, Receipt)> =
            log.iter().filter(|(_, receipt)| receipt.status == Status::Applied).cloned().collect();
        prop_assert_eq!(chained(&first, &applied), workspace.head());
        prop_assert_eq!(applied.len() as u64, workspace.seq());
        let mut read = Workspace::new("ws1", "t1", None);
        log.iter().for_each(|(operation, receipt)| read.apply(operation, receipt));
        prop_assert_eq!(read, workspace);
        prop_assert_eq!(wrong(&rows), Vec::<String>::new());
    }
}

/// An operation as somebody sends it who means no good.
#[derive(Clone, Debug)]
struct Hostile {
    id: &'static str,
    key: &'static str,
    kind: Kind,
    workspace: &'static str,
    matter: Option<&'static str>,
    payload: Option<&'static str>,
    policy: Option<&'static str>,
    /// The number and head that it expects; none if it has no precondition.
    expects: Option<(u64, bool)>,
    lease: Option<&'static str>,
    is_pessimistic: bool,
    taint: &'static str,
}

fn hostile() -> impl Strategy<Value = Hostile> {
    let named = (
        select(vec!["", " ", "o@1", "o1", "o2", "o3", "o4", "o5", "o6"]),
        select(vec!["", "k1", "k2", "k3", "k4", "k5", "k6"]),
        select(Kind::ALL),
        select(vec!["ws1", "ws1", "ws1", "ws2"]),
        select(vec![Some("m1"), Some("m1"), Some("m2"), None]),
    );
    let holds = (
        select(vec![
            None,
            Some("src:s1"),
            Some("src:s2"),
            Some("source_query_record:q1"),
            Some("research_need:n1"),
        ]),
        select(vec![
            None,
            None,
            Some("policy_evaluation:yes"),
            Some("policy_evaluation:no"),
            Some("policy_evaluation:gone"),
        ]),
        prop::option::of((select(vec![0, 1, 2, 3, u64::MAX]), any::<bool>())),
        select(vec![None, Some("lease:a")]),
        any::<bool>(),
        select(vec!["user_trusted_bounded", "external_untrusted"]),
    );
    (named, holds).prop_map(
        |((id, key, kind, workspace, matter), (payload, policy, expects, lease, is_pessimistic, taint))| {
            Hostile {
                id,
                key,
                kind,
                workspace,
                matter,
                payload,
                policy,
                expects,
                lease,
                is_pessimistic,
                taint,
            }
        },
    )
}

impl Hostile {
    fn operation(&self, workspace: &Workspace, second: i64) -> Operation {
        let mut operation = write("x", "k", "s1", (0, ""), second);
        let precondition = operation.precondition.take().unwrap();
        operation.operation_id = self.id.to_string();
        operation.idempotency_key = self.key.to_string();
        operation.operation_kind = self.kind;
        operation.workspace_id = self.workspace.to_string();
        operation.matter_id = self.matter.map(str::to_string);
        operation.payload_ref = self.payload.map(reference);
        operation.policy_decision_refs = self.policy.iter().map(|text| typed(&format!("{text:?}"))).collect();
        operation.taint_class = typed(&format!("{:?}", self.taint));
        operation.precondition = self.expects.map(|(seq, is_head)| {
            let mut one = precondition;
            one.expected_event_seq = seq;
            one.expected_workspace_head_hash =
                if is_head { workspace.head().to_string() } else { "0".repeat(64) };
            one.lock_lease_ref = self.lease.map(reference);
            if self.is_pessimistic {
                one.lock_mode = typed(r#""pessimistic_write_lock""#);
            }
            one
        });
        operation
    }
}

const DECISIONS: [&str; 2] = ["allow", "deny"];

fn decisions() -> Vec<PolicyEvaluation> {
    let decision = |(id, decision): (&str, &str)| {
        typed(&format!(
            r#"{{"policy_evaluation_id":"{id}","policy_id":"p","policy_version":"1","decision":"{decision}","user_alterable":false,"decided_at":"2026-03-02T08:00:00Z"}}"#
        ))
    };
    ["yes", "no"].into_iter().zip(DECISIONS).map(decision).collect()
}

proptest! {
    /// Whatever is sent: what is applied was expected and allowed, who is of another matter learns nothing, only what is applied
    /// moves the workspace, and what was decided has no codes.
    #[test]
    fn hostile_operations_do_no_harm(sent in prop::collection::vec(hostile(), 1..24)) {
        let mut workspace = Workspace::new("ws1", "t1", Some("m1"));
        let lease = Span { start: at(0).instant(), end: at(8).instant() };
        workspace.lock(Lock { lease_ref: reference("lease:a"), span: lease }).unwrap();
        let decisions = decisions();
        let query = r#"{"query_id":"q1","workspace_id":"ws1","task_id":"t1","query_text":"x","route":"library","created_at":"2026-03-02T08:00:00Z"}"#;
        let mut rows = vec![raw("TaintAggregationPolicy", AGGREGATION, 0), raw("SourceQueryRecord", query, 0)];
        rows.extend(decisions.iter().map(|one| row(one, &at(0))));
        for (place, one) in sent.iter().enumerate() {
            let now = at(place as i64);
            let operation = one.operation(&workspace, place as i64);
            let is_accounted = one.payload == Some("source_query_record:q1");
            let query = if is_accounted { Query::Local } else { Query::Unaccounted };
            let given = Given { decisions: &decisions, query, ..given(&now) };
            let before = (workspace.seq(), workspace.head().to_string());
            let Ok((receipt, is_repeated)) = submit(&mut workspace, &operation, &given) else {
                prop_assert_eq!((workspace.seq(), workspace.head()), (before.0, before.1.as_str()));
                continue;
            };
            let is_changed = (workspace.seq(), workspace.head().to_string()) != before;
            prop_assert_eq!(is_changed, !is_repeated && receipt.status == Status::Applied);
            if one.matter != Some("m1") || one.policy.is_some_and(|policy| policy != "policy_evaluation:yes") {
                prop_assert_eq!(receipt.status, Status::RejectedByPolicy);
                prop_assert_eq!((&receipt.prior_workspace_head_hash, receipt.prior_event_seq), (&None, None));
            }
            if is_changed {
                let expected = operation.precondition.as_ref().unwrap();
                let expected = (expected.expected_event_seq, expected.expected_workspace_head_hash.clone());
                prop_assert_eq!(expected, before);
                prop_assert!(workspace::is_mutating(one.kind) && one.kind != Kind::AnswerResearchNeed);
                prop_assert!(place >= 8 || one.lease == Some("lease:a"), "the lock was held");
                let state = workspace.current(None).unwrap();
                rows.push(folded("SourceWorkspaceCurrentState", &state, &now));
                let place = rows.len() - 1;
                rows.insert(place, row(&operation, &now));
                rows.insert(place + 1, row(&receipt, &now));
            } else if !is_repeated {
                rows.extend([row(&operation, &now), row(&receipt, &now)]);
            }
        }
        prop_assert_eq!(wrong(&rows), Vec::<String>::new());
    }
}
