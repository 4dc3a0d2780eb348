//! Hashes that are kept, so that a file which did not change is not read again.
//! Owns: the file they are in, and which of them may be trusted. Must not: stop anybody's work: what can't be read or
//! written is as if it were not there.
//!
//! A file may be changed twice within one tick of the file system's clock, and look the same after it. So a hash is kept
//! only if the file had not changed for a while when reading began (git has the same rule for its index).

use super::stamp::{Stamp, Time};
use countersign_durable::{self as durable, Links};
use countersign_record::digest::Digest;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The first bytes; another layout is another number.
const MAGIC: &[u8; 24] = b"countersign folder v1\n\0\0";
/// A cache of a million long paths is below this.
const BYTES_MAX: u64 = 1 << 29;
/// How long a file must have been left alone: no clock of a file system ticks more slowly.
const SETTLED_SECONDS: i64 = 2;

/// A hash that was computed before.
pub(super) struct Known {
    pub(super) path: String,
    pub(super) stamp: Stamp,
    pub(super) sha256: Digest,
}

/// The hash of a file, if it is known and the file is still the same; `known` is sorted by path.
pub(super) fn digest(known: &[Known], path: &str, stamp: &Stamp) -> Option<Digest> {
    let at = known.binary_search_by(|one| one.path.as_str().cmp(path)).ok()?;
    known.get(at).filter(|one| one.stamp == *stamp).map(|one| one.sha256)
}

/// Where the hashes of one folder are.
pub(super) struct Cache {
    dir: PathBuf,
    path: PathBuf,
}

impl Cache {
    pub(super) fn at(dir: &Path, root: &Path) -> Self {
        let name = Digest::of(root.as_os_str().as_bytes());
        Cache { dir: dir.to_owned(), path: dir.join(format!("{name}.folder")) }
    }

    /// What is kept; nothing, if there is none or it is damaged.
    pub(super) fn read(&self) -> Vec<Known> {
        let Ok((file, length)) = durable::open_regular(&self.path, Links::Refused) else { return Vec::new() };
        if length > BYTES_MAX {
            return Vec::new();
        }
        let mut bytes = Vec::new();
        match file.take(BYTES_MAX).read_to_end(&mut bytes) {
            Ok(_) => decoded(&bytes).unwrap_or_default(),
            Err(_) => Vec::new(),
        }
    }

    /// Begins the next one beside it.
    pub(super) fn stage(&self) -> Option<Staged> {
        durable::make_dirs(&self.dir, 0o700).ok()?;
        let path = self.path.with_extension(format!("{}.staged", std::process::id()));
        // One that a crash left is nobody's.
        durable::remove(&path).ok()?;
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).ok()?;
        let began = file.metadata().ok().map(|about| Stamp::of(&about).mtime);
        let mut staged = Staged { file, path, target: self.path.clone(), began: (i64::MIN, 0) };
        staged.began = began?;
        Some(staged)
    }
}

/// A cache that is being made.
pub(super) struct Staged {
    file: File,
    path: PathBuf,
    target: PathBuf,
    /// When reading began, by the clock of the file system.
    began: Time,
}

impl Staged {
    /// Whether a file that is changed from now on will look changed.
    pub(super) fn is_settled(&self, stamp: &Stamp) -> bool {
        is_settled(stamp.ctime, self.began)
    }

    /// Puts it in the place of the one before. Not made durable: a cache that a power cut damages does not fit its hash.
    pub(super) fn publish(mut self, known: &[Known]) {
        let settled = known.iter().filter(|one| self.is_settled(&one.stamp));
        let bytes = encoded(settled);
        if self.file.write_all(&bytes).is_ok() {
            // What could not be renamed is removed below.
            drop(std::fs::rename(&self.path, &self.target));
        }
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // After it was published there is nothing of this name.
        drop(std::fs::remove_file(&self.path));
    }
}

fn is_settled(ctime: Time, began: Time) -> bool {
    (ctime.0.saturating_add(SETTLED_SECONDS), ctime.1) < began
}

