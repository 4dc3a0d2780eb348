//! Where work goes that no procedure can bring to a good end.
//! Owns: which trigger decides, its route, whether a person is asked, whether attempts still help, which capabilities cover.
//! Must not: read a log; the caller says what is known.

use crate::table::order;

pub use crate::types::basic::HardRevisionCallKind as Question;
pub use crate::types::cascade::OutcomeDependencyGraphPolicyOnCycleDetected as OnCycle;
pub use crate::types::outcome::OutcomeEvaluationDisposition as Disposition;
pub use crate::types::sufficiency::{
    CapabilityCoverageAssessmentCoverageState as Coverage, SufficiencyTerminalRoute as Route,
    SufficiencyTrigger as Trigger,
};

impl Route {
    /// The dispositions that an outcome on this route may be given.
    #[must_use]
    pub fn dispositions(self) -> &'static [Disposition] {
        match self {
            Route::NeedsInformation => &[Disposition::NeedsInformation],
            Route::NeedsVerification => &[Disposition::NeedsVerification],
            Route::NeedsHumanJudgment => &[Disposition::NeedsHumanJudgment],
            Route::UnableToEvaluate | Route::ProcessGapOut => &[Disposition::UnableToEvaluate],
            Route::BlockedByPolicy => &[Disposition::BlockedByPolicy],
            Route::Unrecoverable => &[Disposition::Unrecoverable, Disposition::MaxIterationsReached],
        }
    }
}

/// What is known besides the triggers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Whether the user may alter the policy that forbids.
    pub policy_is_alterable: bool,
    /// Whether research or the user can still give what is missing.
    pub has_information_route: bool,
    /// Whether another verifier exists.
    pub has_other_verifier: bool,
    /// Whether the precondition is something to be known.
    pub precondition_is_information: bool,
    /// What is done about a cycle.
    pub on_cycle: OnCycle,
    /// Whether a regeneration can still be varied.
    pub has_variation_left: bool,
    /// Whether a person can unlock a candidate.
    pub has_unlockable_candidate: bool,
    /// Attempts so far.
    pub attempts: u64,
    /// Attempts that the policy allows.
    pub attempts_max: u64,
}

/// How it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The trigger that decided.
    pub by: Trigger,
    /// Where it goes.
    pub route: Route,
    /// The disposition that the outcome is given.
    pub disposition: Disposition,
    /// What a person is asked, if one can change it.
    pub question: Option<Question>,
}

impl Trigger {
    /// Why nothing will do, for people.
    #[must_use]
    pub const fn why(self) -> &'static str {
        match self {
            Trigger::NoCapabilityCoversOutcome => "What the outcome needs is not there.",
            Trigger::CapabilityUnavailableOrUnhealthy => "What the outcome needs does not work now.",
            Trigger::PolicyProhibitsRequiredStep => "A policy forbids what would help.",
            Trigger::AllPolicyAllowedProceduresExhausted => "All that may be tried was tried.",
            Trigger::MaxAttemptsWithoutMaterialScoreImprovement => {
                "The attempts that are allowed did not make it good."
            }
            Trigger::IdenticalOutputLoopDetected => "The same text comes back, however it is asked for.",
            Trigger::EvidenceInsufficientToProceed => "The sources have nothing more on it.",
            Trigger::VerificationUnresolvable => "It rests on a source that a person must verify.",
            Trigger::ContradictoryRequirements => "What is asked for contradicts itself.",
            Trigger::PreconditionUnresolvable => "Something that it builds on is not there.",
            Trigger::BudgetCapPreventsMinimalSufficientAttempt => {
                "The budget does not allow another attempt."
            }
            Trigger::ExternalSideEffectRequiresUngrantedApproval => {
                "It takes an effect outside that nobody allowed."
            }
            Trigger::CascadeCycleDetected => "Outcomes wait for each other.",
        }
    }
}

