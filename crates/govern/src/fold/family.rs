//! Which things have states, which rows move them, and which rows belong to which projection.
//! Owns: the tables of that. Must not: know the machines beyond what their tables allow.

use crate::machine::{self, Machine, Transition};
use crate::member::Member;
use countersign_record::json::Json;

/// A kind of things with states.
pub struct Family {
    /// The name of the type whose records have the state.
    pub kind: &'static str,
    /// The same in snake case, as references write it.
    pub snake: &'static str,
    /// The member that says the state.
    pub member: &'static str,
    /// What may follow on what.
    pub machine: &'static Machine,
    movers: &'static [Mover],
    general: General,
}

/// Whether the receipt for things that have none of their own moves one.
enum General {
    /// It does, but not into these states: only rows of its own lead there.
    MovesBut(&'static [&'static str]),
    DoesNot,
}

/// A type of rows that move something.
struct Mover {
    kind: &'static str,
    /// The member that says what is moved.
    subject: &'static str,
    to: To,
    /// The member that says why, in the words of the machine's table, if the contract has such words.
    word: Option<&'static str>,
}

/// How a row says where it leads.
enum To {
    /// By `from_state` and `to_state`.
    Stated,
    /// Always there.
    Only(&'static str),
    /// As a member says, by the words of that member and of the states.
    Said(&'static str, &'static [(&'static str, &'static str)]),
}

/// A move that a row tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move<'r> {
    /// Where from; `None` if the row does not say.
    pub from: Option<&'r str>,
    /// Where to.
    pub to: &'r str,
    /// What it rests on.
    pub by: By<'r>,
}

/// What a move rests on, besides the states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By<'r> {
    /// Nothing more: the table has the pair.
    Pair,
    /// The reason or action that the table names for it.
    Word(&'r str),
}

impl By<'_> {
    fn fits(self, way: &Transition) -> bool {
        match self {
            By::Pair => true,
            By::Word(word) => way.by.split([' ', '(', ')']).any(|one| one == word),
        }
    }
}

/// The receipt for things that have none of their own.
pub const GENERAL: &str = "LifecycleTransitionReceipt";

impl Family {
    /// What a row moves, and how.
    #[must_use]
    pub fn read<'r>(&self, kind: &str, json: &'r Json) -> Option<(&'r str, Move<'r>)> {
        if let Some(mover) = self.movers.iter().find(|mover| mover.kind == kind) {
            // A reason that is not there is none that the table names.
            let by = mover.word.map_or(By::Pair, |member| By::Word(json.text(member).unwrap_or_default()));
            return Some((json.id_at(mover.subject)?, mover.to.read(json, by)?));
        }
        let own = match self.general {
            General::MovesBut(own) if kind == GENERAL => own,
            General::MovesBut(_) | General::DoesNot => return None,
        };
        let subject = json.reference("subject_ref").filter(|subject| subject.kind == self.snake)?;
        let step = To::Stated.read(json, By::Pair).filter(|step| !own.contains(&step.to))?;
        Some((subject.id, step))
    }

    /// Whether the table has a way for a move from where the thing is.
    #[must_use]
    pub fn has_way(&self, at: &str, step: &Move<'_>) -> bool {
        let is_from_here = step.from.is_none_or(|from| from == at);
        is_from_here && self.machine.ways(at, step.to).any(|way| step.by.fits(way))
    }

    /// The types of rows that move its things.
    pub fn moved_by(&self) -> impl Iterator<Item = &'static str> {
        let general = match self.general {
            General::MovesBut(_) => Some(GENERAL),
            General::DoesNot => None,
        };
        self.movers.iter().map(|mover| mover.kind).chain(general)
    }
}

impl To {
    fn read<'r>(&self, json: &'r Json, by: By<'r>) -> Option<Move<'r>> {
        match self {
            To::Stated => Some(Move { from: Some(json.text("from_state")?), to: json.text("to_state")?, by }),
            To::Only(state) => Some(Move { from: None, to: state, by }),
            To::Said(member, words) => {
                let said = json.text(member)?;
                let (_, state) = words.iter().find(|(word, _)| *word == said)?;
                Some(Move { from: None, to: state, by })
            }
        }
    }
}

const fn mover(kind: &'static str, subject: &'static str, to: To) -> Mover {
    Mover { kind, subject, to, word: None }
}

