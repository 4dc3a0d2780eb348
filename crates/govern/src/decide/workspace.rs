//! What becomes of an operation on a source workspace.
//! Owns: the chain of heads, preconditions, keys by which a repetition is known, what the workspace holds. Must not: read a
//! source, or decide whether a policy holds: its decision comes along.

use super::lease::Question;
use super::{Span, id_from};
use crate::derive::taint::may_see;
use crate::reference::Reference;
use crate::types::added::policy::{PolicyDecision, PolicyEvaluation};
use crate::types::added::sourcing::SourceWorkspaceCurrentState;
use crate::types::basic::{DataClass, Instant as At, SourceRecordRef, StorageRef, TaintClass, V10};
use crate::types::taint::SanitizationNode;
use crate::types::wire::Wire;
use crate::types::workspace::{
    SourceWorkspaceMutationPrecondition as Precondition,
    SourceWorkspaceMutationPreconditionLockMode as LockMode, SourceWorkspaceOperation as Operation,
    SourceWorkspaceOperationKind as Kind, SourceWorkspaceOperationReceipt as Receipt,
    SourceWorkspaceOperationReceiptConflictReason as Conflict,
    SourceWorkspaceOperationReceiptStatus as Status,
};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
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
            (operation.operation_kind, target(operation))
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
    Ok(Ruling { receipt: judge(workspace, operation, given), is_repeated: false })
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

/// The receipt of an operation that was not answered before. The matter comes first: who is of another learns no head.
fn judge(workspace: &Workspace, operation: &Operation, given: &Given<'_>) -> Receipt {
    let mut receipt = Receipt {
        receipt_id: id_from("receipt", &[&workspace.id, &operation.operation_id]),
        operation_id: operation.operation_id.clone(),
        operation_kind: operation.operation_kind,
        workspace_id: workspace.id.clone(),
        prior_workspace_head_hash: None,
        new_workspace_head_hash: None,
        prior_event_seq: None,
        new_event_seq: None,
        status: Status::RejectedByPolicy,
        conflict_reason: None,
        created_at: At::from(given.at),
        schema_version: V10,
    };
    let (own, asking) = (workspace.matter_id.as_deref(), operation.matter_id.as_deref());
    if !may_see(own, asking) || !may_see(asking, own) || !is_allowed(workspace, operation, given) {
        return receipt;
    }
    receipt.prior_workspace_head_hash = Some(workspace.head.clone());
    receipt.prior_event_seq = Some(workspace.seq);
    receipt.conflict_reason = conflict(workspace, operation, given);
    let next = workspace.seq.checked_add(1);
    receipt.status = match (receipt.conflict_reason, is_mutating(operation.operation_kind), next) {
        (Some(_), ..) => Status::Conflict,
        (None, false, _) => Status::ReadCompleted,
        (None, true, Some(next)) if is_possible(workspace, operation) => {
            let head = head_after(&workspace.head, &payload_hash(operation), next);
            receipt.new_workspace_head_hash = Some(head.to_string());
            receipt.new_event_seq = Some(next);
            Status::Applied
        }
        (None, true, _) => Status::Failed,
    };
    receipt
}

/// Whether policies let it through: every decision that it names is known and stands, its query is accounted for, and no source
/// becomes more trusted than it was by being written again.
fn is_allowed(workspace: &Workspace, operation: &Operation, given: &Given<'_>) -> bool {
    let allows = |one: &PolicyEvaluation| match one.decision {
        PolicyDecision::Allow | PolicyDecision::Warn => one.superseded_by.is_none(),
        PolicyDecision::Deny | PolicyDecision::RequireHuman => false,
    };
    let mut decisions = operation.policy_decision_refs.iter().map(|named| {
        let id = Reference::read(named.as_str()).map(|named| named.id);
        given.decisions.iter().rfind(|one| Some(one.policy_evaluation_id.as_str()) == id)
    });
    let is_accounted = match (operation.operation_kind, given.query) {
        (Kind::AppendSourceQueryRecord, Query::Unaccounted) => false,
        (Kind::AppendSourceQueryRecord, Query::Local | Query::Receipted) => true,
        (_other, _) => true,
    };
    is_accounted && decisions.all(|one| one.is_some_and(allows)) && !launders(workspace, operation, given)
}

