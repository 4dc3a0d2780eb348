//! What a model says: text for the user, notes that change the state, calls of tools.
//! Owns: taking it apart and what it means. Must not: do any of it.
//!
//! The path of one reply: [`Listener::hear`] takes chunks as they come and gives text at once; [`Listener::finish`] gives
//! the notes and calls, which count only when the reply is whole.

pub mod calls;
pub mod markers;
pub mod notes;

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use calls::Asked;
use core::fmt;
use countersign_record::fields::Trouble;
use countersign_record::json::{self, Json};
use markers::{Fault, Kind, Piece, Scanner};
use notes::Notes;

/// Blocks of one reply that are looked at.
const BLOCKS_MAX: usize = 64;
/// Faults of one reply that are told.
const FAULTS_MAX: usize = 64;

/// Why a block or a call does not count. Says where and what, and repeats nothing of what the model said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why(String);

impl Why {
    /// The words.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn of(troubles: &[Trouble]) -> Self {
        match troubles {
            [] => Why::from("it is none"),
            [trouble] => Why(trouble.to_string()),
            [trouble, more @ ..] => Why(alloc::format!("{trouble} (and {} more)", more.len())),
        }
    }
}

impl From<&str> for Why {
    fn from(words: &str) -> Self {
        Why(words.into())
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn parsed(block: &[u8]) -> Result<Json, Why> {
    json::parse(block).map_err(|error| Why(error.without_text()))
}

/// What a reply means.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// The notes, in order: each counts by itself.
    pub notes: Vec<Result<Notes, Why>>,
    /// The calls.
    pub asked: Asked,
    /// What was left out.
    pub faults: Vec<(Kind, Fault)>,
}

/// Hears one reply.
#[derive(Debug, Default)]
pub struct Listener {
    scanner: Scanner,
    blocks: Blocks,
}

#[derive(Debug, Default)]
struct Blocks {
    notes: Vec<Result<Notes, Why>>,
    calls: Vec<Vec<u8>>,
    faults: Vec<(Kind, Fault)>,
}

impl Blocks {
    fn take(&mut self, piece: Piece<'_>, show: &mut impl FnMut(&str)) {
        match piece {
            Piece::Text(text) => show(text),
            Piece::Block(Kind::Notes, block) if self.notes.len() < BLOCKS_MAX => {
                self.notes.push(Notes::read(block));
            }
            Piece::Block(Kind::Calls, block) if self.calls.len() < BLOCKS_MAX => {
                self.calls.push(block.to_vec());
            }
            Piece::Block(kind, _) => self.fault(kind, Fault::TooLong),
            Piece::Fault(kind, fault) => self.fault(kind, fault),
        }
    }

    fn fault(&mut self, kind: Kind, fault: Fault) {
        if self.faults.len() < FAULTS_MAX {
            self.faults.push((kind, fault));
        }
    }
}

/// What of a whole reply is text.
#[must_use]
pub fn visible(reply: &str) -> String {
    let mut visible = String::new();
    let mut listener = Listener::default();
    listener.hear(reply.as_bytes(), &mut |text| visible.push_str(text));
    listener.finish(&mut |text| visible.push_str(text));
    visible
}

impl Listener {
    /// Hears the next bytes, and shows what of them is text.
    pub fn hear(&mut self, chunk: &[u8], show: &mut impl FnMut(&str)) {
        let Listener { scanner, blocks } = self;
        scanner.feed(chunk, &mut |piece| blocks.take(piece, show));
    }

    /// Ends the reply, and shows the rest of its text.
    pub fn finish(self, show: &mut impl FnMut(&str)) -> Heard {
        let Listener { scanner, mut blocks } = self;
        scanner.finish(&mut |piece| blocks.take(piece, show));
        let Blocks { notes, calls, faults } = blocks;
        // A block of calls that was left out may have held the one that the others build on.
        let is_whole = faults.iter().all(|(kind, fault)| *kind != Kind::Calls || *fault == Fault::StrayEnd);
        let broken: &[u8] = b"";
        let blocks = calls.iter().map(Vec::as_slice).chain((!is_whole).then_some(broken));
        Heard { notes, asked: Asked::read(blocks), faults }
    }
}
