//! Forgeries that are consistent in all but one thing: everything is chained and signed anew, and that one thing is named.

use crate::scenes;
use crate::sound::told;
use crate::stage::parsed;
use countersign_record::canonical;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::json;
use countersign_record::row::{Proof, Row};
use countersign_testkit::forge::{file, key, restated};
use countersign_verify::dsse::Envelope;
use countersign_verify::packet::{Blob, Content, Entry, Statement};
use countersign_verify::report::{Check, Outcome};
use countersign_verify::verify;
use std::collections::BTreeSet;

/// A statement fails, and names a record of a kind at a place.
fn check(what: &str, statement: &Statement, kind: &str, path: &str) {
    let report = verify(&file(statement, &key(2)), &[]);
    assert_eq!(report.result, Outcome::Failed, "{what}");
    let is_it = |failure: &countersign_verify::report::Failure| {
        let record = failure.place.record.as_deref().unwrap_or_default();
        record.starts_with(kind) && failure.place.path.as_deref().unwrap_or_default() == path
    };
    assert!(report.failures.iter().any(is_it), "{what}: {kind} {path} is not named:\n{}", told(&report));
}

/// A statement with rows changed one by one; what is gone of a row is gone.
pub(crate) fn with_rows(statement: &Statement, change: impl Fn(Row) -> Option<Row>) -> Statement {
    let rows = statement.ledger.rows.iter().cloned().filter_map(|entry| match entry {
        Entry::Whole(row) => change(*row).map(|row| Entry::Whole(Box::new(row))),
        Entry::Withheld(head) => Some(Entry::Withheld(head)),
    });
    restated(statement, rows.collect())
}

/// A statement in which other bytes stand in the place of some, wherever rows name them.
pub(crate) fn with_bytes(statement: &Statement, old: Digest, new: Vec<u8>) -> Statement {
    let mut other = statement.clone();
    let blob = Blob::of(new);
    let (digest, size) = (blob.digest, blob.size);
    other.blobs.retain(|one| one.digest != old);
    other.blobs.push(blob);
    with_rows(&other, |mut row| {
        for named in row.blobs.iter_mut().filter(|one| one.digest == old) {
            (named.digest, named.size) = (digest, size);
        }
        Some(row)
    })
}

/// A statement of another task, as if the run had begun with it.
pub(crate) fn with_task(statement: &Statement, from: &str, to: &str) -> Statement {
    let text = json::to_text(&statement.task).unwrap();
    assert!(text.contains(from), "{text}");
    let task = parsed(&text.replace(from, to));
    let Some(Entry::Whole(began)) = statement.ledger.rows.first() else {
        panic!("a run begins with its own row")
    };
    let old = began.blobs[2].digest;
    let Some(setup) = statement.blobs.iter().find(|one| one.digest == old) else { panic!("it has a setup") };
    let Content::Present(bytes) = &setup.content else { panic!("it is here") };
    let mut setup = json::parse(bytes).unwrap().as_object().unwrap().clone();
    setup.insert("task", task.clone());
    let mut other = statement.clone();
    other.task = task;
    with_bytes(&other, old, canonical::to_bytes(&setup.into()).unwrap())
}

fn is(row: &Row, kind: &str) -> bool {
    row.kind.as_str() == format!("govern.{kind}")
}

