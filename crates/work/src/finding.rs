//! Findings: what is wrong with the work, raised once and never changed, and how each stands.
//! Owns: their events and moves. Must not: decide what an evaluation comes to.

mod dispute;

pub use dispute::{confirm, contest, contested_by, reject, withdraw};

use crate::desk::{Desk, Error, From, reference};
use crate::evaluate::Round;
use crate::names::{EVALUATOR, ROUTER};
use crate::workspace;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::derive::text;
use countersign_govern::types::added::sourcing::DerivationEdge;
use countersign_govern::types::basic::{
    AssuranceBasis, ClaimRef, ConfidenceBasis, FailureKind, FindingKind, PolicyEvaluationRef, ProducerKind,
    Severity, StorageRef, V10, V20,
};
use countersign_govern::types::finding::{
    BlockingAuthorityBasis, BlockingAuthorityEvaluation, EvaluationFindingEvent,
    EvaluationFindingEventEmittedState as Emitted, FindingLifecycleTransitionReceipt,
    FindingLifecycleTransitionReceiptTransitionReason as Reason, FindingMatchKey, FindingState as State,
    PositiveEvaluationObservation, SubjectiveBlockingPermission,
};
use countersign_govern::types::wire::OrNull;
use countersign_record::canonical;
use countersign_record::json::{Json, Number, Object};

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// What it is about.
    pub kind: FindingKind,
    /// How it failed.
    pub failure: FailureKind,
    /// How bad it is.
    pub severity: Severity,
    /// What it rests on.
    pub basis: AssuranceBasis,
    /// The criterion, as the task calls it.
    pub criterion: String,
    /// What is wrong, in a sentence without words of the work.
    pub text: String,
    /// Why, with what is missing.
    pub explanation: String,
    /// The claims that it is about.
    pub claims: Vec<ClaimRef>,
    /// Where it can be looked up.
    pub evidence: Vec<StorageRef>,
}

/// A finding, and how it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// What was found.
    pub event: EvaluationFindingEvent,
    /// How it stands now.
    pub state: State,
}

/// All findings of the run, in the order in which they were raised first; of each the last event.
#[must_use]
pub fn all(desk: &Desk) -> Vec<Known> {
    let state = |id: &str| desk.says("evaluation_finding_record", id, "current_state").and_then(State::find);
    let (mut all, mut at): (Vec<Known>, BTreeMap<String, usize>) = (Vec::new(), BTreeMap::new());
    for event in desk.all::<EvaluationFindingEvent>() {
        let Some(state) = state(&event.finding_id) else { continue };
        let known = at.get(&event.finding_id).and_then(|at| all.get_mut(*at));
        match known {
            Some(known) => known.event = event,
            None => {
                at.insert(event.finding_id.clone(), all.len());
                all.push(Known { event, state });
            }
        }
    }
    all
}

/// A finding, and how it stands.
#[must_use]
pub fn find(desk: &Desk, id: &str) -> Option<Known> {
    all(desk).into_iter().find(|one| one.event.finding_id == id)
}

/// Whether a finding of this state still says something against the work.
#[must_use]
pub fn is_live(state: State) -> bool {
    match state {
        State::Active
        | State::Contested
        | State::UserApproved
        | State::ToolVerified
        | State::HumanVerified
        | State::Unrecoverable => true,
        State::Proposed
        | State::Resolved
        | State::SupersededByRevision
        | State::SupersededBySourceChange
        | State::Expired
        | State::RejectedByUser
        | State::Dismissed => false,
    }
}

fn authority(basis: AssuranceBasis) -> Option<BlockingAuthorityBasis> {
    match basis {
        AssuranceBasis::DeterministicCheck => Some(BlockingAuthorityBasis::DeterministicCheck),
        AssuranceBasis::SourceReference => Some(BlockingAuthorityBasis::SourceReference),
        AssuranceBasis::ToolVerification => Some(BlockingAuthorityBasis::ToolVerification),
        AssuranceBasis::RubricAnchoredJudgment => Some(BlockingAuthorityBasis::RubricCriterion),
        AssuranceBasis::HumanReview => Some(BlockingAuthorityBasis::HumanLabel),
        AssuranceBasis::MultiReviewerConsensus => Some(BlockingAuthorityBasis::MultiReviewerConsensus),
        AssuranceBasis::ModelJudgment => None,
    }
}

/// By what a live finding is known again.
type Parts = (FailureKind, Option<String>, Option<String>, String, Option<String>);

/// The live findings of a run while one look raises more of them.
pub(crate) struct Raised {
    live: BTreeMap<Parts, String>,
    /// How many findings there are, live or not.
    count: u64,
    /// Where the sources stand.
    head: String,
}

