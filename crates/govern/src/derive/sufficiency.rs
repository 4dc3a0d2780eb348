//! Where work goes that no procedure can bring to a good end.
//! Owns: which trigger decides, its route, whether a person is asked, whether attempts still help, which capabilities cover.
//! Must not: read a log; the caller says what is known.

/// Why no procedure may be left, the one that decides first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trigger {
    /// A policy forbids a step that is needed.
    PolicyProhibitsRequiredStep,
    /// Two requirements exclude each other.
    ContradictoryRequirements,
    /// No capability there is covers the outcome.
    NoCapabilityCoversOutcome,
    /// A capability that covers it does not work now.
    CapabilityUnavailableOrUnhealthy,
    /// Evidence is missing.
    EvidenceInsufficientToProceed,
    /// A verifier could not decide.
    VerificationUnresolvable,
    /// Something that must hold before does not.
    PreconditionUnresolvable,
    /// A step acts outside and nobody allowed it.
    ExternalSideEffectRequiresUngrantedApproval,
    /// The budget is below the least attempt that could do.
    BudgetCapPreventsMinimalSufficientAttempt,
    /// Revalidation came back to where it started.
    CascadeCycleDetected,
    /// The same output came again.
    IdenticalOutputLoopDetected,
    /// Everything that is allowed was tried.
    AllPolicyAllowedProceduresExhausted,
    /// Attempts no longer make it better.
    MaxAttemptsWithoutMaterialScoreImprovement,
}

/// All triggers with their words, the one that decides first.
pub const TRIGGERS: [(Trigger, &str); 13] = [
    (Trigger::PolicyProhibitsRequiredStep, "policy_prohibits_required_step"),
    (Trigger::ContradictoryRequirements, "contradictory_requirements"),
    (Trigger::NoCapabilityCoversOutcome, "no_capability_covers_outcome"),
    (Trigger::CapabilityUnavailableOrUnhealthy, "capability_unavailable_or_unhealthy"),
    (Trigger::EvidenceInsufficientToProceed, "evidence_insufficient_to_proceed"),
    (Trigger::VerificationUnresolvable, "verification_unresolvable"),
    (Trigger::PreconditionUnresolvable, "precondition_unresolvable"),
    (
        Trigger::ExternalSideEffectRequiresUngrantedApproval,
        "external_side_effect_requires_ungranted_approval",
    ),
    (Trigger::BudgetCapPreventsMinimalSufficientAttempt, "budget_cap_prevents_minimal_sufficient_attempt"),
    (Trigger::CascadeCycleDetected, "cascade_cycle_detected"),
    (Trigger::IdenticalOutputLoopDetected, "identical_output_loop_detected"),
    (Trigger::AllPolicyAllowedProceduresExhausted, "all_policy_allowed_procedures_exhausted"),
    (Trigger::MaxAttemptsWithoutMaterialScoreImprovement, "max_attempts_without_material_score_improvement"),
];

impl Trigger {
    /// The trigger of a word.
    #[must_use]
    pub fn read(word: &str) -> Option<Self> {
        TRIGGERS.iter().find(|(_, one)| *one == word).map(|(trigger, _)| *trigger)
    }

    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        TRIGGERS.iter().find(|(one, _)| *one == self).map_or("", |(_, word)| word)
    }
}

/// Where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Route {
    /// Something must be found out.
    NeedsInformation,
    /// Something must be verified.
    NeedsVerification,
    /// A person must decide.
    NeedsHumanJudgment,
    /// It can't be judged now.
    UnableToEvaluate,
    /// A policy stands against it.
    BlockedByPolicy,
    /// It stays as bad as it is.
    Unrecoverable,
    /// The process lacks a part.
    ProcessGapOut,
}

/// All routes with their words.
pub const ROUTES: [(Route, &str); 7] = [
    (Route::NeedsInformation, "needs_information"),
    (Route::NeedsVerification, "needs_verification"),
    (Route::NeedsHumanJudgment, "needs_human_judgment"),
    (Route::UnableToEvaluate, "unable_to_evaluate"),
    (Route::BlockedByPolicy, "blocked_by_policy"),
    (Route::Unrecoverable, "unrecoverable"),
    (Route::ProcessGapOut, "process_gap_out"),
];

