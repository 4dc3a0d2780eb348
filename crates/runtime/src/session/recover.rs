//! What a crash left of a session, and what a person takes back of it.
//! Owns: telling turns again from the ledger, closing one that was left open, settling a call whose outcome nobody saw.
//! Must not: make any call again.

use super::call::result;
use super::decide::waits;
use super::rows::Rows;
use super::{Error, Session, read_all};
use crate::ports::ledger::{Blob, Select};
use countersign_kernel::session::past::{Held, OpenCall, Past, Progress};
use countersign_kernel::session::talk::Talk;
use countersign_record::deed::{self, CallPlace, Fate, Outcome};
use countersign_record::digest::Digest;
use countersign_record::json::{Json, Object};
use countersign_record::row::{BlobBytes, Row};
use countersign_record::session::{Checkpoint, Role, State};
use serde::Serialize;
use std::collections::BTreeMap;

/// What is said of a checkpoint that was changed.
pub(super) const CHANGED: &str =
    "the checkpoint is not what its turn recorded; the session was told again from the ledger";

/// What opening a session found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// What the user must know.
    pub notes: Vec<String>,
    /// Calls that a person must say something about before the session goes on.
    pub unsettled: Vec<Unsettled>,
}

/// A call of which only the beginning is known, and that may have changed something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unsettled {
    /// Its id.
    pub call: String,
    /// Its tool.
    pub tool: String,
    /// What exactly was to be done.
    pub summary: String,
}

/// A turn that was taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Undone {
    /// Which.
    pub turn: u64,
    /// The revision that no longer holds it.
    pub revision: u64,
    /// What calls of it changed, which is not undone.
    pub standing: Vec<String>,
}

/// One turn as the ledger tells it.
struct Told {
    turn: u64,
    said: Vec<(Role, Digest)>,
    memory_ref: Option<String>,
    /// Calls of it that changed something, by blobs that say what.
    standing: Vec<Digest>,
    /// What its calls asked for, and nobody answered.
    waiting: Vec<String>,
}

impl Session {
    /// Brings the checkpoint up to what the ledger says, and closes a turn that was left open.
    pub(super) async fn recover(&mut self) -> Result<Recovered, Error> {
        let mut recovered = Recovered { notes: Vec::new(), unsettled: self.unsettled().await? };
        if self.past.revision > self.checkpoint.revision {
            let behind = self.past.revision - self.checkpoint.revision;
            self.tell_again().await?;
            recovered
                .notes
                .push(format!("{behind} turn(s) of the checkpoint were told again from the ledger"));
        } else if self.past.revision < self.checkpoint.revision {
            // Nothing is known of what such a checkpoint holds: where it came from, and how far it may travel.
            return Err(Error::Ahead { checkpoint: self.checkpoint.revision, ledger: self.past.revision });
        } else if self.is_changed()? && self.correct().await? {
            recovered.notes.push(CHANGED.to_owned());
        }
        if recovered.unsettled.is_empty()
            && let Progress::Open { .. } = self.past.progress
        {
            recovered
                .notes
                .push(format!("turn {} was interrupted; what is known of it was kept", self.past.turn));
            self.close().await?;
        }
        Ok(recovered)
    }

    /// A person says what became of a call. When nothing is left to be asked, the turn is closed.
    ///
    /// # Errors
    /// There is no such call, or the record can't be kept.
    pub async fn settle(&mut self, call: &str, fate: Fate) -> Result<Recovered, Error> {
        self.catch_up().await?;
        let open = self.past.unsettled().into_iter().find(|open| open.call == call);
        let open = open.ok_or(Error::Nothing { why: "no call of that name waits for a word" })?;
        let signs = std::sync::Arc::clone(&self.office.signs);
        let mut rows = self.rows()?;
        let (deed, blob) = settled(self.past.turn, &open, fate)?;
        rows.decide_own(&deed, self.past.label, vec![blob], signs.as_ref())?;
        let status = match fate {
            Fate::Happened => "completed",
            Fate::DidNotHappen => "cancelled",
            Fate::Unknown => "failed",
        };
        self.sent_by(&mut rows, &open, status)?;
        rows.flush().await?;
        self.catch_up().await?;
        self.recover().await
    }

    /// The calls that a person must say something about before the session goes on.
    pub(super) async fn unsettled(&self) -> Result<Vec<Unsettled>, Error> {
        let mut unsettled = Vec::new();
        for OpenCall { call, tool, summary, .. } in self.past.unsettled() {
            let summary = match summary {
                Some(summary) => self.text(summary).await?,
                None => String::new(),
            };
            unsettled.push(Unsettled { call, tool, summary });
        }
        Ok(unsettled)
    }

