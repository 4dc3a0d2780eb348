//! What the file system says of a file, by which a change is seen.
//! Owns: which of it counts. Must not: take a file for unchanged because its time was set back.

use std::os::unix::fs::MetadataExt;

/// Seconds and nanoseconds since 1970.
pub(super) type Time = (i64, u32);

/// What tells two contents of a path apart. The time of change is the system's own: whoever sets the time of
/// modification back moves it on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) bytes: u64,
    pub(super) mtime: Time,
    pub(super) ctime: Time,
    pub(super) inode: u64,
}

impl Stamp {
    pub(super) fn of(about: &std::fs::Metadata) -> Self {
        let time = |seconds: i64, nanos: i64| (seconds, u32::try_from(nanos).unwrap_or(0));
        Stamp {
            bytes: about.len(),
            mtime: time(about.mtime(), about.mtime_nsec()),
            ctime: time(about.ctime(), about.ctime_nsec()),
            inode: about.ino(),
        }
    }
}
