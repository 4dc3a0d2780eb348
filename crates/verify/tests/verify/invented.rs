//! Records that nobody wrote: decisions of people who were not asked, checks of commands that nobody gave, copies of what was written
//! once. Each is put in, everything is chained and signed anew, and it is found.

use crate::scenes;
use crate::sound::told;
use crate::stage::{Stage, parsed};
use countersign_govern::reference::snake;
use countersign_record::code::Code;
use countersign_record::json::Object;
use countersign_record::row::Row;
use countersign_testkit::forge::{self, file, key, restated};
use countersign_verify::measure::{ALONG, TOLD};
use countersign_verify::packet::{Entry, Statement};
use countersign_verify::report::{Outcome, Report};
use countersign_verify::verify;
use countersign_work::emitted::EMITTED;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

fn governed(entry: &Entry) -> Option<&Row> {
    match entry {
        Entry::Whole(row) if row.kind.as_str().starts_with("govern.") => Some(row),
        Entry::Whole(_) | Entry::Withheld(_) => None,
    }
}

/// A statement with one more record, written at a place with what stands before it.
fn with(statement: &Statement, at: usize, kind: &str, record: &str) -> Statement {
    let rows = &statement.ledger.rows;
    let last = rows[..at].iter().rev().find_map(governed).unwrap();
    let record = record.replace("RUN", statement.run.as_str()).replace("AT", last.at.as_str());
    let mut row = last.clone();
    row.kind = format!("govern.{}", snake(kind)).try_into().unwrap();
    row.payload = Object::from([("record", parsed(&record))]).into();
    row.blobs = Vec::new();
    let mut rows = rows.clone();
    rows.insert(at, Entry::Whole(Box::new(row)));
    restated(statement, rows)
}

fn report(statement: &Statement) -> Report {
    verify(&file(statement, &key(2)), &[])
}

/// What people are said to have decided, and what is said to have been checked, by kind.
const INVENTED: [(&str, &str); 8] = [
    (
        "PolicyEvaluation",
        r#"{"policy_evaluation_id":"RUN.check.999","policy_id":"general_counsel_approved","policy_version":"7","decision":"allow",
        "user_alterable":false,"decided_at":"AT","schema_version":"1.0"}"#,
    ),
    (
        "HumanFeedbackEvent",
        r#"{"event_id":"RUN.label.999","run_id":"RUN","subject_ref":"criterion:RUN.grounded","user_ref":"user:ceo","label":"yes",
        "created_at":"AT","schema_version":"1.0"}"#,
    ),
    (
        "UnanchoredAcknowledgment",
        r#"{"acknowledgment_id":"RUN.acknowledged.999","criterion_id":"RUN.grounded","outcome_id":"RUN.term-stated",
        "user_ref":"user:ceo","created_at":"AT","schema_version":"1.0"}"#,
    ),
    (
        "TaskRunFork",
        r#"{"fork_id":"RUN.fork.999","parent_run_id":"RUN","new_run_id":"run_ffffffffffffffff","fork_reason":"the board wants it",
        "forked_from_checkpoint_ref":"known_good_checkpoint:RUN.none","irrevocable_side_effects_at_fork":[],"created_at":"AT",
        "schema_version":"1.0"}"#,
    ),
    (
        "TaskProcessGapSignal",
        r#"{"signal_id":"RUN.gap.999","outcome_id":"RUN.term-stated","run_id":"RUN","missing_capability_refs":[],"created_at":"AT",
        "schema_version":"1.0"}"#,
    ),
    (
        "MetricObservationInvalidationEvent",
        r#"{"event_id":"RUN.withdrawn.999","observation_ref":"metric_observation:RUN.none","reason":"no","created_at":"AT",
        "schema_version":"1.0"}"#,
    ),
    (
        "HardCallPendingEvent",
        r#"{"event_id":"RUN.pending.999","hard_call_id":"RUN.question.1","cause":"deferred","action":"pause_scope","created_at":"AT",
        "schema_version":"1.0"}"#,
    ),
    (
        "CriterionSemanticReviewReceipt",
        r#"{"receipt_id":"RUN.reworded.999","criterion_id":"RUN.grounded","reviewer_ref":"user:ceo","conclusion":"meaning_changed",
        "from_text_hash":"0000000000000000000000000000000000000000000000000000000000000000",
        "to_text_hash":"0000000000000000000000000000000000000000000000000000000000000000","created_at":"AT","schema_version":"1.0"}"#,
    ),
];

