//! Runs: envelopes that agents carry on, stage by stage.
//! Owns: calling agents and keeping rows, each stage durable before the next begins. Must not: decide; `kernel::run` does.

mod alike;
mod command;
mod error;
mod history;
pub mod mind;
pub mod model;
mod rows;

pub use alike::known;
pub use command::Commanding;
pub use error::Error;
pub use history::{Happened, Line, Listed, Met, Setup, Standing, Told, list, met, recorded, told};

use crate::clock::Clock;
use crate::ports::agent::{Agent, Given, Handoff, Said, Unseen};
use crate::ports::ledger::Journal;
use crate::ports::session::Signs;
use crate::ports::sources::{Eligible, Sources};
use crate::work::Work;
use countersign_kernel::grant::Approver;
use countersign_kernel::pipeline::{Agent as Kind, Pipeline, Stage};
use countersign_kernel::run::{
    Answer, Came, Doing, Event, HARD_CALL, Outcome, Refusal, Run, UNKNOWN_EFFECT, decide, outputs,
};
use countersign_record::access::MatterAccess;
use countersign_record::code::Code;
use countersign_record::envelope::{Envelope, Provenance};
use countersign_record::fields::Trouble;
use countersign_record::id::RunId;
use countersign_record::json::{self, Json, Object};
use countersign_record::label::Label;
use countersign_record::state::Reading;
use countersign_record::time::Timestamp;
use countersign_work::cost;
use rows::Rows;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Where a handoff says whose work counts as spent because nobody saw it.
pub(crate) const LOST: &str = "counted_as_spent";
/// Where an envelope says which run it belongs to: the contract has no member for it.
pub const RUN: &str = "run_id";

/// What runs work with.
pub struct Bench {
    /// Where they are written down.
    pub journal: Arc<dyn Journal>,
    /// Whose they are.
    pub access: MatterAccess,
    /// The time, and fresh names.
    pub clock: Arc<Clock>,
    /// Signs what people answer.
    pub signs: Arc<dyn Signs>,
    /// Who works, by stage.
    pub agents: BTreeMap<String, Arc<dyn Agent>>,
    /// The files that what agents hand over may rest on.
    pub sources: Option<Arc<dyn Sources>>,
    /// The governed records, where the run is a task's.
    pub work: Option<Arc<Work>>,
}

/// A run that this process carries on.
pub struct Driver {
    bench: Arc<Bench>,
    id: RunId,
    pipeline: Arc<Pipeline>,
    run: Run,
    label: Label,
    /// What a person gave leave for, until something was sent away under it.
    leave: Option<history::Leave>,
    /// Who began it.
    proposer: String,
    rows: Rows,
    /// Bytes of the envelope, as it is written.
    bytes: usize,
}

/// Bytes of an envelope that a run may begin with: stages keep parts of it in what they hand over.
const BEGIN_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of an envelope that can still be read again with what a stage adds besides its payload.
const ENVELOPE_BYTES_MAX: usize = 15 * 1024 * 1024;

impl Driver {
    /// Begins a run with a document. Nothing is written before it goes on.
    ///
    /// # Errors
    /// It can't be written down.
    pub fn begin(
        bench: impl Into<Arc<Bench>>,
        pipeline: Arc<Pipeline>,
        reading: Reading,
        setup: &Setup,
        label: Label,
    ) -> Result<Self, Error> {
        let bench = bench.into();
        let id = RunId::try_from(format!("run_{}", bench.clock.fresh("run")))?;
        Driver::begin_as(bench, id, pipeline, reading, setup, label)
    }

