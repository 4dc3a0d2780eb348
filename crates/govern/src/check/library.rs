//! Validation codes: library.
//! Owns: the rules of this area. Must not: decide by names.

use super::sources::{History, source_id};
use super::stood::Stood;
use super::{Area, Found, Rule, Severity};
use crate::fold::family::CANDIDATE;
use crate::member::Member;
use crate::reference::Reference;
use crate::world::{Record, World};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use countersign_record::json::Json;

pub(super) const AREA: Area = Area { name: "library", rules: RULES, kinds: &[] };

const RULES: &[Rule] = &[
    Rule {
        code: "library_promotion_without_gate",
        severity: Severity::Error,
        section: "D-20",
        fires: "A LibraryPromotionReceipt with status promoted has a gate_ref that does not resolve to a LibraryPromotionGate, or the source fails the gate (tier < min_tier, verification required and not verified, access tier or policy decision missing).",
        legal: "A receipt with status blocked_by_policy that cites the gate.",
        why: "The library is trusted by every later task. What enters it without having passed its gate is trusted without anybody having decided so.",
        fix: "Promote only through a registered gate whose tier, verification, access tier and policy decision are met; else record `blocked_by_policy`.",
        check: library_promotion_without_gate,
    },
    Rule {
        code: "library_promotion_candidate_confused_with_durable_write",
        severity: Severity::Error,
        section: "D-20",
        fires: "A LibraryPromotionCandidate has status promoted, or a receipt says that it became so, or the record is read as a library entry, without a promoted LibraryPromotionReceipt before it that has durable_library_write_ref (a promote_library_candidate operation receipt alone counts as queueing).",
        legal: "A queued or approved candidate with no durable write.",
        why: "A wish to promote is taken for a library entry; later work rests on something that was never written.",
        fix: "Leave the candidate queued or approved until a promoted receipt names the durable write.",
        check: library_promotion_candidate_confused_with_durable_write,
    },
    Rule {
        code: "privileged_source_auto_promoted",
        severity: Severity::Error,
        section: "D-20",
        fires: "A privileged source (or data_class privileged/local_only) is promoted without an explicit human approval: requested_by_ref/approver is an automatic actor, or the gate sets privileged_sources_auto_promote_allowed to anything but false.",
        legal: "A privileged source promoted after a user's explicit approval through the gate.",
        why: "A privileged source in a shared library can waive the privilege for good, and no person decided that.",
        fix: "Have a person approve the promotion, and keep `privileged_sources_auto_promote_allowed` false.",
        check: privileged_source_auto_promoted,
    },
];

/// The candidate that a reference names.
fn candidate_in<'w>(record: &'w Json, field: &str) -> Option<&'w str> {
    record.reference(field).filter(|one| one.kind == "library_promotion_candidate").map(|one| one.id)
}

fn is_person(actor: &str) -> bool {
    Reference::read(actor).is_some_and(|actor| actor.kind == "user")
}

/// Where something was approved first by anybody, and where by a person.
#[derive(Clone, Copy, Default)]
struct Approved {
    by_any: Option<u64>,
    by_person: Option<u64>,
}

impl Approved {
    fn add(&mut self, seq: u64, is_person: bool) {
        self.by_any = self.by_any.or(Some(seq));
        self.by_person = self.by_person.or(is_person.then_some(seq));
    }
}

/// Promotions that took place, with what they were about.
struct Promotions<'w> {
    world: &'w World,
    candidates: History<'w>,
    sources: History<'w>,
    /// Where a candidate was approved first, and where by a person.
    approved: BTreeMap<&'w str, Approved>,
}

impl<'w> Promotions<'w> {
    fn of(world: &'w World) -> Self {
        let mut approved: BTreeMap<&str, Approved> = BTreeMap::new();
        let stood = Stood::of(world, &CANDIDATE);
        let approvals = world.of("LifecycleTransitionReceipt").filter(|one| one.is("to_state", "approved"));
        for receipt in approvals.filter(|one| stood.counts(*one)) {
            if let Some(candidate) = candidate_in(receipt.json(), "subject_ref") {
                let is_person = receipt.text("actor_ref").is_some_and(is_person);
                approved.entry(candidate).or_default().add(receipt.seq(), is_person);
            }
        }
        for confirmation in world.of("UserConfirmation") {
            let is_person = confirmation.text("user_ref").is_some_and(is_person);
            if let Some(candidate) = candidate_in(confirmation.json(), "subject_ref").filter(|_| is_person) {
                let approved = approved.entry(candidate).or_default();
                let first = approved.by_person.map_or(confirmation.seq(), |at| at.min(confirmation.seq()));
                approved.by_person = Some(first);
            }
        }
        let candidates = History::of(world, "LibraryPromotionCandidate");
        Promotions { world, candidates, sources: History::of(world, "SourceRecord"), approved }
    }

    /// The receipts of promotions.
    fn receipts(&self) -> impl Iterator<Item = Record<'w>> + use<'w> {
        self.world.of("LibraryPromotionReceipt").filter(|one| one.is("status", "promoted"))
    }

