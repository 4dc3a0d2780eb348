//! What is told on the board of a run.
//! Owns: what events and posts must be. Must not: decide what is published; the contract's decision does.

use crate::found::Found;
use crate::report::Check;
use crate::walk::Walk;
use crate::workspace;
use alloc::format;
use alloc::string::{String, ToString};
use countersign_govern::decide::board::{Author, Board};
use countersign_govern::member::Member;
use countersign_govern::types::basic::StorageRef;
use countersign_govern::types::board::{RunBoardAuditEvent, RunBoardPublicationPolicy, RunBoardVisiblePost};
use countersign_govern::types::wire::{Reading, Wire};
use countersign_govern::world::Record;
use countersign_record::digest::Digest;
use countersign_record::json::{Json, Object};

const CHECK: Check = Check::Shown;

/// What a record is on the board; nothing, if nobody who follows the work needs it.
fn class(record: Record<'_>) -> Option<&'static str> {
    let json = record.json();
    let moves = |kind: &str| json.reference("subject_ref").is_some_and(|subject| subject.kind == kind);
    Some(match record.kind() {
        "ArtifactVersionTransitionEvent" if !json.is("to_state", "candidate") => "artifact_event",
        "WorkspaceExternalizationReceipt" => "side_effect_event",
        "TaskSkipReceipt" | "HardCallPendingEvent" | "AssistanceFallbackEvent" | "ModeratorFailureEvent" => {
            "error_retry"
        }
        "HardRevisionCall"
        | "HardCallResolutionReceipt"
        | "EvaluationChainResolutionReceipt"
        | "RevisionReviewDecisionReceipt" => "gate_decision",
        "EvaluationFindingEvent" | "FindingLifecycleTransitionReceipt" => "evaluation_finding",
        "OutcomeRepairInstruction" => "repair_instruction",
        "SourceWorkspaceOperationReceipt" if json.is("status", "applied") => "source_update",
        "TaskCostRecord" => "cost_duration",
        "ModuleActivationEvent" => "module_lifecycle",
        "TaskCancelReceipt" | "KnownGoodCheckpoint" | "TaskRunFork" => "run_lifecycle",
        "LifecycleTransitionReceipt"
            if moves("task_reliance_packet") || moves("evaluation_contract_review") =>
        {
            "run_lifecycle"
        }
        _other => return None,
    })
}

/// What a post says.
fn words(record: Record<'_>) -> String {
    let said = |member: &str| record.json().text(member).unwrap_or_default();
    match record.kind() {
        "ArtifactVersionTransitionEvent" => {
            format!("{} is {}", said("artifact_version_ref"), said("to_state"))
        }
        "HardRevisionCall" => said("prompt_text").to_string(),
        "HardCallResolutionReceipt" => {
            format!("{} answered: {}", said("resolved_by_user_ref"), said("selected_option_id"))
        }
        "EvaluationChainResolutionReceipt" => format!("an evaluation came to: {}", said("resolved_verdict")),
        "EvaluationFindingEvent" => said("finding_text").to_string(),
        "FindingLifecycleTransitionReceipt" => format!("{} is {}", said("finding_id"), said("to_state")),
        "LifecycleTransitionReceipt" => format!("{} is {}", said("subject_ref"), said("to_state")),
        "SourceWorkspaceOperationReceipt" => format!("sources: {}", said("operation_kind")),
        "WorkspaceExternalizationReceipt" => format!("{}: {}", said("externalization_kind"), said("status")),
        other => other.to_string(),
    }
}

/// The record that an event tells of.
fn told<'c>(walk: &Walk<'c, '_>, event: Record<'_>) -> Option<Record<'c>> {
    event.json().text("payload_ref").and_then(|text| walk.case.world.resolve_text(text))
}

