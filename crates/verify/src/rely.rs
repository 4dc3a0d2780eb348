//! Whether the work may be relied on: the packet's manifest, what stands against relying on it, its status, how it is shown.
//! Owns: what these records must be. Must not: weigh facts; the formula does.

use crate::certified;
use crate::claims;
use crate::cost;
use crate::evidence;
use crate::finding;
use crate::formula::{Gathered, Ungathered, missing, receipt_of};
use crate::found::{Found, texts};
use crate::report::Check;
use crate::shown;
use crate::walk::Walk;
use crate::workspace;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::check::standing_against;
use countersign_govern::derive::reliance::{Fact, Severity, Status, limitations};
use countersign_govern::machine::RELIANCE;
use countersign_govern::member::Member;
use countersign_govern::types::wire::Wire;
use countersign_govern::world::Record;
use countersign_record::canonical;
use countersign_record::code::Code;
use countersign_record::json::{Json, Number, Object};

const CHECK: Check = Check::Reliance;

/// The engine, where a step is its own.
const ENGINE: &str = "engine:work";

/// The last package before a place.
fn package_before<'c>(walk: &Walk<'c, '_>, place: u64) -> Option<Record<'c>> {
    walk.case.last("EvidencePackage", place)
}

/// The last resolution of each outcome before a place, by outcome: the receipt, its chain, its snapshot.
fn chains<'c>(walk: &Walk<'c, '_>, place: u64) -> Vec<(Record<'c>, &'c str, &'c str)> {
    let mut last = BTreeMap::new();
    for receipt in walk.case.until("EvaluationChainResolutionReceipt", place) {
        let results = receipt.json().texts("result_ids_considered");
        let result = results.first().and_then(|id| walk.case.before("EvaluationResultEnvelope", id, place));
        let Some(result) = result else { continue };
        let json = result.json();
        let (outcome, snapshot) = (json.text("outcome_id"), json.text("evaluation_snapshot_ref"));
        if let (Some(outcome), Some(snapshot), Some(chain)) =
            (outcome, snapshot, receipt.json().text("chain_id"))
        {
            last.insert(outcome, (receipt, chain, snapshot));
        }
    }
    last.into_values().collect()
}

/// References to all records of a kind before a place.
fn all(walk: &Walk<'_, '_>, kind: &str, snake: &str, place: u64) -> Vec<String> {
    let name = |one: Record<'_>| {
        if snake.is_empty() { one.id().to_string() } else { format!("{snake}:{}", one.id()) }
    };
    walk.case.until(kind, place).map(name).collect()
}

/// The manifest that a packet must have: all that there is.
fn manifest(walk: &Walk<'_, '_>, packet: Record<'_>) -> Object {
    // What a packet lists is what there was before its receipt, which stands right before it.
    let place = packet.seq() - 1;
    let chains = chains(walk, place);
    let package = package_before(walk, place);
    let snapshots: BTreeSet<&str> = chains.iter().map(|(_, _, snapshot)| *snapshot).collect();
    let receipts: Vec<String> =
        chains.iter().map(|(one, ..)| format!("evaluation_chain_resolution_receipt:{}", one.id())).collect();
    let ids: Vec<&str> = chains.iter().map(|(_, chain, _)| *chain).collect();
    let heads: Vec<String> = evidence::heads(walk.case, place)
        .iter()
        .map(|one| format!("artifact_version:{}", one.id()))
        .collect();
    let packages: Vec<String> = package.iter().map(|one| format!("evidence_package:{}", one.id())).collect();
    let read: Vec<&str> =
        package.iter().filter_map(|one| one.json().text("source_workspace_snapshot_ref")).collect();
    let budget = walk.case.last("BudgetNarrative", place).map(|one| format!("budget_narrative:{}", one.id()));
    let is_over = !cost::overspent(walk.case, place).is_empty();
    let policies = ["leave"].into_iter().chain(is_over.then_some("budget"));
    let policies: Vec<String> =
        policies.map(|word| format!("policy_evaluation:{}", walk.case.own(word))).collect();
    let mut manifest = Object::from([
        ("final_artifact_refs", texts(&heads)),
        ("evaluation_chain_ids", texts(&ids)),
        ("evaluation_chain_resolution_receipt_refs", texts(&receipts)),
        ("evaluation_snapshot_refs", texts(&snapshots.into_iter().collect::<Vec<_>>())),
        ("source_workspace_snapshot_refs", texts(&read)),
        ("evidence_package_refs", texts(&packages)),
        (
            "revision_review_packet_refs",
            texts(&all(walk, "RevisionReviewPacket", "revision_review_packet", place)),
        ),
        (
            "hard_call_resolution_refs",
            texts(&all(walk, "HardCallResolutionReceipt", "hard_call_resolution_receipt", place)),
        ),
        ("policy_decision_refs", texts(&policies)),
        ("known_good_checkpoint_refs", texts(&all(walk, "KnownGoodCheckpoint", "", place))),
        ("created_from_event_seq", (place - 1).write().unwrap_or(Json::Null)),
        ("schema_version", "1.0".into()),
    ]);
    if let Some(budget) = budget {
        manifest.insert("budget_narrative_ref", budget);
    }
    let hash = canonical::hash(&manifest.clone().into()).map(String::from).unwrap_or_default();
    manifest.insert("input_manifest_hash", hash);
    manifest
}

