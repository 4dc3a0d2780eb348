//! The workspace of a run's sources: every change on a known state, with a receipt.
//! Owns: what is asked of the workspace, what it is as a whole. Must not: decide an operation; `govern::decide::workspace` does.

mod source;

pub use source::{
    clear, give_authority, hash_of, is_stale, mark_stale, move_tier, payload_ref, standing, take_in, verify,
};
pub(crate) use source::{is_doubted, number};

use crate::desk::{Desk, Error};
use crate::names::ENGINE;
use crate::task::Source;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::decide::lease::Question;
use countersign_govern::decide::workspace::{self, Given, Query, Workspace};
use countersign_govern::types::added::policy::PolicyEvaluation;
use countersign_govern::types::basic::{DataClass, StorageRef, TaintClass, V10};
use countersign_govern::types::source::SourceRecord;
use countersign_govern::types::taint::SanitizationNode;
use countersign_govern::types::workspace::{
    SourceWorkspaceMutationPrecondition as Precondition,
    SourceWorkspaceMutationPreconditionLockMode as LockMode,
    SourceWorkspaceMutationPreconditionOnConflict as OnConflict, SourceWorkspaceOperation as Operation,
    SourceWorkspaceOperationKind as Kind, SourceWorkspaceOperationReceipt as Receipt,
    SourceWorkspaceOperationReceiptStatus as Status,
};
use countersign_record::canonical;
use countersign_record::json::Json;

/// What is lent to an operation from the source that it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    taint: TaintClass,
    class: DataClass,
    privileged: bool,
}

impl Label {
    const NOTHING: Label =
        Label { taint: TaintClass::InternalCorpusTrusted, class: DataClass::Public, privileged: false };

    /// What a source is: as its record says, or as the task does before there is one.
    fn of(desk: &Desk, source: &Source) -> Self {
        let record = desk.standing::<SourceRecord>("SourceRecord", &desk.own(&source.id));
        let taint = record.as_ref().and_then(|one| one.taint_class).unwrap_or_else(|| source.taint());
        Label { taint, class: source.class(), privileged: source.is_privileged() }
    }
}

/// The workspace as its operations made it.
#[must_use]
pub fn workspace(desk: &Desk) -> Workspace {
    let id = desk.workspace_id();
    let mut workspace = Workspace::new(&id, &desk.task().id, Some(desk.matter()));
    let operations: Vec<Operation> = desk.all::<Operation>().collect();
    for receipt in desk.all::<Receipt>() {
        if let Some(operation) = operations.iter().find(|one| one.operation_id == receipt.operation_id) {
            workspace.apply(operation, &receipt);
        }
    }
    workspace
}

/// Reads the workspace; gives the receipt of that.
///
/// # Errors
/// Something can't be written.
pub fn read(desk: &mut Desk) -> Result<StorageRef, Error> {
    operate(desk, &Act::plain(Kind::ReadWorkspaceSnapshot))
}

/// Reads the workspace, unless it was read as it is.
///
/// # Errors
/// Something can't be written.
pub(crate) fn read_once(desk: &mut Desk) -> Result<(), Error> {
    let head = workspace(desk).head().to_string();
    let is_read = |one: &Receipt| {
        one.status == Status::ReadCompleted && one.prior_workspace_head_hash.as_ref() == Some(&head)
    };
    if !desk.all::<Receipt>().any(|one| is_read(&one)) {
        read(desk)?;
    }
    Ok(())
}

/// Carries out an operation on a source, on the state that the workspace is in.
fn apply(desk: &mut Desk, kind: Kind, source: &Source) -> Result<StorageRef, Error> {
    let payload = StorageRef::try_from(desk.source_ref(&source.id)?.as_str())
        .map_err(|_| Error::Unnameable(source.id.clone()))?;
    let act = Act { payload: Some(payload), ..Act::plain(kind).of(desk, source) };
    operate(desk, &act)
}

/// An operation on the workspace.
pub(crate) struct Act<'a> {
    /// What is done.
    pub(crate) kind: Kind,
    /// What it is about.
    pub(crate) payload: Option<StorageRef>,
    /// How secret that is, and how far it is trusted.
    pub(crate) label: Label,
    /// What it changes, where that is something else.
    pub(crate) on: Option<StorageRef>,
    /// The lease under which.
    pub(crate) lease: Option<StorageRef>,
    /// Who does it.
    pub(crate) by: &'a str,
    /// The question that it answers.
    pub(crate) question: Option<&'a Question>,
    /// Where a query went.
    pub(crate) query: Query,
}

