//! Why a snapshot is not read, and why a table is not written.
//! Owns: the codes and the words; the same bytes give the same ones. Must not: repeat anything from a label.

use super::{DEPTH_MAX, DIMENSION_MAX, LABELS_BYTES_MAX, ROWS_MAX, VALUES_MAX};
use countersign_record::code::Code;
use std::io;

/// Why a snapshot, or a table to import, is refused; nothing of it was given out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The file can't be opened.
    #[error("{path} can't be read: {why}")]
    Unreadable {
        /// Where.
        path: String,
        /// Why.
        why: String,
    },
    /// The bytes are no layout that is known.
    #[error("{path}, byte {at}: {why}")]
    UnknownLayout {
        /// Where.
        path: String,
        /// The first byte that does not fit.
        at: u64,
        /// What does not fit.
        why: &'static str,
    },
    /// The bytes are not those that were written.
    #[error("{path} has not the SHA-256 that it was published with")]
    Changed {
        /// Where.
        path: String,
    },
    /// The layout is known, but it holds no table.
    #[error("{path}: {why}")]
    Table {
        /// Where.
        path: String,
        /// What is wrong.
        why: Flaw,
    },
}

impl Refusal {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Refusal::Unreadable { .. } => Code::SnapshotUnreadable,
            Refusal::UnknownLayout { .. } => Code::SnapshotUnknownLayout,
            Refusal::Changed { .. } => Code::SnapshotChanged,
            Refusal::Table { .. } => Code::SnapshotTable,
        }
    }
}

/// Why a snapshot was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The table is none; nothing was written.
    #[error("{0}")]
    Table(#[from] Flaw),
    /// There is something of that name already.
    #[error("{path} is there already")]
    Exists {
        /// The name.
        path: String,
    },
    /// What was to be written can't be read.
    #[error("{0}")]
    Read(#[from] Refusal),
    /// The system refused to take the bytes.
    #[error("the snapshot can't be written: {0}")]
    Io(#[from] io::Error),
}

impl WriteError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            WriteError::Table(_) => Code::SnapshotTable,
            WriteError::Exists { .. } => Code::SnapshotExists,
            WriteError::Read(refusal) => refusal.code(),
            WriteError::Io(_) => Code::OutputFailed,
        }
    }
}

/// What makes values no table. Rows count from 0, as Python counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// The parts do not belong together.
    #[error("{ids} ids, {meta} meta and {floats} floats are no table of vectors with dimension {dimension}")]
    Lengths {
        /// How many ids there are.
        ids: usize,
        /// How many meta there are.
        meta: usize,
        /// How many floats there are.
        floats: usize,
        /// What the dimension is said to be.
        dimension: usize,
    },
    /// Too many rows.
    #[error("a table may have {ROWS_MAX} rows")]
    Rows,
    /// A generation with more digits than there is room for.
    #[error("the generation has more than fifteen digits")]
    Generation,
    /// No dimension, or too great a one.
    #[error("the dimension of a vector is from 1 to {DIMENSION_MAX}")]
    Dimension,
    /// A float that has no place among the others.
    #[error("row {row}: the vector holds a NaN or an infinity")]
    NotFinite {
        /// Where.
        row: usize,
    },
    /// A label of another kind.
    #[error("row {row}: meta is no object")]
    NotAnObject {
        /// Where.
        row: usize,
    },
    /// Nested too deep.
    #[error("row {row}: meta is nested deeper than {DEPTH_MAX}")]
    Depth {
        /// Where.
        row: usize,
    },
    /// A number that would come back as another one.
    #[error("row {row}: meta holds a number that is neither an integer of 64 bits nor exactly a double")]
    Number {
        /// Where.
        row: usize,
    },
    /// Too many values.
    #[error("the labels hold more than {VALUES_MAX} values")]
    Values,
    /// Too much text.
    #[error("the labels are longer than {LABELS_BYTES_MAX} bytes")]
    Bytes,
    /// An imported table whose labels are of another form.
    #[error("ids is no list of texts")]
    Ids,
    /// An imported table whose labels are of another form.
    #[error("meta is no list of objects")]
    Meta,
}

/// Where bytes stop being what is known, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Odd {
    pub(super) at: usize,
    pub(super) why: &'static str,
}

impl Odd {
    /// The refusal of a file.
    pub(super) fn of(self, path: &str) -> Refusal {
        Refusal::UnknownLayout { path: path.to_owned(), at: self.at as u64, why: self.why }
    }
}
