//! Runs beside each other in one ledger: the places that their records name are those of their own streams.

use crate::commands::hand_over;
use crate::stage::{ABLE, GOOD, LEASE, Stage, TASK, is_clean};
use countersign_govern::audit::{Audit, Found, Limits};
use countersign_govern::check::check;
use countersign_govern::world::{Draft, Placed, Streams, World};
use countersign_testkit::audits::{found, stored};
use std::sync::Arc;

type Runs = [(&'static str, Vec<Draft>); 2];

/// What an audit finds in a ledger of two runs, and in how many passes.
fn audited(runs: Runs) -> (Found, usize) {
    let mut rows: Vec<(&str, Draft)> =
        runs.into_iter().flat_map(|(stream, rows)| rows.into_iter().map(move |row| (stream, row))).collect();
    rows.sort_by_key(|(_, row)| row.at);
    let (streams, drafts): (Vec<&str>, Vec<Draft>) = rows.into_iter().unzip();
    let now = drafts.iter().filter_map(|row| row.at).max();
    found(&stored(streams.into_iter().map(str::to_owned), &drafts), now, Limits::LEDGER, Audit::whole)
}

/// Two runs of two tasks, each with a packet that falls and is made anew.
fn two() -> Runs {
    of_tasks(TASK, &TASK.replace("lease-memo", "rent-memo"))
}

fn of_tasks(one: &str, other: &str) -> Runs {
    let run = |run: &str, task: &str| {
        let stage = Stage::beside(run, task, &[("lease", LEASE)], &ABLE.map(|id| (id, true)));
        let mut stage = hand_over(stage, GOOD);
        stage.later();
        let other =
            r#"{"found": {"lease": "0000000000000000000000000000000000000000000000000000000000000000"}}"#;
        stage.command("source.recheck", other, "recheck", "ana").unwrap();
        stage.later();
        stage.command("reliance.renew_packet", "{}", "renew", "ana").unwrap();
        stage.is_clean();
        stage.desk.rows().cloned().collect::<Vec<Draft>>()
    };
    [("work/a", run("run_0123456789abcdef", one)), ("work/b", run("run_fedcba9876543210", other))]
}

/// Each run of a task goes by its own workspace and its own settings: what one does moves nothing of the other.
#[test]
fn runs_of_one_task_are_clean() {
    assert_eq!(audited(of_tasks(TASK, TASK)), (Found::default(), 1));
}

/// The rows of both in the order in which they were written, and where each stands. Something else stands before them.
fn ledger() -> (Vec<Placed>, Streams) {
    let mut rows: Vec<(&str, u64, Draft)> = two()
        .into_iter()
        .flat_map(|(stream, rows)| (1..).zip(rows).map(move |(place, row)| (stream, place, row)))
        .collect();
    rows.sort_by_key(|(_, _, row)| row.at);
    let (mut streams, mut placed) = (Streams::default(), Vec::new());
    for (seq, (stream, place, row)) in (100..).zip(rows) {
        streams.add(stream, place, seq);
        placed.push((seq, row));
    }
    (placed, streams)
}

#[test]
fn runs_beside_each_other_are_clean() {
    let (rows, streams) = ledger();
    let turns = rows.windows(2).filter(|pair| streams.seq(pair[0].0, 1) != streams.seq(pair[1].0, 1)).count();
    assert!(turns > 10, "the runs take turns only {turns} times");
    let world = World::placed(rows.clone().into_iter(), None).within(Arc::new(streams.clone()));
    is_clean(&world);
    assert_eq!(audited(two()), (Found::default(), 1));
}

/// Read as places in the ledger, the places of a run are those of others.
#[test]
fn a_place_in_a_stream_is_none_in_the_ledger() {
    let (rows, _) = ledger();
    let codes: Vec<&str> = check(&World::placed(rows.into_iter(), None)).iter().map(|one| one.code).collect();
    assert!(codes.contains(&"lifecycle_event_without_read_model_invalidation"), "{codes:?}");
}
