//! Checkpoints of sessions, a file each.
//! Owns: that one process writes a session, that a revision follows the one before, and that the last good one is found
//! when the newest is damaged. Must not: know what a checkpoint is for.

use countersign_durable::{self as durable, Links, Lock, NotTaken};
use countersign_record::code::Code;
use countersign_record::id::SessionName;
use countersign_record::json;
use countersign_record::session::Checkpoint;
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::session::{Keeper, Trouble};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A session is its owner's alone.
const DIR_MODE: u32 = 0o700;
/// What the names of revisions end with that were put aside.
const ASIDE: &str = "damaged";
const FILE_MODE: u32 = 0o600;
/// A checkpoint beyond this is neither written nor read.
const CHECKPOINT_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// How long a turn of another process is waited for.
const WAIT_MAX: Duration = Duration::from_millis(200);

/// Why a session can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Another process has it.
    #[error("another process{} has the session {name}", .pid.map(|pid| format!(" ({pid})")).unwrap_or_default())]
    Locked {
        /// The session.
        name: SessionName,
        /// The process, as far as it said.
        pid: Option<u32>,
    },
    /// Its newest revision is not the one that the next one was made from.
    #[error("revision {expected} of the session was changed, and {found} is there now")]
    Conflict {
        /// What the next one was made from.
        expected: u64,
        /// What is there.
        found: u64,
    },
    /// A file can't be read.
    #[error("{path} can't be read: {why}")]
    Unreadable {
        /// Which.
        path: String,
        /// Why.
        why: String,
    },
    /// A file can't be written; the revision before is still there.
    #[error("{path} can't be written: {why}")]
    Unwritable {
        /// Which.
        path: String,
        /// Why.
        why: String,
    },
}

impl Error {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Error::Locked { .. } => Code::SessionLocked,
            Error::Conflict { .. } => Code::SessionConflict,
            Error::Unreadable { .. } => Code::SessionUnreadable,
            Error::Unwritable { .. } => Code::SessionUnwritable,
        }
    }

    fn unreadable(path: &Path, error: &io::Error) -> Self {
        Error::Unreadable { path: path.display().to_string(), why: error.to_string() }
    }

    fn unwritable(path: &Path, error: &io::Error) -> Self {
        Error::Unwritable { path: path.display().to_string(), why: error.to_string() }
    }
}

/// The sessions of a matter.
#[derive(Clone, Debug)]
pub struct Sessions {
    dir: PathBuf,
}

/// What was found of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Its newest good revision; `None` if it is new.
    pub checkpoint: Option<Checkpoint>,
    /// What is wrong with a newer one: the user must know.
    pub trouble: Option<String>,
}

impl Found {
    /// Its number; 0 if it is new.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.revision)
    }
}

/// A session that this process writes, until it is dropped.
#[derive(Debug)]
pub struct Session {
    name: SessionName,
    files: Files,
    _lock: Lock,
}

#[derive(Clone, Debug)]
struct Files {
    current: PathBuf,
    staged: PathBuf,
    previous: PathBuf,
}

impl Sessions {
    /// Those under the directory; it need not be there.
    #[must_use]
    pub fn at(dir: &Path) -> Self {
        Sessions { dir: dir.to_path_buf() }
    }

    fn file(&self, name: &SessionName, ending: &str) -> PathBuf {
        self.dir.join(format!("{name}{ending}"))
    }

    fn files(&self, name: &SessionName) -> Files {
        // No name ends like these: the endings hold a letter that names do not.
        let [current, staged, previous] =
            [".json", "~new.json", "~previous.json"].map(|ending| self.file(name, ending));
        Files { current, staged, previous }
    }

    /// Looks at a session without writing it.
    ///
    /// # Errors
    /// There are revisions, and none of them can be read.
    pub fn read(&self, name: &SessionName) -> Result<Found, Error> {
        read(name, &self.files(name))
    }

