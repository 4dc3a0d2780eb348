//! The order of plans: total, that of the contract, whatever came first.

use super::*;
use proptest::prelude::*;

const NAMES: [&str; 5] = ["p0", "p1", "p2", "p3", "p4"];

fn plain(plan_id: &str) -> Profile<'_> {
    Profile {
        plan_id,
        required_for_overall_pass: false,
        high_stakes: false,
        outcome_priority: 1.0,
        plan_risk_score: 0.5,
        estimated_lock_duration_ms: 100.0,
        deterministic_final_key: plan_id,
    }
}

#[test]
fn each_key_decides_before_the_next() {
    let check = |first: Profile<'_>, second: Profile<'_>| {
        assert_eq!(first.compare(&second), Ordering::Less, "{first:?} {second:?}");
        assert_eq!(order(&[second, first]), Ok(Vec::from([first.plan_id, second.plan_id])));
    };
    let (a, z) = (plain("a"), plain("z"));
    check(a, z);
    check(Profile { estimated_lock_duration_ms: 99.0, ..z }, a);
    check(Profile { plan_risk_score: 0.4, estimated_lock_duration_ms: 101.0, ..z }, a);
    check(Profile { outcome_priority: -1.0, plan_risk_score: 0.9, ..z }, a);
    check(Profile { high_stakes: true, outcome_priority: 2.0, ..z }, a);
    check(Profile { required_for_overall_pass: true, ..z }, Profile { high_stakes: true, ..a });
    check(Profile { plan_risk_score: -0.0, ..a }, Profile { plan_risk_score: 0.0, ..z });
}

#[test]
fn without_keys_there_is_no_order() {
    let (a, z) = (plain("a"), plain("z"));
    assert_eq!(order(&[a, Profile { deterministic_final_key: " ", ..z }]), Err(Error::NoFinalKey));
    assert_eq!(order(&[a, Profile { deterministic_final_key: "a", ..z }]), Err(Error::SameFinalKey));
    assert_eq!(order(&[a, Profile { plan_risk_score: f64::NAN, ..z }]), Err(Error::NotFinite));
    assert_eq!(order(&[]), Ok(Vec::new()));
}

fn numbers() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        Just(-0.0),
        Just(1.0),
        -3.0..3.0,
        any::<f64>().prop_filter("finite", |one| one.is_finite())
    ]
}

type Parts = (bool, bool, f64, f64, f64);

fn profiles(parts: &[Parts]) -> Vec<Profile<'static>> {
    let make = |(name, parts): (&&'static str, &Parts)| Profile {
        required_for_overall_pass: parts.0,
        high_stakes: parts.1,
        outcome_priority: parts.2,
        plan_risk_score: parts.3,
        estimated_lock_duration_ms: parts.4,
        ..plain(name)
    };
    NAMES.iter().zip(parts).map(make).collect()
}

fn parts() -> impl Strategy<Value = Vec<Parts>> {
    prop::collection::vec((any::<bool>(), any::<bool>(), numbers(), numbers(), numbers()), 0..=5)
}

/// The order by the words of the contract, one key after the other.
fn by_the_contract(a: &Profile<'_>, b: &Profile<'_>) -> Ordering {
    let number = |a: f64, b: f64| a.partial_cmp(&b).unwrap_or(Ordering::Equal);
    b.required_for_overall_pass
        .cmp(&a.required_for_overall_pass)
        .then(b.high_stakes.cmp(&a.high_stakes))
        .then(number(a.outcome_priority, b.outcome_priority))
        .then(number(a.plan_risk_score, b.plan_risk_score))
        .then(number(a.estimated_lock_duration_ms, b.estimated_lock_duration_ms))
        .then(a.deterministic_final_key.cmp(b.deterministic_final_key))
}

proptest! {
    #[test]
    fn the_order_is_that_of_the_tuple(parts in parts()) {
        let profiles = profiles(&parts);
        let mut expected = profiles.clone();
        expected.sort_by(by_the_contract);
        let expected: Vec<&str> = expected.iter().map(|one| one.plan_id).collect();
        prop_assert_eq!(order(&profiles), Ok(expected));
    }

    #[test]
    fn whatever_came_first_the_order_is_the_same(parts in parts(), turn in 0..5_usize) {
        let profiles = profiles(&parts);
        let mut turned = profiles.clone();
        turned.rotate_left(turn.min(profiles.len()));
        turned.reverse();
        prop_assert_eq!(order(&profiles), order(&turned));
    }

    #[test]
    fn it_is_a_strict_total_order(parts in parts()) {
        let profiles = profiles(&parts);
        for (at, a) in profiles.iter().enumerate() {
            for (other, b) in profiles.iter().enumerate() {
                prop_assert_eq!(a.compare(b), b.compare(a).reverse());
                prop_assert_eq!(a.compare(b) == Ordering::Equal, at == other);
                for c in &profiles {
                    if a.compare(b) == Ordering::Less && b.compare(c) == Ordering::Less {
                        prop_assert_eq!(a.compare(c), Ordering::Less);
                    }
                }
            }
        }
    }

    #[test]
    fn a_number_keeps_its_place(a in any::<f64>(), b in any::<f64>()) {
        if let Some(order) = a.partial_cmp(&b) {
            prop_assert_eq!(ascending(a).cmp(&ascending(b)), order);
        }
    }
}
