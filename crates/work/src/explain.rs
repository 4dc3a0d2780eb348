//! Why something was decided: told from receipts, and from nothing else.
//! Owns: which records are decisions, what led to each. Must not: decide, write, or tell what no record says.

mod words;

use crate::closing;
use crate::desk::{Desk, Error, Found, reference};
use crate::names::ENGINE;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::audit::kind_of;
use countersign_govern::reference::Reference;
use countersign_govern::types::added::policy::PolicyEvaluation;
use countersign_govern::types::added::showing::CommandInvocation;
use countersign_govern::types::basic::{False, PolicyEvaluationRef, StorageRef, V10};
use countersign_govern::types::chain::EvaluationChainResolutionReceipt as Resolution;
use countersign_govern::types::formula::FormulaEvaluationReceipt;
use countersign_govern::types::reliance::DecisionAuditView;
use countersign_govern::types::replay::{
    ExplanationTrace, ExplanationTraceCausalStep as CausalStep, ExplanationTraceTraceKind as TraceKind,
};
use countersign_govern::world::Draft;
use countersign_record::json::Json;

/// The types of records that decide something, each with what it decides about.
const DECISIONS: [(&str, TraceKind); 8] = [
    ("EvaluationChainResolutionReceipt", TraceKind::Evaluation),
    ("FindingLifecycleTransitionReceipt", TraceKind::Evaluation),
    ("HardCallResolutionReceipt", TraceKind::Routing),
    ("RevisionReviewDecisionReceipt", TraceKind::Revision),
    ("TaskReliancePacket", TraceKind::Reliance),
    ("RelianceInvalidationEvent", TraceKind::Reliance),
    ("WorkspaceExternalizationReceipt", TraceKind::Routing),
    ("CommandReceipt", TraceKind::Routing),
];

/// The members that say who decided, the most telling first.
const WHO: [&str; 4] = ["resolved_by_user_ref", "actor_ref", "generated_by_ref", "created_by_ref"];

/// A decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// Its record.
    pub decision: StorageRef,
    /// The place of that.
    pub seq: u64,
    /// Who decided.
    pub by: String,
    /// What, in words.
    pub what: String,
}

/// A record that a decision rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cited {
    /// The record.
    pub record: StorageRef,
    /// Its place.
    pub seq: u64,
    /// What it says, in words.
    pub what: String,
}

/// A formula that was computed for a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Computed {
    /// Its receipt.
    pub receipt: StorageRef,
    /// Which formula, with its version.
    pub formula: String,
    /// What went in.
    pub inputs: Vec<StorageRef>,
}

/// What a policy check said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Its record.
    pub check: StorageRef,
    /// What it is called.
    pub policy: String,
    /// What it decided.
    pub decision: &'static str,
}

/// Why something was decided.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// What.
    pub decided: Decided,
    /// Why, as whoever decided told it to be read by everybody; nothing where they told nothing.
    pub why: Option<String>,
    /// The records that it names, in order.
    pub inputs: Vec<Cited>,
    /// What was computed for it.
    pub formulas: Vec<Computed>,
    /// The policy checks.
    pub checks: Vec<Checked>,
    /// What was written by it.
    pub wrote: Vec<StorageRef>,
    /// The same in the contract's forms.
    pub view: DecisionAuditView,
    /// The steps that led to it.
    pub trace: ExplanationTrace,
}

/// Everything that was decided in a run, in order.
#[must_use]
pub fn decisions(desk: &Desk) -> Vec<Decided> {
    let is_one = |row: &Draft| DECISIONS.iter().any(|(kind, _)| *kind == row.kind);
    let rows = (1..).zip(desk.rows()).filter(|(_, row)| is_one(row));
    rows.filter_map(|(seq, row)| decided(desk, seq, row)).collect()
}

/// Why a record says what it says; `None` if the run has no such record.
///
/// # Errors
/// Something can't be named.
pub fn explain(desk: &Desk, decision: &str) -> Result<Option<Explained>, Error> {
    let Some((seq, row)) = find(desk, decision) else { return Ok(None) };
    let Some(decided) = decided(desk, seq, row) else { return Ok(None) };
    let mut inputs = cited(desk, seq, row);
    let (mut checks, mut wrote) = (Vec::new(), Vec::new());
    if let Some(begun) = invocation(desk, row) {
        checks = before(desk, begun)?;
        wrote = between(desk, begun, seq);
        inputs.extend(checks.iter().map(|one| one.check.clone()));
    }
    let why = words::why(desk, row);
    let formulas = formulas(desk, &decided, &inputs)?;
    let chain = desk
        .find::<Resolution>(&row.kind, &row.name(seq))
        .filter(|_| is(row, "EvaluationChainResolutionReceipt"));
    let trace = match &chain {
        Some(resolution) => closing::trace(desk, resolution)?,
        None => trace(desk, row, &decided, &inputs, &formulas),
    };
    let trace_ref = reference("ExplanationTrace", &trace.trace_id)?;
    let view = match &chain {
        Some(resolution) => closing::decision_view(desk, resolution, &trace_ref)?,
        None => view(desk, &decided, &inputs, trace_ref)?,
    };
    for one in desk.each::<PolicyEvaluation>("PolicyEvaluation") {
        let check = reference("PolicyEvaluation", &one.id)?;
        let is_named = view.policy_decision_refs.iter().any(|named| named.as_str() == check.as_str());
        if is_named && !checks.iter().any(|known| known.check == check) {
            let Found { record, .. } = one;
            checks.push(Checked { check, policy: record.policy_id, decision: record.decision.as_str() });
        }
    }
    let inputs = said(desk, inputs, seq);
    Ok(Some(Explained { decided, why, inputs, formulas, checks, wrote, view, trace }))
}

