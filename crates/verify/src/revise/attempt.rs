//! What was tried for an outcome, whether it fails for the same reason again, whether those who are needed are there.
//! Owns: what these records must be. Must not: say where an outcome goes.

use super::step::{NOTHING_NEW, content, finished, nowhere};
use super::{CHECK, Plan, is_mutating, strategy, target};
use crate::case::{Case, bare};
use crate::finding::last_events;
use crate::formula::{Gathered, Ungathered, missing};
use crate::found::Found;
use crate::measure;
use crate::task::{Outcome, decimal};
use crate::walk::Walk;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;
use countersign_govern::member::Member;
use countersign_govern::reference::Reference;
use countersign_govern::types::basic::Severity;
use countersign_govern::types::finding::FindingState;
use countersign_govern::types::wire::Wire;
use countersign_govern::world::Record;
use countersign_record::canonical;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::json::{Json, Object};

/// Attempts by one strategy that fail for the same reason, before another one is advised.
const SAME_MAX: usize = 2;
/// Characters of a hash that tell targets apart.
const NAME_CHARS: usize = 12;

/// The live findings of an outcome before a place, the worst first; of each the last event.
pub(super) fn findings<'c>(walk: &Walk<'c, '_>, outcome: Outcome<'_>, place: u64) -> Vec<Record<'c>> {
    let own: Vec<String> = outcome.criteria().map(|one| walk.case.own(one.id())).collect();
    let mut all = last_events(walk.case, place);
    let is_own = |event: &Record<'_>| {
        event.json().text("target_criterion_id").is_some_and(|id| own.iter().any(|one| one == id))
    };
    let is_live = |event: &Record<'_>| {
        let id = event.json().text("finding_id").unwrap_or_default();
        let state = walk.says("evaluation_finding_record", id, "current_state");
        state.and_then(FindingState::find).is_some_and(FindingState::is_live)
    };
    all.retain(|event| is_own(event) && is_live(event));
    all.sort_by_key(|event| Reverse(event.json().text("severity").and_then(Severity::find)));
    all
}

/// The outcome of the task that a record is about.
pub(super) fn outcome_of<'c>(case: &'c Case<'_>, record: Record<'_>) -> Option<Outcome<'c>> {
    case.task.outcome(case.local(record.json().text("outcome_id")?))
}

/// The record that a receipt is for: it stands right behind.
fn target_of<'c>(walk: &Walk<'c, '_>, kind: &str, id: &str) -> Option<Record<'c>> {
    walk.case.world.versions(kind, id).next()
}

/// What an outcome failed by the last time it was said.
fn previous<'c>(walk: &Walk<'c, '_>, outcome: Outcome<'_>, place: u64) -> Option<&'c Json> {
    let own = walk.case.own(outcome.id());
    let signals = walk.case.until("ProgressSignalRecord", place);
    let last = signals.filter(|one| one.json().is("outcome_id", &own)).last();
    last.and_then(|one| one.json().at("current_finding_match_key"))
}

/// What it is derived from that an outcome fails for the same reason.
pub(crate) fn signal_inputs(
    walk: &Walk<'_, '_>,
    id: &str,
    receipt: Record<'_>,
) -> Result<Gathered, Ungathered> {
    let record = target_of(walk, "ProgressSignalRecord", id);
    let Some(outcome) = record.and_then(|record| outcome_of(walk.case, record)) else {
        return missing("there is no outcome that it is about");
    };
    let Some(worst) = findings(walk, outcome, receipt.seq()).into_iter().next() else {
        return missing("nothing is wrong with the outcome");
    };
    let current = worst.json().at("match_key").cloned().unwrap_or(Json::Null);
    let mut inputs = Object::from([("current", current)]);
    if let Some(previous) = previous(walk, outcome, receipt.seq()) {
        inputs.insert("previous", previous.clone());
    }
    let input_refs = Vec::from([format!("evaluation_finding_event:{}", worst.id())]);
    Ok(Gathered { inputs, input_refs })
}

