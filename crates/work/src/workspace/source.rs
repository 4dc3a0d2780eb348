//! The sources of a run: taken in, verified, out of date, cleared, documented better or less.
//! Owns: their records. Must not: decide an operation; `govern::decide::workspace` does.

use super::apply;
use crate::claims::is_later;
use crate::desk::{Desk, Error, reference};
use crate::show::person;
use crate::task::Source;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::reference::Reference;
use countersign_govern::types::added::policy::UserConfirmation;
use countersign_govern::types::basic::{False, SchemaRef, SourceTier, StorageRef, TaintClass, V10, V11};
use countersign_govern::types::claim::DomainPayloadRegistryRef;
use countersign_govern::types::source::{
    ApplicabilityScope, ApplicabilityScopeScopeKind, CoreAuthorityLevel, EphemeralSourceLookupReceipt,
    LegalSourcePayload, SourceRecord, SourceTierTransitionReceipt, VerificationState,
};
use countersign_govern::types::taint::{SanitizationNode, SanitizationNodeMethod};
use countersign_govern::types::workspace::SourceWorkspaceOperationKind as Kind;
use countersign_record::digest::Digest;
use countersign_record::json::{Json, Object};

/// Takes a source in. One of tier 0 was only looked up: it gets a receipt and no record, and can't support a claim.
///
/// # Errors
/// Something can't be written.
pub fn take_in(desk: &mut Desk, source: &Source, text: &[u8]) -> Result<(), Error> {
    if source.is_foreign(desk.matter()) {
        let own = source.matter.clone().unwrap_or_default();
        return Err(Error::Foreign { source_id: source.id.clone(), own });
    }
    let Some(tier) = tier(source.tier()) else {
        let (receipt_id, created_at) = (desk.id("lookup"), desk.now());
        let lookup = EphemeralSourceLookupReceipt {
            tool_receipt_ref: reference("ToolReceipt", &receipt_id)?,
            receipt_id,
            query_id: None,
            source_title_or_label: Some(source.title.clone().unwrap_or_else(|| source.path.clone())),
            lookup_purpose: "looked up in passing; supports nothing".to_string(),
            may_support_downstream_claims: False,
            created_at,
            schema_version: V10,
        };
        desk.put_with(&lookup, text.to_vec())?;
        return Ok(());
    };
    apply(desk, Kind::AddSourceRecord, source)?;
    let record = record(desk, source, tier, text);
    desk.open_with("SourceRecord", &record, text.to_vec())?;
    if source.verified_by.is_some() {
        apply(desk, Kind::AddVerificationRecord, source)?;
        let verified = SourceRecord { verification_state: Some(VerificationState::Verified), ..record };
        desk.open("SourceRecord", &verified)?;
    }
    Ok(())
}

pub(super) fn tier(tier: u64) -> Option<SourceTier> {
    match tier {
        1 => Some(SourceTier::One),
        2 => Some(SourceTier::Two),
        3 => Some(SourceTier::Three),
        _ => None,
    }
}

/// The record of a source, before anybody verified it.
fn record(desk: &Desk, source: &Source, tier: SourceTier, text: &[u8]) -> SourceRecord {
    let legal = source.is_legal().then(|| LegalSourcePayload {
        court: None,
        jurisdiction: source.jurisdiction.clone(),
        date: None,
        source_authority_level: source.authority,
        treatment_status: source.treatment,
        holdings: None,
        useful_propositions: None,
        pincite_refs: None,
        schema_version: V11,
    });
    let scope = |scope_kind, scope_value: String| {
        Vec::from([ApplicabilityScope {
            scope_kind,
            scope_value,
            authority_level: source.authority,
            domain_specific_payload: None,
            schema_version: V11,
        }])
    };
    // How much law counts stands in what is said of it as law; anything else counts so much in this matter.
    let scope = match (&source.jurisdiction, source.authority) {
        (Some(jurisdiction), _) => {
            Some(scope(ApplicabilityScopeScopeKind::LegalJurisdiction, jurisdiction.clone()))
        }
        (None, Some(_)) if !source.is_legal() => {
            Some(scope(ApplicabilityScopeScopeKind::Matter, desk.matter().to_string()))
        }
        (None, _) => None,
    };
    SourceRecord {
        source_id: desk.own(&source.id),
        tier,
        source_kind: source.kind,
        workspace_id: Some(desk.workspace_id()),
        task_id: Some(desk.task().id.clone()),
        trust_basis: Some(source.trust_basis),
        taint_class: Some(source.taint()),
        data_class: Some(source.class()),
        matter_id: Some(desk.matter().to_string()),
        privileged: Some(source.is_privileged()),
        verification_state: Some(VerificationState::Unverified),
        fresh_until: source.fresh_until.clone(),
        legal_payload: legal,
        applicability_scopes: scope,
        domain_payload: Some(document(source, text)),
        domain_payload_registry_ref: Some(payload_ref()),
        updated_at: Some(desk.now()),
        policy_decision_refs: None,
    }
}

