//! What is wrong with a log: one rule for each validation code.
//! Owns: the rules, which of two codes counts where both fit. Must not: look at what something is called, or at a clock.
//!
//! A rule is the same at admission and at audit. Its code, what fires it, why that matters and how it is mended stand with it.

mod across;
pub(crate) mod along;
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
mod course;
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
mod stood;
mod sub_agents;
mod sufficiency;
mod taint;
mod template_match;
#[cfg(test)]
mod trial;
mod type_owners;
mod within;
mod workspace;

use crate::kind::Kind;
use crate::path::Path;
use crate::world::{Record, World};
use alloc::string::String;
use alloc::vec::Vec;
pub use claims::authority;
pub use reliance::standing_against;

pub(crate) use across::{Across, Open, Reach};
use along::Rows;

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
    /// Something is wrong with a record, at a path that code knows or that is made of names.
    pub fn add(&mut self, record: Record<'_>, path: impl Into<Path>, message: impl Into<String>) {
        let (row, code, severity) = (record.seq(), self.rule.code, self.rule.severity);
        let path = String::from(path.into());
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

/// What one rule finds in a world, added to what others found.
pub fn by_rule(world: &World, rule: &'static Rule, all: &mut Vec<Diagnostic>) {
    (rule.check)(world, &mut Found { rule, all });
    all.extend(along::walk(rule, Rows::AllThere).map(|mut walk| walk.go(world, 0)).into_iter().flatten());
}

/// Everything that is wrong with a world, sorted; each thing once.
#[must_use]
pub fn check(world: &World) -> Vec<Diagnostic> {
    let mut all = Vec::new();
    rules().for_each(|(_, rule)| by_rule(world, rule, &mut all));
    settled(all)
}

/// What one rule finds but for what it finds going along the rows.
pub(crate) fn found_by(world: &World, rule: &'static Rule) -> Vec<Diagnostic> {
    let mut all = Vec::new();
    (rule.check)(world, &mut Found { rule, all: &mut all });
    all
}

/// What rules found, as it is told.
pub(crate) fn settled(mut all: Vec<Diagnostic>) -> Vec<Diagnostic> {
    settle(&mut all);
    all
}

/// What rules found, sorted; each thing once, and of two codes for one place the specific one.
pub(crate) fn settle(all: &mut Vec<Diagnostic>) {
    precedence::settle(all);
    all.sort();
    all.dedup_by(|one, other| (one.row, one.code, &one.path) == (other.row, other.code, &other.path));
}

/// The rules on what reaches over several runs.
const WIDE: [across::Wide; 2] = [read_models::stale::WIDE, context_packets::WIDE];

/// What a rule finds in a world, added to what others found. One on what reaches over several runs also tells what does.
pub(crate) fn by_rule_across<'w>(
    world: &'w World,
    rule: &'static Rule,
    all: &mut Vec<Diagnostic>,
) -> Option<Across<'w>> {
    match WIDE.iter().find(|wide| wide.code == rule.code) {
        Some(wide) => Some((wide.check)(world, &mut Found { rule, all })),
        None => {
            by_rule(world, rule, all);
            None
        }
    }
}

/// What is wrong with a row that something in another run made out of date, by a rule on that.
pub(crate) fn out_of_date(code: &str, row: u64, seq: u64, kind: &str) -> Option<Diagnostic> {
    let wide = WIDE.iter().find(|wide| wide.code == code)?;
    let (path, message) = (String::from(Path::from(wide.path)), (wide.message)(seq, kind));
    Some(Diagnostic { row, code: wide.code, path, severity: Severity::Error, message })
}

#[cfg(test)]
#[path = "../benches/govern/hostile.rs"]
mod hostile;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::member::looked;

    /// Rows of a hostile bundle, and how often more members may be looked at where it is twice as long: as often as it is longer,
    /// and some more. Whoever goes through all rows for each row looks four times as often.
    const ROWS: usize = 400;
    const TIMES_MAX: f64 = 2.6;

    /// How many members a rule looks at in some rows.
    fn looks(rule: &'static Rule, world: &World) -> usize {
        looked::count();
        by_rule(world, rule, &mut Vec::new());
        looked::count()
    }

    /// No rule looks at more than in proportion, however rows are written; a bundle that is too short to tell is passed over.
    #[test]
    fn rules_look_in_proportion_to_the_rows() {
        let mut misses = Vec::new();
        let [short, long] = [ROWS, 2 * ROWS]
            .map(|rows| hostile::cases(rows).into_iter().map(|(name, rows)| (name, World::new(rows, None))));
        for ((name, short), (_, long)) in short.zip(long) {
            for (_, rule) in rules() {
                let (one, other) = (looks(rule, &short), looks(rule, &long));
                if other > 16 * ROWS && other as f64 > one as f64 * TIMES_MAX {
                    misses.push(std::format!("{name}: {} looked {one} times, then {other}", rule.code));
                }
            }
        }
        assert!(misses.is_empty(), "{}", misses.join("\n"));
    }
}
