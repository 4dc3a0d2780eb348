//! Receipts of formulas: their inputs gathered again from records, computed again with the texts that the packet carries.
//! Owns: which record's value comes from which formula, comparing every member of a receipt. Must not: gather what belongs to a part;
//! each part does.

use crate::case::bare;
use crate::computed::Computed;
use crate::found::Found;
use crate::packet::Formula;
use crate::report::{Check, Place};
use crate::walk::Walk;
use crate::{claims, cost, finding, look, measure, quality, rely, revise, shown};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::formula::spec::Ready;
use countersign_govern::formula::{Published, evaluate, publish, registry};
use countersign_govern::kind::Number;
use countersign_govern::member::Member;
use countersign_govern::types::basic::{Instant, StorageRef};
use countersign_govern::types::wire::Wire;
use countersign_govern::world::Record;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};

const CHECK: Check = Check::Formulas;

/// The formulas of a packet, ready to be computed.
#[derive(Default)]
pub(crate) struct Formulas(BTreeMap<String, Ready>);

impl Formulas {
    /// Reads the formulas of a packet: they must be those that receipts name, with the texts that are registered.
    pub(crate) fn of(formulas: &[Formula], named: &BTreeSet<(String, String)>, found: &mut Found) -> Self {
        let mut ready = BTreeMap::new();
        let given: BTreeSet<(String, String)> =
            formulas.iter().map(|one| (one.id.clone(), one.version.clone())).collect();
        for (id, version) in named.symmetric_difference(&given) {
            let how = if named.contains(&(id.clone(), version.clone())) {
                "is not in the packet"
            } else {
                "is named by no receipt"
            };
            found.wrong(Code::VerifyFormula, CHECK, place(""), format!("{id} {version} {how}"));
        }
        for (at, formula) in formulas.iter().enumerate() {
            let is_new = !ready.contains_key(&formula.id);
            match read(formula) {
                Ok(_) if !is_new => {
                    let why = format!("{} is listed before", formula.id);
                    found.wrong(Code::VerifyFormula, CHECK, place(&format!("/{at}")), why);
                }
                Ok(formula_ready) => {
                    found.right(CHECK);
                    ready.insert(formula.id.clone(), formula_ready);
                }
                Err(why) => found.wrong(Code::VerifyFormula, CHECK, place(&format!("/{at}")), why),
            }
        }
        Formulas(ready)
    }

    /// The value of a formula; nothing where there is none of these inputs, or no such formula.
    pub(crate) fn value(&self, id: &str, inputs: &Object) -> Option<Json> {
        self.0.get(id).and_then(|ready| evaluate(ready, inputs).ok()).map(|evaluated| evaluated.value)
    }
}

fn place(path: &str) -> Place {
    Place { path: Some(format!("/predicate/formulas{path}")), ..Place::default() }
}

/// A formula of the packet, if it is the registered one: what another text gives says nothing about the work.
fn read(formula: &Formula) -> Result<Ready, String> {
    let Formula { id, version, text, spec } = formula;
    let registered = registry::find(id).filter(|spec| spec.version == version);
    let registered = registered.ok_or_else(|| format!("{id} {version} is not known to this build"))?;
    if registered.text() != *text {
        return Err(format!("the text of {id} {version} is not the registered one"));
    }
    if registered.record().and_then(|record| record.write()).as_ref() != Some(spec) {
        return Err(format!("what {id} {version} takes and gives is not as registered"));
    }
    registered.read().map_err(|error| format!("{id} {version}: {error}"))
}

/// What a value is derived from.
pub(crate) struct Gathered {
    pub(crate) inputs: Object,
    /// The records they were taken from.
    pub(crate) input_refs: Vec<String>,
}

/// Why inputs can't be gathered.
pub(crate) enum Ungathered {
    /// Bytes that they rest on are withheld.
    Withheld,
    /// They are not in the packet.
    Missing(String),
}

pub(crate) fn missing<T>(what: impl ToString) -> Result<T, Ungathered> {
    Err(Ungathered::Missing(what.to_string()))
}

