//! What an evaluation teaches the rest of the run.
//! Owns: guidance, made of feedback; how it lives, who disputes it. Must not: carry it into another run, or write a text.

use crate::desk::{Desk, Error, reference};
use crate::finding;
use crate::names::{ENGINE, ROUTER};
use crate::show::person;
use crate::workspace;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::machine;
use countersign_govern::types::added::outcome::{ContestationRequest, EvaluationFeedbackBundle};
use countersign_govern::types::added::sourcing::DerivationEdge;
use countersign_govern::types::basic::{StorageRef, V10};
use countersign_govern::types::guidance::{
    RunGuidanceCreationEvent, RunGuidanceLifecycleReceipt, RunGuidanceLifecycleState as State,
};

/// Guidance, and how it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guidance {
    /// What it is called.
    pub id: String,
    /// What it says.
    pub text: String,
    /// What it is about.
    pub scope_ref: StorageRef,
    /// The event that made it.
    pub event_ref: StorageRef,
    /// How it stands.
    pub state: State,
}

/// How a dispute ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The guidance holds.
    Withdrawn,
    /// It does not.
    Upheld,
}

/// All guidance of the run, in order.
#[must_use]
pub fn all(desk: &Desk) -> Vec<Guidance> {
    desk.all::<RunGuidanceCreationEvent>()
        .filter_map(|event| {
            let state = desk.says("run_guidance_item_current", &event.guidance_id, "lifecycle_state")?;
            Some(Guidance {
                event_ref: reference("RunGuidanceCreationEvent", &event.event_id).ok()?,
                id: event.guidance_id,
                text: event.guidance_text,
                scope_ref: event.scope_ref,
                state: State::find(state)?,
            })
        })
        .collect()
}

/// The guidance that counts.
#[must_use]
pub fn active(desk: &Desk) -> Vec<Guidance> {
    all(desk).into_iter().filter(|one| one.state == State::Active).collect()
}

/// Makes guidance of a bundle of feedback, in place of what was said of the same before; nothing, if the bundle says nothing.
///
/// # Errors
/// The bundle is not there, or something can't be written.
pub fn of_bundle(desk: &mut Desk, bundle: &str) -> Result<Option<String>, Error> {
    let source = desk.find::<EvaluationFeedbackBundle>("EvaluationFeedbackBundle", bundle);
    let source = source.ok_or_else(|| Error::Missing(bundle.to_string()))?;
    let findings: Vec<finding::Known> =
        finding::all(desk).into_iter().filter(|one| one.event.result_id == source.result_id).collect();
    let Some(scope_ref) = findings.iter().find_map(|one| one.event.target_artifact_ref.clone()) else {
        return Ok(None);
    };
    let texts: BTreeSet<&str> = findings.iter().map(|one| one.event.finding_text.as_str()).collect();
    let text = texts.into_iter().collect::<Vec<&str>>().join(" ");
    let before: Vec<Guidance> = all(desk).into_iter().filter(|one| one.scope_ref == scope_ref).collect();
    if before.iter().any(|one| one.text == text && one.state == State::Active) {
        return Ok(None);
    }
    let (guidance_id, event_id) = (desk.id("guidance"), desk.id("guidance-made"));
    let (taint, _, _) = workspace::whole(desk);
    let event_ref = desk.put(&RunGuidanceCreationEvent {
        event_id,
        guidance_id: guidance_id.clone(),
        source_feedback_bundle_ref: reference("EvaluationFeedbackBundle", bundle)?,
        guidance_text: text,
        scope_ref,
        created_at: desk.now(),
        schema_version: V10,
        taint_class: Some(taint),
    })?;
    let mut input_refs = Vec::new();
    for known in &findings {
        input_refs.push(reference("EvaluationFindingEvent", &known.event.finding_event_id)?);
    }
    desk.put(&DerivationEdge {
        output_ref: event_ref,
        input_refs,
        sanitization_ref: None,
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    go(desk, &guidance_id, State::Active, ROUTER, "feedback of this run")?;
    for old in before.iter().filter(|one| one.state == State::Active) {
        go(desk, &old.id, State::Superseded, ROUTER, "there is newer guidance")?;
    }
    Ok(Some(guidance_id))
}

/// Makes guidance of the bundles of feedback that came since there was some.
///
/// # Errors
/// Something can't be written.
pub fn renew(desk: &mut Desk) -> Result<(), Error> {
    let made = desk.each::<RunGuidanceCreationEvent>("RunGuidanceCreationEvent").next_back();
    let made = made.map_or(0, |found| found.seq);
    let bundles = desk.each::<EvaluationFeedbackBundle>("EvaluationFeedbackBundle");
    let new: Vec<String> =
        bundles.filter(|one| one.seq > made).map(|one| one.record.feedback_bundle_id).collect();
    for bundle in new {
        of_bundle(desk, &bundle)?;
    }
    Ok(())
}

fn go(desk: &mut Desk, id: &str, to: State, by: &str, reason: &str) -> Result<(), Error> {
    let from = desk.says("run_guidance_item_current", id, "lifecycle_state").and_then(State::find);
    let from = from.ok_or_else(|| Error::Missing(id.to_string()))?;
    if !machine::GUIDANCE.allows(from.as_str(), to.as_str()) {
        return Err(Error::Missing(alloc::format!("way for {id} from {} to {}", from.as_str(), to.as_str())));
    }
    desk.put(&RunGuidanceLifecycleReceipt {
        receipt_id: desk.id("guidance-moved"),
        guidance_id: id.to_string(),
        from_state: from,
        to_state: to,
        actor_ref: by.to_string(),
        reason: reason.to_string(),
        created_at: desk.now(),
        schema_version: V10,
    })?;
    Ok(())
}

/// A person disputes guidance: nobody goes by it until that is settled.
///
/// # Errors
/// It does not count, or something can't be written.
pub fn contest(desk: &mut Desk, id: &str, by: &str, grounds: &str) -> Result<(), Error> {
    let user_ref = person(by)?;
    let guidance = active(desk).into_iter().find(|one| one.id == id);
    let guidance = guidance.ok_or_else(|| Error::Missing(alloc::format!("guidance {id} that counts")))?;
    desk.put(&ContestationRequest {
        request_id: desk.id("disputed"),
        subject_ref: guidance.event_ref,
        user_ref: user_ref.clone(),
        grounds: grounds.to_string(),
        evidence_refs: Vec::new(),
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    go(desk, id, State::Contested, user_ref.as_str(), grounds)
}

/// A dispute ends.
///
/// # Errors
/// There is none, or it can't be written.
pub fn settle(desk: &mut Desk, id: &str, how: Settled, by: &str) -> Result<(), Error> {
    let user = person(by)?;
    let (to, reason) = match how {
        Settled::Withdrawn => (State::Active, "the dispute was withdrawn"),
        Settled::Upheld => (State::Rejected, "the dispute was upheld"),
    };
    go(desk, id, to, user.as_str(), reason)
}

/// The run ends, and what it taught with it.
///
/// # Errors
/// Something can't be written.
pub fn expire(desk: &mut Desk) -> Result<(), Error> {
    for one in all(desk) {
        match one.state {
            State::Proposed | State::Active | State::Contested => {
                go(desk, &one.id, State::Expired, ENGINE, "the run is over")?;
            }
            State::Superseded | State::Expired | State::Rejected => {}
        }
    }
    Ok(())
}
