//! Other ways in which checkpoints go wrong.

use super::AREA;
use crate::check::trial::has_found;

const EFFECT: &str = "SideEffectLedgerEntry";
const SENT: &str = r#"{"side_effect_id":"s","run_id":"r","irreversible":true,"state":"executed"}"#;
const WRONG: &str = "restore_checkpoint_ignores_irreversible_side_effects /irrevocable_side_effects_at_fork";

#[test]
fn snapshots_are_of_their_kind() {
    let snapshot = ("PolicySnapshot", r#"{"snapshot_id":"p"}"#);
    let checkpoint = r#"{"checkpoint_id":"k","policy_snapshot_ref":"policy_snapshot:p",
        "capability_snapshot_ref":"policy_snapshot:p"}"#;
    let wrong = "2 known_good_checkpoint_missing_capability_snapshot /capability_snapshot_ref";
    has_found(&AREA, &[snapshot, ("KnownGoodCheckpoint", checkpoint)], &[wrong]);
}

#[test]
fn restores_list_what_stays_done() {
    let packet = ("RevisionReviewPacket", r#"{"packet_id":"p","run_id":"r"}"#);
    let restore = r#"{"receipt_id":"d","packet_id":"p","action":"restore_known_good_state"}"#;
    let receipt = "RevisionReviewDecisionReceipt";
    has_found(&AREA, &[packet, (EFFECT, SENT), (receipt, restore)], &[&std::format!("3 {WRONG}")]);
    // What came later, what was never done, what can be undone, what another run did.
    has_found(&AREA, &[packet, (receipt, restore), (EFFECT, SENT)], &[]);
    for (from, to) in [("executed", "intent"), ("true", "false"), (r#""r""#, r#""other""#)] {
        has_found(&AREA, &[packet, (EFFECT, &SENT.replace(from, to)), (receipt, restore)], &[]);
    }
}

#[test]
fn forks_say_that_it_stays_done() {
    let fork = r#"{"fork_id":"f","parent_run_id":"r","irrevocable_side_effects_at_fork":[{"side_effect_id":"s",
        "note":"not_reversible_in_fork"}]}"#;
    has_found(&AREA, &[(EFFECT, SENT), ("TaskRunFork", fork)], &[]);
    let other = fork.replace("not_reversible_in_fork", "undone");
    has_found(&AREA, &[(EFFECT, SENT), ("TaskRunFork", &other)], &[&std::format!("2 {WRONG}")]);
}
