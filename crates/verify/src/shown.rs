//! What is shown of a run: pages on chains and decisions, the health card, what waits, and the headers of all of them.
//! Owns: what these records must be. Must not: weigh anything; the formula of health does.

use crate::case::{Case, bare};
use crate::dispute;
use crate::finding::last_events as findings;
use crate::formula::{Gathered, Ungathered, receipt_of};
use crate::found::{Found, texts};
use crate::report::Check;
use crate::walk::Walk;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_govern::types::finding::FindingState;
use countersign_govern::world::Record;
use countersign_record::json::{Json, Number, Object};

const CHECK: Check = Check::Shown;

/// The last resolution of each outcome before a place, in the order of the task.
fn last_chains<'c>(case: &'c Case<'_>, place: u64) -> Vec<Record<'c>> {
    let mut last: BTreeMap<&str, Record<'c>> = BTreeMap::new();
    for receipt in case.until("EvaluationChainResolutionReceipt", place) {
        if let Some(outcome) = outcome_of(case, receipt) {
            last.insert(outcome, receipt);
        }
    }
    let own = case.task.outcomes().map(|one| case.own(one.id()));
    own.filter_map(|id| last.remove(id.as_str())).collect()
}

/// The outcome that a resolution is of.
fn outcome_of<'c>(case: &'c Case<'_>, resolution: Record<'c>) -> Option<&'c str> {
    let results = resolution.json().texts("result_ids_considered");
    let result = case.before("EvaluationResultEnvelope", results.first()?, resolution.seq())?;
    result.json().text("outcome_id")
}

/// The findings of some results, as references.
fn found_by(case: &Case<'_>, results: &[&str], place: u64) -> Vec<String> {
    let own = findings(case, place).into_iter();
    own.filter(|one| one.json().text("result_id").is_some_and(|id| results.contains(&id)))
        .map(|one| format!("evaluation_finding_event:{}", one.id()))
        .collect()
}

fn name(record: Record<'_>) -> String {
    format!("{}:{}", record.snake(), record.id())
}

/// The place of the header with which everything that is shown begins.
fn begun(case: &Case<'_>, place: u64) -> u64 {
    let headers = case.until("DerivedReadModelRecord", place);
    let own = headers.filter(|one| one.json().is("read_model_kind", "AttentionLedger"));
    own.filter(|one| one.json().at("valid_until_event_seq").is_none()).last().map_or(0, Record::seq)
}

/// The resolution that the next page of a kind is about.
fn next<'c>(case: &'c Case<'_>, kind: &str, place: u64) -> Option<Record<'c>> {
    let begun = begun(case, place);
    let before = case.until(kind, place).filter(|one| one.seq() > begun).count();
    last_chains(case, place).into_iter().nth(before)
}

/// The results of the judge that a resolution put together.
fn judged(case: &Case<'_>, resolution: Record<'_>) -> Vec<String> {
    let results = resolution.json().texts("result_ids_considered");
    let own = results.iter().filter_map(|id| case.before("EvaluationResultEnvelope", id, resolution.seq()));
    own.filter(|one| one.json().is("producer_kind", "judge")).map(name).collect()
}

/// A chain on one page.
fn chain_view(case: &Case<'_>, resolution: Record<'_>, place: u64) -> Object {
    let json = resolution.json();
    let chain = json.text("chain_id").unwrap_or_default();
    let word = |path: &str| json.text(path).unwrap_or_default();
    let summary = format!("{}: {}", word("resolved_verdict"), word("resolved_route").replace('_', " "));
    let results = json.texts("result_ids_considered");
    Object::from([
        ("chain_id", Json::from(chain)),
        ("chain_registry_record_ref", format!("evaluation_chain_registry_record:{chain}").into()),
        ("chain_resolution_receipt_ref", name(resolution).into()),
        ("qualitative_finding_refs", texts(&found_by(case, &results, place))),
        ("quantitative_result_refs", texts(&judged(case, resolution))),
        ("final_route_summary", summary.into()),
        ("derived_read_model_ref", header_before(case, place)),
        ("schema_version", "1.0".into()),
    ])
}

/// The header right before.
fn header_before(case: &Case<'_>, place: u64) -> Json {
    case.last("DerivedReadModelRecord", place).map_or(Json::Null, |one| name(one).into())
}

