//! Whether the work may be relied on: the evidence behind it, the packet, and what becomes of that.
//! Owns: these records. Must not: find a fact that the records do not have; the rules gather them.

mod certify;
mod fall;
mod words;

pub use certify::issue;
pub use fall::{certifications, due, invalidate, is_standing, react};
pub use words::{still_open, summary};

use crate::artifact;
use crate::claims::{Claimed, is_later};
use crate::cost;
use crate::desk::{Desk, Error, From, hash_of, reference};
use crate::finding;
use crate::life;
use crate::names::ENGINE;
use crate::research;
use crate::show;
use crate::workspace;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::check::standing_against;
use countersign_govern::derive::reliance::{self, Fact, Limitation, limitations};
use countersign_govern::machine;
use countersign_govern::reference::Reference;
use countersign_govern::types::added::sourcing::DerivationEdge;
use countersign_govern::types::basic::{
    PolicyEvaluationRef, Severity, SourceRecordRef, StorageRef, V10, V11,
};
use countersign_govern::types::chain::{EvaluationChainResolutionReceipt, EvaluationResultEnvelope};
use countersign_govern::types::checkpoint::KnownGoodCheckpoint;
use countersign_govern::types::claim::{EvidencePackage, EvidencePackageClaimEntry, SourceEvidenceAnchor};
use countersign_govern::types::hard_call::HardCallResolutionReceipt;
use countersign_govern::types::read_models::DerivedReadModelRecordReadModelKind as ReadModel;
use countersign_govern::types::reliance::{
    RelianceArtifactLifecycleState as Life, RelianceInputManifest, RelianceStatus as Status,
    RelianceStatusDerivation, TaskReliancePacket,
};
use countersign_govern::types::review::RevisionReviewPacket;
use countersign_govern::types::source::VerificationState;
use countersign_govern::types::wire::Wire;
use countersign_record::json::{Json, Number, Object};

/// How the status is derived.
const POLICY: &str = "reliance.default.v1";

/// The evidence behind the heads of all artifacts.
///
/// # Errors
/// Something can't be written.
pub fn package(desk: &mut Desk, claims: &[Claimed]) -> Result<StorageRef, Error> {
    let read = workspace::read(desk)?;
    let heads = heads(desk)?;
    let entry = |claim: &Claimed| EvidencePackageClaimEntry {
        claim_ref: claim.claim_ref.clone(),
        supporting_anchor_refs: claim.supporting.clone(),
        contradicting_anchor_refs: claim.contradicting.clone(),
        support_status: claim.status,
        support_derivation_receipt_ref: claim.receipt.clone(),
    };
    let anchors: BTreeSet<StorageRef> =
        claims.iter().flat_map(|one| one.supporting.iter().chain(&one.contradicting)).cloned().collect();
    let sources = sources(desk, &anchors);
    let (taint_class, data_class, privileged) = label(desk, &sources);
    let package = EvidencePackage {
        evidence_package_id: desk.id("package"),
        task_id: desk.task().id.clone(),
        run_id: desk.run().to_string(),
        final_artifact_refs: heads.clone(),
        source_workspace_snapshot_ref: read.clone(),
        source_record_refs: sources.clone(),
        evidence_anchor_refs: anchors.iter().cloned().collect(),
        claim_support_map: claims.iter().map(entry).collect(),
        unresolved_research_need_refs: research::open_refs(desk)?
            .iter()
            .map(|one| one.as_str().to_string())
            .collect(),
        stale_or_unverified_source_refs: sources
            .iter()
            .filter(|one| is_doubtful(desk, one))
            .cloned()
            .collect(),
        data_class,
        matter_id: Some(desk.matter().to_string()),
        taint_class,
        privileged,
        created_at: desk.now(),
        schema_version: V11,
    };
    let shown = desk.open("EvidencePackage", &package)?;
    let mut inputs = heads;
    inputs.push(read);
    inputs.extend(research::open_refs(desk)?);
    inputs.extend(anchors);
    for source in &sources {
        inputs.push(
            StorageRef::try_from(source.as_str())
                .map_err(|_| Error::Unnameable(source.as_str().to_string()))?,
        );
    }
    show::header(desk, ReadModel::EvidencePackage, inputs, Some(shown.clone()), Vec::new())?;
    Ok(shown)
}

