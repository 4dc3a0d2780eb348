//! `countersign ledger`: the record itself.
//! Owns: the subcommands. Must not: know how a ledger is stored.

mod append;
mod copies;
mod decide;
mod move_whole;
mod read;
mod verify;

pub(super) use read::read_digest;

use crate::cli::Global;
use crate::cli::ledger::Ledger;
use crate::failure::{Exit, Failure};
use crate::place::Place;

/// Runs one subcommand.
pub(super) async fn run(global: &Global, command: Ledger) -> Result<Exit, Failure> {
    let place = Place::open(global)?;
    match command {
        Ledger::Append { file, atomic, blob } => append::run(global, &place, &file, atomic, &blob).await,
        Ledger::Rows(rows) => read::rows(&place, &rows).await,
        Ledger::Tail { after, lines, count, stream, kind, no_follow } => {
            let filter = read::Filter::new(stream, kind)?;
            read::tail(&place, read::Tail { after, lines, count, filter, follow: !no_follow }).await
        }
        Ledger::Summary => read::summary(global, &place).await,
        Ledger::Verify { anchor, trusted_key } => verify::run(global, &place, &anchor, &trusted_key).await,
        Ledger::Anchor => verify::anchor(&place).await,
        Ledger::Export { dir } => move_whole::export(global, &place, &dir).await,
        Ledger::Import { dir } => move_whole::import(global, &place, &dir).await,
        Ledger::Blob { digest } => read::blob(global, &place, &digest).await,
        Ledger::Erase { digest, reason } => decide::erase(global, &place, &digest, &reason).await,
        Ledger::Hold(hold) => decide::hold(global, &place, hold).await,
    }
}
