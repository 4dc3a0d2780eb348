//! What is done with the steps of a plan: locks, receipts with their keys, sections that are drafted anew.
//! Owns: what these records must be. Must not: say where a plan goes.

use super::{CHECK, Plan, is_mutating, target};
use crate::case::{Case, Text, bare};
use crate::command;
use crate::formula::Ungathered;
use crate::found::{Found, texts};
use crate::walk::Walk;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::derive::{keys, text};
use countersign_govern::member::Member;
use countersign_govern::reference::Reference;
use countersign_govern::types::wire::Wire;
use countersign_govern::world::Record;
use countersign_kernel::claim::outline;
use countersign_record::canonical;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};

/// Quotes of a section where the task says nothing, and at most.
const QUOTES_DEFAULT: u64 = 3;
const QUOTES_MAX: u64 = 20;
/// More quotes that each attempt on a section takes.
const QUOTES_STEP: u64 = 2;
/// The command by which a person leaves something out.
const SKIP: &str = "task.skip";

fn hash(value: &Json) -> String {
    canonical::hash(value).map(String::from).unwrap_or_default()
}

/// The hash of a version's bytes, as its row has it.
pub(super) fn content<'c>(version: Record<'c>) -> &'c str {
    version.json().text("content_hash").unwrap_or_default()
}

/// A lock is on what the step builds on.
pub(crate) fn lock<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let case = walk.case;
    let id = record.json().text("step_id").unwrap_or_default();
    let plan = Plan::of_step(case, id);
    let Some((plan, step)) = plan.and_then(|plan| plan.step(id).map(|step| (plan, step))) else {
        return walk.underivable(CHECK, record, "no plan has this step", found);
    };
    let base = plan.base(case, record.seq());
    found.must(CHECK, record, "expected_base_version_id", base.map(|one| one.id().into()));
    found.must(CHECK, record, "expected_pre_hash", base.map(|one| content(one).into()));
    found.must_say(CHECK, record, "target_section_anchor_hash", &hash(&target(step).into()));
}

/// The hash that the lock of a step found, before a place.
fn locked<'c>(case: &'c Case<'_>, step: &str, place: u64) -> Option<&'c str> {
    let locks = case.until("InPlaceMutationLock", place).filter(|one| one.json().is("step_id", step));
    locks.last().and_then(|one| one.json().text("expected_pre_hash"))
}

/// The receipts of a step before a place.
fn receipts<'c>(case: &'c Case<'_>, step: &str, place: u64) -> Vec<Record<'c>> {
    let own = case.until("RevisionOperationReceipt", place);
    own.filter(|one| one.json().is("step_id", step)).collect()
}

/// What was done with a plan or a step of it.
pub(crate) fn operated<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, json, place) = (walk.case, record.json(), record.seq());
    let Some(plan) = json.text("plan_id").and_then(|id| Plan::find(case, id)) else {
        return walk.underivable(CHECK, record, "there is no such plan", found);
    };
    kind(walk, &plan, record, found);
    let id = json.text("step_id").unwrap_or_default();
    let kind = json.text("operation_kind").unwrap_or_default();
    let Some(step) = plan.step(id) else {
        return found.about(Code::VerifyDerivation, CHECK, record, "step_id", "the plan has no such step");
    };
    let is_of_step = matches!(kind, "step_started" | "step_finished" | "step_failed" | "step_skipped");
    if !is_of_step {
        let first = plan.steps().first().and_then(|one| one.text("step_id"));
        found.must(CHECK, record, "step_id", first.map(Json::from));
    }
    let made = plan.products(case, place).pop();
    let made = made.filter(|one| kind == "step_finished" && one.json().is("produced_by_step_id", id));
    let pre = match kind {
        "step_started" => plan.base(case, place).filter(|_| is_mutating(step)).map(content),
        "step_finished" | "step_failed" => locked(case, id, place),
        _other => None,
    };
    found.must(CHECK, record, "expected_pre_hash", pre.map(Json::from));
    found.must(CHECK, record, "produced_post_hash", made.map(|one| content(one).into()));
    found.must(CHECK, record, "artifact_stable_id", made.map(|_| case.own(plan.artifact.id()).into()));
    let key = (kind == "step_started").then(|| Json::from(key(case, &plan, step, record)));
    match key {
        Some(key) => {
            for (name, value) in key.as_object().into_iter().flat_map(Object::iter) {
                let value = (*value != Json::Null).then(|| value.clone());
                found.must(CHECK, record, &format!("idempotency_key.{name}"), value);
            }
        }
        None => found.must(CHECK, record, "idempotency_key", None),
    }
}