/// The versions that count, of all artifacts.
fn heads(desk: &Desk) -> Result<Vec<StorageRef>, Error> {
    let heads = desk.task().artifacts.iter().filter_map(|one| artifact::head(desk, &one.id));
    heads.map(|one| one.reference()).collect()
}

/// The sources that some places are in.
fn sources(desk: &Desk, anchors: &BTreeSet<StorageRef>) -> Vec<SourceRecordRef> {
    let ids: BTreeSet<&str> =
        anchors.iter().filter_map(|one| Reference::read(one.as_str())).map(|read| read.id).collect();
    let own = desk.all::<SourceEvidenceAnchor>().filter(|one| ids.contains(one.anchor_id.as_str()));
    let all: BTreeSet<SourceRecordRef> = own.map(|one| one.source_record_ref).collect();
    all.into_iter().collect()
}

pub(crate) fn is_doubtful(desk: &Desk, source: &SourceRecordRef) -> bool {
    workspace::standing(desk, source.as_str()).is_none_or(|one| {
        let is_stale = one.fresh_until.as_ref().is_some_and(|until| !is_later(until.as_str(), desk));
        let treatment = one.legal_payload.as_ref().and_then(|law| law.treatment_status);
        let is_verified = one.verification_state == Some(VerificationState::Verified);
        reliance::is_doubtful(is_verified, is_stale, treatment)
    })
}

type Label =
    (countersign_govern::types::basic::TaintClass, countersign_govern::types::basic::DataClass, bool);

/// What some sources are together; nothing, where there are none.
fn label(desk: &Desk, sources: &[SourceRecordRef]) -> Label {
    use countersign_govern::types::basic::{DataClass, TaintClass};
    let nothing = (TaintClass::InternalCorpusTrusted, DataClass::Public, false);
    sources.iter().filter_map(|one| workspace::standing(desk, one.as_str())).fold(nothing, |all, one| {
        (
            all.0.max(one.taint_class.unwrap_or(TaintClass::Unclassified)),
            all.1.max(one.data_class.unwrap_or(DataClass::LocalOnly)),
            all.2 || one.privileged.unwrap_or(false),
        )
    })
}

/// What a packet rests on, besides the evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Besides {
    /// What the run cost.
    pub budget: Option<StorageRef>,
}

