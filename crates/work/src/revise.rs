//! Mending what falls short: plans from findings, their steps, reviews, and looking again until nothing moves.
//! Owns: the order of that, as types that only the step before can give. Must not: write a text, or decide for a person.
//!
//! ```text
//! look ── plan ──► Compiled ── begin ──► Dispatched ── start ──► Started ── done ──► Dispatched …
//!  ▲        └─► ended: nothing will do                              └─► Stepped ── review ──► look ── settle
//!  └───────────────────────────────────────────────────────────────────────────── Asked ── decided ─┘
//! ```
//!
//! The revisor plans and never changes a text; what a step makes is given by whoever carries it out. After a restart `standing` says
//! from the rows where each plan is.

pub mod edit;
pub mod review;

mod anew;
pub(crate) mod attempt;
pub(crate) mod cascade;
mod compile;
pub(crate) mod dispatch;
pub(crate) mod plans;
pub(crate) mod steps;
pub(crate) mod sufficiency;
mod verify;
mod way;

pub use cascade::{Settled, settle};
pub use dispatch::{After, Begun, Next, Produced, Started, Work, begin, done, failed, start};
pub use review::{Decision, Reviewed, decided, review};
pub use verify::Flaw;
pub(crate) use verify::threshold as verifier_threshold;

use crate::desk::{Desk, Error};
use crate::evaluate::{self, Head, Looked};
use crate::feedback;
use crate::finding::Known;
use crate::outcome;
use crate::score::Seen;
use crate::task::Outcome;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use compile::Wanted;
use countersign_govern::types::added::outcome::Consumption;
use countersign_govern::types::added::repair::TieBreakDecision;
use countersign_govern::types::chain::EvaluationResultEnvelope;
use countersign_govern::types::revision::RevisionExecutionLifecycleState as PlanState;
use countersign_record::digest::Digest;
use plans::Plan;
use sufficiency::Found;

/// A plan that is made and not let in yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    plan: String,
}

/// A plan whose next steps can be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatched {
    plan: String,
}

/// A plan whose steps are over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stepped {
    plan: String,
}

/// A change that a person must decide on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    plan: String,
    packet: String,
    question: String,
}

impl Asked {
    /// What the reviewer is shown.
    #[must_use]
    pub fn packet(&self) -> &str {
        &self.packet
    }

    /// The question that waits for an answer.
    #[must_use]
    pub fn question(&self) -> &str {
        &self.question
    }
}

fn base(desk: &Desk, plan: &str) -> Option<Digest> {
    plans::find(desk, plan).ok()?.base(desk).map(|version| version.content)
}

macro_rules! of_plan {
    ($($name:ident)*) => {
        $(impl $name {
            /// The plan.
            #[must_use]
            pub fn plan(&self) -> &str {
                &self.plan
            }

            /// The artifact that it is about, as the task calls it.
            #[must_use]
            pub fn artifact(&self, desk: &Desk) -> Option<String> {
                plans::find(desk, &self.plan).ok().map(|plan| plan.artifact)
            }

            /// The text that its next step builds on, or that it came to: what the last step made, else the head.
            #[must_use]
            pub fn base(&self, desk: &Desk) -> Option<Digest> {
                base(desk, &self.plan)
            }
        })*
    };
}
of_plan!(Compiled Dispatched Stepped Asked);

/// Why a step is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The text is not what the step builds on.
    #[error("{artifact} is not what it was when that was planned")]
    Changed {
        /// Which.
        artifact: String,
    },
    /// The plan is elsewhere.
    #[error("the plan {plan} is {state}")]
    Elsewhere {
        /// Which.
        plan: String,
        /// Where.
        state: &'static str,
    },
    /// The step does not run.
    #[error("the step {step} does not run")]
    NotRunning {
        /// Which.
        step: String,
    },
    /// It can't be written.
    #[error(transparent)]
    Unwritten(#[from] Error),
}

/// That a plan is where it must be.
fn expect(plan: &Plan, states: &[PlanState]) -> Result<(), Refusal> {
    if states.contains(&plan.state) {
        return Ok(());
    }
    Err(Refusal::Elsewhere { plan: plan.id.clone(), state: plan.state.as_str() })
}

/// Whether another attempt can be paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// It can.
    Left,
    /// It can't.
    Spent,
}

/// What a plan is made with, besides the work.
pub struct Means<'a> {
    /// What only the world outside can tell of the work as it is.
    pub seen: &'a Seen,
    /// Whether another attempt can be paid for.
    pub budget: Budget,
}

/// What came of planning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The plans, those first that go first. Each is about another artifact, so they may be carried out at once.
    pub plans: Vec<Compiled>,
    /// The outcomes for which nothing will do, as they stand now.
    pub ended: Vec<Looked>,
}

