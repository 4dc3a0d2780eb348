//! Asking for help, and talking over what two see differently.

use crate::stage::{LEASE, Stage};
use countersign_govern::types::added::forum::{
    AssistanceFallbackEvent, ForumPauseEvent, ForumProposalSelection, ForumTick, ModuleAssistanceAnswer,
};
use countersign_govern::types::assistance::{
    ModuleAssistanceRequestOnTimeout as OnTimeout, ModuleAssistanceRequestRequestKind as Kind,
    ModuleAssistanceRequestResponsePolicy as Policy, ModuleAssistanceRequestTarget as Target,
};
use countersign_govern::types::basic::{HardRevisionCallKind, SchemaRef, StorageRef};
use countersign_govern::types::outcome::OutcomeEvaluationState as State;
use countersign_work::assist::{self, Ask, Form, Refusal};
use countersign_work::evaluate::{self, Head};
use countersign_work::forum::{Moderator, Proposal};
use countersign_work::score::Seen;
use countersign_work::{attention, call, outcome};

fn ask(target: Target, owner: &str, on_timeout: OnTimeout) -> Ask {
    Ask {
        module: "draft".to_owned(),
        target,
        owner: StorageRef::try_from(owner).unwrap(),
        kind: Kind::Clarification,
        policy: Policy::RequiredBeforeContinue,
        subject: None,
        schema: SchemaRef { schema_id: "answer.text".to_owned(), semantic_version: "1.0.0".to_owned() },
        timeout_ms: 120_000,
        on_timeout,
    }
}

#[test]
fn who_is_asked_answers_in_time_and_form() {
    let mut stage = Stage::small();
    let id = assist::ask(&mut stage.desk, ask(Target::User, "user:ana", OnTimeout::Abort)).unwrap();
    stage.is_clean();
    stage.later();
    assist::answer(&mut stage.desk, &id, Form::Differs).unwrap();
    assert_eq!(assist::open(&stage.desk).len(), 1);
    assist::answer(&mut stage.desk, &id, Form::Fits).unwrap();
    stage.is_clean();
    assert!(assist::open(&stage.desk).is_empty());
    assert_eq!(assist::answer(&mut stage.desk, &id, Form::Fits), Err(Refusal::Answered(id)));
    let unknown = assist::answer(&mut stage.desk, "nobody", Form::Fits);
    assert_eq!(unknown, Err(Refusal::NotAsked("nobody".to_owned())));
}

#[test]
fn an_answer_that_comes_too_late_is_none() {
    let mut stage = Stage::small();
    let id = assist::ask(&mut stage.desk, ask(Target::Module, "module:format", OnTimeout::Abort)).unwrap();
    stage.wait(120);
    assert_eq!(assist::answer(&mut stage.desk, &id, Form::Fits), Err(Refusal::TooLate(id)));
    stage.is_clean();
}

#[test]
fn nobody_waits_for_the_task_agent_to_decide() {
    let mut stage = Stage::small();
    let mut review = ask(Target::TaskAgent, "task_agent:main", OnTimeout::ResumeWithWarning);
    review.kind = Kind::SubstantiveReview;
    assert_eq!(assist::ask(&mut stage.desk, review.clone()), Err(Refusal::OnlyAdvice));
    review.policy = Policy::AdvisoryOnly;
    let id = assist::ask(&mut stage.desk, review).unwrap();
    assert!(assist::is_advice(&stage.desk, &id));
    assist::answer(&mut stage.desk, &id, Form::Fits).unwrap();
    countersign_work::board::tell(&mut stage.desk).unwrap();
    stage.is_clean();
}

/// A task in which nothing that must be there is missing, and the score is too low.
const LOW: &str = r#"{
  "schema_version": "1.0", "id": "lease-memo", "title": "Memo", "goal": "Say how long the lease runs.",
  "artifacts": [{"id": "memo", "path": "memo.md", "kind": "markdown",
    "sections": [{"id": "term", "heading": "Term", "ask": "How long does the lease run?"}]}],
  "sources": [{"id": "lease", "path": "sources/lease.md", "kind": "document", "trust_basis": "user_supplied",
    "verified_by": "ana", "tier": 2}],
  "policies": {POLICIES},
  "outcomes": [{"id": "term-stated", "statement": "The memo says how long the lease runs.", "section": "term",
    "criteria": [
      {"id": "has-term", "text": "There is a section on the term.", "basis": "deterministic_check", "required": true,
        "check": {"kind": "section", "heading": "Term"}, "threshold": 1},
      {"id": "rent", "text": "It names the rent.", "basis": "deterministic_check", "priority": "nice_to_have",
        "check": {"kind": "mentions", "any": ["900"]}, "weight": 3}]}]
}"#;