fn encoded<'a>(known: impl Iterator<Item = &'a Known>) -> Vec<u8> {
    let mut body = Vec::new();
    for Known { path, stamp, sha256 } in known {
        let Ok(length) = u32::try_from(path.len()) else { continue };
        body.extend(length.to_le_bytes());
        body.extend(path.as_bytes());
        body.extend(stamp.bytes.to_le_bytes());
        for (seconds, nanos) in [stamp.mtime, stamp.ctime] {
            body.extend(seconds.to_le_bytes());
            body.extend(nanos.to_le_bytes());
        }
        body.extend(stamp.inode.to_le_bytes());
        body.extend(sha256.as_bytes());
    }
    let mut bytes = Vec::with_capacity(MAGIC.len() + 32 + body.len());
    bytes.extend(MAGIC);
    bytes.extend(Digest::of(&body).as_bytes());
    bytes.extend(body);
    bytes
}

fn decoded(bytes: &[u8]) -> Option<Vec<Known>> {
    let mut rest = bytes.strip_prefix(MAGIC)?;
    let hash: [u8; 32] = taken(&mut rest)?;
    if Digest::of(rest).as_bytes() != &hash {
        return None;
    }
    let mut known: Vec<Known> = Vec::new();
    while !rest.is_empty() {
        let length = usize::try_from(u32::from_le_bytes(taken(&mut rest)?)).ok()?;
        let path = std::str::from_utf8(rest.get(..length)?).ok()?.to_owned();
        rest = rest.get(length..)?;
        let bytes = u64::from_le_bytes(taken(&mut rest)?);
        let mut time =
            || Some((i64::from_le_bytes(taken(&mut rest)?), u32::from_le_bytes(taken(&mut rest)?)));
        let (mtime, ctime) = (time()?, time()?);
        let inode = u64::from_le_bytes(taken(&mut rest)?);
        let sha256 = Digest::from_bytes(taken(&mut rest)?);
        if known.last().is_some_and(|last| last.path >= path) {
            return None;
        }
        known.push(Known { path, stamp: Stamp { bytes, mtime, ctime, inode }, sha256 });
    }
    Some(known)
}

fn taken<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, more) = rest.split_first_chunk::<N>()?;
    *rest = more;
    Some(*first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn known(path: &str, seconds: i64) -> Known {
        let stamp = Stamp { bytes: 7, mtime: (seconds, 5), ctime: (seconds, 6), inode: 9 };
        Known { path: path.to_owned(), stamp, sha256: Digest::of(path.as_bytes()) }
    }

    #[test]
    fn a_file_that_changed_just_now_may_change_unseen() {
        for (ctime, is_trusted) in [
            ((97, 999_999_999), true),
            ((98, 0), true),
            ((98, 5), false),
            ((100, 5), false),
            ((200, 0), false),
        ] {
            assert_eq!(is_settled(ctime, (100, 5)), is_trusted, "{ctime:?}");
        }
    }

    #[test]
    fn any_change_of_the_stamp_is_a_change() {
        let one = known("a", 1);
        let stamp = one.stamp;
        let all = [one];
        assert_eq!(digest(&all, "a", &stamp), Some(Digest::of(b"a")));
        for other in [
            Stamp { bytes: 8, ..stamp },
            Stamp { mtime: (1, 6), ..stamp },
            Stamp { ctime: (1, 7), ..stamp },
            Stamp { inode: 1, ..stamp },
        ] {
            assert_eq!(digest(&all, "a", &other), None);
        }
        assert_eq!(digest(&all, "b", &stamp), None);
    }

    proptest! {
        #[test]
        fn what_is_kept_is_read_again_and_damage_is_seen(
            paths in proptest::collection::btree_set("\\PC{1,12}", 0..9),
            at in any::<proptest::sample::Index>(),
            bit in 0_u8..8,
        ) {
            let all: Vec<Known> = paths.iter().map(|path| known(path, 1)).collect();
            let mut bytes = encoded(all.iter());
            let again = decoded(&bytes).unwrap();
            prop_assert_eq!(again.len(), all.len());
            for (one, other) in all.iter().zip(&again) {
                prop_assert_eq!((&one.path, one.stamp, one.sha256), (&other.path, other.stamp, other.sha256));
            }
            let at = at.index(bytes.len());
            prop_assert!(decoded(&bytes[..at]).is_none());
            bytes[at] ^= 1 << bit;
            prop_assert!(decoded(&bytes).is_none());
        }
    }
}
