//! What a chain of an evaluator and a judge comes to: verdict, route and kind of conflict, under a policy.
//! Owns: the resolution. Must not: allocate, know ids, or depend on the order in which results came.
//!
//! Laws, for every policy: each chain comes to something or waits; none takes the pass path beside a live blocker; the pass
//! path means that there is no conflict; a numeric pass is overridden only where blockers are preserved; an observer changes
//! nothing.

pub use crate::types::chain::{
    EvaluationChainRegistryRecordParticipantRoleRole as Role,
    EvaluationChainResolutionPolicyDisagreementRoute as Disagreement,
    EvaluationChainResolutionPolicyRoutePrecedence as Precedence,
    EvaluationChainResolutionReceiptConflictType as Conflict,
    EvaluationChainResolutionReceiptResolvedRoute as Route,
};
pub use crate::types::finding::FindingState;
pub use crate::types::outcome::{EvaluationVerdict as Verdict, IndeterminateCause as Cause};

impl FindingState {
    /// Whether a finding still counts.
    #[must_use]
    pub const fn is_live(self) -> bool {
        match self {
            FindingState::Active
            | FindingState::Contested
            | FindingState::UserApproved
            | FindingState::ToolVerified
            | FindingState::HumanVerified
            | FindingState::Unrecoverable => true,
            FindingState::Proposed
            | FindingState::Resolved
            | FindingState::SupersededByRevision
            | FindingState::SupersededBySourceChange
            | FindingState::Expired
            | FindingState::RejectedByUser
            | FindingState::Dismissed => false,
        }
    }
}

/// Some states of findings, or some causes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bits(u16);

impl Bits {
    const fn with(self, at: u32) -> Self {
        Bits(self.0 | 1_u16.wrapping_shl(at))
    }

    const fn is_within(self, other: Bits) -> bool {
        self.0 & !other.0 == 0
    }
}

/// Some states of findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FindingStates(Bits);

impl FindingStates {
    /// These.
    #[must_use]
    pub const fn of(states: &[FindingState]) -> Self {
        let mut rest = states;
        let mut bits = Bits(0);
        while let [first, more @ ..] = rest {
            bits = bits.with(*first as u32);
            rest = more;
        }
        FindingStates(bits)
    }
}

/// Some causes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Causes(Bits);

impl Causes {
    /// Those that another attempt may do away with.
    const PASSING: Causes = Causes::of(&[Cause::ToolFailure, Cause::Timeout, Cause::StaleSource]);

    /// These.
    #[must_use]
    pub const fn of(causes: &[Cause]) -> Self {
        let mut rest = causes;
        let mut bits = Bits(0);
        while let [first, more @ ..] = rest {
            bits = bits.with(*first as u32);
            rest = more;
        }
        Causes(bits)
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0.0 == 0
    }
}

/// How conflicts are resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Whether a blocker stands although the judge passes the work. Where it does not, they disagree.
    pub blockers_survive_pass: bool,
    /// Whether the judge may pass what the evaluator fails without a live blocker.
    pub judge_can_override: bool,
    /// The states in which blockers must be for that.
    pub override_states: FindingStates,
    /// What decides where a live blocker stands.
    pub precedence: Precedence,
    /// Where a disagreement goes that precedence leaves open.
    pub disagreement: Disagreement,
}

impl Policy {
    /// The name of [`Policy::DEFAULT`].
    pub const DEFAULT_ID: &'static str = "default.pattern_c.v1";
    /// The policy that the contract gives.
    pub const DEFAULT: Policy = Policy {
        blockers_survive_pass: true,
        judge_can_override: false,
        override_states: FindingStates::of(&[
            FindingState::Contested,
            FindingState::Dismissed,
            FindingState::RejectedByUser,
        ]),
        precedence: Precedence::BlockingQualitativeFirst,
        disagreement: Disagreement::HumanReview,
    };
}

/// What a result looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Snapshot {
    /// What the chain is about.
    OfTheChain,
    /// Something else.
    Another,
}

