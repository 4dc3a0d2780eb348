//! What is relied on never gets better by what stands against it.

use super::*;
use proptest::prelude::*;
use std::vec::Vec;

const PLAIN: [Fact; 17] = [
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
];

fn facts() -> Vec<Fact> {
    PLAIN.into_iter().chain(Limitation::ALL.into_iter().map(Fact::Limited)).collect()
}

fn signs() -> Vec<Sign<'static>> {
    let outcomes =
        ["satisfied", "needs_revision", "needs_human_judgment", "blocked_by_policy", "unrecoverable"];
    let attention = ["low", "medium", "high", "blocking"];
    let rest = Limitation::ALL.into_iter().map(Sign::Limited).chain([Sign::LiveBlocker, Sign::HardCallOpen]);
    outcomes.map(Sign::Outcome).into_iter().chain(attention.map(Sign::Attention)).chain(rest).collect()
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

#[test]
fn words_are_read_back() {
    for status in Status::ALL {
        assert_eq!(Status::read(status.as_str()), Some(status));
    }
    for limitation in Limitation::ALL {
        assert_eq!(Limitation::read(limitation.as_str()), Some(limitation));
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
    assert_eq!(health([Sign::Outcome("satisfied"), Sign::Attention("low")]), Health::Warning);
    assert_eq!(health([Sign::HardCallOpen, Sign::Outcome("needs_revision")]), Health::ReviewRequired);
    assert_eq!(health([Sign::LiveBlocker, Sign::HardCallOpen]), Health::Blocked);
    assert_eq!(health([Sign::LiveBlocker, Sign::Outcome("unrecoverable")]), Health::Failed);
}

proptest! {
    #[test]
    fn one_more_fact_never_improves(
        given in proptest::collection::btree_set(proptest::sample::select(facts()), 0..8),
        more in proptest::sample::select(facts()),
    ) {
        let mut with = given.clone();
        with.insert(more);
        prop_assert!(status(&with) >= status(&given));
        prop_assert!(limitations(&with).is_superset(&limitations(&given)));
        prop_assert!(status(&given).may_be_issued() || !status(&with).may_be_issued());
    }

    #[test]
    fn one_more_sign_never_improves(
        given in proptest::collection::vec(proptest::sample::select(signs()), 0..8),
        more in proptest::sample::select(signs()),
    ) {
        prop_assert!(health(given.iter().copied().chain([more])) >= health(given));
    }
}
