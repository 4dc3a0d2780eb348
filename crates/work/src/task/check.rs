//! What does not fit together in a task.
//! Owns: every rule between members. Must not: read a file.

mod criterion;
pub(super) mod empty;

use super::{
    Artifact, ArtifactKind, JUDGE_MODEL, JUDGE_NONE, Outcome, QUESTIONS_MAX, QUOTES_MAX, SHELL, Source, Task,
    granted, micros, share,
};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::derive::graph::Graph;
use countersign_govern::types::cost::CostDimension;
use countersign_govern::types::wire::{How, Trouble};
use countersign_kernel::gate::Capability;
use countersign_record::id::MatterId;
use countersign_record::json::Json;

/// Characters of an id.
const ID_CHARS_MAX: usize = 64;
/// Bytes of a part of a path: the names of versions and of unfinished files are longer, and no file system takes more than 255.
const PART_BYTES_MAX: usize = 200;
/// Bytes of a path.
const PATH_BYTES_MAX: usize = 1_000;
/// Artifacts, sources, outcomes or criteria of one kind, at most.
const MANY_MAX: usize = 200;
/// Rounds of a deliberation, at most.
const TICKS_MAX: u64 = 20;
/// Hours that a question may stand, at most: a year.
const TIMEOUT_HOURS_MAX: u64 = 365 * 24;
/// The best documented tier of a source that is a record.
const TIER_MAX: u64 = 3;
/// Criteria that commands look at, at most: each takes its time.
const COMMANDS_MAX: usize = 50;
/// What is held back for a question before it is asked.
const HELD: [CostDimension; 4] = [
    CostDimension::Usd,
    CostDimension::InputTokens,
    CostDimension::OutputTokens,
    CostDimension::ExternalApiCalls,
];
/// Where the versions of the work are put, beside the work.
const VERSIONS: &str = "versions";

/// Everything that does not fit together, in the order of the file.
pub(super) fn troubles(task: &Task) -> Vec<Trouble> {
    let mut found = Found(Vec::new());
    found.id("/id", &task.id);
    found.filled("/title", &task.title);
    found.filled("/goal", &task.goal);
    work(task, &mut found);
    capabilities(task, &mut found);
    named(&mut found, "artifacts", task.artifacts.iter().map(|one| one.id.as_str()), Least::One);
    for (at, one) in task.artifacts.iter().enumerate() {
        artifact(one, &format!("/artifacts/{at}"), &mut found);
    }
    found.apart("artifacts", "path", task.artifacts.iter().map(|one| one.path.as_str()));
    let asks: BTreeSet<&str> =
        task.artifacts.iter().flat_map(|one| one.sections()).map(|section| section.ask.as_str()).collect();
    if asks.len() > QUESTIONS_MAX {
        found.add(
            "/artifacts",
            format!("at most {QUESTIONS_MAX} different questions are asked: make two tasks"),
        );
    }
    named(&mut found, "sources", task.sources.iter().map(|one| one.id.as_str()), Least::None);
    for (at, one) in task.sources.iter().enumerate() {
        source(one, &format!("/sources/{at}"), &mut found);
    }
    found.apart("sources", "path", task.sources.iter().map(|one| one.path.as_str()));
    if !task.sources.is_empty() && task.sources.iter().all(|one| one.tier() == 0) {
        let message = "every source is only looked up (tier 0), so nothing could be claimed from any: give one tier 1 or more";
        found.add("/sources/0/tier", message);
    }
    named(&mut found, "outcomes", task.outcomes.iter().map(|one| one.id.as_str()), Least::One);
    let criteria = task.outcomes.iter().flat_map(|one| &one.criteria).map(|one| one.id.as_str());
    let mut seen = BTreeSet::new();
    let twice: BTreeSet<&str> = criteria.filter(|id| !seen.insert(*id)).collect();
    for (at, one) in task.outcomes.iter().enumerate() {
        outcome(task, one, &format!("/outcomes/{at}"), &twice, &mut found);
    }
    cycles(task, &mut found);
    budget(task, &mut found);
    limits(task, &mut found);
    policies(task, &mut found);
    found.0
}

