//! One score for a piece of work, and whether it is enough.
//! Owns: how scores are put together, what a missing one means, the pass status. Must not: weigh criteria (`weights` does).

use super::{is_score, lift, sum};
use alloc::vec::Vec;

pub use crate::types::quality::{
    QualityIndexAggregationMethod as Method, QualityIndexDerivedPassStatus as Status,
    QualityIndexMissingDimensionPolicy as Missing,
};

/// What a score is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It can't be done without.
    Required,
    /// It counts, but may be missing.
    Optional,
}

/// One criterion and how it was scored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dimension<'a> {
    /// The criterion.
    pub id: &'a str,
    /// What it counts for, as `weights` gives it.
    pub weight: f64,
    /// Whether it can be done without.
    pub need: Need,
    /// What it must reach; anything does where this is missing.
    pub threshold: Option<f64>,
    /// Its score, unless it is missing.
    pub score: Option<f64>,
}

/// What scores come to.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate<'a> {
    /// The one score, from 0 to 1.
    pub score: f64,
    /// What is required and failed, in the order of the dimensions.
    pub gate_failures: Vec<&'a str>,
    /// What has no score, in the order of the dimensions.
    pub missing: Vec<&'a str>,
}

/// Why there is no index. Each is a validation code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A number that should be from 0 to 1 is not.
    #[error("validation.quality_index_score_out_of_range")]
    OutOfRange,
    /// Nothing is left that counts: an index of nothing would say that all is well, or that nothing is.
    #[error("validation.no_aggregation_eligible_criteria")]
    NoneEligible,
    /// What is left weighs nothing.
    #[error("validation.criterion_weight_sum_zero")]
    SumZero,
}

