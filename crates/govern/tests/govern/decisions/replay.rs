//! Replays: what was recorded comes out again, what differs is told, and nothing leaves.

use super::{at, codes_of, reference, typed, wrong};
use countersign_govern::decide::replay::{self, Compared, Effect, Ran, Refusal, Step, Treatment};
use countersign_govern::decide::row;
use countersign_govern::types::added::learned::StepDependence;
use countersign_govern::types::basic::ReplayPolicy;
use countersign_govern::types::externalization::WorkspaceExternalizationKind as Outside;
use countersign_govern::types::replay::{
    TaskReplayMode as Mode, TaskReplayRequest, TaskReplayRequestModelReexecutionPolicy as Models,
};
use countersign_govern::world::Draft;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeSet;

fn request(mode: Mode, allows_queries: bool, models: Models) -> TaskReplayRequest {
    typed(&format!(
        r#"{{"replay_request_id":"rq1","task_id":"t1","source_run_id":"run1","replay_mode":"{}","allow_external_side_effects":false,
        "allow_external_queries":{allows_queries},"model_reexecution_policy":"{}","created_at":"2026-03-02T08:00:00Z","schema_version":"1.0"}}"#,
        mode.as_str(),
        models.as_str()
    ))
}

fn effect() -> impl Strategy<Value = Effect> {
    prop_oneof![3 => Just(Effect::None), 2 => select(Outside::ALL).prop_map(Effect::Outside), 1 => Just(Effect::Unknown)]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let policy = prop::option::of(select(ReplayPolicy::ALL));
    let step = (select(StepDependence::ALL), policy, effect(), prop::option::weighted(0.9, "[0-9a-f]{8}"));
    prop::collection::vec(step, 0..10).prop_map(|steps| {
        let step = |(place, (depends_on, policy, effect, output_hash))| Step {
            step_ref: reference(&format!("revision_operation_receipt:s{place}")),
            depends_on,
            policy,
            effect,
            output_hash,
        };
        steps.into_iter().enumerate().map(step).collect()
    })
}

fn any_request() -> impl Strategy<Value = TaskReplayRequest> {
    (select(Mode::ALL), any::<bool>(), select(Models::ALL))
        .prop_map(|(mode, queries, models)| request(mode, queries, models))
}

/// The rows of a replay.
fn rows(request: &TaskReplayRequest, compared: &Compared) -> Vec<Draft> {
    let mut rows = vec![row(request, &at(0))];
    rows.extend(compared.rows(&at(1)));
    rows
}

#[test]
fn a_replay_that_promises_the_same_refuses_what_can_not_give_it() {
    let model = Step {
        step_ref: reference("revision_operation_receipt:s1"),
        depends_on: StepDependence::Model,
        policy: None,
        effect: Effect::None,
        output_hash: Some("h".to_string()),
    };
    let steps = [model.clone()];
    let exact = request(Mode::DeterministicReexecution, false, Models::ReuseRecordedOutputs);
    let refused = replay::plan(&exact, &steps).unwrap_err();
    assert_eq!(refused, Refusal::Nondeterministic(model.step_ref.clone()));
    assert_eq!(refused.code(), Some("deterministic_replay_with_nondeterministic_step"));
    let again = request(Mode::DeterministicReexecution, false, Models::SameModelIfAvailable);
    assert_eq!(replay::plan(&again, &[]).unwrap_err(), Refusal::ModelsRunAgain);
    let fixed = [Step { policy: Some(ReplayPolicy::Deterministic), ..model }];
    assert_eq!(replay::plan(&exact, &fixed).unwrap().steps()[0].1, Treatment::Run);
    let mut two = exact.clone();
    (two.checkpoint_ref, two.known_good_checkpoint_ref) =
        (Some(reference("known_good_checkpoint:a")), Some("b".to_string()));
    assert_eq!(replay::plan(&two, &[]).unwrap_err(), Refusal::TwoCheckpoints);
}

