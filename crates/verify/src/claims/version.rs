//! Which version of a work product counts at a place of the log.
//! Owns: how versions stand there. Must not: look at what they say.

use crate::case::{Case, bare};
use alloc::collections::BTreeMap;
use countersign_govern::member::Member;
use countersign_govern::world::Record;

/// The version of an artifact that is the work at a place.
pub(crate) fn current<'c>(case: &'c Case<'_>, artifact: &str, place: u64) -> Option<Record<'c>> {
    let mut states: BTreeMap<&str, &str> = BTreeMap::new();
    for one in case.until("ArtifactVersionTransitionEvent", place) {
        let version = one.json().text("artifact_version_ref").map(bare);
        states.extend(version.map(|version| (version, one.json().text("to_state").unwrap_or_default())));
    }
    let is_head = |one: &Record<'c>| states.get(one.id()) == Some(&"accepted_head");
    let versions = case.until("ArtifactVersion", place).filter(is_head);
    versions.filter(|one| one.json().is("artifact_stable_id", artifact)).last()
}

/// How a version stands at a place.
pub(crate) fn state<'c>(case: &'c Case<'_>, version: &str, place: u64) -> Option<&'c str> {
    let moves = case.until("ArtifactVersionTransitionEvent", place);
    let own = moves.filter(|one| one.json().text("artifact_version_ref").map(bare) == Some(version));
    own.last().and_then(|one| one.json().text("to_state"))
}
