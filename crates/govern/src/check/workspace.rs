//! Validation codes: workspace.
//! Owns: the rules of this area. Must not: decide by names.

#[cfg(test)]
#[path = "workspace_tests.rs"]
mod tests;

use super::{Area, Found, Rule, Severity};
use crate::decide::workspace::{self, Head};
use crate::member::Member;
use crate::path::Path;
use crate::reference::Reference;
use crate::types::workspace::{
    SourceWorkspaceOperationKind as Kind, SourceWorkspaceOperationReceiptConflictReason as Conflict,
};
use crate::world::{Record, World};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;

pub(super) const AREA: Area = Area { name: "workspace", rules: RULES, kinds: &[] };

const RULES: &[Rule] = &[
    Rule {
        code: "workspace_mutation_without_precondition",
        severity: Severity::Error,
        section: "B-03/D-16",
        fires: "A SourceWorkspaceOperation of a mutating kind (every kind except read_workspace_snapshot and export_workspace_bundle) has no precondition, or one without expected_workspace_head_hash/expected_event_seq, or lock_mode pessimistic_write_lock without lock_lease_ref; or a receipt says that such a change was applied, and there is no operation.",
        legal: "read_workspace_snapshot without precondition.",
        why: "A write that does not say which state it expects can overwrite what somebody else wrote in between.",
        fix: "Give the operation the head hash and the sequence number it was made on, and the lease if it takes a lock.",
        check: workspace_mutation_without_precondition,
    },
    Rule {
        code: "workspace_event_seq_conflict",
        severity: Severity::Error,
        section: "B-03/D-16",
        fires: "A mutating SourceWorkspaceOperation is submitted whose precondition.expected_event_seq or expected_workspace_head_hash differs from the workspace's current value (admission returns this code with a receipt of status conflict); on audit, such an operation has a receipt with status applied, or two applied receipts of one workspace share new_event_seq or leave a gap.",
        legal: "The loser re-reads, resubmits with the new seq/head and is applied with new_event_seq = prior_event_seq + 1.",
        why: "Two writes on the same state cannot both be right; one of them was decided on sources that had changed.",
        fix: "Refuse the later one with a conflict receipt; read again and submit it on the new head.",
        check: workspace_event_seq_conflict,
    },
    Rule {
        code: "workspace_api_operation_unregistered",
        severity: Severity::Error,
        section: "B-03/D-16",
        fires: "SourceWorkspaceOperation.operation_kind is not one of the fourteen SourceWorkspaceOperationKind values, or the receipt's operation_kind differs from the operation's.",
        legal: "mark_source_stale submitted and receipted under the same kind.",
        why: "An operation that is not registered has no policy and no rule for what it may change; a receipt of another kind hides what was done.",
        fix: "Use one of the fourteen kinds, and let the receipt repeat the kind of its operation.",
        check: workspace_api_operation_unregistered,
    },
    Rule {
        code: "workspace_receipt_missing_head_hash",
        severity: Severity::Error,
        section: "B-03/D-16",
        fires: "A SourceWorkspaceOperationReceipt with status applied lacks prior_/new_workspace_head_hash or prior_/new_event_seq, or one with status read_completed lacks prior_workspace_head_hash.",
        legal: "A receipt with status rejected_by_policy or failed without new_workspace_head_hash.",
        why: "Without the heads before and after, a gap in the history of the sources can't be seen.",
        fix: "Write the head hash and the sequence number before and after into the receipt.",
        check: workspace_receipt_missing_head_hash,
    },
    Rule {
        code: "workspace_read_without_snapshot_receipt",
        severity: Severity::Error,
        section: "B-03/D-16",
        fires: "An EvaluationSnapshot, EvaluationFindingEvent or context packet cites source-workspace content and no read_workspace_snapshot SourceWorkspaceOperationReceipt with status read_completed and the same workspace head hash exists at an earlier seq in that run.",
        legal: "Several evaluations share one read receipt whose head hash they all cite.",
        why: "What was read, and in which state, is known only from the receipt of the read. Without it a citation of the workspace can't be checked.",
        fix: "Read the workspace with `read_workspace_snapshot` in that run first, and cite the head of that receipt.",
        check: workspace_read_without_snapshot_receipt,
    },
];