/// What can be done with a plan where it stands.
fn kind(walk: &Walk<'_, '_>, plan: &Plan<'_>, record: Record<'_>, found: &mut Found) {
    let state = plan.state(walk).unwrap_or("plan_compiled").to_string();
    let step = record.json().text("step_id").and_then(|id| plan.step(id));
    let is_running = step.is_some_and(|step| {
        let own = receipts(walk.case, step.text("step_id").unwrap_or_default(), record.seq());
        own.iter()
            .rev()
            .find_map(|one| match one.json().text("operation_kind")? {
                "step_started" => Some(true),
                "step_finished" | "step_failed" | "step_skipped" => Some(false),
                _other => None,
            })
            .unwrap_or(false)
    });
    let candidates: &[&str] = match (state.as_str(), is_running) {
        ("plan_compiled", _) if is_flawed(walk, plan, record) => &["plan_rejected"],
        ("plan_compiled", _) => &["plan_admitted"],
        ("dispatch_pending", _) => &["dispatched"],
        ("revalidating", _) => &["revalidation_done"],
        ("step_running", true) if is_asked_again(walk.case, record) => &["step_started"],
        ("step_running", true) => &["step_finished", "step_failed"],
        ("step_running" | "terminal_failed" | "terminal_blocked" | "cancelled", false) => {
            &["step_started", "step_skipped"]
        }
        _between => &["step_started", "step_skipped", "hard_call_raised"],
    };
    let stated = record.json().text("operation_kind").unwrap_or_default();
    let call = walk.case.last("HardRevisionCall", record.seq());
    // A question makes what was shown before old; that is said between the two.
    let is_asked = call.is_some_and(|one| {
        let mut between =
            walk.case.world.all().filter(|two| (one.seq() + 1..record.seq()).contains(&two.seq()));
        between.all(|two| two.kind() == "DerivedReadModelRecord")
    });
    let has_made = plan.products(walk.case, record.seq()).last().is_some_and(|one| {
        one.json().text("produced_by_step_id") == step.and_then(|step| step.text("step_id"))
    });
    let is_right = match stated {
        "hard_call_raised" => is_asked,
        "step_started" => !is_asked,
        "step_finished" => has_made || !step.is_some_and(is_mutating),
        "step_failed" => !has_made,
        "step_skipped" => is_skipped(walk, record),
        _other => true,
    };
    let is_right = is_right && candidates.contains(&stated);
    match is_right {
        true => found.right(CHECK),
        false => {
            let message = format!("that can't be done with a plan that is {}", state.replace('_', " "));
            found.about(Code::VerifyDerivation, CHECK, record, "operation_kind", message);
        }
    }
}

/// Whether a step that runs gave what was there before, and is to be asked again in another way.
fn is_asked_again(case: &Case<'_>, record: Record<'_>) -> bool {
    let step = record.json().text("step_id").unwrap_or_default();
    let last = tries(case, step, record.seq()).pop();
    last.is_some_and(|one| one.json().is("action_taken", "changed_generation_policy"))
}

/// What came of the attempt at a step that runs, before a place.
fn tries<'c>(case: &'c Case<'_>, step: &str, place: u64) -> Vec<Record<'c>> {
    let begun = receipts(case, step, place);
    let begun = begun.iter().rfind(|one| one.json().is("operation_kind", "step_started"));
    let begun = begun.map_or(0, |one| one.seq());
    let own = case.until("RegenerateAttemptReceipt", place);
    own.filter(|one| one.seq() > begun && one.json().is("step_id", step)).collect()
}

/// How a step ends for which nothing came that can be taken.
pub(super) const NOTHING_NEW: [&str; 3] =
    ["identical_output_rejected", "not_attempted_missing_evidence", "capability_failed"];

