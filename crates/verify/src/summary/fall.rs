//! What has become of a packet since it was made.
//! Owns: finding that in the records, and the words for it. Must not: judge.

use crate::case::Case;
use crate::head;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use countersign_govern::member::Member;
use countersign_govern::table::outcome::State;
use countersign_govern::types::reliance::RelianceInvalidationEventInvalidationKind as Fall;
use countersign_govern::world::Record;

/// Why the packet of a statement can't be relied on any more; nothing while it can.
pub(crate) fn fallen(case: &Case<'_>) -> Option<String> {
    let packet = head::packet(case)?;
    let mut events = case.world.of("RelianceInvalidationEvent");
    let last = events.rfind(|one| one.json().is("packet_id", packet.id()));
    if let Some(event) = last {
        let kind = event.json().text("invalidation_kind").and_then(Fall::find);
        return Some(kind.map_or_else(
            || "something that it rests on has changed since".to_string(),
            |kind| why(kind, changed(case, packet.seq())),
        ));
    }
    let subject = format!("task_reliance_packet:{}", packet.id());
    let mut moves = case.world.of("LifecycleTransitionReceipt");
    let last = moves.rfind(|one| one.json().is("subject_ref", &subject))?;
    match last.json().text("to_state")? {
        "superseded" => Some("a newer one has taken its place".to_string()),
        "archived" => Some("it was put away into the archive".to_string()),
        _on_its_way => None,
    }
}

/// The files of the sources that were found to be others since a place.
fn changed<'c>(case: &'c Case<'_>, place: u64) -> BTreeSet<&'c str> {
    let records = case.world.of("SourceRecord").filter(|one| one.seq() > place);
    let ended = records.filter(|one| {
        let until = one.json().text("fresh_until");
        until.is_some() && until == one.json().text("updated_at")
    });
    ended.filter_map(|one: Record<'c>| one.json().text("domain_payload.path")).collect()
}

/// The words for why a packet has fallen, with the files of sources that are not what they were.
#[must_use]
pub fn why(kind: Fall, files: BTreeSet<&str>) -> String {
    let words = match kind {
        Fall::ArtifactVersionChanged => "the work has changed since",
        Fall::SourceWorkspaceChanged if files.is_empty() => "what is known of its sources has changed since",
        Fall::SourceWorkspaceChanged => {
            let files: alloc::vec::Vec<&str> = files.into_iter().collect();
            return format!("a source has changed since ({})", files.join(", "));
        }
        Fall::FindingLifecycleChanged => "what was found about the work has changed since",
        Fall::PolicyDecisionSuperseded => "the policies have changed since",
        Fall::HardCallResolutionExpired => "a question to a person was raised or answered since",
        Fall::EvidencePackageSuperseded => "its evidence has changed since",
        Fall::EvaluationChainResolutionChanged => "an evaluation has come out otherwise since",
    };
    words.to_string()
}

/// Whether nobody works for an outcome any more: a person has left it out, or stopped the work on it.
#[must_use]
pub fn given_up(state: State) -> bool {
    state == State::Superseded
}
