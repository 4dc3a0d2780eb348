//! What must hold besides for a move: the guards of the tables, as far as rows can show them.
//! Owns: those guards, the same for the folds and for the rule that follows receipts. Must not: know which ways there are, or where a
//! thing is.

use super::family::{APPROVAL, ATTENTION, CANDIDATE, CHAIN, FINDING, Family, Move, PACKET};
use super::row::Row;
use crate::member::Member;
use countersign_record::json::Json;
use countersign_record::time::Instant;

/// Reads a member of the thing that is moved.
pub(crate) type Says<'s> = &'s dyn Fn(&str) -> Option<&'s Json>;

/// Whether a row may tell of a move of a thing that says this of itself. What is not said is not held against it.
pub(crate) fn holds(family: &Family, at: &str, step: &Move<'_>, row: &Row<'_>, says: Says<'_>) -> bool {
    let is = |member: &str, word: &str| says(member).and_then(Json::as_str) == Some(word);
    match (family.kind, at, step.to) {
        // What blocks does not go away by waiting.
        (kind, "active" | "contested", "expired") if kind == FINDING.kind => {
            !is("current_severity", "blocking")
        }
        (kind, "proposed", "expired") if kind == FINDING.kind => is_over("expires_at", row, says),
        // The projection says which finding it repeats; where none is written yet, the receipt names it.
        (kind, "active", "dismissed") if kind == FINDING.kind => {
            says("superseded_by_finding_id").is_some_and(|other| *other != Json::Null)
                || names(row.json, &["evaluation_finding_record", "evaluation_finding_event"])
        }
        (kind, "active", to) if kind == FINDING.kind => is_shown(row.json, to),
        // What blocks can't be waved away.
        (kind, _, "dismissed") if kind == ATTENTION.kind => !is("priority", "blocking"),
        // Nobody is late before the time is over.
        (kind, _, "timed_out") if kind == CHAIN.kind => is_over("timeout_at", row, says),
        // Promoted is what was written.
        (kind, _, "promoted") if kind == CANDIDATE.kind => !row.json.is_blank("durable_library_write_ref"),
        // What a user must approve no policy approves.
        (kind, _, "waived_by_policy") if kind == APPROVAL.kind => {
            says("user_approval_required") != Some(&Json::Bool(true))
        }
        (kind, _, "issued") if kind == PACKET.kind => {
            let status = says("reliance_derivation").and_then(|derivation| derivation.text("status"));
            status.is_none_or(|status| RELIABLE.contains(&status))
        }
        (_, _, _) => true,
    }
}

/// What a packet must say that may be issued.
const RELIABLE: [&str; 2] = ["safe_to_rely_within_scope", "rely_with_limitations"];

/// Whether a time that a thing says was over when the row was written.
fn is_over(member: &str, row: &Row<'_>, says: Says<'_>) -> bool {
    let over = says(member).and_then(Json::as_str).and_then(Instant::read);
    over.zip(row.at).is_none_or(|(over, at)| over <= at)
}

/// Whether a receipt names what the table asks for where it verifies an active finding or gives it up.
fn is_shown(receipt: &Json, to: &str) -> bool {
    match to {
        "user_approved" => receipt.reference("actor_ref").is_some_and(|actor| actor.kind == "user"),
        "human_verified" | "tool_verified" => !receipt.list("evidence_refs").is_empty(),
        "unrecoverable" => names(receipt, &["sufficiency_detection_result"]),
        _other => true,
    }
}

/// Whether what a receipt shows is of one of these kinds.
fn names(receipt: &Json, kinds: &[&str]) -> bool {
    receipt.references("evidence_refs").iter().any(|one| kinds.contains(&one.kind))
}

#[cfg(test)]
mod tests {
    use super::super::family::FAMILIES;
    use super::*;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    /// Every guard stands at a way that its table has and that its table guards.
    #[test]
    fn guards_are_those_of_the_tables() {
        let nothing = countersign_record::json::parse(b"{}").unwrap();
        let blocking = countersign_record::json::parse(
            br#"{"current_severity":"blocking","priority":"blocking","user_approval_required":true,
            "expires_at":"2026-03-02T09:00:00Z","timeout_at":"2026-03-02T09:00:00Z",
            "reliance_derivation":{"status":"not_safe_to_rely"}}"#,
        )
        .unwrap();
        let mut guarded = BTreeSet::new();
        for family in FAMILIES {
            for way in family.machine.transitions {
                let step = Move { from: None, to: way.to, by: super::super::family::By::Pair };
                let row = Row {
                    seq: 1,
                    kind: "x",
                    id: "x",
                    at: Instant::read("2026-03-02T08:00:00Z"),
                    json: &nothing,
                    streams: None,
                };
                let is_held = holds(family, way.from, &step, &row, &|member| blocking.get(member));
                if !is_held {
                    // That a time is over is what the table has a chain end by.
                    let is_guarded = !way.guard.is_empty() || way.by.contains("timeout_at");
                    assert!(is_guarded, "{} {} {}", family.kind, way.from, way.to);
                    guarded.insert((family.kind, way.from, way.to));
                }
            }
        }
        let of = |kind: &str| guarded.iter().filter(|(own, ..)| *own == kind).count();
        let kinds = [FINDING.kind, ATTENTION.kind, CHAIN.kind, CANDIDATE.kind, APPROVAL.kind, PACKET.kind];
        assert_eq!(kinds.map(of).to_vec(), Vec::from([8, 1, 2, 1, 1, 1]));
    }
}
