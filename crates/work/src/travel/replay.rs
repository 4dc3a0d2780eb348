//! Going through a run again: what may be done with each step, and the records of what came of it.
//! Owns: requests, previews, comparing. Must not: run a step.

use crate::desk::{Desk, reference};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::decide::replay::{self, Compared, Ran, Refusal, Step, Treatment, is_deterministic};
use countersign_govern::types::added::learned::ReplayStepResult;
use countersign_govern::types::added::repair::{SideEffectLedgerEntry, SideEffectState};
use countersign_govern::types::added::showing::ReplayPreview;
use countersign_govern::types::basic::{False, Instant, StorageRef, V10};
use countersign_govern::types::replay::{
    ReplayDivergenceRecord, ReplayDivergenceRecordDivergenceKind as Divergence, TaskReplayMode as Mode,
    TaskReplayRequest, TaskReplayRequestModelReexecutionPolicy as Models,
};
use countersign_record::time::Timestamp;

/// What a replay is asked for with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask<'a> {
    /// What it is called.
    pub id: &'a str,
    /// The task.
    pub task: &'a str,
    /// The run that is gone through again.
    pub run: &'a str,
    /// How.
    pub mode: Mode,
    /// Whether another model answers than the one that did.
    pub is_other_model: bool,
}

/// The record of what is asked for. Nothing is ever done outside, and nothing is asked there.
#[must_use]
pub fn request(ask: &Ask<'_>, at: &Timestamp) -> TaskReplayRequest {
    let models = match (ask.mode, ask.is_other_model) {
        (Mode::BestEffortRerun, true) => Models::CurrentEquivalentModel,
        (Mode::BestEffortRerun, false) => Models::SameModelIfAvailable,
        (
            Mode::AuditReconstruction | Mode::DeterministicReexecution | Mode::SimulationFromRecordedOutputs,
            _,
        ) => Models::ReuseRecordedOutputs,
    };
    TaskReplayRequest {
        replay_request_id: ask.id.to_string(),
        task_id: ask.task.to_string(),
        source_run_id: ask.run.to_string(),
        replay_mode: ask.mode,
        checkpoint_ref: None,
        known_good_checkpoint_ref: None,
        allow_external_side_effects: False,
        allow_external_queries: false,
        model_reexecution_policy: models,
        created_at: Instant::from(at),
        schema_version: V10,
    }
}

/// Why a run can't be gone through in a mode.
#[must_use]
pub fn refusal(desk: &Desk, mode: Mode, steps: &[Step]) -> Option<Refusal> {
    replay::plan(&looking(desk, mode), steps).err()
}

/// A request that nobody writes down.
fn looking(desk: &Desk, mode: Mode) -> TaskReplayRequest {
    let id = desk.own("preview");
    let ask = Ask { id: &id, task: &desk.task().id, run: desk.run(), mode, is_other_model: false };
    request(&ask, desk.clock())
}

/// What a replay would do with each step.
#[must_use]
pub fn preview(desk: &Desk, mode: Mode, steps: &[Step]) -> ReplayPreview {
    let request = looking(desk, mode);
    let plan = replay::plan(&request, steps).ok();
    let planned = plan.as_ref().map(|plan| plan.steps()).unwrap_or_default();
    let told =
        planned.iter().map(|(step, treatment)| format!("{}: {}", step.step_ref.as_str(), words(*treatment)));
    let is_open = |step: &&Step| !is_deterministic(Some(step.depends_on), step.policy);
    ReplayPreview {
        preview_id: request.replay_request_id.clone(),
        source_run_id: desk.run().to_string(),
        replay_mode: mode,
        steps: told.collect(),
        nondeterministic_step_refs: steps.iter().filter(is_open).map(|step| step.step_ref.clone()).collect(),
        side_effect_refs: side_effects(desk),
        created_at: desk.now(),
        schema_version: Some(V10),
    }
}

/// What the run left outside, as its ledger of effects has it: no replay does any of it again.
fn side_effects(desk: &Desk) -> Vec<StorageRef> {
    let done = desk.all::<SideEffectLedgerEntry>().filter(|one| one.state == SideEffectState::Executed);
    done.filter_map(|one| reference("SideEffectLedgerEntry", &one.side_effect_id).ok()).collect()
}

/// The words for what is done with a step.
#[must_use]
pub fn words(treatment: Treatment) -> &'static str {
    match treatment {
        Treatment::Look => "is decided again from what was recorded",
        Treatment::Reuse => "its recorded output is taken",
        Treatment::Run => "runs again",
        Treatment::Refuse => "must not run",
    }
}

/// What a step is called: the run, which one in order, its stage.
///
/// # Errors
/// It can't be named.
pub fn step_ref(run: &str, number: usize, stage: &str) -> Result<StorageRef, crate::desk::Error> {
    let text = format!("stage:{run}.{number}.{stage}");
    StorageRef::try_from(text.as_str()).map_err(|_| crate::desk::Error::Unnameable(text))
}

/// What a replay leaves: what became of each step, and where it came out differently. `gave` has the hash that each step gave that
/// ran or was decided again, by its place; what ran again and is missing there could not be run.
///
/// # Errors
/// The replay promises what these steps can't give.
pub fn compared(
    request: &TaskReplayRequest,
    steps: &[Step],
    gave: &[Option<String>],
    at: &Timestamp,
) -> Result<Compared, Refusal> {
    let plan = replay::plan(request, steps)?;
    let place = |step: &Step| steps.iter().position(|one| one.step_ref == step.step_ref);
    let again = |at: usize| gave.get(at).and_then(Option::as_ref);
    let ran = |step: &Step| match place(step).and_then(again) {
        Some(hash) => Ran::Gave(hash.clone()),
        None => Ran::Failed,
    };
    let mut compared = plan.compare(at, ran);
    // What is only looked at or taken as it was may still be decided again from the records, and then that is what it gave.
    for (place, (step, treatment)) in plan.steps().iter().enumerate() {
        let is_taken = matches!(treatment, Treatment::Look | Treatment::Reuse);
        let decided = again(place).filter(|hash| is_taken && Some(*hash) != step.output_hash.as_ref());
        if let (Some(hash), Some(result)) = (decided, compared.results.get_mut(place)) {
            result.replay_output_hash = Some(hash.clone());
            compared.divergences.push(divergence(result, request, at));
        }
    }
    Ok(compared)
}

/// Where a step came out differently that is decided by the records alone.
fn divergence(
    result: &ReplayStepResult,
    request: &TaskReplayRequest,
    at: &Timestamp,
) -> ReplayDivergenceRecord {
    let step = result.source_step_ref.clone();
    ReplayDivergenceRecord {
        divergence_id: format!("{}.{}", request.replay_request_id, step.as_str()),
        replay_request_id: request.replay_request_id.clone(),
        divergence_kind: Divergence::ToolOutputDrift,
        explanation: format!("{} is not what its records come to", step.as_str()),
        source_step_ref: step,
        original_output_hash: result.original_output_hash.clone(),
        replay_output_hash: result.replay_output_hash.clone(),
        created_at: Instant::from(at),
        schema_version: V10,
    }
}

/// The steps that a replay treats in a way, by their places.
///
/// # Errors
/// The replay promises what these steps can't give.
pub fn treated(request: &TaskReplayRequest, steps: &[Step]) -> Result<Vec<Treatment>, Refusal> {
    let plan = replay::plan(request, steps)?;
    Ok(plan.steps().iter().map(|(_, treatment)| *treatment).collect())
}
