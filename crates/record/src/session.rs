//! A session: its long-lived state, what was said last, and the checkpoint that holds both.
//! Owns: the shapes and their checks. Must not: change a state, or know where a checkpoint is kept.

use crate::code::Code;
use crate::fields::{Fields, Trouble};
use crate::id::SessionName;
use crate::json::Json;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Serialize, Serializer};

/// What an agent knows for long.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct State {
    /// What it is after.
    pub goals: Vec<String>,
    /// What is begun and not ended.
    pub open_loops: Vec<String>,
    /// What was decided.
    pub decisions: Vec<String>,
    /// What must hold.
    pub constraints: Vec<String>,
    /// What happened so far, in short.
    pub episode_summary: String,
    /// Words that memory is found by.
    pub memory_tags: Vec<String>,
    /// Ids of memory records.
    pub memory_refs: Vec<String>,
    /// What it may do.
    pub capabilities_granted: Vec<String>,
    /// What it has asked for; nothing that is granted.
    pub capabilities_pending: Vec<String>,
}

/// Who says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Role {
    /// The rules.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool's result.
    Tool,
}

impl TryFrom<&str> for Role {
    type Error = &'static str;

    fn try_from(word: &str) -> Result<Self, &'static str> {
        match word {
            "system" => Ok(Role::System),
            "user" => Ok(Role::User),
            "assistant" => Ok(Role::Assistant),
            "tool" => Ok(Role::Tool),
            _ => Err("system, user, assistant or tool is needed"),
        }
    }
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct ChatMessage {
    /// Who.
    pub role: Role,
    /// What.
    pub content: String,
}

/// Seconds since 1970, as the contract writes times: a number with a fraction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transparent))]
pub struct UnixTime {
    /// Of a millionth of a second each: the number that is written holds no more.
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    micros: u64,
}

/// The last time that a double tells from the microsecond after it.
const MICROS_MAX: u64 = 1 << 52;

impl UnixTime {
    /// A time, if the contract's number can say it.
    #[must_use]
    pub fn from_micros(micros: u64) -> Option<Self> {
        (micros <= MICROS_MAX).then_some(UnixTime { micros })
    }

    /// In millionths of a second.
    #[must_use]
    pub fn micros(self) -> u64 {
        self.micros
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the number is within bounds, and its fraction is meant to go"
    )]
    fn read(seconds: f64) -> Option<Self> {
        let micros = seconds * 1e6;
        // A number that is none compares as false.
        let is_known = micros >= 0.0 && micros <= MICROS_MAX as f64;
        // Half a microsecond more, cut off: the nearest one.
        is_known.then_some(UnixTime { micros: (micros + 0.5) as u64 })
    }
}

impl Serialize for UnixTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.micros as f64 / 1e6)
    }
}

/// What is kept of a session between its turns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Checkpoint {
    /// Which session.
    pub session_id: SessionName,
    /// Counts up with each checkpoint, from 1.
    pub revision: u64,
    /// When it was written.
    pub updated_ts: UnixTime,
    /// What the agent knows.
    pub state: State,
    /// What was said last, the oldest first.
    pub recent_messages: Vec<ChatMessage>,
    /// Its last traces, by the names of their files.
    pub trace_tail: Vec<String>,
}

impl State {
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let [goals, open_loops, decisions, constraints] =
            ["goals", "open_loops", "decisions", "constraints"].map(|name| fields.texts(name));
        let episode_summary = fields.text("episode_summary");
        let [memory_tags, memory_refs] = ["memory_tags", "memory_refs"].map(|name| fields.texts(name));
        let [granted, pending] =
            ["capabilities_granted", "capabilities_pending"].map(|name| fields.texts(name));
        fields.deny_unknown();
        let both = granted.iter().flatten().find(|one| pending.iter().flatten().any(|other| other == *one));
        if both.is_some() {
            let message = "what is granted does not wait to be granted";
            fields.trouble("capabilities_pending", Code::FieldConflict, message);
        }
        Some(State {
            goals: goals?,
            open_loops: open_loops?,
            decisions: decisions?,
            constraints: constraints?,
            episode_summary: episode_summary?,
            memory_tags: memory_tags?,
            memory_refs: memory_refs?,
            capabilities_granted: granted?,
            capabilities_pending: pending?,
        })
    }
}

