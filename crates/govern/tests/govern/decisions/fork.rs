//! Forks and restores: they list what can't be undone, all of it and nothing else.

use super::{at, codes_of, raw, reference, typed, wrong};
use countersign_govern::decide::fork::{self, Ask, Refusal, Restoring};
use countersign_govern::decide::row;
use countersign_govern::types::added::repair::SideEffectLedgerEntry;
use countersign_govern::types::checkpoint::KnownGoodCheckpoint;
use countersign_govern::types::review::RevisionReviewPacket;
use countersign_govern::world::Draft;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeSet;

const CODE: &str = "restore_checkpoint_ignores_irreversible_side_effects";

fn checkpoint() -> KnownGoodCheckpoint {
    typed(
        r#"{"checkpoint_id":"kg1","task_id":"t1","run_id":"run1","label":"before the rewrite","artifact_head_refs":["artifact_version:a1-v1"],
        "artifact_version_refs":["artifact_version:a1-v1"],"source_workspace_snapshot_refs":[],"graph_topology_snapshot_ref":"artifact:graph",
        "policy_snapshot_ref":"policy_snapshot:p1","capability_snapshot_ref":"capability_snapshot:c1","event_seq":2,
        "irreversible_side_effect_refs":[],"created_by_ref":"user:u1","created_at":"2026-03-02T08:00:00Z","schema_version":"1.0"}"#,
    )
}

fn packet() -> RevisionReviewPacket {
    typed(
        r#"{"packet_id":"rr1","task_id":"t1","run_id":"run1","revision_plan_ref":"artifact:plan","before_artifact_version_ref":"artifact_version:a1-v1",
        "candidate_artifact_version_ref":"artifact_version:a1-v2","semantic_diff_ref":"artifact:diff","finding_to_change_map":{},
        "preservation_constraint_result_refs":[],"source_changes":[],"revalidation_result_refs":[],"regression_risk_summary":"low",
        "state":"review_pending","decision_receipt_refs":[],"created_at":"2026-03-02T08:00:00Z","schema_version":"1.1"}"#,
    )
}

fn rows() -> Vec<Draft> {
    vec![
        raw(
            "PolicySnapshot",
            r#"{"snapshot_id":"p1","policy_refs":[],"created_at":"2026-03-02T08:00:00Z"}"#,
            0,
        ),
        raw(
            "CapabilitySnapshot",
            r#"{"snapshot_id":"c1","capabilities":[],"created_at":"2026-03-02T08:00:00Z"}"#,
            0,
        ),
        row(&checkpoint(), &at(0)),
        row(&packet(), &at(0)),
    ]
}

fn entries() -> impl Strategy<Value = Vec<SideEffectLedgerEntry>> {
    let entry = (
        select(vec!["e1", "e2", "e3", "e4"]),
        select(vec!["run1", "run1", "run2"]),
        any::<bool>(),
        select(vec!["intent", "executed", "executed", "cancelled"]),
        any::<bool>(),
    );
    let entry = entry.prop_map(|(id, run, irreversible, state, has_receipt)| {
        let receipt = if has_receipt { r#","receipt_ref":"workspace_externalization_receipt:x1""# } else { "" };
        typed(&format!(
            r#"{{"side_effect_id":"{id}-{run}","run_id":"{run}","kind":"export_bundle","irreversible":{irreversible},"state":"{state}","created_at":"2026-03-02T08:00:00Z"{receipt}}}"#
        ))
    });
    prop::collection::vec(entry, 0..12)
}

#[test]
fn a_fork_fits_its_checkpoint() {
    let (now, done) = (at(9), fork::ledger([]));
    let ask = Ask { fork_id: "f1", new_run_id: "run9", reason: "try again", seq: 3, at: &now };
    let refused = |ask: Ask<'_>| fork::fork(&checkpoint(), &ask, &done).unwrap_err();
    assert_eq!(refused(Ask { seq: 2, ..ask }), Refusal::NotYet);
    assert_eq!(refused(Ask { new_run_id: "run1", ..ask }), Refusal::Unnamed);
    assert_eq!(refused(Ask { fork_id: " ", ..ask }), Refusal::Unnamed);
    let nameless: SideEffectLedgerEntry = typed(
        r#"{"side_effect_id":" ","run_id":"run1","kind":"mail","irreversible":true,"state":"executed","created_at":"2026-03-02T08:00:00Z"}"#,
    );
    let done = fork::ledger([(1, &nameless)]);
    assert_eq!(fork::fork(&checkpoint(), &ask, &done), Err(Refusal::NamelessEffect));
    let other = KnownGoodCheckpoint { run_id: "run2".to_string(), ..checkpoint() };
    let person = reference("user:u1");
    let by = Restoring { receipt_id: "r1", actor: &person, rationale: "it was better", seq: 9, at: &now };
    assert_eq!(fork::restore(&packet(), &other, &by, &done).unwrap_err(), Refusal::OtherRun);
}

proptest! {
    /// At any place of any ledger: what a fork or a restore lists is what the ledger shows as carried out and irreversible by then,
    /// its rows have no codes, and leaving any of it out is found.
    #[test]
    fn what_can_not_be_undone_is_listed(entries in entries(), place in any::<prop::sample::Index>()) {
        let place = place.index(entries.len() + 1);
        let mut log = rows();
        let first = log.len() as u64 + 1;
        let seq = first + place as u64;
        let done = fork::ledger((first..).zip(&entries));
        let expected: BTreeSet<&str> = entries[..place]
            .iter()
            .filter(|entry| entry.run_id == "run1" && entry.irreversible && entry.state.as_str() == "executed")
            .map(|entry| entry.side_effect_id.as_str())
            .collect();
        let now = at(5);
        let ask = Ask { fork_id: "f1", new_run_id: "run9", reason: "try again", seq, at: &now };
        let fork = fork::fork(&checkpoint(), &ask, &done).unwrap();
        let person = reference("user:u1");
        let by = Restoring { receipt_id: "r1", actor: &person, rationale: "it was better", seq, at: &now };
        let restore = fork::restore(&packet(), &checkpoint(), &by, &done).unwrap();
        let listed = &fork.irrevocable_side_effects_at_fork;
        prop_assert_eq!(listed.iter().map(|one| one.side_effect_id.as_str()).collect::<BTreeSet<_>>(), expected);
        prop_assert_eq!(restore.irrevocable_side_effects_at_fork.as_ref(), Some(listed));
        log.extend(entries.iter().map(|entry| row(entry, &now)));
        let with = |one: Draft| {
            let mut log = log.clone();
            log.insert(rows().len() + place, one);
            log
        };
        prop_assert_eq!(wrong(&with(row(&fork, &now))), Vec::<String>::new());
        prop_assert_eq!(wrong(&with(row(&restore, &now))), Vec::<String>::new());
        for left_out in 0..listed.len() {
            let mut fork = fork.clone();
            fork.irrevocable_side_effects_at_fork.remove(left_out);
            prop_assert_eq!(codes_of(&with(row(&fork, &now))), vec![CODE]);
            let mut restore = restore.clone();
            restore.irrevocable_side_effects_at_fork.as_mut().unwrap().remove(left_out);
            prop_assert_eq!(codes_of(&with(row(&restore, &now))), vec![CODE]);
        }
    }
}
