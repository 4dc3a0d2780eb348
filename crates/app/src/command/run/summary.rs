//! What a task's run came to.
//! Owns: what is said of it, in JSON and in exit codes; the words of it are in `screen`. Must not: say more than the records do.

use super::waits::Waits;
use super::{ClaimTexts, change, product, screen, standing, steps};
use crate::cli::Global;
use crate::failure::{Exit, Failure};
use crate::output;
use countersign_govern::types::added::outcome::LifecycleTransitionReceipt;
use countersign_govern::types::basic::Severity;
use countersign_govern::types::claim::{ClaimSupportStatus, EvidencePackage};
use countersign_govern::types::reliance::{
    EvaluationContractReviewApprovalStatus as Approval, RelianceStatus as Status, TaskReliancePacket,
};
use countersign_kernel::run::{Doing, HARD_CALL, Run, Stop, StopKind};
use countersign_record::id::RunId;
use countersign_record::json::{Json, Object};
use countersign_record::state::TerminalReason;
use countersign_runtime::work::Work;
use countersign_work::desk::Desk;
use countersign_work::evaluate::{self, Unscored};
use countersign_work::{artifact, call, finding, outcome, rely, research};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Serialize)]
pub(super) struct Told {
    pub(super) run: String,
    task: String,
    /// How far the work may be relied on; nothing while the run goes on.
    status: Option<&'static str>,
    /// Why that is its status, as the packet has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<String>,
    /// Why the packet can't be relied on any more, if it can't.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_longer_holds: Option<String>,
    pub(super) limitations: Vec<&'static str>,
    /// Who changed what was asked, if somebody did: what stands here is that of the changed task.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) changed_by: BTreeSet<String>,
    pub(super) outcomes: Vec<OutcomeTold>,
    /// How many claims stand; nothing while nobody has looked at any.
    pub(super) claims: Option<Claims>,
    pub(super) findings: Vec<FindingTold>,
    /// Questions to the sources that nobody has answered, by what each is called.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) open_questions: BTreeMap<String, String>,
    /// Criteria that nobody could look at, and why.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) not_looked_at: BTreeMap<String, String>,
    pub(super) products: Vec<Product>,
    packet: Option<String>,
    /// What a person must answer, if the run waits for that.
    pub(super) question: Option<Question>,
    /// Commands that lead on.
    pub(super) next: Vec<String>,
    #[serde(skip)]
    pub(super) standing: Standing,
    /// What is open though nothing blocks.
    #[serde(skip)]
    pub(super) still_open: Option<String>,
    /// How all outcomes, findings, lines of a change and open questions are seen.
    #[serde(skip)]
    pub(super) pages: [String; 4],
}

/// How a run stands when it is told.
pub(super) enum Standing {
    /// A person must say something.
    Waits(String),
    /// It can go on.
    Open,
    /// It is over, with a packet.
    Packet(Status),
    /// It is over, and its packet does not hold any more: why.
    Fallen(String),
    /// It is over without one: why.
    Ended(String),
}

#[derive(Serialize)]
pub(super) struct OutcomeTold {
    pub(super) id: String,
    pub(super) statement: String,
    pub(super) state: String,
    pub(super) met: bool,
    #[serde(skip)]
    pub(super) has_failed: bool,
}