/// What a plan was worth that changed nothing: by the step on which it was given up, if it was one. Nothing where what that leaves is
/// the same either way.
pub(super) fn nowhere(walk: &Walk<'_, '_>, plan: &Plan<'_>, place: u64) -> Option<&'static str> {
    let case = walk.case;
    let all = case.until("RevisionOperationReceipt", place);
    let all = all.filter(|one| one.json().is("plan_id", plan.record.id()));
    let last = all.filter(|one| !one.json().is("operation_kind", "step_skipped")).last();
    let failed = last.filter(|one| one.json().is("operation_kind", "step_failed"));
    let Some(failed) = failed.filter(|_| plan.state(walk) == Some("terminal_failed")) else {
        return Some("failed");
    };
    let id = failed.json().text("step_id").unwrap_or_default();
    let is_section = plan.step(id).is_some_and(|step| Section::of(case, plan, step).is_some());
    match (tries(case, id, place).len(), is_section) {
        (0, true) => Some("capability_failed"),
        (1, true) => Some("not_attempted_missing_evidence"),
        (_, true) => Some("identical_output_rejected"),
        (_, false) => None,
    }
}

/// What is left out is the step whose receipt comes right behind, or an outcome that a person wants left out.
pub(crate) fn skipped<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let case = walk.case;
    let mut operations = case.world.of("RevisionOperationReceipt");
    let own = operations
        .find(|one| one.seq() == record.seq() + 1 && one.json().is("operation_kind", "step_skipped"));
    found.must_say(CHECK, record, "downstream_effect", "none");
    let Some(own) = own else { return skipped_by_command(walk, record, found) };
    let step = own.json().text("step_id").unwrap_or_default();
    found.must_say(CHECK, record, "target_ref", &format!("revision_plan_step_base:{step}"));
    let by = record.json().text("skipped_by_ref").unwrap_or_default();
    if by.starts_with("user:") {
        return skipped_by_command(walk, record, found);
    }
    let plan = own.json().text("plan_id").and_then(|id| Plan::find(case, id));
    let state = plan.and_then(|plan| plan.state(walk).map(ToString::to_string));
    let last = receipts(case, step, record.seq()).pop();
    let has_failed = last.is_some_and(|one| one.json().is("operation_kind", "step_failed"));
    // What a person turned down the dispatcher ends, and what is of no use any more; what gave nothing, who drafts.
    let (reason, by) = match (state.as_deref(), has_failed) {
        (Some("terminal_blocked" | "cancelled"), _) => ("dependency_unavailable", "engine:dispatcher"),
        (Some("terminal_failed"), _) | (_, true) => ("dependency_unavailable", "module:drafter"),
        (Some(_) | None, false) => ("not_applicable", "engine:dispatcher"),
    };
    found.must_say(CHECK, record, "reason", reason);
    found.must_say(CHECK, record, "skipped_by_ref", by);
}

/// A person leaves out what they said, for the reason that they gave.
fn skipped_by_command(walk: &Walk<'_, '_>, record: Record<'_>, found: &mut Found) {
    let asked = command::open(walk.case, record.seq()).filter(|one| one.json().is("command_id", SKIP));
    let Some(asked) = asked else {
        let message = "nobody gave the command for that";
        return found.about(Code::VerifyDerivation, CHECK, record, "target_ref", message);
    };
    found.must(CHECK, record, "skipped_by_ref", asked.json().at("actor_ref").cloned());
    let Some(request) = command::request(walk.case, asked) else { return found.withheld(CHECK) };
    found.must(CHECK, record, "reason", request.at("reason").cloned());
    let target = request.reference("target_ref").map(|target| match target.kind {
        "outcome_record" => format!("outcome_record:{}", walk.case.own(walk.case.local(target.id))),
        kind => format!("{kind}:{}", target.id),
    });
    found.must(CHECK, record, "target_ref", target.map(Json::from));
}

/// A look at a plan is at one that there is, and comes to something; what it found only whoever looked tells.
pub(crate) fn verified<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let id = record.json().text("plan_id").unwrap_or_default();
    let is_there = walk.case.before("RevisionPlan", id, record.seq()).is_some();
    found.holds(CHECK, record, "plan_id", is_there, "there is no such plan");
    let is_decided = record.json().flag("passed").is_some();
    found.holds(CHECK, record, "passed", is_decided, "it came to nothing");
}

/// Whether a look at a plan before it was begun found something wrong with it.
fn is_flawed(walk: &Walk<'_, '_>, plan: &Plan<'_>, record: Record<'_>) -> bool {
    let looks = walk.case.until("PlanVerifierResult", record.seq());
    let own = looks.filter(|one| one.json().is("plan_id", plan.record.id())).last();
    own.is_some_and(|one| one.json().flag("passed") == Some(false))
}

/// Whether a receipt says that a step is left out.
fn is_skipped(walk: &Walk<'_, '_>, record: Record<'_>) -> bool {
    let step = record.json().text("step_id").unwrap_or_default();
    let near = |one: &Record<'_>| one.seq().abs_diff(record.seq()) <= 2;
    let mut skips = walk.case.world.of("TaskSkipReceipt").filter(near);
    skips.any(|one| one.json().text("target_ref").map(bare) == Some(step))
}

