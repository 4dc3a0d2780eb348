//! A log that is checked part by part has the codes that it has as a whole.

use super::mutations::fault;
use countersign_govern::audit::{Audit, Found, Limits, Log};
use countersign_govern::bundle::Bundle;
use countersign_govern::check::{Diagnostic, check};
use countersign_govern::reach;
use countersign_govern::world::{Draft, World};
use countersign_record::time::Instant;
use countersign_testkit::audits::{self, Stored, stored};
use countersign_testkit::worlds::{self, Written};

/// What an audit finds in a ledger, and in how many passes.
fn found(rows: &[Stored], now: Option<Instant>, limits: Limits) -> (Found, usize) {
    audits::found(rows, now, limits, |audit| audit)
}

/// The codes of a ledger, of which nothing is left out. Fixtures have members that are not of their type.
fn audited(rows: &[Stored], now: Option<Instant>, limits: Limits) -> Vec<Diagnostic> {
    let (found, _) = found(rows, now, limits);
    assert_eq!((found.is_cut, found.apart), (false, vec![]));
    found.codes
}

/// Parts are looked at one by one.
const ONE_BY_ONE: Limits = Limits { batch: 1, near: 0, ..Limits::LEDGER };
/// Those that belong together are looked at at once, as far as that is soon known.
const AT_ONCE: Limits = Limits { batch: 1, ..Limits::LEDGER };

/// As a ledger has them: what is of no run stands elsewhere.
fn streams(rows: &[Written]) -> Vec<String> {
    let place = |row: &Written| if row.stream == "shared" { "matter" } else { "run" };
    rows.iter().map(|row| format!("{}/{}", place(row), row.stream)).collect()
}

fn drafts(rows: &[Written]) -> Vec<Draft> {
    rows.iter().map(|row| row.draft.clone()).collect()
}

#[test]
fn parts_have_the_codes_of_the_whole() {
    let mut with_codes = 0;
    for seed in 1..=2 {
        let rows = worlds::log(seed, 6);
        let (streams, drafts) = (streams(&rows), drafts(&rows));
        let now = World::new(drafts.clone(), None).now();
        let in_parts = |drafts: &[Draft]| audited(&stored(streams.iter().cloned(), drafts), now, ONE_BY_ONE);
        let clean = audits::found(&stored(streams.iter().cloned(), &drafts), now, ONE_BY_ONE, Audit::whole);
        assert_eq!(clean, (Found::default(), 1), "one pass is enough");
        let faults = fault::all(&drafts);
        let faults: Vec<_> = faults.iter().filter(|one| one.keeps_places()).collect();
        for one in faults.iter().step_by(faults.len() / 40) {
            let faulty = one.apply(&drafts);
            let whole = check(&World::new(faulty.clone(), now));
            with_codes += usize::from(!whole.is_empty());
            assert_eq!(in_parts(&faulty), whole, "{}", one.told(&drafts));
            let at_once = audited(&stored(streams.iter().cloned(), &faulty), now, AT_ONCE);
            assert_eq!(at_once, whole, "{}", one.told(&drafts));
            let world = World::new(faulty.clone(), now);
            let (contradicted, _) =
                audits::found(&stored(streams.iter().cloned(), &faulty), now, ONE_BY_ONE, Audit::whole);
            let told = one.told(&drafts);
            assert_eq!(contradicted.contradictions, reach::contradictions(&world), "{told}");
            assert_eq!(contradicted.codes, whole, "{told}");
        }
    }
    assert!(with_codes > 20, "only {with_codes} faults had codes");
}

/// Every row of a fixture in a stream of its own, and none looked at with another unless they name each other.
#[test]
fn fixtures_have_their_codes_in_parts() {
    let mut misses = Vec::new();
    for name in ["fires", "legal"] {
        for fixture in super::fixtures(name) {
            let bundle = Bundle::read(fixture.document).unwrap();
            let streams = (1..).map(|at| format!("run/{at}"));
            let rows = stored(streams, &bundle.rows);
            let world = World::new(bundle.rows.clone(), bundle.as_of);
            let (whole, parts) = (check(&world), audited(&rows, world.now(), ONE_BY_ONE));
            if whole != parts {
                let codes =
                    |all: &[Diagnostic]| all.iter().map(|one| (one.row, one.code)).collect::<Vec<_>>();
                misses.push(format!(
                    "{}: {:?} became {:?}",
                    fixture.path.display(),
                    codes(&whole),
                    codes(&parts)
                ));
            }
        }
    }
    assert!(misses.is_empty(), "{} of 426: {}", misses.len(), misses.join("\n"));
}

/// A log of some runs as a ledger has it, changed.
fn ledger(runs: usize, mut change: impl FnMut(&mut Stored)) -> Vec<Stored> {
    let rows = worlds::log(5, runs);
    let mut stored = stored(streams(&rows).into_iter(), &drafts(&rows));
    stored.iter_mut().for_each(&mut change);
    stored
}

fn end(rows: &[Stored]) -> Option<Instant> {
    rows.iter().filter_map(|row| row.at).max()
}

