//! `countersign run`: a task in, a work product that can be signed out.
//! Owns: carrying a task's run to its end, putting the work where a user finds it, the summary. Must not: decide.

use super::process::{Desk, Seat, ended, looking, minted};
use crate::cli::Global;
use crate::cli::run::{Run, Working};
use crate::failure::{Exit, Failure};
use crate::office;
use crate::pipelines;
use crate::place::Place;
use crate::signals::Cancelling;
use crate::tasks::{self, Folder};
use countersign_kernel::run as kernel;
use countersign_record::code::Code;
use countersign_record::id::RunId;
use countersign_record::state::GenericEnvelope;
use countersign_runtime::ports::ledger::Ledger;
use countersign_runtime::run::{self, Driver, Error};
use countersign_runtime::work::Work;
use countersign_work::learning;
use countersign_work::task;
use std::sync::Arc;

pub(super) mod change;
mod claimed;
pub(super) mod product;
mod progress;
pub(super) mod screen;
pub(super) mod standing;
pub(super) mod steps;
mod summary;
pub(super) mod waits;

pub(super) use claimed::ClaimTexts;
pub(super) use progress::driven;

pub(super) async fn run(global: &Global, command: &Run) -> Result<Exit, Failure> {
    let dir = tasks::folder_of(&command.task);
    let folder = Folder::read(&dir, &global.matter, |task| match command.model {
        Some(_) => Ok(()),
        None => office::can_answer(global, task),
    })?;
    let place = Place::open(global)?;
    let working = Working {
        pipeline: match folder.task.pipeline() {
            shipped if pipelines::is_shipped(shipped) => shipped.to_owned(),
            file => dir.join(file).to_string_lossy().into_owned(),
        },
        model: command.model.clone().unwrap_or_else(|| folder.task.model().to_owned()),
        // Where its files can be looked at again.
        sources: vec![dir],
        memory: Vec::new(),
        allow_programs: command.allow_programs,
    };
    let document = task::envelope(&folder.task, &global.principal);
    let reading = GenericEnvelope::read(document, minted(&place.clock)?)
        .map_err(|troubles| Failure::troubles(Code::TaskInvalid, "the task", &troubles))?;
    let (at_work, found) = tasks::begun(folder, &reading.envelope.identity.received_at)?;
    let work = Arc::clone(&at_work.work);
    let end = place.ledger.head(&place.access).await.map_or(0, |head| head.seq);
    let opens = |name: &str| office::model(global, name).map(|(model, _)| model);
    let bench = looking(place)?;
    let known = run::known(&*bench.journal, &bench.access, end).await?;
    work.compare(learning::nearest(&work.task(), &known));
    let seat = Seat { global, bench, opens: &opens };
    let mut driver = Desk::at_work(seat, &working, found, at_work)?.begin(&working, reading)?;
    let cancelling = Cancelling::new()?;
    if let Err(error) = driven(global, &mut driver, &work, &cancelling.token).await {
        return Err(left(global, &driver, error).await);
    }
    told(global, driver.id(), driver.run(), &work, ended(driver.run()))
}

/// Puts the work where a user finds it, and prints what the run came to.
pub(super) fn told(
    global: &Global,
    id: &RunId,
    run: &kernel::Run,
    work: &Work,
    outcome: Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    // The records have it, so that it can be written again.
    product::put(global, id, work).map_err(|failure| {
        failure.with("run", id.as_str()).with("next", global.typed(&format!("runs resume {id}")))
    })?;
    summary::told(global, id, run, work, outcome)
}

/// What kept a run from going on, and how it goes on if anything of it is durable.
pub(super) async fn left(global: &Global, driver: &Driver, error: Error) -> Failure {
    let failure = Failure::from(error);
    match driver.kept().await {
        Ok(_) => {
            let id = driver.id();
            failure.with("run", id.as_str()).with("next", global.typed(&format!("runs resume {id}")))
        }
        Err(_) => failure,
    }
}