/// Whether an outcome fails for the same reason as before.
pub(crate) fn signal<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let Some(outcome) = outcome_of(walk.case, record) else {
        return walk.underivable(CHECK, record, "the task has no such outcome", found);
    };
    let gathered = match signal_inputs(walk, record.id(), record) {
        Ok(gathered) => gathered,
        Err(Ungathered::Withheld) => return found.withheld(CHECK),
        Err(Ungathered::Missing(why)) => return walk.underivable(CHECK, record, why, found),
    };
    let value = walk.formulas.value("same_reason_v1", &gathered.inputs);
    let is_same = value == Some(Json::Bool(true));
    for (name, input) in
        [("current_finding_match_key", "current"), ("previous_finding_match_key", "previous")]
    {
        found.must(CHECK, record, name, gathered.inputs.get(input).cloned());
    }
    found.must(CHECK, record, "same_reason_as_previous", value);
    let tried = attempts(walk.case, outcome, record.seq());
    let last = tried.last().and_then(|one| one.json().text("strategy_kind"));
    let in_a_row = tried.iter().rev().take_while(|one| one.json().text("strategy_kind") == last).count();
    found.must(CHECK, record, "strategy_switch_recommended", Some((is_same && in_a_row >= SAME_MAX).into()));
}

/// What was tried for an outcome before a place, in order.
pub(super) fn attempts<'c>(case: &'c Case<'_>, outcome: Outcome<'_>, place: u64) -> Vec<Record<'c>> {
    let own = case.own(outcome.id());
    case.until("ProcedureAttemptRecord", place).filter(|one| one.json().is("outcome_id", &own)).collect()
}

/// What an outcome needs, and what there is.
fn capabilities(walk: &Walk<'_, '_>, outcome: Outcome<'_>, place: u64) -> (Vec<Json>, Vec<Json>) {
    let needed = outcome.0.texts("capabilities");
    let needed = needed.iter().map(|id| Object::from([("capability_id", Json::from(*id))]).into());
    let snapshot = walk.case.before("CapabilitySnapshot", &walk.case.own("capabilities"), place);
    let offers = snapshot.map(|one| one.json().list("capabilities").to_vec()).unwrap_or_default();
    (needed.collect(), offers)
}

/// What it is derived from whether those who are needed are there.
pub(crate) fn coverage_inputs(
    walk: &Walk<'_, '_>,
    id: &str,
    receipt: Record<'_>,
) -> Result<Gathered, Ungathered> {
    let record = target_of(walk, "CapabilityCoverageAssessment", id);
    let Some(outcome) = record.and_then(|record| outcome_of(walk.case, record)) else {
        return missing("there is no outcome that it is about");
    };
    let (needed, offers) = capabilities(walk, outcome, receipt.seq());
    let inputs = Object::from([
        ("required_capabilities", Json::Array(needed)),
        ("available_capabilities", Json::Array(offers)),
    ]);
    let input_refs = Vec::from([format!("capability_snapshot:{}", walk.case.own("capabilities"))]);
    Ok(Gathered { inputs, input_refs })
}

/// Whether those who are needed for an outcome are there.
pub(crate) fn coverage<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let Some(outcome) = outcome_of(walk.case, record) else {
        return walk.underivable(CHECK, record, "the task has no such outcome", found);
    };
    let state = walk.says("outcome_record", &walk.case.own(outcome.id()), "state");
    if !matches!(state, Some("needs_revision" | "regressed")) {
        found.about(Code::VerifyDerivation, CHECK, record, "outcome_id", "it does not fall short");
    }
    let gathered = match coverage_inputs(walk, record.id(), record) {
        Ok(gathered) => gathered,
        Err(Ungathered::Withheld) => return found.withheld(CHECK),
        Err(Ungathered::Missing(why)) => return walk.underivable(CHECK, record, why, found),
    };
    let value = walk.formulas.value("capability_coverage_v1", &gathered.inputs).unwrap_or(Json::Null);
    let (needed, offers) = capabilities(walk, outcome, record.seq());
    let offered = offers.iter().map(|one| {
        let copy = |name: &str| one.at(name).cloned().unwrap_or(Json::Null);
        Json::from(Object::from([("capability_id", copy("capability_id")), ("min_version", copy("version"))]))
    });
    let gap = |one: &Json| {
        let id = one.text("capability_id")?;
        let own = offers.iter().filter(|offer| offer.is("capability_id", id));
        let kind = match own.map(|offer| offer.flag("healthy").unwrap_or(false)).max() {
            None => "missing",
            Some(false) => "unhealthy",
            Some(true) => return None,
        };
        let gap = Object::from([("required_capability_ref", one.clone()), ("gap_kind", kind.into())]);
        Some(Json::from(gap))
    };
    let gaps: Vec<Json> = needed.iter().filter_map(gap).collect();
    found.must(CHECK, record, "coverage_state", value.at("coverage_state").cloned());
    found.must(CHECK, record, "gaps", Some(Json::Array(gaps)));
    found.must(CHECK, record, "required_capabilities", Some(Json::Array(needed)));
    found.must(CHECK, record, "available_capabilities", Some(Json::Array(offered.collect())));
    let snapshot = format!("capability_snapshot:{}", walk.case.own("capabilities"));
    found.must_say(CHECK, record, "capability_snapshot_ref", &snapshot);
}

