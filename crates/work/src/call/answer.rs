//! What becomes of an answer.
//! Owns: taking it in, keeping it, what follows for outcomes, claims and sources. Must not: answer for a person.

use super::{ACCEPT, PREFER, REVISE, Refusal, VERIFIED, is_open};
use crate::assist;
use crate::desk::{Desk, Error, reference};
use crate::evaluate;
use crate::names::DISPATCHER;
use crate::opening;
use crate::outcome;
use crate::outside;
use crate::revise::review::{self, Decision};
use crate::show::person;
use crate::task::Outcome;
use crate::workspace;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::derive::text;
use countersign_govern::reference::Reference;
use countersign_govern::types::added::outcome::{HumanFeedbackEvent, UnanchoredAcknowledgment};
use countersign_govern::types::added::repair::VerificationRequestStep;
use countersign_govern::types::added::stopping::HardCallResolution;
use countersign_govern::types::basic::{DecisionEffect as Effect, ScoringBasis, StorageRef, V10};
use countersign_govern::types::hard_call::{
    HardCallResolutionReceipt, HardCallResolutionReceiptOperationKind, HardRevisionCall,
};
use countersign_govern::types::outcome::OutcomeEvaluationState as State;
use countersign_govern::types::source::CoreAuthorityLevel as Authority;
use countersign_govern::types::wire::Wire;
use countersign_record::json::Json;

/// Milliseconds that an answer is kept for when the same is asked again.
const KEPT_MS: u64 = 30 * 24 * 3_600 * 1_000;

/// What a question comes from that evaluator and judge leave to a person: what they came to, or the room in which they talked.
const DISPUTES: [&str; 2] = ["evaluation_chain_resolution_receipt", "forum_room_record"];

/// Writes that a person chose an option of a question.
pub(crate) fn resolve(desk: &mut Desk, call: &str, option: &str, by: &str) -> Result<StorageRef, Error> {
    desk.put(&HardCallResolutionReceipt {
        receipt_id: desk.id("answered"),
        hard_call_id: call.to_string(),
        operation_kind: HardCallResolutionReceiptOperationKind::HardCallResolved,
        dispatcher_actor_ref: DISPATCHER.to_string(),
        resolved_by_user_ref: format!("user:{by}"),
        selected_option_id: Some(option.to_string()),
        freeform_response_ref: None,
        created_at: desk.now(),
        schema_version: V10,
    })
}

/// Takes an answer in: the receipt of it, and what follows at once.
///
/// # Errors
/// It changes nothing, and why.
pub fn answer(desk: &mut Desk, id: &str, chosen: &str, by: &str) -> Result<(), Refusal> {
    let call = desk.all::<HardRevisionCall>().find(|call| call.hard_call_id == id);
    let call = call.ok_or_else(|| Refusal::Unasked(id.to_string()))?;
    if !is_open(desk, id) {
        return Err(Refusal::Answered(id.to_string()));
    }
    let options = || call.options.iter().map(|one| one.option_id.clone()).collect();
    let option = call.options.iter().find(|one| one.option_id == chosen);
    let option =
        option.ok_or_else(|| Refusal::NoOption { chosen: chosen.to_string(), options: options() })?;
    let source = call.source_ref.as_ref().and_then(|source| Reference::read(source.as_str()));
    if let Some((packet, decision)) = source
        .filter(|source| source.kind == "revision_review_packet")
        .and_then(|source| Some((source.id, Decision::find(chosen)?)))
    {
        return review::decided(desk, packet, decision, by, None);
    }
    resolve(desk, id, &option.option_id, by)?;
    keep(desk, &call, &option.option_id)?;
    if let (Some(subject), Effect::GrantSideEffect) = (&call.source_ref, option.effect) {
        outside::answered(desk, subject, person(by)?)?;
    }
    if let Some(source) = source.filter(|source| source.kind == "criterion") {
        let subject_ref = reference("Criterion", source.id)?;
        label(desk, subject_ref, &option.option_id, by)?;
        acknowledge(desk, source.id, by)?;
    }
    let is_disputed = source.is_some_and(|one| DISPUTES.contains(&one.kind));
    if is_disputed && matches!(option.option_id.as_str(), ACCEPT | REVISE) {
        decide(desk, &call, &option.option_id, by)?;
    }
    if let Some(source) = option.option_id.strip_prefix(PREFER) {
        prefer(desk, &call, source)?;
    }
    if option.option_id == VERIFIED && source.is_some_and(|one| one.kind == "sufficiency_detection_result") {
        verify(desk, &call)?;
    }
    follow(desk, &call, option.effect)?;
    assist::decided(desk, &call.pending_policy.blocked_refs).map_err(unanswered)?;
    Ok(())
}

/// Keeps what a person wants to become of a version that is seen differently: they speak in the next look at it.
fn decide(desk: &mut Desk, call: &HardRevisionCall, word: &str, by: &str) -> Result<(), Error> {
    let blocked = call.pending_policy.blocked_refs.iter().filter_map(|one| Reference::read(one));
    let outcomes = blocked.filter(|one| one.kind == "outcome_record");
    let chains: Vec<String> = outcomes.filter_map(|one| evaluate::last_chain(desk, one.id)).collect();
    for chain in chains {
        let subject_ref = reference("EvaluationChainRegistryRecord", &chain)?;
        label(desk, subject_ref, word, by)?;
    }
    Ok(())
}

