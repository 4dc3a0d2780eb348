//! Validation codes: hard calls.
//! Owns: the rules of this area. Must not: decide by names.

mod holding;
mod resolution;
mod stop;

use super::{Area, Found, Rule, Severity};
use crate::kind::{Class, Kind};
use crate::member::Member;
use crate::reference::{Reference, snake};
use crate::world::{Record, World};
use alloc::collections::BTreeSet;
use alloc::format;
use countersign_record::json::Json;
use resolution::hard_call_resolved_without_dispatcher_receipt;
use stop::{cancel_ignores_executed_side_effect, skip_without_receipt};

pub(super) const AREA: Area = Area { name: "hard_calls", rules: RULES, kinds: KINDS };

/// What the contract speaks of and gives no record: a call that ran out of time or was put off, an activation of a module.
const KINDS: &[Kind] = &[
    Kind::new("HardCallPendingEvent", Class::Event, Some("event_id")),
    Kind::new("ModuleActivationEvent", Class::Event, Some("activation_id")),
];

const RULES: &[Rule] = &[
    Rule {
        code: "hard_call_options_empty",
        severity: Severity::Error,
        section: "B-10/B-11/B-18/B-19",
        fires: "A HardRevisionCall with response_mode closed_choice or closed_choice_with_other has an empty options array.",
        legal: "response_mode freeform_required with no options.",
        why: "A person who is asked to choose and is given nothing to choose from can only wait or click on. Whoever signs later can't say that a decision was taken.",
        fix: "List the options with what each one leads to, or ask for a free answer (freeform_required) with a schema for it.",
        check: hard_call_options_empty,
    },
    Rule {
        code: "hard_call_closed_choice_needs_two_options",
        severity: Severity::Error,
        section: "B-10/B-11/B-18/B-19",
        fires: "A HardRevisionCall with response_mode closed_choice has exactly one option, or fewer than two distinct option ids (an empty list fires hard_call_options_empty instead).",
        legal: "closed_choice_with_other with one listed option plus the implicit other.",
        why: "A choice of one is a notice that looks like a decision. The record would show a person's consent where there was none to give.",
        fix: "Offer at least two options with ids of their own, or let the person say something else (closed_choice_with_other).",
        check: hard_call_closed_choice_needs_two_options,
    },
    Rule {
        code: "hard_call_freeform_missing_response_schema",
        severity: Severity::Error,
        section: "B-10/B-11/B-18/B-19",
        fires: "A HardRevisionCall with response_mode freeform_required (or closed_choice_with_other) has no freeform_response_schema_ref.",
        legal: "response_mode closed_choice without a response schema.",
        why: "A free answer that has no form can be read as anything. What the person meant must be fixed before work goes on with it.",
        fix: "Name the schema of the answer in freeform_response_schema_ref, or close the choice.",
        check: hard_call_freeform_missing_response_schema,
    },
    Rule {
        code: "hard_call_resolved_without_dispatcher_receipt",
        severity: Severity::Error,
        section: "B-10/B-11/B-18/B-19",
        fires: "A HardRevisionCall is treated as resolved (its scope resumes, its attention item closes, or waiting_hard_call is left) without a HardCallResolutionReceipt with operation_kind hard_call_resolved and a dispatcher_actor_ref for that hard_call_id, or the selected_option_id is not among its options.",
        legal: "The scope continues under on_timeout = continue_with_warning with a recorded timeout event while the call itself stays unresolved.",
        why: "Work that goes on as if a person had decided puts a decision into that person's mouth. Only a receipt of the dispatcher shows who answered what.",
        fix: "Record the answer with a HardCallResolutionReceipt (operation_kind hard_call_resolved, the dispatcher, an option of the call) before anything goes on, or record the timeout or deferral that lets it go on with a warning.",
        check: hard_call_resolved_without_dispatcher_receipt,
    },
    Rule {
        code: "cancel_ignores_executed_side_effect",
        severity: Severity::Error,
        section: "B-10/B-11/B-18/B-19",
        fires: "A TaskCancelReceipt for a TaskCancelProtocol leaves out a side effect in cancel_scope that the side-effect ledger shows as executed before the cancel, or claims it was undone without a corrective artifact.",
        legal: "An unexecuted side-effect intent is cancelled, and every executed effect is listed as not cancelled.",
        why: "What was sent or filed stays in the world after a cancel. A receipt that is silent about it lets the signer believe that nothing happened.",
        fix: "List every side effect that was executed before, as left or with its corrective artifact; cancel only intents.",
        check: cancel_ignores_executed_side_effect,
    },
    Rule {
        code: "skip_without_receipt",
        severity: Severity::Error,
        section: "B-10/B-11/B-18/B-19",
        fires: "A step, module activation or outcome is recorded as skipped and no TaskSkipReceipt with that target_ref exists at a seq <= the skip.",
        legal: "A step that never became eligible because its plan was cancelled (covered by the cancel receipt).",
        why: "A step that was left out looks like one that was done. The receipt says who left it out, why, and what depends on it.",
        fix: "Write a TaskSkipReceipt for the target before the skip is recorded, with its reason and downstream effect.",
        check: skip_without_receipt,
    },
];