/// Looks at a memo that two see differently.
fn looked(policies: &str, moderator: Option<Moderator>) -> (Stage, String) {
    let mut stage = Stage::new(&LOW.replace("POLICIES", policies), &[("lease", LEASE)]);
    let version = stage.version("memo", crate::stage::GOOD);
    stage.later();
    let heads = [Head { artifact: "memo", version: &version, text: crate::stage::GOOD, claims: &[] }];
    let mut seen = Seen::default();
    seen.led.extend(moderator.map(|one| ("term-stated".to_owned(), one)));
    let looked = evaluate::all(&mut stage.desk, &heads, &seen).unwrap();
    stage.is_clean();
    assert_eq!(looked[0].state, State::NeedsHumanJudgment);
    (stage, looked[0].question.clone().unwrap())
}

fn kind_of(stage: &Stage, question: &str) -> Option<HardRevisionCallKind> {
    call::open(&stage.desk).into_iter().find(|call| call.hard_call_id == question)?.hard_call_kind
}

#[test]
fn where_there_is_no_room_a_person_is_asked_at_once() {
    let (mut stage, question) = looked("", None);
    assert_eq!(kind_of(&stage, &question), Some(HardRevisionCallKind::ContradictoryRequirements));
    assert_eq!(stage.desk.all::<ForumTick>().count(), 0);
    stage.answer(&question, "revise").unwrap();
    stage.is_clean();
    assert_eq!(outcome::state(&stage.desk, "term-stated"), State::Dirty);
}

#[test]
fn a_room_that_agrees_advises_the_person() {
    let accepts = Some(Moderator::Proposes(Proposal::Accept));
    let (mut stage, question) = looked(r#""forum": {"ticks_max": 3, "consensus_pct": 60}"#, accepts);
    let ticks: Vec<u64> = stage.desk.all::<ForumTick>().map(|one| one.agreement_pct).collect();
    assert_eq!(ticks, [50, 66]);
    assert!(stage.desk.all::<ModuleAssistanceAnswer>().all(|one| one.accepted));
    assert!(assist::open(&stage.desk).is_empty());
    let call = call::open(&stage.desk).into_iter().find(|call| call.hard_call_id == question).unwrap();
    assert!(call.prompt_text.ends_with("agree: take it as it is."), "{}", call.prompt_text);
    stage.answer(&question, "accept").unwrap();
    stage.is_clean();
}

#[test]
fn a_room_that_does_not_agree_leaves_by_its_policy() {
    let exits =
        ["forum_deadlock_hard_call", "prefer_safest_policy_allowed_proposal", "pause_and_request_user"];
    for exit in exits {
        let policies = format!(r#""forum": {{"ticks_max": 2, "no_consensus": "{exit}"}}"#);
        let (mut stage, question) = looked(&policies, None);
        assert_eq!(stage.desk.all::<ForumTick>().count(), 2);
        let kind = kind_of(&stage, &question);
        let (selected, paused) =
            (stage.desk.all::<ForumProposalSelection>().count(), stage.desk.all::<ForumPauseEvent>().count());
        let other = Some(HardRevisionCallKind::ContradictoryRequirements);
        let found = match exit {
            "forum_deadlock_hard_call" => (Some(HardRevisionCallKind::ForumDeadlock), 0, 0),
            "prefer_safest_policy_allowed_proposal" => (other, 1, 0),
            _pause => (other, 0, 1),
        };
        assert_eq!((kind, selected, paused), found, "{exit}");
        stage.answer(&question, "stop").unwrap();
        stage.is_clean();
        assert_eq!(outcome::state(&stage.desk, "term-stated"), State::Superseded);
    }
}

#[test]
fn a_moderator_that_fails_is_made_good_for() {
    for (moderator, answers) in [(Moderator::Silent, 0), (Moderator::Unreadable, 1)] {
        let (mut stage, question) = looked(r#""forum": {}"#, Some(moderator));
        assert_eq!((stage.count("ForumTick"), stage.count("ModeratorFailureEvent")), (0, 1));
        assert_eq!(stage.desk.all::<ModuleAssistanceAnswer>().count(), answers);
        assert_eq!(stage.desk.all::<AssistanceFallbackEvent>().count(), 1);
        assert!(assist::open(&stage.desk).is_empty());
        // What was asked waits for a person, and is answered with the question.
        assert_eq!(assist::escalated(&stage.desk).len(), 1);
        attention::refresh(&mut stage.desk).unwrap();
        stage.is_clean();
        assert_eq!(attention::open(&stage.desk).len(), 2);
        stage.answer(&question, "accept").unwrap();
        attention::refresh(&mut stage.desk).unwrap();
        stage.is_clean();
        assert!(assist::escalated(&stage.desk).is_empty() && attention::open(&stage.desk).is_empty());
    }
}

#[test]
fn a_question_that_waits_too_long_goes_to_somebody_else() {
    let (mut stage, question) = looked("", None);
    assert!(call::lapse(&mut stage.desk).unwrap().is_empty());
    stage.later();
    call::defer(&mut stage.desk, &question).unwrap();
    stage.is_clean();
    stage.wait(8 * 24 * 3_600);
    assert_eq!(call::lapse(&mut stage.desk).unwrap(), std::slice::from_ref(&question));
    assert!(call::lapse(&mut stage.desk).unwrap().is_empty());
    stage.is_clean();
    stage.answer(&question, "accept").unwrap();
    stage.is_clean();
}
