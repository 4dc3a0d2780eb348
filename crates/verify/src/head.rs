//! What a statement says of itself, as it follows from what is in it.
//! Owns: deriving it, for who makes a statement and for who verifies one. Must not: compare.

use crate::case::Case;
use crate::packet::{Key, Subject};
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_govern::world::Record;
use countersign_record::digest::Digest;
use countersign_record::row::{Proof, Row};

/// What follows from a packet's rows for its head.
pub(crate) struct Stated {
    pub(crate) packet_id: String,
    pub(crate) status: String,
    pub(crate) subjects: Vec<Subject>,
    /// Formulas that receipts name, with their versions.
    pub(crate) formulas: BTreeSet<(String, String)>,
    pub(crate) keys: BTreeSet<Key>,
}

impl Stated {
    /// What follows; nothing where there is no packet.
    pub(crate) fn of(case: &Case<'_>) -> Option<Self> {
        let packet = packet(case)?;
        Some(Stated {
            packet_id: packet.id().to_string(),
            status: packet.json().text("reliance_derivation.status").unwrap_or_default().to_string(),
            subjects: subjects(case, packet),
            formulas: Stated::formulas(case),
            keys: keys(case),
        })
    }

    /// The formulas that receipts name, with their versions.
    pub(crate) fn formulas(case: &Case<'_>) -> BTreeSet<(String, String)> {
        let receipts = case.world.of("FormulaEvaluationReceipt");
        let named = receipts.filter_map(|one| {
            let (id, version) =
                (one.json().text("formula_id")?, one.json().text("formula_semantic_version")?);
            Some((id.to_string(), version.to_string()))
        });
        named.collect()
    }
}

/// The packet that a statement is about: the last one.
pub(crate) fn packet<'c>(case: &'c Case<'_>) -> Option<Record<'c>> {
    case.world.of("TaskReliancePacket").next_back()
}

/// The work products that a packet is about, by the file names of the task.
fn subjects(case: &Case<'_>, packet: Record<'_>) -> Vec<Subject> {
    let versions = packet.json().references("input_manifest.final_artifact_refs").into_iter();
    let mut subjects: Vec<Subject> = versions
        .filter_map(|version| {
            let version = case.world.find("ArtifactVersion", version.id)?;
            let artifact = case.local(version.json().text("artifact_stable_id")?).to_string();
            let name = case.task.artifact(&artifact).and_then(|one| one.path()).map(ToString::to_string);
            let digest = Digest::try_from(version.json().text("content_hash")?).ok()?;
            Some(Subject { name: name.unwrap_or(artifact), digest })
        })
        .collect();
    subjects.sort();
    subjects
}

/// The keys that decisions are signed with.
fn keys(case: &Case<'_>) -> BTreeSet<Key> {
    let governed = case.world.all().filter_map(|record| case.row(record));
    let rows = case.events.iter().copied().chain(governed).chain(case.strange.iter().copied());
    let signer = |row: &Row| match row.proof {
        Proof::Signed { key, .. } => Some(Key { principal: row.actor.clone(), key }),
        Proof::None | Proof::SelfAsserted => None,
    };
    rows.filter_map(signer).collect()
}
