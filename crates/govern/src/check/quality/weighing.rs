//! Weighs the criteria of each configuration, as the scoring would.
//! Owns: which criteria a configuration is about. Must not: know the checks; `derive::weights` has them.

use crate::check::Found;
use crate::derive::weights::{
    Config, Criterion, Error, Origin, PRIORITY_DEFAULT, Unanchored, is_eligible, normalize, raw,
};
use crate::derive::{is_finite_and_not_negative, sum};
use crate::member::{Member, number};
use crate::world::{Record, World};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::ToString;
use alloc::vec::Vec;
use countersign_record::json::Json;

/// A criterion, and the row that says it.
type Said<'w> = (Record<'w>, Criterion<'w>);

/// Finds the configurations that can't be weighed for one reason.
pub(super) fn find(world: &World, found: &mut Found<'_>, wanted: Error) {
    let mut sets = Sets::of(world);
    let mut blamed: BTreeSet<u64> = BTreeSet::new();
    for row in world.of("OutcomeComplianceScoringConfig") {
        let Some(config) = config(row) else { continue };
        let failure = if row.at("criterion_refs").is_some() {
            listed(row).and_then(|criteria| weigh(&criteria, &config))
        } else {
            sets.by_config.get_mut(row.id()).unwrap_or(&mut sets.unnamed).weigh(&config)
        };
        let Some(Failure { error, at, last }) = failure.filter(|failure| failure.error == wanted) else {
            continue;
        };
        // A criterion that came behind the configuration is what made it so.
        let later = last.filter(|last| at.is_none() && last.seq() > row.seq());
        match (at, later) {
            (Some(at), _) => found.add(at, "weight", error.to_string()),
            (None, Some(later)) if blamed.insert(later.seq()) => {
                found.add(later, "weight", error.to_string());
            }
            (None, Some(_)) => {}
            (None, None) => found.add(row, config_path(error, config.origin), error.to_string()),
        }
    }
}

/// The criteria by the configuration they name, and those that name none. Of each its last version.
struct Sets<'w> {
    by_config: BTreeMap<&'w str, Set<'w>>,
    unnamed: Set<'w>,
}

impl<'w> Sets<'w> {
    fn of(world: &'w World) -> Self {
        let last: BTreeMap<&str, Record<'_>> = world.of("Criterion").map(|row| (row.id(), row)).collect();
        let mut sets = Sets { by_config: BTreeMap::new(), unnamed: Set::default() };
        for row in last.into_values() {
            let set = match row.json().text("config_id") {
                Some(config) => sets.by_config.entry(config).or_default(),
                None => &mut sets.unnamed,
            };
            set.add((row, criterion(row)));
        }
        sets
    }
}

/// Criteria that many configurations may share. All that a configuration adds of its own are the weights of priorities, so they are
/// gone through once for each of the rest, and by their priorities.
#[derive(Default)]
struct Set<'w> {
    criteria: Vec<Said<'w>>,
    /// How many of each priority, of those that somebody or something anchors and of those that only a model judges.
    anchored: BTreeMap<&'w str, usize>,
    unanchored: BTreeMap<&'w str, usize>,
    last: Option<Record<'w>>,
    weighed: BTreeMap<(Unanchored, Origin), Option<Failure<'w>>>,
}

impl<'w> Set<'w> {
    fn add(&mut self, said: Said<'w>) {
        let (row, one) = said;
        let counts = if one.is_unanchored { &mut self.unanchored } else { &mut self.anchored };
        *counts.entry(one.priority.unwrap_or(PRIORITY_DEFAULT)).or_default() += 1;
        self.last = self.last.into_iter().chain([row]).max_by_key(|row| row.seq());
        self.criteria.push(said);
    }

