//! One part of a run asks another, or a person, for help.
//! Owns: the request with its lease, the answer, what is done where none comes. Must not: answer, or take the task agent's word for a
//! decision.

use crate::desk::{Desk, Error, reference};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::types::added::forum::{
    AssistanceEndpoint, AssistanceFallbackEvent, ModuleAssistanceAnswer, SchemaCheck,
};
use countersign_govern::types::assistance::{
    ModuleAssistanceRequest as Request, ModuleAssistanceRequestLease as Lease,
    ModuleAssistanceRequestOnTimeout as OnTimeout, ModuleAssistanceRequestRequestKind as Kind,
    ModuleAssistanceRequestResponsePolicy as ResponsePolicy, ModuleAssistanceRequestTarget as Target,
};
use countersign_govern::types::basic::{SchemaRef, StorageRef, V10};
use countersign_record::time::Instant;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The module that asks.
    pub module: String,
    /// What kind of party is asked.
    pub target: Target,
    /// Who, or the room that is asked.
    pub owner: StorageRef,
    /// What for.
    pub kind: Kind,
    /// Whether the work waits.
    pub policy: ResponsePolicy,
    /// What it is about.
    pub subject: Option<StorageRef>,
    /// The form that the answer must have.
    pub schema: SchemaRef,
    /// How long it may take.
    pub timeout_ms: u64,
    /// What is done then.
    pub on_timeout: OnTimeout,
}

/// Whether an answer has the form that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// It has.
    Fits,
    /// It has not.
    Differs,
}

/// Why nothing is done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The task agent may advise, and not decide.
    #[error("the task agent may advise on substance, and nobody may wait for it")]
    OnlyAdvice,
    /// Nobody asked.
    #[error("there is no request {0}")]
    NotAsked(String),
    /// There is an answer.
    #[error("the request {0} is answered")]
    Answered(String),
    /// The time is over.
    #[error("the time of the request {0} is over")]
    TooLate(String),
    /// It can't be written.
    #[error(transparent)]
    Unwritten(#[from] Error),
}

/// Asks; gives what the request is called.
///
/// # Errors
/// It would have the task agent decide, or it can't be written.
pub fn ask(desk: &mut Desk, ask: Ask) -> Result<String, Refusal> {
    let would_decide = ask.target == Target::TaskAgent
        && ask.kind == Kind::SubstantiveReview
        && ask.policy == ResponsePolicy::RequiredBeforeContinue;
    if would_decide {
        return Err(Refusal::OnlyAdvice);
    }
    let endpoint = endpoint(desk, &ask)?;
    let request_id = desk.id("asked");
    let expires_at = desk.later(ask.timeout_ms).ok_or_else(|| Error::Missing("end of the lease".into()))?;
    desk.put(&Request {
        request_id: request_id.clone(),
        task_id: desk.task().id.clone(),
        run_id: desk.run().to_string(),
        requester_ref: reference("Module", &ask.module)?.as_str().to_string(),
        target: ask.target,
        target_endpoint_ref: endpoint,
        answer_schema_ref: ask.schema,
        request_kind: ask.kind,
        response_policy: ask.policy,
        lease: Lease {
            holder_ref: reference("Module", &ask.module)?.as_str().to_string(),
            lease_version: "1".to_string(),
            acquired_at: desk.now(),
            expires_at,
        },
        timeout_ms: ask.timeout_ms,
        on_timeout: ask.on_timeout,
        created_at: desk.now(),
        schema_version: V10,
        subject_ref: ask.subject,
    })?;
    Ok(request_id)
}

/// Where the party is reached; a room is its own place.
fn endpoint(desk: &mut Desk, ask: &Ask) -> Result<StorageRef, Error> {
    match ask.target {
        Target::ForumRoom => return Ok(ask.owner.clone()),
        Target::Module | Target::Subagent | Target::TaskAgent | Target::User => {}
    }
    let known =
        desk.all::<AssistanceEndpoint>().find(|one| one.owner_ref == ask.owner && one.target == ask.target);
    if let Some(known) = known {
        return reference("AssistanceEndpoint", &known.endpoint_id);
    }
    let endpoint_id = desk.id("endpoint");
    let (target, owner_ref) = (ask.target, ask.owner.clone());
    desk.put(&AssistanceEndpoint { endpoint_id, target, owner_ref, schema_version: Some(V10) })
}

