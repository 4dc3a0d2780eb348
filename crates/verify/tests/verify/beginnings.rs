//! Runs that begin otherwise than their task says: every hash is made anew, and where they do is named.

use crate::forgeries::{check_at, place, with_bytes, with_row, with_rows, with_task};
use crate::handoffs::{coded, handed_otherwise};
use crate::scenes;
use crate::sound::told;
use crate::stage::parsed;
use countersign_record::canonical;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::json::{self, Json, Object};
use countersign_record::row::{Proof, Row};
use countersign_record::run_kind;
use countersign_testkit::forge::{enclosed, file, key};
use countersign_verify::packet::{Content, Entry, Statement};
use countersign_verify::report::{Check, Outcome};
use countersign_verify::{Lacking, lacking, verify};
use std::collections::BTreeSet;

fn document(statement: &Statement, at: usize) -> (Digest, String) {
    let Some(Entry::Whole(began)) = statement.ledger.rows.first() else { panic!("it began") };
    let digest = began.blobs[at].digest;
    let blob = statement.blobs.iter().find(|one| one.digest == digest).unwrap();
    let Content::Present(bytes) = &blob.content else { panic!("it is here") };
    (digest, String::from_utf8(bytes.clone()).unwrap())
}

/// A statement of a run that began with another document; members of its first row follow.
fn begun_with(statement: &Statement, at: usize, text: &str, more: &[(&str, String)]) -> Statement {
    let (old, _) = document(statement, at);
    let other = with_bytes(statement, old, text.as_bytes().to_vec());
    with_rows(&other, |mut row| {
        if row.kind.as_str() == run_kind::BEGAN {
            let mut payload = row.payload.as_object().unwrap().clone();
            for (name, value) in more {
                payload.insert(*name, value.as_str());
            }
            row.payload = payload.into();
        }
        Some(row)
    })
}

/// The same with a piece of the text replaced.
fn otherwise(statement: &Statement, at: usize, from: &str, to: &str) -> Statement {
    let (_, text) = document(statement, at);
    assert!(text.contains(from), "{from}: {text}");
    let text = text.replacen(from, to, 1);
    let hash = || String::from(canonical::hash(&parsed(&text)).unwrap());
    let more = match at {
        0 => vec![("state_hash", hash())],
        1 => {
            let name = parsed(&text).get("name").and_then(Json::as_str).unwrap().to_owned();
            vec![("pipeline", name), ("pipeline_hash", String::from(Digest::of(text.as_bytes())))]
        }
        _ => Vec::new(),
    };
    begun_with(statement, at, &text, &more)
}

