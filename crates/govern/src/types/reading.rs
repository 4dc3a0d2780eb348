//! Reading a record: where it is read, what is wrong so far.
//! Owns: places and what is told of them. Must not: know a type.

use crate::path::Path;
use alloc::string::String;
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
}

impl Reading {
    /// Something is wrong here.
    pub fn wrong<T>(&mut self, message: impl Into<String>) -> Option<T> {
        let path = self.here();
        self.troubles.push(Trouble { path, message: message.into() });
        None
    }

    fn here(&self) -> String {
        self.path.iter().fold(Path::whole(), |path, name| path.name(name)).into()
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
}
