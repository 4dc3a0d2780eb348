//! A log that nothing is wrong with, and the same with one fault: the fault is found.
//!
//! Faults are made by their kind, everywhere: no row, member or code is chosen for its chance to be found. What is not found
//! stands in `docs/mutations.md` with its reason, and nothing else does.

pub(super) mod fault;
mod shape;

use countersign_govern::check::{Severity, check};
use countersign_govern::world::{Draft, World};
use countersign_govern::{reach, types};
use countersign_testkit::worlds;
use fault::{Class, Fault};
use std::collections::{BTreeMap, BTreeSet};

/// Of a hundred faults, so many are found at least.
const CAUGHT_MIN: f64 = 98.0;
/// Of a hundred faults, rules alone find so many at least.
const BY_RULES_MIN: f64 = 49.0;
/// Faults of a kind that the docs explain which are tried in each log until one is not found.
const TRIES_MAX: usize = 12;
/// Faults that are made of each class in each log, at most: they are picked evenly.
const OF_A_CLASS_MAX: usize = 15;
/// The first seed: scenes, rules and classes of faults were made while looking at logs of other seeds.
const SEED: u64 = 7_000;
/// Into so many logs everything that can happen is put.
const PARTS: usize = 11;

/// What finds a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Finder {
    Rules,
    Form,
    References,
    Nothing,
}

pub(super) fn drafts(rows: Vec<worlds::Written>) -> Vec<Draft> {
    rows.into_iter().map(|row| row.draft).collect()
}

fn finder(rows: Vec<Draft>) -> Finder {
    let world = World::new(rows, None);
    let is_of_form = || {
        world.all().all(|row| types::find(row.kind()).is_none_or(|one| one.troubles(row.json()).is_empty()))
    };
    if check(&world).iter().any(|one| one.severity == Severity::Error) {
        Finder::Rules
    } else if !is_of_form() {
        Finder::Form
    } else if !reach::contradictions(&world).is_empty() {
        Finder::References
    } else {
        Finder::Nothing
    }
}

#[test]
fn a_log_that_keeps_the_contract_has_no_codes() {
    let logs = (1..=40)
        .map(|seed| worlds::log(seed, 1 + (seed % 4) as usize))
        .chain((1..=5).map(worlds::everything));
    for (number, rows) in logs.enumerate() {
        let rows = drafts(rows);
        assert!(rows.len() >= 100, "log {number} has only {} rows", rows.len());
        let mut wrong: Vec<String> = Vec::new();
        for (place, draft) in (1..).zip(&rows) {
            let found = types::find(&draft.kind).unwrap_or_else(|| panic!("{} is no type", draft.kind));
            let troubles = found.troubles(&draft.record);
            wrong.extend(
                troubles
                    .iter()
                    .map(|one| format!("row {place} {}: {} {}", draft.kind, one.path, one.message)),
            );
        }
        let world = World::new(rows, None);
        let kind =
            |row: u64| world.all().find(|one| one.seq() == row).map_or("", |one| one.kind()).to_owned();
        wrong.extend(check(&world).iter().map(|one| {
            format!("row {} {}: {} {} {}", one.row, kind(one.row), one.code, one.path, one.message)
        }));
        wrong.extend(reach::contradictions(&world).iter().map(|one| {
            format!("row {} {}: {:?} {} {}", one.row, kind(one.row), one.what, one.path, one.message)
        }));
        assert!(wrong.is_empty(), "log {number}:\n{}", wrong.join("\n"));
    }
}

/// How often faults of a class were made and by what they were found.
#[derive(Default)]
struct Count {
    by: BTreeMap<Finder, usize>,
}

/// What finds each of these faults; several are looked at beside each other.
fn finders(rows: &[Draft], faults: &[Fault]) -> Vec<Finder> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let share = faults.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let parts: Vec<_> = faults
            .chunks(share)
            .map(|part| scope.spawn(|| part.iter().map(|one| finder(one.apply(rows))).collect::<Vec<_>>()))
            .collect();
        parts.into_iter().flat_map(|part| part.join().expect("no rule panics")).collect()
    })
}

