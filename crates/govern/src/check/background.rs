//! Validation codes: background.
//! Owns: the rules of this area. Must not: decide by names.

use super::{Area, Found, Rule, Severity, within};
use crate::member::Member;
use crate::path::Path;
use crate::reference::Reference;
use crate::world::{Mark, World};
use countersign_record::json::Object;

pub(super) const AREA: Area = Area { name: "background", rules: RULES, kinds: &[] };

const RULES: &[Rule] = &[
    Rule {
        code: "requires_background_progress_legacy_field_present",
        severity: Severity::Warning,
        section: "D-21",
        fires: "A run or module record carries the overloaded field requires_background_progress, however deep it stands.",
        legal: "requires_background_execution in RunExecutionRequirements.",
        why: "The old field meant two things, that a run works in the background and that a module tells of its progress. A reader can't know which of them was promised.",
        fix: "Say requires_background_execution in RunExecutionRequirements, emits_progress_heartbeat in ModuleProgressBehavior, and drop the old field.",
        check: requires_background_progress_legacy_field_present,
    },
    Rule {
        code: "background_execution_heartbeat_confused",
        severity: Severity::Error,
        section: "D-21",
        fires: "A record uses one concept for the other: ModuleProgressBehavior has emits_progress_heartbeat = true without heartbeat_interval_ms > 0 (or an interval with emits false), heartbeat fields sit in RunExecutionRequirements, or background execution is inferred from a heartbeat.",
        legal: "A foreground module that emits heartbeats, or a background run whose modules emit none.",
        why: "Whether a run may go on unseen is a matter of consent; a heartbeat is only a signal. If one stands for the other, work goes on where nobody allowed it, or silence is taken for a failure.",
        fix: "Give a heartbeat an interval above 0 or neither of the two, and keep what the run requires apart from how a module reports.",
        check: background_execution_heartbeat_confused,
    },
];

fn requires_background_progress_legacy_field_present(world: &World, found: &mut Found<'_>) {
    let name = "requires_background_progress";
    for record in world.marked(Mark::Background) {
        for path in within::named(record.json(), name) {
            found.add(record, path, "was split into two fields");
        }
    }
}

fn background_execution_heartbeat_confused(world: &World, found: &mut Found<'_>) {
    for behavior in world.of("ModuleProgressBehavior") {
        let interval = behavior.at("heartbeat_interval_ms");
        let is_above_zero = behavior.number("heartbeat_interval_ms").is_some_and(|every| every > 0.0);
        match behavior.flag("emits_progress_heartbeat") {
            Some(true) if !is_above_zero => {
                found.add(behavior, "heartbeat_interval_ms", "a heartbeat needs an interval above 0");
            }
            Some(false) if interval.is_some() => {
                found.add(behavior, "heartbeat_interval_ms", "an interval without a heartbeat");
            }
            Some(true | false) | None => {}
        }
        if behavior.at("requires_background_execution").is_some() {
            found.add(behavior, "requires_background_execution", "is for the run to say, not for a module");
        }
    }
    for requirements in world.of("RunExecutionRequirements") {
        for path in ["emits_progress_heartbeat", "heartbeat_interval_ms"] {
            if requirements.at(path).is_some() {
                found.add(requirements, path, "is for a module to say, not for the run");
            }
        }
        for (path, value) in requirements.json().as_object().into_iter().flat_map(Object::iter) {
            let reference = value.as_str().and_then(Reference::read);
            if reference.is_some_and(|reference| reference.kind == "module_progress_behavior") {
                found.add(
                    requirements,
                    Path::whole().name(path),
                    "background execution does not follow from a heartbeat",
                );
            }
        }
    }
}

#[cfg(test)]
#[path = "background_tests.rs"]
mod tests;
