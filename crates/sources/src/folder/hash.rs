//! The hashes of files.
//! Owns: reading each whole and once, on every core. Must not: give a hash of bytes that were never there together.

use super::Why;
use super::stamp::Stamp;
use countersign_record::canonical::{Hasher, Sink};
use countersign_record::digest::Digest;
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::Read;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often a file that changes meanwhile is read.
const TRIES: usize = 3;
const BUFFER_BYTES: usize = 1 << 16;

/// The hash of a file, and what the file system said of it before and after.
pub(super) type Hashed = Result<(Digest, Stamp), Why>;

/// The hashes of files beneath `root`, in the order of their paths.
pub(super) fn all(root: &File, paths: &[&str], bytes_max: u64) -> Vec<Hashed> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut done = Vec::new();
        while let Some((at, path)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            paths.get(at).map(|path| (at, path))
        } {
            done.push((at, hash(root, path, bytes_max, &mut buffer)));
        }
        done
    };
    let mut done: Vec<(usize, Hashed)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (1..cores.min(paths.len())).map(|_| scope.spawn(work)).collect();
        let mut done = work();
        for thread in threads {
            match thread.join() {
                Ok(more) => done.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, hashed)| hashed).collect()
}

fn hash(root: &File, path: &str, bytes_max: u64, buffer: &mut [u8]) -> Hashed {
    for _ in 0..TRIES {
        let mut file = open(root, path)?;
        let before = stamp(&file)?;
        if before.bytes > bytes_max {
            return Err(Why::TooLarge { bytes: before.bytes });
        }
        let mut hasher = Hasher::new();
        let mut length: u64 = 0;
        // One that grows is left at the length it had: it is read again, or told.
        while length <= before.bytes {
            match file.read(buffer) {
                Ok(0) => break,
                Ok(read) => {
                    hasher.put(buffer.get(..read).unwrap_or_default());
                    length = length.saturating_add(read as u64);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Why::Unreadable { message: error.to_string() }),
            }
        }
        if length == before.bytes && stamp(&file)? == before {
            return Ok((hasher.finish(), before));
        }
    }
    Err(Why::Changing)
}

/// Opens a regular file beneath `root`. The kernel keeps the path there, and refuses a link that took the place of a
/// directory since it was walked; without NONBLOCK a pipe would wait for ever.
fn open(root: &File, path: &str) -> Result<File, Why> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NOFOLLOW;
    let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(root, path, flags, Mode::empty(), within) {
        Ok(file) => Ok(File::from(file)),
        Err(Errno::LOOP) => Err(Why::Link),
        Err(Errno::NOENT | Errno::NOTDIR) => Err(Why::Gone),
        // A socket, or a device without a driver.
        Err(Errno::NXIO) => Err(Why::NotRegular),
        Err(error) => Err(Why::Unreadable { message: std::io::Error::from(error).to_string() }),
    }
}

fn stamp(file: &File) -> Result<Stamp, Why> {
    match file.metadata() {
        Ok(about) if about.is_file() => Ok(Stamp::of(&about)),
        Ok(_) => Err(Why::NotRegular),
        Err(error) => Err(Why::Unreadable { message: error.to_string() }),
    }
}