/// A result that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received<'a> {
    /// What its producer does in the chain.
    pub role: Role,
    /// What it says.
    pub verdict: Verdict,
    /// Why it could not tell.
    pub causes: Causes,
    /// What it looked at.
    pub snapshot: Snapshot,
    /// How its findings stand that are blocking and may be.
    pub blockers: &'a [FindingState],
}

/// Who has not answered of those who must.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Everybody has.
    Nobody,
    /// The judge or a scorer, and no evaluator.
    Judge,
    /// An evaluator, whoever else.
    Evaluator,
}

/// Whether there is still time to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// There is.
    Running,
    /// There is not.
    Over,
}

/// What is known of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain<'a> {
    /// The results, in any order.
    pub received: &'a [Received<'a>],
    /// Who has not answered.
    pub missing: Missing,
    /// Whether there is still time.
    pub term: Term,
}

/// Whose result decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decisive {
    /// Nobody's.
    Nobody,
    /// The one with the blocker.
    Blocker,
    /// The evaluator's.
    Evaluator,
    /// The judge's.
    Judge,
}

impl Decisive {
    /// Whether this result may be the one that decided for a verdict. Where several are, the caller picks by something that does
    /// not hang on who came first.
    #[must_use]
    pub fn may_be(self, result: &Received<'_>, verdict: Verdict) -> bool {
        let blocks = |state: &FindingState| state.is_live() && *state != FindingState::Contested;
        match (self, result.role) {
            (Decisive::Nobody, _) | (_, Role::Observer) => false,
            (Decisive::Blocker, _) => result.blockers.iter().any(blocks),
            (Decisive::Evaluator, Role::UpstreamEvaluator)
            | (Decisive::Judge, Role::DownstreamJudge | Role::ParallelScorer) => result.verdict == verdict,
            (Decisive::Evaluator, Role::DownstreamJudge | Role::ParallelScorer)
            | (Decisive::Judge, Role::UpstreamEvaluator) => false,
        }
    }
}

/// What a chain comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// How they disagree.
    pub conflict: Conflict,
    /// What it says.
    pub verdict: Verdict,
    /// Where it goes on.
    pub route: Route,
    /// Whose result decided.
    pub decisive: Decisive,
    /// Whether live blockers stand.
    pub blockers_preserved: bool,
    /// Whether a blocker outweighed the judge's pass.
    pub pass_overridden: bool,
}

/// Whether a chain comes to something already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It waits for somebody.
    Waiting,
    /// It came to this.
    Resolved(Resolution),
}

/// What a chain comes to under a policy.
#[must_use]
pub fn resolve(chain: &Chain<'_>, policy: &Policy) -> Outcome {
    let heard = Heard::of(chain.received);
    if heard.snapshot == Snapshot::Another {
        let resolution =
            plain(Conflict::SnapshotMismatch, Verdict::Indeterminate, Route::RetryPath, Decisive::Nobody);
        return Outcome::Resolved(heard.preserve(resolution, policy));
    }
    let away = match (chain.missing, chain.term) {
        (Missing::Judge | Missing::Evaluator, Term::Running) => return Outcome::Waiting,
        (Missing::Nobody, Term::Running | Term::Over) => None,
        (Missing::Judge, Term::Over) => Some(Route::HumanReviewPath),
        (Missing::Evaluator, Term::Over) => Some(Route::BlockUntilResolved),
    };
    let resolution = match (away, heard.blocker) {
        (Some(_), Blocker::Uncontested) if heard.blocker_decides(policy) => {
            plain(Conflict::MissingExpectedProducer, Verdict::Failed, Route::FailPath, Decisive::Blocker)
        }
        (Some(route), Blocker::Absent | Blocker::Contested | Blocker::Uncontested) => {
            plain(Conflict::MissingExpectedProducer, Verdict::Indeterminate, route, Decisive::Nobody)
        }
        (None, Blocker::Uncontested) => heard.with_blocker(policy),
        (None, Blocker::Contested) => disagree(heard.conflict_with_blocker(), Side::Failed, policy),
        (None, Blocker::Absent) => heard.by_verdicts(policy),
    };
    Outcome::Resolved(heard.preserve(resolution, policy))
}

