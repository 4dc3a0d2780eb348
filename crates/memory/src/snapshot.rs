//! The snapshot of Layer E: ids, meta and vectors in one file that Python opens too (`history_store.pkl`).
//! Owns: writing the file from a template, finding the vectors in place, reading the labels. Must not: run a pickle,
//! read the vectors to open them, or change a file in place.
//!
//! A snapshot is a dict `{emb, ids, meta}` for Python's `pickle.load`: `emb` a float32 array, `ids` a list of str,
//! `meta` a list of dict. Row i of the vectors belongs to `ids[i]` and `meta[i]`.

mod decode;
mod encode;
mod foreign;
mod layout;
pub mod npz;
mod numbers;
mod publish;
mod refusal;

pub use publish::publish_new;
pub use refusal::{Flaw, Refusal, WriteError};

use countersign_mapped::Mapped;
use countersign_record::canonical::{Hasher, Sink};
use countersign_record::digest::Digest;
use countersign_record::json::Json;
use refusal::Odd;
use std::fmt;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

/// Rows of a table.
pub const ROWS_MAX: usize = 4_000_000;
/// Floats of a vector.
pub const DIMENSION_MAX: usize = 65_536;
/// Arrays and objects inside each other in one meta, itself counted.
pub const DEPTH_MAX: usize = 32;
/// Values in all labels: one takes far more memory than the byte it may take in the file.
pub const VALUES_MAX: usize = 8_000_000;
/// Bytes of all labels.
pub const LABELS_BYTES_MAX: usize = 256 * 1024 * 1024;

const FLOAT_BYTES: usize = size_of::<f32>();
/// Floats are checked and written in pieces.
const PIECE_FLOATS: usize = 16 * 1024;

/// What a snapshot holds: row i of `vectors` belongs to `ids[i]` and `meta[i]`.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    /// The ids.
    pub ids: &'a [String],
    /// What is known of each, an object.
    pub meta: &'a [Json],
    /// All vectors, one after the other.
    pub vectors: &'a [f32],
    /// How many floats make a vector.
    pub dimension: usize,
}

/// A table that holds what is in it.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedTable {
    /// The ids and what is known of each.
    pub labels: Labels,
    /// All vectors, one after the other.
    pub vectors: Vec<f32>,
    /// How many floats make a vector.
    pub dimension: usize,
}

impl OwnedTable {
    /// The table, to be written.
    #[must_use]
    pub fn table(&self) -> Table<'_> {
        let Labels { ids, meta } = &self.labels;
        Table { ids, meta, vectors: &self.vectors, dimension: self.dimension }
    }
}

/// The labels of a table, one of each for every row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// The ids.
    pub ids: Vec<String>,
    /// What is known of each, an object.
    pub meta: Vec<Json>,
}

/// Rows and floats in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    rows: usize,
    dimension: usize,
}

impl Shape {
    fn floats(self) -> Option<usize> {
        self.rows.checked_mul(self.dimension)
    }

    fn bytes(self) -> Option<usize> {
        self.floats()?.checked_mul(FLOAT_BYTES)
    }

    /// Whether a table may have it.
    fn check(self) -> Result<Self, Flaw> {
        if self.rows > ROWS_MAX {
            return Err(Flaw::Rows);
        }
        if self.dimension == 0 || self.dimension > DIMENSION_MAX {
            return Err(Flaw::Dimension);
        }
        Ok(self)
    }
}

impl Table<'_> {
    fn check(&self) -> Result<Shape, Flaw> {
        let shape = Shape { rows: self.ids.len(), dimension: self.dimension }.check()?;
        if self.meta.len() != shape.rows || shape.floats() != Some(self.vectors.len()) {
            return Err(Flaw::Lengths {
                ids: self.ids.len(),
                meta: self.meta.len(),
                floats: self.vectors.len(),
                dimension: self.dimension,
            });
        }
        match self.vectors.iter().position(|float| !float.is_finite()) {
            Some(at) => Err(Flaw::NotFinite { row: at / self.dimension }),
            None => Ok(shape),
        }
    }
}

