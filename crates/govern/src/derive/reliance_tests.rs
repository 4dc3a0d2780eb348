//! What is relied on never gets better by what stands against it.

use super::*;
use crate::table::order::Ranked;
use proptest::prelude::*;
use std::vec::Vec;

const PLAIN: [Fact; 19] = [
    Fact::ChainFailed,
    Fact::ChainUnresolved,
    Fact::ChainForAPerson,
    Fact::LiveBlocker,
    Fact::ClaimContradicted,
    Fact::ClaimUnsupported,
    Fact::ClaimPartlySupported,
    Fact::ClaimUnchecked,
    Fact::EvidenceMissing,
    Fact::SourceStale,
    Fact::NeedUnresolved,
    Fact::CandidateUnreviewed,
    Fact::HardCallOpen,
    Fact::PolicyWarned,
    Fact::PolicyDenied,
    Fact::PolicyAsksForAPerson,
    Fact::SideEffectUnverified,
    Fact::OutcomeGivenUp,
    Fact::OptionUnmet,
];

fn facts() -> Vec<Fact> {
    PLAIN.into_iter().chain(Limitation::ALL.iter().copied().map(Fact::Limited)).collect()
}

fn signs() -> Vec<Sign> {
    let outcomes = State::ALL.iter().copied().map(Sign::Outcome);
    let attention = Severity::ALL.iter().copied().map(Sign::Attention);
    let limited = Limitation::ALL.iter().copied().map(Sign::Limited);
    outcomes.chain(attention).chain(limited).chain([Sign::LiveBlocker, Sign::HardCallOpen]).collect()
}

#[test]
fn statuses_follow_the_worst_fact() {
    let cases: [(&[Fact], Status); 8] = [
        (&[], Status::SafeToRelyWithinScope),
        (&[Fact::SourceStale], Status::RelyWithLimitations),
        (&[Fact::PolicyWarned, Fact::ClaimUnchecked], Status::RelyWithLimitations),
        (&[Fact::PolicyWarned, Fact::HardCallOpen], Status::HumanReviewRequired),
        (&[Fact::CandidateUnreviewed], Status::HumanReviewRequired),
        (&[Fact::ChainUnresolved, Fact::ChainFailed], Status::NotSafeToRely),
        (&[Fact::EvidenceMissing], Status::NotSafeToRely),
        (&[Fact::Limited(Limitation::HumanJudgmentNeeded)], Status::HumanReviewRequired),
    ];
    for (given, expected) in cases {
        assert_eq!(status(&given.iter().copied().collect()), expected, "{given:?}");
    }
}

/// A limitation that is told leaves no status in which it would be hidden.
#[test]
fn whoever_is_limited_is_not_simply_safe() {
    for fact in facts() {
        assert_ne!(fact.status(), Status::SafeToRelyWithinScope, "{fact:?}");
    }
}

#[test]
fn health_follows_the_worst_sign() {
    assert_eq!(health([]), Health::Healthy);
    assert_eq!(health([Sign::Outcome(State::Satisfied), Sign::Attention(Severity::Low)]), Health::Warning);
    assert_eq!(health([Sign::HardCallOpen, Sign::Outcome(State::NeedsRevision)]), Health::ReviewRequired);
    assert_eq!(health([Sign::LiveBlocker, Sign::HardCallOpen]), Health::Blocked);
    assert_eq!(health([Sign::LiveBlocker, Sign::Outcome(State::Unrecoverable)]), Health::Failed);
}

proptest! {
    #[test]
    fn one_more_fact_never_improves(
        given in proptest::collection::btree_set(proptest::sample::select(facts()), 0..8),
        more in proptest::sample::select(facts()),
    ) {
        let mut with = given.clone();
        with.insert(more);
        prop_assert!(status(&with).rank() >= status(&given).rank());
        prop_assert!(limitations(&with).is_superset(&limitations(&given)));
        prop_assert!(status(&given).may_be_issued() || !status(&with).may_be_issued());
    }

    #[test]
    fn one_more_sign_never_improves(
        given in proptest::collection::vec(proptest::sample::select(signs()), 0..8),
        more in proptest::sample::select(signs()),
    ) {
        prop_assert!(health(given.iter().copied().chain([more])).rank() >= health(given).rank());
    }
}
