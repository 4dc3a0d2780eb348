//! How new something is: how far it is from the closest pattern that is known.
//! Owns: distances from 0 to 1, what follows from them, what is said where nothing is known. Must not: know where patterns
//! are kept.

use super::{is_score, sum};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

pub use crate::types::novelty::NoPatternFallback as Fallback;

/// The distance is not defined: `validation.novelty_metric_space_undefined`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("validation.novelty_metric_space_undefined")]
pub struct Undefined;

/// How far apart two directions are: `(1 - cos) / 2`.
///
/// # Errors
/// The vectors are of different length, one has no direction, or a number is not finite.
pub fn cosine(one: &[f64], other: &[f64]) -> Result<f64, Undefined> {
    let (one, other) = (scaled(one, greatest(one)), scaled(other, greatest(other)));
    let (left, right) = (norm(&one), norm(&other));
    if one.len() != other.len() || left <= 0.0 || right <= 0.0 || !(left + right).is_finite() {
        return Err(Undefined);
    }
    let dot = sum(one.iter().zip(&other).map(|(a, b)| (a / left) * (b / right)));
    score((1.0 - dot) / 2.0)
}

/// How far apart two points are, by how far they are from zero: `|a - b| / (|a| + |b|)`; 0 if both are zero.
///
/// # Errors
/// The vectors are of different length, or a number is not finite.
pub fn euclidean_normalized(one: &[f64], other: &[f64]) -> Result<f64, Undefined> {
    let by = greatest(one).max(greatest(other));
    let (one, other) = (scaled(one, by), scaled(other, by));
    let lengths = norm(&one) + norm(&other);
    if one.len() != other.len() || !lengths.is_finite() {
        return Err(Undefined);
    }
    if lengths <= 0.0 {
        return Ok(0.0);
    }
    let apart = sum(one.iter().zip(&other).map(|(a, b)| (a - b) * (a - b)));
    score(libm::sqrt(apart) / lengths)
}

/// How much of two sets is not in both: `1 - |A and B| / |A or B|`; 0 if both are empty.
#[must_use]
pub fn jaccard<T: Ord>(one: &BTreeSet<T>, other: &BTreeSet<T>) -> f64 {
    let (both, any) = (one.intersection(other).count(), one.union(other).count());
    if any == 0 { 0.0 } else { 1.0 - both as f64 / any as f64 }
}

/// Several distances as one; each is a share and a distance.
///
/// # Errors
/// The shares do not sum to one, or a number is no score.
pub fn hybrid(parts: &[(f64, f64)]) -> Result<f64, Undefined> {
    let shares = sum(parts.iter().map(|(share, _)| *share));
    let are_scores = parts.iter().all(|(share, distance)| is_score(*share) && is_score(*distance));
    if !are_scores || (shares - 1.0).abs() > 1e-9 {
        return Err(Undefined);
    }
    score(sum(parts.iter().map(|(share, distance)| share * distance)))
}

/// The greatest number, whatever its sign.
fn greatest(vector: &[f64]) -> f64 {
    vector.iter().fold(0.0, |greatest, value| value.abs().max(greatest))
}

/// Divided by a number, so that squares of large ones do not overflow and those of small ones do not vanish.
fn scaled(vector: &[f64], by: f64) -> Vec<f64> {
    vector.iter().map(|value| if by > 0.0 { value / by } else { *value }).collect()
}

fn norm(vector: &[f64]) -> f64 {
    libm::sqrt(sum(vector.iter().map(|value| value * value)))
}

/// Rounding may leave the range by a hair; what is no number is no distance.
fn score(value: f64) -> Result<f64, Undefined> {
    if value.is_finite() { Ok(value.clamp(0.0, 1.0)) } else { Err(Undefined) }
}

/// How new something is, and what follows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Novelty {
    /// From 0 to 1; `None` where nothing can be said.
    pub score: Option<f64>,
    /// How much it is like the closest pattern, where there is one.
    pub similarity: Option<f64>,
    /// Whether it must be thought through afresh.
    pub forces_fresh_reasoning: bool,
    /// Whether the agent of the task is called.
    pub triggers_task_agent: bool,
}

/// The closest pattern: the least distance, and of equal ones the smallest id.
#[must_use]
pub fn closest<'a>(patterns: &[(&'a str, f64)]) -> Option<(&'a str, f64)> {
    let known = patterns.iter().filter(|(_, distance)| is_score(*distance));
    known.min_by(|one, other| one.1.total_cmp(&other.1).then_with(|| one.0.cmp(other.0))).copied()
}

