//! What becomes of an operation on a source workspace.
//! Owns: the chain of heads, preconditions, keys by which a repetition is known, what the workspace holds. Must not: read a
//! source, or decide whether a policy holds: its decision comes along.

mod judge;

use super::Span;
use super::lease::Question;
use crate::reference::Reference;
use crate::types::added::policy::PolicyEvaluation;
use crate::types::added::sourcing::SourceWorkspaceCurrentState;
use crate::types::basic::{DataClass, Instant as At, SourceRecordRef, StorageRef, TaintClass, V10};
use crate::types::taint::SanitizationNode;
use crate::types::wire::Wire;
use crate::types::workspace::{
    SourceWorkspaceMutationPreconditionLockMode as LockMode, SourceWorkspaceOperation as Operation,
    SourceWorkspaceOperationKind as Kind, SourceWorkspaceOperationReceipt as Receipt,
    SourceWorkspaceOperationReceiptConflictReason as Conflict,
    SourceWorkspaceOperationReceiptStatus as Status,
};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use countersign_record::canonical;
use countersign_record::digest::Digest;
use countersign_record::json::{Json, Object};
use countersign_record::time::Timestamp;

/// Whether an operation changes the workspace.
#[must_use]
pub fn is_mutating(kind: Kind) -> bool {
    match kind {
        Kind::ReadWorkspaceSnapshot | Kind::ExportWorkspaceBundle => false,
        Kind::AddSourceRecord
        | Kind::UpdateSourceRecord
        | Kind::AppendSourceQueryRecord
        | Kind::UpdateResearchNeed
        | Kind::AnswerResearchNeed
        | Kind::AddVerificationRecord
        | Kind::AddFreshnessRecord
        | Kind::MarkSourceStale
        | Kind::RecordTierTransition
        | Kind::CreateSourceSet
        | Kind::UpdateSourceSet
        | Kind::PromoteLibraryCandidate => true,
    }
}

/// Which state of a workspace: of it or expected of it. What is not known fits everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head<'a> {
    /// How many operations changed it.
    pub seq: Option<u64>,
    /// The end of its chain.
    pub hash: Option<&'a str>,
}

/// How another state differs from one that is expected.
#[must_use]
pub fn differs(expected: Head<'_>, actual: Head<'_>) -> Option<Conflict> {
    fn is_other<T: PartialEq>(one: Option<T>, other: Option<T>) -> bool {
        one.zip(other).is_some_and(|(one, other)| one != other)
    }
    if is_other(expected.seq, actual.seq) {
        Some(Conflict::EventSeqMismatch)
    } else if is_other(expected.hash, actual.hash) {
        Some(Conflict::WorkspaceHeadHashMismatch)
    } else {
        None
    }
}

/// The head after an operation: of the head before, the operation and its number, so that no content gives an earlier head.
#[must_use]
pub fn head_after(prev: &str, operation: &Digest, seq: u64) -> Digest {
    let mut link = Object::from([("prev", Json::from(prev)), ("op", operation.to_string().into())]);
    link.insert("seq", seq.write().unwrap_or(Json::Null));
    canonical::hash_as_written(&link.into())
}

/// The hash of an operation as it stands in the log.
#[must_use]
pub fn payload_hash(operation: &Operation) -> Digest {
    canonical::hash_as_written(&operation.write().unwrap_or(Json::Null))
}

/// A source as a workspace holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Source {
    hash: Option<String>,
    taint: TaintClass,
    data_class: DataClass,
    privileged: bool,
}

/// Who may write alone, and how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    /// The lease under which.
    pub lease_ref: StorageRef,
    /// How long.
    pub span: Span,
}

/// What was answered before, by what.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Earlier {
    request: Digest,
    receipt: Receipt,
}

/// A matter and a key under it: the keys of one matter say nothing to another.
type Key = (Option<String>, String);

/// How a workspace stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    id: String,
    task_id: String,
    matter_id: Option<String>,
    head: String,
    seq: u64,
    sources: BTreeMap<String, Source>,
    lock: Option<Lock>,
    earlier: BTreeMap<Key, Earlier>,
    operations: BTreeSet<String>,
    last: Option<(StorageRef, At)>,
}

