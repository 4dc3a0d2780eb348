//! What a run understood, and what people say to it.

use crate::stage::{LEASE, Stage, TASK};
use countersign_govern::types::reliance::{
    AttentionKind, EvaluationContractReviewApprovalStatus as Status, RelianceArtifactLifecycleState as Life,
};
use countersign_record::json;
use countersign_work::attention;
use countersign_work::contract::{self, Decision, Refusal};
use countersign_work::cost::{self, Grounds, Model};
use countersign_work::task::{self, Task};

const ASKED: &str = r#""policies": {"approval": {"contract": "required"}}"#;

fn edited(from: &str, to: &str) -> Task {
    let text = crate::stage::task_with(ASKED).replace(from, to);
    assert_ne!(text, crate::stage::task_with(ASKED));
    task::read_whole(&json::parse(text.as_bytes()).unwrap()).unwrap()
}

#[test]
fn a_policy_that_needs_nobody_waives_it() {
    let mut stage = Stage::new(TASK, &[("lease", LEASE)]);
    cost::forecast(&mut stage.desk, &Grounds { source_tokens: 10, model: Model::Local }).unwrap();
    contract::open(&mut stage.desk).unwrap();
    stage.is_clean();
    let review = contract::last(&stage.desk).unwrap();
    assert_eq!(
        (review.approval_status, review.lifecycle_state),
        (Status::WaivedByPolicy, Life::ReadyForReview)
    );
    assert!(review.estimated_cost_vector_ref.is_some());
    assert!(attention::open(&stage.desk).is_empty());
    assert_eq!(contract::decide(&mut stage.desk, &Decision::Approve, "ana"), Err(Refusal::NotAsked));
}

#[test]
fn a_person_approves_or_rejects() {
    for (decision, status) in [
        (Decision::Approve, Status::Approved),
        (Decision::Reject { reason: "not this year" }, Status::Rejected),
    ] {
        let mut stage = Stage::with(ASKED);
        contract::open(&mut stage.desk).unwrap();
        stage.is_clean();
        let waits: Vec<_> = attention::open(&stage.desk).iter().map(|one| one.attention_kind).collect();
        assert_eq!(waits, [AttentionKind::ApprovalRequired]);
        stage.later();
        contract::decide(&mut stage.desk, &decision, "ana").unwrap();
        stage.is_clean();
        assert_eq!(contract::last(&stage.desk).unwrap().approval_status, status);
        assert!(attention::open(&stage.desk).is_empty());
        assert_eq!(contract::decide(&mut stage.desk, &Decision::Approve, "ana"), Err(Refusal::NotAsked));
    }
}

#[test]
fn a_person_changes_words_and_is_asked_again() {
    let mut stage = Stage::with(ASKED);
    contract::open(&mut stage.desk).unwrap();
    stage.later();
    let task = edited("There is a section on the term.", "There is a section on the term and its end.");
    contract::decide(&mut stage.desk, &Decision::Edit(&task), "ana").unwrap();
    stage.is_clean();
    let review = contract::last(&stage.desk).unwrap();
    assert_eq!(review.approval_status, Status::Pending);
    assert!(review.criteria_summary.contains(&"There is a section on the term and its end.".to_owned()));
    assert_eq!(attention::open(&stage.desk).len(), 1);
    stage.later();
    contract::decide(&mut stage.desk, &Decision::Approve, "ana").unwrap();
    stage.is_clean();
    // The work goes by the new contract.
    let claims = stage.passing();
    assert_eq!(stage.hand_over(&claims), "safe_to_rely_within_scope");
    stage.is_clean();
    let late = contract::decide(&mut stage.desk, &Decision::Edit(&task), "ana");
    assert_eq!(late, Err(Refusal::NotAsked));
}

#[test]
fn a_change_of_what_is_there_makes_another_task() {
    let mut stage = Stage::with(ASKED);
    contract::open(&mut stage.desk).unwrap();
    let before = stage.desk.end();
    let task = edited(r#""tier": 2"#, r#""tier": 3"#);
    let refused = contract::decide(&mut stage.desk, &Decision::Edit(&task), "ana");
    assert_eq!((refused, stage.desk.end()), (Err(Refusal::AnotherTask), before));
}
