//! The commands that the schemas need and the contract does not list.
//! Owns: their entries. Must not: carry one out.

use super::{Command, States, Write};

/// The commands that the schemas need and the contract does not list.
pub const GENERAL: &[Command] = &[
    command!(
        "contract_review.approve",
        "ApproveContractReview",
        [],
        Command {
            does: "Agrees to what a run has understood.",
            needs: "The review is pending.",
            policy_checks: &["same_matter", "user_may_approve"],
            writes: &[Write::Transition("EvaluationContractReview")],
            owner: "DOC23_OER",
            states: States {
                empty: "No plan waits for an approval.",
                blocked: "The plan has changed since it was shown: the new one must be read first.",
                degraded: "The cost can't be estimated now: the approval says that it was given without an estimate.",
                error: "The plan is not approved. The reason is shown; the same key approves once at most.",
            },
            ..Command::GENERAL
        }
    ),
    command!(
        "contract_review.reject",
        "RejectContractReview",
        [],
        Command {
            does: "Refuses what a run has understood: nothing is done.",
            needs: "The review is pending.",
            policy_checks: &["same_matter", "user_may_approve"],
            writes: &[Write::Transition("EvaluationContractReview")],
            owner: "DOC23_OER",
            states: States {
                empty: "No plan waits for an approval.",
                blocked: "Somebody has decided already: the decision is shown.",
                degraded: "The plan can't be shown in full; rejecting is possible, since nothing runs then.",
                error: "The plan is still pending. The reason is shown; the same key rejects once at most.",
            },
            ..Command::GENERAL
        }
    ),
    command!(
        "contract_review.edit",
        "EditContractReview",
        [],
        Command {
            does: "Changes what is asked before anything is done.",
            needs: "The review is pending; what is to change is given.",
            policy_checks: &["same_matter", "user_may_approve"],
            writes: &[Write::Transition("EvaluationContractReview")],
            owner: "DOC23_OER",
            states: States {
                empty: "No plan waits for an approval.",
                blocked: "Nothing to change was given: it is asked for first.",
                degraded: "The plan can't be compiled now; the edit is kept and compiled when it can be.",
                error: "The plan is unchanged. The reason is shown; the same key edits once at most.",
            },
            ..Command::GENERAL
        }
    ),
    command!(
        "revision_review.fork_candidate",
        "ForkCandidate",
        [
            "validation.review_decision_without_receipt",
            "validation.restore_checkpoint_ignores_irreversible_side_effects"
        ],
        Command {
            does: "Decides on a candidate by trying it in a new run.",
            needs: "The packet is review_pending; the checkpoint is complete; every irreversible effect that was carried out is listed.",
            policy_checks: &[
                "same_matter",
                "reviewer_may_decide",
                "checkpoint_complete",
                "irreversible_effects_listed",
            ],
            writes: &[Write::Record("RevisionReviewDecisionReceipt"), Write::Record("TaskRunFork")],
            owner: "DOC23_OER",
            states: States {
                empty: "No revision waits for a review.",
                blocked: "Effects that can't be undone are not listed, or the run has no complete checkpoint: they are named.",
                degraded: "A capability of the checkpoint is not there now: what would differ is shown before the fork.",
                error: "No fork was made and the candidate is still pending. The reason is shown; the same key forks once at most.",
            },
            ..Command::GENERAL
        }
    ),
    command!(
        "checkpoint.create",
        "CreateCheckpoint",
        [
            "validation.known_good_checkpoint_missing_policy_snapshot",
            "validation.known_good_checkpoint_missing_capability_snapshot"
        ],
        Command {
            does: "Keeps the run as it stands, so that it can be gone back to.",
            needs: "The run has heads to keep; its policies and capabilities can be captured.",
            policy_checks: &["same_matter", "snapshots_complete"],
            writes: &[Write::Record("KnownGoodCheckpoint")],
            owner: "DOC23_CORE",
            states: States {
                empty: "This run has produced nothing that could be kept.",
                blocked: "A step is changing an artifact now: the checkpoint waits for its end.",
                degraded: "A capability does not answer: the checkpoint records it as unhealthy.",
                error: "No checkpoint was made. The reason is shown; the same key makes one at most.",
            },
            ..Command::GENERAL
        }
    ),
    command!(
        "hard_call.resolve",
        "ResolveHardCall",
        ["validation.hard_call_resolved_without_dispatcher_receipt"],
        Command {
            does: "Answers a question that a run waits for.",
            needs: "The call is pending, deferred or escalated; an option is chosen or an answer given.",
            policy_checks: &["same_matter", "actor_is_a_person"],
            writes: &[Write::Record("HardCallResolutionReceipt")],
            owner: "DOC23_OER",
            states: States {
                empty: "No question waits for an answer.",
                blocked: "The call was aborted or answered by somebody else: that is shown.",
                degraded: "What the question is about can't be opened now; answering is possible, and the answer says so.",
                error: "The question is still open. The reason is shown; the same key answers once at most.",
            },
            ..Command::GENERAL
        }
    ),
    command!(
        "task.cancel",
        "CancelTask",
        ["validation.cancel_ignores_executed_side_effect"],
        Command {
            does: "Stops a run or a plan; what was done outside stays listed.",
            needs: "The run has not ended; what becomes of running steps, effects, candidates and records is said.",
            policy_checks: &["same_matter", "actor_may_cancel"],
            writes: &[Write::Record("TaskCancelProtocol"), Write::Record("TaskCancelReceipt")],
            owner: "DOC23_CORE",
            states: States {
                empty: "Nothing is running.",
                blocked: "There is nothing to cancel any more, or an effect outside is being carried out now: that is waited for, then the rest is cancelled.",
                degraded: "A module does not answer: it is stopped at its next step, and the receipt says so.",
                error: "Not everything was stopped: the receipt lists what was. The same key cancels once at most.",
            },
            ..Command::GENERAL
        }
    ),
    command!(
        "task.skip",
        "SkipStep",
        ["validation.skip_without_receipt"],
        Command {
            does: "Leaves out a step that has not started.",
            needs: "The step has not started; a reason is given.",
            policy_checks: &["same_matter", "actor_may_skip"],
            writes: &[Write::Record("TaskSkipReceipt")],
            owner: "DOC23_CORE",
            states: States {
                empty: "There is no step that could be skipped.",
                blocked: "The step is required by a policy: the policy is shown.",
                degraded: "Its dependents can't be told apart now: all that may depend on it are listed.",
                error: "The step was not skipped. The reason is shown; the same key skips once at most.",
            },
            ..Command::GENERAL
        }
    ),
    command!(
        "attention.dismiss_item",
        "DismissAttentionItem",
        [],
        Command {
            does: "Puts aside something that waits for a person.",
            needs: "The item is open and not of priority blocking.",
            policy_checks: &["same_matter", "not_blocking"],
            writes: &[Write::Transition("AttentionLedgerItem")],
            owner: "DOC22",
            states: States {
                empty: "Nothing needs attention.",
                blocked: "What blocks can't be dismissed: it must be answered.",
                degraded: "The source can't be opened now; the item stays open.",
                error: "The item is still open. The reason is shown; the same key dismisses once at most.",
            },
            ..Command::GENERAL
        }
    ),
    command!(
        "library.promote_source",
        "PromoteSource",
        ["validation.library_promotion_without_gate", "validation.privileged_source_auto_promoted"],
        Command {
            does: "Takes a source into the library, so that other runs may read it.",
            needs: "The candidate is queued; the gate is met; a person approves if the source is privileged.",
            policy_checks: &["same_matter", "library_gate", "approver_if_privileged"],
            writes: &[
                Write::Transition("LibraryPromotionCandidate"),
                Write::Record("LibraryPromotionReceipt")
            ],
            owner: "DOC23_SOURCE_WORKSPACE",
            states: States {
                empty: "No source waits to be promoted.",
                blocked: "The gate is not met: what is missing is listed.",
                degraded: "The library does not answer: the candidate stays queued.",
                error: "Nothing was promoted. The reason is shown; the same key promotes once at most.",
            },
            ..Command::GENERAL
        }
    ),
    command!(
        "hard_call.defer",
        "DeferHardCall",
        [],
        Command {
            does: "Puts a question off.",
            needs: "The call is pending.",
            policy_checks: &["same_matter", "actor_is_a_person"],
            writes: &[Write::Record("HardCallPendingEvent")],
            owner: "DOC23_OER",
            states: States {
                empty: "No question waits for an answer.",
                blocked: "The call was answered, put off or aborted already: that is shown.",
                degraded: "What the question is about can't be opened now; putting it off is possible, since nothing goes on then.",
                error: "The question is pending as before. The reason is shown; the same key puts it off once at most.",
            },
            ..Command::GENERAL
        }
    ),
    command!(
        "source.recheck",
        "RecheckSources",
        [],
        Command {
            does: "Compares the sources of a run with their files as they are now.",
            needs: "The files that the sources were taken from can be read.",
            policy_checks: &["same_matter"],
            writes: &[
                Write::Record("SourceWorkspaceOperationReceipt"),
                Write::Record("FindingLifecycleTransitionReceipt"),
            ],
            owner: "DOC23_SOURCE_WORKSPACE",
            states: States {
                empty: "This run has no sources.",
                blocked: "A source that the run does not have was named: those that it has are listed.",
                degraded: "Some files can't be read now: they count as gone, and what rests on them as out of date.",
                error: "Nothing was compared and every source stands as before. The reason is shown; the same key compares once at most.",
            },
            ..Command::GENERAL
        }
    ),
    command!(
        "reliance.review_packet",
        "ReviewReliancePacket",
        ["validation.reliance_packet_stale_snapshot"],
        Command {
            does: "Says that a person has read the packet.",
            needs: "The packet is ready_for_review.",
            policy_checks: &["same_matter", "reviewer_may_decide", "packet_not_stale"],
            writes: &[Write::Transition("TaskReliancePacket")],
            owner: "DOC23_CORE",
            states: States {
                empty: "No reliance packet waits for a review.",
                blocked: "The packet was reviewed, has fallen, or something that it rests on has changed: that is shown.",
                degraded: "A source can't be opened now; the packet can be read, and the review says what could not be seen.",
                error: "The packet is not reviewed. The reason is shown; the same key reviews once at most.",
            },
            ..Command::GENERAL
        }
    ),
    command!(
        "reliance.renew_packet",
        "RenewReliancePacket",
        [],
        Command {
            does: "Looks again at what has changed, and makes a new packet.",
            needs: "The last packet has fallen, or there is none; the work has a version that counts.",
            policy_checks: &["same_matter", "actor_may_renew"],
            writes: &[
                Write::Record("EvaluationChainResolutionReceipt"),
                Write::Transition("TaskReliancePacket")
            ],
            owner: "DOC23_CORE",
            states: States {
                empty: "There is no work that a packet could be about.",
                blocked: "The last packet still stands: it is shown.",
                degraded: "A check needs something that is not there now: the packet says so.",
                error: "There is no new packet. The reason is shown; the same key makes one at most.",
            },
            ..Command::GENERAL
        }
    ),
    command!(
        "reliance.archive_packet",
        "ArchiveReliancePacket",
        [],
        Command {
            does: "Puts a packet away.",
            needs: "The packet is issued, superseded or invalidated.",
            policy_checks: &["same_matter", "reviewer_may_decide"],
            writes: &[Write::Transition("TaskReliancePacket")],
            owner: "DOC23_CORE",
            states: States {
                empty: "There is no packet to put away.",
                blocked: "A packet that is still to be decided on can't be put away.",
                degraded: "The packet can't be opened now; it can be put away with its reference.",
                error: "The packet stands as before. The reason is shown; the same key puts it away once.",
            },
            ..Command::GENERAL
        }
    ),
    command!(
        "finding.withdraw_contest",
        "WithdrawContest",
        ["validation.lifecycle_transition_without_receipt"],
        Command {
            does: "Takes a dispute of a finding back.",
            needs: "The finding is contested; who contested it takes that back.",
            policy_checks: &["same_matter", "actor_is_a_person"],
            writes: &[Write::Record("FindingLifecycleTransitionReceipt")],
            owner: "DOC23_COMMON",
            states: States {
                empty: "No finding is contested.",
                blocked: "Somebody else contested it: they can take it back, others can confirm or reject it.",
                degraded: "The evidence can't be opened now; taking it back is possible, and the finding is live as before.",
                error: "The finding is contested as before. The reason is shown; the same key takes it back once at most.",
            },
            ..Command::GENERAL
        }
    ),
    command!(
        "finding.reject",
        "RejectFinding",
        [
            "validation.task_agent_substantive_decision_forbidden",
            "validation.lifecycle_transition_without_receipt"
        ],
        Command {
            does: "Says that a finding is none.",
            needs: "The finding is proposed, active or contested; grounds are given.",
            policy_checks: &["same_matter", "reviewer_may_decide"],
            writes: &[Write::Record("FindingLifecycleTransitionReceipt")],
            owner: "DOC23_COMMON",
            states: States {
                empty: "There are no findings in this matter.",
                blocked: "A finding that somebody verified can't be rejected: it is contested first.",
                degraded: "The evidence can't be opened now: rejecting waits, because nobody should reject what can't be seen.",
                error: "The finding stands as before. The reason is shown; the same key rejects once at most.",
            },
            ..Command::GENERAL
        }
    ),
];