/// The requests that wait: without an accepted answer, and with nothing done instead.
#[must_use]
pub fn open(desk: &Desk) -> Vec<Request> {
    let done: Vec<AssistanceFallbackEvent> = desk.all().collect();
    let is_done = |id: &str| done.iter().any(|one| one.request_id.as_deref() == Some(id));
    desk.all::<Request>()
        .filter(|one| !is_answered(desk, &one.request_id) && !is_done(&one.request_id))
        .collect()
}

fn is_answered(desk: &Desk, request: &str) -> bool {
    desk.all::<ModuleAssistanceAnswer>().any(|one| one.request_id == request && one.accepted)
}

/// The requests that were handed to a person when nobody answered, and still wait for one.
#[must_use]
pub fn escalated(desk: &Desk) -> Vec<Request> {
    let done: Vec<AssistanceFallbackEvent> = desk.all().collect();
    let is_with_person = |one: &Request| match one.on_timeout {
        OnTimeout::EscalateHuman | OnTimeout::AskTaskAgentThenPause => {
            done.iter().any(|done| done.request_id.as_deref() == Some(&one.request_id))
        }
        OnTimeout::ResumeWithWarning | OnTimeout::Abort => false,
    };
    let all = desk.all::<Request>().filter(is_with_person);
    all.filter(|one| !is_answered(desk, &one.request_id)).collect()
}

/// Whether a request went to the task agent, so that what it says is advice.
#[must_use]
pub fn is_advice(desk: &Desk, request: &str) -> bool {
    desk.all::<Request>().any(|one| one.request_id == request && one.target == Target::TaskAgent)
}

/// Takes an answer in; one that has another form than was asked for is kept and does not count.
///
/// # Errors
/// It changes nothing, and why.
pub fn answer(desk: &mut Desk, request: &str, form: Form) -> Result<(), Refusal> {
    let asked = desk.all::<Request>().find(|one| one.request_id == request);
    let asked = asked.ok_or_else(|| Refusal::NotAsked(request.to_string()))?;
    if is_answered(desk, request) {
        return Err(Refusal::Answered(request.to_string()));
    }
    let is_with_person = escalated(desk).iter().any(|one| one.request_id == request);
    if is_over(desk, &asked) && !is_with_person {
        return Err(Refusal::TooLate(request.to_string()));
    }
    let (schema_check, accepted) = match form {
        Form::Fits => (SchemaCheck::Passed, true),
        Form::Differs => (SchemaCheck::Failed, false),
    };
    desk.put(&ModuleAssistanceAnswer {
        answer_id: desk.id("help"),
        request_id: request.to_string(),
        answer_schema_ref: asked.answer_schema_ref,
        schema_check,
        accepted,
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    Ok(())
}

fn is_over(desk: &Desk, request: &Request) -> bool {
    let asked = Instant::read(request.created_at.as_str());
    asked.is_none_or(|asked| asked.millis_until(desk.clock().instant()) >= request.timeout_ms)
}

/// A person has decided what they were handed: the requests about it are answered with that.
///
/// # Errors
/// It can't be written.
pub(crate) fn decided(desk: &mut Desk, subjects: &[String]) -> Result<(), Refusal> {
    let is_about = |one: &Request| {
        one.subject_ref.as_ref().is_some_and(|to| subjects.iter().any(|id| id == to.as_str()))
    };
    for one in escalated(desk).into_iter().filter(is_about) {
        answer(desk, &one.request_id, Form::Fits)?;
    }
    Ok(())
}

/// Does what was said for a request that nobody can answer.
///
/// # Errors
/// It can't be written.
pub(crate) fn fall_back(desk: &mut Desk, request: &Request, room: &str) -> Result<(), Error> {
    desk.put(&AssistanceFallbackEvent {
        event_id: desk.id("fell-back"),
        request_id: Some(request.request_id.clone()),
        room_id: Some(room.to_string()),
        action: request.on_timeout,
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    Ok(())
}