/// Which file a source is: its path in the task, the hash of its bytes, when it came.
fn document(source: &Source, text: &[u8]) -> Json {
    let mut document = Object::from([
        ("path", Json::from(source.path.as_str())),
        ("sha256", Json::from(String::from(Digest::of(text)))),
    ]);
    if let Some(at) = &source.at {
        document.insert("received_at", at.as_str());
    }
    if let Some(by) = &source.verified_by {
        document.insert("verified_by", by.as_str());
    }
    document.into()
}

/// What the payload of a source's record means.
#[must_use]
pub fn payload_ref() -> DomainPayloadRegistryRef {
    DomainPayloadRegistryRef {
        domain_payload_kind: "document_file".to_string(),
        domain_payload_schema_ref: SchemaRef {
            schema_id: "document_file".to_string(),
            semantic_version: "1.0.0".to_string(),
        },
        domain_payload_version: "1.0.0".to_string(),
    }
}

/// The hash of the bytes that a source had when it was taken in, by its id in the task.
#[must_use]
pub fn hash_of(desk: &Desk, source: &str) -> Option<Digest> {
    let record: SourceRecord = desk.find("SourceRecord", &desk.own(source))?;
    let hash = record.domain_payload?.get("sha256")?.as_str().map(ToString::to_string)?;
    Digest::try_from(hash.as_str()).ok()
}

/// Whether a source is out of date by now.
#[must_use]
pub fn is_stale(desk: &Desk, source: &str) -> bool {
    let record: Option<SourceRecord> = desk.find("SourceRecord", &desk.own(source));
    let until = record.and_then(|record| record.fresh_until);
    until.is_some_and(|until| !is_later(until.as_str(), desk))
}

/// A source is not up to date any more.
///
/// # Errors
/// Something can't be written.
pub fn mark_stale(desk: &mut Desk, source: &Source) -> Result<StorageRef, Error> {
    let receipt = apply(desk, Kind::MarkSourceStale, source)?;
    if let Some(record) = desk.find::<SourceRecord>("SourceRecord", &desk.own(&source.id)) {
        let stale = SourceRecord { fresh_until: Some(desk.now()), updated_at: Some(desk.now()), ..record };
        desk.open("SourceRecord", &stale)?;
    }
    Ok(receipt)
}

/// Milliseconds for which a source holds that a person has verified.
const HOLDS_MS: u64 = 90 * 24 * 3_600 * 1_000;

/// A person has verified a source: it holds, for a while if it was out of date.
///
/// # Errors
/// Something can't be written.
pub fn verify(desk: &mut Desk, id: &str) -> Result<(), Error> {
    let Some(source) = desk.task().source(id).cloned() else { return Err(Error::Missing(id.to_string())) };
    apply(desk, Kind::AddVerificationRecord, &source)?;
    if let Some(record) = desk.find::<SourceRecord>("SourceRecord", &desk.own(id)) {
        let then = desk.later(HOLDS_MS);
        let verified = SourceRecord {
            verification_state: Some(VerificationState::Verified),
            fresh_until: record.fresh_until.as_ref().and(then),
            updated_at: Some(desk.now()),
            ..record
        };
        desk.open("SourceRecord", &verified)?;
    }
    Ok(())
}

/// A tier as a number.
pub(crate) fn number(tier: SourceTier) -> u64 {
    match tier {
        SourceTier::One => 1,
        SourceTier::Two => 2,
        SourceTier::Three => 3,
    }
}

/// What a source is trusted as that a person answers for.
const CLEARED: TaintClass = TaintClass::UserTrustedBounded;

/// Whether a source is trusted less than what a person brings themselves.
pub(crate) fn is_doubted(record: &SourceRecord) -> bool {
    record.taint_class.unwrap_or(TaintClass::Unclassified) > CLEARED
}

