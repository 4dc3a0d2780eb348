//! Traces of turns, a file each, a line per event.
//! Owns: their files, and who writes one. Must not: know what an event is; a trace is no record, so it is not synced.

mod lines;
mod watch;

pub use lines::Lines;
pub use watch::Watch;

use countersign_durable::{self as durable, Links};
use countersign_record::id::SessionName;
use rustix::fs::{CWD, FlockOperation, RenameFlags, flock, renameat_with};
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A trace is its owner's alone.
const DIR_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
const ENDING: &str = ".jsonl";
/// Between the session and the turn in a trace's name.
const TURN: &str = "__turn-";
/// Traces of one turn: it may have been begun and lost.
const ATTEMPTS_MAX: u32 = 100;

/// The traces of a matter.
#[derive(Clone, Debug)]
pub struct Traces {
    dir: PathBuf,
}

/// Whose trace it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The session.
    pub session: String,
    /// The turn; 0 if the name does not say.
    pub turn: u64,
}

impl Named {
    /// As the name of a trace says it.
    #[must_use]
    pub fn read(name: &str) -> Self {
        let (session, turn) = name.rsplit_once(TURN).unwrap_or((name, ""));
        let turn = turn.split('~').next().unwrap_or_default();
        Named { session: session.to_owned(), turn: turn.parse().unwrap_or(0) }
    }
}

impl Traces {
    /// Those under the directory; it need not be there.
    #[must_use]
    pub fn at(dir: &Path) -> Self {
        Traces { dir: dir.to_path_buf() }
    }

    /// Begins the trace of a turn, and gives its name. Where none can be written there is none: the turn goes on.
    #[must_use]
    pub fn begin(&self, session: &SessionName, turn: u64) -> (String, Lines) {
        match self.create(session, turn) {
            Ok((name, file)) => (name, Lines::to(file)),
            Err(_) => (format!("{session}{TURN}{turn}"), Lines::nowhere()),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{name}{ENDING}"))
    }

    /// Makes the file. Who writes it has its lock from the moment that it has its name, so a trace without a lock has
    /// nobody who writes it.
    fn create(&self, session: &SessionName, turn: u64) -> io::Result<(String, File)> {
        durable::make_dirs(&self.dir, DIR_MODE)?;
        // One process writes a session at a time: what is here was left by one that was killed.
        let staged = self.dir.join(format!(".{session}.new"));
        durable::remove(&staged)?;
        let file = OpenOptions::new().append(true).create_new(true).mode(FILE_MODE).open(&staged)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        for attempt in 1..=ATTEMPTS_MAX {
            let name = match attempt {
                1 => format!("{session}{TURN}{turn}"),
                again => format!("{session}{TURN}{turn}~{again}"),
            };
            match renameat_with(CWD, &staged, CWD, self.path(&name), RenameFlags::NOREPLACE) {
                Ok(()) => return Ok((name, file)),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Err(io::Error::other("the turn has too many traces"))
    }

    /// The names of all traces, the oldest first.
    ///
    /// # Errors
    /// The directory can't be read.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            if let Some(name) = name.to_str().and_then(|name| name.strip_suffix(ENDING)) {
                names.push((entry.metadata()?.modified()?, name.to_owned()));
            }
        }
        names.sort();
        Ok(names.into_iter().map(|(_, name)| name).collect())
    }

    /// Removes the traces of a session.
    ///
    /// # Errors
    /// One can't be removed.
    pub fn forget(&self, session: &SessionName) -> io::Result<()> {
        for name in self.names()? {
            if Named::read(&name).session == session.as_str() {
                durable::remove(&self.path(&name))?;
            }
        }
        Ok(())
    }

    /// Opens a trace to read it.
    ///
    /// # Errors
    /// There is none of this name, or it can't be read.
    pub fn open(&self, name: &str) -> io::Result<File> {
        // The name of a file, and of nothing else.
        let is_name = !name.is_empty() && !name.contains('/') && !name.starts_with('.');
        if !is_name {
            return Err(io::Error::from(io::ErrorKind::NotFound));
        }
        let (file, _) = durable::open_regular(&self.path(name), Links::Refused)?;
        Ok(file)
    }
}

/// Whether somebody still writes a trace that was opened.
///
/// # Errors
/// The system does not say.
pub fn is_written(trace: &File) -> io::Result<bool> {
    match flock(trace, FlockOperation::NonBlockingLockShared) {
        Ok(()) => flock(trace, FlockOperation::Unlock).map(|()| false).map_err(Into::into),
        Err(Errno::WOULDBLOCK) => Ok(true),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_record::session::UnixTime;
    use countersign_runtime::ports::session::Trace;
    use countersign_testkit::scratch::Scratch;
    use std::io::Read;

    fn session() -> SessionName {
        SessionName::try_from("s1").unwrap()
    }

    #[test]
    fn each_turn_has_its_own_file_and_every_line_is_there() {
        let scratch = Scratch::new();
        let traces = Traces::at(&scratch.path().join("traces"));
        let names: Vec<String> = (0..2)
            .map(|_| {
                let (name, mut lines) = traces.begin(&session(), 7);
                (0..100).for_each(|number| lines.put(UnixTime::default(), format!("{number}\n")));
                name
            })
            .collect();
        assert_eq!(names, ["s1__turn-7", "s1__turn-7~2"]);
        for name in &names {
            let mut text = String::new();
            traces.open(name).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text.lines().count(), 100);
        }
        assert_eq!(traces.names().unwrap().len(), 2);
    }

    #[test]
    fn a_trace_that_can_not_be_written_is_none() {
        let scratch = Scratch::new();
        fs::write(scratch.path().join("traces"), b"mine").unwrap();
        let traces = Traces::at(&scratch.path().join("traces"));
        let (_, mut lines) = traces.begin(&session(), 1);
        lines.put(UnixTime::default(), "lost\n".into());
        drop(lines);
        assert_eq!(fs::read(scratch.path().join("traces")).unwrap(), b"mine");
    }

    #[test]
    fn a_trace_is_named_by_a_name() {
        let scratch = Scratch::new();
        fs::write(scratch.path().join("secret.jsonl"), b"{}").unwrap();
        let traces = Traces::at(&scratch.path().join("traces"));
        drop(traces.begin(&session(), 1));
        for name in ["", "..", "../secret", "/etc/passwd", ".hidden", "none"] {
            assert!(traces.open(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_trace_is_written_until_its_writer_is_gone() {
        let scratch = Scratch::new();
        let traces = Traces::at(&scratch.path().join("traces"));
        let (name, lines) = traces.begin(&session(), 1);
        let file = traces.open(&name).unwrap();
        assert!(is_written(&file).unwrap());
        drop(lines);
        assert!(!is_written(&file).unwrap());
        // Looking takes nothing from anybody: the next turn has its own.
        let (next, _lines) = traces.begin(&session(), 2);
        assert!(is_written(&traces.open(&next).unwrap()).unwrap());
        assert_eq!(traces.names().unwrap().len(), 2, "nothing else is in the directory");
    }

    #[test]
    fn a_name_says_whose_it_is() {
        for (name, session, turn) in [
            ("main__turn-3", "main", 3),
            ("a__turn-1__turn-12~2", "a__turn-1", 12),
            ("strange", "strange", 0),
            ("x__turn-y", "x", 0),
        ] {
            assert_eq!(Named::read(name), Named { session: session.to_owned(), turn }, "{name}");
        }
    }
}
