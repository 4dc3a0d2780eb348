//! Who carries a run on, and where it was begun.
//! Owns: a lock for each run that is at work, and the directory that its paths are relative to. Must not: know what a run does.
//!
//! The rows of a run name paths as whoever began it named them, so that the same run gives the same rows anywhere. Where
//! that was on this machine stands in a file beside the lock until the run is over; of a task's run it stays, because people go on
//! asking about its files.

use crate::failure::Failure;
use countersign_durable::{Lock, NotTaken, make_dirs};
use countersign_record::code::Code;
use countersign_record::id::RunId;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A run that nobody else carries on meanwhile.
#[derive(Debug)]
pub(crate) struct Charge {
    lock: Lock,
    path: PathBuf,
    begun: PathBuf,
}

impl Charge {
    /// Takes a run; `runs` is where the matter keeps such files.
    pub(crate) fn take(runs: &Path, run: &RunId) -> Result<Self, Failure> {
        let made = make_dirs(runs, 0o700);
        made.map_err(|error| Failure::file(&runs.to_string_lossy(), &error))?;
        let path = runs.join(format!("{run}.lock"));
        let busy = |who: String| Failure::new(Code::RunBusy, format!("{who} is at work on the run {run}"));
        let lock = Lock::take(&path, Duration::ZERO).map_err(|error| match error {
            NotTaken::Held { pid: Some(pid) } => busy(format!("the process {pid}")),
            NotTaken::Held { pid: None } => busy("another process".to_owned()),
            NotTaken::Gone | NotTaken::NotRegular | NotTaken::Io(_) => {
                Failure::new(Code::FileUnreadable, format!("{}: {error}", path.display()))
            }
        })?;
        // Who it is helps whoever comes meanwhile; it does no harm if nobody can say.
        lock.sign().unwrap_or(());
        Ok(Charge { lock, path, begun: runs.join(format!("{run}.dir")) })
    }

    /// Notes that the run begins here.
    pub(crate) fn begins(&self) -> Result<(), Failure> {
        let noted =
            std::env::current_dir().and_then(|here| fs::write(&self.begun, here.as_os_str().as_bytes()));
        noted.map_err(|error| Failure::file(&self.begun.to_string_lossy(), &error))
    }

    /// Notes that the run begins where another one did, whose paths it has.
    pub(crate) fn begins_as(&self, other: &Charge) -> Result<(), Failure> {
        match fs::read(&other.begun) {
            Ok(begun) => fs::write(&self.begun, begun)
                .map_err(|error| Failure::file(&self.begun.to_string_lossy(), &error)),
            Err(_) => self.begins(),
        }
    }

    /// A path that was named where the run began, as it is named here.
    pub(crate) fn path(&self, named: &str) -> PathBuf {
        from(&self.begun, named)
    }

    /// The run is over: nobody will ask where it began.
    pub(crate) fn over(&self) {
        fs::remove_file(&self.begun).unwrap_or(());
    }
}

/// A path that was named where a run began, as it is named here; without taking the run.
pub(crate) fn path_of(runs: &Path, run: &RunId, named: &str) -> PathBuf {
    from(&runs.join(format!("{run}.dir")), named)
}

fn from(begun: &Path, named: &str) -> PathBuf {
    let begun = fs::read(begun).ok().map(|bytes| PathBuf::from(std::ffi::OsString::from_vec(bytes)));
    match begun {
        Some(begun) if std::env::current_dir().is_ok_and(|here| here != begun) => begun.join(named),
        Some(_) | None => PathBuf::from(named),
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        // While it is still locked, so that nobody takes a file that is about to lose its name.
        if self.lock.is_ours(&self.path) {
            fs::remove_file(&self.path).unwrap_or(());
        }
    }
}
