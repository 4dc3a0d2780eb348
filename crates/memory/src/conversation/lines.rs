//! Reads the log forward, from a place that is known.
//! Owns: what a line is, and in how much memory lines are read. Must not: repeat any of a bad one.

use super::LINE_BYTES_MAX;
use countersign_kernel::history::{At, item};
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::json::{self, Limits};
use countersign_record::turn::MemoryTurn;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// How much is read at once.
const BLOCK_BYTES: usize = 1 << 20;

/// What a line holds.
#[derive(Debug)]
pub(super) enum Line {
    /// White space.
    Blank,
    /// A turn.
    Turn(Box<MemoryTurn>),
    /// Neither: a code and a place, never a piece of it.
    Bad(String),
}

/// A line in its place.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) at: At,
    /// Its length, with its end.
    pub(super) length: u64,
    pub(super) line: Line,
}

/// Bytes of a log that tell it from another.
const LANDMARK_BYTES: u64 = 4_096;

/// SHA-256 of the bytes of a log before a place, as many as a landmark has.
pub(super) fn landmark(log: &File, place: u64) -> io::Result<Digest> {
    let start = place.saturating_sub(LANDMARK_BYTES);
    let mut bytes = vec![0; usize::try_from(place - start).unwrap_or(0)];
    log.read_exact_at(&mut bytes, start)?;
    Ok(Digest::of(&bytes))
}

/// Whether a log, `length` bytes long, has that landmark before that place, and a line begins there.
pub(super) fn has_landmark(log: &File, length: u64, place: u64, expected: Digest) -> io::Result<bool> {
    if place > length || landmark(log, place)? != expected {
        return Ok(false);
    }
    let mut last = [b'\n'];
    if place > 0 {
        log.read_exact_at(&mut last, place - 1)?;
    }
    Ok(last == [b'\n'])
}

/// Reads a turn.
///
/// # Errors
/// What is wrong with it: a code and a place, never a piece of the line.
pub(super) fn read_turn(line: &[u8]) -> Result<MemoryTurn, String> {
    let limits = Limits { bytes_max: LINE_BYTES_MAX, ..Limits::GOVERNED };
    let value = json::parse_with(line, limits)
        .map_err(|error| format!("{} at byte {} of the line", error.problem.code(), error.offset))?;
    MemoryTurn::read(value).map_err(|troubles| match troubles.first() {
        Some(trouble) => format!("{} at {}", trouble.code, place(&trouble.path)),
        None => "it is no turn".to_owned(),
    })
}

/// The names in a path may come from the line, so only the contract's own are told.
fn place(path: &str) -> &str {
    const KNOWN: [&str; 12] = [
        "/role",
        "/text",
        "/timestamp",
        "/goal",
        "/provenance",
        "/provenance/source",
        "/provenance/hash",
        "/provenance/file_refs",
        "/id",
        "/importance",
        "/tags",
        "",
    ];
    if KNOWN.contains(&path) { path } else { "a member" }
}

/// What a line is.
pub(super) fn classify(bytes: &[u8]) -> Line {
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Line::Blank;
    }
    match read_turn(bytes).and_then(|turn| item::check(&turn).map_err(str::to_owned).map(|()| turn)) {
        Ok(turn) => Line::Turn(Box::new(turn)),
        Err(why) => Line::Bad(why),
    }
}

/// A line that is longer than any turn.
pub(super) fn too_long() -> Line {
    Line::Bad(format!("{} at byte {LINE_BYTES_MAX} of the line", Code::JsonTooLong))
}

/// Shows the bytes between two places, a block at a time, with the place after each. A file that ends before is shown up
/// to its end.
fn blocks(
    file: &File,
    from: u64,
    end: u64,
    mut show: impl FnMut(&[u8], u64) -> io::Result<()>,
) -> io::Result<()> {
    let mut next = from;
    let mut block = vec![0; BLOCK_BYTES];
    while next < end {
        let want = usize::try_from(end - next).map_or(BLOCK_BYTES, |left| left.min(BLOCK_BYTES));
        let read = file.read_at(block.get_mut(..want).unwrap_or_default(), next)?;
        if read == 0 {
            break;
        }
        next += read as u64;
        show(block.get(..read).unwrap_or_default(), next)?;
    }
    Ok(())
}

/// Shows every whole line from `from` up to the byte `end`, in order. What follows the last line's end is still being
/// written, or torn; it is no line.
pub(super) fn each(
    file: &File,
    from: At,
    end: u64,
    mut show: impl FnMut(Placed) -> io::Result<()>,
) -> io::Result<()> {
    let mut at = from;
    let mut held: Vec<u8> = Vec::new();
    let mut is_too_long = false;
    blocks(file, from.offset, end, |mut rest, next| {
        while let Some(newline) = memchr::memchr(b'\n', rest) {
            let (piece, after) = rest.split_at(newline);
            let after = after.get(1..).unwrap_or_default();
            let line = if is_too_long || held.len() + piece.len() > LINE_BYTES_MAX {
                too_long()
            } else if held.is_empty() {
                classify(piece)
            } else {
                held.extend_from_slice(piece);
                classify(&held)
            };
            let end = next - after.len() as u64;
            show(Placed { at, length: end - at.offset, line })?;
            held.clear();
            is_too_long = false;
            rest = after;
            at = At { offset: end, line: at.line + 1 };
        }
        is_too_long = is_too_long || held.len() + rest.len() > LINE_BYTES_MAX;
        // Of a line that is too long only its end is of interest.
        if is_too_long {
            held.clear();
        } else {
            held.extend_from_slice(rest);
        }
        Ok(())
    })
}

/// How many lines end between two bytes.
pub(super) fn count(file: &File, from: u64, end: u64) -> io::Result<u64> {
    let mut lines = 0;
    blocks(file, from, end, |bytes, _| {
        lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        Ok(())
    })?;
    Ok(lines)
}