/// An event tells of the next thing that is told.
pub(crate) fn event<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, place) = (walk.case, record.seq());
    let is_said = case.last("HumanFeedbackEvent", place).filter(|one| one.seq() + 1 == place);
    let before = case.last("RunBoardAuditEvent", place);
    let from = before.and_then(|one| told(walk, one)).map_or(0, Record::seq);
    let next = case.world.all().filter(|one| one.seq() > from && one.seq() < place);
    let next = next.filter_map(|one| Some((one, class(one)?))).next();
    let Some((payload, class)) = is_said.map(|one| (one, "user_comment")).or(next) else {
        return walk.underivable(CHECK, record, "nothing happened that is told", found);
    };
    let holds_work = !matches!(class, "module_lifecycle" | "error_retry" | "cost_duration" | "run_lifecycle");
    let (taint, data, privileged) = if holds_work {
        workspace::label(case, place)
    } else {
        ("internal_corpus_trusted", "internal", false)
    };
    let leave = format!("policy_evaluation:{}", case.own("leave"));
    let governance = Object::from([
        ("data_class", Json::from(data)),
        ("taint_class", taint.into()),
        ("privileged", privileged.into()),
        ("matter_id", case.matter.as_str().into()),
        ("policy_decision_refs", crate::found::texts(&[leave])),
        ("visibility_scope", "same_matter_modules".into()),
        ("redaction_required", false.into()),
        ("schema_version", "1.0".into()),
    ]);
    let count = case.until("RunBoardAuditEvent", place).count() as u64 + 1;
    let at = case.row(record).map_or(Json::Null, |row| row.at.as_str().into());
    let expected = Object::from([
        ("task_id", Json::from(case.task.id())),
        ("run_id", case.run.as_str().into()),
        ("event_class", class.into()),
        ("payload_ref", format!("{}:{}", payload.snake(), payload.id()).into()),
        ("governance", governance.into()),
        ("event_seq", count.write().unwrap_or(Json::Null)),
        ("created_at", at),
        ("schema_version", "1.0".into()),
    ]);
    found.must_be(CHECK, record, &expected, &["event_id"]);
}

fn read<T: Wire>(record: Record<'_>) -> Option<T> {
    T::read(record.json(), &mut Reading::default())
}

/// A post is what the policy makes of the event before it.
pub(crate) fn post<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, place) = (walk.case, record.seq());
    let policy = case.before("RunBoardPublicationPolicy", &case.own("policy.board"), place);
    let event = case.last("RunBoardAuditEvent", place);
    let parts = event.zip(policy).and_then(|(event, policy)| {
        Some((event, read::<RunBoardAuditEvent>(event)?, read::<RunBoardPublicationPolicy>(policy)?))
    });
    let (Some((told_of, event, policy)), Some(row)) = (parts, case.row(record)) else {
        return walk.underivable(CHECK, record, "there is no event that it shows", found);
    };
    let rendered = format!("rendered_post:{}", event.event_id);
    let Ok(rendered) = StorageRef::try_from(rendered.as_str()) else { return };
    let said = told(walk, told_of);
    let by = said.filter(|one| one.kind() == "HumanFeedbackEvent");
    let by =
        by.and_then(|one| StorageRef::try_from(format!("human_feedback_event:{}", one.id()).as_str()).ok());
    let author = by.as_ref().map_or(Author::Nobody, Author::Person);
    let again = walk.board.publish(&policy, &event, author, &rendered, &row.at);
    let again = again.as_ref().and_then(Wire::write);
    let again = again.as_ref().and_then(Json::as_object).cloned().unwrap_or_default();
    found.must_be(CHECK, record, &again, &[]);
    if let Some(said) = said.filter(|_| by.is_none() && record.json().flag("redacted") == Some(false)) {
        let digest = Digest::of(words(said).as_bytes());
        let stated = case.digest(record).map(|digest| Json::from(String::from(digest)));
        let expected = Some(Json::from(String::from(digest)));
        found.same(
            countersign_record::code::Code::VerifyDerivation,
            CHECK,
            record,
            "rendered_payload_ref",
            expected,
            stated,
        );
    }
    if let Some(post) = read::<RunBoardVisiblePost>(record) {
        walk.board.apply(&event, &post, &row.at);
    }
}

/// The posts so far.
pub(crate) type Wall = Board;
