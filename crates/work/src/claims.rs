//! What the work claims, and how well sources support it.
//! Owns: claims with their places in sources, and the derivation of support. Must not: say what follows for an outcome.
//!
//! No words of the work or of a source stand in a row: a claim is named by a hash, a place by offsets, and what they say is in blobs.

mod places;

pub(crate) use places::is_said;
pub use places::{Places, ToCite, to_cite};

use crate::desk::{Desk, Error, From, reference};
use crate::names::Policy;
use crate::task::{Artifact, ArtifactKind, Task};
use crate::workspace;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;
use countersign_govern::check::authority;
use countersign_govern::derive::text;
use countersign_govern::types::added::sourcing::{AnchorResolution, TextAnchorResolutionReceipt};
use countersign_govern::types::anchor::{TextAnchor, TextAnchorHashAlgorithm};
use countersign_govern::types::basic::{ClaimRef, StorageRef, V10};
use countersign_govern::types::claim::{
    ClaimSupportDerivationPolicy, ClaimSupportDerivationReceipt,
    ClaimSupportDerivationReceiptDecisiveReason as Reason, ClaimSupportStatus as Status,
    EvidenceAnchorSupportStrength as Strength, SourceEvidenceAnchor, SourceEvidenceAnchorAnchorKind,
};
use countersign_govern::types::source::VerificationState;
use countersign_govern::types::wire::Wire;
use countersign_govern::types::workspace::{
    SourceWorkspaceOperationReceipt as Receipt, SourceWorkspaceOperationReceiptStatus,
};
use countersign_kernel::claim::bearing::{self, Bearing, bearings};
use countersign_kernel::claim::{Claim, claims, outline, unheld, whole};
use countersign_record::canonical;
use countersign_record::digest::Digest;
use countersign_record::json::{Json, Object};

/// Characters of a claim's name.
const NAME_CHARS: usize = 16;
/// Characters around a place that are kept to find it again.
const AROUND_CHARS: usize = 48;

/// A source that claims may rest on, as it was taken in.
pub struct Source<'t> {
    /// As the task calls it.
    pub id: &'t str,
    /// What it says.
    pub text: &'t str,
    /// The same, so that sentences are found.
    pub read: bearing::Source<'t>,
}

impl<'t> Source<'t> {
    /// A source by its id, its path in the task and its text.
    #[must_use]
    pub fn new(id: &'t str, path: &'t str, text: &'t str) -> Self {
        Source { id, text, read: bearing::Source::new(path, text) }
    }
}

/// A claim, and how it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// The reference to it.
    pub claim_ref: ClaimRef,
    /// The heading that it stands under.
    pub section: Option<String>,
    /// Where in the work.
    pub span: Range<usize>,
    /// How it is supported.
    pub status: Status,
    /// The receipt of that.
    pub receipt: StorageRef,
    /// The places that speak for it.
    pub supporting: Vec<StorageRef>,
    /// The places that speak against it.
    pub contradicting: Vec<StorageRef>,
    /// How far it is from being supported.
    pub places: Places,
}

/// What a claim is called: by its words, so that it keeps its name while it stays.
#[must_use]
pub fn name(claim: &Claim<'_>) -> String {
    let words = Json::Array(Vec::from([
        claim.section.unwrap_or_default().into(),
        text::canonical(&claim.text).as_str().into(),
    ]));
    let hash = canonical::hash_as_written(&words).to_string();
    hash.get(..NAME_CHARS).unwrap_or(&hash).to_string()
}

/// How a claim of an artifact was found to be supported last; `None` if nobody has looked at it.
#[must_use]
pub fn status(desk: &Desk, artifact: &str, name: &str) -> Option<Status> {
    let claim = desk.claim_ref(artifact, name).ok()?;
    let mut derived = desk.linked::<ClaimSupportDerivationReceipt>(
        "ClaimSupportDerivationReceipt",
        "claim_ref",
        claim.as_str(),
    );
    derived.next_back().map(|found| found.record.derived_support_status)
}