/// The scores of an outcome before a place: what the judge put together at each look, with the place of that.
fn scores(case: &Case<'_>, outcome: Outcome<'_>, place: u64) -> Vec<(u64, Json)> {
    let own = case.own(outcome.id());
    let is_judge =
        |one: Record<'_>| one.json().is("producer_kind", "judge") && one.json().is("outcome_id", &own);
    // An index belongs to the judge before whom it stands, and behind the evaluator; what nobody could score has none.
    let (mut all, mut from) = (Vec::new(), 0);
    for one in case.until("EvaluationResultEnvelope", place) {
        let index = case.last("QualityIndex", one.seq()).filter(|index| index.seq() > from);
        let score = index.and_then(|index| index.json().at("aggregate_score").cloned());
        all.extend(score.filter(|_| is_judge(one)).map(|score| (one.seq(), score)));
        from = one.seq();
    }
    all
}

/// A number in millionths.
fn micros(number: &Json) -> Option<i64> {
    let Json::Number(number) = number else { return None };
    let literal = number.literal();
    let (sign, digits) = literal.strip_prefix('-').map_or((1, &*literal), |rest| (-1, rest));
    let (whole, rest) = digits.split_once('.').unwrap_or((digits, ""));
    if rest.len() > 6 {
        return None;
    }
    let padded = format!("{rest:0<6}");
    let size = whole.parse::<i64>().ok()?.checked_mul(1_000_000)?.checked_add(padded.parse().ok()?)?;
    Some(sign * size)
}

/// A number of millionths, as few digits as say it.
fn written(micros: i64) -> Json {
    let (sign, size) = (if micros < 0 { "-" } else { "" }, micros.unsigned_abs());
    let digits = format!("{sign}{}.{:06}", size / 1_000_000, size % 1_000_000);
    decimal(digits.trim_end_matches('0').trim_end_matches('.'))
}

/// How an attempt came out.
enum Came<'c> {
    /// The outcome was looked at again.
    Looked(&'c str),
    /// Nothing changed.
    Nowhere,
}

fn came<'c>(walk: &Walk<'c, '_>, plan: &Plan<'_>, outcome: Outcome<'_>) -> Came<'c> {
    let round = walk.round.as_ref().filter(|round| round.outcome.id() == outcome.id() && !round.is_settled);
    let verdict =
        round.and_then(|round| round.resolution).and_then(|one| one.json().text("resolved_verdict"));
    match (plan.state(walk), verdict) {
        (Some("revalidating"), Some(verdict)) => Came::Looked(verdict),
        (Some("revalidating"), None) => Came::Looked("indeterminate"),
        (Some(_) | None, _) => Came::Nowhere,
    }
}

/// The step that an outcome is mended by in a plan: the first one that changes something for it.
fn leading<'c>(case: &'c Case<'_>, plan: &Plan<'c>, outcome: Outcome<'_>) -> Option<&'c Json> {
    let own = case.own(outcome.id());
    let asked: Vec<Record<'_>> = case
        .world
        .of("OutcomeRepairInstruction")
        .filter(|one| one.seq() > plan.record.seq() && one.json().is("outcome_id", &own))
        .collect();
    let is_asked = |step: &&Json| {
        strategy(step).is_some_and(|kind| {
            asked
                .iter()
                .any(|one| one.json().is("target_ref", target(step)) && one.json().is("strategy_kind", kind))
        })
    };
    let changes = plan.steps().iter().filter(|step| is_mutating(step)).find(is_asked);
    changes.or_else(|| plan.steps().iter().find(is_asked)).or_else(|| plan.steps().first())
}

/// What a way is called where an outcome is mended by it.
fn procedure(case: &Case<'_>, outcome: Outcome<'_>, step: &Json) -> String {
    let fixed = match Reference::read(target(step)) {
        Some(read) => Reference { version: None, hash: None, ..read }.to_string(),
        None => target(step).to_string(),
    };
    let hash = Digest::of(fixed.as_bytes()).to_string();
    let name = hash.get(..NAME_CHARS).unwrap_or_default();
    case.own(&format!("way.{}.{}.{name}", outcome.id(), strategy(step).unwrap_or_default()))
}

