//! Keys of remote models.
//! Owns: where a key may come from, and that none is shown. Must not: be written anywhere.

use countersign_durable::{Links, open_regular};
use countersign_record::code::Code;
use std::ffi::OsString;
use std::fmt;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Bytes of a key, and of its file.
const KEY_BYTES_MAX: u64 = 4_096;
/// Whoever is not the owner has no right to the file.
const OTHERS: u32 = 0o077;

/// A key. It is never written: it has no `Serialize`, no `Display`, and its `Debug` shows nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

/// Where a key is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyPlace {
    /// In the environment variable of this name.
    Variable(String),
    /// In a file of this name, which its owner alone may read.
    File(PathBuf),
}

/// Why there is no key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The variable is not set.
    #[error("the environment variable {name} that should hold the key is not set")]
    NotSet {
        /// Which.
        name: String,
    },
    /// The file can't be read.
    #[error("the key file {path} can't be read: {why}")]
    Unreadable {
        /// Which.
        path: String,
        /// Why.
        why: String,
    },
    /// Others may read the file.
    #[error("the key file {path} has the mode {mode:03o}: others may use it, and 600 is needed")]
    Open {
        /// Which.
        path: String,
        /// Its mode.
        mode: u32,
    },
    /// What is there is no key.
    #[error("{place} holds no key: one line of visible ASCII characters is needed")]
    NotAKey {
        /// The variable or the file.
        place: String,
    },
}

impl Error {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        Code::ModelKey
    }
}

impl Key {
    /// A key, without the space around it. `None` if the text can't be one.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_key = !text.is_empty()
            && text.len() as u64 <= KEY_BYTES_MAX
            && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_key.then(|| Key(text.to_owned()))
    }

    /// The key itself: for the header of a request, and for whoever takes keys out of a text.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

impl KeyPlace {
    /// Reads the key. `variable` gives an environment variable.
    ///
    /// # Errors
    /// There is none that can be used.
    pub fn read(&self, variable: &dyn Fn(&str) -> Option<OsString>) -> Result<Key, Error> {
        match self {
            KeyPlace::Variable(name) => {
                let text = variable(name).ok_or_else(|| Error::NotSet { name: name.clone() })?;
                let key = text.to_str().and_then(Key::new);
                key.ok_or_else(|| Error::NotAKey { place: format!("the environment variable {name}") })
            }
            KeyPlace::File(path) => of_file(path),
        }
    }
}

/// A link is not followed: what it leads to could be exchanged by whoever may write beside it.
fn of_file(path: &Path) -> Result<Key, Error> {
    let shown = path.display().to_string();
    let unreadable =
        |error: std::io::Error| Error::Unreadable { path: shown.clone(), why: error.to_string() };
    let (file, _) = open_regular(path, Links::Refused).map_err(unreadable)?;
    let mode = file.metadata().map_err(unreadable)?.permissions().mode() & 0o777;
    if mode & OTHERS != 0 {
        return Err(Error::Open { path: shown, mode });
    }
    let mut text = String::new();
    let not_a_key = || Error::NotAKey { place: format!("the key file {shown}") };
    match file.take(KEY_BYTES_MAX + 1).read_to_string(&mut text) {
        Ok(_) => Key::new(&text).ok_or_else(not_a_key),
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => Err(not_a_key()),
        Err(error) => Err(unreadable(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_testkit::scratch::Scratch;
    use std::fs::{self, Permissions};

    fn nothing(_: &str) -> Option<OsString> {
        None
    }

    #[test]
    fn a_key_is_never_shown() {
        let key = Key::new(" sk-canary-1 \n").unwrap();
        assert_eq!(key.expose(), "sk-canary-1");
        assert_eq!(format!("{key:?}"), "Key(…)");
        for bad in ["", " \n", "a b", "a\nb", "schlüssel", "a\u{7f}", &"x".repeat(4_097)] {
            assert_eq!(Key::new(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn variables() {
        let place = KeyPlace::Variable("THE_KEY".into());
        let of = |text: &'static str| place.read(&move |name| (name == "THE_KEY").then(|| text.into()));
        assert_eq!(of("k1\n").unwrap().expose(), "k1");
        assert_eq!(
            of("sk-canary 2").unwrap_err().to_string(),
            "the environment variable THE_KEY holds no key: one line of visible ASCII characters is needed"
        );
        assert_eq!(place.read(&nothing), Err(Error::NotSet { name: "THE_KEY".into() }));
    }

    #[test]
    fn files_are_their_owners_alone() {
        let scratch = Scratch::new();
        let path = scratch.path().join("key");
        let read = |path: &Path| KeyPlace::File(path.to_owned()).read(&nothing);
        assert!(matches!(read(&path), Err(Error::Unreadable { .. })));
        fs::write(&path, "sk-canary-3\n").unwrap();
        for mode in [0o640, 0o604, 0o660, 0o601, 0o777] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let error = read(&path).unwrap_err();
            assert!(matches!(error, Error::Open { mode: told, .. } if told == mode), "{error}");
        }
        for mode in [0o600, 0o400] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            assert_eq!(read(&path).unwrap().expose(), "sk-canary-3");
        }
        let link = scratch.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(matches!(read(&link), Err(Error::Unreadable { .. })));
        assert!(matches!(read(scratch.path()), Err(Error::Unreadable { .. })));
        for bad in [&b""[..], b"a\nb", b"\xff\xfe", &[b'x'; 5_000]] {
            let path = scratch.path().join("bad");
            drop(fs::remove_file(&path));
            fs::write(&path, bad).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
            assert!(matches!(read(&path), Err(Error::NotAKey { .. })));
        }
    }
}
