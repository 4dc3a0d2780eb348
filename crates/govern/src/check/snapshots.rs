//! Validation codes: snapshots.
//! Owns: the rules of this area. Must not: decide by names.

#[cfg(test)]
#[path = "snapshots_tests.rs"]
mod tests;

use super::read_models::place::History;
use super::workspace::{source_id, workspace_named, workspace_of};
use super::{Area, Found, Rule, Severity};
use crate::member::Member;
use crate::path::Path;
use crate::reference::Reference;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use countersign_record::json::Json;

pub(super) const AREA: Area = Area { name: "snapshots", rules: RULES, kinds: &[] };

const RULES: &[Rule] = &[
    Rule {
        code: "source_workspace_hash_typed_as_artifact_hash",
        severity: Severity::Error,
        section: "A-27",
        fires: "An EvaluationSnapshot records a source-workspace or source-record hash in an artifact-hash map (Record<ArtifactRef,string>) or in artifact_state_refs instead of a SourceWorkspaceSnapshotHashSet.",
        legal: "An artifact hash in artifact_state_refs beside a SourceWorkspaceSnapshotHashSet for the workspace.",
        why: "Sources under the name of artifacts escape the checks that hold for sources: nobody would notice that the evidence changed.",
        fix: "Move the hash to a hash set of its workspace in `source_workspace_snapshot_hashes`.",
        check: source_workspace_hash_typed_as_artifact_hash,
    },
    Rule {
        code: "evaluation_snapshot_missing_workspace_hash_set",
        severity: Severity::Error,
        section: "A-27",
        fires: "An EvaluationSnapshot has source_workspace_state_ref, or an envelope/finding on it cites a workspace, while source_workspace_snapshot_hashes has no set for that workspace.",
        legal: "A snapshot of an evaluation that used no source workspace, with an empty list.",
        why: "An evaluation that used sources must say which state of them, or its findings can't be checked against the evidence.",
        fix: "Add the hash set of every workspace that the evaluation used to the snapshot.",
        check: evaluation_snapshot_missing_workspace_hash_set,
    },
    Rule {
        code: "workspace_snapshot_hash_mismatch",
        severity: Severity::Error,
        section: "A-27",
        fires: "Recomputing the workspace head hash or any source_record_hashes entry at the snapshot's log position gives a value different from the SourceWorkspaceSnapshotHashSet.",
        legal: "The workspace moved on after the snapshot, so the current head differs but the historical head at the snapshot's seq matches.",
        why: "The snapshot claims a state of the sources that the log does not have: the evaluation may have looked at something else.",
        fix: "Take the snapshot again from what the workspace held at that place of the log.",
        check: workspace_snapshot_hash_mismatch,
    },
];

const SNAPSHOT: &str = "EvaluationSnapshot";
const SETS: &str = "source_workspace_snapshot_hashes";

/// Kinds of references to sources and workspaces.
const SOURCES: [&str; 7] = [
    "src",
    "srcset",
    "source_record",
    "source_workspace",
    "source_workspace_current_state",
    "source_workspace_operation",
    "source_workspace_operation_receipt",
];

fn is_source(text: &str) -> bool {
    Reference::read(text).is_some_and(|to| SOURCES.contains(&to.kind))
}

fn source_workspace_hash_typed_as_artifact_hash(world: &World, found: &mut Found<'_>) {
    let heads = known_heads(world);
    for snapshot in world.of(SNAPSHOT) {
        for (at, text) in snapshot.json().list("artifact_state_refs").iter().enumerate() {
            let hash = text.as_str().and_then(Reference::read).and_then(|to| to.hash);
            let is_head = hash.is_some_and(|hash| heads.contains(hash));
            if is_head || text.as_str().is_some_and(is_source) {
                found.add(
                    snapshot,
                    Path::from("artifact_state_refs").item(at),
                    "is of a source and not of an artifact",
                );
            }
        }
        let members = snapshot.json().as_object().into_iter().flat_map(|members| members.iter());
        for (name, member) in members.filter(|(name, _)| *name != SETS) {
            let entries = member.as_object().into_iter().flat_map(|entries| entries.iter());
            let mut wrong = entries.filter(|(key, value)| {
                is_source(key) || value.as_str().is_some_and(|hash| heads.contains(hash))
            });
            if wrong.next().is_some() {
                found.add(
                    snapshot,
                    Path::whole().name(name),
                    "holds the hash of a source among those of artifacts",
                );
            }
        }
    }
}

/// Head hashes that workspaces had, as far as the log tells.
fn known_heads(world: &World) -> BTreeSet<&str> {
    let receipts = world.of("SourceWorkspaceOperationReceipt").flat_map(|receipt| {
        let json = receipt.json();
        [json.text("prior_workspace_head_hash"), json.text("new_workspace_head_hash")]
    });
    let states = world.of("SourceWorkspaceCurrentState").map(|state| state.json().text("head_hash"));
    let sets = world.of(SNAPSHOT).flat_map(|snapshot| snapshot.json().list(SETS));
    let sets = sets.map(|set| set.text("source_workspace_head_hash"));
    receipts.chain(states).chain(sets).flatten().collect()
}

