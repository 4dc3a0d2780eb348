//! What is handed on: packets, digests, budgets, replays, what was stopped, what can't be undone.
//! Owns: what of it must be the same in two places. Must not: judge what is handed on.

use super::{Found, What};
use crate::derive::text;
use crate::member::Member;
use crate::path::Path;
use crate::reference::Reference;
use crate::world::{Record, World, hash};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::Json;

pub(super) fn find(world: &World, found: &mut Found) {
    packets(world, found);
    digests(world, found);
    costs(world, found);
    replays(world, found);
    stops(world, found);
    effects(world, found);
    answers(world, found);
    signals(world, found);
    matters(world, found);
    numbers(world, found);
    candidates(world, found);
    exports(world, found);
}

/// What a policy blocks it does not allow, and what it does not allow can't be used for a reason that is told.
fn candidates(world: &World, found: &mut Found) {
    for detection in world.of("SufficiencyDetectionResult") {
        for (at, candidate) in detection.json().list("candidate_procedures").iter().enumerate() {
            let is_wrong = match candidate.flag("policy_allowed") {
                Some(true) => candidate.is("inapplicable_reason", "policy_blocked"),
                Some(false) => candidate.is_blank("inapplicable_reason"),
                None => false,
            };
            if is_wrong {
                let path = Path::from("candidate_procedures").item(at).then("policy_allowed");
                found.add(detection, path, What::Repeat, "is not what its reason says");
            }
        }
    }
}

/// What was saved or exported can't be called back.
fn exports(world: &World, found: &mut Found) {
    for receipt in world.of("WorkspaceExternalizationReceipt") {
        let has_left = receipt.is("status", "completed")
            && receipt.is_one_of("externalization_kind", &["save_as", "export_bundle"]);
        if has_left && receipt.flag("irreversible_disclosure_possible") == Some(false) {
            let message = "and what left can't be called back";
            found.add(receipt, "irreversible_disclosure_possible", What::Repeat, message);
        }
    }
}

fn set<'w>(record: Record<'w>, member: &str) -> BTreeSet<&'w str> {
    record.json().texts(member).into_iter().collect()
}

/// A packet holds what was asked for, has the hash of what it holds, and counts for what it was counted.
fn packets(world: &World, found: &mut Found) {
    let mut counted: BTreeMap<&str, Record<'_>> = BTreeMap::new();
    for receipt in world.of("TaskRunContextPacketAssemblyReceipt") {
        let packet = receipt.follow("packet_ref");
        counted.extend(packet.map(|packet| (packet.id(), receipt)));
        let request = receipt.json().text("request_id");
        let request = request.and_then(|id| world.find("TaskRunContextPacketRequest", id));
        let (Some(packet), Some(request)) = (packet, request) else { continue };
        let asked = &set(request, "required_item_refs") | &set(request, "optional_item_refs");
        let items = |list: &'static str, record: Record<'_>| -> bool {
            let mut named = record.json().list(list).iter().filter_map(|item| item.text("item_ref"));
            named.all(|item| asked.contains(item))
        };
        if !items("items", packet) {
            found.add(packet, "items", What::List, "holds what was not asked for");
        }
        if !items("omitted_items", receipt) {
            found.add(receipt, "omitted_items", What::List, "leaves out what was not asked for");
        }
        let is_short =
            receipt.json().list("omitted_items").iter().any(|one| one.flag("required") == Some(true));
        if receipt.is("packet_status", "blocked") && !is_short {
            found.add(
                receipt,
                "packet_status",
                What::Repeat,
                "is blocked, and nothing that it needs is left out",
            );
        }
        let has_warnings = !receipt.is_blank("warnings");
        if receipt.is("packet_status", "complete_with_warnings") != has_warnings {
            found.add(receipt, "packet_status", What::Repeat, "is not what its warnings say");
        }
    }
    for packet in world.of("TaskRunContextPacket") {
        let own = packet.json().at("items").and_then(hash);
        let stated = packet.json().text("content_hash").unwrap_or_default();
        if own.is_some_and(|own| own.hex() != stated.as_bytes()) {
            found.add(packet, "content_hash", What::Hash, "is not the hash of what it holds");
        }
    }
    let budgets: BTreeMap<&str, Record<'_>> =
        world.of("PerActivationContextBudget").map(|budget| (budget.id(), budget)).collect();
    for used in world.of("ContextPacketConsumption") {
        let activation = used.json().text("activation_id");
        if activation.is_some_and(|id| world.find("ModuleActivationEvent", id).is_none()) {
            found.add(used, "activation_id", What::NamesNothing, "is no activation");
        }
        let budget = activation.and_then(|id| budgets.get(id));
        let receipt = used.json().reference("packet_ref").and_then(|packet| counted.get(packet.id));
        if let (Some(budget), Some(receipt)) = (budget, receipt)
            && budget.count("packet_token_count") != receipt.count("actual_token_count")
        {
            found.add(*budget, "packet_token_count", What::Repeat, "is not what the packet was counted for");
        }
    }
}

