//! What the tools share: a root, and what starts a program in it.
//! Owns: opening the root, the list of tools. Must not: permit a call.

use crate::args::Undefined;
use crate::fs::{ListDir, ReadText, WriteText};
use crate::shell::Exec;
use crate::time::{Now, Time};
use countersign_record::code::Code;
use countersign_runtime::ports::tool::Tool;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the tools work, and how they are held there.
#[derive(Clone, Debug)]
pub struct Sandbox {
    root: PathBuf,
    dir: Arc<OwnedFd>,
    launcher: PathBuf,
}

/// Why there are no tools.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The root can't be used.
    #[error("the sandbox's root {} can't be opened: {source}", root.display())]
    Root {
        /// The directory.
        root: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// This program's own file can't be found.
    #[error("this program's own file can't be found: {0}")]
    Launcher(io::Error),
    /// A tool says something wrong of itself.
    #[error("the definition of {0} is wrong")]
    Definition(&'static str),
}

impl Error {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Error::Root { .. } | Error::Launcher(_) => Code::ToolSandbox,
            Error::Definition(_) => Code::ToolFailed,
        }
    }
}

impl From<Undefined> for Error {
    fn from(undefined: Undefined) -> Self {
        Error::Definition(undefined.0)
    }
}

impl Sandbox {
    /// Opens a directory as the root. Programs are started by this program itself, whose `main` asks
    /// [`crate::held::entered`] first.
    ///
    /// # Errors
    /// It is no directory that can be opened, or this program has no file.
    pub fn open(root: &Path) -> Result<Self, Error> {
        Self::with_launcher(root, &std::env::current_exe().map_err(Error::Launcher)?)
    }

    /// The same with another program as the one that starts programs.
    ///
    /// # Errors
    /// It is no directory that can be opened.
    pub fn with_launcher(root: &Path, launcher: &Path) -> Result<Self, Error> {
        let refused = |source| Error::Root { root: root.to_owned(), source };
        // The operator named the root, so links on the way to it are meant.
        let root = root.canonicalize().map_err(refused)?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let dir = rustix::fs::open(&root, flags, Mode::empty())
            .map_err(|errno| Error::Root { root: root.clone(), source: errno.into() })?;
        Ok(Sandbox { root, dir: Arc::new(dir), launcher: launcher.to_owned() })
    }

    /// The root.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The program that starts programs.
    #[must_use]
    pub fn launcher(&self) -> &Path {
        &self.launcher
    }

    pub(crate) fn dir(&self) -> &Arc<OwnedFd> {
        &self.dir
    }
}

/// All tools of this crate.
///
/// # Errors
/// A tool says something wrong of itself.
pub fn registry(sandbox: &Sandbox, now: Now) -> Result<Vec<Arc<dyn Tool>>, Error> {
    Ok(vec![
        Arc::new(ReadText::new(sandbox)?),
        Arc::new(ListDir::new(sandbox)?),
        Arc::new(WriteText::new(sandbox)?),
        Arc::new(Exec::new(sandbox)?),
        Arc::new(Time::new(now)?),
    ])
}
