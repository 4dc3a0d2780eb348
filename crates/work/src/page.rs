//! Pages: what is shown of a run when somebody asks.
//! Owns: whether what was put down for one still counts, and everything as it is now. Must not: put a record down.

use crate::closing;
use crate::cost;
use crate::desk::{Desk, Error};
use alloc::string::String;
use alloc::vec::Vec;
use countersign_govern::reference::Reference;
use countersign_govern::types::added::showing::ReadModelInputManifest;
use countersign_govern::types::basic::StorageRef;
use countersign_govern::types::read_models::{
    DerivedReadModelRecord, DerivedReadModelRecordReadModelKind as ReadModel,
};
use countersign_govern::types::wire::{Reading, Wire};

const HEADER: &str = "DerivedReadModelRecord";

/// What a page rests on, and from when until when it counts; by places in the run's records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// What it is called.
    pub id: String,
    /// SHA-256 of the manifest of what it is derived from.
    pub manifest_hash: String,
    /// What that is.
    pub inputs: Vec<StorageRef>,
    /// From when it counts.
    pub from: u64,
    /// Until when; it still does if nothing is said.
    pub until: Option<u64>,
    /// What ended it.
    pub ended_by: Option<StorageRef>,
}

/// The last header of a kind of page, as it stands.
#[must_use]
pub fn header(desk: &Desk, kind: ReadModel) -> Option<Header> {
    let is_own = |one: &DerivedReadModelRecord| one.read_model_kind == kind;
    let id = desk.each::<DerivedReadModelRecord>(HEADER).rfind(|one| is_own(&one.record))?.id;
    let standing = desk.projections().into_iter().find(|one| one.kind == HEADER && one.id == id)?;
    let header = DerivedReadModelRecord::read(&standing.record, &mut Reading::default())?;
    let manifest = Reference::read(header.input_manifest_ref.as_str())?;
    let manifest: ReadModelInputManifest = desk.find("ReadModelInputManifest", manifest.id)?;
    Some(Header {
        id,
        manifest_hash: manifest.input_manifest_hash,
        inputs: manifest.input_refs,
        from: header.valid_from_event_seq,
        until: header.valid_until_event_seq,
        ended_by: header.invalidated_by_event_ref,
    })
}

/// The header of the findings, as it would be put down now.
///
/// # Errors
/// Something can't be derived.
pub fn inbox(desk: &Desk) -> Result<Option<Header>, Error> {
    let mut trial = desk.clone();
    closing::inbox(&mut trial)?;
    Ok(header(&trial, ReadModel::FindingsInbox))
}

/// The records of the run with every page derived anew behind them; the run itself stays as it is.
///
/// # Errors
/// Something can't be derived.
pub fn fresh(desk: &Desk) -> Result<Desk, Error> {
    let mut trial = desk.clone();
    cost::narrative(&mut trial)?;
    closing::show(&mut trial)?;
    Ok(trial)
}
