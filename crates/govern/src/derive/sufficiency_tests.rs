//! Routes, improvement and coverage: tables and laws.

use super::*;
use crate::table::order::Ranked;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::vec::Vec;

const CYCLES: [OnCycle; 3] = [OnCycle::HardCall, OnCycle::RejectGraph, OnCycle::PreferDeclaredPriority];

fn known(bits: usize, on_cycle: OnCycle) -> Known {
    let bit = |at: usize| bits >> at & 1 == 1;
    Known {
        policy_is_alterable: bit(0),
        has_information_route: bit(1),
        has_other_verifier: bit(2),
        precondition_is_information: bit(3),
        on_cycle,
        has_variation_left: bit(4),
        has_unlockable_candidate: bit(5),
        attempts: if bit(6) { 5 } else { 4 },
        attempts_max: 5,
    }
}

fn all_known() -> impl Iterator<Item = Known> {
    CYCLES.into_iter().flat_map(|on_cycle| (0..128).map(move |bits| known(bits, on_cycle)))
}

/// Route, disposition, question; `None` if it goes on.
type Expected = Option<(&'static str, &'static str, Option<&'static str>)>;

fn judged(question: &'static str) -> Expected {
    Some(("needs_human_judgment", "needs_human_judgment", Some(question)))
}

fn ended(route: &'static str, disposition: &'static str) -> Expected {
    Some((route, disposition, None))
}

/// Row by row as the contract has them: the rank of the trigger, what is known, how it ends.
#[test]
fn every_row_of_the_table() {
    let none = known(0, OnCycle::HardCall);
    let stuck = "no_sufficient_procedure";
    let informed = "needs_information";
    let table: [(usize, Known, Expected); 22] = [
        (1, none, ended("blocked_by_policy", "blocked_by_policy")),
        (
            1,
            Known { policy_is_alterable: true, ..none },
            Some(("blocked_by_policy", "blocked_by_policy", Some("policy_boundary"))),
        ),
        (2, none, judged("contradictory_requirements")),
        (3, none, ended("process_gap_out", "unable_to_evaluate")),
        (4, none, ended("unable_to_evaluate", "unable_to_evaluate")),
        (5, none, Some((informed, informed, Some(stuck)))),
        (5, Known { has_information_route: true, ..none }, ended(informed, informed)),
        (6, none, judged(stuck)),
        (6, Known { has_other_verifier: true, ..none }, ended("needs_verification", "needs_verification")),
        (7, none, ended("unable_to_evaluate", "unable_to_evaluate")),
        (7, Known { precondition_is_information: true, ..none }, Some((informed, informed, Some(stuck)))),
        (8, none, judged("external_side_effect_approval")),
        (9, none, judged("budget_scope_decision")),
        (10, none, judged("cascade_cycle")),
        (10, known(0, OnCycle::RejectGraph), ended("process_gap_out", "unable_to_evaluate")),
        (10, known(0, OnCycle::PreferDeclaredPriority), None),
        (11, none, judged(stuck)),
        (11, Known { has_variation_left: true, ..none }, None),
        (12, none, ended("unrecoverable", "unrecoverable")),
        (12, Known { has_unlockable_candidate: true, ..none }, judged(stuck)),
        (13, none, ended("unrecoverable", "unrecoverable")),
        (13, Known { attempts: 5, ..none }, ended("unrecoverable", "max_iterations_reached")),
    ];
    for (rank, known, expected) in table {
        let trigger = *Trigger::ALL.iter().find(|one| usize::from(one.rank()) + 1 == rank).unwrap();
        let found = route(&[trigger], &known);
        let found = found
            .map(|one| (one.route.as_str(), one.disposition.as_str(), one.question.map(Question::as_str)));
        assert_eq!(found, expected, "{trigger:?} {known:?}");
    }
}

#[test]
fn all_routes_are_reached_and_a_person_is_asked_only_where_one_can_change_it() {
    let mut routes = BTreeSet::new();
    for trigger in Trigger::ALL {
        for known in all_known() {
            let Some(ending) = route(&[*trigger], &known) else { continue };
            routes.insert(ending.route);
            assert!(ending.route.dispositions().contains(&ending.disposition));
            let may_ask = match ending.route {
                Route::NeedsHumanJudgment => true,
                Route::BlockedByPolicy => known.policy_is_alterable,
                Route::NeedsInformation => !known.has_information_route,
                Route::NeedsVerification
                | Route::UnableToEvaluate
                | Route::Unrecoverable
                | Route::ProcessGapOut => false,
            };
            assert_eq!(ending.question.is_some(), may_ask, "{ending:?} {known:?}");
        }
    }
    assert_eq!(routes.into_iter().collect::<Vec<_>>(), Route::ALL);
}

fn triggers() -> impl Strategy<Value = Vec<Trigger>> {
    prop::collection::vec(prop::sample::select(Trigger::ALL), 0..6)
}

fn facts() -> impl Strategy<Value = Known> {
    (0_usize..128, prop::sample::select(CYCLES.to_vec())).prop_map(|(bits, on_cycle)| known(bits, on_cycle))
}

proptest! {
    #[test]
    fn a_trigger_of_lower_rank_changes_nothing(
        (given, more, known) in (triggers(), triggers(), facts())
    ) {
        let before = route(&given, &known);
        let first = order::lowest(given.iter().copied());
        let lower = more.into_iter().filter(|one| first.is_some_and(|first| one.rank() > first.rank()));
        let mut both: Vec<Trigger> = lower.chain(given.iter().copied()).collect();
        prop_assert_eq!(route(&both, &known), before);
        both.reverse();
        prop_assert_eq!(route(&both, &known), before);
        prop_assert_eq!(before.is_some_and(|ending| Some(ending.by) != first), false);
    }

    #[test]
    fn no_route_without_a_trigger(known in facts()) {
        prop_assert_eq!(route(&[], &known), None);
    }

    #[test]
    fn a_better_last_attempt_never_turns_material_into_none(
        scores in prop::collection::vec((0.0..1.0_f64, 0.0..1.0_f64), 2..8), more in 0.0..1.0_f64
    ) {
        let mut attempts: Vec<Scored> =
            scores.iter().map(|(before, after)| Scored { before: Some(*before), after: Some(*after) }).collect();
        let before = improvement(&attempts, 2, 2, 0.03);
        prop_assert_ne!(before, Improvement::NotYetKnown);
        let last = attempts.last_mut().unwrap();
        last.after = last.after.map(|after| after + more);
        prop_assert!(before != Improvement::Material || improvement(&attempts, 2, 2, 0.03) == before);
    }

    #[test]
    fn coverage_does_not_look_at_the_order_and_health_never_lowers_it(
        needed in prop::collection::vec(0_u8..3, 0..6), at in 0_usize..6
    ) {
        let of = |level: &u8| match level { 0 => Standing::Missing, 1 => Standing::Unhealthy, _ => Standing::Healthy };
        let mut standings: Vec<Standing> = needed.iter().map(of).collect();
        let before = coverage(&standings);
        standings.reverse();
        prop_assert_eq!(coverage(&standings), before);
        if let Some(one) = standings.get_mut(at) {
            *one = Standing::Healthy;
            prop_assert!(coverage(&standings).rank() >= before.rank());
        }
    }
}

fn scored(pairs: &[(f64, f64)]) -> Vec<Scored> {
    pairs.iter().map(|(before, after)| Scored { before: Some(*before), after: Some(*after) }).collect()
}

#[test]
fn improvement_is_what_the_last_ones_add_to_the_best_before() {
    let flat = scored(&[(0.5, 0.5), (0.5, 0.5)]);
    let check = |attempts: &[Scored], epsilon, expected| {
        assert_eq!(improvement(attempts, 2, 2, epsilon), expected, "{attempts:?}");
    };
    check(&flat, 0.03, Improvement::NoneMaterial);
    check(flat.get(..1).unwrap(), 0.03, Improvement::NotYetKnown);
    check(&[], 0.03, Improvement::NotYetKnown);
    check(&scored(&[(0.5, 0.5), (0.5, 0.75)]), 0.25, Improvement::Material);
    check(&scored(&[(0.5, 0.5), (0.5, 0.74)]), 0.25, Improvement::NoneMaterial);
    check(&scored(&[(0.2, 0.9), (0.5, 0.6), (0.6, 0.8)]), 0.03, Improvement::NoneMaterial);
    check(&scored(&[(0.5, 0.5), (f64::NAN, 0.5)]), 0.03, Improvement::NotYetKnown);
    check(&flat, f64::NAN, Improvement::NotYetKnown);
    assert_eq!(improvement(&flat, 2, 0, 0.03), Improvement::NotYetKnown);
}

#[test]
fn coverage_takes_all_that_is_needed() {
    use Standing::{Healthy, Missing, Unhealthy};
    for (needed, expected) in [
        (&[][..], "covered"),
        (&[Healthy, Healthy], "covered"),
        (&[Healthy, Unhealthy], "covered_but_unhealthy"),
        (&[Healthy, Missing], "partially_covered"),
        (&[Unhealthy, Missing], "partially_covered"),
        (&[Missing, Missing], "not_covered"),
    ] {
        assert_eq!(coverage(needed).as_str(), expected, "{needed:?}");
    }
    assert_eq!(standing(Some(&2), &[(1, true), (2, false)]), Unhealthy);
    assert_eq!(standing(Some(&2), &[(1, true), (3, true), (2, false)]), Healthy);
    assert_eq!(standing(Some(&4), &[(3, true)]), Missing);
    assert_eq!(standing::<u8>(None, &[]), Missing);
}

#[test]
fn versions_compare_by_their_numbers() {
    let sorted = ["", "0.9", "1", "1.2", "1.10-rc1", "1.10-rc2", "1.10", "2", "x"];
    for pair in sorted.windows(2) {
        let [lower, higher] = pair else { continue };
        assert!(Version(lower) < Version(higher), "{lower} {higher}");
    }
    for (one, other) in [("v1.2", "1.2"), ("1", "1.0.0"), ("1.2+build", "1.2")] {
        assert_eq!(Version(one), Version(other));
    }
}