    /// Takes a session to write it, and reads what there is of it.
    ///
    /// # Errors
    /// Another process has it, or its files can't be used.
    pub fn open(&self, name: &SessionName) -> Result<(Session, Found), Error> {
        let session = self.take(name)?;
        let found = read(name, &session.files)?;
        Ok((session, found))
    }

    /// Takes a session to write it.
    ///
    /// # Errors
    /// Another process has it.
    pub fn take(&self, name: &SessionName) -> Result<Session, Error> {
        durable::make_dirs(&self.dir, DIR_MODE).map_err(|error| Error::unwritable(&self.dir, &error))?;
        let path = self.file(name, "~lock");
        let lock = Lock::take(&path, WAIT_MAX).map_err(|refused| match refused {
            NotTaken::Held { pid } => Error::Locked { name: name.clone(), pid },
            NotTaken::Gone | NotTaken::NotRegular => {
                Error::Unwritable { path: path.display().to_string(), why: refused.to_string() }
            }
            NotTaken::Io(error) => Error::unwritable(&path, &error),
        })?;
        lock.sign().map_err(|error| Error::unwritable(&path, &error))?;
        Ok(Session { name: name.clone(), files: self.files(name), _lock: lock })
    }

    /// Who has a session; nothing if nobody does.
    #[must_use]
    pub fn is_in_use(&self, name: &SessionName) -> Option<Error> {
        let path = self.file(name, "~lock");
        match path.exists().then(|| Lock::take(&path, Duration::ZERO))? {
            Err(NotTaken::Held { pid }) => Some(Error::Locked { name: name.clone(), pid }),
            Ok(_) | Err(_) => None,
        }
    }

    /// The names of all sessions, in order.
    ///
    /// # Errors
    /// The directory can't be read.
    pub fn names(&self) -> Result<Vec<SessionName>, Error> {
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::unreadable(&self.dir, &error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| Error::unreadable(&self.dir, &error))?;
            let name = entry.file_name();
            let name = name.to_str().and_then(|name| name.strip_suffix(".json"));
            names.extend(name.and_then(|name| SessionName::try_from(name).ok()));
        }
        names.sort();
        Ok(names)
    }
}

impl Session {
    /// Keeps the next revision. It is durable when this returns; the one before is kept beside it. Where there is none, any
    /// may be the first: the others were forgotten.
    ///
    /// # Errors
    /// It does not follow the one that is there, or can't be written: the one before is still there.
    pub fn save(&self, checkpoint: &Checkpoint) -> Result<(), Error> {
        let Files { current, staged, previous } = &self.files;
        let found = read(&self.name, &self.files)?;
        let expected = checkpoint.revision.saturating_sub(1);
        let follows = found.checkpoint.as_ref().is_none_or(|found| found.revision == expected);
        if !follows || checkpoint.session_id != self.name {
            return Err(Error::Conflict { expected, found: found.revision() });
        }
        let unwritable = |path: &Path| {
            let path = path.to_path_buf();
            move |error: io::Error| Error::unwritable(&path, &error)
        };
        let mut text = json::to_text(checkpoint).map_err(io::Error::other).map_err(unwritable(staged))?;
        text.push('\n');
        if text.len() as u64 > CHECKPOINT_BYTES_MAX {
            return Err(unwritable(staged)(io::Error::other("it has more than 16 MiB")));
        }
        durable::remove(staged).map_err(unwritable(staged))?;
        durable::write_new(staged, FILE_MODE, text.as_bytes()).map_err(unwritable(staged))?;
        // What is damaged is not worth keeping in the place of what is good.
        if let Ok(Some(_)) = read_one(&self.name, current) {
            durable::replace(current, previous).map_err(unwritable(previous))?;
        }
        durable::replace(staged, current).map_err(unwritable(current))
    }
}

