//! Exact search that reads a quarter of the bytes.
//! Owns: the small copy of the rows, the bounds that it gives, looking at the few rows that the bounds leave. Must not:
//! give another answer than `nearest` over the same vectors, in any bit.
//!
//! Searching many rows takes as long as reading them. The index keeps every number as one byte, with a scale per row,
//! and how far the row is from what the bytes say. From these follows how similar a row is at most and at least
//! (Cauchy and Schwarz; the rounding of the exact sum is counted too). A row that can't reach what `k` others reach
//! at least is none of the `k` nearest. The few that are left are compared exactly.

use super::top::Top;
use super::{Hit, check, cores, dot, hits, key, nearest, rows_per_block, share};
use std::cmp::Reverse;

/// The greatest number that a byte of the copy holds.
const CODE_MAX: f64 = 127.0;
/// Added to a number of up to 51 bits, it leaves the nearest integer in the lowest bits.
const ROUNDS: f64 = 6_755_399_441_055_744.0;
/// Half the distance between two neighbouring `f32` at 1.
const ROUNDING: f64 = 1.0 / 16_777_216.0;
/// What a product may lose where numbers are too small to be held exactly.
const LEAST: f64 = 1e-44;
/// Products of lengths beyond this could overflow an `f32` on the way.
const PRODUCT_MAX: f64 = 1e37;
/// More than all roundings in computing a bound.
const SLACK: f64 = 1.0 + 1e-9;

/// A small copy of the rows.
#[derive(Clone, Debug)]
pub struct Index {
    dimension: usize,
    codes: Vec<i8>,
    rows: Vec<Row>,
}

/// What is known of a row beside its bytes.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// What a byte of 1 stands for.
    scale: f64,
    /// How far the row is from what its bytes stand for, at most.
    off: f64,
    /// The row's length, at most; infinite if a number of it is none or is infinite.
    length: f64,
}

impl Index {
    /// Copies the rows. The copy is worth having from some ten thousand rows on.
    ///
    /// # Panics
    /// The vectors are no whole number of rows.
    #[must_use]
    pub fn build(vectors: &[f32], dimension: usize) -> Self {
        assert!(dimension > 0, "a vector has at least one number");
        assert!(vectors.len().is_multiple_of(dimension), "vectors are a whole number of rows");
        let blocks = share::Blocks::of(vectors.len() / dimension, rows_per_block(dimension));
        let parts = share::among(cores().min(blocks.count()), || {
            let mut done = Vec::new();
            while let Some(range) = blocks.take() {
                let start = range.start;
                let numbers = vectors.get(start * dimension..range.end * dimension).unwrap_or_default();
                let mut codes = vec![0; numbers.len()];
                let each = numbers.chunks_exact(dimension).zip(codes.chunks_exact_mut(dimension));
                let rows: Vec<Row> = each.map(|(row, codes)| Row::of(row, codes)).collect();
                done.push((start, codes, rows));
            }
            done
        });
        let mut parts: Vec<_> = parts.into_iter().flatten().collect();
        parts.sort_unstable_by_key(|(start, ..)| *start);
        let mut index = Index {
            dimension,
            codes: Vec::with_capacity(vectors.len()),
            rows: Vec::with_capacity(vectors.len() / dimension),
        };
        for (_, codes, rows) in parts {
            index.codes.extend(codes);
            index.rows.extend(rows);
        }
        index
    }

    /// The same hits as `nearest` over these vectors, which must be those that the index was built from.
    ///
    /// # Panics
    /// The query does not have the dimension, or the vectors are no whole number of rows.
    #[must_use]
    pub fn nearest(&self, vectors: &[f32], query: &[f32], k: usize) -> Vec<Hit> {
        check(vectors, self.dimension, query);
        let query_codes = if vectors.len() == self.codes.len() { Query::of(query) } else { None };
        // Without bounds, every row is looked at.
        let Some(asked) = query_codes else { return nearest(vectors, self.dimension, query, k) };
        let left = self.left(&asked, k);
        let blocks = share::Blocks::of(left.len(), rows_per_block(self.dimension));
        let parts = share::among(cores().min(blocks.count()), || {
            let mut best = Top::new(k);
            while let Some(range) = blocks.take() {
                for row in left.get(range).unwrap_or_default() {
                    let numbers = vectors.get(row * self.dimension..(row + 1) * self.dimension);
                    best.offer((key(dot::one(numbers.unwrap_or_default(), query)), Reverse(*row)));
                }
            }
            best
        });
        hits(Top::merged(k, parts))
    }

