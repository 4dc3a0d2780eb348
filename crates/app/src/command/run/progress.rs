//! What a user sees while a task's run goes on.
//! Owns: going on stage by stage, and the line that says where it is. Must not: say more than the records do.

use super::super::process::Driven;
use crate::cli::Global;
use crate::output;
use countersign_govern::types::claim::{ClaimSupportDerivationReceipt, ClaimSupportStatus as Support};
use countersign_kernel::run::{Doing, Run};
use countersign_runtime::run::Error;
use countersign_runtime::work::Work;
use countersign_work::desk::Desk;
use countersign_work::{finding, outcome};
use std::collections::BTreeMap;
use tokio_util::sync::CancellationToken;

/// Goes on until the run ends or a person is needed, and shows where it is.
pub(in crate::command) async fn driven(
    global: &Global,
    driver: &mut Driven,
    work: &Work,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    let progress = output::progress(global, String::new());
    let gone_on = async {
        loop {
            // Where nobody looks nothing is counted.
            if !progress.is_hidden() {
                progress.set_message(message(driver.run(), work));
            }
            driver.step(cancel).await?;
            if driver.run().doing != Doing::Ready {
                return Ok(());
            }
        }
    }
    .await;
    progress.finish_and_clear();
    gone_on
}

fn message(run: &Run, work: &Work) -> String {
    let step = run.envelope.bounds.agent_hop_count + 1;
    let counts = work.look(counts).unwrap_or_default().join("; ");
    output::plain(&format!("step {step}: {} ({counts})", stage(&run.envelope.progress.current_stage)))
}

/// How much there is so far, and how much of it stands.
fn counts(desk: &Desk) -> Vec<String> {
    let states: Vec<_> = desk.task().outcomes.iter().map(|one| outcome::state(desk, &one.id)).collect();
    let met = states.iter().filter(|state| outcome::is_settled(**state)).count();
    let mut claims: BTreeMap<String, Support> = BTreeMap::new();
    for one in desk.all::<ClaimSupportDerivationReceipt>() {
        claims.insert(one.claim_ref.as_str().to_owned(), one.derived_support_status);
    }
    let supported = claims.values().filter(|one| **one == Support::Supported).count();
    let mut parts = vec![format!("{met} of {} met", states.len())];
    if !claims.is_empty() {
        parts.push(format!("{supported} of {}", output::count(claims.len() as u64, "claim")));
    }
    let found = finding::all(desk).into_iter().filter(|one| finding::is_live(one.state)).count();
    if found > 0 {
        parts.push(output::count(found as u64, "finding"));
    }
    parts
}

/// The words for a stage.
fn stage(name: &str) -> &str {
    match name {
        "" | "start" | "perception" => "reading the sources",
        "intent" | "plan" => "planning",
        "execution" => "searching",
        "contract" => "agreeing on what is asked",
        "draft" => "drafting",
        "enforcement" => "checking code against its contract, if it has one",
        "critic" => "looking at every outcome",
        "revision" => "mending",
        "integration" => "putting the packet together",
        other => other,
    }
}
