//! JSON Schemas of everything that crosses the edge, made from the types that read and write it.
//! Owns: the list of documents, their drafts, names and ids. Must not: say of a type what its reader does not hold.
//!
//! The GenericEnvelope's schema accepts exactly what the contract's accepts; a test compares the two on generated
//! documents. Its reader also takes documents that the schema refuses: other dialects, and those with missing ids.

use crate::canonical::Score;
use crate::chain::{Anchor, Report};
use crate::code::{Code, ErrorForm};
use crate::envelope::Envelope;
use crate::json::{Json, Number, Object};
use crate::manifest::Manifest;
use crate::memory_read::Receipt;
use crate::row::Row;
use crate::state::GenericEnvelope;
use crate::tool::ToolResult;
use crate::trace::Event;
use crate::turn::MemoryTurn;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, RestrictFormats};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// The schema of one kind of document.
#[derive(Clone, Debug)]
pub struct Document {
    /// The name of its file: `envelope.v1.schema.json`.
    pub file: String,
    /// The schema.
    pub schema: Schema,
}

impl Document {
    /// Its reader refuses members that it does not know.
    #[must_use]
    pub fn closed(mut self) -> Self {
        self.schema.insert(String::from("additionalProperties"), false.into());
        self
    }
}

/// Every schema, by name.
#[must_use]
pub fn all() -> Vec<Document> {
    let seed = || SchemaSettings::draft07().with_transform(RestrictFormats::default());
    Vec::from([
        own_document::<Anchor>("anchor").closed(),
        own_document::<Envelope>("envelope"),
        own_document::<ErrorForm>("error").closed(),
        document::<GenericEnvelope>("generic_envelope", seed()),
        own_document::<Manifest>("archive_manifest").closed(),
        own_document::<MemoryTurn>("memory_turn"),
        own_document::<Row>("row").closed(),
        own_document::<Receipt>("memory_read").closed(),
        own_document::<Report>("verification").closed(),
        own_document::<ToolResult>("tool_result").closed(),
        own_document::<Event>("trace_event").closed(),
    ])
}

/// The schema of a document of ours, which other crates may have too.
#[must_use]
pub fn own_document<T: JsonSchema>(name: &str) -> Document {
    document::<T>(name, own())
}

fn own() -> SchemaSettings {
    let settings = SchemaSettings::draft2020_12().with_transform(RecursiveTransform(bound_integers));
    settings.with_transform(RestrictFormats::default())
}

fn document<T: JsonSchema>(name: &str, mut settings: SchemaSettings) -> Document {
    // Small types everywhere: a reader sees what a member may be where the member stands.
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.insert(String::from("$id"), format!("urn:countersign:schema:{name}:1").into());
    Document { file: format!("{name}.v1.schema.json"), schema }
}

/// A text that says something: one character that is not white space as Unicode has it. ECMAScript's `\S` would
/// refuse U+FEFF and take U+0085.
pub const FILLED: &str = "[^\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";

/// What the contract requires of a GenericEnvelope: less than our type has, more than our reader does.
pub(crate) fn seed_requires(schema: &mut Schema) {
    let mut required = json_schema!({
        "required": [
            "envelope_id", "request_id", "user_id", "session_id", "raw_input", "outputs", "current_stage", "terminated"
        ]
    });
    if let Some(names) = required.remove("required") {
        schema.insert(String::from("required"), names);
    }
}

/// The contract requires nothing of a completed stage.
pub(crate) fn requires_nothing(schema: &mut Schema) {
    schema.remove("required");
}

/// Integers of ours end at 2^53, where doubles can no longer tell neighbours apart.
fn bound_integers(schema: &mut Schema) {
    let greatest = match schema.get("format").and_then(|format| format.as_str()) {
        Some("uint32") => u64::from(u32::MAX),
        Some("uint64") => crate::json::number::INTEGER_MAX,
        Some(_) | None => return,
    };
    if schema.get("maximum").is_none() {
        schema.insert(String::from("maximum"), greatest.into());
    }
}

/// A type whose schema is a constant.
macro_rules! fixed {
    ($type:ty, $name:literal, $schema:tt) => {
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}
fixed!(Json, "AnyValue", {});
fixed!(Object, "AnyObject", { "type": "object" });
fixed!(Number, "AnyNumber", { "type": "number" });
fixed!(Score, "Score", { "type": "number" });
fixed!(Code, "Code", { "type": "string", "pattern": "^[a-z_]+(\\.[a-z0-9_]+)+$" });
