//! Whether a reliance status follows from what its packet rests on.
//! Owns: gathering the facts of a packet as they were when it was made. Must not: say what they come to.

use super::Found;
use super::rows::{By, Open, text};
use crate::derive::chain::FindingState;
use crate::derive::reliance::{Fact, Limitation, Status, limitations, status};
use crate::member::{Member, is_blank};
use crate::reference::Reference;
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
    let index = Index::of(world);
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
    findings_by_result: By<'w, &'w str>,
    findings_by_run: By<'w, &'w str>,
    moves_by_finding: By<'w, &'w str>,
    envelopes_by_snapshot: By<'w, (&'w str, &'w str)>,
    chains: By<'w, &'w str>,
    packages: By<'w, &'w str>,
    decisions: By<'w, &'w str>,
    outcomes_by_run: By<'w, &'w str>,
    moves_by_outcome: By<'w, &'w str>,
    open_calls: Open<'w>,
    unverified_effects: Open<'w>,
}

impl<'w> Index<'w> {
    fn of(world: &'w World) -> Self {
        Index {
            world,
            findings_by_result: By::member(world, "EvaluationFindingEvent", "result_id"),
            findings_by_run: By::new(world, "EvaluationFindingEvent", |one| {
                let result = text(one, "result_id")?;
                world.find("EvaluationResultEnvelope", result).and_then(|result| text(result, "run_id"))
            }),
            moves_by_finding: By::member(world, "FindingLifecycleTransitionReceipt", "finding_id"),
            envelopes_by_snapshot: By::new(world, "EvaluationResultEnvelope", |one| {
                let snapshot = one.json().reference("evaluation_snapshot_ref").map(|one| one.id);
                text(one, "run_id").zip(snapshot)
            }),
            chains: By::id(world, "EvaluationChainRegistryRecord"),
            packages: By::id(world, "EvidencePackage"),
            decisions: By::member(world, "RevisionReviewDecisionReceipt", "packet_id"),
            outcomes_by_run: By::member(world, "OutcomeRecord", "run_id"),
            moves_by_outcome: By::member(world, "OutcomeStateTransitionEvent", "outcome_id"),
            open_calls: open_calls(world),
            unverified_effects: unverified_effects(world),
        }
    }

    /// What stands against relying on a packet, as it was when its manifest was made; else the input that is not there.
    fn facts(&self, packet: Record<'w>, manifest: &'w Json) -> Result<BTreeSet<Fact>, String> {
        let as_of =
            packet.place("input_manifest.created_from_event_seq").unwrap_or(u64::MAX).min(packet.seq());
        self.facts_at(packet.json().text("run_id").unwrap_or_default(), manifest, as_of)
    }

    fn facts_at(&self, run: &'w str, manifest: &'w Json, as_of: u64) -> Result<BTreeSet<Fact>, String> {
        let mut facts = BTreeSet::new();
        let results = self.chains(manifest, as_of, &mut facts)?;
        self.evaluations(results, run, manifest, as_of, &mut facts);
        self.findings(run, as_of, &mut facts);
        self.outcomes(run, as_of, &mut facts);
        self.evidence(manifest, as_of, &mut facts)?;
        self.reviews(manifest, as_of, &mut facts)?;
        self.policies(manifest, &mut facts)?;
        for call in manifest.references("hard_call_resolution_refs") {
            self.world.resolve(call).ok_or_else(|| format!("{call}"))?;
        }
        if self.open_calls.is_at(run, as_of) {
            facts.insert(Fact::HardCallOpen);
        }
        if self.unverified_effects.is_at(run, as_of) {
            facts.insert(Fact::SideEffectUnverified);
        }
        Ok(facts)
    }