/// Puts scores together. A required score that is missing counts as 0, so that leaving it out never helps. Where a missing one
/// leaves the whole open, the score is of what is there, and 0 where nothing is.
///
/// # Errors
/// A score or threshold is no number from 0 to 1, or nothing is left that counts and weighs something.
pub fn aggregate<'a>(
    dimensions: &[Dimension<'a>],
    method: Method,
    policy: Missing,
) -> Result<Aggregate<'a>, Error> {
    let mut numbers = dimensions.iter().flat_map(|one| [one.score, one.threshold]).flatten();
    if !numbers.all(is_score) {
        return Err(Error::OutOfRange);
    }
    let missing: Vec<&str> = dimensions.iter().filter(|one| one.score.is_none()).map(|one| one.id).collect();
    let gates = dimensions.iter().filter(|one| fails_gate(one, method, policy)).map(|one| one.id);
    let gate_failures = gates.collect();
    let counted: Vec<(&Dimension<'_>, f64)> =
        dimensions.iter().filter_map(|one| counted_score(one, policy).map(|score| (one, score))).collect();
    let is_open = !missing.is_empty() && policy == Missing::Indeterminate;
    if counted.is_empty() && !is_open {
        return Err(Error::NoneEligible);
    }
    let mean = || match mean(&counted) {
        None if is_open => Ok(0.0),
        mean => mean.ok_or(Error::SumZero),
    };
    let score = match method {
        Method::AllRequiredThenWeightedMean | Method::WeightedMean => mean()?,
        Method::MinRequiredScore => {
            let required = counted.iter().filter(|(one, _)| one.need == Need::Required);
            required.map(|(_, score)| *score).reduce(f64::min).map_or_else(mean, Ok)?
        }
        Method::AllOrNothing => {
            let is_reached =
                |(one, score): &(&Dimension<'_>, f64)| one.threshold.is_none_or(|least| *score >= least);
            f64::from(u8::from(!counted.is_empty() && counted.iter().all(is_reached)))
        }
    };
    Ok(Aggregate { score, gate_failures, missing })
}

/// A few units in the last place are no difference: scores, weights and the threshold are each kept in binary, and a mean of them is
/// rounded where it is summed and divided, so that it can be this much below the 0.6 that it is. Everything else counts, and nothing is
/// no part of anything: no score of 0 reaches a threshold above it.
const HAIR: f64 = 1.000_000_000_000_001;

/// What a dimension counts as; `None` if it does not count.
fn counted_score(one: &Dimension<'_>, policy: Missing) -> Option<f64> {
    one.score.or(match (policy, one.need) {
        (Missing::FailRequired | Missing::ExcludeOptionalWithPenalty, Need::Required)
        | (Missing::ExcludeOptionalWithPenalty, Need::Optional) => Some(0.0),
        (Missing::FailRequired, Need::Optional)
        | (Missing::Indeterminate, Need::Required | Need::Optional) => None,
    })
}

fn fails_gate(one: &Dimension<'_>, method: Method, policy: Missing) -> bool {
    let has_gates = match method {
        Method::AllRequiredThenWeightedMean => true,
        Method::WeightedMean | Method::MinRequiredScore | Method::AllOrNothing => false,
    };
    one.need == Need::Required
        && match one.score {
            Some(score) => has_gates && one.threshold.is_some_and(|least| score < least),
            None => policy != Missing::Indeterminate,
        }
}

/// The mean by what is left of the weights; `None` where nothing is.
fn mean(counted: &[(&Dimension<'_>, f64)]) -> Option<f64> {
    let lift = lift(counted.iter().map(|(one, _)| one.weight));
    let total = sum(counted.iter().map(|(one, _)| one.weight * lift));
    let weighted = sum(counted.iter().map(|(one, score)| one.weight * lift * score));
    (total > 0.0).then(|| (weighted / total).clamp(0.0, 1.0))
}

/// What the status of an index hangs on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// The one score.
    pub score: f64,
    /// What it must reach.
    pub threshold: f64,
    /// How many required ones failed.
    pub gate_failure_count: usize,
    /// How many scores are missing.
    pub missing_count: usize,
    /// What a missing one means.
    pub policy: Missing,
}

/// Whether it is enough.
///
/// # Errors
/// The score or the threshold is no number from 0 to 1; this is said first.
pub fn status(of: &Standing) -> Result<Status, Error> {
    if !is_score(of.score) || !is_score(of.threshold) {
        return Err(Error::OutOfRange);
    }
    Ok(if of.gate_failure_count > 0 {
        Status::FailedRequiredGate
    } else if of.missing_count > 0 && of.policy == Missing::Indeterminate {
        Status::Indeterminate
    } else if of.score * HAIR >= of.threshold {
        Status::Passed
    } else {
        Status::FailedThreshold
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn of(id: &'static str, need: Need, score: Option<f64>) -> Dimension<'static> {
        Dimension { id, weight: 0.5, need, threshold: Some(0.5), score }
    }

    /// What is a hair beside 0.6 because of how numbers are kept is 0.6; what is less is not.
    #[test]
    fn a_score_is_compared_before_it_is_rounded() {
        let one = |weight: f64, score: f64| Dimension {
            weight,
            score: Some(score),
            ..of("a", Need::Optional, None)
        };
        let dimensions = [one(1.0 / 6.0, 0.3), one(2.0 / 6.0, 0.3), one(3.0 / 6.0, 0.9)];
        let aggregate = aggregate(&dimensions, Method::WeightedMean, Missing::FailRequired).unwrap();
        let standing = |score: f64, threshold: f64| Standing {
            score,
            threshold,
            gate_failure_count: 0,
            missing_count: 0,
            policy: Missing::FailRequired,
        };
        assert_eq!(status(&standing(aggregate.score, 0.6)), Ok(Status::Passed));
        for below in [0.699_999_7, 0.699_999_999_999_95, 0.699_999_999_999_999] {
            assert_eq!(status(&standing(below, 0.7)), Ok(Status::FailedThreshold), "{below}");
        }
    }

    /// However small weights are, a mean is what it is by great ones of the same shares.
    #[test]
    fn the_least_weights_count_as_great_ones_do() {
        let of = |unit: f64| {
            let one = |share: f64, score| Dimension {
                weight: share * unit,
                score: Some(score),
                ..of("a", Need::Optional, None)
            };
            let dimensions = [one(1.0, 0.3), one(2.0, 0.7), one(5.0, 0.9)];
            aggregate(&dimensions, Method::WeightedMean, Missing::FailRequired).unwrap().score.to_bits()
        };
        assert_eq!([of(5e-324), of(2_f64.powi(-1_060))], [of(1.0), of(1.0)]);
    }

    fn check(dimensions: &[Dimension<'_>], method: Method, policy: Missing, score: f64, gates: &[&str]) {
        let found = aggregate(dimensions, method, policy).unwrap();
        assert!((found.score - score).abs() < 1e-12, "{found:?} and not {score}");
        assert_eq!(found.gate_failures, gates, "{method:?} {policy:?}");
    }

    #[test]
    fn scores_become_one() {
        use Method::{AllOrNothing, AllRequiredThenWeightedMean, MinRequiredScore, WeightedMean};
        use Missing::{ExcludeOptionalWithPenalty, FailRequired, Indeterminate};
        let both = [of("a", Need::Required, Some(0.4)), of("b", Need::Optional, Some(0.8))];
        check(&both, WeightedMean, FailRequired, 0.6, &[]);
        check(&both, AllRequiredThenWeightedMean, FailRequired, 0.6, &["a"]);
        check(&both, MinRequiredScore, FailRequired, 0.4, &[]);
        check(&both, AllOrNothing, FailRequired, 0.0, &[]);
        check(&both[1..], AllOrNothing, FailRequired, 1.0, &[]);
        check(&both[1..], MinRequiredScore, FailRequired, 0.8, &[]);
        let gap = [of("a", Need::Required, Some(0.8)), of("b", Need::Optional, None)];
        check(&gap, WeightedMean, FailRequired, 0.8, &[]);
        check(&gap, WeightedMean, ExcludeOptionalWithPenalty, 0.4, &[]);
        check(&gap, WeightedMean, Indeterminate, 0.8, &[]);
        let hole = [of("a", Need::Required, None), of("b", Need::Optional, Some(0.8))];
        check(&hole, WeightedMean, FailRequired, 0.4, &["a"]);
        check(&hole, MinRequiredScore, ExcludeOptionalWithPenalty, 0.0, &["a"]);
        check(&hole, WeightedMean, Indeterminate, 0.8, &[]);
        assert_eq!(aggregate(&hole, WeightedMean, Indeterminate).unwrap().missing, vec!["a"]);
        let nothing = [of("a", Need::Optional, None)];
        check(&nothing, AllOrNothing, Indeterminate, 0.0, &[]);
        check(&nothing, WeightedMean, Indeterminate, 0.0, &[]);
        let weightless = [Dimension { weight: 0.0, ..both[1] }];
        for (dimensions, method, error) in [
            (&[of("a", Need::Required, Some(1.1))][..], WeightedMean, Error::OutOfRange),
            (&[], WeightedMean, Error::NoneEligible),
            (&nothing, AllOrNothing, Error::NoneEligible),
            (&weightless, WeightedMean, Error::SumZero),
            (&weightless, MinRequiredScore, Error::SumZero),
        ] {
            assert_eq!(aggregate(dimensions, method, FailRequired), Err(error), "{method:?}");
        }
    }

    #[test]
    fn a_status_follows_its_rule() {
        let of = |score, gate_failure_count, missing_count, policy| {
            status(&Standing { score, threshold: 0.7, gate_failure_count, missing_count, policy })
        };
        assert_eq!(of(0.7, 0, 0, Missing::FailRequired), Ok(Status::Passed));
        assert_eq!(of(0.69, 0, 0, Missing::FailRequired), Ok(Status::FailedThreshold));
        assert_eq!(of(1.0, 1, 1, Missing::Indeterminate), Ok(Status::FailedRequiredGate));
        assert_eq!(of(1.0, 0, 1, Missing::Indeterminate), Ok(Status::Indeterminate));
        assert_eq!(of(1.0, 0, 1, Missing::FailRequired), Ok(Status::Passed));
        for score in [f64::NAN, f64::INFINITY, -0.1, 1.1] {
            assert_eq!(of(score, 1, 0, Missing::FailRequired), Err(Error::OutOfRange));
        }
    }
}
