//! `countersign verify`: whether a packet is what it says, from the file alone.
//! Owns: reading the file and the keys, telling the report. Must not: check anything itself.

use crate::cli::Global;
use crate::cli::packet::Verify;
use crate::failure::{Exit, Failure};
use crate::input;
use crate::output::{self, BAD, CARE, FAINT, GOOD, Line, PLAIN, Sheet};
use countersign_record::code::Code;
use countersign_record::json;
use countersign_record::sign::PublicKey;
use countersign_verify::dsse::BYTES_MAX;
use countersign_verify::report::{Counted, Failure as Found, Outcome, Report, Standing};
use countersign_verify::verify;
use std::io::Read;

/// Columns of what is said of something.
const NAME_COLUMNS: usize = 8;
/// Failures that are printed; `--json` has more.
const SHOWN_MAX: usize = 20;

pub(super) fn run(global: &Global, command: &Verify) -> Result<Exit, Failure> {
    let trusted = command.trusted_key.iter().map(|text| key(text)).collect::<Result<Vec<_>, _>>()?;
    let mut bytes = Vec::new();
    let limit = BYTES_MAX as u64 + 1;
    let read = input::open(&command.file)?.take(limit).read_to_end(&mut bytes);
    read.map_err(|error| Failure::file(&command.file, &error))?;
    let report = verify(&bytes, &trusted);
    if global.json {
        output::json(&report)?;
    } else {
        told(&report)?;
    }
    let unreadable = report.failures.iter().find(|one| one.code == Code::VerifyFile);
    match (report.result, unreadable) {
        (_, Some(found)) => {
            let path = found.place.path.as_deref().filter(|path| !path.is_empty());
            let path = path.map(|path| format!("{path}: ")).unwrap_or_default();
            Err(Failure::new(Code::VerifyFile, format!("{}: {path}{}", command.file, found.message)))
        }
        (Outcome::Verified | Outcome::VerifiedInPart, None) => Ok(Exit::Success),
        (Outcome::Fallen | Outcome::SignerUnknown | Outcome::Failed, None) => Ok(Exit::Limited),
    }
}

/// A key: its digits, or a file that has them.
fn key(text: &str) -> Result<PublicKey, Failure> {
    // What is as long as a key and has its digits is meant as one.
    let is_meant = text.len() == 64 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    let digits = match PublicKey::try_from(text) {
        Ok(key) => return Ok(key),
        Err(_) if is_meant => text.to_owned(),
        Err(_) => input::text(text).map_err(|_| {
            let why = "is neither a key (64 hex digits) nor a file that can be read";
            Failure::new(Code::FieldInvalid, format!("--trusted-key {text}: it {why}"))
        })?,
    };
    let key = PublicKey::try_from(digits.trim());
    key.map_err(|error| Failure::new(Code::FieldInvalid, format!("--trusted-key {text}: {error}")))
}

fn told(report: &Report) -> Result<(), Failure> {
    let say = |name: &str, text: String| {
        Line::new(FAINT, format!("  {name:<NAME_COLUMNS$} ")).and(PLAIN, text).hanging(NAME_COLUMNS + 3)
    };
    let mut all = headline(report);
    if let Some(packet) = &report.packet {
        let status = packet.status.replace('_', " ");
        if let Some(why) = &packet.fallen {
            all.push(Line::new(BAD.bold(), format!("! The packet no longer holds: {why}.")).hanging(2));
        }
        let was = if packet.fallen.is_some() { "it was: " } else { "" };
        all.push(say("packet", format!("{} ({was}{status})", packet.title)));
        all.push(say("why", packet.explanation.clone()));
        let run = format!("{} of matter {}, up to row {}", packet.run, packet.matter, packet.head.seq);
        all.push(say("run", run));
        for (name, digest) in &packet.subjects {
            all.push(say("work", format!("{name}  sha256 {digest}")));
        }
        let made = format!("{} by {} with {}", packet.made_at, packet.made_by, packet.made_with);
        all.push(say("made", made));
    }
    for signer in &report.signatures {
        let (style, how) = match signer.standing {
            Standing::Trusted => (GOOD, "which you trust"),
            Standing::Unknown => (CARE, "for which nobody here vouches (--trusted-key)"),
            Standing::Forged => (BAD, "FORGED: it is not of this key over this packet"),
        };
        all.push(say("signed", format!("{}, ", signer.key)).and(style, how));
    }
    all.extend(checks(report, &say));
    for one in &report.withheld {
        let size = output::count(one.size, "byte");
        let path = one.path.as_deref().map(|path| format!("{}, ", output::plain(path))).unwrap_or_default();
        all.push(say("withheld", format!("{path}{} ({size}: {})", one.digest, one.reason)));
    }
    for failure in report.failures.iter().take(SHOWN_MAX) {
        all.push(Line::new(BAD, "  ! ").and(PLAIN, sentence(failure)?).hanging(4));
    }
    let more = report.failures.len().saturating_sub(SHOWN_MAX) as u64 + report.unlisted;
    if more > 0 {
        all.push(Line::new(FAINT, format!("  … and {more} more (--json)")));
    }
    Sheet::new().print(&all)
}