/// What was selected for a digest is what it has.
fn digests(world: &World, found: &mut Found) {
    for selection in world.of("DigestSelection") {
        let digest = selection.follow("digest_ref");
        if digest.is_some_and(|digest| set(digest, "post_refs") != set(selection, "included_post_refs")) {
            found.add(selection, "included_post_refs", What::List, "is not what the digest has");
        }
    }
    for post in world.of("RunBoardVisiblePost") {
        let event = post.json().text("source_event_id").and_then(|id| world.find("RunBoardAuditEvent", id));
        let Some(event) = event else { continue };
        let is_secret = event.is_one_of("governance.data_class", &["privileged", "local_only"])
            || event.flag("governance.privileged") == Some(true);
        if is_secret && post.flag("redacted") == Some(false) {
            found.add(post, "redacted", What::Holding, "shows what is secret");
        }
        if post.is("withheld_reason", "privileged") && !is_secret {
            found.add(event, "governance", What::Holding, "was withheld as privileged and is not");
        }
    }
}

/// A story of costs tells all of a run; a sum of costs is one.
fn costs(world: &World, found: &mut Found) {
    let mut records: BTreeMap<&str, Vec<Record<'_>>> = BTreeMap::new();
    for record in world.of("TaskCostRecord") {
        if let Some(run) = record.json().text("run_id") {
            records.entry(run).or_default().push(record);
        }
    }
    for narrative in world.of("BudgetNarrative") {
        let own = narrative.json().text("run_id").and_then(|run| records.get(run)).into_iter().flatten();
        let own: BTreeSet<&str> = own.filter(|one| one.seq() < narrative.seq()).map(|one| one.id()).collect();
        let told = narrative.json().references("actual_cost_record_refs").into_iter();
        if own != told.map(|one| one.id).collect() {
            found.add(narrative, "actual_cost_record_refs", What::List, "are not the costs of the run");
        }
    }
    for vector in world.of("CostVector") {
        let Some(receipt) = vector.follow("formula_eval_receipt_ref") else { continue };
        let parts: Vec<Reference<'_>> = receipt.json().references("input_refs");
        let parts: Vec<Record<'_>> = parts.into_iter().filter_map(|one| world.resolve(one)).collect();
        let parts: Vec<Record<'_>> = parts.into_iter().filter(|one| one.kind() == "CostVector").collect();
        let components = vector.json().members("components").into_iter().flat_map(|all| all.iter());
        // Where all that is dear is taken to come together, quantiles add up as well.
        let is_bound = vector.is("correlation_policy", "assume_perfect_correlation_upper_bound");
        let summed: &[&'static str] =
            if is_bound { &["expected", "p50", "p90", "p99"] } else { &["expected"] };
        for (dimension, amount) in components.filter(|_| parts.len() > 1) {
            for name in summed {
                let amounts = parts.iter().filter_map(|part| part.members("components")?.get(dimension));
                let sum: f64 = amounts.filter_map(|amount| amount.number(name)).sum();
                if amount.number(name).is_some_and(|own| (own - sum).abs() > 1e-6) {
                    let path = Path::from("components").name(dimension).then(name);
                    found.add(vector, path, What::Repeat, "is not the sum of its parts");
                }
            }
        }
    }
}

/// A divergence tells what the step gave, and there is one only where the step diverged.
fn replays(world: &World, found: &mut Found) {
    let mut steps: BTreeMap<(&str, &str), Record<'_>> = BTreeMap::new();
    for step in world.of("ReplayStepResult") {
        let json = step.json();
        steps.extend(json.text("replay_request_id").zip(json.text("source_step_ref")).map(|at| (at, step)));
    }
    for divergence in world.of("ReplayDivergenceRecord") {
        let json = divergence.json();
        let at = json.text("replay_request_id").zip(json.text("source_step_ref"));
        let Some(step) = at.and_then(|at| steps.get(&at)) else {
            found.add(divergence, "source_step_ref", What::NamesNothing, "was not replayed");
            continue;
        };
        for member in ["original_output_hash", "replay_output_hash"] {
            if json.text(member) != step.json().text(member) {
                found.add(divergence, member, What::Repeat, "is not what the step gave");
            }
        }
        if step.json().text("original_output_hash") == step.json().text("replay_output_hash") {
            found.add(divergence, "", What::Repeat, "the step did not diverge");
        }
    }
}

/// What a cancel aims at is stopped, cancelled or told to stay, as it asked.
fn stops(world: &World, found: &mut Found) {
    for receipt in world.of("TaskCancelReceipt") {
        let json = receipt.json();
        let request = json.text("cancel_request_id").and_then(|id| world.find("TaskCancelProtocol", id));
        let Some(request) = request else { continue };
        if json.text("candidate_disposition") != request.json().text("candidate_disposition") {
            let message = "is not what was asked for";
            found.add(receipt, "candidate_disposition", What::Repeat, message);
        }
        let stayed = json.list("executed_side_effects").iter().filter_map(|one| one.text("ref"));
        let dealt: BTreeSet<&str> =
            stayed.chain(json.texts("stopped_refs")).chain(json.texts("cancelled_intent_refs")).collect();
        let aimed = set(request, "target_refs");
        if (!aimed.is_empty() || !request.is("cancel_scope", "entire_run")) && aimed != dealt {
            found.add(receipt, "stopped_refs", What::List, "is not what the request aims at");
        }
    }
}

/// What is told to have been done outside stands so in the ledger, and a checkpoint has all of it.
fn effects(world: &World, found: &mut Found) {
    let mut done: BTreeMap<&str, Record<'_>> = BTreeMap::new();
    let mut last: BTreeMap<&str, Record<'_>> = BTreeMap::new();
    for effect in world.of("SideEffectLedgerEntry") {
        if last.insert(effect.id(), effect).is_some_and(|before| !before.is("state", "intent")) {
            found.add(effect, "state", What::Fold, "follows on what was done or cancelled");
        }
        if effect.is("state", "executed") == effect.is_blank("receipt_ref") {
            found.add(effect, "state", What::Repeat, "what was done has a receipt, and nothing else has one");
        }
        if effect.is("state", "executed") {
            done.insert(effect.id(), effect);
        }
    }
    let kinds = ["TaskRunFork", "RevisionReviewDecisionReceipt"];
    for fork in kinds.into_iter().flat_map(|kind| world.of(kind)) {
        for (at, told) in fork.json().list("irrevocable_side_effects_at_fork").iter().enumerate() {
            let effect = told.text("side_effect_id").and_then(|id| done.get(id));
            let same = |member: &str, other: &str| {
                effect.is_some_and(|one| one.json().text(other) == told.text(member))
            };
            if !same("kind", "kind")
                || !same("executed_at", "created_at")
                || !same("receipt_ref", "receipt_ref")
            {
                let path = Path::from("irrevocable_side_effects_at_fork").item(at);
                found.add(fork, path, What::Repeat, "is not what the ledger says");
            }
        }
    }
    for receipt in world.of("TaskCancelReceipt") {
        let stayed = receipt.json().list("executed_side_effects").iter();
        let mut stayed = stayed.filter_map(|one| one.reference("ref"));
        if stayed.any(|one| !done.contains_key(one.id)) {
            found.add(receipt, "executed_side_effects", What::Repeat, "was not executed by the ledger");
        }
        for intent in receipt.json().references("cancelled_intent_refs") {
            if last.get(intent.id).is_some_and(|one| !one.is("state", "cancelled")) {
                found.add(receipt, "cancelled_intent_refs", What::Fold, format!("{intent} is not cancelled"));
            }
        }
    }
    checkpoints(world, &done, found);
}

/// A checkpoint has all that its run did outside, and the heads of what it keeps.
fn checkpoints(world: &World, done: &BTreeMap<&str, Record<'_>>, found: &mut Found) {
    let (mut made, mut accepted) = (Counted::new(), Counted::new());
    for version in world.of("ArtifactVersion") {
        if let Some(artifact) = version.json().text("artifact_stable_id") {
            made.entry(artifact).or_default().push((version.seq(), version.id()));
        }
    }
    let moved = world.of("ArtifactVersionTransitionEvent");
    for event in moved.filter(|event| event.is("to_state", "accepted_head")) {
        let version = event.follow("artifact_version_ref").filter(|one| one.kind() == "ArtifactVersion");
        let artifact = version.and_then(|one| Some((one.json().text("artifact_stable_id")?, one.id())));
        if let Some((artifact, id)) = artifact {
            accepted.entry(artifact).or_default().push((event.seq(), id));
        }
    }
    for checkpoint in world.of("KnownGoodCheckpoint") {
        let run = checkpoint.json().text("run_id");
        let own =
            done.values().filter(|one| one.seq() < checkpoint.seq() && one.json().text("run_id") == run);
        let own: BTreeSet<&str> = own.map(|one| one.id()).collect();
        let told = checkpoint.json().references("irreversible_side_effect_refs").into_iter();
        if own != told.map(|one| one.id).collect() {
            let message = "is not what the run did outside";
            found.add(checkpoint, "irreversible_side_effect_refs", What::List, message);
        }
        heads(&made, &accepted, checkpoint, found);
        if checkpoint.place("event_seq").is_some_and(|place| place >= checkpoint.seq()) {
            found.add(checkpoint, "event_seq", What::Place, "is not before the checkpoint");
        }
    }
}

/// Versions of artifacts by artifact, each with the place from which it counts.
type Counted<'w> = BTreeMap<&'w str, Vec<(u64, &'w str)>>;

/// The heads of a checkpoint are the versions that counted then: of each artifact that it keeps the one that was accepted last, or the
/// last one where nothing was.
fn heads(made: &Counted<'_>, accepted: &Counted<'_>, checkpoint: Record<'_>, found: &mut Found) {
    let kept = checkpoint.json().references("artifact_version_refs");
    let heads: BTreeSet<&str> =
        checkpoint.json().references("artifact_head_refs").into_iter().map(|one| one.id).collect();
    let artifact = |id: &str| checkpoint.world.find("ArtifactVersion", id)?.json().text("artifact_stable_id");
    let artifacts: BTreeSet<&str> = kept.iter().filter_map(|one| artifact(one.id)).collect();
    let last = |all: &Counted<'_>, artifact: &str| -> Option<String> {
        let all = all.get(artifact)?;
        let before = all.partition_point(|(seq, _)| *seq < checkpoint.seq());
        before.checked_sub(1).and_then(|at| all.get(at)).map(|(_, id)| String::from(*id))
    };
    let counted: BTreeSet<String> =
        artifacts.iter().filter_map(|one| last(accepted, one).or_else(|| last(made, one))).collect();
    if !heads.iter().copied().eq(counted.iter().map(String::as_str)) {
        let message = "are not the versions that counted of what it keeps";
        found.add(checkpoint, "artifact_head_refs", What::List, message);
    }
}

/// What is seen of a task is of the matter of the run in which it was computed.
fn matters(world: &World, found: &mut Found) {
    let mut of_run: BTreeMap<&str, &str> = BTreeMap::new();
    for record in world.all() {
        let both = record.json().text("run_id").zip(record.json().text("matter_id"));
        if let Some((run, matter)) = both {
            of_run.entry(run).or_insert(matter);
        }
    }
    for seen in world.of("MetricObservation") {
        let receipt = seen.follow("formula_eval_receipt_ref");
        let matter = receipt.and_then(|one| one.json().text("run_id")).and_then(|run| of_run.get(run));
        if let (Some(matter), Some(own)) = (matter, seen.json().text("matter_id"))
            && own != *matter
        {
            found.add(seen, "matter_id", What::Repeat, format!("and its run is of {matter}"));
        }
    }
}

/// An answer that is kept has the hashes of what was asked.
fn answers(world: &World, found: &mut Found) {
    for kept in world.of("HardCallResolution") {
        let json = kept.json();
        let prompt = json.at("prompt_text").and_then(Json::as_str).map(text::hash);
        let options = json.at("options").and_then(text::value_hash);
        for (member, own) in [("normalized_prompt_hash", prompt), ("normalized_options_hash", options)] {
            let stated = json.text(member).unwrap_or_default();
            if own.is_some_and(|own| own.hex() != stated.as_bytes()) {
                found.add(kept, member, What::Hash, "is not the hash of what was asked");
            }
        }
        let chosen = json.text("selected_option_id");
        if !json.list("options").iter().any(|option| option.text("option_id") == chosen) {
            found.add(kept, "selected_option_id", What::NamesNothing, "is no option");
        }
    }
}

/// The key that a signal compares with is one that a finding had before.
fn signals(world: &World, found: &mut Found) {
    let mut keys: BTreeSet<[u8; 64]> = BTreeSet::new();
    for finding in world.of("EvaluationFindingEvent") {
        keys.extend(finding.json().at("match_key").and_then(hash).map(|one| one.hex()));
    }
    for signal in world.of("ProgressSignalRecord") {
        let is_idle = signal.flag("same_reason_as_previous") == Some(false);
        if is_idle && signal.flag("strategy_switch_recommended") == Some(true) {
            let message = "and it did not fail as before";
            found.add(signal, "strategy_switch_recommended", What::Repeat, message);
        }
        for member in ["current_finding_match_key", "previous_finding_match_key"] {
            let key = signal.json().at(member).filter(|key| key.as_object().is_some()).and_then(hash);
            if key.is_some_and(|key| !keys.contains(&key.hex())) {
                found.add(signal, member, What::Repeat, "is the key of no finding");
            }
        }
    }
}

/// What is counted in each place: from one on, without a gap.
fn numbers(world: &World, found: &mut Found) {
    for (kind, of, member) in
        [("ForumTick", "room_id", "tick"), ("RunBoardAuditEvent", "run_id", "event_seq")]
    {
        let mut next: BTreeMap<&str, u64> = BTreeMap::new();
        for row in world.of(kind) {
            let (Some(of), Some(own)) = (row.json().text(of), row.count(member)) else { continue };
            let next = next.entry(of).or_insert(1);
            if own != *next {
                let message = format!("is {own} where {next} comes next");
                found.add(row, member, What::Place, message);
            }
            *next += 1;
        }
    }
}