/// The answers of people that an outcome waited for.
fn answers(case: &Case<'_>, outcome: &str, place: u64) -> Vec<String> {
    let outcome = format!("outcome_record:{outcome}");
    let is_own = |answer: &Record<'_>| {
        let id = answer.json().text("hard_call_id").unwrap_or_default();
        let call = case.before("HardRevisionCall", id, answer.seq());
        call.is_some_and(|one| one.json().texts("pending_policy.blocked_refs").contains(&outcome.as_str()))
    };
    case.until("HardCallResolutionReceipt", place).filter(is_own).map(name).collect()
}

fn leave(case: &Case<'_>) -> String {
    format!("policy_evaluation:{}", case.own("leave"))
}

/// What led to a decision.
fn decision_view(case: &Case<'_>, resolution: Record<'_>, place: u64) -> Object {
    let results = resolution.json().texts("result_ids_considered");
    let outcome = outcome_of(case, resolution).unwrap_or_default();
    let trace = case.last("ExplanationTrace", place);
    Object::from([
        ("target_decision_ref", Json::from(name(resolution))),
        ("chain_resolution_receipt_refs", texts(&[name(resolution)])),
        ("finding_refs", texts(&found_by(case, &results, place))),
        ("policy_decision_refs", texts(&[leave(case)])),
        ("hard_call_resolution_refs", texts(&answers(case, outcome, place))),
        ("explanation_trace_ref", trace.map_or(Json::Null, |one| name(one).into())),
        ("derived_read_model_ref", header_before(case, place)),
        ("schema_version", "1.0".into()),
    ])
}

fn step(id: &str, inputs: &[String], outputs: &[String], words: String, evidence: &[String]) -> Json {
    Object::from([
        ("step_id", Json::from(id)),
        ("input_refs", texts(inputs)),
        ("output_refs", texts(outputs)),
        ("rationale_summary", words.into()),
        ("evidence_refs", texts(evidence)),
    ])
    .into()
}

/// How it came to a decision.
fn trace(case: &Case<'_>, resolution: Record<'_>, place: u64) -> Object {
    let json = resolution.json();
    let (mut steps, mut said) = (Vec::new(), Vec::new());
    for id in json.texts("result_ids_considered") {
        let Some(result) = case.before("EvaluationResultEnvelope", id, place) else { continue };
        let word = |path: &str| result.json().text(path).unwrap_or_default();
        let words = format!("{}: {}", word("decision.verdict"), word("route_recommendation.rationale"));
        let inputs = [word("evaluation_snapshot_ref").to_string()];
        let evidence = found_by(case, &[id], place);
        steps.push(step(word("producer_kind"), &inputs, &[name(result)], words, &evidence));
        said.push(name(result));
    }
    let word = |path: &str| json.text(path).unwrap_or_default();
    let words = format!("{}, {}", word("resolved_verdict"), word("resolved_route").replace('_', " "));
    steps.push(step("resolution", &said, &[name(resolution)], words, &[]));
    Object::from([
        ("trace_kind", Json::from("evaluation")),
        ("causal_steps", Json::Array(steps)),
        ("hidden_reasoning_included", false.into()),
        ("schema_version", "1.0".into()),
    ])
}

/// A page is about the next chain, and says what the records say of it.
pub(crate) fn page<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, place) = (walk.case, record.seq());
    let Some(resolution) = next(case, record.kind(), place) else {
        return walk.underivable(CHECK, record, "every chain has its page", found);
    };
    let (expected, id) = match record.kind() {
        "UnifiedEvaluationChainView" => (chain_view(case, resolution, place), "view_id"),
        "ExplanationTrace" => (trace(case, resolution, place), "trace_id"),
        _decision => (decision_view(case, resolution, place), "audit_view_id"),
    };
    found.must_be(CHECK, record, &expected, &[id]);
}

/// Findings that block, as they stand.
fn blockers(walk: &Walk<'_, '_>, place: u64) -> Vec<String> {
    let is_live = |event: &Record<'_>| {
        let json = event.json();
        let id = json.text("finding_id").unwrap_or_default();
        let state = walk.says("evaluation_finding_record", id, "current_state").and_then(FindingState::find);
        state.is_some_and(FindingState::is_live)
            && json.is("severity", "blocking")
            && json.flag("blocking_authority.satisfied") == Some(true)
    };
    let own = findings(walk.case, place).into_iter().filter(is_live);
    own.filter_map(|one| one.json().text("finding_id").map(|id| format!("evaluation_finding_record:{id}")))
        .collect()
}