/// What stands against relying on what a packet lists.
fn facts(walk: &Walk<'_, '_>, packet: Record<'_>) -> Result<BTreeSet<Fact>, Ungathered> {
    let manifest: Json = manifest(walk, packet).into();
    let as_of = manifest.count("created_from_event_seq").unwrap_or(0);
    standing_against(&walk.case.world, walk.case.run.as_str(), &manifest, as_of)
        .or_else(|what| missing(format!("{what} is not there")))
}

/// What the status is derived from.
pub(crate) fn inputs_of(
    walk: &Walk<'_, '_>,
    packet: &str,
    receipt: Record<'_>,
) -> Result<Gathered, Ungathered> {
    let Some(packet) = walk.case.world.versions("TaskReliancePacket", packet).next() else {
        return missing(format!("there is no {packet}"));
    };
    let facts = facts(walk, packet)?;
    let count = |fact: Fact| u32::from(facts.contains(&fact));
    let number = |count: u32| Json::Number(Number::from(count));
    let limits: Vec<&str> = limitations(&facts).into_iter().map(|one| one.as_str()).collect();
    let inputs = Object::from([
        ("limitations", texts(&limits)),
        ("evidence_packages", number(1 - count(Fact::EvidenceMissing))),
        ("failed_chains", number(count(Fact::ChainFailed) + count(Fact::OutcomeGivenUp))),
        ("live_blockers", number(count(Fact::LiveBlocker))),
        ("contradicted_claims", number(count(Fact::ClaimContradicted))),
        ("open_hard_calls", number(count(Fact::HardCallOpen) + count(Fact::ChainForAPerson))),
    ]);
    let package = package_before(walk, receipt.seq()).map(|one| format!("evidence_package:{}", one.id()));
    Ok(Gathered { inputs, input_refs: package.into_iter().collect() })
}