proptest! {
    /// From what was recorded all hashes come out again, nothing runs, and nothing differs.
    #[test]
    fn a_simulation_gives_what_was_recorded(steps in steps(), queries in any::<bool>(), models in select(Models::ALL)) {
        let request = request(Mode::SimulationFromRecordedOutputs, queries, models);
        let mut ran = 0;
        let compared = replay::plan(&request, &steps).unwrap().compare(&at(1), |_| {
            ran += 1;
            Ran::Failed
        });
        prop_assert_eq!((ran, compared.divergences.len()), (0, 0));
        for (step, result) in steps.iter().zip(&compared.results) {
            prop_assert_eq!(&step.output_hash, &result.replay_output_hash);
            prop_assert_eq!(&step.output_hash, &result.original_output_hash);
        }
        prop_assert_eq!(compared.results.len(), steps.len());
        prop_assert_eq!(wrong(&rows(&request, &compared)), Vec::<String>::new());
    }

    /// In every mode: only what may leave leaves; each output that is changed on the way, and each step that gives none, has
    /// exactly one record, no other has one; the rows have no codes, and without any one of these records they have one.
    #[test]
    fn every_difference_is_recorded_once(
        request in any_request(),
        steps in steps(),
        changed in prop::collection::btree_set(0_usize..10, 0..4),
        failed in prop::collection::btree_set(0_usize..10, 0..3),
    ) {
        let is_exact = request.replay_mode == Mode::DeterministicReexecution;
        let plan = match replay::plan(&request, &steps) {
            Ok(plan) => plan,
            Err(refusal) => {
                prop_assert!(is_exact);
                let is_free = |step: &Step| {
                    step.depends_on == StepDependence::None || step.policy == Some(ReplayPolicy::Deterministic)
                };
                let reuses = request.model_reexecution_policy == Models::ReuseRecordedOutputs;
                prop_assert!(!reuses || !steps.iter().all(is_free), "{refusal}");
                return Ok(());
            }
        };
        let place = |step: &Step| steps.iter().position(|one| one == step).unwrap();
        let mut ran: BTreeSet<usize> = BTreeSet::new();
        let compared = plan.compare(&at(1), |step| {
            ran.insert(place(step));
            match (&step.output_hash, failed.contains(&place(step)), changed.contains(&place(step))) {
                (_, true, _) => Ran::Failed,
                (Some(hash), false, false) => Ran::Gave(hash.clone()),
                (Some(hash), false, true) => Ran::Gave(format!("{hash}x")),
                (None, false, _) => Ran::Gave("new".to_string()),
            }
        });
        for place in &ran {
            match steps[*place].effect {
                Effect::None => {}
                Effect::Outside(kind) => {
                    let is_query = !["open_in_browser", "open_native_app", "show_in_finder", "save_as", "export_bundle"].contains(&kind.as_str());
                    prop_assert!(is_query && request.allow_external_queries && request.replay_mode == Mode::BestEffortRerun);
                }
                Effect::Unknown => prop_assert!(false, "nobody knows what would leave"),
            }
            prop_assert!(matches!(request.replay_mode, Mode::DeterministicReexecution | Mode::BestEffortRerun));
        }
        let refused = plan.steps().iter().enumerate().filter(|(_, (_, treatment))| *treatment == Treatment::Refuse);
        let mut expected: BTreeSet<usize> = refused.map(|(place, _)| place).collect();
        expected.extend(ran.iter().filter(|place| changed.contains(place) || failed.contains(place)));
        expected.retain(|place| steps[*place].output_hash.is_some());
        let found: Vec<&str> = compared.divergences.iter().map(|one| one.source_step_ref.as_str()).collect();
        let expected: Vec<&str> = expected.iter().map(|place| steps[*place].step_ref.as_str()).collect();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(wrong(&rows(&request, &compared)), Vec::<String>::new());
        for left_out in 0..compared.divergences.len() {
            let mut compared = compared.clone();
            compared.divergences.remove(left_out);
            prop_assert_eq!(codes_of(&rows(&request, &compared)), vec!["replay_divergence_unrecorded"]);
        }
    }
}