/// The workspaces of the hash sets of each snapshot, by its place.
fn workspaces(world: &World) -> BTreeMap<u64, BTreeSet<&str>> {
    let mut workspaces = BTreeMap::new();
    for snapshot in world.of(SNAPSHOT) {
        let sets = snapshot.json().list(SETS).iter().filter_map(|set| set.text("source_workspace_ref"));
        workspaces.insert(snapshot.seq(), sets.map(workspace_named).collect());
    }
    workspaces
}

fn evaluation_snapshot_missing_workspace_hash_set(world: &World, found: &mut Found<'_>) {
    let workspaces = workspaces(world);
    // Where it is not known which workspace is cited, any set will do.
    let has_set = |snapshot: &Record<'_>, cited: &str| {
        workspaces.get(&snapshot.seq()).is_some_and(|sets| {
            workspace_of(world, cited).map_or(!sets.is_empty(), |workspace| sets.contains(workspace))
        })
    };
    for snapshot in world.of(SNAPSHOT) {
        if let Some(state) = snapshot.text("source_workspace_state_ref")
            && !has_set(&snapshot, state)
        {
            found.add(snapshot, SETS, format!("has no set for {state}, which the snapshot is of"));
        }
    }
    for (record, cited) in citations(world) {
        let snapshot = record.follow("evaluation_snapshot_ref").filter(|one| one.kind() == SNAPSHOT);
        if let Some(snapshot) = snapshot.filter(|snapshot| !has_set(snapshot, cited)) {
            let message = format!("has no set for {cited}, which row {} is based on", record.seq());
            found.add(snapshot, SETS, message);
        }
    }
}

/// Results and findings, with what they cite of workspaces.
fn citations(world: &World) -> Vec<(Record<'_>, &str)> {
    let mut all = Vec::new();
    for finding in world.of("EvaluationFindingEvent") {
        all.extend(
            finding.json().text("based_on_source_workspace_snapshot_ref").map(|cited| (finding, cited)),
        );
    }
    for result in world.of("EvaluationResultEnvelope") {
        let cited = result.json().texts("evaluation_basis.source_workspace_snapshot_refs");
        all.extend(cited.into_iter().map(|cited| (result, cited)));
    }
    all
}

fn workspace_snapshot_hash_mismatch(world: &World, found: &mut Found<'_>) {
    let heads = heads(world);
    let sources = History::of(world, "SourceRecord");
    for snapshot in world.of(SNAPSHOT) {
        for (at, set) in snapshot.json().list(SETS).iter().enumerate() {
            let workspace = set.text("source_workspace_ref").map(workspace_named);
            let stood = workspace.and_then(|workspace| heads.get(workspace)).and_then(|all| {
                let before = all.partition_point(|(seq, _)| *seq < snapshot.seq());
                before.checked_sub(1).and_then(|at| all.get(at))
            });
            let stated = set.text("source_workspace_head_hash");
            if let Some((seq, head)) = stood.filter(|(_, head)| stated.is_some_and(|stated| stated != *head))
            {
                let message = format!("is not {head}, where row {seq} left the workspace");
                found.add(snapshot, Path::from(SETS).item(at).then("source_workspace_head_hash"), message);
            }
            records(&sources, snapshot, at, set, found);
        }
    }
}

/// Compares the hashes of sources with the sources as they were.
fn records(sources: &History<'_>, snapshot: Record<'_>, at: usize, set: &Json, found: &mut Found<'_>) {
    let stated = set.members("source_record_hashes").into_iter().flat_map(|members| members.iter());
    for (source, hash) in stated {
        let was = source_id(source).and_then(|id| sources.before(id, snapshot.seq()));
        let own = was.and_then(|was| was.hash());
        if own.is_some_and(|own| hash.as_str().is_some_and(|hash| hash.as_bytes() != own.hex())) {
            let path = Path::from(SETS).item(at).then("source_record_hashes");
            found.add(snapshot, path, format!("has another hash for {source} than the source had"));
        }
    }
}

/// The heads of each workspace with their places in the log: those that operations left and those that reads found.
fn heads(world: &World) -> BTreeMap<&str, Vec<(u64, &str)>> {
    let mut heads: BTreeMap<&str, Vec<(u64, &str)>> = BTreeMap::new();
    for receipt in world.of("SourceWorkspaceOperationReceipt") {
        let json = receipt.json();
        let head = match json.text("status") {
            Some("applied") => json.text("new_workspace_head_hash"),
            Some("read_completed") => json.text("prior_workspace_head_hash"),
            Some(_) | None => None,
        };
        if let Some((workspace, head)) = json.id_at("workspace_id").zip(head) {
            heads.entry(workspace).or_default().push((receipt.seq(), head));
        }
    }
    heads
}
