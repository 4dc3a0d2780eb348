//! One turn: from what the user says to the checkpoint after it.
//! Owns: the loop of asking the model and calling its tools, and when rows are appended. Must not: permit a call
//! (`decide.rs`) or make one (`call.rs`).

use super::prompt::Shown;
use super::rows::Rows;
use super::{Error, Session};
use crate::ports::model::{Delta, Deltas, Ended, NoAnswer, Request, Site, Usage};
use crate::ports::session::{Screen, Trace, Trouble};
use countersign_kernel::recall::retrieved::Citations;
use countersign_kernel::says::calls::Asked;
use countersign_kernel::says::{Heard, Listener, visible};
use countersign_kernel::session::past::Held;
use countersign_kernel::session::talk::{Condensing, Talk};
use countersign_record::code::Code;
use countersign_record::deed::{self, Outcome};
use countersign_record::digest::Digest;
use countersign_record::json::{self, Json, Number, Object};
use countersign_record::label::Label;
use countersign_record::row::{BlobBytes, DataClass, Taint};
use countersign_record::session::Checkpoint;
use countersign_record::trace::{Event, Kind};
use std::collections::BTreeSet;
use std::future::poll_fn;
use tokio_util::sync::CancellationToken;

/// The longest reply that is heard.
const REPLY_BYTES_MAX: usize = 512 * 1024;
/// What may be said in a turn before the model is asked once more. With a last reply and its results, and whatever they take
/// as JSON, it still fits a checkpoint.
const TURN_BYTES_MAX: usize = 512 * 1024;
/// How many traces a checkpoint names.
const TRACES_MAX: usize = 20;

/// What the user says, and who hears the answer.
pub struct Said<'a> {
    /// The words.
    pub text: &'a str,
    /// How far they may travel, if not as the policy says.
    pub data_class: Option<DataClass>,
    /// Where the turn shows itself.
    pub screen: &'a mut dyn Screen,
    /// Where its events go.
    pub trace: &'a mut dyn Trace,
    /// The name of that trace.
    pub trace_name: String,
    /// Ends the turn early.
    pub cancel: &'a CancellationToken,
}

/// A turn that is over: its rows and its checkpoint are durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turned {
    /// Which, from 1.
    pub turn: u64,
    /// The revision that holds it.
    pub revision: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// Why there was no answer.
    pub failure: Option<NoAnswer>,
    /// What was used in all.
    pub usage: Usage,
    /// How often the model was asked.
    pub rounds: u32,
    /// How often something was made durable: appends and the checkpoint.
    pub commits: u32,
    /// Citations of memory that was never retrieved.
    pub unknown_citations: Vec<String>,
    /// Calls that were refused because nobody was there to be asked.
    pub waiting: u32,
}

/// A turn while it happens.
pub(super) struct Turn<'a> {
    pub(super) session: &'a mut Session,
    pub(super) rows: Rows,
    pub(super) talk: Talk,
    /// What holds for everything in the session so far.
    pub(super) label: Label,
    pub(super) number: u64,
    pub(super) round: u32,
    pub(super) policy: Digest,
    pub(super) screen: &'a mut dyn Screen,
    pub(super) cancel: &'a CancellationToken,
    trace: &'a mut dyn Trace,
    usage: Usage,
    unknown_citations: Vec<String>,
    /// Calls that were refused because nobody was there to be asked.
    pub(super) waiting: u32,
    /// Grants that calls of this turn were made with.
    pub(super) used: Vec<String>,
    /// Records that a call of this turn gave.
    pub(super) recalled_ids: BTreeSet<String>,
}

/// How one round went.
enum Round {
    /// The model spoke.
    Heard(Heard),
    /// It did not.
    Over(Outcome, Option<NoAnswer>),
}

