//! Commands on changes that wait for a reviewer, and on what is to be stopped.

use crate::revisions::{planned, under_review};
use crate::stage::Stage;
use countersign_govern::decide::command::Outcome;
use countersign_govern::types::basic::ArtifactVersionState as State;
use countersign_govern::types::revision::RevisionPlan;
use countersign_work::command::Effect;
use countersign_work::{artifact, call, stop};

fn give(stage: &mut Stage, id: &str, request: &str, expected: Outcome) -> Effect {
    let key = format!("{id} {}", stage.desk.end());
    let ruling = stage.command(id, request, &key, "ana").unwrap();
    assert_eq!(ruling.outcome, expected, "{id} {request}: {:?}", ruling.reasons);
    stage.is_clean();
    ruling.effect
}

/// Where the versions of the memo stand, in order.
fn versions(stage: &Stage) -> Vec<&'static str> {
    artifact::versions(&stage.desk, "memo").filter_map(|one| one.state).map(State::as_str).collect()
}

#[test]
fn a_change_is_accepted_refused_or_sent_back() {
    for (command, request, option, expected) in [
        ("revision_review.accept_candidate", "{}", "accept", ["superseded", "accepted_head"]),
        ("revision_review.reject_candidate", "{}", "reject", ["accepted_head", "rejected"]),
        (
            "revision_review.request_changes",
            r#"{"rationale": "keep the tone"}"#,
            "request_changes",
            ["accepted_head", "superseded"],
        ),
    ] {
        let mut stage = under_review();
        let question = stage.question();
        let effect = give(&mut stage, command, request, Outcome::Accepted);
        assert_eq!(effect, Effect::Answered { question, option: option.to_owned() });
        assert_eq!(versions(&stage), expected, "{command}");
        give(&mut stage, command, request, Outcome::NotFound);
    }
    let mut stage = under_review();
    assert!(stage.command("revision_review.request_changes", "{}", "k", "ana").is_err(), "why is asked for");
}

#[test]
fn what_was_compared_must_still_count() {
    let mut stage = under_review();
    stage.version("memo", "# Memo\n\nAnother text.\n");
    give(&mut stage, "revision_review.accept_candidate", "{}", Outcome::PolicyDenied);
}

#[test]
fn a_run_goes_back_to_what_was_kept() {
    let mut stage = under_review();
    let back = r#"{"rationale": "the first was better"}"#;
    give(&mut stage, "revision_review.restore_known_good", back, Outcome::NotFound);
    give(&mut stage, "checkpoint.create", r#"{"label": "first"}"#, Outcome::Accepted);
    // While the change waits, going back refuses it.
    let question = stage.question();
    let effect = give(&mut stage, "revision_review.restore_known_good", back, Outcome::Accepted);
    assert_eq!(effect, Effect::Answered { question, option: "reject".to_owned() });
    assert_eq!((versions(&stage), call::open(&stage.desk).len()), (vec!["accepted_head", "rejected"], 0));
    // Long after it was accepted, the version before counts again.
    let mut stage = under_review();
    give(&mut stage, "checkpoint.create", r#"{"label": "first"}"#, Outcome::Accepted);
    give(&mut stage, "revision_review.accept_candidate", "{}", Outcome::Accepted);
    stage.look_again();
    stage.is_clean();
    assert_eq!(stage.state("term-stated").as_str(), "satisfied");
    let effect = give(&mut stage, "revision_review.restore_known_good", back, Outcome::Accepted);
    assert_eq!(effect, Effect::Nothing);
    assert_eq!(versions(&stage), ["accepted_head", "superseded"]);
    assert_eq!(stage.state("term-stated").as_str(), "dirty", "it is another text");
    give(&mut stage, "checkpoint.create", r#"{"label": "second"}"#, Outcome::Accepted);
    give(&mut stage, "reliance.renew_packet", "{}", Outcome::Accepted);
}

#[test]
fn a_change_is_tried_in_another_run() {
    let mut stage = under_review();
    give(&mut stage, "checkpoint.create", "{}", Outcome::Accepted);
    let question = stage.question();
    let request = r#"{"rationale": "see where it leads"}"#;
    let effect = give(&mut stage, "revision_review.fork_candidate", request, Outcome::Accepted);
    let Effect::Forked { fork, heads, answered } = effect else { panic!("{effect:?}") };
    assert_eq!(answered, Some((question, "reject".to_owned())));
    assert_eq!(fork.new_run_id, "run_fedcba9876543210");
    let candidate = artifact::versions(&stage.desk, "memo").last().unwrap();
    assert_eq!(heads["memo"], candidate.content, "the other run begins with the change");
    assert_eq!(versions(&stage), ["accepted_head", "forked"]);
}

#[test]
fn a_plan_and_a_run_are_stopped() {
    let mut stage = under_review();
    let plan = stage.desk.all::<RevisionPlan>().next().unwrap().plan_id;
    let of_plan = format!(r#"{{"cancel_scope": "revision_plan", "target_refs": ["revision_plan:{plan}"]}}"#);
    assert_eq!(give(&mut stage, "task.cancel", &of_plan, Outcome::Accepted), Effect::Nothing);
    assert!(!stop::is_live(&stage.desk, &plan));
    give(&mut stage, "task.cancel", &of_plan, Outcome::WrongState);
    give(&mut stage, "task.cancel", r#"{"cancel_scope": "segment"}"#, Outcome::WrongState);
    let mut stage = under_review();
    assert_eq!(give(&mut stage, "task.cancel", "{}", Outcome::Accepted), Effect::Cancelled);
    assert_eq!((stage.standing().len(), call::open(&stage.desk).len()), (0, 0));
}

#[test]
fn a_step_or_an_outcome_is_left_out() {
    let mut stage = planned();
    let plan = stage.desk.all::<RevisionPlan>().next().unwrap();
    let step = format!("revision_plan_step_base:{}", plan.steps[0].step_id);
    let skip = |target: &str| format!(r#"{{"target_ref": "{target}", "reason": "user_directed"}}"#);
    give(&mut stage, "task.skip", &skip("revision_plan_step_base:none"), Outcome::WrongState);
    give(&mut stage, "task.skip", &skip(&step), Outcome::Accepted);
    give(&mut stage, "task.skip", &skip(&step), Outcome::WrongState);
    let mut stage = planned();
    let begun = format!("outcome_record:{}.term-stated", stage.desk.run());
    give(&mut stage, "task.skip", &skip(&begun), Outcome::WrongState);
    let outcome = format!("outcome_record:{}.rent-stated", stage.desk.run());
    stage.is_over = true;
    give(&mut stage, "task.skip", &skip(&outcome), Outcome::WrongState);
    stage.is_over = false;
    give(&mut stage, "task.skip", &skip(&outcome), Outcome::Accepted);
    assert_eq!(stage.state("rent-stated").as_str(), "superseded");
    give(&mut stage, "task.skip", &skip(&outcome), Outcome::WrongState);
    give(&mut stage, "task.skip", &skip("source:lease"), Outcome::NotFound);
}