#[test]
fn every_source_is_one_of_the_tasks_and_has_its_text() {
    let statement = scenes::safe().statement();
    let unnamed = with_task(&statement, r#""id":"letter""#, r#""id":"another""#);
    check("a source that the task does not name", &unnamed, "SourceRecord", "/source_id");
    check("an operation on it", &unnamed, "SourceWorkspaceOperation", "/payload_ref");
    let bare = with_rows(&statement, |mut row| {
        if is(&row, "source_record") {
            row.blobs.clear();
        }
        Some(row)
    });
    check("a source without its text", &bare, "SourceRecord", "/domain_payload/sha256");
    let texts = with_rows(&statement, |mut row| {
        let is_later = is(&row, "source_record") && row.blobs.is_empty();
        if is_later {
            row.blobs = statement.ledger.rows.iter().find_map(|one| match one {
                Entry::Whole(first) if is(first, "source_record") => Some(first.blobs.clone()),
                Entry::Whole(_) | Entry::Withheld(_) => None,
            })?;
        }
        Some(row)
    });
    check("another text behind a source", &texts, "SourceRecord", "/domain_payload/sha256");
}

#[test]
fn what_needs_a_person_waits_for_one() {
    let required = r#""policies":{"approval":{"contract":"required"}},"schema_version""#;
    let statement = with_task(&scenes::safe().statement(), r#""schema_version""#, required);
    check("nobody agreed", &statement, "ArtifactVersion", "/artifact_version_id");
}

#[test]
fn nothing_that_a_packet_rests_on_comes_behind_it() {
    let statement = scenes::safe().statement();
    for (snake, kind) in [
        ("policy_snapshot", "PolicySnapshot"),
        ("artifact_version_transition_event", "ArtifactVersionTransitionEvent"),
    ] {
        let mut rows = statement.ledger.rows.clone();
        let copy =
            rows.iter().rfind(|one| matches!(one, Entry::Whole(row) if is(row, snake))).cloned().unwrap();
        rows.push(copy);
        let report = verify(&file(&restated(&statement, rows), &key(2)), &[]);
        let is_it = |failure: &countersign_verify::report::Failure| {
            failure.code == Code::VerifyIncomplete
                && failure.place.record.as_deref().is_some_and(|record| record.starts_with(kind))
                && failure.message.contains("after the packet")
        };
        assert!(report.failures.iter().any(is_it), "{kind}:\n{}", told(&report));
    }
}

/// What happened once is on record once: a copy behind everything is found, whatever it is.
#[test]
fn no_event_is_written_twice() {
    let statement = scenes::safe().statement();
    let mut missed = Vec::new();
    for entry in &statement.ledger.rows {
        let Entry::Whole(row) = entry else { continue };
        if !row.kind.as_str().starts_with("govern.") {
            continue;
        }
        let mut rows = statement.ledger.rows.clone();
        rows.push(entry.clone());
        let report = verify(&file(&restated(&statement, rows), &key(2)), &[]);
        if report.result != Outcome::Failed {
            missed.push(format!("{} {}", row.seq, row.kind));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn a_command_that_was_accepted_left_what_it_writes() {
    let statement = scenes::taken_back().statement();
    let report = verify(&file(&statement, &key(1)), &[]);
    assert_eq!((report.result, told(&report).as_str()), (Outcome::Fallen, ""));
    let hidden = with_rows(&statement, |row| (!is(&row, "reliance_invalidation_event")).then_some(row));
    check("what a person took back still stands", &hidden, "CommandReceipt", "/status");
}

/// A statement fails at a place in a row, or in the statement itself.
pub(crate) fn check_at(what: &str, statement: &Statement, path: &str) {
    let report = verify(&file(statement, &key(2)), &[]);
    assert_eq!(report.result, Outcome::Failed, "{what}");
    let paths = report.failures.iter().filter_map(|one| one.place.path.as_deref());
    assert!(paths.clone().any(|one| one == path), "{what}: {path} is not named:\n{}", told(&report));
}

/// A row with another text in its payload.
fn worded(mut row: Row, from: &str, to: &str) -> Row {
    row.payload = parsed(&json::to_text(&row.payload).unwrap().replace(from, to));
    row
}

#[test]
fn the_work_is_what_was_drafted_and_what_is_handed_over() {
    let statement = scenes::safe().statement();
    let old = statement.subjects[0].digest;
    let Some(blob) = statement.blobs.iter().find(|one| one.digest == old) else { panic!("it is here") };
    let Content::Present(bytes) = &blob.content else { panic!("it is here") };
    let new = [bytes.as_slice(), b"\n"].concat();
    let digest = Digest::of(&new).to_string();
    let other = with_bytes(&statement, old, new);
    let other = with_rows(&other, |row| Some(worded(row, &old.to_string(), &digest)));
    check("another work than the draft", &other, "ArtifactVersion", "/content_hash");
    check_at("another work than was handed over", &other, "/payload/products");
    check_at("another text than was handed over", &other, "/payload/final_response");
    let mended = scenes::mended().statement();
    let stepless = with_rows(&mended, |row| match is(&row, "artifact_version") {
        true => Some(worded(row, "produced_by_step_id\":\"", "produced_by_step_id\":\"x")),
        false => Some(row),
    });
    check("a version that no step made", &stepless, "ArtifactVersion", "/produced_by_step_id");
}

#[test]
fn a_run_goes_by_its_pipeline_and_its_limits() {
    let statement = scenes::safe().statement();
    let Some(Entry::Whole(began)) = statement.ledger.rows.first() else { panic!("it began") };
    let old = began.blobs[1].digest;
    let Some(blob) = statement.blobs.iter().find(|one| one.digest == old) else { panic!("it is here") };
    let Content::Present(bytes) = &blob.content else { panic!("it is here") };
    let text = String::from_utf8(bytes.clone()).unwrap();
    let new = text.replace(r#""name":"stage""#, r#""name":"task""#).into_bytes();
    let digest = Digest::of(&new).to_string();
    let named = with_bytes(&statement, old, new);
    let named = with_rows(&named, |row| {
        Some(worded(worded(row, &old.to_string(), &digest), r#""pipeline":"stage""#, r#""pipeline":"task""#))
    });
    check_at("another pipeline by the name of ours", &named, "/payload/pipeline");
    let code = with_task(&statement, r#""kind":"markdown""#, r#""kind":"markdown","codespec":"spec.md""#);
    check_at("code that nobody holds to its CodeSpec", &code, "/payload/pipeline");
    let limits = r#""limits":{"max_llm_calls":1},"schema_version""#;
    let limited = with_task(&statement, r#""schema_version""#, limits);
    check_at("other limits than the task's", &limited, "/blobs/0/max_llm_calls");
}

#[test]
fn a_task_is_whole_and_has_the_form_of_one() {
    let statement = scenes::safe().statement();
    let more = r#",{"id":"two","path":"two.md","kind":"markdown"}],"goal""#;
    let unmade = with_task(&statement, r#"],"goal""#, more);
    check("a work product that was never made", &unmade, "Artifact ", "");
    let version = with_task(&statement, r#""schema_version":"1.0""#, r#""schema_version":"1.0x""#);
    check_at("another version", &version, "/predicate/task/schema_version");
    let asks = r#""ask":"How long does the lease run?""#;
    let half = with_task(&statement, asks, &format!(r#"{asks},"quotes":0.5"#));
    check_at("half a quote", &half, "/predicate/task/artifacts/0/sections/0/quotes");
    let check_of = r#"{"kind":"length","words_max":60}"#;
    let pattern = with_task(&statement, check_of, r#"{"kind":"matches"}"#);
    check_at("a pattern that is none", &pattern, "/predicate/task/outcomes/1/criteria/0/check");
    let unknown = with_task(&statement, r#""schema_version""#, r#""board_approved":true,"schema_version""#);
    check_at("a member that no task has", &unknown, "/predicate/task/board_approved");
}

#[test]
fn who_and_why_are_those_of_the_command() {
    let statement = scenes::contested().statement();
    let ceo = with_rows(&statement, |row| Some(worded(row, "user:ana", "user:ceo")));
    check_at("commands of somebody else than wrote them", &ceo, "/actor");
    let moved = with_rows(&statement, |row| match is(&row, "finding_lifecycle_transition_receipt") {
        true => Some(worded(row, "user:ana", "user:ceo")),
        false => Some(row),
    });
    check("somebody else's move", &moved, "FindingLifecycleTransitionReceipt", "/actor_ref");
    let grounds = with_rows(&statement, |row| match is(&row, "contestation_request") {
        true => Some(worded(row, "another deed", "no deed")),
        false => Some(row),
    });
    check("other grounds", &grounds, "ContestationRequest", "/grounds");
}

/// What rests on a source that is withheld is told as withheld, and which source that is.
#[test]
fn claims_on_a_source_that_is_withheld_are_not_checked() {
    let statement = scenes::safe().statement();
    let is_lease =
        |one: &&Blob| matches!(&one.content, Content::Present(bytes) if bytes.starts_with(b"# Lease"));
    let lease = statement.blobs.iter().find(is_lease).unwrap().digest;
    let part = statement.clone().withholding(&BTreeSet::from([lease]), "privileged");
    let report = verify(&file(&part, &key(1)), &[]);
    assert_eq!(report.result, Outcome::VerifiedInPart, "{}", told(&report));
    assert_eq!(report.withheld[0].path.as_deref(), Some("sources/lease.md"));
    for check in [Check::Claims, Check::Criteria, Check::Verdicts, Check::Evidence, Check::Reliance] {
        let counted = report.checks.iter().find(|one| one.check == check).unwrap();
        assert!(counted.withheld > 0, "{}", check.as_str());
    }
    let claims = report.checks.iter().find(|one| one.check == Check::Claims).unwrap();
    assert!(claims.withheld >= 2, "each of the two claims was held against it");
}

#[test]
fn nothing_is_listed_twice() {
    let mut statement = scenes::safe().statement();
    let first = statement.formulas[0].clone();
    statement.formulas.insert(1, first);
    let report = verify(&file(&statement, &key(2)), &[]);
    let codes: Vec<Code> = report.failures.iter().map(|one| one.code).collect();
    assert_eq!(codes, [Code::VerifyFormula], "{}", told(&report));
    statement.formulas.remove(1);
    let mut envelope = Envelope::read(&file(&statement, &key(2))).unwrap();
    envelope.signatures.push(envelope.signatures[0]);
    let report = verify(&envelope.to_bytes().unwrap(), &[]);
    let codes: Vec<Code> = report.failures.iter().map(|one| one.code).collect();
    assert_eq!(codes, [Code::VerifyFile], "{}", told(&report));
    let report = verify(&countersign_testkit::forge::enclosed(b"[".to_vec(), &key(2)), &[]);
    assert!(!report.failures[0].message.starts_with(':'), "{}", told(&report));
}

#[test]
fn what_counts_has_its_index() {
    let statement = scenes::safe().statement();
    let bare = with_rows(&statement, |row| (!is(&row, "quality_index")).then_some(row));
    check("looks without the index of their scores", &bare, "EvaluationResultEnvelope", "");
}

#[test]
fn no_source_is_of_another_matter() {
    let statement = scenes::safe().statement();
    let foreign = with_task(&statement, r#""id":"letter""#, r#""id":"letter","matter":"another""#);
    let report = verify(&file(&foreign, &key(2)), &[]);
    let is_it = |failure: &countersign_verify::report::Failure| {
        failure.place.path.as_deref() == Some("/predicate/task/sources/1/matter")
    };
    assert!(report.failures.iter().any(is_it), "{}", told(&report));
}

/// A statement with one row changed.
pub(crate) fn with_row(statement: &Statement, at: usize, change: impl FnOnce(&mut Row)) -> Statement {
    let mut rows = statement.ledger.rows.clone();
    let Entry::Whole(row) = &mut rows[at] else { panic!("it is the run's own") };
    change(row);
    restated(statement, rows)
}

pub(crate) fn place(statement: &Statement, is_it: impl Fn(&Row) -> bool) -> usize {
    let own = |one: &Entry| matches!(one, Entry::Whole(row) if is_it(row));
    statement.ledger.rows.iter().position(own).unwrap()
}

#[test]
fn the_rows_of_a_run_stand_in_order() {
    let statement = scenes::answered().statement();
    let rows = statement.ledger.rows.iter().enumerate();
    let own =
        rows.filter(|(_, one)| matches!(one, Entry::Whole(row) if row.kind.as_str().starts_with("run.")));
    let own: Vec<usize> = own.map(|(at, _)| at).collect();
    for at in own.iter().skip(1) {
        let early = with_row(&statement, *at, |row| row.at = "2016-01-01T00:00:00Z".try_into().unwrap());
        check_at("a row before the one before it", &early, "/at");
    }
    for at in own.iter().rev().skip(1) {
        let late = with_row(&statement, *at, |row| row.at = "2036-01-01T00:00:00Z".try_into().unwrap());
        check_at("a row behind the one behind it", &late, "/at");
    }
}

#[test]
fn whoever_signs_signs_every_decision() {
    let statement = crate::requests::commanded().statement();
    let is_signed = |row: &Row| matches!(row.proof, Proof::Signed { .. });
    let count =
        statement.ledger.rows.iter().filter(|one| matches!(one, Entry::Whole(row) if is_signed(row))).count();
    assert!(count > 3, "{count}");
    for (at, _) in statement.ledger.rows.iter().enumerate() {
        let Entry::Whole(row) = &statement.ledger.rows[at] else { continue };
        if is_signed(row) && at != place(&statement, is_signed) {
            let bare = with_row(&statement, at, |row| row.proof = Proof::SelfAsserted);
            check_at("a decision whose signature was taken away", &bare, "/proof");
        }
    }
    let first = place(&statement, is_signed);
    let bare = with_row(&statement, first, |row| row.proof = Proof::None);
    check_at("a signed answer to a command that nobody signed", &bare, "/proof");
}

#[test]
fn a_row_names_no_bytes_that_its_record_is_not_about() {
    let statement = scenes::safe().statement();
    let named = place(&statement, |row| is(row, "source_record") && !row.blobs.is_empty());
    let Entry::Whole(source) = &statement.ledger.rows[named] else { panic!("it is there") };
    for kind in ["outcome_record", "source_record", "artifact_version"] {
        let at = place(&statement, |row| is(row, kind));
        let more = with_row(&statement, at, |row| row.blobs.extend(source.blobs.iter().copied()));
        check_at(kind, &more, "/blobs");
    }
}

#[test]
fn a_change_names_the_work_that_it_changes() {
    let statement = scenes::mended().statement();
    let at = place(&statement, |row| is(row, "revision_review_packet"));
    let Entry::Whole(row) = &statement.ledger.rows[at] else { panic!("it is there") };
    let old = row.blobs[0].digest;
    let Some(blob) = statement.blobs.iter().find(|one| one.digest == old) else { panic!("it is here") };
    let Content::Present(bytes) = &blob.content else { panic!("it is here") };
    let text = String::from_utf8(bytes.clone()).unwrap();
    let new = text.replacen("memo.md", "other.md", 1).into_bytes();
    let digest = Digest::of(&new).to_string();
    let other = with_bytes(&statement, old, new);
    let other = with_rows(&other, |row| Some(worded(row, &old.to_string(), &digest)));
    check("the change of another file", &other, "RevisionReviewPacket", "/semantic_diff_ref");
}

#[test]
fn costs_are_those_of_the_questions_that_were_asked() {
    let statement = crate::handoffs::coded().statement();
    let at = place(&statement, |row| row.kind.as_str() == "run.returned");
    for calls in ["0", "7"] {
        let said = r#""llm_calls":1"#;
        let other =
            with_row(&statement, at, |row| *row = worded(row.clone(), said, &said.replace('1', calls)));
        check_at("another number of questions", &other, "/payload/llm_calls");
    }
    // A piece of work that is left out, with its cost.
    let at = place(&statement, |row| is(row, "task_cost_record"));
    let mut rows = statement.ledger.rows.clone();
    rows.drain(at - 1..=at);
    check_at("a cost that is left out", &restated(&statement, rows), "/payload/took");
}
