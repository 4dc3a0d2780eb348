//! How far a claim is from being supported, and which places it had better cite, found again in the bytes.
//! Owns: counting and finding them. Must not: say what follows; findings and steps do.

use super::{CHECK, Places, Source, current, parts, read, said, stated};
use crate::case::{Case, Text, bare};
use crate::formula::{Ungathered, missing};
use crate::found::Found;
use crate::report::Check;
use crate::walk::Walk;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::derive::reliance::is_doubtful;
use countersign_govern::member::Member;
use countersign_govern::types::source::LegalTreatmentStatus;
use countersign_govern::world::Record;
use countersign_kernel::claim::Cite;
use countersign_kernel::claim::better::{better, cites, recited};
use countersign_record::digest::Digest;
use countersign_record::time::Instant;

/// How far a claim is from being supported. Of one that is, or that a source contradicts, nothing is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    /// Places that speak for it and say all of it.
    pub(crate) direct: u64,
    /// Places that must.
    pub(crate) needed: u64,
    /// Places that it had better cite than those that it does.
    pub(crate) better: u64,
}

/// Places that must say a claim, by the policy that holds at a place.
fn needed(case: &Case<'_>, place: u64) -> u64 {
    let policy = case.before("ClaimSupportDerivationPolicy", &case.own("policy.claim-support"), place);
    let count =
        policy.and_then(|one| one.json().count("required_for_supported.min_direct_supporting_anchors"));
    count.unwrap_or(1).max(1)
}

/// How far a claim of a version that stands somehow is from being supported.
pub(super) fn reach<'c>(
    walk: &mut Walk<'c, '_>,
    (version, claim): (Record<'c>, &str),
    status: &str,
    places: &Places<'c>,
    at: Record<'c>,
) -> Reach {
    if !matches!(status, "unsupported" | "partially_supported") {
        return Reach::default();
    }
    let direct =
        places.anchors.iter().filter(|one| one.json().is("support_strength", "direct")).count() as u64;
    let better = to_cite(walk, (version, claim), at).map_or(0, |all| all.len() as u64);
    Reach { direct, needed: needed(walk.case, at.seq()), better }
}

/// A place to cite, and the source that it is in, as the run calls it.
pub(crate) struct ToCite<'c> {
    pub(crate) source: &'c str,
    pub(crate) cite: Cite<'c>,
}

/// The places that a claim of a version had better cite, where a record stands.
pub(crate) fn to_cite<'c>(
    walk: &mut Walk<'c, '_>,
    (version, claim): (Record<'c>, &str),
    at: Record<'c>,
) -> Result<Vec<ToCite<'c>>, Ungathered> {
    let case = walk.case;
    let work = match case.content(version).text() {
        Text::Here(work) => work,
        Text::Withheld => return Err(Ungathered::Withheld),
        Text::Missing => return missing(format!("the text of {} is not in the packet", version.id())),
    };
    if super::are_withheld(case, at.seq()) {
        return Err(Ungathered::Withheld);
    }
    let Some((artifact, name)) = parts(claim) else { return missing(format!("{claim} is no claim")) };
    let claim = said(case, artifact, work).into_iter().find(|(own, _)| own == name);
    let Some((_, claim)) = claim.filter(|(_, one)| one.is_held && !one.cites.is_empty()) else {
        return Ok(Vec::new());
    };
    let (here, texts) = read(walk, at.seq());
    let good: Vec<bool> = here.iter().map(|(one, _)| is_good(walk, one, walk.at(at))).collect();
    let texts: Vec<_> = texts.iter().collect();
    let needed = usize::try_from(needed(case, at.seq())).unwrap_or(usize::MAX);
    let places = better(&claim, &texts, needed, |one| good.get(one).copied().unwrap_or(false));
    let named = places.iter().filter_map(|place| here.get(place.source)).map(|(source, _)| source.id);
    Ok(named.zip(cites(&texts, &places)).map(|(source, cite)| ToCite { source, cite }).collect())
}

fn is_good(walk: &Walk<'_, '_>, source: &Source<'_>, now: Option<Instant>) -> bool {
    walk.standing("SourceRecord", source.id).is_some_and(|one| {
        let is_stale = one.time("fresh_until").zip(now).is_some_and(|(until, now)| until <= now);
        let treatment = one.text("legal_payload.treatment_status").and_then(LegalTreatmentStatus::find);
        !is_doubtful(one.is("verification_state", "verified"), is_stale, treatment)
    })
}

/// The text of a version in which the sentence of a claim cites other places; the same if it claims no such thing.
pub(crate) fn cited_otherwise(work: &str, claim: &str, places: &[ToCite<'_>]) -> String {
    let name = parts(claim).map(|(_, name)| name).unwrap_or_default();
    let cites: Vec<Cite<'_>> = places.iter().map(|one| one.cite).collect();
    let mut text = work.to_string();
    for one in super::said::sentences(work).iter().rev() {
        if one.cites.is_empty() || super::said::name(one) != name {
            continue;
        }
        let sentence = recited(work.get(one.span.clone()).unwrap_or_default(), &cites);
        text.replace_range(one.span.clone(), &sentence);
    }
    text
}

/// Whether some place said a claim when it was looked at last.
fn is_said(case: &Case<'_>, claim: &str, place: u64) -> bool {
    let derived = case.until("ClaimSupportDerivationReceipt", place);
    let derived = derived.filter(|one| one.json().is("claim_ref", claim)).last();
    let anchors: Vec<&str> = derived.map(stated).unwrap_or_default();
    let mut anchors =
        anchors.into_iter().filter_map(|one| case.before("SourceEvidenceAnchor", bare(one), place));
    anchors.any(|one| one.json().is("support_strength", "direct"))
}

/// What a search for a source of a claim ends with, where a record stands: how the question stands then, why, and what answers it.
pub(crate) fn searched<'c>(
    walk: &mut Walk<'c, '_>,
    need: &str,
    at: Record<'c>,
) -> Result<(&'static str, &'static str, Option<String>), Ungathered> {
    let case = walk.case;
    let asked = case.before("ResearchNeed", need, at.seq());
    let claim = asked.and_then(|one| one.json().texts("target_refs").first().copied()).unwrap_or_default();
    let Some((artifact, _)) = parts(claim) else { return missing("it asks for no claim") };
    let Some(version) = current(case, artifact, at.seq()) else {
        return missing(format!("there is no version of {artifact}"));
    };
    let found = to_cite(walk, (version, claim), at)?;
    Ok(match (found.first(), is_said(case, claim, at.seq())) {
        (Some(first), _) => ("answered", "answered", Some(format!("src:{}", first.source))),
        (None, true) => ("unresolved", "no other place in the sources of this run says it", None),
        (None, false) => ("unresolved", "no source of this run says it", None),
    })
}

/// A version that a step made that only changes what a sentence cites is the text before with these citations.
pub(crate) fn recited_version<'c>(
    walk: &mut Walk<'c, '_>,
    record: Record<'c>,
    (base, claim): (Record<'c>, &str),
    found: &mut Found,
) {
    let places = match to_cite(walk, (base, claim), record) {
        Ok(places) => places,
        Err(Ungathered::Withheld) => return found.withheld(CHECK),
        Err(Ungathered::Missing(why)) => return walk.underivable(CHECK, record, why, found),
    };
    let Text::Here(work) = walk.case.content(base).text() else { return found.withheld(CHECK) };
    let text = cited_otherwise(work, claim, &places);
    let hash = String::from(Digest::of(text.as_bytes()));
    found.must(Check::Versions, record, "content_hash", Some(hash.into()));
}
