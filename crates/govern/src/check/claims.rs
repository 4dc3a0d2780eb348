//! Validation codes: claims.
//! Owns: the rules of this area. Must not: decide by names.

mod standing;

use super::sources::{History, scopes, source_id};
use super::{Area, Found, Rule, Severity};
use crate::derive::claim_support::{Authority, ContradictionRule, NOT_CHECKED, PartialRule, Policy};
use crate::kind::{Class, Kind};
use crate::member::{Member, is_blank};
use crate::path::Path;
use crate::reference::Reference;
use crate::world::{Record, Said, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use countersign_record::json::Json;
use standing::Standing;

pub(super) const AREA: Area = Area {
    name: "claims",
    rules: RULES,
    kinds: &[Kind::new("ExtractorCapability", Class::Policy, Some("capability_ref"))],
};

const RULES: &[Rule] = &[
    Rule {
        code: "claim_support_status_without_derivation",
        severity: Severity::Error,
        section: "D-06/G-03",
        fires: "An EvidencePackageClaimEntry (or any record) states a ClaimSupportStatus whose support_derivation_receipt_ref does not resolve to a ClaimSupportDerivationReceipt of that claim_ref, or whose derived_support_status differs from the stated one or from recomputation under policy_ref.",
        legal: "not_checked backed by a receipt with decisive_reason not_checked.",
        why: "Whoever relies on the claim is told how well it is supported; without its derivation that is an assertion.",
        fix: "Derive the status anew under the policy, record the receipt for that claim, and state what it says.",
        check: claim_support_status_without_derivation,
    },
    Rule {
        code: "evidence_anchor_without_claim_ref",
        severity: Severity::Error,
        section: "D-06/G-03",
        fires: "A SourceEvidenceAnchor has an empty supports_claim_refs or names a claim that does not exist.",
        legal: "An anchor with strength contradicts that names the claim it contradicts.",
        why: "Evidence for nothing in particular makes a package look better founded than it is.",
        fix: "Name the claims that the anchor bears on, or remove the anchor.",
        check: evidence_anchor_without_claim_ref,
    },
    Rule {
        code: "domain_payload_without_registry_ref",
        severity: Severity::Error,
        section: "D-06/G-03",
        fires: "A SourceRecord or ApplicabilityScope carries a domain-specific payload without a DomainPayloadRegistryRef, or with a kind/version that is not registered.",
        legal: "A record without a domain payload.",
        why: "Without a registered schema nobody can check what the payload says, nor read it later.",
        fix: "Register the kind and version of the payload and refer to that.",
        check: domain_payload_without_registry_ref,
    },
    Rule {
        code: "extractor_missing_reported_as_source_missing",
        severity: Severity::Error,
        section: "D-06/G-03",
        fires: "A limitation/cause source_unavailable or missing_source (or a ResearchNeed for the source) is reported while the SourceRecord exists and the real gap is that no extractor capability handles its kind.",
        legal: "The same situation reported as missing_capability, or a source that truly is absent.",
        why: "People are sent looking for a source that is already there, while the tool that could read it stays missing.",
        fix: "Report `missing_capability` and name the extractor that is needed.",
        check: extractor_missing_reported_as_source_missing,
    },
];

/// What a policy row asks for; `None` if it is not whole.
fn policy(row: &Json) -> Option<Policy> {
    let flag = |name: &str| row.flag(&format!("required_for_supported.{name}"));
    Some(Policy {
        direct_min: row.count("required_for_supported.min_direct_supporting_anchors")?,
        require_verified: flag("require_verified_source")?,
        allow_stale: flag("allow_stale_source")?,
        allow_contradicting: flag("allow_contradicting_anchor")?,
        partial: match row.text("partial_support_rule")? {
            "any_indirect_or_contextual_anchor" => PartialRule::AnyIndirectOrContextualAnchor,
            "direct_anchor_unverified" => PartialRule::DirectAnchorUnverified,
            "domain_specific" => PartialRule::DomainSpecific,
            _other => return None,
        },
        contradiction: match row.text("contradiction_rule")? {
            "any_direct_contradiction_controls" => ContradictionRule::AnyDirectContradictionControls,
            "weighted_by_authority" => ContradictionRule::WeightedByAuthority,
            "human_review_required" => ContradictionRule::HumanReviewRequired,
            _other => return None,
        },
    })
}

/// The authority of a source: that of the law it is, else the highest one that somebody gave it where it applies.
#[must_use]
pub fn authority(source: &Json) -> Option<Authority> {
    let legal = source.text("legal_payload.source_authority_level").and_then(Authority::find);
    let scopes = source.list("applicability_scopes").iter();
    legal.or_else(|| scopes.filter_map(|scope| scope.text("authority_level").and_then(Authority::find)).min())
}

fn claim_support_status_without_derivation(world: &World, found: &mut Found<'_>) {
    for entry in world.of("EvidencePackageClaimEntry") {
        look_at_entry(entry, entry.json(), Path::whole, found);
    }
    for package in world.of("EvidencePackage") {
        for (at, entry) in package.json().list("claim_support_map").iter().enumerate() {
            look_at_entry(package, entry, || Path::from("claim_support_map").item(at), found);
        }
    }
    let mut receipts: BTreeMap<&str, Vec<Record<'_>>> = BTreeMap::new();
    for receipt in world.of("ClaimSupportDerivationReceipt") {
        receipts.entry(receipt.json().text("claim_ref").unwrap_or_default()).or_default().push(receipt);
    }
    if receipts.is_empty() {
        return;
    }
    let mut anchors: BTreeMap<&str, Vec<Record<'_>>> = BTreeMap::new();
    for anchor in world.of("SourceEvidenceAnchor") {
        let claims: BTreeSet<&str> = anchor.json().texts("supports_claim_refs").into_iter().collect();
        claims.into_iter().for_each(|claim| anchors.entry(claim).or_default().push(anchor));
    }
    let sources = History::of(world, "SourceRecord");
    for (claim, receipts) in receipts {
        // All anchors of the claim that were there, not only those that the receipt names: else a contradiction could be left out.
        let anchors = anchors.get(claim).map(Vec::as_slice).unwrap_or_default();
        let mut standing = Standing::of(&sources, anchors, &receipts);
        for receipt in receipts {
            standing.go_to(receipt);
            look_at_receipt(receipt, &standing, found);
        }
    }
}

/// A receipt says what its policy makes of everything that bore on the claim.
fn look_at_receipt(receipt: Record<'_>, standing: &Standing<'_, '_>, found: &mut Found<'_>) {
    let Some(stated) = receipt.text("derived_support_status") else { return };
    let status = if stated == NOT_CHECKED.status.as_str() {
        if !standing.is_bare() {
            let message = "says that nobody looked where something bears on the claim";
            return found.add(receipt, "derived_support_status", message);
        }
        NOT_CHECKED.status
    } else {
        let name = receipt.text("policy_ref").unwrap_or_default();
        let id = Reference::read(name)
            .filter(|one| one.kind == "claim_support_derivation_policy")
            .map_or(name, |one| one.id);
        let row = receipt.world.policy("ClaimSupportDerivationPolicy", id, receipt.seq());
        let Some(policy) = row.and_then(|row| policy(row.json())) else {
            return found.add(receipt, "policy_ref", "no policy says how the claim came to stand so");
        };
        standing.counts(&policy, receipt).support(&policy).status
    };
    if stated != status.as_str() {
        let message = format!("is {stated} where the policy makes it {}", status.as_str());
        found.add(receipt, "derived_support_status", message);
    } else if receipt.text("decisive_reason").is_some_and(|reason| reason != status.reason()) {
        found.add(receipt, "decisive_reason", format!("{} is the reason for {stated}", status.reason()));
    }
}

fn look_at_entry(record: Record<'_>, entry: &Json, place: impl Fn() -> Path, found: &mut Found<'_>) {
    let Some(status) = entry.text("support_status") else { return };
    let receipt = entry
        .reference("support_derivation_receipt_ref")
        .and_then(|reference| record.world.resolve(reference))
        .filter(|one| one.kind() == "ClaimSupportDerivationReceipt");
    let message = match receipt {
        None => "no receipt says how the claim came to stand so",
        Some(receipt) if receipt.text("claim_ref") != entry.text("claim_ref") => {
            "its receipt is that of another claim"
        }
        Some(receipt) if receipt.text("derived_support_status") != Some(status) => {
            "its receipt says otherwise"
        }
        Some(_) => return,
    };
    found.add(record, place().then("support_status"), message);
}

/// The claims that records other than anchors speak of, and the artifacts that claims can stand in.
struct Claims<'w> {
    named: BTreeSet<&'w str>,
    artifacts: BTreeSet<&'w str>,
}

