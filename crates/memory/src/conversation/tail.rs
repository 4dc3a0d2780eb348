//! Layer G: the last turns, from the end of the log.
//! Owns: reading backward, without reading the rest. Must not: read more of the log than the last turns take.

use super::lines::{self, Line};
use super::{Conversation, Error, LINE_BYTES_MAX};
use countersign_record::turn::MemoryTurn;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// The first block read from the end; those before it grow, up to the second.
const BLOCK_BYTES_MIN: u64 = 16 * 1024;
const BLOCK_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Turns that can be asked for.
pub const TURNS_MAX: usize = 1_000;
/// Lines that are no turns: after so many of them, what stands before is not looked for any more.
const BAD_MAX: usize = 1_000;
/// However little of it is turns, no more of the log's end is read than this.
const SCAN_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// The last turns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// The turns, the oldest first.
    pub turns: Vec<Located>,
    /// Lines between them that are none, and what is wrong with each. Their numbers are not known from here.
    pub bad: Vec<(u64, String)>,
    /// How long the log is up to the end of its last whole line.
    pub end: u64,
}

/// A turn, and where its line begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// Where.
    pub offset: u64,
    /// What was said.
    pub turn: MemoryTurn,
}

impl Conversation {
    /// The last `count` turns that begin at `from` or after it.
    ///
    /// # Errors
    /// The log can't be read.
    pub fn tail(&self, count: usize, from: u64) -> Result<Tail, Error> {
        let Some((file, length)) = self.open_log()? else { return Ok(Tail::default()) };
        read(&file, length, count, from).map_err(|error| Error::unreadable(&self.log(), &error))
    }
}

/// Where the last whole line ends.
pub(super) fn end_of_lines(file: &File, length: u64) -> io::Result<u64> {
    let mut end = length;
    let mut block = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(BLOCK_BYTES_MIN.max(length - end).min(BLOCK_BYTES_MAX));
        fill(file, &mut block, start, end)?;
        if let Some(at) = memchr::memrchr(b'\n', &block) {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

pub(super) fn read(file: &File, length: u64, count: usize, from: u64) -> io::Result<Tail> {
    let end = end_of_lines(file, length)?;
    let mut tail = Tail { end, ..Tail::default() };
    let mut backward = Backward { file, start: end, bytes: Vec::new(), end, floor: from.min(end) };
    while tail.turns.len() < count.min(TURNS_MAX)
        && tail.bad.len() < BAD_MAX
        && end - backward.end <= SCAN_BYTES_MAX
    {
        let Some((offset, line)) = backward.next_line()? else { break };
        match line {
            Line::Turn(turn) => tail.turns.push(Located { offset, turn: *turn }),
            Line::Bad(why) => tail.bad.push((offset, why)),
            Line::Blank => {}
        }
    }
    tail.turns.reverse();
    tail.bad.reverse();
    Ok(tail)
}

/// Lines from the end. `bytes` holds the log from `start` to at least `end`, where the line before begins to end.
struct Backward<'a> {
    file: &'a File,
    start: u64,
    bytes: Vec<u8>,
    end: u64,
    floor: u64,
}

impl Backward<'_> {
    /// The line that ends at `end`, and where it begins.
    fn next_line(&mut self) -> io::Result<Option<(u64, Line)>> {
        if self.end <= self.floor {
            return Ok(None);
        }
        loop {
            let held = usize::try_from(self.end - self.start).unwrap_or(usize::MAX);
            // Without its own end, which is the newline of the line asked for.
            let inside = self.bytes.get(..held.saturating_sub(1)).unwrap_or_default();
            let newline = memchr::memrchr(b'\n', inside);
            if newline.is_some() || self.start <= self.floor {
                let begin = newline.map_or(0, |at| at + 1);
                let offset = self.start + begin as u64;
                let line = lines::classify(inside.get(begin..).unwrap_or_default());
                self.end = offset;
                self.bytes.truncate(begin);
                return Ok(Some((offset, line)));
            }
            if held > LINE_BYTES_MAX {
                return self.skip().map(Some);
            }
            self.read_before()?;
        }
    }

    /// Puts as much again before what is held: so a long line is copied a few times, not once for each block.
    fn read_before(&mut self) -> io::Result<()> {
        let held = self.end - self.start;
        let take = BLOCK_BYTES_MIN.max(held).min(BLOCK_BYTES_MAX.max(held)).min(self.start - self.floor);
        let mut bytes = Vec::new();
        fill(self.file, &mut bytes, self.start - take, self.start)?;
        bytes.append(&mut self.bytes);
        (self.bytes, self.start) = (bytes, self.start - take);
        Ok(())
    }

    /// Passes over a line that is too long, holding none of it.
    fn skip(&mut self) -> io::Result<(u64, Line)> {
        let last = self.end;
        let before = end_of_lines_from(self.file, self.start, self.floor, last)?;
        (self.start, self.end) = (before, before);
        self.bytes.clear();
        Ok((before, lines::too_long()))
    }
}

/// The last end of a line before `end`, looked for in blocks as far back as is allowed.
fn end_of_lines_from(file: &File, end: u64, floor: u64, last: u64) -> io::Result<u64> {
    let mut end = end;
    let mut block = Vec::new();
    while end > floor && last - end <= SCAN_BYTES_MAX {
        let start = end.saturating_sub(BLOCK_BYTES_MAX).max(floor);
        fill(file, &mut block, start, end)?;
        if let Some(at) = memchr::memrchr(b'\n', &block) {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(end)
}

fn fill(file: &File, block: &mut Vec<u8>, start: u64, end: u64) -> io::Result<()> {
    block.clear();
    block.resize(usize::try_from(end - start).unwrap_or(0), 0);
    file.read_exact_at(block, start)
}

#[cfg(test)]
#[path = "tail_tests.rs"]
mod tests;
