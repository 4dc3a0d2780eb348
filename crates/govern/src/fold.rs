//! How things stand: projections, folded from the rows of a log one after the other.
//! Owns: the order of rows, snapshots, which folds there are. Must not: take a projection that somebody wrote for so.
//!
//! A fold is a function of the rows before it. Folded at once, in pieces or from a snapshot at any place it gives the same bytes;
//! a row that is broken, unknown or not allowed changes nothing.

mod attention;
mod cascade;
pub(crate) mod chain;
pub mod family;
mod finding;
pub(crate) mod guard;
mod guidance;
pub(crate) mod hard_call;
mod library;
pub mod life;
mod link;
mod obligation;
mod outcome;
pub(crate) mod place;
mod post;
pub mod read_model;
mod reliance;
pub mod research;
mod review;
pub mod revision;
pub mod row;
mod source;
pub mod standing;
mod workspace;

use crate::member::Member;
use crate::world::{Draft, Record, World};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::json::{Json, Object};
use countersign_record::time::Instant;
pub use hard_call::HardCallCurrent;
use life::{Board, Life};
use read_model::Headers;
pub use revision::RevisionPlanCurrent;
use row::Row;

/// Everything that stands somehow, by kind.
pub static LIVES: &[&Life] = &[
    &finding::LIFE,
    &chain::LIFE,
    &outcome::LIFE,
    &cascade::LIFE,
    &source::LIFE,
    &workspace::LIFE,
    &research::LIFE,
    &post::LIFE,
    &guidance::LIFE,
    &library::LIFE,
    &obligation::LIFE,
    &obligation::OWNED,
    &reliance::PACKETS,
    &reliance::CERTIFICATIONS,
    &reliance::REVIEWS,
    &attention::LIFE,
    &review::LIFE,
    &revision::LIFE,
    &hard_call::LIFE,
];

/// What is folded from rows.
pub trait Fold: Sized {
    /// Takes the next row in. It can't fail: what is wrong with a row is for rules to say.
    fn apply(&mut self, row: &Row<'_>);

    /// Everything that it holds.
    fn freeze(&self) -> Json;

    /// Goes on from what was frozen.
    ///
    /// # Errors
    /// It is no such snapshot.
    fn thaw(snapshot: &Json) -> Result<Self, NotASnapshot>;

    /// Its projections, by kind and id.
    fn projections(&self, all: &mut Vec<Projection>);
}

/// Why something is no snapshot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: is not as a snapshot has it")]
pub struct NotASnapshot {
    /// Where, as a JSON pointer.
    pub path: String,
}

/// How something stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Projection {
    /// The name of its type.
    pub kind: &'static str,
    /// What it is called.
    pub id: String,
    /// What it says, as its type has it.
    pub record: Json,
}

/// All folds of a log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Folds {
    seq: u64,
    at: Option<Instant>,
    /// What has states or is a projection.
    pub board: Board,
    /// The headers of read models.
    pub headers: Headers,
}

impl Folds {
    /// The place of the last row.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// How one thing stands, by the name of its type.
    #[must_use]
    pub fn projection(&self, kind: &str, id: &str) -> Option<Json> {
        let life = LIVES.iter().find(|life| life.projects == kind)?;
        let standing = self.board.find(life.snake, id)?;
        (life.record)(standing, &self.board)
    }

    /// Takes the next row in, before it has a place: it has the next one.
    pub fn push(&mut self, draft: &Draft) {
        let seq = self.seq + 1;
        let (at, id) = (draft.written_at(self.at), draft.name(seq));
        self.apply(&Row { seq, kind: &draft.kind, id: &id, at, json: &draft.record, streams: None });
    }
}

impl Fold for Folds {
    fn apply(&mut self, row: &Row<'_>) {
        (self.seq, self.at) = (row.seq, row.at);
        self.board.apply(row);
        self.headers.apply(row);
    }

    fn freeze(&self) -> Json {
        let mut frozen = Object::from([
            ("seq", row::number(self.seq)),
            ("board", self.board.freeze()),
            ("headers", self.headers.freeze()),
        ]);
        // Not as a text: an offset may carry a time out of the years that texts have.
        if let Some(at) = self.at {
            frozen.insert("seconds", at.seconds.to_string());
            frozen.insert("nanos", row::number(u64::from(at.nanos)));
        }
        frozen.into()
    }

    fn thaw(snapshot: &Json) -> Result<Self, NotASnapshot> {
        let part = |name: &str| {
            let missing = || NotASnapshot { path: alloc::format!("/{name}") };
            snapshot.get(name).ok_or_else(missing)
        };
        let board = Board::thaw(part("board")?)?;
        let headers = Headers::thaw(part("headers")?)?;
        let seconds = snapshot.text("seconds").and_then(|seconds| seconds.parse().ok());
        let nanos = snapshot.count("nanos").and_then(|nanos| u32::try_from(nanos).ok());
        let at = seconds.zip(nanos).map(|(seconds, nanos)| Instant { seconds, nanos });
        Ok(Folds { seq: life::read(snapshot, "seq")?, at, board, headers })
    }

    fn projections(&self, all: &mut Vec<Projection>) {
        self.board.projections(all);
        link::links(&self.board, all);
        self.headers.projections(all);
    }
}

/// How everything stands after the rows of a world up to a place.
#[must_use]
pub fn projections(world: &World, until: u64) -> Vec<Projection> {
    let mut folds = Folds::default();
    for row in world.all().take_while(|row| row.seq() <= until) {
        folds.apply(&Record::into(row));
    }
    let mut all = Vec::new();
    folds.projections(&mut all);
    all
}