/// Plans how outcomes that fall short are mended, from what was found. Outcomes for which nothing will do are looked at once more, so
/// that they say so. It is called after every look, also while plans are carried out: what a look hands over must be answered soon.
///
/// # Errors
/// Something can't be written.
pub fn plan(desk: &mut Desk, heads: &[Head<'_>], means: &Means<'_>) -> Result<Planned, Error> {
    let task = desk.task().clone();
    let busy: Vec<String> = plans::live(desk).into_iter().map(|plan| plan.artifact).collect();
    let mut wanted = Wanted::new();
    let mut is_ended = false;
    for outcome in &task.outcomes {
        if !outcome::falls_short(outcome::state(desk, &outcome.id)) {
            continue;
        }
        let own = task.artifact_of(outcome).map(|one| one.id.as_str());
        let head =
            heads.iter().find(|one| Some(one.artifact) == own && !busy.iter().any(|id| id == one.artifact));
        let Some(head) = head else { continue };
        attempt::signal(desk, outcome)?;
        match sufficiency::detect(desk, outcome, head, means)? {
            Found::Open(ways) => {
                wanted.entry(head.artifact.to_string()).or_default().push((outcome.clone(), ways));
            }
            Found::Ended => is_ended = true,
        }
    }
    let ended = if is_ended { evaluate::all(desk, heads, means.seen)? } else { Vec::new() };
    consume(desk, &wanted)?;
    let plans = compile::compile(desk, &wanted)?;
    for looked in &ended {
        attempt::observe(desk, &looked.outcome)?;
    }
    Ok(Planned { plans: plans.into_iter().map(|plan| Compiled { plan }).collect(), ended })
}

/// Says what became of all feedback that was delivered.
fn consume(desk: &mut Desk, wanted: &Wanted) -> Result<(), Error> {
    let planned: Vec<String> = wanted.values().flatten().map(|(one, _)| desk.own(&one.id)).collect();
    for delivery in feedback::owed(desk) {
        let result: Option<EvaluationResultEnvelope> =
            desk.find("EvaluationResultEnvelope", &delivery.result_id);
        let is_used = result.is_some_and(|one| planned.contains(&one.outcome_id));
        let (used, why) = match is_used {
            true => (Consumption::Used, None),
            false => (Consumption::NotUsed, Some("no plan is made for its outcome now")),
        };
        feedback::consume(desk, &delivery, used, why)?;
    }
    Ok(())
}

/// Where a plan is that has not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Live {
    /// It is to be let in.
    Compiled(Compiled),
    /// Its next steps are to be taken, or all are over.
    Dispatched(Dispatched),
    /// Steps are begun, and nobody has said what became of them.
    Running(Vec<Started>),
    /// A person must decide on what it made.
    Asked(Asked),
    /// What it made counts, and is to be looked at again.
    Revalidating,
}

/// Where all plans are that have not come to their end, those first that go first. What a step gave that is begun is not known after
/// a crash: it is to be done again.
///
/// # Errors
/// The rows do not say.
pub fn standing(desk: &Desk) -> Result<Vec<Live>, Error> {
    let order: Vec<String> = desk.all::<TieBreakDecision>().flat_map(|one| one.order).collect();
    let mut plans = plans::live(desk);
    plans.sort_by_key(|plan| (order.iter().position(|id| *id == plan.id), plan.seq));
    plans.into_iter().map(|plan| live(desk, &plan)).collect()
}

fn live(desk: &Desk, plan: &Plan) -> Result<Live, Error> {
    let id = || plan.id.clone();
    Ok(match plan.state {
        PlanState::PlanCompiled => Live::Compiled(Compiled { plan: id() }),
        PlanState::Dispatched | PlanState::StepReceiptReceived => Live::Dispatched(Dispatched { plan: id() }),
        PlanState::StepRunning => Live::Running(dispatch::running(desk, plan)?),
        PlanState::WaitingHardCall => {
            let (packet, question) = review::pending(desk, plan)?;
            Live::Asked(Asked { plan: id(), packet, question })
        }
        PlanState::Revalidating => Live::Revalidating,
        PlanState::DispatchPending
        | PlanState::WaitingDependency
        | PlanState::CascadeRunning
        | PlanState::RegressionDetected
        | PlanState::TerminalSatisfied
        | PlanState::TerminalFailed
        | PlanState::TerminalBlocked
        | PlanState::Cancelled => return Err(Error::Missing(id())),
    })
}

/// The findings that a step is to mend: what whoever writes it is told.
#[must_use]
pub fn findings(desk: &Desk, started: &Started) -> Vec<Known> {
    let Some(plan) = plans::all(desk).into_iter().find(|plan| plan.step(started.step()).is_some()) else {
        return Vec::new();
    };
    let changes = review::changes(desk, &plan);
    let outcomes: Vec<&Outcome> = plan.outcomes.iter().filter_map(|id| desk.task().outcome(id)).collect();
    let known = outcomes.into_iter().flat_map(|outcome| attempt::findings(desk, outcome));
    known
        .filter(|one| {
            changes
                .get(&one.event.finding_id)
                .is_some_and(|steps| steps.iter().any(|step| step == started.step()))
        })
        .collect()
}