/// The key of an attempt: what it works on, what it is given, which attempt it repeats.
fn key(case: &Case<'_>, plan: &Plan<'_>, step: &Json, record: Record<'_>) -> Object {
    let place = record.seq();
    let id = step.text("step_id").unwrap_or_default();
    let base = plan.base(case, place);
    let quotes = Section::of(case, plan, step).and_then(|one| one.quotes(case, place));
    let payload = Object::from([
        ("base", base.map_or(Json::Null, |one| content(one).into())),
        ("target", target(step).into()),
        ("quotes", quotes.and_then(|count| count.write()).unwrap_or(Json::Null)),
    ]);
    let own = receipts(case, id, place);
    let before = own.iter().rev().find_map(|one| one.json().at("idempotency_key"));
    let has_failed = own.last().is_some_and(|one| one.json().is("operation_kind", "step_failed"));
    let class = match (before, has_failed) {
        (None, _) => "first",
        (Some(_), true) => "retry",
        (Some(_), false) => "regenerate",
    };
    Object::from([
        ("run_id", Json::from(case.run.as_str())),
        ("plan_id", plan.record.id().into()),
        ("step_id", id.into()),
        ("step_kind", step.at("step_kind").cloned().unwrap_or(Json::Null)),
        ("target_ref_hash", hash(&target(step).into()).into()),
        ("input_payload_hash", hash(&payload.into()).into()),
        ("attempt_class", class.into()),
        ("previous_attempt_hash", before.map_or(Json::Null, |key| String::from(keys::step(key)).into())),
        ("schema_version", "1.0".into()),
    ])
}

/// A section that a step drafts anew.
struct Section<'c> {
    heading: &'c str,
    /// What it is called, whatever it takes.
    target: String,
    first: u64,
    is_more: bool,
}

impl<'c> Section<'c> {
    fn of(case: &'c Case<'_>, plan: &Plan<'c>, step: &Json) -> Option<Self> {
        let named = Reference::read(target(step)).filter(|_| step.is("step_kind", "regenerate_section"))?;
        let (_, id) = named.id.rsplit_once('/')?;
        let section = plan.artifact.0.list("sections").iter().find(|one| one.is("id", id))?;
        let first = section.count("quotes").unwrap_or(QUOTES_DEFAULT).clamp(1, QUOTES_MAX);
        let asked: u64 = named.version?.into();
        let target = format!("section:{}/{id}", case.own(plan.artifact.id()));
        Some(Section { heading: section.text("heading")?, target, first, is_more: asked >= first })
    }

    /// The hashes of what attempts gave before a place: what was taken and what was not.
    fn outputs(&self, case: &'c Case<'_>, place: u64) -> Vec<&'c str> {
        let own = case.until("RegenerateAttemptReceipt", place);
        let own = own.filter(|one| one.json().is("target_ref", &self.target));
        own.filter(|one| {
            one.json().is_one_of("action_taken", &["accepted_new_output", "rejected_identical_output"])
        })
        .filter_map(|one| one.json().text("output_hash"))
        .collect()
    }

    /// How many quotes it takes now; nothing if nothing is left to vary.
    fn quotes(&self, case: &'c Case<'_>, place: u64) -> Option<u64> {
        let given = self.outputs(case, place).len() as u64;
        let at = |given: u64| (self.first + given * QUOTES_STEP).min(QUOTES_MAX);
        match self.is_more {
            true => Some(at(given + 1)).filter(|next| *next > at(given)),
            false => self.first.checked_sub(given + 1).filter(|next| *next > 0),
        }
    }

    /// By what it is known again in a text.
    fn known_by(&self, text: &str) -> String {
        text::hash(outline(text).body(self.heading).unwrap_or_default()).to_string()
    }

    /// All that must not come back: what stands there, and what came before.
    fn known(
        &self,
        case: &'c Case<'_>,
        base: Record<'_>,
        place: u64,
    ) -> Result<BTreeSet<String>, Ungathered> {
        let named = case.until("RegenerateRevisionPayload", place);
        let named = named.filter(|one| one.json().is("target_ref", &self.target));
        let before = named.flat_map(|one| one.json().texts("previous_attempt_hashes"));
        let mut known: BTreeSet<String> = before.map(ToString::to_string).collect();
        known.extend(self.outputs(case, place).into_iter().map(ToString::to_string));
        match case.content(base).text() {
            Text::Here(text) => known.insert(self.known_by(text)),
            Text::Withheld => return Err(Ungathered::Withheld),
            Text::Missing => return crate::formula::missing("the text of the version is not in the packet"),
        };
        Ok(known)
    }
}

