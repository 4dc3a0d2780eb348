//! A run under everything that may come: its rules one by one, and what must hold whatever comes.
//! Owns: driving it without an edge. Must not: reach into a state but to look.

use super::*;
use crate::pipeline::Pipeline;
use countersign_record::json::{self, Json, Object};
use countersign_record::state::{GoalStatus, Minted};
use proptest::prelude::*;
use std::boxed::Box;
use std::collections::BTreeSet;
use std::string::{String, ToString};
use std::vec::Vec;
use std::{format, vec};

const SIX: &str = r#"{"name":"six","stages":[
    {"name":"perception","agent":{"kind":"built_in","name":"a"},"default_next":"intent"},
    {"name":"intent","agent":{"kind":"built_in","name":"a"},"default_next":"planner"},
    {"name":"planner","output_key":"plan","agent":{"kind":"built_in","name":"a"},"default_next":"executor"},
    {"name":"executor","output_key":"execution","agent":{"kind":"built_in","name":"a"},"default_next":"critic"},
    {"name":"critic","agent":{"kind":"built_in","name":"a"},"default_next":"integration","rules":[
        {"key":"verdict","value":"reintent","target":"intent"},{"key":"verdict","value":"next_stage","target":"planner"}]},
    {"name":"integration","agent":{"kind":"built_in","name":"a"}}]}"#;

fn six() -> Pipeline {
    Pipeline::read(json::parse(SIX.as_bytes()).unwrap()).unwrap()
}

fn at(second: u64) -> Timestamp {
    Timestamp::try_from(format!("2026-01-02T03:{:02}:{:02}Z", second / 60 % 60, second % 60)).unwrap()
}

fn minted() -> Minted {
    Minted {
        envelope_id: "env_0123456789abcdef".try_into().unwrap(),
        request_id: "req_0123456789abcdef".try_into().unwrap(),
        session_id: "sess_0123456789abcdef".try_into().unwrap(),
        received_at: at(0),
    }
}

