//! The tool `fs.read_text`.
//! Owns: reading the beginning of one file. Must not: read more than it was asked for.

use crate::args::{self, Saying, capability};
use crate::beneath;
use crate::place::Clean;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};
use countersign_record::tool::Effect;
use countersign_runtime::ports::tool::{Done, NotDone, Plan, Reads};
use rustix::fd::OwnedFd;
use std::fs::File;
use std::io::Read;

const BYTES_MAX: u64 = 1_000_000;
const BYTES_DEFAULT: u64 = 20_000;

/// What is asked for.
pub struct Call {
    path: Clean,
    bytes_max: u64,
}

impl super::Call for Call {
    fn saying() -> Saying {
        Saying {
            name: "fs.read_text",
            description: "Reads a text file beneath the sandbox's root, from its beginning. Gives its path, text, \
                size in bytes, and whether the text was cut (truncated) or holds bytes that are no UTF-8 (lossy). \
                Links and files with several names are refused.",
            parameters: r#"{
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "properties": {
                    "path": {"type": "string", "minLength": 1, "maxLength": 4096,
                        "description": "relative to the sandbox's root, without `..`"},
                    "max_bytes": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 20000,
                        "description": "how much is read"}
                },
                "required": ["path"],
                "additionalProperties": false
            }"#,
            effect: Effect::None,
            needs: capability("fs:read"),
        }
    }

    fn read(args: &Object) -> Result<Self, NotDone> {
        let path = Clean::try_from(args::text(args, "path")?)?;
        let bytes_max = args::number_or(args, "max_bytes", BYTES_DEFAULT, 1..=BYTES_MAX)?;
        Ok(Call { path, bytes_max })
    }

    fn plan(&self) -> Plan {
        let Call { path, bytes_max } = self;
        Plan {
            summary: format!("read up to {bytes_max} bytes of {path}"),
            reads: Reads::Path(path.as_str().to_owned()),
            writes: None,
            sends_to: None,
        }
    }

    fn run(&self, root: &OwnedFd) -> Result<Done, NotDone> {
        read(root, self)
    }
}

fn read(root: &OwnedFd, call: &Call) -> Result<Done, NotDone> {
    let (file, about) = beneath::file(root, &call.path)?;
    let failed = |error| NotDone::new(Code::ToolFailed, format!("{} can't be read: {error}", call.path));
    let mut bytes = Vec::new();
    let mut file = File::from(file);
    file.by_ref().take(call.bytes_max).read_to_end(&mut bytes).map_err(failed)?;
    // The file may grow while it is read, so its end is asked for and not reckoned.
    let truncated = bytes.len() as u64 == call.bytes_max && file.read(&mut [0]).map_err(failed)? > 0;
    if truncated {
        bytes.truncate(whole_letters(&bytes));
    }
    let size = u64::try_from(about.st_size).unwrap_or_default().max(bytes.len() as u64);
    let text = String::from_utf8(bytes);
    let lossy = text.is_err();
    let text = text.unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    Ok(Done::plain(Json::from(Object::from([
        ("path", Json::from(call.path.as_str())),
        ("text", Json::from(text)),
        ("bytes", args::count(size)),
        ("truncated", Json::from(truncated)),
        ("lossy", Json::from(lossy)),
    ]))))
}

/// How many bytes are left without a letter that was cut at the end.
pub(crate) fn whole_letters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Ok(_) | Err(_) => bytes.len(),
    }
}
