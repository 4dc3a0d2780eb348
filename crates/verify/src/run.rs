//! Where a run went, decided again from its pipeline, what agents handed over and what people answered.
//! Owns: comparing each row of the run with what its rules give. Must not: have a rule; `kernel::run` has them.

mod begun;

pub(crate) use begun::{kept_back, own_file};

use crate::case::{Bytes, Case};
use crate::found::Found;
use crate::report::{Check, Failure, Place};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_kernel::pipeline::{Agent, Pipeline};
use countersign_kernel::run::{Answer, Came, Doing, Event, Outcome, Run, decide, row};
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::envelope::{Envelope, Provenance, Source};
use countersign_record::json::{self, Json, Number};
use countersign_record::row::Row;
use countersign_record::run_kind;
use countersign_record::state::Minted;
use countersign_record::time::Timestamp;

const CHECK: Check = Check::Run;

/// What only a run's own rows tell.
#[derive(Default)]
pub(crate) struct Told {
    /// What its stages handed over, in order.
    pub(crate) handed: Vec<Handed>,
    /// What people chose, in order.
    pub(crate) chosen: Vec<Chosen>,
    /// The stages of which something that they handed over is withheld.
    pub(crate) withheld: BTreeSet<String>,
    /// Whether more was handed over or chosen, which is withheld.
    pub(crate) is_partial: bool,
    /// Who worked, in which order; nothing where that is withheld.
    pub(crate) pipeline: Option<Pipeline>,
    /// The hashes of what it began with, by work product, where it was forked from another run.
    pub(crate) heads: BTreeMap<String, String>,
}

/// What a person chose.
pub(crate) struct Chosen {
    /// The question.
    pub(crate) question: String,
    /// Who.
    pub(crate) by: String,
    /// The option.
    pub(crate) option: String,
}

/// What a stage of the run handed over.
pub(crate) struct Handed {
    /// The row of the ledger.
    pub(crate) seq: u64,
    /// The row by which its agent was called.
    pub(crate) called: u64,
    /// The stage.
    pub(crate) stage: String,
    /// Where its output stands.
    pub(crate) output_key: String,
    /// What it is.
    pub(crate) payload: Json,
    /// Whether a person is asked instead.
    pub(crate) is_asking: bool,
    /// Why it is not done, if it is not.
    pub(crate) reason: Option<String>,
    /// What it rests on.
    pub(crate) rests_on: Provenance,
    /// How often a model is said to have been asked, and how often it might have been; known where nothing is withheld.
    pub(crate) asked: Option<(u64, u64)>,
    /// What was still aimed at; known where nothing is withheld.
    pub(crate) goals: Option<Vec<String>>,
}

impl Told {
    /// Whether something that one of our own agents handed over is withheld.
    pub(crate) fn withholds(&self, agent: &str) -> bool {
        let is_of = |stage: &String| match self.pipeline.as_ref().and_then(|pipeline| pipeline.stage(stage)) {
            Some(stage) => matches!(&stage.agent, Agent::BuiltIn { name } if name == agent),
            None => self.pipeline.is_none(),
        };
        self.withheld.iter().any(is_of)
    }

    /// The one of our own agents that handed something over.
    pub(crate) fn agent(&self, handed: &Handed) -> Option<&str> {
        match &self.pipeline.as_ref()?.stage(&handed.stage)?.agent {
            Agent::BuiltIn { name } => Some(name),
            _theirs => None,
        }
    }
}

