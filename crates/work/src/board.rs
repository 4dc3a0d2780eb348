//! The board of a run: what happened, as somebody who follows the work reads it.
//! Owns: what is told of which record, posts, digests. Must not: decide who sees what; `govern::decide::board` does.

use crate::assist;
use crate::desk::{Desk, Error, reference};
use crate::life;
use crate::names::Policy;
use crate::show::person;
use crate::workspace;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::decide::board::{self, Author, Board, Entry, Reader};
use countersign_govern::member::Member;
use countersign_govern::reference::{Reference, snake};
use countersign_govern::types::added::outcome::HumanFeedbackEvent;
use countersign_govern::types::added::showing::RunBoardDigest;
use countersign_govern::types::added::sourcing::DigestSelection;
use countersign_govern::types::basic::{DataClass, StorageRef, TaintClass, V10};
use countersign_govern::types::board::{
    RunBoardAuditEvent as Event, RunBoardEventClass as Class, RunBoardGovernanceEnvelope,
    RunBoardGovernanceEnvelopeVisibilityScope as Scope, RunBoardPublicationPolicy,
    RunBoardPublicationPolicySuppressDataClasses as Suppressed, RunBoardVisiblePost as Post,
    RunBoardVisiblePostLifecycleState as State,
};
use countersign_govern::types::context::{OmittedPacketItem, OmittedPacketItemOmissionReason as Omitted};
use countersign_govern::world::Draft;
use countersign_record::time::Timestamp;

/// The type of what is told.
const EVENT: &str = "RunBoardAuditEvent";
/// Posts of a run at most, and in a minute at most.
const POSTS_MAX: u64 = 500;
/// Posts of a digest at most; the newest count.
const DIGEST_MAX: usize = 50;
/// What is posted by itself.
const PUBLISHED: [Class; 7] = [
    Class::ArtifactEvent,
    Class::SideEffectEvent,
    Class::ErrorRetry,
    Class::GateDecision,
    Class::EvaluationFinding,
    Class::SourceUpdate,
    Class::RunLifecycle,
];

/// Writes what is published in this run.
///
/// # Errors
/// It can't be written.
pub(crate) fn policy(desk: &mut Desk) -> Result<(), Error> {
    desk.put(&RunBoardPublicationPolicy {
        policy_id: desk.policy(Policy::Board),
        auto_publish_event_classes: PUBLISHED.into(),
        max_visible_posts_per_run: POSTS_MAX,
        suppress_data_classes: Vec::from([Suppressed::Privileged, Suppressed::LocalOnly]),
        publish_redacted_stub_when_suppressed: true,
        rate_limit_per_minute: POSTS_MAX,
        schema_version: V10,
        run_id: Some(desk.run().to_string()),
    })?;
    Ok(())
}

/// Tells of everything that happened since the last time.
///
/// # Errors
/// Something can't be written.
pub fn tell(desk: &mut Desk) -> Result<(), Error> {
    let told = desk.each::<Event>(EVENT).next_back().map_or(0, |found| found.seq);
    let mut happened: Vec<(u64, Class, Draft)> = Vec::new();
    for (seq, draft) in (told + 1..).zip(desk.rows_after(told)) {
        if let Some(class) = class(desk, draft) {
            happened.push((seq, class, draft.clone()));
        }
    }
    if happened.is_empty() {
        return Ok(());
    }
    let mut wall = wall(desk);
    for (seq, class, draft) in happened {
        let event = event(desk, class, reference(&draft.kind, &draft.name(seq))?);
        desk.put(&event)?;
        post(desk, &mut wall, &event, Author::Nobody, &words(&draft))?;
    }
    Ok(())
}

