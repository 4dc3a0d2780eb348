//! The models that were set up: a directory with a file each.
//! Owns: listing, reading, adding and removing them. Must not: open a model, or hold a key.

use crate::settings::Settings;
use countersign_durable::{self as durable, Links, Lock, NotTaken};
use countersign_record::code::Code;
use countersign_record::fields::Trouble;
use countersign_record::id::ModelName;
use countersign_record::json::{self, Json};
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The name of the embedded model.
pub const BUILT_IN: &str = "extractive";
const DIR_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
/// Whoever may write settings may send a key elsewhere.
const OTHERS_WRITE: u32 = 0o022;
const FILE_BYTES_MAX: u64 = 64 * 1024;
/// Models that are listed.
const MODELS_MAX: usize = 10_000;
const WAIT_MAX: Duration = Duration::from_secs(2);
const ENDING: &str = ".json";

/// Why settings can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There are none of this name.
    #[error("there is no model {name}")]
    Unknown {
        /// The name.
        name: ModelName,
    },
    /// The name is taken.
    #[error("there is a model {name} already")]
    Exists {
        /// The name.
        name: ModelName,
    },
    /// The embedded model stays as it is.
    #[error("{BUILT_IN} is built in and can't be changed")]
    BuiltIn,
    /// Others may write the file.
    #[error("{path} has the mode {mode:03o}: others may write it, and 600 is needed")]
    Open {
        /// Which.
        path: String,
        /// Its mode.
        mode: u32,
    },
    /// The document is wrong.
    #[error("{path}: {}", first(.troubles))]
    Wrong {
        /// Which.
        path: String,
        /// Everything that is.
        troubles: Vec<Trouble>,
    },
    /// A file can't be used.
    #[error("{path}: {why}")]
    Io {
        /// Which.
        path: String,
        /// Why.
        why: String,
    },
}

fn first(troubles: &[Trouble]) -> String {
    let first = troubles.first().map(ToString::to_string).unwrap_or_default();
    match troubles.len() {
        0 | 1 => first,
        count => format!("{first} (and {} more)", count - 1),
    }
}

impl Error {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Error::Unknown { .. } => Code::ModelUnknown,
            Error::Exists { .. }
            | Error::BuiltIn
            | Error::Open { .. }
            | Error::Wrong { .. }
            | Error::Io { .. } => Code::ModelConfig,
        }
    }

    fn io(path: &Path, error: impl std::fmt::Display) -> Self {
        Error::Io { path: path.display().to_string(), why: error.to_string() }
    }
}

/// What becomes of settings that have the name already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// They stay, and the new ones are refused.
    Kept,
    /// They go.
    Replaced,
}

/// A model of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: ModelName,
    /// Its settings, or why they can't be used: one that is broken hides no other.
    pub settings: Result<Settings, Error>,
}

/// The models that were set up.
#[derive(Clone, Debug)]
pub struct Shelf {
    dir: PathBuf,
}

impl Shelf {
    /// Those of a data directory; it need not be there.
    #[must_use]
    pub fn of(data: &Path) -> Self {
        Shelf { dir: data.join("models") }
    }

    fn file(&self, name: &ModelName, ending: &str) -> PathBuf {
        self.dir.join(format!("{name}{ending}"))
    }

    /// All of them, by name, the embedded one among them.
    ///
    /// # Errors
    /// The directory can't be read.
    pub fn list(&self) -> Result<Vec<Listed>, Error> {
        let mut names: Vec<ModelName> = built_in().into_iter().collect();
        match fs::read_dir(&self.dir) {
            Ok(entries) => {
                for entry in entries.take(MODELS_MAX) {
                    let name = entry.map_err(|error| Error::io(&self.dir, error))?.file_name();
                    let name = name.to_str().and_then(|name| name.strip_suffix(ENDING));
                    names.extend(name.and_then(|name| ModelName::try_from(name).ok()));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io(&self.dir, error)),
        }
        names.sort();
        names.dedup();
        Ok(names.into_iter().map(|name| Listed { settings: self.read(&name), name }).collect())
    }

    /// The settings of a model.
    ///
    /// # Errors
    /// There are none of this name, or they can't be used.
    pub fn read(&self, name: &ModelName) -> Result<Settings, Error> {
        if name.as_str() == BUILT_IN {
            return Ok(Settings::Extractive);
        }
        let path = self.file(name, ENDING);
        let (file, length) = match durable::open_regular(&path, Links::Refused) {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Error::Unknown { name: name.clone() });
            }
            Err(error) => return Err(Error::io(&path, error)),
        };
        let mode = file.metadata().map_err(|error| Error::io(&path, error))?.permissions().mode() & 0o777;
        if mode & OTHERS_WRITE != 0 {
            return Err(Error::Open { path: path.display().to_string(), mode });
        }
        if length > FILE_BYTES_MAX {
            return Err(Error::io(&path, "it is too long"));
        }
        let mut bytes = Vec::new();
        file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(|error| Error::io(&path, error))?;
        // Somebody may have put a key there: what is wrong is told without its words.
        let value = json::parse(&bytes).map_err(|error| Error::io(&path, error.without_text()))?;
        let wrong = |troubles| Error::Wrong { path: path.display().to_string(), troubles };
        Settings::read(&value).map_err(wrong)
    }

    /// Sets a model up: durable and whole, or not at all.
    ///
    /// # Errors
    /// The name is taken, or the file can't be written.
    pub fn add(&self, name: &ModelName, settings: &Settings, existing: Existing) -> Result<(), Error> {
        let _lock = self.lock(name)?;
        let path = self.file(name, ENDING);
        if existing == Existing::Kept && fs::symlink_metadata(&path).is_ok() {
            return Err(Error::Exists { name: name.clone() });
        }
        let text =
            json::to_text(&Json::Object(settings.document())).map_err(|error| Error::io(&path, error))?;
        // No name has this letter, so nothing else is called so.
        let staged = self.file(name, "~new.json");
        durable::remove(&staged)
            .and_then(|()| durable::write_new(&staged, FILE_MODE, format!("{text}\n").as_bytes()))
            .and_then(|()| durable::replace(&staged, &path))
            .map_err(|error| Error::io(&path, error))
    }

    /// Removes the settings of a model. What they name (a key, a file of weights) stays.
    ///
    /// # Errors
    /// There are none of this name, or they can't be removed.
    pub fn remove(&self, name: &ModelName) -> Result<(), Error> {
        let path = self.file(name, ENDING);
        if name.as_str() != BUILT_IN && fs::symlink_metadata(&path).is_err() {
            return Err(Error::Unknown { name: name.clone() });
        }
        let _lock = self.lock(name)?;
        durable::remove(&path)
            .and_then(|()| durable::sync_dir(&self.dir))
            .map_err(|error| Error::io(&path, error))
    }

    fn lock(&self, name: &ModelName) -> Result<Lock, Error> {
        if name.as_str() == BUILT_IN {
            return Err(Error::BuiltIn);
        }
        durable::make_dirs(&self.dir, DIR_MODE).map_err(|error| Error::io(&self.dir, error))?;
        let path = self.dir.join("~lock");
        Lock::take(&path, WAIT_MAX).map_err(|refused: NotTaken| Error::io(&path, refused))
    }
}

