//! How far a claim is from being supported, and which places it had better cite.
//! Owns: counting the places that say it, finding better ones. Must not: cite them; a step of a plan does.

use super::{Place, Source, said};
use crate::desk::{Desk, Error};
use crate::names::Policy;
use crate::rely::is_doubtful;
use crate::task::Artifact;
use alloc::vec::Vec;
use countersign_govern::types::basic::ClaimRef;
use countersign_govern::types::claim::{
    ClaimSupportDerivationPolicy, ClaimSupportDerivationReceipt, ClaimSupportStatus as Status,
    EvidenceAnchorSupportStrength as Strength, SourceEvidenceAnchor,
};
use countersign_kernel::claim::better::{better, cites};
use countersign_kernel::claim::{Cite, Claim, bearing};

/// How far a claim is from being supported. Of one that is, or that a source contradicts, nothing is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Places that speak for it and say all of it.
    pub direct: u64,
    /// Places that must.
    pub needed: u64,
    /// Places that it had better cite than those that it does.
    pub better: u64,
}

impl Places {
    /// Those of a claim that stands somehow.
    pub(super) fn of(
        desk: &Desk,
        claim: &Claim<'_>,
        status: Status,
        places: &[Place],
        sources: &[Source<'_>],
    ) -> Result<Self, Error> {
        match status {
            Status::Unsupported | Status::PartiallySupported => {}
            Status::Supported
            | Status::Contradicted
            | Status::NotChecked
            | Status::IndeterminateStaleOrUnverified => return Ok(Places::default()),
        }
        let direct = places.iter().filter(|one| one.strength == Strength::Direct).count() as u64;
        let better = had_better(desk, claim, sources)?.len() as u64;
        Ok(Places { direct, needed: needed(desk)?, better })
    }
}

/// Places that must say a claim.
fn needed(desk: &Desk) -> Result<u64, Error> {
    let id = desk.policy(Policy::ClaimSupport);
    let policy: Option<ClaimSupportDerivationPolicy> = desk.find("ClaimSupportDerivationPolicy", &id);
    let policy = policy.ok_or(Error::Missing(id))?;
    Ok(policy.required_for_supported.min_direct_supporting_anchors.max(1))
}

/// A place to cite, and the source that it is in, as the task calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToCite<'t> {
    /// The source.
    pub source: &'t str,
    /// The place.
    pub cite: Cite<'t>,
}

fn had_better<'t>(
    desk: &Desk,
    claim: &Claim<'_>,
    sources: &'t [Source<'t>],
) -> Result<Vec<ToCite<'t>>, Error> {
    if claim.cites.is_empty() || !claim.is_held {
        return Ok(Vec::new());
    }
    let good = sources.iter().map(|one| Ok(!is_doubtful(desk, &desk.source_ref(one.id)?)));
    let good = good.collect::<Result<Vec<bool>, Error>>()?;
    let read: Vec<&bearing::Source<'t>> = sources.iter().map(|one| &one.read).collect();
    let needed = usize::try_from(needed(desk)?).unwrap_or(usize::MAX);
    let places = better(claim, &read, needed, |source| good.get(source).copied().unwrap_or(false));
    let named = places.iter().filter_map(|place| sources.get(place.source)).map(|source| source.id);
    Ok(named.zip(cites(&read, &places)).map(|(source, cite)| ToCite { source, cite }).collect())
}

/// The places that a claim of a text had better cite than those that it does; none if there are none, or the text does not claim that.
///
/// # Errors
/// What counts as support can't be read.
pub fn to_cite<'t>(
    desk: &Desk,
    artifact: &Artifact,
    text: &str,
    claim: &ClaimRef,
    sources: &'t [Source<'t>],
) -> Result<Vec<ToCite<'t>>, Error> {
    let Some((_, name)) = claim.as_str().rsplit_once('/') else { return Ok(Vec::new()) };
    let found = said(desk.task(), artifact, text).into_iter().find(|(own, _)| own == name);
    found.map_or_else(|| Ok(Vec::new()), |(_, claim)| had_better(desk, &claim, sources))
}

/// Whether some place said a claim when it was looked at last.
pub(crate) fn is_said(desk: &Desk, claim: &ClaimRef) -> bool {
    let kind = "ClaimSupportDerivationReceipt";
    let derived = desk.linked::<ClaimSupportDerivationReceipt>(kind, "claim_ref", claim.as_str()).next_back();
    let anchors = derived.map(|found| found.record.supporting_anchor_refs).unwrap_or_default();
    anchors.iter().filter_map(|one| one.as_str().split_once(':')).any(|(_, id)| {
        let anchor: Option<SourceEvidenceAnchor> = desk.find("SourceEvidenceAnchor", id);
        anchor.is_some_and(|one| one.support_strength == Strength::Direct)
    })
}