/// Writes a table as a snapshot and gives back the SHA-256 of all its bytes. The same table gives the same bytes.
///
/// # Errors
/// The table is none, in which case nothing is written, or the writer refuses.
pub fn write(table: &Table<'_>, out: &mut impl Write) -> Result<Digest, WriteError> {
    write_generation(table, 0, out)
}

/// The same for one of several that follow each other, by whose number it is known again.
///
/// # Errors
/// As for [`write`].
pub fn write_generation(
    table: &Table<'_>,
    generation: u64,
    out: &mut impl Write,
) -> Result<Digest, WriteError> {
    let shape = table.check()?;
    let head = layout::head(shape, generation).ok_or(Flaw::Generation)?;
    // The labels are gone through once before: what can't be written is told before a byte is.
    encode::labels(table.ids, table.meta, &mut io::sink())?;
    let mut hashed = Hashed { out, hasher: Hasher::new() };
    hashed.write_all(&head)?;
    write_floats(table.vectors, &mut hashed)?;
    hashed.write_all(layout::joint())?;
    // A label is a few bytes, and a writer may be a file.
    let mut buffered = io::BufWriter::with_capacity(1 << 16, &mut hashed);
    encode::labels(table.ids, table.meta, &mut buffered)?;
    buffered.flush()?;
    drop(buffered);
    hashed.out.flush()?;
    Ok(hashed.hasher.finish())
}

/// Writes floats with their least byte first.
fn write_floats(floats: &[f32], out: &mut impl Write) -> io::Result<()> {
    if cfg!(target_endian = "little") {
        return out.write_all(bytemuck::cast_slice(floats));
    }
    let mut bytes = Vec::with_capacity(PIECE_FLOATS * FLOAT_BYTES);
    for piece in floats.chunks(PIECE_FLOATS) {
        bytes.clear();
        bytes.extend(piece.iter().flat_map(|float| float.to_le_bytes()));
        out.write_all(&bytes)?;
    }
    Ok(())
}

/// Hashes what it passes on.
struct Hashed<'o, W> {
    out: &'o mut W,
    hasher: Hasher,
}

impl<W: Write> Write for Hashed<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hasher.put(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A snapshot that was opened: its shape is known and its vectors are in place.
///
/// The vectors are whatever bits the file holds. A file that we wrote holds finite floats, and [`Snapshot::verify`]
/// says whether it is that file.
pub struct Snapshot {
    path: String,
    bytes: Bytes,
    shape: Shape,
    generation: Option<u64>,
    vectors: Vectors,
    labels: Place,
}

enum Bytes {
    Mapped(Mapped),
    Held(Vec<u8>),
}

impl Bytes {
    fn all(&self) -> &[u8] {
        match self {
            Bytes::Mapped(mapped) => mapped.bytes(),
            Bytes::Held(bytes) => bytes,
        }
    }
}

enum Vectors {
    InPlace(Range<usize>),
    /// Floats that are not aligned, or in another order, in the file.
    Copied(Vec<f32>),
}

/// Where the labels are.
enum Place {
    /// In our layout: from here to the end of the file.
    From(usize),
    /// In Python's: they were read on the way to the vectors.
    Read(Labels),
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("path", &self.path)
            .field("shape", &self.shape)
            .finish_non_exhaustive()
    }
}

impl Snapshot {
    /// Opens a snapshot. A file in our layout is checked by its head and its length, and its vectors are not read; a
    /// pickle that Python wrote is gone through once, but for its vectors.
    ///
    /// # Errors
    /// The file can't be read, or is in no layout that is known.
    pub fn open(path: &Path) -> Result<Snapshot, Refusal> {
        Snapshot::of(path.display().to_string(), Bytes::Mapped(mapped(path)?))
    }

