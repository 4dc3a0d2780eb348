//! Pages: what is shown of a run when somebody asks.
//! Owns: whether what was put down for one still counts, and everything as it is now. Must not: put a record down.

use crate::board;
use crate::closing;
use crate::cost;
use crate::desk::{Desk, Error};
use crate::explain::Decided;
use crate::finding;
use crate::names::references;
use crate::show;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::reference::Reference;
use countersign_govern::types::added::showing::{ReadModelInputManifest, ReviewabilityView};
use countersign_govern::types::basic::{StorageRef, V10};
use countersign_govern::types::read_models::{
    DerivedReadModelRecord, DerivedReadModelRecordReadModelKind as ReadModel,
};
use countersign_govern::types::reliance::DecisionAuditView;
use countersign_govern::types::review::RevisionReviewPacket;
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

/// All that a reviewer looks over in one place: every finding by its last event, every packet for review, of every decision the last view.
/// No run puts it down; it is derived whenever somebody asks, and its manifest is that of what it lists.
///
/// # Errors
/// Something can't be derived.
pub fn reviewable(desk: &Desk) -> Result<(ReviewabilityView, Header), Error> {
    let findings = finding::all(desk);
    let findings = findings.iter().map(|one| one.event.finding_event_id.as_str());
    let packets: Vec<String> =
        desk.each::<RevisionReviewPacket>("RevisionReviewPacket").map(|one| one.record.packet_id).collect();
    let mut views: BTreeMap<String, (u64, String)> = BTreeMap::new();
    for view in desk.each::<DecisionAuditView>("DecisionAuditView") {
        let about = view.record.target_decision_ref.as_str().to_string();
        views.insert(about, (view.seq, view.record.audit_view_id));
    }
    let mut views: Vec<(u64, String)> = views.into_values().collect();
    views.sort_unstable();
    let view = ReviewabilityView {
        reviewability_view_id: desk.id("review"),
        task_id: desk.task().id.clone(),
        run_id: desk.run().to_string(),
        finding_refs: references("EvaluationFindingEvent", findings)?,
        revision_review_packet_refs: references("RevisionReviewPacket", packets.iter().map(String::as_str))?,
        decision_audit_view_refs: references("DecisionAuditView", views.iter().map(|(_, id)| id.as_str()))?,
        created_at: desk.now(),
        schema_version: Some(V10),
    };
    let lists = [&view.finding_refs, &view.revision_review_packet_refs, &view.decision_audit_view_refs];
    let inputs: Vec<StorageRef> = lists.into_iter().flatten().cloned().collect();
    let header = made_of(desk, &view.reviewability_view_id, inputs)?;
    Ok((view, header))
}

/// The header of a page that no run puts down, as it would be put down now.
///
/// # Errors
/// Something can't be derived.
pub fn made_of(desk: &Desk, id: &str, inputs: Vec<StorageRef>) -> Result<Header, Error> {
    let mut trial = desk.clone();
    let manifest = show::manifest(&mut trial, inputs.clone())?;
    let unread = || Error::Unnameable(manifest.as_str().to_string());
    let read = Reference::read(manifest.as_str()).ok_or_else(unread)?;
    let manifest: ReadModelInputManifest =
        trial.find("ReadModelInputManifest", read.id).ok_or_else(unread)?;
    let (id, manifest_hash) = (id.to_string(), manifest.input_manifest_hash);
    Ok(Header { id, manifest_hash, inputs, from: desk.end(), until: None, ended_by: None })
}

/// The header of the board: the events on it.
///
/// # Errors
/// Something can't be derived.
pub fn board(desk: &Desk) -> Result<Header, Error> {
    let events = board::entries(desk);
    let events = events.iter().map(|one| one.event.event_id.as_str());
    made_of(desk, &desk.id("board"), references("RunBoardAuditEvent", events)?)
}

/// The header of what was decided: the decisions.
///
/// # Errors
/// Something can't be derived.
pub fn audit(desk: &Desk, decided: &[Decided]) -> Result<Header, Error> {
    made_of(desk, &desk.id("audit"), decided.iter().map(|one| one.decision.clone()).collect())
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
