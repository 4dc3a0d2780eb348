//! The words of chains: states of findings, precedence, routes, conflicts, roles.
//! Owns: the lists, and which states of a finding count. Must not: resolve.

use crate::table::words;

words! {
    /// How a finding stands.
    FindingState {
        /// It was put forward and not yet let in.
        Proposed = "proposed",
        /// It stands.
        Active = "active",
        /// The user disputes it.
        Contested = "contested",
        /// It was mended.
        Resolved = "resolved",
        /// The work has changed since.
        SupersededByRevision = "superseded_by_revision",
        /// The sources have changed since.
        SupersededBySourceChange = "superseded_by_source_change",
        /// Its time is over.
        Expired = "expired",
        /// The user says that it is right.
        UserApproved = "user_approved",
        /// A tool says that it is right.
        ToolVerified = "tool_verified",
        /// A reviewer says that it is right.
        HumanVerified = "human_verified",
        /// The user says that it is wrong.
        RejectedByUser = "rejected_by_user",
        /// It was dropped.
        Dismissed = "dismissed",
        /// It can't be mended; the defect is still there.
        Unrecoverable = "unrecoverable",
    }
}

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

words! {
    /// What decides where a live blocker stands.
    Precedence {
        /// The blocker.
        BlockingFirst = "blocking_qualitative_first",
        /// The judge; it can't pass the work beside a live blocker.
        JudgeFirst = "judge_quantitative_first",
        /// A person, if the two disagree.
        HumanIfDisagreement = "human_if_disagreement",
    }
}

words! {
    /// Where a disagreement goes that precedence leaves open.
    Disagreement {
        /// To a person.
        HumanReview = "human_review",
        /// To the task agent, who may advise and not decide: it waits.
        TaskAgentAssessment = "task_agent_assessment",
        /// Nowhere: it waits.
        BlockUntilResolved = "block_until_resolved",
        /// It counts as failed.
        PreferBlocking = "prefer_blocking",
    }
}

words! {
    /// Where a chain goes on.
    Route {
        /// The work passes.
        Pass = "pass_path",
        /// The work is mended.
        Fail = "fail_path",
        /// A person looks at it.
        HumanReview = "human_review_path",
        /// It is evaluated again.
        Retry = "retry_path",
        /// It waits.
        Block = "block_until_resolved",
    }
}

words! {
    /// How evaluator and judge disagree.
    Conflict {
        /// They do not.
        Nothing = "none",
        /// The evaluator finds fault, the judge passes it.
        FailPass = "qualitative_fail_quantitative_pass",
        /// The evaluator passes it, the judge does not.
        PassFail = "qualitative_pass_quantitative_fail",
        /// One of them could not tell.
        Indeterminate = "indeterminate_mismatch",
        /// One of them did not answer.
        Missing = "missing_expected_producer",
        /// They did not look at the same thing.
        Snapshot = "snapshot_mismatch",
    }
}

words! {
    /// What somebody does in a chain.
    Role {
        /// It says what is wrong.
        Evaluator = "upstream_evaluator",
        /// It says how good it is.
        Judge = "downstream_judge",
        /// It counts beside the judge, and on its side.
        Scorer = "parallel_scorer",
        /// It is heard and not counted.
        Observer = "observer",
    }
}
