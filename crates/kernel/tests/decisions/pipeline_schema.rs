//! The schema of a pipeline's file against its reader, judged by an independent validator.

use countersign_kernel::pipeline::Pipeline;
use countersign_kernel::schema;
use countersign_record::json;
use serde_json::{Value, json};

/// Who works in a stage, and whether somebody may.
fn agents() -> Vec<(Value, bool)> {
    let hash = format!("sha256:{}", "0f".repeat(32));
    vec![
        (json!({"kind": "built_in", "name": "intent"}), true),
        (json!({"kind": "built_in"}), false),
        (json!({"kind": "built_in", "name": " "}), false),
        (json!({"kind": "model", "prompt": "Say it.", "schema": {}}), true),
        (json!({"kind": "model", "prompt": "Say it.", "schema": []}), false),
        (json!({"kind": "process", "command": ["a", ""]}), true),
        (json!({"kind": "process", "command": []}), false),
        (json!({"kind": "process", "command": "a"}), false),
        (json!({"kind": "process", "command": ["a"], "tool": "t"}), false),
        (json!({"kind": "mcp", "command": ["a"], "tool": "t"}), true),
        (json!({"kind": "mcp", "command": ["a"], "tool": "t", "definition": hash}), true),
        (json!({"kind": "mcp", "command": ["a"], "tool": "t", "definition": hash.to_uppercase()}), false),
        (json!({"kind": "mcp", "command": ["a"], "tool": "t", "definition": format!("{hash}0")}), false),
        (json!({"kind": "mcp", "command": ["a"], "tool": "t", "definition": 1}), false),
        (json!({"kind": "mcp", "command": ["a"], "tool": ""}), false),
        (json!({"kind": "mcp", "command": ["a"]}), false),
        (json!({"kind": "mcp", "tool": "t"}), false),
        (json!({"kind": "mcp", "command": [], "tool": "t"}), false),
        (json!({"kind": "mcp", "command": ["a"], "tool": "t", "name": "n"}), false),
        (json!({"kind": "magic"}), false),
        (json!({}), false),
        (json!(null), false),
    ]
}

#[test]
fn the_schema_takes_the_agents_that_the_reader_takes() {
    let document =
        schema::all().into_iter().find(|document| document.file == "pipeline.v1.schema.json").unwrap();
    let validator = jsonschema::options().build(&document.schema.to_value()).unwrap();
    for (agent, is_one) in agents() {
        let pipeline = json!({"name": "p", "stages": [{"name": "s", "agent": agent}]});
        assert_eq!(validator.is_valid(&pipeline), is_one, "the schema: {agent}");
        let read = Pipeline::read(json::parse(pipeline.to_string().as_bytes()).unwrap());
        assert_eq!(read.is_ok(), is_one, "the reader: {agent}: {read:?}");
    }
}
