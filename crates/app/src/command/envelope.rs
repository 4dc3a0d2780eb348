//! `countersign envelope`: check, canonicalise, hash.
//! Owns: telling the two envelopes apart and the report. Must not: hold a rule of either contract.

use super::process::minted;
use crate::beneath;
use crate::cli::{Envelope as Subcommand, Global, Kind};
use crate::failure::{Exit, Failure};
use crate::input;
use crate::output;
use crate::place::Place;
use countersign_record::canonical;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::envelope::Envelope;
use countersign_record::fields::{TROUBLES_MAX, Trouble};
use countersign_record::json::{Json, Object, inexact_numbers};
use countersign_record::state::{GenericEnvelope, Reading};
use serde::Serialize;
use std::path::Path;

pub(super) fn run(global: &Global, command: Subcommand) -> Result<Exit, Failure> {
    match command {
        Subcommand::Validate { file, kind, files } => validate(global, &file, kind, files.as_deref()),
        Subcommand::Canonical { file } => canonical_form(global, &file).map(|()| Exit::Success),
        Subcommand::Hash { file, kind } => hash(global, &file, kind).map(|()| Exit::Success),
    }
}

fn canonical_form(global: &Global, file: &str) -> Result<(), Failure> {
    let value = input::document(file)?;
    let bytes = canonical::to_bytes(&value).map_err(|error| inexact(&value, error))?;
    if !global.json {
        return output::bytes(&bytes);
    }
    let text = String::from_utf8(bytes).unwrap_or_default();
    output::json(&Object::from([("canonical", Json::String(text))]))
}

fn inexact(value: &Json, error: canonical::Inexact) -> Failure {
    let failure = Failure::new(Code::NumberInexact, error.to_string()).with("literal", error.literal);
    inexact_numbers(value, 1).into_iter().fold(failure, |failure, (path, _)| failure.with("path", path))
}

fn hash(global: &Global, file: &str, kind: Kind) -> Result<(), Failure> {
    let value = input::document(file)?;
    let digest = digest(&value, kind_of(&value, kind))?;
    if global.json {
        output::json(&Object::from([("sha256", Json::String(digest.into()))]))
    } else {
        output::line(&digest.to_string())
    }
}

/// A foreign envelope keeps its digits; everything else must have a canonical form.
fn digest(value: &Json, kind: Option<Kind>) -> Result<Digest, Failure> {
    match kind {
        Some(Kind::Generic) => Ok(canonical::hash_as_written(value)),
        Some(Kind::Sr2 | Kind::Auto) | None => canonical::hash(value).map_err(|error| inexact(value, error)),
    }
}

/// What the document is, from the members that only one of the two has.
fn kind_of(value: &Json, asked: Kind) -> Option<Kind> {
    let marks = |names: &[&str]| names.iter().filter(|name| value.get(name).is_some()).count();
    let sr2 = marks(&["agent", "goal", "payload", "turn_id", "provenance", "escalate"]);
    let generic =
        marks(&["envelope_id", "raw_input", "outputs", "current_stage", "session_id", "terminated"]);
    match asked {
        Kind::Sr2 | Kind::Generic => Some(asked),
        // Either may carry members of its own that the other knows too, so the better fit wins.
        Kind::Auto if sr2 > generic => Some(Kind::Sr2),
        Kind::Auto if generic > sr2 => Some(Kind::Generic),
        Kind::Auto => None,
    }
}

#[derive(Serialize)]
struct Verdict {
    valid: bool,
    kind: &'static str,
    /// Whether the contract's schema would take it too; other dialects and missing members can be read without.
    conforms: bool,
    sha256: Option<Digest>,
    /// What was read besides: dialect, defaults, aliases.
    #[serde(skip_serializing_if = "Object::is_empty")]
    reading: Object,
    errors: Vec<Trouble>,
}

