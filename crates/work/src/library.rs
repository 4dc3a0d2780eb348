//! Sources that shall enter the library, so that other runs may read them.
//! Owns: the wish, the gate, what became of it. Must not: write the library, or let a source in that its gate does not.

use crate::desk::{Desk, Error, reference};
use crate::life;
use crate::names::ENGINE;
use crate::show::person;
use crate::workspace::{self, Act};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::reference::Reference;
use countersign_govern::types::added::policy::{PolicyDecision, PolicyEvaluation, UserConfirmation};
use countersign_govern::types::basic::{False, LibraryTier, PolicyEvaluationRef, StorageRef, V10};
use countersign_govern::types::library::{
    LibraryPromotionCandidate as Candidate, LibraryPromotionCandidateStatus as Status, LibraryPromotionGate,
    LibraryPromotionGateRequiresVerificationState as Verification, LibraryPromotionReceipt,
    LibraryPromotionReceiptStatus as Became,
};
use countersign_govern::types::source::{SourceRecord, VerificationState};
use countersign_govern::types::workspace::SourceWorkspaceOperationKind as Kind;

/// What a gate says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gate {
    /// It lets the source in: the library may be written.
    Open,
    /// It does not, and why.
    Shut(String),
}

/// Why nothing becomes of a wish.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no such wish that waits.
    #[error("no promotion {0} waits for that")]
    NotWaiting(String),
    /// It can't be written.
    #[error(transparent)]
    Unwritten(#[from] Error),
}

/// Asks for a source to be taken into the library; gives what the wish is called.
///
/// # Errors
/// The source is not there, or it can't be written.
pub fn propose(desk: &mut Desk, source: &str, by: &StorageRef) -> Result<String, Error> {
    let asked = desk.task().source(source).cloned().ok_or_else(|| Error::Missing(source.to_string()))?;
    gate(desk)?;
    let candidate_id = desk.id("promotion");
    let subject = reference("LibraryPromotionCandidate", &candidate_id)?;
    let act = Act { payload: Some(subject), ..Act::plain(Kind::PromoteLibraryCandidate) };
    let act = act.of(desk, &asked);
    workspace::operate(desk, &act)?;
    let candidate = Candidate {
        candidate_id: candidate_id.clone(),
        source_record_ref: desk.source_ref(source)?,
        workspace_id: desk.workspace_id(),
        requested_by_ref: by.as_str().to_string(),
        status: Status::Queued,
        created_at: desk.now(),
        schema_version: V10,
    };
    desk.open("LibraryPromotionCandidate", &candidate)?;
    Ok(candidate_id)
}

/// What the gate of this run is called.
fn gate_id(desk: &Desk) -> String {
    desk.own("library-gate")
}

/// The gate of this run, written once: a person must let a source pass.
fn gate(desk: &mut Desk) -> Result<(), Error> {
    let gate_id = gate_id(desk);
    if desk.find::<LibraryPromotionGate>("LibraryPromotionGate", &gate_id).is_some() {
        return Ok(());
    }
    let policy = desk.task().policies().library();
    let decided_at = desk.now();
    let leave = desk.put(&PolicyEvaluation {
        policy_evaluation_id: desk.own("library-leave"),
        policy_id: "library".to_string(),
        policy_version: "1.0".to_string(),
        decision: PolicyDecision::RequireHuman,
        user_alterable: false,
        decided_at,
        superseded_by: None,
        schema_version: Some(V10),
    })?;
    desk.put(&LibraryPromotionGate {
        gate_id,
        min_tier: if policy.tier_min() > 2 { LibraryTier::Three } else { LibraryTier::Two },
        requires_verification_state: match policy.requires_verified() {
            true => Verification::Verified,
            false => Verification::NotRequired,
        },
        ec_policy_decision_ref: PolicyEvaluationRef::try_from(leave.as_str())
            .map_err(|_| Error::Unnameable(leave.as_str().to_string()))?,
        requires_access_tier: policy.access_tier().to_string(),
        privileged_sources_auto_promote_allowed: False,
        schema_version: V10,
    })?;
    Ok(())
}

/// The wishes of the run, as they stand.
#[must_use]
pub fn all(desk: &Desk) -> Vec<Candidate> {
    let mut ids: Vec<String> = Vec::new();
    for found in desk.each::<Candidate>("LibraryPromotionCandidate") {
        if !ids.contains(&found.id) {
            ids.push(found.id);
        }
    }
    ids.iter().filter_map(|id| desk.standing("LibraryPromotionCandidate", id)).collect()
}

