//! Execution: the plan's searches, and what they found (retrieval, A3, A4).
//! Owns: doing each step, in order, and saying what came of it. Must not: look into a file that is not eligible.

use super::evidence::{Evidence, eligible, goals};
use super::plan::SEARCH;
use super::search;
use super::{Means, failed, unread, whole, written};
use crate::ports::Answer;
use crate::ports::agent::{Agent, Given, Said, Unseen};
use crate::ports::sources::{Eligible, Retrieved};
use countersign_kernel::chunk::Chunk;
use countersign_kernel::condense::{Close, Condensed, OpenIssue};
use countersign_kernel::gather::{Gathered, Limits, gather};
use countersign_record::envelope::{FileRef, Provenance};
use countersign_record::json::Json;
use countersign_record::state::GenericEnvelope;
use countersign_work::task::QUESTIONS_MAX;
use serde::Serialize;
use std::collections::BTreeSet;
use tokio_util::sync::CancellationToken;

/// The most searches of one plan.
const STEPS_MAX: usize = QUESTIONS_MAX;

/// The plan's searches.
pub(super) struct Execution(pub(super) Means);

/// What came of the searches.
#[derive(Default, Serialize)]
pub(super) struct Executed {
    status: &'static str,
    results: Vec<Step>,
    evidence: Vec<Evidence>,
    open_issues: Vec<OpenIssue>,
    /// What comes closest to what no file answers: for a person, and in no prompt.
    closest: Vec<Evidence>,
}

#[derive(Serialize)]
struct Step {
    step_index: usize,
    tool: &'static str,
    result: Found,
    duration_ms: u64,
}

#[derive(Serialize)]
struct Found {
    query: String,
    /// How many pieces of files there were.
    pieces: u64,
    /// What became of those that were found: the word for it, and what was seen.
    decided: Vec<Vec<String>>,
    quotes: usize,
    /// The parts of it that no file says anything about.
    unanswered: Vec<String>,
    /// Files that could not be looked through, and why.
    unread: Vec<[String; 2]>,
}

/// What came of one search.
pub(super) struct Stepped {
    pub(super) query: String,
    pub(super) pieces: u64,
    pub(super) decided: Vec<Vec<String>>,
    /// What the pieces say; nothing, where there is nothing to search in.
    pub(super) condensed: Option<Condensed>,
    pub(super) unread: Vec<[String; 2]>,
    pub(super) duration_ms: u64,
}

impl Executed {
    /// Takes in what came of one search.
    pub(super) fn take(&mut self, stepped: Stepped) {
        let Stepped { query, pieces, decided, condensed, unread, duration_ms } = stepped;
        let condensed = condensed.unwrap_or_else(|| Condensed {
            open_issues: vec![OpenIssue::Nothing { question: query.clone() }],
            ..Condensed::default()
        });
        let unanswered = condensed.open_issues.iter().filter_map(nothing).collect();
        let mut found = Found { query, pieces, decided, quotes: 0, unanswered, unread };
        for fact in condensed.quotes() {
            found.quotes += 1;
            add(&mut self.evidence, Evidence::of(fact, &found.query), |one, other| {
                one.relevance == other.relevance
            });
        }
        for Close { question, fact } in &condensed.closest {
            add(&mut self.closest, Evidence::of(fact, question), |_, _| true);
        }
        self.open_issues.extend(condensed.open_issues);
        self.results.push(Step { step_index: self.results.len(), tool: SEARCH, result: found, duration_ms });
    }

    /// Says how it went, and what it rests on.
    pub(super) fn finish(&mut self, files: &[Eligible]) -> Provenance {
        let has_quotes = self.results.iter().any(|step| step.result.quotes > 0);
        let is_whole = self.results.iter().all(|step| step.result.unanswered.is_empty());
        self.status = match (has_quotes, is_whole) {
            (true, true) => "success",
            (true, false) => "partial",
            (false, _) => "error",
        };
        rests_on(&self.evidence, files)
    }
}

/// Adds what is not there yet. Two questions may rest on one sentence: it is evidence for both.
fn add(all: &mut Vec<Evidence>, one: Evidence, is_for_the_same: impl Fn(&Evidence, &Evidence) -> bool) {
    if !all.iter().any(|known| known.says_the_same(&one) && is_for_the_same(known, &one)) {
        all.push(one);
    }
}

