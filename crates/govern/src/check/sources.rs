//! Validation codes: sources.
//! Owns: the rules of this area. Must not: decide by names.

use super::{Area, Found, Rule, Severity};
use crate::member::Member;
use crate::path::Path;
use crate::reference::Reference;
use crate::world::{Mark, Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use countersign_record::json::Json;

pub(super) const AREA: Area = Area { name: "sources", rules: RULES, kinds: &[] };

const RULES: &[Rule] = &[
    Rule {
        code: "legal_payload_authority_level_legacy",
        severity: Severity::Warning,
        section: "A-23",
        fires: "A LegalSourcePayload carries the legacy authority_level field, or an authority field holds a treatment value (adverse, overruled, negative_treatment, limited, distinguished).",
        legal: "source_authority_level = persuasive together with treatment_status = overruled.",
        why: "How much a court binds and what later courts made of its decision are two things. One field for both lets an overruled decision pass as binding.",
        fix: "Put the jurisdictional authority in `source_authority_level`, the later treatment in `treatment_status`, and leave `authority_level` out of the payload.",
        check: legal_payload_authority_level_legacy,
    },
    Rule {
        code: "authority_level_projection_drift",
        severity: Severity::Error,
        section: "A-23",
        fires: "For one source, an ApplicabilityScope with scope_kind legal_jurisdiction has authority_level different from LegalSourcePayload.source_authority_level.",
        legal: "ApplicabilityScopes for different jurisdictions of the same source, each with its own authority_level, the payload's matching its own jurisdiction.",
        why: "Whoever relies on the source is told two weights for it in one jurisdiction, and the one that is shown depends on where they look.",
        fix: "Take the scope's `authority_level` over from the payload of its jurisdiction, or correct the payload.",
        check: authority_level_projection_drift,
    },
    Rule {
        code: "legal_treatment_status_missing_when_legal_source",
        severity: Severity::Error,
        section: "A-23",
        fires: "A SourceRecord of kind case_law, statute or regulation has a LegalSourcePayload without treatment_status.",
        legal: "treatment_status = unknown recorded explicitly, or a non-legal source without a legal payload.",
        why: "A citation may have been overruled. Without a treatment status nobody can tell whether that was looked up or forgotten.",
        fix: "Record `treatment_status`; `unknown` if it was not looked up.",
        check: legal_treatment_status_missing_when_legal_source,
    },
    Rule {
        code: "tier0_source_record_materialized",
        severity: Severity::Error,
        section: "D-04",
        fires: "A SourceRecord exists with tier 0 (or tier 4), or a source_id was created from an EphemeralSourceLookupReceipt without an add_source_record operation at tier 1-3.",
        legal: "A tier-0 lookup kept as EphemeralSourceLookupReceipt only, or later added as a proper tier-1 record by its own operation.",
        why: "A passing lookup that turns up as a source can be cited as if somebody had taken it in and looked at it.",
        fix: "Keep the lookup as its receipt only, or add the source by an `add_source_record` operation with a tier from 1 to 3.",
        check: tier0_source_record_materialized,
    },
    Rule {
        code: "claim_depends_on_tier0_lookup",
        severity: Severity::Error,
        section: "D-04",
        fires: "A SourceEvidenceAnchor.source_record_ref, a claim's supporting ref or an evidence_refs entry resolves to an EphemeralSourceLookupReceipt (may_support_downstream_claims = false).",
        legal: "The lookup is cited in an ExplanationTrace as how a source was found, not as support.",
        why: "Of such a lookup nothing is kept but that it took place, so nobody can go back and read what the claim rests on.",
        fix: "Add the source as a record of tier 1 to 3 and anchor the claim in that; cite the lookup only as how the source was found.",
        check: claim_depends_on_tier0_lookup,
    },
    Rule {
        code: "source_tier_transition_not_persisted",
        severity: Severity::Error,
        section: "D-04",
        fires: "SourceRecord.tier differs between two workspace states and no SourceTierTransitionReceipt with the same source_id, from_tier and to_tier exists.",
        legal: "The first tier set by add_source_record.",
        why: "The tier says how well a source is documented. If it moves without a receipt, nobody can say who raised it and why.",
        fix: "Record a `SourceTierTransitionReceipt` with the source, the tier before and the tier after.",
        check: source_tier_transition_not_persisted,
    },
    Rule {
        code: "source_tier_demotion_without_authority",
        severity: Severity::Error,
        section: "D-04",
        fires: "A SourceTierTransitionReceipt has to_tier < from_tier and no cleared_by_access_tier.",
        legal: "A promotion from tier 1 to tier 2 without cleared_by_access_tier.",
        why: "A lower tier loosens what must be kept of a source that work already rests on; somebody with the right to do so must answer for it.",
        fix: "Have the demotion cleared and record `cleared_by_access_tier`, or leave the tier as it is.",
        check: source_tier_demotion_without_authority,
    },
];

/// Records of one type in their versions, so that one is found as it was at a place of the log.
pub(super) struct History<'w>(BTreeMap<&'w str, Vec<Record<'w>>>);

impl<'w> History<'w> {
    pub(super) fn of(world: &'w World, kind: &str) -> Self {
        let mut versions: BTreeMap<&str, Vec<Record<'w>>> = BTreeMap::new();
        for record in world.of(kind) {
            versions.entry(record.id()).or_default().push(record);
        }
        History(versions)
    }

    /// The last version before a place of the log; the first one if there is none before.
    pub(super) fn before(&self, id: &str, seq: u64) -> Option<Record<'w>> {
        let versions = self.0.get(id)?;
        let count = versions.partition_point(|one| one.seq() < seq);
        versions.get(count.saturating_sub(1)).copied()
    }

    /// The version behind that one.
    pub(super) fn behind(&self, id: &str, seq: u64) -> Option<Record<'w>> {
        let versions = self.0.get(id)?;
        versions.get(versions.partition_point(|one| one.seq() < seq).max(1)).copied()
    }
}

