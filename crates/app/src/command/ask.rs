//! `countersign ask`: a question, folders, an answer with where each sentence of it stands.
//! Owns: the envelope that it begins with, and what is printed. Must not: answer.

use super::process::{Desk, ended, minted};
use crate::cli::Global;
use crate::cli::run::Ask;
use crate::failure::{Exit, Failure};
use crate::output;
use crate::place::Place;
use crate::signals::Cancelling;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};
use countersign_record::state::GenericEnvelope;
use countersign_runtime::run::Driver;
use serde::Serialize;

#[derive(Serialize)]
struct Answered<'a> {
    run: &'a str,
    answered: bool,
    answer: &'a str,
    citations: &'a [Json],
    unanswered: Vec<&'a str>,
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
    let cancelling = Cancelling::new()?;
    let progress = output::progress("reading the sources".to_owned());
    let gone_on = driver.drive(&cancelling.token).await;
    progress.finish_and_clear();
    gone_on?;
    told(global, &driver)
}

/// Prints what a run came to.
fn told(global: &Global, driver: &Driver) -> Result<Exit, Failure> {
    let run = driver.run();
    let outcome = ended(run);
    let outputs = &run.envelope.progress.outputs;
    let list = |key: &str, member: &str| match outputs.get(key).and_then(|output| output.get(member)) {
        Some(Json::Array(items)) => items.as_slice(),
        Some(_) | None => &[],
    };
    let answer =
        outputs.get("integration").and_then(|output| output.get("final_response")).and_then(Json::as_str);
    let answer = answer.unwrap_or_default();
    let citations = list("integration", "citations");
    let unanswered: Vec<&str> = list("critic", "unanswered").iter().filter_map(Json::as_str).collect();
    let is_answered = run.envelope.goals.remaining_goals.is_empty() && !citations.is_empty();
    if global.json {
        output::json(&Answered {
            run: driver.id().as_str(),
            answered: is_answered,
            answer,
            citations,
            unanswered,
            terminal_reason: run.envelope.ending.terminal_reason.map(|reason| reason.as_str()),
        })?;
    } else {
        for line in answer.lines() {
            output::line(&output::plain(line))?;
        }
        for part in unanswered.iter().filter(|_| !citations.is_empty()) {
            output::line(&output::plain(&format!("No source says anything about: {part}")))?;
        }
        output::line(&format!("run {}", driver.id()))?;
    }
    outcome.map(|exit| if is_answered { exit } else { Exit::Limited })
}