    /// The rows that may be among the nearest.
    fn left(&self, asked: &Query, k: usize) -> Vec<usize> {
        let rows_per_block = rows_per_block(self.dimension);
        let blocks = share::Blocks::of(self.rows.len(), rows_per_block);
        let parts = share::among(cores().min(blocks.count()), || {
            let (mut least, mut left) = (Top::new(k), Vec::new());
            let mut room = vec![0; rows_per_block];
            while let Some(range) = blocks.take() {
                let codes = self.codes.get(range.start * self.dimension..range.end * self.dimension);
                let rows = self.rows.get(range.clone()).unwrap_or_default();
                let room = room.get_mut(..rows.len()).unwrap_or_default();
                dot::integers(codes.unwrap_or_default(), self.dimension, &asked.codes, room);
                for ((number, row), dot) in range.zip(rows).zip(room.iter()) {
                    let (at_least, at_most) = asked.bounds(row, *dot);
                    let reached = ordered(at_most);
                    if least.floor().is_none_or(|floor| reached >= floor) {
                        left.push((number, reached));
                        least.offer(ordered(at_least));
                    }
                }
            }
            (least, left)
        });
        let (least, left): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        let floor = Top::merged(k, least).floor();
        let reaches = |reached: u64| floor.is_none_or(|floor| reached >= floor);
        left.into_iter().flatten().filter(|(_, reached)| reaches(*reached)).map(|(row, _)| row).collect()
    }
}

impl Row {
    /// Writes the bytes of a row.
    fn of(row: &[f32], codes: &mut [i8]) -> Self {
        let length = length(row.iter().map(|number| f64::from(*number)));
        if !length.is_finite() {
            return Row { scale: 0.0, off: f64::INFINITY, length: f64::INFINITY };
        }
        let greatest = greatest(row);
        let scale = greatest / CODE_MAX;
        let per_number = if greatest > 0.0 { CODE_MAX / greatest } else { 0.0 };
        for (number, code) in row.iter().zip(codes.iter_mut()) {
            let [lowest, ..] = (f64::from(*number) * per_number + ROUNDS).to_bits().to_le_bytes();
            *code = lowest.cast_signed();
        }
        let off = row.iter().zip(&*codes).map(|(number, code)| f64::from(*number) - scale * f64::from(*code));
        Row { scale, off: self::length(off) * SLACK, length: length * SLACK }
    }
}

/// A query in small integers, and how far it is from them.
struct Query {
    codes: Vec<i16>,
    scale: f64,
    /// The length of what the integers stand for, at most.
    coded_length: f64,
    off: f64,
    length: f64,
    /// What the exact sum may lose to rounding, as a part of the product of the lengths.
    rounding: f64,
    /// What it may lose to numbers that are too small.
    least: f64,
}

impl Query {
    /// `None` if nothing can be said about any row: a number of the query is none or is infinite, or there are so
    /// many numbers that a sum of integers might overflow.
    fn of(query: &[f32]) -> Option<Self> {
        let length = length(query.iter().map(|number| f64::from(*number)));
        let sum_max = i32::MAX.unsigned_abs() / 127;
        let code_max = (sum_max / u32::try_from(query.len()).ok()?).min(i16::MAX.unsigned_abs().into());
        if !length.is_finite() || code_max == 0 {
            return None;
        }
        let code_max = f64::from(code_max);
        let greatest = greatest(query);
        let scale = greatest / code_max;
        let per_number = if greatest > 0.0 { code_max / greatest } else { 0.0 };
        let code = |number: &f32| {
            let [lowest, next, ..] = (f64::from(*number) * per_number + ROUNDS).to_bits().to_le_bytes();
            i16::from_le_bytes([lowest, next])
        };
        let codes: Vec<i16> = query.iter().map(code).collect();
        let coded = codes.iter().map(|code| scale * f64::from(*code));
        let off = query.iter().zip(coded.clone()).map(|(number, coded)| f64::from(*number) - coded);
        // One more for the roundings of the bounds themselves, which are far smaller.
        let rounding = (dot::roundings(query.len()) + 1) as f64 * ROUNDING;
        Some(Query {
            scale,
            coded_length: self::length(coded) * SLACK,
            off: self::length(off) * SLACK,
            length: length * SLACK,
            rounding: Some(rounding / (1.0 - rounding)).filter(|_| rounding < 0.5)?,
            least: query.len() as f64 * LEAST,
            codes,
        })
    }

    /// How similar the row is at least and at most, as the exact search would compute it.
    #[inline]
    fn bounds(&self, row: &Row, dot: i32) -> (f64, f64) {
        let product = self.length * row.length;
        if product.is_nan() || product >= PRODUCT_MAX {
            return (f64::NEG_INFINITY, f64::INFINITY);
        }
        let near = f64::from(dot) * (self.scale * row.scale);
        let off = self.coded_length * row.off + self.off * row.length + self.rounding * product;
        let off = off * SLACK + self.least;
        (near - off, near + off)
    }
}

fn greatest(numbers: &[f32]) -> f64 {
    numbers.iter().fold(0.0, |greatest, number| f64::from(number.abs()).max(greatest))
}

fn length(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.map(|number| number * number).sum::<f64>().sqrt()
}

/// A number whose order is that of the bounds, none of which is a NaN.
fn ordered(bound: f64) -> u64 {
    let bits = bound.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}
