//! Paths as a model writes them.
//! Owns: cleaning them without looking at a disk, and showing what is no plain text. Must not: open one.

use countersign_record::code::Code;
use countersign_runtime::ports::tool::NotDone;
use std::fmt;

/// What a path may have, and a part of it.
pub(crate) const PATH_BYTES_MAX: usize = 4_096;
const PART_BYTES_MAX: usize = 255;
const PARTS_MAX: usize = 128;
/// Models call the root so, whatever it is.
const ALIAS: &str = "/sandbox";
/// The root itself.
const HERE: &str = ".";

/// A path beneath the root: relative, without empty parts, `.` and `..`; the root itself is `.`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Clean(String);

impl Clean {
    /// The path.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The directory that holds it, and its name there. The root has none.
    pub(crate) fn split(&self) -> Option<(&str, &str)> {
        match self.0.rsplit_once('/') {
            Some((parent, name)) => Some((parent, name)),
            None if self.0 == HERE => None,
            None => Some((HERE, &self.0)),
        }
    }
}

impl fmt::Display for Clean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Shown(&self.0))
    }
}

impl TryFrom<&str> for Clean {
    type Error = NotDone;

    fn try_from(text: &str) -> Result<Self, NotDone> {
        let refused = |why: &str| NotDone::new(Code::ToolPath, why);
        if text.len() > PATH_BYTES_MAX {
            return Err(refused("a path has at most 4096 bytes"));
        }
        if text.is_empty() || text.contains('\0') {
            return Err(refused("a path is not empty and has no NUL"));
        }
        let beneath = match text.strip_prefix(ALIAS) {
            Some("") => HERE,
            Some(rest) if rest.starts_with('/') => rest.trim_start_matches('/'),
            Some(_) | None => text,
        };
        if beneath.starts_with('/') {
            return Err(refused("the path is absolute; paths begin at the sandbox's root"));
        }
        let mut parts = Vec::new();
        for part in beneath.split('/') {
            match part {
                "" | "." => {}
                ".." => return Err(refused("the path has a `..`")),
                _ if part.len() > PART_BYTES_MAX => return Err(refused("a name has at most 255 bytes")),
                _ => parts.push(part),
            }
        }
        match parts.len() {
            0 => Ok(Clean(HERE.to_owned())),
            1..=PARTS_MAX => Ok(Clean(parts.join("/"))),
            _ => Err(refused("a path has at most 128 parts")),
        }
    }
}

/// A text in one line, for people: what can't be seen, or turns the line around, is escaped.
pub(crate) struct Shown<'a>(pub(crate) &'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '"' | '\'' | '\\' => write!(f, "{letter}")?,
                _ => write!(f, "{}", letter.escape_debug())?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::path::{Component, Path};

    #[test]
    fn paths_are_cleaned() {
        for (text, clean) in [
            ("a", "a"),
            ("./a//b/.", "a/b"),
            (".", "."),
            ("/sandbox", "."),
            ("/sandbox/", "."),
            ("/sandbox/a", "a"),
            ("/sandbox//etc/passwd", "etc/passwd"),
            ("sandbox/a", "sandbox/a"),
            ("...", "..."),
        ] {
            assert_eq!(Clean::try_from(text).unwrap().as_str(), clean, "{text}");
        }
    }

    #[test]
    fn what_leads_out_is_refused() {
        for text in ["", "/", "/etc", "//sandbox/a", "/sandboxed", "..", "a/../b", "/sandbox/..", "a\0b"] {
            assert_eq!(Clean::try_from(text).unwrap_err().code, Code::ToolPath, "{text:?}");
        }
        for text in ["a".repeat(256), "a/".repeat(129), "a/".repeat(3_000)] {
            assert_eq!(Clean::try_from(text.as_str()).unwrap_err().code, Code::ToolPath);
        }
    }

    #[test]
    fn what_is_shown_is_one_line() {
        assert_eq!(Shown("a\nb\u{202e}c'\"\\").to_string(), "a\\nb\\u{202e}c'\"\\");
    }

    proptest! {
        #[test]
        fn no_path_escapes(text in "(/sandbox)?([./a\\x00 ~é]|\\.\\./|//|sandbox){0,24}") {
            if let Ok(clean) = Clean::try_from(text.as_str()) {
                let path = Path::new(clean.as_str());
                prop_assert!(clean.as_str() == "." || path.components().all(|part| matches!(part, Component::Normal(_))));
                prop_assert!(Path::new("/root").join(path).starts_with("/root"));
                prop_assert_eq!(Clean::try_from(clean.as_str()), Ok(clean.clone()));
            }
        }
    }
}
