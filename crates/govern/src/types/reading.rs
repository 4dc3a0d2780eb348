//! Reading a record: where it is read, what is wrong so far.
//! Owns: places and what is told of them. Must not: know a type.

use crate::path::Path;
use alloc::string::String;
use alloc::vec::Vec;

/// How something of a record is not as the contract has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// It is there and not of its type: another kind of value, or a word that is none. A rule that reads it reads nothing.
    Type,
    /// It is not there.
    Missing,
    /// No type has it.
    Unknown,
}

impl How {
    /// Whether it is an error: a rule that needs the member would read nothing, and say nothing.
    #[must_use]
    pub fn is_error(self) -> bool {
        match self {
            How::Type | How::Missing => true,
            How::Unknown => false,
        }
    }
}

/// Something of a record that is not as the contract has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Trouble {
    /// How.
    pub how: How,
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
    /// What is here is not of its type.
    pub fn wrong<T>(&mut self, message: impl Into<String>) -> Option<T> {
        self.tell(How::Type, message.into())
    }

    /// Nothing is here.
    pub fn missing<T>(&mut self) -> Option<T> {
        self.tell(How::Missing, "is missing".into())
    }

    /// What is here is of no type.
    pub fn unknown<T>(&mut self) -> Option<T> {
        self.tell(How::Unknown, "is not known here".into())
    }

    fn tell<T>(&mut self, how: How, message: String) -> Option<T> {
        let path = self.here();
        self.troubles.push(Trouble { how, path, message });
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
