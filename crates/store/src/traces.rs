//! Traces of turns, a file each, a line per event.
//! Owns: their files, and that writing them never holds up a turn. Must not: know what an event is; a trace is no record, so
//! it is not synced.

use countersign_durable::{self as durable, Links};
use countersign_record::id::SessionName;
use countersign_runtime::ports::session::Trace;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

/// A trace is its owner's alone.
const DIR_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
const ENDING: &str = ".jsonl";
/// Lines that wait to be written; more are lost.
const WAITING_MAX: usize = 4_096;
/// How long the end of a turn waits for the last lines.
const LAST_LINES_WAIT_MAX: Duration = Duration::from_secs(2);
/// Traces of one turn: it may have been begun and lost.
const ATTEMPTS_MAX: u32 = 100;

/// The traces of a matter.
#[derive(Clone, Debug)]
pub struct Traces {
    dir: PathBuf,
}

/// The lines of one turn.
#[derive(Debug)]
pub struct Lines {
    sender: Option<SyncSender<String>>,
    written: Option<Receiver<()>>,
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
            Err(_) => (format!("{session}__turn-{turn}"), Lines { sender: None, written: None }),
        }
    }

    fn create(&self, session: &SessionName, turn: u64) -> io::Result<(String, File)> {
        durable::make_dirs(&self.dir, DIR_MODE)?;
        for attempt in 1..=ATTEMPTS_MAX {
            let name = match attempt {
                1 => format!("{session}__turn-{turn}"),
                again => format!("{session}__turn-{turn}~{again}"),
            };
            let path = self.dir.join(format!("{name}{ENDING}"));
            match OpenOptions::new().append(true).create_new(true).mode(FILE_MODE).open(path) {
                Ok(file) => return Ok((name, file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
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
        let (file, _) = durable::open_regular(&self.dir.join(format!("{name}{ENDING}")), Links::Refused)?;
        Ok(file)
    }
}

impl Lines {
    fn to(mut file: File) -> Self {
        let (sender, waiting) = sync_channel::<String>(WAITING_MAX);
        let (done, written) = sync_channel::<()>(1);
        let writing = move || {
            for line in waiting {
                // What can't be written is lost: nothing hangs on it.
                if file.write_all(line.as_bytes()).is_err() {
                    break;
                }
            }
            drop(done);
        };
        match std::thread::Builder::new().name("trace".to_owned()).spawn(writing) {
            Ok(_) => Lines { sender: Some(sender), written: Some(written) },
            Err(_) => Lines { sender: None, written: None },
        }
    }
}

impl Trace for Lines {
    fn put(&mut self, line: String) {
        if let Some(sender) = &self.sender {
            drop(sender.try_send(line));
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(written) = self.written.take() {
            // Either they are written, or nobody waits any longer.
            match written.recv_timeout(LAST_LINES_WAIT_MAX) {
                Ok(()) | Err(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
                (0..100).for_each(|number| lines.put(format!("{number}\n")));
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
        lines.put("lost\n".into());
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
}
