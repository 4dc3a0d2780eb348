//! What a user reads at the end of a task's run: on one screen, in plain words.
//! Owns: the words and the order. Must not: say more than the records do.

use super::product;
use crate::cli::Global;
use crate::failure::{Exit, Failure};
use crate::output;
use countersign_govern::table::outcome::entry;
use countersign_govern::types::claim::{ClaimSupportStatus, EvidencePackage};
use countersign_govern::types::reliance::{RelianceStatus as Status, TaskReliancePacket};
use countersign_kernel::run::{Doing, HARD_CALL, Run, Stop};
use countersign_record::id::RunId;
use countersign_record::json::Object;
use countersign_runtime::work::Work;
use countersign_work::desk::Desk;
use countersign_work::{artifact, call, finding, outcome, rely};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Told {
    run: String,
    task: String,
    /// How far the work may be relied on; nothing while the run goes on.
    status: Option<&'static str>,
    limitations: Vec<&'static str>,
    outcomes: Vec<OutcomeTold>,
    claims: Claims,
    findings: Vec<FindingTold>,
    /// Criteria that nobody could look at, and why.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    not_looked_at: BTreeMap<String, String>,
    products: Vec<Product>,
    packet: Option<String>,
    /// What a person must answer, if the run waits.
    question: Option<Question>,
}

#[derive(Serialize)]
struct OutcomeTold {
    id: String,
    statement: String,
    state: &'static str,
    met: bool,
}

#[derive(Default, Serialize)]
struct Claims {
    supported: usize,
    all: usize,
}

#[derive(Serialize)]
struct FindingTold {
    id: String,
    severity: &'static str,
    text: String,
    explanation: String,
}

#[derive(Serialize)]
struct Product {
    path: String,
    version: u64,
}

#[derive(Serialize)]
struct Question {
    id: String,
    text: String,
    options: Vec<Offered>,
}

#[derive(Serialize)]
struct Offered {
    id: String,
    label: String,
    consequence: String,
}

/// The words for a stage.
pub(super) fn stage(name: &str) -> &str {
    match name {
        "" | "start" | "perception" => "reading the sources",
        "intent" | "plan" => "planning",
        "execution" => "searching",
        "contract" => "agreeing on what is asked",
        "draft" => "drafting",
        "enforcement" => "holding code to its contract",
        "critic" => "looking at every outcome",
        "revision" => "mending",
        "integration" => "putting the packet together",
        other => other,
    }
}

/// Prints what a run came to; the exit code says it too.
pub(super) fn told(
    global: &Global,
    id: &RunId,
    run: &Run,
    work: &Work,
    outcome: Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let packet = work.look(rely::last).flatten();
    let stop = match &run.doing {
        Doing::Waiting(stop) => Some(stop),
        Doing::Ready | Doing::Called { .. } | Doing::Over => None,
    };
    let folder = product::folder(global, id)?;
    let told = work.look(|desk| Told {
        run: id.to_string(),
        task: desk.task().id.clone(),
        status: packet.as_ref().map(|packet| packet.reliance_derivation.status.as_str()),
        limitations: limitations(packet.as_ref()),
        outcomes: outcomes(desk),
        claims: claims(desk),
        findings: findings(desk),
        not_looked_at: not_looked_at(run),
        products: products(desk, &folder),
        packet: packet.as_ref().map(|packet| packet.packet_id.clone()),
        question: stop.and_then(|stop| question(desk, stop)),
    });
    let Some(told) = told else { return outcome };
    match global.json {
        true => output::json(&told)?,
        false => printed(&told, packet.as_ref())?,
    }
    match (stop, packet.map(|packet| packet.reliance_derivation.status)) {
        (Some(stop), _) if stop.reason == HARD_CALL => Ok(Exit::Waiting),
        (Some(_), _) => outcome,
        (None, Some(Status::SafeToRelyWithinScope)) => Ok(Exit::Success),
        (None, Some(Status::RelyWithLimitations | Status::HumanReviewRequired | Status::NotSafeToRely)) => {
            Ok(Exit::Limited)
        }
        (None, None) => outcome,
    }
}

fn limitations(packet: Option<&TaskReliancePacket>) -> Vec<&'static str> {
    let all = packet.map(|packet| packet.reliance_derivation.unresolved_limitations.as_slice());
    all.unwrap_or_default().iter().map(|one| one.as_str()).collect()
}

