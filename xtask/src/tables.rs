//! `tables`: the tables of governance as pages.
//! Owns: how they read. Must not: say anything that the tables do not.

use std::collections::BTreeMap;

use countersign_govern::formula::function::FUNCTIONS;
use countersign_govern::formula::registry;
use countersign_govern::formula::spec::Below;
use countersign_govern::machine::{MACHINES, Machine};
use countersign_govern::table::taint_defaults::TAINT_DEFAULTS;
use countersign_govern::table::{commands, emission, invalidation, outcome};
use countersign_govern::types::basic::{DataClass, Severity, TaintClass};

use crate::generated::Directory;

const GENERATED: &str =
    "*Generated from the tables in `govern` by `cargo run -p xtask -- tables`; do not edit.*\n";

/// What `docs/tables/` should hold.
pub(crate) fn directory() -> Directory {
    let files = [
        ("machines.md", machines()),
        ("outcomes.md", outcomes()),
        ("commands.md", all_commands()),
        ("invalidations.md", invalidations()),
        ("emissions.md", emissions()),
        ("trust.md", trust()),
        ("formulas.md", formulas()),
    ];
    let files: BTreeMap<String, String> = files.map(|(name, text)| (name.to_owned(), text)).into();
    Directory { task: "tables", path: "docs/tables", files }
}

fn machines() -> String {
    let mut text = format!("# State machines\n\n{GENERATED}");
    for machine in MACHINES {
        text.push_str(&format!(
            "\n## {}\n\nTable `{}`.\n\n{}\n",
            machine.about,
            machine.name,
            picture(machine)
        ));
        text.push_str("| from | to | by | if |\n|---|---|---|---|\n");
        for way in machine.transitions {
            text.push_str(&format!("| {} | {} | {} | {} |\n", way.from, way.to, way.by, way.guard));
        }
    }
    text
}

/// A Mermaid picture: each way once, whatever it takes.
fn picture(machine: &Machine) -> String {
    let mut lines: Vec<String> = machine.initial.iter().map(|state| format!("  [*] --> {state}")).collect();
    for way in machine.transitions {
        let line = format!("  {} --> {}", way.from, way.to);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.extend(machine.terminal.iter().map(|state| format!("  {state} --> [*]")));
    format!("```mermaid\nstateDiagram-v2\n{}\n```\n", lines.join("\n"))
}

fn outcomes() -> String {
    let mut text = format!("# Where an outcome stands\n\n{GENERATED}\n");
    text.push_str("| state | shown as | emitted | ends progress | verdict | branch | blocks what depends on it | revisor | learning |\n|---|---|---|---|---|---|---|---|---|\n");
    for entry in outcome::MATRIX {
        text.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
            entry.state.as_str(),
            entry.label,
            yes(entry.is_emitted),
            yes(entry.is_terminal),
            entry.verdict.map_or("", |verdict| verdict.as_str()),
            entry.branch.as_str(),
            yes(entry.blocks_downstream),
            entry.action.as_str(),
            entry.learning.as_str(),
        ));
    }
    text
}

fn yes(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}

fn all_commands() -> String {
    let mut text = format!("# Commands\n\n{GENERATED}");
    for command in commands::all() {
        let writes: Vec<&str> = command.writes.iter().map(|write| write.kind()).collect();
        let writes = if writes.is_empty() { "nothing".to_owned() } else { writes.join(", ") };
        text.push_str(&format!(
            "\n## `{}`\n\n{}\n\n| | |\n|---|---|\n| needs | {} |\n| writes | {} ({}) |\n| makes old | {} |\n| checks | {} |\n| fails with | {} |\n| counted as | `{}` |\n| where there is nothing | {} |\n| where it is blocked | {} |\n| where something is missing | {} |\n| where it failed | {} |\n",
            command.id,
            command.does,
            command.needs,
            writes,
            command.durable_write.as_str(),
            command.invalidations().into_iter().collect::<Vec<_>>().join(", "),
            command.policy_checks.join(", "),
            command.failure_codes.join(", "),
            command.telemetry,
            command.states.empty,
            command.states.blocked,
            command.states.degraded,
            command.states.error,
        ));
    }
    text
}

