//! A fixture passes if everything is as it expects, and not otherwise.

use super::*;
use countersign_record::json;

const CALL: &str = r#"{"kind":"HardRevisionCall","record":{"hard_call_id":"h","response_mode":"closed_choice","options":[]}}"#;
const OPEN: &str = r#"{"kind":"HardRevisionCall","record":{"hard_call_id":"h","response_mode":"freeform_required",
    "freeform_response_schema_ref":{"schema_id":"s","semantic_version":"1.0.0"},"options":[]}}"#;
const EMPTY: &str =
    r#""polarity":"negative","expected_validation_codes":["validation.hard_call_options_empty"]"#;
const RIGHT: &str = r#""polarity":"positive","expected_validation_codes":[],"expected_terminal_state":"freeform_required",
    "expected_states":[{"record_ref":"hard_revision_call:h","member":"response_mode","value":"freeform_required"},
    {"record_ref":"hard_revision_call:h","member":"source_ref","value":null}]"#;

fn run(row: &str, fixture: &str) -> Executed {
    let text = format!(
        r#"{{"schema_version":"1.0","rows":[{row}],"fixture":{{"fixture_id":"f","fixture_kind":"hard_call_empty_options",
        "input_bundle_ref":"bundle:f","schema_version":"1.0",{fixture}}}}}"#
    );
    let at = Instant::try_from("2026-03-02T08:00:00Z").unwrap();
    let bundle =
        Bundle::read(json::parse(text.as_bytes()).unwrap()).unwrap_or_else(|error| panic!("{error}"));
    execute(bundle, at).unwrap()
}

#[test]
fn a_fixture_passes_if_everything_is_as_expected() {
    for (row, fixture) in [(CALL, EMPTY), (OPEN, RIGHT)] {
        let executed = run(row, fixture);
        assert_eq!(executed.misses, [] as [String; 0]);
        assert!(executed.run.passed);
        let kind = crate::types::find("ConformanceFixtureRun").unwrap();
        assert_eq!(kind.troubles(&executed.run.json()), []);
    }
}

#[test]
fn whatever_is_otherwise_is_told() {
    let code = "validation.hard_call_options_empty";
    for (row, fixture, miss) in [
        (OPEN, EMPTY, format!("fires nothing and not {code}")),
        (CALL, RIGHT, format!("fires {code} and not nothing")),
        (CALL, RIGHT, "hard_revision_call:h has another response_mode".into()),
        (
            OPEN,
            r#""polarity":"positive","expected_validation_codes":["validation.hard_call_options_empty"]"#,
            "is positive and expects codes".into(),
        ),
        (
            CALL,
            r#""expected_validation_codes":[]"#,
            "the fixture itself: validation.conformance_fixture_missing_expected_validation".into(),
        ),
        (
            CALL,
            r#""expected_validation_codes":["validation.no_such"]"#,
            "the fixture itself: validation.conformance_fixture_missing_expected_validation".into(),
        ),
        (
            OPEN,
            r#""polarity":"positive","expected_validation_codes":[],"expected_terminal_state":"open""#,
            "shall end as open and does not say what".into(),
        ),
        (
            OPEN,
            &format!(r#"{RIGHT},"expected_receipt_refs":["hard_call_resolution_receipt:r"]"#),
            "has no hard_call_resolution_receipt:r".into(),
        ),
        (CALL, &RIGHT.replace("revision_call:h", "revision_call:g"), "has no hard_revision_call:g".into()),
    ] {
        let executed = run(row, fixture);
        assert!(executed.misses.contains(&miss), "{:?}", executed.misses);
        assert!(!executed.run.passed);
    }
}

/// What is legal is a near twin of what fires, and not a bundle that says nothing.
#[test]
fn a_legal_bundle_is_near_what_fires() {
    let [call, open] = [CALL, OPEN].map(|row| json::parse(row.as_bytes()).unwrap());
    let other = json::parse(br#"{"kind":"TaskSkipReceipt","record":{}}"#).unwrap();
    let one = core::slice::from_ref(&call);
    let many = |count: usize| vec![other.clone(); count];
    let fires = [many(3), one.to_vec()].concat();
    assert_eq!(why_not_near(one, core::slice::from_ref(&open)), None);
    assert_eq!(why_not_near(&fires, &many(3)), None);
    assert_eq!(why_not_near(one, &[]), Some("has no row of a type that fires".into()));
    assert_eq!(why_not_near(one, &many(1)), Some("has no row of a type that fires".into()));
    assert_eq!(why_not_near(&fires, &many(1)), Some("differs from what fires in more than 2 rows".into()));
}

#[test]
fn a_kind_needs_both() {
    let (negative, positive, missed) = (run(CALL, EMPTY), run(OPEN, RIGHT), run(OPEN, EMPTY));
    let kind = AddendaBConformanceFixtureKind::HardCallEmptyOptions;
    let is_covered = |executed: &[Executed]| {
        let all = coverage(executed);
        assert_eq!(all.len(), 20);
        let other = all.iter().filter(|one| one.kind != kind).any(Coverage::is_complete);
        assert!(!other);
        all.iter().any(Coverage::is_complete)
    };
    assert!(is_covered(&[negative.clone(), positive.clone()]));
    assert!(!is_covered(core::slice::from_ref(&negative)));
    assert!(!is_covered(core::slice::from_ref(&positive)));
    assert!(!is_covered(&[negative, positive, missed]));
    assert!(!is_covered(&[]));
}

#[test]
fn a_refusal_that_was_written_down_is_told_at_the_door_only() {
    let rows = r#"{"kind":"RegenerateRevisionPayload","record":{"step_id":"s","target_ref":"artifact:a","previous_attempt_hashes":["x"]}},
        {"kind":"RegenerateAttemptReceipt","record":{"step_id":"s","target_ref":"artifact:a","input_hash":"i","output_hash":"x",
        "matched_previous_attempt":true,"action_taken":"rejected_identical_output"}}"#;
    let fixture =
        r#""expected_validation_codes":["validation.regenerate_identical_output"],"checked_at":"admission""#;
    assert!(run(rows, fixture).run.passed);
    assert!(!run(rows, &fixture.replace("admission", "audit")).run.passed);
}
