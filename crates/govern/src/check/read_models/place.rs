//! Where something belongs: to which runs, which task, matter and workspace.
//! Owns: how that is found for records that do not say it themselves. Must not: judge.

use crate::fold::place::{OWNERS, Owner, RUNS, STEP, WORKED, WORKSPACE, steps};
use crate::member::Member;
use crate::world::{Record, World};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Where a record belongs, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::check) struct Place<'w> {
    pub(in crate::check) runs: Vec<&'w str>,
    pub(in crate::check) task: Option<&'w str>,
    pub(in crate::check) matter: Option<&'w str>,
    pub(in crate::check) workspace: Option<&'w str>,
}

/// Records on the way to what says where something belongs.
const STEPS_MAX: usize = 4;

/// Finds where records belong.
pub(in crate::check) struct Places<'w> {
    world: &'w World,
    findings: BTreeMap<&'w str, Record<'w>>,
    /// The plans of steps.
    plans: BTreeMap<&'w str, Record<'w>>,
    /// What was done first in each workspace.
    workspaces: BTreeMap<&'w str, Record<'w>>,
}

impl<'w> Places<'w> {
    pub(in crate::check) fn new(world: &'w World) -> Self {
        let named = |event: Record<'w>| event.json().text("finding_id").map(|id| (id, event));
        let plans =
            world.of("RevisionPlan").flat_map(|plan| steps(plan.json()).map(move |step| (step, plan)));
        let worked = world.of(WORKED).filter_map(|one| Some((one.json().text("workspace_id")?, one)));
        Places {
            world,
            findings: world.of("EvaluationFindingEvent").filter_map(named).collect(),
            plans: plans.collect(),
            workspaces: worked.rev().collect(),
        }
    }

    /// Where a record belongs: what it says itself, then what those say that it belongs to.
    pub(in crate::check) fn of(&self, record: Record<'w>) -> Place<'w> {
        let (mut place, mut next) = (Place::default(), Some(record));
        for _ in 0..STEPS_MAX {
            let Some(record) = next else { break };
            place.fill(record);
            next = self.owner(record);
        }
        place
    }

    fn owner(&self, record: Record<'w>) -> Option<Record<'w>> {
        let (_, member, owner) = OWNERS.iter().find(|(kind, _, _)| *kind == record.kind())?;
        match owner {
            Owner::Of(kind) => {
                let id = record.json().text(member)?;
                let worked = || self.workspaces.get(id).filter(|_| *kind == WORKSPACE).copied();
                self.world.find(kind, id).or_else(worked)
            }
            Owner::Ref => {
                let to = record.json().reference(member)?;
                let plan = || self.plans.get(to.id).copied();
                self.world.resolve(to).or_else(|| STEP.contains(&to.kind).then(plan)?)
            }
            Owner::Finding => self.findings.get(record.json().text(member)?).copied(),
        }
    }
}

impl<'w> Place<'w> {
    /// Adds what a record says to what is not known yet.
    pub(in crate::check) fn fill(&mut self, record: Record<'w>) {
        let json = record.json();
        if self.runs.is_empty() {
            self.runs.extend(RUNS.iter().filter_map(|member| json.text(member)));
        }
        self.task = self.task.or_else(|| json.text("task_id"));
        let matter = || json.text("matter_id").or_else(|| json.text("governance.matter_id"));
        self.matter = self.matter.or_else(matter);
        self.workspace = self.workspace.or_else(|| json.text("workspace_id"));
    }
}

/// The versions of all records of a type, by id.
pub(in crate::check) struct History<'w> {
    versions: BTreeMap<&'w str, Vec<Record<'w>>>,
}

impl<'w> History<'w> {
    pub(in crate::check) fn of(world: &'w World, kind: &str) -> Self {
        let mut versions: BTreeMap<&str, Vec<Record<'_>>> = BTreeMap::new();
        for record in world.of(kind) {
            versions.entry(record.id()).or_default().push(record);
        }
        History { versions }
    }

    /// The last version before a place in the log.
    pub(in crate::check) fn before(&self, id: &str, seq: u64) -> Option<Record<'w>> {
        let versions = self.versions.get(id)?;
        let before = versions.partition_point(|version| version.seq() < seq);
        before.checked_sub(1).and_then(|at| versions.get(at)).copied()
    }
}
