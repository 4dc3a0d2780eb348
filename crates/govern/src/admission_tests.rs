//! What is let in, what is refused, and what is told of it.

use super::*;
use crate::world::Draft;
use countersign_record::json;
use std::string::ToString;
use std::vec;

fn at(minute: u64) -> Instant {
    Instant::read(&format!("2026-03-02T08:{minute:02}:00Z")).unwrap()
}

fn row(seq: u64, kind: &str, record: &str) -> Placed {
    let record = json::parse(record.replace('\'', "\"").as_bytes()).unwrap();
    (seq, Draft { kind: kind.to_string(), id: None, at: Some(at(seq)), record })
}

fn codes(all: &[Diagnostic]) -> Vec<(u64, &str)> {
    all.iter().map(|one| (one.row, one.code)).collect()
}

fn admit(desk: &mut Desk, batch: Vec<Placed>, minute: u64) -> Result<Admitted, Vec<(u64, &'static str)>> {
    let refused = |refused: Refused| refused.codes.iter().map(|one| (one.row, one.code)).collect();
    desk.admit(batch, at(minute)).map_err(refused)
}

/// A chain for two that is open until ten past eight.
fn chain(seq: u64) -> Placed {
    row(
        seq,
        "EvaluationChainRegistryRecord",
        "{'chain_id':'c','chain_kind':'pattern_c_evaluator_then_judge','expected_producers':['outcome_evaluator','judge'],
          'received_result_ids':[],'status':'open','timeout_at':'2026-03-02T08:10:00Z'}",
    )
}

/// An operation on the state of that number, and what became of it.
fn operation(seq: u64, id: &str, expects: u64) -> Placed {
    row(
        seq,
        "SourceWorkspaceOperation",
        &format!(
            "{{'operation_id':'{id}','operation_kind':'update_source_record','workspace_id':'w','idempotency_key':'{id}',
              'precondition':{{'workspace_id':'w','expected_workspace_head_hash':'h{expects}','expected_event_seq':{expects},
              'lock_mode':'optimistic_event_seq','on_conflict':'abort_and_reevaluate'}}}}"
        ),
    )
}

fn operated(seq: u64, id: &str, status: &str, prior: u64) -> Placed {
    let new = prior + 1;
    row(
        seq,
        "SourceWorkspaceOperationReceipt",
        &format!(
            "{{'receipt_id':'r-{id}','operation_id':'{id}','operation_kind':'update_source_record','workspace_id':'w',
              'prior_event_seq':{prior},'prior_workspace_head_hash':'h{prior}','new_event_seq':{new},
              'new_workspace_head_hash':'h{new}','status':'{status}'}}"
        ),
    )
}

#[test]
fn a_batch_is_let_in_whole_or_not_at_all() {
    let mut desk = Desk::new(Vec::new());
    let alone = vec![row(1, "ReplayStepResult", STEP)];
    assert_eq!(admit(&mut desk, alone, 1), Err(vec![(1, "replay_divergence_unrecorded")]));
    assert_eq!(desk.codes(), []);
    let both = vec![row(1, "ReplayStepResult", STEP), row(2, "ReplayDivergenceRecord", DIVERGENCE)];
    assert_eq!(admit(&mut desk, both, 2), Ok(Admitted::default()));
    assert_eq!(desk.codes(), []);
}

const STEP: &str =
    "{'step_result_id':'s','replay_request_id':'q','source_step_ref':'step:a','depends_on':'model',
    'original_output_hash':'a','replay_output_hash':'b'}";
const DIVERGENCE: &str =
    "{'divergence_id':'d','replay_request_id':'q','divergence_kind':'model_output_drift',
    'source_step_ref':'step:a','original_output_hash':'a','replay_output_hash':'b'}";

#[test]
fn what_was_asked_and_not_let_in_is_not_in() {
    let mut desk = Desk::new(vec![operation(1, "one", 0), operated(2, "one", "applied", 0)]);
    let batch = || vec![operation(3, "two", 1), operated(4, "two", "applied", 1)];
    drop(desk.ask(batch(), at(4)).unwrap());
    assert_eq!(admit(&mut desk, batch(), 4), Ok(Admitted::default()));
    assert_eq!(admit(&mut desk, batch(), 4), Err(vec![(4, "workspace_event_seq_conflict")]));
}

