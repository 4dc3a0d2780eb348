//! Validation codes: formulas.
//! Owns: the rules of this area. Must not: decide by names.

mod derived;
mod recomputed;
mod registry;

use super::{Area, Found, Rule, Severity};
use crate::formula;
use crate::kind::{Class, Kind};
use crate::member::{Member, number};
use crate::reference::Reference;
use crate::world::{Record, World, hash};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use countersign_record::digest::Digest;
use countersign_record::json::Json;

pub(super) use registry::{Specs, id_of};

pub(super) const AREA: Area = Area { name: "formulas", rules: RULES, kinds: KINDS };

/// `MetricValue {value_id, value, unit}`: what a value_ref names.
const KINDS: &[Kind] = &[Kind::new("MetricValue", Class::Value, Some("value_id"))];

const RULES: &[Rule] = &[
    Rule {
        code: "metric_without_formula_spec",
        severity: Severity::Error,
        section: "3.3; C-01",
        fires: "A MetricObservation.metric_id, MetricRollup.metric_id or CalibrationMetricSpec.formula_ref has no registered FormulaSpec with that formula_id (and a semantic_version in force at observed_at/created_at).",
        legal: "A metric whose FormulaSpec exists but is deprecated after the observation was computed under the version then in force.",
        why: "A number whose formula nobody wrote down can't be checked or compared, and whoever signs it signs a rumour.",
        fix: "Register the FormulaSpec before the metric is observed, or name the one that is meant.",
        check: metric_without_formula_spec,
    },
    Rule {
        code: "metric_value_without_formula_receipt",
        severity: Severity::Error,
        section: "3.3; C-01",
        fires: "A MetricObservation or MetricRollup carries value_ref while formula_eval_receipt_ref is empty, unresolvable, or resolves to a FormulaEvaluationReceipt whose output_ref names neither that value nor the record, or whose output_value_hash is not the hash of that value.",
        legal: "A raw measured input (e.g. a TaskCostRecord with basis measured_actual) that is an input of a formula and not a formula output.",
        why: "Without the receipt nobody can tell which inputs and which formula gave the value; it might as well be typed in.",
        fix: "Compute the value again and point formula_eval_receipt_ref at the receipt of that computation.",
        check: metric_value_without_formula_receipt,
    },
    Rule {
        code: "formula_output_nan_or_infinity",
        severity: Severity::Error,
        section: "3.3; C-01",
        fires: "A FormulaEvaluationReceipt has finite_number_check failed_nan or failed_infinity, or its published output is NaN/+-Infinity, or it says coerced_to_indeterminate and a number is published all the same; only a formula of policy allow_only_in_test_fixture may, in the run of a FormulaTestVector.",
        legal: "finite_number_policy = coerce_to_indeterminate, the receipt says coerced_to_indeterminate and the published value is null/indeterminate.",
        why: "What is not finite compares with nothing: every threshold after it passes or fails by accident.",
        fix: "Mend the inputs, or let the formula coerce to indeterminate and publish null.",
        check: formula_output_nan_or_infinity,
    },
    Rule {
        code: "derived_boolean_without_formula_receipt",
        severity: Severity::Error,
        section: "3.3",
        fires: "A boolean in the derived-field registry (EvaluationFindingEvent.blocking_authority.satisfied, BlockingAuthorityEvaluation.satisfied, SufficiencyDetectionResult.no_sufficient_procedure/hard_call_required, ProgressSignalRecord.same_reason_as_previous, NoveltyAssessment.forces_fresh_reasoning/triggers_task_agent, CandidateRepairProcedure.exhausted, and what DerivedFieldRegistry rows add) has no FormulaEvaluationReceipt of its own, by the formula of that field, whose output_ref names that record and whose output_value_hash is the hash of the value.",
        legal: "A boolean that is declared policy or user input (HardCallPendingPolicy, SufficiencyDetectionPolicy.require_capability_snapshot, PortRevisionEligibility.revision_compatible) or a projection copy checked by its own drift code.",
        why: "A yes or no that decides what happens next was set and not derived; nobody can say out of what.",
        fix: "Derive the value and record a FormulaEvaluationReceipt whose output_ref names the record, one for each derived value.",
        check: derived_boolean_without_formula_receipt,
    },
    Rule {
        code: "derived_enum_without_derivation_receipt",
        severity: Severity::Error,
        section: "3.3",
        fires: "An enum in the derived-field registry without a more specific code (TaskHealthCard.health_status, CapabilityCoverageAssessment.coverage_state, SubAgentReputationScore.score_status, EvaluationChainResolutionReceipt.resolved_verdict, SufficiencyDetectionResult.terminal_route, and what DerivedFieldRegistry rows add) has no FormulaEvaluationReceipt of its own, by the formula of that field, whose output_ref names that record and whose output_value_hash is the hash of the value; or it is not what its inputs come to where the rows tell them: a score_status by sample_size and the configured minimum, a coverage_state by the snapshot or the listed capabilities and gaps, a terminal_route that the first trigger never takes, a health_status better than the outcomes and limitations in its manifest let it be.",
        legal: "ClaimSupportStatus backed by a ClaimSupportDerivationReceipt, RelianceStatus backed by RelianceStatusDerivation, or a lifecycle state backed by transition receipts.",
        why: "A status that people rely on was set and not derived, or it is another than the one that was derived.",
        fix: "Derive the status again and record a FormulaEvaluationReceipt whose output_ref names the record and whose output_value_hash is the hash of the status.",
        check: derived_enum_without_derivation_receipt,
    },
    Rule {
        code: "formula_test_vector_missing",
        severity: Severity::Error,
        section: "C-01",
        fires: "A registered FormulaSpec with an executable expression_language has no test_vectors, or none whose zero_denominator_policy_applied and missing_input_policy_applied are the policies that it declares.",
        legal: "expression_language human_review_required without test vectors.",
        why: "A formula without examples may compute anything, and the odd cases, where inputs miss or a denominator is zero, are where it goes wrong.",
        fix: "Add a test vector for the plain case, and for each declared policy one whose ..._policy_applied names it.",
        check: formula_test_vector_missing,
    },
    Rule {
        code: "formula_version_drift",
        severity: Severity::Error,
        section: "C-01",
        fires: "A FormulaEvaluationReceipt.formula_semantic_version is not the FormulaSpec version in force at computed_at (of a built-in formula without a row, neither its version nor an earlier one of the same major), or one MetricRollup includes observations computed under different formula versions, or a spec's expression_ref changed without a new semantic_version.",
        legal: "An old receipt with the version that was in force when it was computed.",
        why: "Numbers of two versions of a formula look alike and mean different things; a trend over both is no trend.",
        fix: "Compute again under the version in force, keep versions apart in rollups, and give a changed expression a new semantic_version.",
        check: formula_version_drift,
    },
];

