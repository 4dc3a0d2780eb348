//! Reading a statement, as far as it can be read.
//! Owns: naming each part that can't. Must not: stop at the first: who changed one row should not hide the others.

use super::{
    Blob, Content, Entry, Formula, Key, Ledger, PREDICATE_TYPE, SCHEMA_VERSION, STATEMENT_TYPE, Statement,
    Subject,
};
use crate::place;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::base64;
use countersign_record::canonical;
use countersign_record::chain::{Anchor, Head};
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::fields::{Fields, Trouble};
use countersign_record::json::{Json, Limits, Object, parse_with};
use countersign_record::row;

/// Values in a statement, at most.
const VALUES_MAX: usize = 16_000_000;
/// Levels of a statement: those of a row's line, and those around it.
const DEPTH_MAX: usize = Limits::GOVERNED.depth_max + 4;

/// A statement that was read, and the parts of it that could not be.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// What could be read.
    pub statement: Statement,
    /// What could not.
    pub spoilt: Vec<Spoilt>,
}

/// A part that can't be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spoilt {
    /// What is wrong.
    pub code: Code,
    /// Where in the statement, as a JSON pointer.
    pub path: String,
    /// The row, if it is one.
    pub row: Option<u64>,
    /// What is wrong, for people.
    pub message: String,
}

/// Bytes that are no statement of ours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{why}", prefix(path))]
pub struct NotAStatement {
    /// Where, as a JSON pointer; empty for the whole.
    pub path: String,
    /// The row, if it is in one.
    pub row: Option<u64>,
    /// What is wrong.
    pub why: String,
}

/// What stands before what is wrong: where, if it is not the whole.
fn prefix(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("{path}: ") }
}

fn wrong(path: &str, why: impl ToString) -> NotAStatement {
    NotAStatement { path: path.to_string(), row: None, why: why.to_string() }
}

/// Where some bytes are not those that are written of what they say.
fn otherwise(bytes: &[u8], written: &[u8], value: &Json) -> NotAStatement {
    let byte = place::first_other(bytes, written);
    let path = place::pointer(bytes, byte);
    let rows = value.get("predicate").and_then(|one| one.get("ledger")?.get("rows")?.as_array());
    let nth = path.strip_prefix("/predicate/ledger/rows/").and_then(|rest| rest.split('/').next());
    let nth = nth.and_then(|nth| nth.parse::<usize>().ok());
    let row = rows.zip(nth).and_then(|(rows, nth)| count(rows.get(nth)?.get("seq")?));
    let why = format!(
        "it is not in canonical form: the byte {byte} of the payload is the first that is written otherwise"
    );
    NotAStatement { row, ..wrong(&path, why) }
}

impl Statement {
    /// Reads the payload of an envelope.
    ///
    /// # Errors
    /// It is no statement of ours.
    pub fn read(bytes: &[u8]) -> Result<Reading, NotAStatement> {
        let limits = Limits {
            bytes_max: crate::dsse::BYTES_MAX,
            depth_max: DEPTH_MAX,
            values_max: VALUES_MAX,
            ..Limits::GOVERNED
        };
        let value = parse_with(bytes, limits).map_err(|error| wrong("", error))?;
        match canonical::to_bytes(&value) {
            Ok(written) if written == bytes => {}
            Ok(written) => return Err(otherwise(bytes, &written, &value)),
            Err(error) => return Err(wrong("", error)),
        }
        let mut outer = object(value, "")?;
        for (name, expected) in [("_type", STATEMENT_TYPE), ("predicateType", PREDICATE_TYPE)] {
            if outer.remove(name).as_ref().and_then(Json::as_str) != Some(expected) {
                return Err(wrong(&format!("/{name}"), format!("must be {expected}")));
            }
        }
        let subjects = list(outer.remove("subject"), "/subject")?;
        let predicate = object(outer.remove("predicate").unwrap_or(Json::Null), "/predicate")?;
        if let Some((name, _)) = outer.iter().next() {
            return Err(wrong(&format!("/{name}"), "is not known here"));
        }
        let mut spoilt = Vec::new();
        let subjects = each(subjects, "/subject", &mut spoilt, subject);
        let statement = predicate_of(predicate, subjects, &mut spoilt)?;
        // What can be written in two ways is written in one: else two files would be the same packet.
        if spoilt.is_empty() {
            let written = statement.to_bytes().map_err(|error| wrong("", error))?;
            if written != bytes {
                let value = parse_with(bytes, limits).map_err(|error| wrong("", error))?;
                return Err(otherwise(bytes, &written, &value));
            }
        }
        Ok(Reading { statement, spoilt })
    }
}

