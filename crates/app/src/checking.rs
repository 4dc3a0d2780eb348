//! Commands that look at the work of a task.
//! Owns: the folder that they look at, and its end. Must not: grant one, or run it but through `shell.exec`.
//!
//! The folder holds the work and nothing else: no ledger, no keys, no source. It is made for one look and goes with it.

use crate::office::Rooms;
use countersign_kernel::gate::Permitted;
use countersign_record::code::Code;
use countersign_record::id::RunId;
use countersign_record::json::Object;
use countersign_record::tool::Definition;
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::command::{Commands, File};
use countersign_runtime::ports::tool::{Done, NotDone, Plan, Tool};
use countersign_tools::{Exec, Sandbox, arguments};
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

const DIR_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// What runs the commands of a matter's tasks.
pub(crate) struct Checking {
    /// Where the folders are made.
    dir: PathBuf,
}

impl Checking {
    pub(crate) fn of(rooms: &Rooms) -> Self {
        Checking { dir: rooms.looks() }
    }
}

impl Commands for Checking {
    fn arguments(&self, argv: &[String]) -> Result<Object, NotDone> {
        arguments(argv)
    }

    fn over<'a>(&'a self, run: &'a RunId, files: Vec<File>) -> Answer<'a, Result<Box<dyn Tool>, NotDone>> {
        // A run is carried on by one process at a time, so the folder is its own; one that a crash left is old.
        let dir = self.dir.join(run.as_str());
        Box::pin(async move {
            let made = tokio::task::spawn_blocking(move || Looking::over(dir, &files));
            let failed = |why: String| NotDone::new(Code::ToolFailed, why);
            let looking = made.await.map_err(|_| failed("it broke off".to_owned()))??;
            let tool: Box<dyn Tool> = Box::new(looking);
            Ok(tool)
        })
    }
}

/// A folder that goes when nobody looks at it any more.
struct Folder(PathBuf);

impl Folder {
    fn make(dir: PathBuf, files: &[File]) -> io::Result<Self> {
        let mut builder = DirBuilder::new();
        builder.mode(DIR_MODE);
        if let Some(above) = dir.parent() {
            DirBuilder::new().recursive(true).mode(DIR_MODE).create(above)?;
        }
        match std::fs::remove_dir_all(&dir) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        builder.create(&dir)?;
        let folder = Folder(dir);
        for file in files {
            folder.put(file)?;
        }
        Ok(folder)
    }

    /// Puts a file there. A task's paths lead nowhere else, and there is nothing yet that a link could stand in.
    fn put(&self, file: &File) -> io::Result<()> {
        let path = self.0.join(Path::new(&file.path));
        if let Some(above) = path.parent() {
            DirBuilder::new().recursive(true).mode(DIR_MODE).create(above)?;
        }
        let mut open = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path)?;
        open.write_all(file.text.as_bytes())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What can't be removed goes before the next look.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// `shell.exec` in such a folder.
struct Looking {
    exec: Exec,
    _folder: Folder,
}

impl Looking {
    fn over(dir: PathBuf, files: &[File]) -> Result<Self, NotDone> {
        let unmade = |error: io::Error| {
            NotDone::new(Code::ToolSandbox, format!("the folder for it can't be made: {}", error.kind()))
        };
        let folder = Folder::make(dir, files).map_err(unmade)?;
        let refused = |error: countersign_tools::Error| NotDone::new(error.code(), error.to_string());
        let sandbox = Sandbox::open(&folder.0).map_err(refused)?;
        Ok(Looking { exec: Exec::new(&sandbox).map_err(refused)?, _folder: folder })
    }
}

impl Tool for Looking {
    fn definition(&self) -> &Definition {
        self.exec.definition()
    }

    fn plan(&self, args: &Object) -> Result<Plan, NotDone> {
        self.exec.plan(args)
    }

    fn run<'a>(
        &'a self,
        call: Permitted,
        cancel: &'a CancellationToken,
    ) -> Answer<'a, Result<Done, NotDone>> {
        self.exec.run(call, cancel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_record::tool::Needs;
    use countersign_work::task::SHELL;

    #[test]
    fn a_folder_holds_the_work_and_goes() {
        let above = std::env::temp_dir().join(format!("countersign-checking-{}", std::process::id()));
        let dir = above.join("run_0000000000000001");
        let file = |path: &str| File { path: path.to_owned(), text: "x\n".to_owned() };
        std::fs::create_dir_all(dir.join("left/by/a/crash")).unwrap();
        let looking = Looking::over(dir.clone(), &[file("memo.md"), file("out/notes.md")]).unwrap();
        assert_eq!(looking.definition().needs, Needs::Capability(SHELL.to_owned()));
        let mut held: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|one| one.unwrap().file_name()).collect();
        held.sort();
        assert_eq!(held, ["memo.md", "out"]);
        assert_eq!(std::fs::read_to_string(dir.join("out/notes.md")).unwrap(), "x\n");
        drop(looking);
        assert!(!dir.exists());
        // A file where another has its folder.
        let clash = Looking::over(dir.clone(), &[file("a"), file("a/b")]).map(drop).unwrap_err();
        assert_eq!(clash.code, Code::ToolSandbox);
        assert!(!dir.exists());
        std::fs::remove_dir_all(above).unwrap();
    }
}