impl Session {
    /// Removes every revision, also those that were put aside: a text that they hold is to be gone. The ledger tells the
    /// session again.
    ///
    /// # Errors
    /// A file can't be removed.
    pub fn forget(&self) -> Result<(), Error> {
        let Files { current, staged, previous } = &self.files;
        let aside = [current, previous].map(|path| path.with_extension(ASIDE));
        for path in [current, staged, previous].into_iter().chain(&aside) {
            durable::remove(path).map_err(|error| Error::unwritable(path, &error))?;
        }
        durable::sync_dir(durable::parent_of(current)).map_err(|error| Error::unwritable(current, &error))
    }
}

/// Keeps the checkpoints of a session for whoever takes its turns.
#[derive(Clone, Debug)]
pub struct Kept(Arc<Session>);

impl Kept {
    /// As its one writer.
    #[must_use]
    pub fn new(session: Session) -> Self {
        Kept(Arc::new(session))
    }
}

impl Kept {
    /// Gives revisions that can't be read other names, so that new ones can be kept. Nothing is lost: somebody may want to
    /// look at them.
    ///
    /// # Errors
    /// A file can't be renamed.
    pub fn put_aside(&self) -> Result<(), Error> {
        for path in [&self.0.files.current, &self.0.files.previous] {
            let aside = path.with_extension(ASIDE);
            match fs::rename(path, &aside) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::unwritable(path, &error)),
            }
        }
        Ok(())
    }
}

impl Keeper for Kept {
    fn save(&self, checkpoint: Checkpoint) -> Answer<'_, Result<(), Trouble>> {
        let session = Arc::clone(&self.0);
        Box::pin(async move {
            let saved = tokio::task::spawn_blocking(move || session.save(&checkpoint)).await;
            let trouble = |error: Error| Trouble { code: error.code(), message: error.to_string() };
            match saved {
                Ok(saved) => saved.map_err(trouble),
                Err(error) => Err(Trouble { code: Code::SessionUnwritable, message: error.to_string() }),
            }
        })
    }
}

/// The newest good revision. Between the two renames of [`Session::save`] it is the one before.
fn read(name: &SessionName, files: &Files) -> Result<Found, Error> {
    let unreadable = |path: &Path, why| Error::Unreadable { path: path.display().to_string(), why };
    let trouble = match read_one(name, &files.current) {
        Ok(Some(checkpoint)) => return Ok(Found { checkpoint: Some(checkpoint), trouble: None }),
        Ok(None) => None,
        Err(why) => Some(unreadable(&files.current, why)),
    };
    match (read_one(name, &files.previous), trouble) {
        (Ok(Some(checkpoint)), trouble) => {
            Ok(Found { checkpoint: Some(checkpoint), trouble: trouble.map(|trouble| trouble.to_string()) })
        }
        (Ok(None), None) => Ok(Found::default()),
        (Ok(None) | Err(_), Some(trouble)) => Err(trouble),
        (Err(why), None) => Err(unreadable(&files.previous, why)),
    }
}

