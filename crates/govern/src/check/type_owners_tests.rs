//! Other ways in which types and gates go wrong.

use super::{AREA, ENTRY};
use crate::check::trial::has_found;
use std::format;
use std::string::String;
use std::vec::Vec;

fn entry(name: &str, owner: &str, status: &str, more: &str) -> String {
    format!(r#"{{"type_name":"{name}","canonical_owner_doc":"{owner}","status":"{status}"{more}}}"#)
}

fn owned(entries: &[(&str, &str)], expected: &[&str]) {
    let rows: Vec<String> =
        entries.iter().map(|(owner, status)| entry("RunDiff", owner, status, "")).collect();
    let rows: Vec<(&str, &str)> = rows.iter().map(|row| (ENTRY, row.as_str())).collect();
    has_found(&AREA, &rows, expected);
}

#[test]
fn a_type_has_one_owner() {
    let wrong = "2 type_owner_drift /canonical_owner_doc";
    owned(&[("DOC20", "canonical"), ("DOC21", "canonical")], &[wrong]);
    owned(&[("DOC20", "canonical"), ("DOC20", "canonical")], &[]);
    owned(&[("DOC20", "canonical"), ("DOC20", "imported")], &[]);
    owned(&[("DOC20", "canonical"), ("DOC21", "imported")], &[wrong]);
    // Once one gave it up, another may own it.
    owned(&[("DOC20", "canonical"), ("DOC20", "deprecated"), ("DOC21", "canonical")], &[]);
}

#[test]
fn documents_declare_what_they_own() {
    let own = entry("RunDiff", "DOC20", "canonical", "");
    for (word, expected) in [("imported", &[][..]), ("canonical", &["2 type_owner_drift /declared_in_doc"])] {
        let other = format!(
            r#"{{"declaration_id":"d","type_name":"RunDiff","declared_in_doc":"DOC21","declared_as":"{word}"}}"#
        );
        has_found(&AREA, &[(ENTRY, &own), ("TypeDeclaration", &other)], expected);
    }
}

/// A document that the registry lists as an importer may not declare the type as its own, until it takes that back.
#[test]
fn an_importer_owns_nothing() {
    let own = entry("RunDiff", "DOC20", "canonical", r#","imported_by_docs":["DOC21"]"#);
    let declared = |word: &str| {
        let word = if word.is_empty() { String::new() } else { format!(r#","declared_as":"{word}""#) };
        format!(r#"{{"type_name":"RunDiff","declared_in_doc":"DOC21"{word}}}"#)
    };
    let wrong = "2 type_owner_drift /declared_in_doc";
    let own = (ENTRY, own.as_str());
    for (words, expected) in [
        (&["canonical"][..], &[wrong][..]),
        (&["imported"], &[]),
        (&[""], &[]),
        (&["canonical", "imported"], &[]),
        (&["imported", "canonical"], &["3 type_owner_drift /declared_in_doc"]),
    ] {
        let declared: Vec<String> = words.iter().map(|word| declared(word)).collect();
        let declared = declared.iter().map(|text| ("TypeDeclaration", text.as_str()));
        let rows: Vec<(&str, &str)> = [own].into_iter().chain(declared).collect();
        has_found(&AREA, &rows, expected);
    }
}

/// What another document took in or stubbed is so by a receipt too.
#[test]
fn obligations_are_met_by_receipts() {
    let gate = r#"{"gate_id":"g","required_type_owner_registry_clean":true,
        "required_pending_absorption_rows_closed_or_degraded":true,"required_command_registry_entries_complete":true,
        "required_cross_doc_insert_obligations_absorbed_or_stubbed":true,"required_validation_suite_refs":[]}"#;
    let rows = |to: &str| {
        let moved = format!(
            r#"{{"receipt_id":"l","subject_ref":"cross_doc_insert_obligation:b","from_state":"open","to_state":"{to}"}}"#
        );
        Vec::from([
            ("BuildReadyGate", String::from(gate)),
            ("CrossDocInsertObligation", String::from(r#"{"obligation_id":"b","state":"open"}"#)),
            ("LifecycleTransitionReceipt", moved),
            ("BuildReadyClaim", String::from(r#"{"claim_id":"c","gate_ref":"build_ready_gate:g"}"#)),
        ])
    };
    for (to, expected) in [("stubbed", &[] as &[u64]), ("absorbed", &[]), ("open", &[4])] {
        let world = crate::check::trial::world(&rows(to));
        assert_eq!(crate::check::trial::rows_with("build_ready_gate_failed", &world), expected, "{to}");
    }
}

#[test]
fn types_exist() {
    let phantom = |seq: u32, path: &str| format!("{seq} phantom_type_reference {path}");
    has_found(&AREA, &[("Nothing", "{}")], &[&phantom(1, "")]);
    has_found(&AREA, &[("EvaluationFinding", "{}")], &[&phantom(1, "")]);
    let own = entry("Nothing", "DOC20", "canonical", "");
    has_found(&AREA, &[(ENTRY, &own), ("Nothing", "{}")], &[]);
    let record = r#"{"outcome_id":"o","deep":[{"x_refs":["tool_receipt:a","known_good_state:k"]}]}"#;
    has_found(&AREA, &[("OutcomeRecord", record)], &[&phantom(1, "/deep/0/x_refs/1")]);
    for (kind, member, name, is_known) in [
        ("DerivedFieldRegistry", "record_kind", "RunDiff", true),
        ("DerivedFieldRegistry", "record_kind", "run_diff", true),
        ("DerivedFieldRegistry", "record_kind", "Nothing", false),
        ("DerivedFieldRegistry", "record_kind", "CostEstimate", false),
        ("ReadModelInvalidationSpec", "producer_event_kind", "EvaluationFindingEvent", true),
        ("ReadModelInvalidationSpec", "producer_event_kind", "EvaluationAffirmation", false),
        ("RevisionLifecycleTransitionEvent", "triggered_by_receipt_kind", "Nothing", false),
        ("TypeDeclaration", "type_name", "LearningMode", true),
        ("TypeDeclaration", "type_name", "Nothing", false),
        ("SchemaRef", "schema_id", "FindingState", true),
        ("SchemaRef", "schema_id", "Nothing", false),
        // What is not called as types are is a schema of something else.
        ("SchemaRef", "schema_id", "answer.text", true),
    ] {
        let (kind, record) = match kind {
            "SchemaRef" => {
                ("FormulaSpec", format!(r#"{{"inputs":[{{"type_ref":{{"{member}":"{name}"}}}}]}}"#))
            }
            other => (other, format!(r#"{{"{member}":"{name}"}}"#)),
        };
        let path =
            if kind == "FormulaSpec" { "/inputs/0/type_ref/schema_id".into() } else { format!("/{member}") };
        let own = entry("Nothing", "DOC20", "canonical", "");
        let wrong = phantom(1, &path);
        let wrong = [wrong.as_str()];
        has_found(&AREA, &[(kind, &record)], if is_known { &[] } else { &wrong });
        if name == "Nothing" {
            has_found(&AREA, &[(ENTRY, &own), (kind, &record)], &[]);
        }
    }
    // A text for people is no reference.
    has_found(&AREA, &[("OutcomeRecord", r#"{"outcome_id":"o","note":"step_kind:x"}"#)], &[]);
    for (replacement, is_known) in
        [("RunDiff", true), ("TaintClass", true), ("Nowhere", false), ("StepKind", false)]
    {
        let more = format!(r#","replacement_type_name":"{replacement}""#);
        let old = entry("OldDiff", "DOC20", "retired", &more);
        let reference = r#"{"outcome_id":"o","x_ref":"old_diff:1"}"#;
        let wrong = [phantom(1, "/replacement_type_name"), phantom(2, "/x_ref")];
        let wrong: Vec<&str> = wrong.iter().map(String::as_str).collect();
        has_found(&AREA, &[(ENTRY, &old), ("OutcomeRecord", reference)], if is_known { &[] } else { &wrong });
    }
    // A type is given up for what is written from then on, and may come back.
    let (old, again) = (entry("OldDiff", "DOC20", "retired", ""), entry("OldDiff", "DOC20", "canonical", ""));
    let names = ("OutcomeRecord", r#"{"outcome_id":"o","x_ref":"old_diff:1"}"#);
    has_found(&AREA, &[names, (ENTRY, &old)], &[]);
    has_found(&AREA, &[names, (ENTRY, &old), names], &[&phantom(3, "/x_ref")]);
    has_found(&AREA, &[(ENTRY, &old), (ENTRY, &again), names], &[]);
}

#[test]
fn the_gate_holds_what_it_demands() {
    let gate = r#"{"gate_id":"g","required_type_owner_registry_clean":true,
        "required_pending_absorption_rows_closed_or_degraded":true,"required_command_registry_entries_complete":true,
        "required_cross_doc_insert_obligations_absorbed_or_stubbed":true,"required_validation_suite_refs":["validation_suite:s"]}"#;
    let claim = r#"{"claim_id":"c","gate_ref":"build_ready_gate:g"}"#;
    let run = |passed: bool| {
        format!(r#"{{"suite_run_id":"r","suite_ref":"validation_suite:s","passed":{passed}}}"#)
    };
    let (passed, failed) = (run(true), run(false));
    let run = ("ValidationSuiteRun", passed.as_str());
    let (gate_row, claim) = (("BuildReadyGate", gate), ("BuildReadyClaim", claim));
    let wrong = |seq: u32| format!("{seq} build_ready_gate_failed /gate_ref");
    has_found(&AREA, &[gate_row, run, claim], &[]);
    has_found(&AREA, &[run, claim], &[&wrong(2)]);
    has_found(&AREA, &[gate_row, claim, run], &[&wrong(2)]);
    has_found(&AREA, &[gate_row, run, ("ValidationSuiteRun", &failed), claim], &[&wrong(4)]);
    let weak = gate.replace(r#"registry_clean":true"#, r#"registry_clean":false"#);
    has_found(&AREA, &[("BuildReadyGate", &weak), run, claim], &[&wrong(3)]);
    let button = r#"{"affordance_id":"a","action":"x","command_ref":"command:nothing","enabled":true}"#;
    has_found(&AREA, &[gate_row, run, ("UiAffordance", button), claim], &[&wrong(4)]);
    let bound = button.replace("nothing", "task.skip");
    has_found(&AREA, &[gate_row, run, ("UiAffordance", &bound), claim], &[]);
    let (open, stubbed) =
        (r#"{"obligation_id":"b","state":"open"}"#, r#"{"obligation_id":"b","state":"stubbed"}"#);
    let obligation = |state| ("CrossDocInsertObligation", state);
    has_found(&AREA, &[gate_row, run, obligation(open), claim], &[&wrong(4)]);
    has_found(&AREA, &[gate_row, run, obligation(open), obligation(stubbed), claim], &[]);
    let pending = entry("RunDiff", "DOC20", "pending_absorption", "");
    let own = "3 pending_owner_without_degraded_behavior /pending_consumer_behavior";
    has_found(&AREA, &[gate_row, run, (ENTRY, &pending), claim], &[own, &wrong(4)]);
}

/// Every claim is judged by what was there before it, however many there are.
#[test]
fn every_claim_is_judged() {
    let gate = r#"{"gate_id":"g","required_type_owner_registry_clean":true,
        "required_pending_absorption_rows_closed_or_degraded":true,"required_command_registry_entries_complete":true,
        "required_cross_doc_insert_obligations_absorbed_or_stubbed":true,"required_validation_suite_refs":[]}"#;
    let claim = ("BuildReadyClaim", r#"{"claim_id":"c","gate_ref":"build_ready_gate:g"}"#);
    let entry = |doc: &str, status: &str, more: &str| entry("RunDiff", doc, status, more);
    let declared =
        |doc: &str, more: &str| format!(r#"{{"type_name":"RunDiff","declared_in_doc":"{doc}"{more}}}"#);
    let (own, other, gone) =
        (entry("DOC20", "canonical", ""), entry("DOC21", "canonical", ""), entry("DOC21", "deprecated", ""));
    let (stray, listed) =
        (entry("DOC22", "imported", ""), entry("DOC20", "canonical", r#","imported_by_docs":["DOC24"]"#));
    let copy = declared("DOC24", "");
    let [claimed, imported] =
        ["canonical", "imported"].map(|word| declared("DOC24", &format!(r#","declared_as":"{word}""#)));
    let (mine, same, another) = (
        declared("DOC20", r#","schema_hash":"a""#),
        declared("DOC24", r#","schema_hash":"a""#),
        declared("DOC24", r#","schema_hash":"b""#),
    );
    let type_row = |text: &str| (ENTRY, String::from(text));
    let declaration = |text: &str| ("TypeDeclaration", String::from(text));
    // What is taken in between the claims, and whether the gate is closed then.
    for steps in [
        [(type_row(&own), false), (type_row(&other), true), (type_row(&gone), false)].as_slice(),
        &[(type_row(&own), false), (type_row(&stray), true)],
        &[(type_row(&stray), false), (type_row(&own), true)],
        &[
            (type_row(&own), false),
            (declaration(&copy), true),
            (type_row(&listed), false),
            (type_row(&own), true),
        ],
        &[(type_row(&listed), false), (declaration(&copy), false), (type_row(&own), false)],
        // Who owns it says so itself, whatever the registry lists of who imports it; until he says otherwise.
        &[
            (type_row(&listed), false),
            (declaration(&claimed), true),
            (type_row(&listed), true),
            (declaration(&imported), false),
        ],
        &[
            (type_row(&listed), false),
            (declaration(&mine), false),
            (declaration(&same), false),
            (declaration(&another), true),
        ],
    ] {
        let mut rows = Vec::from([("BuildReadyGate", gate)]);
        let mut closed = Vec::new();
        for ((kind, text), is_closed) in steps {
            rows.push((*kind, text.as_str()));
            for _ in 0..10 {
                rows.push(claim);
                closed.extend(is_closed.then_some(rows.len() as u64));
            }
        }
        let code = "build_ready_gate_failed";
        assert_eq!(
            crate::check::trial::rows_with(code, &crate::check::trial::world(&rows)),
            closed,
            "{steps:?}"
        );
    }
}

/// A gate asks for its suites as they stood before each claim.
#[test]
fn suites_pass_before_a_claim() {
    let gate = (
        "BuildReadyGate",
        r#"{"gate_id":"g","required_type_owner_registry_clean":true,
        "required_pending_absorption_rows_closed_or_degraded":true,"required_command_registry_entries_complete":true,
        "required_cross_doc_insert_obligations_absorbed_or_stubbed":true,
        "required_validation_suite_refs":["validation_suite:s","validation_suite:t"]}"#,
    );
    let claim = ("BuildReadyClaim", r#"{"claim_id":"c","gate_ref":"build_ready_gate:g"}"#);
    let run = |suite: &str, passed: bool| {
        format!(r#"{{"suite_run_id":"r","suite_ref":"validation_suite:{suite}","passed":{passed}}}"#)
    };
    let (s, t, failed) = (run("s", true), run("t", true), run("t", false));
    let run = |text| ("ValidationSuiteRun", text);
    let rows =
        [gate, claim, run(s.as_str()), claim, run(&t), claim, claim, run(&failed), claim, run(&t), claim];
    let found = crate::check::trial::rows_with("build_ready_gate_failed", &crate::check::trial::world(&rows));
    assert_eq!(found, [2, 4, 9]);
}
