//! Where the rows of a run are: by type, by name, and by what they are about.
//! Owns: finding them without reading all others. Must not: read more of a row than the members that it is found by.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::world::Draft;
use countersign_record::canonical;
use countersign_record::json::Json;

/// The members by which rows of a type are found, besides by their names: whatever is looked up for each of many things.
const LINKS: [(&str, &str); 10] = [
    ("ArtifactVersion", "artifact_stable_id"),
    ("ArtifactVersionTransitionEvent", "artifact_version_ref"),
    ("AttentionLedgerItem", "source_ref"),
    ("ClaimSupportDerivationReceipt", "claim_ref"),
    ("LifecycleTransitionReceipt", "subject_ref"),
    ("OutcomeRepairInstruction", "outcome_id"),
    ("ProcedureAttemptRecord", "outcome_id"),
    ("ResearchNeed", "target_refs"),
    ("ResearchNeedLease", "need_id"),
    ("RevisionOperationReceipt", "step_id"),
];

/// The places of rows, from 0, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Shelf {
    kinds: BTreeMap<String, Kind>,
}

#[derive(Clone, Debug, Default)]
struct Kind {
    places: Vec<usize>,
    named: BTreeMap<String, Vec<usize>>,
    linked: BTreeMap<String, Vec<usize>>,
}

impl Shelf {
    /// Takes in a row that has a name and a place.
    pub(super) fn lay(&mut self, draft: &Draft, id: &str, place: usize) {
        let kind = self.kinds.entry(draft.kind.clone()).or_default();
        kind.places.push(place);
        kind.named.entry(id.to_string()).or_default().push(place);
        if let Some(value) = member_of(&draft.kind).and_then(|member| draft.record.get(member)) {
            kind.linked.entry(text_of(value)).or_default().push(place);
        }
    }

    /// The rows of a type.
    pub(super) fn of(&self, kind: &str) -> &[usize] {
        self.kinds.get(kind).map(|kind| kind.places.as_slice()).unwrap_or_default()
    }

    /// Those of a name.
    pub(super) fn named(&self, kind: &str, id: &str) -> &[usize] {
        let named = self.kinds.get(kind).and_then(|kind| kind.named.get(id));
        named.map(Vec::as_slice).unwrap_or_default()
    }

    /// Those that have a text in a member.
    pub(super) fn linked(&self, kind: &str, member: &str, text: &str) -> &[usize] {
        assert!(member_of(kind) == Some(member), "{kind} is found by its member {member}");
        let linked = self.kinds.get(kind).and_then(|kind| kind.linked.get(text));
        linked.map(Vec::as_slice).unwrap_or_default()
    }
}

fn member_of(kind: &str) -> Option<&'static str> {
    let at = LINKS.binary_search_by_key(&kind, |(kind, _)| kind).ok()?;
    LINKS.get(at).map(|(_, member)| *member)
}

/// What a row is found by: a text as it is, anything else by its hash.
pub(crate) fn text_of(value: &Json) -> String {
    match value.as_str() {
        Some(text) => text.to_string(),
        None => canonical::hash_as_written(value).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use countersign_record::json::Object;

    #[test]
    fn rows_are_found_by_what_they_are_about() {
        assert!(LINKS.is_sorted_by_key(|(kind, _)| *kind), "they are searched for");
        let mut shelf = Shelf::default();
        let draft = |kind: &str, record: Object| Draft {
            kind: kind.to_string(),
            id: None,
            at: None,
            record: record.into(),
        };
        let lease = |need: &str| draft("ResearchNeedLease", Object::from([("need_id", Json::from(need))]));
        shelf.lay(&lease("a"), "one", 0);
        shelf.lay(&lease("b"), "two", 1);
        shelf.lay(&lease("a"), "one", 2);
        let targets = Json::Array(vec![Json::from("claim:x")]);
        shelf.lay(&draft("ResearchNeed", Object::from([("target_refs", targets.clone())])), "three", 3);
        assert_eq!(shelf.of("ResearchNeedLease"), [0, 1, 2]);
        assert_eq!(shelf.named("ResearchNeedLease", "one"), [0, 2]);
        assert_eq!(shelf.linked("ResearchNeedLease", "need_id", "a"), [0, 2]);
        assert_eq!(shelf.linked("ResearchNeedLease", "need_id", "c"), [] as [usize; 0]);
        assert_eq!(shelf.linked("ResearchNeed", "target_refs", &text_of(&targets)), [3]);
        assert_eq!(shelf.of("RevisionPlan"), [] as [usize; 0]);
    }
}
