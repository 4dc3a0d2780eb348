//! `schemas`: the JSON Schemas of the wire types as files.
//! Owns: how a schema is printed. Must not: change what a schema says.

use std::collections::BTreeMap;

use anyhow::Result;
use countersign_record::schema::Document;
use serde_json::Value;

use crate::generated::Directory;

/// Every schema, of whichever crate has the type.
fn documents() -> impl Iterator<Item = Document> {
    let ours = countersign_record::schema::all().into_iter().chain(countersign_kernel::schema::all());
    ours.chain(countersign_enforce::schema::all())
}

/// What `schemas/` and `schemas/govern/` should hold.
pub(crate) fn directories() -> Result<[Directory; 2]> {
    Ok([directory()?, governed()?])
}

/// The types of governed records: a file each, which refer to each other.
fn governed() -> Result<Directory> {
    let mut files = BTreeMap::new();
    for one in countersign_govern::types::all() {
        let schema: Value = serde_json::from_str(&countersign_record::json::to_text(&(one.schema)())?)?;
        let mut text = String::new();
        let mut named = serde_json::json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": format!("{}.json", one.name)});
        if let (Some(named), Value::Object(members)) = (named.as_object_mut(), schema) {
            named.extend(members);
        }
        print(&named, 0, &mut text)?;
        text.push('\n');
        files.insert(format!("{}.json", one.name), text);
    }
    Ok(Directory { task: "schemas", path: "schemas/govern", files })
}

fn directory() -> Result<Directory> {
    let mut files = BTreeMap::from([task()?]);
    for document in documents() {
        let mut text = String::new();
        print(document.schema.as_value(), 0, &mut text)?;
        text.push('\n');
        files.insert(document.file, text);
    }
    Ok(Directory { task: "schemas", path: "schemas", files })
}

/// What `task.toml` says. It stands alone, so what it shares with governed records is written out.
fn task() -> Result<(String, String)> {
    let schema = <countersign_work::task::Task as countersign_govern::types::wire::Wire>::schema();
    let mut schema: Value = serde_json::from_str(&countersign_record::json::to_text(&schema)?)?;
    inline(&mut schema)?;
    let file = "task.v1.schema.json";
    let mut named =
        serde_json::json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": file});
    if let (Some(named), Value::Object(members)) = (named.as_object_mut(), schema) {
        named.extend(members);
    }
    let mut text = String::new();
    print(&named, 0, &mut text)?;
    text.push('\n');
    Ok((file.to_owned(), text))
}

/// Puts the schema of a governed type where it is referred to.
fn inline(value: &mut Value) -> Result<()> {
    let named = value.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_suffix(".json"));
    if let Some(found) = named.and_then(countersign_govern::types::find) {
        *value = serde_json::from_str(&countersign_record::json::to_text(&(found.schema)())?)?;
    }
    match value {
        Value::Object(members) => members.values_mut().try_for_each(inline),
        Value::Array(items) => items.iter_mut().try_for_each(inline),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

/// The members a reader looks for first; the others follow by name.
const FIRST: [&str; 6] = ["$schema", "$id", "title", "description", "type", "required"];

/// Two spaces per level, members in a fixed order. `serde_json` orders them by a feature that any other crate of
/// the build can switch on, so the order is made here.
fn print(value: &Value, level: usize, out: &mut String) -> Result<()> {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let mut names: Vec<&String> = members.keys().collect();
            names.sort_by_key(|name| {
                (FIRST.iter().position(|first| first == name).unwrap_or(FIRST.len()), *name)
            });
            out.push('{');
            for (at, name) in names.into_iter().enumerate() {
                new_line(at > 0, level + 1, out);
                out.push_str(&serde_json::to_string(name)?);
                out.push_str(": ");
                print(&members[name], level + 1, out)?;
            }
            new_line(false, level, out);
            out.push('}');
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                new_line(at > 0, level + 1, out);
                print(item, level + 1, out)?;
            }
            new_line(false, level, out);
            out.push(']');
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => {
            out.push_str(&serde_json::to_string(value)?);
        }
    }
    Ok(())
}

fn new_line(has_comma: bool, level: usize, out: &mut String) {
    if has_comma {
        out.push(',');
    }
    out.push('\n');
    out.push_str(&"  ".repeat(level));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schemas_are_those_of_the_types() {
        directories().unwrap().iter().for_each(crate::generated::assert_up_to_date);
    }

    /// What a task's file says, as a validator reads it.
    fn task_of(path: &str) -> Value {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        toml::from_str(&std::fs::read_to_string(root.join(path)).unwrap()).unwrap()
    }

    /// The places of what does not fit the schema of tasks.
    fn misfits(task: &Value) -> Vec<String> {
        let schema = serde_json::from_str(&self::task().unwrap().1).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        validator.iter_errors(task).map(|one| format!("{}: {one}", one.instance_path())).collect()
    }

    #[test]
    fn every_task_that_ships_fits_the_schema_of_tasks() {
        let named = ["audit-sample", "incident-report", "lease-memo"];
        let named = named.into_iter().chain(["notice-conflict", "parser-code", "vendor-claims"]);
        let examples = named.map(|one| format!("examples/{one}/task.toml"));
        for path in examples.chain(["crates/app/src/command/task/new.toml".to_owned()]) {
            assert_eq!(misfits(&task_of(&path)), Vec::<String>::new(), "{path}");
        }
    }

    #[test]
    fn what_no_task_may_say_does_not_fit_the_schema_of_tasks() {
        type Change = fn(&mut Value);
        let changes: [(&str, Change); 6] = [
            ("an unknown member", |task| task["colour"] = "red".into()),
            ("one of a criterion", |task| task["outcomes"][0]["criteria"][0]["criterion_id"] = "c".into()),
            ("a basis", |task| task["outcomes"][0]["criteria"][0]["basis"] = "taste".into()),
            ("a check", |task| task["outcomes"][0]["criteria"][0]["check"]["kind"] = "smell".into()),
            ("a text for a number", |task| task["artifacts"][0]["sections"][0]["quotes"] = "1".into()),
            ("no goal", |task| drop(task.as_object_mut().unwrap().remove("goal"))),
        ];
        for (what, change) in changes {
            let mut task = task_of("examples/lease-memo/task.toml");
            change(&mut task);
            assert_eq!(misfits(&task).len(), 1, "{what}: {:?}", misfits(&task));
        }
    }

    #[test]
    fn printing_changes_nothing_but_the_order() {
        for document in documents() {
            let file = &directory().unwrap().files[&document.file];
            assert_eq!(&serde_json::from_str::<Value>(file).unwrap(), document.schema.as_value());
        }
        let mut text = String::new();
        print(&serde_json::json!({ "a": [], "type": { "b": [1, "x"] }, "$id": {} }), 0, &mut text).unwrap();
        assert_eq!(
            text,
            "{\n  \"$id\": {},\n  \"type\": {\n    \"b\": [\n      1,\n      \"x\"\n    ]\n  },\n  \"a\": []\n}"
        );
    }
}