/// A packet lists all that there is, and says what follows from it.
pub(crate) fn packet<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    if walk.case.before("TaskReliancePacket", record.id(), record.seq()).is_some() {
        // Only the first row of a packet is written; how it goes on is folded.
        return found.about(Code::VerifyDerivation, CHECK, record, "", "it was written before");
    }
    for (name, expected) in manifest(walk, record).iter() {
        let path = format!("input_manifest.{name}");
        let stated = record.json().at(&path).cloned();
        let check = Check::Completeness;
        found.same(Code::VerifyIncomplete, check, record, &path, Some(expected.clone()), stated);
    }
    if claims::are_withheld(walk.case, record.seq()) {
        found.withheld(CHECK);
    }
    let (gathered, facts) = match (inputs_of(walk, record.id(), record), facts(walk, record)) {
        (Ok(gathered), Ok(facts)) => (gathered, facts),
        (Err(Ungathered::Withheld), _) | (_, Err(Ungathered::Withheld)) => return found.withheld(CHECK),
        (Err(Ungathered::Missing(why)), _) | (_, Err(Ungathered::Missing(why))) => {
            return walk.underivable(CHECK, record, why, found);
        }
    };
    let value = walk.formulas.value("reliance_status_v1", &gathered.inputs).unwrap_or(Json::Null);
    let status = value.text("status").and_then(Status::find);
    let scope = walk.case.task.scope().map(String::from);
    let scope = scope
        .unwrap_or_else(|| format!("The sources of this run, for the task “{}”.", walk.case.task.title()));
    let none: [&str; 0] = [];
    let receipt = receipt_of(walk, &format!("task_reliance_packet:{}", record.id()), record.seq());
    let derivation = Object::from([
        ("status", status.map_or(Json::Null, |status| status.as_str().into())),
        ("decisive_input_refs", texts(&gathered.input_refs)),
        ("unresolved_limitations", gathered.inputs.get("limitations").cloned().unwrap_or(Json::Null)),
        ("required_human_review_refs", texts(&none)),
        ("scope_statement", scope.into()),
        ("derivation_policy_ref", "reliance.default.v1".into()),
        ("formula_eval_receipt_ref", receipt.map_or(Json::Null, Json::from)),
        ("explanation", explained(&facts, &open(walk, record.seq())).into()),
        ("schema_version", "1.0".into()),
    ]);
    for (name, expected) in derivation.iter() {
        let expected = (*expected != Json::Null).then(|| expected.clone());
        found.must(CHECK, record, &format!("reliance_derivation.{name}"), expected);
    }
    found.must(CHECK, record, "user_visible_summary", status.map(|status| summary(status).into()));
    found.must_say(CHECK, record, "lifecycle_state", "draft");
    found.must_say(CHECK, record, "generated_by_ref", ENGINE);
    for name in ["reviewed_by_user_ref", "issued_at", "invalidated_by_event_ref"] {
        found.must(CHECK, record, name, None);
    }
    let (taint, class, privileged) = workspace::label(walk.case, record.seq());
    found.must_say(CHECK, record, "taint_class", taint);
    found.must_say(CHECK, record, "data_class", class);
    found.must(CHECK, record, "privileged", Some(privileged.into()));
}

/// The words for a status.
pub(crate) fn summary(status: Status) -> &'static str {
    match status {
        Status::SafeToRelyWithinScope => "Safe to rely on within its scope.",
        Status::RelyWithLimitations => "Can be relied on with the limitations that are listed.",
        Status::HumanReviewRequired => "A person must look at it first.",
        Status::NotSafeToRely => "Not safe to rely on.",
    }
}

/// The severities of the findings that stand where the walk is.
fn open(walk: &Walk<'_, '_>, place: u64) -> Vec<String> {
    let events = finding::last_events(walk.case, place).into_iter();
    let live = events.filter(|event| finding::is_live(walk, event.json()));
    live.map(|event| event.json().text("severity").unwrap_or_default().to_string()).collect()
}

/// That findings are open and do not block, with how many there are of each severity.
pub(crate) fn still_open<'s>(severities: impl Iterator<Item = &'s str>) -> Option<String> {
    let mut counts: BTreeMap<Option<Severity>, u32> = BTreeMap::new();
    for word in severities.filter(|word| *word != "blocking") {
        *counts.entry(Severity::find(word)).or_default() += 1;
    }
    let all: u32 = counts.values().sum();
    let name = |severity: &Option<Severity>| severity.map_or("unknown", Severity::as_str);
    let of_what = match counts.iter().next() {
        None => return None,
        Some((one, _)) if counts.len() == 1 => name(one).to_string(),
        Some(_) => {
            let worst_first = counts.iter().rev().map(|(one, count)| format!("{count} {}", name(one)));
            worst_first.collect::<Vec<_>>().join(", ")
        }
    };
    let (findings, do_not) = if all == 1 { ("finding", "does not") } else { ("findings", "do not") };
    Some(format!("{all} open {findings} ({of_what}) {do_not} block it"))
}

/// Why a status is what it is, in words: what stands against it, or that nothing blocks and what is open besides.
fn explained(facts: &BTreeSet<Fact>, open: &[String]) -> String {
    if facts.is_empty() {
        let besides = still_open(open.iter().map(String::as_str));
        let besides = besides.map(|open| format!("; {open}")).unwrap_or_default();
        return format!("Nothing in the records blocks relying on it{besides}.");
    }
    let words: Vec<&str> = facts.iter().map(|fact| why(*fact)).collect();
    format!("{}.", words.join("; "))
}

