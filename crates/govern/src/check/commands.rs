//! Validation codes: commands.
//! Owns: the rules of this area. Must not: decide by names.

use super::{Area, Found, Rule, Severity};
use crate::decide::command::{self, Specs, id_of};
use crate::member::Member;
use crate::table::commands::{self, Layer};
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;

/// The registry of the reliance layer.
const RELIANCE: &str = "RelianceLayerCommandRegistryEntry";

pub(super) const AREA: Area = Area { name: "commands", rules: RULES, kinds: &[] };

const RULES: &[Rule] = &[
    Rule {
        code: "user_action_without_command_registry_entry",
        severity: Severity::Error,
        section: "D-14",
        fires: "A CommandInvocation by a user names a command_id that has no TaskCommandRegistryEntry or RelianceLayerCommandRegistryEntry before it and is not built in.",
        legal: "A purely local view action (scroll, filter) registered with durable_write explicit_no_op.",
        why: "An action that no registry knows has no stated policy checks and leaves no stated trace: nobody can say later what it was allowed to do.",
        fix: "Register the command, or bind the action to one that is registered.",
        check: user_action_without_command_registry_entry,
    },
    Rule {
        code: "command_missing_idempotency_key",
        severity: Severity::Error,
        section: "D-14",
        fires: "A registry entry with durable_write required has idempotency_key_required = false, or an invocation of a command with idempotency_key_required has no key.",
        legal: "A read-only command (durable_write none) without a key.",
        why: "Without a key a second click or a retry writes a second time, and the record shows two decisions where somebody made one.",
        fix: "Demand a key in the registry entry of every command that writes, and send one with every invocation that needs it.",
        check: command_missing_idempotency_key,
    },
    Rule {
        code: "command_missing_read_model_invalidation",
        severity: Severity::Error,
        section: "D-14",
        fires: "A registry entry with durable_write required has empty read_model_invalidations, or the events that it writes (its writes_event_kinds, and those of the built-in command of that id) invalidate by a ReadModelInvalidationSpec a kind that the entry does not list.",
        legal: "A command with durable_write none and an empty list.",
        why: "What is shown after the command would still be what held before it, and somebody would sign on an old picture.",
        fix: "List every read model that the command's events make old; take the list from the invalidation specs.",
        check: command_missing_read_model_invalidation,
    },
    Rule {
        code: "phantom_button_no_command",
        severity: Severity::Error,
        section: "D-14",
        fires: "A UI affordance on any surface offers an action and has no command_ref at all.",
        legal: "A disabled affordance whose owning type is pending_absorption with disable_ui_affordance.",
        why: "A button that leads to no command does nothing that is recorded: the user believes to have acted.",
        fix: "Bind it to a registered command, or disable it while the type behind it is not absorbed.",
        check: phantom_button_no_command,
    },
    Rule {
        code: "g_surface_action_without_command",
        severity: Severity::Error,
        section: "§G commands (N-05)",
        fires: "An affordance on a §G surface names a command_id that is not among the twelve RelianceLayerCommandRegistryEntry ids (or has no registered entry).",
        legal: "A §G affordance bound to attention.resolve_item.",
        why: "On the surfaces where people take responsibility every action must end in a command of that layer, else it closes nothing.",
        fix: "Bind the action to one of the commands of the reliance layer, or register it there.",
        check: g_surface_action_without_command,
    },
    Rule {
        code: "g_surface_missing_empty_state",
        severity: Severity::Error,
        section: "§G commands (N-05)",
        fires: "A RelianceLayerCommandRegistryEntry has a blank empty_state_behavior.",
        legal: "An entry that states explicitly that nothing is shown when empty.",
        why: "A surface that says nothing when there is nothing can't be told from one that is broken.",
        fix: "Say in empty_state_behavior what is shown when there is nothing to act on.",
        check: g_surface_missing_empty_state,
    },
    Rule {
        code: "g_surface_missing_degraded_state",
        severity: Severity::Error,
        section: "§G commands (N-05)",
        fires: "A RelianceLayerCommandRegistryEntry has a blank degraded_state_behavior.",
        legal: "An entry that states that degraded equals read-only.",
        why: "When a part is missing, the reader must know that the picture is not complete before relying on it.",
        fix: "Say in degraded_state_behavior what is shown and what is still possible when a part is missing.",
        check: g_surface_missing_degraded_state,
    },
    Rule {
        code: "g_surface_missing_error_state",
        severity: Severity::Error,
        section: "§G commands (N-05)",
        fires: "A RelianceLayerCommandRegistryEntry has a blank error_state_behavior.",
        legal: "An entry that states the error text and retry behaviour.",
        why: "After a failure somebody must know whether anything was written, and whether to try again.",
        fix: "Say in error_state_behavior what is shown and what a second try does.",
        check: g_surface_missing_error_state,
    },
];

/// The registry: what is built in, and the rows that come on top.
pub(super) struct Registry<'w> {
    /// The entries of a command, in order.
    rows: BTreeMap<&'w str, Vec<Record<'w>>>,
}

impl<'w> Registry<'w> {
    /// What a world has registered.
    pub(super) fn of(world: &'w World) -> Self {
        let mut rows: BTreeMap<&str, Vec<Record<'_>>> = BTreeMap::new();
        for entry in entries(world) {
            rows.entry(entry.id()).or_default().push(entry);
        }
        rows.values_mut().for_each(|rows| rows.sort_by_key(|entry| entry.seq()));
        Registry { rows }
    }

