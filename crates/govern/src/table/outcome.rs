//! What each state of an outcome means: whether it is told, ends, blocks, where it leads and what is learned from it.
//! Owns: the matrix of the sixteen states. Must not: move an outcome.

pub use crate::types::feedback::FeedbackBranch as Branch;
pub use crate::types::outcome::{
    EvaluationVerdict as Verdict, IndeterminateCause as Cause, OutcomeEvaluationState as State,
    OutcomeStateMatrixEntryLearningEligibility as Learning,
    OutcomeStateMatrixEntryRevisorDefaultAction as Action, OutcomeStateMatrixEntryStateClass as Class,
};

/// A row of the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Which state.
    pub state: State,
    /// What kind of state it is.
    pub class: Class,
    /// Whether an envelope may carry it.
    pub is_emitted: bool,
    /// Whether nothing goes on by itself from here. Something from outside may still make the outcome dirty again.
    pub is_terminal: bool,
    /// The verdict that it stands for; a state on the way has none.
    pub verdict: Option<Verdict>,
    /// Where feedback goes.
    pub branch: Branch,
    /// Whether what depends on it has to wait.
    pub blocks_downstream: bool,
    /// What the reviser does.
    pub action: Action,
    /// What people read.
    pub label: &'static str,
    /// Whether something may be learned from it.
    pub learning: Learning,
    /// Why its verdict could not be told, the likely causes first; empty where it was told.
    pub causes: &'static [Cause],
}

/// The matrix, one row for each state, in the order of [`State::ALL`].
pub const MATRIX: [Entry; State::ALL.len()] = {
    let mut rows = [entry(State::Pending); State::ALL.len()];
    let mut at = 0;
    while at < rows.len() {
        rows[at] = entry(State::ALL[at]);
        at += 1;
    }
    rows
};

/// The row of a state.
#[must_use]
pub const fn entry(state: State) -> Entry {
    use Action as Do;
    use Branch as To;
    use Learning::{DiagnosticOnly, Eligible, Ineligible};
    match state {
        State::Pending => runtime(state, "Not started"),
        State::PendingDependency => runtime(state, "Waiting for another outcome"),
        State::Evaluating => runtime(state, "Being evaluated"),
        State::Dirty => runtime(state, "Changed, to be evaluated again"),
        State::Satisfied => ends(passed(state, "Met", To::OnSatisfied, Eligible)),
        State::NeedsRevision => failed(state, "Needs revision", To::OnNeedsRevision, Do::Revise, Eligible),
        State::NeedsInformation => {
            let causes = &[Cause::MissingInformation, Cause::MissingSource];
            open(state, "Needs information", To::OnNeedsMoreSources, Do::Research, causes)
        }
        State::NeedsVerification => {
            let causes = &[Cause::StaleSource, Cause::ConflictingEvidence];
            open(state, "Needs verification", To::OnNeedsSourceVerification, Do::Verify, causes)
        }
        State::NeedsHumanJudgment => {
            let causes = &[Cause::HumanJudgmentRequired];
            open(state, "Needs your decision", To::OnNeedsHumanJudgment, Do::HardCall, causes)
        }
        State::UnableToEvaluate => {
            let causes = &[Cause::MissingCapability, Cause::ToolFailure, Cause::Timeout];
            ends(open(state, "Could not be evaluated", To::None, Do::ProcessGap, causes))
        }
        State::BlockedByPolicy => {
            let causes = &[Cause::PolicyBlock];
            ends(open(state, "Blocked by a policy", To::OnBlockedByPolicy, Do::Abort, causes))
        }
        State::Regressed => failed(state, "No longer met", To::OnNeedsRevision, Do::Revise, Eligible),
        State::UpstreamFailure => {
            let causes = &[Cause::BlockedBeforeSubstantiveVerdict];
            let row = open(state, "An outcome before it failed", To::OnUpstreamFailure, Do::None, causes);
            ends(Entry { learning: Ineligible, ..row })
        }
        State::Unrecoverable => {
            ends(failed(state, "Cannot be mended", To::OnUnrecoverable, Do::Abort, DiagnosticOnly))
        }
        State::Superseded => {
            let row = passed(state, "Replaced by a newer one", To::None, Ineligible);
            ends(Entry { verdict: Some(Verdict::NotApplicable), ..row })
        }
        State::MaxIterationsReached => {
            ends(failed(state, "All attempts used", To::OnRepeatedFailure, Do::HardCall, DiagnosticOnly))
        }
    }
}