    fn weigh(&mut self, config: &Config<'_>) -> Option<Failure<'w>> {
        if self.criteria.is_empty() {
            return None;
        }
        match config.origin {
            Origin::FromPriority => {
                self.by_priority(config).map(|error| Failure { error, at: None, last: self.last })
            }
            Origin::FromCriterionWeight | Origin::Uniform => {
                let criteria = &self.criteria;
                let weighed = || weigh(&in_any_order(criteria, config), config);
                *self.weighed.entry((config.unanchored, config.origin)).or_insert_with(weighed)
            }
        }
    }

    /// What `normalize` says of weights by priority, from how many criteria have each.
    fn by_priority(&self, config: &Config<'_>) -> Option<Error> {
        if config.unanchored == Unanchored::Indeterminate && !self.unanchored.is_empty() {
            return Some(Error::UnanchoredIndeterminate);
        }
        let counts_all = config.unanchored != Unanchored::Exclude;
        let counted = || self.anchored.iter().chain(self.unanchored.iter().filter(|_| counts_all));
        if counted().next().is_none() {
            return Some(Error::NoneEligible);
        }
        let weights = &config.priority_weights;
        // The first priority that is not in the map is met before there are more of them than it has.
        if counted().any(|(priority, _)| !weights.contains_key(priority)) {
            return Some(Error::PriorityWeightMissing);
        }
        let weighed = || counted().filter_map(|(priority, count)| Some((*weights.get(priority)?, *count)));
        if weighed().any(|(weight, _)| !is_finite_and_not_negative(weight)) {
            return Some(Error::WeightInvalid);
        }
        let total = sum(weighed().map(|(weight, count)| weight * count as f64));
        (!total.is_finite() || total <= 0.0).then_some(Error::SumZero)
    }
}

/// The criteria that a configuration lists; `None` if one of them is not known, since then nothing can be said.
fn listed<'w>(row: Record<'w>) -> Option<Vec<Said<'w>>> {
    let known = |text: &str| row.world.resolve_text(text).filter(|one| one.kind() == "Criterion");
    row.json()
        .texts("criterion_refs")
        .into_iter()
        .map(|text| known(text).map(|one| (one, criterion(one))))
        .collect()
}

fn config(row: Record<'_>) -> Option<Config<'_>> {
    let json = row.json();
    let weights = json.members("priority_weight_map").into_iter().flat_map(|map| map.iter());
    // What is there and is no number is no weight either.
    let weights = weights.filter(|(_, weight)| **weight != Json::Null);
    Some(Config {
        unanchored: json.text("unanchored_llm_judgment_policy").and_then(Unanchored::find)?,
        origin: json.text("default_weight_policy").and_then(Origin::find)?,
        priority_weights: weights.map(|(name, weight)| (name, number(weight).unwrap_or(f64::NAN))).collect(),
    })
}

fn criterion(row: Record<'_>) -> Criterion<'_> {
    let json = row.json();
    Criterion {
        id: row.id(),
        is_unanchored: json.is("scoring_basis", "unanchored_llm_judgment"),
        weight: json.at("weight").map(|weight| number(weight).unwrap_or(f64::NAN)),
        priority: json.text("priority"),
    }
}

/// Rows come in no order that means something: what is wrong with one of them is found in the order of the checks.
fn in_any_order<'w>(criteria: &[Said<'w>], config: &Config<'_>) -> Vec<Said<'w>> {
    let mut criteria = criteria.to_vec();
    criteria.sort_by_key(|(_, one)| {
        let error = raw(one, config).err().filter(|_| is_eligible(one, config));
        (error.is_none(), error)
    });
    criteria
}

/// Why a configuration can't be weighed, and the criterion that it lies with.
#[derive(Clone, Copy)]
struct Failure<'w> {
    error: Error,
    at: Option<Record<'w>>,
    /// The criterion that was said last.
    last: Option<Record<'w>>,
}

fn weigh<'w>(criteria: &[Said<'w>], config: &Config<'_>) -> Option<Failure<'w>> {
    let plain: Vec<Criterion<'_>> = criteria.iter().map(|(_, one)| *one).collect();
    let error = normalize(&plain, config).err()?;
    let at = match error {
        Error::WeightMissing | Error::WeightInvalid => criteria
            .iter()
            .find(|(_, one)| is_eligible(one, config) && raw(one, config).err() == Some(error))
            .map(|(row, _)| *row),
        Error::UnanchoredIndeterminate
        | Error::NoneEligible
        | Error::PriorityWeightMissing
        | Error::SumZero => None,
    };
    // A weight of the map is the configuration's, not the criterion's.
    let last = criteria.iter().map(|(row, _)| *row).max_by_key(|row| row.seq());
    Some(Failure { error, at: at.filter(|_| config.origin == Origin::FromCriterionWeight), last })
}

/// What is wrong, where it lies with the configuration.
fn config_path(error: Error, origin: Origin) -> &'static str {
    let weights = match origin {
        Origin::FromPriority => "priority_weight_map",
        Origin::FromCriterionWeight | Origin::Uniform => "criterion_refs",
    };
    match error {
        Error::UnanchoredIndeterminate => "unanchored_llm_judgment_policy",
        Error::NoneEligible => "criterion_refs",
        Error::WeightMissing | Error::PriorityWeightMissing | Error::WeightInvalid | Error::SumZero => {
            weights
        }
    }
}