const OPERATION: &str = "SourceWorkspaceOperation";
const RECEIPT: &str = "SourceWorkspaceOperationReceipt";

/// The id of a source by its reference.
pub(super) fn source_id(text: &str) -> Option<&str> {
    let source = Reference::read(text).filter(|source| matches!(source.kind, "src" | "source_record"));
    source.map(|source| source.id)
}

/// The id of a workspace that is named by its id or by a reference.
pub(super) fn workspace_named(text: &str) -> &str {
    let named = Reference::read(text).filter(|to| is_workspace(to.kind));
    named.map_or(text, |to| to.id)
}

/// The workspace that a reference leads to: a workspace, a source in one, or what says that it belongs to one.
pub(super) fn workspace_of<'w>(world: &'w World, text: &'w str) -> Option<&'w str> {
    let to = Reference::read(text)?;
    if is_workspace(to.kind) {
        return Some(to.id);
    }
    let record = match source_id(text) {
        Some(id) => world.find("SourceRecord", id),
        None => world.resolve(to),
    }?;
    record.json().id_at("workspace_id")
}

fn is_workspace(kind: &str) -> bool {
    matches!(kind, "source_workspace" | "source_workspace_current_state")
}

fn is_mutating(operation: Record<'_>) -> bool {
    operation.text("operation_kind").and_then(Kind::find).is_some_and(workspace::is_mutating)
}

fn workspace_mutation_without_precondition(world: &World, found: &mut Found<'_>) {
    unasked(world, found);
    for operation in world.of(OPERATION).filter(|operation| is_mutating(*operation)) {
        let path = "precondition";
        if operation.is_blank(path) {
            found.add(operation, path, "changes a workspace without saying which state of it");
            continue;
        }
        for path in ["precondition.expected_workspace_head_hash", "precondition.expected_event_seq"] {
            if operation.is_blank(path) {
                found.add(operation, path, "is missing, though the operation changes the workspace");
            }
        }
        let is_locking = operation.is("precondition.lock_mode", "pessimistic_write_lock");
        if is_locking && operation.is_blank("precondition.lock_lease_ref") {
            found.add(
                operation,
                "precondition.lock_lease_ref",
                "is missing, though the operation takes a lock",
            );
        }
    }
}

/// What was applied and nobody asked for was applied on any state.
fn unasked(world: &World, found: &mut Found<'_>) {
    for receipt in world.of(RECEIPT).filter(|one| one.is("status", "applied") && is_mutating(*one)) {
        let operation = receipt.id_at("operation_id").and_then(|id| world.find(OPERATION, id));
        if operation.is_none() {
            found.add(
                receipt,
                "operation_id",
                "no operation says on which state of the workspace it was applied",
            );
        }
    }
}

