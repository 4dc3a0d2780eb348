//! The SR2 envelope: one handoff between agents (SR2-JSON-01 to 05).
//! Owns: its eleven keys and their checks. Must not: know any agent's payload.

use crate::code::Code;
use crate::digest::Digest;
use crate::fields::{Fields, Trouble};
use crate::json::{Json, Number, Object};
use crate::time::Timestamp;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;

/// The version of what our own agents hand over.
pub const VERSION: &str = "1.0";

/// One handoff. The keys are written in this order. What is read has a payload of any shape; what is only written may have
/// one of its own type, in its own order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(
        rename = "Envelope",
        deny_unknown_fields,
        extend(
            "if" = { "properties": { "escalate": { "const": true } }, "required": ["escalate"] },
            "then" = { "properties": { "reason": { "type": "string" } }, "required": ["reason"] }
        )
    )
)]
pub struct Envelope<P = Object> {
    /// Who hands over.
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = crate::schema::FILLED)))]
    pub agent: String,
    /// What for.
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = crate::schema::FILLED)))]
    pub goal: String,
    /// When, as received.
    pub timestamp: Timestamp,
    /// The request it belongs to.
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = crate::schema::FILLED)))]
    pub request_id: String,
    /// The turn it belongs to.
    pub turn_id: u64,
    /// Where its content comes from.
    pub source: Source,
    /// The version of the payload's schema.
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = crate::schema::FILLED)))]
    pub version: String,
    /// Whether a person is needed.
    #[cfg_attr(feature = "schema", serde(default))]
    pub escalate: bool,
    /// A short code that says why; needed where `escalate` is true.
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = "^[A-Za-z0-9_]{1,64}$")))]
    pub reason: Option<String>,
    /// What it rests on.
    pub provenance: Provenance,
    /// The agent's own data.
    pub payload: P,
}

/// Where content comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Source {
    /// An agent of ours.
    Internal,
    /// Somebody else.
    External,
    /// A file.
    File,
}

impl TryFrom<&str> for Source {
    type Error = &'static str;

    fn try_from(word: &str) -> Result<Self, &'static str> {
        match word {
            "internal" => Ok(Source::Internal),
            "external" => Ok(Source::External),
            "file" => Ok(Source::File),
            _ => Err("internal, external or file is needed"),
        }
    }
}

/// What a handoff rests on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Provenance {
    /// Files.
    #[cfg_attr(feature = "schema", serde(default))]
    pub files: Vec<FileRef>,
    /// Turns of the conversation.
    #[cfg_attr(feature = "schema", serde(default))]
    pub history_refs: Vec<HistoryRef>,
    /// The files that were eligible.
    #[cfg_attr(feature = "schema", serde(default))]
    pub eligibility: Vec<String>,
}

/// A file that a handoff rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct FileRef {
    /// Where it is, relative to the task.
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = crate::schema::FILLED)))]
    pub path: String,
    /// SHA-256 of its bytes.
    pub sha256: Digest,
    /// When it was changed, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", serde(default))]
    pub mtime: Option<Number>,
}

/// A turn that a handoff rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct HistoryRef {
    /// Its name.
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = crate::schema::FILLED)))]
    pub id: String,
    /// SHA-256 of its text.
    pub hash: Digest,
    /// How well it matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", serde(default))]
    pub score: Option<Number>,
}

impl Envelope {
    /// Reads an envelope, naming everything that is wrong with it.
    ///
    /// # Errors
    /// It is no envelope. The controller then escalates with `validation_fail` and calls no agent.
    pub fn read(value: Json) -> Result<Self, Vec<Trouble>> {
        let mut fields = Fields::taking(value).map_err(|trouble| Vec::from([trouble]))?;
        let texts = ["agent", "goal", "request_id", "version"].map(|name| fields.filled(name));
        let timestamp = fields.timestamp("timestamp");
        let turn_id = fields.integer("turn_id");
        let source = fields.parse("source", |word| Source::try_from(word));
        let escalate = fields.absent_or("escalate", Fields::boolean).unwrap_or(false);
        let is_silent = matches!(fields.peek("reason"), None | Some(Json::Null));
        let reason = fields.optional("reason", reason_code);
        if escalate && is_silent {
            fields.trouble("reason", Code::FieldMissing, "an escalation needs a reason code");
        }
        let provenance = fields.object("provenance", read_provenance);
        let payload = fields.free_object("payload");
        if let Some(payload) = &payload {
            fields.deny_inexact("payload", payload);
        }
        fields.deny_unknown();
        fields.finish()?;
        let [agent, goal, request_id, version] = texts;
        match (agent, goal, timestamp, request_id, turn_id, source, version, provenance, payload) {
            (
                Some(agent),
                Some(goal),
                Some(timestamp),
                Some(request_id),
                Some(turn_id),
                Some(source),
                Some(version),
                Some(provenance),
                Some(payload),
            ) => Ok(Envelope {
                agent,
                goal,
                timestamp,
                request_id,
                turn_id,
                source,
                version,
                escalate,
                reason,
                provenance,
                payload,
            }),
            _ => Err(Vec::new()),
        }
    }
}