#[test]
fn nobody_decides_what_they_were_not_asked() {
    let mut missed = Vec::new();
    for (name, scene) in
        [("safe", scenes::safe as fn() -> Stage), ("issued", scenes::issued), ("labelled", scenes::labelled)]
    {
        let statement = scene().statement();
        let rows = &statement.ledger.rows;
        let of = |kind: &str| {
            rows.iter().position(|one| governed(one).is_some_and(|row| row.kind.as_str() == kind))
        };
        let places = [
            Some(rows.len()),
            of("govern.evaluation_chain_registry_record"),
            of("govern.task_reliance_packet"),
        ];
        for at in places.into_iter().flatten() {
            for (kind, record) in INVENTED {
                let report = report(&with(&statement, at, kind, record));
                let is_it = |one: &countersign_verify::report::Failure| {
                    let record = one.place.record.as_deref().unwrap_or_default();
                    // A question that nobody asked is told as that.
                    let codes = [Code::VerifyUnderivable, Code::VerifyDerivation];
                    record.starts_with(kind) && record.ends_with(".999") && codes.contains(&one.code)
                };
                if report.result != Outcome::Failed || !report.failures.iter().any(is_it) {
                    missed.push(format!("{name} at {at}: {kind}\n{}", told(&report)));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// Tries changes of rows, more than one at once; gives those that are not found.
fn unfound(statement: &Statement, changes: &[(String, Vec<Entry>)]) -> Vec<String> {
    let (next, missed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((what, rows)) = changes.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if report(&restated(statement, rows.clone())).result != Outcome::Failed {
                        missed.lock().unwrap().push(what.clone());
                    }
                }
            });
        }
    });
    missed.into_inner().unwrap()
}

/// The first and the last row of each kind.
fn ends(statement: &Statement) -> BTreeSet<usize> {
    let mut ends: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (at, entry) in statement.ledger.rows.iter().enumerate() {
        if let Some(row) = governed(entry) {
            ends.entry(row.kind.as_str()).or_insert((at, at)).1 = at;
        }
    }
    ends.into_values().flat_map(|(first, last)| [first, last]).collect()
}

/// Records that may be left out: whoever follows the board is told less then, and nothing rests on what is told there.
const DROPPED: [&str; 1] = ["govern.run_board_visible_post"];

/// What is written once is on record once, and what must be there is, also where a run goes on behind its packet.
#[test]
fn nothing_is_doubled_or_left_out_in_a_long_history() {
    let mut missed = Vec::new();
    let all = [
        ("issued", scenes::issued as fn() -> Stage),
        ("contested", scenes::contested),
        ("answered", scenes::answered),
        ("mended", scenes::mended),
        ("besides", scenes::besides),
        ("amended", crate::decided::amended),
    ];
    for (name, scene) in all {
        let statement = scene().statement();
        let rows = &statement.ledger.rows;
        let mut changes = Vec::new();
        for at in ends(&statement) {
            let row = governed(&rows[at]).unwrap();
            let kind = row.kind.as_str();
            let what = |how: &str| format!("{name}: {} {kind} {how}", row.seq);
            let mut doubled = rows.clone();
            doubled.push(rows[at].clone());
            changes.push((what("doubled at the end"), doubled));
            let mut twice = rows.clone();
            twice.insert(at, rows[at].clone());
            changes.push((what("twice"), twice));
            if !DROPPED.contains(&kind) {
                let mut left_out = rows.clone();
                left_out.remove(at);
                changes.push((what("left out"), left_out));
            }
        }
        missed.extend(unfound(&statement, &changes));
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// Every kind that a run writes is taken as told, and listed as that; or each of its members is changed in turn in some run.
#[test]
fn every_kind_that_is_written_is_told_or_forged() {
    let mut forged: BTreeSet<&str> = forge::RARE.into();
    for (_, scene) in scenes::ALL.into_iter().flatten() {
        forged.extend(forge::kinds(&scene().statement()));
    }
    let all = EMITTED.iter().flat_map(|module| module.kinds.iter().copied());
    let is_known = |kind: &&str| {
        TOLD.contains(kind) || ALONG.contains(kind) || (forge::is_looked_at(kind) && forged.contains(kind))
    };
    assert_eq!(all.filter(|kind| !is_known(kind)).collect::<Vec<_>>(), Vec::<&str>::new());
    assert!(forge::RARE.iter().all(|kind| forge::is_looked_at(kind)));
    assert!(ALONG.is_sorted() && ALONG.iter().all(|kind| !forge::is_looked_at(kind) && !TOLD.contains(kind)));
}
