//! The table of the contract, and the laws over everything that can come.

use super::*;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::vec::Vec;

const STATES: &[FindingState] = FindingState::ALL;
const ACTIVE: &[FindingState] = &[FindingState::Active];
const CONTESTED: &[FindingState] = &[FindingState::Contested];
const RESOLVED: &[FindingState] = &[FindingState::Resolved];
const BLOCKERS: [&[FindingState]; 6] = [
    &[],
    ACTIVE,
    CONTESTED,
    RESOLVED,
    &[FindingState::Contested, FindingState::ToolVerified],
    &[FindingState::Dismissed],
];

fn result(
    role: Role,
    verdict: Verdict,
    blockers: &'static [FindingState],
    causes: &[Cause],
) -> Received<'static> {
    Received { role, verdict, causes: Causes::of(causes), snapshot: Snapshot::OfTheChain, blockers }
}

fn resolved(received: &[Received<'_>], missing: Missing, policy: &Policy) -> Resolution {
    match resolve(&Chain { received, missing, term: Term::Over }, policy) {
        Outcome::Resolved(resolution) => resolution,
        Outcome::Waiting => panic!("it waits although its time is over"),
    }
}

type Case = (&'static str, &'static [FindingState], &'static str, (Conflict, Verdict, Route, Decisive));

/// Verdict of the evaluator, its blockers, verdict of the judge.
#[rustfmt::skip] // one to a line
const CASES: &[Case] = &[
    ("passed", &[], "passed", (Conflict::None, Verdict::Passed, Route::PassPath, Decisive::Judge)),
    ("passed", RESOLVED, "passed", (Conflict::None, Verdict::Passed, Route::PassPath, Decisive::Judge)),
    ("failed", &[], "failed", (Conflict::None, Verdict::Failed, Route::FailPath, Decisive::Evaluator)),
    ("failed", ACTIVE, "passed", (Conflict::QualitativeFailQuantitativePass, Verdict::Failed, Route::FailPath, Decisive::Blocker)),
    ("passed", ACTIVE, "passed", (Conflict::QualitativeFailQuantitativePass, Verdict::Failed, Route::FailPath, Decisive::Blocker)),
    ("failed", ACTIVE, "failed", (Conflict::None, Verdict::Failed, Route::FailPath, Decisive::Blocker)),
    ("failed", ACTIVE, "not_applicable", (Conflict::None, Verdict::Failed, Route::FailPath, Decisive::Blocker)),
    ("failed", ACTIVE, "indeterminate", (Conflict::IndeterminateMismatch, Verdict::Failed, Route::FailPath, Decisive::Blocker)),
    ("failed", CONTESTED, "passed", (Conflict::QualitativeFailQuantitativePass, Verdict::Indeterminate, Route::HumanReviewPath, Decisive::Nobody)),
    ("failed", CONTESTED, "failed", (Conflict::None, Verdict::Indeterminate, Route::HumanReviewPath, Decisive::Nobody)),
    ("failed", &[], "passed", (Conflict::QualitativeFailQuantitativePass, Verdict::Indeterminate, Route::HumanReviewPath, Decisive::Nobody)),
    ("passed", &[], "failed", (Conflict::QualitativePassQuantitativeFail, Verdict::Indeterminate, Route::HumanReviewPath, Decisive::Nobody)),
    ("passed", &[], "indeterminate", (Conflict::IndeterminateMismatch, Verdict::Indeterminate, Route::HumanReviewPath, Decisive::Nobody)),
    ("indeterminate", &[], "failed", (Conflict::IndeterminateMismatch, Verdict::Indeterminate, Route::HumanReviewPath, Decisive::Nobody)),
    ("indeterminate", &[], "indeterminate", (Conflict::None, Verdict::Indeterminate, Route::HumanReviewPath, Decisive::Nobody)),
    ("not_applicable", &[], "passed", (Conflict::None, Verdict::Passed, Route::PassPath, Decisive::Judge)),
    ("failed", &[], "not_applicable", (Conflict::None, Verdict::Failed, Route::FailPath, Decisive::Evaluator)),
    ("not_applicable", &[], "not_applicable", (Conflict::None, Verdict::NotApplicable, Route::PassPath, Decisive::Nobody)),
];

#[test]
fn the_default_policy_is_the_table() {
    for (evaluator, blockers, judge, expected) in CASES {
        let [evaluator, judge] = [evaluator, judge].map(|word| Verdict::find(word).unwrap());
        let received = [
            result(Role::UpstreamEvaluator, evaluator, blockers, &[]),
            result(Role::DownstreamJudge, judge, &[], &[]),
        ];
        let found = resolved(&received, Missing::Nobody, &Policy::DEFAULT);
        let told = (found.conflict, found.verdict, found.route, found.decisive);
        assert_eq!(told, *expected, "{evaluator:?} {blockers:?} {judge:?}");
        assert_eq!(
            found.pass_overridden,
            expected.0 == Conflict::QualitativeFailQuantitativePass && expected.3 == Decisive::Blocker
        );
        assert_eq!(found.blockers_preserved, blockers.iter().any(|state| state.is_live()));
    }
}

#[test]
fn what_may_pass_by_itself_is_tried_again() {
    let both = |causes: &[Cause]| {
        let received = [Role::UpstreamEvaluator, Role::DownstreamJudge].map(|role| {
            let verdict = Verdict::Indeterminate;
            Received { role, verdict, causes: Causes::of(causes), ..result(role, verdict, &[], &[]) }
        });
        resolved(&received, Missing::Nobody, &Policy::DEFAULT).route
    };
    assert_eq!(both(&[Cause::Timeout, Cause::ToolFailure]), Route::RetryPath);
    assert_eq!(both(&[Cause::Timeout, Cause::MissingSource]), Route::HumanReviewPath);
    assert_eq!(both(&[]), Route::HumanReviewPath);
}

#[test]
fn who_is_missing_decides_after_the_time() {
    let told = |received: &[Received<'_>], missing| {
        let found = resolved(received, missing, &Policy::DEFAULT);
        (found.conflict, found.verdict, found.route)
    };
    let judge = [result(Role::DownstreamJudge, Verdict::Passed, &[], &[])];
    let blocked = [result(Role::UpstreamEvaluator, Verdict::Failed, ACTIVE, &[])];
    let disputed = [result(Role::UpstreamEvaluator, Verdict::Failed, CONTESTED, &[])];
    let unknown = |route| (Conflict::MissingExpectedProducer, Verdict::Indeterminate, route);
    assert_eq!(told(&judge, Missing::Evaluator), unknown(Route::BlockUntilResolved));
    assert_eq!(told(&[], Missing::Evaluator), unknown(Route::BlockUntilResolved));
    assert_eq!(told(&disputed, Missing::Judge), unknown(Route::HumanReviewPath));
    assert_eq!(
        told(&blocked, Missing::Judge),
        (Conflict::MissingExpectedProducer, Verdict::Failed, Route::FailPath)
    );
    let early = Chain { received: &blocked, missing: Missing::Judge, term: Term::Running };
    assert_eq!(resolve(&early, &Policy::DEFAULT), Outcome::Waiting);
}

#[test]
fn another_snapshot_comes_before_everything() {
    let elsewhere =
        Received { snapshot: Snapshot::Another, ..result(Role::DownstreamJudge, Verdict::Passed, &[], &[]) };
    let received = [result(Role::UpstreamEvaluator, Verdict::Failed, ACTIVE, &[]), elsewhere];
    for (missing, term) in [(Missing::Nobody, Term::Running), (Missing::Evaluator, Term::Over)] {
        let Outcome::Resolved(found) =
            resolve(&Chain { received: &received, missing, term }, &Policy::DEFAULT)
        else {
            panic!("it waits")
        };
        assert_eq!(
            (found.conflict, found.verdict, found.route),
            (Conflict::SnapshotMismatch, Verdict::Indeterminate, Route::RetryPath)
        );
    }
}

#[test]
fn a_policy_that_lets_the_judge_override_does_so_only_without_a_live_blocker() {
    let policy = Policy { judge_can_override: true, ..Policy::DEFAULT };
    let route = |blockers| {
        let received = [
            result(Role::UpstreamEvaluator, Verdict::Failed, blockers, &[]),
            result(Role::DownstreamJudge, Verdict::Passed, &[], &[]),
        ];
        resolved(&received, Missing::Nobody, &policy).route
    };
    assert_eq!(route(&[]), Route::PassPath);
    assert_eq!(route(&[FindingState::Dismissed]), Route::PassPath);
    assert_eq!(route(RESOLVED), Route::HumanReviewPath);
    assert_eq!(route(CONTESTED), Route::HumanReviewPath);
    assert_eq!(route(ACTIVE), Route::FailPath);
}

fn policies() -> Vec<Policy> {
    let mut all = Vec::new();
    for bits in 0..4_u8 {
        for precedence in Precedence::ALL {
            for disagreement in Disagreement::ALL {
                all.push(Policy {
                    blockers_survive_pass: bits & 1 == 0,
                    judge_can_override: bits & 2 != 0,
                    precedence: *precedence,
                    disagreement: *disagreement,
                    ..Policy::DEFAULT
                });
            }
        }
    }
    all
}

fn holds(received: &[Received<'_>], found: &Resolution) {
    let counted = received.iter().filter(|one| one.role != Role::Observer);
    let live = counted.clone().flat_map(|one| one.blockers).any(|state| state.is_live());
    assert!(found.route != Route::PassPath || (!live && found.conflict == Conflict::None), "{received:?}");
    assert!(!found.pass_overridden || found.blockers_preserved, "{received:?}");
    assert!(!found.blockers_preserved || live, "{received:?}");
    assert!(found.verdict != Verdict::Passed || found.route == Route::PassPath, "{received:?}");
    assert!(found.verdict != Verdict::Failed || found.route == Route::FailPath, "{received:?}");
    if found.decisive == Decisive::Nobody {
        assert!(found.verdict != Verdict::Passed, "{received:?}");
    }
}

/// Every policy, every pair of verdicts, blockers on either side, everything that may be missing.
#[test]
fn the_laws_hold_everywhere() {
    for policy in policies() {
        for evaluator in Verdict::ALL {
            for judge in Verdict::ALL {
                for blockers in BLOCKERS {
                    for judged in BLOCKERS {
                        let received = [
                            result(Role::UpstreamEvaluator, *evaluator, blockers, &[]),
                            result(Role::DownstreamJudge, *judge, judged, &[]),
                        ];
                        for missing in [Missing::Nobody, Missing::Judge, Missing::Evaluator] {
                            holds(&received, &resolved(&received, missing, &policy));
                        }
                    }
                }
            }
        }
    }
}

fn any_result() -> impl Strategy<Value = Received<'static>> {
    let snapshot = prop_oneof![9 => Just(Snapshot::OfTheChain), 1 => Just(Snapshot::Another)];
    let causes = proptest::collection::vec(select(Cause::ALL), 0..3);
    (select(Role::ALL), select(Verdict::ALL), causes, snapshot, select(&BLOCKERS[..])).prop_map(
        |(role, verdict, causes, snapshot, blockers)| Received {
            role,
            verdict,
            causes: Causes::of(&causes),
            snapshot,
            blockers,
        },
    )
}

proptest! {
    #[test]
    fn the_order_of_arrival_does_not_matter(
        received in proptest::collection::vec(any_result(), 0..6),
        swaps in proptest::collection::vec(any::<(Index, Index)>(), 0..8),
        policy in select(policies()),
        missing in select(&[Missing::Nobody, Missing::Judge, Missing::Evaluator][..]),
        term in select(&[Term::Running, Term::Over][..]),
    ) {
        let mut shuffled = received.clone();
        for (one, other) in swaps.iter().filter(|_| !received.is_empty()) {
            shuffled.swap(one.index(received.len()), other.index(received.len()));
        }
        let found = resolve(&Chain { received: &received, missing, term }, &policy);
        prop_assert_eq!(found, resolve(&Chain { received: &shuffled, missing, term }, &policy));
        if let Outcome::Resolved(resolution) = found {
            holds(&received, &resolution);
        }
    }

    #[test]
    fn observers_change_nothing(
        received in proptest::collection::vec(any_result(), 0..4),
        late in proptest::collection::vec(any_result(), 1..4),
        policy in select(policies()),
    ) {
        let observers = late.into_iter().map(|one| Received { role: Role::Observer, ..one });
        let all: Vec<_> = received.iter().copied().chain(observers).collect();
        let (missing, term) = (Missing::Nobody, Term::Over);
        let before = resolve(&Chain { received: &received, missing, term }, &policy);
        prop_assert_eq!(before, resolve(&Chain { received: &all, missing, term }, &policy));
    }
}

#[test]
fn every_state_of_a_finding_is_one_of_its_machine() {
    let words: std::collections::BTreeSet<&str> = STATES.iter().map(|state| state.as_str()).collect();
    assert_eq!(words, crate::machine::FINDING.states().collect());
    assert_eq!(STATES.iter().filter(|state| state.is_live()).count(), 6);
}
