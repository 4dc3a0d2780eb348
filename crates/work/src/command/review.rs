//! Commands on changes that wait for a reviewer.
//! Owns: leading a decision to what it changes. Must not: change a text.

use super::request::{Command, ForkCandidateRequest, RestoreKnownGoodRequest};
use super::{By, Effect, Given, standing};
use crate::artifact;
use crate::call;
use crate::desk::{Desk, Error, reference};
use crate::revise::{self, Decision, cascade, review};
use crate::travel::{self, fork};
use alloc::string::ToString;
use countersign_govern::decide::fork::Restoring;
use countersign_govern::reference::Reference;
use countersign_govern::types::added::artifact::ArtifactVersion;
use countersign_govern::types::basic::{ArtifactVersionState as State, V10};
use countersign_govern::types::checkpoint::KnownGoodCheckpoint;
use countersign_govern::types::review::{
    RevisionReviewDecisionReceipt, RevisionReviewDecisionReceiptAction as Action, RevisionReviewPacket,
};
use countersign_record::digest::Digest;

fn shown(desk: &Desk, command: &Command) -> Result<RevisionReviewPacket, Error> {
    standing::review_of(desk, command).ok_or_else(|| Error::Missing("review".to_string()))
}

pub(super) fn checkpoint(desk: &Desk, name: Option<&str>) -> Result<KnownGoodCheckpoint, Error> {
    travel::checkpoint::find(desk, name).ok_or_else(|| Error::Missing("checkpoint".to_string()))
}

/// A person accepts a change, refuses it, or wants another.
pub(super) fn decide(
    desk: &mut Desk,
    command: &Command,
    decision: Decision,
    by: &By<'_>,
    rationale: Option<&str>,
) -> Result<Effect, Error> {
    let packet = shown(desk, command)?;
    let asked = call::open_about(desk, &reference("RevisionReviewPacket", &packet.packet_id)?);
    revise::decided(desk, &packet.packet_id, decision, by.name, rationale).map_err(
        |refusal| match refusal {
            call::Refusal::Unwritten(error) => error,
            other => Error::Missing(other.to_string()),
        },
    )?;
    let option = decision.as_str().to_string();
    Ok(asked.map_or(Effect::Nothing, |call| Effect::Answered { question: call.hard_call_id, option }))
}

/// The versions of a checkpoint count again.
pub(super) fn restore(
    desk: &mut Desk,
    command: &Command,
    asked: &RestoreKnownGoodRequest,
    by: &By<'_>,
) -> Result<Effect, Error> {
    let packet = shown(desk, command)?;
    let kept = checkpoint(desk, asked.checkpoint_id.as_deref())?;
    let (receipt_id, actor, at) = (desk.id("restored"), by.reference()?, desk.clock().clone());
    let restoring = Restoring {
        receipt_id: &receipt_id,
        actor: &actor,
        rationale: &asked.rationale,
        seq: desk.end() + 1,
        at: &at,
    };
    let decision = fork::restored(desk, &packet, &kept, &restoring)?;
    let question = review::set_aside(desk, &decision, State::Rejected, by.name)?;
    for head in &kept.artifact_head_refs {
        let Some(id) = Reference::read(head.as_str()).map(|read| read.id.to_string()) else { continue };
        let missing = || Error::Missing(id.clone());
        let version: ArtifactVersion = desk.find("ArtifactVersion", &id).ok_or_else(missing)?;
        let local = desk.local(&version.artifact_stable_id).to_string();
        let version = artifact::versions(desk, &local).find(|one| one.id == id).ok_or_else(missing)?;
        if version.state != Some(State::AcceptedHead) {
            artifact::accept(desk, &local, &version)?;
            cascade::reopen(desk, &local)?;
        }
    }
    Ok(answered(question))
}

/// A change is tried in another run: that begins with it, and with what a checkpoint keeps of everything else.
pub(super) fn fork(
    desk: &mut Desk,
    command: &Command,
    asked: &ForkCandidateRequest,
    by: &By<'_>,
    given: &Given<'_>,
) -> Result<Effect, Error> {
    let packet = shown(desk, command)?;
    let kept = checkpoint(desk, asked.checkpoint_id.as_deref())?;
    let decision = RevisionReviewDecisionReceipt {
        receipt_id: desk.id("forked"),
        packet_id: packet.packet_id.clone(),
        action: Action::Fork,
        actor_ref: by.reference()?.as_str().to_string(),
        rationale: Some(asked.rationale.clone()),
        resulting_candidate_state: Some(State::Forked),
        command_ref: Some(command.id().to_string()),
        created_at: desk.now(),
        schema_version: V10,
        irrevocable_side_effects_at_fork: Some(fork::irreversible(desk)?),
        policy_decision_refs: None,
    };
    let question = review::set_aside(desk, &decision, State::Forked, by.name)?;
    let mut heads = fork::kept(desk, &kept);
    let candidate = Reference::read(packet.candidate_artifact_version_ref.as_str());
    let candidate: Option<ArtifactVersion> = candidate.and_then(|read| desk.find("ArtifactVersion", read.id));
    if let Some(candidate) = candidate
        && let Ok(content) = Digest::try_from(candidate.content_hash.as_str())
    {
        heads.insert(desk.local(&candidate.artifact_stable_id).to_string(), content);
    }
    let fork = fork::write(desk, &kept, given.new_run, &asked.rationale)?;
    let answered = question.map(|question| (question, Decision::Reject.as_str().to_string()));
    Ok(Effect::Forked { fork, heads, answered })
}

/// What is set aside is refused, where a question waited for it.
fn answered(question: Option<alloc::string::String>) -> Effect {
    let option = Decision::Reject.as_str().to_string();
    question.map_or(Effect::Nothing, |question| Effect::Answered { question, option })
}