    /// As [`Driver::begin`], where the run has its name already.
    ///
    /// # Errors
    /// It can't be written down.
    pub fn begin_as(
        bench: impl Into<Arc<Bench>>,
        id: RunId,
        pipeline: Arc<Pipeline>,
        reading: Reading,
        setup: &Setup,
        label: Label,
    ) -> Result<Self, Error> {
        let bench = bench.into();
        let mut run = Run::begun(&pipeline, reading);
        run.envelope.metadata.insert(RUN, id.as_str());
        let mut rows = Rows::new(&bench, &id, 0, label)?;
        let bytes = rows.began(&id, &pipeline, &run.envelope, setup, label)?;
        if let Some(work) = &bench.work {
            work.begin(&id, &bench.access, &bench.clock.now()?)?;
        }
        if bytes > BEGIN_BYTES_MAX {
            return Err(Error::TooLarge { bytes });
        }
        let proposer = bench.access.principal().to_string();
        Ok(Driver { bench, id, pipeline, run, label, leave: None, proposer, rows, bytes })
    }

    /// Opens a run that was begun, as its rows tell it.
    ///
    /// # Errors
    /// There is none, or its rows can't be read.
    pub fn open(bench: impl Into<Arc<Bench>>, told: Told) -> Result<Self, Error> {
        let bench = bench.into();
        let Told { id, pipeline, run, label, leave, lines, end, .. } = told;
        let rows = Rows::new(&bench, &id, end, label)?;
        let proposer = lines.into_iter().next().map(|began| began.actor).unwrap_or_default();
        let bytes = json::to_text(&run.envelope)?.len();
        Ok(Driver { bench, id, pipeline, run, label, leave, proposer, rows, bytes })
    }

    /// Its name.
    #[must_use]
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// Where it stands.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Where it stands as its rows tell it: what could not be written down did not happen, and the rest did.
    ///
    /// # Errors
    /// Nothing of it is durable, or it can't be read.
    pub async fn kept(&self) -> Result<Run, Error> {
        told(&self.bench, &self.id).await.map(|told| told.run)
    }

    /// Goes on until it ends, or a person is needed.
    ///
    /// # Errors
    /// It can't go on, or can't be written down; what is durable stays.
    pub async fn drive(&mut self, cancel: &CancellationToken) -> Result<(), Error> {
        self.stage(cancel).await?;
        while self.run.doing == Doing::Ready {
            self.stage(cancel).await?;
        }
        self.settled().await
    }

    /// Goes on by one stage.
    ///
    /// # Errors
    /// As [`Driver::drive`].
    pub async fn step(&mut self, cancel: &CancellationToken) -> Result<(), Error> {
        self.stage(cancel).await?;
        self.settled().await
    }

    /// Has what is waiting durable. A run that is over holds nothing in its matter's purse any more.
    async fn settled(&mut self) -> Result<(), Error> {
        self.rows.flush().await?;
        let purse = self.bench.work.as_ref().and_then(|work| work.purse());
        match purse.filter(|_| self.run.doing == Doing::Over) {
            Some(purse) => purse.end(&self.id).await,
            None => Ok(()),
        }
    }

    /// Takes in a person's answer. `approver` says whose leave counts.
    ///
    /// # Errors
    /// It changes nothing, and why; or it can't be written down.
    pub async fn answer(&mut self, id: &str, answer: Answer, approver: Approver) -> Result<(), Error> {
        if let Some(at) = self.lapse().await? {
            return Err(Error::Refused(Refusal::Expired { at }));
        }
        let by = self.bench.access.principal().to_string();
        self.choose(id, &answer, &by)?;
        let is_others = answer == Answer::Approve && approver == Approver::SomebodyElse;
        self.come(Came::Answered { id: id.to_owned(), by: by.clone(), answer })?;
        match is_others {
            true if by == self.proposer => Err(Error::Proposer { by }),
            true if self.rows.has_unsigned() => Err(Error::Unsigned { by }),
            true | false => self.settled().await,
        }
    }