/// A person looked through a source and answers for it: it is trusted as what they bring themselves.
///
/// # Errors
/// It is not there or trusted as much, or something can't be written.
pub fn clear(desk: &mut Desk, id: &str, by: &str) -> Result<(), Error> {
    let source = desk.task().source(id).cloned().ok_or_else(|| Error::Missing(id.to_string()))?;
    let record = desk.standing::<SourceRecord>("SourceRecord", &desk.own(id));
    let record = record.ok_or_else(|| Error::Missing(id.to_string()))?;
    if !is_doubted(&record) {
        return Err(Error::Missing(format!("doubt in {id}")));
    }
    let (from, to) = (record.taint_class.unwrap_or(TaintClass::Unclassified), CLEARED);
    let subject = reference("SourceRecord", &desk.own(id))?;
    let evidence_ref = desk.put(&UserConfirmation {
        confirmation_id: desk.id("confirmed"),
        user_ref: person(by)?,
        subject_ref: subject.clone(),
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    apply(desk, Kind::UpdateSourceRecord, &source)?;
    desk.put(&SanitizationNode {
        node_id: desk.id("cleared"),
        input_taint: from,
        output_taint: to,
        method: SanitizationNodeMethod::HumanReview,
        evidence_ref,
        created_at: desk.now(),
        schema_version: V10,
        input_ref: Some(subject.clone()),
        output_ref: Some(subject),
    })?;
    let cleared = SourceRecord { taint_class: Some(to), updated_at: Some(desk.now()), ..record };
    desk.open("SourceRecord", &cleared)?;
    Ok(())
}

/// A source is documented better, or less by leave of somebody who may give it.
///
/// # Errors
/// It is not there or is of that tier, or something can't be written.
pub fn move_tier(desk: &mut Desk, id: &str, to: u64, by: &StorageRef, cleared: &str) -> Result<(), Error> {
    let source = desk.task().source(id).cloned().ok_or_else(|| Error::Missing(id.to_string()))?;
    let own = desk.own(id);
    let record = desk.find::<SourceRecord>("SourceRecord", &own);
    let record = record.ok_or_else(|| Error::Missing(id.to_string()))?;
    let to = tier(to).filter(|to| *to != record.tier);
    let to = to.ok_or_else(|| Error::Missing(format!("another tier for {id}")))?;
    apply(desk, Kind::RecordTierTransition, &source)?;
    desk.put(&SourceTierTransitionReceipt {
        receipt_id: desk.id("tier-moved"),
        source_id: own,
        from_tier: record.tier,
        to_tier: to,
        transition_reason: "its documents were looked at again".to_string(),
        actor_ref: by.as_str().to_string(),
        cleared_by_access_tier: (to < record.tier).then(|| cleared.to_string()),
        created_at: desk.now(),
        schema_version: V10,
    })?;
    desk.open("SourceRecord", &SourceRecord { tier: to, updated_at: Some(desk.now()), ..record })?;
    Ok(())
}

/// A person said how much a source counts in this matter.
///
/// # Errors
/// Something can't be written.
pub fn give_authority(desk: &mut Desk, id: &str, level: CoreAuthorityLevel) -> Result<(), Error> {
    let Some(source) = desk.task().source(id).cloned() else { return Err(Error::Missing(id.to_string())) };
    apply(desk, Kind::UpdateSourceRecord, &source)?;
    if let Some(record) = desk.find::<SourceRecord>("SourceRecord", &desk.own(id)) {
        let scope = ApplicabilityScope {
            scope_kind: ApplicabilityScopeScopeKind::Matter,
            scope_value: desk.matter().to_string(),
            authority_level: Some(level),
            domain_specific_payload: None,
            schema_version: V11,
        };
        let mut scopes = record.applicability_scopes.clone().unwrap_or_default();
        scopes.retain(|one| one.scope_kind != ApplicabilityScopeScopeKind::Matter);
        scopes.push(scope);
        let weighed =
            SourceRecord { applicability_scopes: Some(scopes), updated_at: Some(desk.now()), ..record };
        desk.open("SourceRecord", &weighed)?;
    }
    Ok(())
}

/// A source as it stands, by its reference.
#[must_use]
pub fn standing(desk: &Desk, source: &str) -> Option<SourceRecord> {
    let id = Reference::read(source).map(|read| read.id.to_string())?;
    desk.standing::<SourceRecord>("SourceRecord", &id)
}
