//! Whether a reliance status follows from what its packet rests on.
//! Owns: gathering the facts of a packet as they were when it was made. Must not: say what they come to.

use super::Found;
use super::against::Against;
use super::rows::{By, Open, text};
use crate::check::stood::Stood;
use crate::derive::reliance::{Fact, Limitation, Status, limitations, status};
use crate::fold::family::REVIEW;
use crate::member::{Member, is_blank};
use crate::reference::{Reference, bare};
use crate::world::{self, Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::Json;

pub(super) fn reliance_status_not_derivable(world: &World, found: &mut Found<'_>) {
    if world.of("TaskReliancePacket").next().is_none() {
        return;
    }
    let mut index = Index::of(world);
    for packet in world.of("TaskReliancePacket") {
        // Without a manifest there is nothing to derive from, which is told by its own code.
        let Some(manifest) = packet.json().at("input_manifest").filter(|manifest| !is_blank(manifest)) else {
            continue;
        };
        let Some(derivation) = packet.json().at("reliance_derivation").filter(|one| !is_blank(one)) else {
            found.add(packet, "reliance_derivation", "nothing says how the status was derived");
            continue;
        };
        match index.facts(packet, manifest) {
            Ok(facts) => compare(packet, derivation, &facts, found),
            Err(missing) => {
                let message = format!("{missing} is an input and is not there, so nothing can be derived");
                found.add(packet, "input_manifest", message);
            }
        }
        backed(packet, manifest, derivation, found);
    }
}

/// What is stated against what is derived.
fn compare(packet: Record<'_>, derivation: &Json, facts: &BTreeSet<Fact>, found: &mut Found<'_>) {
    let derived = status(facts);
    let stated = derivation.text("status").unwrap_or("nothing");
    if Status::find(stated) != Some(derived) {
        let message = format!("the inputs come to {} and not to {stated}", derived.as_str());
        found.add(packet, "reliance_derivation.status", message);
    }
    let derived: BTreeSet<&str> = limitations(facts).into_iter().map(Limitation::as_str).collect();
    let stated: BTreeSet<&str> = derivation.texts("unresolved_limitations").into_iter().collect();
    if let Some(one) = derived.symmetric_difference(&stated).next() {
        let how = if derived.contains(one) {
            "follows from the inputs and is not stated"
        } else {
            "does not follow"
        };
        found.add(packet, "reliance_derivation.unresolved_limitations", format!("{one} {how}"));
    }
}

/// What the derivation rests on: inputs of the manifest, a policy, and the receipt that it names.
fn backed(packet: Record<'_>, manifest: &Json, derivation: &Json, found: &mut Found<'_>) {
    let named = named(manifest);
    let is_named = |text: &str| match Reference::read(text) {
        Some(reference) => {
            named.contains(&(reference.kind, reference.id)) || named.contains(&("", reference.id))
        }
        None => named.contains(&("", text)),
    };
    if let Some(outside) = derivation.texts("decisive_input_refs").into_iter().find(|text| !is_named(text)) {
        let message = format!("{outside} was decisive and is not in the manifest");
        found.add(packet, "reliance_derivation.decisive_input_refs", message);
    }
    if derivation.is_blank("derivation_policy_ref") {
        found.add(packet, "reliance_derivation.derivation_policy_ref", "no policy says how it is derived");
    }
    if let Some(text) = derivation.text("formula_eval_receipt_ref") {
        let receipt = packet.world.resolve_text(text).filter(|one| one.kind() == "FormulaEvaluationReceipt");
        let value = derivation.at("status").and_then(world::hash).map(|hash| hash.hex());
        let is_of_value = |receipt: Record<'_>| {
            let stated = receipt.json().text("output_value_hash").map(str::as_bytes);
            value.is_some_and(|value| stated == Some(value.as_slice()))
        };
        if !receipt.is_some_and(is_of_value) {
            let message = "there is no such receipt, or it is one of another status";
            found.add(packet, "reliance_derivation.formula_eval_receipt_ref", message);
        }
    }
}

/// Everything that a manifest names; what is a bare id has no kind.
fn named(manifest: &Json) -> BTreeSet<(&str, &str)> {
    let members = manifest.as_object().into_iter().flat_map(|members| members.iter());
    let texts = members.flat_map(|(_, value)| match value {
        Json::String(text) => Vec::from([text.as_str()]),
        Json::Array(items) => items.iter().filter_map(Json::as_str).collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_) => Vec::new(),
    });
    texts.map(|text| Reference::read(text).map_or(("", text), |one| (one.kind, one.id))).collect()
}