fn read_provenance(provenance: &mut Fields<'_>) -> Option<Provenance> {
    let files = provenance.absent_or("files", |fields, name| {
        fields.objects(name, |file| {
            let path = file.parse("path", relative_path);
            let sha256 = file.parse("sha256", |text| Digest::try_from(text));
            let mtime = file.optional("mtime", number);
            file.deny_unknown();
            Some(FileRef { path: path?, sha256: sha256?, mtime })
        })
    });
    let history_refs = provenance.absent_or("history_refs", |fields, name| {
        fields.objects(name, |reference| {
            let id = reference.filled("id");
            let hash = reference.parse("hash", |text| Digest::try_from(text));
            let score = reference.optional("score", number);
            reference.deny_unknown();
            Some(HistoryRef { id: id?, hash: hash?, score })
        })
    });
    let mut digests = BTreeMap::new();
    if let Some(files) = &files {
        for (at, file) in files.iter().enumerate() {
            if *digests.entry(&file.path).or_insert(file.sha256) != file.sha256 {
                let message = format!("{} stands twice, with two digests", file.path);
                provenance.trouble_at(&format!("files/{at}"), Code::FieldConflict, message);
            }
        }
    }
    let eligibility = provenance.absent_or("eligibility", Fields::texts);
    provenance.deny_unknown();
    Some(Provenance {
        files: files.unwrap_or_default(),
        history_refs: history_refs.unwrap_or_default(),
        eligibility: eligibility.unwrap_or_default(),
    })
}

/// A path that stays below the task's directory wherever that is.
///
/// # Errors
/// It is none.
pub fn relative_path(text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() || text.starts_with('/') || text.chars().any(char::is_control) {
        return Err("a path relative to the task is needed, without control characters");
    }
    if text.split('/').any(|part| part == "..") {
        return Err("the path leads out of the task");
    }
    Ok(text.into())
}

/// Longest reason code: a code is for machines, prose lives in the payload.
const REASON_MAX: usize = 64;

fn reason_code(fields: &mut Fields<'_>, name: &'static str) -> Option<String> {
    let text = fields.text(name)?;
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if text.is_empty() || text.len() > REASON_MAX || !text.bytes().all(word) {
        fields.trouble(name, Code::FieldInvalid, "a reason is a short code such as schema_violation");
        return None;
    }
    Some(text)
}

fn number(fields: &mut Fields<'_>, name: &'static str) -> Option<Number> {
    match fields.value(name)? {
        Json::Number(number) if number.is_exact() => Some(number.clone()),
        _ => {
            fields.trouble(name, Code::FieldInvalid, "a number with a canonical form is needed");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(payload: &str) -> Json {
        let text = format!(
            "{{\"agent\":\"a\",\"goal\":\"g\",\"timestamp\":\"2025-09-07T12:34:56Z\",\"request_id\":\"r\",\
             \"turn_id\":1,\"source\":\"internal\",\"version\":\"1\",\"provenance\":{{}},\"payload\":{payload}}}"
        );
        crate::json::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn an_inexact_number_is_told_where_it_stands() {
        let troubles = Envelope::read(document("{\"a\":[0,1,2,1e400],\"b\":9007199254740993}")).unwrap_err();
        let told: Vec<(Code, &str)> =
            troubles.iter().map(|trouble| (trouble.code, trouble.path.as_str())).collect();
        assert_eq!(told, [(Code::NumberInexact, "/payload/a/3"), (Code::NumberInexact, "/payload/b")]);
    }

    #[test]
    fn the_payload_is_moved() {
        let place = |payload: &Json| payload.get("x").and_then(Json::as_str).unwrap().as_ptr();
        let document = document("{\"x\":\"large\"}");
        let before = place(document.get("payload").unwrap());
        assert_eq!(place(&Json::Object(Envelope::read(document).unwrap().payload)), before);
    }
}