#[derive(Default, Serialize)]
pub(super) struct Claims {
    pub(super) supported: usize,
    pub(super) all: usize,
    /// Parts of the work that are not held against sources.
    #[serde(skip_serializing_if = "is_none")]
    pub(super) not_held: usize,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

#[derive(Serialize)]
pub(super) struct FindingTold {
    id: String,
    pub(super) severity: &'static str,
    pub(super) text: String,
    pub(super) explanation: String,
    /// The claims that it is about, with the places that bear on them.
    pub(super) claims: Vec<Json>,
}

#[derive(Serialize)]
pub(super) struct Product {
    pub(super) path: String,
    pub(super) version: u64,
}

#[derive(Serialize)]
pub(super) struct Question {
    id: String,
    pub(super) text: String,
    pub(super) options: Vec<Offered>,
    /// Until when it must be answered, where the run ends without an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ends_at: Option<String>,
    /// Until when it stands, what becomes of it then, and what waits for it.
    #[serde(flatten)]
    pub(super) waits: Option<Waits>,
    /// The change that it is about, as a unified diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) diff: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Offered {
    pub(super) id: String,
    pub(super) label: String,
    pub(super) consequence: String,
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
    let question = stop.and_then(|stop| question(work, stop));
    let fallen = work.look(standing::fallen).flatten();
    let holds = fallen.is_none();
    let standing = stands(run, packet.as_ref(), fallen.clone());
    let findings = findings(work);
    let claims = claims(work);
    let is_over = run.doing == Doing::Over;
    let told = work.look(|desk| Told {
        run: id.to_string(),
        task: desk.task().id.clone(),
        status: packet.as_ref().map(|packet| packet.reliance_derivation.status.as_str()),
        explanation: packet.as_ref().map(|packet| packet.reliance_derivation.explanation.clone()),
        no_longer_holds: fallen,
        still_open: still_open(&standing, &findings),
        limitations: limitations(packet.as_ref()),
        changed_by: changed_by(desk),
        outcomes: outcomes(desk),
        claims,
        open_questions: open_questions(desk),
        not_looked_at: not_looked_at(run, if is_over { evaluate::unscored(desk) } else { Vec::new() }),
        products: products(desk, &folder),
        packet: packet.as_ref().map(|packet| packet.packet_id.clone()),
        next: next(global, id, (&standing, stop), question.as_ref(), !findings.is_empty()),
        question,
        findings,
        standing,
        pages: ["health", "findings", "diff", "attention"].map(|page| global.typed(&format!("{page} {id}"))),
    });
    let Some(told) = told else { return outcome };
    match global.json {
        true => output::json(&told)?,
        false => screen::print(&told)?,
    }
    match (stop, packet.map(|packet| packet.reliance_derivation.status)) {
        (Some(stop), _) if stop.reason == HARD_CALL => Ok(Exit::Waiting),
        // A person has read it; a program takes the error.
        (Some(_), _) if !global.json => Ok(Exit::Waiting),
        (Some(_), _) => outcome,
        (None, Some(Status::SafeToRelyWithinScope)) if holds => Ok(Exit::Success),
        (None, Some(_limited)) => Ok(Exit::Limited),
        // Without a packet nothing is safe.
        (None, None) => match outcome {
            Ok(Exit::Success) if run.doing == Doing::Over => Ok(Exit::Limited),
            Ok(exit) => Ok(exit),
            Err(failure) => Err(failure),
        },
    }
}

/// Who changed the contract before it was agreed to.
fn changed_by(desk: &Desk) -> BTreeSet<String> {
    let edited = Approval::Edited.as_str();
    let moves = desk.all::<LifecycleTransitionReceipt>().filter(|one| one.to_state == edited);
    let own = moves.filter(|one| one.subject_ref.as_str().starts_with("evaluation_contract_review:"));
    let name = |one: LifecycleTransitionReceipt| {
        let by = one.actor_ref.as_str();
        by.strip_prefix("user:").unwrap_or(by).to_owned()
    };
    own.map(name).collect()
}

fn stands(run: &Run, packet: Option<&TaskReliancePacket>, fallen: Option<String>) -> Standing {
    match (&run.doing, packet) {
        (Doing::Waiting(stop), _) => Standing::Waits(match stop.kind {
            StopKind::Confirmation => format!("Your leave is needed to {}", stop.message),
            StopKind::Clarification | StopKind::Escalation => stop.message.clone(),
        }),
        (Doing::Ready | Doing::Called { .. }, _) => Standing::Open,
        (Doing::Over, Some(packet)) => match fallen {
            Some(why) => Standing::Fallen(why),
            None => Standing::Packet(packet.reliance_derivation.status),
        },
        (Doing::Over, None) => {
            let ending = &run.envelope.ending;
            let words = ending.termination_reason.clone().unwrap_or_default();
            Standing::Ended(match ending.terminal_reason.and_then(raised) {
                Some(limit) => {
                    format!(
                        "{words}; raise {limit} under [limits] of the task by at least one and run it again"
                    )
                }
                None => words,
            })
        }
    }
}

/// The limit that a run came to, where one ended it.
fn raised(reason: TerminalReason) -> Option<&'static str> {
    match reason {
        TerminalReason::MaxLlmCallsExceeded => Some("max_llm_calls"),
        TerminalReason::MaxIterationsExceeded => Some("max_iterations"),
        TerminalReason::MaxAgentHopsExceeded => Some("max_agent_hops"),
        TerminalReason::CompletedSuccessfully
        | TerminalReason::ClarificationRequired
        | TerminalReason::ConfirmationRequired
        | TerminalReason::DeniedByPolicy
        | TerminalReason::ToolFailedRecoverably
        | TerminalReason::ToolFailedFatally
        | TerminalReason::MaxCriticFiresExceeded => None,
    }
}

