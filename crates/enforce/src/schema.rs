//! JSON Schemas of what A5 takes and gives, made from the types where there are any.
//! Owns: the list of documents. Must not: say of a document what its reader or writer does not hold.

use crate::codespec::Language;
use crate::input::DRAFT_BYTES_MAX;
use crate::report::Report;
use countersign_record::digest::Digest;
use countersign_record::schema::{Document, FILLED, own_document};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;

/// Every schema, by name.
#[must_use]
pub fn all() -> Vec<Document> {
    vec![own_document::<InputFile>("enforce_input"), own_document::<Report>("enforce_report")]
}

/// What A5 is asked.
struct InputFile;

impl JsonSchema for InputFile {
    fn schema_name() -> Cow<'static, str> {
        "EnforceInput".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let libs = |description: &str| {
            json_schema!({
                "description": description,
                "type": ["array", "null"],
                "items": { "type": "string" },
            })
        };
        json_schema!({
            "description": "What A5 is asked. A member that is null is one that is absent.",
            "type": "object",
            "required": ["draft", "task", "stop", "prompt"],
            "oneOf": [
                { "required": ["codespec"], "properties": { "codespec": { "type": "string" } } },
                { "required": ["codespec_path"], "properties": { "codespec_path": { "type": "string" } } },
            ],
            "additionalProperties": false,
            "properties": {
                "draft": {
                    "description": "What a model wrote.",
                    "type": "string",
                    "maxLength": DRAFT_BYTES_MAX,
                },
                "codespec": {
                    "description": "The CodeSpec itself.",
                    "type": ["string", "null"],
                    "pattern": FILLED,
                },
                "codespec_path": {
                    "description": "Where it is, relative to the working directory; `builtin:python` and `builtin:rust` are ours.",
                    "type": ["string", "null"],
                    "pattern": FILLED,
                },
                "codespec_sha256": {
                    "description": "What its bytes must hash to.",
                    "anyOf": [Digest::json_schema(generator), { "type": "null" }],
                },
                "task": {
                    "type": "object",
                    "required": ["language"],
                    "additionalProperties": false,
                    "properties": {
                        "language": { "enum": Language::ALL.map(Language::as_str) },
                        "runtime": {
                            "description": "What runs it: a version such as 3.12, or an edition such as 2024.",
                            "type": ["string", "null"],
                        },
                        "allowed_libs": libs("The libraries it may use; all, where there is no list."),
                        "denied_libs": libs("The libraries it may not use."),
                    },
                },
                "stop": {
                    "type": "object",
                    "required": ["filename"],
                    "additionalProperties": false,
                    "properties": {
                        "single_file": { "const": true },
                        "filename": { "description": "The name of the one file.", "type": "string" },
                        "no_prose": { "description": "Whether nothing may stand around it.", "type": "boolean" },
                    },
                },
                "prompt": { "description": "What the model was asked.", "type": "string" },
                "request_id": { "type": ["string", "null"], "pattern": FILLED },
                "turn_id": { "type": ["integer", "null"], "minimum": 0, "maximum": 9_007_199_254_740_992_u64 },
            },
        })
    }
}