/// Somebody says something on the board; gives the reference to the post.
///
/// # Errors
/// Something can't be written.
pub fn say(desk: &mut Desk, text: &str, by: &str) -> Result<Option<StorageRef>, Error> {
    tell(desk)?;
    let said = desk.put(&HumanFeedbackEvent {
        event_id: desk.id("said"),
        run_id: desk.run().to_string(),
        subject_ref: reference("Task", &desk.task().id)?,
        user_ref: person(by)?,
        label: COMMENT.to_string(),
        comment: Some(text.to_string()),
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    let event = event(desk, Class::UserComment, said.clone());
    desk.put(&event)?;
    let mut wall = wall(desk);
    post(desk, &mut wall, &event, Author::Person(&said), text)
}

/// What a comment is labelled as.
const COMMENT: &str = "comment";

/// What a row is on the board; nothing, if nobody who follows the work needs it.
fn class(desk: &Desk, draft: &Draft) -> Option<Class> {
    let (kind, record) = (draft.kind.as_str(), &draft.record);
    let moves = |kind: &str| record.reference("subject_ref").is_some_and(|subject| subject.kind == kind);
    Some(match kind {
        "ArtifactVersionTransitionEvent" if !record.is("to_state", "candidate") => Class::ArtifactEvent,
        "WorkspaceExternalizationReceipt" => Class::SideEffectEvent,
        "TaskSkipReceipt" | "HardCallPendingEvent" | "AssistanceFallbackEvent" | "ModeratorFailureEvent" => {
            Class::ErrorRetry
        }
        "HardRevisionCall"
        | "HardCallResolutionReceipt"
        | "EvaluationChainResolutionReceipt"
        | "RevisionReviewDecisionReceipt" => Class::GateDecision,
        "EvaluationFindingEvent" | "FindingLifecycleTransitionReceipt" => Class::EvaluationFinding,
        "OutcomeRepairInstruction" => Class::RepairInstruction,
        "SourceWorkspaceOperationReceipt" if record.is("status", "applied") => Class::SourceUpdate,
        "TaskCostRecord" => Class::CostDuration,
        "ModuleActivationEvent" => Class::ModuleLifecycle,
        "ModuleAssistanceAnswer" if assist::is_advice(desk, record.text("request_id")?) => {
            Class::TaskAgentRecommendation
        }
        "TaskCancelReceipt" | "KnownGoodCheckpoint" | "TaskRunFork" => Class::RunLifecycle,
        "LifecycleTransitionReceipt" if moves("task_reliance_packet") => Class::RunLifecycle,
        "LifecycleTransitionReceipt" if moves("evaluation_contract_review") => Class::RunLifecycle,
        _other => return None,
    })
}

/// What a post says: which kind of thing, and what became of it. Words of sources and of the work are in none of these members.
fn words(draft: &Draft) -> String {
    let record = &draft.record;
    let said = |member: &str| record.text(member).unwrap_or_default();
    match draft.kind.as_str() {
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

/// Whether a class of events tells of sources or of the work.
fn holds_work(class: Class) -> bool {
    match class {
        Class::ArtifactEvent
        | Class::SideEffectEvent
        | Class::GateDecision
        | Class::EvaluationFinding
        | Class::RepairInstruction
        | Class::SourceUpdate
        | Class::UserComment
        | Class::TaskAgentRecommendation => true,
        Class::ModuleLifecycle | Class::ErrorRetry | Class::CostDuration | Class::RunLifecycle => false,
    }
}

fn event(desk: &Desk, class: Class, payload_ref: StorageRef) -> Event {
    let (taint_class, data_class, privileged) = match holds_work(class) {
        true => workspace::whole(desk),
        false => (TaintClass::InternalCorpusTrusted, DataClass::Internal, false),
    };
    Event {
        event_id: desk.id("told"),
        task_id: desk.task().id.clone(),
        run_id: desk.run().to_string(),
        event_class: class,
        payload_ref,
        governance: RunBoardGovernanceEnvelope {
            data_class,
            taint_class,
            privileged,
            matter_id: Some(desk.matter().to_string()),
            policy_decision_refs: desk.leave().into_iter().collect(),
            visibility_scope: Scope::SameMatterModules,
            redaction_required: false,
            schema_version: V10,
        },
        event_seq: desk.count(EVENT) + 1,
        created_at: desk.now(),
        schema_version: V10,
    }
}

/// The posts so far that count against the limits.
fn wall(desk: &Desk) -> Board {
    let events: BTreeMap<String, Event> =
        desk.all::<Event>().map(|one| (one.event_id.clone(), one)).collect();
    let mut wall = Board::default();
    for found in desk.each::<Post>("RunBoardVisiblePost") {
        let event = events.get(&found.record.source_event_id);
        let at = Timestamp::try_from(found.record.created_at.as_str()).ok();
        if let Some((event, at)) = event.zip(at) {
            wall.apply(event, &found.record, &at);
        }
    }
    wall
}

/// Posts an event, if it is to be posted; what it says lies beside the post, so that it can be erased.
fn post(
    desk: &mut Desk,
    wall: &mut Board,
    event: &Event,
    author: Author<'_>,
    words: &str,
) -> Result<Option<StorageRef>, Error> {
    let id = desk.policy(Policy::Board);
    let policy: RunBoardPublicationPolicy =
        desk.find("RunBoardPublicationPolicy", &id).ok_or(Error::Missing(id))?;
    let rendered = reference("RenderedPost", &event.event_id)?;
    let at = desk.clock().clone();
    let Some(post) = wall.publish(&policy, event, author, &rendered, &at) else { return Ok(None) };
    wall.apply(event, &post, &at);
    let shown = if post.redacted {
        desk.open("RunBoardVisiblePost", &post)?
    } else {
        desk.open_with("RunBoardVisiblePost", &post, words.as_bytes().to_vec())?
    };
    Ok(Some(shown))
}

/// Everything on the board, in order.
#[must_use]
pub fn entries(desk: &Desk) -> Vec<Entry> {
    let posts: BTreeMap<String, String> = desk
        .each::<Post>("RunBoardVisiblePost")
        .map(|found| (found.record.source_event_id.clone(), found.id))
        .collect();
    let entry = |event: Event| {
        let post = posts.get(&event.event_id);
        let post = post.and_then(|id| desk.standing::<Post>("RunBoardVisiblePost", id));
        Entry { event, module_id: None, segment_id: None, participants: Vec::new(), post }
    };
    desk.all::<Event>().map(entry).collect()
}

/// What an entry says, where it may be read: nothing of one that is withheld or was not posted.
#[must_use]
pub fn said(desk: &Desk, entry: &Entry) -> Option<String> {
    entry.post.as_ref().filter(|post| !post.redacted)?;
    let told = Reference::read(entry.event.payload_ref.as_str())?;
    let mut rows = (1..).zip(desk.rows());
    let (_, draft) = rows.find(|(seq, row)| snake(&row.kind) == told.kind && row.name(*seq) == told.id)?;
    match draft.record.text("comment").filter(|_| draft.kind == "HumanFeedbackEvent") {
        Some(comment) => Some(comment.to_string()),
        None => Some(words(draft)),
    }
}

/// Writes what a reader is shown: the newest posts that they may see, and why the others are left out.
///
/// # Errors
/// Something can't be written.
pub fn digest(desk: &mut Desk, reader: &Reader<'_>) -> Result<RunBoardDigest, Error> {
    let entries = entries(desk);
    let whole = board::digest(reader, desk.run(), &entries, desk.clock());
    let skipped = whole.post_refs.len().saturating_sub(DIGEST_MAX);
    let (old, shown) = whole.post_refs.split_at(skipped);
    let mut omitted: Vec<OmittedPacketItem> = Vec::new();
    let mut leave_out = |item_ref: StorageRef, omission_reason| {
        omitted.push(OmittedPacketItem { item_ref, omission_reason, required: false });
    };
    for entry in &entries {
        let Some(post) = &entry.post else { continue };
        let item = reference("RunBoardVisiblePost", &post.post_id)?;
        if old.contains(&item) {
            leave_out(item, Omitted::TokenBudget);
        } else if !shown.contains(&item) {
            let reason = match post.lifecycle_state {
                State::Active => Omitted::Permission,
                State::Superseded | State::Retracted => Omitted::Stale,
            };
            leave_out(item, reason);
        }
    }
    let digest = RunBoardDigest { digest_id: desk.id("digest"), post_refs: shown.to_vec(), ..whole };
    let digest_ref = desk.put(&digest)?;
    desk.put(&DigestSelection {
        selection_id: desk.id("selected"),
        digest_ref,
        included_post_refs: digest.post_refs.clone(),
        omitted,
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    Ok(digest)
}

/// Takes a post off the board; what happened stays recorded.
///
/// # Errors
/// There is no such post that stands, or it can't be written.
pub fn retract(desk: &mut Desk, post: &str, by: &StorageRef, reason: &str) -> Result<(), Error> {
    let stands = desk.says("run_board_visible_post", post, "lifecycle_state") == Some(State::Active.as_str());
    if !stands {
        return Err(Error::Missing(format!("post {post} on the board")));
    }
    let subject = reference("RunBoardVisiblePost", post)?;
    life::go(desk, &subject, (State::Active.as_str(), State::Retracted.as_str()), by.as_str(), reason)?;
    Ok(())
}