fn is(row: &Draft, kind: &str) -> bool {
    row.kind == kind
}

/// The row of a reference, or of a bare name; the last one of it.
fn find<'d>(desk: &'d Desk, text: &str) -> Option<(u64, &'d Draft)> {
    find_before(desk, text, u64::MAX)
}

/// The same, of those before a place.
fn find_before<'d>(desk: &'d Desk, text: &str, place: u64) -> Option<(u64, &'d Draft)> {
    let read = Reference::read(text)
        .and_then(|read| Some((kind_of(&format!("govern.{}", read.kind))?.name, read.id)));
    let rows: Vec<(u64, &Draft)> = (1..place).zip(desk.rows()).collect();
    let is_it = |(seq, row): &&(u64, &Draft)| match read {
        Some((kind, id)) => row.kind == kind && row.name(*seq) == id,
        None => row.name(*seq) == text,
    };
    rows.iter().rev().find(is_it).copied()
}

fn decided(desk: &Desk, seq: u64, row: &Draft) -> Option<Decided> {
    let decision = reference(&row.kind, &row.name(seq)).ok()?;
    let who = WHO.iter().find_map(|name| text(row, name));
    let by = match invocation(desk, row) {
        Some(begun) => actor(desk, begun),
        None => who.map(str::to_string),
    };
    Some(Decided {
        decision,
        seq,
        by: by.unwrap_or_else(|| ENGINE.to_string()),
        what: words::what(desk, row),
    })
}

/// What each of some records says, as it was before a place.
fn said(desk: &Desk, all: Vec<StorageRef>, place: u64) -> Vec<Cited> {
    let one = |record: StorageRef| {
        let (seq, row) = find_before(desk, record.as_str(), place)?;
        Some(Cited { record, seq, what: words::what(desk, row) })
    };
    all.into_iter().filter_map(one).collect()
}

fn text<'r>(row: &'r Draft, member: &str) -> Option<&'r str> {
    row.record.get(member).and_then(Json::as_str)
}

/// The place of the invocation that a receipt answers.
fn invocation(desk: &Desk, row: &Draft) -> Option<u64> {
    if !is(row, "CommandReceipt") {
        return None;
    }
    let id = text(row, "invocation_id")?;
    desk.each::<CommandInvocation>("CommandInvocation").find(|one| one.id == id).map(|one| one.seq)
}

fn invoked(desk: &Desk, begun: u64) -> Option<CommandInvocation> {
    desk.each::<CommandInvocation>("CommandInvocation").find(|one| one.seq == begun).map(|one| one.record)
}

fn actor(desk: &Desk, begun: u64) -> Option<String> {
    invoked(desk, begun).map(|one| one.actor_ref.as_str().to_string())
}

fn command(desk: &Desk, begun: u64) -> Option<String> {
    invoked(desk, begun).map(|one| one.command_id)
}

/// The checks of a command: they stand right before it.
fn before(desk: &Desk, begun: u64) -> Result<Vec<Checked>, Error> {
    let mut all = Vec::new();
    let mut place = begun;
    for one in desk.each::<PolicyEvaluation>("PolicyEvaluation").rev().skip_while(|one| one.seq > begun) {
        if one.seq + 1 != place {
            break;
        }
        place = one.seq;
        let check = reference("PolicyEvaluation", &one.id)?;
        all.push(Checked { check, policy: one.record.policy_id, decision: one.record.decision.as_str() });
    }
    all.reverse();
    Ok(all)
}

/// What was written between a command and its receipt. One that did something outside has its receipt late: what others wrote
/// meanwhile is not its own.
fn between(desk: &Desk, begun: u64, ended: u64) -> Vec<StorageRef> {
    let mut is_others = false;
    let mut all = Vec::new();
    for (seq, row) in (begun + 1..ended).zip(desk.rows_after(begun)) {
        is_others |= is(row, "CommandInvocation");
        if !is_others && !is(row, "CommandReceipt") {
            all.extend(reference(&row.kind, &row.name(seq)));
        }
    }
    all
}