    /// Opens a snapshot that is in memory; `name` stands in messages.
    ///
    /// # Errors
    /// The bytes are in no layout that is known.
    pub fn of_bytes(name: &str, bytes: Vec<u8>) -> Result<Snapshot, Refusal> {
        Snapshot::of(name.to_owned(), Bytes::Held(bytes))
    }

    fn of(path: String, bytes: Bytes) -> Result<Snapshot, Refusal> {
        let all = bytes.all();
        let (shape, generation, vectors, labels) = if layout::is_ours(all) {
            let parts = layout::parts(all).map_err(|odd| odd.of(&path))?;
            (parts.shape, Some(parts.generation), placed(all, parts.floats), Place::From(parts.labels))
        } else {
            let foreign::Found { shape, floats, order, labels } =
                foreign::read(all).map_err(|odd| odd.of(&path))?;
            let vectors = match order {
                foreign::Order::Rows => placed(all, floats),
                foreign::Order::Columns => {
                    Vectors::Copied(transposed(&copied(all.get(floats).unwrap_or_default()), shape))
                }
            };
            (shape, None, vectors, Place::Read(labels))
        };
        Ok(Snapshot { path, bytes, shape, generation, vectors, labels })
    }

    /// Which of several that follow each other; 0 for one that stands alone, `None` for one that Python wrote.
    #[must_use]
    pub fn generation(&self) -> Option<u64> {
        self.generation
    }

    /// How many rows there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.shape.rows
    }

    /// How many floats make a vector.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.shape.dimension
    }

    /// All vectors, one after the other.
    #[must_use]
    pub fn vectors(&self) -> &[f32] {
        match &self.vectors {
            Vectors::InPlace(range) => in_place(self.bytes.all(), range).unwrap_or_default(),
            Vectors::Copied(floats) => floats,
        }
    }

    /// The ids and what is known of each.
    ///
    /// # Errors
    /// They are not what a snapshot may hold.
    pub fn labels(&self) -> Result<Labels, Refusal> {
        match &self.labels {
            Place::From(at) => {
                decode::labels(self.bytes.all(), *at, self.shape.rows).map_err(|odd| odd.of(&self.path))
            }
            Place::Read(labels) => Ok(labels.clone()),
        }
    }

    /// The SHA-256 of the whole file: reads all of it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(self.bytes.all())
    }

    /// Reads the whole file and compares it with what was published.
    ///
    /// # Errors
    /// It is not the file that has this digest.
    pub fn verify(&self, expected: Digest) -> Result<(), Refusal> {
        if self.digest() == expected { Ok(()) } else { Err(Refusal::Changed { path: self.path.clone() }) }
    }
}

fn mapped(path: &Path) -> Result<Mapped, Refusal> {
    Mapped::open(path)
        .map_err(|error| Refusal::Unreadable { path: path.display().to_string(), why: error.to_string() })
}

/// Floats where they stand, if this machine reads them so.
fn in_place<'b>(bytes: &'b [u8], range: &Range<usize>) -> Option<&'b [f32]> {
    let floats = bytes.get(range.clone())?;
    if cfg!(target_endian = "little") { bytemuck::try_cast_slice(floats).ok() } else { None }
}

fn placed(bytes: &[u8], range: Range<usize>) -> Vectors {
    match in_place(bytes, &range) {
        Some(_) => Vectors::InPlace(range),
        None => Vectors::Copied(copied(bytes.get(range).unwrap_or_default())),
    }
}

fn copied(bytes: &[u8]) -> Vec<f32> {
    let (floats, _) = bytes.as_chunks::<FLOAT_BYTES>();
    floats.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// Columns one after the other, as rows one after the other.
fn transposed(floats: &[f32], shape: Shape) -> Vec<f32> {
    let row =
        |row| (0..shape.dimension).filter_map(move |column| floats.get(column * shape.rows + row).copied());
    (0..shape.rows).flat_map(row).collect()
}
