//! Integration: the final response, with where each part of it comes from.
//! Owns: putting it together. Must not: say what the critic has not let through.

use super::evidence::{Evidence, quotes};
use super::written;
use crate::ports::Answer;
use crate::ports::agent::{Agent, Given, Said, Unseen};
use countersign_record::envelope::Provenance;
use countersign_record::json::Json;
use serde::Serialize;
use std::collections::BTreeSet;
use tokio_util::sync::CancellationToken;

/// What is said where nothing was found.
pub(super) const NOTHING: &str = "The sources do not say.";

/// The final response.
pub(super) struct Integration;

#[derive(Serialize)]
struct Integrated {
    final_response: String,
    citations: Vec<Citation>,
    follow_up_suggestions: Vec<String>,
}

#[derive(Serialize)]
struct Citation {
    text: String,
    location: String,
    sha256: countersign_record::digest::Digest,
}

/// The evidence as an answer: each quote on a line of its own, with its place.
pub(super) fn composed(evidence: &[Evidence]) -> String {
    if evidence.is_empty() {
        return NOTHING.to_owned();
    }
    let line = |one: &Evidence| format!("{} [{}]", one.said(), one.location);
    evidence.iter().map(line).collect::<Vec<_>>().join("\n")
}

impl Agent for Integration {
    fn unseen(&self, _: Given<'_>) -> Unseen {
        Unseen::Repeatable
    }

    fn is_silent(&self) -> bool {
        true
    }

    fn act<'a>(&'a self, given: Given<'a>, _: &'a CancellationToken) -> Answer<'a, Said> {
        let outputs = &given.envelope.progress.outputs;
        let evidence = quotes(given.envelope);
        let draft = outputs.get("draft").and_then(|draft| draft.get("text")).and_then(Json::as_str);
        let final_response = draft.map_or_else(|| composed(&evidence), str::to_owned);
        let cited: BTreeSet<&str> = evidence
            .iter()
            .map(|one| one.location.as_str())
            .filter(|at| final_response.contains(at))
            .collect();
        let citations = evidence
            .iter()
            .filter(|one| cited.contains(one.location.as_str()))
            .map(|one| Citation {
                text: one.content.clone(),
                location: one.location.clone(),
                sha256: one.sha256,
            })
            .collect();
        let left = outputs.get("critic").map(|critic| critic.texts("unanswered")).unwrap_or_default();
        let follow_up_suggestions =
            left.iter().map(|goal| format!("No source says anything about: {goal}")).collect();
        let said =
            written(&Integrated { final_response, citations, follow_up_suggestions }, Provenance::default());
        Box::pin(std::future::ready(said))
    }
}
