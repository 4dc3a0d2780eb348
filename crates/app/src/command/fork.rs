//! `countersign fork`: another run, from what one has kept.
//! Owns: the words. Must not: begin a run by itself; a registered command does.

use super::governed::{Governed, told_fork};
use crate::cli::Global;
use crate::cli::governed::Fork;
use crate::failure::{Exit, Failure};
use crate::output;
use countersign_record::json::{Json, Object};

/// The command that forks.
const FORK: &str = "task_replay.create_fork";

pub(super) async fn run(global: &Global, command: &Fork) -> Result<Exit, Failure> {
    let governed = Governed::open(global, &command.run).await?;
    let mut request = Object::from([("reason", Json::from(command.reason.as_str()))]);
    if let Some(checkpoint) = &command.checkpoint {
        request.insert("checkpoint_id", checkpoint.as_str());
    }
    let ruled = governed.give(global, FORK, &request.into(), None).await?;
    let Some(fork) = ruled.fork().filter(|_| !global.json) else { return ruled.told(global) };
    for line in told_fork(fork) {
        output::line(&output::plain(&line))?;
    }
    if let Some(next) = &ruled.next {
        output::line(&format!("next     {next}"))?;
    }
    Ok(Exit::Success)
}
