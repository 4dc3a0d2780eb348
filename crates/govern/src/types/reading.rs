//! Reading a record: where it is read, what is wrong so far, what it refers to.
//! Owns: places and what is told of them. Must not: know a type.

use crate::reference::Reference;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Something of a record that is not as the contract has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Trouble {
    /// Where, as a JSON pointer.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

/// Where something is read, and what is wrong so far.
#[derive(Debug, Default)]
pub struct Reading {
    path: Vec<String>,
    troubles: Vec<Trouble>,
    /// The references that were read, where they are asked for.
    references: Option<Vec<Mention>>,
}

/// A reference in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// Where, as a JSON pointer.
    pub path: String,
    /// The reference.
    pub text: String,
}

impl Reading {
    /// One that also keeps the references.
    #[must_use]
    pub fn of_references() -> Self {
        Reading { references: Some(Vec::new()), ..Reading::default() }
    }

    /// Something is wrong here.
    pub fn wrong<T>(&mut self, message: impl Into<String>) -> Option<T> {
        let path = self.here();
        self.troubles.push(Trouble { path, message: message.into() });
        None
    }

    /// A text stands here that may be a reference.
    pub fn refers(&mut self, text: &str) {
        if self.references.is_none() || Reference::read(text).is_none() {
            return;
        }
        let path = self.here();
        if let Some(references) = &mut self.references {
            references.push(Mention { path, text: text.to_string() });
        }
    }

    fn here(&self) -> String {
        self.path.iter().map(|name| format!("/{name}")).collect()
    }

    /// Goes into a member and out again.
    pub fn inside<T>(&mut self, name: impl Into<String>, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(name.into());
        let value = read(self);
        self.path.pop();
        value
    }

    /// What was wrong.
    #[must_use]
    pub fn troubles(self) -> Vec<Trouble> {
        self.troubles
    }

    /// The references that were read.
    #[must_use]
    pub fn references(self) -> Vec<Mention> {
        self.references.unwrap_or_default()
    }
}
