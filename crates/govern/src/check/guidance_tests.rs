//! Guidance: what fires, what does not.

use crate::check::trial::has_rows;

const MADE: (&str, &str) = (
    "RunGuidanceCreationEvent",
    "{'event_id':'e','guidance_id':'g','source_feedback_bundle_ref':'evaluation_feedback_bundle:b'}",
);
const PACKET: (&str, &str) = (
    "TaskRunContextPacket",
    "{'packet_id':'p','run_id':'r','items':[{'item_ref':'source:x'},{'item_ref':'run_guidance_creation_event:e'}]}",
);
const USE: (&str, &str) =
    ("ContextPacketConsumption", "{'packet_ref':'task_run_context_packet:p','run_id':'r'}");

fn moved(text: &'static str) -> (&'static str, &'static str) {
    ("RunGuidanceLifecycleReceipt", text)
}

fn current(text: &'static str) -> (&'static str, &'static str) {
    ("RunGuidanceItemCurrent", text)
}

#[test]
fn guidance_that_is_suspended_is_not_used() {
    let contest = moved("{'guidance_id':'g','from_state':'active','to_state':'contested'}");
    let settle = moved("{'guidance_id':'g','from_state':'contested','to_state':'active'}");
    let expired = current("{'guidance_id':'g','lifecycle_state':'expired'}");
    let admit = moved("{'guidance_id':'g','from_state':'proposed','to_state':'active'}");
    let revive = moved("{'guidance_id':'g','from_state':'expired','to_state':'active'}");
    has_rows(
        "run_guidance_consumed_while_contested",
        &[
            (&[MADE, PACKET, USE], &[]),
            (&[MADE, admit, contest, PACKET, USE], &[4, 5]),
            (&[MADE, admit, PACKET, contest, USE], &[5]),
            (&[MADE, admit, PACKET, USE, contest], &[]),
            (&[MADE, admit, contest, settle, PACKET, USE], &[]),
            // What leads from where it is not, or where no way leads, changes nothing.
            (&[MADE, admit, contest, admit, PACKET], &[5]),
            (&[MADE, expired, revive, PACKET], &[4]),
            (&[MADE, expired, PACKET], &[3]),
            (&[contest, PACKET], &[]),
        ],
    );
}

#[test]
fn guidance_crosses_only_if_it_was_selected() {
    let own = ("EvaluationFeedbackBundle", "{'feedback_bundle_id':'b','run_id':'r'}");
    let other = ("EvaluationFeedbackBundle", "{'feedback_bundle_id':'b','run_id':'s'}");
    let chosen =
        current("{'guidance_id':'g','cross_run_eligible':true,'selected_by_doc24_context_policy':true}");
    let barred =
        current("{'guidance_id':'g','cross_run_eligible':false,'selected_by_doc24_context_policy':true}");
    has_rows(
        "run_guidance_cross_run_injected_without_doc24_selection",
        &[
            (&[own, MADE, PACKET, USE], &[]),
            (&[other, MADE, PACKET, USE], &[3, 4]),
            (&[other, MADE, chosen, PACKET, USE], &[]),
            (&[other, MADE, PACKET, USE, chosen], &[]),
            (&[other, MADE, chosen, barred, PACKET], &[5]),
            (&[other, MADE, chosen, PACKET, barred, USE], &[6]),
            (&[MADE, PACKET], &[]),
        ],
    );
}

#[test]
fn guidance_changes_by_receipt() {
    let proposed = current("{'guidance_id':'g','lifecycle_state':'proposed'}");
    let active = current("{'guidance_id':'g','lifecycle_state':'active'}");
    let rejected = current("{'guidance_id':'g','lifecycle_state':'rejected'}");
    let begun = current(
        "{'guidance_id':'g','canonical_event_ref':'run_guidance_creation_event:e','lifecycle_state':'active'}",
    );
    let disputed = current(
        "{'guidance_id':'g','canonical_event_ref':'run_guidance_creation_event:e','lifecycle_state':'contested'}",
    );
    let contest = moved("{'guidance_id':'g','from_state':'active','to_state':'contested'}");
    let admit = moved("{'guidance_id':'g','from_state':'proposed','to_state':'active'}");
    let revive = moved("{'guidance_id':'g','from_state':'rejected','to_state':'active'}");
    has_rows(
        "run_guidance_lifecycle_transition_without_receipt",
        &[
            (&[proposed, active], &[2]),
            (&[proposed, admit, active, active], &[]),
            (&[proposed, active, admit], &[2]),
            (&[rejected, revive, active], &[2, 3]),
            (&[revive], &[1]),
            (&[active], &[]),
            // Guidance begins as proposed, and may be written down after several moves.
            (&[MADE, begun], &[2]),
            (&[MADE, admit, begun], &[]),
            (&[MADE, admit, contest, disputed], &[]),
        ],
    );
}

/// Uses of a packet whose items change between them are told one by one, however often it is used.
#[test]
fn a_packet_that_is_used_often_is_told_for_each_use() {
    let packet = (
        "TaskRunContextPacket",
        "{'packet_id':'p','run_id':'r','items':[{'item_ref':'run_guidance:g'},{'item_ref':'run_guidance:h'}]}",
    );
    let contest = moved("{'guidance_id':'g','from_state':'active','to_state':'contested'}");
    let settle = moved("{'guidance_id':'g','from_state':'contested','to_state':'active'}");
    let reject = moved("{'guidance_id':'h','from_state':'active','to_state':'rejected'}");
    has_rows(
        "run_guidance_consumed_while_contested",
        &[
            (&[packet, USE, contest, USE, USE, settle, USE, USE, reject, USE], &[4, 5, 10]),
            (&[packet, contest, USE, reject, USE, settle, USE, USE, USE], &[3, 5, 7, 8, 9]),
        ],
    );
    let mine = ("EvaluationFeedbackBundle", "{'feedback_bundle_id':'b','run_id':'r'}");
    let other = ("EvaluationFeedbackBundle", "{'feedback_bundle_id':'c','run_id':'s'}");
    let made = (
        "RunGuidanceCreationEvent",
        "{'event_id':'f','guidance_id':'h','source_feedback_bundle_ref':'evaluation_feedback_bundle:c'}",
    );
    let chosen =
        current("{'guidance_id':'h','cross_run_eligible':true,'selected_by_doc24_context_policy':true}");
    let barred = current("{'guidance_id':'h','cross_run_eligible':false}");
    has_rows(
        "run_guidance_cross_run_injected_without_doc24_selection",
        &[(
            &[mine, other, MADE, made, barred, packet, USE, chosen, USE, USE, barred, USE, USE],
            &[6, 7, 12, 13],
        )],
    );
}