impl Act<'_> {
    /// One of the engine, about nothing in particular.
    pub(crate) fn plain(kind: Kind) -> Self {
        let (payload, on, lease, question) = (None, None, None, None);
        Act { kind, payload, label: Label::NOTHING, on, lease, by: ENGINE, question, query: Query::Local }
    }

    /// The same, about something that came of a source.
    pub(crate) fn of(self, desk: &Desk, source: &Source) -> Self {
        Act { label: Label::of(desk, source), ..self }
    }
}

pub(crate) fn operate(desk: &mut Desk, act: &Act<'_>) -> Result<StorageRef, Error> {
    let workspace = workspace(desk);
    let operation_id = desk.id("operation");
    let is_change = workspace::is_mutating(act.kind);
    let lock_mode =
        if act.lease.is_some() { LockMode::PessimisticWriteLock } else { LockMode::OptimisticEventSeq };
    let precondition = is_change.then(|| Precondition {
        workspace_id: desk.workspace_id(),
        expected_workspace_head_hash: workspace.head().to_string(),
        expected_event_seq: workspace.seq(),
        target_record_ref: act.on.clone(),
        expected_target_record_hash: None,
        lock_mode,
        lock_lease_ref: act.lease.clone(),
        on_conflict: OnConflict::AbortAndReevaluate,
        schema_version: V10,
    });
    let leave = desk.leave()?;
    let operation = Operation {
        idempotency_key: format!("{}/{operation_id}", act.kind.as_str()),
        operation_id,
        operation_kind: act.kind,
        task_id: desk.task().id.clone(),
        run_id: Some(desk.run().to_string()),
        workspace_id: desk.workspace_id(),
        actor_ref: act.by.to_string(),
        precondition,
        payload_ref: act.payload.clone(),
        policy_decision_refs: if is_change { Vec::from([leave]) } else { Vec::new() },
        data_class: act.label.class,
        taint_class: act.label.taint,
        matter_id: Some(desk.matter().to_string()),
        privileged: act.label.privileged,
        created_at: desk.now(),
        schema_version: V10,
    };
    let at = desk.clock().clone();
    let decisions: Vec<PolicyEvaluation> = desk.all::<PolicyEvaluation>().collect();
    let (question, query) = (act.question, act.query);
    let sanitizations: Vec<SanitizationNode> = desk.all().collect();
    let given = Given { at: &at, decisions: &decisions, sanitizations: &sanitizations, question, query };
    let ruling = workspace::decide(&workspace, &operation, &given)
        .map_err(|refusal| Error::Missing(format!("leave for the operation: {refusal}")))?;
    let receipt = Receipt { receipt_id: desk.id("operation-receipt"), ..ruling.receipt };
    match receipt.status {
        Status::Applied | Status::ReadCompleted => {
            desk.put(&operation)?;
            desk.put(&receipt)
        }
        Status::Conflict | Status::RejectedByPolicy | Status::Failed => {
            Err(Error::Missing(format!("leave for the operation: {}", receipt.status.as_str())))
        }
    }
}

/// The hashes of the records of all sources, as they stand in the log now.
#[must_use]
pub fn record_hashes(desk: &Desk) -> Vec<(String, String)> {
    let mut last: BTreeMap<String, String> = BTreeMap::new();
    for found in desk.each::<Json>("SourceRecord") {
        last.insert(format!("src:{}", found.id), String::from(canonical::hash_as_written(&found.record)));
    }
    last.into_iter().collect()
}

/// What the whole workspace is: as little trusted and as secret as the worst in it.
#[must_use]
pub fn whole(desk: &Desk) -> (TaintClass, DataClass, bool) {
    let sources = desk.task().sources.iter().filter(|one| source::tier(one.tier()).is_some());
    let sources = sources.map(|one| Label::of(desk, one));
    let all = sources.fold(Label::NOTHING, |all, one| Label {
        taint: all.taint.max(one.taint),
        class: all.class.max(one.class),
        privileged: all.privileged || one.privileged,
    });
    (all.taint, all.class, all.privileged)
}