fn why(fact: Fact) -> &'static str {
    match fact {
        Fact::ChainFailed => "an evaluation failed",
        Fact::ChainUnresolved => "an evaluation is not resolved",
        Fact::ChainForAPerson => "an evaluation was sent to a person",
        Fact::LiveBlocker => "a finding that blocks is still there",
        Fact::ClaimContradicted => "a source contradicts a claim",
        Fact::ClaimUnsupported => "no source supports a claim",
        Fact::ClaimPartlySupported => "a claim is supported in part only",
        Fact::ClaimUnchecked => "a part of it is not held against the sources",
        Fact::EvidenceMissing => "there is no evidence",
        Fact::SourceStale => "a source is out of date, nobody verified it, or it is law that is not current",
        Fact::NeedUnresolved => "a question to the sources is open",
        Fact::CandidateUnreviewed => "nobody has decided on a candidate",
        Fact::HardCallOpen => "a question to a person is open",
        Fact::PolicyWarned => "a policy warns",
        Fact::PolicyDenied => "a policy forbids a part of it",
        Fact::PolicyAsksForAPerson => "a policy asks for a person",
        Fact::SideEffectUnverified => "an effect outside is not proved",
        Fact::OutcomeGivenUp => "an outcome that must be met was given up",
        Fact::OptionUnmet => "an outcome that need not be met is not",
        Fact::Limited(_) => "an evaluation says that it is limited",
    }
}

/// What is shown names what it is made of.
pub(crate) fn shown<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    match record.kind() {
        "DerivationEdge" => edge(walk, record, found),
        "ReadModelInputManifest" => inputs(walk, record, found),
        _header => header(walk, record, found),
    }
}

/// A finding was made of the workspace, a packet of its evidence.
fn edge<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let output = record.json().text("output_ref").unwrap_or_default();
    let expected = match output.split_once(':') {
        Some(("evaluation_finding_event", _)) => {
            Some(format!("source_workspace_current_state:{}", walk.case.own("workspace")))
        }
        Some(("task_reliance_packet", _)) => {
            package_before(walk, record.seq()).map(|one| format!("evidence_package:{}", one.id()))
        }
        Some(("run_guidance_creation_event", id)) => {
            let expected = shown::guided_by(walk.case, id, record.seq()).unwrap_or_default();
            return found.must_list(CHECK, record, "input_refs", &expected);
        }
        Some(_) | None => return,
    };
    found.must_list(CHECK, record, "input_refs", &expected.into_iter().collect::<Vec<_>>());
    found.must(CHECK, record, "sanitization_ref", None);
}

/// The header that a manifest belongs to stands right behind it.
fn header_of<'c>(walk: &Walk<'c, '_>, manifest: Record<'_>) -> Option<Record<'c>> {
    let own = format!("read_model_input_manifest:{}", manifest.id());
    walk.case.world.of("DerivedReadModelRecord").find(|one| one.json().is("input_manifest_ref", &own))
}

/// A manifest lists what the shown thing is made of.
fn inputs<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let place = record.seq();
    let Some(package) = package_before(walk, place) else { return };
    let shown = format!("evidence_package:{}", package.id());
    let hash = {
        let mut members = record.json().as_object().cloned().unwrap_or_default();
        members.remove("input_manifest_hash");
        canonical::hash(&members.into()).map(String::from).unwrap_or_default()
    };
    found.must_say(CHECK, record, "input_manifest_hash", &hash);
    let expected: Vec<String> =
        match header_of(walk, record).and_then(|one| one.json().text("read_model_kind")) {
            Some("TaskReliancePacket") => {
                let packet = walk.case.last("TaskReliancePacket", place);
                packet
                    .map(|one| format!("task_reliance_packet:{}", one.id()))
                    .into_iter()
                    .chain([shown])
                    .collect()
            }
            Some("WorkProductCertification") => {
                let packet = walk.case.last("TaskReliancePacket", place);
                let packet = packet.map(|one| format!("task_reliance_packet:{}", one.id()));
                packet.into_iter().chain(certified::shown(walk, place)).collect()
            }
            Some("EvidencePackage") => {
                let json = package.json();
                let list = |name: &str| json.texts(name).into_iter().map(String::from);
                let read = json.text("source_workspace_snapshot_ref").map(String::from);
                list("final_artifact_refs")
                    .chain(read)
                    .chain(list("unresolved_research_need_refs"))
                    .chain(list("evidence_anchor_refs"))
                    .chain(list("source_record_refs"))
                    .collect()
            }
            Some(kind) => match shown::inputs(walk, kind, place) {
                Some(inputs) => inputs,
                None => return,
            },
            None => return,
        };
    found.must_list(CHECK, record, "input_refs", &expected);
    found.must(CHECK, record, "created_from_event_seq", (place - 1).write());
}