fn built_in() -> Option<ModelName> {
    ModelName::try_from(BUILT_IN).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_testkit::scratch::Scratch;

    fn name(text: &str) -> ModelName {
        ModelName::try_from(text).unwrap()
    }

    fn settings(file: &str) -> Settings {
        Settings::Scripted { file: file.into() }
    }

    #[test]
    fn models_come_and_go() {
        let scratch = Scratch::new();
        let shelf = Shelf::of(&scratch.path().join("data"));
        let listed =
            || -> Vec<String> { shelf.list().unwrap().into_iter().map(|one| one.name.to_string()).collect() };
        assert_eq!(listed(), ["extractive"]);
        assert!(!scratch.path().join("data").exists(), "looking makes nothing");
        shelf.add(&name("b"), &settings("/b"), Existing::Kept).unwrap();
        shelf.add(&name("B"), &settings("/B"), Existing::Replaced).unwrap();
        let exists = Err(Error::Exists { name: name("b") });
        assert_eq!(shelf.add(&name("b"), &settings("/c"), Existing::Kept), exists);
        assert_eq!(shelf.read(&name("b")), Ok(settings("/b")));
        shelf.add(&name("b"), &settings("/c"), Existing::Replaced).unwrap();
        assert_eq!(shelf.read(&name("b")), Ok(settings("/c")));
        assert_eq!(listed(), ["B", "b", "extractive"]);
        let mode = fs::metadata(shelf.file(&name("b"), ENDING)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        shelf.remove(&name("b")).unwrap();
        assert_eq!(shelf.remove(&name("b")), Err(Error::Unknown { name: name("b") }));
        assert_eq!(shelf.read(&name("b")), Err(Error::Unknown { name: name("b") }));
        assert_eq!(shelf.add(&name("extractive"), &settings("/x"), Existing::Replaced), Err(Error::BuiltIn));
        assert_eq!(shelf.remove(&name("extractive")), Err(Error::BuiltIn));
        assert_eq!(shelf.read(&name("extractive")), Ok(Settings::Extractive));
    }

    #[test]
    fn a_broken_file_is_told_and_hides_nothing() {
        let scratch = Scratch::new();
        let shelf = Shelf::of(scratch.path());
        shelf.add(&name("good"), &settings("/g"), Existing::Kept).unwrap();
        let write = |name: &str, bytes: &[u8]| {
            let path = shelf.dir.join(name);
            fs::write(&path, bytes).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
        };
        write("a.json", b"{\"provider\":\"openai\",\"api_key\":\"sk-canary\"}");
        write("b.json", b"sk-canary");
        write("c.json", &vec![b' '; 70_000]);
        write("not a name!.json", b"{}");
        write("x~new.json", b"{}");
        std::os::unix::fs::symlink("good.json", shelf.dir.join("link.json")).unwrap();
        fs::set_permissions(shelf.dir.join("a.json"), fs::Permissions::from_mode(0o644)).unwrap();
        let listed = shelf.list().unwrap();
        let names: Vec<&str> = listed.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c", "extractive", "good", "link"]);
        for one in listed {
            let is_good = ["extractive", "good"].contains(&one.name.as_str());
            assert_eq!(one.settings.is_ok(), is_good, "{}", one.name);
            if let Err(error) = one.settings {
                assert_eq!(error.code(), Code::ModelConfig);
                assert!(!error.to_string().contains("canary"), "{error}");
            }
        }
        fs::set_permissions(shelf.dir.join("good.json"), fs::Permissions::from_mode(0o620)).unwrap();
        assert!(matches!(shelf.read(&name("good")), Err(Error::Open { mode: 0o620, .. })));
    }
}
