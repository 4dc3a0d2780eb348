//! A log in which projections are written once and then moved by receipts, operations and results alone, as an engine keeps it: rules
//! find in it what they find in one that writes them again.

use countersign_govern::check::check;
use countersign_govern::fold::family::{FAMILIES, GUIDANCE, OWNER};
use countersign_govern::world::{Draft, Placed, World};
use countersign_testkit::worlds;
use std::collections::{BTreeMap, BTreeSet};

/// The types that are moved. Who owns a type is a policy, which is written anew; and whether guidance may cross from run to run only its
/// projection says.
fn is_moved(kind: &str) -> bool {
    FAMILIES.iter().any(|family| family.kind == kind) && ![OWNER.kind, GUIDANCE.kind].contains(&kind)
}

/// The first rows of what is moved, and all others, at their places.
fn written_once(rows: Vec<Draft>) -> Vec<Placed> {
    let mut seen: BTreeSet<(String, String, String)> = BTreeSet::new();
    let run =
        |row: &Draft| row.record.get("run_id").and_then(|run| run.as_str()).unwrap_or_default().to_owned();
    let placed = (1..).zip(rows);
    placed
        .filter(|(seq, row)| {
            !is_moved(&row.kind) || seen.insert((row.kind.clone(), run(row), row.name(*seq)))
        })
        .collect()
}

fn logs() -> impl Iterator<Item = Vec<Draft>> {
    let logs = (1..=24).map(|seed| worlds::log(seed, 1 + (seed % 4) as usize));
    logs.chain((1..=4).map(worlds::everything)).map(super::mutations::drafts)
}

#[test]
fn what_is_written_once_has_no_codes() {
    let mut left_out: BTreeMap<String, usize> = BTreeMap::new();
    for (number, rows) in logs().enumerate() {
        let all = rows.clone();
        let once = written_once(rows);
        let kept: BTreeSet<u64> = once.iter().map(|(seq, _)| *seq).collect();
        for (_, row) in (1..).zip(&all).filter(|(seq, _)| !kept.contains(seq)) {
            *left_out.entry(row.kind.clone()).or_default() += 1;
        }
        let world = World::placed(once.into_iter(), World::new(all, None).now());
        let kind =
            |row: u64| world.all().find(|one| one.seq() == row).map_or("", |one| one.kind()).to_owned();
        let wrong: Vec<String> = check(&world)
            .iter()
            .map(|one| {
                format!("row {} {}: {} {} {}", one.row, kind(one.row), one.code, one.path, one.message)
            })
            .collect();
        assert!(wrong.is_empty(), "log {number}:\n{}", wrong.join("\n"));
    }
    assert!(left_out.len() >= 8 && left_out.values().sum::<usize>() > 500, "{left_out:?}");
}
