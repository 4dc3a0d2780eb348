//! What a task asks for: goal, sources, outcomes with criteria, permissions, a budget.
//! Owns: the members of `task.toml` and their defaults. Must not: say what does not fit together; do any of it.

mod artifact;
mod outcome;
mod policy;
mod source;

pub use artifact::{Artifact, ArtifactKind, QUOTES_MAX, Section};
pub use outcome::{Criterion, Level, Outcome, Test, TestKind, decimal};
pub use policy::{
    Approval, Approvals, ChainPolicy, ClaimPolicy, Externalizations, ForumPolicy, Leave, LibraryPolicy,
    Policies, QuestionPolicy, RevisionApproval, SufficiencyPolicy, Unanswered,
};
pub use source::Source;

use crate::record;
use crate::types::basic::V10;
use crate::types::cost::CostDimension;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::json::{Json, Number};

record! {
    /// A task, as its file says it.
    Task: value {
        schema_version: V10,
        id: String,
        title: String,
        goal: String,
        audience: Option<String>,
        purpose: Option<String>,
        scope: Option<String>,
        work: Option<Work>,
        artifacts: Vec<Artifact>,
        sources: Vec<Source>,
        outcomes: Vec<Outcome>,
        policies: Option<Policies>,
        // Hard caps, by dimension; numbers, or texts of numbers for money.
        budget: Option<BTreeMap<CostDimension, Json>>,
        limits: Option<Limits>,
        // What its run may do besides reading its own files.
        capabilities: Option<Vec<String>>,
    }
}

record! {
    /// Who works.
    Work: value {
        pipeline: Option<String>,
        model: Option<String>,
        replies: Option<String>,
        judge: Option<String>,
    }
}

record! {
    /// How far a run may go.
    Limits: value {
        max_iterations: Option<u64>,
        max_llm_calls: Option<u64>,
        max_agent_hops: Option<u64>,
    }
}

/// The model that is asked where nothing is said.
pub const EMBEDDED: &str = "extractive";
/// The pipeline of tasks.
pub const PIPELINE: &str = "task";

impl Task {
    /// Who answers.
    #[must_use]
    pub fn model(&self) -> &str {
        self.work.as_ref().and_then(|work| work.model.as_deref()).unwrap_or(EMBEDDED)
    }

    /// The recorded replies that are played instead of asking anybody.
    #[must_use]
    pub fn replies(&self) -> Option<&str> {
        self.work.as_ref().and_then(|work| work.replies.as_deref())
    }

    /// The pipeline.
    #[must_use]
    pub fn pipeline(&self) -> &str {
        self.work.as_ref().and_then(|work| work.pipeline.as_deref()).unwrap_or(PIPELINE)
    }

    /// Whether the model also judges by rubrics.
    #[must_use]
    pub fn has_judge(&self) -> bool {
        self.work.as_ref().and_then(|work| work.judge.as_deref()) == Some(JUDGE_MODEL)
    }

    /// The policies, with their defaults.
    #[must_use]
    pub fn policies(&self) -> Policies {
        self.policies.clone().unwrap_or(Policies::USUAL)
    }

    /// The artifact of an id.
    #[must_use]
    pub fn artifact(&self, id: &str) -> Option<&Artifact> {
        self.artifacts.iter().find(|one| one.id == id)
    }

    /// The artifact that an outcome is about.
    #[must_use]
    pub fn artifact_of(&self, outcome: &Outcome) -> Option<&Artifact> {
        match &outcome.artifact {
            Some(id) => self.artifact(id),
            None => self.artifacts.first(),
        }
    }

    /// The headings that a work product may have by what is asked: those that its sections, criteria and titles have.
    pub fn headings<'t>(&'t self, artifact: &'t Artifact) -> impl Iterator<Item = &'t str> {
        let sections = artifact.sections().iter().map(|one| one.heading.as_str());
        let titles = artifact.title.as_deref().into_iter().chain([self.title.as_str()]);
        let asked = self.outcomes.iter().filter_map(|one| one.section.as_deref());
        let tests = self.outcomes.iter().flat_map(|one| &one.criteria).filter_map(|one| one.check.as_ref());
        let tested = tests.flat_map(|test| test.heading.iter().chain(test.headings.iter().flatten()));
        sections.chain(titles).chain(asked).chain(tested.map(String::as_str))
    }

    /// The outcome of an id.
    #[must_use]
    pub fn outcome(&self, id: &str) -> Option<&Outcome> {
        self.outcomes.iter().find(|one| one.id == id)
    }

    /// The source of an id.
    #[must_use]
    pub fn source(&self, id: &str) -> Option<&Source> {
        self.sources.iter().find(|one| one.id == id)
    }

    /// The commands that criteria are checked by, with their criteria.
    pub fn commands(&self) -> impl Iterator<Item = (&Criterion, &[String])> {
        self.outcomes.iter().flat_map(|one| &one.criteria).filter_map(|one| Some((one, one.command()?)))
    }

    /// The most that may be spent of a dimension, in millionths.
    #[must_use]
    pub fn cap(&self, dimension: CostDimension) -> Option<u64> {
        self.budget.as_ref().and_then(|budget| budget.get(&dimension)).and_then(micros)
    }
}

/// Different questions that a run asks its sources, at most.
pub const QUESTIONS_MAX: usize = 200;
/// The capability that a command needs.
pub const SHELL: &str = "shell";
/// Who judges where the model does.
pub const JUDGE_MODEL: &str = "model";
/// Who judges where nobody does.
pub const JUDGE_NONE: &str = "none";

/// An amount in millionths: a number, or the text of one; `None` if it is neither, negative, or finer than that.
#[must_use]
pub fn micros(amount: &Json) -> Option<u64> {
    let literal = match amount {
        Json::Number(number) => number.literal(),
        Json::String(text) => text.clone(),
        Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_) => return None,
    };
    let (whole, rest) = literal.split_once('.').unwrap_or((&literal, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(rest) || rest.len() > MICRO_DIGITS {
        return None;
    }
    let mut fraction = String::from(rest);
    while fraction.len() < MICRO_DIGITS {
        fraction.push('0');
    }
    whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(fraction.parse().ok()?)
}

const MICRO_DIGITS: usize = 6;

/// A number as a share from 0 to 1, in millionths; `None` if it is none.
#[must_use]
pub fn share(number: &Number) -> Option<u64> {
    micros(&Json::Number(number.clone())).filter(|micros| *micros <= 1_000_000)
}