/// What can be done now.
fn next(
    global: &Global,
    run: &RunId,
    (standing, stop): (&Standing, Option<&Stop>),
    question: Option<&Question>,
    has_findings: bool,
) -> Vec<String> {
    let typed = |command: &str| global.typed(&format!("{command} {run}"));
    let packet = typed("packet show");
    match (standing, stop) {
        (Standing::Waits(_), Some(stop)) => {
            let said = match (question, stop.kind) {
                (Some(question), _) => {
                    let first = question.options.first().map(|one| one.id.as_str()).unwrap_or_default();
                    format!("--choose {}", output::quoted(first))
                }
                (None, StopKind::Confirmation) => {
                    let answer = |said: &str| global.typed(&format!("answer {run} --id {} {said}", stop.id));
                    return vec![answer("--approve"), answer("--deny")];
                }
                (None, StopKind::Clarification) => "--value TEXT".to_owned(),
                (None, StopKind::Escalation) => "--choose retry".to_owned(),
            };
            let answer = global.typed(&format!("answer {run} --id {} {said}", stop.id));
            steps::first(global, stop).into_iter().chain([answer]).collect()
        }
        (Standing::Waits(_) | Standing::Open, _) => vec![typed("runs resume")],
        (Standing::Ended(_), _) => vec![typed("runs show")],
        (Standing::Fallen(_), _) => vec![typed("command run reliance.renew_packet --run"), packet],
        (Standing::Packet(Status::SafeToRelyWithinScope), _) => vec![packet],
        (Standing::Packet(Status::HumanReviewRequired), _) => {
            vec![typed("attention"), packet]
        }
        (Standing::Packet(Status::RelyWithLimitations | Status::NotSafeToRely), _) if has_findings => {
            vec![typed("findings"), packet]
        }
        (Standing::Packet(Status::RelyWithLimitations | Status::NotSafeToRely), _) => {
            vec![typed("attention"), packet]
        }
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
            state: standing::told(desk, one),
            met: standing::is_met(state),
            has_failed: standing::has_failed(state),
        }
    };
    desk.task().outcomes.iter().map(one).collect()
}

