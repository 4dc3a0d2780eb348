//! The markers in what a model says: text for the user, and blocks for us.
//! Owns: where a block begins and ends, in one pass over a stream, however it is cut into chunks. Must not: know what a
//! block says, or show a part of a marker.
//!
//! After a begin marker comes one JSON value, then the end marker. A marker inside a JSON string is data. A block that
//! is none is left out up to its end marker; one without an end is left out to the end of the stream.

use alloc::vec::Vec;
use memchr::{memchr, memchr2};

/// A block beyond this is not kept.
pub const BLOCK_BYTES_MAX: usize = 1024 * 1024;

/// What a block is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A patch of the state, and actions.
    Notes,
    /// Calls of tools.
    Calls,
}

/// What a marker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    Begin,
    End,
}

const MARKERS: [(Kind, Edge, &[u8]); 4] = [
    (Kind::Notes, Edge::Begin, b"<<<NOTES_JSON>>>"),
    (Kind::Notes, Edge::End, b"<<<END_NOTES_JSON>>>"),
    (Kind::Calls, Edge::Begin, b"<<<TOOL_CALLS_JSON>>>"),
    (Kind::Calls, Edge::End, b"<<<END_TOOL_CALLS_JSON>>>"),
];
/// What all of them begin with; no marker has this byte anywhere else.
const LEAD: u8 = b'<';
const LEADS: usize = 3;

fn end_of(kind: Kind) -> &'static [u8] {
    match kind {
        Kind::Notes => MARKERS[1].2,
        Kind::Calls => MARKERS[3].2,
    }
}

/// A piece of what was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// For the user.
    Text(&'a str),
    /// One JSON value, as far as brackets and strings show; not parsed yet.
    Block(Kind, &'a [u8]),
    /// Something that was left out.
    Fault(Kind, Fault),
}

/// Why something was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// No object or list stands after the begin marker, or something in it is no JSON.
    NotJson,
    /// Something else than the end marker stands after the value.
    NoEnd,
    /// The block is too long.
    TooLong,
    /// What was said ends before the block does.
    Unclosed,
    /// An end marker without a beginning.
    StrayEnd,
}

/// Goes through what a model says.
#[derive(Debug, Default)]
pub struct Scanner {
    state: State,
    /// The block that is being read.
    block: Vec<u8>,
    /// The beginning of a character that goes on in the next chunk.
    carry: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Text for the user, the last bytes of which may be the beginning of a marker.
    Text(Begun),
    /// A block's value.
    Value(Kind, Depth),
    /// Behind the value: so many bytes of the end marker have come.
    End(Kind, usize),
    /// In a block that is left out: so many bytes of the end marker have come.
    Lost(Kind, Fault, usize),
}

/// The beginning of a marker.
#[derive(Clone, Copy, Debug)]
struct Begun {
    length: usize,
    /// Which markers begin like this, a bit for each.
    candidates: u8,
}

/// Nothing of any marker.
const NOTHING: Begun = Begun { length: 0, candidates: 0b1111 };

/// How deep in a value.
#[derive(Clone, Copy, Debug, Default)]
struct Depth {
    open: usize,
    in_string: bool,
    is_escaped: bool,
}

impl Default for State {
    fn default() -> Self {
        State::Text(NOTHING)
    }
}