/// Whether a source has been taken in from this run, by the task's name for it.
#[must_use]
pub fn is_in(desk: &Desk, source: &str) -> bool {
    let own = desk.source_ref(source).ok();
    let of_source = |one: &Candidate| Some(&one.source_record_ref) == own.as_ref();
    all(desk).iter().any(|one| of_source(one) && one.status == Status::Promoted)
}

fn waiting(desk: &Desk, candidate: &str, status: Status) -> Result<(Candidate, StorageRef), Refusal> {
    let found = all(desk).into_iter().find(|one| one.candidate_id == candidate && one.status == status);
    let found = found.ok_or_else(|| Refusal::NotWaiting(candidate.to_string()))?;
    Ok((found, reference("LibraryPromotionCandidate", candidate)?))
}

/// A person of an access tier approves. The gate looks at the source then; where it is shut, the wish ends.
///
/// # Errors
/// Nothing waits for that, or it can't be written.
pub fn approve(desk: &mut Desk, candidate: &str, by: &str, access_tier: &str) -> Result<Gate, Refusal> {
    let (found, subject) = waiting(desk, candidate, Status::Queued)?;
    let user_ref = person(by)?;
    desk.put(&UserConfirmation {
        confirmation_id: desk.id("confirmed"),
        user_ref: user_ref.clone(),
        subject_ref: subject.clone(),
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    let (queued, approved) = (Status::Queued.as_str(), Status::Approved.as_str());
    life::go(desk, &subject, (queued, approved), user_ref.as_str(), "a person lets it in")?;
    let gate = look(desk, &found, access_tier);
    if let Gate::Shut(_) = &gate {
        ended(desk, candidate, Became::BlockedByPolicy, None)?;
    }
    Ok(gate)
}

/// What the gate would say of a source, by the task's name for it, to a person of an access tier.
#[must_use]
pub fn would(desk: &Desk, source: &str, access_tier: &str) -> Gate {
    said(desk, &desk.own(source), access_tier)
}

/// What the gate says of a source, as it stands.
fn look(desk: &Desk, candidate: &Candidate, access_tier: &str) -> Gate {
    let source = Reference::read(candidate.source_record_ref.as_str()).map(|read| read.id);
    said(desk, source.unwrap_or_default(), access_tier)
}

fn said(desk: &Desk, source: &str, access_tier: &str) -> Gate {
    let policy = desk.task().policies().library();
    let source: Option<SourceRecord> = desk.find("SourceRecord", source);
    let Some(source) = source else { return Gate::Shut("the source is not there".to_string()) };
    let tier = workspace::number(source.tier);
    if tier < policy.tier_min() {
        Gate::Shut(format!("the source is of tier {tier}, and it takes {}", policy.tier_min()))
    } else if policy.requires_verified() && source.verification_state != Some(VerificationState::Verified) {
        Gate::Shut("nobody verified the source".to_string())
    } else if access_tier != policy.access_tier() {
        Gate::Shut(format!("it takes the access of a {}", policy.access_tier()))
    } else {
        Gate::Open
    }
}

/// The library was written: the source is in it.
///
/// # Errors
/// Nothing waits for that, or it can't be written.
pub fn promoted(desk: &mut Desk, candidate: &str, written: &StorageRef) -> Result<(), Refusal> {
    waiting(desk, candidate, Status::Approved)?;
    ended(desk, candidate, Became::Promoted, Some(written.clone()))?;
    Ok(())
}

/// The wish is not followed: the run ends.
///
/// # Errors
/// It can't be written.
pub fn cancel(desk: &mut Desk) -> Result<(), Error> {
    for one in all(desk) {
        match one.status {
            Status::Queued | Status::Approved => {
                let subject = reference("LibraryPromotionCandidate", &one.candidate_id)?;
                let ways = (one.status.as_str(), Status::Cancelled.as_str());
                life::go(desk, &subject, ways, ENGINE, "the run is over")?;
            }
            Status::Rejected | Status::Promoted | Status::Cancelled => {}
        }
    }
    Ok(())
}

fn ended(desk: &mut Desk, candidate: &str, status: Became, written: Option<StorageRef>) -> Result<(), Error> {
    let cleared = written.is_some().then(|| desk.task().policies().library().access_tier().to_string());
    desk.put(&LibraryPromotionReceipt {
        receipt_id: desk.id("promoted"),
        candidate_id: candidate.to_string(),
        gate_ref: reference("LibraryPromotionGate", &gate_id(desk))?,
        durable_library_write_ref: written,
        status,
        created_at: desk.now(),
        schema_version: V10,
        cleared_by_access_tier: cleared,
    })?;
    Ok(())
}