impl Raised {
    /// As the rows have them.
    pub(crate) fn of(desk: &Desk) -> Self {
        let (mut live, all) = (BTreeMap::new(), all(desk));
        let count = all.len() as u64;
        for known in all.into_iter().filter(|one| is_live(one.state)) {
            // The first of those that are the same is the one.
            live.entry(parts(&known.event.match_key)).or_insert(known.event.finding_id);
        }
        Raised { live, count, head: workspace::workspace(desk).head().to_string() }
    }
}

/// Raises a finding of a result. One that is the same as a live one is the live one again: another event of it, so that each result
/// has what was found in its look.
///
/// # Errors
/// Something can't be written.
pub(crate) fn raise(
    desk: &mut Desk,
    round: &Round<'_>,
    raised: &mut Raised,
    result: &str,
    wrong: &Wrong,
) -> Result<String, Error> {
    let key = match_key(desk, round, wrong, &raised.head);
    let activation = raised.count + 1;
    let finding_id = match raised.live.get(&parts(&key)) {
        Some(same) => same.clone(),
        None => {
            let id = desk.id("finding");
            raised.live.insert(parts(&key), id.clone());
            raised.count += 1;
            id
        }
    };
    let event_id = desk.id("finding-raised");
    let event_ref = reference("EvaluationFindingEvent", &event_id)?;
    let leave = desk.leave()?;
    let blocking_authority = may_block(desk, result, &event_ref, wrong, &leave)?;
    let (taint_class, data_class, privileged) = workspace::whole(desk);
    desk.put(&EvaluationFindingEvent {
        finding_event_id: event_id,
        finding_id: finding_id.clone(),
        result_id: result.to_string(),
        producer_kind: ProducerKind::OutcomeEvaluator,
        producer_module_id: EVALUATOR.to_string(),
        producer_activation_seq: activation,
        finding_kind: wrong.kind,
        finding_text: wrong.text.clone(),
        explanation: wrong.explanation.clone(),
        severity: wrong.severity,
        emitted_state: Emitted::Active,
        assurance_basis: Vec::from([wrong.basis]),
        blocking_authority,
        confidence_score: Number::from(1_u32),
        confidence_basis: Vec::from([ConfidenceBasis::ToolResult]),
        confidence_explanation: "counted, not estimated".to_string(),
        target_artifact_ref: Some(round.artifact_ref.clone()),
        target_artifact_version_ref: Some(round.version_ref.clone()),
        target_scope_ref: None,
        target_criterion_id: Some(desk.own(&wrong.criterion)),
        affected_claim_refs: wrong.claims.clone(),
        evidence_refs: wrong.evidence.clone(),
        verification_record_refs: Vec::new(),
        supporting_material_snapshot_refs: Vec::new(),
        based_on_artifact_version_ref: Some(round.version_ref.clone()),
        based_on_artifact_version_absent_reason: None,
        based_on_source_workspace_snapshot_ref: Some(round.read_ref.clone()),
        based_on_board_digest_ref: None,
        evaluation_snapshot_ref: round.snapshot_ref.clone(),
        match_key: key,
        taint_class,
        data_class,
        matter_id: Some(desk.matter().to_string()),
        privileged,
        policy_decision_refs: Vec::from([leave]),
        created_at: desk.now(),
        schema_version: V20,
    })?;
    derived(desk, event_ref)?;
    Ok(finding_id)
}

/// What is found is made of the workspace.
fn derived(desk: &mut Desk, output_ref: StorageRef) -> Result<(), Error> {
    desk.put(&DerivationEdge {
        output_ref,
        input_refs: Vec::from([reference("SourceWorkspaceCurrentState", &desk.workspace_id())?]),
        sanitization_ref: None,
        created_at: desk.now(),
        schema_version: Some(V10),
    })?;
    Ok(())
}

/// Whether a finding may block: if what it rests on can be checked.
fn may_block(
    desk: &mut Desk,
    result: &str,
    event: &StorageRef,
    wrong: &Wrong,
    leave: &PolicyEvaluationRef,
) -> Result<BlockingAuthorityEvaluation, Error> {
    let basis: Vec<BlockingAuthorityBasis> = authority(wrong.basis).into_iter().collect();
    let inputs = Object::from([
        ("checkable_basis_count", Json::Number(Number::from(u32::from(!basis.is_empty())))),
        ("is_permitted", false.into()),
    ]);
    let input_refs = Vec::from([reference("EvaluationResultEnvelope", result)?]);
    let from = From { formula: "blocking_authority_v1", inputs, input_refs, output_ref: event.clone() };
    Ok(BlockingAuthorityEvaluation {
        satisfied: desk.derive_whole(from)?.value == Json::Bool(true),
        basis,
        subjective_blocking_permission: SubjectiveBlockingPermission::NotAllowed,
        evaluated_policy_ref: Some(leave.clone()),
        explanation: "what it rests on can be checked".to_string(),
        schema_version: V10,
    })
}

