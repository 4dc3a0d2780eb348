//! Laws of support: more support never lowers a claim, a contradiction never raises it.

use super::*;
use proptest::prelude::*;
use std::vec::Vec;

const POLICY: Policy = Policy {
    direct_min: 1,
    require_verified: true,
    allow_stale: false,
    allow_contradicting: false,
    partial: PartialRule::AnyIndirectOrContextualAnchor,
    contradiction: ContradictionRule::AnyDirectContradictionControls,
};
const GOOD: Anchor = Anchor {
    strength: Strength::Direct,
    authority: Authority::Persuasive,
    verified: true,
    fresh: true,
    tier0: false,
};
const AGAINST: Anchor = Anchor { strength: Strength::Contradicts, ..GOOD };
const ASIDE: Anchor = Anchor { strength: Strength::Contextual, ..GOOD };
const STALE: Anchor = Anchor { fresh: false, ..GOOD };

#[test]
fn claims_stand_as_the_policy_says() {
    let check = |policy: Policy, anchors: &[Anchor], expected: Status| {
        assert_eq!(derive(&policy, anchors.iter().copied()).status, expected, "{policy:?} {anchors:?}");
    };
    check(POLICY, &[], Status::Unsupported);
    check(POLICY, &[GOOD], Status::Supported);
    check(POLICY, &[Anchor { tier0: true, ..GOOD }], Status::Unsupported);
    check(POLICY, &[STALE], Status::IndeterminateStaleOrUnverified);
    check(Policy { allow_stale: true, ..POLICY }, &[STALE], Status::Supported);
    check(POLICY, &[STALE, ASIDE], Status::PartiallySupported);
    let unverified = Policy { partial: PartialRule::DirectAnchorUnverified, ..POLICY };
    check(unverified, &[STALE], Status::PartiallySupported);
    check(Policy { partial: PartialRule::DomainSpecific, ..POLICY }, &[ASIDE], Status::Unsupported);
    check(Policy { direct_min: 2, ..POLICY }, &[GOOD], Status::PartiallySupported);
    check(Policy { direct_min: 0, ..POLICY }, &[ASIDE], Status::PartiallySupported);
    check(POLICY, &[GOOD, AGAINST], Status::Contradicted);
    let weighted = Policy { contradiction: ContradictionRule::WeightedByAuthority, ..POLICY };
    check(weighted, &[GOOD, AGAINST], Status::Contradicted);
    check(weighted, &[GOOD, GOOD, AGAINST], Status::PartiallySupported);
    check(Policy { allow_contradicting: true, ..weighted }, &[GOOD, GOOD, AGAINST], Status::Supported);
    let reviewed = Policy { contradiction: ContradictionRule::HumanReviewRequired, ..POLICY };
    assert_eq!(derive(&reviewed, [AGAINST]), Support { status: Status::Contradicted, needs_review: true });
    assert_eq!(NOT_CHECKED.status.reason(), "not_checked");
}

fn anchor() -> impl Strategy<Value = Anchor> {
    let words = ["direct", "indirect", "contextual", "contradicts"];
    let strength = prop::sample::select(words.into_iter().filter_map(Strength::find).collect::<Vec<_>>());
    let words = ["binding", "persuasive", "advisory", "unknown"];
    let authority = prop::sample::select(words.into_iter().filter_map(Authority::find).collect::<Vec<_>>());
    let flags = (any::<bool>(), any::<bool>(), prop::bool::weighted(0.2));
    (strength, authority, flags).prop_map(|(strength, authority, (verified, fresh, tier0))| Anchor {
        strength,
        authority,
        verified,
        fresh,
        tier0,
    })
}

fn policy() -> impl Strategy<Value = Policy> {
    let partial = prop::sample::select(std::vec![
        PartialRule::AnyIndirectOrContextualAnchor,
        PartialRule::DirectAnchorUnverified,
        PartialRule::DomainSpecific,
    ]);
    let contradiction = prop::sample::select(std::vec![
        ContradictionRule::AnyDirectContradictionControls,
        ContradictionRule::WeightedByAuthority,
        ContradictionRule::HumanReviewRequired,
    ]);
    (0_u64..4, any::<[bool; 3]>(), partial, contradiction).prop_map(
        |(direct_min, [require_verified, allow_stale, allow_contradicting], partial, contradiction)| Policy {
            direct_min,
            require_verified,
            allow_stale,
            allow_contradicting,
            partial,
            contradiction,
        },
    )
}

/// How well a claim stands.
fn rank(status: Status) -> u8 {
    match status {
        Status::Contradicted => 0,
        Status::NotChecked | Status::Unsupported => 1,
        Status::IndeterminateStaleOrUnverified => 2,
        Status::PartiallySupported => 3,
        Status::Supported => 4,
    }
}

proptest! {
    #[test]
    fn one_more_moves_a_claim_its_way_only(
        policy in policy(), anchors in prop::collection::vec(anchor(), 0..8), more in anchor(),
    ) {
        let before = derive(&policy, anchors.iter().copied());
        let after = derive(&policy, anchors.iter().copied().chain([more]));
        let (was, is) = (rank(before.status), rank(after.status));
        match more.strength {
            _any if more.tier0 => prop_assert_eq!(before, after),
            Strength::Contradicts => prop_assert!(is <= was, "{} {}", was, is),
            Strength::Direct | Strength::Indirect | Strength::Contextual => {
                prop_assert!(is >= was, "{} {}", was, is);
            }
        }
    }

    #[test]
    fn order_and_lookups_do_not_matter(
        policy in policy(), anchors in prop::collection::vec(anchor(), 0..8),
    ) {
        let mut sorted = anchors.clone();
        sorted.sort_by_key(|one| (one.strength, one.authority, one.verified, one.fresh, one.tier0));
        let found = derive(&policy, anchors.iter().copied());
        prop_assert_eq!(found, derive(&policy, sorted));
        let kept: Vec<Anchor> = anchors.into_iter().filter(|one| !one.tier0).collect();
        prop_assert_eq!(found, derive(&policy, kept));
        prop_assert!(found.status != Status::NotChecked);
    }
}