/// The engine is told that it must refuse, and may write down that it did.
#[test]
fn what_was_caught_is_let_in_and_told() {
    let mut desk = Desk::new(vec![operation(1, "one", 0), operated(2, "one", "applied", 0)]);
    let batch = vec![operation(3, "two", 0), operated(4, "two", "conflict", 1)];
    let admitted = admit(&mut desk, batch, 4).unwrap();
    assert_eq!(codes(&admitted.caught), [(3, "workspace_event_seq_conflict")]);
    assert_eq!((admitted.warnings, desk.codes()), (Vec::new(), Vec::new()));
    // It is told with the batch, and not again with others.
    let next = vec![operation(5, "three", 1), operated(6, "three", "applied", 1)];
    assert_eq!(admit(&mut desk, next, 6), Ok(Admitted::default()));
}

#[test]
fn warnings_refuse_nothing() {
    let mut desk = Desk::new(Vec::new());
    let legacy = row(1, "RunExecutionRequirements", "{'requires_background_progress':true}");
    let admitted = admit(&mut desk, vec![legacy], 1).unwrap();
    let expected = (1, "requires_background_progress_legacy_field_present");
    assert_eq!(codes(&admitted.warnings), [expected]);
    assert_eq!(codes(&desk.codes()), [expected]);
    let other = row(2, "RunExecutionRequirements", "{'requires_background_execution':true}");
    assert_eq!(admit(&mut desk, vec![other], 2), Ok(Admitted::default()));
}

/// What nobody did in time, and what was wrong before, is not held against who comes next.
#[test]
fn only_what_a_batch_causes_is_held_against_it() {
    let mut desk = Desk::new(vec![chain(1), row(2, "ReplayStepResult", STEP)]);
    let before = [(2, "replay_divergence_unrecorded")];
    assert_eq!(codes(&desk.codes()), before);
    let step = STEP.replace("'b'", "'a'").replace("'s'", "'t'");
    let other = |seq: u64| vec![row(seq, "ReplayStepResult", &step)];
    assert_eq!(admit(&mut desk, other(3), 3), Ok(Admitted::default()));
    assert_eq!(codes(&desk.codes()), before);
    assert_eq!(admit(&mut desk, other(4), 20), Ok(Admitted::default()));
    assert_eq!(codes(&desk.codes()), [(1, "pattern_c_missing_expected_producer"), before[0]]);
    // A chain that is over when it is written is another matter.
    let late = chain(5).1.record;
    let late = Draft {
        kind: "EvaluationChainRegistryRecord".to_string(),
        id: Some("d".into()),
        at: None,
        record: late,
    };
    assert!(admit(&mut desk, vec![(5, late)], 21).is_err());
}

#[test]
fn a_refusal_says_what_and_where() {
    let mut desk = Desk::new(Vec::new());
    let refused = desk.admit(vec![row(7, "ReplayStepResult", STEP)], at(7)).unwrap_err();
    assert_eq!(refused.to_string(), "row 7: validation.replay_divergence_unrecorded");
}

/// The contract has no code for a signal that comes before its receipts, so the door tells what is not there.
#[test]
fn a_signal_comes_after_its_receipts() {
    let signal = |seq: u64, receipts: &str| {
        row(
            seq,
            "LearningSignal",
            &format!("{{'signal_id':'s{seq}','learning_mode':'production','receipt_refs':[{receipts}]}}"),
        )
    };
    let receipt = |seq: u64| row(seq, "TaskSkipReceipt", "{'skip_id':'r'}");
    let mut desk = Desk::new(Vec::new());
    let places = |refused: Result<Admitted, Refused>| {
        let refused = refused.map(|_| ()).unwrap_err();
        assert!(refused.codes.is_empty(), "{refused}");
        let places = refused.contradictions.into_iter();
        places.map(|one| (one.row, one.path, one.what.as_str())).collect::<Vec<_>>()
    };
    let nothing = [(1, "/receipt_refs/0".to_string(), "names_nothing")];
    assert_eq!(places(desk.admit(vec![signal(1, "'task_skip_receipt:r'")], at(1))), nothing);
    let later = [(1, "/receipt_refs/0".to_string(), "names_later")];
    assert_eq!(places(desk.admit(vec![signal(1, "'task_skip_receipt:r'"), receipt(2)], at(2))), later);
    assert!(desk.admit(vec![receipt(1), signal(2, "'task_skip_receipt:r'")], at(2)).is_ok());
    let unnamed = [(3, "/receipt_refs/1".to_string(), "names_nothing")];
    assert_eq!(places(desk.admit(vec![signal(3, "'task_skip_receipt:r','elsewhere:x'")], at(3))), unnamed);
    assert!(desk.admit(vec![signal(3, "'task_skip_receipt:r'")], at(3)).is_ok());
}