/// How it ends; `None` if it goes on. The first trigger in their order decides, also that it goes on: so one of a lower rank
/// never changes the route.
#[must_use]
pub fn route(triggers: &[Trigger], known: &Known) -> Option<Ending> {
    let by = order::lowest(triggers.iter().copied())?;
    let (route, question) = ending_of(by, known)?;
    let is_at_cap =
        by == Trigger::MaxAttemptsWithoutMaterialScoreImprovement && known.attempts >= known.attempts_max;
    let disposition = match route {
        Route::Unrecoverable if is_at_cap => Disposition::MaxIterationsReached,
        Route::Unrecoverable => Disposition::Unrecoverable,
        Route::UnableToEvaluate | Route::ProcessGapOut => Disposition::UnableToEvaluate,
        Route::NeedsInformation => Disposition::NeedsInformation,
        Route::NeedsVerification => Disposition::NeedsVerification,
        Route::NeedsHumanJudgment => Disposition::NeedsHumanJudgment,
        Route::BlockedByPolicy => Disposition::BlockedByPolicy,
    };
    Some(Ending { by, route, disposition, question })
}

fn ending_of(by: Trigger, known: &Known) -> Option<(Route, Option<Question>)> {
    let ask = |question| Some((Route::NeedsHumanJudgment, Some(question)));
    let end = |route| Some((route, None));
    let stuck = Question::NoSufficientProcedure;
    let inform = Some((Route::NeedsInformation, (!known.has_information_route).then_some(stuck)));
    match by {
        Trigger::PolicyProhibitsRequiredStep => {
            Some((Route::BlockedByPolicy, known.policy_is_alterable.then_some(Question::PolicyBoundary)))
        }
        Trigger::ContradictoryRequirements => ask(Question::ContradictoryRequirements),
        Trigger::NoCapabilityCoversOutcome => end(Route::ProcessGapOut),
        Trigger::CapabilityUnavailableOrUnhealthy => end(Route::UnableToEvaluate),
        Trigger::EvidenceInsufficientToProceed => inform,
        Trigger::VerificationUnresolvable if known.has_other_verifier => end(Route::NeedsVerification),
        Trigger::VerificationUnresolvable => ask(stuck),
        Trigger::PreconditionUnresolvable if known.precondition_is_information => inform,
        Trigger::PreconditionUnresolvable => end(Route::UnableToEvaluate),
        Trigger::ExternalSideEffectRequiresUngrantedApproval => ask(Question::ExternalSideEffectApproval),
        Trigger::BudgetCapPreventsMinimalSufficientAttempt => ask(Question::BudgetScopeDecision),
        Trigger::CascadeCycleDetected => match known.on_cycle {
            OnCycle::HardCall => ask(Question::CascadeCycle),
            OnCycle::RejectGraph => end(Route::ProcessGapOut),
            OnCycle::PreferDeclaredPriority => None,
        },
        Trigger::IdenticalOutputLoopDetected if known.has_variation_left => None,
        Trigger::IdenticalOutputLoopDetected => ask(stuck),
        Trigger::AllPolicyAllowedProceduresExhausted if known.has_unlockable_candidate => ask(stuck),
        Trigger::AllPolicyAllowedProceduresExhausted
        | Trigger::MaxAttemptsWithoutMaterialScoreImprovement => end(Route::Unrecoverable),
    }
}

/// The scores around an attempt, where it has them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scored {
    /// Before it.
    pub before: Option<f64>,
    /// After it.
    pub after: Option<f64>,
}

/// Whether attempts still help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Improvement {
    /// There are too few attempts or scores to tell.
    NotYetKnown,
    /// The last ones made it better by epsilon or more.
    Material,
    /// They did not.
    NoneMaterial,
}

/// A part this small is no difference: what differs by epsilon can seem a few bits less.
const HAIR: f64 = 1.000_000_000_000_001;

