//! States that a run can be taken back to.
//! Owns: what the record of one must be. Must not: take a run back.

use crate::case::Case;
use crate::found::{Found, texts};
use crate::report::Check;
use crate::task::Artifact;
use crate::walk::Walk;
use crate::{claims, command, workspace};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_govern::types::wire::Wire;
use countersign_govern::world::Record;
use countersign_record::canonical;
use countersign_record::json::Json;

const CHECK: Check = Check::Record;
/// What the engine calls a state that it keeps by itself.
const AUTOMATIC: &str = "every outcome of it is satisfied";

/// A checkpoint names everything as it stands.
pub(crate) fn check<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, place) = (walk.case, record.seq());
    let is_own = record.json().is("created_by_ref", "engine:work") || record.json().is("label", AUTOMATIC);
    let all = case.task.artifacts().filter(|one| !is_own || is_good(walk, *one));
    let all: Vec<Artifact<'_>> = all.collect();
    let versions = |one: &Artifact<'_>| -> Vec<Record<'_>> {
        let own = case.own(one.id());
        case.until("ArtifactVersion", place).filter(|one| one.json().is("artifact_stable_id", &own)).collect()
    };
    let name = |one: &Record<'_>| format!("artifact_version:{}", one.id());
    let is_head = |one: &&Record<'_>| claims::state(case, one.id(), place) == Some("accepted_head");
    let heads: Vec<String> =
        all.iter().filter_map(|one| versions(one).iter().rfind(is_head).map(name)).collect();
    let known: Vec<String> =
        all.iter().flat_map(|one| versions(one).iter().map(name).collect::<Vec<_>>()).collect();
    found.must_list(CHECK, record, "artifact_head_refs", &heads);
    found.must_list(CHECK, record, "artifact_version_refs", &known);
    let read: Vec<String> = workspace::last_read(case, place).into_iter().collect();
    found.must_list(CHECK, record, "source_workspace_snapshot_refs", &read);
    found.must(CHECK, record, "event_seq", (place - 1).write());
    found.must(CHECK, record, "graph_topology_snapshot_ref", graph(case, place).map(Json::from));
    let last =
        |kind: &str, snake: &str| case.last(kind, place).map(|one| format!("{snake}:{}", one.id()).into());
    found.must(CHECK, record, "policy_snapshot_ref", last("PolicySnapshot", "policy_snapshot"));
    found.must(CHECK, record, "capability_snapshot_ref", last("CapabilitySnapshot", "capability_snapshot"));
    let effects = case.until("SideEffectLedgerEntry", place).filter(|one| one.json().is("state", "executed"));
    let effects: BTreeSet<&str> = effects.filter_map(|one| one.json().text("side_effect_id")).collect();
    let effects: Vec<String> =
        effects.into_iter().map(|id| format!("side_effect_ledger_entry:{id}")).collect();
    found.must(CHECK, record, "irreversible_side_effect_refs", Some(texts(&effects)));
    found.must(CHECK, record, "run_workspace_snapshot_ref", None);
    if is_own {
        found.must_say(CHECK, record, "label", AUTOMATIC);
        found.must_say(CHECK, record, "created_by_ref", "engine:work");
    } else {
        kept_by_person(walk, record, found);
    }
}

/// What a person keeps they gave the command for, and named it or not.
fn kept_by_person(walk: &Walk<'_, '_>, record: Record<'_>, found: &mut Found) {
    let asked = command::open(walk.case, record.seq());
    let asked = asked.filter(|one| one.json().is("command_id", "checkpoint.create"));
    found.must(CHECK, record, "created_by_ref", asked.and_then(|one| one.json().at("actor_ref").cloned()));
    if let Some(request) = asked.and_then(|one| command::request(walk.case, one)) {
        found.must_say(CHECK, record, "label", request.text("label").unwrap_or("kept by a person"));
    }
}

/// Whether every outcome of an artifact is satisfied, and there is one.
fn is_good(walk: &Walk<'_, '_>, artifact: Artifact<'_>) -> bool {
    let task = walk.case.task;
    let own = task.outcomes().filter(|one| task.artifact_of(*one).map(Artifact::id) == Some(artifact.id()));
    let mut states = own.map(|one| walk.says("outcome_record", &walk.case.own(one.id()), "state")).peekable();
    states.peek().is_some() && states.all(|state| state == Some("satisfied"))
}

/// How the outcomes depend on each other, by the hash of that.
fn graph(case: &Case<'_>, place: u64) -> Option<String> {
    let edges = case.until("OutcomeRecord", place).map(|one| {
        let upstream = one.json().at("depends_on_outcome_ids").cloned().unwrap_or(Json::Null);
        Json::Array(Vec::from([Json::from(one.id()), upstream]))
    });
    let hash = canonical::hash(&Json::Array(edges.collect())).ok()?;
    Some(format!("graph:{}#{hash}", case.own("outcomes")))
}
