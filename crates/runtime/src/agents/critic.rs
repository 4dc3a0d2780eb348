//! Critic: whether every sentence of the draft stands on its source, and which goals are reached.
//! Owns: holding the draft against the files themselves. Must not: write, or let through what it could not check.

use super::evidence::{Evidence, eligible, evidence, goals, is_artifact};
use super::{Means, written};
use crate::ports::Answer;
use crate::ports::agent::{Agent, Given, Said, Unseen};
use countersign_kernel::support::supports;
use countersign_record::canonical::Score;
use countersign_record::envelope::Provenance;
use countersign_record::fields::Fields;
use countersign_record::json::Json;
use countersign_record::state::GenericEnvelope;
use serde::Serialize;
use std::collections::BTreeSet;
use tokio_util::sync::CancellationToken;

/// What a model says where the facts say nothing.
const SILENT: &str = "the sources do not say";

/// Whether the draft is good.
pub(super) struct Critic(pub(super) Means);

#[derive(Serialize)]
struct Judged {
    verdict: &'static str,
    satisfied_goals: Vec<String>,
    unsatisfied_goals: Vec<String>,
    /// The parts of them that no source says anything about.
    unanswered: Vec<String>,
    feedback: String,
    confidence: Score,
    findings: Vec<Finding>,
}

/// A sentence that can't stay as it is.
#[derive(Serialize)]
struct Finding {
    sentence: String,
    why: &'static str,
}

impl Agent for Critic {
    fn unseen(&self, _: Given<'_>) -> Unseen {
        Unseen::Repeatable
    }

    fn act<'a>(&'a self, given: Given<'a>, _: &'a CancellationToken) -> Answer<'a, Said> {
        Box::pin(async move {
            let evidence = evidence(given.envelope);
            let standing = self.standing(given.envelope, &evidence).await;
            let findings = findings(given.envelope, &evidence, &standing);
            let (mut satisfied, mut unsatisfied, mut silent) = (Vec::new(), Vec::new(), Vec::new());
            for goal in goals(given.envelope) {
                let Searched { has_quotes, unanswered } = searched(given.envelope, &goal);
                let is_whole = has_quotes && unanswered.is_empty() && !standing.is_empty();
                if !is_whole {
                    silent.extend(if unanswered.is_empty() { vec![goal.clone()] } else { unanswered });
                }
                if is_whole { satisfied.push(goal) } else { unsatisfied.push(goal) }
            }
            let is_good = findings.is_empty();
            let feedback = match (is_good, unsatisfied.is_empty()) {
                (false, _) => {
                    format!("{} of the draft's sentences do not stand on their sources", findings.len())
                }
                (true, true) => String::new(),
                (true, false) => format!("no source says anything about: {}", silent.join("; ")),
            };
            let confidence = match (is_good, unsatisfied.is_empty()) {
                (false, _) => 0.1,
                (true, true) => 0.9,
                (true, false) => 0.5,
            };
            let judged = Judged {
                verdict: if is_good { "approved" } else { "reintent" },
                satisfied_goals: satisfied,
                unsatisfied_goals: unsatisfied,
                unanswered: silent,
                feedback,
                confidence: Score::try_from(confidence).unwrap_or(Score::of_halves(0)),
                findings,
            };
            written(&judged, Provenance::default())
        })
    }
}

impl Critic {
    /// The locations that hold what the evidence says they do, in the very files that were eligible.
    async fn standing<'e>(&self, envelope: &GenericEnvelope, evidence: &'e [Evidence]) -> BTreeSet<&'e str> {
        let mut standing = BTreeSet::new();
        let Some(sources) = &self.0.sources else { return standing };
        let files = eligible(envelope);
        let paths: BTreeSet<&str> = evidence.iter().map(|one| one.path.as_str()).collect();
        for path in paths {
            let Some(file) = files.iter().find(|file| file.path == path) else { continue };
            let Ok(text) = sources.text(file).await else { continue };
            let held = evidence.iter().filter(|one| one.path == path && one.stands_in(&text));
            standing.extend(held.map(|one| one.location.as_str()));
        }
        standing
    }
}

/// What became of the search for a goal.
struct Searched {
    has_quotes: bool,
    unanswered: Vec<String>,
}

fn searched(envelope: &GenericEnvelope, goal: &str) -> Searched {
    let mut found = Searched { has_quotes: false, unanswered: Vec::new() };
    let results = envelope.progress.outputs.get("execution").and_then(|execution| execution.get("results"));
    let Some(Json::Array(results)) = results else { return found };
    for result in results.iter().filter_map(|step| step.get("result")?.as_object()) {
        if result.get("query").and_then(Json::as_str) == Some(goal) {
            let quotes = result.get("quotes");
            found.has_quotes |=
                matches!(quotes, Some(Json::Number(count)) if count.as_u64().unwrap_or(0) > 0);
            found.unanswered.extend(result.texts("unanswered"));
        }
    }
    found
}

/// What is wrong with the draft, sentence by sentence. Where a pipeline has no draft, the evidence is what is handed on.
fn findings(envelope: &GenericEnvelope, evidence: &[Evidence], standing: &BTreeSet<&str>) -> Vec<Finding> {
    let finding = |sentence: &str, why| Some(Finding { sentence: sentence.to_owned(), why });
    if is_artifact(envelope) {
        // It cites nothing, so nobody lets it through but the enforcer.
        let status = envelope.progress.outputs.get("enforcement").and_then(|output| output.get("status"));
        let is_kept = status.and_then(Json::as_str) == Some("PASS");
        let unseen = || finding("", "no stage has held the artifact against its contract");
        return if is_kept { Vec::new() } else { unseen().into_iter().collect() };
    }
    let Some(draft) = envelope.progress.outputs.get("draft") else {
        let unheld = evidence.iter().filter(|one| !standing.contains(one.location.as_str()));
        return unheld
            .filter_map(|one| finding(&one.content, "it does not stand where the evidence says"))
            .collect();
    };
    let Some(Json::Array(sentences)) = draft.get("sentences") else {
        return finding("", "the draft has no sentences").into_iter().collect();
    };
    let one = |sentence: &Json| {
        let mut fields = Fields::of(sentence).ok()?;
        let (text, location) = (fields.text("text")?, fields.optional("location", Fields::text));
        let cited = location.as_deref().and_then(|at| evidence.iter().find(|one| one.location == at));
        match cited {
            None if text.to_lowercase().starts_with(SILENT) && evidence.is_empty() => None,
            None => finding(&text, "it cites no evidence"),
            Some(cited) if !standing.contains(cited.location.as_str()) => {
                finding(&text, "what it cites does not stand there")
            }
            Some(cited) if supports(&cited.content, &text) => None,
            Some(_) => finding(&text, "what it cites says something else"),
        }
    };
    sentences.iter().filter_map(one).collect()
}
