//! One turn of a conversation, as the memory keeps it (SR2-CM-01).
//! Owns: MemoryTurn and its checks. Must not: store or select turns.

use crate::code::Code;
use crate::digest::Digest;
use crate::fields::{Fields, Trouble};
use crate::json::{Json, Object};
use crate::time::Timestamp;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;

/// Who spoke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Speaker {
    /// The user.
    User,
    /// The assistant.
    Assistant,
    /// A reply that was made elsewhere and joined.
    External,
}

impl Speaker {
    /// The contract's word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Speaker::User => "user",
            Speaker::Assistant => "assistant",
            Speaker::External => "external",
        }
    }
}

impl TryFrom<&str> for Speaker {
    type Error = &'static str;

    fn try_from(word: &str) -> Result<Self, &'static str> {
        match word {
            "user" => Ok(Speaker::User),
            "assistant" => Ok(Speaker::Assistant),
            "external" => Ok(Speaker::External),
            _ => Err("user, assistant or external is needed"),
        }
    }
}

/// One turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryTurn {
    /// Who spoke.
    pub role: Speaker,
    /// What was said.
    pub text: String,
    /// When, as received.
    pub timestamp: Timestamp,
    /// Why it is kept.
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = crate::schema::FILLED)))]
    pub goal: String,
    /// Where it comes from.
    pub provenance: TurnProvenance,
    /// Its name, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = crate::schema::FILLED)), serde(default))]
    pub id: Option<String>,
    /// From 0 to 1: what goes last when room is short.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>", range(min = 0, max = 1)), serde(default))]
    pub importance: Option<Json>,
    /// Words it can be found by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", serde(default))]
    pub tags: Vec<String>,
    /// What others added; kept untouched.
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub extra: Extra,
}

/// Members that the contract does not know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extra(pub Object);

impl Serialize for Extra {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// Where a turn comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct TurnProvenance {
    /// Who spoke; the same as the turn's role.
    pub source: Speaker,
    /// SHA-256 of the text.
    pub hash: Digest,
    /// The files it speaks of.
    pub file_refs: Vec<String>,
}

impl MemoryTurn {
    /// Reads a turn, naming everything that is wrong with it.
    ///
    /// # Errors
    /// It is no turn.
    pub fn read(value: Json) -> Result<Self, Vec<Trouble>> {
        let mut fields = Fields::taking(value).map_err(|trouble| Vec::from([trouble]))?;
        let role = fields.parse("role", |word| Speaker::try_from(word));
        let text = fields.text("text");
        let timestamp = fields.timestamp("timestamp");
        let goal = fields.filled("goal");
        let provenance = fields.object("provenance", |provenance| {
            let source = provenance.parse("source", |word| Speaker::try_from(word));
            let hash = provenance.parse("hash", |word| Digest::try_from(word));
            let file_refs = provenance.texts("file_refs");
            provenance.deny_unknown();
            Some(TurnProvenance { source: source?, hash: hash?, file_refs: file_refs? })
        });
        let id = fields.optional("id", Fields::filled);
        let importance = fields.optional("importance", importance);
        let tags = fields.absent_or("tags", Fields::texts).unwrap_or_default();
        if let (Some(role), Some(provenance)) = (role, &provenance)
            && role != provenance.source
        {
            fields.trouble("role", Code::FieldConflict, "the role is not the provenance's source");
        }
        if let (Some(text), Some(provenance)) = (&text, &provenance)
            && Digest::of(text.as_bytes()) != provenance.hash
        {
            fields.trouble(
                "text",
                Code::FieldConflict,
                format!("the SHA-256 of the text is not {}", provenance.hash),
            );
        }
        let extra = Extra(fields.rest());
        fields.finish()?;
        match (role, text, timestamp, goal, provenance) {
            (Some(role), Some(text), Some(timestamp), Some(goal), Some(provenance)) => {
                Ok(MemoryTurn { role, text, timestamp, goal, provenance, id, importance, tags, extra })
            }
            _ => Err(Vec::new()),
        }
    }
}

fn importance(fields: &mut Fields<'_>, name: &'static str) -> Option<Json> {
    match fields.value(name)? {
        number @ Json::Number(value) if value.is_exact() && (0.0..=1.0).contains(&value.as_f64()) => {
            Some(number.clone())
        }
        _ => {
            fields.trouble(name, Code::FieldInvalid, "a number from 0 to 1 is needed");
            None
        }
    }
}