fn object(value: Json, path: &str) -> Result<Object, NotAStatement> {
    match value {
        Json::Object(members) => Ok(members),
        other => Err(wrong(path, format!("an object is needed, not {}", other.kind()))),
    }
}

fn list(value: Option<Json>, path: &str) -> Result<Vec<Json>, NotAStatement> {
    match value {
        Some(Json::Array(items)) => Ok(items),
        Some(other) => Err(wrong(path, format!("a list is needed, not {}", other.kind()))),
        None => Err(wrong(path, "is missing")),
    }
}

/// Reads each item; those that can't be read are told, and left out.
fn each<T>(
    items: Vec<Json>,
    path: &str,
    spoilt: &mut Vec<Spoilt>,
    read: impl Fn(Json) -> Result<T, (Code, String, String)>,
) -> Vec<T> {
    let mut all = Vec::new();
    for (at, item) in items.into_iter().enumerate() {
        let row = item.get("seq").and_then(count);
        match read(item) {
            Ok(one) => all.push(one),
            Err((code, place, message)) => {
                spoilt.push(Spoilt { code, path: format!("{path}/{at}{place}"), row, message });
            }
        }
    }
    all
}

fn count(value: &Json) -> Option<u64> {
    match value {
        Json::Number(number) => number.as_u64(),
        Json::Null | Json::Bool(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => None,
    }
}

fn predicate_of(
    mut predicate: Object,
    subjects: Vec<Subject>,
    spoilt: &mut Vec<Spoilt>,
) -> Result<Statement, NotAStatement> {
    let mut take = |name: &str| list(predicate.remove(name), &format!("/predicate/{name}"));
    let (blobs, formulas, keys) = (take("blobs")?, take("formulas")?, take("keys")?);
    let task = predicate.remove("task").ok_or_else(|| wrong("/predicate/task", "is missing"))?;
    let ledger = object(predicate.remove("ledger").unwrap_or(Json::Null), "/predicate/ledger")?;
    let ledger = ledger_of(ledger, spoilt)?;
    let mut fields =
        Fields::taking(Json::Object(predicate)).map_err(|trouble| wrong("/predicate", trouble))?;
    let version = fields.text("schema_version");
    let (matter, run, made_by) = (fields.id("matter"), fields.id("run"), fields.id("made_by"));
    let (packet_id, status, made_with) =
        (fields.text("packet_id"), fields.text("status"), fields.text("made_with"));
    let made_at = fields.timestamp("made_at");
    let files = fields.free_object("files");
    fields.deny_unknown();
    fields.finish().map_err(|troubles| of_troubles("/predicate", &troubles))?;
    if version.as_deref() != Some(SCHEMA_VERSION) {
        return Err(wrong("/predicate/schema_version", format!("this build reads {SCHEMA_VERSION}")));
    }
    let missing = || wrong("/predicate", "a member is missing");
    Ok(Statement {
        subjects,
        matter: matter.ok_or_else(missing)?,
        run: run.ok_or_else(missing)?,
        packet_id: packet_id.ok_or_else(missing)?,
        status: status.ok_or_else(missing)?,
        made_at: made_at.ok_or_else(missing)?,
        made_by: made_by.ok_or_else(missing)?,
        made_with: made_with.ok_or_else(missing)?,
        task,
        files: files_of(&files.ok_or_else(missing)?)?,
        ledger,
        blobs: each(blobs, "/predicate/blobs", spoilt, blob),
        formulas: each(formulas, "/predicate/formulas", spoilt, formula),
        keys: each(keys, "/predicate/keys", spoilt, key),
    })
}

fn of_troubles(path: &str, troubles: &[Trouble]) -> NotAStatement {
    match troubles.first() {
        Some(trouble) => wrong(&format!("{path}{}", trouble.path), &trouble.message),
        None => wrong(path, "can't be read"),
    }
}

fn files_of(files: &Object) -> Result<BTreeMap<String, Digest>, NotAStatement> {
    let one = |(path, value): (&str, &Json)| {
        let digest = value.as_str().and_then(|text| Digest::try_from(text).ok());
        let digest = digest.ok_or_else(|| wrong("/predicate/files", format!("{path:.80} has no digest")))?;
        Ok((path.to_string(), digest))
    };
    files.iter().map(one).collect()
}

fn ledger_of(mut ledger: Object, spoilt: &mut Vec<Spoilt>) -> Result<Ledger, NotAStatement> {
    let path = "/predicate/ledger";
    let rows = list(ledger.remove("rows"), &format!("{path}/rows"))?;
    let head = ledger.remove("head").unwrap_or(Json::Null);
    let head = head_of(&head).map_err(|why| wrong(&format!("{path}/head"), why))?;
    let anchor = match ledger.remove("anchor") {
        None | Some(Json::Null) => None,
        Some(value) => match Anchor::read(&value) {
            Ok(anchor) => Some(anchor),
            Err(problem) => {
                let (code, path) = (Code::VerifyAnchor, format!("{path}/anchor"));
                spoilt.push(Spoilt { code, path, row: None, message: problem.to_string() });
                None
            }
        },
    };
    if let Some((name, _)) = ledger.iter().next() {
        return Err(wrong(&format!("{path}/{name}"), "is not known here"));
    }
    let rows = each(rows, &format!("{path}/rows"), spoilt, entry);
    Ok(Ledger { anchor, head, rows })
}

fn head_of(value: &Json) -> Result<Head, String> {
    let mut fields = Fields::of(value).map_err(|trouble| trouble.to_string())?;
    let (seq, hash) = (fields.integer("seq"), fields.parse("hash", |text| Digest::try_from(text)));
    fields.deny_unknown();
    fields.finish().map_err(|troubles| troubles.first().map(ToString::to_string).unwrap_or_default())?;
    match (seq, hash) {
        (Some(seq), Some(hash)) => Ok(Head { seq, hash }),
        (_, _) => Err("a member is missing".to_string()),
    }
}

type Spoil = (Code, String, String);

fn entry(value: Json) -> Result<Entry, Spoil> {
    let spoil = |why: String| (Code::VerifyRow, String::new(), why);
    if value.get("stream").is_none() {
        return head_of(&value).map(Entry::Withheld).map_err(spoil);
    }
    row::read(value).map(|row| Entry::Whole(Box::new(row))).map_err(|bad| match bad {
        row::BadLine::Row(trouble) => (Code::VerifyRow, trouble.path.clone(), trouble.message),
        other => spoil(other.to_string()),
    })
}

/// What a reader of members made, or what is wrong with them.
fn read<T>(value: Json, code: Code, read: impl FnOnce(&mut Fields<'_>) -> Option<T>) -> Result<T, Spoil> {
    let mut fields =
        Fields::taking(value).map_err(|trouble| (code, trouble.path.clone(), trouble.message))?;
    let made = read(&mut fields);
    fields.deny_unknown();
    match (fields.finish(), made) {
        (Ok(()), Some(made)) => Ok(made),
        (Ok(()), None) => Err((code, String::new(), "a member is missing".to_string())),
        (Err(troubles), _) => {
            let first = troubles.into_iter().next();
            Err(first.map_or((code, String::new(), String::new()), |one| (code, one.path, one.message)))
        }
    }
}

fn subject(value: Json) -> Result<Subject, Spoil> {
    read(value, Code::VerifyStatement, |fields| {
        let name = fields.text("name");
        let digest = fields.object("digest", |digest| {
            let sha256 = digest.parse("sha256", |text| Digest::try_from(text));
            digest.deny_unknown();
            sha256
        });
        Some(Subject { name: name?, digest: digest? })
    })
}

fn formula(value: Json) -> Result<Formula, Spoil> {
    read(value, Code::VerifyFormula, |fields| {
        let (id, version, text) = (fields.text("id"), fields.text("version"), fields.text("text"));
        let spec = fields.free_object("spec");
        Some(Formula { id: id?, version: version?, text: text?, spec: spec?.into() })
    })
}

fn key(value: Json) -> Result<Key, Spoil> {
    read(value, Code::VerifyStatement, |fields| {
        let (principal, key) = (
            fields.id("principal"),
            fields.parse("key", |text| countersign_record::sign::PublicKey::try_from(text)),
        );
        Some(Key { principal: principal?, key: key? })
    })
}

/// Which of the three ways the bytes stand there.
const CONTENTS: [&str; 3] = ["text", "base64", "withheld"];

fn blob(value: Json) -> Result<Blob, Spoil> {
    read(value, Code::VerifyBlob, |fields| {
        let digest = fields.parse("digest", |text| Digest::try_from(text));
        let size = fields.integer("size");
        let given: Vec<&str> = CONTENTS.into_iter().filter(|name| fields.peek(name).is_some()).collect();
        let content = match given.as_slice() {
            ["text"] => fields.text("text").map(|text| Content::Present(text.into_bytes())),
            ["base64"] => {
                fields.parse("base64", |text| base64::decode(text.as_bytes())).map(Content::Present)
            }
            ["withheld"] => fields.filled("withheld").map(Content::Withheld),
            _other => {
                fields.trouble("text", Code::FieldInvalid, "one of text, base64 and withheld is needed");
                None
            }
        };
        Some(Blob { digest: digest?, size: size?, content: content? })
    })
}