impl Scanner {
    /// Takes the next bytes. What can be told already is given to `see`, in order.
    pub fn feed(&mut self, chunk: &[u8], see: &mut impl FnMut(Piece<'_>)) {
        let mut rest = chunk;
        while !rest.is_empty() {
            rest = match self.state {
                State::Text(begun) => self.text(begun, rest, see),
                State::Value(kind, depth) => self.value(kind, depth, rest),
                State::End(kind, matched) => self.end(kind, matched, rest, see),
                State::Lost(kind, fault, matched) => self.lost(kind, fault, matched, rest, see),
            };
        }
    }

    /// Ends it. A block that is open is left out, and so is a marker that was cut short.
    pub fn finish(mut self, see: &mut impl FnMut(Piece<'_>)) {
        match self.state {
            // A few of these at the end are nothing but that.
            State::Text(begun) if begun.length <= LEADS => self.show(begun.bytes(), see),
            State::Text(begun) => see(Piece::Fault(begun.kind(), Fault::Unclosed)),
            State::Value(kind, _) | State::End(kind, _) => see(Piece::Fault(kind, Fault::Unclosed)),
            State::Lost(kind, fault, _) => see(Piece::Fault(kind, fault)),
        }
        self.break_off(see);
    }

    /// A character that was begun does not go on behind a marker.
    fn break_off(&mut self, see: &mut impl FnMut(Piece<'_>)) {
        if !self.carry.is_empty() {
            self.carry.clear();
            see(Piece::Text(REPLACEMENT));
        }
    }

    /// Text for the user. Gives back what is left of the chunk.
    fn text<'a>(&mut self, begun: Begun, rest: &'a [u8], see: &mut impl FnMut(Piece<'_>)) -> &'a [u8] {
        if begun.length == 0 {
            let at = memchr(LEAD, rest).unwrap_or(rest.len());
            let (text, rest) = rest.split_at(at);
            self.show(text, see);
            if let Some((_, rest)) = rest.split_first() {
                self.state = State::Text(Begun { length: 1, ..NOTHING });
                return rest;
            }
            return rest;
        }
        let (begun, rest) = begun.further(rest);
        self.state = State::Text(begun);
        if let Some((kind, edge)) = begun.whole() {
            self.break_off(see);
            self.state = match edge {
                Edge::Begin => {
                    self.block.clear();
                    State::Value(kind, Depth::default())
                }
                Edge::End => {
                    see(Piece::Fault(kind, Fault::StrayEnd));
                    State::default()
                }
            };
        } else if rest.first() == Some(&LEAD) && begun.length == LEADS {
            // More than a marker has: the first of them were text, as many as there are too many.
            let more = rest.iter().take_while(|byte| **byte == LEAD).count();
            let (text, rest) = rest.split_at(more);
            self.show(text, see);
            return rest;
        } else if !rest.is_empty() {
            self.show(begun.bytes(), see);
            self.state = State::default();
        }
        rest
    }

    /// A block's value. Gives back what is left of the chunk.
    fn value<'a>(&mut self, kind: Kind, depth: Depth, rest: &'a [u8]) -> &'a [u8] {
        // White space before the value is no part of it.
        if let Some((_, after)) = rest.split_first().filter(|(byte, _)| depth.open == 0 && is_space(**byte)) {
            return after;
        }
        let (taken, next) = step(kind, depth, rest);
        let (bytes, rest) = rest.split_at(taken);
        self.block.extend_from_slice(bytes);
        self.state = match next {
            State::Value(..) | State::End(..) if self.block.len() > BLOCK_BYTES_MAX => {
                self.block = Vec::new();
                State::Lost(kind, Fault::TooLong, 0)
            }
            next => next,
        };
        rest
    }

    /// Behind the value. Gives back what is left of the chunk.
    fn end<'a>(
        &mut self,
        kind: Kind,
        matched: usize,
        rest: &'a [u8],
        see: &mut impl FnMut(Piece<'_>),
    ) -> &'a [u8] {
        let space = rest.iter().take_while(|byte| matched == 0 && is_space(**byte)).count();
        let rest = rest.get(space..).unwrap_or_default();
        let marker = end_of(kind);
        let (matched, rest) = matching(marker, matched, rest);
        self.state = match rest.is_empty() {
            true => State::End(kind, matched),
            false => State::Lost(kind, Fault::NoEnd, matched),
        };
        if matched == marker.len() {
            see(Piece::Block(kind, &self.block));
            self.state = State::default();
        }
        rest
    }

    /// In a block that is left out. Gives back what is left of the chunk.
    fn lost<'a>(
        &mut self,
        kind: Kind,
        fault: Fault,
        matched: usize,
        rest: &'a [u8],
        see: &mut impl FnMut(Piece<'_>),
    ) -> &'a [u8] {
        let marker = end_of(kind);
        if matched == 0 {
            let at = memchr(LEAD, rest).map_or(rest.len(), |at| at + 1);
            let is_begun = rest.get(at.wrapping_sub(1)) == Some(&LEAD);
            self.state = State::Lost(kind, fault, usize::from(is_begun));
            return rest.get(at..).unwrap_or_default();
        }
        let (matched, rest) = matching(marker, matched, rest);
        self.state = State::Lost(kind, fault, matched);
        if matched == marker.len() {
            see(Piece::Fault(kind, fault));
            self.state = State::default();
            return rest;
        }
        let Some((byte, after)) = rest.split_first() else { return rest };
        let matched = match *byte == LEAD {
            true if matched == LEADS => LEADS,
            true => 1,
            false => 0,
        };
        self.state = State::Lost(kind, fault, matched);
        after
    }

