//! What a replay may do, and where it came out differently.
//! Owns: which steps run in which mode, what is refused outside, what counts as a difference. Must not: run a step.

use super::{id_from, row};
use crate::types::added::learned::{ReplayStepResult, StepDependence};
use crate::types::basic::{Instant as At, ReplayPolicy, StorageRef, V10};
use crate::types::externalization::WorkspaceExternalizationKind as Outside;
use crate::types::replay::{
    ReplayDivergenceRecord, ReplayDivergenceRecordDivergenceKind as Divergence, TaskReplayMode as Mode,
    TaskReplayRequest, TaskReplayRequestModelReexecutionPolicy as Models,
};
use crate::world::Draft;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::time::Timestamp;

/// Whether a way out only asks; the others disclose.
#[must_use]
pub fn is_query(kind: Outside) -> bool {
    match kind {
        Outside::ExternalSourceQuery
        | Outside::ConnectorFetch
        | Outside::ApiCall
        | Outside::EmailSourceFetch
        | Outside::BrowserSessionRead => true,
        Outside::OpenInBrowser
        | Outside::OpenNativeApp
        | Outside::ShowInFinder
        | Outside::SaveAs
        | Outside::ExportBundle => false,
    }
}

/// Whether something may leave during a replay: a question, in a rerun that may ask. What is not known as a way out may not.
#[must_use]
pub fn may_leave(mode: Option<Mode>, allows_queries: bool, kind: Option<Outside>) -> bool {
    match mode {
        Some(Mode::BestEffortRerun) => allows_queries && kind.is_some_and(is_query),
        Some(
            Mode::AuditReconstruction | Mode::DeterministicReexecution | Mode::SimulationFromRecordedOutputs,
        )
        | None => false,
    }
}

/// Whether a step gives the same each time.
#[must_use]
pub fn is_deterministic(depends_on: Option<StepDependence>, policy: Option<ReplayPolicy>) -> bool {
    let is_free = match depends_on {
        Some(StepDependence::None) | None => true,
        Some(
            StepDependence::Model | StepDependence::Tool | StepDependence::Web | StepDependence::Provider,
        ) => false,
    };
    is_free || policy == Some(ReplayPolicy::Deterministic)
}

/// Whether a step came out differently. An audit only puts together what was recorded: it runs no step. What was never recorded
/// can't differ.
#[must_use]
pub fn diverges(mode: Option<Mode>, original: Option<&str>, replayed: Option<&str>) -> bool {
    match (original, replayed) {
        (None, _) => false,
        (Some(original), Some(replayed)) => original != replayed,
        (Some(_), None) => mode != Some(Mode::AuditReconstruction),
    }
}

/// A step as it was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Which one.
    pub step_ref: StorageRef,
    /// What its output depends on.
    pub depends_on: StepDependence,
    /// Whether it may be done again.
    pub policy: Option<ReplayPolicy>,
    /// What left when it ran.
    pub effect: Effect,
    /// SHA-256 of what it gave.
    pub output_hash: Option<String>,
}

/// What left when a step ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Nothing.
    None,
    /// Something, by a way that is known.
    Outside(Outside),
    /// Something else.
    Unknown,
}

/// What is done with a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Treatment {
    /// It is only looked at.
    Look,
    /// What it gave is taken as it was recorded.
    Reuse,
    /// It runs again.
    Run,
    /// It must not run: something would leave, or it may never be done again.
    Refuse,
}

/// Why a replay is not begun.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A step does not give the same each time, and the replay promises that.
    #[error("{} does not give the same each time", .0.as_str())]
    Nondeterministic(StorageRef),
    /// Models would run again, and the replay promises the same.
    #[error("models that run again do not give the same")]
    ModelsRunAgain,
    /// Two places to begin at.
    #[error("a replay begins at one checkpoint at most")]
    TwoCheckpoints,
}

impl Refusal {
    /// The validation code that the replay would have.
    #[must_use]
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Refusal::Nondeterministic(_) | Refusal::ModelsRunAgain => {
                Some("deterministic_replay_with_nondeterministic_step")
            }
            Refusal::TwoCheckpoints => None,
        }
    }
}

/// A replay that may begin: what is done with each step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan<'a> {
    request: &'a TaskReplayRequest,
    steps: Vec<(&'a Step, Treatment)>,
}

/// What may be done with the steps of a run.
///
/// # Errors
/// The replay promises what these steps can't give.
pub fn plan<'a>(request: &'a TaskReplayRequest, steps: &'a [Step]) -> Result<Plan<'a>, Refusal> {
    if request.checkpoint_ref.is_some() && request.known_good_checkpoint_ref.is_some() {
        return Err(Refusal::TwoCheckpoints);
    }
    if request.replay_mode == Mode::DeterministicReexecution {
        if request.model_reexecution_policy != Models::ReuseRecordedOutputs {
            return Err(Refusal::ModelsRunAgain);
        }
        if let Some(step) = steps.iter().find(|step| !is_deterministic(Some(step.depends_on), step.policy)) {
            return Err(Refusal::Nondeterministic(step.step_ref.clone()));
        }
    }
    Ok(Plan { request, steps: steps.iter().map(|step| (step, treat(request, step))).collect() })
}