/// A header names its manifest, the policies, the receipts of what is shown.
fn header<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    if let Some(before) = walk.case.before("DerivedReadModelRecord", record.id(), record.seq()) {
        // A header is written again only to close it; by what, the contract holds.
        let mut expected = before.json().as_object().cloned().unwrap_or_default();
        let closed = shown::closed_at(walk.case, record);
        expected.insert("valid_until_event_seq", closed.write().unwrap_or(Json::Null));
        return found.must_be(CHECK, record, &expected, &["invalidated_by_event_ref"]);
    }
    let place = record.seq();
    let policies = walk.case.last("PolicySnapshot", place).map(|one| format!("policy_snapshot:{}", one.id()));
    found.must(CHECK, record, "derivation_policy_ref", policies.map(Json::from));
    let manifest = walk.case.last("ReadModelInputManifest", place);
    let manifest = manifest.map(|one| format!("read_model_input_manifest:{}", one.id()));
    found.must(CHECK, record, "input_manifest_ref", manifest.map(Json::from));
    found.must(CHECK, record, "valid_from_event_seq", (place - 1).write());
    for name in ["valid_until_event_seq", "invalidated_by_event_ref"] {
        found.must(CHECK, record, name, None);
    }
    let payload = record.json().text("payload_ref").unwrap_or_default();
    let (kind, shown) = match payload.split_once(':') {
        Some(("evidence_package", _)) => (
            "EvidencePackage",
            package_before(walk, place).map(|one| format!("evidence_package:{}", one.id())),
        ),
        Some(("task_reliance_packet", _)) => {
            let packet = walk.case.last("TaskReliancePacket", place);
            ("TaskReliancePacket", packet.map(|one| format!("task_reliance_packet:{}", one.id())))
        }
        Some(("work_product_certification", _)) => {
            ("WorkProductCertification", certified::shown(walk, place))
        }
        Some(_) | None => {
            let kind = shown::kind_of(walk.case, record);
            let receipts = shown::receipts(walk, kind.unwrap_or_default(), place);
            found.must_list(CHECK, record, "formula_eval_receipt_refs", &receipts);
            return found.must(CHECK, record, "read_model_kind", kind.map(Json::from));
        }
    };
    found.must_say(CHECK, record, "read_model_kind", kind);
    let receipts: Vec<String> = shown.iter().filter_map(|shown| receipt_of(walk, shown, place)).collect();
    found.must_list(CHECK, record, "formula_eval_receipt_refs", &receipts);
    found.must(CHECK, record, "payload_ref", shown.map(Json::from));
}

/// A packet moves from where it stands to where the table lets it; the engine makes it ready and replaces it, people do the rest.
pub(crate) fn moved<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let json = record.json();
    let Some(("task_reliance_packet", id)) = json.text("subject_ref").and_then(|text| text.split_once(':'))
    else {
        return;
    };
    let from = walk.says("task_reliance_packet", id, "lifecycle_state").unwrap_or_default();
    let to = json.text("to_state").unwrap_or_default();
    found.must_say(CHECK, record, "from_state", from);
    found.holds(
        CHECK,
        record,
        "to_state",
        RELIANCE.allows(from, to),
        "it can't go there from where it stands",
    );
    let reason = match to {
        "ready_for_review" => "the status is derived",
        "superseded" => "a newer packet of the run",
        _by_people => return certified::packet_moved(walk, record, found),
    };
    found.must_say(CHECK, record, "actor_ref", ENGINE);
    found.must_say(CHECK, record, "reason", reason);
}
