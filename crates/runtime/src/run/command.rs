//! Commands that people give to a task's run.
//! Owns: having them carried out, and what follows from them for the run. Must not: decide; `countersign-work` and the kernel do.

use super::{Driver, Error};
use crate::agents::contract_question;
use countersign_govern::decide::command;
use countersign_govern::decide::replay::Step;
use countersign_govern::types::added::showing::{ActorKind, CommandReceipt};
use countersign_govern::types::checkpoint::TaskRunFork;
use countersign_kernel::run::{Answer, Came, Doing, HARD_CALL, LAPSED};
use countersign_record::digest::Digest;
use countersign_record::id::RunId;
use countersign_record::json::{Json, Object};
use countersign_record::time::Timestamp;
use countersign_work::command::{Asked, By, Effect, Ruling};
use countersign_work::score::Seen;
use countersign_work::{call, contract};
use std::collections::BTreeMap;

/// A command, as it is given to a run.
#[derive(Clone, Copy, Debug)]
pub struct Commanding<'a> {
    /// Which.
    pub command: &'a str,
    /// By which a second try is known.
    pub key: &'a str,
    /// What it is asked with.
    pub request: &'a Json,
    /// Whether whoever began a run may not decide on it.
    pub needs_another: bool,
    /// The steps of the run so far, as a replay would take them.
    pub steps: &'a [Step],
    /// What was last seen of the work.
    pub seen: &'a Seen,
}

impl Driver {
    /// Takes in what a person chose, where a task's run asked them: the records of it are durable with the answer.
    pub(super) fn choose(&self, id: &str, answer: &Answer, by: &str) -> Result<(), Error> {
        let (Some(_), Doing::Waiting(stop)) = (&self.bench.work, &self.run.doing) else { return Ok(()) };
        if stop.id != id {
            return Ok(());
        }
        let is_contract = self.is_contract(&stop.message);
        let (command, request) = match answer {
            Answer::Approve if is_contract => ("contract_review.approve", Object::new()),
            Answer::Deny | Answer::GiveUp if is_contract => {
                ("contract_review.reject", Object::from([("reason", Json::from("refused"))]))
            }
            _ if stop.reason != HARD_CALL => return Ok(()),
            Answer::Choose(option) => {
                let request = [("hard_call_id", Json::from(id)), ("option_id", option.as_str().into())];
                ("hard_call.resolve", Object::from(request))
            }
            Answer::GiveUp => ("task.cancel", Object::new()),
            Answer::Text(_) | Answer::Approve | Answer::Deny | Answer::Retry => return Ok(()),
        };
        let (key, request) = (format!("answer {id} {by}"), Json::from(request));
        // An answer looks at nothing.
        let seen = Seen::default();
        let commanding = Commanding {
            command,
            key: &key,
            request: &request,
            needs_another: false,
            steps: &[],
            seen: &seen,
        };
        let ruling = self.commanded(&commanding, &self.bench.clock.now()?)?;
        match ruling.outcome {
            command::Outcome::Accepted => Ok(()),
            command::Outcome::PolicyDenied | command::Outcome::NotFound | command::Outcome::WrongState => {
                Err(Error::NoAnswer { why: ruling.reasons.join("; ") })
            }
        }
    }

    /// What becomes of questions that nobody answered in time is put down: one is for somebody else from then on, or it ends the run if
    /// its task has runs end then; tells since when.
    ///
    /// # Errors
    /// It can't be written down.
    pub async fn lapse(&mut self) -> Result<Option<Timestamp>, Error> {
        let (Some(work), Doing::Waiting(stop)) = (&self.bench.work, &self.run.doing) else { return Ok(None) };
        let at = self.bench.clock.now()?;
        let Some(end) = work.look(|desk| call::ending(desk, &stop.id)).flatten() else {
            if work.look(|desk| call::lapses(desk, &at)).unwrap_or(false) {
                work.step(&at, call::lapse)?;
                self.settled().await?;
            }
            return Ok(None);
        };
        if at.instant() < end.instant() {
            return Ok(None);
        }
        let (key, request) = (format!("timeout {}", stop.id), Json::from(Object::new()));
        let by = By {
            name: "work",
            kind: ActorKind::Engine,
            matter: self.bench.access.matter().as_str(),
            is_proposer: false,
            needs_another: false,
        };
        let asked = Asked { command: "task.cancel", key: &key, request: &request, by };
        // Nothing is begun and nothing is looked at.
        work.command(&at, &asked, &self.id, &[], (false, &Seen::default()))?;
        self.come_at(Came::Cancelled { by: LAPSED.to_owned() }, &at)?;
        self.settled().await?;
        Ok(Some(end))
    }

    /// The question about the task's contract, if the run waits for it.
    fn contract_asked(&self) -> Option<String> {
        let Doing::Waiting(stop) = &self.run.doing else { return None };
        self.is_contract(&stop.message).then(|| stop.id.clone())
    }

    /// Whether a question is the one about the task's contract.
    fn is_contract(&self, message: &str) -> bool {
        let review = self.bench.work.as_ref().and_then(|work| work.look(contract::last).flatten());
        review.is_some_and(|review| contract_question(&review) == message)
    }