/// The id in a reference to a source.
pub(super) fn source_id(text: &str) -> Option<&str> {
    Reference::read(text)
        .filter(|reference| ["src", "source_record"].contains(&reference.kind))
        .map(|reference| reference.id)
}

/// Whether a reference names a lookup of which only the receipt was kept, also where it is written as one to a source.
pub(super) fn is_lookup(world: &World, text: &str) -> bool {
    let is_receipt = |id: &str| world.find("EphemeralSourceLookupReceipt", id).is_some();
    match source_id(text) {
        Some(id) => world.find("SourceRecord", id).is_none() && is_receipt(id),
        None => Reference::read(text).is_some_and(|one| one.kind == "ephemeral_source_lookup_receipt"),
    }
}

/// What became of a decision later; no word for how much it binds.
const TREATMENTS: [&str; 5] = ["adverse", "overruled", "negative_treatment", "limited", "distinguished"];

/// The legal payloads there are, with where they stand.
fn payloads<'w>(world: &'w World) -> impl Iterator<Item = (Record<'w>, &'static str, &'w Json)> {
    let rows = world.of("LegalSourcePayload").map(|one| (one, "", one.json()));
    let parts = world
        .of("SourceRecord")
        .filter_map(|one| one.json().at("legal_payload").map(|part| (one, "legal_payload", part)));
    rows.chain(parts)
}

/// The scopes that a source applies to, or a row that is one.
pub(super) fn scopes<'w>(world: &'w World) -> impl Iterator<Item = (Record<'w>, Path, &'w Json)> {
    let rows = world.of("ApplicabilityScope").map(|one| (one, Path::whole(), one.json()));
    let parts = world.of("SourceRecord").flat_map(|one| {
        let parts = one.json().list("applicability_scopes").iter().enumerate();
        parts.map(move |(at, part)| (one, Path::from("applicability_scopes").item(at), part))
    });
    rows.chain(parts)
}