#[test]
fn a_fault_is_found() {
    let mut counts: BTreeMap<Class, Count> = BTreeMap::new();
    let mut survivors: BTreeMap<String, usize> = BTreeMap::new();
    let explained = explained();
    let mut met: BTreeSet<String> = BTreeSet::new();
    let parts = (0..PARTS).map(|nth| worlds::some(SEED + nth as u64, nth, PARTS));
    for rows in parts.chain([worlds::log(3, 2)]) {
        let rows = drafts(rows);
        let mut by_class: BTreeMap<Class, Vec<Fault>> = BTreeMap::new();
        for one in fault::all(&rows) {
            by_class.entry(one.class).or_default().push(one);
        }
        assert_eq!(finder(rows.clone()), Finder::Nothing, "there is a fault before one is made");
        let mut picked: Vec<Fault> = Vec::new();
        let mut others: BTreeMap<String, Vec<Fault>> = BTreeMap::new();
        for (_, faults) in by_class {
            let step = faults.len().div_ceil(OF_A_CLASS_MAX);
            for (at, one) in faults.into_iter().enumerate() {
                if at % step == 0 {
                    picked.push(one);
                } else {
                    others.entry(line(&one.told(&rows)).to_owned()).or_default().push(one);
                }
            }
        }
        for (one, finder) in picked.iter().zip(finders(&rows, &picked)) {
            *counts.entry(one.class).or_default().by.entry(finder).or_default() += 1;
            if finder == Finder::Nothing {
                met.insert(line(&one.told(&rows)).to_owned());
                *survivors.entry(one.told(&rows)).or_default() += 1;
            }
        }
        // What the docs explain is looked for beyond what was picked: else nobody knows whether it still is so.
        for (what, faults) in others.iter().filter(|(what, _)| explained.contains(what.as_str())) {
            let tried: Vec<&Fault> = faults.iter().step_by(faults.len().div_ceil(TRIES_MAX)).collect();
            if !met.contains(what) && tried.iter().any(|one| finder(one.apply(&rows)) == Finder::Nothing) {
                met.insert(what.clone());
            }
        }
    }
    let stale: Vec<&&str> = explained.iter().filter(|what| !met.contains(**what)).collect();
    report(&counts, &survivors);
    assert!(stale.is_empty(), "docs/mutations.md explains what does not happen: {stale:?}");
}

/// The faults that the docs explain.
fn explained() -> BTreeSet<&'static str> {
    let docs = include_str!("../../../../docs/mutations.md");
    let lines = docs.lines().filter_map(|line| line.strip_prefix("| `"));
    lines.filter_map(|rest| rest.split('`').next()).collect()
}

/// What a fault is in the docs: a status that is not fixed is not for any of its words.
fn line(told: &str) -> &str {
    told.split(" to ").next().unwrap_or(told)
}

#[allow(clippy::print_stdout, reason = "the table of the docs is read off here")]
/// Prints the table, and holds it to the bar and to what the docs explain.
fn report(counts: &BTreeMap<Class, Count>, survivors: &BTreeMap<String, usize>) {
    let (mut all, mut missed, mut by_rules) = (0, 0, 0);
    for (class, count) in counts {
        let of = |finder| count.by.get(&finder).copied().unwrap_or_default();
        let made: usize = count.by.values().sum();
        println!(
            "{class:?}: {made} made, {} by rules, {} by form, {} by references, {} not found",
            of(Finder::Rules),
            of(Finder::Form),
            of(Finder::References),
            of(Finder::Nothing)
        );
        all += made;
        missed += of(Finder::Nothing);
        by_rules += of(Finder::Rules);
    }
    for (what, times) in survivors {
        println!("NOT FOUND {times} times: {what}");
    }
    let explained = explained();
    let unexplained: Vec<&String> = survivors.keys().filter(|what| !explained.contains(line(what))).collect();
    let share = |count: usize| 100.0 * count as f64 / all as f64;
    let (caught, by_rules) = (share(all - missed), share(by_rules));
    println!("{caught:.2} % of {all} faults are found, {by_rules:.2} % by rules alone");
    assert!(all >= 1_500, "only {all} faults were made");
    assert!(caught >= CAUGHT_MIN, "only {caught:.2} % of the faults are found");
    assert!(by_rules >= BY_RULES_MIN, "only {by_rules:.2} % of the faults are found by rules");
    assert!(unexplained.is_empty(), "docs/mutations.md does not explain {unexplained:?}");
}
