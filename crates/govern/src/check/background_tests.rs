//! Background and heartbeats: what fires, what does not.

use crate::check::trial::has_rows;

#[test]
fn the_old_field_is_found_in_any_record() {
    has_rows(
        "requires_background_progress_legacy_field_present",
        &[
            (&[("ModuleProgressBehavior", "{'requires_background_progress':null}")], &[]),
            (&[("ModuleDeclaration", "{'progress':{'requires_background_progress':false}}")], &[1]),
            (
                &[("ModuleDeclaration", "{'parts':[{'progress':{'requires_background_progress':true}}]}")],
                &[1],
            ),
            (&[("ModuleDeclaration", "{'progress':{'requires_background_execution':false}}")], &[]),
        ],
    );
}

#[test]
fn heartbeats_and_background_are_two_things() {
    let behavior = |text| ("ModuleProgressBehavior", text);
    let run = |text| ("RunExecutionRequirements", text);
    has_rows(
        "background_execution_heartbeat_confused",
        &[
            (&[behavior("{'emits_progress_heartbeat':true}")], &[1]),
            (&[behavior("{'emits_progress_heartbeat':true,'heartbeat_interval_ms':-1}")], &[1]),
            (&[behavior("{'emits_progress_heartbeat':false,'heartbeat_interval_ms':5}")], &[1]),
            (&[behavior("{'emits_progress_heartbeat':false,'heartbeat_interval_ms':null}")], &[]),
            (&[behavior("{'requires_background_execution':true}")], &[1]),
            (&[run("{'requires_background_execution':true,'heartbeat_interval_ms':5}")], &[1]),
            (
                &[run(
                    "{'requires_background_execution':true,'derived_from_ref':'module_progress_behavior:b'}",
                )],
                &[1],
            ),
            (
                &[
                    run("{'requires_background_execution':true}"),
                    behavior("{'emits_progress_heartbeat':false}"),
                ],
                &[],
            ),
        ],
    );
}
