//! What is wrong with a log: one rule for each validation code.
//! Owns: the rules, which of two codes counts where both fit. Must not: look at what something is called, or at a clock.
//!
//! A rule is the same at admission and at audit. Its code, what fires it, why that matters and how it is mended stand with it.

mod anchors;
mod assistance;
mod background;
mod board;
mod calibration;
mod cascade;
mod chains;
mod checkpoints;
mod claims;
mod commands;
mod concurrency;
mod conformance;
mod context_packets;
mod cost;
mod events;
mod explanation;
mod externalization;
mod feedback;
mod findings;
mod formulas;
mod forum;
mod guidance;
mod hard_calls;
mod learning;
mod library;
mod metrics;
mod novelty;
mod outcome_states;
mod precedence;
mod progress;
mod quality;
mod read_models;
mod regeneration;
mod reliance;
mod repair_ports;
mod replay;
mod research_needs;
mod revision;
mod revision_review;
mod snapshots;
mod sources;
mod sub_agents;
mod sufficiency;
mod taint;
mod template_match;
#[cfg(test)]
mod trial;
mod type_owners;
mod workspace;

use crate::kind::Kind;
use crate::world::{Record, World};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// What was renamed or may be left out.
    Warning,
    /// What can't stand.
    Error,
}

impl Severity {
    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A validation code, and how it is found.
pub struct Rule {
    /// The code behind `validation.`.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Where the contract asks for it.
    pub section: &'static str,
    /// What fires it.
    pub fires: &'static str,
    /// What comes closest and is legal.
    pub legal: &'static str,
    /// Why it matters.
    pub why: &'static str,
    /// How it is mended.
    pub fix: &'static str,
    /// Finds it everywhere in a world.
    pub check: fn(&World, &mut Found<'_>),
}

impl Rule {
    /// The words of its code, as a title.
    #[must_use]
    pub fn title(&self) -> String {
        let words = self.code.replace('_', " ");
        let mut letters = words.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    }
}

/// The rules of one part of the contract.
pub struct Area {
    /// Its name.
    pub name: &'static str,
    /// Its rules.
    pub rules: &'static [Rule],
    /// The types that it knows besides those of the contract.
    pub kinds: &'static [Kind],
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    /// The place of the row.
    pub row: u64,
    /// The code behind `validation.`.
    pub code: &'static str,
    /// Where in the record, as a JSON pointer.
    pub path: String,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, for people.
    pub message: String,
}

/// What a rule finds.
pub struct Found<'f> {
    rule: &'static Rule,
    all: &'f mut Vec<Diagnostic>,
}

impl Found<'_> {
    /// Something is wrong with a record. `path` is names with dots between, empty for the whole record.
    pub fn add(&mut self, record: Record<'_>, path: &str, message: impl Into<String>) {
        let path = if path.is_empty() { String::new() } else { format!("/{}", path.replace('.', "/")) };
        let (row, code, severity) = (record.seq(), self.rule.code, self.rule.severity);
        self.all.push(Diagnostic { row, code, path, severity, message: message.into() });
    }
}

/// The parts of the contract.
pub static AREAS: &[Area] = &[
    anchors::AREA,
    assistance::AREA,
    background::AREA,
    board::AREA,
    calibration::AREA,
    cascade::AREA,
    chains::AREA,
    checkpoints::AREA,
    claims::AREA,
    commands::AREA,
    concurrency::AREA,
    conformance::AREA,
    context_packets::AREA,
    cost::AREA,
    events::AREA,
    explanation::AREA,
    externalization::AREA,
    feedback::AREA,
    findings::AREA,
    formulas::AREA,
    forum::AREA,
    guidance::AREA,
    hard_calls::AREA,
    learning::AREA,
    library::AREA,
    metrics::AREA,
    novelty::AREA,
    outcome_states::AREA,
    progress::AREA,
    quality::AREA,
    read_models::AREA,
    regeneration::AREA,
    reliance::AREA,
    repair_ports::AREA,
    replay::AREA,
    research_needs::AREA,
    revision::AREA,
    revision_review::AREA,
    snapshots::AREA,
    sources::AREA,
    sub_agents::AREA,
    sufficiency::AREA,
    taint::AREA,
    template_match::AREA,
    type_owners::AREA,
    workspace::AREA,
];

/// All rules, by area.
pub fn rules() -> impl Iterator<Item = (&'static Area, &'static Rule)> {
    AREAS.iter().flat_map(|area| area.rules.iter().map(move |rule| (area, rule)))
}

/// Everything that is wrong with a world, sorted; each thing once.
#[must_use]
pub fn check(world: &World) -> Vec<Diagnostic> {
    let mut all = Vec::new();
    for (_, rule) in rules() {
        (rule.check)(world, &mut Found { rule, all: &mut all });
    }
    precedence::settle(&mut all);
    all.sort();
    all.dedup_by(|one, other| (one.row, one.code, &one.path) == (other.row, other.code, &other.path));
    all
}