/// Writes what a person says of something.
fn label(desk: &mut Desk, subject_ref: StorageRef, word: &str, by: &str) -> Result<(), Error> {
    desk.put(&HumanFeedbackEvent {
        event_id: desk.id("label"),
        run_id: desk.run().to_string(),
        subject_ref,
        user_ref: reference("User", by)?,
        label: word.to_string(),
        comment: None,
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    Ok(())
}

/// Why a request for help can't be closed.
fn unanswered(refusal: assist::Refusal) -> Error {
    match refusal {
        assist::Refusal::Unwritten(error) => error,
        other => Error::Missing(other.to_string()),
    }
}

/// Keeps the answer for when the same is asked again.
fn keep(desk: &mut Desk, call: &HardRevisionCall, chosen: &str) -> Result<(), Error> {
    let Some(kind) = call.hard_call_kind else { return Ok(()) };
    let options = call.options.write().unwrap_or(Json::Null);
    let options_hash =
        text::value_hash(&options).ok_or_else(|| Error::Missing("hash of the options".into()))?;
    let id = desk.id("answer-kept");
    desk.put_named(
        &id,
        &HardCallResolution {
            hard_call_kind: kind,
            prompt_text: call.prompt_text.clone(),
            options: call.options.clone(),
            normalized_prompt_hash: String::from(text::hash(&call.prompt_text)),
            normalized_options_hash: String::from(options_hash),
            selected_option_id: chosen.to_string(),
            expires_at: desk.later(KEPT_MS),
            schema_version: Some(V10),
        },
    )?;
    Ok(())
}

/// Who answers for a criterion that rests on nothing knows that it does; from then on it counts, and is marked.
fn acknowledge(desk: &mut Desk, criterion: &str, by: &str) -> Result<(), Error> {
    let local = desk.local(criterion).to_string();
    let own = |one: &&Outcome| one.criteria.iter().any(|criterion| criterion.id == local);
    let Some(outcome) = desk.task().outcomes.iter().find(own).cloned() else { return Ok(()) };
    let basis = outcome.criteria.iter().find(|one| one.id == local).map(|one| one.basis);
    if basis != Some(ScoringBasis::UnanchoredLlmJudgment) {
        return Ok(());
    }
    desk.put(&UnanchoredAcknowledgment {
        acknowledgment_id: desk.id("acknowledged"),
        criterion_id: criterion.to_string(),
        outcome_id: desk.own(&outcome.id),
        user_ref: person(by)?,
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    opening::count_unanchored(desk, &outcome)
}

/// Where the outcomes that waited go.
fn follow(desk: &mut Desk, call: &HardRevisionCall, effect: Effect) -> Result<(), Error> {
    for blocked in &call.pending_policy.blocked_refs {
        let outcome = Reference::read(blocked).filter(|read| read.kind == "outcome_record");
        let Some(id) = outcome.map(|read| desk.local(read.id).to_string()) else { continue };
        match (effect, outcome::state(desk, &id)) {
            (Effect::AbortScope, _) => {
                outcome::go(desk, &id, State::Superseded, "newer contract/outcome version", None)?;
            }
            (_, State::NeedsHumanJudgment | State::MaxIterationsReached) => {
                outcome::go(desk, &id, State::Dirty, "HardCallResolutionReceipt", None)?;
            }
            (_, _elsewhere) => {}
        }
    }
    Ok(())
}

/// The source that a person said counts where sources disagree, as the task calls it.
#[must_use]
pub fn preferred(desk: &Desk) -> Option<String> {
    let mut chosen = desk.all::<HardCallResolutionReceipt>().filter_map(|one| one.selected_option_id).rev();
    chosen.find_map(|option| option.strip_prefix(PREFER).map(ToString::to_string))
}

/// One source counts more than those it disagrees with: each says so from now on, and claims are weighed by that.
fn prefer(desk: &mut Desk, call: &HardRevisionCall, source: &str) -> Result<(), Error> {
    let offered = call.options.iter().filter_map(|one| one.option_id.strip_prefix(PREFER));
    let offered: Vec<String> = offered.map(ToString::to_string).collect();
    for id in &offered {
        let level = if id == source { Authority::Binding } else { Authority::Advisory };
        workspace::give_authority(desk, id, level)?;
    }
    opening::weigh_by_authority(desk)
}

/// A person has verified the sources that a question is about: those that were to be verified for the outcomes that wait.
fn verify(desk: &mut Desk, call: &HardRevisionCall) -> Result<(), Error> {
    let waiting: Vec<&str> = call
        .pending_policy
        .blocked_refs
        .iter()
        .filter_map(|one| Reference::read(one))
        .map(|read| read.id)
        .collect();
    let last = desk.all::<VerificationRequestStep>().rfind(|one| waiting.contains(&one.outcome_id.as_str()));
    let sources = last.map(|one| one.source_record_refs).unwrap_or_default();
    for source in sources.iter().filter_map(|one| Reference::read(one.as_str())) {
        let id = desk.local(source.id).to_string();
        workspace::verify(desk, &id)?;
    }
    Ok(())
}

/// What was answered, in order: the question and the option.
#[must_use]
pub fn answered(desk: &Desk) -> Vec<(HardRevisionCall, HardCallResolutionReceipt)> {
    let calls: Vec<HardRevisionCall> = desk.all().collect();
    desk.all::<HardCallResolutionReceipt>()
        .filter_map(|one| {
            let call = calls.iter().find(|call| call.hard_call_id == one.hard_call_id)?;
            Some((call.clone(), one))
        })
        .collect()
}