/// Whether the last `window` attempts made it better by `epsilon` than the best score before them. Attempts stand in their order;
/// a score that is not finite is none.
#[must_use]
pub fn improvement(attempts: &[Scored], attempts_min: usize, window: usize, epsilon: f64) -> Improvement {
    let finite = |score: Option<f64>| score.filter(|score| score.is_finite());
    let is_scored = |one: &&Scored| finite(one.before).is_some() && finite(one.after).is_some();
    let Some(split) = attempts.len().checked_sub(window) else { return Improvement::NotYetKnown };
    let (earlier, last) = attempts.split_at(split);
    let is_known = attempts.iter().filter(is_scored).count() >= attempts_min
        && last.iter().all(|one| is_scored(&one))
        && epsilon.is_finite();
    let first = last.first().and_then(|one| finite(one.before));
    let before = earlier.iter().flat_map(|one| [finite(one.before), finite(one.after)]).flatten();
    let best_before = before.chain(first).reduce(f64::max);
    let best_after = last.iter().filter_map(|one| finite(one.after)).reduce(f64::max);
    match (best_before, best_after) {
        (Some(before), Some(after)) if is_known && after * HAIR < before + epsilon => {
            Improvement::NoneMaterial
        }
        (Some(_), Some(_)) if is_known => Improvement::Material,
        (Some(_) | None, Some(_) | None) => Improvement::NotYetKnown,
    }
}

/// A version, by its numbers: `1.10` is above `1.9`, `1` is `1.0`, and what stands behind a dash comes before the version itself.
/// A part that is no number is above all numbers.
#[derive(Clone, Copy, Debug)]
pub struct Version<'a>(pub &'a str);

impl<'a> Version<'a> {
    fn split(self) -> (&'a str, Option<&'a str>) {
        let text = self.0.split_once('+').map_or(self.0, |(version, _)| version).trim_start_matches('v');
        text.split_once('-').map_or((text, None), |(release, before)| (release, Some(before)))
    }
}

/// The numbers of a release; behind the last one all are zero.
fn numbers(release: &str) -> impl Iterator<Item = u64> {
    release.split('.').map(|part| if part.is_empty() { 0 } else { part.parse().unwrap_or(u64::MAX) })
}

impl Ord for Version<'_> {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        let ((one, one_before), (another, another_before)) = (self.split(), other.split());
        let length = numbers(one).count().max(numbers(another).count());
        let padded = |release| numbers(release).chain(core::iter::repeat(0)).take(length);
        let is_release = |before: Option<&str>| before.is_none();
        padded(one)
            .cmp(padded(another))
            .then_with(|| is_release(one_before).cmp(&is_release(another_before)))
            .then_with(|| one_before.cmp(&another_before))
    }
}

impl PartialOrd for Version<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Version<'_> {}

/// How a capability that is needed stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// There is none, or none of a version that will do.
    Missing,
    /// It is there and does not work.
    Unhealthy,
    /// It is there and works.
    Healthy,
}

/// How a capability stands of which at least the version `least` is needed: `offers` are the versions there are, and whether each
/// works.
#[must_use]
pub fn standing<V: Ord>(least: Option<&V>, offers: &[(V, bool)]) -> Standing {
    let fits = offers.iter().filter(|(version, _)| least.is_none_or(|least| version >= least));
    let each = fits.map(|(_, is_healthy)| if *is_healthy { Standing::Healthy } else { Standing::Unhealthy });
    each.max().unwrap_or(Standing::Missing)
}

/// Whether capabilities cover an outcome that needs them all; one that needs none is covered.
#[must_use]
pub fn coverage(needed: &[Standing]) -> Coverage {
    let count = |standing| needed.iter().filter(|one| **one == standing).count();
    match (count(Standing::Missing), count(Standing::Unhealthy)) {
        (0, 0) => Coverage::Covered,
        (0, _) => Coverage::CoveredButUnhealthy,
        (missing, _) if missing == needed.len() => Coverage::NotCovered,
        (_, _) => Coverage::PartiallyCovered,
    }
}

#[cfg(test)]
#[path = "sufficiency_tests.rs"]
mod tests;
