//! What a prompt is taken for, and that the output fits the contract.

use super::*;
use proptest::prelude::*;

#[test]
fn intents_and_domains() {
    for (prompt, intent, domain) in [
        ("Trace the login function through the API module.", "trace_flow", "code"),
        ("Summarise the lease for the landlord.", "summarize", "legal"),
        ("When does the lease end?", "answer", "legal"),
        ("Write a summary of the incident.", "draft", "operations"),
        ("Compare the budget with the forecast", "compare", "finance"),
        ("What is the difference between the two plans?", "answer", "general"),
        ("Explain how holidays are counted.", "explain", "people"),
        ("rotating keys and tokens", "answer", "security"),
    ] {
        let shape = shape(prompt, Before::Nothing);
        assert_eq!((shape.intent.as_str(), shape.domain.as_str()), (intent, domain), "{prompt}");
        assert!(!shape.clarification_needed, "{prompt}");
    }
}

#[test]
fn what_is_unclear_is_asked_back() {
    for (prompt, before, question) in [
        ("", Before::Nothing, Some("What should be done?")),
        ("?!", Before::Conversation, Some("What should be done?")),
        ("Fix it", Before::Nothing, Some("What does “it” refer to?")),
        ("Fix it", Before::Conversation, None),
        ("can you help me please", Before::Conversation, Some("What exactly is asked for?")),
        ("Is there a pool?", Before::Nothing, None),
        ("Explain this.", Before::Nothing, Some("What does “this” refer to?")),
        ("Explain this lease clause.", Before::Nothing, None),
    ] {
        let shape = shape(prompt, before);
        assert_eq!(shape.clarification_question.as_deref(), question, "{prompt}");
        assert_eq!(shape.clarification_needed, question.is_some());
    }
}

#[test]
fn goals_are_the_prompts_own_words_and_headers_may_be_given() {
    let prompt = "AUDIENCE: the board\nReview the lease:\n- When does it end?\n- Who pays?\n- Who pays?\nOutput format: JSON\n";
    let shape = shape(prompt, Before::Nothing);
    assert_eq!(shape.goals, ["Review the lease:", "When does it end?", "Who pays?"]);
    assert_eq!(
        (shape.headers.audience.as_str(), shape.headers.output_format.as_str()),
        ("the board", "JSON")
    );
    assert_eq!(shape.headers.response_depth, "normal");
    let brief = super::shape("Briefly list the parties as bullet points.", Before::Nothing).headers;
    assert_eq!((brief.response_depth.as_str(), brief.output_format.as_str()), ("brief", "a list"));
}

/// The intent agent's output in the contract's example.
fn schema() -> jsonschema::Validator {
    let schema = serde_json::json!({
        "type": "object",
        "required": ["intent", "goals", "confidence", "clarification_needed"],
        "properties": {
            "intent": {"type": "string", "minLength": 1},
            "goals": {"type": "array", "items": {"type": "string", "minLength": 1}},
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
            "clarification_needed": {"type": "boolean"},
            "clarification_question": {"type": "string", "minLength": 1},
        },
    });
    jsonschema::validator_for(&schema).unwrap()
}

proptest! {
    #[test]
    fn every_output_fits_the_contract(prompt in "\\PC{0,80}|((fix|it|lease|When|\\?|: |tone|- |\n| ){0,20})") {
        let shape = shape(&prompt, Before::Nothing);
        let text = countersign_record::json::to_text(&shape.to_object()).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        prop_assert!(schema().is_valid(&value), "{}", text);
        prop_assert!(shape.goals.len() <= GOALS_MAX);
        prop_assert_eq!(shape.clarification_needed, shape.clarification_question.is_some());
        // A line that is a header is left out of what it stands in.
        prop_assert!(shape.goals.iter().flat_map(|goal| goal.lines()).all(|line| prompt.contains(line)));
        prop_assert_eq!(&shape, &super::shape(&prompt, Before::Nothing));
    }
}