/// Items that wait for a person, as they stand: each once, in order.
fn waiting<'c>(walk: &Walk<'c, '_>, place: u64) -> Vec<Record<'c>> {
    let mut all: Vec<Record<'c>> = Vec::new();
    for item in walk.case.until("AttentionLedgerItem", place) {
        let is_open = walk.says("attention_ledger_item", item.id(), "lifecycle_state") == Some("open");
        if is_open && !all.iter().any(|one| one.id() == item.id()) {
            all.push(item);
        }
    }
    all
}

/// Questions that nobody has answered.
fn open_calls(case: &Case<'_>, place: u64) -> usize {
    let answered: BTreeSet<&str> = case
        .until("HardCallResolutionReceipt", place)
        .filter_map(|one| one.json().text("hard_call_id"))
        .collect();
    case.until("HardRevisionCall", place).filter(|one| !answered.contains(one.id())).count()
}

/// What the health card names.
struct Signs {
    blockers: Vec<String>,
    verdicts: Vec<String>,
    packet: Option<String>,
    budget: Option<String>,
}

fn signs(walk: &Walk<'_, '_>, place: u64) -> Signs {
    let case = walk.case;
    let verdicts: BTreeSet<String> = last_chains(case, place).into_iter().map(name).collect();
    Signs {
        blockers: blockers(walk, place),
        verdicts: verdicts.into_iter().collect(),
        packet: case.last("TaskReliancePacket", place).map(name),
        budget: case.last("BudgetNarrative", place).map(name),
    }
}

impl Signs {
    fn refs(&self) -> Vec<String> {
        let all = self.blockers.iter().chain(&self.verdicts).chain(&self.packet).chain(&self.budget);
        all.cloned().collect()
    }
}

/// What the health of a run is derived from.
pub(crate) fn health_inputs(walk: &Walk<'_, '_>, receipt: Record<'_>) -> Result<Gathered, Ungathered> {
    let (case, place) = (walk.case, receipt.seq());
    let states: Vec<&str> = case
        .task
        .outcomes()
        .map(|one| walk.says("outcome_record", &case.own(one.id()), "state").unwrap_or_default())
        .collect();
    let signs = signs(walk, place);
    let count = |count: usize| Json::Number(Number::from(u32::try_from(count).unwrap_or(u32::MAX)));
    let items = waiting(walk, place);
    let priorities: Vec<&str> = items.iter().filter_map(|one| one.json().text("priority")).collect();
    let packet = case.last("TaskReliancePacket", place);
    let limits = packet.map(|one| one.json().texts("reliance_derivation.unresolved_limitations"));
    let inputs = Object::from([
        ("outcome_states", texts(&states)),
        ("live_blockers", count(signs.blockers.len())),
        ("open_hard_calls", count(open_calls(case, place))),
        ("attention_priorities", texts(&priorities)),
        ("limitations", texts(&limits.unwrap_or_default())),
    ]);
    Ok(Gathered { inputs, input_refs: signs.refs() })
}

/// How a run is doing is what the formula makes of its signs.
pub(crate) fn health<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, place) = (walk.case, record.seq());
    let value = match health_inputs(walk, record) {
        Ok(gathered) => walk.formulas.value("health_status_v1", &gathered.inputs),
        Err(Ungathered::Withheld) => return found.withheld(CHECK),
        Err(Ungathered::Missing(why)) => return walk.underivable(CHECK, record, why, found),
    };
    let signs = signs(walk, place);
    let or_null = |text: Option<String>| text.map_or(Json::Null, Json::from);
    let status = value.as_ref().and_then(|one| one.at("health_status")).cloned();
    let expected = Object::from([
        ("task_id", Json::from(case.task.id())),
        ("run_id", case.run.as_str().into()),
        ("health_status", status.unwrap_or(Json::Null)),
        ("active_blocker_refs", texts(&signs.blockers)),
        ("latest_verdict_refs", texts(&signs.verdicts)),
        ("budget_status_ref", or_null(signs.budget)),
        ("reliance_packet_ref", or_null(signs.packet)),
        ("derived_read_model_ref", header_before(case, place)),
        ("schema_version", "1.0".into()),
    ]);
    found.must_be(CHECK, record, &expected, &[]);
}

