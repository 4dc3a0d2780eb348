//! Locks on what is changed in place: each step says what it found.
//! Owns: which lock a step holds. Must not: take a lock.
//!
//! A lock names its step, and steps are called alike in many plans. One lock is of one plan: of that which it says, else of the first
//! whose step it fits.

use super::super::Found;
use super::plan::{Plan, Ran, is_mutating, mutated, plans, ran};
use crate::member::Member;
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use countersign_record::json::Json;

/// How many locks of one name that nobody holds are looked at for a step.
const LOOKS_MAX: usize = 64;

pub(super) fn in_place_lock_missing_expected_pre_hash(world: &World, found: &mut Found<'_>) {
    let plans = plans(world);
    let mut locks = Locks::of(world, &plans);
    let mut told = BTreeSet::new();
    for ran in ran(world, &plans).filter(|ran| ran.plan.is_rolling() && is_mutating(ran.step.json)) {
        let own = ran.receipt.json().text("expected_pre_hash");
        let lock = locks.held_by(&ran, own);
        let Some(hash) = lock.and_then(|lock| lock.text("expected_pre_hash")) else {
            if told.insert((ran.plan_id, ran.step_id)) {
                let message = format!("step {} ran without a lock that says what it found", ran.step_id);
                found.add(ran.receipt, "expected_pre_hash", message);
            }
            continue;
        };
        if own.is_some_and(|own| own != hash) {
            found.add(ran.receipt, "expected_pre_hash", "is not the hash that was read with the lock");
        }
    }
}

/// A step of a plan.
type Whose<'w> = (&'w str, &'w str);

/// Locks by their places.
type InOrder<'w> = BTreeMap<u64, Record<'w>>;

/// Locks, and who holds them.
struct Locks<'w> {
    world: &'w World,
    /// Those that plans name beforehand.
    planned: BTreeMap<Whose<'w>, &'w Json>,
    /// How many plans have a step of a name.
    plans: BTreeMap<&'w str, usize>,
    /// Those that no plan holds, by the name of the step.
    by_step: BTreeMap<&'w str, InOrder<'w>>,
    /// And by what they found.
    by_hash: BTreeMap<(&'w str, &'w str), InOrder<'w>>,
    /// What each step of a plan took last, and what it took by what that found.
    held: BTreeMap<Whose<'w>, Record<'w>>,
    held_hashes: BTreeMap<(Whose<'w>, &'w str), Record<'w>>,
}

impl<'w> Locks<'w> {
    fn of(world: &'w World, all: &BTreeMap<&'w str, Plan<'w>>) -> Self {
        let mut locks = Locks {
            world,
            planned: BTreeMap::new(),
            plans: BTreeMap::new(),
            by_step: BTreeMap::new(),
            by_hash: BTreeMap::new(),
            held: BTreeMap::new(),
            held_hashes: BTreeMap::new(),
        };
        for (id, plan) in all {
            plan.steps.keys().for_each(|step| *locks.plans.entry(step).or_default() += 1);
            let planned = plan.record.json().list("in_place_mutation_locks").iter();
            locks.planned.extend(planned.filter_map(|lock| Some(((*id, lock.text("step_id")?), lock))));
        }
        for lock in world.of("InPlaceMutationLock") {
            let Some(step) = lock.json().text("step_id") else { continue };
            locks.by_step.entry(step).or_default().insert(lock.seq(), lock);
            if let Some(hash) = lock.json().text("expected_pre_hash") {
                locks.by_hash.entry((step, hash)).or_default().insert(lock.seq(), lock);
            }
        }
        locks
    }

    /// The lock that a step holds as it runs, if it has one; where there are several, that which found what the receipt says.
    fn held_by(&mut self, ran: &Ran<'_, 'w>, hash: Option<&'w str>) -> Option<&'w Json> {
        let whose = (ran.plan_id, ran.step_id);
        let planned = self.planned.get(&whose).copied();
        if self.plans.get(ran.step_id).is_none_or(|plans| *plans < 2) {
            let locks = self.by_step.get(ran.step_id);
            let last = locks.and_then(|locks| locks.range(..ran.receipt.seq()).next_back());
            return last.map(|(_, lock)| lock.json()).or(planned);
        }
        if let Some(hash) = hash {
            if let Some(lock) = self.held_hashes.get(&(whose, hash)) {
                return Some(lock.json());
            }
            if let Some(lock) = self.free(self.by_hash.get(&(ran.step_id, hash)), ran) {
                return Some(self.take(whose, lock));
            }
            if let Some(planned) = planned.filter(|lock| lock.is("expected_pre_hash", hash)) {
                return Some(planned);
            }
        }
        let held = self.held.get(&whose).map(|lock| lock.json());
        let free = || self.free(self.by_step.get(ran.step_id), ran);
        match held.or(planned) {
            Some(lock) => Some(lock),
            None => free().map(|lock| self.take(whose, lock)),
        }
    }

    /// The last lock before a step ran that no plan holds and that may be of this one.
    fn free(&self, locks: Option<&InOrder<'w>>, ran: &Ran<'_, 'w>) -> Option<Record<'w>> {
        let before = locks?.range(..ran.receipt.seq()).rev().take(LOOKS_MAX);
        before.map(|(_, lock)| *lock).find(|lock| self.fits(*lock, ran))
    }

    /// Whether a lock may be that of a step: nothing that it says is of another plan, run or artifact.
    fn fits(&self, lock: Record<'w>, ran: &Ran<'_, 'w>) -> bool {
        let is_apart =
            |one: Option<&str>, other: Option<&str>| one.zip(other).is_some_and(|(one, other)| one != other);
        let run = ran.plan.record.json().text("run_id");
        let base = lock.json().id_at("expected_base_version_id");
        let base = base.and_then(|id| self.world.find("ArtifactVersion", id)).map(Record::json);
        let artifacts = mutated(self.world, ran.step.json);
        let artifact = base.and_then(|base| base.text("artifact_stable_id"));
        let is_of_other = artifact.is_some_and(|one| !artifacts.is_empty() && !artifacts.contains(one));
        !is_apart(lock.id_at("plan_id"), Some(ran.plan_id))
            && !is_apart(lock.text("run_id"), run)
            && !is_apart(base.and_then(|base| base.text("run_id")), run)
            && !is_of_other
    }

    fn take(&mut self, whose: Whose<'w>, lock: Record<'w>) -> &'w Json {
        let (_, step) = whose;
        if let Some(open) = self.by_step.get_mut(step) {
            open.remove(&lock.seq());
        }
        self.held.insert(whose, lock);
        if let Some(hash) = lock.json().text("expected_pre_hash") {
            if let Some(open) = self.by_hash.get_mut(&(step, hash)) {
                open.remove(&lock.seq());
            }
            self.held_hashes.insert((whose, hash), lock);
        }
        lock.json()
    }
}