/// By what a failure is known again: its kind, its criterion and what it is about.
fn match_key(desk: &Desk, round: &Round<'_>, wrong: &Wrong, head: &str) -> FindingMatchKey {
    let about = Json::Array(wrong.claims.iter().map(|one| one.as_str().into()).collect());
    FindingMatchKey {
        failure_kind: wrong.failure,
        artifact_stable_id: Some(desk.own(&round.subject.artifact.id)),
        target_scope_ref: OrNull(None),
        criterion_id: Some(desk.own(&wrong.criterion)),
        finding_summary_hash: String::from(text::hash(&wrong.explanation)),
        normalized_finding_text_hash: String::from(text::hash(&wrong.text)),
        evidence_signature_hash: Some(String::from(canonical::hash_as_written(&about))),
        source_workspace_snapshot_hash: Some(head.to_string()),
        schema_version: V10,
    }
}

fn parts(key: &FindingMatchKey) -> Parts {
    (
        key.failure_kind,
        key.artifact_stable_id.clone(),
        key.criterion_id.clone(),
        key.normalized_finding_text_hash.clone(),
        key.evidence_signature_hash.clone(),
    )
}

/// Moves a finding.
///
/// # Errors
/// Something can't be written.
pub fn go(
    desk: &mut Desk,
    finding: &Known,
    to: State,
    reason: Reason,
    by: &str,
    evidence: Vec<StorageRef>,
) -> Result<(), Error> {
    desk.put(&FindingLifecycleTransitionReceipt {
        receipt_id: desk.id("finding-moved"),
        finding_id: finding.event.finding_id.clone(),
        from_state: finding.state,
        to_state: to,
        transition_reason: reason,
        actor_ref: by.to_string(),
        evidence_refs: evidence,
        created_at: desk.now(),
        schema_version: V10,
    })?;
    Ok(())
}

/// Findings of an outcome's criteria that this round does not find any more give way: those on an older version are mended; those on
/// this one are about claims, and the same words are supported otherwise because the sources are others, or count otherwise.
///
/// # Errors
/// Something can't be written.
pub fn resolve_mended(
    desk: &mut Desk,
    round: &Round<'_>,
    result: &str,
    still: &[String],
) -> Result<(), Error> {
    let criteria: Vec<String> = round.outcome.criteria.iter().map(|one| desk.own(&one.id)).collect();
    let evidence = Vec::from([reference("EvaluationResultEnvelope", result)?]);
    let still: BTreeSet<&String> = still.iter().collect();
    for known in all(desk) {
        let is_own = known.event.target_criterion_id.as_ref().is_some_and(|id| criteria.contains(id));
        if !is_own || still.contains(&known.event.finding_id) {
            continue;
        }
        let is_older = known.event.target_artifact_version_ref.as_ref() != Some(&round.version_ref);
        let is_about_claims = !known.event.affected_claim_refs.is_empty();
        if let Some((to, reason)) = way_out(known.state, is_older, is_about_claims) {
            go(desk, &known, to, reason, ROUTER, evidence.clone())?;
        }
    }
    Ok(())
}

/// Where a finding goes that a look does not find any more; nowhere if it is closed, can't be mended, or nothing says why it is gone.
fn way_out(state: State, is_older: bool, is_about_claims: bool) -> Option<(State, Reason)> {
    match state {
        State::Active
        | State::Contested
        | State::UserApproved
        | State::ToolVerified
        | State::HumanVerified
            if !is_older =>
        {
            is_about_claims.then_some((State::SupersededBySourceChange, Reason::SourceChanged))
        }
        State::Contested => Some((State::SupersededByRevision, Reason::TargetVersionChanged)),
        State::Active | State::UserApproved | State::ToolVerified | State::HumanVerified => {
            Some((State::Resolved, Reason::RevisionResolved))
        }
        State::Unrecoverable
        | State::Proposed
        | State::Resolved
        | State::SupersededByRevision
        | State::SupersededBySourceChange
        | State::Expired
        | State::RejectedByUser
        | State::Dismissed => None,
    }
}

/// What speaks for a result.
///
/// # Errors
/// Something can't be written.
pub fn observe(desk: &mut Desk, round: &Round<'_>, result: &str, passed: &[String]) -> Result<(), Error> {
    if passed.is_empty() {
        return Ok(());
    }
    desk.put(&PositiveEvaluationObservation {
        observation_id: desk.id("passed"),
        result_id: result.to_string(),
        outcome_id: desk.own(&round.outcome.id),
        observed_passed_criterion_ids: passed.iter().map(|id| desk.own(id)).collect(),
        positive_summary: format!("{} of {} criteria are met", passed.len(), round.outcome.criteria.len()),
        evidence_refs: Vec::from([round.snapshot_ref.clone()]),
        formula_eval_receipt_ref: None,
        created_at: desk.now(),
        schema_version: V10,
    })?;
    Ok(())
}
