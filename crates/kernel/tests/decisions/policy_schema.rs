//! The schema of a policy against its reader, judged by an independent validator.

use countersign_kernel::policy::Policy;
use countersign_kernel::schema;
use countersign_record::json;
use jsonschema::Validator;
use serde_json::{Value, json};

fn own_schema() -> Value {
    let document =
        schema::all().into_iter().find(|document| document.file == "policy.v1.schema.json").unwrap();
    document.schema.to_value()
}

fn validator(schema: &Value) -> Validator {
    jsonschema::options().should_validate_formats(true).build(schema).unwrap()
}

/// Documents that hold one thing each, and whether they are policies.
fn documents() -> Vec<(Value, bool)> {
    let mut all =
        vec![(json!({}), true), (json!([]), false), (json!(null), false), (json!({ "Allow": [] }), false)];
    let mut member = |name: &str, good: &[Value], bad: &[Value]| {
        all.extend(good.iter().map(|value| (json!({ name: value }), true)));
        all.extend(bad.iter().map(|value| (json!({ name: value }), false)));
    };
    member(
        "allow",
        &[json!([]), json!(["fs:read", "net", "net:Example.org:8080", "a_1"])],
        &[json!("net"), json!([1]), json!(["Net"]), json!(["net:"]), json!([""]), json!(null), json!(["1a"])],
    );
    member(
        "hosts",
        &[json!([]), json!(["example.org", "[::1]:80"])],
        &[
            json!(["a b"]),
            json!([""]),
            json!(["*.example"]),
            json!(["a/b"]),
            json!([null]),
            json!({}),
            json!(["a@b"]),
        ],
    );
    member(
        "approver",
        &[json!("anybody"), json!("somebody_else")],
        &[json!("nobody"), json!(1), json!(null)],
    );
    let no_numbers = [json!(0), json!(-1), json!(1.5), json!("8"), json!(null), json!(true)];
    member("rounds", &[json!(1), json!(64), json!(8.0)], &[&no_numbers[..], &[json!(65)]].concat());
    member("grant_seconds", &[json!(1), json!(2_592_000)], &[&no_numbers[..], &[json!(2_592_001)]].concat());
    let (classes, no_classes) = (
        ["public", "internal", "privileged", "local_only"].map(Value::from),
        [json!("secret"), json!("Public"), json!(null), json!(3)],
    );
    member("user_class", &classes, &no_classes);
    member("files_class", &classes, &no_classes);
    for name in ["files", "stores"] {
        let paths = |path: &str| json!({ path: "privileged" });
        let good =
            [json!({}), paths("hr/pay"), paths("/srv/a b"), paths("./x//y/"), paths("..a/b.."), paths("")];
        let bad = ["..", "../a", "a/../b", "a/..", "*", "a?", "a[1]", " a", "a ", "a\n", "\ta"].map(paths);
        member(
            name,
            &good,
            &[&bad[..], &[json!([]), json!({ "a": "secret" }), json!({ "a": null })]].concat(),
        );
    }
    all
}

#[test]
fn the_policys_schema_and_reader_agree() {
    let schema = own_schema();
    jsonschema::meta::validate(&schema).expect("a schema");
    let own = validator(&schema);
    for (document, is_good) in documents() {
        let read = Policy::read(json::parse(document.to_string().as_bytes()).unwrap());
        assert_eq!(read.is_ok(), is_good, "the reader: {document}");
        assert_eq!(own.is_valid(&document), is_good, "the schema: {document}");
        if let Ok(policy) = read {
            let written: Value = serde_json::from_str(&json::to_text(&policy).unwrap()).unwrap();
            assert!(own.is_valid(&written), "{written}");
        }
    }
}

/// The table above says something only if it reaches every member: take one out of the schema, and a document shows it.
#[test]
fn the_documents_notice_every_member_of_the_schema() {
    let schema = own_schema();
    for name in schema["properties"].as_object().unwrap().keys() {
        let mut weaker = schema.clone();
        weaker["properties"][name] = json!(true);
        let weaker = validator(&weaker);
        assert!(
            documents().iter().any(|(document, is_good)| weaker.is_valid(document) != *is_good),
            "{name}"
        );
    }
}