/// What an operation is decided by besides the workspace.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// When.
    pub at: &'a Timestamp,
    /// What policies decided.
    pub decisions: &'a [PolicyEvaluation],
    /// What was made harmless.
    pub sanitizations: &'a [SanitizationNode],
    /// The question, if one is answered.
    pub question: Option<&'a Question>,
    /// Where a query went, if one is recorded.
    pub query: Query,
}

/// Where a query went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Query {
    /// Nobody can say.
    Unaccounted,
    /// Nowhere: the workspace or the library answered it.
    Local,
    /// Out, and a receipt says so.
    Receipted,
}

/// What was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// What is answered.
    pub receipt: Receipt,
    /// Whether it was answered before: nothing is appended then.
    pub is_repeated: bool,
}

/// Why an operation gets no receipt: it can't stand in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Refusal {
    /// It is for another workspace.
    #[error("the operation is for another workspace")]
    OtherWorkspace,
    /// It has no id, or no key.
    #[error("the operation has no id or no key")]
    Unnamed,
    /// It changes the workspace and does not say which state of it, or takes a lock without a lease.
    #[error("the operation does not say which state it changes, or under which lease")]
    NoPrecondition,
    /// The key stands for another operation.
    #[error("the key was used for another operation")]
    KeyReused,
    /// The id stands for another operation.
    #[error("the id was used for another operation")]
    IdReused,
}

impl Refusal {
    /// The validation code that the operation would have.
    #[must_use]
    pub fn code(self) -> Option<&'static str> {
        match self {
            Refusal::NoPrecondition => Some("workspace_mutation_without_precondition"),
            Refusal::OtherWorkspace | Refusal::Unnamed | Refusal::KeyReused | Refusal::IdReused => None,
        }
    }
}

/// The code that comes along with a receipt at run time. On audit such a receipt is as it must be.
#[must_use]
pub fn code_of(receipt: &Receipt) -> Option<&'static str> {
    match receipt.conflict_reason? {
        Conflict::EventSeqMismatch | Conflict::WorkspaceHeadHashMismatch => {
            Some("workspace_event_seq_conflict")
        }
        Conflict::LockUnavailable if receipt.operation_kind == Kind::AnswerResearchNeed => {
            Some("research_need_double_leased")
        }
        Conflict::LockUnavailable | Conflict::TargetRecordHashMismatch => None,
    }
}

impl Workspace {
    /// A workspace to which nothing was done yet.
    #[must_use]
    pub fn new(id: &str, task_id: &str, matter_id: Option<&str>) -> Self {
        let first =
            Object::from([("workspace_id", Json::from(id)), ("seq", 0_u64.write().unwrap_or(Json::Null))]);
        Workspace {
            id: id.to_string(),
            task_id: task_id.to_string(),
            matter_id: matter_id.map(ToString::to_string),
            head: canonical::hash_as_written(&first.into()).to_string(),
            seq: 0,
            sources: BTreeMap::new(),
            lock: None,
            earlier: BTreeMap::new(),
            operations: BTreeSet::new(),
            last: None,
        }
    }

    /// The end of its chain.
    #[must_use]
    pub fn head(&self) -> &str {
        &self.head
    }

    /// How many operations changed it.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Lets one write alone. Who holds the lock may take it for longer.
    ///
    /// # Errors
    /// Somebody else holds it at that time; who.
    pub fn lock(&mut self, lock: Lock) -> Result<(), Lock> {
        match &self.lock {
            Some(other) if other.lease_ref != lock.lease_ref && other.span.meets(lock.span) => {
                Err(other.clone())
            }
            Some(_) | None => {
                self.lock = Some(lock);
                Ok(())
            }
        }
    }