    /// Shows text; what is no UTF-8 is replaced, however it is cut into chunks.
    fn show(&mut self, bytes: &[u8], see: &mut impl FnMut(Piece<'_>)) {
        let mut rest = bytes;
        while !self.carry.is_empty() {
            let Some((byte, after)) = rest.split_first() else { return };
            self.carry.push(*byte);
            match core::str::from_utf8(&self.carry) {
                Ok(text) => see(Piece::Text(text)),
                // It may still become a character.
                Err(error) if error.error_len().is_none() => {
                    rest = after;
                    continue;
                }
                // What was carried is the beginning of none, and this byte is no part of it.
                Err(_) => {
                    see(Piece::Text(REPLACEMENT));
                    self.carry.clear();
                    break;
                }
            }
            self.carry.clear();
            rest = after;
        }
        if let Ok(text) = core::str::from_utf8(rest) {
            if !text.is_empty() {
                see(Piece::Text(text));
            }
            return;
        }
        let mut left = rest.len();
        for chunk in rest.utf8_chunks() {
            let (valid, invalid) = (chunk.valid(), chunk.invalid());
            left -= valid.len() + invalid.len();
            if !valid.is_empty() {
                see(Piece::Text(valid));
            }
            let is_begun = || core::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            if left == 0 && !invalid.is_empty() && is_begun() {
                self.carry.extend_from_slice(invalid);
            } else if !invalid.is_empty() {
                see(Piece::Text(REPLACEMENT));
            }
        }
    }
}

const REPLACEMENT: &str = "\u{FFFD}";

/// Goes on in a marker: how many of its bytes have come, and what is left after them.
fn matching<'a>(marker: &[u8], matched: usize, rest: &'a [u8]) -> (usize, &'a [u8]) {
    let expected = marker.get(matched..).unwrap_or_default();
    let more = expected.iter().zip(rest).take_while(|(expected, byte)| expected == byte).count();
    (matched + more, rest.get(more..).unwrap_or_default())
}

impl Begun {
    /// As many more bytes as there is a marker like that, and what is left after them.
    fn further(self, rest: &[u8]) -> (Self, &[u8]) {
        let (mut begun, mut rest) = (self, rest);
        while let Some((byte, after)) = rest.split_first() {
            if begun.candidates.is_power_of_two() {
                let (length, rest) = matching(begun.candidate().2, begun.length, rest);
                return (Begun { length, ..begun }, rest);
            }
            match begun.next(*byte) {
                Some(next) => (begun, rest) = (next, after),
                None => break,
            }
        }
        (begun, rest)
    }

    /// With one more byte, if there is a marker like that.
    fn next(self, byte: u8) -> Option<Self> {
        let mut candidates = self.candidates;
        for (at, (_, _, marker)) in MARKERS.iter().enumerate() {
            if marker.get(self.length) != Some(&byte) {
                candidates &= !(1 << at);
            }
        }
        (candidates != 0).then_some(Begun { length: self.length + 1, candidates })
    }

    fn candidate(self) -> &'static (Kind, Edge, &'static [u8]) {
        MARKERS.get(self.candidates.trailing_zeros() as usize).unwrap_or(&MARKERS[0])
    }

    /// The marker, if it is whole: none is the beginning of another.
    fn whole(self) -> Option<(Kind, Edge)> {
        let (kind, edge, marker) = self.candidate();
        (self.length == marker.len()).then_some((*kind, *edge))
    }

    fn kind(self) -> Kind {
        self.candidate().0
    }

    /// The bytes that have come.
    fn bytes(self) -> &'static [u8] {
        self.candidate().2.get(..self.length).unwrap_or_default()
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Goes on in a value: how many bytes are part of it, and what comes then. Brackets are counted and not matched; whoever
/// parses the value does that.
fn step(kind: Kind, mut depth: Depth, rest: &[u8]) -> (usize, State) {
    let mut at = 0;
    while let Some(byte) = rest.get(at) {
        if depth.in_string {
            if depth.is_escaped {
                depth.is_escaped = false;
                at += 1;
                continue;
            }
            let Some(found) = memchr2(b'"', b'\\', rest.get(at..).unwrap_or_default()) else {
                return (rest.len(), State::Value(kind, depth));
            };
            at += found + 1;
            match rest.get(at - 1) {
                Some(b'"') => depth.in_string = false,
                _ => depth.is_escaped = true,
            }
            continue;
        }
        match byte {
            b'{' | b'[' => depth.open += 1,
            b'}' | b']' if depth.open == 1 => return (at + 1, State::End(kind, 0)),
            b'}' | b']' if depth.open > 1 => depth.open -= 1,
            b'"' if depth.open > 0 => depth.in_string = true,
            b',' | b':' | b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'E' if depth.open > 0 => {}
            byte if is_space(*byte) => {}
            // Nothing like that stands in JSON; an end marker may begin here.
            _ => return (at, State::Lost(kind, Fault::NotJson, 0)),
        }
        at += 1;
    }
    (at, State::Value(kind, depth))
}

#[cfg(test)]
#[path = "markers_tests.rs"]
mod tests;
