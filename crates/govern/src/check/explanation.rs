//! Validation codes: explanation.
//! Owns: the rules of this area. Must not: decide by names.

use super::{Area, Found, Rule, Severity};
use crate::member::Member;
use crate::path::Path;
use crate::reference::Reference;
use crate::world::World;
use alloc::format;
use countersign_record::json::{Json, Object};

/// What raw reasoning of a model is called, as a field or as the kind of a reference.
const HIDDEN: [&str; 4] = ["chain_of_thought", "scratchpad", "thinking", "raw_reasoning"];

pub(super) const AREA: Area = Area { name: "explanation", rules: RULES, kinds: &[] };

const RULES: &[Rule] = &[
    Rule {
        code: "explanation_trace_contains_hidden_reasoning",
        severity: Severity::Error,
        section: "G-18",
        fires: "An ExplanationTrace has hidden_reasoning_included other than false, or the trace or a causal step of it carries a field or ref for raw model reasoning (chain_of_thought, scratchpad, thinking, raw_reasoning).",
        legal: "A rationale_summary written for the user that explains the decision.",
        why: "Raw reasoning of a model is no explanation that anybody vouches for, and may hold what the reader must not see.",
        fix: "Take it out; write a rationale_summary for the reader, and set hidden_reasoning_included to false.",
        check: explanation_trace_contains_hidden_reasoning,
    },
    Rule {
        code: "explanation_trace_without_causal_steps",
        severity: Severity::Error,
        section: "G-18",
        fires: "An ExplanationTrace has an empty causal_steps array, or a step without input_refs and output_refs.",
        legal: "One step with an input ref, an output ref and a summary.",
        why: "An explanation that names no cause explains nothing; a signer can't follow it back to evidence.",
        fix: "Name the steps with what went in and what came out.",
        check: explanation_trace_without_causal_steps,
    },
];

fn explanation_trace_contains_hidden_reasoning(world: &World, found: &mut Found<'_>) {
    for trace in world.of("ExplanationTrace") {
        if trace.flag("hidden_reasoning_included") != Some(false) {
            let message = "the trace does not say that no hidden reasoning is in it";
            found.add(trace, "hidden_reasoning_included", message);
        }
        for (at, step) in trace.list("causal_steps").iter().enumerate() {
            if let Some(word) = hidden(step) {
                found.add(trace, Path::from("causal_steps").item(at), format!("the step carries {word}"));
            }
        }
        for (name, value) in trace.json().as_object().into_iter().flat_map(Object::iter) {
            let word = if is_hidden(name) { Some(name) } else { hidden(value) };
            if let Some(word) = word.filter(|_| name != "causal_steps" && *value != Json::Null) {
                found.add(trace, Path::whole().name(name), format!("the trace carries {word}"));
            }
        }
    }
}

/// Whether a member is for raw reasoning, whoever's it is.
fn is_hidden(name: &str) -> bool {
    let bare = name.strip_suffix("_refs").or_else(|| name.strip_suffix("_ref")).unwrap_or(name);
    let ends =
        |word: &&str| bare.strip_suffix(*word).is_some_and(|start| start.is_empty() || start.ends_with('_'));
    HIDDEN.iter().any(ends)
}

/// The first field or reference for raw reasoning in a value.
fn hidden(value: &Json) -> Option<&str> {
    match value {
        Json::Object(members) => {
            members.iter().find_map(|(name, value)| if is_hidden(name) { Some(name) } else { hidden(value) })
        }
        Json::Array(items) => items.iter().find_map(hidden),
        Json::String(text) => {
            let kind = Reference::read(text).filter(|one| !one.id.contains(char::is_whitespace));
            kind.map(|one| one.kind).filter(|kind| HIDDEN.contains(kind))
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => None,
    }
}

fn explanation_trace_without_causal_steps(world: &World, found: &mut Found<'_>) {
    for trace in world.of("ExplanationTrace") {
        if trace.is_blank("causal_steps") {
            found.add(trace, "causal_steps", "the trace names no step");
        }
        for (at, step) in trace.list("causal_steps").iter().enumerate() {
            if step.is_blank("input_refs") && step.is_blank("output_refs") {
                let message = "the step names neither what went in nor what came out";
                found.add(trace, Path::from("causal_steps").item(at), message);
            }
        }
    }
}

#[cfg(test)]
#[path = "explanation_tests.rs"]
mod tests;
