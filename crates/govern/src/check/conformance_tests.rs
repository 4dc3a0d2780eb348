//! Other ways in which conformance goes wrong.

use super::super::commands::testing::expect;
use super::{FIXTURE, RULES};

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
    expect(RULES, &[("PatchDecision", &accepted), (FIXTURE, LISTED)], &[]);
    // What was cut later needs none.
    expect(RULES, &[("PatchDecision", &accepted), ("PatchDecision", &cut)], &[]);
    let wrong = "2 accepted_patch_without_conformance_fixture /fixture_kinds";
    expect(RULES, &[("PatchDecision", &cut), ("PatchDecision", &accepted)], &[wrong]);
}

#[test]
fn fixtures_expect_something() {
    let wrong = "1 conformance_fixture_missing_expected_validation /expected_validation_codes";
    let unknown = LISTED.replace("divergence_unrecorded", "divergence_overlooked");
    expect(RULES, &[(FIXTURE, &unknown)], &[wrong]);
    for (more, expected) in [("", &[wrong][..]), (r#","expected_terminal_state":"cancelled""#, &[])] {
        let positive = std::format!(
            r#"{{"fixture_id":"f","polarity":"positive","expected_validation_codes":[]{more}}}"#
        );
        expect(RULES, &[(FIXTURE, &positive)], expected);
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
    expect(RULES, &[listed, passed, CLAIM], &[]);
    expect(RULES, &[listed, failed, passed, CLAIM], &[]);
    expect(RULES, &[listed, passed, failed, CLAIM], &[&wrong(1)]);
    expect(RULES, &[listed, other, CLAIM], &[&wrong(1)]);
    expect(RULES, &[listed, CLAIM, passed], &[&wrong(1)]);
    // It changed after it was run; a fixture that comes after the claim is not spoken of.
    expect(RULES, &[listed, passed, listed, CLAIM], &[&wrong(3)]);
    expect(RULES, &[CLAIM, listed], &[]);
    // What it tests changed after it was run.
    let bundle = ("OutcomeRecord", r#"{"outcome_id":"b"}"#);
    let bound =
        LISTED.replace(r#""fixture_kind""#, r#""input_bundle_ref":"outcome_record:b","fixture_kind""#);
    let bound = (FIXTURE, bound.as_str());
    expect(RULES, &[bundle, bound, passed, CLAIM], &[]);
    expect(RULES, &[bundle, bound, passed, bundle, CLAIM], &[&wrong(2)]);
}
