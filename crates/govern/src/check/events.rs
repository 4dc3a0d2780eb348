//! Validation codes: events.
//! Owns: the rules of this area. Must not: decide by names.

pub(super) mod drift;
mod frozen;
pub(super) mod lifecycle;
pub(super) mod moves;
mod projection;
#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;

use super::{Area, Rule, Severity};
use frozen::mutable_state_inside_immutable_snapshot;
use lifecycle::lifecycle_transition_without_receipt;
use projection::{current_projection_without_source_event, projection_event_seq_out_of_date};

pub(super) const AREA: Area = Area { name: "events", rules: RULES, kinds: &[] };

const RULES: &[Rule] = &[
    Rule {
        code: "mutable_state_inside_immutable_snapshot",
        severity: Severity::Error,
        section: "3.1",
        fires: "A record of an append-only class (any *Event, *Receipt, *Snapshot, RelianceInputManifest, KnownGoodCheckpoint, or the body of a RevisionReviewPacket) is stored with a live-state field (current_state, current_severity, lifecycle_state, updated_at, resolved_at, superseded_by_*, invalidated_by_*), or its canonical-JSON hash at a later log seq differs from the hash recorded when it was appended.",
        legal: "An append-only record carries a frozen emission-time value (EvaluationFindingEvent.emitted_state, SourceWorkspaceOperationReceipt.status) while the moving value lives only in its projection.",
        why: "Who signs relies on what was known at the time. A record of the past that says how things stand now, or that was rewritten, can no longer be checked against it.",
        fix: "Append a new event or receipt for what changed, and keep what moves in the projection only.",
        check: mutable_state_inside_immutable_snapshot,
    },
    Rule {
        code: "current_projection_without_source_event",
        severity: Severity::Error,
        section: "3.1",
        fires: "A projection (RunGuidanceItemCurrent.canonical_event_ref, RunBoardVisiblePost.source_event_id, EventProjectionLink.canonical_event_ref, SourceWorkspaceCurrentState) names no event, or names one that does not resolve to an event of the kind paired with that projection at a log seq <= projection_event_seq; or a later version of a projection says something that the events before it never came to.",
        legal: "A projection whose canonical event exists at an earlier seq, even if that event has since been superseded by later events of the same stream.",
        why: "A current state that no event accounts for could have been typed in: nobody can tell who caused it, or when.",
        fix: "Write the event first and let the projection name it; drop projections that nothing leads to.",
        check: current_projection_without_source_event,
    },
    Rule {
        code: "projection_event_seq_out_of_date",
        severity: Severity::Error,
        section: "3.1",
        fires: "An EventProjectionLink is read as current at log seq N while projection_event_seq is lower than the seq of the last event (<= N) belonging to that projection's own source stream.",
        legal: "projection_event_seq lags the global log head only by events that belong to other streams.",
        why: "What is shown as current leaves out something that has already happened to it, so a decision rests on yesterday's state.",
        fix: "Fold the projection again up to the last event of its stream, and write the link with that place.",
        check: projection_event_seq_out_of_date,
    },
    Rule {
        code: "lifecycle_transition_without_receipt",
        severity: Severity::Error,
        section: "3.1",
        fires: "A lifecycle field of a projection (ResearchNeed.status, LibraryPromotionCandidate.status, AttentionLedgerItem.lifecycle_state, TaskReliancePacket.lifecycle_state, EvaluationFindingRecord.current_state and alike) has a different value at two successive projection versions (for a finding also: another one than its event was emitted with) and no receipt/event with the same subject id, from_state and to_state that the transition table allows exists at a seq <= the newer projection_event_seq; or a receipt/event tells of a move that the transition table does not have.",
        legal: "The initial lifecycle value set by the creation event itself, which is not a transition; and RunGuidance/RevisionReview/lifecycle families that have their own, more specific code.",
        why: "A state that moved without a receipt has no author and no reason: a finding could be closed, or a packet issued, by nobody.",
        fix: "Write the transition receipt that the state table allows before the projection moves; undo moves that the table does not have.",
        check: lifecycle_transition_without_receipt,
    },
];