    /// What the chains came to; the results that they looked at.
    fn chains(
        &self,
        manifest: &'w Json,
        as_of: u64,
        facts: &mut BTreeSet<Fact>,
    ) -> Result<BTreeSet<&'w str>, String> {
        let (mut results, mut resolved) = (BTreeSet::new(), BTreeSet::new());
        for reference in manifest.references("evaluation_chain_resolution_receipt_refs") {
            let receipt = self.world.resolve(reference).ok_or_else(|| format!("{reference}"))?;
            let considered = receipt.json().ids_at("result_ids_considered");
            let result = considered.first().copied();
            results.extend(considered);
            resolved.extend(receipt.json().id_at("chain_id"));
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
            facts.extend(self.weighed(own, result, as_of));
        }
        for chain in manifest.ids_at("evaluation_chain_ids") {
            if !resolved.contains(chain) {
                facts.insert(Fact::ChainUnresolved);
            }
            if let Some(record) = self.chains.until(&chain, as_of).last() {
                results.extend(record.json().ids_at("received_result_ids"));
            }
        }
        Ok(results)
    }

    /// Live blockers and limits of the results that the chains looked at, and of those on the snapshots of the manifest.
    fn evaluations(
        &self,
        mut results: BTreeSet<&'w str>,
        run: &'w str,
        manifest: &'w Json,
        as_of: u64,
        facts: &mut BTreeSet<Fact>,
    ) {
        for snapshot in manifest.references("evaluation_snapshot_refs") {
            let envelopes = self.envelopes_by_snapshot.until(&(run, snapshot.id), as_of);
            results.extend(envelopes.iter().map(|envelope| envelope.id()));
        }
        for result in results {
            let mut own = BTreeSet::new();
            let envelope = self.world.find("EvaluationResultEnvelope", result);
            for word in envelope.into_iter().flat_map(|one| one.json().texts("decision.limitations")) {
                own.extend(Limitation::find(word).map(Fact::Limited));
            }
            let findings = self.findings_by_result.until(&result, as_of);
            if findings.iter().any(|finding| self.is_live_blocker(*finding, as_of)) {
                own.insert(Fact::LiveBlocker);
            }
            facts.extend(self.weighed(own, Some(result), as_of));
        }
    }

    /// Blockers of the run that still stand, by the last that was said of each: that a later look did not raise one again closes
    /// nothing.
    fn findings(&self, run: &'w str, as_of: u64, facts: &mut BTreeSet<Fact>) {
        let events = self.findings_by_run.until(&run, as_of).iter();
        let last: BTreeMap<&str, Record<'w>> =
            events.filter_map(|one| text(*one, "finding_id").map(|id| (id, *one))).collect();
        for finding in last.into_values().filter(|one| self.is_live_blocker(*one, as_of)) {
            let own = BTreeSet::from([Fact::LiveBlocker]);
            facts.extend(self.weighed(own, text(finding, "result_id"), as_of));
        }
    }

    /// What was found of an outcome, as far as it counts: where the task does not insist on it, or it was given up, what would keep
    /// somebody from relying on all of the work comes to one fact about that outcome.
    fn weighed(&self, own: BTreeSet<Fact>, result: Option<&str>, as_of: u64) -> BTreeSet<Fact> {
        let result = result.and_then(|id| self.world.find("EvaluationResultEnvelope", id));
        let outcome =
            result.and_then(|one| self.world.find("OutcomeRecord", one.json().id_at("outcome_id")?));
        let Some(outcome) = outcome else { return own };
        let (is_given_up, is_required) = (self.is_given_up(outcome, as_of), is_required(outcome));
        if is_required && !is_given_up {
            return own;
        }
        let is_light = |fact: &Fact| fact.status() == Status::RelyWithLimitations;
        let is_worse = own.iter().any(|fact| !is_light(fact));
        let unmet = (is_worse && !is_required).then_some(Fact::OptionUnmet);
        own.into_iter().filter(is_light).chain(unmet).collect()
    }

    /// The outcomes of a run that were given up.
    fn outcomes(&self, run: &'w str, as_of: u64, facts: &mut BTreeSet<Fact>) {
        for outcome in self.outcomes_by_run.until(&run, as_of) {
            if self.is_given_up(*outcome, as_of) {
                let is_required = is_required(*outcome);
                facts.insert(if is_required { Fact::OutcomeGivenUp } else { Fact::OptionUnmet });
            }
        }
    }

    /// Whether nobody works on an outcome any more: somebody gave it up, or what it depends on has failed.
    fn is_given_up(&self, outcome: Record<'w>, as_of: u64) -> bool {
        let moves = self.moves_by_outcome.until(&outcome.id(), as_of);
        moves.last().is_some_and(|last| last.is_one_of("to_state", &["superseded", "upstream_failure"]))
    }

    fn is_live_blocker(&self, finding: Record<'w>, as_of: u64) -> bool {
        if !finding.is("severity", "blocking") || finding.flag("blocking_authority.satisfied") != Some(true) {
            return false;
        }
        let id = finding.json().id_at("finding_id").unwrap_or_default();
        let last = self.moves_by_finding.until(&id, as_of).last();
        let state = match last {
            Some(receipt) => receipt.json().text("to_state"),
            None => finding.json().text("emitted_state"),
        };
        state.and_then(FindingState::find).is_some_and(FindingState::is_live)
    }

    fn evidence(&self, manifest: &'w Json, as_of: u64, facts: &mut BTreeSet<Fact>) -> Result<(), String> {
        let packages = manifest.references("evidence_package_refs");
        if packages.is_empty() {
            facts.insert(Fact::EvidenceMissing);
        }
        for reference in packages {
            let package = self.packages.until(&reference.id, as_of).last();
            let package = package.ok_or_else(|| format!("{reference}"))?;
            if !package.is_blank("unresolved_research_need_refs") {
                facts.insert(Fact::NeedUnresolved);
            }
            if !package.is_blank("stale_or_unverified_source_refs") {
                facts.insert(Fact::SourceStale);
            }
            for claim in package.list("claim_support_map") {
                facts.extend(claim.text("support_status").and_then(claim_fact));
            }
        }
        Ok(())
    }

    fn reviews(&self, manifest: &'w Json, as_of: u64, facts: &mut BTreeSet<Fact>) -> Result<(), String> {
        for reference in manifest.references("revision_review_packet_refs") {
            let review = self.world.resolve(reference).ok_or_else(|| format!("{reference}"))?;
            let is_decided = !self.decisions.until(&review.id(), as_of).is_empty();
            if !is_decided && !review.is("state", "superseded") {
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

/// Whether the task insists on an outcome; it does where it says nothing.
fn is_required(outcome: Record<'_>) -> bool {
    outcome.flag("required") != Some(false)
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
fn open_calls(world: &World) -> Open<'_> {
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
fn unverified_effects(world: &World) -> Open<'_> {
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