/// What something that is shown is made of, where it is of one of these kinds; by the kind in its header.
pub(crate) fn inputs(walk: &Walk<'_, '_>, kind: &str, place: u64) -> Option<Vec<String>> {
    let case = walk.case;
    match kind {
        "AttentionLedger" => {
            let item = |one: &Record<'_>| {
                [one.json().text("source_ref").unwrap_or_default().to_string(), name(*one)]
            };
            Some(waiting(walk, place).iter().flat_map(item).collect())
        }
        "EvaluationChainView" => {
            let view = chain_view(case, next(case, "UnifiedEvaluationChainView", place)?, place);
            let view = Json::from(view);
            let text = |path: &str| view.text(path).map(ToString::to_string);
            let list = |path: &str| view.texts(path).into_iter().map(ToString::to_string).collect::<Vec<_>>();
            let first =
                text("chain_registry_record_ref").into_iter().chain(text("chain_resolution_receipt_ref"));
            Some(
                first
                    .chain(list("qualitative_finding_refs"))
                    .chain(list("quantitative_result_refs"))
                    .collect(),
            )
        }
        "DecisionAuditView" => {
            let view = Json::from(decision_view(case, next(case, "DecisionAuditView", place)?, place));
            let list = |path: &str| view.texts(path).into_iter().map(ToString::to_string).collect::<Vec<_>>();
            let trace = view.text("explanation_trace_ref").map(ToString::to_string);
            let all = list("chain_resolution_receipt_refs").into_iter().chain(list("finding_refs"));
            let all = all.chain(list("policy_decision_refs")).chain(list("hard_call_resolution_refs"));
            Some(all.chain(trace).collect())
        }
        "TaskHealthCard" => Some(signs(walk, place).refs()),
        "BudgetNarrative" => {
            let records = case.until("TaskCostRecord", place).map(name);
            Some(records.chain(case.last("TaskRunCostForecast", place).map(name)).collect())
        }
        _other => None,
    }
}

/// The kind of thing that a header without one of the packet's parts is of: by what stands around it.
pub(crate) fn kind_of(case: &Case<'_>, header: Record<'_>) -> Option<&'static str> {
    let place = header.seq();
    let at = |kind: &str, place: u64| case.world.of(kind).any(|one| one.seq() == place);
    if at("UnifiedEvaluationChainView", place + 1) {
        return Some("EvaluationChainView");
    }
    if at("DecisionAuditView", place + 1) {
        return Some("DecisionAuditView");
    }
    if at("TaskHealthCard", place + 1) {
        return Some("TaskHealthCard");
    }
    if header.json().text("payload_ref").is_some_and(|text| text.starts_with("budget_narrative:")) {
        return Some("BudgetNarrative");
    }
    Some("AttentionLedger")
}

/// The receipts of what is shown.
pub(crate) fn receipts(walk: &Walk<'_, '_>, kind: &str, place: u64) -> Vec<String> {
    let case = walk.case;
    match kind {
        "TaskHealthCard" => {
            let card = format!("task_health_card:{}", case.task.id());
            receipt_of(walk, &card, place).into_iter().collect()
        }
        "BudgetNarrative" => {
            let told = case.last("BudgetNarrative", place);
            let told = told.map(|one| one.json().texts("formula_eval_receipt_refs")).unwrap_or_default();
            told.into_iter().map(ToString::to_string).collect()
        }
        _other => Vec::new(),
    }
}

/// The event that closed headers: the last row before them that is none.
pub(crate) fn closed_at(case: &Case<'_>, record: Record<'_>) -> u64 {
    let is_closing = |place: u64| {
        let own = case.world.of("DerivedReadModelRecord").find(|one| one.seq() == place);
        own.is_some_and(|one| case.before("DerivedReadModelRecord", one.id(), place).is_some())
    };
    let mut place = record.seq() - 1;
    while place > 0 && is_closing(place) {
        place -= 1;
    }
    place
}

/// What a policy was when the run ended: as it was frozen, or changed since.
pub(crate) fn fresh<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, place) = (walk.case, record.seq());
    let Some(last) = case.last("PolicySnapshot", place) else {
        return walk.underivable(CHECK, record, "nobody has written down the policies", found);
    };
    let at = case.row(record).map(|row| Json::from(row.at.as_str()));
    let before = case.until("PolicyFreshnessRecord", place).filter(|one| one.seq() > last.seq()).count();
    let policies = last.json().texts("policy_refs");
    let Some(policy) = policies.get(before % policies.len().max(1)) else { return };
    // They are all looked at together.
    let together = case.world.of("PolicyFreshnessRecord").filter(|one| walk.at(*one) == walk.at(record));
    let is_whole = together.count() == policies.len();
    found.holds(CHECK, record, "checked_at", is_whole, "not every policy was looked at then, once");
    found.must_say(CHECK, record, "policy_ref", policy);
    let mut after = case.world.all().filter(|one| one.seq() > last.seq() && one.seq() < place);
    let is_newer = after.any(|one| name(one) == *policy);
    found.must(CHECK, record, "is_fresh", Some((!is_newer).into()));
    found.must(CHECK, record, "checked_at", at);
    found.must(CHECK, record, "fresh_until", None);
}

