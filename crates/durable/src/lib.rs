//! Files that are still there after a power cut, and who may write them.
//! Owns: the order of write, fsync and rename; the lock that lets one process write; opening what others may have put
//! there. Must not: know what is in a file.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")
)]

mod files;
mod lock;
mod regular;

pub use files::{make_dirs, parent_of, remove, remove_dirs, rename_new, replace, sync_dir, write_new};
pub use lock::{Lock, NotTaken};
pub use regular::{Links, open_regular};
