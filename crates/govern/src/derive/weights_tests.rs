//! Weights: each bad input gives the one code that the contract names, and good ones sum to one.

use super::*;
use proptest::prelude::*;
use std::string::{String, ToString};
use std::vec::Vec;

fn config(unanchored: Unanchored, origin: Origin) -> Config<'static> {
    let priority_weights = BTreeMap::from([("must_have", 5.0), ("should_have", 3.0), ("broken", -1.0)]);
    Config { unanchored, origin, priority_weights }
}

fn of(id: &'static str, weight: Option<f64>) -> Criterion<'static> {
    Criterion { id, is_unanchored: false, weight, priority: None }
}

fn unanchored(id: &'static str, weight: Option<f64>) -> Criterion<'static> {
    Criterion { is_unanchored: true, ..of(id, weight) }
}

fn check(criteria: &[Criterion<'_>], config: &Config<'_>, expected: Result<&[f64], Error>) {
    let found = normalize(criteria, config).map(|weights| weights.into_values().collect::<Vec<_>>());
    assert_eq!(found, expected.map(<[f64]>::to_vec), "{criteria:?} {config:?}");
}

#[test]
fn checks_come_in_the_order_of_the_contract() {
    use Origin::{FromCriterionWeight as CriterionWeight, FromPriority as Priority, Uniform};
    use Unanchored::{Exclude, IncludeWithAuditFlag, Indeterminate};
    let own = config(Exclude, CriterionWeight);
    let bad = of("a", Some(f64::NAN));
    check(
        &[bad, unanchored("b", None)],
        &config(Indeterminate, CriterionWeight),
        Err(Error::UnanchoredIndeterminate),
    );
    check(&[of("a", None)], &config(Indeterminate, CriterionWeight), Err(Error::WeightMissing));
    check(&[unanchored("a", Some(-1.0))], &own, Err(Error::NoneEligible));
    check(&[], &own, Err(Error::NoneEligible));
    check(&[of("b", None), bad], &own, Err(Error::WeightMissing));
    check(&[bad, of("b", None)], &own, Err(Error::WeightInvalid));
    for weight in [f64::INFINITY, f64::NEG_INFINITY, -0.5] {
        check(&[of("a", Some(weight))], &own, Err(Error::WeightInvalid));
    }
    check(&[of("a", Some(0.0))], &own, Err(Error::SumZero));
    check(&[of("a", Some(1.7e308)), of("b", Some(1.7e308))], &own, Err(Error::SumZero));
    check(&[of("a", Some(1.0)), of("a", Some(1.0)), of("b", Some(2.0))], &own, Err(Error::WeightInvalid));
    check(&[of("a", Some(0.0)), of("b", Some(2.0))], &own, Ok(&[0.0, 1.0]));
    check(&[unanchored("a", None), of("b", Some(2.0))], &own, Ok(&[1.0]));
    let kept = config(IncludeWithAuditFlag, CriterionWeight);
    check(&[unanchored("a", Some(1.0)), of("b", Some(3.0))], &kept, Ok(&[0.25, 0.75]));
    check(&[of("a", None), unanchored("b", None)], &config(IncludeWithAuditFlag, Uniform), Ok(&[0.5, 0.5]));
    let by_priority = config(Exclude, Priority);
    let with = |priority| Criterion { priority: Some(priority), ..of("a", None) };
    check(&[with("nice_to_have")], &by_priority, Err(Error::PriorityWeightMissing));
    check(&[with("broken")], &by_priority, Err(Error::WeightInvalid));
    check(&[with("must_have"), of("b", None)], &by_priority, Ok(&[0.625, 0.375]));
}

#[test]
fn words_are_read() {
    assert_eq!(Unanchored::find("exclude"), Some(Unanchored::Exclude));
    assert_eq!(Unanchored::find("include"), None);
    assert_eq!(Origin::find("from_priority"), Some(Origin::FromPriority));
    assert_eq!(Origin::find(""), None);
    assert_eq!(Error::SumZero.to_string(), "validation.criterion_weight_sum_zero");
}

proptest! {
    #[test]
    fn weights_sum_to_one_whatever_their_order_and_scale(
        raws in proptest::collection::vec(0.0..1e9_f64, 1..40),
        scale in 1e-6..1e6_f64,
        turn in 0usize..40,
    ) {
        prop_assume!(raws.iter().any(|raw| *raw > 1e-3));
        let ids: Vec<String> = (0..raws.len()).map(|at| at.to_string()).collect();
        let all = |scale: f64| {
            let of = |(id, raw): (&'_ String, &f64)| (id.clone(), raw * scale);
            ids.iter().zip(&raws).map(of).collect::<Vec<_>>()
        };
        let weigh = |all: &[(String, f64)]| {
            let of = |(id, weight)| Criterion { id, is_unanchored: false, weight: Some(weight), priority: None };
            let criteria: Vec<_> = all.iter().map(|(id, weight)| of((id.as_str(), *weight))).collect();
            let config = config(Unanchored::Exclude, Origin::FromCriterionWeight);
            normalize(&criteria, &config).map(|weights| weights.into_iter().map(|(id, weight)| (id.to_string(), weight)).collect::<Vec<_>>())
        };
        let plain = weigh(&all(1.0)).unwrap();
        prop_assert!((plain.iter().map(|(_, weight)| weight).sum::<f64>() - 1.0).abs() < 1e-12);
        prop_assert!(plain.iter().all(|(_, weight)| (0.0..=1.0).contains(weight)));
        let mut turned = all(1.0);
        turned.rotate_left(turn % raws.len());
        prop_assert_eq!(&weigh(&turned).unwrap(), &plain);
        for ((_, scaled), (_, weight)) in weigh(&all(scale)).unwrap().iter().zip(&plain) {
            prop_assert!((scaled - weight).abs() < 1e-12);
        }
    }
}

proptest! {
    /// However small weights are, what each counts for is how it is to the others.
    #[test]
    fn the_least_weights_are_to_each_other_as_great_ones(parts in proptest::collection::vec(0_u32..1_000_000, 1..20)) {
        prop_assume!(parts.iter().any(|part| *part > 0));
        let ids: Vec<String> = (0..parts.len()).map(|at| at.to_string()).collect();
        let weigh = |unit: f64| {
            let of = |(id, part): (&'_ String, &u32)| (id.clone(), f64::from(*part) * unit);
            let all: Vec<(String, f64)> = ids.iter().zip(&parts).map(of).collect();
            let criteria: Vec<Criterion<'_>> = all
                .iter()
                .map(|(id, weight)| Criterion { id, is_unanchored: false, weight: Some(*weight), priority: None })
                .collect();
            let weights = normalize(&criteria, &config(Unanchored::Exclude, Origin::FromCriterionWeight)).unwrap();
            weights.into_values().map(f64::to_bits).collect::<Vec<u64>>()
        };
        for unit in [5e-324, f64::MIN_POSITIVE, 2_f64.powi(-700)] {
            prop_assert_eq!(weigh(unit), weigh(1.0));
        }
    }
}
