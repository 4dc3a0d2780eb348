//! Critic of a task: looks at every outcome, and says where the run goes.
//! Owns: the texts that are looked at, and reading the verdict off what the chains came to. Must not: score, find or resolve.

use super::asking::{self, Asking};
use super::ran::{CANCELLED, Running};
use super::seen;
use super::{Means, asked, outcome_of, question, unwritten};
use crate::agents::{failed, written};
use crate::looked::{Looked, Told};
use crate::ports::Answer;
use crate::ports::agent::{Agent, Given, Said, Unseen};
use crate::run::Error;
use crate::work::Work;
use countersign_govern::types::outcome::OutcomeEvaluationState as State;
use countersign_govern::types::sufficiency::CandidateRepairProcedureSafetyClass as Safety;
use countersign_kernel::run::{HARD_CALL, Outcome};
use countersign_record::canonical::Score;
use countersign_record::envelope::{Envelope, Provenance};
use countersign_record::json::{self, Json, Object};
use countersign_record::state::GenericEnvelope;
use countersign_record::time::Timestamp;
use countersign_work::artifact::{self, Made};
use countersign_work::asking::record;
use countersign_work::call;
use countersign_work::closing;
use countersign_work::cost;
use countersign_work::desk::Desk;
use countersign_work::evaluate;
use countersign_work::guidance;
use countersign_work::outcome;
use countersign_work::revise::{self, Live};
use countersign_work::score::Seen;
use countersign_work::texts::Head;
use countersign_work::travel::checkpoint;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

/// Looks at every outcome.
pub(in crate::agents) struct Evaluator(pub(in crate::agents) Means);

#[derive(Serialize)]
struct Judged {
    verdict: &'static str,
    /// Where the run goes from here.
    route: &'static str,
    satisfied_goals: Vec<String>,
    unsatisfied_goals: Vec<String>,
    feedback: String,
    confidence: Score,
    /// How each outcome stands.
    outcomes: Vec<Stands>,
    /// What only the outside could tell, by criterion. With this and the texts everything else is decided again.
    #[serde(flatten)]
    seen: Told,
}

/// A question, with what was seen before it was raised.
fn with(outcome: Outcome, seen: &Told) -> Outcome {
    match outcome {
        Outcome::Escalate { reason, mut payload } => {
            for (name, value) in
                json::value_of(seen).ok().iter().filter_map(Json::as_object).flat_map(Object::iter)
            {
                payload.insert(name, value.clone());
            }
            Outcome::Escalate { reason, payload }
        }
        Outcome::Done(_)
        | Outcome::Clarify { .. }
        | Outcome::Confirm { .. }
        | Outcome::Denied { .. }
        | Outcome::Failed(_) => outcome,
    }
}

#[derive(Serialize)]
struct Stands {
    outcome: String,
    state: &'static str,
}

/// Who looks.
const MODULE: &str = "evaluator";

/// The words for where a run goes.
const REVISION: &str = "revision";
const HAND_OVER: &str = "hand_over";

impl Agent for Evaluator {
    fn unseen(&self, given: Given<'_>) -> Unseen {
        // Only a judge is ever asked anything, and a command changes nothing.
        let has_judge = self.0.work.as_ref().is_some_and(|work| work.task().has_judge());
        if has_judge { self.0.mind.unseen(given) } else { Unseen::Repeatable }
    }

    fn act<'a>(&'a self, given: Given<'a>, cancel: &'a CancellationToken) -> Answer<'a, Said> {
        Box::pin(async move {
            let work = match self.0.work() {
                Ok(work) => work,
                Err(said) => return *said,
            };
            let mut asking = match Asking::new(&self.0, work, given, cancel) {
                Ok(asking) => asking,
                Err(said) => return *said,
            };
            let at = asking.began().clone();
            let before = work.look(Desk::clone);
            if let Err(error) = first_versions(work, given.envelope, &at) {
                return unwritten(&error);
            }
            let commands = self.0.commands.as_deref();
            let running = Running { commands, run: given.run, cancel };
            let seen = match seen::look(work, &work.heads(), &running, &mut asking).await {
                Ok(seen) => seen,
                Err(outcome) if asking.is_silent() && is_cancelled(&outcome) => {
                    // Nobody was asked, and commands change nothing: nothing has come of it.
                    work.put_back(before);
                    return failed("the look was cancelled", true);
                }
                Err(outcome) => return asking.stops(MODULE, outcome).await,
            };
            let took = match asking.put_down(MODULE).await {
                Ok(took) => took,
                Err(error) => return unwritten(&error),
            };
            let said = match looked(work, &seen.seen, &at) {
                Ok(()) => asking::beside(told(work, given.envelope, &seen), &took),
                Err(error) => unwritten(&error),
            };
            asking.says(said)
        })
    }

    fn again(&self, given: Given<'_>, then: &Envelope, at: &Timestamp) -> Result<Option<Outcome>, String> {
        let work = self.0.work.as_ref().ok_or("the run is no task's")?;
        first_versions(work, given.envelope, at).map_err(|error| error.to_string())?;
        let kept = asking::kept_again(work, &then.payload, at)?;
        if let Some(outcome) = asking::stopped_again(work, MODULE, &then.payload, at)? {
            return Ok(Some(outcome));
        }
        let Some(took) = asking::told(&then.payload) else { return Ok(None) };
        work.step(at, |desk| record(desk, MODULE, &took)).map_err(|error| error.to_string())?;
        // Where a judge had no answer, nobody has looked.
        if then.escalate && then.reason.as_deref() != Some(HARD_CALL) {
            return Ok(None);
        }
        let seen = Looked::read(&then.payload);
        looked(work, &seen.seen, at).map_err(|error| error.to_string())?;
        let said = asking::beside(told(work, given.envelope, &seen), &took);
        Ok(outcome_of(asking::without(said, kept)))
    }
}

