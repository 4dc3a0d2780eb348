//! Verifying a packet, from its bytes to a report.
//! Owns: the order of the checks. Must not: check anything itself but signatures and the head.

use crate::case::Case;
use crate::dsse::{Envelope, signed_bytes};
use crate::formula::Formulas;
use crate::found::Found;
use crate::head::{self, Stated};
use crate::packet::{Content, Entry, Statement};
use crate::report::{Check, Failure, Outcome, Packet, Place, Report, Signer, Standing, Withheld};
use crate::summary::fallen;
use crate::{agreed, complete, contract, form, handed, header, integrity, run, walk};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::json::Json;
use countersign_record::sign::PublicKey;

/// Verifies the bytes of a packet. Where keys are trusted, one of them must have signed it; else any signer is as unknown as the
/// other, which is told.
#[must_use]
pub fn verify(file: &[u8], trusted: &[PublicKey]) -> Report {
    let mut found = Found::default();
    let envelope = match Envelope::read(file) {
        Ok(envelope) => envelope,
        Err(error) => {
            let place = Place { path: Some(error.member.clone()), ..Place::default() };
            found.wrong(Code::VerifyFile, Check::Statement, place, error.why);
            return report(found, None, Vec::new(), Vec::new());
        }
    };
    let signatures = signers(&envelope, trusted, &mut found);
    let reading = match Statement::read(&envelope.payload) {
        Ok(reading) => reading,
        Err(error) => {
            let path = (!error.path.is_empty()).then(|| error.path.clone());
            let place = Place { row: error.row, path, ..Place::default() };
            found.wrong(Code::VerifyFile, Check::Statement, place, error.why);
            return report(found, None, signatures, Vec::new());
        }
    };
    for spoilt in reading.spoilt {
        let place = Place { row: spoilt.row, path: Some(spoilt.path), ..Place::default() };
        found.wrong(spoilt.code, Check::Integrity, place, spoilt.message);
    }
    let statement = reading.statement;
    let said = look_at(&statement, &mut found);
    let withheld = statement.blobs.iter().filter_map(|blob| match &blob.content {
        Content::Withheld(reason) => Some(Withheld {
            digest: blob.digest,
            path: source_path(&statement, &blob.digest),
            size: blob.size,
            reason: reason.clone(),
        }),
        Content::Present(_) => None,
    });
    let withheld = withheld.collect();
    report(found, Some(packet(&statement, said)), signatures, withheld)
}

/// The path of the source whose text has a digest.
fn source_path(statement: &Statement, digest: &Digest) -> Option<String> {
    let mut rows = statement.ledger.rows.iter().filter_map(|entry| match entry {
        Entry::Whole(row) if row.kind.as_str() == "govern.source_record" => Some(row),
        Entry::Whole(_) | Entry::Withheld(_) => None,
    });
    let row = rows.find(|row| row.blobs.iter().any(|blob| blob.digest == *digest))?;
    row.payload.text("record.domain_payload.path").map(ToString::to_string)
}

/// What the rows say of their packet.
struct Said {
    explanation: String,
    /// Why it can't be relied on any more, if it can't.
    fallen: Option<String>,
}

/// Looks at everything; gives what the rows say of the packet.
fn look_at(statement: &Statement, found: &mut Found) -> Said {
    integrity::check(statement, found);
    let case = case_of(statement, &statement.task);
    found.placed(case.places());
    let stated = Stated::of(&case);
    stated_of_itself(statement, stated.as_ref(), found);
    let named = stated.map(|stated| stated.formulas).unwrap_or_default();
    let formulas = Formulas::of(&statement.formulas, &named, found);
    let told = run::check(&case, found);
    complete::check(&case, found);
    header::check(&case, found);
    handed::check(&case, &told, found);
    contract::check(&case, found);
    form::check(&case, found);
    match agreed::edits(&case) {
        Ok(edits) => {
            let edited: Vec<(u64, Case<'_>)> =
                edits.iter().map(|(place, task)| (*place, case_of(statement, task))).collect();
            walk::walk(&case, &edited, &formulas, &told, found);
        }
        // Whoever could withhold this could hide everything behind it.
        Err(edit) => {
            let message = "what was asked was changed here, and the change is not in the packet: nothing that follows can be derived";
            found.about(Code::VerifyIncomplete, Check::Task, edit, "", message);
        }
    }
    let explanation = head::packet(&case).and_then(|one| one.json().text("reliance_derivation.explanation"));
    Said { explanation: explanation.unwrap_or_default().to_string(), fallen: fallen(&case) }
}

/// What a statement must have, and does not: without it nothing that follows could be verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lacking {
    /// What a person changed in the task.
    Change(Digest),
    /// What the run began with: its envelope, its pipeline, what was put down beside them.
    Beginning(Digest),
}

/// What a statement withholds without which it can't be verified.
#[must_use]
pub fn lacking(statement: &Statement) -> Option<Lacking> {
    let case = case_of(statement, &statement.task);
    if let Some((_, digest)) = run::kept_back(&case) {
        return Some(Lacking::Beginning(digest));
    }
    let edit = agreed::edits(&case).err()?;
    case.row(edit)?.blobs.first().map(|blob| Lacking::Change(blob.digest))
}

