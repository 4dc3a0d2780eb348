//! What a header says of a tensor.
//! Owns: the kinds of numbers, and how many bytes they take. Must not: read a weight.

use super::bytes::Bytes;
use super::{Error, NAME_BYTES_MAX};
use std::io::Read;

/// How the numbers of a tensor are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the format")]
pub enum Kind {
    F32,
    F16,
    Bf16,
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q8_0,
    Q2K,
    Q3K,
    Q4K,
    Q5K,
    Q6K,
}

impl Kind {
    /// Every kind that is taken.
    pub const ALL: [Kind; 13] = [
        Kind::F32,
        Kind::F16,
        Kind::Bf16,
        Kind::Q4_0,
        Kind::Q4_1,
        Kind::Q5_0,
        Kind::Q5_1,
        Kind::Q8_0,
        Kind::Q2K,
        Kind::Q3K,
        Kind::Q4K,
        Kind::Q5K,
        Kind::Q6K,
    ];

    /// Its number in the file, how many numbers are in a block, and how many bytes a block takes.
    #[must_use]
    pub fn layout(self) -> (u32, u64, u64) {
        match self {
            Kind::F32 => (0, 1, 4),
            Kind::F16 => (1, 1, 2),
            Kind::Bf16 => (30, 1, 2),
            Kind::Q4_0 => (2, 32, 18),
            Kind::Q4_1 => (3, 32, 20),
            Kind::Q5_0 => (6, 32, 22),
            Kind::Q5_1 => (7, 32, 24),
            Kind::Q8_0 => (8, 32, 34),
            Kind::Q2K => (10, 256, 84),
            Kind::Q3K => (11, 256, 110),
            Kind::Q4K => (12, 256, 144),
            Kind::Q5K => (13, 256, 176),
            Kind::Q6K => (14, 256, 210),
        }
    }
}

/// A tensor: where it is and how it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// How its numbers are kept.
    pub kind: Kind,
    /// How many numbers are in a row.
    pub columns: u64,
    /// How many rows there are.
    pub rows: u64,
    /// Where it begins, from the start of the file.
    pub start: u64,
    /// How many bytes it takes.
    pub bytes: u64,
}

/// Reads what is said of one tensor. Its start is still counted from where the tensors begin.
pub(super) fn read<R: Read>(bytes: &mut Bytes<'_, R>) -> Result<(String, Tensor), Error> {
    let name = bytes.text(NAME_BYTES_MAX)?;
    let dimensions = bytes.u32()?;
    let (columns, rows) = match dimensions {
        1 => (bytes.u64()?, 1),
        2 => (bytes.u64()?, bytes.u64()?),
        _ => return Err(bytes.odd("a tensor is neither a row nor a table")),
    };
    let number = bytes.u32()?;
    let kind = Kind::ALL.into_iter().find(|kind| kind.layout().0 == number);
    let kind = kind.ok_or_else(|| bytes.odd("a tensor's numbers are kept in a way that is not known"))?;
    let start = bytes.u64()?;
    let size = size(kind, columns, rows).ok_or_else(|| bytes.odd("a tensor has no size that can be"))?;
    Ok((name, Tensor { kind, columns, rows, start, bytes: size }))
}

fn size(kind: Kind, columns: u64, rows: u64) -> Option<u64> {
    let (_, block, block_bytes) = kind.layout();
    let is_whole = columns > 0 && rows > 0 && columns.is_multiple_of(block);
    if is_whole { (columns / block).checked_mul(block_bytes)?.checked_mul(rows) } else { None }
}
