//! `countersign answer`: what a person says to a run that waits.
//! Owns: the words for an answer. Must not: decide whether it counts.

use super::process::{Advanced, Desk, Driven, Seat, ended, looking, printed};
use super::run::{driven, left};
use crate::cli::Global;
use crate::cli::run::Answer;
use crate::failure::{Exit, Failure};
use crate::office;
use crate::output;
use crate::place::Place;
use crate::signals::Cancelling;
use countersign_kernel::run;
use countersign_record::code::Code;
use countersign_runtime::run::Told;
use tokio_util::sync::CancellationToken;

pub(super) async fn run(global: &Global, command: Answer) -> Result<Exit, Failure> {
    let answer = match (command.value, command.choose) {
        (Some(text), _) => Given::Answer(run::Answer::Text(text)),
        (None, Some(choice)) => Given::Step(choice),
        (None, None) if command.approve => Given::Answer(run::Answer::Approve),
        (None, None) => Given::Answer(run::Answer::Deny),
    };
    let opens = |name: &str| office::model(global, name).map(|(model, _)| model);
    let seat = Seat { global, bench: looking(Place::open(global)?)?, opens: &opens };
    let (desk, told) = Desk::again(seat, command.allow_programs, &command.run).await?;
    let cancelling = Cancelling::new()?;
    let Some(work) = desk.work() else {
        let Advanced { run, outcome } = answered(desk, told, &command.id, answer, &cancelling.token).await?;
        return printed(&run, !global.json, outcome);
    };
    let mut driver = taken(desk, told, &command.id, answer).await?;
    // The answer counts whatever becomes of the rest.
    if driver.run().doing == run::Doing::Ready
        && let Err(error) = driven(global, &mut driver, &work, &cancelling.token).await
    {
        return Err(left(global, &driver, error).await);
    }
    super::run::told(global, driver.id(), driver.run(), &work, ended(driver.run()))
}

/// What a person says, before it is known what was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    /// An answer.
    Answer(run::Answer),
    /// The words of a next step, which must be one that the run offers.
    Step(String),
}

/// One of the next steps that a run offers, by its words.
fn chosen(choice: &str, told: &Told) -> Result<run::Answer, Failure> {
    let plain = |words: &str| words.trim().to_lowercase().replace(['_', '-'], " ");
    let run::Doing::Waiting(stop) = &told.run.doing else {
        // Whoever decides says why no answer counts.
        return Ok(run::Answer::Text(choice.to_owned()));
    };
    // An option of a question is taken as it is written.
    if stop.reason == run::HARD_CALL && stop.next_steps.iter().any(|option| option == choice) {
        return Ok(run::Answer::Choose(choice.to_owned()));
    }
    let words = plain(choice);
    match (words.as_str(), run::NextStep::find(&words)) {
        ("approve", _) => Ok(run::Answer::Approve),
        ("deny", _) => Ok(run::Answer::Deny),
        (_, Some(run::NextStep::Retry)) => Ok(run::Answer::Retry),
        (_, Some(run::NextStep::GiveUp)) => Ok(run::Answer::GiveUp),
        (words, _) => {
            let offered = stop.next_steps.iter().find(|step| plain(step) == words);
            offered.cloned().map(run::Answer::Text).ok_or_else(|| {
                let steps = output::plain(&stop.next_steps.join(", "));
                Failure::new(Code::AnswerKind, format!("the run offers no such step; it offers: {steps}"))
            })
        }
    }
}

/// Gives the answer to the run.
async fn taken(desk: Desk, told: Told, id: &str, given: Given) -> Result<Driven, Failure> {
    let approver = desk.policy.approver;
    let answer = match given {
        Given::Answer(answer) => answer,
        Given::Step(choice) => chosen(&choice, &told)?,
    };
    let mut driver = desk.open(told)?;
    driver.answer(id, answer, approver).await?;
    Ok(driver)
}

/// Gives the answer to the run, and lets it go on.
pub(crate) async fn answered(
    desk: Desk,
    told: Told,
    id: &str,
    given: Given,
    cancel: &CancellationToken,
) -> Result<Advanced, Failure> {
    let mut driver = taken(desk, told, id, given).await?;
    // The answer counts whatever becomes of the rest.
    if driver.run().doing == run::Doing::Ready
        && let Err(error) = driver.drive(cancel).await
    {
        return Ok(Advanced { outcome: Err(error.into()), run: driver.kept().await? });
    }
    Ok(driver.advanced())
}
