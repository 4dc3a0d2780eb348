//! Asking a model in a stage of a task: within the budget, with leave, and told whole.
//! Owns: the order of that, what a stage took. Must not: decide whether it may be asked; `countersign-work` does.

mod handoff;

pub(super) use handoff::{beside, denied, kept_again, stopped_again, told, without};

use super::{Means, asked, unwritten};
use crate::agents::failed;
use crate::ports::agent::{Given, Said};
use crate::ports::model::{Model, Reply, Request, Site};
use crate::run::Error;
use crate::run::mind::Asked;
use crate::work::Work;
use countersign_govern::types::wire::{Reading, Wire};
use countersign_kernel::run::{Fault, Outcome};
use countersign_record::code::Code;
use countersign_record::deed::Externalized;
use countersign_record::json::{Json, Object};
use countersign_record::label::Label;
use countersign_record::state::GenericEnvelope;
use countersign_record::time::Timestamp;
use countersign_work::asking::{self, Call, Ended, Next, Refusal, Took, Wanted, tokens};
use countersign_work::cost::{self, Amounts, Price};
use countersign_work::task::EMBEDDED;
use handoff::{KEPT, WANTED, aside, refused, with};
use serde::Serialize;
use std::collections::BTreeMap;
use tokio_util::sync::CancellationToken;

/// Who answers, as far as costs go.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Answers {
    /// Whether it only quotes.
    is_quoting: bool,
    /// Where the model is, if not here.
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    /// What a million tokens cost that go in and come out, in millionths of a dollar, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    prices: Option<[u64; 2]>,
}

impl Answers {
    pub(super) fn of(model: &dyn Model) -> Self {
        let host = match &model.about().site {
            Site::Here | Site::HereSlowly => None,
            Site::Remote(host) => Some(host.clone()),
        };
        let million = 1_000_000;
        let prices = model.cost_micros(million, 0).zip(model.cost_micros(0, million));
        let is_quoting = model.about().provider == EMBEDDED;
        Answers { is_quoting, host, prices: prices.map(|(input, output)| [input, output]) }
    }

    /// The same, as a stage told it.
    pub(super) fn told(payload: &Object) -> Option<Self> {
        let is_quoting = payload.get("is_quoting")? == &Json::Bool(true);
        let host = payload.get("host").and_then(Json::as_str).map(str::to_owned);
        let prices = payload.get("prices").and_then(Json::as_array).and_then(|both| {
            let one = |at: usize| u64::read(both.get(at)?, &mut Reading::default());
            Some([one(0)?, one(1)?])
        });
        Some(Answers { is_quoting, host, prices })
    }

    pub(super) fn model(&self) -> cost::Model {
        let price = self.prices.map(|[input, output]| Price { input, output });
        match (self.is_quoting, &self.host) {
            (true, _) => cost::Model::Quotes,
            (false, Some(_)) => cost::Model::Remote(price),
            (false, None) => cost::Model::Local,
        }
    }
}

/// Why a person is asked where a model has no answer.
pub(super) const MODEL_FAILED: &str = "model_failed";

/// Why a stage asks nothing.
pub(super) enum Stopped {
    /// What the stage hands over instead.
    Outcome(Outcome),
    /// A person said that nothing more is to be spent: what can be had without is all there is.
    Over,
    /// It may not leave, and why. A stage that can do without says [`Asking::goes_on`].
    Kept(String, Wanted),
}

/// The questions of a stage.
pub(super) struct Asking<'a> {
    means: &'a Means,
    work: &'a Work,
    given: Given<'a>,
    cancel: &'a CancellationToken,
    answers: Answers,
    began: Timestamp,
    /// What is held for them.
    held: Vec<Held>,
    /// What they were let for, all together, and what was foreseen of those that were asked.
    cleared: Amounts,
    foreseen: Amounts,
    /// Whether the budget stopped them before the last of them.
    is_short: bool,
    /// What was not asked because it may not leave, where the stage goes on without.
    kept: Option<Wanted>,
    calls: Vec<Call>,
    llm_calls: u64,
    receipts: Vec<Externalized>,
}

/// What is held in the purse of the matter for questions: from which of the stage's on.
struct Held {
    step: String,
    from: usize,
    amounts: Amounts,
}

