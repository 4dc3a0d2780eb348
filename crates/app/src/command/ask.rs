//! `countersign ask`: a question, folders, an answer with where each sentence of it stands.
//! Owns: the envelope that it begins with, and what is printed. Must not: answer.

use super::process::{Desk, ended, minted};
use crate::cli::Global;
use crate::cli::run::Ask;
use crate::failure::{Exit, Failure};
use crate::output;
use crate::place::Place;
use countersign_kernel::run::Run;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};
use countersign_record::state::GenericEnvelope;
use countersign_runtime::run::Driver;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

#[derive(Serialize)]
struct Answered<'a> {
    run: &'a str,
    answered: bool,
    answer: &'a str,
    citations: Vec<&'a Json>,
    unanswered: &'a [String],
    terminal_reason: Option<&'static str>,
}

pub(super) async fn run(global: &Global, ask: &Ask) -> Result<Exit, Failure> {
    if ask.prompt.trim().is_empty() {
        return Err(Failure::new(Code::UsageInvalid, "nothing is asked"));
    }
    let place = Place::open(global)?;
    let document = Json::Object(Object::from([
        ("raw_input", Json::from(ask.prompt.as_str())),
        ("user_id", Json::from(global.principal.as_str())),
    ]));
    let reading = GenericEnvelope::read(document, minted(&place.clock)?)
        .map_err(|troubles| Failure::troubles(Code::EnvelopeInvalid, "the question", &troubles))?;
    let desk = Desk::new(global, &ask.working, place)?;
    let mut driver = desk.begin(&ask.working, reading)?;
    let progress = output::progress("reading the sources".to_owned());
    let gone_on = driver.drive(&CancellationToken::new()).await;
    progress.finish_and_clear();
    gone_on?;
    told(global, &driver)
}

/// Prints what a run came to.
pub(super) fn told(global: &Global, driver: &Driver) -> Result<Exit, Failure> {
    let run = driver.run();
    let outcome = ended(run);
    let envelope = &run.envelope;
    let integration = envelope.progress.outputs.get("integration");
    let answer = integration.and_then(|output| output.get("final_response")).and_then(Json::as_str);
    let citations: Vec<&Json> = match integration.and_then(|output| output.get("citations")) {
        Some(Json::Array(citations)) => citations.iter().collect(),
        Some(_) | None => Vec::new(),
    };
    let is_answered = is_answered(run) && !citations.is_empty();
    if global.json {
        output::json(&Answered {
            run: driver.id().as_str(),
            answered: is_answered,
            answer: answer.unwrap_or_default(),
            citations,
            unanswered: &envelope.goals.remaining_goals,
            terminal_reason: envelope.ending.terminal_reason.map(|reason| reason.as_str()),
        })?;
    } else {
        for line in answer.unwrap_or_default().lines() {
            output::line(&output::plain(line))?;
        }
        for goal in
            envelope.goals.remaining_goals.iter().filter(|_| answer.is_some() && is_some_answered(run))
        {
            output::line(&output::plain(&format!("No source says anything about: {goal}")))?;
        }
        output::line(&format!("run {}", driver.id()))?;
    }
    outcome.map(|exit| if is_answered { exit } else { Exit::Limited })
}

/// Whether every goal was reached.
fn is_answered(run: &Run) -> bool {
    run.envelope.goals.remaining_goals.is_empty()
}

/// Whether one was, so that what is left must be told beside the answer.
fn is_some_answered(run: &Run) -> bool {
    run.envelope.goals.remaining_goals.len() < run.envelope.goals.all_goals.len()
}
