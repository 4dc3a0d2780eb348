//! Commands about sources.
//! Owns: what follows where a file is another than the one that was taken in. Must not: take the new one in: that is another run.

use super::request::RecheckSourcesRequest;
use super::{By, Given};
use crate::claims::Claimed;
use crate::desk::{Desk, Error, reference};
use crate::finding;
use crate::library::{self, Gate};
use crate::names::ENGINE;
use crate::outcome;
use crate::score;
use crate::task::{Outcome, Source};
use crate::texts::{self, Head};
use crate::workspace;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::types::basic::{ClaimRef, ScoringBasis, StorageRef};
use countersign_govern::types::claim::{ClaimSupportDerivationReceipt, ClaimSupportStatus};
use countersign_govern::types::finding::{
    FindingLifecycleTransitionReceiptTransitionReason as Reason, FindingState,
};
use countersign_govern::types::outcome::OutcomeEvaluationState as State;
use countersign_record::digest::Digest;

/// Compares the sources with what their files are now. One that is another, or gone, is out of date from here on: claims are derived
/// anew, findings on what changed give way, and outcomes that rest on it have to be looked at again.
pub(super) fn recheck(
    desk: &mut Desk,
    asked: &RecheckSourcesRequest,
    given: &Given<'_>,
) -> Result<(), Error> {
    let changed = changed(desk, asked);
    if changed.is_empty() {
        // That they were compared is on record too.
        workspace::read(desk)?;
        return Ok(());
    }
    let before = supported(desk);
    let mut receipts = Vec::new();
    for source in &changed {
        receipts.push(workspace::mark_stale(desk, source)?);
    }
    let heads = texts::checked(desk, given.contents)?;
    let is_moved = |claim: &Claimed| before.get(claim.claim_ref.as_str()) != Some(&claim.status);
    let moved: BTreeSet<ClaimRef> = heads
        .iter()
        .flat_map(|head| &head.claims)
        .filter(|one| is_moved(one))
        .map(|one| one.claim_ref.clone())
        .collect();
    findings_give_way(desk, &moved, &receipts)?;
    for one in desk.task().outcomes.clone() {
        if outcome::state(desk, &one.id) == State::Satisfied && rests_on(desk, &one, &heads, &moved) {
            outcome::go(desk, &one.id, State::Dirty, "artifact/source/upstream changed", None)?;
        }
    }
    Ok(())
}

/// Takes a source into the library: its bytes are kept under their hash, and other runs may name them so.
pub(super) fn promote(desk: &mut Desk, source: &str, by: &By<'_>) -> Result<(), Error> {
    let candidate = library::propose(desk, source, &by.reference()?)?;
    let tier = desk.task().policies().library().access_tier().to_string();
    let unshelved = |refusal: library::Refusal| match refusal {
        library::Refusal::Unwritten(error) => error,
        library::Refusal::NotWaiting(_) => Error::Missing(refusal.to_string()),
    };
    match library::approve(desk, &candidate, by.name, &tier).map_err(unshelved)? {
        Gate::Shut(_) => Ok(()),
        Gate::Open => {
            let hash = workspace::hash_of(desk, source).ok_or_else(|| Error::Missing(source.to_string()))?;
            let entry = reference("LibraryEntry", &String::from(hash))?;
            library::promoted(desk, &candidate, &entry).map_err(unshelved)
        }
    }
}

/// The sources whose files are not what was taken in, and that were up to date until now.
fn changed(desk: &Desk, asked: &RecheckSourcesRequest) -> Vec<Source> {
    let is_gone = |id: &String| asked.gone.iter().flatten().any(|gone| gone == id);
    let is_other = |source: &&Source| {
        let taken = workspace::hash_of(desk, &source.id);
        let now = asked.found.get(&source.id).map(|hash| Digest::try_from(hash.as_str()).ok());
        is_gone(&source.id) || now.is_some_and(|now| now != taken)
    };
    let is_fresh = |source: &&Source| !workspace::is_stale(desk, &source.id);
    let known = desk.task().sources.iter().filter(|source| source.tier() > 0);
    known.filter(is_other).filter(is_fresh).cloned().collect()
}

/// How each claim was supported last.
fn supported(desk: &Desk) -> BTreeMap<String, ClaimSupportStatus> {
    let all = desk.all::<ClaimSupportDerivationReceipt>();
    all.map(|one| (one.claim_ref.as_str().to_string(), one.derived_support_status)).collect()
}

/// Findings about claims whose support is another now say nothing of what is so.
fn findings_give_way(
    desk: &mut Desk,
    moved: &BTreeSet<ClaimRef>,
    receipts: &[StorageRef],
) -> Result<(), Error> {
    for known in finding::all(desk) {
        let is_about = known.event.affected_claim_refs.iter().any(|claim| moved.contains(claim));
        match known.state {
            FindingState::Proposed
            | FindingState::Active
            | FindingState::Contested
            | FindingState::UserApproved
            | FindingState::ToolVerified
            | FindingState::HumanVerified
                if is_about =>
            {
                let to = FindingState::SupersededBySourceChange;
                finding::go(desk, &known, to, Reason::SourceChanged, ENGINE, receipts.to_vec())?;
            }
            FindingState::Proposed
            | FindingState::Active
            | FindingState::Contested
            | FindingState::UserApproved
            | FindingState::ToolVerified
            | FindingState::HumanVerified
            | FindingState::Unrecoverable
            | FindingState::Resolved
            | FindingState::SupersededByRevision
            | FindingState::SupersededBySourceChange
            | FindingState::Expired
            | FindingState::RejectedByUser
            | FindingState::Dismissed => {}
        }
    }
    Ok(())
}

/// Whether an outcome asks for claims to be supported, and one of its own is supported otherwise now.
fn rests_on(desk: &Desk, outcome: &Outcome, heads: &[Head], moved: &BTreeSet<ClaimRef>) -> bool {
    let Some(artifact) = desk.task().artifact_of(outcome) else { return false };
    let is_grounded = outcome.criteria.iter().any(|one| one.basis == ScoringBasis::SourceGrounded);
    let heading = score::heading(outcome, artifact);
    let own = heads.iter().filter(|head| head.artifact.id == artifact.id).flat_map(|head| &head.claims);
    let mut own = own.filter(|claim| heading.is_none() || claim.section.as_deref() == heading);
    is_grounded && own.any(|claim| moved.contains(&claim.claim_ref))
}
