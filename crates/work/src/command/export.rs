//! The command that sends evidence out.
//! Owns: what goes out, and the two halves of it: what is meant to be done is on record before it is, and what became of it after.
//! Must not: write a file.

use super::request::ExportEvidencePackageRequest;
use super::{By, Effect, Given};
use crate::desk::{Desk, Error, reference};
use crate::evidence;
use crate::outside::{self, Going, Left};
use alloc::format;
use alloc::string::ToString;
use countersign_govern::types::basic::StorageRef;
use countersign_govern::types::externalization::{
    WorkspaceExternalizationKind as Kind, WorkspaceExternalizationReceipt,
    WorkspaceExternalizationReceiptStatus as Status,
};

/// What is to leave.
pub(super) fn going(asked: &ExportEvidencePackageRequest) -> Result<Going<'_>, Error> {
    let destination = Some(reference("File", &asked.destination)?);
    Ok(Going { kind: Kind::ExportBundle, sources: asked.sources.as_deref(), destination })
}

/// Says that evidence is about to leave; gives what does.
pub(super) fn begin(
    desk: &mut Desk,
    asked: &ExportEvidencePackageRequest,
    by: &By<'_>,
    given: &Given<'_>,
) -> Result<Effect, Error> {
    let going = going(asked)?;
    if asked.confirmed == Some(true) {
        outside::confirm(desk, &going, by.reference()?)?;
    }
    outside::begin(desk, &going)?.map_err(|held| Error::Missing(format!("leave: {held}")))?;
    again(desk, asked, given)
}

/// What leaves, once it stands in the ledger that it is about to.
pub(super) fn again(
    desk: &Desk,
    asked: &ExportEvidencePackageRequest,
    given: &Given<'_>,
) -> Result<Effect, Error> {
    let document = evidence::document(desk, given.contents, asked.sources.as_deref())?;
    Ok(Effect::Export { destination: asked.destination.clone(), document })
}

/// Whether a record says that something was to leave and could not.
pub(super) fn has_failed(desk: &Desk, record: &StorageRef) -> bool {
    let id = record.as_str().strip_prefix("workspace_externalization_receipt:");
    let receipt: Option<WorkspaceExternalizationReceipt> =
        id.and_then(|id| desk.find("WorkspaceExternalizationReceipt", id));
    receipt.is_some_and(|receipt| receipt.status == Status::Failed)
}

/// Writes what became of it.
pub(super) fn done(
    desk: &mut Desk,
    asked: &ExportEvidencePackageRequest,
    has_left: bool,
) -> Result<(), Error> {
    let going = going(asked)?;
    let cleared = outside::begun(desk, &going).ok_or_else(|| Error::Missing("export".to_string()))?;
    let status = if has_left { Status::Completed } else { Status::Failed };
    outside::done(desk, &going, cleared, &Left { status, cost: None })?;
    Ok(())
}
