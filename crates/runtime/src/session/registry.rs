//! The tools that a session has.
//! Owns: finding one by name, checking arguments against its schema, the hash of what it says of itself. Must not: run one.

use crate::ports::tool::{NotDone, Tool};
use crate::shape::Shape;
use countersign_record::canonical;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::id::ToolName;
use countersign_record::json::{Json, Object};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// One tool, ready to be called.
pub struct Entry {
    /// The tool.
    pub tool: Arc<dyn Tool>,
    /// The hash of its definition.
    pub hash: Digest,
    schema: Shape,
}

/// The tools that a session has, by name.
#[derive(Default)]
pub struct Registry {
    tools: BTreeMap<ToolName, Entry>,
}

/// A tool that can't be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tool {name} can't be used: {why}")]
pub struct NotATool {
    /// Which.
    pub name: ToolName,
    /// Why.
    pub why: String,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.tools.keys()).finish()
    }
}

impl Registry {
    /// The registry of these tools. Of two with one name neither is taken.
    ///
    /// # Errors
    /// A schema is none, or a name stands twice.
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Result<Self, NotATool> {
        let mut registry = Registry::default();
        for tool in tools {
            let definition = tool.definition();
            let name = definition.name.clone();
            let refused = |why: String| NotATool { name: name.clone(), why };
            let schema = Shape::new(&definition.parameters).map_err(refused)?;
            let hash = definition.hash().map_err(|error| refused(error.to_string()))?;
            if registry.tools.contains_key(&name) {
                return Err(refused("there is another of this name".to_owned()));
            }
            registry.tools.insert(name, Entry { tool, hash, schema });
        }
        Ok(registry)
    }

    /// The tools, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&ToolName, &Entry)> {
        self.tools.iter()
    }

    /// A tool, by the name that a model gave.
    ///
    /// # Errors
    /// There is none.
    pub fn find(&self, name: &str) -> Result<(&ToolName, &Entry), NotDone> {
        let unknown = || NotDone::new(Code::ToolUnknown, "there is no tool of this name");
        let name = ToolName::try_from(name).map_err(|_| unknown())?;
        self.tools.get_key_value(&name).ok_or_else(unknown)
    }
}

impl Entry {
    /// Checks arguments, and gives their hash.
    ///
    /// # Errors
    /// They do not fit the tool's schema, or can't be hashed.
    pub fn check(&self, args: &Object) -> Result<Digest, NotDone> {
        let refused = |why: String| NotDone::new(Code::ToolArguments, why);
        let args = Json::Object(args.clone());
        let hash = canonical::hash(&args).map_err(|error| refused(error.to_string()))?;
        self.schema.check(&args).map_err(refused)?;
        Ok(hash)
    }
}