/// The records before a row that it names: by reference, or by what they are called.
fn cited(desk: &Desk, seq: u64, row: &Draft) -> Vec<StorageRef> {
    let mut names: BTreeMap<String, (u64, StorageRef)> = BTreeMap::new();
    for (at, other) in (1..seq).zip(desk.rows()) {
        let name = other.name(at);
        if let Ok(named) = reference(&other.kind, &name) {
            names.insert(named.as_str().to_string(), (at, named.clone()));
            names.insert(name, (at, named));
        }
    }
    let own = row.name(seq);
    let mut found: BTreeMap<u64, StorageRef> = BTreeMap::new();
    let mut each = |text: &str| {
        let bare = Reference::read(text).map(|read| format!("{}:{}", read.kind, read.id));
        let known = names.get(text).or_else(|| names.get(bare.as_deref()?));
        if let Some((at, named)) = known.filter(|_| text != own) {
            found.insert(*at, named.clone());
        }
    };
    words(&row.record, &mut each);
    found.into_values().collect()
}

/// Shows every text in a value.
fn words(value: &Json, each: &mut impl FnMut(&str)) {
    match value {
        Json::String(text) => each(text),
        Json::Array(items) => items.iter().for_each(|one| words(one, each)),
        Json::Object(members) => members.iter().for_each(|(_, one)| words(one, each)),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// The formulas whose receipts a decision names, and those that were computed for it.
fn formulas(desk: &Desk, decided: &Decided, inputs: &[StorageRef]) -> Result<Vec<Computed>, Error> {
    let mut all = Vec::new();
    for one in desk.each::<FormulaEvaluationReceipt>("FormulaEvaluationReceipt") {
        let receipt = reference("FormulaEvaluationReceipt", &one.id)?;
        if one.record.output_ref == decided.decision || inputs.contains(&receipt) {
            let formula = format!("{} {}", one.record.formula_id, one.record.formula_semantic_version);
            all.push(Computed { receipt, formula, inputs: one.record.input_refs });
        }
    }
    Ok(all)
}

/// The steps to a decision: what was computed, then the decision itself.
fn trace(
    desk: &Desk,
    row: &Draft,
    decided: &Decided,
    inputs: &[StorageRef],
    formulas: &[Computed],
) -> ExplanationTrace {
    let kind = DECISIONS.iter().find(|(kind, _)| *kind == row.kind).map(|(_, kind)| *kind);
    let mut steps: Vec<CausalStep> = formulas
        .iter()
        .map(|one| CausalStep {
            step_id: one.formula.clone(),
            input_refs: one.inputs.clone(),
            operation_receipt_ref: Some(one.receipt.clone()),
            output_refs: Vec::from([decided.decision.clone()]),
            rationale_summary: format!("computed by {}", one.formula),
            evidence_refs: Vec::new(),
        })
        .collect();
    steps.push(CausalStep {
        step_id: "decision".to_string(),
        input_refs: inputs.to_vec(),
        operation_receipt_ref: None,
        output_refs: Vec::from([decided.decision.clone()]),
        rationale_summary: decided.what.clone(),
        evidence_refs: Vec::new(),
    });
    ExplanationTrace {
        trace_id: desk.id("trace"),
        trace_kind: kind.unwrap_or(TraceKind::Routing),
        causal_steps: steps,
        hidden_reasoning_included: False,
        schema_version: V10,
    }
}

/// What led to a decision, by what it names.
fn view(
    desk: &Desk,
    decided: &Decided,
    inputs: &[StorageRef],
    trace: StorageRef,
) -> Result<DecisionAuditView, Error> {
    let of = |kinds: &[&str]| -> Vec<StorageRef> {
        let is_one =
            |one: &&StorageRef| Reference::read(one.as_str()).is_some_and(|read| kinds.contains(&read.kind));
        inputs.iter().filter(is_one).cloned().collect()
    };
    let policies: BTreeSet<String> =
        of(&["policy_evaluation"]).into_iter().map(|one| one.as_str().to_string()).collect();
    let named =
        |text: String| PolicyEvaluationRef::try_from(text.as_str()).map_err(|_| Error::Unnameable(text));
    Ok(DecisionAuditView {
        audit_view_id: desk.id("decision-view"),
        target_decision_ref: decided.decision.clone(),
        chain_resolution_receipt_refs: of(&["evaluation_chain_resolution_receipt"]),
        finding_refs: of(&["evaluation_finding_event", "evaluation_finding_record"]),
        policy_decision_refs: policies.into_iter().map(named).collect::<Result<_, _>>()?,
        hard_call_resolution_refs: of(&["hard_call_resolution_receipt"]),
        explanation_trace_ref: Some(trace),
        derived_read_model_ref: reference("DerivedReadModelRecord", "unwritten")?,
        schema_version: V10,
    })
}
