//! Our own layout, byte by byte: a pickle of protocol 5 that is made from a template.
//! Owns: the template, and finding the parts of a file that was made from it. Must not: run any of it.
//!
//! ```text
//! head    128 bytes: the shape (memoized and dropped), an empty dict, 'emb', numpy.reshape, numpy.frombuffer,
//!         a note (dropped; it fills the head up) with the generation, and the length of the floats
//! floats  rows x dimension, little-endian, from byte 128: aligned for every vector unit
//! joint   frombuffer(floats, '<f4'), then reshape(that, shape), put into the dict; the key 'ids'
//! labels  the list of ids, put into the dict; 'meta', the list of dicts, put into the dict; the end
//! ```
//! The floats stand first, so that the place of everything but the labels follows from the head alone, and the shape
//! that we read is the one that Python uses.

use super::refusal::Odd;
use super::{DIMENSION_MAX, LABELS_BYTES_MAX, ROWS_MAX, Shape};
use std::ops::Range;

/// Where the floats begin.
pub(super) const HEAD_BYTES: usize = 128;

const HEAD: [u8; HEAD_BYTES] = *b"\x80\x05J\0\0\0\0J\0\0\0\0\x86\x940}\x8c\x03emb\
    \x8c\x05numpy\x8c\x07reshape\x93\x8c\x05numpy\x8c\x0afrombuffer\x93\
    \x8c\x3aCountersign snapshot, layout 1, generation 0000000000000000\x96\0\0\0\0\0\0\0\0";

const ROWS_AT: Range<usize> = 3..7;
const DIMENSION_AT: Range<usize> = 8..12;
const GENERATION_AT: Range<usize> = 103..118;
const LENGTH_AT: Range<usize> = 120..128;

/// What stands between the floats and the list of ids.
const JOINT: &[u8] = b"\x8c\x03<f4\x86Rh\0\x86Rs\x8c\x03ids";
/// What stands between the two lists.
pub(super) const BETWEEN: &[u8] = b"s\x8c\x04meta";
/// What stands after both.
pub(super) const END: &[u8] = b"s.";

/// The parts of a file in our layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) shape: Shape,
    pub(super) generation: u64,
    pub(super) floats: Range<usize>,
    /// Where the list of ids begins.
    pub(super) labels: usize,
}

/// The head of a table of this shape; none if a number does not fit.
pub(super) fn head(shape: Shape, generation: u64) -> Option<[u8; HEAD_BYTES]> {
    let mut head = HEAD;
    let rows = i32::try_from(shape.rows).ok()?;
    let dimension = i32::try_from(shape.dimension).ok()?;
    let length = u64::try_from(shape.bytes()?).ok()?;
    head.get_mut(ROWS_AT)?.copy_from_slice(&rows.to_le_bytes());
    head.get_mut(DIMENSION_AT)?.copy_from_slice(&dimension.to_le_bytes());
    let digits = format!("{generation:015}");
    head.get_mut(GENERATION_AT)
        .filter(|place| place.len() == digits.len())?
        .copy_from_slice(digits.as_bytes());
    head.get_mut(LENGTH_AT)?.copy_from_slice(&length.to_le_bytes());
    Some(head)
}

/// What follows the floats.
pub(super) fn joint() -> &'static [u8] {
    JOINT
}

/// Whether a file says that it is in our layout; if so, it is held to it.
pub(super) fn is_ours(bytes: &[u8]) -> bool {
    bytes.get(..ROWS_AT.start) == HEAD.get(..ROWS_AT.start)
}

/// Finds the parts of a file that is made from the template. Only the head and the joint are looked at.
pub(super) fn parts(bytes: &[u8]) -> Result<Parts, Odd> {
    let odd = |at, why| Err(Odd { at, why });
    let Some(found) = bytes.get(..HEAD_BYTES) else { return odd(bytes.len(), "the file ends in its head") };
    let is_free =
        |at: &usize| [ROWS_AT, DIMENSION_AT, GENERATION_AT, LENGTH_AT].iter().any(|range| range.contains(at));
    let differs = (0..HEAD_BYTES).filter(|at| !is_free(at)).find(|at| found.get(*at) != HEAD.get(*at));
    if let Some(at) = differs {
        return odd(at, "the head is not the template's");
    }
    let digits = found.get(GENERATION_AT).filter(|digits| digits.iter().all(u8::is_ascii_digit));
    let Some(generation) = digits.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok()) else {
        return odd(GENERATION_AT.start, "the generation is no number");
    };
    let shape = Shape { rows: int(found, &ROWS_AT), dimension: int(found, &DIMENSION_AT) };
    if shape.rows > ROWS_MAX {
        return odd(ROWS_AT.start, "there are more rows than a table may have");
    }
    if shape.dimension == 0 || shape.dimension > DIMENSION_MAX {
        return odd(DIMENSION_AT.start, "the dimension is none that a vector may have");
    }
    let length = shape.bytes().unwrap_or(usize::MAX);
    if found.get(LENGTH_AT) != Some(&(length as u64).to_le_bytes()[..]) {
        return odd(LENGTH_AT.start, "the length of the floats is not that of the shape");
    }
    let end = HEAD_BYTES.saturating_add(length);
    let labels = end.saturating_add(JOINT.len());
    let Some(joint) = bytes.get(end..labels) else {
        return odd(bytes.len(), "the file ends in its floats");
    };
    if let Some(at) = (0..JOINT.len()).find(|at| joint.get(*at) != JOINT.get(*at)) {
        return odd(end + at, "what follows the floats is not the template's");
    }
    if bytes.len() - labels > LABELS_BYTES_MAX {
        return odd(labels, "the labels are longer than they may be");
    }
    Ok(Parts { shape, generation, floats: HEAD_BYTES..end, labels })
}

/// A count; one that is negative is beyond every limit.
fn int(bytes: &[u8], at: &Range<usize>) -> usize {
    let four = bytes.get(at.clone()).and_then(|four| <[u8; 4]>::try_from(four).ok());
    four.and_then(|four| usize::try_from(i32::from_le_bytes(four)).ok()).unwrap_or(usize::MAX)
}
