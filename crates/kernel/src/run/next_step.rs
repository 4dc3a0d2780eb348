//! What a person can have a run do where a step could not go on.
//! Owns: the words for it. Must not: say what follows; whoever decides does.

/// What can be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// The step is done again.
    Retry,
    /// Other files are let in.
    AdjustEligibility,
    /// Files are shown whole.
    InjectFiles,
    /// What a judge would have said stays open.
    WithoutJudge,
    /// The run ends.
    GiveUp,
}

impl NextStep {
    /// All of them.
    pub const ALL: [NextStep; 5] = [
        NextStep::Retry,
        NextStep::AdjustEligibility,
        NextStep::InjectFiles,
        NextStep::WithoutJudge,
        NextStep::GiveUp,
    ];

    /// Its words, as a person reads them and as they stand in rows.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            NextStep::Retry => "retry",
            NextStep::AdjustEligibility => "adjust eligibility",
            NextStep::InjectFiles => "inject files",
            NextStep::WithoutJudge => "go on without the judge",
            NextStep::GiveUp => "give up",
        }
    }

    /// The one with these words; a step of somebody else's pipeline has words of its own.
    #[must_use]
    pub fn find(words: &str) -> Option<Self> {
        NextStep::ALL.into_iter().find(|step| step.as_str() == words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_found_by_its_words() {
        for step in NextStep::ALL {
            assert_eq!(NextStep::find(step.as_str()), Some(step));
        }
        assert_eq!(NextStep::find("Retry"), None);
    }
}
