//! What is refused at the door is what the audit of the log would find with it, and a log that keeps the contract is right
//! whenever somebody looks.

use super::mutations::fault::{self, Fault};
use countersign_govern::admission::Desk;
use countersign_govern::check::{Diagnostic, Severity, check};
use countersign_govern::types::conformance::FixtureMoment;
use countersign_govern::world::{Draft, Placed, World};
use countersign_record::time::Instant;
use countersign_testkit::worlds::{self, Written};
use std::collections::BTreeSet;

/// Into so many logs everything that can happen is put.
const PARTS: usize = 12;
/// Faults that are made in each log: they are picked evenly.
const FAULTS: usize = 3;

/// Logs in which together everything happens, and one of runs beside each other.
fn logs(seed: u64) -> impl Iterator<Item = Vec<Written>> {
    let parts = (0..PARTS).map(move |nth| worlds::some(seed + nth as u64, nth, PARTS));
    parts.chain([worlds::log(seed, 3)])
}

/// Rows as they are let in: together what is written together, each at its place.
fn batches(rows: &[Written]) -> Vec<Vec<Placed>> {
    let mut places = 1..;
    let placed = |row: &Written| (places.next().unwrap_or_default(), row.draft.clone());
    let mut placed = placed;
    worlds::batches(rows).map(|batch| batch.iter().map(&mut placed).collect()).collect()
}

/// The time at which a batch is written: that of its rows.
fn time(batch: &[Placed]) -> Instant {
    batch.iter().filter_map(|(_, row)| row.at).max().expect("a row has a time")
}

fn audited(rows: &[Placed], at: Instant) -> Vec<Diagnostic> {
    check(&World::placed(rows.iter().cloned(), Some(at)))
}

/// The errors of a log with a batch that it has not without, at the same time.
fn caused(rows: &[Placed], batch: &[Placed], at: Instant) -> Vec<Diagnostic> {
    let before = audited(rows, at);
    let is_new = |one: &Diagnostic| {
        let same =
            |other: &Diagnostic| (other.row, other.code, &other.path) == (one.row, one.code, &one.path);
        one.severity == Severity::Error && !before.iter().any(same)
    };
    audited(&[rows, batch].concat(), at).into_iter().filter(is_new).collect()
}

/// Every batch is let in, and leaves a log that nothing is wrong with. None of them could be shorter.
#[test]
fn a_log_is_right_after_every_batch() {
    let (mut all, mut of_several) = (0, 0);
    for rows in logs(900) {
        let mut desk = Desk::new(Vec::new());
        let mut seen: Vec<Placed> = Vec::new();
        for batch in batches(&rows) {
            let at = time(&batch);
            for within in 1..batch.len() {
                let shorter = [&seen[..], &batch[..within]].concat();
                assert_ne!(audited(&shorter, at), [], "{:?} need not be together", kinds(&batch));
            }
            assert_eq!(desk.admit(batch.clone(), at).map(|let_in| let_in.warnings), Ok(Vec::new()));
            assert_eq!(desk.codes(), [], "after {:?}", kinds(&batch));
            (all, of_several) = (all + 1, of_several + usize::from(batch.len() > 1));
            seen.extend(batch);
        }
        assert_eq!(audited(&seen, time(&seen)), []);
    }
    assert!(of_several * 10 < all && of_several > 50, "{of_several} of {all} batches have several rows");
}

fn kinds(batch: &[Placed]) -> Vec<&str> {
    batch.iter().map(|(_, row)| row.kind.as_str()).collect()
}