/// For whom and for what a packet is meant, as the task says.
pub(crate) fn note<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let case = walk.case;
    let packet = case.last("TaskReliancePacket", record.seq()).map(name);
    found.must(CHECK, record, "packet_ref", packet.map(Json::from));
    for name in ["audience", "purpose"] {
        found.must(CHECK, record, name, case.task.0.at(name).cloned());
    }
}

/// What the rest of a run was told: what feedback found, in place of what was said before.
pub(crate) fn guidance<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, place) = (walk.case, record.seq());
    let bundle = record.json().text("source_feedback_bundle_ref").map(bare).unwrap_or_default();
    let Some(bundle) = case.before("EvaluationFeedbackBundle", bundle, place) else {
        return walk.underivable(CHECK, record, "there is no such feedback", found);
    };
    let events = of_bundle(case, bundle, place);
    let words: BTreeSet<&str> = events.iter().filter_map(|one| one.json().text("finding_text")).collect();
    let words: Vec<&str> = words.into_iter().collect();
    found.must_say(CHECK, record, "guidance_text", &words.join(" "));
    let scope = events.iter().find_map(|one| one.json().at("target_artifact_ref")).cloned();
    found.must(CHECK, record, "scope_ref", scope);
    found.must_say(CHECK, record, "taint_class", crate::workspace::label(case, record.seq()).0);
    // The first feedback that there was since guidance was made last, and that says something.
    let before = case.last("RunGuidanceCreationEvent", place).map_or(0, Record::seq);
    let said = |one: &Record<'_>| one.seq() > before && !of_bundle(case, *one, place).is_empty();
    let first = case.until("EvaluationFeedbackBundle", place).find(said).map(name);
    if before == 0 {
        found.must(CHECK, record, "source_feedback_bundle_ref", first.map(Json::from));
    }
}

/// The findings that a bundle of feedback is about.
fn of_bundle<'c>(case: &'c Case<'_>, bundle: Record<'_>, place: u64) -> Vec<Record<'c>> {
    let result = bundle.json().text("result_id").unwrap_or_default();
    findings(case, place).into_iter().filter(|one| one.json().is("result_id", result)).collect()
}

/// The findings that guidance was made of.
pub(crate) fn guided_by(case: &Case<'_>, event: &str, place: u64) -> Option<Vec<String>> {
    let event = case.before("RunGuidanceCreationEvent", event, place)?;
    let bundle = event.json().text("source_feedback_bundle_ref").map(bare)?;
    let bundle = case.before("EvaluationFeedbackBundle", bundle, place)?;
    Some(of_bundle(case, bundle, place).into_iter().map(name).collect())
}

/// Guidance lives from its feedback to newer one, or to the end of the run; people may dispute it.
pub(crate) fn guidance_moved<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let json = record.json();
    let id = json.text("guidance_id").unwrap_or_default();
    let from = walk.says("run_guidance_item_current", id, "lifecycle_state").map(ToString::to_string);
    found.must(CHECK, record, "from_state", from.clone().map(Json::from));
    let made = walk.case.last("RunGuidanceCreationEvent", record.seq());
    let is_new = made.is_some_and(|one| one.seq() + 2 >= record.seq() && one.json().is("guidance_id", id));
    let is_after = made.is_some_and(|one| walk.at(one) == walk.at(record));
    if json.text("actor_ref").is_some_and(|text| text.starts_with("user:")) {
        return dispute::guided(walk, record, found);
    }
    let (to, by, reason) = match (is_new, is_after) {
        (true, _) => ("active", "engine:router", "feedback of this run"),
        (false, true) => ("superseded", "engine:router", "there is newer guidance"),
        (false, false) => ("expired", "engine:work", "the run is over"),
    };
    found.must_say(CHECK, record, "to_state", to);
    found.must_say(CHECK, record, "actor_ref", by);
    found.must_say(CHECK, record, "reason", reason);
}
