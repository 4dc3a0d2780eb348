//! What a session's rows say of it.
//! Owns: the fold: how far it is, what was left open, what holds for it. Must not: read a row's blobs.

use crate::grant::{Grants, digest, number};
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::canonical::{self, Unwritable};
use countersign_record::deed;
use countersign_record::digest::Digest;
use countersign_record::json::Json;
use countersign_record::label::Label;
use countersign_record::row::Row;
use countersign_record::session::{Checkpoint, Role};
use countersign_record::time::Instant;

/// A session as its rows tell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past {
    /// Its last turn; 0 before the first.
    pub turn: u64,
    /// The revision of the last turn that ended.
    pub revision: u64,
    /// What its checkpoint held.
    pub held: Option<Held>,
    /// What holds for everything that was ever in it, and so for all that is made from it.
    pub label: Label,
    /// What people granted.
    pub grants: Grants,
    /// What the last turn said, in order, by blobs.
    pub said: Vec<(Role, Digest)>,
    /// Whether the last turn ended.
    pub progress: Progress,
    /// The last row that was taken in.
    pub seq: u64,
    /// And its place in the stream.
    pub stream_seq: u64,
    /// The latest time that a row of it has.
    pub latest: Option<Instant>,
}

/// What a checkpoint held, by hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The state.
    pub state: Digest,
    /// The messages.
    pub messages: Digest,
}

impl Held {
    /// What a checkpoint holds.
    ///
    /// # Errors
    /// Never for one that was read or made here: it holds nothing without a canonical form.
    pub fn of(checkpoint: &Checkpoint) -> Result<Self, Unwritable> {
        let Checkpoint { state, recent_messages, .. } = checkpoint;
        Ok(Held { state: canonical::hash_of(state)?, messages: canonical::hash_of(recent_messages)? })
    }

    fn read(payload: &Json) -> Option<Self> {
        Some(Held { state: digest(payload, "state_hash")?, messages: digest(payload, "messages_hash")? })
    }
}

/// How far the last turn is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It ended, or there is none.
    Ended,
    /// It began, and nothing says that it ended.
    Open {
        /// Calls of which only the beginning is known.
        calls: Vec<OpenCall>,
        /// Where something was sent, without a word of what became of it.
        sent_to: Option<String>,
    },
}

/// A call of which only the beginning is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCall {
    /// Its round.
    pub round: u64,
    /// Its id.
    pub call: String,
    /// Its tool.
    pub tool: String,
    /// What exactly was to be done: a blob.
    pub summary: Option<Digest>,
    /// What that changes, in the word of its row.
    pub effect: String,
    /// Where it was to send something.
    pub sends_to: Option<String>,
}

impl OpenCall {
    /// Whether a person must say what became of it.
    #[must_use]
    pub fn is_asked_about(&self) -> bool {
        !matches!(self.effect.as_str(), "none" | "idempotent")
    }
}

impl Default for Past {
    fn default() -> Self {
        Past {
            turn: 0,
            revision: 0,
            held: None,
            label: Label::NOTHING,
            grants: Grants::default(),
            said: Vec::new(),
            progress: Progress::Ended,
            seq: 0,
            stream_seq: 0,
            latest: None,
        }
    }
}

impl Past {
    /// Takes the next row of the session's stream in.
    pub fn apply(&mut self, row: &Row) {
        self.grants.apply(row);
        (self.seq, self.stream_seq) = (row.seq, row.stream_seq);
        self.latest = self.latest.max(Some(row.at.instant()));
        self.label = self.label.join(Label { data_class: row.data_class, taint: row.taint });
        let payload = &row.payload;
        match row.kind.as_str() {
            deed::TURN_BEGUN => {
                self.turn = number(payload, "turn");
                self.said.clear();
                self.say(Role::User, payload, "message");
                self.progress = Progress::Open { calls: Vec::new(), sent_to: None };
            }
            deed::MODEL_ASKED => self.sent(payload.get("host").and_then(Json::as_str)),
            deed::MODEL_ANSWERED => {
                self.sent(None);
                self.say(Role::Assistant, payload, "reply");
            }
            deed::MODEL_FAILED => self.sent(None),
            deed::TOOL_STARTED => {
                if let Progress::Open { calls, .. } = &mut self.progress {
                    calls.push(open_call(payload));
                }
            }
            deed::TOOL_ENDED | deed::TOOL_REFUSED | deed::EFFECT_SETTLED => {
                self.ended(payload);
                self.say(Role::Tool, payload, "result");
            }
            deed::TURN_ENDED => {
                self.revision = number(payload, "revision");
                self.held = Held::read(payload);
                self.progress = Progress::Ended;
                let outcome = payload.get("outcome").and_then(Json::as_str);
                if !is_kept(outcome, &self.said) {
                    self.said.clear();
                }
            }
            deed::TURN_UNDONE => {
                self.revision = number(payload, "revision");
                self.held = Held::read(payload);
                self.said.clear();
            }
            _ => {}
        }
    }

    fn say(&mut self, role: Role, payload: &Json, name: &str) {
        self.said.extend(digest(payload, name).map(|digest| (role, digest)));
    }

    fn sent(&mut self, host: Option<&str>) {
        if let Progress::Open { sent_to, .. } = &mut self.progress {
            *sent_to = host.map(String::from);
        }
    }

    fn ended(&mut self, payload: &Json) {
        let ended = open_call(payload);
        if let Progress::Open { calls, .. } = &mut self.progress {
            calls.retain(|open| (open.round, &open.call) != (ended.round, &ended.call));
        }
    }

    /// The calls that a person must say something about before the session goes on.
    #[must_use]
    pub fn unsettled(&self) -> Vec<OpenCall> {
        match &self.progress {
            Progress::Ended => Vec::new(),
            Progress::Open { calls, .. } => {
                calls.iter().filter(|call| call.is_asked_about()).cloned().collect()
            }
        }
    }
}

/// Whether what a turn said stays: a question without any answer goes, so that it can be asked again.
fn is_kept(outcome: Option<&str>, said: &[(Role, Digest)]) -> bool {
    said.len() > 1 || !matches!(outcome, Some("failed" | "cancelled"))
}

fn open_call(payload: &Json) -> OpenCall {
    let text = |name: &str| String::from(payload.get(name).and_then(Json::as_str).unwrap_or_default());
    OpenCall {
        round: number(payload, "round"),
        call: text("call"),
        tool: text("tool"),
        summary: digest(payload, "summary"),
        effect: text("effect"),
        sends_to: payload.get("sends_to").and_then(Json::as_str).map(String::from),
    }
}