impl Session {
    /// Takes one turn. When this returns, the turn's rows are durable and the checkpoint after it is kept.
    ///
    /// # Errors
    /// The record can't be kept, or something of an earlier turn must be settled first. What was done until then is in
    /// the ledger, and the next opening of the session goes on from there.
    pub async fn turn(&mut self, said: Said<'_>) -> Result<Turned, Error> {
        self.catch_up().await?;
        let calls = self.unsettled().await?;
        if !calls.is_empty() {
            return Err(Error::Unsettled { calls });
        }
        let Said { text, data_class, screen, trace, trace_name, cancel } = said;
        if text.len() > TURN_BYTES_MAX {
            let message = "the message is longer than a turn may hold".to_owned();
            return Err(Trouble { code: Code::HistoryTooLong, message }.into());
        }
        // What went wrong since the session was opened is made good as after a crash.
        if self.is_behind() {
            self.recover().await?.notes.iter().for_each(|note| screen.note(note));
        }
        // What is said may be narrower than the policy has it, never wider.
        let data_class = data_class.unwrap_or(DataClass::Public).max(self.office.policy.user_class);
        let label = Label { data_class, taint: Taint::UserTrustedBounded };
        let mut talk = Talk::of(self.checkpoint.state.clone(), self.checkpoint.recent_messages.clone());
        self.decided(&mut talk.state)?;
        let mut turn = Turn {
            rows: self.rows()?,
            talk,
            label: self.past.label.join(label),
            number: self.past.turn + 1,
            round: 0,
            policy: self.policy_hash()?,
            screen,
            cancel,
            trace,
            usage: Usage::default(),
            unknown_citations: Vec::new(),
            waiting: 0,
            used: Vec::new(),
            recalled_ids: BTreeSet::new(),
            session: self,
        };
        turn.begin(text, label)?;
        let (outcome, failure) = turn.talk_on(text).await?;
        turn.end(outcome, failure, trace_name).await
    }
}

