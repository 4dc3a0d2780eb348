//! The headers of what is shown: from what it is derived, and from when on.
//! Owns: writing them. Must not: derive what is shown, or close a header; the desk does when what it rests on has changed.

use crate::desk::{Desk, Error, hash_of, reference};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::types::added::showing::ReadModelInputManifest;
use countersign_govern::types::basic::{StorageRef, V10};
use countersign_govern::types::read_models::{
    DerivedReadModelRecord, DerivedReadModelRecordReadModelKind as ReadModel,
};
use countersign_govern::types::wire::Wire;
use countersign_record::json::Json;

/// Writes the header of something that is shown, with the manifest of what it is derived from.
///
/// # Errors
/// Something can't be written.
pub fn header(
    desk: &mut Desk,
    kind: ReadModel,
    inputs: Vec<StorageRef>,
    shown: Option<StorageRef>,
    receipts: Vec<StorageRef>,
) -> Result<StorageRef, Error> {
    let manifest = manifest(desk, inputs)?;
    let header = DerivedReadModelRecord {
        read_model_id: desk.id("shown"),
        read_model_kind: kind,
        input_manifest_ref: manifest,
        derivation_policy_ref: desk.policy_snapshot()?,
        formula_eval_receipt_refs: receipts,
        valid_from_event_seq: desk.end(),
        valid_until_event_seq: None,
        invalidated_by_event_ref: None,
        created_at: desk.now(),
        schema_version: V10,
        payload_ref: shown,
        run_id: Some(desk.run().to_string()),
        task_id: Some(desk.task().id.clone()),
        matter_id: Some(desk.matter().to_string()),
    };
    desk.open("DerivedReadModelRecord", &header)
}

/// A manifest of inputs.
pub(crate) fn manifest(desk: &mut Desk, input_refs: Vec<StorageRef>) -> Result<StorageRef, Error> {
    let mut manifest = ReadModelInputManifest {
        manifest_id: desk.id("manifest"),
        input_refs,
        input_manifest_hash: String::new(),
        created_from_event_seq: desk.end(),
        created_at: desk.now(),
        schema_version: Some(V10),
    };
    let mut json = manifest.write().unwrap_or(Json::Null);
    if let Json::Object(members) = &mut json {
        members.remove("input_manifest_hash");
    }
    manifest.input_manifest_hash = String::from(hash_of(&json)?);
    desk.put(&manifest)
}

/// The reference to a person.
///
/// # Errors
/// They can't be named.
pub fn person(name: &str) -> Result<StorageRef, Error> {
    reference("User", name)
}