fn treat(request: &TaskReplayRequest, step: &Step) -> Treatment {
    match request.replay_mode {
        Mode::AuditReconstruction => return Treatment::Look,
        Mode::SimulationFromRecordedOutputs => return Treatment::Reuse,
        Mode::DeterministicReexecution | Mode::BestEffortRerun => {}
    }
    let kind = match step.effect {
        Effect::None => None,
        Effect::Outside(kind) => Some(kind),
        Effect::Unknown => return Treatment::Refuse,
    };
    let may_leave = may_leave(Some(request.replay_mode), request.allow_external_queries, kind);
    let reuses_models = request.model_reexecution_policy == Models::ReuseRecordedOutputs;
    match step.policy {
        Some(ReplayPolicy::Never) => Treatment::Refuse,
        _other if kind.is_some() && !may_leave => Treatment::Refuse,
        Some(ReplayPolicy::ReuseRecordedOnly) => Treatment::Reuse,
        Some(ReplayPolicy::Deterministic) => Treatment::Run,
        Some(ReplayPolicy::RerunAllowed) | None => match step.depends_on {
            StepDependence::Model if reuses_models => Treatment::Reuse,
            StepDependence::Model
            | StepDependence::Tool
            | StepDependence::Web
            | StepDependence::Provider
            | StepDependence::None => Treatment::Run,
        },
    }
}

/// What a step that ran again came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ran {
    /// The SHA-256 of what it gave.
    Gave(String),
    /// It gave this under other policies than then.
    GaveUnderOtherPolicy(String),
    /// It could not be run.
    Failed,
}

/// What a replay leaves in the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// What became of each step, in order.
    pub results: Vec<ReplayStepResult>,
    /// Where it came out differently.
    pub divergences: Vec<ReplayDivergenceRecord>,
}

impl Compared {
    /// As rows.
    #[must_use]
    pub fn rows(&self, at: &Timestamp) -> Vec<Draft> {
        let divergences = self.divergences.iter().map(|one| row(one, at));
        divergences.chain(self.results.iter().map(|one| row(one, at))).collect()
    }
}

impl<'a> Plan<'a> {
    /// The steps, and what is done with each.
    #[must_use]
    pub fn steps(&self) -> &[(&'a Step, Treatment)] {
        &self.steps
    }

    /// Compares what the replay gave with what was recorded. `run` is asked for every step that runs, in order, and for no other.
    pub fn compare(&self, at: &Timestamp, mut run: impl FnMut(&Step) -> Ran) -> Compared {
        let mut compared = Compared::default();
        for (place, (step, treatment)) in self.steps.iter().enumerate() {
            let ran = match treatment {
                Treatment::Run => Some(run(step)),
                Treatment::Look | Treatment::Reuse | Treatment::Refuse => None,
            };
            let replayed = match (treatment, &ran) {
                (Treatment::Reuse, _) => step.output_hash.clone(),
                (_, Some(Ran::Gave(hash) | Ran::GaveUnderOtherPolicy(hash))) => Some(hash.clone()),
                (_, Some(Ran::Failed) | None) => None,
            };
            let parts = [self.request.replay_request_id.as_str(), step.step_ref.as_str(), &place.to_string()];
            if diverges(Some(self.request.replay_mode), step.output_hash.as_deref(), replayed.as_deref()) {
                let kind = kind_of(step, *treatment, ran.as_ref());
                compared.divergences.push(self.divergence(step, kind, replayed.clone(), &parts, at));
            }
            compared.results.push(ReplayStepResult {
                step_result_id: id_from("replayed", &parts),
                replay_request_id: self.request.replay_request_id.clone(),
                source_step_ref: step.step_ref.clone(),
                depends_on: step.depends_on,
                replay_policy: step.policy,
                original_output_hash: step.output_hash.clone(),
                replay_output_hash: replayed,
                created_at: Some(At::from(at)),
                schema_version: Some(V10),
            });
        }
        compared
    }

    fn divergence(
        &self,
        step: &Step,
        kind: Divergence,
        replayed: Option<String>,
        parts: &[&str],
        at: &Timestamp,
    ) -> ReplayDivergenceRecord {
        let what = match &replayed {
            Some(_) => "gave something else than was recorded",
            None => "was not replayed",
        };
        ReplayDivergenceRecord {
            divergence_id: id_from("divergence", parts),
            replay_request_id: self.request.replay_request_id.clone(),
            divergence_kind: kind,
            source_step_ref: step.step_ref.clone(),
            original_output_hash: step.output_hash.clone(),
            replay_output_hash: replayed,
            explanation: format!("{} {what}", step.step_ref.as_str()),
            created_at: At::from(at),
            schema_version: V10,
        }
    }
}

/// Why a step came out differently.
fn kind_of(step: &Step, treatment: Treatment, ran: Option<&Ran>) -> Divergence {
    match (treatment, ran) {
        (Treatment::Refuse, _) => Divergence::NonReplayableSideEffect,
        (_, Some(Ran::GaveUnderOtherPolicy(_))) => Divergence::PolicyChanged,
        (_, Some(Ran::Failed) | None) => Divergence::CapabilityUnavailable,
        (_, Some(Ran::Gave(_))) => match step.depends_on {
            StepDependence::Model => Divergence::ModelOutputDrift,
            StepDependence::Tool | StepDependence::None => Divergence::ToolOutputDrift,
            StepDependence::Web | StepDependence::Provider => Divergence::SourceStateChanged,
        },
    }
}