/// All that an artifact says, with what it is called: its sentences, each once with what all copies of it cite, and behind them the
/// parts that no source is held against.
pub(crate) fn said<'t>(task: &Task, artifact: &Artifact, text: &'t str) -> Vec<(String, Claim<'t>)> {
    let found: Vec<Claim<'t>> = match artifact.kind {
        ArtifactKind::Markdown => {
            let outline = outline(text);
            let own: Vec<&str> = task.headings(artifact).collect();
            claims(&outline).into_iter().chain(unheld(&outline, &own)).collect()
        }
        ArtifactKind::Json => Vec::from([whole(text)]),
        // What code may be is said by its CodeSpec, and held by that.
        ArtifactKind::Code => Vec::new(),
    };
    let mut all: Vec<(String, Claim<'t>)> = Vec::new();
    let mut at: BTreeMap<String, usize> = BTreeMap::new();
    for claim in found {
        let name = name(&claim);
        match at.get(&name).and_then(|at| all.get_mut(*at)) {
            Some((_, first)) => first.cites.extend(claim.cites),
            None => {
                at.insert(name.clone(), all.len());
                all.push((name, claim));
            }
        }
    }
    all
}

/// Looks at every claim of a text: finds the places that bear on it, resolves those that are known again, derives its support where
/// that is not known yet or sources have changed since.
///
/// # Errors
/// Something can't be written.
pub fn check(
    desk: &mut Desk,
    artifact: &Artifact,
    text: &str,
    sources: &[Source<'_>],
) -> Result<Vec<Claimed>, Error> {
    let read: Vec<&bearing::Source<'_>> = sources.iter().map(|one| &one.read).collect();
    let mut known = Known::of(desk);
    let mut all = Vec::new();
    for (name, claim) in said(desk.task(), artifact, text) {
        let claim_ref = desk.claim_ref(&artifact.id, &name)?;
        let mut places = Vec::new();
        let bears = if claim.is_held { bearings(&claim, &read) } else { Vec::new() };
        for bearing in bears {
            if let Some(source) = sources.get(bearing.source) {
                places.push(known.place(desk, &claim_ref, source, &bearing)?);
            }
        }
        let derived = known.support(desk, &claim_ref, &places, claim.is_held)?;
        let of = |wanted: bool| -> Vec<StorageRef> {
            let own = places.iter().filter(|one| (one.strength == Strength::Contradicts) == wanted);
            own.map(|one| one.anchor.clone()).collect()
        };
        all.push(Claimed {
            claim_ref,
            section: claim.section.map(ToString::to_string),
            span: claim.span.clone(),
            status: derived.1,
            receipt: derived.0,
            supporting: of(false),
            contradicting: of(true),
            places: Places::of(desk, &claim, derived.1, &places, sources)?,
        });
    }
    Ok(all)
}

/// A place that bears on a claim, and what counts of its source.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    anchor: StorageRef,
    strength: Strength,
    source: String,
}

/// What is known of claims from rows before.
struct Known {
    /// Anchors by claim, source, locator and strength.
    anchors: BTreeMap<(String, String, String, Strength), String>,
    /// The last derivation of a claim, with its place.
    derived: BTreeMap<String, (u64, ClaimSupportDerivationReceipt)>,
    /// The place of the last change of the workspace, or of what counts as support.
    changed: u64,
}

impl Known {
    fn of(desk: &Desk) -> Self {
        let mut anchors = BTreeMap::new();
        for one in desk.all::<SourceEvidenceAnchor>() {
            for claim in &one.supports_claim_refs {
                let key = (
                    claim.as_str().to_string(),
                    one.source_record_ref.as_str().to_string(),
                    one.anchor_locator.clone(),
                    one.support_strength,
                );
                anchors.insert(key, one.anchor_id.clone());
            }
        }
        let derived = desk.each::<ClaimSupportDerivationReceipt>("ClaimSupportDerivationReceipt");
        let derived =
            derived.map(|found| (found.record.claim_ref.as_str().to_string(), (found.seq, found.record)));
        let derived = derived.collect();
        let applied = desk.each::<Receipt>("SourceWorkspaceOperationReceipt");
        let mut applied =
            applied.filter(|found| found.record.status == SourceWorkspaceOperationReceiptStatus::Applied);
        let applied = applied.next_back().map_or(0, |found| found.seq);
        let policy =
            desk.each::<Json>("ClaimSupportDerivationPolicy").next_back().map_or(0, |found| found.seq);
        let changed = applied.max(policy);
        Known { anchors, derived, changed }
    }

