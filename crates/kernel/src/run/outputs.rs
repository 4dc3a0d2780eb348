//! What the contract's agents write: the shape of each output that it names.
//! Owns: checking one. Must not: forbid what it does not name; outputs of other keys are the pipeline's own.

use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::code::Code;
use countersign_record::fields::{Fields, Trouble};
use countersign_record::json::{Json, Object};

/// What is wrong with an output, by the key that it stands at. What an agent must say is required; of the rest each
/// member that is there must have its type.
///
/// # Errors
/// It does not fit.
pub fn check(output_key: &str, output: &Object) -> Result<(), Vec<Trouble>> {
    let check: fn(&mut Fields<'_>) = match output_key {
        "perception" => perception,
        "intent" => intent,
        "plan" => plan,
        "execution" => execution,
        "critic" => critic,
        "integration" => integration,
        _ => return Ok(()),
    };
    let mut fields = Fields::taking(Json::Object(output.clone())).map_err(|trouble| Vec::from([trouble]))?;
    check(&mut fields);
    fields.finish()
}

fn perception(fields: &mut Fields<'_>) {
    fields.text("normalized_input");
    text_if_any(fields, "detected_language");
    texts_if_any(fields, "extracted_entities");
    fields.absent_or("context", |fields, name| {
        fields.object(name, |context| {
            list_if_any(context, "session_history");
            context.absent_or("user_preferences", Fields::free_object);
            Some(())
        })
    });
}

fn intent(fields: &mut Fields<'_>) {
    fields.text("intent");
    fields.texts("goals");
    part_if_any(fields, "confidence");
    fields.absent_or("clarification_needed", Fields::boolean);
}

fn plan(fields: &mut Fields<'_>) {
    fields.text("plan_id");
    fields.objects("steps", |step| {
        step.text("tool");
        step.absent_or("params", Fields::free_object);
        text_if_any(step, "expected_output");
        Some(())
    });
    text_if_any(fields, "estimated_complexity");
}

fn execution(fields: &mut Fields<'_>) {
    fields.parse("status", |word| {
        one_of(word, &["success", "partial", "error"], "success, partial or error is needed")
    });
    fields.absent_or("results", |fields, name| {
        fields.objects(name, |result| {
            result.absent_or("step_index", Fields::integer);
            text_if_any(result, "tool");
            result.absent_or("duration_ms", Fields::integer);
            Some(())
        })
    });
    fields.absent_or("evidence", |fields, name| {
        fields.objects(name, |evidence| {
            ["location", "content", "relevance"].into_iter().for_each(|name| text_if_any(evidence, name));
            Some(())
        })
    });
}

fn critic(fields: &mut Fields<'_>) {
    let words = ["approved", "reintent", "next_stage"];
    fields.parse("verdict", |word| one_of(word, &words, "approved, reintent or next_stage is needed"));
    texts_if_any(fields, "satisfied_goals");
    texts_if_any(fields, "unsatisfied_goals");
    text_if_any(fields, "feedback");
    part_if_any(fields, "confidence");
}

fn integration(fields: &mut Fields<'_>) {
    fields.text("final_response");
    fields.absent_or("citations", |fields, name| {
        fields.objects(name, |citation| {
            ["text", "location"].into_iter().for_each(|name| text_if_any(citation, name));
            Some(())
        })
    });
    texts_if_any(fields, "follow_up_suggestions");
}

fn one_of(word: &str, words: &[&str], needed: &'static str) -> Result<String, &'static str> {
    if words.contains(&word) { Ok(String::from(word)) } else { Err(needed) }
}

fn text_if_any(fields: &mut Fields<'_>, name: &'static str) {
    fields.absent_or(name, Fields::text);
}

fn texts_if_any(fields: &mut Fields<'_>, name: &'static str) {
    fields.absent_or(name, Fields::texts);
}

fn list_if_any(fields: &mut Fields<'_>, name: &'static str) {
    match fields.peek(name) {
        None | Some(Json::Array(_)) => {}
        Some(_) => fields.trouble(name, Code::FieldWrongType, "a list is needed"),
    }
}

/// A number from 0 to 1.
fn part_if_any(fields: &mut Fields<'_>, name: &'static str) {
    match fields.peek(name) {
        None => {}
        Some(Json::Number(number)) if (0.0..=1.0).contains(&number.as_f64()) => {}
        Some(_) => fields.trouble(name, Code::FieldInvalid, "a number from 0 to 1 is needed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_record::json;

    fn fits(key: &str, text: &str) -> bool {
        check(key, json::parse(text.as_bytes()).unwrap().as_object().unwrap()).is_ok()
    }

    #[test]
    fn the_contracts_own_examples_fit() {
        for (key, text) in [
            (
                "perception",
                r#"{"normalized_input":"s","detected_language":"s","extracted_entities":["s"],"context":{"session_history":[],"user_preferences":{}}}"#,
            ),
            (
                "intent",
                r#"{"intent":"trace_flow","goals":["Goal 1","Goal 2"],"confidence":0.95,"clarification_needed":false}"#,
            ),
            (
                "plan",
                r#"{"plan_id":"plan_x","steps":[{"tool":"code_search","params":{"query":"q"},"expected_output":"o"}],"estimated_complexity":"medium"}"#,
            ),
            (
                "execution",
                r#"{"status":"success","results":[{"step_index":0,"tool":"t","result":{},"duration_ms":150}],"evidence":[{"location":"src/auth.py:42","content":"c","relevance":"r"}]}"#,
            ),
            (
                "critic",
                r#"{"verdict":"next_stage","satisfied_goals":["Goal 1"],"unsatisfied_goals":["Goal 2"],"feedback":"f","confidence":0.85}"#,
            ),
            (
                "integration",
                r#"{"final_response":"r","citations":[{"text":"t","location":"l"}],"follow_up_suggestions":["s"]}"#,
            ),
            ("draft", "{}"),
        ] {
            assert!(fits(key, text), "{key}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (key, text) in [
            ("perception", "{}"),
            ("perception", r#"{"normalized_input":null}"#),
            ("perception", r#"{"normalized_input":"a","context":{"session_history":{}}}"#),
            ("intent", r#"{"intent":"a","goals":null}"#),
            ("intent", r#"{"intent":"a","goals":[1]}"#),
            ("intent", r#"{"intent":"a","goals":[],"confidence":1.5}"#),
            ("plan", r#"{"plan_id":"a","steps":{}}"#),
            ("plan", r#"{"plan_id":"a","steps":[{"params":{}}]}"#),
            ("execution", r#"{"status":"done"}"#),
            ("execution", r#"{"status":"error","results":null}"#),
            ("critic", r#"{"verdict":"perhaps"}"#),
            ("integration", r#"{"final_response":"a","citations":[{"text":1}]}"#),
        ] {
            assert!(!fits(key, text), "{key} {text}");
        }
    }
}