fn validate(global: &Global, file: &str, kind: Kind, files: Option<&Path>) -> Result<Exit, Failure> {
    let value = input::document(file)?;
    let Some(kind) = kind_of(&value, kind) else {
        return Err(Failure::new(
            Code::EnvelopeUnknown,
            "the document fits neither envelope better than the other",
        ));
    };
    // Reading takes the document apart, so it is hashed first.
    let sha256 = digest(&value, Some(kind)).ok();
    let (name, result) = match kind {
        Kind::Generic if files.is_some() => {
            return Err(Failure::new(Code::UsageInvalid, "--files: only an SR2 envelope names files"));
        }
        Kind::Generic => ("generic", generic(global, value)?),
        Kind::Sr2 | Kind::Auto => ("sr2", sr2(value, files)),
    };
    let verdict = match result {
        Ok((reading, conforms)) => {
            Verdict { valid: true, kind: name, conforms, sha256, reading, errors: Vec::new() }
        }
        Err(errors) => Verdict {
            valid: false,
            kind: name,
            conforms: false,
            sha256: None,
            reading: Object::new(),
            errors,
        },
    };
    if global.json {
        output::json(&verdict)?;
    } else if verdict.valid {
        let sha256 = verdict.sha256.map(|digest| format!("  sha256 {digest}")).unwrap_or_default();
        let how = if verdict.conforms { "valid" } else { "readable, but not conforming:" };
        output::line(&format!("{how} {name} envelope{sha256}"))?;
        for (what, value) in verdict.reading.iter() {
            let text = countersign_record::json::to_text(value).unwrap_or_default();
            output::line(&output::plain(&format!("  {what}: {text}")))?;
        }
    } else {
        for trouble in &verdict.errors {
            output::line(&output::plain(&format!("{}: {trouble}", trouble.code)))?;
        }
        output::line(&format!("not a valid {name} envelope: {}", errors_counted(verdict.errors.len())))?;
    }
    Ok(if verdict.valid { Exit::Success } else { Exit::Limited })
}

/// How many errors there are; beyond the limit of what is listed nobody has counted.
fn errors_counted(listed: usize) -> String {
    let count = output::count(listed as u64, "error");
    if listed < TROUBLES_MAX { count } else { format!("{count} or more") }
}

fn sr2(value: Json, files: Option<&Path>) -> Result<(Object, bool), Vec<Trouble>> {
    let envelope = Envelope::read(value)?;
    let troubles: Vec<Trouble> = match files {
        Some(root) => changed_files(&envelope, root),
        None => Vec::new(),
    };
    if troubles.is_empty() { Ok((Object::new(), true)) } else { Err(troubles) }
}

/// The files that are not what the envelope says they are.
fn changed_files(envelope: &Envelope, root: &Path) -> Vec<Trouble> {
    let files = envelope.provenance.files.iter().enumerate();
    files
        .filter_map(|(at, file)| {
            let message = match file_digest(root, &file.path) {
                Ok(digest) if digest == file.sha256 => return None,
                Ok(digest) => format!("{} has the SHA-256 {digest}", file.path),
                Err(why) => format!("{}: {why}", file.path),
            };
            Some(Trouble {
                code: Code::EnvelopeFileChanged,
                path: format!("/provenance/files/{at}"),
                message,
            })
        })
        .collect()
}

/// Hashes a file beneath `root` without holding it.
fn file_digest(root: &Path, path: &str) -> Result<Digest, String> {
    let words = |error: std::io::Error| error.to_string();
    let mut file = beneath::open(root, path)?;
    let mut hasher = canonical::Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match std::io::Read::read(&mut file, &mut buffer).map_err(words)? {
            0 => return Ok(hasher.finish()),
            read => canonical::Sink::put(&mut hasher, buffer.get(..read).unwrap_or_default()),
        }
    }
}

/// What was read besides the envelope, and whether it conforms.
type Read = Result<(Object, bool), Vec<Trouble>>;

fn generic(global: &Global, value: Json) -> Result<Read, Failure> {
    let minted = minted(&Place::open(global)?.clock)?;
    Ok(GenericEnvelope::read(value, minted).map(|reading| (told(&reading), reading.conforms())))
}

fn told(reading: &Reading) -> Object {
    let names = |names: &[&'static str]| Json::Array(names.iter().map(|name| (*name).into()).collect());
    let renamed =
        reading.renamed.iter().map(|word| format!("{}: {} is {}", word.path, word.from, word.to).into());
    let mut object = Object::from([("dialect", reading.dialect.as_str().into())]);
    if !reading.minted.is_empty() {
        object.insert("minted", names(&reading.minted));
    }
    if !reading.defaulted.is_empty() {
        object.insert("defaulted", names(&reading.defaulted));
    }
    if !reading.renamed.is_empty() {
        object.insert("renamed", Json::Array(renamed.collect()));
    }
    object
}