/// Caps are amounts, of something that is held back before it is spent.
fn budget(task: &Task, found: &mut Found) {
    for (dimension, amount) in task.budget.iter().flatten() {
        if micros(amount).is_none() {
            let message = match dimension {
                CostDimension::Usd => {
                    "must be an amount that is not negative, with at most six decimals, as a text"
                }
                _counted => "must be a whole number that is not negative",
            };
            found.add(&format!("/budget/{}", dimension.as_str()), message);
        } else if !HELD.contains(dimension) {
            let held: Vec<&str> = HELD.iter().map(|one| one.as_str()).collect();
            let message =
                format!("nothing is held back for it, so it would be no cap; there are {}", held.join(", "));
            found.add(&format!("/budget/{}", dimension.as_str()), message);
        }
    }
}

struct Found(Vec<Trouble>);

impl Found {
    fn add(&mut self, path: &str, message: impl Into<String>) {
        self.0.push(Trouble { how: How::Type, path: path.to_string(), message: message.into() });
    }

    fn id(&mut self, path: &str, id: &str) {
        let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if id.is_empty() || id.len() > ID_CHARS_MAX || !id.bytes().all(is_letter) {
            self.add(path, "must be 1 to 64 small letters, digits or hyphens");
        }
    }

    fn filled(&mut self, path: &str, text: &str) {
        if text.trim().is_empty() {
            self.add(path, "must say something");
        }
    }

    /// A path within the task's folder.
    fn path(&mut self, place: &str, path: &str) {
        let parts = || path.split('/');
        let is_bad =
            |part: &str| part.is_empty() || part == "." || part == ".." || part.contains(char::is_control);
        if path.contains('\\') || parts().any(is_bad) {
            self.add(place, "must be a path within the task's folder, such as sources/lease.md");
        }
        if path.len() > PATH_BYTES_MAX || parts().any(|part| part.len() > PART_BYTES_MAX) {
            let message = format!(
                "must be shorter: at most {PATH_BYTES_MAX} bytes, and {PART_BYTES_MAX} for a file or a folder"
            );
            self.add(place, message);
        }
    }

    fn apart<'a>(&mut self, list: &str, member: &str, all: impl Iterator<Item = &'a str>) {
        let mut seen = BTreeSet::new();
        for (at, one) in all.enumerate() {
            if !seen.insert(one) {
                self.add(&format!("/{list}/{at}/{member}"), "another one has the same");
            }
        }
    }
}

enum Least {
    None,
    One,
}

fn named<'a>(found: &mut Found, list: &str, ids: impl Iterator<Item = &'a str>, least: Least) {
    let ids: Vec<&str> = ids.collect();
    match least {
        Least::One if ids.is_empty() => found.add(&format!("/{list}"), "at least one is needed"),
        Least::None | Least::One => {}
    }
    if ids.len() > MANY_MAX {
        found.add(&format!("/{list}"), format!("at most {MANY_MAX} are taken"));
    }
    for (at, id) in ids.iter().enumerate() {
        found.id(&format!("/{list}/{at}/id"), id);
    }
    found.apart(list, "id", ids.into_iter());
}

/// Where a task says who works.
const WORK: &str = "/work";

fn work(task: &Task, found: &mut Found) {
    let Some(work) = &task.work else { return };
    let at = |member: &str| format!("{WORK}/{member}");
    if work.model.is_some() && work.replies.is_some() {
        found.add(&at("replies"), "either a model or recorded replies are taken, not both");
    }
    if let Some(replies) = &work.replies {
        found.path(&at("replies"), replies);
    }
    if let Some(pipeline) = &work.pipeline {
        found.path(&at("pipeline"), pipeline);
    }
    if work.judge.as_deref().is_some_and(|judge| judge != JUDGE_NONE && judge != JUDGE_MODEL) {
        found.add(&at("judge"), "must be none or model");
    }
}

/// A run that may do nothing comes to nothing.
fn limits(task: &Task, found: &mut Found) {
    let Some(limits) = &task.limits else { return };
    let all = [
        ("max_iterations", limits.max_iterations),
        ("max_agent_hops", limits.max_agent_hops),
        ("max_llm_calls", limits.max_llm_calls),
    ];
    for (name, limit) in all {
        if limit == Some(0) {
            found.add(&format!("/limits/{name}"), "must be 1 or more");
        }
    }
}

