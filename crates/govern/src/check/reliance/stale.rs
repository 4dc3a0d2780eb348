//! Whether a packet still speaks about what is so.
//! Owns: finding what replaced an input. Must not: judge what it was replaced by.

use super::rows::{By, text};
use super::{Found, invalidations};
use crate::member::Member;
use crate::path::Path;
use crate::reference::Reference;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use countersign_record::json::Json;

/// The states in which somebody may be looking at it.
const STANDING: [&str; 3] = ["ready_for_review", "user_reviewed", "issued"];

/// A list of an input that was replaced, and the place of what replaced it.
type Change = (&'static str, u64);

pub(super) fn reliance_packet_stale_snapshot(world: &World, found: &mut Found<'_>) {
    if world.of("TaskReliancePacket").next().is_none() {
        return;
    }
    let (index, invalidated) = (Index::of(world), invalidations(world));
    for packet in world.of("TaskReliancePacket").filter(|one| one.is_one_of("lifecycle_state", &STANDING)) {
        let is_last =
            world.find("TaskReliancePacket", packet.id()).is_some_and(|one| one.seq() == packet.seq());
        let manifest = packet.json().at("input_manifest").filter(|_| is_last);
        let Some(manifest) = manifest else { continue };
        let Some(made) = packet.place("input_manifest.created_from_event_seq") else { continue };
        let fell = invalidated.get(packet.id()).copied().unwrap_or(0);
        for (field, seq) in index.changes(packet, manifest, made) {
            if fell <= seq {
                let message = format!("row {seq} replaced what the packet rests on, and it still stands");
                found.add(packet, Path::from("input_manifest").then(field), message);
            }
        }
    }
}

/// The rows that replace something, by what they replace.
struct Index<'w> {
    world: &'w World,
    /// The transitions that made a version of an artifact its head.
    heads: By<'w, &'w str>,
    /// The places where a workspace got another head.
    workspaces: BTreeMap<&'w str, Vec<u64>>,
    resolutions: By<'w, &'w str>,
    answers: By<'w, &'w str>,
    packages: By<'w, &'w str>,
    /// Packages by their run and each artifact that they are about.
    packages_of: By<'w, (&'w str, &'w str)>,
}

impl<'w> Index<'w> {
    fn of(world: &'w World) -> Self {
        Index {
            world,
            heads: By::new(world, "ArtifactVersionTransitionEvent", |event| {
                let version =
                    event.follow("artifact_version_ref").filter(|_| event.is("to_state", "accepted_head"));
                version.and_then(|version| text(version, "artifact_stable_id"))
            }),
            workspaces: workspaces(world),
            resolutions: By::member(world, "EvaluationChainResolutionReceipt", "chain_id"),
            answers: By::member(world, "HardCallResolutionReceipt", "hard_call_id"),
            packages: By::id(world, "EvidencePackage"),
            packages_of: By::new(world, "EvidencePackage", |package| {
                let artifacts = package.json().texts("final_artifact_refs").into_iter();
                artifacts
                    .filter_map(|artifact| text(package, "run_id").zip(Some(artifact)))
                    .collect::<Vec<_>>()
            }),
        }
    }

    /// The first change of each list of a manifest after it was made.
    fn changes(&self, packet: Record<'w>, manifest: &'w Json, made: u64) -> Vec<Change> {
        const RECEIPTS: &str = "evaluation_chain_resolution_receipt_refs";
        const ANSWERS: &str = "hard_call_resolution_refs";
        let artifacts = manifest.references("final_artifact_refs").into_iter();
        let workspaces = self.cited_workspaces(manifest).into_iter();
        let policies = manifest.references("policy_decision_refs").into_iter();
        let newer = |field, about, receipts| newer(self.world, manifest, (field, about), receipts, made);
        let all = [
            ("final_artifact_refs", artifacts.filter_map(|one| self.new_head(one, made)).min()),
            ("source_workspace_snapshot_refs", workspaces.filter_map(|one| self.new_state(one, made)).min()),
            (RECEIPTS, newer(RECEIPTS, "chain_id", &self.resolutions)),
            (ANSWERS, newer(ANSWERS, "hard_call_id", &self.answers)),
            ("evidence_package_refs", self.new_package(packet, manifest, made)),
            ("policy_decision_refs", policies.filter_map(|one| self.new_policy(one, made)).min()),
        ];
        all.into_iter().filter_map(|(field, seq)| seq.map(|seq| (field, seq))).collect()
    }

