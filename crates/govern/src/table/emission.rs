//! What a producer sends out for each verdict.
//! Owns: the matrix of producers and verdicts. Must not: send.

use super::outcome::Verdict;
pub use crate::types::feedback::{
    FeedbackBundleEmissionRule as Rule, FeedbackEmissionMatrixEntryProducerKind as Producer,
};

impl Rule {
    /// Whether a bundle belongs to a verdict.
    #[must_use]
    pub const fn wants_bundle(self, verdict: Verdict) -> bool {
        match self {
            Rule::Always => true,
            Rule::OnFailureOnly => matches!(verdict, Verdict::Failed),
            Rule::Never => false,
        }
    }
}

/// A row of the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Who evaluated.
    pub producer: Producer,
    /// What it said.
    pub verdict: Verdict,
    /// Whether an envelope is sent.
    pub emits_envelope: bool,
    /// Whether a feedback bundle is.
    pub bundle: Rule,
}

/// The row of a producer and a verdict.
#[must_use]
pub const fn entry(producer: Producer, verdict: Verdict) -> Entry {
    let bundle = match (producer, verdict) {
        (Producer::OutcomeEvaluator, Verdict::Failed | Verdict::Indeterminate)
        | (Producer::Judge, Verdict::Failed) => Rule::Always,
        (Producer::OutcomeEvaluator, Verdict::NotApplicable) => Rule::Never,
        (Producer::OutcomeEvaluator, Verdict::Passed)
        | (Producer::Judge, Verdict::Passed | Verdict::Indeterminate | Verdict::NotApplicable)
        | (
            Producer::DeterministicScorer,
            Verdict::Passed | Verdict::Failed | Verdict::Indeterminate | Verdict::NotApplicable,
        ) => Rule::OnFailureOnly,
    };
    Entry { producer, verdict, emits_envelope: true, bundle }
}

/// The matrix, one row for each producer and verdict.
pub fn matrix() -> impl Iterator<Item = Entry> {
    let verdicts = |producer: &Producer| {
        let producer = *producer;
        Verdict::ALL.iter().map(move |verdict| entry(producer, *verdict))
    };
    Producer::ALL.iter().flat_map(verdicts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn the_matrix_is_that_of_the_contract() {
        let rules: Vec<_> = matrix()
            .map(|row| (row.producer.as_str(), row.verdict.as_str(), row.bundle.as_str(), row.emits_envelope))
            .collect();
        let expected = [
            ("outcome_evaluator", "passed", "on_failure_only"),
            ("outcome_evaluator", "failed", "always"),
            ("outcome_evaluator", "indeterminate", "always"),
            ("outcome_evaluator", "not_applicable", "never"),
            ("judge", "passed", "on_failure_only"),
            ("judge", "failed", "always"),
            ("judge", "indeterminate", "on_failure_only"),
            ("judge", "not_applicable", "on_failure_only"),
            ("deterministic_scorer", "passed", "on_failure_only"),
            ("deterministic_scorer", "failed", "on_failure_only"),
            ("deterministic_scorer", "indeterminate", "on_failure_only"),
            ("deterministic_scorer", "not_applicable", "on_failure_only"),
        ];
        let expected = expected.map(|(producer, verdict, rule)| (producer, verdict, rule, true));
        assert_eq!(rules, expected);
    }

    #[test]
    fn on_failure_only_is_exactly_failed() {
        for verdict in Verdict::ALL {
            assert_eq!(Rule::OnFailureOnly.wants_bundle(*verdict), *verdict == Verdict::Failed);
        }
    }
}