impl Route {
    /// The route of a word.
    #[must_use]
    pub fn read(word: &str) -> Option<Self> {
        ROUTES.iter().find(|(_, one)| *one == word).map(|(route, _)| *route)
    }

    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        ROUTES.iter().find(|(one, _)| *one == self).map_or("", |(_, word)| word)
    }

    /// The dispositions that an outcome on this route may be given.
    #[must_use]
    pub fn dispositions(self) -> &'static [&'static str] {
        match self {
            Route::NeedsInformation => &["needs_information"],
            Route::NeedsVerification => &["needs_verification"],
            Route::NeedsHumanJudgment => &["needs_human_judgment"],
            Route::UnableToEvaluate | Route::ProcessGapOut => &["unable_to_evaluate"],
            Route::BlockedByPolicy => &["blocked_by_policy"],
            Route::Unrecoverable => &["unrecoverable", "max_iterations_reached"],
        }
    }
}

/// What a person is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    /// Which of two requirements counts.
    ContradictoryRequirements,
    /// Whether a policy is changed.
    PolicyBoundary,
    /// Whether something may be done outside.
    ExternalSideEffectApproval,
    /// Whether there is more budget, or less to do.
    BudgetScopeDecision,
    /// Where a cycle is cut.
    CascadeCycle,
    /// What to do as nothing else helps.
    NoSufficientProcedure,
}

impl Question {
    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Question::ContradictoryRequirements => "contradictory_requirements",
            Question::PolicyBoundary => "policy_boundary",
            Question::ExternalSideEffectApproval => "external_side_effect_approval",
            Question::BudgetScopeDecision => "budget_scope_decision",
            Question::CascadeCycle => "cascade_cycle",
            Question::NoSufficientProcedure => "no_sufficient_procedure",
        }
    }
}

/// What is done about a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OnCycle {
    /// A person is asked.
    HardCall,
    /// The graph is refused.
    RejectGraph,
    /// The declared priority cuts it.
    PreferDeclaredPriority,
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
    pub disposition: &'static str,
    /// What a person is asked, if one can change it.
    pub question: Option<Question>,
}

/// How it ends; `None` if it goes on. The first trigger in their order decides, also that it goes on: so one of a lower rank
/// never changes the route.
#[must_use]
pub fn route(triggers: &[Trigger], known: &Known) -> Option<Ending> {
    let by = triggers.iter().copied().min()?;
    let (route, question) = ending_of(by, known)?;
    let is_at_cap =
        by == Trigger::MaxAttemptsWithoutMaterialScoreImprovement && known.attempts >= known.attempts_max;
    let disposition = match route {
        Route::Unrecoverable if is_at_cap => "max_iterations_reached",
        Route::Unrecoverable => "unrecoverable",
        Route::UnableToEvaluate | Route::ProcessGapOut => "unable_to_evaluate",
        Route::NeedsInformation
        | Route::NeedsVerification
        | Route::NeedsHumanJudgment
        | Route::BlockedByPolicy => route.as_str(),
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
        (Some(before), Some(after)) if is_known && after - before < epsilon => Improvement::NoneMaterial,
        (Some(_), Some(_)) if is_known => Improvement::Material,
        (Some(_) | None, Some(_) | None) => Improvement::NotYetKnown,
    }
}

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

/// Whether capabilities cover an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coverage {
    /// None of what is needed is there.
    NotCovered,
    /// Some of it is.
    PartiallyCovered,
    /// All of it is there, and some does not work.
    CoveredButUnhealthy,
    /// All of it is there and works.
    Covered,
}

impl Coverage {
    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Coverage::NotCovered => "not_covered",
            Coverage::PartiallyCovered => "partially_covered",
            Coverage::CoveredButUnhealthy => "covered_but_unhealthy",
            Coverage::Covered => "covered",
        }
    }
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
