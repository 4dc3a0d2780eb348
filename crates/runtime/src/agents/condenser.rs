//! The condenser (A4): what the pieces that stayed say, as facts, constraints and open issues.
//! Owns: putting A4 to work on what the gate let through. Must not: quote a piece that it did not.

use super::evidence::{eligible, list};
use super::execution::{Executed, Stepped};
use super::search::Found;
use super::{Means, written};
use crate::ports::Answer;
use crate::ports::agent::{Agent, Given, Said, Unseen};
use countersign_kernel::chunk::Chunk;
use countersign_kernel::condense::{Limits, condense};
use countersign_kernel::sift::{IN_FILES, contradictions};
use countersign_record::state::GenericEnvelope;
use tokio_util::sync::CancellationToken;

/// What the pieces say.
pub(super) struct Condenser(pub(super) Means);

impl Agent for Condenser {
    fn unseen(&self, _: Given<'_>) -> Unseen {
        Unseen::Repeatable
    }

    fn act<'a>(&'a self, given: Given<'a>, _: &'a CancellationToken) -> Answer<'a, Said> {
        Box::pin(async move {
            let files = eligible(given.envelope);
            let found = match self.0.found(given.envelope, &files).await {
                Ok(found) => found,
                Err(said) => return said,
            };
            let gated = gated(given.envelope);
            let mut executed = Executed::default();
            for Found { query, pieces, asked, chunks, unread } in found {
                let pieces_found: Vec<&Chunk> = chunks.iter().collect();
                let decided = gated.iter().find(|one| one.query == query).map(|one| one.decided.as_slice());
                let decided = decided.unwrap_or_default();
                let quotable: Vec<usize> =
                    decided.iter().filter(|one| one.is_quotable).map(|one| one.at).collect();
                let disagree = contradictions(&pieces_found, &quotable);
                let kept: Vec<&Chunk> =
                    quotable.iter().filter_map(|at| pieces_found.get(*at).copied()).collect();
                executed.take(Stepped {
                    query,
                    pieces,
                    decided: decided.iter().map(|one| one.reason.clone()).collect(),
                    condensed: Some(condense(&asked, &kept, &disagree, &Limits::default())),
                    unread,
                    duration_ms: 0,
                });
            }
            let rests_on = executed.finish(&files);
            Said { label: self.0.label(&files), ..written(&executed, rests_on) }
        })
    }
}

/// What the gate decided for one search.
struct Gated {
    query: String,
    decided: Vec<Decided>,
}

struct Decided {
    at: usize,
    is_quotable: bool,
    reason: Vec<String>,
}

fn gated(envelope: &GenericEnvelope) -> Vec<Gated> {
    list(envelope, &["gate"], "searches", |fields| {
        let query = fields.text("query");
        let decided = fields.objects("decided", |one| {
            let (at, decision, reason) = (one.integer("at"), one.text("decision"), one.texts("reason"));
            let reason = reason?;
            let is_shown = reason.first().is_some_and(|word| word == IN_FILES);
            let is_quotable = is_shown || decision? == "KEPT";
            Some(Decided { at: usize::try_from(at?).ok()?, is_quotable, reason })
        });
        Some(Gated { query: query?, decided: decided? })
    })
}
