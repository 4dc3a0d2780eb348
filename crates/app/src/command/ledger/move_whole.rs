//! `ledger export` and `ledger import`: a ledger as files.
//! Owns: telling what was moved. Must not: know the files' form.

use crate::cli::Global;
use crate::failure::{Exit, Failure};
use crate::output;
use crate::place::Place;
use countersign_record::chain::Head;
use countersign_record::code::Code;
use countersign_runtime::ports::ledger::Ledger;
use countersign_store::archive;
use serde::Serialize;
use std::io::ErrorKind;
use std::path::Path;

#[derive(Serialize)]
struct Moved<'a> {
    matter: &'a str,
    rows: u64,
    head: Head,
}

pub(super) async fn export(global: &Global, place: &Place, dir: &Path) -> Result<Exit, Failure> {
    let head = place.ledger.head(&place.access).await?;
    parent_is_there(dir)?;
    let rows = output::count(head.seq, "row");
    let progress = output::progress(global, format!("exporting {rows} of {}", place.matter()));
    let head = archive::export(&place.ledger, &place.access, dir).await;
    progress.finish_and_clear();
    told(global, place, head?, "exported")
}

/// An archive is made in a directory that is there: one with a typing error in its name is not made on the way.
fn parent_is_there(dir: &Path) -> Result<(), Failure> {
    let parent = match dir.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => return Ok(()),
    };
    let shown = parent.display();
    let message = match std::fs::metadata(parent) {
        Ok(about) if about.is_dir() => return Ok(()),
        Ok(_) => format!("{shown} is no directory"),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            format!("{shown} is not there: make the directory first")
        }
        Err(error) => format!("{shown}: {error}"),
    };
    Err(Failure::new(Code::OutputFailed, message))
}

pub(super) async fn import(global: &Global, place: &Place, dir: &Path) -> Result<Exit, Failure> {
    let progress = output::progress(global, format!("importing into {}", place.matter()));
    let head = archive::import(&place.ledger, &place.access, dir).await;
    progress.finish_and_clear();
    told(global, place, head?, "imported")
}

fn told(global: &Global, place: &Place, head: Head, what: &str) -> Result<Exit, Failure> {
    let matter = place.matter().as_str();
    if global.json {
        output::json(&Moved { matter, rows: head.seq, head })?;
    } else {
        output::line(&format!("{what} {} of {matter}; head {}", output::count(head.seq, "row"), head.hash))?;
    }
    Ok(Exit::Success)
}