    fn candidate(&self, receipt: Record<'w>) -> Option<Record<'w>> {
        self.candidates.before(receipt.json().id_at("candidate_id")?, receipt.seq())
    }

    /// The source that was promoted, as it was then.
    fn source(&self, receipt: Record<'w>) -> Option<Record<'w>> {
        let id = self.candidate(receipt)?.json().text("source_record_ref").and_then(source_id)?;
        self.sources.before(id, receipt.seq())
    }

    /// Whether a person let it happen: by approving it before, or, where no approval is recorded, by asking for it.
    fn has_person(&self, receipt: Record<'w>) -> bool {
        let asked = || {
            self.candidate(receipt).and_then(|one| one.json().text("requested_by_ref")).is_some_and(is_person)
        };
        let approved = receipt.json().id_at("candidate_id").and_then(|id| self.approved.get(id).copied());
        let approved = approved.unwrap_or_default();
        let is_before = |at: Option<u64>| at.is_some_and(|at| at < receipt.seq());
        is_before(approved.by_person) || approved.by_any.is_none() && asked()
    }

    /// What of its gate a promotion does not meet.
    fn miss(&self, receipt: Record<'w>, gate: Record<'w>) -> Option<String> {
        let Some(source) = self.source(receipt) else {
            return Some("nobody can tell which source was promoted".to_string());
        };
        match (source.count("tier"), gate.count("min_tier")) {
            (Some(tier), Some(least)) if tier < least => {
                return Some(format!("the source has tier {tier} and the gate asks for {least}"));
            }
            (None, Some(least)) => {
                return Some(format!("the source has no tier and the gate asks for {least}"));
            }
            (Some(_), Some(_)) | (_, None) => {}
        }
        let is_verified = source.is("verification_state", "verified");
        if gate.is("requires_verification_state", "verified") && !is_verified {
            return Some("the source is not verified".to_string());
        }
        let cleared = receipt.text("cleared_by_access_tier");
        match gate.text("requires_access_tier") {
            None => return Some("the gate names no access tier".to_string()),
            Some(tier) if cleared != Some(tier) => {
                return Some(format!("it was not cleared by the access tier {tier}"));
            }
            Some(_) => {}
        }
        let decision = gate.follow("ec_policy_decision_ref").filter(|one| one.kind() == "PolicyEvaluation");
        match decision.and_then(|one| one.json().text("decision")) {
            None => Some("no policy decision stands behind the gate".to_string()),
            Some("deny") => Some("the policy decision behind the gate is a denial".to_string()),
            Some("require_human") if !self.has_person(receipt) => {
                Some("the policy decision behind the gate asks for a person".to_string())
            }
            Some(_) => None,
        }
    }
}

fn library_promotion_without_gate(world: &World, found: &mut Found<'_>) {
    let promotions = Promotions::of(world);
    for receipt in promotions.receipts() {
        match receipt.follow("gate_ref").filter(|one| one.kind() == "LibraryPromotionGate") {
            None => found.add(receipt, "gate_ref", "the source was promoted through no gate"),
            Some(gate) => {
                if let Some(message) = promotions.miss(receipt, gate) {
                    found.add(receipt, "gate_ref", message);
                }
            }
        }
    }
}

fn library_promotion_candidate_confused_with_durable_write(world: &World, found: &mut Found<'_>) {
    let receipts = world.of("LibraryPromotionReceipt");
    let mut written: BTreeMap<&str, u64> = BTreeMap::new();
    for receipt in
        receipts.filter(|one| one.is("status", "promoted") && !one.is_blank("durable_library_write_ref"))
    {
        if let Some(candidate) = receipt.json().id_at("candidate_id") {
            written.entry(candidate).or_insert(receipt.seq());
        }
    }
    for candidate in world.of("LibraryPromotionCandidate") {
        let is_written = written.get(candidate.id()).is_some_and(|at| *at < candidate.seq());
        if candidate.is("status", "promoted") && !is_written {
            found.add(candidate, "status", "no receipt says that it was written to the library");
        }
    }
    for receipt in world.of("LifecycleTransitionReceipt").filter(|one| one.is("to_state", "promoted")) {
        let candidate = candidate_in(receipt.json(), "subject_ref");
        let is_written = |id: &str| written.get(id).is_some_and(|at| *at < receipt.seq());
        if candidate.is_some_and(|id| !is_written(id)) {
            found.add(receipt, "to_state", "no receipt says that it was written to the library");
        }
    }
    for edge in world.of("DerivationEdge") {
        let inputs = edge.json().texts("input_refs").into_iter().filter_map(Reference::read);
        let mut queued =
            inputs.filter(|one| one.kind == "library_promotion_candidate" && !written.contains_key(one.id));
        let output = edge.json().text("output_ref").and_then(source_id);
        let output = output.and_then(|id| world.find("SourceRecord", id));
        if let Some(entry) = output.filter(|one| one.is("source_kind", "library_entry"))
            && queued.next().is_some()
        {
            found.add(entry, "source_kind", "is read as an entry of the library and is a candidate only");
        }
    }
}

fn privileged_source_auto_promoted(world: &World, found: &mut Found<'_>) {
    for gate in world.of("LibraryPromotionGate") {
        let path = "privileged_sources_auto_promote_allowed";
        if gate.at(path) != Some(&Json::Bool(false)) {
            found.add(gate, path, "the gate lets privileged sources pass by themselves");
        }
    }
    let promotions = Promotions::of(world);
    for receipt in promotions.receipts() {
        let Some(source) = promotions.source(receipt) else { continue };
        let is_privileged = source.flag("privileged") == Some(true)
            || source.is_one_of("data_class", &["privileged", "local_only"]);
        if is_privileged && !promotions.has_person(receipt) {
            found.add(
                receipt,
                "candidate_id",
                "no person approved that a privileged source enters the library",
            );
        }
    }
}

#[cfg(test)]
#[path = "library_tests.rs"]
mod tests;
