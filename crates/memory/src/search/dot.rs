//! Dot products, with the widest registers that the processor has.
//! Owns: the order in which products are added. Must not: leave that order to the processor.
//!
//! Adding floats in another order gives other bits. So a row is always added up in 32 lanes, whatever the width of a
//! register, and the lanes are joined in a fixed tree. A product is rounded before it is added: a processor that
//! can fuse the two would give other bits than one that can't. Rust never fuses or reorders on its own.

/// Lanes; four registers of AVX2, eight of NEON or SSE2: enough sums on their way to hide how long an addition takes.
const LANES: usize = 32;

/// How often a number passes through a rounding at most: once as a product, then as part of the sums of its lane and
/// of the five levels of the tree.
pub(super) const fn roundings(dimension: usize) -> usize {
    dimension.div_ceil(LANES) + 6
}

/// A block of rows is read at this many places in turn. A processor fetches ahead of each on its own, so more of the
/// memory is on its way at any time; the results are the same.
const STREAMS: usize = 4;

/// The dot product of every row with the query.
pub(super) fn floats(rows: &[f32], dimension: usize, query: &[f32], room: &mut [f32]) {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            in_streams(
                room.len(),
                #[inline(always)]
                |at| {
                    if let (Some(row), Some(room)) = (row(rows, dimension, at), room.get_mut(at)) {
                        *room = float(row, query);
                    }
                },
            );
        },
    );
}

/// The dot product of one row with the query.
pub(super) fn one(row: &[f32], query: &[f32]) -> f32 {
    float(row, query)
}

/// The exact dot product of every row of small integers with the query. The caller sees to it that no sum leaves
/// the range of an `i32`.
pub(super) fn integers(rows: &[i8], dimension: usize, query: &[i16], room: &mut [i32]) {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            // In this form the compiler multiplies and adds pairs in one instruction where there is one.
            for (row, room) in rows.chunks_exact(dimension).zip(room) {
                *room = row.iter().zip(query).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
            }
        },
    );
}

#[inline(always)]
fn in_streams(rows: usize, mut see: impl FnMut(usize)) {
    let each = rows / STREAMS;
    for at in 0..each {
        for stream in 0..STREAMS {
            see(stream * each + at);
        }
    }
    (each * STREAMS..rows).for_each(see);
}

#[inline(always)]
fn row<T>(rows: &[T], dimension: usize, at: usize) -> Option<&[T]> {
    rows.get(at * dimension..(at + 1) * dimension)
}

#[inline(always)]
fn float(row: &[f32], query: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; LANES];
    let (row, row_rest) = row.as_chunks::<LANES>();
    let (query, query_rest) = query.as_chunks::<LANES>();
    for (row, query) in row.iter().zip(query) {
        add(&mut lanes, row, query);
    }
    if !row_rest.is_empty() {
        // The rest is filled up with zeros, which add nothing: lanes that were addressed one by one could not be kept
        // in registers.
        add(&mut lanes, &filled(row_rest), &filled(query_rest));
    }
    let mut width = LANES / 2;
    while width > 0 {
        let (low, high) = lanes.split_at_mut(width);
        for (a, b) in low.iter_mut().zip(high) {
            *a += *b;
        }
        width /= 2;
    }
    let [sum, ..] = lanes;
    // One bit pattern for what is no number, whichever the processor made.
    if sum.is_nan() { f32::NAN } else { sum }
}

#[inline(always)]
fn add(lanes: &mut [f32; LANES], row: &[f32; LANES], query: &[f32; LANES]) {
    for ((lane, a), b) in lanes.iter_mut().zip(row).zip(query) {
        *lane += a * b;
    }
}

#[inline(always)]
fn filled(rest: &[f32]) -> [f32; LANES] {
    let mut filled = [0.0; LANES];
    for (room, number) in filled.iter_mut().zip(rest) {
        *room = *number;
    }
    filled
}
