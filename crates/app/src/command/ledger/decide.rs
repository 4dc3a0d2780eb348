//! `ledger erase` and `ledger hold`: decisions about what is kept.
//! Owns: asking the ledger, with the decision signed. Must not: erase by itself.

use super::copies::Copies;
use super::read::read_digest;
use crate::cli::Global;
use crate::cli::ledger::Hold;
use crate::failure::{Exit, Failure};
use crate::output;
use crate::place::Place;
use countersign_record::code::Code;
use countersign_record::hold::{self, Held, Holds};
use countersign_record::id::{HoldId, RowKind, SessionName, StreamId};
use countersign_record::json::Json;
use countersign_record::row::{DataClass, Draft, Proof, Sealed, Taint};
use countersign_runtime::ports::ledger::{
    Batch, Error, Journal, Ledger, PAGE_ROWS_MAX, Query, Select, Stamp,
};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Receipt<'a> {
    seq: u64,
    kind: &'a str,
    proof: &'static str,
    /// Of an erasure: whether no copy of the bytes is left on the disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    purged: Option<bool>,
    /// Of an erasure: the sessions that held a copy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sessions: Vec<SessionName>,
}

pub(super) async fn erase(
    global: &Global,
    place: &Place,
    digest: &str,
    reason: &str,
) -> Result<Exit, Failure> {
    let digest = read_digest(digest)?;
    let receipt = decision(place, hold::ERASED, hold::erased(&digest, filled(reason)?))?;
    let proof = proof_word(&receipt);
    let copies = Copies::of(global, place, digest).await?;
    let erasure = match place.ledger.erase(&place.access, digest, receipt).await {
        Ok(erasure) => erasure,
        // A crash may have come between the erasure and this.
        Err(error @ Error::Erased { .. }) => {
            copies.forget(global).await?;
            return Err(error.into());
        }
        Err(error) => return Err(error.into()),
    };
    let sessions = copies.forget(global).await?;
    let seq = erasure.receipt.seq;
    if global.json {
        let purged = Some(erasure.is_purged);
        output::json(&Receipt { seq, kind: hold::ERASED, proof, purged, sessions })?;
    } else {
        output::line(&format!("row {seq}: {} ({proof})", hold::ERASED))?;
        for name in sessions {
            output::line(&format!("the session {name} was told again without it, and its traces are gone"))?;
        }
        if !erasure.is_purged {
            output::line(
                "note: a reader keeps a copy of the bytes in the ledger's log; it goes when the reader has ended \
                 and the ledger is next written to",
            )?;
        }
    }
    Ok(Exit::Success)
}

pub(super) async fn hold(global: &Global, place: &Place, command: Hold) -> Result<Exit, Failure> {
    match command {
        Hold::Place { id, digest, reason } => {
            let id = HoldId::try_from(id)?;
            let held = digest.as_deref().map(read_digest).transpose()?.map_or(Held::Matter, Held::Blob);
            let (holds, at) = holds(place).await?;
            if let Held::Blob(digest) = held {
                // Refuses a blob that no row names; one that was erased before may still be held.
                place.ledger.blob(&place.access, digest).await?;
            }
            if holds.contains(&id) {
                return Err(Failure::new(Code::HoldExists, format!("the hold {id} is in force")));
            }
            append(global, place, at, hold::PLACED, hold::placed(&id, held, filled(&reason)?)).await
        }
        Hold::Release { id, reason } => {
            let id = HoldId::try_from(id)?;
            let (holds, at) = holds(place).await?;
            if !holds.contains(&id) {
                return Err(Failure::new(Code::HoldUnknown, format!("no hold {id} is in force")));
            }
            append(global, place, at, hold::RELEASED, hold::released(&id, filled(&reason)?)).await
        }
        Hold::List => list(global, &holds(place).await?.0),
    }
}

/// The holds in force, and where the stream of such decisions ends.
async fn holds(place: &Place) -> Result<(Holds, u64), Failure> {
    let mut holds = Holds::default();
    let (mut after, mut end) = (0, 0);
    loop {
        let select = Select::Stream(StreamId::try_from(hold::STREAM)?);
        let query = Query { select, after, up_to: u64::MAX, limit: PAGE_ROWS_MAX };
        // A matter that is not there has no holds, and nothing to hold: a mistyped name must not look like either.
        let page = place.ledger.read(&place.access, query).await?;
        for row in &page.rows {
            holds.apply(row);
            end = row.stream_seq;
        }
        match page.next {
            Some(next) => after = next,
            None => return Ok((holds, end)),
        }
    }
}

async fn append(global: &Global, place: &Place, at: u64, kind: &str, payload: Json) -> Result<Exit, Failure> {
    let sealed = decision(place, kind, payload)?;
    let proof = proof_word(&sealed);
    // Expecting the stream's end makes check and append one step: two people can't place one hold twice.
    let expected = BTreeMap::from([(sealed.draft().stream.clone(), at)]);
    let batch = Batch { rows: vec![sealed], expected, idem_key: None };
    let answer = place.ledger.append(&place.access, batch).await?;
    match answer.rows.first() {
        Some(stamp) => told(global, *stamp, kind, proof),
        None => Err(Error::Closed.into()),
    }
}

/// Why it was decided: somebody will ask.
fn filled(reason: &str) -> Result<&str, Failure> {
    if reason.trim().is_empty() {
        return Err(Failure::new(Code::FieldInvalid, "--reason: the text is empty"));
    }
    Ok(reason)
}

/// A row that records what a person decided, signed if the person has a key.
fn decision(place: &Place, kind: &str, payload: Json) -> Result<Sealed, Failure> {
    let draft = Draft {
        stream: StreamId::try_from(hold::STREAM)?,
        kind: RowKind::try_from(kind)?,
        version: 1,
        at: place.now()?,
        actor: place.access.principal().clone(),
        proof: Proof::SelfAsserted,
        cause: None,
        data_class: DataClass::Internal,
        taint: Taint::UserTrustedBounded,
        payload,
        blobs: Vec::new(),
    };
    Ok(place.keys.sign_decision(place.access.principal(), place.matter(), draft.seal()?)?)
}

fn proof_word(sealed: &Sealed) -> &'static str {
    match sealed.draft().proof {
        Proof::None => "none",
        Proof::SelfAsserted => "self-asserted",
        Proof::Signed { .. } => "signed",
    }
}

fn told(global: &Global, stamp: Stamp, kind: &str, proof: &'static str) -> Result<Exit, Failure> {
    if global.json {
        output::json(&Receipt { seq: stamp.seq, kind, proof, purged: None, sessions: Vec::new() })?;
    } else {
        output::line(&format!("row {}: {kind} ({proof})", stamp.seq))?;
    }
    Ok(Exit::Success)
}

#[derive(Serialize)]
struct Listed {
    hold_id: HoldId,
    digest: Option<String>,
    reason: String,
}

fn list(global: &Global, holds: &Holds) -> Result<Exit, Failure> {
    let listed: Vec<Listed> = holds
        .iter()
        .map(|(id, held, reason)| {
            let digest = match held {
                Held::Blob(digest) => Some(digest.to_string()),
                Held::Matter => None,
            };
            Listed { hold_id: id.clone(), digest, reason: reason.to_owned() }
        })
        .collect();
    if global.json {
        output::json(&listed)?;
    } else if listed.is_empty() {
        output::line("No hold is in force.")?;
    } else {
        for one in &listed {
            let what = one.digest.as_deref().unwrap_or("every blob");
            output::line(&format!("{}  {what}  {}", one.hold_id, output::plain(&one.reason)))?;
        }
    }
    Ok(Exit::Success)
}