/// Reads a checkpoint; `None` if it is not there.
fn read_one(name: &SessionName, path: &Path) -> Result<Option<Checkpoint>, String> {
    let read = || -> io::Result<Vec<u8>> {
        let (file, length) = durable::open_regular(path, Links::Refused)?;
        if length > CHECKPOINT_BYTES_MAX {
            return Err(io::Error::other("it has more than 16 MiB"));
        }
        let mut bytes = Vec::new();
        file.take(CHECKPOINT_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = match read() {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let value = json::parse(&bytes).map_err(|error| error.without_text())?;
    let checkpoint = Checkpoint::read(value).map_err(|troubles| match troubles.first() {
        Some(trouble) => trouble.to_string(),
        None => "it is no checkpoint".to_owned(),
    })?;
    match checkpoint.session_id == *name {
        true => Ok(Some(checkpoint)),
        false => Err("it is another session's".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_record::session::{State, UnixTime};
    use countersign_testkit::scratch::Scratch;

    fn name(text: &str) -> SessionName {
        SessionName::try_from(text).unwrap()
    }

    fn checkpoint(session: &str, revision: u64) -> Checkpoint {
        Checkpoint {
            session_id: name(session),
            revision,
            updated_ts: UnixTime::from_micros(revision).unwrap(),
            state: State { episode_summary: format!("revision {revision}"), ..State::default() },
            recent_messages: Vec::new(),
            trace_tail: Vec::new(),
        }
    }

    #[test]
    fn revisions_follow_each_other() {
        let scratch = Scratch::new();
        let sessions = Sessions::at(&scratch.path().join("sessions"));
        assert_eq!(sessions.names().unwrap(), []);
        assert_eq!(sessions.read(&name("s")).unwrap(), Found::default());
        let (session, found) = sessions.open(&name("s")).unwrap();
        assert_eq!(found, Found::default());
        session.save(&checkpoint("s", 1)).unwrap();
        session.save(&checkpoint("s", 2)).unwrap();
        for (revision, expected) in [(2, 1), (4, 3), (0, 0)] {
            let refused = session.save(&checkpoint("s", revision)).unwrap_err();
            assert_eq!(refused, Error::Conflict { expected, found: 2 });
        }
        assert!(session.save(&checkpoint("other", 3)).is_err());
        assert_eq!(sessions.read(&name("s")).unwrap().revision(), 2);
        assert_eq!(sessions.names().unwrap(), [name("s")]);
        fs::write(scratch.path().join("sessions/s.damaged"), "x").unwrap();
        session.forget().unwrap();
        assert_eq!(sessions.read(&name("s")).unwrap(), Found::default());
        assert!(!scratch.path().join("sessions/s.damaged").exists());
        session.save(&checkpoint("s", 3)).unwrap();
        assert_eq!(sessions.read(&name("s")).unwrap().revision(), 3);
    }

    #[test]
    fn one_process_writes_at_a_time() {
        let scratch = Scratch::new();
        let sessions = Sessions::at(scratch.path());
        let (session, _) = sessions.open(&name("s")).unwrap();
        assert!(matches!(sessions.open(&name("s")), Err(Error::Locked { .. })));
        sessions.open(&name("t")).unwrap();
        drop(session);
        sessions.open(&name("s")).unwrap();
    }

    #[test]
    fn the_last_good_revision_is_used_and_the_user_is_told() {
        for damage in ["", "{", "{\"session_id\":\"s\"}", "\u{0}"] {
            let scratch = Scratch::new();
            let sessions = Sessions::at(scratch.path());
            let (session, _) = sessions.open(&name("s")).unwrap();
            for revision in 1..=3 {
                session.save(&checkpoint("s", revision)).unwrap();
            }
            fs::write(scratch.path().join("s.json"), damage).unwrap();
            let found = sessions.read(&name("s")).unwrap();
            assert_eq!((found.revision(), found.trouble.is_some()), (2, true), "{damage}");
            // It goes on from there, and what was good is still kept.
            session.save(&checkpoint("s", 3)).unwrap();
            assert_eq!(sessions.read(&name("s")).unwrap().trouble, None);
            fs::write(scratch.path().join("s.json"), damage).unwrap();
            assert_eq!(sessions.read(&name("s")).unwrap().revision(), 2);
            fs::write(scratch.path().join("s~previous.json"), "x").unwrap();
            assert_eq!(sessions.read(&name("s")).unwrap_err().code(), Code::SessionUnreadable);
        }
    }

    #[test]
    fn what_is_no_file_of_ours_is_refused() {
        let scratch = Scratch::new();
        let sessions = Sessions::at(scratch.path());
        fs::write(scratch.path().join("elsewhere"), json::to_text(&checkpoint("s", 1)).unwrap()).unwrap();
        std::os::unix::fs::symlink("elsewhere", scratch.path().join("s.json")).unwrap();
        assert!(sessions.read(&name("s")).is_err());
        fs::write(scratch.path().join("t.json"), json::to_text(&checkpoint("s", 1)).unwrap()).unwrap();
        assert!(sessions.read(&name("t")).is_err(), "another session's checkpoint");
    }
}