/// The record of a type that a text names, by a reference or by what it is called.
pub(super) fn named<'w>(world: &'w World, kind: &str, text: &str) -> Option<Record<'w>> {
    match Reference::read(text).filter(|reference| reference.kind == snake(kind)) {
        Some(reference) => world.resolve(reference),
        None => world.find(kind, text),
    }
}

/// The same of a setting, as it stood at a place of the log.
pub(super) fn named_at<'w>(world: &'w World, kind: &str, text: &str, seq: u64) -> Option<Record<'w>> {
    match Reference::read(text).filter(|reference| reference.kind == snake(kind)) {
        Some(reference) => world.resolve_at(reference, seq),
        None => world.policy(kind, text, seq),
    }
}

/// What a text names that may say the kind, in snake case, in front.
pub(super) fn id_of<'t>(kind: &str, text: &'t str) -> &'t str {
    Reference::read(text).filter(|reference| reference.kind == kind).map_or(text, |reference| reference.id)
}

/// Whether a value names no schema: a schema is named by an id, or by a text.
pub(super) fn names_no_schema(record: &Json, path: &str) -> bool {
    record.is_blank(path) || record.members(path).is_some() && record.is_blank(&format!("{path}.schema_id"))
}

fn hard_call_options_empty(world: &World, found: &mut Found<'_>) {
    for call in world.of("HardRevisionCall") {
        let is_closed = call.is_one_of("response_mode", &["closed_choice", "closed_choice_with_other"]);
        if is_closed && call.is_blank("options") {
            found.add(call, "options", "a choice without options");
        }
    }
}

fn hard_call_closed_choice_needs_two_options(world: &World, found: &mut Found<'_>) {
    for call in world.of("HardRevisionCall") {
        let options = call.list("options");
        if !call.is("response_mode", "closed_choice") || options.is_empty() {
            continue;
        }
        let ids: BTreeSet<&str> = options.iter().filter_map(|option| option.text("option_id")).collect();
        if ids.len() < 2 {
            found.add(call, "options", "fewer than two different options");
        }
    }
}

fn hard_call_freeform_missing_response_schema(world: &World, found: &mut Found<'_>) {
    for call in world.of("HardRevisionCall") {
        let is_free = call.is_one_of("response_mode", &["freeform_required", "closed_choice_with_other"]);
        if is_free && names_no_schema(&call, "freeform_response_schema_ref") {
            found.add(call, "freeform_response_schema_ref", "a free answer without a schema");
        }
    }
}

#[cfg(test)]
#[path = "hard_calls_tests.rs"]
mod tests;