    /// Gives a command to the run. What it writes and what follows from that is durable together; a run that is begun by it is begun
    /// by `begins`, and durable with it too.
    ///
    /// # Errors
    /// It gets no receipt, or can't be written down.
    pub async fn command<E: From<Error>>(
        &mut self,
        commanding: &Commanding<'_>,
        begins: impl FnOnce(&TaskRunFork, &BTreeMap<String, Digest>) -> Result<Driver, E>,
    ) -> Result<(Ruling, Option<Driver>), E> {
        // A run that nobody answered in time is over before anything else is asked of it.
        self.lapse().await?;
        let at = self.bench.clock.now().map_err(Error::from)?;
        let contract = self.contract_asked();
        let ruling = self.commanded(commanding, &at)?;
        let by = self.bench.access.principal().to_string();
        self.follows(&ruling, (commanding.command, contract), &by, &at)?;
        let mut begun = None;
        if let Effect::Forked { fork, heads, .. } = &ruling.effect {
            begun = Some(begins(fork, heads)?);
        }
        match &mut begun {
            Some(new) => self.rows.flush_with(&mut new.rows).await?,
            None => self.settled().await?,
        }
        Ok((ruling, begun))
    }

    /// Gives a command once more that was given when the run was driven first. Nothing is begun by it and nothing leaves; what became
    /// of what it had done outside is told as it was.
    ///
    /// # Errors
    /// It gets no receipt, or can't be written down.
    pub(crate) fn commanded_again(
        &mut self,
        asked: &Asked<'_>,
        new_run: &RunId,
        seen: &Seen,
        has_left: Option<bool>,
    ) -> Result<(), Error> {
        let work = self.bench.work.clone().ok_or_else(|| Error::NoTask { run: self.id.clone() })?;
        let (at, contract) = (self.bench.clock.now()?, self.contract_asked());
        let is_over = self.run.doing == Doing::Over;
        let ruling = work.command(&at, asked, new_run, &[], (is_over, seen))?;
        self.follows(&ruling, (asked.command, contract), asked.by.name, &at)?;
        if let (Effect::Export { .. }, Some(has_left)) = (&ruling.effect, has_left) {
            work.finished(&at, asked, has_left)?;
        }
        Ok(())
    }

    /// Whose run it is.
    pub(crate) fn matter(&self) -> &str {
        self.bench.access.matter().as_str()
    }

    /// What follows from a command for the run.
    fn follows(
        &mut self,
        ruling: &Ruling,
        (command, contract): (&str, Option<String>),
        by: &str,
        at: &Timestamp,
    ) -> Result<(), Error> {
        let decided = match (command, ruling.outcome) {
            ("contract_review.approve", command::Outcome::Accepted) => Some(Answer::Approve),
            ("contract_review.reject", command::Outcome::Accepted) => Some(Answer::Deny),
            (_, _) => None,
        };
        // Who decides on the contract by a command answers the run that waits for that.
        if let (Some(id), Some(answer), false) = (contract, decided, ruling.is_repeated) {
            self.come_at(Came::Answered { id, by: by.to_owned(), answer }, at)?;
        }
        match &ruling.effect {
            // What is to leave leaves once it stands in the ledger that it is about to.
            Effect::Nothing | Effect::Previewed(_) | Effect::Export { .. } => Ok(()),
            Effect::Answered { question, option } => self.goes_on(question, option, by, at),
            Effect::Cancelled => self.come_at(Came::Cancelled { by: by.to_owned() }, at),
            Effect::Forked { answered, .. } => match answered {
                Some((question, option)) => self.goes_on(question, option, by, at),
                None => Ok(()),
            },
        }
    }

    /// Says what became of what a command had done outside; it has its receipt now.
    ///
    /// # Errors
    /// Nothing was to be done outside, or it can't be written down.
    pub async fn finished(
        &mut self,
        commanding: &Commanding<'_>,
        has_left: bool,
    ) -> Result<CommandReceipt, Error> {
        let work = self.bench.work.as_ref().ok_or_else(|| Error::NoTask { run: self.id.clone() })?;
        let at = self.bench.clock.now()?;
        let name = self.bench.access.principal().to_string();
        let asked = self.asked(commanding, &name);
        let receipt = work.finished(&at, &asked, has_left)?;
        self.rows.flush().await?;
        Ok(receipt)
    }

    /// A command as one gives it who has a name.
    fn asked<'a>(&'a self, commanding: &Commanding<'a>, name: &'a str) -> Asked<'a> {
        let by = By {
            name,
            kind: ActorKind::User,
            matter: self.bench.access.matter().as_str(),
            is_proposer: name == self.proposer,
            needs_another: commanding.needs_another,
        };
        Asked { command: commanding.command, key: commanding.key, request: commanding.request, by }
    }

    /// Has the records of a command put down, at a time.
    fn commanded(&self, commanding: &Commanding<'_>, at: &Timestamp) -> Result<Ruling, Error> {
        let work = self.bench.work.as_ref().ok_or_else(|| Error::NoTask { run: self.id.clone() })?;
        let name = self.bench.access.principal().to_string();
        let asked = self.asked(commanding, &name);
        // Another process may begin its names where this one did; each place in a run's records has a name of its own.
        let purpose = format!("fork {} {}", self.id, work.end());
        let new_run = RunId::try_from(format!("run_{}", self.bench.clock.fresh(&purpose)))?;
        let is_over = self.run.doing == Doing::Over;
        work.command(at, &asked, &new_run, commanding.steps, (is_over, commanding.seen))
    }

    /// A question was answered by a command: the run goes on, if it waits for that.
    fn goes_on(&mut self, question: &str, option: &str, by: &str, at: &Timestamp) -> Result<(), Error> {
        match &self.run.doing {
            Doing::Waiting(stop) if stop.id == question => {
                let (id, by) = (question.to_owned(), by.to_owned());
                self.come_at(Came::Answered { id, by, answer: Answer::Choose(option.to_owned()) }, at)
            }
            Doing::Waiting(_) | Doing::Ready | Doing::Called { .. } | Doing::Over => Ok(()),
        }
    }
}
