//! Which matter writes beneath which directory.
//! Owns: the claims. Must not: look into a matter.
//!
//! A file that a session wrote has the class of what it was made from, and that stands in the ledger of its matter. Another
//! matter can't know it. So what the sessions of one matter wrote to is no root for those of another.

use countersign_durable::{self as durable, Links, Lock};
use countersign_record::digest::Digest;
use countersign_record::id::MatterId;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

const DIR_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
/// A path has fewer bytes, and so has a matter's name.
const CLAIM_BYTES_MAX: u64 = 64 * 1024;
/// A claim is made in a moment.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// What one matter may use.
#[derive(Clone, Debug)]
pub struct Claims {
    dir: PathBuf,
    matter: MatterId,
}

impl Claims {
    /// The claims of a data directory, as one matter sees them.
    #[must_use]
    pub fn of(data: &Path, matter: MatterId) -> Self {
        Claims { dir: data.join("roots"), matter }
    }

    /// Another matter that writes to something beneath `root`, or above it.
    ///
    /// # Errors
    /// A claim can't be read.
    pub fn other(&self, root: &Path) -> io::Result<Option<String>> {
        let entries = match std::fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_none_or(|ending| ending != "claim") {
                continue;
            }
            let mut bytes = Vec::new();
            let (file, _) = durable::open_regular(&path, Links::Refused)?;
            file.take(CLAIM_BYTES_MAX).read_to_end(&mut bytes)?;
            let mut parts = bytes.splitn(2, |byte| *byte == b'\n');
            let (Some(matter), Some(claimed)) = (parts.next(), parts.next()) else {
                return Err(io::Error::other(format!("{} is no claim", path.display())));
            };
            let claimed = Path::new(OsStr::from_bytes(claimed));
            let overlaps = claimed.starts_with(root) || root.starts_with(claimed);
            if overlaps && matter != self.matter.as_str().as_bytes() {
                return Ok(Some(String::from_utf8_lossy(matter).into_owned()));
            }
        }
        Ok(None)
    }

    /// Notes that this matter writes beneath `root`, unless another does: then says which.
    ///
    /// # Errors
    /// It can't be noted.
    pub fn claim(&self, root: &Path) -> io::Result<Option<String>> {
        let bytes = [self.matter.as_str().as_bytes(), b"\n", root.as_os_str().as_bytes()].concat();
        let claim = self.dir.join(format!("{}.claim", Digest::of(&bytes)));
        if !claim.exists() {
            durable::make_dirs(&self.dir, DIR_MODE)?;
            let _lock = Lock::take(&self.dir.join("lock"), WAIT_MAX).map_err(io::Error::other)?;
            if let Some(other) = self.other(root)? {
                return Ok(Some(other));
            }
            let staged = claim.with_extension("new");
            durable::remove(&staged)?;
            durable::write_new(&staged, FILE_MODE, &bytes)?;
            durable::replace(&staged, &claim)?;
        }
        self.other(root)
    }
}
