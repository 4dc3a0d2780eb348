//! Integration of a task: the evidence, the reliance packet, and the work as it stands.
//! Owns: putting it together. Must not: say of the work what the packet does not.

use super::{Means, outcome_of, unwritten};
use crate::agents::written;
use crate::ports::Answer;
use crate::ports::agent::{Agent, Given, Said, Unseen};
use crate::run::Error;
use crate::work::Work;
use countersign_kernel::run::Outcome;
use countersign_record::digest::Digest;
use countersign_record::envelope::{Envelope, Provenance};
use countersign_record::time::Timestamp;
use countersign_work::claims::Claimed;
use countersign_work::closing;
use countersign_work::cost;
use countersign_work::rely::{self, Besides};
use countersign_work::texts::Head;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

/// The evidence, the packet, and the work.
pub(in crate::agents) struct Handover(pub(in crate::agents) Means);

#[derive(Serialize)]
struct HandedOver {
    final_response: String,
    follow_up_suggestions: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    packet: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reliance_status: Option<&'static str>,
    limitations: Vec<&'static str>,
    products: Vec<Product>,
}

#[derive(Serialize)]
struct Product {
    artifact: String,
    path: String,
    version: u64,
    sha256: Digest,
}

impl Agent for Handover {
    fn unseen(&self, _: Given<'_>) -> Unseen {
        Unseen::Repeatable
    }

    fn act<'a>(&'a self, _: Given<'a>, _: &'a CancellationToken) -> Answer<'a, Said> {
        Box::pin(async move {
            let work = match self.0.work() {
                Ok(work) => work,
                Err(said) => return *said,
            };
            let at = match self.0.clock.now() {
                Ok(at) => at,
                Err(error) => return crate::agents::failed(&error.to_string(), false),
            };
            match handed_over(work, &at) {
                Ok(output) => written(&output, Provenance::default()),
                Err(error) => unwritten(&error),
            }
        })
    }

    fn again(&self, _: Given<'_>, _: &Envelope, at: &Timestamp) -> Result<Option<Outcome>, String> {
        let work = self.0.work.as_ref().ok_or("the run is no task's")?;
        let output = handed_over(work, at).map_err(|error| error.to_string())?;
        Ok(outcome_of(written(&output, Provenance::default())))
    }
}

fn handed_over(work: &Work, at: &Timestamp) -> Result<HandedOver, Error> {
    let heads = work.checked(at)?;
    let near = work.nearest();
    let all: Vec<Claimed> = heads.iter().flat_map(|head| head.claims.clone()).collect();
    let packet = work.step(at, |desk| {
        if heads.is_empty() {
            // Nothing was made, so there is nothing to rely on.
            cost::narrative(desk)?;
            closing::end(desk, near)?;
            return Ok(None);
        }
        let package = rely::package(desk, &all)?;
        let budget = Some(cost::narrative(desk)?);
        let packet = rely::packet(desk, &package, &Besides { budget })?;
        closing::end(desk, near)?;
        Ok::<_, countersign_work::desk::Error>(Some(packet))
    })?;
    let derivation = packet.as_ref().map(|packet| &packet.reliance_derivation);
    let product = |head: &Head| Product {
        artifact: head.artifact.id.clone(),
        path: head.artifact.path.clone(),
        version: head.version.number,
        sha256: head.version.content,
    };
    Ok(HandedOver {
        final_response: heads.first().map(|head| head.text.clone()).unwrap_or_default(),
        follow_up_suggestions: Vec::new(),
        packet: packet.as_ref().map(|packet| packet.packet_id.clone()),
        reliance_status: derivation.map(|one| one.status.as_str()),
        limitations: derivation
            .into_iter()
            .flat_map(|one| &one.unresolved_limitations)
            .map(|one| one.as_str())
            .collect(),
        products: heads.iter().map(product).collect(),
    })
}
