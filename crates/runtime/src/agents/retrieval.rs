//! Retrieval: the pieces of eligible files that each goal is about.
//! Owns: asking the sources, goal by goal. Must not: keep or drop a piece; the gate does.

use super::evidence::{eligible, goals};
use super::search::Search;
use super::{Means, unread, written};
use crate::ports::Answer;
use crate::ports::agent::{Agent, Given, Said, Unseen};
use crate::ports::sources::Retrieved;
use countersign_record::envelope::Provenance;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

/// The pieces that goals are about.
pub(super) struct Retrieval(pub(super) Means);

#[derive(Serialize)]
struct Searched {
    searches: Vec<Search>,
}

impl Agent for Retrieval {
    fn unseen(&self, _: Given<'_>) -> Unseen {
        Unseen::Repeatable
    }

    fn act<'a>(&'a self, given: Given<'a>, cancel: &'a CancellationToken) -> Answer<'a, Said> {
        Box::pin(async move {
            let files = eligible(given.envelope);
            let mut searches = Vec::new();
            for goal in goals(given.envelope) {
                if cancel.is_cancelled() {
                    return super::failed("it was cancelled", true);
                }
                let retrieved = match &self.0.sources {
                    Some(sources) => match sources.retrieve(&goal, &files).await {
                        Ok(retrieved) => retrieved,
                        Err(error) => return unread(error),
                    },
                    None => Retrieved::default(),
                };
                searches.push(Search::of(&goal, &retrieved));
            }
            let label = self.0.label(&files);
            Said { label, ..written(&Searched { searches }, Provenance::default()) }
        })
    }
}