fn metric_without_formula_spec(world: &World, found: &mut Found<'_>) {
    let specs = Specs::of(world);
    let users = [
        ("MetricObservation", "metric_id", "observed_at"),
        ("MetricRollup", "metric_id", "created_at"),
        ("CalibrationMetricSpec", "formula_ref", "created_at"),
    ];
    for (kind, member, time) in users {
        for record in world.of(kind) {
            let Some(formula) = record.text(member).map(|text| id_of(text, "formula_spec")) else { continue };
            let at = record.time(time).or(record.written_at());
            // What is built in is registered, as long as no row says otherwise.
            let is_built_in = !specs.has(formula) && formula::registry::find(formula).is_some();
            if !is_built_in && specs.in_force(formula, at, record).is_none() {
                found.add(record, member, format!("no formula {formula} was in force then"));
            }
        }
    }
}

fn metric_value_without_formula_receipt(world: &World, found: &mut Found<'_>) {
    for record in ["MetricObservation", "MetricRollup"].into_iter().flat_map(|kind| world.of(kind)) {
        let Some(value) = record.json().reference("value_ref") else { continue };
        let receipt = record.follow("formula_eval_receipt_ref");
        let receipt = receipt.filter(|receipt| receipt.kind() == "FormulaEvaluationReceipt");
        match receipt {
            None => {
                found.add(record, "formula_eval_receipt_ref", "no receipt shows how the value was computed")
            }
            Some(receipt) if !is_about(receipt, record, value) => {
                found.add(record, "formula_eval_receipt_ref", "the receipt is about another value")
            }
            Some(_) => {}
        }
    }
}

/// Whether a receipt is for the value that a record refers to. Where neither the reference nor a row says what the value is,
/// its name is enough.
fn is_about(receipt: Record<'_>, record: Record<'_>, value: Reference<'_>) -> bool {
    let Some(output) = receipt.json().reference("output_ref") else { return false };
    let row = record.world.resolve(value);
    let of_row = row.and_then(|row| row.json().get("value").map_or_else(|| row.hash(), hash));
    let of_reference = value.hash.and_then(|hash| Digest::try_from(hash).ok());
    let known: Vec<Digest> = of_row.into_iter().chain(of_reference).collect();
    let stated = receipt.text("output_value_hash").and_then(|text| Digest::try_from(text).ok());
    let is_value = known.is_empty() || stated.is_some_and(|stated| known.contains(&stated));
    is_value && (output.is_same(&value) || record.is_named_by(output))
}

fn formula_output_nan_or_infinity(world: &World, found: &mut Found<'_>) {
    let specs = Specs::of(world);
    let words = ["NaN", "Infinity", "-Infinity"].map(|word| hash(&Json::from(word)));
    for receipt in world.of("FormulaEvaluationReceipt") {
        let at = receipt.time("computed_at").or(receipt.written_at());
        let spec = receipt.text("formula_id").and_then(|formula| specs.in_force(formula, at, receipt));
        if spec.is_some_and(|spec| is_allowed_test(receipt, spec)) {
            continue;
        }
        let stated = receipt.text("output_value_hash").and_then(|text| Digest::try_from(text).ok());
        let is_word = stated.is_some() && words.contains(&stated);
        let published = receipt.follow("output_ref").filter(|output| output.kind() == "MetricValue");
        let published = published.and_then(|output| output.at("value").and_then(number));
        if receipt.is_one_of("finite_number_check", &["failed_nan", "failed_infinity"]) {
            found.add(receipt, "finite_number_check", "the output is not finite");
        } else if is_word || published.is_some_and(|value| !value.is_finite()) {
            found.add(receipt, "output_ref", "a value that is not finite was published");
        } else if receipt.is("finite_number_check", "coerced_to_indeterminate") && published.is_some() {
            let message = "the output was not finite, and a number was published for it";
            found.add(receipt, "output_ref", message);
        }
    }
}

