//! Namespaces of its own for a held program: one more wall before the network and the memory that processes share.
//! Owns: which. Must not: be relied on; where the machine does not allow them, the other walls hold alone.

use nix::sched::CloneFlags;
use nix::unistd::{getegid, geteuid};

/// Whether a program has namespaces of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spaces {
    /// An empty network, no memory of others.
    Own,
    /// The machine does not allow it.
    Shared,
}

/// Leaves those of this process. Called before anything else is given up, by a process with one thread.
pub(super) fn leave() -> Spaces {
    let (user, group) = (geteuid(), getegid());
    let flags = CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS;
    if nix::sched::unshare(flags).is_err() {
        return Spaces::Shared;
    }
    // So that one's own files are seen as that. Without it they are shown as nobody's, and nothing else changes.
    let maps = [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("{user} {user} 1")),
        ("gid_map", format!("{group} {group} 1")),
    ];
    for (name, map) in maps {
        drop(std::fs::write(format!("/proc/self/{name}"), map));
    }
    Spaces::Own
}