fn is_cancelled(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Escalate { reason, .. } if reason == CANCELLED)
}

/// Looks at every outcome that can be looked at, and keeps what is good.
fn looked(work: &Work, seen: &Seen, at: &Timestamp) -> Result<(), Error> {
    let all = work.checked(at)?;
    let heads: Vec<evaluate::Head<'_>> = all.iter().map(Head::seen).collect();
    work.step(at, |desk| {
        evaluate::all(desk, &heads, seen)?;
        checkpoint::keep_good(desk)?;
        revise::settle(desk)?;
        guidance::renew(desk)?;
        // What falls short is planned for at once: what a look hands over must be answered soon.
        revise::plan(desk, &heads, &revise::Means { seen, budget: cost::left(desk) })?;
        // Whoever is asked sees how everything stands.
        if call::open(desk).is_empty() { Ok(()) } else { closing::show(desk) }
    })?;
    Ok(())
}

/// What was drafted becomes the first version of each artifact: code that has a CodeSpec as A5 let it through, and not else.
fn first_versions(work: &Work, envelope: &GenericEnvelope, at: &Timestamp) -> Result<(), Error> {
    let outputs = &envelope.progress.outputs;
    let fits = |output: &&Object| output.get("status").and_then(Json::as_str) == Some(PASS);
    let enforced = outputs.get("enforcement").filter(fits);
    let enforced = enforced.and_then(|output| output.get("artifact")?.get("code_fenced")?.as_str());
    let enforced = enforced.map(unfenced);
    for artifact in &work.task().artifacts {
        let drafted = outputs.get("draft").and_then(|draft| draft.get("texts")?.get(&artifact.id)?.as_str());
        let text = if artifact.codespec.is_some() { enforced.as_deref() } else { drafted };
        let has_head = work.look(|desk| artifact::head(desk, &artifact.id).is_some()).unwrap_or(false);
        let (Some(text), false) = (text, has_head) else { continue };
        work.keep(text.as_bytes());
        work.step(at, |desk| {
            let made = Made {
                artifact: &artifact.id,
                bytes: text.as_bytes(),
                step_id: None,
                safety: Safety::Mechanical,
            };
            let version = artifact::candidate(desk, &made)?;
            artifact::accept(desk, &artifact.id, &version)
        })?;
    }
    Ok(())
}

/// What the enforcer says of code that keeps its CodeSpec.
const PASS: &str = "PASS";

/// What stands in a fenced block.
fn unfenced(block: &str) -> String {
    let inside = block.trim().split_once('\n').map_or("", |(_, rest)| rest);
    inside.rsplit_once('\n').map_or_else(String::new, |(code, _)| format!("{code}\n"))
}

/// What the looks came to: the verdict follows from where the outcomes stand.
fn told(work: &Work, envelope: &GenericEnvelope, seen: &Looked) -> Said {
    let stands: Vec<(String, State)> = work
        .look(|desk| {
            let state =
                |one: &countersign_work::task::Outcome| (one.id.clone(), outcome::state(desk, &one.id));
            desk.task().outcomes.iter().map(state).collect()
        })
        .unwrap_or_default();
    // A plan that was made and not carried out yet.
    let is_planned = |desk: &Desk| {
        let is_one = |one: &Live| matches!(one, Live::Compiled(_) | Live::Dispatched(_));
        revise::standing(desk).is_ok_and(|all| all.iter().any(is_one))
    };
    let needs_revision = work.look(is_planned).unwrap_or(false);
    let seen = seen.told();
    if !needs_revision && let Some(outcome) = work.look(question).flatten() {
        return asked(with(outcome, &seen));
    }
    let open: Vec<String> =
        stands.iter().filter(|(_, state)| !outcome::is_settled(*state)).map(|(id, _)| id.clone()).collect();
    let goals = envelope.goals.remaining_goals.clone();
    let (satisfied_goals, unsatisfied_goals) =
        if open.is_empty() { (goals, Vec::new()) } else { (Vec::new(), goals) };
    let feedback = if open.is_empty() { String::new() } else { format!("not met: {}", open.join(", ")) };
    let judged = Judged {
        verdict: "approved",
        route: if needs_revision { REVISION } else { HAND_OVER },
        satisfied_goals,
        unsatisfied_goals,
        feedback,
        confidence: Score::of_halves(if open.is_empty() { 2 } else { 0 }),
        outcomes: stands
            .into_iter()
            .map(|(outcome, state)| Stands { outcome, state: state.as_str() })
            .collect(),
        seen,
    };
    written(&judged, Provenance::default())
}
