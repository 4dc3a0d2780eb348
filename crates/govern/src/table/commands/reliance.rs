//! The twelve commands of the reliance layer.
//! Owns: their entries, in the order of the contract. Must not: carry one out.

use super::{Command, DurableWrite, States, Write};

/// The twelve commands of the reliance layer.
pub const RELIANCE: &[Command] = &[
    command!(
        "reliance.issue_work_product_certification",
        "IssueWorkProductCertification",
        [
            "validation.reliance_status_not_derivable",
            "validation.reliance_packet_stale_snapshot",
            "validation.work_product_certification_without_reliance_packet"
        ],
        Command {
            does: "Issues a reviewed packet: its certification is rendered and counts from then on.",
            needs: "The packet is user_reviewed, its status is derivable, not stale, and safe or with limitations.",
            policy_checks: &["same_matter", "reviewer_may_issue", "packet_not_stale"],
            writes: &[Write::Transition("TaskReliancePacket"), Write::Transition("WorkProductCertification")],
            owner: "DOC23_CORE",
            states: States {
                empty: "No reliance packet of this run has been reviewed yet; there is nothing to issue.",
                blocked: "The status of the packet does not allow it, or something that it rests on has changed: the reasons are listed, and nothing is issued.",
                degraded: "A source or a receipt can't be read now: the packet is shown as it was derived, and issuing waits until it can be checked again.",
                error: "Nothing was issued. The reason is shown; trying again with the same key issues once at most.",
            },
            ..Command::RELIANCE
        }
    ),
    command!(
        "reliance.invalidate_packet",
        "InvalidateReliancePacket",
        [],
        Command {
            does: "Takes a packet back, and the certifications of it.",
            needs: "The packet is not archived; the kind of invalidation and what triggered it are named.",
            policy_checks: &["same_matter", "actor_may_invalidate"],
            writes: &[
                Write::Record("RelianceInvalidationEvent"),
                Write::Transition("WorkProductCertification")
            ],
            owner: "DOC23_CORE",
            states: States {
                empty: "There is no packet to take back.",
                blocked: "An archived packet stays as it is; the newer packet is named.",
                degraded: "What triggered it can't be shown now; the packet can still be taken back with its reference.",
                error: "The packet stands as before. The reason is shown; trying again with the same key takes it back once.",
            },
            ..Command::RELIANCE
        }
    ),
    command!(
        "revision_review.accept_candidate",
        "AcceptCandidate",
        ["validation.review_decision_without_receipt"],
        Command {
            does: "Takes a candidate as the version that counts.",
            needs: "The packet is review_pending and the version before is still the head.",
            policy_checks: &["same_matter", "reviewer_may_decide", "head_unchanged"],
            writes: &[
                Write::Record("RevisionReviewDecisionReceipt"),
                Write::Record("ArtifactVersionTransitionEvent"),
            ],
            owner: "DOC23_OER",
            states: States {
                empty: "No revision waits for a review.",
                blocked: "The artifact has another head than the one that was compared: the difference must be made anew first.",
                degraded: "The difference can't be shown in full; the texts before and after are offered instead, and accepting says so.",
                error: "The candidate was not accepted and the head is unchanged. The reason is shown; the same key accepts once at most.",
            },
            ..Command::RELIANCE
        }
    ),
    command!(
        "revision_review.reject_candidate",
        "RejectCandidate",
        ["validation.review_decision_without_receipt"],
        Command {
            does: "Refuses a candidate; the version before stays.",
            needs: "The packet is review_pending.",
            policy_checks: &["same_matter", "reviewer_may_decide"],
            writes: &[Write::Record("RevisionReviewDecisionReceipt")],
            owner: "DOC23_OER",
            states: States {
                empty: "No revision waits for a review.",
                blocked: "Somebody has decided already: the decision is shown and can't be made twice.",
                degraded: "The difference can't be shown in full; rejecting is possible, since it changes no head.",
                error: "The candidate is still pending. The reason is shown; the same key rejects once at most.",
            },
            ..Command::RELIANCE
        }
    ),
    command!(
        "revision_review.request_changes",
        "RequestChanges",
        ["validation.review_decision_without_receipt"],
        Command {
            does: "Sends a candidate back with what is to change.",
            needs: "The packet is review_pending; a rationale is given.",
            policy_checks: &["same_matter", "reviewer_may_decide"],
            writes: &[Write::Record("RevisionReviewDecisionReceipt")],
            owner: "DOC23_OER",
            states: States {
                empty: "No revision waits for a review.",
                blocked: "Without a rationale nobody could plan the change: it is asked for first.",
                degraded: "No planner is there now; the wish is kept and planned when one is.",
                error: "Nothing was asked for. The reason is shown; the same key asks once at most.",
            },
            ..Command::RELIANCE
        }
    ),
    command!(
        "revision_review.restore_known_good",
        "RestoreKnownGood",
        [
            "validation.known_good_checkpoint_missing_policy_snapshot",
            "validation.known_good_checkpoint_missing_capability_snapshot",
            "validation.restore_checkpoint_ignores_irreversible_side_effects"
        ],
        Command {
            does: "Goes back to the versions of a checkpoint.",
            needs: "The checkpoint has a policy and a capability snapshot; every irreversible effect that was carried out is listed.",
            policy_checks: &[
                "same_matter",
                "reviewer_may_decide",
                "checkpoint_complete",
                "irreversible_effects_listed",
            ],
            writes: &[
                Write::Record("RevisionReviewDecisionReceipt"),
                Write::Record("ArtifactVersionTransitionEvent"),
            ],
            owner: "DOC23_OER",
            states: States {
                empty: "This run has no checkpoint to go back to.",
                blocked: "The checkpoint lacks a snapshot, or effects that can't be undone are not listed: they are named.",
                degraded: "A capability of the checkpoint is not there now: what would differ is shown before anything is restored.",
                error: "Nothing was restored and all heads are unchanged. The reason is shown; the same key restores once at most.",
            },
            ..Command::RELIANCE
        }
    ),
    command!(
        "evidence.export_package",
        "ExportEvidencePackage",
        [
            "validation.workspace_externalization_without_policy",
            "validation.privileged_workspace_export_without_confirmation"
        ],
        Command {
            does: "Writes the evidence of a run to where it leaves the system.",
            needs: "A policy allows export_bundle; with privileged sources there is a confirmation and a preview of what is left out.",
            policy_checks: &[
                "externalization_policy",
                "data_class_allowed",
                "taint_allowed",
                "confirmation_if_privileged",
            ],
            writes: &[Write::Record("WorkspaceExternalizationReceipt")],
            owner: "DOC23_SOURCE_WORKSPACE",
            states: States {
                empty: "No evidence package has been made for this run.",
                blocked: "The policy forbids this destination or this class of data: the policy and the reason are shown.",
                degraded: "Some sources can't be read now: the package lists them as missing, and the export says so.",
                error: "Nothing left the system, unless the receipt says that a part did. The reason is shown; the same key exports once at most.",
            },
            ..Command::RELIANCE
        }
    ),
    command!(
        "finding.contest",
        "ContestFinding",
        ["validation.lifecycle_transition_without_receipt"],
        Command {
            does: "Disputes a finding.",
            needs: "The finding is active or verified, in the same matter.",
            policy_checks: &["same_matter", "actor_may_contest"],
            writes: &[Write::Record("FindingLifecycleTransitionReceipt")],
            owner: "DOC23_COMMON",
            states: States {
                empty: "There are no findings in this matter.",
                blocked: "A closed finding can't be contested; what closed it is shown.",
                degraded: "The evidence can't be opened now; contesting is possible, and the finding stays live until it is settled.",
                error: "The finding stands as before. The reason is shown; the same key contests once at most.",
            },
            ..Command::RELIANCE
        }
    ),
    command!(
        "finding.confirm",
        "ConfirmFinding",
        [
            "validation.task_agent_substantive_decision_forbidden",
            "validation.lifecycle_transition_without_receipt"
        ],
        Command {
            does: "Stands by a finding, as a user or as a reviewer.",
            needs: "The finding is active or contested; whoever confirms is not the Task Agent.",
            policy_checks: &["same_matter", "actor_is_a_person"],
            writes: &[Write::Record("FindingLifecycleTransitionReceipt")],
            owner: "DOC23_COMMON",
            states: States {
                empty: "There are no findings in this matter.",
                blocked: "Only a person may confirm: an agent is told so and may recommend.",
                degraded: "The evidence can't be opened now: confirming waits, because nobody should confirm what can't be seen.",
                error: "The finding stands as before. The reason is shown; the same key confirms once at most.",
            },
            ..Command::RELIANCE
        }
    ),
    command!(
        "task_replay.preview",
        "ReplayPreview",
        ["validation.deterministic_replay_with_nondeterministic_step"],
        Command {
            does: "Says what a replay of a run would do with each of its steps.",
            needs: "The run exists and the mode fits its steps.",
            durable_write: DurableWrite::ExplicitNoOp,
            policy_checks: &["same_matter"],
            writes: &[],
            owner: "DOC23_CORE",
            states: States {
                empty: "This run has no steps that could be replayed.",
                blocked: "The mode does not fit the steps: those that depend on a model, a tool or the web are named.",
                degraded: "Recorded outputs of some steps are missing: they are marked as not replayable.",
                error: "There is no preview. The reason is shown; nothing was run and nothing was written.",
            },
            ..Command::RELIANCE
        }
    ),
    command!(
        "task_replay.create_fork",
        "CreateFork",
        ["validation.restore_checkpoint_ignores_irreversible_side_effects"],
        Command {
            does: "Begins a new run from a checkpoint of this one.",
            needs: "The checkpoint is complete; every irreversible effect that was carried out is listed.",
            policy_checks: &["same_matter", "checkpoint_complete", "irreversible_effects_listed"],
            writes: &[Write::Record("TaskRunFork")],
            owner: "DOC23_CORE",
            states: States {
                empty: "This run has no checkpoint to fork from.",
                blocked: "The checkpoint lacks a snapshot, or effects that can't be undone are not listed: they are named.",
                degraded: "A capability of the checkpoint is not there now: what would differ is shown before the fork.",
                error: "No fork was made and the parent run is unchanged. The reason is shown; the same key forks once at most.",
            },
            ..Command::RELIANCE
        }
    ),
    command!(
        "attention.resolve_item",
        "ResolveAttentionItem",
        [],
        Command {
            does: "Closes something that waited for a person and was dealt with.",
            needs: "The item is open; for a hard call, an approval or a research need its source is closed.",
            policy_checks: &["same_matter", "source_closed"],
            writes: &[Write::Transition("AttentionLedgerItem")],
            owner: "DOC22",
            states: States {
                empty: "Nothing needs attention.",
                blocked: "What asks for attention is still open: it must be answered, it can't be ticked off.",
                degraded: "The source can't be opened now; the item stays open.",
                error: "The item is still open. The reason is shown; the same key resolves once at most.",
            },
            ..Command::RELIANCE
        }
    ),
];
