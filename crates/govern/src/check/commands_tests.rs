//! Other ways in which commands go wrong.

use super::AREA;
use crate::check::trial::has_found;

const INVOCATION: &str = "CommandInvocation";
const ENTRY: &str = "TaskCommandRegistryEntry";
const SPEC: &str = "ReadModelInvalidationSpec";

#[test]
fn what_users_do_is_registered() {
    let unknown = r#"{"invocation_id":"i1","command_id":"a.b","actor_kind":"user"}"#;
    let entry = r#"{"command_id":"a.b","durable_write":"none"}"#;
    let wrong = "1 user_action_without_command_registry_entry /command_id";
    has_found(&AREA, &[(INVOCATION, unknown)], &[wrong]);
    has_found(&AREA, &[(ENTRY, entry), (INVOCATION, unknown)], &[]);
    // An entry that comes later does not excuse it.
    has_found(&AREA, &[(INVOCATION, unknown), (ENTRY, entry)], &[wrong]);
    let built_in = r#"{"invocation_id":"i1","command_id":"hard_call.resolve","actor_ref":"user:u","idempotency_key":"k"}"#;
    has_found(&AREA, &[(INVOCATION, built_in)], &[]);
    let engine = r#"{"invocation_id":"i1","command_id":"a.b","actor_ref":"engine:e","actor_kind":"engine"}"#;
    has_found(&AREA, &[(INVOCATION, engine)], &[]);
}

#[test]
fn keys_come_along() {
    let wrong = "1 command_missing_idempotency_key /idempotency_key";
    let built_in = r#"{"invocation_id":"i1","command_id":"finding.contest","actor_kind":"engine"}"#;
    has_found(&AREA, &[(INVOCATION, built_in)], &[wrong]);
    // A row of the registry says otherwise.
    let entry = r#"{"command_id":"finding.contest","durable_write":"none","idempotency_key_required":false}"#;
    has_found(&AREA, &[(ENTRY, entry), (INVOCATION, built_in)], &[]);
}

#[test]
fn what_is_made_old_is_listed() {
    let spec =
        r#"{"producer_event_kind":"TaskRunFork","invalidates_read_models":["RunDiff","TaskHealthCard"]}"#;
    let entry = |listed: &str, more: &str| {
        std::format!(
            r#"{{"command_id":"x.y","durable_write":"required","idempotency_key_required":true,
            "read_model_invalidations":[{listed}]{more}}}"#
        )
    };
    let wrong = "2 command_missing_read_model_invalidation /read_model_invalidations";
    let writes = r#","writes_event_kinds":["TaskRunFork"]"#;
    has_found(&AREA, &[(SPEC, spec), (ENTRY, &entry(r#""RunDiff""#, writes))], &[wrong]);
    has_found(&AREA, &[(SPEC, spec), (ENTRY, &entry(r#""RunDiff","TaskHealthCard""#, writes))], &[]);
    has_found(&AREA, &[(SPEC, spec), (ENTRY, &entry(r#""RunDiff""#, ""))], &[]);
    // What a built-in command writes is known.
    let fork = entry(r#""RunDiff""#, "").replace("x.y", "task_replay.create_fork");
    has_found(&AREA, &[(SPEC, spec), (ENTRY, &fork)], &[wrong]);
}

#[test]
fn buttons_lead_somewhere() {
    let general =
        r#"{"affordance_id":"a","surface_kind":"g","action":"x","command_ref":"command:a.b","enabled":true}"#;
    let wrong = "2 g_surface_action_without_command /command_ref";
    let entry = r#"{"command_id":"a.b","durable_write":"none"}"#;
    has_found(&AREA, &[(ENTRY, entry), ("UiAffordance", general)], &[wrong]);
    let other = general.replace(r#""g""#, r#""other""#);
    has_found(&AREA, &[(ENTRY, entry), ("UiAffordance", &other)], &[]);
    // A built-in command that is none of the twelve is not for such a surface either.
    let general = general.replace("a.b", "hard_call.resolve");
    let wrong = "1 g_surface_action_without_command /command_ref";
    has_found(&AREA, &[("UiAffordance", &general)], &[wrong]);
    let own = general.replace("hard_call.resolve", "attention.resolve_item");
    has_found(&AREA, &[("UiAffordance", &own)], &[]);
    // Switched off is no excuse by itself.
    let off = r#"{"affordance_id":"a","surface_kind":"other","action":"x","enabled":false}"#;
    has_found(&AREA, &[("UiAffordance", off)], &["1 phantom_button_no_command /command_ref"]);
}
