//! What a tool says of itself, and what it answers.
//! Owns: the definition and its hash, the contract's result. Must not: know a tool.

use crate::canonical;
use crate::digest::Digest;
use crate::id::ToolName;
use crate::json::Json;
use alloc::string::String;
use serde::Serialize;

/// What a call changes outside of us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Nothing.
    None,
    /// Something that can be brought back.
    Reversible,
    /// Something that can't.
    Irreversible,
    /// The same, however often it is called.
    Idempotent,
}

/// What must be granted before a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "name")]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// This capability.
    Capability(String),
    /// The capability to reach the host that the arguments name.
    Host,
}

/// What a tool says of itself. Whoever approves a call approves this one, by its hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Definition {
    /// Its name.
    pub name: ToolName,
    /// What it does, for the model and for people.
    pub description: String,
    /// JSON Schema (2020-12) of its arguments.
    pub parameters: Json,
    /// What a call changes.
    pub effect: Effect,
    /// What a call needs.
    pub needs: Needs,
}

impl Definition {
    /// Its hash. A schema with a number that can't be hashed has none.
    ///
    /// # Errors
    /// As said.
    pub fn hash(&self) -> Result<Digest, canonical::Unwritable> {
        canonical::hash_of(self)
    }
}

/// What the model is told of a call: the content of a message of the role `tool`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolResult {
    /// The call.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// Whether it was done.
    pub ok: bool,
    /// What it gave.
    pub output: Json,
    /// Why it was not done.
    pub error: Option<String>,
}
