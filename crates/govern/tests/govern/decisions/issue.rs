//! Issuing reliance: the status of a packet is the one that follows from the log at its place.

use super::raw;
use countersign_govern::check::check;
use countersign_govern::world::{Draft, World};
use countersign_record::canonical;
use countersign_record::json::{self, Json};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// How a chain may be resolved, and what follows.
const RESOLVED: [(&str, &str, &str); 3] = [
    ("passed", "pass_path", "safe_to_rely_within_scope"),
    ("failed", "fail_path", "not_safe_to_rely"),
    ("indeterminate", "human_review_path", "human_review_required"),
];

fn chain(place: usize, (verdict, route, _): (&str, &str, &str)) -> Draft {
    let text = format!(
        r#"{{"receipt_id":"c{place}","chain_id":"k","resolved_verdict":"{verdict}","resolved_route":"{route}","result_ids_considered":["x"]}}"#
    );
    raw("EvaluationChainResolutionReceipt", &text, 0)
}

/// An issued packet that cites the chain as it was resolved at a place.
fn packet(place: usize, status: &str) -> Draft {
    let manifest = format!(
        r#"{{"final_artifact_refs":["artifact:a"],"evidence_package_refs":["evidence_package:e"],"created_from_event_seq":{},
        "evaluation_chain_resolution_receipt_refs":["evaluation_chain_resolution_receipt:c{}"]}}"#,
        place + 1,
        place - 1,
    );
    let Json::Object(mut manifest) = json::parse(manifest.as_bytes()).unwrap() else { panic!("no object") };
    let hash = canonical::hash(&Json::Object(manifest.clone())).unwrap().to_string();
    manifest.insert("input_manifest_hash", hash);
    let text = format!(
        r#"{{"packet_id":"p","run_id":"r","lifecycle_state":"issued","input_manifest":{},
        "reliance_derivation":{{"status":"{status}","unresolved_limitations":[],"derivation_policy_ref":"policy"}}}}"#,
        json::to_text(&Json::Object(manifest)).unwrap()
    );
    raw("TaskReliancePacket", &text, 0)
}

proptest! {
    /// However a chain was resolved before and after: a packet may be issued with the status that followed at its place, and with
    /// no other.
    #[test]
    fn a_packet_has_the_status_of_its_place(resolved in prop::collection::vec(select(&RESOLVED[..]), 1..8), place in any::<Index>()) {
        let place = 1 + place.index(resolved.len());
        let expected = resolved[place - 1].2;
        let statuses = RESOLVED.map(|(.., status)| status).into_iter().chain(["rely_with_limitations"]);
        for status in statuses {
            let evidence = r#"{"evidence_package_id":"e","run_id":"r","final_artifact_refs":["artifact:a"]}"#;
            let mut rows = vec![raw("EvidencePackage", evidence, 0)];
            rows.extend(resolved.iter().enumerate().map(|(place, one)| chain(place, *one)));
            rows.insert(place + 1, packet(place, status));
            let found = check(&World::new(rows, None));
            let found = found.iter().filter(|one| one.code == "reliance_status_not_derivable").count();
            prop_assert_eq!(found == 0, status == expected, "{} where {}", status, expected);
        }
    }
}