/// A receipt is that of computing its formula on what the records say.
pub(crate) fn receipt<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let json = record.json();
    is_before(walk, record, found);
    if measure::is_told(walk.case, record) {
        return found.told(Check::Measures);
    }
    let output = json.text("output_ref").unwrap_or_default();
    let kind = output.split_once(':').map(|(kind, _)| kind).unwrap_or_default();
    let (id, shown): (&str, fn(&Walk<'_, '_>, Json) -> Json) = match kind {
        "claim_support_derivation_receipt" => {
            ("claim_support_v1", |_, value| member(&value, "derived_support_status"))
        }
        "metric_value" => ("met_share_v1", |_, value| value),
        "outcome_compliance_scoring_config" => ("criterion_weights_v1", |_, value| value),
        "quality_index" => ("quality_index_v1", quality::shown),
        "evaluation_finding_event" => ("blocking_authority_v1", |_, value| value),
        "evaluation_chain_resolution_receipt" => {
            ("pattern_c_resolution_v1", |_, value| member(&value, "resolved_verdict"))
        }
        "task_reliance_packet" => ("reliance_status_v1", |_, value| member(&value, "status")),
        "progress_signal_record" => ("same_reason_v1", |_, value| value),
        "capability_coverage_assessment" => {
            ("capability_coverage_v1", |_, value| member(&value, "coverage_state"))
        }
        "sufficiency_detection_result" => match revise::shown_of_detection(walk, record) {
            "no_sufficient_procedure" => {
                ("sufficiency_route_v1", |_, value| member(&value, "no_sufficient_procedure"))
            }
            "hard_call_required" => ("sufficiency_route_v1", |_, value| member(&value, "hard_call_required")),
            _route => ("sufficiency_route_v1", |_, value| member(&value, "terminal_route")),
        },
        "tie_break_decision" => ("concurrency_tie_break_v1", |_, value| value),
        "task_health_card" => ("health_status_v1", |_, value| member(&value, "health_status")),
        "cost_vector" => ("cost_vector_sum_v1", |_, value| member(&value, "components")),
        _other => {
            let why = format!("no rule says how the value of {output} is derived");
            return walk.underivable(CHECK, record, why, found);
        }
    };
    found.same(
        Code::VerifyReceipt,
        CHECK,
        record,
        "formula_id",
        Some(id.into()),
        json.at("formula_id").cloned(),
    );
    let target = bare(output).to_string();
    let gathered = match kind {
        "claim_support_derivation_receipt" => claims::inputs_of(walk, &target, record),
        "metric_value" => quality::share_inputs(walk),
        "outcome_compliance_scoring_config" => quality::weight_inputs(walk, &target, record),
        "quality_index" => quality::index_inputs(walk, record),
        "evaluation_finding_event" => finding::authority_inputs(walk),
        "evaluation_chain_resolution_receipt" => look::resolution_inputs(walk, record),
        "progress_signal_record" => revise::signal_inputs(walk, &target, record),
        "capability_coverage_assessment" => revise::coverage_inputs(walk, &target, record),
        "sufficiency_detection_result" => revise::detection_inputs(walk, &target, record),
        "tie_break_decision" => revise::order_inputs(walk, &target, record),
        "task_health_card" => shown::health_inputs(walk, record),
        "cost_vector" => cost::inputs_of(walk, &target, record),
        _packet => rely::inputs_of(walk, &target, record),
    };
    match gathered {
        Ok(gathered) => compare(walk, record, id, gathered, shown, found),
        Err(Ungathered::Withheld) => found.withheld(CHECK),
        Err(Ungathered::Missing(why)) => walk.underivable(CHECK, record, why, found),
    }
}

pub(crate) fn member(value: &Json, name: &str) -> Json {
    value.get(name).cloned().unwrap_or(Json::Null)
}

fn compare(
    walk: &mut Walk<'_, '_>,
    record: Record<'_>,
    id: &str,
    gathered: Gathered,
    shown: fn(&Walk<'_, '_>, Json) -> Json,
    found: &mut Found,
) {
    // A formula that is not there was told before.
    let Some(ready) = walk.formulas.0.get(id) else { return };
    let mut evaluated = match evaluate(ready, &gathered.inputs) {
        Ok(evaluated) => evaluated,
        Err(why) => return found.about(Code::VerifyReceipt, CHECK, record, "", format!("{id}: {why}")),
    };
    evaluated.value = shown(walk, evaluated.value);
    let json = record.json();
    let text = |name: &str| json.text(name).unwrap_or_default().to_string();
    let reference = |text: &String| StorageRef::try_from(text.as_str()).ok();
    let output = json.text("output_ref").and_then(|text| StorageRef::try_from(text).ok());
    let at = json.text("computed_at").and_then(|text| Instant::try_from(text).ok());
    let (Some(output_ref), Some(at)) = (output, at) else { return };
    let published = Published {
        receipt_id: text("receipt_id"),
        producer_ref: "engine".to_string(),
        input_refs: gathered.input_refs.iter().filter_map(reference).collect(),
        output_ref,
        at,
        task_id: Some(walk.case.task.id().to_string()),
        run_id: Some(walk.case.run.to_string()),
    };
    let again = publish(ready, &gathered.inputs, &evaluated, published).ok().and_then(|one| one.write());
    let again = again.as_ref().and_then(Json::as_object).cloned().unwrap_or_default();
    let members = json.as_object().into_iter().flat_map(Object::iter).map(|(name, _)| name);
    let names: BTreeSet<&str> = members.chain(again.iter().map(|(name, _)| name)).collect();
    let is_it = |name: &str| again.get(name).is_some() && again.get(name) == json.at(name);
    if is_it("input_value_hash") && is_it("output_value_hash") {
        let computed = Computed { inputs: gathered.inputs, value: evaluated.value };
        walk.computed.insert(record.id().to_string(), computed);
    }
    for name in names {
        let expected = again.get(name).filter(|value| **value != Json::Null).cloned();
        found.same(Code::VerifyReceipt, CHECK, record, name, expected, json.at(name).cloned());
    }
}

/// What is derived again under the name that it has.
const STANDING: [&str; 2] = ["OutcomeComplianceScoringConfig", "TaskHealthCard"];

/// A value is written right after it was derived, and never before.
fn is_before<'c>(walk: &Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let output = record.json().text("output_ref").and_then(|text| text.split_once(':'));
    let Some((snake, id)) = output else { return };
    let Some(kind) = Number::of_snake(snake).map(|one| one.kind.name) else { return };
    let is_new = STANDING.contains(&kind) || walk.case.before(kind, id, record.seq()).is_none();
    found.holds(CHECK, record, "output_ref", is_new, "it was written before it was derived");
}

/// The receipt that stands behind a record's value.
pub(crate) fn receipt_of(walk: &Walk<'_, '_>, output: &str, place: u64) -> Option<String> {
    let mut receipts = walk.case.until("FormulaEvaluationReceipt", place);
    let own = receipts.by_ref().filter(|one| one.json().text("output_ref") == Some(output)).last();
    own.map(|one| format!("formula_evaluation_receipt:{}", one.id()))
}