/// What is asked, and of what it is made.
pub(super) struct Question<'q> {
    /// Who asks.
    pub(super) module: &'q str,
    /// What the forecast calls it.
    pub(super) planned: Option<String>,
    /// Tokens that are shown of each source and each artifact, by their names in the task.
    pub(super) shown: BTreeMap<String, u64>,
    pub(super) request: &'q Request,
}

impl<'a> Asking<'a> {
    /// A stage begins.
    ///
    /// # Errors
    /// What it says if there is no clock.
    pub(super) fn new(
        means: &'a Means,
        work: &'a Work,
        given: Given<'a>,
        cancel: &'a CancellationToken,
    ) -> Result<Self, Box<Said>> {
        let began = means.clock.now().map_err(|error| Box::new(failed(&error.to_string(), false)))?;
        let answers = Answers::of(&*means.mind.model);
        Ok(Asking {
            means,
            work,
            given,
            cancel,
            answers,
            began,
            held: Vec::new(),
            cleared: Amounts::new(),
            foreseen: Amounts::new(),
            is_short: false,
            kept: None,
            calls: Vec::new(),
            llm_calls: 0,
            receipts: Vec::new(),
        })
    }

    /// When the stage began.
    pub(super) fn began(&self) -> &Timestamp {
        &self.began
    }

    /// The run's state.
    pub(super) fn envelope(&self) -> &GenericEnvelope {
        self.given.envelope
    }

    /// Whether nobody was asked.
    pub(super) fn is_silent(&self) -> bool {
        self.llm_calls == 0 && self.receipts.is_empty()
    }

    /// Whether the model only quotes: such a one is asked nothing.
    pub(super) fn is_embedded(&self) -> bool {
        self.answers.is_quoting
    }

