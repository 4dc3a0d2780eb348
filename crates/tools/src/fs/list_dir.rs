//! The tool `fs.list_dir`.
//! Owns: the names in one directory, in one order. Must not: go into another.

use crate::args::{self, Saying, capability};
use crate::beneath;
use crate::place::Clean;
use countersign_record::json::{Json, Object};
use countersign_record::tool::Effect;
use countersign_runtime::ports::tool::{Done, NotDone, Plan, Reads};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, FileType};
use std::ffi::CString;
use std::fmt::Write;

const ENTRIES_MAX: u64 = 2_000;
const ENTRIES_DEFAULT: u64 = 200;
/// How many names are read at all, to be put in order.
const NAMES_MAX: usize = 100_000;

/// What is asked for.
pub struct Call {
    path: Clean,
    entries_max: usize,
}

impl super::Call for Call {
    fn saying() -> Saying {
        Saying {
            name: "fs.list_dir",
            description: "Lists a directory beneath the sandbox's root, sorted by name. Gives its path, entries \
                (name, kind: file, dir, link or other, and bytes of files), how many there are (total), and \
                whether some were left out (truncated). A name that is no UTF-8 is escaped and marked.",
            parameters: r#"{
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "properties": {
                    "path": {"type": "string", "minLength": 1, "maxLength": 4096, "default": ".",
                        "description": "relative to the sandbox's root, without `..`"},
                    "max_entries": {"type": "integer", "minimum": 1, "maximum": 2000, "default": 200,
                        "description": "how many entries are given"}
                },
                "additionalProperties": false
            }"#,
            effect: Effect::None,
            needs: capability("fs:read"),
        }
    }

    fn read(args: &Object) -> Result<Self, NotDone> {
        let path = Clean::try_from(args::text_or(args, "path", ".")?)?;
        let entries_max = args::number_or(args, "max_entries", ENTRIES_DEFAULT, 1..=ENTRIES_MAX)?;
        Ok(Call { path, entries_max: usize::try_from(entries_max).unwrap_or(usize::MAX) })
    }

    fn plan(&self) -> Plan {
        let Call { path, entries_max } = self;
        Plan {
            summary: format!("list up to {entries_max} entries of {path}"),
            reads: Reads::Path(path.as_str().to_owned()),
            writes: None,
            sends_to: None,
        }
    }

    fn run(&self, root: &OwnedFd) -> Result<Done, NotDone> {
        list(root, self)
    }
}

fn list(root: &OwnedFd, call: &Call) -> Result<Done, NotDone> {
    let dir = beneath::dir(root, &call.path)?;
    let cant = |errno| beneath::cant(&call.path, errno);
    let mut names: Vec<CString> = Vec::new();
    let mut more = false;
    for entry in Dir::read_from(&dir).map_err(cant)? {
        let entry = entry.map_err(cant)?;
        if matches!(entry.file_name().to_bytes(), b"." | b"..") {
            continue;
        }
        if names.len() == NAMES_MAX {
            more = true;
            break;
        }
        names.push(entry.file_name().to_owned());
    }
    names.sort_unstable();
    let total = names.len() as u64;
    let truncated = more || names.len() > call.entries_max;
    names.truncate(call.entries_max);
    let entries = names.iter().map(|name| described(&dir, name)).collect();
    Ok(Done::plain(Json::from(Object::from([
        ("path", Json::from(call.path.as_str())),
        ("entries", Json::Array(entries)),
        ("total", args::count(total)),
        ("truncated", Json::from(truncated)),
    ]))))
}

fn described(dir: &OwnedFd, name: &CString) -> Json {
    let mut entry = Object::new();
    match name.to_str() {
        Ok(name) => entry.insert("name", name),
        Err(_) => {
            entry.insert("escaped", true);
            entry.insert("name", escaped(name.to_bytes()))
        }
    };
    // What was taken away meanwhile is listed as something that can't be read.
    let about = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).ok();
    let kind = match about.map(|about| FileType::from_raw_mode(about.st_mode)) {
        Some(FileType::RegularFile) => "file",
        Some(FileType::Directory) => "dir",
        Some(FileType::Symlink) => "link",
        Some(
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown,
        )
        | None => "other",
    };
    if let (Some(about), "file") = (about, kind) {
        entry.insert("bytes", args::count(u64::try_from(about.st_size).unwrap_or_default()));
    }
    entry.insert("kind", kind);
    Json::from(entry)
}

/// A name that is no UTF-8: what is no letter as `\xNN`, and a backslash twice.
fn escaped(name: &[u8]) -> String {
    let mut text = String::new();
    for chunk in name.utf8_chunks() {
        text.push_str(&chunk.valid().replace('\\', "\\\\"));
        for byte in chunk.invalid() {
            // Writing into a text can't fail.
            write!(text, "\\x{byte:02x}").unwrap_or(());
        }
    }
    text
}
