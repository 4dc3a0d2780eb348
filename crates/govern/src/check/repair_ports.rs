//! Validation codes: repair ports.
//! Owns: the rules of this area. Must not: decide by names.

use super::hard_calls::named_at;
use super::{Area, Found, Rule, Severity};
use crate::kind::{Class, Kind};
use crate::member::Member;
use crate::path::Path;
use crate::world::{Record, Settings, World};
use alloc::vec::Vec;
use countersign_record::json::{Json, Object};

pub(super) const AREA: Area = Area { name: "repair_ports", rules: RULES, kinds: KINDS };

/// What a module says of itself: its kind and its ports.
const KINDS: &[Kind] = &[Kind::new("ModuleDeclaration", Class::Policy, Some("module_id"))];

const RULES: &[Rule] = &[
    Rule {
        code: "repair_routed_to_non_revision_port",
        severity: Severity::Error,
        section: "A-16/A-17",
        fires: "A meaning-bearing OutcomeRepairInstruction is executed through a port with port_id != revision_in whose PortRevisionEligibility is absent or has revision_compatible = false (instruction_in, data_in, context_in).",
        legal: "The same instruction delivered to context_in as advisory context with no mutation, or a mechanical repair.",
        why: "A repair that changes what a text says must go where changes are planned, locked and reviewed. Through any other door it changes the work unseen.",
        fix: "Send it through revision_in or a port that is marked revision_compatible, or give it as advice only.",
        check: repair_routed_to_non_revision_port,
    },
    Rule {
        code: "revisor_declares_revision_in",
        severity: Severity::Error,
        section: "A-16/A-17",
        fires: "A module of kind revisor declares an input port with port_id revision_in.",
        legal: "A revisor that declares feedback_bundle_in, repair_instruction_in and evaluation_result_in only.",
        why: "The one who plans revisions would be told by others what to revise, and so a plan could come in that nobody planned.",
        fix: "Let a revisor have feedback_bundle_in, repair_instruction_in and evaluation_result_in, and nothing else.",
        check: revisor_declares_revision_in,
    },
    Rule {
        code: "meaning_bearing_repair_without_revision_capability",
        severity: Severity::Error,
        section: "A-16/A-17",
        fires: "A meaning-bearing OutcomeRepairInstruction is executed through a port with revision_compatible = true whose module_revision_capability_ref is absent, unresolvable, or whose ModuleRevisionCapability does not cover the instruction's strategy and artifact kind.",
        legal: "Execution through revision_in, or through a compatible port whose capability lists that strategy and artifact kind.",
        why: "The module was never said to be able to make this change, so nobody vouches for how it does it.",
        fix: "Name a ModuleRevisionCapability of that module that lists the strategy and the kind of artifact, or send the repair through revision_in.",
        check: meaning_bearing_repair_without_revision_capability,
    },
];

/// The port that is made for revisions.
const REVISION_PORT: &str = "revision_in";

/// A repair that changes meaning and is carried out through another port than that for revisions, with what is known of that port.
struct Detour<'w> {
    repair: Record<'w>,
    port: Option<Record<'w>>,
}

fn detours(world: &World) -> Vec<Detour<'_>> {
    let ports = Settings::of(world, "PortRevisionEligibility", |port| {
        port.json().text("module_id").zip(port.json().text("port_id"))
    });
    let mut detours = Vec::new();
    for repair in world.of("OutcomeRepairInstruction") {
        let json = repair.json();
        // Where nobody says, a repair may change meaning, and it is carried out.
        let is_bearing = !json.is("safety_class", "mechanical");
        let Some(port) = json.text("target_port.port_id").filter(|port| *port != REVISION_PORT) else {
            continue;
        };
        if is_bearing && !json.is("execution", "advisory") {
            let module = json.text("target_port.module_id").unwrap_or_default();
            detours.push(Detour { repair, port: ports.at(&(module, port), repair.seq()) });
        }
    }
    detours
}

fn is_compatible(port: &Record<'_>) -> bool {
    port.flag("revision_compatible") == Some(true)
}

fn repair_routed_to_non_revision_port(world: &World, found: &mut Found<'_>) {
    for detour in detours(world) {
        if !detour.port.as_ref().is_some_and(is_compatible) {
            found.add(
                detour.repair,
                "target_port.port_id",
                "a repair that changes meaning can't go through this port",
            );
        }
    }
}

fn meaning_bearing_repair_without_revision_capability(world: &World, found: &mut Found<'_>) {
    for detour in detours(world) {
        let Some(port) = detour.port.filter(is_compatible) else { continue };
        let capability = port.text("module_revision_capability_ref");
        let seq = detour.repair.seq();
        let capability = capability.and_then(|text| named_at(world, "ModuleRevisionCapability", text, seq));
        if !capability.is_some_and(|capability| covers(capability, port, detour.repair)) {
            found.add(detour.repair, "target_port", "no revision capability of the module covers the repair");
        }
    }
}

/// Whether a capability is that of the module behind a port, and lists what a repair does and to what; what nobody says, nothing lists.
fn covers(capability: Record<'_>, port: Record<'_>, repair: Record<'_>) -> bool {
    let lists = |path: &str, word: &str| capability.list(path).iter().any(|one| one.as_str() == Some(word));
    let is_of_module = capability.text("module_id").is_none_or(|module| port.is("module_id", module));
    let target = repair.follow("target_ref");
    let kind = repair.text("artifact_kind").or_else(|| target.as_ref()?.text("artifact_kind"));
    is_of_module
        && repair.text("strategy_kind").is_some_and(|strategy| lists("strategies", strategy))
        && kind.is_some_and(|kind| lists("artifact_kinds", kind))
}

fn revisor_declares_revision_in(world: &World, found: &mut Found<'_>) {
    let is_revision = |port: &Json| port.as_str() == Some(REVISION_PORT) || port.is("port_id", REVISION_PORT);
    for module in world.of("ModuleDeclaration").filter(|module| module.is("module_kind", "revisor")) {
        let ports = module.list("input_ports").iter().enumerate();
        for (at, _) in ports.filter(|(_, port)| is_revision(port)) {
            found.add(module, Path::from("input_ports").item(at), "a revisor has no such port");
        }
    }
    for ports in world.of("RevisorPlannerInputPorts") {
        for (name, port) in ports.json().as_object().into_iter().flat_map(Object::iter) {
            if name == REVISION_PORT || is_revision(port) {
                found.add(ports, Path::whole().name(name), "a revisor has no such port");
            }
        }
    }
}

#[cfg(test)]
#[path = "repair_ports_tests.rs"]
mod tests;
