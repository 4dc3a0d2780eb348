//! Ways in which the codes of metrics fire, besides those of the fixtures.

use super::AREA;
use crate::check::trial::{has_in_bundle, row};
use std::{format, string::String};

fn rollup(kind: &str, start: &str, end: &str, more: &str) -> String {
    let window = format!(r#"{{"start":"2026-03-02T08:{start}:00Z","end":"2026-03-02T08:{end}:00Z"}}"#);
    row(kind, "", "30", &format!(r#""rollup_id":"r","metric_id":"f1","measurement_window":{window}{more}"#))
}

#[test]
fn a_rollup_has_a_window() {
    let code = ["metric_rollup_without_window"];
    let spec = |required: &str| {
        row(
            "FormulaSpec",
            "",
            "00",
            &format!(r#""formula_id":"f1","sample_policy":{{"window_required":{required}}}"#),
        )
    };
    has_in_bundle(&AREA, &[rollup("MetricRollup", "00", "10", "")], &[]);
    has_in_bundle(&AREA, &[rollup("MetricRollup", "10", "00", "")], &code);
    has_in_bundle(&AREA, &[rollup("MetricRollup", "10", "10", r#","sample_size":1"#)], &[]);
    has_in_bundle(&AREA, &[rollup("MetricRollup", "10", "10", r#","sample_size":2"#)], &code);
    has_in_bundle(
        &AREA,
        &[rollup(
            "RevisionCycleEfficiencyRollup",
            "10",
            "10",
            r#","included_observation_refs":["x:1","x:2"]"#,
        )],
        &code,
    );
    let bare = row("MetricRollup", "", "30", r#""rollup_id":"r","metric_id":"f1""#);
    has_in_bundle(&AREA, core::slice::from_ref(&bare), &code);
    has_in_bundle(&AREA, &[spec("true"), bare.clone()], &code);
    has_in_bundle(&AREA, &[spec("false"), bare], &[]);
    let receipt = row("FormulaEvaluationReceipt", "", "10", r#""receipt_id":"e","formula_id":"f1""#);
    let cycles = row(
        "RevisionCycleEfficiencyRollup",
        "",
        "30",
        r#""rollup_id":"r","formula_eval_receipt_ref":"formula_evaluation_receipt:e""#,
    );
    has_in_bundle(&AREA, &[spec("false"), receipt, cycles.clone()], &[]);
    has_in_bundle(&AREA, &[spec("false"), cycles], &code);
}

#[test]
fn only_what_counts_is_included() {
    let code = ["metric_rollup_includes_invalidated_observation"];
    let seen = |minute: &str| {
        row(
            "MetricObservation",
            "",
            "30",
            &format!(r#""observation_id":"o","observed_at":"2026-03-02T08:{minute}:00Z""#),
        )
    };
    let of = |more: &str| {
        rollup(
            "MetricRollup",
            "10",
            "20",
            &format!(r#","included_observation_refs":["metric_observation:o"]{more}"#),
        )
    };
    has_in_bundle(&AREA, &[of("")], &[]);
    has_in_bundle(&AREA, &[seen("10"), of("")], &[]);
    has_in_bundle(&AREA, &[seen("20"), of("")], &code);
    has_in_bundle(&AREA, &[seen("09"), of("")], &code);
    has_in_bundle(
        &AREA,
        &[seen("15"), of(r#","excluded_observation_refs":[{"observation_ref":"metric_observation:o"}]"#)],
        &code,
    );
    has_in_bundle(
        &AREA,
        &[seen("15"), of(r#","excluded_observation_refs":[{"observation_ref":"metric_observation:p"}]"#)],
        &[],
    );
    let moment = rollup(
        "MetricRollup",
        "10",
        "10",
        r#","sample_size":1,"included_observation_refs":["metric_observation:o"]"#,
    );
    has_in_bundle(&AREA, &[seen("10"), moment.clone()], &[]);
    has_in_bundle(&AREA, &[seen("11"), moment], &code);
    let gone = row(
        "MetricObservationInvalidationEvent",
        "",
        "30",
        r#""event_id":"e","observation_ref":"metric_observation:o""#,
    );
    let cycles = rollup(
        "RevisionCycleEfficiencyRollup",
        "10",
        "20",
        r#","included_observation_refs":["metric_observation:o"]"#,
    );
    has_in_bundle(&AREA, &[gone.clone(), cycles.clone()], &code);
    has_in_bundle(&AREA, &[cycles, gone], &[]);
}
