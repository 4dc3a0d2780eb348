//! What each command is asked with.
//! Owns: the members of requests, which command has which. Must not: judge what is asked.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_govern::record;
use countersign_govern::types::basic::StorageRef;
use countersign_govern::types::hard_call::{TaskCancelProtocolCancelScope, TaskSkipReceiptReason};
use countersign_govern::types::reliance::RelianceInvalidationEventInvalidationKind;
use countersign_govern::types::replay::TaskReplayMode;
use countersign_govern::types::wire::{Reading, Trouble, Wire};
use countersign_record::json::Json;

/// Declares commands: what each is called, its word here, its request with the members; and the enum of those that stand apart.
macro_rules! commands {
    ($(#[doc = $about:literal])* $name:ident $(apart from $apart:ident)?;
    $($id:literal $variant:ident $(#[doc = $doc:literal])* $request:ident { $($member:ident: $type:ty),* $(,)? })*) => {
        $(record! { $(#[doc = $doc])* $request: value { $($member: $type),* } })*

        $(#[doc = $about])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[doc = $doc])* $variant($request),)*
            $(/// One that stands apart.
            $apart($apart),)?
        }

        impl $name {
            /// What all are called, with the schema of what each is asked with.
            #[must_use]
            pub fn all() -> Vec<(&'static str, fn() -> Json)> {
                let own: &[(&'static str, fn() -> Json)] = &[$(($id, $request::schema)),*];
                let all = own.iter().copied();
                $(let all = all.chain($apart::all());)?
                all.collect()
            }

            /// Reads what is asked of a command; `None` if there is no such command.
            ///
            /// # Errors
            /// What is wrong with the request, by place.
            pub fn read(id: &str, request: &Json) -> Option<Result<Self, Vec<Trouble>>> {
                $(if let Some(read) = $apart::read(id, request) {
                    return Some(read.map($name::$apart));
                })?
                match id {
                    $($id => Some(read(request).map($name::$variant)),)*
                    _unknown => None,
                }
            }

            /// What it is called.
            #[must_use]
            pub fn id(&self) -> &'static str {
                match self {
                    $($name::$variant(_) => $id,)*
                    $($name::$apart(one) => one.id(),)?
                }
            }
        }
    };
}

fn read<T: Wire>(request: &Json) -> Result<T, Vec<Trouble>> {
    let mut reading = Reading::default();
    let read = T::read(request, &mut reading);
    let troubles = reading.troubles();
    match read {
        Some(read) if troubles.is_empty() => Ok(read),
        Some(_) | None => Err(troubles),
    }
}

commands! {
    /// A command, with what is asked.
    Command apart from Besides;

    "reliance.issue_work_product_certification" Issue
    /// Which packet is issued; the last one where none is named.
    IssueWorkProductCertificationRequest { packet_id: Option<String> }

    "reliance.invalidate_packet" Invalidate
    /// Which packet falls, how, and what makes it.
    InvalidateReliancePacketRequest {
        packet_id: Option<String>,
        invalidation_kind: RelianceInvalidationEventInvalidationKind,
        triggering_ref: StorageRef,
    }

    "revision_review.accept_candidate" Accept
    /// Which review is decided; the one that waits where none is named.
    AcceptCandidateRequest { packet_id: Option<String>, rationale: Option<String> }

    "revision_review.reject_candidate" Reject
    /// Which review is decided; the one that waits where none is named.
    RejectCandidateRequest { packet_id: Option<String>, rationale: Option<String> }

    "revision_review.request_changes" RequestChanges
    /// Which review is decided, and what is to change.
    RequestChangesRequest { packet_id: Option<String>, rationale: String }

    "revision_review.restore_known_good" Restore
    /// Which review is decided, and the checkpoint that is gone back to; the last one where none is named.
    RestoreKnownGoodRequest { packet_id: Option<String>, checkpoint_id: Option<String>, rationale: String }

    "evidence.export_package" Export
    /// Where to the evidence goes, which sources go along (all, if nothing is said), and whether a person lets it.
    ExportEvidencePackageRequest { destination: String, sources: Option<Vec<String>>, confirmed: Option<bool> }

    "finding.contest" Contest
    /// Which finding is disputed, and why.
    ContestFindingRequest { finding_id: String, grounds: String, evidence_refs: Option<Vec<StorageRef>> }

    "finding.confirm" Confirm
    /// Which finding is stood by, and what a reviewer saw.
    ConfirmFindingRequest { finding_id: String, evidence_refs: Option<Vec<StorageRef>> }

    "task_replay.preview" Preview
    /// How the run would be replayed.
    ReplayPreviewRequest { replay_mode: TaskReplayMode }

    "task_replay.create_fork" Fork
    /// From which checkpoint, and why; from the last one where none is named.
    CreateForkRequest { checkpoint_id: Option<String>, reason: String }

    "attention.resolve_item" Attend
    /// What was dealt with.
    ResolveAttentionItemRequest { item_id: String, note: Option<String> }

    "contract_review.approve" Approve
    /// What is agreed to; the last contract where none is named.
    ApproveContractReviewRequest { review_id: Option<String> }

    "contract_review.reject" Refuse
    /// What is refused, and why.
    RejectContractReviewRequest { review_id: Option<String>, reason: String }

    "contract_review.edit" Edit
    /// What is asked instead, as a whole task.
    EditContractReviewRequest { review_id: Option<String>, task: Json }

    "revision_review.fork_candidate" ForkCandidate
    /// Which review is decided, and from which checkpoint the other run begins.
    ForkCandidateRequest { packet_id: Option<String>, checkpoint_id: Option<String>, rationale: String }

    "checkpoint.create" Keep
    /// What the checkpoint is called by people.
    CreateCheckpointRequest { label: Option<String> }

    "hard_call.resolve" Answer
    /// Which question, and the option that is taken.
    ResolveHardCallRequest { hard_call_id: String, option_id: String }

    "hard_call.defer" Defer
    /// Which question is put off.
    DeferHardCallRequest { hard_call_id: String }

    "task.cancel" Cancel
    /// What is stopped: the whole run where nothing is said.
    CancelTaskRequest {
        cancel_scope: Option<TaskCancelProtocolCancelScope>,
        target_refs: Option<Vec<StorageRef>>,
    }

    "task.skip" Skip
    /// Which step is left out, and why.
    SkipStepRequest { target_ref: StorageRef, reason: TaskSkipReceiptReason }

    "attention.dismiss_item" Dismiss
    /// What is put aside.
    DismissAttentionItemRequest { item_id: String, note: Option<String> }

    "library.promote_source" Promote
    /// Which source, as the task calls it.
    PromoteSourceRequest { source: String }

    "source.recheck" Recheck
    /// What the files of sources are now: their SHA-256 by the task's names for them, and those that are gone.
    RecheckSourcesRequest { found: BTreeMap<String, String>, gone: Option<Vec<String>> }

    "reliance.review_packet" Review
    /// Which packet was read; the last one where none is named.
    ReviewReliancePacketRequest { packet_id: Option<String>, note: Option<String> }

    "reliance.renew_packet" Renew
    /// Nothing besides the run.
    RenewReliancePacketRequest { }

    "reliance.archive_packet" Archive
    /// Which packet is put away; the last one where none is named.
    ArchiveReliancePacketRequest { packet_id: Option<String> }

    "finding.withdraw_contest" Withdraw
    /// Which finding is not disputed any more.
    WithdrawContestRequest { finding_id: String }

    "finding.reject" RejectFinding
    /// Which finding is none, and why.
    RejectFindingRequest { finding_id: String, grounds: String }
}

commands! {
    /// A command about what goes along with the work: its board, guidance, measures and sources.
    Besides;

    "run_board.comment" Comment
    /// What is said.
    CommentOnBoardRequest { text: String }

    "run_board.retract_post" Retract
    /// Which post is taken off, and why.
    RetractPostRequest { post_id: String, reason: String }

    "run_board.digest" Digest
    /// Nothing besides the run.
    DigestBoardRequest { }

    "run_guidance.contest" ContestGuidance
    /// Which guidance is disputed, and why.
    ContestGuidanceRequest { guidance_id: String, grounds: String }

    "run_guidance.settle_contest" SettleGuidance
    /// Which dispute ends, and whether it was right: then the guidance never counts again.
    SettleGuidanceRequest { guidance_id: String, upheld: bool }

    "metric.withdraw_observation" WithdrawObservation
    /// Which measurement does not count, and why.
    WithdrawObservationRequest { observation_id: String, reason: String }

    "research.answer_need" AnswerNeed
    /// Which question, and the source that answers it, as the task calls it.
    AnswerNeedRequest { need_id: String, source: String }

    "source.clear" Clear
    /// Which source, as the task calls it.
    ClearSourceRequest { source: String }

    "source.move_tier" MoveTier
    /// Which source, as the task calls it, and the tier that it is of.
    MoveTierRequest { source: String, tier: u64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_govern::table::commands;
    use countersign_record::json::Object;

    #[test]
    fn every_registered_command_has_a_request_of_its_name() {
        for command in commands::all() {
            let (_, schema) =
                Command::all().into_iter().find(|(id, _)| *id == command.id).unwrap_or_else(|| {
                    panic!("{} has no request", command.id);
                });
            assert_eq!(schema().get("title").and_then(Json::as_str), Some(command.request));
        }
        assert_eq!(commands::all().count(), Command::all().len());
    }

    #[test]
    fn what_does_not_fit_is_told_by_place() {
        let request = Object::from([("finding_id", Json::from("f")), ("groundz", "x".into())]);
        let troubles = Command::read("finding.contest", &request.into()).unwrap().unwrap_err();
        let paths: Vec<&str> = troubles.iter().map(|one| one.path.as_str()).collect();
        assert_eq!(paths, ["/groundz", "/grounds"]);
        assert_eq!(Command::read("finding.forget", &Object::new().into()), None);
    }
}