/// The claims of the work: those of its evidence, and while there is none those that were looked at so far.
fn claims(work: &Work) -> Option<Claims> {
    let package = |desk: &Desk| {
        let found = desk.each::<EvidencePackage>("EvidencePackage").next_back()?;
        Some(found.record.claim_support_map.iter().map(|one| one.support_status).collect())
    };
    let all: Vec<ClaimSupportStatus> = match work.look(package).flatten() {
        Some(all) => all,
        None => ClaimTexts::looked_at(work),
    };
    let of = |status| all.iter().filter(|one| **one == status).count();
    let not_held = of(ClaimSupportStatus::NotChecked);
    let claims = Claims { supported: of(ClaimSupportStatus::Supported), all: all.len() - not_held, not_held };
    (!all.is_empty() || work.look(|desk| package(desk).is_some()) == Some(true)).then_some(claims)
}

/// What is open though the work is safe to rely on.
fn still_open(standing: &Standing, findings: &[FindingTold]) -> Option<String> {
    match standing {
        Standing::Packet(Status::SafeToRelyWithinScope) => {
            let severities = findings.iter().filter_map(|one| Severity::find(one.severity));
            rely::still_open(&severities.collect::<Vec<_>>())
        }
        Standing::Packet(
            Status::RelyWithLimitations | Status::HumanReviewRequired | Status::NotSafeToRely,
        )
        | Standing::Waits(_)
        | Standing::Open
        | Standing::Fallen(_)
        | Standing::Ended(_) => None,
    }
}

fn findings(work: &Work) -> Vec<FindingTold> {
    let mut live = work.look(finding::all).unwrap_or_default();
    live.retain(|one| finding::is_live(one.state));
    let claims = ClaimTexts::of_findings(work, &live);
    let told = |one: finding::Known| FindingTold {
        claims: claims.about(&one),
        id: one.event.finding_id,
        severity: one.event.severity.as_str(),
        text: one.event.finding_text,
        explanation: one.event.explanation,
    };
    live.into_iter().map(told).collect()
}

fn open_questions(desk: &Desk) -> BTreeMap<String, String> {
    let open = research::all(desk).into_iter().filter(|one| research::is_open(one.status));
    open.map(|one| (one.need_id, one.question)).collect()
}

/// What nobody scored, and why: in the words of whoever could not see it, where there are some.
fn not_looked_at(run: &Run, unscored: Vec<Unscored>) -> BTreeMap<String, String> {
    let told =
        run.envelope.progress.outputs.get("critic").and_then(|critic| critic.get("unseen")?.as_object());
    let members = told.into_iter().flat_map(Object::iter);
    let seen = members.filter_map(|(id, why)| Some((id.to_owned(), why.as_str()?.to_owned())));
    unscored.into_iter().map(|one| (one.criterion, one.why.to_owned())).chain(seen).collect()
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

fn question(work: &Work, stop: &Stop) -> Option<Question> {
    let call = work.look(call::open)?.into_iter().find(|call| call.hard_call_id == stop.id);
    let Some(call) = call else { return stuck(stop) };
    let diff = call.source_ref.as_ref().and_then(|about| change::diff(work, about));
    let ends_at = call::ends_at(&call).map(|at| at.to_string());
    let now = work.look(|desk| desk.clock().clone());
    let waits = Some(Waits::of(&call, now.as_ref()));
    let offered = call.options.into_iter().map(|one| Offered {
        id: one.option_id,
        label: one.label,
        consequence: one.consequence_text,
    });
    Some(Question {
        id: call.hard_call_id,
        text: call.prompt_text,
        options: offered.collect(),
        ends_at,
        waits,
        diff,
    })
}

/// What can be done where a step could not go on.
fn stuck(stop: &Stop) -> Option<Question> {
    if stop.kind != StopKind::Escalation {
        return None;
    }
    let offered = |(step, consequence): (&str, &str)| {
        let id = step.replace(' ', "-");
        Offered { label: id.clone(), id, consequence: consequence.to_owned() }
    };
    let options: Vec<Offered> = steps::fitting(stop).into_iter().map(offered).collect();
    let (id, text) = (stop.id.clone(), stop.message.clone());
    (!options.is_empty()).then_some(Question { id, text, options, ends_at: None, waits: None, diff: None })
}
