//! Other ways in which conformance goes wrong.

use super::{AREA, FIXTURE};
use crate::check::trial::has_found;

const CLAIM: (&str, &str) = ("BuildReadyClaim", r#"{"claim_id":"c","gate_ref":"build_ready_gate:g"}"#);
const LISTED: &str = r#"{"fixture_id":"f","fixture_kind":"replay_divergence",
    "expected_validation_codes":["validation.replay_divergence_unrecorded"]}"#;

#[test]
fn patches_have_fixtures_of_their_kinds() {
    let patch = |decision: &str| {
        std::format!(
            r#"{{"row_id":"G-19","decision":"{decision}","fixture_kinds":["replay_divergence","other"]}}"#
        )
    };
    let (accepted, cut) = (patch("accepted"), patch("cut"));
    has_found(&AREA, &[("PatchDecision", &accepted), (FIXTURE, LISTED)], &[]);
    // What was cut later needs none.
    has_found(&AREA, &[("PatchDecision", &accepted), ("PatchDecision", &cut)], &[]);
    let wrong = "2 accepted_patch_without_conformance_fixture /fixture_kinds";
    has_found(&AREA, &[("PatchDecision", &cut), ("PatchDecision", &accepted)], &[wrong]);
}

#[test]
fn fixtures_expect_something() {
    let wrong = "1 conformance_fixture_missing_expected_validation /expected_validation_codes";
    let unknown = LISTED.replace("divergence_unrecorded", "divergence_overlooked");
    has_found(&AREA, &[(FIXTURE, &unknown)], &[wrong]);
    for (more, expected) in [("", &[wrong][..]), (r#","expected_terminal_state":"cancelled""#, &[])] {
        let positive = std::format!(
            r#"{{"fixture_id":"f","polarity":"positive","expected_validation_codes":[]{more}}}"#
        );
        has_found(&AREA, &[(FIXTURE, &positive)], expected);
    }
}

#[test]
fn fixtures_run_before_somebody_calls_it_ready() {
    let run = |passed: bool, code: &str| {
        std::format!(
            r#"{{"fixture_run_id":"r","fixture_id":"f","passed":{passed},"observed_codes":["{code}"]}}"#
        )
    };
    let code = "validation.replay_divergence_unrecorded";
    let (passed, failed, other) = (run(true, code), run(false, code), run(true, "validation.other"));
    let [passed, failed, other] =
        [&passed, &failed, &other].map(|run| ("ConformanceFixtureRun", run.as_str()));
    let listed = (FIXTURE, LISTED);
    let wrong = |seq: u32| std::format!("{seq} conformance_fixture_not_executed_before_build_ready ");
    has_found(&AREA, &[listed, passed, CLAIM], &[]);
    has_found(&AREA, &[listed, failed, passed, CLAIM], &[]);
    has_found(&AREA, &[listed, passed, failed, CLAIM], &[&wrong(1)]);
    has_found(&AREA, &[listed, other, CLAIM], &[&wrong(1)]);
    has_found(&AREA, &[listed, CLAIM, passed], &[&wrong(1)]);
    // It changed after it was run; a fixture that comes after the claim is not spoken of.
    has_found(&AREA, &[listed, passed, listed, CLAIM], &[&wrong(3)]);
    has_found(&AREA, &[CLAIM, listed], &[]);
    // What it tests changed after it was run.
    let bundle = ("OutcomeRecord", r#"{"outcome_id":"b"}"#);
    let bound =
        LISTED.replace(r#""fixture_kind""#, r#""input_bundle_ref":"outcome_record:b","fixture_kind""#);
    let bound = (FIXTURE, bound.as_str());
    has_found(&AREA, &[bundle, bound, passed, CLAIM], &[]);
    has_found(&AREA, &[bundle, bound, passed, bundle, CLAIM], &[&wrong(2)]);
    // Every claim counts, not only the last ones.
    let mut rows = std::vec![listed, CLAIM, passed];
    rows.extend([CLAIM; 12]);
    has_found(&AREA, &rows, &[&wrong(1)]);
    // Each version of a fixture has claims of its own.
    has_found(&AREA, &[listed, passed, CLAIM, listed, CLAIM, passed, CLAIM], &[&wrong(4)]);
    has_found(&AREA, &[listed, passed, CLAIM, failed, passed, CLAIM, listed, passed, CLAIM], &[]);
    has_found(&AREA, &[listed, passed, failed, CLAIM, passed, CLAIM], &[&wrong(1)]);
}
