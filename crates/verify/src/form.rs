//! Whether a task is one: its members, of what kind each is, and what a check needs.
//! Owns: the form of a task as a packet carries it. Must not: know what it asks for; who ran it held it to all rules between members.

use crate::case::Case;
use crate::found::Found;
use crate::report::{Check, Place};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_govern::task::{JUDGE_MODEL, JUDGE_NONE, QUOTES_MAX, Source, Task, Test, TestKind, micros};
use countersign_govern::types::cost::CostDimension;
use countersign_govern::types::wire::{Reading, Wire};
use countersign_kernel::measure::Pattern;
use countersign_record::code::Code;
use countersign_record::json::Json;

const CHECK: Check = Check::Task;

/// The task has the form of one.
pub(crate) fn check(case: &Case<'_>, found: &mut Found) {
    let mut reading = Reading::default();
    let read = Task::read(case.task.0, &mut reading);
    let mut all: Vec<(String, String)> =
        reading.troubles().into_iter().map(|one| (one.path, one.message)).collect();
    if let Some(form) = &read {
        let is_foreign = |one: &Source| one.matter.as_deref().is_some_and(|own| own != case.matter.as_str());
        let foreign = form.sources.iter().enumerate().filter(|(_, one)| is_foreign(one));
        all.extend(foreign.map(|(at, _)| {
            (
                format!("/sources/{at}/matter"),
                format!("is another matter than {}, whose run it is", case.matter),
            )
        }));
        all.extend(said(form));
        for (at, artifact) in form.artifacts.iter().enumerate() {
            let sections = artifact.sections.iter().flatten().enumerate();
            let wrong =
                sections.filter(|(_, one)| one.quotes.is_some_and(|most| !(1..=QUOTES_MAX).contains(&most)));
            all.extend(wrong.map(|(section, _)| {
                let path = format!("/artifacts/{at}/sections/{section}/quotes");
                (path, format!("must be 1 to {QUOTES_MAX}"))
            }));
        }
        for (at, outcome) in form.outcomes.iter().enumerate() {
            for (criterion, test) in
                outcome.criteria.iter().enumerate().filter_map(|(at, one)| Some((at, one.check.as_ref()?)))
            {
                let place = format!("/outcomes/{at}/criteria/{criterion}/check");
                all.extend(lacking(test).into_iter().map(|why| (place.clone(), why)));
            }
        }
    }
    if all.is_empty() {
        return found.right(CHECK);
    }
    for (path, why) in all {
        let place = Place { path: Some(format!("/predicate/task{path}")), ..Place::default() };
        found.wrong(Code::VerifyStatement, CHECK, place, why);
    }
}

/// Where a task says who works.
const WORK: &str = "/work";

/// What is held back before it is spent, so that there can be a cap of it.
const HELD: [CostDimension; 4] = [
    CostDimension::Usd,
    CostDimension::InputTokens,
    CostDimension::OutputTokens,
    CostDimension::ExternalApiCalls,
];

/// Amounts and words of a task that say nothing.
fn said(form: &Task) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    for (dimension, amount) in form.budget.iter().flatten() {
        if micros(amount).is_none() || !HELD.contains(dimension) {
            let why = "must be an amount that is not negative, of something that is held back".to_string();
            all.push((format!("/budget/{}", dimension.as_str()), why));
        }
    }
    let judge = form.work.as_ref().and_then(|work| work.judge.as_deref());
    if judge.is_some_and(|judge| judge != JUDGE_NONE && judge != JUDGE_MODEL) {
        all.push((format!("{WORK}/judge"), format!("must be {JUDGE_NONE} or {JUDGE_MODEL}")));
    }
    for (name, limit) in form.limits.iter().flat_map(|limits| {
        [
            ("max_iterations", limits.max_iterations),
            ("max_agent_hops", limits.max_agent_hops),
            ("max_llm_calls", limits.max_llm_calls),
        ]
    }) {
        if limit == Some(0) {
            all.push((format!("/limits/{name}"), "must be 1 or more".to_string()));
        }
    }
    for (name, text) in [("title", &form.title), ("goal", &form.goal)] {
        if text.trim().is_empty() {
            all.push((format!("/{name}"), "must say something".to_string()));
        }
    }
    all
}

/// What a check must have and has not: all of some members, or one of others.
fn lacking(test: &Test) -> Option<String> {
    let (needs, one_of): (&[&str], &[&str]) = match test.kind {
        TestKind::Section => (&["heading"], &[]),
        TestKind::Sections => (&["headings"], &[]),
        TestKind::Length => (&[], &["words_min", "words_max"]),
        TestKind::Matches => (&["pattern"], &[]),
        TestKind::Mentions => (&[], &["any", "all"]),
        TestKind::Citations => (&[], &["min", "sources_min"]),
        TestKind::JsonSchema => (&["schema"], &[]),
        TestKind::Command => (&["argv"], &[]),
    };
    let written = test.write().unwrap_or(Json::Null);
    let has = |name: &&&str| written.at(name).is_some();
    let lacks = needs.iter().find(|name| !has(name));
    let kind = test.kind.as_str();
    if let Some(name) = lacks {
        return Some(format!("a check of the kind {kind} needs {name}"));
    }
    if !one_of.is_empty() && !one_of.iter().any(|name| has(&name)) {
        return Some(format!("a check of the kind {kind} needs one of {}", one_of.join(", ")));
    }
    let pattern = test.pattern.as_deref().map(Pattern::try_from);
    pattern.and_then(Result::err).map(|why| why.to_string())
}