    /// The last entry of a command before a place.
    fn before(&self, id: &str, seq: u64) -> Option<Record<'w>> {
        let rows = self.rows.get(id)?;
        let count = rows.partition_point(|entry| entry.seq() < seq);
        count.checked_sub(1).and_then(|last| rows.get(last)).copied()
    }

    /// Whether a command is known before a place.
    pub(super) fn knows(&self, command: &str, seq: u64) -> bool {
        let id = id_of(command);
        commands::find(id).is_some() || self.before(id, seq).is_some()
    }

    /// Whether a surface of the reliance layer may offer it.
    fn is_of_reliance(&self, command: &str) -> bool {
        let id = id_of(command);
        let is_row = |rows: &Vec<Record<'_>>| rows.iter().any(|entry| entry.kind() == RELIANCE);
        let is_built_in = commands::find(id).is_some_and(|command| command.layer == Layer::Reliance);
        is_built_in || self.rows.get(id).is_some_and(is_row)
    }

    /// Whether a command needs a key, by its last entry before a place.
    fn is_keyed(&self, id: &str, seq: u64) -> bool {
        match self.before(id, seq) {
            Some(entry) => entry.flag("idempotency_key_required") == Some(true),
            None => commands::find(id).is_some_and(|command| command.is_keyed),
        }
    }
}

/// All rows of both registries, in the order of their kinds.
fn entries(world: &World) -> impl Iterator<Item = Record<'_>> {
    world.of("TaskCommandRegistryEntry").chain(world.of(RELIANCE))
}

fn user_action_without_command_registry_entry(world: &World, found: &mut Found<'_>) {
    let registry = Registry::of(world);
    for invocation in world.of("CommandInvocation") {
        let by_ref = invocation.reference("actor_ref").is_some_and(|actor| actor.kind == "user");
        if !by_ref && !invocation.is("actor_kind", "user") {
            continue;
        }
        if !invocation.text("command_id").is_some_and(|id| registry.knows(id, invocation.seq())) {
            found.add(invocation, "command_id", "a user did something that no registry knows as a command");
        }
    }
}

fn command_missing_idempotency_key(world: &World, found: &mut Found<'_>) {
    for entry in entries(world).filter(|entry| entry.is("durable_write", "required")) {
        if entry.flag("idempotency_key_required") != Some(true) {
            found.add(entry, "idempotency_key_required", "the command writes and does not demand a key");
        }
    }
    let registry = Registry::of(world);
    for invocation in world.of("CommandInvocation").filter(|one| one.is_blank("idempotency_key")) {
        let is_keyed = |id: &str| registry.is_keyed(id_of(id), invocation.seq());
        if invocation.text("command_id").is_some_and(is_keyed) {
            found.add(invocation, "idempotency_key", "the command demands a key and none came along");
        }
    }
}

fn command_missing_read_model_invalidation(world: &World, found: &mut Found<'_>) {
    // What a bundle says of an event stands for what is built in.
    let mut specs: Specs<'_> = BTreeMap::new();
    for spec in world.of("ReadModelInvalidationSpec") {
        let spec = spec.json();
        if let Some(event) = spec.text("producer_event_kind") {
            specs.entry(event).or_default().extend(spec.texts("invalidates_read_models"));
        }
    }
    for entry in entries(world).filter(|entry| entry.is("durable_write", "required")) {
        let listed: BTreeSet<&str> = entry.texts("read_model_invalidations").into_iter().collect();
        if listed.is_empty() {
            found.add(entry, "read_model_invalidations", "the command writes and makes no read model old");
            continue;
        }
        let due = command::made_old(entry.id(), &entry.texts("writes_event_kinds"), &specs);
        if let Some(missing) = due.difference(&listed).next() {
            let message = format!("what the command writes makes {missing} old, which is not listed");
            found.add(entry, "read_model_invalidations", message);
        }
    }
}

fn phantom_button_no_command(world: &World, found: &mut Found<'_>) {
    // A type that nobody owns yet may keep its button, if it says so and the button is off.
    let is_pending = |affordance: Record<'_>| {
        let kind = affordance.text("read_model_kind");
        let owner = kind.and_then(|kind| world.policy("TypeOwnerRegistryEntry", kind, affordance.seq()));
        owner.is_some_and(|owner| {
            owner.is("status", "pending_absorption")
                && owner.is("pending_consumer_behavior", "disable_ui_affordance")
        })
    };
    for affordance in world.of("UiAffordance") {
        if affordance.is_blank("action") || !affordance.is_blank("command_ref") {
            continue;
        }
        if affordance.flag("enabled") != Some(false) || !is_pending(affordance) {
            found.add(affordance, "command_ref", "an action is offered that leads to no command");
        }
    }
}

fn g_surface_action_without_command(world: &World, found: &mut Found<'_>) {
    let registry = Registry::of(world);
    for affordance in world.of("UiAffordance").filter(|one| one.is("surface_kind", "g")) {
        if affordance.text("command_ref").is_some_and(|command| !registry.is_of_reliance(command)) {
            found.add(affordance, "command_ref", "the command is none of the reliance layer");
        }
    }
}

fn g_surface_missing_empty_state(world: &World, found: &mut Found<'_>) {
    missing_state(world, found, "empty_state_behavior");
}

fn g_surface_missing_degraded_state(world: &World, found: &mut Found<'_>) {
    missing_state(world, found, "degraded_state_behavior");
}

fn g_surface_missing_error_state(world: &World, found: &mut Found<'_>) {
    missing_state(world, found, "error_state_behavior");
}

fn missing_state(world: &World, found: &mut Found<'_>, field: &'static str) {
    for entry in world.of(RELIANCE).filter(|entry| entry.text(field).is_none()) {
        found.add(entry, field, format!("the command does not say its {}", field.replace('_', " ")));
    }
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