fn launders(workspace: &Workspace, operation: &Operation, given: &Given<'_>) -> bool {
    let before = target(operation).and_then(|id| Some((id, workspace.sources.get(id)?)));
    let Some((id, before)) = before.filter(|_| operation.operation_kind == Kind::UpdateSourceRecord) else {
        return false;
    };
    let is_of = |node: &SanitizationNode| {
        let mut ends = [&node.input_ref, &node.output_ref].into_iter().flatten();
        ends.any(|end| source_in(end.as_str()) == Some(id))
    };
    let is_clean = given.sanitizations.iter().any(|node| {
        is_of(node) && node.input_taint == before.taint && node.output_taint == operation.taint_class
    });
    operation.taint_class < before.taint && !is_clean
}

fn conflict(workspace: &Workspace, operation: &Operation, given: &Given<'_>) -> Option<Conflict> {
    let precondition = operation.precondition.as_ref()?;
    let expected = Head {
        seq: Some(precondition.expected_event_seq),
        hash: Some(&precondition.expected_workspace_head_hash),
    };
    let actual = Head { seq: Some(workspace.seq), hash: Some(&workspace.head) };
    let is_other_target = || {
        let held =
            target(operation).and_then(|id| workspace.sources.get(id)).and_then(|one| one.hash.as_ref());
        precondition.expected_target_record_hash.is_some()
            && precondition.expected_target_record_hash.as_ref() != held
    };
    differs(expected, actual)
        .or_else(|| is_other_target().then_some(Conflict::TargetRecordHashMismatch))
        .or_else(|| {
            (!has_lock(workspace, operation, precondition, given)).then_some(Conflict::LockUnavailable)
        })
}

/// Whether nobody else writes alone, and whoever needs a lease has a live one.
fn has_lock(
    workspace: &Workspace,
    operation: &Operation,
    precondition: &Precondition,
    given: &Given<'_>,
) -> bool {
    let at = given.at.instant();
    let lease = precondition.lock_lease_ref.as_ref();
    let lock = workspace.lock.as_ref().filter(|lock| lock.span.holds(at));
    let is_own = lock.is_some_and(|lock| Some(&lock.lease_ref) == lease);
    if operation.operation_kind == Kind::AnswerResearchNeed {
        let is_asked =
            |question: &&Question| need_in(operation).is_none_or(|id| id == question.need().need_id);
        let may_answer = given.question.filter(is_asked).is_some_and(|one| one.may_be_answered(lease, at));
        return may_answer && (lock.is_none() || is_own);
    }
    match precondition.lock_mode {
        LockMode::OptimisticEventSeq => lock.is_none() || is_own,
        LockMode::PessimisticWriteLock => is_own,
    }
}

/// Whether what is to be added is not there yet, and what is to be changed is.
fn is_possible(workspace: &Workspace, operation: &Operation) -> bool {
    let is_held = target(operation).map(|id| workspace.sources.contains_key(id));
    match (operation.operation_kind, is_held) {
        (Kind::AddSourceRecord, Some(is_held)) => !is_held,
        (Kind::UpdateSourceRecord, Some(is_held)) => is_held,
        (_other, _) => true,
    }
}

/// The source that an operation is on.
fn target(operation: &Operation) -> Option<&str> {
    let named = operation.precondition.as_ref().and_then(|one| one.target_record_ref.as_ref());
    [named, operation.payload_ref.as_ref()].into_iter().flatten().find_map(|one| source_in(one.as_str()))
}

fn source_in(text: &str) -> Option<&str> {
    Reference::read(text).filter(|to| matches!(to.kind, "src" | "source_record")).map(|to| to.id)
}

/// The question that an operation is on.
fn need_in(operation: &Operation) -> Option<&str> {
    let named = operation.precondition.as_ref().and_then(|one| one.target_record_ref.as_ref());
    let mut refs = [named, operation.payload_ref.as_ref()].into_iter().flatten();
    refs.find_map(|one| Reference::read(one.as_str()).filter(|to| to.kind == "research_need").map(|to| to.id))
}

fn key_of(operation: &Operation) -> Key {
    (operation.matter_id.clone(), operation.idempotency_key.clone())
}

/// The hash of what is asked: a second try may have another id and another time.
fn request_hash(operation: &Operation) -> Digest {
    let members = match operation.write() {
        Some(Json::Object(members)) => members,
        Some(Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_)) | None => {
            Object::new()
        }
    };
    let kept = members.iter().filter(|(name, _)| !["operation_id", "created_at"].contains(name));
    let kept: Vec<(&str, Json)> = kept.map(|(name, value)| (name, value.clone())).collect();
    canonical::hash_as_written(&Json::Object(kept.into_iter().collect()))
}
