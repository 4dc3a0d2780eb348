//! Where something stands in a record.
//! Owns: JSON pointers (RFC 6901) and how they are made. Must not: take a name from a record for a path of several.
//!
//! Code writes paths with dots, as `Member` looks members up, and those are known when it is compiled; a name that a record brought may
//! itself have a dot, a slash or a tilde, so it goes in through [`Path::name`] and no other way.

use alloc::string::{String, ToString};
use countersign_record::json::{POINTER_BYTES_MAX, escaped};

/// A step into a value: what paths are made of while a record is walked through, since nearly none is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'j> {
    /// Into a member.
    Name(&'j str),
    /// Into an item.
    Item(usize),
}

/// A place in a record; empty for the whole of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path {
    pointer: String,
    /// A name was too long to be told: the pointer ends above it.
    is_cut: bool,
}

impl Path {
    /// The whole record.
    #[must_use]
    pub fn whole() -> Self {
        Path::default()
    }

    /// What `Member` finds by a path with dots, wherever that comes from.
    #[must_use]
    pub fn looked_up(dotted: &str) -> Self {
        Path::whole().each(dotted)
    }

    /// The place that steps lead to, from outside in.
    #[must_use]
    pub fn along(steps: &[Step<'_>]) -> Self {
        steps.iter().fold(Path::whole(), |path, step| match step {
            Step::Name(name) => path.name(name),
            Step::Item(at) => path.item(*at),
        })
    }

    /// A member of it, by a name as the record has it.
    #[must_use]
    pub fn name(mut self, name: &str) -> Self {
        let name = escaped(name);
        self.is_cut |= self.pointer.len() + 1 + name.len() > POINTER_BYTES_MAX;
        if !self.is_cut {
            self.pointer.push('/');
            self.pointer.push_str(&name);
        }
        self
    }

    /// An item of it, if it is a list.
    #[must_use]
    pub fn item(mut self, at: usize) -> Self {
        if !self.is_cut {
            self.pointer.push('/');
            self.pointer.push_str(&at.to_string());
        }
        self
    }

    /// What stands in it by a path from there.
    #[must_use]
    pub fn join(mut self, below: Path) -> Self {
        if !self.is_cut {
            self.pointer.push_str(&below.pointer);
            self.is_cut = below.is_cut;
        }
        self
    }

    /// What stands in it by a path with dots.
    #[must_use]
    pub fn then(self, dotted: &'static str) -> Self {
        self.each(dotted)
    }

    fn each(self, dotted: &str) -> Self {
        if dotted.is_empty() { self } else { dotted.split('.').fold(self, Path::name) }
    }
}

/// A path with dots, as code has it.
impl From<&'static str> for Path {
    fn from(dotted: &'static str) -> Self {
        Path::looked_up(dotted)
    }
}

impl From<Path> for String {
    fn from(path: Path) -> Self {
        path.pointer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: Path, expected: &str) {
        assert_eq!(String::from(path), expected);
    }

    #[test]
    fn names_stay_whole() {
        check("".into(), "");
        check("a.b".into(), "/a/b");
        check(Path::from("a").name("b.c").item(0).then("d.e"), "/a/b.c/0/d/e");
        check(Path::whole().name("~/.").name(""), "/~0~1./");
        check(Path::looked_up("a/b.c~d"), "/a~1b/c~0d");
    }

    #[test]
    fn a_pointer_ends_above_a_name_that_is_too_long() {
        let long = "~".repeat(POINTER_BYTES_MAX / 2);
        check(Path::from("a").name(&long).name("b").item(1).then("c"), "/a");
    }
}