fn begun(more: &str) -> Run {
    let text = format!(r#"{{"raw_input":"When does it end?"{more}}}"#);
    Run::of(GenericEnvelope::read(json::parse(text.as_bytes()).unwrap(), minted()).unwrap().envelope)
}

fn object(text: &str) -> Object {
    json::parse(text.as_bytes()).unwrap().as_object().unwrap().clone()
}

/// A run and everything that happened to it.
struct Driven {
    pipeline: Pipeline,
    first: Run,
    run: Run,
    events: Vec<Event>,
    clock: u64,
}

impl Driven {
    fn new(more: &str) -> Self {
        let run = begun(more);
        Driven { pipeline: six(), first: run.clone(), run, events: Vec::new(), clock: 0 }
    }

    fn come(&mut self, came: Came) -> Result<(), Refusal> {
        self.clock += 1;
        let events = decide(&self.pipeline, &self.run, came, &at(self.clock))?;
        events.iter().for_each(|event| self.run.apply(event));
        self.events.extend(events);
        Ok(())
    }

    fn returns(&mut self, outcome: Outcome, llm_calls: u64) -> Result<(), Refusal> {
        let stage = match &self.run.doing {
            Doing::Called { stage, .. } => stage.clone(),
            Doing::Ready | Doing::Waiting(_) | Doing::Over => "intent".to_string(),
        };
        let stop_id = format!("stop-{}", self.clock);
        let of = self.pipeline.stage(&stage).unwrap();
        let handoff = Box::new(self.run.handoff(of, outcome, Provenance::default(), &at(self.clock)));
        self.come(Came::Returned { stage, handoff, llm_calls, stop_id })
    }

    /// Goes on with empty outputs up to a stage, whose agent is called.
    fn up_to(&mut self, name: &str) {
        loop {
            self.come(Came::Go).unwrap();
            match &self.run.doing {
                Doing::Called { stage, .. } if stage == name => return,
                Doing::Called { .. } => self.returns(Outcome::Done(Object::new()), 0).unwrap(),
                other => panic!("{name} is never reached: {other:?}"),
            }
        }
    }

    fn done(&mut self, output: &str) {
        self.returns(Outcome::Done(object(output)), 0).unwrap();
    }

    fn reason(&self) -> Option<TerminalReason> {
        self.run.envelope.ending.terminal_reason
    }

    /// What must hold whatever comes.
    fn check(&self) {
        let envelope = &self.run.envelope;
        let bounds = &envelope.bounds;
        assert!(bounds.iteration <= bounds.max_iterations, "{bounds:?}");
        assert!(bounds.llm_call_count <= bounds.max_llm_calls, "{bounds:?}");
        assert!(bounds.agent_hop_count <= bounds.max_agent_hops, "{bounds:?}");
        assert!(envelope.goals.current_stage_number <= envelope.goals.max_stages);
        assert_eq!(envelope.ending.terminated, self.run.doing == Doing::Over);
        assert_eq!(envelope.completed_at.is_some(), envelope.ending.terminated);
        assert_eq!(envelope.pending().is_some(), matches!(self.run.doing, Doing::Waiting(_)));
        // No goal is lost.
        let goals = &envelope.goals;
        let closed =
            goals.goal_completion_status.iter().filter(|(_, status)| **status != GoalStatus::Pending);
        let known: BTreeSet<&String> =
            goals.remaining_goals.iter().chain(closed.map(|(goal, _)| goal)).collect();
        assert_eq!(known, goals.all_goals.iter().collect());
        assert_eq!(known.len(), goals.all_goals.len());
        // What happened gives the same state again, and that is a document of the contract's.
        let mut again = self.first.clone();
        self.events.iter().for_each(|event| again.apply(event));
        assert_eq!(again, self.run);
        // So do the rows that it is kept in.
        let mut from_rows = self.first.clone();
        for event in &self.events {
            from_rows.apply(&through_a_row(event));
        }
        assert_eq!(json::to_text(&from_rows.envelope).unwrap(), json::to_text(envelope).unwrap());
        let written = envelope.to_json().unwrap();
        let read = GenericEnvelope::read(written.clone(), minted()).unwrap().envelope;
        assert_eq!(read.to_json().unwrap(), written);
    }
}

#[test]
fn goals_are_those_of_the_intent_that_counts() {
    let goals = |driven: &Driven| driven.run.envelope.goals.clone();
    // What is not clear yet is no goal; the answer makes it one.
    let mut driven = Driven::new("");
    driven.up_to("intent");
    driven.done(
        r#"{"intent":"?","goals":["that"],"clarification_needed":true,"clarification_question":"Which?"}"#,
    );
    assert!(goals(&driven).all_goals.is_empty());
    let Doing::Waiting(stop) = &driven.run.doing else { panic!("{:?}", driven.run.doing) };
    let (id, answer) = (stop.id.clone(), Answer::Text("this".to_string()));
    driven.come(Came::Answered { id, by: "ana".to_string(), answer }).unwrap();
    driven.up_to("intent");
    driven.done(r#"{"intent":"!","goals":["this"]}"#);
    assert_eq!(goals(&driven).all_goals, ["this"]);
    // A goal that was wrong is given up, and the right one is there.
    driven.up_to("critic");
    driven.done(r#"{"verdict":"reintent","feedback":"wrong"}"#);
    driven.up_to("intent");
    driven.done(r#"{"intent":"!","goals":["the other"]}"#);
    assert_eq!(
        (goals(&driven).all_goals, goals(&driven).remaining_goals),
        (vec!["this".to_string(), "the other".to_string()], vec!["the other".to_string()],)
    );
    assert_eq!(goals(&driven).goal_completion_status["this"], GoalStatus::Failed);
    driven.check();
    // Goals that came with the document are its writer's.
    let mut driven = Driven::new(
        r#","all_goals":["mine"],"remaining_goals":["mine"],"goal_completion_status":{"mine":"pending"}"#,
    );
    driven.up_to("intent");
    driven.done(r#"{"intent":"!","goals":["yours"]}"#);
    assert_eq!(goals(&driven).all_goals, ["mine"]);
}

#[test]
fn leave_and_answers_lead_back_to_whoever_asked() {
    let answered = |driven: &mut Driven, answer: Answer| {
        let Doing::Waiting(stop) = &driven.run.doing else { panic!("{:?}", driven.run.doing) };
        let id = stop.id.clone();
        driven.come(Came::Answered { id, by: "ana".to_string(), answer }).unwrap();
        driven.run.envelope.progress.current_stage.clone()
    };
    for stage in ["perception", "intent", "planner", "executor", "critic"] {
        let mut driven = Driven::new("");
        driven.up_to(stage);
        driven.returns(Outcome::Confirm { message: "do it".to_string(), expires_at: None }, 0).unwrap();
        assert_eq!(answered(&mut driven, Answer::Approve), stage, "nothing is left out or done twice");
        let mut driven = Driven::new("");
        driven.up_to(stage);
        driven.returns(Outcome::Clarify { question: "which?".to_string() }, 0).unwrap();
        let expected = if stage == "perception" { "perception" } else { "intent" };
        assert_eq!(answered(&mut driven, Answer::Text("this".to_string())), expected);
    }
}

fn through_a_row(event: &Event) -> Event {
    let at = match event {
        Event::Called { at, .. } | Event::Returned { at, .. } | Event::Ended { at, .. } => at.clone(),
        _ => at(0),
    };
    let kept = event.kept().unwrap();
    assert_eq!(kept.content.is_some(), row::has_content(kept.kind));
    let content = kept.content.map(|bytes| json::parse(&bytes).unwrap());
    let read = Event::read(kept.kind, Json::Object(kept.payload), content, &at).unwrap();
    assert_eq!(&read, event);
    read
}

fn goals() -> impl Strategy<Value = String> {
    proptest::sample::subsequence(vec!["\"g1\"", "\"g2\"", "\"g3\"", "\"unknown\""], 0..=4)
        .prop_map(|goals| goals.join(","))
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        4 => Just(Outcome::Done(Object::new())),
        3 => goals().prop_map(|goals| Outcome::Done(object(&format!(r#"{{"goals":[{goals}]}}"#)))),
        1 => Just(Outcome::Done(object(r#"{"clarification_needed":true}"#))),
        6 => (goals(), proptest::sample::select(vec!["reintent", "next_stage", "approved", "other"])).prop_map(|(goals, verdict)| {
            Outcome::Done(object(&format!(r#"{{"verdict":"{verdict}","satisfied_goals":[{goals}],"feedback":"f"}}"#)))
        }),
        1 => Just(Outcome::Clarify { question: "which?".into() }),
        1 => Just(Outcome::Confirm { message: "may I?".into(), expires_at: Some(at(40)) }),
        1 => Just(Outcome::escalate("schema_violation", "no verdict")),
        1 => any::<bool>().prop_map(|recoverable| Outcome::Failed(Fault {
            error_type: "ToolError".into(), message: "timeout".into(), recoverable, details: Object::new(),
        })),
        1 => Just(Outcome::denied("no")),
    ]
}

fn came() -> impl Strategy<Value = Option<Came>> {
    let answer = prop_oneof![
        Just(Answer::Text("this one".into())),
        Just(Answer::Approve),
        Just(Answer::Deny),
        Just(Answer::Retry),
        Just(Answer::GiveUp),
        Just(Answer::Choose("wait".into()))
    ];
    let id = prop_oneof![3 => Just(None), 1 => Just(Some("another".to_string()))];
    prop_oneof![
        4 => Just(Some(Came::Go)),
        // To whoever was called, which only the run knows.
        6 => (outcome(), 0_u64..6).prop_map(|(outcome, llm_calls)| {
            let handoff = Box::new(begun("").handoff(&six().stages[0], outcome, Provenance::default(), &at(0)));
            Some(Came::Returned { stage: String::new(), handoff, llm_calls, stop_id: String::new() })
        }),
        1 => Just(Some(Came::Cancelled { by: "ana".into() })),
        3 => (id, answer).prop_map(|(id, answer)| Some(Came::Answered { id: id.unwrap_or_default(), by: "ana".into(), answer })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    /// Whatever comes, in whatever order.
    #[test]
    fn the_invariants_hold(inputs in proptest::collection::vec(came(), 1..80), hops in 1_u64..40) {
        let mut driven = Driven::new(&format!(r#","max_agent_hops":{hops}"#));
        for came in inputs.into_iter().flatten() {
            let (before, was) = (driven.run.clone(), driven.run.doing.clone());
            let is_go = came == Came::Go;
            let result = match came {
                Came::Returned { handoff, llm_calls, .. } => driven.returns(Outcome::of(&handoff), llm_calls),
                Came::Answered { id, by, answer } => {
                    let asked = match &was { Doing::Waiting(stop) if id.is_empty() => stop.id.clone(), _ => id };
                    driven.come(Came::Answered { id: asked, by, answer })
                }
                Came::Go | Came::Cancelled { .. } => driven.come(came),
            };
            match &was {
                Doing::Over => prop_assert_eq!(result.clone(), Err(match is_go { true => Refusal::Over, false => result.clone().unwrap_err() })),
                Doing::Waiting(_) if is_go => prop_assert!(result.is_err()),
                _ => {}
            }
            if result.is_err() {
                prop_assert_eq!(&driven.run, &before, "a refusal changes nothing");
            }
            driven.check();
        }
    }
}

#[test]
fn six_agents_in_a_row() {
    let mut driven = Driven::new("");
    driven.up_to("intent");
    driven.done(r#"{"intent":"explain","goals":["g1"],"confidence":0.9,"clarification_needed":false}"#);
    driven.up_to("critic");
    driven.done(r#"{"verdict":"approved","satisfied_goals":["g1"]}"#);
    driven.up_to("integration");
    driven.done(r#"{"final_response":"In May."}"#);
    assert_eq!(driven.reason(), Some(TerminalReason::CompletedSuccessfully));
    let envelope = &driven.run.envelope;
    assert_eq!((envelope.bounds.agent_hop_count, envelope.progress.current_stage.as_str()), (6, "end"));
    let orders: Vec<u64> = envelope.processing_history.iter().map(|record| record.stage_order).collect();
    assert_eq!(orders, [1, 2, 3, 4, 5, 6]);
    assert_eq!(envelope.goals.goal_completion_status["g1"], GoalStatus::Satisfied);
    driven.check();
}

#[test]
fn reintent_gives_up_the_plan_and_begins_again() {
    let mut driven = Driven::new("");
    driven.up_to("intent");
    driven.done(r#"{"goals":["g1","g2","g3","g4"]}"#);
    for (round, goal) in [(1, "g1"), (2, "g2"), (3, "g3")] {
        driven.up_to("planner");
        driven.done(&format!(r#"{{"plan_id":"p{round}"}}"#));
        driven.up_to("critic");
        driven
            .done(&format!(r#"{{"verdict":"reintent","satisfied_goals":["{goal}"],"feedback":"f{round}"}}"#));
        let envelope = &driven.run.envelope;
        assert_eq!((envelope.bounds.iteration, envelope.progress.current_stage.as_str()), (round, "intent"));
        assert_eq!(envelope.goals.prior_plans.len() as u64, round);
        assert!(
            !envelope.progress.outputs.contains_key("plan")
                && envelope.progress.outputs.contains_key("intent")
        );
    }
    driven.run.envelope.bounds.max_agent_hops = 99;
    driven.first.envelope.bounds.max_agent_hops = 99;
    driven.up_to("critic");
    driven.done(r#"{"verdict":"reintent","satisfied_goals":["g4"],"feedback":"f4"}"#);
    assert_eq!(driven.reason(), Some(TerminalReason::MaxIterationsExceeded));
    assert_eq!(driven.run.envelope.bounds.iteration, 3, "it ends unincremented");
    assert_eq!(
        driven.run.envelope.goals.critic_feedback,
        ["f1", "f2", "f3", "f4"],
        "what it said last is kept"
    );
}

#[test]
fn three_refusals_without_progress_end_it() {
    let mut driven = Driven::new(r#","max_agent_hops":99"#);
    for round in 1..=3 {
        driven.up_to("critic");
        driven.done(r#"{"verdict":"reintent","satisfied_goals":[],"feedback":"no"}"#);
        assert_eq!(driven.run.doing == Doing::Over, round == 3);
    }
    assert_eq!(driven.reason(), Some(TerminalReason::MaxCriticFiresExceeded));
    driven.check();
}

#[test]
fn next_stage_closes_goals_and_ends_at_the_most() {
    let mut driven = Driven::new(r#","max_agent_hops":99,"max_stages":2"#);
    driven.up_to("intent");
    driven.done(r#"{"goals":["g1","g2","g3"]}"#);
    driven.up_to("critic");
    driven.done(r#"{"verdict":"next_stage","satisfied_goals":["g1"],"feedback":"more"}"#);
    let goals = &driven.run.envelope.goals;
    assert_eq!(
        (goals.current_stage_number, goals.remaining_goals.len(), goals.completed_stages.len()),
        (2, 2, 1)
    );
    assert_eq!(driven.run.envelope.progress.current_stage, "planner");
    driven.up_to("critic");
    driven.done(r#"{"verdict":"next_stage","satisfied_goals":["g2"],"feedback":"more"}"#);
    assert!(driven.run.envelope.ending.terminated);
    assert_eq!(
        driven.run.envelope.ending.termination_reason.as_deref(),
        Some("2 stages were not enough for every goal")
    );
    driven.check();
    let mut driven = Driven::new("");
    driven.up_to("intent");
    driven.done(r#"{"goals":["g1"]}"#);
    driven.up_to("critic");
    driven.done(r#"{"verdict":"next_stage","satisfied_goals":["g1"]}"#);
    assert_eq!(driven.run.envelope.progress.current_stage, "integration", "nothing is left");
}

#[test]
fn the_bounds_in_their_order() {
    for (more, reason) in [
        (r#","iteration":4,"llm_call_count":10,"agent_hop_count":21"#, TerminalReason::MaxIterationsExceeded),
        (r#","iteration":3,"llm_call_count":10,"agent_hop_count":21"#, TerminalReason::MaxLlmCallsExceeded),
        (r#","iteration":3,"llm_call_count":9,"agent_hop_count":21"#, TerminalReason::MaxAgentHopsExceeded),
    ] {
        let mut driven = Driven::new(more);
        driven.come(Came::Go).unwrap();
        assert_eq!(driven.reason(), Some(reason));
        assert_eq!(driven.come(Came::Go), Err(Refusal::Over));
    }
    let mut driven = Driven::new("");
    driven.up_to("intent");
    driven.returns(Outcome::Done(Object::new()), 11).unwrap();
    assert_eq!(driven.reason(), Some(TerminalReason::MaxLlmCallsExceeded));
    assert_eq!(driven.run.envelope.bounds.llm_call_count, 10);
}

#[test]
fn a_failure_ends_it_or_goes_where_it_leads() {
    for (recoverable, reason) in
        [(true, TerminalReason::ToolFailedRecoverably), (false, TerminalReason::ToolFailedFatally)]
    {
        let fault = Fault {
            error_type: "ToolError".into(),
            message: "timeout".into(),
            recoverable,
            details: object(r#"{"tool":"x"}"#),
        };
        let mut driven = Driven::new("");
        driven.up_to("executor");
        driven.returns(Outcome::Failed(fault.clone()), 1).unwrap();
        assert_eq!(driven.reason(), Some(reason));
        let error = &driven.run.envelope.errors[0];
        let keys: Vec<&str> = error.iter().map(|(name, _)| name).collect();
        assert_eq!(keys, ["agent", "details", "error_type", "message", "recoverable", "timestamp"]);
        assert_eq!(driven.run.envelope.bounds.llm_call_count, 1, "a failed call counts");
        let mut driven = Driven::new("");
        driven.pipeline.stages[3].error_next = Some("integration".into());
        driven.up_to("executor");
        driven.returns(Outcome::Failed(fault), 0).unwrap();
        assert_eq!(driven.run.envelope.progress.current_stage, "integration");
    }
    let mut driven = Driven::new(r#","current_stage":"nowhere""#);
    driven.come(Came::Go).unwrap();
    assert_eq!(driven.reason(), Some(TerminalReason::ToolFailedFatally));
}

fn answers(driven: &mut Driven, id: &str, answer: Answer) -> Result<(), Refusal> {
    driven.come(Came::Answered { id: id.into(), by: "ana".into(), answer })
}

#[test]
fn people_are_asked_and_answer_once() {
    let mut driven = Driven::new("");
    driven.up_to("intent");
    driven.returns(Outcome::Clarify { question: "which lease?".into() }, 0).unwrap();
    let Doing::Waiting(stop) = driven.run.doing.clone() else { panic!("it waits") };
    assert_eq!(
        (stop.kind, stop.agent.as_str(), stop.message.as_str()),
        (StopKind::Clarification, "a", "which lease?")
    );
    assert_eq!(driven.reason(), Some(TerminalReason::ClarificationRequired));
    assert_eq!(driven.come(Came::Go), Err(Refusal::Waiting { id: stop.id.clone() }));
    assert!(matches!(
        answers(&mut driven, "other", Answer::Text("x".into())),
        Err(Refusal::OtherQuestion { .. })
    ));
    assert!(matches!(answers(&mut driven, &stop.id, Answer::Approve), Err(Refusal::OtherAnswer { .. })));
    // As another process finds it.
    let text = json::to_text(&driven.run.envelope).unwrap();
    let read = GenericEnvelope::read(json::parse(text.as_bytes()).unwrap(), minted()).unwrap();
    assert_eq!(Run::of(read.envelope).doing, driven.run.doing);
    answers(&mut driven, &stop.id, Answer::Text("the one of the harbour".into())).unwrap();
    let envelope = &driven.run.envelope;
    assert_eq!(envelope.clarification.response.as_deref(), Some("the one of the harbour"));
    assert_eq!((envelope.progress.current_stage.as_str(), envelope.ending.terminal_reason), ("intent", None));
    assert_eq!(answers(&mut driven, &stop.id, Answer::Text("again".into())), Err(Refusal::NothingAsked));
    driven.check();
}

#[test]
fn leave_is_given_or_not() {
    let ask = || {
        let mut driven = Driven::new("");
        driven.up_to("executor");
        driven
            .returns(Outcome::Confirm { message: "write a file".into(), expires_at: Some(at(50)) }, 0)
            .unwrap();
        let Doing::Waiting(stop) = driven.run.doing.clone() else { panic!("it waits") };
        assert_eq!(driven.run.envelope.confirmation.id.as_deref(), Some(stop.id.as_str()));
        (driven, stop.id)
    };
    let (mut driven, id) = ask();
    answers(&mut driven, &id, Answer::Approve).unwrap();
    assert_eq!(
        (driven.run.envelope.confirmation.response, driven.run.envelope.progress.current_stage.as_str()),
        (Some(true), "executor")
    );
    let (mut driven, id) = ask();
    answers(&mut driven, &id, Answer::Deny).unwrap();
    assert_eq!(
        (driven.reason(), driven.run.envelope.confirmation.response),
        (Some(TerminalReason::DeniedByPolicy), Some(false))
    );
    assert_eq!(answers(&mut driven, &id, Answer::Approve), Err(Refusal::Over));
    let (mut driven, id) = ask();
    driven.clock = 50;
    assert_eq!(answers(&mut driven, &id, Answer::Approve), Err(Refusal::Expired { at: at(50) }));
    assert!(matches!(driven.run.doing, Doing::Waiting(_)), "nothing changes");
}

#[test]
fn an_escalation_is_seen_to_or_given_up() {
    let ask = || {
        let mut driven = Driven::new("");
        driven.up_to("planner");
        driven.returns(Outcome::escalate("insufficient_context", "no file says it"), 0).unwrap();
        let Doing::Waiting(stop) = driven.run.doing.clone() else { panic!("it waits") };
        assert_eq!(stop.next_steps, ["retry", "adjust eligibility", "inject files", "give up"]);
        (driven, stop.id)
    };
    let (mut driven, id) = ask();
    answers(&mut driven, &id, Answer::Retry).unwrap();
    assert_eq!(driven.run.envelope.progress.current_stage, "planner");
    let (mut driven, id) = ask();
    answers(&mut driven, &id, Answer::GiveUp).unwrap();
    assert_eq!(driven.reason(), Some(TerminalReason::DeniedByPolicy));
    driven.check();
}
