//! When a packet can't be relied on any more, and what is shown of one that can.
//! Owns: finding what changed behind a packet, the event of that, headers anew. Must not: derive a status.

use super::{last, last_place};
use crate::desk::{Desk, Error, reference};
use crate::life;
use crate::names::ENGINE;
use crate::show;
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_govern::types::basic::{StorageRef, V10};
use countersign_govern::types::read_models::{
    DerivedReadModelRecord, DerivedReadModelRecordReadModelKind as ReadModel,
};
use countersign_govern::types::reliance::{
    RelianceArtifactLifecycleState as Life, RelianceInvalidationEvent,
    RelianceInvalidationEventInvalidationKind as Fall, TaskReliancePacket, WorkProductCertification,
};
use countersign_record::json::Json;

/// Whether somebody may still come to rely on something in this state.
#[must_use]
pub fn is_standing(life: Life) -> bool {
    match life {
        Life::Draft | Life::ReadyForReview | Life::UserReviewed | Life::Issued => true,
        Life::Superseded | Life::Invalidated | Life::Archived => false,
    }
}

/// What a row takes away from a packet that was written before it.
fn fall(kind: &str, record: &Json) -> Option<Fall> {
    match kind {
        "ArtifactVersionTransitionEvent" => {
            record.is("to_state", "accepted_head").then_some(Fall::ArtifactVersionChanged)
        }
        "RevisionReviewDecisionReceipt" => Some(Fall::ArtifactVersionChanged),
        "SourceWorkspaceOperationReceipt" => {
            record.is("status", "applied").then_some(Fall::SourceWorkspaceChanged)
        }
        "EvaluationFindingEvent" | "FindingLifecycleTransitionReceipt" => Some(Fall::FindingLifecycleChanged),
        "PolicyEvaluation" => (!record.is_blank("superseded_by")).then_some(Fall::PolicyDecisionSuperseded),
        "PolicySnapshot" => Some(Fall::PolicyDecisionSuperseded),
        "HardRevisionCall" | "HardCallResolutionReceipt" => Some(Fall::HardCallResolutionExpired),
        "EvidencePackage" => Some(Fall::EvidencePackageSuperseded),
        "ResearchNeed" => Some(Fall::EvidencePackageSuperseded),
        "LifecycleTransitionReceipt" => {
            let subject = record.reference("subject_ref");
            subject.is_some_and(|to| to.kind == "research_need").then_some(Fall::EvidencePackageSuperseded)
        }
        "EvaluationChainResolutionReceipt" => Some(Fall::EvaluationChainResolutionChanged),
        // What is given up behind a packet was met in it, or was to be.
        "OutcomeStateTransitionEvent" => {
            record.is("to_state", "superseded").then_some(Fall::EvaluationChainResolutionChanged)
        }
        _nothing_that_it_rests_on => None,
    }
}

/// What ended reliance on the last packet and nobody has said so yet: how, and the first row that did.
///
/// # Errors
/// The row can't be named.
pub fn due(desk: &Desk) -> Result<Option<(Fall, StorageRef)>, Error> {
    let standing = last(desk).filter(|packet| is_standing(packet.lifecycle_state));
    let (Some(_), Some(place)) = (standing, last_place(desk)) else { return Ok(None) };
    for (seq, row) in (place + 1..).zip(desk.rows_after(place)) {
        if let Some(why) = fall(&row.kind, &row.record) {
            return Ok(Some((why, reference(&row.kind, &row.name(seq))?)));
        }
    }
    Ok(None)
}

/// Says what has become of the last packet by what was written behind it: it falls with what it rests on, and what is shown of one
/// that still stands is derived anew. Everything that changes something ends with this.
///
/// # Errors
/// Something can't be written.
pub fn react(desk: &mut Desk) -> Result<(), Error> {
    if let Some((why, trigger)) = due(desk)? {
        invalidate(desk, why, &trigger, ENGINE)?;
    }
    show_anew(desk)
}

/// A packet can't be relied on any more, and neither can the certifications of it. Gives the event; none if it did not stand.
///
/// # Errors
/// Something can't be written.
pub fn invalidate(
    desk: &mut Desk,
    why: Fall,
    trigger: &StorageRef,
    by: &str,
) -> Result<Option<StorageRef>, Error> {
    let Some(packet) = last(desk).filter(|packet| is_standing(packet.lifecycle_state)) else {
        return Ok(None);
    };
    let event = desk.put(&RelianceInvalidationEvent {
        event_id: desk.id("invalidated"),
        packet_id: packet.packet_id.clone(),
        invalidation_kind: why,
        triggering_ref: trigger.clone(),
        created_at: desk.now(),
        schema_version: V10,
    })?;
    for one in certifications(desk, &packet.packet_id) {
        if is_standing(one.lifecycle_state) {
            let subject = reference("WorkProductCertification", &one.certification_id)?;
            let ways = (one.lifecycle_state.as_str(), Life::Invalidated.as_str());
            life::go(desk, &subject, ways, by, "its packet has fallen")?;
        }
    }
    Ok(Some(event))
}