/// Why a run can't be told.
enum Untold {
    Withheld,
    Wrong { seq: u64, path: &'static str, why: String },
}

fn wrong(row: &Row, path: &'static str, why: impl ToString) -> Untold {
    Untold::Wrong { seq: row.seq, path, why: why.to_string() }
}

/// Decides the run again; gives what its stages handed over and people chose, as far as it could be read.
pub(crate) fn check(case: &Case<'_>, found: &mut Found) -> Told {
    let mut told = Told::default();
    match decided(case, found, &mut told) {
        Ok(()) => {}
        Err(Untold::Withheld) => found.withheld(CHECK),
        Err(Untold::Wrong { seq, path, why }) => {
            let path = (!path.is_empty()).then(|| path.to_string());
            found.wrong(Code::VerifyRun, CHECK, Place { row: Some(seq), path, ..Place::default() }, why);
        }
    }
    told
}

fn decided(case: &Case<'_>, found: &mut Found, told: &mut Told) -> Result<(), Untold> {
    let Some((first, rest)) = case.events.split_first() else { return Ok(()) };
    begun::there(case, first, found)?;
    let began = begun::begun(case, first, told, found);
    let (mut events, mut called): (Vec<(&Row, Event)>, u64) = (Vec::new(), first.seq);
    for row in rest.iter().filter(|row| row.kind.as_str().starts_with("run.")) {
        match event(case, row) {
            Ok(event) => {
                if matches!(event, Event::Called { .. }) {
                    called = row.seq;
                }
                hear((row, called), &event, told);
                events.push((row, event));
            }
            Err(Untold::Withheld) => {
                told.is_partial = true;
                let stage = row.payload.text("stage").filter(|_| row.kind.as_str() == run_kind::RETURNED);
                if let Some(stage) = stage {
                    let is_critic = row.payload.text("output_key") == Some("critic");
                    found.withheld(if is_critic { Check::Critic } else { CHECK });
                    told.withheld.insert(stage.to_string());
                }
            }
            Err(wrong @ Untold::Wrong { .. }) => return Err(wrong),
        }
    }
    let (pipeline, mut run) = began?;
    if told.is_partial {
        return Err(Untold::Withheld);
    }
    let mut rest = events.as_slice();
    while let Some((row, _)) = rest.first() {
        standing(&pipeline, &run, rest, told, found);
        let expected = next(&pipeline, &run, rest).map_err(|why| wrong(row, "", why))?;
        if expected.is_empty() {
            return Err(wrong(row, "", "nothing happens here"));
        }
        for event in &expected {
            let Some(((row, _), after)) = rest.split_first() else {
                let message = "the run goes on from here, and its last rows are not there";
                return Err(wrong(row, "", message));
            };
            compare(row, event, found)?;
            run.apply(event);
            rest = after;
        }
    }
    if let (Doing::Called { stage, .. }, Some(last)) = (&run.doing, case.events.last()) {
        let place = Place { row: Some(last.seq), ..Place::default() };
        let message = format!("the agent of {stage} was called, and what it handed over is not there");
        found.wrong(Code::VerifyIncomplete, Check::Completeness, place, message);
    } else {
        found.right(Check::Completeness);
    }
    Ok(())
}

/// Whoever hands something over says of the run what is so: its goal, its request, its turn, its time. What the run was like then is kept.
fn standing(pipeline: &Pipeline, run: &Run, rest: &[(&Row, Event)], told: &mut Told, found: &mut Found) {
    let Some((row, Event::Returned { stage, handoff, llm_calls, .. })) = rest.first() else { return };
    if let Some(handed) = told.handed.iter_mut().find(|one| one.seq == row.seq) {
        handed.goals = Some(run.envelope.goals.remaining_goals.clone());
        handed.asked = Some((*llm_calls, run.llm_calls_left()));
    }
    let own = pipeline.stage(stage).filter(|stage| matches!(stage.agent, Agent::BuiltIn { .. }));
    let Some(stage) = own else { return };
    let outcome = Outcome::Done(handoff.payload.clone());
    let again = run.handoff(stage, outcome, handoff.provenance.clone(), &row.at);
    let of = |one: &Envelope| {
        let turn = Number::try_from(one.turn_id).map_or(Json::Null, Json::Number);
        let texts =
            [&one.agent, &one.goal, &one.request_id, &one.version].map(|text| Json::from(text.as_str()));
        let [agent, goal, request_id, version] = texts;
        let at = Json::from(one.timestamp.to_string());
        let source = Json::from((one.source == Source::Internal).to_string());
        [
            ("agent", agent),
            ("goal", goal),
            ("timestamp", at),
            ("request_id", request_id),
            ("turn_id", turn),
            ("source", source),
            ("version", version),
        ]
    };
    for ((name, expected), (_, stated)) in of(&again).into_iter().zip(of(handoff)) {
        same(row, &format!("/blobs/0/{name}"), Some(expected), Some(stated), found);
    }
}

/// Keeps what only the run tells.
fn hear((row, called): (&Row, u64), event: &Event, told: &mut Told) {
    match event {
        Event::Returned { stage, output_key, handoff, .. } => told.handed.push(Handed {
            seq: row.seq,
            called,
            stage: stage.clone(),
            output_key: output_key.clone(),
            payload: handoff.payload.clone().into(),
            is_asking: handoff.escalate,
            reason: handoff.reason.clone(),
            rests_on: handoff.provenance.clone(),
            asked: None,
            goals: None,
        }),
        Event::Answered { id, by, answer: Answer::Choose(option) } => {
            told.chosen.push(Chosen { question: id.clone(), by: by.clone(), option: option.clone() });
        }
        Event::Answered { .. }
        | Event::Called { .. }
        | Event::Ended { .. }
        | Event::Aimed { .. }
        | Event::GivenUp { .. }
        | Event::Reached { .. }
        | Event::Refused { .. }
        | Event::Heard { .. }
        | Event::Advanced { .. }
        | Event::Moved { .. }
        | Event::Stopped(_) => {}
    }
}

fn first_of(troubles: &[countersign_record::fields::Trouble]) -> String {
    troubles.first().map(ToString::to_string).unwrap_or_default()
}

/// A document that a row names.
fn document(case: &Case<'_>, row: &Row, at: usize) -> Result<Json, Untold> {
    match case.said(row, at) {
        Bytes::Here(bytes) => json::parse(bytes).map_err(|error| wrong(row, "/blobs", error.without_text())),
        Bytes::Withheld => Err(Untold::Withheld),
        Bytes::Missing => Err(wrong(row, "/blobs", "what it says is not in the packet")),
    }
}

fn event(case: &Case<'_>, row: &Row) -> Result<Event, Untold> {
    let kind = row.kind.as_str();
    let content = row::has_content(kind).then(|| document(case, row, 0)).transpose()?;
    Event::read(kind, row.payload.clone(), content, &row.at)
        .map_err(|troubles| wrong(row, "/payload", first_of(&troubles)))
}

/// What happens next, from what came in.
fn next(pipeline: &Pipeline, run: &Run, rest: &[(&Row, Event)]) -> Result<Vec<Event>, String> {
    let Some((row, event)) = rest.first() else { return Ok(Vec::new()) };
    let decided = |came: Came| decide(pipeline, run, came, &row.at).map_err(|refusal| refusal.to_string());
    match event {
        Event::Returned { stage, handoff, llm_calls, .. } => {
            // What an answer leads to stands right behind it.
            let stopped = rest.get(1).and_then(|(_, event)| stop_id(event));
            let came = |calls: u64| Came::Returned {
                stage: stage.clone(),
                handoff: Box::new((**handoff).clone()),
                llm_calls: calls,
                stop_id: stopped.clone().unwrap_or_default(),
            };
            let expected = decided(came(*llm_calls))?;
            // Whoever calls more often than it may is told as having called as often as it may; what follows shows it.
            let is_as_told = expected.iter().zip(rest).all(|(one, (_, other))| one == other);
            if !is_as_told && *llm_calls == run.llm_calls_left() {
                return decided(came(llm_calls.saturating_add(1)));
            }
            Ok(expected)
        }
        Event::Answered { id, by, answer } => {
            decided(Came::Answered { id: id.clone(), by: by.clone(), answer: answer.clone() })
        }
        Event::Called { .. }
        | Event::Ended { .. }
        | Event::Aimed { .. }
        | Event::GivenUp { .. }
        | Event::Reached { .. }
        | Event::Refused { .. }
        | Event::Heard { .. }
        | Event::Advanced { .. }
        | Event::Moved { .. }
        | Event::Stopped(_) => decided(Came::Go),
    }
}

fn stop_id(event: &Event) -> Option<String> {
    if let Event::Stopped(stop) = event { Some(stop.id.clone()) } else { None }
}

/// A row is that of an event: its kind, what it says, and the bytes that it names.
fn compare(row: &Row, event: &Event, found: &mut Found) -> Result<(), Untold> {
    let kept = event.kept().map_err(|error| wrong(row, "", error))?;
    if row.kind.as_str() != kept.kind {
        return Err(wrong(row, "/kind", format!("{} follows here", kept.kind)));
    }
    same(row, "/payload", Some(kept.payload.into()), Some(row.payload.clone()), found);
    if let Some(content) = kept.content {
        let expected = Json::from(String::from(Digest::of(&content)));
        let stated = row.blobs.first().map(|blob| Json::from(String::from(blob.digest)));
        same(row, "/blobs/0/digest", Some(expected), stated, found);
    }
    Ok(())
}

fn same(row: &Row, path: &str, expected: Option<Json>, stated: Option<Json>, found: &mut Found) {
    if expected == stated {
        return found.right(CHECK);
    }
    found.fail(Failure {
        code: Code::VerifyRun,
        check: CHECK,
        place: Place { row: Some(row.seq), path: Some(path.to_string()), ..Place::default() },
        expected,
        found: stated,
        message: "is not what follows".to_string(),
    });
}

/// A document that was written has every member, so nothing of this is ever used.
fn minted(at: &Timestamp) -> Option<Minted> {
    let digits = "0".repeat(16);
    Some(Minted {
        envelope_id: format!("env_{digits}").try_into().ok()?,
        request_id: format!("req_{digits}").try_into().ok()?,
        session_id: format!("sess_{digits}").try_into().ok()?,
        received_at: at.clone(),
    })
}