/// The packet: what it rests on, and what follows from that. It replaces the one before.
///
/// # Errors
/// Something can't be written.
pub fn packet(desk: &mut Desk, package: &StorageRef, besides: &Besides) -> Result<TaskReliancePacket, Error> {
    let packet_id = desk.id("packet");
    let packet_ref = reference("TaskReliancePacket", &packet_id)?;
    let before = last(desk);
    let manifest = manifest(desk, package, besides)?;
    let manifest_json = manifest.write().unwrap_or(Json::Null);
    let facts =
        standing_against(&desk.world(), desk.run(), &manifest_json, desk.end()).map_err(Error::Missing)?;
    let limits: Vec<Limitation> = limitations(&facts).into_iter().collect();
    let from = From {
        formula: "reliance_status_v1",
        inputs: against(&facts, &limits),
        input_refs: Vec::from([package.clone()]),
        output_ref: packet_ref.clone(),
    };
    let derived = desk.derive_member(from, "status")?;
    let word = derived.value.get("status").and_then(Json::as_str).unwrap_or_default();
    let status = Status::find(word).ok_or_else(|| Error::Missing("reliance status".to_string()))?;
    // Whoever wrote the work had the whole workspace before them, whether or not they cite it.
    let (taint_class, data_class, privileged) = workspace::whole(desk);
    let packet = TaskReliancePacket {
        packet_id: packet_id.clone(),
        task_id: desk.task().id.clone(),
        run_id: desk.run().to_string(),
        input_manifest: manifest,
        reliance_derivation: RelianceStatusDerivation {
            status,
            decisive_input_refs: Vec::from([package.clone()]),
            unresolved_limitations: limits,
            required_human_review_refs: Vec::new(),
            scope_statement: scope(desk),
            derivation_policy_ref: POLICY.to_string(),
            formula_eval_receipt_ref: Some(derived.receipt.clone()),
            explanation: words::explained(&facts, &open(desk)),
            schema_version: V10,
        },
        lifecycle_state: Life::Draft,
        generated_by_ref: ENGINE.to_string(),
        reviewed_by_user_ref: None,
        issued_at: None,
        invalidated_by_event_ref: None,
        matter_id: Some(desk.matter().to_string()),
        data_class,
        taint_class,
        privileged,
        user_visible_summary: summary(status).to_string(),
        schema_version: V11,
    };
    desk.open("TaskReliancePacket", &packet)?;
    desk.put(&DerivationEdge {
        output_ref: packet_ref.clone(),
        input_refs: Vec::from([package.clone()]),
        sanitization_ref: None,
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    if let Some(before) = before {
        supersede(desk, &before)?;
    }
    go(desk, &packet_id, Life::ReadyForReview, ENGINE, "the status is derived")?;
    fall::header(desk, &packet, packet_ref)?;
    Ok(packet)
}

/// How bad the findings are that still stand.
fn open(desk: &Desk) -> Vec<Severity> {
    let live = finding::all(desk).into_iter().filter(|one| finding::is_live(one.state));
    live.map(|one| one.event.severity).collect()
}

/// What stands against a packet, as the formula takes it.
fn against(facts: &BTreeSet<Fact>, limits: &[Limitation]) -> Object {
    let count = |fact: Fact| u32::from(facts.contains(&fact));
    let people = count(Fact::HardCallOpen) + count(Fact::ChainForAPerson);
    let number = |count: u32| Json::Number(Number::from(count));
    Object::from([
        ("limitations", Json::Array(limits.iter().map(|one| one.as_str().into()).collect())),
        ("evidence_packages", number(1 - count(Fact::EvidenceMissing))),
        ("failed_chains", number(count(Fact::ChainFailed) + count(Fact::OutcomeGivenUp))),
        ("live_blockers", number(count(Fact::LiveBlocker))),
        ("contradicted_claims", number(count(Fact::ClaimContradicted))),
        ("open_hard_calls", number(people)),
    ])
}

fn package_body(desk: &Desk, package: &StorageRef) -> Result<EvidencePackage, Error> {
    let missing = || Error::Missing(package.as_str().to_string());
    let id = Reference::read(package.as_str()).map(|read| read.id.to_string()).ok_or_else(missing)?;
    desk.find("EvidencePackage", &id).ok_or_else(missing)
}

fn scope(desk: &Desk) -> String {
    let said = desk.task().scope.clone();
    said.unwrap_or_else(|| format!("The sources of this run, for the task “{}”.", desk.task().title))
}

/// The frozen list of what a packet rests on.
fn manifest(
    desk: &mut Desk,
    package: &StorageRef,
    besides: &Besides,
) -> Result<RelianceInputManifest, Error> {
    let chains = last_chains(desk);
    let snapshots: BTreeSet<StorageRef> = chains.iter().map(|(_, snapshot)| snapshot.clone()).collect();
    let answers: Vec<String> = desk.all::<HardCallResolutionReceipt>().map(|one| one.receipt_id).collect();
    let is_replaced = |id: &str| desk.says("revision_review_packet", id, "state") == Some("superseded");
    let reviews = desk.all::<RevisionReviewPacket>().map(|one| one.packet_id);
    let reviews: Vec<String> = reviews.filter(|id| !is_replaced(id)).collect();
    let read = package_body(desk, package)?.source_workspace_snapshot_ref;
    let mut policies: Vec<PolicyEvaluationRef> = Vec::from([desk.leave()?]);
    policies.extend(cost::warned(desk)?);
    let receipts: Vec<String> = chains.iter().map(|(one, _)| one.receipt_id.clone()).collect();
    let mut manifest = RelianceInputManifest {
        final_artifact_refs: heads(desk)?,
        evaluation_chain_ids: chains.iter().map(|(one, _)| one.chain_id.clone()).collect(),
        evaluation_chain_resolution_receipt_refs: crate::names::references(
            "EvaluationChainResolutionReceipt",
            receipts.iter().map(String::as_str),
        )?,
        evaluation_snapshot_refs: snapshots.into_iter().collect(),
        source_workspace_snapshot_refs: Vec::from([read]),
        evidence_package_refs: Vec::from([package.clone()]),
        revision_review_packet_refs: crate::names::references(
            "RevisionReviewPacket",
            reviews.iter().map(String::as_str),
        )?,
        hard_call_resolution_refs: crate::names::references(
            "HardCallResolutionReceipt",
            answers.iter().map(String::as_str),
        )?,
        policy_decision_refs: policies,
        budget_narrative_ref: besides.budget.clone(),
        known_good_checkpoint_refs: desk.all::<KnownGoodCheckpoint>().map(|one| one.checkpoint_id).collect(),
        created_from_event_seq: desk.end(),
        input_manifest_hash: String::new(),
        schema_version: V10,
    };
    let mut json = manifest.write().unwrap_or(Json::Null);
    if let Json::Object(members) = &mut json {
        members.remove("input_manifest_hash");
    }
    manifest.input_manifest_hash = String::from(hash_of(&json)?);
    Ok(manifest)
}

/// The last resolution of each outcome, with the snapshot that it is of.
fn last_chains(desk: &Desk) -> Vec<(EvaluationChainResolutionReceipt, StorageRef)> {
    let results: BTreeMap<String, EvaluationResultEnvelope> =
        desk.all::<EvaluationResultEnvelope>().map(|one| (one.result_id.clone(), one)).collect();
    let mut last: BTreeMap<String, (EvaluationChainResolutionReceipt, StorageRef)> = BTreeMap::new();
    for receipt in desk.all::<EvaluationChainResolutionReceipt>() {
        let result = receipt.result_ids_considered.first().and_then(|id| results.get(id));
        if let Some(result) = result {
            last.insert(result.outcome_id.clone(), (receipt, result.evaluation_snapshot_ref.clone()));
        }
    }
    last.into_values().collect()
}

/// The last packet, as it stands.
#[must_use]
pub fn last(desk: &Desk) -> Option<TaskReliancePacket> {
    let id = desk.each::<Json>("TaskReliancePacket").next_back()?.id;
    desk.standing("TaskReliancePacket", &id)
}

/// The place of the last packet.
fn last_place(desk: &Desk) -> Option<u64> {
    desk.each::<Json>("TaskReliancePacket").next_back().map(|found| found.seq)
}

/// A packet by its id, as it stands; the last one where none is named.
#[must_use]
pub fn find(desk: &Desk, packet: Option<&str>) -> Option<TaskReliancePacket> {
    match packet {
        Some(id) => desk.standing("TaskReliancePacket", id),
        None => last(desk),
    }
}

/// A packet moves on.
///
/// # Errors
/// The table has no such move, or it can't be written.
pub fn go(desk: &mut Desk, packet: &str, to: Life, by: &str, reason: &str) -> Result<(), Error> {
    let from = desk.says("task_reliance_packet", packet, "lifecycle_state").unwrap_or_default().to_string();
    if !machine::RELIANCE.allows(&from, to.as_str()) {
        return Err(Error::Missing(format!("way for {packet} from {from} to {}", to.as_str())));
    }
    life::go(desk, &reference("TaskReliancePacket", packet)?, (&from, to.as_str()), by, reason)?;
    Ok(())
}

fn supersede(desk: &mut Desk, before: &TaskReliancePacket) -> Result<(), Error> {
    match before.lifecycle_state {
        Life::Draft | Life::ReadyForReview | Life::UserReviewed | Life::Issued | Life::Invalidated => {
            go(desk, &before.packet_id, Life::Superseded, ENGINE, "a newer packet of the run")
        }
        Life::Superseded | Life::Archived => Ok(()),
    }
}
