//! The commands about what goes along with the work: its board, guidance, measures and sources.
//! Owns: their entries. Must not: carry one out.

use super::{Command, States, Write};

/// The commands about what goes along with the work.
pub const BESIDES: &[Command] = &[
    command!(
        "run_board.comment",
        "CommentOnBoard",
        [],
        Command {
            does: "Says something on the board of a run.",
            needs: "Something is said.",
            policy_checks: &["same_matter", "actor_is_a_person"],
            writes: &[Write::Record("HumanFeedbackEvent"), Write::Record("RunBoardAuditEvent")],
            owner: "DOC23_CORE",
            states: States {
                empty: "Nothing was said.",
                blocked: "The board takes no more posts of this run: the limit is shown.",
                degraded: "The board can't be shown now; what is said is kept and stands on it later.",
                error: "Nothing was posted. The reason is shown; the same key posts once at most.",
            },
            ..Command::GENERAL
        }
    ),
    command!(
        "run_board.retract_post",
        "RetractPost",
        ["validation.lifecycle_transition_without_receipt"],
        Command {
            does: "Takes a post off the board; what happened stays recorded.",
            needs: "The post stands on the board; a reason is given.",
            policy_checks: &["same_matter", "actor_is_a_person"],
            writes: &[Write::Transition("RunBoardVisiblePost")],
            owner: "DOC23_CORE",
            states: States {
                empty: "There is no such post.",
                blocked: "The post was taken off before: by whom and why is shown.",
                degraded: "What the post tells of can't be opened now; it can be taken off all the same.",
                error: "The post stands as before. The reason is shown; the same key takes it off once at most.",
            },
            ..Command::GENERAL
        }
    ),
    command!(
        "run_board.digest",
        "DigestBoard",
        [],
        Command {
            does: "Puts down what somebody is shown of the board, and what is left out.",
            needs: "Something is on the board.",
            policy_checks: &["same_matter", "actor_is_a_person"],
            writes: &[Write::Record("RunBoardDigest"), Write::Record("DigestSelection")],
            owner: "DOC23_CORE",
            states: States {
                empty: "Nothing is on the board yet.",
                blocked: "No post of this board is for them: why is shown post by post.",
                degraded: "Some posts can't be opened now: the selection says which.",
                error: "Nothing was put down. The reason is shown; the same key makes one digest at most.",
            },
            ..Command::GENERAL
        }
    ),
    command!(
        "run_guidance.contest",
        "ContestGuidance",
        ["validation.lifecycle_transition_without_receipt"],
        Command {
            does: "Disputes guidance: nobody goes by it until that is settled.",
            needs: "The guidance is active; grounds are given.",
            policy_checks: &["same_matter", "actor_may_contest"],
            writes: &[Write::Record("ContestationRequest"), Write::Record("RunGuidanceLifecycleReceipt")],
            owner: "DOC23_OER",
            states: States {
                empty: "This run has no guidance.",
                blocked: "The guidance is disputed already, or does not count any more: how it stands is shown.",
                degraded: "The feedback that it was made of can't be opened now; disputing it is possible.",
                error: "The guidance counts as before. The reason is shown; the same key disputes once at most.",
            },
            ..Command::GENERAL
        }
    ),
    command!(
        "run_guidance.settle_contest",
        "SettleGuidance",
        ["validation.lifecycle_transition_without_receipt"],
        Command {
            does: "Ends a dispute of guidance: it counts again, or never.",
            needs: "The guidance is contested.",
            policy_checks: &["same_matter", "reviewer_may_decide"],
            writes: &[Write::Record("RunGuidanceLifecycleReceipt")],
            owner: "DOC23_OER",
            states: States {
                empty: "This run has no guidance.",
                blocked: "Nobody disputes it: how it stands is shown.",
                degraded: "The feedback that it was made of can't be opened now: settling waits, because nobody should settle what can't be seen.",
                error: "The guidance is contested as before. The reason is shown; the same key settles once at most.",
            },
            ..Command::GENERAL
        }
    ),
    command!(
        "metric.withdraw_observation",
        "WithdrawObservation",
        [],
        Command {
            does: "Says that a measurement does not count: what comes together later leaves it out.",
            needs: "The observation is there and counts; a reason is given.",
            policy_checks: &["same_matter", "actor_is_a_person"],
            writes: &[Write::Record("MetricObservationInvalidationEvent")],
            owner: "DOC23_COMMON",
            states: States {
                empty: "There is no such observation.",
                blocked: "It was withdrawn before: by whom and why is shown.",
                degraded: "What was measured can't be opened now; withdrawing is possible.",
                error: "The observation counts as before. The reason is shown; the same key withdraws once at most.",
            },
            ..Command::GENERAL
        }
    ),
    command!(
        "research.answer_need",
        "AnswerNeed",
        ["validation.lifecycle_transition_without_receipt"],
        Command {
            does: "Answers an open question to the sources from one of them.",
            needs: "The need is open; the source is a record of the run.",
            policy_checks: &["same_matter", "actor_is_a_person"],
            writes: &[Write::Transition("ResearchNeed"), Write::Record("SourceWorkspaceOperationReceipt")],
            owner: "DOC23_SOURCE_WORKSPACE",
            states: States {
                empty: "There is no such need, or no such source.",
                blocked: "The need is answered or was given up: how it stands is shown.",
                degraded: "The source can't be opened now: answering waits, because nobody should answer from what can't be seen.",
                error: "The need is open as before. The reason is shown; the same key answers once at most.",
            },
            ..Command::GENERAL
        }
    ),
    command!(
        "source.clear",
        "ClearSource",
        [],
        Command {
            does: "Says that a person has looked through a source and answers for it.",
            needs: "The source is trusted less than what a person brings along.",
            policy_checks: &["same_matter", "reviewer_may_decide"],
            writes: &[Write::Record("SanitizationNode"), Write::Record("SourceWorkspaceOperationReceipt")],
            owner: "DOC23_SOURCE_WORKSPACE",
            states: States {
                empty: "There is no such source.",
                blocked: "The source is trusted as much already.",
                degraded: "The source can't be opened now: clearing waits, because nobody should answer for what can't be seen.",
                error: "The source stands as before. The reason is shown; the same key clears once at most.",
            },
            ..Command::GENERAL
        }
    ),
    command!(
        "source.move_tier",
        "MoveTier",
        [],
        Command {
            does: "Says that a source is documented better or less than it was taken to be.",
            needs: "The source is a record of the run; the tier is another than its own, from 1 to 3.",
            policy_checks: &["same_matter", "reviewer_may_decide"],
            writes: &[
                Write::Record("SourceTierTransitionReceipt"),
                Write::Record("SourceWorkspaceOperationReceipt"),
            ],
            owner: "DOC23_SOURCE_WORKSPACE",
            states: States {
                empty: "There is no such source.",
                blocked: "The source is of that tier, or there is no such tier.",
                degraded: "The source can't be opened now: moving it waits, because nobody should judge what can't be seen.",
                error: "The source is of the tier that it was. The reason is shown; the same key moves it once at most.",
            },
            ..Command::GENERAL
        }
    ),
];
