//! JSON Schemas of what a memory read takes and gives, of what A0 hands over, of an index's description and of a policy,
//! made from the types that read and write them.
//! Owns: the list of documents, and the shapes of those that no type holds whole. Must not: say of a document what its
//! reader or writer does not hold.

use crate::history::Index;
use crate::pipeline::STAGES_MAX;
use crate::policy::{GRANT_SECONDS_MAX, ROUNDS_MAX};
use crate::recall::Excerpt;
use crate::recall::input::Input;
use crate::recall::package::{CONTROLLER_VERSION, Dropped, Selected};
use crate::recall::prompt::Stored;
use crate::scope::Payload;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::digest::Digest;
use countersign_record::row::DataClass;
use countersign_record::schema::{Document, own_document};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// Every schema, by name.
#[must_use]
pub fn all() -> Vec<Document> {
    Vec::from([
        own_document::<Payload>("a0_payload"),
        own_document::<ContextPackage<'_>>("context_package"),
        own_document::<Index>("history_index_meta"),
        own_document::<Input>("memory_controller_input"),
        own_document::<PipelineFile>("pipeline"),
        own_document::<PolicyFile>("policy"),
        own_document::<Stored>("stored_prompt"),
        own_document::<TrustSnapshot>("trust_snapshot"),
    ])
}

/// A text that is the path of a file.
pub(crate) struct Path;

impl JsonSchema for Path {
    fn schema_name() -> Cow<'static, str> {
        "Path".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[^\\u0000]+$" })
    }
}

impl JsonSchema for Excerpt {
    fn schema_name() -> Cow<'static, str> {
        "Excerpt".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

/// What a memory read gives.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "its lists may be longer than memory: a package is written piece by piece")]
struct ContextPackage<'a> {
    /// What was looked for.
    query: Query,
    /// How much might be selected, and how much was.
    budget: Budget,
    /// What was selected, and what was not.
    selection: Selection<'a>,
    /// SHA-256 of the canonical form of all other members.
    package_hash: Digest,
    /// The version of the rules.
    #[schemars(extend("const" = CONTROLLER_VERSION))]
    controller_version: String,
}

/// What was looked for.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is wanted")]
struct Query {
    /// The query as it was given.
    raw: String,
    /// SHA-256 of its normal form.
    query_hash: Digest,
}

/// How much might be selected, and how much was.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is wanted")]
struct Budget {
    /// The most tokens of all excerpts together.
    #[schemars(range(min = 1))]
    max_excerpt_tokens: u64,
    /// What the selected ones take.
    used_excerpt_tokens: u64,
    /// What is left.
    remaining_excerpt_tokens: u64,
    /// The most tokens of one excerpt.
    #[schemars(range(min = 1))]
    per_item_max_excerpt_tokens: u64,
    /// The most excerpts.
    max_items: u64,
}

/// What was selected, and what was not.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is wanted")]
struct Selection<'a> {
    /// The best first.
    selected: Vec<Selected<'a>>,
    /// What is no candidate in reading order, then the rest, the best first.
    dropped: Vec<Dropped<'a>>,
}

/// What is known of records; a record that has a denied classification is left out.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only what is denied is kept of a snapshot")]
struct TrustSnapshot {
    /// One for each record that was classified.
    entries: Vec<Entry>,
}

/// The classification of one record, named by its id, its hash or both.
struct Entry;

impl JsonSchema for Entry {
    fn schema_name() -> Cow<'static, str> {
        "Entry".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The classification of one record, named by its id, its hash or both.",
            "type": "object",
            "required": ["classification"],
            "anyOf": [{ "required": ["memory_id"] }, { "required": ["record_hash"] }],
            "properties": {
                "memory_id": { "type": "string" },
                "record_hash": Digest::json_schema(generator),
                "classification": { "type": "string" },
            },
        })
    }
}

/// What holds for every session of a matter, as its file says it.
struct PolicyFile;