/// The live blockers of all that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Blocker {
    Absent,
    /// There are some, and the user disputes all of them.
    Contested,
    /// There is one that nobody disputes.
    Uncontested,
}

/// Whether one of two that disagree says that it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Failed,
    NotFailed,
}

/// Everything that counts, joined: so the order of arrival can't matter.
#[derive(Clone, Copy, Debug)]
struct Heard {
    evaluator: Verdict,
    judge: Verdict,
    causes: Causes,
    blocker: Blocker,
    blocker_states: Bits,
    snapshot: Snapshot,
}

impl Heard {
    fn of(received: &[Received<'_>]) -> Self {
        let mut heard = Heard {
            evaluator: Verdict::NotApplicable,
            judge: Verdict::NotApplicable,
            causes: Causes::default(),
            blocker: Blocker::Absent,
            blocker_states: Bits::default(),
            snapshot: Snapshot::OfTheChain,
        };
        for one in received {
            let side = match one.role {
                Role::UpstreamEvaluator => &mut heard.evaluator,
                Role::DownstreamJudge | Role::ParallelScorer => &mut heard.judge,
                Role::Observer => continue,
            };
            *side = worse(*side, one.verdict);
            heard.causes = Causes(Bits(heard.causes.0.0 | one.causes.0.0));
            match one.snapshot {
                Snapshot::OfTheChain => {}
                Snapshot::Another => heard.snapshot = Snapshot::Another,
            }
            for state in one.blockers {
                heard.blocker_states = heard.blocker_states.with(*state as u32);
                let blocker = match (state.is_live(), *state == FindingState::Contested) {
                    (false, _) => Blocker::Absent,
                    (true, true) => Blocker::Contested,
                    (true, false) => Blocker::Uncontested,
                };
                heard.blocker = heard.blocker.max(blocker);
            }
        }
        heard
    }

    /// With a live blocker the evaluator counts as one that failed it.
    fn conflict_with_blocker(&self) -> Conflict {
        match self.judge {
            Verdict::Passed => Conflict::QualitativeFailQuantitativePass,
            Verdict::Indeterminate => Conflict::IndeterminateMismatch,
            Verdict::Failed | Verdict::NotApplicable => Conflict::None,
        }
    }

    /// Whether blockers come first and this one stands whatever the judge says.
    fn blocker_decides(&self, policy: &Policy) -> bool {
        let survives = policy.blockers_survive_pass || self.judge != Verdict::Passed;
        survives && policy.precedence == Precedence::BlockingQualitativeFirst
    }

    fn with_blocker(&self, policy: &Policy) -> Resolution {
        let conflict = self.conflict_with_blocker();
        if self.blocker_decides(policy) || conflict == Conflict::None {
            return plain(conflict, Verdict::Failed, Route::FailPath, Decisive::Blocker);
        }
        match policy.precedence {
            Precedence::HumanIfDisagreement => {
                plain(conflict, Verdict::Indeterminate, Route::HumanReviewPath, Decisive::Nobody)
            }
            Precedence::BlockingQualitativeFirst | Precedence::JudgeQuantitativeFirst => {
                disagree(conflict, Side::Failed, policy)
            }
        }
    }

    fn by_verdicts(&self, policy: &Policy) -> Resolution {
        use Verdict::{Failed, Indeterminate, NotApplicable, Passed};
        match (self.evaluator, self.judge) {
            (Passed, Passed) => agree(Passed, Decisive::Judge),
            (Failed, Failed) => agree(Failed, Decisive::Evaluator),
            (Failed, Passed) if self.is_overridden(policy) => agree(Passed, Decisive::Judge),
            (Failed, Passed) => disagree(Conflict::QualitativeFailQuantitativePass, Side::Failed, policy),
            (Passed, Failed) => disagree(Conflict::QualitativePassQuantitativeFail, Side::Failed, policy),
            (Indeterminate, Indeterminate) => {
                let may_pass = !self.causes.is_empty() && self.causes.0.is_within(Causes::PASSING.0);
                let route = if may_pass { Route::RetryPath } else { Route::HumanReviewPath };
                plain(Conflict::None, Indeterminate, route, Decisive::Nobody)
            }
            (Indeterminate, Failed) | (Failed, Indeterminate) => {
                disagree(Conflict::IndeterminateMismatch, Side::Failed, policy)
            }
            (Indeterminate, Passed | NotApplicable) | (Passed | NotApplicable, Indeterminate) => {
                disagree(Conflict::IndeterminateMismatch, Side::NotFailed, policy)
            }
            (Passed, NotApplicable) => agree(Passed, Decisive::Evaluator),
            (Failed, NotApplicable) => agree(Failed, Decisive::Evaluator),
            (NotApplicable, Passed) => agree(Passed, Decisive::Judge),
            (NotApplicable, Failed) => agree(Failed, Decisive::Judge),
            (NotApplicable, NotApplicable) => {
                plain(Conflict::None, NotApplicable, Route::PassPath, Decisive::Nobody)
            }
        }
    }

    /// Whether the judge may pass what the evaluator failed.
    fn is_overridden(&self, policy: &Policy) -> bool {
        policy.judge_can_override && self.blocker_states.is_within(policy.override_states.0)
    }

    fn preserve(&self, resolution: Resolution, policy: &Policy) -> Resolution {
        let survives = policy.blockers_survive_pass || self.judge != Verdict::Passed;
        let blockers_preserved = survives && self.blocker != Blocker::Absent;
        let pass_overridden =
            blockers_preserved && self.judge == Verdict::Passed && resolution.decisive == Decisive::Blocker;
        Resolution { blockers_preserved, pass_overridden, ..resolution }
    }
}

/// Of two results of one side the worse one counts; what could not be told is worse than a pass.
const fn worse(one: Verdict, other: Verdict) -> Verdict {
    use Verdict::{Failed, Indeterminate, NotApplicable, Passed};
    match (one, other) {
        (Failed, Failed | Indeterminate | Passed | NotApplicable)
        | (Indeterminate | Passed | NotApplicable, Failed) => Failed,
        (Indeterminate, Indeterminate | Passed | NotApplicable) | (Passed | NotApplicable, Indeterminate) => {
            Indeterminate
        }
        (Passed, Passed | NotApplicable) | (NotApplicable, Passed) => Passed,
        (NotApplicable, NotApplicable) => NotApplicable,
    }
}

const fn plain(conflict: Conflict, verdict: Verdict, route: Route, decisive: Decisive) -> Resolution {
    Resolution { conflict, verdict, route, decisive, blockers_preserved: false, pass_overridden: false }
}

const fn agree(verdict: Verdict, decisive: Decisive) -> Resolution {
    let route = match verdict {
        Verdict::Passed | Verdict::NotApplicable => Route::PassPath,
        Verdict::Failed => Route::FailPath,
        Verdict::Indeterminate => Route::HumanReviewPath,
    };
    plain(Conflict::None, verdict, route, decisive)
}

const fn disagree(conflict: Conflict, side: Side, policy: &Policy) -> Resolution {
    let (verdict, route) = match (policy.disagreement, side) {
        (Disagreement::HumanReview, Side::Failed | Side::NotFailed) => {
            (Verdict::Indeterminate, Route::HumanReviewPath)
        }
        (
            Disagreement::TaskAgentAssessment | Disagreement::BlockUntilResolved,
            Side::Failed | Side::NotFailed,
        ) => (Verdict::Indeterminate, Route::BlockUntilResolved),
        (Disagreement::PreferBlocking, Side::Failed) => (Verdict::Failed, Route::FailPath),
        (Disagreement::PreferBlocking, Side::NotFailed) => (Verdict::Indeterminate, Route::FailPath),
    };
    plain(conflict, verdict, route, Decisive::Nobody)
}

#[cfg(test)]
#[path = "chain_tests.rs"]
mod tests;
