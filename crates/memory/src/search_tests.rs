//! Laws of the search, against a reference that adds up in the same order, one number at a time.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "tests fail by panicking and compare bits")]

use super::*;
use countersign_testkit::random::{Random, Seed};
use proptest::prelude::*;

/// The sum as it is defined: 32 lanes, then a tree.
fn reference(row: &[f32], query: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; 32];
    for (at, (a, b)) in row.iter().zip(query).enumerate() {
        let product = a * b;
        lanes[at % 32] += product;
    }
    for width in [16, 8, 4, 2, 1] {
        for at in 0..width {
            lanes[at] += lanes[at + width];
        }
    }
    if lanes[0].is_nan() { f32::NAN } else { lanes[0] }
}

/// Slow and obvious.
fn reference_nearest(vectors: &[f32], dimension: usize, query: &[f32], k: usize) -> Vec<Hit> {
    let hit = |(row, numbers): (usize, &[f32])| Hit { row, similarity: reference(numbers, query) };
    let mut all: Vec<Hit> = vectors.chunks(dimension).enumerate().map(hit).collect();
    all.sort_by(|a, b| match (a.similarity.is_nan(), b.similarity.is_nan()) {
        (false, false) => b.similarity.partial_cmp(&a.similarity).unwrap().then(a.row.cmp(&b.row)),
        (a_last, b_last) => a_last.cmp(&b_last).then(a.row.cmp(&b.row)),
    });
    all.truncate(k);
    all
}

fn bits(hits: &[Hit]) -> Vec<(usize, u32)> {
    hits.iter().map(|hit| (hit.row, hit.similarity.to_bits())).collect()
}

/// Numbers of every kind: many alike, so that ties are found, and some that are none.
fn number() -> BoxedStrategy<f32> {
    prop_oneof![
        20 => -1.0_f32..1.0,
        10 => prop::sample::select(vec![0.0, -0.0, 0.5, -0.5, 1.0]),
        1 => prop::num::f32::ANY,
    ]
    .boxed()
}

fn tame() -> BoxedStrategy<f32> {
    prop_oneof![3 => -1.0_f32..1.0, 1 => prop::sample::select(vec![0.0, -0.0, 0.25, 1.0])].boxed()
}

fn case(number: BoxedStrategy<f32>) -> impl Strategy<Value = (usize, Vec<f32>, Vec<f32>)> {
    (1_usize..80, 0_usize..60).prop_flat_map(move |(dimension, rows)| {
        let vectors = prop::collection::vec(number.clone(), dimension * rows);
        (Just(dimension), vectors, prop::collection::vec(number.clone(), dimension))
    })
}

fn check_case(dimension: usize, vectors: &[f32], query: &[f32], k: usize) {
    let expected = bits(&reference_nearest(vectors, dimension, query, k));
    assert_eq!(bits(&nearest(vectors, dimension, query, k)), expected);
    assert_eq!(bits(&Index::build(vectors, dimension).nearest(vectors, query, k)), expected);
    let found: Vec<u32> = similarities(vectors, dimension, query).into_iter().map(f32::to_bits).collect();
    let each = vectors.chunks(dimension).map(|row| reference(row, query).to_bits());
    assert_eq!(found, each.collect::<Vec<_>>());
}

proptest! {
    #[test]
    fn every_search_finds_what_the_reference_finds((dimension, vectors, query) in case(number()), k in 0_usize..70) {
        check_case(dimension, &vectors, &query, k);
    }

    #[test]
    fn so_do_vectors_without_surprises((dimension, vectors, query) in case(tame()), k in 0_usize..12) {
        check_case(dimension, &vectors, &query, k);
    }
}

/// A number of the bell curve, near enough: the sum of twelve.
fn normal(random: &mut Random) -> f32 {
    (0..12).map(|_| (random.bits() >> 40) as f32 / 16_777_216.0).sum::<f32>() - 6.0
}

