//! Values that are derived and never set: each has a receipt of its own.
//! Owns: which fields these are. Must not: derive them.

use crate::check::Found;
use crate::member::Member;
use crate::path::Path;
use crate::reference::snake;
use crate::world::{Record, Settings, World, hash};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use countersign_record::digest::Digest;
use countersign_record::json::Json;

/// The type, the field and the formula that it is the value of; of what no formula computes, any will do. Whether it is a boolean or an
/// enum, its value shows. Statuses with a code of their own are not here.
#[rustfmt::skip] // one to a line
const DERIVED: &[(&str, &str, Option<&str>)] = &[
    ("EvaluationFindingEvent", "blocking_authority.satisfied", Some("blocking_authority_v1")),
    ("BlockingAuthorityEvaluation", "satisfied", Some("blocking_authority_v1")),
    ("SufficiencyDetectionResult", "no_sufficient_procedure", Some("sufficiency_route_v1")),
    ("SufficiencyDetectionResult", "hard_call_required", Some("sufficiency_route_v1")),
    ("SufficiencyDetectionResult", "terminal_route", Some("sufficiency_route_v1")),
    ("ProgressSignalRecord", "same_reason_as_previous", Some("same_reason_v1")),
    ("NoveltyAssessment", "forces_fresh_reasoning", Some("novelty_v1")),
    ("NoveltyAssessment", "triggers_task_agent", Some("novelty_v1")),
    ("NoveltyAssessmentWithNeighbor", "forces_fresh_reasoning", Some("novelty_v1")),
    ("NoveltyAssessmentWithNeighbor", "triggers_task_agent", Some("novelty_v1")),
    ("NoveltyAssessmentNoNeighbor", "forces_fresh_reasoning", Some("novelty_v1")),
    ("NoveltyAssessmentNoNeighbor", "triggers_task_agent", Some("novelty_v1")),
    ("CandidateRepairProcedure", "exhausted", None),
    ("TaskHealthCard", "health_status", Some("health_status_v1")),
    ("CapabilityCoverageAssessment", "coverage_state", Some("capability_coverage_v1")),
    ("SubAgentReputationScore", "score_status", Some("sub_agent_reputation_score_v1")),
    ("EvaluationChainResolutionReceipt", "resolved_verdict", Some("pattern_c_resolution_v1")),
];

/// Which values are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Booleans,
    Enums,
}

/// A field, and the formula that a registry names for it.
struct Field<'w> {
    path: &'w str,
    formula: Option<&'w str>,
}

/// How many receipts there are for one value of one record.
#[derive(Default)]
struct Tally<'w> {
    total: usize,
    by_formula: BTreeMap<&'w str, usize>,
}

impl<'w> Tally<'w> {
    fn count(&mut self, receipt: Record<'w>) {
        self.total += 1;
        if let Some(formula) = receipt.json().text("formula_id") {
            *self.by_formula.entry(formula).or_default() += 1;
        }
    }
}

/// Receipts by what they are the proof of.
#[derive(Default)]
struct Receipts<'w> {
    /// Kind and id of a record, whatever version, and the hash of the value.
    named: BTreeMap<(&'w str, &'w str, Digest), Tally<'w>>,
    /// The row of one version, and the hash of the value.
    pinned: BTreeMap<(u64, Digest), Tally<'w>>,
}

impl<'w> Receipts<'w> {
    fn of(world: &'w World) -> Self {
        let mut receipts = Receipts::default();
        for receipt in world.of("FormulaEvaluationReceipt") {
            let output = receipt.json().reference("output_ref");
            let value = receipt.text("output_value_hash").and_then(|text| Digest::try_from(text).ok());
            let (Some(output), Some(value)) = (output, value) else { continue };
            if output.version.is_none() && output.hash.is_none() {
                receipts.named.entry((output.kind, output.id, value)).or_default().count(receipt);
            } else if let Some(record) = world.resolve(output) {
                receipts.pinned.entry((record.seq(), value)).or_default().count(receipt);
            }
        }
        receipts
    }
}