/// Where records name claims: the type, and the member, which is a claim or a list of them.
const CLAIMS_NAMED: [(&str, &str); 6] = [
    ("ClaimSupportDerivationReceipt", "claim_ref"),
    ("EvidencePackageClaimEntry", "claim_ref"),
    ("EvaluationResultEnvelope", "evaluated_target.claim_ref"),
    ("EvaluationFindingEvent", "affected_claim_refs"),
    ("VerificationRequestStep", "claim_refs"),
    ("ResearchNeed", "target_refs"),
];

impl<'w> Claims<'w> {
    fn of(world: &'w World) -> Self {
        let mut named = BTreeSet::new();
        for (kind, path) in CLAIMS_NAMED {
            for record in world.of(kind) {
                named.extend(record.json().text(path));
                named.extend(record.json().texts(path));
            }
        }
        for package in world.of("EvidencePackage") {
            let entries = package.json().list("claim_support_map").iter();
            named.extend(entries.filter_map(|entry| entry.text("claim_ref")));
        }
        let versions = world.of("ArtifactVersion");
        Claims {
            named,
            artifacts: versions.filter_map(|one| one.json().text("artifact_stable_id")).collect(),
        }
    }

    /// A claim is there if it stands in an artifact that is, or if something else speaks of it.
    fn has(&self, claim: &str) -> bool {
        let Some(reference) = Reference::read(claim).filter(|one| one.kind == "claim") else { return false };
        let mut artifacts = reference.id.match_indices('/').filter_map(|(at, _)| reference.id.get(..at));
        self.named.contains(claim) || artifacts.any(|artifact| self.artifacts.contains(artifact))
    }
}

