//! How a recall looks: an SR2 envelope, or text.
//! Owns: both forms. Must not: show the text of an earlier turn that is only pointed to.

use crate::cli::Global;
use crate::failure::Failure;
use crate::output;
use crate::place;
use countersign_kernel::history::Decision;
use countersign_memory::conversation::{Escalation, Piece, Recalled};
use countersign_record::canonical::Score;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::envelope::{Envelope, HistoryRef, Provenance, Source};
use countersign_record::json::{self, Json, Object};
use countersign_record::turn::MemoryTurn;
use serde::Serialize;
use std::collections::BTreeMap;

/// Pieces that are listed with their reasons, of those that are dropped: whoever takes the envelope reads 16 MiB.
const LISTED_MAX: usize = 10_000;
/// Letters of a turn that are shown on a line.
const TEXT_CHARS_MAX: usize = 100;

#[derive(Serialize)]
struct Payload<'a> {
    recency: Vec<Recent<'a>>,
    episodic: Episodic<'a>,
    lines: u64,
    pending_bytes: u64,
    escalations: Vec<Told<'a>>,
}

#[derive(Serialize)]
struct Recent<'a> {
    offset: u64,
    turn: &'a MemoryTurn,
}

#[derive(Serialize)]
struct Episodic<'a> {
    generation: Option<u64>,
    kept: Vec<Shown<'a>>,
    /// The first ones; all are counted below.
    dropped: Vec<Shown<'a>>,
    dropped_count: u64,
    dropped_by_reason: BTreeMap<String, u64>,
}

#[derive(Serialize)]
struct Shown<'a> {
    id: String,
    hash: Digest,
    score: Score,
    similarity: Score,
    recency: Score,
    importance: Score,
    source: &'static str,
    timestamp: &'a str,
    tags: &'a [String],
    file_refs: &'a [String],
    tokens: u64,
    reason: &'a Decision,
}

#[derive(Serialize)]
struct Told<'a> {
    reason: &'a str,
    message: &'a str,
}

fn shown(piece: &Piece) -> Shown<'_> {
    let Piece { item, score, similarity, recency, decision } = piece;
    Shown {
        id: item.id(),
        hash: item.hash,
        score: *score,
        similarity: *similarity,
        recency: *recency,
        importance: item.importance,
        source: item.source.word(),
        timestamp: &item.timestamp,
        tags: &item.tags,
        file_refs: &item.file_refs,
        tokens: item.tokens,
        reason: decision,
    }
}

fn is_kept(piece: &&Piece) -> bool {
    matches!(piece.decision, Decision::Kept { .. })
}

fn dropped(recalled: &Recalled) -> impl Iterator<Item = &Piece> {
    recalled.pieces.iter().filter(|piece| !is_kept(piece))
}

fn by_reason(recalled: &Recalled) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for piece in dropped(recalled) {
        *counts.entry(piece.decision.words().into_iter().next().unwrap_or_default()).or_default() += 1;
    }
    counts
}

/// Prints the handoff.
pub(super) fn envelope(global: &Global, recalled: &Recalled) -> Result<(), Failure> {
    let clock = place::clock(global)?;
    let now = clock.now().map_err(|error| Failure::new(Code::TimeInvalid, error.to_string()))?;
    let recent = recalled.turns.iter().map(|located| Recent { offset: located.offset, turn: &located.turn });
    let told = |one: &'_ Escalation| -> (String, String) { (one.reason.clone(), one.message.clone()) };
    let escalations: Vec<(String, String)> = recalled.escalations.iter().map(told).collect();
    let payload = Payload {
        recency: recent.collect(),
        episodic: Episodic {
            generation: recalled.generation,
            kept: recalled.pieces.iter().filter(is_kept).map(shown).collect(),
            dropped: dropped(recalled).take(LISTED_MAX).map(shown).collect(),
            dropped_count: dropped(recalled).count() as u64,
            dropped_by_reason: by_reason(recalled),
        },
        lines: recalled.lines,
        pending_bytes: recalled.pending_bytes,
        escalations: escalations.iter().map(|(reason, message)| Told { reason, message }).collect(),
    };
    let refs = recalled.pieces.iter().filter(is_kept).map(|piece| HistoryRef {
        id: format!("E:{}", piece.item.id()),
        hash: piece.item.hash,
        score: Some(piece.score.into()),
    });
    let recent = recalled.turns.iter().map(|located| HistoryRef {
        id: format!("G:{}", located.offset),
        hash: located.turn.provenance.hash,
        score: None,
    });
    output::json(&Envelope {
        agent: "ConversationMemory".to_owned(),
        goal: "recall_history".to_owned(),
        timestamp: now,
        request_id: format!("r-{}", clock.fresh("recall")),
        turn_id: recalled.lines + 1,
        source: Source::Internal,
        version: "1.0".to_owned(),
        escalate: !recalled.escalations.is_empty(),
        reason: recalled.escalations.first().map(|one| one.reason.clone()),
        provenance: Provenance { history_refs: recent.chain(refs).collect(), ..Provenance::default() },
        payload: object(&payload)?,
    })
}

fn object(payload: &Payload<'_>) -> Result<Object, Failure> {
    let text = json::to_text(payload).map_err(|error| Failure::new(Code::OutputFailed, error.to_string()))?;
    match json::parse(text.as_bytes())? {
        Json::Object(object) => Ok(object),
        other => Err(Failure::new(Code::OutputFailed, format!("the payload is {}", other.kind()))),
    }
}

/// Prints what a person wants to see.
pub(super) fn text(recalled: &Recalled) -> Result<(), Failure> {
    for Escalation { reason, message } in &recalled.escalations {
        output::line(&format!("escalated  {reason}  {}", output::plain(message)))?;
    }
    output::line(&format!("{}, word for word:", output::count(recalled.turns.len() as u64, "turn")))?;
    for located in &recalled.turns {
        let said: String = output::plain(&located.turn.text).chars().take(TEXT_CHARS_MAX).collect();
        let (who, when) = (located.turn.role.word(), &located.turn.timestamp);
        output::line(&format!("  byte {}  {who}  {when}  {said}", located.offset))?;
    }
    let kept: Vec<&Piece> = recalled.pieces.iter().filter(is_kept).collect();
    let generation =
        recalled.generation.map_or("no index".to_owned(), |number| format!("generation {number}"));
    output::line(&format!(
        "{} of {} that may be pointed to ({generation}, {} bytes pending):",
        kept.len(),
        output::count(recalled.pieces.len() as u64, "earlier piece"),
        recalled.pending_bytes
    ))?;
    for piece in kept {
        let words = piece.decision.words().join("  ");
        output::line(&format!(
            "  {}  {:.6}  {}",
            piece.item.id(),
            piece.score.value(),
            output::plain(&words)
        ))?;
    }
    let dropped = by_reason(recalled);
    if !dropped.is_empty() {
        output::line("the rest, by reason (--json lists them):")?;
    }
    dropped.iter().try_for_each(|(word, count)| output::line(&format!("  {count}  {word}")))
}