    /// The anchor of a place: the known one, resolved again, or a new one.
    fn place(
        &mut self,
        desk: &mut Desk,
        claim: &ClaimRef,
        source: &Source<'_>,
        bearing: &Bearing,
    ) -> Result<Place, Error> {
        let source_ref = desk.source_ref(source.id)?;
        let strength = strength(bearing.strength);
        let locator = format!(
            "{}:{}-{}@{}-{}",
            source.read.path, bearing.first, bearing.last, bearing.span.start, bearing.span.end
        );
        let key = (claim.as_str().to_string(), source_ref.as_str().to_string(), locator.clone(), strength);
        let around = around(source.text, &bearing.span);
        if let Some(id) = self.anchors.get(&key) {
            let anchor = reference("SourceEvidenceAnchor", id)?;
            desk.put(&TextAnchorResolutionReceipt {
                receipt_id: desk.id("resolved"),
                anchor_ref: anchor.clone(),
                recomputed_context_hash: Some(around.context_hash),
                status: AnchorResolution::Resolved,
                created_at: desk.now(),
                schema_version: Some(V10),
            })?;
            return Ok(Place { anchor, strength, source: source.id.to_string() });
        }
        let anchor_id = desk.id("anchor");
        let content = canonical_bytes(&around);
        let extracted = reference("Text", &String::from(Digest::of(&content)))?;
        let anchor = desk.put_with(
            &SourceEvidenceAnchor {
                anchor_id: anchor_id.clone(),
                source_record_ref: source_ref,
                anchor_kind: SourceEvidenceAnchorAnchorKind::LineRange,
                anchor_locator: locator,
                supports_claim_refs: Vec::from([claim.clone()]),
                support_strength: strength,
                extracted_text_ref: Some(extracted),
                created_at: desk.now(),
                schema_version: V10,
            },
            content,
        )?;
        self.anchors.insert(key, anchor_id);
        Ok(Place { anchor, strength, source: source.id.to_string() })
    }

    /// How a claim is supported: as it was derived last, if nothing has changed since.
    fn support(
        &self,
        desk: &mut Desk,
        claim: &ClaimRef,
        places: &[Place],
        is_held: bool,
    ) -> Result<(StorageRef, Status), Error> {
        let split = |wanted: bool| -> Vec<StorageRef> {
            let own = places.iter().filter(|one| (one.strength == Strength::Contradicts) == wanted);
            own.map(|one| one.anchor.clone()).collect()
        };
        let (supporting, contradicting) = (split(false), split(true));
        if let Some((seq, last)) = self.derived.get(claim.as_str())
            && *seq > self.changed
            && (&last.supporting_anchor_refs, &last.contradicting_anchor_refs)
                == (&supporting, &contradicting)
        {
            let receipt = reference("ClaimSupportDerivationReceipt", &last.receipt_id)?;
            return Ok((receipt, last.derived_support_status));
        }
        let receipt_id = desk.id("support");
        let output_ref = reference("ClaimSupportDerivationReceipt", &receipt_id)?;
        let (mut inputs, input_refs) = inputs(desk, places)?;
        if !is_held {
            // Without a list of places nobody looked for any.
            inputs.remove("anchors");
        }
        let from = From { formula: "claim_support_v1", inputs, input_refs, output_ref: output_ref.clone() };
        let derived = desk.derive_member(from, "derived_support_status")?;
        let word = derived.value.get("derived_support_status").and_then(Json::as_str).unwrap_or_default();
        let status =
            Status::find(word).ok_or_else(|| Error::Missing("derived_support_status".to_string()))?;
        let verified = verified(desk, places)?;
        desk.put(&ClaimSupportDerivationReceipt {
            receipt_id,
            claim_ref: claim.clone(),
            policy_ref: desk.policy(Policy::ClaimSupport),
            supporting_anchor_refs: supporting,
            contradicting_anchor_refs: contradicting,
            source_verification_refs: verified,
            source_freshness_refs: Vec::new(),
            applicability_scope_refs: Vec::new(),
            derived_support_status: status,
            decisive_reason: reason(status),
            formula_eval_receipt_ref: derived.receipt,
            created_at: desk.now(),
            schema_version: V10,
        })?;
        Ok((output_ref, status))
    }
}