/// What a run may be granted, and what it must be for what is asked.
fn capabilities(task: &Task, found: &mut Found) {
    let all = task.capabilities.as_deref().unwrap_or_default();
    if all.len() > MANY_MAX {
        found.add("/capabilities", format!("at most {MANY_MAX} are taken"));
    }
    let mut seen = BTreeSet::new();
    for (at, one) in all.iter().enumerate() {
        let place = format!("/capabilities/{at}");
        match Capability::try_from(one.as_str()) {
            Ok(capability) if !seen.insert(capability.clone()) => {
                found.add(&place, "another one is the same")
            }
            Ok(_) => {}
            Err(why) => found.add(&place, why.to_string()),
        }
    }
    if task.commands().count() > COMMANDS_MAX {
        found.add("/outcomes", format!("at most {COMMANDS_MAX} criteria are checked by commands"));
    }
    let is_granted = granted(task).iter().any(|one| one.as_str() == SHELL);
    for (at, outcome) in task.outcomes.iter().enumerate().filter(|_| !is_granted) {
        for (number, _) in outcome.criteria.iter().enumerate().filter(|(_, one)| one.command().is_some()) {
            let place = format!("/outcomes/{at}/criteria/{number}/check/kind");
            let message = format!(
                "a command is run only where the task grants it: add capabilities = [\"{SHELL}\"] before the first table"
            );
            found.add(&place, message);
        }
    }
}

fn artifact(one: &Artifact, place: &str, found: &mut Found) {
    found.path(&format!("{place}/path"), &one.path);
    if one.path == VERSIONS || one.path.strip_prefix(VERSIONS).is_some_and(|rest| rest.starts_with('/')) {
        let message =
            format!("{VERSIONS} is where the versions of all work products are kept: take another name");
        found.add(&format!("{place}/path"), message);
    }
    if let Some(from) = &one.from {
        found.path(&format!("{place}/from"), from);
    }
    let is_code = one.kind == ArtifactKind::Code;
    match (is_code, one.codespec.is_some()) {
        (true, false) => found.add(&format!("{place}/codespec"), "an artifact of code needs a CodeSpec"),
        (false, true) => found.add(&format!("{place}/codespec"), "only an artifact of code has a CodeSpec"),
        (true, true) | (false, false) => {}
    }
    let has_outline = !one.sections().is_empty();
    match (one.kind, one.from.is_some(), has_outline) {
        (ArtifactKind::Markdown, false, false) => {
            found.add(place, "a text needs sections to be drafted, or a text that it begins with (from)");
        }
        (ArtifactKind::Json, false, _) => {
            found.add(place, "a document in JSON needs one that it begins with (from)");
        }
        (ArtifactKind::Json | ArtifactKind::Code, _, true) => {
            found.add(&format!("{place}/sections"), "only a text is drafted by sections");
        }
        (ArtifactKind::Markdown | ArtifactKind::Json | ArtifactKind::Code, ..) => {}
    }
    let list = format!("{}/sections", place.trim_start_matches('/'));
    named(found, &list, one.sections().iter().map(|section| section.id.as_str()), Least::None);
    found.apart(&list, "heading", one.sections().iter().map(|section| section.heading.as_str()));
    for (at, section) in one.sections().iter().enumerate() {
        let place = format!("{place}/sections/{at}");
        found.filled(&format!("{place}/heading"), &section.heading);
        found.filled(&format!("{place}/ask"), &section.ask);
        if section.heading.contains('\n') {
            found.add(&format!("{place}/heading"), "must be one line");
        }
        if section.quotes.is_some_and(|quotes| quotes == 0 || quotes > QUOTES_MAX) {
            found.add(&format!("{place}/quotes"), format!("must be 1 to {QUOTES_MAX}"));
        }
    }
}

fn source(one: &Source, place: &str, found: &mut Found) {
    found.path(&format!("{place}/path"), &one.path);
    if one.path.contains(['[', ']']) {
        found.add(&format!("{place}/path"), "has a bracket, so that no citation of it could be read");
    }
    if one.tier() > TIER_MAX {
        found.add(&format!("{place}/tier"), "must be 0 to 3");
    }
    if let Some(Err(why)) = one.matter.as_deref().map(MatterId::try_from) {
        found.add(&format!("{place}/matter"), why.to_string());
    }
    if one.is_legal() && one.treatment.is_none() {
        found.add(
            &format!("{place}/treatment"),
            "a source of law must say how it was treated later, such as current",
        );
    }
    if let (Some(at), Some(until)) = (&one.at, &one.fresh_until)
        && until.as_str() <= at.as_str()
    {
        found.add(&format!("{place}/fresh_until"), "is before the source was received");
    }
}

