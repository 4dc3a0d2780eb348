//! `countersign answer`: what a person says to a run that waits.
//! Owns: the words for an answer. Must not: decide whether it counts.

use super::process::{Advanced, Desk, Seat, looking, printed};
use crate::cli::Global;
use crate::cli::run::Answer;
use crate::failure::{Exit, Failure};
use crate::office;
use crate::place::Place;
use crate::signals::Cancelling;
use countersign_kernel::run;
use countersign_runtime::run::Told;
use tokio_util::sync::CancellationToken;

pub(super) async fn run(global: &Global, command: Answer) -> Result<Exit, Failure> {
    let answer = match (command.value, &command.choose) {
        (Some(text), _) => run::Answer::Text(text),
        (None, Some(choice)) => chosen(choice),
        (None, None) if command.approve => run::Answer::Approve,
        (None, None) => run::Answer::Deny,
    };
    let opens = |name: &str| office::model(global, name).map(|(model, _)| model);
    let seat = Seat { global, bench: looking(Place::open(global)?)?, opens: &opens };
    let (desk, told) = Desk::again(seat, command.allow_programs, &command.run).await?;
    let cancelling = Cancelling::new()?;
    let Advanced { run, outcome } = answered(desk, told, &command.id, answer, &cancelling.token).await?;
    printed(&run, !global.json, outcome)
}

/// One of the next steps that a run offers, by its words.
pub(crate) fn chosen(choice: &str) -> run::Answer {
    match choice.trim().to_lowercase().replace('_', " ").as_str() {
        "approve" => run::Answer::Approve,
        "deny" => run::Answer::Deny,
        "retry" => run::Answer::Retry,
        "give up" => run::Answer::GiveUp,
        _ => run::Answer::Text(choice.to_owned()),
    }
}

/// Gives the answer to the run, and lets it go on.
pub(crate) async fn answered(
    desk: Desk,
    told: Told,
    id: &str,
    answer: run::Answer,
    cancel: &CancellationToken,
) -> Result<Advanced, Failure> {
    let approver = desk.policy.approver;
    let mut driver = desk.open(told)?;
    driver.answer(id, answer, approver).await?;
    // The answer counts whatever becomes of the rest.
    if driver.run().doing == run::Doing::Ready
        && let Err(error) = driver.drive(cancel).await
    {
        return Ok(Advanced { outcome: Err(error.into()), run: driver.kept().await? });
    }
    Ok(driver.advanced())
}