/// What a statement holds, where a task was asked.
fn case_of<'p>(statement: &'p Statement, task: &'p Json) -> Case<'p> {
    let Statement { run, matter, files, ledger, blobs, .. } = statement;
    Case::new(run, matter, task, files, &ledger.rows, blobs)
}

/// Each signature, and whether one is of a key that is trusted.
fn signers(envelope: &Envelope, trusted: &[PublicKey], found: &mut Found) -> Vec<Signer> {
    let message = signed_bytes(&envelope.payload);
    let mut all = Vec::new();
    for (at, signed) in envelope.signatures.iter().enumerate() {
        let standing = match signed.key.verify(&message, &signed.signature) {
            Ok(()) if trusted.contains(&signed.key) => Standing::Trusted,
            Ok(()) => Standing::Unknown,
            Err(forged) => {
                let place = Place { path: Some(format!("/signatures/{at}")), ..Place::default() };
                found.wrong(Code::VerifySignature, Check::Signature, place, forged.to_string());
                Standing::Forged
            }
        };
        if standing != Standing::Forged {
            found.right(Check::Signature);
        }
        all.push(Signer { key: signed.key, standing });
    }
    if !trusted.is_empty() && !all.iter().any(|one| one.standing == Standing::Trusted) {
        let place = Place { path: Some("/signatures".to_string()), ..Place::default() };
        found.wrong(Code::VerifySigner, Check::Signature, place, "no trusted key has signed it");
    }
    all
}

/// What the statement says of itself is what follows from its rows.
fn stated_of_itself(statement: &Statement, stated: Option<&Stated>, found: &mut Found) {
    let Some(stated) = stated else { return };
    let subjects = |all: &[crate::packet::Subject]| {
        let one = |one: &crate::packet::Subject| Json::from(format!("{} {}", one.name, one.digest));
        Json::Array(all.iter().map(one).collect())
    };
    let keys = |all: &[crate::packet::Key]| {
        Json::Array(all.iter().map(|one| format!("{} {}", one.principal, one.key).into()).collect())
    };
    let own_keys: Vec<crate::packet::Key> = stated.keys.iter().cloned().collect();
    let all = [
        (
            "/predicate/packet_id",
            Json::from(stated.packet_id.as_str()),
            Json::from(statement.packet_id.as_str()),
        ),
        ("/predicate/status", stated.status.as_str().into(), statement.status.as_str().into()),
        ("/subject", subjects(&stated.subjects), subjects(&statement.subjects)),
        ("/predicate/keys", keys(&own_keys), keys(&statement.keys)),
    ];
    for (path, expected, stated) in all {
        if expected == stated {
            found.right(Check::Statement);
            continue;
        }
        found.fail(Failure {
            code: Code::VerifyStatement,
            check: Check::Statement,
            place: Place { path: Some(path.to_string()), ..Place::default() },
            expected: Some(expected),
            found: Some(stated),
            message: "is not what follows from the rows".to_string(),
        });
    }
}

fn packet(statement: &Statement, Said { explanation, fallen }: Said) -> Packet {
    let rows = &statement.ledger.rows;
    let whole = rows.iter().filter(|one| matches!(one, Entry::Whole(_))).count() as u64;
    let title = statement.task.get("title").and_then(Json::as_str).unwrap_or_default();
    Packet {
        matter: statement.matter.to_string(),
        run: statement.run.to_string(),
        packet_id: statement.packet_id.clone(),
        status: statement.status.clone(),
        explanation,
        fallen,
        title: title.to_string(),
        subjects: statement.subjects.iter().map(|one| (one.name.clone(), one.digest)).collect(),
        made_at: String::from(statement.made_at.as_str()),
        made_by: statement.made_by.to_string(),
        made_with: statement.made_with.clone(),
        head: statement.ledger.head,
        anchored: statement.ledger.anchor.as_ref().map(|anchor| anchor.seq),
        rows: whole,
        foreign_rows: rows.len() as u64 - whole,
    }
}

/// How it came out. That no trusted key has signed it is no failure of what is in it.
fn outcome(found: &Found, is_fallen: bool, is_partial: bool) -> Outcome {
    match (found.codes().next().is_some(), found.codes().all(|code| code == Code::VerifySigner)) {
        (true, false) => Outcome::Failed,
        (true, true) => Outcome::SignerUnknown,
        (false, _) if is_fallen => Outcome::Fallen,
        (false, _) if is_partial => Outcome::VerifiedInPart,
        (false, _) => Outcome::Verified,
    }
}

fn report(found: Found, packet: Option<Packet>, signatures: Vec<Signer>, withheld: Vec<Withheld>) -> Report {
    let is_fallen = packet.as_ref().is_some_and(|packet| packet.fallen.is_some());
    let is_partial = !withheld.is_empty() || found.is_partial();
    let result = outcome(&found, is_fallen, is_partial);
    let (checks, failures, unlisted) = found.finish();
    Report { result, packet, signatures, checks, withheld, failures, unlisted }
}