    /// Calls the agent that is next, once what came before is durable.
    async fn stage(&mut self, cancel: &CancellationToken) -> Result<(), Error> {
        let is_again = matches!(self.run.doing, Doing::Called { .. });
        if !is_again {
            self.come(Came::Go)?;
        }
        let Doing::Called { stage, .. } = &self.run.doing else { return Ok(()) };
        let pipeline = Arc::clone(&self.pipeline);
        let stage = pipeline.stage(stage).ok_or_else(|| Error::NoAgent { stage: stage.clone() })?;
        let agent = self.bench.agents.get(&stage.name).cloned();
        let agent = agent.ok_or_else(|| Error::NoAgent { stage: stage.name.clone() })?;
        let leave = match &self.leave {
            Some(leave) => leave.holds(&self.bench.clock.now()?),
            None => None,
        };
        // What a call that nobody saw the end of did, it did under the leave that it had then.
        let leave_then = self.leave.as_ref().map(|leave| leave.words.as_str());
        let given = Given {
            run: &self.id,
            stage,
            envelope: &self.run.envelope,
            label: self.label,
            llm_calls_left: self.run.llm_calls_left(),
            leave,
        };
        // What leaves nothing behind but its answer is told with that: nothing is lost with it.
        if self.rows.is_urgent() || !agent.is_silent() {
            self.rows.flush().await?;
        }
        if is_again && let Unseen::Unknown(receipts) = agent.unseen(Given { leave: leave_then, ..given }) {
            let unknown = Said::plain(self.unseen(stage)?, Provenance::default());
            return self.returned(stage, Said { receipts, ..unknown }).await;
        }
        let said = agent.act(given, cancel).await;
        if let Some(error) = self.bench.work.as_ref().and_then(|work| work.failed()) {
            return Err(error);
        }
        // A task's run that is stopped where nothing came of the stage stands where it stood, as after a crash.
        if cancel.is_cancelled() && self.bench.work.is_some() && said.is_broken_off() {
            self.rows.flush().await?;
            return Err(Error::Stopped);
        }
        self.returned(stage, said).await
    }

    /// What is said of a call that nobody saw the end of. What a task foresaw for it counts as spent: a cap holds for what may have
    /// been asked, too.
    fn unseen(&self, stage: &Stage) -> Result<Outcome, Error> {
        let message = "the agent was called, and nobody saw what became of that";
        let mut payload = Object::from([("message", Json::from(message))]);
        if let (Some(work), Kind::BuiltIn { name }) = (&self.bench.work, &stage.agent) {
            let at = self.bench.clock.now()?;
            if work.step(&at, |desk| cost::lost(desk, name))? {
                payload.insert(LOST, name.as_str());
            }
        }
        Ok(Outcome::Escalate { reason: UNKNOWN_EFFECT.to_owned(), payload })
    }

    /// Takes in what an agent says, once it is an envelope that may be handed on.
    async fn returned(&mut self, stage: &Stage, said: Said) -> Result<(), Error> {
        let Said { handoff, llm_calls, label, receipts } = said;
        self.label = self.label.join(label);
        for receipt in &receipts {
            self.rows.put_receipt(receipt, self.label)?;
            if history::is_sent(&receipt.status) {
                self.leave = None;
            }
        }
        let at = self.bench.clock.now()?;
        // A question of ours has its name already; what somebody else's envelope says of that counts for nothing.
        let asked = match &handoff {
            Handoff::Ours(Outcome::Escalate { reason, payload }, _) if reason == HARD_CALL => {
                payload.get("question").and_then(Json::as_str).map(str::to_owned)
            }
            Handoff::Ours(..) | Handoff::Theirs(_) => None,
        };
        let handoff = Box::new(self.checked(stage, handoff, &at).await);
        self.bytes +=
            handoff.payload.iter().map(|(name, value)| name.len() + value.written_len()).sum::<usize>();
        // Another process may begin its names where this one did; each call of an agent has a number of its own.
        let purpose = format!("stop {} {}", self.id, self.run.envelope.bounds.agent_hop_count);
        let stop_id = asked.unwrap_or_else(|| format!("stop_{}", self.bench.clock.fresh(&purpose)));
        self.come_at(Came::Returned { stage: stage.name.clone(), handoff, llm_calls, stop_id }, &at)
    }

