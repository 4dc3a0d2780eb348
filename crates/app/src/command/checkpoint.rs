//! `countersign checkpoint`: the versions that count now, kept to be gone back to.
//! Owns: the words. Must not: make one by itself; a registered command does.

use super::governed::Governed;
use crate::cli::Global;
use crate::cli::governed::Checkpoint;
use crate::failure::{Exit, Failure};
use crate::output;
use countersign_govern::decide::command::Outcome;
use countersign_govern::types::wire::Wire;
use countersign_record::json::{Json, Object};
use countersign_work::travel::checkpoint;

/// The command that makes one.
const CREATE: &str = "checkpoint.create";

pub(super) async fn run(global: &Global, command: &Checkpoint) -> Result<Exit, Failure> {
    let governed = Governed::open(global, &command.run).await?;
    if command.list {
        return list(global, &governed);
    }
    let mut request = Object::new();
    if let Some(name) = &command.name {
        request.insert("label", name.as_str());
    }
    let ruled = governed.give(global, CREATE, &request.into(), None).await?;
    match ruled.wrote("known_good_checkpoint") {
        Some(id) if ruled.ruling.outcome == Outcome::Accepted && !global.json => {
            output::line(&output::plain(&format!("checkpoint {id}")))?;
            let next = global.typed(&format!("fork {} --checkpoint {id}", ruled.run));
            output::line(&output::plain(&format!("next       {next}")))?;
            Ok(Exit::Success)
        }
        Some(_) | None => ruled.told(global),
    }
}

fn list(global: &Global, governed: &Governed) -> Result<Exit, Failure> {
    let all = governed.work.look(checkpoint::all).unwrap_or_default();
    if global.json {
        output::json(&Json::Array(all.iter().filter_map(Wire::write).collect()))?;
        return Ok(Exit::Success);
    }
    if all.is_empty() {
        output::line("No checkpoints yet.")?;
    }
    for one in all {
        let heads: Vec<&str> = one.artifact_head_refs.iter().map(|head| head.as_str()).collect();
        let text =
            format!("{}  {}  by {}  {}", one.checkpoint_id, one.label, one.created_by_ref, heads.join(", "));
        output::line(&output::plain(&text))?;
    }
    Ok(Exit::Success)
}