/// Every row of every fixture in its turn is refused for what an audit would find with it; where a fixture asks at the door,
/// the engine is told what it must refuse.
#[test]
fn fixtures_are_refused_row_by_row_as_an_audit_would() {
    for fixture in ["fires", "legal"].into_iter().flat_map(super::fixtures) {
        let bundle = super::bundle(&fixture.document);
        let moment = bundle.fixture.as_ref().and_then(|fixture| fixture.checked_at);
        let rows: Vec<Placed> = (1..).zip(bundle.rows.clone()).collect();
        let mut at = Instant { seconds: 0, nanos: 0 };
        let (mut desk, mut seen) = (Desk::new(Vec::new()), Vec::new());
        for (number, row) in rows.iter().enumerate() {
            at = bundle.as_of.filter(|_| number + 1 == rows.len()).or(row.1.written_at(Some(at))).unwrap();
            let expected = caused(&seen, std::slice::from_ref(row), at);
            let (is_in, refused, mut told) = match desk.admit(vec![row.clone()], at) {
                Ok(let_in) => (true, Vec::new(), let_in.caught),
                Err(refused) => (false, refused.codes.clone(), refused.codes),
            };
            assert_eq!(refused, expected, "{} at {number}", fixture.path.display());
            told.extend(audited(&[seen.as_slice(), std::slice::from_ref(row)].concat(), at));
            if moment == Some(FixtureMoment::Admission) && number + 1 == rows.len() {
                let told: BTreeSet<&str> = told.iter().map(|one| one.code).collect();
                assert!(told.is_superset(&super::codes(&fixture.document)), "{}", fixture.path.display());
            }
            // What is refused is written all the same: a fixture may go on from there.
            seen.push(row.clone());
            if !is_in {
                desk = Desk::new(seen.clone());
            }
        }
    }
}

/// A log with a fault, in the batches of the one without. A row that was moved is written with those that it stands before.
fn faulty(rows: &[Written], fault: &Fault) -> Vec<Vec<Placed>> {
    let drafts: Vec<Draft> = rows.iter().map(|row| row.draft.clone()).collect();
    let numbers = fault.apply_to(rows.iter().map(|row| row.batch).collect());
    let rows = fault.apply(&drafts).into_iter().zip(numbers);
    let rows: Vec<Written> =
        rows.map(|(draft, batch)| Written { stream: String::new(), draft, batch }).collect();
    batches(&rows)
}

/// Batches behind the fault after each of which the whole log is audited; then it is every so many.
const EACH: usize = 4;
const THEN_EVERY: usize = 32;

/// Lets a log in from its first fault on. Each refusal is held against the audit, and so is what was let in, at each of the
/// first batches and at some of the others; what is refused stays outside. How many batches were refused.
fn let_in(clean: &[Vec<Placed>], faulty: &[Vec<Placed>]) -> usize {
    let same = clean.iter().zip(faulty).take_while(|(one, other)| one == other).count();
    let mut seen: Vec<Placed> = faulty[..same].concat();
    let mut desk = Desk::new(seen.clone());
    let (mut refused, left) = (0, faulty.len() - same);
    for (number, batch) in (1..).zip(&faulty[same..]) {
        let at = time(batch);
        let answer = desk.admit(batch.clone(), at);
        if let Err(error) = &answer {
            assert_eq!(error.codes, caused(&seen, batch, at));
            refused += 1;
        } else {
            let is_looked_at = number <= EACH || number % THEN_EVERY == 0 || number == left;
            seen.extend(batch.iter().cloned());
            if is_looked_at {
                let found = audited(&seen, at);
                assert_eq!(desk.codes(), found, "after {:?}", kinds(batch));
                if found.iter().any(|one| one.severity == Severity::Error) {
                    let before = &seen[..seen.len() - batch.len()];
                    assert_eq!(caused(before, batch, at), [], "{:?} was let in", kinds(batch));
                }
            }
        }
    }
    refused
}

#[test]
fn what_is_refused_is_what_an_audit_would_find() {
    let (mut made, mut found) = (0, 0);
    for rows in logs(950) {
        let drafts: Vec<Draft> = rows.iter().map(|row| row.draft.clone()).collect();
        let (clean, faults) = (batches(&rows), fault::all(&drafts));
        for fault in faults.iter().step_by(faults.len() / FAULTS) {
            made += 1;
            found += usize::from(let_in(&clean, &faulty(&rows, fault)) > 0);
        }
    }
    assert!(made > 35 && found * 4 > made, "{found} of {made} faults were refused");
}
