//! The evidence behind the work: every claim of every head, with its places.
//! Owns: what a package must hold. Must not: derive support; `claims` does.

use crate::case::{Case, bare};
use crate::claims::{self, Claimed};
use crate::formula::Ungathered;
use crate::found::{Found, texts};
use crate::report::Check;
use crate::walk::Walk;
use crate::workspace;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::derive::reliance::is_doubtful;
use countersign_govern::member::Member;
use countersign_govern::types::source::LegalTreatmentStatus;
use countersign_govern::world::Record;
use countersign_record::json::{Json, Object};

const CHECK: Check = Check::Evidence;

/// The versions that count at a place, of all work products in the order of the task.
pub(crate) fn heads<'c>(case: &'c Case<'_>, place: u64) -> Vec<Record<'c>> {
    case.task.artifacts().filter_map(|one| claims::current(case, &case.own(one.id()), place)).collect()
}

/// The needs that are open at a place of the walk, in the order in which they were raised.
fn needs(walk: &Walk<'_, '_>, place: u64) -> Vec<String> {
    let mut ids: Vec<&str> = Vec::new();
    for need in walk.case.until("ResearchNeed", place) {
        if !ids.contains(&need.id()) {
            ids.push(need.id());
        }
    }
    let is_open = |id: &&str| {
        matches!(
            walk.says("research_need", id, "status"),
            Some("open" | "leased" | "human_needed" | "unresolved")
        )
    };
    ids.into_iter().filter(is_open).map(|id| format!("research_need:{id}")).collect()
}

/// A package holds every claim of the heads, and nothing else.
pub(crate) fn package<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    walk.end_round(found);
    let place = record.seq();
    let heads = heads(walk.case, place);
    let versions: Vec<String> = heads.iter().map(|one| format!("artifact_version:{}", one.id())).collect();
    found.must_list(CHECK, record, "final_artifact_refs", &versions);
    found.must(
        CHECK,
        record,
        "source_workspace_snapshot_ref",
        workspace::last_read(walk.case, place).map(Json::from),
    );
    found.must_list(CHECK, record, "unresolved_research_need_refs", &needs(walk, place));
    let mut all: Vec<Claimed> = Vec::new();
    for head in &heads {
        match claims::standing(walk, *head, record, found) {
            Ok(claims) => all.extend(claims),
            Err(Ungathered::Withheld) => return found.withheld(CHECK),
            // What is no text claims nothing.
            Err(Ungathered::Missing(_)) => {}
        }
    }
    if all.iter().any(|one| one.is_withheld) {
        found.withheld(CHECK);
    }
    let map: Vec<Json> = all.iter().map(entry).collect();
    found.must(CHECK, record, "claim_support_map", Some(Json::Array(map)));
    let anchors: BTreeSet<String> =
        all.iter().flat_map(|one| one.supporting.iter().chain(&one.contradicting)).cloned().collect();
    let anchors: Vec<String> = anchors.into_iter().collect();
    found.must_list(CHECK, record, "evidence_anchor_refs", &anchors);
    let sources: BTreeSet<String> = anchors
        .iter()
        .filter_map(|one| walk.case.before("SourceEvidenceAnchor", bare(one), place))
        .filter_map(|one| one.json().text("source_record_ref").map(ToString::to_string))
        .collect();
    let sources: Vec<String> = sources.into_iter().collect();
    found.must_list(CHECK, record, "source_record_refs", &sources);
    let now = walk.at(record);
    let is_in_doubt = |one: &&String| {
        walk.standing("SourceRecord", bare(one)).is_none_or(|source| {
            let is_stale = source.time("fresh_until").zip(now).is_some_and(|(until, now)| until <= now);
            let treatment =
                source.text("legal_payload.treatment_status").and_then(LegalTreatmentStatus::find);
            is_doubtful(source.is("verification_state", "verified"), is_stale, treatment)
        })
    };
    let doubtful: Vec<String> = sources.iter().filter(is_in_doubt).cloned().collect();
    found.must_list(CHECK, record, "stale_or_unverified_source_refs", &doubtful);
    let (taint, class, privileged) = workspace::together(walk, &sources);
    found.must_say(CHECK, record, "taint_class", &taint);
    found.must_say(CHECK, record, "data_class", &class);
    found.must(CHECK, record, "privileged", Some(privileged.into()));
}

fn entry(claim: &Claimed) -> Json {
    Object::from([
        ("claim_ref", Json::from(claim.claim_ref.as_str())),
        ("supporting_anchor_refs", texts(&claim.supporting)),
        ("contradicting_anchor_refs", texts(&claim.contradicting)),
        ("support_status", claim.status.as_str().into()),
        ("support_derivation_receipt_ref", claim.receipt.as_str().into()),
    ])
    .into()
}