    /// A text of the record. One that was erased is told as that.
    ///
    /// # Errors
    /// The ledger can't be read.
    pub async fn text(&self, digest: Digest) -> Result<String, Error> {
        Ok(match self.office.ledger.blob(&self.office.access, digest).await? {
            Blob::Present(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Blob::Erased { .. } => "[erased]".to_owned(),
        })
    }

    /// Takes back what the last turn said. What it did stands, and is named.
    ///
    /// # Errors
    /// There is no turn, something must be settled first, or the record can't be kept.
    pub async fn undo(&mut self) -> Result<Undone, Error> {
        self.catch_up().await?;
        let calls = self.unsettled().await?;
        if !calls.is_empty() {
            return Err(Error::Unsettled { calls });
        }
        let mut turns = self.told().await?;
        let Some(last) = turns.pop() else {
            return Err(Error::Nothing { why: "there is no turn to take back" });
        };
        let talk = self.all_again(&turns).await?;
        let next = self.next(talk)?;
        let held = Held::of(&next)?;
        let deed = deed::TurnUndone {
            turn: last.turn,
            revision: next.revision,
            state_hash: held.state,
            messages_hash: held.messages,
            standing: last.standing,
        };
        let mut rows = self.rows()?;
        rows.put(&deed, self.past.label, Vec::new())?;
        rows.flush().await?;
        self.keep(next).await?;
        self.catch_up().await?;
        let mut undone = Undone { turn: deed.turn, revision: deed.revision, standing: Vec::new() };
        for summary in deed.standing {
            undone.standing.push(self.text(summary).await?);
        }
        Ok(undone)
    }

    /// Closes a turn of which all that can be known is known.
    async fn close(&mut self) -> Result<(), Error> {
        let Progress::Open { calls, sent_to } = self.past.progress.clone() else { return Ok(()) };
        let mut rows = self.rows()?;
        for open in &calls {
            let (deed, blob) = settled(self.past.turn, open, Fate::Unknown)?;
            rows.put(&deed, self.past.label, vec![blob])?;
            self.sent_by(&mut rows, open, "failed")?;
        }
        if let Some(host) = sent_to {
            let place = (self.past.turn, self.policy_hash()?);
            let receipt = self.externalization(place, "api_call", &host, "failed", None)?;
            rows.put(&receipt, self.past.label, Vec::new())?;
        }
        rows.flush().await?;
        self.catch_up().await?;
        let said = self.past.said.clone();
        let waiting = self.unanswered().await?.remove(&self.past.turn).unwrap_or_default();
        let (turn, standing) = (self.past.turn, Vec::new());
        let turn = Told { turn, said, memory_ref: None, standing, waiting };
        let before = Talk::of(self.checkpoint.state.clone(), self.checkpoint.recent_messages.clone());
        let talk = self.again(before, &turn).await?;
        let next = self.next(talk)?;
        let (mut rows, held) = (self.rows()?, Held::of(&next)?);
        let deed = deed::TurnEnded {
            turn: self.past.turn,
            revision: next.revision,
            outcome: Outcome::Interrupted,
            state_hash: held.state,
            messages_hash: held.messages,
            evicted: 0,
            memory_ref: None,
        };
        rows.put(&deed, self.past.label, Vec::new())?;
        rows.flush().await?;
        self.keep(next).await?;
        self.catch_up().await
    }

    /// Tells the session again, up to the last revision. An old checkpoint is no beginning: it may hold what was taken
    /// back since, or what nobody ever said.
    async fn tell_again(&mut self) -> Result<(), Error> {
        let turns = self.told().await?;
        let talk = self.all_again(&turns).await?;
        if self.checkpoint.revision == 0 {
            // None is there, so any may be the first.
            self.checkpoint.revision = self.past.revision.saturating_sub(1);
        }
        while self.checkpoint.revision < self.past.revision {
            let next = self.next(talk.clone())?;
            self.keep(next).await?;
        }
        Ok(())
    }

    /// Tells all turns, whatever a checkpoint says.
    async fn all_again(&self, turns: &[Told]) -> Result<Talk, Error> {
        let mut talk = Talk::of(State::default(), Vec::new());
        for turn in turns {
            talk = self.again(talk, turn).await?;
        }
        Ok(talk)
    }

    /// Whether the checkpoint holds something else than its turn recorded.
    pub(super) fn is_changed(&self) -> Result<bool, Error> {
        let Some(held) = self.past.held else { return Ok(false) };
        Ok(held != Held::of(&self.checkpoint)?)
    }

    /// Goes on from what the ledger tells; `false` if that is what the checkpoint holds. One that was told again may
    /// differ from what its turn recorded: a text was erased since. The file is right again after the next turn.
    pub(super) async fn correct(&mut self) -> Result<bool, Error> {
        let turns = self.told().await?;
        let talk = self.all_again(&turns).await?;
        let told = Checkpoint { revision: self.checkpoint.revision, ..self.next(talk)? };
        let Checkpoint { state, recent_messages, .. } = &self.checkpoint;
        let is_other = told.state != *state || told.recent_messages != *recent_messages;
        if is_other {
            self.checkpoint = told;
        }
        Ok(is_other)
    }

    async fn keep(&mut self, next: Checkpoint) -> Result<(), Error> {
        self.keeper.save(next.clone()).await?;
        self.checkpoint = next;
        Ok(())
    }

    /// The checkpoint after what was told.
    fn next(&self, talk: Talk) -> Result<Checkpoint, Error> {
        let done = talk.ended(self.office.bounds);
        Ok(Checkpoint {
            session_id: self.name.clone(),
            revision: self.checkpoint.revision + 1,
            updated_ts: self.unix_time()?,
            state: done.state,
            recent_messages: done.messages,
            trace_tail: self.checkpoint.trace_tail.clone(),
        })
    }

    /// Tells one turn again. A text that was erased is told as that.
    async fn again(&self, mut talk: Talk, turn: &Told) -> Result<Talk, Error> {
        for (role, digest) in &turn.said {
            let text = self.text(*digest).await?;
            talk.again(*role, &text);
        }
        turn.waiting.iter().for_each(|capability| waits(&mut talk.state, capability));
        let done = talk.ended(self.office.bounds);
        let mut talk = Talk::of(done.state, done.messages);
        talk.state.memory_refs.extend(turn.memory_ref.clone());
        Ok(talk)
    }

    /// Whether the ledger holds more than the checkpoint.
    pub(super) fn is_behind(&self) -> bool {
        self.past.revision > self.checkpoint.revision || self.past.progress != Progress::Ended
    }

    /// Writes the receipt for a call that was to send something.
    fn sent_by(&self, rows: &mut Rows, open: &OpenCall, status: &str) -> Result<(), Error> {
        let Some(host) = &open.sends_to else { return Ok(()) };
        let place = (self.past.turn, self.policy_hash()?);
        let receipt = self.externalization(place, "external_source_query", host, status, None)?;
        rows.put(&receipt, self.past.label, Vec::new())
    }

    /// What calls asked for and nobody answered, by turn.
    async fn unanswered(&self) -> Result<BTreeMap<u64, Vec<String>>, Error> {
        let mut waiting: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        let mut asked: Option<(u64, String)> = None;
        let stream = Select::Stream(deed::capability_stream(&self.name)?);
        read_all(&self.office, stream, 0, &mut |row: &Row| {
            let text = |name: &str| row.payload.get(name).and_then(Json::as_str).unwrap_or_default();
            match row.kind.as_str() {
                deed::CAPABILITY_REQUESTED if text("from") != "notes" => {
                    let turn = match row.payload.get("turn") {
                        Some(Json::Number(turn)) => turn.as_u64().unwrap_or(0),
                        Some(_) | None => 0,
                    };
                    waiting.entry(turn).or_default().push(text("capability").to_owned());
                    asked = Some((turn, text("capability").to_owned()));
                }
                // The answer of whoever sits there stands right after the question.
                deed::CAPABILITY_GRANTED | deed::CAPABILITY_DENIED => {
                    if let Some((turn, capability)) = asked.take()
                        && capability == text("capability")
                    {
                        waiting.entry(turn).and_modify(|list| drop(list.pop()));
                    }
                }
                _ => asked = None,
            }
        })
        .await?;
        Ok(waiting)
    }

    /// The turns, as the ledger tells them, without those that were taken back.
    async fn told(&self) -> Result<Vec<Told>, Error> {
        let mut waiting = self.unanswered().await?;
        let mut turns: Vec<Told> = Vec::new();
        let mut past = Past::default();
        let mut standing: Vec<Digest> = Vec::new();
        let stream = Select::Stream(deed::stream(&self.name)?);
        read_all(&self.office, stream, 0, &mut |row: &Row| {
            past.apply(row);
            let text = |name: &str| row.payload.get(name).and_then(Json::as_str);
            match row.kind.as_str() {
                deed::TURN_BEGUN => standing.clear(),
                deed::TOOL_STARTED if text("effect") != Some("none") => {
                    standing.extend(text("summary").and_then(|digest| Digest::try_from(digest).ok()));
                }
                deed::TURN_ENDED => turns.push(Told {
                    turn: past.turn,
                    said: past.said.clone(),
                    memory_ref: text("memory_ref").map(str::to_owned),
                    standing: std::mem::take(&mut standing),
                    waiting: waiting.remove(&past.turn).unwrap_or_default(),
                }),
                deed::TURN_UNDONE => drop(turns.pop()),
                _ => {}
            }
        })
        .await?;
        Ok(turns)
    }
}

fn settled(turn: u64, open: &OpenCall, fate: Fate) -> Result<(deed::EffectSettled, BlobBytes), Error> {
    let content = match fate {
        Fate::Happened => {
            let known = Object::from([("settled", fate.as_str().into())]);
            result(&open.call, &open.tool, Ok(known.into()))?
        }
        Fate::DidNotHappen => result(&open.call, &open.tool, Err("it did not happen, a person says"))?,
        Fate::Unknown => result(&open.call, &open.tool, Err("what became of it is not known"))?,
    };
    let blob = BlobBytes::new(content.into_bytes())?;
    let round = u32::try_from(open.round).unwrap_or(u32::MAX);
    let place = CallPlace { turn, round, call: open.call.clone(), tool: open.tool.clone() };
    Ok((deed::EffectSettled { place, fate, result: blob.digest() }, blob))
}
