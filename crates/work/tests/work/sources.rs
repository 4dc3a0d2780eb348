//! Questions to sources with leases, tiers, the library.

use crate::stage::Stage;
use countersign_govern::decide::lease::Refusal;
use countersign_govern::types::basic::{StorageRef, TaintClass};
use countersign_govern::types::library::LibraryPromotionCandidateStatus as Promotion;
use countersign_govern::types::reliance::AttentionKind;
use countersign_govern::types::research::{
    ResearchNeedLeaseOnExpiry as OnExpiry, ResearchNeedStatus as Status,
};
use countersign_govern::types::wire::{Reading, Wire};
use countersign_record::json;
use countersign_work::library::{self, Gate};
use countersign_work::research::{self, Answers, Unmoved};
use countersign_work::task::Source;
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

fn letter() -> Source {
    let text =
        br#"{"id": "letter", "path": "added/letter.md", "kind": "email", "trust_basis": "user_supplied",
        "tier": 2, "verified_by": "ana", "data_class": "internal", "privileged": false}"#;
    Source::read(&json::parse(text).unwrap(), &mut Reading::default()).unwrap()
}

#[test]
fn one_module_holds_a_question_and_answers_it() {
    leased();
}

/// A run in which a question was leased and answered.
pub(crate) fn leased() -> Stage {
    let (mut stage, need) = asked();
    stage.later();
    let token = research::lease(&mut stage.desk, &need, "research", (600_000, OnExpiry::Escalate)).unwrap();
    stage.is_clean();
    assert_eq!(status(&stage, &need), Status::Leased);
    let other = research::lease(&mut stage.desk, &need, "another", (600_000, OnExpiry::Escalate));
    assert_eq!(other, Err(Unmoved::Refused(Refusal::NotOpen)));
    stage.later();
    research::renew(&mut stage.desk, &need, &token, 900_000).unwrap();
    stage.is_clean();
    let wrong = Answers::Module { module: "research", token: "another" };
    assert_eq!(
        research::answer(&mut stage.desk, &need, "lease", wrong),
        Err(Unmoved::Refused(Refusal::DeadToken))
    );
    let own = Answers::Module { module: "research", token: &token };
    research::answer(&mut stage.desk, &need, "lease", own).unwrap();
    stage.is_clean();
    assert_eq!(status(&stage, &need), Status::Answered);
    stage
}

#[test]
fn a_lease_that_runs_out_brings_a_person_in() {
    let (mut stage, need) = asked();
    let token = research::lease(&mut stage.desk, &need, "research", (60_000, OnExpiry::Escalate)).unwrap();
    stage.wait(61);
    research::lapse(&mut stage.desk).unwrap();
    stage.is_clean();
    assert_eq!(status(&stage, &need), Status::HumanNeeded);
    let late = Answers::Module { module: "research", token: &token };
    assert!(research::answer(&mut stage.desk, &need, "lease", late).is_err());
    let waits: Vec<_> = attention::open(&stage.desk).iter().map(|one| one.attention_kind).collect();
    assert_eq!(waits, [AttentionKind::ResearchNeedHuman]);
    // A person brings a source that nobody had.
    stage.later();
    research::answer_with(&mut stage.desk, &need, &letter(), b"The landlord owns a boat.\n", "ana").unwrap();
    stage.is_clean();
    assert_eq!(status(&stage, &need), Status::Answered);
    assert!(attention::open(&stage.desk).is_empty());
    assert!(stage.desk.task().source("letter").is_some());
    // A restart knows the source.
    stage.restart();
    let known = stage.desk.task().source("letter").cloned();
    assert_eq!(known, Some(letter()));
    assert!(workspace::add(&mut stage.desk, &letter(), b"again").is_err());
}

#[test]
fn a_question_is_handed_on_and_back() {
    let (mut stage, need) = asked();
    stage.later();
    research::hand_over(&mut stage.desk).unwrap();
    stage.is_clean();
    assert_eq!(status(&stage, &need), Status::HumanNeeded);
    let user = StorageRef::try_from("user:ana").unwrap();
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
    moved();
}

/// A run whose source was documented better, and then less.
pub(crate) fn moved() -> Stage {
    let mut stage = Stage::small();
    let user = StorageRef::try_from("user:ana").unwrap();
    for tier in [3, 1] {
        stage.later();
        workspace::move_tier(&mut stage.desk, "lease", tier, &user, "matter_lead").unwrap();
        stage.is_clean();
    }
    assert!(workspace::move_tier(&mut stage.desk, "lease", 1, &user, "matter_lead").is_err());
    assert!(workspace::move_tier(&mut stage.desk, "lease", 0, &user, "matter_lead").is_err());
    stage
}

#[test]
fn a_person_answers_for_a_page_from_the_web() {
    cleared();
}

/// A run with a page that a person looked through.
pub(crate) fn cleared() -> Stage {
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
    stage
}

#[test]
fn a_person_lets_a_source_into_the_library() {
    promoted();
}

/// A run whose source entered the library.
pub(crate) fn promoted() -> Stage {
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
    stage
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
fn a_wish_is_refused_or_ends_with_the_run() {
    let mut stage = Stage::small();
    let module = StorageRef::try_from("module:research").unwrap();
    let first = library::propose(&mut stage.desk, "lease", &module).unwrap();
    let second = library::propose(&mut stage.desk, "lease", &module).unwrap();
    library::reject(&mut stage.desk, &first, "ana", "it is private").unwrap();
    library::cancel(&mut stage.desk).unwrap();
    stage.is_clean();
    let status =
        |id: &str| library::all(&stage.desk).into_iter().find(|one| one.candidate_id == id).unwrap().status;
    assert_eq!((status(&first), status(&second)), (Promotion::Rejected, Promotion::Cancelled));
}