impl Turn<'_> {
    fn begin(&mut self, text: &str, label: Label) -> Result<(), Error> {
        let message = BlobBytes::new(text.as_bytes().to_vec())?;
        let about = self.session.office.model.about();
        let deed = deed::TurnBegun {
            turn: self.number,
            revision: self.session.checkpoint.revision,
            message: message.digest(),
            provider: about.provider.clone(),
            model: about.model.clone(),
            policy_hash: self.policy,
        };
        let model = Json::from(about.model.as_str());
        self.event(Kind::TurnStart, Object::from([("turn", count(self.number)), ("model", model)]));
        self.rows.put(&deed, label, vec![message])?;
        self.talk.user(text);
        Ok(())
    }

    /// Asks the model until it has no more calls.
    async fn talk_on(&mut self, text: &str) -> Result<(Outcome, Option<NoAnswer>), Error> {
        let shown = self.recalled(text).await?;
        loop {
            if self.cancel.is_cancelled() {
                return Ok((Outcome::Cancelled, None));
            }
            self.round += 1;
            let heard = match self.ask(&shown).await? {
                Round::Heard(heard) => heard,
                Round::Over(outcome, failure) => return Ok((outcome, failure)),
            };
            let has_calls = match heard.asked {
                Asked::Calls(calls) if calls.is_empty() => return Ok((Outcome::Completed, None)),
                Asked::Calls(calls) => {
                    let mut grants = self.grants().await?;
                    for call in calls {
                        if self.cancel.is_cancelled() {
                            return Ok((Outcome::Cancelled, None));
                        }
                        self.call(call, &mut grants).await?;
                    }
                    true
                }
                Asked::Refused(refused) => {
                    for one in refused {
                        self.refuse(&one.id, &one.tool, Code::ToolArguments, one.why.as_str(), None)?;
                    }
                    true
                }
            };
            if has_calls && u64::from(self.round) >= self.session.office.policy.rounds {
                self.screen.note("the model asked for more calls than a turn may have; the turn ends here");
                return Ok((Outcome::Bounded, None));
            }
            let before = self.session.checkpoint.recent_messages.len();
            let said = self.talk.messages.iter().skip(before).map(|message| message.content.len());
            if said.sum::<usize>() > TURN_BYTES_MAX {
                self.screen.note("more was said than a turn may hold; the turn ends here");
                return Ok((Outcome::Bounded, None));
            }
        }
    }

    /// Asks the model once, and takes in what its notes say.
    async fn ask(&mut self, shown: &Shown) -> Result<Round, Error> {
        let system = self.system(shown)?;
        let request = Request {
            messages: system.before(&self.talk.messages),
            max_tokens: self.session.office.tokens_max,
            temperature_milli: 0,
            seed: Some(0),
        };
        let request_hash = request.hash()?;
        let model = std::sync::Arc::clone(&self.session.office.model);
        let host = match &model.about().site {
            Site::Here | Site::HereSlowly => None,
            Site::Remote(host) => Some(host.clone()),
        };
        let mut confirmation = None;
        if let Some(host) = &host {
            match self.may_send_to_model(host).await? {
                Ok(confirmed) => confirmation = confirmed,
                // Whoever was asked left the turn instead.
                Err(_) if self.cancel.is_cancelled() => return Ok(Round::Over(Outcome::Cancelled, None)),
                Err(failure) => return Ok(Round::Over(Outcome::Failed, Some(failure))),
            }
        }
        let asked = deed::ModelAsked {
            turn: self.number,
            round: self.round,
            request_hash,
            system: system.stored.digest(),
            host: host.clone(),
        };
        self.rows.put(&asked, self.label, vec![system.stored])?;
        match model.about().site {
            Site::Here => {}
            Site::HereSlowly | Site::Remote(_) => self.rows.flush().await?,
        }
        self.event(
            Kind::LlmReq,
            Object::from([
                ("round", count(u64::from(self.round))),
                ("messages", count(request.messages.len() as u64)),
                ("request_hash", Json::String(request_hash.into())),
            ]),
        );
        let spoken = self.listen(model.stream_chat(&request, self.cancel)).await;
        if let Some(host) = &host {
            let status = match &spoken {
                Ok(_) => "completed",
                Err(error) if error.code == Code::ModelCancelled => "cancelled",
                Err(_) => "failed",
            };
            self.externalized("api_call", host, status, confirmation)?;
        }
        match spoken {
            Ok((text, heard, ended)) => {
                self.heard(shown, request_hash, &text, &heard, ended)?;
                Ok(Round::Heard(heard))
            }
            Err(failure) => self.unanswered(request_hash, failure),
        }
    }

    /// Records that there is no answer.
    fn unanswered(&mut self, request_hash: Digest, failure: NoAnswer) -> Result<Round, Error> {
        let code = failure.code;
        let deed = deed::ModelFailed {
            turn: self.number,
            round: self.round,
            request_hash,
            code: code.as_str().to_owned(),
        };
        self.rows.put(&deed, self.label, Vec::new())?;
        self.usage.attempts += failure.attempts;
        self.event(Kind::LlmDone, Object::from([("error", code.as_str().into())]));
        Ok(match code {
            Code::ModelCancelled => Round::Over(Outcome::Cancelled, None),
            _ => Round::Over(Outcome::Failed, Some(failure)),
        })
    }

    /// Hears a reply as it comes. One that is cut off or cancelled counts for nothing.
    async fn listen(&mut self, mut deltas: Deltas<'_>) -> Result<(String, Heard, Ended), NoAnswer> {
        let mut listener = Listener::default();
        let mut text = String::new();
        let failed = |code: Code, message: &str| NoAnswer { code, message: message.to_owned(), attempts: 1 };
        loop {
            let delta = tokio::select! {
                biased;
                () = self.cancel.cancelled() => None,
                delta = poll_fn(|context| deltas.as_mut().poll_next(context)) => delta,
            };
            match delta {
                None => return Err(failed(Code::ModelCancelled, "it was cancelled")),
                Some(Err(error)) => return Err(error),
                Some(Ok(Delta::Text(more))) => {
                    if text.len() + more.len() > REPLY_BYTES_MAX {
                        return Err(failed(Code::ModelReply, "the reply has more than 512 KiB"));
                    }
                    let screen = &mut *self.screen;
                    listener.hear(more.as_bytes(), &mut |visible| screen.text(visible));
                    text.push_str(&more);
                    self.event(Kind::LlmStream, Object::from([("bytes", count(more.len() as u64))]));
                }
                Some(Ok(Delta::End(ended))) => {
                    let screen = &mut *self.screen;
                    let heard = listener.finish(&mut |visible| screen.text(visible));
                    if self.session.office.redactor.finds(&text) {
                        return Err(failed(
                            Code::ModelReply,
                            "the reply repeats a key, so nothing of it is kept",
                        ));
                    }
                    return Ok((text, heard, ended));
                }
            }
        }
    }

    /// Records a reply, and takes in its notes.
    fn heard(
        &mut self,
        shown: &Shown,
        request_hash: Digest,
        text: &str,
        heard: &Heard,
        ended: Ended,
    ) -> Result<(), Error> {
        let Ended { finish, usage } = ended;
        add(&mut self.usage, usage);
        let retrieved: BTreeSet<String> = shown.ids.union(&self.recalled_ids).cloned().collect();
        let citations = Citations::read(text, &retrieved);
        for id in &citations.unknown {
            self.screen.note(&format!("the answer cites [mem:{id}], which was not retrieved"));
        }
        let reply = BlobBytes::new(text.as_bytes().to_vec())?;
        let deed = deed::ModelAnswered {
            turn: self.number,
            round: self.round,
            request_hash,
            reply: reply.digest(),
            finish: json::to_text(&finish)?.trim_matches('"').to_owned(),
            usage: deed::Used {
                input_tokens: usage.input_tokens,
                cached_tokens: usage.cached_tokens,
                output_tokens: usage.output_tokens,
                cost_micros: usage.cost_micros,
                attempts: usage.attempts,
            },
            unknown_citations: citations.unknown.clone(),
        };
        self.rows.put(&deed, self.label, vec![reply])?;
        self.unknown_citations.extend(citations.unknown);
        for (kind, fault) in &heard.faults {
            let what = format!("{kind:?}: {fault:?}");
            self.event(Kind::Fault, Object::from([("what", what.into())]));
        }
        self.event(
            Kind::LlmDone,
            Object::from([
                // What its blocks hold is told by events of their own, in which names of secrets are known.
                ("text", visible(text).into()),
                ("finish", deed.finish.as_str().into()),
                ("output_tokens", count(usage.output_tokens)),
                ("cited", Json::Array(citations.retrieved.into_iter().map(Json::String).collect())),
            ]),
        );
        let told = self.talk.reply(text, heard);
        self.tell(&told)
    }

    async fn end(
        mut self,
        outcome: Outcome,
        failure: Option<NoAnswer>,
        trace_name: String,
    ) -> Result<Turned, Error> {
        let checkpoint = self.session.checkpoint.clone();
        let has_calls = self.talk.messages.len() > checkpoint.recent_messages.len() + 1;
        // A question without an answer goes, unless something was done on the way: it can be asked again.
        if matches!(outcome, Outcome::Failed | Outcome::Cancelled) && !has_calls {
            self.talk.messages.truncate(checkpoint.recent_messages.len());
        }
        let condensing = self.talk.condensing;
        let mut done = std::mem::take(&mut self.talk).ended(self.session.office.bounds);
        let memory_ref = match condensing {
            Condensing::Smart => match self.remember(&done.evicted, &done.state.memory_tags).await {
                Ok(memory_ref) => memory_ref,
                // What was done is recorded all the same.
                Err(error) => {
                    self.screen.note(&format!("what had to go could not be summed up: {error}"));
                    None
                }
            },
            Condensing::Bounded | Condensing::Now => None,
        };
        done.state.memory_refs.extend(memory_ref.clone());
        if !done.evicted.is_empty() {
            let evicted = count(done.evicted.len() as u64);
            self.event(Kind::Condense, Object::from([("evicted", evicted)]));
        }
        let mut trace_tail = checkpoint.trace_tail;
        trace_tail.push(trace_name);
        trace_tail.drain(..trace_tail.len().saturating_sub(TRACES_MAX));
        let next = Checkpoint {
            session_id: checkpoint.session_id,
            revision: checkpoint.revision + 1,
            updated_ts: self.session.unix_time()?,
            state: done.state,
            recent_messages: done.messages,
            trace_tail,
        };
        let held = Held::of(&next)?;
        let deed = deed::TurnEnded {
            turn: self.number,
            revision: next.revision,
            outcome,
            state_hash: held.state,
            messages_hash: held.messages,
            evicted: done.evicted.len() as u64,
            memory_ref,
        };
        self.rows.put(&deed, self.label, Vec::new())?;
        self.rows.flush().await?;
        self.event(Kind::TurnDone, Object::from([("outcome", outcome.as_str().into())]));
        self.session.keeper.save(next.clone()).await?;
        let turned = Turned {
            turn: self.number,
            revision: next.revision,
            outcome,
            failure,
            usage: self.usage,
            rounds: self.round,
            commits: self.rows.commits() + 1,
            unknown_citations: self.unknown_citations,
            waiting: self.waiting,
        };
        self.session.checkpoint = next;
        Ok(turned)
    }

    /// Traces something. A trace that can't be written says nothing.
    pub(super) fn event(&mut self, kind: Kind, data: Object) {
        let Ok(ts) = self.session.unix_time() else { return };
        if let Ok(line) = self.session.office.redactor.line(&Event { ts, kind, data }) {
            self.trace.put(ts, line);
        }
    }
}

fn add(total: &mut Usage, more: Usage) {
    total.input_tokens += more.input_tokens;
    total.cached_tokens += more.cached_tokens;
    total.output_tokens += more.output_tokens;
    total.attempts += more.attempts;
    total.cost_micros = match (total.cost_micros, more.cost_micros) {
        (None, None) => None,
        (left, right) => Some(left.unwrap_or(0) + right.unwrap_or(0)),
    };
}

/// A count, as JSON has it.
pub(super) fn count(number: u64) -> Json {
    Number::try_from(number).map_or(Json::Null, Json::Number)
}