fn invalidations() -> String {
    let mut text =
        format!("# What makes read models old\n\n{GENERATED}\n| event | read models |\n|---|---|\n");
    let mut kinds: Vec<&str> = invalidation::SPECS.iter().map(|spec| spec.event).collect();
    kinds.sort_unstable();
    kinds.dedup();
    for kind in kinds {
        let models = invalidation::invalidates(kind).unwrap_or_default();
        let models: Vec<String> =
            models.iter().map(|(model, scope)| format!("{} ({})", model.as_str(), scope.as_str())).collect();
        text.push_str(&format!("| {kind} | {} |\n", models.join(", ")));
    }
    text
}

fn emissions() -> String {
    let mut text = format!(
        "# What is sent out for a verdict\n\n{GENERATED}\n| producer | verdict | envelope | feedback bundle | a bundle is sent |\n|---|---|---|---|---|\n"
    );
    for row in emission::matrix() {
        text.push_str(&format!(
            "| {} | {} | {} | {} | {} |\n",
            row.producer.as_str(),
            row.verdict.as_str(),
            yes(row.emits_envelope),
            row.bundle.as_str(),
            yes(row.bundle.wants_bundle(row.verdict))
        ));
    }
    text
}

/// The orders in which the greater counts, and what a kind of source is trusted with.
fn trust() -> String {
    let mut text = format!("# Trust and secrecy\n\n{GENERATED}");
    let orders: [(&str, &str, &[&str]); 3] = [
        (
            "Taint",
            "The first is trusted most. What is made of several has the last of theirs.",
            TaintClass::WORDS,
        ),
        (
            "Data classes",
            "Everybody may see the first. What holds several has the last of theirs.",
            DataClass::WORDS,
        ),
        ("Severities", "The last weighs most.", Severity::WORDS),
    ];
    for (title, about, words) in orders {
        text.push_str(&format!("\n## {title}\n\n{about}\n\n"));
        for (place, word) in (1..).zip(words) {
            text.push_str(&format!("{place}. `{word}`\n"));
        }
    }
    text.push_str(
        "\n## What a kind of source is trusted with\n\nWhere what must back it is not there, it is `external_untrusted`.\n\n| kind | taint | must be backed by one of | may be set otherwise |\n|---|---|---|---|\n",
    );
    for row in TAINT_DEFAULTS {
        let required: Vec<&str> = row.required.iter().map(|basis| basis.as_str()).collect();
        let required = if required.is_empty() { "nothing".to_owned() } else { required.join(", ") };
        let (kind, taint) = (row.source_kind, row.taint.as_str());
        text.push_str(&format!("| {kind} | {taint} | {required} | {} |\n", yes(row.allow_override)));
    }
    text
}

fn formulas() -> String {
    let mut text = format!("# Formulas\n\n{GENERATED}");
    for spec in registry::all() {
        text.push_str(&format!(
            "\n## `{}` {}\n\n{}\n\n```text\n{}\n```\n\n| input | |\n|---|---|\n",
            spec.id,
            spec.version,
            spec.purpose,
            spec.text()
        ));
        for input in spec.inputs {
            text.push_str(&format!("| `{}` | {} |\n", input.name, input.about));
        }
        text.push_str(&format!(
            "\nMissing inputs: `{}`. Dividing by zero: {}. Not finite: `{}`. Rounding: `{}`.\n",
            spec.missing.as_str(),
            spec.zero.map_or_else(|| "does not happen".to_owned(), |zero| format!("`{}`", zero.as_str())),
            spec.finite.as_str(),
            spec.rounding.as_str(),
        ));
        if let Some(sample) = spec.sample {
            let least = sample.least.map(|name| format!(", or what `{name}` says")).unwrap_or_default();
            let below = match sample.below {
                Below::Indeterminate(_) => "indeterminate",
                Below::LowConfidence => "emit_with_low_confidence",
            };
            let window = if sample.window_required { " A window is required." } else { "" };
            text.push_str(&format!(
                "Sample: at least {}{least}; below that `{below}`.{window}\n",
                sample.min
            ));
        }
        if let Some(interval) = spec.interval {
            let need = if interval.required { "required" } else { "where it can be told" };
            let (method, level) = (interval.method.as_str(), interval.level.number());
            text.push_str(&format!("Interval: `{method}` at {level}, {need}.\n"));
        }
    }
    text.push_str("\n# Functions\n\nA function that gives something else for the same values is another version.\n\n| function | takes | gives |\n|---|---|---|\n");
    for one in FUNCTIONS {
        text.push_str(&format!("| `{}@{}` | {} | {} |\n", one.name, one.version, one.takes, one.about));
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_table_has_its_page() {
        crate::generated::assert_up_to_date(&super::directory());
    }
}
