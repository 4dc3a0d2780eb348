//! Calls of tools that a model asks for.
//! Owns: reading the blocks of one reply, and whether any of their calls may run. Must not: know which tools there are.

use super::{Why, parsed};
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::fields::Fields;
use countersign_record::json::{Json, Object};

/// Calls of one reply.
pub const CALLS_MAX: usize = 32;
/// An id or a name of a tool, in bytes.
const NAME_BYTES_MAX: usize = 128;

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its id, by which its result is known.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// What the tool is given.
    pub args: Object,
}

/// What a reply asks for. If anything in it is wrong nothing of it runs: a model that counts on its first call having
/// failed must not find that the second one was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// These, in this order.
    Calls(Vec<Call>),
    /// Nothing runs; each call is answered with why.
    Refused(Vec<Refused>),
}

/// A call that is not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its id, as far as one can be read.
    pub id: String,
    /// The tool, as far as one can be read.
    pub tool: String,
    /// Why.
    pub why: Why,
}

impl Default for Asked {
    fn default() -> Self {
        Asked::Calls(Vec::new())
    }
}

impl Asked {
    /// Reads the blocks of one reply, in order.
    #[must_use]
    pub fn read<'a>(blocks: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut read: Vec<Result<Call, Refused>> = Vec::new();
        for block in blocks {
            match list(block) {
                Ok(items) => read.extend(items.into_iter().take(CALLS_MAX + 1).map(call)),
                Err(why) => read.push(Err(Refused { id: String::new(), tool: String::new(), why })),
            }
        }
        let mut ids = BTreeSet::new();
        let is_unique = read.iter().flatten().all(|call| ids.insert(call.id.as_str()));
        let why = match (is_unique, read.len() <= CALLS_MAX, read.iter().all(Result::is_ok)) {
            (false, _, _) => "two calls of this reply have the same id",
            (_, false, _) => "a reply has at most 32 calls",
            (_, _, false) => "another call of this reply is none",
            (true, true, true) => return Asked::Calls(read.into_iter().flatten().collect()),
        };
        let refused = |one: Result<Call, Refused>| match one {
            Ok(Call { id, tool, .. }) => Refused { id, tool, why: Why::from(why) },
            Err(refused) => refused,
        };
        Asked::Refused(read.into_iter().map(refused).take(CALLS_MAX).collect())
    }
}

fn list(block: &[u8]) -> Result<Vec<Json>, Why> {
    match parsed(block)? {
        Json::Array(items) => Ok(items),
        _ => Err(Why::from("calls are a list")),
    }
}

fn call(item: Json) -> Result<Call, Refused> {
    let known = |name: &str| {
        let text = item.get(name).and_then(Json::as_str).unwrap_or_default();
        text.chars().take(NAME_BYTES_MAX).collect::<String>()
    };
    let (id, tool) = (known("id"), known("tool"));
    let refused = |why: Why| Refused { id: id.clone(), tool: tool.clone(), why };
    let mut fields = Fields::taking(item).map_err(|trouble| refused(Why::of(&[trouble])))?;
    let (read_id, read_tool) = (fields.filled("id"), fields.filled("tool"));
    let args = fields.free_object("args");
    fields.deny_unknown();
    fields.finish().map_err(|troubles| refused(Why::of(&troubles)))?;
    match (read_id, read_tool, args) {
        (Some(id), Some(tool), Some(args)) if id.len() <= NAME_BYTES_MAX && tool.len() <= NAME_BYTES_MAX => {
            Ok(Call { id, tool, args })
        }
        _ => Err(refused(Why::from("an id or a tool's name has more than 128 bytes"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::vec;

    fn asked(blocks: &[&str]) -> Asked {
        Asked::read(blocks.iter().map(|block| block.as_bytes()))
    }

    fn ids(asked: &Asked) -> Result<Vec<&str>, Vec<(&str, &str)>> {
        match asked {
            Asked::Calls(calls) => Ok(calls.iter().map(|call| call.id.as_str()).collect()),
            Asked::Refused(refused) => {
                Err(refused.iter().map(|one| (one.id.as_str(), one.why.as_str())).collect())
            }
        }
    }

    #[test]
    fn the_calls_of_all_blocks_run_in_order() {
        let read = asked(&[
            "[{\"id\":\"t1\",\"tool\":\"fs.list_dir\",\"args\":{\"path\":\".\"}}]",
            "[]",
            "[{\"id\":\"t2\",\"tool\":\"x\",\"args\":{}},{\"id\":\"t3\",\"tool\":\"x\",\"args\":{}}]",
        ]);
        assert_eq!(ids(&read), Ok(vec!["t1", "t2", "t3"]));
        assert_eq!(ids(&asked(&[])), Ok(vec![]));
    }

    #[test]
    fn one_bad_call_and_none_runs() {
        let good = "{\"id\":\"t1\",\"tool\":\"x\",\"args\":{}}";
        let twice = asked(&[&format!("[{good}]"), &format!("[{good}]")]);
        assert_eq!(ids(&twice).unwrap_err().len(), 2);
        for bad in [
            "{\"id\":\"t2\",\"tool\":\"x\"}",
            "{\"id\":\"t2\",\"tool\":\"x\",\"args\":[]}",
            "{\"id\":7,\"tool\":\"x\",\"args\":{}}",
            "{\"id\":\"\",\"tool\":\"x\",\"args\":{}}",
            "{\"id\":\"t2\",\"tool\":\"x\",\"args\":{},\"as\":\"root\"}",
            "7",
        ] {
            let read = asked(&[&format!("[{good},{bad}]")]);
            let refused = ids(&read).unwrap_err();
            assert_eq!((refused.len(), refused[0].0), (2, "t1"), "{bad}");
        }
        for broken in ["{}", "[1", "[{\"a\":1,\"a\":1}]"] {
            assert!(ids(&asked(&[&format!("[{good}]"), broken])).is_err(), "{broken}");
        }
        let many: Vec<_> =
            (0..=CALLS_MAX).map(|at| format!("{{\"id\":\"t{at}\",\"tool\":\"x\",\"args\":{{}}}}")).collect();
        assert_eq!(ids(&asked(&[&format!("[{}]", many.join(","))])).unwrap_err().len(), CALLS_MAX);
    }
}