/// The certifications of a packet, as they stand.
#[must_use]
pub fn certifications(desk: &Desk, packet: &str) -> Vec<WorkProductCertification> {
    let of = reference("TaskReliancePacket", packet).ok();
    let ids = desk.each::<Json>("WorkProductCertification").map(|found| found.id);
    let all = ids.filter_map(|id| desk.standing::<WorkProductCertification>("WorkProductCertification", &id));
    all.filter(|one| Some(&one.task_reliance_packet_ref) == of.as_ref()).collect()
}

/// What is shown of a packet and its certifications that still stand, where nothing that is shown counts any more.
fn show_anew(desk: &mut Desk) -> Result<(), Error> {
    let Some(packet) = last(desk).filter(|packet| is_standing(packet.lifecycle_state)) else { return Ok(()) };
    if packet.lifecycle_state == Life::Draft {
        return Ok(());
    }
    let shown = reference("TaskReliancePacket", &packet.packet_id)?;
    if !is_shown(desk, ReadModel::TaskReliancePacket, &shown) {
        header(desk, &packet, shown.clone())?;
    }
    for one in certifications(desk, &packet.packet_id) {
        let own = reference("WorkProductCertification", &one.certification_id)?;
        let kind = ReadModel::WorkProductCertification;
        if is_standing(one.lifecycle_state) && !is_shown(desk, kind, &own) {
            let inputs = Vec::from([shown.clone(), own.clone()]);
            show::header(desk, kind, inputs, Some(own), Vec::new())?;
        }
    }
    Ok(())
}

/// The header of a packet.
pub(super) fn header(
    desk: &mut Desk,
    packet: &TaskReliancePacket,
    shown: StorageRef,
) -> Result<StorageRef, Error> {
    let derivation = &packet.reliance_derivation;
    let mut inputs = Vec::from([shown.clone()]);
    inputs.extend(packet.input_manifest.evidence_package_refs.iter().cloned());
    let receipts = derivation.formula_eval_receipt_ref.iter().cloned().collect();
    show::header(desk, ReadModel::TaskReliancePacket, inputs, Some(shown), receipts)
}

/// Whether something is shown under a header that still counts.
fn is_shown(desk: &Desk, kind: ReadModel, shown: &StorageRef) -> bool {
    let of_kind =
        |one: &DerivedReadModelRecord| one.read_model_kind == kind && one.payload_ref.as_ref() == Some(shown);
    let headers = desk.each::<DerivedReadModelRecord>("DerivedReadModelRecord");
    let last = headers.map(|found| found.record).rfind(of_kind);
    last.is_some_and(|one| one.valid_until_event_seq.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_govern::table::invalidation::SPECS;
    use countersign_record::json::Object;
    use std::collections::BTreeSet;

    /// Rows that make what is shown of a packet old, and leave reliance on it as it was.
    const ONLY_SHOWN: [&str; 4] =
        ["HardCallPendingEvent", "KnownGoodCheckpoint", "RelianceInvalidationEvent", "ResearchNeedLease"];

    #[test]
    fn everything_that_a_packet_rests_on_can_make_it_fall() {
        let is_of_packet = |models: &[(ReadModel, _)]| {
            models.iter().any(|(model, _)| *model == ReadModel::TaskReliancePacket)
        };
        let kinds: BTreeSet<&str> =
            SPECS.iter().filter(|spec| is_of_packet(spec.invalidates)).map(|spec| spec.event).collect();
        let words = Object::from([
            ("to_state", Json::from("accepted_head")),
            ("status", "applied".into()),
            ("superseded_by", "policy_evaluation:other".into()),
            ("subject_ref", "research_need:n1".into()),
        ]);
        for kind in kinds {
            let is_fall = fall(kind, &Json::Object(words.clone())).is_some();
            assert_eq!(is_fall, !ONLY_SHOWN.contains(&kind), "{kind}");
        }
        assert_eq!(fall("LifecycleTransitionReceipt", &Object::new().into()), None);
        assert_eq!(fall("ArtifactVersionTransitionEvent", &Object::new().into()), None);
        for (to, expected) in [("superseded", true), ("dirty", false)] {
            let moved = Object::from([("to_state", Json::from(to))]);
            assert_eq!(fall("OutcomeStateTransitionEvent", &moved.into()).is_some(), expected, "{to}");
        }
    }
}