/// What a reader must know before anything else: whether it all follows, and whether anybody vouches for who signed.
fn headline(report: &Report) -> Vec<Line> {
    let is_vouched = report.signatures.iter().any(|one| one.standing == Standing::Trusted);
    let (style, words) = match (report.result, is_vouched) {
        (Outcome::Verified, true) => (
            GOOD,
            "✓ Verified: everything in it follows from its records, and a key that you trust signed it.",
        ),
        (Outcome::VerifiedInPart, true) => (
            CARE,
            "✓ Verified, with parts withheld: what is in it follows from its records, and a key that you trust signed it.",
        ),
        (Outcome::Verified, false) => (CARE, "✓ Everything in it follows from its records."),
        (Outcome::VerifiedInPart, false) => {
            (CARE, "✓ Parts are withheld; everything that is in it follows from its records.")
        }
        (Outcome::Fallen, _) => (
            BAD,
            "! Sound, and no longer to be relied on: everything in it is as it says, and it has fallen since.",
        ),
        (Outcome::SignerUnknown, _) => (
            BAD,
            "? Signed by NOBODY whom you trust: everything in it follows from its records, and none of the keys that you named has signed it.",
        ),
        (Outcome::Failed, _) => (BAD, "✗ NOT verified: something in it is not as it says."),
    };
    let mut all = vec![Line::new(style.bold(), words).hanging(2)];
    if !is_vouched && !matches!(report.result, Outcome::Failed | Outcome::SignerUnknown) {
        let unknown = "? WHO signed it is not known: nobody here vouches for the key. Anybody could have made such a \
                       packet of records of their own. Ask who gave it to you for their key, and say --trusted-key KEY.";
        all.push(Line::new(CARE.bold(), unknown).hanging(2));
    }
    all
}

/// How much was checked, together where nothing failed.
fn checks(report: &Report, say: &impl Fn(&str, String) -> Line) -> Vec<Line> {
    let looked = report.checks.iter().filter(|one| one.checked + one.told + one.withheld > 0);
    let (bad, good): (Vec<_>, Vec<_>) = looked.partition(|one| one.failed > 0);
    let counts = |one: &Counted| {
        let told = if one.told > 0 { format!(" ({} taken as told)", one.told) } else { String::new() };
        let withheld = if one.withheld > 0 { format!(" ({} withheld)", one.withheld) } else { String::new() };
        format!("{} {}{told}{withheld}", one.check.as_str(), one.checked)
    };
    let together: Vec<String> = good.iter().copied().map(&counts).collect();
    let mut lines = Vec::new();
    if !together.is_empty() {
        lines.push(say("checked", together.join(", ")));
    }
    lines.extend(bad.iter().map(|one| say("", counts(one)).and(BAD, format!(", {} FAILED", one.failed))));
    lines
}

/// What failed, where, and what was expected.
fn sentence(failure: &Found) -> Result<String, Failure> {
    let place = &failure.place;
    let parts = [
        place.row.map(|row| format!("row {row}")),
        place.record.clone(),
        place.path.clone(),
        place.blob.map(|digest| format!("bytes {digest}")),
    ];
    let place: Vec<String> = parts.into_iter().flatten().collect();
    let value = |value: &Option<json::Json>| -> Result<String, Failure> {
        let text = value.as_ref().map(json::to_text).transpose();
        let text = text.map_err(|error| Failure::new(Code::OutputFailed, error.to_string()))?;
        Ok(text.map_or_else(|| "nothing".to_owned(), |text| text.chars().take(VALUE_CHARS_MAX).collect()))
    };
    let compared = match (&failure.expected, &failure.found) {
        (None, None) => String::new(),
        (expected, found) => format!(" (expected {}, found {})", value(expected)?, value(found)?),
    };
    Ok(format!("{}: {}: {}{compared}", failure.code, place.join(" "), failure.message))
}

/// Characters of a value that are printed.
const VALUE_CHARS_MAX: usize = 160;
