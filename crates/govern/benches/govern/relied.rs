//! Packets to rely on that are written to take long: many of them ask about one run, one snapshot, one chain.
//! Owns: the rows. Must not: know why they would take long.

use super::{draft, halves, list};
use countersign_govern::world::Draft;
use std::format;
use std::string::String;
use std::vec::Vec;

/// Packets to rely on that cite one snapshot, with many workspaces and many results.
pub(super) fn by_snapshot(rows: usize) -> Vec<Draft> {
    let sets: Vec<String> =
        (0..rows / 4).map(|at| format!(r#"{{"source_workspace_ref":"source_workspace:w{at}"}}"#)).collect();
    let snapshot =
        format!(r#"{{"snapshot_id":"s","source_workspace_snapshot_hashes":[{}]}}"#, sets.join(","));
    let result = |at: usize| {
        let text = format!(
            r#"{{"result_id":"r{at}","run_id":"r","outcome_id":"o{at}","evaluation_snapshot_ref":"evaluation_snapshot:s"}}"#
        );
        draft("EvaluationResultEnvelope", None, &text)
    };
    let cited = r#","evaluation_snapshot_refs":["evaluation_snapshot:s"]"#;
    let packet = |at: usize| reliance(at, rows + at, cited);
    [draft("EvaluationSnapshot", None, &snapshot)].into_iter().chain(halves(rows, result, packet)).collect()
}

fn reliance(at: usize, made: usize, manifest: &str) -> Draft {
    let text = format!(
        r#"{{"packet_id":"p{at}","run_id":"r","lifecycle_state":"issued","input_manifest":{{"created_from_event_seq":{made}{manifest}}},"reliance_derivation":{{"status":"x"}}}}"#
    );
    draft("TaskReliancePacket", None, &text)
}

/// Packets to rely on of a run with many findings that block, each of them raised, moved and of an outcome that is given up.
pub(super) fn by_blockers(rows: usize) -> Vec<Draft> {
    let others = (0..rows / 4).flat_map(|at| {
        let result = format!(r#"{{"result_id":"r{at}","run_id":"r","outcome_id":"o{}"}}"#, at / 2);
        let finding = format!(
            r#"{{"finding_id":"f{at}","result_id":"r{at}","severity":"blocking","emitted_state":"proposed","blocking_authority":{{"satisfied":true}}}}"#
        );
        let (from, to, why) = match at % 2 {
            0 => ("proposed", "active", "router_admitted"),
            _odd => ("proposed", "dismissed", "router_dismissed"),
        };
        let receipt = format!(
            r#"{{"finding_id":"f{at}","from_state":"{from}","to_state":"{to}","transition_reason":"{why}"}}"#
        );
        [
            draft("EvaluationResultEnvelope", None, &result),
            draft("EvaluationFindingEvent", Some(format!("e{at}")), &finding),
            draft("FindingLifecycleTransitionReceipt", Some(format!("l{at}")), &receipt),
        ]
    });
    others.chain((0..rows / 4).map(|at| reliance(at, rows + at, ""))).collect()
}

/// Packets to rely on of a run with many outcomes, each of them given up.
pub(super) fn by_outcomes(rows: usize) -> Vec<Draft> {
    let others = (0..rows / 4).flat_map(|at| {
        let required = at % 2 == 0;
        let outcome =
            format!(r#"{{"outcome_id":"o{at}","run_id":"r","state":"pending","required":{required}}}"#);
        let event = format!(
            r#"{{"outcome_id":"o{at}","run_id":"r","from_state":"pending","to_state":"superseded"}}"#
        );
        [
            draft("OutcomeRecord", None, &outcome),
            draft("OutcomeStateTransitionEvent", Some(format!("t{at}")), &event),
        ]
    });
    others.chain((0..rows / 2).map(|at| reliance(at, rows + at, ""))).collect()
}

/// Packets to rely on that cite one chain of many results, one package of many claims and one artifact with many heads.
pub(super) fn by_chain(rows: usize) -> Vec<Draft> {
    let results = list(rows / 4, |at| format!("r{at}"));
    let chain = format!(r#"{{"chain_id":"c","run_id":"r","received_result_ids":{results}}}"#);
    let claims: Vec<String> = (0..rows / 4)
        .map(|at| format!(r#"{{"claim_ref":"claim:a/c{at}","support_status":"supported"}}"#))
        .collect();
    let package = format!(r#"{{"evidence_package_id":"e","claim_support_map":[{}]}}"#, claims.join(","));
    let head = |at: usize| {
        let text = r#"{"artifact_version_ref":"artifact_version:v","to_state":"accepted_head"}"#;
        draft("ArtifactVersionTransitionEvent", Some(format!("h{at}")), text)
    };
    let result = |at: usize| {
        draft("EvaluationResultEnvelope", None, &format!(r#"{{"result_id":"r{at}","run_id":"r"}}"#))
    };
    let manifest = r#","evaluation_chain_ids":["c"],"evidence_package_refs":["evidence_package:e"],"final_artifact_refs":["artifact_version:v"]"#;
    // Made at the beginning, so that all heads came after it.
    let packet = |at: usize| reliance(at, 3, manifest);
    [
        draft("ArtifactVersion", None, r#"{"artifact_version_id":"v","artifact_stable_id":"a"}"#),
        draft("EvaluationChainRegistryRecord", None, &chain),
        draft("EvidencePackage", None, &package),
    ]
    .into_iter()
    .chain((0..rows / 4).flat_map(|at| [head(at), result(at)]))
    .chain((0..rows / 2).map(packet))
    .collect()
}
