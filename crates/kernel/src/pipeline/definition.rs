//! What a tool says of itself, as a hash.
//! Owns: which of its words count, and how the hash is written. Must not: know who says them.

use alloc::string::String;
use core::fmt;
use countersign_record::canonical;
use countersign_record::digest::Digest;
use countersign_record::json::{Json, Object};
use serde::ser::{Serialize, Serializer};

/// What stands before the digits.
const ALGORITHM: &str = "sha256:";
/// The members that count: what the tool is called, what it says it does, what it takes and what it gives.
const COUNTED: [&str; 4] = ["description", "inputSchema", "name", "outputSchema"];

/// SHA-256 over the canonical form of a tool's definition, as its server lists it; written `sha256:` and 64 digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition(Digest);

/// A text that is no such hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("sha256: and 64 lowercase hexadecimal digits are needed")]
pub struct NotADefinition;

impl Definition {
    /// The hash of a tool. A member that it does not have stays absent.
    #[must_use]
    pub fn of(tool: &Object) -> Self {
        let said: Object =
            COUNTED.into_iter().filter_map(|name| Some((name, tool.get(name)?.clone()))).collect();
        Definition(canonical::hash_as_written(&Json::from(said)))
    }
}

impl TryFrom<&str> for Definition {
    type Error = NotADefinition;

    fn try_from(text: &str) -> Result<Self, NotADefinition> {
        let digits = text.strip_prefix(ALGORITHM).ok_or(NotADefinition)?;
        Digest::try_from(digits).map(Definition).map_err(|_| NotADefinition)
    }
}

impl fmt::Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{ALGORITHM}{}", self.0)
    }
}

impl Serialize for Definition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl From<Definition> for String {
    fn from(definition: Definition) -> String {
        alloc::format!("{definition}")
    }
}