    /// How it stands, as a record; `None` if nothing was done to it yet.
    #[must_use]
    pub fn current(&self, aggregation_policy_ref: Option<StorageRef>) -> Option<SourceWorkspaceCurrentState> {
        let (canonical_event_ref, updated_at) = self.last.clone()?;
        let record_refs = self.sources.keys().map(|id| format!("src:{id}"));
        Some(SourceWorkspaceCurrentState {
            workspace_id: self.id.clone(),
            task_id: self.task_id.clone(),
            matter_id: self.matter_id.clone(),
            head_hash: self.head.clone(),
            stream_seq: self.seq,
            record_refs: record_refs
                .filter_map(|text| SourceRecordRef::try_from(text.as_str()).ok())
                .collect(),
            taint_class: self
                .sources
                .values()
                .map(|one| one.taint)
                .max()
                .unwrap_or(TaintClass::InternalCorpusTrusted),
            data_class: self.sources.values().map(|one| one.data_class).max().unwrap_or(DataClass::Public),
            privileged: self.sources.values().any(|one| one.privileged),
            aggregation_policy_ref,
            canonical_event_ref,
            updated_at,
            schema_version: Some(V10),
        })
    }

    /// Takes a receipt of this workspace into account; the same while it is written and when the log is read.
    pub fn apply(&mut self, operation: &Operation, receipt: &Receipt) {
        let earlier = Earlier { request: request_hash(operation), receipt: receipt.clone() };
        self.earlier.insert(key_of(operation), earlier);
        self.operations.insert(operation.operation_id.clone());
        let (Status::Applied, Some(head), Some(seq)) =
            (receipt.status, receipt.new_workspace_head_hash.clone(), receipt.new_event_seq)
        else {
            return;
        };
        (self.head, self.seq) = (head, seq);
        let event = super::named("source_workspace_operation", &operation.operation_id);
        self.last = event.map(|event| (event, receipt.created_at.clone())).or_else(|| self.last.take());
        if let (Kind::AddSourceRecord | Kind::UpdateSourceRecord, Some(id)) =
            (operation.operation_kind, judge::target(operation))
        {
            let hash =
                operation.payload_ref.as_ref().and_then(|payload| Reference::read(payload.as_str())?.hash);
            let (taint, data_class, privileged) =
                (operation.taint_class, operation.data_class, operation.privileged);
            let source = Source { hash: hash.map(ToString::to_string), taint, data_class, privileged };
            self.sources.insert(id.to_string(), source);
        }
    }
}

/// What becomes of an operation.
///
/// # Errors
/// It can't stand in a log at all.
pub fn decide(workspace: &Workspace, operation: &Operation, given: &Given<'_>) -> Result<Ruling, Refusal> {
    if operation.workspace_id != workspace.id {
        return Err(Refusal::OtherWorkspace);
    }
    let is_named = super::named("source_workspace_operation", &operation.operation_id).is_some();
    if !is_named || operation.idempotency_key.trim().is_empty() {
        return Err(Refusal::Unnamed);
    }
    check_precondition(operation)?;
    match workspace.earlier.get(&key_of(operation)) {
        Some(earlier) if earlier.request == request_hash(operation) => {
            return Ok(Ruling { receipt: earlier.receipt.clone(), is_repeated: true });
        }
        Some(_) => return Err(Refusal::KeyReused),
        None if workspace.operations.contains(&operation.operation_id) => return Err(Refusal::IdReused),
        None => {}
    }
    Ok(Ruling { receipt: judge::judge(workspace, operation, given), is_repeated: false })
}

fn check_precondition(operation: &Operation) -> Result<(), Refusal> {
    let Some(precondition) = &operation.precondition else {
        return if is_mutating(operation.operation_kind) { Err(Refusal::NoPrecondition) } else { Ok(()) };
    };
    let needs_lease = precondition.lock_mode == LockMode::PessimisticWriteLock;
    if precondition.workspace_id != operation.workspace_id {
        Err(Refusal::OtherWorkspace)
    } else if precondition.expected_workspace_head_hash.trim().is_empty()
        || needs_lease && precondition.lock_lease_ref.is_none()
    {
        Err(Refusal::NoPrecondition)
    } else {
        Ok(())
    }
}

fn key_of(operation: &Operation) -> Key {
    (operation.matter_id.clone(), operation.idempotency_key.clone())
}

/// The hash of what is asked: a second try may have another id and another time.
fn request_hash(operation: &Operation) -> Digest {
    let mut members = match operation.write() {
        Some(Json::Object(members)) => members,
        Some(Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_)) | None => {
            Object::new()
        }
    };
    for told in ["operation_id", "created_at"] {
        members.remove(told);
    }
    canonical::hash_as_written(&members.into())
}