fn workspace_event_seq_conflict(world: &World, found: &mut Found<'_>) {
    // The heads of each workspace, with the places of the receipts that left them.
    let mut heads: BTreeMap<&str, Vec<(u64, Head<'_>)>> = BTreeMap::new();
    for receipt in world.of(RECEIPT).filter(|one| one.is("status", "applied") && is_mutating(*one)) {
        let json = receipt.json();
        let (Some(workspace), Some(prior), Some(new)) =
            (json.id_at("workspace_id"), json.count("prior_event_seq"), json.count("new_event_seq"))
        else {
            continue;
        };
        let head = Head { seq: Some(prior), hash: json.text("prior_workspace_head_hash") };
        let own = heads.entry(workspace).or_default();
        let before = own.last().map_or(head, |(_, head)| *head);
        let conflict = workspace::differs(head, before);
        if prior.checked_add(1) != Some(new) || conflict == Some(Conflict::EventSeqMismatch) {
            let stood = before.seq.unwrap_or(prior);
            let message = format!("was applied from {prior} to {new}, and the workspace stood at {stood}");
            found.add(receipt, "new_event_seq", message);
        } else if conflict.is_some() {
            let message = "was applied on another head than the one before it left";
            found.add(receipt, "prior_workspace_head_hash", message);
        } else if let Some(operation) = json.id_at("operation_id").and_then(|id| world.find(OPERATION, id))
            && expects_other(operation, head)
        {
            let message = "was applied, though its operation expected another state of the workspace";
            found.add(receipt, "prior_event_seq", message);
        }
        own.push((receipt.seq(), Head { seq: Some(new), hash: json.text("new_workspace_head_hash") }));
    }
    // A conflict that was caught is no defect of the log, but the operation is refused.
    for asking in world.candidates().filter(|row| row.kind() == OPERATION && is_mutating(*row)) {
        let own = asking.id_at("workspace_id").and_then(|workspace| heads.get(workspace));
        let before = own.into_iter().flatten().rfind(|(seq, _)| *seq < asking.seq());
        if before.is_some_and(|(_, head)| expects_other(asking, *head)) {
            found.add(asking, "precondition", "expects another state than the workspace is in");
        }
    }
}

/// Whether an operation was made on another state.
fn expects_other(operation: Record<'_>, head: Head<'_>) -> bool {
    let seq = operation.count("precondition.expected_event_seq");
    let hash = operation.text("precondition.expected_workspace_head_hash");
    workspace::differs(Head { seq, hash }, head).is_some()
}

fn workspace_api_operation_unregistered(world: &World, found: &mut Found<'_>) {
    let path = "operation_kind";
    for record in world.of(OPERATION).chain(world.of(RECEIPT)) {
        let Some(kind) = record.text(path) else { continue };
        let asked = record.id_at("operation_id").filter(|_| record.kind() == RECEIPT);
        let asked = asked.and_then(|id| world.find(OPERATION, id));
        if Kind::find(kind).is_none() {
            found.add(record, path, format!("{kind} is no operation on a workspace"));
        } else if let Some(asked) =
            asked.and_then(|asked| asked.json().text(path)).filter(|asked| *asked != kind)
        {
            found.add(record, path, format!("is {kind}, and the operation was {asked}"));
        }
    }
}

fn workspace_receipt_missing_head_hash(world: &World, found: &mut Found<'_>) {
    for receipt in world.of(RECEIPT) {
        let members: &[&str] = match receipt.text("status") {
            Some("applied") => {
                &["prior_workspace_head_hash", "new_workspace_head_hash", "prior_event_seq", "new_event_seq"]
            }
            Some("read_completed") => &["prior_workspace_head_hash"],
            Some(_) | None => &[],
        };
        for member in members.iter().filter(|member| receipt.is_blank(member)) {
            found.add(receipt, *member, "is missing, so the history of the workspace has a gap");
        }
    }
}

/// In which run something was read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum InRun<'w> {
    Any,
    Unstated,
    Run(&'w str),
}

/// What somebody cites of workspaces. What is not known is `None`, and any read will do for it.
struct Citation<'w, 'r> {
    seq: u64,
    workspace: Option<&'w str>,
    head: Option<&'w str>,
    runs: &'r [&'w str],
}

/// The first read of each workspace, in each state, in each run.
#[derive(Default)]
struct Reads<'w> {
    first: BTreeMap<(Option<&'w str>, Option<&'w str>, InRun<'w>), u64>,
}