fn outcomes(desk: &Desk) -> Vec<OutcomeTold> {
    let one = |one: &countersign_work::task::Outcome| {
        let state = outcome::state(desk, &one.id);
        OutcomeTold {
            id: one.id.clone(),
            statement: one.statement.clone(),
            state: entry(state).label,
            met: outcome::is_settled(state),
        }
    };
    desk.task().outcomes.iter().map(one).collect()
}

fn claims(desk: &Desk) -> Claims {
    let package = desk.each::<EvidencePackage>("EvidencePackage").next_back();
    package.map_or_else(Claims::default, |found| {
        let map = found.record.claim_support_map;
        let is_supported = |status| status == ClaimSupportStatus::Supported;
        Claims {
            supported: map.iter().filter(|one| is_supported(one.support_status)).count(),
            all: map.len(),
        }
    })
}

fn findings(desk: &Desk) -> Vec<FindingTold> {
    let live = finding::all(desk).into_iter().filter(|one| finding::is_live(one.state));
    live.map(|one| FindingTold {
        id: one.event.finding_id,
        severity: one.event.severity.as_str(),
        text: one.event.finding_text,
        explanation: one.event.explanation,
    })
    .collect()
}

/// What the last look could not see, as whoever looked told it.
fn not_looked_at(run: &Run) -> BTreeMap<String, String> {
    let told =
        run.envelope.progress.outputs.get("critic").and_then(|critic| critic.get("unseen")?.as_object());
    let members = told.into_iter().flat_map(Object::iter);
    members.filter_map(|(id, why)| Some((id.to_owned(), why.as_str()?.to_owned()))).collect()
}

fn products(desk: &Desk, folder: &std::path::Path) -> Vec<Product> {
    let heads = desk.task().artifacts.iter().filter_map(|one| Some((one, artifact::head(desk, &one.id)?)));
    heads
        .map(|(one, head)| Product {
            path: folder.join(&one.path).to_string_lossy().into_owned(),
            version: head.number,
        })
        .collect()
}

fn question(desk: &Desk, stop: &Stop) -> Option<Question> {
    let call = call::open(desk).into_iter().find(|call| call.hard_call_id == stop.id)?;
    let offered = call.options.into_iter().map(|one| Offered {
        id: one.option_id,
        label: one.label,
        consequence: one.consequence_text,
    });
    Some(Question { id: call.hard_call_id, text: call.prompt_text, options: offered.collect() })
}

fn printed(told: &Told, packet: Option<&TaskReliancePacket>) -> Result<(), Failure> {
    let line = |text: &str| output::line(&output::plain(text));
    match packet {
        Some(packet) => line(rely::summary(packet.reliance_derivation.status))?,
        None if told.question.is_some() => line("The run waits for you.")?,
        None => line("The run is not done.")?,
    }
    for one in &told.outcomes {
        let mark = if one.met { "✓" } else { "✗" };
        line(&format!("  {mark} {}: {} ({})", one.id, one.statement, one.state))?;
    }
    if told.claims.all > 0 {
        line(&format!("{} of {} claims stand in the sources.", told.claims.supported, told.claims.all))?;
    }
    for one in &told.findings {
        line(&format!("  ! {} [{}] {}", one.text, one.severity, one.explanation))?;
    }
    for (id, why) in &told.not_looked_at {
        line(&format!("  ? The criterion “{id}” was not looked at: {why}."))?;
    }
    if !told.limitations.is_empty() {
        line(&format!("Limited by: {}.", told.limitations.join(", ").replace('_', " ")))?;
    }
    for one in &told.products {
        line(&format!("work    {} (version {})", one.path, one.version))?;
    }
    line(&format!("run     {}", told.run))?;
    if let Some(question) = &told.question {
        line("")?;
        line(&question.text)?;
        for one in &question.options {
            line(&format!("  {}  {}: {}", one.id, one.label, one.consequence))?;
        }
        let first = question.options.first().map(|one| one.id.as_str()).unwrap_or_default();
        line(&format!("answer  countersign answer {} --id {} --choose {first}", told.run, question.id))?;
    } else if told.packet.is_some() {
        line(&format!("next    countersign packet show {}", told.run))?;
    }
    Ok(())
}