    /// Another version became the head of a cited artifact.
    fn new_head(&self, cited: Reference<'w>, made: u64) -> Option<u64> {
        let version = self.world.resolve(cited).filter(|one| one.kind() == "ArtifactVersion");
        let artifact = match version {
            Some(version) => text(version, "artifact_stable_id")?,
            None if cited.kind == "artifact" => cited.id,
            None => return None,
        };
        let is_other = |event: &&Record<'_>| {
            let new = event.reference("artifact_version_ref");
            version.is_none_or(|version| new.is_some_and(|new| new.id != version.id()))
        };
        self.heads.after(&artifact, made).iter().find(is_other).map(|event| event.seq())
    }

    /// A cited workspace got another head.
    fn new_state(&self, workspace: &str, made: u64) -> Option<u64> {
        let seqs = self.workspaces.get(workspace)?;
        seqs.get(seqs.partition_point(|seq| *seq <= made)).copied()
    }

    /// The workspaces that a manifest cites: itself, through its evaluation snapshots, and through its evidence.
    fn cited_workspaces(&self, manifest: &'w Json) -> BTreeSet<&'w str> {
        let mut all = BTreeSet::new();
        let mut cited = manifest.references("source_workspace_snapshot_refs");
        for snapshot in manifest.references("evaluation_snapshot_refs") {
            let Some(snapshot) = self.world.resolve(snapshot) else { continue };
            for set in snapshot.json().list("source_workspace_snapshot_hashes") {
                all.extend(set.text("source_workspace_ref").map(bare));
            }
            cited.extend(snapshot.json().reference("source_workspace_state_ref"));
        }
        for package in manifest.references("evidence_package_refs") {
            let package = self.world.resolve(package);
            cited.extend(package.and_then(|one| one.json().reference("source_workspace_snapshot_ref")));
        }
        for reference in cited {
            match self.world.resolve(reference) {
                Some(record) => all.extend(record.json().id_at("workspace_id")),
                None => all.extend((reference.kind == "source_workspace").then_some(reference.id)),
            }
        }
        all
    }

    /// A newer version of a cited package, or another package of the run about the same artifact.
    fn new_package(&self, packet: Record<'w>, manifest: &'w Json, made: u64) -> Option<u64> {
        let cited = manifest.references("evidence_package_refs");
        let versions = cited.iter().filter_map(|one| self.packages.after(&one.id, made).first());
        let run = text(packet, "run_id").filter(|_| !cited.is_empty());
        let artifacts = manifest.texts("final_artifact_refs").into_iter();
        let others = artifacts.filter_map(|one| self.packages_of.after(&(run?, one), made).first());
        versions.chain(others).map(|one| one.seq()).min()
    }

    /// A cited decision of a policy was superseded: by the row that says so, or by the decision that it names.
    fn new_policy(&self, cited: Reference<'_>, made: u64) -> Option<u64> {
        let policy =
            self.world.find("PolicyEvaluation", cited.id).filter(|_| cited.kind == "policy_evaluation")?;
        let by = policy.json().text("superseded_by")?;
        let newer = match self.world.resolve_text(by) {
            Some(newer) => Some(newer),
            None => self.world.find("PolicyEvaluation", by),
        };
        let seq = newer.map_or(policy.seq(), |newer| newer.seq().max(policy.seq()));
        (seq > made).then_some(seq)
    }
}

/// The first later receipt about what a cited one is about, which the manifest does not cite.
fn newer<'w>(
    world: &'w World,
    manifest: &'w Json,
    (field, about): (&str, &str),
    receipts: &By<'w, &'w str>,
    made: u64,
) -> Option<u64> {
    let cited = manifest.references(field);
    let subjects = cited.iter().filter_map(|one| world.resolve(*one)).filter_map(|one| text(one, about));
    let is_new = |one: &&Record<'_>| !cited.iter().any(|cited| cited.id == one.id());
    let later = subjects.filter_map(|subject| receipts.after(&subject, made).iter().find(is_new));
    later.map(|one| one.seq()).min()
}

/// A workspace may be named by a reference or by its id.
fn bare(text: &str) -> &str {
    Reference::read(text).map_or(text, |reference| reference.id)
}

/// The places where a workspace got another head.
fn workspaces(world: &World) -> BTreeMap<&str, Vec<u64>> {
    let mut all: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for receipt in world.of("SourceWorkspaceOperationReceipt").filter(|one| one.is("status", "applied")) {
        let is_same = receipt.text("new_workspace_head_hash").is_some()
            && receipt.text("new_workspace_head_hash") == receipt.text("prior_workspace_head_hash");
        if let Some(workspace) = receipt.json().id_at("workspace_id").filter(|_| !is_same) {
            all.entry(workspace).or_default().push(receipt.seq());
        }
    }
    let mut heads: BTreeMap<&str, &str> = BTreeMap::new();
    for state in world.of("SourceWorkspaceCurrentState") {
        let Some(head) = state.json().text("head_hash") else { continue };
        if heads.insert(state.id(), head).is_some_and(|before| before != head) {
            all.entry(state.id()).or_default().push(state.seq());
        }
    }
    all.values_mut().for_each(|seqs| seqs.sort_unstable());
    all
}
