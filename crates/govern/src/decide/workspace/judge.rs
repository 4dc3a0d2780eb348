//! The judgement of an operation that was not answered before.
//! Owns: the order in which matter, policies, state, target, lock and content are looked at. Must not: remember it.

use super::{Given, Head, Query, Workspace, differs, head_after, is_mutating, payload_hash};
use crate::decide::id_from;
use crate::decide::lease::Question;
use crate::derive::taint::may_see;
use crate::reference::Reference;
use crate::types::added::policy::{PolicyDecision, PolicyEvaluation};
use crate::types::basic::{Instant as At, V10};
use crate::types::taint::SanitizationNode;
use crate::types::workspace::{
    SourceWorkspaceMutationPrecondition as Precondition,
    SourceWorkspaceMutationPreconditionLockMode as LockMode, SourceWorkspaceOperation as Operation,
    SourceWorkspaceOperationKind as Kind, SourceWorkspaceOperationReceipt as Receipt,
    SourceWorkspaceOperationReceiptConflictReason as Conflict,
    SourceWorkspaceOperationReceiptStatus as Status,
};
use alloc::string::ToString;

/// The receipt of an operation that was not answered before. The matter comes first: who is of another learns no head.
pub(super) fn judge(workspace: &Workspace, operation: &Operation, given: &Given<'_>) -> Receipt {
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
pub(super) fn target(operation: &Operation) -> Option<&str> {
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