impl Agent for Execution {
    fn unseen(&self, _: Given<'_>) -> Unseen {
        Unseen::Repeatable
    }

    fn act<'a>(&'a self, given: Given<'a>, cancel: &'a CancellationToken) -> Answer<'a, Said> {
        Box::pin(async move {
            let queries = match queries(given.envelope) {
                Ok(queries) => queries,
                Err(why) => return failed(&why, false),
            };
            let files = eligible(given.envelope);
            let shown = self.0.shown(given.envelope).await;
            let mut executed = Executed::default();
            for query in queries {
                if cancel.is_cancelled() {
                    return failed("it was cancelled", true);
                }
                match self.step(query, &files, &whole(&shown)).await {
                    Ok(stepped) => executed.take(stepped),
                    Err(said) => return said,
                }
            }
            let rests_on = executed.finish(&files);
            // Whoever wrote the envelope may have named other files than perception would have.
            Said { label: self.0.label(&files), ..written(&executed, rests_on) }
        })
    }
}

impl Execution {
    async fn step(&self, query: String, files: &[Eligible], shown: &[&str]) -> Result<Stepped, Said> {
        let began = self.0.clock.now();
        let retrieved = match &self.0.sources {
            Some(sources) => Some(sources.retrieve(&query, files).await.map_err(unread)?),
            None => None,
        };
        let ended = self.0.clock.now();
        let duration_ms = match (began, ended) {
            (Ok(began), Ok(ended)) => began.instant().millis_until(ended.instant()),
            _ => 0,
        };
        let Some(Retrieved { pieces, counts, hits, unread }) = retrieved else {
            let (decided, unread) = (Vec::new(), Vec::new());
            return Ok(Stepped { query, pieces: 0, decided, condensed: None, unread, duration_ms });
        };
        let asked = search::asked(&query, pieces, &counts);
        let found: Vec<Chunk> = hits.into_iter().map(|hit| hit.chunk).collect();
        let Gathered { sifted, condensed } = gather(&asked, &found, shown, &Limits::default());
        Ok(Stepped {
            query,
            pieces,
            decided: sifted.decided.into_iter().map(|decided| decided.reason).collect(),
            condensed: Some(condensed),
            unread: unread.into_iter().map(|(path, why)| [path, why]).collect(),
            duration_ms,
        })
    }
}

/// What the plan searches for, or why it can't be done. A step with another tool is none that this agent can do.
fn queries(envelope: &GenericEnvelope) -> Result<Vec<String>, String> {
    let plan = envelope.progress.outputs.get("plan");
    let Some(Json::Array(steps)) = plan.and_then(|plan| plan.get("steps")) else {
        return Ok(goals(envelope));
    };
    if steps.len() > STEPS_MAX {
        return Err(format!("the plan has more than {STEPS_MAX} steps"));
    }
    let mut queries = Vec::new();
    for step in steps {
        let tool = step.get("tool").and_then(Json::as_str).unwrap_or_default();
        let query = step.get("params").and_then(|params| params.get("query")).and_then(Json::as_str);
        match query {
            Some(query) if tool == SEARCH => queries.push(query.to_owned()),
            Some(_) | None => {
                return Err(format!("no step can be done with the tool {tool:?} here"));
            }
        }
    }
    Ok(queries)
}

/// What no file says anything about.
fn nothing(issue: &OpenIssue) -> Option<String> {
    match issue {
        OpenIssue::Nothing { question } => Some(question.clone()),
        OpenIssue::NotFound { .. } | OpenIssue::Contradiction { .. } => None,
    }
}

fn rests_on(evidence: &[Evidence], files: &[Eligible]) -> Provenance {
    let cited: BTreeSet<&str> = evidence.iter().map(|one| one.path.as_str()).collect();
    let cited = files.iter().filter(|file| cited.contains(file.path.as_str()));
    let files: Vec<FileRef> =
        cited.map(|file| FileRef { path: file.path.clone(), sha256: file.sha256, mtime: None }).collect();
    let eligibility = files.iter().map(|file| file.path.clone()).collect();
    Provenance { files, history_refs: Vec::new(), eligibility }
}