/// What a plan was worth for an outcome.
pub(crate) fn tried<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, json, place) = (walk.case, record.json(), record.seq());
    let plan = json.text("revision_plan_ref").and_then(|text| Plan::find(case, bare(text)));
    let Some((plan, outcome)) = plan.zip(outcome_of(case, record)) else {
        return walk.underivable(CHECK, record, "there is no such plan or outcome", found);
    };
    let is_of_plan = plan.record.json().texts("outcome_ids").contains(&case.own(outcome.id()).as_str());
    let Some(step) = leading(case, &plan, outcome).filter(|_| is_of_plan) else {
        return found.about(Code::VerifyDerivation, CHECK, record, "outcome_id", "the plan is not for it");
    };
    let came = came(walk, &plan, outcome);
    let all = scores(case, outcome, place);
    let before = all.iter().rfind(|(seq, _)| *seq < plan.record.seq()).map(|(_, score)| score.clone());
    let after = match came {
        Came::Looked(_) => {
            all.last().filter(|(seq, _)| *seq > plan.record.seq()).map(|(_, score)| score.clone())
        }
        Came::Nowhere => before.clone(),
    };
    let delta = before.as_ref().zip(after.as_ref());
    let delta = delta.and_then(|(before, after)| micros(after)?.checked_sub(micros(before)?));
    let least = micros(&case.task.policy_number("sufficiency.epsilon", "0.01")).unwrap_or_default();
    let status = match (&came, delta) {
        (Came::Nowhere, _) => nowhere(walk, &plan, place),
        (Came::Looked("passed" | "not_applicable"), _) => Some("succeeded"),
        (Came::Looked(_), Some(delta)) if delta < 0 => Some("regressed"),
        (Came::Looked(_), Some(delta)) if delta < least => Some("no_material_improvement"),
        (Came::Looked(_), Some(_) | None) => Some("failed"),
    };
    match status {
        Some(status) => found.must_say(CHECK, record, "terminal_status", status),
        // What a text that came back and one that never came leave is the same, but for sections.
        None if json.is_one_of("terminal_status", &NOTHING_NEW) => found.right(CHECK),
        None => found.about(Code::VerifyDerivation, CHECK, record, "terminal_status", "nothing changed"),
    }
    let score = |value: Option<Json>| {
        value.map(|value| {
            Json::from(Object::from([
                ("value", value),
                ("calibration", "uncalibrated".into()),
                ("metric_ref", "formula_spec:quality_index_v1".into()),
            ]))
        })
    };
    found.must(CHECK, record, "score_before", score(before));
    found.must(CHECK, record, "score_after", score(after));
    found.must(CHECK, record, "score_delta", delta.map(written));
    found.must(CHECK, record, "strategy_kind", strategy(step).map(Json::from));
    found.must_say(CHECK, record, "procedure_id", &procedure(case, outcome, step));
    found.must_list(CHECK, record, "receipt_refs", &finished(case, &plan, place));
    signatures(walk, record, &plan, step, found);
}

/// What went into a plan, and what came out of it.
fn signatures<'c>(walk: &Walk<'c, '_>, record: Record<'c>, plan: &Plan<'c>, step: &Json, found: &mut Found) {
    let (case, place) = (walk.case, record.seq());
    let products = plan.products(case, place);
    let own = case.own(plan.artifact.id());
    let versions =
        case.until("ArtifactVersion", place).filter(|one| one.json().is("artifact_stable_id", &own));
    let base = versions.take_while(|one| products.first().is_none_or(|first| one.seq() < first.seq())).last();
    let input = Object::from([
        ("strategy", strategy(step).map_or(Json::Null, Json::from)),
        ("target", target(step).into()),
        ("base", base.map_or(Json::Null, |one| content(one).into())),
    ]);
    let input = canonical::hash(&input.into()).map(|hash| Json::from(String::from(hash))).ok();
    found.must(CHECK, record, "input_signature_hash", input);
    found.must(CHECK, record, "output_signature_hash", products.last().map(|one| content(*one).into()));
}