impl<'w> Reads<'w> {
    fn of(world: &'w World) -> Self {
        let mut reads = Reads::default();
        for receipt in world.of(RECEIPT).filter(|receipt| {
            receipt.is("status", "read_completed") && receipt.is("operation_kind", "read_workspace_snapshot")
        }) {
            let json = receipt.json();
            let operation = json.id_at("operation_id").and_then(|id| world.find(OPERATION, id));
            let run = operation.and_then(|operation| operation.json().text("run_id"));
            let (workspace, head) = (json.id_at("workspace_id"), json.text("prior_workspace_head_hash"));
            for (workspace, head) in [(None, None), (workspace, None), (workspace, head)] {
                for run in [InRun::Any, run.map_or(InRun::Unstated, InRun::Run)] {
                    reads.first.entry((workspace, head, run)).or_insert(receipt.seq());
                }
            }
        }
        reads
    }

    /// Whether what is cited was read before.
    fn cover(&self, citation: &Citation<'w, '_>) -> bool {
        let head = citation.head.filter(|_| citation.workspace.is_some());
        let was_read = |run: InRun<'w>| {
            let first = self.first.get(&(citation.workspace, head, run));
            first.is_some_and(|seq| *seq < citation.seq)
        };
        // What nobody read was read in no run either, however many there are.
        let in_one = || citation.runs.iter().copied().map(InRun::Run).chain([InRun::Unstated]).any(was_read);
        was_read(InRun::Any) && (citation.runs.is_empty() || in_one())
    }
}

fn workspace_read_without_snapshot_receipt(world: &World, found: &mut Found<'_>) {
    let reads = Reads::of(world);
    let message = "cites a workspace that was not read before, in that state and run";
    let runs = runs_of_snapshots(world);
    for snapshot in world.of("EvaluationSnapshot") {
        let runs = runs.get(snapshot.id()).map(Vec::as_slice).unwrap_or_default();
        for (at, set) in snapshot.json().list("source_workspace_snapshot_hashes").iter().enumerate() {
            let workspace = set.text("source_workspace_ref").map(workspace_named);
            let head = set.text("source_workspace_head_hash");
            if !reads.cover(&Citation { seq: snapshot.seq(), workspace, head, runs }) {
                found.add(snapshot, Path::from("source_workspace_snapshot_hashes").item(at), message);
            }
        }
    }
    for finding in world.of("EvaluationFindingEvent") {
        let path = "based_on_source_workspace_snapshot_ref";
        let Some(cited) = finding.json().text(path) else { continue };
        let result = finding.id_at("result_id").and_then(|id| world.find("EvaluationResultEnvelope", id));
        let run = result.and_then(|result| result.json().text("run_id"));
        // A snapshot's own hash sets are looked at with the snapshot.
        let head = world.resolve_text(cited).and_then(|read| read.json().text("prior_workspace_head_hash"));
        let workspace = workspace_of(world, cited);
        let citation = Citation { seq: finding.seq(), workspace, head, runs: run.as_slice() };
        if !reads.cover(&citation) {
            found.add(finding, path, message);
        }
    }
    for packet in world.of("TaskRunContextPacket") {
        let run = packet.json().text("run_id");
        for (at, item) in packet.json().list("items").iter().enumerate() {
            let workspace = item.text("item_ref").and_then(|cited| workspace_of(world, cited));
            let citation = Citation { seq: packet.seq(), workspace, head: None, runs: run.as_slice() };
            if workspace.is_some() && !reads.cover(&citation) {
                found.add(packet, Path::from("items").item(at).then("item_ref"), message);
            }
        }
    }
}

/// The runs in which each snapshot was evaluated, each once.
fn runs_of_snapshots(world: &World) -> BTreeMap<&str, Vec<&str>> {
    let mut runs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for result in world.of("EvaluationResultEnvelope") {
        let snapshot = result.json().reference("evaluation_snapshot_ref");
        if let Some((snapshot, run)) = snapshot.zip(result.json().text("run_id")) {
            runs.entry(snapshot.id).or_default().push(run);
        }
    }
    for runs in runs.values_mut() {
        runs.sort_unstable();
        runs.dedup();
    }
    runs
}
