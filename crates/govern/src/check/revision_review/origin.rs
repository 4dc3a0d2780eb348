//! Which plan a version of an artifact came from.
//! Owns: finding it by the step that made the version. Must not: judge the version.
//!
//! Steps are called alike in many plans. What tells them apart is the run, the artifact, and when they were planned and ran.

use super::super::revision::plan::{artifacts, plans, ran, steps};
use super::super::sources::History;
use crate::member::Member;
use crate::world::{Record, World};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use countersign_record::json::Json;

/// What a plan says of its steps, the stricter one behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    Mechanical,
    Untold,
    BearsMeaning,
}

impl Class {
    fn of(plan: Record<'_>) -> Self {
        match plan.text("safety_class") {
            Some("mechanical") => Class::Mechanical,
            Some(_) => Class::BearsMeaning,
            None => Class::Untold,
        }
    }
}

/// A run or an artifact, as a step tells it and as somebody asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Of<'w> {
    Any,
    Untold,
    Named(&'w str),
}

impl<'w> Of<'w> {
    /// What a step of this one is found by.
    fn told(name: Option<&'w str>) -> [Self; 2] {
        [Of::Any, name.map_or(Of::Untold, Of::Named)]
    }

    /// What may be of this one: what says so, and what says nothing.
    fn asked(name: Option<&'w str>) -> [Self; 2] {
        name.map_or([Of::Any; 2], |name| [Of::Named(name), Of::Untold])
    }
}

/// A step by its run, its artifact and what it is called.
type Key<'w> = (Of<'w>, Of<'w>, &'w str);

/// Steps of plans, by what tells them apart.
pub(super) struct Steps<'w> {
    /// Where they were planned; the strictest class so far.
    planned: BTreeMap<Key<'w>, Vec<(u64, Class)>>,
    /// Where they ran, and the class of the plan then.
    ran: BTreeMap<Key<'w>, Vec<(u64, Class)>>,
}

impl<'w> Steps<'w> {
    pub(super) fn of(world: &'w World) -> Self {
        let mut all = Steps { planned: BTreeMap::new(), ran: BTreeMap::new() };
        for plan in world.of("RevisionPlan") {
            for step in steps(plan) {
                let Some(id) = step.id() else { continue };
                for key in keys(world, plan, id, step.json) {
                    let before = all.planned.entry(key).or_default();
                    let strictest =
                        before.last().map_or(Class::of(plan), |(_, one)| Class::of(plan).max(*one));
                    before.push((plan.seq(), strictest));
                }
            }
        }
        let (plans, history) = (plans(world), History::of(world, "RevisionPlan"));
        for one in ran(world, &plans) {
            let plan = history.before(one.plan_id, one.receipt.seq()).unwrap_or(one.plan.record);
            for key in keys(world, plan, one.step_id, one.step.json) {
                all.ran.entry(key).or_default().push((one.receipt.seq(), Class::of(plan)));
            }
        }
        all
    }

    /// What is said of the step that made a version: by the plan whose step of that name ran last before it. Where nobody says that
    /// one ran, by the strictest plan that was there; a plan from behind the version made it only where there is no other.
    pub(super) fn class(&self, version: Record<'w>, step: &'w str) -> Option<Class> {
        let json = version.json();
        let keys = Of::asked(json.text("run_id")).into_iter().flat_map(|run| {
            let artifacts = Of::asked(json.text("artifact_stable_id")).into_iter();
            artifacts.map(move |artifact| (run, artifact, step))
        });
        let keys: Vec<Key<'_>> = keys.collect();
        let before = |all: &[(u64, Class)]| {
            let count = all.partition_point(|(seq, _)| *seq < version.seq());
            count.checked_sub(1).and_then(|last| all.get(last)).copied()
        };
        let ran = keys.iter().filter_map(|key| before(self.ran.get(key)?)).max_by_key(|(seq, _)| *seq);
        let planned =
            || keys.iter().filter_map(|key| before(self.planned.get(key)?)).map(|(_, one)| one).max();
        let later = || keys.iter().filter_map(|key| self.planned.get(key)?.last()).map(|(_, one)| *one).max();
        ran.map(|(_, one)| one).or_else(planned).or_else(later)
    }
}

/// All that a step is found by.
fn keys<'w>(world: &'w World, plan: Record<'w>, step: &'w str, json: &'w Json) -> Vec<Key<'w>> {
    let artifacts = artifacts(world, json);
    let told: Vec<Of<'w>> = match artifacts.is_empty() {
        true => Of::told(None).into(),
        false => artifacts.into_iter().map(Of::Named).chain([Of::Any]).collect(),
    };
    let runs = Of::told(plan.json().text("run_id")).into_iter();
    runs.flat_map(|run| told.iter().map(move |artifact| (run, *artifact, step))).collect()
}