/// Unit vectors, some of them twice, some near another.
fn texts(random: &mut Random, rows: usize, dimension: usize) -> Vec<f32> {
    let mut vectors: Vec<f32> = Vec::with_capacity(rows * dimension);
    for row in 0..rows {
        let near = (row > 0 && random.once_in(3)).then(|| random.index(0..row) * dimension);
        let noise = *random.pick(&[0.0, 0.001, 0.1]);
        let mut numbers: Vec<f32> = (0..dimension).map(|_| normal(random)).collect();
        if let Some(start) = near {
            let other = &vectors[start..start + dimension];
            numbers = numbers.iter().zip(other).map(|(a, b)| b + noise * a).collect();
        }
        let length = numbers.iter().map(|number| number * number).sum::<f32>().sqrt();
        vectors.extend(numbers.iter().map(|number| number / length));
    }
    vectors
}

/// More rows than a block has, so that several threads have work.
#[test]
fn the_number_of_threads_changes_nothing() {
    let seed = Seed::of("threads", 3);
    let mut random = seed.random();
    let dimension = 100;
    let vectors = texts(&mut random, 3 * rows_per_block(dimension) + 17, dimension);
    let index = Index::build(&vectors, dimension);
    for k in [1, 10, 1_000] {
        let query = texts(&mut random, 1, dimension);
        let expected = bits(&reference_nearest(&vectors, dimension, &query, k));
        let all = similarities_on(1, &vectors, dimension, &query);
        for cores in [1, 2, 3, 8] {
            assert_eq!(bits(&nearest_on(cores, &vectors, dimension, &query, k)), expected);
            assert_eq!(similarities_on(cores, &vectors, dimension, &query), all);
        }
        assert_eq!(bits(&index.nearest(&vectors, &query, k)), expected);
        // A row as its own query: its copies come in the order of their rows.
        let row = &vectors[k * dimension..(k + 1) * dimension];
        assert_eq!(
            bits(&index.nearest(&vectors, row, k)),
            bits(&reference_nearest(&vectors, dimension, row, k))
        );
    }
}

#[test]
fn what_is_no_number_comes_last() {
    let vectors = [f32::NAN, 0.0, 1.0, 0.0, f32::INFINITY, 0.0, f32::NEG_INFINITY, 0.0, 2.0, 0.0];
    let rows = |query: &[f32]| nearest(&vectors, 2, query, 9).iter().map(|hit| hit.row).collect::<Vec<_>>();
    assert_eq!(rows(&[1.0, 0.0]), [2, 4, 1, 3, 0]);
    assert_eq!(rows(&[0.0, 1.0]), [1, 4, 0, 2, 3], "infinity times zero is no number");
    assert_eq!(rows(&[f32::NAN, 0.0]), [0, 1, 2, 3, 4]);
    assert!(nearest(&[], 2, &[1.0, 0.0], 9).is_empty());
}

/// An index that was built from other vectors is of no use and does no harm.
#[test]
fn rows_that_the_index_does_not_know_are_found() {
    let vectors = [1.0, 0.0, 0.0, 1.0];
    let index = Index::build(&vectors[..2], 2);
    assert_eq!(index.nearest(&vectors, &[0.0, 1.0], 1), [Hit { row: 1, similarity: 1.0 }]);
}

/// The bits of some sums, as every processor must make them.
#[test]
fn sums_have_the_same_bits_everywhere() {
    let mut random = Random::new(11);
    let vectors = texts(&mut random, 64, 384);
    let query = texts(&mut random, 1, 384);
    let mut bytes = Vec::new();
    for similarity in similarities(&vectors, 384, &query) {
        bytes.extend(similarity.to_le_bytes());
    }
    let digest = countersign_record::digest::Digest::of(&bytes).to_string();
    assert_eq!(digest, "a7d9b72463dbdd883dc25ce8e6ff6a66f423660328eacfb626459bb1145225d1");
}