impl JsonSchema for PolicyFile {
    fn schema_name() -> Cow<'static, str> {
        "Policy".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let class = DataClass::json_schema(generator);
        let classes = json_schema!({
            "description": "Classes by path. A path is written out: no `..`, no pattern, no blank at its ends.",
            "type": "object",
            "additionalProperties": class,
            "propertyNames": { "not": { "pattern": "(^|/)\\.\\.(/|$)|[*?\\[]|^[\\t-\\r ]|[\\t-\\r ]$" } },
        });
        json_schema!({
            "description": "What holds for every session of a matter: `policy.toml`. What is absent has its default.",
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "allow": {
                    "description": "Capabilities that need no grant, such as `fs:read`, `net:example.org`.",
                    "type": "array",
                    "items": { "type": "string", "pattern": "^[a-z][a-z0-9_]{0,31}(:.+)?$" },
                },
                "hosts": {
                    "description": "The hosts that `net` is for; without a list it is for all.",
                    "type": "array",
                    "items": { "type": "string", "pattern": "^[^ /@*]+$" },
                },
                "approver": {
                    "description": "Who may approve what somebody proposes.",
                    "enum": ["anybody", "somebody_else"],
                },
                "rounds": {
                    "description": "How often a model may be asked in a turn.",
                    "type": "integer",
                    "minimum": 1,
                    "maximum": ROUNDS_MAX,
                },
                "grant_seconds": {
                    "description": "How long a grant holds, if nothing else is said.",
                    "type": "integer",
                    "minimum": 1,
                    "maximum": GRANT_SECONDS_MAX,
                },
                "user_class": class,
                "files_class": class,
                "files": classes,
                "stores": classes,
            },
        })
    }
}

/// A pipeline, as its file says it.
struct PipelineFile;

impl JsonSchema for PipelineFile {
    fn schema_name() -> Cow<'static, str> {
        "Pipeline".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let filled = json_schema!({ "type": "string", "pattern": countersign_record::schema::FILLED });
        let limit = json_schema!({ "type": "integer", "minimum": 1 });
        json_schema!({
            "description": "Which agents work, in which order, and how far a run may go: `pipeline.toml`.",
            "type": "object",
            "required": ["name", "stages"],
            "additionalProperties": false,
            "properties": {
                "name": filled,
                "limits": {
                    "description": "How far a run may go, where its envelope does not say.",
                    "type": "object",
                    "additionalProperties": false,
                    "properties": {
                        "max_iterations": limit, "max_llm_calls": limit, "max_agent_hops": limit,
                        "max_stages": limit, "max_critic_fires": limit,
                    },
                },
                "stages": {
                    "description": "The first is where a run begins.",
                    "type": "array", "minItems": 1, "maxItems": STAGES_MAX, "items": stage_file(&filled),
                },
            },
        })
    }
}

fn stage_file(filled: &Schema) -> Schema {
    let command = json_schema!({ "type": "array", "minItems": 1, "items": { "type": "string" } });
    json_schema!({
        "type": "object",
        "required": ["name", "agent"],
        "additionalProperties": false,
        "properties": {
            "name": filled,
            "output_key": filled,
            "agent": { "oneOf": [
                {
                    "type": "object", "required": ["kind", "name"], "additionalProperties": false,
                    "properties": { "kind": { "const": "built_in" }, "name": filled },
                },
                {
                    "type": "object", "required": ["kind", "prompt", "schema"], "additionalProperties": false,
                    "properties": { "kind": { "const": "model" }, "prompt": filled, "schema": { "type": "object" } },
                },
                {
                    "type": "object", "required": ["kind", "command"], "additionalProperties": false,
                    "properties": { "kind": { "const": "process" }, "command": command },
                },
                {
                    "type": "object", "required": ["kind", "command", "tool"], "additionalProperties": false,
                    "properties": {
                        "kind": { "const": "mcp" }, "command": command, "tool": filled,
                        "definition": {
                            "description": "What the tool must say of itself, as SHA-256 of the canonical form of its name, description, inputSchema and outputSchema.",
                            "type": "string", "pattern": "^sha256:[0-9a-f]{64}$",
                        },
                    },
                },
            ] },
            "rules": {
                "description": "Where an output leads: the first rule whose member has this value.",
                "type": "array",
                "items": {
                    "type": "object", "required": ["key", "value", "target"], "additionalProperties": false,
                    "properties": { "key": filled, "value": true, "target": filled },
                },
            },
            "default_next": filled,
            "error_next": filled,
        },
    })
}