fn legal_payload_authority_level_legacy(world: &World, found: &mut Found<'_>) {
    for (record, place, payload) in payloads(world) {
        if payload.at("authority_level").is_some() {
            found.add(record, Path::from(place).then("authority_level"), "the payload has the legacy field");
        }
        if payload.is_one_of("source_authority_level", &TREATMENTS) {
            let path = Path::from(place).then("source_authority_level");
            found.add(record, path, "says what became of the source and not how much it binds");
        }
    }
    for (record, place, scope) in scopes(world) {
        if scope.is_one_of("authority_level", &TREATMENTS) {
            let path = place.then("authority_level");
            found.add(record, path, "says what became of the source and not how much it binds");
        }
    }
}

fn authority_level_projection_drift(world: &World, found: &mut Found<'_>) {
    for record in world.of("SourceRecord") {
        let Some(level) = record.text("legal_payload.source_authority_level") else { continue };
        let all = record.json().list("applicability_scopes").iter().enumerate();
        let legal = all.filter(|(_, scope)| scope.is("scope_kind", "legal_jurisdiction"));
        let levels: Vec<(usize, &str, Option<&str>)> = legal
            .filter_map(|(at, scope)| {
                scope.text("authority_level").map(|own| (at, own, scope.text("scope_value")))
            })
            .collect();
        // A source may bind in one jurisdiction and only convince in another: the payload speaks for its own. Where it
        // does not say which that is, one of them must be meant.
        let drifted = match record.text("legal_payload.jurisdiction") {
            Some(own) => levels.iter().find(|(_, scope, place)| *place == Some(own) && *scope != level),
            None if levels.iter().any(|(_, scope, _)| *scope == level) => None,
            None => levels.first(),
        };
        if let Some((at, scope, _)) = drifted {
            let path = Path::from("applicability_scopes").item(*at).then("authority_level");
            found.add(record, path, format!("is {scope} where the payload says {level}"));
        }
    }
}

fn legal_treatment_status_missing_when_legal_source(world: &World, found: &mut Found<'_>) {
    for record in world.of("SourceRecord") {
        let is_legal = record.is_one_of("source_kind", &["case_law", "statute", "regulation"]);
        if is_legal
            && record.members("legal_payload").is_some()
            && record.is_blank("legal_payload.treatment_status")
        {
            found.add(
                record,
                "legal_payload.treatment_status",
                "a legal source does not say how it was treated",
            );
        }
    }
}

fn tier0_source_record_materialized(world: &World, found: &mut Found<'_>) {
    for record in world.of("SourceRecord") {
        if let Some(tier @ (0 | 4)) = record.count("tier") {
            found.add(record, "tier", format!("there is no source record of tier {tier}"));
        }
    }
    let applied = world.of("SourceWorkspaceOperationReceipt").filter(|one| one.is("status", "applied"));
    let applied: BTreeSet<&str> = applied.filter_map(|one| one.json().id_at("operation_id")).collect();
    let mut added: BTreeSet<&str> = BTreeSet::new();
    for operation in world.of("SourceWorkspaceOperation") {
        if operation.is("operation_kind", "add_source_record") && applied.contains(operation.id()) {
            added.extend(operation.json().text("payload_ref").and_then(source_id));
        }
    }
    for edge in world.of("DerivationEdge") {
        let output = edge.json().text("output_ref").and_then(source_id).filter(|id| !added.contains(id));
        let Some(record) = output.and_then(|id| world.versions("SourceRecord", id).next()) else { continue };
        if edge.texts("input_refs").into_iter().any(|input| is_lookup(world, input)) {
            found.add(record, "source_id", "was made from a lookup and not by an operation that adds it");
        }
    }
}

