//! What is told on the board of a run, and to whom.

use crate::stage::Stage;
use countersign_govern::decide::board::{Reader, Role};
use countersign_govern::types::basic::StorageRef;
use countersign_govern::types::board::{
    RunBoardAuditEvent, RunBoardEventClass as Class, RunBoardVisiblePost as Post,
};
use countersign_work::board;

fn reader(reader_ref: &StorageRef) -> Reader<'_> {
    let (role, module_id) = (Role::Module, Some("draft"));
    Reader { reader_ref, matter_id: Some("default"), role, module_id, segment_id: None }
}

fn posts(stage: &Stage) -> Vec<Post> {
    stage.desk.each::<Post>("RunBoardVisiblePost").map(|found| found.record).collect()
}

#[test]
fn what_happens_is_told_once() {
    let mut stage = Stage::small();
    board::tell(&mut stage.desk).unwrap();
    stage.is_clean();
    // The one source was taken in and verified.
    assert_eq!(posts(&stage).len(), 2);
    stage.failing();
    board::tell(&mut stage.desk).unwrap();
    stage.is_clean();
    let classes: Vec<Class> = stage.desk.all::<RunBoardAuditEvent>().map(|one| one.event_class).collect();
    for class in [Class::SourceUpdate, Class::ArtifactEvent, Class::EvaluationFinding, Class::GateDecision] {
        assert!(classes.contains(&class), "{class:?}");
    }
    let before = stage.desk.end();
    board::tell(&mut stage.desk).unwrap();
    assert_eq!(stage.desk.end(), before);
    assert!(posts(&stage).iter().all(|post| !post.redacted));
}

#[test]
fn what_is_privileged_leaves_a_stub() {
    let task = crate::stage::TASK
        .replace(r#""tier": 2"#, r#""tier": 2, "data_class": "privileged", "privileged": true"#);
    let mut stage = Stage::new(&task, &[("lease", crate::stage::LEASE)]);
    stage.failing();
    board::tell(&mut stage.desk).unwrap();
    stage.is_clean();
    assert!(!posts(&stage).is_empty() && posts(&stage).iter().all(|post| post.redacted));
}

#[test]
fn a_reader_sees_what_stands() {
    let mut stage = Stage::small();
    stage.passing();
    board::tell(&mut stage.desk).unwrap();
    let module = StorageRef::try_from("module:draft").unwrap();
    stage.later();
    let first = board::digest(&mut stage.desk, &reader(&module)).unwrap();
    stage.is_clean();
    assert_eq!(first.post_refs.len(), posts(&stage).len());
    let (user, post) = (StorageRef::try_from("user:ana").unwrap(), posts(&stage)[0].post_id.clone());
    board::retract(&mut stage.desk, &post, &user, "said too early").unwrap();
    assert!(board::retract(&mut stage.desk, &post, &user, "again").is_err());
    stage.later();
    let second = board::digest(&mut stage.desk, &reader(&module)).unwrap();
    stage.is_clean();
    assert_eq!(second.post_refs.len(), first.post_refs.len() - 1);
}

#[test]
fn a_person_may_say_something() {
    let mut stage = Stage::small();
    stage.later();
    let post = board::say(&mut stage.desk, "Please mind the side letter.", "ana").unwrap();
    assert!(post.is_some());
    stage.is_clean();
    board::tell(&mut stage.desk).unwrap();
    stage.is_clean();
}