    /// What questions may come to, all together.
    pub(super) fn most<'q>(&self, requests: impl Iterator<Item = &'q Request>) -> Amounts {
        let mut all = Amounts::new();
        for request in requests {
            let input = request.messages.iter().map(|one| tokens(&one.content)).fold(0, u64::saturating_add);
            cost::add(&mut all, &self.answers.model().cost(input, u64::from(request.max_tokens)));
        }
        all
    }

    /// Has the questions of the stage let, all together, before the first is asked.
    ///
    /// # Errors
    /// They are not.
    pub(super) async fn clear(&mut self, amounts: Amounts) -> Result<(), Stopped> {
        let next = Next { host: self.answers.host.as_deref(), amounts: amounts.clone() };
        let let_go = self.work.step(&self.began, |desk| asking::may(desk, &next));
        match let_go.map_err(|error| Stopped::Outcome(broken(&error)))? {
            Ok(()) => {
                self.reserve(&amounts).await?;
                self.cleared = amounts;
                Ok(())
            }
            Err(Refusal::Over) => Err(Stopped::Over),
            Err(Refusal::Held(why)) => {
                Err(Stopped::Kept(why, Wanted { host: self.answers.host.clone(), amounts }))
            }
            Err(refusal @ Refusal::Asked) => {
                let said = refused(self.work, refusal);
                let said = said.unwrap_or_else(|| Outcome::denied("it may not be asked"));
                let wanted = Wanted { host: self.answers.host.clone(), amounts };
                Err(Stopped::Outcome(with(said, WANTED, wanted.write())))
            }
        }
    }

    /// The stage goes on without what may not leave; what it hands over tells that.
    pub(super) fn goes_on(&mut self, without: Wanted) {
        self.kept = Some(without);
    }

    /// What the stage is called in the purse: a stage that is called again holds what it held.
    fn step(&self) -> String {
        let stage = format!("{}.{}", self.given.stage.name, self.given.envelope.bounds.agent_hop_count);
        match self.held.len() {
            0 => stage,
            before => format!("{stage}.{}", before + 1),
        }
    }

    /// What the stage spent so far that is not put down yet.
    fn spent(&self) -> Amounts {
        let mut spent = Amounts::new();
        self.calls.iter().for_each(|call| cost::add(&mut spent, &asking::amounts(call)));
        spent
    }

    /// Holds what the next questions may come to in the purse of the matter, as far as what is held does not reach for that: a
    /// model may have taken more than was held for it.
    async fn reserve(&mut self, next: &Amounts) -> Result<(), Stopped> {
        let Some(purse) = self.work.purse() else { return Ok(()) };
        let (mut held, mut needed) = (Amounts::new(), self.spent());
        self.held.iter().for_each(|one| cost::add(&mut held, &one.amounts));
        cost::add(&mut needed, next);
        let is_next =
            |unit: &_| next.contains_key(unit).then(|| (*unit, held.get(unit).copied().unwrap_or_default()));
        let amounts = cost::beyond(&needed, &needed.keys().filter_map(is_next).collect());
        if amounts.is_empty() {
            return Ok(());
        }
        let step = self.step();
        match purse.reserve(self.given.run, &step, &amounts).await {
            Ok(Ok(())) => {
                self.held.push(Held { step, from: self.calls.len(), amounts });
                Ok(())
            }
            Ok(Err(over)) => {
                let words = "the budget of the matter does not reach: it is short of";
                let message =
                    format!("{words} {} (`countersign budget cap` raises it)", cost::told(&over.short));
                Err(Stopped::Outcome(Outcome::escalate("matter_budget", &message)))
            }
            Err(error) => Err(Stopped::Outcome(broken(&self.failed(error)))),
        }
    }

    /// What the stage is told of a purse that can't be kept. Where the ledger fails, nothing that it says can be written either.
    fn failed(&self, error: Error) -> Error {
        let told = Error::Work { why: error.to_string() };
        match error {
            error @ Error::Ledger(_) => self.work.fail(error),
            _other => {}
        }
        told
    }

    /// Says in the purse of the matter what the questions came to.
    async fn settle(&self) -> Result<(), Error> {
        let Some(purse) = self.work.purse() else { return Ok(()) };
        let ends = self.held.iter().skip(1).map(|next| next.from).chain([self.calls.len()]);
        for (held, end) in self.held.iter().zip(ends) {
            let mut spent = Amounts::new();
            let own = self.calls.get(held.from..end).unwrap_or_default();
            own.iter().for_each(|call| cost::add(&mut spent, &asking::amounts(call)));
            purse.settle(self.given.run, &held.step, &spent).await?;
        }
        Ok(())
    }

    /// Whether a question may be asked as things stand; what it may come to is held for it then. Nobody is asked for more.
    pub(super) async fn is_let(&mut self, amounts: Amounts) -> bool {
        let next = Next { host: self.answers.host.as_deref(), amounts: amounts.clone() };
        let spent = self.spent();
        let is_let = self.work.look(|desk| asking::is_let(desk, &spent, &next)).unwrap_or(false);
        is_let && self.reserve(&amounts).await.is_ok()
    }

    /// Whether the budget still reaches for a question. What those before it may come to was seen to, but a model may take more.
    async fn reaches(&mut self, request: &Request) -> Result<(), Outcome> {
        if self.calls.is_empty() {
            return Ok(());
        }
        let (spent, next) = (self.spent(), self.most([request].into_iter()));
        let may = self.work.look(|desk| cost::may_besides(desk, &spent, &next));
        if let Some(Err(over)) = may {
            self.is_short = true;
            return Err(Outcome::escalate(SHORT, &over.to_string()));
        }
        match self.reserve(&next).await {
            Ok(()) => Ok(()),
            Err(Stopped::Outcome(outcome)) => Err(outcome),
            Err(Stopped::Over) => Err(Outcome::denied("nothing more is to be spent")),
            Err(Stopped::Kept(why, wanted)) => Err(denied(&why, &wanted)),
        }
    }

    /// Asks one of them.
    ///
    /// # Errors
    /// What that means for the stage: [`Asking::stops`] says it.
    pub(super) async fn ask(&mut self, question: Question<'_>) -> Result<Reply, Outcome> {
        let Question { module, planned, shown, request } = question;
        self.reaches(request).await?;
        let foreseen = self.most([request].into_iter());
        cost::add(&mut self.foreseen, &foreseen);
        let fits = self.work.look(|desk| asking::fits(desk, &shown));
        if let Some(Err(error)) = fits {
            return Err(Outcome::escalate("context_blocked", &error.to_string()));
        }
        let calls_left = self.given.llm_calls_left.saturating_sub(self.llm_calls);
        let given = Given { llm_calls_left: calls_left, ..self.given };
        let Asked { reply, llm_calls, receipts } =
            self.means.mind.ask(given, given.label, request, self.cancel).await;
        self.llm_calls += llm_calls;
        self.receipts.extend(receipts);
        let ended = match &reply {
            Ok(_) => Ended::Completed,
            Err(Outcome::Failed(fault)) if is_cancelled(fault) => Ended::Cancelled,
            Err(Outcome::Failed(_)) => Ended::Failed,
            // Nothing was asked.
            Err(
                Outcome::Done(_)
                | Outcome::Clarify { .. }
                | Outcome::Confirm { .. }
                | Outcome::Escalate { .. }
                | Outcome::Denied { .. },
            ) => {
                return reply;
            }
        };
        let usage = reply.as_ref().map(|reply| reply.ended.usage).unwrap_or_default();
        self.calls.push(Call {
            module: module.to_owned(),
            planned,
            shown,
            host: self.answers.host.clone(),
            input_tokens: usage.input_tokens.saturating_add(usage.cached_tokens),
            output_tokens: usage.output_tokens,
            usd_micros: usage.cost_micros,
            ended,
        });
        reply
    }

    /// The stage is done: what it took is put down.
    ///
    /// # Errors
    /// It can't be.
    pub(super) async fn put_down(&self, module: &str) -> Result<Took, Error> {
        self.settle().await.map_err(|error| self.failed(error))?;
        let took = self.took()?;
        self.work.step(&self.began, |desk| asking::record(desk, module, &took))?;
        Ok(took)
    }

    fn took(&self) -> Result<Took, Error> {
        let now = self.means.clock.now()?;
        let wall_clock_ms = self.began.instant().millis_until(now.instant());
        Ok(Took { calls: self.calls.clone(), wall_clock_ms })
    }

    /// What the stage says that stops before its end. What it asked until then was asked, and is put down.
    pub(super) async fn stops(self, module: &str, outcome: Outcome) -> Said {
        let can_tell = match &outcome {
            Outcome::Done(_) | Outcome::Escalate { .. } | Outcome::Denied { .. } => true,
            Outcome::Clarify { .. } | Outcome::Confirm { .. } | Outcome::Failed(_) => false,
        };
        let said = asked(outcome);
        if self.calls.is_empty() || !can_tell {
            return self.says(said);
        }
        let said = match self.put_down(module).await {
            Ok(took) => beside(self.short().unwrap_or(said), &took),
            Err(error) => unwritten(&error),
        };
        self.says(said)
    }

    /// What all questions of the stage may come to, if the model goes on to take as much as it took until now.
    fn anew(&self) -> Amounts {
        let spent = self.spent();
        let as_until_now = |(unit, cleared): (&_, &u64)| {
            let of = |all: &Amounts| u128::from(all.get(unit).copied().unwrap_or_default());
            let taken = (u128::from(*cleared) * of(&spent)).div_ceil(of(&self.foreseen).max(1));
            (*unit, u64::try_from(taken).unwrap_or(u64::MAX).max(*cleared))
        };
        self.cleared.iter().map(as_until_now).collect()
    }

    /// The question to a person where the budget stopped the stage. It is asked once what was spent is put down, and about all
    /// questions of the stage: those are asked again.
    fn short(&self) -> Option<Said> {
        if !self.is_short {
            return None;
        }
        let next = Next { host: self.answers.host.as_deref(), amounts: self.anew() };
        let refusal = match self.work.step(&self.began, |desk| asking::may(desk, &next)) {
            Ok(let_go) => let_go.err()?,
            Err(error) => return Some(unwritten(&error)),
        };
        let wanted = Wanted { host: self.answers.host.clone(), amounts: next.amounts };
        refused(self.work, refusal).map(|outcome| asked(with(outcome, WANTED, wanted.write())))
    }

    /// How often a model was asked, and the receipts of what left for that.
    pub(super) fn left(self) -> (u64, Vec<Externalized>) {
        (self.llm_calls, self.receipts)
    }

    /// What the stage says, with what asking took.
    pub(super) fn says(self, said: Said) -> Said {
        let said = match &self.kept {
            Some(kept) => aside(said, KEPT, kept.write()),
            None => said,
        };
        let (llm_calls, receipts) = self.left();
        let label = if llm_calls > 0 { Label::OUTSIDE } else { Label::NOTHING };
        Said { llm_calls, receipts, label, ..said }
    }
}

fn is_cancelled(fault: &Fault) -> bool {
    fault.details.get("code").and_then(Json::as_str) == Some(Code::ModelCancelled.as_str())
}

fn broken(error: &Error) -> Outcome {
    Outcome::escalate("validation_fail", &error.to_string())
}

/// Why a stage stops between two questions: a person is asked once what it took is put down.
const SHORT: &str = "budget_short";
