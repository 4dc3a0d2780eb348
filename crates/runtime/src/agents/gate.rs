//! The gate (A3): which retrieved pieces stay, and why.
//! Owns: putting A3 to work. Must not: hide a piece that was dropped, or why.

use super::evidence::eligible;
use super::search::Found;
use super::{Means, written};
use crate::ports::Answer;
use crate::ports::agent::{Agent, Given, Said, Unseen};
use countersign_kernel::chunk::Chunk;
use countersign_kernel::sift::{Limits, Sifted, sift};
use countersign_record::envelope::Provenance;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

/// Which pieces stay.
pub(super) struct Gate(pub(super) Means);

#[derive(Serialize)]
struct Gated {
    searches: Vec<One>,
}

#[derive(Serialize)]
struct One {
    query: String,
    #[serde(flatten)]
    sifted: Sifted,
}

impl Agent for Gate {
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
            let shown = self.0.shown(given.envelope).await;
            let injected = super::whole(&shown);
            let one = |Found { query, asked, chunks, .. }: Found| {
                let pieces: Vec<&Chunk> = chunks.iter().collect();
                One { query, sifted: sift(&asked, &pieces, &injected, &Limits::default()) }
            };
            let gated = Gated { searches: found.into_iter().map(one).collect() };
            Said { label: self.0.label(&files), ..written(&gated, Provenance::default()) }
        })
    }
}
