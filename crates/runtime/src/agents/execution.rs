//! Execution: the plan's searches, and what they found (retrieval, A3, A4).
//! Owns: doing each step, in order, and saying what came of it. Must not: look into a file that is not eligible.

use super::evidence::{Evidence, eligible, goals};
use super::plan::SEARCH;
use super::{Means, unread, written};
use crate::ports::Answer;
use crate::ports::agent::{Agent, Given, Said};
use crate::ports::sources::{Eligible, Gathered};
use countersign_kernel::condense::OpenIssue;
use countersign_kernel::run::{Fault, Outcome};
use countersign_record::envelope::{FileRef, Provenance};
use countersign_record::json::{Json, Object};
use countersign_record::label::Label;
use countersign_record::state::GenericEnvelope;
use serde::Serialize;
use std::collections::BTreeSet;
use tokio_util::sync::CancellationToken;

/// The most searches of one plan.
const STEPS_MAX: usize = 32;

/// The plan's searches.
pub(super) struct Execution(pub(super) Means);

#[derive(Default, Serialize)]
struct Executed {
    status: &'static str,
    results: Vec<Step>,
    evidence: Vec<Evidence>,
    open_issues: Vec<OpenIssue>,
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
    pieces: usize,
    /// What became of those that were found: the word for it, and what was seen.
    decided: Vec<Vec<String>>,
    quotes: usize,
    /// The parts of it that no file says anything about.
    unanswered: Vec<String>,
    /// Files that could not be looked through, and why.
    unread: Vec<[String; 2]>,
}

impl Agent for Execution {
    fn is_repeatable(&self) -> bool {
        true
    }

    fn act<'a>(&'a self, given: Given<'a>, cancel: &'a CancellationToken) -> Answer<'a, Said> {
        Box::pin(async move {
            let queries = match queries(given.envelope) {
                Ok(queries) => queries,
                Err(outcome) => return Said::plain(outcome, Provenance::default()),
            };
            let files = eligible(given.envelope);
            let mut executed = Executed::default();
            for (at, query) in queries.iter().enumerate() {
                if cancel.is_cancelled() {
                    return Said::plain(failed("it was cancelled", true), Provenance::default());
                }
                if let Err(said) = self.step(at, query, &files, &mut executed).await {
                    return said;
                }
            }
            let has_quotes = executed.results.iter().any(|step| step.result.quotes > 0);
            let is_whole = executed.results.iter().all(|step| step.result.unanswered.is_empty());
            executed.status = match (has_quotes, is_whole) {
                (true, true) => "success",
                (true, false) => "partial",
                (false, _) => "error",
            };
            let rests_on = rests_on(&executed.evidence, &files);
            // Whoever wrote the envelope may have named other files than perception would have.
            let label = |one: Label, file: &Eligible| match &self.0.sources {
                Some(sources) => one.join(sources.label(&file.path)),
                None => one,
            };
            let label = files.iter().fold(Label::NOTHING, label);
            Said { label, ..written(&executed, rests_on) }
        })
    }
}

impl Execution {
    async fn step(
        &self,
        at: usize,
        query: &str,
        files: &[Eligible],
        executed: &mut Executed,
    ) -> Result<(), Said> {
        let known = executed.open_issues.len();
        let began = self.0.clock.now();
        // A file that the prompt shows whole is quoted from all the same: every sentence of an answer cites a piece.
        let gathered = match &self.0.sources {
            Some(sources) => Some(sources.gather(query, files, &[]).await.map_err(unread)?),
            None => None,
        };
        let ended = self.0.clock.now();
        let duration_ms = match (began, ended) {
            (Ok(began), Ok(ended)) => began.instant().millis_until(ended.instant()),
            _ => 0,
        };
        let mut found = Found {
            query: query.to_owned(),
            pieces: 0,
            decided: Vec::new(),
            quotes: 0,
            unanswered: Vec::new(),
            unread: Vec::new(),
        };
        match gathered {
            Some(Gathered { pieces, sifted, condensed, unread }) => {
                found.pieces = pieces;
                found.decided = sifted.decided.into_iter().map(|decided| decided.reason).collect();
                found.unread = unread.into_iter().map(|(path, why)| [path, why]).collect();
                for fact in condensed.quotes() {
                    let one = Evidence::of(fact, query);
                    found.quotes += 1;
                    // Two goals may rest on one sentence; it is quoted once.
                    if !executed
                        .evidence
                        .iter()
                        .any(|known| known.location == one.location && known.content == one.content)
                    {
                        executed.evidence.push(one);
                    }
                }
                executed.open_issues.extend(condensed.open_issues);
            }
            None => executed.open_issues.push(OpenIssue::Nothing { question: query.to_owned() }),
        }
        found.unanswered = executed.open_issues.iter().skip(known).filter_map(nothing).collect();
        executed.results.push(Step { step_index: at, tool: SEARCH, result: found, duration_ms });
        Ok(())
    }
}

/// What the plan searches for. A step with another tool is none that this agent can do.
fn queries(envelope: &GenericEnvelope) -> Result<Vec<String>, Outcome> {
    let plan = envelope.progress.outputs.get("plan");
    let Some(Json::Array(steps)) = plan.and_then(|plan| plan.get("steps")) else {
        return Ok(goals(envelope));
    };
    if steps.len() > STEPS_MAX {
        return Err(failed(&format!("the plan has more than {STEPS_MAX} steps"), false));
    }
    let mut queries = Vec::new();
    for step in steps {
        let tool = step.get("tool").and_then(Json::as_str).unwrap_or_default();
        let query = step.get("params").and_then(|params| params.get("query")).and_then(Json::as_str);
        match query {
            Some(query) if tool == SEARCH => queries.push(query.to_owned()),
            Some(_) | None => {
                return Err(failed(&format!("no step can be done with the tool {tool:?} here"), false));
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

fn failed(message: &str, recoverable: bool) -> Outcome {
    let (error_type, message) = ("ToolError".to_owned(), message.to_owned());
    Outcome::Failed(Fault { error_type, message, recoverable, details: Object::new() })
}

fn rests_on(evidence: &[Evidence], files: &[Eligible]) -> Provenance {
    let cited: BTreeSet<&str> = evidence.iter().map(|one| one.path.as_str()).collect();
    let cited = files.iter().filter(|file| cited.contains(file.path.as_str()));
    let files: Vec<FileRef> =
        cited.map(|file| FileRef { path: file.path.clone(), sha256: file.sha256, mtime: None }).collect();
    let eligibility = files.iter().map(|file| file.path.clone()).collect();
    Provenance { files, history_refs: Vec::new(), eligibility }
}
