//! The chain of an evaluator and a judge: opened, filled, resolved by the formula.
//! Owns: its records. Must not: move an outcome.

use super::Round;
use super::voice::{Voice, Voices};
use crate::desk::{Desk, Error, From, reference};
use crate::finding;
use crate::names::{EVALUATOR, JUDGE, PERSON, Policy, references};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::types::basic::{ProducerKind, Severity, StorageRef, V10};
use countersign_govern::types::chain::{
    EvaluationChainKind, EvaluationChainRegistryRecord,
    EvaluationChainRegistryRecordParticipantRole as Participant,
    EvaluationChainRegistryRecordParticipantRoleRole as Role, EvaluationChainResolutionPolicy,
    EvaluationChainResolutionReceipt, EvaluationChainResolutionReceiptConflictType as Conflict,
    EvaluationChainResolutionReceiptResolvedRoute as Route, EvaluationChainStatus,
};
use countersign_govern::types::outcome::EvaluationVerdict as Verdict;
use countersign_govern::types::wire::{OrNull, Wire};
use countersign_record::json::{Json, Object};

/// Milliseconds that a chain waits for those it expects.
const TIMEOUT_MS: u64 = 3_600 * 1_000;

/// What a chain came to.
pub(super) struct Resolved {
    pub(super) verdict: Verdict,
    pub(super) receipt: StorageRef,
}

/// Opens the chain of a look.
pub(super) fn open(desk: &mut Desk, round: &Round<'_>) -> Result<(), Error> {
    let participant = |producer_kind, module: &str| Participant {
        producer_kind,
        producer_module_id: module.to_string(),
        role: role(round, producer_kind),
        required: true,
    };
    let mut participant_roles = Vec::from([
        participant(ProducerKind::OutcomeEvaluator, EVALUATOR),
        participant(ProducerKind::Judge, JUDGE),
    ]);
    participant_roles.extend(round.person.as_ref().map(|_| participant(ProducerKind::HumanReviewer, PERSON)));
    let record = EvaluationChainRegistryRecord {
        chain_id: round.chain_id.clone(),
        chain_kind: EvaluationChainKind::PatternCEvaluatorThenJudge,
        task_id: desk.task().id.clone(),
        run_id: desk.run().to_string(),
        target_artifact_ref: OrNull(Some(round.artifact_ref.clone())),
        target_artifact_version_ref: OrNull(Some(round.version_ref.clone())),
        target_scope_ref: OrNull(None),
        evaluation_snapshot_ref: round.snapshot_ref.clone(),
        expected_producers: participant_roles.iter().map(|one| one.producer_kind).collect(),
        received_result_ids: Vec::new(),
        participant_roles,
        status: EvaluationChainStatus::Open,
        timeout_at: desk.later(TIMEOUT_MS),
        created_at: desk.now(),
        completed_at: None,
        superseded_by_chain_id: None,
        validation_failures: Vec::new(),
        schema_version: V10,
    };
    desk.open("EvaluationChainRegistryRecord", &record)?;
    Ok(())
}

/// What somebody does in the chain of a look.
fn role(round: &Round<'_>, producer: ProducerKind) -> Role {
    match (producer, &round.person) {
        (ProducerKind::Judge, Some(person)) if person.is_instead_of_judge() => Role::Observer,
        (ProducerKind::Judge, _) => Role::DownstreamJudge,
        (ProducerKind::HumanReviewer, Some(person)) => person.seat,
        (
            ProducerKind::OutcomeEvaluator
            | ProducerKind::DeterministicScorer
            | ProducerKind::ExperimentScorer
            | ProducerKind::HumanReviewer
            | ProducerKind::ToolVerifier
            | ProducerKind::SubAgent,
            _,
        ) => Role::UpstreamEvaluator,
    }
}

/// Puts together what was said, by the formula.
pub(super) fn resolve(desk: &mut Desk, round: &Round<'_>, voices: &Voices<'_>) -> Result<Resolved, Error> {
    let policy_id = desk.policy(Policy::Chain);
    let policy: EvaluationChainResolutionPolicy = desk
        .find("EvaluationChainResolutionPolicy", &policy_id)
        .ok_or_else(|| Error::Missing(policy_id.clone()))?;
    let results = voices.all().map(|voice| received(desk, round, voice)).collect();
    let inputs = Object::from([
        ("results", Json::Array(results)),
        ("policy", policy.write().unwrap_or(Json::Null)),
        ("timed_out", false.into()),
        ("missing", "nobody".into()),
    ]);
    let result_ids: Vec<String> = voices.all().map(|voice| voice.result_id.clone()).collect();
    let mut input_refs = references("EvaluationResultEnvelope", result_ids.iter().map(String::as_str))?;
    input_refs.push(desk.policy_ref(Policy::Chain)?);
    let receipt_id = desk.id("resolution");
    let receipt = reference("EvaluationChainResolutionReceipt", &receipt_id)?;
    let from = From { formula: "pattern_c_resolution_v1", inputs, input_refs, output_ref: receipt.clone() };
    let value = desk.derive_member(from, "resolved_verdict")?.value;
    let word = |name: &str| value.get(name).and_then(Json::as_str).unwrap_or_default();
    let flag = |name: &str| value.get(name) == Some(&Json::Bool(true));
    let unresolved = || Error::Missing("resolution of the chain".to_string());
    let verdict = Verdict::find(word("resolved_verdict")).ok_or_else(unresolved)?;
    desk.put(&EvaluationChainResolutionReceipt {
        receipt_id,
        chain_id: round.chain_id.clone(),
        chain_kind: EvaluationChainKind::PatternCEvaluatorThenJudge,
        result_ids_considered: result_ids,
        resolved_verdict: verdict,
        resolved_route: Route::find(word("resolved_route")).ok_or_else(unresolved)?,
        decisive_result_id: value.get("decisive_result_id").and_then(Json::as_str).map(ToString::to_string),
        qualitative_blockers_preserved: flag("qualitative_blockers_preserved"),
        quantitative_pass_overridden_by_blocker: flag("quantitative_pass_overridden_by_blocker"),
        conflict_type: Conflict::find(word("conflict_type")),
        policy_ref: policy_id,
        explanation: "put together under the policy of the run".to_string(),
        created_at: desk.now(),
        schema_version: V10,
    })?;
    Ok(Resolved { verdict, receipt })
}

/// A result as the formula takes it.
fn received(desk: &Desk, round: &Round<'_>, voice: &Voice) -> Json {
    let role = role(round, voice.producer);
    let is_blocker = |one: &finding::Known| {
        one.event.result_id == voice.result_id
            && one.event.severity == Severity::Blocking
            && one.event.blocking_authority.satisfied
            && finding::is_live(one.state)
    };
    let blockers = finding::all(desk).into_iter().filter(is_blocker).map(|one| one.state.as_str().into());
    Object::from([
        ("result_id", Json::from(voice.result_id.as_str())),
        ("role", role.as_str().into()),
        ("verdict", voice.verdict.as_str().into()),
        ("indeterminate_causes", Json::Array(voice.causes.iter().map(|one| one.as_str().into()).collect())),
        ("other_snapshot", false.into()),
        ("live_blocker_states", Json::Array(blockers.collect())),
    ])
    .into()
}
