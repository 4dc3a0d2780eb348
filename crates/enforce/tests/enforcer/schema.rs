//! The schemas say what the reader takes and the writer gives.

use crate::drafts;
use countersign_enforce::{CodeSpec, Input, Language, schema};
use countersign_record::json;
use serde_json::{Value, json};

fn validator(name: &str) -> jsonschema::Validator {
    let documents = schema::all();
    let document =
        documents.iter().find(|document| document.file == format!("{name}.v1.schema.json")).unwrap();
    jsonschema::validator_for(document.schema.as_value()).unwrap()
}

#[test]
fn reports_fit() {
    let schema = validator("enforce_report");
    let spec = CodeSpec::built_in(Language::Rust);
    for draft in
        ["", "```rust\n//! Docs.\n```", "```rust\nfn A() { println!(); }\n```\nprose", "```rust\nfn (\n```"]
    {
        let report = drafts::report(Language::Rust, draft, spec, &[]);
        let value: Value = serde_json::from_str(&json::to_text(&report).unwrap()).unwrap();
        let errors: Vec<String> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{draft:?}: {errors:?}");
    }
}

#[test]
fn inputs_are_taken_as_the_schema_says() {
    let schema = validator("enforce_input");
    let good = json!({
        "draft": "x", "codespec_path": "builtin:python", "task": { "language": "python" },
        "stop": { "single_file": true, "filename": "main.py", "no_prose": true }, "prompt": "p",
    });
    let with = |path: &str, value: Value| {
        let mut document = good.clone();
        let (parent, name) = path.rsplit_once('/').unwrap();
        document.pointer_mut(parent).unwrap().as_object_mut().unwrap().insert(name.to_owned(), value);
        document
    };
    for (document, is_good) in [
        (good.clone(), true),
        (with("/codespec", Value::Null), true),
        (with("/request_id", json!("r")), true),
        (with("/turn_id", json!(3)), true),
        (with("/codespec_sha256", json!("0".repeat(64))), true),
        (with("/task/runtime", json!("3.12")), true),
        (with("/task/allowed_libs", json!(["json"])), true),
        (with("/codespec", json!("x")), false),
        (with("/codespec_path", Value::Null), false),
        (with("/draft", Value::Null), false),
        (with("/task/language", json!("go")), false),
        (with("/task/libs", json!([])), false),
        (with("/stop/single_file", json!(false)), false),
        (with("/stop/filename", Value::Null), false),
        (with("/codespec_sha256", json!("x")), false),
        (with("/turn_id", json!(-1)), false),
        (with("/other", json!(1)), false),
    ] {
        assert_eq!(schema.is_valid(&document), is_good, "{document}");
        let read = Input::read(json::parse(document.to_string().as_bytes()).unwrap());
        assert_eq!(read.is_ok(), is_good, "{document}: {:?}", read.err());
    }
}