    /// The envelope that an agent hands over. What is none, or does not fit the contract, goes to a person instead, and no
    /// other agent is called.
    async fn checked(&self, stage: &Stage, handoff: Handoff, at: &Timestamp) -> Envelope {
        let ours = |outcome, rests_on| self.run.handoff(stage, outcome, rests_on, at);
        let refused = |reason: &str, troubles: &[Trouble]| {
            let first = troubles.first().map(ToString::to_string).unwrap_or_default();
            let paths = troubles.iter().map(|trouble| Json::from(trouble.path.as_str())).collect();
            let payload = Object::from([
                ("message", Json::from(format!("what {} hands over can't be used: {first}", stage.name))),
                ("paths", Json::Array(paths)),
            ]);
            ours(Outcome::Escalate { reason: reason.to_owned(), payload }, Provenance::default())
        };
        let envelope = match handoff {
            Handoff::Ours(outcome, rests_on) => ours(outcome, rests_on),
            Handoff::Theirs(document) => match Envelope::read(document) {
                Ok(envelope) => match self.troubles(&envelope).await {
                    troubles if troubles.is_empty() => envelope,
                    troubles => return refused("validation_fail", &troubles),
                },
                Err(troubles) => return refused("validation_fail", &troubles),
            },
        };
        let payload =
            envelope.payload.iter().map(|(name, value)| name.len() + value.written_len()).sum::<usize>();
        if self.bytes + payload > ENVELOPE_BYTES_MAX {
            let message = format!(
                "the run has {} bytes, and with {payload} more it could not be read again",
                self.bytes
            );
            let trouble = Trouble { path: "/payload".to_owned(), code: Code::FieldInvalid, message };
            return refused("validation_fail", &[trouble]);
        }
        if envelope.escalate {
            return envelope;
        }
        match outputs::check(&stage.output_key, &envelope.payload) {
            Ok(()) => envelope,
            Err(troubles) => refused("schema_violation", &troubles),
        }
    }

    /// What is wrong with somebody else's envelope: it must be of this request and turn, and rest on files that are there
    /// as it says.
    async fn troubles(&self, envelope: &Envelope) -> Vec<Trouble> {
        let mut troubles = Vec::new();
        let mut wrong = |path: String, message: String| {
            troubles.push(Trouble { path, code: Code::FieldInvalid, message });
        };
        let (request, turn) = (&self.run.envelope.identity.request_id, self.run.turn());
        if envelope.request_id != request.as_str() {
            wrong("/request_id".to_owned(), format!("the request is {request}"));
        }
        if envelope.turn_id != turn {
            wrong("/turn_id".to_owned(), format!("the turn is {turn}"));
        }
        for (at, file) in envelope.provenance.files.iter().enumerate() {
            let named = Eligible { path: file.path.clone(), sha256: file.sha256 };
            let found = match &self.bench.sources {
                Some(sources) => sources.text(&named).await.map(drop).map_err(|error| error.message),
                None => Err("the run has no sources that it could be one of".to_owned()),
            };
            if let Err(why) = found {
                wrong(format!("/provenance/files/{at}"), why);
            }
        }
        troubles
    }

    fn come(&mut self, came: Came) -> Result<(), Error> {
        let at = self.bench.clock.now()?;
        self.come_at(came, &at)
    }

    fn come_at(&mut self, came: Came, at: &Timestamp) -> Result<(), Error> {
        let events = decide(&self.pipeline, &self.run, came, at)?;
        for event in &events {
            self.rows.event(event, at, self.label)?;
            if let Some(leave) = history::leave(&self.run, event, at) {
                self.leave = Some(leave);
            }
            self.run.apply(event);
        }
        Ok(())
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Error::Refused(refusal)
    }
}

/// Whether an event is a person's decision, which the person signs.
fn is_decision(event: &Event) -> bool {
    matches!(event, Event::Answered { .. })
}