impl Checkpoint {
    /// Reads a checkpoint, naming everything that is wrong with it.
    ///
    /// # Errors
    /// It is none.
    pub fn read(value: Json) -> Result<Self, Vec<Trouble>> {
        let mut fields = Fields::taking(value).map_err(|trouble| Vec::from([trouble]))?;
        let session_id = fields.id::<SessionName>("session_id");
        let revision = fields.integer("revision");
        let updated_ts = updated(&mut fields);
        let state = fields.object("state", State::read);
        let recent_messages = fields.objects("recent_messages", |message| {
            let role = message.parse("role", |word| Role::try_from(word));
            let content = message.text("content");
            message.deny_unknown();
            Some(ChatMessage { role: role?, content: content? })
        });
        let trace_tail = fields.absent_or("trace_tail", Fields::texts).unwrap_or_default();
        fields.deny_unknown();
        fields.finish()?;
        let read = || {
            Some(Checkpoint {
                session_id: session_id?,
                revision: revision?,
                updated_ts: updated_ts?,
                state: state?,
                recent_messages: recent_messages?,
                trace_tail,
            })
        };
        read().ok_or_else(Vec::new)
    }
}

fn updated(fields: &mut Fields<'_>) -> Option<UnixTime> {
    let time = match fields.value("updated_ts")? {
        Json::Number(number) => UnixTime::read(number.as_f64()),
        _ => None,
    };
    if time.is_none() {
        fields.trouble("updated_ts", Code::FieldInvalid, "seconds since 1970 are needed");
    }
    time
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;
    use alloc::string::ToString;
    use std::vec;

    fn checkpoint() -> Checkpoint {
        Checkpoint {
            session_id: SessionName::try_from("lease-1").unwrap(),
            revision: 3,
            updated_ts: UnixTime::from_micros(1_765_360_800_123_456).unwrap(),
            state: State { goals: vec!["sign".into()], ..State::default() },
            recent_messages: vec![ChatMessage { role: Role::Tool, content: "{}".into() }],
            trace_tail: vec!["lease-1__rev-2.jsonl".into()],
        }
    }

    #[test]
    fn a_checkpoint_survives_its_document() {
        let text = json::to_text(&checkpoint()).unwrap();
        assert!(text.contains("1765360800.123456"), "{text}");
        assert_eq!(Checkpoint::read(json::parse(text.as_bytes()).unwrap()), Ok(checkpoint()));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let text = json::to_text(&checkpoint()).unwrap();
        for (from, to, path) in [
            ("\"lease-1\"", "\"../x\"", "/session_id"),
            ("\"revision\":3", "\"revision\":-1", "/revision"),
            ("1765360800.123456", "-5", "/updated_ts"),
            ("1765360800.123456", "1e300", "/updated_ts"),
            ("\"tool\"", "\"robot\"", "/recent_messages/0/role"),
            ("\"goals\":[\"sign\"]", "\"goals\":[7]", "/state/goals/0"),
            ("\"goals\":[\"sign\"]", "\"aims\":[]", "/state/goals"),
            (
                "\"capabilities_granted\":[],\"capabilities_pending\":[]",
                "\"capabilities_granted\":[\"net\"],\"capabilities_pending\":[\"net\"]",
                "/state/capabilities_pending",
            ),
        ] {
            assert!(text.contains(from), "{from}");
            let troubles =
                Checkpoint::read(json::parse(text.replace(from, to).as_bytes()).unwrap()).unwrap_err();
            assert_eq!(troubles[0].path, path.to_string(), "{to}");
        }
    }

    #[test]
    fn every_microsecond_survives() {
        for micros in [0, 1, 999_999, 1_765_360_800_000_001, MICROS_MAX - 1, MICROS_MAX] {
            let time = UnixTime::from_micros(micros).unwrap();
            let text = json::to_text(&time).unwrap();
            assert_eq!(UnixTime::read(text.parse().unwrap()), Some(time), "{text}");
        }
        assert_eq!(UnixTime::from_micros(MICROS_MAX + 1), None);
    }
}