fn claim_depends_on_tier0_lookup(world: &World, found: &mut Found<'_>) {
    let message = "rests on a lookup of which only the receipt was kept";
    for anchor in world.of("SourceEvidenceAnchor") {
        if anchor.text("source_record_ref").is_some_and(|source| is_lookup(world, source)) {
            found.add(anchor, "source_record_ref", message);
        }
    }
    let mut look = |record: Record<'_>, value: &Json, place: &Path, field: &'static str| {
        for (at, item) in value.list(field).iter().enumerate() {
            if item.as_str().is_some_and(|item| is_lookup(world, item)) {
                found.add(record, place.clone().then(field).item(at), message);
            }
        }
    };
    for kind in ["ClaimSupportDerivationReceipt", "EvidencePackageClaimEntry"] {
        for record in world.of(kind) {
            look(record, record.json(), &Path::whole(), "supporting_anchor_refs");
        }
    }
    for package in world.of("EvidencePackage") {
        look(package, package.json(), &Path::whole(), "source_record_refs");
        for (at, entry) in package.list("claim_support_map").iter().enumerate() {
            look(package, entry, &Path::from("claim_support_map").item(at), "supporting_anchor_refs");
        }
    }
    // A trace cites how a source was found, not what a claim rests on.
    for record in world.marked(Mark::Evidence).filter(|record| record.kind() != "ExplanationTrace") {
        look(record, record.json(), &Path::whole(), "evidence_refs");
    }
}

/// The receipts of moves between tiers, each for one move.
#[derive(Default)]
struct TierMoves<'w> {
    /// How many are left of each.
    left: BTreeMap<(&'w str, u64, u64), usize>,
    /// Those of each source in order.
    steps: BTreeMap<&'w str, Vec<(u64, u64)>>,
    /// How many of those were walked along.
    walked: BTreeMap<&'w str, usize>,
}

impl<'w> TierMoves<'w> {
    fn of(world: &'w World) -> Self {
        let mut moves = TierMoves::default();
        for receipt in world.of("SourceTierTransitionReceipt") {
            let json = receipt.json();
            if let (Some(source), Some(from), Some(to)) =
                (json.text("source_id"), json.count("from_tier"), json.count("to_tier"))
            {
                *moves.left.entry((source, from, to)).or_default() += 1;
                moves.steps.entry(source).or_default().push((from, to));
            }
        }
        moves
    }

    fn take(&mut self, source: &'w str, from: u64, to: u64) -> bool {
        let left = self.left.get_mut(&(source, from, to)).filter(|left| **left > 0);
        left.map(|left| *left -= 1).is_some()
    }

    /// Several moves one after the other, where nobody wrote down what was between.
    fn walk(&mut self, source: &'w str, from: u64, to: u64) -> bool {
        let mut at = from;
        while at != to {
            let walked = self.walked.entry(source).or_default();
            let step = self.steps.get(source).and_then(|steps| steps.get(*walked)).copied();
            let Some((start, end)) = step else { return false };
            *walked += 1;
            if start == at && self.take(source, start, end) {
                at = end;
            }
        }
        true
    }
}

fn source_tier_transition_not_persisted(world: &World, found: &mut Found<'_>) {
    let mut moves = TierMoves::of(world);
    let mut tiers: BTreeMap<&str, u64> = BTreeMap::new();
    for record in world.of("SourceRecord") {
        let Some(tier) = record.count("tier") else { continue };
        let Some(was) = tiers.insert(record.id(), tier).filter(|was| *was != tier) else { continue };
        if !moves.take(record.id(), was, tier) && !moves.walk(record.id(), was, tier) {
            found.add(record, "tier", format!("went from {was} to {tier} without a receipt"));
        }
    }
}

fn source_tier_demotion_without_authority(world: &World, found: &mut Found<'_>) {
    for receipt in world.of("SourceTierTransitionReceipt") {
        let (Some(from), Some(to)) = (receipt.count("from_tier"), receipt.count("to_tier")) else { continue };
        if to < from && receipt.is_blank("cleared_by_access_tier") {
            found.add(
                receipt,
                "cleared_by_access_tier",
                format!("nobody cleared the fall from {from} to {to}"),
            );
        }
    }
}

#[cfg(test)]
#[path = "sources_tests.rs"]
mod tests;