const fn runtime(state: State, label: &'static str) -> Entry {
    Entry {
        state,
        class: Class::Runtime,
        is_emitted: false,
        is_terminal: false,
        verdict: None,
        branch: Branch::None,
        blocks_downstream: true,
        action: Action::None,
        label,
        learning: Learning::Ineligible,
        causes: &[],
    }
}

const fn passed(state: State, label: &'static str, branch: Branch, learning: Learning) -> Entry {
    Entry {
        state,
        class: Class::Disposition,
        is_emitted: true,
        is_terminal: false,
        verdict: Some(Verdict::Passed),
        branch,
        blocks_downstream: false,
        action: Action::None,
        label,
        learning,
        causes: &[],
    }
}

const fn failed(
    state: State,
    label: &'static str,
    branch: Branch,
    action: Action,
    learning: Learning,
) -> Entry {
    let row = passed(state, label, branch, learning);
    Entry { verdict: Some(Verdict::Failed), blocks_downstream: true, action, ..row }
}

const fn open(
    state: State,
    label: &'static str,
    branch: Branch,
    action: Action,
    causes: &'static [Cause],
) -> Entry {
    let row = failed(state, label, branch, action, Learning::DiagnosticOnly);
    Entry { verdict: Some(Verdict::Indeterminate), causes, ..row }
}

const fn ends(row: Entry) -> Entry {
    Entry { is_terminal: true, ..row }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::OUTCOME;
    use std::collections::BTreeSet;

    #[test]
    fn every_state_stands_once_and_is_one_of_the_machine() {
        let states: BTreeSet<&str> = MATRIX.iter().map(|row| row.state.as_str()).collect();
        assert_eq!(states.len(), MATRIX.len());
        assert_eq!(states, OUTCOME.states().collect());
        assert!(
            MATRIX.iter().all(|row| entry(row.state) == *row && State::find(row.state.as_str()).is_some())
        );
        let labels: BTreeSet<&str> = MATRIX.iter().map(|row| row.label).collect();
        assert_eq!(labels.len(), MATRIX.len());
    }

    /// The columns: class, told, ends, verdict, branch, blocks, action, learning.
    #[test]
    fn the_matrix_is_that_of_the_contract() {
        let row = |state: &str| {
            let row = entry(State::find(state).unwrap());
            let flags = [row.is_emitted, row.is_terminal, row.blocks_downstream].map(u8::from);
            let verdict = row.verdict.map_or("", Verdict::as_str);
            (
                row.class.as_str(),
                flags,
                verdict,
                row.branch.as_str(),
                row.action.as_str(),
                row.learning.as_str(),
            )
        };
        let way = ("runtime", [0, 0, 1], "", "none", "none", "ineligible");
        let end = "disposition";
        let expected = [
            ("pending", way),
            ("pending_dependency", way),
            ("evaluating", way),
            ("dirty", way),
            ("satisfied", (end, [1, 1, 0], "passed", "on_satisfied", "none", "eligible")),
            ("needs_revision", (end, [1, 0, 1], "failed", "on_needs_revision", "revise", "eligible")),
            ("needs_information", unknown(0, "on_needs_more_sources", "research")),
            ("needs_verification", unknown(0, "on_needs_source_verification", "verify")),
            ("needs_human_judgment", unknown(0, "on_needs_human_judgment", "hard_call")),
            ("unable_to_evaluate", unknown(1, "none", "process_gap")),
            ("blocked_by_policy", unknown(1, "on_blocked_by_policy", "abort")),
            ("regressed", (end, [1, 0, 1], "failed", "on_needs_revision", "revise", "eligible")),
            (
                "upstream_failure",
                (end, [1, 1, 1], "indeterminate", "on_upstream_failure", "none", "ineligible"),
            ),
            ("unrecoverable", (end, [1, 1, 1], "failed", "on_unrecoverable", "abort", "diagnostic_only")),
            ("superseded", (end, [1, 1, 0], "not_applicable", "none", "none", "ineligible")),
            (
                "max_iterations_reached",
                (end, [1, 1, 1], "failed", "on_repeated_failure", "hard_call", "diagnostic_only"),
            ),
        ];
        for (state, expected) in expected {
            assert_eq!(row(state), expected, "{state}");
        }
        assert!(
            MATRIX.iter().all(|row| (row.verdict == Some(Verdict::Indeterminate)) != row.causes.is_empty())
        );
    }

    type Row = (&'static str, [u8; 3], &'static str, &'static str, &'static str, &'static str);

    fn unknown(ends: u8, branch: &'static str, action: &'static str) -> Row {
        ("disposition", [1, ends, 1], "indeterminate", branch, action, "diagnostic_only")
    }
}
