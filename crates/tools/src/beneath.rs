//! Opening what lies beneath the root.
//! Owns: the one way to a file, held by the kernel. Must not: look first and open later, follow a link, or wait for a pipe.

use crate::place::Clean;
use countersign_record::code::Code;
use countersign_runtime::ports::tool::NotDone;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

/// How often the kernel may say that names were exchanged meanwhile.
const TRIES_MAX: usize = 64;
/// Never out of the root, through no link, and into no other file system.
const RESOLVE: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);
const FLAGS: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC);
/// For what is opened, and not only named.
const OPENED: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY);

/// A regular file with one name, to read, and what is known of it.
pub(crate) fn file(root: impl AsFd, path: &Clean) -> Result<(OwnedFd, Stat), NotDone> {
    // A device does something as soon as it is opened, so what it is comes first; that counts for nothing below.
    let place = open(&root, path.as_str(), OFlags::PATH, Mode::empty()).map_err(|errno| cant(path, errno))?;
    regular(path, &rustix::fs::fstat(&place).map_err(|errno| cant(path, errno))?)?;
    let file = open(&root, path.as_str(), OFlags::RDONLY | OPENED, Mode::empty())
        .map_err(|errno| cant(path, errno))?;
    let about = rustix::fs::fstat(&file).map_err(|errno| cant(path, errno))?;
    regular(path, &about)?;
    Ok((file, about))
}

/// A directory, to list or to write in.
pub(crate) fn dir(root: impl AsFd, path: &Clean) -> Result<OwnedFd, NotDone> {
    open(&root, path.as_str(), OFlags::RDONLY | OFlags::DIRECTORY | OPENED, Mode::empty())
        .map_err(|errno| cant(path, errno))
}

/// A new file in a directory, to write; only its owner may read it.
pub(crate) fn new_file(dir: impl AsFd, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OPENED;
    open(&dir, name, flags, Mode::RUSR | Mode::WUSR)
}

/// Whether it is a regular file with one name.
pub(crate) fn regular(path: &Clean, about: &Stat) -> Result<(), NotDone> {
    let refused = |why: &str| Err(NotDone::new(Code::ToolPath, format!("{path} {why}")));
    match FileType::from_raw_mode(about.st_mode) {
        FileType::RegularFile if about.st_nlink == 1 => Ok(()),
        // The other name may be outside of the root.
        FileType::RegularFile => refused("has more than one name"),
        FileType::Directory => refused("is a directory"),
        FileType::Symlink => refused("is a link"),
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => refused("is no regular file"),
    }
}

fn open(root: &impl AsFd, path: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let mut tries = 0;
    loop {
        match rustix::fs::openat2(root, path, flags | FLAGS, mode, RESOLVE) {
            // Something was renamed or mounted somewhere while the path was walked; the kernel can't tell where.
            Err(Errno::AGAIN | Errno::INTR) if tries < TRIES_MAX => tries += 1,
            result => return result,
        }
    }
}

/// The words for what the kernel refuses.
pub(crate) fn cant(path: &Clean, errno: Errno) -> NotDone {
    let (code, why) = match errno {
        Errno::NOENT => (Code::ToolPath, "is not there"),
        Errno::LOOP => (Code::ToolPath, "is a link or leads through one"),
        Errno::XDEV => (Code::ToolPath, "leads out of the sandbox"),
        Errno::NOTDIR => (Code::ToolPath, "is no directory or leads through something that is none"),
        Errno::ISDIR => (Code::ToolPath, "is a directory"),
        Errno::NXIO | Errno::NODEV => (Code::ToolPath, "is no regular file"),
        Errno::NAMETOOLONG => (Code::ToolPath, "is too long"),
        Errno::ACCESS | Errno::PERM => (Code::ToolPath, "may not be opened by this user"),
        Errno::NOSYS => (Code::ToolSandbox, "can't be opened: the kernel has no openat2"),
        Errno::NOSPC | Errno::DQUOT => (Code::ToolFailed, "can't be written: there is no room"),
        Errno::ROFS => (Code::ToolFailed, "can't be written: the file system is read-only"),
        other => return NotDone::new(Code::ToolFailed, format!("{path}: {other}")),
    };
    NotDone::new(code, format!("{path} {why}"))
}