/// Whether a receipt is of the run of a test vector, of a formula that may then give what is not finite.
fn is_allowed_test(receipt: Record<'_>, spec: Record<'_>) -> bool {
    let is_vector = |text: &&str| Reference::read(text).is_some_and(|one| one.kind == "formula_test_vector");
    let inputs = receipt.json().texts("input_refs");
    let of_vectors = spec.json().list("test_vectors").iter().filter_map(|vector| vector.text("input_ref"));
    let is_run = inputs.iter().chain(&receipt.json().text("output_ref")).any(is_vector)
        || of_vectors.into_iter().any(|input| inputs.contains(&input));
    is_run && spec.is("output.finite_number_policy", "allow_only_in_test_fixture")
}

fn derived_boolean_without_formula_receipt(world: &World, found: &mut Found<'_>) {
    derived::without_receipt(world, found, derived::Wanted::Booleans);
}

fn derived_enum_without_derivation_receipt(world: &World, found: &mut Found<'_>) {
    derived::without_receipt(world, found, derived::Wanted::Enums);
    recomputed::drift(world, found);
}

/// Languages that are run, and not read by people.
const EXECUTABLE: [&str; 3] = ["deterministic_typescript", "sql_read_model", "declarative_metric_dsl"];

fn formula_test_vector_missing(world: &World, found: &mut Found<'_>) {
    for spec in world.of("FormulaSpec").filter(|spec| spec.is_one_of("expression_language", &EXECUTABLE)) {
        let vectors = spec.json().list("test_vectors").iter();
        let vectors: Vec<&Json> = vectors
            .filter_map(|vector| match vector.as_str() {
                Some(text) => world.resolve_text(text).map(Record::json),
                None => Some(vector),
            })
            .collect();
        if vectors.is_empty() {
            found.add(spec, "test_vectors", "the formula has no test vector");
            continue;
        }
        for policy in ["missing_input_policy", "zero_denominator_policy"] {
            let applied = format!("{policy}_applied");
            let covers = |word| vectors.iter().any(|vector| vector.is(&applied, word));
            if spec.text(policy).is_some_and(|word| !covers(word)) {
                found.add(spec, policy, "no test vector shows this policy");
            }
        }
    }
}

fn formula_version_drift(world: &World, found: &mut Found<'_>) {
    let specs = Specs::of(world);
    for receipt in world.of("FormulaEvaluationReceipt") {
        let at = receipt.time("computed_at").or(receipt.written_at());
        let spec = receipt.text("formula_id").and_then(|formula| specs.in_force(formula, at, receipt));
        let Some(stated) = receipt.text("formula_semantic_version") else { continue };
        // Of a formula that no row registers, the one that is built in is in force, or was in an earlier version.
        let own = || receipt.text("formula_id").filter(|id| !specs.has(id)).and_then(formula::registry::find);
        let (in_force, is_right) = match (spec.and_then(|spec| spec.json().text("semantic_version")), own()) {
            (Some(in_force), _) => (in_force, in_force == stated),
            (None, Some(own)) => (own.version, registry::is_up_to(stated, own.version)),
            (None, None) => continue,
        };
        if !is_right {
            let message = format!("computed under {stated} while {in_force} was in force");
            found.add(receipt, "formula_semantic_version", message);
        }
    }
    for rollup in world.of("MetricRollup") {
        let observations = rollup.json().references("included_observation_refs").into_iter();
        let receipts =
            observations.filter_map(|reference| world.resolve(reference)?.follow("formula_eval_receipt_ref"));
        let versions = receipts.filter_map(|receipt| {
            Some((receipt.json().text("formula_id")?, receipt.json().text("formula_semantic_version")?))
        });
        if versions.collect::<BTreeSet<_>>().len() > 1 {
            let message = "its observations were computed under different versions";
            found.add(rollup, "included_observation_refs", message);
        }
    }
    for versions in specs.versions() {
        let mut expressions: BTreeMap<&str, Reference<'_>> = BTreeMap::new();
        for spec in versions {
            let (version, expression) =
                (spec.json().text("semantic_version"), spec.json().reference("expression_ref"));
            let (Some(version), Some(expression)) = (version, expression) else { continue };
            let first = *expressions.entry(version).or_insert(expression);
            let is_same = match (first.hash, expression.hash) {
                (Some(first), Some(own)) => first == own,
                (Some(_), None) | (None, Some(_) | None) => first == expression,
            };
            if !is_same {
                found.add(*spec, "expression_ref", "another expression under the same semantic_version");
            }
        }
    }
}

#[cfg(test)]
#[path = "formulas_tests.rs"]
mod tests;