/// As little as possible is held: what belongs together is looked at rule by rule.
#[test]
fn what_is_too_much_for_all_rules_is_looked_at_by_each() {
    let rows = ledger(3, |row| row.stream = "run/one".into());
    let bytes: usize = rows.iter().map(|row| row.payload.len()).sum();
    let limits = |together: usize| Limits { waiting: bytes / 8, together, ..ONE_BY_ONE };
    let drafts: Vec<Draft> = drafts(&worlds::log(5, 3));
    let now = end(&rows);
    let (whole, _) = found(&rows, now, limits(bytes));
    assert_eq!(whole, Found::default());
    let (by_rule, passes) = found(&rows, now, limits(bytes / 4 * 3));
    assert!(passes > 1);
    assert_eq!(by_rule, Found::default());
    let faults = fault::all(&drafts);
    for one in faults.iter().filter(|one| one.keeps_places()).step_by(faults.len() / 10) {
        let faulty = one.apply(&drafts);
        let rows = stored(rows.iter().map(|row| row.stream.clone()), &faulty);
        let (by_rule, _) = found(&rows, now, limits(bytes / 4 * 3));
        assert_eq!(by_rule.codes, check(&World::new(faulty, now)), "{}", one.told(&drafts));
    }
    let (apart, _) = found(&rows, now, limits(1));
    assert!(!apart.apart.is_empty(), "what is not looked at is told");
    assert!(apart.apart.iter().all(|one| one.streams == 1 && one.rows > 0 && one.first <= one.last));
}

fn row(seq: u64, stream: &str, kind: &str, record: &str) -> Stored {
    let (stream, kind, payload) =
        (stream.into(), format!("govern.{kind}"), format!(r#"{{"record":{record}}}"#));
    Stored { seq, stream, place: seq, kind, at: Instant::read("2026-01-01T00:00:00Z"), payload }
}

/// Which streams are looked at together.
fn together(rows: &[Stored]) -> Vec<Vec<String>> {
    let log = Log { now: None, end: rows.len() as u64 };
    let mut passes = Audit::new(log, ONE_BY_ONE, Vec::new()).passes();
    rows.iter().for_each(|row| passes[0].row(row.raw()));
    passes[0].groups().into_iter().map(|group| group.streams.into_iter().collect()).collect()
}

#[test]
fn runs_are_looked_at_together_for_what_they_have_in_common() {
    let policy = |seq, stream| row(seq, stream, "library_promotion_gate", r#"{"gate_id":"g"}"#);
    let need = |seq, run: u32, more: &str| {
        let record = format!(r#"{{"need_id":"n{run}","task_id":"t","run_id":"{run}"{more}}}"#);
        row(seq, &format!("work/{run}"), "research_need", &record)
    };
    let runs = |more| [policy(1, "work/1"), need(2, 1, more), policy(3, "work/2"), need(4, 2, more)];
    assert!(together(&runs("")).is_empty(), "neither a task nor a setting of their own joins them");
    assert!(together(&runs(r#","idempotency_key":"once""#)).is_empty(), "nor does a word that both chose");
    let cards = ["work/1", "work/2"].map(|stream| row(1, stream, "task_health_card", r#"{"task_id":"t"}"#));
    assert!(together(&cards).is_empty(), "nor does how each sees the task");
    let both = [vec!["work/1".to_owned(), "work/2".to_owned()]];
    assert_eq!(together(&runs(r#","workspace_id":"w""#)), both);
    let [first, second, ..] = runs("");
    let told = row(3, "run/1", "research_need", r#"{"need_id":"n3"}"#);
    assert_eq!(together(&[first, second, told]), [vec!["run/1".to_owned(), "work/1".to_owned()]]);
}

/// A policy that holds for all in a stream of a matter holds only for its run where runs have their own.
#[test]
fn settings_of_a_run_are_its_own() {
    let entry = r#"{"type_name":"FindingState","canonical_owner_doc":"A","status":"canonical","imported_by_docs":["B"]}"#;
    let declared = |doc: &str, as_what: &str, hash: char| {
        let hash = hash.to_string().repeat(64);
        format!(
            r#"{{"declaration_id":"{doc}","type_name":"FindingState","declared_in_doc":"{doc}","declared_as":"{as_what}","schema_hash":"{hash}"}}"#
        )
    };
    let rows = |first: &str, second: &str| {
        [
            row(1, first, "type_owner_registry_entry", entry),
            row(2, first, "type_declaration", &declared("A", "canonical", '0')),
            row(3, second, "type_declaration", &declared("B", "imported", '1')),
        ]
    };
    let codes = |rows: &[Stored]| {
        audited(rows, None, ONE_BY_ONE).iter().map(|one| (one.row, one.code)).collect::<Vec<_>>()
    };
    let joined = codes(&rows("run/1", "run/2"));
    assert!(joined.iter().any(|(_, code)| *code == "type_owner_drift"), "{joined:?}");
    let apart = codes(&rows("work/1", "work/2"));
    assert!(apart.iter().all(|(_, code)| *code != "type_owner_drift"), "{apart:?}");
}

#[test]
fn what_holds_no_record_or_is_of_no_type_is_told() {
    let mut rows = ledger(1, |_| {});
    let now = end(&rows);
    rows.push(row(rows.len() as u64 + 1, "run/x", "research_need", "1"));
    rows.push(row(rows.len() as u64 + 1, "elsewhere", "no_such_thing", "{}"));
    let (told, _) = found(&rows, now, Limits::LEDGER);
    let shapes: Vec<_> =
        told.shapes.iter().map(|one| (one.row, one.kind.as_str(), one.path.as_str())).collect();
    assert_eq!((shapes, told.shape_count), (vec![(rows.len() as u64 - 1, "ResearchNeed", "/record")], 1));
    let codes: Vec<_> = told.codes.iter().map(|one| (one.row, one.code, one.path.as_str())).collect();
    assert_eq!(codes, [(rows.len() as u64, "phantom_type_reference", "")]);
}
