//! The agent port: who works in a stage.
//! Owns: the trait, what an agent is given and what it says. Must not: know an agent.

use super::Answer;
use countersign_kernel::pipeline::Stage;
use countersign_kernel::run::Outcome;
use countersign_record::deed::Externalized;
use countersign_record::envelope::{Envelope, Provenance};
use countersign_record::id::RunId;
use countersign_record::json::Json;
use countersign_record::label::Label;
use countersign_record::state::GenericEnvelope;
use countersign_record::time::Timestamp;
use tokio_util::sync::CancellationToken;

/// What an agent is given.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The run.
    pub run: &'a RunId,
    /// The stage that it works in.
    pub stage: &'a Stage,
    /// The run's state.
    pub envelope: &'a GenericEnvelope,
    /// What holds for that state.
    pub label: Label,
    /// How often it may call a model.
    pub llm_calls_left: u64,
    /// What a person gave leave for, in this run and in these words. What an envelope says of that anybody may have
    /// written.
    pub leave: Option<&'a str>,
}

/// What an agent says.
#[derive(Clone, Debug)]
pub struct Said {
    /// What it hands over.
    pub handoff: Handoff,
    /// How often it called a model.
    pub llm_calls: u64,
    /// What holds for what it says, beside what holds for what it was given.
    pub label: Label,
    /// What left the machine for it, or was kept from that.
    pub receipts: Vec<Externalized>,
}

/// What an agent hands over.
#[derive(Clone, Debug)]
pub enum Handoff {
    /// One of ours: what it says, and what that rests on.
    Ours(Outcome, Provenance),
    /// Somebody else's SR2 envelope, which nobody has checked yet.
    Theirs(Json),
}

impl Said {
    /// Whether it came to nothing that anybody saw or paid for, and may come to something another time.
    #[must_use]
    pub fn is_broken_off(&self) -> bool {
        let may_be_repeated = match &self.handoff {
            Handoff::Ours(Outcome::Failed(fault), _) => fault.recoverable,
            Handoff::Ours(..) | Handoff::Theirs(_) => false,
        };
        may_be_repeated && self.llm_calls == 0 && self.receipts.is_empty()
    }

    /// What an agent says that called no model, and used nothing that has a label of its own.
    #[must_use]
    pub fn plain(outcome: Outcome, rests_on: Provenance) -> Self {
        let handoff = Handoff::Ours(outcome, rests_on);
        Said { handoff, llm_calls: 0, label: Label::NOTHING, receipts: Vec::new() }
    }
}

/// What a call means that nobody saw the end of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unseen {
    /// It changes nothing and sends nothing: it may be made again.
    Repeatable,
    /// A person must be asked. These are the receipts for what it may have sent away.
    Unknown(Vec<Externalized>),
}

/// Who works in a stage.
pub trait Agent: Send + Sync {
    /// What a call means that nobody saw the end of.
    fn unseen(&self, given: Given<'_>) -> Unseen;

    /// Whether a call leaves nothing behind but its answer, at once: it sends nothing, changes nothing, reads nothing that takes
    /// time and writes no row. Such a call need not be durable before it is made.
    fn is_silent(&self) -> bool {
        false
    }

    /// Decides again what it put down when it handed `then` over: from that, the run's state and the records before, at the time that
    /// it had. Gives what it would hand over. Nothing for an agent that puts no records down: what it handed over stands for itself.
    ///
    /// # Errors
    /// It can't be decided again, and why.
    fn again(&self, given: Given<'_>, then: &Envelope, at: &Timestamp) -> Result<Option<Outcome>, String> {
        let _nothing_is_put_down = (given, then, at);
        Ok(None)
    }

    /// Works. It ends by itself, within its own bounds of time; `cancel` ends it earlier.
    fn act<'a>(&'a self, given: Given<'a>, cancel: &'a CancellationToken) -> Answer<'a, Said>;
}