/// The sources that are of another matter than the one that a run is of: no matter sees what is another's.
#[must_use]
pub fn foreign(task: &Task, matter: &str) -> Vec<Trouble> {
    let mut found = Found(Vec::new());
    for (at, one) in task.sources.iter().enumerate().filter(|(_, one)| one.is_foreign(matter)) {
        let own = one.matter.as_deref().unwrap_or_default();
        let message = format!(
            "a source of another matter can't be used in a run of {matter}: run it with --matter {own}, or leave the source out"
        );
        found.add(&format!("/sources/{at}/matter"), message);
    }
    found.0
}

fn outcome(task: &Task, one: &Outcome, place: &str, twice: &BTreeSet<&str>, found: &mut Found) {
    found.filled(&format!("{place}/statement"), &one.statement);
    let artifact = task.artifact_of(one);
    if let (Some(id), None) = (&one.artifact, artifact) {
        found.add(&format!("{place}/artifact"), format!("there is no artifact {id}"));
    }
    if one.artifact.is_none() && task.artifacts.len() > 1 {
        found.add(&format!("{place}/artifact"), "the task has several artifacts: say which one");
    }
    if let (Some(id), Some(artifact)) = (&one.section, artifact)
        && artifact.from.is_none()
        && artifact.section(id).is_none()
    {
        found.add(&format!("{place}/section"), format!("the artifact has no section {id}"));
    }
    for (at, other) in one.depends_on().iter().enumerate() {
        if task.outcome(other).is_none() {
            found.add(&format!("{place}/depends_on/{at}"), format!("there is no outcome {other}"));
        }
    }
    if one.threshold.as_ref().is_some_and(|threshold| share(threshold).is_none()) {
        found.add(&format!("{place}/threshold"), "must be from 0 to 1");
    }
    criterion::weighed(one, place, found);
    let list = format!("{}/criteria", place.trim_start_matches('/'));
    named(found, &list, one.criteria.iter().map(|one| one.id.as_str()), Least::One);
    for (at, criterion) in one.criteria.iter().enumerate() {
        let place = format!("{place}/criteria/{at}");
        if twice.contains(criterion.id.as_str()) {
            found.add(&format!("{place}/id"), "another criterion of the task has the same");
        }
        criterion::scored(criterion, &place, found);
        if let Some(artifact) = artifact {
            criterion::headed(artifact, criterion, &format!("{place}/check"), found);
        }
    }
}

/// Outcomes that wait for each other would never be looked at.
fn cycles(task: &Task, found: &mut Found) {
    let nodes = task.outcomes.iter().map(|one| one.id.as_str());
    let edges = task
        .outcomes
        .iter()
        .flat_map(|one| one.depends_on().iter().map(move |other| (one.id.as_str(), other.as_str())));
    let graph = Graph::new(nodes, edges);
    let on_cycle = graph.on_cycle();
    for (at, one) in task.outcomes.iter().enumerate() {
        if on_cycle.contains(one.id.as_str()) {
            found.add(&format!("/outcomes/{at}/depends_on"), "leads back to the outcome itself");
        }
    }
}

fn policies(task: &Task, found: &mut Found) {
    let sufficiency = task.policies().sufficiency();
    if sufficiency.attempts_max() == 0 {
        found.add("/policies/sufficiency/attempts_max", "must be at least 1");
    }
    if sufficiency.window() == 0 {
        found.add("/policies/sufficiency/window", "must be at least 1");
    }
    if micros(&Json::Number(sufficiency.epsilon())).is_none() {
        found.add("/policies/sufficiency/epsilon", "must be a number that is not negative");
    }
    if let Some(forum) = &task.policies().forum {
        if forum.ticks_max() == 0 || forum.ticks_max() > TICKS_MAX {
            found.add("/policies/forum/ticks_max", format!("must be 1 to {TICKS_MAX}"));
        }
        if forum.consensus_pct() == 0 || forum.consensus_pct() > 100 {
            found.add("/policies/forum/consensus_pct", "must be 1 to 100");
        }
    }
    if !(1..=TIMEOUT_HOURS_MAX).contains(&task.policies().questions().timeout_hours()) {
        let message = format!("must be 1 to {TIMEOUT_HOURS_MAX} (a year): leave it out for seven days");
        found.add("/policies/questions/timeout_hours", message);
    }
    let library = task.policies().library();
    if !(2..=TIER_MAX).contains(&library.tier_min()) {
        found.add("/policies/library/tier_min", "must be 2 or 3");
    }
    found.filled("/policies/library/access_tier", library.access_tier());
}