fn evidence_anchor_without_claim_ref(world: &World, found: &mut Found<'_>) {
    let claims = Claims::of(world);
    for anchor in world.of("SourceEvidenceAnchor") {
        if anchor.is_blank("supports_claim_refs") {
            found.add(anchor, "supports_claim_refs", "the anchor bears on no claim");
        }
        for (at, claim) in anchor.list("supports_claim_refs").iter().enumerate() {
            if claim.as_str().is_some_and(|claim| !claims.has(claim)) {
                found.add(anchor, Path::from("supports_claim_refs").item(at), "there is no such claim");
            }
        }
    }
}

fn domain_payload_without_registry_ref(world: &World, found: &mut Found<'_>) {
    let rows = world.of("DomainPayloadRegistryRef").filter_map(|row| registered(row.json()));
    let registry: BTreeSet<(&str, &str)> = rows.collect();
    let mut look =
        |record: Record<'_>, path: Path, reference: Option<&Json>| match reference.and_then(registered) {
            None => found.add(record, path, "no registered schema says what the payload means"),
            Some(kind) if !registry.contains(&kind) => {
                found.add(record, path, "its kind and version are not registered")
            }
            Some(_) => {}
        };
    for record in world.of("SourceRecord") {
        if record.at("domain_payload").is_some_and(|payload| !is_blank(payload)) {
            look(record, "domain_payload".into(), record.at("domain_payload_registry_ref"));
        }
    }
    for (record, place, scope) in scopes(world) {
        if scope.at("domain_specific_payload").is_some_and(|payload| !is_blank(payload)) {
            let reference =
                scope.at("domain_payload_registry_ref").or_else(|| record.at("domain_payload_registry_ref"));
            look(record, place.then("domain_specific_payload"), reference);
        }
    }
}

/// The kind and version of a payload.
fn registered(reference: &Json) -> Option<(&str, &str)> {
    reference.text("domain_payload_kind").zip(reference.text("domain_payload_version"))
}

/// Whether a question says that what it asks for is missing, in the contract's word.
fn says_missing(need: Record<'_>) -> bool {
    let reasons =
        ["unresolved_reason", "human_needed_reason"].into_iter().filter_map(|path| need.json().text(path));
    let is_end = |letter: char| !(letter.is_ascii_alphanumeric() || letter == '_');
    reasons
        .flat_map(|reason| reason.split(is_end))
        .any(|word| ["missing_source", "source_unavailable"].contains(&word))
}

fn extractor_missing_reported_as_source_missing(world: &World, found: &mut Found<'_>) {
    let handled = Said::of(world, "ExtractorCapability", |row| row.json().texts("source_kinds"));
    // The source is there, and nothing could read its kind.
    let is_unread = |text: &&str, seq: u64| {
        let source = source_id(text).and_then(|id| world.find("SourceRecord", id));
        source.is_some_and(|one| one.text("source_kind").is_some_and(|kind| !handled.is_said(kind, seq)))
    };
    let message = "the source is there; what is missing is what could read it";
    for result in world.of("EvaluationResultEnvelope") {
        let says_missing = result.texts("decision.indeterminate_causes").contains(&"missing_source")
            || result.texts("decision.limitations").contains(&"source_unavailable");
        if says_missing
            && result.texts("decision.missing_source_refs").iter().any(|one| is_unread(one, result.seq()))
        {
            found.add(result, "decision", message);
        }
    }
    // A question about a source that is there is just that, unless it says that the source is missing where readers are known.
    let has_readers = world.of("ExtractorCapability").next().is_some();
    for need in world.of("ResearchNeed").filter(|need| has_readers && says_missing(*need)) {
        if need.texts("target_refs").iter().any(|one| is_unread(one, need.seq())) {
            found.add(need, "target_refs", message);
        }
    }
}

#[cfg(test)]
#[path = "claims_tests.rs"]
mod tests;
