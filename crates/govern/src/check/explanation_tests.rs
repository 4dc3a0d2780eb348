//! Other ways in which explanations go wrong.

use super::AREA;
use crate::check::trial::has_found;
use std::format;

#[test]
fn traces_show_causes_and_no_thoughts() {
    let hidden = "1 explanation_trace_contains_hidden_reasoning /causal_steps/0";
    let cases = [
        (r#""input_refs":["artifact:a"]"#, None),
        (r#""output_refs":["artifact:a"],"rationale_summary":"thinking: it was late""#, None),
        (
            r#""input_refs":[],"output_refs":[]"#,
            Some("1 explanation_trace_without_causal_steps /causal_steps/0"),
        ),
        (r#""input_refs":["scratchpad:x"]"#, Some(hidden)),
        (r#""input_refs":["artifact:a"],"more":{"raw_reasoning_ref":"artifact:b"}"#, Some(hidden)),
    ];
    for (step, expected) in cases {
        let trace =
            format!(r#"{{"trace_id":"t","causal_steps":[{{{step}}}],"hidden_reasoning_included":false}}"#);
        let expected: std::vec::Vec<&str> = expected.into_iter().collect();
        has_found(&AREA, &[("ExplanationTrace", &trace)], &expected);
        let silent = trace.replace("false", "true");
        let mut also = expected;
        also.push("1 explanation_trace_contains_hidden_reasoning /hidden_reasoning_included");
        also.sort_unstable();
        has_found(&AREA, &[("ExplanationTrace", &silent)], &also);
    }
}

#[test]
fn a_trace_carries_no_thoughts_beside_its_steps() {
    let hidden = |path: &str| format!("1 explanation_trace_contains_hidden_reasoning {path}");
    let cases = [
        (r#""chain_of_thought":"first I""#, Some("/chain_of_thought")),
        (r#""model_scratchpad_ref":"artifact:a""#, Some("/model_scratchpad_ref")),
        (r#""notes":[{"of":{"raw_reasoning":"x"}}]"#, Some("/notes")),
        (r#""chain_of_thought":null"#, None),
        (r#""summary":"thinking aloud is left out""#, None),
    ];
    for (member, path) in cases {
        let steps = r#""causal_steps":[{"input_refs":["artifact:a"]}],"hidden_reasoning_included":false"#;
        let trace = format!(r#"{{"trace_id":"t",{steps},{member}}}"#);
        let expected = path.map(hidden);
        let expected: std::vec::Vec<&str> = expected.as_deref().into_iter().collect();
        has_found(&AREA, &[("ExplanationTrace", &trace)], &expected);
    }
}
