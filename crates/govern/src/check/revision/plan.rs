//! Plans and their steps, as the rules of this area look at them.
//! Owns: where steps stand, what they change, which receipts say that one ran. Must not: judge.

use crate::member::Member;
use crate::path::Path;
use crate::reference::Reference;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use countersign_record::json::Json;

/// The kinds of steps. There is no second list of them.
pub(in crate::check) const STEP_KINDS: [&str; 9] = [
    "edit_artifact",
    "regenerate_section",
    "restructure",
    "source_research",
    "verification_request",
    "format_repair",
    "hard_call",
    "external_side_effect",
    "revalidate",
];

/// Steps that leave the artifact as it is.
const LEAVE_AS_IT_IS: [&str; 5] =
    ["source_research", "verification_request", "hard_call", "external_side_effect", "revalidate"];

/// What a receipt says of a step that runs or ran.
const RAN: [&str; 3] = ["step_started", "step_finished", "step_failed"];

/// A step where it stands.
#[derive(Clone, Copy)]
pub(in crate::check) struct Step<'w> {
    /// The plan, or a row of its own.
    pub(in crate::check) record: Record<'w>,
    /// Its place in the plan.
    place: Option<usize>,
    /// What it says.
    pub(in crate::check) json: &'w Json,
}

impl<'w> Step<'w> {
    /// What it is called.
    pub(in crate::check) fn id(&self) -> Option<&'w str> {
        self.json.text("step_id")
    }

    /// The path of a member of it in its record.
    pub(in crate::check) fn path(&self, member: &'static str) -> Path {
        match self.place {
            Some(place) => Path::from("steps").item(place).then(member),
            None => Path::from(member),
        }
    }
}

/// The steps of a plan.
pub(in crate::check) fn steps<'w>(plan: Record<'w>) -> impl Iterator<Item = Step<'w>> {
    let steps = plan.json().list("steps").iter().enumerate();
    steps.map(move |(place, json)| Step { record: plan, place: Some(place), json })
}

/// The steps of all plans, and those that are rows of their own.
pub(in crate::check) fn all_steps(world: &World) -> impl Iterator<Item = Step<'_>> {
    let own = world.of("RevisionPlanStepBase");
    let own = own.map(|record| Step { record, place: None, json: record.json() });
    world.of("RevisionPlan").flat_map(steps).chain(own)
}

/// A plan and its steps by their ids.
pub(in crate::check) struct Plan<'w> {
    pub(in crate::check) record: Record<'w>,
    pub(in crate::check) steps: BTreeMap<&'w str, Step<'w>>,
}

impl Plan<'_> {
    /// Whether its steps change artifacts in place, each on what the one before left.
    pub(in crate::check) fn is_rolling(&self) -> bool {
        self.record.is("mutation_mode", "rolling_hash_in_place")
    }
}

/// The plans by their ids; of several rows of one id the last.
pub(in crate::check) fn plans(world: &World) -> BTreeMap<&str, Plan<'_>> {
    let named = world.of("RevisionPlan").filter_map(|record| Some((record.json().id_at("plan_id")?, record)));
    let steps = |record| steps(record).filter_map(|step| Some((step.id()?, step))).collect();
    named.map(|(id, record)| (id, Plan { record, steps: steps(record) })).collect()
}

/// The plan of each step that one plan only has, for receipts that name the step alone.
pub(in crate::check) struct Owners<'w>(BTreeMap<&'w str, Option<&'w str>>);

impl<'w> Owners<'w> {
    pub(in crate::check) fn of(world: &'w World) -> Self {
        let mut owners: BTreeMap<&str, Option<&str>> = BTreeMap::new();
        let is_bare = |receipt: Record<'_>| receipt.is_blank("plan_id");
        // Nearly every log names its plans, and then nobody asks.
        if world.of("RevisionOperationReceipt").any(is_bare) {
            for step in world.of("RevisionPlan").flat_map(steps) {
                let (Some(id), plan) = (step.id(), step.record.json().id_at("plan_id")) else { continue };
                let owner = owners.entry(id).or_insert(plan);
                if *owner != plan {
                    *owner = None;
                }
            }
        }
        Owners(owners)
    }

    /// The plan that a receipt is of.
    pub(in crate::check) fn plan(&self, receipt: Record<'w>) -> Option<&'w str> {
        let says = receipt.json();
        says.id_at("plan_id").or_else(|| self.0.get(says.text("step_id")?).copied().flatten())
    }
}

/// Whether a step may change artifacts; one of an unknown kind may.
pub(in crate::check) fn is_mutating(step: &Json) -> bool {
    !step.is_one_of("step_kind", &LEAVE_AS_IT_IS)
}

/// The artifacts that a step is about, by their stable ids.
pub(in crate::check) fn artifacts<'w>(world: &'w World, step: &'w Json) -> BTreeSet<&'w str> {
    let stable = |target: &'w Json| match target {
        Json::Object(_) => target.text("artifact_stable_id"),
        Json::String(text) => {
            let reference = Reference::read(text)?;
            match reference.kind {
                "artifact" => Some(reference.id),
                "artifact_version" => world.resolve(reference)?.json().text("artifact_stable_id"),
                _elsewhere => None,
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) => None,
    };
    step.list("target_refs").iter().filter_map(stable).collect()
}

/// The artifacts that a step may change.
pub(in crate::check) fn mutated<'w>(world: &'w World, step: &'w Json) -> BTreeSet<&'w str> {
    if is_mutating(step) { artifacts(world, step) } else { BTreeSet::new() }
}

/// A receipt that says that a step of a known plan ran.
pub(in crate::check) struct Ran<'p, 'w> {
    pub(in crate::check) receipt: Record<'w>,
    pub(in crate::check) plan_id: &'w str,
    pub(in crate::check) plan: &'p Plan<'w>,
    pub(in crate::check) step_id: &'w str,
    pub(in crate::check) step: Step<'w>,
}

/// The receipts that say that a step of one of these plans ran, in order. One that does not say what it is for does.
pub(in crate::check) fn ran<'p, 'w>(
    world: &'w World,
    plans: &'p BTreeMap<&'w str, Plan<'w>>,
) -> impl Iterator<Item = Ran<'p, 'w>> {
    let owners = Owners::of(world);
    world.of("RevisionOperationReceipt").filter_map(move |receipt| {
        let says = receipt.json();
        if says.at("operation_kind").is_some() && !says.is_one_of("operation_kind", &RAN) {
            return None;
        }
        let (plan_id, step_id) = (owners.plan(receipt)?, says.text("step_id")?);
        let plan = plans.get(plan_id)?;
        Some(Ran { receipt, plan_id, plan, step_id, step: *plan.steps.get(step_id)? })
    })
}