/// One that says why.
const fn reasoned(kind: &'static str, subject: &'static str, to: To, word: &'static str) -> Mover {
    Mover { kind, subject, to, word: Some(word) }
}

/// One whose own rows and the general receipt move it.
const fn family(
    kind: &'static str,
    snake: &'static str,
    member: &'static str,
    machine: &'static Machine,
    movers: &'static [Mover],
) -> Family {
    Family { kind, snake, member, machine, movers, general: General::MovesBut(&[]) }
}

impl Family {
    /// Into these states only its own rows lead.
    const fn only(self, own: &'static [&'static str]) -> Self {
        Family { general: General::MovesBut(own), ..self }
    }
}

/// One that only its own rows move.
const fn own(
    kind: &'static str,
    snake: &'static str,
    member: &'static str,
    machine: &'static Machine,
    movers: &'static [Mover],
) -> Family {
    Family { kind, snake, member, machine, movers, general: General::DoesNot }
}

/// The state that an answer of the library leads to.
const PROMOTED: &[(&str, &str)] =
    &[("promoted", "promoted"), ("blocked_by_policy", "rejected"), ("rejected", "rejected")];
const ENDED: &[(&str, &str)] = &[
    ("quiescent", "quiescent"),
    ("cycle_detected", "cycle_detected"),
    ("max_depth_exceeded", "max_depth_exceeded"),
    ("aborted", "aborted"),
];
/// The state that an action of a reviewer leads to.
pub const REVIEWED: &[(&str, &str)] = &[
    ("accept", "accepted"),
    ("no_user_review_required", "accepted"),
    ("reject", "rejected"),
    ("fork", "forked"),
    ("request_changes", "changes_requested"),
    ("restore_known_good_state", "restored_known_good"),
];
/// The states that they lead to.
const DECIDED: &[&str] = &["accepted", "rejected", "forked", "changes_requested", "restored_known_good"];
#[rustfmt::skip] // one to a line
mod all {
    use super::*;

    /// A finding.
    pub const FINDING: Family = own("EvaluationFindingRecord", "evaluation_finding_record", "current_state", &machine::FINDING, &[reasoned("FindingLifecycleTransitionReceipt", "finding_id", To::Stated, "transition_reason")]);
    /// A question to be answered from sources.
    pub const NEED: Family = family("ResearchNeed", "research_need", "status", &machine::RESEARCH_NEED, &[mover("ResearchNeedLease", "need_id", To::Only("leased"))]).only(&["leased"]);
    /// A wish to put a source into the library.
    pub const CANDIDATE: Family = family("LibraryPromotionCandidate", "library_promotion_candidate", "status", &machine::LIBRARY, &[mover("LibraryPromotionReceipt", "candidate_id", To::Said("status", PROMOTED))]).only(&["promoted"]);
    /// Something that waits for a person.
    pub const ATTENTION: Family = family("AttentionLedgerItem", "attention_ledger_item", "lifecycle_state", &machine::ATTENTION, &[]);
    /// A reliance packet.
    pub const PACKET: Family = family("TaskReliancePacket", "task_reliance_packet", "lifecycle_state", &machine::RELIANCE, &[mover("RelianceInvalidationEvent", "packet_id", To::Only("invalidated"))]).only(&["invalidated"]);
    /// A certification of a work product.
    pub const CERTIFICATION: Family = family("WorkProductCertification", "work_product_certification", "lifecycle_state", &machine::RELIANCE, &[]);
    /// Whether a contract was approved.
    pub const APPROVAL: Family = family("EvaluationContractReview", "evaluation_contract_review", "approval_status", &machine::CONTRACT_REVIEW, &[]);
    /// The review of a contract, as something to rely on.
    pub const CONTRACT: Family = family("EvaluationContractReview", "evaluation_contract_review", "lifecycle_state", &machine::RELIANCE, &[]);
    /// A chain of evaluations.
    pub const CHAIN: Family = family("EvaluationChainRegistryRecord", "evaluation_chain_registry_record", "status", &machine::CHAIN, &[]).only(&["partial", "complete"]);
    /// An outcome.
    pub const OUTCOME: Family = family("OutcomeRecord", "outcome_record", "state", &machine::OUTCOME, &[mover("OutcomeStateTransitionEvent", "outcome_id", To::Stated)]);
    /// A cascade of revalidations.
    pub const CASCADE: Family = family("RevalidationCascadeRun", "revalidation_cascade_run", "status", &machine::CASCADE, &[mover("RevalidationCascadeReceipt", "cascade_run_id", To::Said("status", ENDED))]);
    /// A post on the board of a run.
    pub const POST: Family = family("RunBoardVisiblePost", "run_board_visible_post", "lifecycle_state", &machine::POST, &[]);
    /// Guidance for a run.
    pub const GUIDANCE: Family = own("RunGuidanceItemCurrent", "run_guidance_item_current", "lifecycle_state", &machine::GUIDANCE, &[mover("RunGuidanceLifecycleReceipt", "guidance_id", To::Stated)]);
    /// A packet for the review of a revision.
    pub const REVIEW: Family = family("RevisionReviewPacket", "revision_review_packet", "state", &machine::REVIEW_PACKET, &[reasoned("RevisionReviewDecisionReceipt", "packet_id", To::Said("action", REVIEWED), "action")]).only(DECIDED);
    /// A revision plan.
    pub const PLAN: Family = own("RevisionPlan", "revision_plan", "state", &machine::REVISION, &[reasoned("RevisionLifecycleTransitionEvent", "plan_id", To::Stated, "triggered_by_receipt_kind")]);
    /// A question to a person.
    pub const CALL: Family = own("HardRevisionCall", "hard_revision_call", "state", &machine::HARD_CALL, &[mover("HardCallResolutionReceipt", "hard_call_id", To::Only("resolved"))]);
    /// Who owns a type.
    pub const OWNER: Family = family("TypeOwnerRegistryEntry", "type_owner_registry_entry", "status", &machine::TYPE_OWNER, &[]);
}
pub use all::*;