/// What stands against relying on what a manifest lists, as of a place in the log; else the input that is not there.
///
/// # Errors
/// The manifest names something that is not in the log.
pub fn standing_against<'w>(
    world: &'w World,
    run: &'w str,
    manifest: &'w Json,
    as_of: u64,
) -> Result<BTreeSet<Fact>, String> {
    Index::of(world).facts_at(run, manifest, as_of)
}

/// Rows by what they belong to.
struct Index<'w> {
    world: &'w World,
    against: Against<'w>,
    chains: By<'w, &'w str>,
    packages: By<'w, &'w str>,
    /// What was found in the packages that were looked at, by their places.
    shown: BTreeMap<u64, BTreeSet<Fact>>,
    decisions: By<'w, &'w str>,
    reviews: Stood<'w>,
    open_calls: Open<&'w str>,
    unverified_effects: Open<&'w str>,
}

/// The state of what gave way to another one.
const SUPERSEDED: &str = "superseded";

impl<'w> Index<'w> {
    fn of(world: &'w World) -> Self {
        Index {
            world,
            against: Against::of(world),
            chains: By::id(world, "EvaluationChainRegistryRecord"),
            packages: By::id(world, "EvidencePackage"),
            shown: BTreeMap::new(),
            decisions: By::member(world, "RevisionReviewDecisionReceipt", "packet_id"),
            reviews: Stood::of(world, &REVIEW),
            open_calls: open_calls(world),
            unverified_effects: unverified_effects(world),
        }
    }

    /// What stands against relying on a packet, as it was when its manifest was made; else the input that is not there.
    fn facts(&mut self, packet: Record<'w>, manifest: &'w Json) -> Result<BTreeSet<Fact>, String> {
        let as_of =
            packet.place("input_manifest.created_from_event_seq").unwrap_or(u64::MAX).min(packet.seq());
        self.facts_at(packet.json().text("run_id").unwrap_or_default(), manifest, as_of)
    }

    fn facts_at(&mut self, run: &'w str, manifest: &'w Json, as_of: u64) -> Result<BTreeSet<Fact>, String> {
        let mut facts = BTreeSet::new();
        self.chains(manifest, as_of, &mut facts)?;
        for snapshot in manifest.references("evaluation_snapshot_refs") {
            facts.extend(self.against.snapshot(run, snapshot.id, as_of));
        }
        facts.extend(self.against.run(run, as_of));
        self.evidence(manifest, as_of, &mut facts)?;
        self.reviews(manifest, as_of, &mut facts)?;
        self.policies(manifest, &mut facts)?;
        for call in manifest.references("hard_call_resolution_refs") {
            self.world.resolve(call).ok_or_else(|| format!("{call}"))?;
        }
        if self.open_calls.is_at(&run, as_of) {
            facts.insert(Fact::HardCallOpen);
        }
        if self.unverified_effects.is_at(&run, as_of) {
            facts.insert(Fact::SideEffectUnverified);
        }
        Ok(facts)
    }

    /// What the chains came to, and what stands against the results that they looked at.
    fn chains(&mut self, manifest: &'w Json, as_of: u64, facts: &mut BTreeSet<Fact>) -> Result<(), String> {
        const CONSIDERED: &str = "result_ids_considered";
        let mut resolved = BTreeSet::new();
        for reference in manifest.references("evaluation_chain_resolution_receipt_refs") {
            let receipt = self.world.resolve(reference).ok_or_else(|| format!("{reference}"))?;
            let json = receipt.json();
            facts.extend(self.against.listed(receipt, CONSIDERED, as_of));
            resolved.extend(json.id_at("chain_id"));
            let mut own = BTreeSet::new();
            if receipt.is("resolved_verdict", "failed") {
                own.insert(Fact::ChainFailed);
            }
            if receipt.is("resolved_route", "human_review_path") {
                own.insert(Fact::ChainForAPerson);
            }
            if receipt.is_one_of("resolved_route", &["retry_path", "block_until_resolved"]) {
                own.insert(Fact::ChainUnresolved);
            }
            let result = json.list(CONSIDERED).first().and_then(Json::as_str).map(bare);
            facts.extend(self.against.weighed(own, result, as_of));
        }
        for chain in manifest.ids_at("evaluation_chain_ids") {
            if !resolved.contains(chain) {
                facts.insert(Fact::ChainUnresolved);
            }
            if let Some(record) = self.chains.until(&chain, as_of).last() {
                facts.extend(self.against.listed(*record, "received_result_ids", as_of));
            }
        }
        Ok(())
    }