/// The section that a record is about, with its plan and step.
fn section<'c>(walk: &Walk<'c, '_>, record: Record<'c>) -> Option<(Plan<'c>, &'c Json, Section<'c>)> {
    let id = record.json().text("step_id")?;
    let plan = Plan::of_step(walk.case, id)?;
    let step = plan.step(id)?;
    let section = Section::of(walk.case, &plan, step)?;
    Some((plan, step, section))
}

/// What must not come back is all that came before.
pub(crate) fn asked_anew<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let Some((plan, _, section)) = section(walk, record) else {
        return walk.underivable(CHECK, record, "no step drafts this section", found);
    };
    found.must_say(CHECK, record, "target_ref", &section.target);
    found.must_say(CHECK, record, "revision_intent", "regenerate");
    found.must_say(CHECK, record, "required_variation_policy", "change_prompt_strategy");
    let Some(base) = plan.base(walk.case, record.seq()) else {
        return walk.underivable(CHECK, record, "there is no version to begin with", found);
    };
    match section.known(walk.case, base, record.seq()) {
        Ok(known) => {
            let known: Vec<String> = known.into_iter().collect();
            found.must(CHECK, record, "previous_attempt_hashes", Some(texts(&known)));
        }
        Err(Ungathered::Withheld) => found.withheld(CHECK),
        Err(Ungathered::Missing(why)) => walk.underivable(CHECK, record, why, found),
    }
}

/// What came of drafting a section anew: it is taken if it is new.
pub(crate) fn anew<'c>(walk: &mut Walk<'c, '_>, record: Record<'c>, found: &mut Found) {
    let (case, place) = (walk.case, record.seq());
    let Some((plan, step, section)) = section(walk, record) else {
        return walk.underivable(CHECK, record, "no step drafts this section", found);
    };
    found.must_say(CHECK, record, "target_ref", &section.target);
    let id = step.text("step_id").unwrap_or_default();
    let input = receipts(case, id, place).into_iter().rev();
    let input = input.filter_map(|one| one.json().text("idempotency_key.input_payload_hash")).next();
    found.must(CHECK, record, "input_hash", input.map(Json::from));
    let Some(base) = plan.base(case, place) else {
        return walk.underivable(CHECK, record, "there is no version to begin with", found);
    };
    let known = match section.known(case, base, place) {
        Ok(known) => known,
        Err(Ungathered::Withheld) => return found.withheld(CHECK),
        Err(Ungathered::Missing(why)) => return walk.underivable(CHECK, record, why, found),
    };
    let output = record.json().text("output_hash").unwrap_or_default();
    // What was taken is the version that comes right behind.
    let mut versions = case.world.of("ArtifactVersion");
    let made = versions.find(|one| one.seq() == place + 1 && one.json().is("produced_by_step_id", id));
    let is_old = match made {
        Some(made) => match case.content(made).text() {
            Text::Here(text) => {
                found.must_say(CHECK, record, "output_hash", &section.known_by(text));
                known.contains(&section.known_by(text))
            }
            Text::Withheld | Text::Missing => return found.withheld(CHECK),
        },
        None if known.contains(output) => true,
        None => {
            let message = "it is new, and was not taken";
            return found.about(Code::VerifyDerivation, CHECK, record, "output_hash", message);
        }
    };
    found.must(CHECK, record, "matched_previous_attempt", Some(is_old.into()));
    let action = if is_old { went_on(case, &section, record, id) } else { "accepted_new_output" };
    found.must_say(CHECK, record, "action_taken", action);
}

/// What is done where a section comes back as it was: it is turned down, and then asked for in another way as long as there is one.
/// Where nothing came at all there is nothing to turn down.
fn went_on(case: &Case<'_>, section: &Section<'_>, record: Record<'_>, step: &str) -> &'static str {
    let place = record.seq();
    let mut after = case.world.of("RegenerateAttemptReceipt");
    let is_turned_down = after.any(|one| one.seq() == place + 1 && one.json().is("step_id", step));
    match (tries(case, step, place).is_empty(), is_turned_down, section.quotes(case, place)) {
        (true, true, _) => "rejected_identical_output",
        (false, _, Some(_)) => "changed_generation_policy",
        (true, false, _) | (false, _, None) => "escalated",
    }
}

/// The receipts of the steps of a plan that were finished before a place.
pub(super) fn finished(case: &Case<'_>, plan: &Plan<'_>, place: u64) -> Vec<String> {
    let ids = plan.steps().iter().filter_map(|one| one.text("step_id"));
    let all = ids.flat_map(|id| receipts(case, id, place));
    all.filter(|one| one.json().is("operation_kind", "step_finished"))
        .map(|one| format!("revision_operation_receipt:{}", one.id()))
        .collect()
}