/// How many cycles an outcome took, and how they ended.
pub(crate) fn cycles<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, place) = (walk.case, record.seq());
    let Some(outcome) = outcome_of(case, record) else {
        return walk.underivable(CHECK, record, "the task has no such outcome", found);
    };
    let own = case.own(outcome.id());
    if measure::is_at_the_end(case, record) {
        return looks(walk, record, &own, found);
    }
    let before = case.until("RevisionCycleOutcomeObservation", place);
    let before = before.filter(|one| one.json().is("outcome_id", &own)).last().map_or(0, Record::seq);
    let count = attempts(case, outcome, place).iter().filter(|one| one.seq() > before).count() as u64;
    let moves = case.until("OutcomeStateTransitionEvent", place);
    let moves: Vec<Record<'_>> =
        moves.filter(|one| one.json().is("outcome_id", &own) && one.seq() > before).collect();
    let fell = moves.iter().find(|one| one.json().is_one_of("to_state", &["needs_revision", "regressed"]));
    let begun = fell.and_then(|one| one.json().at("created_at").cloned());
    let class = match walk.says("outcome_record", &own, "state") {
        Some("satisfied") => Some("succeeded"),
        Some("unrecoverable") => Some("failed_unrecoverable"),
        Some(
            same @ ("max_iterations_reached"
            | "blocked_by_policy"
            | "needs_human_judgment"
            | "needs_information"),
        ) => Some(same),
        Some(_) | None => None,
    };
    let is_cancelled = record.json().is("terminal_class", "cancelled_by_user")
        && case.until("TaskCancelReceipt", place).last().is_some();
    if !is_cancelled {
        found.must(CHECK, record, "terminal_class", class.map(Json::from));
    }
    found.must(CHECK, record, "cycle_count", count.write());
    let last = moves.last().map(|one| format!("outcome_state_transition_event:{}", one.id()));
    found.must(CHECK, record, "terminal_state_ref", last.map(Json::from));
    let end = case.row(record).map(|row| Json::from(row.at.to_string()));
    found.must(CHECK, record, "observation_window.start", begun);
    found.must(CHECK, record, "observation_window.end", end);
}

/// How many looks an outcome took that was never mended, when the run is over.
fn looks<'c>(walk: &Walk<'c, '_>, record: Record<'c>, own: &str, found: &mut Found) {
    let (case, place) = (walk.case, record.seq());
    let moves = case.until("OutcomeStateTransitionEvent", place);
    let moves: Vec<Record<'_>> = moves.filter(|one| one.json().is("outcome_id", own)).collect();
    let looks = moves.iter().filter(|one| one.json().is("to_state", "evaluating")).count() as u64;
    found.must(CHECK, record, "cycle_count", looks.write());
    let last = moves.last().map(|one| format!("outcome_state_transition_event:{}", one.id()));
    found.must(CHECK, record, "terminal_state_ref", last.map(Json::from));
    let class = match walk.says("outcome_record", own, "state") {
        Some("satisfied") => "succeeded",
        Some("unrecoverable") => "failed_unrecoverable",
        Some("superseded") => "cancelled_by_user",
        Some("max_iterations_reached") => "max_iterations_reached",
        Some("blocked_by_policy") => "blocked_by_policy",
        Some("needs_human_judgment") => "needs_human_judgment",
        Some("needs_information") => "needs_information",
        Some(_) | None => "still_open_right_censored",
    };
    found.must_say(CHECK, record, "terminal_class", class);
    let (start, end) = measure::window(case, record);
    found.must(CHECK, record, "observation_window.start", start);
    found.must(CHECK, record, "observation_window.end", end);
}

/// What became of feedback that was delivered.
pub(crate) fn consumed<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, json) = (walk.case, record.json());
    let bundle = json.text("feedback_bundle_id").unwrap_or_default();
    let delivered = case.until("FeedbackDeliveryRecord", record.seq());
    let Some(delivery) = delivered.filter(|one| one.json().is("feedback_bundle_id", bundle)).last() else {
        return walk.underivable(CHECK, record, "nothing was delivered", found);
    };
    for name in ["consumer_module_id", "consumer_activation_seq"] {
        found.must(CHECK, record, name, delivery.json().at(name).cloned());
    }
    let result = delivery.json().text("result_id").unwrap_or_default();
    let result = case.before("EvaluationResultEnvelope", result, record.seq());
    let outcome = result.and_then(|one| one.json().text("outcome_id")).unwrap_or_default();
    let at = case.row(record).map(|row| &row.at);
    // A plan that is made of it comes in the same step.
    let is_planned = case.world.of("RevisionPlan").any(|one| {
        one.seq() > record.seq()
            && case.row(one).map(|row| &row.at) == at
            && one.json().texts("outcome_ids").contains(&outcome)
    });
    found.must_say(CHECK, record, "consumption", if is_planned { "used" } else { "not_used" });
    let reasons = ["no plan is made for its outcome now", "nobody mends it here", "the run is over"];
    match (is_planned, json.text("reason")) {
        (true, None) => found.right(CHECK),
        (false, Some(reason)) if reasons.contains(&reason) => found.right(CHECK),
        (true | false, _) => {
            found.about(Code::VerifyDerivation, CHECK, record, "reason", "is not what follows")
        }
    }
}
