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
use std::collections::BTreeSet;

#[derive(Serialize)]
struct Answered<'a> {
    run: &'a str,
    answered: bool,
    answer: &'a str,
    citations: &'a [Json],
    unanswered: Vec<&'a str>,
    /// What comes closest to what is not answered, and may well be about something else.
    closest: &'a [Close<'a>],
    /// Files that could not be looked into: path and why.
    unread: &'a BTreeSet<[&'a str; 2]>,
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
    let progress = output::progress(global, "reading the sources".to_owned());
    let gone_on = driver.drive(&cancelling.token).await;
    progress.finish_and_clear();
    gone_on?;
    told(global, &driver)
}

/// A passage that comes close to a question.
#[derive(Serialize)]
struct Close<'a> {
    question: &'a str,
    text: &'a str,
    location: &'a str,
}

fn close(passage: &Json) -> Option<Close<'_>> {
    let text = |name: &str| passage.get(name).and_then(Json::as_str);
    Some(Close { question: text("relevance")?, text: text("content")?, location: text("location")? })
}

/// A path, and why its file was not read.
fn pair(item: &Json) -> Option<[&str; 2]> {
    match item.as_array()? {
        [path, why] => Some([path.as_str()?, why.as_str()?]),
        _ => None,
    }
}

/// Prints what a run came to.
fn told(global: &Global, driver: &Driver) -> Result<Exit, Failure> {
    let run = driver.run();
    let outcome = ended(run);
    let outputs = &run.envelope.progress.outputs;
    let list = |key: &str, member: &str| {
        let found = outputs.get(key).and_then(|output| output.get(member)?.as_array());
        found.unwrap_or_default()
    };
    let answer =
        outputs.get("integration").and_then(|output| output.get("final_response")).and_then(Json::as_str);
    let answer = answer.unwrap_or_default();
    let citations = list("integration", "citations");
    let unanswered: Vec<&str> = list("critic", "unanswered").iter().filter_map(Json::as_str).collect();
    let results = list("execution", "results").iter();
    let unread = results.filter_map(|step| step.get("result")?.get("unread")).filter_map(Json::as_array);
    let unread = list("perception", "skipped").iter().chain(unread.flatten()).filter_map(pair).collect();
    let unread: BTreeSet<[&str; 2]> = unread;
    let closest: Vec<Close<'_>> = list("execution", "closest").iter().filter_map(close).collect();
    let is_answered = run.envelope.goals.remaining_goals.is_empty() && !citations.is_empty();
    if global.json {
        output::json(&Answered {
            run: driver.id().as_str(),
            answered: is_answered,
            answer,
            citations,
            unanswered,
            closest: &closest,
            unread: &unread,
            terminal_reason: run.envelope.ending.terminal_reason.map(|reason| reason.as_str()),
        })?;
    } else {
        for line in answer.lines() {
            output::line(&output::plain(line))?;
        }
        for part in unanswered.iter().filter(|_| !citations.is_empty()) {
            output::line(&output::plain(&format!("No source says anything about: {part}")))?;
        }
        if !closest.is_empty() {
            output::line("What comes closest, and may be about something else:")?;
        }
        for Close { text, location, .. } in &closest {
            let words: Vec<&str> = text.split_whitespace().collect();
            output::line(&output::plain(&format!("  {} [{location}]", words.join(" "))))?;
        }
        if let Some([path, why]) = unread.first() {
            let count = output::count(unread.len() as u64, "file");
            output::aside(&output::plain(&format!("{count} could not be read, such as {path}: {why}")));
        }
        output::line(&format!("run {}", driver.id()))?;
    }
    outcome.map(|exit| if is_answered { exit } else { Exit::Limited })
}