/// How new something is at a distance from the closest pattern; without one, by the fallback, of which one takes what is usual in
/// the domain (`baseline`). Where nothing can be said, both
/// consequences follow: to think again is the safe side.
#[must_use]
pub fn assess(distance: Option<f64>, fallback: Fallback, baseline: Option<f64>, threshold: f64) -> Novelty {
    let score = distance.or(match fallback {
        Fallback::NoveltyOne => Some(1.0),
        Fallback::Indeterminate => None,
        Fallback::UseDomainBaseline => baseline,
    });
    let score = score.filter(|score| is_score(*score));
    let is_new = score.is_none_or(|score| score >= threshold);
    let similarity = distance.filter(|distance| is_score(*distance)).map(|distance| 1.0 - distance);
    Novelty { score, similarity, forces_fresh_reasoning: is_new, triggers_task_agent: is_new }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(found: Result<f64, Undefined>, expected: f64) {
        assert!(found.is_ok_and(|found| (found - expected).abs() < 1e-12), "{found:?} and not {expected}");
    }

    #[test]
    fn distances_are_as_defined() {
        near(cosine(&[1.0, 0.0], &[2.0, 0.0]), 0.0);
        near(cosine(&[1.0, 0.0], &[0.0, 3.0]), 0.5);
        near(cosine(&[1.0, 0.0], &[-1.0, 0.0]), 1.0);
        near(euclidean_normalized(&[3.0, 0.0], &[0.0, 4.0]), 5.0 / 7.0);
        near(euclidean_normalized(&[0.0], &[0.0]), 0.0);
        near(euclidean_normalized(&[1e-200], &[-1e-200]), 1.0);
        near(euclidean_normalized(&[1e-320], &[0.0]), 1.0);
        near(euclidean_normalized(&[1e200], &[-1e200]), 1.0);
        near(cosine(&[1e-200], &[-1e200]), 1.0);
        near(Ok(jaccard(&[1, 2, 3].into(), &[2, 3, 4].into())), 0.5);
        near(Ok(jaccard::<u8>(&[].into(), &[].into())), 0.0);
        near(hybrid(&[(0.25, 1.0), (0.75, 0.2)]), 0.4);
        for undefined in [
            cosine(&[0.0, 0.0], &[1.0, 0.0]),
            cosine(&[1.0], &[1.0, 0.0]),
            cosine(&[f64::NAN], &[1.0]),
            euclidean_normalized(&[f64::INFINITY], &[1.0]),
            hybrid(&[(0.5, 0.5)]),
            hybrid(&[(1.0, 1.5)]),
        ] {
            assert_eq!(undefined, Err(Undefined));
        }
    }

    #[test]
    fn what_follows_from_a_distance() {
        assert_eq!(closest(&[("b", 0.2), ("a", 0.2), ("c", f64::NAN)]), Some(("a", 0.2)));
        assert_eq!(closest(&[]), None);
        let of = |distance, fallback, baseline| {
            let found = assess(distance, fallback, baseline, 0.5);
            assert_eq!(found.forces_fresh_reasoning, found.triggers_task_agent);
            (found.score, found.forces_fresh_reasoning)
        };
        assert_eq!(of(Some(0.5), Fallback::Indeterminate, None), (Some(0.5), true));
        assert_eq!(of(Some(0.0), Fallback::NoveltyOne, None), (Some(0.0), false));
        assert_eq!(of(None, Fallback::NoveltyOne, Some(0.3)), (Some(1.0), true));
        assert_eq!(of(None, Fallback::Indeterminate, Some(0.3)), (None, true));
        assert_eq!(of(None, Fallback::UseDomainBaseline, Some(0.3)), (Some(0.3), false));
        assert_eq!(of(None, Fallback::UseDomainBaseline, Some(f64::NAN)), (None, true));
        assert_eq!(of(None, Fallback::UseDomainBaseline, None), (None, true));
    }

    proptest! {
        #[test]
        fn distances_are_scores_and_do_not_know_sides(
            pairs in proptest::collection::vec((-1e6..1e6_f64, -1e6..1e6_f64), 1..20),
        ) {
            let (one, other): (std::vec::Vec<f64>, std::vec::Vec<f64>) = pairs.into_iter().unzip();
            for distance in [cosine, euclidean_normalized] {
                let there = distance(&one, &other);
                prop_assert_eq!(there, distance(&other, &one));
                prop_assert!(there.is_ok_and(is_score) || there == Err(Undefined));
                prop_assert!(distance(&one, &one).is_ok_and(|none| none < 1e-9) || one.iter().all(|value| value.abs() < 1e-9));
            }
        }
    }
}
