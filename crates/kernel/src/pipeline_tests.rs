//! Pipelines as documents: what is read, what is refused, and that what is written is read again.
//! Owns: the kinds of agents. Must not: run one.

use super::*;
use countersign_record::json;
use proptest::prelude::*;
use std::vec;

fn with(agent: &str) -> Result<Pipeline, Vec<String>> {
    let text = format!(r#"{{"name":"p","stages":[{{"name":"s","agent":{agent}}}]}}"#);
    let read = Pipeline::read(json::parse(text.as_bytes()).unwrap());
    read.map_err(|troubles| troubles.iter().map(ToString::to_string).collect())
}

const PIN: &str = "sha256:41d081231f251b1760e7cf4cb7aa475d7cc2165bbdfa3e1445ffcab9e9a0df7c";

#[test]
fn every_kind_of_agent_is_read_and_written_as_it_was() {
    let pinned = format!(r#"{{"kind":"mcp","command":["a","b"],"tool":"t","definition":"{PIN}"}}"#);
    for agent in [
        r#"{"kind":"built_in","name":"intent"}"#,
        r#"{"kind":"model","prompt":"Say it.","schema":{"type":"object"}}"#,
        r#"{"kind":"process","command":["python3","agent.py"]}"#,
        r#"{"kind":"mcp","command":["python3","server.py"],"tool":"review"}"#,
        &pinned,
    ] {
        let pipeline = with(agent).unwrap();
        let again = Pipeline::read(json::value_of(&pipeline).unwrap());
        assert_eq!(again, Ok(pipeline), "{agent}");
    }
    let Agent::Mcp { command, tool, definition } = &with(&pinned).unwrap().stages[0].agent else {
        panic!("it is a tool of a server")
    };
    assert_eq!((command, tool.as_str()), (&vec!["a".to_string(), "b".to_string()], "t"));
    assert_eq!(definition.map(String::from).as_deref(), Some(PIN));
    assert_eq!(with(&pinned).unwrap().stages[0].agent_name(), "t");
}

#[test]
fn what_is_wrong_with_an_agent_is_told_with_its_place() {
    for (agent, expected) in [
        (r#"{"kind":"magic"}"#, "/stages/0/agent/kind: built_in, model, process or mcp is needed"),
        (r#"{"kind":"process","command":[]}"#, "/stages/0/agent/command: a program is needed"),
        (r#"{"kind":"mcp","command":[""],"tool":"t"}"#, "/stages/0/agent/command: a program is needed"),
        (r#"{"kind":"mcp","command":["a"]}"#, "/stages/0/agent/tool: this field is required"),
        (r#"{"kind":"mcp","tool":"t"}"#, "/stages/0/agent/command: this field is required"),
        (
            r#"{"kind":"mcp","command":["a"],"tool":"t","definition":"41d0"}"#,
            "/stages/0/agent/definition: sha256: and 64 lowercase hexadecimal digits are needed",
        ),
        (r#"{"kind":"mcp","command":["a"],"tool":"t","url":"http://a"}"#, "/stages/0/agent/url"),
        (r#"{"kind":"process","command":["a"],"tool":"t"}"#, "/stages/0/agent/tool"),
    ] {
        let troubles = with(agent).unwrap_err();
        assert!(troubles.iter().any(|trouble| trouble.contains(expected)), "{agent}: {troubles:?}");
    }
}

fn tool(text: &str) -> Object {
    json::parse(text.as_bytes()).unwrap().as_object().unwrap().clone()
}

#[test]
fn a_definition_is_the_hash_of_what_counts_of_a_tool() {
    let review = r#"{"name":"review","title":"Review","description":"Reviews.","_meta":{"a":1},"inputSchema":
        {"type":"object","properties":{"envelope":{"type":"object","maximum":9223372036854775807}}}}"#;
    assert_eq!(Definition::of(&tool(review)).to_string(), PIN);
    for (from, to) in [
        ("\"review\"", "\"Review\""),
        ("Reviews.", "Reviews and sends."),
        ("envelope", "envelopes"),
        ("5807", "5806"),
        ("\"inputSchema\"", "\"outputSchema\":{},\"inputSchema\""),
    ] {
        let other = review.replacen(from, to, 1);
        assert_ne!(other, review, "{from}");
        assert_ne!(Definition::of(&tool(&other)).to_string(), PIN, "{from} to {to}");
    }
}

proptest! {
    #[test]
    fn a_definition_is_read_as_it_is_written_and_nothing_else_is(text in "(sha256:|SHA256:|)[0-9a-fA-F]{63,65}") {
        match Definition::try_from(text.as_str()) {
            Ok(definition) => prop_assert_eq!(definition.to_string(), text),
            Err(NotADefinition) => {
                let digits = text.strip_prefix("sha256:").unwrap_or_default();
                prop_assert!(digits.len() != 64 || digits.bytes().any(|digit| digit.is_ascii_uppercase()));
            }
        }
    }
}

#[test]
fn a_way_around_a_stage_is_found() {
    let read = |text: &str| Pipeline::read(json::parse(text.as_bytes()).unwrap()).unwrap();
    let is_bypassed = |text: &str| {
        let named = |name: &'static str| move |stage: &Stage| stage.name == name;
        read(text).is_bypassed(named("guard"), named("from"), named("to"))
    };
    let agent = r#""agent":{"kind":"built_in","name":"a"}"#;
    let pipeline = |from: &str, guard: &str| {
        format!(
            r#"{{"name":"p","stages":[{{"name":"first",{agent},"default_next":"from"}},{{"name":"from",{agent}{from}}},
            {{"name":"guard",{agent}{guard}}},{{"name":"to",{agent},"default_next":"from"}}]}}"#
        )
    };
    let on = r#","default_next":"guard""#;
    let after = r#","default_next":"to""#;
    for (from, guard, expected) in [
        (on.to_string(), after, false),
        (String::new(), after, false),
        (after.to_string(), after, true),
        (format!(r#"{on},"error_next":"to""#), after, true),
        (format!(r#"{on},"rules":[{{"key":"k","value":1,"target":"to"}}]"#), after, true),
        (format!(r#"{on},"error_next":"first""#), after, false),
    ] {
        assert_eq!(is_bypassed(&pipeline(&from, guard)), expected, "{from}");
    }
}
