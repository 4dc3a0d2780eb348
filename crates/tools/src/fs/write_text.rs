//! The tool `fs.write_text`.
//! Owns: putting one whole file in its place. Must not: leave half of one, make a directory, or write through a link.

use crate::args::{self, Saying, capability};
use crate::beneath;
use crate::place::Clean;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};
use countersign_record::tool::Effect;
use countersign_runtime::ports::tool::{Done, NotDone, Plan, Reads, STAGED};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, RenameFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Write};

const TEXT_BYTES_MAX: usize = 1_000_000;
/// How many names are tried for the file that is written beside.
const NAMES_MAX: usize = 8;

/// What may be in the file's place already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    Nothing,
    AFile,
}

/// What is asked for.
#[derive(Debug)]
pub struct Call {
    parent: Clean,
    name: String,
    path: Clean,
    text: String,
    over: Over,
}

impl super::Call for Call {
    fn saying() -> Saying {
        Saying {
            name: "fs.write_text",
            description: "Writes a whole text file beneath the sandbox's root, at once or not at all. Its directory \
                must be there. A file that is there already is replaced only with overwrite. Gives its path and \
                size in bytes.",
            parameters: r#"{
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "properties": {
                    "path": {"type": "string", "minLength": 1, "maxLength": 4096,
                        "description": "relative to the sandbox's root, without `..`"},
                    "text": {"type": "string", "maxLength": 1000000,
                        "description": "all of the file's text; at most 1000000 bytes as UTF-8"},
                    "overwrite": {"type": "boolean", "default": false,
                        "description": "whether a file that is there already is replaced"}
                },
                "required": ["path", "text"],
                "additionalProperties": false
            }"#,
            effect: Effect::Irreversible,
            needs: capability("fs:write"),
        }
    }

    fn read(args: &Object) -> Result<Self, NotDone> {
        let path = Clean::try_from(args::text(args, "path")?)?;
        let text = args::text(args, "text")?.to_owned();
        if text.len() > TEXT_BYTES_MAX {
            let why = format!("{} bytes are more than the {TEXT_BYTES_MAX} of a file", text.len());
            return Err(NotDone::new(Code::ToolTooLarge, why));
        }
        let over = if args::is_set(args, "overwrite")? { Over::AFile } else { Over::Nothing };
        let Some((parent, name)) = path.split() else {
            return Err(NotDone::new(Code::ToolPath, "the sandbox's root is a directory"));
        };
        Ok(Call { parent: Clean::try_from(parent)?, name: name.to_owned(), path, text, over })
    }

    fn plan(&self) -> Plan {
        let over = match self.over {
            Over::Nothing => "if there is nothing yet",
            Over::AFile => "in the place of what is there",
        };
        let bytes = match self.text.len() {
            1 => "1 byte".to_owned(),
            count => format!("{count} bytes"),
        };
        Plan {
            summary: format!("write {bytes} to {}, {over}", self.path),
            reads: Reads::Nothing,
            writes: Some(self.path.as_str().to_owned()),
            sends_to: None,
        }
    }

    fn run(&self, root: &OwnedFd) -> Result<Done, NotDone> {
        write(root, self)
    }
}

fn write(root: &OwnedFd, call: &Call) -> Result<Done, NotDone> {
    let cant = |errno| beneath::cant(&call.path, errno);
    let dir = beneath::dir(root, &call.parent).map_err(|refused| match refused.code {
        Code::ToolPath => NotDone::new(
            Code::ToolPath,
            format!("{}; directories are not made, and links are not followed", refused.message),
        ),
        _ => refused,
    })?;
    let mode = standing(&dir, call)?;
    let mut staged = Staged::create(&dir, call)?;
    staged.fill(call.text.as_bytes(), mode).map_err(|error| failed(call, &error))?;
    match call.over {
        Over::AFile => rustix::fs::renameat(&dir, &staged.name, &dir, &call.name).map_err(cant)?,
        Over::Nothing => place_new(&dir, &staged.name, call)?,
    }
    staged.is_placed = true;
    rustix::fs::fsync(&dir).map_err(cant)?;
    Ok(Done::plain(Json::from(Object::from([
        ("path", Json::from(call.path.as_str())),
        ("bytes", args::count(call.text.len() as u64)),
    ]))))
}

/// Looks at what is there: the mode that the new file takes over. What comes in between is replaced as a name or
/// refused, never written through.
fn standing(dir: &OwnedFd, call: &Call) -> Result<Mode, NotDone> {
    let about = match rustix::fs::statat(dir, &call.name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(Mode::RUSR | Mode::WUSR),
        Err(errno) => return Err(beneath::cant(&call.path, errno)),
        Ok(about) => about,
    };
    beneath::regular(&call.path, &about)?;
    match call.over {
        Over::AFile => Ok(Mode::from_raw_mode(about.st_mode & 0o777)),
        Over::Nothing => Err(taken(call)),
    }
}

/// Gives the file its name, unless there is something of that name.
fn place_new(dir: &OwnedFd, staged: &str, call: &Call) -> Result<(), NotDone> {
    let placed = match rustix::fs::renameat_with(dir, staged, dir, &call.name, RenameFlags::NOREPLACE) {
        // Some file systems can't rename without replacing. A second name never replaces; the first one goes after.
        Err(Errno::INVAL | Errno::NOSYS) => {
            rustix::fs::linkat(dir, staged, dir, &call.name, AtFlags::empty())
                .and_then(|()| rustix::fs::unlinkat(dir, staged, AtFlags::empty()))
        }
        result => result,
    };
    match placed {
        Err(Errno::EXIST) => Err(taken(call)),
        Err(errno) => Err(beneath::cant(&call.path, errno)),
        Ok(()) => Ok(()),
    }
}

fn taken(call: &Call) -> NotDone {
    NotDone::new(Code::ToolPath, format!("{} is there already; overwrite replaces it", call.path))
}

fn failed(call: &Call, error: &io::Error) -> NotDone {
    NotDone::new(Code::ToolFailed, format!("{} can't be written: {error}", call.path))
}

/// A file beside the one that is written. It is gone when it was not put in its place.
struct Staged<'a> {
    dir: &'a OwnedFd,
    name: String,
    file: File,
    is_placed: bool,
}

impl<'a> Staged<'a> {
    /// A new file under a name that nobody can guess, so that nobody can have put something there.
    fn create(dir: &'a OwnedFd, call: &Call) -> Result<Self, NotDone> {
        for _ in 0..NAMES_MAX {
            let number = getrandom::u64().map_err(|error| failed(call, &io::Error::other(error)))?;
            let name = format!("{STAGED}{number:016x}");
            match beneath::new_file(dir, &name) {
                Ok(file) => return Ok(Staged { dir, name, file: file.into(), is_placed: false }),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(beneath::cant(&call.path, errno)),
            }
        }
        Err(NotDone::new(Code::ToolFailed, format!("{} can't be written: no name was free", call.path)))
    }

    fn fill(&mut self, bytes: &[u8], mode: Mode) -> io::Result<()> {
        self.file.write_all(bytes)?;
        rustix::fs::fchmod(&self.file, mode)?;
        self.file.sync_all()
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if !self.is_placed {
            rustix::fs::unlinkat(self.dir, &self.name, AtFlags::empty()).unwrap_or(());
        }
    }
}