#[test]
fn the_first_envelope_is_the_one_of_the_task() {
    let statement = coded().statement();
    for (from, to, member) in [
        (r#""codespec_path":"builtin:python""#, r#""codespec_path":"lax.md""#, "metadata"),
        (r#""filename":"parser.py""#, r#""filename":"other.py""#, "metadata"),
        (r#""artifact":{"#, r#""note":{"#, "metadata"),
        (r#""metadata":{"#, r#""metadata":{"approved_by":"the board","#, "metadata"),
        (r#""run_id":"run_0123456789abcdef""#, r#""run_id":"run_1123456789abcdef""#, "metadata"),
        (r#""stage_order":["draft","#, r#""stage_order":["#, "stage_order"),
        (r#""llm_call_count":0"#, r#""llm_call_count":1"#, "llm_call_count"),
        (r#""agent_hop_count":0"#, r#""agent_hop_count":9"#, "agent_hop_count"),
        (r#""max_stages":5"#, r#""max_stages":9"#, "max_stages"),
        (r#""max_iterations":60"#, r#""max_iterations":61"#, "max_iterations"),
        (r#""all_goals":["Write a parser."]"#, r#""all_goals":["Buy it."]"#, "all_goals"),
        (r#""raw_input":"Write a parser.""#, r#""raw_input":"Buy it.""#, "raw_input"),
        (r#""user_id":"ana""#, r#""user_id":"ceo""#, "user_id"),
        (r#""confirmation_message":null"#, r#""confirmation_message":"yes""#, "confirmation_message"),
        (r#""clarification_response":null"#, r#""clarification_response":"x""#, "clarification_response"),
        (r#""critic_feedback":[]"#, r#""critic_feedback":["good"]"#, "critic_feedback"),
        (r#""termination_reason":null"#, r#""termination_reason":"x""#, "termination_reason"),
    ] {
        check_at(to, &otherwise(&statement, 0, from, to), &format!("/blobs/0/{member}"));
    }
    let late = (r#""received_at":"2026"#, r#""received_at":"2036"#);
    check_at("received later", &otherwise(&statement, 0, late.0, late.1), "/blobs/0/received_at");
}

#[test]
fn nothing_else_is_put_down_with_the_first_row() {
    let statement = scenes::safe().statement();
    let more = otherwise(&statement, 2, "{", r#"{"approved":"the board","#);
    check_at("a member that no setup has", &more, "/blobs/2/approved");
    let heads = format!(r#"{{"heads":{{"memo":"{}"}},"#, "ab".repeat(32));
    check_at("work without a fork", &otherwise(&statement, 2, "{", &heads), "/blobs/2/heads");
    let began = place(&statement, |row| row.kind.as_str() == run_kind::BEGAN);
    let other = with_row(&statement, began, |row| {
        let mut payload = row.payload.as_object().unwrap().clone();
        payload.insert("approved_by", "the board");
        row.payload = payload.into();
    });
    check_at("a member that no first row has", &other, "/payload/approved_by");
}

#[test]
fn a_run_goes_by_the_pipeline_of_its_task() {
    let statement = scenes::safe().statement();
    let (from, to) = (r#""name":"stage""#, r#""name":"mine""#);
    check_at("a pipeline by another name", &otherwise(&statement, 1, from, to), "/payload/pipeline");
    let (from, to) = (r#""name":"task_critic""#, r#""name":"critic""#);
    check_at("a pipeline with another agent", &otherwise(&statement, 1, from, to), "/payload/pipeline");
    let shipped = with_task(&statement, r#""pipeline":"own.toml""#, r#""pipeline":"task""#);
    check_at("another than the shipped one", &shipped, "/payload/pipeline");
    let other = with_task(&statement, r#""pipeline":"own.toml""#, r#""pipeline":"other.toml""#);
    check_at("a file that is not there", &other, "/predicate/files");
}

/// A statement in which some bytes are withheld.
fn without(statement: &Statement, digest: Digest) -> Statement {
    statement.clone().withholding(&BTreeSet::from([digest]), "privileged")
}

#[test]
fn what_a_run_begins_with_is_not_withheld() {
    let statement = coded().statement();
    assert_eq!(lacking(&statement), None);
    let own = statement.files["own.toml"];
    let documents = (0..3).map(|at| (document(&statement, at).0, format!("/blobs/{at}")));
    for (digest, path) in documents.chain([(own, "/predicate/files".to_owned())]) {
        let part = without(&statement, digest);
        assert_eq!(lacking(&part), Some(Lacking::Beginning(digest)));
        let report = verify(&file(&part, &key(2)), &[]);
        let is_it = |one: &countersign_verify::report::Failure| {
            one.code == Code::VerifyIncomplete && one.place.path.as_deref() == Some(path.as_str())
        };
        assert!(report.failures.iter().any(is_it), "{path}:\n{}", told(&report));
    }
    // Without its pipeline nobody can say who handed anything over.
    let part = without(&statement, document(&statement, 1).0);
    let report = verify(&file(&part, &key(2)), &[]);
    for check in [Check::Run, Check::Critic] {
        let counted = report.checks.iter().find(|one| one.check == check).unwrap();
        assert!(counted.withheld > 0, "{}", check.as_str());
    }
    let is_enforced = |row: &Row| row.payload.get("output_key").and_then(Json::as_str) == Some("enforcement");
    let at = place(&statement, |row| row.kind.as_str() == run_kind::RETURNED && is_enforced(row));
    let Entry::Whole(row) = &statement.ledger.rows[at] else { panic!("it is there") };
    let blob = statement.blobs.iter().find(|one| one.digest == row.blobs[0].digest).unwrap();
    let Content::Present(bytes) = &blob.content else { panic!("it is here") };
    let text = String::from_utf8(bytes.clone()).unwrap();
    let failed = parsed(&text.replace(r#""status":"PASS""#, r#""status":"FAIL""#));
    let failed = without(&handed_otherwise(&statement, at, &failed), document(&statement, 1).0);
    check_at("code that does not keep its CodeSpec", &failed, "/payload/status");
}

#[test]
fn the_files_that_a_task_names_are_there() {
    let statement = scenes::safe().statement();
    let (_, text) = document(&statement, 2);
    let mut setup: Object = parsed(&text).as_object().unwrap().clone();
    setup.remove("files");
    let mut bare = begun_with(&statement, 2, &json::to_text(&Json::from(setup)).unwrap(), &[]);
    bare.files.clear();
    check_at("no files", &bare, "/predicate/files");
    let from = r#""kind":"markdown""#;
    let begun = with_task(&statement, from, &format!(r#"{from},"from":"draft.md""#));
    check_at("a draft that is not there", &begun, "/predicate/files");
}

#[test]
fn a_task_says_amounts_and_words() {
    let statement = scenes::safe().statement();
    let before = r#""schema_version""#;
    for (more, path) in [
        (r#""budget":{"usd":"abc"}"#, "budget/usd"),
        (r#""budget":{"usd":"-1"}"#, "budget/usd"),
        (r#""budget":{"wall_clock_ms":5}"#, "budget/wall_clock_ms"),
        (r#""limits":{"max_llm_calls":0}"#, "limits/max_llm_calls"),
    ] {
        let other = with_task(&statement, before, &format!("{more},{before}"));
        check_at(more, &other, &format!("/predicate/task/{path}"));
    }
    let judge = with_task(&statement, r#""work":{"#, r#""work":{"judge":"nonex","#);
    check_at("another judge", &judge, "/predicate/task/work/judge");
}

#[test]
fn no_row_is_older_than_its_run_or_claims_a_proof() {
    let statement = scenes::safe().statement();
    let at = place(&statement, |row| row.kind.as_str() == "govern.policy_snapshot");
    let early = with_row(&statement, at, |row| row.at = "2016-01-01T00:00:00Z".try_into().unwrap());
    check_at("a record of a time before its run", &early, "/at");
    for kind in ["govern.policy_snapshot", run_kind::BEGAN, run_kind::RETURNED] {
        let at = place(&statement, |row| row.kind.as_str() == kind);
        let proved = with_row(&statement, at, |row| row.proof = Proof::SelfAsserted);
        check_at("a proof of what is no decision", &proved, "/proof");
    }
}

#[test]
fn a_byte_that_breaks_the_order_of_members_is_named() {
    let statement = scenes::safe().statement();
    let text = String::from_utf8(statement.to_bytes().unwrap()).unwrap();
    let other = text.replacen(r#""prev_hash""#, r#""arev_hash""#, 1);
    let report = verify(&enclosed(other.into_bytes(), &key(2)), &[]);
    assert_eq!(report.result, Outcome::Failed);
    let failure = &report.failures[0];
    let path = failure.place.path.as_deref().unwrap_or_default();
    assert!(path.starts_with("/predicate/ledger/rows/0/"), "{}", told(&report));
    assert_eq!(failure.place.row, Some(statement.ledger.rows[0].head().seq));
    assert!(failure.message.contains("the byte "), "{}", failure.message);
    let broken = verify(&enclosed(b"[".to_vec(), &key(2)), &[]);
    assert_eq!(broken.failures[0].place.path, None);
}

#[test]
fn every_record_has_a_name() {
    let statement = scenes::safe().statement();
    for (kind, member) in [("taint_aggregation_policy", "policy_id"), ("outcome_record", "outcome_id")] {
        let at = place(&statement, |row| row.kind.as_str() == format!("govern.{kind}"));
        let nameless = with_row(&statement, at, |row| {
            let mut payload = row.payload.as_object().unwrap().clone();
            let mut record = payload.get("record").and_then(Json::as_object).unwrap().clone();
            record.insert(member, "");
            payload.insert("record", record);
            row.payload = payload.into();
        });
        check_at(kind, &nameless, &format!("/{member}"));
    }
}