/// What the formula takes: the policy, and of each place its strength and what holds for its source now.
fn inputs(desk: &Desk, places: &[Place]) -> Result<(Object, Vec<StorageRef>), Error> {
    let policy_id = desk.policy(Policy::ClaimSupport);
    let policy: ClaimSupportDerivationPolicy =
        desk.find("ClaimSupportDerivationPolicy", &policy_id).ok_or(Error::Missing(policy_id))?;
    let mut anchors = Vec::new();
    for place in places {
        let source = workspace::standing(desk, desk.source_ref(&place.source)?.as_str());
        let source = source.ok_or_else(|| Error::Missing(place.source.clone()))?;
        let is_stale = source.fresh_until.as_ref().is_some_and(|until| !is_later(until.as_str(), desk));
        let mut anchor = Object::from([
            ("support_strength", Json::from(place.strength.as_str())),
            ("verified", Json::from(source.verification_state == Some(VerificationState::Verified))),
            ("stale", Json::from(is_stale)),
            ("tier0", Json::from(false)),
        ]);
        let level = source.write().as_ref().and_then(authority);
        if let Some(level) = level {
            anchor.insert("authority_level", level.as_str());
        }
        anchors.push(Json::Object(anchor));
    }
    let inputs =
        Object::from([("policy", policy.write().unwrap_or(Json::Null)), ("anchors", Json::Array(anchors))]);
    let mut refs: Vec<StorageRef> = places.iter().map(|one| one.anchor.clone()).collect();
    refs.push(desk.policy_ref(Policy::ClaimSupport)?);
    Ok((inputs, refs))
}

/// Whether a time is after now.
pub(crate) fn is_later(time: &str, desk: &Desk) -> bool {
    countersign_record::time::Instant::read(time).is_none_or(|time| time > desk.clock().instant())
}

fn verified(desk: &Desk, places: &[Place]) -> Result<Vec<StorageRef>, Error> {
    let mut all = BTreeSet::new();
    for place in places {
        let source_ref = desk.source_ref(&place.source)?;
        let is_verified = workspace::standing(desk, source_ref.as_str())
            .is_some_and(|source| source.verification_state == Some(VerificationState::Verified));
        if is_verified {
            all.insert(
                StorageRef::try_from(source_ref.as_str())
                    .map_err(|_| Error::Unnameable(place.source.clone()))?,
            );
        }
    }
    Ok(all.into_iter().collect())
}

fn strength(strength: bearing::Strength) -> Strength {
    match strength {
        bearing::Strength::Direct => Strength::Direct,
        bearing::Strength::Contextual => Strength::Contextual,
        bearing::Strength::Contradicts => Strength::Contradicts,
    }
}

fn reason(status: Status) -> Reason {
    match status {
        Status::Supported => Reason::DirectVerifiedSupport,
        Status::PartiallySupported => Reason::PartialIndirectSupport,
        Status::Unsupported => Reason::NoSupportingAnchor,
        Status::Contradicted => Reason::DirectContradiction,
        Status::NotChecked => Reason::NotChecked,
        Status::IndeterminateStaleOrUnverified => Reason::StaleOrUnverifiedSource,
    }
}

/// A place in a text, with what stands around it.
fn around(text: &str, span: &Range<usize>) -> TextAnchor {
    let before: String = {
        let all: Vec<char> =
            text.get(..span.start).unwrap_or_default().chars().rev().take(AROUND_CHARS).collect();
        all.into_iter().rev().collect()
    };
    let after: String = text.get(span.end..).unwrap_or_default().chars().take(AROUND_CHARS).collect();
    let context_hash = text::context_hash(&before, &after).map(String::from).unwrap_or_default();
    TextAnchor {
        start_offset: span.start as u64,
        end_offset: span.end as u64,
        context_before: before,
        context_after: after,
        context_hash,
        hash_algorithm: TextAnchorHashAlgorithm::Sha256CanonicalTextV1,
        schema_version: V10,
    }
}

fn canonical_bytes(anchor: &TextAnchor) -> Vec<u8> {
    let json = anchor.write().unwrap_or(Json::Null);
    countersign_record::json::to_text(&json).unwrap_or_default().into_bytes()
}
