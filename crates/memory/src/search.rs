//! Nearest neighbours among vectors in memory.
//! Owns: exact search, its order, the index that gives the same answer sooner. Must not: let the processor, the number
//! of threads or the order in which they end change a bit of an answer.
//!
//! Vectors lie one after another, `dimension` numbers each: a row. The similarity is the dot product, which is the
//! cosine for vectors of unit length. A similarity that is no number (a NaN, or infinities that meet) comes last.

mod dot;
mod index;
mod share;
mod top;

pub use index::Index;

use std::cmp::Reverse;
use std::num::NonZero;
use std::sync::Mutex;
use top::Top;

/// A block is what one core takes at a time: large enough that taking it costs nothing, small enough that a slow
/// core does not keep the others waiting.
const BLOCK_NUMBERS: usize = 1 << 19;

/// A row that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Its place among the vectors, from 0.
    pub row: usize,
    /// Its similarity to the query.
    pub similarity: f32,
}

/// What hits are ordered by: similarity descending, then row ascending. The greatest is the best.
type Rank = (u32, Reverse<usize>);

/// The similarity of every row, in their order. It is exact: no row is left out or estimated.
///
/// # Panics
/// The query does not have the dimension, or the vectors are no whole number of rows.
#[must_use]
pub fn similarities(vectors: &[f32], dimension: usize, query: &[f32]) -> Vec<f32> {
    similarities_on(cores(), vectors, dimension, query)
}

/// The `k` most similar rows: similarity descending, then row ascending. It is exact.
///
/// # Panics
/// The query does not have the dimension, or the vectors are no whole number of rows.
#[must_use]
pub fn nearest(vectors: &[f32], dimension: usize, query: &[f32], k: usize) -> Vec<Hit> {
    nearest_on(cores(), vectors, dimension, query, k)
}

/// Rows from which an index pays: below, going through all of them takes a millisecond or two.
const INDEX_ROWS_MIN: usize = 50_000;

/// Vectors that are searched again and again. Above a number of rows they get an index, which gives the same hits sooner.
#[derive(Debug)]
pub struct Neighbours<'a> {
    vectors: &'a [f32],
    dimension: usize,
    index: Option<Index>,
}

impl<'a> Neighbours<'a> {
    /// Makes them ready; with an index, this goes through all of them once.
    ///
    /// # Panics
    /// The vectors are no whole number of rows.
    #[must_use]
    pub fn new(vectors: &'a [f32], dimension: usize) -> Self {
        let is_many = vectors.len() >= INDEX_ROWS_MIN.saturating_mul(dimension);
        Neighbours { vectors, dimension, index: is_many.then(|| Index::build(vectors, dimension)) }
    }

    /// As [`nearest`].
    ///
    /// # Panics
    /// The query does not have the dimension.
    #[must_use]
    pub fn nearest(&self, query: &[f32], k: usize) -> Vec<Hit> {
        match &self.index {
            Some(index) => index.nearest(self.vectors, query, k),
            None => nearest(self.vectors, self.dimension, query, k),
        }
    }
}

fn similarities_on(cores: usize, vectors: &[f32], dimension: usize, query: &[f32]) -> Vec<f32> {
    check(vectors, dimension, query);
    let mut found = vec![0.0; vectors.len() / dimension];
    let rows_per_block = rows_per_block(dimension);
    let blocks = found.len().div_ceil(rows_per_block);
    let rooms = Mutex::new(vectors.chunks(rows_per_block * dimension).zip(found.chunks_mut(rows_per_block)));
    share::among(cores.min(blocks), || {
        // Taking the next block can't fail half way, so a poisoned lock guards nothing that is broken.
        let next = || rooms.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
        while let Some((rows, room)) = next() {
            dot::floats(rows, dimension, query, room);
        }
    });
    found
}

fn nearest_on(cores: usize, vectors: &[f32], dimension: usize, query: &[f32], k: usize) -> Vec<Hit> {
    check(vectors, dimension, query);
    let rows_per_block = rows_per_block(dimension);
    let blocks = share::Blocks::of(vectors.len() / dimension, rows_per_block);
    let parts = share::among(cores.min(blocks.count()), || {
        let mut best = Top::new(k);
        let mut room = vec![0.0; rows_per_block];
        while let Some(rows) = blocks.take() {
            let numbers = vectors.get(rows.start * dimension..rows.end * dimension).unwrap_or_default();
            let room = room.get_mut(..rows.len()).unwrap_or_default();
            dot::floats(numbers, dimension, query, room);
            for (row, similarity) in rows.zip(room.iter()) {
                best.offer((key(*similarity), Reverse(row)));
            }
        }
        best
    });
    hits(Top::merged(k, parts))
}

/// The hits of ranks, best first.
fn hits(best: Top<Rank>) -> Vec<Hit> {
    let hit = |(key, Reverse(row)): Rank| Hit { row, similarity: similarity(key) };
    best.into_sorted().into_iter().map(hit).collect()
}

/// A number whose order is that of the similarities, with what is no number below them all.
fn key(similarity: f32) -> u32 {
    let bits = similarity.to_bits();
    match similarity.is_nan() {
        true => 0,
        false if bits >> 31 == 1 => !bits,
        false => bits | 1 << 31,
    }
}

/// The similarity that a key stands for.
fn similarity(key: u32) -> f32 {
    match key {
        0 => f32::NAN,
        key if key >> 31 == 1 => f32::from_bits(key & !(1 << 31)),
        key => f32::from_bits(!key),
    }
}

fn rows_per_block(dimension: usize) -> usize {
    (BLOCK_NUMBERS / dimension).max(1)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

fn check(vectors: &[f32], dimension: usize, query: &[f32]) {
    assert!(dimension > 0, "a vector has at least one number");
    assert!(vectors.len().is_multiple_of(dimension), "vectors are a whole number of rows");
    assert!(query.len() == dimension, "the query has the dimension of the vectors");
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
