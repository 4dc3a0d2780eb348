//! Questions to sources with leases, tiers, the library.

use crate::stage::Stage;
use countersign_govern::decide::lease::Refusal;
use countersign_govern::types::basic::{StorageRef, TaintClass};
use countersign_govern::types::library::LibraryPromotionCandidateStatus as Promotion;
use countersign_govern::types::reliance::AttentionKind;
use countersign_govern::types::research::{
    ResearchNeedLeaseOnExpiry as OnExpiry, ResearchNeedStatus as Status,
};
use countersign_work::library::{self, Gate};
use countersign_work::research::{self, Unmoved};
use countersign_work::{attention, workspace};

/// A run with a sentence that no source says, so that a source is asked for.
fn asked() -> (Stage, String) {
    let mut stage = Stage::small();
    let text = format!("{}The landlord owns a boat.\n", crate::stage::GOOD);
    let version = stage.version("memo", &text);
    stage.look("memo", &version, &text);
    let need = research::all(&stage.desk)[0].need_id.clone();
    stage.is_clean();
    (stage, need)
}

fn status(stage: &Stage, need: &str) -> Status {
    research::all(&stage.desk).into_iter().find(|one| one.need_id == need).unwrap().status
}

#[test]
fn one_module_holds_a_question() {
    let (mut stage, need) = asked();
    stage.later();
    research::lease(&mut stage.desk, &need, "research", (600_000, OnExpiry::Escalate)).unwrap();
    stage.is_clean();
    assert_eq!(status(&stage, &need), Status::Leased);
    let other = research::lease(&mut stage.desk, &need, "another", (600_000, OnExpiry::Escalate));
    assert_eq!(other, Err(Unmoved::Refused(Refusal::NotOpen)));
}

#[test]
fn a_person_answers_from_a_source() {
    let user = StorageRef::try_from("user:ana").unwrap();
    for before in [Status::Open, Status::HumanNeeded, Status::Unresolved] {
        let (mut stage, need) = asked();
        stage.later();
        if before != Status::Open {
            research::hand(&mut stage.desk, &need, before, &user, "nobody knows").unwrap();
        }
        research::answer(&mut stage.desk, &need, "lease", "ana").unwrap();
        attention::refresh(&mut stage.desk).unwrap();
        stage.is_clean();
        assert_eq!(status(&stage, &need), Status::Answered);
        assert!(attention::open(&stage.desk).is_empty());
        assert!(research::answer(&mut stage.desk, &need, "lease", "ana").is_err());
    }
}

#[test]
fn a_question_is_handed_on_and_back() {
    let (mut stage, need) = asked();
    stage.later();
    let user = StorageRef::try_from("user:ana").unwrap();
    research::hand(&mut stage.desk, &need, Status::HumanNeeded, &user, "no source says it").unwrap();
    stage.is_clean();
    let waits: Vec<_> = attention::open(&stage.desk).iter().map(|one| one.attention_kind).collect();
    assert_eq!(waits, [AttentionKind::ResearchNeedHuman]);
    research::hand(&mut stage.desk, &need, Status::Open, &user, "look in the annex").unwrap();
    stage.is_clean();
    stage.later();
    research::lease(&mut stage.desk, &need, "research", (60_000, OnExpiry::Escalate)).unwrap();
    stage.is_clean();
    research::hand(&mut stage.desk, &need, Status::HumanNeeded, &user, "it is not there").unwrap();
    stage.is_clean();
    stage.later();
    research::hand(&mut stage.desk, &need, Status::Unresolved, &user, "nobody knows").unwrap();
    stage.is_clean();
    assert_eq!(status(&stage, &need), Status::Unresolved);
    assert!(attention::open(&stage.desk).is_empty());
    let odd = research::hand(&mut stage.desk, &need, Status::Answered, &user, "by the way");
    assert_eq!(odd, Err(Unmoved::Refused(Refusal::NotOpen)));
}

#[test]
fn a_source_moves_between_tiers() {
    let mut stage = Stage::small();
    let user = StorageRef::try_from("user:ana").unwrap();
    for tier in [3, 1] {
        stage.later();
        workspace::move_tier(&mut stage.desk, "lease", tier, &user, "matter_lead").unwrap();
        stage.is_clean();
    }
    assert!(workspace::move_tier(&mut stage.desk, "lease", 1, &user, "matter_lead").is_err());
    assert!(workspace::move_tier(&mut stage.desk, "lease", 0, &user, "matter_lead").is_err());
}

#[test]
fn a_person_answers_for_a_page_from_the_web() {
    let page = crate::stage::TASK.replace(
        r#""kind": "document", "trust_basis": "user_supplied""#,
        r#""kind": "web_source", "trust_basis": "web_unverified""#,
    );
    let mut stage = Stage::new(&page, &[("lease", crate::stage::LEASE)]);
    assert_eq!(workspace::whole(&stage.desk).0, TaintClass::ExternalUntrusted);
    stage.later();
    workspace::clear(&mut stage.desk, "lease", "ana").unwrap();
    stage.is_clean();
    assert_eq!(workspace::whole(&stage.desk).0, TaintClass::UserTrustedBounded);
    assert!(workspace::clear(&mut stage.desk, "lease", "ana").is_err());
    let claims = stage.passing();
    assert_eq!(stage.hand_over(&claims), "safe_to_rely_within_scope");
    stage.is_clean();
}

#[test]
fn a_person_lets_a_source_into_the_library() {
    let mut stage = Stage::small();
    let module = StorageRef::try_from("module:research").unwrap();
    let id = library::propose(&mut stage.desk, "lease", &module).unwrap();
    stage.is_clean();
    stage.later();
    assert_eq!(library::approve(&mut stage.desk, &id, "ana", "librarian"), Ok(Gate::Open));
    stage.is_clean();
    assert!(library::approve(&mut stage.desk, &id, "ana", "librarian").is_err());
    let written = StorageRef::try_from("library_entry:lease").unwrap();
    library::promoted(&mut stage.desk, &id, &written).unwrap();
    stage.is_clean();
    assert_eq!(library::all(&stage.desk)[0].status, Promotion::Promoted);
    assert!(library::promoted(&mut stage.desk, &id, &written).is_err());
}

#[test]
fn a_gate_stays_shut() {
    let unverified = crate::stage::TASK.replace(r#""verified_by": "ana", "#, "");
    for (task, access, words) in [
        (crate::stage::TASK.to_owned(), "reader", "it takes the access of a librarian"),
        (unverified, "librarian", "nobody verified the source"),
        (
            crate::stage::TASK.replace(r#""tier": 2"#, r#""tier": 1"#),
            "librarian",
            "the source is of tier 1, and it takes 2",
        ),
    ] {
        let mut stage = Stage::new(&task, &[("lease", crate::stage::LEASE)]);
        let module = StorageRef::try_from("module:research").unwrap();
        let id = library::propose(&mut stage.desk, "lease", &module).unwrap();
        let gate = library::approve(&mut stage.desk, &id, "ana", access).unwrap();
        assert_eq!(gate, Gate::Shut(words.to_owned()));
        stage.is_clean();
        assert_eq!(library::all(&stage.desk)[0].status, Promotion::Rejected);
    }
}

#[test]
fn a_wish_ends_with_the_run() {
    let mut stage = Stage::small();
    let module = StorageRef::try_from("module:research").unwrap();
    library::propose(&mut stage.desk, "lease", &module).unwrap();
    library::cancel(&mut stage.desk).unwrap();
    stage.is_clean();
    assert_eq!(library::all(&stage.desk)[0].status, Promotion::Cancelled);
}