/// The fields of each type: the built-in ones and those that the registry adds.
struct Fields<'w> {
    paths: BTreeMap<&'w str, BTreeSet<&'w str>>,
    entries: Settings<'w, (&'w str, &'w str)>,
}

impl<'w> Fields<'w> {
    fn of(world: &'w World) -> Self {
        let field = |row: Record<'w>| row.json().text("record_kind").zip(row.json().text("field"));
        let added = world.of("DerivedFieldRegistry").filter_map(field);
        let mut paths: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let own = DERIVED.iter().map(|(kind, path, _)| (*kind, *path));
        for (kind, path) in own.chain(added) {
            paths.entry(kind).or_default().insert(path);
        }
        Fields { paths, entries: Settings::of(world, "DerivedFieldRegistry", field) }
    }

    /// Those of a row. Those with a formula come first, so that another field of the same value does not take their receipt.
    fn of_row(&self, paths: &BTreeSet<&'w str>, kind: &'w str, row: Record<'w>) -> Vec<Field<'w>> {
        let field = |path: &&'w str| {
            let entry = self.entries.at(&(kind, *path), row.seq());
            let named = entry.and_then(|entry| entry.json().text("formula_id"));
            let own = || DERIVED.iter().find(|(own, field, _)| (*own, *field) == (kind, *path));
            Field { path, formula: named.or_else(|| own().and_then(|(_, _, formula)| *formula)) }
        };
        let mut fields: Vec<Field<'w>> = paths.iter().map(field).collect();
        fields.sort_by_key(|field| field.formula.is_none());
        fields
    }
}

/// Finds values without a receipt of their own.
pub(super) fn without_receipt(world: &World, found: &mut Found<'_>, wanted: Wanted) {
    let receipts = Receipts::of(world);
    let fields = Fields::of(world);
    for (kind, paths) in &fields.paths {
        let snake = snake(kind);
        for record in world.of(kind) {
            let mut used: BTreeMap<Digest, Tally<'_>> = BTreeMap::new();
            for field in fields.of_row(paths, kind, record) {
                let Some((shape, value)) = shaped(record, field.path) else { continue };
                let named = receipts.named.get(&(snake.as_str(), record.id(), value));
                let pinned = receipts.pinned.get(&(record.seq(), value));
                let used = used.entry(value).or_default();
                if !take([named, pinned], used, field.formula) && shape == wanted {
                    let message = format!("no receipt shows how {kind}.{} was derived", field.path);
                    found.add(record, Path::looked_up(field.path), message);
                }
            }
        }
    }
}

/// What a derived value is, and its hash.
fn shaped(record: Record<'_>, path: &str) -> Option<(Wanted, Digest)> {
    let value = record.json().at(path)?;
    let shape = match value {
        Json::Bool(_) => Wanted::Booleans,
        Json::String(_) => Wanted::Enums,
        Json::Null | Json::Number(_) | Json::Array(_) | Json::Object(_) => return None,
    };
    Some((shape, hash(value)?))
}

/// Takes a receipt that no other field of the record has taken; whether there was one.
fn take<'w>(all: [Option<&Tally<'w>>; 2], used: &mut Tally<'w>, formula: Option<&'w str>) -> bool {
    let there: usize = all.iter().flatten().map(|tally| tally.total).sum();
    let of_formula = |tally: &Tally<'_>, formula: &str| tally.by_formula.get(formula).copied().unwrap_or(0);
    let is_there = there > used.total
        && formula.is_none_or(|formula| {
            let fitting: usize = all.iter().flatten().map(|tally| of_formula(tally, formula)).sum();
            fitting > of_formula(used, formula)
        });
    if is_there {
        used.total += 1;
        if let Some(formula) = formula {
            *used.by_formula.entry(formula).or_default() += 1;
        }
    }
    is_there
}