/// All of them, those that the general code speaks of first.
pub static FAMILIES: &[&Family] = &[
    &FINDING,
    &NEED,
    &CANDIDATE,
    &ATTENTION,
    &PACKET,
    &CERTIFICATION,
    &APPROVAL,
    &CONTRACT,
    &CHAIN,
    &OUTCOME,
    &CASCADE,
    &POST,
    &GUIDANCE,
    &REVIEW,
    &PLAN,
    &CALL,
    &OWNER,
];

/// Those that the general code speaks of: guidance, review packets, revision plans and source tiers have codes of their own, and
/// who owns a type is a policy.
pub static RECEIPTED: &[&Family] = FAMILIES.split_at(12).0;

/// A type of rows, the member that says what they are about, and the projection of that in snake case.
#[rustfmt::skip] // one to a line
pub static STREAMS: [(&str, &str, &str); 13] = [
    ("EvaluationFindingEvent", "finding_id", "evaluation_finding_record"),
    ("FindingLifecycleTransitionReceipt", "finding_id", "evaluation_finding_record"),
    ("RunGuidanceCreationEvent", "guidance_id", "run_guidance_item_current"),
    ("RunGuidanceLifecycleReceipt", "guidance_id", "run_guidance_item_current"),
    ("SourceWorkspaceOperationReceipt", "workspace_id", "source_workspace_current_state"),
    ("RevisionReviewDecisionReceipt", "packet_id", "revision_review_packet"),
    ("RelianceInvalidationEvent", "packet_id", "task_reliance_packet"),
    ("OutcomeStateTransitionEvent", "outcome_id", "outcome_record"),
    ("RevalidationCascadeReceipt", "cascade_run_id", "revalidation_cascade_run"),
    ("SourceTierTransitionReceipt", "source_id", "source_record"),
    ("ResearchNeedLease", "need_id", "research_need"),
    ("LibraryPromotionReceipt", "candidate_id", "library_promotion_candidate"),
    ("EvaluationResultEnvelope", "target_evaluation_chain_id", "evaluation_chain_registry_record"),
];

/// The projection that a row belongs to: its kind in snake case and its id. What was asked for and not done changes none.
#[must_use]
pub fn stream_of<'r>(kind: &str, json: &'r Json) -> Option<(&'r str, &'r str)> {
    if kind == GENERAL {
        return json.reference("subject_ref").map(|subject| (subject.kind, subject.id));
    }
    let (_, member, projection) = STREAMS.iter().find(|(event, _, _)| *event == kind)?;
    let is_done = kind != "SourceWorkspaceOperationReceipt" || json.is("status", "applied");
    json.id_at(member).filter(|_| is_done).map(|id| (*projection, id))
}
