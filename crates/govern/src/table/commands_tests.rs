//! Every command is complete, and what it makes old follows from what it writes.

use super::*;
use crate::check::rules;
use crate::kind;
use std::vec::Vec;

#[test]
fn what_a_command_makes_old_is_computed() {
    let packet = "AttentionLedger RunDiff TaskHealthCard TaskReliancePacket WorkProductCertification";
    let head = "AttentionLedger DecisionAuditView EvidencePackage RunDiff TaskHealthCard TaskReliancePacket \
                WorkProductCertification";
    let review =
        "AttentionLedger DecisionAuditView TaskHealthCard TaskReliancePacket WorkProductCertification";
    let finding = "AttentionLedger DecisionAuditView EvaluationChainView FindingsInbox TaskHealthCard \
                   TaskReliancePacket WorkProductCertification";
    let cases = [
        ("reliance.issue_work_product_certification", packet),
        ("reliance.invalidate_packet", packet),
        ("revision_review.accept_candidate", head),
        ("revision_review.reject_candidate", review),
        ("revision_review.request_changes", review),
        ("revision_review.restore_known_good", head),
        ("evidence.export_package", "DecisionAuditView"),
        ("finding.contest", finding),
        ("finding.confirm", finding),
        ("task_replay.preview", ""),
        ("task_replay.create_fork", "RunDiff"),
        ("attention.resolve_item", "AttentionLedger TaskHealthCard"),
    ];
    assert_eq!(cases.map(|(id, _)| id).to_vec(), RELIANCE.iter().map(|one| one.id).collect::<Vec<_>>());
    for (id, expected) in cases {
        let found: Vec<&str> = find(id).unwrap().invalidations().into_iter().collect();
        assert_eq!(found.join(" "), expected, "{id}");
    }
}

/// No read model shows what these write: the board and the guidance are read as they stand, and a measure is taken when a run is over.
const QUIET: [&str; 6] = [
    "run_board.comment",
    "run_board.retract_post",
    "run_board.digest",
    "run_guidance.contest",
    "run_guidance.settle_contest",
    "metric.withdraw_observation",
];

#[test]
fn every_command_is_complete() {
    let codes: BTreeSet<&str> = rules().map(|(_, rule)| rule.code).collect();
    let mut ids = BTreeSet::new();
    for command in all() {
        assert!(ids.insert(command.id), "{} stands twice", command.id);
        let States { empty, blocked, degraded, error } = command.states;
        let words = [
            command.does,
            command.needs,
            command.request,
            command.response,
            command.telemetry,
            command.owner,
        ];
        for text in words.into_iter().chain([empty, blocked, degraded, error]) {
            assert!(!text.trim().is_empty(), "{} leaves something open", command.id);
        }
        assert!(!command.policy_checks.is_empty() && !command.failure_codes.is_empty(), "{}", command.id);
        let is_required = command.durable_write == DurableWrite::Required;
        assert_eq!(is_required, !command.writes.is_empty(), "{}", command.id);
        let makes_old = !command.invalidations().is_empty();
        assert_eq!(is_required, makes_old || QUIET.contains(&command.id), "{} makes nothing old", command.id);
        assert!(command.is_keyed || !is_required, "{} could be done twice", command.id);
        for code in command.failure_codes.iter().filter_map(|code| code.strip_prefix("validation.")) {
            assert!(codes.contains(code), "{}: {code} is no code", command.id);
        }
        for write in command.writes {
            let subject = match write {
                Write::Record(kind) | Write::Transition(kind) => kind,
            };
            assert!(kind::find(subject).is_some(), "{}: {subject} is no type", command.id);
            assert!(kind::find(write.kind()).unwrap().class.is_immutable(), "{}: {write:?}", command.id);
        }
    }
    assert_eq!((RELIANCE.len(), ids.len()), (12, 38));
    assert!(RELIANCE.iter().all(|one| one.layer == Layer::Reliance));
    assert!(GENERAL.iter().chain(BESIDES).all(|one| one.layer == Layer::General));
}
