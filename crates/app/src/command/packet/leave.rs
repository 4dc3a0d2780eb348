//! Whether a packet may leave, and that it did.
//! Owns: asking the task's policy before, and the command whose records say what left. Must not: write a file.

use super::super::governed::Governed;
use super::{Failure, Files};
use crate::cli::Global;
use crate::output;
use countersign_govern::types::externalization::WorkspaceExternalizationKind as Kind;
use countersign_record::code::Code;
use countersign_record::id::RunId;
use countersign_record::json::{Json, Object};
use countersign_work::desk::reference;
use countersign_work::outside::{self, Going, Held};
use std::path::Path;

/// The command that puts down what leaves.
const COMMAND: &str = "evidence.export_package";

/// The run whose packet may leave. Nothing is on record yet.
pub(super) async fn may(
    global: &Global,
    run: &RunId,
    task: Option<&Json>,
    files: &Files<'_>,
) -> Result<Governed, Failure> {
    if task.is_none() {
        let message = format!("{run} is no run of a task, so it has no reliance packet");
        return Err(Failure::new(Code::PacketMissing, message));
    }
    for path in [files.out, files.html].into_iter().flatten() {
        if std::fs::symlink_metadata(path).is_ok() {
            let shown = output::plain(&path.display().to_string());
            let message = format!("{shown}: it is there already; name a file that is not");
            return Err(Failure::new(Code::FileUnreadable, message));
        }
    }
    let governed = Governed::open(global, run.as_str()).await?;
    let destination = reference("File", &destination(files)).ok();
    let going = Going { kind: Kind::ExportBundle, sources: &[], destination };
    match governed.work.look(|desk| outside::may(desk, &going)) {
        Some(Err(Held::Never(_))) => {
            Err(Failure::new(Code::RunDenied, "the task's policy says that it is never exported"))
        }
        Some(Err(Held::Unconfirmed)) if !files.is_confirmed => {
            let message =
                "the task's policy asks a person before anything leaves; --yes says that you let it";
            Err(Failure::new(Code::RunDenied, message))
        }
        Some(Err(held @ (Held::Class { .. } | Held::Kept))) => {
            Err(Failure::new(Code::RunDenied, held.to_string()))
        }
        Some(Ok(_) | Err(Held::Unconfirmed)) | None => Ok(governed),
    }
}

/// Lets it leave: that it is about to is on record before, and what became of it after. Gives the receipt's name.
pub(super) async fn out(
    global: &Global,
    governed: Governed,
    files: &Files<'_>,
    writes: impl FnOnce() -> Result<(), Failure>,
) -> Result<String, Failure> {
    let request = Object::from([
        ("destination", Json::from(destination(files))),
        ("confirmed", Json::Bool(files.is_confirmed)),
    ]);
    let ruled = governed.give_out(global, (COMMAND, &request.into()), None, |_, _| writes()).await?;
    ruled.accepted()?;
    Ok(ruled.ruling.receipt.receipt_id.clone())
}

/// Where the packet goes; a page beside its file is a picture of it.
fn destination(files: &Files<'_>) -> String {
    let path = files.out.or(files.html).unwrap_or(Path::new(""));
    path.to_string_lossy().into_owned()
}