    fn evidence(&mut self, manifest: &'w Json, as_of: u64, facts: &mut BTreeSet<Fact>) -> Result<(), String> {
        let packages = manifest.references("evidence_package_refs");
        if packages.is_empty() {
            facts.insert(Fact::EvidenceMissing);
        }
        for reference in packages {
            let package = self.packages.until(&reference.id, as_of).last();
            let package = package.ok_or_else(|| format!("{reference}"))?;
            facts.extend(self.shown.entry(package.seq()).or_insert_with(|| shown(*package)).iter());
        }
        Ok(())
    }

    fn reviews(&self, manifest: &'w Json, as_of: u64, facts: &mut BTreeSet<Fact>) -> Result<(), String> {
        for reference in manifest.references("revision_review_packet_refs") {
            let review = self.world.resolve(reference).ok_or_else(|| format!("{reference}"))?;
            let is_decided = !self.decisions.until(&review.id(), as_of).is_empty();
            let is_gone = review.is("state", SUPERSEDED)
                || self.reviews.at(&(None, review.id()), as_of) == Some(SUPERSEDED);
            if !is_decided && !is_gone {
                facts.insert(Fact::CandidateUnreviewed);
            }
        }
        Ok(())
    }

    fn policies(&self, manifest: &'w Json, facts: &mut BTreeSet<Fact>) -> Result<(), String> {
        for reference in manifest.references("policy_decision_refs") {
            let policy = self.world.resolve(reference).ok_or_else(|| format!("{reference}"))?;
            facts.extend(match policy.json().text("decision") {
                Some("warn") => Some(Fact::PolicyWarned),
                Some("deny") => Some(Fact::PolicyDenied),
                Some("require_human") => Some(Fact::PolicyAsksForAPerson),
                Some(_) | None => None,
            });
        }
        Ok(())
    }
}

/// What an evidence package has against relying on it.
fn shown(package: Record<'_>) -> BTreeSet<Fact> {
    let mut facts = BTreeSet::new();
    if !package.is_blank("unresolved_research_need_refs") {
        facts.insert(Fact::NeedUnresolved);
    }
    if !package.is_blank("stale_or_unverified_source_refs") {
        facts.insert(Fact::SourceStale);
    }
    for claim in package.list("claim_support_map") {
        facts.extend(claim.text("support_status").and_then(claim_fact));
    }
    facts
}

fn claim_fact(support_status: &str) -> Option<Fact> {
    match support_status {
        "contradicted" => Some(Fact::ClaimContradicted),
        "unsupported" => Some(Fact::ClaimUnsupported),
        "partially_supported" => Some(Fact::ClaimPartlySupported),
        "not_checked" => Some(Fact::ClaimUnchecked),
        "indeterminate_stale_or_unverified" => Some(Fact::SourceStale),
        _supported => None,
    }
}

/// The questions to a person of each run: from where they are raised to where they are answered or stopped.
fn open_calls(world: &World) -> Open<&str> {
    let mut closed: BTreeMap<&str, u64> = BTreeMap::new();
    for answer in world.of("HardCallResolutionReceipt") {
        if let Some(call) = text(answer, "hard_call_id") {
            closed.entry(call).or_insert(answer.seq());
        }
    }
    for cancel in world.of("TaskCancelReceipt") {
        for stopped in cancel.json().references("stopped_refs") {
            if stopped.kind == "hard_revision_call" {
                closed.entry(stopped.id).or_insert(cancel.seq());
            }
        }
    }
    let calls = world.of("HardRevisionCall");
    Open::new(
        calls
            .filter_map(|one| text(one, "run_id").map(|run| (run, one.seq(), closed.get(one.id()).copied()))),
    )
}

/// The effects of each run that were carried out: from there to where a receipt proves how.
fn unverified_effects(world: &World) -> Open<&str> {
    let mut proved: BTreeMap<&str, u64> = BTreeMap::new();
    for effect in world.of("SideEffectLedgerEntry").filter(|one| !one.is_blank("receipt_ref")) {
        proved.entry(effect.id()).or_insert(effect.seq());
    }
    let done = world.of("SideEffectLedgerEntry").filter(|one| one.is("state", "executed"));
    Open::new(done.filter_map(|one| {
        let proved = proved.get(one.id()).copied();
        let is_open = proved.is_none_or(|proved| proved > one.seq());
        text(one, "run_id").filter(|_| is_open).map(|run| (run, one.seq(), proved))
    }))
}
